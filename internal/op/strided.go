package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// What a trace makes of views and of writes into them, where nothing more particular is known:
// windows of any strides on a vector, in elements of that.

// A StridedWindow is the elements of a vector at Offset plus the sum of index times stride.
type StridedWindow struct {
	Offset         int
	Shape, Strides []int
}

// AppendKey implements ir.Attrs.
func (a StridedWindow) AppendKey(k []byte) []byte {
	return ir.Ints(ir.Ints(ir.Int(k, a.Offset), a.Shape), a.Strides)
}

// on is the window on a view of one axis.
func (a StridedWindow) on(v array.View) array.View {
	strides := make([]int, len(a.Strides))
	for i, s := range a.Strides {
		strides[i] = s * v.Strides[0]
	}
	return v.Window(a.Offset*v.Strides[0], a.Shape, strides)
}

// Strided shows a window of any strides on a vector. Put is an array, the first argument, with
// the second written over a window on its elements in row-major order, whose attributes are
// that window.
var Strided, Put *Def

func init() {
	Strided = unlisted(Def{Name: "strided", Class: View, Arity: 1, Attrs: StridedWindow{},
		View:   func(v array.View, n *node) array.View { return n.Attrs.(StridedWindow).on(v) },
		Typing: Typing{Infer: viewNode},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { // places may be seen several times
				n := v.X[0].Shape[0]
				places := Apply(Strided, v.Node.Attrs, numbered(v.Node.Graph, []int{n}))
				size := []int{v.DY.Size()}
				return Apply(indexAdd, Target{Shape: []int{n}}, reshape(v.DY, size), reshape(places, size))
			})
		}}})
	Put = unlisted(Def{Name: "put", Class: Concat, Arity: 2, Attrs: StridedWindow{},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, y, a := c.Args[0], c.Args[1], c.Attrs.(StridedWindow)
			if x.DType != y.DType || !array.Equal(y.Shape, a.Shape) {
				c.Failf("", "%s into a window of shape %s on %s", array.TypeString(y.DType, y.Shape), array.ShapeString(a.Shape), array.TypeString(x.DType, x.Shape))
			}
			return x.DType, x.Shape
		}},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				return Apply(Put, v.Node.Attrs, v.DY, full(v.Node.Graph, 0, v.DY.DType, v.X[1].Shape))
			})
			v.Set(1, func() *node { return Apply(Strided, v.Node.Attrs, reshape(v.DY, []int{v.DY.Size()})) })
		}}})
}

// putPart is the window of a Put on its result.
func putPart(n *ir.Node, out array.View) array.View {
	flat, ok := out.Reshape([]int{array.Size(out.Shape)})
	if !ok {
		panic("op: put into memory that is not a vector")
	}
	return n.Attrs.(StridedWindow).on(flat)
}
