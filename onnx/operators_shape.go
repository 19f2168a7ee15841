package onnx

import (
	"slices"

	"weft"
)

// Shapes, moves of elements, conversions and constants.
var shapeOperators = []operator{
	{name: "Cast", run: cast},
	{name: "Concat", run: concat},
	{name: "Constant", run: constantOperator},
	{name: "ConstantOfShape", run: constantOfShape, reads: []int{0}},
	{name: "Expand", run: expand, reads: []int{1}},
	{name: "Flatten", run: flatten},
	{name: "Gather", run: gather},
	{name: "Identity", run: func(c *call) []Value { return []Value{c.value(0)} }},
	{name: "Range", run: rangeOperator, reads: []int{0, 1, 2}},
	{name: "Reshape", run: reshape, reads: []int{1}},
	{name: "Shape", run: shapeOperator},
	{name: "Size", run: size},
	{name: "Slice", run: slice, reads: []int{1, 2, 3, 4}},
	{name: "Split", run: split, reads: []int{1}},
	{name: "Squeeze", run: squeeze, reads: []int{1}},
	{name: "Transpose", run: transpose},
	{name: "Unsqueeze", run: unsqueeze, reads: []int{1}},
}

// fromInts are integers known on the host, a vector.
func fromInts(list []int) Value {
	x := make([]int64, len(list))
	for i, n := range list {
		x[i] = int64(n)
	}
	return TensorOf(weft.FromSlice(x)).asKnown()
}

// fromInt is an integer known on the host, without axes.
func fromInt(n int) Value {
	return TensorOf(weft.FromSlice([]int64{int64(n)}, []int{}...).Reshape()).asKnown()
}

func cast(c *call) []Value {
	to := ElementType(c.attrInt("to", 0))
	c.attrBool("saturate", true)
	c.attrString("round_mode", "up")
	x := c.value(0)
	if x.kind != TensorKind || elementOf(x.elem.DType()) != x.elem || !to.known() || elementOf(to.DType()) != to {
		c.fail("%v cannot be converted to %v", x, to)
	}
	return tensors(c.tensor(0).To(to.DType()))
}

func concat(c *call) []Value {
	c.need("axis")
	axis := c.attrInt("axis", 0)
	ts := c.all()
	return []Value{like(c.value(0), weft.Cat(ts, c.axis(axis, ts[0].Rank())))}
}

func constantOperator(c *call) []Value {
	floats, ints := c.attribute("value_floats", attrFloats), c.attribute("value_ints", attrInts)
	f, i := c.attribute("value_float", attrFloat), c.attribute("value_int", attrInt)
	s, texts := c.attribute("value_string", attrString), c.attribute("value_strings", attrStrings)
	value := c.attrValue("value")
	if v := c.attrValue("sparse_value"); v.kind != NoValue {
		value = v
	}
	switch {
	case floats != nil:
		value = TensorOf(weft.FromSlice(slices.Clone(floats.floats), len(floats.floats)))
	case ints != nil:
		return []Value{fromInts(ints.ints)}
	case f != nil:
		value = TensorOf(weft.Scalar(f.f))
	case i != nil:
		return []Value{fromInt(i.i)}
	case s != nil:
		value = StringsOf([]string{s.s}, []int{}...)
	case texts != nil:
		value = StringsOf(texts.strings)
	}
	if value.kind == NoValue {
		c.fail("the constant has no value")
	}
	return []Value{value.asKnown()}
}

func constantOfShape(c *call) []Value {
	value, shape := c.attrValue("value"), c.ints(0)
	if value.kind == NoValue {
		value = TensorOf(weft.FromSlice([]float32{0}))
	}
	if value.kind != TensorKind || value.tensor.Size() != 1 {
		c.fail("the value is %v: want one element", value)
	}
	x := constant(value)
	return []Value{like(value, x.Reshape().Expand(c.size(shape, x.DType())...))}
}

// broadcast is the shape to which two broadcast.
func (c *call) broadcast(a, b []int) []int {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		x, y := 1, 1
		if j := i - len(out) + len(a); j >= 0 {
			x = a[j]
		}
		if j := i - len(out) + len(b); j >= 0 {
			y = b[j]
		}
		if x != y && x != 1 && y != 1 {
			c.fail("shapes %v and %v do not broadcast", a, b)
		}
		if out[i] = x; x == 1 {
			out[i] = y
		}
	}
	return out
}

func expand(c *call) []Value {
	x := c.tensor(0)
	return []Value{like(c.value(0), x.Expand(c.size(c.broadcast(x.Shape(), c.ints(1)), x.DType())...))}
}

func flatten(c *call) []Value {
	x := c.tensor(0)
	axis := c.attrInt("axis", 1)
	if axis < 0 {
		axis += x.Rank()
	}
	if axis < 0 || axis > x.Rank() {
		c.fail("axis is out of range of %d axes", x.Rank())
	}
	return []Value{like(c.value(0), flattened(x, axis))}
}

func gather(c *call) []Value {
	v, index := c.value(0), c.tensor(1)
	if v.kind == StringsKind {
		c.fail("strings are not gathered")
	}
	x := c.tensor(0)
	axis := c.axis(c.attrInt("axis", 0), x.Rank())
	y := x.IndexSelect(axis, index.Flatten(0))
	shape := slices.Concat(x.Shape()[:axis], index.Shape(), x.Shape()[axis+1:])
	return []Value{like(v, y.Reshape(shape...))}
}

