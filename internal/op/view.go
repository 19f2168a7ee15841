package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
)

// Windows on an array, and their opposites, which place arrays into a new one.
var Reshape, Permute, Expand, Slice, Diagonal, Place, Cat, Pad, Tril, Triu, Copy *Def

// viewNode infers a view op by applying its View to a view with no storage.
func viewNode(c *Call) (array.DType, []int) {
	x := c.Args[0]
	v := array.View{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)}
	n := &ir.Node{Attrs: c.Attrs}
	return x.DType, c.Def.View(v, n).Shape
}

func permute(x *node, order []int) *node { return Apply(Permute, Order(order), x) }

// Transpose swaps two axes.
func Transpose(x *node, i, j int) *node {
	o := span(0, len(x.Shape))
	o[i], o[j] = j, i
	return permute(x, o)
}

func init() {
	Reshape = define(Def{Name: "reshape", Class: View, Arity: 1, Attrs: Shape(nil), ONNX: "Reshape", Doc: "The elements in row-major order in another shape.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, shape := c.Args[0], c.Attrs.(Shape)
			if array.Size(shape) != x.Size() {
				c.Failf("shape", "%s has %d elements, %s %d", array.ShapeString(x.Shape), x.Size(), array.ShapeString(shape), array.Size(shape))
			}
			return x.DType, shape
		}},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return reshape(v.DY, v.X[0].Shape) }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 6}}, Attrs: Shape{3, 8}}, {Shapes: [][]int{{1}}, Attrs: Shape{}}}}})
	Permute = define(Def{Name: "permute", Class: View, Arity: 1, Attrs: Order(nil), ONNX: "Transpose", Doc: "The axes in another order.",
		View: func(v array.View, n *node) array.View {
			o := n.Attrs.(Order)
			out := v
			out.Shape, out.Strides = make([]int, len(o)), make([]int, len(o))
			for i, a := range o {
				out.Shape[i], out.Strides[i] = v.Shape[a], v.Strides[a]
			}
			return out
		},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			order := c.Attrs.(Order)
			if array.Axes(c.Def.Name, order, len(c.Args[0].Shape)); len(order) != len(c.Args[0].Shape) || slices.ContainsFunc(order, func(a int) bool { return a < 0 }) {
				c.Failf("order", "is %v for %d dimensions", order, len(c.Args[0].Shape))
			}
			return viewNode(c)
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				order := v.Node.Attrs.(Order)
				inv := make([]int, len(order))
				for i, a := range order {
					inv[a] = i
				}
				return permute(v.DY, inv)
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3, 4}}, Attrs: Order{2, 0, 1}}}}})
	Expand = define(Def{Name: "expand", Class: View, Arity: 1, Attrs: Shape(nil), ONNX: "Expand", Doc: "Broadcast to a shape.",
		View: func(v array.View, n *node) array.View { return v.BroadcastTo(n.Attrs.(Shape)) },
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, s := c.Args[0], []int(c.Attrs.(Shape))
			if array.CheckShape(c.Def.Name, s, x.DType); !array.BroadcastsTo(x.Shape, s) {
				c.Failf("shape", "%s does not expand to %s", array.ShapeString(x.Shape), array.ShapeString(s))
			}
			return x.DType, s
		}},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return v.DY }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{3, 1}}, Attrs: Shape{2, 3, 4}}}}})
	Slice = define(Def{Name: "slice", Class: View, Arity: 1, Attrs: Window{}, ONNX: "Slice", Doc: "Every step-th element from start, count of them, for each axis.",
		View: sliceView,
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			c.Attrs.(Window).check(c, c.Args[0].Shape)
			return viewNode(c)
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return placeIn(v.DY, v.Node.Attrs, v.X[0].Shape) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 7}}, Attrs: Window{[]int{1, 6}, []int{2, -3}, []int{2, 3}}}}}})
	Diagonal = define(Def{Name: "diagonal", Class: View, Arity: 1, Attrs: Offset(0), Doc: "A diagonal over the last two axes, as a last axis.",
		View:   diagonalView,
		Typing: Typing{Infer: viewNode},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return placeIn(v.DY, v.Node.Attrs, v.X[0].Shape) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 6}}}, {Shapes: [][]int{{2, 4, 6}}, Attrs: Offset(2)}, {Shapes: [][]int{{4, 6}}, Attrs: Offset(-1)}}}})

	Copy = define(Def{Name: "copy", Class: Routine, Arity: 1, Doc: "The elements in memory of their own; the planner's way to transpose.",
		Typing:      Typing{Infer: func(c *Call) (array.DType, []int) { return c.Args[0].DType, c.Args[0].Shape }},
		ByRoutine:   ByRoutine{Routine: ir.RoutineCopy, MovesAnyType: true},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return v.DY }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{40, 70}}}, {Shapes: [][]int{{3, 5, 2}}}}}})
	Place = define(Def{Name: "place", Class: Concat, Arity: 1, Attrs: Placement{},
		Doc: "An array filled with a number, with x in a view on it.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, a := c.Args[0], c.Attrs.(Placement)
			array.CheckShape(c.Def.Name, a.Shape, x.DType)
			var part []int
			switch w := a.View.(type) {
			case Window:
				w.check(c, a.Shape)
				part = w.Count
			case Offset:
				v := array.View{DType: x.DType, Shape: a.Shape, Strides: array.RowMajor(a.Shape)}
				part = w.on(v).Shape
			default:
				c.Failf("", "into a view of type %T", a.View)
			}
			if !array.Equal(part, x.Shape) {
				c.Failf("x", "has shape %s, its place %s", array.ShapeString(x.Shape), array.ShapeString(part))
			}
			return x.DType, a.Shape
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				view := v.Node.Attrs.(Placement).View
				if _, window := view.(Window); window {
					return Apply(Slice, view, v.DY)
				}
				return Apply(Diagonal, view, v.DY)
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3}}, Attrs: Placement{Shape: []int{5, 7}, View: Window{[]int{1, 6}, []int{2, -3}, []int{2, 3}}}}}}})
	Cat = define(Def{Name: "cat", Class: Concat, Arity: -1, Attrs: Axis(0), ONNX: "Concat", Doc: "The arguments one behind the other along an axis.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, axis := c.Args[0], int(c.Attrs.(Axis))
			shape := append([]int(nil), x.Shape...)
			c.inRank(axis, len(shape))
			shape[axis] = 0
			for i, y := range c.Args {
				if len(y.Shape) != len(shape) || y.DType != x.DType {
					c.Failf("", "tensor %d is %s, tensor 0 %s: want the same number of axes", i, array.TypeString(y.DType, y.Shape), array.TypeString(x.DType, x.Shape))
				}
				for k, n := range y.Shape {
					if k != axis && n != shape[k] {
						c.Failf("", "tensor %d has shape %s, tensor 0 %s: they may differ along axis %d only", i, array.ShapeString(y.Shape), array.ShapeString(x.Shape), axis)
					}
				}
				shape[axis] = array.AddSizes("cat", shape[axis], y.Shape[axis])
			}
			return x.DType, shape
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			at, axis := 0, int(v.Node.Attrs.(Axis))
			for i, x := range v.X {
				n := x.Shape[axis]
				lo := at
				v.Set(i, func() *node { return Narrow(v.DY, axis, lo, n) })
				at += n
			}
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3}, {4, 3}, {0, 3}}}, {Shapes: [][]int{{2, 3}, {2, 1}}, Attrs: Axis(1)}}}})
	Pad = define(Def{Name: "pad", Class: Composite, Arity: 1, Attrs: Padding{}, ONNX: "Pad", Doc: "x with elements of one value around it.",
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a, r := attrs.(Padding), len(x[0].Shape)
			if len(a.Pads) != 2*r {
				array.Failf("pad", "pads", "has %d numbers, want %d: before and after each of %d axes", len(a.Pads), 2*r, r)
			}
			shape, w := make([]int, r), AllOf(x[0].Shape)
			for i, n := range x[0].Shape {
				if a.Pads[2*i] < 0 || a.Pads[2*i+1] < 0 {
					array.Failf("pad", "pads", "are negative: %v", a.Pads)
				}
				shape[i] = array.AddSizes("pad", n, a.Pads[2*i], a.Pads[2*i+1])
				w.Start[i] = a.Pads[2*i]
			}
			array.CheckShape("pad", shape, x[0].DType)
			return Apply(Place, Placement{shape, w, a.Value}, x[0])
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 3}}, Attrs: Padding{[]int{1, 0, 2, 2}, 1.5}}}}})
	triangle := []Sample{{Shapes: [][]int{{5, 7}}}, {Shapes: [][]int{{2, 7, 5}}, Attrs: Offset(2)}, {Shapes: [][]int{{4, 4}}, Attrs: Offset(-1)}, {Shapes: [][]int{{3, 0}}}, {Shapes: [][]int{{3, 2}}, Attrs: Offset(9)}}
	Tril = define(Def{Name: "tril", Class: Composite, Arity: 1, Attrs: Offset(0), ONNX: "Trilu", Doc: "x with zeros above a diagonal of the last two axes.",
		Composed:    Composed{Compose: func(x []*node, a ir.Attrs) *node { return triangleOf("tril", Le, x[0], a.(Offset)) }},
		Conformance: Conformance{Samples: triangle}})
	Triu = define(Def{Name: "triu", Class: Composite, Arity: 1, Attrs: Offset(0), ONNX: "Trilu", Doc: "x with zeros below a diagonal of the last two axes.",
		Composed:    Composed{Compose: func(x []*node, a ir.Attrs) *node { return triangleOf("triu", Ge, x[0], a.(Offset)) }},
		Conformance: Conformance{Samples: triangle}})
}

