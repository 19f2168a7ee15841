// Package x86 compiles loop programs (package loop) to AVX2 and AVX-512 machine
// code.
//
// # From a program to bytes
//
// [Compile] goes through the program once and writes machine instructions over
// virtual registers (lower.go and the files by subject: arith.go, bits.go, divide.go,
// convert.go, masks.go, memory.go, deinterleave.go, lanes.go, control.go, reduce.go).
// There is one lowering for both instruction sets. It differs in tables of instructions
// (arith.go), in how masks are held, and in what AVX2 lacks and must emulate.
//
//   - Before that, schedule.go orders long blocks by height, and fuse.go finds pairs of
//     operations for which there is one instruction.
//   - freeze.go computes a loop's next values under the mask of the lanes that go on, so that
//     lanes that have left keep theirs.
//   - fold.go turns a load with one user into a memory operand of that user, spilled registers
//     and constants included.
//   - regalloc.go allocates registers by a linear scan.
//   - encode.go hands the instructions to package asm.
//
// [Explain] shows the result.
//
// # Lanes
//
// The lanes of a pass are cut into strips, and a strip into steps. A step is one vector
// register of lanes. The width of a lane is
//   - 4 bytes in general; an 8-byte value then takes two registers a step;
//   - 8 bytes where a pass computes with 8-byte types only;
//   - 1 or 2 bytes in a program of integers of 1 byte, of 1 and 2, or of truth values, if
//     every operation has an instruction of that width. In other programs narrow integers
//     are widened first (narrow.go).
//
// A strip is 1, 2 or 4 interleaved steps, as registers allow. The epilogue, a loop of single
// steps under a mask, computes the lanes behind the last strip, so no byte outside a buffer is
// touched (epilogue.go). Rows of a stencil also begin with such a step, up to the first aligned
// vector of the output.
//
// A uniform value has one register with all its lanes equal. If it becomes an offset or
// decides a branch, it has a general register (general.go). If it depends on nothing in the
// pass, it is computed before the loops of the pass.
//
// A mask of lanes is an opmask register on AVX-512. On AVX2 it is a vector of
// all-ones and zeros as wide as a step's lanes. Either is converted where it
// meets a value of twice the width.
//
// # Registers
//
// RDI is the frame throughout. RAX and RDX are outside the allocator: DIV needs
// them, and so does the code that suspends a kernel. RSP and RBP are Go's. All
// others, all vector registers and K1 to K7 are allocated. Scratch memory of the
// frame holds, in this order, a place for every register when fuel runs out,
// then staging areas, virtual lanes of reductions and spilled registers.
//
// # Adding an instruction
//
// A new loop.Op that is one instruction is a row of the table direct; one that is
// several is a case in (*compiler).compute. If the instruction can take its last
// operand from memory, name it in fold.go, and spilled operands and constants are read
// in place. Everything else is a method beside convert or divide which fills the
// registers of (*compiler).result; ops_test.go must list the op with its types.
package x86
