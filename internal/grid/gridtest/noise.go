package gridtest

import (
	"math"
	"math/rand/v2"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// Noise returns an array of noise. Many elements are equal, or zeros of either sign; few are infinite
// or NaN.
func Noise(chance *rand.Rand, d array.DType, shape ...int) Array {
	a := NewArray(d, shape...)
	if !d.Float() {
		few := chance.IntN(2) == 0
		for i := range a.Bytes {
			a.Bytes[i] = byte(chance.IntN(256))
			if few && i%d.Size() < d.Size()-1 || d == array.Bool {
				a.Bytes[i] &= 1
			}
		}
		return a
	}
	specials := []float64{math.NaN(), math.Inf(-1), math.Inf(1)}
	rare := []int{30, 3000, 1 << 40}[chance.IntN(3)]
	for i := range array.Size(shape) {
		x := chance.NormFloat64()
		switch {
		case chance.IntN(rare) == 0:
			x = specials[chance.IntN(len(specials))]
		case chance.IntN(4) == 0:
			x = float64(chance.IntN(3) - 1)
		}
		if x == 0 && chance.IntN(2) == 0 || chance.IntN(8) == 0 {
			x = math.Copysign(0, -1)
		}
		a.set(i, x)
	}
	return a
}

// set sets element i of floats.
func (a Array) set(i int, x float64) {
	switch a.DType {
	case array.Float16:
		Elements[half.Float16](a)[i] = half.NewFloat16(x)
	case array.BFloat16:
		Elements[half.BFloat16](a)[i] = half.NewBFloat16(x)
	case array.Float32:
		Elements[float32](a)[i] = float32(x)
	default:
		Elements[float64](a)[i] = x
	}
}

// SortedRows returns an array of two dimensions with its rows in order, as the CPU sorts them.
func SortedRows(a Array) Array {
	x := ir.New().Input(0, a.DType, a.Shape)
	node := op.ApplyAll(op.TopK, op.Selection{Axis: 1, Count: a.Shape[1], Smallest: true}, x)[0].Args[0]
	view := func(a Array) array.View {
		return array.View{Store: host(a.Bytes), DType: a.DType, Shape: a.Shape, Strides: array.RowMajor(a.Shape)}
	}
	out, places := NewArray(a.DType, a.Shape...), NewArray(array.Int64, a.Shape...)
	d := cpu.New(jit.Portable)
	if err := d.Routine(ir.RoutineTopK)(&device.Call{Stream: d.Default(), Node: node, Args: []array.View{view(a)}, Out: []array.View{view(out), view(places)}}); err != nil {
		panic(err)
	}
	return out
}
