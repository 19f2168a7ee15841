package core

import (
	"cmp"
	"iter"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
)

// A Fused is a formula with several results that are computed together and
// written into tensors that exist, such as the update of a parameter and its
// momentum.
type Fused struct {
	Def     *op.Def // stands for the formula in the plan cache
	compose func(args []*ir.Node) []*ir.Node
}

// NewFused returns the formula that compose builds from nodes of its arguments.
func NewFused(name string, compose func(args []*ir.Node) []*ir.Node) *Fused {
	h := uint64(0xf05ed)
	for _, c := range []byte(name) {
		h = Mix(h, uint64(c))
	}
	return &Fused{Def: &op.Def{Name: name, Hash: h}, compose: compose}
}

// Into computes the formula of args, tensors or numbers, and writes result i,
// which must have that shape and element type, into dst[i]. Every result is
// computed from the arguments as they were before. Numbers are given at run
// time: another value needs no other plan. No gradient is recorded; a leaf that
// needs one is written through its [Tensor.Detach].
func (f *Fused) Into(dst []*Tensor, args []Operand) {
	m := fusedMemories.Get().(*fusedMemory)
	c := m.add(f, dst, args)
	if tr := TracingOf(c.ops); tr != nil {
		f.trace(tr, c)
		return
	}
	f.prepare(m, c)
	c.runAlone()
	m.free()
}

// IntoAll is Into for each dst and args that calls yields, in order; both slices
// may be used again for the next. All tensors are checked before anything is written.
// What has nothing to do with one another and needs no copies runs at once: many small
// formulas together are worth waking threads for.
func (f *Fused) IntoAll(calls iter.Seq2[[]*Tensor, []Operand]) {
	f.NotNil()
	if calls == nil {
		array.Failf("fused", "calls", "is nil")
	}
	m := fusedMemories.Get().(*fusedMemory)
	for dst, args := range calls {
		c := m.add(f, dst, args)
		if tr := TracingOf(c.ops); tr != nil {
			f.trace(tr, c)
			m.calls = m.calls[:len(m.calls)-1]
		}
	}
	for i := range m.calls {
		f.prepare(m, &m.calls[i])
	}
	m.run(f.Def.Name)
	m.free()
}

// run runs the calls.
func (m *fusedMemory) run(name string) {
	w := OpenWrites(m.dst)
	defer w.Done()
	apart := m.disjoint()
	for i := range m.calls {
		c := &m.calls[i]
		if apart && c.inPlace && (len(m.group) == 0 || c.C.Stream() == m.group[0].C.Stream()) {
			m.group = append(m.group, c.Task)
			c.grouped = true
			continue
		}
		c.run()
	}
	if len(m.group) > 0 {
		if err := exec.RunAll(m.group); err != nil {
			failed(name, err)
		}
	}
}

// InPlace reports whether Into, with the same operands, is one kernel that writes
// the results where they belong, without a copy.
func (f *Fused) InPlace(dst []*Tensor, args []Operand) bool {
	m := &fusedMemory{}
	c := f.prepare(m, m.add(f, dst, args))
	return c.inPlace && c.direct()
}

// fusedCall is a formula with its operands.
type fusedCall struct {
	name string
	ops  []Operand // arguments, then dst
	dst  []*Tensor
	exec.Task
	inPlace bool // one kernel, which may overwrite an argument that is the same view as a result
	grouped bool // runs with others
}

// fusedMemory is the working memory of calls.
type fusedMemory struct {
	ops   []Operand
	dst   []*Tensor
	ins   []*array.View
	nums  []exec.Number
	outs  []array.View
	calls []fusedCall
	group []exec.Task
	spans []memSpan
}

var fusedMemories = sync.Pool{New: func() any { return new(fusedMemory) }}

// free empties m and puts it back into the pool.
func (m *fusedMemory) free() {
	m.ops, m.dst, m.ins, m.outs = emptied(m.ops), emptied(m.dst), emptied(m.ins), emptied(m.outs)
	m.calls, m.group = emptied(m.calls), emptied(m.group)
	m.nums, m.spans = m.nums[:0], m.spans[:0]
	fusedMemories.Put(m)
}

// emptied returns s with length 0. Its memory keeps nothing alive.
func emptied[T any](s []T) []T {
	clear(s)
	return s[:0]
}

// NotNil refuses nil, and the zero Fused.
func (f *Fused) NotNil() {
	if f == nil || f.compose == nil {
		array.Failf("fused", "", "the Fused is nil or composes nothing")
	}
}

// add appends a call.
func (m *fusedMemory) add(f *Fused, dst []*Tensor, args []Operand) *fusedCall {
	f.NotNil()
	op, out := len(m.ops), len(m.dst)
	m.ops = append(m.ops, args...)
	for _, t := range dst {
		m.ops = append(m.ops, Operand{T: t})
	}
	m.dst = append(m.dst, dst...)
	m.calls = append(m.calls, fusedCall{name: f.Def.Name, ops: m.ops[op:], dst: m.dst[out:]})
	return &m.calls[len(m.calls)-1]
}

