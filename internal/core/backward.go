package core

import (
	"container/heap"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// gradPass is one backward pass: a walk over the tape from outputs to leaves.
type gradPass struct {
	create, retain bool
	detect         bool                // looks for NaN
	rows           int                 // length of the first axis of all gradients; 0: they have no such axis
	leaves         bool                // gradients are added to leaves; else they are returned for inputs
	want           map[*GradNode][]int // the indices of the inputs that are this node
	grads          map[*GradNode]*partialGrad
	several        map[*GradNode][]partialGrad // of nodes with several results, by result
	todo           tape                        // the nodes in grads and several

	memory gradMemory
	one    [1]*Tensor     // memory of single
	spare  []*partialGrad // to be used again
}

// single returns a list of one gradient, valid until the next call.
func (p *gradPass) single(dy *Tensor) []*Tensor {
	p.one[0] = dy
	return p.one[:]
}

// tape is a heap of nodes; the newest comes first.
type tape []*GradNode

func (h tape) Len() int { return len(h) }

func (h tape) Less(i, j int) bool { return h[i].Seq > h[j].Seq }

func (h tape) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *tape) Push(x any) { *h = append(*h, x.(*GradNode)) }

func (h *tape) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// WalkOpts are the options of a walk over the tape: see [GradOpts].
type WalkOpts struct {
	Retain, Create, AllowUnused bool
	Seeds                       []*Tensor
}

// Walk runs a backward pass from outputs to inputs, or to all leaves if inputs is nil, and returns
// the gradients of inputs. name is in errors.
func Walk(name string, outputs, inputs []*Tensor, o WalkOpts) []*Tensor {
	return WalkRows(name, outputs, inputs, o, 0)
}

// WalkRows is Walk for rows gradients at once, which are the first axis of seeds and results. With
// 0 rows it is Walk.
func WalkRows(name string, outputs, inputs []*Tensor, o WalkOpts, rows int) (res []*Tensor) {
	if array.Scoped.On() && castHere() != array.Invalid {
		withoutCast(func() { res = WalkRows(name, outputs, inputs, o, rows) })
		return res
	}
	if o.Create && !GradOn() {
		Recording(true, func() { res = WalkRows(name, outputs, inputs, o, rows) })
		return res
	}
	p := &gradPass{create: o.Create, detect: DetectsAnomaly(), retain: o.Retain || o.Create, rows: rows, leaves: inputs == nil, want: map[*GradNode][]int{}, grads: map[*GradNode]*partialGrad{}}
	for i, t := range outputs {
		t.Check(name)
		n := t.Node()
		if n == nil {
			array.Failf(name, "", "output %d does not depend on a tensor that requires a gradient: mark leaves with RequireGrad before computing it, outside WithoutGrad and without Detach on the way; results of a compiled function have gradients inside it alone: call Grad there", i)
		}
		if rows > 0 {
			p.addGrad(n, partialGrad{t: p.checkSeed(name, i, t.seedRows(name, rows, o.Seeds[i]))})
			continue
		}
		p.addGrad(n, partialGrad{t: p.checkSeed(name, i, t.seed(name, i, o.Seeds))})
	}
	for i, t := range inputs {
		t.Check(name)
		n := t.Node()
		if n == nil {
			array.Failf(name, "inputs", "number %d does not require a gradient: mark it with RequireGrad before computing the outputs", i)
		}
		p.want[n] = append(p.want[n], i)
	}
	res = make([]*Tensor, len(inputs))
	for len(p.todo) > 0 {
		n := heap.Pop(&p.todo).(*GradNode)
		if n.results != nil {
			if inputs == nil || p.mayReachWanted(n) {
				p.stepJoint(n)
			}
			continue
		}
		if g := p.grads[n]; g.unset != nil {
			g.zeroUnset()
		} else if p.byRows(n, g) {
			delete(p.grads, n)
			n.Leaf.addRows(p, n, g)
			n.accumulated()
			continue
		}
		p.scatter(n, p.grads[n])
		g := p.grads[n]
		dy := g.sum(n)
		delete(p.grads, n)
		*g = partialGrad{}
		p.spare = append(p.spare, g)
		p.checkSum(n, "the sum of gradients", dy.t)
		if n.hooks.Load() != nil && (inputs == nil || p.leadsToWanted(n, map[*GradNode]bool{})) {
			dy = p.runHooks(n, dy)
			p.checkSum(n, "a hook", dy.t)
		}
		if dy.lent && !dy.ours && p.want[n] != nil {
			dy.t, dy.lent, dy.ours = dy.t.Clone(), false, true
		}
		for _, i := range p.want[n] {
			res[i] = dy.t
			if !o.Create {
				// A result is an ordinary tensor: computing with it is recorded.
				res[i] = &Tensor{v: dy.t.v, run: outputs[0].run}
				if !GradOn() {
					res[i].v = stoppedView(dy.t.v)
				}
			}
			dy.ours = false
		}
		switch {
		case n.Leaf != nil:
			if inputs == nil {
				n.Leaf.accumulate(dy, o.Create)
				n.accumulated()
			}
		case n.part:
			p.takePart(n, dy)
		case inputs == nil || p.mayReachWanted(n):
			p.step(n, dy)
		}
	}
	if !o.AllowUnused {
		for i, g := range res {
			if g == nil {
				array.Failf(name, "inputs", "number %d was not used to compute the outputs (GradOpts{AllowUnused: true} returns nil instead)", i)
			}
		}
	}
	return res
}

