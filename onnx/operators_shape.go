package onnx

import (
	"math"
	"slices"

	"weft"
	"weft/internal/core"
)

// Shapes, moves of elements, conversions and constants.
var shapeOperators = []operator{
	{name: "Concat", run: concat},
	{name: "Constant", run: constantOperator},
	{name: "ConstantOfShape", run: constantOfShape, reads: []int{0}},
	{name: "Expand", run: expand, reads: []int{1}},
	{name: "Flatten", run: flatten},
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
func fromInt(n int) Value { return fromScalar(int64(n)) }

// fromScalar is a number known on the host, or a boolean.
func fromScalar[T weft.Element](x T) (v Value) {
	core.OutsideTrace(func() { v = TensorOf(weft.FromSlice([]T{x}).Reshape()).asKnown() })
	return v
}

// moved is input i with elements moved by f, which may take some away or repeat them. Strings move as their
// places do.
func (c *call) moved(i int, f func(x *weft.Tensor) *weft.Tensor) Value {
	v := c.value(i)
	if v.kind != StringsKind {
		return like(v, f(c.tensor(i)))
	}
	if c.x.tracing {
		panic(failure{errHost})
	}
	return textsAt(v.strings, f(weft.ArangeOf(weft.Int64, len(v.strings)).Reshape(v.shape...)))
}

// textsAt are the strings at places.
func textsAt(list []string, places *weft.Tensor) Value {
	out := make([]string, places.Size())
	for j, p := range weft.Data[int64](places.Contiguous()) {
		out[j] = list[p]
	}
	return Value{kind: StringsKind, elem: String, strings: out, shape: places.Shape()}
}

func concat(c *call) []Value {
	c.need("axis")
	return []Value{c.joined(c.in, c.attrInt("axis", 0))}
}

// joined are tensors, of strings or numbers, one behind the other along an axis.
func (c *call) joined(list []Value, axis int) Value {
	if len(list) == 0 {
		c.fail("there are no tensors")
	}
	ts := make([]*weft.Tensor, len(list))
	var texts []string
	for i, v := range list {
		if v.kind != list[0].kind || v.kind != TensorKind && v.kind != StringsKind {
			c.fail("a %v cannot be joined with a %v", v.kind, list[0].kind)
		}
		if ts[i] = v.tensor; v.kind == StringsKind {
			ts[i] = weft.ArangeOf(weft.Int64, len(v.strings)).Add(len(texts)).Reshape(v.shape...)
			texts = append(texts, v.strings...)
		} else {
			ts[i] = constant(v)
		}
	}
	if texts != nil && c.x.tracing {
		panic(failure{errHost})
	}
	y := weft.Cat(ts, c.axis(axis, ts[0].Rank()))
	if list[0].kind == StringsKind {
		return textsAt(texts, y)
	}
	return like(list[0], y)
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
	shape := c.ints(1)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		return x.Expand(c.size(c.broadcast(x.Shape(), shape), x.DType())...)
	})}
}

func flatten(c *call) []Value {
	axis := c.attrInt("axis", 1)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if axis < 0 {
			axis += x.Rank()
		}
		if axis < 0 || axis > x.Rank() {
			c.fail("axis is out of range of %d axes", x.Rank())
		}
		return flattened(x, axis)
	})}
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
	zero := c.attrBool("allowzero", false)
	shape := c.ints(1)
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		for i, n := range shape {
			if n == 0 && !zero {
				if i >= x.Rank() {
					c.fail("size %d of %v is that of the input, which has %d axes", i, shape, x.Rank())
				}
				shape[i] = x.Dim(i)
			}
		}
		return x.Reshape(shape...)
	})}
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
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		return x.Slice(c.spans(x.Shape(), starts, ends, c.axes(axes, x.Rank()), steps)...)
	})}
}

// spans are the parts of axes that Slice takes.
func (c *call) spans(shape, starts, ends, axes, steps []int) []weft.Span {
	spans := make([]weft.Span, len(shape))
	for i := range spans {
		spans[i] = weft.All
	}
	for i, axis := range axes {
		step, n := 1, shape[axis]
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
			start = min(start, n-1)
			if end < 0 || ends[i] == math.MaxInt32 || ends[i] == math.MaxInt64 { // as in ONNX Runtime: the axis' end in this direction
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
	return spans
}

func split(c *call) []Value {
	v := c.value(0)
	shape := v.Shape()
	axis := c.axis(c.attrInt("axis", 0), len(shape))
	sizes, n := c.intsOr(1), c.attrInt("num_outputs", c.outputs())
	if c.opset() < 13 {
		sizes = c.attrInts("split")
	}
	total := shape[axis]
	if sizes == nil {
		if n < 1 || n > c.outputs() {
			c.fail("attribute %q is %d, and the node has %d outputs", "num_outputs", n, c.outputs())
		}
		each := (total + n - 1) / n
		for i := range n {
			sizes = append(sizes, min(each, max(total-i*each, 0)))
		}
	}
	return c.parts(axis, sizes)
}

// parts are parts of input 0 along an axis.
func (c *call) parts(axis int, sizes []int) []Value {
	total := c.value(0).Shape()[axis]
	out := make([]Value, len(sizes))
	spans := slices.Repeat([]weft.Span{weft.All}, axis+1)
	at := 0
	for i, n := range sizes {
		if n < 0 || n > total-at {
			c.fail("parts of %v are more than the axis of %d", sizes, total)
		}
		spans[axis] = weft.Range(at, at+n)
		out[i] = c.moved(0, func(x *weft.Tensor) *weft.Tensor { return x.Slice(spans...) })
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
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor { return x.Squeeze(c.givenAxes(x.Rank())...) })}
}

func transpose(c *call) []Value {
	order := c.attrInts("perm")
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		if order == nil {
			for i := range x.Rank() {
				order = append(order, x.Rank()-1-i)
			}
		}
		return x.Permute(order...)
	})}
}

func unsqueeze(c *call) []Value {
	n := 0
	if c.opset() < 13 {
		n = len(c.attrInts("axes"))
	} else {
		n = len(c.ints(1))
	}
	return []Value{c.moved(0, func(x *weft.Tensor) *weft.Tensor {
		axes := c.givenAxes(x.Rank() + n)
		slices.Sort(axes)
		for _, a := range axes {
			x = x.Unsqueeze(a)
		}
		return x
	})}
}
