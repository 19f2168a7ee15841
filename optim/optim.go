package optim

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// An Optimizer changes the parameters that it was made for.
type Optimizer interface {
	// Step changes each parameter by its gradient. Parameters without one are
	// left alone.
	Step()
	// ZeroGrad forgets the gradients.
	ZeroGrad()
	// LR is the learning rate.
	LR() float64
	// SetLR changes the learning rate of the steps to come. It panics with
	// *weft.Error if it is negative or not a number.
	SetLR(lr float64)
	// State returns what the steps to come depend on besides the parameters and
	// the options: the learning rate, the number of steps and what is kept for
	// each parameter, under names that end in the parameter's. The tensors are
	// the optimizer's own.
	State() map[string]*weft.Tensor
	// LoadState copies such a state into the optimizer, which must be of the same
	// kind and have parameters of the same names and shapes. An error, a
	// *StateError, leaves it as it was.
	LoadState(state map[string]*weft.Tensor) error
}

// A StateError describes a state that does not fit an optimizer.
type StateError struct {
	Name string // the entry
	Msg  string
}

func (e *StateError) Error() string { return fmt.Sprintf("optim: state %q %s", e.Name, e.Msg) }

// A param is a parameter with the state kept for it.
type param struct {
	name  string
	t     *weft.Tensor
	w     *weft.Tensor   // t to write into, nil before the first step
	state []*weft.Tensor // by slot, nil before the first step
	steps int64          // taken with a gradient
}

// base is what optimizers have in common.
type base struct {
	op     string
	params []*param
	slots  []string // names of the states kept for a parameter
	lr     float64
}

func newBase(op string, params iter.Seq2[string, *weft.Tensor], lr float64, slots ...string) base {
	b := base{op: op, slots: slots}
	seen := map[string]bool{}
	if params == nil {
		array.Failf(op, "params", "is nil: nn.Params returns those of a module")
	}
	for name, t := range params {
		switch {
		case t == nil || !t.RequiresGrad() || !t.IsLeaf():
			array.Failf(op, "params", "%q is not a leaf that requires a gradient", name)
		case seen[name]:
			array.Failf(op, "params", "two are named %q", name)
		}
		seen[name] = true
		b.params = append(b.params, &param{name: name, t: t})
	}
	if len(b.params) == 0 {
		array.Failf(op, "params", "is empty: a module's parameters are its tensors marked with nn.Param, in exported fields")
	}
	if lr == 0 {
		array.Failf(op, "LR", "is 0: give the learning rate, such as 0.01")
	}
	b.SetLR(lr)
	return b
}

// LR is the learning rate.
func (b *base) LR() float64 { return b.lr }

// SetLR changes the learning rate of the steps to come.
func (b *base) SetLR(lr float64) { b.lr = notNegative(b.op, "LR", lr) }

// ZeroGrad forgets the gradients.
func (b *base) ZeroGrad() {
	for _, p := range b.params {
		p.t.SetGrad(nil)
	}
}

// step changes the parameters that have a gradient, by a formula that writes each and
// its state, all at once. args appends the formula's arguments for a parameter with the
// gradient g to a list.
func (b *base) step(f *weft.Fused, args func(list []any, p *param, g *weft.Tensor) []any) {
	b.borrow(func(grads []*weft.Tensor) {
		f.IntoAll(func(yield func([]*weft.Tensor, []any) bool) {
			var dst []*weft.Tensor
			var list []any
			for i, p := range b.params {
				if grads[i] == nil {
					continue
				}
				b.keep(p)
				dst = append(append(dst[:0], p.w), p.state...)
				list = args(list[:0], p, grads[i])
				if !yield(dst, list) {
					return
				}
			}
		})
		for i, p := range b.params {
			if grads[i] != nil {
				p.steps++
			}
		}
	})
}

