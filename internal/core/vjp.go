package core

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/profile"
)

// The gradient of one operation is a graph over its saved values. It is compiled once and found
// again by a hash. Where it is to be differentiated itself, it runs operation by operation.

// vjp is the gradient of a planned operation for one set of arguments that need it: a graph over the
// saved values and the gradients of the results.
type vjp struct {
	p      *Planned
	outs   []*ir.Node // gradients
	which  []int      // by output: the argument that it is the gradient for
	used   []bool     // inputs of the graph: tensor arguments, results, their gradients
	saves  bool       // some argument or result
	passed int        // which of outs is the gradient of the result as it is, -1: none

	mu    sync.Mutex                    // of the graph
	plain atomic.Pointer[exec.Compiled] // for contiguous gradients, of outs without on
	other sync.Map                      // strides -> *exec.Compiled
	rows  atomic.Pointer[op.Def]        // for many gradients at once
}

// noVJP marks an operation without gradient.
var noVJP = &vjp{}

// vjpFor returns the VJP for the arguments whose node in in is not nil. It returns nil if there is
// none.
func (p *Planned) vjpFor(in []*GradNode) *vjp {
	// A bit each says which of the first three arguments need a gradient. With further arguments
	// that need one, the key is a string of one byte an argument.
	few, last := 0, -1
	for i, n := range in {
		if n != nil {
			last = i
			if i < 3 {
				few |= 1 << i
			}
		}
	}
	if last < 3 {
		v := p.vjps[few].Load()
		if v == nil {
			v = p.makeVJP(in, nil)
			p.vjps[few].Store(v)
		}
		return v.orNil()
	}
	key := make([]byte, last+1)
	for i := range key {
		if in[i] != nil {
			key[i] = 1
		}
	}
	v, ok := p.more.Load(string(key))
	if !ok {
		v, _ = p.more.LoadOrStore(string(key), p.makeVJP(in, nil))
	}
	return v.(*vjp).orNil()
}

func (v *vjp) orNil() *vjp {
	if v == noVJP {
		return nil
	}
	return v
}

// vjpLacking is vjpFor where results that lacks marks have no gradient: a loop then needs no
// carries for them. It returns v, the gradient in general, for operations that gain nothing.
func (p *Planned) vjpLacking(v *vjp, in []*GradNode, lacks []bool) *vjp {
	if p.def.Class != op.Control && !p.def.ByResult || !slices.Contains(lacks, true) {
		return v
	}
	key := []byte{2} // keys of vjpFor begin otherwise
	for _, n := range in {
		key = ir.Flag(key, n != nil)
	}
	for _, l := range lacks {
		key = ir.Flag(key, l)
	}
	less, ok := p.more.Load(string(key))
	if !ok {
		less, _ = p.more.LoadOrStore(string(key), p.makeVJP(in, lacks))
	}
	w := less.(*vjp)
	if w == noVJP {
		return v
	}
	for i, used := range w.used {
		if used && !v.used[i] { // it was not saved
			return v
		}
	}
	return w
}

