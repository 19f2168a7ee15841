//go:build amd64

package x86

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// Every reduction of every type, at lengths around steps, strips and blocks, with
// the other width in the same pass and without.
func TestReductions(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, ty := range numeric {
		for k := loop.Sum; k <= loop.MaxU; k++ {
			if k == loop.And || k == loop.Or || k > loop.Or && ty.Float() {
				continue
			}
			for _, mixed := range []bool{false, true} {
				b := loop.NewBuilder(fmt.Sprintf("reduce.%s %s mixed=%v", ty, k, mixed), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Reduce}}, 1)
				x := b.Buf(dtype(ty), false, loop.Any, loop.Unit)
				out := b.Buf(dtype(ty), true, loop.Any, loop.Zero)
				other := -1
				if mixed {
					other = b.Buf(array.Int32, true, loop.Any, loop.Unit)
				}
				var s loop.Value
				b.Pass(func() {
					s = b.Reduce(k, b.Load(x))
					if mixed {
						b.Store(other, b.Cvt(loop.I32, b.Index(1)))
					}
				})
				b.Store(out, s)
				p := finish(t, b)
				for _, n := range []int{0, 1, 2, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 4095, 4096, 4097, 8192, 8193, 4096*3 + 65, 4096*7 + 1} {
					if n > 9000 && mixed {
						continue
					}
					reduceCase(t, r, p, ty, k, 1+r.IntN(2), n)
					if n > 0 && n <= 257 {
						reduceCase(t, r, made(p, n), ty, k, 1+r.IntN(40), n)
					}
				}
			}
		}
	}
}

// made is p made for rows of n elements.
func made(p *loop.Program, n int) *loop.Program {
	q := *p
	q.Axes = slices.Clone(p.Axes)
	q.Axes[p.Lane].Extent = n
	return &q
}

func reduceCase(t *testing.T, r *rand.Rand, p *loop.Program, ty loop.Type, k loop.Reduction, rows, n int) {
	t.Helper()
	s := random(p, r, rows, n)
	s.fill(func(b int) uint64 {
		if k == loop.Prod && ty.Float() {
			return looptest.Eval(loop.OpCvt, 0, ty, loop.F64, f64(1+r.NormFloat64()/50), 0, 0)
		}
		return element(r, p.Bufs[b].DType)
	})
	want := append([][]byte(nil), s.data...)
	for b := range want[1:] {
		want[1+b] = slices.Clone(s.data[1+b])
	}
	size := ty.Size()
	for row := range rows {
		for i := range n {
			if len(want) > 2 {
				setWord(want[2][s.base[2]+row*s.strides[2][0]:], i, 4, uint64(s.starts[1]+i))
			}
		}
		var x []uint64
		for i := range n {
			x = append(x, word(s.data[0][s.base[0]+row*s.strides[0][0]+i*size:], size))
		}
		ref := looptest.Reduce(k, ty, x)
		at := s.base[1] + row*s.strides[1][0]
		setWord(want[1][at:], 0, size, ref)
	}
	s.check(t, want)
}

func TestReduceBool(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	b := loop.NewBuilder("any all", []loop.Axis{{Kind: loop.Reduce}}, 0)
	x := b.Buf(array.Bool, false, loop.Unit)
	all, some := b.Buf(array.Bool, true, loop.Zero), b.Buf(array.Bool, true, loop.Zero)
	var vAll, vSome loop.Value
	b.Pass(func() {
		v := b.Load(x)
		vAll, vSome = b.Reduce(loop.And, v), b.Reduce(loop.Or, v)
	})
	b.Store(all, vAll)
	b.Store(some, vSome)
	p := finish(t, b)
	for n := range 140 {
		for _, odd := range []int{-1, 0, n / 2, n - 1} {
			for _, most := range []byte{0, 1} {
				s := random(p, r, n).fill(func(int) uint64 { return uint64(most) })
				s.data[1][0], s.data[2][0] = 7, 7
				if odd >= 0 && odd < n {
					s.data[0][odd] = 1 - most
				}
				a, o := byte(1), byte(0)
				for _, v := range s.data[0] {
					a &= v
					o |= v
				}
				if n == 0 {
					s.data[0] = nil
					a, o = 1, 0
				}
				s.check(t, [][]byte{s.data[0], {a}, {o}})
			}
		}
	}
}

