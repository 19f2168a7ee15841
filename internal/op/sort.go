package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Sort puts the elements along an axis into order.
var Sort *Def

// A Sorting is the axis along which elements are sorted, and the order.
type Sorting struct {
	Axis       int
	Descending bool
}

func (a Sorting) AppendKey(k []byte) []byte { return ir.Flag(ir.Int(k, a.Axis), a.Descending) }

func init() {
	Sort = define(Def{Name: "sort", Wide: true, Class: Routine, Arity: 1, Results: 2, Contig: true, Attrs: Sorting{},
		Doc: "The elements in ascending or descending order along an axis, and the places, int64, at which they were. Equal elements stay in order; NaN counts as greater than every number.",
		InferAll: func(c *Call) []ir.Type {
			x, axis := c.Args[0], c.Attrs.(Sorting).Axis
			if axis < 0 || axis >= len(x.Shape) {
				c.Failf("axis", "%d is out of range for %d dimensions", axis, len(x.Shape))
			}
			return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: array.Int64, Shape: x.Shape}}
		},
		VJP: func(v *VJP) {
			v.Set(0, func() *node {
				return Apply(scatterAdd, Target{v.Node.Attrs.(Sorting).Axis, v.X[0].Shape}, v.DYs[0], v.Ys[1])
			})
		},
		Samples: []Sample{{Shapes: [][]int{{7}}}, {Shapes: [][]int{{5, 3}}}, {Shapes: [][]int{{2, 70}}, Attrs: Sorting{Axis: 1}},
			{Shapes: [][]int{{2, 9, 3}}, Attrs: Sorting{Axis: 1, Descending: true}}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}}}})
}
