package loop

import "math"

// A span is what is known of an integer: it is one of lo to hi.
type span struct{ lo, hi int64 }

func everything(t Type) span {
	switch t {
	case I8:
		return span{math.MinInt8, math.MaxInt8}
	case I16:
		return span{math.MinInt16, math.MaxInt16}
	case I32:
		return span{math.MinInt32, math.MaxInt32}
	}
	return span{math.MinInt64, math.MaxInt64}
}

// nothing is the span of what has not been reached yet.
var nothing = span{math.MaxInt64, math.MinInt64}

func (s span) join(o span) span { return span{min(s.lo, o.lo), max(s.hi, o.hi)} }

// meet is what both allow; it may be empty, where that is never computed.
func (s span) meet(o span) span { return span{max(s.lo, o.lo), min(s.hi, o.hi)} }

func (s span) empty() bool { return s.lo > s.hi }

// within reports that s allows no more than o.
func (s span) within(o span) bool { return s.lo >= o.lo && s.hi <= o.hi }

// within32 reports that an I32 holds whatever s allows.
func (s span) within32() bool { return s.within(everything(I32)) }

// ranges finds the spans of the integers of a program. A span in a loop holds in all trips: a
// loop-carried value is widened to the bounds of its type where it grows, and narrowed by the
// condition under which lanes go on (Cousot and Cousot, 1977).
type ranges struct {
	p *Program
	s []span // by value; of a truth value nothing
}

// spans returns, by value, between what the integers of a program are where they are
// computed.
func spans(p *Program) []span {
	r := ranges{p: p, s: make([]span, len(p.Ins))}
	r.block(p.Body)
	return r.s
}

func (r *ranges) of(v Value) span {
	if t := r.p.Ins[v].Type; !t.Int() {
		return everything(I64)
	}
	return r.s[v]
}

func (r *ranges) block(b []Value) {
	for _, v := range b {
		r.ins(v)
	}
}

func (r *ranges) ins(v Value) {
	p, in := r.p, &r.p.Ins[v]
	g := p.Region(in)
	switch in.Op {
	case OpPass:
		r.block(g.Body)
	case OpIf:
		then := r.under(g.Cond, true, func() []span { r.block(g.Body); return r.all(g.Next) })
		els := r.under(g.Cond, false, func() []span { r.block(g.Else); return r.all(g.ElseNext) })
		r.results(v, func(i uint64) span { return then[i].join(els[i]) })
	case OpLoop:
		r.loop(g)
		r.results(v, func(i uint64) span { return r.of(g.Params[i]) })
	case OpOut:
	default:
		if in.Type.Int() {
			r.s[v] = r.value(in)
		}
	}
}

func (r *ranges) all(vs []Value) (out []span) {
	for _, v := range vs {
		out = append(out, r.of(v))
	}
	return out
}

// results sets the spans of the OpOut of an instruction, which stand behind it.
func (r *ranges) results(of Value, s func(i uint64) span) {
	for v := int(of) + 1; v < len(r.p.Ins); v++ {
		if in := &r.p.Ins[v]; in.Op == OpOut && in.A == of && in.Type.Int() {
			r.s[v] = s(in.Imm)
		}
	}
}

func (r *ranges) loop(g *Region) {
	init := r.all(g.Init)
	now := init
	next := func() []span {
		for i, q := range g.Params {
			r.s[q] = now[i]
		}
		r.block(g.Head)
		out := r.under(g.Cond, true, func() []span { r.block(g.Body); return r.all(g.Next) })
		for i := range out {
			out[i] = init[i].join(out[i])
		}
		return out
	}
	for n := 0; ; n++ {
		grown, out := false, next()
		for i, q := range g.Params {
			if o := out[i]; !o.within(now[i]) {
				if n > 0 {
					all := everything(r.p.Ins[q].Type)
					if o.lo < now[i].lo {
						o.lo = all.lo
					}
					if o.hi > now[i].hi {
						o.hi = all.hi
					}
				}
				out[i], grown = now[i].join(o), true
			} else {
				out[i] = now[i]
			}
		}
		now = out
		if !grown {
			break
		}
	}
	// Any trip from spans that hold gives spans that hold.
	for range 2 {
		out := next()
		for i, q := range g.Params {
			out[i] = out[i].meet(now[i])
			r.s[q] = out[i]
		}
		now = out
	}
}

