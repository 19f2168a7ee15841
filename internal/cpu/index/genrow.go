package index

import (
	"math/bits"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/x86/asm"
)

// A rowFrame holds the arguments of the kernel that looks for the extremes of rows.
type rowFrame struct {
	src   unsafe.Pointer
	out   unsafe.Pointer // int64, side by side
	step  int            // bytes from row to row
	rows  int            // not 0
	bytes int            // of a row, rowVector at least
}

var rf rowFrame

const (
	// rowVector is the size of its vectors in bytes: wider ones wait longer for memory.
	rowVector = 32

	// rowBlock is the number of bytes of which first only the extreme is found.
	rowBlock = 1 << 10
)

// row writes the kernel. A block of a row costs what its extreme costs, which is no
// more than memory takes to deliver it. The best block so far is remembered, and in
// the end its element is looked for, in the first cache. A block with a NaN ends the
// row.
func (g *writer) row() {
	const src, out, left, winner, most = asm.RSI, asm.R8, asm.RCX, asm.RBX, asm.RAX
	const at, block, end, rowEnd, last = asm.R10, asm.R11, asm.R12, asm.R13, asm.R15
	a := &g.Asm
	es, float, half := g.dtype.Size(), g.dtype.Float(), g.dtype.Half()
	compare, equal, spread := asm.VCMPPS, asm.VPCMPEQD, asm.VPBROADCASTD
	switch es {
	case 1:
		equal, spread = asm.VPCMPEQB, asm.VPBROADCASTB
	case 2:
		equal, spread = asm.VPCMPEQW, asm.VPBROADCASTW
	case 8:
		compare, equal, spread = asm.VCMPPD, asm.VPCMPEQQ, asm.VPBROADCASTQ
	}
	best, nan, t, worst := asm.Y(8), asm.Y(9), asm.Y(10), asm.Y(11)
	form := form{asm.Y(12), asm.Y(13), asm.Y(14)}
	same := func(x asm.Reg) {
		if float && !half {
			a.RRRI(compare, t, x, best, 0)
		} else {
			a.RRR(equal, t, x, best)
		}
	}
	unordered := func(t, x, y asm.Reg) { a.RRRI(compare, t, x, y, 3) }

	a.RM(asm.MOV, src, gen.Field(unsafe.Offsetof(rf.src)))
	a.RM(asm.MOV, out, gen.Field(unsafe.Offsetof(rf.out)))
	a.RM(asm.MOV, left, gen.Field(unsafe.Offsetof(rf.rows)))
	a.RM(asm.VPBROADCASTQ, worst, g.worst())
	g.constants(form)
	row := a.Here()
	a.RR(asm.VMOVAPS, best, worst)
	a.RR(asm.MOV, at, src)
	a.RR(asm.MOV, winner, src)
	a.RR(asm.MOV, rowEnd, src)
	a.RM(asm.ADD, rowEnd, gen.Field(unsafe.Offsetof(rf.bytes)))
	a.RM(asm.LEA, last, asm.Ptr(rowEnd, -rowVector))

	nextBlock, singles, whole, worse, found := a.Here(), a.NewLabel(), a.NewLabel(), a.NewLabel(), a.NewLabel()
	a.RR(asm.MOV, block, at)
	a.RM(asm.LEA, end, asm.Ptr(at, rowBlock))
	a.RR(asm.CMP, end, rowEnd)
	a.CMov(asm.CondA, end, rowEnd)
	const side = 4
	for i := range side {
		a.RR(asm.VMOVAPS, asm.Y(i), best)
	}
	a.RRR(asm.VXORPS, nan, nan, nan)
	a.RM(asm.LEA, most, asm.Ptr(end, -side*rowVector))
	a.RR(asm.CMP, at, most)
	a.Jcc(asm.CondA, singles)
	a.Align(16)
	four := a.Here()
	for i := range side {
		acc, x := asm.Y(i), asm.Y(side+i)
		g.load(x, t, form, asm.Ptr(at, int32(i*rowVector)))
		if half {
			a.RRR(asm.VPMAXSW, nan, nan, t)
		}
		g.better(acc, x, t)
		if float && !half && i%2 == 1 {
			unordered(t, x, asm.Y(side+i-1))
			a.RRR(asm.VORPS, nan, nan, t)
		}
	}
	a.RI(asm.ADD, at, side*rowVector)
	a.RR(asm.CMP, at, most)
	a.Jcc(asm.CondBE, four)
	a.Bind(singles)
	a.RR(asm.CMP, at, end)
	a.Jcc(asm.CondAE, whole)
	a.RR(asm.CMP, at, last)
	a.CMov(asm.CondA, at, last)
	g.load(asm.Y(side), t, form, asm.Ptr(at, 0))
	if half {
		a.RRR(asm.VPMAXSW, nan, nan, t)
	}
	g.better(asm.Y(0), asm.Y(side), t)
	if float && !half {
		unordered(t, asm.Y(side), asm.Y(side))
		a.RRR(asm.VORPS, nan, nan, t)
	}
	a.RI(asm.ADD, at, rowVector)
	a.Jmp(singles)

	a.Bind(whole)
	g.better(asm.Y(0), asm.Y(1), t)
	g.better(asm.Y(2), asm.Y(3), t)
	g.better(asm.Y(0), asm.Y(2), t)
	// find jumps to found with the first vector of a block for which test sets t.
	find := func(block asm.Reg, test func(x asm.Reg)) {
		a.RR(asm.MOV, at, block)
		next := a.Here()
		a.RR(asm.CMP, at, last)
		a.CMov(asm.CondA, at, last)
		g.load(asm.Y(0), t, form, asm.Ptr(at, 0))
		test(asm.Y(0))
		a.RR(asm.VPMOVMSKB, most, t)
		a.RR(asm.TEST32, most, most)
		a.Jcc(asm.CondNE, found)
		a.RI(asm.ADD, at, rowVector)
		a.Jmp(next)
	}
	if float {
		numbers := a.NewLabel()
		if half { // nan is the greatest size so far
			a.RRR(asm.VPCMPGTW, nan, nan, form.infinity)
		}
		a.RR(asm.VPTEST, nan, nan)
		a.Jcc(asm.CondE, numbers)
		find(block, func(x asm.Reg) {
			if half {
				a.RRR(asm.VPCMPGTW, t, t, form.infinity)
			} else {
				unordered(t, x, x)
			}
		})
		a.Bind(numbers)
	}
	same(asm.Y(0))
	a.RR(asm.VPMOVMSKB, most, t)
	a.RI(asm.CMP32, most, -1)
	a.Jcc(asm.CondE, worse)
	a.RR(asm.MOV, winner, block)
	a.RRI(asm.VEXTRACTI128, asm.X(1), asm.Y(0), 1)
	g.better(asm.X(0), asm.X(1), t.X())
	for n := 8; n >= es; n /= 2 {
		a.RRI(asm.VPSRLDQ, asm.X(1), asm.X(0), int64(n))
		g.better(asm.X(0), asm.X(1), t.X())
	}
	a.RR(spread, best, asm.X(0))
	a.Bind(worse)
	a.RR(asm.CMP, at, rowEnd)
	a.Jcc(asm.CondB, nextBlock)
	find(winner, same)

	a.Bind(found)
	a.RR(asm.TZCNT32, most, most)
	a.RR(asm.ADD, most, at)
	a.RR(asm.SUB, most, src)
	if es > 1 {
		a.RI(asm.SHR, most, int64(bits.TrailingZeros(uint(es))))
	}
	a.MR(asm.MOV, asm.Ptr(out, 0), most)
	a.RI(asm.ADD, out, 8)
	a.RM(asm.ADD, src, gen.Field(unsafe.Offsetof(rf.step)))
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// worst is what any element beats or equals, as elements are compared, in each of 8 bytes.
func (g *writer) worst() asm.Mem {
	least, greatest := -1<<(8*g.dtype.Size()-1), 1<<(8*g.dtype.Size()-1)-1
	switch {
	case g.dtype == array.Float32:
		least, greatest = 0xFF800000, 0x7F800000
	case g.dtype == array.Float64:
		least, greatest = -1<<52, 0x7FF<<52
	case g.dtype.Half():
		least, greatest = -int(halfInfinity(g.dtype)), int(halfInfinity(g.dtype))
	}
	if g.greatest {
		return g.bits(uint64(least))
	}
	return g.bits(uint64(greatest))
}

// better sets acc to x where that is beyond it: not where it is NaN. There is a t to spare.
func (g *writer) better(acc, x, t asm.Reg) {
	least, greatest := asm.VPMINSB, asm.VPMAXSB
	switch {
	case g.dtype == array.Float32:
		least, greatest = asm.VMINPS, asm.VMAXPS
	case g.dtype == array.Float64:
		least, greatest = asm.VMINPD, asm.VMAXPD
	case g.dtype.Size() == 2:
		least, greatest = asm.VPMINSW, asm.VPMAXSW
	case g.dtype.Size() == 4:
		least, greatest = asm.VPMINSD, asm.VPMAXSD
	case g.dtype.Size() == 8: // AVX2 has none
		a, b := x, acc
		if !g.greatest {
			a, b = b, a
		}
		g.RRR(asm.VPCMPGTQ, t, a, b)
		g.RRRR(asm.VBLENDVPD, acc, acc, x, t)
		return
	}
	op := least
	if g.greatest {
		op = greatest
	}
	g.RRR(op, acc, x, acc)
}
