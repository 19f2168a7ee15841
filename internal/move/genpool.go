package move

import (
	"encoding/binary"
	"unsafe"

	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// Windows that the pooling kernel is made for: it is unrolled over their elements.
const (
	maxPoolSide = 16
	maxPoolStep = 6 // with AVX-512, a mask for each vector that windows begin in, but for two
)

const poolAhead = 4 << 10 // bytes that are asked for ahead: the processor's prefetch ends with the page

// A poolFrame holds the arguments of the pooling kernel. Steps are in bytes.
type poolFrame struct {
	x, y         unsafe.Pointer // the first row's windows and their maxima
	maxima       unsafe.Pointer // of columns: where they are written
	first        unsafe.Pointer // and where those of the first window are
	step         int            // from line to line of x
	nextX, nextY int            // to the next row of windows
	sizeX, sizeY int            // of a row of windows: what is asked for ahead
	rows         int            // of windows
	// Of a line and of a row of windows: whole vectors, and elements behind them.
	vectors, rest, outVectors, outRest int
}

var mf poolFrame

// poolCode returns the kernel for windows of as many lines, nil if there is none.
func poolCode[T float](p *Pool, lines int) *jit.Code {
	if !native() || p.KH > maxPoolSide || p.KW > maxPoolSide || p.StepW > maxPoolStep {
		return nil
	}
	return codeKey{routine: poolRoutine, wide: wide(), dtype: floatType[T](), kh: lines, kw: p.KW, stepW: p.StepW}.code()
}

// A pooler writes the pooling kernel.
type pooler struct {
	*gen
	es, vb, lanes        int
	v                    func(i int) asm.Reg
	load                 asm.Op
	lowest, nan, spread  asm.Reg // -Inf, NaN, the places of windows' elements
	partial, part, undef asm.Reg // with AVX2: the mask of a last vector, a temporary, lanes with NaN
}

// Opmasks: lanes without NaN, and those of a last vector.
const (
	poolOrdered, poolTail = asm.K1, asm.K2
)

// pool writes the kernel. For each row of windows it takes the maxima of columns, which lie
// side by side, into memory within the first cache, and from there those of rows.
func (g *gen) pool() {
	const (
		x, y, step, left, rows = asm.RSI, asm.RBX, asm.R10, asm.R11, asm.R15
		from, to, line         = asm.RAX, asm.R13, asm.RDX
	)
	a := &g.Asm
	p := &pooler{gen: g, es: g.dtype.Size(), vb: 32, v: asm.Y}
	if g.wide {
		p.vb, p.v = 64, asm.Z
	}
	p.lanes = p.vb / p.es
	p.load = p.pick(asm.VMOVUPS, asm.VMOVUPD)
	p.constants()
	get := func(r asm.Reg, offset uintptr) { a.RM(asm.MOV, r, field(offset)) }
	// each writes body for whole vectors and, under a mask, for what is behind them.
	each := func(vectors, rest uintptr, body func(masked bool)) {
		behind, end := a.NewLabel(), a.NewLabel()
		get(left, vectors)
		a.RR(asm.TEST, left, left)
		a.Jcc(asm.CondE, behind)
		next := a.Here()
		body(false)
		a.RI(asm.SUB, left, 1)
		a.Jcc(asm.CondNE, next)
		a.Bind(behind)
		a.RM(asm.MOV, left, field(rest))
		a.RR(asm.TEST, left, left)
		a.Jcc(asm.CondE, end)
		p.mask(left)
		body(true)
		a.Bind(end)
	}
	// ask is for what rows of windows further on read or write.
	ask := func(op asm.Op, base asm.Reg, bytes uintptr) {
		a.RM(asm.LEA, from, asm.Ptr(base, poolAhead))
		get(left, bytes)
		next := a.Here()
		a.M(op, asm.Ptr(from, 0))
		a.RI(asm.ADD, from, 64)
		a.RI(asm.SUB, left, 64)
		a.Jcc(asm.CondG, next)
	}

	get(x, unsafe.Offsetof(mf.x))
	get(y, unsafe.Offsetof(mf.y))
	get(step, unsafe.Offsetof(mf.step))
	get(rows, unsafe.Offsetof(mf.rows))
	row := a.Here()
	ask(asm.PREFETCHT0, x, unsafe.Offsetof(mf.sizeX))
	ask(asm.PREFETCHW, y, unsafe.Offsetof(mf.sizeY))
	a.RR(asm.MOV, from, x)
	get(to, unsafe.Offsetof(mf.maxima))
	each(unsafe.Offsetof(mf.vectors), unsafe.Offsetof(mf.rest), func(masked bool) {
		a.RR(asm.MOV, line, from)
		best := p.greatest(g.kh, func(r asm.Reg, i int) {
			if i > 0 {
				a.RR(asm.ADD, line, step)
			}
			p.column(r, asm.Ptr(line, 0), masked)
		})
		a.MR(p.load, asm.Ptr(to, 0), best)
		a.RI(asm.ADD, from, int64(p.vb))
		a.RI(asm.ADD, to, int64(p.vb))
	})
	get(from, unsafe.Offsetof(mf.first))
	a.RR(asm.MOV, to, y)
	each(unsafe.Offsetof(mf.outVectors), unsafe.Offsetof(mf.outRest), func(masked bool) {
		best := p.greatest(g.kw, func(r asm.Reg, i int) { p.apart(r, asm.Ptr(from, int32(i*p.es))) })
		p.store(asm.Ptr(to, 0), best, masked)
		a.RI(asm.ADD, from, int64(p.vb*g.stepW))
		a.RI(asm.ADD, to, int64(p.vb))
	})
	a.RM(asm.ADD, x, field(unsafe.Offsetof(mf.nextX)))
	a.RM(asm.ADD, y, field(unsafe.Offsetof(mf.nextY)))
	a.RI(asm.SUB, rows, 1)
	a.Jcc(asm.CondNE, row)
	g.done()
}

func (p *pooler) pick(single, double asm.Op) asm.Op {
	if p.es == 4 {
		return single
	}
	return double
}

// constants loads what stays in registers.
func (p *pooler) constants() {
	a := &p.Asm
	p.lowest, p.nan, p.spread = p.v(4), p.v(5), p.v(6)
	p.partial, p.part, p.undef = p.v(7), p.v(8), p.v(9)
	infinity, nan := a.Const32(0xFF800000), a.Const32(0x7FC00000)
	if p.es == 8 {
		infinity, nan = a.Const64(0xFFF<<52), a.Const64(0x7FF8<<48)
	}
	a.RM(p.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), p.lowest, infinity)
	a.RM(p.pick(asm.VBROADCASTSS, asm.VBROADCASTSD), p.nan, nan)
	places := make([]byte, p.vb)
	for i := range p.lanes {
		binary.LittleEndian.PutUint32(places[i*p.es:], uint32(i*p.stepW))
	}
	a.RM(p.load, p.spread, a.ConstBytes(places))
	for j := 2; p.wide && j < p.stepW; j++ {
		a.MovImm(asm.RAX, p.lanesIn(j))
		a.RR(asm.KMOVW, asm.K(1+j), asm.RAX)
	}
}