// triangleOf is x where its column compares so with that of the diagonal of its row, and
// 0 elsewhere.
func triangleOf(name string, compare *Def, x *node, diagonal Offset) *node {
	r := len(x.Shape)
	if r < 2 {
		array.Failf(name, "", "takes two dimensions or more, got %s", array.ShapeString(x.Shape))
	}
	rows, cols := x.Shape[r-2], x.Shape[r-1]
	g := x.Graph
	place := Apply(Expand, Shape{rows, cols}, g.Number(0, array.Float32, false))
	k := min(max(int(diagonal), -rows), cols) // beyond which nothing changes
	at := add(Apply(Iota, Axis(0), place), g.Number(float64(k), array.Int64, false))
	return where(apply(compare, Apply(Iota, Axis(1), place), at), x, num(x, 0))
}

// placeIn is zeros with x in a view.
func placeIn(x *node, view ir.Attrs, shape []int) *node {
	return Apply(Place, Placement{Shape: shape, View: view}, x)
}

// Narrow is the window of n elements from lo along an axis.
func Narrow(x *node, axis, lo, n int) *node {
	w := AllOf(x.Shape)
	w.Start[axis], w.Count[axis] = lo, n
	return Apply(Slice, w, x)
}

func sliceView(v array.View, n *node) array.View {
	return n.Attrs.(Window).on(v)
}

