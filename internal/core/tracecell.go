package core

import (
	"bytes"
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/ir"
	"weft/internal/op"
)

// Cells of a trace: which node stands for a storage, and which for each view of it.

// layoutKey returns a key of v's layout; views of a storage with equal keys show equal elements.
func layoutKey(v *array.View) string {
	k := append(make([]byte, 0, 64), byte(v.DType))
	return string(ir.Ints(ir.Ints(ir.Int(k, v.Offset), v.Shape), v.Strides))
}

// dense returns the order of v's axes, the slowest first, in which its elements lie without
// gaps; ok is false if there is none.
func dense(v *array.View) (order []int, ok bool) {
	order = make([]int, len(v.Shape))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return v.Strides[b] - v.Strides[a] })
	w := array.View{DType: v.DType, Shape: permutedList(v.Shape, order), Strides: permutedList(v.Strides, order)}
	return order, w.Contiguous() && v.Size() > 0
}

func permutedList(list, order []int) []int {
	out := make([]int, len(order))
	for i, a := range order {
		out[i] = list[a]
	}
	return out
}

// block returns the view that a cell holds of a storage first seen through v. If v is dense and,
// with all, is the whole storage, it is v with its axes in the order of memory. Otherwise it is a
// vector: the whole storage with all, else v's span.
func block(v *array.View, all bool) array.View {
	if order, ok := dense(v); ok && (!all || v.Offset == 0 && v.Size()*v.DType.Size() == v.Store.Bytes) {
		s := permutedList(v.Shape, order)
		return array.View{Store: v.Store, DType: v.DType, Offset: v.Offset, Shape: s, Strides: array.RowMajor(s)}
	}
	lo, hi := v.Span()
	if all {
		lo, hi = 0, v.Store.Bytes/v.DType.Size()
	}
	return array.View{Store: v.Store, DType: v.DType, Offset: lo, Shape: []int{hi - lo}, Strides: []int{1}}
}

// allocUnit is what sizes of allocations are multiples of, in bytes: a storage can be less than that larger
// than the tensor in it.
const allocUnit = 64

// cellOf returns the cell of v's storage. A captured storage becomes an input.
func (tr *Trace) cellOf(v *array.View) *cell {
	st := v.Store
	if c := tr.cells[st]; c != nil {
		return c
	}
	if st.Abstract && !tr.within(st.Owner().(*Trace)) {
		array.Failf("compile", "", "a value of another trace is used%s", Here())
	}
	if tr.args[st] != nil {
		tr.shared = array.Caller()
	}
	if v.Size() > 0 {
		tr.place(st.Device)
	}
	at := block(v, true)
	if c := tr.enclosing(st); c != nil {
		at = c.at
	} else if tr.tight && st.Bytes-v.Size()*v.DType.Size() < allocUnit {
		at = block(v, false)
	}
	for o := tr.Outer; o != nil; o = o.Outer { // the elements that a trace around knows, which may not be all
		if c := o.cells[st]; c != nil {
			at = c.at
			break
		}
	}
	return tr.Input(Source{Kind: fromCapture, At: at, PC: tr.caller()})
}

// enclosing returns the cell that a trace around tr has of a storage, nil if none has one. An argument's
// cell is the part of memory that the caller gave.
func (tr *Trace) enclosing(st *array.Storage) *cell {
	for o := tr.Outer; o != nil; o = o.Outer {
		if c := o.cells[st]; c != nil {
			return c
		}
	}
	return nil
}

// place says that the trace uses memory of a device: the whole function runs there.
func (tr *Trace) place(number uint8) {
	if tr.Device != number {
		if tr.placed {
			array.Failf("compile", "", "tensors on different devices, %s and %s, are used in one compiled function%s: move them with On before it is called", device.Get(tr.Device).Name(), device.Get(number).Name(), Here())
		}
		tr.Device = number
		for st := range tr.cells { // made of Go numbers before
			if st.Abstract && st.Owner() == any(tr) {
				st.Device = number
			}
		}
	}
	tr.placed = true
}

// within reports whether the trace runs inside the trace o.
func (tr *Trace) within(o *Trace) bool {
	for tr = tr.Outer; tr != nil && tr != o; {
		tr = tr.Outer
	}
	return tr != nil
}

