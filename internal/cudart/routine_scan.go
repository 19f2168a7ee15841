package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
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
		var err error
		try := func(v *array.View) (addr uint64) {
			if err == nil {
				addr, err = s.first(v)
			}
			return addr
		}
		p.X, p.Y = try(x), try(&c.Out[0])
		if len(c.Args) > 1 {
			p.A = try(&c.Args[1])
		}
		if len(c.Out) > 1 {
			p.Places = try(&c.Out[1])
		}
		scratch := uint64(0)
		if n := p.Scratch(); n > 0 && err == nil {
			at, free, e := s.scratch(n)
			if e != nil {
				return e
			}
			defer free()
			scratch = at
		}
		if err != nil {
			return err
		}
		for _, l := range p.Launches(scratch) {
			if err := s.startRoutine(c, l.Variant.Name(), func() *grid.Kernel { return scan.Lower(l.Variant) }, l.Blocks, l.Args); err != nil {
				return err
			}
		}
		return nil
	}
}
