package rewrite

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Products of matrices. Each element of one is a chain of products in ascending order,
// whatever is beside it, so transposing, cutting and stacking products keeps their bits. What
// follows a product elementwise (a factor, a sum with another array, a bias, an activation)
// is its epilogue, which the planner finds.

var productRules = []*Rule{
	rule(BLAS, Exact, "transposed product", "(x@y)T -> yT@xT", func(c *Context, n *ir.Node) *ir.Node {
		x, order := n.Args[0], n.Attrs.(op.Order)
		r := len(order)
		if x.Op != op.MatMul2 || !c.once(x) || order[r-1] != r-2 || order[r-2] != r-1 || !slices.IsSorted(order[:r-2]) {
			return nil
		}
		return apply(op.MatMul2, op.Transpose(x.Args[1], r-2, r-1), op.Transpose(x.Args[0], r-2, r-1))
	}, op.Permute),
	rule(BLAS, Exact, "slice of a product", "(x@y)[i, j] -> x[i]@y[:, j] where nothing else uses x@y", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.MatMul2 || !c.once(x) || n.Size() == 0 || n.Size() >= x.Size() {
			return nil
		}
		w, r := n.Attrs.(op.Window), len(n.Shape)
		side := func(y *ir.Node, inner, outer int) *ir.Node {
			v := op.Window{Start: slices.Clone(w.Start), Step: slices.Clone(w.Step), Count: slices.Clone(w.Count)}
			v.Start[inner], v.Step[inner], v.Count[inner] = 0, 1, y.Shape[inner]
			return op.Apply(op.Slice, v, y)
		}
		return apply(op.MatMul2, side(x.Args[0], r-1, r-2), side(x.Args[1], r-2, r-1))
	}, op.Slice),
	rule(BLAS, Exact, "batch with one matrix", "a batch of products with one matrix on the right, or a batch of one -> one tall product", func(c *Context, n *ir.Node) *ir.Node {
		x, y, r := n.Args[0], n.Args[1], len(n.Shape)
		if r == 2 || n.Size() == 0 || x.Size() == 0 {
			return nil
		}
		b := bare(y)
		if len(b.Shape) < 2 || array.Size(b.Shape[:len(b.Shape)-2]) != 1 || !array.Equal(b.Shape[len(b.Shape)-2:], y.Shape[r-2:]) {
			return nil
		}
		k := x.Shape[r-1]
		tall := reshape(x, []int{x.Size() / k, k})
		return reshape(apply(op.MatMul2, tall, reshape(b, y.Shape[r-2:])), n.Shape)
	}, op.MatMul2),
	rule(BLAS, Stable, "product over one term", "x@y with one column in x -> x*y: of -0 it is 0", func(c *Context, n *ir.Node) *ir.Node {
		x, y, r := n.Args[0], n.Args[1], len(n.Shape)
		if x.Shape[r-1] != 1 {
			return nil
		}
		return apply(op.Mul, x, y)
	}, op.MatMul2),
	outside(rule(Specialise, Exact, "outer product", "x@y with one column in x -> x*y+0, rounded once, which is part of the kernel of what follows", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Shape[len(x.Shape)-1] == 1 {
			return apply(op.Term, x, n.Args[1])
		}
		return nil
	}, op.MatMul2)),
	rule(BLAS, Fast, "product with zeros", "0@x, x@0 -> 0", func(c *Context, n *ir.Node) *ir.Node {
		if isZero(n.Args[0]) || isZero(n.Args[1]) {
			return as(num(n, 0), n)
		}
		return nil
	}, op.MatMul2),
	rule(BLAS, Fast, "factor of an operand", "(x*c)@y, x@(y*c) -> (x@y)*c with one number c, where it runs in the epilogue", func(c *Context, n *ir.Node) *ir.Node {
		x, y := n.Args[0], n.Args[1]
		if m, f := scaled(c, x); m != nil {
			return apply(op.Mul, apply(op.MatMul2, m, y), f)
		}
		if m, f := scaled(c, y); m != nil {
			return apply(op.Mul, apply(op.MatMul2, x, m), f)
		}
		return nil
	}, op.MatMul2),
	rule(BLAS, Fast, "negative operand", "-x@y, x@-y -> -(x@y), where it runs in the epilogue", func(c *Context, n *ir.Node) *ir.Node {
		for i, x := range n.Args {
			if x.Op == op.Neg && c.once(x) {
				args := slices.Clone(n.Args)
				args[i] = x.Args[0]
				return apply(op.Neg, apply(op.MatMul2, args...))
			}
		}
		return nil
	}, op.MatMul2),
	rule(BLAS, Fast, "product with a diagonal", "diag(d)@x -> d[:, None]*x, x@diag(d) -> x*d", func(c *Context, n *ir.Node) *ir.Node {
		r := len(n.Shape)
		if d := diagonal(n.Args[0]); d != nil {
			return apply(op.Mul, n.Args[1], reshape(d, append(slices.Clone(d.Shape), 1)))
		}
		if d := diagonal(n.Args[1]); d != nil {
			return apply(op.Mul, n.Args[0], reshape(d, append(slices.Clone(d.Shape[:r-2]), 1, d.Shape[r-2])))
		}
		return nil
	}, op.MatMul2),
}

// scaled returns a and c of a*c, c being one number, where nothing else uses that.
func scaled(c *Context, n *ir.Node) (a, f *ir.Node) {
	if n.Op != op.Mul || !c.once(n) {
		return nil, nil
	}
	for i := range 2 {
		if f := bare(n.Args[i]); f.Size() == 1 && len(f.Shape) == 0 && array.Equal(n.Args[1-i].Shape, n.Shape) {
			return n.Args[1-i], f
		}
	}
	return nil, nil
}

// diagonal returns d where n is zeros with d in the diagonal, square.
func diagonal(n *ir.Node) *ir.Node {
	if n.Op == op.Put && len(n.Shape) == 2 && n.Shape[0] == n.Shape[1] && isZero(n.Args[0]) {
		size := n.Shape[0]
		if samePlaces(n.Attrs.(op.StridedWindow), op.StridedWindow{Shape: []int{size}, Strides: []int{size + 1}}) {
			return reshape(n.Args[1], []int{size})
		}
		return nil
	}
	if n.Op != op.Place {
		return nil
	}
	a, r := n.Attrs.(op.Placement), len(n.Shape)
	if k, ok := a.View.(op.Offset); !ok || k != 0 || a.Fill != 0 || n.Shape[r-1] != n.Shape[r-2] {
		return nil
	}
	return n.Args[0]
}
