package x86

import (
	"weft/internal/array"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A compiler holds the state of one compilation; its memory is reused.
type compiler struct {
	p   *loop.Program
	isa ISA
	vb  int // bytes of a vector register
	max int // greatest interleave

	streaming bool // see CompileStreaming

	asm       asm.Asm
	code      []ins
	pre       []ins // code before all loops: constants and arguments
	other     []ins
	vregs     []vinfo
	spans     []span
	open      []int32
	ends      []int32
	free      [numClasses]uint32
	owner     [numClasses][32]int32
	scratch   int // bytes in use
	spills    int
	undefined bool // some register is read before it is written
	spare     int  // registers for constants where they are many, else -1
	rare      rare
	parked    [32]int32 // constants whose registers rare code has, by register
	taken     uint32    // registers that rare code has used
	reloads   []reload
	save      int // where a suspended kernel's registers go, an offset in scratch
	stage     int // the staging areas, an offset in the frame; 0 if none yet
	suspends  []suspension

	vals    []val
	fused   []bool  // by value: left to its user
	users   []uint8 // by value: none, one, or two and more
	height  []int32 // for schedule: by value
	first   []int32 // by height
	order   []loop.Value
	regs    []vr
	last    []int32 // see pressure
	seen    []occurrence
	consts  []constant
	constAt [512]int32       // by hash: one more than the index in consts, of half as many at most
	ptr     [loop.MaxBufs]vr // where each buffer stands
	ctr     [loop.MaxAxes]vr // the counter of an axis that is being walked
	extent  [loop.MaxAxes]vr
	stride  [loop.MaxBufs]strideRegs

	lay   layout
	accs  []accumulator
	rax   vr // registers that IDIV takes
	rdx   vr
	masks []vr // lanes that are active, one a step; nil for all
}

// A layout says how the lanes of a pass lie in registers. A step is what one
// vector of lanes needs: L lanes, being one register of a type as wide as the
// lanes and two of a type that is twice as wide. Steps are interleaved.
type layout struct {
	k     int // steps
	lanes int // lanes a step
	es    int // bytes a lane: of a mask's elements on AVX2
	parts int // registers a step of an 8-byte type
	uni   bool
	idx   vr // index of the first lane
	tail  vr // at the end of a row, the mask of what is left of it
	rest  vr // and how much that is

	first   int    // the first step, of those that one turn of a loop does
	at      vr     // where accumulators lie in memory, in the rest of a block; 0 elsewhere
	strided uint32 // buffers with a cursor of their own along the lane axis
}

// strideRegs hold what strided access along the lane axis needs: the bytes from
// one step to the next, and in 8-byte lanes the bytes from the first lane of a
// step to each.
type strideRegs struct {
	step vr
	lane [2]vr
}

// A val is where a value lives: regs[first:], one register if uniform (all lanes
// equal), else one a step and part.
type val struct {
	first int32
	state uint8
	uni   bool
}

const (
	undefined = iota
	defined
	hoisted // before the pass that it belongs to
)

type constant struct {
	t    loop.Type
	bits uint64
	r    vr
}

func (c *compiler) reset(p *loop.Program, isa ISA, interleave int) {
	c.p, c.isa, c.vb, c.max = p, isa, isa.VectorBytes(), interleave
	c.asm.Reset()
	c.code, c.pre, c.other = c.code[:0], c.pre[:0], c.other[:0]
	c.vregs = append(c.vregs[:0], vinfo{phys: -1})
	c.scratch, c.spills, c.stage = 0, 0, 0
	c.suspends = c.suspends[:0]
	if cap(c.vals) < len(p.Ins) {
		c.vals = make([]val, len(p.Ins))
	}
	c.vals = c.vals[:len(p.Ins)]
	clear(c.vals)
	c.findFused()
	c.regs, c.consts, c.spare, c.rare = c.regs[:0], c.consts[:0], -1, rare{}
	clear(c.constAt[:])
	clear(c.ptr[:])
	clear(c.ctr[:])
	clear(c.extent[:])
	c.accs = c.accs[:0]
	c.rax, c.rdx = c.fixed(0), c.fixed(2)
	c.masks = nil
	c.save = c.scratch
	c.scratch += 32*c.vb + 24*8
}

// program lowers the whole kernel.
func (c *compiler) program() {
	c.lay = layout{k: 1, lanes: c.vb / 4, es: 4, parts: 2, uni: true}
	for b := range c.p.Bufs {
		c.ptr[b] = c.argument(frameMem(loop.FramePtr + 8*b))
	}
	c.rows(0)
	c.foldOperands()
	body := c.code
	c.code, c.pre = c.pre, c.code
	c.loadConsts()
	for n := range body {
		if c.spare >= 0 {
			c.rare.pass(&body[n])
			c.loadOperands(&body[n])
		}
		c.code = append(c.code, body[n])
	}
}

// before emits into the code that runs first.
func (c *compiler) before(f func()) {
	c.code, c.pre = c.pre, c.code
	f()
	c.code, c.pre = c.pre, c.code
}

// argument is a general register loaded from the frame before all loops.
func (c *compiler) argument(m lmem) (r vr) {
	r = c.newG()
	x := &c.vregs[r]
	x.remat, x.rematMem = asm.MOV, m
	c.before(func() { c.load(asm.MOV, r, m) })
	return r
}

// size returns the extent of an axis.
func (c *compiler) size(axis int) vr {
	if c.extent[axis] == 0 {
		c.extent[axis] = c.argument(wordMem(c.p.ExtentWord(axis)))
	}
	return c.extent[axis]
}

// rows walks the outer axes from a on.
func (c *compiler) rows(a int) {
	if a == c.p.Lane {
		for _, v := range c.p.Body {
			if c.p.Ins[v].Op == loop.OpPass {
				c.pass(c.p.Region(&c.p.Ins[v]))
			} else {
				c.lower(v)
			}
		}
		return
	}
	n := c.size(a)
	c.counted(a, n, func() { c.rows(a + 1) })
}

// counted runs body for each index of an axis, with the counter and the cursors
// of buffers that step on it.
func (c *compiler) counted(a int, n vr, body func()) {
	old := c.ptr
	i := c.newG()
	done := c.asm.NewLabel()
	c.gconst(i, 0)
	c.use2(asm.CMP, i, n)
	c.jcc(condGE, done)
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[a] != loop.Zero {
			c.ptr[b] = c.newG()
			c.mov(c.ptr[b], old[b])
		}
	}
	c.ctr[a] = i
	head := c.loop(a > c.p.Lane)
	body()
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[a] != loop.Zero {
			c.updm(asm.ADD, c.ptr[b], wordMem(c.p.StrideWord(b, a)))
		}
	}
	c.updi(asm.ADD, i, 1)
	c.use2(asm.CMP, i, n)
	c.jcc(condL, head)
	c.end()
	c.label(done)
	c.ptr = old
}

