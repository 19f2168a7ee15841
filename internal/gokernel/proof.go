package gokernel

import (
	"fmt"
	"go/ast"
	"go/token"
	"math"
	"slices"

	"weft/internal/loop"
)

// Indices of plain arrays, and bounds of offsets, are proven from how they are computed: of
// constants, the element's index, lengths, and counters of loops, by sums and products with
// constants. What depends on lengths is left to the caller, who knows them.

// A Symbol is a number that the launch knows: [Extent] or [DimOf]. Inside proofs it is also
// [Index].
type Symbol struct {
	Kind  InputKind
	Param int
	Axis  int
}

// A Linear is a constant and symbols times constants.
type Linear struct {
	Const int
	Terms []Term
}

// A Term is a symbol times a constant.
type Term struct {
	Symbol
	Coef int
}

// An Obligation is a condition that must hold before the launch. An index of array parameter
// Param along Axis is at least the least of Low and at most the greatest of High. So all of Low
// must be at least 0, and all of High less than the length of the axis.
type Obligation struct {
	Param, Axis int
	Low, High   []Linear
	src         *Source
	pos         token.Pos
}

// Obligations lists what is to hold before the launch.
func (i *Instance) Obligations() []Obligation { return i.proofs }

// Check checks the obligation: extent is the shape of the result, dim returns the shape of the
// array of a parameter. The error names the position in the source.
func (o Obligation) Check(extent []int, dim func(param int) []int) error {
	eval := func(x Linear) int {
		n := x.Const
		for _, t := range x.Terms {
			switch t.Kind {
			case Extent:
				n += t.Coef * extent[t.Axis]
			case DimOf:
				n += t.Coef * dim(t.Param)[t.Axis]
			}
		}
		return n
	}
	// Nothing is read where the result has no elements.
	if slices.Contains(extent, 0) {
		return nil
	}
	n := dim(o.Param)[o.Axis]
	for _, x := range o.Low {
		if k := eval(x); k < 0 {
			return o.src.errorAt(o.pos, "this index may be %d, which is outside; Clamped, Wrapped and Zeroed arrays say what that reads", k)
		}
	}
	for _, x := range o.High {
		if k := eval(x); k >= n {
			return o.src.errorAt(o.pos, "this index may be %d, and the axis has the length %d; Clamped, Wrapped and Zeroed arrays say what that reads", k, n)
		}
	}
	return nil
}

// prove finds the obligation of an index of a plain array.
func (l *lowerer) prove(param, axis int, v loop.Value, pos token.Pos) {
	low, high := l.bounds(v)
	if low == nil || high == nil {
		l.src.refuse(pos, "this index is not proven to lie inside; Clamped, Wrapped and Zeroed arrays say what an index outside reads")
	}
	o := Obligation{param, axis, low, high, l.src, pos}
	for _, p := range l.inst.proofs {
		if p.Param == param && p.Axis == axis && fmt.Sprint(p.Low, p.High) == fmt.Sprint(low, high) {
			return
		}
	}
	l.inst.proofs = append(l.inst.proofs, o)
}

// constantRange returns constant bounds of an integer.
func (l *lowerer) constantRange(v loop.Value) (low, high int, ok bool) {
	a, b := l.bounds(v)
	if a == nil || b == nil {
		return 0, 0, false
	}
	low, high = math.MaxInt, math.MinInt
	for _, x := range a {
		if len(x.Terms) > 0 {
			return 0, 0, false
		}
		low = min(low, x.Const)
	}
	for _, x := range b {
		if len(x.Terms) > 0 {
			return 0, 0, false
		}
		high = max(high, x.Const)
	}
	return low, high, true
}

// far bounds constants in proofs, so that no sum overflows.
const far = 1 << 40

func (x Linear) add(y Linear, f int) (Linear, bool) {
	r := Linear{Const: x.Const, Terms: slices.Clone(x.Terms)}
	if abs(f) > far || abs(y.Const) > far {
		return r, false
	}
	if f != 0 && abs(y.Const) > far/abs(f) {
		return r, false
	}
	r.Const += f * y.Const
	if abs(r.Const) > far {
		return r, false
	}
	for _, t := range y.Terms {
		if abs(t.Coef) > far/max(abs(f), 1) {
			return r, false
		}
		k := slices.IndexFunc(r.Terms, func(o Term) bool { return o.Symbol == t.Symbol })
		if k < 0 {
			r.Terms = append(r.Terms, Term{t.Symbol, 0})
			k = len(r.Terms) - 1
		}
		if r.Terms[k].Coef += f * t.Coef; r.Terms[k].Coef == 0 {
			r.Terms = slices.Delete(r.Terms, k, k+1)
		}
	}
	return r, true
}

