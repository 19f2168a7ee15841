package main

import (
	"math"
	"slices"

	"weft"
	"weft/bench/worker"
)

// Convolutions, forward alone and forward and backward, with a bias. The first
// layer of a network (of one or three channels) has no gradient of its input.

func init() {
	for name, c := range map[string]struct{ in, size, out, window, stride, padding, groups int }{
		"conv 1x32^2 to 6 5x5":               {1, 32, 6, 5, 1, 0, 1},
		"conv 6x14^2 to 16 5x5":              {6, 14, 16, 5, 1, 0, 1},
		"conv 1x256^2 to 6 7x7":              {1, 256, 6, 7, 1, 0, 1},
		"conv 64x56^2 to 64 3x3":             {64, 56, 64, 3, 1, 1, 1},
		"conv 256x14^2 to 256 3x3":           {256, 14, 256, 3, 1, 1, 1},
		"conv 3x224^2 to 64 7x7 by 2":        {3, 224, 64, 7, 2, 3, 1},
		"conv 64x56^2 to 256 1x1":            {64, 56, 256, 1, 1, 0, 1},
		"conv 128x28^2 depthwise 3x3":        {128, 28, 128, 3, 1, 1, 128},
		"conv 64x56^2 depthwise 3x3 by 2":    {64, 56, 64, 3, 2, 1, 64},
		"conv 64x28^2 to 64 3x3 in 8 groups": {64, 28, 64, 3, 1, 1, 8},
	} {
		inputs := func(p worker.Params) (x, w, b *weft.Tensor, o weft.ConvOpts) {
			o = weft.ConvOpts{Stride: new([2]int{c.stride, c.stride}), Padding: [2]int{c.padding, c.padding}, Groups: new(c.groups)}
			return random(p.DType, 1, p.N, c.in, c.size, c.size), random(p.DType, 2, c.out, c.in/c.groups, c.window, c.window),
				random(p.DType, 3, c.out), o
		}
		eager(name, func(p worker.Params) func() *weft.Tensor {
			x, w, b, o := inputs(p)
			return func() *weft.Tensor { return x.Conv2d(w, b, o) }
		})
		worker.Cases[name+" and back"] = func(p worker.Params) (*worker.Case, error) {
			x, w, b, o := inputs(p)
			wrt := []*weft.Tensor{w.RequireGrad(), b.RequireGrad()}
			if c.in > 3 {
				wrt = append(wrt, x.RequireGrad())
			}
			dy := random(p.DType, 4, x.Conv2d(w, b, o).Shape()...)
			// As the peer: gradients of the weights are divided by the root of how many
			// terms they sum, so that rounding is as small in them as in the rest.
			scale := 1 / math.Sqrt(float64(dy.Size()/c.out))
			run := func() []*weft.Tensor {
				y := x.Conv2d(w, b, o)
				return append(weft.GradAll([]*weft.Tensor{y}, wrt, weft.GradOpts{Seeds: []*weft.Tensor{dy}}), y)
			}
			return &worker.Case{
				Run: func() {
					for _, t := range run() {
						t.Release()
					}
				},
				Check: func() (s []float64) {
					for i, t := range run() {
						if i < 2 {
							t = t.Mul(scale)
						}
						s = slices.Concat(s, summary(t))
					}
					return s
				},
			}, nil
		}
	}
	eager("max pool 64x112^2 3x3 by 2", func(p worker.Params) func() *weft.Tensor {
		x := random(p.DType, 1, p.N, 64, 112, 112)
		o := weft.PoolOpts{Window: [2]int{3, 3}, Stride: new([2]int{2, 2}), Padding: [2]int{1, 1}}
		return func() *weft.Tensor { return x.MaxPool2d(o) }
	})
}
