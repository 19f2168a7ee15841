package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Writing at computed places, and the joining of several indices into one.
var Ravel, IndexCopy, Scatter, ScatterMin, ScatterMax, ScatterProd *Def

// A Raveling says what several arrays of places, one an axis, are of: axes of these
// sizes. For errors it has the number of each among the caller's arguments, its axis there,
// which is -1 for all places of an axis, and its own dimensions, and whether places are
// written to.
type Raveling struct {
	Sizes, Args, Axes, Ranks []int
	Put                      bool
}

// Of returns the operation that the indices are of.
func (a Raveling) Of() string {
	if a.Put {
		return "index_put"
	}
	return "index"
}

func (a Raveling) AppendKey(k []byte) []byte {
	for _, list := range [][]int{a.Sizes, a.Args, a.Axes, a.Ranks} {
		k = ir.Ints(k, list)
	}
	return ir.Flag(k, a.Put)
}

// An Extreme is the axis along which indices name places, and whether what was there
// does not count.
type Extreme struct {
	Axis  int
	Alone bool
}

func (a Extreme) AppendKey(k []byte) []byte { return ir.Flag(ir.Int(k, a.Axis), a.Alone) }

// full is an array of a number.
func full(g *ir.Graph, x float64, d array.DType, shape []int) *node {
	if d.Complex() { // there are no complex constants
		return Apply(Expand, Shape(shape), Convert(g.Number(x, d.Part(), false), d))
	}
	return Apply(Expand, Shape(shape), g.Number(x, d, false))
}

// numbered is an array whose elements are their positions in row-major order, int64.
func numbered(g *ir.Graph, shape []int) *node {
	return reshape(Apply(Iota, nil, full(g, 0, array.Float32, []int{array.Size(shape)})), shape)
}

