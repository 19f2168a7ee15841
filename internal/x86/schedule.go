package x86

import "weft/internal/loop"

// The processor looks ahead by some hundred instructions only. In long code whose
// chains of operations stand one behind the other it would wait for each chain in
// turn; so what most depends on comes first.

// schedule orders a block by how long the way from each instruction to the end of
// the block is, the longest first. It returns the block itself if that is short, has an
// order of its own to keep, or registers would not be enough. live and hot are
// the pressure of what it returns; live is negative if they are not known.
func (c *compiler) schedule(block []loop.Value) (order []loop.Value, live, hot int) {
	n := len(block)
	if n < longCode || !c.unordered(block, false) {
		return block, -1, -1
	}
	c.height = zeroed(c.height, len(c.p.Ins))
	height := c.height
	most := int32(0)
	for i := n - 1; i >= 0; i-- {
		v := block[i]
		in := &c.p.Ins[v]
		h := height[v]
		if in.Op != loop.OpStore && in.Op != loop.OpReduce {
			h += latency(in.Op)
		}
		height[v] = h
		most = max(most, h)
		need := func(o loop.Value) { height[o] = max(height[o], h) }
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			if o != loop.NoValue {
				need(o)
			}
		}
		if r := c.p.Region(in); r != nil {
			c.captured(r, need)
		}
	}
	// Counting sort; the order of equals stays.
	c.first = zeroed(c.first, int(most)+2)
	first := c.first
	for _, v := range block {
		first[most-height[v]+1]++
	}
	for i := range most + 1 {
		first[i+1] += first[i]
	}
	c.order = zeroed(c.order, n)
	out := c.order
	for _, v := range block {
		at := &first[most-height[v]]
		out[*at] = v
		*at++
	}
	regs := c.vectors()
	if live, hot = c.pressure(out, 0, regs); live > regs {
		return block, -1, -1
	}
	return out, live, hot
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

// unordered reports a block that may be reordered: nothing in it has an effect but
// stores, which come last, and reductions, each of which is by itself.
func (c *compiler) unordered(block []loop.Value, nested bool) bool {
	stored := false
	for _, v := range block {
		in := &c.p.Ins[v]
		switch in.Op {
		case loop.OpStore:
			stored = true
			if nested {
				return false
			}
			continue
		case loop.OpLoad, loop.OpIndex, loop.OpOut, loop.OpReduce:
		case loop.OpIf:
			if r := c.p.Region(in); !c.unordered(r.Body, true) || !c.unordered(r.Else, true) {
				return false
			}
		default:
			if !pure(in.Op) {
				return false
			}
		}
		if stored && in.Op == loop.OpLoad {
			return false
		}
	}
	return true
}

// latency is about how many cycles an operation takes.
func latency(op loop.Op) int32 {
	switch op {
	case loop.OpBits, loop.OpOut, loop.OpIf, loop.OpConst, loop.OpScalar:
		return 0
	case loop.OpFma, loop.OpScaleB, loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe:
		return 4
	case loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpLogB, loop.OpCvt:
		return 3
	case loop.OpDiv, loop.OpSqrt:
		return 14
	case loop.OpLoad:
		return 6
	}
	return 1
}
