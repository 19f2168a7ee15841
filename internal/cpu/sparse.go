package cpu

import (
	"sync/atomic"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/sparse"
	"weft/internal/cpu/tile"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/par"
)

// Routines of sparse matrices in compressed rows.

func sparseMatMul(c *device.Call) error {
	j := &sparse.Job{Kind: sparse.Rows, Values: &c.Args[0], X: &c.Args[2], Y: &c.Out[0]}
	j.Width, j.Bound = array.Size(j.X.Shape[1:]), j.X.Shape[0]
	if a := c.Node.Attrs.(op.SparseProduct); a.Transposed {
		j.Kind, j.Bound = sparse.Transposed, a.Rows
	}
	return runSparse(c, j)
}

func sparseSampled(c *device.Call) error {
	j := &sparse.Job{Kind: sparse.Sampled, Values: &c.Out[0], X: &c.Args[0], Y: &c.Args[2]}
	j.Width, j.Bound = array.Size(j.X.Shape[1:]), j.Y.Shape[0]
	return runSparse(c, j)
}

// runSparse computes a product whose indices are the second argument and whose offsets are the last.
func runSparse(c *device.Call, j *sparse.Job) error {
	name := c.Node.Op.OpName()
	j.ISA, j.Indices, j.Offsets = isaOf(c), &c.Args[1], codegen.Elements[int64](&c.Args[3])
	l := &list{op: name, off: j.Offsets, rows: j.Indices.Shape[0], row: j.Width}
	items := len(j.Offsets) - 1
	l.check(0, items)
	first, last := int(j.Offsets[0]), int(j.Offsets[items])
	if j.Kind == sparse.Sampled { // entries in no row
		out := bytesOf(j.Values)
		size := j.X.DType.Size()
		clear(out[:first*size])
		clear(out[last*size:])
	}
	if j.Width == 0 {
		if j.Kind == sparse.Sampled {
			clear(bytesOf(j.Values))
		}
		return j.Check(name)
	}
	f := j.Func()
	var bad atomic.Bool
	run := func(lo, hi int) {
		if !f(lo, hi) {
			bad.Store(true)
		}
	}
	if j.Kind == sparse.Transposed {
		clear(bytesOf(j.Y))
		columns(j.Width, (last-first)*j.Width, run)
	} else {
		l.each(run)
	}
	if bad.Load() {
		return j.Check(name)
	}
	return nil
}

// columns calls f for ranges of n columns, on all threads if the work, in multiply-adds, pays them.
func columns(n, work int, f func(lo, hi int)) {
	const line = 16
	threads := tile.ThreadsFor(work, 0)
	if threads == 1 || n <= line {
		f(0, n)
		return
	}
	par.Run((n+line-1)/line, (n/line+threads-1)/threads, threads, func(_, begin, end int) { f(begin*line, min(end*line, n)) })
}
