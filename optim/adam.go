package optim

import (
	"iter"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
)

// AdamOpts are the options of [Adam].
type AdamOpts struct {
	LR          float64
	Beta1       float64 // decay of the mean gradient, in [0, 1); 0 means 0.9
	Beta2       float64 // decay of the mean squared gradient, in [0, 1); 0 means 0.999
	Eps         float64 // 0 means 1e-8
	WeightDecay float64
	// Decoupled takes the decay out of the gradient, which makes it AdamW
	// (Loshchilov and Hutter, Decoupled weight decay regularization, 2019).
	Decoupled bool
}

// Adam is the optimizer of Kingma and Ba, Adam: A method for stochastic
// optimization, 2015. With the gradient g, w the parameter and t the number of
// steps that it has taken, this one included:
//
//	g = g + WeightDecay*w               Decoupled: w = w - LR*WeightDecay*w
//	m = Beta1*m + (1-Beta1)*g           0 at first
//	v = Beta2*v + (1-Beta2)*g*g         0 at first
//	w = w - LR/(1-Beta1^t) * m/(sqrt(v)/sqrt(1-Beta2^t) + Eps)
//
// This is PyTorch's order of operations.
type Adam struct {
	base
	o AdamOpts
}

// NewAdam returns an optimizer of params, as nn.Params gives them. It panics with
// *weft.Error if an option is out of range, the learning rate is not given or there
// are no parameters.
func NewAdam(params iter.Seq2[string, *weft.Tensor], o AdamOpts) *Adam {
	orElse := func(x, y float64) float64 {
		if x == 0 {
			return y
		}
		return x
	}
	o.Beta1 = fraction("adam", "Beta1", orElse(o.Beta1, 0.9))
	o.Beta2 = fraction("adam", "Beta2", orElse(o.Beta2, 0.999))
	o.Eps = notNegative("adam", "Eps", orElse(o.Eps, 1e-8))
	notNegative("adam", "WeightDecay", o.WeightDecay)
	return &Adam{base: newBase("adam", params, o.LR, "mean", "square"), o: o}
}

// Step changes each parameter that has a gradient.
func (a *Adam) Step() {
	a.of("step")
	o := &a.o
	decay, shrink := o.WeightDecay, 1.0
	if o.Decoupled {
		decay, shrink = 0, 1-float64(a.lr*o.WeightDecay)
	}
	// The same for all parameters, but root and rate where some have taken fewer steps.
	numbers := []any{decay, shrink, o.Beta1, 1 - o.Beta1, o.Beta2, 1 - o.Beta2, nil, o.Eps, nil}
	n := int64(0)
	a.step(adam, func(list []any, p *param, g *weft.Tensor) []any {
		if n != p.steps+1 {
			n = p.steps + 1
			numbers[6] = 1 / math.Sqrt(1-power(o.Beta2, n))
			numbers[8] = a.lr / (1 - power(o.Beta1, n))
		}
		return append(append(list, p.w, g, p.state[0], p.state[1]), numbers...)
	})
}

// LR is the learning rate.
func (a *Adam) LR() float64 { return a.of("lr").LR() }

// SetLR changes the learning rate of the steps to come.
func (a *Adam) SetLR(lr float64) { a.of("setlr").SetLR(lr) }

// ZeroGrad forgets the gradients.
func (a *Adam) ZeroGrad() { a.of("zerograd").ZeroGrad() }

// State returns what the steps to come depend on; see [Optimizer].
func (a *Adam) State() map[string]*weft.Tensor { return a.of("state").State() }

// LoadState copies such a state into the optimizer; see [Optimizer].
func (a *Adam) LoadState(state map[string]*weft.Tensor) error {
	return a.of("loadstate").LoadState(state)
}

// of refuses an optimizer that is nil, before what it has in common with others is
// reached for.
func (a *Adam) of(method string) *base {
	if a == nil {
		array.Failf("adam", "", "%s of an optimizer that is nil", method)
	}
	return &a.base
}

// power is x to the n by products alone: the same bits on every processor.
func power(x float64, n int64) float64 {
	y := 1.0
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			y = float64(y * x)
		}
		x = float64(x * x)
	}
	return y
}

// Arguments: parameter, gradient, mean, mean square, decay, shrinking, the betas
// each with what it lacks to 1, bias correction of the root, epsilon, rate.
var adam = weft.NewFused("adam", func(x []*ir.Node) []*ir.Node {
	w := x[0]
	g := add(x[1], mul(w, x[4]))
	m := add(mul(x[2], x[6]), mul(g, x[7]))
	v := add(mul(x[3], x[8]), mul(mul(g, g), x[9]))
	down := mul(div(m, add(mul(sqrt(v), x[10]), x[11])), x[12])
	return []*ir.Node{sub(mul(w, x[5]), down), m, v}
})
