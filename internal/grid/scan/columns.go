package scan

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A column is a sequence of elements that lie apart.
type column struct {
	first grid.Reg // I64: the number of the element at which the scan begins
	step  grid.Reg // I64: elements from there to the next one
}

// column returns the column of an outer block and an inner place.
func (w *writer) column(e grid.Element) column {
	first := w.Add(w.Add(w.Mul(e.Plane, w.long(argOuter)), w.Wide(e.Col)), w.long(argStart))
	return column{first, w.long(argStep)}
}

// walk writes a loop over the places from first to end, n at a time. f gets the first of them, the
// number of its element, and whether each is before end.
func (w *writer) walk(c column, first, end grid.Reg, n int, f func(place, at grid.Reg, inside []grid.Reg)) {
	place, at := w.Copy(first), w.Copy(w.Add(c.first, w.Mul(first, c.step)))
	w.While(false, func() grid.Reg { return w.Lt(place, end) }, func() {
		var inside []grid.Reg
		for k := range n {
			inside = append(inside, w.Lt(w.Add(place, w.I64(int64(k))), end))
		}
		f(place, at, inside)
		w.Update(place, loop.OpAdd, place, w.I64(int64(n)))
		w.Update(at, loop.OpAdd, at, w.Mul(c.step, w.I64(int64(n))))
	})
}

// loadAll returns elements of a column.
func (w *writer) loadAll(arg int, at grid.Reg, c column, inside []grid.Reg) (out []grid.Reg) {
	addr, step := w.Moved(w.long(arg), at, w.size), w.Mul(c.step, w.I64(int64(w.size)))
	for k := range inside {
		if k > 0 {
			addr = w.Add(addr, step)
		}
		out = append(out, w.Load(grid.Global, w.elem, w.t, addr, 0, inside[k]))
	}
	return out
}

// storeAll writes elements of a column.
func (w *writer) storeAll(arg int, elem grid.Elem, size int, at grid.Reg, c column, inside, x []grid.Reg) {
	addr, step := w.Moved(w.long(arg), at, size), w.Mul(c.step, w.I64(int64(size)))
	for k := range inside {
		if k > 0 {
			addr = w.Add(addr, step)
		}
		w.Store(grid.Global, elem, addr, 0, inside[k], x[k])
	}
}

// columns writes the kernel of units of columns: part row u is unit u.
func (w *writer) columns() {
	w.ForElement(argPart, func(e grid.Element) {
		c, block := w.column(e), deep(w.v.Op, w.v.DType)
		index := w.Wide(e.Number)
		first := w.Mul(w.Wide(e.Row), w.I64(int64(fan*block)))
		end := w.Do(loop.OpMin, loop.I64, 0, w.long(argN), w.Add(first, w.I64(int64(fan*block))))
		sum := w.copies(w.none())
		var carry state
		if !w.v.Totals {
			carry = w.carry(argTotals, index)
		}
		w.walk(c, first, end, block, func(place, at grid.Reg, inside []grid.Reg) {
			var v []state
			for k, x := range w.loadAll(argX, at, c, inside) {
				v = append(v, w.of(x, w.Add(place, w.I64(int64(k)))))
			}
			w.scanned(v)
			if !w.v.Totals {
				w.writeBlock(w.then(carry, sum), v, at, c, inside)
			}
			w.set(sum, w.then(sum, v[block-1]))
		})
		if w.v.Totals {
			w.putTotal(argTotals, index, grid.NoReg, sum)
		}
	})
}

// writeBlock writes the results of a block, whose carry is given.
func (w *writer) writeBlock(carry state, v []state, at grid.Reg, c column, inside []grid.Reg) {
	var x, places []grid.Reg
	for k, s := range v {
		s = w.then(carry, s)
		if w.v.Op.extreme() {
			from := w.Moved(w.long(argX), w.Add(c.first, w.Mul(s[1], c.step)), w.size)
			x = append(x, w.Load(grid.Global, w.elem, w.t, from, 0, inside[k]))
			places = append(places, s[1])
			continue
		}
		x = append(x, s[0])
	}
	w.storeAll(argY, w.elem, w.size, at, c, inside, x)
	if places != nil {
		w.storeAll(argPlaces, grid.W64, 8, at, c, inside, places)
	}
}

// carries writes the kernel of groups of totals: part row g is group g. With Totals it writes the totals
// of the groups, else it replaces totals by the carries into what they are the totals of.
func (w *writer) carries() {
	w.ForElement(argPart, func(e grid.Element) {
		above := w.Wide(e.Number)
		m, first := w.Arg(loop.I32, argMask), w.Mul(e.Row, w.I32(fan))
		inner := w.long(argStep)
		at := w.Add(w.Mul(w.Add(w.Mul(e.Plane, w.Wide(m)), w.Wide(first)), inner), w.Wide(e.Col))
		var carry state
		if !w.v.Totals {
			carry = w.carry(argAbove, above)
		}
		sum := w.none()
		const together = fan / 2 // totals that are read before any of them is replaced
		for from := 0; from < fan; from += together {
			index, inside, v := make([]grid.Reg, together), make([]grid.Reg, together), make([]state, together)
			for k := range v {
				index[k], inside[k] = at, w.Lt(w.Add(first, w.I32(int32(from+k))), m)
				v[k] = w.total(argTotals, at, inside[k])
				at = w.Add(at, inner)
			}
			for k, s := range v {
				if !w.v.Totals {
					w.putTotal(argTotals, index[k], inside[k], w.then(carry, sum))
				}
				sum = w.then(sum, s)
			}
		}
		if w.v.Totals {
			w.putTotal(argAbove, above, grid.NoReg, sum)
		}
	})
}