// seed returns the gradient that the pass begins with at output i, which is t: seeds[i], or 1.
func (t *Tensor) seed(name string, i int, seeds []*Tensor) *Tensor {
	var seed *Tensor
	if i < len(seeds) {
		seed = seeds[i]
	}
	if seed == nil {
		if t.Size() != 1 {
			array.Failf(name, "", "output %d has shape %s, want one element: reduce it with Sum or Mean, or give its gradient as GradOpts.Seeds", i, array.ShapeString(t.v.Shape))
		}
		seed = t.ones()
	} else {
		seed.Check(name)
		if seed.v.DType != t.v.DType || !array.Equal(seed.v.Shape, t.v.Shape) {
			array.Failf(name, "seeds", "number %d is %s, its output %s", i, array.TypeString(seed.v.DType, seed.v.Shape), array.TypeString(t.v.DType, t.v.Shape))
		}
	}
	return t.passRun(seed)
}

// passRun returns a seed of t's gradient with t's scope and stream.
func (t *Tensor) passRun(seed *Tensor) *Tensor {
	if t.run != nil && t.run.Scope != nil {
		seed = t.run.Scope.Track(seed)
	}
	if s := t.run.stream(); s != nil {
		seed = s.Track(seed)
	}
	return seed
}

// mayReachWanted reports whether an input may lie upstream of n: nodes are older than the nodes
// computed from them.
func (p *gradPass) mayReachWanted(n *GradNode) bool {
	for w := range p.want {
		if w.Seq < n.Seq {
			return true
		}
	}
	return false
}

// step computes the gradients of n's operands from dy, the gradient of n.
func (p *gradPass) step(n *GradNode, dy partialGrad) {
	switch {
	case n.put != nil && p.rows > 0:
		p.stepPutRows(n, dy)
	case n.put != nil:
		p.stepPut(n, dy)
	case p.rows > 0:
		p.propagate(n, p.single(dy.t), false)
		dy.free()
	case n.isViewOp() && (p.addWindow(n, dy) || p.reshape(n, dy)):
	case n.p != nil && (n.p.def == op.IndexSelect || n.p.def == op.Gather):
		n.values(p.single(dy.t))
		g := p.gradOf(n.In[0])
		g.indexed = append(g.indexed, indexedGrad{n, dy})
		return // the saved places are needed until then
	default:
		if !p.propagate(n, p.single(dy.t), dy.ours) && n.Back == nil {
			dy.free()
		}
	}
	if !p.retain {
		n.release()
	}
}

// propagate computes the gradients of n's operands from dys, the gradients of its results, and
// adds them to the operands' gradients. ours says that dys has one gradient, which the pass made.
// propagate reports whether an operand's gradient now lies in that memory.
func (p *gradPass) propagate(n *GradNode, dys []*Tensor, ours bool) (passed bool) {
	plans := n.Back == nil && !p.create // a plan writes each result into new memory
	var gs []*Tensor
	if p.detect {
		gs = p.detecting(n, dys, ours)
	} else {
		gs = p.run(n, dys, ours)
	}
	if n.p != nil && n.p.def.Class == op.Control && plans && p.rows == 0 {
		p.addOrdered(n, gs)
	}
	for i, g := range gs {
		switch {
		case g == nil || n.In[i] == nil:
		case plans && g == dys[0]:
			passed = true
			p.addGrad(n.In[i], partialGrad{t: g, ours: ours, lent: !ours})
		default:
			p.addGrad(n.In[i], partialGrad{t: g, ours: plans})
		}
	}
	return passed
}

