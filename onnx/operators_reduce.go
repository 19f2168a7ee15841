package onnx

import (
	"math"
	"slices"

	"weft"
)

// Reductions, and what orders elements.
var reduceOperators = []operator{
	{name: "ArgMax", run: extremePlace((*weft.Tensor).ArgMax)},
	{name: "ArgMin", run: extremePlace((*weft.Tensor).ArgMin)},
	{name: "CumProd", run: cumulative((*weft.Tensor).CumProd, 1), reads: []int{1}},
	{name: "CumSum", run: cumulative((*weft.Tensor).CumSum, 0), reads: []int{1}},
	{name: "ReduceL1", run: reduction(18, reduceL1), reads: []int{1}},
	{name: "ReduceL2", run: reduction(18, reduceL2), reads: []int{1}},
	{name: "ReduceLogSum", run: reduction(18, reduceLogSum), reads: []int{1}},
	{name: "ReduceLogSumExp", run: reduction(18, reduceLogSumExp), reads: []int{1}},
	{name: "ReduceMax", run: reduction(18, reduceMax), reads: []int{1}},
	{name: "ReduceMean", run: reduction(18, reduceMean), reads: []int{1}},
	{name: "ReduceMin", run: reduction(18, reduceMin), reads: []int{1}},
	{name: "ReduceProd", run: reduction(18, reduceProd), reads: []int{1}},
	{name: "ReduceSum", run: reduction(13, reduceSum), reads: []int{1}},
	{name: "ReduceSumSquare", run: reduction(18, reduceSumSquare), reads: []int{1}},
	{name: "TopK", run: topK, reads: []int{1}},
	{name: "Unique", run: unique, eager: true},
}

// reduction is a reduction whose axes are an input since an opset, and an attribute before. f keeps the axes. It
// may be given none: then it does to each element what else the reduction does.
func reduction(since int, f func(x *weft.Tensor, axes []int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		keep, skip := c.attrBool("keepdims", true), c.attrBool("noop_with_empty_axes", false)
		var axes []int
		if c.opset() < since {
			axes = c.attrInts("axes")
		} else {
			axes = c.intsOr(1)
		}
		if len(axes) == 0 && !skip {
			for i := range x.Rank() {
				axes = append(axes, i)
			}
		}
		axes = c.axes(axes, x.Rank())
		y := f(x, axes).To(x.DType())
		if !keep && len(axes) > 0 {
			y = y.Squeeze(axes...)
		}
		return tensors(y)
	}
}

// over applies a reduction to axes. Without axes it is x, as the reduction of single elements.
func over(f func(x *weft.Tensor, axes ...int) *weft.Tensor, x *weft.Tensor, axes []int) *weft.Tensor {
	if len(axes) == 0 {
		return x
	}
	return f(x, axes...)
}

// overSome is over, where the result of no elements is none.
func overSome(f func(x *weft.Tensor, axes ...int) *weft.Tensor, x *weft.Tensor, axes []int, none any) *weft.Tensor {
	shape, empty := x.Shape(), false
	for _, a := range axes {
		empty = empty || shape[a] == 0
		shape[a] = 1
	}
	if empty {
		return weft.FullOf(x.DType(), none, shape...)
	}
	return over(f, x, axes)
}

// widened is x in a type in which squares and sums of its elements are finite and exact enough.
func widened(x *weft.Tensor) *weft.Tensor {
	switch d := x.DType(); {
	case d == weft.Float16 || d == weft.BFloat16:
		return x.To(weft.Float32)
	case !d.Float():
		return x.To(weft.Float64)
	}
	return x
}

func reduceSum(x *weft.Tensor, axes []int) *weft.Tensor { return over((*weft.Tensor).SumKeep, x, axes) }

func reduceMean(x *weft.Tensor, axes []int) *weft.Tensor {
	if x.DType().Integer() {
		sum, n := reduceSum(x, axes), 1
		for _, a := range axes {
			n *= x.Dim(a)
		}
		return quotient(sum, x.Device().FullOf(sum.DType(), max(n, 1)))
	}
	return over((*weft.Tensor).MeanKeep, x, axes)
}

