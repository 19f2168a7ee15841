package weft

import (
	"weft/internal/ir"
	"weft/internal/op"
)

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
