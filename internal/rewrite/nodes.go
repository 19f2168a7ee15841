package rewrite

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// What rules ask about nodes and make them with.

// Operations of the table that package op does not export.
var (
	sum      = op.Lookup("reduce_sum")
	product_ = op.Lookup("reduce_prod")
	least    = op.Lookup("reduce_min")
	greatest = op.Lookup("reduce_max")
	every    = op.Lookup("reduce_all")
	some     = op.Lookup("reduce_any")
	choose   = op.Lookup("select")
)

// commutative are operations whose operands stand in one order.
var commutative = []*op.Def{op.Add, op.Mul, op.Eq, op.Ne, op.LogicalAnd, op.LogicalOr, op.LogicalXor, op.BitAnd, op.BitOr, op.BitXor}

func apply(d *op.Def, x ...*ir.Node) *ir.Node { return op.Apply(d, nil, x...) }

// ordered is d of x and y in the order of the rule "order of operands".
func ordered(d *op.Def, x, y *ir.Node) *ir.Node {
	if slices.Contains(commutative, d) && swapped(x, y) {
		x, y = y, x
	}
	return apply(d, x, y)
}

// swapped reports operands that stand in another order: constants last, else who comes first in the
// graph.
func swapped(x, y *ir.Node) bool {
	_, first := number(x)
	_, second := number(y)
	return first && !second || first == second && y.ID < x.ID
}

// is reports a node of one of the operations.
func is(n *ir.Node, defs ...*op.Def) bool {
	d := op.Of(n)
	return d != nil && slices.Contains(defs, d)
}

// bare is n without expansions around it: its elements before they are repeated.
func bare(n *ir.Node) *ir.Node {
	for n.Op == op.Expand {
		n = n.Args[0]
	}
	return n
}

// number returns the value that all elements of n have, if that is a constant. An integer of
// uint64 is given by its bits.
func number(n *ir.Node) (v ir.Value, ok bool) {
	for n.Op == op.Expand || n.Op == op.Reshape || n.Op == op.Permute || n.Op == op.Slice {
		n = n.Args[0]
	}
	if n.Op != ir.Const {
		return v, false
	}
	if v = n.Value(); n.DType.Float() {
		v.Float = op.Nearest(n.DType, v.Float)
	} else {
		v.Float = op.FloatOf(v.Int, n.DType, array.Float64)
	}
	return v, true
}

// constantLike is the constant without dimensions that all elements of n are; n is a number.
func constantLike(n *ir.Node) *ir.Node {
	for n.Op != ir.Const {
		n = n.Args[0]
	}
	return reshape(n, nil)
}

// isNumber reports that all elements of n are f; zeros of floats have the sign of f.
func isNumber(n *ir.Node, f float64) bool {
	v, ok := number(n)
	if !ok || v.Float != f {
		return false
	}
	return f != 0 || !n.DType.Float() || signbit(v.Float) == signbit(f)
}

// isZero reports that all elements of n are 0, of either sign.
func isZero(n *ir.Node) bool {
	v, ok := number(n)
	return ok && v.Float == 0
}

func signbit(f float64) bool { return f < 0 || f == 0 && 1/f < 0 }

// num is the number f as an array of one element, of the type of n.
func num(n *ir.Node, f float64) *ir.Node {
	d := n.DType.Part()
	x := n.Graph.Number(f, d, false)
	if n.DType.Complex() {
		return apply(op.Complex, x, n.Graph.Number(0, d, false))
	}
	return x
}

// truth is a constant of type bool.
func truth(n *ir.Node, b bool) *ir.Node {
	v := ir.Value{}
	if b {
		v.Int = 1
	}
	return n.Graph.Node(ir.Const, v, array.Bool, nil, false)
}

// as is x, which broadcasts to the shape of n, in that shape.
func as(x, n *ir.Node) *ir.Node { return expand(x, n.Shape) }

func expand(x *ir.Node, shape []int) *ir.Node {
	if array.Equal(x.Shape, shape) {
		return x
	}
	return op.Apply(op.Expand, op.Shape(shape), x)
}

func reshape(x *ir.Node, shape []int) *ir.Node {
	if array.Equal(x.Shape, shape) {
		return x
	}
	return op.Apply(op.Reshape, op.Shape(shape), x)
}

// negative is -x, and x where that is -x again.
func negative(x *ir.Node) *ir.Node {
	if x.Op == op.Neg {
		return x.Args[0]
	}
	return apply(op.Neg, x)
}

// isNegative reports that one of two floats is the negative of the other.
func isNegative(x, y *ir.Node) bool {
	return x.Op == op.Neg && x.Args[0] == y || y.Op == op.Neg && y.Args[0] == x
}

// signed reports floats and integers with a sign.
func signed(d array.DType) bool { return d.Float() || d.Integer() && !d.Unsigned() }

// elementwise reports an operation that computes each element of its result from the elements
// of its arguments at the same place alone, in the same way at every place.
func elementwise(n *ir.Node) bool {
	d := op.Of(n)
	return d != nil && d.Class == op.Pointwise && d.Expr != nil && n.Results == nil
}

// either calls f with the two arguments of n in both orders until it gives a node.
func either(n *ir.Node, f func(x, y *ir.Node) *ir.Node) *ir.Node {
	if m := f(n.Args[0], n.Args[1]); m != nil {
		return m
	}
	if n.Args[0] == n.Args[1] {
		return nil
	}
	return f(n.Args[1], n.Args[0])
}
