package onnx

import (
	"slices"
)

// Sequences and optionals.
var sequenceOperators = []operator{
	{name: "ConcatFromSequence", run: concatFromSequence},
	{name: "Optional", run: optional},
	{name: "OptionalGetElement", run: optionalGetElement},
	{name: "OptionalHasElement", run: optionalHasElement},
	{name: "SequenceAt", run: sequenceAt, reads: []int{1}},
	{name: "SequenceConstruct", run: func(c *call) []Value { return []Value{SequenceOf(c.in...)} }},
	{name: "SequenceEmpty", run: func(c *call) []Value {
		c.attrInt("dtype", int(Float))
		return []Value{SequenceOf()}
	}},
	{name: "SequenceErase", run: sequenceErase, reads: []int{1}},
	{name: "SequenceInsert", run: sequenceInsert, reads: []int{2}},
	{name: "SequenceLength", run: func(c *call) []Value { return []Value{fromInt(len(c.sequence(0)))} }},
	{name: "SequenceMap", run: sequenceMap},
	{name: "SplitToSequence", run: splitToSequence, reads: []int{1}},
}

// sequence are the values of input i, a sequence or an optional that has one.
func (c *call) sequence(i int) []Value {
	v := c.value(i)
	if v.kind == OptionalKind && len(v.items) == 1 {
		v = v.items[0]
	}
	if v.kind != SequenceKind {
		c.fail("input %d is a %v: want a sequence", i, v.kind)
	}
	return v.items
}

// position is the place in a sequence that input i gives, from 0 to last; def if it is not given.
func (c *call) position(i, n, last, def int) int {
	at := def
	if c.has(i) {
		at = c.int(i)
	}
	if at < 0 {
		at += n
	}
	if at < 0 || at > last {
		c.fail("position %d is out of range of a sequence of %d", at, n)
	}
	return at
}

func sequenceAt(c *call) []Value {
	list := c.sequence(0)
	c.value(1)
	return []Value{list[c.position(1, len(list), len(list)-1, 0)]}
}

func sequenceErase(c *call) []Value {
	list := slices.Clone(c.sequence(0))
	at := c.position(1, len(list), len(list)-1, len(list)-1)
	return []Value{SequenceOf(slices.Delete(list, at, at+1)...)}
}

func sequenceInsert(c *call) []Value {
	list := slices.Clone(c.sequence(0))
	at := c.position(2, len(list), len(list), len(list))
	return []Value{SequenceOf(slices.Insert(list, at, c.value(1))...)}
}

func concatFromSequence(c *call) []Value {
	c.need("axis")
	list, axis := slices.Clone(c.sequence(0)), c.attrInt("axis", 0)
	if len(list) == 0 {
		c.fail("the sequence is empty")
	}
	if !c.attrBool("new_axis", false) {
		return []Value{c.joined(list, axis)}
	}
	axis = c.axis(axis, len(list[0].Shape())+1)
	for i, v := range list {
		list[i] = v.unsqueezed(axis)
	}
	return []Value{c.joined(list, axis)}
}

// unsqueezed is a tensor with an axis of one element.
func (v Value) unsqueezed(axis int) Value {
	if v.kind == TensorKind {
		v.tensor = v.tensor.Unsqueeze(axis)
	} else if v.kind == StringsKind {
		v.shape = slices.Insert(slices.Clone(v.shape), axis, 1)
	}
	return v
}

func splitToSequence(c *call) []Value {
	axis, keep := c.attrInt("axis", 0), c.attrBool("keepdims", true)
	shape := c.value(0).Shape()
	axis = c.axis(axis, len(shape))
	total := shape[axis]
	each, sizes := 1, []int(nil)
	if c.has(1) {
		keep = true
		if sizes = c.ints(1); c.tensor(1).Rank() == 0 {
			each, sizes = sizes[0], nil
		}
	}
	if each < 1 {
		c.fail("the size of parts is %d", each)
	}
	if sizes == nil {
		for at := 0; at < total; at += each {
			sizes = append(sizes, min(each, total-at))
		}
	}
	list := c.parts(axis, sizes)
	for i, v := range list {
		switch {
		case keep:
		case v.kind == StringsKind:
			list[i].shape = slices.Delete(slices.Clone(v.shape), axis, axis+1)
		default:
			list[i].tensor = v.tensor.Squeeze(axis)
		}
	}
	return []Value{SequenceOf(list...)}
}

func optional(c *call) []Value {
	typ := c.attrType("type")
	if c.has(0) {
		return []Value{OptionalOf(c.value(0))}
	}
	if typ == nil {
		c.fail("neither an input nor attribute %q is given", "type")
	}
	return []Value{OptionalOf()}
}

func optionalGetElement(c *call) []Value {
	v := c.value(0)
	if v.kind != OptionalKind {
		return []Value{v}
	}
	if len(v.items) == 0 {
		c.fail("the optional has no element")
	}
	return []Value{v.items[0]}
}

func optionalHasElement(c *call) []Value {
	has := c.has(0)
	if has && c.in[0].kind == OptionalKind {
		has = len(c.in[0].items) > 0
	}
	return []Value{fromScalar(has)}
}

// sequenceMap runs a subgraph for each item.
func sequenceMap(c *call) []Value {
	body := c.attrGraph("body")
	n := len(c.sequence(0))
	c.unrolls(n)
	out := make([]Value, c.outputs())
	for i := range out {
		out[i] = SequenceOf()
	}
	for i := range n {
		in := slices.Clone(c.in)
		for j, v := range in {
			if v.kind != SequenceKind {
				continue
			}
			if len(v.items) != n {
				c.fail("the sequences have %d and %d items", n, len(v.items))
			}
			in[j] = c.argument(v.items[i])
		}
		made := c.subgraph(body, in...)
		if len(made) != len(out) {
			c.fail("the body has %d outputs: want %d", len(made), len(out))
		}
		for j, v := range made {
			out[j].items = append(out[j].items, v)
		}
	}
	return out
}
