// Package grid writes loop programs as what one thread of a GPU does: rows and lanes become
// blocks and threads, buffers become addresses, reductions go through shuffles and shared
// memory. A printer below it, such as package ptx, turns a [Kernel] into the text of a target.
//
// A kernel is structured code over registers that may be written again. It computes with values
// of type B, I32, I64, F32 and F64 alone; integers of 1 and 2 bytes are kept in I32 registers.
// Threads of a block come in warps of [Warp], which run together outside of divergent branches.
package grid

import "weft/internal/loop"

// Warp is the number of threads that exchange values by shuffles.
const Warp = 32

// A Reg is a register of a thread. Its type is in [Kernel.Types].
type Reg int32

// NoReg stands for an absent register.
const NoReg Reg = 0

// An Op is what an instruction does.
type Op uint8

const (
	// Compute sets Dst to what the loop operation Loop gives for A, B and C, exactly as package
	// loop says: OpConst of Imm, OpAdd to OpBits. Imm is that of the loop operation; for
	// OpLookup it is the number of a table of the kernel, for OpNeg it may be [OpenSign]. Operands have
	// the types of the registers.
	Compute Op = iota

	Move // Dst = A

	ThreadIndex // Dst, I32: the thread's number in its block
	BlockIndex  // Dst, I32: the block's number
	Blocks      // Dst, I32: the number of blocks

	Arg // Dst = the bits at byte Imm of the argument block, aligned to the size of Dst

	// Load and Store move len(Regs) neighbouring elements between registers and memory at address A
	// (I64) plus Imm bytes. They are 1, 2, 4, 8 or 16 elements of at most 16 bytes together. The
	// address is aligned to the size of all of them. A global address is one of the device; a shared
	// address counts from 0 in the block's shared memory. If Pred is a register that is false, Load gives
	// zeros and Store does nothing.
	Load
	Store

	// Add adds A to the integer at address B plus Imm, of the type of A, as one step that no other
	// thread can cut in two. Dst, if not NoReg, gets the value before. Pred as for Store.
	Add

	// Min replaces the integer at address B plus Imm by the lesser of it and A, without sign. It is
	// one step as Add is, and has the same operands, but no Dst.
	Min

	Barrier     // waits for all threads of the block; their writes before it are seen after it
	WarpBarrier // waits for the 32 threads of the warp; their writes before it are seen after it

	// Shuffle sets Dst to the value that A has in another lane of the warp: Down by Imm lanes (own
	// value if there is none), Xor, or lane B (I32, modulo 32) for Lane. All 32 lanes take part.
	ShuffleDown
	ShuffleXor
	ShuffleLane

	Any // Dst, B: A holds in any of the 32 lanes of the warp. All take part
	All // Dst, B: A holds in all of them

	// MMA multiplies matrices of F64 on the whole warp: Regs are the elements of the sum that the
	// lane holds, AB the elements of the factors, in the layout of mma.sync for the shape Imm. Each element
	// is the chain of fused multiply-adds in ascending order of k.
	MMA

	If     // where A holds Body, else Else
	While  // as long as Head leaves A true: Body
	Return // the thread is done. All threads of a block reach the same barriers before
)

// OpenSign leaves the sign of a NaN open that OpNeg of a float gives. GPUs negate operands of sums and
// products at no cost then.
const OpenSign = 1

// A Space is a kind of memory.
type Space uint8

const (
	Global Space = iota
	Shared
)

// An Elem is what an element in memory is, and how it becomes a register.
type Elem uint8

const (
	W32   Elem = iota // 4 bytes: I32 or F32
	W64               // 8 bytes: I64 or F64
	S8                // a byte, extended by its sign to I32
	U8                // a byte, extended by zeros to I32
	S16               // 2 bytes, extended by their sign to I32
	U16               // 2 bytes, extended by zeros to I32
	Half              // float16 as F32; stores round to nearest even
	BHalf             // bfloat16 as F32; stores round to nearest even
)

// Size returns the bytes of an element.
func (e Elem) Size() int {
	return [...]int{W32: 4, W64: 8, S8: 1, U8: 1, S16: 2, U16: 2, Half: 2, BHalf: 2}[e]
}

// A Shape is one of [MMA], written m x n x k.
type Shape uint8

const (
	M8N8K4 Shape = iota // of compute capability 8.0 and up; the others 9.0 and up
	M16N8K4
	M16N8K8
	M16N8K16
)

// An Ins is one instruction.
type Ins struct {
	Op      Op
	Loop    loop.Op // of Compute
	Elem    Elem    // of Load and Store
	Space   Space   // of Load, Store, Add and Min
	Uniform bool    // of If and While: all threads of a warp agree, always
	Fresh   bool    // of Load: sees what others wrote while the kernel runs
	Dst     Reg
	A, B, C Reg
	Pred    Reg
	Imm     int64
	Regs    []Reg
	AB      []Reg // of MMA: elements of the left factor, then of the right one
	Head    []Ins
	Body    []Ins
	Else    []Ins
}

// A Kernel is what each thread does.
type Kernel struct {
	Name    string
	Threads int // of a block, a multiple of Warp
	Abreast int // blocks that a multiprocessor has registers for at a time, at least; 0 leaves it open
	Args    int // bytes of the argument block, a multiple of 8
	Shared  int // bytes of shared memory of a block
	Tables  []loop.Table
	Types   []loop.Type // by Reg; that of NoReg is None
	Body    []Ins
}
