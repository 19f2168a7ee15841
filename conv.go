package weft

import (
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// ConvOpts are the options of a convolution; zero strides mean 1.
type ConvOpts struct {
	Stride  [2]int // vertical, horizontal
	Padding [2]int // zeros on both sides, vertical and horizontal
}

// Conv2d cross-correlates pictures t [N C H W] with filters w [O C KH KW] and adds
// bias [O] if not nil: the result is [N O OH OW]. Float32 and Float64.
//
// Float32 with 3x3 filters, stride 1 and numbers of channels that are multiples of 32 may
// be computed by Winograd's F(2x2, 3x3), whose rounding errors are relative to the pixels
// of a tile of 4x4 rather than those under a filter.
func (t *Tensor) Conv2d(w, bias *Tensor, o ConvOpts) *Tensor {
	a := ir.Attrs{Ints: []int{orOne(o.Stride[0]), orOne(o.Stride[1]), o.Padding[0], o.Padding[1]}}
	if bias == nil {
		return withAttrs(op.Conv2d, a, t, w)
	}
	return withAttrs(op.Conv2d, a, t, w, bias)
}

func orOne(n int) int {
	if n == 0 {
		return 1
	}
	return n
}

// PoolOpts are the options of pooling over the last two axes; a zero stride means
// the window's size.
type PoolOpts struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int
	Padding [2]int // on both sides, less than the window
}

func (o PoolOpts) attrs() ir.Attrs {
	p := []int{o.Window[0], o.Window[1], o.Stride[0], o.Stride[1], o.Padding[0], o.Padding[1]}
	for i := range 2 {
		if p[2+i] == 0 {
			p[2+i] = p[i]
		}
	}
	return ir.Attrs{Ints: p}
}

// MaxPool2d is the greatest element of each window of the last two axes. The
// gradient goes to the first greatest.
func (t *Tensor) MaxPool2d(o PoolOpts) *Tensor { return withAttrs(op.MaxPool2d, o.attrs(), t) }

// AvgPool2d is the mean of each window of the last two axes, zeros of the padding
// counted.
func (t *Tensor) AvgPool2d(o PoolOpts) *Tensor { return withAttrs(op.AvgPool2d, o.attrs(), t) }

// CrossEntropy is the mean over rows of the negative log-likelihood of integer
// targets [N] under the softmax of logits [N C]. It panics if a target is not in
// [0, C).
func CrossEntropy(logits, target *Tensor) *Tensor {
	logits.check("cross_entropy")
	target.check("cross_entropy")
	if logits.Rank() == 2 && target.Rank() == 1 && target.v.DType.Integer() {
		c := int64(logits.v.Shape[1])
		for i := range target.v.Shape[0] {
			if x := intElement(&target.v, target.v.Offset+i*target.v.Strides[0]); x < 0 || x >= c {
				array.Failf("cross_entropy", "target", "%d of row %d is no class: want 0 to %d", x, i, c-1)
			}
		}
		keepAlive(target)
	}
	return withAttrs(op.CrossEntropy, ir.Attrs{}, logits, target)
}
