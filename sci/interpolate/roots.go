package interpolate

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// Roots returns the x of the base interval at which the spline is 0, ascending, float64 of one axis. Where the spline
// touches 0 without a change of sign, the value must be 0 within roundings. A piece that is 0 throughout has no roots
// but its ends, and a jump over 0 is not a root. It panics with a [*weft.Error] for values that are not single numbers,
// and for coefficients that are not finite. It works for all degrees, where SciPy's UnivariateSpline.roots is for cubic
// splines.
func (b *BSpline) Roots() *weft.Tensor {
	const name = "interpolate.bspline.roots"
	if len(b.rest) > 0 {
		array.Failf(name, "b", "has values of shape %s: want single numbers", array.ShapeString(b.rest))
	}
	c := slices.Clone(weft.Data[float64](b.c.Detach().Contiguous()))
	size := 0.0
	for _, v := range c {
		if !finite(v) {
			array.Failf(name, "b", "has the coefficient %v: want finite numbers", v)
		}
		size = max(size, math.Abs(v))
	}
	for i := range c {
		if size > 0 {
			c[i] /= size
		}
	}
	var roots []float64
	first, last := span(b.t, b.k)
	pieces := make([]bernstein, last+1)
	for i := first; i <= last; i++ {
		if b.t[i] < b.t[i+1] {
			pieces[i] = piece(b.t, c, b.k, i)
		}
	}
	before := -1
	for i := first; i <= last; i++ {
		if pieces[i] == nil {
			continue
		}
		if before >= 0 && i-before <= b.k { // the spline is continuous: both pieces have one value, so that no root is between
			pieces[before][b.k] = pieces[i][0]
		}
		before = i
	}
	for i, p := range pieces {
		for _, u := range p.roots() {
			x := b.t[i+1]
			if u < 1 {
				x = b.t[i] + float64(u*(b.t[i+1]-b.t[i]))
			}
			roots = append(roots, x)
		}
	}
	return weft.FromSlice(slices.Compact(roots))
}

// A bernstein is a polynomial on [0, 1], by the coefficients of Bernstein's polynomials.
type bernstein []float64

// piece returns the piece of a spline that begins at knot i, by its polar form at the ends (Ramshaw, "Blossoms are
// polar forms", Comput. Aided Geom. Des. 6, 1989).
func piece(t, c []float64, k, i int) bernstein {
	p, d := make(bernstein, k+1), make([]float64, k+1)
	for end := range p {
		copy(d, c[i-k:])
		for r := 1; r <= k; r++ {
			x := t[i]
			if r <= end {
				x = t[i+1]
			}
			for j := k; j >= r; j-- {
				left, right := t[i-k+j], t[i+1+j-r]
				share := (x - left) / (right - left)
				d[j] = float64((1-share)*d[j-1]) + float64(share*d[j])
			}
		}
		p[end] = d[k]
	}
	return p
}

// at returns the value at u.
func (p bernstein) at(u float64) float64 {
	d := slices.Clone(p)
	for n := len(d) - 1; n > 0; n-- {
		for j := range n {
			d[j] = float64((1-u)*d[j]) + float64(u*d[j+1])
		}
	}
	return d[0]
}

// roots returns the roots in [0, 1]. Between the roots of the derivative there is at most one.
func (p bernstein) roots() (list []float64) {
	if len(p) < 2 {
		return nil
	}
	derivative, size := make(bernstein, len(p)-1), math.Abs(p[0])
	for i := range derivative {
		derivative[i] = p[i+1] - p[i]
		size = max(size, math.Abs(p[i+1]))
	}
	if size == 0 {
		return nil
	}
	ends := append([]float64{0}, derivative.roots()...)
	if ends = append(ends, 1); len(ends) > 2 {
		ends = slices.Compact(ends)
	}
	value := func(u float64) float64 {
		if v := p.at(u); math.Abs(v) > float64(len(p))*0x1p-51*size {
			return v
		}
		return 0
	}
	from := value(0)
	if from == 0 {
		list = append(list, 0)
	}
	for i, high := range ends[1:] {
		to := value(high)
		switch {
		case to == 0:
			list = append(list, high)
		case from != 0 && (from < 0) != (to < 0):
			list = append(list, p.between(ends[i], high, from < 0))
		}
		from = to
	}
	return list
}

// between returns the root between low and high, by halving. down says that the value at low is below 0.
func (p bernstein) between(low, high float64, down bool) float64 {
	const most = 100
	for range most {
		middle := (low + high) / 2
		if middle <= low || middle >= high {
			break
		}
		if v := p.at(middle); v == 0 {
			return middle
		} else if (v < 0) == down {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
