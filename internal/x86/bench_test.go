//go:build amd64

package x86

import (
	"fmt"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/vmath"
)

// runner makes a function that runs p over plain buffers, one a buffer argument.
func runner(b testing.TB, p *loop.Program, isa jit.ISA, extents []int, bufs ...unsafe.Pointer) func() {
	run, _ := framed(b, p, isa, extents, bufs...)
	return run
}

// framed is runner with the frame, for what else the program takes.
func framed(b testing.TB, p *loop.Program, isa jit.ISA, extents []int, bufs ...unsafe.Pointer) (func(), *loop.Frame) {
	k, err := Compile(p, isa)
	if err != nil {
		b.Fatal(err)
	}
	code, err := k.Map()
	if err != nil {
		b.Fatal(err)
	}
	f := new(loop.Frame)
	for a, n := range extents {
		f.Word[p.ExtentWord(a)] = uint64(n)
	}
	for i, q := range bufs {
		f.Ptr[i] = q
		at := p.Bufs[i].DType.Size() * max(p.Bufs[i].Steps[p.Lane].Elements(), 1)
		for a := len(extents) - 1; a >= 0; a-- {
			if p.Bufs[i].Steps[a] != loop.Zero {
				f.Word[p.StrideWord(i, a)] = uint64(at)
				at *= extents[a]
			}
		}
	}
	return func() {
		f.Word[loop.WordFuel] = 1 << 30
		code.Run(f, nil)
	}, f
}

func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

// apart returns n numbers, aligned, at an address modulo 4096 of its own: loads
// wait for stores to the same one.
func apart(n, i int) unsafe.Pointer {
	s := make([]float32, n+2048)
	for i := range s {
		s[i] = float32(i%17) / 16
	}
	return unsafe.Add(at(s), (-uintptr(at(s))&4095)+uintptr(i*1024+64*i))
}

func BenchmarkAxpby(b *testing.B) {
	p := axpby(b)
	for _, n := range []int{10, 100, 1000, 10000, 100000} {
		for _, isa := range isas(b) {
			b.Run(fmt.Sprintf("%s/%d", isa, n), func(b *testing.B) {
				f := runner(b, p, isa, []int{n}, apart(n, 0), apart(n, 1), apart(n, 2))
				b.SetBytes(int64(n))
				for b.Loop() {
					f()
				}
			})
		}
	}
}

func mandelbrot(b testing.TB) *loop.Program {
	k := loop.NewBuilder("mandelbrot", []loop.Axis{{Kind: loop.Parallel}}, 0)
	cr := k.Buf(array.Float32, false, loop.Unit)
	ci := k.Buf(array.Float32, false, loop.Unit)
	out := k.Buf(array.Int32, true, loop.Unit)
	k.Pass(func() {
		r, i := k.Load(cr), k.Load(ci)
		zero := k.Float(loop.F32, 0)
		res := k.While([]loop.Value{zero, zero, k.Int(loop.I32, 0)}, func(v []loop.Value) loop.Value {
			zz := k.Add(k.Mul(v[0], v[0]), k.Mul(v[1], v[1]))
			return k.And(k.Le(zz, k.Float(loop.F32, 4)), k.Lt(v[2], k.Int(loop.I32, 200)))
		}, func(v []loop.Value) []loop.Value {
			re := k.Add(k.Sub(k.Mul(v[0], v[0]), k.Mul(v[1], v[1])), r)
			im := k.Add(k.Mul(k.Float(loop.F32, 2), k.Mul(v[0], v[1])), i)
			return []loop.Value{re, im, k.Add(v[2], k.Int(loop.I32, 1))}
		})
		k.Store(out, res[2])
	})
	return finish(b, k)
}

