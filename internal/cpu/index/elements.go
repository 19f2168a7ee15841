package index

import (
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/par"
	"weft/internal/processor"
)

// A walk goes through an array of indices along an axis. For each it computes the offset of an
// element of another array: at the index along that axis, and at the position of the index along
// the other axes.
type walk struct {
	p    *Indices
	n    int // elements of a row, along the last axis
	rows int
	size int     // of the axis
	step int     // elements from index to index
	last bool    // the axis is the last
	inc  int     // elements from column to column but for that
	to   offsets // of the rows' first elements, the axis apart
}

func (p *Indices) walk(x *array.View) *walk {
	w := &walk{p: p, n: 1, rows: 1, size: 1, step: 1}
	last := len(x.Shape) - 1
	if last < 0 { // one index, of a single element
		return w
	}
	st := append([]int(nil), x.Strides...)
	w.size, w.step = x.Shape[p.Axis], st[p.Axis]
	if p.Axis != last {
		w.inc, st[p.Axis] = st[last], 0
	}
	w.last = p.Axis == last
	w.n = p.Of.Shape[last]
	w.to = offsets{shape: p.Of.Shape[:last], strides: st[:last]}
	w.rows = array.Size(w.to.shape)
	return w
}

// batch is the number of offsets that are computed at a time: 4 KB of them fit in the L1 cache.
const batch = 512

// placeNS is about the time for an index: reading it, and moving or adding its element.
const indexNS = 2

// run calls f for runs of indices in columns c0 to c1-1 of rows begin to end-1, in row-major
// order. f gets the position of the first index, and the offsets of the elements. run reports
// whether all indices are in range, and stops at the first that is not.
func (w *walk) run(begin, end, c0, c1 int, f func(first int, at []int)) bool {
	if begin == end { // an axis may have no elements
		return true
	}
	var at [batch]int
	to := w.to
	to.seek(begin)
	whole := c1-c0 == w.n
	m := 0 // indices collected in at, which end before begin*w.n+c0
	for r := begin; r < end; r++ {
		base := to.next()
		for c := c0; c < c1; {
			k := min(batch-m, c1-c)
			if !w.read(at[m:m+k], r*w.n+c, base+c*w.inc) {
				return false
			}
			m += k
			c += k
			if m == batch || c == c1 && !whole {
				f(r*w.n+c-m, at[:m])
				m = 0
			}
		}
	}
	if m > 0 {
		f(end*w.n-m, at[:m])
	}
	return true
}

// read sets at to the offsets of the elements for neighbouring indices, the first at base.
func (w *walk) read(at []int, first, base int) bool {
	p := codegen.Ptr(w.p.Of)
	if w.p.Of.DType == array.Int32 {
		return readPlaces(at, unsafe.Slice((*int32)(p), first+len(at))[first:], base, w)
	}
	return readPlaces(at, unsafe.Slice((*int64)(p), first+len(at))[first:], base, w)
}

func readPlaces[T int32 | int64](at []int, places []T, base int, w *walk) bool {
	size, step, inc := w.size, w.step, w.inc
	at = at[:len(places)]
	bad := 0 // is negative once k is, or size-1-k
	if step == 1 && inc == 0 {
		for i, x := range places {
			k := int(x)
			k += size & (k >> 63)
			bad |= k | (size - 1 - k)
			at[i] = base + k
		}
		return bad >= 0
	}
	for i, x := range places {
		k := int(x)
		k += size & (k >> 63)
		bad |= k | (size - 1 - k)
		at[i] = base + k*step
		base += inc
	}
	return bad >= 0
}

// leastParts is the least number of whole-line parts of a row that threads share.
const leastParts = 2

