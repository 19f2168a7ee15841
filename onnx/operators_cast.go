package onnx

import (
	"math"
	"strconv"
	"strings"

	"weft"
	"weft/internal/core"
	"weft/internal/float8"
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

// smallFloats are the formats of floats that weft's tensors lack.
var smallFloats = map[ElementType]float8.Format{
	Float8E4M3FN:   float8.Formats["float8_e4m3fn"],
	Float8E4M3FNUZ: float8.Formats["float8_e4m3fnuz"],
	Float8E5M2:     float8.Formats["float8_e5m2"],
	Float8E5M2FNUZ: float8.Formats["float8_e5m2fnuz"],
	Float8E8M0:     float8.Formats["float8_e8m0fnu"],
	Float4E2M1:     float8.E2M1,
}

// decoded returns input i as a tensor of a type that has arithmetic.
func (c *call) decoded(i int) *weft.Tensor {
	v, x := c.value(i), c.tensor(i)
	return decode(v.elem, x)
}

// decode returns the numbers that x holds as bits of an element type that weft lacks, and x for other types.
func decode(e ElementType, x *weft.Tensor) *weft.Tensor {
	f, ok := smallFloats[e]
	if !ok {
		return x
	}
	return weft.FromSlice(f.Table()).IndexSelect(0, x.To(weft.Int64).Reshape(x.Size())).Reshape(x.Shape()...)
}

// encoded converts numbers to an element type.
func (c *call) encoded(x *weft.Tensor, to ElementType, saturate bool, mode string) Value {
	switch to {
	case Float8E8M0:
		return BitsOf(to, c.encodeScale(x.To(weft.Float64), saturate, mode))
	case Float8E4M3FN, Float8E4M3FNUZ, Float8E5M2, Float8E5M2FNUZ, Float4E2M1:
		return BitsOf(to, encode(smallFloats[to], x.To(weft.Float64), saturate))
	case Uint4, Uint2:
		return BitsOf(to, x.To(weft.Int64).BitAnd(1<<elements[to].bits-1).To(weft.Uint8))
	case Int4, Int2:
		half := 1 << (elements[to].bits - 1)
		return BitsOf(to, x.To(weft.Int64).Add(half).BitAnd(2*half-1).Sub(half).To(weft.Int8))
	}
	return TensorOf(x.To(to.DType()))
}

// encode rounds float64 numbers to the nearest codes of a format with a sign, ties to even codes. A number
// beyond the greatest becomes the greatest if saturate, else infinity, or NaN in formats without infinity.
func encode(f float8.Format, x *weft.Tensor, saturate bool) *weft.Tensor {
	last, sign := f.Largest(), f.SignBit()
	value := func(code int) float64 { return float64(f.Value(uint8(code))) }
	ends := make([]float64, last+1) // the greatest number that is rounded to each code
	for code := range ends {
		v := value(code)
		next := 2*v - value(max(code-1, 0))
		if code < last {
			next = value(code + 1)
		}
		ends[code] = v + (next-v)/2
		if code%2 != 0 {
			ends[code] = math.Nextafter(ends[code], 0)
		}
	}
	// The number of ends below the magnitude is its code.
	code := weft.FromSlice(ends).SearchSorted(x.Abs().Reshape(x.Size())).Reshape(x.Shape()...)
	beyond := code.Gt(last)
	negative := x.Lt(0)
	if f.NegativeZero() {
		negative = negative.LogicalOr(x.Eq(0).LogicalAnd(x.Reciprocal().Lt(0)))
	} else {
		negative = negative.LogicalAnd(code.Gt(0))
	}
	nan, hasNaN := f.NaN()
	infinity, hasInfinity := f.Infinity()
	high := last
	switch {
	case saturate:
	case hasInfinity:
		high = infinity
	case hasNaN:
		high = nan
	}
	code = weft.Where(beyond, high, code)
	code = weft.Where(negative, code.BitOr(sign), code)
	if !hasNaN {
		nan = sign // -0, as ml_dtypes makes
	}
	return weft.Where(x.IsNaN(), nan, code).To(weft.Uint8)
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
