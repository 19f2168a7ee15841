package kerneltest

import (
	"go/types"
	"math"
	"math/rand/v2"
)

var (
	edgeFloats = []float64{0, math.Copysign(0, -1), 1, -1, 2, 0.5, -0.5, 3, 10, -7, 100, 127, 128, 255, 256, 1e9, -1e9, 3e9, 1e19, -1e19, 1e30, 1e-30, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, math.SmallestNonzeroFloat32, 1.0000001, 1 << 31, 1 << 63, -1 << 63, 0.1, 1.5, 2.5, 1 << 53}
	edgeInts = []int64{0, 1, -1, 2, 3, 7, 8, 31, 32, 63, 64, 100, math.MaxInt8, math.MinInt8, math.MaxUint8, math.MaxInt16, math.MinInt16, math.MaxUint16,
		math.MaxInt32, math.MinInt32, math.MaxUint32, math.MaxInt64, math.MinInt64,
		1<<60 + 1<<36 + 1, -(1<<60 + 1<<36 + 1), 1<<24 + 1, 1<<53 + 1} // the last ones round
)

func number(r *rand.Rand) float64 {
	switch r.IntN(8) {
	case 0, 1:
		return edgeFloats[r.IntN(len(edgeFloats))]
	case 2:
		return float64(r.IntN(20) - 10)
	case 3:
		return math.Float64frombits(r.Uint64())
	}
	return r.NormFloat64() * 10
}

// Input is an argument of a predeclared type: an edge value or a random one.
func Input(r *rand.Rand, basic string) any {
	i := edgeInts[r.IntN(len(edgeInts))]
	switch r.IntN(3) {
	case 0:
		i = int64(r.IntN(20) - 5)
	case 1:
		i = int64(r.Uint64() >> r.IntN(64))
	}
	switch basic {
	case "bool":
		return i&1 != 0
	case "float32":
		return float32(number(r))
	case "float64":
		return number(r)
	case "complex64":
		return complex(float32(number(r)), float32(number(r)))
	case "complex128":
		return complex(number(r), number(r))
	}
	for _, k := range kinds {
		if k.name == basic {
			return fromInt(k.kind, i)
		}
	}
	panic(basic)
}

// Same compares bits, but for the payload of NaN.
func Same(x, y any) bool {
	switch a := x.(type) {
	case float32:
		b, ok := y.(float32)
		return ok && sameFloat(float64(a), float64(b))
	case float64:
		b, ok := y.(float64)
		return ok && sameFloat(a, b)
	case complex64:
		b, ok := y.(complex64)
		return ok && sameFloat(float64(real(a)), float64(real(b))) && sameFloat(float64(imag(a)), float64(imag(b)))
	case complex128:
		b, ok := y.(complex128)
		return ok && sameFloat(real(a), real(b)) && sameFloat(imag(a), imag(b))
	}
	return x == y
}

func sameFloat(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

var kinds = []struct {
	name string
	kind types.BasicKind
}{{"int", types.Int}, {"int8", types.Int8}, {"int16", types.Int16}, {"int32", types.Int32}, {"int64", types.Int64},
	{"uint", types.Uint}, {"uint8", types.Uint8}, {"uint16", types.Uint16}, {"uint32", types.Uint32}, {"uint64", types.Uint64}}
