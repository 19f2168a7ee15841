package pooling

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/x86/asm"
)

// A pairsFrame holds the arguments of the kernels for means of windows two wide that lie side
// by side and one below the other, and for their gradient. Steps are in bytes.
type pairsFrame struct {
	x, y         unsafe.Pointer
	step         int // from line to line of x
	rows         int // of windows; counted down
	vectors      int // of a row; the last may overlap the one before
	last         int // where that is in y
	nextX, nextY int // from row to row
	scale        uint64
}

var pf pairsFrame

// paired reports whether windows have that form, with at least as many in a row as a vector
// holds.
func (p *Pool) paired(lanes int) bool {
	return p.ISA != jit.Portable && p.KW == 2 && p.StepW == 2 && p.StepH == p.KH && p.KH <= maxSide && p.PadH == 0 && p.PadW == 0 && p.OW >= lanes
}

// pairs runs a kernel over all planes; spread is that of the gradient, which writes x.
func pairs[T float](p *Pool, r routine, x, y unsafe.Pointer) {
	size := int(unsafe.Sizeof(T(0)))
	lanes := 32 / size
	code := codegen.Kernel(codes, key{routine: r, dtype: floatType[T](), kh: p.KH})
	n, m := p.H*p.W, p.OH*p.OW
	par.Run(p.Planes, grain(p.Planes, n*size), codegen.Threads(p.Planes*n*size/maximaPerNS), func(_, begin, end int) {
		planes := 1
		if p.H == p.OH*p.KH { // rows of windows go on in the next plane
			planes = end - begin
		}
		for i := begin; i < end; i += planes {
			if r == spreadPairsRoutine {
				for plane := i; plane < i+planes; plane++ {
					clearBeside(p, of[T](x, plane, n))
				}
			}
			f := pairsFrame{x: unsafe.Add(x, i*n*size), y: unsafe.Add(y, i*m*size), step: p.W * size, rows: planes * p.OH,
				vectors: (p.OW + lanes - 1) / lanes, last: (p.OW - lanes) * size, nextX: p.KH * p.W * size, nextY: p.OW * size, scale: scaleBits[T](p)}
			jit.Call(code, 0, unsafe.Pointer(&f))
		}
	})
}

// clearBeside writes zeros to the elements of a plane that no window has.
func clearBeside[T float](p *Pool, dx []T) {
	for h := 0; h < p.H && p.OW*p.KW < p.W; h++ {
		clear(dx[h*p.W+p.OW*p.KW : (h+1)*p.W])
	}
	clear(dx[p.OH*p.KH*p.W:])
}

// pairs writes the kernel for means, or for their gradient.
func (g *writer) pairs() {
	l, a := g.laner(), &g.Asm
	const (
		x, y, step, left, off, line, rows = asm.RSI, asm.RBX, asm.R8, asm.R9, asm.R10, asm.R11, asm.R12
	)
	scale, t, u, even, sum, odd := asm.Y(0), asm.Y(1), asm.Y(2), asm.Y(3), asm.Y(4), asm.Y(5)
	low, high := int64(0x88), int64(0xDD)
	if l.es == 8 {
		low, high = 0, 0xF
	}
	shuffle, add := l.pick(asm.VSHUFPS, asm.VSHUFPD), l.pick(asm.VADDPS, asm.VADDPD)
	l.get(x, unsafe.Offsetof(pf.x))
	l.get(y, unsafe.Offsetof(pf.y))
	l.get(step, unsafe.Offsetof(pf.step))
	l.get(rows, unsafe.Offsetof(pf.rows))
	a.RM(l.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), scale, codegen.Field(unsafe.Offsetof(pf.scale)))
	row := a.Here()
	a.RR(asm.XOR32, off, off)
	l.get(left, unsafe.Offsetof(pf.vectors))
	next := a.Here()
	whole := a.NewLabel()
	a.RI(asm.CMP, left, 1)
	a.Jcc(asm.CondNE, whole)
	l.get(off, unsafe.Offsetof(pf.last))
	a.Bind(whole)
	a.RM(asm.LEA, line, asm.Idx(x, off, 2, 0))
	if g.routine == spreadPairsRoutine {
		a.RRM(l.pick(asm.VMULPS, asm.VMULPD), t, scale, asm.Idx(y, off, 1, 0))
		a.RRR(l.pick(asm.VUNPCKLPS, asm.VUNPCKLPD), u, t, t)
		a.RRR(l.pick(asm.VUNPCKHPS, asm.VUNPCKHPD), t, t, t)
		a.RRRI(asm.VPERM2F128, even, u, t, 0x20)
		a.RRRI(asm.VPERM2F128, odd, u, t, 0x31)
	}
	for i := range g.kh {
		if i > 0 {
			a.RR(asm.ADD, line, step)
		}
		if g.routine == spreadPairsRoutine {
			a.MR(l.load, asm.Ptr(line, 0), even)
			a.MR(l.load, asm.Ptr(line, 32), odd)
			continue
		}
		a.RM(l.load, t, asm.Ptr(line, 0))
		a.RM(l.load, u, asm.Ptr(line, 32))
		a.RRRI(shuffle, even, t, u, low)
		a.RRRI(shuffle, odd, t, u, high)
		if i == 0 {
			a.RRR(add, sum, even, odd)
		} else {
			a.RRR(add, sum, sum, even)
			a.RRR(add, sum, sum, odd)
		}
	}
	if g.routine == meanPairsRoutine {
		a.RRR(l.pick(asm.VMULPS, asm.VMULPD), sum, sum, scale)
		a.RRI(asm.VPERMPD, sum, sum, 0xD8)
		a.MR(l.load, asm.Idx(y, off, 1, 0), sum)
	}
	a.RI(asm.ADD, off, 32)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	a.RM(asm.ADD, x, codegen.Field(unsafe.Offsetof(pf.nextX)))
	a.RM(asm.ADD, y, codegen.Field(unsafe.Offsetof(pf.nextY)))
	a.RI(asm.SUB, rows, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}
