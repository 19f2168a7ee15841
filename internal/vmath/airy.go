package vmath

import "weft/internal/loop"

// An airy holds the polynomials of one of Airy's functions, by ranges of x:
//   - from -5.5 to 10.5 pieces, which from 1.5 on leave out exp(sign*zeta) with zeta = 2/3*x^(3/2);
//   - above, x^(-slope/4)*exp(sign*zeta) times a polynomial of 1/zeta;
//   - below, waves of the angle zeta + pi/4 or zeta - pi/4, whose amplitude and phase are polynomials of 1/zeta^2.
//
// Near zeros of the waves the error is small relative to the amplitude.
type airy struct {
	pieces             [][]float64
	far, height, phase []float64
	slope              float64 // 1 of the function, -1 of its derivative
	sign               float64 // of zeta
	ahead, negated     bool    // the wave is sin(zeta+pi/4) instead of sin(zeta-pi/4), and has a sign
}

const (
	airyWaves, airyScaled, airyFarFrom = -5.5, 1.5, 10.5
	// airyLeast is the least x: below, the angle is not known.
	airyLeast = -3e10
	// airyMost is an x from which the exponential overflows or is 0.
	airyMost = 200
	// twoThirdsLo is 2/3 less its nearest float64.
	twoThirdsLo = 0x1.5555555555555p-55
)

// airyZeta is 2/3*a^(3/2) in two floats, for a from 1.5 to 3e10, and the root of a.
func (f *form) airyZeta(a loop.Value) (zeta sum, root loop.Value) {
	root = f.Sqrt(a)
	rest := f.Div(f.Fma(f.Neg(root), root, a), f.Add(root, root))
	p := f.Mul(a, root)
	plo := f.Fma(a, rest, f.Fma(a, root, f.Neg(p)))
	z := f.Mul(p, f.c(2./3))
	return sum{z, f.Fma(p, f.c(twoThirdsLo), f.Fma(plo, f.c(2./3), f.Fma(p, f.c(2./3), f.Neg(z))))}, root
}

// quarter is y*x^(-slope/4), where root is the root of x.
func (f *form) quarter(o *airy, y, root loop.Value) loop.Value {
	if o.slope > 0 {
		return f.Div(y, f.Sqrt(root))
	}
	return f.Mul(y, f.Sqrt(root))
}

func airyOf(b *loop.Builder, x loop.Value, o *airy) loop.Value {
	return in64(b, x, func(f *form, x loop.Value) loop.Value {
		at := f.clamp(x, airyWaves, airyFarFrom)
		s := f.piece(o.pieces, gammaArg{y: at, index: f.toInt(f.Add(at, f.c(f.shift)))})
		near := f.Add(s.hi, s.lo)
		v := f.rare(f.Le(f.c(airyScaled), x), near, func() loop.Value {
			zeta, root := f.airyZeta(f.clamp(x, airyScaled, airyMost))
			y := f.rare(f.Lt(f.c(airyFarFrom), x), near, func() loop.Value {
				return f.quarter(o, f.poly(f.Div(f.c(1), zeta.hi), o.far), root)
			})
			if o.sign < 0 {
				zeta = sum{f.Neg(zeta.hi), f.Neg(zeta.lo)}
			}
			u, e := f.expSum(zeta.hi, zeta.lo)
			return f.ScaleB(f.Mul(y, u), e.k)
		})
		return f.rare(f.Le(x, f.c(airyWaves)), v, func() loop.Value {
			zeta, root := f.airyZeta(f.clamp(f.Neg(x), -airyWaves, -airyLeast))
			inv := f.Div(f.c(1), zeta.hi)
			t := f.Mul(inv, inv)
			y := f.Mul(f.poly(t, o.height), f.sinAround(zeta.hi, f.Fma(inv, f.poly(t, o.phase), zeta.lo), o.ahead))
			if o.negated {
				y = f.Neg(y)
			}
			return f.Select(f.Lt(x, f.c(airyLeast)), f.nan(), f.quarter(o, y, root))
		})
	})
}

// AiryAi is Airy's function Ai, which falls for positive x. It is NaN below -3e10.
func AiryAi(b *loop.Builder, x loop.Value) loop.Value {
	return airyOf(b, x, &airy{airyAiPieces, airyAiFar, airyHeight, airyPhase, 1, -1, true, false})
}

// AiryAip is the derivative of [AiryAi].
func AiryAip(b *loop.Builder, x loop.Value) loop.Value {
	return airyOf(b, x, &airy{airyAipPieces, airyAipFar, airySlopeHeight, airySlopePhase, -1, -1, false, false})
}

// AiryBi is Airy's function Bi, which grows for positive x. It is NaN below -3e10.
func AiryBi(b *loop.Builder, x loop.Value) loop.Value {
	return airyOf(b, x, &airy{airyBiPieces, airyBiFar, airyHeight, airyPhase, 1, 1, false, true})
}

// AiryBip is the derivative of [AiryBi].
func AiryBip(b *loop.Builder, x loop.Value) loop.Value {
	return airyOf(b, x, &airy{airyBipPieces, airyBipFar, airySlopeHeight, airySlopePhase, -1, 1, true, false})
}
