package x86

import (
	"math"
	"math/bits"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// Register allocation is a linear scan (Poletto and Sarkar, 1999) over live intervals without holes.
// A virtual register without a machine register is spilled everywhere: each use gets its own tiny
// register, or reads memory directly where the instruction can, and the scan starts again. Constants
// and arguments are not stored but rematerialized. Spilled registers share slots in memory: a slot is
// free again when the interval of its register ends.

// allocatable holds the registers that a scan may assign. RAX and RDX are left to DIV and to
// suspensions, RDI is the frame, RSP and RBP belong to Go. K0 cannot be a mask.
var allocatable = [...][numClasses]uint32{
	jit.AVX2:   {gprs, 1<<16 - 1, 0},
	jit.AVX512: {gprs, 1<<32 - 1, 0xFE},
}

const gprs = 0xFFFF &^ (1<<0 | 1<<2 | 1<<4 | 1<<5 | 1<<7)

// A span is a loop in the code.
type span struct{ start, end int32 }

// allocate gives every virtual register a machine register or a slot. It may use more scratch than
// there is, which compile reports.
func (c *compiler) allocate() {
	if c.spills > 0 {
		c.rewrite()
	}
	for c.intervals(); c.scan(); c.intervals() {
		c.rewrite()
	}
	if c.spills > 0 {
		c.slots()
	}
}

// slots gives spilled registers places in scratch. The scan before has left no
// register in c.ends.
func (c *compiler) slots() {
	for class := range c.freeSlots {
		c.freeSlots[class] = c.freeSlots[class][:0]
	}
	for pos := range c.code {
		if i := &c.code[pos]; i.a[baseAt]&inSlot != 0 {
			v := i.a[baseAt].id()
			x := &c.vregs[v]
			if x.at == 0 {
				if free := &c.freeSlots[x.class]; len(*free) > 0 {
					x.at = (*free)[len(*free)-1]
					*free = (*free)[:len(*free)-1]
				} else {
					n := c.regBytes(x.class)
					x.at = int32(c.alloc(n, n))
				}
				x.next = c.ends[x.end]
				c.ends[x.end] = int32(v)
			}
			i.at(i.memAt, x.place())
		}
		for v := c.ends[pos]; v > 0; v = c.vregs[v].next {
			x := &c.vregs[v]
			c.freeSlots[x.class] = append(c.freeSlots[x.class], x.at)
		}
	}
}

// written returns the number of operands in a that i writes without reading them.
func (i *ins) written() int {
	if i.flags&(fDef|fRMW) == fDef {
		return 1
	}
	return 0
}

// rarity divides the weight of uses in code that runs rarely, such as the exceptions of formulas.
const rarity = 64

// intervals finds start, end and weight of every register.
func (c *compiler) intervals() {
	for v := range c.vregs {
		r := &c.vregs[v]
		if !r.bound {
			r.start, r.end, r.weight, r.phys = -1, -1, 0, -1
		}
	}
	c.spans = c.spans[:0]
	open := c.open[:0]
	for pos := range c.code {
		switch c.code[pos].op {
		case pLoop:
			open = append(open, int32(len(c.spans)))
			c.spans = append(c.spans, span{start: int32(pos)})
		case pEnd:
			c.spans[open[len(open)-1]].end = int32(pos)
			open = open[:len(open)-1]
		}
	}
	weight := float32(1)
	next := 0
	for pos := range c.code {
		i := &c.code[pos]
		switch i.op {
		case pLoop:
			open = append(open, int32(next))
			next++
			weight *= 8
			continue
		case pEnd:
			open = open[:len(open)-1]
			weight /= 8
			continue
		}
		weight := weight
		if i.flags&fRare != 0 {
			weight /= rarity
		}
		if i.flags&fDef != 0 {
			if r := &c.vregs[i.a[0].id()]; r.start < 0 {
				r.start, r.end, r.weight = int32(pos), int32(pos), weight
			} else {
				c.touch(i.a[0], int32(pos), weight, open)
			}
		}
		for _, r := range i.a[i.written():] {
			if r != 0 {
				c.touch(r, int32(pos), weight, open)
			}
		}
	}
	c.open = open
}

// touch extends the interval of v to pos. If v was defined before a loop around pos, it extends the
// interval to the end of the outermost such loop.
func (c *compiler) touch(v vr, pos int32, weight float32, open []int32) {
	r := &c.vregs[v.id()]
	if r.start < 0 && !r.bound {
		if v&inSlot == 0 {
			panic("x86: a register is read before it is written")
		}
		r.start = pos // a store, or whatever memory holds for pAny
	}
	r.weight += weight
	for _, s := range open {
		if sp := c.spans[s]; sp.start > r.start {
			pos = sp.end
			break
		}
	}
	r.end = max(r.end, pos)
}

// scan assigns registers and reports whether any was spilled.
func (c *compiler) scan() (spilled bool) {
	c.free, c.owner = allocatable[c.isa], [numClasses][32]int32{}
	c.ends = append(c.ends[:0], make([]int32, len(c.code)+1)...)
	for pos := range c.code {
		i := &c.code[pos]
		// What is read here for the last time may share its register with the
		// result.
		c.release(pos)
		if i.flags&fDef != 0 {
			if v := &c.vregs[i.a[0].id()]; v.start == int32(pos) && v.phys < 0 {
				spilled = c.place(int32(i.a[0].id()), i) || spilled
				c.release(pos)
			}
		}
	}
	return spilled
}

// release frees the registers whose use ends at pos.
func (c *compiler) release(pos int) {
	for v := c.ends[pos]; v > 0; v = c.vregs[v].next {
		r := &c.vregs[v]
		if c.owner[r.class][r.phys] == v {
			c.free[r.class] |= 1 << r.phys
			c.owner[r.class][r.phys] = 0
		}
	}
	c.ends[pos] = 0
}

// place assigns a machine register to v, whose interval starts at i, or spills v or another register.
// It reports whether it spilled one.
func (c *compiler) place(v int32, i *ins) bool {
	r := &c.vregs[v]
	r.price()
	if free := c.free[r.class]; free != 0 {
		c.take(v, c.choose(i, r.class, free))
		return false
	}
	victim := v
	for _, o := range c.owner[r.class] {
		if o > 0 && c.vregs[o].cost < c.vregs[victim].cost {
			victim = o
		}
	}
	if c.vregs[victim].cost == never {
		panic("x86: no register can be spilled")
	}
	c.vregs[victim].spilled = true
	c.spills++
	if victim != v {
		p := c.vregs[victim].phys
		c.owner[r.class][p] = 0
		c.take(v, int(p))
	}
	return true
}

// never is the cost of a register that is not spilled.
const never = math.MaxFloat32

// price sets the cost of spilling r: the weight of its uses over the length of its interval.
func (r *vinfo) price() {
	r.cost = r.weight / float32(r.end-r.start+4)
	if r.remat != 0 {
		r.cost /= 4
	}
	if r.tiny {
		r.cost = never
	}
}

// choose picks a free register, if possible the register of an operand whose last use is i. Then
// moves vanish, and instructions that overwrite an operand need no copy.
func (c *compiler) choose(i *ins, class uint8, free uint32) int {
	for _, a := range [...]vr{i.a[3], i.a[1], i.a[2]} {
		if x := &c.vregs[a.id()]; x.class == class && x.phys >= 0 && free>>x.phys&1 != 0 {
			return int(x.phys)
		}
	}
	return bits.TrailingZeros32(free)
}

func (c *compiler) take(v int32, p int) {
	r := &c.vregs[v]
	r.phys = int8(p)
	c.free[r.class] &^= 1 << p
	c.owner[r.class][p] = v
	r.next = c.ends[r.end]
	c.ends[r.end] = v
}

// rewrite replaces spilled registers by memory.
func (c *compiler) rewrite() {
	old := c.code
	c.code = c.other[:0]
	for n := range old {
		if old[n].op != pNop {
			c.rewriteIns(&old[n])
		}
	}
	c.other = old
	for v := range c.vregs {
		c.vregs[v].spilled = false
	}
}

func (c *compiler) isSpilled(r vr) bool {
	return r&inSlot == 0 && c.vregs[r.id()].spilled
}

func (c *compiler) rewriteIns(i *ins) {
	spilled := false
	for _, r := range i.a {
		spilled = spilled || r != 0 && c.isSpilled(r)
	}
	if !spilled {
		c.code = append(c.code, *i)
		return
	}
	d := vr(0) // the result, if it is spilled
	if i.flags&fDef != 0 && c.isSpilled(i.a[0]) {
		d = i.a[0]
		switch {
		case i.op == pAny || c.vregs[d.id()].remat != 0:
			return // its uses make it anew
		case i.op == pMov && !c.isSpilled(i.a[1]):
			c.spillStore(d, i.a[1], i.line)
			return
		}
	}
	c.foldOperand(i, func(r vr, f uint8) (lmem, bool) {
		x := &c.vregs[r.id()]
		switch {
		case !c.isSpilled(r) || r&^idMask != 0 || x.remat >= pLabel:
			return lmem{}, false
		case x.remat == 0:
			return slotMem(r), true
		}
		return c.inPlace(x.place(), x.elem, f)
	})
	// One tiny register for each spilled one; the result last, as it may be read too.
	was := i.a
	for j := len(was) - 1; j >= 0; j-- {
		r, t := was[j], vr(0)
		if !c.isSpilled(r) {
			continue
		}
		for l := j + 1; l < len(was); l++ {
			if c.isSpilled(was[l]) && was[l].id() == r.id() {
				t = i.a[l] & idMask
			}
		}
		if t == 0 {
			t = c.newReg(c.vregs[r.id()].class)
			c.vregs[t].tiny = true
			if j >= i.written() {
				c.rematerialize(t, r&idMask)
			}
		}
		i.a[j] = t | r&^idMask
	}
	c.code = append(c.code, *i)
	if d != 0 {
		c.spillStore(d, i.a[0]&idMask, i.line)
	}
}

// slotMem is where a spilled register lives, until slots decides.
func slotMem(r vr) lmem { return lmem{base: r&idMask | inSlot} }

func (c *compiler) regBytes(class uint8) int {
	if class == classV {
		return c.vb
	}
	return 8
}

// moveOps load and store a register by class.
var moveOps = [numClasses]asm.Op{asm.MOV, asm.VMOVUPS, asm.KMOVQ}

// spillStore stores a spilled register. The line is the source line of its value.
func (c *compiler) spillStore(r, t vr, line int32) {
	i := c.store(moveOps[c.vregs[r.id()].class], slotMem(r), t)
	i.line, i.spill = line, true
}
