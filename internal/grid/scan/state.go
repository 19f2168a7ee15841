package scan

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A state is the result of some neighbouring elements: a sum or a product; or an extreme, as its rank
// and its place, an I64.
type state []grid.Reg

// none returns the state of no elements.
func (w *writer) none() state {
	switch {
	case w.v.Op.extreme():
		return state{w.Const(w.t, 0), w.I64(-1)}
	case w.v.Op == Prod:
		return state{w.Const(w.t, 1)}
	case w.t == loop.F32:
		return state{w.Const(w.t, 1<<31)}
	case w.t == loop.F64:
		return state{w.Const(w.t, 1<<63)}
	}
	return state{w.Const(w.t, 0)}
}

// of returns the state of an element at a place.
func (w *writer) of(x, place grid.Reg) state {
	if w.v.Op.extreme() {
		return state{w.rank(x), place}
	}
	return state{x}
}

// then returns the state of the elements of a and of b behind them.
func (w *writer) then(a, b state) state {
	switch {
	case w.v.Op.extreme():
		greater := w.Do(loop.OpLtU, loop.B, 0, a[0], b[0])
		last := w.And(w.Eq(a[0], b[0]), w.Lt(a[1], b[1]))
		return w.choose(w.Or(greater, last), b, a)
	case w.v.Op == Prod:
		return state{w.Mul(a[0], b[0])}
	}
	return state{w.Add(a[0], b[0])}
}

// choose returns a where c holds, else b.
func (w *writer) choose(c grid.Reg, a, b state) (out state) {
	for i := range a {
		out = append(out, w.Select(c, a[i], b[i]))
	}
	return out
}

// copies returns registers with the values of a, to be written again.
func (w *writer) copies(a state) (out state) {
	for _, r := range a {
		out = append(out, w.Copy(r))
	}
	return out
}

func (w *writer) set(to, from state) {
	for i := range to {
		w.Set(to[i], from[i])
	}
}

// scanned replaces the states of neighbouring elements by the states of all elements up to each: first
// in pairs, then in runs of 4 and so on. Each step combines the last state of the lower half with all
// of the upper half.
func (w *writer) scanned(v []state) {
	for half := 1; half < len(v); half *= 2 {
		for k := range v {
			if k&half != 0 {
				v[k] = w.then(v[k&^(2*half-1)+half-1], v[k])
			}
		}
	}
}

// rank returns a number that is greater, without sign, the more extreme an element is. A NaN has the greatest.
func (w *writer) rank(x grid.Reg) grid.Reg {
	r := w.Rank(w.v.DType, x)
	switch {
	case w.v.Op == Max:
		return r
	case !w.v.DType.Float():
		return w.Not(r)
	}
	nan := w.Const(w.t, ^uint64(0))
	return w.Select(w.Eq(r, nan), nan, w.Not(r))
}

// bytes returns the size of register i of a state in memory, and its element.
func (w *writer) bytes(i int) (int, grid.Elem) {
	if w.types[i].Size() == 8 {
		return 8, grid.W64
	}
	return 4, grid.W32
}

// total returns the state at an index, an I64, of totals or carries whose addresses stand at a byte of the
// argument block.
func (w *writer) total(arg int, index, pred grid.Reg) (out state) {
	for i, t := range w.types {
		size, elem := w.bytes(i)
		out = append(out, w.Load(grid.Global, elem, t, w.Moved(w.long(arg+8*i), index, size), 0, pred))
	}
	return out
}

// putTotal writes a state there.
func (w *writer) putTotal(arg int, index, pred grid.Reg, s state) {
	for i, r := range s {
		size, elem := w.bytes(i)
		w.Store(grid.Global, elem, w.Moved(w.long(arg+8*i), index, size), 0, pred, r)
	}
}

// carry returns the carry at an index, none if there are no carries.
func (w *writer) carry(arg int, index grid.Reg) state {
	c := w.copies(w.none())
	w.If(w.Lt(w.I32(0), w.Arg(loop.I32, argCarry)), true, func() { w.set(c, w.total(arg, index, grid.NoReg)) }, nil)
	return c
}
