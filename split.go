package weft

import (
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mem"
	"weft/internal/op"
)

// Split cuts t along an axis into views of the given sizes, which add up to that of
// the axis. One size alone is that of every part; the last may be smaller. An axis of
// 0 elements gives one part. It is PyTorch's split; NumPy's takes places instead of
// sizes.
//
//	x.Split(0, 2)       // parts of 2 rows
//	x.Split(1, 3, 1, 4) // an axis of 8
func (t *Tensor) Split(axis int, sizes ...int) []*Tensor {
	t.c().Check("split")
	a := array.Axis("split", axis, len(t.v().Shape))
	n := t.v().Shape[a]
	if len(sizes) == 0 {
		array.Failf("split", "sizes", "has no numbers: want one size for all parts, or one for each part")
	}
	left := n
	for _, s := range sizes {
		if s < 0 {
			array.Failf("split", "sizes", "%s has a negative one", array.ShapeString(sizes))
		}
		left -= min(s, left+1) // below 0 once they are too many
	}
	if len(sizes) == 1 {
		return t.parts("split", a, sizes[0])
	}
	if left != 0 {
		array.Failf("split", "sizes", "%s do not add up to the %d elements of axis %d", array.ShapeString(sizes), n, a)
	}
	return t.cut("split", a, sizes)
}

// Chunk cuts t along an axis into n views of equal size; the last one may be
// smaller; where the axis is too short for n, they are fewer: 5 elements in 4 are 2, 2
// and 1. It is PyTorch's chunk.
func (t *Tensor) Chunk(axis, n int) []*Tensor {
	t.c().Check("chunk")
	a := array.Axis("chunk", axis, len(t.v().Shape))
	if n < 1 {
		array.Failf("chunk", "n", "%d: want 1 or more", n)
	}
	size := t.v().Shape[a]
	if size == 0 {
		roomForViews("chunk", n)
		return t.cut("chunk", a, make([]int, n))
	}
	return t.parts("chunk", a, (size-1)/n+1)
}

// parts cuts axis a into views of a size, the last of which may be smaller.
func (t *Tensor) parts(opName string, a, size int) []*Tensor {
	n := t.v().Shape[a]
	switch {
	case n == 0:
		return t.cut(opName, a, []int{0})
	case size == 0:
		array.Failf(opName, "sizes", "are 0 for the %d elements of axis %d", n, a)
	}
	k := (n-1)/size + 1
	roomForViews(opName, k)
	sizes := make([]int, k)
	for i := range sizes {
		sizes[i] = min(size, n-i*size)
	}
	return t.cut(opName, a, sizes)
}

// cut returns the views of axis a of the given sizes, which fit.
func (t *Tensor) cut(opName string, a int, sizes []int) []*Tensor {
	roomForViews(opName, len(sizes))
	out := make([]*Tensor, len(sizes))
	at := 0
	for i, n := range sizes {
		w := op.AllOf(t.v().Shape) // the view keeps it
		w.Start[a], w.Count[a] = at, n
		out[i] = (*Tensor)(core.Window(op.Slice, w, t.c()))
		at += n
	}
	return out
}

// Unbind returns the views of t at each index of an axis, without that axis. It is
// PyTorch's unbind, and NumPy's unstack.
func (t *Tensor) Unbind(axis int) []*Tensor {
	t.c().Check("unbind")
	a := array.Axis("unbind", axis, len(t.v().Shape))
	n := t.v().Shape[a]
	roomForViews("unbind", n)
	out := make([]*Tensor, n)
	spans := make([]Span, a+1)
	for i := range a {
		spans[i] = All
	}
	for i := range out {
		spans[a] = Index(i)
		out[i] = (*Tensor)(t.c().SliceAs("unbind", partsOf(spans)))
	}
	return out
}

// roomForViews refuses more views than the Go heap has room for.
func roomForViews(opName string, n int) {
	const each = 512 // a Tensor with shape, strides and history
	if err := mem.Room(min(n, 1<<48) * each); err != nil {
		panic(&Error{Kind: OutOfMemory, Op: opName, Msg: "the views do not fit in memory", Err: err})
	}
}

// HStack joins tensors side by side: vectors (and tensors without dimensions, as
// vectors of one) along their axis, others along axis 1. The element types meet by
// promotion. It is NumPy's and PyTorch's hstack.
func HStack(ts []*Tensor) *Tensor {
	defer array.Named("hstack").End()
	core.SomeTensors("hstack", inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		in[i] = t
		if t.Rank() == 0 {
			in[i] = t.Reshape(1)
		}
	}
	return (*Tensor)(core.Joined("hstack", inner(in), min(in[0].Rank()-1, 1)))
}

// VStack joins tensors one below the other, along axis 0; vectors are rows, and tensors
// without dimensions rows of one. The element types meet by promotion. It is NumPy's
// and PyTorch's vstack.
func VStack(ts []*Tensor) *Tensor {
	defer array.Named("vstack").End()
	core.SomeTensors("vstack", inner(ts))
	in := make([]*Tensor, len(ts))
	for i, t := range ts {
		switch in[i] = t; t.Rank() {
		case 0:
			in[i] = t.Reshape(1, 1)
		case 1:
			in[i] = t.Unsqueeze(0)
		}
	}
	return (*Tensor)(core.Joined("vstack", inner(in), 0))
}
