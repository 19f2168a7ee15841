package core

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"weft/internal/array"
	"weft/internal/lock"
)

// The properties of its arguments that a compiled program depends on.

// An argument holds the properties of a tensor that a program depends on.
type argument struct {
	dtype          array.DType
	device         uint8
	leaf           bool
	shape, strides []int
	same           int // the index of an earlier argument in the same memory, or -1
	offset         int // the bytes from the start of that argument to the start of this one
	twin           int // the index of an earlier argument that is the same leaf, or -1
}

// A signature holds the properties of all arguments that a program depends on.
type signature struct {
	mode    mode
	tensors []argument
	statics []any
}

// Supplied holds the arguments of a call and its working memory.
type Supplied struct {
	Tensors []*Tensor
	Statics []any
	Ctx     context.Context // of the call, nil if it has none

	held  lock.Held
	wants []lock.Want
	ins   []*array.View // by source of the entry
	views []array.View  // the views that ins points to, of sources that are not captured
	outs  []array.View
}

var suppliedPool = sync.Pool{New: func() any { return new(Supplied) }}

// Free gives the memory of a call back for other calls.
func (g *Supplied) Free() {
	clear(g.Tensors)
	clear(g.Statics)
	g.Tensors, g.Statics, g.Ctx = g.Tensors[:0], g.Statics[:0], nil
	suppliedPool.Put(g)
}

// end releases the locks of a call and drops its references to memory. It keeps shapes, which are
// small.
func (g *Supplied) end() {
	g.held.Release()
	clear(g.wants)
	for i := range g.ins {
		g.ins[i], g.views[i].Store = nil, nil
	}
	for i := range g.outs {
		g.outs[i].Store = nil
	}
}

// ended returns the error of a call whose context has ended, else nil.
func (g *Supplied) ended(name string) *array.Error {
	if g.Ctx == nil || g.Ctx.Err() == nil {
		return nil
	}
	return &array.Error{Kind: array.Misuse, Op: name, Msg: "the call was ended", Err: context.Cause(g.Ctx)}
}

// Add adds a tensor.
func (g *Supplied) Add(t *Tensor) {
	t.Check("compile")
	if t.hist != nil {
		if n := t.Node(); n != nil && n.Leaf == nil && GradOn() {
			array.Failf("compile", "", "tensor %d of the arguments was computed by %s and needs a gradient, which does not pass through a compiled function: compile that too, or give it as Detach()", len(g.Tensors), n.opName())
		}
	}
	g.Tensors = append(g.Tensors, t)
}

// sameMemory returns the number of the first of ts in the memory of number i, -1 if that is i.
func sameMemory(ts []*Tensor, i int) int {
	st := ts[i].v.Store
	for k, t := range ts[:i] {
		if t.v.Store == st {
			return k
		}
	}
	return -1
}

// offsetBetween returns the number of bytes from the start of t to the start of u, in the same memory.
func offsetBetween(t, u *Tensor) int {
	return u.v.Offset*u.v.DType.Size() - t.v.Offset*t.v.DType.Size()
}

// leaf reports whether t is a leaf that requires a gradient.
func (t *Tensor) leaf() bool {
	if t.hist == nil {
		return false
	}
	n := t.Node()
	return n != nil && n.Leaf != nil
}

// sameLeaf returns the number of the first of ts that is the same leaf as number i, -1 if that is i,
// or if it is none.
func sameLeaf(ts []*Tensor, i, same int) int {
	if h := ts[i].hist; same >= 0 && h != nil && ts[i].Node() != nil {
		for k, t := range ts[:i] {
			if t.hist == h {
				return k
			}
		}
	}
	return -1
}

func (g *Supplied) signature(m mode) signature {
	s := signature{mode: m, statics: slices.Clone(g.Statics)}
	for i, t := range g.Tensors {
		a := argument{dtype: t.v.DType, device: t.v.Store.Device, leaf: t.leaf(), shape: t.v.Shape, strides: t.v.Strides, same: sameMemory(g.Tensors, i)}
		if a.same >= 0 {
			a.offset = offsetBetween(g.Tensors[a.same], t)
		}
		a.twin = sameLeaf(g.Tensors, i, a.same)
		s.tensors = append(s.tensors, a)
	}
	return s
}

// fits reports whether a program for s serves a call.
func (s *signature) fits(g *Supplied) bool {
	if len(s.tensors) != len(g.Tensors) || len(s.statics) != len(g.Statics) {
		return false
	}
	for i, t := range g.Tensors {
		a := &s.tensors[i]
		if a.dtype != t.v.DType || !array.Equal(a.shape, t.v.Shape) || !array.Equal(a.strides, t.v.Strides) || a.device != t.v.Store.Device ||
			a.leaf != t.leaf() {
			return false
		}
		same := sameMemory(g.Tensors, i)
		if a.same != same || same >= 0 && a.offset != offsetBetween(g.Tensors[same], t) || a.twin != sameLeaf(g.Tensors, i, same) {
			return false
		}
	}
	for i, x := range g.Statics {
		if s.statics[i] != x {
			return false
		}
	}
	return true
}

// A Differing value among those that programs depend on says how it differs from that before.
type Differing interface{ Differs(before any) string }

// differs says how a call differs from s.
func (s *signature) differs(o *signature) string {
	switch {
	case s.mode.noGrad != o.mode.noGrad:
		return "WithoutGrad is or is not around the call"
	case s.mode != o.mode:
		return "Autocast is or is not around the call, or of another type"
	}
	if len(s.tensors) != len(o.tensors) {
		return fmt.Sprintf("%d tensors, before %d", len(o.tensors), len(s.tensors))
	}
	for i := range o.tensors {
		a, b := &s.tensors[i], &o.tensors[i]
		switch {
		case a.dtype != b.dtype || !array.Equal(a.shape, b.shape):
			return fmt.Sprintf("tensor %d is %s, before %s", i, array.TypeString(b.dtype, b.shape), array.TypeString(a.dtype, a.shape))
		case !array.Equal(a.strides, b.strides):
			return fmt.Sprintf("tensor %d has strides %v, before %v", i, b.strides, a.strides)
		case a.device != b.device:
			return fmt.Sprintf("tensor %d is on device %d, before %d", i, b.device, a.device)
		case a.leaf != b.leaf:
			return fmt.Sprintf("whether tensor %d records gradients changed", i)
		case a.same != b.same || a.offset != b.offset || a.twin != b.twin:
			return fmt.Sprintf("tensor %d shares its memory otherwise with the others", i)
		}
	}
	for i := range o.statics {
		if i >= len(s.statics) {
			return fmt.Sprintf("%d values, before %d", len(o.statics), len(s.statics))
		}
		if s.statics[i] != o.statics[i] {
			if d, ok := o.statics[i].(Differing); ok {
				return d.Differs(s.statics[i])
			}
			return fmt.Sprintf("a value is %v, before %v", o.statics[i], s.statics[i])
		}
	}
	return "gradients were there or not"
}
