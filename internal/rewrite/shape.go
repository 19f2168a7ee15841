package rewrite

import (
	"math"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Windows on arrays, and what is put together from arrays. Moving elements changes no bit, so
// all of these are exact. Slices move towards the arguments, where less is computed, if
// nothing else needs what they are of; expansions move towards the results.

var shapeRules = []*Rule{
	early(canon(Exact, "reshape of a reshape", "reshape(reshape(x)) -> reshape(x); of x's own shape -> x", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		for x.Op == op.Reshape {
			x = x.Args[0]
		}
		if x != n.Args[0] || array.Equal(x.Shape, n.Shape) {
			return reshape(x, n.Shape)
		}
		return nil
	}, op.Reshape)),
	early(canon(Exact, "expansion of an expansion", "expand(expand(x)) -> expand(x); to x's own shape -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := bare(n); x != n.Args[0] || array.Equal(x.Shape, n.Shape) {
			return as(x, n)
		}
		return nil
	}, op.Expand)),
	early(canon(Exact, "permutation of a permutation", "permute(permute(x)) -> permute(x); into the order that was -> x", func(c *Context, n *ir.Node) *ir.Node {
		x, order := n.Args[0], n.Attrs.(op.Order)
		if slices.IsSorted(order) {
			return x
		}
		if x.Op != op.Permute {
			return nil
		}
		before := x.Attrs.(op.Order)
		joint := make(op.Order, len(order))
		for i, a := range order {
			joint[i] = before[a]
		}
		if slices.IsSorted(joint) {
			return x.Args[0]
		}
		return op.Apply(op.Permute, joint, x.Args[0])
	}, op.Permute)),
	early(canon(Exact, "slice of all", "x[:] -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x, w := n.Args[0], n.Attrs.(op.Window); array.Equal(x.Shape, n.Shape) && !backwards(w) {
			return x
		}
		return nil
	}, op.Slice)),
	canon(Exact, "slice of a slice", "x[a:b][c:d] -> x[a+c:a+d]", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Slice {
			return nil
		}
		return op.Apply(op.Slice, within(x.Attrs.(op.Window), n.Attrs.(op.Window)), x.Args[0])
	}, op.Slice),
	canon(Exact, "slice of a permutation", "permute(x)[w] -> permute(x[w])", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Permute {
			return nil
		}
		order, w := x.Attrs.(op.Order), n.Attrs.(op.Window)
		v := op.AllOf(x.Args[0].Shape)
		for i, a := range order {
			v.Start[a], v.Step[a], v.Count[a] = w.Start[i], w.Step[i], w.Count[i]
		}
		return op.Apply(op.Permute, order, op.Apply(op.Slice, v, x.Args[0]))
	}, op.Slice),
	canon(Exact, "slice of an expansion", "expand(x)[w] -> expand(x[w])", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Expand && n.Size() > 0 {
			return as(sliceLike(x.Args[0], x.Shape, n.Attrs.(op.Window)), n)
		}
		return nil
	}, op.Slice),
	canon(Exact, "slice of elementwise work", "f(x, y)[w] -> f(x[w], y[w]) where nothing else uses f(x, y)", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if !elementwise(x) || !c.once(x) || n.Size() == 0 || n.Size() >= x.Size() || isBlock(x) {
			return nil
		}
		args := make([]*ir.Node, len(x.Args))
		for i, a := range x.Args {
			args[i] = sliceLike(a, x.Shape, n.Attrs.(op.Window))
		}
		return c.g.Node(x.Op, x.Attrs, x.DType, n.Shape, x.Weak, args...)
	}, op.Slice),
	canon(Exact, "slice of a reduction", "sum(x, 1)[i] -> sum(x[i], 1) where nothing else uses the sum, and their like", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if d := op.Of(x); d == nil || d.Class != op.Reduce || !c.once(x) || n.Size() == 0 || n.Size() >= x.Size() {
			return nil
		}
		g, w := group(x), n.Attrs.(op.Window)
		if (array.Size(x.Shape[g.Hi:]) > 1) != (array.Size(n.Shape[g.Hi:]) > 1) {
			return nil // the order of the elements would be another
		}
		v := op.AllOf(x.Args[0].Shape)
		for i := range v.Start {
			if i < g.Lo || i >= g.Hi {
				v.Start[i], v.Step[i], v.Count[i] = w.Start[i], w.Step[i], w.Count[i]
			}
		}
		return op.Apply(op.Of(x), g, op.Apply(op.Slice, v, x.Args[0]))
	}, op.Slice),
	canon(Exact, "slice of a joint array", "cat(x, y)[w] -> x[w] where w lies in x, or without parts in which w does not lie", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Cat || n.Size() == 0 {
			return nil
		}
		return sliceOfCat(x, n.Attrs.(op.Window))
	}, op.Slice),
	canon(Exact, "slice of what was put there", "the window of an array filled with a number into which x was put -> x, or a part of x, or the number", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if x.Op != op.Place || n.Size() == 0 {
			return nil
		}
		a := x.Attrs.(op.Placement)
		into, ok := a.View.(op.Window)
		if !ok || backwards(into) {
			return nil
		}
		w := n.Attrs.(op.Window)
		v := op.AllOf(x.Args[0].Shape)
		for i := range w.Start {
			lo, hi := w.Start[i], w.Start[i]+(w.Count[i]-1)*w.Step[i]
			if lo > hi {
				lo, hi = hi, lo
			}
			from, to := into.Start[i], into.Start[i]+into.Count[i]
			switch {
			case hi < from || lo >= to:
				return as(num(n, a.Fill), n)
			case lo < from || hi >= to:
				return nil
			}
			v.Start[i], v.Step[i], v.Count[i] = w.Start[i]-from, w.Step[i], w.Count[i]
		}
		return op.Apply(op.Slice, v, x.Args[0])
	}, op.Slice),
	canon(Exact, "put everywhere", "x put into all of an array -> x", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		if w, ok := n.Attrs.(op.Placement).View.(op.Window); ok && array.Equal(x.Shape, n.Shape) && !backwards(w) {
			return x
		}
		return nil
	}, op.Place),
	canon(Exact, "diagonal of a diagonal", "the diagonal into which x was put -> x", func(c *Context, n *ir.Node) *ir.Node {
		if x := n.Args[0]; x.Op == op.Place {
			if k, ok := x.Attrs.(op.Placement).View.(op.Offset); ok && k == n.Attrs.(op.Offset) {
				return x.Args[0]
			}
		}
		return nil
	}, op.Diagonal),
	early(canon(Exact, "elementwise work on expansions", "f(expand(x), y) -> f(x, y) where y gives the shape, f(expand(x), expand(y)) -> expand(f(x, y))", func(c *Context, n *ir.Node) *ir.Node {
		if !elementwise(n) || isBlock(n) || n.DType.Complex() {
			return nil
		}
		found := false
		for _, a := range n.Args {
			found = found || a.Op == op.Expand
		}
		if !found {
			return nil
		}
		args := make([]*ir.Node, len(n.Args))
		shapes := make([][]int, len(n.Args))
		for i, a := range n.Args {
			args[i] = bare(a)
			shapes[i] = args[i].Shape
		}
		return expand(c.g.Node(n.Op, n.Attrs, n.DType, array.Broadcast("expand", shapes...), n.Weak, args...), n.Shape)
	})),
	rule(Specialise, Exact, "elementwise work on reshaped work", "f(reshape(x), reshape(y), c) -> reshape(f(x, y, c)) for cheap f, such as a relu after a batch norm, where x or y is elementwise work", beforeReshape),
	canon(Exact, "joint array of one", "cat(x) -> x; parts without elements go", func(c *Context, n *ir.Node) *ir.Node {
		parts := slices.DeleteFunc(slices.Clone(n.Args), func(x *ir.Node) bool { return x.Size() == 0 })
		switch {
		case len(n.Args) == 1:
			return n.Args[0]
		case len(parts) == len(n.Args) || len(parts) == 0:
			return nil
		}
		return op.Apply(op.Cat, n.Attrs, parts...)
	}, op.Cat),
	canon(Exact, "joint array of repetitions", "cat(x, x) -> expand(x) where x has size 1 along the axis, and of arrays of one number", func(c *Context, n *ir.Node) *ir.Node {
		x, axis := n.Args[0], int(n.Attrs.(op.Axis))
		v, number1 := number(x)
		for _, y := range n.Args[1:] {
			w, number2 := number(y)
			if !(number1 && number2 && v == w && math.Float64bits(v.Float) == math.Float64bits(w.Float)) && !(y == x && x.Shape[axis] == 1) {
				return nil
			}
		}
		switch {
		case len(n.Args) < 2:
			return nil
		case number1:
			return as(constantLike(x), n)
		}
		return as(x, n)
	}, op.Cat),
	canon(Exact, "joint array of joint arrays", "cat(cat(x, y), z) -> cat(x, y, z) along the same axis", func(c *Context, n *ir.Node) *ir.Node {
		inner := func(x *ir.Node) bool { return x.Op == op.Cat && x.Attrs == n.Attrs && c.once(x) }
		if !slices.ContainsFunc(n.Args, inner) || len(n.Args) > maxParts {
			return nil
		}
		var parts []*ir.Node
		for _, x := range n.Args {
			if inner(x) {
				parts = append(parts, x.Args...)
			} else {
				parts = append(parts, x)
			}
		}
		return op.Apply(op.Cat, n.Attrs, parts...)
	}, op.Cat),
	canon(Exact, "joint array of neighbouring slices", "cat(x[:3], x[3:5]) -> x[:5]", func(c *Context, n *ir.Node) *ir.Node {
		axis := int(n.Attrs.(op.Axis))
		var parts []*ir.Node
		for _, x := range n.Args {
			if k := len(parts) - 1; k >= 0 {
				if joint := neighbours(parts[k], x, axis); joint != nil {
					parts[k] = joint
					continue
				}
			}
			parts = append(parts, x)
		}
		if len(parts) == len(n.Args) {
			return nil
		}
		return op.Apply(op.Cat, n.Attrs, parts...)
	}, op.Cat),
	canon(Exact, "parts of a complex number", "real(complex(x, y)) -> x, imag(complex(x, y)) -> y", func(c *Context, n *ir.Node) *ir.Node {
		x := n.Args[0]
		switch {
		case x.Op != op.Complex:
			return nil
		case n.Op == op.Real:
			return x.Args[0]
		}
		return x.Args[1]
	}, op.Real, op.Imag),
	early(canon(Exact, "index by a constant", "index_select(x, n times k) -> expand(x[k])", func(c *Context, n *ir.Node) *ir.Node {
		x, axis := n.Args[0], int(n.Attrs.(op.Axis))
		v, ok := number(n.Args[1])
		if size := x.Shape[axis]; ok && n.Size() > 0 && v.Int >= -int64(size) && v.Int < int64(size) {
			return as(op.Narrow(x, axis, (int(v.Int)+size)%size, 1), n)
		}
		return nil
	}, op.IndexSelect)),
	canon(Exact, "index by all places", "index_select(x, 0, 1, 2 ... to the last) -> x", func(c *Context, n *ir.Node) *ir.Node {
		if i := n.Args[1]; i.Op == op.Iota && array.Equal(n.Shape, n.Args[0].Shape) {
			return n.Args[0]
		}
		return nil
	}, op.IndexSelect),
}