// run computes the gradients of n's operands.
func (p *gradPass) run(n *GradNode, dys []*Tensor, ours bool) []*Tensor {
	if p.rows > 0 {
		return n.runRows(p.rows, dys, p.create)
	}
	return n.run(&p.memory, dys, ours, p.create)
}

// addOrdered adds gradients of a loop or a branch to its operands' in the order of a loop of Go, as far as
// op.AddOrdered does. What it has added is nil in gs.
func (p *gradPass) addOrdered(n *GradNode, gs []*Tensor) {
	tr := TracingHere()
	if tr == nil {
		return
	}
	nodes, olds := make([]*ir.Node, len(gs)), make([]*ir.Node, len(gs))
	for i, g := range gs {
		if g == nil || n.In[i] == nil {
			continue
		}
		nodes[i] = tr.Value(&g.v)
		if old := p.grads[n.In[i]]; old != nil && old.t != nil && old.parts == nil {
			olds[i] = tr.Value(&old.t.v)
		}
	}
	for i, added := range op.AddOrdered(nodes, olds) {
		if nodes[i] == nil {
			continue
		}
		gs[i] = &Tensor{v: tr.Result(nodes[i]), run: gs[i].run}
		if added {
			old := p.grads[n.In[i]]
			old.t, old.ours, old.lent, gs[i] = gs[i], true, false, nil
		}
	}
}

// takePart keeps the gradient of one result until the other results' gradients are complete: the
// joint node is older than all its parts.
func (p *gradPass) takePart(n *GradNode, dy partialGrad) {
	of := n.In[0]
	list := p.several[of]
	if list == nil {
		list = make([]partialGrad, len(of.results))
		if p.several == nil {
			p.several = map[*GradNode][]partialGrad{}
		}
		p.several[of] = list
		heap.Push(&p.todo, of)
	}
	list[n.which] = dy
}

// stepJoint is step for a node with several results. Results that nothing depends on have a
// gradient of zeros, and of a Go function none.
func (p *gradPass) stepJoint(n *GradNode) {
	list := p.several[n]
	delete(p.several, n)
	dys, lacks := make([]*Tensor, len(list)), make([]bool, len(list))
	var r *Run
	for _, g := range list {
		if g.t != nil {
			r = g.t.run
		}
	}
	for i, m := range n.results {
		switch {
		case m == nil:
		case list[i].t != nil:
			dys[i] = list[i].t
		case n.Back != nil: // a Go function is told
		default:
			shape := m.Shape
			if p.rows > 0 {
				shape = slices.Insert(slices.Clone(shape), 0, p.rows)
			}
			z := Full("backward", Whole(0), n.p.Device, m.DType, shape)
			dys[i], lacks[i] = &Tensor{v: z.v, run: r}, true
		}
	}
	p.memory.lacks = lacks
	p.propagate(n, dys, false)
	p.memory.lacks = nil
	for _, g := range list {
		if g.t != nil && n.Back == nil { // a Go function may have passed it on
			g.free()
		}
	}
	if !p.retain {
		n.release()
	}
}

// stepPut is step for a tensor that a value was written into, through a view. The value's
// gradient is the view's part of dy. The former elements of the view get none.
func (p *gradPass) stepPut(n *GradNode, dy partialGrad) {
	base, value := n.In[0], n.In[1]
	if !p.create {
		dy.t = dy.t.WithoutHistory()
	}
	if value != nil {
		p.addGrad(value, partialGrad{t: dy.t.applyViews(n.put.chain).Clone(), ours: !p.create})
	}
	if base == nil {
		dy.free()
		return
	}
	w, ok := viewThrough(dy.t.v, n.put.chain)
	if !dy.ours || !ok || !w.Writable() {
		strides := array.RowMajor(n.Shape)
		if w, ok = viewThrough(array.View{DType: n.DType, Shape: n.Shape, Strides: strides}, n.put.chain); !ok {
			strides = n.put.base.Strides
		}
		t := &Tensor{v: laidOut(&dy.t.v, strides), run: dy.t.run}
		t.Track()
		if from := dy.t.Node(); p.create && from != nil {
			t.SetNode(putNode(from, nil, n.put))
		}
		dy.free()
		dy = partialGrad{t: t, ours: !p.create}
		w, _ = viewThrough(t.v, n.put.chain)
	}
	zero(w)
	p.addGrad(base, dy)
}

