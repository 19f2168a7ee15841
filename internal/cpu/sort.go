package cpu

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/selection"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/par"
)

// sortGrain is the least number of elements of a chunk.
const sortGrain = 1 << 12

// rows describes the rows of an array that are sorted. The elements of a row are step apart.
type rows[U bitsOf] struct {
	order
	descending     bool
	outer, n, step int // blocks, elements of a row, and how far apart they are
	src            unsafe.Pointer
	kernels        *selection.Kernels // nil: none; set by each
}

func rowsOf[U bitsOf](v *array.View, axis int, descending bool) rows[U] {
	return rows[U]{order: orderOf(v.DType), descending: descending, outer: array.Size(v.Shape[:axis]), n: v.Shape[axis],
		step: array.Size(v.Shape[axis+1:]), src: codegen.Ptr(v)}
}

// count returns the number of rows.
func (r *rows[U]) count() int { return r.outer * r.step }

// first returns the index at which row u begins.
func (r *rows[U]) first(u int) int { return u/r.step*r.n*r.step + u%r.step }

func (r *rows[U]) at(i int) U { return *(*U)(r.address(i)) }

func (r *rows[U]) address(i int) unsafe.Pointer {
	return unsafe.Add(r.src, uintptr(i)*unsafe.Sizeof(U(0)))
}

// rank returns the key of element i. Keys ascend in the order of the sort.
func (r *rows[U]) rank(i int) uint64 {
	k := r.key(uint64(r.at(i)) << r.shift)
	if r.descending {
		return ^k
	}
	return k
}

// ranks stores the ranks of the elements from first on. The bits that are not in keep are
// replaced by ascending numbers, starting with number.
func (r *rows[U]) ranks(to []uint64, first, number int, keep uint64) {
	size := unsafe.Sizeof(U(0))
	p, step, shift := unsafe.Add(r.src, uintptr(first)*size), uintptr(r.step)*size, (64-8*size)&63
	flip := uint64(0)
	if r.descending {
		flip = math.MaxUint64
	}
	if !r.float {
		if r.signed {
			flip ^= signBit
		}
		for i := range to {
			to[i] = (uint64(*(*U)(unsafe.Add(p, i*int(step))))<<shift^flip)&keep | uint64(number+i)&^keep
		}
		return
	}
	inf := r.inf << 1
	for i := range to {
		u := uint64(*(*U)(unsafe.Add(p, i*int(step)))) << shift
		k := u ^ (uint64(int64(u)>>63) | signBit)
		if u<<1-1 >= inf { // zero or NaN
			k = r.key(u)
		}
		to[i] = (k^flip)&keep | uint64(number+i)&^keep
	}
}

// A placed number has the high half of an element's key, and in its low half the index of the
// element. So all numbers differ, and equal elements keep their order.
const placeBits = 32

// sortRow sorts the elements of the row from first on. It returns numbers with the elements'
// indices in the low halves. a and b are scratch as long as the row.
func (r *rows[U]) sortRow(first int, a, b []uint64) []uint64 {
	r.ranks(a, first, 0, ^uint64(math.MaxUint32))
	return r.sortPlaced(first, a, b)
}

// sortPlaced sorts the numbers a of some elements of a row; b is scratch of the same length.
func (r *rows[U]) sortPlaced(first int, a, b []uint64) []uint64 {
	a, b = radix(a, b, 64-min(8*int(unsafe.Sizeof(U(0))), 32))
	if unsafe.Sizeof(U(0)) < 8 {
		return a
	}
	// Where high halves are equal the low ones decide.
	for i := 0; i < len(a); {
		high, k := a[i]>>placeBits, i+1
		for k < len(a) && a[k]>>placeBits == high {
			k++
		}
		if k > i+1 {
			run := b[i:k]
			for j, p := range a[i:k] {
				at := p & math.MaxUint32
				run[j] = r.rank(first+int(at)*r.step)<<placeBits | at
			}
			run, _ = radix(run, a[i:k], 32)
			copy(a[i:k], run)
		}
		i = k
	}
	return a
}

