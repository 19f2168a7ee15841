package core

import (
	"container/heap"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/op"
)

// A pass is one walk over the tape, from outputs to leaves.
type pass struct {
	create, retain bool
	rows           int                 // length of the first axis of all gradients; 0: they have no such axis
	leaves         bool                // gradients go to leaves, and not to inputs that were asked for
	want           map[*GradNode][]int // inputs whose gradients were asked for
	grads          map[*GradNode]*partial
	several        map[*GradNode][]partial // of nodes with several results, by result
	todo           tape                    // the nodes in grads and several

	memory gradMemory
	one    [1]*Tensor // of single
	spare  []*partial // for those that are done
}

// single is a list of one gradient, good until the next.
func (p *pass) single(dy *Tensor) []*Tensor {
	p.one[0] = dy
	return p.one[:]
}

// tape orders nodes: the latest first.
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

// Walk goes over the tape from outputs to inputs, or to leaves if inputs is nil, and returns the
// gradients of inputs. name is in errors.
func Walk(name string, outputs, inputs []*Tensor, o WalkOpts) []*Tensor {
	return WalkRows(name, outputs, inputs, o, 0)
}

// WalkRows is walk, for rows of gradients unless there are 0: seeds and results have them
// as their first axis.
func WalkRows(name string, outputs, inputs []*Tensor, o WalkOpts, rows int) (res []*Tensor) {
	if o.Create && !GradOn() {
		Recording(true, func() { res = WalkRows(name, outputs, inputs, o, rows) })
		return res
	}
	p := &pass{create: o.Create, retain: o.Retain || o.Create, rows: rows, leaves: inputs == nil, want: map[*GradNode][]int{}, grads: map[*GradNode]*partial{}}
	for i, t := range outputs {
		t.Check(name)
		n := t.Node()
		if n == nil {
			array.Failf(name, "", "output %d does not depend on a tensor that requires a gradient: mark leaves with RequireGrad before computing it, outside WithoutGrad and without Detach on the way", i)
		}
		if rows > 0 {
			p.give(n, partial{t: t.seedRows(name, rows, o.Seeds[i])})
			continue
		}
		p.give(n, partial{t: t.seed(name, i, o.Seeds)})
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
			if inputs == nil || p.leads(n) {
				p.joint(n)
			}
			continue
		}
		if g := p.grads[n]; g.blank != nil {
			g.fill()
		} else if p.byRows(n, g) {
			delete(p.grads, n)
			n.Leaf.addRows(p, n, g)
			continue
		}
		p.scatter(n, p.grads[n])
		g := p.grads[n]
		dy := g.sum(n)
		delete(p.grads, n)
		*g = partial{}
		p.spare = append(p.spare, g)
		if dy.lent && !dy.ours && p.want[n] != nil {
			dy.t, dy.lent, dy.ours = dy.t.Clone(), false, true
		}
		for _, i := range p.want[n] {
			res[i] = dy.t
			if !o.Create {
				// A result, not a part of the pass: computing with it is recorded.
				res[i] = &Tensor{v: dy.t.v, run: outputs[0].run}
				if !GradOn() {
					res[i].v = cutView(dy.t.v)
				}
			}
			dy.ours = false
		}
		switch {
		case n.Leaf != nil:
			if inputs == nil {
				n.Leaf.accumulate(dy, o.Create)
			}
		case n.part:
			p.take(n, dy)
		case inputs == nil || p.leads(n):
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

// seed returns the gradient of output i, which is t.
func (t *Tensor) seed(name string, i int, seeds []*Tensor) *Tensor {
	var seed *Tensor
	if i < len(seeds) {
		seed = seeds[i]
	}
	if seed == nil {
		if t.Size() != 1 {
			array.Failf(name, "", "output %d has shape %s, want one element: reduce it with Sum or Mean, or give its gradient as GradOpts.Seeds", i, array.ShapeString(t.v.Shape))
		}
		seed = Full("full", Whole(1), t.v.Store.Device, t.v.DType, t.v.Shape)
	} else {
		seed.Check(name)
		if seed.v.DType != t.v.DType || !array.Equal(seed.v.Shape, t.v.Shape) {
			array.Failf(name, "seeds", "number %d is %s, its output %s", i, array.TypeString(seed.v.DType, seed.v.Shape), array.TypeString(t.v.DType, t.v.Shape))
		}
	}
	if t.run != nil && t.run.Scope != nil {
		seed = t.run.Scope.Track(seed)
	}
	return seed
}

// leads reports whether the walk may still meet a wanted node behind n: nodes are
// older than what was computed from them.
func (p *pass) leads(n *GradNode) bool {
	for w := range p.want {
		if w.Seq < n.Seq {
			return true
		}
	}
	return false
}

// step hands the gradient of n on to its operands.
func (p *pass) step(n *GradNode, dy partial) {
	switch {
	case n.put != nil && p.rows > 0:
		p.putRows(n, dy)
	case n.put != nil:
		p.put(n, dy)
	case p.rows > 0:
		p.hand(n, p.single(dy.t), false)
		dy.free()
	case n.window() && (p.addWindow(n, dy) || p.reshape(n, dy)):
	case n.p != nil && (n.p.def == op.IndexSelect || n.p.def == op.Gather):
		n.values()
		g := p.at(n.In[0])
		g.picked = append(g.picked, picked{n, dy})
		return // the saved places are needed until then
	default:
		if !p.hand(n, p.single(dy.t), dy.ours) && n.Back == nil {
			dy.free()
		}
	}
	if !p.retain {
		n.release()
	}
}

// hand computes the gradients of n's operands from dys, the gradients of its results, and gives
// them to the operands. ours says that the pass made the only one of dys. hand reports whether an
// operand has that one now.
func (p *pass) hand(n *GradNode, dys []*Tensor, ours bool) (passed bool) {
	plans := n.Back == nil && !p.create // a plan writes each result to memory of its own
	var gs []*Tensor
	if p.rows > 0 {
		gs = n.runRows(p.rows, dys, p.create)
	} else {
		gs = n.run(&p.memory, dys, ours, p.create)
	}
	for i, g := range gs {
		switch {
		case g == nil || n.In[i] == nil:
		case plans && g == dys[0]:
			passed = true
			p.give(n.In[i], partial{t: g, ours: ours, lent: !ours})
		default:
			p.give(n.In[i], partial{t: g, ours: plans})
		}
	}
	return passed
}

// take keeps the gradient of one result until the gradients of the other results are there: the
// joint node is older than all parts.
func (p *pass) take(n *GradNode, dy partial) {
	of := n.In[0]
	list := p.several[of]
	if list == nil {
		list = make([]partial, len(of.results))
		if p.several == nil {
			p.several = map[*GradNode][]partial{}
		}
		p.several[of] = list
		heap.Push(&p.todo, of)
	}
	list[n.which] = dy
}

// joint is the step of a node with several results: those that nothing depends on
// have a gradient of zeros.
func (p *pass) joint(n *GradNode) {
	list := p.several[n]
	delete(p.several, n)
	dys := make([]*Tensor, len(list))
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
		default:
			shape := m.Shape
			if p.rows > 0 {
				shape = slices.Insert(slices.Clone(shape), 0, p.rows)
			}
			z := Full("backward", Whole(0), n.p.Device, m.DType, shape)
			dys[i] = &Tensor{v: z.v, run: r}
		}
	}
	p.hand(n, dys, false)
	for _, g := range list {
		if g.t != nil {
			g.free()
		}
	}
	if !p.retain {
		n.release()
	}
}

