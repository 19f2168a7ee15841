package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Reading and writing at computed places. Indices are int64 or int32; they count
// from the back when negative, and are checked when the operation runs.
var IndexSelect, indexAdd, Gather, scatterSum, ScatterAdd, MaskSelect, maskPlace, CountTrue, NonZero *Def

// checkIndex checks that argument i can hold indices along an axis of an
// array of rank dimensions.
func checkIndex(c *Call, i, axis, rank int) {
	if d := c.Args[i].DType; d != array.Int64 && d != array.Int32 {
		c.Failf("index", "has elements of type %s, want int64 or int32", d)
	}
	c.inRank(axis, rank)
}

// checkWithin checks that an array of places along an axis has as many
// dimensions as the array that it points into, and is not larger outside the axis.
func checkWithin(c *Call, axis int, index, shape []int, whose string) {
	if len(index) != len(shape) {
		c.Failf("index", "has shape %s, %s %s: want the same number of axes", array.ShapeString(index), whose, array.ShapeString(shape))
	}
	for i, n := range index {
		if i != axis && n > shape[i] {
			c.Failf("index", "has shape %s, which is larger than %s's %s outside axis %d", array.ShapeString(index), whose, array.ShapeString(shape), axis)
		}
	}
}

// Places are indices along an axis, looked at: an error of the operation that they are of where
// one is out of range, else counted from the front. After an error they are in range all the same: a
// device that finds the error late has issued the work that reads there. It is the planner's, no part of the table.
var Places = unlisted(Def{Name: "places", Class: Routine, Arity: 1, Attrs: PlacesOf{},
	Doc:       "Indices that are in range, counted from the front.",
	Typing:    Typing{Infer: func(c *Call) (array.DType, []int) { return array.Int64, c.Args[0].Shape }},
	ByRoutine: ByRoutine{Routine: ir.RoutinePlaces, Contiguous: true}})

// PlacesOf is the attribute of [Places].
type PlacesOf struct {
	Op   string
	Size int   // of the axis
	All  []int // the shape of all indices; the argument may be smaller, since it is not expanded
}

// Position returns the first position, in the array of all indices, of index i of the argument, which
// has a shape.
func (p PlacesOf) Position(shape []int, i int) int { return array.FirstPosition(p.All, shape, i) }

// AppendKey implements ir.Attrs.
func (p PlacesOf) AppendKey(k []byte) []byte {
	return ir.Ints(ir.Int(append(append(k, p.Op...), 0), p.Size), p.All)
}

