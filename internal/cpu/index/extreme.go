package index

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
)

// Extremes computes argmin and argmax.
type Extremes struct {
	ISA      jit.ISA
	Greatest bool
	// Contiguous copies a view to memory in row-major order, and returns what frees it.
	Contiguous func(v *array.View) (w array.View, free func())
}

// Find writes the index of the first extreme along an axis of x, or of the first NaN, for each
// index of the other axes in row-major order. Requires a non-empty axis.
func (e *Extremes) Find(out []int64, x *array.View, axis int) {
	switch x.DType {
	case array.Bool, array.Uint8:
		argExtreme[uint8, int8, uint8](e, out, x, axis, func(x uint8) int8 { return int8(x ^ 1<<7) })
	case array.Int8:
		argExtreme[int8, int8, uint8](e, out, x, axis, nil)
	case array.Uint16:
		argExtreme[uint16, int16, uint16](e, out, x, axis, func(x uint16) int16 { return int16(x ^ 1<<15) })
	case array.Int16:
		argExtreme[int16, int16, uint16](e, out, x, axis, nil)
	case array.Float16, array.BFloat16:
		argExtreme[uint16, int16, uint16](e, out, x, axis, halfKey(x.DType, e.Greatest))
	case array.Uint32:
		argExtreme[uint32, int32, int32](e, out, x, axis, func(x uint32) int32 { return int32(x ^ 1<<31) })
	case array.Int32:
		argExtreme[int32, int32, int32](e, out, x, axis, nil)
	case array.Uint64:
		argExtreme[uint64, int64, int64](e, out, x, axis, func(x uint64) int64 { return int64(x ^ 1<<63) })
	case array.Int64:
		argExtreme[int64, int64, int64](e, out, x, axis, nil)
	case array.Float32:
		argExtreme[float32, float32, int32](e, out, x, axis, nil)
	case array.Float64:
		argExtreme[float64, float64, int64](e, out, x, axis, nil)
	default:
		array.Failf("argmax", "", "is not defined for %s", x.DType)
	}
}

// halfInfinity returns the bits of the infinity of float16 or bfloat16.
func halfInfinity(d array.DType) uint16 {
	if d == array.Float16 {
		return 0x7C00
	}
	return 0x7F80
}

// halfKey returns a function from the bits of halves to integers in the same order. Both zeros
// become 0. Every NaN becomes one integer, more extreme than infinities.
func halfKey(d array.DType, greatest bool) func(x uint16) int16 {
	infinity, nan := int16(halfInfinity(d)), int16(math.MinInt16)
	if greatest {
		nan = math.MaxInt16
	}
	return func(x uint16) int16 {
		size := int16(x & math.MaxInt16)
		switch {
		case size > infinity:
			return nan
		case x>>15 != 0:
			return -size
		}
		return size
	}
}

// A value is the type in which elements are compared, a place the type that counts rows. Both have
// the size of elements, so that their vectors have equal lanes.
type (
	element interface {
		uint8 | int8 | uint16 | int16 | uint32 | int32 | uint64 | int64 | float32 | float64
	}
	value interface {
		int8 | int16 | int32 | int64 | float32 | float64
	}
	place interface {
		uint8 | uint16 | int32 | int64
	}
)

// beats reports whether x replaces the best of the elements before it.
func beats[V element](x, best V, greatest bool) bool {
	if greatest {
		return x > best || x != x && best == best
	}
	return x < best || x != x && best == best
}

// behind reports whether x is less than the best, or greater if the least is wanted.
func behind[V element](x, best V, greatest bool) bool {
	return greatest && x < best || !greatest && x > best
}

// Sizes of the work. A part is what of a long axis is looked at by itself.
const (
	scanColumns  = 1024    // of a block: their best and its row stay in the L1 cache
	scanRows     = 8       // read side by side
	scanVectors  = 4       // of columns side by side, where there are as many
	partRows     = 1 << 13 // of a part of columns
	partRow      = 1 << 16 // elements of a part of a row
	enoughUnits  = 8       // from which on columns keep threads busy without parts
	mostRows     = 1 << 30 // of a part, fewer of narrow elements: see argFinder.mostRows
	manyRows     = 1 << 8  // from which on short rows are worth a copy
	scanEntry    = 1 << 20 // bytes an entry, which takes some 50 us
	chunkOfScan  = 1 << 17 // elements a chunk: threads want long pieces of memory
	scannedPerNS = 8       // elements a nanosecond, on one thread
)

// An argFinder looks for extremes: along rows if they are contiguous, else in
// columns of rows that lie side by side.
type argFinder[E element, V value, P place] struct {
	isa      jit.ISA
	dtype    array.DType
	greatest bool
	key      func(E) V // what an element is compared as; nil if that is the element
	src      unsafe.Pointer
	n, step  int           // along the axis: elements, bytes
	outer    []codegen.Dim // the other axes; dst is in elements of out
	columns  int           // 0 for rows
	blocks   int           // of columns
	parts    int
	part     int       // elements of a part along the axis
	one, all *jit.Code // for rows, or for one vector of columns and scanVectors of them
	out      []int64
	at       []int64 // places in their part, by part and index of out
	best     []V     // their elements, if there is more than one part
}