// check refuses a window that does not lie in a shape.
func (w Window) check(c *Call, shape []int) {
	if len(w.Start) != len(shape) || len(w.Step) != len(shape) || len(w.Count) != len(shape) {
		c.Failf("", "a window of %d, %d and %d numbers on %d dimensions", len(w.Start), len(w.Step), len(w.Count), len(shape))
	}
	for i, n := range shape {
		start, step, count := w.Start[i], w.Step[i], w.Count[i]
		inside := count >= 0 && (count == 0 || start >= 0 && start < n)
		switch {
		case !inside || count < 2:
		case step > 0:
			inside = step <= (n-1-start)/(count-1)
		case step < 0:
			inside = step >= -start/(count-1)
		default:
			inside = false
		}
		if !inside {
			c.Failf("", "%d elements from %d, %d apart, are not in axis %d of size %d", count, start, step, i, n)
		}
	}
}

// on is the window on a view.
func (w Window) on(v array.View) array.View {
	offset, strides := 0, append([]int(nil), v.Strides...)
	for i, count := range w.Count {
		if count > 1 { // else nothing is a step away, and the product may overflow
			strides[i] *= w.Step[i]
		}
		if count > 0 {
			offset += w.Start[i] * v.Strides[i]
		}
	}
	return v.Window(offset, w.Count, strides)
}

func diagonalView(v array.View, n *node) array.View { return n.Attrs.(Offset).on(v) }

// on is the diagonal of a view.
func (o Offset) on(v array.View) array.View {
	k := int(o)
	r := len(v.Shape)
	if r < 2 {
		array.Failf("diagonal", "", "takes two dimensions or more, got %s", array.ShapeString(v.Shape))
	}
	rows, cols := v.Shape[r-2], v.Shape[r-1]
	n := min(rows, cols-k)
	if k < 0 {
		n = min(rows+k, cols)
	}
	n = max(n, 0)
	offset := 0
	switch {
	case n == 0:
	case k >= 0:
		offset = k * v.Strides[r-1]
	default:
		offset = -k * v.Strides[r-2]
	}
	shape := append(append([]int(nil), v.Shape[:r-2]...), n)
	strides := append(append([]int(nil), v.Strides[:r-2]...), v.Strides[r-2]+v.Strides[r-1])
	return v.Window(offset, shape, strides)
}

// Parts returns the windows of the result of an operation of class Concat into which the
// arguments go, whether they cover the result, and the number that is everywhere else.
func Parts(n *node, out array.View) (parts []array.View, covered bool, fill float64) {
	switch n.Op {
	case Place:
		a := n.Attrs.(Placement)
		if k, diagonal := a.View.(Offset); diagonal {
			return []array.View{k.on(out)}, false, a.Fill
		}
		w := a.View.(Window).on(out)
		return []array.View{w}, array.Size(w.Shape) == array.Size(out.Shape), a.Fill
	case Cat:
		at, axis := 0, int(n.Attrs.(Axis))
		for _, x := range n.Args {
			parts = append(parts, out.Window(at*out.Strides[axis], x.Shape, out.Strides))
			at += x.Shape[axis]
		}
		return parts, true, 0
	case Put:
		return []array.View{out, putPart(n, out)}, true, 0
	case Interleave:
		for i := range n.Args {
			parts = append(parts, interleavePart(n, out, i))
		}
		a, r := n.Attrs.(Interleaving), len(n.Shape)
		s := n.Args[0].Shape
		return parts, s[r-2]*a.Every[0] == a.Size[0] && s[r-1]*a.Every[1] == a.Size[1], 0
	}
	if n.Op == Complex {
		return []array.View{out.Part(0), out.Part(1)}, true, 0
	}
	panic("op: " + n.Op.OpName() + " is not of class Concat")
}