// maxParts is the number of parts up to which a joint array takes in the parts of another.
const maxParts = 64

// cheapCost bounds [op.CostOf] of work that moves before a reshape.
const cheapCost = 2

// beforeReshape moves cheap elementwise work before the reshapes of its arguments, so that it can
// be part of the kernel that computes them. Other arguments are single numbers.
func beforeReshape(c *Context, n *ir.Node) *ir.Node {
	if !elementwise(n) || isBlock(n) || n.DType.Complex() || op.CostOf(n) > cheapCost {
		return nil
	}
	var from *ir.Node
	work := false
	args := make([]*ir.Node, len(n.Args))
	for i, a := range n.Args {
		switch {
		case len(a.Shape) == 0:
			args[i] = a
			continue
		case a.Op != op.Reshape || !array.Equal(a.Shape, n.Shape):
			return nil
		}
		x := a.Args[0]
		if from != nil && !array.Equal(x.Shape, from.Shape) {
			return nil
		}
		from, work, args[i] = x, work || elementwise(x), x
	}
	if !work || sameButOnes(from.Shape, n.Shape) {
		return nil
	}
	return reshape(c.g.Node(n.Op, n.Attrs, n.DType, from.Shape, n.Weak, args...), n.Shape)
}

// isBlock reports numbers of a draw, which stay as they are written.
func isBlock(n *ir.Node) bool {
	_, block := n.Attrs.(op.Element)
	return block
}

