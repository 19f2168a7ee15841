package sparse

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// Products of rows with a vector wait for elements of x, each in a cache line of its own. A kernel copies the elements
// of a few rows into a buffer by single loads, then multiplies row by row from there. A copy takes three micro-operations
// for an entry and has no branch, so more misses are under way than with gathers, which are microcode on AMD Zen. Gathers
// of float64 have half the lanes, and are faster where x is larger than the second-level cache: AVX-512 has them.
// All kernels prefetch indices and values, which the processor's prefetchers lose between the misses.
const (
	copied      = 16   // entries that are copied at once
	groupRows   = 8    // rows whose entries are copied together
	groupRoom   = 240  // entries of a group, below 256 since BZHI reads eight bits of its count
	streamAhead = 1024 // bytes from an index, or a value, to the one that is prefetched
)

// vectorWork is the memory of a kernel: checked indices of a copy, then the buffer, at a multiple of 64 bytes. Rows are
// read as whole vectors, so the buffer ends with room for one more.
type vectorWork [63 + 4*copied + 8*(groupRoom+copied)]byte

// A vectorKey names a kernel.
type vectorKey struct {
	isa   jit.ISA
	dtype array.DType
}

var vectorCodes = jit.NewCache[vectorKey, *jit.Code](0)

// vector computes rows lo to hi-1 of a product with a vector.
func (j *Job) vector(f frame, lo, hi int) bool {
	if j.Bound == 0 { // no element of x to copy
		return j.portable(lo, hi, 0, 1)
	}
	var work vectorWork
	f.work = unsafe.Pointer(&work)
	return j.call(codegen.Kernel(vectorCodes, vectorKey{j.ISA, j.X.DType}), f, 1, lo, hi, 0, 1)
}

// Registers of the kernel; other kernels name the rest.
const (
	regBuffer = asm.R12 // the buffer, behind the checked indices
	regCopy   = asm.R13 // a place in it
	regFrom   = asm.R14 // the entry that is copied
	regOne    = asm.R15 // an index, then an element
	regGroup  = asm.RDI // rows of a group, counted down
)

// A vectorWriter writes a kernel. Vectors 0 and 1 are the partial sums, which AVX-512 has in vector 0. With AVX-512
// opmask 5 says which indices were out of range, with AVX2 vector 15 which were not.
type vectorWriter struct{ codegen.Gen }

// Generate writes the kernel.
func (k vectorKey) Generate() *jit.Code {
	g := &vectorWriter{codegen.Gen{ISA: k.isa, D: k.dtype}}
	g.begin()
	if k.isa == jit.AVX512 && k.dtype == array.Float64 {
		g.gathered()
	} else {
		g.grouped()
	}
	g.status()
	return g.Install(k)
}

// gathered writes the loop over rows whose elements of x are gathered, for AVX-512.
func (g *vectorWriter) gathered() {
	lanes := int64(g.Lanes())
	g.RM(asm.MOV, regAt, asm.Ptr(regOff, 0))
	row, last := g.Here(), g.NewLabel()
	g.RM(asm.MOV, regEnd, asm.Ptr(regOff, 8))
	g.ahead(regAt)
	g.zero()
	g.RR(asm.MOV, regT, regEnd)
	g.RR(asm.SUB, regT, regAt)
	g.RI(asm.CMP, regT, lanes)
	g.Jcc(asm.CondBE, last)
	g.RRR(asm.KXNORW, asm.K1, asm.K1, asm.K1)
	whole := g.Here()
	g.gather()
	g.RI(asm.ADD, regAt, lanes)
	g.RI(asm.SUB, regT, lanes)
	g.RI(asm.CMP, regT, lanes)
	g.Jcc(asm.CondA, whole)
	g.Bind(last)
	g.lanesTo(asm.K1)
	g.gather()
	g.RR(asm.MOV, regAt, regEnd)
	g.store()
	g.RI(asm.SUB, regRows, 1)
	g.Jcc(asm.CondNE, row)
}

