//go:build amd64

package x86

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/loop/looptest"
)

// division makes quotients and remainders of the same operands: the quotient in an if
// that half of the lanes take, the remainder, and the quotient again; of a scalar or of
// an array.
func division(t testing.TB, ty loop.Type, quo, rem loop.Op, scalar bool) *loop.Program {
	b := loop.NewBuilder(fmt.Sprintf("%s %s scalar=%v", quo, ty, scalar), []loop.Axis{{Kind: loop.Parallel}}, 0)
	x, y := b.Buf(dtype(ty), false, loop.Unit), -1
	if !scalar {
		y = b.Buf(dtype(ty), false, loop.Unit)
	} else {
		b.ScalarArg(ty)
	}
	out := [3]int{}
	for i := range out {
		out[i] = b.Buf(dtype(ty), true, loop.Unit)
	}
	b.Pass(func() {
		v, w := b.Load(x), loop.NoValue
		if scalar {
			w = b.Scalar(0)
		} else {
			w = b.Load(y)
		}
		odd := b.Eq(b.And(b.Index(0), b.Int(loop.I64, 1)), b.Int(loop.I64, 1))
		z := b.If(odd, func() []loop.Value { return []loop.Value{b.Binary(quo, v, w)} }, func() []loop.Value { return []loop.Value{v} })
		b.Store(out[0], z[0])
		b.Store(out[1], b.Binary(rem, v, w))
		b.Store(out[2], b.Binary(quo, v, w))
	})
	return finish(t, b)
}

// dividend is a number that b divides, or one beside such, or any.
func dividend(r *rand.Rand, t loop.Type, b uint64) uint64 {
	a := value(r, t)
	switch r.IntN(6) {
	case 0:
		return a
	case 1: // a quotient of many bits
		a = r.Uint64() / max(b, 1) * b
	case 2:
		a = -(r.Uint64() / max(-b, 1)) * b
	default:
		a = r.Uint64() >> r.IntN(64) * b
	}
	return (a + uint64(r.IntN(3)) - 1) << (64 - 8*t.Size()) >> (64 - 8*t.Size())
}

func TestDivision(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for _, ty := range []loop.Type{loop.I32, loop.I64} {
		for _, ops := range [][2]loop.Op{{loop.OpQuo, loop.OpRem}, {loop.OpQuoU, loop.OpRemU}} {
			for _, scalar := range []bool{false, true} {
				p := division(t, ty, ops[0], ops[1], scalar)
				size := ty.Size()
				for run := range 200 {
					n := 1 + r.IntN(40)
					if !scalar {
						n = 20000
						if run == 8 {
							break
						}
					}
					s := random(p, r, n)
					s.starts[0] = 0
					// Numbers of 64 bits that a double holds are divided in another way.
					near := func(x uint64) uint64 {
						switch {
						case ty != loop.I64 || run%2 == 0:
							return x
						case ops[0] == loop.OpQuo:
							return uint64(int64(x) >> 12)
						}
						return x >> 13
					}
					w := near(value(r, ty))
					if scalar {
						s.scalars[0] = w
					}
					want := make([][]byte, len(s.data))
					for b := range want {
						want[b] = make([]byte, len(s.data[b]))
					}
					for i := range n {
						if !scalar {
							w = near(value(r, ty))
							setWord(s.data[1], i, size, w)
						}
						v := near(dividend(r, ty, w))
						setWord(s.data[0], i, size, v)
						q, m := looptest.Eval(ops[0], 0, ty, ty, v, w, 0), looptest.Eval(ops[1], 0, ty, ty, v, w, 0)
						out := want[len(want)-3:]
						if setWord(out[0], i, size, v); i&1 == 1 {
							setWord(out[0], i, size, q)
						}
						setWord(out[1], i, size, m)
						setWord(out[2], i, size, q)
					}
					for b := range len(want) - 3 {
						copy(want[b], s.data[b])
					}
					s.check(t, want)
				}
			}
		}
	}
}

// TestDivisions demands that a remainder reuses the quotient of the same operands, and that the
// factors of a scalar divisor are computed once a row.
func TestDivisions(t *testing.T) {
	for _, ty := range []loop.Type{loop.I32, loop.I64} {
		for _, scalar := range []bool{false, true} {
			b := loop.NewBuilder("division", []loop.Axis{{Kind: loop.Parallel}}, 0)
			x, y := b.Buf(dtype(ty), false, loop.Unit), b.Buf(dtype(ty), false, loop.Unit)
			out, s := b.Buf(dtype(ty), true, loop.Unit), b.ScalarArg(ty)
			b.Pass(func() {
				v, w := b.Load(x), b.Scalar(s)
				if !scalar {
					w = b.Load(y)
				}
				b.Store(out, b.Xor(b.Rem(v, w), b.Quo(v, w)))
			})
			p := finish(t, b)
			for _, isa := range []jit.ISA{jit.AVX2, jit.AVX512} {
				text, err := Explain(p, isa)
				if err != nil {
					t.Fatal(err)
				}
				once, divisions, loads := strings.Count(text, "\tdiv "), strings.Count(text, "vdivpd"), strings.Count(text, "[rcx+")
				want := loads * (8 / ty.Size()) // a register each of 8-byte lanes
				if ty == loop.I64 && isa == jit.AVX2 {
					want *= 2 // near and far
				}
				if scalar && (once != 1 || divisions != 0) || !scalar && (once != 0 || divisions != want) {
					t.Errorf("%s, %s, scalar %v: %d divisions of scalars, %d of vectors", isa, ty, scalar, once, divisions)
				}
			}
		}
	}
}

