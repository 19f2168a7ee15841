package fft

import (
	"math"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/processor"
	"weft/internal/x86/asm"
)

// codes are the kernels without prefetches that were made, at most one for each key: see [key.place].
var codes [2][2][radixEnd][4 << 5]atomic.Pointer[jit.Code]

// prefetching are the kernels with prefetches.
var prefetching = jit.NewCache[key, *jit.Code](0)

// place is where the kernel of a key is kept.
func (k key) place() *atomic.Pointer[jit.Code] {
	at := int(k.tw)<<5 | bit(k.scaled)<<4 | bit(k.loads)<<3 | bit(k.stores)<<2 | bit(k.swapIn)<<1 | bit(k.swapOut)
	return &codes[k.isa-jit.AVX2][k.size/8][k.radix][at]
}

func bit(is bool) int {
	if is {
		return 1
	}
	return 0
}

// kernel returns the kernel of a key, which it makes at the first call. Requires machine code.
func (k key) kernel() *jit.Code {
	if k.ahead != nothing {
		return codegen.Kernel(prefetching, k)
	}
	at := k.place()
	c := at.Load()
	if c == nil {
		c = k.Generate()
		at.Store(c)
	}
	return c
}

// Registers of kernels. Odd multiples of the steps address up to eight inputs and outputs.
const (
	srcReg, dstReg, twReg, innerReg = asm.RSI, asm.RDX, asm.RBX, asm.RCX
	scratchReg                      = asm.RAX
)

var srcSteps, dstSteps = [4]asm.Reg{asm.R8, asm.R9, asm.R10, asm.R11}, [4]asm.Reg{asm.R12, asm.R13, asm.R14, asm.R15}

var args frame // for offsets of its fields

type writer struct {
	codegen.Gen
	key
	code []instr
	uses [][]int   // of each value: the instructions that read it, ascending
	reg  []int     // of each value: its register, or -1
	slot []int     // of each value: its place in spill memory, or -1
	at   int       // the instruction in hand
	held [32]value // of each register: its value, or -1
	kept [32]bool  // registers that the instruction in hand reads or writes
	free []int     // places in spill memory
	next int       // the first place that was never used
}

// Generate writes the kernel of a key.
func (k key) Generate() *jit.Code {
	w := &writer{key: k, code: butterfly(k.radix, k.tw, k.scaled).code}
	w.ISA, w.D = k.isa, array.Float32
	if k.size == 8 {
		w.D = array.Float64
	}
	a := &w.Asm
	get := func(r asm.Reg, at uintptr) { a.RM(asm.MOV, r, codegen.Field(at)) }
	get(twReg, unsafe.Offsetof(args.tw))
	for i, steps := range [][4]asm.Reg{srcSteps, dstSteps} {
		get(steps[0], [2]uintptr{unsafe.Offsetof(args.srcStep), unsafe.Offsetof(args.dstStep)}[i])
		a.RM(asm.LEA, steps[1], asm.Idx(steps[0], steps[0], 2, 0))
		a.RM(asm.LEA, steps[2], asm.Idx(steps[0], steps[0], 4, 0))
		a.RM(asm.LEA, steps[3], asm.Idx(steps[1], steps[0], 4, 0))
	}
	if k.real() { // other operands are not addressed
		get(srcSteps[1], unsafe.Offsetof(args.apart))
		get(dstSteps[1], unsafe.Offsetof(args.apart))
	}
	get(srcReg, unsafe.Offsetof(args.src))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(args.srcAt)), srcReg)
	get(dstReg, unsafe.Offsetof(args.dst))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(args.dstAt)), dstReg)
	outer := a.Here()
	get(innerReg, unsafe.Offsetof(args.inner))
	a.Align(16)
	inner := a.Here()
	w.prefetch()
	w.body()
	a.RI(asm.ADD, srcReg, int64(2*w.VB()))
	a.RI(asm.ADD, dstReg, int64(2*w.VB()))
	if k.tw == varying {
		a.RI(asm.ADD, twReg, int64(2*k.factors()*w.VB()))
	}
	a.RI(asm.SUB, innerReg, 1)
	a.Jcc(asm.CondNE, inner)
	if n := k.numbers(); n > 0 {
		a.RI(asm.ADD, twReg, int64(2*n*k.size))
	}
	advance := func(r asm.Reg, at, by uintptr) {
		get(r, at)
		a.RM(asm.ADD, r, codegen.Field(by))
		a.MR(asm.MOV, codegen.Field(at), r)
	}
	if k.halves() {
		a.RM(asm.SUB, srcSteps[0], codegen.Field(unsafe.Offsetof(args.srcTurn)))
		a.RM(asm.SUB, dstSteps[0], codegen.Field(unsafe.Offsetof(args.dstTurn)))
	}
	advance(srcReg, unsafe.Offsetof(args.srcAt), unsafe.Offsetof(args.srcOuter))
	advance(dstReg, unsafe.Offsetof(args.dstAt), unsafe.Offsetof(args.dstOuter))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(args.outer)), 1)
	a.Jcc(asm.CondNE, outer)
	w.Done()
	return w.Install(k)
}

