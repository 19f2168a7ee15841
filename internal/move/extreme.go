package move

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
)

// ArgExtreme writes the place of the first least or greatest element along an axis,
// or of the first NaN if there is one, for each index of the other axes in
// row-major order. The axis is not empty.
func ArgExtreme(out []int64, x *array.View, axis int, greatest bool) {
	switch x.DType {
	case array.Bool, array.Uint8:
		argExtreme[uint8, int32, int32](out, x, axis, greatest)
	case array.Int32:
		argExtreme[int32, int32, int32](out, x, axis, greatest)
	case array.Int64:
		argExtreme[int64, int64, int64](out, x, axis, greatest)
	case array.Float32:
		argExtreme[float32, float32, int32](out, x, axis, greatest)
	case array.Float64:
		argExtreme[float64, float64, int64](out, x, axis, greatest)
	}
}

// A value is what elements are compared as, a place what rows are counted in: of
// the same size, so that vectors of both have the same lanes.
type (
	element interface {
		uint8 | int32 | int64 | float32 | float64
	}
	value interface {
		int32 | int64 | float32 | float64
	}
	place interface{ int32 | int64 }
)

// beats reports whether x replaces the best of the elements before it.
func beats[V value](x, best V, greatest bool) bool {
	if greatest {
		return x > best || x != x && best == best
	}
	return x < best || x != x && best == best
}

// behind reports whether x is less than the best, or greater if the least is wanted.
func behind[V value](x, best V, greatest bool) bool {
	return greatest && x < best || !greatest && x > best
}

// Sizes of the work. A part is what of a long axis is looked at by itself.
const (
	scanColumns = 1024
	scanRows    = 8 // read side by side
	scanVectors = 2 // of columns side by side, where there are as many
	partRows    = 1 << 13
	partRow     = 1 << 16
	scanEntry   = 1 << 20 // bytes an entry, which takes some 50 us
)

// An argFinder looks for extremes: along rows if they are contiguous, else in
// columns of rows that lie side by side.
type argFinder[E element, V value, P place] struct {
	dtype    array.DType
	greatest bool
	src      unsafe.Pointer
	n, step  int   // along the axis: elements, bytes
	outer    []dim // the other axes; dst is in elements of out
	columns  int   // 0 for rows
	blocks   int   // of columns
	parts    int
	part     int       // elements of a part along the axis
	one, all *jit.Code // for one vector of columns and scanVectors of them
	out      []int64
	best     []V // by part and index of out, if there is more than one part
	at       []int64
}

func argExtreme[E element, V value, P place](out []int64, x *array.View, axis int, greatest bool) {
	if len(out) == 0 {
		return
	}
	f := &argFinder[E, V, P]{dtype: x.DType, greatest: greatest, out: out}
	size := x.DType.Size()
	f.src, f.n, f.step = x.Ptr(), x.Shape[axis], x.Strides[axis]*size
	to := 1
	dims := make([]dim, len(x.Shape))
	for i := len(x.Shape) - 1; i >= 0; i-- {
		if i != axis {
			dims[i] = dim{x.Shape[i], x.Strides[i] * size, to}
			to *= x.Shape[i]
		}
	}
	for i, d := range dims {
		if i != axis && d.n > 1 {
			f.outer = append(f.outer, d)
		}
	}
	f.outer = merge(f.outer)
	lanes := 32 / int(unsafe.Sizeof(V(0)))
	last := len(f.outer) - 1
	switch {
	case f.step == size || f.n == 1:
	case last >= 0 && f.outer[last].src == size && f.outer[last].n >= lanes:
		f.columns = f.outer[last].n
		f.outer = f.outer[:last]
	case f.n*len(out) > 1:
		// Neither: copied so that the axis is the last.
		shape := append(append(append([]int{}, x.Shape[:axis]...), x.Shape[axis+1:]...), f.n)
		w := array.View{DType: x.DType, Shape: shape, Strides: array.RowMajor(shape)}
		l, err := mem.Lend(w.Size() * size)
		if err != nil {
			panic(&array.Error{Kind: array.OutOfMemory, Op: "argmax", Err: err})
		}
		defer l.Return()
		w.Store = array.NewStorage(l.Ptr(), w.Size()*size, l)
		v := *x
		v.Shape = shape
		v.Strides = append(append(append([]int{}, x.Strides[:axis]...), x.Strides[axis+1:]...), x.Strides[axis])
		Copy(&w, &v)
		argExtreme[E, V, P](out, &w, len(shape)-1, greatest)
		return
	}
	f.run()
}

