package cudart

import (
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/moves"
	"weft/internal/op"
)

// copyView copies between any strides, which the planner wants of transposes.
func copyView(c *device.Call) error {
	s, x, out := c.Stream.(*Stream), &c.Args[0], &c.Out[0]
	addr, err := s.addressesOf(out, x)
	if err != nil {
		return err
	}
	m := moves.Copy{Size: out.DType.Size(), Count: out.Shape, To: moves.Array{Addr: addr[0], Strides: out.Strides}, From: moves.Array{Addr: addr[1], Strides: x.Strides}}
	return s.startAll(c, m.Launches(s.d.info.Units))
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
		return s.startAll(c, t.Launches(s.d.info.Units))
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

// places writes indices, counted from the front.
func places(c *device.Call) error {
	a, shape := c.Node.Attrs.(op.PlacesOf), c.Args[0].Shape
	refuse := refuseIndex(a.Op, a.Size)
	return putPlaces(c, &c.Args[0], moves.Places{Along: a.Size, Weight: 1}, func(index int64, position int) error {
		return refuse(index, a.Position(shape, position))
	})
}

// ravelIndex joins arrays of indices, one after the other.
func ravelIndex(c *device.Call) error {
	a, out := c.Node.Attrs.(op.Raveling), &c.Out[0]
	if out.Size() == 0 {
		// As in NumPy, indices are checked unless they broadcast to none; single ones always.
		none := false
		for k := range c.Args {
			none = none || a.Axes[k] >= 0 && c.Args[k].Size() == 0
		}
		for k := range c.Args {
			if none && a.Ranks[k] > 0 {
				continue
			}
			if err := checkPlaces(c, &c.Args[k], refuseRaveled(a, k, c.Args[k].Shape, c.Args[k].Shape), a.Sizes[k]); err != nil {
				return err
			}
		}
		return nil
	}
	for k := range c.Args {
		p := moves.Places{Along: a.Sizes[k], Weight: array.Size(a.Sizes[k+1:])}
		if k > 0 {
			p.Mode = moves.Add
		}
		v := c.Args[k].BroadcastTo(out.Shape)
		if err := putPlaces(c, &v, p, refuseRaveled(a, k, c.Args[k].Shape, out.Shape)); err != nil {
			return err
		}
	}
	return nil
}

// refuseRaveled returns what makes the error of an index out of range, of array k of a shape, whose
// position is one of all. The lowest position of an index that is repeated is 0 along axes of size 1.
func refuseRaveled(a op.Raveling, k int, shape, all []int) func(index int64, position int) error {
	name := "index"
	if a.Put {
		name = "index_put"
	}
	return func(index int64, position int) error {
		var at [array.MaxRank]int
		for d := len(all) - 1; d >= 0; d-- {
			if own := d - (len(all) - len(shape)); own >= 0 {
				at[own] = position % all[d]
			}
			position /= all[d]
		}
		return array.Errorf(name, "", "argument %d: %d at %s is out of range for axis %d of size %d", a.Args[k], index, array.ShapeString(at[:a.Ranks[k]]), a.Axes[k], a.Sizes[k])
	}
}

// checkRange copies integers and refuses those out of a range.
func checkRange(c *device.Call) error {
	r := c.Node.Attrs.(op.RangeFunc)
	least, most := r.Bounds()
	return putPlaces(c, &c.Args[0], moves.Places{Mode: moves.Within, Along: int(most), Weight: int(least)}, r.Refuse)
}

// checkPlaces looks at indices for their errors alone.
func checkPlaces(c *device.Call, at *array.View, refuse func(index int64, position int) error, size int) error {
	return putPlaces(c, at, moves.Places{Mode: moves.Check, Along: size}, refuse)
}

// putPlaces computes what p says of indices, for the result of a call.
func putPlaces(c *device.Call, at *array.View, p moves.Places, refuse func(index int64, position int) error) (err error) {
	s := c.Stream.(*Stream)
	p.Index, p.Count, p.At.Strides = at.DType, at.Shape, at.Strides
	if p.At.Addr, err = s.first(at); err != nil {
		return err
	}
	if p.Mode != moves.Check {
		if p.Out, err = s.first(&c.Out[0]); err != nil {
			return err
		}
	}
	return s.reporting(c, refuse, func(report uint64) error {
		p.Report = report
		return s.startAll(c, p.Launches(s.d.info.Units))
	})
}
