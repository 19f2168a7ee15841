package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// Code for rows of a known, small number of elements: see loop.Axis.Extent. Nothing is compared at
// run time, the mask of the last step is a constant, virtual lanes stay in registers, and a fold
// has only the operations in which elements of the row take part.

// straight runs body for n lanes from the index on, without a loop.
func (c *compiler) straight(body []loop.Value, n int) {
	old := c.lay
	whole := n / old.lanes
	for s := 0; s < whole; s += c.lay.k {
		for c.lay.k = old.k; s+c.lay.k > whole; {
			c.lay.k /= 2
		}
		c.lay.first = s
		c.block(body)
	}
	if rest := n % old.lanes; rest > 0 {
		c.lay.k, c.lay.first, c.lay.knownRest = 1, whole, rest
		c.lay.restMask = c.firstLanes(rest)
		c.masks = []vr{c.lay.restMask}
		c.block(body)
		c.masks = nil
	}
	c.lay = old
}

// firstLanes returns the mask of the first n lanes of a step.
func (c *compiler) firstLanes(n int) vr {
	if c.isa == jit.AVX512 {
		m, bits := c.newM(), c.newG()
		c.gconst(bits, 1<<n-1)
		c.op1(c.kmov(), m, bits)
		return m
	}
	var list [32]byte
	for i := range n * c.lay.es {
		list[i] = 0xFF
	}
	return c.listReg(list[:])
}

// times emits n runs of body. Each run computes one strip.
func (c *compiler) times(n, strip int, body func()) {
	if n > 1 {
		head := c.loop(true)
		body()
		c.advance(strip)
		c.branchi(c.lay.idx, asm.CondL, int64(n*strip), head)
		c.end()
	} else if n > 0 {
		body()
		c.advance(strip)
	}
}

// fixedStrips runs body over a row of n lanes.
func (c *compiler) fixedStrips(body []loop.Value, s *survey, n int) {
	strip := c.lay.k * c.lay.lanes
	if n <= strip || n <= 2*strip && s.count <= longCode {
		c.straight(body, n)
		return
	}
	c.times(n/strip, strip, func() { c.straight(body, strip) })
	c.straight(body, n%strip)
}

// fixedReducing is reducing for a row of n lanes, at most a block.
func (c *compiler) fixedReducing(body []loop.Value, n int) {
	first := len(c.accs)
	strip := numbers.VirtualBytes / c.lay.es
	c.lay.k = min(c.lay.k, strip/c.lay.lanes)
	c.accumulators(body)
	all := c.accs[first:]
	for i := range all {
		x := &all[i]
		if x.t == loop.B {
			continue
		}
		if x.fresh = n <= numbers.VirtualBytes/x.t.Size(); x.fresh {
			continue
		}
		for _, r := range x.regs {
			c.mov(r, c.identity(x))
		}
	}
	c.times(n/strip, strip, func() { c.straight(body, strip) })
	c.straight(body, n%strip)
	for i := range all {
		x := &all[i]
		if c.batch != nil {
			c.batch.keep(c, x, n)
			continue
		}
		if x.t != loop.B {
			c.fold(x, x.regs, n)
		}
		c.normalizeZero(x, &x.part)
		c.finish(x)
	}
	c.accs = c.accs[:first]
}

// normalizeZero makes +0 of a sum's -0 where its lanes did not begin with the identity.
func (c *compiler) normalizeZero(x *accumulator, r *vr) {
	if x.fresh && x.op == loop.OpAdd && x.t.Float() {
		c.compute(x.op, x.t, *r, *r, c.identity(x)) // -0 + 0
	}
}
