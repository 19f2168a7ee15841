package x86

import (
	"weft/internal/jit"
	"weft/internal/x86/asm"
)

// What is known of an instruction's memory operand.
const (
	foldAt       = 3      // the operand that may be memory
	foldCommutes = 1 << 2 // and those before may be instead
	foldElement  = 1 << 1 // or, on AVX-512, one element for all lanes: times its size
	foldBcast4   = 4 * foldElement
	foldBcast8   = 8 * foldElement
)

// foldOf returns which operand of op may be memory, 0 if none.
func foldOf(op asm.Op) uint8 {
	switch op {
	case pFma:
		return 3 | foldCommutes | foldBcast4
	case pFmaD:
		return 3 | foldCommutes | foldBcast8
	}
	if int(op) < len(folds) {
		return folds[op]
	}
	return 0
}

var folds = func() (t [asm.RDTSC + 1]uint8) {
	put := func(f uint8, ops ...asm.Op) {
		for _, op := range ops {
			t[op] = f
		}
	}
	put(2|foldCommutes|foldBcast4, asm.VADDPS, asm.VMULPS, asm.VANDPS, asm.VORPS, asm.VXORPS,
		asm.VPADDD, asm.VPMULLD, asm.VPMINSD, asm.VPMAXSD, asm.VPMINUD, asm.VPMAXUD, asm.VPANDD, asm.VPORD, asm.VPXORD)
	put(2|foldCommutes|foldBcast8, asm.VADDPD, asm.VMULPD, asm.VANDPD, asm.VORPD, asm.VXORPD,
		asm.VPADDQ, asm.VPMULLQ, asm.VPMULUDQ, asm.VPMINSQ, asm.VPMAXSQ, asm.VPMINUQ, asm.VPMAXUQ, asm.VPANDQ, asm.VPORQ, asm.VPXORQ)
	put(2|foldCommutes, asm.VPAND, asm.VPOR, asm.VPXOR, asm.VPCMPEQB, asm.VPCMPEQW, asm.VPCMPEQD, asm.VPCMPEQQ,
		asm.VPADDB, asm.VPADDW, asm.VPMULLW, asm.VPMINSB, asm.VPMINSW, asm.VPMAXSB, asm.VPMAXSW, asm.VPMINUB, asm.VPMINUW,
		asm.VPMAXUB, asm.VPMAXUW)
	put(2|foldBcast4, asm.VSUBPS, asm.VDIVPS, asm.VMINPS, asm.VMAXPS, asm.VCMPPS, asm.VPSUBD, asm.VPCMPD, asm.VPCMPUD,
		asm.VPSLLVD, asm.VPSRLVD, asm.VPSRAVD, asm.VBLENDMPS, asm.VSCALEFPS,
		asm.VPTESTMD, asm.VPTESTNMD, asm.VPERMPS)
	put(2|foldBcast8, asm.VSUBPD, asm.VDIVPD, asm.VMINPD, asm.VMAXPD, asm.VCMPPD, asm.VPSUBQ, asm.VPCMPQ, asm.VPCMPUQ,
		asm.VPSLLVQ, asm.VPSRLVQ, asm.VPSRAVQ, asm.VBLENDMPD, asm.VSCALEFPD,
		asm.VPTESTMQ, asm.VPTESTNMQ, asm.VPERMPD)
	put(2, asm.VPANDN, asm.VPCMPGTB, asm.VPCMPGTW, asm.VPCMPGTD, asm.VPCMPGTQ, asm.VBLENDVPS, asm.VBLENDVPD, asm.VPBLENDVB, asm.VPBLENDD,
		asm.VPSUBB, asm.VPSUBW, asm.VPCMPB, asm.VPCMPW, asm.VPCMPUB, asm.VPCMPUW, asm.VPBLENDMB, asm.VPBLENDMW,
		asm.VPTESTMB, asm.VPTESTMW, asm.VPTESTNMB, asm.VPTESTNMW)
	put(1, asm.VPABSB, asm.VPABSW)
	put(1|foldBcast4, asm.VSQRTPS, asm.VRNDSCALEPS, asm.VCVTDQ2PS, asm.VCVTTPS2DQ, asm.VCVTUDQ2PS, asm.VCVTTPS2UDQ)
	put(1|foldBcast8, asm.VSQRTPD, asm.VRNDSCALEPD)
	put(1, asm.VROUNDPS, asm.VROUNDPD, asm.ADD, asm.SUB, asm.AND, asm.CMP, asm.IMUL)
	return t
}()

