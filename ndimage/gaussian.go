package ndimage

import (
	"math"

	"weft"
	"weft/internal/array"
)

// GaussianOpts are the options of Gaussian filters.
type GaussianOpts struct {
	Order    []int    // of the derivative of the Gaussian, for each axis; 0 if nil
	Truncate *float64 // at how many standard deviations the window ends; 4 if nil
	Radius   []int    // how far the window reaches, for each axis, instead of Truncate
	Mode     Mode     // what is read beyond the edges; Reflect if empty
	Modes    []Mode   // a mode for each axis, instead of Mode
	Cval     float64  // the value of Constant
	Axes     []int    // the axes that are filtered; all if nil
}

// mostOrder bounds the order of a derivative: coefficients grow as factorials.
const mostOrder = 100

// leastSigma is the least standard deviation that smooths: the square of a smaller one may vanish.
const leastSigma = 1e-15

// maxRadius bounds how far a Gaussian reaches.
const maxRadius = (maxWindow - 1) / 2

// gaussianKernel is the derivative of that order of a Gaussian at -radius to radius.
func gaussianKernel(sigma float64, order, radius int) []float64 {
	w := make([]float64, 2*radius+1)
	sum := 0.0
	for i := range w {
		x := float64(i - radius)
		w[i] = math.Exp(-0.5 / (sigma * sigma) * (x * x))
		sum += w[i]
	}
	// The derivative of q(x)*phi(x) is (q'(x) - q(x)*x/sigma²)*phi(x).
	q := make([]float64, order+1)
	q[0] = 1
	for range order {
		next := make([]float64, order+1)
		for k, c := range q {
			if k > 0 {
				next[k-1] += float64(float64(k) * c)
			}
			if k < order {
				next[k+1] -= c / (sigma * sigma)
			}
		}
		q = next
	}
	for i := range w {
		x, y := float64(i-radius), 0.0
		for k := order; k >= 0; k-- {
			y = float64(y*x) + q[k]
		}
		w[i] = w[i] / sum * y
	}
	return w
}

// radius is how far the window of a Gaussian reaches.
func (o GaussianOpts) radius(name string, sigma float64, given []int, i int) int {
	if given != nil {
		if given[i] < 0 || given[i] > maxRadius {
			array.Failf(name, "Radius", "is %d, want 0 to %d", given[i], maxRadius)
		}
		return given[i]
	}
	truncate := 4.0
	if o.Truncate != nil {
		truncate = *o.Truncate
	}
	r := truncate*sigma + 0.5
	if !(r >= 0 && r < maxRadius+1) {
		array.Failf(name, "Truncate", "is %g, which with a sigma of %g is not a radius of 0 to %d elements", truncate, sigma, maxRadius)
	}
	return int(r)
}

// gauss filters x along one axis.
func gauss(name string, x *weft.Tensor, axis int, sigma float64, order, radius int, m Mode, cval float64) *weft.Tensor {
	pairs := 1
	if order%2 == 1 {
		pairs = -1
	}
	w := gaussianKernel(sigma, order, radius)
	for i, j := 0, len(w)-1; i < j; i, j = i+1, j-1 { // correlation takes the turned kernel
		w[i], w[j] = w[j], w[i]
	}
	if radius == 0 {
		pairs = 0
	}
	return filterLine(name, x, weft.FromSlice(w, len(w)).On(x.Device()), axis, radius, pairs, m, cval)
}

func checkSigma(name string, sigma float64) {
	if !(sigma >= 0) || math.IsInf(sigma, 1) {
		array.Failf(name, "sigma", "is %g, want a finite number of at least 0", sigma)
	}
}

func checkOrder(name string, order int) {
	if order < 0 || order > mostOrder {
		array.Failf(name, "Order", "is %d, want 0 to %d", order, mostOrder)
	}
}

// GaussianFilter smooths x by a Gaussian with standard deviation sigma, a number for each filtered axis or one
// for all, or takes derivatives of the smoothed array. An axis whose sigma is 0 is left alone. The Gaussian ends at Truncate standard
// deviations, rounded to whole elements, and its weights add up to 1.
//
// It panics with *[weft.Error] for negative sigmas, orders and radii, and for lists that do not fit x's axes.
func GaussianFilter(x *weft.Tensor, sigma []float64, opts ...GaussianOpts) *weft.Tensor {
	const name = "ndimage.gaussian_filter"
	defer array.Named(name).End()
	return gaussianFilter(name, input(name, x), sigma, array.Options(name, opts))
}

func gaussianFilter(name string, x *weft.Tensor, sigma []float64, o GaussianOpts) *weft.Tensor {
	p := FilterOpts{Mode: o.Mode, Modes: o.Modes, Cval: o.Cval, Axes: o.Axes}.on(name, x.Rank())
	if sigma == nil {
		array.Failf(name, "sigma", "is nil, want numbers")
	}
	sigmas := each(name, "sigma", sigma, len(p.axes), 0)
	orders := each(name, "Order", o.Order, len(p.axes), 0)
	radii := o.Radius
	if radii != nil {
		radii = each(name, "Radius", radii, len(p.axes), 0)
	}
	for i, s := range sigmas {
		checkSigma(name, s)
		checkOrder(name, orders[i])
	}
	y := x
	for i, axis := range p.axes {
		if s := sigmas[i]; s >= leastSigma {
			y = gauss(name, y, axis, s, orders[i], o.radius(name, s, radii, i), p.modes[i], o.Cval)
		}
	}
	if y == x {
		return x.Clone()
	}
	return y
}

// Gaussian1DOpts are the options of [GaussianFilter1D].
type Gaussian1DOpts struct {
	Order    int      // of the derivative of the Gaussian
	Truncate *float64 // at how many standard deviations the window ends; 4 if nil
	Radius   *int     // how far the window reaches, instead of Truncate
	Mode     Mode     // what is read beyond the ends; Reflect if empty
	Cval     float64  // the value of Constant
}

// GaussianFilter1D is [GaussianFilter] along one axis. Sigma must be at least 1e-15.
func GaussianFilter1D(x *weft.Tensor, sigma float64, axis int, opts ...Gaussian1DOpts) *weft.Tensor {
	const name = "ndimage.gaussian_filter1d"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := o.Mode.checked(name, Reflect)
	axis = array.Axis(name, axis, input(name, x).Rank())
	if !(sigma >= leastSigma) || math.IsInf(sigma, 1) {
		array.Failf(name, "sigma", "is %g, want a finite number of at least %g", sigma, leastSigma)
	}
	checkOrder(name, o.Order)
	var radii []int
	if o.Radius != nil {
		radii = []int{*o.Radius}
	}
	return gauss(name, x, axis, sigma, o.Order, GaussianOpts{Truncate: o.Truncate}.radius(name, sigma, radii, 0), m, o.Cval)
}
