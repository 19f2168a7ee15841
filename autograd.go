package weft

import (
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/lock"
	"weft/internal/op"
)

// A history says where a tensor's value comes from, as far as gradients care.
type history struct {
	node   *gradNode   // nil: nothing upstream needs a gradient
	frozen atomic.Bool // RequireGrad(false) of a leaf: as if it were none

	*taken    // of a view, nil of all else
	*leafGrad // of what is a leaf or was one
}

// A view knows the tensor that it was taken of, which may be a view too, and how, so that a
// write through either changes the history of both. Its node is the window on the node which
// that tensor had when it was made. Most views are never asked, so that what is known of one
// that was lies aside.
type taken struct {
	of    *Tensor
	move  *op.Def // nil of At: how it was taken is only looked for where a gradient flows
	list  []int   // what move goes by: see attrsOf; of At the indices
	few   [2]int  // memory of short lists of these
	aside atomic.Pointer[asked]
}

// asked is what is known of a view whose node was asked for.
type asked struct {
	attrs ir.Attrs // of its own
	by    atomic.Pointer[planned]
	seen  atomic.Pointer[gradNode]
	long  atomic.Pointer[history] // of At: by a window and a reshape
}

// A leafGrad is the gradient of a leaf.
type leafGrad struct {
	calls lock.Lock // of calls of compiled functions that change it

	mu   sync.Mutex
	grad *Tensor
	mine bool // nobody else has seen grad: its memory can be given back with it
	lent int  // to so many functions that BorrowGrad and BorrowRows call: not now

	sparse atomic.Bool // SparseGrad: keep what comes as rows as rows
	rows   *rowGrad    // instead of grad
}

// A gradNode is one operation on the tape.
type gradNode struct {
	seq   uint64
	in    []*gradNode // by operand; nil where no gradient is needed
	p     *planned
	vjp   *vjp // nil: found when needed
	nums  []exec.Number
	saved []savedValue // by input of the VJP's graph, but the gradient itself

	*rare // ordinary unless more is to be said

	mu   sync.Mutex // of saved and done
	done bool       // saved values were released
}

// rare is what few nodes have, so that the others are small.
type rare struct {
	leaf *history // set in the node of a leaf

	// Of what has no plan: that knows it otherwise.
	name  string
	dtype DType
	shape []int

	// An operation with several results has a node that takes the gradients of all,
	// and one a result, which hands its own on to that.
	results []*gradNode // of the former, nil for a result that is no float
	which   int         // of the latter: which result of in[0] it is
	part    bool        // this is one of the latter

	// Instead of a plan: a function, or that the second operand was written into a place
	// in the first.
	back func(saved []savedValue, dy *Tensor, create bool) []*Tensor
	put  *place
}

// ordinary is of nodes of which there is nothing rare; it is never written to.
var ordinary = &rare{}

// opName is the name of the operation.
func (n *gradNode) opName() string {
	if n.p != nil {
		return n.p.def.Name
	}
	return n.name
}

// typeOf is the type of the result, of several that of the first.
func (n *gradNode) typeOf() (DType, []int) {
	if n.p != nil {
		return n.p.dtype, n.p.shape
	}
	return n.dtype, n.shape
}

// sizes is the shape of the result.
func (n *gradNode) sizes() []int {
	_, shape := n.typeOf()
	return shape
}

// window reports that n only shows a part of its operand, or all of it in another
// shape.
func (n *gradNode) window() bool { return n.p != nil && n.p.def.Class == op.Move }

// A place is a window on a tensor.
type place struct {
	chain []*planned
	of    array.View // without memory
}

// A savedValue is a tensor's value that a gradient needs.
type savedValue struct {
	v       array.View
	version uint32
	from    *gradNode // its history, for gradients of gradients
	result  bool      // of the operation itself, not an argument
	arg     int
}

var tapeSeq atomic.Uint64

// node returns the producer of t's value, nil if no gradient flows through t.
func (t *Tensor) node() *gradNode {
	h := t.hist
	if h == nil {
		return nil
	}
	if h.taken == nil {
		if h.frozen.Load() {
			return nil
		}
		return h.node
	}
	if h.of.node() == nil {
		return nil
	}
	w := h.whole()
	from, known := w.of.node(), w.asked()
	// Readers that make the node of a view at the same time agree on one.
	for {
		old := known.seen.Load()
		if old != nil && old.in[0] == from {
			return old
		}
		if n := newNode(w.planned(), []*gradNode{from}); known.seen.CompareAndSwap(old, n) {
			return n
		}
	}
}

