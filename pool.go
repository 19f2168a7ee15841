package weft

import "weft/internal/op"

// PoolOpts are the options of pooling over the last two axes; a zero stride means
// the window's size.
type PoolOpts struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int
	Padding [2]int // on both sides, less than the window
}

func (o PoolOpts) attrs() op.Pool {
	for i := range o.Stride {
		if o.Stride[i] == 0 {
			o.Stride[i] = o.Window[i]
		}
	}
	return op.Pool{Window: o.Window, Stride: o.Stride, Pad: o.Padding}
}

// MaxPool2d is the greatest element of each window of the last two axes. The
// gradient goes to the first greatest.
func (t *Tensor) MaxPool2d(o PoolOpts) *Tensor { return withAttrs(op.MaxPool2d, o.attrs(), t) }

// AvgPool2d is the mean of each window of the last two axes, zeros of the padding
// counted.
func (t *Tensor) AvgPool2d(o PoolOpts) *Tensor { return withAttrs(op.AvgPool2d, o.attrs(), t) }