// TestConversionsBelow51Bits converts 64-bit integers where all numbers of a step are below 2^51,
// and where one is not.
func TestConversionsBelow51Bits(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 44))
	for _, o := range operations() {
		if o.op != loop.OpCvt || o.t != loop.I64 && o.args[0] != loop.I64 || !o.t.Float() && !o.args[0].Float() {
			continue
		}
		edges := []float64{0, 0.5, -0.5, -1, 1, 1<<51 - 1, 1<<51 - 0.5, 1 << 51, 1<<51 + 1, -1 << 51, -1<<51 + 0.5, 1<<50 + 0.5, 1<<24 + 1, 1 << 52}
		for _, p := range []*loop.Program{o.program(t, 0, false), o.mixed(t)} {
			in, far := 0, 0
			if p.Bufs[0].Write {
				in = 1
			}
			for _, n := range []int{1, 7, 16, 33, 3000} {
				for range 20 {
					s := random(p, r, n).fill(func(b int) uint64 {
						x := float64(int64(r.Uint64())>>12) / float64(int64(1)<<r.IntN(30))
						if far = r.IntN(200); far == 0 {
							return value(r, o.args[0])
						} else if far < 20 {
							x = edges[r.IntN(len(edges))]
						}
						switch o.args[0] {
						case loop.F32:
							return f32(float32(x))
						case loop.F64:
							return f64(x)
						}
						return uint64(int64(x))
					})
					want := append([][]byte(nil), s.data...)
					if in == 0 {
						want = o.wanted(s)
					} else {
						want[0] = make([]byte, len(s.data[0]))
						w := o.args[0].Size()
						for i := range n {
							setWord(want[0], i, o.t.Size(), o.eval([3]uint64{word(s.data[1][i*w:], w)}))
						}
					}
					s.check(t, want)
				}
			}
		}
	}
}

// TestNarrowDivision divides by uniform numbers, in some lanes and in all, and compares with plain
// Go: every byte by every byte, and every number of 2 bytes by several hundred.
func TestNarrowDivision(t *testing.T) {
	divisors := []uint64{0, 1, 2, 3, 5, 6, 7, 10, 100, 255, 257, 641, 1000, 10000, 21845, 43690, 0xFFFF}
	for i := range 16 {
		divisors = append(divisors, 1<<i, 1<<i+1, 1<<i-1, ^uint64(0)<<i, ^uint64(0)<<i+1, ^uint64(0)<<i-1)
	}
	for r := rand.New(rand.NewPCG(47, 48)); len(divisors) < 400; {
		divisors = append(divisors, r.Uint64()>>r.IntN(64))
	}
	for _, d := range []array.DType{array.Int8, array.Uint8, array.Int16, array.Uint16} {
		ty, by, n := loop.TypeOf(d), divisors, 1<<(8*d.Size())
		if n == 256 {
			for by = nil; len(by) < n; {
				by = append(by, uint64(len(by)))
			}
		}
		quo, rem := loop.OpQuo, loop.OpRem
		if d.Unsigned() {
			quo, rem = loop.OpQuoU, loop.OpRemU
		}
		b := loop.NewBuilder(d.String(), []loop.Axis{{Kind: loop.Parallel}}, 0)
		x, some, q, r := b.Buf(d, false, loop.Unit), b.Buf(d, true, loop.Unit), b.Buf(d, true, loop.Unit), b.Buf(d, true, loop.Unit)
		y := b.ScalarArg(ty)
		b.Pass(func() {
			v, w := b.Load(x), b.Scalar(y)
			odd := b.Ne(b.And(v, b.Int(ty, 1)), b.Int(ty, 0))
			z := b.If(odd, func() []loop.Value { return []loop.Value{b.Binary(quo, v, w)} }, func() []loop.Value { return []loop.Value{v} })
			b.Store(some, z[0])
			b.Store(q, b.Binary(quo, v, w))
			b.Store(r, b.Binary(rem, v, w))
		})
		p := finish(t, b)
		if es := laneBytes(p); es != d.Size() {
			t.Fatalf("%s: lanes of %d bytes", d, es)
		}
		var bytes [4][]byte
		for i := range bytes {
			bytes[i] = make([]byte, n*d.Size())
		}
		for i := range n {
			setWord(bytes[0], i, d.Size(), uint64(i))
		}
		for _, isa := range isas(t) {
			run, f := framed(t, p, isa, []int{n}, at(bytes[0]), at(bytes[1]), at(bytes[2]), at(bytes[3]))
			for _, m := range by {
				f.Word[p.ScalarWord(0)] = m & uint64(n-1)
				run()
				for i := range n {
					var wantQ, wantR int
					switch a, m := i, int(m)&(n-1); {
					case m == 0:
					case !d.Unsigned():
						a, m := int(looptest.Int(ty, uint64(a))), int(looptest.Int(ty, uint64(m)))
						wantQ, wantR = a/m, a%m
					default:
						wantQ, wantR = a/m, a%m
					}
					for j, want := range [...]int{wantQ, wantQ, wantR} {
						if j == 0 && i&1 == 0 {
							want = i
						}
						if got := word(bytes[j+1][i*d.Size():], d.Size()); got != looptest.Cut(ty, int64(want)) {
							t.Fatalf("%s on %s: %#x by %#x: result %d is %#x, want %d", d, isa, i, m, j, got, want)
						}
					}
				}
			}
		}
	}
}