// whole returns the history of a view that says how it was taken: of one at indices first the
// window, whose axes have size 1 there, then what leaves these out.
func (h *taken) whole() *taken {
	if h.move != nil {
		return h
	}
	known := h.asked()
	if long := known.long.Load(); long != nil {
		return long.taken
	}
	v := &h.of.v
	w, offset := op.AllOf(v.Shape), 0
	for i, k := range h.list {
		w.Start[i], w.Count[i] = k, 1
		offset += k * v.Strides[i]
	}
	cut := &taken{of: h.of, move: op.Slice}
	cut.aside.Store(&asked{attrs: w})
	part := &Tensor{v: v.Window(offset, w.Count, v.Strides), run: h.of.run, view: true, hist: &history{taken: cut}}
	known.long.CompareAndSwap(nil, &history{taken: &taken{of: part, move: op.Reshape, list: v.Shape[len(h.list):]}})
	return known.long.Load().taken
}

// asked returns what is known of a view that is asked how it was taken.
func (h *taken) asked() *asked {
	known := h.aside.Load()
	if known == nil {
		known = &asked{}
		if h.move != nil {
			known.attrs = attrsOf(h.move, h.list)
		}
		if !h.aside.CompareAndSwap(nil, known) {
			known = h.aside.Load()
		}
	}
	return known
}

// planned returns how a view was taken as a planned operation. Most views are never asked:
// each has numbers of its own, and their plans would fill the cache.
func (h *taken) planned() *planned {
	known := h.asked()
	p := known.by.Load()
	if p == nil {
		p = lookup(h.move, known.attrs, []operand{{t: h.of}})
		known.by.Store(p)
	}
	return p
}

// root returns the tensor that is no view behind t's views, and the windows that
// lead from it to t.
func (t *Tensor) root() (*Tensor, []*planned) {
	if t.hist == nil || t.hist.taken == nil {
		return t, nil
	}
	h := t.hist.whole()
	b, chain := h.of.root()
	return b, append(chain, h.planned())
}

// newNode is the tape's entry for an operation that saves nothing.
func newNode(p *planned, in []*gradNode) *gradNode {
	return &gradNode{seq: tapeSeq.Add(1), in: in, p: p, rare: ordinary}
}

// RequireGrad marks t, of floats or complex numbers, as a leaf: [Tensor.Backward] adds its
// gradient to [Tensor.Grad]. It returns t. RequireGrad(false) removes the mark and the gradient.
// It panics if t was computed from tensors that need gradients ([Tensor.Detach] returns a tensor
// that can be marked), or if its elements are integers or bool.
func (t *Tensor) RequireGrad(on ...bool) *Tensor {
	t.notNil("requiregrad")
	switch {
	case len(on) > 1:
		array.Failf("requiregrad", "on", "has %d values, want one at most", len(on))
	case len(on) == 1 && !on[0]:
		if n := t.node(); n != nil && n.leaf == nil {
			array.Failf("requiregrad", "", "the tensor was computed by %s: only that of a leaf can be ended (Detach)", n.opName())
		}
		t.freeze(true)
		return t
	}
	if !t.v.DType.Differentiable() {
		array.Failf("requiregrad", "", "only floats have gradients, not %s", t.v.DType)
	}
	if t.hist != nil && t.hist.frozen.Swap(false) {
		return t
	}
	if n := t.node(); n != nil {
		if n.leaf == nil {
			array.Failf("requiregrad", "", "the tensor was computed by %s: only a leaf can be marked (Detach makes one)", n.opName())
		}
		return t
	}
	h := &history{leafGrad: &leafGrad{}}
	h.node = &gradNode{seq: tapeSeq.Add(1), rare: &rare{name: "leaf", dtype: t.v.DType, shape: t.v.Shape, leaf: h}}
	t.hist = h
	return t
}

// freeze makes a leaf a tensor like any other, whose gradient is forgotten and which gets
// none, or ends that. Tensors that are not leaves stay as they are.
func (t *Tensor) freeze(on bool) {
	h := t.hist
	if h == nil || h.node == nil || h.node.leaf != h {
		return
	}
	if on {
		t.SetGrad(nil)
	}
	h.frozen.Store(on)
}

