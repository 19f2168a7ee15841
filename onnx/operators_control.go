package onnx

import (
	"slices"

	"weft"
)

// Control flow: subgraphs.
var controlOperators = []operator{
	{name: "If", run: branch},
	{name: "Loop", run: loop, reads: []int{0, 1}},
	{name: "Scan", run: scan},
	{name: "Scan", run: scanBatch, since: 8},
	{name: "Scan", run: scan, since: 9},
}

// branch runs one of two subgraphs. A condition that only the elements decide is read between programs.
func branch(c *call) []Value {
	then, els := c.attrGraph("then_branch"), c.attrGraph("else_branch")
	if c.bool(0) {
		return c.subgraph(then)
	}
	return c.subgraph(els)
}

// maxUnrolled is the number of steps up to which a loop becomes part of a program.
const maxUnrolled = 32

// unrolls says how many steps become nodes of a program. Where they are too many, the node runs by itself and
// its steps one after the other, unless gradients are wanted.
func (c *call) unrolls(steps int) {
	if steps > maxUnrolled && c.x.tracing && !c.x.plain {
		panic(failure{errHost})
	}
}

// argument is what a body is given for a value. Where the body is a program of its own, what is known in one
// step must not make a program for each step.
func (c *call) argument(v Value) Value {
	if c.x.tracing || c.x.plain {
		return v
	}
	v.known = false
	if len(v.items) > 0 {
		v.items = slices.Clone(v.items)
		for i := range v.items {
			v.items[i] = c.argument(v.items[i])
		}
	}
	return v
}

// truth is whether a value computed by a body holds, read on the host.
func (c *call) truth(v Value) bool {
	if v.kind != TensorKind || v.tensor.Size() != 1 {
		c.fail("the condition is %v: want one element", v)
	}
	if c.x.tracing && !v.known {
		panic(failure{errHost})
	}
	d := call{node: c.node, x: c.x, in: []Value{v}}
	return d.bool(0)
}

// loop runs a subgraph until a number of steps is reached or its condition fails. Values are handed on from
// step to step, others are collected.
func loop(c *call) []Value {
	body := c.attrGraph("body")
	steps, goes := -1, true
	if c.has(0) {
		steps = max(c.int(0), 0)
	}
	if c.has(1) {
		goes = c.bool(1)
	}
	if steps >= 0 {
		c.unrolls(steps)
	}
	if len(c.in) < 2 {
		c.fail("there are %d inputs: want a number of steps, a condition and the values", len(c.in))
	}
	state := slices.Clone(c.in[2:])
	var collected [][]Value
	step := func(i int) []Value {
		in := []Value{c.argument(fromInt(i)), c.argument(fromScalar(true))}
		for _, v := range state {
			in = append(in, c.argument(v))
		}
		out := c.subgraph(body, in...)
		if len(out) < 1+len(state) {
			c.fail("the body has %d outputs: want %d", len(out), 1+len(state))
		}
		return out
	}
	var grown growth
	for i := 0; goes && (steps < 0 || i < steps); i++ {
		c.unrolls(i)
		out := step(i)
		copy(state, out[1:])
		collected = append(collected, out[1+len(state):])
		grown.add(c, i+1, state, out[1+len(state):])
		goes = (steps >= 0 && i+1 == steps) || c.truth(out[0])
	}
	if len(collected) == 0 && c.outputs() > len(state) {
		// A step that does not count says what the values that are collected look like.
		return append(state, c.collected([][]Value{step(0)[1+len(state):]}, 0)...)
	}
	return append(state, c.collected(collected, len(collected))...)
}

// bytesOf is the memory of values.
func bytesOf(values []Value) int64 {
	n := int64(0)
	for _, v := range values {
		if v.tensor != nil {
			n += int64(v.tensor.Size()) * int64(v.tensor.DType().Size())
		}
		for _, s := range v.strings {
			n += int64(len(s))
		}
		n += bytesOf(v.items)
	}
	return n
}

// A growth is the memory that the values of a loop take.
type growth struct{ kept int64 }

// add ends the operator where the state after a step and what was collected so far take more than a model's loops may.
func (g *growth) add(c *call, steps int, state, collected []Value) {
	g.kept += bytesOf(collected)
	if n := g.kept + bytesOf(state); n > c.x.m.loops {
		c.fail("its values take %d bytes after %d steps: a loop may keep %d, a quarter of main memory", n, steps, c.x.m.loops)
	}
}

// collected joins, for each output of a body, the values of n steps along a new first axis.
func (c *call) collected(steps [][]Value, n int) []Value {
	var out []Value
	if len(steps) == 0 {
		return nil
	}
	for j := range steps[0] {
		list := make([]Value, len(steps))
		for i := range steps {
			list[i] = steps[i][j].unsqueezed(0)
		}
		v := c.joined(list, 0)
		if n == 0 {
			d := call{node: c.node, x: c.x, in: []Value{v}}
			v = d.moved(0, func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 0)) })
		}
		out = append(out, v)
	}
	return out
}

// flags are the attribute of that name, n numbers, by default zeros.
func (c *call) flags(name string, n int) []int {
	list := c.attrInts(name)
	if list == nil {
		return make([]int, n)
	}
	if len(list) != n {
		c.fail("attribute %q has %d numbers: want %d", name, len(list), n)
	}
	return list
}