func argExtreme[E element, V value, P place](e *Extremes, out []int64, x *array.View, axis int, key func(E) V) {
	if len(out) == 0 {
		return
	}
	f := &argFinder[E, V, P]{isa: e.ISA, dtype: x.DType, greatest: e.Greatest, key: key, out: out}
	size := x.DType.Size()
	f.src, f.n, f.step = x.Ptr(), x.Shape[axis], x.Strides[axis]*size
	to := 1
	dims := make([]codegen.Dim, len(x.Shape))
	for i := len(x.Shape) - 1; i >= 0; i-- {
		if i != axis {
			dims[i] = codegen.Dim{N: x.Shape[i], Src: x.Strides[i] * size, Dst: to}
			to *= x.Shape[i]
		}
	}
	for i, d := range dims {
		if i != axis && d.N > 1 {
			f.outer = append(f.outer, d)
		}
	}
	f.outer = codegen.Merge(f.outer)
	lanes := 32 / int(unsafe.Sizeof(V(0)))
	last := len(f.outer) - 1
	switch {
	case f.step == size && f.n > 1 && f.n*size < rowVector && len(out) >= manyRows && f.isa != jit.Portable:
		// The kernel for rows takes longer ones: copied so that the axis is the first.
		v := *x
		v.Shape = append([]int{f.n}, append(append([]int{}, x.Shape[:axis]...), x.Shape[axis+1:]...)...)
		v.Strides = append([]int{x.Strides[axis]}, append(append([]int{}, x.Strides[:axis]...), x.Strides[axis+1:]...)...)
		w, free := e.Contiguous(&v)
		defer free()
		argExtreme[E, V, P](e, out, &w, 0, key)
		return
	case f.step == size || f.n == 1:
	case last >= 0 && f.outer[last].Src == size && f.outer[last].N >= lanes:
		f.columns = f.outer[last].N
		f.outer = f.outer[:last]
	case f.n*len(out) > 1:
		// Neither: copied so that the axis is the last.
		v := *x
		v.Shape = append(append(append([]int{}, x.Shape[:axis]...), x.Shape[axis+1:]...), f.n)
		v.Strides = append(append(append([]int{}, x.Strides[:axis]...), x.Strides[axis+1:]...), x.Strides[axis])
		w, free := e.Contiguous(&v)
		defer free()
		argExtreme[E, V, P](e, out, &w, len(v.Shape)-1, key)
		return
	}
	f.run()
}

func (f *argFinder[E, V, P]) run() {
	units := 1
	for _, d := range f.outer {
		units *= d.N
	}
	f.blocks, f.part = 1, partRow
	if f.columns > 0 {
		f.blocks, f.part = (f.columns+scanColumns-1)/scanColumns, partRows
		units *= f.blocks
	}
	if f.isa != jit.Portable {
		k := key{routine: rowRoutine, dtype: f.dtype, greatest: f.greatest}
		if f.columns > 0 {
			k.routine, k.wide, k.vectors = scanRoutine, f.isa == jit.AVX512, scanVectors
			f.all = codegen.Kernel(codes, k)
			k.vectors = 1
		}
		f.one = codegen.Kernel(codes, k)
	}
	f.parts, f.at = 1, f.out
	if units < enoughUnits || f.columns == 0 || f.n > f.mostRows() {
		if f.columns > 0 {
			f.part = min(f.part, f.mostRows())
		}
		f.parts = (f.n + f.part - 1) / f.part
	} else {
		f.part = f.n
	}
	if f.parts > 1 {
		f.best, f.at = make([]V, f.parts*len(f.out)), make([]int64, f.parts*len(f.out))
	}
	elements := f.n * len(f.out)
	par.RunTask(units*f.parts, max(chunkOfScan*units*f.parts/elements, 1), codegen.Threads(elements/scannedPerNS), f)
	if f.parts == 1 {
		return
	}
	for i := range f.out {
		best := i
		for k := i + len(f.out); k < len(f.at); k += len(f.out) {
			if beats(f.best[k], f.best[best], f.greatest) {
				best = k
			}
		}
		f.out[i] = int64(best/len(f.out)*f.part) + f.at[best]
	}
}

// mostRows returns the rows that a place counts.
func (f *argFinder[E, V, P]) mostRows() int {
	if size := unsafe.Sizeof(P(0)); size < 4 {
		return 1 << (8 * size)
	}
	return mostRows
}

// value returns what an element is compared as.
func (f *argFinder[E, V, P]) value(x E) V {
	if f.key != nil {
		return f.key(x)
	}
	return V(x)
}

