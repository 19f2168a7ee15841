package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/device"
	"weft/internal/op"
)

// Arguments of a trace: which of them lie in one source, and the abstract tensors for them.

// argSource is memory that arguments lie in: a source of the program.
type argSource struct {
	args  []int      // the arguments, in order
	at    array.View // the elements that a call reads, of the memory that was given
	cell  *cell
	mixed bool // arguments of another element type lie in the same memory
}

// argSources returns the memory that the arguments of a call lie in, in the order of the first arguments.
// Arguments in one storage share a source. If they have several element types, as fields of records
// have, only those that overlap and have one type do.
func (g *Supplied) argSources(sig signature) []*argSource {
	var list []*argSource
	mixed := map[int]bool{} // by the first argument in a storage
	for _, a := range sig.tensors {
		if a.same >= 0 && a.dtype != sig.tensors[a.same].dtype {
			mixed[a.same] = true
		}
	}
	for i, t := range g.Tensors {
		first := i
		if k := sig.tensors[i].same; k >= 0 {
			first = k
		}
		home := &argSource{args: []int{i}, mixed: mixed[first]}
		rest := list[:0]
		for _, l := range list {
			if !l.holds(g, &t.v) {
				rest = append(rest, l)
				continue
			}
			home.args = append(l.args, home.args...)
		}
		slices.Sort(home.args)
		list = append(rest, home)
	}
	slices.SortFunc(list, func(a, b *argSource) int { return a.args[0] - b.args[0] })
	for _, l := range list {
		l.at = l.block(g)
	}
	return list
}

// holds reports whether an argument belongs to the memory of l.
func (l *argSource) holds(g *Supplied, v *array.View) bool {
	for _, k := range l.args {
		u := &g.Tensors[k].v
		if u.Store == v.Store && (!l.mixed || u.DType == v.DType && !disjoint(u, v)) {
			return true
		}
	}
	return false
}

// block returns the view that a source holds of the arguments' memory: one of them if the others lie in
// it, else their whole span.
func (l *argSource) block(g *Supplied) array.View {
	first := &g.Tensors[l.args[0]].v
	if l.mixed {
		for _, k := range l.args {
			v := ascending(&g.Tensors[k].v)
			if nested(&v) && !slices.ContainsFunc(l.args, func(j int) bool { _, ok := windowWithin(&v, &g.Tensors[j].v); return !ok }) {
				return v
			}
		}
	}
	at := block(first, false)
	for _, k := range l.args[1:] {
		o := &g.Tensors[k].v
		low, high := o.Span()
		lo, hi := at.Span()
		if low != high && (low < lo || high > hi) {
			lo, hi = min(lo, low), max(hi, high)
			at = array.View{Store: at.Store, DType: at.DType, Offset: lo, Shape: []int{hi - lo}, Strides: []int{1}}
		}
	}
	return at
}

// arguments makes abstract tensors for the arguments of a call.
func (tr *Trace) arguments(g *Supplied, sig signature) []*Tensor {
	out := make([]*Tensor, len(g.Tensors))
	if len(g.Tensors) > 0 {
		tr.place(g.Tensors[0].v.Store.Device)
	}
	for _, t := range g.Tensors {
		if n := t.v.Store.Device; n != tr.Device {
			array.Failf("compile", "", "arguments are on different devices, %s and %s: On moves a tensor", device.Get(tr.Device).Name(), device.Get(n).Name())
		}
	}
	tr.argSources = g.argSources(sig)
	for _, l := range tr.argSources {
		at := l.at
		first := &g.Tensors[l.args[0]].v
		st := tr.Storage(first.Store.Bytes)
		if tr.args[first.Store] == nil {
			tr.args[first.Store] = st
		}
		s := Source{Kind: FromArgument, Index: l.args[0], At: at}
		s.At.Store, s.At.Offset = st, 0
		l.cell = tr.Input(s)
		// Where the elements are from the first of the argument's.
		tr.Sources[len(tr.Sources)-1].At.Offset = at.Offset - first.Offset
		for _, i := range l.args {
			v := g.Tensors[i].v
			v.Store, v.Offset = st, v.Offset-at.Offset
			out[i] = &Tensor{v: v}
		}
	}
	for i, t := range g.Tensors {
		tr.leafArgument(out, i, t, sig.tensors[i])
	}
	return out
}

// leafArgument makes abstract tensor number i a leaf if the argument t is one.
func (tr *Trace) leafArgument(out []*Tensor, i int, t *Tensor, a argument) {
	if a.twin >= 0 { // the same leaf again
		out[i].hist = out[a.twin].hist
		return
	}
	if !a.leaf {
		return
	}
	out[i].RequireGrad()
	l := t.Node().Leaf
	out[i].hist.Sparse.Store(l.Sparse.Load())
	l.Mu.Lock()
	defer l.Mu.Unlock()
	tr.Aside(l.Fill)
	out[i].hist.Grad = l.Grad // the function adds to this gradient
}

