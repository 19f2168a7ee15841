package op

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Operations on the items of a list. Item i is the rows of an array from offsets[i] to before
// offsets[i+1]. Offsets ascend and lie between 0 and the number of rows, which is checked when
// the operation runs. Rows before the first offset and behind the last one are in no item.
//
// What an item gives depends on its own rows alone. Of rows of one element each, the order of a
// reduction is that of loop.OpReduce; of longer ones, rows are combined in ascending order,
// column by column.
var SegmentSum, SegmentProd, SegmentMin, SegmentMax, SegmentMean, SegmentLogSumExp, SegmentSoftmax, SegmentLogSoftmax *Def

// SegmentExpand is the way back: each row gets the value of its item. SegmentArgMin and
// SegmentArgMax are places in the item.
var SegmentExpand, SegmentArgMin, SegmentArgMax *Def

// The primitives of reductions, which leave the element type.
var segmentSum, segmentProd, segmentMin, segmentMax, segmentAll, segmentAny *Def

// Rows is how many rows a list has.
type Rows int

func (a Rows) AppendKey(k []byte) []byte { return ir.Int(k, int(a)) }

// offsets checks argument i and returns the number of items.
func (c *Call) offsets(i int) int {
	x := c.Args[i]
	if x.DType != array.Int64 {
		c.Failf("offsets", "has elements of type %s, want int64", x.DType)
	}
	if len(x.Shape) != 1 || x.Shape[0] == 0 {
		c.Failf("offsets", "has shape %s, want one dimension with one more than there are items", array.ShapeString(x.Shape))
	}
	return x.Shape[0] - 1
}

// items checks a list, the first argument, and returns the shape of one value an item.
func (c *Call) items() []int {
	x := c.Args[0]
	if len(x.Shape) == 0 {
		c.Failf("x", "has no dimensions, want rows")
	}
	s := append([]int(nil), x.Shape...)
	s[0] = c.offsets(1)
	return s
}

// spreadItems gives each row of a list like x the value of its item.
func spreadItems(y, x, offsets *node) *node {
	return Apply(SegmentExpand, Rows(x.Shape[0]), y, offsets)
}

// itemSamples are lists of rows of one element and of more, one without rows, one without
// items, and one of empty rows.
func itemSamples(types ...array.DType) (s []Sample) {
	for _, l := range []struct {
		shape []int
		items int
	}{{[]int{40}, 9}, {[]int{12, 3}, 5}, {[]int{9, 2, 2}, 4}, {[]int{0}, 3}, {[]int{5}, 0}, {[]int{6, 0}, 3}, {[]int{7, 1}, 1}, {[]int{5, 2, 1, 2, 2, 2, 2, 2, 2, 2}, 2}} {
		s = append(s, Sample{Shapes: [][]int{l.shape, {l.items + 1}}, Max: l.shape[0] + 1, Ascending: true})
	}
	for i := range s {
		if len(types) > 0 {
			s[i].DTypes = append([]array.DType(nil), types...)
		}
	}
	return s
}