// borrow calls f with the gradients of all parameters, nil for those that have none.
func (b *base) borrow(f func(grads []*weft.Tensor)) {
	grads := make([]*weft.Tensor, len(b.params))
	var from func(i int)
	from = func(i int) {
		for ; i < len(grads); i++ {
			if weft.BorrowGrad(b.params[i].t, func(g *weft.Tensor) {
				grads[i] = g
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
func (b *base) keep(p *param) {
	if p.w == nil {
		p.w = p.t.NoGrad()
	}
	if p.state != nil {
		return
	}
	p.state = make([]*weft.Tensor, len(b.slots))
	for i := range p.state {
		p.state[i] = weft.ZerosOf(p.t.DType(), p.t.Shape()...)
	}
}

// State returns the optimizer's state.
func (b *base) State() map[string]*weft.Tensor {
	s := map[string]*weft.Tensor{"lr": weft.Scalar(b.lr, weft.Float64)}
	for _, p := range b.params {
		s["steps."+p.name] = weft.Scalar(p.steps)
		for i, t := range p.state {
			s[b.slots[i]+"."+p.name] = t
		}
	}
	return s
}

// LoadState copies a state into the optimizer.
func (b *base) LoadState(state map[string]*weft.Tensor) error {
	used := 0
	get := func(name string, d weft.DType, shape []int) (*weft.Tensor, error) {
		t := state[name]
		if t == nil {
			return nil, &StateError{name, "is missing"}
		}
		if t.DType() != d || !array.Equal(t.Shape(), shape) {
			return nil, &StateError{name, fmt.Sprintf("is %s, want %s", array.TypeString(t.DType(), t.Shape()), array.TypeString(d, shape))}
		}
		used++
		return t, nil
	}
	lr, err := get("lr", weft.Float64, nil)
	if err != nil {
		return err
	}
	if x := lr.Item(); !(x >= 0) {
		return &StateError{"lr", fmt.Sprintf("is %v", x)}
	}
	loaded := make([]param, len(b.params))
	for i, p := range b.params {
		n, err := get("steps."+p.name, weft.Int64, nil)
		if err != nil {
			return err
		}
		l := &loaded[i]
		if l.steps = n.ItemInt(); l.steps < 0 {
			return &StateError{"steps." + p.name, fmt.Sprintf("is %d", l.steps)}
		}
		if l.steps == 0 {
			continue
		}
		for _, slot := range b.slots {
			t, err := get(slot+"."+p.name, p.t.DType(), p.t.Shape())
			if err != nil {
				return err
			}
			l.state = append(l.state, t)
		}
	}
	if used != len(state) {
		for _, name := range slices.Sorted(maps.Keys(state)) {
			if !b.owns(name) {
				return &StateError{name, "belongs to no parameter"}
			}
		}
	}
	b.lr = lr.Item()
	for i, p := range b.params {
		p.steps, p.state = loaded[i].steps, nil
		for _, t := range loaded[i].state {
			p.state = append(p.state, t.NoGrad().Detach().Clone())
		}
	}
	return nil
}

// owns reports whether an entry of that name may be in a state.
func (b *base) owns(name string) bool {
	if name == "lr" {
		return true
	}
	for _, p := range b.params {
		if name == "steps."+p.name {
			return true
		}
		for _, slot := range b.slots {
			if name == slot+"."+p.name {
				return true
			}
		}
	}
	return false
}

func notNegative(opName, arg string, x float64) float64 {
	if !(x >= 0) {
		array.Failf(opName, arg, "is %v, want 0 or more", x)
	}
	return x
}

// fraction checks a number that must be in [0, 1).
func fraction(opName, arg string, x float64) float64 {
	if !(x >= 0 && x < 1) {
		array.Failf(opName, arg, "is %v, want at least 0 and less than 1", x)
	}
	return x
}

// Nodes of the update formulas.

func add(x, y *ir.Node) *ir.Node { return op.Apply(op.Add, nil, x, y) }
func sub(x, y *ir.Node) *ir.Node { return op.Apply(op.Sub, nil, x, y) }
func mul(x, y *ir.Node) *ir.Node { return op.Apply(op.Mul, nil, x, y) }
func div(x, y *ir.Node) *ir.Node { return op.Apply(op.Div, nil, x, y) }
func sqrt(x *ir.Node) *ir.Node   { return op.Apply(op.Sqrt, nil, x) }
