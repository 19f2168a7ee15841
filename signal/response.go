package signal

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/polynomial"
)

// FreqZOpts are the options of [FreqZ], [SOSFreqZ] and [GroupDelay].
type FreqZOpts struct {
	N     *int         // number of frequencies, from 0 to before half of the sampling rate; nil means 512
	Whole bool         // to before the sampling rate
	W     *weft.Tensor // the frequencies, [k], instead of N and Whole
	FS    *float64     // sampling rate, the unit of frequencies; nil means 2*pi
}

// FreqZ returns frequencies, [k], float64, and the frequency response there, [k], complex, of the filter with
// the coefficients b and a of [LFilter]. It panics with *[weft.Error] for other shapes, and options out of
// range.
func FreqZ(b, a *weft.Tensor, opts ...FreqZOpts) (w, h *weft.Tensor) {
	const name = "signal.freqz"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "b", b), vectorOf(name, "a", a))
	w, z := frequenciesOf(name, c[0], array.Options(name, opts))
	return w, polynomial.Val(z, c[0]).Div(polynomial.Val(z, c[1]))
}

// SOSFreqZ is [FreqZ] of the sections of [SOSFilt], [sections 6].
func SOSFreqZ(sos *weft.Tensor, opts ...FreqZOpts) (w, h *weft.Tensor) {
	const name = "signal.sosfreqz"
	defer array.Named(name).End()
	sos = sectionsArg(name, sos)
	w, z := frequenciesOf(name, sos, array.Options(name, opts))
	for i := range sos.Dim(0) {
		g := polynomial.Val(z, sectionPart(sos, i, 0)).Div(polynomial.Val(z, sectionPart(sos, i, 3)))
		if h == nil {
			h = g
		} else {
			h = h.Mul(g)
		}
	}
	return w, h
}

// GroupDelay returns frequencies, [k], float64, and the group delay there, [k], of the filter with the coefficients b
// and a of [LFilter]: the derivative of the phase with respect to the frequency, negated, in samples. It is computed in
// complex128 and rounded once, to float64 for coefficients of float64 or complex128, else to float32. The delay is 0
// where a zero or a pole is on the unit circle, within rounding. It panics as [FreqZ] does.
func GroupDelay(b, a *weft.Tensor, opts ...FreqZOpts) (w, gd *weft.Tensor) {
	const name = "signal.group_delay"
	defer array.Named(name).End()
	c := meet(vectorOf(name, "b", b), vectorOf(name, "a", a))
	w, z := frequenciesOf(name, c[0].To(weft.Complex128), array.Options(name, opts))
	upper, free := delayOf(c[0].To(weft.Complex128), z)
	lower, stable := delayOf(c[1].To(weft.Complex128), z)
	gd = weft.Where(free.LogicalAnd(stable), upper.Sub(lower), 0.0)
	if d := c[0].DType(); d != weft.Float64 && d != weft.Complex128 {
		gd = gd.To(weft.Float32)
	}
	return w, gd
}

// delayOf returns the group delays of a polynomial in z, and where it is not 0 within rounding: the real part of
// sum(k*c[k]*z^k)/sum(c[k]*z^k), without the loss of digits in the product of both polynomials.
func delayOf(c, z *weft.Tensor) (delay, ok *weft.Tensor) {
	v := polynomial.Val(z, c)
	k := weft.ArangeOf[int](weft.Float64, c.Dim(0)).On(c.Device())
	ok = v.Detach().Abs().Le(c.Detach().Abs().Sum().Mul(0x1p-52)).LogicalNot()
	safe := weft.Where(ok, v, weft.OnesLike(v))
	return polynomial.Val(z, c.Mul(k)).Div(safe).Real(), ok
}

func sectionsArg(name string, sos *weft.Tensor) *weft.Tensor {
	sos = numbers(name, "sos", sos)
	if sos.Rank() != 2 || sos.Dim(0) == 0 || sos.Dim(1) != 6 {
		array.Failf(name, "sos", "has shape %s, want [sections 6]", array.ShapeString(sos.Shape()))
	}
	return sos
}

// sectionPart is three coefficients of a section.
func sectionPart(sos *weft.Tensor, i, from int) *weft.Tensor {
	return sos.Slice(weft.Index(i), weft.Range(from, from+3))
}