// prefetch asks for the next lines of memory that later kernels read or write.
func (w *writer) prefetch() {
	if w.ahead == nothing {
		return
	}
	op, lines := asm.PREFETCHT0, w.lines()
	if w.ahead == claim {
		op = asm.PREFETCHW
	}
	w.RM(asm.MOV, scratchReg, codegen.Field(unsafe.Offsetof(args.ahead)))
	for i := range lines {
		w.M(op, asm.Ptr(scratchReg, int32(i*processor.Line)))
	}
	w.RI(asm.ADD, scratchReg, int64(lines*processor.Line))
	w.MR(asm.MOV, codegen.Field(unsafe.Offsetof(args.ahead)), scratchReg)
}

// body writes the instructions, and allocates registers on the way: where none is free, the value that
// is read last of all leaves its register.
func (w *writer) body() {
	n := len(w.code)
	w.uses, w.reg, w.slot = make([][]int, n), make([]int, n), make([]int, n)
	for i := range w.code {
		w.reg[i], w.slot[i] = -1, -1
		for _, v := range w.code[i].args() {
			w.uses[v] = append(w.uses[v], i)
		}
	}
	for r := range w.held {
		w.held[r] = -1
	}
	for w.at = range w.code {
		in := &w.code[w.at]
		w.kept = [32]bool{}
		for _, v := range in.args() {
			w.need(v)
			w.kept[w.reg[v]] = true
		}
		w.instruction(in)
	}
}

// registers is the number of vector registers.
func (w *writer) registers() int {
	if w.isa == jit.AVX512 {
		return 32
	}
	return 16
}

// nextUse is the first instruction from the one in hand on that reads v, or a great number.
func (w *writer) nextUse(v value) int {
	for _, at := range w.uses[v] {
		if at >= w.at {
			return at
		}
	}
	return math.MaxInt
}

// dies reports that the instruction in hand is the last one that reads v.
func (w *writer) dies(v value) bool { u := w.uses[v]; return u[len(u)-1] == w.at }

// take returns a free register, and keeps it for the instruction in hand.
func (w *writer) take() int {
	best, far := -1, -1
	for r := range w.registers() {
		if w.kept[r] {
			continue
		}
		v := w.held[r]
		if v < 0 {
			best = r
			break
		}
		if next := w.nextUse(v); next > far {
			best, far = r, next
		}
	}
	if v := w.held[best]; v >= 0 {
		if w.nextUse(v) != math.MaxInt && w.slot[v] < 0 {
			w.spill(v, best)
		}
		w.reg[v] = -1
	}
	w.kept[best], w.held[best] = true, -1
	return best
}

// spill stores a value, unless it can be loaded again.
func (w *writer) spill(v value, r int) {
	switch w.code[v].op {
	case opNumber, opScale:
		return
	}
	at := w.next
	if n := len(w.free); n > 0 {
		at, w.free = w.free[n-1], w.free[:n-1]
	} else if w.next++; w.next > maxSpills {
		panic("fft: a butterfly has too many values")
	}
	w.slot[v] = at
	w.RM(asm.MOV, scratchReg, codegen.Field(unsafe.Offsetof(args.spill)))
	w.Store(asm.Ptr(scratchReg, int32(at*w.VB())), w.V(r))
}

