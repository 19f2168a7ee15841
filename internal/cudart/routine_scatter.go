package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/scatter"
	"weft/internal/op"
)

// writeAt writes the elements of the first argument of a call at the indices of the second along an
// axis. Targets hold base before, or zeros if it is nil. atStrides are the strides of the indices along
// the axes of the first argument.
func writeAt(c *device.Call, name string, w scatter.Scatter, base *array.View, atStrides []int) error {
	s, x, at, out := c.Stream.(*Stream), &c.Args[0], &c.Args[1], &c.Out[0]
	if err := s.begin(out, base); err != nil {
		return err
	}
	addr, err := s.addressesOf(x, at, out)
	if err != nil {
		return err
	}
	w.DType, w.Index, w.X, w.At, w.Out = x.DType, at.DType, addr[0], addr[1], addr[2]
	w.Count, w.AtStrides, w.OutStrides = x.Shape, atStrides, out.Strides
	w.Size, w.Targets = out.Shape[w.Axis], out.Size()
	units := s.d.info.Units
	pairs, free, err := s.scratch(w.Scratch(units))
	if err != nil {
		return err
	}
	defer free()
	return s.reporting(c, refuseIndex(name, w.Size), func(report uint64) error {
		w.Report = report
		return s.startAll(c, w.Launches(units, pairs))
	})
}

// begin copies base to a result, or sets it to zeros if base is nil. Both are contiguous.
func (s *Stream) begin(out, base *array.View) error {
	size := out.DType.Size()
	to := device.Ref{Store: out.Store, Offset: out.Offset * size}
	if base == nil {
		return s.Fill(to, out.Size()*size, 0, 1)
	}
	from := device.Ref{Store: base.Store, Offset: base.Offset * size}
	if from == to {
		return nil
	}
	return s.Copy(to, from, out.Size()*size)
}

// writeRows is writeAt of sub-arrays at a vector of indices.
func writeRows(c *device.Call, name string, w scatter.Scatter, base *array.View) error {
	x, at := &c.Args[0], &c.Args[1]
	if inner := array.Size(x.Shape[w.Axis+1:]); x.Size() == 0 && (w.Op == scatter.Copy || inner != 1) {
		// The CPU's routine looks at the indices all the same.
		if err := c.Stream.(*Stream).begin(&c.Out[0], base); err != nil {
			return err
		}
		size := c.Out[0].Shape[w.Axis]
		return checkPlaces(c, at, refuseIndex(name, size), size)
	}
	strides := make([]int, len(x.Shape))
	strides[w.Axis] = 1
	return writeAt(c, name, w, base, strides)
}

func indexAdd(c *device.Call) error {
	var base *array.View
	if len(c.Args) > 2 {
		base = &c.Args[2]
	}
	return writeRows(c, "index_add", scatter.Scatter{Op: scatter.Sum, Axis: c.Node.Attrs.(op.Target).Axis}, base)
}

func indexCopy(c *device.Call) error {
	return writeRows(c, "index_copy", scatter.Scatter{Op: scatter.Copy, Axis: int(c.Node.Attrs.(op.Axis))}, &c.Args[2])
}

func scatterSum(c *device.Call) error {
	w := scatter.Scatter{Op: scatter.Sum, Axis: c.Node.Attrs.(op.Target).Axis}
	return writeAt(c, "scatter_add", w, nil, array.RowMajor(c.Args[0].Shape))
}

func scatterCopy(c *device.Call) error {
	w := scatter.Scatter{Op: scatter.Copy, Axis: int(c.Node.Attrs.(op.Axis))}
	return writeAt(c, "scatter", w, &c.Args[2], array.RowMajor(c.Args[0].Shape))
}

// scatterExtreme is the routine of scatter_min or scatter_max.
func scatterExtreme(o scatter.Op) device.Routine {
	return func(c *device.Call) error {
		a := c.Node.Attrs.(op.Extreme)
		w := scatter.Scatter{Op: o, Axis: a.Axis, Alone: a.Alone}
		return writeAt(c, "scatter_reduce", w, &c.Args[2], array.RowMajor(c.Args[0].Shape))
	}
}

func binCount(c *device.Call) error {
	s, x, out := c.Stream.(*Stream), &c.Args[0], &c.Out[0]
	if err := s.begin(out, nil); err != nil {
		return err
	}
	at, err := s.addressesOf(x, out)
	if err != nil {
		return err
	}
	b := scatter.BinCount{X: at[0], Counts: at[1], N: x.Size(), Bins: out.Size()}
	refuse := func(k int64, position int) error {
		if k < 0 {
			return array.Errorf("bincount", "", "takes integers that are not negative, got %d", k)
		}
		return array.Errorf("bincount", "", "%d at position %d is not from 0 to %d", k, position, b.Bins-1)
	}
	return s.reporting(c, refuse, func(report uint64) error {
		b.Report = report
		return s.startAll(c, b.Launches(s.d.info.Units))
	})
}
