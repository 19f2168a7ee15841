package op

import (
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
)

// Reductions over any axes. A reduction over several groups of neighbouring axes is done group by group,
// the last group first; what the order of additions is depends on the shape and
// the axes alone. See package plan for the order within a group.
var Sum, Prod, Min, Max, All, Any, Mean, Var, VarMean, Std, ArgMin, ArgMax, LogSumExp, Softmax, LogSoftmax, Iota *Def

// The primitives: one group of neighbouring axes, kept with size 1.
var reduceSum, reduceProd, reduceMin, reduceMax, reduceAll, reduceAny *Def

func reshape(x *node, shape []int) *node {
	if array.Equal(x.Shape, shape) {
		return x
	}
	return Apply(Reshape, Shape(shape), x)
}

// keepShape is shape with the axes' sizes set to 1.
func keepShape(shape, axes []int) []int {
	out := append([]int(nil), shape...)
	for _, a := range axes {
		out[a] = 1
	}
	return out
}

func dropShape(shape, axes []int) []int {
	out := make([]int, 0, len(shape))
	k := 0
	for i, n := range shape {
		if k < len(axes) && axes[k] == i {
			k++
			continue
		}
		out = append(out, n)
	}
	return out
}

// reduceBy reduces x over the axes with a primitive and gives the result the
// shape that a asks for.
func reduceBy(prim *Def, name string, x *node, a Reduction) *node {
	axes := array.Axes(name, a.Axes, len(x.Shape))
	keep := keepShape(x.Shape, axes)
	for i := len(axes) - 1; i >= 0; {
		hi := axes[i] + 1
		lo := axes[i]
		// Axes of size 1 do not part a group.
		for i--; i >= 0; i-- {
			ones := true
			for k := axes[i] + 1; k < lo; k++ {
				ones = ones && x.Shape[k] == 1
			}
			if !ones {
				break
			}
			lo = axes[i]
		}
		x = Apply(prim, Group{lo, hi}, x)
	}
	x = reshape(x, keep)
	if a.Keep {
		return x
	}
	return reshape(x, dropShape(x.Shape, axes))
}

// count is the number of elements that a reduction of x over a's axes combines.
func count(name string, x *node, a Reduction) int {
	n := 1
	for _, i := range array.Axes(name, a.Axes, len(x.Shape)) {
		n *= x.Shape[i]
	}
	return n
}

// spread gives the gradient or result r of a reduction of x the rank of x, so
// that it broadcasts along the reduced axes.
func spread(name string, r, x *node, a Reduction) *node {
	return reshape(r, keepShape(x.Shape, array.Axes(name, a.Axes, len(x.Shape))))
}

func expand(x *node, shape []int) *node {
	if array.Equal(x.Shape, shape) {
		return x
	}
	return Apply(Expand, Shape(shape), x)
}

// withKeep applies a reduction over the same axes with sizes 1 kept.
func withKeep(d *Def, x *node, axes []int) *node {
	return Apply(d, Reduction{Axes: axes, Keep: true}, x)
}

// greatestKeep is the greatest of floats over axes, which are kept; -Inf of none.
func greatestKeep(name string, x *node, axes []int) *node {
	return reduceBy(reduceMax, name, x, Reduction{Axes: axes, Keep: true})
}

// dropKept removes the axes that a reduction with attributes a kept with size 1,
// unless a wants them: last, so that what follows the sum stays in its kernel.
func dropKept(name string, x *node, a Reduction) *node {
	if a.Keep {
		return x
	}
	return reshape(x, dropShape(x.Shape, array.Axes(name, a.Axes, len(x.Shape))))
}

func needFloat(name string, x *node) *node {
	if !x.DType.Differentiable() {
		array.Failf(name, "", "takes floats, got %s: convert with To first", x.DType)
	}
	return x
}

// needSome refuses an extreme of no elements.
func needSome(name string, x *node, a Reduction) {
	axes := array.Axes(name, a.Axes, len(x.Shape))
	if count(name, x, a) == 0 && array.Size(dropShape(x.Shape, axes)) > 0 {
		failNone(name, x, a)
	}
}

func failNone(name string, x *node, a Reduction) {
	axes := array.Axes(name, a.Axes, len(x.Shape))
	array.Failf(name, "", "has no value over no elements: shape %s, axes %s", array.ShapeString(x.Shape), array.ShapeString(axes))
}

// accumulate is a sum or product in its type; of floats of 16 bits in float32.
func accumulate(prim *Def, name string, x *node, a Reduction) *node {
	d := accumulator(x, a)
	if d.Half() {
		return Convert(reduceBy(prim, name, Convert(x, array.Float32), a), d)
	}
	return reduceBy(prim, name, Convert(x, d), a)
}

