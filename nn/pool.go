package nn

import "weft"

// MaxPool2d takes the greatest element of each window of the last two axes.
type MaxPool2d struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int // 0 means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p MaxPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.MaxPool2d(weft.PoolOpts(p)) }

// AvgPool2d takes the mean of each window of the last two axes, zeros of the
// padding counted.
type AvgPool2d struct {
	Window  [2]int // vertical, horizontal
	Stride  [2]int // 0 means the window's size
	Padding [2]int
}

// Forward maps [..., h, w] to [..., oh, ow].
func (p AvgPool2d) Forward(x *weft.Tensor) *weft.Tensor { return x.AvgPool2d(weft.PoolOpts(p)) }
