package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Windows on an array, and their opposites, which place arrays into a new one.
var Reshape, Permute, Expand, Slice, Diagonal, Place, Cat, Pad, Copy *Def

// viewNode infers a Move by applying its View to a view with no storage.
func viewNode(c *Call) (array.DType, []int) {
	x := c.Args[0]
	v := array.View{DType: x.DType, Shape: x.Shape, Strides: array.RowMajor(x.Shape)}
	n := &ir.Node{Attrs: *c.Attrs}
	return x.DType, c.Def.View(v, n).Shape
}

func permute(x *node, order []int) *node { return Apply(Permute, ir.Attrs{Ints: order}, x) }

// Transpose swaps two axes.
func Transpose(x *node, i, j int) *node {
	o := span(0, len(x.Shape))
	o[i], o[j] = j, i
	return permute(x, o)
}

// SliceAttrs encodes start, step and count of every axis for [Slice]; start
// counts from the front and the range has been checked.
func SliceAttrs(start, step, count []int) ir.Attrs {
	a := ir.Attrs{Ints: make([]int, 0, 3*len(start))}
	for i := range start {
		a.Ints = append(a.Ints, start[i], step[i], count[i])
	}
	return a
}

// placeKinds name the view into which Place puts its argument.
const (
	placeSlice = iota
	placeDiagonal
)