// accumulator is the type in which sum and prod of x are computed: int64 for signed and small
// integers and bool, uint64 for uint64.
func accumulator(x *node, a Reduction) array.DType {
	switch {
	case a.DType != array.Invalid:
		if !a.DType.Supported() {
			array.Failf("sum", "dtype", "%s is not supported", a.DType)
		}
		return a.DType
	case x.DType.Differentiable():
		return x.DType
	case x.DType == array.Uint64:
		return array.Uint64
	}
	return array.Int64
}

var axisSamples = []Sample{
	{Shapes: [][]int{{7, 5}}}, {Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{0}}},
	{Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{1}, Keep: true}},
	{Shapes: [][]int{{3, 4, 5, 2}}, Attrs: Reduction{Axes: []int{0, 2}}},
	{Shapes: [][]int{{3, 4, 5, 2}}, Attrs: Reduction{Axes: []int{1, 3}, Keep: true}},
	{Shapes: [][]int{{130, 3}}, Attrs: Reduction{Axes: []int{0}}},
	{Shapes: [][]int{{1}}}, {Shapes: [][]int{{}}},
	{Shapes: [][]int{{2, 2, 2, 2, 2, 2, 2, 2, 3, 2}}, Attrs: Reduction{Axes: []int{0, 3, 4, 8}}},
}

