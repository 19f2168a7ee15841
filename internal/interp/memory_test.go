package interp

import (
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// TestWidening reads and writes elements of all integer types and bool.
func TestWidening(t *testing.T) {
	bytes := make([]uint8, 256)
	for i := range bytes {
		bytes[i] = uint8(i)
	}
	double := func(d array.DType) *loop.Program {
		b := loop.NewBuilder("double", []loop.Axis{{Kind: loop.Parallel}}, 0)
		in, out := b.Buf(d, false, loop.Any), b.Buf(d, true, loop.Any)
		wide := b.Buf(array.Int32, true, loop.Unit)
		b.Program().Wide = loop.I32
		b.Pass(func() {
			x := b.Load(in)
			b.Store(wide, x)
			b.Store(out, b.Add(x, x))
		})
		return done(t, b)
	}
	// Backwards, every second element.
	const n = 127
	check := func(name string, p *loop.Program, place func(f *frame, out *[256]int64) func(), value, low func(i int) int64) {
		f := newFrame(p, n)
		wide := make([]int32, n)
		var out [256]int64
		read := place(f, &out)
		buf(f, 2, wide, 0, 1)
		f.run(t)
		read()
		for i := range n {
			x := value(254 - 2*i)
			if int64(wide[i]) != x {
				t.Fatalf("%s: %d widens to %d", name, x, wide[i])
			}
			if want := low(254 - 2*i); out[i] != want {
				t.Fatalf("%s: twice %d is stored as %d, want %d", name, x, out[i], want)
			}
		}
	}
	check("uint8", double(array.Uint8), func(f *frame, out *[256]int64) func() {
		o := make([]uint8, n)
		buf(f, 0, bytes, 254, -2)
		buf(f, 1, o, 0, 1)
		return func() {
			for i, x := range o {
				out[i] = int64(x)
			}
		}
	}, func(i int) int64 { return int64(i) }, func(i int) int64 { return int64(2 * i % 256) })
	check("int8", double(array.Int8), func(f *frame, out *[256]int64) func() {
		o := make([]int8, n)
		buf(f, 0, bytes, 254, -2)
		buf(f, 1, o, 0, 1)
		return func() {
			for i, x := range o {
				out[i] = int64(x)
			}
		}
	}, func(i int) int64 { return int64((i+128)%256 - 128) }, func(i int) int64 { return int64((2*i+128)%256 - 128) })
	words := make([]uint16, 256)
	for i := range words {
		words[i] = uint16(i * 257)
	}
	check("uint16", double(array.Uint16), func(f *frame, out *[256]int64) func() {
		o := make([]uint16, n)
		buf(f, 0, words, 254, -2)
		buf(f, 1, o, 0, 1)
		return func() {
			for i, x := range o {
				out[i] = int64(x)
			}
		}
	}, func(i int) int64 { return int64(i * 257) }, func(i int) int64 { return int64(2 * i * 257 % 65536) })
	check("int16", double(array.Int16), func(f *frame, out *[256]int64) func() {
		o := make([]int16, n)
		buf(f, 0, words, 254, -2)
		buf(f, 1, o, 0, 1)
		return func() {
			for i, x := range o {
				out[i] = int64(x)
			}
		}
	}, func(i int) int64 { return int64((i*257+32768)%65536 - 32768) }, func(i int) int64 { return int64((2*i*257+32768)%65536 - 32768) })
}

// TestStoresKeepLoadedValues stores into memory that was loaded before: loaded values must stay.
func TestStoresKeepLoadedValues(t *testing.T) {
	b := loop.NewBuilder("overwrite", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x := b.Buf(array.Float32, true, loop.Unit)
	y := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		v := b.Load(x)
		b.Store(x, b.Add(v, b.Float(loop.F32, 1)))
		b.Store(y, v)
	})
	f := newFrame(done(t, b), 1000)
	xs, ys := make([]float32, 1000), make([]float32, 1000)
	for i := range xs {
		xs[i] = float32(i)
	}
	buf(f, 0, xs, 0, 1)
	buf(f, 1, ys, 0, 1)
	f.run(t)
	for i := range xs {
		if xs[i] != float32(i+1) || ys[i] != float32(i) {
			t.Fatalf("lane %d: %v and %v", i, xs[i], ys[i])
		}
	}
}