// put takes the gradient of a tensor that had a value written into a window: the
// value gets that of the window, what was there before gets none.
func (p *pass) put(n *GradNode, dy partial) {
	base, value := n.In[0], n.In[1]
	if !p.create {
		dy.t = dy.t.Bare()
	}
	if value != nil {
		p.give(value, partial{t: dy.t.through(n.put.chain).Clone(), ours: !p.create})
	}
	if base == nil {
		dy.free()
		return
	}
	w, ok := windowOf(dy.t.v, n.put.chain)
	if !dy.ours || !ok || !w.Writable() {
		strides := array.RowMajor(n.Shape)
		if w, ok = windowOf(array.View{DType: n.DType, Shape: n.Shape, Strides: strides}, n.put.chain); !ok {
			strides = n.put.of.Strides
		}
		t := &Tensor{v: laidOut(&dy.t.v, strides), run: dy.t.run}
		t.Track()
		if from := dy.t.Node(); p.create && from != nil {
			t.SetNode(putNode(from, nil, n.put))
		}
		dy.free()
		dy = partial{t: t, ours: !p.create}
		w, _ = windowOf(t.v, n.put.chain)
	}
	zero(w)
	p.give(base, dy)
}

// Unrecorded is a view as a tensor that is written to behind the tape's back.
func Unrecorded(v array.View) *Tensor { return &Tensor{v: v} }

