package plan

import (
	"cmp"
	"slices"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// Many windows on one array that differ only in their offsets, as in a stencil, share one
// buffer. Each reads at an offset that is the same for all elements, which costs a displacement
// in the instruction's address.

const (
	fewBufs  = 8  // which need not be fewer
	nearMost = 64 // elements between windows whose distance is a constant of the program
)

// share gives reads that differ by their offsets one buffer: those that are close
// neighbours, and if these are too many for a program, all.
func (k *kernel) share() {
	if len(k.acc) <= fewBufs {
		return
	}
	groups := k.alike()
	if len(groups) == 0 {
		return
	}
	n := len(k.acc)
	for _, g := range groups {
		base := g[0]
		for _, x := range g[1:] {
			if d := x.o.Offset - base.o.Offset; d <= nearMost {
				x.base, x.by = base, d
				n--
				k.b.readsWindows = true
			} else {
				base = x
			}
		}
	}
	if n <= loop.MaxBufs {
		return
	}
	for _, g := range groups {
		for _, x := range g[1:] {
			x.base, x.by, x.far = g[0], x.o.Offset-g[0].o.Offset, true
			k.b.readsWindows = true
		}
	}
}

// alike returns the reads that differ by their offsets alone, in the order of these.
func (k *kernel) alike() (groups [][]*access) {
	reads := make([]*access, 0, len(k.acc))
	for _, x := range k.acc {
		if !x.write && !x.fixed {
			reads = append(reads, x)
		}
	}
	order := func(x, y *access) int {
		return cmp.Or(x.o.Slot-y.o.Slot, int(x.o.DType)-int(y.o.DType), slices.Compare(x.strides, y.strides))
	}
	slices.SortStableFunc(reads, func(x, y *access) int { return cmp.Or(order(x, y), x.o.Offset-y.o.Offset) })
	for len(reads) > 0 {
		n := 1
		for n < len(reads) && order(reads[0], reads[n]) == 0 {
			n++
		}
		if n > 1 {
			groups = append(groups, reads[:n])
		}
		reads = reads[n:]
	}
	return groups
}

// bufs is how many buffers the operands take.
func (k *kernel) bufs() int {
	n := 0
	for _, x := range k.acc {
		if x.base == nil {
			n++
		}
	}
	return n
}

// load reads an operand.
func (k *kernel) load(i int) loop.Value {
	x := k.acc[i]
	if x.base == nil {
		return k.kb.Load(k.buf(i))
	}
	at := slices.Index(k.acc, x.base)
	off, rest := loop.NoValue, x.by
	if x.far {
		// The offset is a number of steps along each axis, the longest stride first, so that the
		// program is the same for other sizes.
		axes := make([]int, 0, len(k.shape))
		for a, n := range k.shape {
			if s := x.o.Strides[a]; n > 1 && max(s, -s) > 1 {
				axes = append(axes, a)
			}
		}
		slices.SortStableFunc(axes, func(a, b int) int {
			return cmp.Compare(max(x.o.Strides[b], -x.o.Strides[b]), max(x.o.Strides[a], -x.o.Strides[a]))
		})
		for _, a := range axes {
			s := x.o.Strides[a]
			steps := nearest(rest, s)
			if steps == 0 || max(steps, -steps) > nearMost {
				continue
			}
			v := k.kb.Mul(k.word(at, 's', a, s), k.kb.Int(loop.I64, int64(steps)))
			if off != loop.NoValue {
				v = k.kb.Add(off, v)
			}
			off = v
			rest -= steps * s
		}
	}
	switch {
	case max(rest, -rest) > nearMost:
		v := k.word(i, 'd', 0, rest)
		if off != loop.NoValue {
			v = k.kb.Add(off, v)
		}
		off = v
	case off == loop.NoValue:
		off = k.kb.Int(loop.I64, int64(rest))
	case rest != 0:
		off = k.kb.Add(off, k.kb.Int(loop.I64, int64(rest)))
	}
	return k.kb.LoadAt(k.buf(at), off)
}

// nearest is the whole number nearest to d/s.
func nearest(d, s int) int {
	if s < 0 {
		return -nearest(d, -s)
	}
	if d < 0 {
		return -nearest(-d, s)
	}
	return (d + s/2) / s
}

// oneBuffer reports that a is a window that shares a buffer with another one among reads.
func oneBuffer(a *ir.Node, reads []*ir.Node) bool {
	if a.Op != op.Slice {
		return false
	}
	w := a.Attrs.(op.Window)
	for _, r := range reads {
		if r.Op == op.Slice && r != a && r.Args[0] == a.Args[0] && array.Equal(r.Shape, a.Shape) && array.Equal(r.Attrs.(op.Window).Step, w.Step) {
			return true
		}
	}
	return false
}

// points emits a cluster without reductions: one kernel, or several if one node alone has more
// results than a kernel has room for. Each kernel then computes some of the results.
func (e *emitter) points() {
	all := e.stores
	e.newKernel() // to count
	room := loop.MaxBufs - e.k.bufs() + len(all.nodes)
	if room < 1 {
		array.Failf(e.c.nodes[0].Op.OpName(), "", "reads %d arrays at once, at most %d are possible", loop.MaxBufs-room, loop.MaxBufs-1)
	}
	if len(all.nodes) <= room {
		e.body()
		return
	}
	for from := 0; from < len(all.nodes); from += room {
		to := min(from+room, len(all.nodes))
		e.stores = byNode[Operand]{all.nodes[from:to], all.values[from:to]}
		e.kernel(0, -1)
	}
}
