package gokernel_test

import (
	"math"
	"math/bits"

	"weft/kernel"
)

// The kernels that tests compile: this file is also their source.

func add(a, b float64) float64 { return a + b }

func poly(x float32) float32 {
	const c = 0.1
	y := x*x + c
	y *= x - 3
	return -y / 7
}

func sign(x float64) int32 {
	if x < 0 {
		return -1
	} else if x > 0 {
		return 1
	}
	return 0
}

func escape(cr, ci float32) int32 {
	zr, zi := cr, ci
	for i := int32(0); i < 100; i++ {
		if zr*zr+zi*zi > 4 {
			return i
		}
		zr, zi = zr*zr-zi*zi+cr, 2*zr*zi+ci
	}
	return 100
}

func escape64(cr, ci float64) (n int64) {
	zr, zi := 0.0, 0.0
	for zr*zr+zi*zi <= 4 && n < 80 {
		t := zr*zr - zi*zi + cr
		zi = 2*zr*zi + ci
		zr = t
		n++
	}
	return
}

func collatz(x int64) (steps, top int64) {
	x = x&0xffff + 1
	for {
		if x > top {
			top = x
		}
		if x == 1 || steps > 50 {
			break
		}
		steps++
		if x%2 == 0 {
			x /= 2
			continue
		}
		x = 3*x + 1
	}
	return steps, top
}

func newton(a float64) float64 {
	a = math.Abs(a)
	x := a
	for i := 0; i < 8; i++ {
		if x == 0 {
			return 0
		}
		x = 0.5 * (x + a/x)
	}
	return x
}

func labels(n, m int32) int32 {
	n, m = n&15, m&15
	s := int32(0)
outer:
	for i := int32(0); i < n; i++ {
		for j := int32(0); j < m; j++ {
			if i*j == 30 {
				break outer
			}
			if (i+j)%7 == 6 {
				continue outer
			}
			if j == 5 {
				break
			}
			s += i ^ j
		}
		s *= 3
	}
	return s
}

func classify(x int32) int32 {
	switch y := x & 7; y {
	case 0, 1:
		return 10
	case 2:
		x++
		fallthrough
	case 3:
		x *= 2
	//lint:ignore ST1015 a default in the middle is part of the language
	default:
		if x < 0 {
			break
		}
		x -= 100
	case 6:
		return x
	}
	switch {
	case x > 1000:
		x = 1
	case x > 10:
		x = 2
	}
	return x
}

func square(x float64) float64 { return x * x }

func clip(x, lo, hi float64) float64 {
	if x < lo {
		return lo
	}
	if x > hi {
		return hi
	}
	return x
}

func calls(x, y float64) float64 {
	s := 0.0
	for i := range 5 {
		s += square(clip(x, -1, float64(i))) - y
	}
	return s
}

func logic(a, b bool, x int32) bool {
	return a && !b || x > 3 && a == b
}

func ranged(n int32) int32 {
	s := int32(0)
	for i := range n & 31 {
		if i == 20 {
			return s
		}
		s += i * i
	}
	return -s
}

func nested(x float64) float64 {
	r := 1.0
	if x > 0 {
		if x > 1 {
			for i := 0; i < 3; i++ {
				r = r*x - 1
				if r > 50 {
					return r
				}
			}
		} else {
			r = -x
		}
		r++
	}
	return r * 2
}

func shadows(x float64) float64 {
	y := x
	{
		y := y * 2
		y++
		x += y
	}
	if y := x - 1; y > 0 {
		x = y
	}
	for y := 0.0; y < 2; y++ {
		x += y
	}
	return x + y
}

func wide(x float64) int64 { return int64(x) }

func ints8(a, b int8, c uint8, d uint8) (int8, uint8, int8, uint8, int8, uint8) {
	return a + b*a, c - d*c, a / (b | 1), c / (d | 1), a % (b | 1), c % (d | 1)
}

func ints16(a, b int16, c, d uint16) (int16, uint16, int16, uint16, int16, uint16) {
	return a - b*b, c + d, a / (b | 1), c / (d | 1), a % (b | 1), c % (d | 1)
}

func ints32(a, b int32, c, d uint32) (int32, uint32, int32, uint32, int32, uint32) {
	return a - b*b, c + d, a / (b | 1), c / (d | 1), a % (b | 1), c % (d | 1)
}

