package optim

import (
	"fmt"
	"maps"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// State returns what the steps to come depend on; see [Optimizer].
func (m *Method[O]) State() map[string]*weft.Tensor {
	m.notNil("state")
	core.RefuseHost("state", "takes the state of an optimizer")
	s := map[string]*weft.Tensor{"lr": weft.ScalarOf(weft.Float64, m.lr.Value)}
	for p := range m.all() {
		s["steps."+p.name] = weft.Scalar(int64(p.steps.Value))
		for i, t := range p.state {
			s[p.slots[i].name+"."+p.name] = t
		}
	}
	return s
}

// LoadState copies such a state into the optimizer; see [Optimizer].
func (m *Method[O]) LoadState(state map[string]*weft.Tensor) error {
	m.notNil("loadstate")
	core.RefuseHost("loadstate", "sets the state of an optimizer")
	r := reader{state: state, used: map[string]bool{}}
	lr := r.number("lr")
	var loaded []param
	for p := range m.all() {
		l := param{steps: core.HostVariable{Value: float64(r.count("steps." + p.name))}}
		for _, s := range p.slots {
			if l.steps.Value > 0 {
				l.state = append(l.state, r.tensor(s.name+"."+p.name, p.t.DType(), s.sizes(p)))
			} else {
				r.used[s.name+"."+p.name] = true // nobody needs it, but it may be there
			}
		}
		loaded = append(loaded, l)
	}
	if err := r.finish(); err != nil {
		return err
	}
	m.lr.Value = lr
	for _, g := range m.groups {
		for _, p := range g.params {
			l := loaded[0]
			loaded = loaded[1:]
			p.steps, p.state, p.product.Value = l.steps, nil, 1
			if o, ok := any(&g.o).(*NAdamOpts); ok {
				p.product.Value = o.upTo(p)
			}
			for _, t := range l.state {
				p.state = append(p.state, copyOf(t.On(p.t.Device())))
			}
		}
	}
	return nil
}

// copyOf is a tensor of the same values that nothing else holds.
func copyOf(t *weft.Tensor) *weft.Tensor { return t.Detach().Clone() }

// A reader takes the entries of a state. It keeps the first error and then returns zeros.
type reader struct {
	state map[string]*weft.Tensor
	used  map[string]bool
	err   error
}

func (r *reader) fail(name, format string, args ...any) {
	if r.err == nil {
		r.err = &StateError{name, fmt.Sprintf(format, args...)}
	}
}

// tensor returns an entry of a shape in type d, to which floats convert.
func (r *reader) tensor(name string, d weft.DType, shape []int) *weft.Tensor {
	t := r.state[name]
	r.used[name] = true
	if t != nil && t.DType().Float() && d.Float() {
		t = t.To(d)
	}
	switch {
	case t == nil:
		r.fail(name, "is missing")
	case t.DType() != d || !array.Equal(sizes(t), shape):
		r.fail(name, "is %s, want %s", array.TypeString(t.DType(), t.Shape()), array.TypeString(d, shape))
	default:
		return t
	}
	return nil
}

// any returns a number that may be anything.
func (r *reader) any(name string) float64 {
	if t := r.tensor(name, weft.Float64, nil); t != nil {
		return t.Item()
	}
	return 0
}

// number returns one that is not negative.
func (r *reader) number(name string) float64 {
	x := r.any(name)
	if !(x >= 0) {
		r.fail(name, "is %v", x)
	}
	return x
}

// count returns an integer that is not negative.
func (r *reader) count(name string) int64 {
	t := r.tensor(name, weft.Int64, nil)
	if t == nil {
		return 0
	}
	n := t.ItemInt()
	if n < 0 {
		r.fail(name, "is %d", n)
	}
	return n
}

// finish returns the first error; entries that nobody asked for are one.
func (r *reader) finish() error {
	for _, name := range slices.Sorted(maps.Keys(r.state)) {
		if !r.used[name] {
			r.fail(name, "belongs to no parameter")
		}
	}
	return r.err
}
