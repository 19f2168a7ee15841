package resample

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A key names the machine code of weighted sums of rows.
type key struct {
	isa   jit.ISA
	whole bool // of uint8
}

var codes = jit.NewCache[key, *jit.Code](0)

// Bytes of a block of columns. uint8 has four vectors of int32 for the columns of one.
func (k key) vector() int {
	if k.whole {
		return 32
	}
	return k.isa.VectorBytes()
}

// A frame holds the arguments of a kernel.
type frame struct {
	src, dst, weights, first unsafe.Pointer
	srcStep, dstStep         int // bytes from row to row
	rows                     int // of the result, at least 1
	taps                     int // float32: at least 1
	pairs, odd               int // uint8: taps by two, and what is left
	blocks                   int // four vectors of columns
	vectors                  int // behind them
	back                     int // bytes from the end of those back to the last vector, which overlaps; 0 if there is none
	half                     int32
	bits                     int32
	row                      uintptr // of the result, in hand
}

var args frame // for offsets of its fields

// Registers of kernels.
const (
	srcReg, dstReg, weightReg, firstReg = asm.RSI, asm.RDX, asm.RBX, asm.R8
	stepReg, atReg, tapReg, leftReg     = asm.R9, asm.R10, asm.RCX, asm.RAX
	weightAt, rowReg                    = asm.R11, asm.R12 // of the tap; of the source, the first row at the columns in hand
)

type writer struct {
	codegen.Gen
	key
}

// Generate writes the kernel of a key: row by row of the result, some vectors of columns at a time.
func (k key) Generate() *jit.Code {
	w := &writer{key: k}
	w.ISA, w.D = k.isa, array.Float32
	a := &w.Asm
	get := func(r asm.Reg, at uintptr) { a.RM(asm.MOV, r, codegen.Field(at)) }
	get(weightReg, unsafe.Offsetof(args.weights))
	get(firstReg, unsafe.Offsetof(args.first))
	get(stepReg, unsafe.Offsetof(args.srcStep))
	get(atReg, unsafe.Offsetof(args.dst))
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(args.row)), atReg)
	row := a.Here()
	a.RM(asm.MOV, rowReg, asm.Ptr(firstReg, 0))
	a.RR(asm.IMUL, rowReg, stepReg)
	a.RM(asm.ADD, rowReg, codegen.Field(unsafe.Offsetof(args.src)))
	get(dstReg, unsafe.Offsetof(args.row))
	w.columns(unsafe.Offsetof(args.blocks), 4)
	w.columns(unsafe.Offsetof(args.vectors), 1)
	done := a.NewLabel()
	get(leftReg, unsafe.Offsetof(args.back))
	a.RR(asm.TEST, leftReg, leftReg)
	a.Jcc(asm.CondE, done)
	a.RR(asm.SUB, rowReg, leftReg)
	a.RR(asm.SUB, dstReg, leftReg)
	w.sums(1)
	a.Bind(done)
	get(atReg, unsafe.Offsetof(args.dstStep))
	a.MR(asm.ADD, codegen.Field(unsafe.Offsetof(args.row)), atReg)
	a.RI(asm.ADD, firstReg, 8)
	get(atReg, unsafe.Offsetof(args.taps))
	if k.whole { // weights are pairs of two bytes
		get(atReg, unsafe.Offsetof(args.pairs))
		a.RM(asm.ADD, atReg, codegen.Field(unsafe.Offsetof(args.odd)))
	}
	a.RM(asm.LEA, weightReg, asm.Idx(weightReg, atReg, 4, 0))
	a.MI(asm.SUB, codegen.Field(unsafe.Offsetof(args.rows)), 1)
	a.Jcc(asm.CondNE, row)
	w.Done()
	return w.Install(k)
}

