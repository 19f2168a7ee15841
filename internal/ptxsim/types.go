package ptxsim

import (
	"fmt"
	"math"
	"strconv"
)

// A typ is a type of PTX: a class and a width in bits.
type typ struct {
	class byte // p predicate, b bits, u unsigned, s signed, f float, g bfloat16
	bits  int
}

var (
	pred = typ{'p', 1}
	b16  = typ{'b', 16}
	b32  = typ{'b', 32}
	b64  = typ{'b', 64}
	u32  = typ{'u', 32}
	u64  = typ{'u', 64}
	s32  = typ{'s', 32}
	f16  = typ{'f', 16}
	f32  = typ{'f', 32}
	f64  = typ{'f', 64}
	bf16 = typ{'g', 16}
)

var typesByName = map[string]typ{
	"pred": pred, "b8": {'b', 8}, "b16": b16, "b32": b32, "b64": b64,
	"u8": {'u', 8}, "u16": {'u', 16}, "u32": u32, "u64": u64,
	"s8": {'s', 8}, "s16": {'s', 16}, "s32": s32, "s64": {'s', 64},
	"f16": f16, "f32": f32, "f64": f64, "bf16": bf16,
}

func (t typ) String() string {
	switch t.class {
	case 'p':
		return ".pred"
	case 'g':
		return ".bf16"
	}
	return fmt.Sprintf(".%c%d", t.class, t.bits)
}

func (t typ) integer() bool { return t.class == 'u' || t.class == 's' }
func (t typ) float() bool   { return t.class == 'f' || t.class == 'g' }
func (t typ) bytes() int    { return t.bits / 8 }

// ones returns a value of the type with all bits set.
func (t typ) ones() uint64 { return 1<<(t.bits-1)<<1 - 1 }

// sign extends the low bits of x by their sign.
func (t typ) sign(x uint64) int64 { return int64(x<<(64-t.bits)) >> (64 - t.bits) }

// fits reports whether a register of type r may be an operand of an instruction of type t, both of
// one width: integers by signedness are interchangeable, bits agree with all, floats with floats
// and bits. A bfloat16 lies in a register of 16 bits.
func (t typ) fits(r typ) bool {
	if t.class == 'p' || r.class == 'p' {
		return t == r
	}
	if t.bits != r.bits {
		return false
	}
	if t.class == 'b' || r.class == 'b' {
		return true
	}
	return t.integer() == r.integer() && (t.class == 'g') == (r.class == 'g')
}

// fitsWide is fits for instructions that take registers wider than their type: ld, st and cvt.
// A float instruction needs its own width.
func (t typ) fitsWide(r typ) bool {
	if t.float() || r.class == 'p' || r.bits == t.bits {
		return t.fits(r)
	}
	if r.bits < t.bits {
		return false
	}
	return !r.float() || t.class == 'b'
}

// constant returns the bits of a constant as an operand of type t.
func constant(n token, negative bool, t typ) uint64 {
	if n.kind == tokFloat {
		return floatConstant(n, negative, t)
	}
	if t.float() || t.class == 'p' {
		fail(n.line, "the constant %s is an integer, not %s", n.text, t)
	}
	x := n.bits
	if negative {
		x = -x
	}
	ok := x <= t.ones()
	if negative {
		ok = n.bits <= 1<<(t.bits-1)
	}
	if !ok {
		fail(n.line, "the constant %s does not fit in %s", n.text, t)
	}
	return x & t.ones()
}

func floatConstant(n token, negative bool, t typ) uint64 {
	if t.integer() || t.class == 'p' || t.bits < 32 {
		fail(n.line, "the constant %s is a float, not %s", n.text, t)
	}
	decimal := n.text[1] != 'd' && n.text[1] != 'D' && !n.single
	var x uint64
	switch {
	case t.bits == 32 && n.single, t.bits == 64 && !n.single:
		x = n.bits
	case t.bits == 32 && decimal:
		v, err := strconv.ParseFloat(n.text, 32)
		if err != nil {
			fail(n.line, "the constant %s does not fit in %s", n.text, t)
		}
		x = uint64(math.Float32bits(float32(v)))
	default:
		fail(n.line, "the constant %s is not %s", n.text, t)
	}
	if negative {
		x ^= 1 << (t.bits - 1)
	}
	return x
}
