package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/scan"
	"weft/internal/op"
)

// scanned returns the routine of an operation on the elements up to each along an axis.
func scanned(o scan.Op) device.Routine {
	return func(c *device.Call) error {
		s, x := c.Stream.(*Stream), &c.Args[0]
		a := op.Scan{}
		switch attrs := c.Node.Attrs.(type) {
		case op.Scan:
			a = attrs
		case op.Axis:
			a.Axis = int(attrs)
		}
		p := scan.Scan{Op: o, DType: x.DType, Outer: array.Size(x.Shape[:a.Axis]), N: x.Shape[a.Axis], Inner: array.Size(x.Shape[a.Axis+1:]), Reverse: a.Reverse}
		args, out, err := s.operands(c)
		if err != nil {
			return err
		}
		p.X, p.Y = args[0], out[0]
		if o == scan.Recurrence {
			p.A = args[1]
		}
		if len(out) > 1 {
			p.Places = out[1]
		}
		at, free, err := s.scratch(p.Scratch())
		if err != nil {
			return err
		}
		defer free()
		return s.startAll(c, p.Launches(at))
	}
}
