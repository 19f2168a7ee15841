package optim

import (
	"fmt"
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// An Optimizer changes the parameters that it was made for.
type Optimizer interface {
	// Step changes each parameter by its gradient. Parameters without one are left alone.
	Step()
	// ZeroGrad forgets the gradients.
	ZeroGrad()
	// LR is the learning rate: that of the options, or PyTorch's default of the optimizer,
	// until SetLR or a schedule sets another.
	LR() float64
	// SetLR changes the learning rate of the steps to come; rates of groups keep their
	// ratio to it. It panics with *weft.Error if lr is negative or not a number.
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

// A StateError describes a state that does not fit an optimizer or a schedule.
type StateError struct {
	Name string // the entry
	Msg  string
}

func (e *StateError) Error() string { return fmt.Sprintf("optim: state %q %s", e.Name, e.Msg) }

// A Method is an optimizer with the options O, by which it is known: [SGD], [Adam] and others
// are Methods. It has one group of parameters and more where [Method.AddGroup] gives options
// of their own to some. A parameter that its maker gets several times, such as tied weights under
// two names, is stepped once, and its state has the first name. It implements [Optimizer].
type Method[O options[O]] struct {
	groups []*group[O]
	lr     core.HostVariable
}

// options are what an optimizer is given, which say what it does.
type options[O any] interface {
	name() string
	filled() O             // with the defaults for what is nil; it panics if something is out of range
	rate() *float64        // nil: not given
	slots(p *param) []slot // what is kept for a parameter; it panics if that does not suit
	update(m *moment) update
}

// A slot is a kind of tensor that is kept for each parameter.
type slot struct {
	name  string
	first float64 // what it holds before the first step
	shape []int   // nil: the parameter's
}

// sizes returns the shape of the slot of a parameter.
func (s *slot) sizes(p *param) []int {
	if s.shape != nil {
		return s.shape
	}
	return sizes(p.t)
}

// A moment is when an update is.
type moment struct {
	rate *core.HostNumber // computed again by each call of a compiled step
}

// An update is how the parameters of a group change in a step.
type update struct {
	rule
	rows rule // for gradients that are kept as rows; none: they are turned into arrays
	// noRows is why gradients that are kept as rows are refused.
	noRows string
	counts func(p *param) // what else a step changes in p, before the steps are counted; may be nil
}

// A rule is a formula that writes a parameter and what is kept for it. args appends its
// arguments for a parameter with the gradient g to a list.
type rule struct {
	f    *core.Fused
	args func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand
}

// A group is parameters with options.
type group[O any] struct {
	o      O
	rate   *core.HostNumber // the learning rate
	params []*param
}

// A param is a parameter with the state kept for it.
type param struct {
	name  string
	t     *weft.Tensor
	w     *weft.Tensor // t to write into, nil before the first step
	slots []slot
	state []*weft.Tensor    // by slot, nil before the first step
	steps core.HostVariable // taken with a gradient
	// product is that of the momenta of the steps taken, of [NAdam].
	product core.HostVariable
	numbers []*core.HostNumber // that depend on the steps, nil before the first one
}

// next is the number of the step that comes.
func (p *param) next() *core.HostNumber { return p.steps.Number().Add(core.HostConst(1)) }

func newMethod[O options[O]](params iter.Seq2[string, *weft.Tensor], opts []O) *Method[O] {
	var o O
	o = array.Options(o.name(), opts)
	m := &Method[O]{}
	m.lr.Value = *m.add(params, o, 1).o.rate()
	return m
}

// add takes parameters in, whose learning rate has a ratio to that of the optimizer.
func (m *Method[O]) add(params iter.Seq2[string, *weft.Tensor], o O, ratio float64) *group[O] {
	op := o.name()
	g := &group[O]{o: o.filled(), rate: m.lr.Number().Mul(core.HostConst(ratio))}
	g.params = take(op, params, m.all())
	_, linear := any(o).(SGDOpts)
	for _, p := range g.params {
		if !linear {
			requireReal(op, p.name, p.t) // all others square the gradient
		}
		p.slots, p.product.Value = g.o.slots(p), 1
	}
	m.groups = append(m.groups, g)
	return g
}

// take checks parameters. One that params gives several times, as tied weights under two names, is
// one parameter, under its first name. It panics if another group has a name or a parameter.
func take(op string, params iter.Seq2[string, *weft.Tensor], others iter.Seq[*param]) (list []*param) {
	if params == nil {
		array.Failf(op, "params", "is nil: nn.Params returns the parameters of a module")
	}
	names, before := map[string]bool{}, map[*weft.Tensor]string{}
	for p := range others {
		names[p.name], before[p.t] = true, p.name
	}
	own := map[*weft.Tensor]bool{}
	for name, t := range params {
		if t == nil || !t.RequiresGrad() || !t.IsLeaf() {
			array.Failf(op, "params", "%q is not a leaf that requires a gradient", name)
		}
		if own[t] {
			continue
		}
		if first, ok := before[t]; ok {
			array.Failf(op, "params", "%q is in another group already, as %q: it would be stepped twice", name, first)
		}
		if names[name] {
			array.Failf(op, "params", "two are named %q", name)
		}
		names[name], own[t] = true, true
		list = append(list, &param{name: name, t: t})
	}
	if len(list) == 0 {
		array.Failf(op, "params", "is empty: a module's parameters are its tensors marked with nn.Param, in exported fields")
	}
	return list
}

// AddGroup adds parameters with options of their own. If their learning rate is nil it is the
// optimizer's. Otherwise it keeps its ratio to the rate that the optimizer was made with: SetLR
// changes both by the same factor. It panics with *weft.Error as the function that made the
// optimizer does. It also panics if a name or a parameter is in another group, or if it has a
// learning rate and the optimizer's is 0.
func (m *Method[O]) AddGroup(params iter.Seq2[string, *weft.Tensor], opts ...O) {
	m.made("addgroup")
	o := array.Options("addgroup", opts)
	ratio := 1.0
	if r := o.rate(); r != nil {
		first := *m.groups[0].o.rate()
		if notNegative(o.name(), "LR", *r); first != 0 {
			ratio = *r / first
		} else if *r != 0 {
			array.Failf(o.name(), "LR", "of a group is meant beside that of the optimizer, which was made with 0")
		}
	}
	m.add(params, o, ratio)
}

// all are the parameters of all groups.
func (m *Method[O]) all() iter.Seq[*param] {
	return func(yield func(*param) bool) {
		for _, g := range m.groups {
			for _, p := range g.params {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// Step changes each parameter that has a gradient.
func (m *Method[O]) Step() {
	m.notNil("step")
	for _, g := range m.groups {
		step(g.o.name(), g.params, g.o.update(&moment{rate: g.rate}))
	}
}

// LR is the learning rate.
func (m *Method[O]) LR() float64 {
	m.notNil("lr")
	core.RefuseHost("lr", "reads the learning rate as a Go number")
	return m.lr.Value
}

// SetLR changes the learning rate of the steps to come; see [Optimizer].
func (m *Method[O]) SetLR(lr float64) {
	m.notNil("setlr")
	core.RefuseHost("setlr", "sets the learning rate")
	var o O
	m.lr.Value = notNegative(o.name(), "LR", lr)
}

// learningRate is what a schedule changes in calls of a compiled step.
func (m *Method[O]) learningRate() *core.HostVariable {
	m.notNil("lr")
	return &m.lr
}

// ZeroGrad forgets the gradients.
func (m *Method[O]) ZeroGrad() {
	m.notNil("zerograd")
	for p := range m.all() {
		p.t.SetGrad(nil)
	}
}

// notNil refuses an optimizer that is nil.
func (m *Method[O]) notNil(method string) {
	if m == nil {
		var o O
		array.Failf(o.name(), "", "%s of an optimizer that is nil", method)
	}
}

// made refuses one that has no group either.
func (m *Method[O]) made(method string) {
	m.notNil(method)
	if len(m.groups) == 0 {
		var o O
		array.Failf(o.name(), "", "%s of an optimizer that was not made by a function of this package", method)
	}
}

// requireReal refuses complex numbers.
func requireReal(op, name string, t *weft.Tensor) {
	if !t.DType().Float() {
		array.Failf(op, "params", "%q is %s, want real numbers", name, t.DType())
	}
}

func notNegative(opName, arg string, x float64) float64 {
	if !(x >= 0) {
		array.Failf(opName, arg, "is %v, want 0 or more", x)
	}
	return x
}

// requireFraction returns a number. It panics unless the number is in [0, 1).
func requireFraction(opName, arg string, x float64) float64 {
	if !(x >= 0 && x < 1) {
		array.Failf(opName, arg, "is %v, want at least 0 and less than 1", x)
	}
	return x
}

// String returns the name, the learning rate, and the numbers of groups and parameters.
func (m *Method[O]) String() string {
	var o O
	n := 0
	for _, g := range m.groups {
		n += len(g.params)
	}
	return array.Describe("optim."+o.name(), "LR", m.lr.Value, "Groups", len(m.groups), "Parameters", n)
}
