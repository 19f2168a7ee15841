package gokernel

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strings"
)

// costly is the cost of what is never computed where it need not be.
const costly = 1 << 20

// cost is a rough number of instructions that nodes take.
func (l *lowerer) cost(nodes ...ast.Node) int { return l.costIn(nil, nodes...) }

// costIn is cost of statements and nodes.
func (l *lowerer) costIn(list []ast.Stmt, nodes ...ast.Node) int {
	n := 0
	add := func(x ast.Node) {
		if n >= costly {
			return
		}
		of := nodeOf{l.Func, x}
		c, ok := l.nodeCosts[of]
		if !ok {
			c = l.Func.cost(x)
			l.nodeCosts[of] = c
		}
		n += c
	}
	for _, s := range list {
		add(s)
	}
	for _, x := range nodes {
		add(x)
	}
	return min(n, costly)
}

func (f *Func) cost(node ast.Node) int { return f.count(node, asRun) }

// A counting says how the body of a loop counts.
type counting int

const (
	asRun     counting = iota // as costly
	unrolled                  // as often as the loop goes around, if its bounds are known
	asWritten                 // once
)

// count is a rough number of instructions.
func (f *Func) count(node ast.Node, how counting) int {
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
			n += f.callCost(x, how)
		case *ast.ForStmt, *ast.RangeStmt:
			k := 0
			switch how {
			case asWritten:
				return true
			case unrolled:
				k = f.trips(x.(ast.Stmt))
			}
			if k == 0 {
				n += costly
				break
			}
			if s, ok := x.(*ast.ForStmt); ok {
				n += k * (f.count(s.Body, unrolled) + 1)
			} else {
				n += k * (f.count(x.(*ast.RangeStmt).Body, unrolled) + 1)
			}
			return false
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

func (f *Func) callCost(x *ast.CallExpr, how counting) int {
	if f.info.Types[x.Fun].IsType() {
		return 1
	}
	_, obj := f.callee(x)
	fn, ok := obj.(*types.Func)
	if !ok {
		return 1
	}
	switch {
	case fn.Pkg() == f.pkg && how == asWritten:
		return f.sizes[fn.Origin()]
	case fn.Pkg() == f.pkg:
		return f.costs[fn.Origin()]
	case fn.Pkg().Path() == mathPath && light[fn.Name()]:
		return 2
	case fn.Pkg().Path() == mathPath && formulaOf(fn.Name()):
		return 40
	case fn.Pkg().Path() == mathPath && fn.Name() == "Lgamma":
		return 80
	case fn.Pkg().Path() == cmplxPath, fn.Pkg().Path() == mathPath, fn.Pkg().Path() == bitsPath && (strings.HasPrefix(fn.Name(), "Div") || strings.HasPrefix(fn.Name(), "Rem")):
		return costOfWritten(fn)
	case fn.Pkg().Path() == bitsPath, fn.Name() == "Index", fn.Name() == "Dim":
		return 4
	case fn.Name() == "At":
		return 6
	case fn.Name() == "Slice", fn.Name() == "Row":
		return 4
	case formulasOf[fn.Name()].row != "":
		return 80
	case fn.Signature().Recv() == nil && writtenFunc(kernelPath, fn.Name()) != nil:
		return costOfWritten(fn)
	}
	return 40
}

// light are the functions of math that take an instruction or a few.
var light = map[string]bool{"Abs": true, "Sqrt": true, "Floor": true, "Ceil": true, "Trunc": true, "RoundToEven": true, "Copysign": true, "Max": true, "Min": true,
	"Dim": true, "FMA": true, "IsNaN": true, "IsInf": true, "Inf": true, "NaN": true, "Signbit": true, "Float32bits": true, "Float32frombits": true, "Float64bits": true, "Float64frombits": true, "Round": true}

// trips is how often a loop goes around, as far as its text shows that it is known: about,
// if bounds depend on the counters of loops around. 0 means that it does not.
func (f *Func) trips(s ast.Stmt) int {
	const about = 8
	number := func(x ast.Expr) (int, bool) {
		v := f.info.Types[x].Value
		if v == nil || v.Kind() != constant.Int {
			return 0, false
		}
		n, ok := constant.Int64Val(v)
		return int(n), ok
	}
	// known reports an expression of constants, lengths and names of integers.
	known := func(x ast.Expr) bool {
		ok := true
		ast.Inspect(x, func(n ast.Node) bool {
			if x, is := n.(ast.Expr); is && f.info.Types[x].Value != nil {
				return false
			}
			switch n := n.(type) {
			case nil, *ast.BinaryExpr, *ast.ParenExpr, *ast.UnaryExpr:
			case *ast.Ident:
				b, is := f.info.TypeOf(n).Underlying().(*types.Basic)
				ok = ok && is && b.Info()&types.IsInteger != 0
			default:
				ok = false
			}
			return ok
		})
		return ok
	}
	switch s := s.(type) {
	case *ast.RangeStmt:
		if a, ok := f.info.TypeOf(s.X).Underlying().(*types.Array); ok {
			return int(min(a.Len(), costly))
		}
		if n, ok := number(s.X); ok {
			return max(min(n, costly), 1)
		}
		if call, ok := ast.Unparen(s.X).(*ast.CallExpr); ok && isSeq(f.info.TypeOf(call)) {
			n := 1
			for k := 0; k+1 < len(call.Args); k += 2 {
				lo, low := number(call.Args[k])
				hi, high := number(call.Args[k+1])
				if !low || !high {
					return 0
				}
				n = min(n*max(hi-lo, 1), costly)
			}
			return n
		}
	case *ast.ForStmt:
		init, ok := s.Init.(*ast.AssignStmt)
		cond, is := s.Cond.(*ast.BinaryExpr)
		if !ok || !is || len(init.Rhs) != 1 || s.Post == nil {
			return 0
		}
		lo, low := number(init.Rhs[0])
		hi, high := number(cond.Y)
		switch {
		case low && high:
			return max(min(abs(hi-lo), costly), 1)
		case known(init.Rhs[0]) && known(cond.Y) && (low || high):
			return about
		}
	}
	return 0
}
