package cpu

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/selection"
	"weft/internal/device"
	"weft/internal/op"
)

// partition writes the elements of rows: those that sorting puts before a place, in their order, the one that it puts
// there, and the others in their order.
func partition[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Ranks)
	r := rowsOf[U](&c.Args[0], a.Axis, false)
	out := codegen.Elements[U](&c.Out[0])
	return r.each(c, func(u int, w work) {
		first := r.first(u)
		if p, ok := r.row(selection.Elements, first, a.At[0], unsafe.Pointer(&out[first]), w); ok {
			out[first+a.At[0]] = r.at(first + int(p.at))
			return
		}
		p := r.pick(first, a.At[0], w)
		size := r.step * int(unsafe.Sizeof(U(0)))
		d := division{to: unsafe.Pointer(&out[first]), size: size}
		d.write = func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int) {
			from := unsafe.Add(r.src, first*int(unsafe.Sizeof(U(0)))+i*size)
			for j, k := range keys {
				_, after := bits.Sub64(limit, k, 0)
				after |= flag
				*(*U)(unsafe.Add(d.to, (lo+(hi-lo)&-int(after))*size)) = *(*U)(unsafe.Add(from, j*size))
				lo, hi = lo+1-int(after), hi+int(after)
			}
			return lo, hi
		}
		r.divide(first, a.At[0], p, d, w.keys[:])
		out[first+a.At[0]*r.step] = r.at(first + int(p.at)*r.step)
	})
}

// argPartition writes the indices of the elements that [partition] writes.
func argPartition[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Ranks)
	r := rowsOf[U](&c.Args[0], a.Axis, false)
	out := codegen.Elements[int64](&c.Out[0])
	return r.each(c, func(u int, w work) {
		first := r.first(u)
		if p, ok := r.row(selection.Places, first, a.At[0], unsafe.Pointer(&out[first]), w); ok {
			out[first+a.At[0]] = int64(p.at)
			return
		}
		p := r.pick(first, a.At[0], w)
		d := division{to: unsafe.Pointer(&out[first]), size: r.step * 8, places: true}
		d.write = func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int) {
			for j, k := range keys {
				_, after := bits.Sub64(limit, k, 0)
				after |= flag
				*(*int64)(unsafe.Add(d.to, (lo+(hi-lo)&-int(after))*d.size)) = int64(i + j)
				lo, hi = lo+1-int(after), hi+int(after)
			}
			return lo, hi
		}
		r.divide(first, a.At[0], p, d, w.keys[:])
		out[first+a.At[0]*r.step] = int64(p.at)
	})
}

// row finds the element at index kth of the sorted row by one kernel, which writes the others to dst. It returns
// false where there is no such kernel for the row.
func (r *rows[U]) row(d selection.Division, first, kth int, dst unsafe.Pointer, w work) (ranked, bool) {
	if w.room == nil {
		return ranked{}, false
	}
	key, place, ok := r.kernels.Row(d, r.address(first), r.n, kth, dst, w.room)
	return ranked{key, uint64(place)}, ok
}

// A division says where the elements of a row go, or their indices.
type division struct {
	to     unsafe.Pointer
	size   int // bytes from one to the next
	places bool
	// write stores the elements from index i on, whose keys it gets: one whose key is above limit at hi, and any if flag
	// is 1, another at lo. It returns where the next ones go.
	write func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int)
}

// divide writes the elements of the row that come before the pivot from index 0 on, and those behind it from
// index kth+1 on.
func (r *rows[U]) divide(first, kth int, pivot ranked, d division, buffer []uint64) {
	lo, hi := 0, kth+1
	through := func(i, end int, orEqual bool, limit, flag uint64) {
		if n := (end - i) / selection.Group * selection.Group; r.kernels != nil && n > 0 {
			s := selection.Side{Limit: pivot.key, OrEqual: orEqual, Places: d.places}
			behind := r.kernels.Divide(s, r.address(first+i), n, i, unsafe.Add(d.to, lo*d.size), unsafe.Add(d.to, hi*d.size))
			i, lo, hi = i+n, lo+n-behind, hi+behind
		}
		for i < end {
			keys := buffer[:min(len(buffer), end-i)]
			r.ranks(keys, first+i*r.step, 0, math.MaxUint64)
			lo, hi = d.write(i, lo, hi, keys, limit, flag)
			i += len(keys)
		}
	}
	// Elements that equal the pivot stay on their side of it.
	through(0, int(pivot.at), false, pivot.key, 0)
	flag := uint64(0)
	if pivot.key == 0 {
		flag = 1
	}
	through(int(pivot.at)+1, r.n, true, pivot.key-1, flag)
}

// pick finds the element at index kth of the sorted row. It keeps the elements between two of a sorted sample, whose
// ranks are around kth (Floyd and Rivest, "Expected time bounds for selection", CACM 18, 1975).
func (r *rows[U]) pick(first, kth int, w work) ranked {
	below, n := r.around(first, kth, w)
	return r.picked(w.a[:n], w.b[:n], kth-below, w.buffers)
}

