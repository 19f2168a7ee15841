package pooling

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// Limits of the windows that the pooling kernel supports: it is unrolled over their elements.
const (
	maxPoolSide = 16
	maxPoolStep = 6 // with AVX-512, a mask for each vector that windows begin in, but for two
)

const prefetchDistance = 4 << 10 // bytes; the hardware prefetcher stops at the end of a page

// A poolFrame holds the arguments of the pooling kernel. Steps are in bytes.
type poolFrame struct {
	x, y         unsafe.Pointer // the first row's windows and their maxima
	maxima       unsafe.Pointer // where the maxima of columns are written
	first        unsafe.Pointer // where the column maxima of the first window are
	step         int            // from line to line of x
	nextX, nextY int            // to the next row of windows
	sizeX, sizeY int            // bytes of a row of windows to prefetch, or 0
	rows         int            // of windows
	// Of a line and of a row of windows: whole vectors, and elements behind them.
	vectors, rest, outVectors, outRest int
}

var mf poolFrame

// poolCode returns the kernel for windows of the given number of lines, nil if there is none.
func poolCode[T float](p *Pool, lines int) *jit.Code {
	if p.ISA == jit.Portable || p.KH > maxPoolSide || p.KW > maxPoolSide || p.StepW > maxPoolStep {
		return nil
	}
	return codegen.Kernel(codes, key{routine: poolRoutine, wide: p.ISA == jit.AVX512, dtype: floatType[T](), kh: lines, kw: p.KW, stepW: p.StepW})
}

// A pooler writes the pooling kernel.
type pooler struct {
	*writer
	es, vb, lanes int
	v             func(i int) asm.Reg
	load          asm.Op
	lowest, nan   asm.Reg    // -Inf and NaN
	spread        [2]asm.Reg // places of windows' elements, and of their neighbors
	restX, restY  asm.Reg    // masks of what is behind whole vectors
	part, undef   asm.Reg    // with AVX2: a temporary, lanes with NaN
}

// poolOrdered is the mask of lanes without NaN.
const poolOrdered = asm.K1

// pool writes the kernel. For each row of windows it first writes the maximum of each column
// side by side to memory that fits in the L1 cache. Then it takes the maxima of each window's
// columns from there.
func (g *writer) pool() {
	const (
		x, y, step, left, rows = asm.RSI, asm.RBX, asm.R10, asm.R11, asm.R15
		from, to, line         = asm.RAX, asm.R13, asm.RDX
	)
	a := &g.Asm
	p := &pooler{writer: g, es: g.dtype.Size(), vb: 32, v: asm.Y}
	if g.wide {
		p.vb, p.v = 64, asm.Z
	}
	p.lanes = p.vb / p.es
	p.load = p.pick(asm.VMOVUPS, asm.VMOVUPD)
	p.constants()
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, codegen.Field(offset)) }
	// each writes body for whole vectors and, under a mask, for what is behind them.
	each := func(vectors, rest uintptr, mask asm.Reg, body func(mask asm.Reg)) {
		behind, end := a.NewLabel(), a.NewLabel()
		get(left, vectors)
		a.RR(asm.TEST, left, left)
		a.Jcc(asm.CondE, behind)
		next := a.Here()
		body(asm.NoReg)
		a.RI(asm.SUB, left, 1)
		a.Jcc(asm.CondNE, next)
		a.Bind(behind)
		a.MI(asm.CMP, codegen.Field(rest), 0)
		a.Jcc(asm.CondE, end)
		body(mask)
		a.Bind(end)
	}
	// prefetch writes a loop that prefetches what the next rows of windows read or write.
	prefetch := func(op asm.Op, base asm.Reg, bytes uintptr) {
		none := a.NewLabel()
		get(left, bytes)
		a.RR(asm.TEST, left, left)
		a.Jcc(asm.CondE, none)
		a.RM(asm.LEA, from, asm.Ptr(base, prefetchDistance))
		next := a.Here()
		a.M(op, asm.Ptr(from, 0))
		a.RI(asm.ADD, from, 64)
		a.RI(asm.SUB, left, 64)
		a.Jcc(asm.CondG, next)
		a.Bind(none)
	}

	get(x, unsafe.Offsetof(mf.x))
	get(y, unsafe.Offsetof(mf.y))
	get(step, unsafe.Offsetof(mf.step))
	get(rows, unsafe.Offsetof(mf.rows))
	row := a.Here()
	prefetch(asm.PREFETCHT0, x, unsafe.Offsetof(mf.sizeX))
	prefetch(asm.PREFETCHW, y, unsafe.Offsetof(mf.sizeY))
	a.RR(asm.MOV, from, x)
	get(to, unsafe.Offsetof(mf.maxima))
	each(unsafe.Offsetof(mf.vectors), unsafe.Offsetof(mf.rest), p.restX, func(mask asm.Reg) {
		a.RR(asm.MOV, line, from)
		best := p.greatest(g.kh, func(r asm.Reg, i int) {
			if i > 0 {
				a.RR(asm.ADD, line, step)
			}
			p.column(r, asm.Ptr(line, 0), mask)
		})
		a.MR(p.load, asm.Ptr(to, 0), best)
		a.RI(asm.ADD, from, int64(p.vb))
		a.RI(asm.ADD, to, int64(p.vb))
	})
	get(from, unsafe.Offsetof(mf.first))
	a.RR(asm.MOV, to, y)
	each(unsafe.Offsetof(mf.outVectors), unsafe.Offsetof(mf.outRest), p.restY, func(mask asm.Reg) {
		best := p.greatest(g.kw, func(r asm.Reg, i int) { p.deinterleave(r, asm.Ptr(from, 0), i) })
		p.store(asm.Ptr(to, 0), best, mask)
		a.RI(asm.ADD, from, int64(p.vb*g.stepW))
		a.RI(asm.ADD, to, int64(p.vb))
	})
	a.RM(asm.ADD, x, codegen.Field(unsafe.Offsetof(mf.nextX)))
	a.RM(asm.ADD, y, codegen.Field(unsafe.Offsetof(mf.nextY)))
	a.RI(asm.SUB, rows, 1)
	a.Jcc(asm.CondNE, row)
	g.Done()
}