func abs(x int) int { return max(x, -x) }

// A fact says what is known of a loop's counter, inside the loop.
type fact struct{ low, high []Linear }

// bounds returns what a value is at least the least of, and at most the greatest of; nil if
// nothing is known.
func (l *lowerer) bounds(v loop.Value) (low, high []Linear) {
	return l.boundsOf(v, 20)
}

// boundsOf is bounds, with at most this number of steps from operand to operand.
func (l *lowerer) boundsOf(v loop.Value, steps int) (low, high []Linear) {
	if steps == 0 {
		return nil, nil
	}
	steps--
	if c, ok := l.knownInt(v); ok {
		if c < -far || c > far {
			return nil, nil
		}
		x := []Linear{{Const: int(c)}}
		return x, x
	}
	if s, ok := l.symbols[v]; ok {
		x := Linear{Terms: []Term{{s, 1}}}
		if s.Kind == Index {
			return []Linear{{}}, []Linear{{Const: -1, Terms: []Term{{Symbol{Extent, 0, s.Axis}, 1}}}}
		}
		return []Linear{x}, []Linear{x}
	}
	if f, ok := l.facts[v]; ok {
		return f.low, f.high
	}
	in := &l.b.Program().Ins[v]
	if in.Op == loop.OpCvt && in.Imm == 0 && l.b.Type(in.A).Int() && l.b.Type(in.A).Size() < in.Type.Size() {
		return l.boundsOf(in.A, steps)
	}
	if in.Type != loop.I64 && in.Op != loop.OpMin && in.Op != loop.OpMax && in.Op != loop.OpSelect { // sums may wrap
		return nil, nil
	}
	switch in.Op {
	case loop.OpAdd, loop.OpSub, loop.OpMin, loop.OpMax:
		return l.boundsOfTwo(in, steps)
	case loop.OpNeg:
		la, ha := l.boundsOf(in.A, steps)
		zero := []Linear{{}}
		return sums(zero, ha, -1), sums(zero, la, -1)
	case loop.OpMul, loop.OpShl:
		return l.boundsOfMultiple(in, steps)
	case loop.OpSelect:
		la, ha := l.boundsOf(in.B, steps)
		lb, hb := l.boundsOf(in.C, steps)
		return union(la, lb), union(ha, hb)
	case loop.OpAnd:
		if c, ok := l.knownInt(in.B); ok && c >= 0 && c < far {
			return []Linear{{}}, []Linear{{Const: int(c)}}
		}
	case loop.OpQuo, loop.OpRem:
		return l.boundsOfQuotient(in, steps)
	}
	return nil, nil
}

// boundsOfTwo returns the bounds of a sum, difference, minimum or maximum.
func (l *lowerer) boundsOfTwo(in *loop.Ins, steps int) (low, high []Linear) {
	la, ha := l.boundsOf(in.A, steps)
	lb, hb := l.boundsOf(in.B, steps)
	switch in.Op {
	case loop.OpAdd:
		return sums(la, lb, 1), sums(ha, hb, 1)
	case loop.OpSub:
		return sums(la, hb, -1), sums(ha, lb, -1)
	case loop.OpMin:
		if ha == nil || hb != nil && fixed(hb) {
			ha = hb
		}
		return union(la, lb), ha
	}
	if la == nil || lb != nil && fixed(lb) {
		la = lb
	}
	return la, union(ha, hb)
}

// boundsOfMultiple returns the bounds of a product with a constant, or of a shift by one.
func (l *lowerer) boundsOfMultiple(in *loop.Ins, steps int) (low, high []Linear) {
	c, ok := l.knownInt(in.B)
	of := in.A
	if in.Op == loop.OpShl && ok && c >= 0 && c < 40 {
		c = 1 << c
	} else if in.Op == loop.OpShl {
		return nil, nil
	} else if !ok {
		c, ok = l.knownInt(in.A)
		of = in.B
	}
	if !ok || c < -far || c > far {
		return nil, nil
	}
	la, ha := l.boundsOf(of, steps)
	if c < 0 {
		la, ha = ha, la
	}
	zero := []Linear{{}}
	return sums(zero, la, int(c)), sums(zero, ha, int(c))
}