// zero writes 0 into a view and records nothing.
func zero(v array.View) { Unrecorded(v).Assigned("assign", "x", Whole(0), (*Tensor).CopyFrom) }

// addInto adds x to t and records nothing.
func addInto(v, x array.View) {
	t := Unrecorded(v)
	t.AssignAs(op.Add, nil, "addassign", Operand{T: t}, Operand{T: Unrecorded(x)})
}

// plus returns a + b, recorded on the tape.
func plus(a, b *Tensor) *Tensor { return Apply(op.Add, nil, Operand{T: a}, Operand{T: b}) }

// through returns the view of t that a row of windows shows, or a copy.
func (t *Tensor) through(chain []*Planned) *Tensor {
	for _, p := range chain {
		t = Window(p.def, p.A, t)
	}
	return t
}

// windowOf returns what a row of windows shows of v, if strides allow.
func windowOf(v array.View, chain []*Planned) (array.View, bool) {
	for _, p := range chain {
		var ok bool
		if v, ok = viewOf(p.def, p.A, v); !ok {
			return v, false
		}
	}
	return v, true
}

// A partial gradient is on its way through the tape.
type partial struct {
	t    *Tensor
	ours bool // the pass made it, and nothing else has seen it
	lent bool // unless ours: it lies in the memory of another gradient, or of a seed

	blank []reach // of t's memory, in order: what no gradient has come to yet; it is not set

	// With Create, what was added up in t's memory without being recorded, and into
	// which windows.
	parts []*GradNode
	where [][]*Planned

	// What elements at computed places get, which is added up together: each alone
	// would take an array of zeros.
	picked []picked
}

// A picked is the gradient of what a node took from computed places.
type picked struct {
	n  *GradNode
	dy partial
}

// at returns the gradient of n, which has no tensor yet if there was none.
func (p *pass) at(n *GradNode) *partial {
	g := p.grads[n]
	if g == nil {
		if k := len(p.spare) - 1; k >= 0 {
			g, p.spare = p.spare[k], p.spare[:k]
		} else {
			g = &partial{}
		}
		p.grads[n] = g
		heap.Push(&p.todo, n)
	}
	return g
}

// A reach is elements of memory, from lo up to hi.
type reach struct{ lo, hi int }

// maxBlank bounds the parts of a gradient that wait to be set.
const maxBlank = 32

