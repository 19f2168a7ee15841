package nn

import (
	"weft"
	"weft/internal/array"
)

// Conv2dOpts are the options of [NewConv2d], the same vertically and horizontally; the fields
// of the layer take others. Zero strides, dilations and groups mean 1.
type Conv2dOpts struct {
	Opts
	Stride   int
	Padding  int // zeros on all sides
	Dilation int // steps between the taps of a filter
	Groups   int // parts of the channels that do not see each other; it divides in and out
}

// Conv2d cross-correlates pictures with filters and adds a bias.
type Conv2d struct {
	Weight   *weft.Tensor // [out, in/groups, height, width]
	Bias     *weft.Tensor // [out], nil for none
	Stride   [2]int       // vertical, horizontal; 0 means 1
	Padding  [2]int       // zeros on both sides, vertical and horizontal
	Dilation [2]int       // vertical, horizontal; 0 means 1
	Groups   int          // 0 means 1
}

// NewConv2d returns a layer of float32 filters of size x size. It panics with *weft.Error
// if a number is negative or groups do not divide the channels.
func NewConv2d(in, out, size int, opts ...Conv2dOpts) *Conv2d {
	o := first(opts)
	part := o.Groups
	checkConv("conv2d", in, out, &part, o.Stride, o.Padding, o.Dilation)
	return &Conv2d{Weight: o.weight(out, in/part, size, size), Bias: o.bias(out),
		Stride: both(o.Stride), Padding: both(o.Padding), Dilation: both(o.Dilation), Groups: o.Groups}
}

// Forward maps [batch, in, h, w] to [batch, out, oh, ow]; see [weft.Tensor.Conv2d].
func (c *Conv2d) Forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv2d", "Weight", "is nil: NewConv2d makes a layer with filters")
	}
	return x.Conv2d(c.Weight, c.Bias, weft.ConvOpts{Stride: c.Stride, Padding: c.Padding, Dilation: c.Dilation, Groups: c.Groups})
}

// Conv1dOpts are the options of [NewConv1d]; see [Conv2dOpts].
type Conv1dOpts struct {
	Opts
	Stride, Padding, Dilation, Groups int
}

// Conv1d is [Conv2d] over rows.
type Conv1d struct {
	Weight                            *weft.Tensor // [out, in/groups, size]
	Bias                              *weft.Tensor // [out], nil for none
	Stride, Padding, Dilation, Groups int          // 0 means 1, but for padding
}

// NewConv1d returns a layer of float32 filters of a size. It panics as [NewConv2d] does.
func NewConv1d(in, out, size int, opts ...Conv1dOpts) *Conv1d {
	o := first(opts)
	part := o.Groups
	checkConv("conv1d", in, out, &part, o.Stride, o.Padding, o.Dilation)
	return &Conv1d{Weight: o.weight(out, in/part, size), Bias: o.bias(out),
		Stride: o.Stride, Padding: o.Padding, Dilation: o.Dilation, Groups: o.Groups}
}

// Forward maps [batch, in, n] to [batch, out, m]; see [weft.Tensor.Conv1d].
func (c *Conv1d) Forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv1d", "Weight", "is nil: NewConv1d makes a layer with filters")
	}
	return x.Conv1d(c.Weight, c.Bias, weft.Conv1dOpts{Stride: c.Stride, Padding: c.Padding, Dilation: c.Dilation, Groups: c.Groups})
}

// ConvTranspose2dOpts are the options of [NewConvTranspose2d]; see [Conv2dOpts].
type ConvTranspose2dOpts struct {
	Opts
	Stride        int
	Padding       int // as much less of the result on all sides
	OutputPadding int // rows and columns at the end, less than the stride or the dilation
	Dilation      int
	Groups        int
}

// ConvTranspose2d adds each pixel times filters to a greater picture, and a bias: with a
// stride it undoes the shape of a [Conv2d] of the same options.
type ConvTranspose2d struct {
	Weight        *weft.Tensor // [in, out/groups, height, width]
	Bias          *weft.Tensor // [out], nil for none
	Stride        [2]int       // vertical, horizontal; 0 means 1
	Padding       [2]int
	OutputPadding [2]int
	Dilation      [2]int // 0 means 1
	Groups        int    // 0 means 1
}

// NewConvTranspose2d returns a layer of float32 filters of size x size. It panics as
// [NewConv2d] does.
func NewConvTranspose2d(in, out, size int, opts ...ConvTranspose2dOpts) *ConvTranspose2d {
	o := first(opts)
	part := o.Groups
	checkConv("conv_transpose2d", in, out, &part, o.Stride, o.Padding, o.Dilation)
	if o.OutputPadding < 0 {
		array.Failf("conv_transpose2d", "OutputPadding", "is negative: %d", o.OutputPadding)
	}
	return &ConvTranspose2d{Weight: o.weight(in, out/part, size, size), Bias: o.bias(out),
		Stride: both(o.Stride), Padding: both(o.Padding), OutputPadding: both(o.OutputPadding), Dilation: both(o.Dilation), Groups: o.Groups}
}

// Forward maps [batch, in, h, w] to [batch, out, oh, ow]; see [weft.Tensor.ConvTranspose2d].
func (c *ConvTranspose2d) Forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv_transpose2d", "Weight", "is nil: NewConvTranspose2d makes a layer with filters")
	}
	return x.ConvTranspose2d(c.Weight, c.Bias, weft.ConvTransposeOpts{Stride: c.Stride, Padding: c.Padding, OutputPadding: c.OutputPadding, Dilation: c.Dilation, Groups: c.Groups})
}

// checkConv checks the options of a convolution; no groups become one.
func checkConv(op string, in, out int, groups *int, stride, padding, dilation int) {
	for _, f := range []struct {
		name string
		n    int
	}{{"Stride", stride}, {"Padding", padding}, {"Dilation", dilation}, {"Groups", *groups}} {
		if f.n < 0 {
			array.Failf(op, f.name, "is negative: %d", f.n)
		}
	}
	if *groups = max(*groups, 1); in%*groups != 0 || out%*groups != 0 {
		array.Failf(op, "Groups", "are %d, of which %d and %d channels are no multiples", *groups, in, out)
	}
}

func both(n int) [2]int { return [2]int{n, n} }

// first returns the options that were given, or the defaults.
func first[T any](opts []T) (o T) {
	if len(opts) > 0 {
		o = opts[0]
	}
	return o
}