// makeVJP writes the gradient for the operands whose node in in is not nil. The gradient of results
// that lacks marks is 0.
func (p *Planned) makeVJP(in []*GradNode, lacks []bool) *vjp {
	g := ir.New()
	args := p.Inputs(g)
	tensors := len(p.Sigs) - p.nums
	k := len(p.Outs)
	ys, dys := make([]*ir.Node, k), make([]*ir.Node, k)
	for i, t := range p.Outs {
		ys[i] = g.Input(tensors+i, t.DType, t.Shape)
		switch {
		case !t.DType.Differentiable():
		case lacks != nil && lacks[i]:
			zero := g.Number(0, t.DType.Part(), false)
			if t.DType.Complex() {
				zero = op.Apply(op.Complex, nil, zero, zero)
			}
			dys[i] = op.Apply(op.Expand, op.Shape(t.Shape), zero)
		default:
			dys[i] = g.Input(tensors+k+i, t.DType, t.Shape)
		}
	}
	grads := make([]*ir.Node, len(args))
	// A gradient of its own is written for real numbers: of complex ones an operation is
	// differentiated through the parts that it is computed with.
	own := p.def.Class == op.Composite && p.def.VJP != nil && !slices.ContainsFunc(args, func(x *ir.Node) bool { return x.DType.Complex() })
	if own {
		v := &op.VJP{Node: &ir.Node{Graph: g, Op: p.def, Attrs: p.A, DType: p.DType, Shape: p.Shape}, X: args, Y: ys[0], DY: dys[0], Ys: ys, DYs: dys, Need: make([]bool, len(args)), DX: grads}
		for i := range args {
			v.Need[i] = in[i] != nil
		}
		wide := p.def.Wide && slices.ContainsFunc(args, func(x *ir.Node) bool { return x.DType.Half() })
		if wide { // as the operation itself
			v.X, v.Ys, v.DYs = op.Widen(args), op.Widen(ys), op.Widen(dys)
			v.Y, v.DY, v.Node.DType = v.Ys[0], v.DYs[0], array.Float32
		}
		p.def.VJP(v)
		for i, dx := range grads {
			if wide && dx != nil {
				grads[i] = op.Convert(dx, args[i].DType)
			}
		}
	} else {
		outs := op.ApplyAll(p.def, p.A, args...)
		var wanted []*ir.Node
		for i, x := range args {
			if in[i] != nil {
				wanted = append(wanted, x)
			}
		}
		of := op.Gradient(outs, dys, wanted)
		for i := range args {
			if in[i] != nil {
				grads[i], of = of[0], of[1:]
			}
		}
		var from, to []*ir.Node
		for i, out := range outs {
			if len(out.Args) > 0 {
				from, to = append(from, out), append(to, ys[i])
			}
		}
		grads = op.Replace(grads, from, to)
	}
	v := &vjp{p: p, used: make([]bool, tensors+2*k)}
	for i, n := range grads {
		if n != nil && in[i] != nil {
			v.outs = append(v.outs, n)
			v.which = append(v.which, i)
		}
	}
	if len(v.outs) == 0 {
		return noVJP
	}
	for id, needed := range ir.Reach(v.outs) {
		if n := g.Nodes[id]; needed && n.Op == ir.Input {
			v.used[n.Arg()] = true
		}
	}
	v.saves = slices.Contains(v.used[:tensors+k], true)
	v.passed = -1
	if k == 1 {
		v.passed = slices.Index(v.outs, dys[0])
	}
	return v
}

// inRows reports that gradients and saved results lie in row-major order.
func inRows(dys []array.View, saved []SavedValue) bool {
	for i := range dys {
		y, dy := &saved[len(saved)-len(dys)+i].V, &dys[i]
		if y.Store != nil && !y.Contiguous() || dy.Store != nil && !dy.Contiguous() {
			return false
		}
	}
	return true
}

// compiled returns the plan for gradients and saved results of the given layouts: without
// the gradient that is handed on as it is, if they are in rows.
func (v *vjp) compiled(dys []array.View, saved []SavedValue, rows bool) *exec.Compiled {
	if c := v.plain.Load(); rows && c != nil {
		return c
	}
	k := len(dys)
	results := saved[len(saved)-k:]
	views := make([]*array.View, 0, 2*k) // results, then gradients
	for i := range results {
		views = append(views, &results[i].V)
	}
	for i := range dys {
		views = append(views, &dys[i])
	}
	var key string
	if !rows {
		for _, x := range views {
			key += fmt.Sprint(x.Strides)
		}
		if c, ok := v.other.Load(key); ok {
			return c.(*exec.Compiled)
		}
	}
	sigs := v.p.planSigs()
	for i, x := range views {
		t := v.p.Outs[i%k]
		st := x.Strides
		if x.Store == nil { // not used
			st = array.RowMajor(t.Shape)
		}
		sigs = append(sigs, plan.Sig{DType: t.DType, Shape: t.Shape, Strides: st})
	}
	built := profile.InPhase("plan")
	outs := v.outs
	if rows && v.passed >= 0 {
		outs = slices.Delete(slices.Clone(outs), v.passed, v.passed+1)
	}
	pl := func() *plan.Plan {
		v.mu.Lock()
		defer v.mu.Unlock()
		return plan.Build(outs, sigs, nil, device.Get(v.p.Device).Model())
	}()
	built()
	c := Compile(v.p.def.Name+" backward", pl, v.p.Device)
	if rows {
		v.plain.Store(c)
	} else {
		v.other.Store(key, c)
	}
	return c
}

// values returns the saved values; it panics if one was overwritten. dys are gradients of the results.
func (n *GradNode) values(dys []*Tensor) []SavedValue {
	n.mu.Lock()
	saved, done := n.saved, n.done
	n.mu.Unlock()
	if done {
		n.fail("the tape behind %s was already used and its values released: compute the output again, or give GradOpts{Retain: true} to the first pass", n.opName())
	}
	if n.region != nil {
		return n.recomputed(dys)
	}
	for i := range saved {
		s := &saved[i]
		if s.V.Store == nil {
			continue
		}
		if s.V.Store.Released() {
			n.fail("a value that %s needs was released, or its scope closed, before the pass", n.opName())
		}
		if v := s.V.Store.Version(); v != s.version {
			what := fmt.Sprintf("argument %d of %s", s.Arg, n.opName())
			if s.Result {
				what = "the result of " + n.opName()
			}
			where := ""
			if pc := s.V.Store.Writer(); pc != 0 {
				where = "; it was overwritten at " + array.Place(pc)
			}
			n.fail("%s, %s, was modified in place after it was saved: it is at version %d, the gradient needs version %d%s",
				what, array.TypeString(s.V.DType, s.V.Shape), v, s.version, where)
		}
	}
	return saved
}

