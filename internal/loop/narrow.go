package loop

import "fmt"

// A Note says what [Narrow] found of an integer of 8 bytes.
type Note struct {
	Value  Value  // of the program that was given
	Lo, Hi int64  // between which it is
	Narrow bool   // it is computed in 4 bytes
	Why    string // if not: the reason
}

func (n Note) String() string {
	if n.Narrow {
		return fmt.Sprintf("v%d: 32 bits, %d to %d", n.Value, n.Lo, n.Hi)
	}
	return fmt.Sprintf("v%d: 64 bits, %s", n.Value, n.Why)
}

// Narrow returns a program that gives the same bits and computes integers of 8 bytes in 4
// where they provably never need more: twice as many then fit into a vector. It is p
// itself if there are none, or if all else takes 8 bytes, so that nothing is gained.
//
// Bounds are found from constants, narrower types, masks and remainders, and from what the
// conditions of loops and ifs demand; a number from memory or an argument has none.
func Narrow(p *Program) (*Program, []Note) {
	w := &narrower{s: spans(p), same: p.Same(p.Lane, true), narrow: make([]bool, len(p.Ins))}
	w.p = p
	short := false
	for v := range p.Ins {
		t := p.Ins[v].Type
		short = short || t.Size() > 0 && t.Size() < 8 && !w.same[v]
	}
	some := false
	for w.changed = short; w.changed; {
		w.changed = false
		p.Walk(p.Body, w.decide)
		some = some || w.changed
	}
	var notes []Note
	p.Walk(p.Body, func(v Value, in *Ins) {
		if r := p.Region(in); r != nil {
			for _, q := range r.Params {
				notes = w.note(notes, q, short)
			}
		}
		notes = w.note(notes, v, short)
	})
	if !some {
		return p, notes
	}
	w.rewriter = newRewriter(p)
	w.rewrite(w)
	q := w.b.Finish()
	for _, n := range notes {
		if n.Narrow {
			q.Narrowed++
		}
	}
	return q, notes
}

// A narrower rewrites a program with integers of 4 bytes.
type narrower struct {
	rewriter
	s       []span // by value of the program
	same    []bool
	narrow  []bool // by value of the program: computed in 4 bytes
	changed bool
}

func (w *narrower) note(notes []Note, v Value, short bool) []Note {
	in := &w.p.Ins[v]
	if in.Type != I64 || in.Op == OpConst {
		return notes
	}
	n := Note{Value: v, Lo: w.s[v].lo, Hi: w.s[v].hi, Narrow: w.narrow[v]}
	switch {
	case n.Narrow:
	case w.s[v].empty():
		return notes // never computed
	case !short:
		n.Why = "as all else is computed"
	case in.Op == OpScalar:
		n.Why = "an argument that may be any number"
	case in.Op == OpLoad || in.Op == OpLoadAt:
		n.Why = "an element of 8 bytes"
	case !w.s[v].within32():
		n.Why = fmt.Sprintf("between %d and %d", n.Lo, n.Hi)
	case w.same[v]:
		n.Why = "one for all lanes"
	default:
		n.Why = "of operands of 64 bits"
	}
	return append(notes, n)
}

// fits reports an integer that 4 bytes hold.
func (w *narrower) fits(v Value) bool {
	return w.p.Ins[v].Type == I64 && w.s[v].within32()
}

// plus reports one that is not below 0 too.
func (w *narrower) plus(v Value) bool { return w.fits(v) && w.s[v].lo >= 0 }

// decide marks values that are to be narrow: those that differ from lane to lane, and
// what is made of such.
func (w *narrower) decide(v Value, in *Ins) {
	p := w.p
	mark := func(v Value, yes bool) {
		if yes && !w.narrow[v] {
			w.narrow[v], w.changed = true, true
		}
	}
	switch r := p.Region(in); in.Op {
	case OpLoop:
		for i, q := range r.Params {
			leaves := r.Cond != NoValue && !w.same[r.Cond]
			mark(q, w.fits(q) && (leaves || !w.same[q] || w.narrow[r.Init[i]] || w.narrow[r.Next[i]]))
		}
		return
	case OpOut:
		r = p.Region(&p.Ins[in.A])
		mark(v, w.resultNarrow(r, int(in.Imm)))
		return
	}
	mark(v, w.possible(in) && w.fits(v) && (!w.same[v] || w.narrowed(in)))
}

