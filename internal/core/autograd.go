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

// History is a tensor's place on the tape: the node that computed its value.
type History struct {
	Node   *GradNode   // nil: nothing upstream needs a gradient
	frozen atomic.Bool // RequireGrad(false): the leaf is treated as if it needed no gradient

	*viewOrigin // nil unless the tensor is a view
	*LeafGrad   // set if the tensor is or was a leaf
}

// viewOrigin is the tensor that a view was taken of, itself possibly a view, and the view op. A
// write through either tensor thus changes the history of both. The view's node is the view op on
// the base's current node. Most views never need a node, so the details are made on demand.
type viewOrigin struct {
	base    *Tensor
	viewOp  *op.Def // nil of At: its ops are only made where a gradient flows
	list    []int   // the view op's attributes: see attrsOf; of At the indices
	buf     [2]int  // memory of a short list
	details atomic.Pointer[viewDetails]
}

// viewDetails is what gradients need of a view.
type viewDetails struct {
	attrs    ir.Attrs
	plan     atomic.Pointer[Planned]
	node     atomic.Pointer[GradNode]
	resolved atomic.Pointer[History] // of At: a Slice, then a Reshape
}

// LeafGrad is the gradient of a leaf.
type LeafGrad struct {
	calls lock.Lock // of calls of compiled functions that change it

	Mu   sync.Mutex
	Grad *Tensor
	Mine bool // nobody else has seen Grad: its memory can be given back with it
	lent int  // calls of BorrowGrad and BorrowRows that have not returned: the memory must stay

	Sparse atomic.Bool // SparseGrad: gradients that come as rows stay rows
	Rows   *RowGrad    // instead of Grad
}

// GradNode is one operation on the tape.
type GradNode struct {
	Seq   uint64
	In    []*GradNode // the nodes of the operands; nil where no gradient is needed
	p     *Planned
	vjp   *vjp // nil: found when needed
	nums  []exec.Number
	saved []SavedValue // the inputs of the VJP's graph, without the gradients

	*NodeInfo // noInfo for most nodes

	mu   sync.Mutex // of saved and done
	done bool       // saved values were released
}

// NodeInfo holds fields that few nodes need. They are apart from GradNode to keep it small.
type NodeInfo struct {
	Leaf *History // set in the node of a leaf

	hooks  atomic.Pointer[hooks] // nil: none
	region *regionNode           // set where the saved values are computed again
	site   *site                 // where the operation was called, if that was noted

	// Of a node without a plan, which would know these.
	Name  string
	DType array.DType
	Shape []int

	// An operation with several results has a joint node, which takes the gradients of all
	// results, and a part for each result, which hands its gradient on to the joint node.
	results []*GradNode // of a joint node: its parts, nil for a result that is not a float
	which   int         // of a part: the index of its result
	part    bool        // the node is a part

	// Instead of a plan: a Go function, or the view of the first operand that the second one
	// was written into.
	Back func(saved []SavedValue, dys []*Tensor, create bool) []*Tensor // dys: by result, nil for one that has none
	put  *viewPath
}

// noInfo is the NodeInfo of most nodes. It is never written to.
var noInfo = &NodeInfo{}

// opName returns the name of the operation.
func (n *GradNode) opName() string {
	if n.p != nil {
		return n.p.def.Name
	}
	return n.Name
}

// TypeOf returns the element type and shape of the first result.
func (n *GradNode) TypeOf() (array.DType, []int) {
	if n.p != nil {
		return n.p.DType, n.p.Shape
	}
	return n.DType, n.Shape
}

// sizes returns the shape of the first result.
func (n *GradNode) sizes() []int {
	_, shape := n.TypeOf()
	return shape
}

// isViewOp reports whether n is a view op, whose result shares its operand's memory.
func (n *GradNode) isViewOp() bool {
	return n.p != nil && n.p.def.Class == op.View && n.p.def != op.Own
}

