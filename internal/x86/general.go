package x86

import (
	"slices"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/x86/asm"
)

// A uniform integer that becomes an offset or decides a branch is computed in a general register:
// the counter of a loop, an index, a bound. That takes no vector unit, a comparison and its branch
// are one instruction, and an address is at hand. If vectors read the value as well, it is
// broadcast where it is computed. The bits of a register above the width of a value are undefined.

// findGPRs sets canUseGPR, inGPR and alsoInVector. It starts at the instructions that need a
// general register, addresses and branches, and goes back to their operands.
func (c *compiler) findGPRs() {
	n := len(c.p.Ins)
	c.inGPR, c.alsoInVector, c.joinsConditions, c.canUseGPR = zeroed(c.inGPR, n), zeroed(c.alsoInVector, n), zeroed(c.joinsConditions, n), zeroed(c.canUseGPR, n)
	if !c.findJoinedConditions() {
		return
	}
	for v := range c.p.Ins {
		c.canUseGPR[v] = c.fitsGPR(&c.p.Ins[v], loop.Value(v))
	}
	for changed := true; changed; { // the parameters of a loop stand before its body
		changed = false
		want := func(list ...loop.Value) {
			for _, v := range list {
				if v != loop.NoValue && !c.inGPR[v] && c.canUseGPR[v] {
					c.inGPR[v], changed = true, true
				}
			}
		}
		for v := loop.Value(n - 1); v >= 0; v-- {
			if in := &c.p.Ins[v]; !c.users.Dead(v) {
				c.gprOperands(v, in, want)
			}
		}
	}
	for changed := true; changed; { // what reads a value of an if stands before it
		changed = false
		for v := loop.Value(n - 1); v >= 0; v-- {
			if !c.users.Dead(v) {
				changed = c.findVectorUses(v) || changed
			}
		}
	}
}

// gprOperands calls want with the operands that an instruction reads in general registers.
func (c *compiler) gprOperands(v loop.Value, in *loop.Ins, want func(list ...loop.Value)) {
	switch in.Op {
	case loop.OpStoreAt:
		want(in.B)
	case loop.OpLoadAt:
		want(in.A)
	case loop.OpCvt:
		if c.inGPR[v] || c.scalarCvt(v, in) {
			want(in.A)
		}
	case loop.OpLoop, loop.OpIf:
		r := c.p.Region(in)
		want(c.branchesOn(in)...)
		for i, q := range r.Params {
			if c.inGPR[q] {
				want(r.Init[i], r.Next[i])
			}
		}
	case loop.OpOut:
		if !c.inGPR[v] {
			return
		}
		of := &c.p.Ins[in.A]
		r := c.p.Region(of)
		if of.Op == loop.OpLoop {
			want(r.Params[in.Imm])
		} else {
			want(r.Next[in.Imm], r.ElseNext[in.Imm])
		}
	default:
		if c.inGPR[v] {
			want(in.A, in.B, in.C)
		}
	}
}

// branchesOn returns the conditions on which a loop or an if branches, since all lanes share
// them.
func (c *compiler) branchesOn(in *loop.Ins) (list []loop.Value) {
	r := c.p.Region(in)
	switch {
	case r.Cond == loop.NoValue:
	case c.uniformBranch(r):
		list = []loop.Value{r.Cond}
	case in.Op == loop.OpLoop:
		_, list, _ = c.conjuncts(r)
	}
	return list
}

// findJoinedConditions sets joins for each OpAnd that joins the conditions of a loop where some of them are
// uniform: the loop tests the conditions one by one, and the OpAnd is not computed. findJoinedConditions
// reports whether anything may ask for general registers.
func (c *compiler) findJoinedConditions() (any bool) {
	for v := range c.p.Ins {
		in := &c.p.Ins[v]
		switch in.Op {
		case loop.OpLoop:
			if any = true; !c.uniformBranch(c.p.Region(in)) {
				if joins, same, _ := c.conjuncts(c.p.Region(in)); len(same) > 0 {
					for _, o := range joins {
						c.joinsConditions[o] = true
					}
				}
			}
		case loop.OpIf, loop.OpLoadAt, loop.OpStoreAt:
			any = true
		case loop.OpCvt:
			any = any || c.scalarCvt(loop.Value(v), in)
		}
	}
	return any
}