// under runs f with what a condition says of the values that it compares, if it holds or
// does not.
func (r *ranges) under(cond Value, holds bool, f func() []span) []span {
	type known struct {
		v Value
		s span
	}
	var before []known
	narrow := func(v Value, s span) {
		if r.p.Ins[v].Type.Int() {
			before = append(before, known{v, r.s[v]})
			r.s[v] = r.s[v].meet(s)
		}
	}
	var assume func(cond Value, holds bool)
	assume = func(cond Value, holds bool) {
		in := &r.p.Ins[cond]
		switch in.Op {
		case OpNot:
			assume(in.A, !holds)
		case OpAnd, OpOr:
			if holds == (in.Op == OpAnd) {
				assume(in.A, holds)
				assume(in.B, holds)
			}
		case OpLt, OpLe, OpEq, OpNe, OpLtU, OpLeU:
			if !r.p.Ins[in.A].Type.Int() {
				return
			}
			a, b := r.of(in.A), r.of(in.B)
			if op := in.Op; op == OpLtU || op == OpLeU {
				// Of what is below a number without sign that has none.
				if holds && b.lo >= 0 && !b.empty() {
					narrow(in.A, span{0, b.hi})
				}
				return
			}
			x, y, op := in.A, in.B, in.Op
			if !holds {
				switch op {
				case OpLt: // b <= a
					x, y, op = y, x, OpLe
				case OpLe:
					x, y, op = y, x, OpLt
				case OpEq:
					op = OpNe
				case OpNe:
					op = OpEq
				}
				a, b = r.of(x), r.of(y)
			}
			switch all := everything(I64); op {
			case OpLt:
				if b.hi > all.lo {
					narrow(x, span{all.lo, b.hi - 1})
				}
				if a.lo < all.hi {
					narrow(y, span{a.lo + 1, all.hi})
				}
			case OpLe:
				narrow(x, span{all.lo, b.hi})
				narrow(y, span{a.lo, all.hi})
			case OpEq:
				narrow(x, b)
				narrow(y, a)
			}
		}
	}
	if cond != NoValue {
		assume(cond, holds)
	}
	out := f()
	for i := len(before) - 1; i >= 0; i-- {
		r.s[before[i].v] = before[i].s
	}
	return out
}

// fit returns the exact result s of an operation where it lies within the type's span all.
// Else the operation may wrap, and gives anything.
func (all span) fit(s span, exact bool) span {
	if !exact || !s.within(all) {
		return all
	}
	return s
}

// value returns the span of an instruction, from the spans of its operands.
func (r *ranges) value(in *Ins) span {
	all := everything(in.Type)
	var a, b span
	if in.A != NoValue {
		a = r.of(in.A)
	}
	if in.B != NoValue {
		b = r.of(in.B)
	}
	if in.Op.Pure() && in.Op != OpCvt && (in.A != NoValue && a.empty() || in.B != NoValue && b.empty()) {
		return nothing
	}
	switch in.Op {
	case OpConst:
		x := int64(in.Imm) << (64 - 8*in.Type.Size()) >> (64 - 8*in.Type.Size())
		return span{x, x}
	case OpLoad, OpLoadAt:
		return r.loaded(in)
	case OpAdd, OpSub, OpMul, OpNeg, OpAbs:
		return sums(in.Op, a, b, all)
	case OpMin, OpMax, OpMinU, OpMaxU:
		return extremes(in.Op, a, b, all)
	case OpQuo, OpRem, OpQuoU, OpRemU:
		return quotients(in.Op, a, b, all)
	case OpAnd, OpOr, OpXor, OpNot:
		return bitwise(in.Op, a, b, all)
	case OpShl, OpShr, OpShrU:
		return shifts(in.Op, a, b, in.Type)
	case OpPopCount, OpLzCnt, OpTzCnt:
		return span{0, int64(8 * in.Type.Size())}
	case OpSelect:
		x := r.under(in.A, true, func() []span { return r.all([]Value{in.B}) })[0]
		y := r.under(in.A, false, func() []span { return r.all([]Value{in.C}) })[0]
		return x.join(y)
	case OpCvt:
		return r.converted(in, a)
	}
	return all
}

// loaded returns the span of a load, which is that of the buffer's type where Program.Wide
// widens its elements.
func (r *ranges) loaded(in *Ins) span {
	b := &r.p.Bufs[in.Imm]
	if t := TypeOf(b.DType); t.Int() && t.Size() < in.Type.Size() { // Program.Wide
		if b.DType.Unsigned() {
			return span{0, everything(t).hi*2 + 1}
		}
		return everything(t)
	}
	return everything(in.Type)
}

// sums returns the span of sums, differences, products and absolute values of a type whose
// span is all.
func sums(op Op, a, b, all span) span {
	switch op {
	case OpAdd:
		lo, ok1 := addExact(a.lo, b.lo)
		hi, ok2 := addExact(a.hi, b.hi)
		return all.fit(span{lo, hi}, ok1 && ok2)
	case OpSub:
		lo, ok1 := subExact(a.lo, b.hi)
		hi, ok2 := subExact(a.hi, b.lo)
		return all.fit(span{lo, hi}, ok1 && ok2)
	case OpMul:
		s, ok := nothing, true
		for _, x := range [...]int64{a.lo, a.hi} {
			for _, y := range [...]int64{b.lo, b.hi} {
				z, exact := mulExact(x, y)
				ok = ok && exact
				s = s.join(span{z, z})
			}
		}
		return all.fit(s, ok)
	case OpNeg:
		lo, ok1 := subExact(0, a.hi)
		hi, ok2 := subExact(0, a.lo)
		return all.fit(span{lo, hi}, ok1 && ok2)
	case OpAbs:
		if a.lo == all.lo {
			return all
		}
		if a.lo >= 0 {
			return a
		}
		return span{max(0, -a.hi), max(a.hi, -a.lo)}
	}
	return all
}

