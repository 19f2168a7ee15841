package scatter

import (
	"math/bits"

	"weft/internal/array"
	"weft/internal/grid"
	"weft/internal/loop"
)

// A walkVariant is a kernel in which a thread walks a line.
type walkVariant struct {
	cell
	index array.DType
}

func (v walkVariant) name() string { return "scatter_walk_" + v.cell.name() + "_" + v.index.String() }

// Operands of boxes.
const (
	ofX = iota
	ofAt
	ofOut
)

// The argument block.
const (
	walkX      = 0  // addresses, of the first line's
	walkAt     = 8  // sources, indices
	walkOut    = 16 // and targets
	walkFirst  = 24 // the address of index 0
	walkReport = 32 // address
	walkAlong  = 40 // bytes from element to element of a line, by operand
	walkSize   = 64 // of the axis
	walkN      = 72 // elements of a line
	walkBox    = 80 // of lines, whose steps are bytes
	walkBytes  = (walkBox + boxBytes + 7) / 8 * 8
)

// lower returns the kernel.
func (v walkVariant) lower() *grid.Kernel {
	w := writer{grid.NewBuilder(v.name(), threads)}
	w.K.Args, w.K.Abreast = walkBytes, 4
	line := w.item()
	w.If(w.inBox(line, walkBox), false, func() {
		at := w.walk(line, walkBox, w.long(walkX), w.long(walkAt), w.long(walkOut))
		if v.alone {
			v.pass(w, at, true)
		}
		v.pass(w, at, false)
	}, nil)
	return w.K
}

// pass goes through a line. It may do no more than store each source in its target.
func (v walkVariant) pass(w writer, begin []grid.Reg, stores bool) {
	n, size, along := w.long(walkN), w.long(walkSize), func(operand int) grid.Reg { return w.long(walkAlong + 8*operand) }
	i, x, at := w.Copy(w.I64(0)), w.Copy(begin[ofX]), w.Copy(begin[ofAt])
	w.While(true, func() grid.Reg { return w.Lt(i, n) }, func() {
		var sources [unroll][]grid.Reg
		var in, raw, places [unroll]grid.Reg
		for u := range unroll {
			in[u], places[u] = w.Lt(i, n), w.Copy(at)
			raw[u] = w.index(v.index, at, in[u])
			sources[u] = w.load(v.cell, x, in[u])
			w.Update(i, loop.OpAdd, i, w.I64(1))
			w.Update(x, loop.OpAdd, x, along(ofX))
			w.Update(at, loop.OpAdd, at, along(ofAt))
		}
		for u, source := range sources {
			k, bad := w.checked(raw[u], size, in[u])
			good := w.And(in[u], w.Not(bad))
			to := w.Add(begin[ofOut], w.Mul(k, along(ofOut)))
			if v.op != Copy && !stores {
				source = w.combine(v.cell, w.load(v.cell, to, good), source)
			}
			w.store(v.cell, to, good, source)
			w.If(bad, false, func() {
				position := w.Do(loop.OpShrU, loop.I64, 0, w.Sub(places[u], w.long(walkFirst)), w.I64(int64(bits.TrailingZeros(uint(v.index.Size())))))
				w.Report(w.long(walkReport), raw[u], position)
			}, nil)
		}
	})
}