// gather adds the products of a vector of entries from regAt on, in the lanes of opmask 1.
func (g *vectorWriter) gather() {
	const tail, lanes = asm.K1, asm.K3
	x := g.V(4)
	g.RR(asm.KMOVW, lanes, tail)
	g.inRange(asm.Y(2), asm.Y(3), asm.Y(14), regAt, tail)
	g.Zero(x)
	g.Mask(lanes).RM(asm.VGATHERDPD, x, asm.Idx(regX, asm.Y(3), 8, 0))
	g.Mask(tail).RRM(asm.VFMADD231PD, g.V(0), x, asm.Idx(regValues, regAt, 8, 0))
}

// grouped writes the loop over groups of rows whose elements of x are copied first.
func (g *vectorWriter) grouped() {
	group, long, fits, one, end := g.Here(), g.NewLabel(), g.NewLabel(), g.NewLabel(), g.NewLabel()
	g.MovImm(regGroup, groupRows)
	g.RR(asm.CMP, regRows, regGroup)
	g.CMov(asm.CondB, regGroup, regRows)
	g.RM(asm.MOV, regAt, asm.Ptr(regOff, 0))
	g.entriesTo(asm.Idx(regOff, regGroup, 8, 0))
	g.Jcc(asm.CondBE, fits)
	g.MovImm(regGroup, 1)
	g.entriesTo(asm.Ptr(regOff, 8))
	g.Jcc(asm.CondA, long)
	g.Bind(fits)
	g.RR(asm.SUB, regRows, regGroup)
	g.copy()
	g.Bind(one)
	g.RM(asm.MOV, regEnd, asm.Ptr(regOff, 8))
	g.zero()
	g.multiply()
	g.store()
	g.RI(asm.SUB, regGroup, 1)
	g.Jcc(asm.CondNE, one)
	g.RR(asm.TEST, regRows, regRows)
	g.Jcc(asm.CondNE, group)
	g.Jmp(end)

	g.Bind(long) // a row in pieces
	g.zero()
	piece := g.Here()
	g.RM(asm.MOV, regEnd, asm.Ptr(regOff, 8))
	g.RM(asm.LEA, regT, asm.Ptr(regAt, groupRoom))
	g.RR(asm.CMP, regT, regEnd)
	g.CMov(asm.CondB, regEnd, regT)
	g.copy()
	g.multiply()
	g.RM(asm.CMP, regAt, asm.Ptr(regOff, 8))
	g.Jcc(asm.CondB, piece)
	g.store()
	g.RI(asm.SUB, regRows, 1)
	g.Jcc(asm.CondNE, group)
	g.Bind(end)
}

// begin loads the arguments and sets the state of the check of indices.
func (g *vectorWriter) begin() {
	for _, f := range []struct {
		r  asm.Reg
		at uintptr
	}{{regValues, unsafe.Offsetof(ff.values)}, {regIndices, unsafe.Offsetof(ff.indices)}, {regX, unsafe.Offsetof(ff.x)}, {regY, unsafe.Offsetof(ff.y)},
		{regOff, unsafe.Offsetof(ff.off)}, {regRows, unsafe.Offsetof(ff.rows)}, {regBuffer, unsafe.Offsetof(ff.work)}} {
		g.RM(asm.MOV, f.r, codegen.Field(f.at))
	}
	g.RI(asm.ADD, regBuffer, 63+4*copied)
	g.RI(asm.AND, regBuffer, -64)
	last, ones := g.last(), asm.Y(2)
	if g.ISA == jit.AVX512 {
		ones = asm.Z(2)
		g.RRRI(asm.VPTERNLOGD, ones, ones, ones, 0xFF)
		g.RRR(asm.KXORW, asm.K5, asm.K5, asm.K5)
	} else {
		g.RRR(asm.VPCMPEQD, ones, ones, ones)
		g.RR(asm.VMOVDQA, asm.Y(15), ones)
	}
	g.RM(asm.VPBROADCASTD, last, codegen.Field(unsafe.Offsetof(ff.bound)))
	g.RRR(asm.VPADDD, last, last, ones)
}

// last is the vector of the largest index.
func (g *vectorWriter) last() asm.Reg { return g.V(14) }

// entriesTo loads the end of some rows into regEnd, and compares the number of their entries, regT, with groupRoom.
func (g *vectorWriter) entriesTo(off asm.Mem) {
	g.RM(asm.MOV, regEnd, off)
	g.RR(asm.MOV, regT, regEnd)
	g.RR(asm.SUB, regT, regAt)
	g.RI(asm.CMP, regT, groupRoom)
}

