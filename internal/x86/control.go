package x86

import (
	"slices"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// findResultsRead sets resultRead for the parameters of loops whose results something reads, and
// uniformInsideLoop for the uniform ones among them whose loop lanes leave at different times.
func (c *compiler) findResultsRead() {
	c.resultRead, c.uniformInsideLoop = zeroed(c.resultRead, len(c.p.Ins)), zeroed(c.uniformInsideLoop, len(c.p.Ins))
	for v := range c.p.Ins {
		if in := &c.p.Ins[v]; in.Op == loop.OpOut && c.p.Ins[in.A].Op == loop.OpLoop && !c.users.Dead(loop.Value(v)) {
			r := c.p.Region(&c.p.Ins[in.A])
			q := r.Params[in.Imm]
			c.resultRead[q], c.uniformInsideLoop[q] = true, c.uniform[q] && !c.uniformBranch(r)
		}
	}
}

// uniformBranch reports a region whose condition is uniform, so that all lanes go the same way.
func (c *compiler) uniformBranch(r *loop.Region) bool {
	return r.Cond == loop.NoValue || c.uniform[r.Cond]
}

// uniformly runs f under a layout of one register for all lanes.
func (c *compiler) uniformly(f func()) {
	uni, k := c.lay.uni, c.lay.k
	c.lay.uni, c.lay.k = true, 1
	f()
	c.lay.uni, c.lay.k = uni, k
}

// A leaver is a value that is uniform inside a loop, but not at its end, as lanes leave at different
// times. When a lane leaves, it keeps the value in a vector.
type leaver struct {
	n    int // number of the parameter
	regs []vr
}

// params gives the loop-carried variables registers of their own and sets them to Init. It returns
// the leavers, whose vectors are other registers.
func (c *compiler) params(r *loop.Region, f flag) (along []leaver) {
	for i, q := range r.Params {
		if i == f.n {
			continue
		}
		if !c.uniform[q] {
			for j, d := range c.result(q) {
				c.mov(d, c.get(r.Init[i], j))
			}
			continue
		}
		if c.inGPR[q] {
			g := c.newG()
			c.mov(g, c.g(r.Init[i]))
			c.setGeneral(q, g)
		} else {
			c.uniformly(func() { c.mov(c.result(q)[0], c.get(r.Init[i], 0)) })
		}
		if !c.uniformInsideLoop[q] {
			continue
		}
		x := leaver{n: i}
		for j := range c.count(c.p.Ins[q].Type) {
			d := c.newOf(c.p.Ins[q].Type)
			c.mov(d, c.get(r.Init[i], j))
			x.regs = append(x.regs, d)
		}
		along = append(along, x)
	}
	return along
}

// carry moves the next values into the loop-carried variables, in the lanes of masks. Variables that
// nothing reads behind the loop may change in lanes that have left.
func (c *compiler) carry(r *loop.Region, f flag, masks []vr, along []leaver) {
	for n, v := range r.Next {
		if in := c.left(v); in != nil && in.Op == loop.OpSelect && c.masked(r, r.Params[n]) {
			c.onLine(v, func() { c.chooseInto(in, r.Params[n], masks) })
		}
	}
	var next [][]vr
	for n, v := range r.Next {
		var regs []vr
		if n == f.n {
			next = append(next, nil)
			continue
		}
		early := slices.Contains(r.Params[:n], c.origin(v)) // overwritten before it is read: set aside
		if c.inGPR[r.Params[n]] {
			if c.left(v) == nil {
				s := c.g(v)
				if early {
					s = c.newG()
					c.mov(s, c.g(v))
				}
				regs = append(regs, s)
			}
			next = append(next, regs)
			continue
		}
		for i := range c.countOf(r.Params[n]) {
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
		t, left, masked := c.p.Ins[q].Type, c.left(r.Next[n]), c.masked(r, q)
		if n == f.n || masked && left != nil && left.Op == loop.OpSelect {
			continue
		}
		if c.inGPR[q] {
			x := &c.vals[q]
			if left != nil {
				c.onLine(r.Next[n], func() { c.computeGeneral(left, x.g) })
			} else {
				c.mov(x.g, next[n][0])
			}
			if x.first != noVector {
				c.broadcastInto(c.get(q, 0), x.g, t.Size())
			}
			continue
		}
		for i := range c.countOf(q) {
			d, k := c.get(q, i), vr(0)
			if masked {
				k = c.maskFor(func(s int) vr { return masks[s] }, t, i)
			}
			switch {
			case left != nil:
				c.onLine(r.Next[n], func() { c.nextInto(left, i, d, k) })
			case !masked:
				c.mov(d, next[n][i])
			case next[n][i] != d:
				c.merge(t, d, next[n][i], k)
			}
		}
	}
	for _, x := range along {
		q := r.Params[x.n]
		t := c.p.Ins[q].Type
		for i, d := range x.regs {
			k := c.maskFor(func(s int) vr { return masks[s] }, t, i)
			if c.vals[q].first == noVector {
				c.broadcastInto(d, c.vals[q].g, t.Size()).mask(k).rmw()
			} else {
				c.merge(t, d, c.get(q, 0), k)
			}
		}
	}
}

// onLine runs f with line set to the source line of v.
func (c *compiler) onLine(v loop.Value, f func()) {
	line := c.line
	if n := c.p.Line(v); n > 0 {
		c.line = int32(n)
	}
	f()
	c.line = line
}

// A loopLowering is the state of a loop that is being lowered.
type loopLowering struct {
	r     *loop.Region
	f     flag
	on    []vr // masks of the lanes that go on, one a step; nil if all go the same way
	along []leaver
	done  asm.Label
}

// lowerLoop lowers a loop. With a uniform condition, all lanes make the same number of trips. Else a
// lane that leaves keeps its values while the others go on, until none is left.
func (c *compiler) lowerLoop(r *loop.Region) {
	outer := c.masks
	x := &loopLowering{r: r, f: flag{n: -1}}
	if !c.uniformBranch(r) {
		x.f = c.findFlag(r)
	}
	x.along = c.params(r, x.f)
	if !c.uniformBranch(r) {
		x.on = c.entering(r, x.f)
	}
	x.done = c.asm.NewLabel()
	c.leaveNext(r, x.f)
	if x.on != nil && x.f.n < 0 && c.isa == jit.AVX512 {
		for _, v := range x.f.rest {
			c.leaveCondition(r.Head, v)
		}
	}
	if r.Axis >= 0 {
		c.counted(r.Axis, c.size(r.Axis), func() {
			c.trip(x)
			if c.p.Fuel(r) {
				s := c.burn()
				c.jcc(asm.CondLE, s.stub)
				c.label(s.back)
			}
		})
	} else { // without fuel it falls through to the jump to the stub
		head := c.loop(true)
		c.trip(x)
		s := c.burn()
		c.jcc(asm.CondG, head)
		c.jmp(s.stub)
		c.label(s.back)
		c.jmp(head)
		c.end()
	}
	c.label(x.done)
	c.masks = outer
	if x.f.n >= 0 && c.resultRead[r.Params[x.f.n]] {
		for s, d := range c.result(r.Params[x.f.n]) {
			c.compute(loop.OpNot, loop.B, d, x.on[s], 0)
		}
	}
	for _, l := range x.along { // the loop is done: now their values are its results
		c.vals[r.Params[l.n]] = val{first: int32(len(c.regs)), state: defined}
		c.regs = append(c.regs, l.regs...)
	}
}

// entering returns the masks of the lanes that enter a loop which they leave one by one.
func (c *compiler) entering(r *loop.Region, f flag) (on []vr) {
	for s := range c.lay.k {
		m := c.newM()
		if c.masks == nil {
			c.emit(pOnes, fDef, m)
		} else {
			c.mov(m, c.masks[s])
		}
		if f.n >= 0 {
			c.notInto(m, r.Init[f.n], s)
		}
		on = append(on, m)
	}
	return on
}

// trip lowers one trip through a loop: condition, body, and the moves of next values.
func (c *compiler) trip(x *loopLowering) {
	r, f := x.r, x.f
	c.condition(x)
	old := c.prefetching
	c.prefetching = c.worthPrefetching(r)
	c.block(r.Body)
	c.prefetching = old
	var less []vr // lanes that go on, before what their flag is made of changes
	if f.n >= 0 && slices.Contains(r.Params, c.origin(r.Next[f.n])) {
		for s, m := range x.on {
			less = append(less, c.newM())
			c.mov(less[s], m)
			c.notInto(less[s], r.Next[f.n], s)
		}
	}
	c.carry(r, f, x.on, x.along)
	for s, m := range x.on {
		switch {
		case less != nil:
			c.mov(m, less[s])
		case f.n >= 0:
			c.notInto(m, r.Next[f.n], s)
		}
	}
}

// condition lowers the head of a loop: it clears the lanes that leave in the masks, and jumps to
// done when none goes on.
func (c *compiler) condition(x *loopLowering) {
	r, f := x.r, x.f
	switch {
	case f.n >= 0:
		c.masks = x.on
		c.none(x.on, x.done)
		c.block(r.Head)
		for _, v := range f.others {
			c.unless(v, x.done)
		}
	case x.on != nil:
		c.masks = x.on
		c.block(r.Head)
		for _, v := range f.others {
			c.unless(v, x.done)
		}
		for s, m := range x.on {
			for _, v := range f.rest {
				c.narrowMask(m, v, s)
			}
		}
		c.none(x.on, x.done)
	case r.Cond != loop.NoValue:
		c.block(r.Head)
		c.unless(r.Cond, x.done)
	}
}

// burn subtracts a unit of fuel. The caller emits the branch on the result: above zero the kernel
// goes on, else it jumps to the stub, which suspends the kernel and returns to the label back.
func (c *compiler) burn() suspension {
	s := suspension{stub: c.asm.NewLabel(), back: c.asm.NewLabel()}
	c.suspends = append(c.suspends, s)
	c.store(asm.SUB, wordMem(loop.WordFuel), 0).with(1)
	return s
}

// lowerIf lowers an if: each side runs under its mask unless no lane takes it. If isRare, all lanes
// first take the result of the else, and then the body, if any lane takes it, overwrites the results
// of its lanes: the common path has one branch and no blend.
func (c *compiler) lowerIf(v loop.Value, r *loop.Region) {
	if c.uniformBranch(r) {
		c.branches(v, r)
		return
	}
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
	// yield sets the results to the values that a block yields, in the lanes of masks or in all.
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

// branches lowers an if with a uniform condition, as a branch.
func (c *compiler) branches(v loop.Value, r *loop.Region) {
	first, results := len(c.regs), make([][]vr, len(r.Next))
	c.vals[v] = val{first: int32(first), state: defined}
	for i, o := range r.Next {
		for range c.countResult(r, i) {
			d := c.newG()
			if !c.generalResult(v, i) {
				d = c.newOf(c.p.Ins[o].Type)
			}
			c.regs = append(c.regs, d)
		}
		results[i] = c.regs[first:]
		first = len(c.regs)
	}
	yield := func(next []loop.Value) {
		for i, o := range next {
			if c.generalResult(v, i) {
				c.mov(results[i][0], c.g(o))
				continue
			}
			for j, d := range results[i] {
				c.mov(d, c.get(o, j))
			}
		}
	}
	els, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.unless(r.Cond, els)
	c.block(r.Body)
	yield(r.Next)
	if len(r.Else)+len(r.ElseNext) > 0 {
		c.jmp(done)
	}
	c.label(els)
	c.block(r.Else)
	yield(r.ElseNext)
	c.label(done)
}

// countResult returns how many registers result i of an if has.
func (c *compiler) countResult(r *loop.Region, i int) int {
	if c.p.UniformResult(c.uniform, r, i) {
		return 1
	}
	return c.count(c.p.Ins[r.Next[i]].Type)
}

// cheapElse is the largest number of instructions of an else that is computed for all lanes.
const cheapElse = 4

// isRare reports an if whose body counts as a rare exception: its else is cheap and has no effect.
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
		if x := &c.vals[v]; x.first == noVector && (!c.inGPR[v] || c.alsoInVector[v]) {
			c.set(v, c.broadcast(x.g, in.Type.Size()))
		}
		return
	}
	r, at := c.p.Region(of), c.vals[in.A].first
	for i := range in.Imm {
		at += int32(c.countResult(r, int(i)))
	}
	if c.generalResult(in.A, int(in.Imm)) {
		c.setGeneral(v, c.regs[at])
		return
	}
	c.vals[v] = val{first: at, state: defined, uni: c.p.UniformResult(c.uniform, r, int(in.Imm))}
}
