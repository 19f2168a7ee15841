package polynomial

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
)

// A Series is polynomials with the interval of x that is scaled to that of the basis: the classes of numpy.polynomial,
// such as Chebyshev. [Basis.FitSeries] and [Basis.Series] make it.
type Series struct {
	Basis  Basis
	Coef   *weft.Tensor // coefficients in the basis along the last axis
	Domain [2]float64   // x that is scaled to -1 to 1; for Laguerre to 0 to 1
}

// SeriesOpts are the options of [Basis.FitSeries].
type SeriesOpts struct {
	Domain *[2]float64  // the interval to scale; nil: from the least to the greatest x
	W      *weft.Tensor // as in [FitOpts]
	RTol   *float64     // as in [FitOpts]
}

// window is the interval to which a domain is scaled.
func (b Basis) window() [2]float64 {
	if b == Laguerre {
		return [2]float64{0, 1}
	}
	return [2]float64{-1, 1}
}

// Series returns polynomials, [... n] by their coefficients in the basis, for a domain that is scaled to that of the
// basis: NumPy's Chebyshev(c, domain).
//
// It panics with *[weft.Error] where c has no coefficients, or the domain is no interval of finite length.
func (b Basis) Series(c *weft.Tensor, domain [2]float64) *Series {
	const name = "polynomial.basis.series"
	b.check(name, "b")
	c = coefficients(name, "c", c)
	checkDomain(name, "domain", domain)
	return &Series{b, c, domain}
}

func checkDomain(name, arg string, d [2]float64) {
	if size := math.Abs(d[1] - d[0]); !(size > 0) || math.IsInf(size, 1) {
		array.Failf(name, arg, "is %v: want two different finite numbers", d)
	}
}

// FitSeries returns the polynomials of degree deg with the least sums of squared differences from y, [... m], at x, [m]
// of real numbers, whose interval is scaled to that of the basis first: so high degrees keep their digits. Without
// Domain the values of x are read, so that compiled functions need it. NumPy's Chebyshev.fit and Polynomial.fit.
//
// It panics with *[weft.Error] as [Basis.Fit] does, and for complex x.
func (b Basis) FitSeries(x, y *weft.Tensor, deg int, opts ...SeriesOpts) *Series {
	const name = "polynomial.basis.fitseries"
	defer array.Named(name).End()
	b.check(name, "b")
	o := array.Options(name, opts)
	x = numbers(name, "x", x)
	if x.DType().Complex() {
		array.Failf(name, "x", "is %s, want real numbers", x.DType())
	}
	if x.Rank() != 1 || x.Dim(0) == 0 {
		array.Failf(name, "x", "has shape %s, want a vector with elements", array.ShapeString(x.Shape()))
	}
	s := &Series{Basis: b}
	if o.Domain != nil {
		checkDomain(name, "Domain", *o.Domain)
		s.Domain = *o.Domain
	} else {
		d := x.Detach()
		s.Domain = [2]float64{d.Min().Item(), d.Max().Item()}
		if s.Domain[0] == s.Domain[1] {
			s.Domain[0]--
			s.Domain[1]++
		}
		checkDomain(name, "x", s.Domain)
	}
	f := FitOpts{W: o.W, RTol: o.RTol}
	s.Coef = leastSquares(name, s.scaled(x), y, deg, f, func(x *weft.Tensor) *weft.Tensor { return b.Vander(x, deg) })
	return s
}

// scaling returns the map offset + scale*x from the domain to the window of the basis.
func (s *Series) scaling() (offset, scale float64) {
	w, size := s.Basis.window(), s.Domain[1]-s.Domain[0]
	return (s.Domain[1]*w[0] - s.Domain[0]*w[1]) / size, (w[1] - w[0]) / size
}

func (s *Series) scaled(x *weft.Tensor) *weft.Tensor {
	offset, scale := s.scaling()
	if offset == 0 && scale == 1 {
		return x
	}
	return weft.Expr("a + b*x", weft.Vars{"x": x, "a": offset, "b": scale})
}

// check refuses a series whose fields were set to what is none.
func (s *Series) check(name string) {
	s.Basis.check(name, "Basis")
	coefficients(name, "Coef", s.Coef)
	checkDomain(name, "Domain", s.Domain)
}

// Val returns the values of the polynomials at x, as [Basis.Val] does.
func (s *Series) Val(x *weft.Tensor) *weft.Tensor {
	const name = "polynomial.series.val"
	defer array.Named(name).End()
	s.check(name)
	return s.Basis.Val(s.scaled(numbers(name, "x", x)), s.Coef)
}

// Der returns the derivatives of the polynomials with respect to x. NumPy's deriv.
func (s *Series) Der() *Series {
	const name = "polynomial.series.der"
	defer array.Named(name).End()
	s.check(name)
	_, scale := s.scaling()
	return &Series{s.Basis, s.Basis.Der(s.Coef).Mul(scale), s.Domain}
}

// Int returns the integrals of the polynomials, whose values are Constant at Lower, an x. NumPy's integ, whose default
// of lbnd is the x that is scaled to 0.
func (s *Series) Int(opts ...IntOpts) *Series {
	const name = "polynomial.series.int"
	defer array.Named(name).End()
	s.check(name)
	o := array.Options(name, opts)
	offset, scale := s.scaling()
	o.Lower = offset + float64(scale*o.Lower)
	return &Series{s.Basis, s.Basis.Int(coefficients(name, "Coef", s.Coef).Div(scale), o), s.Domain}
}

// Roots returns the x at which the polynomials are 0, as [Basis.Roots] does.
func (s *Series) Roots() *weft.Tensor {
	const name = "polynomial.series.roots"
	defer array.Named(name).End()
	s.check(name)
	offset, scale := s.scaling()
	return s.Basis.Roots(s.Coef).Sub(offset).Div(scale)
}

// To returns the same polynomials in another basis and without a scaled domain: s.To(Power).Coef are the coefficients
// of powers of x. NumPy's convert(kind=...).
func (s *Series) To(to Basis) *Series {
	const name = "polynomial.series.to"
	defer array.Named(name).End()
	s.check(name)
	to.check(name, "to")
	offset, scale := s.scaling()
	return &Series{to, s.Basis.change(name, coefficients(name, "Coef", s.Coef), to, offset, scale), to.window()}
}

// String returns the coefficients and the domain.
func (s *Series) String() string {
	return fmt.Sprintf("%v(%v, domain %v to %v)", s.Basis, s.Coef, s.Domain[0], s.Domain[1])
}
