package convolution

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A planeKey names a kernel that goes down some planes side by side. The planes share only its
// masks: no sum of one plane waits for another plane.
type planeKey struct {
	tile.Machine
	kh, kw, stepY, stepX, planes int
	back                         bool
}

// A planeFrame holds the arguments of a kernel. Steps and offsets are in bytes.
type planeFrame struct {
	src, dst, weights  unsafe.Pointer
	offset             int // from src to the first tap of the first result
	srcPlane, dstPlane int
	srcRow, dstRow     int
	row, height        int // the source's row of the first tap, and how many there are
	skip               int // steps before the first result
	steps              int
	masks              [6]uint64 // of the lanes of each load
	store              uint64
	bias               unsafe.Pointer // of the first plane, or nil
	low, high          uint64         // bounds
}

var pf planeFrame

var planeKernels = jit.NewCache[planeKey, *jit.Code](64)

// live returns how many rows of the result a row of the source takes part in at most.
func (k planeKey) live() int { return tile.Ceil(k.kh, k.stepY) }

// loads returns how many vectors are read of a row: one per tap, or with a step of two a pair
// of vectors for two taps, whose elements are the even and the odd ones.
func (k planeKey) loads() int {
	if k.stepX == 1 {
		return k.kw
	}
	return 2 * tile.Ceil(k.kw, 2)
}

// column returns the column of load i, counted from that of the first tap.
func (k planeKey) column(i, lanes int) int {
	switch {
	case k.stepX == 2:
		return i/2*2 + i%2*lanes
	case k.back:
		return -i
	}
	return i
}

func (k planeKey) Generate() *jit.Code {
	g := &planeGen{Gen: codegen.Gen{ISA: k.ISA, D: k.D}, planeKey: k}
	g.assign()
	g.constants()
	g.begin()
	g.down()
	g.Done()
	return g.Install(k)
}

// General registers of the kernel; planeScratch is free between steps.
const (
	planeSrc, planeDst, planeWeights   = asm.RSI, asm.RDX, asm.RBX
	srcPlane, srcPlane3                = asm.R8, asm.R9
	dstPlane, dstPlane3                = asm.R10, asm.R11
	planeRow, planeHeight, planeSrcRow = asm.RCX, asm.R12, asm.R13
	planeLeft, planeSkip, planeScratch = asm.R14, asm.R15, asm.RAX
)

// A planeGen writes the kernel.
type planeGen struct {
	codegen.Gen
	planeKey
	sums        [][]asm.Reg // by plane: of the rows of the result that are under way, the next to be stored first
	taps        []asm.Reg   // elements of a row of the source, by tap
	zero        asm.Reg
	low, high   asm.Reg
	pair, order [2]asm.Reg // with a step of two: what is read, and which elements are taken
}

// assign gives each value its vector register.
func (g *planeGen) assign() {
	used := 0
	register := func() asm.Reg { used++; return g.V(used - 1) }
	g.sums = make([][]asm.Reg, g.planes)
	for p := range g.sums {
		for range g.live() {
			g.sums[p] = append(g.sums[p], register())
		}
	}
	for range g.kw {
		g.taps = append(g.taps, register())
	}
	g.zero, g.low, g.high = register(), register(), register()
	for i := 0; i < 2 && g.stepX == 2; i++ {
		g.pair[i], g.order[i] = register(), register()
	}
}

func (g *planeGen) get(r asm.Reg, offset uintptr) { g.RM(asm.MOV, r, codegen.Field(offset)) }

// constants loads the orders of elements and the masks, and clears the sums.
func (g *planeGen) constants() {
	a := &g.Asm
	g.Zero(g.zero)
	g.Broadcast(g.low, codegen.Field(unsafe.Offsetof(pf.low)))
	g.Broadcast(g.high, codegen.Field(unsafe.Offsetof(pf.high)))
	for i := 0; i < 2 && g.stepX == 2; i++ {
		lanes := make([]byte, 0, 64)
		for lane := range g.Lanes() {
			lanes = append(lanes, byte(2*lane+i))
			lanes = append(lanes, make([]byte, g.D.Size()-1)...)
		}
		g.Load(g.order[i], a.ConstBytes(lanes))
	}
	for i := range g.loads() {
		g.get(planeScratch, unsafe.Offsetof(pf.masks)+uintptr(i)*8)
		a.RR(asm.KMOVW, asm.K(1+i), planeScratch)
	}
	g.get(planeScratch, unsafe.Offsetof(pf.store))
	a.RR(asm.KMOVW, asm.K7, planeScratch)
	for p := range g.sums {
		for _, s := range g.sums[p] {
			g.Zero(s)
		}
	}
}

// begin loads pointers, steps and counters.
func (g *planeGen) begin() {
	a := &g.Asm
	g.get(planeSrc, unsafe.Offsetof(pf.src))
	a.RM(asm.ADD, planeSrc, codegen.Field(unsafe.Offsetof(pf.offset)))
	g.get(planeDst, unsafe.Offsetof(pf.dst))
	g.get(planeWeights, unsafe.Offsetof(pf.weights))
	g.get(srcPlane, unsafe.Offsetof(pf.srcPlane))
	g.get(dstPlane, unsafe.Offsetof(pf.dstPlane))
	a.RM(asm.LEA, srcPlane3, asm.Idx(srcPlane, srcPlane, 2, 0))
	a.RM(asm.LEA, dstPlane3, asm.Idx(dstPlane, dstPlane, 2, 0))
	g.get(planeRow, unsafe.Offsetof(pf.row))
	g.get(planeHeight, unsafe.Offsetof(pf.height))
	g.get(planeSrcRow, unsafe.Offsetof(pf.srcRow))
	g.get(planeLeft, unsafe.Offsetof(pf.steps))
	g.get(planeSkip, unsafe.Offsetof(pf.skip))
}

