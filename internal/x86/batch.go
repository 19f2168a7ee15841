package x86

import (
	"slices"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// Short rows go in batches of as many rows as a vector has lanes. In a short row, folding the lanes
// and computing with one number cost as much as the elements themselves. So each pass runs over
// all rows of a batch and leaves one vector a row in memory. These vectors are folded, by the same
// tree, into one vector whose lanes are rows. What is computed once a row is computed in such
// lanes, and a pass reads what it needs of it from memory.

// A batch is the state of code for a batch of rows. Requires lanes and elements of 4 bytes.
type batch struct {
	axis    int    // of the rows
	n       int    // rows
	uniform []bool // by value, with rows as lanes too
	inGPR   []bool // all false: where rows are lanes, nothing is computed in general registers
	pass    loop.Value
	row     vr // within a pass, the byte offset of the row's vectors
	element vr // within a pass, the byte offset of the row's element in a vector of rows
	accs    []accumulator
	slots   map[loop.Value]int // vectors of rows, in the frame
	packed  vr                 // within a pass, the byte offset of the row's elements in each pack
	packs   []pack
}

// A pack is what a pass stores where it loads from, as softmax its quotients: one row behind the
// other in the frame, until all rows of the batch are there and whole vectors can be written.
// Else the vector of the next row would wait for what this one stores under a mask, though it
// has none of its elements (softmax of rows of 10 takes 1.9 times as long then, of 40 1.4 times,
// on Zen 5).
type pack struct {
	b    int
	pass loop.Value
	mem  int
}

// packable returns the buffers that a pass loads from and stores rows into which fill no whole
// vectors. It must not read anything behind that, as other buffers may be the same memory.
func (c *compiler) packable(x *batch, pass loop.Value) (list []int) {
	if c.p.Axes[c.p.Lane].Extent%x.n == 0 {
		return nil
	}
	var loaded []int
	for _, v := range c.p.Region(&c.p.Ins[pass]).Body {
		in := &c.p.Ins[v]
		b := int(in.Imm)
		switch {
		case in.Op == loop.OpLoad:
			list, loaded = nil, append(loaded, b)
		case in.Op == loop.OpStore && slices.Contains(loaded, b) && !slices.Contains(list, b):
			e, t := c.p.Bufs[b].DType, c.p.Ins[in.A].Type
			if c.p.Bufs[b].Pair == 0 && c.p.Bufs[b].Steps[c.p.Lane] == loop.Unit && e.Size() == 4 && t.Size() == 4 && t != loop.B {
				list = append(list, b)
			}
		case in.Op == loop.OpLoadAt || c.writes(v):
			list = nil
		}
	}
	return list
}

// pack is where a store into buffer b waits, nil if it does not.
func (x *batch) pack(b int) *pack {
	if x == nil || x.packed == 0 {
		return nil
	}
	for i := range x.packs {
		if k := &x.packs[i]; k.b == b && k.pass == x.pass {
			return k
		}
	}
	return nil
}

// storeRow stores v into a row of a pack, as whole vectors: what lies behind the row's
// elements is overwritten by the next row.
func (c *compiler) storeRow(k *pack, v loop.Value) {
	at := c.loadG(asm.LEA, lmem{base: c.batch.packed, index: c.lay.idx, scale: 4})
	for i := range c.lay.k {
		m := frameMem(k.mem + (c.lay.first+i)*c.vb)
		m.index, m.scale = at, 1
		c.store(asm.VMOVUPS, m, c.get(v, i))
	}
}

// unpack writes the rows of a batch, which lie one behind the other in the buffer too.
func (c *compiler) unpack(k *pack, n int) {
	at := c.newG()
	c.gconst(at, 0)
	head := c.loop(false)
	m := frameMem(k.mem)
	m.index, m.scale = at, 1
	c.store(asm.VMOVUPS, lmem{base: c.ptr[k.b], index: at, scale: 1}, c.loadV(asm.VMOVUPS, m))
	c.updi(asm.ADD, at, int64(c.vb))
	c.branchi(at, asm.CondL, int64(n*c.vb), head)
	c.end()
}

// batches reports that the rows of the axis before the lanes can go in batches, and which
// buffers get one number a row.
func (c *compiler) batches() (*batch, []int) {
	p := c.p
	a := p.Lane - 1
	if a < 0 || c.es != 4 || p.Axes[p.Lane].Extent == 0 || p.Axes[a].Kind != loop.Parallel {
		return nil, nil
	}
	x := &batch{axis: a, n: c.vb / 4, uniform: p.Uniform(a, true), inGPR: make([]bool, len(p.Ins)), slots: map[loop.Value]int{}}
	ok, held := true, false
	var outs []int
	var once func(block []loop.Value, inside bool)
	once = func(block []loop.Value, inside bool) {
		for _, v := range block {
			in := &p.Ins[v]
			if c.users.Dead(v) {
				continue
			}
			switch in.Op {
			case loop.OpPass:
				p.Walk(p.Region(in).Body, func(v loop.Value, in *loop.Ins) {
					switch in.Op {
					case loop.OpReduce:
						held = true
						ok = ok && in.Type != loop.B && in.Type.Size() == 4
					case loop.OpIndex:
						ok = ok && int(in.Imm) != a
					case loop.OpStore, loop.OpStoreAt: // what a row leaves for itself is not for others
						ok = ok && p.Bufs[in.Imm].Steps[a] != loop.Zero
					}
				})
				continue
			case loop.OpStore:
				b := int(in.Imm)
				e := p.Bufs[b].DType
				ok = ok && !inside && p.Ins[in.A].Type.Size() == 4 && e.Size() == 4 && e != array.Bool
				outs = append(outs, b)
			case loop.OpLoad:
				ok = ok && x.uniform[v]
			case loop.OpIf:
				once(p.Region(in).Body, true)
				once(p.Region(in).Else, true)
			case loop.OpLoop, loop.OpLoadAt, loop.OpStoreAt, loop.OpIndex:
				ok = false
			}
			ok = ok && (in.Type == loop.None || in.Type == loop.B || in.Type.Size() == 4)
		}
	}
	once(p.Body, false)
	for _, v := range p.Body {
		if p.Ins[v].Op == loop.OpPass {
			for _, o := range c.varying(x, v) {
				ok = ok && p.Ins[o].Type.Size() == 4 && p.Ins[o].Type != loop.B
			}
		}
	}
	if !ok || !held {
		return nil, nil
	}
	return x, outs
}

// varying returns the values that a pass reads and that differ by row.
func (c *compiler) varying(x *batch, pass loop.Value) (list []loop.Value) {
	inside := map[loop.Value]bool{}
	body := c.p.Region(&c.p.Ins[pass]).Body
	c.p.Walk(body, func(v loop.Value, in *loop.Ins) {
		inside[v] = true
		if r := c.p.Region(in); r != nil { // what a loop carries stands in no block
			for _, q := range r.Params {
				inside[q] = true
			}
		}
	})
	c.p.Walk(body, func(v loop.Value, in *loop.Ins) {
		if c.users.Dead(v) {
			return
		}
		for _, o := range c.reads(in) {
			if o != loop.NoValue && !inside[o] && !x.uniform[o] && !c.users.Dead(o) && !slices.Contains(list, o) { // what is dead may read it
				list = append(list, o)
			}
		}
	})
	return list
}

// batched runs batches of rows from index i on, as long as one is left of n rows.
func (c *compiler) batched(x *batch, outs []int, i, n vr) {
	none, last := c.asm.NewLabel(), c.newG()
	for _, b := range outs {
		stride := c.loadG(asm.MOV, wordMem(c.p.StrideWord(b, x.axis)))
		c.branchi(stride, asm.CondNE, 4, none)
	}
	size := c.p.Axes[c.p.Lane].Extent
	for _, v := range c.p.Body {
		if c.p.Ins[v].Op != loop.OpPass {
			continue
		}
		for _, b := range c.packable(x, v) { // rows must lie one behind the other
			c.branchi(c.loadG(asm.MOV, wordMem(c.p.StrideWord(b, x.axis))), asm.CondNE, int64(4*size), none)
			x.packs = append(x.packs, pack{b, v, c.alloc((size+1)*c.vb, 64)})
		}
	}
	c.mov(last, n)
	c.updi(asm.SUB, last, int64(x.n))
	c.branch(i, asm.CondG, last, none)
	head := c.loop(false)
	vals, quotients, divisors := slices.Clone(c.vals), len(c.quotients), len(c.divisors)
	for _, v := range c.p.Body {
		if c.p.Ins[v].Op == loop.OpPass {
			c.batchPass(x, v)
		} else {
			c.onceARow(x, v)
		}
	}
	copy(c.vals, vals)
	c.quotients, c.divisors = c.quotients[:quotients], c.divisors[:divisors]
	c.eachCursor(x, func(b int) {
		g := c.loadG(asm.MOV, wordMem(c.p.StrideWord(b, x.axis)))
		c.op1i(asm.IMUL, g, g, int64(x.n))
		c.upd(asm.ADD, c.ptr[b], g)
	})
	c.updi(asm.ADD, i, int64(x.n))
	c.branch(i, asm.CondLE, last, head)
	c.end()
	c.label(none)
}

// eachCursor calls f for the buffers that step from row to row.
func (c *compiler) eachCursor(x *batch, f func(b int)) {
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[x.axis] != loop.Zero {
			f(b)
		}
	}
}

