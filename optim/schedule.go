package optim

import (
	"fmt"
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// A Schedule says what the learning rate is. Schedules are values without a state:
//
//	for step := range steps {
//		opt.SetLR(s.At(step, 0.1))
//		...
//
// or a [Scheduler] keeps count.
type Schedule interface {
	// At returns the learning rate of a step, or epoch, counted from 0, of an optimizer
	// that begins with base. It panics with *weft.Error if the schedule has a number that
	// is out of range, or step is negative.
	At(step int, base float64) float64
}

// A dataSchedule computes its rate from a step and a rate to begin with, so that files can hold it. The
// number is nil if it cannot.
type dataSchedule interface {
	number(step, base *core.HostNumber) *core.HostNumber
}

// rateAt is the rate of a step.
func rateAt(s dataSchedule, step int, base float64) float64 {
	return s.number(core.HostConst(float64(step)), core.HostConst(base)).Value()
}

// StepDecay multiplies the rate by Gamma after each Every steps; PyTorch's StepLR.
type StepDecay struct {
	Every int // at least 1
	Gamma float64
}

// At is base * Gamma^(step/Every).
func (s StepDecay) At(step int, base float64) float64 {
	positive("step_decay", "Every", s.Every, step)
	return rateAt(s, step, base)
}

func (s StepDecay) number(step, base *core.HostNumber) *core.HostNumber {
	positive("step_decay", "Every", s.Every, 0)
	return falling("step_decay", s.Gamma, base, step.Div(core.HostConst(float64(s.Every))).Floor())
}

// falling is base times a gamma to the n.
func falling(op string, gamma float64, base, n *core.HostNumber) *core.HostNumber {
	return base.Mul(core.HostConst(notNegative(op, "Gamma", gamma)).Power(n))
}

// MultiStep multiplies the rate by Gamma after each of some numbers of steps; PyTorch's
// MultiStepLR.
type MultiStep struct {
	Steps []int
	Gamma float64
}

// At is base times as many Gammas as there are Steps that are not greater than step.
func (s MultiStep) At(step int, base float64) float64 {
	positive("multi_step", "", 1, step)
	return rateAt(s, step, base)
}

func (s MultiStep) number(step, base *core.HostNumber) *core.HostNumber {
	return falling("multi_step", s.Gamma, base, passed(s.Steps, step))
}

// passed is how many numbers are at most step.
func passed(steps []int, step *core.HostNumber) *core.HostNumber {
	switch n := len(steps); n {
	case 0:
		return core.HostConst(0)
	case 1:
		return core.HostConst(float64(steps[0])).AtMost(step)
	default:
		return passed(steps[:n/2], step).Add(passed(steps[n/2:], step))
	}
}

// Exponential multiplies the rate by Gamma after each step; PyTorch's ExponentialLR.
type Exponential struct{ Gamma float64 }

// At is base * Gamma^step.
func (s Exponential) At(step int, base float64) float64 {
	positive("exponential", "", 1, step)
	return rateAt(s, step, base)
}

func (s Exponential) number(step, base *core.HostNumber) *core.HostNumber {
	return falling("exponential", s.Gamma, base, step)
}

// Cosine lets the rate fall to Min in Steps steps along half a wave, and rise again
// after them (Loshchilov and Hutter, SGDR, 2017); PyTorch's CosineAnnealingLR.
type Cosine struct {
	Steps int // at least 1
	Min   float64
}

// At is Min + (base-Min) * (1+cos(pi*step/Steps))/2.
func (s Cosine) At(step int, base float64) float64 {
	positive("cosine", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s Cosine) number(step, base *core.HostNumber) *core.HostNumber {
	positive("cosine", "Steps", s.Steps, 0)
	notNegative("cosine", "Min", s.Min)
	// The wave repeats, and its second half is the first one backwards.
	twice := core.HostConst(2 * float64(s.Steps))
	at := step.Mod(twice)
	return wave(base, core.HostConst(s.Min), at.Min(twice.Sub(at)).Div(core.HostConst(float64(s.Steps))))
}

// Linear changes the factor of the rate from From to To in Steps steps, as warming up
// needs; PyTorch's LinearLR.
type Linear struct {
	Steps    int // at least 1
	From, To float64
}

// At is base times the factor.
func (s Linear) At(step int, base float64) float64 {
	positive("linear", "Steps", s.Steps, step)
	return rateAt(s, step, base)
}

func (s Linear) number(step, base *core.HostNumber) *core.HostNumber {
	positive("linear", "Steps", s.Steps, 0)
	notNegative("linear", "From", s.From)
	notNegative("linear", "To", s.To)
	steps := core.HostConst(float64(s.Steps))
	return base.Mul(line(core.HostConst(s.From), core.HostConst(s.To), step.Min(steps).Div(steps)))
}

// OneCycle raises the rate from Max/Div to Max and lets it fall to Max/(Div*FinalDiv), which
// it has at the last step (Smith and Topin, Super-convergence, 2018); PyTorch's OneCycleLR
// without its cycle of the momentum. What the optimizer began with does not matter.
type OneCycle struct {
	Steps    int // of both, at least 2
	Max      float64
	Warm     *float64 // the part of the steps in which it rises, in [0, 1]; nil means 0.3
	Div      *float64 // more than 0; nil means 25
	FinalDiv *float64 // more than 0; nil means 1e4
	Linear   bool     // along lines, not waves
	// ThreePhase lets it fall as it rose, and then in what is left of the steps to the last.
	ThreePhase bool
}

// At is the rate of one of the Steps, or of the last for all behind it.
func (s OneCycle) At(step int, base float64) float64 {
	positive("one_cycle", "Steps", 1, step)
	return rateAt(s, step, base)
}

func (s OneCycle) number(step, _ *core.HostNumber) *core.HostNumber {
	const op = "one_cycle"
	if s.Steps < 2 {
		array.Failf(op, "Steps", "is %d, want at least 2", s.Steps)
	}
	warm, div, last := array.Or(s.Warm, 0.3), array.Or(s.Div, 25), array.Or(s.FinalDiv, 1e4)
	notNegative(op, "Max", s.Max)
	if !(warm >= 0 && warm <= 1) || s.ThreePhase && warm > 0.5 {
		array.Failf(op, "Warm", "is %v, want 0 to 1, and at most a half for three phases", warm)
	}
	if !(div > 0) || !(last > 0) {
		array.Failf(op, "Div", "and FinalDiv are %v and %v, want more than 0", div, last)
	}
	low, rise, end := s.Max/div, float64(warm*float64(s.Steps)), float64(s.Steps-1)
	type phase struct{ end, from, to float64 }
	phases := []phase{{rise - 1, low, s.Max}, {end, s.Max, low / last}}
	if s.ThreePhase {
		phases = []phase{{rise - 1, low, s.Max}, {float64(2*rise) - 2, s.Max, low}, {end, low, low / last}}
	}
	along := wave
	if s.Linear {
		along = line
	}
	step = step.Min(core.HostConst(end))
	var rate *core.HostNumber
	for i := len(phases) - 1; i >= 0; i-- {
		p, begin, at := phases[i], 0.0, core.HostConst(1)
		if i > 0 {
			begin = phases[i-1].end
		}
		if p.end > begin {
			at = step.Sub(core.HostConst(begin)).Div(core.HostConst(p.end - begin))
		}
		x := along(core.HostConst(p.from), core.HostConst(p.to), at)
		if rate == nil {
			rate = x // of the last phase
		} else {
			rate = step.AtMost(core.HostConst(p.end)).Choose(x, rate)
		}
	}
	return rate
}

// Lambda multiplies the rate by what a function makes of the step; PyTorch's LambdaLR.
type Lambda func(step int) float64

// At is base times the function's result.
func (s Lambda) At(step int, base float64) float64 {
	positive("lambda", "", 1, step)
	if s == nil {
		array.Failf("lambda", "", "the function is nil")
	}
	return float64(base * s(step))
}

// Sequence is schedules one after the other: the first before step Steps[0], and each counts
// its steps from where it begins; PyTorch's SequentialLR.
type Sequence struct {
	Schedules []Schedule
	Steps     []int // where all but the first begin, ascending
}

// At is the rate of the schedule at work.
func (s Sequence) At(step int, base float64) float64 {
	positive("sequence", "", 1, step)
	s.check()
	begin, now := 0, s.Schedules[0]
	for i, at := range s.Steps {
		if at <= step {
			begin, now = at, s.Schedules[i+1]
		}
	}
	if now == nil {
		array.Failf("sequence", "Schedules", "has one that is nil")
	}
	return now.At(step-begin, base)
}

// check refuses schedules and steps that do not fit.
func (s Sequence) check() {
	if len(s.Schedules) == 0 || len(s.Steps) != len(s.Schedules)-1 {
		array.Failf("sequence", "Steps", "are %d for %d schedules, want one for each but the first", len(s.Steps), len(s.Schedules))
	}
	for i, at := range s.Steps {
		if at < 0 || i > 0 && at < s.Steps[i-1] {
			array.Failf("sequence", "Steps", "are %v, want them to ascend from 0", s.Steps)
		}
	}
}

func (s Sequence) number(step, base *core.HostNumber) *core.HostNumber {
	s.check()
	rates := make([]*core.HostNumber, len(s.Schedules))
	for i, one := range s.Schedules {
		data, ok := one.(dataSchedule)
		if !ok {
			return nil
		}
		from := step
		if i > 0 {
			from = step.Sub(core.HostConst(float64(s.Steps[i-1])))
		}
		if rates[i] = data.number(from, base); rates[i] == nil {
			return nil
		}
	}
	return atWork(rates, s.Steps, step)
}

// atWork is the number behind the last of the steps that is at most step.
func atWork(rates []*core.HostNumber, steps []int, step *core.HostNumber) *core.HostNumber {
	if len(steps) == 0 {
		return rates[0]
	}
	k := len(steps) / 2
	return core.HostConst(float64(steps[k])).AtMost(step).Choose(atWork(rates[k+1:], steps[k+1:], step), atWork(rates[:k+1], steps[:k], step))
}

// positive panics unless n, a number of steps of a schedule, is at least 1 and step at least 0.
func positive(op, name string, n, step int) {
	if n < 1 {
		array.Failf(op, name, "is %d, want at least 1", n)
	}
	if step < 0 {
		array.Failf(op, "step", "is %d, want 0 or more", step)
	}
}

func line(from, to, at *core.HostNumber) *core.HostNumber { return to.Sub(from).Mul(at).Add(from) }

// wave is half a wave of the cosine from one number to another.
func wave(from, to, at *core.HostNumber) *core.HostNumber {
	cos := core.HostConst(math.Pi).Mul(at).Cos()
	return to.Add(from.Sub(to).Div(core.HostConst(2)).Mul(cos.Add(core.HostConst(1))))
}

// Rated is what a schedule changes: an [Optimizer] or an [LBFGS].
type Rated interface {
	LR() float64
	SetLR(lr float64)
}

// A Scheduler counts the steps of a [Schedule] and sets the learning rate of an optimizer.
type Scheduler struct {
	opt  Rated
	s    Schedule
	step core.HostVariable
	base core.HostVariable
}

// NewScheduler returns a scheduler at step 0, whose rate it sets. It panics with *weft.Error
// if one of both is nil or the schedule is out of range. Schedules that multiply start from the
// learning rate that the optimizer has now; [OneCycle] replaces it.
func NewScheduler(opt Rated, s Schedule) *Scheduler {
	if opt == nil || s == nil {
		array.Failf("scheduler", "", "the optimizer or the schedule is nil")
	}
	sc := &Scheduler{opt: opt, s: s, base: core.HostVariable{Value: opt.LR()}}
	sc.set()
	return sc
}

func (s *Scheduler) set() { s.opt.SetLR(s.s.At(int(s.step.Value), s.base.Value)) }

// Step goes on to the next step, after one of the optimizer or after an epoch of it.
func (s *Scheduler) Step() {
	s.made()
	if core.TracingHere() != nil {
		if rate, at := rateOf(s.opt), s.rate(); rate != nil && at != nil {
			core.SetInCalls(&s.step, s.step.Number().Add(core.HostConst(1)))
			core.SetInCalls(rate, at)
			return
		}
	}
	core.InCalls(func() { s.step.Value++; s.set() }, func() { s.step.Value--; s.set() })
}

// rate is the rate of the step, nil for a schedule that is a function of Go.
func (s *Scheduler) rate() *core.HostNumber {
	if data, ok := s.s.(dataSchedule); ok {
		return data.number(s.step.Number(), s.base.Number())
	}
	return nil
}

// rateOf is the learning rate of an optimizer of this package that a compiled function can step, nil for
// others.
func rateOf(opt Rated) *core.HostVariable {
	if m, ok := opt.(interface{ learningRate() *core.HostVariable }); ok {
		return m.learningRate()
	}
	return nil
}

// State returns how many steps were taken and the rate that the optimizer began with.
func (s *Scheduler) State() map[string]*weft.Tensor {
	s.made()
	return map[string]*weft.Tensor{"step": weft.Scalar(int64(s.step.Value)), "base": weft.ScalarOf(weft.Float64, s.base.Value)}
}

// LoadState goes on from such a state, and sets the rate. An error, a *[StateError], leaves
// the scheduler as it was.
func (s *Scheduler) LoadState(state map[string]*weft.Tensor) error {
	s.made()
	r := reader{state: state, used: map[string]bool{}}
	step, base := r.count("step"), r.number("base")
	if err := r.finish(); err != nil {
		return err
	}
	s.step.Value, s.base.Value = float64(step), base
	s.set()
	return nil
}

func (s *Scheduler) made() {
	if s == nil || s.opt == nil || s.s == nil {
		array.Failf("scheduler", "", "the scheduler is nil or was not made by NewScheduler")
	}
}

// String returns the schedule and the step.
func (s *Scheduler) String() string {
	return array.Describe("optim.Scheduler", "Schedule", fmt.Sprintf("%T%+v", s.s, s.s), "Step", s.step.Value)
}