func reduceProd(x *weft.Tensor, axes []int) *weft.Tensor {
	return over((*weft.Tensor).ProdKeep, x, axes)
}

func reduceL1(x *weft.Tensor, axes []int) *weft.Tensor { return reduceSum(x.Abs(), axes) }

func reduceL2(x *weft.Tensor, axes []int) *weft.Tensor {
	if len(axes) == 0 {
		return x.Abs()
	}
	return widened(x).NormKeep(2, axes...)
}

func reduceSumSquare(x *weft.Tensor, axes []int) *weft.Tensor {
	if x.DType().Float() {
		x = widened(x)
	}
	return reduceSum(x.Mul(x), axes)
}

func reduceLogSum(x *weft.Tensor, axes []int) *weft.Tensor {
	return reduceSum(widened(x), axes).Log()
}

func reduceLogSumExp(x *weft.Tensor, axes []int) *weft.Tensor {
	return overSome((*weft.Tensor).LogSumExpKeep, widened(x), axes, math.Inf(-1))
}

// reduceMax is, of no elements, the least number of the type.
func reduceMax(x *weft.Tensor, axes []int) *weft.Tensor {
	if x.DType() == weft.Bool {
		return reduceMax(x.To(weft.Uint8), axes)
	}
	least, _ := extremes(x.DType())
	return overSome((*weft.Tensor).MaxKeep, x, axes, least)
}

// reduceMin is, of no elements, the greatest number of the type.
func reduceMin(x *weft.Tensor, axes []int) *weft.Tensor {
	if x.DType() == weft.Bool {
		return reduceMin(x.To(weft.Uint8), axes)
	}
	_, greatest := extremes(x.DType())
	return overSome((*weft.Tensor).MinKeep, x, axes, greatest)
}

// extremes are the least and the greatest number of a type.
func extremes(d weft.DType) (least, greatest any) {
	switch {
	case d == weft.Uint64:
		return uint64(0), uint64(math.MaxUint64)
	case d.Integer():
		lo, hi := d.Limits()
		return lo, hi
	}
	return math.Inf(-1), math.Inf(1)
}

// extremePlace is the place of an extreme along one axis, the first one or the last.
func extremePlace(f func(x *weft.Tensor, axis ...int) *weft.Tensor) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		axis := c.axis(c.attrInt("axis", 0), x.Rank())
		keep, last := c.attrBool("keepdims", true), c.attrBool("select_last_index", false)
		var y *weft.Tensor
		if last {
			y = f(x.Flip(axis), axis).RSub(int64(x.Dim(axis) - 1))
		} else {
			y = f(x, axis)
		}
		if keep {
			y = y.Unsqueeze(axis)
		}
		return tensors(y)
	}
}

// cumulative is a running sum or product, which begins with the element first where it leaves each element's
// own out.
func cumulative(f func(x *weft.Tensor, axis int) *weft.Tensor, first float64) func(c *call) []Value {
	return func(c *call) []Value {
		x := c.tensor(0)
		axis := c.axis(c.int(1), x.Rank())
		exclusive, reverse := c.attrBool("exclusive", false), c.attrBool("reverse", false)
		d := x.DType()
		if reverse {
			x = x.Flip(axis)
		}
		y := f(x, axis).To(d)
		if exclusive && x.Dim(axis) > 0 {
			pads := make([]int, 2*x.Rank())
			pads[2*axis], pads[2*axis+1] = 1, -1
			y = padded(c, y, first, pads)
		}
		if reverse {
			y = y.Flip(axis)
		}
		return tensors(y)
	}
}

// topK has the number of elements as an input since opset 10, and as an attribute before.
func topK(c *call) []Value {
	x := c.tensor(0)
	k := 0
	if c.opset() < 10 {
		c.need("k")
		k = c.attrInt("k", 0)
	} else {
		k = c.int(1)
	}
	axis := c.axis(c.attrInt("axis", -1), x.Rank())
	largest := c.attrBool("largest", true)
	c.attrBool("sorted", true)
	values, index := x.TopK(k, axis, weft.TopKOpts{Smallest: !largest})
	return tensors(values, index)
}

