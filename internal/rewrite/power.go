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
	rule(Specialise, Fast, "power by roots", "pow(x, 0.5) -> sqrt(x), pow(x, -0.5) -> 1/sqrt(x), pow(x, 2.5) -> square(x)*sqrt(x), pow(x, 0.25) -> sqrt(sqrt(x)) and their like", byRoots, op.Pow),
	rule(Specialise, Fast, "power of two", "pow(2, x) -> exp2(x)", func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Float() && isNumber(n.Args[0], 2) {
			return as(apply(op.Exp2, n.Args[1]), n)
		}
		return nil
	}, op.Pow),
	canon(Exact, "power of a power of integers", "powint(powint(x, k), m) -> powint(x, k*m), of squares too", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Integer() {
			return nil
		}
		return powerOfPower(c, n)
	}, op.PowInt, op.Square),
	canon(Fast, "power of a power", "powint(powint(x, k), m) -> powint(x, k*m), of squares too", powerOfPower, op.PowInt, op.Square),
	canon(Fast, "quotient by an exponential", "x/exp(y) -> x*exp(-y)", func(c *Context, n *ir.Node) *ir.Node {
		if y := n.Args[1]; y.Op == op.Exp && c.once(y) {
			return apply(op.Mul, n.Args[0], apply(op.Exp, negative(y.Args[0])))
		}
		return nil
	}, op.Div),
}

// byRoots makes a power with a half or a quarter of products and roots.
func byRoots(c *Context, n *ir.Node) *ir.Node {
	v, ok := number(n.Args[1])
	if !ok || !n.DType.Float() {
		return nil
	}
	k, x := math.Abs(v.Float), n.Args[0]
	whole, part := math.Modf(k)
	if part != 0.5 && k != 0.25 || whole > 8 {
		return nil
	}
	r := apply(op.Sqrt, x)
	switch {
	case k == 0.25:
		r = apply(op.Sqrt, r)
	case whole == 1:
		r = apply(op.Mul, x, r)
	case whole > 1:
		r = apply(op.Mul, op.Apply(op.PowInt, op.Power(whole), x), r)
	}
	if v.Float < 0 {
		r = apply(op.Reciprocal, r)
	}
	return as(r, n)
}

// powerOfPower joins whole powers up to [op.MaxPower].
func powerOfPower(c *Context, n *ir.Node) *ir.Node {
	whole := func(n *ir.Node) int {
		switch n.Op {
		case op.PowInt:
			return int(n.Attrs.(op.Power))
		case op.Square:
			return 2
		}
		return 0
	}
	x := n.Args[0]
	k := whole(n) * whole(x)
	if k == 0 || !c.once(x) || max(k, -k) > op.MaxPower || k < 0 && !n.DType.Float() {
		return nil
	}
	return op.Apply(op.PowInt, op.Power(k), x.Args[0])
}
