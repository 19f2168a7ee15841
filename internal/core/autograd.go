package core

import (
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/lock"
	"weft/internal/op"
)

// A History says where a tensor's value comes from, as far as gradients care.
type History struct {
	Node   *GradNode   // nil: nothing upstream needs a gradient
	frozen atomic.Bool // RequireGrad(false) of a leaf: as if it were none

	*taken    // of a view, nil of all else
	*LeafGrad // of what is a leaf or was one
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
	by    atomic.Pointer[Planned]
	seen  atomic.Pointer[GradNode]
	long  atomic.Pointer[History] // of At: by a window and a reshape
}

// A LeafGrad is the gradient of a leaf.
type LeafGrad struct {
	calls lock.Lock // of calls of compiled functions that change it

	Mu   sync.Mutex
	Grad *Tensor
	Mine bool // nobody else has seen grad: its memory can be given back with it
	lent int  // calls of BorrowGrad and BorrowRows that have not returned: the memory must stay

	Sparse atomic.Bool // SparseGrad: keep what comes as rows as rows
	Rows   *RowGrad    // instead of grad
}

// A GradNode is one operation on the tape.
type GradNode struct {
	Seq   uint64
	In    []*GradNode // by operand; nil where no gradient is needed
	p     *Planned
	vjp   *vjp // nil: found when needed
	nums  []exec.Number
	saved []SavedValue // by input of the VJP's graph, but the gradient itself

	*Rare // ordinary unless more is to be said

	mu   sync.Mutex // of saved and done
	done bool       // saved values were released
}

// Rare is what few nodes have, so that the others are small.
type Rare struct {
	Leaf *History // set in the node of a leaf

	// Of what has no plan: that knows it otherwise.
	Name  string
	DType array.DType
	Shape []int

	// An operation with several results has a joint node, which takes the gradients of all
	// results, and a part for each result, which hands its gradient on to the joint node.
	results []*GradNode // of a joint node: its parts, nil for a result that is not a float
	which   int         // of a part: the number of its result
	part    bool        // the node is a part

	// Instead of a plan: a function, or that the second operand was written into a place
	// in the first.
	Back func(saved []SavedValue, dy *Tensor, create bool) []*Tensor
	put  *place
}

// ordinary is the Rare of most nodes, which have nothing rare. It is never written to.
var ordinary = &Rare{}

// opName is the name of the operation.
func (n *GradNode) opName() string {
	if n.p != nil {
		return n.p.def.Name
	}
	return n.Name
}

// TypeOf is the type of the result, of several that of the first.
func (n *GradNode) TypeOf() (array.DType, []int) {
	if n.p != nil {
		return n.p.DType, n.p.Shape
	}
	return n.DType, n.Shape
}

// sizes is the shape of the result.
func (n *GradNode) sizes() []int {
	_, shape := n.TypeOf()
	return shape
}

// window reports that n only shows a part of its operand, or all of it in another
// shape.
func (n *GradNode) window() bool { return n.p != nil && n.p.def.Class == op.Move }

// A place is a window on a tensor.
type place struct {
	chain []*Planned
	of    array.View // without memory
}

// A SavedValue is a tensor's value that a gradient needs.
type SavedValue struct {
	V       array.View
	version uint32
	From    *GradNode // its history, for gradients of gradients
	Result  bool      // of the operation itself, not an argument
	Arg     int
}

var TapeSeq atomic.Uint64