// release forgets the saved values. Views may be walked through again: views of a leaf are kept
// from pass to pass.
func (n *GradNode) release() {
	n.mu.Lock()
	saved, done := n.saved, n.done
	n.saved = nil
	n.done = !n.isViewOp()
	n.mu.Unlock()
	if n.region != nil && !done {
		n.region.of.releasedNode(n.region.at)
	}
	for i := range saved {
		if st := saved[i].V.Store; st != nil {
			st.Unsave()
		}
	}
}

// run computes the gradients of the operands, nil where none is needed, from dys, the gradients of
// the results, nil for a result that is not a float. The list is good until m is used again. It may
// contain dys[0] itself: the same elements, or, if ours is true, new elements in its memory.
func (n *GradNode) run(m *gradMemory, dys []*Tensor, ours, create bool) []*Tensor {
	saved := n.values(dys)
	if n.Back != nil {
		return n.Back(saved, dys, create)
	}
	v := n.vjp
	if v == nil {
		v = n.p.vjpFor(n.In)
	}
	v = n.p.vjpLacking(v, n.In, m.lacks)
	if saved == nil {
		if saved = nothing[:]; len(v.used)-len(dys) > len(saved) {
			saved = make([]SavedValue, len(v.used)-len(dys))
		}
		saved = saved[:len(v.used)-len(dys)]
	}
	if create {
		return n.runOps(v, saved, dys, make([]*Tensor, len(n.In)))
	}
	seeds := m.seeds[:0]
	var r *Run
	for _, dy := range dys {
		if dy == nil {
			seeds = append(seeds, array.View{})
			continue
		}
		seeds, r = append(seeds, dy.v), dy.run
	}
	ins := m.ins[:0]
	for i := range saved {
		ins = append(ins, &saved[i].V)
	}
	for i := range seeds {
		ins = append(ins, &seeds[i])
	}
	outs := slices.Grow(m.outs[:0], len(v.outs))[:len(v.outs)]
	on := -1 // which of outs is the gradient of the result, or lies in its place
	if tr := TracingViews(ins...); tr != nil {
		tr.gradient(v, n, ins, outs)
	} else {
		rows := inRows(seeds, saved)
		if rows {
			on = v.passed
		}
		switch {
		case on >= 0 && len(outs) == 1:
		case on >= 0:
			RunPlan(n.p.def.Name, r.stream(), v.compiled(seeds, saved, rows), ins, n.nums, outs[:len(outs)-1])
			copy(outs[on+1:], outs[on:])
		default:
			c := v.compiled(seeds, saved, rows)
			if ours && rows && c.Plan.InPlace && len(seeds) == 1 {
				on = slices.IndexFunc(v.outs, func(x *ir.Node) bool { return x.DType == seeds[0].DType && array.Equal(x.Shape, seeds[0].Shape) })
			}
			if on >= 0 {
				ComputeReaders(seeds[0].Store)
				outs[on] = seeds[0]
			}
			RunPlan(n.p.def.Name, r.stream(), c, ins, n.nums, outs)
		}
	}
	out := slices.Grow(m.out[:0], len(n.In))[:len(n.In)]
	clear(out)
	for i, k := range v.which {
		if i == on {
			out[k] = dys[0]
			continue
		}
		t := &Tensor{v: outs[i], run: r}
		t.Track()
		out[k] = t
	}
	clear(ins)
	clear(seeds)
	clear(outs)
	m.ins, m.seeds, m.outs, m.out = ins, seeds, outs, out
	return out
}

// nothing is what nodes have saved that need none of it.
var nothing [8]SavedValue

// gradMemory is what the runs of a pass use one after the other, and what the last one
// returned.
type gradMemory struct {
	lacks []bool // of a node with several results: which have no gradient
	ins   []*array.View
	seeds []array.View
	outs  []array.View
	out   []*Tensor
}

