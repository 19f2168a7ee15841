package x86

import (
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Lanes that have left a loop keep their values. On AVX-512 the instructions that
// compute the next values and the condition can do that themselves, under the
// mask of lanes that go on. They are found in the code of the trip just emitted,
// and moved to its end.

// A recent is code just emitted; c.seen says where each register is defined in it
// and how often it is used.
type recent struct {
	from     int // index in code
	straight int // from here on there are no labels and jumps
}

// An occurrence counts what some code does with a register.
type occurrence struct {
	defs, uses int32 // those of the register zero mean nothing
	last       int32 // index of the last definition
}

// look collects the occurrences of registers in the code from an index on.
func (c *compiler) look(from int) recent {
	for len(c.seen) < len(c.vregs) {
		c.seen = append(c.seen, occurrence{})
	}
	clear(c.seen)
	r := recent{from: from, straight: from}
	for n := from; n < len(c.code); n++ {
		i := &c.code[n]
		if i.barrier() {
			r.straight = n + 1
			continue
		}
		if i.flags&fDef != 0 {
			s := &c.seen[i.a[0].id()]
			s.defs++
			s.last = int32(n)
		}
		for _, v := range i.a[i.written():] {
			c.seen[v.id()].uses++
		}
		for _, v := range [...]vr{i.k, i.mem.base, i.mem.index} {
			if v != frameReg {
				c.seen[v.id()].uses++
			}
		}
	}
	return r
}

// movable returns the instruction that alone computes s, for one use behind the
// code looked at, if it can as well stand at the end.
func (c *compiler) movable(r recent, s vr) *ins {
	if s.id() >= len(c.seen) {
		return nil
	}
	o := c.seen[s.id()]
	if o.defs != 1 || o.uses != 0 || int(o.last) < r.straight {
		return nil
	}
	i := &c.code[o.last]
	if i.k != 0 || i.flags&fRMW != 0 || i.memAt >= 0 && i.mem.label == 0 {
		return nil
	}
	for _, v := range i.sources() {
		if s := c.seen[v.id()]; s.defs > 0 && s.last > o.last {
			return nil
		}
	}
	return i
}

// mergeInto makes the instruction that computes s write the lanes of d that k has
// instead. others are registers that have changed or will.
func (c *compiler) mergeInto(r recent, d, s, k vr, carried []vr) bool {
	if c.isa != AVX512 {
		return false
	}
	i := c.movable(r, s)
	if i == nil {
		return false
	}
	op, fma := i.op, i.op == pFma || i.op == pFmaD
	switch {
	case op == pFma && i.a[3] == d:
		op = fmaOps[0][i.imm].f231
	case op == pFmaD && i.a[3] == d:
		op = fmaOps[1][i.imm].f231
	case op >= pLabel || foldOf(op)&(foldBcast4|foldBcast8) == 0 || c.vregs[s.id()].class != classV:
		return false
	}
	for j := 1; j < int(i.n); j++ {
		for _, x := range carried {
			if i.a[j] == x && x != d {
				return false
			}
		}
	}
	n := *i
	i.remove()
	n.op, n.a[0], n.k = op, d, k
	n.flags |= fRMW
	if fma {
		n.a[3], n.n, n.imm = 0, 3, 0
	}
	c.code = append(c.code, n)
	return true
}

// narrowTo keeps of mask m the lanes where cond holds.
func (c *compiler) narrowTo(r recent, m, cond vr) {
	if c.isa == AVX512 {
		if i := c.movable(r, cond); i != nil {
			switch i.op {
			case asm.KANDW:
				a, b := i.a[1], i.a[2]
				if a == b || c.seen[a.id()].uses != 1 || c.seen[b.id()].uses != 1 {
					break
				}
				i.remove()
				c.seen[a.id()].uses, c.seen[b.id()].uses = 0, 0
				// A float comparison is likelier to be waited for: last.
				if j := c.movable(r, a); j != nil && (j.op == asm.VCMPPS || j.op == asm.VCMPPD) {
					a, b = b, a
				}
				c.narrowTo(r, m, a)
				c.narrowTo(r, m, b)
				return
			case asm.VCMPPS, asm.VCMPPD, asm.VPCMPD, asm.VPCMPQ:
				n := *i
				i.remove()
				n.a[0], n.k = m, m
				c.code = append(c.code, n)
				return
			}
		}
	}
	c.do(loop.OpAnd, loop.B, m, m, cond)
}

// keepFor counts what the body of a loop is going to use of its head.
func (c *compiler) keepFor(r *loop.Region) {
	use := func(values []loop.Value) {
		for _, v := range values {
			if v == loop.NoValue || c.vals[v].state != defined {
				continue
			}
			n := c.count(c.p.Ins[v].Type)
			if c.vals[v].uni {
				n = 1
			}
			for i := range n {
				if id := c.get(v, i).id(); id < len(c.seen) {
					c.seen[id].uses++
				}
			}
		}
	}
	use(r.Next)
	for _, v := range r.Body {
		use(c.reads(&c.p.Ins[v]))
	}
}

// remove turns i into nothing.
func (i *ins) remove() { *i = ins{op: pNop, memAt: -1} }
