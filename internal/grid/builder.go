package grid

import (
	"math"

	"weft/internal/loop"
)

// A Builder writes a kernel, instruction by instruction.
type Builder struct {
	K   *Kernel
	out *[]Ins // the block that is being written
}

// NewBuilder returns a builder of a kernel whose blocks have the given number of threads.
func NewBuilder(name string, threads int) *Builder {
	k := &Kernel{Name: name, Threads: threads, Types: []loop.Type{loop.None}}
	return &Builder{K: k, out: &k.Body}
}

// Ins appends an instruction.
func (b *Builder) Ins(in Ins) { *b.out = append(*b.out, in) }

// Type returns the type of a register.
func (b *Builder) Type(r Reg) loop.Type { return b.K.Types[r] }

// Var returns a new register that nothing was written to.
func (b *Builder) Var(t loop.Type) Reg {
	b.K.Types = append(b.K.Types, t)
	return Reg(len(b.K.Types) - 1)
}

// Set writes x to the register d.
func (b *Builder) Set(d, x Reg) { b.Ins(Ins{Op: Move, Dst: d, A: x}) }

// Copy returns a new register with the value of x, to be written again.
func (b *Builder) Copy(x Reg) Reg {
	d := b.Var(b.Type(x))
	b.Set(d, x)
	return d
}

// Const returns a constant of the given bits, as loop.OpConst has them.
func (b *Builder) Const(t loop.Type, bits uint64) Reg {
	d := b.Var(t)
	b.Ins(Ins{Op: Compute, Loop: loop.OpConst, Dst: d, Imm: int64(bits)})
	return d
}

// I32 and the three behind it return constants.
func (b *Builder) I32(n int32) Reg   { return b.Const(loop.I32, uint64(uint32(n))) }
func (b *Builder) I64(n int64) Reg   { return b.Const(loop.I64, uint64(n)) }
func (b *Builder) F32(x float32) Reg { return b.Const(loop.F32, uint64(math.Float32bits(x))) }
func (b *Builder) F64(x float64) Reg { return b.Const(loop.F64, math.Float64bits(x)) }

// Do returns the result of a loop operation, of type t. Operands that it does not have are left out.
func (b *Builder) Do(op loop.Op, t loop.Type, imm uint64, x ...Reg) Reg {
	d := b.Var(t)
	b.do(d, op, imm, x...)
	return d
}

// do writes the result of a loop operation to a register.
func (b *Builder) do(d Reg, op loop.Op, imm uint64, x ...Reg) {
	in := Ins{Op: Compute, Loop: op, Dst: d, Imm: int64(imm)}
	for i, to := range []*Reg{&in.A, &in.B, &in.C} {
		if i < len(x) {
			*to = x[i]
		}
	}
	b.Ins(in)
}

// Update writes the result of a loop operation to a register that is there already.
func (b *Builder) Update(d Reg, op loop.Op, x ...Reg) { b.do(d, op, 0, x...) }

// The arithmetic that addresses and counters need. Operands have one type.
func (b *Builder) Add(x, y Reg) Reg { return b.Do(loop.OpAdd, b.Type(x), 0, x, y) }
func (b *Builder) Sub(x, y Reg) Reg { return b.Do(loop.OpSub, b.Type(x), 0, x, y) }
func (b *Builder) Mul(x, y Reg) Reg { return b.Do(loop.OpMul, b.Type(x), 0, x, y) }
func (b *Builder) And(x, y Reg) Reg { return b.Do(loop.OpAnd, b.Type(x), 0, x, y) }
func (b *Builder) Or(x, y Reg) Reg  { return b.Do(loop.OpOr, b.Type(x), 0, x, y) }
func (b *Builder) Not(x Reg) Reg    { return b.Do(loop.OpNot, b.Type(x), 0, x) }

// QuoU and RemU divide integers without sign.
func (b *Builder) QuoU(x, y Reg) Reg { return b.Do(loop.OpQuoU, b.Type(x), 0, x, y) }
func (b *Builder) RemU(x, y Reg) Reg { return b.Do(loop.OpRemU, b.Type(x), 0, x, y) }

// Lt, Le and Eq compare, integers by sign.
func (b *Builder) Lt(x, y Reg) Reg { return b.Do(loop.OpLt, loop.B, 0, x, y) }
func (b *Builder) Le(x, y Reg) Reg { return b.Do(loop.OpLe, loop.B, 0, x, y) }
func (b *Builder) Eq(x, y Reg) Reg { return b.Do(loop.OpEq, loop.B, 0, x, y) }

