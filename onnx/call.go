package onnx

import (
	"errors"
	"fmt"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A call is one run of a node: what its operator reads inputs and attributes from. The methods that get
// something the node does not have, or has in another form, end the operator with an error that names it.
type call struct {
	node  *node
	in    []Value
	env   []Value // of the graph, for subgraphs
	x     *run
	asked uint64 // by attribute: whether the operator asked for it
}

// A failure is what [call.fail] panics with.
type failure struct{ err error }

// errHost is the failure of an operator that needs elements on the host while a program is traced. The node
// then runs by itself, between two programs.
var errHost = errors.New("elements are needed on the host, and are known only when the program runs")

// fail ends the operator with an error.
func (c *call) fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// opset is the version of the operator set of the node's domain.
func (c *call) opset() int { return c.node.opset }

// has reports that input i is given.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i].kind != NoValue }

// wants reports that output i is used.
func (c *call) wants(i int) bool { return i < len(c.node.out) && c.node.out[i] >= 0 }

// outputs is the number of outputs that the node names.
func (c *call) outputs() int { return len(c.node.out) }

// value is input i, which must be given.
func (c *call) value(i int) Value {
	if !c.has(i) {
		c.fail("input %d is missing", i)
	}
	return c.in[i]
}

// tensor is input i, a tensor.
func (c *call) tensor(i int) *weft.Tensor {
	v := c.value(i)
	if v.kind != TensorKind {
		c.fail("input %d is a %v: want a tensor", i, v.kind)
	}
	return constant(v)
}

// maxConstant is the number of elements up to which known values are constants of the graph, which the
// compiler can see through, rather than memory that a program reads.
const maxConstant = 1 << 12

// constant is the tensor of v, as a constant of the trace if it is known.
func constant(v Value) *weft.Tensor {
	if v.known && v.tensor.Size() <= maxConstant {
		t, _ := core.Constant((*core.Tensor)(v.tensor))
		return (*weft.Tensor)(t)
	}
	return v.tensor
}

// optional is input i, nil if it is not given.
func (c *call) optional(i int) *weft.Tensor {
	if !c.has(i) {
		return nil
	}
	return c.tensor(i)
}

// all are the inputs, tensors.
func (c *call) all() []*weft.Tensor {
	out := make([]*weft.Tensor, len(c.in))
	for i := range out {
		out[i] = c.tensor(i)
	}
	return out
}

// host is input i as a tensor whose elements can be read now.
func (c *call) host(i int) *weft.Tensor {
	v := c.value(i)
	if v.kind != TensorKind {
		c.fail("input %d is a %v: want a tensor", i, v.kind)
	}
	if !v.known && c.x.tracing {
		panic(failure{errHost})
	}
	return v.tensor
}

// ints are the elements of input i, integers.
func (c *call) ints(i int) []int {
	t := c.host(i)
	if !t.DType().Integer() {
		c.fail("input %d is %s: want integers", i, t.DType())
	}
	out := make([]int, t.Size())
	core.OutsideTrace(func() {
		h := core.ToHost((*core.Tensor)(t.Contiguous()))
		defer core.Leave(&h)
		for j := range out {
			out[j] = int(core.IntElement(&h, h.Offset+j))
		}
	})
	return out
}

// intsOr is [call.ints], or nil if input i is not given.
func (c *call) intsOr(i int) []int {
	if !c.has(i) {
		return nil
	}
	return c.ints(i)
}

// int is the one element of input i, an integer.
func (c *call) int(i int) int {
	list := c.ints(i)
	if len(list) != 1 {
		c.fail("input %d has %d elements: want one", i, len(list))
	}
	return list[0]
}

// floats are the elements of input i, numbers that are not complex.
func (c *call) floats(i int) []float64 {
	t := c.host(i)
	var list []float64
	core.OutsideTrace(func() { list = weft.Data[float64](t.Detach().To(weft.Float64).Contiguous()) })
	return list
}

// float is the one element of input i.
func (c *call) float(i int) float64 {
	list := c.floats(i)
	if len(list) != 1 {
		c.fail("input %d has %d elements: want one", i, len(list))
	}
	return list[0]
}

// bool is the one element of input i, a boolean or a number.
func (c *call) bool(i int) bool { return c.float(i) != 0 }

// strings are the elements of input i, a tensor of strings.
func (c *call) strings(i int) []string {
	v := c.value(i)
	if v.kind != StringsKind {
		c.fail("input %d is a %v: want strings", i, v.kind)
	}
	return v.strings
}

// ---- attributes

// attribute returns the attribute of that name, nil if the node does not have it, and notes that it was
// asked for.
func (c *call) attribute(name string, kind int) *attribute {
	for i := range c.node.attrs {
		a := &c.node.attrs[i]
		if a.name != name {
			continue
		}
		c.asked |= 1 << i
		if a.kind != kind {
			c.fail("attribute %q has the type %d: want %d", name, a.kind, kind)
		}
		return a
	}
	return nil
}

// given reports that the node has the attribute.
func (c *call) given(name string) bool {
	return slices.ContainsFunc(c.node.attrs, func(a attribute) bool { return a.name == name })
}

// attrInt is an integer, def if it is not given.
func (c *call) attrInt(name string, def int) int {
	if a := c.attribute(name, attrInt); a != nil {
		return a.i
	}
	return def
}

// attrBool is an integer that is not 0.
func (c *call) attrBool(name string, def bool) bool {
	if a := c.attribute(name, attrInt); a != nil {
		return a.i != 0
	}
	return def
}

// attrFloat is a float, def if it is not given. The float32 of the file is the number.
func (c *call) attrFloat(name string, def float32) float64 {
	if a := c.attribute(name, attrFloat); a != nil {
		return float64(a.f)
	}
	return float64(def)
}

// attrString is a text, def if it is not given.
func (c *call) attrString(name, def string) string {
	if a := c.attribute(name, attrString); a != nil {
		return a.s
	}
	return def
}

// attrInts are integers, nil if they are not given.
func (c *call) attrInts(name string) []int {
	if a := c.attribute(name, attrInts); a != nil {
		return a.ints
	}
	return nil
}

// attrFloats are floats, nil if they are not given.
func (c *call) attrFloats(name string) []float32 {
	if a := c.attribute(name, attrFloats); a != nil {
		return a.floats
	}
	return nil
}

// attrStrings are texts, nil if they are not given.
func (c *call) attrStrings(name string) []string {
	if a := c.attribute(name, attrStrings); a != nil {
		return a.strings
	}
	return nil
}

// attrValue is a tensor, which is known, or no value if it is not given.
func (c *call) attrValue(name string) Value {
	if a := c.attribute(name, attrTensor); a != nil {
		return a.value
	}
	return Value{}
}

// attrGraph is a subgraph, which must be given.
func (c *call) attrGraph(name string) *graph {
	a := c.attribute(name, attrGraph)
	if a == nil {
		c.fail("attribute %q is missing", name)
	}
	return a.graph
}

// attrType is a type, nil if it is not given.
func (c *call) attrType(name string) *Type {
	if a := c.attribute(name, attrType); a != nil {
		return a.typ
	}
	return nil
}

// need refuses a node without the attribute of that name.
func (c *call) need(name string) {
	if !c.given(name) {
		c.fail("attribute %q is missing", name)
	}
}

// done refuses attributes that the operator does not know.
func (c *call) done() {
	for i := range c.node.attrs {
		if c.asked&(1<<i) == 0 {
			c.fail("attribute %q is not one of this operator's", c.node.attrs[i].name)
		}
	}
}

// ---- what many operators do

// axis is an axis of a tensor of some rank, where negative ones count from the end.
func (c *call) axis(axis, rank int) int {
	if axis < -rank || axis >= rank {
		c.fail("axis %d is out of range of %d axes", axis, rank)
	}
	if axis < 0 {
		return axis + rank
	}
	return axis
}

// axes are axes of a tensor of some rank, each once.
func (c *call) axes(axes []int, rank int) []int {
	out := make([]int, len(axes))
	for i, a := range axes {
		out[i] = c.axis(a, rank)
		if slices.Contains(out[:i], out[i]) {
			c.fail("axis %d stands twice in %v", a, axes)
		}
	}
	return out
}

// subgraph runs a graph of the node with inputs, and returns its outputs.
func (c *call) subgraph(g *graph, in ...Value) []Value { return c.x.subgraph(g, c.env, in) }

// maxTable is the number of elements of a table on the host, such as where Pad takes each element from.
const maxTable = 1 << 28

// hostTable checks the shape of a table on the host whose sizes the file decides: Go's memory does not fail with an
// error.
func (c *call) hostTable(shape ...int) {
	n := 1
	for _, s := range shape {
		if s < 0 || s > maxTable || n*max(s, 1) > maxTable {
			c.fail("a table of shape %v is needed, which has more than %d elements or a negative size", shape, maxTable)
		}
		n *= max(s, 1)
	}
}

// size is a size of memory that elements decide: at most what a tensor can have.
func (c *call) size(shape []int, d weft.DType) []int {
	if err := array.Try(func() { array.CheckShape(c.node.op.name, shape, d) }); err != nil {
		c.fail("%w", err)
	}
	return shape
}
