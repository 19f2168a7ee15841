package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/pooling"
	"weft/internal/op"
)

// onWindows returns the routine of an operation on windows.
func onWindows(o pooling.Op) device.Routine {
	return func(c *device.Call) error {
		s := c.Stream.(*Stream)
		picture, windows := &c.Args[0], &c.Out[0]
		if o.Back() {
			picture, windows = &c.Out[0], &c.Args[len(c.Args)-1]
		}
		a, ok := c.Node.Attrs.(op.Pool)
		if !ok {
			a = c.Node.Attrs.(op.PoolGrad).Pool
		}
		x, y := picture.Shape, windows.Shape
		r := len(x)
		p := pooling.Pool{DType: c.Out[0].DType, Planes: array.Size(x[:r-2]), H: x[r-2], W: x[r-1], OH: y[r-2], OW: y[r-1],
			KH: a.Window[0], KW: a.Window[1], PadH: a.Pad[0], PadW: a.Pad[1], Sum: a.Sum,
			StepH: op.StepWithin(a.Stride[0], x[r-2], a.Pad[0]), StepW: op.StepWithin(a.Stride[1], x[r-1], a.Pad[1])}
		args, out, err := s.operands(c)
		if err != nil {
			return err
		}
		return s.startAll(c, p.Launches(o, out[0], args...))
	}
}
