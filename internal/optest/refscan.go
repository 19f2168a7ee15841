package optest

import (
	"math/bits"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// lines are the flat indices of the elements along an axis, for each place on the others.
func lines(shape []int, axis int, reverse bool) [][]int {
	in := make([]bool, len(shape))
	in[axis] = true
	_, rows := groups(shape, in, true)
	if reverse {
		for _, r := range rows {
			slices.Reverse(r)
		}
	}
	return rows
}

// ordered returns the places along a row in the order of its elements: NaN is the greatest,
// equal ones stay in order.
func ordered(x *Array, row []int, descending bool) []int {
	places := make([]int, len(row))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(i, k int) int {
		a, b := row[i], row[k]
		if descending {
			a, b = b, a
		}
		switch {
		case before(x, a, b):
			return -1
		case before(x, b, a):
			return 1
		}
		return i - k
	})
	return places
}

func init() {
	// scan runs f(result before, element) along an axis, each step rounded.
	scan := func(x *Array, axis int, reverse bool, f func(y, x float64) float64, i func(y, x int64) int64) *Array {
		y := New(x.DType, x.Shape)
		for _, row := range lines(x.Shape, axis, reverse) {
			for k, at := range row {
				switch {
				case k == 0:
					y.put(at, x, at)
				case x.F != nil:
					y.set(at, f(y.F[row[k-1]], x.F[at]), 0)
				default:
					y.set(at, 0, i(y.I[row[k-1]], x.I[at]))
				}
			}
		}
		return y
	}
	for _, r := range []struct {
		name, prim string
		f          func(y, x float64) float64
		i          func(y, x int64) int64
	}{
		{"cumsum", "scan_sum", func(y, x float64) float64 { return y + x }, func(y, x int64) int64 { return y + x }},
		{"cumprod", "scan_prod", func(y, x float64) float64 { return y * x }, func(y, x int64) int64 { return y * x }},
	} {
		references[r.name] = func(x []*Array, a ir.Attrs) Result {
			in, out := x[0].DType, x[0].DType
			if x[0].F == nil && in != array.Uint64 {
				in, out = array.Int64, array.Int64
			} else if in.Size() < 4 {
				in = array.Float32
			}
			return Result{Array: convert(scan(convert(x[0], in), int(a.(op.Axis)), false, r.f, r.i), out), Exact: true}
		}
		references[r.prim] = func(x []*Array, a ir.Attrs) Result {
			s, ok := a.(op.Scan)
			if !ok {
				s.Axis = int(a.(op.Axis))
			}
			if s.Blocks && x[0].F != nil {
				return Result{Array: inBlocks(x[0], s), Exact: true}
			}
			return Result{Array: scan(x[0], s.Axis, s.Reverse, r.f, r.i), Exact: true}
		}
	}
	references["recurrence"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Scan)
		y := New(x[0].DType, x[0].Shape)
		for _, row := range lines(y.Shape, a.Axis, a.Reverse) {
			for k, at := range row {
				v := x[0].F[at]
				if k > 0 {
					factor := x[1].F[at]
					if a.Reverse {
						factor = x[1].F[row[k-1]]
					}
					v += roundTo(y.DType, factor*y.F[row[k-1]])
				}
				y.set(at, v, 0)
			}
		}
		return Result{Array: y, Exact: true}
	}
	for _, greatest := range []bool{true, false} {
		name := map[bool]string{true: "cummax", false: "cummin"}[greatest]
		several[name] = func(x []*Array, a ir.Attrs) []Result {
			x0 := x[0]
			y, places := New(x0.DType, x0.Shape), New(array.Int64, x0.Shape)
			for _, row := range lines(y.Shape, int(a.(op.Axis)), false) {
				best := 0
				for k, at := range row {
					b := row[best]
					worse := before(x0, at, b) // and NaN is never worse
					if !greatest {
						worse = before(x0, b, at) && !(x0.F != nil && x0.F[at] != x0.F[at]) || x0.F != nil && x0.F[b] != x0.F[b] && x0.F[at] == x0.F[at]
					}
					if !worse {
						best = k
					}
					y.put(at, x0, row[best])
					places.I[at] = int64(best)
				}
			}
			return []Result{{Array: y, Exact: true}, {Array: places, Exact: true}}
		}
		arg := map[bool]string{true: "argmax", false: "argmin"}[greatest]
		several[map[bool]string{true: "max_with_index", false: "min_with_index"}[greatest]] = func(x []*Array, a ir.Attrs) []Result {
			axis := int(a.(op.Axis))
			places := references[arg](x, op.Reduction{Axes: []int{axis}})
			y := New(x[0].DType, places.Shape)
			for i, row := range lines(x[0].Shape, axis, false) {
				y.put(i, x[0], row[places.I[i]])
			}
			return []Result{{Array: y, Exact: true}, places}
		}
	}
	first := func(x *Array, axis, n int, descending bool) []Result {
		shape := append([]int(nil), x.Shape...)
		shape[axis] = n
		values, places := New(x.DType, shape), New(array.Int64, shape)
		to := lines(shape, axis, false)
		for i, row := range lines(x.Shape, axis, false) {
			for k, at := range ordered(x, row, descending)[:n] {
				values.put(to[i][k], x, row[at])
				places.I[to[i][k]] = int64(at)
			}
		}
		return []Result{{Array: values, Exact: true}, {Array: places, Exact: true}}
	}
	several["sort"] = func(x []*Array, attrs ir.Attrs) []Result {
		a := attrs.(op.Sorting)
		return first(x[0], a.Axis, x[0].Shape[a.Axis], a.Descending)
	}
	several["topk"] = func(x []*Array, attrs ir.Attrs) []Result {
		a := attrs.(op.Selection)
		return first(x[0], a.Axis, a.Count, !a.Smallest)
	}
	several["kthvalue"] = func(x []*Array, attrs ir.Attrs) []Result {
		a := attrs.(op.Ranks)
		shape := append([]int(nil), x[0].Shape...)
		shape[a.Axis] = len(a.At)
		values, places := New(x[0].DType, shape), New(array.Int64, shape)
		to := lines(shape, a.Axis, false)
		for i, row := range lines(x[0].Shape, a.Axis, false) {
			all := ordered(x[0], row, false)
			for j, k := range a.At {
				values.put(to[i][j], x[0], row[all[k]])
				places.I[to[i][j]] = int64(all[k])
			}
		}
		return []Result{{Array: values, Exact: true}, {Array: places, Exact: true}}
	}
	references["searchsorted"] = func(x []*Array, a ir.Attrs) Result {
		s, v := x[0], x[1]
		y := New(array.Int64, v.Shape)
		n := s.Shape[len(s.Shape)-1]
		both := New(s.DType, []int{s.Size() + v.Size()}) // for comparison
		for i := range s.Size() {
			both.put(i, s, i)
		}
		for i := range v.Size() {
			both.put(s.Size()+i, v, i)
			row := 0
			if len(s.Shape) > 1 {
				row = i / v.Shape[len(v.Shape)-1] * n
			}
			for k := range n {
				if e, q := row+k, s.Size()+i; before(both, e, q) || a.(op.Search).Right && !before(both, q, e) {
					y.I[i]++
				}
			}
		}
		return Result{Array: y, Exact: true}
	}
	several["runs"] = func(x []*Array, _ ir.Attrs) []Result {
		s, places := x[0], x[1]
		first, number := New(array.Bool, s.Shape), New(array.Int64, s.Shape)
		run := int64(-1)
		for i := range s.Size() {
			if i == 0 || before(s, i-1, i) {
				first.I[i] = 1
				run++
			}
			number.I[places.I[i]] = run
		}
		return []Result{{Array: first, Exact: true}, {Array: number, Exact: true}}
	}
	references["bincount"] = func(x []*Array, a ir.Attrs) Result {
		y := New(array.Int64, []int{int(a.(op.Count))})
		for _, k := range x[0].I {
			y.I[k]++
		}
		return Result{Array: y, Exact: true}
	}
}