func init() {
	Ravel = define(Def{Name: "ravel_index", Class: Routine, ByRoutine: ByRoutine{Routine: ir.RoutineRavel}, Arity: -1, Attrs: Raveling{},
		Doc: "Arrays of places, broadcast, one for each of several axes, as int64 places in row-major order of all of them.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			a := c.Attrs.(Raveling)
			c.count(1, array.MaxRank)
			shapes := make([][]int, len(c.Args))
			for i, x := range c.Args {
				if d := x.DType; d != array.Int64 && d != array.Int32 {
					c.Failf("index", "has elements of type %s, want int64 or int32", d)
				}
				shapes[i] = x.Shape
			}
			for _, list := range [][]int{a.Sizes, a.Args, a.Axes, a.Ranks} {
				if len(list) != len(c.Args) {
					c.Failf("", "%d arrays of places for %d axes", len(c.Args), len(list))
				}
			}
			for i, r := range a.Ranks {
				if r < 0 || r > array.MaxRank {
					c.Failf("", "array %d has %d dimensions in messages", i, r)
				}
			}
			array.CheckShape(c.Def.Name, a.Sizes, array.Bool)
			return array.Int64, array.Broadcast(c.Def.Name, shapes...)
		}},
		Conformance: Conformance{Samples: []Sample{
			{Shapes: [][]int{{7}}, DTypes: []array.DType{array.Int32}, Max: 5, Attrs: Raveling{Sizes: []int{5}, Args: []int{0}, Axes: []int{0}, Ranks: []int{1}}},
			{Shapes: [][]int{{4, 1}, {2, 1, 3}}, DTypes: []array.DType{array.Int64, array.Int32}, Max: 5, Attrs: Raveling{Sizes: []int{5, 6}, Args: []int{0, 1}, Axes: []int{0, 1}, Ranks: []int{2, 3}}},
			{Shapes: [][]int{{}, {3}, {0, 1}}, DTypes: []array.DType{array.Int64, array.Int64, array.Int64}, Max: 5, Attrs: Raveling{Sizes: []int{5, 6, 7}, Args: []int{0, 1, 2}, Axes: []int{0, 1, 2}, Ranks: []int{0, 1, 2}, Put: true}}}}})
	IndexCopy = define(Def{Name: "index_copy", Class: Routine, Arity: 3, Attrs: Axis(0),
		Doc: "The third argument with the sub-arrays of x written at the places of the indices along an axis; of several at one place the last stays.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			x, idx, base, axis := c.Args[0], c.Args[1], c.Args[2], int(c.Attrs.(Axis))
			checkIndex(c, 1, axis, len(base.Shape))
			s := append([]int(nil), base.Shape...)
			if len(idx.Shape) != 1 {
				c.Failf("index", "has shape %s, want one dimension", array.ShapeString(idx.Shape))
			}
			s[axis] = idx.Shape[0]
			if x.DType != base.DType || !array.Equal(x.Shape, s) {
				c.Failf("x", "is %s, want %s", array.TypeString(x.DType, x.Shape), array.TypeString(base.DType, s))
			}
			return base.DType, base.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineIndexCopy, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			axis, idx, g := v.Node.Attrs, v.X[1], v.Node.Graph
			v.Set(0, func() *node {
				// Only what stayed has a gradient.
				n, size := idx.Shape[0], v.X[2].Shape[axis.(Axis)]
				at := numbered(g, []int{n})
				winner := Apply(IndexCopy, Axis(0), at, idx, full(g, -1, array.Int64, []int{size}))
				stayed := apply(Eq, Apply(IndexSelect, Axis(0), winner, idx), at)
				s := make([]int, len(v.X[0].Shape))
				for i := range s {
					s[i] = 1
				}
				s[axis.(Axis)] = n
				return where(reshape(stayed, s), Apply(IndexSelect, axis, v.DY, idx), num(v.DY, 0))
			})
			v.Set(2, func() *node { return Apply(IndexCopy, axis, full(g, 0, v.DY.DType, v.X[0].Shape), idx, v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4}, {5, 3}}, DTypes: []array.DType{array.Float64, array.Int64, array.Float64}, Max: 5},
			{Shapes: [][]int{{2, 9, 2}, {9}, {2, 4, 2}}, DTypes: []array.DType{array.Float64, array.Int32, array.Float64}, Max: 4, Attrs: Axis(1)},
			{Shapes: [][]int{{0, 3}, {0}, {5, 3}}, DTypes: []array.DType{array.Float64, array.Int64, array.Float64}, Max: 5}}}})

	// scattered checks the arguments of those that write elements into an array.
	scattered := func(axis func(a ir.Attrs) int) func(c *Call) (array.DType, []int) {
		return func(c *Call) (array.DType, []int) {
			x, idx, base, a := c.Args[0], c.Args[1], c.Args[2], axis(c.Attrs)
			checkIndex(c, 1, a, len(base.Shape))
			if !array.Equal(x.Shape, idx.Shape) {
				c.Failf("index", "has shape %s, x %s: want equal shapes", array.ShapeString(idx.Shape), array.ShapeString(x.Shape))
			}
			checkWithin(c, a, idx.Shape, base.Shape, "the receiver")
			if x.DType != base.DType {
				c.Failf("x", "has elements of type %s, the receiver %s", x.DType, base.DType)
			}
			return base.DType, base.Shape
		}
	}
	types := []array.DType{array.Float64, array.Int64, array.Float64}
	Scatter = define(Def{Name: "scatter", Class: Routine, Arity: 3, Attrs: Axis(0), ONNX: "ScatterElements",
		Doc:       "The third argument with x's elements written, in row-major order, where gather along the axis would read.",
		Typing:    Typing{Infer: scattered(func(a ir.Attrs) int { return int(a.(Axis)) })},
		ByRoutine: ByRoutine{Routine: ir.RoutineScatter, MovesAnyType: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			axis, idx, g := v.Node.Attrs, v.X[1], v.Node.Graph
			v.Set(0, func() *node {
				at := numbered(g, idx.Shape)
				winner := Apply(Scatter, axis, at, idx, full(g, -1, array.Int64, v.X[2].Shape))
				stayed := apply(Eq, Apply(Gather, axis, winner, idx), at)
				return where(stayed, Apply(Gather, axis, v.DY, idx), num(v.DY, 0))
			})
			v.Set(2, func() *node { return Apply(Scatter, axis, full(g, 0, v.DY.DType, idx.Shape), idx, v.DY) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4, 3}, {5, 3}}, DTypes: types, Max: 5},
			{Shapes: [][]int{{2, 7}, {2, 7}, {3, 4}}, DTypes: types, Max: 4, Attrs: Axis(1)}}}})
	for _, e := range []struct {
		def        **Def
		name, what string
		routine    ir.RoutineID
	}{{&ScatterMin, "scatter_min", "least", ir.RoutineScatterMin}, {&ScatterMax, "scatter_max", "greatest", ir.RoutineScatterMax}} {
		*e.def = define(Def{Name: e.name, Class: Routine, Arity: 3, Attrs: Extreme{}, ONNX: "ScatterElements",
			Doc: "The third argument, at places where gather along the axis would read the " + e.what + " of what is there (unless that does not count) and of x's elements for them; NaN if one is.",
			Typing: Typing{Wide: true,
				Infer: func(c *Call) (array.DType, []int) {
					d, s := scattered(func(a ir.Attrs) int { return a.(Extreme).Axis })(c)
					if d.Category() > array.CatFloat {
						c.Failf("x", "is %s, which has no order", d)
					}
					return d, s
				}},
			ByRoutine:  ByRoutine{Routine: e.routine, Contiguous: true},
			Derivative: Derivative{VJP: func(v *VJP) { extremeGradient(v) }},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4, 3}, {5, 3}}, DTypes: types, Max: 5},
				{Shapes: [][]int{{2, 7}, {2, 7}, {3, 4}}, DTypes: types, Max: 4, Attrs: Extreme{Axis: 1, Alone: true}}}}})
	}
	ScatterProd = define(Def{Name: "scatter_prod", Class: Routine, Arity: 3, Attrs: Extreme{}, ONNX: "ScatterElements",
		Doc: "The third argument, at places where gather along the axis would read the product of what is there (unless that does not count) and of x's elements for them, multiplied in row-major order.",
		Typing: Typing{Wide: true,
			Infer: scattered(func(a ir.Attrs) int { return a.(Extreme).Axis })},
		ByRoutine:  ByRoutine{Routine: ir.RoutineScatterProd, Contiguous: true, Complex: true},
		Derivative: Derivative{VJP: scatterProdGradient},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 3}, {4, 3}, {5, 3}}, DTypes: types, Max: 5},
			{Shapes: [][]int{{2, 7}, {2, 7}, {3, 4}}, DTypes: types, Max: 4, Attrs: Extreme{Axis: 1, Alone: true}}}}})
}

