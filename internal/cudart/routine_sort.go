package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/grid/sorting"
	"weft/internal/op"
)

// sorted returns the routine of an operation that sorts along an axis.
func sorted(describe func(c *device.Call) (axis int, s sorting.Sort)) device.Routine {
	return func(c *device.Call) error {
		s, x := c.Stream.(*Stream), &c.Args[0]
		axis, p := describe(c)
		p.DType, p.Outer, p.N, p.Inner = x.DType, array.Size(x.Shape[:axis]), x.Shape[axis], array.Size(x.Shape[axis+1:])
		p.Count = c.Out[0].Shape[axis]
		if p.N > sorting.MaxRow {
			return array.Errorf(c.Node.Op.OpName(), "axis", "has %d elements, more than %d", p.N, sorting.MaxRow)
		}
		at, err := s.addressesOf(x, &c.Out[0], &c.Out[1])
		if err != nil {
			return err
		}
		p.X, p.Y, p.Places = at[0], at[1], at[2]
		scratch := uint64(0)
		if n := p.Scratch(); n > 0 {
			at, free, err := s.scratch(n)
			if err != nil {
				return err
			}
			defer free()
			scratch = at
		}
		return s.startSorts(c, p.Launches(scratch))
	}
}

// startSorts issues the launches of a routine of sorted elements.
func (s *Stream) startSorts(c *device.Call, list []sorting.Launch) error {
	for _, l := range list {
		if err := s.startRoutine(c, l.Variant.Name(), func() *grid.Kernel { return sorting.Lower(l.Variant) }, l.Blocks, l.Args); err != nil {
			return err
		}
	}
	return nil
}

func sortAlong(c *device.Call) (axis int, s sorting.Sort) {
	a := c.Node.Attrs.(op.Sorting)
	return a.Axis, sorting.Sort{Descending: a.Descending}
}

func topK(c *device.Call) (axis int, s sorting.Sort) {
	a := c.Node.Attrs.(op.Selection)
	return a.Axis, sorting.Sort{Descending: !a.Smallest}
}

func kthValue(c *device.Call) (axis int, s sorting.Sort) {
	a := c.Node.Attrs.(op.Ranks)
	return a.Axis, sorting.Sort{At: append([]int{}, a.At...)}
}

func searchSorted(c *device.Call) error {
	s, rows, x := c.Stream.(*Stream), &c.Args[0], &c.Args[1]
	at, err := s.addressesOf(rows, x, &c.Out[0])
	if err != nil {
		return err
	}
	r := len(rows.Shape)
	p := sorting.Searching{DType: rows.DType, Rows: 1, N: rows.Shape[r-1], Queries: x.Size(), Right: c.Node.Attrs.(op.Search).Right, Sorted: at[0], X: at[1], Places: at[2]}
	if r > 1 {
		p.Rows, p.Queries = array.Size(rows.Shape[:r-1]), x.Shape[r-1]
	}
	return s.startSorts(c, p.Launches())
}