// unique compares the ranks of elements, which are integers, instead of elements of each type.
func unique(c *call) []Value {
	v := c.value(0)
	sorted := c.attrBool("sorted", true)
	rows, width, axis := 0, 1, 0
	shape := v.Shape()
	if c.given("axis") {
		axis = c.axis(c.attrInt("axis", 0), len(shape))
		rows = shape[axis]
		for i, n := range shape {
			if i != axis {
				width *= n
			}
		}
	} else {
		rows = 1
		for _, n := range shape {
			rows *= n
		}
		shape = []int{rows}
	}
	g := groupRows(elementRanks(c, v, shape, axis), rows, sorted)
	out := tensors(nil, weft.FromSlice(g.first), weft.FromSlice(g.group), weft.FromSlice(g.count))
	if v.kind == StringsKind {
		list := make([]string, 0, len(g.first)*width)
		places := weft.Arange(len(v.strings)).Reshape(shape...).IndexSelect(axis, out[1].tensor)
		for _, place := range weft.Data[int64](places.Contiguous()) {
			list = append(list, v.strings[place])
		}
		out[0] = StringsOf(list, places.Shape()...)
		return out
	}
	out[0] = like(v, c.tensor(0).Reshape(shape...).IndexSelect(axis, out[1].tensor))
	return out
}

// elementRanks are the places of elements in the ascending order of all, axis first. Complex numbers have two.
func elementRanks(c *call, v Value, shape []int, axis int) []int64 {
	if v.kind == StringsKind {
		order := slices.Clone(v.strings)
		slices.Sort(order)
		ranks := make([]int64, len(v.strings))
		for i, s := range v.strings {
			place, _ := slices.BinarySearch(order, s)
			ranks[i] = int64(place)
		}
		return weft.Data[int64](weft.FromSlice(ranks, shape...).MoveAxis(axis, 0).Contiguous())
	}
	x := c.host(0).Detach().Reshape(shape...)
	switch d := x.DType(); {
	case d == weft.Bool:
		x = x.To(weft.Uint8)
	case d.Complex():
		x = weft.Stack([]*weft.Tensor{x.Real(), x.Imag()}, x.Rank())
	}
	_, ranks, _ := x.Unique()
	return weft.Data[int64](ranks.MoveAxis(axis, 0).Contiguous())
}

// A rowGroups has equal rows as groups: the first row and the number of rows of each, and the group of each row.
type rowGroups struct{ first, group, count []int64 }

// groupRows groups rows, in ascending order or in that of their first rows.
func groupRows(data []int64, rows int, ascending bool) rowGroups {
	g := rowGroups{first: []int64{}, group: make([]int64, rows), count: []int64{}}
	if rows == 0 {
		return g
	}
	width := len(data) / rows
	row := func(i int64) []int64 { return data[int(i)*width : (int(i)+1)*width] }
	order := make([]int64, rows)
	for i := range order {
		order[i] = int64(i)
	}
	slices.SortStableFunc(order, func(a, b int64) int { return slices.Compare(row(a), row(b)) })
	for k, i := range order {
		if k == 0 || slices.Compare(row(order[k-1]), row(i)) != 0 {
			g.first, g.count = append(g.first, i), append(g.count, 0)
		}
		last := len(g.first) - 1
		g.group[i] = int64(last)
		g.count[last]++
	}
	if ascending {
		return g
	}
	// Number the groups anew, as their first rows come.
	next := rowGroups{group: g.group}
	number := make([]int64, len(g.first))
	for i, old := range g.group {
		if g.first[old] == int64(i) {
			number[old] = int64(len(next.first))
			next.first, next.count = append(next.first, int64(i)), append(next.count, g.count[old])
		}
	}
	for i, old := range g.group {
		next.group[i] = number[old]
	}
	return next
}
