package x86

import (
	"math/bits"

	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A compiler holds the state of one compilation; its memory is reused.
type compiler struct {
	p   *loop.Program
	isa jit.ISA
	vb  int // bytes of a vector register
	es  int // bytes a lane, but in passes that compute with 8-byte types alone

	streaming bool // see CompileStreaming

	asm       asm.Asm
	line      int32 // the source line of the value that is being lowered, 0 for none
	code      []ins
	pre       []ins // code before all loops: constants and arguments
	other     []ins
	vregs     []vinfo
	spans     []span
	open      []int32
	ends      []int32
	free      [numClasses]uint32
	owner     [numClasses][32]int32
	freeSlots [numClasses][]int32 // offsets in the frame
	scratch   int                 // bytes in use
	spills    int
	rare      uint8 // fRare within what runs rarely
	save      int   // where a suspended kernel's registers go, an offset in scratch
	stage     int   // the staging areas, an offset in the frame; 0 if none yet
	suspends  []suspension

	vals []val

	// Facts by value. reset sets uniform; the methods named below set the others once, before
	// code is lowered. fused also changes while a loop is lowered.
	uniform           []bool // all active lanes share it; loop.Program.Uniform with leaving
	resultRead        []bool // findResultsRead: of a loop's parameter, something reads the loop's result
	uniformInsideLoop []bool // findResultsRead: of a parameter, uniform in the loop but not at its end; implies resultRead
	canUseGPR         []bool // findGPRs: a general register could hold it; implies uniform
	inGPR             []bool // findGPRs: computed in a general register; implies canUseGPR
	alsoInVector      []bool // findGPRs: vectors read it as well; implies inGPR
	joinsConditions   []bool // findJoinedConditions: an OpAnd of conditions that a loop tests one by one
	fused             []bool // findFused, leaveNext, leaveCondition, findFlag: computed by its only user

	users    loop.Users
	operands [3]loop.Value // see reads
	readBuf  []loop.Value
	regs     []vr
	last     []int32 // see pressure
	seen     []occurrence
	consts   []constant

	below51     bool          // numbers are below 2^51: see nearOrFar
	quotients   []quotient    // known in the block that is being lowered
	divisors    []divisor     // known in that block
	bases       []basePointer // known in that block
	loadGroups  []loadGroup   // of that block
	disp        int32         // bytes added to every access: see withBase
	prefetching bool          // see prefetch
	tables      [][2]vr       // the registers of each table, 0 if it has none yet

	ptr      [loop.MaxBufs]vr // the address of each buffer at the current indices
	limit    vr               // of contiguous ragged rows, the element behind the last row; 0 for other programs
	headroom vr               // the number of elements from the start of the row to limit
	ctr      [loop.MaxAxes]vr // the counter of an axis that is being walked
	extent   [loop.MaxAxes]vr
	stride   [loop.MaxBufs]strideRegs

	lay   layout
	batch *batch // of rows, whose pass is being lowered
	accs  []accumulator
	masks []vr // lanes that are active, one register a step; nil for all lanes
}

// A layout says how the lanes of a pass lie in registers. A step is the lanes of one vector
// register: one register of a type as wide as the lanes, two of a type that is twice as wide.
// The steps of a strip are interleaved.
type layout struct {
	k     int // steps
	lanes int // lanes a step
	es    int // bytes a lane; on AVX2 also bytes of an element of a mask
	parts int // registers a step of an 8-byte type
	uni   bool
	idx   vr // index of the first lane

	restMask  vr  // in the epilogue of a row, the mask of the lanes that are left
	rest      vr  // the number of those lanes
	knownRest int // that number if it is known, else 0

	first   int    // the first step, among the steps that one trip through a loop computes
	at      vr     // where accumulators lie in memory, in the rest of a block; 0 elsewhere
	strided uint32 // buffers with a cursor of their own along the lane axis
	overrun bool   // vectors may go beyond the end of the row: see compiler.mayOverrun
}

// A val says which registers hold a value: one vector register if all lanes are equal, else one a
// step and part. A value may have a general register instead, or as well.
type val struct {
	first int32 // index of the first vector register in compiler.regs, or noVector
	g     vr    // the general register, 0 for none
	state uint8
	uni   bool // one vector register for all lanes
}

const (
	undefined = iota
	defined
	hoisted // before the pass that it belongs to
)

type constant struct {
	bits uint64
	t    loop.Type
	r    vr
}

func (c *compiler) reset(p *loop.Program, es int, isa jit.ISA) {
	c.p, c.es, c.isa, c.vb = p, es, isa, isa.VectorBytes()
	c.asm.Reset()
	c.code, c.pre, c.other = c.code[:0], c.pre[:0], c.other[:0]
	c.vregs = append(c.vregs[:0], vinfo{phys: -1})
	c.scratch, c.spills, c.stage, c.line = 0, 0, 0, 0
	c.suspends = c.suspends[:0]
	c.vals = zeroed(c.vals, len(p.Ins))
	c.users.Count(p)
	c.uniform = p.Uniform(p.Lane, true)
	c.findResultsRead()
	c.findGPRs()
	c.findFused()
	c.regs, c.consts, c.rare = c.regs[:0], c.consts[:0], 0
	c.tables = zeroed(c.tables, len(p.Tables))
	clear(c.ptr[:])
	clear(c.ctr[:])
	clear(c.extent[:])
	c.limit = 0
	c.accs, c.quotients, c.divisors, c.bases, c.disp, c.loadGroups = c.accs[:0], c.quotients[:0], c.divisors[:0], c.bases[:0], 0, nil
	for _, n := range bound[1:] {
		c.vregs = append(c.vregs, vinfo{phys: n, bound: true})
	}
	c.masks = nil
	c.save = c.scratch
	c.scratch += c.saveBytes()
}

// saveBytes returns the size of all registers, which a suspended kernel saves.
func (c *compiler) saveBytes() int { return 32*c.vb + 24*8 }

// scratchUsed returns the bytes of scratch that the code accesses. The place of saved registers is
// always reserved, but only a kernel that can be suspended uses it.
func (c *compiler) scratchUsed() int {
	if len(c.suspends) == 0 && c.scratch == c.saveBytes() {
		return 0
	}
	return c.scratch
}

// program lowers the whole kernel.
func (c *compiler) program() {
	c.lay = layout{k: 1, lanes: c.vb / c.es, es: c.es, parts: 2, uni: true}
	for b := range c.p.Bufs {
		c.ptr[b] = c.argument(frameMem(loop.FramePtr + 8*b))
	}
	c.rows(0)
	c.foldOperands()
	body := c.code
	c.code, c.pre = c.pre, c.code
	c.loadConsts()
	c.code = append(c.code, body...)
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
	x.remat, x.at = asm.MOV, m.disp
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
		cursors := c.ptr
		c.ragged()
		for _, v := range c.p.Body {
			if c.p.Ins[v].Op == loop.OpPass {
				c.pass(c.p.Region(&c.p.Ins[v]))
			} else {
				c.lower(v)
			}
		}
		c.ptr = cursors
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
	c.branch(i, asm.CondGE, n, done)
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[a] != loop.Zero {
			c.ptr[b] = c.newG()
			c.mov(c.ptr[b], old[b])
		}
	}
	c.ctr[a] = i
	if a == c.p.Lane-1 {
		if x, outs := c.batches(); x != nil {
			c.batched(x, outs, i, n)
			c.branch(i, asm.CondGE, n, done)
		}
	}
	head := c.loop(a > c.p.Lane)
	body()
	for b := range c.p.Bufs {
		if c.p.Bufs[b].Steps[a] != loop.Zero {
			c.updm(asm.ADD, c.ptr[b], wordMem(c.p.StrideWord(b, a)))
		}
	}
	c.updi(asm.ADD, i, 1)
	c.branch(i, asm.CondL, n, head)
	c.end()
	c.label(done)
	c.ptr = old
}

