package optim

import (
	"weft/internal/array"
	"weft/internal/core"
)

// WarmRestarts lets the rate fall to Min along half a wave, and begin again: after Steps steps, then
// after Mult times the steps of the time before (Loshchilov and Hutter, SGDR, 2017); PyTorch's
// CosineAnnealingWarmRestarts.
type WarmRestarts struct {
	Steps int  // of the first time, at least 1
	Mult  *int // at least 1; nil means 1
	Min   float64
}

// At is Min + (base-Min) * (1+cos(pi*p))/2, p being the part of this time's steps that is taken.
func (s WarmRestarts) At(step int, base float64) float64 {
	positive("warm_restarts", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s WarmRestarts) number(step, base *core.HostNumber) *core.HostNumber {
	const op = "warm_restarts"
	mult := array.Or(s.Mult, 1)
	positive(op, "Steps", s.Steps, 0)
	positive(op, "Mult", mult, 0)
	least := core.HostConst(notNegative(op, "Min", s.Min))
	if steps := core.HostConst(float64(s.Steps)); mult == 1 {
		return wave(base, least, step.Mod(steps).Div(steps))
	}
	// Times that begin beyond 1<<48 steps are not told apart.
	var rates []*core.HostNumber
	var begins []int
	for begin, length := 0, s.Steps; ; length *= mult {
		rates = append(rates, wave(base, least, step.Sub(core.HostConst(float64(begin))).Div(core.HostConst(float64(length)))))
		if begin += length; begin > 1<<48 || length > 1<<48/mult {
			return atWork(rates, begins, step)
		}
		begins = append(begins, begin)
	}
}

// Cyclic lets the rate rise from Min to Max in Up steps and fall in Down steps along lines, again and
// again (Smith, Cyclical learning rates for training neural networks, 2017); PyTorch's CyclicLR without
// its cycle of the momentum. What the optimizer began with does not matter.
type Cyclic struct {
	Min, Max float64
	Up       *int // at least 1; nil means 2000
	Down     *int // at least 1; nil means Up
	// Halve halves the rise from cycle to cycle: PyTorch's mode "triangular2".
	Halve bool
	Gamma *float64 // what the rise is multiplied by from step to step, PyTorch's mode "exp_range"; nil means 1
}

// At is Min and a part of the rise to Max.
func (s Cyclic) At(step int, base float64) float64 {
	positive("cyclic", "", 1, step)
	return rateAt(s, step, base)
}

func (s Cyclic) number(step, _ *core.HostNumber) *core.HostNumber {
	const op = "cyclic"
	up := array.Or(s.Up, 2000)
	down := array.Or(s.Down, up)
	positive(op, "Up", up, 0)
	positive(op, "Down", down, 0)
	low := core.HostConst(notNegative(op, "Min", s.Min))
	rise := core.HostConst(float64(notNegative(op, "Max", s.Max) - s.Min))
	all := core.HostConst(float64(up) + float64(down))
	at := step.Mod(all)
	part := at.AtMost(core.HostConst(float64(up))).Choose(at.Div(core.HostConst(float64(up))), all.Sub(at).Div(core.HostConst(float64(down))))
	if s.Halve {
		part = part.Mul(core.HostConst(0.5).Power(step.Div(all).Floor()))
	}
	if s.Gamma != nil {
		part = part.Mul(core.HostConst(notNegative(op, "Gamma", *s.Gamma)).Power(step))
	}
	return low.Add(rise.Mul(part))
}
