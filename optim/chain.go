package optim

import (
	"weft/internal/array"
	"weft/internal/core"
)

// Constant multiplies the rate by Factor in the first Steps steps; PyTorch's ConstantLR.
type Constant struct {
	Steps  int // at least 1
	Factor float64
}

// At is base * Factor before step Steps, and base from then on.
func (s Constant) At(step int, base float64) float64 {
	positive("constant", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s Constant) number(step, base *core.HostNumber) *core.HostNumber {
	positive("constant", "Steps", s.Steps, 0)
	notNegative("constant", "Factor", s.Factor)
	return core.HostConst(float64(s.Steps)).AtMost(step).Choose(base, base.Mul(core.HostConst(s.Factor)))
}

// Polynomial lets the rate fall to 0 in Steps steps by a power of what is left of them; PyTorch's
// PolynomialLR.
type Polynomial struct {
	Steps int      // at least 1
	Power *float64 // nil means 1
}

// At is base * (1 - step/Steps)^Power, and 0 after Steps.
func (s Polynomial) At(step int, base float64) float64 {
	positive("polynomial", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s Polynomial) number(step, base *core.HostNumber) *core.HostNumber {
	positive("polynomial", "Steps", s.Steps, 0)
	steps := core.HostConst(float64(s.Steps))
	power := core.HostConst(notNegative("polynomial", "Power", array.Or(s.Power, 1)))
	return base.Mul(core.HostConst(1).Sub(step.Min(steps).Div(steps)).Pow(power))
}

// WarmCosine raises the rate along a line in the first Warm steps, and lets it fall along half a wave to
// Min at step Steps, where it stays: [Linear] and [Cosine] in one.
type WarmCosine struct {
	Warm  int     // steps in which the rate rises, less than Steps
	Steps int     // of both
	From  float64 // the factor of the rate at step 0
	Min   float64
}

// At is base times the line's factor before step Warm, and then Min + (base-Min) * (1+cos(pi*p))/2, p
// being the part of the steps left after Warm that is taken.
func (s WarmCosine) At(step int, base float64) float64 {
	positive("warm_cosine", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s WarmCosine) number(step, base *core.HostNumber) *core.HostNumber {
	const op = "warm_cosine"
	if s.Warm < 0 || s.Warm >= s.Steps {
		array.Failf(op, "Warm", "is %d of %d steps, want 0 or more and less than all", s.Warm, s.Steps)
	}
	notNegative(op, "From", s.From)
	notNegative(op, "Min", s.Min)
	warm, steps := core.HostConst(float64(s.Warm)), core.HostConst(float64(s.Steps))
	fall := wave(base, core.HostConst(s.Min), step.Min(steps).Sub(warm).Div(steps.Sub(warm)))
	if s.Warm == 0 {
		return fall
	}
	return warm.AtMost(step).Choose(fall, base.Mul(line(core.HostConst(s.From), core.HostConst(1), step.Div(warm))))
}

// Multiplicative multiplies the rate in each step but the first by what a function makes of the step;
// PyTorch's MultiplicativeLR.
type Multiplicative func(step int) float64

// At is base times the function's results of steps 1 to step, so it calls the function step times. It
// panics with *weft.Error if step is above 1<<24.
func (s Multiplicative) At(step int, base float64) float64 {
	positive("multiplicative", "", 1, step)
	if s == nil {
		array.Failf("multiplicative", "", "the function is nil")
	}
	if step > 1<<24 {
		array.Failf("multiplicative", "step", "is %d, want at most %d, because each takes a call", step, 1<<24)
	}
	for i := 1; i <= step; i++ {
		base = float64(base * s(i))
	}
	return base
}

// Chain is schedules at once: each begins with what the one before makes of the rate. Schedules that
// multiply come together as in PyTorch's ChainedScheduler.
type Chain []Schedule

// At is the rate that the last schedule makes.
func (s Chain) At(step int, base float64) float64 {
	positive("chain", "", 1, step)
	for i, one := range s {
		if one == nil {
			array.Failf("chain", "", "schedule %d is nil", i)
		}
		base = one.At(step, base)
	}
	return base
}

func (s Chain) number(step, base *core.HostNumber) *core.HostNumber {
	for _, one := range s {
		data, ok := one.(dataSchedule)
		if !ok || base == nil {
			return nil
		}
		base = data.number(step, base)
	}
	return base
}