// pass lowers a pass: what is uniform first, then strips of full vectors, then
// what is left of them.
func (c *compiler) pass(r *loop.Region) {
	row := c.lay
	c.hoist(r.Body)
	c.choose8(r.Body)
	n := c.size(c.p.Lane)
	reduces := false
	for _, v := range r.Body {
		reduces = reduces || c.p.Ins[v].Op == loop.OpReduce
	}
	old := c.ptr
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[c.p.Lane] == loop.Any && c.uses(r.Body, b) {
			c.ptr[b] = c.newG()
			c.mov(c.ptr[b], old[b])
			c.lay.strided |= 1 << b
			c.strideIndex(b)
		}
	}
	c.lay.idx = c.newG()
	c.gconst(c.lay.idx, 0)
	c.ctr[c.p.Lane] = c.lay.idx
	if reduces {
		c.reducing(r.Body, n)
	} else {
		body, live, hot := c.schedule(r.Body)
		if count := c.interleave(body, live, hot); count > longCode && c.lay.k == 1 && !c.streaming && c.repeatable(body, false) {
			c.repeated(body, n)
		} else {
			c.strips(body, n)
		}
	}
	c.ptr = old
	c.lay = row
}

// strips runs body over all lanes up to n.
func (c *compiler) strips(body []loop.Value, n vr) {
	i := c.lay.idx
	strip := c.lay.k * c.lay.lanes
	last := c.newG()
	tail, done := c.asm.NewLabel(), c.asm.NewLabel()
	c.mov(last, n)
	c.updi(asm.SUB, last, int64(strip))
	c.jcc(condS, tail)
	head := c.loop(true)
	c.block(body)
	c.advance(strip)
	c.use2(asm.CMP, i, last)
	c.jcc(condLE, head)
	c.end()
	c.label(tail)
	c.use2(asm.CMP, i, n)
	c.jcc(condGE, done)
	c.lay.k = 1
	head = c.loop(true)
	c.maskRest(n)
	c.block(body)
	c.masks = nil
	c.advance(c.lay.lanes)
	c.use2(asm.CMP, i, n)
	c.jcc(condL, head)
	c.end()
	c.label(done)
}

