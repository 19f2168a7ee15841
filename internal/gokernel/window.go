package gokernel

import (
	"go/ast"
	"go/constant"
	"go/token"
	"math"
	"slices"

	"weft/internal/loop"
)

// Rows and slices of arrays. A row is the array with its first index given, so a read joins the
// indices. A slice is the bounds of a loop: it has no memory. Where the bounds are constant and
// few elements lie between them, the loop is unrolled and reads at constant places.

// A span is the range [lo, hi) of a slice along an axis.
type span struct{ lo, hi index }

// row is the array with one more index given.
func (l *lowerer) row(a *outside, i index) *value {
	r := *a
	r.t = outer(a.t.role, a.t.rank-1, a.t.elem)
	r.lead = append(slices.Clip(a.lead), i)
	return &value{t: r.t, at: &r}
}

// slice is the sequence of the elements between bounds, lo and hi of each axis in turn.
func (l *lowerer) slice(a *outside, bounds []index) *value {
	v := &value{t: &ty{kind: kSeq, elem: a.t.elem}, at: a}
	for k := 0; k < len(bounds); k += 2 {
		v.span = append(v.span, span{bounds[k], bounds[k+1]})
	}
	return v
}

// fixedSpans returns the constant bounds of a slice and the number of its elements, ok if all
// bounds are constants.
func (l *lowerer) fixedSpans(s *value) (lo, hi []int64, n int, ok bool) {
	n = 1
	for _, x := range s.span {
		a, aok := l.knownInt(x.lo.v)
		b, bok := l.knownInt(x.hi.v)
		if !aok || !bok {
			return nil, nil, 0, false
		}
		lo, hi = append(lo, a), append(hi, b)
		// Bounds of slices are offsets or indices: their difference saturates at costly.
		n = min(n*int(min(max(float64(b)-float64(a), 0), costly)), costly)
	}
	return lo, hi, n, true
}

// each lowers body for the elements of a slice in row-major order. The body changes vars; it
// costs about cost instructions as unrolled code.
func (l *lowerer) each(s *value, vars []*variable, cost int, a *around, body func(v *value)) {
	pos := l.pos
	lo, hi, n, fixed := l.fixedSpans(s)
	if fixed && n <= maxRounds && cost*n <= maxUnrolled {
		l.rounds(n, func(i int) {
			at := make([]index, len(lo))
			for k := len(lo) - 1; k >= 0; k-- {
				size := int(hi[k] - lo[k])
				at[k] = index{l.int(loop.I64, lo[k]+int64(i%size)), s.span[k].lo.pos}
				i /= size
			}
			body(l.read1(s.at, at))
		}, vars, cost)
		return
	}
	if fixed && n == 0 {
		return
	}
	l.pos = pos
	l.eachInLoop(s, fixed, vars, a, body)
}

// eachInLoop is each as a loop that counts the places along all axes.
func (l *lowerer) eachInLoop(s *value, fixed bool, vars []*variable, a *around, body func(v *value)) {
	last := len(s.span) - 1
	at := make([]*variable, len(s.span))
	some := l.flag(true)
	for k, x := range s.span {
		at[k] = &variable{t: tInt64, val: l.scalar(tInt64, l.reach(x.lo.v, loop.I64))}
		some = l.and(some, l.bin(loop.OpLt, x.lo.v, x.hi.v))
	}
	// A slice without elements starts behind its end.
	at[0].val = l.scalar(tInt64, l.choose(some, at[0].val.n.v, l.reach(s.span[0].hi.v, loop.I64)))
	end := func(k int) loop.Value { return l.reach(s.span[k].hi.v, loop.I64) }
	var within func(k int, run func())
	within = func(k int, run func()) {
		if k > last {
			run()
			return
		}
		low, _ := l.bounds(s.span[k].lo.v)
		_, high := l.bounds(s.span[k].hi.v)
		l.know(at[k].val.n.v, low, sums(high, []Linear{{Const: 1}}, -1), func() { within(k+1, run) })
	}
	l.while(append(slices.Clip(vars), at...), func() loop.Value {
		return l.compare("<", tInt64, at[0].val.n.v, end(0))
	}, func() {
		place := make([]loop.Value, len(at))
		for k, v := range at {
			place[k] = v.val.n.v
		}
		within(0, func() {
			given := make([]index, len(at))
			for k := range at {
				given[k] = index{place[k], s.span[k].lo.pos}
			}
			sliced := l.sliced
			l.sliced = fixed && !slices.ContainsFunc(s.at.lead, func(i index) bool { _, ok := l.knownInt(i.v); return !ok })
			v := l.read1(s.at, given)
			l.sliced = sliced
			body(v)
		})
		carry := l.flag(true)
		for k := last; k >= 0; k-- {
			next := l.choose(carry, l.bin(loop.OpAdd, place[k], l.int(loop.I64, 1)), place[k])
			if k > 0 {
				carry = l.and(carry, l.bin(loop.OpEq, next, end(k)))
				next = l.choose(carry, l.reach(s.span[k].lo.v, loop.I64), next)
			}
			at[k].val = l.scalar(tInt64, next)
		}
	}, a)
}

