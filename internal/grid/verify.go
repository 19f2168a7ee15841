package grid

import (
	"fmt"
	"slices"

	"weft/internal/loop"
)

// Verify checks that a kernel is well formed: operands have the types that instructions demand, each
// register is written before it is read on every way, and the lanes of a warp exchange values and
// wait only where they run together.
func Verify(k *Kernel) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(fault)
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("grid: %s: %s", k.Name, string(f))
		}
	}()
	v := &verifier{k: k, written: make([]bool, len(k.Types))}
	if k.Threads <= 0 || k.Threads%Warp != 0 {
		v.fail("%d threads", k.Threads)
	}
	v.block(k.Body)
	return nil
}

type fault string

type verifier struct {
	k         *Kernel
	written   []bool // by register
	divergent bool
}

func (v *verifier) fail(format string, x ...any) { panic(fault(fmt.Sprintf(format, x...))) }

// read checks an operand and returns its type.
func (v *verifier) read(r Reg, want ...loop.Type) loop.Type {
	if r <= NoReg || int(r) >= len(v.written) {
		v.fail("register %d does not exist", r)
	}
	if !v.written[r] {
		v.fail("register %d is read before it is written", r)
	}
	t := v.k.Types[r]
	if len(want) > 0 && !slices.Contains(want, t) {
		v.fail("register %d is %s, want %v", r, t, want)
	}
	return t
}

func (v *verifier) write(r Reg, want ...loop.Type) {
	if r <= NoReg || int(r) >= len(v.written) {
		v.fail("register %d does not exist", r)
	}
	if t := v.k.Types[r]; !slices.Contains(want, t) {
		v.fail("register %d is %s, want %v", r, t, want)
	}
	v.written[r] = true
}

// pred checks a predicate, which may be absent.
func (v *verifier) pred(r Reg) {
	if r != NoReg {
		v.read(r, loop.B)
	}
}

func (v *verifier) block(b []Ins) {
	for i := range b {
		v.ins(&b[i])
	}
}

func (v *verifier) ins(in *Ins) {
	switch in.Op {
	case Compute:
		v.compute(in)
	case Move:
		v.write(in.Dst, v.read(in.A))
	case ThreadIndex, BlockIndex, Blocks:
		v.write(in.Dst, loop.I32)
	case Arg:
		v.write(in.Dst, loop.I32, loop.I64, loop.F32, loop.F64)
		size := int64(v.k.Types[in.Dst].Size())
		if in.Imm < 0 || in.Imm%size != 0 || in.Imm+size > int64(v.k.Args) {
			v.fail("argument at byte %d of %d", in.Imm, v.k.Args)
		}
	case Load, Store:
		v.access(in)
	case Add:
		v.pred(in.Pred)
		v.read(in.B, loop.I64)
		t := v.read(in.A, loop.I32, loop.I64)
		if in.Dst != NoReg {
			v.write(in.Dst, t)
		}
	case Min:
		v.pred(in.Pred)
		v.read(in.B, loop.I64)
		v.read(in.A, loop.I32, loop.I64)
	case Barrier, WarpBarrier:
		v.together(in)
	case ShuffleDown, ShuffleXor, ShuffleLane:
		v.together(in)
		if in.Op == ShuffleLane {
			v.read(in.B, loop.I32)
		}
		v.write(in.Dst, v.read(in.A, loop.I32, loop.I64, loop.F32, loop.F64))
	case Any, All:
		v.together(in)
		v.read(in.A, loop.B)
		v.write(in.Dst, loop.B)
	case MMA:
		v.together(in)
		for _, r := range slices.Concat(in.AB, in.Regs) {
			v.read(r, loop.F64)
		}
	case If, While:
		v.branch(in)
	case Return:
		for r := range v.written { // nothing follows
			v.written[r] = true
		}
	default:
		v.fail("operation %d", in.Op)
	}
}

// together checks that the threads of a warp run together.
func (v *verifier) together(in *Ins) {
	if v.divergent {
		v.fail("operation %d where lanes have parted", in.Op)
	}
}

func (v *verifier) branch(in *Ins) {
	outer := v.divergent
	defer func() { v.divergent = outer }()
	if in.Op == If {
		v.read(in.A, loop.B)
		v.divergent = outer || !in.Uniform
		before := slices.Clone(v.written)
		v.block(in.Body)
		then := v.written
		v.written = before
		v.block(in.Else)
		for r := range v.written {
			v.written[r] = v.written[r] && then[r]
		}
		return
	}
	v.divergent = outer || !in.Uniform
	v.block(in.Head)
	v.read(in.A, loop.B)
	left := slices.Clone(v.written)
	v.block(in.Body)
	v.written = left
}

func (v *verifier) access(in *Ins) {
	v.pred(in.Pred)
	v.read(in.A, loop.I64)
	n := len(in.Regs)
	if n != 1 && n != 2 && n != 4 && n != 8 && n != 16 || n*in.Elem.Size() > 16 {
		v.fail("access of %d elements of %d bytes", n, in.Elem.Size())
	}
	want := []loop.Type{loop.I32}
	switch in.Elem {
	case W32:
		want = []loop.Type{loop.I32, loop.F32}
	case W64:
		want = []loop.Type{loop.I64, loop.F64}
	case Half, BHalf:
		want = []loop.Type{loop.F32}
	}
	for _, r := range in.Regs {
		if in.Op == Load {
			v.write(r, want...)
		} else {
			v.read(r, want...)
		}
	}
}

// compute checks the types of a loop operation.
func (v *verifier) compute(in *Ins) {
	var t [3]loop.Type
	n := 0
	for i, r := range []Reg{in.A, in.B, in.C} {
		if r != NoReg {
			t[i] = v.read(r)
			n++
		}
	}
	d := v.k.Types[in.Dst]
	op, operands, ok := in.Loop, 2, true
	switch {
	case op == loop.OpConst:
		operands = 0
	case op == loop.OpSelect:
		operands, ok = 3, t[0] == loop.B && t[1] == d && t[2] == d
	case op >= loop.OpEq && op <= loop.OpLeU:
		ok = d == loop.B && t[0] == t[1] && (t[0] != loop.B || op <= loop.OpNe) && (op < loop.OpLtU || t[0].Int())
	case op == loop.OpLookup:
		operands, ok = 1, in.Imm >= 0 && in.Imm < int64(len(v.k.Tables)) && v.k.Tables[in.Imm].Type == d && t[0].Int() && t[0].Size() == d.Size()
	case op == loop.OpCvt:
		operands, ok = 1, t[0] != d && d != loop.B
	case op == loop.OpBits:
		operands, ok = 1, t[0] != d && t[0].Size() == d.Size() && d != loop.B
	case op == loop.OpFma:
		operands, ok = 3, d.Float() && t == [3]loop.Type{d, d, d}
	case op == loop.OpNeg || op == loop.OpAbs || op >= loop.OpSqrt && op <= loop.OpLogB || op >= loop.OpPopCount && op <= loop.OpTzCnt || op == loop.OpNot:
		operands, ok = 1, t[0] == d
	case op >= loop.OpAdd && op <= loop.OpXor:
		ok = t[0] == d && t[1] == d
	default:
		ok = false
	}
	if !ok || n != operands {
		v.fail("%s of %v gives %s", op, t[:n], d)
	}
	v.write(in.Dst, loop.B, loop.I32, loop.I64, loop.F32, loop.F64)
}
