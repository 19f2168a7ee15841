package ptxsim

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// A family is an instruction and what it computes of the low bits of three words. The operands are
// %d0 to %d2, %r0 to %r2, %f0 to %f2, %g0 to %g2, %h0 to %h2; the result is register 9 of a class.
type family struct {
	ins  string
	want func(a, b, c uint64) uint64
}

// operands are the words that instructions are tested with: special values, and random ones.
func operands(n int, rnd *rand.Rand) []uint64 {
	special := []uint64{0, 1, 2, 31, 32, 33, 63, 64, 1 << 15, 1<<15 - 1, 1 << 31, 1<<31 - 1, 1<<32 - 1, 1 << 63, 1<<63 - 1, math.MaxUint64,
		0x7f800000, 0xff800000, 0x7fc00001, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x00800000, 0x7f7fffff, 0x4f000000, 0xcf000000, 0x5f000000,
		0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000001, 0x3ff0000000000000, 0xbff0000000000000, 0x0010000000000000, 0x7fefffffffffffff,
		0x41e0000000000000, 0xc1e0000000000000, 0x43e0000000000000, 0x43f0000000000000, 0x3e80000000000000, 0x47efffffe0000000, 0x47effffff0000000,
		0x3690000000000000, 0x3690000000000001, 0x36a0000000000000, 0x3fe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0x7c00, 0xfc00, 0x7e01, 0x3c00, 0x0001, 0x7bff, 0x3f00, 0x477fefff, 0x477ff000, 0x33000000, 0x33000001}
	x := make([]uint64, n)
	for i := range x {
		switch rnd.IntN(5) {
		case 0:
			x[i] = rnd.Uint64()
		case 1:
			x[i] = math.Float64bits(rnd.NormFloat64() * math.Exp(20*rnd.NormFloat64()))
		case 2:
			x[i] = uint64(math.Float32bits(float32(rnd.NormFloat64() * math.Exp(10*rnd.NormFloat64()))))
		case 3:
			x[i] = uint64(rnd.Int64N(400) - 200)
		default:
			x[i] = special[rnd.IntN(len(special))]
		}
	}
	return x
}

// run executes the instruction of a family on all operands, and compares.
func (f family) run(t *testing.T, g *gpu, x [3][]uint64) {
	t.Helper()
	n := len(x[0])
	var s strings.Builder
	s.WriteString("mov.u32 %r40, %ctaid.x; mad.lo.u32 %r40, %r40, 256, %t; mul.wide.u32 %d20, %r40, 8;\n")
	for i := range 3 {
		fmt.Fprintf(&s, "add.u64 %%d21, %%d20, %%a%d; ld.global.u64 %%d%d, [%%d21]; cvt.u32.u64 %%r%d, %%d%d; mov.b32 %%f%d, %%r%d; mov.b64 %%g%d, %%d%d; cvt.u16.u64 %%h%d, %%d%d;\n", i, i, i, i, i, i, i, i, i, i)
	}
	s.WriteString("setp.ne.u32 %p0, %r2, 0;\n" + f.ins + ";\n")
	switch {
	case strings.Contains(f.ins, "%p9"):
		s.WriteString("selp.u64 %d9, 1, 0, %p9;\n")
	case strings.Contains(f.ins, "%r9"):
		s.WriteString("cvt.u64.u32 %d9, %r9;\n")
	case strings.Contains(f.ins, "%f9"):
		s.WriteString("mov.b32 %r9, %f9; cvt.u64.u32 %d9, %r9;\n")
	case strings.Contains(f.ins, "%g9"):
		s.WriteString("mov.b64 %d9, %g9;\n")
	case strings.Contains(f.ins, "%h9"):
		s.WriteString("cvt.u64.u16 %d9, %h9;\n")
	}
	s.WriteString("add.u64 %d21, %d20, %a3; st.global.u64 [%d21], %d9;")
	out := must(g.Alloc(8 * n))
	if err := g.launch(text(4, s.String()), n/256, 256, put(g, x[0]), put(g, x[1]), put(g, x[2]), out); err != nil {
		t.Fatalf("%s: %v", f.ins, err)
	}
	for i, y := range get[uint64](g, out, n) {
		if want := f.want(x[0][i], x[1][i], x[2][i]); y != want {
			t.Fatalf("%s of %#x, %#x, %#x is %#x, not %#x", f.ins, x[0][i], x[1][i], x[2][i], y, want)
		}
	}
}

