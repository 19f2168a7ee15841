package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

// An InterpolateMode is how [Interpolate] finds elements between others.
type InterpolateMode int

const (
	ModeNearest      InterpolateMode = iota // the element at the place, rounded down
	ModeNearestExact                        // the element whose centre is nearest
	ModeLinear                              // between the two nearest along each axis: linear, bilinear, trilinear
	ModeCubic                               // a cubic curve through the four nearest along each axis
	ModeArea                                // the mean of the part that an element covers
)

// Interpolate resizes one to three last axes: interpolate and Upsample of PyTorch. [Upsample] does
// so for pictures alone.
type Interpolate struct {
	Size  []int     // of the result, one for each axis
	Scale []float64 // instead of Size: how many times as large, rounded down
	Mode  InterpolateMode
	// AlignCorners lays the centres of the corner elements on each other, for ModeLinear and ModeCubic.
	AlignCorners bool
	// Antialias widens the curves of ModeLinear and ModeCubic where the result is smaller, so that all
	// elements count.
	Antialias bool
}

// Forward maps [..., n] to [..., Size]. The result is a copy. It panics with *weft.Error if the
// options contradict each other or x has too few axes.
func (p Interpolate) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, Interpolate.forward) }

func (p Interpolate) forward(x *weft.Tensor) *weft.Tensor {
	const name = "interpolate"
	defer array.Named(name).End()
	floats(name, "x", x)
	n := max(len(p.Size), len(p.Scale))
	switch {
	case (len(p.Size) == 0) == (len(p.Scale) == 0):
		array.Failf(name, "Size", "and Scale are both given or both nil: give one of them")
	case n > 3 || x.Rank() < n || slices.Contains(sizes(x)[x.Rank()-n:], 0):
		array.Failf(name, "x", "has shape %s, want %d axes that are not empty, at most 3", array.ShapeString(sizes(x)), n)
	case p.Mode < ModeNearest || p.Mode > ModeArea:
		array.Failf(name, "Mode", "is %d, want ModeNearest, ModeNearestExact, ModeLinear, ModeCubic or ModeArea", p.Mode)
	case p.AlignCorners && p.Mode != ModeLinear && p.Mode != ModeCubic:
		array.Failf(name, "AlignCorners", "is for ModeLinear and ModeCubic")
	case p.Antialias && p.Mode != ModeLinear && p.Mode != ModeCubic:
		array.Failf(name, "Antialias", "is for ModeLinear and ModeCubic")
	}
	x = raised(x)
	shape := slices.Clone(sizes(x))
	steps := make([]float64, n)
	for i := range n {
		axis := x.Rank() - n + i
		size, times := 0.0, 0.0
		if len(p.Size) > 0 {
			size = float64(p.Size[i])
			times = size / float64(shape[axis])
		} else {
			times = p.Scale[i]
			size = math.Floor(float64(shape[axis]) * times)
		}
		if !(size >= 1 && size <= math.MaxInt32) {
			array.Failf(name, "Size", "of axis %d is %v, want 1 to %d", axis, size, math.MaxInt32)
		}
		steps[i], shape[axis] = 1/times, int(size)
	}
	array.CheckShape(name, shape, x.DType())
	if p.Mode == ModeArea {
		out := make([]*int, n)
		for i := range n {
			out[i] = &shape[x.Rank()-n+i]
		}
		return adaptiveAvg(name, x, out)
	}
	y := x
	for i, step := range steps {
		axis := x.Rank() - n + i
		y = p.along(y, axis, shape[axis], step)
	}
	if y == x {
		return x.Clone()
	}
	return y
}

// along resizes an axis, in steps of a length of its elements.
func (p Interpolate) along(x *weft.Tensor, axis, size int, step float64) *weft.Tensor {
	n := x.Dim(axis)
	if p.AlignCorners {
		step = float64(n-1) / float64(max(size-1, 1))
	}
	switch {
	case p.Antialias:
		return p.weighted(x, axis, size, step)
	case p.Mode == ModeNearest:
		return Upsample{}.along(x, axis, n, size, step)
	case p.Mode == ModeLinear:
		return Upsample{Bilinear: true, AlignCorners: p.AlignCorners}.along(x, axis, n, size, step)
	}
	if n == size && (step == 1 || p.Mode == ModeNearestExact) {
		return x
	}
	dev := x.Device()
	i := dev.Arange(size).To(weft.Float64)
	if p.Mode == ModeNearestExact {
		at := weft.Expr("(i+0.5)*step", weft.Vars{"i": i, "step": step}).Floor().To(weft.Int64)
		return x.IndexSelect(axis, at.Maximum(0).Minimum(n-1))
	}
	text := "(i+0.5)*step - 0.5"
	if p.AlignCorners {
		text = "i*step"
	}
	at := weft.Expr(text, weft.Vars{"i": i, "step": step})
	lo := at.Floor()
	t := at.Sub(lo).To(x.DType()).Reshape(append([]int{size}, ones(x.Rank()-1-axis)...)...)
	var taps [4]*weft.Tensor
	for k := range taps {
		taps[k] = x.IndexSelect(axis, lo.To(weft.Int64).Add(k-1).Maximum(0).Minimum(n-1))
	}
	return cubic(taps, t, -0.75)
}

// cubic is the curve through four neighbours at t from the second to the third (Keys, Cubic
// convolution interpolation for digital image processing, 1981).
func cubic(taps [4]*weft.Tensor, t *weft.Tensor, a float64) *weft.Tensor {
	return weft.Expr("x0*(((a*(t+1) - 5*a)*(t+1) + 8*a)*(t+1) - 4*a) + x1*(((a+2)*t - (a+3))*t*t + 1)"+
		" + x2*(((a+2)*(1-t) - (a+3))*(1-t)*(1-t) + 1) + x3*(((a*(2-t) - 5*a)*(2-t) + 8*a)*(2-t) - 4*a)",
		weft.Vars{"x0": taps[0], "x1": taps[1], "x2": taps[2], "x3": taps[3], "t": t, "a": a})
}

// weighted resizes an axis as a product with a matrix of weights, whose curves are as wide as a step.
func (p Interpolate) weighted(x *weft.Tensor, axis, size int, step float64) *weft.Tensor {
	n := x.Dim(axis)
	array.CheckShape("interpolate", []int{size, n}, weft.Float64)
	curve, reach := func(d float64) float64 { return max(1-math.Abs(d), 0) }, 1.0
	if p.Mode == ModeCubic {
		const a = -0.5
		reach = 2
		curve = func(d float64) float64 {
			switch d = math.Abs(d); {
			case d < 1:
				return float64(((a+2)*d-(a+3))*d*d) + 1
			case d < 2:
				return (float64((float64((d-5)*d)+8)*d) - 4) * a
			}
			return 0
		}
	}
	wide := max(step, 1)
	w := make([]float64, size*n)
	for i := range size {
		centre := step * (float64(i) + 0.5)
		from, to := max(int(centre-reach*wide+0.5), 0), min(int(centre+reach*wide+0.5), n)
		sum := 0.0
		for j := from; j < to; j++ {
			w[i*n+j] = curve((float64(j) - centre + 0.5) / wide)
			sum += w[i*n+j]
		}
		for j := from; j < to && sum != 0; j++ {
			w[i*n+j] /= sum
		}
	}
	m := x.Device().From(w).To(x.DType()).Reshape(size, n)
	var y *weft.Tensor
	weft.Autocast(weft.Float32, func() { y = x.MoveAxis(axis, -1).MatMul(m.T()) }) // a scope would compute it in 16 bits
	return y.MoveAxis(-1, axis).Clone()
}