// pass lowers a pass: uniform values first, then strips of full vectors, then the epilogue.
func (c *compiler) pass(r *loop.Region) {
	row := c.lay
	s := c.hoist(r.Body)
	if s.sizes == 8 { // nothing narrower is computed
		c.lay.es, c.lay.lanes, c.lay.parts = 8, c.vb/8, 1
	}
	c.lay.uni = false
	n := c.size(c.p.Lane)
	old := c.ptr
	for b := range c.p.Bufs {
		if c.strided(b) && (s.reads|s.writes)>>b&1 != 0 {
			c.ptr[b] = c.newG()
			c.mov(c.ptr[b], old[b])
			c.lay.strided |= 1 << b
			c.strideIndex(b)
		}
	}
	c.lay.idx = c.newG()
	c.gconst(c.lay.idx, 0)
	c.ctr[c.p.Lane] = c.lay.idx
	body := c.arrange(r.Body, &s)
	over, fixed := c.mayOverrun(body, &s), c.p.Axes[c.p.Lane].Extent
	streaming := c.streaming
	c.streaming = streaming && s.held == 0 && fixed == 0
	switch {
	case fixed > 0 && s.held > 0:
		c.fixedReducing(body, fixed)
	case fixed > 0:
		c.fixedStrips(body, &s, fixed)
	case s.held > 0:
		c.reducing(body, n, over, s.writes == 0)
	case s.count > longCode && c.lay.k == 1 && !c.streaming && c.repeatable(body, &s):
		c.repeated(body, &s, n, over)
	default:
		c.strips(body, n, over, c.aligns(body, &s))
	}
	c.streaming = streaming
	c.ptr, c.bases = old, c.bases[:0]
	c.lay = row
}