// rangeSeq lowers a range over a slice.
func (l *lowerer) rangeSeq(s *ast.RangeStmt, over *value, a *around) {
	l.each(over, l.assigned(s), l.count(s.Body, unrolled), a, func(v *value) {
		switch {
		case s.Key == nil:
		case s.Tok == token.DEFINE:
			l.define(s.Key.(*ast.Ident), v)
		default:
			l.store(l.place(s.Key), v)
		}
		l.iteration(s.Body.List, nil, a)
	})
}

// fold lowers a loop over a slice that has no break.
func (l *lowerer) fold(s *value, vars []*variable, body func(v *value)) {
	a := &around{broken: l.clear(), next: l.clear()}
	l.fr.loops = append(l.fr.loops, a)
	l.each(s, vars, 4, a, body)
	l.leave()
}

// length is the number of elements of a slice.
func (l *lowerer) length(s *value) loop.Value {
	n := l.int(loop.I64, 1)
	for _, x := range s.span {
		size := l.bin(loop.OpSub, l.reach(x.hi.v, loop.I64), l.reach(x.lo.v, loop.I64))
		n = l.bin(loop.OpMul, n, l.bin(loop.OpMax, size, l.zero(loop.I64)))
	}
	return n
}

// seqCall is a function of package kernel of a slice.
func (l *lowerer) seqCall(name string, s *value) *value {
	t := s.t.elem
	out := &variable{t: t, val: l.zeroValue(t)}
	switch name {
	case "Sum", "Mean":
		l.fold(s, []*variable{out}, func(v *value) { out.val = l.binary(token.ADD, out.val, v) })
		if name == "Mean" {
			return l.binary(token.QUO, out.val, l.scalar(t, l.convert(tInt64, t, l.length(s))))
		}
	case "Min", "Max":
		first := &variable{t: tBool, val: l.boolean(l.flag(true))}
		l.fold(s, []*variable{out, first}, func(v *value) {
			out.val = l.merge(first.val.n.v, v, l.lesser(name == "Min", out.val, v))
			first.val = l.boolean(l.flag(false))
		})
	case "Median":
		return l.median(s)
	}
	return out.val
}

// lesser is the built-in min or max of two numbers of one type.
func (l *lowerer) lesser(less bool, x, y *value) *value {
	if x.t.kind == kFloat {
		return &value{t: x.t, n: l.extreme(less, x.n, y.n)}
	}
	return l.scalar(x.t, l.intExtreme(less, x.t, x.n.v, y.n.v))
}

// median is the middle element of a slice in order, or the mean of the two in the middle.
func (l *lowerer) median(s *value) *value {
	t := s.t.elem
	_, _, n, fixed := l.fixedSpans(s)
	if fixed && n == 0 {
		return l.scalar(t, l.b.Float(t.t, math.NaN()))
	}
	if !fixed || n > maxRounds {
		return l.medianByRank(s)
	}
	var v []*value
	l.fold(s, nil, func(x *value) { v = append(v, x) })
	// Batcher's odd-even merge sort (Knuth 5.2.2 M); what the middle does not need is dead code.
	for p := 1; p < n; p *= 2 {
		for k := p; k >= 1; k /= 2 {
			for j := k % p; j+k < n; j += 2 * k {
				for i := range min(k, n-j-k) {
					if x, y := i+j, i+j+k; x/(2*p) == y/(2*p) {
						v[x], v[y] = l.lesser(true, v[x], v[y]), l.lesser(false, v[x], v[y])
					}
				}
			}
		}
	}
	return l.middle(v[(n-1)/2], v[n/2])
}

// middle is the mean of the two middle elements, which may be one.
func (l *lowerer) middle(x, y *value) *value {
	if x == y {
		return x
	}
	half := l.scalar(x.t, l.b.Float(x.t.t, 0.5))
	return l.binary(token.MUL, l.binary(token.ADD, x, y), half)
}

