package scan

import (
	"weft/internal/grid"
	"weft/internal/loop"
)

// runs is the number of runs that a thread has of a tile.
const runs = tile * lanes / threads

// A run is neighbouring elements that a thread scans: a part of a block.
type run struct {
	block  grid.Reg   // I32: the block's number in the tile
	at     grid.Reg   // I64: the number of the element with the lowest address
	row    grid.Reg   // I64: the number of the row's first element
	inside []grid.Reg // by element, or one for all that are read together
	v      []state
}

// rows writes the kernel of tiles of rows.
func (w *writer) rows() {
	w.K.Shared = w.shared(numArrays, 0)
	t := w.Thread()
	group, tileOf := w.Divide(w.Block(), argTiles)
	lane := w.And(t, w.I32(lanes-1))
	all := make([]*run, runs)
	for i := range all {
		all[i] = w.run(w.Add(w.right(t, w.I32(2)), w.I32(int32(i*threads/lanes))), lane, group, tileOf)
	}
	for _, r := range all {
		w.scanBlock(r.v, lane)
		w.put(inBlocks, r.block, w.Eq(lane, w.I32(lanes-1)), r.v[len(r.v)-1])
	}
	w.Barrier()
	// A thread has a block of the tile, and then the run's elements again.
	mask := w.Arg(loop.I32, argMask)
	inGroup := w.And(mask, w.I32(fan-1))
	sum := w.chain(inBlocks, w.And(t, w.Not(inGroup)), w.And(t, inGroup))
	last := w.Eq(w.And(t, w.I32(fan-1)), w.I32(fan-1))
	whole := w.then(sum, w.get(inBlocks, t, 0, grid.NoReg))
	w.put(inGroups, w.right(t, w.I32(4)), last, whole)
	w.Barrier()
	groupOf, groups := w.right(t, w.I32(4)), w.right(mask, w.I32(4))
	above := w.chain(inGroups, w.And(groupOf, w.Not(groups)), w.And(groupOf, groups))
	// Of long rows alone there are several tiles, and a group is a row.
	index := w.Add(w.Mul(w.Wide(group), w.Wide(w.Arg(loop.I32, argTiles))), w.Wide(tileOf))
	if w.v.Totals {
		w.putTotal(argTotals, index, w.Eq(t, w.I32(threads-1)), w.then(above, whole))
		return
	}
	w.put(inBlocks, t, grid.NoReg, w.then(w.then(w.carry(argTotals, index), above), sum))
	w.Barrier()
	for _, r := range all {
		before := w.get(inBlocks, r.block, 0, grid.NoReg)
		for k := range r.v {
			r.v[k] = w.then(before, r.v[k])
		}
		w.write(r)
	}
}

// right returns x shifted to the right.
func (w *writer) right(x, n grid.Reg) grid.Reg { return w.Do(loop.OpShrU, loop.I32, 0, x, n) }

// run reads the elements of a lane in a block of the tile.
func (w *writer) run(block, lane, group, tileOf grid.Reg) *run {
	r, n := &run{block: block}, w.long(argN)
	inTile := w.And(block, w.Arg(loop.I32, argMask))
	first := w.Add(w.Mul(w.Wide(tileOf), w.I64(tile)), w.Wide(inTile))
	count := per(w.v.DType)
	first = w.Mul(w.Add(w.Mul(first, w.I64(lanes)), w.Wide(lane)), w.I64(int64(count)))
	// The rows of a group fill a tile.
	rows := w.Wide(w.right(w.I32(tile), w.Arg(loop.I32, argLog)))
	row := w.Add(w.Mul(w.Wide(group), rows), w.Wide(w.right(block, w.Arg(loop.I32, argLog))))
	exists := w.Lt(row, w.long(argOuter))
	r.row = w.Mul(row, n)
	r.at = w.Add(r.row, first)
	if w.v.Reverse {
		r.at = w.Add(r.row, w.Sub(w.Sub(n, first), w.I64(int64(count))))
	}
	for k := range count {
		if k > 0 && w.v.Vector {
			break
		}
		r.inside = append(r.inside, w.And(exists, w.Lt(w.Add(first, w.I64(int64(k))), n)))
	}
	for k, x := range w.load(r, count) {
		r.v = append(r.v, w.of(x, w.Add(first, w.I64(int64(k)))))
	}
	return r
}

