package ptxsim

import (
	"math"

	"weft/internal/fma"
)

// The NaN that arithmetic gives. The manual promises the one of float32; that of float64 is what
// GPUs give for invalid operations.
const (
	nan32 = 0x7fffffff
	nan64 = 0xfff8000000000000
)

func isFloatMod(m string) bool { return m == "f32" || m == "f64" || m == "f16" || m == "bf16" }

// isFloat reports whether an instruction computes with floats.
func (x *inst) isFloat() bool {
	return len(x.mods) > 0 && isFloatMod(x.mods[len(x.mods)-1])
}

func to32(a uint64) float32 { return math.Float32frombits(uint32(a)) }
func to64(a uint64) float64 { return math.Float64frombits(a) }

func from32(x float32) uint64 {
	if x != x {
		return nan32
	}
	return uint64(math.Float32bits(x))
}

func from64(x float64) uint64 {
	if x != x {
		return nan64
	}
	return math.Float64bits(x)
}

// roundNearest takes .rn, which kernels of weft must write: without it a driver may contract a
// product and a sum. Other roundings, .ftz and .approx are refused.
func (x *inst) roundNearest() typ {
	if x.take("rn") == "" {
		fail(x.line, "%s of floats needs .rn", x.name)
	}
	return x.takeType("f32", "f64")
}

func (b *builder) floatArith(x *inst) step {
	t := x.roundNearest()
	f := map[string][2]eval{
		"add": {func(a, b, _ uint64) uint64 { return from32(to32(a) + to32(b)) },
			func(a, b, _ uint64) uint64 { return from64(to64(a) + to64(b)) }},
		"sub": {func(a, b, _ uint64) uint64 { return from32(to32(a) - to32(b)) },
			func(a, b, _ uint64) uint64 { return from64(to64(a) - to64(b)) }},
		"mul": {func(a, b, _ uint64) uint64 { return from32(to32(a) * to32(b)) },
			func(a, b, _ uint64) uint64 { return from64(to64(a) * to64(b)) }},
		"div": {func(a, b, _ uint64) uint64 { return from32(to32(a) / to32(b)) },
			func(a, b, _ uint64) uint64 { return from64(to64(a) / to64(b)) }},
	}[x.name]
	return b.binary(x, t, f[t.bits/64])
}

func compileDiv(b *builder, x *inst) step {
	if x.isFloat() {
		return b.floatArith(x)
	}
	return b.divide(x, false)
}

func compileFma(b *builder, x *inst) step {
	t := x.roundNearest()
	if t == f32 {
		return b.ternary(x, t, fma32)
	}
	return b.ternary(x, t, func(a, b, c uint64) uint64 { return from64(math.FMA(to64(a), to64(b), to64(c))) })
}

func fma32(a, b, c uint64) uint64 {
	s := float64(to32(a))*float64(to32(b)) + float64(to32(c))
	if fma.Hard32(s) {
		return from32(fma.Float32(to32(a), to32(b), to32(c)))
	}
	return from32(float32(s))
}

// compileSqrt compiles sqrt and rcp. A float64 root rounded to float32 is the float32 root.
func compileSqrt(b *builder, x *inst) step {
	t := x.roundNearest()
	switch {
	case x.name == "rcp" && t == f32:
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return from32(1 / to32(a)) })
	case x.name == "rcp":
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return from64(1 / to64(a)) })
	case t == f32:
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return from32(float32(math.Sqrt(float64(to32(a))))) })
	}
	return b.unary(x, t, func(a, _, _ uint64) uint64 { return from64(math.Sqrt(to64(a))) })
}

// floatSign compiles neg and abs, which change the sign of NaN too.
func (b *builder) floatSign(x *inst) step {
	t := x.takeType("f32", "f64")
	sign := uint64(1) << (t.bits - 1)
	if x.name == "neg" {
		return b.unary(x, t, func(a, _, _ uint64) uint64 { return a ^ sign })
	}
	return b.unary(x, t, func(a, _, _ uint64) uint64 { return a &^ sign })
}

// compileCopysign gives b the sign of a.
func compileCopysign(b *builder, x *inst) step {
	t := x.takeType("f32", "f64")
	sign := uint64(1) << (t.bits - 1)
	return b.binary(x, t, func(a, b, _ uint64) uint64 { return b&^sign | a&sign })
}

// floatMin compiles min and max: of a number and NaN the number, or NaN with .NaN; -0 is below +0.
func (b *builder) floatMin(x *inst) step {
	spread := x.take("NaN") != ""
	t := x.takeType("f32", "f64")
	if spread && (t != f32 || b.m.target < 80) {
		fail(x.line, "%s.NaN%s", x.name, t)
	}
	value, nan := func(a uint64) float64 { return float64(to32(a)) }, uint64(nan32)
	if t == f64 {
		value, nan = to64, nan64
	}
	less := x.name == "min"
	return b.binary(x, t, func(a, b, _ uint64) uint64 {
		u, v := value(a), value(b)
		switch {
		case u != u && v != v || spread && (u != u || v != v):
			return nan
		case u != u:
			return b
		case v != v:
			return a
		case u == v && (math.Signbit(u) == less):
			return a
		case u == v:
			return b
		case (u < v) == less:
			return a
		}
		return b
	})
}