// Unrecorded returns a tensor for writing into v without a record on the tape.
func Unrecorded(v array.View) *Tensor { return &Tensor{v: v} }

// zero writes 0 into a view and records nothing.
func zero(v array.View) { Unrecorded(v).Assigned("assign", "x", Whole(0), (*Tensor).CopyFrom) }

// addInto adds x to v and records nothing.
func addInto(v, x array.View) {
	t := Unrecorded(v)
	t.AssignAs(op.Add, nil, "addassign", Operand{T: t}, Operand{T: Unrecorded(x)})
}

// plus returns a + b, recorded on the tape.
func plus(a, b *Tensor) *Tensor { return Apply(op.Add, nil, Operand{T: a}, Operand{T: b}) }

// applyViews returns t after a chain of view ops: a view, or a copy where strides do not allow one.
func (t *Tensor) applyViews(chain []*Planned) *Tensor {
	for _, p := range chain {
		t = Window(p.def, p.A, t)
	}
	return t
}

// viewThrough returns v after a chain of view ops; ok is false where strides do not allow a view.
func viewThrough(v array.View, chain []*Planned) (_ array.View, ok bool) {
	for _, p := range chain {
		if v, ok = viewOf(p.def, p.A, v); !ok {
			return v, false
		}
	}
	return v, true
}

// partialGrad is the sum of the gradients that a node has got so far.
type partialGrad struct {
	t    *Tensor
	ours bool // the pass made it, and nothing else has seen it
	lent bool // unless ours: it lies in the memory of another gradient, or of a seed

	unset []interval // the parts of t's memory, ascending, that were not written yet; they count as 0

	// With Create: gradients that were added to t's memory without a record, and through
	// which view ops.
	parts []*GradNode
	where [][]*Planned

	// Gradients of gathers from the node. They are scattered together, because each alone
	// would take an array of zeros.
	indexed []indexedGrad
}

// indexedGrad is the gradient dy of a node n that gathers elements of another node.
type indexedGrad struct {
	n  *GradNode
	dy partialGrad
}

// gradOf returns the partial gradient of n, which has no tensor yet if it is new.
func (p *gradPass) gradOf(n *GradNode) *partialGrad {
	g := p.grads[n]
	if g == nil {
		if k := len(p.spare) - 1; k >= 0 {
			g, p.spare = p.spare[k], p.spare[:k]
		} else {
			g = &partialGrad{}
		}
		p.grads[n] = g
		heap.Push(&p.todo, n)
	}
	return g
}

// interval is the elements [lo, hi) of a storage.
type interval struct{ lo, hi int }

// maxUnset is the maximum number of unset intervals of a gradient. With more, all are set to zero.
const maxUnset = 32

// setFirst writes 0 + dy into the window w of g's memory, as if zeros had been there: that makes
// +0 of -0. It does so only if w is one unset interval of memory, with axes in any order. Otherwise
// it does nothing and reports false.
func (g *partialGrad) setFirst(w, dy array.View) bool {
	if len(g.unset) == 0 || w.Size() == 0 || w.DType.Complex() || w.DType != g.t.v.DType || dy.DType != w.DType {
		return false
	}
	order, ok := dense(&w)
	if !ok {
		return false
	}
	for _, v := range [...]*array.View{&w, &dy} {
		v.Shape, v.Strides = permutedList(v.Shape, order), permutedList(v.Strides, order)
	}
	lo, hi := w.Offset, w.Offset+w.Size()
	i, _ := slices.BinarySearchFunc(g.unset, lo, func(r interval, lo int) int { return r.hi - lo - 1 })
	if i == len(g.unset) || lo < g.unset[i].lo || hi > g.unset[i].hi {
		return false
	}
	r := g.unset[i]
	rest := [...]interval{{r.lo, lo}, {hi, r.hi}}
	g.unset = slices.Replace(g.unset, i, i+1, slices.DeleteFunc(rest[:], func(r interval) bool { return r.lo == r.hi })...)
	ops := []Operand{Of("backward", &Tensor{v: dy}), Whole(0)}
	sum := Lookup(op.Add, nil, ops)
	func() {
		defer OpenWrite(&w).Done()
		sum.Compute(ops, unsafe.Slice(&w, 1))
	}()
	if len(g.unset) > maxUnset {
		g.zeroUnset()
	}
	return true
}