// scan runs a subgraph for each step along an axis of its last inputs. Values before these are handed on from
// step to step, others are collected.
func scan(c *call) []Value {
	c.need("num_scan_inputs")
	scanned := c.attrInt("num_scan_inputs", 0)
	n := len(c.in) - scanned
	if scanned < 1 || n < 0 || n > c.outputs() {
		c.fail("%d of %d inputs are scanned, and there are %d outputs", scanned, len(c.in), c.outputs())
	}
	s := scanner{
		body: c.attrGraph("body"), axes: c.flags("scan_input_axes", scanned), back: c.flags("scan_input_directions", scanned),
		outAxes: c.flags("scan_output_axes", c.outputs()-n), outBack: c.flags("scan_output_directions", c.outputs()-n),
	}
	return s.run(c, c.in[:n], c.in[n:], -1)
}

// A scanner has what Scan's attributes say of inputs that are scanned and outputs that are collected.
type scanner struct {
	body                         *graph
	axes, back, outAxes, outBack []int
}

// run scans n steps, or all if n is negative.
func (s *scanner) run(c *call, state, in []Value, n int) []Value {
	state = slices.Clone(state)
	for j, v := range in {
		if v.kind != TensorKind {
			c.fail("a %v is scanned: want a tensor", v.kind)
		}
		size := v.tensor.Dim(c.axis(s.axes[j], v.tensor.Rank()))
		if n < 0 {
			n = size
		}
		if size < n {
			c.fail("an input has %d steps, another %d", size, n)
		}
	}
	c.unrolls(n)
	step := func(i int) []Value {
		var args []Value
		for _, v := range state {
			args = append(args, c.argument(v))
		}
		for j, v := range in {
			axis, at := c.axis(s.axes[j], v.tensor.Rank()), i
			if n == 0 {
				args = append(args, like(v, weft.ZerosOf(v.tensor.DType(), slices.Delete(v.tensor.Shape(), axis, axis+1)...)))
				continue
			}
			if s.back[j] != 0 {
				at = n - 1 - i
			}
			spans := slices.Repeat([]weft.Span{weft.All}, axis+1)
			spans[axis] = weft.Index(at)
			args = append(args, like(v, constant(v).Slice(spans...)))
		}
		out := c.subgraph(s.body, args...)
		if len(out) != len(state)+len(s.outAxes) {
			c.fail("the body has %d outputs: want %d", len(out), len(state)+len(s.outAxes))
		}
		return out
	}
	var steps [][]Value
	var grown growth
	for i := range n {
		out := step(i)
		copy(state, out)
		steps = append(steps, out[len(state):])
		grown.add(c, i+1, state, out[len(state):])
	}
	if n == 0 { // A step of zeros that does not count says what the values that are collected look like.
		steps = append(steps, step(0)[len(state):])
	}
	for j, v := range c.collected(steps, n) {
		if v.kind == TensorKind {
			if s.outBack[j] != 0 {
				v.tensor = v.tensor.Flip(0)
			}
			v.tensor = v.tensor.MoveAxis(0, c.axis(s.outAxes[j], v.tensor.Rank()))
		}
		state = append(state, v)
	}
	return state
}

// scanBatch is Scan of operator set 8: all inputs have a first axis, of the batch, and each item of the batch
// may have a number of steps of its own.
func scanBatch(c *call) []Value {
	c.need("num_scan_inputs")
	scanned := c.attrInt("num_scan_inputs", 0)
	n := len(c.in) - 1 - scanned
	if scanned < 1 || n < 0 || n > c.outputs() {
		c.fail("%d of %d inputs are scanned, and there are %d outputs", scanned, len(c.in)-1, c.outputs())
	}
	in := c.in[1:]
	for j, v := range in {
		if v.kind != TensorKind || v.tensor.Rank() < 1 || v.tensor.Dim(0) != in[0].tensor.Dim(0) || j >= n && v.tensor.Rank() < 2 {
			c.fail("input %d is %v: want a tensor whose first axis, of the batch, has the size of the first input's, and an axis of steps if it is scanned", j+1, v)
		}
	}
	lengths := c.intsOr(0)
	if lengths != nil && len(lengths) != in[0].tensor.Dim(0) {
		c.fail("there are %d numbers of steps for %d items", len(lengths), in[0].tensor.Dim(0))
	}
	outs := c.outputs() - n
	s := scanner{body: c.attrGraph("body"), axes: make([]int, scanned), back: c.flags("directions", scanned), outAxes: make([]int, outs), outBack: make([]int, outs)}
	batch, longest := in[n].Shape()[0], in[n].Shape()[1]
	var items [][]Value
	for b := range batch {
		one := make([]Value, len(in))
		for j, v := range in {
			one[j] = like(v, constant(v).At(b))
		}
		steps := -1
		if lengths != nil {
			if steps = lengths[b]; steps < 1 || steps > longest {
				c.fail("item %d has %d steps of %d", b, steps, longest)
			}
		}
		out := s.run(c, one[:n], one[n:], steps)
		for j := n; j < len(out); j++ { // what follows the last step is 0
			x := out[j].tensor
			pads := make([]int, 2*x.Rank())
			pads[1] = longest - x.Dim(0)
			out[j].tensor = x.Pad(0, pads...)
		}
		items = append(items, out)
	}
	return c.collected(items, batch)
}
