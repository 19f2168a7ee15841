package cpu

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/device"
	"weft/internal/op"
)

// partition writes the elements of rows: those that sorting puts before a place, in their order, the one that it puts
// there, and the others in their order.
func partition[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Ranks)
	r := rowsOf[U](&c.Args[0], a.Axis, false)
	out := codegen.Elements[U](&c.Out[0])
	return r.each(c, func(u int, x, y []uint64) {
		first := r.first(u)
		p := r.pick(first, a.At[0], x, y)
		to := unsafe.Pointer(&out[first])
		r.divide(first, a.At[0], p, func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int) {
			size := r.step * int(unsafe.Sizeof(U(0)))
			from := unsafe.Add(r.src, first*int(unsafe.Sizeof(U(0)))+i*size)
			for j, k := range keys {
				_, after := bits.Sub64(limit, k, 0)
				after |= flag
				*(*U)(unsafe.Add(to, (lo+(hi-lo)&-int(after))*size)) = *(*U)(unsafe.Add(from, j*size))
				lo, hi = lo+1-int(after), hi+int(after)
			}
			return lo, hi
		})
		out[first+a.At[0]*r.step] = r.at(first + int(p.at)*r.step)
	})
}

// argPartition writes the indices of the elements that [partition] writes.
func argPartition[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Ranks)
	r := rowsOf[U](&c.Args[0], a.Axis, false)
	out := codegen.Elements[int64](&c.Out[0])
	return r.each(c, func(u int, x, y []uint64) {
		first := r.first(u)
		p := r.pick(first, a.At[0], x, y)
		to, size := unsafe.Pointer(&out[first]), r.step*8
		r.divide(first, a.At[0], p, func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int) {
			for j, k := range keys {
				_, after := bits.Sub64(limit, k, 0)
				after |= flag
				*(*int64)(unsafe.Add(to, (lo+(hi-lo)&-int(after))*size)) = int64(i + j)
				lo, hi = lo+1-int(after), hi+int(after)
			}
			return lo, hi
		})
		out[first+a.At[0]*r.step] = int64(p.at)
	})
}

// divide calls write for parts of the row, without the pivot, which goes to index kth. write stores the elements from
// index i on, whose keys it gets: one whose key is above limit at hi, and any if flag is 1, another at lo. It returns
// where the next ones go.
func (r *rows[U]) divide(first, kth int, pivot ranked, write func(i, lo, hi int, keys []uint64, limit, flag uint64) (int, int)) {
	var buffer [1 << 10]uint64
	lo, hi := 0, kth+1
	through := func(i, end int, limit, flag uint64) {
		for i < end {
			keys := buffer[:min(len(buffer), end-i)]
			r.ranks(keys, first+i*r.step, 0, math.MaxUint64)
			lo, hi = write(i, lo, hi, keys, limit, flag)
			i += len(keys)
		}
	}
	// Elements that equal the pivot stay on their side of it.
	through(0, int(pivot.at), pivot.key, 0)
	flag := uint64(0)
	if pivot.key == 0 {
		flag = 1
	}
	through(int(pivot.at)+1, r.n, pivot.key-1, flag)
}

// pick finds the element at index kth of the sorted row. It keeps the elements between two of a sorted sample, whose
// ranks are around kth (Floyd and Rivest, "Expected time bounds for selection", CACM 18, 1975). keys and places are scratch for a row.
func (r *rows[U]) pick(first, kth int, keys, places []uint64) ranked {
	if r.n <= mergeMost {
		r.ranks(keys, first, 0, math.MaxUint64)
		for i := range places {
			places[i] = uint64(i)
		}
		return picked(keys, places, kth)
	}
	var sample [1 << 12]uint64
	some := sample[:min(len(sample), r.n/16)]
	for i := range some {
		some[i] = r.rank(first + int(uint64(i)*uint64(r.n)/uint64(len(some)))*r.step)
	}
	low, high := bracket(some, kth, r.n)
	for {
		below, n := r.within(first, low, high, keys, places)
		switch {
		case kth < below:
			low, high = 0, low-1
		case kth >= below+n:
			low, high = high+1, math.MaxUint64
		default:
			return picked(keys[:n], places[:n], kth-below)
		}
	}
}

