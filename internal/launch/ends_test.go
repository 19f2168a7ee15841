package launch

import (
	"math"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/loop"
)

// An epilogue is Ends if it adds a bias of channels and then holds bounds. Anything else it refuses.
func TestEndsOfPrograms(t *testing.T) {
	const images, channels, pixels = 2, 3, 5
	const result, bias, residual, out = 0, 1, 2, 3 // buffers
	inf := math.Inf(1)
	minusZero := math.Copysign(0, -1)
	of := func(b *loop.Builder, x float64) loop.Value { return b.Float(loop.F32, x) }
	for _, c := range []struct {
		name      string
		f         func(b *loop.Builder) loop.Value
		ok, bias  bool
		low, high float64
	}{
		{"bias", func(b *loop.Builder) loop.Value { return b.Add(b.Load(result), b.Load(bias)) }, true, true, -inf, inf},
		{"bias first", func(b *loop.Builder) loop.Value { return b.Add(b.Load(bias), b.Load(result)) }, true, true, -inf, inf},
		{"relu", func(b *loop.Builder) loop.Value { return b.Max(b.Load(result), of(b, 0)) }, true, false, 0, inf},
		{"all", func(b *loop.Builder) loop.Value {
			return b.Min(b.Max(b.Add(b.Load(result), b.Load(bias)), of(b, 0)), of(b, 6))
		}, true, true, 0, 6},
		{"argument", func(b *loop.Builder) loop.Value { return b.Min(b.Load(result), b.Scalar(0)) }, true, false, -inf, 7},
		{"bounds in the other order", func(b *loop.Builder) loop.Value { return b.Max(b.Min(b.Load(result), of(b, 6)), of(b, 0)) }, false, false, 0, 0},
		{"two lower bounds", func(b *loop.Builder) loop.Value { return b.Max(b.Max(b.Load(result), of(b, 0)), b.Scalar(0)) }, false, false, 0, 0},
		{"two upper bounds", func(b *loop.Builder) loop.Value { return b.Min(b.Min(b.Load(result), of(b, 6)), b.Scalar(0)) }, false, false, 0, 0},
		{"bias behind a bound", func(b *loop.Builder) loop.Value { return b.Add(b.Max(b.Load(result), of(b, 0)), b.Load(bias)) }, false, false, 0, 0},
		{"residual", func(b *loop.Builder) loop.Value { return b.Add(b.Load(result), b.Load(residual)) }, false, false, 0, 0},
		{"-0", func(b *loop.Builder) loop.Value { return b.Max(b.Load(result), of(b, minusZero)) }, false, false, 0, 0},
		{"NaN", func(b *loop.Builder) loop.Value { return b.Max(b.Load(result), of(b, math.NaN())) }, false, false, 0, 0},
		{"product", func(b *loop.Builder) loop.Value { return b.Mul(b.Load(result), b.Load(bias)) }, false, false, 0, 0},
		{"double", func(b *loop.Builder) loop.Value { x := b.Load(result); return b.Add(x, x) }, false, false, 0, 0},
		{"bias alone", func(b *loop.Builder) loop.Value { return b.Load(bias) }, false, false, 0, 0},
	} {
		b := loop.NewBuilder("test", []loop.Axis{{}, {}, {}}, 2)
		each := []loop.Step{loop.Any, loop.Any, loop.Unit}
		b.Buf(array.Float32, false, each...)
		b.Buf(array.Float32, false, loop.Zero, loop.Any, loop.Zero)
		b.Buf(array.Float32, false, each...)
		b.Buf(array.Float32, true, each...)
		b.ScalarArg(loop.F32)
		b.Pass(func() { b.Store(out, c.f(b)) })
		p := b.Finish()
		data := make([]float32, images*channels*pixels)
		at := unsafe.Pointer(&data[0])
		f := loop.NewFrame()
		f.Ptr = [loop.MaxBufs]unsafe.Pointer{result: at, bias: unsafe.Pointer(&make([]float32, channels)[0]), residual: unsafe.Pointer(&make([]float32, len(data))[0]), out: at}
		f.Word[p.ScalarWord(0)] = uint64(math.Float32bits(7))
		for _, buf := range []int{result, residual, out} {
			f.Word[p.StrideWord(buf, 0)], f.Word[p.StrideWord(buf, 1)], f.Word[p.StrideWord(buf, 2)] = 4*channels*pixels, 4*pixels, 4
		}
		f.Word[p.StrideWord(bias, 1)] = 4
		e := NewEpilogue(Launch{Kernel: &Kernel{Program: p, Counts: new(Counts)}, Frame: f, Extents: []int{images, channels, pixels}}, 1, 0, 4)
		got, ok := e.Ends(at, channels, array.Float32)
		want := Ends{Bounded: c.low != -inf || c.high != inf, Low: uint64(math.Float32bits(float32(c.low))), High: uint64(math.Float32bits(float32(c.high)))}
		if c.bias {
			want.Bias = f.Ptr[bias]
		}
		if !c.ok {
			want = Ends{}
		}
		if ok != c.ok || got != want {
			t.Errorf("%s: %+v, %t; want %+v, %t", c.name, got, ok, want, c.ok)
		}
		if _, ok := e.Ends(f.Ptr[residual], channels, array.Float32); ok {
			t.Errorf("%s: not in its place", c.name)
		}
		if _, ok := e.Ends(at, channels*pixels, array.Float32); ok && c.bias {
			t.Errorf("%s: another number of channels", c.name)
		}
	}
}