func BenchmarkMandelbrot(b *testing.B) {
	p := mandelbrot(b)
	const n = 256 * 256
	cr, ci, out := make([]float32, n), make([]float32, n), make([]int32, n)
	for i := range n {
		cr[i], ci[i] = float32(i%256)*3/256-2, float32(i/256)*3/256-1.5
	}
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			for i := range out {
				var x, y float32
				k := int32(0)
				for x*x+y*y <= 4 && k < 200 {
					x, y = x*x-y*y+cr[i], 2*(x*y)+ci[i]
					k++
				}
				out[i] = k
			}
		}
	})
	for _, isa := range isas(b) {
		b.Run(isa.String(), func(b *testing.B) {
			f := runner(b, p, isa, []int{n}, at(cr), at(ci), at(out))
			for b.Loop() {
				f()
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, p := range []*loop.Program{axpby(b), mandelbrot(b), formula(b, array.Float32), formula(b, array.Float64)} {
		for _, isa := range isas(b) {
			b.Run(p.Name+"/"+isa.String(), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Compile(p, isa); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// formula is exp(-x*x)*sin(x) + log1p(abs(x)).
func formula(b testing.TB, d array.DType) *loop.Program {
	k := loop.NewBuilder("formula "+d.String(), []loop.Axis{{Kind: loop.Parallel}}, 0)
	in, out := k.Buf(d, false, loop.Unit), k.Buf(d, true, loop.Unit)
	k.Pass(func() {
		x := k.Load(in)
		k.Store(out, k.Add(k.Mul(vmath.Exp(k, k.Neg(k.Mul(x, x))), vmath.Sin(k, x)), vmath.Log1p(k, k.Abs(x))))
	})
	return finish(b, k)
}

// poly is a polynomial of degree 12 in fma, about the work of an exp.
func poly(b testing.TB) *loop.Program {
	k := loop.NewBuilder("poly", []loop.Axis{{Kind: loop.Parallel}}, 0)
	in, out := k.Buf(array.Float32, false, loop.Unit), k.Buf(array.Float32, true, loop.Unit)
	k.Pass(func() {
		x := k.Load(in)
		y := k.Float(loop.F32, 0.25)
		for i := range 12 {
			y = k.Fma(y, x, k.Float(loop.F32, 1/float64(i+2)))
		}
		k.Store(out, y)
	})
	return finish(b, k)
}

func softmax(b testing.TB) *loop.Program {
	k := loop.NewBuilder("softmax", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
	x := k.Buf(array.Float32, false, loop.Any, loop.Unit)
	y := k.Buf(array.Float32, true, loop.Any, loop.Unit)
	exp := func(x loop.Value) loop.Value {
		y := k.Float(loop.F32, 0.25)
		for i := range 6 {
			y = k.Fma(y, x, k.Float(loop.F32, 1/float64(i+2)))
		}
		return y
	}
	var m, s loop.Value
	k.Pass(func() { m = k.Reduce(loop.Max, k.Load(x)) })
	k.Pass(func() { s = k.Reduce(loop.Sum, exp(k.Sub(k.Load(x), m))) })
	r := k.Div(k.Float(loop.F32, 1), s)
	k.Pass(func() { k.Store(y, k.Mul(exp(k.Sub(k.Load(x), m)), r)) })
	return finish(b, k)
}

func sum(b testing.TB) *loop.Program {
	k := loop.NewBuilder("sum", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
	x := k.Buf(array.Float32, false, loop.Any, loop.Unit)
	y := k.Buf(array.Float32, true, loop.Any, loop.Zero)
	var s loop.Value
	k.Pass(func() { s = k.Reduce(loop.Sum, k.Load(x)) })
	k.Store(y, s)
	return finish(b, k)
}

// matmul is the plain triple loop, vectors along a row of the result.
func matmul(b testing.TB) *loop.Program {
	k := loop.NewBuilder("matmul", []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}, {Kind: loop.Serial}}, 1)
	x := k.Buf(array.Float32, false, loop.Any, loop.Zero, loop.Any)
	y := k.Buf(array.Float32, false, loop.Zero, loop.Unit, loop.Any)
	z := k.Buf(array.Float32, true, loop.Any, loop.Unit, loop.Zero)
	k.Pass(func() {
		s := k.For(2, []loop.Value{k.Float(loop.F32, 0)}, func(v []loop.Value) []loop.Value {
			return []loop.Value{k.Fma(k.Load(x), k.Load(y), v[0])}
		})
		k.Store(z, s[0])
	})
	return finish(b, k)
}

func BenchmarkKernels(b *testing.B) {
	bench := func(p *loop.Program, name string, elems int, extents []int, sizes ...int) {
		for _, isa := range isas(b) {
			b.Run(p.Name+"/"+name+"/"+isa.String(), func(b *testing.B) {
				var bufs []unsafe.Pointer
				for i, n := range sizes {
					bufs = append(bufs, apart(n, i))
				}
				f := runner(b, p, isa, extents, bufs...)
				for b.Loop() {
					f()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(elems), "ns/elem")
			})
		}
	}
	bench(axpby(b), "1000", 1000, []int{1000}, 1000, 1000, 1000)
	bench(poly(b), "4000", 4000, []int{4000}, 4000, 4000)
	bench(sum(b), "1x4000", 4000, []int{1, 4000}, 4000, 1)
	bench(sum(b), "100x10", 1000, []int{100, 10}, 1000, 100)
	bench(softmax(b), "10x1000", 10000, []int{10, 1000}, 10000, 10000)
	bench(softmax(b), "1000x10", 10000, []int{1000, 10}, 10000, 10000)
	bench(matmul(b), "128", 128*128*128, []int{128, 128, 128}, 128*128, 128*128, 128*128)
}

// lookups is a polynomial of degree 12 in fma. In the last steps, one for each of the tables, an
// entry of a table of n entries is the factor instead of x. With n = 0 there are no tables.
func lookups(b testing.TB, d array.DType, n, tables int) *loop.Program {
	t := loop.TypeOf(d)
	k := loop.NewBuilder(fmt.Sprintf("lookups %s %dx%d", d, tables, n), []loop.Axis{{Kind: loop.Parallel}}, 0)
	in, out := k.Buf(d, false, loop.Unit), k.Buf(d, true, loop.Unit)
	k.Pass(func() {
		x := k.Load(in)
		i := k.Bits(intOf[t], k.Add(x, k.Float(t, [...]float64{loop.F32: 0x1.8p23, loop.F64: 0x1.8p52}[t])))
		y := k.Float(t, 0.25)
		for j := range 12 {
			factor := x
			if n > 0 && j >= 12-tables {
				table := make([]float64, n)
				for e := range table {
					table[e] = 1 / float64(j+e+1)
				}
				factor = k.Lookup(table, i)
			}
			y = k.Fma(y, factor, k.Float(t, 1/float64(j+2)))
		}
		k.Store(out, y)
	})
	return finish(b, k)
}

func BenchmarkLookup(b *testing.B) {
	for _, d := range []array.DType{array.Float32, array.Float64} {
		for _, isa := range isas(b) {
			for _, n := range []int{0, 64, 128} {
				for tables := range 4 {
					if (n == 0) != (tables == 0) {
						continue
					}
					p := lookups(b, d, n/d.Size(), tables)
					b.Run(isa.String()+"/"+p.Name, func(b *testing.B) {
						const elems = 2000
						f := runner(b, p, isa, []int{elems}, apart(2*elems, 0), apart(2*elems, 1))
						for b.Loop() {
							f()
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/elems, "ns/elem")
					})
				}
			}
		}
	}
}
