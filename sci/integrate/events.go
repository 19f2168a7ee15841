package integrate

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/sci/optimize"
)

// An Event is what [SolveIVP] looks for: the times at which F is 0.
type Event struct {
	// F changes its sign at the event. An F that is 0 at t0 has no event there, which SciPy's has. Events that come in
	// pairs within one step are not seen.
	F         func(t float64, y *weft.Tensor) float64
	Terminal  int // ends the integration when the event happens for the Terminal-th time; 0: never
	Direction int // 1: F must go from below 0 upwards, -1: downwards; 0: both
}

// An eventState is an event while a problem is solved.
type eventState struct {
	Event
	value float64 // of F at the time of the problem
	times []float64
	y     []*weft.Tensor
}

// checkEvents refuses events that make no sense, and makes Event one of them.
func (p *problem) checkEvents() {
	events := p.o.Events
	if p.o.Event != nil {
		if len(events) > 0 {
			array.Failf(p.name, "Event", "is given with Events: want one")
		}
		events = []Event{{F: p.o.Event, Terminal: 1}}
	}
	for i, e := range events {
		switch {
		case e.F == nil:
			array.Failf(p.name, "Events", "has no F at %d", i)
		case e.Terminal < 0:
			array.Failf(p.name, "Events", "has Terminal %d at %d: want a number of times, 0 for no end", e.Terminal, i)
		case e.Direction < -1 || e.Direction > 1:
			array.Failf(p.name, "Events", "has Direction %d at %d: want -1, 0 or 1", e.Direction, i)
		}
		p.events = append(p.events, &eventState{Event: e})
	}
}

// crossing records the events within the step to next, in their order up to the one that ends the integration, and
// returns its time, or next.
func (p *problem) crossing(next float64, y *weft.Tensor, within func(part float64) *weft.Tensor) (stop float64, ended bool) {
	type happening struct {
		e    *eventState
		part float64
	}
	var list []happening
	for _, e := range p.events {
		before, now := e.value, e.F(next, y.Reshape(p.shape...))
		e.value = now
		up, down := before < 0 && now >= 0, before > 0 && now <= 0
		if !(up && e.Direction >= 0 || down && e.Direction <= 0) {
			continue
		}
		part, _ := optimize.BrentQ(func(part float64) float64 {
			switch part {
			case 0:
				return before
			case 1:
				return now
			}
			return e.F(p.t+part*(next-p.t), within(part).Reshape(p.shape...))
		}, 0, 1)
		list = append(list, happening{e, part})
	}
	slices.SortStableFunc(list, func(a, b happening) int {
		switch {
		case a.part < b.part:
			return -1
		case a.part > b.part:
			return 1
		}
		return 0
	})
	for _, h := range list {
		t := p.t + h.part*(next-p.t)
		at := y
		if t != next {
			at = within((t - p.t) / (next - p.t))
		}
		h.e.times = append(h.e.times, t)
		h.e.y = append(h.e.y, at.Reshape(p.shape...))
		if len(h.e.times) == h.e.Terminal {
			return t, true
		}
	}
	return next, false
}

// happened sets the events of the solution.
func (p *problem) happened() {
	for _, e := range p.events {
		y := weft.ZerosOf(weft.Float64, append([]int{0}, p.shape...)...)
		if len(e.y) > 0 {
			y = weft.Stack(e.y, 0)
		}
		p.s.TEvents, p.s.YEvents = append(p.s.TEvents, e.times), append(p.s.YEvents, y)
	}
}
