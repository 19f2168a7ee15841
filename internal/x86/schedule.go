package x86

import (
	"weft/internal/jit"
	"weft/internal/loop"
)

// List scheduling by height. Out-of-order execution reaches some hundred instructions ahead only.
// In long code whose dependency chains stand one behind the other, the processor would wait for
// each chain in turn. So the instruction with the longest chain behind it comes first.

// schedule orders a block by height. It returns the block itself if it is short, must keep its
// order, or needs too many registers in the new order. live is the register pressure of the order
// by height, if there is one.
func (c *compiler) schedule(block []loop.Value) (order []loop.Value, live int) {
	order = block
	if len(block) >= longCode && c.p.Unordered(block, false, false) {
		order = c.users.ByHeight(block, latency)
	}
	if live = c.pressure(order, 0, c.vectors()); live > c.vectors() {
		order = block
	}
	return order, live
}

// zeroed is s with n elements, all zero; the memory is used again if it is enough.
func zeroed[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// latency is about how many cycles an operation takes.
func latency(op loop.Op) int32 {
	switch op {
	case loop.OpBits, loop.OpOut, loop.OpIf, loop.OpConst, loop.OpScalar:
		return 0
	case loop.OpFma, loop.OpScaleB, loop.OpLookup, loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
		return 4
	case loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpLogB, loop.OpCvt, loop.OpRound:
		return 3
	case loop.OpDiv, loop.OpSqrt:
		return 14
	case loop.OpLoad, loop.OpLoadAt:
		return 6
	}
	return 1
}

// arrange orders the block of a pass and decides how many of its steps run side by
// side: as many as registers allow, and in long straight code fewer, because the
// processor overlaps strips by itself.
func (c *compiler) arrange(block []loop.Value, s *survey) []loop.Value {
	block, live := c.schedule(block)
	k, regs := 4, c.vectors()
	if c.isa == jit.AVX2 && c.waits(block) {
		regs += regs * 3 / 5
	}
	if s.count > longCode {
		k = min(k, 2)
	}
	for k > 1 && k*live > regs {
		k /= 2
	}
	if s.held > 0 && s.held+k*live > 16<<c.isa {
		k = max(k/2, 1)
	}
	c.lay.k = k
	return block
}

// waits reports a block with a loop whose number of trips is not given by an axis. Each trip waits
// for the one before. Interleaved steps wait at the same time, so they pay even where spilled
// registers must be read from memory.
func (c *compiler) waits(block []loop.Value) bool {
	for _, v := range block {
		r := c.p.Region(&c.p.Ins[v])
		if r != nil && (c.p.Ins[v].Op == loop.OpLoop && r.Axis < 0 || c.waits(r.Body) || c.waits(r.Else)) {
			return true
		}
	}
	return false
}

// vectors is the number of vector registers that values may take.
func (c *compiler) vectors() int {
	if c.isa == jit.AVX512 {
		return 30
	}
	return 15
}

// pressure estimates the most registers that a step of block needs at once, on
// top of base. Beyond the limit it is not looked for any more.
func (c *compiler) pressure(block []loop.Value, base, limit int) (most int) {
	// Where each value is used last: one more than the index in the block.
	from := len(c.last)
	c.last = append(c.last, make([]int32, len(c.p.Ins))...)
	last := c.last[from:]
	for i, v := range block {
		if c.users.Dead(v) {
			continue
		}
		for _, o := range c.reads(&c.p.Ins[v]) {
			if o != loop.NoValue {
				last[c.origin(o)] = int32(i) + 1
			}
		}
	}
	live := base
	most = live
	for i, v := range block {
		in := &c.p.Ins[v]
		if most > limit {
			break
		}
		if c.users.Dead(v) {
			continue
		}
		if r := c.p.Region(in); r != nil {
			b := live
			for _, q := range r.Params {
				b += c.width(q)
			}
			for _, blk := range [...][]loop.Value{r.Head, r.Body, r.Else} {
				if len(blk) > 0 {
					most = max(most, c.pressure(blk, b, limit))
				}
			}
		}
		if last[v] > 0 {
			live += c.width(v)
		}
		most = max(most, live+1)
		end := int32(i) + 1
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			if o == loop.NoValue {
				continue
			}
			if o = c.origin(o); last[o] == end {
				last[o] = 0
				live = max(live-c.width(o), base)
			}
		}
	}
	c.last = c.last[:from]
	return most
}

// origin is the value in whose registers v lives.
func (c *compiler) origin(v loop.Value) loop.Value {
	if in := &c.p.Ins[v]; in.Op == loop.OpBits {
		return in.A // no OpBits itself: Builder.Bits sees to that
	}
	return v
}

// width returns the registers that a value takes in each step beyond one for all.
func (c *compiler) width(v loop.Value) int {
	t := c.p.Ins[v].Type
	if c.uniform[v] && !c.uniformInsideLoop[v] || t == loop.None || t == loop.B && c.isa == jit.AVX512 {
		return 0
	}
	if t.Size() == 8 {
		return c.lay.parts
	}
	return 1
}