// viewPath is the view ops that lead from a tensor to a view of it.
type viewPath struct {
	chain []*Planned
	base  array.View // the tensor's type and layout, without memory
}

// SavedValue is a tensor's value that a gradient needs.
type SavedValue struct {
	V       array.View
	version uint32
	From    *GradNode // its history, for gradients of gradients
	Result  bool      // of the operation itself, not an argument
	Arg     int       // index of the argument or result
}

// TapeSeq is the number of the newest node: a node has a greater Seq than its operands.
var TapeSeq atomic.Uint64

// Node returns the producer of t's value, nil if no gradient flows through t.
func (t *Tensor) Node() *GradNode {
	h := t.hist
	if h == nil {
		return nil
	}
	if h.viewOrigin == nil {
		if h.frozen.Load() {
			return nil
		}
		return h.Node
	}
	if h.base.Node() == nil {
		return nil
	}
	w := h.resolve()
	from, known := w.base.Node(), w.loadDetails()
	// Goroutines that make the node of a view at the same time agree on one node.
	for {
		old := known.node.Load()
		if old != nil && old.In[0] == from {
			return old
		}
		if n := newNode(w.planned(), []*GradNode{from}); known.node.CompareAndSwap(old, n) {
			return n
		}
	}
}

// resolve returns h with its view op. For At these are two: a Slice, whose indexed axes have size
// 1, and a Reshape without these axes.
func (h *viewOrigin) resolve() *viewOrigin {
	if h.viewOp != nil {
		return h
	}
	known := h.loadDetails()
	if long := known.resolved.Load(); long != nil {
		return long.viewOrigin
	}
	v := &h.base.v
	w, offset := op.AllOf(v.Shape), 0
	for i, k := range h.list {
		w.Start[i], w.Count[i] = k, 1
		offset += k * v.Strides[i]
	}
	cut := &viewOrigin{base: h.base, viewOp: op.Slice}
	cut.details.Store(&viewDetails{attrs: w})
	part := &Tensor{v: v.Window(offset, w.Count, v.Strides), run: h.base.run, view: true, hist: &History{viewOrigin: cut}}
	known.resolved.CompareAndSwap(nil, &History{viewOrigin: &viewOrigin{base: part, viewOp: op.Reshape, list: v.Shape[len(h.list):]}})
	return known.resolved.Load().viewOrigin
}

// loadDetails returns the details of a view, which it makes the first time.
func (h *viewOrigin) loadDetails() *viewDetails {
	known := h.details.Load()
	if known == nil {
		known = &viewDetails{}
		if h.viewOp != nil {
			known.attrs = attrsOf(h.viewOp, h.list)
		}
		if !h.details.CompareAndSwap(nil, known) {
			known = h.details.Load()
		}
	}
	return known
}

// planned returns the view op as a planned operation. It is made on demand: each view has
// attributes of its own, and plans of all views would fill the cache.
func (h *viewOrigin) planned() *Planned {
	known := h.loadDetails()
	p := known.plan.Load()
	if p == nil {
		p = Lookup(h.viewOp, known.attrs, []Operand{{T: h.base}})
		known.plan.Store(p)
	}
	return p
}

// root returns the tensor at the start of t's chain of views, which is not a view itself, and the
// view ops that lead from it to t.
func (t *Tensor) root() (*Tensor, []*Planned) {
	if t.hist == nil || t.hist.viewOrigin == nil {
		return t, nil
	}
	h := t.hist.resolve()
	b, chain := h.base.root()
	return b, append(chain, h.planned())
}

// newNode returns a node for an operation that saves nothing.
func newNode(p *Planned, in []*GradNode) *GradNode {
	return &GradNode{Seq: TapeSeq.Add(1), In: in, p: p, NodeInfo: noInfo}
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
	h.Node = &GradNode{Seq: TapeSeq.Add(1), NodeInfo: &NodeInfo{Name: "leaf", DType: t.v.DType, Shape: t.v.Shape, Leaf: h}}
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
	return CopyLeafTo(t, (&Tensor{v: t.v}).Clone())
}

