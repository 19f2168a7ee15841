package loop

import "weft/internal/array"

// What backends ask of a program before they compile it.

// Pure reports an operation that depends on its operands alone.
func (op Op) Pure() bool {
	return op >= OpAdd && op <= OpBits || op == OpConst || op == OpScalar
}

// AllReads appends what an instruction and those in its blocks read; NoValue may be
// among it.
func (p *Program) AllReads(in *Ins, to []Value) []Value {
	o := in.Operands()
	to = append(to, o[:]...)
	if r := p.Region(in); r != nil {
		to = r.Reads(to)
		for _, b := range [...][]Value{r.Head, r.Body, r.Else} {
			for _, v := range b {
				to = p.AllReads(&p.Ins[v], to)
			}
		}
	}
	return to
}

// Users counts by whom the values of a program are read that are not dead themselves.
type Users struct {
	p   *Program
	n   []int32 // by value, from NoValue on
	buf []Value

	height, first []int32 // see ByHeight: by value, from NoValue on, and by height
	order         []Value
}

// Count counts the users in p; memory of a former count is used again.
func (u *Users) Count(p *Program) {
	u.p, u.n = p, append(u.n[:0], make([]int32, len(p.Ins)+1)...)
	for _, r := range p.Regions {
		u.buf = r.Reads(u.buf[:0])
		for _, o := range u.buf {
			u.n[o+1]++
		}
	}
	// Operands are numbered before their users, except what regions read.
	for v := len(p.Ins) - 1; v >= 0; v-- {
		if in := &p.Ins[v]; !u.Dead(Value(v)) {
			u.n[in.A+1]++
			u.n[in.B+1]++
			u.n[in.C+1]++
		}
	}
}

// Of returns the number of users of v.
func (u *Users) Of(v Value) int { return int(u.n[v+1]) }

// Dead reports an instruction without effect whose value nothing reads.
func (u *Users) Dead(v Value) bool {
	if u.n[v+1] > 0 {
		return false
	}
	switch op := u.p.Ins[v].Op; op {
	case OpLoad, OpLoadAt, OpIndex, OpOut:
		return true
	default:
		return op.Pure()
	}
}

// ByHeight returns, until the next call, a block that may be reordered with the highest
// instructions first. The height of one is how long the longest way from it through its
// users to the end of the block is, by the latency of operations.
func (u *Users) ByHeight(block []Value, latency func(Op) int32) []Value {
	u.height = append(u.height[:0], make([]int32, len(u.n))...)
	height, most := u.height, int32(0)
	for i := len(block) - 1; i >= 0; i-- {
		v := block[i]
		if u.Dead(v) {
			continue
		}
		in := &u.p.Ins[v]
		h := height[v+1]
		if in.Op != OpStore && in.Op != OpReduce {
			h += latency(in.Op)
		}
		height[v+1] = h
		most = max(most, h)
		u.buf = u.p.AllReads(in, u.buf[:0])
		for _, o := range u.buf {
			height[o+1] = max(height[o+1], h)
		}
	}
	// Counting sort; the order of equals stays.
	u.first = append(u.first[:0], make([]int32, most+2)...)
	for _, v := range block {
		u.first[most-height[v+1]+1]++
	}
	for i := range most + 1 {
		u.first[i+1] += u.first[i]
	}
	u.order = append(u.order[:0], block...)
	for _, v := range block {
		at := &u.first[most-height[v+1]]
		u.order[*at] = v
		*at++
	}
	return u.order
}

// Unordered reports whether the instructions of a block may be reordered. They may if the only
// effects are stores, behind which nothing is loaded, and reductions, which do not depend on each
// other. For a nested block, stored says whether there were stores before it.
func (p *Program) Unordered(block []Value, nested, stored bool) bool {
	for _, v := range block {
		in := &p.Ins[v]
		switch in.Op {
		case OpStore:
			stored = true
			if nested {
				return false
			}
			continue
		case OpLoad, OpLoadAt, OpIndex, OpOut, OpReduce:
		case OpIf:
			if r := p.Region(in); !p.Unordered(r.Body, true, stored) || !p.Unordered(r.Else, true, stored) {
				return false
			}
		default:
			if !in.Op.Pure() {
				return false
			}
		}
		if stored && (in.Op == OpLoad || in.Op == OpLoadAt) {
			return false
		}
	}
	return true
}

// Rounded reports that v is a value of d, Float16 or BFloat16, as far as that shows within a
// few steps.
func (p *Program) Rounded(d array.DType, v Value) bool { return p.rounded(d, v, 4) }

func (p *Program) rounded(d array.DType, v Value, steps int) bool {
	in := &p.Ins[v]
	switch in.Op {
	case OpRound:
		return array.DType(in.Imm) == d
	case OpLoad, OpLoadAt:
		return p.Bufs[in.Imm].DType == d
	case OpMul: // bfloat16 has the exponents of float32, down to those below normal ones
		return steps > 0 && d == array.BFloat16 && (p.doubles(in.A) && p.rounded(d, in.B, steps-1) || p.doubles(in.B) && p.rounded(d, in.A, steps-1))
	case OpNeg, OpAbs, OpFloor, OpCeil, OpTrunc, OpRint:
		return steps > 0 && p.rounded(d, in.A, steps-1)
	case OpMin, OpMax:
		return steps > 0 && p.rounded(d, in.A, steps-1) && p.rounded(d, in.B, steps-1)
	case OpSelect:
		return steps > 0 && p.rounded(d, in.B, steps-1) && p.rounded(d, in.C, steps-1)
	}
	return false
}

// doubles reports the constant 2 of F32, or a larger power of two.
func (p *Program) doubles(v Value) bool {
	in := &p.Ins[v]
	const mantissa, one = 1<<23 - 1, 0x3F800000
	return in.Op == OpConst && in.Type == F32 && in.Imm&mantissa == 0 && in.Imm > one && in.Imm < 0x7F800000
}
