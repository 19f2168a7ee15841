// Package float8 has the values of floats of at most 8 bits: the five formats of PyTorch and of safetensors,
// and ONNX's float4. E4M3 and E5M2 are defined by the Open Compute Project (OCP 8-bit floating point
// specification, 2023). FNUZ are AMD's, without infinities and negative zero. E8M0 has powers of two, and E2M1
// four bits (OCP microscaling formats, 2023).
package float8

import (
	"math"

	"weft/internal/array"
)

// A Format is a format of floats of at most 8 bits: a sign but for E8M0, an exponent and a mantissa.
type Format struct {
	exponent, mantissa int // bits
	bias               int
	infinities         bool // the greatest exponent is infinity and NaN, as in IEEE 754
	unsignedZero       bool // the code of -0 is NaN, the only one
	noNaN              bool // every code is a number
}

// E2M1 is ONNX's float4e2m1.
var E2M1 = Format{exponent: 2, mantissa: 1, bias: 1, noNaN: true}

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
	if int(code) >= f.SignBit() {
		sign = -1
	}
	magnitude := int(code) & (f.SignBit() - 1)
	e, m := magnitude>>f.mantissa, magnitude&(1<<f.mantissa-1)
	last := 1<<f.exponent - 1
	nan, ok := f.NaN()
	switch {
	case ok && (int(code) == nan || !f.unsignedZero && magnitude == nan), f.infinities && e == last && m != 0:
		return float32(math.NaN())
	case f.infinities && e == last:
		return float32(math.Inf(int(sign)))
	case e == 0:
		return float32(math.Copysign(math.Ldexp(float64(m), 1-f.bias-f.mantissa), sign))
	}
	return float32(sign * math.Ldexp(float64(1<<f.mantissa+m), e-f.bias-f.mantissa))
}

// SignBit returns the bit of the sign in codes. Requires a format other than E8M0.
func (f Format) SignBit() int { return 1 << (f.exponent + f.mantissa) }

// NaN returns the code that conversions give for NaN; ok is false if the format has none.
func (f Format) NaN() (code int, ok bool) {
	switch {
	case f.noNaN:
		return 0, false
	case f.mantissa == 0:
		return 1<<f.exponent - 1, true
	case f.unsignedZero:
		return f.SignBit(), true
	case f.infinities: // quiet, as in IEEE 754
		return (1<<f.exponent-1)<<f.mantissa | 1<<(f.mantissa-1), true
	}
	return f.SignBit() - 1, true
}

// Infinity returns the code of infinity; ok is false if the format has none.
func (f Format) Infinity() (code int, ok bool) {
	return (1<<f.exponent - 1) << f.mantissa, f.infinities
}

// NegativeZero reports whether the format has -0.
func (f Format) NegativeZero() bool { return f.mantissa > 0 && !f.unsignedZero }

// Largest returns the code of the greatest finite number.
func (f Format) Largest() int {
	code := len(f.Table())/2 - 1
	for v := float64(f.Value(uint8(code))); math.IsNaN(v) || math.IsInf(v, 0); v = float64(f.Value(uint8(code))) {
		code--
	}
	return code
}

// Table returns the values of all codes.
func (f Format) Table() []float32 {
	codes := 1 << (f.exponent + f.mantissa)
	if f.mantissa > 0 {
		codes *= 2 // signs
	}
	out := make([]float32, codes)
	for i := range out {
		out[i] = f.Value(uint8(i))
	}
	return out
}
