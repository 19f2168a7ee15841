package nn

import (
	"slices"

	"weft"
	"weft/internal/array"
)

// Conv2dOpts are the options of [NewConv2d], the same vertically and horizontally; the fields
// of the layer take others.
type Conv2dOpts struct {
	Opts
	Stride   *int // nil means 1
	Padding  int  // zeros on all sides
	Dilation *int // steps between the taps of a filter; nil means 1
	Groups   *int // parts of the channels that do not see each other; it divides in and out; nil means 1
	// Size is the height and width of the filters, in place of size x size; nil for that.
	Size *[2]int
	// Same pads so that the result is as large as x, more at the end than at the beginning where
	// that cannot be even. Needs stride 1; Padding does not count.
	Same    bool
	PadMode PadMode // what the padding is; PadConstant, zeros, if not given
}

// Conv2d cross-correlates pictures with filters and adds a bias.
type Conv2d struct {
	Weight   *weft.Tensor // [out, in/groups, height, width]
	Bias     *weft.Tensor // [out], nil for none
	Stride   [2]int       // vertical, horizontal
	Padding  [2]int       // zeros on both sides, vertical and horizontal
	Dilation [2]int       // vertical, horizontal
	Groups   int          // parts of the channels
	Same     bool         // pads to the size of x in place of Padding
	PadMode  PadMode      // what the padding is
}

// NewConv2d returns a layer of float32 filters of size x size. It panics with *weft.Error
// if a number is out of range or groups do not divide the channels.
func NewConv2d(in, out, size int, opts ...Conv2dOpts) *Conv2d {
	defer array.Named("conv2d").End()
	o := array.Options("conv2d", opts)
	c := checkConv("conv2d", in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	area := array.Or(o.Size, both(size))
	checkFilters("conv2d", o.Size != nil, area[:])
	w := o.weight(out, in/c.groups, area[0], area[1])
	return &Conv2d{Weight: w, Bias: o.bias(out, w), Same: o.Same, PadMode: o.PadMode,
		Stride: both(c.stride), Padding: both(o.Padding), Dilation: both(c.dilation), Groups: c.groups}
}

// Forward maps [batch, in, h, w] to [batch, out, oh, ow]; see [weft.Tensor.Conv2d].
func (c *Conv2d) Forward(x *weft.Tensor) *weft.Tensor { return Call(c, x, (*Conv2d).single) }

func (c *Conv2d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv2d", c, x, 3, (*Conv2d).forward)
}

func (c *Conv2d) forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv2d", "Weight", "is nil: NewConv2d makes a layer with filters")
	}
	if !c.Same && c.PadMode == PadConstant {
		return x.Conv2d(c.Weight, c.Bias, weft.ConvOpts{Stride: &c.Stride, Padding: c.Padding, Dilation: &c.Dilation, Groups: &c.Groups})
	}
	defer array.Named("conv2d").End()
	y, pad := convPads("conv2d", x, taps("conv2d", c.Weight, 4), c.Stride[:], c.Padding[:], c.Dilation[:], c.Same, c.PadMode)
	return y.Conv2d(c.Weight, c.Bias, weft.ConvOpts{Stride: &c.Stride, Padding: [2]int(pad), Dilation: &c.Dilation, Groups: &c.Groups})
}

// Conv1dOpts are the options of [NewConv1d]; see [Conv2dOpts].
type Conv1dOpts struct {
	Opts
	Stride   *int
	Padding  int
	Dilation *int
	Groups   *int
	Same     bool    // as in Conv2dOpts
	PadMode  PadMode // as in Conv2dOpts
}

// Conv1d is [Conv2d] over rows.
type Conv1d struct {
	Weight                            *weft.Tensor // [out, in/groups, size]
	Bias                              *weft.Tensor // [out], nil for none
	Stride, Padding, Dilation, Groups int
	Same                              bool    // pads to the size of x in place of Padding
	PadMode                           PadMode // what the padding is
}

// NewConv1d returns a layer of float32 filters of a size. It panics as [NewConv2d] does.
func NewConv1d(in, out, size int, opts ...Conv1dOpts) *Conv1d {
	defer array.Named("conv1d").End()
	o := array.Options("conv1d", opts)
	c := checkConv("conv1d", in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	w := o.weight(out, in/c.groups, size)
	return &Conv1d{Weight: w, Bias: o.bias(out, w), Same: o.Same, PadMode: o.PadMode,
		Stride: c.stride, Padding: o.Padding, Dilation: c.dilation, Groups: c.groups}
}

// Forward maps [batch, in, n] to [batch, out, m]; see [weft.Tensor.Conv1d].
func (c *Conv1d) Forward(x *weft.Tensor) *weft.Tensor { return Call(c, x, (*Conv1d).single) }

func (c *Conv1d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv1d", c, x, 2, (*Conv1d).forward)
}

func (c *Conv1d) forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv1d", "Weight", "is nil: NewConv1d makes a layer with filters")
	}
	if !c.Same && c.PadMode == PadConstant {
		return x.Conv1d(c.Weight, c.Bias, weft.Conv1dOpts{Stride: &c.Stride, Padding: c.Padding, Dilation: &c.Dilation, Groups: &c.Groups})
	}
	defer array.Named("conv1d").End()
	y, pad := convPads("conv1d", x, taps("conv1d", c.Weight, 3), []int{c.Stride}, []int{c.Padding}, []int{c.Dilation}, c.Same, c.PadMode)
	return y.Conv1d(c.Weight, c.Bias, weft.Conv1dOpts{Stride: &c.Stride, Padding: pad[0], Dilation: &c.Dilation, Groups: &c.Groups})
}