func init() {
	for _, r := range []struct {
		def  **Def
		name string
		kind loop.Reduction
	}{
		{&reduceSum, "reduce_sum", loop.Sum}, {&reduceProd, "reduce_prod", loop.Prod},
		{&reduceMin, "reduce_min", loop.Min}, {&reduceMax, "reduce_max", loop.Max},
		{&reduceAll, "reduce_all", loop.And}, {&reduceAny, "reduce_any", loop.Or},
	} {
		var types []array.DType // of the sample
		truth := r.kind == loop.And || r.kind == loop.Or
		if truth {
			types = []array.DType{array.Bool}
		}
		*r.def = define(Def{Name: r.name, Class: Reduce, Arity: 1, Attrs: Group{},
			Doc:      "The primitive of the reduction over neighbouring axes.",
			Reducing: Reducing{Kind: r.kind},
			Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
				x := c.Args[0]
				g := c.Attrs.(Group)
				if g.Lo < 0 || g.Lo >= g.Hi || g.Hi > len(x.Shape) {
					c.Failf("axis", "%d to before %d are not axes of %d dimensions", g.Lo, g.Hi, len(x.Shape))
				}
				if truth != (x.DType == array.Bool) {
					c.Failf("", "is not defined for %s", x.DType)
				}
				out := append([]int(nil), x.Shape...)
				for i := g.Lo; i < g.Hi; i++ {
					out[i] = 1
				}
				return x.DType, out
			}},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{6, 5}}, DTypes: types, Attrs: Group{1, 2}}}}})
	}
	reduceSum.VJP = func(v *VJP) { v.Set(0, func() *node { return expand(v.DY, v.X[0].Shape) }) }
	reduceProd.VJP = func(v *VJP) {
		// The gradient of the last running product: the products before and behind each factor.
		// Without a quotient it is exact at zeros, also differentiated, and where the product
		// overflows or vanishes and the others do not.
		v.Set(0, func() *node {
			x, g := v.X[0], v.Node.Attrs.(Group)
			if x.Size() == 0 {
				return full(x.Graph, 0, x.DType, x.Shape)
			}
			n := array.Size(x.Shape[g.Lo:g.Hi])
			merged := slices.Concat(x.Shape[:g.Lo], []int{n}, x.Shape[g.Hi:])
			y := Narrow(Apply(scanProd, Axis(g.Lo), reshape(x, merged)), g.Lo, n-1, 1)
			return Gradient([]*node{reshape(y, v.DY.Shape)}, []*node{v.DY}, []*node{x})[0]
		})
	}
	extreme := func(v *VJP) {
		// Equal extremes share the gradient.
		v.Set(0, func() *node {
			x := v.X[0]
			hit := Convert(apply(Eq, x, v.Y), x.DType)
			return mul(hit, div(v.DY, Apply(reduceSum, v.Node.Attrs, hit)))
		})
	}
	reduceMin.VJP, reduceMax.VJP = extreme, extreme

	Sum = define(Def{Name: "sum", Class: Composite, Arity: 1, ONNX: "ReduceSum", Attrs: Reduction{}, Doc: "The sum over axes.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			return accumulate(reduceSum, "sum", x[0], a)
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: axisSamples}})
	Prod = define(Def{Name: "prod", Class: Composite, Arity: 1, ONNX: "ReduceProd", Attrs: Reduction{}, Doc: "The product over axes.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			return accumulate(reduceProd, "prod", x[0], a)
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: axisSamples}})
	for _, r := range []struct {
		def        **Def
		prim       *Def
		name, onnx string
		doc        string
		isBool     *Def
	}{
		{&Min, reduceMin, "min", "ReduceMin", "The least element over axes; NaN if one is.", reduceAll},
		{&Max, reduceMax, "max", "ReduceMax", "The greatest element over axes; NaN if one is.", reduceAny},
	} {
		*r.def = define(Def{Name: r.name, Class: Composite, Arity: 1, ONNX: r.onnx, Attrs: Reduction{}, Doc: r.doc,
			Reducing: Reducing{Over: AnyAxes},
			Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
				a := attrs.(Reduction)
				needSome(r.name, x[0], a)
				if x[0].DType == array.Bool {
					return reduceBy(r.isBool, r.name, x[0], a)
				}
				return reduceBy(r.prim, r.name, x[0], a)
			}},
			Conformance: Conformance{Samples: axisSamples}})
	}
	All = define(Def{Name: "all", Class: Composite, Arity: 1, Attrs: Reduction{}, Doc: "True if every element is (not 0).",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			return reduceBy(reduceAll, "all", Convert(x[0], array.Bool), a)
		}},
		Conformance: Conformance{Samples: axisSamples}})
	Any = define(Def{Name: "any", Class: Composite, Arity: 1, Attrs: Reduction{}, Doc: "True if some element is (not 0).",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			return reduceBy(reduceAny, "any", Convert(x[0], array.Bool), a)
		}},
		Conformance: Conformance{Samples: axisSamples}})
	Mean = define(Def{Name: "mean", Class: Composite, Arity: 1, ONNX: "ReduceMean", Attrs: Reduction{}, Doc: "The mean over axes.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			s := withKeep(Sum, needFloat("mean", x[0]), a.Axes)
			return dropKept("mean", div(s, num(s, float64(count("mean", x[0], a)))), a)
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: axisSamples}})
	Var = define(Def{Name: "var", Class: Composite, Arity: 1, Attrs: Reduction{},
		Doc:      "The variance over axes, the squared distances from the mean divided by n less the correction.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			d := sub(x[0], withKeep(Mean, needFloat("var", x[0]), a.Axes))
			s := withKeep(Sum, apply(Square, d), a.Axes)
			return dropKept("var", div(s, num(s, float64(max(count("var", x[0], a)-a.Correction, 0)))), a)
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: axisSamples}})
	VarMean = define(Def{Name: "var_mean", Class: Composite, Arity: 1, Attrs: Reduction{},
		Doc: "var and mean over the same axes, from one reading of the argument.",
		Composed: Composed{ComposeAll: func(x []*node, a ir.Attrs) []*node {
			mean := a.(Reduction)
			mean.Correction = 0
			return []*node{Apply(Var, a, x...), Apply(Mean, mean, x...)}
		}},
		Typing:      Typing{Wide: true, Results: 2},
		Conformance: Conformance{Samples: axisSamples}})
	Std = define(Def{Name: "std", Class: Composite, Arity: 1, Attrs: Reduction{},
		Doc:      "The square root of var.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			v := Apply(Var, Reduction{Axes: a.Axes, Correction: a.Correction, Keep: true}, needFloat("std", x[0]))
			// The slope of the root at 0 is infinite, the gradient of equal elements 0.
			zero := apply(Eq, v, num(v, 0))
			return dropKept("std", where(zero, v, apply(Sqrt, where(zero, one(v), v))), a)
		}},
		Typing:      Typing{Wide: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7, 5}}}, {Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{0}, Correction: 1}}}}})

	Iota = define(Def{Name: "iota", Arity: 1, Attrs: Axis(0),
		Doc:         "The index along an axis, int64, in the argument's shape.",
		Elementwise: Elementwise{Rule: Keep},
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			c.inRank(int(c.Attrs.(Axis)), len(c.Args[0].Shape))
			return array.Int64, c.Args[0].Shape
		}}})
	for _, r := range []struct {
		def        **Def
		name, onnx string
		routine    ir.RoutineID
	}{{&ArgMin, "argmin", "ArgMin", ir.RoutineArgMin}, {&ArgMax, "argmax", "ArgMax", ir.RoutineArgMax}} {
		prim := define(Def{Name: "reduce_" + r.name, Class: Routine, ByRoutine: ByRoutine{Routine: r.routine}, Arity: 1, Attrs: Axis(0), Doc: "The primitive of " + r.name + " along an axis, kept with size 1.",
			Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
				x, axis := c.Args[0], c.Attrs.(Axis)
				c.inRank(int(axis), len(x.Shape))
				out := append([]int(nil), x.Shape...)
				out[axis] = 1
				if x.Shape[axis] == 0 && array.Size(out) > 0 {
					array.Failf(r.name, "", "of no elements: shape %s, axis %d", array.ShapeString(x.Shape), axis)
				}
				return array.Int64, out
			}},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{300, 40}}}, {Shapes: [][]int{{3, 300}}, Attrs: Axis(1)}, {Shapes: [][]int{{70, 3}}}}}})
		*r.def = define(Def{Name: r.name, Class: Composite, Arity: 1, ONNX: r.onnx, Attrs: Reduction{},
			Doc:         "The index, int64, of the first extreme (NaN counts as one) along one axis, or in the flattened array.",
			Reducing:    Reducing{Over: OneAxis},
			Composed:    Composed{Compose: func(x []*node, a ir.Attrs) *node { return argExtreme(prim, r.name, x[0], a.(Reduction)) }},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{7, 5}}}, {Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{0}}}, {Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{1}, Keep: true}}}}})
	}
	LogSumExp = define(Def{Name: "logsumexp", Class: Composite, Arity: 1, ONNX: "ReduceLogSumExp", Attrs: Reduction{}, Doc: "log(sum(exp(x))) over axes without overflow.",
		Reducing: Reducing{Over: AnyAxes},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			m := finiteGreatest(x[0], a.Axes)
			r := add(apply(Log, withKeep(Sum, apply(Exp, sub(x[0], m)), a.Axes)), m)
			return dropKept("logsumexp", r, a)
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x, a := v.X[0], v.Node.Attrs.(Reduction)
				// Not exp(x - y), in which the rounding of a large y is a factor.
				e := apply(Exp, sub(x, finiteGreatest(x, a.Axes)))
				return mul(spread("logsumexp", v.DY, x, a), div(e, withKeep(Sum, e, a.Axes)))
			})
		}},
		Conformance: Conformance{Samples: axisSamples}})
	rowSamples := []Sample{{Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{1}}}, {Shapes: [][]int{{3, 70}}, Attrs: Reduction{Axes: []int{-1}}}, {Shapes: [][]int{{7, 5}}, Attrs: Reduction{Axes: []int{0}}}}
	Softmax = define(Def{Name: "softmax", Class: Composite, Arity: 1, ONNX: "Softmax", Attrs: Reduction{}, Doc: "exp(x) / sum(exp(x)) along an axis, without overflow.",
		Reducing: Reducing{Over: Along},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			e := apply(Exp, sub(x[0], greatestKeep("softmax", needFloat("softmax", x[0]), a.Axes)))
			return div(e, withKeep(Sum, e, a.Axes))
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				s := withKeep(Sum, mul(v.DY, v.Y), v.Node.Attrs.(Reduction).Axes)
				return mul(v.Y, sub(v.DY, s))
			})
		}},
		Conformance: Conformance{Samples: rowSamples}})
	LogSoftmax = define(Def{Name: "log_softmax", Class: Composite, Arity: 1, ONNX: "LogSoftmax", Attrs: Reduction{}, Doc: "log(softmax(x)) along an axis.",
		Reducing: Reducing{Over: Along},
		Composed: Composed{Compose: func(x []*node, attrs ir.Attrs) *node {
			a := attrs.(Reduction)
			d := sub(x[0], greatestKeep("log_softmax", needFloat("log_softmax", x[0]), a.Axes))
			return sub(d, apply(Log, withKeep(Sum, apply(Exp, d), a.Axes)))
		}},
		Typing: Typing{Wide: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				s := withKeep(Sum, v.DY, v.Node.Attrs.(Reduction).Axes)
				return sub(v.DY, mul(apply(Exp, v.Y), s))
			})
		}},
		Conformance: Conformance{Samples: rowSamples}})
}

// finiteGreatest is the maximum over axes, which are kept, for logsumexp to take off: an
// infinite one must not turn into NaN, nor that of no elements.
func finiteGreatest(x *node, axes []int) *node {
	m := greatestKeep("logsumexp", needFloat("logsumexp", x), axes)
	return where(apply(IsFinite, m), m, num(m, 0))
}

func span(lo, hi int) []int {
	var out []int
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

func argExtreme(prim *Def, name string, x *node, a Reduction) *node {
	if count(name, x, a) == 0 { // also where no result asks for it
		failNone(name, x, a)
	}
	keep := append([]int(nil), x.Shape...)
	axis := 0
	switch len(a.Axes) {
	case 0:
		for i := range keep {
			keep[i] = 1
		}
		x = reshape(x, []int{x.Size()})
	case 1:
		axis = array.Axis(name, a.Axes[0], len(x.Shape))
		keep[axis] = 1
	default:
		array.Failf(name, "axis", "takes one axis or none, got %v", a.Axes)
	}
	r := Apply(prim, Axis(axis), x)
	r = reshape(r, keep)
	if a.Keep {
		return r
	}
	if len(a.Axes) == 0 {
		return reshape(r, nil)
	}
	return reshape(r, dropShape(keep, []int{axis}))
}
