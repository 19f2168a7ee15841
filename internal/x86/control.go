package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// params gives the carried values of a loop registers of their own, which start
// as init.
func (c *compiler) params(r *loop.Region) {
	for i, q := range r.Params {
		d := c.result(q)
		for j := range d {
			c.mov(d[j], c.get(r.Init[i], j))
		}
	}
}

// carry moves the next values into the carried ones, of the lanes in masks or of
// all if that is nil; the trip's code begins at from.
func (c *compiler) carry(r *loop.Region, masks []vr, from int) {
	type move struct {
		t    loop.Type
		d, s vr
		i    int
	}
	var moves []move
	for n, q := range r.Params {
		t := c.p.Ins[q].Type
		for i := range c.count(t) {
			moves = append(moves, move{t, c.get(q, i), c.get(r.Next[n], i), i})
		}
	}
	// What is overwritten before it is read is set aside.
	for j := range moves {
		for l := range j {
			if moves[j].s == moves[l].d && moves[l].s != moves[l].d {
				t := c.newOf(moves[j].t)
				c.mov(t, moves[j].s)
				moves[j].s = t
				break
			}
		}
	}
	var carried []vr
	var code recent
	if masks != nil {
		carried, code = c.carriedRegs(r), c.look(from)
	}
	for _, m := range moves {
		if m.d == m.s {
			continue
		}
		if masks == nil {
			c.mov(m.d, m.s)
			continue
		}
		k := c.maskFor(func(s int) vr { return masks[s] }, m.t, m.i)
		for _, o := range moves {
			if o.s == m.s && o.d != m.d && m.s.id() < len(c.seen) {
				c.seen[m.s.id()].uses++ // another takes it too
			}
		}
		if !c.mergeInto(code, m.d, m.s, k, carried) {
			c.merge(m.t, m.d, m.s, k)
		}
	}
}

// lowerLoop lowers a loop. Without a condition all active lanes make the same
// number of trips; with one, a lane that leaves keeps its values while the
// others go on, until none is left.
func (c *compiler) lowerLoop(r *loop.Region) {
	outer := c.masks
	c.params(r)
	var on []vr
	if r.Cond != loop.NoValue {
		for s := range c.lay.k {
			m := c.newM()
			if outer == nil {
				c.emit(pOnes, fDef, m)
			} else {
				c.mov(m, outer[s])
			}
			on = append(on, m)
		}
	}
	done := c.asm.NewLabel()
	trip := func() {
		from := len(c.code)
		if on != nil {
			c.masks = on
			c.block(r.Head)
			code := c.look(from)
			c.keepFor(r)
			if x := c.get(r.Cond, 0); len(on) > 1 && x == c.get(r.Cond, 1) && x.id() < len(c.seen) {
				c.seen[x.id()].uses++ // the same for all lanes: every mask takes it
			}
			for s, m := range on {
				c.narrowTo(code, m, c.get(r.Cond, s))
			}
			c.none(on, done)
		}
		c.block(r.Body)
		c.carry(r, on, from)
		if c.p.Fuel(r) {
			c.burn()
		}
	}
	if r.Axis >= 0 {
		c.counted(r.Axis, c.size(r.Axis), trip)
	} else {
		head := c.loop(true)
		trip()
		c.jmp(head)
		c.end()
	}
	c.label(done)
	c.masks = outer
}

// burn takes a unit of fuel; without any left the kernel is suspended here.
func (c *compiler) burn() {
	s := suspension{stub: c.asm.NewLabel(), back: c.asm.NewLabel()}
	c.suspends = append(c.suspends, s)
	c.store(asm.SUB, wordMem(loop.WordFuel), 0).with(1)
	c.jcc(condLE, s.stub)
	c.label(s.back)
}

