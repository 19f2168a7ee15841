package optest

import (
	"math"
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
		f          func(x *Array, s op.Scan) *Array // of floats, in the order of the primitive
		i          func(y, x int64) int64
		exact      func(x []float64, eps float64) (y, bound float64) // the last result
	}{
		{"cumsum", "scan_sum", inBlocks, func(y, x int64) int64 { return y + x }, func(x []float64, eps float64) (y, bound float64) {
			y, bound = exactSum(x, eps)
			return y, bound / depth(len(x)) * scanDepth(len(x), eps)
		}},
		{"cumprod", "scan_prod", inDouble, func(y, x int64) int64 { return y * x }, func(x []float64, eps float64) (y, bound float64) {
			for i, v := range x {
				if i == 0 {
					y = v
				} else {
					y *= v
				}
			}
			return y, math.Abs(y) * (eps + 0x1p-53*float64(len(x)))
		}},
	} {
		primitive := func(x *Array, s op.Scan) *Array {
			if x.F != nil {
				return r.f(x, s)
			}
			return scan(x, s.Axis, s.Reverse, nil, r.i)
		}
		references[r.name] = func(x []*Array, a ir.Attrs) Result {
			axis := int(a.(op.Axis))
			switch in := x[0]; {
			case in.F != nil:
				y := Result{Array: New(in.DType, in.Shape), Bound: make([]float64, in.Size())}
				for _, row := range lines(in.Shape, axis, false) {
					v := make([]float64, len(row))
					for k, at := range row {
						v[k] = in.F[at]
						f, bound := r.exact(v[:k+1], eps(computed(in.DType)))
						y.F[at], y.Bound[at] = f, bound
						if in.DType.Half() || in.DType == array.Float32 {
							y.F[at] = nearest(in.DType, f)
							y.Bound[at] += 1e-45
						}
					}
				}
				return y
			case in.DType == array.Uint64:
				return Result{Array: primitive(in, op.Scan{Axis: axis}), Exact: true}
			}
			return Result{Array: primitive(convert(x[0], array.Int64), op.Scan{Axis: axis}), Exact: true}
		}
		references[r.prim] = func(x []*Array, a ir.Attrs) Result {
			s, ok := a.(op.Scan)
			if !ok {
				s.Axis = int(a.(op.Axis))
			}
			return Result{Array: primitive(x[0], s), Exact: true}
		}
	}
	references["recurrence"] = func(x []*Array, attrs ir.Attrs) Result {
		a := attrs.(op.Scan)
		y := New(x[0].DType, x[0].Shape)
		for _, row := range lines(y.Shape, a.Axis, a.Reverse) {
			var v float64
			for k, at := range row {
				if k > 0 {
					factor := x[1].F[at]
					if a.Reverse {
						factor = x[1].F[row[k-1]]
					}
					v = x[0].F[at] + float64(factor*v)
				} else {
					v = x[0].F[at]
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
	divided := func(x *Array, a op.Ranks) (values, places *Array) {
		values, places = New(x.DType, x.Shape), New(array.Int64, x.Shape)
		for _, row := range lines(x.Shape, a.Axis, false) {
			all := ordered(x, row, false)
			slices.Sort(all[:a.At[0]])
			slices.Sort(all[a.At[0]+1:])
			for i, at := range all {
				values.put(row[i], x, row[at])
				places.I[row[i]] = int64(at)
			}
		}
		return values, places
	}
	references["partition"] = func(x []*Array, a ir.Attrs) Result {
		values, _ := divided(x[0], a.(op.Ranks))
		return Result{Array: values, Exact: true}
	}
	references["argpartition"] = func(x []*Array, a ir.Attrs) Result {
		_, places := divided(x[0], a.(op.Ranks))
		return Result{Array: places, Exact: true}
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

// inBlocks gives the running sums of floats in blocks of 64 bytes and groups of 16.
func inBlocks(x *Array, s op.Scan) *Array {
	y := New(x.DType, x.Shape)
	block := 64 / x.DType.Size()
	add := func(a, b float64) float64 { return roundTo(x.DType, a+b) }
	for _, row := range lines(x.Shape, s.Axis, s.Reverse) {
		var sums []float64 // of blocks
		// before is what goes before part i of those with these sums.
		var before func(sums []float64, i int) float64
		before = func(sums []float64, i int) float64 {
			group := func(parts []float64) float64 {
				sum := math.Copysign(0, -1)
				for _, p := range parts {
					sum = add(sum, p)
				}
				return sum
			}
			if i < 16 {
				return group(sums[:i])
			}
			var groups []float64
			for g := range i / 16 {
				groups = append(groups, group(sums[16*g:16*g+16]))
			}
			return add(before(groups, i/16), group(sums[i/16*16:i]))
		}
		var first float64
		for i, at := range row {
			begin := i / block * block
			if i == begin {
				first = before(sums, len(sums))
			}
			sum := tree(x, row[begin:i+1])
			y.set(at, add(first, sum), 0)
			if i == begin+block-1 {
				sums = append(sums, sum)
			}
		}
	}
	return y
}

// scanDepth is more than the additions that an element goes through in a running sum of n of a
// type with that half unit of 1.
func scanDepth(n int, eps float64) float64 {
	block, d := 16, 5.0
	if eps < 1e-12 {
		block, d = 8, 4
	}
	for units := (n + block - 1) / block; units > 1; units = (units + 15) / 16 {
		d += 17
	}
	return d
}

// inDouble gives the running products of floats in order, kept in float64.
func inDouble(x *Array, s op.Scan) *Array {
	y := New(x.DType, x.Shape)
	for _, row := range lines(x.Shape, s.Axis, s.Reverse) {
		p := 1.0
		for _, at := range row {
			p *= x.F[at]
			y.set(at, p, 0)
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
