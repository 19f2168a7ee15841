package loop

// A form says what the high bits of a wide value are that holds a narrow one. A value whose narrow
// one has 0 as its highest bit may have both forms.
type form uint8

const (
	signed form = 1 << iota // copies of the narrow value's highest bit
	zeroed                  // zeros
	either      = signed | zeroed
	dirty  form = 0 // anything
)

// Widen returns a program that gives the same bits and has no integers narrower than t, which is
// I16 or I32. It returns p itself if p has none. Buffers and scalar arguments stay as they are:
// loads of narrower integers give values of type t, see [Program.Wide].
//
// The high bits of a wide value that holds a narrow one are left as operations leave them. Sums
// and products ignore them, so 2*a+3*b needs no extension of a or b. Only where an operation
// depends on the high bits are they extended, by the sign or by zeros. On operands that are
// extended by zeros, operations with a sign replace operations without.
func Widen(p *Program, t Type) *Program {
	w := &widener{t: t}
	w.p = p
	if !w.needed() {
		return p
	}
	w.forms = make([]form, len(p.Ins))
	for v := range w.forms {
		w.forms[v] = either
	}
	for w.settle() {
	}
	w.rewriter = newRewriter(p)
	w.b.Program().Wide = t
	for i, s := range p.Scalars {
		w.b.Program().Scalars[i] = w.wide(s)
	}
	w.rewrite(w)
	return w.b.Finish()
}

// A widener rewrites a program.
type widener struct {
	rewriter
	t     Type
	forms []form // by value of p: what is sure of the wide one
}

// narrow reports a type that is widened.
func (w *widener) narrow(t Type) bool { return t.Int() && t.Size() < w.t.Size() }

func (w *widener) wide(t Type) Type {
	if w.narrow(t) {
		return w.t
	}
	return t
}

func (w *widener) needed() bool {
	for i := range w.p.Ins {
		if w.narrow(w.p.Ins[i].Type) {
			return true
		}
	}
	for _, s := range w.p.Scalars {
		if w.narrow(s) {
			return true
		}
	}
	for i := range w.p.Bufs {
		if w.narrow(w.p.TypeOf(i)) {
			return true
		}
	}
	return false
}

// settle lowers the forms of values and reports whether any changed. It runs until none does, as
// loops carry values from their ends to their heads.
func (w *widener) settle() (changed bool) {
	lower := func(v Value, f form) {
		if f &= w.forms[v]; f != w.forms[v] {
			w.forms[v], changed = f, true
		}
	}
	w.p.Walk(w.p.Body, func(v Value, in *Ins) {
		switch r := w.p.Region(in); {
		case in.Op == OpLoop:
			for i, q := range r.Params {
				lower(q, w.common(r.Init[i], r.Next[i]))
			}
		case r != nil:
		default:
			_, f := w.rule(in)
			lower(v, f)
		}
	})
	return changed
}

// free reports a negative constant, which is made in whatever form is wanted. Other constants have
// both forms.
func (w *widener) free(v Value) bool {
	in := &w.p.Ins[v]
	return in.Op == OpConst && w.narrow(in.Type) && in.Imm>>(8*in.Type.Size()-1) != 0
}

// has reports that a value has a form or is made in it.
func (w *widener) has(v Value, f form) bool { return w.free(v) || w.forms[v]&f == f }

// common returns the form that both values have, or can be made in.
func (w *widener) common(x, y Value) form {
	f, free := either, false
	for _, v := range [...]Value{x, y} {
		if w.free(v) {
			free = true
		} else {
			f &= w.forms[v]
		}
	}
	if free && f == either {
		return zeroed
	}
	return f
}

// small reports a value that has both forms: the highest bit of its narrow value is 0.
func (w *widener) small(v Value) bool { return !w.free(v) && w.forms[v] == either }

// as returns the rule of an operation that takes all operands in form f. Its result has the given
// form, or both forms if small.
func as(f, result form, small bool) ([3]form, form) {
	if small {
		result = either
	}
	return [3]form{f, f, f}, result
}

