package optim

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A grad is a gradient, as an array or as the rows at some places; all nil: there is none.
type grad struct {
	t      *weft.Tensor
	places *weft.Tensor
}

// step changes the parameters that have a gradient: those whose gradients are arrays all at
// once.
func step(opName string, params []*param, u update) {
	if u.rows.f != nil && u.rows.f != u.f {
		core.RefuseHost(opName, "changes the rows that have a gradient, whose number is known when it is called,")
	}
	if u.noRows != "" {
		for _, p := range params {
			weft.BorrowRows(p.t, func(_, _ *weft.Tensor) {
				array.Failf(opName, "params", "%q has a gradient that is kept as rows: %s", p.name, u.noRows)
			})
		}
	}
	core.OnOneLine(func() {
		borrow(params, u.rows.f != nil, func(grads []grad) { u.apply(params, grads) })
	})
}

// apply changes the parameters that have a gradient.
func (u *update) apply(params []*param, grads []grad) {
	var dst []*core.Tensor
	var list []core.Operand
	u.f.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
		for i, p := range params {
			if grads[i].t == nil || grads[i].places != nil {
				continue
			}
			p.keep()
			dst = p.places(dst[:0])
			list = u.args(list[:0], p, grads[i].t)
			if !yield(dst, list) {
				return
			}
		}
	})
	for i, p := range params {
		if places := grads[i].places; places != nil {
			p.keep()
			dst = p.places(dst[:0])
			u.rows.f.IntoRows((*core.Tensor)(places), dst, u.rows.args(list[:0], p, grads[i].t))
		}
		if grads[i].t != nil {
			u.count(p)
		}
	}
}

// count notes that a parameter was stepped.
func (u *update) count(p *param) {
	if u.counts != nil {
		u.counts(p)
	}
	if core.TracingHere() == nil {
		p.steps.Value++
		return
	}
	core.SetInCalls(&p.steps, p.next())
}

// borrow calls f with the gradients of parameters; rows says that those that are kept as
// rows are to be given as such.
func borrow(params []*param, rows bool, f func(grads []grad)) {
	grads := make([]grad, len(params))
	var from func(i int)
	from = func(i int) {
		for ; i < len(grads); i++ {
			if rows && weft.BorrowRows(params[i].t, func(places, values *weft.Tensor) {
				grads[i] = grad{values, places}
				from(i + 1)
			}) || weft.BorrowGrad(params[i].t, func(g *weft.Tensor) {
				grads[i] = grad{t: g}
				from(i + 1)
			}) {
				return
			}
		}
		f(grads)
	}
	from(0)
}

// keep makes what a parameter needs before its first step.
func (p *param) keep() {
	if p.w == nil {
		p.w = p.t.Detach()
	}
	if p.state != nil {
		return
	}
	core.OutsideTrace(func() { // it is kept from step to step
		p.state = make([]*weft.Tensor, len(p.slots))
		for i, s := range p.slots {
			p.state[i] = p.t.Device().ZerosOf(p.t.DType(), s.sizes(p)...)
			if s.first != 0 {
				p.state[i].AddAssign(s.first)
			}
		}
	})
}

// sign is what gradients are multiplied by.
func sign(maximize bool) float64 {
	if maximize {
		return -1
	}
	return 1
}

// Nodes of the update formulas.

func add(x, y *ir.Node) *ir.Node { return op.Apply(op.Add, nil, x, y) }
func sub(x, y *ir.Node) *ir.Node { return op.Apply(op.Sub, nil, x, y) }
func mul(x, y *ir.Node) *ir.Node { return op.Apply(op.Mul, nil, x, y) }
func div(x, y *ir.Node) *ir.Node { return op.Apply(op.Div, nil, x, y) }
func sqrt(x *ir.Node) *ir.Node   { return op.Apply(op.Sqrt, nil, x) }

// decayed is the gradient x[1], times a sign x[3], and the parameter x[0] times its decay
// x[2].
func decayed(x []*ir.Node) *ir.Node { return add(mul(x[1], x[3]), mul(x[0], x[2])) }

func maximum(x, y *ir.Node) *ir.Node  { return op.Apply(op.Maximum, nil, x, y) }
func magnitude(x *ir.Node) *ir.Node   { return op.Apply(op.Abs, nil, x) }
func where(c, x, y *ir.Node) *ir.Node { return op.Apply(op.Where, nil, c, x, y) }

// constant is a number in the type of like.
func constant(like *ir.Node, x float64) *ir.Node { return like.Graph.Number(x, like.DType, false) }
