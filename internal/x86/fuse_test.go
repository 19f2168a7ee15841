//go:build amd64

package x86

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
)

// TestFused compares pairs of instructions that become one with the interpreter, and demands the
// instruction that they become.
func TestFused(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	type build = func(b *loop.Builder, x, y, z loop.Value) loop.Value
	for _, u := range []struct {
		name string
		t    []loop.Type
		isa  []jit.ISA
		want string // in the listing
		not  string
		f    build
	}{
		{"fms", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vfmsub", "vxor", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Fma(x, y, b.Neg(z))
		}},
		{"fnma", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vfnmadd", "vxor", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Fma(b.Neg(x), y, z)
		}},
		{"fnms", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vfnmsub", "vxor", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Fma(b.Neg(x), y, b.Neg(z))
		}},
		{"neg of two uses", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vfmadd", "vfmsub", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			n := b.Neg(z)
			return b.Sub(b.Fma(x, y, n), n)
		}},
		{"neg of a dead use", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vxorp", "vfmsub", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			n := b.Neg(z)
			b.Fma(x, y, n)
			return b.Div(n, x)
		}},
		{"twice", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vaddp", "vmulp", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Min(b.Mul(x, b.Float(b.Type(x), 2)), b.Mul(b.Float(b.Type(x), 2), y))
		}},
		{"scale by floor", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX512}, "vscalef", "vrndscale", func(b *loop.Builder, x, _, z loop.Value) loop.Value {
			k := b.Mul(b.Cvt(b.Type(x), b.Rem(b.Index(0), b.Int(loop.I64, 100))), b.Float(b.Type(x), -0.3))
			return b.Add(b.ScaleB(b.Float(b.Type(x), 1.25), b.Floor(k)), z)
		}},
		{"bounds", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vcvttp", "vpmins", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			between := func(x loop.Value, lo, hi int64) loop.Value {
				return b.Cvt(b.Type(x), b.Max(b.Min(b.Cvt(loop.I32, x), b.Int(loop.I32, hi)), b.Int(loop.I32, lo)))
			}
			return b.Add(between(x, -128, 127), b.Add(between(y, 0, 255), between(z, -40, -3)))
		}},
		{"bounds too wide", []loop.Type{loop.F32, loop.F64}, []jit.ISA{jit.AVX2, jit.AVX512}, "vpmins", "no such", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			between := func(x loop.Value, lo, hi int64) loop.Value {
				return b.Cvt(b.Type(x), b.Max(b.Min(b.Cvt(loop.I32, x), b.Int(loop.I32, hi)), b.Int(loop.I32, lo)))
			}
			return b.Add(between(x, -128, 1<<24+1), b.Add(between(y, 10, 5), between(z, math.MinInt32, 5)))
		}},
		{"test", []loop.Type{loop.I32, loop.I64}, []jit.ISA{jit.AVX512}, "vptestm", "vpcmp", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Select(b.Ne(b.And(x, y), b.Int(b.Type(x), 0)), y, z)
		}},
		{"test for none", []loop.Type{loop.I32, loop.I64}, []jit.ISA{jit.AVX512}, "vptestnm", "vpcmp", func(b *loop.Builder, x, y, z loop.Value) loop.Value {
			return b.Select(b.Eq(b.And(x, b.Int(b.Type(x), 6)), b.Int(b.Type(x), 0)), y, z)
		}},
	} {
		for _, ty := range u.t {
			for _, mixed := range []bool{false, true} { // with the other width in the pass
				b := loop.NewBuilder(u.name, []loop.Axis{{Kind: loop.Parallel}}, 0)
				var in []int
				for range 3 {
					in = append(in, b.Buf(dtype(ty), false, loop.Unit))
				}
				out := b.Buf(dtype(ty), true, loop.Unit)
				if mixed {
					in = append(in, b.Buf(dtype(loop.I32), true, loop.Unit), b.Buf(dtype(loop.I64), true, loop.Unit))
				}
				b.Pass(func() {
					b.Store(out, u.f(b, b.Load(in[0]), b.Load(in[1]), b.Load(in[2])))
					if mixed {
						b.Store(in[3], b.Cvt(loop.I32, b.Index(0)))
						b.Store(in[4], b.Index(0))
					}
				})
				p := finish(t, b)
				for _, n := range []int{1, 16, 77} {
					random(p, r, n).fill(func(b int) uint64 { return value(r, loop.TypeOf(p.Bufs[b].DType)) }).check(t, nil)
				}
				for _, isa := range u.isa {
					list, err := Explain(p, isa)
					if err != nil {
						t.Fatal(err)
					}
					if !strings.Contains(list, u.want) || !mixed && strings.Contains(list, u.not) {
						t.Errorf("%s of %s on %s: no %s, or %s, in\n%s", u.name, ty, isa, u.want, u.not, list)
					}
				}
			}
		}
	}
}

