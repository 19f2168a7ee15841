package pooling

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/x86/asm"
)

// Limits of the windows that the kernels of this file support: they are unrolled over a line of
// a window.
const (
	maxSide = 16
	maxStep = 6
)

// The kernels of this file read deinterleaved lines: the elements of each remainder modulo the
// horizontal step lie side by side. So elements with the same index in neighbouring windows are
// neighbours. The kernels have 256-bit instructions for both instruction sets.

// A windowsFrame holds the arguments of the kernel for a row of windows. Offsets are in bytes.
type windowsFrame struct {
	y, dy   unsafe.Pointer // of the row of windows; for means y is written, and dy is nothing
	at, g   unsafe.Pointer // where the places of the maxima go, and dy as it is
	numbers unsafe.Pointer // a vector of each place's number
	pitch   int            // from remainder to remainder of a line
	vectors int
	again   int // 1: another vector, at last
	last    int
	lines   int    // of the windows that exist: from is the first
	from    int    // in the table
	scale   uint64 // of means
	table   [maxSide]unsafe.Pointer
}

// A spreadFrame holds the arguments of the kernel for a line of a gradient.
type spreadFrame struct {
	out     unsafe.Pointer
	pitch   int // from remainder to remainder of out, for steps of more than two
	vectors int
	again   int
	last    int
	rows    int    // of windows that have the line
	start   uint64 // zero, with the sign from which sums start
	// Of each row, in the order of sums: the places of the maxima, what is spread, and the
	// numbers of the first place of the line.
	at, g, numbers [maxSide]unsafe.Pointer
}

// A splitFrame holds the arguments of the kernel that deinterleaves a line for a step of two.
type splitFrame struct {
	line, even, odd unsafe.Pointer
	vectors         int // of each
}

var (
	wf windowsFrame
	sf spreadFrame
	tf splitFrame
)

// A laner writes kernels of 256-bit vectors.
type laner struct {
	*writer
	es, lanes int
	load      asm.Op
}

func (g *writer) laner() *laner {
	l := &laner{writer: g, es: g.dtype.Size()}
	l.lanes, l.load = 32/l.es, l.pick(asm.VMOVUPS, asm.VMOVUPD)
	return l
}

// remainder returns the operand for remainder s of the line at base.
func remainder(base, pitch, pitch3, pitch5 asm.Reg, s int, disp int32) asm.Mem {
	return [...]asm.Mem{asm.Ptr(base, disp), asm.Idx(base, pitch, 1, disp), asm.Idx(base, pitch, 2, disp),
		asm.Idx(base, pitch3, 1, disp), asm.Idx(base, pitch, 4, disp), asm.Idx(base, pitch5, 1, disp)}[s]
}

// walk writes a loop over vectors, whose offset is in a register, and over a last one that
// overlaps the one before.
func (l *laner) walk(off, left asm.Reg, step int, vectors, again, last uintptr, body func()) {
	a := &l.Asm
	end, one := a.NewLabel(), a.NewLabel()
	a.RR(asm.XOR32, off, off)
	l.get(left, vectors)
	a.RR(asm.TEST, left, left)
	a.Jcc(asm.CondE, one)
	next := a.Here()
	body()
	a.RI(asm.ADD, off, int64(step))
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	a.Bind(one)
	a.MI(asm.CMP, codegen.Field(again), 0)
	a.Jcc(asm.CondE, end)
	a.MI(asm.MOV, codegen.Field(again), 0)
	l.get(off, last)
	a.MovImm(left, 1)
	a.Jmp(next)
	a.Bind(end)
}