// advance moves the lane index and the cursors of strided buffers.
func (c *compiler) advance(lanes int) {
	c.updi(asm.ADD, c.lay.idx, int64(lanes))
	for b := range c.p.Bufs {
		if c.lay.strided>>b&1 != 0 {
			for range lanes / c.lay.lanes {
				c.upd(asm.ADD, c.ptr[b], c.stride[b].step)
			}
		}
	}
}

// kmov moves the mask of a step.
func (c *compiler) kmov() asm.Op {
	if c.lay.lanes == 8 {
		return asm.KMOVB
	}
	return asm.KMOVW
}

// iota is a vector constant from, from+1, ...
func (c *compiler) iota(size, from int) lmem {
	var b [64]byte
	for i := range c.vb / size {
		b[i*size] = byte(from + i)
	}
	return lmem{label: c.asm.ConstBytes(b[:c.vb]).Label}
}

// uses reports whether a block touches buffer b.
func (c *compiler) uses(block []loop.Value, b int) bool {
	for _, v := range block {
		in := &c.p.Ins[v]
		switch in.Op {
		case loop.OpLoad, loop.OpStore, loop.OpLoadAt, loop.OpStoreAt:
			if int(in.Imm) == b {
				return true
			}
		case loop.OpLoop, loop.OpIf:
			if c.uses(c.p.Region(in).Head, b) || c.uses(c.p.Region(in).Body, b) || c.uses(c.p.Region(in).Else, b) {
				return true
			}
		}
	}
	return false
}

// pure reports an instruction that depends on its operands alone.
func pure(op loop.Op) bool {
	return op >= loop.OpAdd && op <= loop.OpBits || op == loop.OpConst || op == loop.OpScalar
}

// uniform reports whether the instruction has one value for all lanes: all its
// operands have.
func (c *compiler) uniform(in *loop.Ins) bool {
	switch in.Op {
	case loop.OpConst, loop.OpScalar:
		return true
	case loop.OpIndex:
		return int(in.Imm) != c.p.Lane
	case loop.OpLoad:
		return c.lay.uni || c.p.Bufs[in.Imm].Steps[c.p.Lane] == loop.Zero
	case loop.OpLoadAt:
		return c.lay.uni || c.p.Bufs[in.Imm].Steps[c.p.Lane] == loop.Zero && c.vals[in.A].uni
	}
	if !pure(in.Op) {
		return false
	}
	for _, o := range [...]loop.Value{in.A, in.B, in.C} {
		if o != loop.NoValue && !(c.vals[o].state != undefined && c.vals[o].uni) {
			return false
		}
	}
	return true
}

// hoist lowers, before the loops of a pass, what is the same for all its lanes.
func (c *compiler) hoist(block []loop.Value) {
	for _, v := range block {
		in := &c.p.Ins[v]
		c.vals[v] = val{}
		if r := c.p.Region(in); r != nil {
			for _, q := range r.Params {
				c.vals[q] = val{}
			}
			c.hoist(r.Head)
			c.hoist(r.Body)
			c.hoist(r.Else)
			continue
		}
		if pure(in.Op) && c.uniform(in) || in.Op == loop.OpIndex && int(in.Imm) < c.p.Lane {
			c.lower(v)
			c.vals[v].state = hoisted
		}
	}
}

// choose8 picks the width of a lane: 8 bytes if nothing that is computed in the
// pass is narrower, else 4.
func (c *compiler) choose8(block []loop.Value) {
	c.lay.uni = false
	if c.has(block, 8) && !c.has(block, 4) {
		c.lay.es, c.lay.lanes, c.lay.parts = 8, c.vb/8, 1
	}
}

// has reports whether a block computes with a type of a size.
func (c *compiler) has(block []loop.Value, size int) bool {
	for _, v := range block {
		in := &c.p.Ins[v]
		if c.vals[v].state == hoisted {
			continue
		}
		if in.Type.Size() == size {
			return true
		}
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			if o != loop.NoValue && c.p.Ins[o].Type.Size() == size {
				return true
			}
		}
		if r := c.p.Region(in); r != nil {
			for _, q := range r.Params {
				if c.p.Ins[q].Type.Size() == size {
					return true
				}
			}
			if c.has(r.Head, size) || c.has(r.Body, size) || c.has(r.Else, size) {
				return true
			}
		}
	}
	return false
}

// manyConsts is the number of constants from which only those have registers that
// are used most, as many as values leave. Up to there it is for the allocator to
// find out, which takes time.
const manyConsts = 60

