package cpu

import (
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
)

// Light launches on much memory use 256-bit vectors, unless AVX2 lacks an instruction of
// the program: only the choice, which is the same on every processor.
func TestVectorWidthOfLightKernels(t *testing.T) {
	program := func(from, to array.DType, f func(b *loop.Builder, x loop.Value) loop.Value) *Program {
		b := loop.NewBuilder("width", []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, y := b.Buf(from, false, loop.Unit), b.Buf(to, true, loop.Unit)
		b.Pass(func() { b.Store(y, f(b, b.Load(x))) })
		p, err := b.Done()
		if err != nil {
			t.Fatal(err)
		}
		return &Program{p: p, isa: jit.AVX512}
	}
	cvt := func(from, to array.DType) *Program {
		return program(from, to, func(b *loop.Builder, x loop.Value) loop.Value { return b.Cvt(loop.TypeOf(to), x) })
	}
	twice := func(op loop.Op, d array.DType) *Program {
		return program(d, d, func(b *loop.Builder, x loop.Value) loop.Value { return b.Binary(op, x, x) })
	}
	const long = 1 << 20
	for _, c := range []struct {
		name string
		p    *Program
		n    int
		want jit.ISA
	}{
		{"light", twice(loop.OpAdd, array.Float32), long, jit.AVX2},
		{"short", twice(loop.OpAdd, array.Float32), long / 8, jit.AVX512},
		{"int64 sum", twice(loop.OpAdd, array.Int64), long, jit.AVX2},
		{"float32 to float64", cvt(array.Float32, array.Float64), long, jit.AVX2},
		{"int32 to float32", cvt(array.Int32, array.Float32), long, jit.AVX2},
		{"float32 to int64", cvt(array.Float32, array.Int64), long, jit.AVX512},
		{"float64 to int64", cvt(array.Float64, array.Int64), long, jit.AVX512},
		{"int64 to float32", cvt(array.Int64, array.Float32), long, jit.AVX512},
		{"int64 to float64", cvt(array.Int64, array.Float64), long, jit.AVX512},
		{"float32 to int32", cvt(array.Float32, array.Int32), long, jit.AVX512},
		{"float32 to bfloat16", cvt(array.Float32, array.BFloat16), long, jit.AVX512},
		{"bfloat16 to float32", cvt(array.BFloat16, array.Float32), long, jit.AVX2},
		{"int64 product", twice(loop.OpMul, array.Int64), long, jit.AVX512},
		{"int64 minimum", twice(loop.OpMin, array.Int64), long, jit.AVX512},
	} {
		got := c.p.width(&launch.Launch{Kernel: &c.p.Kernel, Extents: []int{c.n}, Cost: 2})
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