// around stores the keys of some elements that have the one at index kth of the sorted row among them, with their
// indices, in w.a and w.b. It returns the number of keys below theirs, and their number.
func (r *rows[U]) around(first, kth int, w work) (below, n int) {
	if r.n <= r.most() {
		r.ranks(w.a, first, 0, math.MaxUint64)
		for i := range w.b {
			w.b[i] = uint64(i)
		}
		return 0, r.n
	}
	some := w.sample[:samples(r.n)]
	for i := range some {
		some[i] = r.rank(first + int(uint64(i)*uint64(r.n)/uint64(len(some)))*r.step)
	}
	_, low, high := r.bracket(some, kth, r.n, w.buffers)
	for {
		below, n := r.within(first, low, high, w)
		switch {
		case kth < below:
			low, high = 0, low-1
		case kth >= below+n:
			low, high = high+1, math.MaxUint64
		default:
			return below, n
		}
	}
}

// most is the greatest number of keys for which sorting is faster than another selection.
func (r *rows[U]) most() int {
	if r.kernels != nil {
		return selection.Most
	}
	return mergeMost
}

// kthValue writes the elements that would be at given indices if rows were sorted.
func kthValue[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Ranks)
	r := rowsOf[U](&c.Args[0], a.Axis, false)
	order := make([]int, len(a.At))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return a.At[i] - a.At[j] })
	return r.each(c, func(u int, w work) {
		first, to := r.first(u), u/r.step*len(a.At)*r.step+u%r.step
		at := make([]uint64, len(a.At))
		if len(at) <= fewPlaces && r.eachOf(first, a.At, at, w) {
			r.give(c, first, to, at)
			return
		}
		if len(at) > 1<<6 || len(at) > 1 && r.n <= mergeMost {
			placed := r.sortRow(first, w.a, w.b)
			for i, k := range a.At {
				at[i] = placed[k]
			}
		} else {
			r.several(first, a.At, order, at, w)
		}
		r.give(c, first, to, at)
	})
}

// fewPlaces is the most elements of a row that are selected each by itself.
const fewPlaces = 4

// eachOf finds the placed numbers that would be at given indices of the sorted row by [rows.row].
func (r *rows[U]) eachOf(first int, places []int, found []uint64, w work) bool {
	for i, k := range places {
		p, ok := r.row(selection.NoDivision, first, k, nil, w)
		if !ok {
			return false
		}
		found[i] = p.key&^math.MaxUint32 | p.at
	}
	return true
}

// several finds the placed numbers that would be at given indices of the sorted row. order has these ascending.
func (r *rows[U]) several(first int, places, order []int, found []uint64, w work) {
	below, n := 0, 0 // the keys in w.a
	for i, o := range order {
		k := places[o]
		if i > 0 && k == places[order[i-1]] {
			found[o] = found[order[i-1]]
			continue
		}
		if k < below || k >= below+n {
			below, n = r.around(first, k, w)
		}
		keys, at := w.a[:n], w.b[:n]
		if last := i+1 == len(order) || places[order[i+1]] >= below+n; !last && 2*n <= r.n {
			// The next ones are among the same keys: a copy is overwritten.
			copy(w.a[n:], keys)
			copy(w.b[n:], at)
			keys, at = w.a[n:2*n], w.b[n:2*n]
		}
		p := r.picked(keys, at, k-below, w.buffers)
		found[o] = p.key&^math.MaxUint32 | p.at
		if &keys[0] == &w.a[0] {
			n = 0
		}
	}
}

// within stores the keys from low to high of a row in w.a, and their indices in w.b. It returns the number of lower
// keys, and the number of keys that it stores.
func (r *rows[U]) within(first int, low, high uint64, w work) (below, n int) {
	i := 0
	if r.kernels != nil && r.n >= selection.Group {
		i = r.n / selection.Group * selection.Group
		below, n = r.kernels.Within(r.address(first), i, low, high, w.a, w.b)
	}
	for i < r.n {
		part := w.keys[:min(len(w.keys), r.n-i)]
		r.ranks(part, first+i*r.step, 0, math.MaxUint64)
		under, kept := chosen(part, w.a[n:], w.b[n:], low, high, i)
		below, n = below+under, n+kept
		i += len(part)
	}
	return below, n
}

// chosen stores the keys that are from low to high, and their places, the first being at. It returns the number
// of lower keys, and the number of keys that it stores. keys and places have room for all of them.
func chosen(from, keys, places []uint64, low, high uint64, at int) (below, n int) {
	under, width := uint64(0), high-low
	k, p := unsafe.Pointer(unsafe.SliceData(keys)), unsafe.Pointer(unsafe.SliceData(places))
	for i, key := range from {
		d, less := bits.Sub64(key, low, 0)
		_, out := bits.Sub64(width, d, 0)
		*(*uint64)(unsafe.Add(k, n*8)), *(*uint64)(unsafe.Add(p, n*8)) = key, uint64(at+i)
		under += less
		n += 1 - int(out)
	}
	return int(under), n
}

// samples is the number of keys of n that are sampled.
func samples(n int) int { return min(max(n/64, min(n/16, 64), 16), 1<<11) }