// inBlocks gives the running sums of floats in blocks of 64 bytes along the last axis, in order
// along others and of rows shorter than a block.
func inBlocks(x *Array, s op.Scan) *Array {
	y := New(x.DType, x.Shape)
	block := 64 / x.DType.Size()
	if x.Shape[s.Axis] < block || array.Size(x.Shape[s.Axis+1:]) > 1 {
		block = 1
	}
	for _, row := range lines(x.Shape, s.Axis, s.Reverse) {
		for i, at := range row {
			begin := i / block * block
			sum := tree(x, row[begin:i+1])
			if begin > 0 {
				sum = y.F[row[begin-1]] + sum
			}
			y.set(at, sum, 0)
		}
	}
	return y
}

// tree adds the sum of as many places as the greatest power of two below their number to the
// sum of the others.
func tree(x *Array, row []int) float64 {
	n := len(row)
	if n == 1 {
		return x.F[row[0]]
	}
	half := 1 << (bits.Len(uint(n-1)) - 1)
	return roundTo(x.DType, tree(x, row[:half])+tree(x, row[half:]))
}

// before reports that element i is less than element j, NaN being the greatest.
func before(x *Array, i, j int) bool {
	if x.F == nil {
		return compareInts(x.DType, x.I[i], x.I[j]) < 0
	}
	return x.F[i] < x.F[j] || x.F[i] == x.F[i] && x.F[j] != x.F[j]
}