// zeroUnset writes zeros into the unset parts.
func (g *partialGrad) zeroUnset() {
	for _, r := range g.unset {
		n := r.hi - r.lo
		zero(array.View{Store: g.t.v.Store, Offset: r.lo, DType: g.t.v.DType, Shape: []int{n}, Strides: []int{1}})
	}
	g.unset = nil
}

// free gives g's memory back if the pass made it, earlier than a scope or the collector would.
func (g partialGrad) free() {
	if g.ours {
		Free(g.t.v.Store)
	}
}

// addGrad adds g to the gradient of n.
func (p *gradPass) addGrad(n *GradNode, g partialGrad) {
	old := p.gradOf(n)
	old.zeroUnset()
	switch {
	case old.t == nil:
		old.t, old.ours, old.lent = g.t, g.ours, g.lent
	case old.parts != nil:
		old.add(nil, g.t, true)
	case p.create:
		old.t = plus(old.t, g.t)
	default:
		sum := plus(old.t.WithoutHistory(), g.t.WithoutHistory())
		old.free()
		g.free()
		old.t, old.ours = sum, true
	}
}

// addWindow adds dy, the gradient of the view n, in place to the gradient of its base. Gradients of
// many windows on one array thus take no arrays of zeros. It does nothing and reports false where
// that does not serve: for a view of all elements, often a transpose, or of elements several times.
func (p *gradPass) addWindow(n *GradNode, dy partialGrad) bool {
	base, chain := n.In[0], []*Planned{n.p}
	for base.isViewOp() && p.want[base] == nil && base.hooks.Load() == nil {
		base, chain = base.In[0], append(chain, base.p)
	}
	dtype, shape := base.TypeOf()
	if array.Size(n.sizes()) >= array.Size(shape) {
		return false
	}
	slices.Reverse(chain)
	old := p.grads[base]
	at := array.View{DType: dtype, Shape: shape, Strides: array.RowMajor(shape)}
	if old != nil && old.t != nil && (old.ours || old.parts != nil) {
		at = old.t.v
	}
	if w, ok := viewThrough(at, chain); !ok || !w.Writable() {
		return false
	}
	old = p.gradOf(base)
	switch {
	case old.t == nil && !p.create && TracingHere() == nil:
		t := Empty("backward", dy.t.v.Store.Device, dtype, shape)
		old.t, old.ours, old.unset = &Tensor{v: t.v, run: dy.t.run}, true, []interval{{0, t.Size()}}
		old.t.Track()
	case old.t == nil:
		t := Full("full", Whole(0), dy.t.v.Store.Device, dtype, shape)
		old.t, old.ours = &Tensor{v: t.v, run: dy.t.run}, !p.create
		old.t.Track()
	case p.create && old.parts == nil:
		c := old.t.WithoutHistory().Clone()
		old.parts, old.where = []*GradNode{old.t.Node()}, [][]*Planned{nil}
		old.t = &Tensor{v: c.v, run: old.t.run}
	case !p.create && !old.ours:
		old.t, old.ours = old.t.WithoutHistory().Clone(), true
	}
	if w, _ := viewThrough(old.t.v, chain); !old.setFirst(w, dy.t.v) {
		old.zeroUnset()
		old.add(chain, dy.t, p.create)
	}
	dy.free()
	return true
}

// reshape adds dy, the gradient of a Reshape, to its operand's gradient in the operand's shape,
// without a copy. It does nothing and reports false for other ops and for a dy that is not
// contiguous.
func (p *gradPass) reshape(n *GradNode, dy partialGrad) bool {
	if n.p.def != op.Reshape || p.create || !dy.t.v.Contiguous() {
		return false
	}
	v := dy.t.v
	v.Shape = n.In[0].sizes()
	v.Strides = array.RowMajor(v.Shape)
	p.addGrad(n.In[0], partialGrad{t: &Tensor{v: v, run: dy.t.run}, ours: dy.ours, lent: !dy.ours})
	return true
}

// add adds t to the view of g's memory through a chain of view ops.
func (g *partialGrad) add(chain []*Planned, t *Tensor, create bool) {
	w, _ := viewThrough(g.t.v, chain)
	if w.Size() > 0 {
		addInto(w, t.v)
	}
	if create {
		g.parts = append(g.parts, t.Node())
		g.where = append(g.where, chain)
	}
}

