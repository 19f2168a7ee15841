package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/op"
)

// RowGrad is a sparse gradient of a leaf: the rows that have one. Both tensors are the leaf's own
// memory, outside any scope.
type RowGrad struct {
	Places *Tensor // [n] int64: indices of the rows, ascending, without duplicates
	Values *Tensor // [n, ...]: the rows' gradients
}

func (g *RowGrad) free() {
	Free(g.Places.v.Store)
	Free(g.Values.v.Store)
}

// byRows reports whether a leaf's gradient in this pass comes only from IndexSelects of its rows,
// and the leaf keeps sparse gradients.
func (p *gradPass) byRows(n *GradNode, g *partialGrad) bool {
	if n.Leaf == nil || !n.Leaf.Sparse.Load() || !p.leaves || p.create || g.t != nil || len(g.indexed) == 0 || p.want[n] != nil || len(n.gradHooks()) > 0 {
		return false
	}
	for _, k := range g.indexed {
		if k.n.p.def != op.IndexSelect || k.n.p.A != op.Axis(0) {
			return false
		}
	}
	return TracingHere() == nil // in a trace, the number of distinct rows is unknown
}

// addRows adds the gradients of IndexSelects of a leaf's rows to its gradient.
func (h *History) addRows(p *gradPass, n *GradNode, g *partialGrad) {
	places, values := make([]*Tensor, len(g.indexed)), make([]*Tensor, len(g.indexed))
	for i, k := range g.indexed {
		places[i], values[i] = (&Tensor{v: k.n.values(nil)[1].V}).To(array.Int64), &Tensor{v: k.dy.t.v}
	}
	r := coalesce(places, values, n.Shape[0])
	for _, k := range g.indexed {
		k.dy.free()
		if !p.retain {
			k.n.release()
		}
	}
	g.indexed = nil
	h.Mu.Lock()
	defer h.Mu.Unlock()
	switch {
	case h.Grad != nil:
		dense := r.dense(n.Shape)
		addInto(h.Grad.v, dense.v)
		Free(dense.v.Store)
		r.free()
	case h.Rows != nil:
		old := h.Rows
		h.Rows = coalesce([]*Tensor{old.Places, r.Places}, []*Tensor{old.Values, r.Values}, n.Shape[0])
		if h.lent == 0 {
			old.free()
		}
		r.free()
	default:
		h.Rows = r
	}
}

// coalesce sums the rows with the same index, in the order in which they come. size is the number
// of rows of the leaf.
func coalesce(places, values []*Tensor, size int) *RowGrad {
	at, x := places[0], values[0]
	if len(places) > 1 {
		at, x = Cat(places, 0), Cat(values, 0)
	}
	idx := Data[int64](at)
	for i, k := range idx {
		if k < 0 {
			idx[i] = k + int64(size)
		}
	}
	sorted := ApplyAll(op.Sort, op.Sorting{}, Operand{T: FromSlice(idx, len(idx))})
	order := Data[int64](sorted[1])
	for _, t := range sorted {
		Free(t.v.Store)
	}
	target := make([]int64, len(idx)) // where in the result a row is added
	var found []int64
	for _, i := range order {
		if n := len(found); n == 0 || found[n-1] != idx[i] {
			found = append(found, idx[i])
		}
		target[i] = int64(len(found) - 1)
	}
	shape := append([]int{len(found)}, x.v.Shape[1:]...)
	to := FromSlice(target, len(target)).On(x.v.Store.Device)
	return &RowGrad{
		Places: FromSlice(found, len(found)).On(x.v.Store.Device),
		Values: WithAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, x, to),
	}
}

// dense returns the gradient as an array of the leaf's shape.
func (g *RowGrad) dense(shape []int) *Tensor {
	return WithAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, g.Values, g.Places)
}

// Fill turns a sparse gradient into an array. Requires that the caller holds h.Mu.
func (h *History) Fill() {
	if h.Rows == nil {
		return
	}
	h.Grad, h.Mine = h.Rows.dense(h.Node.Shape), true
	if h.lent == 0 {
		h.Rows.free()
	}
	h.Rows = nil
}

// IntoRows is Into for the rows of the tensors in dst at the indices places, a vector of int64
// without duplicates. All of dst have the same number of rows. An argument that is one of dst
// stands for the same rows of it; other arguments are used whole. The cost depends on the number
// of places alone.
func (f *Fused) IntoRows(places *Tensor, dst []*Tensor, args []Operand) {
	if f == nil || f.compose == nil {
		array.Failf("fused", "", "the Fused is nil or composes nothing")
	}
	places.Check(f.Def.Name)
	if places.Rank() != 1 || places.v.DType != array.Int64 {
		array.Failf(f.Def.Name, "places", "are %s, want a vector of int64", array.TypeString(places.v.DType, places.v.Shape))
	}
	rows := make([]*Tensor, len(dst))
	for i, t := range dst {
		t.Writable(f.Def.Name)
		if t.Rank() == 0 || t.v.Shape[0] != dst[0].v.Shape[0] {
			array.Failf(f.Def.Name, "dst", "number %d has shape %s: want the number of rows of the first", i, array.ShapeString(t.v.Shape))
		}
		rows[i] = (&Tensor{v: t.v}).IndexSelect(0, places.Detach())
	}
	some := slices.Clone(args)
	for k := range args {
		if t := args[k].T; t != nil {
			if i := slices.IndexFunc(dst, func(d *Tensor) bool { return d.v.Same(&t.v) }); i >= 0 {
				some[k].T = rows[i]
			}
		}
	}
	f.Into(rows, some)
	for i, t := range dst {
		putRows(t, places, rows[i])
		t.Wrote()
		Free(rows[i].v.Store)
	}
}
