package optest

import (
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// axesOf returns which axes a reduction combines.
func axesOf(attrs ir.Attrs, rank int) []bool {
	a := attrs.(op.Reduction)
	in := make([]bool, rank)
	for i := range in {
		in[i] = len(a.Axes) == 0
	}
	for _, i := range a.Axes {
		in[(i+rank)%rank] = true
	}
	return in
}

// groups returns, for each element of the result of a reduction over the axes
// in, the flat indices of the elements that it combines, in ascending order.
func groups(shape []int, in []bool, keep bool) (out []int, members [][]int) {
	kept := make([]int, len(shape))
	st := make([]int, len(shape))
	n := 1
	for i := len(shape) - 1; i >= 0; i-- {
		kept[i] = 1
		if !in[i] {
			kept[i] = shape[i]
			st[i] = n
			n *= shape[i]
		}
	}
	out = []int{}
	for i := range shape {
		if keep || !in[i] {
			out = append(out, kept[i])
		}
	}
	members = make([][]int, array.Size(kept))
	walk(shape, st, func(i, off int) { members[off] = append(members[off], i) })
	return out, members
}

// rawAxes turns the attributes of a primitive reduction into the user's.
func rawAxes(a ir.Attrs) ir.Attrs {
	out := op.Reduction{Keep: true}
	for i := a.(op.Group).Lo; i < a.(op.Group).Hi; i++ {
		out.Axes = append(out.Axes, i)
	}
	return out
}

// reduceFloats is a reduction of floats by f, which gives value and bound.
func reduceFloats(x *Array, a ir.Attrs, f func(x []float64, eps float64) (y, bound float64)) Result {
	shape, m := groups(x.Shape, axesOf(a, len(x.Shape)), a.(op.Reduction).Keep)
	out := New(x.DType, shape)
	bound := make([]float64, len(m))
	for i, g := range m {
		v := make([]float64, len(g))
		for k, j := range g {
			v[k] = x.F[j]
		}
		out.F[i], bound[i] = f(v, eps(computed(x.DType)))
	}
	return Result{Array: out, Bound: bound}
}

func reduceInts(x *Array, d array.DType, a ir.Attrs, f func(x []int64) int64) Result {
	shape, m := groups(x.Shape, axesOf(a, len(x.Shape)), a.(op.Reduction).Keep)
	out := New(d, shape)
	for i, g := range m {
		v := make([]int64, len(g))
		for k, j := range g {
			v[k] = x.I[j]
		}
		out.set(i, 0, f(v))
	}
	return Result{Array: out, Exact: true}
}

// eps is half an ULP of 1.
func eps(d array.DType) float64 {
	switch d {
	case array.Float16:
		return 0x1p-11
	case array.BFloat16:
		return 0x1p-8
	case array.Float32:
		return 0x1p-24
	}
	return 0x1p-53
}

// computed is the type in which operations on elements of type d take their steps.
func computed(d array.DType) array.DType {
	if d.Half() {
		return array.Float32
	}
	return d
}

// depth bounds the number of additions that an element goes through in a sum of
// n: the virtual lane, the folds, the tree; or a block of a column and its tree.
func depth(n int) float64 {
	return 2 + min(float64(n), 128) + math.Log2(float64(n)+1)
}

// exactSum adds without rounding; NaN and infinities as IEEE 754 has them in any
// order. bound is that of the order which the loop language prescribes.
func exactSum(x []float64, eps float64) (sum, bound float64) {
	var abs, special float64
	s := new(big.Float).SetPrec(2200)
	for _, v := range x {
		if v-v != 0 {
			special += v
			continue
		}
		abs += math.Abs(v)
		s.Add(s, new(big.Float).SetFloat64(v))
	}
	if special != 0 {
		return special, 0
	}
	sum, _ = s.Float64()
	return sum, abs*eps*depth(len(x)) + 1e-320
}

func exactProd(x []float64, eps float64) (prod, bound float64) {
	prod = 1
	for _, v := range x {
		prod *= v
	}
	return prod, math.Abs(prod) * (eps + 0x1p-53) * (float64(len(x)) + 2)
}

func plainMean(x []float64, eps float64) (mean, bound float64) {
	s, b := exactSum(x, eps)
	n := float64(len(x))
	return s / n, b/n + math.Abs(s/n)*2*eps
}

// plainVar returns the variance of x and a bound of its error, to first order from the bounds of
// the mean and the sum.
func plainVar(x []float64, ddof int, eps float64) (v, bound float64) {
	m, mb := plainMean(x, eps)
	var s, worst float64
	for _, e := range x {
		d := e - m
		s += d * d
		worst += 2*math.Abs(d)*(mb+math.Abs(d)*eps+math.Abs(m)*eps) + mb*mb + 3*eps*d*d
	}
	n := math.Max(float64(len(x)-ddof), 0)
	return s / n, (worst+s*eps*depth(len(x)))/n + 2*eps*s/n + 1e-300
}

func plainLogSumExp(x []float64, eps float64) (y, bound float64) {
	m := math.Inf(-1)
	for _, v := range x {
		if v != v {
			return v, 0
		}
		m = math.Max(m, v)
	}
	if math.IsInf(m, 0) {
		return m, 0
	}
	var s, worst float64
	for _, v := range x {
		e := math.Exp(v - m)
		s += e
		if e > 0 {
			worst += e * eps * (4 + math.Abs(v-m))
		}
	}
	y = math.Log(s) + m
	return y, worst/s + eps*(depth(len(x))+4*math.Abs(math.Log(s))+2*math.Abs(y)+4)
}

// extremeOf returns the reference of min or max: NaN wins.
func extremeOf(max bool) reference {
	return func(x []*Array, a ir.Attrs) Result {
		if array.Size(x[0].Shape) == 0 {
			if _, m := groups(x[0].Shape, axesOf(a, len(x[0].Shape)), true); len(m) > 0 {
				panic(refusal{})
			}
		}
		if x[0].F == nil {
			return reduceInts(x[0], x[0].DType, a, func(v []int64) int64 {
				r := v[0]
				for _, e := range v {
					if e != r && compareInts(x[0].DType, e, r) < 0 != max {
						r = e
					}
				}
				return r
			})
		}
		return reduceFloats(x[0], a, func(v []float64, _ float64) (float64, float64) {
			r := v[0]
			for _, e := range v {
				if e != e {
					return e, 0
				}
				if e < r != max && e != r {
					r = e
				}
			}
			return r, 0
		})
	}
}

// truthOf returns the reference of all or any.
func truthOf(all bool) reference {
	return func(x []*Array, a ir.Attrs) Result {
		return reduceInts(convert(x[0], array.Bool), array.Bool, a, func(v []int64) int64 {
			for _, e := range v {
				if (e != 0) != all {
					return truthInt(!all)
				}
			}
			return truthInt(all)
		})
	}
}

// wideFor returns x in the type in which a sum or product of it is computed.
func wideFor(x *Array, a ir.Attrs) *Array {
	switch {
	case a.(op.Reduction).DType != array.Invalid:
		return convert(x, a.(op.Reduction).DType)
	case x.F == nil && x.DType != array.Uint64:
		return convert(x, array.Int64)
	}
	return x
}

// totalOf returns the sums of the groups of x.
func totalOf(x *Array, a ir.Attrs) Result {
	if x.F != nil {
		return reduceFloats(x, a, exactSum)
	}
	return reduceInts(x, x.DType, a, func(v []int64) int64 {
		var s int64
		for _, e := range v {
			s += e
		}
		return s
	})
}

// productOf returns the products of the groups of x.
func productOf(x *Array, a ir.Attrs) Result {
	if x.F != nil {
		return reduceFloats(x, a, exactProd)
	}
	return reduceInts(x, x.DType, a, func(v []int64) int64 {
		s := int64(1)
		for _, e := range v {
			s *= e
		}
		return s
	})
}

// floatsOnly returns f, which refuses arrays of other types than floats.
func floatsOnly(f reference) reference {
	return func(x []*Array, a ir.Attrs) Result {
		if x[0].F == nil {
			panic(refusal{})
		}
		return f(x, a)
	}
}

// softmaxOf returns the reference of softmax, or of its logarithm.
func softmaxOf(log bool) reference {
	return floatsOnly(func(x []*Array, a ir.Attrs) Result {
		e := eps(x[0].DType)
		out := Result{Array: New(x[0].DType, x[0].Shape), Bound: make([]float64, x[0].Size())}
		_, m := groups(x[0].Shape, axesOf(a, len(x[0].Shape)), true)
		for _, g := range m {
			top, s := math.Inf(-1), 0.0
			for _, j := range g {
				top = math.Max(top, x[0].F[j])
			}
			far := 0.0
			for _, j := range g {
				s += math.Exp(x[0].F[j] - top)
				far = math.Max(far, math.Abs(x[0].F[j]-top))
			}
			for _, j := range g {
				d := x[0].F[j] - top
				if log {
					out.F[j] = d - math.Log(s)
					out.Bound[j] = e * (depth(len(g)) + 8 + 2*far + 3*math.Abs(out.F[j]))
				} else {
					out.F[j] = math.Exp(d) / s
					out.Bound[j] = out.F[j]*e*(depth(len(g))+10+2*far) + 1e-45
				}
			}
		}
		return out
	})
}

// argOf returns the reference of argmin or argmax: the first NaN wins.
func argOf(max bool) reference {
	return func(x []*Array, a ir.Attrs) Result {
		x0 := x[0]
		shape, m := groups(x0.Shape, axesOf(a, len(x0.Shape)), a.(op.Reduction).Keep)
		out := New(array.Int64, shape)
		for i, in := range axesOf(a, len(x0.Shape)) {
			if in && x0.Shape[i] == 0 {
				panic(refusal{})
			}
		}
		for i, g := range m {
			best := 0
			for k, j := range g {
				b := g[best]
				switch {
				case x0.F == nil && x0.I[j] != x0.I[b] && (compareInts(x0.DType, x0.I[j], x0.I[b]) > 0) == max,
					x0.F != nil && x0.F[b] == x0.F[b] && (x0.F[j] != x0.F[j] || x0.F[j] != x0.F[b] && (x0.F[j] > x0.F[b]) == max):
					best = k
				}
			}
			out.I[i] = int64(best)
		}
		return Result{Array: out, Exact: true}
	}
}

func init() {
	references["min"], references["max"] = extremeOf(false), extremeOf(true)
	references["all"], references["any"] = truthOf(true), truthOf(false)
	references["sum"] = func(x []*Array, a ir.Attrs) Result { return totalOf(wideFor(x[0], a), a) }
	references["prod"] = func(x []*Array, a ir.Attrs) Result { return productOf(wideFor(x[0], a), a) }
	references["reduce_sum"] = func(x []*Array, a ir.Attrs) Result { return totalOf(x[0], rawAxes(a)) }
	references["reduce_prod"] = func(x []*Array, a ir.Attrs) Result { return productOf(x[0], rawAxes(a)) }
	for _, n := range []string{"min", "max", "all", "any"} {
		references["reduce_"+n] = func(x []*Array, a ir.Attrs) Result { return references[n](x, rawAxes(a)) }
	}
	references["mean"] = floatsOnly(func(x []*Array, a ir.Attrs) Result { return reduceFloats(x[0], a, plainMean) })
	references["var"] = floatsOnly(func(x []*Array, a ir.Attrs) Result {
		return reduceFloats(x[0], a, func(v []float64, e float64) (float64, float64) { return plainVar(v, a.(op.Reduction).Correction, e) })
	})
	references["std"] = floatsOnly(func(x []*Array, a ir.Attrs) Result {
		return reduceFloats(x[0], a, func(v []float64, e float64) (float64, float64) {
			y, b := plainVar(v, a.(op.Reduction).Correction, e)
			s := math.Sqrt(y)
			if s == 0 {
				return s, math.Sqrt(b)
			}
			return s, b/(2*s) + s*2*e
		})
	})
	references["logsumexp"] = floatsOnly(func(x []*Array, a ir.Attrs) Result { return reduceFloats(x[0], a, plainLogSumExp) })
	references["softmax"], references["log_softmax"] = softmaxOf(false), softmaxOf(true)
	references["argmin"], references["argmax"] = argOf(false), argOf(true)
	for _, n := range []string{"argmin", "argmax"} {
		references["reduce_"+n] = func(x []*Array, a ir.Attrs) Result {
			return references[n](x, op.Reduction{Axes: []int{int(a.(op.Axis))}, Keep: true})
		}
	}
	several["var_mean"] = func(x []*Array, a ir.Attrs) []Result {
		return []Result{references["var"](x, a), references["mean"](x, a)}
	}
}