// load returns the elements of a run, in the order of the scan.
func (w *writer) load(r *run, count int) []grid.Reg {
	addr := w.Moved(w.long(argX), r.at, w.size)
	if w.v.Vector {
		return w.turned(w.LoadN(grid.Global, w.elem, w.t, count, addr, 0, r.inside[0]))
	}
	out := make([]grid.Reg, count)
	for k := range out {
		out[k] = w.Load(grid.Global, w.elem, w.t, addr, w.low(k, count)*w.size, r.inside[k])
	}
	return out
}

// low returns the number of element k of a scan of a run, counted from the lowest address.
func (w *writer) low(k, count int) int {
	if w.v.Reverse {
		return count - 1 - k
	}
	return k
}

// turned returns elements in the order of the scan, or back in the order of addresses.
func (w *writer) turned(x []grid.Reg) []grid.Reg {
	out := make([]grid.Reg, len(x))
	for k := range x {
		out[k] = x[w.low(k, len(x))]
	}
	return out
}

// write writes the results of a run.
func (w *writer) write(r *run) {
	var x, places []grid.Reg
	for k, s := range r.v {
		if w.v.Op.extreme() {
			from := w.Moved(w.long(argX), w.Add(r.row, s[1]), w.size)
			x = append(x, w.Load(grid.Global, w.elem, w.t, from, 0, r.inside[min(k, len(r.inside)-1)]))
			places = append(places, s[1])
			continue
		}
		x = append(x, s[0])
	}
	w.store(r, argY, w.elem, w.size, x)
	if places != nil {
		w.store(r, argPlaces, grid.W64, 8, places)
	}
}

// store writes elements of a run, up to 16 bytes at a time.
func (w *writer) store(r *run, arg int, elem grid.Elem, size int, x []grid.Reg) {
	addr := w.Moved(w.long(arg), r.at, size)
	if !w.v.Vector {
		for k := range x {
			w.Store(grid.Global, elem, addr, w.low(k, len(x))*size, r.inside[k], x[k])
		}
		return
	}
	x = w.turned(x)
	n := min(len(x), 16/size)
	for k := 0; k < len(x); k += n {
		w.Store(grid.Global, elem, addr, k*size, r.inside[0], x[k:k+n]...)
	}
}

// scanBlock scans the blocks of the warp. Each thread has a run of one.
func (w *writer) scanBlock(v []state, lane grid.Reg) {
	w.scanned(v)
	thread := w.Thread()
	for half := 1; half < lanes; half *= 2 {
		from := w.Add(w.And(thread, w.I32(int32(^(2*half-1)))), w.I32(int32(half-1)))
		upper := w.Lt(w.I32(0), w.And(lane, w.I32(int32(half))))
		var low state
		for _, x := range v[len(v)-1] {
			low = append(low, w.FromLane(x, from))
		}
		for k := range v {
			v[k] = w.choose(upper, w.then(low, v[k]), v[k])
		}
	}
}

// Arrays of states in shared memory.
const (
	inBlocks = iota // of the blocks of a tile: their totals, and at last the carries into them
	inGroups        // of groups of blocks: their totals
	numArrays
)

// shared returns the byte at which part i of the states of an array begins: they stand together.
func (w *writer) shared(array, i int) int {
	at, sizes := 0, [numArrays]int{inBlocks: tile, inGroups: fan}
	for a, n := range sizes {
		for j := range w.types {
			size, _ := w.bytes(j)
			if a == array && j == i {
				return at
			}
			at += n * size
		}
	}
	return at
}

// get returns element index+k of an array of states.
func (w *writer) get(array int, index grid.Reg, k int, pred grid.Reg) (out state) {
	for i, t := range w.types {
		size, elem := w.bytes(i)
		addr := w.Wide(w.Mul(index, w.I32(int32(size))))
		out = append(out, w.Load(grid.Shared, elem, t, addr, w.shared(array, i)+k*size, pred))
	}
	return out
}

// put writes an element of an array of states.
func (w *writer) put(array int, index, pred grid.Reg, s state) {
	for i, r := range s {
		size, elem := w.bytes(i)
		w.Store(grid.Shared, elem, w.Wide(w.Mul(index, w.I32(int32(size)))), w.shared(array, i), pred, r)
	}
}

// chain returns the state of n elements of an array from an index on, one after the other. n is an
// I32 below fan.
func (w *writer) chain(array int, index, n grid.Reg) state {
	sum := w.none()
	for k := range fan - 1 {
		in := w.Lt(w.I32(int32(k)), n)
		sum = w.choose(in, w.then(sum, w.get(array, index, k, in)), sum)
	}
	return sum
}
