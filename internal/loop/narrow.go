package loop

import "fmt"

// A Note says what [Narrow] found out about an integer of 8 bytes.
type Note struct {
	Value  Value  // in the program that Narrow was given
	Lo, Hi int64  // its bounds, both included
	Narrow bool   // it is computed in 4 bytes
	Why    string // the reason if it is not
}

func (n Note) String() string {
	if n.Narrow {
		return fmt.Sprintf("v%d: 32 bits, %d to %d", n.Value, n.Lo, n.Hi)
	}
	return fmt.Sprintf("v%d: 64 bits, %s", n.Value, n.Why)
}

// Narrow returns a program that gives the same bits and computes integers of 8 bytes in 4 where
// interval analysis proves that these suffice: twice as many fit into a vector. Narrow returns p
// itself if there are none, or if all other values have 8 bytes, so that nothing is gained.
//
// Bounds come from constants, narrower types, masks, remainders, and the conditions of loops and
// ifs. A number of 8 bytes from memory or an argument has none.
func Narrow(p *Program) (*Program, []Note) {
	w := &narrower{s: spans(p), uniform: p.Uniform(p.Lane, true), narrow: make([]bool, len(p.Ins))}
	w.p = p
	short := false
	for v := range p.Ins {
		t := p.Ins[v].Type
		short = short || t.Size() > 0 && t.Size() < 8 && !w.uniform[v]
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
	q := p
	if some {
		w.rewriter = newRewriter(p)
		w.rewrite(w)
		q = w.b.Finish()
	}
	q.Kept = w.kept(notes)
	if !some {
		return p, notes
	}
	for _, n := range notes {
		if n.Narrow {
			q.Narrowed++
		}
	}
	return q, notes
}

// A Kept names a variable of the source that [Narrow] left in 8 bytes, or an operand of such a
// variable.
type Kept struct {
	Line int    // of the source
	What string // the variable, and why
}

// kept returns the notes that help users: the bounds of variables that differ by lane, and the
// uniform values that such variables are computed from.
func (w *narrower) kept(notes []Note) []Kept {
	const far = 1 << 62
	p := w.p
	var out []Kept
	seen := map[string]bool{}
	made := map[Value]bool{} // operands of values that differ by lane and are kept
	for _, n := range notes {
		if !n.Narrow && !w.uniform[n.Value] {
			in := &p.Ins[n.Value]
			for _, o := range in.Operands() {
				if o != NoValue {
					made[o] = true
				}
			}
			if r := p.Region(&p.Ins[max(in.A, 0)]); in.Op == OpOut && len(r.Params) > 0 {
				made[r.Params[in.Imm]] = true // uniform inside the loop
			}
		}
	}
	lines, carried := w.carries()
	for _, n := range notes {
		v := n.Value
		in, name := &p.Ins[v], p.Names[n.Value]
		root := in.Op == OpScalar || in.Op == OpLoad || in.Op == OpLoadAt
		if n.Narrow || w.uniform[v] && !made[v] || name == "" && (!root || !made[v]) {
			continue
		}
		switch {
		case name != "":
		case in.Op == OpScalar:
			name = "an argument"
		default:
			name = "an element of an array"
		}
		why := fmt.Sprintf("is from %d to %d", n.Lo, n.Hi)
		switch {
		case n.Why == allElse:
			why = "is in 8 bytes " + allElse
		case in.Op == OpScalar || in.Op == OpLoad || in.Op == OpLoadAt:
			why = "is given in 8 bytes and may be any number"
		case carried[v] != "" && !w.s[v].within32():
			why = carried[v]
		case n.Lo < -far && n.Hi > far:
			why = "may be any number: no bounds are known of what it is made of"
		case n.Hi > far:
			why = fmt.Sprintf("has no known bound above %d", n.Lo)
		case n.Lo < -far:
			why = fmt.Sprintf("has no known bound below %d", n.Hi)
		case w.s[v].within32():
			why += ", but made of what is in 8 bytes"
		}
		if !seen[name] {
			seen[name] = true
			out = append(out, Kept{lines[v], name + " " + why})
		}
	}
	return out
}

// carries returns the source lines of values, and why a loop-carried value may be any number. The
// line of a loop-carried value is where it changes.
func (w *narrower) carries() (lines map[Value]int, why map[Value]string) {
	p := w.p
	lines, why = map[Value]int{}, map[Value]string{}
	p.Walk(p.Body, func(v Value, in *Ins) {
		lines[v] = p.Line(v)
		if in.Op != OpLoop {
			return
		}
		r := p.Region(in)
		for i, q := range r.Params {
			if lines[q] = p.Line(r.Next[i]); lines[q] == 0 && r.Cond != NoValue {
				lines[q] = p.Line(r.Cond)
			}
			why[q] = "changes in a loop, and no condition of the loop bounds it"
			if x := r.Init[i]; p.Ins[x].Type == I64 && !w.fits(x) {
				why[q] = "begins as what may be any number of 8 bytes"
			}
		}
	})
	return lines, why
}

const allElse = "as all else is computed"

// A narrower rewrites a program with integers of 4 bytes.
type narrower struct {
	rewriter
	s       []span // by value of the program
	uniform []bool
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
		n.Why = allElse
	case in.Op == OpScalar:
		n.Why = "an argument that may be any number"
	case in.Op == OpLoad || in.Op == OpLoadAt:
		n.Why = "an element of 8 bytes"
	case !w.s[v].within32():
		n.Why = fmt.Sprintf("between %d and %d", n.Lo, n.Hi)
	case w.uniform[v]:
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

// plus reports an integer that 4 bytes hold and that is not negative.
func (w *narrower) plus(v Value) bool { return w.fits(v) && w.s[v].lo >= 0 }

// decide marks the values to be computed in 4 bytes: values that differ by lane, and values
// computed from marked ones.
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
			leaves := r.Cond != NoValue && !w.uniform[r.Cond]
			mark(q, w.fits(q) && (leaves || !w.uniform[q] || w.narrow[r.Init[i]] || w.narrow[r.Next[i]]))
		}
		return
	case OpOut:
		r = p.Region(&p.Ins[in.A])
		mark(v, w.resultNarrow(r, int(in.Imm)))
		return
	}
	mark(v, w.possible(in) && w.fits(v) && (!w.uniform[v] || w.narrowed(in)))
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

// possible reports an operation whose operands fit in 4 bytes and which, if its result fits too,
// gives the same result in 4 bytes as in 8.
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

// get returns v converted to t if v is an integer of 8 bytes that fits in 4, else v itself.
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

// offset returns an offset. A uniform one has 8 bytes, and its constants are added last, where
// backends find them.
func (w *narrower) offset(v Value) Value {
	in := &w.p.Ins[v]
	if !w.uniform[v] {
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