// Select returns x where c holds, else y.
func (b *Builder) Select(c, x, y Reg) Reg { return b.Do(loop.OpSelect, b.Type(x), 0, c, x, y) }

// Wide returns an I32 as an I64, by its sign. An I64 stays.
func (b *Builder) Wide(x Reg) Reg {
	if b.Type(x) == loop.I64 {
		return x
	}
	return b.Do(loop.OpCvt, loop.I64, 0, x)
}

// Moved returns an address moved on by n elements, an I32 or I64, of a size in bytes.
func (b *Builder) Moved(addr, n Reg, size int) Reg {
	return b.Add(addr, b.Mul(b.Wide(n), b.I64(int64(size))))
}

// Thread, Block and Blocks return the numbers of the thread in its block, of the block, and how many
// blocks there are, as I32.
func (b *Builder) Thread() Reg { return b.special(ThreadIndex) }
func (b *Builder) Block() Reg  { return b.special(BlockIndex) }
func (b *Builder) Blocks() Reg { return b.special(Blocks) }

func (b *Builder) special(op Op) Reg {
	d := b.Var(loop.I32)
	b.Ins(Ins{Op: op, Dst: d})
	return d
}

// Arg returns the bits at a byte of the argument block.
func (b *Builder) Arg(t loop.Type, offset int) Reg {
	d := b.Var(t)
	b.Ins(Ins{Op: Arg, Dst: d, Imm: int64(offset)})
	return d
}

// Load returns an element of memory as a value of type t.
func (b *Builder) Load(s Space, e Elem, t loop.Type, addr Reg, offset int, pred Reg) Reg {
	return b.LoadN(s, e, t, 1, addr, offset, pred)[0]
}

// LoadN returns n neighbouring elements; see [Load].
func (b *Builder) LoadN(s Space, e Elem, t loop.Type, n int, addr Reg, offset int, pred Reg) []Reg {
	regs := make([]Reg, n)
	for i := range regs {
		regs[i] = b.Var(t)
	}
	b.Ins(Ins{Op: Load, Space: s, Elem: e, A: addr, Imm: int64(offset), Pred: pred, Regs: regs})
	return regs
}

// Store writes neighbouring elements; see [Load].
func (b *Builder) Store(s Space, e Elem, addr Reg, offset int, pred Reg, x ...Reg) {
	b.Ins(Ins{Op: Store, Space: s, Elem: e, A: addr, Imm: int64(offset), Pred: pred, Regs: x})
}

// Barrier waits for all threads of the block.
func (b *Builder) Barrier() { b.Ins(Ins{Op: Barrier}) }

// WarpBarrier waits for the threads of the warp.
func (b *Builder) WarpBarrier() { b.Ins(Ins{Op: WarpBarrier}) }

// Down returns what x is n lanes further on.
func (b *Builder) Down(x Reg, n int) Reg {
	d := b.Var(b.Type(x))
	b.Ins(Ins{Op: ShuffleDown, Dst: d, A: x, Imm: int64(n)})
	return d
}

// FromLane returns what x is in a lane (I32).
func (b *Builder) FromLane(x, lane Reg) Reg {
	d := b.Var(b.Type(x))
	b.Ins(Ins{Op: ShuffleLane, Dst: d, A: x, B: lane})
	return d
}

// Any and All return whether x holds in any and in all lanes of the warp.
func (b *Builder) Any(x Reg) Reg { return b.vote(Any, x) }
func (b *Builder) All(x Reg) Reg { return b.vote(All, x) }

func (b *Builder) vote(op Op, x Reg) Reg {
	d := b.Var(loop.B)
	b.Ins(Ins{Op: op, Dst: d, A: x})
	return d
}

// If writes what runs where cond holds and where it does not; els may be nil. Uniform says that
// all threads of a warp agree on cond.
func (b *Builder) If(cond Reg, uniform bool, then, els func()) {
	in := Ins{Op: If, A: cond, Uniform: uniform}
	in.Body = b.block(then)
	if els != nil {
		in.Else = b.block(els)
	}
	b.Ins(in)
}

// While writes a loop: head returns the condition under which body runs once more.
func (b *Builder) While(uniform bool, head func() Reg, body func()) {
	in := Ins{Op: While, Uniform: uniform}
	in.Head = b.block(func() { in.A = head() })
	in.Body = b.block(body)
	b.Ins(in)
}

// block returns what f writes.
func (b *Builder) block(f func()) []Ins {
	outer := b.out
	var inner []Ins
	b.out = &inner
	f()
	b.out = outer
	return inner
}

// Return ends the thread.
func (b *Builder) Return() { b.Ins(Ins{Op: Return}) }