// resultNarrow reports a result of a loop or if that is narrow.
func (w *narrower) resultNarrow(r *Region, i int) bool {
	if len(r.Params) > 0 {
		return w.narrow[r.Params[i]]
	}
	x, y := r.Next[i], r.ElseNext[i]
	return w.fits(x) && w.fits(y) && (w.narrow[x] || w.narrow[y])
}

// narrowed reports an operand that is narrow.
func (w *narrower) narrowed(in *Ins) bool {
	for _, o := range in.Operands() {
		if o != NoValue && w.narrow[o] {
			return true
		}
	}
	return false
}

// possible reports an operation that gives in 4 bytes, of operands that 4 bytes hold, what
// it gives in 8, if 4 hold that.
func (w *narrower) possible(in *Ins) bool {
	switch in.Op {
	case OpAdd, OpSub, OpMul, OpMin, OpMax, OpAnd, OpOr, OpXor, OpQuo, OpRem, OpShr,
		OpEq, OpNe, OpLt, OpLe:
		return w.fits(in.A) && w.fits(in.B)
	case OpNeg, OpAbs, OpNot:
		return w.fits(in.A)
	case OpMinU, OpMaxU, OpQuoU, OpRemU, OpLtU, OpLeU:
		return w.plus(in.A) && w.plus(in.B)
	case OpShrU:
		return w.plus(in.A) && w.fits(in.B)
	case OpShl:
		return w.fits(in.A) && w.plus(in.B) && w.s[in.B].hi < 32
	case OpSelect:
		return w.fits(in.B) && w.fits(in.C)
	case OpCvt:
		t := w.p.Ins[in.A].Type
		switch {
		case in.Type == I64:
			return !t.Float()
		case t == I64:
			return w.fits(in.A) && (in.Imm&FromUnsigned == 0 || w.plus(in.A))
		}
	}
	return false
}

// get returns v as t, if it is an integer of 8 bytes that 4 hold, else as it is.
func (w *narrower) get(v Value, t Type) Value {
	if v == NoValue {
		return v
	}
	switch in := &w.p.Ins[v]; {
	case in.Type != I64 || !w.fits(v):
		return w.vals[v]
	case in.Op == OpConst:
		return w.b.Int(t, int64(in.Imm))
	}
	return w.b.Cvt(t, w.vals[v])
}

// offset returns an offset. One that all lanes share is of 8 bytes, and constants that are
// added to it are added last, where backends find them.
func (w *narrower) offset(v Value) Value {
	in := &w.p.Ins[v]
	if !w.same[v] {
		return w.vals[v]
	}
	if k := in.B; (in.Op == OpAdd || in.Op == OpSub) && w.narrow[v] && w.p.Ins[k].Op == OpConst {
		return w.b.Binary(in.Op, w.offset(in.A), w.get(k, I64))
	}
	return w.get(v, I64)
}

func (w *narrower) carry(r *Region, i int, x Value) Value {
	switch {
	case !w.resultNarrow(r, i):
		return w.get(x, I64)
	case w.p.Ins[x].Op == OpConst:
		return w.get(x, I32)
	}
	return w.b.Cvt(I32, w.vals[x]) // what gets here fits, even if x may not where it comes from
}

func (w *narrower) behind(Value) {}

func (w *narrower) ins(v Value) Value {
	b, in := w.b, &w.p.Ins[v]
	switch in.Op {
	case OpLoad:
		return b.Load(int(in.Imm))
	case OpLoadAt:
		return b.LoadAt(int(in.Imm), w.offset(in.A))
	case OpStore:
		b.Store(int(in.Imm), w.get(in.A, I64))
		return NoValue
	case OpStoreAt:
		b.StoreAt(int(in.Imm), w.get(in.A, I64), w.offset(in.B))
		return NoValue
	case OpReduce:
		return b.Reduce(Reduction(in.Imm), w.get(in.A, I64))
	}
	// Truth values and floats of narrow integers, too.
	t := I64
	if w.narrow[v] || in.Type != I64 && w.possible(in) && w.narrowed(in) {
		t = I32
	}
	x, y, z := w.get(in.A, t), w.get(in.B, t), w.get(in.C, t)
	switch {
	case in.Op == OpCvt && w.narrow[v]:
		return b.CvtSigned(I32, x, int(in.Imm))
	case in.Op == OpCvt && t == I32: // of one without sign that is not below 0
		return b.CvtSigned(in.Type, x, int(in.Imm&^FromUnsigned))
	}
	if in.Type == I64 {
		return b.pure(in.Op, t, x, y, z, in.Imm)
	}
	return b.pure(in.Op, in.Type, x, y, z, in.Imm)
}