// copyLeaf returns a copy of t outside any scope that is marked as t is: a leaf, with a
// gradient kept as rows, frozen; it has no gradient.
func copyLeaf(t *Tensor) *Tensor {
	t.check("copyleaf")
	c := (&Tensor{v: t.v}).Clone()
	if h := t.hist; h != nil && h.node != nil && h.node.leaf == h {
		c.RequireGrad()
		c.hist.sparse.Store(h.sparse.Load())
		c.hist.frozen.Store(h.frozen.Load())
	}
	return c
}

// RequiresGrad reports whether gradients flow through t: it is a leaf ([Tensor.RequireGrad]), or
// was computed from one with gradients recorded.
func (t *Tensor) RequiresGrad() bool {
	t.notNil("requiresgrad")
	return t.node() != nil
}

// IsLeaf reports that t was not computed from tensors that need gradients: it is a leaf itself,
// or needs none.
func (t *Tensor) IsLeaf() bool {
	t.notNil("isleaf")
	n := t.node()
	return n == nil || n.leaf != nil
}

// Grad returns the gradient that backward passes have added up in a leaf, nil
// before the first.
func (t *Tensor) Grad() *Tensor {
	t.notNil("grad")
	if t.hist == nil || t.hist.leafGrad == nil {
		return nil
	}
	t.hist.enter()
	t.hist.mu.Lock()
	defer t.hist.mu.Unlock()
	t.hist.touch(true)
	t.hist.fill()
	t.hist.mine = false
	return t.hist.grad
}

// BorrowGrad calls f with the gradient of a leaf, if it has one, and reports that.
// f must not keep it: unlike [Tensor.Grad] this leaves the memory to the leaf, which
// gives it back at once when the gradient is forgotten. Optimizers read gradients
// this way.
func BorrowGrad(t *Tensor, f func(g *Tensor)) bool {
	t.notNil("borrowgrad")
	if f == nil {
		array.Failf("borrowgrad", "f", "is nil")
	}
	return lend(t, func(h *history) *Tensor { h.fill(); return h.grad }, f)
}

// lend calls f with what a leaf keeps, which read finds under the lock, if that is not nil,
// and reports that. Until f returns nothing gives its memory back.
func lend[G any](t *Tensor, read func(h *history) *G, f func(g *G)) bool {
	h := t.hist
	if h == nil || h.leafGrad == nil {
		return false
	}
	h.enter()
	g := func() *G {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.touch(true)
		g := read(h)
		h.lent++
		return g
	}()
	defer func() {
		h.mu.Lock()
		h.lent--
		h.mu.Unlock()
	}()
	if g == nil {
		return false
	}
	f(g)
	return true
}

// SetGrad replaces the gradient of a leaf by g, of its shape and type; nil forgets it, as before
// the first backward pass, and gives its memory back. It panics with *[Error] if t is not a leaf,
// or shape or type differ.
func (t *Tensor) SetGrad(g *Tensor) {
	t.notNil("setgrad")
	if g == nil && t.hist != nil && t.hist.frozen.Load() {
		return
	}
	n := t.node()
	if n == nil || n.leaf == nil {
		array.Failf("setgrad", "", "the tensor is not a leaf that requires a gradient: only those keep one")
	}
	if g != nil && (g.v.DType != t.v.DType || !array.Equal(g.v.Shape, t.v.Shape)) {
		array.Failf("setgrad", "grad", "is %s, the tensor %s", array.TypeString(g.v.DType, g.v.Shape), array.TypeString(t.v.DType, t.v.Shape))
	}
	if g != nil {
		g.check("setgrad")
	}
	h := t.hist
	h.enter()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.touch(false)
	if h.mine && h.lent == 0 {
		free(h.grad.v.Store)
	}
	if h.rows != nil && h.lent == 0 {
		h.rows.free()
	}
	h.grad, h.mine, h.rows = g, false, nil
}

// Detach returns t without its history, sharing its memory: a view that no gradient flows
// through. What is computed from it and from tensors that need gradients is recorded as always,
// and a leaf can be made of it with [Tensor.RequireGrad].
func (t *Tensor) Detach() *Tensor {
	t.check("detach")
	return &Tensor{v: t.ungraded(), run: t.run, view: true}
}

// NoGrad returns t without its history.
//
// Deprecated: Use [Tensor.Detach], or [WithoutGrad] around a computation. The command go fix
// replaces calls of NoGrad.
//
//go:fix inline
func (t *Tensor) NoGrad() *Tensor { return t.Detach() }

