package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

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
