package index

import (
	"math/bits"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/x86/asm"
)

// maskGroup is the number of elements that a round of the kernels under a mask takes.
const maskGroup = 64

// A packFrame holds the arguments of the kernels that compress or expand the elements under a
// mask.
type packFrame struct {
	packed uintptr // the elements under the mask, side by side; moves
	last   uintptr // the last place in packed where a round may begin
	spread unsafe.Pointer
	mask   unsafe.Pointer
	groups int // counted down
}

var pf packFrame

// Registers of these kernels.
const packed, last, spread, mask, groups = asm.R8, asm.R9, asm.RSI, asm.RDX, asm.RCX

// pack writes the kernel that compresses the elements under a mask into packed, or expands
// packed elements with zeros between. It reads and writes whole vectors, and advances by the
// number of ones in the mask. It ends before a vector would reach beyond packed.
func (g *writer) pack() {
	a := &g.Asm
	a.RM(asm.MOV, packed, codegen.Field(unsafe.Offsetof(pf.packed)))
	a.RM(asm.MOV, last, codegen.Field(unsafe.Offsetof(pf.last)))
	a.RM(asm.MOV, spread, codegen.Field(unsafe.Offsetof(pf.spread)))
	a.RM(asm.MOV, mask, codegen.Field(unsafe.Offsetof(pf.mask)))
	a.RM(asm.MOV, groups, codegen.Field(unsafe.Offsetof(pf.groups)))
	var round func()
	switch {
	case g.size < 4:
		round = g.packBytes()
	case g.wide:
		round = g.packWide()
	default:
		round = g.packNarrow()
	}
	a.Align(16)
	next, end := a.Here(), a.NewLabel()
	a.RR(asm.TEST, groups, groups)
	a.Jcc(asm.CondE, end)
	a.RR(asm.CMP, packed, last)
	a.Jcc(asm.CondA, end)
	round()
	a.RI(asm.ADD, spread, int64(maskGroup*g.size))
	a.RI(asm.ADD, mask, maskGroup)
	a.RI(asm.SUB, groups, 1)
	a.Jmp(next)
	a.Bind(end)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(pf.packed)), packed)
	a.MR(asm.MOV, codegen.Field(unsafe.Offsetof(pf.groups)), groups)
	g.Done()
}

// packWide lets the processor do it, 64 bytes at a time: in registers, since what
// goes to memory by itself is microcode on some.
func (g *writer) packWide() func() {
	a := &g.Asm
	n := 64 / g.size
	compress, expand, low := asm.VPCOMPRESSD, asm.VPEXPANDD, asm.MOVZX16
	if g.size == 8 {
		compress, expand, low = asm.VPCOMPRESSQ, asm.VPEXPANDQ, asm.MOVZX8
	}
	all, k := asm.K1, asm.K2
	return func() {
		a.RM(asm.VMOVDQU8, asm.Z(16), asm.Ptr(mask, 0))
		a.RRR(asm.VPTESTMB, all, asm.Z(16), asm.Z(16))
		a.RR(asm.KMOVQ, asm.RAX, all)
		for i := range maskGroup / n {
			z, at := asm.Z(i%8), asm.Ptr(spread, int32(i*64))
			a.RRI(asm.KSHIFTRQ, k, all, int64(i*n))
			a.RR(low, asm.RBX, asm.RAX)
			a.RR(asm.POPCNT, asm.RBX, asm.RBX)
			a.RI(asm.SHR, asm.RAX, int64(n))
			if g.expand {
				a.RM(asm.VMOVUPS, z, asm.Ptr(packed, 0))
				a.MaskZ(k).RR(expand, z, z)
				a.MR(asm.VMOVUPS, at, z)
			} else {
				a.RM(asm.VMOVUPS, z, at)
				a.MaskZ(k).RR(compress, z, z)
				a.MR(asm.VMOVUPS, asm.Ptr(packed, 0), z)
			}
			a.RM(asm.LEA, packed, asm.Idx(packed, asm.RBX, uint8(g.size), 0))
		}
	}
}

// bytesOfOne is a word whose bytes are all 1: PEXT under it has a bit for each byte of a mask.
const bytesOfOne = 0x0101010101010101