// checkArguments refuses a function that writes an argument whose bytes a source of another argument has too.
func (tr *Trace) checkArguments() {
	for _, l := range tr.argSources {
		if !l.mixed || !l.cell.Written {
			continue
		}
		for _, o := range tr.argSources {
			if o != l && o.at.Store == l.at.Store && !disjoint(&l.at, &o.at) {
				array.Failf("compile", "", "arguments %d and %d, %s and %s, share bytes, and the function writes argument %d: give it a Clone of one of the two",
					l.args[0], o.args[0], array.TypeString(l.at.DType, l.at.Shape), array.TypeString(o.at.DType, o.at.Shape), l.args[0])
			}
		}
	}
}

// disjoint reports that two views of one storage share no byte, as far as their strides tell: spans that
// are apart, or windows that come again at multiples of one distance, as fields of records do.
func disjoint(v, w *array.View) bool {
	vl, vh := v.Span()
	wl, wh := w.Span()
	if !v.Overlaps(w) || vl == vh || wl == wh {
		return true
	}
	vs, ws := v.DType.Size(), w.DType.Size()
	for _, from := range slices.Concat(byteStrides(v), byteStrides(w)) {
		m, vn := period(v, from, 0)
		m, wn := period(w, from, m)
		if m == 0 {
			continue
		}
		if d := ((wl*ws-vl*vs)%m + m) % m; vn <= d && d+wn <= m {
			return true
		}
	}
	return false
}

// byteStrides returns the distances in bytes between elements along the axes of v.
func byteStrides(v *array.View) (list []int) {
	for i, n := range v.Shape {
		if s := v.Strides[i] * v.DType.Size(); n > 1 && s != 0 {
			list = append(list, max(s, -s))
		}
	}
	return list
}

// period returns the greatest common divisor of m and the strides of v from a number of bytes on, and
// the bytes that the elements along the other axes span.
func period(v *array.View, from, m int) (gcd, span int) {
	span = v.DType.Size()
	for i, n := range v.Shape {
		s := v.Strides[i] * v.DType.Size()
		if s = max(s, -s); n <= 1 || s == 0 {
			continue
		}
		if s < from {
			span += (n - 1) * s
			continue
		}
		for s != 0 {
			m, s = s, m%s
		}
	}
	return m, span
}

// ascending returns the elements of v in the order of memory: axes of negative strides are reversed, and
// axes are sorted by stride, the largest first.
func ascending(v *array.View) array.View {
	w := array.View{Store: v.Store, DType: v.DType, Shape: v.Shape, Strides: slices.Clone(v.Strides)}
	w.Offset, _ = v.Span()
	for i, s := range w.Strides {
		w.Strides[i] = max(s, -s)
	}
	order, _ := dense(&w)
	w.Shape, w.Strides = permutedList(w.Shape, order), permutedList(w.Strides, order)
	return w
}

// nested reports whether each stride of v is positive and larger than what the axes behind it span, so
// that no two elements of v are one.
func nested(v *array.View) bool {
	span := 0
	for k, n := range slices.Backward(v.Shape) {
		if n == 0 || n > 1 && v.Strides[k] <= span {
			return false
		}
		if n > 1 {
			span += (n - 1) * v.Strides[k]
		}
	}
	return true
}

// windowWithin returns the view v, of the same memory and type, as a window on the elements of at in
// row-major order. ok is false if v has elements that at lacks, or steps that at's strides do not make.
func windowWithin(at, v *array.View) (w op.StridedWindow, ok bool) {
	if at.DType != v.DType {
		return w, false
	}
	first, ok := coordinates(at, v.Offset-at.Offset)
	if !ok {
		return w, false
	}
	low, high := slices.Clone(first), slices.Clone(first)
	rows := array.RowMajor(at.Shape)
	w = op.StridedWindow{Shape: v.Shape, Strides: make([]int, len(v.Shape))}
	for j := range rows {
		w.Offset += first[j] * rows[j]
	}
	for k, n := range v.Shape {
		if n <= 1 {
			continue
		}
		steps, ok := coordinates(at, v.Strides[k])
		if !ok {
			return w, false
		}
		for j, s := range steps {
			w.Strides[k] += s * rows[j]
			if d := (n - 1) * s; d < 0 {
				low[j] += d
			} else {
				high[j] += d
			}
		}
	}
	for j, n := range at.Shape {
		if low[j] < 0 || high[j] >= n {
			return w, false
		}
	}
	return w, true
}

// coordinates returns numbers of steps along the axes of v that together go d elements of memory.
func coordinates(v *array.View, d int) (steps []int, ok bool) {
	steps = make([]int, len(v.Shape))
	order, _ := dense(v)
	sign := 1
	if d < 0 {
		d, sign = -d, -1
	}
	for _, k := range order {
		if s := v.Strides[k]; v.Shape[k] > 1 && s > 0 {
			steps[k], d = sign*(d/s), d%s
		}
	}
	return steps, d == 0
}
