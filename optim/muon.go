package optim

import (
	"fmt"
	"iter"
	"math"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
)

// A MuonRate says how the learning rate of [Muon] depends on the shape of a matrix of r rows and c
// columns.
type MuonRate int

const (
	MuonOriginal  MuonRate = iota // times sqrt(max(1, r/c)), as Jordan's
	MuonMatchAdam                 // times 0.2*sqrt(max(r, c)), so that rates of AdamW fit (Liu et al., Muon is scalable for LLM training, 2025)
	MuonSpectral                  // times sqrt(r/c) (Bernstein, Deriving Muon, 2025)
)

// MuonOpts are the options of [Muon].
type MuonOpts struct {
	LR           *float64 // nil means 1e-3
	Momentum     *float64 // in [0, 1); nil means 0.95
	NoNesterov   bool     // orthogonalises the momentum itself, without looking ahead along it
	WeightDecay  *float64 // of weights, apart from the gradient; nil means 0.1
	Coefficients *[3]float64
	Eps          *float64 // the least norm that a momentum is divided by; nil means 1e-7
	Iterations   *int     // of Newton and Schulz, less than 100; nil means 5
	Rate         MuonRate // by the shape of a matrix
}

// Muon takes steps along the momentum made nearly orthogonal, for the matrices of hidden layers
// (Jordan et al., Muon: An optimizer for hidden layers in neural networks, 2024). Biases, gains and
// embeddings need another optimizer. With the gradient g, w a matrix and (a, b, c) the
// Coefficients, which are 3.4445, -4.775, 2.0315 if they are nil:
//
//	m = Momentum*m + (1-Momentum)*g                   0 at first
//	x = Momentum*m + (1-Momentum)*g                   NoNesterov: x = m
//	x = x/max(|x|, Eps)                               then Iterations times:
//	  y = x*x^T                                       x^T*x if there are more rows than columns
//	  x = a*x + (b*y + c*y*y)*x
//	w = w - LR*WeightDecay*w - LR*s*x                 s by Rate
//
// This is PyTorch's form, but for the products: PyTorch computes these in bfloat16, weft in the
// type of the parameter.
type Muon = Method[MuonOpts]

// NewMuon returns an optimizer of params, matrices all. It panics with *weft.Error if an option is
// out of range, a parameter has not two axes or there are no parameters.
func NewMuon(params iter.Seq2[string, *weft.Tensor], opts ...MuonOpts) *Muon {
	return newMethod(params, opts)
}

func (MuonOpts) name() string     { return "muon" }
func (o MuonOpts) rate() *float64 { return o.LR }

func (o MuonOpts) filled() MuonOpts {
	o.LR = new(notNegative("muon", "LR", array.Or(o.LR, 1e-3)))
	o.Momentum = new(requireFraction("muon", "Momentum", array.Or(o.Momentum, 0.95)))
	o.WeightDecay = new(notNegative("muon", "WeightDecay", array.Or(o.WeightDecay, 0.1)))
	o.Coefficients = new(array.Or(o.Coefficients, [3]float64{3.4445, -4.7750, 2.0315}))
	o.Eps = new(notNegative("muon", "Eps", array.Or(o.Eps, 1e-7)))
	o.Iterations = new(array.Or(o.Iterations, 5))
	if *o.Iterations < 0 || *o.Iterations >= 100 {
		array.Failf("muon", "Iterations", "is %d, want 0 to 99", *o.Iterations)
	}
	if o.Rate < MuonOriginal || o.Rate > MuonSpectral {
		array.Failf("muon", "Rate", "is %d, want MuonOriginal, MuonMatchAdam or MuonSpectral", o.Rate)
	}
	return o
}

func (MuonOpts) slots(p *param) []slot {
	if p.t.Rank() != 2 {
		array.Failf("muon", "params", "%q has shape %s, want a matrix: give others to another optimizer", p.name, array.ShapeString(sizes(p.t)))
	}
	return []slot{{name: "momentum"}}
}

// adjust returns what the learning rate of a matrix is multiplied by.
func (r MuonRate) adjust(shape []int) float64 {
	rows, columns := float64(shape[0]), float64(shape[1])
	switch r {
	case MuonMatchAdam:
		return float64(0.2 * math.Sqrt(max(rows, columns)))
	case MuonSpectral:
		return math.Sqrt(rows / columns)
	}
	return math.Sqrt(max(1, rows/columns))
}

func (o MuonOpts) update(m *moment) update {
	f := muonFused(muonForm{*o.Iterations, o.NoNesterov})
	shrink, c := core.Live(m.shrink(*o.WeightDecay)), o.Coefficients
	return update{rule: rule{f, func(list []core.Operand, p *param, g *weft.Tensor) []core.Operand {
		list = numbers(append(list, operand(p.w), operand(g)), *o.Momentum, 1-*o.Momentum, *o.Eps, c[0], c[1], c[2])
		if p.numbers == nil {
			p.numbers = []*core.HostNumber{m.rate.Mul(core.HostConst(o.Rate.adjust(sizes(p.t))))}
		}
		return p.kept(p.live(append(list, shrink)))
	}}}
}

// muonForm is what the formula of a step depends on.
type muonForm struct {
	iterations int
	plain      bool // without Nesterov's look ahead
}

var (
	muonLock  sync.Mutex
	muonForms = map[muonForm]*core.Fused{} // at most 200
)

// muonFused returns the formula of a form, the same one each time.
func muonFused(form muonForm) *core.Fused {
	muonLock.Lock()
	defer muonLock.Unlock()
	f := muonForms[form]
	if f == nil {
		f = core.NewFused(fmt.Sprintf("muon_%d_%d", form.iterations, bit(form.plain)), form.nodes)
		muonForms[form] = f
	}
	return f
}

// nodes composes the formula. Arguments: matrix, gradient, momentum and what it lacks to 1, epsilon,
// three coefficients, shrinking, rate, mean gradient.
func (form muonForm) nodes(x []*ir.Node) []*ir.Node {
	m := add(mul(x[10], x[2]), mul(x[1], x[3]))
	u := m
	if !form.plain {
		u = add(mul(m, x[2]), mul(x[1], x[3]))
	}
	tall := u.Shape[0] > u.Shape[1]
	if tall {
		u = op.Transpose(u, 0, 1)
	}
	u = div(u, maximum(norm(u), x[4]))
	for range form.iterations {
		gram := op.Apply(op.MatMul, nil, u, op.Transpose(u, 0, 1))
		change := add(mul(gram, x[6]), mul(op.Apply(op.MatMul, nil, gram, gram), x[7]))
		u = add(mul(u, x[5]), op.Apply(op.MatMul, nil, change, u))
	}
	if tall {
		u = op.Transpose(u, 0, 1)
	}
	return []*ir.Node{sub(mul(x[0], x[8]), mul(u, x[9])), m}
}
