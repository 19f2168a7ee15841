package looptest

import (
	"math"
	"slices"
	"sync"

	"weft/internal/loop"
)

// Specials returns the values of a type where an operation may go wrong: limits, ties, powers
// of two and their neighbours, counts of shifts, and NaN of both kinds. The slice is shared.
func Specials(t loop.Type) []uint64 { return allSpecials()[t] }

var allSpecials = sync.OnceValue(func() (all [loop.I16 + 1][]uint64) {
	for t := range all {
		x := listSpecials(loop.Type(t))
		slices.Sort(x)
		all[t] = slices.Compact(x)
	}
	return all
})

func listSpecials(t loop.Type) (out []uint64) {
	switch t {
	case loop.B:
		return []uint64{0, 1}
	case loop.I8:
		for x := range uint64(256) {
			out = append(out, x)
		}
	case loop.F32, loop.F64:
		for _, x := range specialFloats {
			out = append(out, floatBits(t, x), floatBits(t, -x))
		}
		if t == loop.F32 {
			return append(out, 0x7FC00000, 0xFFC00001, 0x7F800001) // the last one signals
		}
		return append(out, 0x7FF8<<48, 0xFFF8<<48|1, 0x7FF0<<48|1)
	default:
		for _, x := range specialInts {
			out = append(out, Cut(t, x), Cut(t, -x))
		}
	}
	return out
}

var specialInts = []int64{
	0, 1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, // counts of shifts
	127, 128, 129, 255, 256, 257, 12345, 23456, math.MaxInt16 - 1, math.MaxInt16, 1 << 15, math.MaxUint16,
	1 << 24, 1<<24 + 1, 123456789, 987654321, math.MaxInt32 - 1, math.MaxInt32, 1 << 31, 1<<31 + 1, math.MaxUint32, 1 << 32, 1<<32 + 1, 1<<32 + 5,
	1<<53 + 1, 1<<54 + 1<<30 + 1, 1<<62 + 1, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64,
}

// specialFloats are rounded to the type.
var specialFloats = []float64{
	0, 1, 0.5, 1.5, 2.5, 3, 3.5, 1. / 3, math.Pi, 1e20, 1e-20, 1e300, 1e-300, math.Inf(1),
	// Neighbours of a half and of one, and ties of float32, float16 and bfloat16.
	0x1.fffffep-2, 0x1.fffffffffffffp-2, 0.99999994, 1.0000001, 0x1.000001p0, 0x1.0000010000001p0, 0x1.004p0, 0x1.00cp0, 0x1.01p0, 0x1.03p0,
	// Around the limits of integers, and where floats have no fraction.
	127.5, 128, 255.5, 256, 32767.5, 32768, 65535.5, 65536, 4194304.5, 8388607.5, 1 << 23, 1<<23 + 1, 1<<24 - 1, 1 << 24,
	1<<31 - 128, 1<<31 - 1, 1<<31 - 0.5, 1 << 31, 1<<31 + 0.5, 1<<32 - 0.5, 1 << 32, 4503599627370495.5, 1 << 52, 1<<52 + 1, 1<<53 - 1,
	1 << 62, 1<<63 - 1024, 1 << 63, 1<<64 - 2048, 1 << 64,
	// Greatest and least numbers of float16, bfloat16, float32 and float64.
	65504, 65519.996, 65520, 0x1p-24, 0x1p-25, 0x1.8p-24, 0x1.ffcp-15, 0x1.ffep-15, 0x1p-133, 0x1.8p-133, 0x1.fep127, 0x1.ffp127,
	0x1.fffffefp127, math.MaxFloat32, 0x1.ffffffp127, 0x1p-126, 0x1.000003p-126, 0x1.fffffcp-127, 0x1p-148, 0x1p-149, 0x1.8p-150, 0x1p-150, 0x1.00000000001p-150, 0x1.8p-75,
	math.MaxFloat64, 0x1p-1022, 0x0.fffffffffffffp-1022, 0x1p-1074,
}
