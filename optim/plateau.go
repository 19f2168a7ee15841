package optim

import (
	"math"

	"weft"
	"weft/internal/array"
)

// PlateauOpts are the options of a [Plateau].
type PlateauOpts struct {
	Factor    *float64 // of the rate, in [0, 1); nil means 0.1
	Patience  *int     // steps without progress that are waited for; nil means 10
	Threshold *float64 // the part of the best, or with Absolute the amount, that counts as progress; nil means 1e-4
	Absolute  bool
	Cooldown  int     // steps after a change that do not count
	Min       float64 // the least rate
	Greatest  bool    // progress is that the metric rises
}

// A Plateau lowers the learning rate of an optimizer when a metric, such as the loss of
// validation, makes no progress for more steps than its patience; PyTorch's ReduceLROnPlateau.
type Plateau struct {
	opt           Rated
	o             PlateauOpts // all fields set
	best          float64
	bad, cooldown int
}

// NewPlateau returns a Plateau of an optimizer. It panics with *weft.Error if that is nil or
// an option is out of range.
func NewPlateau(opt Rated, opts ...PlateauOpts) *Plateau {
	o := array.Options("plateau", opts)
	const op = "plateau"
	if opt == nil {
		array.Failf(op, "opt", "is nil")
	}
	o.Factor = new(requireFraction(op, "Factor", array.Or(o.Factor, 0.1)))
	o.Threshold = new(notNegative(op, "Threshold", array.Or(o.Threshold, 1e-4)))
	o.Patience = new(array.Or(o.Patience, 10))
	if *o.Patience < 0 || o.Cooldown < 0 {
		array.Failf(op, "Patience", "and Cooldown are %d and %d, want 0 or more", *o.Patience, o.Cooldown)
	}
	notNegative(op, "Min", o.Min)
	p := &Plateau{opt: opt, o: o, best: math.Inf(1)}
	if o.Greatest {
		p.best = math.Inf(-1)
	}
	return p
}

// Step takes the metric of an epoch.
func (p *Plateau) Step(metric float64) {
	p.made()
	if p.better(metric) {
		p.best, p.bad = metric, 0
	} else {
		p.bad++
	}
	if p.cooldown > 0 {
		p.cooldown--
		p.bad = 0
	}
	if p.bad > *p.o.Patience {
		// A change that rounding alone would make is none.
		if old := p.opt.LR(); old-max(float64(old**p.o.Factor), p.o.Min) > 1e-8 {
			p.opt.SetLR(max(float64(old**p.o.Factor), p.o.Min))
		}
		p.cooldown, p.bad = p.o.Cooldown, 0
	}
}

// better reports progress.
func (p *Plateau) better(x float64) bool {
	by := *p.o.Threshold
	if !p.o.Absolute {
		by = float64(by * p.best)
	}
	if math.IsInf(p.best, 0) {
		by = 0
	}
	if p.o.Greatest {
		return x > p.best+by
	}
	return x < p.best-by
}

// State returns the best metric and what is counted.
func (p *Plateau) State() map[string]*weft.Tensor {
	p.made()
	return map[string]*weft.Tensor{"best": weft.ScalarOf(weft.Float64, p.best), "bad": weft.Scalar(int64(p.bad)), "cooldown": weft.Scalar(int64(p.cooldown))}
}

// LoadState goes on from such a state; the rate is the optimizer's affair. An error, a
// *[StateError], leaves it as it was.
func (p *Plateau) LoadState(state map[string]*weft.Tensor) error {
	p.made()
	r := reader{state: state, used: map[string]bool{}}
	best, bad, cooldown := r.any("best"), r.count("bad"), r.count("cooldown")
	if err := r.finish(); err != nil {
		return err
	}
	p.best, p.bad, p.cooldown = best, int(bad), int(cooldown)
	return nil
}

func (p *Plateau) made() {
	if p == nil || p.opt == nil {
		array.Failf("plateau", "", "the Plateau is nil or was not made by NewPlateau")
	}
}

// String returns the best value and what was counted since.
func (p *Plateau) String() string {
	return array.Describe("optim.Plateau", "Best", p.best, "Bad", p.bad, "Cooldown", p.cooldown)
}
