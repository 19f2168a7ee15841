package loopgen

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"weft/internal/array"
	"weft/internal/loop"
)

var (
	special32  = []float32{0, 1, 0.5, 1.5, 2.5, 3, 10, 1. / 3, 0.99999994, 1.0000001, 1 << 23, 1<<24 - 1, 1 << 24, 8388607.5, 1 << 31, 1<<31 - 128, 1 << 63, 1e10, 1e-10, 65504, 65520, 6e-8, math.MaxFloat32, 0x1p-126, 0x1.fffffcp-127, 0x1p-149, 0x1.8p-75, float32(math.Inf(1)), float32(math.NaN())}
	special64  = []float64{0, 1, 0.5, 1.5, 2.5, 3, 10, 1. / 3, 0.49999999999999994, 1 << 52, 1<<53 - 1, 4503599627370495.5, 1 << 31, 1<<31 - 0.5, 1 << 63, 1<<63 - 1024, 1e300, 1e-300, 0x1.000001p0, 0x1.ffffffp127, 0x1.8p-150, math.MaxFloat64, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1p-1074, math.Inf(1), math.NaN()}
	specialInt = []int64{0, 1, -1, 2, -2, 3, 7, -7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, -128, 255, 256, 32767, -32768, 32768, 65535, 1 << 24, 1<<24 + 1, math.MaxInt32, math.MinInt32, 1 << 31, 1<<53 + 1, math.MaxInt64, math.MinInt64}
)

// bits draws a value of type t.
func bits(r *rand.Rand, t loop.Type) uint64 {
	switch t {
	case loop.B:
		return r.Uint64() & 1
	case loop.F32:
		switch r.IntN(5) {
		case 0:
			x := uint64(math.Float32bits(pick(r, special32...)))
			return x ^ r.Uint64()&1<<31
		case 1:
			return uint64(r.Uint32())
		case 2:
			return uint64(math.Float32bits(float32(r.IntN(41) - 20)))
		}
		return uint64(math.Float32bits(float32(r.NormFloat64() * 4)))
	case loop.F64:
		switch r.IntN(5) {
		case 0:
			return math.Float64bits(pick(r, special64...)) ^ r.Uint64()&1<<63
		case 1:
			return r.Uint64()
		case 2:
			return math.Float64bits(float64(r.IntN(41) - 20))
		}
		return math.Float64bits(r.NormFloat64() * 4)
	}
	var x int64
	switch r.IntN(4) {
	case 0:
		x = pick(r, specialInt...)
	case 1:
		x = int64(r.Uint64())
	default:
		x = int64(r.IntN(81) - 40)
	}
	return uint64(x) << (64 - 8*t.Size()) >> (64 - 8*t.Size())
}

// put draws an element of type d into memory.
func put(r *rand.Rand, d array.DType, at []byte) {
	switch d {
	case array.Float16:
		x := uint16(r.Uint32())
		if r.IntN(2) == 0 {
			x = pick[uint16](r, 0, 0x3c00, 0x3800, 0x7c00, 0x7e00, 0x7bff, 0x0400, 0x03ff, 1, 0x4200) | uint16(r.IntN(2))<<15
		}
		binary.LittleEndian.PutUint16(at, x)
	case array.BFloat16:
		binary.LittleEndian.PutUint16(at, uint16(bits(r, loop.F32)>>16))
	default:
		x := bits(r, loop.TypeOf(d))
		for i := range d.Size() {
			at[i] = byte(x >> (8 * i))
		}
	}
}
