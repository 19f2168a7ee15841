package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// ConvOpts are the options of a convolution.
type ConvOpts struct {
	Stride   *[2]int // vertical, horizontal; nil means 1
	Padding  [2]int  // zeros on both sides, vertical and horizontal
	Dilation *[2]int // steps between the taps of a filter, vertical and horizontal; nil means 1
	// Groups is how many parts channels are in: filters of the first part see the first
	// part of the channels, and so on. As many groups as channels are a depthwise convolution.
	// Nil means 1.
	Groups *int
}

// Conv2d cross-correlates pictures t [N C H W] with filters w [O C/Groups KH KW] and adds
// bias [O] if not nil: the result is [N O OH OW]. Floats; Float16 and BFloat16 are summed in
// float32 and rounded once. With padding P,
// dilation D and stride S, OH is (H + 2P - D*(KH-1) - 1)/S + 1 rounded down. It panics with
// [*Error] if shapes do not fit, a group would be of no whole number of channels or a size is
// out of range.
//
// Float32 with 3x3 filters, stride 1 and numbers of channels that are multiples of 32 (of a
// group) may be computed by Winograd's F(2x2, 3x3), whose rounding errors are relative to the
// pixels of a tile of 4x4 rather than those under a filter.
func (t *Tensor) Conv2d(w, bias *Tensor, opts ...ConvOpts) *Tensor {
	o := array.Options("conv2d", opts)
	return convolve(op.Conv2d, convAttrs(o.Stride, o.Padding, o.Dilation, o.Groups), t, w, bias)
}

// Conv1dOpts are the options of a convolution of rows.
type Conv1dOpts struct {
	Stride   *int // nil means 1
	Padding  int  // zeros on both sides
	Dilation *int // steps between the taps of a filter; nil means 1
	Groups   *int // as in ConvOpts
}

// Conv1d is [Tensor.Conv2d] of rows t [N C L] with filters w [O C/Groups K]: the result is
// [N O OL]. Float32 and Float64.
func (t *Tensor) Conv1d(w, bias *Tensor, opts ...Conv1dOpts) *Tensor {
	o := array.Options("conv1d", opts)
	a := op.Conv{Stride: [2]int{1, array.Or(o.Stride, 1)}, Pad: [2]int{0, o.Padding}, Dilation: [2]int{1, array.Or(o.Dilation, 1)}, Groups: array.Or(o.Groups, 1)}
	return convolve(op.Conv1d, a, t, w, bias)
}

// ConvTransposeOpts are the options of a transposed convolution: the options of the convolution
// that it transposes, and OutputPadding, by which the result exceeds the least size.
type ConvTransposeOpts struct {
	Stride        *[2]int // vertical, horizontal; nil means 1
	Padding       [2]int  // as much less of the result on all sides
	OutputPadding [2]int  // rows and columns at the end, less than the stride or the dilation
	Dilation      *[2]int // nil means 1
	Groups        *int    // nil means 1
}

// ConvTranspose2d is the transpose of [Tensor.Conv2d], its gradient for the pictures. Each
// pixel of t [N C H W] times the filters w [C O/Groups KH KW] is added to the result
// [N O OH OW] where it lies, then bias [O] if not nil. With stride S, padding P,
// dilation D and output padding E, OH is (H-1)*S - 2P + D*(KH-1) + E + 1. Float32 and
// Float64. It panics with [*Error] if shapes do not fit or a size is out of range.
func (t *Tensor) ConvTranspose2d(w, bias *Tensor, opts ...ConvTransposeOpts) *Tensor {
	o := array.Options("conv_transpose2d", opts)
	a := op.ConvTranspose{Conv: convAttrs(o.Stride, o.Padding, o.Dilation, o.Groups), OutPad: o.OutputPadding}
	return convolve(op.ConvTranspose2d, a, t, w, bias)
}

func convolve(d *op.Def, a ir.Attrs, t, w, bias *Tensor) *Tensor {
	t.c().NotNil(d.Name)
	w.c().Argument(d.Name, "w")
	if bias == nil {
		return (*Tensor)(core.WithAttrs(d, a, t.c(), w.c()))
	}
	return (*Tensor)(core.WithAttrs(d, a, t.c(), w.c(), bias.c()))
}

func convAttrs(stride *[2]int, pad [2]int, dilation *[2]int, groups *int) op.Conv {
	one := [2]int{1, 1}
	return op.Conv{Stride: array.Or(stride, one), Pad: pad, Dilation: array.Or(dilation, one), Groups: array.Or(groups, 1)}
}

// PoolOpts are the options of pooling over the last two axes.
type PoolOpts struct {
	Window  [2]int  // vertical, horizontal
	Stride  *[2]int // nil means the window's size
	Padding [2]int  // on both sides, less than the window
}

func (o PoolOpts) attrs() op.Pool {
	return op.Pool{Window: o.Window, Stride: array.Or(o.Stride, o.Window), Pad: o.Padding}
}

// MaxPool2d is the greatest element of each window of the last two axes. The
// gradient goes to the first greatest.
func (t *Tensor) MaxPool2d(o PoolOpts) *Tensor {
	return (*Tensor)(core.WithAttrs(op.MaxPool2d, o.attrs(), t.c()))
}

// AvgPool2d is the mean of each window of the last two axes, zeros of the padding
// counted.
func (t *Tensor) AvgPool2d(o PoolOpts) *Tensor {
	return (*Tensor)(core.WithAttrs(op.AvgPool2d, o.attrs(), t.c()))
}

// CrossEntropy is the mean over rows of the negative log-likelihood of integer
// targets [N] under the softmax of logits [N C]. It panics if a target is not in
// [0, C).
func CrossEntropy(logits, target *Tensor) *Tensor {
	logits.c().Check("cross_entropy")
	target.c().Check("cross_entropy")
	if logits.Rank() == 2 && target.Rank() == 1 && target.v().DType.Integer() {
		last := int64(logits.v().Shape[1]) - 1
		target = (*Tensor)(core.RangeCheck{Op: "cross_entropy", Arg: "target", Max: last, Text: "%d of row %d is not a class: want 0 to %d", Rows: true}.Of(target.c()))
	}
	return (*Tensor)(core.WithAttrs(op.CrossEntropy, nil, logits.c(), target.c()))
}
