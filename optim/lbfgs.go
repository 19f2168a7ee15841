package optim

import (
	"fmt"
	"iter"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// LBFGSOpts are the options of [LBFGS]; the defaults are PyTorch's.
type LBFGSOpts struct {
	LR              *float64 // the first length that the search along a direction tries; nil means 1
	MaxIter         *int     // iterations of a Step; nil means 20
	MaxEval         *int     // evaluations of a Step; nil means 5/4 of MaxIter
	History         *int     // changes that directions are made of; nil means 100
	ToleranceGrad   *float64 // ends a Step: the greatest element of the gradient; nil means 1e-7
	ToleranceChange *float64 // ends a Step: the change of the loss or of all parameters; nil means 1e-9
	// NoSearch takes LR for the length of all steps but the very first, without a search along the
	// direction: PyTorch's default. Few evaluations, but the loss may rise.
	NoSearch bool
}

// LBFGS is the limited-memory method of Broyden, Fletcher, Goldfarb and Shanno. A search along
// each direction ends by the strong Wolfe conditions. It suits few parameters and the loss of all
// data, which it evaluates many times. It is PyTorch's with line_search_fn="strong_wolfe", and with
// the option NoSearch PyTorch's without.
//
// Source: Nocedal and Wright, Numerical optimization, 2006, chapters 3 and 7.
//
//	opt := optim.NewLBFGS(nn.Params(net), optim.LBFGSOpts{})
//	loss := opt.Step(func() *weft.Tensor {
//		opt.ZeroGrad()
//		loss := nn.MSE(net.Forward(x), y)
//		loss.Backward()
//		return loss
//	})
type LBFGS struct {
	params []*param
	limits limits
	lr     float64

	// What iterations leave to the next one.
	iterations, evaluations int64
	direction, grad         *weft.Tensor // the last, flat
	length                  float64      // of the last step
	scale                   float64      // of the first guess of the inverse of the Hessian
	changes                 []correctionPair
}

// limits are the options that end a Step, and the number of changes that are kept.
type limits struct {
	iterations, evaluations, history int
	gradient, change                 float64
	noSearch                         bool
}

// correctionPair is a step and the change of the gradient that it made, both flat: the pair (s, y)
// of L-BFGS.
type correctionPair struct {
	step, grad *weft.Tensor
	rho        float64 // 1 over their dot product
}

// NewLBFGS returns an optimizer of params, as nn.Params gives them, which are of one element
// type. It panics with *weft.Error if an option is out of range or there are no parameters.
func NewLBFGS(params iter.Seq2[string, *weft.Tensor], opts ...LBFGSOpts) *LBFGS {
	o := array.Options("lbfgs", opts)
	const name = "lbfgs"
	limits := limits{
		iterations: array.Or(o.MaxIter, 20),
		history:    array.Or(o.History, 100),
		gradient:   notNegative(name, "ToleranceGrad", array.Or(o.ToleranceGrad, 1e-7)),
		change:     notNegative(name, "ToleranceChange", array.Or(o.ToleranceChange, 1e-9)),
		noSearch:   o.NoSearch,
	}
	// The sum overflows for a MaxIter near the greatest integer.
	limits.evaluations = array.Or(o.MaxEval, max(limits.iterations, limits.iterations+limits.iterations/4))
	for _, n := range []struct {
		name string
		n    int
	}{{"MaxIter", limits.iterations}, {"MaxEval", limits.evaluations}, {"History", limits.history}} {
		if n.n < 0 {
			array.Failf(name, n.name, "is negative: %d", n.n)
		}
	}
	l := &LBFGS{params: take(name, params, func(func(*param) bool) {}), limits: limits, lr: notNegative(name, "LR", array.Or(o.LR, 1))}
	for _, p := range l.params {
		if d := l.params[0].t.DType(); p.t.DType() != d {
			array.Failf(name, "params", "%q is %s and %q %s, want one type", l.params[0].name, d, p.name, p.t.DType())
		}
		requireReal(name, p.name, p.t)
		p.w = p.t.Detach()
	}
	return l
}

// Step iterates until a limit or a tolerance of the options is reached. closure forgets the
// gradients, computes the loss, a tensor of one element, and its gradients, and returns the
// loss; it is called for each evaluation. Step returns the loss of the first.
func (l *LBFGS) Step(closure func() *weft.Tensor) float64 {
	l.made("step")
	if closure == nil {
		array.Failf("lbfgs", "closure", "is nil")
	}
	s := search{l: l, closure: closure}
	first, g := s.evaluate()
	l.evaluations++
	loss, evals := first, 1
	// Without a length there is nothing to search along a direction.
	done := l.lr == 0 || l.limits.iterations == 0 || s.greatest(g) <= l.limits.gradient
	for n := 1; !done; n++ {
		l.iterations++
		l.aim(g)
		l.grad = g
		l.length = l.lr
		if l.iterations == 1 {
			l.length = min(1, 1/total(g)) * l.lr
		}
		slope := dot(g, l.direction)
		if slope > -l.limits.change {
			break
		}
		before := loss
		s.from, s.along = l.flat(), l.direction
		used := 0
		if !l.limits.noSearch {
			loss, g, l.length, used = s.wolfe(point{0, loss, g, slope}, l.length, l.limits.evaluations-evals, l.limits.change)
		}
		s.move(l.length)
		if l.limits.noSearch && n < l.limits.iterations { // the next Step evaluates after the last
			loss, g = s.evaluate()
			used = 1
		}
		evals += used
		l.evaluations += int64(used)
		done = n == l.limits.iterations || evals >= l.limits.evaluations || s.greatest(g) <= l.limits.gradient ||
			s.greatest(l.direction.Mul(l.length)) <= l.limits.change || math.Abs(loss-before) < l.limits.change ||
			math.IsNaN(loss)
	}
	return first
}

// aim chooses the direction from the gradient and what the last steps changed of it.
func (l *LBFGS) aim(g *weft.Tensor) {
	if l.iterations == 1 {
		l.direction, l.changes, l.scale = g.Neg(), nil, 1
		return
	}
	y, s := g.Sub(l.grad), l.direction.Mul(l.length)
	if ys := dot(y, s); ys > 1e-10 {
		l.changes = append(l.changes, correctionPair{s, y, 1 / ys})
		if len(l.changes) > l.limits.history {
			l.changes = l.changes[1:]
		}
		l.scale = ys / dot(y, y)
	}
	q := g.Neg()
	parts := make([]float64, len(l.changes))
	for i := len(l.changes) - 1; i >= 0; i-- {
		c := &l.changes[i]
		parts[i] = float64(dot(c.step, q) * c.rho)
		axpy.Into([]*core.Tensor{(*core.Tensor)(q)}, []core.Operand{operand(q), operand(c.grad), core.Num(-parts[i])})
	}
	q.MulAssign(l.scale)
	for i := range l.changes {
		c := &l.changes[i]
		axpy.Into([]*core.Tensor{(*core.Tensor)(q)}, []core.Operand{operand(q), operand(c.step), core.Num(parts[i] - float64(dot(c.grad, q)*c.rho))})
	}
	l.direction = q
}

// flat is a copy of all parameters, one after the other.
func (l *LBFGS) flat() *weft.Tensor {
	list := make([]*weft.Tensor, len(l.params))
	for i, p := range l.params {
		list[i] = p.w.Flatten(0)
	}
	return weft.Cat(list, 0).Detach()
}

// LR is the length that searches try first.
func (l *LBFGS) LR() float64 {
	l.made("lr")
	return l.lr
}

// SetLR changes the length that searches try first.
func (l *LBFGS) SetLR(lr float64) {
	l.made("setlr")
	l.lr = notNegative("lbfgs", "LR", lr)
}

// ZeroGrad forgets the gradients.
func (l *LBFGS) ZeroGrad() {
	l.made("zerograd")
	for _, p := range l.params {
		p.t.SetGrad(nil)
	}
}

func (l *LBFGS) made(method string) {
	if l == nil || len(l.params) == 0 {
		array.Failf("lbfgs", "", "%s of an optimizer that is nil or was not made by NewLBFGS", method)
	}
}

// State returns what the steps to come depend on, as an [Optimizer] does; what is kept is of
// all parameters in one.
func (l *LBFGS) State() map[string]*weft.Tensor {
	l.made("state")
	s := map[string]*weft.Tensor{"lr": weft.ScalarOf(weft.Float64, l.lr), "iterations": weft.Scalar(l.iterations), "evaluations": weft.Scalar(l.evaluations)}
	if l.iterations > 0 {
		s["direction"], s["gradient"] = l.direction, l.grad
		s["length"], s["scale"] = weft.ScalarOf(weft.Float64, l.length), weft.ScalarOf(weft.Float64, l.scale)
		s["changes"] = weft.Scalar(int64(len(l.changes)))
		for i, c := range l.changes {
			s[fmt.Sprintf("change.step.%d", i)], s[fmt.Sprintf("change.gradient.%d", i)] = c.step, c.grad
		}
	}
	return s
}

// LoadState copies such a state into the optimizer. An error, a *[StateError], leaves it as
// it was.
func (l *LBFGS) LoadState(state map[string]*weft.Tensor) error {
	l.made("loadstate")
	r := reader{state: state, used: map[string]bool{}}
	n := LBFGS{params: l.params, limits: l.limits, lr: r.number("lr"), iterations: r.count("iterations"), evaluations: r.count("evaluations")}
	if n.iterations > 0 {
		size := 0
		for _, p := range l.params {
			size += p.t.Size()
		}
		get := func(name string) *weft.Tensor {
			if t := r.tensor(name, l.params[0].t.DType(), []int{size}); t != nil {
				return copyOf(t)
			}
			return nil
		}
		n.direction, n.grad, n.length, n.scale = get("direction"), get("gradient"), r.any("length"), r.any("scale")
		count := r.count("changes")
		if count > int64(l.limits.history) {
			r.fail("changes", "is %d, more than the history of %d", count, l.limits.history)
		}
		for i := int64(0); i < count && r.err == nil; i++ {
			c := correctionPair{step: get(fmt.Sprintf("change.step.%d", i)), grad: get(fmt.Sprintf("change.gradient.%d", i))}
			if r.err == nil {
				c.rho = 1 / dot(c.grad, c.step)
			}
			n.changes = append(n.changes, c)
		}
	}
	if err := r.finish(); err != nil {
		return err
	}
	*l = n
	return nil
}

// Sums are of the products in the parameters' type.
var (
	dots = core.NewFused("dot", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Sum, op.Reduction{}, mul(x[0], x[1]))}
	})
	axpy = core.NewFused("axpy", func(x []*ir.Node) []*ir.Node { return []*ir.Node{add(x[0], mul(x[1], x[2]))} })
)

func dot(x, y *weft.Tensor) float64 {
	to := x.Device().ZerosOf(x.DType())
	dots.Into([]*core.Tensor{(*core.Tensor)(to)}, []core.Operand{operand(x), operand(y)})
	return to.Item()
}

func total(x *weft.Tensor) float64 { return x.Abs().Sum().Item() }

// String returns what it changes, and what it has done.
func (l *LBFGS) String() string {
	return array.Describe("optim.LBFGS", "Tensors", len(l.params), "LR", l.lr, "Iterations", l.iterations, "Evaluations", l.evaluations)
}