// given reports whether v's memory exists before a call: it is an argument or captured.
func (tr *Trace) given(v *array.View) bool {
	c := tr.cells[v.Store]
	return !tr.Made[v.Store] && !tr.literals[v.Store] && (!v.Store.Abstract || c != nil && c.source >= 0)
}

// Input makes a cell of what every call reads.
func (tr *Trace) Input(s Source) *cell {
	c := &cell{at: s.At, source: len(tr.Sources), node: tr.G.Input(len(tr.Sources), s.At.DType, s.At.Shape)}
	s.Cell = c
	tr.cells[s.At.Store] = c
	tr.Sources = append(tr.Sources, s)
	return c
}

// Value returns the node of v's present value.
func (tr *Trace) Value(v *array.View) *ir.Node {
	if v.Size() == 0 {
		if n := tr.emptyOf(v); n != nil {
			return n
		}
		return op.Apply(op.Expand, op.Shape(v.Shape), tr.zero(v.DType))
	}
	c := tr.cellOf(v)
	if c.node == nil {
		c.node = op.Apply(op.Expand, op.Shape(c.at.Shape), tr.zero(c.at.DType))
	}
	if c.at.Same(v) {
		return c.node
	}
	key := layoutKey(v)
	if n := c.seen[key]; n != nil {
		return n
	}
	n := tr.windowOfCell(c, v, key)
	if c.seen == nil {
		c.seen = map[string]*ir.Node{}
	}
	c.seen[key] = n
	return n
}

// emptyOf returns the node of a view without elements that has a gradient in the graph, nil where a
// constant serves: outside functions whose graphs are differentiated.
func (tr *Trace) emptyOf(v *array.View) *ir.Node {
	if !tr.Callee {
		return nil
	}
	c := tr.cells[v.Store]
	if r := tr.Seen[v.Store]; c == nil && r != nil && r.v.Size() == 0 && v.Store.Bytes == 0 {
		c = tr.Input(Source{Kind: fromCapture, At: array.View{Store: v.Store, DType: v.DType, Shape: r.v.Shape, Strides: array.RowMajor(r.v.Shape)}, PC: tr.caller()})
	}
	if c == nil || c.node == nil || c.at.DType != v.DType || c.node.Size() > 0 {
		return nil
	}
	return ReshapeTo(c.node, v.Shape)
}

// zero returns the number 0 of type d.
func (tr *Trace) zero(d array.DType) *ir.Node {
	if d.Complex() {
		z := tr.G.Number(0, d.Part(), false)
		return op.Apply(op.Complex, nil, z, z)
	}
	return tr.G.Number(0, d, false)
}

// windowOfCell returns the node of the view v of a cell.
func (tr *Trace) windowOfCell(c *cell, v *array.View, key string) *ir.Node {
	if v.DType == c.at.DType && v.Offset == c.at.Offset && v.Size() == c.at.Size() {
		if order, ok := dense(v); ok {
			return permuted(ReshapeTo(c.node, permutedList(v.Shape, order)), inverse(order))
		}
	}
	if w, ok := tr.windows[windowKey{v.Store, key}]; ok {
		x := tr.Value(&w.of)
		if w.d == op.Reshape {
			return ReshapeTo(x, v.Shape)
		}
		return op.Apply(w.d, w.a, x)
	}
	if z, part := partOf(v, c.at.DType); part != nil {
		return op.Apply(part, nil, tr.Value(&z))
	}
	return op.Apply(op.Strided, tr.windowIn(c, v), ReshapeTo(c.node, []int{c.node.Size()}))
}

// partOf returns the complex view of type d whose real or imaginary parts v shows, and the
// operation (Real or Imag). part is nil if v is another view.
func partOf(v *array.View, d array.DType) (z array.View, part *op.Def) {
	if !d.Complex() || v.DType != d.Part() {
		return z, nil
	}
	z = array.View{Store: v.Store, DType: d, Offset: v.Offset / 2, Shape: v.Shape, Strides: make([]int, len(v.Strides))}
	for i, s := range v.Strides {
		switch {
		case v.Shape[i] == 1:
		case s%2 != 0:
			return z, nil
		default:
			z.Strides[i] = s / 2
		}
	}
	if v.Offset%2 == 0 {
		return z, op.Real
	}
	return z, op.Imag
}