func ints64(a, b int64, c, d uint64) (int64, uint64, int64, uint64, int64, uint64) {
	return a - b*b, c + d, a / (b | 1), c / (d | 1), a % (b | 1), c % (d | 1)
}

func bitwise(a int32, b uint16, c int64) (int32, uint16, int64, int32) {
	a &= 0xff0f
	b |= 1 << 3
	c ^= -1
	b &^= 0x30
	return ^a, b, c &^ 5, -a
}

func shifts(a int32, b uint8, n uint8, m int64) (int32, int32, uint8, uint8, int32, uint8) {
	m &= 63
	return a << n, a >> n, b << m, b >> m, a >> uint64(m), b << 3
}

func shiftsWide(a int64, b uint64, n uint32, m int8) (int64, int64, uint64, uint64, int64) {
	m &= 127
	return a << n, a >> n, b << m, b >> m, 1 << (n & 31)
}

func conversions(a int8, b uint8, c int32, d uint32, e int64, f uint64) (int32, int64, uint64, int8, uint8, int16) {
	return int32(a), int64(b), uint64(a), int8(c), uint8(e), int16(d)
}

func conversions2(a int8, b uint8, c int32, d uint32, e int64, f uint64) (uint32, int64, float32, float64, float32, float64, float64) {
	return uint32(e), int64(f), float32(e), float64(f), float32(f), float64(c), float64(int(b) + int(a))
}

func truncates(x float64, y float32) (int8, uint8, int32, uint32, int64, int16) {
	x = math.Max(-100, math.Min(x, 100))
	y = max(0, min(y, 200))
	if x != x {
		x = 0
	}
	if y != y {
		y = 0
	}
	return int8(x), uint8(y), int32(x), uint32(y), int64(x), int16(y)
}

func comparisons(a, b uint32, c, d int8, x, y float32) (bool, bool, bool, bool, bool, bool) {
	return a < b, a >= b, c <= d, c > d, x < y, x != y
}

type vec struct{ x, y, z float64 }

func (v vec) plus(w vec) vec      { return vec{v.x + w.x, v.y + w.y, v.z + w.z} }
func (v vec) times(s float64) vec { return vec{x: v.x * s, z: v.z * s, y: v.y * s} }
func (v vec) dot(w vec) float64   { return v.x*w.x + v.y*w.y + v.z*w.z }
func cross(v, w vec) (r vec) {
	r.x, r.y, r.z = v.y*w.z-v.z*w.y, v.z*w.x-v.x*w.z, v.x*w.y-v.y*w.x
	return
}
func two(a, b float64) (p, q float64) { return a + b, a - b }
func product(a, b float64) float64    { return a * b }

type ray struct {
	vec
	dir [2]vec
	n   int32
}

func structs(a, b, c float64) (float64, float64, int32) {
	v := vec{a, b, c}
	w := v.plus(vec{1, 2, 3}).times(0.5)
	r := ray{vec: v, n: 3}
	r.dir[1] = w
	r.dir[0].y = product(two(a, b))
	r.n++
	for i := range 3 {
		if r.x > float64(i) {
			r.y += r.dir[1].z
		} else {
			r.n *= 2
		}
	}
	if v == r.vec {
		r.n += 100
	}
	return cross(v, w).dot(r.vec), r.dir[0].dot(r.dir[1]), r.n
}

func arrays(x float64, k int32) (float64, int64) {
	coef := [...]float64{1, -0.5, 0.25, 4: 3}
	s := 0.0
	for i := len(coef) - 1; i >= 0; i-- {
		s = s*x + coef[i]
	}
	var hist [4]int64
	for i := int32(0); i < 10; i++ {
		hist[(k&7+i*i)%4]++
	}
	hist[k&3] += 10
	t := int64(0)
	for i, h := range hist {
		t = t*7 + h*int64(i)
	}
	var m [2][2]float64
	for i := range m {
		for j := range m[i] {
			m[i][j] = x * float64(i-j)
		}
	}
	return s + coef[k&3] + m[1][0] - m[0][1], t
}

func bubble(a, b, c, d float32) (float32, float32, float32, float32) {
	v := [4]float32{a, b, c, d}
	for i := 0; i < len(v); i++ {
		for j := 0; j+1 < len(v)-i; j++ {
			if v[j] > v[j+1] {
				v[j], v[j+1] = v[j+1], v[j]
			}
		}
	}
	return v[0], v[1], v[2], v[3]
}

