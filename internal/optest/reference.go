package optest

import (
	"cmp"
	"math"
	"math/big"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// A Result is what the reference says about one application.
type Result struct {
	*Array
	// Exact demands the bits of Array; else a float may differ by ULP units in
	// the last place of the reference, or by Bound where that is given.
	Exact bool
	ULP   float64
	Slack float64   // absolute, times 1+y*y, beside ULP
	Bound []float64 // absolute, by element
}

// A reference computes an operation in the plainest way, without looking at its
// Def: also which element type and shape the result has.
type reference func(x []*Array, a ir.Attrs) Result

// refusal is what a reference panics with where the operation must refuse its
// arguments.
type refusal struct{}

// References has a reference for every operation.
var references = map[string]reference{}

// several has references for the operations with several results.
var several = map[string]func(x []*Array, a ir.Attrs) []Result{}

// promote is PyTorch's rule, spelled out for the types of this version.
func promote(x []*Array) array.DType {
	cat := func(d array.DType) int { return int(d.Category()) }
	meet := func(a, b array.DType) array.DType {
		switch {
		case a == array.Invalid || b != array.Invalid && cat(b) > cat(a):
			return b
		case b == array.Invalid || cat(a) > cat(b):
			return a
		case a.Half() && b.Half() && a != b: // neither holds the other
			return array.Float32
		case a.Integer():
			return meetIntegers(a, b)
		case b.Size() > a.Size():
			return b
		}
		return a
	}
	dims, zero := array.Invalid, array.Invalid
	for _, a := range x {
		to := &dims
		if len(a.Shape) == 0 {
			to = &zero
		}
		*to = meet(*to, a.DType)
	}
	if dims == array.Invalid || zero != array.Invalid && cat(zero) > cat(dims) {
		return zero
	}
	return dims
}

// meetIntegers is the narrowest integer type that holds the numbers of both, int64 where
// there is none.
func meetIntegers(a, b array.DType) array.DType {
	bits := max(a.Size(), b.Size()) * 8
	if a.Unsigned() && b.Unsigned() {
		return map[int]array.DType{8: array.Uint8, 16: array.Uint16, 32: array.Uint32, 64: array.Uint64}[bits]
	}
	for _, d := range []array.DType{a, b} {
		if d.Unsigned() { // and the other is not
			bits = min(max(bits, 2*8*d.Size()), 64)
		}
	}
	return map[int]array.DType{8: array.Int8, 16: array.Int16, 32: array.Int32, 64: array.Int64}[bits]
}

// compareInts returns whether x is less than y, equal or greater, as integers of type d.
func compareInts(d array.DType, x, y int64) int {
	if d == array.Uint64 {
		return cmp.Compare(uint64(x), uint64(y))
	}
	return cmp.Compare(x, y)
}

// number is an integer of type d.
func number(d array.DType, x int64) *big.Int {
	if d == array.Uint64 {
		return new(big.Int).SetUint64(uint64(x))
	}
	return big.NewInt(x)
}

// convert returns a with elements of type d.
func convert(a *Array, d array.DType) *Array {
	if a.DType == d {
		return a
	}
	out := New(d, a.Shape)
	for i := range a.Size() {
		switch {
		case a.F != nil && d == array.Bool:
			if a.F[i] != 0 {
				out.I[i] = 1
			}
		case a.F != nil && d.Float():
			out.F[i] = nearest(d, a.F[i])
		case a.F != nil:
			out.I[i] = saturate(d, a.F[i])
		case d.Half():
			out.F[i] = nearest(d, toOdd(number(a.DType, a.I[i])))
		case d == array.Float32:
			f, _ := new(big.Float).SetInt(number(a.DType, a.I[i])).Float32()
			out.F[i] = float64(f)
		case d == array.Float64:
			out.F[i], _ = new(big.Float).SetInt(number(a.DType, a.I[i])).Float64()
		case d == array.Bool:
			if a.I[i] != 0 {
				out.I[i] = 1
			}
		default:
			out.I[i] = wrapTo(d, a.I[i])
		}
	}
	return out
}

// saturate is the integer of type d that f becomes: without what is behind the point, and
// the least or the greatest where it is beyond them; 0 for NaN.
func saturate(d array.DType, f float64) int64 {
	if f != f {
		return 0
	}
	bits := 8 * d.Size()
	least, greatest := math.Ldexp(-1, bits-1), math.Ldexp(1, bits-1) // the first above
	if d.Unsigned() {
		least, greatest = 0, math.Ldexp(1, bits)
	}
	var x *big.Int
	switch f = math.Trunc(f); {
	case f >= greatest:
		x, _ = big.NewFloat(greatest).Int(nil)
		x.Sub(x, big.NewInt(1))
	case f <= least:
		x, _ = big.NewFloat(least).Int(nil)
	default:
		x, _ = big.NewFloat(f).Int(nil)
	}
	if d == array.Uint64 {
		return int64(x.Uint64())
	}
	return x.Int64()
}

// toOdd is x as a float64 that rounds to fewer bits as x does: cut, with the last bit set
// where something was cut off.
func toOdd(x *big.Int) float64 {
	f, off := new(big.Float).SetInt(x).Float64() // to nearest
	switch {
	case off == big.Exact || math.Float64bits(f)&1 == 1:
		return f
	case (off == big.Above) == (f > 0):
		return math.Nextafter(f, 0)
	}
	return math.Nextafter(f, math.Copysign(math.Inf(1), f))
}

// broadcast returns a repeated to a shape.
func broadcast(a *Array, shape []int) *Array {
	v := array.View{Shape: a.Shape, Strides: array.RowMajor(a.Shape)}
	w := v.BroadcastTo(shape)
	return gather(a, shape, w.Strides, 0)
}

// gather returns the elements of a that a window shows.
func gather(a *Array, shape, strides []int, offset int) *Array {
	out := New(a.DType, shape)
	walk(shape, strides, func(i, off int) {
		if a.F != nil {
			out.F[i] = a.F[offset+off]
		} else {
			out.I[i] = a.I[offset+off]
		}
	})
	return out
}

// shapeOf broadcasts shapes by NumPy's rule.
func shapeOf(x []*Array) []int {
	var out []int
	for _, a := range x {
		for len(out) < len(a.Shape) {
			out = append([]int{1}, out...)
		}
	}
	for _, a := range x {
		for i, n := range a.Shape {
			j := len(out) - len(a.Shape) + i
			if out[j] == 1 {
				out[j] = n
			} else if n != 1 && n != out[j] {
				panic(refusal{})
			}
		}
	}
	return out
}

type rule uint8

const (
	arith   rule = iota
	noBool       // bool is refused
	toFloat      // integers and bool become float32
	compare      // bool results
	logic        // arguments become bool
	bitwise      // floats are refused
	ints         // floats and bool are refused
)

// A point is the reference of an elementwise operation: f for floats, i for
// integers and bool of type d; exact unless ulp32 and ulp64 are set.
type point struct {
	rule         rule
	f            func(x []float64) float64
	i            func(x []int64, d array.DType) int64
	ulp32, ulp64 float64
	slack        float64 // absolute, times 1+y*y, for float64
}

func (p point) reference(x []*Array, _ ir.Attrs) Result {
	meet := promote(x)
	switch p.rule {
	case noBool:
		if meet == array.Bool {
			panic(refusal{})
		}
	case toFloat:
		if !meet.Float() {
			meet = array.Float32
		}
	case logic:
		meet = array.Bool
	case bitwise, ints:
		if meet.Float() || p.rule == ints && meet == array.Bool {
			panic(refusal{})
		}
	}
	shape := shapeOf(x)
	d := meet
	if p.rule == compare {
		d = array.Bool
	}
	out := New(d, shape)
	y := make([]*Array, len(x))
	for i := range x {
		y[i] = broadcast(convert(x[i], meet), shape)
	}
	fs, is := make([]float64, len(x)), make([]int64, len(x))
	for k := range out.Size() {
		for i := range y {
			if meet.Float() {
				fs[i] = y[i].F[k]
			} else {
				is[i] = y[i].I[k]
			}
		}
		var f float64
		var v int64
		switch {
		case meet.Float():
			f = p.f(fs)
			v = int64(f)
		case p.i != nil:
			v = p.i(is, meet)
		}
		if out.F != nil && p.ulp64 > 0 {
			out.F[k] = f // compared unrounded
			continue
		}
		out.set(k, f, v)
	}
	r := Result{Array: out, Exact: p.ulp64 == 0 || !d.Float()}
	if !r.Exact {
		r.ULP = p.ulp64
		if d == array.Float32 || d.Half() {
			r.ULP = p.ulp32
		} else {
			r.Slack = p.slack
		}
	}
	return r
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func truthInt(b bool) int64 { return int64(truth(b)) }

// exact adds the reference of an elementwise operation, on floats and on integers.
func exact(name string, r rule, f func(x []float64) float64, i func(x []int64, d array.DType) int64) {
	references[name] = point{rule: r, f: f, i: i}.reference
}

// Arithmetic.
func init() {
	exact("add", arith, func(x []float64) float64 { return x[0] + x[1] }, func(x []int64, d array.DType) int64 {
		if d == array.Bool {
			return x[0] | x[1]
		}
		return x[0] + x[1]
	})
	exact("sub", noBool, func(x []float64) float64 { return x[0] - x[1] }, func(x []int64, _ array.DType) int64 { return x[0] - x[1] })
	exact("mul", arith, func(x []float64) float64 { return x[0] * x[1] }, func(x []int64, _ array.DType) int64 { return x[0] * x[1] })
	exact("div", toFloat, func(x []float64) float64 { return x[0] / x[1] }, nil)
	exact("neg", noBool, func(x []float64) float64 { return -x[0] }, func(x []int64, _ array.DType) int64 { return -x[0] })
	exact("abs", noBool, func(x []float64) float64 { return math.Abs(x[0]) }, func(x []int64, d array.DType) int64 {
		if compareInts(d, x[0], 0) < 0 {
			return -x[0]
		}
		return x[0]
	})
	exact("sign", noBool, func(x []float64) float64 {
		switch {
		case x[0] > 0:
			return 1
		case x[0] < 0:
			return -1
		case x[0] == 0:
			return 0
		}
		return x[0]
	}, func(x []int64, d array.DType) int64 { return int64(compareInts(d, x[0], 0)) })
	// By the loop language: the second argument when equal, NaN if either is.
	lesser := func(x, y float64) float64 {
		switch {
		case x != x || y != y:
			return math.NaN()
		case x < y:
			return x
		}
		return y
	}
	greater := func(x, y float64) float64 { return -lesser(-x, -y) }
	exact("minimum", arith, func(x []float64) float64 { return lesser(x[0], x[1]) }, func(x []int64, d array.DType) int64 { return lesserInt(d, x[0], x[1]) })
	exact("maximum", arith, func(x []float64) float64 { return greater(x[0], x[1]) }, func(x []int64, d array.DType) int64 { return greaterInt(d, x[0], x[1]) })
	exact("clamp", noBool, func(x []float64) float64 { return lesser(greater(x[0], x[1]), x[2]) },
		func(x []int64, d array.DType) int64 { return lesserInt(d, greaterInt(d, x[0], x[1]), x[2]) })
	exact("relu", noBool, func(x []float64) float64 { return greater(x[0], 0) }, func(x []int64, d array.DType) int64 { return greaterInt(d, x[0], 0) })
	exact("square", noBool, func(x []float64) float64 { return x[0] * x[0] }, func(x []int64, _ array.DType) int64 { return x[0] * x[0] })
	exact("sqrt", toFloat, func(x []float64) float64 { return math.Sqrt(x[0]) }, nil)
	exact("reciprocal", toFloat, func(x []float64) float64 { return 1 / x[0] }, nil)
	same := func(x []int64, _ array.DType) int64 { return x[0] }
	exact("floor", noBool, func(x []float64) float64 { return math.Floor(x[0]) }, same)
	exact("ceil", noBool, func(x []float64) float64 { return math.Ceil(x[0]) }, same)
	exact("round", noBool, func(x []float64) float64 { return math.RoundToEven(x[0]) }, same)
	exact("trunc", noBool, func(x []float64) float64 { return math.Trunc(x[0]) }, same)
	exact("mod", noBool, func(x []float64) float64 {
		r := math.Mod(x[0], x[1])
		if r == 0 {
			return math.Copysign(0, x[1])
		}
		if (r < 0) != (x[1] < 0) {
			r += x[1]
		}
		return r
	}, func(x []int64, d array.DType) int64 {
		return x[0] - floorQuo(d, x[0], x[1])*x[1]*truthInt(x[1] != 0) - x[0]*truthInt(x[1] == 0)
	})
}

// Logic, bits and comparisons.
func init() {
	exact("logical_and", logic, nil, func(x []int64, _ array.DType) int64 { return x[0] & x[1] })
	exact("logical_or", logic, nil, func(x []int64, _ array.DType) int64 { return x[0] | x[1] })
	exact("logical_xor", logic, nil, func(x []int64, _ array.DType) int64 { return x[0] ^ x[1] })
	exact("logical_not", logic, nil, func(x []int64, _ array.DType) int64 { return 1 - x[0] })
	exact("bit_and", bitwise, nil, func(x []int64, _ array.DType) int64 { return x[0] & x[1] })
	exact("bit_or", bitwise, nil, func(x []int64, _ array.DType) int64 { return x[0] | x[1] })
	exact("bit_xor", bitwise, nil, func(x []int64, _ array.DType) int64 { return x[0] ^ x[1] })
	exact("bit_not", bitwise, nil, func(x []int64, d array.DType) int64 {
		if d == array.Bool {
			return 1 - x[0]
		}
		return ^x[0]
	})
	shift := func(x *big.Int, y int64, d array.DType, f func(z, x *big.Int, n uint) *big.Int) int64 {
		n := uint(8 * d.Size()) // as far as it goes
		if 0 <= y && y < int64(n) {
			n = uint(y)
		}
		z := f(new(big.Int), x, n)
		return int64(z.And(z, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
	}
	exact("shl", ints, nil, func(x []int64, d array.DType) int64 { return shift(number(d, x[0]), x[1], d, (*big.Int).Lsh) })
	exact("shr", ints, nil, func(x []int64, d array.DType) int64 { return shift(number(d, x[0]), x[1], d, (*big.Int).Rsh) })
	exact("pop_count", ints, nil, func(x []int64, d array.DType) int64 {
		n := int64(0)
		for i := range 8 * d.Size() {
			n += x[0] >> i & 1
		}
		return n
	})
	exact("eq", compare, func(x []float64) float64 { return truth(x[0] == x[1]) }, func(x []int64, _ array.DType) int64 { return truthInt(x[0] == x[1]) })
	exact("ne", compare, func(x []float64) float64 { return truth(x[0] != x[1]) }, func(x []int64, _ array.DType) int64 { return truthInt(x[0] != x[1]) })
	exact("lt", compare, func(x []float64) float64 { return truth(x[0] < x[1]) }, func(x []int64, d array.DType) int64 { return truthInt(compareInts(d, x[0], x[1]) < 0) })
	exact("le", compare, func(x []float64) float64 { return truth(x[0] <= x[1]) }, func(x []int64, d array.DType) int64 { return truthInt(compareInts(d, x[0], x[1]) <= 0) })
	exact("gt", compare, func(x []float64) float64 { return truth(x[0] > x[1]) }, func(x []int64, d array.DType) int64 { return truthInt(compareInts(d, x[0], x[1]) > 0) })
	exact("ge", compare, func(x []float64) float64 { return truth(x[0] >= x[1]) }, func(x []int64, d array.DType) int64 { return truthInt(compareInts(d, x[0], x[1]) >= 0) })
	exact("isnan", compare, func(x []float64) float64 { return truth(math.IsNaN(x[0])) }, func([]int64, array.DType) int64 { return 0 })
	exact("isinf", compare, func(x []float64) float64 { return truth(math.IsInf(x[0], 0)) }, func([]int64, array.DType) int64 { return 0 })
	exact("isfinite", compare, func(x []float64) float64 { return truth(x[0]-x[0] == 0) }, func([]int64, array.DType) int64 { return 1 })

	references["floordiv"] = func(x []*Array, a ir.Attrs) Result {
		d := computed(promote(x))
		return point{rule: noBool, f: func(x []float64) float64 { return floorDiv(d, x[0], x[1]) },
			i: func(x []int64, d array.DType) int64 { return floorQuo(d, x[0], x[1]) }}.reference(x, a)
	}
	references["rsqrt"] = func(x []*Array, a ir.Attrs) Result {
		d := promote(x)
		if !d.Float() {
			d = array.Float32
		}
		return point{rule: toFloat, f: func(x []float64) float64 { return 1 / roundTo(computed(d), math.Sqrt(x[0])) }}.reference(x, a)
	}
	references["powint"] = func(x []*Array, a ir.Attrs) Result {
		d, k := computed(promote(x)), int(a.(op.Power))
		return point{rule: noBool, f: func(x []float64) float64 {
			r := intPower(x[0], max(k, -k), func(x, y float64) float64 { return roundTo(d, x*y) })
			if k < 0 {
				return 1 / r
			}
			return r
		}, i: func(x []int64, _ array.DType) int64 {
			r := int64(1)
			for range k {
				r *= x[0]
			}
			return r
		}}.reference(x, a)
	}

	// Functions: a bound is the sum of package vmath's and of Go's package math's.
	near := func(name string, f func(x float64) float64) {
		references[name] = point{rule: toFloat, f: func(x []float64) float64 { return f(x[0]) }, ulp32: 1.01, ulp64: 4}.reference
	}
	near("exp", math.Exp)
	near("expm1", math.Expm1)
	near("exp2", math.Exp2)
	near("log", plainLog)
	near("log1p", math.Log1p)
	near("log2", func(x float64) float64 { return plainLog(x) / math.Ln2 })
	near("log10", func(x float64) float64 { return plainLog(x) / math.Ln10 })
	// Go reduces arguments with an absolute error; package vmath's own tests bound
	// these in ULP.
	for name, f := range map[string]func(float64) float64{"sin": math.Sin, "cos": math.Cos, "tan": math.Tan} {
		references[name] = point{rule: toFloat, f: func(x []float64) float64 { return f(x[0]) }, ulp32: 1.01, ulp64: 4, slack: 2e-16}.reference
	}
	near("asin", math.Asin)
	near("acos", math.Acos)
	near("atan", math.Atan)
	near("sinh", math.Sinh)
	near("cosh", math.Cosh)
	near("tanh", math.Tanh)
	near("asinh", math.Asinh)
	near("acosh", math.Acosh)
	near("atanh", math.Atanh)
	near("erf", math.Erf)
	near("erfc", math.Erfc)
	near("erfinv", plainErfinv)
	// Near their zeros the references lose digits; package vmath's own tests bound these in ULP.
	for name, f := range map[string]func(float64) float64{"lgamma": plainLgamma, "digamma": plainDigamma, "trigamma": plainTrigamma} {
		references[name] = point{rule: toFloat, f: func(x []float64) float64 { return f(x[0]) }, ulp32: 1.01, ulp64: 16, slack: 4e-15}.reference
	}
	near("sigmoid", func(x float64) float64 {
		if x < 0 {
			return math.Exp(x) / (1 + math.Exp(x))
		}
		return 1 / (1 + math.Exp(-x))
	})
	near("softplus", func(x float64) float64 {
		if x > 40 {
			return x
		}
		return math.Log1p(math.Exp(x))
	})
	near("silu", func(x float64) float64 {
		if x < -800 {
			return math.Copysign(0, -1)
		}
		return x / (1 + math.Exp(-x))
	})
	references["gelu"] = point{rule: toFloat, ulp32: 5, ulp64: 40, f: func(v []float64) float64 {
		x := v[0]
		if x < -50 {
			return math.Copysign(0, -1)
		}
		return 0.5 * x * math.Erfc(-x*math.Sqrt2/2)
	}}.reference
	references["atan2"] = point{rule: toFloat, f: func(x []float64) float64 { return math.Copysign(math.Atan2(x[0], x[1]), x[0]) }, ulp32: 1.01, ulp64: 4}.reference
	// math.Pow is tens of ULP off for large exponents; package vmath bounds ours.
	references["pow"] = point{rule: noBool, f: func(x []float64) float64 {
		if x[0] > 0 && x[0] < 0x1p-1022 { // on amd64 math.Log misses subnormal numbers
			return math.Pow(x[0]*0x1p60, x[1]) * math.Exp2(-60*x[1])
		}
		return math.Pow(x[0], x[1])
	}, i: func(x []int64, d array.DType) int64 {
		switch {
		case compareInts(d, x[1], 0) >= 0:
			r := int64(1)
			for b, e := x[0], uint64(x[1]); e > 0; b, e = b*b, e/2 {
				if e%2 == 1 {
					r *= b
				}
			}
			return r
		case x[0] == 1:
			return 1
		case x[0] == -1:
			return 1 - 2*(x[1]&1)
		}
		return 0
	}, ulp32: 1.01, ulp64: 64}.reference

	references["where"] = func(x []*Array, _ ir.Attrs) Result {
		d := promote(x[1:])
		shape := shapeOf(x)
		c, p, q := broadcast(convert(x[0], array.Bool), shape), broadcast(convert(x[1], d), shape), broadcast(convert(x[2], d), shape)
		out := New(d, shape)
		for i := range out.Size() {
			from := q
			if c.I[i] != 0 {
				from = p
			}
			if out.F != nil {
				out.F[i] = from.F[i]
			} else {
				out.I[i] = from.I[i]
			}
		}
		return Result{Array: out, Exact: true}
	}
	references["select"] = references["where"]
	references["cast"] = func(x []*Array, a ir.Attrs) Result {
		return Result{Array: convert(x[0], array.DType(a.(op.To))), Exact: true}
	}
	references["iota"] = func(x []*Array, a ir.Attrs) Result {
		out := New(array.Int64, x[0].Shape)
		st := make([]int, len(out.Shape))
		st[a.(op.Axis)] = 1
		walk(out.Shape, st, func(i, off int) { out.I[i] = int64(off) })
		return Result{Array: out, Exact: true}
	}
}

// plainErfinv is Go's function and a step of Newton's method, on erfc where that has more
// digits: Go's alone is some units off.
func plainErfinv(x float64) float64 {
	y := math.Erfinv(x)
	switch a := math.Abs(x); {
	case a < 0x1p-500:
		return math.Sqrt(math.Pi) / 2 * x
	case !(a < 1):
		return y
	case a < 0.5:
		return y - (math.Erf(y)-x)*math.Exp(y*y)*math.Sqrt(math.Pi)/2
	default:
		y = math.Abs(y)
		return math.Copysign(y+(math.Erfc(y)-(1-a))*math.Exp(y*y)*math.Sqrt(math.Pi)/2, x)
	}
}

// plainLgamma is ln(|gamma(x)|), in Go's words but for poles and numbers so small that
// 1/x is the gamma function.
func plainLgamma(x float64) float64 {
	switch {
	case x <= 0 && x == math.Floor(x):
		return math.Inf(1)
	case math.Abs(x) < 0x1p-900:
		return -plainLog(math.Abs(x))
	}
	y, _ := math.Lgamma(x)
	return y
}

// plainDigamma and plainTrigamma take steps up to 20 and sum the series there.
func plainDigamma(x float64) float64 {
	switch {
	case x == 0:
		return -1 / x
	case x < 0 && x == math.Floor(x):
		return math.NaN()
	case x < 0:
		return plainDigamma(1-x) - math.Pi/math.Tan(math.Pi*(x-math.RoundToEven(x)))
	case x < 20:
		return plainDigamma(x+1) - 1/x
	}
	z := 1 / (x * x)
	return math.Log(x) - 0.5/x - z*(1./12-z*(1./120-z*(1./252-z*(1./240-z/132))))
}

func plainTrigamma(x float64) float64 {
	switch {
	case math.IsInf(x, -1):
		return math.NaN()
	case x <= 0 && x == math.Floor(x):
		return math.Inf(1)
	case x < 0:
		s := math.Sin(math.Pi*(x-math.RoundToEven(x))) / math.Pi
		return 1/s/s - plainTrigamma(1-x)
	case x < 20:
		return plainTrigamma(x+1) + 1/x/x
	}
	z := 1 / (x * x)
	return 1/x + z/2 + z/x*(1./6-z*(1./30-z*(1./42-z*(1./30-z*5/66))))
}

// plainLog is the natural logarithm, of subnormal numbers and near 1 too.
func plainLog(x float64) float64 {
	switch {
	case x > 0 && x < 0x1p-1000:
		return math.Log(x*0x1p60) - 60*math.Ln2
	case x > 0.5 && x < 2:
		return math.Log1p(x - 1)
	}
	return math.Log(x)
}

// floorDiv is NumPy's floor_divide of floats: divmod as Python defines it, each step
// rounded to the type.
func floorDiv(d array.DType, x, y float64) float64 {
	if y == 0 {
		return x / y
	}
	r := math.Mod(x, y)
	q := roundTo(d, roundTo(d, x-r)/y)
	if r != 0 && (r < 0) != (y < 0) {
		q = roundTo(d, q-1)
	}
	if q == 0 {
		return math.Copysign(0, x/y)
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f
}

func lesserInt(d array.DType, x, y int64) int64 {
	if compareInts(d, x, y) < 0 {
		return x
	}
	return y
}

func greaterInt(d array.DType, x, y int64) int64 { return x ^ y ^ lesserInt(d, x, y) }

// floorQuo is the quotient of integers of type d rounded down, 0 by zero, wrapping.
func floorQuo(d array.DType, x, y int64) int64 {
	if y == 0 {
		return 0
	}
	if d == array.Uint64 {
		return int64(uint64(x) / uint64(y))
	}
	q := x / y
	if x%y != 0 && (x < 0) != (y < 0) {
		q--
	}
	return q
}

// intPower is x to the n by squaring from the highest bit.
func intPower(x float64, n int, mul func(x, y float64) float64) float64 {
	if n == 0 {
		return 1
	}
	if n == 1 {
		return x
	}
	r := intPower(x, n/2, mul)
	r = mul(r, r)
	if n%2 == 1 {
		r = mul(r, x)
	}
	return r
}