// first writes the gradient of a view as the first one of its window w of g, if that is one row
// of memory, in whatever order, that is blank: zero plus it, as if zeros had been there, which
// make +0 of -0. It reports false, having done nothing, elsewhere.
func (g *partial) first(w, dy array.View) bool {
	if len(g.blank) == 0 || w.Size() == 0 || w.DType.Complex() || w.DType != g.t.v.DType || dy.DType != w.DType {
		return false
	}
	order, ok := dense(&w)
	if !ok {
		return false
	}
	for _, v := range [...]*array.View{&w, &dy} {
		v.Shape, v.Strides = pick1(v.Shape, order), pick1(v.Strides, order)
	}
	lo, hi := w.Offset, w.Offset+w.Size()
	i, _ := slices.BinarySearchFunc(g.blank, lo, func(r reach, lo int) int { return r.hi - lo - 1 })
	if i == len(g.blank) || lo < g.blank[i].lo || hi > g.blank[i].hi {
		return false
	}
	r := g.blank[i]
	rest := [...]reach{{r.lo, lo}, {hi, r.hi}}
	g.blank = slices.Replace(g.blank, i, i+1, slices.DeleteFunc(rest[:], func(r reach) bool { return r.lo == r.hi })...)
	ops := []Operand{Of("backward", &Tensor{v: dy}), Whole(0)}
	sum := Lookup(op.Add, nil, ops)
	func() {
		defer OpenWrite(&w).Done()
		sum.Compute(ops, unsafe.Slice(&w, 1))
	}()
	if len(g.blank) > maxBlank {
		g.fill()
	}
	return true
}

// fill sets what is blank to zero.
func (g *partial) fill() {
	for _, r := range g.blank {
		n := r.hi - r.lo
		zero(array.View{Store: g.t.v.Store, Offset: r.lo, DType: g.t.v.DType, Shape: []int{n}, Strides: []int{1}})
	}
	g.blank = nil
}

// free gives back what nobody reads any more, earlier than a scope or the collector.
func (g partial) free() {
	if g.ours {
		Free(g.t.v.Store)
	}
}

// give adds g to the gradient of n.
func (p *pass) give(n *GradNode, g partial) {
	old := p.at(n)
	old.fill()
	switch {
	case old.t == nil:
		old.t, old.ours, old.lent = g.t, g.ours, g.lent
	case old.parts != nil:
		old.add(nil, g.t, true)
	case p.create:
		old.t = plus(old.t, g.t)
	default:
		sum := plus(old.t.Bare(), g.t.Bare())
		old.free()
		g.free()
		old.t, old.ours = sum, true
	}
}

