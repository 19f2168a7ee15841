package grid

import (
	"slices"

	"weft/internal/loop"
)

// pollTrips is the number of trips between two looks at the word that cancels, a power of two.
const pollTrips = 1024

// region emits a loop or an if: once for all slots if the whole warp agrees on every condition, else
// slot by slot.
func (e *emitter) region(v loop.Value, in *loop.Ins) {
	r := e.p.Region(in)
	results := len(r.Next)
	if len(e.outs[v]) != results {
		e.outs[v] = make([][]Reg, results)
	}
	emit := e.branch
	if in.Op == loop.OpLoop {
		emit = e.loop
	}
	burns := e.burns([]loop.Value{v})
	if !e.divergent && (r.Cond == loop.NoValue || e.uniform[r.Cond]) && !(e.flat() && r.Axis >= 0 && r.Axis == e.p.Ragged()) {
		emit(v, r)
		if burns {
			e.stop()
		}
		return
	}
	slots, pred, outer := e.slots, e.pred, e.divergent
	e.divergent = true
	for _, s := range slots {
		e.slots, e.pred = []int{s}, make([]Reg, e.k)
		if act := pred[s]; act != NoReg {
			if in.Op == loop.OpIf {
				e.branchWhere(v, r, act)
				continue
			}
			e.loopWhere(v, r, act)
			continue
		}
		emit(v, r)
	}
	e.slots, e.pred, e.divergent = slots, pred, outer
	if burns {
		e.stop()
	}
}

// stop emits what follows a loop that a cancelled launch has left. What it computed is wrong, so no
// address may depend on it. Threads end, or access no memory any more if others wait for them.
func (e *emitter) stop() {
	if !e.divergent {
		e.Set(e.cancelled, e.Any(e.cancelled))
		if e.rowWarps <= 1 {
			e.leave()
			return
		}
	}
	live := e.Not(e.cancelled)
	e.pred = slices.Clone(e.pred)
	for _, s := range e.slots {
		e.pred[s] = e.both(e.pred[s], live)
	}
	e.live = live
}

// burns reports whether a block has a loop that burns fuel.
func (e *emitter) burns(block []loop.Value) (yes bool) {
	e.p.Walk(block, func(_ loop.Value, in *loop.Ins) {
		yes = yes || in.Op == loop.OpLoop && e.p.Fuel(e.p.Region(in))
	})
	return yes
}

// results makes the registers of the results of an if.
func (e *emitter) results(v loop.Value, r *loop.Region) {
	for i, x := range r.Next {
		t := registerType(e.p.Ins[x].Type)
		if e.shared(e.same[x] && e.same[r.ElseNext[i]] && e.same[r.Cond]) {
			e.outs[v][i] = []Reg{e.Var(t)}
			continue
		}
		for _, s := range e.slots {
			e.outs[v][i] = e.put(e.outs[v][i], s, e.Var(t))
		}
	}
}

// yield sets the results of an if.
func (e *emitter) yield(v loop.Value, next []loop.Value) {
	for i, x := range next {
		if regs := e.outs[v][i]; len(regs) == 1 {
			e.Set(regs[0], e.get(x, e.slots[0]))
			continue
		}
		for _, s := range e.slots {
			e.Set(e.outs[v][i][s], e.get(x, s))
		}
	}
}

// branch emits an if.
func (e *emitter) branch(v loop.Value, r *loop.Region) {
	e.results(v, r)
	e.branches(v, r)
}

func (e *emitter) branches(v loop.Value, r *loop.Region) {
	var els func()
	if len(r.Else)+len(r.ElseNext) > 0 {
		els = func() {
			e.block(r.Else)
			e.yield(v, r.ElseNext)
		}
	}
	e.If(e.get(r.Cond, e.slots[0]), !e.divergent, func() {
		e.block(r.Body)
		e.yield(v, r.Next)
	}, els)
}

// branchWhere emits an if of a lane that may not exist. Its results are zeros then.
func (e *emitter) branchWhere(v loop.Value, r *loop.Region, act Reg) {
	e.results(v, r)
	for i := range r.Next {
		to := e.outs[v][i][min(e.slots[0], len(e.outs[v][i])-1)]
		e.Set(to, e.Const(e.Type(to), 0))
	}
	e.If(act, false, func() { e.branches(v, r) }, nil)
}

// params sets the parameters of a loop to their first values.
func (e *emitter) params(v loop.Value, r *loop.Region) {
	for i, q := range r.Params {
		if e.shared(e.same[q]) {
			e.vals[q] = []Reg{e.Copy(e.get(r.Init[i], e.slots[0]))}
		} else {
			for _, s := range e.slots {
				e.define(q, s, e.Copy(e.get(r.Init[i], s)))
			}
		}
		e.outs[v][i] = e.vals[q]
	}
}

