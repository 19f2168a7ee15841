package rewrite

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Reductions over a group of neighbouring axes. In which order elements are combined depends
// on the shape, so exact rules keep it, but of integers and truth values, for which it does
// not matter.

// group is over which axes n reduces.
func group(n *ir.Node) op.Group { return n.Attrs.(op.Group) }

// one reports that a group has one element.
func (r span) one(shape []int) bool { return array.Size(shape[r.Lo:r.Hi]) == 1 }

type span op.Group

// constantAlong returns x without what repeats it, in the rank of shape, to which it
// broadcasts, if it does not change along the axes of a group; else nil.
func constantAlong(x *ir.Node, g op.Group, shape []int) *ir.Node {
	b := bare(x)
	for i := g.Lo; i < g.Hi; i++ {
		if at := i - (len(shape) - len(b.Shape)); at >= 0 && b.Shape[at] != 1 {
			return nil
		}
	}
	return b
}

// ofIntegers wraps what holds for integers alone.
func ofIntegers(f func(c *Context, n *ir.Node) *ir.Node) func(c *Context, n *ir.Node) *ir.Node {
	return func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Float() {
			return nil
		}
		return f(c, n)
	}
}

var reductionRules = []*Rule{
	canon(Exact, "reduction of one", "the product, extreme, all and any, of integers also the sum, of one element -> that", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; span(group(n)).one(x.Shape) && (n.Op != sum || !n.DType.Float()) {
			return x
		}
		return nil
	}, sum, product_, least, greatest, every, some),
	canon(Stable, "sum of one", "the sum of one element -> that: of -0 it is 0", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; span(group(n)).one(x.Shape) {
			return x
		}
		return nil
	}, sum),
	outside(rule(Specialise, Exact, "sum of one float", "the sum of one element -> that + 0, elementwise", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; span(group(n)).one(x.Shape) && n.DType.Float() {
			return apply(op.Add, x, num(x, 0))
		}
		return nil
	}, sum)),
	canon(Exact, "reduction of repetitions", "extremes, all and any of a repeated element -> that", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Expand || x.Size() == 0 {
			return nil
		}
		if b := constantAlong(x, group(n), x.Shape); b != nil {
			return as(b, n)
		}
		return nil
	}, least, greatest, every, some),
	canon(Exact, "sum of repeated integers", "sum(n times x) -> n*x", ofIntegers(repeated), sum),
	canon(Stable, "sum of repetitions", "sum(n times x) -> n*x: one rounding", repeated, sum),
	canon(Exact, "sum of negative integers", "sum(-x) -> -sum(x)", ofIntegers(negatives), sum),
	canon(Stable, "sum of negatives", "sum(-x) -> -sum(x): of zeros the sign differs", negatives, sum),
	canon(Exact, "extreme along axes of negatives", "max(-x) -> -min(x) and the other way round, of floats", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Neg || !n.DType.Float() || !c.once(x) {
			return nil
		}
		d := least
		if n.Op == least {
			d = greatest
		}
		return apply(op.Neg, op.Apply(d, n.Attrs, x.Args[0]))
	}, least, greatest),
	canon(Exact, "sum of multiples of integers", "sum(x*c) -> sum(x)*c where c does not change along the axes", ofIntegers(multiples), sum),
	canon(Fast, "sum of multiples", "sum(x*c) -> sum(x)*c, sum(x/c) -> sum(x)/c where c does not change along the axes", multiples, sum),
	canon(Fast, "sum of reshaped multiples", "sum(reshape(x*c)) -> sum(reshape(x))*c with one number c", func(c *Context, n *ir.Node) *ir.Node {
		r := n.Args[0]
		x := r.Args
		if r.Op != op.Reshape || !c.once(r) || !is(x[0], op.Mul, op.Div) || !c.once(x[0]) || span(group(n)).one(r.Shape) {
			return nil
		}
		k := bare(x[0].Args[1])
		if k.Size() != 1 {
			return nil
		}
		y := reshape(as(x[0].Args[0], x[0]), r.Shape)
		return as(apply(op.Of(x[0]), op.Apply(sum, n.Attrs, y), reshape(k, nil)), n)
	}, sum),
	canon(Exact, "product of negatives", "prod(-x) -> prod(x), negative if it is of an odd number", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Neg || !c.once(x) || x.Size() == 0 {
			return nil
		}
		y := op.Apply(product_, n.Attrs, x.Args[0])
		if array.Size(x.Shape[group(n).Lo:group(n).Hi])%2 == 1 {
			y = apply(op.Neg, y)
		}
		return y
	}, product_),
	canon(Fast, "product of multiples", "prod(x*c) -> prod(x)*powint(c, n) where c does not change along the axes", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		times := array.Size(x.Shape[group(n).Lo:group(n).Hi])
		if !is(x, op.Mul, op.Div) || !c.once(x) || times < 2 || times > op.MaxPower || !n.DType.Float() {
			return nil
		}
		f := func(y, k *ir.Node) *ir.Node {
			if b := constantAlong(k, group(n), x.Shape); b != nil {
				return as(apply(op.Of(x), op.Apply(product_, n.Attrs, as(y, x)), op.Apply(op.PowInt, op.Power(times), b)), n)
			}
			return nil
		}
		if x.Op == op.Div {
			return f(x.Args[0], x.Args[1])
		}
		return either(x, f)
	}, product_),
	canon(Exact, "all of not", "all(not x) -> not any(x), any(not x) -> not all(x)", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.LogicalNot || !c.once(x) {
			return nil
		}
		d := every
		if n.Op == every {
			d = some
		}
		return apply(op.LogicalNot, op.Apply(d, n.Attrs, x.Args[0]))
	}, every, some),
	canon(Exact, "reduction of a reduction of integers", "sum(sum(x)) -> sum(x) over the axes of both, and their like", func(c *Context, n *ir.Node) *ir.Node {
		if n.DType.Float() {
			return nil
		}
		return chain(c, n, true)
	}, sum, product_, least, greatest, every, some),
	canon(Stable, "reduction of a reduction", "sum(sum(x)) -> sum(x) over the axes of both, and their like, in another order", func(c *Context, n *ir.Node) *ir.Node { return chain(c, n, false) }, sum, product_, least, greatest),
	canon(Fast, "reduction of a reshaped reduction", "sum(reshape(sum(x))) -> sum(x) where only axes of size 1 go or come between the two, and their like", func(c *Context, n *ir.Node) *ir.Node { return chain(c, n, true) }, sum, product_, least, greatest),
	canon(Exact, "reduction of a joint array of integers", "sum(cat(x, y)) -> sum(x)+sum(y) along the axis, and their like of products, extremes, all and any", ofIntegers(joint), sum, product_, least, greatest, every, some),
	canon(Fast, "reduction of a joint array", "sum(cat(x, y)) -> sum(x)+sum(y) along the axis, and their like", joint, sum, product_, least, greatest),
	canon(Fast, "log of a product", "log(prod(x)) -> sum(log(x))", func(c *Context, n *ir.Node) *ir.Node {
		r := n.Args[0]
		x := r
		if r.Op == op.Reshape && c.once(r) {
			x = r.Args[0]
		}
		if x.Op == product_ && c.once(x) {
			return reshape(op.Apply(sum, x.Attrs, apply(op.Log, x.Args[0])), n.Shape)
		}
		return nil
	}, op.Log),
}

