package interp

import "math"

// Fma32 returns a*b+c rounded once to float32, in portable Go. It is too large to
// be inlined; a hot loop writes out
//
//	s := float64(a)*float64(b) + float64(c)
//	r := float32(s)
//	if HardFma32(s) {
//		r = Fma32(a, b, c)
//	}
func Fma32(a, b, c float32) float32 {
	p := float64(a) * float64(b)
	s := p + float64(c)
	if HardFma32(s) {
		return fmaOdd(p, float64(c))
	}
	return float32(s)
}

// HardFma32 reports whether rounding s = a*b+c, computed in float64 from float32
// operands, to float32 may differ from rounding the exact result. It is inlined.
//
// The product of two float32 is exact in float64 (so it does not matter whether
// the compiler contracts product and sum), and s is the exact result rounded to
// 53 bits. Rounding s again can go wrong only where s lies halfway between two
// float32: its low 29 bits are then 1 and zeros, or the result is subnormal.
func HardFma32(s float64) bool {
	u := math.Float64bits(s)
	return u<<35 == 1<<63 || u<<1 < minNormal32
}

// minNormal32 is the bits of the least normal float32 as a float64, 2^-126,
// without the place of the sign.
const minNormal32 = (1023 - 126) << 53

// fmaOdd rounds the exact sum of p and c to float32. A sum that is not exact is first rounded to odd: of the two float64
// around it the one with an odd last bit, which can neither be halfway between
// two float32 nor hide on which side the sum is (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008).
//
//go:noinline
func fmaOdd(p, c float64) float32 {
	// Knuth's two-sum: s, and the exact error of s.
	s := p + c
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
			s := float64(x)*float64(y) + float64(c[i])
			if HardFma32(s) {
				d[i] = Fma32(x, y, c[i])
				continue
			}
			d[i] = float32(s)
		}
		return
	}
	a = a[:len(d)]
	switch {
	case len(b) == 1 && len(c) == 1:
		y, z := b[0], c[0]
		for i := range d {
			s := float64(a[i])*float64(y) + float64(z)
			if HardFma32(s) {
				d[i] = Fma32(a[i], y, z)
				continue
			}
			d[i] = float32(s)
		}
	case len(b) == 1:
		y, c := b[0], c[:len(d)]
		for i := range d {
			s := float64(a[i])*float64(y) + float64(c[i])
			if HardFma32(s) {
				d[i] = Fma32(a[i], y, c[i])
				continue
			}
			d[i] = float32(s)
		}
	case len(c) == 1:
		b, z := b[:len(d)], c[0]
		for i := range d {
			s := float64(a[i])*float64(b[i]) + float64(z)
			if HardFma32(s) {
				d[i] = Fma32(a[i], b[i], z)
				continue
			}
			d[i] = float32(s)
		}
	default:
		b, c := b[:len(d)], c[:len(d)]
		for i := range d {
			s := float64(a[i])*float64(b[i]) + float64(c[i])
			if HardFma32(s) {
				d[i] = Fma32(a[i], b[i], c[i])
				continue
			}
			d[i] = float32(s)
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
