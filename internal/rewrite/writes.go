package rewrite

import (
	"math"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
)

// Writes into parts of arrays, as a trace makes them of assignments, and reads of such arrays.

var writeRules = []*Rule{
	canon(Exact, "read of what was written", "(x with y written over w)[w] -> y; of another place, x there", func(c *Context, n *ir.Node) *ir.Node {
		p := n.Args[0]
		for p.Op == op.Reshape {
			p = p.Args[0]
		}
		if p.Op != op.Put || n.Size() == 0 {
			return nil
		}
		r, w := windowOf(n), p.Attrs.(op.StridedWindow)
		if y := p.Args[1]; samePlaces(r, w) {
			return reshape(y, n.Shape)
		}
		lo, hi := ends(r)
		if from, to := ends(w); array.Size(w.Shape) > 0 && (hi < from || lo > to) {
			return c.copy(n, []*ir.Node{reshape(p.Args[0], n.Args[0].Shape)})
		}
		return nil
	}, op.Strided, op.Slice),
	canon(Exact, "write over a write", "x with y, then z, written over w -> x with z written over w", func(c *Context, n *ir.Node) *ir.Node {
		p, w := n.Args[0], n.Attrs.(op.StridedWindow)
		if p.Op == op.Put && samePlaces(p.Attrs.(op.StridedWindow), w) {
			return op.Apply(op.Put, w, p.Args[0], n.Args[1])
		}
		return nil
	}, op.Put),
	canon(Exact, "indexed write over a write", "x with y, then z, at the same indices -> x with z there", func(c *Context, n *ir.Node) *ir.Node {
		p := n.Args[2]
		if p.Op != op.IndexCopy || p.Attrs != n.Attrs || p.Args[1] != n.Args[1] {
			return nil
		}
		return op.Apply(op.IndexCopy, n.Attrs, n.Args[0], n.Args[1], p.Args[2])
	}, op.IndexCopy),
	canon(Exact, "write of the same number", "an array of one number with that number written into it -> the array", func(c *Context, n *ir.Node) *ir.Node {
		v, ok := number(n.Args[0])
		w, also := number(n.Args[1])
		if !ok || !also || v != w || math.Float64bits(v.Float) != math.Float64bits(w.Float) {
			return nil
		}
		return n.Args[0]
	}, op.Put),
	canon(Exact, "write over all", "x with y written over all of it -> y", func(c *Context, n *ir.Node) *ir.Node {
		w, y := n.Attrs.(op.StridedWindow), n.Args[1]
		if samePlaces(w, op.StridedWindow{Shape: n.Shape, Strides: array.RowMajor(n.Shape)}) || y.Size() == n.Size() && samePlaces(w, op.StridedWindow{Shape: w.Shape, Strides: array.RowMajor(w.Shape)}) {
			return reshape(y, n.Shape)
		}
		return nil
	}, op.Put),
	canon(Exact, "write of nothing new", "x with x[w] written over w, or with nothing written -> x", func(c *Context, n *ir.Node) *ir.Node {
		x, y, w := n.Args[0], n.Args[1], n.Attrs.(op.StridedWindow)
		if y.Size() == 0 {
			return x
		}
		if !is(y, op.Strided, op.Slice) {
			return nil
		}
		of := y.Args[0]
		for of.Op == op.Reshape && of != x {
			of = of.Args[0]
		}
		if of == x && samePlaces(windowOf(y), w) {
			return x
		}
		return nil
	}, op.Put),
}

// windowOf is which elements of its argument, in row-major order, a slice or strided window
// shows.
func windowOf(n *ir.Node) op.StridedWindow {
	if n.Op == op.Strided {
		return n.Attrs.(op.StridedWindow)
	}
	w := n.Attrs.(op.Window)
	out := op.StridedWindow{Shape: w.Count, Strides: array.RowMajor(n.Args[0].Shape)}
	for i := range w.Count {
		out.Offset += w.Start[i] * out.Strides[i]
		out.Strides[i] *= w.Step[i]
	}
	return out
}

// samePlaces reports windows that show the same elements in the same order, axes of size 1
// aside.
func samePlaces(v, w op.StridedWindow) bool {
	i, j := 0, 0
	for v.Offset == w.Offset {
		for i < len(v.Shape) && v.Shape[i] == 1 {
			i++
		}
		for j < len(w.Shape) && w.Shape[j] == 1 {
			j++
		}
		if i == len(v.Shape) || j == len(w.Shape) {
			return i == len(v.Shape) && j == len(w.Shape)
		}
		if v.Shape[i] != w.Shape[j] || v.Strides[i] != w.Strides[j] {
			return false
		}
		i, j = i+1, j+1
	}
	return false
}

// ends are the first and the last element in memory of a window that has some.
func ends(w op.StridedWindow) (lo, hi int) {
	lo, hi = w.Offset, w.Offset
	for i, n := range w.Shape {
		if d := (n - 1) * w.Strides[i]; d < 0 {
			lo += d
		} else {
			hi += d
		}
	}
	return lo, hi
}
