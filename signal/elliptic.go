package signal

import (
	"math"
	"math/big"

	"weft/internal/array"
)

// Ellip designs an elliptic (Cauer) filter: rp is the greatest loss in the passband and rs > rp the least loss in the
// stopband, both in decibels, and wn the frequencies where the loss first exceeds rp. Of all designs of an order it
// has the narrowest transition. It panics as [Cheby1] does, where rs is not above rp, and where it is so near to rp that
// poles and the unit circle are one in this precision.
func Ellip(n int, rp, rs float64, wn []float64, opts ...IIROpts) ZPK {
	const name = "signal.ellip"
	o := checkDesign(name, n, wn, opts)
	checkLosses(name, "rp", "rs", rp, rs)
	// S. J. Orfanidis, "Lecture Notes on Elliptic Filter Design" (2006). The modulus of the filter has the nome of
	// the modulus of its ripples, to the power 1/n.
	pass, stop := expm1(0.1*rp*math.Ln10), expm1(0.1*rs*math.Ln10)
	k1, k1c := math.Sqrt(pass/stop), math.Sqrt(excess(rp, rs)/stop)
	agm1, agm1c := agm(1, k1), agm(1, k1c)
	k, kc := moduli(-math.Pi * agm1c / agm1 / float64(n))
	y, before := 1/math.Sqrt(pass), k1
	for _, m := range landen(k1, k1c) {
		y, before = 2*y/((1+m.k)*(1+math.Sqrt(1+float64(float64(y*y)*float64(before*before))))), m.k
	}
	// Functions of a complex argument are made of functions of its real and imaginary parts, the latter with the complement of
	// the modulus (Abramowitz, Stegun, 16.21), so that poles and their distances from the unit circle are sums of positive numbers.
	upS, upC := sincos(asinh(y) * agm1 / agm1c)
	upS, upC, upD := jacobi(upS, upC, landen(kc, k))
	steps := landen(k, kc)
	f := ZPK{K: 1}
	for i := 1; i < n; i += 2 {
		c, s := sincos(math.Pi / 2 * float64(i) / float64(n))
		s, c, d := jacobi(s, c, steps)
		size := float64(upC*upC) + float64(float64(k*s*upS)*float64(k*s*upS))
		re, im := -c*d*upS*upC/size, s*upD/size
		f.Z = append(f.Z, complex(0, 1/(k*s)), complex(0, -1/(k*s)))
		f.P = append(f.P, complex(re, im), complex(re, -im))
	}
	if n%2 == 1 {
		f.P = append(f.P, complex(-upS/upC, 0))
	}
	for _, p := range f.P {
		if !(real(p) < -0x1p-50*modulus(p)) { // rounding would put it on the unit circle
			array.Failf(name, "rs", "is %v, too near to rp, which is %v, for a stable filter of order %d", rs, rp, n)
		}
	}
	f.K = real(divide(negated(f.P), negated(f.Z)))
	if n%2 == 0 {
		f.K /= math.Sqrt(1 + pass)
	}
	return digital(f, wn, o)
}

// checkLosses refuses losses in the stopband that are not above those in the passband.
func checkLosses(name, pass, stop string, rp, rs float64) {
	checkLoss(name, pass, rp)
	checkLoss(name, stop, rs)
	if rs <= rp {
		array.Failf(name, stop, "is %v, want a loss above %s, which is %v", rs, pass, rp)
	}
}

// excess is 10^(rs/10) - 10^(rp/10), without the cancellation of losses that are near each other.
func excess(rp, rs float64) float64 {
	return float64(exp(0.1*rp*math.Ln10) * expm1(0.1*(rs-rp)*math.Ln10))
}

// agm is the arithmetic-geometric mean of positive numbers.
func agm(a, b float64) float64 {
	for range 60 {
		if math.Abs(a-b) <= 0x1p-52*a {
			break
		}
		a, b = (a+b)/2, math.Sqrt(float64(a*b))
	}
	return a
}

