package plan

import (
	"slices"

	"weft/internal/ir"
	"weft/internal/loop"
	"weft/internal/op"
)

// Elementwise operations that have several results, or that read arguments otherwise than
// by element: near their own place, or as whole arrays. Such memory is read where it is,
// by offsets that the kernel computes from strides that the plan gives it.

// A window is an argument that a kernel reads near its elements or whole.
type window struct {
	of   *ir.Node
	seen op.Seen
	by   taking  // of op.AlongAxis
	o    Operand // as it is
	wide Operand // of the kernel's shape
	at   int     // number of the operand
}

// look finds where an argument is that is not seen by element. It is not copied: what is
// read may lie outside of it.
func (e *emitter) look(n *ir.Node, i int) {
	if e.window(n, i) != nil {
		return
	}
	e.b.readsWindows = true
	a := n.Args[i]
	w := window{of: a, seen: op.SeenBy(n, i), o: e.b.value(a)}
	switch w.seen {
	case op.Near:
		v := w.o.view()
		w.wide = nowhere(a, w.o.with(v.BroadcastTo(e.c.shape)))
	case op.AlongAxis:
		w.by = n.Attrs.(taking)
		w.wide = w.by.wide(w.o, e.c.shape)
	default:
		w.wide = Operand{w.o.Slot, w.o.Offset, w.o.DType, e.c.shape, make([]int, len(e.c.shape))}
	}
	e.seen = append(e.seen, w)
}

// window is how the argument i of n is read, nil if that is by element.
func (e *emitter) window(n *ir.Node, i int) *window {
	seen := op.SeenBy(n, i)
	for k := range e.seen {
		if w := &e.seen[k]; w.of == n.Args[i] && w.seen == seen && (seen != op.AlongAxis || w.by == n.Attrs.(taking)) {
			return w
		}
	}
	return nil
}

// access is how a node reads its argument i that is not seen by element.
func (e *emitter) access(n *ir.Node, i int) op.Access {
	w := e.window(n, i)
	a := op.Access{Buf: e.k.buf(w.at)}
	if w.seen == op.AlongAxis {
		a.Strides = []loop.Value{e.k.word(w.at, 's', w.by.Axis, w.o.Strides[w.by.Axis])}
		return a
	}
	for axis, s := range w.o.Strides {
		n := w.o.Shape[axis]
		switch {
		case n == 1 && w.seen == op.Near && len(w.o.Shape) <= len(e.c.shape) && e.c.shape[len(e.c.shape)-len(w.o.Shape)+axis] != 1:
			s = 0 // it is repeated
			fallthrough
		case s == 0 || s == 1:
			a.Strides = append(a.Strides, e.k.kb.Int(loop.I64, int64(s)))
		default:
			a.Strides = append(a.Strides, e.k.word(w.at, 's', axis, s))
		}
		a.Extents = append(a.Extents, e.k.word(w.at, 'n', axis, n))
	}
	return a
}

// word is a number that the plan knows as a value, I64: an argument, so that one program
// serves all shapes, while there is room for that.
func (k *kernel) word(of int, what uint8, axis, x int) loop.Value {
	a := scalar{of: of, what: what, axis: axis, value: int64(x)}
	if !k.room(a) {
		return k.kb.Int(loop.I64, a.value)
	}
	return k.scalar(a, loop.I64)
}

// values returns what an elementwise node gives, rounded as its results are.
func (e *emitter) values(kb *loop.Builder, n *ir.Node) []loop.Value {
	from, to := len(e.args), len(e.args)+len(n.Args)
	e.args = slices.Grow(e.args, len(n.Args))[:to]
	for i, a := range n.Args {
		v := loop.NoValue
		if op.SeenBy(n, i) == op.ByElement {
			if v = e.k.constant(n, a); v == loop.NoValue {
				v = e.get(kb, a)
			}
		}
		e.args[from+i] = v
	}
	d := op.Of(n)
	x := e.args[from:to:to]
	if d.ExprAll == nil {
		v := d.Expr(kb, n, x)
		if n.DType.Half() {
			v = kb.Round(n.DType, v)
		}
		e.one[0] = v
		return e.one[:]
	}
	out := values(kb, n, x, func(i int) op.Access { return e.access(n, i) })
	for i := range out {
		t := n.DType
		if n.Results != nil {
			t = n.Results[i].DType
		}
		if t.Half() {
			out[i] = kb.Round(t, out[i])
		}
	}
	return out
}
