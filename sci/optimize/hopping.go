package optimize

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"weft"
	"weft/internal/array"
)

// BasinHoppingOpts are the options of [BasinHopping].
type BasinHoppingOpts struct {
	MaxIter          int          // hops; 100 if it is 0
	MaxStill         int          // hops without a better minimum after which the search ends; 0: never
	T                *float64     // the temperature: typical differences between values of local minima; 1 if it is nil. 0 takes no hop uphill
	StepSize         float64      // the greatest change of an unknown by the first hops; 0.5 if it is 0
	Interval         int          // hops after which StepSize changes; 50 if it is 0
	TargetAcceptRate float64      // StepSize grows where more hops are taken, and falls where fewer are; 0.5 if it is 0
	StepwiseFactor   float64      // by which it falls, between 0 and 1; 0.9 if it is 0
	Local            MinimizeOpts // of the local searches, without Context
	Seed             uint64       // of the draws: the same seed has the same result
	// TakeStep, unless it is nil, returns where a hop from x goes, of x's shape, in place of a uniform draw.
	TakeStep func(x *weft.Tensor) *weft.Tensor
	// Callback, unless it is nil, gets each local minimum and whether the search goes on from there. It ends the search
	// by true, which is not an error.
	Callback func(m *Minimum, accepted bool) bool
	Context  context.Context // ends the search, if it is not nil; see [ConvergenceError.Err]
}

// BasinHopping searches the least value of f, which returns one number, from x0 on: random hops, each followed by a
// local search by [Minimize]. A hop to a higher minimum is taken with the chance of Metropolis (Wales, Doye, "Global
// optimization by basin-hopping", J. Phys. Chem. A 101, 1997). It suits smooth functions whose local minima lie in one
// funnel. NaN counts as +Inf.
//
// Steps of the result are hops. To use all of them is not an error. It returns a [*ConvergenceError] and the best point
// where the context ends, and where no local search converged. It panics with a [*weft.Error] for bad arguments.
// SciPy's basinhopping.
func BasinHopping(f func(x *weft.Tensor) *weft.Tensor, x0 *weft.Tensor, opts ...BasinHoppingOpts) (*Minimum, error) {
	const name = "optimize.basinhopping"
	array.Given(name, "f", f != nil)
	o := array.Options(name, opts)
	h := newHopping(name, f, o)
	first, _ := start(name, "x0", x0)
	h.local(first)
	h.at, h.best = h.next, h.next
	hops, still := limit(name, "MaxIter", o.MaxIter, 100), limit(name, "MaxStill", o.MaxStill, math.MaxInt)
	err := ended(name, o.Context)
	stop := err == nil && o.Callback != nil && o.Callback(h.minimum(h.at), true)
	for since := 0; err == nil && !stop && h.steps < hops && since < still; {
		h.local(h.hop(h.at.m.X))
		err = ended(name, o.Context)
		h.steps++
		since++
		if better := h.next.below(h.best); better {
			h.best, since = h.next, 0
		}
		accepted := h.metropolis()
		if accepted {
			h.at = h.next
		}
		h.adapt(accepted)
		stop = o.Callback != nil && o.Callback(h.minimum(h.next), accepted)
	}
	if err == nil && h.best.err != nil {
		err = &ConvergenceError{Op: name, Reason: "no local search converged; from the best point " + h.best.err.Error(), Err: errors.Unwrap(h.best.err)}
	}
	return h.minimum(h.best), err
}

// A basin is what a local search found.
type basin struct {
	m   *Minimum
	err error
}

// below reports whether b is a better minimum than another. One that converged is better than one that did not.
func (b basin) below(other basin) bool {
	if (b.err == nil) != (other.err == nil) {
		return b.err == nil
	}
	return b.m.Value < other.m.Value
}

type hopping struct {
	name                                string
	f                                   func(x *weft.Tensor) *weft.Tensor
	o                                   BasinHoppingOpts
	temperature, size, rate, factor     float64
	interval                            int
	r                                   *rand.Rand
	at, next, best                      basin
	steps, count, hopsOfSize, takenHops int
}

func newHopping(name string, f func(x *weft.Tensor) *weft.Tensor, o BasinHoppingOpts) *hopping {
	h := &hopping{name: name, f: f, o: o, r: rand.New(rand.NewPCG(o.Seed, 0x77656674))}
	if h.temperature = array.Or(o.T, 1); !(h.temperature >= 0) || math.IsInf(h.temperature, 1) {
		array.Failf(name, "T", "is %v: want a finite number from 0 on", h.temperature)
	}
	h.size = positive(name, "StepSize", o.StepSize, 0.5)
	h.interval = limit(name, "Interval", o.Interval, 50)
	between := func(arg string, x, otherwise float64) float64 {
		if x = positive(name, arg, x, otherwise); !(x < 1) {
			array.Failf(name, arg, "is %v: want a number between 0 and 1", x)
		}
		return x
	}
	h.rate = between("TargetAcceptRate", o.TargetAcceptRate, 0.5)
	h.factor = between("StepwiseFactor", o.StepwiseFactor, 0.9)
	if o.Local.Context != nil {
		array.Failf(name, "Local.Context", "is set: want Context")
	}
	h.o.Local.Context = o.Context
	return h
}

// minimum returns a basin with the counts of the whole search.
func (h *hopping) minimum(b basin) *Minimum {
	m := *b.m
	m.X, m.Steps, m.FuncEvals = m.X.Clone(), h.steps, h.count
	return &m
}

// local searches from x on.
func (h *hopping) local(x *weft.Tensor) {
	m, err := Minimize(h.f, x, h.o.Local)
	h.count += m.FuncEvals
	m.Value = orInf(m.Value)
	h.next = basin{m, err}
}

// hop returns a point near x.
func (h *hopping) hop(x *weft.Tensor) *weft.Tensor {
	if h.o.TakeStep != nil {
		to := h.o.TakeStep(x.Clone())
		if to == nil || to.DType().Complex() || !array.Equal(to.Shape(), x.Shape()) {
			array.Failf(h.name, "TakeStep", "does not return real numbers of shape %s", array.ShapeString(x.Shape()))
		}
		return to.Detach().To(weft.Float64)
	}
	to := append([]float64(nil), weft.Data[float64](x.Contiguous())...)
	for i := range to {
		to[i] += float64(h.size * (2*h.r.Float64() - 1))
	}
	return weft.FromSlice(to, x.Shape()...)
}

// metropolis draws whether the search goes on from the next basin.
func (h *hopping) metropolis() bool {
	draw := h.r.Float64()
	if h.next.err != nil && h.at.err == nil || math.IsInf(h.next.m.Value, 1) {
		return false
	}
	rise := h.next.m.Value - h.at.m.Value
	return rise < 0 || rise == 0 || h.temperature > 0 && draw < math.Exp(-rise/h.temperature)
}

// adapt changes the size of hops.
func (h *hopping) adapt(accepted bool) {
	if accepted {
		h.takenHops++
	}
	if h.hopsOfSize++; h.hopsOfSize < h.interval {
		return
	}
	if float64(h.takenHops) > h.rate*float64(h.hopsOfSize) {
		h.size /= h.factor
	} else {
		h.size *= h.factor
	}
	h.takenHops, h.hopsOfSize = 0, 0
}