// backwards reports a window with a step other than 1.
func backwards(w op.Window) bool {
	for i, s := range w.Step {
		if s != 1 && w.Count[i] > 1 {
			return true
		}
	}
	return false
}

// within is the window w on a window v.
func within(v, w op.Window) op.Window {
	out := op.Window{Start: make([]int, len(w.Start)), Step: make([]int, len(w.Start)), Count: w.Count}
	for i := range w.Start {
		out.Step[i] = 1
		if v.Count[i] > 0 && w.Count[i] > 0 {
			step := v.Step[i]
			if v.Count[i] == 1 {
				step = 0 // w starts at 0
			}
			out.Start[i] = v.Start[i] + w.Start[i]*step
			if w.Count[i] > 1 {
				out.Step[i] = step * w.Step[i]
			}
		}
	}
	return out
}

// sliceLike is the part of x that a window on shape, to which x broadcasts, shows.
func sliceLike(x *ir.Node, shape []int, w op.Window) *ir.Node {
	v := op.AllOf(x.Shape)
	for i, n := range x.Shape {
		k := len(shape) - len(x.Shape) + i
		if n != 1 || shape[k] == 1 {
			v.Start[i], v.Step[i], v.Count[i] = w.Start[k], w.Step[k], w.Count[k]
		}
	}
	if array.Equal(v.Count, x.Shape) && !backwards(v) {
		return x
	}
	return op.Apply(op.Slice, v, x)
}