func runFamilies(t *testing.T, families []family) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(1, 2))
	var x [3][]uint64
	for i := range x {
		x[i] = operands(1024, rnd)
	}
	for _, f := range families {
		f.run(t, open(t, Options{NoRaces: true}), x)
	}
}

// in returns the low bits of x as an integer of the given type.
func in(t typ, x uint64) *big.Int {
	x &= t.ones()
	if t.class == 's' && x>>(t.bits-1) != 0 {
		return new(big.Int).Sub(new(big.Int).SetUint64(x), new(big.Int).Lsh(big.NewInt(1), uint(t.bits)))
	}
	return new(big.Int).SetUint64(x)
}

// out returns the low bits of an integer.
func out(x *big.Int, bits int) uint64 {
	return new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(bits)), big.NewInt(1))).Uint64()
}

func TestIntegerArithmetic(t *testing.T) {
	var fs []family
	for _, name := range integerTypes {
		ty := typesByName[name]
		r := map[int]string{16: "h", 32: "r", 64: "d"}[ty.bits]
		two := fmt.Sprintf(" %%%s9, %%%s0, %%%s1", r, r, r)
		bin := func(op string, f func(x, y *big.Int) *big.Int) {
			fs = append(fs, family{op + "." + name + two, func(a, b, _ uint64) uint64 { return out(f(in(ty, a), in(ty, b)), ty.bits) }})
		}
		z := func() *big.Int { return new(big.Int) }
		high := func(x, y *big.Int) *big.Int { return z().Rsh(z().Mul(x, y), uint(ty.bits)) }
		bin("add", func(x, y *big.Int) *big.Int { return z().Add(x, y) })
		bin("sub", func(x, y *big.Int) *big.Int { return z().Sub(x, y) })
		bin("mul.lo", func(x, y *big.Int) *big.Int { return z().Mul(x, y) })
		bin("mul.hi", high)
		bin("div", func(x, y *big.Int) *big.Int {
			if y.Sign() == 0 {
				return big.NewInt(-1)
			}
			return z().Quo(x, y)
		})
		bin("rem", func(x, y *big.Int) *big.Int {
			if y.Sign() == 0 {
				return big.NewInt(-1)
			}
			return z().Rem(x, y)
		})
		bin("min", func(x, y *big.Int) *big.Int {
			if x.Cmp(y) < 0 {
				return x
			}
			return y
		})
		bin("max", func(x, y *big.Int) *big.Int {
			if x.Cmp(y) > 0 {
				return x
			}
			return y
		})
		three := fmt.Sprintf("%s, %%%s2", two, r)
		fs = append(fs,
			family{"mad.lo." + name + three, func(a, b, c uint64) uint64 {
				return out(z().Add(z().Mul(in(ty, a), in(ty, b)), in(ty, c)), ty.bits)
			}},
			family{"mad.hi." + name + three, func(a, b, c uint64) uint64 {
				return out(z().Add(high(in(ty, a), in(ty, b)), in(ty, c)), ty.bits)
			}},
			family{fmt.Sprintf("shr.%s %%%s9, %%%s0, %%r1", name, r, r), func(a, b, _ uint64) uint64 {
				return out(z().Rsh(in(ty, a), uint(min(uint32(b), 64))), ty.bits)
			}})
		if ty.class == 's' {
			one := fmt.Sprintf(".%s %%%s9, %%%s0", name, r, r)
			fs = append(fs, family{"neg" + one, func(a, _, _ uint64) uint64 { return out(z().Neg(in(ty, a)), ty.bits) }},
				family{"abs" + one, func(a, _, _ uint64) uint64 { return out(z().Abs(in(ty, a)), ty.bits) }})
		}
		if ty.bits < 64 {
			w := map[int]string{16: "r", 32: "d"}[ty.bits]
			fs = append(fs, family{fmt.Sprintf("mul.wide.%s %%%s9, %%%s0, %%%s1", name, w, r, r), func(a, b, _ uint64) uint64 {
				return out(z().Mul(in(ty, a), in(ty, b)), 2*ty.bits)
			}}, family{fmt.Sprintf("mad.wide.%s %%%s9, %%%s0, %%%s1, %%%s2", name, w, r, r, w), func(a, b, c uint64) uint64 {
				return out(z().Add(z().Mul(in(ty, a), in(ty, b)), in(typ{'u', 2 * ty.bits}, c)), 2*ty.bits)
			}})
		}
		for i, cmp := range []string{"lt", "eq", "gt", "ge", "ne", "le"} {
			fs = append(fs, family{fmt.Sprintf("setp.%s.%s %%p9, %%%s0, %%%s1", cmp, name, r, r), func(a, b, _ uint64) uint64 {
				c := in(ty, a).Cmp(in(ty, b))
				if holds := c == i%3-1; holds == (i < 3) {
					return 1
				}
				return 0
			}})
		}
	}
	runFamilies(t, fs)
}