// Node returns the producer of t's value, nil if no gradient flows through t.
func (t *Tensor) Node() *GradNode {
	h := t.hist
	if h == nil {
		return nil
	}
	if h.taken == nil {
		if h.frozen.Load() {
			return nil
		}
		return h.Node
	}
	if h.of.Node() == nil {
		return nil
	}
	w := h.whole()
	from, known := w.of.Node(), w.asked()
	// Readers that make the node of a view at the same time agree on one.
	for {
		old := known.seen.Load()
		if old != nil && old.In[0] == from {
			return old
		}
		if n := newNode(w.planned(), []*GradNode{from}); known.seen.CompareAndSwap(old, n) {
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
	part := &Tensor{v: v.Window(offset, w.Count, v.Strides), run: h.of.run, view: true, hist: &History{taken: cut}}
	known.long.CompareAndSwap(nil, &History{taken: &taken{of: part, move: op.Reshape, list: v.Shape[len(h.list):]}})
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
func (h *taken) planned() *Planned {
	known := h.asked()
	p := known.by.Load()
	if p == nil {
		p = Lookup(h.move, known.attrs, []Operand{{T: h.of}})
		known.by.Store(p)
	}
	return p
}

// root returns the tensor at the end of t's chain of views, which is not a view itself, and the
// windows that lead from it to t.
func (t *Tensor) root() (*Tensor, []*Planned) {
	if t.hist == nil || t.hist.taken == nil {
		return t, nil
	}
	h := t.hist.whole()
	b, chain := h.of.root()
	return b, append(chain, h.planned())
}

// newNode is the tape's entry for an operation that saves nothing.
func newNode(p *Planned, in []*GradNode) *GradNode {
	return &GradNode{Seq: TapeSeq.Add(1), In: in, p: p, Rare: ordinary}
}

// RequireGrad does what weft.Tensor.RequireGrad says.
func (t *Tensor) RequireGrad(on ...bool) *Tensor {
	t.NotNil("requiregrad")
	switch {
	case len(on) > 1:
		array.Failf("requiregrad", "on", "has %d values, want one at most", len(on))
	case len(on) == 1 && !on[0]:
		if n := t.Node(); n != nil && n.Leaf == nil {
			array.Failf("requiregrad", "", "the tensor was computed by %s: only that of a leaf can be ended (Detach)", n.opName())
		}
		t.Freeze(true)
		return t
	}
	if !t.v.DType.Differentiable() {
		array.Failf("requiregrad", "", "only floats have gradients, not %s", t.v.DType)
	}
	if t.hist != nil && t.hist.frozen.Swap(false) {
		return t
	}
	if n := t.Node(); n != nil {
		if n.Leaf == nil {
			array.Failf("requiregrad", "", "the tensor was computed by %s: only a leaf can be marked (Detach makes one)", n.opName())
		}
		return t
	}
	h := &History{LeafGrad: &LeafGrad{}}
	h.Node = &GradNode{Seq: TapeSeq.Add(1), Rare: &Rare{Name: "leaf", DType: t.v.DType, Shape: t.v.Shape, Leaf: h}}
	t.hist = h
	return t
}

// Freeze makes a leaf a tensor like any other, whose gradient is forgotten and which gets
// none, or ends that. Tensors that are not leaves stay as they are.
func (t *Tensor) Freeze(on bool) {
	h := t.hist
	if h == nil || h.Node == nil || h.Node.Leaf != h {
		return
	}
	if on {
		t.SetGrad(nil)
	}
	h.frozen.Store(on)
}

// CopyLeaf returns a copy of t outside any scope that is marked as t is: a leaf, with a
// gradient kept as rows, frozen; it has no gradient.
func CopyLeaf(t *Tensor) *Tensor {
	t.Check("copyleaf")
	c := (&Tensor{v: t.v}).Clone()
	if h := t.hist; h != nil && h.Node != nil && h.Node.Leaf == h {
		c.RequireGrad()
		c.hist.Sparse.Store(h.Sparse.Load())
		c.hist.frozen.Store(h.frozen.Load())
	}
	return c
}

// RequiresGrad does what weft.Tensor.RequiresGrad says.
func (t *Tensor) RequiresGrad() bool {
	t.NotNil("requiresgrad")
	return t.Node() != nil
}

// Lend calls f with what a leaf keeps, which read finds under the lock, if that is not nil,
// and reports that. Until f returns nothing gives its memory back.
func Lend[G any](t *Tensor, read func(h *History) *G, f func(g *G)) bool {
	h := t.hist
	if h == nil || h.LeafGrad == nil {
		return false
	}
	h.Enter()
	g := func() *G {
		h.Mu.Lock()
		defer h.Mu.Unlock()
		h.Touch(true)
		g := read(h)
		h.lent++
		return g
	}()
	defer func() {
		h.Mu.Lock()
		h.lent--
		h.Mu.Unlock()
	}()
	if g == nil {
		return false
	}
	f(g)
	return true
}

// SetGrad does what weft.Tensor.SetGrad says.
func (t *Tensor) SetGrad(g *Tensor) {
	t.NotNil("setgrad")
	if g == nil && t.hist != nil && t.hist.frozen.Load() {
		return
	}
	n := t.Node()
	if n == nil || n.Leaf == nil {
		array.Failf("setgrad", "", "the tensor is not a leaf that requires a gradient: only those keep one")
	}
	if g != nil && (g.v.DType != t.v.DType || !array.Equal(g.v.Shape, t.v.Shape)) {
		array.Failf("setgrad", "grad", "is %s, the tensor %s", array.TypeString(g.v.DType, g.v.Shape), array.TypeString(t.v.DType, t.v.Shape))
	}
	if g != nil {
		g.Check("setgrad")
	}
	h := t.hist
	h.Enter()
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Touch(false)
	if h.Mine && h.lent == 0 {
		Free(h.Grad.v.Store)
	}
	if h.Rows != nil && h.lent == 0 {
		h.Rows.free()
	}
	h.Grad, h.Mine, h.Rows = g, false, nil
}

// Detach does what weft.Tensor.Detach says.
func (t *Tensor) Detach() *Tensor {
	t.Check("detach")
	return &Tensor{v: t.Ungraded(), run: t.run, view: true}
}

// record puts an operation on the tape if an operand needs a gradient; outs are its
// results.
func record(p *Planned, ops []Operand, outs ...*Tensor) {
	one := (*recorded)(nil)
	for i := range ops {
		t := ops[i].T
		if t == nil || t.hist == nil || !t.v.DType.Differentiable() {
			continue
		}
		if n := t.Node(); n != nil {
			if one == nil {
				one = new(recorded)
				one.node.In = append(one.in[:0], make([]*GradNode, len(ops))...)
			}
			one.node.In[i] = n
		}
	}
	if one == nil || !p.float {
		return
	}
	n := &one.node
	v := p.vjpFor(n.In)
	if v == nil {
		return
	}
	n.Seq, n.p, n.vjp, n.Rare = TapeSeq.Add(1), p, v, ordinary
	n.nums = one.nums[:0]
	if v.saves {
		n.saved = make([]SavedValue, 0, len(v.use)-len(outs))
	}
	k := 0
	for i := range ops {
		t := ops[i].T
		if t == nil {
			n.nums = ops[i].numbers(n.nums)
			continue
		}
		n.saveIf(v.use[k], SavedValue{V: t.v, From: n.In[i], Arg: i})
		k++
	}
	for i, out := range outs {
		n.saveIf(v.use[k+i], SavedValue{V: out.v, Result: true, Arg: i})
	}
	if len(outs) == 1 {
		outs[0].SetNode(n)
		return
	}
	n.Rare = &Rare{results: make([]*GradNode, len(outs))}
	for i, out := range outs {
		if t := p.Outs[i]; t.DType.Differentiable() {
			n.results[i] = &GradNode{Seq: TapeSeq.Add(1), In: []*GradNode{n}, Rare: &Rare{Name: p.def.Name, DType: t.DType, Shape: t.Shape, which: i, part: true}}
			out.SetNode(n.results[i])
		}
	}
}

// recorded is a node with what most have in one piece of memory.
type recorded struct {
	node GradNode
	in   [2]*GradNode
	nums [1]exec.Number
}

// Save keeps a value for the gradient and counts that its memory is needed as it is.
func (n *GradNode) Save(s SavedValue) {
	s.V.Store.Save()
	s.version = s.V.Store.Version()
	n.saved = append(n.saved, s)
}

// saveIf saves a value that is used, and leaves a gap for another, unless none is.
func (n *GradNode) saveIf(used bool, s SavedValue) {
	switch {
	case used:
		n.Save(s)
	case n.vjp.saves:
		n.saved = append(n.saved, SavedValue{})
	}
}

// SetNode makes n the producer of the value of t. Requires that t is not a view.
func (t *Tensor) SetNode(n *GradNode) {
	if t.hist == nil {
		t.hist = &History{}
	}
	t.hist.Node = n
	t.hist.frozen.Store(false) // a leaf that was written to with a history is none any more
}