// moduli is the elliptic modulus and its complement for the logarithm of a nome, by theta functions. Nomes above
// exp(-pi) belong to the complement.
func moduli(ln float64) (k, kc float64) {
	if ln > -math.Pi {
		kc, k = moduli(math.Pi * math.Pi / ln)
		return k, kc
	}
	q := exp(ln)
	a, b, c, square, pair := 1.0, 1.0, 1.0, q, float64(q*q)
	for m, odd := 1, q; m < 8; m++ { // square is q^(m*m), pair is q^(m*(m+1)), odd is q^(2m-1)
		a += pair
		b += 2 * square
		c += float64(1-2*(m%2)) * 2 * square
		odd *= float64(q * q)
		square *= odd
		pair *= odd * q
	}
	return 4 * math.Sqrt(q) * float64(a/b*(a/b)), float64(c / b * (c / b))
}

// A landenModulus is an elliptic modulus k and its complement c: the sum of their squares is 1.
type landenModulus struct{ k, c float64 }

// landen is the moduli of descending Landen transformations.
func landen(k, c float64) (v []landenModulus) {
	for len(v) < 40 && k > 1e-18 {
		r := k / (1 + c)
		k, c = float64(r*r), 2*math.Sqrt(c)/(1+c)
		v = append(v, landenModulus{k, c})
	}
	return v
}

// jacobi is the elliptic functions sn, cn and dn of a real argument, from the sine and the cosine that they are for modulus 0,
// by ascending Landen transformations (Abramowitz, Stegun, 16.12) without differences.
func jacobi(s, c float64, v []landenModulus) (sn, cn, dn float64) {
	dn = 1
	for i := len(v) - 1; i >= 0; i-- {
		m, ss, cc := v[i], float64(s*s), float64(c*c)
		bent := float64(m.c*m.c) * ss
		down := 1 + float64(m.k*ss)
		s, c, dn = (1+m.k)*s/down, c*math.Sqrt(cc+float64(bent))/down, (cc+float64(bent/(1+m.k)))/down
	}
	return s, c, dn
}

// A BesselNorm says what the critical frequency of a [Bessel] filter means.
type BesselNorm string

const (
	PhaseNorm BesselNorm = "phase" // half of the phase has turned there; high frequencies pass as in Butter
	DelayNorm BesselNorm = "delay" // the delay at low frequencies is 1/wn before the bilinear transform
	MagNorm   BesselNorm = "mag"   // the gain is 1/sqrt(2), as that of Butter
)

// BesselOpts are the options of [Bessel].
type BesselOpts struct {
	BType BType      // empty means LowPass, or BandPass for two frequencies
	FS    *float64   // sampling rate, the unit of frequencies; nil means 2
	Norm  BesselNorm // empty means PhaseNorm
}

// Bessel designs a Bessel filter, whose delay is nearly the same at all frequencies that it passes. The bilinear
// transform keeps that for low ones. It panics as [Butter] does, for unknown norms, and for orders above 100.
func Bessel(n int, wn []float64, opts ...BesselOpts) ZPK {
	const name = "signal.bessel"
	b := array.Options(name, opts)
	o := checkDesign(name, n, wn, []IIROpts{{BType: b.BType, FS: b.FS}})
	if n > 100 {
		array.Failf(name, "n", "is %d, want an order of 1 to 100", n)
	}
	f := ZPK{P: besselRoots(n), K: 1}
	logs := 0.0 // of the constant of the polynomial, 1*3*5*...*(2n-1)
	for k := 1; k <= n; k++ {
		logs += ln1p(float64(2*k - 2))
		if b.Norm == DelayNorm {
			f.K *= float64(2*k - 1)
		}
	}
	switch b.Norm {
	case "", PhaseNorm:
		f.P = scaled(f.P, exp(-logs/float64(n)))
	case DelayNorm:
	case MagNorm:
		w := halfPower(f.P)
		f.P = scaled(f.P, 1/w)
		f.K = real(negated(f.P))
	default:
		array.Failf(name, "Norm", "is %q, want phase, delay or mag", string(b.Norm))
	}
	return digital(f, wn, o)
}