// ConvTranspose2dOpts are the options of [NewConvTranspose2d]; see [Conv2dOpts].
type ConvTranspose2dOpts struct {
	Opts
	Stride        *int
	Padding       int // as much less of the result on all sides
	OutputPadding int // rows and columns at the end, less than the stride or the dilation
	Dilation      *int
	Groups        *int
}

// ConvTranspose2d adds each pixel times filters to a greater picture, and a bias: with a
// stride it undoes the shape of a [Conv2d] of the same options.
type ConvTranspose2d struct {
	Weight        *weft.Tensor // [in, out/groups, height, width]
	Bias          *weft.Tensor // [out], nil for none
	Stride        [2]int       // vertical, horizontal
	Padding       [2]int
	OutputPadding [2]int
	Dilation      [2]int
	Groups        int
}

// NewConvTranspose2d returns a layer of float32 filters of size x size. It panics as
// [NewConv2d] does.
func NewConvTranspose2d(in, out, size int, opts ...ConvTranspose2dOpts) *ConvTranspose2d {
	defer array.Named("conv_transpose2d").End()
	o := array.Options("conv_transpose2d", opts)
	c := checkConv("conv_transpose2d", in, out, o.Stride, o.Padding, o.Dilation, o.Groups)
	if o.OutputPadding < 0 {
		array.Failf("conv_transpose2d", "OutputPadding", "is negative: %d", o.OutputPadding)
	}
	w := o.weight(in, out/c.groups, size, size)
	return &ConvTranspose2d{Weight: w, Bias: o.bias(out, w),
		Stride: both(c.stride), Padding: both(o.Padding), OutputPadding: both(o.OutputPadding), Dilation: both(c.dilation), Groups: c.groups}
}

// Forward maps [batch, in, h, w] to [batch, out, oh, ow]; see [weft.Tensor.ConvTranspose2d].
func (c *ConvTranspose2d) Forward(x *weft.Tensor) *weft.Tensor {
	return Call(c, x, (*ConvTranspose2d).single)
}

func (c *ConvTranspose2d) single(x *weft.Tensor) *weft.Tensor {
	return withBatch("conv_transpose2d", c, x, 3, (*ConvTranspose2d).forward)
}

func (c *ConvTranspose2d) forward(x *weft.Tensor) *weft.Tensor {
	if c == nil || c.Weight == nil {
		array.Failf("conv_transpose2d", "Weight", "is nil: NewConvTranspose2d makes a layer with filters")
	}
	return x.ConvTranspose2d(c.Weight, c.Bias, weft.ConvTransposeOpts{Stride: &c.Stride, Padding: c.Padding, OutputPadding: c.OutputPadding, Dilation: &c.Dilation, Groups: &c.Groups})
}

// A steps is what the options of a convolution are where they are not given.
type steps struct{ stride, dilation, groups int }

// checkConv checks the options of a convolution and fills in the defaults.
func checkConv(op string, in, out int, stride *int, padding int, dilation, groups *int) steps {
	c := steps{array.Or(stride, 1), array.Or(dilation, 1), array.Or(groups, 1)}
	for _, f := range []struct {
		name     string
		n, least int
	}{{"Stride", c.stride, 1}, {"Padding", padding, 0}, {"Dilation", c.dilation, 1}, {"Groups", c.groups, 1}} {
		if f.n < f.least {
			array.Failf(op, f.name, "is %d, want %d or more", f.n, f.least)
		}
	}
	if in%c.groups != 0 || out%c.groups != 0 {
		array.Failf(op, "Groups", "is %d, which does not divide %d and %d channels", c.groups, in, out)
	}
	return c
}

// withBatch returns the forward of a layer for x, which may lack the axis of the batch: it then has rank
// axes. Errors have the name of an operation.
func withBatch[L any](name string, l L, x *weft.Tensor, rank int, forward func(l L, x *weft.Tensor) *weft.Tensor) *weft.Tensor {
	defer array.Named(name).End()
	if x == nil || x.Rank() != rank {
		return forward(l, x)
	}
	return own(forward(l, x.Unsqueeze(0)).Squeeze(0))
}

func both(n int) [2]int { return [2]int{n, n} }

// taps are the sizes of filters along the axes that they move over.
func taps(name string, w *weft.Tensor, rank int) []int {
	if w.Rank() != rank {
		array.Failf(name, "Weight", "has shape %s, want %d axes", array.ShapeString(sizes(w)), rank)
	}
	return sizes(w)[2:]
}

// checkFilters checks sizes of filters that options give.
func checkFilters(name string, given bool, size []int) {
	if given && slices.Min(size) < 1 {
		array.Failf(name, "Size", "is %v, want 1 or more", size)
	}
}
