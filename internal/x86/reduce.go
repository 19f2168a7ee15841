package x86

import (
	"math"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/x86/asm"
)

// An accumulator is the state of an OpReduce while its pass runs: the virtual
// lanes in registers, and a place in memory for them in the rest of a block,
// where the lane that an element belongs to is not known to the compiler.
type accumulator struct {
	v    loop.Value
	t    loop.Type
	op   loop.Op
	regs []vr
	mem  int // virtual lanes, in the frame
	tree int // partial results of blocks by level
	part vr  // the result of a block, in lane 0
	n    int // elements of a row, in batches of them

	// Each virtual lane takes at most one element, so it starts from that element and not from
	// the identity. A sum still adds 0 at its end, which makes 0 of -0: see normalizeZero.
	fresh bool
}

// levels is enough for 2^48 blocks.
const levels = 48

// reductions are the operations of a loop.Reduction, identities their bits by type.
var (
	reductions = [...]loop.Op{loop.OpAdd, loop.OpMul, loop.OpMin, loop.OpMax, loop.OpAnd, loop.OpOr, loop.OpMinU, loop.OpMaxU}
	identities = [loop.NumOps][loop.I16 + 1]uint64{
		loop.OpMul:  {loop.I32: 1, loop.I64: 1, loop.F32: 0x3F800000, loop.F64: 0x3FF << 52, loop.I8: 1, loop.I16: 1},
		loop.OpMin:  {loop.I32: math.MaxInt32, loop.I64: math.MaxInt64, loop.F32: 0x7F800000, loop.F64: 0x7FF << 52, loop.I8: math.MaxInt8, loop.I16: math.MaxInt16},
		loop.OpAnd:  {loop.B: 1},
		loop.OpMinU: {loop.I32: math.MaxUint32, loop.I64: math.MaxUint64, loop.I8: math.MaxUint8, loop.I16: math.MaxUint16},
		loop.OpMax:  {loop.I32: 1 << 31, loop.I64: 1 << 63, loop.F32: 0xFF800000, loop.F64: 0xFFF << 52, loop.I8: 1 << 7, loop.I16: 1 << 15},
	}
)

// identity returns a register with the identity in all lanes.
func (c *compiler) identity(x *accumulator) vr { return c.constReg(x.t, identities[x.op][x.t]) }

// virtual is the number of registers that an accumulator takes.
func (c *compiler) virtual(t loop.Type) int {
	if t == loop.B {
		return 1
	}
	return numbers.VirtualBytes / c.vb
}

// reducing lowers a pass with reductions. The virtual lanes have as many bytes as
// a strip of vectors, so every strip meets the same registers. With over, rows of at most a strip
// take a shorter path. With only, the pass has no effect but its reductions, and a reduction of
// truth values stops at the element that decides it.
func (c *compiler) reducing(body []loop.Value, n vr, over, only bool) {
	first := len(c.accs)
	strip := numbers.VirtualBytes / c.lay.es
	steps := strip / c.lay.lanes
	c.accumulators(body)
	all := c.accs[first:]
	var accs []accumulator // those that are folded
	for i := range all {
		if x := &all[i]; x.t != loop.B {
			x.mem, x.tree = c.alloc(numbers.VirtualBytes, 64), c.alloc(8*levels, 8)
			accs = append(accs, *x)
		}
	}
	k := min(c.lay.k, steps)
	i := c.lay.idx
	blocks, end := c.newG(), c.newG()
	c.gconst(blocks, 0)
	single := c.asm.NewLabel()
	if over {
		c.shortRow(body, accs, n, single)
	}
	nextBlock := c.loop(false)
	{
		t := c.loadG(asm.LEA, lmem{base: i, disp: numbers.Block})
		c.mov(end, n)
		c.use2(asm.CMP, end, t)
		c.upd(asm.CMOVG, end, t)
	}
	for j := range accs {
		for _, r := range accs[j].regs {
			c.mov(r, c.identity(&accs[j]))
		}
	}
	fold := c.asm.NewLabel()
	c.wholeStrips(end, strip, false, func() {
		c.lay.k = k
		for s := 0; s < steps; s += k {
			c.lay.first = s
			c.block(body)
		}
		c.lay.first = 0
		if only && len(all) == 1 && all[0].t == loop.B {
			c.shortCircuit(&all[0], single)
		}
	})
	c.end()
	c.branch(i, asm.CondGE, end, fold)
	c.rest(body, accs, end)
	c.label(fold)
	for j := range accs {
		c.fold(&accs[j], accs[j].regs, numbers.VirtualBytes)
	}
	if len(accs) > 0 {
		c.branchi(n, asm.CondLE, numbers.Block, single)
		c.push(accs, blocks)
	}
	c.updi(asm.ADD, blocks, 1)
	c.branch(i, asm.CondL, n, nextBlock)
	c.end()
	if len(accs) > 0 {
		c.pop(accs, blocks)
	}
	c.label(single)
	for j := range all {
		c.finish(&all[j])
	}
	c.accs = c.accs[:first]
}

