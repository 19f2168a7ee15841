package optim

import (
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

// StepDecay multiplies the rate by Gamma after each Every steps; PyTorch's StepLR.
type StepDecay struct {
	Every int // at least 1
	Gamma float64
}

// At is base * Gamma^(step/Every).
func (s StepDecay) At(step int, base float64) float64 {
	positive("step_decay", "Every", s.Every, step)
	return float64(base * power(notNegative("step_decay", "Gamma", s.Gamma), int64(step/s.Every)))
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
	n := int64(0)
	for _, at := range s.Steps {
		if at <= step {
			n++
		}
	}
	return float64(base * power(notNegative("multi_step", "Gamma", s.Gamma), n))
}

// Exponential multiplies the rate by Gamma after each step; PyTorch's ExponentialLR.
type Exponential struct{ Gamma float64 }

// At is base * Gamma^step.
func (s Exponential) At(step int, base float64) float64 {
	positive("exponential", "", 1, step)
	return float64(base * power(notNegative("exponential", "Gamma", s.Gamma), int64(step)))
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
	notNegative("cosine", "Min", s.Min)
	// The wave repeats, and its second half is the first one backwards.
	at := step % (2 * s.Steps)
	return wave(base, s.Min, float64(min(at, 2*s.Steps-at))/float64(s.Steps))
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
	notNegative("linear", "From", s.From)
	notNegative("linear", "To", s.To)
	return float64(base * line(s.From, s.To, float64(min(step, s.Steps))/float64(s.Steps)))
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
func (s OneCycle) At(step int, _ float64) float64 {
	const op = "one_cycle"
	positive(op, "Steps", 1, step)
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
	step = min(step, s.Steps-1)
	low, rise, end := s.Max/div, float64(warm*float64(s.Steps)), float64(s.Steps-1)
	type phase struct{ end, from, to float64 }
	phases := []phase{{rise - 1, low, s.Max}, {end, s.Max, low / last}}
	if s.ThreePhase {
		phases = []phase{{rise - 1, low, s.Max}, {float64(2*rise) - 2, s.Max, low}, {end, low, low / last}}
	}
	begin := 0.0
	for i, p := range phases {
		if float64(step) > p.end && i < len(phases)-1 {
			begin = p.end
			continue
		}
		at := 1.0
		if p.end > begin {
			at = (float64(step) - begin) / (p.end - begin)
		}
		if s.Linear {
			return line(p.from, p.to, at)
		}
		return wave(p.from, p.to, at)
	}
	panic("unreachable: a step is in a phase")
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
	if len(s.Schedules) == 0 || len(s.Steps) != len(s.Schedules)-1 {
		array.Failf("sequence", "Steps", "are %d for %d schedules, want one for each but the first", len(s.Steps), len(s.Schedules))
	}
	begin, now := 0, s.Schedules[0]
	for i, at := range s.Steps {
		if at < 0 || i > 0 && at < s.Steps[i-1] {
			array.Failf("sequence", "Steps", "are %v, want them to ascend from 0", s.Steps)
		}
		if at <= step {
			begin, now = at, s.Schedules[i+1]
		}
	}
	if now == nil {
		array.Failf("sequence", "Schedules", "has one that is nil")
	}
	return now.At(step-begin, base)
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

func line(from, to, at float64) float64 { return float64((to-from)*at) + from }

// wave is half a wave of the cosine from one number to another.
func wave(from, to, at float64) float64 {
	cos := weft.ScalarOf(weft.Float64, float64(math.Pi*at)).Cos().Item() // the same bits everywhere
	return to + float64((from-to)/2*(cos+1))
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
	step int
	base float64
}

// NewScheduler returns a scheduler at step 0, whose rate it sets. It panics with *weft.Error
// if one of both is nil or the schedule is out of range. Schedules that multiply start from the
// learning rate that the optimizer has now; [OneCycle] replaces it.
func NewScheduler(opt Rated, s Schedule) *Scheduler {
	if opt == nil || s == nil {
		array.Failf("scheduler", "", "the optimizer or the schedule is nil")
	}
	sc := &Scheduler{opt: opt, s: s, base: opt.LR()}
	sc.set()
	return sc
}

func (s *Scheduler) set() { s.opt.SetLR(s.s.At(s.step, s.base)) }

// Step goes on to the next step, after one of the optimizer or after an epoch of it.
func (s *Scheduler) Step() {
	s.made()
	core.InCalls(func() { s.step++; s.set() }, func() { s.step--; s.set() })
}

// State returns how many steps were taken and the rate that the optimizer began with.
func (s *Scheduler) State() map[string]*weft.Tensor {
	s.made()
	return map[string]*weft.Tensor{"step": weft.Scalar(int64(s.step)), "base": weft.ScalarOf(weft.Float64, s.base)}
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
	s.step, s.base = int(step), base
	s.set()
	return nil
}

func (s *Scheduler) made() {
	if s == nil || s.opt == nil || s.s == nil {
		array.Failf("scheduler", "", "the scheduler is nil or was not made by NewScheduler")
	}
}