// onceARow lowers what is computed once a row, with rows as lanes.
func (c *compiler) onceARow(x *batch, v loop.Value) {
	lay, uniform, inGPR := c.lay, c.uniform, c.inGPR
	c.lay = layout{k: 1, lanes: x.n, es: 4, parts: 2}
	c.uniform, c.inGPR = x.uniform, x.inGPR
	if in := &c.p.Ins[v]; in.Op == loop.OpStore {
		c.store(asm.VMOVUPS, lmem{base: c.ptr[in.Imm]}, c.get(in.A, 0))
	} else {
		c.lower(v)
	}
	c.lay, c.uniform, c.inGPR = lay, uniform, inGPR
}

// batchPass runs a pass for all rows of a batch.
func (c *compiler) batchPass(x *batch, pass loop.Value) {
	needs := c.varying(x, pass)
	lanes := make([]val, len(needs))
	for j, v := range needs {
		if lanes[j] = c.vals[v]; x.slots[v] == 0 {
			x.slots[v] = c.alloc(c.vb, 64)
		}
		c.store(asm.VMOVUPS, frameMem(x.slots[v]), c.get(v, 0))
	}
	x.row, x.element, x.accs = c.newG(), c.newG(), nil
	c.gconst(x.row, 0)
	c.gconst(x.element, 0)
	x.pass, x.packed = pass, c.newG()
	c.gconst(x.packed, 0)
	old := c.ptr
	c.eachCursor(x, func(b int) {
		c.ptr[b] = c.newG()
		c.mov(c.ptr[b], old[b])
	})
	head := c.loop(false)
	for _, v := range needs {
		m := frameMem(x.slots[v])
		m.index, m.scale = x.element, 1
		c.set(v, c.loadV(asm.VBROADCASTSS, m))
	}
	c.batch = x
	c.pass(c.p.Region(&c.p.Ins[pass]))
	c.batch = nil
	c.eachCursor(x, func(b int) { c.updm(asm.ADD, c.ptr[b], wordMem(c.p.StrideWord(b, x.axis))) })
	c.updi(asm.ADD, x.row, int64(c.vb))
	c.updi(asm.ADD, x.element, 4)
	c.updi(asm.ADD, x.packed, int64(4*c.p.Axes[c.p.Lane].Extent))
	c.branchi(x.element, asm.CondL, int64(c.vb), head)
	c.end()
	c.ptr = old
	for i := range x.packs {
		if k := &x.packs[i]; k.pass == pass {
			c.unpack(k, c.p.Axes[c.p.Lane].Extent)
		}
	}
	for j, v := range needs {
		c.vals[v] = lanes[j]
	}
	for j := range x.accs {
		a := &x.accs[j]
		r := c.foldRows(a, x.n)
		c.normalizeZero(a, &r)
		c.vals[a.v] = val{first: int32(len(c.regs)), state: defined}
		c.regs = append(c.regs, r)
	}
}