func init() {
	for _, r := range []struct {
		def  **Def
		name string
		kind loop.Reduction
	}{
		{&segmentSum, "segment_reduce_sum", loop.Sum}, {&segmentProd, "segment_reduce_prod", loop.Prod},
		{&segmentMin, "segment_reduce_min", loop.Min}, {&segmentMax, "segment_reduce_max", loop.Max},
		{&segmentAll, "segment_reduce_all", loop.And}, {&segmentAny, "segment_reduce_any", loop.Or},
	} {
		truth := r.kind == loop.And || r.kind == loop.Or
		var types []array.DType // of samples
		if truth {
			types = []array.DType{array.Bool, array.Int64}
		}
		*r.def = define(Def{Name: r.name, Class: Segment, Arity: 2,
			Doc:      "The primitive of the reduction over the rows of each item.",
			Reducing: Reducing{Kind: r.kind},
			Typing: Typing{Wide: true,
				Infer: func(c *Call) (array.DType, []int) {
					if truth != (c.Args[0].DType == array.Bool) {
						c.Failf("", "is not defined for %s", c.Args[0].DType)
					}
					return c.Args[0].DType, c.items()
				}},
			Conformance: Conformance{Samples: itemSamples(types...)}})
	}
	segmentSum.VJP = func(v *VJP) {
		v.Set(0, func() *node { return spreadItems(v.DY, v.X[0], v.X[1]) })
	}
	segmentProd.VJP = func(v *VJP) { // as of reduceProd
		v.Set(0, func() *node {
			x, off := v.X[0], v.X[1]
			others := mul(productsBeside(x, off, false), productsBeside(x, off, true))
			return within(mul(spreadItems(v.DY, x, off), others), off, 0)
		})
	}
	extreme := func(v *VJP) { // equal extremes share the gradient
		v.Set(0, func() *node {
			x, off := v.X[0], v.X[1]
			hit := Convert(apply(Eq, x, spreadItems(v.Y, x, off)), x.DType)
			return mul(hit, spreadItems(div(v.DY, Apply(segmentSum, nil, hit, off)), x, off))
		})
	}
	segmentMin.VJP, segmentMax.VJP = extreme, extreme

	SegmentExpand = define(Def{Name: "segment_expand", Class: Segment, Arity: 2, Attrs: Rows(0),
		Doc: "Rows, as many as it says: each is the row of x that belongs to its item; 0 in no item.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x := c.Args[0]
			if len(x.Shape) == 0 || x.Shape[0] != c.offsets(1) {
				c.Failf("x", "has shape %s, want a row for each of %d items", array.ShapeString(x.Shape), c.offsets(1))
			}
			s := append([]int(nil), x.Shape...)
			s[0] = int(c.Attrs.(Rows))
			return x.DType, s
		}},
		Derivative: Derivative{VJP: func(v *VJP) { v.Set(0, func() *node { return Apply(segmentSum, nil, v.DY, v.X[1]) }) }},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{9}, {10}}, Max: 41, Ascending: true, Attrs: Rows(40)}, {Shapes: [][]int{{5, 3}, {6}}, Max: 13, Ascending: true, Attrs: Rows(12)},
			{Shapes: [][]int{{3}, {4}}, Max: 1, Ascending: true}, {Shapes: [][]int{{0}, {1}}, Max: 6, Ascending: true, Attrs: Rows(5)}, {Shapes: [][]int{{3, 0}, {4}}, Max: 7, Ascending: true, Attrs: Rows(6)}}}})
	for _, r := range []struct {
		def        **Def
		name, what string
		routine    ir.RoutineID
	}{{&SegmentArgMin, "segment_argmin", "least", ir.RoutineSegmentArgMin}, {&SegmentArgMax, "segment_argmax", "greatest", ir.RoutineSegmentArgMax}} {
		*r.def = define(Def{Name: r.name, Class: Routine, Arity: 2,
			Doc: "The place, int64, of the first " + r.what + " row of each item (NaN counts as one), counted in the item; -1 of none.",
			Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
				if d := c.Args[0].DType; d.Category() > array.CatFloat {
					c.Failf("", "is not defined for %s, which has no order", d)
				}
				return array.Int64, c.items()
			}},
			ByRoutine:   ByRoutine{Routine: r.routine, Contiguous: true},
			Conformance: Conformance{Samples: itemSamples()}})
	}

	composite := func(name, doc string, wide bool, compose func(x, offsets *node) *node, vjp func(v *VJP)) *Def {
		return define(Def{Name: name, Class: Composite, Arity: 2, Doc: doc,
			Composed:    Composed{Compose: func(x []*node, _ ir.Attrs) *node { return compose(x[0], x[1]) }},
			Typing:      Typing{Wide: wide},
			Derivative:  Derivative{VJP: vjp},
			Conformance: Conformance{Samples: itemSamples()}})
	}
	SegmentSum = composite("segment_sum", "The sum of the rows of each item; 0 of none.", true,
		func(x, off *node) *node { return Apply(segmentSum, nil, Convert(x, accumulator(x, Reduction{})), off) }, nil)
	SegmentProd = composite("segment_prod", "The product of the rows of each item; 1 of none.", true,
		func(x, off *node) *node {
			return Apply(segmentProd, nil, Convert(x, accumulator(x, Reduction{})), off)
		}, nil)
	for _, r := range []struct {
		def                  **Def
		name, what, identity string
		prim, truth          **Def
	}{
		{&SegmentMin, "segment_min", "least", "greatest number of the type", &segmentMin, &segmentAll},
		{&SegmentMax, "segment_max", "greatest", "least number of the type", &segmentMax, &segmentAny},
	} {
		*r.def = composite(r.name, "The "+r.what+" of the rows of each item, NaN if one is; the "+r.identity+", infinite for floats, of none.", false,
			func(x, off *node) *node {
				if x.DType == array.Bool {
					return Apply(*r.truth, nil, x, off)
				}
				return Apply(*r.prim, nil, x, off)
			}, nil)
	}
	SegmentMean = composite("segment_mean", "The mean of the rows of each item; NaN of none.", true,
		func(x, off *node) *node {
			s := Apply(segmentSum, nil, needFloat("segment_mean", x), off)
			return div(s, Convert(itemLengths(s, off), s.DType))
		}, nil)
	SegmentLogSumExp = composite("segment_logsumexp", "log(sum(exp(x))) over the rows of each item without overflow; -Inf of none.", true,
		func(x, off *node) *node {
			m := finiteItems(x, off)
			return add(apply(Log, Apply(segmentSum, nil, expBeyond(x, m, off), off)), m)
		},
		func(v *VJP) {
			v.Set(0, func() *node {
				x, off := v.X[0], v.X[1]
				e := expBeyond(x, finiteItems(x, off), off)
				return mul(e, spreadItems(div(v.DY, Apply(segmentSum, nil, e, off)), x, off))
			})
		})
	SegmentSoftmax = composite("segment_softmax", "exp(x) / sum(exp(x)) over the rows of each item, without overflow; 0 in no item.", true,
		func(x, off *node) *node {
			e := expBeyond(x, Apply(segmentMax, nil, needFloat("segment_softmax", x), off), off)
			return div(e, within(spreadItems(Apply(segmentSum, nil, e, off), x, off), off, 1))
		},
		func(v *VJP) {
			v.Set(0, func() *node {
				s := Apply(segmentSum, nil, mul(v.DY, v.Y), v.X[1])
				return mul(v.Y, sub(v.DY, spreadItems(s, v.Y, v.X[1])))
			})
		})
	SegmentLogSoftmax = composite("segment_log_softmax", "log(segment_softmax(x)); 0 in no item.", true,
		func(x, off *node) *node {
			m := Apply(segmentMax, nil, needFloat("segment_log_softmax", x), off)
			s := Apply(segmentSum, nil, expBeyond(x, m, off), off)
			return within(sub(sub(x, spreadItems(m, x, off)), spreadItems(apply(Log, s), x, off)), off, 0)
		},
		func(v *VJP) {
			v.Set(0, func() *node {
				s := Apply(segmentSum, nil, v.DY, v.X[1])
				return within(sub(v.DY, mul(apply(Exp, v.Y), spreadItems(s, v.Y, v.X[1]))), v.X[1], 0)
			})
		})
}