// softmaxRef is the softmax of the benchmarks, in plain Go on float32.
func softmaxRef(x []float32) []float32 {
	bits := func(x []float32) (out []uint64) {
		for _, v := range x {
			out = append(out, f32(v))
		}
		return out
	}
	exp := func(x float32) float32 {
		y := float32(0.25)
		for i := range 6 {
			y = looptest.Fma32(y, x, float32(1/float64(i+2)))
		}
		return y
	}
	m := math.Float32frombits(uint32(looptest.Reduce(loop.Max, loop.F32, bits(x))))
	e := make([]float32, len(x))
	for i, v := range x {
		e[i] = exp(v - m)
	}
	s := 1 / math.Float32frombits(uint32(looptest.Reduce(loop.Sum, loop.F32, bits(e))))
	for i := range e {
		e[i] *= s
	}
	return e
}

func TestSoftmaxRows(t *testing.T) {
	r := rand.New(rand.NewPCG(10, 11))
	p := softmax(t)
	for _, n := range []int{1, 3, 10, 16, 63, 64, 65, 200, 1000, 4097} {
		s := random(p, r, 3, n).fill(func(int) uint64 { return f32(float32(r.NormFloat64())) })
		want := append([][]byte(nil), s.data...)
		want[1] = append([]byte(nil), s.data[1]...)
		for row := range 3 {
			var x []float32
			for i := range n {
				x = append(x, math.Float32frombits(uint32(word(s.data[0][s.base[0]+row*s.strides[0][0]+4*i:], 4))))
			}
			for i, y := range softmaxRef(x) {
				binary.LittleEndian.PutUint32(want[1][s.base[1]+row*s.strides[1][0]+4*i:], math.Float32bits(y))
			}
		}
		s.check(t, want)
	}
}

// Mandelbrot against a Go loop, with fuel for one trip an entry, so that every
// state of every loop is saved and restored.
func TestMandelbrotFuel(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 13))
	p := mandelbrot(t)
	for _, n := range []int{1, 15, 16, 17, 64, 65, 131} {
		s := random(p, r, n).fill(func(int) uint64 { return f32(float32(r.Float64()*3 - 2)) })
		want := append([][]byte(nil), s.data...)
		want[2] = make([]byte, 4*n)
		for i := range n {
			cr := math.Float32frombits(uint32(word(s.data[0][4*i:], 4)))
			ci := math.Float32frombits(uint32(word(s.data[1][4*i:], 4)))
			var x, y float32
			k := uint32(0)
			for float32(x*x)+float32(y*y) <= 4 && k < 200 {
				x, y = float32(float32(x*x)-float32(y*y))+cr, float32(2*float32(x*y))+ci
				k++
			}
			binary.LittleEndian.PutUint32(want[2][4*i:], k)
		}
		for _, isa := range isas(t) {
			k, err := Compile(p, isa)
			if err != nil {
				t.Fatal(err)
			}
			for _, fuel := range []uint64{0, 1, 2, 7, plenty} {
				got, entries := s.execute(t, k, fuel)
				if b, i, ok := same(p, got, want); !ok {
					t.Fatalf("%s, n %d, fuel %d: buffer %d element %d differs", isa, n, fuel, b, i)
				}
				if fuel < 2 && n > 15 && entries < 10 {
					t.Errorf("%s, n %d, fuel %d: only %d entries", isa, n, fuel, entries)
				}
			}
		}
	}
}

// A pass with more live values than registers must spill and still be right.
func TestSpills(t *testing.T) {
	r := rand.New(rand.NewPCG(14, 15))
	for _, ty := range []loop.Type{loop.F32, loop.I64} {
		b := loop.NewBuilder("spills", []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, out := b.Buf(dtype(ty), false, loop.Unit), b.Buf(dtype(ty), true, loop.Unit)
		b.Pass(func() {
			v := []loop.Value{b.Load(x)}
			for i := range 60 {
				v = append(v, b.Sub(b.Mul(v[i], v[0]), b.Number(ty, float64(i))))
			}
			s := v[0]
			for i := range v { // the last first, so that all wait
				s = b.Add(b.Mul(s, b.Number(ty, 0.5)), v[len(v)-1-i])
			}
			b.Store(out, s)
		})
		p := finish(t, b)
		for _, isa := range isas(t) {
			if k, err := Compile(p, isa); err != nil {
				t.Fatal(err)
			} else if k.Spills == 0 {
				t.Errorf("%s, %s: nothing was spilled", isa, ty)
			}
		}
		for _, n := range []int{1, 50, 200} {
			random(p, r, n).fill(func(b int) uint64 { return element(r, dtype(ty)) }).check(t, nil)
		}
	}
}

// Too much state for the scratch memory is an error, not wrong code.
func TestScratchLimit(t *testing.T) {
	b := loop.NewBuilder("large", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, out := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		v := []loop.Value{b.Load(x)}
		for i := range launch.MaxScratch/32 + 1000 {
			v = append(v, b.Sub(b.Mul(v[i], v[0]), v[i/2]))
		}
		s := v[0]
		for i := range v {
			s = b.Add(b.Mul(s, s), v[i])
		}
		b.Store(out, s)
	})
	p := finish(t, b)
	for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
		if _, err := Compile(p, isa); err == nil || !strings.Contains(err.Error(), "scratch") {
			t.Errorf("%s: got %v, want an error about scratch memory", isa, err)
		}
	}
}

