package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
)

// SGDOpts are the options of [SGD]; what is not needed stays 0.
type SGDOpts struct {
	LR          float64
	Momentum    float64 // in [0, 1)
	WeightDecay float64
	// Nesterov looks ahead along the momentum, which must not be 0 (Sutskever et
	// al., On the importance of initialization and momentum in deep learning, 2013).
	Nesterov bool
}

// SGD is stochastic gradient descent. With the gradient g and w the parameter:
//
//	g = g + WeightDecay*w
//	v = Momentum*v + g        v is 0 at first
//	w = w - LR*v              Nesterov: w - LR*(g + Momentum*v)
//
// This is PyTorch's form, in which the learning rate multiplies the velocity.
type SGD struct {
	base
	o SGDOpts
}

// NewSGD returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range, the learning rate is not given or there
// are no parameters.
func NewSGD(params iter.Seq2[string, *weft.Tensor], o SGDOpts) *SGD {
	fraction("sgd", "Momentum", o.Momentum)
	notNegative("sgd", "WeightDecay", o.WeightDecay)
	if o.Nesterov && o.Momentum == 0 {
		array.Failf("sgd", "Nesterov", "needs a momentum")
	}
	var slots []string
	if o.Momentum > 0 {
		slots = []string{"momentum"}
	}
	return &SGD{base: newBase("sgd", params, o.LR, slots...), o: o}
}

// Step changes each parameter that has a gradient.
func (s *SGD) Step() {
	s.of("step")
	f := sgdMomentum
	switch {
	case s.o.Momentum == 0:
		f = sgdPlain
	case s.o.Nesterov:
		f = sgdNesterov
	}
	var rate, decay, momentum any = s.lr, s.o.WeightDecay, s.o.Momentum
	s.step(f, func(list []any, p *param, g *weft.Tensor) []any {
		list = append(list, p.w, g, rate, decay)
		if f != sgdPlain {
			list = append(list, p.state[0], momentum)
		}
		return list
	})
}

// LR is the learning rate.
func (s *SGD) LR() float64 { return s.of("lr").LR() }

// SetLR changes the learning rate of the steps to come.
func (s *SGD) SetLR(lr float64) { s.of("setlr").SetLR(lr) }

// ZeroGrad forgets the gradients.
func (s *SGD) ZeroGrad() { s.of("zerograd").ZeroGrad() }

// State returns what the steps to come depend on; see [Optimizer].
func (s *SGD) State() map[string]*weft.Tensor { return s.of("state").State() }

// LoadState copies such a state into the optimizer; see [Optimizer].
func (s *SGD) LoadState(state map[string]*weft.Tensor) error {
	return s.of("loadstate").LoadState(state)
}

// of refuses an optimizer that is nil, before what it has in common with others is
// reached for.
func (s *SGD) of(method string) *base {
	if s == nil {
		array.Failf("sgd", "", "%s of an optimizer that is nil", method)
	}
	return &s.base
}

// Arguments: parameter, gradient, learning rate, weight decay, velocity, momentum.
var (
	sgdPlain = weft.NewFused("sgd", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{sub(x[0], mul(decayed(x), x[2]))}
	})
	sgdMomentum = weft.NewFused("sgd_momentum", func(x []*ir.Node) []*ir.Node {
		v := add(mul(x[4], x[5]), decayed(x))
		return []*ir.Node{sub(x[0], mul(v, x[2])), v}
	})
	sgdNesterov = weft.NewFused("sgd_nesterov", func(x []*ir.Node) []*ir.Node {
		g := decayed(x)
		v := add(mul(x[4], x[5]), g)
		return []*ir.Node{sub(x[0], mul(add(g, mul(v, x[5])), x[2])), v}
	})
)

func decayed(x []*ir.Node) *ir.Node { return add(x[1], mul(x[0], x[3])) }
