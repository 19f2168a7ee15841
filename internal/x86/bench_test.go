//go:build amd64

package x86

import (
	"fmt"
	"testing"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

// run makes a function that runs p over plain buffers, one a buffer argument.
func runner(b testing.TB, p *loop.Program, isa ISA, extents []int, bufs ...unsafe.Pointer) func() {
	k, err := Compile(p, isa)
	if err != nil {
		b.Fatal(err)
	}
	code, err := jit.Map(k.Code)
	if err != nil {
		b.Fatal(err)
	}
	f := new(loop.Frame)
	for a, n := range extents {
		f.Word[p.ExtentWord(a)] = uint64(n)
	}
	for i, q := range bufs {
		f.Ptr[i] = q
		at := p.Bufs[i].DType.Size()
		for a := len(extents) - 1; a >= 0; a-- {
			if p.Bufs[i].Steps[a] != loop.Zero {
				f.Word[p.StrideWord(i, a)] = uint64(at)
				at *= extents[a]
			}
		}
	}
	return func() {
		f.Word[loop.WordFuel] = 1 << 30
		for jit.Call(code, 0, unsafe.Pointer(f)) == loop.Resume {
			f.Word[loop.WordFuel] = 1 << 30
		}
	}
}

func at[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func BenchmarkAxpby(b *testing.B) {
	p := axpby(b)
	for _, n := range []int{10, 100, 1000, 10000, 100000} {
		for _, isa := range isas(b) {
			b.Run(fmt.Sprintf("%s/%d", isa, n), func(b *testing.B) {
				x, y, z := make([]float32, n), make([]float32, n), make([]float32, n)
				f := runner(b, p, isa, []int{n}, at(x), at(y), at(z))
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
	for _, p := range []*loop.Program{axpby(b), mandelbrot(b)} {
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