// radix sorts the numbers of a by their bits from lo on; a few numbers are sorted by all bits.
// b is scratch of the same length. It returns the sorted slice, a or b, and the other one.
func radix(a, b []uint64, lo int) (sorted, other []uint64) {
	if len(a) <= mergeMost {
		return byMerging(a, b)
	}
	if lo > 32 {
		for ; lo < 64; lo += 8 {
			var ends [1 << 8]uint32
			for _, x := range a {
				ends[x>>lo&0xff]++
			}
			a, b = byDigit(a, b, lo, ends[:])
		}
		return a, b
	}
	if len(a) >= wideDigits {
		var ends [3][1 << 11]uint32
		for _, x := range a {
			ends[0][x>>32&0x7ff]++
			ends[1][x>>43&0x7ff]++
			ends[2][x>>54]++
		}
		a, b = byDigit(a, b, 32, ends[0][:])
		a, b = byDigit(a, b, 43, ends[1][:])
		return byDigit(a, b, 54, ends[2][:1<<10])
	}
	// Digits of eight bits: the L1 cache holds a line for each of the places to write to.
	var ends [4][1 << 8]uint32
	for _, x := range a {
		ends[0][x>>32&0xff]++
		ends[1][x>>40&0xff]++
		ends[2][x>>48&0xff]++
		ends[3][x>>56]++
	}
	for i := range ends {
		a, b = byDigit(a, b, 32+8*i, ends[i][:])
	}
	return a, b
}

// wideDigits is the number of elements from which three passes with wider digits are faster than
// four. Then the L2 cache holds a line for each of the places to write to.
const wideDigits = 1 << 16

// mergeMost is the most numbers for which merging beats radix sort, whose tables take as long as
// some hundred numbers.
const mergeMost = 1 << 8

// byMerging is a merge sort of a; b is scratch of the same length. It returns the sorted slice,
// a or b, and the other one. The only branch that depends on numbers is the end of a run.
func byMerging(a, b []uint64) (sorted, other []uint64) {
	i := 0
	for ; i+4 <= len(a); i += 4 {
		q := a[i : i+4 : i+4]
		w, x := min(q[0], q[1]), max(q[0], q[1])
		y, z := min(q[2], q[3]), max(q[2], q[3])
		q[0], q[3] = min(w, y), max(x, z)
		w, z = max(w, y), min(x, z)
		q[1], q[2] = min(w, z), max(w, z)
	}
	rest := a[i:]
	for k := range rest {
		for ; k > 0 && rest[k-1] > rest[k]; k-- {
			rest[k-1], rest[k] = rest[k], rest[k-1]
		}
	}
	for run := 4; run < len(a); run *= 2 {
		for i := 0; i < len(a); i += 2 * run {
			mid := min(i+run, len(a))
			merge(b[i:], a[i:mid], a[mid:min(mid+run, len(a))])
		}
		a, b = b, a
	}
	return a, b
}

// merge merges two sorted runs, from both ends at once: the two chains of dependent steps run
// interleaved. It goes on for as many numbers as neither run can end before.
func merge(to, x, y []uint64) {
	n := min(len(x), len(y))
	// i and j numbers of x and y are written at the front, p and q are left in front of the back.
	i, p, q := 0, len(x), len(y)
	if n > 0 {
		const size = unsafe.Sizeof(uint64(0))
		tp, xp, yp := unsafe.Pointer(unsafe.SliceData(to)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y))
		at := func(base unsafe.Pointer, i int) *uint64 { return (*uint64)(unsafe.Add(base, uintptr(i)*size)) }
		for k := range n {
			a, b := *at(xp, i), *at(yp, k-i)
			*at(tp, k) = min(a, b)
			_, less := bits.Sub64(b, a, 0) // 1 if b < a
			i += 1 - int(less)
			c, d := *at(xp, p-1), *at(yp, q-1)
			*at(tp, p+q-1) = max(c, d)
			_, less = bits.Sub64(d, c, 0) // 1 if d < c: of equal ones y's is the later
			p, q = p-int(less), q-1+int(less)
		}
	}
	to, x, y = to[n:p+q], x[i:p], y[n-i:q]
	i, j := 0, 0
	for i < len(x) && j < len(y) {
		p, q := x[i], y[j]
		to[i+j] = min(p, q)
		_, less := bits.Sub64(q, p, 0) // 1 if q < p
		i, j = i+1-int(less), j+int(less)
	}
	k := i + copy(to[i+j:], x[i:])
	copy(to[k+j:], y[j:])
}