// lowerIf lowers an if: each side runs under its mask unless no lane takes
// it.
func (c *compiler) lowerIf(v loop.Value, r *loop.Region) {
	outer := c.masks
	then := make([]vr, c.lay.k)
	for s := range c.lay.k {
		then[s] = c.get(r.Cond, s)
		if outer != nil {
			m := then[s]
			then[s] = c.newM()
			c.do(loop.OpAnd, loop.B, then[s], outer[s], m)
		}
	}
	first := len(c.regs)
	c.vals[v] = val{first: int32(first), state: defined}
	for _, o := range r.Next {
		t := c.p.Ins[o].Type
		for range c.count(t) {
			c.regs = append(c.regs, c.newOf(t))
		}
	}
	if c.isRare(r) {
		c.rareIf(r, then, first)
		c.masks = outer
		return
	}
	skip, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.none(then, skip)
	c.masks = then
	c.block(r.Body)
	at := first
	for _, o := range r.Next {
		for j := range c.count(c.p.Ins[o].Type) {
			c.mov(c.regs[at], c.get(o, j))
			at++
		}
	}
	c.label(skip)
	if len(r.Else) > 0 || len(r.ElseNext) > 0 {
		els := make([]vr, c.lay.k)
		for s := range c.lay.k {
			els[s] = c.newM()
			if outer == nil {
				c.compute(loop.OpNot, loop.B, els[s], c.get(r.Cond, s), 0)
			} else {
				c.op2(andns[c.isa], els[s], c.get(r.Cond, s), outer[s])
			}
		}
		c.none(els, done)
		c.masks = els
		c.block(r.Else)
		at := first
		for _, o := range r.ElseNext {
			t := c.p.Ins[o].Type
			for j := range c.count(t) {
				c.merge(t, c.regs[at], c.get(o, j), c.maskFor(func(s int) vr { return els[s] }, t, j))
				at++
			}
		}
	}
	c.label(done)
	c.masks = outer
}

// isRare reports an if whose body is an exception.
func (c *compiler) isRare(r *loop.Region) bool { return len(r.ElseNext) > 0 && c.cheap(r.Else) }

// cheapElse is the most instructions of an else that are computed for all lanes.
const cheapElse = 4

// cheap reports that a block has few instructions and none with an effect.
func (c *compiler) cheap(block []loop.Value) bool {
	for _, v := range block {
		if !pure(c.p.Ins[v].Op) {
			return false
		}
	}
	return len(block) <= cheapElse
}

// rareIf lowers an if whose else is cheap, as where a formula has a rare exception:
// all lanes take the results of the else first, and those in then, if there are
// any, are corrected. The usual way has one branch and no blend.
func (c *compiler) rareIf(r *loop.Region, then []vr, first int) {
	done := c.asm.NewLabel()
	move := func(next []loop.Value, into func(t loop.Type, d, s vr, j int)) {
		at := first
		for _, o := range next {
			t := c.p.Ins[o].Type
			for j := range c.count(t) {
				into(t, c.regs[at], c.get(o, j), j)
				at++
			}
		}
	}
	c.block(r.Else)
	move(r.ElseNext, func(_ loop.Type, d, s vr, _ int) { c.mov(d, s) })
	c.none(then, done).flags |= fRare
	c.masks = then
	c.block(r.Body)
	move(r.Next, func(t loop.Type, d, s vr, j int) {
		c.merge(t, d, s, c.maskFor(func(s int) vr { return then[s] }, t, j))
	})
	c.label(done)
}

// out makes v result n of a loop or an if.
func (c *compiler) out(v loop.Value, in *loop.Ins) {
	of := &c.p.Ins[in.A]
	if of.Op == loop.OpLoop {
		c.alias(v, c.p.Region(of).Params[in.Imm])
		return
	}
	at := c.vals[in.A].first
	for _, o := range c.p.Region(of).Next[:in.Imm] {
		at += int32(c.count(c.p.Ins[o].Type))
	}
	c.vals[v] = val{first: at, state: defined}
}
