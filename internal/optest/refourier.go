package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// References of Fourier transforms: sums by their definition, in float64. Errors are bounded by the norm of
// a row, as the errors of a fast transform are.
func init() {
	// transform fills rows of out from rows of x; terms gives the element i of the full row of n numbers.
	transform := func(x, out *Array, a op.Fourier, n int, sign float64, terms func(row []int, i int) (re, im float64)) Result {
		bound := make([]float64, len(out.F))
		from, to := lines(x.Shape, a.Axis, false), lines(out.Shape, a.Axis, false)
		for r, row := range from {
			norm := 0.0
			for i := range n {
				re, im := terms(row, i)
				norm += re*re + im*im
			}
			limit := (4 + 4*math.Log2(float64(n+1))) * eps(computed(x.DType.Part())) * math.Sqrt(norm) * a.Norm.Factor(n)
			for k, at := range to[r] {
				var sr, si float64
				for i := range n {
					re, im := terms(row, i)
					s, c := math.Sincos(sign * 2 * math.Pi * float64(i*k%n) / float64(n))
					sr, si = sr+re*c-im*s, si+re*s+im*c
				}
				sr, si = sr*a.Norm.Factor(n), si*a.Norm.Factor(n)
				if out.DType.Complex() {
					out.F[2*at], out.F[2*at+1] = sr, si
					bound[2*at], bound[2*at+1] = limit, limit
				} else {
					out.F[at], bound[at] = sr, limit
				}
			}
		}
		return Result{Array: out, Bound: bound}
	}
	references["fft"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Fourier)
		if !x[0].DType.Complex() {
			panic(refusal{})
		}
		sign := -1.0
		if a.Inverse {
			sign = 1
		}
		along := func(x *Array, axis int) Result {
			a.Axis = axis
			return transform(x, New(x.DType, x.Shape), a, x.Shape[axis], sign, func(row []int, i int) (re, im float64) { return x.F[2*row[i]], x.F[2*row[i]+1] })
		}
		y := along(x[0], a.Axis)
		for _, axis := range a.More {
			before := y.Bound
			y = along(y.Array, axis)
			for _, row := range lines(x[0].Shape, axis, false) {
				sum := 0.0
				for _, at := range row {
					sum += before[2*at] + before[2*at+1]
				}
				for _, at := range row {
					y.Bound[2*at] += sum * a.Norm.Factor(len(row))
					y.Bound[2*at+1] += sum * a.Norm.Factor(len(row))
				}
			}
		}
		return y
	}
	references["rfft"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Fourier)
		if !x[0].DType.Float() {
			panic(refusal{})
		}
		d := x[0].DType
		if d.Half() {
			d = array.Float32
		}
		shape := append([]int{}, x[0].Shape...)
		n := shape[a.Axis]
		shape[a.Axis] = n/2 + 1
		return transform(x[0], New(d.WithParts(), shape), a, n, -1, func(row []int, i int) (re, im float64) { return x[0].F[row[i]], 0 })
	}
	references["irfft"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Fourier)
		if !x[0].DType.Complex() || x[0].Shape[a.Axis] != a.N/2+1 {
			panic(refusal{})
		}
		shape := append([]int{}, x[0].Shape...)
		shape[a.Axis] = a.N
		return transform(x[0], New(x[0].DType.Part(), shape), a, a.N, 1, func(row []int, i int) (re, im float64) {
			switch {
			case i == 0 || 2*i == a.N:
				return x[0].F[2*row[i]], 0
			case 2*i > a.N:
				return x[0].F[2*row[a.N-i]], -x[0].F[2*row[a.N-i]+1]
			}
			return x[0].F[2*row[i]], x[0].F[2*row[i]+1]
		})
	}
}

func init() {
	references["dct"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Cosine)
		if !x[0].DType.Float() {
			panic(refusal{})
		}
		if a.First == 0 {
			a.First = 1
		}
		out := New(x[0].DType, x[0].Shape)
		bound := make([]float64, len(out.F))
		for _, row := range lines(x[0].Shape, a.Axis, false) {
			n := len(row)
			norm := 0.0
			for _, at := range row {
				norm += 4 * x[0].F[at] * x[0].F[at]
			}
			scale := a.Norm.Factor(2 * n)
			limit := (4 + 4*math.Log2(float64(n+1))) * eps(computed(x[0].DType)) * math.Sqrt(norm) * scale * math.Max(1, a.First)
			for k, at := range row {
				for i, from := range row {
					out.F[at] += x[0].F[from] * cosineTerm(a, n, k, i) * scale
				}
				bound[at] = limit
			}
		}
		return Result{Array: out, Bound: bound}
	}
}

// cosineTerm is the factor of element i in element k of a cosine or sine transform of n.
func cosineTerm(a op.Cosine, n, k, i int) float64 {
	frequency, at := k, i
	if a.Third {
		frequency, at = i, k
	}
	f, sum, zero := 2.0, math.Cos, 0
	if a.Sine {
		frequency, sum, zero = frequency+1, math.Sin, n
	}
	if frequency == zero {
		if f *= a.First; a.Third {
			f /= 2
		}
	}
	return f * sum(math.Pi*float64(frequency*(2*at+1)%(4*n))/float64(2*n))
}
