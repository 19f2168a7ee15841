package grid

import (
	"weft/internal/loop"
	"weft/internal/numbers"
)

// accesses says what the threads of a row have done to memory since they last waited for each other.
type accesses struct {
	loads  bool
	stores bool // by threads with lanes
	leader bool // stores by the leader
}

// shortBody is the largest number of instructions of a pass whose slots run four abreast.
const shortBody = 48

// rows walks rows: a warp or a block computes one, and then one some rows further on.
func (e *emitter) rows() {
	p, pass := e.p, e.pass
	e.rowWarps = 1
	row, by := e.counter(e.Block()), e.counter(e.Blocks())
	switch {
	case e.kind == BlockRows:
		e.rowWarps = blockWarps
		if e.exchange = e.exchanged(); e.exchange > 0 {
			e.K.Shared = 2 * e.exchange
			e.parity = e.Copy(e.I64(0))
		}
	case e.kind&Kept != 0:
		e.reuse, e.gather, pass = reuses(p), newGather(p, e.kind.level()), e.keptPass
		e.rowWarps, e.K.Shared = e.gather.warps, e.gather.bytes
	}
	if e.rowWarps == 1 {
		n := e.number(blockWarps)
		row, by = e.Add(e.Mul(row, n), e.counter(e.warp)), e.Mul(by, n)
	}
	row = e.Copy(row)
	total := e.number(1)
	for a := range p.Lane {
		total = e.Mul(total, e.extent[a])
	}
	e.While(true, func() Reg { return e.Lt(row, total) }, func() {
		e.whole(1)
		e.seen = accesses{}
		if p.Lane > 0 {
			e.split(row)
		}
		e.rowAddresses(NoReg)
		e.body(pass)
		e.Update(row, loop.OpAdd, row, by)
	})
}

// inRow reports code that stands in the row, run by all its threads together.
func (e *emitter) inRow() bool { return !e.flat() && e.k == 1 && e.lane == nil && !e.divergent }

// leads returns whether the thread is the first of its row.
func (e *emitter) leads() Reg {
	switch {
	case e.kind == ShortRows:
		return e.And(e.row, e.Eq(e.inRows, e.I32(0)))
	case e.rowWarps == 1:
		return e.Eq(e.inWarp, e.I32(0))
	}
	return e.Eq(e.thread, e.I32(0))
}

// stores reports whether a block stores.
func stores(p *loop.Program, block []loop.Value) (yes bool) {
	p.Walk(block, func(_ loop.Value, in *loop.Ins) {
		yes = yes || in.Op == loop.OpStore || in.Op == loop.OpStoreAt
	})
	return yes
}

// loads reports whether a block loads from memory.
func (e *emitter) loads(block []loop.Value) (yes bool) {
	e.p.Walk(block, func(v loop.Value, in *loop.Ins) {
		yes = yes || (in.Op == loop.OpLoad || in.Op == loop.OpLoadAt) && e.found(v) == loop.NoValue
	})
	return yes
}

// found returns the value that a load finds again in registers, NoValue if it reads memory.
func (e *emitter) found(v loop.Value) loop.Value {
	if e.reuse == nil {
		return loop.NoValue
	}
	return e.reuse.from[v]
}

// order waits, if need be, before an instruction of the row. Any two buffers may share memory.
func (e *emitter) order(v loop.Value) {
	b := []loop.Value{v}
	if stores(e.p, b) {
		if e.seen.loads || e.seen.stores {
			e.wait()
		}
		e.seen.leader = true
	} else if e.loads(b) {
		if e.seen.stores || e.seen.leader {
			e.wait()
		}
		e.seen.loads = true
	}
}

// orderPass waits, if need be, before a pass.
func (e *emitter) orderPass(block []loop.Value) {
	loads, stores := e.loads(block), stores(e.p, block)
	if stores && e.seen.loads || (loads || stores) && (e.seen.stores || e.seen.leader) {
		e.wait()
	}
}

// touch notes what a pass does to memory.
func (e *emitter) touch(block []loop.Value) {
	e.seen.loads = e.seen.loads || e.loads(block)
	e.seen.stores = e.seen.stores || stores(e.p, block)
}

// wait makes the threads of the row wait for each other.
func (e *emitter) wait() {
	if e.rowWarps == 1 {
		e.WarpBarrier()
	} else {
		e.Barrier()
	}
	e.seen = accesses{}
}

// lead emits a loop or if of the row that stores. The leader runs it, and the others get its results.
func (e *emitter) lead(v loop.Value, in *loop.Ins) {
	r := e.p.Region(in)
	regs := make([]Reg, len(r.Next))
	for i, x := range r.Next {
		t := registerType(e.p.Ins[x].Type)
		regs[i] = e.Copy(e.Const(t, 0))
	}
	e.If(e.leads(), false, func() {
		pred := e.pred
		e.divergent = true
		e.region(v, in)
		e.divergent = false
		e.pred, e.live = pred, NoReg
		for i, x := range regs {
			e.Set(x, e.outs[v][i][0])
		}
	}, nil)
	if e.rowWarps > 1 && len(regs) > 0 {
		for i, x := range regs {
			e.share(e.parity, 8*i, x, e.leads())
		}
		e.Barrier()
		e.seen = accesses{}
	}
	for i, x := range regs {
		e.outs[v][i] = []Reg{e.fromLeader(8*i, x)}
	}
	if e.rowWarps > 1 && len(regs) > 0 {
		e.swap()
	}
	if e.cancelled != NoReg && e.burns([]loop.Value{v}) {
		e.stop()
	}
}

