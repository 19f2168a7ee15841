package weft

import (
	"cmp"
	"slices"

	"weft/internal/array"
	"weft/internal/op"
)

// A rowGrad is the gradient of a leaf of which most rows have none: those that have
// one. Both tensors are the leaf's own memory, outside any scope.
type rowGrad struct {
	places *Tensor // [n] int64, ascending, each once
	values *Tensor // [n, ...]: the rows there
}

func (g *rowGrad) free() {
	free(g.places.v.Store)
	free(g.values.v.Store)
}

// SparseGrad makes a leaf keep its gradient as the rows that have one, where it is
// read by [Tensor.IndexSelect] along the first axis alone, as a table of embeddings is:
// a step then touches the rows that were used and no others. [BorrowRows] reads such a
// gradient; [Tensor.Grad] and [BorrowGrad] turn it into an array of t's shape, zeros
// elsewhere, and so does whatever else adds to it. It returns t, and panics with *[Error]
// unless t is a leaf with an axis.
func (t *Tensor) SparseGrad() *Tensor {
	t.check("sparsegrad")
	n := t.node()
	if n == nil || n.leaf == nil {
		array.Failf("sparsegrad", "", "the tensor is not a leaf that requires a gradient: only those keep one")
	}
	if t.Rank() == 0 {
		array.Failf("sparsegrad", "", "a tensor of no axes has no rows")
	}
	n.leaf.sparse.Store(true)
	return t
}

// BorrowRows calls f with the gradient of a leaf, if the leaf keeps one as rows
// ([Tensor.SparseGrad]), and reports that: places holds the numbers of the rows that
// have a gradient, int64, ascending and each once, values [len(places), ...] the rows
// themselves. f may write into values, as clipping does, and must keep neither.
func BorrowRows(t *Tensor, f func(places, values *Tensor)) bool {
	t.notNil("borrowrows")
	if f == nil {
		array.Failf("borrowrows", "f", "is nil")
	}
	return lend(t, func(h *history) *rowGrad { return h.rows }, func(g *rowGrad) { f(g.places, g.values) })
}

// byRows reports that all of a leaf's gradient in this pass is what was picked from
// its rows, and that the leaf keeps that as it is.
func (p *pass) byRows(n *gradNode, g *partial) bool {
	if n.leaf == nil || !n.leaf.sparse.Load() || !p.leaves || p.create || g.t != nil || len(g.picked) == 0 || p.want[n] != nil {
		return false
	}
	for _, k := range g.picked {
		if k.n.p.def != op.IndexSelect || k.n.p.a != op.Axis(0) {
			return false
		}
	}
	return tracingHere() == nil // how many rows there are is known when a function is called
}

// addRows adds what was picked from a leaf's rows to its gradient.
func (h *history) addRows(p *pass, n *gradNode, g *partial) {
	places, values := make([]*Tensor, len(g.picked)), make([]*Tensor, len(g.picked))
	for i, k := range g.picked {
		places[i], values[i] = (&Tensor{v: k.n.values()[1].v}).To(Int64), &Tensor{v: k.dy.t.v}
	}
	r := coalesce(places, values, n.shape[0])
	for _, k := range g.picked {
		k.dy.free()
		if !p.retain {
			k.n.release()
		}
	}
	g.picked = nil
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.grad != nil:
		dense := r.dense(n.shape)
		addInto(h.grad.v, dense.v)
		free(dense.v.Store)
		r.free()
	case h.rows != nil:
		old := h.rows
		h.rows = coalesce([]*Tensor{old.places, r.places}, []*Tensor{old.values, r.values}, n.shape[0])
		if h.lent == 0 {
			old.free()
		}
		r.free()
	default:
		h.rows = r
	}
}

// A pick is where a row goes, and its number among those that were picked.
type pick struct {
	place int64
	from  int
}

// coalesce adds up the rows of the same place, of which there are size, in the order
// in which they come.
func coalesce(places, values []*Tensor, size int) *rowGrad {
	at, x := places[0], values[0]
	if len(places) > 1 {
		at, x = Cat(places, 0), Cat(values, 0)
	}
	idx := Data[int64](at)
	order := make([]pick, len(idx))
	for i, k := range idx {
		if k < 0 {
			k += int64(size)
		}
		order[i] = pick{k, i}
	}
	slices.SortFunc(order, func(a, b pick) int {
		if a.place != b.place {
			return cmp.Compare(a.place, b.place)
		}
		return cmp.Compare(a.from, b.from)
	})
	target := idx // where in the result a row is added
	var found []int64
	for _, o := range order {
		if n := len(found); n == 0 || found[n-1] != o.place {
			found = append(found, o.place)
		}
		target[o.from] = int64(len(found) - 1)
	}
	shape := append([]int{len(found)}, x.v.Shape[1:]...)
	to := FromSlice(target, len(target)).on(x.v.Store.Device)
	return &rowGrad{
		places: FromSlice(found, len(found)).on(x.v.Store.Device),
		values: withAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, x, to),
	}
}

// dense is the gradient as an array of the leaf's shape.
func (g *rowGrad) dense(shape []int) *Tensor {
	return withAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, g.values, g.places)
}

// fill turns a gradient that is kept as rows into an array. The caller holds h.mu.
func (h *history) fill() {
	if h.rows == nil {
		return
	}
	h.grad, h.mine = h.rows.dense(h.node.shape), true
	if h.lent == 0 {
		h.rows.free()
	}
	h.rows = nil
}

// IntoRows is Into for some rows of the tensors in dst, which are as long along
// their first axis: an argument that is one of dst stands for the same rows of it, and
// the others are taken as they are. places holds the numbers of the rows, a vector of
// int64, each once. What it costs depends on the rows alone.
func (f *fused) IntoRows(places *Tensor, dst []*Tensor, args []operand) {
	if f == nil || f.compose == nil {
		array.Failf("fused", "", "the Fused is nil or composes nothing")
	}
	places.check(f.def.Name)
	if places.Rank() != 1 || places.v.DType != Int64 {
		array.Failf(f.def.Name, "places", "are %s, want a vector of int64", array.TypeString(places.v.DType, places.v.Shape))
	}
	rows := make([]*Tensor, len(dst))
	for i, t := range dst {
		t.writable(f.def.Name)
		if t.Rank() == 0 || t.v.Shape[0] != dst[0].v.Shape[0] {
			array.Failf(f.def.Name, "dst", "number %d has shape %s: want as many rows as the first", i, array.ShapeString(t.v.Shape))
		}
		rows[i] = (&Tensor{v: t.v}).IndexSelect(0, places.Detach())
	}
	some := slices.Clone(args)
	for k := range args {
		if t := args[k].t; t != nil {
			if i := slices.IndexFunc(dst, func(d *Tensor) bool { return d.v.Same(&t.v) }); i >= 0 {
				some[k].t = rows[i]
			}
		}
	}
	f.Into(rows, some)
	for i, t := range dst {
		putRows(t, places, rows[i])
		t.wrote()
		free(rows[i].v.Store)
	}
}