// sliceOfCat is a window on joined arrays, nil if it needs all of them.
func sliceOfCat(x *ir.Node, w op.Window) *ir.Node {
	axis := int(x.Attrs.(op.Axis))
	lo, hi := w.Start[axis], w.Start[axis]+(w.Count[axis]-1)*w.Step[axis]
	if lo > hi {
		lo, hi = hi, lo
	}
	at, first := 0, 0 // where the first part that is needed begins
	var parts []*ir.Node
	for _, p := range x.Args {
		end := at + p.Shape[axis]
		if end > lo && at <= hi && end > at {
			if len(parts) == 0 {
				first = at
			}
			parts = append(parts, p)
		}
		at = end
	}
	if len(parts) == len(x.Args) {
		return nil
	}
	v := w
	v.Start = slices.Clone(w.Start)
	v.Start[axis] -= first
	if len(parts) == 1 {
		return op.Apply(op.Slice, v, parts[0])
	}
	return op.Apply(op.Slice, v, op.Apply(op.Cat, x.Attrs, parts...))
}

// neighbours returns the slice that is two slices of one array side by side along an axis,
// or nil.
func neighbours(x, y *ir.Node, axis int) *ir.Node {
	if x.Op != op.Slice || y.Op != op.Slice || x.Args[0] != y.Args[0] {
		return nil
	}
	v, w := x.Attrs.(op.Window), y.Attrs.(op.Window)
	for i := range v.Start {
		switch {
		case i != axis && (v.Start[i] != w.Start[i] || v.Step[i] != w.Step[i] || v.Count[i] != w.Count[i]),
			i == axis && (v.Step[i] != 1 && v.Count[i] > 1 || w.Step[i] != 1 && w.Count[i] > 1 || v.Start[i]+v.Count[i] != w.Start[i]):
			return nil
		}
	}
	joint := op.Window{Start: v.Start, Step: slices.Clone(v.Step), Count: slices.Clone(v.Count)}
	joint.Step[axis] = 1
	joint.Count[axis] += w.Count[axis]
	return op.Apply(op.Slice, joint, x.Args[0])
}
