package weft

import (
	"slices"
	"strconv"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// Sets are vectors of different elements in ascending order, complex ones by their real and then their imaginary parts.
// Their number depends on the elements, so that these functions are refused in compiled functions.

// setsOf returns the different elements of two tensors in the type in which they meet.
func setsOf(name string, a, b *Tensor) (x, y *Tensor) {
	a.c().CheckArgument(name, "a")
	b.c().CheckArgument(name, "b")
	ts := core.MeetWhole(name, core.Inner([]*Tensor{a, b}))
	x, _, _ = (*Tensor)(ts[0]).Unique()
	y, _, _ = (*Tensor)(ts[1]).Unique()
	return x, y
}

// Union1D returns the different elements of a and b together, in ascending order, both flattened.
// Element types meet by promotion; complex numbers are ordered as by [Tensor.Unique]. NumPy's union1d.
func Union1D(a, b *Tensor) *Tensor {
	defer array.Named("union1d").End()
	x, y := setsOf("union1d", a, b)
	values, _, _ := Cat([]*Tensor{x, y}, 0).Unique()
	return values
}

// Intersect1D returns the different elements that both a and b have, in ascending order, both
// flattened. Element types meet by promotion; complex numbers are ordered as by [Tensor.Unique]. NaN
// equals nothing. NumPy's intersect1d.
func Intersect1D(a, b *Tensor) *Tensor {
	defer array.Named("intersect1d").End()
	x, y := setsOf("intersect1d", a, b)
	return x.MaskSelect(x.IsIn(y))
}

// SetDiff1D returns the different elements of a that b does not have, in ascending order, both
// flattened. Element types meet by promotion; complex numbers are ordered as by [Tensor.Unique]. NumPy's
// setdiff1d.
func SetDiff1D(a, b *Tensor) *Tensor {
	defer array.Named("setdiff1d").End()
	x, y := setsOf("setdiff1d", a, b)
	return x.MaskSelect(x.IsIn(y).LogicalNot())
}

// SetXor1D returns the different elements that one alone of a and b has, in ascending order, both
// flattened. Element types meet by promotion; complex numbers are ordered as by [Tensor.Unique]. NumPy's
// setxor1d.
func SetXor1D(a, b *Tensor) *Tensor {
	defer array.Named("setxor1d").End()
	x, y := setsOf("setxor1d", a, b)
	both := []*Tensor{x.MaskSelect(x.IsIn(y).LogicalNot()), y.MaskSelect(y.IsIn(x).LogicalNot())}
	all := Cat(both, 0)
	if all.v().DType.Complex() && all.Size() > 0 {
		order, _ := all.inOrder()
		return all.IndexSelect(0, order)
	}
	if all.v().DType.Complex() {
		return all
	}
	values, _ := all.Sort(0)
	return values
}

// IsIn is true where an element of t equals some element of x, in t's shape, Bool. Element types meet by
// promotion. NaN equals nothing. It sorts x and searches, so that both may be large. NumPy's isin.
func (t *Tensor) IsIn(x *Tensor) *Tensor {
	const name = "isin"
	defer array.Named(name).End()
	t.c().Check(name)
	x.c().CheckArgument(name, "x")
	ts := core.MeetWhole(name, core.Inner([]*Tensor{t, x}))
	a, b := (*Tensor)(ts[0]).Reshape(t.Size()), (*Tensor)(ts[1]).Reshape(x.Size())
	if x.Size() == 0 {
		return t.Ne(t).LogicalAnd(t.Eq(t)) // false, for NaN too
	}
	if a.v().DType.Complex() {
		places := ranks(Cat([]*Tensor{a, b}, 0).inOrder())
		found := places.Slice(Range(0, t.Size())).IsIn(places.Slice(Range(t.Size(), End)))
		return (*Tensor)(found.LogicalAnd(a.IsNaN().LogicalNot()).Reshape(t.v().Shape...).c().Own())
	}
	sorted, _ := b.Sort(0)
	at := sorted.SearchSorted(a).Clamp(0, x.Size()-1)
	return (*Tensor)(sorted.IndexSelect(0, at).Eq(a).Reshape(t.v().Shape...).c().Own())
}

// UniqueAxis returns the different sub-arrays of t along an axis; for each index of the axis the place, int64, of its
// sub-array among them; and how often each occurs, int64. They are in ascending order of their elements from the first
// on, complex ones by real and then imaginary parts. The axis may count from the back. It is NumPy's unique with an
// axis. How many there are depends on the elements, so it is refused in compiled functions.
func UniqueAxis(t *Tensor, axis int) (values, inverse, counts *Tensor) {
	const name = "uniqueaxis"
	defer array.Named(name).End()
	t.c().CheckArgument(name, "t")
	a := array.Axis(name, axis, t.Rank())
	n := t.v().Shape[a]
	rows := t.MoveAxis(a, 0).Reshape(n, t.Size()/max(n, 1))
	if rows.v().DType.Complex() {
		rows = Stack([]*Tensor{rows.Real(), rows.Imag()}, 2).Reshape(n, 2*rows.v().Shape[1])
	}
	order := t.Device().Arange(n)
	if m := rows.v().Shape[1]; m > 0 && n > 0 {
		columns := rows.Unbind(1)
		slices.Reverse(columns)
		order = LexSort(columns, 0)
	}
	_, inSorted, counts, first := runsOf(rows.IndexSelect(0, order))
	inverse = t.Device().ZerosOf(Int64, n).Scatter(0, order, inSorted)
	return t.IndexSelect(a, order.IndexSelect(0, first)), inverse, counts
}

// inOrder returns the order of a vector of complex numbers by their real and then their imaginary parts, and for each
// in this order whether it differs from the one before. Numbers with a part that is NaN are one value and come last.
// Requires: one element or more.
func (t *Tensor) inOrder() (order, begins *Tensor) {
	re, im, nan := t.Real().Detach(), t.Imag().Detach(), t.Detach().IsNaN()
	kind := re.IsNaN().To(Int64).Add(nan.To(Int64)) // 1 where the imaginary part alone is NaN, 2 where the real part is
	order = LexSort([]*Tensor{im.MaskedFill(im.IsNaN(), 0), re.MaskedFill(re.IsNaN(), 0), kind}, 0)
	differs := t.Device().ZerosOf(Bool, order.Size()-1)
	for _, x := range []*Tensor{nan, re.MaskedFill(nan, 0), im.MaskedFill(nan, 0)} {
		x = x.IndexSelect(0, order)
		differs = differs.LogicalOr(x.Slice(Range(1, End)).Ne(x.Slice(Range(0, -1))))
	}
	return order, Cat([]*Tensor{t.Device().OnesOf(Bool, 1), differs}, 0)
}

// ranks returns the place of each element of a vector of complex numbers among the different ones.
func ranks(order, begins *Tensor) *Tensor {
	return order.Device().ZerosOf(Int64, order.Size()).Scatter(0, order, begins.CumSum(0).Sub(1))
}

// uniqueComplex is Unique of one or more complex numbers.
func (t *Tensor) uniqueComplex() (values, inverse, counts *Tensor) {
	n := t.Size()
	z := t.Reshape(n)
	order, begins := z.inOrder()
	first := begins.NonZero()
	counts = first.Slice(Range(1, End)).Pad(float64(n), 0, 1).Sub(first)
	return z.IndexSelect(0, order.IndexSelect(0, first)), (*Tensor)(ranks(order, begins).Reshape(t.v().Shape...).c().Own()), counts
}

// UniqueConsecutive returns the elements of t, flattened, that differ from the one before; for each
// element of t, in its shape, the place, int64, of its run; and the lengths of the runs, int64. NaN
// differs from NaN. It is PyTorch's unique_consecutive. How many there are depends on the elements, so
// it is refused in compiled functions.
func UniqueConsecutive(t *Tensor) (values, inverse, counts *Tensor) {
	const name = "uniqueconsecutive"
	defer array.Named(name).End()
	t.c().CheckArgument(name, "t")
	rows, inverse, counts, _ := runsOf(t.Reshape(t.Size(), 1))
	return (*Tensor)(rows.Reshape(rows.Size()).c().Own()), (*Tensor)(inverse.Reshape(t.v().Shape...).c().Own()), counts
}

// runsOf returns the rows that differ from the one before, the number of its run for each row, the
// lengths of runs, and where they begin.
func runsOf(rows *Tensor) (values, inverse, counts, first *Tensor) {
	n := rows.v().Shape[0]
	if n == 0 {
		none := func() *Tensor { return rows.Device().ZerosOf(Int64, 0) }
		return rows.Clone(), none(), none(), none()
	}
	begins := Cat([]*Tensor{rows.Device().OnesOf(Bool, 1), rows.Slice(Range(1, End)).Ne(rows.Slice(Range(0, -1))).Any(1)}, 0)
	first = begins.NonZero()
	counts = first.Slice(Range(1, End)).Pad(float64(n), 0, 1).Sub(first)
	return rows.IndexSelect(0, first), begins.CumSum(0).Sub(1), counts, first
}

// LexSort returns the places, int64, that sort by several keys of one shape along an axis, which may
// count from the back: by the last key, where that is equal by the one before, and so on, as NumPy's
// lexsort. Sorting is stable, with NaN last. It panics with *[Error] for no keys, and where shapes differ.
func LexSort(keys []*Tensor, axis int) *Tensor {
	const name = "lexsort"
	defer array.Named(name).End()
	core.SomeTensors(name, core.Inner(keys))
	var order *Tensor
	for i, k := range keys {
		k.c().Check(name)
		a := array.Axis(name, axis, k.Rank())
		switch {
		case !array.Equal(k.v().Shape, keys[0].v().Shape):
			array.Failf(name, "keys", "%d has shape %s, the first %s", i, array.ShapeString(k.v().Shape), array.ShapeString(keys[0].v().Shape))
		case order == nil:
			order = k.ArgSort(a)
		default:
			order = order.Gather(a, k.Gather(a, order).ArgSort(a))
		}
	}
	return order
}

// ArgWhere returns the coordinates of the elements of t that are not 0, int64: a row for each, in
// row-major order, and a column for each axis. NaN is not 0. How many there are depends on the elements,
// so it is refused in compiled functions. [Tensor.NonZero] gives places in row-major order.
func ArgWhere(t *Tensor) *Tensor {
	const name = "argwhere"
	defer array.Named(name).End()
	t.c().CheckArgument(name, "t")
	flat := t.NonZero()
	if t.Rank() == 0 {
		return t.Device().ZerosOf(Int64, flat.Size(), 0)
	}
	return Stack(coordinates(flat, t.v().Shape), 1)
}

// coordinates are places in row-major order as an array of places for each axis.
func coordinates(flat *Tensor, shape []int) []*Tensor {
	out := make([]*Tensor, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		n := max(shape[i], 1)
		out[i] = flat.Mod(n)
		flat = flat.FloorDiv(n)
	}
	return out
}

// UnravelIndex returns, for places in row-major order of an array of that shape, the places along each of
// its axes: a tensor of int64 for each axis, in the shape of index. It panics with *[Error] where index
// holds no integers, or one that is not a place. NumPy's unravel_index.
func UnravelIndex(index *Tensor, shape ...int) []*Tensor {
	const name = "unravelindex"
	defer array.Named(name).End()
	index.c().CheckArgument(name, "index")
	n := array.CheckShape(name, shape, Bool)
	index = (*Tensor)(core.PlacesFrom(name, "index", index.c())).To(Int64)
	if index.Size() > 0 {
		if lo, hi := index.Min().ItemInt(), index.Max().ItemInt(); lo < 0 || hi >= int64(n) {
			array.Failf(name, "index", "has places from %d to %d, shape %s has %d", lo, hi, array.ShapeString(shape), n)
		}
	}
	return coordinates(index, shape)
}

// RavelMultiIndex returns the places, int64, in row-major order of an array of that shape, of places along
// each of its axes: integers that broadcast, negative ones counting from the back. A place out of range
// panics with *[Error]. NumPy's ravel_multi_index.
func RavelMultiIndex(index []*Tensor, shape ...int) *Tensor {
	const name = "ravelmultiindex"
	defer array.Named(name).End()
	core.SomeTensors(name, core.Inner(index))
	if len(index) != len(shape) {
		array.Failf(name, "index", "has %d arrays, shape %s has %d axes", len(index), array.ShapeString(shape), len(shape))
	}
	a := op.Raveling{Sizes: slices.Clone(shape)}
	in := make([]*core.Tensor, len(index))
	for i, x := range index {
		in[i] = core.PlacesFrom(name, "index", x.c())
		a.Args, a.Axes, a.Ranks = append(a.Args, i), append(a.Axes, i), append(a.Ranks, x.Rank())
	}
	return (*Tensor)(core.WithAttrs(op.Ravel, a, in...))
}

// TrilIndices returns the rows and the columns, int64, of the elements of a matrix of rows and cols that
// are not above diagonal number k, in row-major order. It panics with *[Error] where a size is negative.
// NumPy's tril_indices.
func TrilIndices(rows, cols, k int) (i, j *Tensor) {
	const name = "trilindices"
	array.CheckShape(name, []int{rows, cols}, Int64)
	k = max(-rows, min(k, cols))
	return triangle(name, lowerCount(rows, cols, k), max(0, -k), func(i int) (int, int) { return 0, min(cols, i+k+1) })
}

// TriuIndices returns the rows and the columns, int64, of the elements of a matrix of rows and cols that
// are not below diagonal number k, in row-major order. It panics with *[Error] where a size is negative.
// NumPy's triu_indices.
func TriuIndices(rows, cols, k int) (i, j *Tensor) {
	const name = "triuindices"
	array.CheckShape(name, []int{rows, cols}, Int64)
	k = max(-rows, min(k, cols))
	return triangle(name, rows*cols-lowerCount(rows, cols, k-1), 0, func(i int) (int, int) { return max(i+k, 0), cols })
}

// lowerCount returns the number of elements of a matrix that are not above diagonal k, which is from -rows-1 to cols.
func lowerCount(rows, cols, k int) int {
	first := min(max(0, -k), rows)                        // the first row that has such elements
	full := min(max(first, cols-k-1), rows)               // the first row whose elements are all such
	ramp := (full - first) * (first + full + 2*k + 1) / 2 // the rows between have i+k+1
	return ramp + (rows-full)*cols
}

// triangle lists n places: columns from, to of each row from the first on, until there are n.
func triangle(name string, n, first int, part func(i int) (from, to int)) (i, j *Tensor) {
	array.CheckShape(name, []int{n}, Int64)
	places := func(row bool) *Tensor {
		return filled(name, 0, Int64, core.CheckHeap(name, n, Int64), func(data []int64) {
			at := 0
			for r := first; at < n; r++ {
				for c, to := part(r); c < to; c++ {
					data[at] = int64(c)
					if row {
						data[at] = int64(r)
					}
					at++
				}
			}
		})
	}
	return places(true), places(false)
}

// Indices returns the places of the elements of an array of that shape, int64: result number d along the
// first axis is the place along axis d. [Ix] gives them as vectors that broadcast. It panics with *[Error]
// where a size is negative. NumPy's indices, and mgrid of ranges.
func Indices(shape ...int) *Tensor {
	const name = "indices"
	defer array.Named(name).End()
	array.CheckShape(name, append([]int{len(shape)}, shape...), Int64)
	if len(shape) == 0 {
		return ZerosOf(Int64, 0)
	}
	vectors := make([]*Tensor, len(shape))
	for i, n := range shape {
		vectors[i] = Arange(n)
	}
	return Stack(Meshgrid(vectors...), 0)
}

// Ix returns vectors as arrays that broadcast against each other: number d has its elements along axis d, and
// there is one axis for each vector. [Tensor.Index] with them takes the places of a grid. A vector of Bool
// stands for the places where it is true. It panics with *[Error] where one is not a vector. NumPy's ix_, and
// ogrid of ranges.
func Ix(ts ...*Tensor) []*Tensor {
	const name = "ix"
	defer array.Named(name).End()
	core.SomeTensors(name, core.Inner(ts))
	out := make([]*Tensor, len(ts))
	for i, t := range ts {
		t.c().Check(name)
		if t.Rank() != 1 {
			array.Failf(name, "", "tensor %d has shape %s, want a vector", i, array.ShapeString(t.v().Shape))
		}
		if t.v().DType == Bool {
			t = t.NonZero()
		}
		shape := slices.Repeat([]int{1}, len(ts))
		shape[i] = t.Size()
		out[i] = t.Reshape(shape...)
	}
	return out
}

// ArgPartition returns places, int64, along an axis, which may count from the back: first the elements that
// sorting puts before place kth, then the one that it puts there, then the others. NaN counts as greatest and equal
// elements sort in their order, so that the result is unique: those before and those behind stay in order. A negative
// kth counts from the back. It panics with *[Error] where kth is out of range. NumPy's argpartition.
func (t *Tensor) ArgPartition(kth, axis int) *Tensor {
	defer array.Named("argpartition").End()
	return t.partition("argpartition", op.ArgPartition, kth, axis)
}

// Partition returns t with the elements along an axis in the order of [Tensor.ArgPartition]: element kth is
// the one that sorting puts there, none before is greater, and none behind is less. It selects in linear time, on the
// host for tensors of other devices too, and has gradients. It panics with *[Error] where kth is out of range. NumPy's partition.
func (t *Tensor) Partition(kth, axis int) *Tensor {
	defer array.Named("partition").End()
	return t.partition("partition", op.Partition, kth, axis)
}

func (t *Tensor) partition(name string, def *op.Def, kth, axis int) *Tensor {
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	n := t.v().Shape[a]
	if kth < -n || kth >= n {
		array.Failf(name, "kth", "%d is out of range for axis %d of size %d", kth, a, n)
	}
	if kth < 0 {
		kth += n
	}
	last := t.Rank() - 1
	y := (*Tensor)(core.WithAttrs(def, op.Ranks{Axis: last, At: []int{kth}}, t.MoveAxis(a, last).c()))
	return (*Tensor)(y.MoveAxis(last, a).c().Own())
}

// Append returns t with x behind it along an axis, which may count from the back: [Cat] of both, whose
// types meet by promotion. It panics with *[Error] where their other sizes differ. NumPy's append.
func (t *Tensor) Append(axis int, x *Tensor) *Tensor {
	defer array.Named("append").End()
	t.c().Check("append")
	x.c().CheckArgument("append", "x")
	return Cat([]*Tensor{t, x}, axis)
}

// Insert returns t with x, a *Tensor or a Go number, inserted along an axis before the given places of t,
// which may count from the back; its size is the end. x broadcasts to t's shape with the axis as long as
// places. One place takes all that x has along the axis. The result has t's type. It panics with
// *[Error] where a place is out of range. NumPy's insert.
func (t *Tensor) Insert(axis int, places []int, x any) *Tensor {
	const name = "insert"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	o := t.valueFor(name, x)
	if o.T == nil {
		o.T = core.NumberOf(name, t.v().Store.Device, o.Num, t.v().DType)
	}
	v := (*Tensor)(o.T)
	n, at := t.v().Shape[a], slices.Clone(places)
	if k := v.Rank() - t.Rank() + a; len(at) == 1 && k >= 0 && v.v().Shape[k] != 1 {
		at = slices.Repeat(at, v.v().Shape[k])
	}
	for i, p := range at {
		if p < -n || p > n {
			array.Failf(name, "places", "%d is out of range for axis %d of size %d", p, a, n)
		}
		if p < 0 {
			at[i] += n
		}
	}
	shape := slices.Clone(t.v().Shape)
	shape[a] = len(at)
	order := make([]int64, 0, core.CheckHeap(name, array.AddSizes(name, n, len(at)), Int64))
	sorted := make([]int, len(at))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortStableFunc(sorted, func(i, j int) int { return at[i] - at[j] })
	from := 0
	for _, i := range sorted {
		for ; from < at[i]; from++ {
			order = append(order, int64(from))
		}
		order = append(order, int64(n+i))
	}
	for ; from < n; from++ {
		order = append(order, int64(from))
	}
	return Cat([]*Tensor{t, v.Expand(shape...)}, a).IndexSelect(a, t.Device().From(order))
}

// Delete returns t without the sub-arrays at the given places of an axis, which may count from the back, as
// may the axis. It panics with *[Error] where a place is out of range. NumPy's delete.
func (t *Tensor) Delete(axis int, places ...int) *Tensor {
	const name = "delete"
	defer array.Named(name).End()
	t.c().Check(name)
	a := array.Axis(name, axis, t.Rank())
	n := t.v().Shape[a]
	gone := map[int]bool{}
	for _, p := range places {
		if p < -n || p >= n {
			array.Failf(name, "places", "%d is out of range for axis %d of size %d", p, a, n)
		}
		gone[(p+n)%n] = true
	}
	left := make([]int64, 0, core.CheckHeap(name, n-len(gone), Int64))
	for i := range n {
		if !gone[i] {
			left = append(left, int64(i))
		}
	}
	return t.IndexSelect(a, t.Device().From(left))
}

// Compress returns the sub-arrays of t along an axis where mask, a Bool vector of at most its size, is true.
// The axis may count from the back. How many there are depends on the elements, so it is refused in compiled
// functions. NumPy's compress; [Tensor.MaskSelect] takes a mask of t's shape.
func Compress(t, mask *Tensor, axis int) *Tensor {
	const name = "compress"
	defer array.Named(name).End()
	t.c().CheckArgument(name, "t")
	mask.c().CheckArgument(name, "mask")
	a := array.Axis(name, axis, t.Rank())
	if mask.v().DType != Bool || mask.Rank() != 1 || mask.Size() > t.v().Shape[a] {
		array.Failf(name, "mask", "is %s, want a Bool vector of at most %d elements", array.TypeString(mask.v().DType, mask.v().Shape), t.v().Shape[a])
	}
	return t.IndexSelect(a, mask.NonZero())
}

// Select returns, element by element, the choice of the first condition that holds, and otherwise where none
// does. Conditions are Bool; choices and otherwise are tensors or Go numbers; all broadcast, and types meet by
// promotion. It panics with *[Error] unless conditions and choices have equal length, at least 1. NumPy's
// select.
func Select(conds []*Tensor, choices []any, otherwise any) *Tensor {
	const name = "select"
	defer array.Named(name).End()
	core.SomeTensors(name, core.Inner(conds))
	if len(conds) != len(choices) {
		array.Failf(name, "choices", "are %d for %d conditions", len(choices), len(conds))
	}
	y := otherwise
	for i := len(conds) - 1; i >= 0; i-- {
		if d := conds[i].c(); d != nil && d.View().DType != Bool {
			array.Failf(name, "conds", "%d has elements of type %s, want bool", i, d.View().DType)
		}
		y = Where(conds[i], choices[i], y)
	}
	return y.(*Tensor)
}

// Choose returns, element by element, choice number t: t holds integers from 0 to before the number of
// choices, which are tensors; all broadcast, and types meet by promotion. It panics with *[Error] for no
// choices, and where an index is out of range. NumPy's choose.
func (t *Tensor) Choose(choices []*Tensor) *Tensor {
	const name = "choose"
	defer array.Named(name).End()
	t.c().Check(name)
	core.SomeTensors(name, core.Inner(choices))
	last := int64(len(choices)) - 1
	check := core.RangeCheck{Op: name, Arg: "t", Max: last, Text: "has %d, want 0 to " + strconv.FormatInt(last, 10)}
	index := (*Tensor)(check.Of(core.PlacesFrom(name, "t", t.c())))
	shapes := [][]int{index.v().Shape}
	for i, c := range choices {
		c.c().Check(name)
		shapes = append(shapes, choices[i].v().Shape)
	}
	s := array.Broadcast(name, shapes...)
	all := make([]*Tensor, len(choices))
	for i, c := range choices {
		all[i] = c.Expand(s...)
	}
	return Stack(all, 0).Gather(0, index.Expand(s...).Unsqueeze(0)).Squeeze(0)
}

// Piecewise returns f[i] of t where conds[i] holds, of several the last that does, and f[len(conds)] or 0
// where none does. Each of f is a Go number or a func(x *Tensor) *Tensor, which gets all of t. The result has
// t's type. It panics with *[Error] unless f has the length of conds, or one more. NumPy's
// piecewise.
func Piecewise(t *Tensor, conds []*Tensor, f ...any) *Tensor {
	const name = "piecewise"
	defer array.Named(name).End()
	t.c().CheckArgument(name, "t")
	if len(f) != len(conds) && len(f) != len(conds)+1 {
		array.Failf(name, "f", "has length %d for %d conditions, want that or one more", len(f), len(conds))
	}
	value := func(f any) *Tensor {
		if g, ok := f.(func(x *Tensor) *Tensor); ok {
			array.Given(name, "f", g != nil)
			y := g(t)
			y.c().CheckArgument(name, "f")
			return y.To(t.v().DType)
		}
		return FullLike(t, f)
	}
	y := ZerosLike(t)
	if len(f) > len(conds) {
		y = value(f[len(conds)])
	}
	for i, c := range conds {
		c.c().CheckArgument(name, "conds")
		if c.v().DType != Bool {
			array.Failf(name, "conds", "%d has elements of type %s, want bool", i, c.v().DType)
		}
		y = Where(c, value(f[i]), y)
	}
	return y
}

// ArrayEqual reports whether t and x have the same shape and equal elements, whatever their types. NaN equals nothing.
// It reads the answer at once. NumPy's array_equal; [Tensor.AllClose] allows rounding.
func (t *Tensor) ArrayEqual(x *Tensor) bool {
	defer array.Named("arrayequal").End()
	t.c().Check("arrayequal")
	x.c().CheckArgument("arrayequal", "x")
	return array.Equal(t.v().Shape, x.v().Shape) && t.Eq(x).All().bool()
}