// byDigit sorts a by the digit from bit lo on into b, unless all have the same. ends says
// how often each digit occurs.
func byDigit(a, b []uint64, lo int, ends []uint32) (sorted, other []uint64) {
	mask := uint64(len(ends) - 1)
	if ends[a[0]>>lo&mask] == uint32(len(a)) {
		return a, b
	}
	sum := uint32(0)
	for i, n := range ends {
		ends[i] = sum
		sum += n
	}
	to, counts := unsafe.Pointer(unsafe.SliceData(b)), unsafe.Pointer(unsafe.SliceData(ends))
	for _, x := range a {
		at := (*uint32)(unsafe.Add(counts, x>>(lo&63)&mask*4))
		*(*uint64)(unsafe.Add(to, uintptr(*at)*8)) = x
		*at++
	}
	return b, a
}

// A work is the memory in which a thread works on a row.
type work struct {
	a, b []uint64 // as long as the row
	room []uint64 // of [selection.Kernels.Row], or nil where rows are too long or there are no kernels
	*buffers
}

// buffers are memory of fixed size. They begin with any content: clearing them would take as long as a short row.
type buffers struct {
	sample, spare [1 << 11]uint64 // see bracket
	keys          [1 << 10]uint64
	sorted, other [mergeMost]uint64 // see least
	few, ranks    [selection.Most]uint64
}

// each calls f for every row on all threads.
func (r *rows[U]) each(c *device.Call, f func(u int, w work)) error {
	if uint64(r.n) > 1<<placeBits {
		return array.Errorf(op.Of(c.Node).Name, "axis", "has %d elements, more than %d", r.n, uint64(1)<<placeBits)
	}
	if r.n == 0 { // however many rows there are
		return nil
	}
	if selection.Runs(isaOf(c)) && r.step == 1 && op.Of(c.Node) != op.Sort {
		k := selection.Keys{Size: int(unsafe.Sizeof(U(0))), Float: r.float, Signed: r.signed, Descending: r.descending, Infinity: r.inf}
		r.kernels = k.Kernels()
	}
	room := 0
	if r.kernels != nil && r.n <= selection.RowMost {
		room = selection.Room(r.n)
	}
	par.Run(r.count(), max(sortGrain/r.n, 1), 0, func(_, begin, end int) {
		fixed := 16*r.n + int(unsafe.Sizeof(buffers{}))
		scratch := c.Stream.Alloc(fixed + 8*room)
		defer c.Stream.Free(scratch)
		both := unsafe.Slice((*uint64)(scratch.Host()), 2*r.n)
		w := work{a: both[:r.n:r.n], b: both[r.n:], buffers: (*buffers)(unsafe.Add(scratch.Host(), 16*r.n))}
		if room > 0 {
			w.room = unsafe.Slice((*uint64)(unsafe.Add(scratch.Host(), fixed)), room)
		}
		for u := begin; u < end; u++ {
			f(u, w)
		}
	})
	return nil
}