// copy copies the elements of x of entries regAt to regEnd-1 into the buffer, and leaves its begin in regCopy. Indices
// out of range are noted, and the last element stands for theirs.
func (g *vectorWriter) copy() {
	size := g.D.Size()
	done := g.NewLabel()
	g.RR(asm.MOV, regCopy, regBuffer)
	g.RR(asm.MOV, regFrom, regAt)
	g.RR(asm.CMP, regFrom, regEnd)
	g.Jcc(asm.CondAE, done)
	more := g.Here()
	g.ahead(regFrom)
	g.RR(asm.MOV, regT, regEnd)
	g.RR(asm.SUB, regT, regFrom)
	g.checked()
	move := asm.MOV32
	if size == 8 {
		move = asm.MOV
	}
	for i := range copied {
		g.RM(asm.MOV32, regOne, asm.Ptr(regBuffer, int32(4*i-4*copied)))
		g.RM(move, regOne, asm.Idx(regX, regOne, uint8(size), 0))
		g.MR(move, asm.Ptr(regCopy, int32(i*size)), regOne)
	}
	g.RI(asm.ADD, regCopy, int64(copied*size))
	g.RI(asm.ADD, regFrom, copied)
	g.RR(asm.CMP, regFrom, regEnd)
	g.Jcc(asm.CondB, more)
	g.RR(asm.MOV, regCopy, regBuffer)
	g.Bind(done)
}

// ahead prefetches what follows the indices and the values of an entry, for 16 entries.
func (g *vectorWriter) ahead(entry asm.Reg) {
	size := g.D.Size()
	g.M(asm.PREFETCHT0, asm.Idx(regIndices, entry, 4, streamAhead))
	for at := 0; at < copied*size; at += 64 {
		g.M(asm.PREFETCHT0, asm.Idx(regValues, entry, uint8(size), int32(streamAhead+at)))
	}
}

// checked stores indices from regFrom on, 0 behind the first regT.
func (g *vectorWriter) checked() {
	last := g.last()
	if g.ISA == jit.AVX512 {
		g.lanesTo(asm.K1)
		g.inRange(asm.Z(2), asm.Z(3), last, regFrom, asm.K1)
		g.MR(asm.VMOVDQU32, asm.Ptr(regBuffer, -4*copied), asm.Z(3))
		return
	}
	count, idx, in := asm.Y(2), asm.Y(3), asm.Y(4)
	g.RR(asm.VMOVD, asm.X(2), regT)
	g.RR(asm.VPBROADCASTD, count, asm.X(2))
	for h := range 2 {
		g.RRM(asm.VPCMPGTD, idx, count, g.numbers(4, 8*h))
		g.RRM(asm.VPMASKMOVD, idx, idx, asm.Idx(regIndices, regFrom, 4, int32(32*h)))
		g.RRR(asm.VPMINUD, in, idx, last)
		g.RRR(asm.VPCMPEQD, idx, idx, in)
		g.RRR(asm.VPAND, asm.Y(15), asm.Y(15), idx)
		g.MR(asm.VMOVDQU, asm.Ptr(regBuffer, int32(32*h-4*copied)), in)
	}
}

// inRange loads the indices from an entry on, in the lanes of an opmask, into idx, and into in with the last index for those
// out of range, which opmask 5 notes.
func (g *vectorWriter) inRange(idx, in, last, entry, lanes asm.Reg) {
	const wrong, notEqual = asm.K2, 4
	g.MaskZ(lanes).RM(asm.VMOVDQU32, idx, asm.Idx(regIndices, entry, 4, 0))
	g.RRR(asm.VPMINUD, in, idx, last)
	g.RRRI(asm.VPCMPUD, wrong, idx, in, notEqual)
	g.RRR(asm.KORW, asm.K5, asm.K5, wrong)
}

// lanesTo sets the first regT bits of an opmask. It uses regOne.
func (g *vectorWriter) lanesTo(k asm.Reg) {
	g.MovImm(regOne, -1)
	g.RRR(asm.BZHI, regOne, regOne, regT)
	g.RR(asm.KMOVW, k, regOne)
}