func generic[T float32 | float64](x, y T) T { return T(2)*x*x - y/3 + T(math.Sqrt(float64(x*x))) }

func usesGeneric(x float32, y float64) (float32, float64) {
	return generic(x, 2), generic[float64](y, y) + pick(x > 0, y, 1)
}

func pick[T any](c bool, x, y T) T {
	if c {
		return x
	}
	return y
}

func complexes(a, b complex128) (complex128, complex128, bool) {
	z := a*b - complex(real(b), 1) + 2i
	if real(z) > 0 {
		z = -z
	}
	return z, a / b, a == b
}

func complexes64(c, d complex64) (complex64, complex64, float32, complex128) {
	return c * d, c / d, imag(c), complex128(c) / 2
}

type weekday int32

const (
	monday weekday = iota
	tuesday
	wednesday
	huge = 1 << 40
)

func constants(x int32) (int32, int64, float32, float64) {
	const local = 3 * huge / 1024
	d := weekday(x & 3)
	switch d {
	case monday:
		d = wednesday
	case tuesday:
		d++
	}
	return int32(d), local + int64(x), 0.1, 1.0 / 3
}

func minmax(a, b float32, c, d float64, e, f int16, g, h uint64) (float32, float64, int16, uint64, float64, float64) {
	return min(a, b, 1), max(c, d), min(e, f), max(g, h, 5), math.Min(c, d), math.Max(c, d)
}

func exactMath(x, y float64, z float32) (float64, float64, float64, float64, float64, float64, float64, float64, float32, float64) {
	i, f := math.Modf(x)
	return math.Floor(x), math.Ceil(x), math.Trunc(x), math.Round(x), math.RoundToEven(x), math.Copysign(x, y), math.Dim(x, y), i + f, float32(math.Sqrt(float64(z))), math.FMA(x, y, x)
}

func exactMath2(x, y float64, n int32) (float64, float64, float64, int64, float64, int64, float64, bool, bool, bool) {
	f, e := math.Frexp(x)
	return math.Mod(x, y), math.Remainder(x, y), f, int64(e), math.Ldexp(x, int(n)), int64(math.Ilogb(x)), math.Logb(y), math.IsNaN(x), math.IsInf(x, -1), math.Signbit(y)
}

func exactMath3(x, y float64, z, w float32) (float64, float32, uint64, float64, uint32) {
	return math.Nextafter(x, y), math.Nextafter32(z, w), math.Float64bits(x), math.Float64frombits(math.Float64bits(y) ^ 1), math.Float32bits(z)
}

func smallLdexp(x float64, n int8) float64 { return math.Ldexp(math.Ldexp(x, -1000), int(n)) }

func bitOps(a uint32, b uint64, c uint8, d uint16) (int64, int64, int64, int64, int64, int64, uint32, uint64, uint16, uint8) {
	return int64(bits.LeadingZeros32(a)), int64(bits.TrailingZeros64(b)), int64(bits.OnesCount8(c)), int64(bits.Len16(d)), int64(bits.Len64(b)), int64(bits.TrailingZeros8(c)),
		bits.RotateLeft32(a, 5), bits.RotateLeft64(b, -9), bits.Reverse16(d), bits.Reverse8(c)
}

func bitOps2(a, b uint64, c, d uint32) (uint64, uint64, uint64, uint64, uint64, uint64, uint32, uint32, uint32) {
	s, carry := bits.Add64(a, b, uint64(c&1))
	t, borrow := bits.Sub64(a, b, uint64(c&1))
	hi, lo := bits.Mul64(a, b)
	h, l := bits.Mul32(c, d)
	return s + t, carry, borrow, hi, lo, bits.Reverse64(a), h, l, bits.ReverseBytes32(c)
}

func jacobi(a kernel.Near2[float64]) float64 {
	return 0.25 * (a.At(0, 1) + a.At(0, -1) + a.At(1, 0) + a.At(-1, 0))
}

func box(a kernel.Near2[float64]) float64 {
	s := 0.0
	for i := -1; i <= 1; i++ {
		for j := -1; j <= 1; j++ {
			s += a.At(i, j)
		}
	}
	return s / 9
}