// addWindow adds the gradient of a view in place to that of the tensor behind it, so
// that many windows on one array take no more than their own sizes. It reports
// false, having done nothing, where the view's own gradient serves better: for one
// that shows all elements, which is often a transpose, or elements several times.
func (p *pass) addWindow(n *GradNode, dy partial) bool {
	base, chain := n.In[0], []*Planned{n.p}
	for base.window() && p.want[base] == nil {
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
	if w, ok := windowOf(at, chain); !ok || !w.Writable() {
		return false
	}
	old = p.at(base)
	switch {
	case old.t == nil && !p.create && TracingHere() == nil:
		t := Empty("backward", dy.t.v.Store.Device, dtype, shape)
		old.t, old.ours, old.blank = &Tensor{v: t.v, run: dy.t.run}, true, []reach{{0, t.Size()}}
		old.t.Track()
	case old.t == nil:
		t := Full("full", Whole(0), dy.t.v.Store.Device, dtype, shape)
		old.t, old.ours = &Tensor{v: t.v, run: dy.t.run}, !p.create
		old.t.Track()
	case p.create && old.parts == nil:
		c := old.t.Bare().Clone()
		old.parts, old.where = []*GradNode{old.t.Node()}, [][]*Planned{nil}
		old.t = &Tensor{v: c.v, run: old.t.run}
	case !p.create && !old.ours:
		old.t, old.ours = old.t.Bare().Clone(), true
	}
	if w, _ := windowOf(old.t.v, chain); !old.first(w, dy.t.v) {
		old.fill()
		old.add(chain, dy.t, p.create)
	}
	dy.free()
	return true
}

// reshape hands the gradient of a reshaped array on as the same elements in the shape that
// they had before, without a copy. It reports false, having done nothing, for another window
// and where elements do not lie in order.
func (p *pass) reshape(n *GradNode, dy partial) bool {
	if n.p.def != op.Reshape || p.create || !dy.t.v.Contiguous() {
		return false
	}
	v := dy.t.v
	v.Shape = n.In[0].sizes()
	v.Strides = array.RowMajor(v.Shape)
	p.give(n.In[0], partial{t: &Tensor{v: v, run: dy.t.run}, ours: dy.ours, lent: !dy.ours})
	return true
}

// add adds t to what a row of windows shows of g's own memory.
func (g *partial) add(chain []*Planned, t *Tensor, create bool) {
	w, _ := windowOf(g.t.v, chain)
	if w.Size() > 0 {
		addInto(w, t.v)
	}
	if create {
		g.parts = append(g.parts, t.Node())
		g.where = append(g.where, chain)
	}
}

// scatter adds what was picked from n's value to its gradient g: the rows of picks
// along the same axis behind each other at once.
func (p *pass) scatter(n *GradNode, g *partial) {
	for len(g.picked) > 0 {
		first := g.picked[0]
		var same, other []picked
		for _, k := range g.picked {
			if k.alongside(first) {
				same = append(same, k)
			} else {
				other = append(other, k)
			}
		}
		g.picked = other
		if len(same) == 1 {
			p.give(n, partial{t: first.n.run(&p.memory, p.single(first.dy.t), false, p.create)[0], ours: !p.create})
		} else {
			axis := int(first.n.p.A.(op.Axis))
			dys, places := make([]*Tensor, len(same)), make([]*Tensor, len(same))
			for i, k := range same {
				if dys[i] = k.dy.t; !p.create {
					dys[i] = dys[i].Bare()
				}
				places[i] = &Tensor{v: k.n.values()[1].V, run: dys[i].run}
			}
			to := op.Target{Axis: axis, Shape: n.sizes()}
			if first.n.p.def == op.Gather {
				p.give(n, partial{t: WithAttrs(op.Lookup("scatter_sum"), to, Cat(dys, axis), Cat(places, axis)), ours: !p.create})
			} else {
				p.give(n, partial{t: WithAttrs(op.Lookup("index_add"), to, Cat(dys, axis), Cat(places, 0)), ours: !p.create})
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

// alongside reports that the gradients of two picks can be laid behind each other
// along their axis.
func (k picked) alongside(o picked) bool {
	if k.n.p.def != o.n.p.def || k.n.p.A != o.n.p.A {
		return false
	}
	axis := int(k.n.p.A.(op.Axis))
	a, b := k.n.sizes(), o.n.sizes()
	return array.Equal(a[:axis], b[:axis]) && array.Equal(a[axis+1:], b[axis+1:])
}

// sum returns the gradient of n when all of it has come.
func (g *partial) sum(n *GradNode) partial {
	if g.parts == nil {
		return *g
	}
	if !slices.ContainsFunc(g.parts, func(n *GradNode) bool { return n != nil }) {
		return partial{t: g.t}
	}
	where := g.where
	s := &GradNode{Seq: TapeSeq.Add(1), In: g.parts, Rare: &Rare{Name: "sum of windows"}}
	s.DType, s.Shape = n.TypeOf()
	s.Back = func(_ []SavedValue, dy *Tensor, create bool) []*Tensor {
		if !create {
			dy = dy.Bare()
		}
		out := make([]*Tensor, len(where))
		for i, chain := range where {
			if out[i] = dy; chain != nil {
				out[i] = dy.through(chain).Clone()
			}
		}
		return out
	}
	g.t.SetNode(s)
	return partial{t: g.t}
}

// accumulate adds g to the gradient of a leaf. The gradient is the leaf's own
// memory, outside any scope: that of g where the pass made it.
func (h *History) accumulate(g partial, create bool) {
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
