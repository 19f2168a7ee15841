package ptxsim

import (
	"math"
	"math/bits"
)

var convertedTypes = []string{"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "f16", "bf16", "f32", "f64"}

// compileCvt converts between types. The source register may be wider than its type, and is cut;
// a wider destination is filled with the sign of signed integers, else with zeros.
func compileCvt(b *builder, x *inst) step {
	mode := x.take("rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi")
	sat := x.take("sat") != ""
	td := x.takeType(convertedTypes...)
	ts := x.takeType(convertedTypes...)
	x.count(2)
	b.checkCvt(x, mode, sat, td, ts)
	src := x.ops[1]
	var a int
	if src.kind == opSpecial {
		if !ts.fitsWide(src.typ) {
			fail(x.line, "%s is of type %s", src.name, src.typ)
		}
		a = src.reg
	} else {
		a = b.srcOf(x, src, ts, ts.fitsWide)
	}
	d := b.dstOf(x, x.ops[0], td, td.fitsWide)
	f := converter(mode, sat, td, ts)
	ones := ts.ones()
	if wide := x.ops[0].typ.ones(); td.class == 's' && wide != td.ones() {
		return lanes(d, a, 0, 0, func(v, _, _ uint64) uint64 { return uint64(td.sign(f(v&ones))) & wide })
	}
	return lanes(d, a, 0, 0, func(v, _, _ uint64) uint64 { return f(v & ones) })
}

// checkCvt refuses roundings where none is due, and asks for one where it is.
func (b *builder) checkCvt(x *inst, mode string, sat bool, td, ts typ) {
	toInteger := len(mode) == 3
	var want string
	switch {
	case td.integer() && ts.float():
		want = "integer"
	case td.float() && ts.integer():
		want = "float"
	case td.float() && ts.float() && td == ts:
		want = "integer"
		if td.bits == 16 || mode == "" {
			want = ""
		}
	case td.float() && ts.float() && narrower(td, ts):
		want = "float"
	}
	ok := want == "" && mode == "" || want == "integer" && toInteger || want == "float" && mode != "" && !toInteger
	if !ok {
		fail(x.line, "the rounding %q of cvt%s%s", mode, td, ts)
	}
	if sat && td.float() {
		fail(x.line, "cvt.sat of floats")
	}
	if td == bf16 || ts == bf16 {
		plainPair := td == bf16 && ts == f32
		if !plainPair && b.m.target < 90 || plainPair && b.m.target < 80 {
			fail(x.line, "cvt%s%s needs a higher target", td, ts)
		}
	}
}

// narrower reports whether values of s may not fit in d exactly.
func narrower(d, s typ) bool {
	return d.bits < s.bits || d.bits == 16 && s.bits == 16 && d != s
}

// A floatFormat is a format of floats: fraction bits, and the bias of the exponent.
type floatFormat struct{ fraction, bias, exponent int }

func formatOf(t typ) floatFormat {
	switch t {
	case f16:
		return floatFormat{10, 15, 5}
	case bf16:
		return floatFormat{7, 127, 8}
	case f32:
		return floatFormat{23, 127, 8}
	}
	return floatFormat{52, 1023, 11}
}

// value returns a float as a float64, which holds each exactly.
func value(t typ, v uint64) float64 {
	switch t {
	case f64:
		return to64(v)
	case f32:
		return float64(to32(v))
	case bf16:
		return float64(to32(v << 16))
	}
	e, f := int(v>>10&31), float64(v&1023)
	x := math.Ldexp(f, -24)
	if e == 31 {
		x = math.Inf(1)
		if f != 0 {
			x = math.NaN()
		}
	} else if e > 0 {
		x = math.Ldexp(1024+f, e-25)
	}
	if v>>15 != 0 {
		x = -x
	}
	return x
}

// nanOf returns the NaN of a format that conversions give.
func nanOf(t typ) uint64 {
	switch t {
	case f16, bf16:
		return 0x7fff
	case f32:
		return nan32
	}
	return nan64
}

// converter returns the conversion of a value.
func converter(mode string, sat bool, td, ts typ) func(uint64) uint64 {
	ones := td.ones()
	switch {
	case td.integer() && ts.integer():
		if sat {
			return func(v uint64) uint64 { return clampInteger(td, ts, v) }
		}
		if ts.class == 's' {
			return func(v uint64) uint64 { return uint64(ts.sign(v)) & ones }
		}
		return func(v uint64) uint64 { return v & ones }
	case td.integer():
		return func(v uint64) uint64 { return floatToInteger(mode, td, ts, value(ts, v)) }
	case ts.integer():
		return func(v uint64) uint64 {
			negative := ts.class == 's' && ts.sign(v) < 0
			if negative {
				v = -uint64(ts.sign(v))
			}
			return roundFloat(mode, td, negative, v, 0)
		}
	case td == ts && mode == "":
		return func(v uint64) uint64 { return v }
	case td == ts:
		return func(v uint64) uint64 {
			x := roundIntegral(mode, value(ts, v))
			if td == f32 {
				return from32(float32(x))
			}
			return from64(x)
		}
	case td == f32 && ts == f64 && mode == "rn":
		return func(v uint64) uint64 { return from32(float32(to64(v))) }
	case td == f64:
		return func(v uint64) uint64 { return from64(value(ts, v)) }
	}
	return func(v uint64) uint64 {
		x := value(ts, v)
		sign := uint64(0)
		if math.Signbit(x) {
			sign = 1 << (td.bits - 1)
		}
		switch {
		case x != x:
			return nanOf(td)
		case math.IsInf(x, 0):
			f := formatOf(td)
			return sign | (1<<f.exponent-1)<<f.fraction
		case x == 0:
			return sign
		}
		frac, exp := math.Frexp(math.Abs(x))
		return roundFloat(mode, td, x < 0, uint64(math.Ldexp(frac, 53)), exp-53)
	}
}

func clampInteger(td, ts typ, v uint64) uint64 {
	low, high := int64(0), td.ones()
	if td.class == 's' {
		low, high = -1<<(td.bits-1), td.ones()>>1
	}
	if ts.class == 's' && ts.sign(v) < 0 {
		return uint64(max(ts.sign(v), low)) & td.ones()
	}
	return min(v, high)
}

// roundFloat returns the float nearest to the integer n times 2^exp, in a direction.
func roundFloat(mode string, t typ, negative bool, n uint64, exp int) uint64 {
	f := formatOf(t)
	sign := uint64(0)
	if negative {
		sign = 1 << (t.bits - 1)
	}
	if n == 0 {
		return sign
	}
	shift := bits.LeadingZeros64(n)
	n, exp = n<<shift, exp-shift // n in [2^63, 2^64)
	e := exp + 63 + f.bias       // the exponent field, if it is normal
	drop := 63 - f.fraction
	if e < 1 {
		drop += 1 - e
		e = 1
	}
	kept, rest, half := uint64(0), n, uint64(0)
	if drop < 64 {
		kept, rest, half = n>>drop, n&(1<<drop-1), 1<<(drop-1)
	} else if drop == 64 {
		half = 1 << 63
	} else {
		rest, half = 1, 2 // less than half
	}
	up := false
	switch mode {
	case "rn":
		up = rest > half || rest == half && kept&1 != 0
	case "rp":
		up = rest != 0 && !negative
	case "rm":
		up = rest != 0 && negative
	}
	if up {
		kept++
	}
	// kept has the leading one of a normal number, which adds 1 to the exponent field.
	r := uint64(e-1)<<f.fraction + kept
	if infinite := uint64(1<<f.exponent-1) << f.fraction; r >= infinite {
		r = infinite
		if mode == "rz" || mode == "rp" && negative || mode == "rm" && !negative {
			r--
		}
	}
	return sign | r
}

func roundIntegral(mode string, x float64) float64 {
	switch mode {
	case "rni":
		return math.RoundToEven(x)
	case "rzi":
		return math.Trunc(x)
	case "rmi":
		return math.Floor(x)
	}
	return math.Ceil(x)
}

// floatToInteger clamps to the range of the integer. NaN gives 0, or the top bit alone where either
// type has 64 bits.
func floatToInteger(mode string, td, ts typ, x float64) uint64 {
	if x != x {
		if ts == f64 || td.bits == 64 {
			return 1 << (td.bits - 1)
		}
		return 0
	}
	x = roundIntegral(mode, x)
	if td.class == 's' {
		limit := math.Ldexp(1, td.bits-1)
		switch {
		case x >= limit:
			return td.ones() >> 1
		case x < -limit:
			return 1 << (td.bits - 1)
		}
		return uint64(int64(x)) & td.ones()
	}
	switch {
	case x <= 0:
		return 0
	case x >= math.Ldexp(1, td.bits):
		return td.ones()
	case x >= 1<<63:
		return uint64(int64(x-1<<63)) ^ 1<<63
	}
	return uint64(int64(x))
}
