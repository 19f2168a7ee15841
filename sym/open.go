package sym

import (
	"context"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/lock"
)

// A box holds the tensor of an open shared variable, which others replace.
type box struct {
	lock lock.Lock // held by calls that read or replace the tensor
	now  atomic.Pointer[weft.Tensor]
}

// open makes v, a new shared variable, an open one.
func (v *Var) open(sizes []int) {
	if len(sizes) != len(v.shape) {
		array.Failf("sym", v.name, "has %d sizes, the tensor has shape %s", len(sizes), array.ShapeString(v.shape))
	}
	for i, n := range sizes {
		if n != Any && n != v.shape[i] {
			array.Failf("sym", v.name, "has size %d of axis %d, the tensor has shape %s", n, i, array.ShapeString(v.shape))
		}
	}
	if !slices.Contains(sizes, Any) {
		return
	}
	v.shape, v.box = slices.Clone(sizes), new(box)
	v.box.now.Store(v.kept.Clone())
	v.kept = nil
}

// tensor returns the tensor that a shared variable or a constant is, nil for others.
func (v *Var) tensor() *weft.Tensor {
	if v.box != nil {
		return v.box.now.Load()
	}
	return v.kept
}

// takes reports that t has the element type and the known sizes of v.
func (v *Var) takes(t *weft.Tensor) bool { return t.DType() == v.dtype && fit(v.shape, sizes(t)) }

// set replaces the tensor of v.
func (b *box) set(v *Var, x any) {
	const name = "setvalue"
	core.RefuseHost(name, "sets a shared variable")
	done := core.Around(context.Background(), name, []lock.Want{{Lock: &b.lock, Write: true, Around: true}})
	defer done()
	t, ok := x.(*weft.Tensor)
	if !ok {
		t = weft.FullOf(v.dtype, x, sizes(b.now.Load())...).On(b.now.Load().Device())
	} else {
		t = t.Detach().Clone()
	}
	b.now.Store(t)
}

// opened lists the open variables of a graph.
func opened(roots, updated []*Var) (out []*Var) {
	for _, v := range append(order(roots), updated...) {
		if v.box != nil && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// around takes the locks by which a call of the family, which may be several calls of compiled functions,
// is one step to others. ts are its arguments.
func (m *family) around(ctx context.Context, ts []*weft.Tensor) (done func()) {
	if len(m.held) == 0 {
		return func() {}
	}
	wants := slices.Clone(m.held)
	for _, t := range ts {
		st := (*core.Tensor)(t).Layout().Store
		wants = append(wants, lock.Want{Lock: &st.Lock, Of: st, Around: true})
	}
	return core.Around(ctx, m.f.label(), wants)
}

// wants lists the locks that a call of f holds as a whole: of open variables, and of all shared variables if
// sizes are computed from some.
func (f *Fn) wants(roots, open []*Var) (out []lock.Want) {
	written := func(v *Var) bool { return slices.Contains(f.shared, v) }
	for _, v := range open {
		out = append(out, lock.Want{Lock: &v.box.lock, Write: written(v), Around: true})
	}
	var decide []*Var
	all := order(roots)
	for _, v := range all {
		if v.from == nil || !v.from.sized {
			continue
		}
		for i, x := range v.from.args { // what a side computes, and integers of other bodies, may be sizes
			if i >= len(v.from.args)-v.from.lens || isWhole(x) || v.from.branch != nil {
				decide = append(decide, x)
			}
		}
	}
	if !slices.ContainsFunc(order(decide), func(v *Var) bool { return v.role == shared }) {
		return out
	}
	for _, v := range append(all, f.shared...) {
		if v.role == shared && v.box == nil {
			st := (*core.Tensor)(v.kept).Layout().Store
			out = append(out, lock.Want{Lock: &st.Lock, Write: written(v), Of: st, Around: true})
		}
	}
	return out
}
