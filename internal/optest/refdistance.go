package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// meeting are arguments broadcast in the type in which they meet.
func meeting(x []*Array) (y []*Array, d array.DType) {
	d = promote(x)
	shape := shapeOf(x)
	for _, a := range x {
		y = append(y, broadcast(convert(a, d), shape))
	}
	return y, d
}

func init() {
	references["hypot"] = point{rule: toFloat, ulp32: 1.01, ulp64: 2.5, f: func(x []float64) float64 { return math.Hypot(x[0], x[1]) }}.reference
	references["lerp"] = func(x []*Array, _ ir.Attrs) Result {
		y, d := meeting(x)
		if !d.Float() {
			panic(refusal{})
		}
		r := func(v float64) float64 { return roundTo(d, v) }
		out := New(d, y[0].Shape)
		for i := range out.F {
			a, b, w := y[0].F[i], y[1].F[i], y[2].F[i]
			far := r(b - a)
			if w < 0.5 {
				out.F[i] = r(a + r(w*far))
			} else {
				out.F[i] = r(b - r(far*r(1-w)))
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["isclose"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Nearness)
		y, d := meeting(x)
		if !d.Float() || d.Size() < 4 {
			d = array.Float64
		}
		r := func(v float64) float64 { return roundTo(d, v) }
		p, q := convert(y[0], d), convert(y[1], d)
		out := New(array.Bool, y[0].Shape)
		for i := range out.I {
			u, v := p.F[i], q.F[i]
			same := u == v
			if y[0].I != nil {
				same = y[0].I[i] == y[1].I[i]
			}
			near := v-v == 0 && r(math.Abs(r(u-v))) <= r(r(math.Abs(v)*r(a.Relative))+r(a.Absolute))
			out.I[i] = truthInt(same || near || a.EqualNaN && u != u && v != v)
		}
		return Result{Array: out, Exact: true}
	}
	references["nan_to_num"] = func(x []*Array, attrs ir.Attrs) Result {
		a, x0 := attrs.(op.Substitutes), x[0]
		out := New(x0.DType, x0.Shape)
		for i := range out.Size() {
			out.put(i, x0, i)
			if x0.F == nil {
				continue
			}
			switch v := x0.F[i]; {
			case v != v:
				out.set(i, a.NaN, 0)
			case math.IsInf(v, 1):
				out.set(i, a.High, 0)
			case math.IsInf(v, -1):
				out.set(i, a.Low, 0)
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["count_nonzero"] = func(x []*Array, a ir.Attrs) Result {
		return reduceInts(convert(x[0], array.Bool), array.Int64, a, func(x []int64) (n int64) {
			for _, v := range x {
				n += v
			}
			return n
		})
	}
	references["dot"] = func(x []*Array, _ ir.Attrs) Result {
		y, d := meeting(x)
		if d == array.Bool {
			panic(refusal{})
		}
		out := New(d, []int{})
		if !d.Float() {
			for i, v := range y[0].I {
				out.I[0] = wrapTo(d, out.I[0]+v*y[1].I[i])
			}
			return Result{Array: out, Exact: true}
		}
		terms, e, abs := make([]float64, y[0].Size()), eps(d), 0.0
		for i := range terms {
			terms[i] = y[0].F[i] * y[1].F[i]
			abs += math.Abs(terms[i])
		}
		sum, bound := exactSum(terms, e)
		out.F[0] = sum
		return Result{Array: out, Bound: []float64{bound + 3*e*abs}}
	}
	references["norm"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Measure)
		if x[0].F == nil {
			panic(refusal{})
		}
		return reduceFloats(x[0], op.Reduction{Axes: a.Axes, Keep: a.Keep}, func(x []float64, e float64) (y, bound float64) {
			p, terms := a.Order, make([]float64, len(x))
			least, most := math.Inf(1), 0.0
			for i, v := range x {
				v = math.Abs(v)
				least, most = min(least, v), max(most, v)
				switch p {
				case 0:
					terms[i] = truth(v != 0)
				default:
					terms[i] = math.Pow(v, p)
				}
			}
			switch {
			case math.IsInf(p, 1):
				return most, 0
			case math.IsInf(p, -1):
				return least, 0
			}
			s, b := exactSum(terms, e)
			if p == 0 || s == 0 {
				return s, 0
			}
			y = math.Pow(s, 1/p)
			// A power is off by the rounding of its products or by two units; the root by
			// that and by its exponent.
			return y, y * ((b/s+4*e)/p + 4*e + e*math.Abs(math.Log(s))/p)
		})
	}
}