func init() {
	Reshape = define(Def{Name: "reshape", Class: Move, Arity: 1, ONNX: "Reshape", Doc: "The elements in row-major order in shape Attrs.Ints.",
		Infer: func(c *Call) (array.DType, []int) {
			x := c.Args[0]
			if array.Size(c.Attrs.Ints) != x.Size() {
				c.Failf("shape", "%s has %d elements, %s %d", array.ShapeString(x.Shape), x.Size(), array.ShapeString(c.Attrs.Ints), array.Size(c.Attrs.Ints))
			}
			return x.DType, c.Attrs.Ints
		},
		VJP:     func(v *VJP) { v.Set(0, func() *node { return reshape(v.DY, v.X[0].Shape) }) },
		Samples: []Sample{{Shapes: [][]int{{4, 6}}, Attrs: ir.Attrs{Ints: []int{3, 8}}}, {Shapes: [][]int{{1}}, Attrs: ir.Attrs{Ints: []int{}}}}})
	Permute = define(Def{Name: "permute", Class: Move, Arity: 1, ONNX: "Transpose", Doc: "Axis i of the result is axis Attrs.Ints[i].",
		Infer: viewNode,
		View: func(v array.View, n *node) array.View {
			o := n.Attrs.Ints
			out := v
			out.Shape, out.Strides = make([]int, len(o)), make([]int, len(o))
			for i, a := range o {
				out.Shape[i], out.Strides[i] = v.Shape[a], v.Strides[a]
			}
			return out
		},
		VJP: func(v *VJP) {
			v.Set(0, func() *node {
				inv := make([]int, len(v.Node.Attrs.Ints))
				for i, a := range v.Node.Attrs.Ints {
					inv[a] = i
				}
				return permute(v.DY, inv)
			})
		},
		Samples: []Sample{{Shapes: [][]int{{2, 3, 4}}, Attrs: ir.Attrs{Ints: []int{2, 0, 1}}}}})
	Expand = define(Def{Name: "expand", Class: Move, Arity: 1, ONNX: "Expand", Doc: "Broadcast to shape Attrs.Ints.",
		Infer:   viewNode,
		View:    func(v array.View, n *node) array.View { return v.BroadcastTo(n.Attrs.Ints) },
		VJP:     func(v *VJP) { v.Set(0, func() *node { return v.DY }) },
		Samples: []Sample{{Shapes: [][]int{{3, 1}}, Attrs: ir.Attrs{Ints: []int{2, 3, 4}}}}})
	Slice = define(Def{Name: "slice", Class: Move, Arity: 1, ONNX: "Slice", Doc: "Every step-th element from start, count of them, for each axis: Attrs.Ints are triples.",
		Infer: viewNode,
		View:  sliceView,
		VJP: func(v *VJP) {
			v.Set(0, func() *node { return placeIn(v.DY, placeSlice, v.Node.Attrs.Ints, v.X[0].Shape) })
		},
		Samples: []Sample{{Shapes: [][]int{{5, 7}}, Attrs: SliceAttrs([]int{1, 6}, []int{2, -3}, []int{2, 3})}}})
	Diagonal = define(Def{Name: "diagonal", Class: Move, Arity: 1, Doc: "The diagonal number Attrs.Int over the last two axes, as a last axis.",
		Infer: viewNode,
		View:  diagonalView,
		VJP: func(v *VJP) {
			v.Set(0, func() *node { return placeIn(v.DY, placeDiagonal, []int{v.Node.Attrs.Int}, v.X[0].Shape) })
		},
		Samples: []Sample{{Shapes: [][]int{{4, 6}}}, {Shapes: [][]int{{2, 4, 6}}, Attrs: ir.Attrs{Int: 2}}, {Shapes: [][]int{{4, 6}}, Attrs: ir.Attrs{Int: -1}}}})

	Copy = define(Def{Name: "copy", Class: Routine, Arity: 1, Doc: "The elements in memory of their own; the planner's way to transpose.",
		Infer:   func(c *Call) (array.DType, []int) { return c.Args[0].DType, c.Args[0].Shape },
		VJP:     func(v *VJP) { v.Set(0, func() *node { return v.DY }) },
		Samples: []Sample{{Shapes: [][]int{{40, 70}}}, {Shapes: [][]int{{3, 5, 2}}}}})
	Place = define(Def{Name: "place", Class: Assemble, Arity: 1,
		Doc: "Zeros (Attrs.Float) of a shape with x in a window: Attrs.Int is the kind of window, Attrs.Ints its parameters behind the rank and sizes of the shape.",
		Infer: func(c *Call) (array.DType, []int) {
			r := c.Attrs.Ints[0]
			return c.Args[0].DType, c.Attrs.Ints[1 : 1+r]
		},
		VJP: func(v *VJP) {
			v.Set(0, func() *node {
				a := v.Node.Attrs
				p := a.Ints[1+a.Ints[0]:]
				if a.Int == placeDiagonal {
					return Apply(Diagonal, ir.Attrs{Int: p[0]}, v.DY)
				}
				return Apply(Slice, ir.Attrs{Ints: p}, v.DY)
			})
		},
		Samples: []Sample{{Shapes: [][]int{{2, 3}}, Attrs: ir.Attrs{Ints: []int{2, 5, 7, 1, 2, 2, 6, -3, 3}}}}})
	Cat = define(Def{Name: "cat", Class: Assemble, Arity: -1, ONNX: "Concat", Doc: "The arguments one behind the other along axis Attrs.Int.",
		Infer: func(c *Call) (array.DType, []int) {
			x := c.Args[0]
			shape := append([]int(nil), x.Shape...)
			shape[c.Attrs.Int] = 0
			for i, y := range c.Args {
				if len(y.Shape) != len(shape) || y.DType != x.DType {
					c.Failf("", "tensor %d is %s, tensor 0 %s: want as many dimensions", i, array.TypeString(y.DType, y.Shape), array.TypeString(x.DType, x.Shape))
				}
				for k, n := range y.Shape {
					if k != c.Attrs.Int && n != shape[k] {
						c.Failf("", "tensor %d has shape %s, tensor 0 %s: they may differ along axis %d only", i, array.ShapeString(y.Shape), array.ShapeString(x.Shape), c.Attrs.Int)
					}
				}
				shape[c.Attrs.Int] = array.AddSizes("cat", shape[c.Attrs.Int], y.Shape[c.Attrs.Int])
			}
			return x.DType, shape
		},
		VJP: func(v *VJP) {
			at := 0
			for i, x := range v.X {
				n := x.Shape[v.Node.Attrs.Int]
				lo := at
				v.Set(i, func() *node { return Narrow(v.DY, v.Node.Attrs.Int, lo, n) })
				at += n
			}
		},
		Samples: []Sample{{Shapes: [][]int{{2, 3}, {4, 3}, {0, 3}}}, {Shapes: [][]int{{2, 3}, {2, 1}}, Attrs: ir.Attrs{Int: 1}}}})
	Pad = define(Def{Name: "pad", Class: Composite, Arity: 1, ONNX: "Pad", Doc: "x with Attrs.Ints (before, after of each axis) elements of Attrs.Float around it.",
		Compose: func(x []*node, a ir.Attrs) *node {
			r := len(x[0].Shape)
			if len(a.Ints) != 2*r {
				array.Failf("pad", "pads", "has %d numbers, want %d: before and after each of %d axes", len(a.Ints), 2*r, r)
			}
			shape := make([]int, r)
			p := make([]int, 0, 3*r)
			for i, n := range x[0].Shape {
				if a.Ints[2*i] < 0 || a.Ints[2*i+1] < 0 {
					array.Failf("pad", "pads", "are negative: %v", a.Ints)
				}
				shape[i] = array.AddSizes("pad", n, a.Ints[2*i], a.Ints[2*i+1])
				p = append(p, a.Ints[2*i], 1, n)
			}
			array.CheckShape("pad", shape, x[0].DType)
			ints := append(append([]int{r}, shape...), p...)
			return Apply(Place, ir.Attrs{Ints: ints, Int: placeSlice, Float: a.Float}, x[0])
		},
		Samples: []Sample{{Shapes: [][]int{{2, 3}}, Attrs: ir.Attrs{Ints: []int{1, 0, 2, 2}, Float: 1.5}}}})
}