// lanesIn has the lanes whose window begins in vector j of those that a vector of
// windows begins in.
func (p *pooler) lanesIn(j int) int64 {
	var m int64
	for i := range p.lanes {
		if i*p.stepW/p.lanes == j {
			m |= 1 << i
		}
	}
	return m
}

// mask makes a mask of the first lanes, as many as r says.
func (p *pooler) mask(r asm.Reg) {
	a := &p.Asm
	if p.wide {
		a.MovImm(asm.RCX, -1)
		a.RRR(asm.BZHI, asm.RCX, asm.RCX, r)
		a.RR(asm.KMOVW, poolTail, asm.RCX)
		return
	}
	ones := make([]byte, 2*p.vb)
	for i := range p.vb {
		ones[i] = 0xFF
	}
	a.RM(asm.LEA, asm.RCX, a.ConstBytes(ones).Add(int32(p.vb)))
	a.RI(asm.SHL, r, int64(p.es/4+1))
	a.RR(asm.SUB, asm.RCX, r)
	a.RM(p.load, p.partial, asm.Ptr(asm.RCX, 0))
}

// column loads a vector of a line, perhaps under the mask, with -Inf in the other lanes.
func (p *pooler) column(r asm.Reg, m asm.Mem, masked bool) {
	a := &p.Asm
	switch {
	case !masked:
		a.RM(p.load, r, m)
	case p.wide:
		a.RR(p.pick(asm.VMOVAPS, asm.VMOVAPD), r, p.lowest)
		a.Mask(poolTail).RM(p.load, r, m)
	default:
		a.RRM(p.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), r, p.partial, m)
		a.RRRR(p.pick(asm.VBLENDVPS, asm.VBLENDVPD), r, p.lowest, r, p.partial)
	}
}

