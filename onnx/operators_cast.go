package onnx

import (
	"math"
	"strconv"
	"strings"

	"weft"
	"weft/internal/core"
	"weft/internal/raw"
)

// Conversions between element types.
var castOperators = []operator{
	{name: "BitCast", run: bitCast},
	{name: "Cast", run: func(c *call) []Value {
		c.need("to")
		return c.cast(ElementType(c.attrInt("to", 0)))
	}},
	{name: "CastLike", run: func(c *call) []Value { return c.cast(c.value(1).elem) }},
}

// cast converts input 0.
func (c *call) cast(to ElementType) []Value {
	saturate, mode := c.attrBool("saturate", true), c.attrString("round_mode", "up")
	v := c.value(0)
	switch {
	case !to.known() || v.kind != TensorKind && v.kind != StringsKind:
		c.fail("%v cannot be converted to %v", v, to)
	case v.kind == StringsKind && to == String:
		return []Value{v}
	case v.kind == StringsKind:
		return []Value{c.encoded(c.parsed(v), to, saturate, mode)}
	case to == String:
		return []Value{c.texts(0)}
	case v.elem == to:
		return []Value{v}
	}
	return []Value{c.encoded(c.decoded(0), to, saturate, mode)}
}

// A smallFloat is a float of at most 8 bits: an optional sign, an exponent and a fraction.
type smallFloat struct {
	exponent, fraction int // bits
	bias               int
	finite             bool // the type has no infinity
	nan                int  // a code that is not a number; -1 if there is none
	negativeZero       bool
}

// smallFloats are the formats: IEEE 754's pattern with what the types leave out, and OCP's for blocks.
var smallFloats = map[ElementType]smallFloat{
	Float8E4M3FN:   {exponent: 4, fraction: 3, bias: 7, finite: true, nan: 0x7f, negativeZero: true},
	Float8E4M3FNUZ: {exponent: 4, fraction: 3, bias: 8, finite: true, nan: 0x80},
	Float8E5M2:     {exponent: 5, fraction: 2, bias: 15, nan: 0x7e, negativeZero: true},
	Float8E5M2FNUZ: {exponent: 5, fraction: 2, bias: 16, finite: true, nan: 0x80},
	Float4E2M1:     {exponent: 2, fraction: 1, bias: 1, finite: true, nan: -1, negativeZero: true},
}

// magnitude is the number of a code without its sign.
func (f smallFloat) magnitude(code int) float64 {
	exponent, fraction := code>>f.fraction, code&(1<<f.fraction-1)
	switch {
	case code == f.nan:
		return math.NaN()
	case !f.finite && exponent == 1<<f.exponent-1:
		if fraction == 0 {
			return math.Inf(1)
		}
		return math.NaN()
	case exponent == 0:
		return math.Ldexp(float64(fraction), 1-f.bias-f.fraction)
	}
	return math.Ldexp(float64(fraction+1<<f.fraction), exponent-f.bias-f.fraction)
}

// sign is the bit of the sign.
func (f smallFloat) sign() int { return 1 << (f.exponent + f.fraction) }

// largest is the code of the greatest finite number.
func (f smallFloat) largest() int {
	code := f.sign() - 1
	for m := f.magnitude(code); math.IsNaN(m) || math.IsInf(m, 0); m = f.magnitude(code) {
		code--
	}
	return code
}

// values are the numbers of all codes.
func (f smallFloat) values() *weft.Tensor {
	out := make([]float32, 2*f.sign())
	for code := range out {
		if code < f.sign() {
			out[code] = float32(f.magnitude(code))
		} else {
			out[code] = -float32(f.magnitude(code - f.sign()))
		}
		if code == f.nan {
			out[code] = float32(math.NaN())
		}
	}
	return weft.FromSlice(out)
}

// decoded is input 0 as a tensor of numbers that has arithmetic.
func (c *call) decoded(i int) *weft.Tensor {
	v, x := c.value(i), c.tensor(i)
	return decode(v.elem, x)
}

// decode makes numbers of a tensor that holds elements of a type that weft lacks. Others it returns as they are.
func decode(e ElementType, x *weft.Tensor) *weft.Tensor {
	f, ok := smallFloats[e]
	var table *weft.Tensor
	switch {
	case ok:
		table = f.values()
	case e == Float8E8M0:
		powers := make([]float32, 256)
		for i := range powers {
			powers[i] = float32(math.Ldexp(1, i-127))
		}
		powers[255] = float32(math.NaN())
		table = weft.FromSlice(powers)
	default:
		return x
	}
	return table.IndexSelect(0, x.To(weft.Int64).Reshape(x.Size())).Reshape(x.Shape()...)
}

// encoded converts numbers to an element type.
func (c *call) encoded(x *weft.Tensor, to ElementType, saturate bool, mode string) Value {
	if f, ok := smallFloats[to]; ok {
		return BitsOf(to, f.encode(x.To(weft.Float64), saturate))
	}
	switch to {
	case Float8E8M0:
		return BitsOf(to, c.encodeScale(x.To(weft.Float64), saturate, mode))
	case Uint4, Uint2:
		return BitsOf(to, x.To(weft.Int64).BitAnd(1<<elements[to].bits-1).To(weft.Uint8))
	case Int4, Int2:
		half := 1 << (elements[to].bits - 1)
		return BitsOf(to, x.To(weft.Int64).Add(half).BitAnd(2*half-1).Sub(half).To(weft.Int8))
	}
	return TensorOf(x.To(to.DType()))
}