func far9(a kernel.Near2[float64]) float64 {
	s := 0.0
	for i := -4; i <= 4; i++ {
		for j := -4; j < 5; j++ {
			for k := range 4 {
				if a.At(i, j) > 0 {
					s += a.At(i, j) * float64(k)
				}
			}
		}
	}
	return s
}

func weighted(a kernel.Near2[float64], w kernel.Array2[float64]) float64 {
	s := 0.0
	for i := range 3 {
		for j := range 3 {
			s += w.At(i, j) * a.At(i-1, j-1)
		}
	}
	return s
}

func median(a kernel.Near2[float64]) float64 {
	v := [3]float64{a.At(0, -1), a.At(0, 0), a.At(0, 1)}
	if v[0] > v[1] {
		v[0], v[1] = v[1], v[0]
	}
	if v[1] > v[2] {
		v[1] = v[2]
	}
	return max(v[0], v[1])
}

func anywhere(a kernel.Near1[float64], i int64) float64 { return a.At(int(i)) }

func sample(a kernel.Clamped2[float64], b kernel.Wrapped2[float64], c kernel.Zeroed2[float64], x, y float64) (float64, float64, float64) {
	i, j := int(math.Floor(x)), int(y)
	return a.At(i, j) + float64(a.Dim(0)), b.At(i, j) - float64(b.Dim(1)), c.At(i, j)
}

func dot(e kernel.Elem, a, b kernel.Array2[float64]) float64 {
	s := 0.0
	for k := 0; k < a.Dim(1); k++ {
		s += a.At(e.Index(0), k) * b.At(k, e.Index(1))
	}
	for k := b.Dim(0) - 1; k >= 0; k-- {
		s -= b.At(k, e.Dim(1)-1-e.Index(1))
	}
	return s
}

func noisy(e kernel.Elem) (float64, float64, float64, float64) {
	a := float64(e.Rand())
	if a > 0.5 {
		a += e.Rand64()
	}
	b := e.Rand64() + float64(e.Index(1)*e.Dim(0))
	for range 3 {
		b += float64(e.Rand())
	}
	return a, b, float64(e.Randn()), e.Randn64()
}

func smooth1(x, y float64) float64 { return x*x*y - y/x + 3 }

func smooth2(x, y float64) float64 {
	return math.Exp(x)*math.Sin(y) + math.Log(x+y)*math.Cos(x) + math.Tanh(x*y) - math.Tan(x/2) + math.Exp2(x) + math.Expm1(y)
}

func smooth3(x, y float64) float64 {
	return math.Pow(x, y) + math.Atan2(x, y) + math.Hypot(x, y) + math.Sqrt(x*y) + math.Cbrt(x+y) + math.Asinh(x) + math.Atan(y) + math.Mod(5*x, 10) + math.Ldexp(x, 3)
}

func smooth4(x, y float64) float64 {
	return math.Asin(x/3) + math.Acos(y/3) + math.Acosh(x+1) + math.Atanh(y/3) + math.Erf(x) - math.Erfc(y) + math.Sinh(x)*math.Cosh(y) + math.Log2(x) + math.Log10(y) + math.Log1p(x) + math.FMA(x, y, x) + math.Erfinv(x/2) + math.Gamma(x+y) - math.Gamma(-x/3) + lgamma(y)
}

// smooth5 is Newton's iteration for the root of x + y.
func smooth5(x, y float64) float64 {
	a := x + y
	g := 1.0
	for i := 0; i < 100; i++ {
		next := 0.5 * (g + a/g)
		if math.Abs(next-g) < 1e-15 {
			return next * y
		}
		g = next
	}
	return g * y
}

func smooth6(x, y float64) float64 {
	v := [3]float64{x, y, x * y}
	s := 0.0
	for i, e := range v {
		switch i {
		case 1:
			s += e * e * e
		default:
			s -= square(e)
		}
	}
	if x < 10 {
		s = max(s, -100) * min(x, 50)
	}
	return s + math.Abs(-y) + vec{x, y, 1}.dot(vec{y, y, x})
}

func smooth7(x, y float64) float64 {
	z := complex(x, y)
	z = z*z/(z+2) + 1
	return real(z) * imag(z)
}

