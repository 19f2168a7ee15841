package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// What depends on the order of elements.
var Sort, TopK, KthValue, Partition, ArgPartition, SearchSorted, Runs, BinCount, MaxWithIndex, MinWithIndex *Def

// A Sorting is the axis along which elements are sorted, and the order.
type Sorting struct {
	Axis       int
	Descending bool
}

// A Selection is how many of the greatest or least elements along an axis are wanted.
type Selection struct {
	Axis, Count int
	Smallest    bool
}

// Ranks are the places along an axis that wanted elements would have if it were sorted.
type Ranks struct {
	Axis int
	At   []int
}

// A Search says on which side of equal elements a place is.
type Search struct{ Right bool }

func (a Sorting) AppendKey(k []byte) []byte { return ir.Flag(ir.Int(k, a.Axis), a.Descending) }

func (a Selection) AppendKey(k []byte) []byte {
	return ir.Flag(ir.Int(ir.Int(k, a.Axis), a.Count), a.Smallest)
}

func (a Ranks) AppendKey(k []byte) []byte { return ir.Ints(ir.Int(k, a.Axis), a.At) }

func (a Search) AppendKey(k []byte) []byte { return ir.Flag(k, a.Right) }

// ordered refuses elements that have no order.
func (c *Call) ordered() {
	for _, x := range c.Args {
		if x.DType.Category() > array.CatFloat {
			c.Failf("", "is not defined for %s, which has no order", x.DType)
		}
	}
}

// backTo is the VJP of an operation whose first result is elements taken along an axis and whose
// second result is the indices at which they were.
func backTo(axis func(a ir.Attrs) int) func(v *VJP) {
	return func(v *VJP) {
		v.Set(0, func() *node {
			return Apply(scatterSum, Target{axis(v.Node.Attrs), v.X[0].Shape}, v.DYs[0], v.Ys[1])
		})
	}
}

// partitioned checks the arguments of a partition and returns the shape of the result.
func (c *Call) partitioned() []int {
	x, a := c.Args[0], c.Attrs.(Ranks)
	c.inRank(a.Axis, len(x.Shape))
	c.ordered()
	if n := x.Shape[a.Axis]; len(a.At) != 1 || a.At[0] < 0 || a.At[0] >= n {
		c.Failf("kth", "%v is not one place from 0 to %d, below the size of axis %d", a.At, n-1, a.Axis)
	}
	return x.Shape
}

var partitionSamples = []Sample{{Shapes: [][]int{{7}}, Attrs: Ranks{At: []int{3}}}, {Shapes: [][]int{{2, 70}}, Attrs: Ranks{1, []int{69}}},
	{Shapes: [][]int{{2, 9, 3}}, Attrs: Ranks{1, []int{4}}}, {Shapes: [][]int{{3, 0}}, Attrs: Ranks{At: []int{1}}}}