// bracket sorts a sample of n keys and returns it, and two of it that most likely have the kth between them.
func (r *rows[U]) bracket(sample []uint64, kth, n int, b *buffers) (sorted []uint64, low, high uint64) {
	if r.kernels != nil && len(sample) <= selection.Most {
		sorted = b.spare[:len(sample)]
		copy(b.few[:], sample)
		r.kernels.Order(&b.few, &b.ranks, len(sample))
		taken := uint64(0)
		for i, at := range b.ranks[:len(sample)] {
			for ; taken>>(at&63)&1 != 0; at++ { // equal ones go behind each other
			}
			taken |= 1 << (at & 63)
			sorted[at] = sample[i]
		}
	} else {
		sorted, _ = byMerging(sample, b.spare[:len(sample)])
	}
	middle := int(uint64(kth) * uint64(len(sorted)) / uint64(n))
	margin := int(1.25*math.Sqrt(float64(len(sorted)))) + 1 // 2.5 standard deviations
	if low = 0; middle >= margin {
		low = sorted[middle-margin]
	}
	if high = math.MaxUint64; middle+margin < len(sorted) {
		high = sorted[middle+margin]
	}
	return sorted, low, high
}

// picked finds the element that is at index kth when keys are sorted, equal ones in order of their places. It
// overwrites both.
func (r *rows[U]) picked(keys, places []uint64, kth int, b *buffers) ranked {
	most := r.most()
	for rounds := 0; len(keys) > most && rounds < 64; rounds++ {
		some := b.sample[:samples(len(keys))]
		for i := range some {
			some[i] = keys[uint64(i)*uint64(len(keys))/uint64(len(some))]
		}
		some, low, high := r.bracket(some, kth, len(keys), b)
		pivot := some[uint64(kth)*uint64(len(some))/uint64(len(keys))]
		under, inside := r.span(keys, low, high)
		switch {
		case kth >= under && kth < under+inside && inside <= len(keys)/2:
			kth -= under
		default:
			below, equal := r.span(keys, pivot, pivot)
			switch {
			case kth < below:
				low, high = 0, pivot-1
			case kth < below+equal:
				low, high, kth = pivot, pivot, kth-below
			default:
				low, high, kth = pivot+1, math.MaxUint64, kth-below-equal
			}
		}
		n := r.keep(keys, places, low, high)
		if keys, places = keys[:n], places[:n]; low == high {
			return ranked{keys[kth], places[kth]}
		}
	}
	if r.kernels == nil || len(keys) > most {
		return least(keys, places, kth, b)
	}
	copy(b.few[:], keys)
	r.kernels.Order(&b.few, &b.ranks, len(keys))
	ranks := b.ranks[:len(keys)]
	before := uint64(0) // the number of keys below the one that is sought
	for _, n := range ranks {
		if n <= uint64(kth) {
			before = max(before, n)
		}
	}
	equal := kth - int(before)
	for i, n := range ranks {
		if n == before {
			if equal == 0 {
				return ranked{keys[i], places[i]}
			}
			equal--
		}
	}
	panic("cpu: selection without the element")
}

// span returns the number of keys that are less than low, and from low to high.
func (r *rows[U]) span(keys []uint64, low, high uint64) (under, inside int) {
	if n := len(keys) / selection.Group * selection.Group; r.kernels != nil && n > 0 {
		under, inside = r.kernels.Count(keys[:n], low, high)
		keys = keys[n:]
	}
	var below, outside uint64
	width := high - low
	for _, k := range keys {
		d, less := bits.Sub64(k, low, 0)
		_, out := bits.Sub64(width, d, 0)
		below, outside = below+less, outside+out
	}
	return under + int(below), inside + len(keys) - int(outside)
}

// least is [picked] by a sort. It leaves keys and places.
func least(keys, places []uint64, kth int, b *buffers) ranked {
	sorted, other := b.sorted[:min(len(keys), mergeMost)], b.other[:]
	if len(keys) > mergeMost {
		sorted, other = make([]uint64, len(keys)), make([]uint64, len(keys))
	}
	copy(sorted, keys)
	sorted, _ = byMerging(sorted, other[:len(keys)])
	key := sorted[kth]
	before, _ := slices.BinarySearch(sorted, key)
	for i, equal := 0, kth-before; ; i++ {
		if keys[i] == key {
			if equal == 0 {
				return ranked{key, places[i]}
			}
			equal--
		}
	}
}

// keep moves the keys from low to high, and their places, to the front, and returns their number.
func (r *rows[U]) keep(keys, places []uint64, low, high uint64) (n int) {
	i := 0
	if r.kernels != nil && len(keys) >= selection.Group {
		i = len(keys) / selection.Group * selection.Group
		n = r.kernels.Keep(keys[:i], places, low, high)
	}
	width := high - low
	places = places[:len(keys)]
	for ; i < len(keys); i++ {
		k := keys[i]
		_, out := bits.Sub64(width, k-low, 0)
		keys[n], places[n] = k, places[i]
		n += 1 - int(out)
	}
	return n
}