// keep leaves the vector of a row in memory.
func (x *batch) keep(c *compiler, a *accumulator, n int) {
	a.mem = c.alloc(c.vb*x.n, 64)
	m := frameMem(a.mem)
	m.index, m.scale = x.row, 1
	c.store(asm.VMOVUPS, m, c.foldRegs(a, a.regs, n, false))
	a.n = n
	x.accs = append(x.accs, *a)
}

// A pairing are the instructions that make two vectors of two: one with the first half of the
// lanes of each row, one with the second.
type pairing struct {
	lo, hi   asm.Op
	loi, hii int64 // immediates, -1 for none
}

var pairings = [...][]pairing{
	jit.AVX2: {
		{asm.VPERM2F128, asm.VPERM2F128, 0x20, 0x31},
		{asm.VUNPCKLPD, asm.VUNPCKHPD, -1, -1},
		{asm.VSHUFPS, asm.VSHUFPS, 0x88, 0xDD},
	},
	jit.AVX512: {
		{asm.VSHUFF32X4, asm.VSHUFF32X4, 0x44, 0xEE},
		{asm.VSHUFF32X4, asm.VSHUFF32X4, 0x88, 0xDD},
		{asm.VUNPCKLPD, asm.VUNPCKHPD, -1, -1},
		{asm.VSHUFPS, asm.VSHUFPS, 0x88, 0xDD},
	},
}

// foldRows folds the vectors of n rows into one with the result of a row in each lane. Two
// vectors become one at each step, so no lane is idle. Where a row has fewer elements than there
// are lanes, the other lanes hold the identity, and foldRows leaves out the operations on them.
func (c *compiler) foldRows(a *accumulator, n int) vr {
	steps, parts := pairings[c.isa], c.vb/16
	var fold func(level, first int) vr
	fold = func(level, first int) vr {
		if level == 0 { // where the instructions above leave it
			return c.loadV(asm.VMOVUPS, frameMem(a.mem+c.vb*(4*(first%parts)+first/parts)))
		}
		x, y := fold(level-1, first), fold(level-1, first+1<<(level-1))
		pair := func(op asm.Op, imm int64) vr {
			if imm < 0 {
				return c.v2(op, x, y)
			}
			return c.v2i(op, x, y, imm)
		}
		s := &steps[level-1]
		lo := pair(s.lo, s.loi)
		if a.n <= n>>level {
			return lo
		}
		d := c.newV()
		c.compute(a.op, a.t, d, lo, pair(s.hi, s.hii))
		return d
	}
	return fold(len(steps), 0)
}
