package x86

import "weft/internal/loop"

// Lanes are 1 or 2 bytes wide where all values of a program are, and each operation has an
// instruction of that width.

// narrowed returns a program that computes what p does, and the bytes a lane that it computes in.
// Either all integers have that width, or they have 4 and 8 bytes.
func narrowed(p *loop.Program) (*loop.Program, int) {
	if es := laneBytes(p); es != 0 {
		return p, es
	}
	if q := loop.Widen(p, loop.I16); laneBytes(q) == 2 {
		return q, 2
	}
	return loop.Widen(p, loop.I32), 4
}

// laneBytes returns the bytes a lane that p computes in: 1 or 2 if all its values have that width
// and every operation has an instruction of it, 0 if it has such values and they must be widened,
// else 4.
func laneBytes(p *loop.Program) int {
	types, narrow := uint(1), true
	var uniform []bool // computed when the first quotient needs it
	for i := range p.Ins {
		in := &p.Ins[i]
		types |= 1 << in.Type
		switch in.Op {
		case loop.OpQuo, loop.OpRem, loop.OpQuoU, loop.OpRemU: // by products
			if uniform == nil {
				uniform = p.Uniform(p.Lane, true)
			}
			narrow = narrow && uniform[in.B] && oneRegisterOp(p.Ins[in.B].Op)
		case loop.OpMulHi, loop.OpMulHiU, loop.OpRotL, loop.OpPopCount, loop.OpLzCnt, loop.OpTzCnt:
			narrow = false
		case loop.OpShl, loop.OpShr, loop.OpShrU:
			narrow = narrow && shared(p, in.B)
		}
	}
	switch types &^ (1<<loop.None | 1<<loop.B) {
	case 0, 1 << loop.I8:
		if narrow {
			return 1
		}
	case 1 << loop.I16:
		if narrow {
			return 2
		}
	}
	if types&(1<<loop.I8|1<<loop.I16) != 0 {
		return 0
	}
	return 4
}

// shared reports a value that is uniform by its operation alone.
func shared(p *loop.Program, v loop.Value) bool {
	switch in := &p.Ins[v]; in.Op {
	case loop.OpConst, loop.OpScalar:
		return true
	case loop.OpLoad:
		return p.Bufs[in.Imm].Steps[p.Lane] == loop.Zero
	}
	return false
}
