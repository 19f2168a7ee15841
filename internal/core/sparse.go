package core

import (
	"cmp"
	"slices"

	"weft/internal/array"
	"weft/internal/op"
)

// A RowGrad is the gradient of a leaf as the rows that have one. Both tensors are the leaf's own
// memory, outside any scope.
type RowGrad struct {
	Places *Tensor // [n] int64, ascending, each once
	Values *Tensor // [n, ...]: the rows there
}

func (g *RowGrad) free() {
	Free(g.Places.v.Store)
	Free(g.Values.v.Store)
}

// byRows reports that all of a leaf's gradient in this pass is what was picked from
// its rows, and that the leaf keeps that as it is.
func (p *pass) byRows(n *GradNode, g *partial) bool {
	if n.Leaf == nil || !n.Leaf.Sparse.Load() || !p.leaves || p.create || g.t != nil || len(g.picked) == 0 || p.want[n] != nil {
		return false
	}
	for _, k := range g.picked {
		if k.n.p.def != op.IndexSelect || k.n.p.A != op.Axis(0) {
			return false
		}
	}
	return TracingHere() == nil // how many rows there are is known when a function is called
}

// addRows adds what was picked from a leaf's rows to its gradient.
func (h *History) addRows(p *pass, n *GradNode, g *partial) {
	places, values := make([]*Tensor, len(g.picked)), make([]*Tensor, len(g.picked))
	for i, k := range g.picked {
		places[i], values[i] = (&Tensor{v: k.n.values()[1].V}).To(array.Int64), &Tensor{v: k.dy.t.v}
	}
	r := coalesce(places, values, n.Shape[0])
	for _, k := range g.picked {
		k.dy.free()
		if !p.retain {
			k.n.release()
		}
	}
	g.picked = nil
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

// A pick is where a row goes, and its number among those that were picked.
type pick struct {
	place int64
	from  int
}

// coalesce adds up the rows of the same place, in the order in which they come. Places lie below
// size.
func coalesce(places, values []*Tensor, size int) *RowGrad {
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
	to := FromSlice(target, len(target)).On(x.v.Store.Device)
	return &RowGrad{
		Places: FromSlice(found, len(found)).On(x.v.Store.Device),
		Values: WithAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, x, to),
	}
}

// dense is the gradient as an array of the leaf's shape.
func (g *RowGrad) dense(shape []int) *Tensor {
	return WithAttrs(op.Lookup("index_add"), op.Target{Shape: shape}, g.Values, g.Places)
}

// Fill turns a gradient that is kept as rows into an array. The caller holds h.mu.
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

// IntoRows is Into for some rows of the tensors in dst, which are as long along
// their first axis: an argument that is one of dst stands for the same rows of it, and
// the others are taken as they are. places holds the numbers of the rows, a vector of
// int64, each once. What it costs depends on the rows alone.
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
			array.Failf(f.Def.Name, "dst", "number %d has shape %s: want as many rows as the first", i, array.ShapeString(t.v.Shape))
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