// strips runs body over all lanes up to n. If align is a buffer, it first goes as far as that
// buffer's next aligned vector, by the code of the epilogue.
func (c *compiler) strips(body []loop.Value, n vr, over bool, align int) {
	done := c.asm.NewLabel()
	end, head, rest := n, asm.Label(0), c.asm.NewLabel()
	if align >= 0 {
		end = c.aligned(align, n)
		head = c.loop(false)
		c.branch(c.lay.idx, asm.CondL, end, rest)
		c.mov(end, n)
	}
	c.wholeStrips(n, c.lay.k*c.lay.lanes, over, func() { c.block(body) })
	c.end()
	c.branch(c.lay.idx, asm.CondGE, n, done)
	c.lay.k = 1
	c.label(rest)
	c.maskedSteps(end, func() { c.block(body) })
	if align >= 0 {
		c.backTo(end)
		c.branch(end, asm.CondL, n, head)
		c.end()
	}
	c.label(done)
}

// aligns returns the buffer whose vectors are to be aligned, -1 if that is not worth a step
// under a mask at the start of each row. It is worth it in two cases:
//   - stencils, which read several windows equally far from aligned vectors: otherwise nearly
//     all of their accesses meet two cache lines;
//   - non-temporal stores, which take whole vectors.
func (c *compiler) aligns(body []loop.Value, s *survey) int {
	if c.streaming {
		return c.narrowest(s.writes)
	}
	if !s.indexed && bits.OnesCount32(s.reads) < 3 || c.p.Lane == 0 || c.lay.strided != 0 || s.count > longCode || bits.OnesCount32(s.writes) != 1 || c.waits(body) {
		return -1
	}
	b := bits.TrailingZeros32(s.writes)
	if x := &c.p.Bufs[b]; x.Steps[c.p.Lane] != loop.Unit || x.DType.Size() != c.lay.es {
		return -1
	}
	return b
}