func mixed(x float32, y float64, n int32) (float32, float64, int32) {
	return x * float32(y), float64(x)*y + float64(n), n
}

func lgamma(x float64) float64 { v, _ := math.Lgamma(x); return v }

func decay(x, y float64) float64 {
	a, s := y, 0.0
	for i := 0; i < 100; i++ {
		a *= 0.5
		s += x * a
	}
	return s
}

// These are compiled from their source alone.
var _ = []any{wide, anywhere, mixed}

// twin is what large gives.
type twin struct {
	a, b float64
	n    int32
}

// large is long, leaves early, and has a loop that lanes leave at different times.
func large(x, y float64, n int32) (twin, float64) {
	if x > 50 {
		return twin{x, y, n}, 1
	}
	u, v := x, y
	for i := range n & 3 {
		if u > 4 {
			break
		}
		u = float64(u*x) + float64(i)
	}
	u, v = float64(u*0.75)+float64(v*x)-0, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.75)+float64(v*x)-1, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-2, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-3, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-4, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-5, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-6, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-7, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.75)+float64(v*x)-8, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-9, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-10, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-11, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-12, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-13, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-14, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-15, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-16, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.75)+float64(v*x)-17, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-18, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-19, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-20, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.5)+float64(v*x)-21, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*0.25)+float64(v*x)-22, float64(v*y)+math.Sqrt(math.Abs(u))
	u, v = float64(u*-0.5)+float64(v*x)-23, float64(v*y)+math.Sqrt(math.Abs(u))
	return twin{u, v, n + 1}, u / (float64(v*v) + 1)
}

func (t twin) again(x float64) twin {
	r, _ := large(t.a, x, t.n)
	return r
}

// small calls large on a condition.
func small(x float64) float64 {
	if x < 0 {
		_, x = large(x, 1, 1)
	}
	return x
}

// manyCalls calls a large function twenty times: one call behind the other and within each
// other, for several results, in expressions, on conditions, with changes in between.
func manyCalls(x, y float64, k int32) (float64, int32, float64) {
	t, p := large(x, y, k)
	s := p
	t, p = large(t.b, s, t.n)
	s += p
	var extra [2]float64
	extra[0], s = s, float64(s*0.5)
	_, q := large(extra[0], s, 0)
	u, w := large(q, p, t.n)
	extra[1] = small(w) + u.a
	w, q = q, w
	_, r := large(first(large(w, q, 2)), first(large(q, w, 3)), 1)
	r += float64(0.25*first(large(r, 1, 0))) - float64(first(large(1, r, 0))*first(large(r, r, k)))
	if r > 0 && first(large(r, s, 1)) > 1 {
		s++
	}
	for i := range int32(2) {
		a, b := large(s, float64(i), i)
		c, d := large(b, a.a, a.n)
		e, f := large(d, c.b, 7)
		s = e.a + f
	}
	z, _ := large(s, r, 5)
	z = z.again(s)
	z, s = large(z.a, z.b, 3)
	g, h := large(s, z.a, z.n)
	if first(large(g.b, h, 1)) > first(large(h, g.b, 1)) {
		return g.a, g.n, extra[0]
	}
	return first(large(h, g.a, 1)) + first(large(extra[1], g.a, 2)), z.n, first(large(h, z.b, k))
}

func first(t twin, x float64) float64 { return t.a - x }

func Twice(x, y float64) float64 {
	s := cubic(x, y) + cubic(y, x)
	s = cubic(s, cubic(x, s))
	return cubic(s, 1) - float64(s*cubic(1, s))
}

func Branches(x, y float64) float64 {
	s := 0.0
	if x > y {
		s = cubic(x, y)
	} else if cubic(y, x) > 0 && cubic(x, 1) < y {
		return cubic(y, s)
	}
	switch {
	case s > 0.1:
		s += cubic(s, y)
	case cubic(s, x) < 0.5:
		s -= halves(y, s)
	}
	return s + halves(x, s)
}

func halves(x, y float64) float64 {
	if y < 0.25 {
		return cubic(float64(0.5*x), y)
	}
	return cubic(y, float64(0.5*x)) - y
}

func cubic(x, y float64) float64 {
	if x > y {
		return float64(float64(x*x)*y) + x
	}
	for range 3 {
		x = float64(x*y) + 0.5
	}
	return x - float64(y*y)
}
