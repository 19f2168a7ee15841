package sym

import (
	"slices"

	"weft/internal/array"
)

// Shared variables that a step of a Scan updates. The loop carries each as a state: in a step the
// variable is what the step before made of it. What a step computes from such a variable belongs to
// the step, also if it was made outside.

// carry makes states of the shared variables that a step updates: the keys of next.Updates, and
// variables that the step made with a default update, such as the states of [MRGStreams]. The step
// made the variables above from. carry returns them all, and adds their values after the step to next.H.
func (s *scan) carry(next *Next, from uint64) []*Var {
	next.H = slices.Clone(next.H)
	var ws []*Var
	add := func(w, to *Var) {
		ws = append(ws, w)
		next.H = append(next.H, to)
		s.states = append(s.states, Taps{Var: w})
	}
	for _, w := range sorted(next.Updates) {
		to := next.Updates[w]
		w.notNil(scanName)
		to.notNil(scanName)
		if w.role != shared {
			array.Failf(scanName, w.label(), "has an update in a step and is not a shared variable%s", w.where())
		}
		checkUpdate(scanName, w, to)
		add(w, to)
	}
	for again := true; again; {
		again = false
		for _, v := range order(s.given(*next)) {
			if to := v.update.Load(); v.role == shared && v.id > from && to != nil && !slices.Contains(ws, v) {
				add(v, to)
				again = true
			}
		}
	}
	return ws
}

// given lists what a step gives: states, what is kept, and with Until whether the loop is over.
func (s *scan) given(next Next) []*Var {
	outs := append(slices.Clone(next.H), next.Out...)
	if next.Until != nil {
		outs = append(outs, next.Until)
	}
	return outs
}

// updates are what shared variables become by the loop, last being their last values. Those that the
// step made become so by default.
func updates(ws, last []*Var, from uint64) Updates {
	if len(ws) == 0 {
		return nil
	}
	u := Updates{}
	for i, w := range ws {
		u[w] = last[i]
		if w.id > from {
			w.SetDefaultUpdate(last[i])
		}
	}
	return u
}
