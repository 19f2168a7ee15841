package optest

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

func init() {
	references["cbrt"] = point{rule: toFloat, f: func(x []float64) float64 { return math.Cbrt(x[0]) }, ulp32: 1.01, ulp64: 4}.reference
	for name, by := range map[string]float64{"degrees": 180 / math.Pi, "radians": math.Pi / 180} {
		references[name] = func(x []*Array, a ir.Attrs) Result {
			d := promote(x)
			if !d.Float() {
				d = array.Float32
			}
			by := roundTo(computed(d), by)
			return point{rule: toFloat, f: func(x []float64) float64 { return roundTo(computed(d), x[0]*by) }}.reference(x, a)
		}
	}
	exact("fmod", noBool, func(x []float64) float64 { return math.Mod(x[0], x[1]) }, func(x []int64, d array.DType) int64 {
		switch {
		case x[1] == 0:
			return 0
		case d == array.Uint64:
			return int64(uint64(x[0]) % uint64(x[1]))
		}
		return x[0] % x[1]
	})
	exact("copysign", toFloat, func(x []float64) float64 { return math.Copysign(x[0], x[1]) }, nil)
	exact("heaviside", toFloat, func(x []float64) float64 {
		switch {
		case x[0] < 0:
			return 0
		case x[0] == 0:
			return x[1]
		case x[0] > 0:
			return 1
		}
		return x[0]
	}, nil)
	exact("signbit", compare, func(x []float64) float64 { return truth(math.Signbit(x[0])) }, func(x []int64, d array.DType) int64 { return truthInt(compareInts(d, x[0], 0) < 0) })
	number := func(x, y float64, pick func(x, y float64) bool) float64 {
		if x != x || y == y && !pick(x, y) {
			return y
		}
		return x
	}
	exact("fmin", arith, func(x []float64) float64 { return number(x[0], x[1], func(x, y float64) bool { return x < y }) },
		func(x []int64, d array.DType) int64 { return lesserInt(d, x[0], x[1]) })
	exact("fmax", arith, func(x []float64) float64 { return number(x[0], x[1], func(x, y float64) bool { return x > y }) },
		func(x []int64, d array.DType) int64 { return greaterInt(d, x[0], x[1]) })
	magnitude := func(x int64, d array.DType) uint64 {
		if compareInts(d, x, 0) < 0 {
			return uint64(-x)
		}
		return uint64(x)
	}
	divisor := func(x, y uint64) uint64 {
		for y != 0 {
			x, y = y, x%y
		}
		return x
	}
	exact("gcd", ints, nil, func(x []int64, d array.DType) int64 { return int64(divisor(magnitude(x[0], d), magnitude(x[1], d))) })
	exact("lcm", ints, nil, func(x []int64, d array.DType) int64 {
		p, q := magnitude(x[0], d), magnitude(x[1], d)
		if p == 0 || q == 0 {
			return 0
		}
		return int64(p / divisor(p, q) * q)
	})
	references["nextafter"] = func(x []*Array, a ir.Attrs) Result {
		d := promote(x)
		if !d.Float() {
			d = array.Float32
		}
		return point{rule: toFloat, f: func(x []float64) float64 { return nextOf(d, x[0], x[1]) }}.reference(x, a)
	}
	references["ldexp"] = point{rule: toFloat, f: func(x []float64) float64 {
		if x[1] != x[1] {
			return x[1]
		}
		return math.Ldexp(x[0], int(max(-9999, min(9999, x[1]))))
	}}.reference
	references["frexp_mantissa"] = point{rule: toFloat, f: func(x []float64) float64 { m, _ := math.Frexp(x[0]); return m }}.reference
	exponent := func(x []*Array, _ ir.Attrs) Result {
		y := x[0]
		if !y.DType.Float() {
			panic(refusal{})
		}
		out := New(array.Int32, y.Shape)
		for i, v := range y.F {
			_, e := math.Frexp(v)
			out.I[i] = int64(e)
		}
		return Result{Array: out, Exact: true}
	}
	references["frexp_exponent"] = exponent
	several["frexp"] = func(x []*Array, a ir.Attrs) []Result {
		y := x[0]
		if !y.DType.Float() {
			y = convert(y, array.Float32)
		}
		return []Result{references["frexp_mantissa"]([]*Array{y}, a), exponent([]*Array{y}, a)}
	}
	// Bounds are in units of the result, and of what cancels near the zeros of logaddexp and logit.
	sums := func(base float64) func(x []float64) float64 {
		return func(x []float64) float64 {
			if x[0] == x[1] {
				return x[0] + math.Ln2/base
			}
			return math.Max(x[0], x[1]) + math.Log1p(math.Exp(-base*math.Abs(x[0]-x[1])))/base
		}
	}
	references["logaddexp"] = composed(2, sums(1))
	references["logaddexp2"] = composed(2, sums(math.Ln2))
	references["logit"] = composed(6, func(x []float64) float64 {
		if v := x[0]; math.Abs(v-0.5) < 0.25 {
			return math.Log1p((2*v - 1) / (1 - v))
		}
		return plainLog(x[0]) - math.Log1p(-x[0])
	})
	references["xlogy"] = composed(4, func(x []float64) float64 {
		if x[0] == 0 && x[1] == x[1] {
			return 0
		}
		return x[0] * plainLog(x[1])
	})
	references["sinc"] = composed(6, func(x []float64) float64 {
		switch v := x[0]; {
		case v == 0:
			return 1
		case math.IsInf(v, 0):
			return math.NaN()
		default:
			n := math.RoundToEven(v)
			s := math.Sin(math.Pi * (v - n))
			if math.Mod(n, 2) != 0 {
				s = -s
			}
			return s / (math.Pi * v)
		}
	})
}