func placeIn(x *node, kind int, p, shape []int) *node {
	ints := append(append([]int{len(shape)}, shape...), p...)
	return Apply(Place, ir.Attrs{Ints: ints, Int: kind}, x)
}

// Narrow is the window of n elements from lo along an axis.
func Narrow(x *node, axis, lo, n int) *node {
	r := len(x.Shape)
	start, step, count := make([]int, r), make([]int, r), append([]int(nil), x.Shape...)
	for i := range step {
		step[i] = 1
	}
	start[axis], count[axis] = lo, n
	return Apply(Slice, SliceAttrs(start, step, count), x)
}

func sliceView(v array.View, n *node) array.View {
	return sliceBy(v, n.Attrs.Ints)
}

func sliceBy(v array.View, p []int) array.View {
	out := v
	out.Shape, out.Strides = make([]int, len(v.Shape)), make([]int, len(v.Shape))
	for i := range v.Shape {
		start, step, count := p[3*i], p[3*i+1], p[3*i+2]
		out.Shape[i], out.Strides[i] = count, v.Strides[i]
		if count > 1 { // else nothing is a step away, and the product may overflow
			out.Strides[i] *= step
		}
		if count > 0 {
			out.Offset += start * v.Strides[i]
		}
	}
	return out
}

func diagonalView(v array.View, n *node) array.View { return diagonalBy(v, n.Attrs.Int) }

func diagonalBy(v array.View, k int) array.View {
	r := len(v.Shape)
	if r < 2 {
		array.Failf("diagonal", "", "takes two dimensions or more, got %s", array.ShapeString(v.Shape))
	}
	rows, cols := v.Shape[r-2], v.Shape[r-1]
	out := v
	n := min(rows, cols-k)
	if k < 0 {
		n = min(rows+k, cols)
	}
	n = max(n, 0)
	if n > 0 {
		if k >= 0 {
			out.Offset += k * v.Strides[r-1]
		} else {
			out.Offset -= k * v.Strides[r-2]
		}
	}
	out.Shape = append(append([]int(nil), v.Shape[:r-2]...), n)
	out.Strides = append(append([]int(nil), v.Strides[:r-2]...), v.Strides[r-2]+v.Strides[r-1])
	return out
}

// Parts returns the windows of the result of an Assemble into which the
// arguments go, and whether they cover it.
func Parts(n *node, out array.View) (parts []array.View, covered bool) {
	switch n.Op {
	case Place:
		p := n.Attrs.Ints[1+n.Attrs.Ints[0]:]
		if n.Attrs.Int == placeDiagonal {
			return []array.View{diagonalBy(out, p[0])}, false
		}
		w := sliceBy(out, p)
		return []array.View{w}, array.Size(w.Shape) == array.Size(out.Shape)
	case Cat:
		at, axis := 0, n.Attrs.Int
		for _, x := range n.Args {
			w := out
			w.Shape = x.Shape
			w.Offset += at * out.Strides[axis]
			at += x.Shape[axis]
			parts = append(parts, w)
		}
		return parts, true
	case Interleave:
		for i := range n.Args {
			parts = append(parts, interleavePart(n, out, i))
		}
		p, r := n.Attrs.Ints, len(n.Shape)
		s := n.Args[0].Shape
		return parts, s[r-2]*p[0] == p[2] && s[r-1]*p[1] == p[3]
	}
	panic("op: " + n.Op.OpName() + " is no Assemble")
}
