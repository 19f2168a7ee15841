package kernel

import (
	"go/ast"
	"go/token"
)

func (l *lowerer) complexOp(op token.Token, a, b *value) *value {
	l.src.refuse(l.pos, "complex numbers are not yet part of the language")
	return nil
}

func (l *lowerer) cmplxCall(x *ast.CallExpr, name string) []*value {
	l.src.refuse(x.Pos(), "cmplx.%s is not yet part of the language", name)
	return nil
}
