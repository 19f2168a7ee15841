package weft

import (
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
	a := op.Conv{Stride: [2]int{orOne(o.Stride[0]), orOne(o.Stride[1])}, Pad: o.Padding}
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