// fitsGPR reports whether a value can be computed in a general register. For a truth value, it
// reports whether a branch on it can compare integers. Requires canUseGPR of the operands.
func (c *compiler) fitsGPR(in *loop.Ins, v loop.Value) bool {
	wide := func(v loop.Value) bool { return c.p.Ins[v].Type == loop.I32 || c.p.Ins[v].Type == loop.I64 }
	switch {
	case !c.uniform[v]:
		return false
	case in.Type == loop.B:
		switch in.Op {
		case loop.OpEq, loop.OpNe, loop.OpLt, loop.OpLe, loop.OpLtU, loop.OpLeU:
			return wide(in.A) && (c.canUseGPR[in.A] || c.canUseGPR[in.B])
		case loop.OpAnd, loop.OpOr:
			return c.canUseGPR[in.A] && c.canUseGPR[in.B]
		case loop.OpNot:
			return c.canUseGPR[in.A]
		}
		return false
	case !wide(v):
		return false
	}
	switch in.Op {
	case loop.OpConst, loop.OpScalar, loop.OpIndex, loop.OpParam, loop.OpLoad, loop.OpLoadAt,
		loop.OpAdd, loop.OpSub, loop.OpMul, loop.OpNeg, loop.OpAnd, loop.OpOr, loop.OpXor, loop.OpNot,
		loop.OpMin, loop.OpMax, loop.OpMinU, loop.OpMaxU:
		return true
	case loop.OpShl, loop.OpShr, loop.OpShrU:
		n := &c.p.Ins[in.B]
		return n.Op == loop.OpConst && n.Imm < uint64(8*in.Type.Size())
	case loop.OpCvt:
		return wide(in.A)
	case loop.OpSelect:
		return c.canUseGPR[in.A] && c.p.Ins[in.A].Op >= loop.OpEq
	case loop.OpOut:
		of := &c.p.Ins[in.A]
		return of.Op == loop.OpLoop && !c.uniformInsideLoop[c.p.Region(of).Params[in.Imm]] || of.Op == loop.OpIf && c.p.UniformResult(c.uniform, c.p.Region(of), int(in.Imm))
	}
	return false
}

// scalarCvt reports a conversion of a uniform number to floats for which AVX2 has an instruction
// in general registers alone.
func (c *compiler) scalarCvt(v loop.Value, in *loop.Ins) bool {
	return c.isa == jit.AVX2 && c.uniform[v] && in.Type.Float() && c.p.Ins[in.A].Type == loop.I64 && unsigned(c.p, in) == 0
}

// findVectorUses sets alsoInVector for the operands of v that have general registers and that v
// reads in vectors. It reports whether one was added.
func (c *compiler) findVectorUses(v loop.Value) (more bool) {
	in := &c.p.Ins[v]
	in3 := in.Operands()
	vectors := in3[:]
	switch {
	case c.joinsConditions[v] || in.Op == loop.OpLoadAt && c.uniform[in.A] || in.Op == loop.OpCvt && c.scalarCvt(v, in):
		return false
	case c.inGPR[v] && !(in.Type == loop.B && c.alsoInVector[v]): // a mask is compared once more
		return false
	case in.Op == loop.OpStoreAt && c.uniform[in.B]:
		vectors = vectors[:1]
	}
	if r := c.p.Region(in); r != nil {
		vectors = nil
		if !slices.Contains(c.branchesOn(in), r.Cond) {
			vectors = append(vectors, r.Cond)
		}
		for i, q := range r.Params {
			if !c.inGPR[q] {
				vectors = append(vectors, r.Init[i], r.Next[i])
			} else if c.uniformInsideLoop[q] { // lanes that leave keep it in vectors
				if vectors = append(vectors, r.Init[i]); c.isa == jit.AVX2 {
					vectors = append(vectors, q)
				}
			}
		}
		for i := range r.ElseNext {
			if !c.generalResult(v, i) {
				vectors = append(vectors, r.Next[i], r.ElseNext[i])
			}
		}
	}
	for _, o := range vectors {
		if o != loop.NoValue && c.inGPR[o] && !c.alsoInVector[o] {
			c.alsoInVector[o], more = true, true
		}
	}
	return more
}

// generalResult reports that result i of an if has a general register.
func (c *compiler) generalResult(v loop.Value, i int) bool {
	out := v + 1 + loop.Value(i)
	return int(out) < len(c.p.Ins) && c.inGPR[out] && c.p.Ins[out].Op == loop.OpOut && c.p.Ins[out].A == v
}

