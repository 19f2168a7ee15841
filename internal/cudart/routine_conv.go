package cudart

import (
	"cmp"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/conv"
	"weft/internal/op"
)

// convolution returns the routine that computes with the launches of f, which gets the images of the
// result and of the operands.
func convolution(f func(c conv.Convolution, g conv.GPU, out, a, b conv.Image) []conv.Launch) device.Routine {
	return func(c *device.Call) error {
		s := c.Stream.(*Stream)
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
		g := conv.GPU{Units: s.d.info.Units, Major: s.d.info.Major, Alloc: func(bytes int) uint64 {
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
		shape := conv.Convolution{ConvGeometry: op.Geometry(c.Node), DType: c.Out[0].DType, Of: [2]array.DType{c.Args[0].DType, c.Args[1].DType}}
		list := f(shape, g, images[0], images[1], images[2])
		if failed != nil {
			return failed
		}
		for _, l := range list {
			if err := s.startRoutine(c, l.Name, l.Lower, l.Blocks, l.Args); err != nil {
				return err
			}
		}
		return nil
	}
}
