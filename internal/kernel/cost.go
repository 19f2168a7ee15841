package kernel

import (
	"go/ast"
	"go/token"
	"go/types"
)

// costly is the cost of what is never computed where it need not be.
const costly = 1 << 20

// cost is a rough number of instructions that nodes take.
func (l *lowerer) cost(nodes ...ast.Node) int {
	n := 0
	for _, x := range nodes {
		n += l.Func.cost(x)
	}
	return min(n, costly)
}

func (f *Func) cost(node ast.Node) int {
	n := 0
	if node == nil {
		return 0
	}
	ast.Inspect(node, func(x ast.Node) bool {
		if e, ok := x.(ast.Expr); ok {
			if tv := f.info.Types[e]; tv.Value != nil || tv.IsType() {
				return false
			}
		}
		switch x := x.(type) {
		case *ast.BinaryExpr:
			n += f.costOf(x.Op, x.X)
		case *ast.AssignStmt:
			if x.Tok != token.ASSIGN && x.Tok != token.DEFINE {
				n += f.costOf(x.Tok-(token.ADD_ASSIGN-token.ADD), x.Lhs[0])
			}
		case *ast.UnaryExpr, *ast.IncDecStmt, *ast.IfStmt, *ast.CaseClause:
			n++
		case *ast.IndexExpr:
			n += 2
		case *ast.CallExpr:
			n += f.callCost(x)
		case *ast.ForStmt, *ast.RangeStmt:
			n += costly
		}
		return n < costly
	})
	return min(n, costly)
}

func (f *Func) costOf(op token.Token, x ast.Expr) int {
	integer := false
	if b, ok := f.info.TypeOf(x).Underlying().(*types.Basic); ok {
		integer = b.Info()&types.IsInteger != 0
	}
	switch {
	case (op == token.QUO || op == token.REM) && integer:
		return 20
	case op == token.QUO:
		return 4
	}
	return 1
}

func (f *Func) callCost(x *ast.CallExpr) int {
	if f.info.Types[x.Fun].IsType() {
		return 1
	}
	_, obj := f.callee(x)
	fn, ok := obj.(*types.Func)
	if !ok {
		return 1
	}
	switch {
	case fn.Pkg() == f.pkg:
		return f.costs[fn.Origin()]
	case fn.Pkg().Path() == mathPath && light[fn.Name()]:
		return 2
	case fn.Pkg().Path() == mathPath && formulaOf(fn.Name()):
		return 40
	case fn.Pkg().Path() == cmplxPath, fn.Pkg().Path() == mathPath:
		return costOfWritten(fn)
	case fn.Pkg().Path() == bitsPath, fn.Name() == "Index", fn.Name() == "Dim":
		return 4
	case fn.Name() == "At":
		return 6
	}
	return 40
}

// light are the functions of math that take an instruction or a few.
var light = map[string]bool{"Abs": true, "Sqrt": true, "Floor": true, "Ceil": true, "Trunc": true, "RoundToEven": true, "Copysign": true, "Max": true, "Min": true,
	"Dim": true, "FMA": true, "IsNaN": true, "IsInf": true, "Inf": true, "NaN": true, "Signbit": true, "Float32bits": true, "Float32frombits": true, "Float64bits": true, "Float64frombits": true, "Round": true}
