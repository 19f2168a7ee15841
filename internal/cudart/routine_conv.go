package cudart

import (
	"cmp"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/grid/conv"
	"weft/internal/grid/product"
	"weft/internal/op"
)

// The routines of convolutions. Each has the operand whose size is the number of terms that kernels
// count at once.
var (
	conv2d       = convolution("w", conv.Convolution.Forward, func(g op.ConvGeometry) int { return g.C / g.Groups * g.KH * g.KW })
	conv2dInput  = convolution("w", conv.Convolution.Input, func(g op.ConvGeometry) int { return g.O / g.Groups * g.KH * g.KW })
	conv2dWeight = convolution("dy", conv.Convolution.Weight, func(g op.ConvGeometry) int { return g.OH * g.OW })
)

// convolution returns the routine that computes with the launches of f, which gets the images of the
// result and of the operands. It refuses an operand, named arg, of too many terms.
func convolution(arg string, f func(c conv.Convolution, g conv.GPU, out, a, b conv.Image) []grid.Launch, terms func(op.ConvGeometry) int) device.Routine {
	return func(c *device.Call) error {
		s, shape := c.Stream.(*Stream), conv.Convolution{ConvGeometry: op.Geometry(c.Node), DType: c.Out[0].DType, Of: [2]array.DType{c.Args[0].DType, c.Args[1].DType}}
		if n := terms(shape.ConvGeometry); n > product.MaxDigits {
			return array.Errorf(c.Node.Op.OpName(), arg, "has %d terms of a sum in a picture or a filter, a GPU counts at most %d", n, product.MaxDigits)
		}
		var images [3]conv.Image
		for i, v := range []*array.View{&c.Out[0], &c.Args[0], &c.Args[1]} {
			addr, err := s.first(v)
			if err != nil {
				return err
			}
			images[i] = conv.Image{Addr: addr, N: v.Strides[0], C: v.Strides[1], H: v.Strides[2], W: v.Strides[3]}
		}
		var failed error
		var frees []func()
		g := conv.GPU{GPU: s.d.productGPU(), Alloc: func(bytes int) uint64 {
			at, free, err := s.scratch(bytes)
			frees = append(frees, free)
			failed = cmp.Or(failed, err)
			return at
		}}
		defer func() {
			for _, free := range frees {
				free()
			}
		}()
		list := f(shape, g, images[0], images[1], images[2])
		if failed != nil {
			return failed
		}
		return s.startAll(c, list)
	}
}