// columns writes the sums of a number of groups of n vectors of columns.
func (w *writer) columns(count uintptr, n int) {
	a := &w.Asm
	done := a.NewLabel()
	a.RM(asm.MOV, leftReg, codegen.Field(count))
	a.RR(asm.TEST, leftReg, leftReg)
	a.Jcc(asm.CondE, done)
	next := a.Here()
	w.sums(n)
	a.RI(asm.ADD, rowReg, int64(n*w.vector()))
	a.RI(asm.ADD, dstReg, int64(n*w.vector()))
	a.RI(asm.SUB, leftReg, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(done)
}

// sums writes the sums of n vectors of columns.
func (w *writer) sums(n int) {
	a := &w.Asm
	a.RR(asm.MOV, srcReg, rowReg)
	a.RR(asm.MOV, weightAt, weightReg)
	if w.whole {
		for v := range n {
			w.wholeSums(int32(32 * v))
			if v < n-1 {
				a.RR(asm.MOV, srcReg, rowReg)
				a.RR(asm.MOV, weightAt, weightReg)
			}
		}
		return
	}
	for v := range n {
		w.Zero(w.V(v))
	}
	a.RM(asm.MOV, tapReg, codegen.Field(unsafe.Offsetof(args.taps)))
	tap := a.Here()
	w.Broadcast(w.V(8), asm.Ptr(weightAt, 0))
	for v := range n {
		a.RRM(asm.VFMADD231PS, w.V(v), w.V(8), asm.Ptr(srcReg, int32(v*w.VB())))
	}
	a.RI(asm.ADD, weightAt, 4)
	a.RR(asm.ADD, srcReg, stepReg)
	a.RI(asm.SUB, tapReg, 1)
	a.Jcc(asm.CondNE, tap)
	for v := range n {
		w.Store(asm.Ptr(dstReg, int32(v*w.VB())), w.V(v))
	}
}

// wholeSums writes the sums of 32 columns of bytes. Each step takes two taps: bytes of two rows side by
// side, widened to 16 bits, times a pair of weights.
func (w *writer) wholeSums(at int32) {
	a := &w.Asm
	const zero, pair, low, high, part = 9, 8, 4, 5, 6
	y := asm.Y
	a.RRR(asm.VPXOR, y(zero), y(zero), y(zero))
	a.RM(asm.VPBROADCASTD, y(0), codegen.Field(unsafe.Offsetof(args.half)))
	for v := 1; v < 4; v++ {
		a.RR(asm.VMOVDQU, y(v), y(0))
	}
	step := func(two bool) {
		a.RM(asm.VPBROADCASTD, y(pair), asm.Ptr(weightAt, 0))
		a.RM(asm.VMOVDQU, y(low), asm.Ptr(srcReg, at))
		second := asm.Y(zero)
		if two {
			second = y(high)
			a.RM(asm.VMOVDQU, second, asm.Idx(srcReg, stepReg, 1, at))
		}
		a.RRR(asm.VPUNPCKHBW, y(part), y(low), second)
		a.RRR(asm.VPUNPCKLBW, y(low), y(low), second)
		for v, from := range []int{low, low, part, part} {
			op := asm.VPUNPCKLBW
			if v%2 == 1 {
				op = asm.VPUNPCKHBW
			}
			a.RRR(op, y(10+v), y(from), y(zero))
			a.RRR(asm.VPMADDWD, y(10+v), y(10+v), y(pair))
			a.RRR(asm.VPADDD, y(v), y(v), y(10+v))
		}
		a.RI(asm.ADD, weightAt, 4)
	}
	odd, done := a.NewLabel(), a.NewLabel()
	a.RM(asm.MOV, tapReg, codegen.Field(unsafe.Offsetof(args.pairs)))
	a.RR(asm.TEST, tapReg, tapReg)
	a.Jcc(asm.CondE, odd)
	next := a.Here()
	step(true)
	a.RM(asm.LEA, srcReg, asm.Idx(srcReg, stepReg, 2, 0))
	a.RI(asm.SUB, tapReg, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(odd)
	a.RM(asm.MOV, tapReg, codegen.Field(unsafe.Offsetof(args.odd)))
	a.RR(asm.TEST, tapReg, tapReg)
	a.Jcc(asm.CondE, done)
	step(false)
	a.Bind(done)
	a.RM(asm.VMOVD, asm.X(pair), codegen.Field(unsafe.Offsetof(args.bits)))
	for v := range 4 {
		a.RRR(asm.VPSRAD, y(v), y(v), asm.X(pair))
	}
	a.RRR(asm.VPACKSSDW, y(0), y(0), y(1))
	a.RRR(asm.VPACKSSDW, y(2), y(2), y(3))
	a.RRR(asm.VPACKUSWB, y(0), y(0), y(2))
	a.MR(asm.VMOVDQU, asm.Ptr(dstReg, at), y(0))
}
