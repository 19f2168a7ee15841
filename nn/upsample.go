package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
)

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

// Forward maps [..., h, w] to [..., Size[0], Size[1]], or h and w times Scale. The result is a
// copy. An axis that keeps its size keeps its elements.
func (u Upsample) Forward(x *weft.Tensor) *weft.Tensor { return Call(u, x, Upsample.forward) }

func (u Upsample) forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("upsample").End()
	s := lastTwo("upsample", x)
	if (u.Scale == nil) == (u.Size == nil) {
		array.Failf("upsample", "Size", "and Scale are both given or both nil: give one of them")
	}
	x = raised(x)
	y := x
	var sizes [2]int
	var steps [2]float64
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
		sizes[i], steps[i] = int(size), 1/step
	}
	shape := append(slices.Clone(x.Shape()[:x.Rank()-2]), sizes[0], sizes[1])
	array.CheckShape("upsample", shape, x.DType())
	if x.Size() == 0 {
		return x.Slice(append(slices.Repeat([]weft.Span{weft.All}, x.Rank()-2), weft.Range(0, 1), weft.Range(0, 1))...).Expand(shape...)
	}
	for i, n := range s {
		y = u.along(y, x.Rank()-2+i, n, sizes[i], steps[i])
	}
	if y == x {
		return x.Clone()
	}
	return y
}

// along resizes one axis of n elements to size, in steps of a length of x's elements. An axis that
// keeps its size is unchanged. An axis of twice the size repeats each element, whatever the step,
// as in PyTorch.
func (u Upsample) along(x *weft.Tensor, axis, n, size int, step float64) *weft.Tensor {
	if n == size {
		return x
	}
	if size == 2*n && !u.Bilinear {
		step = 0.5
	}
	last := n - 1
	text := "i*step"
	switch {
	case u.Bilinear && u.AlignCorners:
		step, text = float64(last)/float64(max(size-1, 1)), "i*step"
	case u.Bilinear:
		text = "maximum((i+0.5)*step-0.5, 0)"
	}
	at := weft.Expr(text, weft.Vars{"i": x.Device().Arange(size).To(weft.Float64), "step": step})
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
