package optim

import (
	"iter"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
)

// AverageOpts are the options of an [Average].
type AverageOpts struct {
	// Decay is what the average keeps of itself in an update, in [0, 1): an exponential moving average
	// (EMA). nil weighs all updates equally, as stochastic weight averaging does (SWA; Izmailov et al.,
	// Averaging weights leads to wider optima and better generalization, 2018).
	Decay *float64
}

// An Average keeps running averages of tensors, such as the weights of a network, in others, such as the
// weights of its copy; PyTorch's AveragedModel.
//
//	ema := nn.Copy(net)
//	average := optim.NewAverage(nn.Params(ema), nn.Params(net), optim.AverageOpts{Decay: new(0.999)})
//	for ... {
//		opt.Step()
//		average.Update()
//	}
//
// The first update copies. Later ones compute a = a + (x-a)*(1-Decay), or (x-a)/n in update n, one launch
// for all tensors of an element type; numbers that are not floats are copied. An update works in a
// compiled function too.
type Average struct {
	pairs   []averagePair
	o       AverageOpts
	updates core.HostVariable
	numbers [2]*core.HostNumber // what is kept of the average, and the weight of what is new
}

// averagePair is an average and what it is of.
type averagePair struct{ into, of *weft.Tensor }

// NewAverage averages tensors in the tensors of the same names, which have their shapes and types.
// With maps.All(nn.State(m)) buffers are averaged too. It panics with *weft.Error if names, shapes or
// types differ, a tensor is its own average or the decay is out of range.
func NewAverage(into, of iter.Seq2[string, *weft.Tensor], opts ...AverageOpts) *Average {
	const op = "average"
	o := array.Options(op, opts)
	if into == nil || of == nil {
		array.Failf(op, "into", "or of is nil: nn.Params returns the parameters of a module")
	}
	targets := map[string]*weft.Tensor{}
	for name, t := range into {
		if t == nil {
			array.Failf(op, "into", "%q is nil", name)
		}
		targets[name] = t
	}
	a, count := &Average{o: o}, 0
	seen := map[*weft.Tensor]bool{}
	for name, t := range of {
		to := targets[name]
		switch {
		case t == nil || to == nil:
			array.Failf(op, "into", "%q is not there in both", name)
		case t == to:
			array.Failf(op, "into", "%q is its own average: nn.Copy copies a module", name)
		case t.DType() != to.DType() || !array.Equal(sizes(t), sizes(to)):
			array.Failf(op, "into", "%q is %s, want %s", name, array.TypeString(to.DType(), to.Shape()), array.TypeString(t.DType(), t.Shape()))
		}
		if count++; !seen[to] {
			seen[to] = true
			a.pairs = append(a.pairs, averagePair{to.Detach(), t})
		}
	}
	if count != len(targets) || count == 0 {
		array.Failf(op, "of", "has %d tensors, into %d: want the same names", count, len(targets))
	}
	one, n := core.HostConst(1), a.updates.Number()
	weight := one.Div(n.Add(one))
	if o.Decay != nil {
		weight = core.HostConst(1 - requireFraction(op, "Decay", *o.Decay))
	}
	first := n.AtMost(core.HostConst(0))
	a.numbers = [2]*core.HostNumber{first.Choose(core.HostConst(0), one), first.Choose(one, weight)}
	return a
}

// Update takes the tensors as they are now into the averages.
func (a *Average) Update() {
	a.made()
	core.OnOneLine(func() {
		keep, weight := core.Live(a.numbers[0]), core.Live(a.numbers[1])
		averaged.IntoAll(func(yield func([]*core.Tensor, []core.Operand) bool) {
			for _, p := range a.pairs {
				if x := p.of.Detach(); p.into.DType().Float() && !yield([]*core.Tensor{(*core.Tensor)(p.into)}, []core.Operand{operand(p.into), operand(x), keep, weight}) {
					return
				}
			}
		})
		for _, p := range a.pairs {
			if !p.into.DType().Float() {
				p.into.Assign(p.of.Detach())
			}
		}
		core.SetInCalls(&a.updates, a.updates.Number().Add(core.HostConst(1)))
	})
}

// Arguments: average, what is new, what is kept of the average, weight of what is new. The first update
// keeps nothing and weighs by 1.
var averaged = core.NewFused("averaged", func(x []*ir.Node) []*ir.Node {
	kept := mul(x[0], x[2])
	return []*ir.Node{add(kept, mul(sub(x[1], kept), x[3]))}
})

// State returns the number of updates; the averages themselves are their module's.
func (a *Average) State() map[string]*weft.Tensor {
	a.made()
	return map[string]*weft.Tensor{"updates": weft.Scalar(int64(a.updates.Value))}
}

// LoadState goes on from such a state. An error, a *[StateError], leaves a as it was.
func (a *Average) LoadState(state map[string]*weft.Tensor) error {
	a.made()
	r := reader{state: state, used: map[string]bool{}}
	n := r.count("updates")
	if err := r.finish(); err != nil {
		return err
	}
	a.updates.Value = float64(n)
	return nil
}

func (a *Average) made() {
	if a == nil || len(a.pairs) == 0 {
		array.Failf("average", "", "the Average is nil or was not made by NewAverage")
	}
}

// String returns the numbers of tensors and of updates.
func (a *Average) String() string {
	return array.Describe("optim.Average", "Tensors", len(a.pairs), "Updates", a.updates.Value)
}
