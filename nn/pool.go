package nn

import (
	"math"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/mem"
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
	defer array.Named("adaptive_avg_pool2d").End()
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
	for i, n := range s {
		if size[i] != n {
			y = means(y, x.Rank()-2+i, size[i], n)
		}
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

// means takes the means of n parts of an axis of size elements, which may share some.
func means(x *weft.Tensor, axis, n, size int) *weft.Tensor {
	most := (size-1)/n + 2 // elements of a part, or one more
	shape := slices.Insert(slices.Clone(x.Shape()), axis+1, most)
	shape[axis] = n
	array.CheckShape("adaptive_avg_pool2d", shape, weft.Float64)
	if err := mem.CheckHeap(n * (9*most + 8)); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "adaptive_avg_pool2d", Arg: "Size", Msg: "no memory for the places of its parts", Err: err})
	}
	at, in, counts := make([]int64, n*most), make([]bool, n*most), make([]int64, n)
	for i := range n {
		from, to := i*size/n, ((i+1)*size+n-1)/n
		counts[i] = int64(to - from)
		for k := range most {
			at[i*most+k], in[i*most+k] = int64(min(from+k, size-1)), from+k < to
		}
	}
	behind := slices.Repeat([]int{1}, x.Rank()-1-axis)
	dev := x.Device()
	parts := x.IndexSelect(axis, dev.From(at)).Reshape(shape...)
	inside := dev.From(in).Reshape(append([]int{n, most}, behind...)...)
	return weft.Where(inside, parts, 0).Sum(axis + 1).Div(dev.From(counts).Reshape(append([]int{n}, behind...)...))
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

// Forward maps [..., h, w] to [..., Size[0], Size[1]], or h and w times Scale. The result is a
// copy. An axis that keeps its size keeps its elements.
func (u Upsample) Forward(x *weft.Tensor) *weft.Tensor {
	defer array.Named("upsample").End()
	s := lastTwo("upsample", x)
	if (u.Scale == nil) == (u.Size == nil) {
		array.Failf("upsample", "Size", "and Scale are both given or both nil: give one of them")
	}
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