// narrowest returns the buffer with step Unit and the smallest elements among the buffers of the
// set, -1 if there is none. Where a vector of it is aligned, vectors of the others are too: see
// CompileStreaming.
func (c *compiler) narrowest(set uint32) int {
	least := -1
	for b := range c.p.Bufs {
		x := &c.p.Bufs[b]
		if set>>b&1 != 0 && x.Steps[c.p.Lane] == loop.Unit && (least < 0 || x.DType.Size() < c.p.Bufs[least].DType.Size()) {
			least = b
		}
	}
	return least
}

// aligned returns how many lanes there are to the next whole vector of buffer b: n if the row
// is shorter. Without non-temporal stores it is 0 in a row of less than 16 steps.
func (c *compiler) aligned(b int, n vr) vr {
	end, whole := c.newG(), c.vb
	if c.streaming {
		whole = 64 // a line: half of one takes as long
	}
	c.gconst(end, 0)
	c.upd(asm.SUB, end, c.ptr[b])
	c.updi(asm.AND, end, int64(whole-1))
	c.updi(asm.SHR, end, int64(bits.TrailingZeros(uint(c.p.Bufs[b].DType.Size()))))
	if c.streaming {
		c.use2(asm.CMP, end, n)
		c.upd(asm.CMOVG, end, n)
		return end
	}
	zero, least := c.newG(), c.newG()
	c.gconst(zero, 0)
	c.gconst(least, int64(16*c.lay.lanes))
	c.use2(asm.CMP, n, least)
	c.upd(asm.CMOVL, end, zero)
	return end
}

// wholeStrips runs body as long as a whole strip is left up to end. With over it runs as long as a
// lane is left and a whole strip fits into the headroom. The loop stays open: its caller emits the
// end, and may jump to head while the index is not above last.
func (c *compiler) wholeStrips(end vr, strip int, over bool, body func()) (head asm.Label, last vr) {
	last = c.newG()
	none := c.asm.NewLabel()
	if over {
		c.mov(last, c.headroom)
		c.updi(asm.SUB, last, int64(strip))
		less := c.loadG(asm.LEA, lmem{base: end, disp: -1})
		c.use2(asm.CMP, last, less)
		c.upd(asm.CMOVG, last, less)
	} else {
		c.mov(last, end)
		c.updi(asm.SUB, last, int64(strip))
	}
	c.branch(c.lay.idx, asm.CondG, last, none)
	head = c.loop(true)
	body()
	c.advance(strip)
	c.branch(c.lay.idx, asm.CondLE, last, head)
	c.label(none)
	return head, last
}

