package rewrite

import (
	"math"

	"weft/internal/ir"
	"weft/internal/op"
)

// Powers. Products that round once or twice have as many digits as pow; longer chains, up to
// [op.MaxPower], are as accurate as what formulas make of a constant power.

var powerRules = []*Rule{
	canon(Exact, "chain of one factor", "powint(x, 0) -> 1, powint(x, 1) -> x, powint(x, 2) -> square(x), powint(x, -1) -> 1/x", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		switch k := n.Attrs.(op.Power); {
		case k == 0:
			return as(num(n, 1), n)
		case k == 1:
			return x
		case k == 2:
			return apply(op.Square, x)
		case k == -1 && n.DType.Float():
			return apply(op.Reciprocal, x)
		}
		return nil
	}, op.PowInt),
	canon(Exact, "power zero", "pow(x, 0), pow(1, x) -> 1, of NaN too", func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Float() && (isZero(n.Args[1]) || isNumber(n.Args[0], 1)) || n.DType.Integer() && isZero(n.Args[1]) {
			return as(num(n, 1), n)
		}
		return nil
	}, op.Pow),
	canon(Exact, "power one", "pow(x, 1) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if isNumber(n.Args[1], 1) {
			return as(n.Args[0], n)
		}
		return nil
	}, op.Pow),
	canon(Exact, "power of integers", "pow(x, k) -> a chain of products, of integers", func(c *Context, n *ir.Node) *ir.Node {
		if v, ok := number(n.Args[1]); ok && n.DType.Integer() && v.Int > 1 && v.Int <= op.MaxPower {
			return as(op.Apply(op.PowInt, op.Power(v.Int), n.Args[0]), n)
		}
		return nil
	}, op.Pow),
	canon(Stable, "small power", "pow(x, 2) -> square(x), pow(x, 3) -> x*x*x, pow(x, -1) -> 1/x: one or two roundings", func(c *Context, n *ir.Node) *ir.Node {
		v, ok := number(n.Args[1])
		if k := v.Float; ok && n.DType.Float() && (k == 2 || k == 3 || k == -1) {
			return as(op.Apply(op.PowInt, op.Power(k), n.Args[0]), n)
		}
		return nil
	}, op.Pow),
	rule(Specialise, Fast, "power by products", "pow(x, k) -> a chain of products for whole k up to 64", func(c *Context, n *ir.Node) *ir.Node {
		v, ok := number(n.Args[1])
		if k := v.Float; ok && n.DType.Float() && k == math.Trunc(k) && math.Abs(k) <= op.MaxPower {
			return as(op.Apply(op.PowInt, op.Power(k), n.Args[0]), n)
		}
		return nil
	}, op.Pow),
	rule(Specialise, Fast, "power by roots", "pow(x, 0.5) -> sqrt(x), pow(x, -0.5) -> 1/sqrt(x)", func(c *Context, n *ir.Node) *ir.Node {
		switch x := n.Args[0]; {
		case !n.DType.Float():
		case isNumber(n.Args[1], 0.5):
			return as(apply(op.Sqrt, x), n)
		case isNumber(n.Args[1], -0.5):
			return as(apply(op.Reciprocal, apply(op.Sqrt, x)), n)
		}
		return nil
	}, op.Pow),
	canon(Fast, "powers of one base", "pow(a, x)*pow(a, y) -> pow(a, x+y)", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if x.Op == op.Pow && y.Op == op.Pow && x.Args[0] == y.Args[0] && n.DType.Float() {
			return as(apply(op.Pow, x.Args[0], apply(op.Add, x.Args[1], y.Args[1])), n)
		}
		return nil
	}, op.Mul),
	canon(Fast, "product of exponentials", "exp(x)*exp(y) -> exp(x+y)", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if x.Op == op.Exp && y.Op == op.Exp && (c.once(x) || c.once(y)) {
			return apply(op.Exp, apply(op.Add, x.Args[0], y.Args[0]))
		}
		return nil
	}, op.Mul),
	canon(Fast, "quotient by an exponential", "x/exp(y) -> x*exp(-y)", func(c *Context, n *ir.Node) *ir.Node {
		if y := n.Args[1]; y.Op == op.Exp && c.once(y) {
			return apply(op.Mul, n.Args[0], apply(op.Exp, negative(y.Args[0])))
		}
		return nil
	}, op.Div),
}