// TestFusedNext has a loop that lanes leave at different times. Operands of its next values are
// fused pairs that read loop-carried values.
func TestFusedNext(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for _, ty := range []loop.Type{loop.F32, loop.F64} {
		b := loop.NewBuilder("next", []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, out := b.Buf(dtype(ty), false, loop.Unit), b.Buf(dtype(ty), true, loop.Unit)
		b.Pass(func() {
			v := b.Load(x)
			w := b.While([]loop.Value{v, v, b.Float(ty, -9)}, func(w []loop.Value) loop.Value {
				return b.And(b.Lt(w[2], b.Abs(v)), b.Lt(w[2], b.Float(ty, 40)))
			}, func(w []loop.Value) []loop.Value {
				return []loop.Value{b.Fma(b.Neg(w[1]), v, w[0]), b.ScaleB(b.Float(ty, 1.5), b.Floor(w[2])), b.Add(w[2], b.Float(ty, 0.7))}
			})
			b.Store(out, b.Add(b.Add(w[0], w[1]), w[2]))
		})
		p := finish(t, b)
		for _, n := range []int{1, 16, 77} {
			random(p, r, n).fill(func(b int) uint64 { return value(r, ty) }).check(t, nil)
		}
	}
}

// TestSchedule demands that a long block is reordered so that dependency chains interleave, and that
// its stores stay behind its loads.
func TestSchedule(t *testing.T) {
	b := loop.NewBuilder("chains", []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, out := b.Buf(dtype(loop.F32), false, loop.Unit), b.Buf(dtype(loop.F32), true, loop.Unit)
	var first, second []loop.Value
	b.Pass(func() {
		v := b.Load(x)
		chain := func() (all []loop.Value) {
			y := v
			for i := range longCode {
				y = b.Add(b.Mul(y, v), b.Float(loop.F32, float64(i)))
				all = append(all, y)
			}
			return all
		}
		first = chain()
		v = b.Load(x)
		second = chain()
		b.Store(out, b.Add(first[longCode-1], second[longCode-1]))
	})
	p := finish(t, b)
	c := new(compiler)
	c.reset(p, 4, jit.AVX512)
	body := p.Region(&p.Ins[p.Body[0]]).Body
	order, _ := c.schedule(body)
	at := map[loop.Value]int{}
	for i, v := range order {
		at[v] = i
	}
	if len(at) != len(body) || at[body[len(body)-1]] != len(body)-1 {
		t.Errorf("%d of %d instructions, the store at %d", len(at), len(body), at[body[len(body)-1]])
	}
	for _, v := range order {
		in := &p.Ins[v]
		for _, o := range []loop.Value{in.A, in.B, in.C} {
			if o != loop.NoValue && at[o] > at[v] {
				t.Errorf("%s stands before its operand", in.Op)
			}
		}
	}
	for i := range first {
		if d := at[first[i]] - at[second[i]]; d < -4 || d > 4 {
			t.Errorf("links %d of the chains are %d apart", i, d)
		}
	}
}

// TestDeadCodeIsNotEmitted demands that there is no code for values that nothing reads, nor for
// values that only those read.
func TestDeadCodeIsNotEmitted(t *testing.T) {
	program := func(dead bool) *loop.Program {
		b := loop.NewBuilder("dead", []loop.Axis{{Kind: loop.Parallel}}, 0)
		in, out := b.Buf(array.Float32, false, loop.Unit), b.Buf(array.Float32, true, loop.Unit)
		b.Pass(func() {
			x := b.Load(in)
			if dead {
				y := b.Div(b.Load(in), x)
				b.Float(loop.F32, 0.25)
				b.Fma(b.Sqrt(y), x, b.Float(loop.F32, 3))
			}
			n := b.Neg(x)
			if dead {
				b.Fma(n, x, x) // which does not take the sign over: the store needs it
			}
			b.Store(out, b.Add(n, x))
		})
		return finish(t, b)
	}
	for _, isa := range isas(t) {
		a, err := Compile(program(false), isa)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Compile(program(true), isa)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a.Code, b.Code) {
			t.Errorf("%s: %d bytes of code, and %d with dead instructions", isa, len(a.Code), len(b.Code))
		}
	}
}
