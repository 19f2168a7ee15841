package signal

import (
	"math"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
)

// lagBlock is the number of sums that a task computes.
const lagBlock = 256

// Correlate computes the sums over i of u[i+k]*v[i] into out, for k from 0 to the size of the last axis of
// out, which is that of u less that of v plus 1. All are contiguous, with the same axes before the last.
// Each sum is one chain of fused multiply-adds in order of i.
func Correlate(out, u, v *array.View) {
	switch u.DType {
	case array.Float32:
		correlateRows(out, u, v, correlateReal[float32])
	case array.Float64:
		correlateRows(out, u, v, correlateReal[float64])
	case array.Complex64:
		correlateRows(out, u, v, correlateComplex[complex64])
	default:
		correlateRows(out, u, v, correlateComplex[complex128])
	}
}

func correlateRows[T realNumber | complexNumber](outv, uv, vv *array.View, f func(out, u, v []T)) {
	l, m, p := last(uv), last(vv), last(outv)
	out, u, v := codegen.Elements[T](outv), codegen.Elements[T](uv), codegen.Elements[T](vv)
	blocks := (p + lagBlock - 1) / lagBlock
	each(array.Size(vv.Shape[:len(vv.Shape)-1])*blocks, min(p, lagBlock)*m, func(begin, end int) {
		for t := begin; t < end; t++ {
			r, lo := t/blocks, t%blocks*lagBlock
			f(out[r*p+lo:r*p+min(lo+lagBlock, p)], u[r*l+lo:(r+1)*l], v[r*m:(r+1)*m])
		}
	})
}

func correlateReal[T realNumber](out, u, v []T) {
	k := 0
	for ; k+4 <= len(out); k += 4 {
		var s0, s1, s2, s3 float64
		w := u[k:][:len(v)+3]
		for i, c := range v {
			f := float64(c)
			s0 = math.FMA(f, float64(w[i]), s0)
			s1 = math.FMA(f, float64(w[i+1]), s1)
			s2 = math.FMA(f, float64(w[i+2]), s2)
			s3 = math.FMA(f, float64(w[i+3]), s3)
		}
		out[k], out[k+1], out[k+2], out[k+3] = T(s0), T(s1), T(s2), T(s3)
	}
	for ; k < len(out); k++ {
		s := 0.0
		for i, c := range v {
			s = math.FMA(float64(c), float64(u[k+i]), s)
		}
		out[k] = T(s)
	}
}

func correlateComplex[T complexNumber](out, u, v []T) {
	for k := range out {
		var s complex128
		for i, c := range v {
			s = fma(complex128(c), complex128(u[k+i]), s)
		}
		out[k] = T(s)
	}
}
