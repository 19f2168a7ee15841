package convolution

import (
	"unsafe"

	"weft/internal/cpu/gen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// A planeKey names a kernel that goes down some planes side by side, which share its masks
// alone: no sum of one waits for those of another.
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
}

var pf planeFrame

var planeKernels = jit.NewCache[planeKey, *jit.Code](64)

// live returns how many rows of the result a row of the source takes part in at most.
func (k planeKey) live() int { return tile.Ceil(k.kh, k.stepY) }

// loads returns how many vectors are read of a row: one a tap, or with a step of two pairs,
// whose even and odd elements are those of two taps.
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
	g := &gen.Gen{ISA: k.ISA, D: k.D}
	a := &g.Asm
	const (
		src, dst, weights    = asm.RSI, asm.RDX, asm.RBX
		srcPlane, srcPlane3  = asm.R8, asm.R9
		dstPlane, dstPlane3  = asm.R10, asm.R11
		row, height, srcRow  = asm.RCX, asm.R12, asm.R13
		steps, skip, scratch = asm.R14, asm.R15, asm.RAX
	)
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, gen.Field(offset)) }
	live, used := k.live(), 0
	register := func() asm.Reg { used++; return g.V(used - 1) }
	sums := make([][]asm.Reg, k.planes)
	for p := range sums {
		for range live {
			sums[p] = append(sums[p], register())
		}
	}
	var taps []asm.Reg
	for range k.kw {
		taps = append(taps, register())
	}
	zero := register()
	var pair, order [2]asm.Reg // of a step of two: what is read, and which elements are taken
	g.Zero(zero)
	if k.stepX == 2 {
		for i := range 2 {
			pair[i], order[i] = register(), register()
			numbers := make([]byte, 0, 64)
			for lane := range g.Lanes() {
				numbers = append(numbers, byte(2*lane+i))
				numbers = append(numbers, make([]byte, g.D.Size()-1)...)
			}
			g.Load(order[i], a.ConstBytes(numbers))
		}
	}
	for i := range k.loads() {
		get(scratch, unsafe.Offsetof(pf.masks)+uintptr(i)*8)
		a.RR(asm.KMOVW, asm.K(1+i), scratch)
	}
	get(scratch, unsafe.Offsetof(pf.store))
	a.RR(asm.KMOVW, asm.K7, scratch)
	for p := range sums {
		for _, s := range sums[p] {
			g.Zero(s)
		}
	}
	get(src, unsafe.Offsetof(pf.src))
	a.RM(asm.ADD, src, gen.Field(unsafe.Offsetof(pf.offset)))
	get(dst, unsafe.Offsetof(pf.dst))
	get(weights, unsafe.Offsetof(pf.weights))
	get(srcPlane, unsafe.Offsetof(pf.srcPlane))
	get(dstPlane, unsafe.Offsetof(pf.dstPlane))
	a.RM(asm.LEA, srcPlane3, asm.Idx(srcPlane, srcPlane, 2, 0))
	a.RM(asm.LEA, dstPlane3, asm.Idx(dstPlane, dstPlane, 2, 0))
	get(row, unsafe.Offsetof(pf.row))
	get(height, unsafe.Offsetof(pf.height))
	get(srcRow, unsafe.Offsetof(pf.srcRow))
	get(steps, unsafe.Offsetof(pf.steps))
	get(skip, unsafe.Offsetof(pf.skip))
	plane := func(base, step, step3 asm.Reg, p, disp int) asm.Mem {
		return [...]asm.Mem{asm.Ptr(base, int32(disp)), asm.Idx(base, step, 1, int32(disp)), asm.Idx(base, step, 2, int32(disp)), asm.Idx(base, step3, 1, int32(disp))}[p]
	}
	size := g.D.Size()
	move := g.Pick(asm.VMOVUPS, asm.VMOVUPD)
	read := func(p int) {
		at := func(i int) asm.Mem { return plane(src, srcPlane, srcPlane3, p, k.column(i, g.Lanes())*size) }
		for t := range taps {
			if k.stepX == 1 {
				a.MaskZ(asm.K(1+t)).RM(move, taps[t], at(t))
				continue
			}
			if t%2 == 0 {
				a.MaskZ(asm.K(1+t)).RM(move, pair[0], at(t))
				a.MaskZ(asm.K(2+t)).RM(move, pair[1], at(t+1))
			}
			a.RR(asm.VMOVAPS, taps[t], pair[0])
			a.RRR(g.Pick(asm.VPERMT2PS, asm.VPERMT2PD), taps[t], order[t%2], pair[1])
		}
	}
	fma := g.Pick(asm.VFMADD231PS, asm.VFMADD231PD)

	a.Align(16)
	next := a.Here()
	for p := range sums {
		g.Zero(sums[p][live-1])
	}
	for r := range k.stepY {
		// add adds the row's products to the sums that it takes part in.
		add := func(p int) {
			for t := range taps {
				for y := r; y < k.kh; y += k.stepY {
					a.RRM(fma, sums[p][live-1-y/k.stepY], taps[t], asm.Ptr(weights, int32(((p*k.kh+y)*k.kw+t)*size)).B())
				}
			}
		}
		outside, done := a.NewLabel(), a.NewLabel()
		a.RR(asm.CMP, row, height)
		a.Jcc(asm.CondAE, outside)
		a.RM(asm.LEA, scratch, asm.Idx(src, srcPlane, uint8(k.planes), 0))
		for p := range sums {
			if k.stepX == 1 {
				// The same row of the next planes.
				a.M(asm.PREFETCHT0, plane(scratch, srcPlane, srcPlane3, p, 0))
			}
			read(p)
			add(p)
		}
		a.Jmp(done)
		a.Bind(outside)
		for _, t := range taps {
			g.Zero(t)
		}
		for p := range sums {
			add(p)
		}
		a.Bind(done)
		a.RI(asm.ADD, row, 1)
		a.RR(asm.ADD, src, srcRow)
	}
	early := a.NewLabel()
	a.RI(asm.SUB, skip, 1)
	a.Jcc(asm.CondGE, early)
	a.RM(asm.LEA, scratch, asm.Idx(dst, dstPlane, uint8(k.planes), 0))
	for p := range sums {
		a.M(asm.PREFETCHW, plane(scratch, dstPlane, dstPlane3, p, 0))
		a.RRR(g.Pick(asm.VADDPS, asm.VADDPD), sums[p][0], sums[p][0], zero)
		g.StoreMasked(plane(dst, dstPlane, dstPlane3, p, 0), sums[p][0], asm.K7, 0)
	}
	a.RM(asm.ADD, dst, gen.Field(unsafe.Offsetof(pf.dstRow)))
	a.Bind(early)
	for p := range sums {
		for i := 1; i < live; i++ {
			a.RR(asm.VMOVAPS, sums[p][i-1], sums[p][i])
		}
	}
	a.RI(asm.SUB, steps, 1)
	a.Jcc(asm.CondNE, next)
	g.Done()
	return g.Install(k)
}
