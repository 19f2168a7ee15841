package x86

import "weft/internal/x86/asm"

// What is known of an instruction's memory operand.
const (
	foldAt       = 3      // the operand that may be memory
	foldCommutes = 1 << 2 // and it may change places with the one before
	foldBcast4   = 1 << 3 // or one element for all lanes, on AVX-512
	foldBcast8   = 1 << 4
)

// foldOf returns which operand of op may be memory, 0 if none.
func foldOf(op asm.Op) uint8 {
	switch op {
	case pFma:
		return 3 | foldBcast4
	case pFmaD:
		return 3 | foldBcast8
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
		asm.VPADDD, asm.VPMULLD, asm.VPMINSD, asm.VPMAXSD, asm.VPANDD, asm.VPORD, asm.VPXORD)
	put(2|foldCommutes|foldBcast8, asm.VADDPD, asm.VMULPD, asm.VANDPD, asm.VORPD, asm.VXORPD,
		asm.VPADDQ, asm.VPMULLQ, asm.VPMULUDQ, asm.VPMINSQ, asm.VPMAXSQ, asm.VPANDQ, asm.VPORQ, asm.VPXORQ)
	put(2|foldCommutes, asm.VPAND, asm.VPOR, asm.VPXOR, asm.VPCMPEQD, asm.VPCMPEQQ)
	put(2|foldBcast4, asm.VSUBPS, asm.VDIVPS, asm.VMINPS, asm.VMAXPS, asm.VCMPPS, asm.VPSUBD, asm.VPCMPD,
		asm.VPSLLVD, asm.VPSRLVD, asm.VPSRAVD, asm.VBLENDMPS)
	put(2|foldBcast8, asm.VSUBPD, asm.VDIVPD, asm.VMINPD, asm.VMAXPD, asm.VCMPPD, asm.VPSUBQ, asm.VPCMPQ,
		asm.VPSLLVQ, asm.VPSRLVQ, asm.VPSRAVQ, asm.VBLENDMPD)
	put(2, asm.VPANDN, asm.VPCMPGTD, asm.VPCMPGTQ, asm.VBLENDVPS, asm.VBLENDVPD)
	put(1|foldBcast4, asm.VSQRTPS, asm.VRNDSCALEPS, asm.VCVTDQ2PS, asm.VCVTTPS2DQ)
	put(1|foldBcast8, asm.VSQRTPD, asm.VRNDSCALEPD)
	put(1, pMovFold, asm.VROUNDPS, asm.VROUNDPD, asm.ADD, asm.SUB, asm.AND, asm.CMP, asm.IMUL)
	t[0] = 0
	return t
}()

// pMovFold keeps the table's index in range; moves are folded by rewrite.
const pMovFold asm.Op = 0