func TestExplain(t *testing.T) {
	for isa, want := range map[jit.ISA]string{jit.AVX2: "vmulps ymm", jit.AVX512: "vmulps zmm"} {
		s, err := Explain(axpby(t), isa)
		if err != nil {
			t.Fatal(err)
		}
		k, err := Compile(axpby(t), isa)
		if err != nil {
			t.Fatal(err)
		}
		last := fmt.Sprintf("\n%5x  \tret\n", k.Text-1)
		if !strings.Contains(s, want) || !strings.HasSuffix(s, last) {
			t.Errorf("%s: %q or the last line %q is missing in\n%s", isa, want, last, s)
		}
	}
}

// The order of operands shows in minima and maxima of zeros of both signs.
func TestReductionsOfZeros(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 17))
	for _, ty := range []loop.Type{loop.F32, loop.F64} {
		for _, k := range []loop.Reduction{loop.Min, loop.Max} {
			b := loop.NewBuilder(fmt.Sprintf("zeros %s %s", ty, k), []loop.Axis{{Kind: loop.Reduce}}, 0)
			x, out := b.Buf(dtype(ty), false, loop.Unit), b.Buf(dtype(ty), true, loop.Zero)
			var s loop.Value
			b.Pass(func() { s = b.Reduce(k, b.Load(x)) })
			b.Store(out, s)
			p := finish(t, b)
			for _, n := range []int{2, 64, 100, 8192, 12288, 4096*6 + 1} {
				for range 4 {
					sign := uint64(1) << (8*ty.Size() - 1)
					// Blocks of one sign now and then, or the tree sees no difference.
					mixed := r.IntN(2) == 0
					s := random(p, r, n)
					i, of := 0, uint64(0)
					s.fill(func(int) uint64 {
						if i%4096 == 0 || mixed {
							of = sign * uint64(r.IntN(2))
						}
						i++
						return of
					})
					var v []uint64
					for at := 0; at < len(s.data[0]); at += ty.Size() {
						v = append(v, word(s.data[0][at:], ty.Size()))
					}
					want := make([]byte, 8)
					binary.LittleEndian.PutUint64(want, looptest.Reduce(k, ty, v))
					s.check(t, [][]byte{s.data[0], want[:ty.Size()]})
				}
			}
		}
	}
}

// A load in an if stays behind a store to the same place, also in a block long enough to
// be reordered.
func TestLoadBehindStore(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 21))
	b := loop.NewBuilder("store, load", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, same := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	out := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		v := b.Load(x)
		b.Store(same, v)
		y := b.If(b.Lt(v, b.Float(loop.F32, 0)), func() []loop.Value { return []loop.Value{b.Load(same)} }, func() []loop.Value { return []loop.Value{v} })[0]
		for i := range longCode {
			y = b.Fma(y, v, b.Float(loop.F32, float64(i)))
		}
		b.Store(out, y)
	})
	p := finish(t, b)
	for _, n := range []int{1, 16, 100} {
		random(p, r, n).fill(func(int) uint64 { return f32(float32(r.NormFloat64())) }).check(t, nil)
	}
}

// A load stays before a store to the same place, through whatever buffer.
func TestLoadBeforeStore(t *testing.T) {
	b := loop.NewBuilder("in place", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, same := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
	out := b.Buf(array.Float32, true, loop.Unit)
	b.Pass(func() {
		v := b.Load(x)
		b.Store(same, b.Float(loop.F32, 9))
		b.Store(out, b.Add(v, b.Float(loop.F32, 1)))
	})
	p := finish(t, b)
	for _, isa := range isas(t) {
		for _, n := range []int{1, 16, 64, 100} {
			x, y := make([]float32, n), make([]float32, n)
			for i := range x {
				x[i] = float32(i)
			}
			runner(t, p, isa, []int{n}, at(x), at(x), at(y))()
			for i := range x {
				if x[i] != 9 || y[i] != float32(i)+1 {
					t.Fatalf("%s, n %d: lane %d: %v and %v", isa, n, i, x[i], y[i])
				}
			}
		}
	}
}