// foldOperand replaces one operand of i by memory, if i can read it there and
// place knows where it is.
func (c *compiler) foldOperand(i *ins, place func(r vr, f uint8) (lmem, bool)) bool {
	f := foldOf(i.op)
	at := int8(f & foldAt)
	if i.memAt >= 0 || f == 0 || int8(i.n) <= at {
		return false
	}
	for j := at; j > 0; j-- {
		if m, ok := place(i.a[j], f); ok {
			if j == 1 && at > 1 {
				i.a[1], j = i.a[2], 2
			}
			i.at(j, m)
			return true
		}
		if f&foldCommutes == 0 || i.a[maskAt] != 0 {
			break
		}
	}
	return false
}

// An occurrence counts what the code does with a register.
type occurrence struct {
	defs, uses int32 // of register zero, which stands for no operand, undefined
}

// countUses collects the occurrences of registers.
func (c *compiler) countUses() {
	c.seen = zeroed(c.seen, len(c.vregs))
	for n := range c.code {
		i := &c.code[n]
		if i.flags&fDef != 0 {
			c.seen[i.a[0].id()].defs++
		}
		for _, v := range i.a[i.written():] {
			c.seen[v.id()].uses++
		}
	}
}

// remove turns i into nothing.
func (i *ins) remove() { *i = ins{op: pNop, memAt: -1} }

// foldOperands lets instructions read from memory what was loaded for them alone,
// where nothing comes between. It is fewer instructions to decode and registers to find.
func (c *compiler) foldOperands() {
	c.countUses()
	pending := c.open[:0] // indices of loads
	masked := false       // the instruction in hand has an opmask
	place := func(r vr, f uint8) (lmem, bool) {
		if r == 0 {
			return lmem{}, false
		}
		for j, l := range pending {
			x := &c.code[l]
			if x.a[0] != r {
				continue
			}
			m, ok := c.inPlace(x.memory(), broadcastSize(x.op), f)
			// A load by a masked instruction is a masked load, in which the processor sees no
			// stream to read ahead of (Zen 5): three times as long from the third cache.
			if ok = ok && (!masked || m.bcast); ok {
				x.remove()
				pending = append(pending[:j], pending[j+1:]...)
			}
			return m, ok
		}
		return lmem{}, false
	}
	for n := range c.code {
		i := &c.code[n]
		if i.barrier() {
			pending = pending[:0]
			continue
		}
		if len(pending) > 0 {
			masked = i.a[maskAt] != 0
			c.foldOperand(i, place)
		}
		switch {
		case i.flags&fDef == 0 && i.memAt == 0:
			pending = pending[:0] // a store
		case i.flags&fDef != 0:
			d := i.a[0].id()
			for j := 0; j < len(pending); j++ {
				if x := &c.code[pending[j]]; x.a[baseAt].id() == d || x.a[indexAt].id() == d {
					pending = append(pending[:j], pending[j+1:]...)
					j--
				}
			}
			switch i.op {
			case asm.VMOVUPS, asm.VBROADCASTSS, asm.VBROADCASTSD:
				if o := c.seen[d]; i.memAt == 1 && i.a[maskAt] == 0 && o.defs == 1 && o.uses == 1 && c.vregs[d].remat == 0 && i.a[baseAt] != frameReg {
					pending = append(pending, int32(n))
				}
			}
		}
	}
	c.open = pending[:0]
}

// inPlace is the operand by which an instruction reads memory itself, if it can: a
// vector, or an element of a size for all lanes.
func (c *compiler) inPlace(m lmem, elem, f uint8) (lmem, bool) {
	m.bcast = elem > 0
	return m, elem == 0 || c.isa == jit.AVX512 && elem >= 4 && f&(elem*foldElement) != 0
}

// broadcastSize returns the size of the element that a load has for all lanes, 0 for none.
func broadcastSize(op asm.Op) uint8 {
	switch op {
	case asm.VBROADCASTSS:
		return 4
	case asm.VBROADCASTSD:
		return 8
	}
	return 0
}
