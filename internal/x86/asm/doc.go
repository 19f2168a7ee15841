// Package asm encodes x86-64 instructions: general-purpose ones, AVX, AVX2, FMA,
// BMI and AVX-512 with opmasks, zeroing, embedded broadcast and compressed
// displacements.
//
// # Use
//
// Instructions go through helpers named after their operand kinds, destination
// first: R register, M memory, I immediate.
//
//	var a asm.Asm
//	one := a.Const32(math.Float32bits(1))
//	loop := a.Here()
//	a.RM(asm.VMOVUPS, asm.Z(0), asm.Idx(asm.RSI, asm.RAX, 4, 0))
//	a.RRM(asm.VADDPS, asm.Z(0), asm.Z(0), one.B())          // 1.0 in every lane
//	a.MaskZ(asm.K1).RRR(asm.VMULPS, asm.Z(0), asm.Z(0), asm.Z(1))
//	a.MR(asm.VMOVUPS, asm.Idx(asm.RDI, asm.RAX, 4, 0), asm.Z(0))
//	a.RI(asm.ADD, asm.RAX, 16)
//	a.RR(asm.CMP, asm.RAX, asm.RCX)
//	a.Jcc(asm.CondL, loop)
//	a.Op0(asm.VZEROUPPER)
//	a.Op0(asm.RET)
//	code, err := a.Finish()
//
// Nothing panics: an operand that cannot be encoded, a label that is never bound and
// the like are collected and returned by Finish. The vector length comes from the
// register names (X, Y, Z). VEX is chosen where it can encode an instruction, EVEX
// where a register above 15, 512 bits, a mask or a broadcast asks for it.
//
// Names are Intel's. A general-purpose op works on 64 bits and has a sibling with
// suffix 32 (ADD, ADD32); scalar conversions to and from 64-bit integers end in Q
// (VCVTSI2SD, VCVTSI2SDQ); MOVZX8, MOVSX16 and so on name the source's width.
//
// The encoder does not ask what the processor has. Everything EVEX is in AVX-512 F, BW,
// DQ, VL and CD except VPOPCNTB/W (BITALG), VPOPCNTD/Q (VPOPCNTDQ), VPDPBUSD and
// VPDPWSSD (VNNI) and VCVTNEPS2BF16 (BF16). Static rounding and exception suppression
// are not encoded: weft computes in the default rounding mode with exceptions masked.
//
// # Adding an instruction
//
// Add one row to ops.tbl and run go generate. The columns, from the notation of the
// Intel SDM (volume 2, 3.1):
//
//	name     the Go constant; a trailing cc stands for the sixteen conditions
//	opcode   prefix (NP, 66, F3, F2), map (00, 0F, 0F38, 0F3A), opcode byte and,
//	         after a slash, the ModRM.reg extension
//	VEX      VEX.W, or g and REX.W for a legacy encoding, or - for none
//	EVEX     EVEX.W or -
//	size     bytes of the memory operand, which are the disp8 scale of EVEX:
//	         f full vector, f4 and f8 full with a broadcast of 4 or 8 bytes,
//	         h half, h4 half with broadcast, q a fourth, o an eighth, dup MOVDDUP's, e4 and e8
//	         full but scaled by elements,
//	         a number of bytes, or - for none
//	operands a role letter and a class letter each, in Intel order:
//	         R ModRM.reg, M ModRM.rm (register or memory), N register only, m memory
//	         only, V VEX.vvvv, O in the opcode, 4 in an immediate's high nibble,
//	         G memory with a vector index, A the accumulator, C the register CL;
//	         class: none the vector length, h half, f a fourth, o an eighth of it,
//	         x XMM, k opmask, b w d q general purpose by width;
//	         immediates: I 8 bits, i 8 bits sign-extended, J 32 bits sign-extended,
//	         j 32 bits, Q 64 bits, 1 the constant one
//	flags    nok no opmask, needk opmask mandatory, l0 and l1 the L bit where no
//	         operand decides it, xyz yz y z the lengths that exist (default: all
//	         that the prefix can express), =text the mnemonic where it is not the name
//
// Rows of one name are tried in order. Then write the golden file anew (WEFT_ASM_GOLDEN=write
// go test ./internal/x86/asm; it needs GNU as) and read its difference: the test makes
// up operands for every row by itself.
package asm
