package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/mem"
)

// MaxPool1d takes the greatest element of each window of the last axis, the first one if several are.
// Padding never is.
type MaxPool1d struct {
	Window  int
	Stride  *int // nil means the window's size
	Padding int  // on both sides, less than the window
	// Dilation is the distance of a window's elements; nil means 1.
	Dilation *int
	// Ceil lets the last window begin inside x, or its padding before, and end outside.
	Ceil bool
}

// Forward maps [..., n] to [..., m]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p MaxPool1d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, MaxPool1d.forward) }

func (p MaxPool1d) forward(x *weft.Tensor) *weft.Tensor { return p.geometry().max(x) }

// WithIndices returns what Forward does, and for each element its place in the flattened last axis,
// int64, as [MaxUnpool] takes it.
func (p MaxPool1d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return p.geometry().maxWithIndices(x)
}

func (p MaxPool1d) geometry() poolGeometry {
	return poolGeometry{name: "max_pool1d", window: []int{p.Window}, stride: single(p.Stride), pad: []int{p.Padding}, dilation: single(p.Dilation), ceil: p.Ceil}
}

// MaxPool2d takes the greatest element of each window of the last two axes; see [MaxPool1d].
type MaxPool2d struct {
	Window  [2]int
	Stride  *[2]int // nil means the window's size
	Padding [2]int  // on both sides, less than the window
	// Dilation is the distance of a window's elements; nil means 1.
	Dilation *[2]int
	// Ceil lets the last window begin inside x, or its padding before, and end outside.
	Ceil bool
}

// Forward maps [..., h, w] to [..., oh, ow]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p MaxPool2d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, MaxPool2d.forward) }

func (p MaxPool2d) forward(x *weft.Tensor) *weft.Tensor { return p.geometry().max(x) }

// WithIndices returns what Forward does, and for each element its place in the flattened last two axes,
// int64, as [MaxUnpool] takes it.
func (p MaxPool2d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return p.geometry().maxWithIndices(x)
}

func (p MaxPool2d) geometry() poolGeometry {
	return poolGeometry{name: "max_pool2d", window: p.Window[:], stride: pair(p.Stride), pad: p.Padding[:], dilation: pair(p.Dilation), ceil: p.Ceil}
}

// MaxPool3d takes the greatest element of each window of the last three axes; see [MaxPool1d].
type MaxPool3d struct {
	Window  [3]int
	Stride  *[3]int // nil means the window's size
	Padding [3]int  // on both sides, less than the window
	// Dilation is the distance of a window's elements; nil means 1.
	Dilation *[3]int
	// Ceil lets the last window begin inside x, or its padding before, and end outside.
	Ceil bool
}

// Forward maps [..., d, h, w] to [..., od, oh, ow]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p MaxPool3d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, MaxPool3d.forward) }

func (p MaxPool3d) forward(x *weft.Tensor) *weft.Tensor { return p.geometry().max(x) }

// WithIndices returns what Forward does, and for each element its place in the flattened last three axes,
// int64, as [MaxUnpool] takes it.
func (p MaxPool3d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return p.geometry().maxWithIndices(x)
}

func (p MaxPool3d) geometry() poolGeometry {
	return poolGeometry{name: "max_pool3d", window: p.Window[:], stride: triple(p.Stride), pad: p.Padding[:], dilation: triple(p.Dilation), ceil: p.Ceil}
}

// AvgPool1d takes the mean of each window of the last axis, zeros of the padding counted.
type AvgPool1d struct {
	Window  int
	Stride  *int // nil means the window's size
	Padding int  // on both sides, less than the window
	// Ceil lets the last window begin inside x, or its padding before, and end outside, where
	// nothing counts.
	Ceil bool
	// ExcludePad leaves the padding out of the count that a sum is divided by.
	ExcludePad bool
	// Divisor, above 0, divides the sums in place of the count; nil for none.
	Divisor *int
}

// Forward maps [..., n] to [..., m]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p AvgPool1d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, AvgPool1d.forward) }

func (p AvgPool1d) forward(x *weft.Tensor) *weft.Tensor {
	return poolGeometry{name: "avg_pool1d", window: []int{p.Window}, stride: single(p.Stride), pad: []int{p.Padding}, ceil: p.Ceil}.mean(x, p.ExcludePad, p.Divisor)
}