// accumulators opens one for each reduction of a pass.
func (c *compiler) accumulators(body []loop.Value) {
	for _, v := range body {
		in := &c.p.Ins[v]
		if in.Op != loop.OpReduce {
			continue
		}
		x := accumulator{v: v, t: in.Type, op: reductions[in.Imm]}
		for range c.virtual(x.t) {
			x.regs = append(x.regs, c.newOf(x.t))
		}
		if x.t == loop.B {
			c.mov(x.regs[0], c.identity(&x))
		} else {
			x.part = c.newV()
		}
		c.accs = append(c.accs, x)
	}
}

// shortCircuit jumps to l if an element of a reduction of truth values has decided its result.
func (c *compiler) shortCircuit(x *accumulator, l asm.Label) {
	m := x.regs[0]
	if x.op == loop.OpAnd {
		m = c.newM()
		c.compute(loop.OpNot, loop.B, m, x.regs[0], 0)
	}
	c.none([]vr{m}, l).cond = asm.CondNE
}

// rest computes the elements of a block behind its last strip, a step at a time, with the virtual
// lanes in memory.
func (c *compiler) rest(body []loop.Value, accs []accumulator, end vr) {
	at := c.newG()
	c.gconst(at, 0)
	for j := range accs {
		for l, r := range accs[j].regs {
			c.store(asm.VMOVUPS, frameMem(accs[j].mem+l*c.vb), r)
		}
	}
	c.lay.k = 1
	c.lay.at = at
	c.maskedSteps(end, func() {
		c.block(body)
		c.lay.at = 0
		c.updi(asm.ADD, at, int64(c.vb))
	})
	for j := range accs {
		for l, r := range accs[j].regs {
			c.load(asm.VMOVUPS, r, frameMem(accs[j].mem+l*c.vb))
		}
	}
}

// accumulate lowers OpReduce itself.
func (c *compiler) accumulate(v loop.Value, in *loop.Ins) {
	var x *accumulator
	for i := range c.accs {
		if c.accs[i].v == v {
			x = &c.accs[i]
		}
	}
	if x.t == loop.B {
		for s := range c.lay.k {
			c.accumulateBool(x, c.get(in.A, s), c.active(s))
		}
		return
	}
	parts := 1
	if x.t.Size() == 8 {
		parts = c.lay.parts
	}
	if c.lay.at == 0 {
		for i := range c.lay.k * parts {
			at := (c.lay.first*parts + i) % len(x.regs)
			r, k := x.regs[at], c.activeFor(x.t, i)
			switch {
			case x.fresh && k == 0:
				x.regs[at] = c.get(in.A, i)
				continue
			case x.fresh:
				c.blend(x.t, r, k, c.get(in.A, i), c.identity(x))
				continue
			case k != 0:
				with := c.newOf(x.t)
				c.compute(x.op, x.t, with, r, c.get(in.A, i))
				c.merge(x.t, r, with, k)
				continue
			}
			c.compute(x.op, x.t, r, r, c.get(in.A, i))
		}
		return
	}
	off := c.newG()
	c.mov(off, c.lay.at)
	if parts > 1 {
		c.upd(asm.ADD, off, off)
		c.updi(asm.AND, off, numbers.VirtualBytes-1)
	}
	for i := range parts {
		m := frameMem(x.mem + i*c.vb)
		m.index, m.scale = off, 1
		old, sum := c.loadV(asm.VMOVUPS, m), c.newV()
		c.compute(x.op, x.t, sum, old, c.get(in.A, i))
		c.merge(x.t, old, sum, c.activeFor(x.t, i))
		c.store(asm.VMOVUPS, m, old)
	}
}

func (c *compiler) accumulateBool(x *accumulator, a, k vr) {
	if k != 0 {
		t := c.newM()
		if x.op == loop.OpAnd {
			c.compute(loop.OpNot, loop.B, t, k, 0)
			c.do(loop.OpOr, loop.B, t, a, t)
		} else {
			c.do(loop.OpAnd, loop.B, t, a, k)
		}
		a = t
	}
	c.do(x.op, loop.B, x.regs[0], x.regs[0], a)
}

