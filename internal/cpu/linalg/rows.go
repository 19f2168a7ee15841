package linalg

import (
	"math"

	"weft/internal/fma"
)

// subtractRows subtracts c[0]*x[0] + c[1]*x[1] + ... from y, x being rows ld elements apart. An element is
// one chain of fused multiply-adds in ascending order; parts of complex ones are two chains.
func (k *kit[T]) subtractRows(y, c, x []T, ld int) {
	if len(c) == 0 || len(y) == 0 {
		return
	}
	switch y := any(y).(type) {
	case []float32:
		subtract32(y, any(c).([]float32), any(x).([]float32), ld)
	case []float64:
		subtract64(y, any(c).([]float64), any(x).([]float64), ld)
	case []complex128:
		subtractComplex(y, any(c).([]complex128), any(x).([]complex128), ld)
	}
}

func subtract64(y, c, x []float64, ld int) {
	for i, f := range c {
		f = -f
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			y[j] = math.FMA(f, v, y[j])
		}
	}
}

func subtract32(y, c, x []float32, ld int) {
	for i, f := range c {
		f = -f
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			s := float64(f)*float64(v) + float64(y[j])
			r := float32(s)
			if fma.Hard32(s) {
				r = fma.Float32(f, v, y[j])
			}
			y[j] = r
		}
	}
}

func subtractComplex(y, c, x []complex128, ld int) {
	for i, f := range c {
		row := x[i*ld:][:len(y)]
		for j, v := range row {
			re := math.FMA(-real(f), real(v), real(y[j]))
			im := math.FMA(-real(f), imag(v), imag(y[j]))
			y[j] = complex(math.FMA(imag(f), imag(v), re), math.FMA(-imag(f), real(v), im))
		}
	}
}

// divideRow divides a row by d: it multiplies by 1/d where that is finite.
func divideRow[T number](y []T, d T) {
	r := quotient(fromReal[T](1), d)
	if m := magnitude(r); m > math.MaxFloat64 || typeOf[T]() == typeOf[float32]() && m > math.MaxFloat32 {
		for j := range y {
			y[j] = quotient(y[j], d)
		}
		return
	}
	switch y := any(y).(type) {
	case []float32:
		r := any(r).(float32)
		for j := range y {
			y[j] *= r
		}
	case []float64:
		r := any(r).(float64)
		for j := range y {
			y[j] *= r
		}
	case []complex128:
		r := any(r).(complex128)
		for j := range y {
			y[j] = times(y[j], r)
		}
	}
}