// AvgPool2d takes the mean of each window of the last two axes, zeros of the padding counted.
type AvgPool2d struct {
	Window  [2]int
	Stride  *[2]int // nil means the window's size
	Padding [2]int  // on both sides, less than the window
	// Ceil lets the last window begin inside x, or its padding before, and end outside, where
	// nothing counts.
	Ceil bool
	// ExcludePad leaves the padding out of the count that a sum is divided by.
	ExcludePad bool
	// Divisor, above 0, divides the sums in place of the count; nil for none.
	Divisor *int
}

// Forward maps [..., h, w] to [..., oh, ow]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p AvgPool2d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, AvgPool2d.forward) }

func (p AvgPool2d) forward(x *weft.Tensor) *weft.Tensor {
	return poolGeometry{name: "avg_pool2d", window: p.Window[:], stride: pair(p.Stride), pad: p.Padding[:], ceil: p.Ceil}.mean(x, p.ExcludePad, p.Divisor)
}

// AvgPool3d takes the mean of each window of the last three axes, zeros of the padding counted.
type AvgPool3d struct {
	Window  [3]int
	Stride  *[3]int // nil means the window's size
	Padding [3]int  // on both sides, less than the window
	// Ceil lets the last window begin inside x, or its padding before, and end outside, where
	// nothing counts.
	Ceil bool
	// ExcludePad leaves the padding out of the count that a sum is divided by.
	ExcludePad bool
	// Divisor, above 0, divides the sums in place of the count; nil for none.
	Divisor *int
}

// Forward maps [..., d, h, w] to [..., od, oh, ow]. It panics with *weft.Error if x has too few axes or a
// number is out of range.
func (p AvgPool3d) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, AvgPool3d.forward) }

func (p AvgPool3d) forward(x *weft.Tensor) *weft.Tensor {
	return poolGeometry{name: "avg_pool3d", window: p.Window[:], stride: triple(p.Stride), pad: p.Padding[:], ceil: p.Ceil}.mean(x, p.ExcludePad, p.Divisor)
}

// AdaptiveAvgPool1d takes means over the last axis, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveAvgPool1d struct {
	Size *int // of the result; nil means that of x
}

// Forward maps [..., n] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveAvgPool1d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveAvgPool1d.forward)
}

func (p AdaptiveAvgPool1d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveAvg("adaptive_avg_pool1d", x, []*int{p.Size})
}

// AdaptiveAvgPool2d takes means over the last two axes, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveAvgPool2d struct {
	Size [2]*int // of the result; nil means that of x
}

// Forward maps [..., h, w] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveAvgPool2d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveAvgPool2d.forward)
}

func (p AdaptiveAvgPool2d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveAvg("adaptive_avg_pool2d", x, p.Size[:])
}

// AdaptiveAvgPool3d takes means over the last three axes, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveAvgPool3d struct {
	Size [3]*int // of the result; nil means that of x
}

// Forward maps [..., d, h, w] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveAvgPool3d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveAvgPool3d.forward)
}

func (p AdaptiveAvgPool3d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveAvg("adaptive_avg_pool3d", x, p.Size[:])
}

// AdaptiveMaxPool1d takes the greatest elements over the last axis, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveMaxPool1d struct {
	Size *int // of the result; nil means that of x
}

// Forward maps [..., n] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveMaxPool1d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveMaxPool1d.forward)
}

func (p AdaptiveMaxPool1d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveMax("adaptive_max_pool1d", x, []*int{p.Size})
}

// WithIndices returns what Forward does, and for each element its place in the flattened last axis.
func (p AdaptiveMaxPool1d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return adaptiveMaxIndices("adaptive_max_pool1d", x, []*int{p.Size})
}

// AdaptiveMaxPool2d takes the greatest elements over the last two axes, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveMaxPool2d struct {
	Size [2]*int // of the result; nil means that of x
}

// Forward maps [..., h, w] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveMaxPool2d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveMaxPool2d.forward)
}

func (p AdaptiveMaxPool2d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveMax("adaptive_max_pool2d", x, p.Size[:])
}

// WithIndices returns what Forward does, and for each element its place in the flattened last two axes.
func (p AdaptiveMaxPool2d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return adaptiveMaxIndices("adaptive_max_pool2d", x, p.Size[:])
}

// AdaptiveMaxPool3d takes the greatest elements over the last three axes, so that a given size is left: element i of n
// is that of the elements from floor(i*size/n) to before ceil((i+1)*size/n).
type AdaptiveMaxPool3d struct {
	Size [3]*int // of the result; nil means that of x
}

