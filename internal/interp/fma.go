package interp

import "math"

// Fma32 returns a*b+c rounded once to float32, in portable Go.
//
// The product of two float32 is exact in float64, so the sum s is the exact
// result rounded to 53 bits. Rounding s to float32 can differ from rounding the
// exact result only where s lies halfway between two float32: its low 29 bits
// are then 1 and zeros, or the result is subnormal. Those cases are rare and go
// through [fmaOdd].
func Fma32(a, b, c float32) float32 {
	p := float64(float64(a) * float64(b))
	s := p + float64(c)
	if u := math.Float64bits(s); u&0x1fffffff == 0x10000000 || u<<1 < minNormal32 {
		return fmaOdd(p, float64(c), s)
	}
	return float32(s)
}

// minNormal32 is the bits of the least normal float32 as a float64, 2^-126,
// without the place of the sign.
const minNormal32 = (1023 - 126) << 53

// fmaOdd rounds the exact sum of p and c, of which s is the rounded one, to
// float32. A sum that is not exact is first rounded to odd: of the two float64
// around it the one with an odd last bit, which can neither be halfway between
// two float32 nor hide on which side the sum is (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008).
func fmaOdd(p, c, s float64) float32 {
	// Knuth's two-sum: the exact error of s.
	t := s - p
	e := (p - (s - t)) + (c - t)
	u := math.Float64bits(s)
	if e != 0 && u&1 == 0 {
		if (e > 0) == (s > 0) {
			u++
		} else {
			u--
		}
	}
	return float32(math.Float64frombits(u))
}

func fma32(d, a, b, c []float32) {
	if len(a) == 1 {
		a, b = b, a
	}
	if len(a) == 1 { // and b as well
		x, y := a[0], b[0]
		if len(c) == 1 {
			fill(d, Fma32(x, y, c[0]))
			return
		}
		c = c[:len(d)]
		for i := range d {
			d[i] = Fma32(x, y, c[i])
		}
		return
	}
	a = a[:len(d)]
	switch {
	case len(b) == 1 && len(c) == 1:
		y, z := b[0], c[0]
		for i := range d {
			d[i] = Fma32(a[i], y, z)
		}
	case len(b) == 1:
		y, c := b[0], c[:len(d)]
		for i := range d {
			d[i] = Fma32(a[i], y, c[i])
		}
	case len(c) == 1:
		b, z := b[:len(d)], c[0]
		for i := range d {
			d[i] = Fma32(a[i], b[i], z)
		}
	default:
		b, c := b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = Fma32(a[i], b[i], c[i])
		}
	}
}

func fma64(d, a, b, c []float64) {
	// A step of 0 stays on an operand that is the same for all lanes.
	sa, sb, sc := min(len(a)-1, 1), min(len(b)-1, 1), min(len(c)-1, 1)
	if sa&sb&sc == 1 {
		a, b, c := a[:len(d)], b[:len(d)], c[:len(d)]
		for i := range d {
			d[i] = math.FMA(a[i], b[i], c[i])
		}
		return
	}
	for i := range d {
		d[i] = math.FMA(a[i*sa], b[i*sb], c[i*sc])
	}
}

func fma32Step(m *machine, in *instr) {
	fma32(vec[float32](m, in.d), vec[float32](m, in.a), vec[float32](m, in.b), vec[float32](m, in.c))
}

func fma64Step(m *machine, in *instr) {
	fma64(vec[float64](m, in.d), vec[float64](m, in.a), vec[float64](m, in.b), vec[float64](m, in.c))
}