// separate runs the walk on all threads so that no two threads write the same element. It
// divides rows if the axis is the last, else columns. Writes to one element are in row-major
// order.
func (w *walk) separate(f func(first int, at []int)) {
	count := w.rows * w.n
	threads := codegen.Threads(indexNS * count)
	switch {
	case w.last:
		w.checked(w.rows, grain(8*w.n), threads, func(begin, end int) bool { return w.run(begin, end, 0, w.n, f) })
	case threads == 1 || w.n < leastParts*processor.Line:
		w.checked(1, 1, 1, func(_, _ int) bool { return w.run(0, w.rows, 0, w.n, f) })
	default:
		// Whole lines of the elements that are written, so that threads do not share any.
		parts := min(par.Threads(), w.n/processor.Line)
		columns := (w.n/parts + processor.Line - 1) / processor.Line * processor.Line
		w.checked((w.n+columns-1)/columns, 1, threads, func(begin, end int) bool {
			return w.run(0, w.rows, begin*columns, min(end*columns, w.n), f)
		})
	}
}

// checked runs f over chunks. If f reports an index that is out of range, it panics with an
// *array.Error for the first such index.
func (w *walk) checked(n, grain, threads int, f func(begin, end int) bool) {
	var bad atomic.Bool
	par.Run(n, grain, threads, func(_, begin, end int) {
		if !bad.Load() && !f(begin, end) {
			bad.Store(true)
		}
	})
	if bad.Load() {
		w.p.refuse(w.size)
	}
}

// Gather writes for each index the element of x at that index along the axis, and at the
// position of the index along the other axes. x may be strided.
func (p *Indices) Gather(out, x *array.View) {
	if out.Size() == 0 {
		return
	}
	w := p.walk(x)
	if w.along(p, out, x, false) {
		return
	}
	f := mover(codegen.Ptr(out), codegen.Ptr(x), out.DType.Size(), false)
	w.checked(w.rows, grain(8*w.n), codegen.Threads(indexNS*out.Size()), func(begin, end int) bool { return w.run(begin, end, 0, w.n, f) })
}

// mover returns a function that copies elements of size bytes. It gathers elements at the
// indices at to dst, which it fills in order; if to is set it scatters instead.
func mover(dst, src unsafe.Pointer, size int, to bool) func(first int, at []int) {
	switch size {
	case 1:
		return moverOf[uint8](dst, src, to)
	case 2:
		return moverOf[uint16](dst, src, to)
	case 4:
		return moverOf[uint32](dst, src, to)
	case 8:
		return moverOf[uint64](dst, src, to)
	}
	return moverOf[[2]uint64](dst, src, to)
}

func moverOf[T any](dst, src unsafe.Pointer, to bool) func(first int, at []int) {
	if to {
		return func(first int, at []int) {
			s := unsafe.Slice(ptrTo[T](src, first), len(at))
			for i, k := range at {
				*ptrTo[T](dst, k) = s[i]
			}
		}
	}
	return func(first int, at []int) {
		d := unsafe.Slice(ptrTo[T](dst, first), len(at))
		for i, k := range at {
			d[i] = *ptrTo[T](src, k)
		}
	}
}

// ptrTo returns the address of element i.
func ptrTo[T any](p unsafe.Pointer, i int) *T {
	return (*T)(unsafe.Add(p, i*int(unsafe.Sizeof(*new(T)))))
}

// Scatter writes base, and then the elements of x in row-major order to the elements that Gather
// would read. x has the shape of the indices.
func (p *Indices) Scatter(out, x, base *array.View) {
	copyWhole(out, base)
	p.walk(out).separate(mover(codegen.Ptr(out), codegen.Ptr(x), out.DType.Size(), true))
}

// copyWhole copies a contiguous array.
func copyWhole(out, x *array.View) {
	n := out.Size() * out.DType.Size()
	dst, src := bytes(codegen.Ptr(out), n), bytes(codegen.Ptr(x), n)
	par.Run(n, codegen.ChunkBytes, 0, func(_, begin, end int) { copy(dst[begin:end], src[begin:end]) })
}

