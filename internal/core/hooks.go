package core

import (
	"slices"
	"sync"

	"weft/internal/array"
)

// hooks are a user's functions that a backward pass calls at a node.
type hooks struct {
	mu    sync.Mutex
	grad  []*func(dy *Tensor) *Tensor // with the complete gradient of the node, which they may replace
	after []*func()                   // of a leaf, when the pass has added its gradient
}

// hooksOf returns the hooks of n, which it makes the first time. A node that shares [noInfo] gets a
// NodeInfo of its own, so no pass through n may run meanwhile unless n is a leaf's.
func hooksOf(n *GradNode) *hooks {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.own().hooks.Load() == nil {
		n.hooks.Store(&hooks{})
	}
	return n.hooks.Load()
}

// hooked adds f to a list of hooks, and returns a function that removes it.
func hooked[F any](h *hooks, list *[]*F, f F) (remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	*list = append(slices.Clip(*list), &f) // passes that run read the former list
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		*list = slices.DeleteFunc(slices.Clone(*list), func(g *F) bool { return g == &f })
	}
}

// gradHooks returns the functions that may replace n's gradient.
func (n *GradNode) gradHooks() []*func(dy *Tensor) *Tensor {
	h := n.hooks.Load()
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.grad
}

// hookable returns t's node, and panics where a pass could not call a function for it.
func (t *Tensor) hookable(name string) *GradNode {
	t.Check(name)
	n := t.Node()
	if n == nil {
		array.Failf(name, "", "the tensor does not require a gradient: mark it with RequireGrad, or compute it from one that is marked")
	}
	if tr := TracingHere(); tr != nil {
		if tr.Callee || tr.Seen != nil {
			array.Failf(name, "", "a function of Vmap, Cond, While, ScanSteps or package sym is differentiated as a whole, without hooks: hook its arguments or results outside")
		}
		if !t.v.Store.Abstract {
			array.Failf(name, "", "the tensor is captured by a compiled function, whose calls would not hook it again: hook it outside")
		}
	}
	return n
}

// Hook does what weft.Tensor.Hook says.
func (t *Tensor) Hook(f func(dy *Tensor) *Tensor) (remove func()) {
	h := hooksOf(t.hookable("hook"))
	return hooked(h, &h.grad, f)
}

// PostAccumulateGradHook does what weft.Tensor.PostAccumulateGradHook says.
func (t *Tensor) PostAccumulateGradHook(f func()) (remove func()) {
	const name = "postaccumulategradhook"
	n := t.hookable(name)
	if n.Leaf == nil {
		array.Failf(name, "", "the tensor was computed by %s: only leaves keep a gradient (Hook sees others')", n.opName())
	}
	h := hooksOf(n)
	return hooked(h, &h.after, f)
}

// leadsToWanted reports whether n or a node upstream of it is an input. seen holds nodes that are not.
func (p *gradPass) leadsToWanted(n *GradNode, seen map[*GradNode]bool) bool {
	if n == nil || seen[n] {
		return false
	}
	seen[n] = true
	return p.want[n] != nil || p.mayReachWanted(n) && slices.ContainsFunc(n.In, func(m *GradNode) bool { return p.leadsToWanted(m, seen) })
}

// runHooks calls the functions that n's gradient dy goes through, and returns the last one's result.
func (p *gradPass) runHooks(n *GradNode, dy partialGrad) partialGrad {
	for _, f := range n.gradHooks() {
		if dy.lent && !dy.ours {
			dy.t = dy.t.Clone() // another gradient lies in that memory
		}
		dy.lent, dy.ours = false, false // f may keep it
		Recording(p.create, func() {
			if p.rows == 0 {
				dy.t = p.hooked(n, *f, dy.t)
				return
			}
			rows := make([]*Tensor, p.rows)
			for i := range rows {
				rows[i] = p.hooked(n, *f, dy.t.AtAs("at", []int{i}))
			}
			dy.t = Stack(rows, 0)
		})
	}
	return dy
}

// hooked returns what f makes of the gradient dy of n: dy if that is nil.
func (p *gradPass) hooked(n *GradNode, f func(dy *Tensor) *Tensor, dy *Tensor) *Tensor {
	if !p.create {
		dy = dy.WithoutHistory()
	}
	g := f(dy)
	if g == nil {
		return dy
	}
	g.Check("hook")
	dtype, shape := n.TypeOf()
	if g.v.DType != dtype || !array.Equal(g.v.Shape, shape) {
		array.Failf("hook", "f", "returned %s for the gradient of %s", array.TypeString(g.v.DType, g.v.Shape), array.TypeString(dtype, shape))
	}
	if a, b := dy.v.Store.Device, g.v.Store.Device; a != b {
		failDevices("hook", a, b)
	}
	if !p.create {
		g = g.WithoutHistory()
	}
	return g
}

// accumulated calls the hooks of the leaf n, whose gradient is final in this pass.
func (n *GradNode) accumulated() {
	h := n.hooks.Load()
	if h == nil {
		return
	}
	h.mu.Lock()
	list := h.after
	h.mu.Unlock()
	for _, f := range list {
		(*f)()
	}
}