// sortAlong sorts the elements along an axis, and writes their indices before the sort.
func sortAlong[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Sorting)
	r := rowsOf[U](&c.Args[0], a.Axis, a.Descending)
	return r.each(c, func(u int, w work) {
		first := r.first(u)
		r.give(c, first, first, r.sortRow(first, w.a, w.b))
	})
}

// give writes the elements of the row at the placed numbers' indices, and the indices, to the
// results from index to on.
func (r *rows[U]) give(c *device.Call, first, to int, placed []uint64) {
	values, places := codegen.Elements[U](&c.Out[0]), codegen.Elements[int64](&c.Out[1])
	if unsafe.Sizeof(U(0)) <= 4 && r.n >= wideDigits {
		// Elements are computed from their keys, since loading them would be random access.
		flip := uint64(0)
		if r.descending {
			flip = math.MaxUint64
		}
		for i, p := range placed {
			at := int(p & math.MaxUint32)
			u, known := r.element(p ^ flip)
			if !known {
				u = uint64(r.at(first+at*r.step)) << r.shift
			}
			values[to+i*r.step], places[to+i*r.step] = U(u>>r.shift), int64(at)
		}
		return
	}
	for i, p := range placed {
		at := int(p & math.MaxUint32)
		values[to+i*r.step], places[to+i*r.step] = r.at(first+at*r.step), int64(at)
	}
}

// topK writes the first k elements in sorted order. It sorts these alone, unless rows are short.
func topK[U bitsOf](c *device.Call) error {
	a := c.Node.Attrs.(op.Selection)
	r := rowsOf[U](&c.Args[0], a.Axis, !a.Smallest)
	return r.each(c, func(u int, w work) {
		first, to := r.first(u), u/r.step*a.Count*r.step+u%r.step
		switch {
		case a.Count == 0:
		case r.n < 1<<8 || a.Count > r.n/2:
			r.give(c, first, to, r.sortRow(first, w.a, w.b)[:a.Count])
		case a.Count > r.n/16:
			last := r.pick(first, a.Count-1, w)
			_, n := r.within(first, 0, last.key, w)
			for i, at := range w.b[:n] {
				w.a[i] = w.a[i]&^math.MaxUint32 | at
			}
			r.give(c, first, to, r.sortPlaced(first, w.a[:n], w.b[:n])[:a.Count])
		default:
			r.give(c, first, to, r.leading(first, a.Count, w.a[:0], w.b))
		}
	})
}

// A ranked is the key and the index of an element.
type ranked struct{ key, at uint64 }

func (p ranked) compare(q ranked) int {
	if p.key != q.key {
		return cmp.Compare(p.key, q.key)
	}
	return cmp.Compare(p.at, q.at)
}

// leading appends the indices of the first k elements of a row in order. It uses scratch for
// ranks. It keeps up to 2k candidates; when it has 2k, it drops all but the best k.
func (r *rows[U]) leading(first, k int, places, scratch []uint64) []uint64 {
	best := make([]ranked, 0, 2*k)
	limit, full := uint64(math.MaxUint64), false // what comes later must be less
	var last U                                   // the element of that rank
	take := func(key, at uint64) {
		if best = append(best, ranked{key, at}); len(best) < 2*k {
			return
		}
		split(best, k)
		best, full, limit = best[:k], true, 0
		for _, p := range best {
			if p.key >= limit {
				limit, last = p.key, r.at(first+int(p.at)*r.step)
			}
		}
	}
	for begin := 0; begin < r.n; {
		if full && r.float && unsafe.Sizeof(last) >= 4 {
			// Compare numbers as they are first; compare a candidate by its rank.
			if begin = r.before(last, first, begin); begin < r.n {
				if key := r.rank(first + begin*r.step); key < limit {
					take(key, uint64(begin))
				}
				begin++
			}
			continue
		}
		scratch = scratch[:min(len(scratch), 1<<10, r.n-begin)]
		r.ranks(scratch, first+begin*r.step, 0, math.MaxUint64)
		for i, key := range scratch {
			if key < limit || !full {
				take(key, uint64(begin+i))
			}
		}
		begin += len(scratch)
	}
	slices.SortFunc(best, ranked.compare)
	for _, p := range best[:k] {
		places = append(places, p.at)
	}
	return places
}