// ScatterAdd writes zeros, and adds the elements of x in row-major order to the elements that
// Gather would read. x has the shape of the indices. The epilogue t may be nil. It runs on some
// rows of the result at a time, where possible while they are in the L1 cache.
func (p *Indices) ScatterAdd(out, x *array.View, t tile.Epilogue) {
	w := p.walk(out)
	if t != nil && w.rowsWithEpilogue(p, out, x, t) {
		return
	}
	n := out.Size() * out.DType.Size()
	clear(bytes(codegen.Ptr(out), n))
	if !w.along(p, out, x, true) {
		w.separate(adder(out.DType, codegen.Ptr(out), codegen.Ptr(x)))
	}
	if columns := out.Shape[len(out.Shape)-1]; t != nil && columns > 0 {
		row := columns * out.DType.Size()
		par.Run(out.Size()/columns, max(codegen.ChunkBytes/row, 1), 0, func(_, begin, end int) { t.Run(begin, end, 0, columns) })
	}
}

// adder returns a function that adds the elements of src from first on to the elements of dst at
// offsets at.
func adder(d array.DType, dst, src unsafe.Pointer) func(first int, at []int) {
	switch d {
	case array.Float32:
		return adderOf[float32](dst, src)
	case array.Float64:
		return adderOf[float64](dst, src)
	case array.Complex64:
		return adderOf[complex64](dst, src)
	case array.Complex128:
		return adderOf[complex128](dst, src)
	case array.Bool:
		return func(first int, at []int) {
			for i, k := range at {
				*ptrTo[uint8](dst, k) |= *ptrTo[uint8](src, first+i)
			}
		}
	}
	switch d.Size() { // integers of either sign
	case 1:
		return adderOf[uint8](dst, src)
	case 2:
		return adderOf[uint16](dst, src)
	case 4:
		return adderOf[uint32](dst, src)
	}
	return adderOf[uint64](dst, src)
}

func adderOf[T uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128](dst, src unsafe.Pointer) func(first int, at []int) {
	return func(first int, at []int) {
		s := unsafe.Slice(ptrTo[T](src, first), len(at))
		for i, k := range at {
			*ptrTo[T](dst, k) += s[i]
		}
	}
}

// Extreme writes base. It replaces each element that Gather would read by the maximum, or the
// minimum, of itself and of the elements of x for it. x has the shape of the indices. With alone
// the old element does not count. A NaN stays.
func (p *Indices) Extreme(out, x, base *array.View, greatest, alone bool) error {
	best := extremers[out.DType]
	if best == nil {
		return array.Errorf(p.Op, "", "is not defined for %s", out.DType)
	}
	copyWhole(out, base)
	w := p.walk(out)
	if alone { // what is there does not count: one of the elements for it stands there first
		w.separate(mover(codegen.Ptr(out), codegen.Ptr(x), out.DType.Size(), true))
	}
	w.separate(best(codegen.Ptr(out), codegen.Ptr(x), greatest))
	return nil
}

// An extremer returns a function that keeps the maximum, or minimum, of the elements of dst at
// offsets at and of the elements of src from first on.
type extremer func(dst, src unsafe.Pointer, greatest bool) func(first int, at []int)

var extremers = map[array.DType]extremer{
	array.Bool: extremerOf[uint8], array.Uint8: extremerOf[uint8], array.Uint16: extremerOf[uint16], array.Uint32: extremerOf[uint32], array.Uint64: extremerOf[uint64],
	array.Int8: extremerOf[int8], array.Int16: extremerOf[int16], array.Int32: extremerOf[int32], array.Int64: extremerOf[int64],
	array.Float32: extremerOf[float32], array.Float64: extremerOf[float64],
}

