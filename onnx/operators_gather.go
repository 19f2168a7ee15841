package onnx

import (
	"slices"

	"weft"
)

// Elements read and written at places that a tensor gives.
var gatherOperators = []operator{
	{name: "Compress", run: compress, reads: []int{1}},
	{name: "Gather", run: gather},
	{name: "GatherElements", run: gatherElements},
	{name: "GatherND", run: gatherND},
	{name: "NonZero", run: nonZero, eager: true},
	{name: "OneHot", run: oneHot, reads: []int{1}},
	{name: "ReverseSequence", run: reverseSequence},
	{name: "Scatter", run: scatterElements},
	{name: "ScatterElements", run: scatterElements},
	{name: "ScatterND", run: scatterND},
	{name: "TensorScatter", run: tensorScatter},
}

// compress reads the condition on the host, which decides the result's shape.
func compress(c *call) []Value {
	var places []int64
	for i, x := range c.floats(1) {
		if x != 0 {
			places = append(places, int64(i))
		}
	}
	index := weft.FromSlice(places, len(places))
	flat := !c.given("axis")
	axis := c.attrInt("axis", 0)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if flat {
			x = x.Flatten(0)
		}
		return x.IndexSelect(c.axis(axis, x.Rank()), index)
	})}
}

func gather(c *call) []Value {
	index, axis := c.tensor(1), c.attrInt("axis", 0)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		axis := c.axis(axis, x.Rank())
		y := x.IndexSelect(axis, index.Reshape(index.Size()))
		return y.Reshape(slices.Concat(x.Shape()[:axis], index.Shape(), x.Shape()[axis+1:])...)
	})}
}

// fromFront makes places that count from the back of an axis of n ones that count from the front.
func fromFront(index *weft.Tensor, n int) *weft.Tensor {
	return weft.Where(index.Lt(0), index.Add(n), index)
}

func gatherElements(c *call) []Value {
	index, axis := c.tensor(1).To(weft.Int64), c.attrInt("axis", 0)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		axis := c.axis(axis, x.Rank())
		return x.Gather(axis, fromFront(index, x.Dim(axis)))
	})}
}

// columns are the last axis of index, each for one axis of the tensor that is indexed.
func columns(index *weft.Tensor) []any {
	last := index.Rank() - 1
	out := make([]any, index.Dim(last))
	for i, x := range index.Unbind(last) {
		out[i] = x
	}
	return out
}

func gatherND(c *call) []Value {
	index, batch := c.tensor(1), c.attrInt("batch_dims", 0)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		rank := index.Rank()
		if rank == 0 || batch < 0 || batch >= rank || batch+index.Dim(rank-1) > x.Rank() {
			c.fail("indices of shape %v do not fit the input of shape %v and %d batch axes", index.Shape(), x.Shape(), batch)
		}
		if index.Dim(rank-1) == 0 {
			shape := slices.Concat(index.Shape()[:rank-1], x.Shape()[batch:])
			ones := slices.Repeat([]int{1}, rank-1-batch)
			return x.Reshape(slices.Concat(x.Shape()[:batch], ones, x.Shape()[batch:])...).Expand(shape...)
		}
		at := columns(index)
		for i := batch - 1; i >= 0; i-- { // the place on a batch axis is that of the index
			shape := slices.Repeat([]int{1}, rank-1)
			shape[i] = x.Dim(i)
			at = slices.Insert(at, 0, any(weft.ArangeOf(weft.Int64, x.Dim(i)).Reshape(shape...)))
		}
		return x.Index(at...)
	})}
}

// nonZero returns the places axis by axis. A scalar counts as a vector.
func nonZero(c *call) []Value {
	x := c.tensor(0)
	shape := x.Shape()
	if len(shape) == 0 {
		shape = []int{1}
	}
	flat := x.NonZero()
	out := make([]*weft.Tensor, len(shape))
	for i := len(shape) - 1; i >= 0; i-- {
		n := max(shape[i], 1)
		out[i], flat = flat.Mod(n), flat.FloorDiv(n)
	}
	return tensors(weft.Stack(out, 0))
}

func oneHot(c *call) []Value {
	index, values := c.tensor(0).To(weft.Int64), c.tensor(2)
	depth := int(c.float(1))
	axis := c.axis(c.attrInt("axis", -1), index.Rank()+1)
	if depth < 0 || values.Size() != 2 {
		c.fail("the depth is %d and the values have the shape %v: want two", depth, values.Shape())
	}
	shape := slices.Repeat([]int{1}, index.Rank()+1)
	shape[axis] = depth
	c.size(slices.Insert(index.Shape(), axis, depth), values.DType())
	hot := fromFront(index, depth).Unsqueeze(axis).Eq(weft.ArangeOf(weft.Int64, depth).Reshape(shape...))
	return []Value{c.moved(2, func(v *weft.Tensor) *weft.Tensor {
		v = v.Reshape(2)
		return weft.Where(hot, v.At(1), v.At(0))
	})}
}