// before returns the index of the first element of a row, from index from on, that is ordered
// before a limit or is NaN. It returns the row's length if there is none.
func (r *rows[U]) before(limit U, first, from int) int {
	bytes := r.step * int(unsafe.Sizeof(limit))
	p := unsafe.Add(r.src, first*int(unsafe.Sizeof(limit)))
	if unsafe.Sizeof(limit) == 4 {
		return notBehind(math.Float32frombits(uint32(limit)), p, bytes, from, r.n, r.descending)
	}
	return notBehind(math.Float64frombits(uint64(limit)), p, bytes, from, r.n, r.descending)
}

func notBehind[F float32 | float64](limit F, p unsafe.Pointer, step, i, n int, descending bool) int {
	at := func(i int) F { return *(*F)(unsafe.Add(p, i*step)) }
	if descending {
		for ; i+4 <= n && at(i) <= limit && at(i+1) <= limit && at(i+2) <= limit && at(i+3) <= limit; i += 4 {
		}
		for ; i < n && at(i) <= limit; i++ {
		}
		return i
	}
	for ; i+4 <= n && at(i) >= limit && at(i+1) >= limit && at(i+2) >= limit && at(i+3) >= limit; i += 4 {
	}
	for ; i < n && at(i) >= limit; i++ {
	}
	return i
}

