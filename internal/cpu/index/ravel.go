package index

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/par"
)

// A Ravel converts arrays of indices, one for each of several axes, to flat indices.
type Ravel struct {
	Op                       string // for errors
	Sizes, Args, Axes, Ranks []int  // of each array: as in op.Raveling
}

// Join writes the flat indices in row-major order of all the axes. The arrays of indices are
// broadcast to out's shape.
func (r *Ravel) Join(out *array.View, in []array.View) {
	dst := unsafe.Slice((*int64)(codegen.Ptr(out)), out.Size())
	if len(dst) == 0 {
		// As in NumPy, indices are checked unless they broadcast to none; single ones always.
		none := false
		for k := range in {
			none = none || r.Axes[k] >= 0 && in[k].Size() == 0
		}
		for k := range in {
			if !none || r.Ranks[k] == 0 {
				r.check(k, &in[k])
			}
		}
		return
	}
	weight := array.Size(r.Sizes)
	for k := range in {
		size := r.Sizes[k]
		if size == 0 {
			r.check(k, &in[k]) // always fails
		}
		weight /= size
		v := in[k].BroadcastTo(out.Shape)
		n, step := 1, 0 // of the last axis
		if last := len(out.Shape) - 1; last >= 0 {
			n, step = out.Shape[last], v.Strides[last]
		}
		var bad atomic.Bool
		par.Run(len(dst)/n, grain(8*n), codegen.Threads(len(dst)), func(_, begin, end int) {
			rows := offsets{shape: out.Shape[:max(len(out.Shape)-1, 0)], strides: v.Strides}
			rows.seek(begin)
			ok := true
			for at := begin * n; at < end*n; at += n {
				from := unsafe.Add(v.Ptr(), rows.next()*v.DType.Size())
				if v.DType == array.Int32 {
					ok = joinRow(dst[at:at+n], (*int32)(from), step, size, weight, k == 0) && ok
				} else {
					ok = joinRow(dst[at:at+n], (*int64)(from), step, size, weight, k == 0) && ok
				}
			}
			if !ok {
				bad.Store(true)
			}
		})
		if bad.Load() {
			r.check(k, &in[k])
		}
	}
}

// joinRow adds weight times the indices, which are step elements apart, to a row; with first it
// starts the row with them. It reports whether all are in range.
func joinRow[T int32 | int64](row []int64, from *T, step, size, weight int, first bool) bool {
	ok := true
	for i := range row {
		x := int64(*(*T)(unsafe.Add(unsafe.Pointer(from), i*step*int(unsafe.Sizeof(*from)))))
		if x < 0 {
			x += int64(size)
		}
		ok = ok && uint64(x) < uint64(size)
		if x *= int64(weight); !first {
			x += row[i]
		}
		row[i] = x
	}
	return ok
}

// check panics with an *array.Error if an index of array k is out of range.
func (r *Ravel) check(k int, v *array.View) {
	size := r.Sizes[k]
	o := offsets{shape: v.Shape, strides: v.Strides}
	for range v.Size() {
		if x := integer(v, o.next()); x < int64(-size) || x >= int64(size) {
			array.Failf(r.Op, "", "argument %d: %d at %s is out of range for axis %d of size %d", r.Args[k], x, array.ShapeString(o.last[:r.Ranks[k]]), r.Axes[k], size)
		}
	}
}

// integer reads the int32 or int64 at an offset from a view's first element.
func integer(v *array.View, at int) int64 {
	if v.DType == array.Int32 {
		return int64(*(*int32)(unsafe.Add(v.Ptr(), 4*at)))
	}
	return *(*int64)(unsafe.Add(v.Ptr(), 8*at))
}

// offsets goes through the elements of a strided window in row-major order.
type offsets struct {
	shape, strides []int
	pos, last      [array.MaxRank]int // of the next element, and of the one before it
	at             int
}

// next returns the offset of the next element from the first.
func (o *offsets) next() int {
	at := o.at
	o.last = o.pos
	for a := len(o.shape) - 1; a >= 0; a-- {
		o.pos[a]++
		o.at += o.strides[a]
		if o.pos[a] < o.shape[a] {
			break
		}
		o.at -= o.pos[a] * o.strides[a]
		o.pos[a] = 0
	}
	return at
}

// seek makes element i the next one.
func (o *offsets) seek(i int) {
	o.at = 0
	for a := len(o.shape) - 1; a >= 0; a-- {
		o.pos[a] = i % o.shape[a]
		o.at += o.pos[a] * o.strides[a]
		i /= o.shape[a]
	}
}

// Copy writes base, with the sub-arrays at a vector of indices replaced by the sub-arrays of x.
// If an index repeats, the last sub-array stays. All arrays are contiguous.
func (p *Indices) Copy(out, x, base *array.View) {
	axis := p.Axis
	size := out.Shape[axis]
	p.requireMemory(size)
	from := make([]int, size) // the position, from 1 on, of the sub-array for each index
	n := p.Of.Size()
	p.each(1, size, 1, n, func(first int, at []int) {
		for i, k := range at {
			from[k] = first + i + 1
		}
	})
	if out.Size() == 0 {
		return
	}
	outer, inner := sizes(out.Shape, axis)
	row := inner * out.DType.Size()
	src, dst, old := codegen.Ptr(x), codegen.Ptr(out), codegen.Ptr(base)
	par.Run(outer*size, grain(row), 0, func(_, begin, end int) {
		switch row {
		case 4:
			replace[uint32](dst, src, old, begin, end, from, n)
			return
		case 8:
			replace[uint64](dst, src, old, begin, end, from, n)
			return
		}
		for u := begin; u < end; {
			o, k := u/size, u%size
			if i := from[k]; i > 0 {
				copy(bytes(unsafe.Add(dst, u*row), row), bytes(unsafe.Add(src, (o*n+i-1)*row), row))
				u++
				continue
			}
			m := 1 // neighbours that stay as they are
			for u+m < end && k+m < size && from[k+m] == 0 {
				m++
			}
			copy(bytes(unsafe.Add(dst, u*row), m*row), bytes(unsafe.Add(old, u*row), m*row))
			u += m
		}
	})
}

// replace is Copy of elements begin to end-1, counted through the sub-arrays of all indices,
// which get the element before the position in from, or stay.
func replace[T any](dst, src, old unsafe.Pointer, begin, end int, from []int, n int) {
	o, k := begin/len(from), begin%len(from)
	for u := begin; u < end; {
		part := from[k:min(len(from), k+end-u)]
		for j, i := range part {
			if i > 0 {
				*ptrTo[T](dst, u+j) = *ptrTo[T](src, o*n+i-1)
			} else {
				*ptrTo[T](dst, u+j) = *ptrTo[T](old, u+j)
			}
		}
		u += len(part)
		o, k = o+1, 0
	}
}