func (p *pooler) pick(single, double asm.Op) asm.Op {
	if p.es == 4 {
		return single
	}
	return double
}

// constants loads the constants that stay in registers.
func (p *pooler) constants() {
	a := &p.Asm
	p.lowest, p.nan, p.spread = p.v(4), p.v(5), [2]asm.Reg{p.v(6), p.v(11)}
	p.restX, p.restY = p.mask(unsafe.Offsetof(mf.rest), asm.K2, p.v(7)), p.mask(unsafe.Offsetof(mf.outRest), asm.K7, p.v(8))
	p.part, p.undef = p.v(9), p.v(10)
	infinity, nan := a.Const32(0xFF800000), a.Const32(0x7FC00000)
	if p.es == 8 {
		infinity, nan = a.Const64(0xFFF<<52), a.Const64(0x7FF8<<48)
	}
	a.RM(p.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), p.lowest, infinity)
	a.RM(p.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), p.nan, nan)
	for k, r := range p.spread {
		places := make([]byte, p.vb)
		for i := range p.lanes {
			binary.LittleEndian.PutUint32(places[i*p.es:], uint32(i*p.stepW+k))
		}
		a.RM(p.load, r, a.ConstBytes(places))
	}
	for j := 2; p.wide && j < p.stepW; j++ {
		a.MovImm(asm.RAX, p.lanesIn(j))
		a.RR(asm.KMOVW, asm.K(1+j), asm.RAX)
	}
}

// lanesIn returns the mask of the lanes whose window begins in vector j of the line.
func (p *pooler) lanesIn(j int) int64 {
	var m int64
	for i := range p.lanes {
		if i*p.stepW/p.lanes == j {
			m |= 1 << i
		}
	}
	return m
}

// mask makes a mask of the first lanes; a field has their number.
func (p *pooler) mask(rest uintptr, k, v asm.Reg) asm.Reg {
	a := &p.Asm
	a.RM(asm.MOV, asm.RAX, codegen.Field(rest))
	if p.wide {
		a.MovImm(asm.RCX, -1)
		a.RRR(asm.BZHI, asm.RCX, asm.RCX, asm.RAX)
		a.RR(asm.KMOVW, k, asm.RCX)
		return k
	}
	ones := make([]byte, 2*p.vb)
	for i := range p.vb {
		ones[i] = 0xFF
	}
	a.RM(asm.LEA, asm.RCX, a.ConstBytes(ones).Add(int32(p.vb)))
	a.RI(asm.SHL, asm.RAX, int64(p.es/4+1))
	a.RR(asm.SUB, asm.RCX, asm.RAX)
	a.RM(p.load, v, asm.Ptr(asm.RCX, 0))
	return v
}