// composed is the reference of a function of floats that rounds some times: within ulp units of the result,
// and of the greatest argument that a sum cancels.
func composed(ulp float64, f func(x []float64) float64) reference {
	return func(x []*Array, _ ir.Attrs) Result {
		y, d := meeting(x)
		if !d.Float() {
			d = array.Float32
			for i := range y {
				y[i] = convert(y[i], d)
			}
		}
		u := map[bool]float64{true: 0x1p-53, false: 0x1p-24}[d == array.Float64]
		out := New(d, y[0].Shape)
		r := Result{Array: out, Bound: make([]float64, out.Size())}
		args := make([]float64, len(y))
		for i := range out.F {
			most := 0.0
			for k := range y {
				args[k] = y[k].F[i]
				if a := math.Abs(args[k]); len(y) > 1 && a < math.Inf(1) {
					most = max(most, a)
				}
			}
			v := f(args)
			out.F[i] = roundTo(d, v)
			r.Bound[i] = 2*ulp*u*(math.Abs(v)+most) + 0x1p-1060
			if d != array.Float64 {
				r.Bound[i] += 0x1p-148
			}
			if d.Half() {
				r.Bound[i] += math.Abs(v) * map[bool]float64{true: 0x1p-11, false: 0x1p-8}[d == array.Float16]
				r.Bound[i] += map[bool]float64{true: 0x1p-24, false: 0x1p-133}[d == array.Float16]
			}
		}
		return r
	}
}

// nextOf is the number of type d next to x toward y.
func nextOf(d array.DType, x, y float64) float64 {
	switch {
	case x == y:
		return y // the zero of y's sign, as in C
	case d == array.Float64:
		return math.Nextafter(x, y)
	case d == array.Float32:
		return float64(math.Nextafter32(float32(x), float32(y)))
	case x != x || y != y:
		return math.NaN()
	}
	digits, least, most := 11, -14, 65504.0
	if d == array.BFloat16 {
		digits, least, most = 8, -126, 0x1.fep127
	}
	a, sign := math.Abs(x), math.Copysign(1, x)
	if x == 0 {
		return math.Copysign(math.Ldexp(1, least-digits+1), y)
	}
	up := (x < y) == (x > 0)
	if math.IsInf(x, 0) {
		return sign * most // toward what is smaller
	}
	m, e := math.Frexp(a) // a = m 2^e, m from 1/2
	e = max(e-1, least)
	step := math.Ldexp(1, e-digits+1)
	if !up {
		if m == 0.5 && e > least {
			step /= 2
		}
		return sign * (a - step)
	}
	if a == most {
		return math.Inf(int(sign))
	}
	return sign * (a + step)
}

func init() {
	references["cdist"] = func(x []*Array, attrs ir.Attrs) Result {
		d := promote(x)
		if !d.Float() {
			d = array.Float32
		}
		p, q := convert(x[0], d), convert(x[1], d)
		order := attrs.(op.Measure).Order
		r, s := len(p.Shape), len(q.Shape)
		if r < 2 || s < 2 || p.Shape[r-1] != q.Shape[s-1] {
			panic(refusal{})
		}
		n, m, size := p.Shape[r-2], q.Shape[s-2], p.Shape[r-1]
		lead := shapeOf([]*Array{{Shape: p.Shape[:r-2]}, {Shape: q.Shape[:s-2]}})
		whole := func(a *Array, rows int) *Array {
			return broadcast(a, append(append([]int{}, lead...), rows, size))
		}
		p, q = whole(p, n), whole(q, m)
		out := New(d, append(append([]int{}, lead...), n, m))
		bound := make([]float64, out.Size())
		u := map[bool]float64{true: 0x1p-53, false: 0x1p-24}[d == array.Float64]
		if d.Half() {
			u = map[bool]float64{true: 0x1p-11, false: 0x1p-8}[d == array.Float16]
		}
		for b := range array.Size(lead) {
			for i := range n {
				for j := range m {
					sum := 0.0
					for k := range size {
						far := math.Abs(p.F[(b*n+i)*size+k] - q.F[(b*m+j)*size+k])
						if math.IsInf(order, 1) {
							sum = math.Max(sum, far)
						} else {
							sum += math.Pow(far, order)
						}
					}
					if !math.IsInf(order, 1) {
						sum = math.Pow(sum, 1/order)
					}
					at := (b*n+i)*m + j
					out.F[at] = roundTo(d, sum)
					bound[at] = float64(2*size+8) * u * math.Abs(sum)
				}
			}
		}
		return Result{Array: out, Bound: bound}
	}
}