// prepare checks and plans a call.
func (f *Fused) prepare(m *fusedMemory, c *fusedCall) *fusedCall {
	in, num, out := len(m.ins), len(m.nums), len(m.outs)
	args := c.ops[:len(c.ops)-len(c.dst)]
	for i := range args {
		if t := args[i].T; t == nil {
			m.nums = append(m.nums, args[i].Num)
		} else {
			t.Check(c.name)
			m.ins = append(m.ins, &t.v)
		}
	}
	c.inPlace = true
	for _, t := range c.dst {
		t.Writable(c.name)
		m.outs = append(m.outs, t.v)
		c.inPlace = c.inPlace && t.v.Contiguous()
	}
	c.Task = exec.Task{C: f.lookup(len(args), c.ops).Compiled(), Ins: m.ins[in:], Nums: m.nums[num:], Out: m.outs[out:]}
	c.inPlace = c.inPlace && c.C.Plan.InPlace
	return c
}

// trace adds a call to a trace.
func (f *Fused) trace(tr *Trace, c *fusedCall) {
	args := c.ops[:len(c.ops)-len(c.dst)]
	for _, t := range c.dst {
		t.Writable(c.name)
	}
	views := make([]array.View, len(c.dst))
	tr.Compute(f.lookup(len(args), c.ops), args, views)
	for i, t := range c.dst {
		tr.Copy(&t.v, &views[i])
		t.Wrote()
	}
}

// direct reports whether the results can be written straight into dst: no result overlaps another
// one or, unless in place, an argument.
func (c *fusedCall) direct() bool {
	for i, t := range c.dst {
		if !t.v.Contiguous() {
			return false
		}
		for _, v := range c.Ins {
			if v.Overlaps(&t.v) && !(c.inPlace && v.Same(&t.v)) {
				return false
			}
		}
		for _, other := range c.dst[:i] {
			if other.v.Overlaps(&t.v) {
				return false
			}
		}
	}
	return true
}

// runAlone opens the writes into dst and runs the call.
func (c *fusedCall) runAlone() {
	w := OpenWrites(c.dst)
	defer w.Done()
	c.run()
}

func (c *fusedCall) run() {
	direct := c.direct()
	if !direct {
		clear(c.Out)
	}
	RunPlan(c.name, nil, c.C, c.Ins, c.Nums, c.Out)
	if !direct {
		for i, t := range c.dst {
			CopyViews(nil, &t.v, &c.Out[i])
			Free(c.Out[i].Store)
		}
	}
}

// memSpan is the memory of an operand: the addresses [lo, hi).
type memSpan struct {
	lo, hi uintptr
	write  bool
}

// disjoint reports whether the calls can run at the same time: no call reads or writes memory that
// another one writes. It is false, too, if a call's results overlap each other, or an argument
// that is not the same view.
func (m *fusedMemory) disjoint() bool {
	add := func(v *array.View, write bool) {
		if lo, hi := v.Bytes(); lo < hi {
			m.spans = append(m.spans, memSpan{lo, hi, write})
		}
	}
	for i := range m.calls {
		c := &m.calls[i]
		for _, t := range c.dst {
			add(&t.v, true)
		}
		for _, v := range c.Ins {
			if !slices.ContainsFunc(c.dst, func(t *Tensor) bool { return v.Same(&t.v) }) {
				add(v, false)
			}
		}
	}
	slices.SortFunc(m.spans, func(a, b memSpan) int { return cmp.Compare(a.lo, b.lo) })
	var touched, written uintptr // up to where
	for _, s := range m.spans {
		if s.lo < written || s.write && s.lo < touched {
			return false
		}
		touched = max(touched, s.hi)
		if s.write {
			written = max(written, s.hi)
		}
	}
	return true
}

// lookup returns the formula planned for operands: the first n are arguments, the others receive
// the results.
func (f *Fused) lookup(n int, ops []Operand) *Planned {
	return LookupInto(f.Def, nil, ops, n, func(p *Planned, args []*ir.Node) ([]*ir.Node, []plan.Sig) {
		outs := f.compose(args)
		if have := len(p.Sigs) - n; len(outs) != have || have == 0 {
			array.Failf(f.Def.Name, "dst", "has %d places for %d results", have, len(outs))
		}
		for i, x := range outs {
			if s := &p.Sigs[n+i]; x.DType != s.DType || !array.Equal(x.Shape, s.Shape) {
				array.Failf(f.Def.Name, "", "result %d is %s, its place %s", i, array.TypeString(x.DType, x.Shape), array.TypeString(s.DType, s.Shape))
			}
		}
		return outs, nil
	})
}