// Forward maps [..., d, h, w] to [..., Size]. It panics with *weft.Error if a size is below 1 or x is empty.
func (p AdaptiveMaxPool3d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(p, x, AdaptiveMaxPool3d.forward)
}

func (p AdaptiveMaxPool3d) forward(x *weft.Tensor) *weft.Tensor {
	return adaptiveMax("adaptive_max_pool3d", x, p.Size[:])
}

// WithIndices returns what Forward does, and for each element its place in the flattened last three axes.
func (p AdaptiveMaxPool3d) WithIndices(x *weft.Tensor) (values, index *weft.Tensor) {
	return adaptiveMaxIndices("adaptive_max_pool3d", x, p.Size[:])
}

// LPPool takes the P-norm of each window of the last axes, one for each size of Window. A window
// that Ceil lets end outside counts as full, with the mean of its elements, as in PyTorch.
type LPPool struct {
	P      float64
	Window []int
	Stride []int // nil means the window's size
	Ceil   bool  // lets the last window end outside x
}

// Forward maps [..., n] to [..., m], with one to three such axes. It panics with *weft.Error if P
// is 0 or numbers are out of range.
func (p LPPool) Forward(x *weft.Tensor) *weft.Tensor { return Call(p, x, LPPool.forward) }

func (p LPPool) forward(x *weft.Tensor) *weft.Tensor {
	const name = "lp_pool"
	defer array.Named(name).End()
	if p.P == 0 {
		array.Failf(name, "P", "is 0")
	}
	g := poolGeometry{name: name, window: p.Window, stride: p.Stride, ceil: p.Ceil}
	floats(name, "x", x)
	y := g.mean(x.Pow(p.P), false, nil)
	return weft.Expr("pow(sign(y)*relu(abs(y))*k, q)", weft.Vars{"y": y, "k": float64(array.Size(p.Window)), "q": 1 / p.P})
}

// MaxUnpool puts elements back where a maximum was found, with zeros elsewhere: the opposite of
// [MaxPool2d] and the like, with the same numbers.
type MaxUnpool struct {
	Window  []int
	Stride  []int // nil means the window's size
	Padding []int // nil means 0
}

// Unpool maps elements x [..., m] and their places, as WithIndices gives them, to [..., n]. size is
// that of the last axes of the result; without it, it is the least that gives m windows. It panics
// with *weft.Error if shapes do not fit. Of equal places the last one counts.
func (p MaxUnpool) Unpool(x, index *weft.Tensor, size ...int) *weft.Tensor {
	const name = "max_unpool"
	defer array.Named(name).End()
	g := poolGeometry{name: name, window: p.Window, stride: p.Stride, pad: p.Padding}.filled()
	n := len(g.window)
	floats(name, "x", x)
	if x.Rank() < n {
		array.Failf(name, "x", "has shape %s, want %d axes or more", array.ShapeString(sizes(x)), n)
	}
	if index == nil || !index.DType().Integer() || !array.Equal(sizes(index), sizes(x)) {
		array.Failf(name, "index", "is %s, want integers %s", describe(index), array.ShapeString(sizes(x)))
	}
	lead := sizes(x)[:x.Rank()-n]
	last := sizes(x)[x.Rank()-n:]
	if len(size) == 0 {
		for i, m := range last {
			size = append(size, (m-1)*g.stride[i]-2*g.pad[i]+g.window[i])
		}
	}
	if len(size) != n || slices.Min(size) < 1 {
		array.Failf(name, "size", "is %v, want %d sizes above 0", size, n)
	}
	rows, all := array.Size(lead), array.Size(size)
	array.CheckShape(name, append(slices.Clone(lead), size...), x.DType())
	at := checkRange(asIndices(index).To(weft.Int64), name, "index", 0, int64(all-1), "has %d, which is outside the result")
	y := x.Device().ZerosOf(x.DType(), rows, all).Scatter(1, at.Reshape(rows, array.Size(last)), x.Reshape(rows, array.Size(last)))
	return own(y.Reshape(append(slices.Clone(lead), size...)...))
}

// means takes the means of n parts of an axis of size elements, which may share some.
func means(name string, x *weft.Tensor, axis, n, size int) *weft.Tensor {
	most := (size-1)/n + 2 // elements of a part, or one more
	shape := slices.Insert(slices.Clone(x.Shape()), axis+1, most)
	shape[axis] = n
	array.CheckShape(name, shape, weft.Float64)
	if err := mem.CheckHeap(n * (9*most + 8)); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: name, Arg: "Size", Msg: "no memory for the places of its parts", Err: err})
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