// loop emits a loop.
func (e *emitter) loop(v loop.Value, r *loop.Region) {
	e.params(v, r)
	e.trips(r)
}

// loopWhere emits the loop of a lane that may not exist.
func (e *emitter) loopWhere(v loop.Value, r *loop.Region, act Reg) {
	e.params(v, r)
	e.If(act, false, func() { e.trips(r) }, nil)
}

// trips emits the trips of a loop, whose parameters are set.
func (e *emitter) trips(r *loop.Region) {
	uniform := !e.divergent
	refs := slices.Clone(e.refs)
	trip, more := NoReg, func() {}
	fuel := e.p.Fuel(r)
	if r.Axis >= 0 {
		trip = e.Copy(e.Const(e.Type(e.extent[r.Axis]), 0))
		e.index[r.Axis] = trip
		more = e.walkAddresses(slices.Concat(r.Head, r.Body), r.Axis)
	} else if fuel {
		trip = e.Copy(e.I32(0))
	}
	on := func() {
		e.block(r.Body)
		e.next(r)
		more()
		if trip == NoReg {
			return
		}
		if fuel {
			e.poll(trip)
		}
		e.Update(trip, loop.OpAdd, trip, e.Const(e.Type(trip), 1))
	}
	if r.Axis < 0 || r.Cond == loop.NoValue {
		e.While(uniform, func() Reg {
			c := e.remains(r, trip, fuel)
			if r.Cond == loop.NoValue {
				return c
			}
			e.block(r.Head)
			return e.both(c, e.get(r.Cond, e.slots[0]))
		}, on)
	} else { // the head runs only where the axis is not used up
		c := e.Copy(e.remains(r, trip, fuel))
		e.While(uniform, func() Reg { return c }, func() {
			e.block(r.Head)
			e.If(e.get(r.Cond, e.slots[0]), uniform, func() {
				on()
				e.Set(c, e.remains(r, trip, fuel))
			}, func() { e.Set(c, e.Const(loop.B, 0)) })
		})
	}
	e.refs = refs
}

// remains returns whether the axis of a loop is not used up and the launch not cancelled, NoReg if
// the loop has no axis and burns no fuel.
func (e *emitter) remains(r *loop.Region, trip Reg, fuel bool) Reg {
	c := NoReg
	if r.Axis >= 0 {
		c = e.Lt(trip, e.extent[r.Axis])
	}
	if fuel {
		c = e.both(c, e.Not(e.cancelled))
	}
	return c
}

// both returns whether both hold; c may be NoReg.
func (e *emitter) both(c, d Reg) Reg {
	if c == NoReg {
		return d
	}
	return e.And(c, d)
}

// next sets the parameters of a loop to their next values, all at once.
func (e *emitter) next(r *loop.Region) {
	var to, from []Reg
	for i, q := range r.Params {
		if regs := e.vals[q]; len(regs) == 1 {
			to, from = append(to, regs[0]), append(from, e.get(r.Next[i], e.slots[0]))
			continue
		}
		for _, s := range e.slots {
			to, from = append(to, e.get(q, s)), append(from, e.get(r.Next[i], s))
		}
	}
	for i, x := range from {
		if slices.Contains(to[:i], x) { // it is overwritten before it is read
			from[i] = e.Copy(x)
		}
	}
	// The copies stand before all writes.
	for i, x := range to {
		if x != from[i] {
			e.Set(x, from[i])
		}
	}
}

// poll looks at the word that cancels from time to time.
func (e *emitter) poll(trip Reg) {
	t := e.Type(trip)
	last := e.Const(t, pollTrips-1)
	due := e.And(e.Eq(e.And(trip, last), last), e.watched)
	look := func(pred Reg) Reg {
		return e.Do(loop.OpNe, loop.B, 0, e.fresh(e.cancel, pred), e.I32(0))
	}
	if e.divergent {
		e.Set(e.cancelled, e.Or(e.cancelled, look(due)))
		return
	}
	e.If(due, true, func() { e.Set(e.cancelled, e.Any(e.Or(e.cancelled, look(NoReg)))) }, nil)
}

// fresh loads 4 bytes that others may write at any time.
func (e *emitter) fresh(addr, pred Reg) Reg {
	d := e.Var(loop.I32)
	e.Ins(Ins{Op: Load, Space: Global, Elem: W32, A: addr, Pred: pred, Regs: []Reg{d}, Fresh: true})
	return d
}