// lowerGeneral lowers what is computed in a general register.
func (c *compiler) lowerGeneral(v loop.Value, in *loop.Ins) {
	if in.Type == loop.B { // when it comes to the branch
		if c.vals[v] = (val{first: noVector, state: defined, uni: true}); c.alsoInVector[v] {
			c.lowerIns(v, in)
		}
		return
	}
	switch in.Op {
	case loop.OpConst, loop.OpScalar:
		x := val{first: noVector, state: defined, uni: true}
		if c.alsoInVector[v] {
			c.lowerIns(v, in)
			x = c.vals[v]
		}
		if in.Op == loop.OpScalar {
			x.g = c.argument(wordMem(c.p.ScalarWord(int(in.Imm))))
		}
		c.vals[v] = x
		return
	case loop.OpOut:
		c.out(v, in)
		return
	}
	d := c.newG()
	c.computeGeneral(in, d)
	c.setGeneral(v, d)
}

// noVector is val.first of a value without a vector register.
const noVector = -1

// setGeneral makes v live in a general register, and in a vector if anything reads it there.
func (c *compiler) setGeneral(v loop.Value, g vr) {
	x := val{first: noVector, g: g, state: defined, uni: true}
	if c.alsoInVector[v] {
		x.first = int32(len(c.regs))
		c.regs = append(c.regs, c.broadcast(g, c.p.Ins[v].Type.Size()))
	}
	c.vals[v] = x
}

// g returns a general register that holds a uniform number.
func (c *compiler) g(v loop.Value) vr {
	in, x := &c.p.Ins[v], &c.vals[v]
	switch {
	case x.g != 0:
		return x.g
	case in.Op == loop.OpConst:
		g := c.newG()
		c.gconst(g, constant64(in))
		return g
	}
	g := c.newG()
	if in.Type == loop.I64 {
		c.op1(asm.VMOVQ, g, c.get(v, 0).x())
	} else {
		c.op1(asm.VMOVD, g, c.get(v, 0).x())
	}
	return g
}

// constant64 is an integer constant with the sign of its type.
func constant64(in *loop.Ins) int64 {
	if in.Type == loop.I32 {
		return int64(int32(in.Imm))
	}
	return int64(in.Imm)
}

// small returns a constant that fits the 32-bit immediate of an instruction.
func (c *compiler) small(v loop.Value) (int64, bool) {
	in := &c.p.Ins[v]
	n := constant64(in)
	return n, in.Op == loop.OpConst && n == int64(int32(n))
}

// A gop is an instruction on general registers: on 4 bytes, on 8.
type gop [2]asm.Op

func (o gop) of(t loop.Type) asm.Op { return o[t.Size()/8] }

var (
	gcmp = gop{asm.CMP32, asm.CMP}
	gsar = gop{asm.SAR32, asm.SAR}
	gshr = gop{asm.SHR32, asm.SHR}
)

// conds are the conditions of comparisons, from OpEq on.
var conds = [...]asm.Cond{asm.CondE, asm.CondNE, asm.CondL, asm.CondLE, asm.CondB, asm.CondBE}