// besselRoots is the roots of the reverse Bessel polynomial of degree n, by O. Aberth, Iteration Methods for Finding all
// Zeros of a Polynomial Simultaneously (1973).
func besselRoots(n int) []complex128 {
	roots := make([]complex128, n)
	for i := range n / 2 {
		s, c := sincos(math.Pi/2 + math.Pi*(float64(i)+0.5)/float64(n))
		roots[i] = complex(0.8*float64(n)*c, 0.8*float64(n)*s)
		roots[n-1-i] = complex(real(roots[i]), -imag(roots[i]))
	}
	if n%2 == 1 {
		roots[n/2] = complex(-0.8*float64(n), 0)
	}
	for range 200 {
		moved := 0.0
		for i, s := range roots[:(n+1)/2] { // the others are their conjugates
			newton, others := besselStep(n, s), complex(0, 0)
			for j, v := range roots {
				if j != i {
					others += divide(1, s-v)
				}
			}
			step := divide(newton, 1-multiply(newton, others))
			moved = max(moved, modulus(step)/modulus(s))
			s -= step
			if i == n/2 {
				s = complex(real(s), 0)
			}
			roots[i], roots[n-1-i] = s, complex(real(s), -imag(s))
		}
		if moved < 1e-15 {
			break
		}
	}
	return roots
}

// besselStep is Newton's step of the reverse Bessel polynomial of degree n at s, p(n,s)/p'(n,s), where
// p(n) = (2n-1)*p(n-1) + s*s*p(n-2), and p'(n) = p(n) - s*p(n-1). Left of the imaginary axis that loses
// about 3 bits a degree.
func besselStep(n int, s complex128) complex128 {
	prec := uint(128 + 4*n)
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }
	type pair [2]*big.Float
	t := num(0)
	times := func(to, a, b pair) { // to is neither a nor b
		to[0].Sub(to[0].Mul(a[0], b[0]), t.Mul(a[1], b[1]))
		to[1].Add(to[1].Mul(a[0], b[1]), t.Mul(a[1], b[0]))
	}
	z, square := pair{num(real(s)), num(imag(s))}, pair{num(0), num(0)}
	times(square, z, z)
	last, p, next := pair{num(1), num(0)}, pair{num(1), num(0)}, pair{num(0), num(0)}
	p[0].Add(p[0], z[0])
	p[1].Set(z[1])
	for k := 2; k <= n; k++ {
		times(next, square, last)
		for i := range next {
			next[i].Add(next[i], last[i].Mul(p[i], t.SetInt64(int64(2*k-1))))
		}
		last, p, next = p, next, last
	}
	times(next, z, last)
	d := pair{last[0].Sub(p[0], next[0]), last[1].Sub(next[1], p[1])} // the conjugate of the derivative
	times(next, p, d)
	size := z[0].Add(z[0].Mul(d[0], d[0]), z[1].Mul(d[1], d[1]))
	if size.Sign() == 0 {
		return 0
	}
	re, _ := next[0].Quo(next[0], size).Float64()
	im, _ := next[1].Quo(next[1], size).Float64()
	return complex(re, im)
}

// halfPower is the frequency where the gain of a low pass with these poles is 1/sqrt(2).
func halfPower(p []complex128) float64 {
	loss := func(w float64) float64 {
		y := 1.0
		for _, v := range p {
			re, im, up := real(v)/modulus(v), imag(v)/modulus(v), w/modulus(v)
			y *= float64(re*re) + float64((up-im)*(up-im))
		}
		return y
	}
	low, high := 0.0, 1.0
	for loss(high) < 2 {
		high *= 2
	}
	for range 100 {
		if m := (low + high) / 2; loss(m) < 2 {
			low = m
		} else {
			high = m
		}
	}
	return high
}