// extremerOf compares as Go does: min and max are NaN if an argument is, and order -0
// before 0.
func extremerOf[T uint8 | uint16 | uint32 | uint64 | int8 | int16 | int32 | int64 | float32 | float64](dst, src unsafe.Pointer, greatest bool) func(first int, at []int) {
	if greatest {
		return func(first int, at []int) {
			for i, k := range at {
				d := ptrTo[T](dst, k)
				*d = max(*d, *ptrTo[T](src, first+i))
			}
		}
	}
	return func(first int, at []int) {
		for i, k := range at {
			d := ptrTo[T](dst, k)
			*d = min(*d, *ptrTo[T](src, first+i))
		}
	}
}

// Product writes base. It replaces each element that Gather would read by the product of itself and of the elements
// of x for it, in row-major order. x has the shape of the indices. With alone the old element does not count.
func (p *Indices) Product(out, x, base *array.View, alone bool) {
	copyWhole(out, base)
	w := p.walk(out)
	if alone {
		w.separate(onesAt(out.DType, codegen.Ptr(out)))
	}
	w.separate(multiplier(out.DType, codegen.Ptr(out), codegen.Ptr(x)))
}

// onesAt returns a function that writes 1 to elements of dst.
func onesAt(d array.DType, dst unsafe.Pointer) func(first int, at []int) {
	switch d {
	case array.Float32:
		return onesOf[float32](dst)
	case array.Float64:
		return onesOf[float64](dst)
	case array.Complex64:
		return onesOf[complex64](dst)
	case array.Complex128:
		return onesOf[complex128](dst)
	}
	switch d.Size() {
	case 1:
		return onesOf[uint8](dst)
	case 2:
		return onesOf[uint16](dst)
	case 4:
		return onesOf[uint32](dst)
	}
	return onesOf[uint64](dst)
}

func onesOf[T uint8 | uint16 | uint32 | uint64 | float32 | float64 | complex64 | complex128](dst unsafe.Pointer) func(first int, at []int) {
	return func(_ int, at []int) {
		for _, k := range at {
			*ptrTo[T](dst, k) = 1
		}
	}
}

// multiplier returns a function that multiplies the elements of dst at offsets at by the elements of src from first
// on.
func multiplier(d array.DType, dst, src unsafe.Pointer) func(first int, at []int) {
	switch d {
	case array.Float32:
		return multiplierOf[float32](dst, src)
	case array.Float64:
		return multiplierOf[float64](dst, src)
	case array.Complex64:
		return complexMultiplier(dst, src, func(x, y complex64) complex64 {
			return complex(float32(real(x)*real(y))-float32(imag(x)*imag(y)), float32(real(x)*imag(y))+float32(imag(x)*real(y)))
		})
	case array.Complex128:
		return complexMultiplier(dst, src, func(x, y complex128) complex128 {
			return complex(float64(real(x)*real(y))-float64(imag(x)*imag(y)), float64(real(x)*imag(y))+float64(imag(x)*real(y)))
		})
	}
	switch d.Size() { // integers of either sign, and bools, whose product is "and"
	case 1:
		return multiplierOf[uint8](dst, src)
	case 2:
		return multiplierOf[uint16](dst, src)
	case 4:
		return multiplierOf[uint32](dst, src)
	}
	return multiplierOf[uint64](dst, src)
}

func multiplierOf[T uint8 | uint16 | uint32 | uint64 | float32 | float64](dst, src unsafe.Pointer) func(first int, at []int) {
	return func(first int, at []int) {
		s := unsafe.Slice(ptrTo[T](src, first), len(at))
		for i, k := range at {
			*ptrTo[T](dst, k) *= s[i]
		}
	}
}

// complexMultiplier rounds each product of parts, so that all processors give the same bits.
func complexMultiplier[T complex64 | complex128](dst, src unsafe.Pointer, product func(x, y T) T) func(first int, at []int) {
	return func(first int, at []int) {
		s := unsafe.Slice(ptrTo[T](src, first), len(at))
		for i, k := range at {
			d := ptrTo[T](dst, k)
			*d = product(*d, s[i])
		}
	}
}