// interleave decides how many steps run side by side: as many as registers
// allow, and in long straight code fewer, because the processor overlaps strips
// by itself. live and hot are the pressure of the block; live is negative if they
// are not known. It returns the number of instructions.
func (c *compiler) interleave(block []loop.Value, live, hot int) int {
	k, regs := c.max, c.vectors()
	count := c.length(block)
	if count > longCode {
		k = min(k, 2)
	}
	many := len(c.consts) > manyConsts
	if live < 0 && (k > 1 || many) {
		live, hot = c.pressure(block, 0, regs)
	}
	for k > 1 && k*live > regs {
		k /= 2
	}
	c.lay.k = k
	if live > regs {
		hot = live // which is not known
	}
	if spare := max(regs-k*hot, 0); many && (c.spare < 0 || spare < c.spare) {
		c.spare = spare
	}
	return count
}

// vectors is the number of vector registers that values may take.
func (c *compiler) vectors() int {
	if c.isa == AVX512 {
		return 30
	}
	return 15
}

// length counts the instructions of a block that are not hoisted.
func (c *compiler) length(block []loop.Value) (n int) {
	for _, v := range block {
		if c.vals[v].state != hoisted {
			n++
		}
		if r := c.p.Region(&c.p.Ins[v]); r != nil {
			n += c.length(r.Head) + c.length(r.Body) + c.length(r.Else)
		}
	}
	return n
}

// pressure estimates the most registers that a step of block needs at once, on
// top of base; hot leaves out what runs rarely. Beyond the limit neither is looked
// for any more.
func (c *compiler) pressure(block []loop.Value, base, limit int) (most, hot int) {
	// Where each value is used last: one more than the index in the block.
	from := len(c.last)
	c.last = append(c.last, make([]int32, len(c.p.Ins))...)
	last := c.last[from:]
	for i, v := range block {
		in := &c.p.Ins[v]
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			if o != loop.NoValue {
				last[c.origin(o)] = int32(i) + 1
			}
		}
		if c.p.Region(in) != nil {
			c.captured(c.p.Region(in), func(o loop.Value) { last[c.origin(o)] = int32(i) + 1 })
		}
	}
	live := base
	most, hot = live, live
	for i, v := range block {
		in := &c.p.Ins[v]
		if most > limit {
			break
		}
		if r := c.p.Region(in); r != nil {
			b := live
			for _, q := range r.Params {
				b += c.width(q)
			}
			for _, blk := range [...][]loop.Value{r.Head, r.Body, r.Else} {
				m, h := c.pressure(blk, b, limit)
				most = max(most, m)
				if in.Op != loop.OpIf || !c.isRare(r) {
					hot = max(hot, h)
				}
			}
		}
		if last[v] > 0 {
			live += c.width(v)
		}
		most, hot = max(most, live+1), max(hot, live+1)
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
	return most, hot
}

// origin is the value in whose registers v lives.
func (c *compiler) origin(v loop.Value) loop.Value {
	if in := &c.p.Ins[v]; in.Op == loop.OpBits {
		return in.A // no OpBits itself: Builder.Bits sees to that
	}
	return v
}

// width returns the registers that a value takes in each step.
func (c *compiler) width(v loop.Value) int {
	t := c.p.Ins[v].Type
	if c.vals[v].state == hoisted || t == loop.None || t == loop.B && c.isa == AVX512 {
		return 0
	}
	if t.Size() == 8 {
		return c.lay.parts
	}
	return 1
}

// captured calls f for the values that a region reads.
func (c *compiler) captured(r *loop.Region, f func(loop.Value)) {
	if r.Cond != loop.NoValue {
		f(r.Cond)
	}
	for _, vs := range [...][]loop.Value{r.Init, r.Next, r.ElseNext} {
		for _, v := range vs {
			f(v)
		}
	}
	for _, blk := range [...][]loop.Value{r.Head, r.Body, r.Else} {
		for _, v := range blk {
			in := &c.p.Ins[v]
			for _, o := range [...]loop.Value{in.A, in.B, in.C} {
				if o != loop.NoValue {
					f(o)
				}
			}
			if c.p.Region(in) != nil {
				c.captured(c.p.Region(in), f)
			}
		}
	}
}

// block lowers the instructions of a block that stand in a pass.
func (c *compiler) block(b []loop.Value) {
	for _, v := range b {
		if c.vals[v].state == hoisted || c.fused[v] {
			continue
		}
		c.lower(v)
	}
}

// A memKind is how elements of a type lie in memory.
type memKind struct {
	size int
	typ  loop.Type
}

func memoryOf(d array.DType) (memKind, bool) {
	switch d {
	case array.Bool:
		return memKind{1, loop.B}, true
	case array.Uint8:
		return memKind{1, loop.I32}, true
	case array.Int32, array.Uint32, array.Int64, array.Uint64, array.Float32, array.Float64:
		return memKind{d.Size(), loop.TypeOf(d)}, true
	}
	return memKind{}, false
}
