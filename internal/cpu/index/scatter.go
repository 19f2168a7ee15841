package index

import (
	"unsafe"

	"weft/half"
	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/par"
)

// Ravel joins arrays of places, one for each of several axes.
type Ravel struct {
	Op                       string // for errors
	Sizes, Args, Axes, Ranks []int  // of each array: as in op.Raveling
}

// Join writes the places, broadcast to out's shape, as places in row-major order of all the
// axes.
func (r *Ravel) Join(out *array.View, in []array.View) {
	dst := unsafe.Slice((*int64)(gen.Ptr(out)), out.Size())
	if len(dst) == 0 {
		// As in NumPy, places are looked at unless they broadcast to none, single ones always.
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
		rows := offsets{shape: out.Shape[:max(len(out.Shape)-1, 0)], strides: v.Strides}
		ok := true
		for at := 0; at < len(dst); at += n {
			from := unsafe.Add(v.Ptr(), rows.next()*v.DType.Size())
			if v.DType == array.Int32 {
				ok = joinRow(dst[at:at+n], (*int32)(from), step, size, weight, k == 0) && ok
			} else {
				ok = joinRow(dst[at:at+n], (*int64)(from), step, size, weight, k == 0) && ok
			}
		}
		if !ok {
			r.check(k, &in[k])
		}
	}
}

// joinRow adds places, step elements apart, times a weight to a row, or starts it with them,
// and reports that all are in range.
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

// check refuses array k if one of its places is out of range.
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

// Copy writes base with the sub-arrays of x in the place of those that a vector of places
// names; of several at one place the last stays. All arrays are contiguous.
func (p *Places) Copy(out, x, base *array.View) {
	axis := p.Axis
	size := out.Shape[axis]
	idx := p.checked(size)
	if out.Size() == 0 {
		return
	}
	outer, inner := sizes(out.Shape, axis)
	row := inner * out.DType.Size()
	p.room(size)
	from := make([]int, size) // the position of what each place gets, from 1 on
	for i, k := range idx {
		from[k] = i + 1
	}
	src, dst, old := gen.Ptr(x), gen.Ptr(out), gen.Ptr(base)
	par.Run(outer*size, grain(row), 0, func(_, begin, end int) {
		for u := begin; u < end; {
			o, k := u/size, u%size
			if i := from[k]; i > 0 {
				copy(bytes(unsafe.Add(dst, u*row), row), bytes(unsafe.Add(src, (o*len(idx)+i-1)*row), row))
				u++
				continue
			}
			n := 1 // neighbours that stay as they are
			for u+n < end && k+n < size && from[k+n] == 0 {
				n++
			}
			copy(bytes(unsafe.Add(dst, u*row), n*row), bytes(unsafe.Add(old, u*row), n*row))
			u += n
		}
	})
}

// Scatter writes base with the elements of x, which has the shape of the places, written
// in row-major order where Gather would read.
func (p *Places) Scatter(out, x, base *array.View) {
	idx := p.start(out, base)
	if out.Size() == 0 {
		return
	}
	es := out.DType.Size()
	src, dst := gen.Ptr(x), gen.Ptr(out)
	elements(x.Shape, out.Shape, p.Axis, idx, func(i, at int) {
		copy(bytes(unsafe.Add(dst, at*es), es), bytes(unsafe.Add(src, i*es), es))
	})
}

// start returns the places, checked, and writes base to out.
func (p *Places) start(out, base *array.View) []int {
	idx := p.checked(out.Shape[p.Axis])
	n := out.Size() * out.DType.Size()
	copy(bytes(gen.Ptr(out), n), bytes(gen.Ptr(base), n))
	return idx
}

// Extreme writes base with the greatest, or the least, of what is at a place and of the
// elements of x, which has the shape of the places, for which Gather would read there.
// Alone means that what was there before does not count. NaN stays.
func (p *Places) Extreme(out, x, base *array.View, greatest, alone bool) error {
	f := extreme{p, out, x, base, greatest, alone}
	switch out.DType {
	case array.Bool, array.Uint8:
		scatterOrdered[uint8](f)
	case array.Int8:
		scatterOrdered[int8](f)
	case array.Int16:
		scatterOrdered[int16](f)
	case array.Int32:
		scatterOrdered[int32](f)
	case array.Int64:
		scatterOrdered[int64](f)
	case array.Uint16:
		scatterOrdered[uint16](f)
	case array.Uint32:
		scatterOrdered[uint32](f)
	case array.Uint64:
		scatterOrdered[uint64](f)
	case array.Float32:
		scatterOrdered[float32](f)
	case array.Float64:
		scatterOrdered[float64](f)
	case array.Float16:
		scatterExtreme(f, func(a, b half.Float16) half.Float16 { return half.NewFloat16(f.of(a.Float32(), b.Float32())) })
	case array.BFloat16:
		scatterExtreme(f, func(a, b half.BFloat16) half.BFloat16 { return half.NewBFloat16(f.of(a.Float32(), b.Float32())) })
	default:
		return array.Errorf(p.Op, "", "is not defined for %s", out.DType)
	}
	return nil
}

// An extreme is the arguments of [Places.Extreme].
type extreme struct {
	p               *Places
	out, x, base    *array.View
	greatest, alone bool
}

// of returns the greater or the lesser of a and b.
func (f extreme) of(a, b float32) float32 {
	if f.greatest {
		return max(a, b)
	}
	return min(a, b)
}

type ordered interface {
	uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64
}

// scatterOrdered is scatterExtreme for types that Go has an order of: min and max are NaN if
// an argument is, and order -0 before 0.
func scatterOrdered[T ordered](f extreme) {
	if f.greatest {
		scatterExtreme(f, func(a, b T) T { return max(a, b) })
	} else {
		scatterExtreme(f, func(a, b T) T { return min(a, b) })
	}
}

func scatterExtreme[T any](f extreme, better func(a, b T) T) {
	idx := f.p.start(f.out, f.base)
	n := f.out.Size()
	if n == 0 {
		return
	}
	src, dst := unsafe.Slice((*T)(gen.Ptr(f.x)), f.x.Size()), unsafe.Slice((*T)(gen.Ptr(f.out)), n)
	if f.alone { // what is there does not count: one of the elements for it stands there first
		elements(f.x.Shape, f.out.Shape, f.p.Axis, idx, func(i, at int) { dst[at] = src[i] })
	}
	elements(f.x.Shape, f.out.Shape, f.p.Axis, idx, func(i, at int) { dst[at] = better(dst[at], src[i]) })
}