// runOps runs the gradient's graph operation by operation, so that it is itself
// recorded.
func (n *GradNode) runOps(v *vjp, saved []SavedValue, dys, out []*Tensor) []*Tensor {
	var r *Run
	for _, dy := range dys {
		if dy != nil {
			r = dy.run
		}
	}
	if n.p.def.NonDifferentiable {
		array.Failf("backward", "", "%s has no second derivative", n.opName())
	}
	memo := map[*ir.Node]Operand{}
	several := map[*ir.Node][]*Tensor{}
	var value func(x *ir.Node) Operand
	value = func(x *ir.Node) Operand {
		if o, ok := memo[x]; ok {
			return o
		}
		var o Operand
		switch x.Op {
		case ir.Input:
			i := x.Arg()
			if i >= len(saved) {
				o.T = dys[i-len(saved)]
				break
			}
			o.T = n.savedTensor(&saved[i], r, true)
		case ir.Scalar:
			o.Num = n.nums[x.Arg()]
		case ir.Between:
			lo, hi := x.Bounds()
			o.Num = n.nums[x.Arg()].Within(lo, hi)
		case ir.Const:
			if x.DType.Float() {
				o.Num = exec.Number{Float: x.Value().Float, Kind: array.CatFloat}
			} else {
				o.Num = exec.Number{Int: x.Value().Int, Kind: x.DType.Category()}
			}
		case ir.Result:
			value(x.Args[0])
			o.T = several[x.Args[0]][x.Arg()]
		default:
			args := make([]Operand, len(x.Args))
			numbers := true
			for i, a := range x.Args {
				args[i] = value(a)
				numbers = numbers && args[i].T == nil
			}
			if numbers {
				args[0].T = fullOf(n.p.Device, args[0].Num, x.Args[0].DType)
			}
			// A number has its node's type where it takes no part in a promotion. It also has that
			// type where the promotion would give another one.
			d := op.Of(x)
			if i := slices.IndexFunc(args, func(o Operand) bool { return o.T == nil }); i >= 0 &&
				(d.Class != op.Pointwise || d.Rule == op.Keep || Lookup(d, x.Attrs, args).DType != x.DType) {
				for i, a := range x.Args {
					if args[i].T == nil {
						args[i].T = fullOf(n.p.Device, args[i].Num, a.DType)
					}
				}
			}
			if d == op.Stop { // not a window, which the tape would follow
				o.T = args[0].T.Detach()
				break
			}
			if d == op.Own { // not a window: gradients go to the other arguments
				o.T = owned(x.Attrs.(op.Owned), args)
				break
			}
			if d == op.Slope {
				o.T = slope(args[0].T, args[1].T, args[2].T)
				break
			}
			if d.Class == op.View {
				o.T = Window(d, x.Attrs, args[0].T)
				break
			}
			if x.Results != nil {
				several[x] = ApplyAll(d, x.Attrs, args...)
				break
			}
			o.T = Apply(d, x.Attrs, args...)
		}
		memo[x] = o
		return o
	}
	for i, k := range v.which {
		o := value(v.outs[i])
		if o.T == nil {
			o.T = fullOf(n.p.Device, o.Num, v.outs[i].DType)
		}
		out[k] = o.T
	}
	return out
}

// slope is [op.Slope] of a gradient dy of y. It has no gradient itself: a pass that recorded it would compute slopes
// of the gradients on its way, and these theirs.
func slope(dy, y, along *Tensor) *Tensor {
	if dy.Node() != nil {
		o := WalkOpts{Retain: true, AllowUnused: true, Seeds: []*Tensor{along}}
		if g := Walk("backward", []*Tensor{dy}, []*Tensor{y}, o)[0]; g != nil {
			return g
		}
	}
	return Apply(op.Mul, nil, Operand{T: along}, Operand{Num: exec.Number{Kind: array.CatFloat}}) // dy does not depend on y
}

// owned records [op.Own] of operands. One that has no derivative fails when its gradient is wanted, not before.
func owned(a op.Owned, args []Operand) *Tensor {
	if a.Back != nil {
		return Apply(op.Own, a, args...)
	}
	y := args[0].T.Detach()
	n := &GradNode{Seq: TapeSeq.Add(1), In: make([]*GradNode, len(args)), NodeInfo: &NodeInfo{Name: a.Name, DType: y.v.DType, Shape: y.v.Shape}}
	needed := false
	for i, x := range args {
		if x.T != nil && x.T.v.DType.Differentiable() {
			n.In[i] = x.T.Node()
			needed = needed || n.In[i] != nil
		}
	}
	if needed {
		n.NoteSite()
		n.Back = func([]SavedValue, []*Tensor, bool) []*Tensor {
			array.Failf("backward", "", "%s %s", a.Name, a.Why)
			return nil
		}
		y.SetNode(n)
	}
	return y
}