// numbers is a constant of ascending integers, 32 bytes of them.
func (g *vectorWriter) numbers(size, first int) asm.Mem {
	var b [32]byte
	for i := range 32 / size {
		b[i*size] = byte(first + i)
	}
	return g.ConstBytes(b[:])
}

// zero clears the partial sums.
func (g *vectorWriter) zero() {
	g.Zero(g.V(0))
	if g.ISA == jit.AVX2 {
		g.Zero(g.V(1))
	}
}

// multiply adds the products of values regAt to regEnd-1 with what is at regCopy to the partial sums, and moves both on.
func (g *vectorWriter) multiply() {
	size := int64(g.D.Size())
	tail := g.NewLabel()
	g.RR(asm.MOV, regT, regEnd)
	g.RR(asm.SUB, regT, regAt)
	g.RI(asm.CMP, regT, copied)
	g.Jcc(asm.CondBE, tail)
	whole := g.Here()
	for v := range copied / g.Lanes() {
		m, x := g.vectorAt(v)
		g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.sums(v), x, m)
	}
	g.RI(asm.ADD, regAt, copied)
	g.RI(asm.ADD, regCopy, copied*size)
	g.RI(asm.SUB, regT, copied)
	g.RI(asm.CMP, regT, copied)
	g.Jcc(asm.CondA, whole)
	g.Bind(tail)
	g.tail()
	g.RR(asm.MOV, regAt, regEnd)
	g.RM(asm.LEA, regCopy, asm.Idx(regCopy, regT, uint8(size), 0))
}

// sums are the partial sums of vector v of the entries.
func (g *vectorWriter) sums(v int) asm.Reg { return g.V(v % (64 / g.VB())) }

// vectorAt loads vector v of elements, and returns its register and where the values are.
func (g *vectorWriter) vectorAt(v int) (values asm.Mem, x asm.Reg) {
	x, at := g.V(2+v), int32(v*g.VB())
	g.Load(x, asm.Ptr(regCopy, at))
	return asm.Idx(regValues, regAt, uint8(g.D.Size()), at), x
}

// tail adds regT products, at most copied. Lanes without one keep their sums, or add 0, since a sum is never -0.
func (g *vectorWriter) tail() {
	if g.ISA == jit.AVX512 { // of float32: one vector
		g.lanesTo(asm.K1)
		m, x := g.vectorAt(0)
		g.Mask(asm.K1).RRM(asm.VFMADD231PS, g.sums(0), x, m)
		return
	}
	count, lanes, value := asm.Y(7), asm.Y(8), asm.Y(9)
	compare, spread := asm.VPCMPGTD, asm.VPBROADCASTD
	if g.D == array.Float64 {
		compare, spread = asm.VPCMPGTQ, asm.VPBROADCASTQ
	}
	g.RR(asm.VMOVQ, asm.X(7), regT)
	g.RR(spread, count, asm.X(7))
	for v := range copied / g.Lanes() {
		m, x := g.vectorAt(v)
		g.RRM(compare, lanes, count, g.numbers(g.D.Size(), v*g.Lanes()))
		g.LoadMasked(value, m, 0, lanes)
		g.RRR(asm.VANDPS, x, x, lanes)
		g.Fma(g.sums(v), x, value)
	}
}

// store stores the sum of a row, and goes on with the next one.
func (g *vectorWriter) store() {
	if g.ISA == jit.AVX512 {
		g.RRI(asm.VEXTRACTF64X4, asm.Y(1), asm.Z(0), 1)
	}
	addHalves(&g.Gen, g.D)
	g.MR(g.Pick(asm.VMOVSS, asm.VMOVSD), asm.Ptr(regY, 0), asm.X(0))
	g.RI(asm.ADD, regY, int64(g.D.Size()))
	g.RI(asm.ADD, regOff, 8)
}

// status returns whether an index was out of range.
func (g *vectorWriter) status() {
	if g.ISA == jit.AVX512 {
		g.RR(asm.KMOVW, asm.RAX, asm.K5)
	} else {
		g.RR(asm.VMOVMSKPS, asm.RAX, asm.Y(15))
		g.RI(asm.XOR, asm.RAX, 0xFF)
	}
	g.Op0(asm.VZEROUPPER)
	g.Op0(asm.RET)
}