func TestBits(t *testing.T) {
	lo := func(a uint64) uint64 { return a & 0xffffffff }
	bit := func(c bool) uint64 {
		if c {
			return 1
		}
		return 0
	}
	field := func(signed bool) func(a, b, c uint64) uint64 {
		return func(a, b, c uint64) uint64 { // by shifts, where the simulator goes bit by bit
			v := int64(lo(a))
			if signed {
				v = int64(int32(a))
			}
			p, n := b&0xff, c&0xff
			v >>= min(p, 63)
			if n >= 32 || n == 0 {
				return lo(uint64(v) * bit(n > 0))
			}
			v = v << (64 - n)
			if signed {
				if p+n > 32 {
					return lo(uint64(v >> (64 - n)))
				}
				return lo(uint64(v >> (64 - n)))
			}
			return lo(uint64(v) >> (64 - n))
		}
	}
	runFamilies(t, []family{
		{"and.b32 %r9, %r0, %r1", func(a, b, _ uint64) uint64 { return lo(a & b) }},
		{"or.b64 %d9, %d0, %d1", func(a, b, _ uint64) uint64 { return a | b }},
		{"xor.b16 %h9, %h0, %h1", func(a, b, _ uint64) uint64 { return (a ^ b) & 0xffff }},
		{"not.b32 %r9, %r0", func(a, _, _ uint64) uint64 { return lo(^a) }},
		{"cnot.b32 %r9, %r0", func(a, _, _ uint64) uint64 { return bit(lo(a) == 0) }},
		{"shl.b32 %r9, %r0, %r1", func(a, b, _ uint64) uint64 { return uint64(uint32(a) << uint32(b)) }},
		{"shl.b64 %d9, %d0, %r1", func(a, b, _ uint64) uint64 { return a << uint32(b) }},
		{"shf.l.wrap.b32 %r9, %r0, %r1, %r2", func(a, b, c uint64) uint64 { return (b<<32 | lo(a)) << (c & 31) >> 32 }},
		{"shf.r.clamp.b32 %r9, %r0, %r1, %r2", func(a, b, c uint64) uint64 { return lo((b<<32 | lo(a)) >> min(uint32(c), 32)) }},
		{"brev.b32 %r9, %r0", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
		{"brev.b64 %d9, %d0", func(a, _, _ uint64) uint64 { return bits.Reverse64(a) }},
		{"clz.b32 %r9, %r0", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
		{"clz.b64 %r9, %d0", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
		{"popc.b64 %r9, %d0", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
		{"bfe.u32 %r9, %r0, %r1, %r2", field(false)},
		{"bfe.s32 %r9, %r0, %r1, 7", func(a, b, _ uint64) uint64 { return field(true)(a, b, 7) }},
		{"bfi.b32 %r9, %r0, %r1, 5, 9", func(a, b, _ uint64) uint64 { return lo(b)&^(511<<5) | a&511<<5 }},
		{"prmt.b32 %r9, %r0, %r1, 0x4f10", func(a, b, _ uint64) uint64 {
			return a&0xffff | uint64(uint8(int8(b>>24)>>7))<<16 | b&0xff<<24
		}},
		{"lop3.b32 %r9, %r0, %r1, %r2, 0xe8", func(a, b, c uint64) uint64 { return lo(a&b | a&c | b&c) }},
		{"selp.b32 %r9, %r0, %r1, %p0", func(a, b, c uint64) uint64 {
			if lo(c) != 0 {
				return lo(a)
			}
			return lo(b)
		}},
		{"slct.b32.s32 %r9, %r0, %r1, %r2", func(a, b, c uint64) uint64 {
			if int32(c) >= 0 {
				return lo(a)
			}
			return lo(b)
		}},
		{"set.lt.u32.s32 %r9, %r0, %r1", func(a, b, _ uint64) uint64 { return bit(int32(a) < int32(b)) * 0xffffffff }},
		{"setp.lt.and.s32 %p9|%p8, %r0, %r1, %p0", func(a, b, c uint64) uint64 { return bit(int32(a) < int32(b) && lo(c) != 0) }},
		{"setp.lt.and.s32 %p8|%p9, %r0, %r1, %p0", func(a, b, c uint64) uint64 { return bit(int32(a) >= int32(b) && lo(c) != 0) }},
		{"setp.eq.xor.b64 %p9, %d0, %d1, !%p0", func(a, b, c uint64) uint64 { return bit((a == b) != (lo(c) == 0)) }},
		{"mov.b64 %d9, {%r0, %r1}", func(a, b, _ uint64) uint64 { return lo(a) | b<<32 }},
		{"mov.b32 {_, %h9}, %r0", func(a, _, _ uint64) uint64 { return lo(a) >> 16 }},
		{"mov.b64 %d9, {%h0, %h1, %h2, 7}", func(a, b, c uint64) uint64 { return a&0xffff | b&0xffff<<16 | c&0xffff<<32 | 7<<48 }},
	})
}

// exact returns x, which is finite, without rounding.
func exact(x float64) *big.Float { return new(big.Float).SetPrec(5000).SetFloat64(x) }

func TestFloatArithmetic(t *testing.T) {
	var fs []family
	for _, ty := range []typ{f32, f64} {
		name, r := strings.TrimPrefix(ty.String(), "."), map[typ]string{f32: "f", f64: "g"}[ty]
		to, nan := func(a uint64) float64 { return float64(math.Float32frombits(uint32(a))) }, uint64(0x7fffffff)
		round := func(z *big.Float) uint64 { v, _ := z.Float32(); return uint64(math.Float32bits(v)) }
		if ty == f64 {
			to, nan = math.Float64frombits, 0xfff8000000000000
			round = func(z *big.Float) uint64 { v, _ := z.Float64(); return math.Float64bits(v) }
		}
		// result rounds the exact value of finite operands whose result is not 0, and asks Go's
		// float64 for the sign of zeros, infinities and NaN.
		result := func(plain float64, z func() *big.Float, xs ...float64) uint64 {
			finite := true
			for _, x := range xs {
				finite = finite && !math.IsInf(x, 0) && x == x
			}
			if finite {
				if v := z(); v != nil && v.Sign() != 0 {
					return round(v)
				}
			}
			if plain != plain {
				return nan
			}
			if ty == f32 {
				return uint64(math.Float32bits(float32(plain)))
			}
			return math.Float64bits(plain)
		}
		add := func(op, form string, f func(x, y, c float64) uint64) {
			fs = append(fs, family{strings.ReplaceAll(op+"."+name+form, "R", r), func(a, b, c uint64) uint64 { return f(to(a), to(b), to(c)) }})
		}
		two := " %R9, %R0, %R1"
		z := func() *big.Float { return new(big.Float).SetPrec(5000) }
		add("add.rn", two, func(x, y, _ float64) uint64 {
			return result(x+y, func() *big.Float { return z().Add(exact(x), exact(y)) }, x, y)
		})
		add("sub.rn", two, func(x, y, _ float64) uint64 {
			return result(x-y, func() *big.Float { return z().Sub(exact(x), exact(y)) }, x, y)
		})
		add("mul.rn", two, func(x, y, _ float64) uint64 {
			return result(x*y, func() *big.Float { return z().Mul(exact(x), exact(y)) }, x, y)
		})
		add("div.rn", two, func(x, y, _ float64) uint64 {
			return result(x/y, func() *big.Float {
				if y == 0 {
					return nil
				}
				return z().Quo(exact(x), exact(y))
			}, x, y)
		})
		add("fma.rn", two+", %R2", func(x, y, c float64) uint64 {
			return result(x*y+c, func() *big.Float { return z().Add(z().Mul(exact(x), exact(y)), exact(c)) }, x, y, c)
		})
		add("sqrt.rn", " %R9, %R0", func(x, _, _ float64) uint64 {
			return result(math.Sqrt(x), func() *big.Float {
				if x < 0 {
					return nil
				}
				return new(big.Float).SetPrec(300).Sqrt(exact(x).SetPrec(300))
			}, x)
		})
		less := func(x, y float64) bool {
			return x < y || x == y && math.Signbit(x) && !math.Signbit(y)
		}
		add("min", two, func(x, y, _ float64) uint64 {
			if x != x || y == y && less(y, x) {
				x = y
			}
			return result(x, func() *big.Float { return nil }, x)
		})
		for cmp, f := range map[string]func(x, y float64) bool{
			"eq": func(x, y float64) bool { return x == y }, "ne": func(x, y float64) bool { return x < y || x > y },
			"lt": func(x, y float64) bool { return x < y }, "ge": func(x, y float64) bool { return x >= y },
			"neu": func(x, y float64) bool { return x != y }, "ltu": func(x, y float64) bool { return !(x >= y) },
			"gtu": func(x, y float64) bool { return !(x <= y) }, "equ": func(x, y float64) bool { return !(x < y || x > y) },
			"num": func(x, y float64) bool { return x == x && y == y }, "nan": func(x, y float64) bool { return x != x || y != y },
		} {
			add("setp."+cmp, " %p9, %R0, %R1", func(x, y, _ float64) uint64 {
				if f(x, y) {
					return 1
				}
				return 0
			})
		}
	}
	runFamilies(t, append(fs,
		family{"neg.f32 %f9, %f0", func(a, _, _ uint64) uint64 { return a&0xffffffff ^ 1<<31 }},
		family{"abs.f64 %g9, %g0", func(a, _, _ uint64) uint64 { return a << 1 >> 1 }},
		family{"copysign.f32 %f9, %f0, %f1", func(a, b, _ uint64) uint64 { return b&0x7fffffff | a&(1<<31) }}))
}

// (1+2^-12)^2 + 2^-80 lies just above the middle of two float32. A sum in float64 loses the 2^-80.
func TestFmaRoundsOnce(t *testing.T) {
	a, c := uint64(math.Float32bits(1+0x1p-12)), uint64(math.Float32bits(0x1p-80))
	family{"fma.rn.f32 %f9, %f0, %f1, %f2", func(_, _, _ uint64) uint64 {
		return uint64(math.Float32bits(1 + 0x1p-11 + 0x1p-23))
	}}.run(t, open(t, Options{}), [3][]uint64{repeated(a), repeated(a), repeated(c)})
}

func repeated(x uint64) []uint64 {
	s := make([]uint64, 256)
	for i := range s {
		s[i] = x
	}
	return s
}