// apart loads the elements that lie the windows' step apart.
func (p *pooler) apart(r asm.Reg, m asm.Mem) {
	a := &p.Asm
	if p.stepW == 1 {
		a.RM(p.load, r, m)
		return
	}
	if p.wide {
		a.RM(p.load, r, m)
		a.RRM(p.pick(asm.VPERMT2PS, asm.VPERMT2PD), r, p.spread, m.Add(int32(p.vb)))
		for j := 2; j < p.stepW; j++ {
			a.Mask(asm.K(1+j)).RRM(p.pick(asm.VPERMPS, asm.VPERMPD), r, p.spread, m.Add(int32(j*p.vb)))
		}
		return
	}
	for j := range p.stepW {
		t := p.part
		if j == 0 {
			t = r
		}
		if p.es == 4 {
			a.RRM(asm.VPERMPS, t, p.spread, m.Add(int32(j*p.vb)))
		} else {
			order := int64(0)
			for i := range p.lanes {
				order |= int64(i*p.stepW%p.lanes) << (2 * i)
			}
			a.RMI(asm.VPERMPD, t, m.Add(int32(j*p.vb)), order)
		}
		if j > 0 {
			a.RRRI(p.pick(asm.VBLENDPS, asm.VBLENDPD), r, r, t, p.lanesIn(j))
		}
	}
}

func (p *pooler) store(m asm.Mem, r asm.Reg, masked bool) {
	a := &p.Asm
	switch {
	case !masked:
		a.MR(p.load, m, r)
	case p.wide:
		a.Mask(poolTail).MR(p.load, m, r)
	default:
		a.MRR(p.pick(asm.VMASKMOVPS, asm.VMASKMOVPD), m, p.partial, r)
	}
}

// greatest computes the maximum of n vectors, each of which get loads: of equal elements
// the last, NaN if any is. The processor's maximum of two is the second if either is
// NaN, so that of all but the last it is noted whether they are.
func (p *pooler) greatest(n int, get func(r asm.Reg, i int)) asm.Reg {
	a := &p.Asm
	greater, compare := p.pick(asm.VMAXPS, asm.VMAXPD), p.pick(asm.VCMPPS, asm.VCMPPD)
	noted := false
	note := func(r, s asm.Reg) {
		switch {
		case p.wide && noted:
			a.Mask(poolOrdered).RRRI(compare, poolOrdered, r, s, ordered)
		case p.wide:
			a.RRRI(compare, poolOrdered, r, s, ordered)
		case noted:
			a.RRRI(compare, p.part, r, s, unordered)
			a.RRR(asm.VORPS, p.undef, p.undef, p.part)
		default:
			a.RRRI(compare, p.undef, r, s, unordered)
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
