package weft

import (
	"iter"
	"slices"

	"weft/internal/array"
	"weft/internal/core"
)

// At returns one element of t as a Go value, with an index for each axis; negative ones count from
// the back. [Tensor.At] takes sub-arrays. It panics with *[Error] if T is not the Go type of t's
// elements ([Data] lists them), if the number of indices is not t's rank, or if an index is out of
// range.
func At[T Element](t *Tensor, index ...int) T {
	if !t.plain() || core.DtypeFor[T]() != t.v().DType {
		core.CheckElements[T]("at", t.c())
	}
	if len(index) != len(t.v().Shape) {
		array.Failf("at", "index", "has %d places for %d axes of %s: Tensor.At takes sub-arrays", len(index), len(t.v().Shape), array.TypeString(t.v().DType, t.v().Shape))
	}
	v := t.v()
	if !t.plain() {
		host := core.ToHost(t.c())
		defer core.Leave(&host)
		v = &host
	}
	offset := v.Offset
	for axis, k := range index {
		n := v.Shape[axis]
		at := k
		if at < 0 {
			at += n
		}
		if uint(at) >= uint(n) {
			array.Failf("at", "index", "%v: %d is out of range for axis %d of size %d", slices.Clone(index), k, axis, n)
		}
		offset += at * v.Strides[axis]
	}
	x := core.ElementOf[T](v, offset)
	core.KeepAlive(t.c())
	return x
}

// Rows returns an iterator over the sub-arrays of t along its first axis, with their indices: views,
// as [Tensor.At] takes them, through which gradients flow. It panics with *[Error] if t has no axes.
func (t *Tensor) Rows() iter.Seq2[int, *Tensor] {
	t.c().Check("rows")
	if len(t.v().Shape) == 0 {
		array.Failf("rows", "", "takes one axis or more, got a scalar")
	}
	return func(yield func(int, *Tensor) bool) {
		for i := range t.v().Shape[0] {
			if !yield(i, (*Tensor)(t.c().AtAs("rows", []int{i}))) {
				return
			}
		}
	}
}