// record puts an operation on the tape if an operand needs a gradient; outs are its
// results.
func record(p *planned, ops []operand, outs ...*Tensor) {
	one := (*recorded)(nil)
	for i := range ops {
		t := ops[i].t
		if t == nil || t.hist == nil || !t.v.DType.Differentiable() {
			continue
		}
		if n := t.node(); n != nil {
			if one == nil {
				one = new(recorded)
				one.node.in = append(one.in[:0], make([]*gradNode, len(ops))...)
			}
			one.node.in[i] = n
		}
	}
	if one == nil || !p.float {
		return
	}
	n := &one.node
	v := p.vjpFor(n.in)
	if v == nil {
		return
	}
	n.seq, n.p, n.vjp, n.rare = tapeSeq.Add(1), p, v, ordinary
	n.nums = one.nums[:0]
	if v.saves {
		n.saved = make([]savedValue, 0, len(v.use)-len(outs))
	}
	k := 0
	for i := range ops {
		t := ops[i].t
		if t == nil {
			n.nums = ops[i].numbers(n.nums)
			continue
		}
		n.saveIf(v.use[k], savedValue{v: t.v, from: n.in[i], arg: i})
		k++
	}
	for i, out := range outs {
		n.saveIf(v.use[k+i], savedValue{v: out.v, result: true, arg: i})
	}
	if len(outs) == 1 {
		outs[0].setNode(n)
		return
	}
	n.rare = &rare{results: make([]*gradNode, len(outs))}
	for i, out := range outs {
		if t := p.outs[i]; t.DType.Differentiable() {
			n.results[i] = &gradNode{seq: tapeSeq.Add(1), in: []*gradNode{n}, rare: &rare{name: p.def.Name, dtype: t.DType, shape: t.Shape, which: i, part: true}}
			out.setNode(n.results[i])
		}
	}
}

// recorded is a node with what most have in one piece of memory.
type recorded struct {
	node gradNode
	in   [2]*gradNode
	nums [1]exec.Number
}

func (n *gradNode) save(s savedValue) {
	s.v.Store.Save()
	s.version = s.v.Store.Version()
	n.saved = append(n.saved, s)
}

// saveIf saves a value that is used, and leaves a gap for another, unless none is.
func (n *gradNode) saveIf(used bool, s savedValue) {
	switch {
	case used:
		n.save(s)
	case n.vjp.saves:
		n.saved = append(n.saved, savedValue{})
	}
}

// setNode makes n the producer of the value of t, which is no view.
func (t *Tensor) setNode(n *gradNode) {
	if t.hist == nil {
		t.hist = &history{}
	}
	t.hist.node = n
	t.hist.frozen.Store(false) // a leaf that was written to with a history is none any more
}

// GradOpts are the options of [Grad] and [BackwardWith].
type GradOpts struct {
	// Retain keeps the saved values, so that the same tape can be walked again.
	Retain bool
	// Create records the gradient computation itself, for second derivatives; it
	// implies Retain.
	Create bool
	// AllowUnused makes Grad return nil for an input that no output depends on,
	// instead of panicking.
	AllowUnused bool
	// Seeds are the gradients of the outputs; nil means 1, for outputs of one
	// element.
	Seeds []*Tensor
}

func (o *GradOpts) walk() walkOpts {
	return walkOpts{retain: o.Retain, create: o.Create, allowUnused: o.AllowUnused, seeds: o.Seeds}
}

// Backward computes the gradients of t, which has one element, and adds them to
// the Grad of each leaf it was computed from.
func (t *Tensor) Backward() { BackwardWith([]*Tensor{t}, GradOpts{}) }

// BackwardWith computes the gradients of several outputs and adds them to the
// Grad of each leaf.
func BackwardWith(outputs []*Tensor, opts ...GradOpts) {
	o := array.Options("backward", opts)
	walk("backward", outputs, nil, o.walk())
}

// Grad returns the gradients of the outputs with respect to the inputs, without
// touching the Grad of leaves.
func Grad(output *Tensor, inputs []*Tensor, opts ...GradOpts) []*Tensor {
	return GradAll([]*Tensor{output}, inputs, opts...)
}

// GradAll is [Grad] for several outputs, whose gradients are added up: one tensor for each
// input, of its shape and type. Leaves keep theirs as they are.
func GradAll(outputs, inputs []*Tensor, opts ...GradOpts) []*Tensor {
	o := array.Options("grad", opts)
	if inputs == nil {
		inputs = []*Tensor{}
	}
	return walk("grad", outputs, inputs, o.walk())
}