// extremes returns the span of minima and maxima.
func extremes(op Op, a, b, all span) span {
	switch op {
	case OpMin:
		return span{min(a.lo, b.lo), min(a.hi, b.hi)}
	case OpMax:
		return span{max(a.lo, b.lo), max(a.hi, b.hi)}
	case OpMinU, OpMaxU:
		if a.lo >= 0 && b.lo >= 0 {
			if op == OpMinU {
				return span{min(a.lo, b.lo), min(a.hi, b.hi)}
			}
			return span{max(a.lo, b.lo), max(a.hi, b.hi)}
		}
	}
	return all
}

// quotients returns the span of quotients and remainders.
func quotients(op Op, a, b, all span) span {
	switch op {
	case OpQuo:
		if a.lo == all.lo {
			return all
		}
		m := max(a.hi, -a.lo, 0) // no quotient is larger
		if a.lo >= 0 && b.lo >= 0 {
			return span{0, m}
		}
		return span{-m, m}
	case OpRem:
		m := int64(math.MaxInt64) // the rest is smaller than the divisor and not beyond the dividend
		if b.lo > math.MinInt64 {
			m = max(b.hi, -b.lo, 1) - 1
		}
		return span{max(min(a.lo, 0), -m), min(max(a.hi, 0), m)}
	case OpQuoU, OpRemU:
		if a.lo >= 0 && b.lo >= 0 {
			return span{0, a.hi}
		}
	}
	return all
}

// bitwise returns the span of operations on each bit.
func bitwise(op Op, a, b, all span) span {
	switch op {
	case OpAnd:
		switch {
		case a.lo >= 0 && b.lo >= 0:
			return span{0, min(a.hi, b.hi)}
		case a.lo >= 0:
			return span{0, a.hi}
		case b.lo >= 0:
			return span{0, b.hi}
		}
	case OpOr, OpXor:
		if a.lo >= 0 && b.lo >= 0 {
			return span{0, ones(a.hi | b.hi)}
		}
		// Below zero too: of as many bits as the longer of the two.
		m := ones(max(a.hi, b.hi, ^a.lo, ^b.lo))
		return all.fit(span{^m, m}, true)
	case OpNot:
		return span{^a.hi, ^a.lo}
	}
	return all
}

// shifts returns the span of shifts of a by b, of type t.
func shifts(op Op, a, b span, t Type) span {
	all := everything(t)
	switch op {
	case OpShl:
		if b.lo == b.hi && b.lo >= 0 && b.lo < int64(8*t.Size()-1) {
			lo, ok1 := mulExact(a.lo, 1<<b.lo)
			hi, ok2 := mulExact(a.hi, 1<<b.lo)
			return all.fit(span{lo, hi}, ok1 && ok2)
		}
	case OpShr:
		if b.lo == b.hi && b.lo >= 0 && b.lo < int64(8*t.Size()) {
			return span{a.lo >> b.lo, a.hi >> b.lo}
		}
		return span{min(a.lo, -1), max(a.hi, 0)}
	case OpShrU:
		if a.lo >= 0 {
			if b.lo == b.hi && b.lo >= 0 && b.lo < 64 {
				return span{a.lo >> b.lo, a.hi >> b.lo}
			}
			return span{0, a.hi}
		}
		if b.lo == b.hi && b.lo > 0 && b.lo < int64(8*t.Size()) {
			return span{0, int64(uint64(1)<<(8*t.Size()-int(b.lo)) - 1)}
		}
	}
	return all
}

// converted returns the span of a conversion of a value whose span is a.
func (r *ranges) converted(in *Ins, a span) span {
	all, from := everything(in.Type), r.p.Ins[in.A].Type
	switch {
	case from == B:
		return span{0, 1}
	case !from.Int() || a.empty():
		return all
	case in.Imm&FromUnsigned != 0 && in.Type.Size() > from.Size():
		if a.lo >= 0 {
			return a
		}
		return span{0, everything(from).hi*2 + 1}
	}
	return all.fit(a, true)
}

// ones is x, which is not negative, with all bits below its highest set.
func ones(x int64) int64 {
	for n := 1; n < 64; n *= 2 {
		x |= x >> n
	}
	return x
}

func addExact(x, y int64) (int64, bool) {
	z := x + y
	return z, (x^z)&(y^z) >= 0
}

func subExact(x, y int64) (int64, bool) {
	z := x - y
	return z, (x^y)&(x^z) >= 0
}

func mulExact(x, y int64) (int64, bool) {
	z := x * y
	if x == 0 || y == 0 {
		return 0, true
	}
	return z, z/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64)
}
