package cudart

import (
	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/grid/scan"
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
		args, out, err := s.operands(c)
		if err != nil {
			return err
		}
		p.X, p.Y, p.Places = args[0], out[0], out[1]
		at, free, err := s.scratch(p.Scratch())
		if err != nil {
			return err
		}
		defer free()
		return s.startAll(c, p.Launches(at))
	}
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
	args, out, err := s.operands(c)
	if err != nil {
		return err
	}
	r := len(rows.Shape)
	p := sorting.Searching{DType: rows.DType, Rows: 1, N: rows.Shape[r-1], Queries: x.Size(), Right: c.Node.Attrs.(op.Search).Right, Sorted: args[0], X: args[1], Places: out[0]}
	if r > 1 {
		p.Rows, p.Queries = array.Size(rows.Shape[:r-1]), x.Shape[r-1]
	}
	return s.startAll(c, p.Launches())
}

// runs marks where runs of equal elements begin, and numbers them: the numbers are running sums of the marks.
func runs(c *device.Call) error {
	s, x := c.Stream.(*Stream), &c.Args[0]
	args, out, err := s.operands(c)
	if err != nil {
		return err
	}
	n := x.Size()
	sums := scan.Scan{Op: scan.Sum, DType: array.Int64, Outer: 1, N: n, Inner: 1}
	at, free, err := s.scratch(8*n + sums.Scratch())
	if err != nil {
		return err
	}
	defer free()
	sums.X, sums.Y = at, at
	if err := s.Fill(device.Ref{Store: c.Out[1].Store, Offset: c.Out[1].Offset * 8}, n, 0, 8); err != nil {
		return err
	}
	refuse := func(place int64, position int) error {
		return array.Errorf("runs", "places", "%d at position %d is out of range for size %d", place, position, n)
	}
	return s.reporting(c, refuse, func(report uint64) error {
		p := sorting.Runs{DType: x.DType, N: n, Sorted: args[0], Places: args[1], First: out[0], Numbers: out[1], Sums: at, Report: report}
		if err := s.startAll(c, p.Marks()); err != nil {
			return err
		}
		if err := s.startAll(c, sums.Launches(at+uint64(8*n))); err != nil {
			return err
		}
		return s.startAll(c, p.Number())
	})
}