// reverseSequence turns the first elements of each row around: how many of each, the second input says.
func reverseSequence(c *call) []Value {
	lengths := c.tensor(1).To(weft.Int64)
	batch, time := c.attrInt("batch_axis", 1), c.attrInt("time_axis", 0)
	if batch+time != 1 || batch*time != 0 {
		c.fail("the batch axis is %d and the time axis %d: want 0 and 1", batch, time)
	}
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if x.Rank() < 2 {
			c.fail("the input has %d axes: want two or more", x.Rank())
		}
		steps := weft.ArangeOf(weft.Int64, x.Dim(time)).Unsqueeze(batch)
		lengths := lengths.Unsqueeze(time)
		index := weft.Where(steps.Lt(lengths), lengths.Sub(steps).Sub(1), steps)
		for range x.Rank() - 2 {
			index = index.Unsqueeze(-1)
		}
		return x.Gather(time, index.Expand(x.Shape()...))
	})}
}

// scattered is x with updates at the places of index along an axis, put together by a reduction.
func (c *call) scattered(x *weft.Tensor, axis int, index, updates *weft.Tensor, reduction string) *weft.Tensor {
	index = fromFront(index, x.Dim(axis))
	switch reduction {
	case "none":
		return x.Scatter(axis, index, updates)
	case "add":
		return x.ScatterAdd(axis, index, updates)
	case "max":
		return x.ScatterReduce(axis, index, updates, weft.ScatterOpts{Reduce: weft.ScatterMax})
	case "min":
		return x.ScatterReduce(axis, index, updates, weft.ScatterOpts{Reduce: weft.ScatterMin})
	case "mul":
		return x.ScatterReduce(axis, index, updates, weft.ScatterOpts{Reduce: weft.ScatterProd})
	}
	c.fail("attribute %q is %q: want none, add, mul, max or min", "reduction", reduction)
	return nil
}

func scatterElements(c *call) []Value {
	index, axis, reduction := c.tensor(1).To(weft.Int64), c.attrInt("axis", 0), c.attrString("reduction", "none")
	x := c.tensor(0)
	return []Value{like(c.value(0), c.scattered(x, c.axis(axis, x.Rank()), index, c.tensor(2), reduction))}
}

func scatterND(c *call) []Value {
	x, index, updates := c.tensor(0), c.tensor(1), c.tensor(2)
	reduction := c.attrString("reduction", "none")
	if index.Rank() == 0 || index.Dim(index.Rank()-1) > x.Rank() {
		c.fail("indices of shape %v do not fit the input of shape %v", index.Shape(), x.Shape())
	}
	q, k := index.Rank()-1, index.Dim(index.Rank()-1)
	want := slices.Concat(index.Shape()[:q], x.Shape()[k:])
	if !slices.Equal(updates.Shape(), want) {
		c.fail("updates have the shape %v: want %v", updates.Shape(), want)
	}
	switch {
	case k > 0 && reduction == "none":
		return []Value{like(c.value(0), x.IndexPut(updates, columns(index)...))}
	case k > 0 && reduction == "add":
		return tensors(x.IndexPutAdd(updates, columns(index)...))
	}
	// Others as rows: one index counts the places in all axes that are indexed.
	rows, width := 1, 1
	flat := weft.ZerosOf(weft.Int64, index.Shape()[:q]...)
	for i := range k {
		n := x.Dim(i)
		rows *= n
		flat = flat.Mul(n).Add(fromFront(index.To(weft.Int64).Slice(weft.Ellipsis, weft.Index(i)), n))
	}
	for _, n := range x.Shape()[k:] {
		width *= n
	}
	n := flat.Size()
	y := c.scattered(x.Reshape(rows, width), 0, flat.Reshape(n, 1).Expand(n, width), updates.Reshape(n, width), reduction)
	return tensors(y.Reshape(x.Shape()...))
}

// tensorScatter writes a part of a cache, for each sequence of the batch from a place of its own on.
func tensorScatter(c *call) []Value {
	x, update := c.tensor(0), c.tensor(1)
	axis, mode := c.axis(c.attrInt("axis", -2), x.Rank()), c.attrString("mode", "linear")
	if update.Rank() != x.Rank() || axis == 0 {
		c.fail("the update has the shape %v, the cache %v, and the axis is %d: want an axis after the first", update.Shape(), x.Shape(), axis)
	}
	shape := slices.Repeat([]int{1}, x.Rank())
	shape[axis] = update.Dim(axis)
	index := weft.ArangeOf(weft.Int64, update.Dim(axis)).Reshape(shape...)
	if start := c.optional(2); start != nil {
		shape[0], shape[axis] = start.Size(), 1
		index = index.Add(start.To(weft.Int64).Reshape(shape...))
	}
	switch mode {
	case "linear":
	case "circular":
		index = index.Mod(max(x.Dim(axis), 1))
	default:
		c.fail("attribute %q is %q: want linear or circular", "mode", mode)
	}
	return []Value{like(c.value(0), x.Scatter(axis, index.Expand(update.Shape()...), update))}
}
