package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
)

// References of the operations between complex numbers and their parts. What is computed
// of complex numbers is tested in package weft, beside Go's package math/cmplx.
func init() {
	part := func(at int) reference {
		return func(x []*Array, _ ir.Attrs) Result {
			if !x[0].DType.Complex() {
				panic(refusal{})
			}
			out := New(x[0].DType.Part(), x[0].Shape)
			for i := range out.F {
				out.F[i] = x[0].F[2*i+at]
			}
			return Result{Array: out, Exact: true}
		}
	}
	references["real"], references["imag"] = part(0), part(1)
	references["complex"] = func(x []*Array, _ ir.Attrs) Result {
		if d := x[0].DType; d != x[1].DType || d != array.Float32 && d != array.Float64 || !array.Equal(x[0].Shape, x[1].Shape) {
			panic(refusal{})
		}
		out := New(x[0].DType.WithParts(), x[0].Shape)
		for i := range x[0].F {
			out.F[2*i], out.F[2*i+1] = x[0].F[i], x[1].F[i]
		}
		return Result{Array: out, Exact: true}
	}
	references["conj"] = func(x []*Array, _ ir.Attrs) Result { return Result{Array: x[0], Exact: true} }
	references["angle"] = func(x []*Array, _ ir.Attrs) Result {
		d := x[0].DType
		if !d.Float() {
			d = array.Float32
		}
		y := convert(x[0], d)
		out := New(d, x[0].Shape)
		for i, v := range y.F {
			if out.F[i] = v; v == v {
				out.F[i] = roundTo(d, math.Pi*truth(v < 0))
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["polar"] = func(x []*Array, _ ir.Attrs) Result {
		d := promote(x)
		if !d.Float() {
			d = array.Float32
		}
		shape := shapeOf(x)
		r, a := broadcast(convert(x[0], d), shape), broadcast(convert(x[1], d), shape)
		out := New(d.WithParts(), shape)
		bound := make([]float64, len(out.F))
		for i := range r.F {
			out.F[2*i], out.F[2*i+1] = r.F[i]*math.Cos(a.F[i]), r.F[i]*math.Sin(a.F[i])
			bound[2*i] = 4 * eps(computed(d)) * math.Abs(r.F[i])
			bound[2*i+1] = bound[2*i]
		}
		return Result{Array: out, Bound: bound}
	}
}