// split moves the k least elements to the front, by Hoare's selection (quickselect) with the
// median of three as pivot. It sorts if the selection takes too long.
func split(p []ranked, k int) {
	for rounds := 0; len(p) > 1; rounds++ {
		if rounds > 40 {
			slices.SortFunc(p, ranked.compare)
			return
		}
		a, b, c := p[0], p[len(p)/2], p[len(p)-1]
		if a.compare(b) > 0 {
			a, b = b, a
		}
		if b.compare(c) > 0 {
			b = c
		}
		if a.compare(b) > 0 {
			b = a
		}
		i, j := 0, len(p)-1
		for i <= j {
			for p[i].compare(b) < 0 {
				i++
			}
			for p[j].compare(b) > 0 {
				j--
			}
			if i <= j {
				p[i], p[j] = p[j], p[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			p = p[:j+1]
		case k >= i:
			p, k = p[i:], k-i
		default:
			return
		}
	}
}

// searchSorted writes the indices at which elements would be inserted into sorted rows.
func searchSorted[U bitsOf](c *device.Call) error {
	sorted, x := &c.Args[0], &c.Args[1]
	o := orderOf(sorted.DType)
	n := sorted.Shape[len(sorted.Shape)-1]
	queries := codegen.Elements[U](x)
	if len(queries) == 0 {
		return nil
	}
	if n == 0 {
		clear(codegen.Elements[int64](&c.Out[0]))
		return nil
	}
	each := len(queries) // that go into the same row
	if count := sorted.Size() / n; len(sorted.Shape) > 1 {
		each = len(queries) / count
	}
	scratch := c.Stream.Alloc(8 * sorted.Size())
	defer c.Stream.Free(scratch)
	keys := unsafe.Slice((*uint64)(scratch.Host()), sorted.Size())
	for i, e := range codegen.Elements[U](sorted) {
		keys[i] = o.key(uint64(e) << o.shift)
	}
	guesses := make([]guess[U], sorted.Size()/n)
	if o.float && unsafe.Sizeof(U(0)) >= 4 && n >= 8 && each >= 4*n {
		for i := range guesses {
			guesses[i] = guessOf(codegen.Elements[U](sorted)[i*n:][:n])
		}
	}
	right := c.Node.Attrs.(op.Search).Right
	places := codegen.Elements[int64](&c.Out[0])
	par.Run(len(queries), 1<<12, 0, func(_, begin, end int) {
		for i := begin; i < end; {
			if g := guesses[i/each]; g.even {
				to := min(end, (i/each+1)*each)
				found := places[i:to]
				g.search(found, queries[i:to], codegen.Elements[U](sorted)[i/each*n:][:n], right)
				for j, at := range found {
					if at >= 0 {
						continue
					}
					k := o.key(uint64(queries[i+j]) << o.shift)
					if found[j] = int64(n); right {
						if k++; k == 0 {
							continue
						}
					}
					found[j] = int64(below(keys[i/each*n:][:n], [atOnce]uint64{k, k, k, k})[0])
				}
				i = to
				continue
			}
			m := min(atOnce, end-i)
			if i/each != (i+m-1)/each {
				m = 1
			}
			var k [atOnce]uint64
			var last [atOnce]bool // nothing is above it
			for j := range m {
				k[j] = o.key(uint64(queries[i+j]) << o.shift)
				if right {
					k[j]++ // the first that is not less is the first above it
					last[j] = k[j] == 0
				}
			}
			at := below(keys[i/each*n:][:n], k)
			for j := range m {
				places[i+j] = int64(at[j])
				if last[j] {
					places[i+j] = int64(n)
				}
			}
			i += m
		}
	})
	return nil
}

// value returns the float with the bits u, of four or eight bytes.
func value[U bitsOf](u U) float64 {
	if unsafe.Sizeof(u) == 4 {
		return float64(math.Float32frombits(uint32(u)))
	}
	return math.Float64frombits(uint64(u))
}

// A guess estimates how many elements of a sorted row are not above a value, by linear
// interpolation. It is good for evenly spaced elements, such as the edges of a histogram.
type guess[U bitsOf] struct {
	even         bool
	first, scale float64 // elements for each 1
}

func guessOf[U bitsOf](row []U) guess[U] {
	first := value(row[0])
	scale := float64(len(row)-1) / (value(row[len(row)-1]) - first)
	return guess[U]{scale > 0 && !math.IsInf(scale, 0), first, scale} // false for a NaN
}

// search writes how many elements of the row are below each value, or not above it with orEqual.
// It writes -1 where the guess is wrong by more than one.
func (g guess[U]) search(places []int64, values, row []U, orEqual bool) {
	n := len(row)
	for i, u := range values {
		v := value(u)
		at := int(float64((v-g.first)*g.scale)) + 1
		switch {
		case uint(at-1) < uint(n-1) && between(value(row[at-1]), v, value(row[at]), orEqual):
		case uint(at) < uint(n-1) && between(value(row[at]), v, value(row[at+1]), orEqual): // by rounding
			at++
		case uint(at-2) < uint(n-1) && between(value(row[at-2]), v, value(row[at-1]), orEqual):
			at--
		case v < g.first:
			at = 0
		case v > value(row[n-1]):
			at = n
		default:
			at = -1
		}
		places[i] = int64(at)
	}
}

// between reports that a value lies from lo, or from above it, to hi, or to below it.
func between(lo, v, hi float64, orEqual bool) bool {
	if orEqual {
		return lo <= v && v < hi
	}
	return lo < v && v <= hi
}

// atOnce is the number of keys that are searched for at once.
const atOnce = 4

// below returns for each of k the number of keys in a sorted row that are below it. It requires
// that row is not empty. Four searches run interleaved, since one alone would wait for its
// loads.
func below(row []uint64, k [atOnce]uint64) [atOnce]int {
	p := unsafe.Pointer(unsafe.SliceData(row))
	at := func(i int) uint64 { return *(*uint64)(unsafe.Add(p, i*8)) }
	var a, b, c, d int
	for left := len(row); left > 0; {
		// A borrow, not a branch, which would be taken half of the time.
		half := (left + 1) / 2
		_, i := bits.Sub64(at(a+half-1), k[0], 0)
		_, j := bits.Sub64(at(b+half-1), k[1], 0)
		_, l := bits.Sub64(at(c+half-1), k[2], 0)
		_, m := bits.Sub64(at(d+half-1), k[3], 0)
		a, b, c, d = a+half&-int(i), b+half&-int(j), c+half&-int(l), d+half&-int(m)
		left -= half
	}
	return [atOnce]int{a, b, c, d}
}

func searchSortedIn(c *device.Call) error {
	switch c.Args[0].DType.Size() {
	case 1:
		return searchSorted[uint8](c)
	case 2:
		return searchSorted[uint16](c)
	case 4:
		return searchSorted[uint32](c)
	}
	return searchSorted[uint64](c)
}

// runs marks the first element of each run of equal elements in a sorted row; NaN equals NaN. It
// also writes the number of its run for each element, at the element's index before the sort.
func runs[U bitsOf](c *device.Call) error {
	sorted, places := codegen.Elements[U](&c.Args[0]), codegen.Elements[int64](&c.Args[1])
	first, number := codegen.Elements[bool](&c.Out[0]), codegen.Elements[int64](&c.Out[1])
	o := orderOf(c.Args[0].DType)
	clear(number)
	run, before := int64(-1), uint64(0)
	for i, e := range sorted {
		k := o.key(uint64(e) << o.shift)
		first[i] = i == 0 || k != before
		if first[i] {
			run++
		}
		at := places[i]
		if uint64(at) >= uint64(len(number)) {
			return array.Errorf("runs", "places", "%d at position %d is out of range for size %d", at, i, len(number))
		}
		number[at], before = run, k
	}
	return nil
}

func runsIn(c *device.Call) error {
	switch c.Args[0].DType.Size() {
	case 1:
		return runs[uint8](c)
	case 2:
		return runs[uint16](c)
	case 4:
		return runs[uint32](c)
	}
	return runs[uint64](c)
}

// binCount counts how often each number occurs.
func binCount(c *device.Call) error {
	counts, x := codegen.Elements[int64](&c.Out[0]), codegen.Elements[int64](&c.Args[0])
	refuse := func(k int64, i int) error {
		if k < 0 {
			return array.Errorf("bincount", "", "takes integers that are not negative, got %d", k)
		}
		return array.Errorf("bincount", "", "%d at position %d is not from 0 to %d", k, i, len(counts)-1)
	}
	clear(counts)
	if len(counts) > 1<<12 {
		for i, k := range x {
			if uint64(k) >= uint64(len(counts)) {
				return refuse(k, i)
			}
			counts[k]++
		}
		return nil
	}
	// Equal numbers in a row would wait for each other on processors before Zen 5: they are
	// counted in four tables by turns.
	scratch := c.Stream.Alloc(4 * 8 * len(counts))
	defer c.Stream.Free(scratch)
	tables := unsafe.Slice((*int64)(scratch.Host()), 4*len(counts))
	clear(tables)
	part := func(t int) []int64 { return tables[t*len(counts):][:len(counts)] }
	a, b, d, e := part(0), part(1), part(2), part(3)
	i := 0
	for ; i+4 <= len(x); i += 4 {
		q := x[i:][:4:4]
		if uint64(q[0]) >= uint64(len(a)) || uint64(q[1]) >= uint64(len(b)) || uint64(q[2]) >= uint64(len(d)) || uint64(q[3]) >= uint64(len(e)) {
			break // the loop below finds it
		}
		a[q[0]]++
		b[q[1]]++
		d[q[2]]++
		e[q[3]]++
	}
	for ; i < len(x); i++ {
		if uint64(x[i]) >= uint64(len(a)) {
			return refuse(x[i], i)
		}
		a[x[i]]++
	}
	for i := range counts {
		counts[i] = a[i] + b[i] + d[i] + e[i]
	}
	return nil
}