// windowIn returns v as a strided window on a cell's memory.
func (tr *Trace) windowIn(c *cell, v *array.View) op.StridedWindow {
	lo, hi := v.Span()
	if v.DType != c.at.DType {
		array.Failf("compile", "", "a view, %s of memory that the function uses as %s%s: in a compiled function memory has one element type, so pass a Clone of one of the two", v.DType, c.at.DType, Here())
	}
	if !c.at.Contiguous() {
		if w, ok := windowWithin(&c.at, v); ok {
			return w
		}
	}
	if !c.at.Contiguous() || lo < c.at.Offset || hi > c.at.Offset+c.at.Size() {
		array.Failf("compile", "", "a window, %s from element %d, that is not part of what the trace knows of its memory%s: use the array that it is part of", array.TypeString(v.DType, v.Shape), v.Offset, Here())
	}
	return op.StridedWindow{Offset: v.Offset - c.at.Offset, Shape: v.Shape, Strides: v.Strides}
}

func inverse(order []int) []int {
	inv := make([]int, len(order))
	for i, a := range order {
		inv[a] = i
	}
	return inv
}

// permuted returns x with its axes in another order.
func permuted(x *ir.Node, order []int) *ir.Node {
	if slices.IsSorted(order) {
		return x
	}
	return op.Apply(op.Permute, op.Order(order), x)
}

// ReshapeTo returns x in another shape.
func ReshapeTo(x *ir.Node, shape []int) *ir.Node {
	for x.Op == op.Reshape {
		x = x.Args[0]
	}
	if array.Equal(x.Shape, shape) {
		return x
	}
	return op.Apply(op.Reshape, op.Shape(shape), x)
}

// write makes n, of v's shape and type, the value of v from now on.
func (tr *Trace) write(v *array.View, n *ir.Node) {
	if v.Size() == 0 {
		return
	}
	defer tr.mark(len(tr.G.Nodes), "assign")
	c := tr.cellOf(v)
	if c.detached {
		array.Failf("assign", "", "writes, in a function that is mapped or that a loop or a branch runs, into a value that Detach or WithoutGrad gave%s: Clone it", Here())
	}
	if c.at.Same(v) {
		c.set(n)
		c.part = nil
		return
	}
	switch z, part := partOf(v, c.at.DType); part {
	case op.Real:
		tr.write(&z, op.Apply(op.Complex, nil, n, op.Apply(op.Imag, nil, tr.Value(&z))))
		return
	case op.Imag:
		tr.write(&z, op.Apply(op.Complex, nil, op.Apply(op.Real, nil, tr.Value(&z)), n))
		return
	}
	if v.DType == c.at.DType && v.Offset == c.at.Offset && v.Size() == c.at.Size() {
		if order, ok := dense(v); ok {
			c.set(ReshapeTo(permuted(n, order), c.at.Shape))
			c.part = nil
			return
		}
	}
	a := tr.windowIn(c, v)
	old := tr.Value(&c.at)
	first := !c.Written
	c.set(op.Apply(op.Put, a, old, n))
	a = op.StridedWindow{Offset: v.Offset - c.at.Offset, Shape: v.Shape, Strides: v.Strides} // of memory
	switch {
	case slices.ContainsFunc(c.part, func(b op.StridedWindow) bool { return bytes.Equal(a.AppendKey(nil), b.AppendKey(nil)) }):
	case (first || c.part != nil) && len(c.part) < MaxWindows && !c.at.DType.Half(): // kernels may make NaNs of halves quiet that they only move
		c.part = append(c.part, a)
	default:
		c.part = nil
	}
}

func (c *cell) set(n *ir.Node) { c.node, c.seen, c.Written = n, nil, true }

// window notes that the view op d, with attributes a, made the view v of the view of.
func (tr *Trace) window(v, of *array.View, d *op.Def, a ir.Attrs) {
	if v.Store != of.Store || v.Same(of) || v.Size() == 0 {
		return
	}
	key := windowKey{v.Store, layoutKey(v)}
	if _, ok := tr.windows[key]; ok {
		return
	}
	for w := *of; ; { // never in a circle
		next, ok := tr.windows[windowKey{w.Store, layoutKey(&w)}]
		if !ok {
			break
		}
		if next.of.Same(v) {
			return
		}
		w = next.of
	}
	if c := tr.cells[v.Store]; c != nil && c.at.Same(v) {
		return
	}
	tr.windows[key] = windowOn{*of, d, ir.CopyAttrs(a)}
}