// need brings v into a register.
func (w *writer) need(v value) {
	if w.reg[v] >= 0 {
		return
	}
	r := w.take()
	w.define(v, r)
	switch in := &w.code[v]; in.op {
	case opNumber:
		w.Broadcast(w.V(r), w.constant(in.num))
	case opScale:
		w.Broadcast(w.V(r), codegen.Field(unsafe.Offsetof(args.scale)))
	default:
		w.RM(asm.MOV, scratchReg, codegen.Field(unsafe.Offsetof(args.spill)))
		w.Load(w.V(r), asm.Ptr(scratchReg, int32(w.slot[v]*w.VB())))
	}
}

func (w *writer) constant(x float64) asm.Mem {
	if w.size == 4 {
		return w.Const32(math.Float32bits(float32(x)))
	}
	return w.Const64(math.Float64bits(x))
}

func (w *writer) define(v value, r int) { w.reg[v], w.held[r] = r, v }

// release frees the registers and the memory of operands that are not read again.
func (w *writer) release(in *instr) {
	for _, v := range in.args() {
		if w.dies(v) && w.reg[v] >= 0 {
			w.held[w.reg[v]], w.kept[w.reg[v]] = -1, false
			w.reg[v] = -1
			if w.slot[v] >= 0 {
				w.free = append(w.free, w.slot[v])
				w.slot[v] = -1
			}
		}
	}
}

// operand is the address of input or output k.
func (w *writer) operand(base asm.Reg, steps [4]asm.Reg, k, behind int) asm.Mem {
	if k >= 8 {
		w.RM(asm.LEA, scratchReg, asm.Idx(base, steps[0], 8, 0))
		base, k = scratchReg, k-8
	}
	more := int32(behind)
	return [...]asm.Mem{
		asm.Ptr(base, more), asm.Idx(base, steps[0], 1, more), asm.Idx(base, steps[0], 2, more), asm.Idx(base, steps[1], 1, more),
		asm.Idx(base, steps[0], 4, more), asm.Idx(base, steps[2], 1, more), asm.Idx(base, steps[1], 2, more), asm.Idx(base, steps[3], 1, more),
	}[k]
}

func (w *writer) instruction(in *instr) {
	a := &w.Asm
	switch in.op {
	case opLoad:
		w.load(in)
	case opTwiddle:
		re, im := w.take(), w.take()
		w.define(value(w.at), re)
		w.define(value(w.at)+1, im)
		if w.tw == varying {
			w.Load(w.V(re), asm.Ptr(twReg, int32(2*in.k*w.VB())))
			w.Load(w.V(im), asm.Ptr(twReg, int32((2*in.k+1)*w.VB())))
		} else {
			w.Broadcast(w.V(re), asm.Ptr(twReg, int32(2*in.k*w.size)))
			w.Broadcast(w.V(im), asm.Ptr(twReg, int32((2*in.k+1)*w.size)))
		}
	case opSecond, opNumber, opScale: // numbers are loaded where they are needed
	case opAdd, opSub, opMul:
		x, y := w.V(w.reg[in.a]), w.V(w.reg[in.b])
		w.release(in)
		r := w.take()
		w.define(value(w.at), r)
		f := map[opcode]asm.Op{opAdd: w.Pick(asm.VADDPS, asm.VADDPD), opSub: w.Pick(asm.VSUBPS, asm.VSUBPD), opMul: w.Pick(asm.VMULPS, asm.VMULPD)}[in.op]
		a.RRR(f, w.V(r), x, y)
	case opFMA, opFNMA:
		w.fused(in)
	case opStore:
		w.store(in)
	case opReal:
		r, k := w.take(), stream(in.k, w.swapIn)
		w.Load(w.V(r), w.plain(srcReg, srcSteps, k))
		w.permute(func(lane int) int { return w.place(k, w.column(lane)) }, r, r)
		w.define(value(w.at), r)
	case opPlain:
		r, k := w.take(), stream(in.k, w.swapOut)
		w.permute(func(at int) int { return w.lane(w.place(k, at)) }, r, w.reg[in.a])
		w.Store(w.plain(dstReg, dstSteps, k), w.V(r))
		w.kept[r] = false
		w.release(in)
	}
}

// plain is the address of real numbers k.
func (w *writer) plain(base asm.Reg, steps [4]asm.Reg, k int) asm.Mem {
	switch k {
	case 0:
		return asm.Ptr(base, 0)
	case 1:
		return asm.Idx(base, steps[1], 1, 0)
	case 2:
		return asm.Idx(base, steps[0], 1, 0)
	}
	w.RM(asm.LEA, scratchReg, asm.Idx(base, steps[1], 1, 0))
	return asm.Idx(scratchReg, steps[0], 1, 0)
}

