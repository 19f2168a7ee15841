package ndimage

import (
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// A runs holds the runs of elements of each row of an array that are not 0, and a forest over them: the parent of a
// run is itself or an earlier one of its object. Run i of row r has number r*room/2 + i.
type runs struct {
	lead   []int // the shape without its last axis: rows
	n      int   // elements of a row
	apart  bool  // elements of a row are not connected: each is a run
	near   []neighbour
	room   int     // for the ends of a row's runs
	ends   []int32 // where a run begins, where it ends, in row-major order
	counts []int32 // runs of each row
	parent []int32
}

// A neighbour is an earlier row that a structure connects: elements begin+lo to below end+hi of it touch a run.
type neighbour struct {
	at     []int // as an index
	step   int   // in rows
	lo, hi int32
}

// newRuns returns room for the runs of an array with at least one axis and one element; before are the offsets to
// connected elements that come first.
func newRuns(shape []int, before [][]int) *runs {
	r := len(shape) - 1
	o := &runs{lead: shape[:r], n: shape[r], apart: true}
	for k := 0; k < len(before); {
		d := before[k][:r]
		step, on := 0, [3]bool{}
		for i, v := range d {
			step = step*shape[i] + v
		}
		for ; k < len(before) && array.Equal(before[k][:r], d); k++ {
			on[before[k][r]+1] = true
		}
		lo, hi := int32(-1), int32(1)
		switch {
		case !slices.ContainsFunc(d, func(v int) bool { return v != 0 }):
			o.apart = !on[0]
			continue
		case on[0] && on[2] && !on[1]:
			o.near = append(o.near, neighbour{d, step, -1, -1}, neighbour{d, step, 1, 1})
			continue
		case !on[0] && on[1]:
			lo = 0
		case !on[0]:
			lo = 1
		}
		if !on[2] {
			hi = 0
			if !on[1] {
				hi = -1
			}
		}
		o.near = append(o.near, neighbour{d, step, lo, hi})
	}
	rows := array.Size(o.lead)
	o.room = (o.n + 2) &^ 1
	if o.apart {
		o.room = 2 * o.n
	}
	o.ends, o.counts, o.parent = make([]int32, rows*o.room), make([]int32, rows), make([]int32, rows*o.room/2)
	return o
}

// labelled writes the labels of objects. It joins runs of rows instead of elements, as in L. He, Y. Chao and K. Suzuki,
// A Run-Based Two-Scan Labeling Algorithm (2008). Slabs of rows are joined by themselves, then with those before.
func labelled(shape []int, before [][]int, on []bool, to []int32) int32 {
	o := newRuns(shape, before)
	rows, layer := len(o.counts), 1
	if len(o.lead) > 1 {
		layer = array.Size(o.lead[1:])
	}
	slab := max(1, (1<<16)/(layer*o.n)) * layer
	par.Run(rows, slab, 0, func(_, begin, end int) {
		for ; begin < end; begin += slab {
			for row := begin; row < min(begin+slab, end); row++ {
				o.find(row, on[row*o.n:][:o.n])
			}
			o.join(begin, min(begin+slab, end), begin, false)
		}
	})
	for row := slab; row < rows; row += slab {
		o.join(row, row+layer, row, true)
	}
	var count int32
	for row, k := range o.counts {
		p := o.parent[row*o.room/2:]
		for i := range p[:k] {
			if p[i] == int32(row*o.room/2+i) {
				count++
				p[i] = count
			} else {
				p[i] = o.parent[p[i]]
			}
		}
	}
	par.Run(rows, max(1, (1<<16)/o.n), 0, func(_, begin, end int) {
		for row := begin; row < end; row++ {
			line, ends := to[row*o.n:][:o.n], o.ends[row*o.room:]
			clear(line)
			for i, v := range o.parent[row*o.room/2:][:o.counts[row]] {
				for j := ends[2*i]; j < ends[2*i+1]; j++ {
					line[j] = v
				}
			}
		}
	})
	return count
}

// find notes the runs of a row, each a tree of its own.
func (o *runs) find(row int, on []bool) {
	ends := o.ends[row*o.room:][:o.room]
	k := 0
	if o.apart {
		for j, yes := range on {
			if yes {
				ends[k], ends[k+1] = int32(j), int32(j+1)
				k += 2
			}
		}
	} else {
		bits := unsafe.Slice((*uint8)(unsafe.Pointer(&on[0])), len(on)) // 0 or 1: without a branch
		last := uint8(0)
		for j, v := range bits {
			ends[k] = int32(j)
			k += int(v ^ last)
			last = v
		}
		ends[k] = int32(len(on))
		k += int(last)
	}
	o.counts[row] = int32(k / 2)
	p := o.parent[row*o.room/2:][:k/2]
	for i := range p {
		p[i] = int32(row*o.room/2 + i)
	}
}

// join joins runs of rows from begin to below end with neighbours: those from first on, or those before it.
func (o *runs) join(begin, end, first int, across bool) {
	if len(o.near) == 0 {
		return
	}
	at := unravel(o.lead, begin)
	for row := begin; row < end; row++ {
	near:
		for _, d := range o.near {
			if across != (row+d.step < first) {
				continue
			}
			for i, v := range d.at {
				if uint(at[i]+v) >= uint(o.lead[i]) {
					continue near
				}
			}
			o.touch(row, row+d.step, d.lo, d.hi)
		}
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < o.lead[i] {
				break
			}
			at[i] = 0
		}
	}
}

// touch joins runs of a row with the runs of another row that they touch.
func (o *runs) touch(row, other int, lo, hi int32) {
	a, b := o.ends[row*o.room:][:2*o.counts[row]], o.ends[other*o.room:][:2*o.counts[other]]
	ida, idb := row*o.room/2, other*o.room/2
	for i, j := 0, 0; i < len(a); i += 2 {
		from, to := a[i]+lo, a[i+1]+hi
		for j < len(b) && b[j+1] <= from {
			j += 2
		}
		for k := j; k < len(b) && b[k] < to; k += 2 {
			o.unite(int32(ida+i/2), int32(idb+k/2))
		}
	}
}

func (o *runs) unite(i, j int32) {
	i, j = o.root(i), o.root(j)
	o.parent[max(i, j)] = min(i, j)
}

// root returns the root of a run's tree, and halves the way there.
func (o *runs) root(i int32) int32 {
	for o.parent[i] != i {
		o.parent[i] = o.parent[o.parent[i]]
		i = o.parent[i]
	}
	return i
}