func repeated(c *Context, n *ir.Node) *ir.Node {
	x := n.Args[0]
	if x.Op != op.Expand || x.Size() == 0 {
		return nil
	}
	b := constantAlong(x, group(n), x.Shape)
	if b == nil {
		return nil
	}
	times := array.Size(x.Shape[n.Attrs.(op.Group).Lo:n.Attrs.(op.Group).Hi])
	if n.DType.Half() && times > 256 {
		return nil // not a number of the type
	}
	return as(apply(op.Mul, b, num(n, float64(times))), n)
}

func negatives(c *Context, n *ir.Node) *ir.Node {
	if x := n.Args[0]; x.Op == op.Neg && c.once(x) {
		return apply(op.Neg, op.Apply(sum, n.Attrs, x.Args[0]))
	}
	return nil
}

func multiples(c *Context, n *ir.Node) *ir.Node {
	x := n.Args[0]
	if !is(x, op.Mul, op.Div) || !c.once(x) || span(group(n)).one(x.Shape) {
		return nil
	}
	f := func(y, k *ir.Node) *ir.Node {
		if b := constantAlong(k, group(n), x.Shape); b != nil {
			return as(apply(op.Of(x), op.Apply(sum, n.Attrs, as(y, x)), b), n)
		}
		return nil
	}
	if x.Op == op.Div {
		return f(x.Args[0], x.Args[1])
	}
	return either(x, f)
}

// chain joins neighbouring groups. Between the two reductions may be a change of shape by axes of
// size 1 if reshaped is set.
func chain(c *Context, n *ir.Node, reshaped bool) *ir.Node {
	between := n.Args[0]
	inner := between
	if reshaped && between.Op == op.Reshape && c.once(between) && sameButOnes(between.Shape, between.Args[0].Shape) {
		inner = between.Args[0]
	}
	if inner.Op != n.Op || !c.once(inner) {
		return nil
	}
	g, ok := regroup(group(n), between.Shape, inner.Shape)
	if !ok {
		return nil
	}
	x, h := inner.Args[0], group(inner)
	lo, hi := min(g.Lo, h.Lo), max(g.Hi, h.Hi)
	for i := lo; i < hi; i++ {
		if !(i >= g.Lo && i < g.Hi || i >= h.Lo && i < h.Hi || x.Shape[i] == 1) {
			return nil
		}
	}
	return reshape(op.Apply(op.Of(n), op.Group{Lo: lo, Hi: hi}, x), n.Shape)
}

// regroup returns a group of axes of shape from as axes of shape to, which differs by axes of size 1. It reports false if the group has only such.
func regroup(g op.Group, from, to []int) (op.Group, bool) {
	if array.Equal(from, to) {
		return g, true
	}
	first, last := 0, 0 // axes longer than 1 before the group, and to its end
	for i, n := range from {
		if n != 1 && i < g.Lo {
			first++
		}
		if n != 1 && i < g.Hi {
			last++
		}
	}
	at, out := 0, op.Group{Lo: -1}
	for i, n := range to {
		if n == 1 {
			continue
		}
		if at == first && first < last {
			out.Lo = i
		}
		if at++; at == last {
			out.Hi = i + 1
		}
	}
	return out, first < last
}

// joint reduces the parts of a joint array, few and long, one by one.
func joint(c *Context, n *ir.Node) *ir.Node {
	x, g := n.Args[0], group(n)
	if x.Op != op.Cat || !c.once(x) || len(x.Args) > 4 {
		return nil
	}
	axis := int(x.Attrs.(op.Axis))
	if axis < g.Lo || axis >= g.Hi {
		return nil
	}
	d := map[ir.Op]*op.Def{sum: op.Add, product_: op.Mul, least: op.Minimum, greatest: op.Maximum, every: op.LogicalAnd, some: op.LogicalOr}[n.Op]
	var r *ir.Node
	for _, p := range x.Args {
		if p.Size() == 0 {
			return nil
		}
		if y := op.Apply(op.Of(n), g, p); r == nil {
			r = y
		} else {
			r = apply(d, r, y)
		}
	}
	return r
}