// srcOf is the memory disp bytes from base in plane p of the source, dstOf that of the result.
func srcOf(base asm.Reg, p, disp int) asm.Mem { return planeMem(base, srcPlane, srcPlane3, p, disp) }
func dstOf(base asm.Reg, p, disp int) asm.Mem { return planeMem(base, dstPlane, dstPlane3, p, disp) }

func planeMem(base, step, step3 asm.Reg, p, disp int) asm.Mem {
	return [...]asm.Mem{asm.Ptr(base, int32(disp)), asm.Idx(base, step, 1, int32(disp)), asm.Idx(base, step, 2, int32(disp)), asm.Idx(base, step3, 1, int32(disp))}[p]
}

// down writes the loop over rows of the result.
func (g *planeGen) down() {
	a := &g.Asm
	a.Align(16)
	next := a.Here()
	for p := range g.sums {
		g.Zero(g.sums[p][g.live()-1])
	}
	for r := range g.stepY {
		g.row(r)
	}
	early := a.NewLabel()
	a.RI(asm.SUB, planeSkip, 1)
	a.Jcc(asm.CondGE, early)
	g.store()
	a.Bind(early)
	for p := range g.sums {
		for i := 1; i < g.live(); i++ {
			a.RR(asm.VMOVAPS, g.sums[p][i-1], g.sums[p][i])
		}
	}
	a.RI(asm.SUB, planeLeft, 1)
	a.Jcc(asm.CondNE, next)
}

// row adds the products of a row of the source, which is row r modulo the step of the taps. Rows
// outside of the planes are zeros.
func (g *planeGen) row(r int) {
	a := &g.Asm
	outside, done := a.NewLabel(), a.NewLabel()
	a.RR(asm.CMP, planeRow, planeHeight)
	a.Jcc(asm.CondAE, outside)
	a.RM(asm.LEA, planeScratch, asm.Idx(planeSrc, srcPlane, uint8(g.planes), 0))
	for p := range g.sums {
		if g.stepX == 1 {
			// The same row of the next planes.
			a.M(asm.PREFETCHT0, srcOf(planeScratch, p, 0))
		}
		g.read(p)
		g.add(p, r)
	}
	a.Jmp(done)
	a.Bind(outside)
	for _, t := range g.taps {
		g.Zero(t)
	}
	for p := range g.sums {
		g.add(p, r)
	}
	a.Bind(done)
	a.RI(asm.ADD, planeRow, 1)
	a.RR(asm.ADD, planeSrc, planeSrcRow)
}

// read loads the elements of a row of plane p for all taps.
func (g *planeGen) read(p int) {
	a := &g.Asm
	move := g.Pick(asm.VMOVUPS, asm.VMOVUPD)
	at := func(i int) asm.Mem { return srcOf(planeSrc, p, g.column(i, g.Lanes())*g.D.Size()) }
	for t, r := range g.taps {
		if g.stepX == 1 {
			a.MaskZ(asm.K(1+t)).RM(move, r, at(t))
			continue
		}
		if t%2 == 0 {
			a.MaskZ(asm.K(1+t)).RM(move, g.pair[0], at(t))
			a.MaskZ(asm.K(2+t)).RM(move, g.pair[1], at(t+1))
		}
		a.RR(asm.VMOVAPS, r, g.pair[0])
		a.RRR(g.Pick(asm.VPERMT2PS, asm.VPERMT2PD), r, g.order[t%2], g.pair[1])
	}
}

// add adds the products of a row of plane p to the sums that it takes part in.
func (g *planeGen) add(p, r int) {
	for t, x := range g.taps {
		for y := r; y < g.kh; y += g.stepY {
			g.RRM(g.Pick(asm.VFMADD231PS, asm.VFMADD231PD), g.sums[p][g.live()-1-y/g.stepY], x, asm.Ptr(planeWeights, int32(((p*g.kh+y)*g.kw+t)*g.D.Size())).B())
		}
	}
}

// store writes a row of the result.
func (g *planeGen) store() {
	a := &g.Asm
	a.RM(asm.LEA, planeScratch, asm.Idx(planeDst, dstPlane, uint8(g.planes), 0))
	add := g.Pick(asm.VADDPS, asm.VADDPD)
	for p := range g.sums {
		a.M(asm.PREFETCHW, dstOf(planeScratch, p, 0))
		a.RRR(add, g.sums[p][0], g.sums[p][0], g.zero)
	}
	plain := a.NewLabel()
	g.get(planeScratch, unsafe.Offsetof(pf.bias))
	a.RR(asm.TEST, planeScratch, planeScratch)
	a.Jcc(asm.CondE, plain)
	for p := range g.sums {
		a.RRM(add, g.sums[p][0], g.sums[p][0], asm.Ptr(planeScratch, int32(p*g.D.Size())).B())
	}
	a.Bind(plain)
	for p := range g.sums {
		// NaN stays: an extreme of x86 is its second operand where either is NaN.
		a.RRR(g.Pick(asm.VMAXPS, asm.VMAXPD), g.sums[p][0], g.low, g.sums[p][0])
		a.RRR(g.Pick(asm.VMINPS, asm.VMINPD), g.sums[p][0], g.high, g.sums[p][0])
		g.StoreMasked(dstOf(planeDst, p, 0), g.sums[p][0], asm.K7, 0)
	}
	a.RM(asm.ADD, planeDst, codegen.Field(unsafe.Offsetof(pf.dstRow)))
}