// CopyLeafTo is [CopyLeaf] with c, or a copy of it if c has the memory of t, as the copy of t's elements.
func CopyLeafTo(t, c *Tensor) *Tensor {
	if c = (&Tensor{v: c.v}); c.v.Store == t.v.Store {
		c = c.Clone()
	}
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
		if a, b := t.v.Store.Device, g.v.Store.Device; a != b {
			failDevices("setgrad", a, b)
		}
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
	return &Tensor{v: t.DetachedView(), run: t.run, view: true}
}

// record puts an operation with the results outs on the tape if an operand needs a gradient.
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
	n.Seq, n.p, n.vjp, n.NodeInfo = TapeSeq.Add(1), p, v, noInfo
	if len(outs) > 1 {
		n.NodeInfo = &NodeInfo{results: make([]*GradNode, len(outs))}
	}
	if array.Scoped.On() {
		n.NoteSite()
		if r := regionHere(); r != nil {
			r.read(p.def.Name, ops)
		}
	}
	n.nums = one.nums[:0]
	if v.saves {
		n.saved = make([]SavedValue, 0, len(v.used)-len(outs))
	}
	k := 0
	for i := range ops {
		t := ops[i].T
		if t == nil {
			n.nums = ops[i].numbers(n.nums)
			continue
		}
		n.saveIf(v.used[k], SavedValue{V: t.v, From: n.In[i], Arg: i})
		k++
	}
	for i, out := range outs {
		n.saveIf(v.used[k+i], SavedValue{V: out.v, Result: true, Arg: i})
	}
	if len(outs) == 1 {
		outs[0].SetNode(n)
		return
	}
	for i, out := range outs {
		if t := p.Outs[i]; t.DType.Differentiable() {
			out.SetNode(n.newPart(i, p.def.Name, t))
		}
	}
}

// recorded is a node together with memory for the few operands that most nodes have: one
// allocation instead of three.
type recorded struct {
	node GradNode
	in   [2]*GradNode
	nums [1]exec.Number
}

// own returns n's NodeInfo, which it makes if n shares [noInfo].
func (n *GradNode) own() *NodeInfo {
	if n.NodeInfo == noInfo {
		n.NodeInfo = &NodeInfo{}
	}
	return n.NodeInfo
}

// Save keeps a value for the gradient, and notes in its storage that the elements must not change. In a
// function of Recompute the value is computed again instead.
func (n *GradNode) Save(s SavedValue) {
	if r := regionHere(); r != nil {
		r.save(n, s)
		return
	}
	n.keep(s)
}

func (n *GradNode) keep(s SavedValue) {
	s.V.Store.Save()
	s.version = s.V.Store.Version()
	n.saved = append(n.saved, s)
}

// newPart makes the part of a joint node for result i, of type t.
func (n *GradNode) newPart(i int, name string, t ir.Type) *GradNode {
	n.results[i] = &GradNode{Seq: TapeSeq.Add(1), In: []*GradNode{n}, NodeInfo: &NodeInfo{Name: name, DType: t.DType, Shape: t.Shape, which: i, part: true}}
	return n.results[i]
}

// Parts makes n the joint node of results of these types and returns their nodes, nil for a result that
// has no gradient.
func (n *GradNode) Parts(types []ir.Type) []*GradNode {
	n.results = make([]*GradNode, len(types))
	for i, t := range types {
		if t.DType.Differentiable() {
			n.newPart(i, n.Name, t)
		}
	}
	return n.results
}

// saveIf saves a value that the VJP uses. For another value it leaves a gap, unless the VJP uses no
// value.
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
	t.hist.frozen.Store(false) // a leaf that a recorded value was written into is not a leaf any more
}