// scatter adds the gradients of gathers from n to its gradient g. Gradients of gathers along the
// same axis are concatenated and scattered at once.
func (p *gradPass) scatter(n *GradNode, g *partialGrad) {
	for len(g.indexed) > 0 {
		first := g.indexed[0]
		var same, other []indexedGrad
		for _, k := range g.indexed {
			if k.sameAxis(first) {
				same = append(same, k)
			} else {
				other = append(other, k)
			}
		}
		g.indexed = other
		if len(same) == 1 {
			p.addGrad(n, partialGrad{t: first.n.run(&p.memory, p.single(first.dy.t), false, p.create)[0], ours: !p.create})
		} else {
			axis := int(first.n.p.A.(op.Axis))
			dys, places := make([]*Tensor, len(same)), make([]*Tensor, len(same))
			for i, k := range same {
				if dys[i] = k.dy.t; !p.create {
					dys[i] = dys[i].WithoutHistory()
				}
				places[i] = &Tensor{v: k.n.values(nil)[1].V, run: dys[i].run}
			}
			to := op.Target{Axis: axis, Shape: n.sizes()}
			if first.n.p.def == op.Gather {
				p.addGrad(n, partialGrad{t: WithAttrs(op.Lookup("scatter_sum"), to, Cat(dys, axis), Cat(places, axis)), ours: !p.create})
			} else {
				p.addGrad(n, partialGrad{t: WithAttrs(op.Lookup("index_add"), to, Cat(dys, axis), Cat(places, 0)), ours: !p.create})
			}
		}
		for _, k := range same {
			k.dy.free()
			if !p.retain {
				k.n.release()
			}
		}
	}
}

// sameAxis reports whether the gradients of two gathers can be concatenated along their axis.
func (k indexedGrad) sameAxis(o indexedGrad) bool {
	if k.n.p.def != o.n.p.def || k.n.p.A != o.n.p.A {
		return false
	}
	axis := int(k.n.p.A.(op.Axis))
	a, b := k.n.sizes(), o.n.sizes()
	return array.Equal(a[:axis], b[:axis]) && array.Equal(a[axis+1:], b[axis+1:])
}

// sum returns the complete gradient of n, with its history if parts were recorded.
func (g *partialGrad) sum(n *GradNode) partialGrad {
	if g.parts == nil {
		return *g
	}
	if !slices.ContainsFunc(g.parts, func(n *GradNode) bool { return n != nil }) {
		return partialGrad{t: g.t}
	}
	where := g.where
	s := &GradNode{Seq: TapeSeq.Add(1), In: g.parts, NodeInfo: &NodeInfo{Name: "sum of windows"}}
	s.DType, s.Shape = n.TypeOf()
	s.Back = func(_ []SavedValue, dys []*Tensor, create bool) []*Tensor {
		dy := dys[0]
		if !create {
			dy = dy.WithoutHistory()
		}
		out := make([]*Tensor, len(where))
		for i, chain := range where {
			if out[i] = dy; chain != nil {
				out[i] = dy.applyViews(chain).Clone()
			}
		}
		return out
	}
	g.t.SetNode(s)
	return partialGrad{t: g.t}
}

// accumulate adds g to the gradient of a leaf. That gradient lies outside any scope, in memory of
// its own or in g's memory if the pass made g.
func (h *History) accumulate(g partialGrad, create bool) {
	h.Enter()
	h.Mu.Lock()
	defer h.Mu.Unlock()
	h.Touch(true)
	h.Fill()
	switch {
	case h.Grad == nil && create:
		h.Grad = &Tensor{v: g.t.Clone().v, hist: &History{Node: g.t.Node()}}
	case h.Grad == nil && g.ours && g.t.v.Contiguous():
		if g.t.run != nil && g.t.run.Scope != nil {
			g.t.run.Scope.disown(g.t.v.Store)
		}
		h.Grad, h.Mine = &Tensor{v: g.t.v}, true
	case h.Grad == nil:
		h.Grad, h.Mine = &Tensor{v: (&Tensor{v: g.t.v}).Clone().v}, true
	case create:
		sum := plus(h.Grad, g.t)
		h.Grad, h.Mine = &Tensor{v: sum.v, hist: sum.hist}, false
	default:
		addInto(h.Grad.v, g.t.v)
		g.free()
	}
}
