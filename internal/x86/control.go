package x86

import (
	"slices"

	"weft/internal/jit"
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
// all if that is nil.
func (c *compiler) carry(r *loop.Region, masks []vr) {
	var next [][]vr
	for n, v := range r.Next {
		var regs []vr
		early := slices.Contains(r.Params[:n], c.origin(v)) // overwritten before it is read: set aside
		for i := range c.count(c.p.Ins[v].Type) {
			if c.left(v) != nil {
				break
			}
			s := c.get(v, i)
			if early {
				s = c.newOf(c.p.Ins[v].Type)
				c.mov(s, c.get(v, i))
			}
			regs = append(regs, s)
		}
		next = append(next, regs)
	}
	for n, q := range r.Params {
		t, left := c.p.Ins[q].Type, c.left(r.Next[n])
		for i := range c.count(t) {
			d := c.get(q, i)
			if masks == nil {
				c.mov(d, next[n][i])
				continue
			}
			k := c.maskFor(func(s int) vr { return masks[s] }, t, i)
			if left != nil {
				c.nextInto(left, i, d, k)
			} else if s := next[n][i]; s != d {
				c.merge(t, d, s, k)
			}
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
	if on != nil && c.isa == jit.AVX512 {
		c.leaveNext(r)
		c.leaveCondition(r.Head, r.Cond)
	}
	trip := func() {
		if on != nil {
			c.masks = on
			c.block(r.Head)
			for s, m := range on {
				c.narrowMask(m, r.Cond, s)
			}
			c.none(on, done)
		}
		c.block(r.Body)
		c.carry(r, on)
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
	c.jcc(asm.CondLE, s.stub)
	c.label(s.back)
}

// lowerIf lowers an if: each side runs under its mask unless no lane takes it. Where
// the if is a rare exception, all lanes take what the else gives, and those in the
// body, if there are any, are corrected: the usual way has one branch and no blend.
func (c *compiler) lowerIf(v loop.Value, r *loop.Region) {
	outer, rare := c.masks, c.isRare(r)
	then := make([]vr, c.lay.k)
	for s := range then {
		then[s] = c.get(r.Cond, s)
		if outer != nil {
			then[s] = c.newM()
			c.do(loop.OpAnd, loop.B, then[s], outer[s], c.get(r.Cond, s))
		}
	}
	first := len(c.regs)
	c.vals[v] = val{first: int32(first), state: defined}
	for _, o := range r.Next {
		t := c.p.Ins[o].Type
		for range c.count(t) {
			c.regs = append(c.regs, c.newOf(t))
			if !rare {
				c.emit(pAny, fDef, c.regs[len(c.regs)-1]) // until either side gives it
			}
		}
	}
	// yield gives the results what a block came to, for the lanes in masks or for all.
	yield := func(next []loop.Value, masks []vr) {
		at := first
		for _, o := range next {
			t := c.p.Ins[o].Type
			for j := range c.count(t) {
				if masks == nil {
					c.mov(c.regs[at], c.get(o, j))
				} else {
					c.merge(t, c.regs[at], c.get(o, j), c.maskFor(func(s int) vr { return masks[s] }, t, j))
				}
				at++
			}
		}
	}
	skip, done := c.asm.NewLabel(), c.asm.NewLabel()
	if rare {
		c.block(r.Else)
		yield(r.ElseNext, nil)
		c.none(then, done)
		c.masks = then
		usual := c.rare
		c.rare = fRare
		c.block(r.Body)
		yield(r.Next, then)
		c.rare = usual
	} else {
		c.none(then, skip)
		c.masks = then
		c.block(r.Body)
		yield(r.Next, nil)
		c.label(skip)
	}
	if !rare && len(r.Else)+len(r.ElseNext) > 0 {
		els := make([]vr, c.lay.k)
		for s := range els {
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
		yield(r.ElseNext, els)
	}
	c.label(done)
	c.masks = outer
}

// cheapElse is the most instructions of an else that are computed for all lanes.
const cheapElse = 4

// isRare reports an if whose body is an exception: its else is cheap and has no
// effect.
func (c *compiler) isRare(r *loop.Region) bool {
	for _, v := range r.Else {
		if !c.p.Ins[v].Op.Pure() {
			return false
		}
	}
	return len(r.ElseNext) > 0 && len(r.Else) <= cheapElse
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
