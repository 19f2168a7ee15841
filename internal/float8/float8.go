// Package float8 has the values of floats of 8 bits: the five formats of PyTorch and of safetensors. E4M3
// and E5M2 are defined by the Open Compute Project (OCP 8-bit floating point specification, 2023). FNUZ
// are AMD's, without infinities and negative zero. E8M0 has powers of two (OCP microscaling formats, 2023).
package float8

import (
	"math"

	"weft/internal/array"
)

// A Format is a format of floats of 8 bits.
type Format struct {
	exponent, mantissa int // bits
	bias               int
	infinities         bool // the greatest exponent is infinity and NaN, as in IEEE 754
	unsignedZero       bool // the code of -0 is NaN, the only one
}

// Formats are the formats by PyTorch's names of the element types.
var Formats = map[string]Format{
	"float8_e4m3fn":   {exponent: 4, mantissa: 3, bias: 7},
	"float8_e5m2":     {exponent: 5, mantissa: 2, bias: 15, infinities: true},
	"float8_e4m3fnuz": {exponent: 4, mantissa: 3, bias: 8, unsignedZero: true},
	"float8_e5m2fnuz": {exponent: 5, mantissa: 2, bias: 16, unsignedZero: true},
	"float8_e8m0fnu":  {exponent: 8, bias: 127},
}

// Holds reports whether an element type has all values of a format.
func (f Format) Holds(d array.DType) bool {
	switch d {
	case array.Float32, array.Float64, array.BFloat16:
		return true
	case array.Float16:
		return f.exponent <= 5
	}
	return false
}

// Value returns the value of a code.
func (f Format) Value(code uint8) float32 {
	if f.mantissa == 0 { // no sign, no zero
		if code == 0xff {
			return float32(math.NaN())
		}
		return float32(math.Ldexp(1, int(code)-f.bias))
	}
	sign := 1.0
	if code >= 0x80 {
		sign = -1
	}
	e, m := int(code&0x7f)>>f.mantissa, int(code)&(1<<f.mantissa-1)
	last := 1<<f.exponent - 1
	switch {
	case f.unsignedZero && code == 0x80, !f.infinities && !f.unsignedZero && code&0x7f == 0x7f, f.infinities && e == last && m != 0:
		return float32(math.NaN())
	case f.infinities && e == last:
		return float32(math.Inf(int(sign)))
	case e == 0:
		return float32(math.Copysign(math.Ldexp(float64(m), 1-f.bias-f.mantissa), sign))
	}
	return float32(sign * math.Ldexp(float64(1<<f.mantissa+m), e-f.bias-f.mantissa))
}

// Table returns the values of all codes.
func (f Format) Table() []float32 {
	out := make([]float32, 256)
	for i := range out {
		out[i] = f.Value(uint8(i))
	}
	return out
}
