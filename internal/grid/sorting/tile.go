package sorting

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// A spot is where a record of a tile belongs.
type spot struct {
	slot   grid.Reg // I32: in shared memory
	row    grid.Reg // I64: the number of the row
	outer  grid.Reg // I64: of its outer block
	column grid.Reg // I64: its place there
	place  grid.Reg // I64: in the row
	inTile grid.Reg // I64: in the tile's part of the row
	exists grid.Reg // there is such a row
}

// spot returns where record i of a tile belongs, as threads read or write it.
func (w *writer) spot(i, group, tile grid.Reg) spot {
	log, logRows := w.Arg(loop.I32, argLog), w.Arg(loop.I32, argLogRow)
	mask := func(log grid.Reg) grid.Reg { return w.Sub(w.left(w.I32(1), log), w.I32(1)) }
	across := w.Lt(w.I32(0), w.Arg(loop.I32, argSide))
	row := w.Select(across, w.And(i, mask(logRows)), w.right(i, log))
	in := w.Select(across, w.right(i, logRows), w.And(i, mask(log)))
	slot := w.Add(w.left(row, log), in)
	row = w.Add(w.left(group, logRows), row)
	outer, column := w.Divide(row, argInner)
	return spot{slot: slot, row: w.Wide(row), outer: w.Wide(outer), column: w.Wide(column),
		place: w.Add(w.Mul(w.Wide(tile), w.I64(tileSize)), w.Wide(in)), inTile: w.Wide(in), exists: w.Lt(row, w.Arg(loop.I32, argRows))}
}

// tile writes the kernel that sorts tiles.
func (w *writer) tile() {
	t := w.Thread()
	group, tile := w.Divide(w.Block(), argTiles)
	n := w.long(argN)
	for k := range few {
		s := w.spot(w.Add(t, w.I32(int32(k*threads))), group, tile)
		in := w.And(s.exists, w.Lt(s.place, n))
		var r record
		if w.v.Kind == Again {
			r = w.loadRecord(argFrom, w.Add(w.Mul(s.row, w.long(argPitch)), s.place), in)
		} else {
			at := w.element(s.outer, s.place, s.column, n)
			r = w.recordOf(w.Load(grid.Global, w.elem, w.t, w.Moved(w.long(argX), at, w.size), 0, in), s.place)
		}
		w.put(s.slot, w.choose(in, r, w.end()))
	}
	w.Barrier()
	w.sortTile(t)
	w.Barrier()
	for k := range few {
		s := w.spot(w.Add(t, w.I32(int32(k*threads))), group, tile)
		count := w.long(argCount)
		r := w.get(s.slot, grid.NoReg)
		if w.v.Final {
			w.result(s.outer, s.inTile, s.column, w.And(s.exists, w.Lt(s.inTile, count)), r)
			continue
		}
		// A tile gives records up to the count, which follow the records of the tiles before it.
		at := w.Add(w.Mul(w.Wide(tile), count), s.inTile)
		in := w.And(w.And(s.exists, w.Lt(s.inTile, count)), w.Lt(at, w.long(argPitchTo)))
		w.storeRecord(argTo, w.Add(w.Mul(s.row, w.long(argPitchTo)), at), in, r)
	}
}

// sortTile sorts each row of the tile in shared memory.
func (w *writer) sortTile(t grid.Reg) {
	own := w.left(t, w.I32(3))
	var v []record
	for k := range few {
		v = append(v, w.get(w.Add(own, w.I32(int32(k))), grid.NoReg))
	}
	w.sortFew(v)
	w.putFew(own, v)
	w.Barrier()
	run := w.Copy(w.I32(few))
	w.While(true, func() grid.Reg { return w.Lt(run, w.left(w.I32(1), w.Arg(loop.I32, argLog))) }, func() {
		pair := w.And(own, w.Not(w.Sub(w.Add(run, run), w.I32(1))))
		v := w.mergeFew(w.Sub(own, pair), pair, run, w.Add(pair, run), run)
		w.Barrier()
		w.putFew(own, v)
		w.Barrier()
		w.Update(run, loop.OpAdd, run, run)
	})
}

// element returns the number of an element, given its outer block, its place in the row, its column
// and the length of a row.
func (w *writer) element(outer, place, column, n grid.Reg) grid.Reg {
	return w.Add(w.Mul(w.Add(w.Mul(outer, n), place), w.long(argStep)), column)
}

// result writes the element and the place of a record as the result at a place of a row.
func (w *writer) result(outer, at, column, in grid.Reg, r record) {
	place := w.place(r)
	to := w.element(outer, at, column, w.long(argCount))
	x := w.Load(grid.Global, w.elem, w.t, w.Moved(w.long(argX), w.element(outer, place, column, w.long(argLength)), w.size), 0, in)
	w.Store(grid.Global, w.elem, w.Moved(w.long(argY), to, w.size), 0, in, x)
	w.Store(grid.Global, grid.W64, w.Moved(w.long(argPlaces), to, 8), 0, in, place)
}