// windows writes the kernel for a row of windows: their means, or where their maxima are:
// the number of the first place that has the bits of the maximum, a NaN counting as any other,
// -1 for none.
func (g *writer) windows() {
	l, a := g.laner(), &g.Asm
	const (
		y, dy, at, grad      = asm.RSI, asm.RBX, asm.RDX, asm.RCX
		pitch, pitch3        = asm.R8, asm.R9
		pitch5, off, numbers = asm.R10, asm.R11, asm.R12
		line, left, i        = asm.R13, asm.R15, asm.R14
	)
	sum, value, t, nan, part, scale, best := asm.Y(0), asm.Y(1), asm.Y(2), asm.Y(3), asm.Y(4), asm.Y(5), asm.Y(6)
	l.get(y, unsafe.Offsetof(wf.y))
	l.get(pitch, unsafe.Offsetof(wf.pitch))
	a.RM(asm.LEA, pitch3, asm.Idx(pitch, pitch, 2, 0))
	a.RM(asm.LEA, pitch5, asm.Idx(pitch, pitch, 4, 0))
	place := func(k int) asm.Mem {
		return remainder(line, pitch, pitch3, pitch5, k%g.stepW, int32(k/g.stepW*l.es))
	}
	if g.mean {
		a.RM(l.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), scale, codegen.Field(unsafe.Offsetof(wf.scale)))
		l.walk(off, left, 32, unsafe.Offsetof(wf.vectors), unsafe.Offsetof(wf.again), unsafe.Offsetof(wf.last), func() {
			minus := a.Const32(1 << 31) // which is added to anything without a change
			if l.es == 8 {
				minus = a.Const64(1 << 63)
			}
			a.RM(l.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), sum, minus)
			a.RR(asm.XOR32, i, i)
			next := a.Here()
			a.RM(asm.MOV, line, asm.Idx(asm.RDI, i, 8, int32(unsafe.Offsetof(wf.table))))
			a.RR(asm.ADD, line, off)
			for k := range g.kw {
				a.RRM(l.pick(asm.VADDPS, asm.VADDPD), sum, sum, place(k))
			}
			a.RI(asm.ADD, i, 1)
			a.RM(asm.CMP, i, codegen.Field(unsafe.Offsetof(wf.lines)))
			a.Jcc(asm.CondNE, next)
			a.RRR(l.pick(asm.VMULPS, asm.VMULPD), sum, sum, scale)
			a.MR(l.load, asm.Idx(y, off, 1, 0), sum)
		})
		g.Done()
		return
	}
	l.get(dy, unsafe.Offsetof(wf.dy))
	l.get(at, unsafe.Offsetof(wf.at))
	l.get(grad, unsafe.Offsetof(wf.g))
	// places notes places from the last to the first.
	places := func(unordered bool) {
		l.get(i, unsafe.Offsetof(wf.lines))
		l.get(numbers, unsafe.Offsetof(wf.numbers))
		a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(wf.from)))
		a.RR(asm.ADD, asm.RAX, i)
		a.RRI(asm.IMUL, asm.RAX, asm.RAX, int64(32*g.kw))
		a.RR(asm.ADD, numbers, asm.RAX)
		next := a.Here()
		a.RI(asm.SUB, numbers, int64(32*g.kw))
		a.RM(asm.MOV, line, asm.Idx(asm.RDI, i, 8, int32(unsafe.Offsetof(wf.table))-8))
		a.RR(asm.ADD, line, off)
		for k := g.kw - 1; k >= 0; k-- {
			a.RRM(l.pick(asm.VPCMPEQD, asm.VPCMPEQQ), t, value, place(k))
			if unordered {
				a.RM(l.load, part, place(k))
				a.RRRI(l.pick(asm.VCMPPS, asm.VCMPPD), part, part, part, codegen.Unordered)
				a.RRR(asm.VANDPS, part, part, nan)
				a.RRR(asm.VORPS, t, t, part)
			}
			a.RM(l.load, part, asm.Ptr(numbers, int32(32*k)))
			a.RRRR(l.pick(asm.VBLENDVPS, asm.VBLENDVPD), best, best, part, t)
		}
		a.RI(asm.SUB, i, 1)
		a.Jcc(asm.CondNE, next)
	}
	l.walk(off, left, 32, unsafe.Offsetof(wf.vectors), unsafe.Offsetof(wf.again), unsafe.Offsetof(wf.last), func() {
		a.RM(l.load, value, asm.Idx(y, off, 1, 0))
		a.RM(l.load, t, asm.Idx(dy, off, 1, 0))
		a.MR(l.load, asm.Idx(grad, off, 1, 0), t)
		a.RRR(l.pick(asm.VPCMPEQD, asm.VPCMPEQQ), best, best, best)
		a.RRRI(l.pick(asm.VCMPPS, asm.VCMPPD), nan, value, value, codegen.Unordered)
		a.RR(l.pick(asm.VMOVMSKPS, asm.VMOVMSKPD), asm.RAX, nan)
		some, done := a.NewLabel(), a.NewLabel()
		a.RR(asm.TEST, asm.RAX, asm.RAX)
		a.Jcc(asm.CondNE, some)
		places(false)
		a.Jmp(done)
		a.Bind(some)
		places(true)
		a.Bind(done)
		a.MR(l.load, asm.Idx(at, off, 1, 0), best)
	})
	g.Done()
}