// maskedSteps runs body for the lanes that are left up to end, a step at a time.
func (c *compiler) maskedSteps(end vr, body func()) {
	head := c.loop(true)
	c.maskRest(end)
	body()
	c.masks = nil
	c.advance(c.lay.lanes)
	c.branch(c.lay.idx, asm.CondL, end, head)
	c.end()
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

// backTo sets the lane index to where the last masked step ended, which may be within a
// vector, and moves the cursors of strided buffers back there.
func (c *compiler) backTo(end vr) {
	if c.lay.strided != 0 {
		beyond := c.newG()
		c.mov(beyond, c.lay.idx)
		c.upd(asm.SUB, beyond, end)
		for b := range c.p.Bufs {
			if c.lay.strided>>b&1 != 0 {
				way := c.loadG(asm.MOV, wordMem(c.p.StrideWord(b, c.p.Lane)))
				c.upd(asm.IMUL, way, beyond)
				c.upd(asm.SUB, c.ptr[b], way)
			}
		}
	}
	c.mov(c.lay.idx, end)
}

// iota is a vector constant from, from+1, ...
func (c *compiler) iota(size, from int) lmem {
	var b [64]byte
	for i := range c.vb / size {
		b[i*size] = byte(from + i)
	}
	return lmem{label: c.asm.ConstBytes(b[:c.vb]).Label}
}

// reads returns, until the next call, what an instruction and the instructions of its blocks read.
func (c *compiler) reads(in *loop.Ins) []loop.Value {
	if c.p.Region(in) == nil { // nearly all: without going through a list
		c.operands = in.Operands()
		return c.operands[:]
	}
	c.readBuf = c.p.AllReads(in, c.readBuf[:0])
	return c.readBuf
}

// inOneRegister reports whether an instruction is uniform and its value has one register.
func (c *compiler) inOneRegister(v loop.Value, in *loop.Ins) bool {
	return c.uniform[v] && oneRegisterOp(in.Op)
}

// oneRegisterOp reports an operation whose value has one register where it is uniform.
func oneRegisterOp(op loop.Op) bool {
	switch op {
	case loop.OpLoad, loop.OpLoadAt, loop.OpIndex:
		return true
	}
	return op.Pure()
}

// known reports a value that has been lowered and has one register for all lanes.
func (c *compiler) known(v loop.Value) bool { return c.vals[v].uni && c.vals[v].state != undefined }

// early reports an instruction that can be hoisted: all its operands are known.
func (c *compiler) early(in *loop.Ins) bool {
	if !in.Op.Pure() {
		return in.Op == loop.OpIndex && int(in.Imm) < c.p.Lane
	}
	for _, o := range [...]loop.Value{in.A, in.B, in.C} {
		if o != loop.NoValue && !c.known(o) {
			return false
		}
	}
	return true
}

// A survey counts what a pass does, in the instructions that are not hoisted.
type survey struct {
	count         int
	sizes         int    // of types, as bits
	indexed       bool   // there are OpLoadAt or OpStoreAt
	held          int    // registers of accumulators
	reads, writes uint32 // buffers
}

// hoist lowers, before the loops of a pass, what depends on uniform values alone (loop-invariant
// code motion).
func (c *compiler) hoist(block []loop.Value) (s survey) {
	c.p.Walk(block, func(v loop.Value, in *loop.Ins) {
		if c.users.Dead(v) {
			return
		}
		if r := c.p.Region(in); r != nil {
			for _, q := range r.Params {
				s.sizes |= c.p.Ins[q].Type.Size()
			}
		}
		switch in.Op {
		case loop.OpLoad, loop.OpLoadAt:
			s.reads |= 1 << in.Imm
			s.indexed = s.indexed || in.Op == loop.OpLoadAt
		case loop.OpStore, loop.OpStoreAt:
			s.writes |= 1 << in.Imm
			s.indexed = s.indexed || in.Op == loop.OpStoreAt
		case loop.OpReduce:
			s.held += c.virtual(in.Type)
		}
		if c.early(in) {
			c.lower(v)
			c.vals[v].state = hoisted
			return
		}
		switch in.Op {
		case loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU:
			if y := &c.vals[in.B]; y.uni && y.state != undefined {
				c.divisor(in, unsignedOp(in.Op))
			}
		case loop.OpLoadAt:
			c.hoistBase(int(in.Imm), in.A)
		case loop.OpStoreAt:
			c.hoistBase(int(in.Imm), in.B)
		}
		s.count++
		s.sizes |= in.Type.Size()
		for _, o := range [...]loop.Value{in.A, in.B, in.C} {
			if o != loop.NoValue {
				s.sizes |= c.p.Ins[o].Type.Size()
			}
		}
	})
	return s
}

// block lowers the instructions of a block that stand in a pass.
func (c *compiler) block(b []loop.Value) {
	quotients, divisors, bases, loadGroups := len(c.quotients), len(c.divisors), len(c.bases), c.loadGroups
	c.loadGroups, b = c.findLoadGroups(b)
	for at := 0; at < len(b); at++ {
		if v := b[at]; c.vals[v].state == hoisted || c.fused[v] {
			continue
		}
		if n := c.storeInterleaved(b[at:]); n > 0 {
			at += n - 1
			continue
		}
		c.lower(b[at])
	}
	c.quotients, c.divisors, c.bases, c.loadGroups = c.quotients[:quotients], c.divisors[:divisors], c.bases[:bases], loadGroups
}
