package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/arg"
	"weft/internal/op"
)

// argExtreme is the routine of argmax, or of argmin.
func argExtreme(greatest bool) device.Routine {
	return func(c *device.Call) error {
		s, x, axis := c.Stream.(*Stream), &c.Args[0], int(c.Node.Attrs.(op.Axis))
		if c.Out[0].Size() == 0 {
			return nil
		}
		at, err := s.addressesOf(x, &c.Out[0])
		if err != nil {
			return err
		}
		e := arg.Extreme{DType: x.DType, Greatest: greatest, X: at[0], Out: at[1], N: x.Shape[axis], Step: x.Strides[axis]}
		for i, n := range x.Shape {
			if i != axis {
				e.Lines = append(e.Lines, arg.Dim{Count: n, Stride: x.Strides[i]})
			}
		}
		units := s.d.info.Units
		candidates, free, err := s.scratch(e.Scratch(units))
		if err != nil {
			return err
		}
		defer free()
		return s.startAll(c, e.Launches(units, candidates))
	}
}

// segmentArg is the routine of segment_argmax, or of segment_argmin.
func segmentArg(greatest bool) device.Routine {
	return func(c *device.Call) error {
		s, x, offsets := c.Stream.(*Stream), &c.Args[0], &c.Args[1]
		at, err := s.addressesOf(x, offsets, &c.Out[0])
		if err != nil {
			return err
		}
		e := arg.Items{DType: x.DType, Greatest: greatest, X: at[0], Offsets: at[1], Out: at[2],
			Count: offsets.Size() - 1, Rows: x.Shape[0], Columns: array.Size(x.Shape[1:])}
		if err := s.checkItems(c.Node.Op.OpName(), e.Offsets, e.Count, e.Rows); err != nil {
			return err
		}
		return s.startAll(c, e.Launches())
	}
}

// checkItems waits for the offsets of items, and refuses those that descend or lie outside of the rows.
func (s *Stream) checkItems(op string, at uint64, items, rows int) error {
	if err := s.d.enter(); err != nil {
		return err
	}
	defer s.d.leave()
	_, err := s.offsets(op, Addr(at), items, rows)
	return err
}
