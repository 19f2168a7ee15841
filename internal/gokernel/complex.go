package gokernel

import (
	"go/ast"
	"go/token"

	"weft/internal/loop"
)

// Complex numbers are pairs of floats. Products and quotients are computed as Go's compiler does
// it: the product is the plain formula, and both are computed in float64, also of complex64.

func (l *lowerer) complexOp(op token.Token, x, y *value) *value {
	a, b, c, d := x.parts[0].n, x.parts[1].n, y.parts[0].n, y.parts[1].n
	switch op {
	case token.ADD, token.SUB:
		return l.pair(x.t, l.float(op, a, c), l.float(op, b, d))
	case token.MUL:
		a, b, c, d = l.resize(a, loop.F64), l.resize(b, loop.F64), l.resize(c, loop.F64), l.resize(d, loop.F64)
		re := l.float(token.SUB, l.float(op, a, c), l.float(op, b, d))
		im := l.float(token.ADD, l.float(op, a, d), l.float(op, b, c))
		return l.pair(x.t, l.resize(re, x.t.t), l.resize(im, x.t.t))
	}
	var args []*value
	for _, n := range []num{a, b, c, d} {
		args = append(args, &value{t: tFloat64, n: l.resize(n, loop.F64)})
	}
	q := l.calls1(writtenFunc(mathPath, "ComplexDiv"), args)
	return l.pair(x.t, l.resize(q[0].n, x.t.t), l.resize(q[1].n, x.t.t))
}

// cmplxCall is a call of a function of package math/cmplx.
func (l *lowerer) cmplxCall(x *ast.CallExpr, name string) []*value {
	args := l.arguments(x)
	l.pos = x.Pos()
	return l.written(x, cmplxPath, name, args)
}