func rangeOperator(c *call) []Value {
	d := c.tensor(0).DType()
	if d.Integer() {
		start, limit, delta := c.int(0), c.int(1), c.int(2)
		if delta == 0 {
			c.fail("the step is 0")
		}
		if delta > 0 && start >= limit || delta < 0 && start <= limit {
			return tensors(weft.ZerosOf(d, 0))
		}
		return tensors(weft.ArangeOf(d, start, limit, delta))
	}
	start, limit, delta := c.float(0), c.float(1), c.float(2)
	if delta == 0 {
		c.fail("the step is 0")
	}
	n := max((limit-start)/delta, 0)
	count := int(n)
	if float64(count) < n {
		count++
	}
	return tensors(weft.ArangeOf(weft.Float64, c.size([]int{count}, d)[0]).Mul(delta).Add(start).To(d))
}

func reshape(c *call) []Value {
	x := c.tensor(0)
	zero := c.attrBool("allowzero", false)
	shape := c.ints(1)
	for i, n := range shape {
		if n == 0 && !zero {
			if i >= x.Rank() {
				c.fail("size %d of %v is that of the input, which has %d axes", i, shape, x.Rank())
			}
			shape[i] = x.Dim(i)
		}
	}
	return []Value{like(c.value(0), x.Reshape(shape...))}
}

func shapeOperator(c *call) []Value {
	shape := c.value(0).Shape()
	n := len(shape)
	clip := func(name string, def int) int {
		i := c.attrInt(name, def)
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	start, end := clip("start", 0), clip("end", n)
	return []Value{fromInts(shape[min(start, end):end])}
}

func size(c *call) []Value {
	n := 1
	for _, s := range c.value(0).Shape() {
		n *= s
	}
	return []Value{fromInt(n)}
}

func slice(c *call) []Value {
	x := c.tensor(0)
	starts, ends, axes, steps := c.intsOr(1), c.intsOr(2), c.intsOr(3), c.intsOr(4)
	if c.opset() < 10 {
		starts, ends, axes = c.attrInts("starts"), c.attrInts("ends"), c.attrInts("axes")
	}
	if axes == nil {
		for i := range starts {
			axes = append(axes, i)
		}
	}
	if len(starts) != len(axes) || len(ends) != len(axes) || steps != nil && len(steps) != len(axes) {
		c.fail("there are %d starts, %d ends, %d axes and %d steps", len(starts), len(ends), len(axes), len(steps))
	}
	axes = c.axes(axes, x.Rank())
	spans := make([]weft.Span, x.Rank())
	for i := range spans {
		spans[i] = weft.All
	}
	for i, axis := range axes {
		step, n := 1, x.Dim(axis)
		if steps != nil {
			step = steps[i]
		}
		start, end := starts[i], ends[i]
		if start < 0 {
			start = max(start, -n) + n
		}
		if end < 0 {
			end = max(end, -n-1) + n
		}
		switch {
		case step > 0:
			start, end = min(start, n), min(max(end, 0), n)
			spans[axis] = weft.Range(start, max(end, start), step)
		case step < 0:
			start, end = min(start, n-1), min(end, n-1)
			if end < 0 {
				end = weft.Begin
			}
			if end != weft.Begin && end >= start || n == 0 {
				spans[axis] = weft.Range(0, 0)
			} else {
				spans[axis] = weft.Range(start, end, step)
			}
		default:
			c.fail("a step is 0")
		}
	}
	return []Value{like(c.value(0), x.Slice(spans...))}
}

func split(c *call) []Value {
	x := c.tensor(0)
	axis := c.axis(c.attrInt("axis", 0), x.Rank())
	sizes, n := c.intsOr(1), c.attrInt("num_outputs", c.outputs())
	if c.opset() < 13 {
		sizes = c.attrInts("split")
	}
	total := x.Dim(axis)
	if sizes == nil {
		each := (total + n - 1) / max(n, 1)
		for i := range n {
			sizes = append(sizes, min(each, max(total-i*each, 0)))
		}
	}
	out := make([]Value, len(sizes))
	spans := make([]weft.Span, axis+1)
	for i := range spans {
		spans[i] = weft.All
	}
	at := 0
	for i, n := range sizes {
		if n < 0 || at+n > total {
			c.fail("parts of %v are more than the axis of %d", sizes, total)
		}
		spans[axis] = weft.Range(at, at+n)
		out[i] = like(c.value(0), x.Slice(spans...))
		at += n
	}
	if at != total {
		c.fail("parts of %v are less than the axis of %d", sizes, total)
	}
	return out
}

// givenAxes are the axes that an input gives since opset 13, an attribute before.
func (c *call) givenAxes(rank int) []int {
	axes := c.intsOr(1)
	if c.opset() < 13 {
		axes = c.attrInts("axes")
	}
	return c.axes(axes, rank)
}

func squeeze(c *call) []Value {
	x := c.tensor(0)
	return []Value{like(c.value(0), x.Squeeze(c.givenAxes(x.Rank())...))}
}

func transpose(c *call) []Value {
	x := c.tensor(0)
	order := c.attrInts("perm")
	if order == nil {
		for i := range x.Rank() {
			order = append(order, x.Rank()-1-i)
		}
	}
	return []Value{like(c.value(0), x.Permute(order...))}
}

func unsqueeze(c *call) []Value {
	x := c.tensor(0)
	n := 0
	if c.opset() < 13 {
		n = len(c.attrInts("axes"))
	} else {
		n = len(c.ints(1))
	}
	axes := c.givenAxes(x.Rank() + n)
	slices.Sort(axes)
	y := x
	for _, a := range axes {
		y = y.Unsqueeze(a)
	}
	return []Value{like(c.value(0), y)}
}
