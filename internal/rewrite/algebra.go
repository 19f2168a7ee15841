package rewrite

import (
	"math"

	"weft/internal/ir"
	"weft/internal/op"
)

// Sums, products and signs.
//
// Of floats, x*1, x/1, x-0 and x+(-0) are x to the bit; x+0 is not, since -0+0 is 0. Integers
// wrap, so all rules of rings hold for them.

// unary is a rule for one operation at the root.
func rule(phase Phase, level Level, name, doc string, f func(c *Context, n *ir.Node) *ir.Node, roots ...*op.Def) *Rule {
	return &Rule{Name: name, Doc: doc, Phase: phase, Level: level, Roots: roots, Apply: f}
}

// outside makes a rule one that is not tried within loops and branches.
func outside(r *Rule) *Rule {
	r.Outside = true
	return r
}

func canon(level Level, name, doc string, f func(c *Context, n *ir.Node) *ir.Node, roots ...*op.Def) *Rule {
	return rule(Canonicalise, level, name, doc, f, roots...)
}

// early is a rule that is tried while the graph is copied, too.
func early(r *Rule) *Rule {
	r.Early = true
	return r
}

var algebraRules = []*Rule{
	canon(Exact, "add nothing", "x+(-0), of integers x+0, of bool x or false -> x", func(c *Context, n *ir.Node) *ir.Node {
		return either(n, func(x, y *ir.Node) *ir.Node {
			if n.DType.Float() && isNumber(y, negativeZero) || !n.DType.Float() && isZero(y) {
				return as(x, n)
			}
			return nil
		})
	}, op.Add),
	canon(Exact, "subtract nothing", "x-0 -> x", func(c *Context, n *ir.Node) *ir.Node {
		if isNumber(n.Args[1], 0) {
			return as(n.Args[0], n)
		}
		return nil
	}, op.Sub),
	canon(Stable, "add zero", "x+0 -> x, of floats: -0+0 is 0", func(c *Context, n *ir.Node) *ir.Node {
		return either(n, func(x, y *ir.Node) *ir.Node {
			if isZero(y) {
				return as(x, n)
			}
			return nil
		})
	}, op.Add),
	canon(Exact, "subtract from nothing", "-0-x, of integers 0-x -> -x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; n.DType.Float() && isNumber(x, negativeZero) || n.DType.Integer() && isZero(x) {
			return as(apply(op.Neg, n.Args[1]), n)
		}
		return nil
	}, op.Sub),
	canon(Exact, "times one", "x*1 -> x; of bool, x and true", func(c *Context, n *ir.Node) *ir.Node {
		return either(n, func(x, y *ir.Node) *ir.Node {
			if isNumber(y, 1) {
				return as(x, n)
			}
			return nil
		})
	}, op.Mul),
	canon(Exact, "by one", "x/1, of integers x//1 -> x", func(c *Context, n *ir.Node) *ir.Node {
		if isNumber(n.Args[1], 1) && (n.Op == op.Div || n.DType.Integer()) {
			return as(n.Args[0], n)
		}
		return nil
	}, op.Div, op.FloorDiv),
	canon(Exact, "times zero of integers", "x*0 -> 0, of integers and bool", func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Float() {
			return nil
		}
		return timesZero(n)
	}, op.Mul),
	canon(Fast, "times zero", "x*0 -> 0", func(c *Context, n *ir.Node) *ir.Node { return timesZero(n) }, op.Mul),
	canon(Fast, "zero divided", "0/x -> 0", func(c *Context, n *ir.Node) *ir.Node {
		if isZero(n.Args[0]) {
			return as(num(n, 0), n)
		}
		return nil
	}, op.Div),
	canon(Exact, "times minus one", "x*-1, x/-1 -> -x", func(c *Context, n *ir.Node) *ir.Node {
		if n.Op == op.Div {
			if isNumber(n.Args[1], -1) {
				return as(apply(op.Neg, n.Args[0]), n)
			}
			return nil
		}
		return either(n, func(x, y *ir.Node) *ir.Node {
			if signed(n.DType) && isNumber(y, -1) {
				return as(apply(op.Neg, x), n)
			}
			return nil
		})
	}, op.Mul, op.Div),
	canon(Exact, "double negation", "-(-x) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Neg {
			return x.Args[0]
		}
		return nil
	}, op.Neg),
	canon(Exact, "negation of a reshaped negation", "-reshape(-x) -> reshape(x), also with expansions and permutations between", func(c *Context, n *ir.Node) *ir.Node {
		v := n.Args[0]
		if !is(v, op.Reshape, op.Expand, op.Permute) || v.Args[0].Op != op.Neg {
			return nil
		}
		return c.copy(v, []*ir.Node{v.Args[0].Args[0]})
	}, op.Neg),
	canon(Exact, "add a negative", "x+(-y) -> x-y", func(c *Context, n *ir.Node) *ir.Node {
		return either(n, func(x, y *ir.Node) *ir.Node {
			if y.Op == op.Neg && c.once(y) {
				return apply(op.Sub, x, y.Args[0])
			}
			return nil
		})
	}, op.Add),
	canon(Exact, "subtract a negative", "x-(-y) -> x+y", func(c *Context, n *ir.Node) *ir.Node {
		if y := n.Args[1]; y.Op == op.Neg && c.once(y) {
			return apply(op.Add, n.Args[0], y.Args[0])
		}
		return nil
	}, op.Sub),
	canon(Exact, "two negative factors", "-x*-y -> x*y; the same of x/y", func(c *Context, n *ir.Node) *ir.Node {
		if x, y := n.Args[0], n.Args[1]; x.Op == op.Neg && y.Op == op.Neg {
			return apply(op.Of(n), x.Args[0], y.Args[0])
		}
		return nil
	}, op.Mul, op.Div),
	canon(Exact, "negative times a constant", "-x*c -> x*-c; the same of x/c", func(c *Context, n *ir.Node) *ir.Node {
		f := func(x, y *ir.Node) *ir.Node {
			if v, ok := number(y); ok && x.Op == op.Neg && n.DType.Float() && c.once(x) {
				return as(apply(op.Of(n), x.Args[0], num(n, -v.Float)), n)
			}
			return nil
		}
		if n.Op == op.Div {
			return f(n.Args[0], n.Args[1])
		}
		return either(n, f)
	}, op.Mul, op.Div),
	canon(Exact, "negative of a multiple", "-(x*c) -> x*-c", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Mul || !c.once(x) || !n.DType.Float() {
			return nil
		}
		if v, ok := number(x.Args[1]); ok {
			return as(apply(op.Mul, x.Args[0], num(n, -v.Float)), n)
		}
		return nil
	}, op.Neg),
	canon(Exact, "negative of a difference of integers", "-(x-y) -> y-x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Sub && n.DType.Integer() && c.once(x) {
			return apply(op.Sub, x.Args[1], x.Args[0])
		}
		return nil
	}, op.Neg),
	canon(Stable, "negative of a difference", "-(x-y) -> y-x, of floats: where x is y, 0 instead of -0", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Sub && c.once(x) {
			return apply(op.Sub, x.Args[1], x.Args[0])
		}
		return nil
	}, op.Neg),
	canon(Exact, "difference of equal integers", "x-x -> 0", func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Integer() && n.Args[0] == n.Args[1] {
			return as(num(n, 0), n)
		}
		return nil
	}, op.Sub),
	canon(Fast, "difference of equals", "x-x -> 0", func(c *Context, n *ir.Node) *ir.Node {
		if n.Args[0] == n.Args[1] {
			return as(num(n, 0), n)
		}
		return nil
	}, op.Sub),
	canon(Exact, "multiples of integers", "(x*c)*d -> x*(c*d)", func(c *Context, n *ir.Node) *ir.Node {
		if !n.DType.Integer() {
			return nil
		}
		return mergeFactors(c, n)
	}, op.Mul),
	canon(Fast, "sign of a reciprocal", "sign(1/x) -> sign(x): of 0 it is 0", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Reciprocal {
			return apply(op.Sign, x.Args[0])
		}
		return nil
	}, op.Sign),
	canon(Exact, "one divided", "1/x -> reciprocal(x)", func(c *Context, n *ir.Node) *ir.Node {
		if isNumber(n.Args[0], 1) {
			return as(apply(op.Reciprocal, n.Args[1]), n)
		}
		return nil
	}, op.Div),
	canon(Stable, "reciprocal of a reciprocal", "1/(1/x) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Reciprocal {
			return x.Args[0]
		}
		return nil
	}, op.Reciprocal),
	canon(Exact, "product with itself", "x*x -> square(x)", func(c *Context, n *ir.Node) *ir.Node {
		if n.Args[0] == n.Args[1] && (n.DType.Float() || n.DType.Integer()) {
			return apply(op.Square, n.Args[0])
		}
		return nil
	}, op.Mul),
	canon(Exact, "square of a negative", "square(-x), square(|x|) -> square(x)", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; is(x, op.Neg, op.Abs) {
			return apply(op.Square, x.Args[0])
		}
		return nil
	}, op.Square),
	canon(Exact, "sign within abs", "|-x|, ||x|| -> |x|; |x*x|, |exp(x)|, |sigmoid(x)| -> without it", func(c *Context, n *ir.Node) *ir.Node {
		switch x := n.Args[0]; {
		case x.Op == op.Neg && signed(n.DType):
			return apply(op.Abs, x.Args[0])
		case x.Op == op.Abs, n.DType.Float() && is(x, op.Square, op.Exp, op.Exp2, op.Sigmoid, op.Softplus, op.Cosh):
			return x
		}
		return nil
	}, op.Abs),
	canon(Exact, "product of absolute values", "|x|*|y| -> |x*y|, |x|/|y| -> |x/y|, of floats", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if x.Op != op.Abs || y.Op != op.Abs || x == y || !n.DType.Float() || !c.once(x) || !c.once(y) {
			return nil
		}
		return apply(op.Abs, apply(op.Of(n), x.Args[0], y.Args[0]))
	}, op.Mul, op.Div),
	canon(Exact, "twice the same", "relu(relu(x)) -> relu(x); the same of floor, ceil, round, trunc, and of these on each other, and sign", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op == n.Op || is(n, op.Floor, op.Ceil, op.Round, op.Trunc) && is(x, op.Floor, op.Ceil, op.Round, op.Trunc, op.Sign) {
			return x
		}
		return nil
	}, op.Relu, op.Floor, op.Ceil, op.Round, op.Trunc, op.Sign),
	canon(Exact, "extreme of itself", "maximum(x, x), minimum(x, x) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if n.Args[0] == n.Args[1] {
			return n.Args[0]
		}
		return nil
	}, op.Maximum, op.Minimum),
	canon(Exact, "extreme of negatives", "maximum(-x, -y) -> -minimum(x, y) and the other way round", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if x.Op != op.Neg || y.Op != op.Neg || !n.DType.Float() || !c.once(x) || !c.once(y) {
			return nil
		}
		d := op.Minimum
		if n.Op == d {
			d = op.Maximum
		}
		return apply(op.Neg, apply(d, x.Args[0], y.Args[0]))
	}, op.Maximum, op.Minimum),
	rule(Specialise, Exact, "division by a power of two", "x/c -> x*(1/c)", func(c *Context, n *ir.Node) *ir.Node {
		// One division a row costs nothing; the mean of another number of elements is to be the same kernel.
		x := n.Args[0]
		for x.Op == op.Reshape {
			x = x.Args[0]
		}
		if d := op.Of(x); n.Size() == 1 || d != nil && d.Class == op.Reduce {
			return nil
		}
		if v, ok := number(n.Args[1]); ok && powerOfTwo(n.DType, v.Float) {
			return as(apply(op.Mul, n.Args[0], num(n, 1/v.Float)), n)
		}
		return nil
	}, op.Div),
}

var negativeZero = math.Copysign(0, -1)

func timesZero(n *ir.Node) *ir.Node {
	if isZero(n.Args[0]) || isZero(n.Args[1]) {
		return as(num(n, 0), n)
	}
	return nil
}

// mergeFactors lets constants meet in a product.
func mergeFactors(c *Context, n *ir.Node) *ir.Node {
	x, y := n.Args[0], bare(n.Args[1])
	if y.Op != ir.Const || x.Op != op.Mul || !c.once(x) {
		return nil
	}
	if k := bare(x.Args[1]); k.Op == ir.Const {
		return as(apply(op.Mul, x.Args[0], apply(op.Mul, k, y)), n)
	}
	return nil
}