// packNarrow permutes 32 bytes at a time by a table of the order for each mask.
func (g *writer) packNarrow() func() {
	a := &g.Asm
	n := 32 / g.size
	const ones, table = asm.R10, asm.R11
	load := asm.MOV
	if n == 4 {
		load = asm.MOV32
	}
	orders := make([]byte, 8<<n) // in numbers of 4 bytes
	for m := range 1 << n {
		for i := range n {
			rank := bits.OnesCount(uint(m) & (1<<i - 1))
			from, to := i, rank
			if g.expand {
				from, to = rank, i
			}
			for p := range g.size / 4 {
				if m>>i&1 == 1 {
					orders[8*m+to*g.size/4+p] = byte(from*g.size/4 + p)
				}
			}
		}
	}
	a.MovImm(ones, bytesOfOne)
	a.RM(asm.LEA, table, a.ConstBytes(orders))
	zero, y, m := asm.Y(15), asm.Y(0), asm.Y(1)
	a.RRR(asm.VPXOR, zero, zero, zero)
	return func() {
		for i := range maskGroup / n {
			at := asm.Ptr(spread, int32(i*32))
			a.RM(load, asm.RAX, asm.Ptr(mask, int32(i*n)))
			a.RRR(asm.PEXT, asm.RBX, asm.RAX, ones)
			a.RM(asm.VPMOVZXBD, y, asm.Idx(table, asm.RBX, 8, 0))
			if g.expand {
				a.RRM(asm.VPERMD, y, y, asm.Ptr(packed, 0))
				widen, sub := asm.VPMOVZXBD, asm.VPSUBD
				if g.size == 8 {
					widen, sub = asm.VPMOVZXBQ, asm.VPSUBQ
				}
				a.RM(widen, m, asm.Ptr(mask, int32(i*n)))
				a.RRR(sub, m, zero, m)
				a.RRR(asm.VPAND, y, y, m)
				a.MR(asm.VMOVUPS, at, y)
			} else {
				a.RRM(asm.VPERMD, y, y, at)
				a.MR(asm.VMOVUPS, asm.Ptr(packed, 0), y)
			}
			a.RR(asm.POPCNT, asm.RAX, asm.RAX)
			a.RM(asm.LEA, packed, asm.Idx(packed, asm.RAX, uint8(g.size), 0))
		}
	}
}

// packBytes extracts and deposits bits, 8 bytes at a time.
func (g *writer) packBytes() func() {
	a := &g.Asm
	n := 8 / g.size
	const halves = asm.R10
	if g.size == 2 {
		a.MovImm(halves, 0x00FF00FF00FF00FF)
	}
	return func() {
		for i := range maskGroup / n {
			at := asm.Ptr(spread, int32(i*8))
			if g.size == 2 {
				a.RM(asm.MOV32, asm.RAX, asm.Ptr(mask, int32(i*n)))
				a.RRR(asm.PDEP, asm.RAX, asm.RAX, halves)
			} else {
				a.RM(asm.MOV, asm.RAX, asm.Ptr(mask, int32(i*n)))
			}
			a.RRI(asm.IMUL, asm.RBX, asm.RAX, 1<<(8*g.size)-1) // all bits of an element
			if g.expand {
				a.RM(asm.MOV, asm.R12, asm.Ptr(packed, 0))
				a.RRR(asm.PDEP, asm.R12, asm.R12, asm.RBX)
				a.MR(asm.MOV, at, asm.R12)
			} else {
				a.RM(asm.MOV, asm.R12, at)
				a.RRR(asm.PEXT, asm.R12, asm.R12, asm.RBX)
				a.MR(asm.MOV, asm.Ptr(packed, 0), asm.R12)
			}
			a.RR(asm.POPCNT, asm.RAX, asm.RAX)
			a.RM(asm.LEA, packed, asm.Idx(packed, asm.RAX, uint8(g.size), 0))
		}
	}
}

// A countFrame holds the arguments of the kernel that counts the ones of a mask.
type countFrame struct {
	mask   unsafe.Pointer
	groups int // not 0
	ones   int
}

// count writes the kernel.
func (g *writer) count() {
	a := &g.Asm
	a.RM(asm.MOV, mask, codegen.Field(unsafe.Offsetof(countFrame{}.mask)))
	a.RM(asm.MOV, groups, codegen.Field(unsafe.Offsetof(countFrame{}.groups)))
	for i := range 3 {
		a.RRR(asm.VPXOR, asm.Y(i), asm.Y(i), asm.Y(i))
	}
	zero, sums := asm.Y(2), [2]asm.Reg{asm.Y(0), asm.Y(1)}
	a.Align(16)
	next := a.Here()
	for i, s := range sums {
		a.RM(asm.VMOVDQU, asm.Y(3), asm.Ptr(mask, int32(32*i)))
		a.RRR(asm.VPSADBW, asm.Y(3), asm.Y(3), zero)
		a.RRR(asm.VPADDQ, s, s, asm.Y(3))
	}
	a.RI(asm.ADD, mask, maskGroup)
	a.RI(asm.SUB, groups, 1)
	a.Jcc(asm.CondNE, next)
	a.RRR(asm.VPADDQ, asm.Y(0), asm.Y(0), asm.Y(1))
	a.RRI(asm.VEXTRACTI128, asm.X(1), asm.Y(0), 1)
	a.RRR(asm.VPADDQ, asm.X(0), asm.X(0), asm.X(1))
	a.RRI(asm.VPSRLDQ, asm.X(1), asm.X(0), 8)
	a.RRR(asm.VPADDQ, asm.X(0), asm.X(0), asm.X(1))
	a.MR(asm.VMOVQ, codegen.Field(unsafe.Offsetof(countFrame{}.ones)), asm.X(0))
	g.Done()
}