// boundsOfQuotient returns the bounds of a quotient by a constant, or of a remainder.
func (l *lowerer) boundsOfQuotient(in *loop.Ins, steps int) (low, high []Linear) {
	la, ha := l.boundsOf(in.A, steps)
	if in.Op == loop.OpRem {
		// Of a number that is not negative, by one that is at least 1 or gives 0.
		_, hb := l.boundsOf(in.B, steps)
		if la == nil || !fixed(la) || slices.ContainsFunc(la, func(x Linear) bool { return x.Const < 0 }) || hb == nil {
			return nil, nil
		}
		return []Linear{{}}, union(sums(hb, []Linear{{Const: 1}}, -1), []Linear{{}})
	}
	c, ok := l.knownInt(in.B)
	if !ok || c <= 0 || la == nil || ha == nil || !fixed(la) || !fixed(ha) {
		return nil, nil
	}
	la, ha = slices.Clone(la), slices.Clone(ha)
	for k := range la {
		la[k].Const /= int(c)
	}
	for k := range ha {
		ha[k].Const /= int(c)
	}
	return la, ha
}

func fixed(list []Linear) bool {
	return !slices.ContainsFunc(list, func(x Linear) bool { return len(x.Terms) > 0 })
}

// union is both lists, nil if one is.
func union(x, y []Linear) []Linear {
	if x == nil || y == nil {
		return nil
	}
	out := slices.Clone(x)
	for _, a := range y {
		if !slices.ContainsFunc(out, func(b Linear) bool { return b.Const == a.Const && slices.Equal(a.Terms, b.Terms) }) {
			out = append(out, a)
		}
	}
	if len(out) > 16 {
		return nil
	}
	return out
}

// sums are the sums of each of x and f times each of y.
func sums(x, y []Linear, f int) []Linear {
	if x == nil || y == nil || len(x)*len(y) > 16 {
		return nil
	}
	var out []Linear
	for _, a := range x {
		for _, b := range y {
			s, ok := a.add(b, f)
			if !ok {
				return nil
			}
			out = append(out, s)
		}
	}
	return out
}

// know records bounds of a loop's counter while run lowers its body.
func (l *lowerer) know(v loop.Value, low, high []Linear, run func()) {
	if low != nil && high != nil {
		l.facts[v] = fact{low, high}
		defer delete(l.facts, v)
	}
	run()
}

// counting returns what is known of the counter of a loop that does not unroll: one that
// the body does not change, steps by a constant, and is compared with what the loop does
// not change either. It is called where the condition holds.
func (l *lowerer) counting(s *ast.ForStmt) (counter *variable, facts func() (low, high []Linear)) {
	c, ok := s.Cond.(*ast.BinaryExpr)
	if !ok || s.Post == nil {
		return nil, nil
	}
	id, ok := ast.Unparen(c.X).(*ast.Ident)
	if !ok {
		return nil, nil
	}
	i := l.fr.vars[l.info.Uses[id]]
	if i == nil || !i.t.integer() || l.hasCall(c.Y) && !l.onlyLengths(c.Y) {
		return nil, nil
	}
	for _, v := range l.assigned(s.Body) {
		if v == i || l.reads(c.Y, v) {
			return nil, nil
		}
	}
	step := 0
	switch post := s.Post.(type) {
	case *ast.IncDecStmt:
		if x, ok := post.X.(*ast.Ident); ok && l.fr.vars[l.info.Uses[x]] == i {
			step = 1
			if post.Tok == token.DEC {
				step = -1
			}
		}
	case *ast.AssignStmt:
		x, ok := post.Lhs[0].(*ast.Ident)
		if !ok || len(post.Lhs) != 1 || l.fr.vars[l.info.Uses[x]] != i {
			break
		}
		if tv := l.info.Types[post.Rhs[0]]; tv.Value != nil {
			n, _ := l.knownInt(l.expr(post.Rhs[0]).n.v)
			if n > 0 && n < far && post.Tok == token.ADD_ASSIGN {
				step = 1
			} else if n > 0 && n < far && post.Tok == token.SUB_ASSIGN {
				step = -1
			}
		}
	}
	start := i.val.n.v
	up := step > 0 && (c.Op == token.LSS || c.Op == token.LEQ)
	down := step < 0 && (c.Op == token.GTR || c.Op == token.GEQ)
	if !up && !down {
		return nil, nil
	}
	first, last := l.bounds(start)
	return i, func() (low, high []Linear) {
		bl, bh := l.bounds(l.expr(c.Y).n.v)
		one := []Linear{{Const: 1}}
		switch c.Op {
		case token.LSS:
			return first, sums(bh, one, -1)
		case token.LEQ:
			return first, bh
		case token.GTR:
			return sums(bl, one, 1), last
		}
		return bl, last
	}
}

// onlyLengths reports an expression whose calls only ask for lengths.
func (l *lowerer) onlyLengths(x ast.Expr) bool {
	only := true
	ast.Inspect(x, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok && !l.info.Types[c.Fun].IsType() {
			sel, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
			only = only && ok && sel.Sel.Name == "Dim" && l.info.Selections[sel] != nil
		}
		return only
	})
	return only
}
