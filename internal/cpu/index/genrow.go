package index

import (
	"math/bits"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
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

	// rowBlock is the size in bytes of a block: the extreme of a block is found first, and
	// then its index.
	rowBlock = 1 << 10
)

// Registers of the kernel for rows.
const (
	rowSrc, rowOut, rowLeft = asm.RSI, asm.R8, asm.RCX
	rowWinner               = asm.RBX // the best block so far
	rowMost                 = asm.RAX
	rowAt, rowBegin, rowEnd = asm.R10, asm.R11, asm.R12 // in the block, its begin and end
	rowRowEnd, rowLast      = asm.R13, asm.R15          // of the row: its end, and its last vector
	rowSide                 = 4                         // vectors side by side
)

// A rowWriter writes the kernel that looks for extremes of rows. A block of a row costs what
// its extreme costs, which is no more than memory takes to deliver it. The best block so far
// is remembered, and in the end its element is looked for, in the L1 cache. A block with a
// NaN ends the row.
type rowWriter struct {
	*writer
	form  form
	best  asm.Reg   // the best element so far, in each lane
	nan   asm.Reg   // whether there was a NaN; of halves the greatest size
	t     asm.Reg   // spare
	found asm.Label // of the vector at rowAt, for which t is set in some lane
}

// row writes the kernel that [rowWriter] describes.
func (g *writer) row() {
	w := &rowWriter{writer: g, form: form{asm.Y(12), asm.Y(13), asm.Y(14)}, best: asm.Y(8), nan: asm.Y(9), t: asm.Y(10)}
	worst := asm.Y(11)
	a := &g.Asm
	a.RM(asm.MOV, rowSrc, codegen.Field(unsafe.Offsetof(rf.src)))
	a.RM(asm.MOV, rowOut, codegen.Field(unsafe.Offsetof(rf.out)))
	a.RM(asm.MOV, rowLeft, codegen.Field(unsafe.Offsetof(rf.rows)))
	a.RM(asm.VPBROADCASTQ, worst, g.worst())
	g.constants(w.form)
	row := a.Here()
	a.RR(asm.VMOVAPS, w.best, worst)
	a.RR(asm.MOV, rowAt, rowSrc)
	a.RR(asm.MOV, rowWinner, rowSrc)
	a.RR(asm.MOV, rowRowEnd, rowSrc)
	a.RM(asm.ADD, rowRowEnd, codegen.Field(unsafe.Offsetof(rf.bytes)))
	a.RM(asm.LEA, rowLast, asm.Ptr(rowRowEnd, -rowVector))

	nextBlock := a.Here()
	w.found = a.NewLabel()
	w.block()
	if g.dtype.Float() {
		w.numbers()
	}
	w.compare()
	a.RR(asm.CMP, rowAt, rowRowEnd)
	a.Jcc(asm.CondB, nextBlock)
	w.find(rowWinner, w.same)

	a.Bind(w.found)
	a.RR(asm.TZCNT32, rowMost, rowMost)
	a.RR(asm.ADD, rowMost, rowAt)
	a.RR(asm.SUB, rowMost, rowSrc)
	if es := g.dtype.Size(); es > 1 {
		a.RI(asm.SHR, rowMost, int64(bits.TrailingZeros(uint(es))))
	}
	a.MR(asm.MOV, asm.Ptr(rowOut, 0), rowMost)
	a.RI(asm.ADD, rowOut, 8)
	a.RM(asm.ADD, rowSrc, codegen.Field(unsafe.Offsetof(rf.step)))
	a.RI(asm.SUB, rowLeft, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

// plainFloat reports a float type that is compared as such, and not as integers.
func (w *rowWriter) plainFloat() bool { return w.dtype.Float() && !w.dtype.Half() }

// unordered sets w.t where x or y is NaN.
func (w *rowWriter) unordered(x, y asm.Reg) {
	compare := asm.VCMPPS
	if w.dtype.Size() == 8 {
		compare = asm.VCMPPD
	}
	w.RRRI(compare, w.t, x, y, 3)
}

// same sets w.t where x is the best element so far.
func (w *rowWriter) same(x asm.Reg) {
	equal, compare := asm.VPCMPEQD, asm.VCMPPS
	switch w.dtype.Size() {
	case 1:
		equal = asm.VPCMPEQB
	case 2:
		equal = asm.VPCMPEQW
	case 8:
		equal, compare = asm.VPCMPEQQ, asm.VCMPPD
	}
	if w.plainFloat() {
		w.RRRI(compare, w.t, x, w.best, 0)
	} else {
		w.RRR(equal, w.t, x, w.best)
	}
}

// block leaves the extremes of a block, or the best so far, in each lane of Y0.
func (w *rowWriter) block() {
	a, t, nan := &w.Asm, w.t, w.nan
	singles, whole := a.NewLabel(), a.NewLabel()
	a.RR(asm.MOV, rowBegin, rowAt)
	a.RM(asm.LEA, rowEnd, asm.Ptr(rowAt, rowBlock))
	a.RR(asm.CMP, rowEnd, rowRowEnd)
	a.CMov(asm.CondA, rowEnd, rowRowEnd)
	for i := range rowSide {
		a.RR(asm.VMOVAPS, asm.Y(i), w.best)
	}
	a.RRR(asm.VXORPS, nan, nan, nan)
	a.RM(asm.LEA, rowMost, asm.Ptr(rowEnd, -rowSide*rowVector))
	a.RR(asm.CMP, rowAt, rowMost)
	a.Jcc(asm.CondA, singles)
	a.Align(16)
	four := a.Here()
	for i := range rowSide {
		acc, x := asm.Y(i), asm.Y(rowSide+i)
		w.load(x, t, w.form, asm.Ptr(rowAt, int32(i*rowVector)))
		if w.dtype.Half() {
			a.RRR(asm.VPMAXSW, nan, nan, t)
		}
		w.better(acc, x, t)
		if w.plainFloat() && i%2 == 1 {
			w.unordered(x, asm.Y(rowSide+i-1))
			a.RRR(asm.VORPS, nan, nan, t)
		}
	}
	a.RI(asm.ADD, rowAt, rowSide*rowVector)
	a.RR(asm.CMP, rowAt, rowMost)
	a.Jcc(asm.CondBE, four)
	a.Bind(singles)
	a.RR(asm.CMP, rowAt, rowEnd)
	a.Jcc(asm.CondAE, whole)
	a.RR(asm.CMP, rowAt, rowLast)
	a.CMov(asm.CondA, rowAt, rowLast)
	x := asm.Y(rowSide)
	w.load(x, t, w.form, asm.Ptr(rowAt, 0))
	if w.dtype.Half() {
		a.RRR(asm.VPMAXSW, nan, nan, t)
	}
	w.better(asm.Y(0), x, t)
	if w.plainFloat() {
		w.unordered(x, x)
		a.RRR(asm.VORPS, nan, nan, t)
	}
	a.RI(asm.ADD, rowAt, rowVector)
	a.Jmp(singles)

	a.Bind(whole)
	w.better(asm.Y(0), asm.Y(1), t)
	w.better(asm.Y(2), asm.Y(3), t)
	w.better(asm.Y(0), asm.Y(2), t)
}

// find jumps to found with the first vector of a block for which test sets w.t.
func (w *rowWriter) find(block asm.Reg, test func(x asm.Reg)) {
	a := &w.Asm
	a.RR(asm.MOV, rowAt, block)
	next := a.Here()
	a.RR(asm.CMP, rowAt, rowLast)
	a.CMov(asm.CondA, rowAt, rowLast)
	w.load(asm.Y(0), w.t, w.form, asm.Ptr(rowAt, 0))
	test(asm.Y(0))
	a.RR(asm.VPMOVMSKB, rowMost, w.t)
	a.RR(asm.TEST32, rowMost, rowMost)
	a.Jcc(asm.CondNE, w.found)
	a.RI(asm.ADD, rowAt, rowVector)
	a.Jmp(next)
}

// numbers goes on if a block has numbers alone, and finds its first NaN otherwise.
func (w *rowWriter) numbers() {
	a, half := &w.Asm, w.dtype.Half()
	numbers := a.NewLabel()
	if half { // nan is the greatest size so far
		a.RRR(asm.VPCMPGTW, w.nan, w.nan, w.form.infinity)
	}
	a.RR(asm.VPTEST, w.nan, w.nan)
	a.Jcc(asm.CondE, numbers)
	w.find(rowBegin, func(x asm.Reg) {
		if half {
			a.RRR(asm.VPCMPGTW, w.t, w.t, w.form.infinity)
		} else {
			w.unordered(x, x)
		}
	})
	a.Bind(numbers)
}

// compare makes the block the winner if it has a better element, which is in all lanes of best
// then.
func (w *rowWriter) compare() {
	a := &w.Asm
	worse := a.NewLabel()
	w.same(asm.Y(0))
	a.RR(asm.VPMOVMSKB, rowMost, w.t)
	a.RI(asm.CMP32, rowMost, -1)
	a.Jcc(asm.CondE, worse)
	a.RR(asm.MOV, rowWinner, rowBegin)
	a.RRI(asm.VEXTRACTI128, asm.X(1), asm.Y(0), 1)
	w.better(asm.X(0), asm.X(1), w.t.X())
	for n := 8; n >= w.dtype.Size(); n /= 2 {
		a.RRI(asm.VPSRLDQ, asm.X(1), asm.X(0), int64(n))
		w.better(asm.X(0), asm.X(1), w.t.X())
	}
	spread := asm.VPBROADCASTD
	switch w.dtype.Size() {
	case 1:
		spread = asm.VPBROADCASTB
	case 2:
		spread = asm.VPBROADCASTW
	case 8:
		spread = asm.VPBROADCASTQ
	}
	a.RR(spread, w.best, asm.X(0))
	a.Bind(worse)
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