func init() {
	Sort = define(Def{Name: "sort", Class: Routine, Arity: 1, Attrs: Sorting{},
		Doc: "The elements in ascending or descending order along an axis, and the places, int64, at which they were. Equal elements stay in order; NaN counts as greater than every number.",
		Typing: Typing{Wide: true, Results: 2,
			InferAll: func(c *Call) []ir.Type {
				x := c.Args[0]
				c.inRank(c.Attrs.(Sorting).Axis, len(x.Shape))
				c.ordered()
				return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: array.Int64, Shape: x.Shape}}
			}},
		ByRoutine:  ByRoutine{Routine: ir.RoutineSort, Contiguous: true},
		Derivative: Derivative{VJP: backTo(func(a ir.Attrs) int { return a.(Sorting).Axis })},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}}}, {Shapes: [][]int{{5, 3}}}, {Shapes: [][]int{{2, 70}}, Attrs: Sorting{Axis: 1}},
			{Shapes: [][]int{{2, 9, 3}}, Attrs: Sorting{Axis: 1, Descending: true}}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}}}}})
	TopK = define(Def{Name: "topk", Class: Routine, Arity: 1, Attrs: Selection{}, ONNX: "TopK",
		Doc: "The first of the sorted elements along an axis, the greatest ones or the least, and the places, int64, at which they were.",
		Typing: Typing{Results: 2,
			InferAll: func(c *Call) []ir.Type {
				x, a := c.Args[0], c.Attrs.(Selection)
				c.inRank(a.Axis, len(x.Shape))
				c.ordered()
				if a.Count < 0 || a.Count > x.Shape[a.Axis] {
					c.Failf("k", "%d is not from 0 to %d, the size of axis %d", a.Count, x.Shape[a.Axis], a.Axis)
				}
				s := append([]int(nil), x.Shape...)
				s[a.Axis] = a.Count
				return []ir.Type{{DType: x.DType, Shape: s}, {DType: array.Int64, Shape: s}}
			}},
		ByRoutine:  ByRoutine{Routine: ir.RoutineTopK, Contiguous: true},
		Derivative: Derivative{VJP: backTo(func(a ir.Attrs) int { return a.(Selection).Axis })},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}}, Attrs: Selection{Count: 3}}, {Shapes: [][]int{{2, 70}}, Attrs: Selection{1, 4, true}},
			{Shapes: [][]int{{2, 9, 3}}, Attrs: Selection{Axis: 1, Count: 9}}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}, Attrs: Selection{Count: 2}}}}})
	KthValue = define(Def{Name: "kthvalue", Class: Routine, Arity: 1, Attrs: Ranks{},
		Doc: "The elements that would be at some places if those along an axis were sorted in ascending order, and the places, int64, at which they were.",
		Typing: Typing{Results: 2,
			InferAll: func(c *Call) []ir.Type {
				x, a := c.Args[0], c.Attrs.(Ranks)
				c.inRank(a.Axis, len(x.Shape))
				c.ordered()
				for _, k := range a.At {
					if k < 0 || k >= x.Shape[a.Axis] {
						c.Failf("k", "%d is not from 1 to %d, the size of axis %d", k+1, x.Shape[a.Axis], a.Axis)
					}
				}
				s := append([]int(nil), x.Shape...)
				s[a.Axis] = len(a.At)
				return []ir.Type{{DType: x.DType, Shape: s}, {DType: array.Int64, Shape: s}}
			}},
		ByRoutine:  ByRoutine{Routine: ir.RoutineKthValue, Contiguous: true},
		Derivative: Derivative{VJP: backTo(func(a ir.Attrs) int { return a.(Ranks).Axis })},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}}, Attrs: Ranks{At: []int{3}}}, {Shapes: [][]int{{2, 70}}, Attrs: Ranks{1, []int{69, 0, 35}}},
			{Shapes: [][]int{{2, 9, 3}}, Attrs: Ranks{1, []int{4, 5}}}, {Shapes: [][]int{{0, 3}}, Attrs: Ranks{1, []int{2}}}, {Shapes: [][]int{{3, 0}}, Attrs: Ranks{}}}}})
	Partition = define(Def{Name: "partition", Class: Routine, Arity: 1, Attrs: Ranks{},
		Doc:       "The elements along an axis: those that sorting puts before a place, the one that it puts there, and the others. Those before and those behind stay in order; NaN counts as greatest.",
		Typing:    Typing{Infer: func(c *Call) (array.DType, []int) { return c.Args[0].DType, c.partitioned() }},
		ByRoutine: ByRoutine{Routine: ir.RoutinePartition, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				a := v.Node.Attrs.(Ranks)
				return Apply(scatterSum, Target{a.Axis, v.X[0].Shape}, v.DY, Apply(ArgPartition, a, v.X[0]))
			})
		}},
		Conformance: Conformance{Samples: partitionSamples}})
	ArgPartition = define(Def{Name: "argpartition", Class: Routine, Arity: 1, Attrs: Ranks{},
		Doc:         "The places, int64, at which the elements of a partition along an axis were.",
		Typing:      Typing{Infer: func(c *Call) (array.DType, []int) { return array.Int64, c.partitioned() }},
		ByRoutine:   ByRoutine{Routine: ir.RoutineArgPartition, Contiguous: true},
		Conformance: Conformance{Samples: partitionSamples}})
	SearchSorted = define(Def{Name: "searchsorted", Class: Routine, Arity: 2, Attrs: Search{},
		Doc: "The places, int64, at which the elements of the second argument go into sorted rows: of the first that is not less, or to the right that is greater. The first argument is one row, or has the axes of the second but for the last.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			s, x := c.Args[0], c.Args[1]
			c.ordered()
			if s.DType != x.DType {
				c.Failf("", "takes two of one type, got %s and %s", s.DType, x.DType)
			}
			r := len(s.Shape)
			if r == 0 || r > 1 && (len(x.Shape) != r || !array.Equal(s.Shape[:r-1], x.Shape[:r-1])) {
				c.Failf("", "rows of shape %s do not fit %s: want one, or one for each row", array.ShapeString(s.Shape), array.ShapeString(x.Shape))
			}
			return array.Int64, x.Shape
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineSearchSorted, Contiguous: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{0}, {5}}}, {Shapes: [][]int{{1}, {3, 5}}}, {Shapes: [][]int{{1}, {}}, Attrs: Search{true}}}}})
	Runs = define(Def{Name: "runs", Class: Routine, Arity: 2,
		Doc: "Of the results of sort for a vector: where a run of equal elements begins, NaN being equal to itself, and for each element at its old place, int64, the number of its run.",
		Typing: Typing{Results: 2,
			InferAll: func(c *Call) []ir.Type {
				x := c.Args[0]
				c.ordered()
				if len(x.Shape) != 1 || c.Args[1].DType != array.Int64 {
					c.Failf("", "takes a sorted vector and int64 places, got %s and %s", array.TypeString(x.DType, x.Shape), array.TypeString(c.Args[1].DType, c.Args[1].Shape))
				}
				c.sameShape("places", c.Args[1].Shape, x.Shape)
				return []ir.Type{{DType: array.Bool, Shape: x.Shape}, {DType: array.Int64, Shape: x.Shape}}
			}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineRuns, Contiguous: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{1}, {1}}, DTypes: []array.DType{array.Float64, array.Int64}, Max: 1}}}})
	BinCount = define(Def{Name: "bincount", Class: Routine, Arity: 1, Attrs: Count(0),
		Doc: "How often each of the first integers occurs in the int64 argument, which has no others.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			if d := c.Args[0].DType; d != array.Int64 {
				c.Failf("", "is not defined for %s", d)
			}
			return array.Int64, []int{int(c.Attrs.(Count))}
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineBinCount, Contiguous: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{50}}, DTypes: []array.DType{array.Int64}, Max: 7, Attrs: Count(9)}}}})
	for _, r := range []struct {
		def        **Def
		name, what string
		places     func() *Def
	}{
		{&MaxWithIndex, "max_with_index", "greatest", func() *Def { return ArgMax }},
		{&MinWithIndex, "min_with_index", "least", func() *Def { return ArgMin }},
	} {
		*r.def = define(Def{Name: r.name, Class: Composite, Arity: 1, Attrs: Axis(0),
			Doc: "The " + r.what + " element along an axis, NaN if one is, and the place, int64, of the first such.",
			Composed: Composed{ComposeAll: func(x []*node, a ir.Attrs) []*node {
				c := &Call{Def: *r.def, Args: x}
				axis := int(a.(Axis))
				c.inRank(axis, len(x[0].Shape))
				c.ordered()
				places := Apply(r.places(), Reduction{Axes: []int{axis}, Keep: true}, x[0])
				values := Apply(Gather, Axis(axis), x[0], places)
				shape := dropShape(values.Shape, []int{axis})
				return []*node{reshape(values, shape), reshape(places, shape)}
			}},
			Typing:      Typing{Results: 2},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7}}}, {Shapes: [][]int{{5, 3}}}, {Shapes: [][]int{{2, 9, 3}}, Attrs: Axis(1)}}}})
	}
}