// computeGeneral computes in into d, which may be the register of its first operand.
func (c *compiler) computeGeneral(in *loop.Ins, d vr) {
	t := in.Type
	// from puts the first operand into d, two does what takes the second from a register or as it is.
	from := func() {
		if n, ok := c.small(in.A); ok {
			c.gconst(d, n)
		} else if a := c.g(in.A); a != d {
			c.mov(d, a)
		}
	}
	two := func(op asm.Op) {
		if n, ok := c.small(in.B); ok {
			from()
			c.updi(op, d, n)
			return
		}
		b := c.g(in.B)
		from()
		c.upd(op, d, b)
	}
	switch in.Op {
	case loop.OpIndex:
		c.load(asm.MOV, d, wordMem(c.p.StartWord(int(in.Imm))))
		c.upd(asm.ADD, d, c.ctr[in.Imm])
	case loop.OpLoad, loop.OpLoadAt:
		c.loadGeneral(c.p.Bufs[in.Imm].DType, t, d, c.oneAt(int(in.Imm), in.A))
	case loop.OpAdd:
		n, small := c.small(in.B)
		switch a := c.g(in.A); {
		case a == d:
			two(asm.ADD)
		case small:
			c.load(asm.LEA, d, lmem{base: a, disp: int32(n)})
		default:
			c.load(asm.LEA, d, lmem{base: a, index: c.g(in.B), scale: 1})
		}
	case loop.OpSub:
		two(asm.SUB)
	case loop.OpMul:
		if n, ok := c.small(in.B); ok {
			c.op1i(asm.IMUL, d, c.g(in.A), n)
		} else {
			two(asm.IMUL)
		}
	case loop.OpAnd:
		two(asm.AND)
	case loop.OpOr:
		two(asm.OR)
	case loop.OpXor:
		two(asm.XOR)
	case loop.OpNeg, loop.OpNot:
		from()
		c.emit([...]asm.Op{loop.OpNeg: asm.NEG, loop.OpNot: asm.NOT}[in.Op], fDef|fRMW, d)
	case loop.OpShl, loop.OpShr, loop.OpShrU:
		from()
		op := asm.SHL
		switch in.Op {
		case loop.OpShr:
			op = gsar.of(t)
		case loop.OpShrU:
			op = gshr.of(t)
		}
		c.updi(op, d, int64(c.p.Ins[in.B].Imm))
	case loop.OpMin, loop.OpMax, loop.OpMinU, loop.OpMaxU:
		cond := [...]asm.Cond{loop.OpMin: asm.CondG, loop.OpMax: asm.CondL, loop.OpMinU: asm.CondA, loop.OpMaxU: asm.CondB}[in.Op]
		b := c.g(in.B)
		from()
		c.use2(gcmp.of(t), d, b)
		c.upd(asm.CMOVO+asm.Op(cond), d, b)
	case loop.OpSelect:
		x, y := c.g(in.B), c.g(in.C)
		c.mov(d, y)
		c.upd(asm.CMOVO+asm.Op(c.flags(in.A)), d, x)
	case loop.OpCvt:
		from := c.p.Ins[in.A].Type
		switch {
		case from == t || t == loop.I32:
			c.mov(d, c.g(in.A))
		case unsigned(c.p, in) == 1:
			c.op1(asm.MOV32, d, c.g(in.A))
		default:
			c.op1(asm.MOVSXD, d, c.g(in.A))
		}
	}
}

// loadGeneral reads an element as an integer of type t.
func (c *compiler) loadGeneral(e array.DType, t loop.Type, d vr, m lmem) {
	op := elements[e.Size()].get
	if e.Size() < t.Size() && signed(e) == 1 {
		op = [...]asm.Op{1: asm.MOVSX8, 2: asm.MOVSX16}[e.Size()]
	}
	c.load(op, d, m)
}

// flags emits the comparison v and returns the condition code that holds if v is true.
func (c *compiler) flags(v loop.Value) asm.Cond {
	in := &c.p.Ins[v]
	t := c.p.Ins[in.A].Type
	if n, ok := c.small(in.B); ok {
		c.emit(gcmp.of(t), 0, c.g(in.A)).with(n)
	} else {
		a, b := c.g(in.A), c.g(in.B)
		c.use2(gcmp.of(t), a, b)
	}
	return conds[in.Op-loop.OpEq]
}

// unless jumps to l if the uniform condition v is false.
func (c *compiler) unless(v loop.Value, l asm.Label) {
	if c.inGPR[v] {
		c.onLine(v, func() { c.branchOn(v, false, l) })
	} else {
		c.none([]vr{c.get(v, 0)}, l)
	}
}

// branchOn jumps to l if condition v equals is.
func (c *compiler) branchOn(v loop.Value, is bool, l asm.Label) {
	in := &c.p.Ins[v]
	switch {
	case in.Op == loop.OpNot:
		c.branchOn(in.A, !is, l)
	case in.Op != loop.OpAnd && in.Op != loop.OpOr:
		cond := c.flags(v)
		if !is {
			cond = cond.Not()
		}
		c.jcc(cond, l)
	case (in.Op == loop.OpOr) == is: // either decides
		c.branchOn(in.A, is, l)
		c.branchOn(in.B, is, l)
	default:
		on := c.asm.NewLabel()
		c.branchOn(in.A, !is, on)
		c.branchOn(in.B, is, l)
		c.label(on)
	}
}