// column loads a vector of a line, perhaps under a mask, with -Inf in the other lanes.
func (p *pooler) column(r asm.Reg, m asm.Mem, mask asm.Reg) {
	a := &p.Asm
	switch {
	case mask == asm.NoReg:
		a.RM(p.load, r, m)
	case p.wide:
		a.RR(p.pick(asm.VMOVAPS, asm.VMOVAPD), r, p.lowest)
		a.Mask(mask).RM(p.load, r, m)
	default:
		a.RRM(p.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), r, mask, m)
		a.RRRR(p.pick(asm.VBLENDVPS, asm.VBLENDVPD), r, p.lowest, r, mask)
	}
}

// deinterleave loads element k of each window.
func (p *pooler) deinterleave(r asm.Reg, m asm.Mem, k int) {
	a := &p.Asm
	// Where all are in the same vectors, these are read as they were written: any other load
	// of what was just stored waits long.
	if p.stepW != 2 || p.kw > 2 {
		m, k = m.Add(int32(k*p.es)), 0
	}
	if p.stepW == 1 {
		a.RM(p.load, r, m)
		return
	}
	if p.wide {
		a.RM(p.load, r, m)
		a.RRM(p.pick(asm.VPERMT2PS, asm.VPERMT2PD), r, p.spread[k], m.Add(int32(p.vb)))
		for j := 2; j < p.stepW; j++ {
			a.Mask(asm.K(1+j)).RRM(p.pick(asm.VPERMPS, asm.VPERMPD), r, p.spread[k], m.Add(int32(j*p.vb)))
		}
		return
	}
	for j := range p.stepW {
		t := p.part
		if j == 0 {
			t = r
		}
		if p.es == 4 {
			a.RRM(asm.VPERMPS, t, p.spread[k], m.Add(int32(j*p.vb)))
		} else {
			order := int64(0)
			for i := range p.lanes {
				order |= int64((i*p.stepW+k)%p.lanes) << (2 * i)
			}
			a.RMI(asm.VPERMPD, t, m.Add(int32(j*p.vb)), order)
		}
		if j > 0 {
			a.RRRI(p.pick(asm.VBLENDPS, asm.VBLENDPD), r, r, t, p.lanesIn(j))
		}
	}
}

func (p *pooler) store(m asm.Mem, r, mask asm.Reg) {
	a := &p.Asm
	switch {
	case mask == asm.NoReg:
		a.MR(p.load, m, r)
	case p.wide:
		a.Mask(mask).MR(p.load, m, r)
	default:
		a.MRR(p.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), m, mask, r)
	}
}

// greatest computes the maximum of n vectors, which get loads: the last of equal elements, NaN
// if any is NaN. The processor's maximum of two values is the second if either is NaN. So the
// code notes for all vectors but the last whether they are NaN.
func (p *pooler) greatest(n int, get func(r asm.Reg, i int)) asm.Reg {
	a := &p.Asm
	greater, compare := p.pick(asm.VMAXPS, asm.VMAXPD), p.pick(asm.VCMPPS, asm.VCMPPD)
	noted := false
	note := func(r, s asm.Reg) {
		switch {
		case p.wide && noted:
			a.Mask(poolOrdered).RRRI(compare, poolOrdered, r, s, codegen.Ordered)
		case p.wide:
			a.RRRI(compare, poolOrdered, r, s, codegen.Ordered)
		case noted:
			a.RRRI(compare, p.part, r, s, codegen.Unordered)
			a.RRR(asm.VORPS, p.undef, p.undef, p.part)
		default:
			a.RRRI(compare, p.undef, r, s, codegen.Unordered)
		}
		noted = true
	}
	best, pair := p.v(0), [2]asm.Reg{p.v(1), p.v(2)}
	get(pair[0], 0)
	if n == 1 {
		return pair[0]
	}
	soFar := pair[0]
	for i := 1; i < n-1; i++ {
		get(pair[i%2], i)
		if i%2 == 1 {
			note(pair[0], pair[1])
		}
		a.RRR(greater, best, soFar, pair[i%2])
		soFar = best
	}
	if n%2 == 0 {
		note(pair[0], pair[0])
	}
	last := pair[(n-1)%2]
	get(last, n-1)
	if p.wide {
		result := p.v(3)
		a.RR(p.pick(asm.VMOVAPS, asm.VMOVAPD), result, p.nan)
		a.Mask(poolOrdered).RRR(greater, result, soFar, last)
		return result
	}
	a.RRR(greater, best, soFar, last)
	a.RRR(asm.VORPS, best, best, p.undef)
	return best
}