func (f *argFinder[E, V, P]) run() {
	units := 1
	for _, d := range f.outer {
		units *= d.n
	}
	f.blocks, f.part = 1, partRow
	if f.columns > 0 {
		f.blocks, f.part = (f.columns+scanColumns-1)/scanColumns, partRows
		units *= f.blocks
	}
	if native() {
		k := codeKey{routine: scanRoutine, wide: wide(), dtype: f.dtype, greatest: f.greatest, vectors: 1}
		f.one = k.code()
		k.vectors = scanVectors
		f.all = k.code()
	}
	f.parts = 1
	if units < 8 || f.columns == 0 || f.n > 1<<30 {
		f.parts = (f.n + f.part - 1) / f.part
	} else {
		f.part = f.n
	}
	if f.parts > 1 {
		f.best, f.at = make([]V, f.parts*len(f.out)), make([]int64, f.parts*len(f.out))
	}
	elements := f.n * len(f.out)
	par.RunTask(units*f.parts, max(1<<15*units*f.parts/elements, 1), threads(elements/4), f)
	for i := range f.out {
		if f.parts == 1 {
			break
		}
		best := f.best[i]
		f.out[i] = f.at[i]
		for p := 1; p < f.parts; p++ {
			if k := p*len(f.out) + i; beats(f.best[k], best, f.greatest) {
				best, f.out[i] = f.best[k], f.at[k]
			}
		}
	}
}

// Chunk looks at units begin to end: an index of the outer axes, a block of
// columns, and a part.
func (f *argFinder[E, V, P]) Chunk(_, begin, end int) {
	var best [scanColumns]V
	var at [scanColumns]P
	for u := begin; u < end; u++ {
		rest, p, b := u, 0, 0
		if f.parts > 1 {
			rest, p = rest/f.parts, rest%f.parts
		}
		if f.blocks > 1 {
			rest, b = rest/f.blocks, rest%f.blocks
		}
		from, to := p*f.part*f.step, 0
		for i := len(f.outer) - 1; i >= 0; i-- {
			d, at := f.outer[i], rest
			if i > 0 { // short rows would feel the division
				rest, at = rest/d.n, rest%d.n
			}
			from += at * d.src
			to += at * d.dst
		}
		n := min(f.part, f.n-p*f.part)
		put := func(i int, v V, at int64) {
			at += int64(p * f.part)
			if f.parts == 1 {
				f.out[i] = at
				return
			}
			f.best[p*len(f.out)+i], f.at[p*len(f.out)+i] = v, at
		}
		if f.columns == 0 {
			v, i := f.row(unsafe.Add(f.src, from), n, &best, &at)
			put(to, v, i)
			continue
		}
		c := b * scanColumns
		w := min(scanColumns, f.columns-c)
		src := unsafe.Add(f.src, from+c*int(unsafe.Sizeof(E(0))))
		f.scan(src, f.step, n, w, &best, &at)
		for i := range w {
			put(to+c+i, best[i], int64(at[i]))
		}
	}
}

// scan sets best and at to the extremes of w columns of n rows.
func (f *argFinder[E, V, P]) scan(src unsafe.Pointer, step, n, w int, best *[scanColumns]V, at *[scanColumns]P) {
	for i, x := range unsafe.Slice((*E)(src), w) {
		best[i], at[i] = V(x), 0
	}
	if n == 1 {
		return
	}
	lanes := f.lanes()
	if lanes == 0 || w < lanes {
		for r := 1; r < n; r++ {
			for i, x := range unsafe.Slice((*E)(unsafe.Add(src, r*step)), w) {
				if beats(V(x), best[i], f.greatest) {
					best[i], at[i] = V(x), P(r)
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
			call(code, unsafe.Pointer(&s))
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
	switch {
	case wide():
		return 64 / int(unsafe.Sizeof(V(0)))
	case native():
		return 32 / int(unsafe.Sizeof(V(0)))
	}
	return 0
}

// row returns the extreme of n elements side by side and its place: as that of
// columns, of which the last rows, which are no whole one, follow.
func (f *argFinder[E, V, P]) row(src unsafe.Pointer, n int, best *[scanColumns]V, at *[scanColumns]P) (V, int64) {
	x := unsafe.Slice((*E)(src), n)
	v, place := V(x[0]), 0
	done := 1
	w := f.lanes()
	if n >= 16*scanVectors*w {
		w *= scanVectors
	}
	if w > 0 && n >= 4*w {
		rows := n / w
		f.scan(src, w*int(unsafe.Sizeof(E(0))), rows, w, best, at)
		v, place = best[0], int(at[0])*w
		for i := 1; i < w; i++ {
			k := int(at[i])*w + i
			if y := best[i]; behind(y, v, f.greatest) {
				continue // the usual case, at the cost of one comparison
			} else if beats(y, v, f.greatest) || k < place && (y == v || y != y && v != v) {
				v, place = y, k
			}
		}
		done = rows * w
	}
	for i, y := range x[done:] {
		if !behind(V(y), v, f.greatest) && beats(V(y), v, f.greatest) {
			v, place = V(y), done+i
		}
	}
	return v, int64(place)
}