// rule returns the forms in which an instruction takes its operands A, B and C, and the form of its
// result, for those that are narrow.
func (w *widener) rule(in *Ins) (need [3]form, result form) {
	switch in.Op {
	case OpConst, OpLoad, OpLoadAt, OpOut:
		return need, w.given(in)
	case OpNot, OpAnd, OpOr, OpXor:
		return w.bitwise(in)
	case OpShl, OpShr, OpShrU:
		return w.shift(in)
	case OpCvt:
		return w.converted(in)
	case OpAbs:
		return as(signed, zeroed, w.small(in.A)) // of the least integer it is as of a number without sign
	case OpMin, OpMax, OpRem:
		return as(signed, signed, w.small(in.A) && w.small(in.B))
	case OpQuo:
		return as(signed, dirty, w.small(in.A) && w.small(in.B))
	case OpMulHi:
		return as(signed, signed, false)
	case OpMinU, OpMaxU:
		return as(zeroed, zeroed, w.small(in.A) && w.small(in.B))
	case OpQuoU, OpRemU:
		return as(zeroed, zeroed, w.small(in.A)) // not above A
	case OpMulHiU:
		return as(zeroed, zeroed, false)
	case OpRotL:
		return [3]form{zeroed, dirty}, dirty
	case OpPopCount, OpLzCnt:
		return as(zeroed, either, false)
	case OpTzCnt:
		return need, either
	case OpEq, OpNe:
		f := w.common(in.A, in.B)
		if f != signed {
			f = zeroed
		}
		return as(f, dirty, false)
	case OpLt, OpLe:
		return as(signed, dirty, false)
	case OpLtU, OpLeU:
		return as(zeroed, dirty, false)
	case OpSelect:
		f := w.common(in.B, in.C)
		return as(f, f, false)
	case OpReduce:
		switch Reduction(in.Imm) {
		case Min, Max:
			return as(signed, signed, false)
		case MinU, MaxU:
			return as(zeroed, zeroed, false)
		}
	}
	return need, result
}

// given returns the form of a value without operands: a constant, load or result of a region.
func (w *widener) given(in *Ins) form {
	switch in.Op {
	case OpConst:
		return either // see free
	case OpLoad, OpLoadAt:
		switch d := w.p.Bufs[in.Imm].DType; {
		case !d.Unsigned():
			return signed
		case d.Size() < in.Type.Size(): // was widened before
			return either
		}
		return zeroed
	case OpOut:
		r := w.p.Region(&w.p.Ins[in.A])
		if w.p.Ins[in.A].Op == OpLoop {
			return w.forms[r.Params[in.Imm]]
		}
		return w.common(r.Next[in.Imm], r.ElseNext[in.Imm])
	}
	return dirty
}

// bitwise is the rule of operations on each bit.
func (w *widener) bitwise(in *Ins) (need [3]form, result form) {
	switch in.Op {
	case OpNot:
		if w.has(in.A, signed) {
			return as(signed, signed, false)
		}
	case OpAnd, OpOr, OpXor:
		f := w.common(in.A, in.B)
		switch a, b := w.has(in.A, zeroed), w.has(in.B, zeroed); {
		case f == either || in.Op == OpAnd && (w.small(in.A) || w.small(in.B)):
			return need, either
		case f != dirty || in.Op != OpAnd:
			return as(f, f, false)
		case a:
			return [3]form{zeroed, dirty}, zeroed
		case b:
			return [3]form{dirty, zeroed}, zeroed
		}
	}
	return need, dirty
}

// shift is the rule of shifts. Counts are beyond the width in either form where they are
// beyond the narrow one.
func (w *widener) shift(in *Ins) (need [3]form, result form) {
	need[1] = signed
	if !w.has(in.B, signed) {
		need[1] = zeroed
	}
	if in.Op == OpShr {
		need[0], result = signed, signed
	}
	if in.Op == OpShrU {
		need[0], result = zeroed, zeroed
	}
	if in.Op != OpShl && w.small(in.A) {
		result = either
	}
	return need, result
}

// converted is the rule of conversions.
func (w *widener) converted(in *Ins) (need [3]form, result form) {
	from := w.p.Ins[in.A].Type
	switch {
	case from == B:
		return need, either
	case from.Float() && in.Imm&ToUnsigned != 0:
		return need, zeroed
	case from.Float():
		return need, signed
	case !w.narrow(from) || w.narrow(in.Type) && in.Type.Size() < from.Size():
		return need, dirty
	case in.Imm&FromUnsigned != 0:
		return as(zeroed, either, false)
	}
	return as(signed, signed, w.small(in.A))
}

// get returns the wide value of v in form f.
func (w *widener) get(v Value, f form) Value {
	if v == NoValue {
		return v
	}
	in := &w.p.Ins[v]
	if !w.narrow(in.Type) {
		return w.vals[v]
	}
	more := int64(8 * (w.t.Size() - in.Type.Size()))
	if in.Op == OpConst {
		x := int64(in.Imm)
		if f == signed {
			x = x << (64 - 8*in.Type.Size()) >> (64 - 8*in.Type.Size())
		}
		return w.b.Int(w.t, x)
	}
	x := w.vals[v]
	switch {
	case w.forms[v]&f == f:
		return x
	case f == zeroed:
		return w.b.And(x, w.b.Int(w.t, 1<<(8*in.Type.Size())-1))
	}
	return w.b.Shr(w.b.Shl(x, w.b.Int(w.t, more)), w.b.Int(w.t, more))
}