// scatterProdGradient multiplies the gradient of a product with all other factors, so that it has no quotient and
// holds where factors are 0. The elements for one place are brought together by a sort of the places.
func scatterProdGradient(v *VJP) {
	x, idx, base, g := v.X[0], v.X[1], v.X[2], v.Node.Graph
	a := v.Node.Attrs.(Extreme)
	along, d := Axis(a.Axis), v.DY.DType
	conj := func(n *node) *node {
		if d.Complex() {
			return apply(Conj, n)
		}
		return n
	}
	first := func(n *node) *node { // n, and where only elements of x count there another number
		if !a.Alone {
			return n
		}
		one := full(g, 1, d, base.Shape)
		return where(apply(Ne, Apply(Scatter, along, full(g, 1, array.Int64, idx.Shape), idx, full(g, 0, array.Int64, base.Shape)), full(g, 0, array.Int64, base.Shape)), one, n)
	}
	v.Set(0, func() *node {
		m, places := array.Size(x.Shape), array.Size(base.Shape)
		if m == 0 || places == 0 {
			return full(g, 0, d, x.Shape)
		}
		at := reshape(Apply(Gather, along, numbered(g, base.Shape), idx), []int{m})
		sorted := ApplyAll(Sort, Sorting{}, at)
		offsets := Apply(SearchSorted, Search{}, sorted[0], numbered(g, []int{places + 1}))
		y := Apply(IndexSelect, Axis(0), reshape(x, []int{m}), sorted[1])
		y = mul(productsBeside(y, offsets, false), productsBeside(y, offsets, true))
		others := reshape(Apply(Scatter, Axis(0), y, sorted[1], full(g, 0, d, []int{m})), x.Shape)
		return mul(mul(Apply(Gather, along, v.DY, idx), Apply(Gather, along, conj(first(base)), idx)), conj(others))
	})
	v.Set(2, func() *node {
		dy := mul(v.DY, conj(Apply(ScatterProd, Extreme{Axis: a.Axis}, x, idx, full(g, 1, d, base.Shape))))
		if !a.Alone {
			return dy
		}
		return Apply(Scatter, along, full(g, 0, d, idx.Shape), idx, v.DY)
	})
}

// extremeGradient gives that of ScatterMin and ScatterMax: elements that equal the result
// of their place share its gradient.
func extremeGradient(v *VJP) {
	a, idx, g, d := v.Node.Attrs.(Extreme), v.X[1], v.Node.Graph, v.DY.DType
	along := Axis(a.Axis)
	own := Convert(apply(Eq, v.X[2], v.Y), d)
	if a.Alone {
		own = Apply(Scatter, along, full(g, 0, d, idx.Shape), idx, own)
	}
	hit := Convert(apply(Eq, v.X[0], Apply(Gather, along, v.Y, idx)), d)
	sharers := add(own, Apply(scatterSum, Target{a.Axis, v.X[2].Shape}, hit, idx))
	// Where the result is NaN nothing equals it, and the gradient is NaN.
	share := div(v.DY, sharers)
	v.Set(0, func() *node { return mul(hit, Apply(Gather, along, share, idx)) })
	v.Set(2, func() *node { return mul(own, share) })
}