// fromLeader returns the leader's value of x, which it has shared at offset if there are more warps.
func (e *emitter) fromLeader(offset int, x Reg) Reg {
	if e.rowWarps > 1 {
		return e.unshare(e.Type(x), e.parity, offset)
	}
	if e.Type(x) == loop.B {
		return e.Any(e.And(x, e.leads()))
	}
	return e.FromLane(x, e.I32(0))
}

// share writes a value into shared memory, a truth value as 0 or 1.
func (e *emitter) share(addr Reg, offset int, x, pred Reg) {
	if e.Type(x) == loop.B {
		x = e.Do(loop.OpCvt, loop.I32, 0, x)
	}
	e.Store(Shared, word(e.Type(x)), addr, offset, pred, x)
}

// unshare reads a value of type t that was shared.
func (e *emitter) unshare(t loop.Type, addr Reg, offset int) Reg {
	if t == loop.B {
		return e.Do(loop.OpNe, loop.B, 0, e.Load(Shared, W32, loop.I32, addr, offset, NoReg), e.I32(0))
	}
	return e.Load(Shared, word(t), t, addr, offset, NoReg)
}

func word(t loop.Type) Elem {
	if t.Size() == 8 {
		return W64
	}
	return W32
}

// swap makes the next exchange use the other half of shared memory. So one barrier in each exchange
// suffices: who writes into a half again has passed the barrier of the exchange in the other half.
func (e *emitter) swap() { e.Update(e.parity, loop.OpSub, e.I64(int64(e.exchange)), e.parity) }

// exchanged returns the bytes of the largest exchange between warps, 0 if there is none.
func (e *emitter) exchanged() int {
	n := 0
	for _, v := range e.p.Body {
		in := &e.p.Ins[v]
		r := e.p.Region(in)
		if r == nil {
			continue
		}
		if in.Op != loop.OpPass {
			if stores(e.p, []loop.Value{v}) {
				n = max(n, 8*len(r.Next))
			}
			continue
		}
		reductions := 0
		for _, x := range r.Body {
			if e.p.Ins[x].Op == loop.OpReduce {
				reductions++
			}
		}
		n = max(n, 8*blockWarps*reductions)
	}
	if e.cancelled != NoReg {
		n = max(n, 8)
	}
	return n
}

// leaveRow ends the threads of a block, all together, if the launch is cancelled.
func (e *emitter) leaveRow() {
	lead := e.leads()
	e.share(e.parity, 0, e.fresh(e.cancel, e.And(lead, e.watched)), lead)
	e.Barrier()
	stop := e.unshare(loop.B, e.parity, 0)
	e.swap()
	e.If(stop, true, e.Return, nil)
}

// pass emits a pass of a row.
func (e *emitter) pass(r *loop.Region) {
	e.orderPass(r.Body)
	var reds []*reduction
	e.reds = map[loop.Value]*reduction{}
	slots := e.abreast(r.Body)
	for _, v := range r.Body {
		in := &e.p.Ins[v]
		if in.Op != loop.OpReduce {
			continue
		}
		x := newReduction(v, in)
		slots = max(slots, x.chains)
		reds = append(reds, x)
		e.reds[v] = x
	}
	n := e.extent[e.p.Lane]
	t := e.Type(n)
	refs := append([][]ref(nil), e.refs...)
	count := func(x int) Reg { return e.Const(t, uint64(x)) }
	strips := func(first, end Reg, warps int) {
		at := e.Copy(first)
		step := slots * Warp
		e.While(true, func() Reg { return e.Lt(at, end) }, func() {
			e.whole(slots)
			e.live = NoReg
			if e.cancelled != NoReg && e.rowWarps > 1 {
				e.live = e.Not(e.cancelled)
			}
			e.lane = make([]Reg, slots)
			lane := e.Add(at, e.as(t, e.inWarp))
			for s := range e.lane {
				e.lane[s] = lane
				if s > 0 {
					e.lane[s] = e.Add(lane, count(s*Warp))
				}
				e.pred[s] = e.both(e.live, e.Lt(e.lane[s], end))
			}
			e.laneAddresses(r.Body, Warp)
			e.block(r.Body)
			e.Update(at, loop.OpAdd, at, count(step*warps))
			copy(e.refs, refs)
			e.lane, e.live = nil, NoReg
			e.whole(1)
		})
	}
	if len(reds) == 0 {
		strips(e.Mul(e.as(t, e.warpInRow()), count(slots*Warp)), n, e.rowWarps)
		e.touch(r.Body)
		return
	}
	e.reduce(reds, n, func(base Reg) {
		first := e.Add(base, e.Mul(e.as(t, e.warpInRow()), count(numbers.Block)))
		end := e.Add(first, count(numbers.Block))
		end = e.Select(e.Lt(end, n), end, n)
		strips(first, end, 1)
	})
	if e.rowWarps == 1 { // else the warps have waited for each other behind what the pass did
		e.touch(r.Body)
	}
}

// abreast returns the number of slots of a pass. The loads of a short body are in flight together:
// one for each thread would not fill the way to memory.
func (e *emitter) abreast(block []loop.Value) int {
	n := 0
	e.p.Walk(block, func(_ loop.Value, in *loop.Ins) {
		n++
		if in.Op == loop.OpLoop || in.Op == loop.OpIf {
			n += shortBody // its slots would run one after the other
		}
	})
	if n > shortBody {
		return 1
	}
	return 4
}

// warpInRow returns the number of the warp in its row.
func (e *emitter) warpInRow() Reg {
	if e.rowWarps == 1 {
		return e.I32(0)
	}
	return e.warp
}

// as returns an I32 as an integer of type t.
func (e *emitter) as(t loop.Type, x Reg) Reg {
	if t == loop.I64 {
		return e.Wide(x)
	}
	return x
}