// productsBeside gives each row the product of the rows of its item before it, or behind it; 1 in
// no item. Products of 1, 2, 4 ... rows are multiplied (Hillis and Steele, Data parallel
// algorithms, 1986), so that a gradient has no quotient.
func productsBeside(x, offsets *node, behind bool) *node {
	n := x.Shape[0]
	rows := make([]int, len(x.Shape)) // one element a row, which broadcasts to x
	for i := range rows {
		rows[i] = 1
	}
	rows[0] = n
	at := Apply(Iota, Axis(0), full(x.Graph, 0, array.Float32, rows))
	items := append([]int{offsets.Shape[0] - 1}, rows[1:]...)
	bound := func(from int, outside float64) *node { // where the item of a row begins or ends
		b := reshape(Narrow(offsets, 0, from, items[0]), items)
		return within(spreadItems(b, at, offsets), offsets, outside)
	}
	shifted := func(y *node, by int) *node {
		w := AllOf(y.Shape)
		w.Count[0] = n - by
		if behind {
			y = Apply(Place, Placement{y.Shape, w, 1}, Narrow(y, 0, by, n-by))
			return where(apply(Lt, add(at, num(at, float64(by))), bound(1, 0)), y, num(y, 1))
		}
		w.Start[0] = by
		y = Apply(Place, Placement{y.Shape, w, 1}, Narrow(y, 0, 0, n-by))
		return where(apply(Ge, sub(at, num(at, float64(by))), bound(0, float64(n))), y, num(y, 1))
	}
	if n < 2 {
		return full(x.Graph, 1, x.DType, x.Shape)
	}
	y := shifted(x, 1)
	for by := 1; by < n-1; by *= 2 {
		y = mul(y, shifted(y, by))
	}
	return y
}

// within is x with a number in rows that are in no item.
func within(x, offsets *node, outside float64) *node {
	s := append([]int(nil), x.Shape...)
	s[0] = offsets.Shape[0] - 1
	return where(spreadItems(full(x.Graph, 1, array.Bool, s), x, offsets), x, num(x, outside))
}

// expBeyond is exp(x - m) for one m an item; 0 in no item, whatever is there, so that gradients
// are.
func expBeyond(x, m, offsets *node) *node {
	return apply(Exp, within(sub(x, spreadItems(m, x, offsets)), offsets, math.Inf(-1)))
}

// itemLengths is how many rows each item has, int64, in the shape of like, which is of one value
// an item: elementwise of that shape, so that it is computed where it is used.
func itemLengths(like, offsets *node) *node {
	n := offsets.Shape[0] - 1
	s := make([]int, len(like.Shape))
	for i := range s {
		s[i] = 1
	}
	s[0] = n
	at := func(from int) *node { return expand(reshape(Narrow(offsets, 0, from, n), s), like.Shape) }
	return sub(at(1), at(0))
}

// finiteItems is the greatest row of each item, 0 where that is infinite.
func finiteItems(x, offsets *node) *node {
	m := Apply(segmentMax, nil, needFloat("segment_logsumexp", x), offsets)
	return where(apply(IsFinite, m), m, num(m, 0))
}