// spread writes the kernel for a line of a gradient. Each element is a sum over the windows
// that have it. Windows of maxima are added in ascending order. Windows of means are added in
// descending order, which is the ascending order of places in a window.
func (g *writer) spread() {
	l, a := g.laner(), &g.Asm
	const (
		out, pitch, pitch3, pitch5 = asm.RSI, asm.R8, asm.R9, asm.R10
		off, left, i               = asm.R11, asm.R15, asm.R14
		at, grad, numbers          = asm.RDX, asm.RCX, asm.R12
		to                         = asm.R13
	)
	sums := make([]asm.Reg, g.stepW)
	for s := range sums {
		sums[s] = asm.Y(s)
	}
	t, u, start := asm.Y(6), asm.Y(7), asm.Y(8)
	l.get(out, unsafe.Offsetof(sf.out))
	l.get(pitch, unsafe.Offsetof(sf.pitch))
	a.RM(asm.LEA, pitch3, asm.Idx(pitch, pitch, 2, 0))
	a.RM(asm.LEA, pitch5, asm.Idx(pitch, pitch, 4, 0))
	a.RM(l.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), start, codegen.Field(unsafe.Offsetof(sf.start)))
	l.walk(off, left, 32, unsafe.Offsetof(sf.vectors), unsafe.Offsetof(sf.again), unsafe.Offsetof(sf.last), func() {
		for s, r := range sums {
			if s < g.kw {
				a.RR(asm.VMOVAPS, r, start)
			} else {
				a.RRR(asm.VXORPS, r, r, r)
			}
		}
		none := a.NewLabel()
		a.RR(asm.XOR32, i, i)
		a.RM(asm.CMP, i, codegen.Field(unsafe.Offsetof(sf.rows)))
		a.Jcc(asm.CondE, none)
		next := a.Here()
		field := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, asm.Idx(asm.RDI, i, 8, int32(offset))) }
		field(grad, unsafe.Offsetof(sf.g))
		a.RR(asm.ADD, grad, off)
		if !g.mean {
			field(at, unsafe.Offsetof(sf.at))
			a.RR(asm.ADD, at, off)
			field(numbers, unsafe.Offsetof(sf.numbers))
		}
		for s, r := range sums {
			n := (g.kw - s + g.stepW - 1) / g.stepW // windows side by side
			for q := range max(n, 0) {
				j := n - 1 - q
				if g.mean {
					a.RRM(l.pick(asm.VADDPS, asm.VADDPD), r, r, asm.Ptr(grad, int32(-q*l.es)))
					continue
				}
				a.RM(l.load, t, asm.Ptr(numbers, int32(32*(s+j*g.stepW))))
				a.RRM(l.pick(asm.VPCMPEQD, asm.VPCMPEQQ), t, t, asm.Ptr(at, int32(-j*l.es)))
				a.RRM(asm.VANDPS, t, t, asm.Ptr(grad, int32(-j*l.es)))
				a.RRR(l.pick(asm.VADDPS, asm.VADDPD), r, r, t)
			}
		}
		a.RI(asm.ADD, i, 1)
		a.RM(asm.CMP, i, codegen.Field(unsafe.Offsetof(sf.rows)))
		a.Jcc(asm.CondNE, next)
		a.Bind(none)
		if g.stepW == 2 {
			a.RRR(l.pick(asm.VUNPCKLPS, asm.VUNPCKLPD), t, sums[0], sums[1])
			a.RRR(l.pick(asm.VUNPCKHPS, asm.VUNPCKHPD), u, sums[0], sums[1])
			a.RRRI(asm.VPERM2F128, sums[0], t, u, 0x20)
			a.RRRI(asm.VPERM2F128, sums[1], t, u, 0x31)
			a.MR(l.load, asm.Idx(out, off, 2, 0), sums[0])
			a.MR(l.load, asm.Idx(out, off, 2, 32), sums[1])
			return
		}
		a.RM(asm.LEA, to, asm.Idx(out, off, 1, 0))
		for s, r := range sums {
			a.MR(l.load, remainder(to, pitch, pitch3, pitch5, s, 0), r)
		}
	})
	g.Done()
}

// split writes the kernel that deinterleaves a line into its even and its odd elements.
func (g *writer) split() {
	l, a := g.laner(), &g.Asm
	const line, even, odd, left = asm.RSI, asm.RDX, asm.RCX, asm.R8
	l.get(line, unsafe.Offsetof(tf.line))
	l.get(even, unsafe.Offsetof(tf.even))
	l.get(odd, unsafe.Offsetof(tf.odd))
	l.get(left, unsafe.Offsetof(tf.vectors))
	next := a.Here()
	a.RM(l.load, asm.Y(0), asm.Ptr(line, 0))
	a.RM(l.load, asm.Y(1), asm.Ptr(line, 32))
	for i, to := range []asm.Reg{even, odd} {
		order := [2]int64{0x88, 0xDD}[i]
		if l.es == 8 {
			order = [2]int64{0, 0xF}[i]
		}
		a.RRRI(l.pick(asm.VSHUFPS, asm.VSHUFPD), asm.Y(2), asm.Y(0), asm.Y(1), order)
		a.RRI(asm.VPERMPD, asm.Y(2), asm.Y(2), 0xD8)
		a.MR(l.load, asm.Ptr(to, 0), asm.Y(2))
		a.RI(asm.ADD, to, 32)
	}
	a.RI(asm.ADD, line, 64)
	a.RI(asm.SUB, left, 1)
	a.Jcc(asm.CondNE, next)
	g.Done()
}
