package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Operations on the items of a list that move rows: see SegmentSum for what a list is.
var SegmentPad, SegmentUnpad, SegmentTake, SegmentSort *Def

// A PadTo is how many rows an item has when it is padded.
type PadTo int

// ItemOrder is the order in which the rows of an item are sorted.
type ItemOrder struct{ Descending bool }

func (a PadTo) AppendKey(k []byte) []byte     { return ir.Int(k, int(a)) }
func (a ItemOrder) AppendKey(k []byte) []byte { return ir.Flag(k, a.Descending) }

func init() {
	SegmentPad = define(Def{Name: "segment_pad", Class: Routine, Arity: 3, Attrs: PadTo(0),
		Doc: "An array of items of equal length, as many rows as it says: the first rows of each item and then, or without such, the second argument, which is one element.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, fill := c.Args[0], c.Args[1]
			if len(x.Shape) == 0 {
				c.Failf("x", "has no dimensions, want rows")
			}
			if fill.DType != x.DType || len(fill.Shape) != 0 {
				c.Failf("fill", "is %s, want one element of type %s", array.TypeString(fill.DType, fill.Shape), x.DType)
			}
			n := int(c.Attrs.(PadTo))
			if n < 0 {
				c.Failf("length", "%d is negative", n)
			}
			s := append([]int{c.offsets(2), n}, x.Shape[1:]...)
			array.CheckShape("segment_pad", s, x.DType)
			return x.DType, s
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSegmentPad, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			x, off := v.X[0], v.X[2]
			v.Set(0, func() *node { return Apply(SegmentUnpad, Rows(x.Shape[0]), v.DY, off) })
			v.Set(1, func() *node {
				zeros := full(x.Graph, 0, x.DType, x.Shape)
				padded := Apply(SegmentPad, v.Node.Attrs, zeros, full(x.Graph, 1, x.DType, []int{}), off)
				return Apply(Sum, Reduction{}, mul(v.DY, padded))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{40}, {}, {10}}, Max: 41, Ascending: true, Attrs: PadTo(12)}, {Shapes: [][]int{{12, 3}, {}, {6}}, Max: 13, Ascending: true, Attrs: PadTo(4)},
			{Shapes: [][]int{{0}, {}, {4}}, Max: 1, Ascending: true, Attrs: PadTo(2)}, {Shapes: [][]int{{5}, {}, {1}}, Max: 6, Ascending: true, Attrs: PadTo(2)},
			{Shapes: [][]int{{6, 0}, {}, {4}}, Max: 7, Ascending: true, Attrs: PadTo(3)}, {Shapes: [][]int{{6}, {}, {4}}, Max: 7, Ascending: true}}}})
	SegmentUnpad = define(Def{Name: "segment_unpad", Class: Routine, Arity: 2, Attrs: Rows(0),
		Doc: "The rows of items that segment_pad made equally long, as many as it says; 0 in no item, and beyond the length of an item.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x := c.Args[0]
			if len(x.Shape) < 2 || x.Shape[0] != c.offsets(1) {
				c.Failf("x", "has shape %s, want rows for each of %d items", array.ShapeString(x.Shape), c.offsets(1))
			}
			n := int(c.Attrs.(Rows))
			if n < 0 {
				c.Failf("rows", "%d is negative", n)
			}
			return x.DType, append([]int{n}, x.Shape[2:]...)
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSegmentUnpad, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x := v.X[0]
				return Apply(SegmentPad, PadTo(x.Shape[1]), v.DY, full(x.Graph, 0, v.DY.DType, []int{}), v.X[1])
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{9, 12}, {10}}, Max: 41, Ascending: true, Attrs: Rows(40)}, {Shapes: [][]int{{5, 4, 3}, {6}}, Max: 13, Ascending: true, Attrs: Rows(12)},
			{Shapes: [][]int{{3, 2}, {4}}, Max: 1, Ascending: true}, {Shapes: [][]int{{0, 3}, {1}}, Max: 6, Ascending: true, Attrs: Rows(5)},
			{Shapes: [][]int{{3, 2, 0}, {4}}, Max: 7, Ascending: true, Attrs: Rows(6)}, {Shapes: [][]int{{3, 0}, {4}}, Max: 7, Ascending: true, Attrs: Rows(6)}}}})
	SegmentTake = define(Def{Name: "segment_take", Class: Routine, Arity: 3, Attrs: Rows(0),
		Doc: "Rows, as many as it says: an item has the rows of x from the row that the second argument, int64, gives for it; 0 where x has none, and in no item.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, first := c.Args[0], c.Args[1]
			if len(x.Shape) == 0 {
				c.Failf("x", "has no dimensions, want rows")
			}
			if n := c.offsets(2); first.DType != array.Int64 || !array.Equal(first.Shape, []int{n}) {
				c.Failf("first", "is %s, want int64, a row for each of %d items", array.TypeString(first.DType, first.Shape), n)
			}
			n := int(c.Attrs.(Rows))
			if n < 0 {
				c.Failf("rows", "%d is negative", n)
			}
			s := append([]int{n}, x.Shape[1:]...)
			array.CheckShape("segment_take", s, x.DType)
			return x.DType, s
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSegmentTake, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x, first, off := v.X[0], v.X[1], v.X[2]
				if x.Shape[0] == 0 {
					return full(x.Graph, 0, x.DType, x.Shape)
				}
				n := off.Shape[0] - 1
				s := make([]int, len(x.Shape))
				for i := range s {
					s[i] = 1
				}
				s[0] = n
				ahead := reshape(sub(first, Narrow(off, 0, 0, n)), s)
				at := add(Apply(Iota, Axis(0), v.DY), Apply(SegmentExpand, v.Node.Attrs, ahead, off))
				there := apply(LogicalAnd, apply(Ge, at, num(at, 0)), apply(Lt, at, num(at, float64(x.Shape[0]))))
				dy := within(where(there, v.DY, num(v.DY, 0)), off, 0)
				return Apply(scatterSum, Target{0, x.Shape}, dy, where(there, at, num(at, 0)))
			})
		}},
		Conformance: Conformance{Samples: func() (s []Sample) {
			for _, l := range []struct {
				x     []int
				items int
				rows  Rows
			}{{[]int{40}, 9, 40}, {[]int{12, 3}, 5, 9}, {[]int{0}, 3, 4}, {[]int{5}, 0, 3}, {[]int{6, 0}, 3, 6}, {[]int{4}, 2, 0}} {
				s = append(s, Sample{Shapes: [][]int{l.x, {l.items}, {l.items + 1}}, DTypes: []array.DType{array.Float32, array.Int64, array.Int64}, Max: int(l.rows) + 1, Ascending: true, Attrs: l.rows})
			}
			return s
		}()}})
	SegmentSort = define(Def{Name: "segment_sort", Class: Routine, Arity: 2, Attrs: ItemOrder{},
		Doc: "The rows of each item, column by column, in ascending or descending order, and the places in the item, int64, at which they were; 0 and place 0 in no item. Equal elements stay in order; NaN counts as greater than every number.",
		Typing: Typing{Wide: true, Results: 2,
			InferAll: func(c *Call) []ir.Type {
				x := c.Args[0]
				c.items()
				if x.DType.Category() > array.CatFloat {
					c.Failf("", "is not defined for %s, which has no order", x.DType)
				}
				return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: array.Int64, Shape: x.Shape}}
			}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSegmentSort, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x, off := v.X[0], v.X[1]
				n := off.Shape[0] - 1
				s := make([]int, len(x.Shape))
				for i := range s {
					s[i] = 1
				}
				s[0] = n
				first := Apply(SegmentExpand, Rows(x.Shape[0]), reshape(Narrow(off, 0, 0, n), s), off)
				return Apply(scatterSum, Target{0, x.Shape}, within(v.DYs[0], off, 0), add(v.Ys[1], first))
			})
		}},
		Conformance: Conformance{Samples: append(itemSamples(), Sample{Shapes: [][]int{{400}, {4}}, Max: 401, Ascending: true, Attrs: ItemOrder{Descending: true}})}})
}