// encode rounds float64 numbers to the nearest codes, ties to even ones. Beyond the greatest number is the
// greatest number if saturate, else infinity or no number.
func (f smallFloat) encode(x *weft.Tensor, saturate bool) *weft.Tensor {
	last := f.largest()
	ends := make([]float64, last+1) // the greatest number that is rounded to each code
	for code := range ends {
		m := f.magnitude(code)
		next := 2*m - f.magnitude(max(code-1, 0))
		if code < last {
			next = f.magnitude(code + 1)
		}
		ends[code] = m + (next-m)/2
		if code%2 != 0 {
			ends[code] = math.Nextafter(ends[code], 0)
		}
	}
	// The number of codes whose end is below the magnitude.
	code := weft.FromSlice(ends).SearchSorted(x.Abs().Reshape(x.Size())).Reshape(x.Shape()...)
	beyond := code.Gt(last)
	negative := x.Lt(0)
	if f.negativeZero {
		negative = negative.LogicalOr(x.Eq(0).LogicalAnd(x.Reciprocal().Lt(0)))
	} else {
		negative = negative.LogicalAnd(code.Gt(0))
	}
	high, none := last, f.nan
	if !saturate && !f.finite {
		high = last + 1
	} else if !saturate && f.nan >= 0 {
		high = f.nan
	}
	code = weft.Where(beyond, high, code)
	code = weft.Where(negative, code.BitOr(f.sign()), code)
	if none < 0 {
		none = f.sign() // the type has no such code: -0, as ml_dtypes makes
	}
	return weft.Where(x.IsNaN(), none, code).To(weft.Uint8)
}

// encodeScale makes powers of two, whose code is the exponent.
func (c *call) encodeScale(x *weft.Tensor, saturate bool, mode string) *weft.Tensor {
	ends := make([]float64, 255)
	for code := range ends {
		m := math.Ldexp(1, code-127)
		switch mode {
		case "up":
			ends[code] = m
		case "down":
			ends[code] = math.Nextafter(2*m, 0)
		case "nearest":
			ends[code] = math.Nextafter(1.5*m, 0)
		default:
			c.fail("attribute %q is %q: want up, down or nearest", "round_mode", mode)
		}
	}
	code := weft.FromSlice(ends).SearchSorted(x.Reshape(x.Size())).Reshape(x.Shape()...)
	if saturate {
		code = code.Minimum(254)
	} else {
		code = weft.Where(x.Lt(math.Ldexp(1, -127)), 255, code)
	}
	return weft.Where(x.IsNaN(), 255, code).To(weft.Uint8)
}

// parsed are the numbers that strings say.
func (c *call) parsed(v Value) *weft.Tensor {
	out := make([]float64, len(v.strings))
	whole := make([]int64, len(v.strings))
	exact := true
	for i, s := range v.strings {
		s = strings.TrimSpace(s)
		x, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(x, 0) {
			c.fail("element %d is %q, not a number", i, v.strings[i])
		}
		out[i] = x
		n, err := strconv.ParseInt(s, 10, 64)
		whole[i], exact = n, exact && err == nil
	}
	if exact {
		return weft.FromSlice(whole, v.shape...)
	}
	return weft.FromSlice(out, v.shape...)
}

// texts are the numbers of input i as strings.
func (c *call) texts(i int) Value {
	t := c.host(i)
	e := c.value(i).elem
	out := make([]string, t.Size())
	core.OutsideTrace(func() {
		x := decode(e, t.Detach())
		d := x.DType()
		switch {
		case d == weft.Bool:
			for j, b := range weft.Data[bool](x.Contiguous()) {
				out[j] = map[bool]string{false: "0", true: "1"}[b]
			}
		case d == weft.Uint64:
			for j, n := range weft.Data[uint64](x.Contiguous()) {
				out[j] = strconv.FormatUint(n, 10)
			}
		case d.Integer():
			for j, n := range weft.Data[int64](x.To(weft.Int64).Contiguous()) {
				out[j] = strconv.FormatInt(n, 10)
			}
		default:
			bits := 32
			if d == weft.Float64 {
				bits = 64
			}
			for j, f := range weft.Data[float64](x.To(weft.Float64).Contiguous()) {
				out[j] = decimal(f, bits)
			}
		}
	})
	return StringsOf(out, t.Shape()...)
}

// decimal is the shortest decimal that reads as the number again.
func decimal(f float64, bits int) string {
	switch {
	case math.IsInf(f, 1):
		return "INF"
	case math.IsInf(f, -1):
		return "-INF"
	case math.IsNaN(f):
		return "NaN"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// bitCast reads the bytes of elements as elements of another type of the same size.
func bitCast(c *call) []Value {
	c.need("to")
	to, v, t := ElementType(c.attrInt("to", 0)), c.value(0), c.host(0)
	if !to.known() || to == String || elements[to].bits != elements[v.elem].bits {
		c.fail("%v cannot be read as %v: the sizes of elements differ", v, to)
	}
	var out *weft.Tensor
	core.OutsideTrace(func() {
		h := core.ToHost((*core.Tensor)(t.Detach().Contiguous()))
		defer core.Leave(&h)
		b := append([]byte(nil), core.Bytes(&h)...)
		if to == Bool {
			b = unpack(Bool, b, len(b))
		}
		out = (*weft.Tensor)(core.FromView(raw.View(to.DType(), t.Shape(), false, b)))
	})
	return []Value{{kind: TensorKind, elem: to, tensor: out}}
}
