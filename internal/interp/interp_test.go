package interp

import (
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/fma"
	"weft/internal/loop"
)

// frame makes the argument block of a program.
type frame struct {
	p *loop.Program
	f *loop.Frame
}

func newFrame(p *loop.Program, extents ...int) *frame {
	f := &frame{p, new(loop.Frame)}
	for a, n := range extents {
		f.f.Word[p.ExtentWord(a)] = uint64(n)
	}
	f.f.Word[loop.WordFuel] = 1 << 40
	return f
}

// buf sets a buffer whose first element is s[at], with its strides in elements.
func buf[T any](f *frame, b int, s []T, at int, strides ...int) {
	f.f.Ptr[b] = unsafe.Pointer(unsafe.SliceData(s[at:]))
	for a, x := range strides {
		f.f.Word[f.p.StrideWord(b, a)] = uint64(x * int(unsafe.Sizeof(*new(T))))
	}
}

func (f *frame) run(t testing.TB) {
	t.Helper()
	if !Compile(f.p).Run(f.f, nil) {
		t.Fatal("not done")
	}
}

func done(t testing.TB, b *loop.Builder) *loop.Program {
	t.Helper()
	p, err := b.Done()
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Program())
	}
	return p
}

// mandelbrot counts iterations, each lane leaving in its own time.
func mandelbrot(t testing.TB) *loop.Program {
	b := loop.NewBuilder("mandelbrot", []loop.Axis{{Kind: loop.Parallel}}, 0)
	cr := b.Buf(array.Float32, false, loop.Unit)
	ci := b.Buf(array.Float32, false, loop.Unit)
	out := b.Buf(array.Int32, true, loop.Unit)
	b.Pass(func() {
		r, i := b.Load(cr), b.Load(ci)
		zero := b.Float(loop.F32, 0)
		res := b.While([]loop.Value{zero, zero, b.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
			zz := b.Add(b.Mul(v[0], v[0]), b.Mul(v[1], v[1]))
			return b.And(b.Le(zz, b.Float(loop.F32, 4)), b.Lt(v[2], b.Int(loop.I32, 200)))
		}, func(v []loop.Value) []loop.Value {
			re := b.Add(b.Sub(b.Mul(v[0], v[0]), b.Mul(v[1], v[1])), r)
			im := b.Add(b.Mul(b.Float(loop.F32, 2), b.Mul(v[0], v[1])), i)
			return []loop.Value{re, im, b.Add(v[2], b.Int(loop.I32, 1))}
		})
		b.Store(out, res[2])
	})
	return done(t, b)
}

func escape(cr, ci float32) int32 {
	var x, y float32
	var n int32
	for float32(x*x)+float32(y*y) <= 4 && n < 200 {
		x, y = float32(float32(x*x)-float32(y*y))+cr, float32(2*float32(x*y))+ci
		n++
	}
	return n
}

func TestMandelbrot(t *testing.T) {
	p := mandelbrot(t)
	for _, n := range []int{0, 1, 2, 63, 64, 100, 511, 512, 513, 1500} {
		cr, ci, out := make([]float32, n+1), make([]float32, n+1), make([]int32, n+1)
		for i := range cr {
			cr[i], ci[i] = float32(i%37)/15-2, float32(i%101)/50-1
		}
		f := newFrame(p, n)
		buf(f, 0, cr, 0, 1)
		buf(f, 1, ci, 0, 1)
		buf(f, 2, out, 0, 1)
		f.run(t)
		for i := range n {
			if want := escape(cr[i], ci[i]); out[i] != want {
				t.Fatalf("n %d: lane %d is %d, want %d", n, i, out[i], want)
			}
		}
		if out[n] != 0 {
			t.Fatalf("n %d: wrote beyond the end", n)
		}
	}
}

func BenchmarkMandelbrot(b *testing.B) {
	p := mandelbrot(b)
	n := 4096
	cr, ci, out := make([]float32, n), make([]float32, n), make([]int32, n)
	for i := range cr {
		cr[i], ci[i] = float32(i%64)/21-2, float32(i/64)/32-1
	}
	b.Run("interp", func(b *testing.B) {
		f := newFrame(p, n)
		buf(f, 0, cr, 0, 1)
		buf(f, 1, ci, 0, 1)
		buf(f, 2, out, 0, 1)
		k := Compile(p)
		for b.Loop() {
			k.Run(f.f, nil)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			for i := range out {
				out[i] = escape(cr[i], ci[i])
			}
		}
	})
}

// pointwise makes out = f(in...) over one axis for float32.
func pointwise(t testing.TB, in int, f func(b *loop.Builder, x []loop.Value) loop.Value) *loop.Program {
	b := loop.NewBuilder("pointwise", []loop.Axis{{Kind: loop.Parallel}}, 0)
	var bufs []int
	for range in {
		bufs = append(bufs, b.Buf(array.Float32, false, loop.Unit))
	}
	out := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		var x []loop.Value
		for _, i := range bufs {
			x = append(x, b.Load(i))
		}
		b.Store(out, f(b, x))
	})
	return done(t, b)
}

func BenchmarkPointwise(b *testing.B) {
	const n = 8192
	x, y, z, out := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i], z[i] = float32(i%17)/5-1.5, float32(i%31)/9-1, float32(i%5)
	}
	for _, c := range []struct {
		name string
		in   int
		f    func(b *loop.Builder, x []loop.Value) loop.Value
		ref  func()
	}{
		{"add", 2, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Add(x[0], x[1]) }, func() {
			for i := range out {
				out[i] = x[i] + y[i]
			}
		}},
		{"mul3", 3, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Add(b.Mul(x[0], x[1]), x[2]) }, func() {
			for i := range out {
				out[i] = float32(x[i]*y[i]) + z[i]
			}
		}},
		{"relu", 1, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Max(x[0], b.Float(loop.F32, 0)) }, func() {
			for i := range out {
				out[i] = max(x[i], 0)
			}
		}},
		{"fma", 3, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Fma(x[0], x[1], x[2]) }, func() {
			for i := range out {
				out[i] = fma.Float32(x[i], y[i], z[i])
			}
		}},
		{"select", 2, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Select(b.Lt(x[0], x[1]), x[0], x[1]) }, func() {
			for i := range out {
				if x[i] < y[i] {
					out[i] = x[i]
				} else {
					out[i] = y[i]
				}
			}
		}},
		{"sqrt", 1, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Sqrt(x[0]) }, nil},
		{"floor", 1, func(b *loop.Builder, x []loop.Value) loop.Value { return b.Floor(x[0]) }, nil},
	} {
		p := pointwise(b, c.in, c.f)
		f := newFrame(p, n)
		for i, s := range [][]float32{x, y, z}[:c.in] {
			buf(f, i, s, 0, 1)
		}
		buf(f, c.in, out, 0, 1)
		k := Compile(p)
		b.Run(c.name+"/interp", func(b *testing.B) {
			b.SetBytes(n)
			b.ReportAllocs()
			for b.Loop() {
				k.Run(f.f, nil)
			}
		})
		if c.ref != nil {
			b.Run(c.name+"/go", func(b *testing.B) {
				b.SetBytes(n)
				for b.Loop() {
					c.ref()
				}
			})
		}
	}
}