// within stores the keys from low to high of a row, and their indices. It returns the number of lower keys, and of these.
func (r *rows[U]) within(first int, low, high uint64, keys, places []uint64) (below, n int) {
	var buffer [1 << 10]uint64
	for i := 0; i < r.n; {
		part := buffer[:min(len(buffer), r.n-i)]
		r.ranks(part, first+i*r.step, 0, math.MaxUint64)
		under, kept := chosen(part, keys[n:], places[n:], low, high, i)
		below, n = below+under, n+kept
		i += len(part)
	}
	return below, n
}

// chosen stores the keys that are from low to high, and their places, the first being at. It returns the number
// of lower keys, and of these. keys and places have room for all of them.
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

// bracket sorts a sample of n keys and returns two of it that most likely have the kth between them.
func bracket(sample []uint64, kth, n int) (low, high uint64) {
	slices.Sort(sample)
	middle := int(uint64(kth) * uint64(len(sample)) / uint64(n))
	margin := int(1.25*math.Sqrt(float64(len(sample)))) + 1 // 2.5 standard deviations
	if low = 0; middle >= margin {
		low = sample[middle-margin]
	}
	if high = math.MaxUint64; middle+margin < len(sample) {
		high = sample[middle+margin]
	}
	return low, high
}

// picked finds the element that is at index kth when keys are sorted, equal ones in order of their places. It overwrites both.
func picked(keys, places []uint64, kth int) ranked {
	for rounds := 0; len(keys) > mergeMost && rounds < 64; rounds++ {
		var sample [1 << 8]uint64
		some := sample[:min(len(sample), len(keys)/4)]
		for i := range some {
			some[i] = keys[uint64(i)*uint64(len(keys))/uint64(len(some))]
		}
		low, high := bracket(some, kth, len(keys))
		pivot := some[uint64(kth)*uint64(len(some))/uint64(len(keys))]
		below := 0
		var under, inside, same uint64
		for _, k := range keys {
			_, less := bits.Sub64(k, low, 0)
			_, more := bits.Sub64(high, k, 0)
			under, inside = under+less, inside+1-less-more
			_, less = bits.Sub64(k, pivot, 0)
			_, more = bits.Sub64(pivot, k, 0)
			below, same = below+int(less), same+1-less-more
		}
		equal := int(same)
		switch {
		case kth >= int(under) && kth < int(under+inside) && int(inside) <= len(keys)/2:
			kth -= int(under)
		case kth < below:
			low, high = 0, pivot-1
		case kth < below+equal:
			low, high, kth = pivot, pivot, kth-below
		default:
			low, high, kth = pivot+1, math.MaxUint64, kth-below-equal
		}
		n := keep(keys, places, low, high)
		if keys, places = keys[:n], places[:n]; low == high {
			return ranked{keys[kth], places[kth]}
		}
	}
	return least(keys, places, kth)
}

// least is [picked] by a sort. It leaves keys and places.
func least(keys, places []uint64, kth int) ranked {
	var one, other [mergeMost]uint64
	sorted, b := one[:min(len(keys), mergeMost)], other[:]
	if len(keys) > mergeMost {
		sorted, b = make([]uint64, len(keys)), make([]uint64, len(keys))
	}
	copy(sorted, keys)
	sorted, _ = byMerging(sorted, b[:len(keys)])
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
func keep(keys, places []uint64, low, high uint64) (n int) {
	width := high - low
	places = places[:len(keys)]
	for i, k := range keys {
		_, out := bits.Sub64(width, k-low, 0)
		keys[n], places[n] = k, places[i]
		n += 1 - int(out)
	}
	return n
}