// frequenciesOf returns frequencies, and exp(-i*w) for their angles w in the complex type of coefficients.
func frequenciesOf(name string, c *weft.Tensor, o FreqZOpts) (w, z *weft.Tensor) {
	fs := array.Or(o.FS, 2*math.Pi)
	checkRate(name, fs)
	if o.W != nil {
		w = vectorOf(name, "W", o.W)
		if w.DType().Complex() {
			array.Failf(name, "W", "has elements of type %s, want real numbers", w.DType())
		}
		w = w.To(weft.Float64)
	} else {
		n := array.Or(o.N, 512)
		if n < 1 || n > 1<<30 {
			array.Failf(name, "N", "is %d, want 1 or more frequencies", n)
		}
		end := fs
		if !o.Whole {
			end /= 2
		}
		w = weft.ArangeOf[int](weft.Float64, n).Mul(end / float64(n)).On(c.Device())
	}
	z = weft.Polar(weft.OnesLike(w), w.Mul(-2*math.Pi/fs))
	if d := c.DType(); d != weft.Float64 && d != weft.Complex128 {
		z = z.To(weft.Complex64)
	}
	return w, z
}

// TF2ZPK returns the zeros, poles and gain of the filter with the coefficients b and a of [LFilter], real
// numbers. The shorter of them goes on with zeros, so that the filter is the same; SciPy's function takes
// coefficients of different lengths as polynomials in z. It reads both: the result has no gradient. It panics with *[weft.Error]
// for other shapes, complex numbers, numbers that are not finite, and a that begins with 0.
func TF2ZPK(b, a *weft.Tensor) ZPK {
	const name = "signal.tf2zpk"
	defer array.Named(name).End()
	return zpkOf(name, b, a)
}

// TF2SOS returns the filter with the coefficients b and a of [LFilter] as sections of second order for
// [SOSFilt]: [TF2ZPK] and then [ZPK.SOS]. The result has no gradient.
func TF2SOS(b, a *weft.Tensor) *weft.Tensor {
	const name = "signal.tf2sos"
	defer array.Named(name).End()
	return zpkOf(name, b, a).SOS().On(b.Device())
}

func zpkOf(name string, b, a *weft.Tensor) ZPK {
	n := max(vectorOf(name, "b", b).Dim(0), vectorOf(name, "a", a).Dim(0))
	cb, ca := hostCoefficients(name, "b", b, n), hostCoefficients(name, "a", a, n)
	if ca[0] == 0 {
		array.Failf(name, "a", "begins with 0")
	}
	for len(cb) > 0 && cb[0] == 0 {
		cb = cb[1:]
	}
	f := ZPK{P: rootsOf(ca)}
	if len(cb) > 0 {
		f.Z, f.K = rootsOf(cb), cb[0]/ca[0]
	}
	return f
}

// hostCoefficients reads n coefficients, those behind the end 0.
func hostCoefficients(name, arg string, t *weft.Tensor, n int) []float64 {
	if t.DType().Complex() {
		array.Failf(name, arg, "has elements of type %s, want real numbers", t.DType())
	}
	c := slices.Clone(weft.Data[float64](t.Detach().To(weft.Float64).Contiguous()))
	for i, v := range c {
		if v-v != 0 {
			array.Failf(name, arg, "has %v at place %d, want finite numbers", v, i)
		}
	}
	return append(c, make([]float64, n-len(c))...)
}

// rootsOf is the roots of a polynomial whose coefficients begin with that of the highest power, not 0. Zeros
// at the end are roots of 0.
func rootsOf(c []float64) []complex128 {
	var at0 []complex128
	for c[len(c)-1] == 0 {
		c, at0 = c[:len(c)-1], append(at0, 0)
	}
	if len(c) == 1 {
		return at0
	}
	up := slices.Clone(c)
	slices.Reverse(up)
	r := polynomial.Roots(weft.FromSlice(up, len(up))).To(weft.Complex128).Contiguous()
	return append(slices.Clone(weft.Data[complex128](r)), at0...)
}

// SOS2TF returns the coefficients b and a for [LFilter] of sections of second order, [sections 6]: the products
// of the polynomials of the sections, [2*sections+1]. It panics with *[weft.Error] for other shapes.
func SOS2TF(sos *weft.Tensor) (b, a *weft.Tensor) {
	const name = "signal.sos2tf"
	defer array.Named(name).End()
	sos = sectionsArg(name, sos)
	b, a = sectionPart(sos, 0, 0), sectionPart(sos, 0, 3)
	for i := 1; i < sos.Dim(0); i++ {
		b, a = convolved(b, sectionPart(sos, i, 0)), convolved(a, sectionPart(sos, i, 3))
	}
	return b, a
}
