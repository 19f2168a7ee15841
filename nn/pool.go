package nn

import (
	"math"

	"weft"
	"weft/internal/array"
)

// MaxPool2d takes the greatest element of each window of the last two axes.
type MaxPool2d struct {
	Window  [2]int  // vertical, horizontal
	Stride  *[2]int // nil means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p MaxPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(weft.PoolOpts(p)) }

// AvgPool2d takes the mean of each window of the last two axes, zeros of the
// padding counted.
type AvgPool2d struct {
	Window  [2]int  // vertical, horizontal
	Stride  *[2]int // nil means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p AvgPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts(p)) }

// AdaptiveAvgPool2d takes means over the last two axes so that a given number of rows and
// columns are left: element i of n is the mean of those from floor(i*size/n) to before
// ceil((i+1)*size/n).
type AdaptiveAvgPool2d struct {
	Size [2]*int // of the result, vertical and horizontal; nil means that of x
}

// Forward maps [..., h, w] to [..., Size[0], Size[1]].
func (p AdaptiveAvgPool2d) Forward(x *weft.Tensor) *weft.Tensor {
	s := lastTwo("adaptive_avg_pool2d", x)
	var size, window [2]int
	even := true
	for i := range size {
		n := array.Or(p.Size[i], s[i])
		if n < 1 {
			array.Failf("adaptive_avg_pool2d", "Size", "is %d, want 1 or more", n)
		}
		size[i] = n
		even = even && s[i]%n == 0
		window[i] = s[i] / n
	}
	if even {
		return x.AvgPool2d(weft.PoolOpts{Window: window})
	}
	y := x
	if size[0] != s[0] {
		y = means(x, size[0], s[0]).MatMul(y)
	}
	if size[1] != s[1] {
		y = y.MatMul(means(x, size[1], s[1]).T())
	}
	return y
}

// lastTwo checks pictures and returns their height and width.
func lastTwo(op string, x *weft.Tensor) [2]int {
	if x == nil {
		array.Failf(op, "x", "is nil")
	}
	r := x.Rank()
	if r < 2 || !x.DType().Float() || x.Dim(r-2) == 0 || x.Dim(r-1) == 0 {
		array.Failf(op, "x", "is %s, want floats [... h w], h and w not 0", array.TypeString(x.DType(), x.Shape()))
	}
	return [2]int{x.Dim(r - 2), x.Dim(r - 1)}
}

// means is the matrix that takes means of n parts of a vector, in the type of x.
func means(x *weft.Tensor, n, size int) *weft.Tensor {
	array.CheckShape("adaptive_avg_pool2d", []int{n, size}, weft.Float64)
	in := weft.Expr("where(k*n < (i+1)*size, (k+1)*n > i*size, false)", weft.Vars{
		"i": weft.Arange(n).Unsqueeze(1), "k": weft.Arange(size), "n": n, "size": size}).To(x.DType())
	return in.Div(in.SumKeep(1))
}

// Upsample makes pictures larger, or smaller: by the nearest pixel or, Bilinear, between
// the two nearest rows and columns.
type Upsample struct {
	Size     *[2]int  // of the result, vertical and horizontal
	Scale    *float64 // instead of Size: how many times as large, rounded down
	Bilinear bool
	// AlignCorners lays the centres of the corner pixels on each other, rather than the
	// corners of the pictures.
	AlignCorners bool
}

// Forward maps [..., h, w] to [..., Size[0], Size[1]], or h and w times Scale.
func (u Upsample) Forward(x *weft.Tensor) *weft.Tensor {
	s := lastTwo("upsample", x)
	if (u.Scale == nil) == (u.Size == nil) {
		array.Failf("upsample", "Size", "and Scale are both given or both nil: give one of them")
	}
	y := x
	for i, n := range s {
		var size, step float64
		option := "Size"
		if u.Size != nil {
			size = float64(u.Size[i])
			step = size / float64(n)
		} else {
			option, step = "Scale", *u.Scale
			size = math.Floor(float64(n) * step)
		}
		if !(size >= 1 && size <= math.MaxInt32) {
			array.Failf("upsample", option, "%v times %d elements is %v, want 1 to %d", step, n, size, math.MaxInt32)
		}
		y = u.along(y, x.Rank()-2+i, n, int(size), 1/step)
	}
	return y
}

// along resizes one axis of n elements to size, whose steps are so many of x's.
func (u Upsample) along(x *weft.Tensor, axis, n, size int, step float64) *weft.Tensor {
	if n == size && step == 1 {
		return x
	}
	last := n - 1
	text := "i*step"
	switch {
	case u.Bilinear && u.AlignCorners:
		step, text = float64(last)/float64(max(size-1, 1)), "i*step"
	case u.Bilinear:
		text = "maximum((i+0.5)*step-0.5, 0)"
	}
	at := weft.Expr(text, weft.Vars{"i": weft.Arange(size).To(weft.Float64), "step": step})
	lo := at.Floor().To(weft.Int64).Minimum(last)
	a := x.IndexSelect(axis, lo)
	if !u.Bilinear {
		return a
	}
	shape := []int{size}
	for k := axis + 1; k < x.Rank(); k++ {
		shape = append(shape, 1)
	}
	w := at.Sub(lo).To(x.DType()).Reshape(shape...)
	return weft.Expr("a*(1-w)+b*w", weft.Vars{"a": a, "b": x.IndexSelect(axis, lo.Add(1).Minimum(last)), "w": w})
}