// medianByRank finds the median of many elements: one whose number of lesser elements is that of
// the middle.
func (l *lowerer) medianByRank(s *value) *value {
	t := s.t.elem
	nan := l.scalar(t, l.b.Float(t.t, math.NaN()))
	n := l.length(s)
	low, high := &variable{t: t, val: nan}, &variable{t: t, val: nan}
	odd := &variable{t: tBool, val: l.boolean(l.flag(false))} // some element is NaN
	l.fold(s, []*variable{low, high, odd}, func(v *value) {
		below, upTo := &variable{t: tInt64, val: l.zeroValue(tInt64)}, &variable{t: tInt64, val: l.zeroValue(tInt64)}
		count := func(to *variable, c loop.Value) {
			one := l.choose(c, l.int(loop.I64, 1), l.zero(loop.I64))
			to.val = l.scalar(tInt64, l.bin(loop.OpAdd, to.val.n.v, one))
		}
		l.fold(s, []*variable{below, upTo}, func(w *value) {
			count(below, l.bin(loop.OpLt, w.n.v, v.n.v))
			count(upTo, l.bin(loop.OpLe, w.n.v, v.n.v))
		})
		pick := func(to *variable, rank loop.Value) {
			here := l.and(l.bin(loop.OpLe, below.val.n.v, rank), l.bin(loop.OpLt, rank, upTo.val.n.v))
			to.val = l.merge(here, v, to.val)
		}
		two := l.int(loop.I64, 2)
		pick(low, l.bin(loop.OpQuo, l.bin(loop.OpSub, n, l.int(loop.I64, 1)), two))
		pick(high, l.bin(loop.OpQuo, n, two))
		odd.val = l.boolean(l.or(odd.val.n.v, l.bin(loop.OpNe, v.n.v, v.n.v)))
	})
	nan = l.scalar(t, l.b.Float(t.t, math.NaN()))
	return l.merge(odd.val.n.v, nan, l.middle(low.val, high.val))
}

// written adds the constant offsets at which the source of the kernel reads Near
// parameters to those that the trial met: where a condition is a constant too, it takes one
// way alone.
func (i *Instance) written() {
	ast.Inspect(i.f.decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		name, k, args := i.readOf(call)
		if k < 0 {
			return true
		}
		at := make([]int, len(args))
		for axis, a := range args {
			v := i.f.info.Types[a].Value
			if v == nil {
				return true
			}
			c, ok := constant.Int64Val(constant.ToInt(v))
			if !ok {
				return true
			}
			at[axis] = int(c)
		}
		switch name {
		case "At":
			i.loads[k].note(at)
		case "Slice":
			i.noteSlice(&i.loads[k], at)
		}
		return true
	})
}

// readOf returns the method that a call reads a Near parameter with, the place of the parameter
// in loads, and the indices: of the rows, and the arguments. The place is -1 for other calls.
func (i *Instance) readOf(call *ast.CallExpr) (name string, k int, args []ast.Expr) {
	sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
	if !ok {
		return "", -1, nil
	}
	switch x := ast.Unparen(sel.X).(type) {
	case *ast.Ident:
		params := i.f.obj.Signature().Params()
		k = slices.IndexFunc(i.loads, func(o Offsets) bool { return params.At(o.Param) == i.f.info.Uses[x] })
	case *ast.CallExpr:
		var of string
		if of, k, args = i.readOf(x); of != "Row" {
			return "", -1, nil
		}
	default:
		return "", -1, nil
	}
	return sel.Sel.Name, k, append(args, call.Args...)
}

// note adds a constant offset.
func (o *Offsets) note(at []int) {
	if slices.ContainsFunc(o.At, func(b []int) bool { return slices.Equal(at, b) }) {
		return
	}
	o.At = append(o.At, at)
	for axis := range o.Low {
		o.Low[axis], o.High[axis] = min(o.Low[axis], at[axis]), max(o.High[axis], at[axis])
	}
}

// noteSlice adds the first and the last offset of a slice, of the indices of rows and the bounds
// of each other axis in turn.
func (i *Instance) noteSlice(o *Offsets, at []int) {
	rows := 2*i.f.params[o.Param].Rank - len(at)
	first, last := slices.Clone(at[:rows]), slices.Clone(at[:rows])
	for k := rows; k < len(at); k += 2 {
		if at[k] >= at[k+1] {
			return
		}
		first, last = append(first, at[k]), append(last, at[k+1]-1)
	}
	o.note(first)
	o.note(last)
}
