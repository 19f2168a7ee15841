package cudart

import (
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/moves"
	"weft/internal/op"
)

// start issues the launches of a routine that moves elements.
func (s *Stream) startMoves(c *device.Call, list []moves.Launch) error {
	for _, l := range list {
		if err := s.startRoutine(c, l.Name, l.Lower, l.Blocks, l.Args); err != nil {
			return err
		}
	}
	return nil
}

// addressesOf returns the addresses of the first elements of views.
func (s *Stream) addressesOf(views ...*array.View) ([]uint64, error) {
	out := make([]uint64, len(views))
	for i, v := range views {
		var err error
		if out[i], err = s.first(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// refuseIndex returns what makes the error of an index out of range.
func refuseIndex(name string, size int) func(index int64, position int) error {
	return func(index int64, position int) error {
		return array.Errorf(name, "index", "%d at position %d is out of range for size %d", index, position, size)
	}
}

// take reads the elements of the argument of a call at indices along an axis. steps are the steps of
// the indices, and of their positions, along the axes of the result.
func take(c *device.Call, name string, axis int, index, position []int) error {
	s, x, at, out := c.Stream.(*Stream), &c.Args[0], &c.Args[1], &c.Out[0]
	addr, err := s.addressesOf(out, x, at)
	if err != nil {
		return err
	}
	t := moves.Take{Size: out.DType.Size(), Index: at.DType, Count: out.Shape, Out: addr[0],
		X: moves.Array{Addr: addr[1], Strides: slices.Clone(x.Strides)}, At: moves.Array{Addr: addr[2], Strides: index}, Position: position}
	size := 1
	if len(x.Shape) > 0 {
		size, t.Step = x.Shape[axis], x.Strides[axis]
		t.X.Strides[axis] = 0
	}
	t.Along = size
	return s.reporting(c, refuseIndex(name, size), func(report uint64) error {
		t.Report = report
		return s.startMoves(c, t.Launches(s.d.info.Units))
	})
}

func indexSelect(c *device.Call) error {
	const name = "index_select"
	axis, x, at := int(c.Node.Attrs.(op.Axis)), &c.Args[0], &c.Args[1]
	if c.Out[0].Size() == 0 && array.Size(x.Shape[axis+1:]) != 1 {
		return checkPlaces(c, at, refuseIndex(name, x.Shape[axis]), x.Shape[axis])
	}
	index, position := make([]int, len(x.Shape)), make([]int, len(x.Shape))
	index[axis], position[axis] = at.Strides[0], 1
	return take(c, name, axis, index, position)
}

func gather(c *device.Call) error {
	at := &c.Args[1]
	return take(c, "gather", int(c.Node.Attrs.(op.Axis)), at.Strides, array.RowMajor(at.Shape))
}

// checkPlaces looks at indices for their errors alone.
func checkPlaces(c *device.Call, at *array.View, refuse func(index int64, position int) error, size int) error {
	s := c.Stream.(*Stream)
	addr, err := s.first(at)
	if err != nil {
		return err
	}
	return s.reporting(c, refuse, func(report uint64) error {
		p := moves.Places{Mode: moves.Check, Index: at.DType, Count: at.Shape, At: moves.Array{Addr: addr, Strides: at.Strides}, Along: size, Report: report}
		return s.startMoves(c, p.Launches(s.d.info.Units))
	})
}
