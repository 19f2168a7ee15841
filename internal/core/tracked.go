package core

import (
	"slices"

	"weft/internal/array"
	"weft/internal/dirty"
	"weft/internal/op"
)

// write is a write in progress. Its opener calls Done when the memory is written, or writing has
// failed. Done marks the bytes that the view can touch if their memory is tracked.
type write struct {
	m    *dirty.Monitor
	v    *array.View
	part []dirty.Interval // all that was written, where that is known
}

// OpenWrite opens a write into a view. Nothing within it may open another one.
func OpenWrite(v *array.View) write {
	ComputeReaders(v.Store)
	m := v.Store.Monitor()
	if m != nil {
		m.Enter()
	}
	return write{m: m, v: v}
}

// Done ends the write, and marks its bytes if the memory is tracked.
func (w write) Done() {
	m := w.m
	if m == nil { // unless it is tracked since
		m = w.v.Store.Monitor()
	}
	switch {
	case m == nil:
	case w.part != nil:
		m.MarkEach(w.part, w.m != nil)
	default:
		mark(m, w.v, w.m != nil)
	}
}

// mark marks the bytes of a view for a writer, who leaves or stays.
func mark(m *dirty.Monitor, v *array.View, leaves bool) {
	size := v.DType.Size()
	if v.Contiguous() {
		m.Mark(v.Offset*size, v.Size()*size, nil, nil, leaves)
		return
	}
	strides := make([]int, 0, 8)
	for _, s := range v.Strides {
		strides = append(strides, s*size)
	}
	m.Mark(v.Offset*size, size, v.Shape, strides, leaves)
}

// writes is a write into several tensors.
type writes struct {
	dst   []*Tensor
	in    []*dirty.Monitor
	parts [][]op.StridedWindow // for each of dst what of it was written, nil: all
}

// OpenWrites opens a write into all of dst. Monitors are entered in the order of their
// numbers: writes and flushes that wait for one another in a circle would wait for ever.
func OpenWrites(dst []*Tensor) writes {
	w := writes{dst: dst}
	for _, t := range dst {
		ComputeReaders(t.v.Store)
		if m := t.v.Store.Monitor(); m != nil && !slices.Contains(w.in, m) {
			w.in = append(w.in, m)
		}
	}
	slices.SortFunc(w.in, (*dirty.Monitor).Compare)
	for _, m := range w.in {
		m.Enter()
	}
	return w
}

// Done ends the writes and counts them, also if some were done in part.
func (w writes) Done() {
	for i, t := range w.dst {
		t.Wrote()
		m := t.v.Store.Monitor()
		if m == nil {
			continue
		}
		if w.parts == nil || w.parts[i] == nil {
			mark(m, &t.v, false)
			continue
		}
		for _, p := range w.parts[i] {
			mark(m, &array.View{Store: t.v.Store, DType: t.v.DType, Offset: t.v.Offset + p.Offset, Shape: p.Shape, Strides: p.Strides}, false)
		}
	}
	for _, m := range w.in {
		m.Mark(0, 0, nil, nil, true)
	}
}
