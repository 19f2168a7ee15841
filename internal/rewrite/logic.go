package rewrite

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Truth values, bits, comparisons, choice and conversion.

var logicRules = []*Rule{
	canon(Exact, "and or with itself", "x and x, x or x -> x; x xor x -> 0; of truth values and bits", func(c *Context, n *ir.Node) *ir.Node {
		switch x := n.Args[0]; {
		case x != n.Args[1]:
			return nil
		case is(n, op.LogicalXor, op.BitXor):
			return as(num(n, 0), n)
		default:
			return x
		}
	}, op.LogicalAnd, op.LogicalOr, op.LogicalXor, op.BitAnd, op.BitOr, op.BitXor),
	early(canon(Exact, "and or with a constant", "x and true, x or false, x xor false -> x; x and false -> false; x or true -> true; x xor true -> not x; the same of bits", func(c *Context, n *ir.Node) *ir.Node {
		return either(n, func(x, y *ir.Node) *ir.Node {
			v, ok := number(y)
			if !ok {
				return nil
			}
			zero, ones := v.Int == 0, v.Int == -1 && signed(n.DType) || n.DType == array.Bool && v.Int != 0
			and, or := is(n, op.LogicalAnd, op.BitAnd), is(n, op.LogicalOr, op.BitOr)
			switch {
			case and && ones, !and && zero:
				return as(x, n)
			case and && zero, or && ones:
				return as(y, n)
			case ones && n.Op == op.LogicalXor:
				return as(apply(op.LogicalNot, x), n)
			case ones && n.Op == op.BitXor:
				return as(apply(op.BitNot, x), n)
			}
			return nil
		})
	}, op.LogicalAnd, op.LogicalOr, op.LogicalXor, op.BitAnd, op.BitOr, op.BitXor)),
	canon(Exact, "not not", "not not x -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == n.Op {
			return x.Args[0]
		}
		return nil
	}, op.LogicalNot, op.BitNot),
	canon(Exact, "not of a comparison", "not x==y -> x!=y and back; of integers not x<y -> x>=y and their like", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		d := opposite(op.Of(x))
		if d == nil || !c.once(x) || x.Args[0].DType.Float() && !is(x, op.Eq, op.Ne) {
			return nil
		}
		return apply(d, x.Args[0], x.Args[1])
	}, op.LogicalNot),
	canon(Exact, "comparison with itself", "x==x, x<=x, x>=x -> true of integers, not isnan(x) of floats; x!=x -> false, isnan(x); x<x, x>x -> false", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		switch {
		case x != n.Args[1]:
			return nil
		case is(n, op.Lt, op.Gt) || n.Op == op.Ne && !x.DType.Float():
			return as(truth(n, false), n)
		case !x.DType.Float():
			return as(truth(n, true), n)
		case n.Op == op.Ne:
			return apply(op.IsNaN, x)
		}
		return apply(op.LogicalNot, apply(op.IsNaN, x))
	}, op.Eq, op.Ne, op.Lt, op.Le, op.Gt, op.Ge),
	canon(Exact, "choice by a constant", "where(true, x, y) -> x; where(false, x, y) -> y", func(c *Context, n *ir.Node) *ir.Node {
		v, ok := number(n.Args[0])
		switch {
		case !ok:
			return nil
		case v.Int != 0:
			return as(n.Args[1], n)
		}
		return as(n.Args[2], n)
	}, choose),
	canon(Exact, "choice between the same", "where(c, x, x) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x, y := n.Args[1], n.Args[2]; x == y || bare(x) == bare(y) {
			return as(bare(x), n)
		}
		return nil
	}, choose),
	canon(Exact, "choice by not", "where(not c, x, y) -> where(c, y, x)", func(c *Context, n *ir.Node) *ir.Node {
		if p := n.Args[0]; p.Op == op.LogicalNot {
			return apply(choose, p.Args[0], n.Args[2], n.Args[1])
		}
		return nil
	}, choose),
	canon(Exact, "choice by the same twice", "where(c, where(c, x, y), z) -> where(c, x, z); where(c, x, where(c, y, z)) -> where(c, x, z)", func(c *Context, n *ir.Node) *ir.Node {
		p, x, y := n.Args[0], n.Args[1], n.Args[2]
		switch {
		case x.Op == choose && x.Args[0] == p:
			return as(apply(choose, p, x.Args[1], y), n)
		case y.Op == choose && y.Args[0] == p:
			return as(apply(choose, p, x, y.Args[2]), n)
		}
		return nil
	}, choose),
	canon(Exact, "choices by one condition", "where(c, x, y)+where(c, z, w) -> where(c, x+z, y+w); the same of differences and products", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if x.Op != choose || y.Op != choose || x == y || x.Args[0] != y.Args[0] || !c.once(x) || !c.once(y) {
			return nil
		}
		d := op.Of(n)
		return as(apply(choose, x.Args[0], ordered(d, x.Args[1], y.Args[1]), ordered(d, x.Args[2], y.Args[2])), n)
	}, op.Add, op.Sub, op.Mul),
	canon(Exact, "choice of truth", "where(c, true, false) -> c; where(c, false, true) -> not c", func(c *Context, n *ir.Node) *ir.Node {
		x, ok := number(n.Args[1])
		y, also := number(n.Args[2])
		switch {
		case n.DType != array.Bool || !ok || !also || x.Int == y.Int:
			return nil
		case x.Int != 0:
			return as(n.Args[0], n)
		}
		return as(apply(op.LogicalNot, n.Args[0]), n)
	}, choose),
	rule(Stabilise, Stable, "product with a choice", "x*where(c, 0, y) -> where(c, 0, x*y), also with 0 last, and of quotients: what is not chosen may be infinite or NaN", func(c *Context, n *ir.Node) *ir.Node {
		sink := func(x, w *ir.Node) *ir.Node {
			if w.Op != choose || !c.once(w) || !n.DType.Float() {
				return nil
			}
			f := func(y *ir.Node) *ir.Node {
				if n.Op == op.Div {
					return apply(op.Div, y, x)
				}
				return apply(op.Mul, y, x)
			}
			switch zero := num(n, 0); {
			case isZero(w.Args[1]):
				return as(apply(choose, w.Args[0], zero, f(w.Args[2])), n)
			case isZero(w.Args[2]):
				return as(apply(choose, w.Args[0], f(w.Args[1]), zero), n)
			}
			return nil
		}
		if n.Op == op.Div {
			return sink(n.Args[1], n.Args[0])
		}
		return either(n, sink)
	}, op.Mul, op.Div),
	canon(Exact, "conversion to the same type", "cast(x) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.DType == n.DType {
			return x
		}
		return nil
	}, op.Cast),
	canon(Exact, "conversion of a conversion", "cast(cast(x)) -> cast(x) where the type between holds all values of x", func(c *Context, n *ir.Node) *ir.Node {
		y := n.Args[0]
		if y.Op != op.Cast {
			return nil
		}
		x := y.Args[0]
		if !holds(x.DType, y.DType) || y.DType.Float() && x.DType.Integer() && n.DType.Integer() && !holds(x.DType, n.DType) {
			return nil // floats saturate where integers wrap
		}
		if x.DType == n.DType {
			return x
		}
		return op.Apply(op.Cast, op.To(n.DType), x)
	}, op.Cast),
}

// opposite is the comparison that holds where d does not, of what has an order.
func opposite(d *op.Def) *op.Def {
	switch d {
	case op.Eq:
		return op.Ne
	case op.Ne:
		return op.Eq
	case op.Lt:
		return op.Ge
	case op.Ge:
		return op.Lt
	case op.Gt:
		return op.Le
	case op.Le:
		return op.Gt
	}
	return nil
}

// holds reports that every number of type a is one of type b.
func holds(a, b array.DType) bool {
	if a.Complex() || b.Complex() {
		return false
	}
	digits := func(d array.DType) int { // of integers that are exact, in bits
		switch {
		case d == array.Bool:
			return 1
		case d == array.Float64:
			return 53
		case d == array.Float32:
			return 24
		case d == array.Float16:
			return 11
		case d == array.BFloat16:
			return 8
		case signed(d):
			return 8*d.Size() - 1
		}
		return 8 * d.Size()
	}
	switch {
	case a == b || a == array.Bool:
		return true
	case b == array.Bool:
		return false
	case a.Float():
		return b == array.Float64 || b == array.Float32 && a.Half()
	case signed(a) && !signed(b):
		return false
	}
	return digits(a) <= digits(b)
}