// fold folds the virtual lanes in halves, down to lane 0 of part. Lanes above
// hold whatever. regs are the registers that hold them, or the first half if the others hold
// the identity, as lanes from n on do.
func (c *compiler) fold(x *accumulator, regs []vr, n int) {
	size := x.t.Size()
	// Of extremes one look says whether there is a NaN, whose result is one, instead of one
	// look a step.
	extreme := x.t.Float() && (x.op == loop.OpMin || x.op == loop.OpMax)
	var nans []vr
	if extreme {
		used := min((n*size+c.vb-1)/c.vb, len(regs))
		for i := 0; i < used; i += 2 {
			m := c.newM()
			c.op2i(cmps[x.t], m, regs[i], regs[min(i+1, used-1)], cmpUnord)
			nans = append(nans, m)
		}
	}
	r := c.foldRegs(x, regs, n, extreme)
	with := func(b vr) {
		d := c.newV()
		c.combine(x, d, r, b&idMask, extreme)
		r = d
	}
	beyond := func(bytes int) bool { return n*size > bytes && size <= bytes }
	if beyond(c.vb / 2) {
		with(c.half(r, 1))
	}
	if c.isa == jit.AVX512 && beyond(16) {
		t := c.newV()
		c.op1i(asm.VEXTRACTI32X4, t.x(), r.y(), 1)
		with(t)
	}
	if beyond(8) {
		with(c.v1i(asm.VPSHUFD, r, 0x4E))
	}
	if beyond(4) {
		with(c.v1i(asm.VPSHUFD, r, 0xB1))
	}
	if beyond(2) {
		with(c.v1i(asm.VPSRLD, r, 16))
	}
	if beyond(1) {
		with(c.v1i(asm.VPSRLW, r, 8))
	}
	c.mov(x.part, r)
	if extreme {
		numbers := c.asm.NewLabel()
		c.none(nans, numbers)
		c.mov(x.part, c.floatReg(x.t, math.NaN()))
		c.label(numbers)
	}
}

// combine emits d = op(a, b) of a reduction; of numbers no extreme looks for NaN.
func (c *compiler) combine(x *accumulator, d, a, b vr, numbers bool) {
	if numbers {
		c.do(x.op, x.t, d, a, b)
	} else {
		c.compute(x.op, x.t, d, a, b)
	}
}

// foldRegs is the part of fold that whole registers take part in.
func (c *compiler) foldRegs(x *accumulator, regs []vr, n int, numbers bool) vr {
	r := append([]vr(nil), regs...)
	used := min((n*x.t.Size()+c.vb-1)/c.vb, len(r))
	for h := len(r) / 2; h > 0; h /= 2 {
		for i := 0; i < h && i+h < used; i++ {
			d := c.newV()
			c.combine(x, d, r[i], r[i+h], numbers)
			r[i] = d
		}
		used = min(used, h)
	}
	return r[0]
}

// push adds the results of a block to the tree: a carry in a binary counter, as
// neighbours of one level combine.
func (c *compiler) push(accs []accumulator, blocks vr) {
	more, level := c.newG(), c.newG()
	c.load(asm.LEA, more, lmem{base: blocks, disp: 1})
	c.op1(asm.TZCNT, level, more)
	c.op2(asm.ANDN, more, more, blocks) // the levels below that
	c.eachBit(more, false, func(level vr) { c.eachPart(accs, level, c.addLeft) })
	c.eachPart(accs, level, func(x *accumulator, m lmem) { c.store(asm.VMOVQ, m, x.part.x()) })
}

// pop combines what the levels hold, the lowest being the rightmost.
func (c *compiler) pop(accs []accumulator, blocks vr) {
	level := c.newG()
	c.op1(asm.TZCNT, level, blocks)
	c.eachPart(accs, level, func(x *accumulator, m lmem) { c.load(asm.VMOVQ, x.part.x(), m) })
	c.op1(asm.BLSR, blocks, blocks)
	c.eachBit(blocks, false, func(level vr) { c.eachPart(accs, level, c.addLeft) })
}

// addLeft puts what memory holds before a part.
func (c *compiler) addLeft(x *accumulator, m lmem) {
	left := c.newV()
	c.load(asm.VMOVQ, left.x(), m)
	c.compute(x.op, x.t, x.part, left, x.part)
}

func (c *compiler) eachPart(accs []accumulator, level vr, f func(x *accumulator, m lmem)) {
	for j := range accs {
		m := frameMem(accs[j].tree)
		m.index, m.scale = level, 8
		f(&accs[j], m)
	}
}

// finish makes the result visible as a uniform value.
func (c *compiler) finish(x *accumulator) {
	if x.t != loop.B {
		c.set(x.v, c.v1(elements[x.t.Size()].broadcast, x.part.x()))
		return
	}
	some := x.regs[0]
	if x.op == loop.OpAnd { // unless there is a lane without
		some = c.newM()
		c.compute(loop.OpNot, loop.B, some, x.regs[0], 0)
	}
	m := c.boolMask(c.bitsOf(some))
	if x.op == loop.OpAnd {
		c.compute(loop.OpNot, loop.B, m, m, 0)
	}
	c.set(x.v, m)
}