func (w *writer) lanes() int { return w.VB() / w.size }

// column is the place of a lane's element in ascending order, lane its inverse.
func (w *writer) column(lane int) int { return column(w.isa, w.size, lane) }

func (w *writer) lane(at int) int {
	for lane := range w.lanes() {
		if w.column(lane) == at {
			return lane
		}
	}
	panic("fft: no lane has the element")
}

// place is where element i of real numbers k lies in memory.
func (w *writer) place(k, i int) int {
	if k >= 2 {
		return w.lanes() - 1 - i
	}
	return i
}

// fused writes the fused multiply-add: the result takes the place of the sum's other operand.
func (w *writer) fused(in *instr) {
	a := &w.Asm
	x, y, z := w.V(w.reg[in.a]), w.V(w.reg[in.b]), w.V(w.reg[in.c])
	f := w.Pick(asm.VFMADD231PS, asm.VFMADD231PD)
	if in.op == opFNMA {
		f = w.Pick(asm.VFNMADD231PS, asm.VFNMADD231PD)
	}
	r := w.reg[in.c]
	if w.dies(in.c) {
		w.release(in)
	} else {
		r = w.take()
		a.RR(asm.VMOVAPS, w.V(r), z)
		w.release(in)
	}
	a.RRR(f, w.V(r), x, y)
	w.define(value(w.at), r)
}

func (w *writer) load(in *instr) {
	a := &w.Asm
	re, im := w.take(), w.take()
	first, second := re, im
	if w.swapIn {
		first, second = im, re
	}
	w.Load(w.V(first), w.operand(srcReg, srcSteps, in.k, 0))
	w.Load(w.V(second), w.operand(srcReg, srcSteps, in.k, w.VB()))
	if w.loads {
		t := w.take()
		x, y := w.V(first), w.V(second)
		if w.size == 4 {
			a.RRRI(asm.VSHUFPS, w.V(t), x, y, 0x88)
			a.RRRI(asm.VSHUFPS, y, x, y, 0xDD)
		} else {
			a.RRR(asm.VUNPCKLPD, w.V(t), x, y)
			a.RRR(asm.VUNPCKHPD, y, x, y)
		}
		w.kept[first] = false // of real parts now in t
		if w.swapIn {
			im = t
		} else {
			re = t
		}
	}
	if w.mirrored(in.k) {
		w.mirror(re, im)
	}
	w.define(value(w.at), re)
	w.define(value(w.at)+1, im)
}

// mirror turns the lanes of registers round.
func (w *writer) mirror(regs ...int) {
	for _, r := range regs {
		w.permute(func(lane int) int { return w.lanes() - 1 - lane }, r, r)
	}
}

// permute sets each lane of a register to that lane of another which from returns.
func (w *writer) permute(from func(lane int) int, to, reg int) {
	order := make([]byte, w.VB())
	for i := range order { // of pairs of 32 bits for float64
		if i%4 == 0 {
			order[i] = byte(from(i/w.size)*w.size/4 + i%w.size/4)
		}
	}
	index := w.take()
	w.Load(w.V(index), w.ConstBytes(order))
	w.RRR(asm.VPERMPS, w.V(to), w.V(index), w.V(reg))
	w.kept[index] = false
}

func (w *writer) store(in *instr) {
	a := &w.Asm
	if w.mirrored(in.k) { // which no other instruction reads
		w.mirror(w.reg[in.a], w.reg[in.b])
	}
	x, y := w.V(w.reg[in.a]), w.V(w.reg[in.b])
	if w.swapOut {
		x, y = y, x
	}
	if w.stores {
		low, high := w.take(), w.take()
		a.RRR(w.Pick(asm.VUNPCKLPS, asm.VUNPCKLPD), w.V(low), x, y)
		a.RRR(w.Pick(asm.VUNPCKHPS, asm.VUNPCKHPD), w.V(high), x, y)
		x, y = w.V(low), w.V(high)
	}
	w.Store(w.operand(dstReg, dstSteps, in.k, 0), x)
	w.Store(w.operand(dstReg, dstSteps, in.k, w.VB()), y)
	w.release(in)
}