// carry returns x as result i of an if has it, or as a loop carries it.
func (w *widener) carry(r *Region, i int, x Value) Value {
	if len(r.Params) > 0 {
		return w.get(x, w.forms[r.Params[i]])
	}
	return w.get(x, w.common(r.Next[i], r.ElseNext[i]))
}

// behind gives the result of a reduction of narrow integers the limits of their type,
// which it is beyond if there was no element.
func (w *widener) behind(v Value) {
	in := &w.p.Ins[v]
	if !w.narrow(in.Type) {
		return
	}
	bits := 8 * in.Type.Size()
	switch Reduction(in.Imm) {
	case Min:
		w.vals[v] = w.b.Min(w.vals[v], w.b.Int(w.t, 1<<(bits-1)-1))
	case Max:
		w.vals[v] = w.b.Max(w.vals[v], w.b.Int(w.t, -1<<(bits-1)))
	case MinU:
		w.vals[v] = w.b.Min(w.vals[v], w.b.Int(w.t, 1<<bits-1))
	case MaxU:
		w.vals[v] = w.b.Max(w.vals[v], w.b.Int(w.t, 0))
	}
}

// withSign are the operations with a sign that do what those without do of numbers that
// are widened by zeros.
var withSign = map[Op]Op{OpMinU: OpMin, OpMaxU: OpMax, OpQuoU: OpQuo, OpRemU: OpRem, OpLtU: OpLt, OpLeU: OpLe}

// ins adds an instruction without blocks of its own.
func (w *widener) ins(v Value) Value {
	b, in := w.b, &w.p.Ins[v]
	need, _ := w.rule(in)
	x, y, z := w.get(in.A, need[0]), w.get(in.B, need[1]), w.get(in.C, need[2])
	of := in.Type // what tells whether it is narrow
	if in.Op >= OpEq && in.Op <= OpLeU || in.Op == OpCvt && !w.narrow(of) {
		of = w.p.Ins[in.A].Type
	}
	switch in.Op {
	case OpLoad:
		return b.Load(int(in.Imm))
	case OpLoadAt:
		return b.LoadAt(int(in.Imm), x)
	case OpStore:
		b.Store(int(in.Imm), x)
		return NoValue
	case OpStoreAt:
		b.StoreAt(int(in.Imm), x, y)
		return NoValue
	case OpReduce:
		kind := Reduction(in.Imm)
		if w.narrow(of) && kind >= MinU {
			kind -= MinU - Min
		}
		return b.Reduce(kind, x)
	}
	if !w.narrow(of) {
		return b.pure(in.Op, in.Type, x, y, z, in.Imm)
	}
	bits := int64(8 * of.Size())
	op := in.Op
	if s, ok := withSign[op]; ok {
		op = s
	}
	switch in.Op {
	case OpConst:
		return NoValue // see get
	case OpCvt:
		return w.cvt(in, x)
	case OpMulHi:
		return b.Shr(b.Mul(x, y), b.Int(w.t, bits))
	case OpMulHiU:
		return b.ShrU(b.Mul(x, y), b.Int(w.t, bits))
	case OpRotL:
		if c := &w.p.Ins[in.B]; c.Op == OpConst {
			left := int64(c.Imm) & (bits - 1)
			return b.Or(b.Shl(x, b.Int(w.t, left)), b.ShrU(x, b.Int(w.t, bits-left)))
		}
		left := b.And(y, b.Int(w.t, bits-1))
		return b.Or(b.Shl(x, left), b.ShrU(x, b.Sub(b.Int(w.t, bits), left)))
	case OpLzCnt:
		return b.Sub(b.Unary(op, x), b.Int(w.t, int64(8*w.t.Size())-bits))
	case OpTzCnt:
		return b.Unary(op, b.Or(x, b.Int(w.t, 1<<bits)))
	}
	return b.pure(op, w.wide(in.Type), x, y, z, in.Imm)
}

// cvt converts x from or to a narrow integer.
func (w *widener) cvt(in *Ins, x Value) Value {
	b, from := w.b, w.p.Ins[in.A].Type
	if !from.Float() {
		return b.Cvt(w.wide(in.Type), x)
	}
	// What is beyond the wide type is beyond the narrow one.
	lo, hi := int64(-1)<<(8*in.Type.Size()-1), int64(1)<<(8*in.Type.Size()-1)-1
	if in.Imm&ToUnsigned != 0 {
		lo, hi = 0, 2*hi+1
	}
	return b.Max(b.Min(b.Cvt(w.t, x), b.Int(w.t, hi)), b.Int(w.t, lo))
}