// Chunk looks at units begin to end: an index of the outer axes, a block of
// columns, and a part.
func (f *argFinder[E, V, P]) Chunk(_, begin, end int) {
	for u := begin; u < end; {
		rest, p, b, side := u, 0, 0, 1
		if f.parts > 1 {
			rest, p = rest/f.parts, rest%f.parts
		}
		if f.blocks > 1 {
			rest, b = rest/f.blocks, rest%f.blocks
		}
		from, to := p*f.part*f.step, p*len(f.out)
		for i := len(f.outer) - 1; i >= 0; i-- {
			d, at := f.outer[i], rest
			if i > 0 { // short rows would feel the division
				rest, at = rest/d.N, rest%d.N
			}
			from += at * d.Src
			to += at * d.Dst
			if i == len(f.outer)-1 && f.parts == 1 && f.columns == 0 {
				side = min(d.N-at, end-u)
			}
		}
		n := min(f.part, f.n-p*f.part)
		if f.columns > 0 {
			c := b * scanColumns
			f.block(unsafe.Add(f.src, from+c*int(unsafe.Sizeof(E(0)))), n, min(scanColumns, f.columns-c), to+c)
		} else {
			f.rows(unsafe.Add(f.src, from), n, to, side)
		}
		u += side
	}
}

// rows looks at rows side by side in the results, from number to on.
func (f *argFinder[E, V, P]) rows(src unsafe.Pointer, n, to, count int) {
	step := 0
	if count > 1 {
		step = f.outer[len(f.outer)-1].Src
	}
	out := f.at[to : to+count]
	if bytes := n * int(unsafe.Sizeof(E(0))); f.one != nil && bytes >= rowVector {
		r := rowFrame{src: src, out: unsafe.Pointer(&out[0]), step: step, rows: count, bytes: bytes}
		jit.Call(f.one, 0, unsafe.Pointer(&r))
	} else {
		for i := range out {
			x := unsafe.Slice((*E)(unsafe.Add(src, i*step)), n)
			out[i] = 0
			if f.dtype.Half() {
				best := f.key(x[0])
				for k, y := range x {
					if y := f.key(y); beats(y, best, f.greatest) {
						best, out[i] = y, int64(k)
					}
				}
				continue
			}
			best := x[0]
			for k, y := range x {
				if !behind(y, best, f.greatest) && beats(y, best, f.greatest) { // the usual case, at the cost of one comparison
					best, out[i] = y, int64(k)
				}
			}
		}
	}
	if f.parts > 1 {
		f.best[to] = f.value(unsafe.Slice((*E)(src), n)[out[0]])
	}
}

// block looks at w columns of n rows.
func (f *argFinder[E, V, P]) block(src unsafe.Pointer, n, w, to int) {
	var best [scanColumns]V
	var at [scanColumns]P
	f.scan(src, f.step, n, w, &best, &at)
	for i, p := range at[:w] {
		f.at[to+i] = int64(p)
	}
	if f.parts > 1 {
		copy(f.best[to:], best[:w])
	}
}

// scan sets best and at to the extremes of w columns of n rows.
func (f *argFinder[E, V, P]) scan(src unsafe.Pointer, step, n, w int, best *[scanColumns]V, at *[scanColumns]P) {
	for i, x := range unsafe.Slice((*E)(src), w) {
		best[i], at[i] = f.value(x), 0
	}
	if n == 1 {
		return
	}
	lanes := f.lanes()
	if lanes == 0 || w < lanes {
		for r := 1; r < n; r++ {
			for i, x := range unsafe.Slice((*E)(unsafe.Add(src, r*step)), w) {
				if y := f.value(x); beats(y, best[i], f.greatest) {
					best[i], at[i] = y, P(r)
				}
			}
		}
		return
	}
	blocks := func(c, vectors, count int) {
		size := int(unsafe.Sizeof(E(0)))
		group, code := scanRows, f.one
		if w <= vectors*lanes {
			group = n
		}
		if vectors > 1 {
			code = f.all
		}
		most := max(scanEntry/(count*vectors*lanes*size), scanRows)
		for r := 1; r < n; r += most {
			s := scanFrame{src: unsafe.Add(src, r*step+c*size), best: unsafe.Pointer(&best[c]), at: unsafe.Pointer(&at[c]),
				step: step, rows: min(most, n-r), group: group, blocks: count, now: r}
			jit.Call(code, 0, unsafe.Pointer(&s))
		}
	}
	c := w / (scanVectors * lanes) * (scanVectors * lanes)
	if c > 0 {
		blocks(0, scanVectors, c/(scanVectors*lanes))
	}
	for ; w-c >= lanes; c += lanes {
		blocks(c, 1, 1)
	}
	if c < w {
		blocks(w-lanes, 1, 1)
	}
}

// lanes is the number of values in a vector, 0 without machine code.
func (f *argFinder[E, V, P]) lanes() int {
	if f.isa == jit.Portable {
		return 0
	}
	return 32 / int(unsafe.Sizeof(V(0)))
}
