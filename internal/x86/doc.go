// Package x86 compiles loop programs (package loop) to AVX2 and AVX-512 machine
// code.
//
// # From a program to bytes
//
// [Compile] goes through the program once and writes machine instructions over
// virtual registers (lower.go and the files by subject: arith.go, bits.go, divide.go,
// convert.go, masks.go, memory.go, apart.go, lanes.go, control.go, reduce.go). A linear
// scan gives them registers (regalloc.go), and encode.go hands them to package asm. Two
// steps make fewer instructions of them: freeze.go lets those that compute a loop's next
// values leave the lanes alone that have left it, and fold.go lets instructions read
// memory that was loaded for them alone, spilled registers and constants included.
// Before that, schedule.go puts what most depends on first in long blocks, and
// fuse.go finds pairs of operations for which there is one instruction.
// [Explain] shows the result. There is
// one lowering for both instruction sets: it differs in tables of instructions
// (arith.go), in how masks are held, and in what AVX2 lacks and must make up.
//
// # Lanes
//
// The lanes of a pass are cut into strips of some steps. A step is what a vector
// register takes: as many lanes as 4-byte elements fit, an 8-byte value then
// taking two registers; or, where a pass computes with 8-byte types only, as
// many as 8-byte elements fit. In a program of integers of 1 byte alone, or of 1 and 2,
// or of truth values, lanes are as wide as those, if all that it does has instructions
// of that width; in others narrow integers become wider ones first (narrow.go). Steps of
// a strip are interleaved, 1, 2 or 4 as registers allow. After the strips a loop of single steps under a mask does the
// rest, so no byte outside a buffer is touched; rows of a stencil begin with such a step, as far as the first whole
// vector of what is written. A value that is the same for all
// lanes has one register with all its lanes equal, or, where an offset or a branch is made
// of it, a general register (general.go); if it depends on nothing in the pass it is
// computed before its loops.
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