func init() {
	IndexSelect = define(Def{Name: "index_select", Class: Routine, Arity: 2, Attrs: Axis(0), ONNX: "Gather",
		Doc: "The sub-arrays of x at the places of a vector of indices along an axis.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x := c.Args[0]
			checkIndex(c, 1, int(c.Attrs.(Axis)), len(x.Shape))
			if len(c.Args[1].Shape) != 1 {
				c.Failf("index", "has shape %s, want one dimension", array.ShapeString(c.Args[1].Shape))
			}
			s := append([]int(nil), x.Shape...)
			s[c.Attrs.(Axis)] = c.Args[1].Shape[0]
			array.CheckShape("index_select", s, x.DType)
			return x.DType, s
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineIndexSelect, MovesAnyType: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				return Apply(indexAdd, Target{int(v.Node.Attrs.(Axis)), v.X[0].Shape}, v.DY, v.X[1])
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 3}, {4}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5},
			{Shapes: [][]int{{2, 5}, {7}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5, Attrs: Axis(1)}}}})
	indexAdd = define(Def{Name: "index_add", Class: Routine, Arity: -1, Attrs: Target{},
		Doc: "The third argument, or zeros, of the shape of a target, to which the sub-arrays of x are added at the places of the indices, in ascending order of their position.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				x := c.Args[0]
				a := c.Attrs.(Target)
				c.count(2, 3)
				checkIndex(c, 1, a.Axis, len(x.Shape))
				if i := c.Args[1].Shape; len(i) != 1 || i[0] != x.Shape[a.Axis] {
					c.Failf("index", "has shape %s, want [%d]", array.ShapeString(i), x.Shape[a.Axis])
				}
				if len(a.Shape) != len(x.Shape) {
					c.Failf("x", "has shape %s, the array that it is added to %s: want the same number of axes", array.ShapeString(x.Shape), array.ShapeString(a.Shape))
				}
				s := append([]int(nil), x.Shape...)
				s[a.Axis] = a.Shape[a.Axis]
				t, d := a.Shape, x.DType
				if len(c.Args) > 2 {
					t, d = c.Args[2].Shape, c.Args[2].DType
				}
				if d != x.DType || !array.Equal(t, s) {
					c.Failf("x", "is %s, the array that it is added to %s: they may differ along axis %d only", array.TypeString(x.DType, x.Shape), array.TypeString(d, t), a.Axis)
				}
				return x.DType, s
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineIndexAdd, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(IndexSelect, Axis(v.Node.Attrs.(Target).Axis), v.DY, v.X[1]) })
			if len(v.X) == 3 {
				v.Set(2, func() *node { return v.DY })
			}
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4}, {5, 3}}, DTypes: []array.DType{array.Float64, array.Int64, array.Float64}, Max: 5, Attrs: Target{Shape: []int{5, 3}}},
			{Shapes: [][]int{{4, 3}, {4}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5, Attrs: Target{Shape: []int{5, 3}}}}}})
	Gather = define(Def{Name: "gather", Class: Routine, Arity: 2, Attrs: Axis(0), ONNX: "GatherElements",
		Doc: "Element (i, j, ...) is x's where the index along an axis is taken from the second argument at (i, j, ...).",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, idx := c.Args[0], c.Args[1]
			checkIndex(c, 1, int(c.Attrs.(Axis)), len(x.Shape))
			checkWithin(c, int(c.Attrs.(Axis)), idx.Shape, x.Shape, "x")
			return x.DType, idx.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineGather, MovesAnyType: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				return Apply(scatterSum, Target{int(v.Node.Attrs.(Axis)), v.X[0].Shape}, v.DY, v.X[1])
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{5, 3}, {4, 3}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5},
			{Shapes: [][]int{{3, 5}, {2, 7}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5, Attrs: Axis(1)}}}})
	scatterSum = define(Def{Name: "scatter_sum", Class: Routine, Arity: 2, Attrs: Target{},
		Doc: "Zeros of the shape of a target, to which x's elements are added in row-major order where gather along its axis would read.",
		Typing: Typing{Wide: true,
			Infer: func(c *Call) (array.DType, []int) {
				a := c.Attrs.(Target)
				checkIndex(c, 1, a.Axis, len(a.Shape))
				if !array.Equal(c.Args[0].Shape, c.Args[1].Shape) {
					c.Failf("index", "has shape %s, x %s: want equal shapes", array.ShapeString(c.Args[1].Shape), array.ShapeString(c.Args[0].Shape))
				}
				checkWithin(c, a.Axis, c.Args[1].Shape, a.Shape, "the receiver")
				return c.Args[0].DType, a.Shape
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineScatterSum, Contiguous: true, Tiled: 1},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(Gather, Axis(v.Node.Attrs.(Target).Axis), v.DY, v.X[1]) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4, 3}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 5, Attrs: Target{Shape: []int{5, 3}}}}}})
	ScatterAdd = define(Def{Name: "scatter_add", Class: Composite, Arity: 3, Attrs: Axis(0), ONNX: "ScatterElements",
		Doc: "The third argument plus the sums of x's elements, in row-major order, that gather along an axis would read there, in one plan.",
		Composed: Composed{Compose: func(x []*node, a ir.Attrs) *node {
			return add(x[2], Apply(scatterSum, Target{int(a.(Axis)), x[2].Shape}, x[0], x[1]))
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4, 3}, {5, 3}}, DTypes: []array.DType{array.Float64, array.Int64, array.Float64}, Max: 5},
			{Shapes: [][]int{{4, 3}, {4, 3}, {4, 5}}, DTypes: []array.DType{array.Float64, array.Int64, array.Float64}, Max: 5, Attrs: Axis(1)}}}})
	MaskSelect = define(Def{Name: "mask_select", Class: Routine, Arity: 2, Attrs: Count(0), ONNX: "Compress",
		Doc: "The elements of x, in row-major order, where a mask of its shape is true, which is at as many places as it says.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			if m := c.Args[1]; m.DType != array.Bool || !array.Equal(m.Shape, c.Args[0].Shape) {
				c.Failf("mask", "is %s, want %s", array.TypeString(m.DType, m.Shape), array.TypeString(array.Bool, c.Args[0].Shape))
			}
			return c.Args[0].DType, []int{int(c.Attrs.(Count))}
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineMaskSelect, MovesAnyType: true, Contiguous: true},
		Derivative:  Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return apply(maskPlace, v.DY, v.X[1]) }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{0, 3}, {0, 3}}, DTypes: []array.DType{array.Float64, array.Bool}, Max: 2}}}})
	maskPlace = define(Def{Name: "mask_place", Class: Routine, Arity: 2,
		Doc: "Zeros of the shape of a mask with the elements of the vector x, in order, where it is true.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, m := c.Args[0], c.Args[1]
			if m.DType != array.Bool {
				c.Failf("mask", "has elements of type %s, want bool", m.DType)
			}
			if len(x.Shape) != 1 {
				c.Failf("x", "has shape %s, want one dimension", array.ShapeString(x.Shape))
			}
			return x.DType, m.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineMaskPlace, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return Apply(MaskSelect, Count(v.X[0].Size()), v.DY, v.X[1]) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{0}, {0, 3}}, DTypes: []array.DType{array.Float64, array.Bool}, Max: 2}}}})
	mask := func(c *Call) {
		if d := c.Args[0].DType; d != array.Bool {
			c.Failf("mask", "has elements of type %s, want bool", d)
		}
	}
	empty := []Sample{{Shapes: [][]int{{0, 3}}, DTypes: []array.DType{array.Bool}}}
	CountTrue = define(Def{Name: "count_true", Class: Routine, Arity: 1,
		Doc:         "The number of places where a mask is true.",
		Typing:      Typing{Infer: func(c *Call) (array.DType, []int) { mask(c); return array.Int64, []int{} }},
		ByRoutine:   ByRoutine{Routine: ir.RoutineCountTrue, Contiguous: true},
		Conformance: Conformance{Samples: empty}})
	NonZero = define(Def{Name: "nonzero", Class: Routine, Arity: 1, Attrs: Count(0), ONNX: "NonZero",
		Doc:         "The row-major positions where a mask is true, which are as many as it says.",
		Typing:      Typing{Infer: func(c *Call) (array.DType, []int) { mask(c); return array.Int64, []int{int(c.Attrs.(Count))} }},
		ByRoutine:   ByRoutine{Routine: ir.RoutineNonZero, Contiguous: true},
		Conformance: Conformance{Samples: empty}})
}
