// Package pooling computes max and average pooling, and their gradients.
package pooling

import (
	"math"
	"slices"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
	"weft/internal/processor"
)

// A Pool describes pooling over planes of H x W elements with OH x OW windows each.
type Pool struct {
	ISA                              jit.ISA
	Planes, H, W, OH, OW             int
	KH, KW, StepH, StepW, PadH, PadW int
	Sum                              bool // of Mean and Spread: sums instead of means
}

// scale returns the factor for the sums of windows.
func (p *Pool) scale() float64 {
	if p.Sum {
		return 1
	}
	return 1 / float64(p.KH*p.KW)
}

// visits returns the total number of elements in all windows.
func (p *Pool) visits() int { return p.Planes * p.OH * p.OW * min(p.KH, p.H) * min(p.KW, p.W) }

type float interface{ float32 | float64 }

func floatType[T float]() array.DType {
	if unsafe.Sizeof(T(0)) == 8 {
		return array.Float64
	}
	return array.Float32
}

// Sizes of the work of Max.
const (
	poolColumns = 512     // of windows, whose columns are in the L1 cache
	poolBytes   = 1 << 17 // of lines an entry, which takes some 10 us
	prefetchMin = 2 << 20 // bytes of all lines, from which they are not in the L2 cache
	leastChunks = 8       // that threads should find, so that one which starts late leaves some to others
	maximaPerNS = 24      // bytes of lines a nanosecond, on one thread
	widePool    = 1 << 10 // from which windows wider than the planes are not laid out with their padding
	behind      = 32      // maxima that the last vectors write behind those that count, for each step
)

// Max writes to y the maxima of the windows of x. Among equal elements it takes the one in the
// last column, and there in the last row. It is NaN if any element is NaN. Both arrays are
// contiguous.
func Max[T float](p Pool, y, x unsafe.Pointer) {
	if p.Planes*p.OH*p.OW == 0 {
		return
	}
	if p.KW > max(p.W, widePool) {
		maxWide[T](&p, y, x)
		return
	}
	if err := mem.CheckHeap(p.maxima() * int(unsafe.Sizeof(T(0))) * par.Threads()); err != nil {
		panic(&array.Error{Kind: array.OutOfMemory, Op: "max_pool2d", Msg: "no memory for the columns of a window", Err: err})
	}
	if p.PadH == 0 && p.KH <= p.StepH && p.H == p.OH*p.StepH { // rows of windows go on in the next plane
		p.H, p.OH, p.Planes = p.H*p.Planes, p.OH*p.Planes, 1
	}
	bands := (p.StepH*p.W*p.OH*int(unsafe.Sizeof(T(0))) + poolBytes - 1) / poolBytes
	pooling := &pooling[T]{Pool: p, x: x, y: y, rows: (p.OH + bands - 1) / bands}
	pooling.bands = (p.OH + pooling.rows - 1) / pooling.rows
	pooling.whole = poolCode[T](&p, p.KH)
	pooling.prefetch = p.Planes*p.H*p.W*int(unsafe.Sizeof(T(0))) >= prefetchMin
	units := p.Planes * pooling.bands
	bytes := p.StepH * p.W * pooling.rows * int(unsafe.Sizeof(T(0)))
	par.RunTask(units, max(1, min(poolBytes/max(bytes, 1), units/leastChunks)), codegen.Threads(units*bytes/maximaPerNS), pooling)
}

// maxWide is Max for windows that are wider than the planes: only what lies inside is visited.
func maxWide[T float](p *Pool, y, x unsafe.Pointer) {
	n, m := p.H*p.W, p.OH*p.OW
	p.portable(func(i int) {
		x, y := of[T](x, i, n), of[T](y, i, m)
		for o := range y {
			top, left := o/p.OW*p.StepH-p.PadH, o%p.OW*p.StepW-p.PadW
			from, to := max(left, 0), min(left+p.KW, p.W)
			best := T(math.Inf(-1))
			for col := from; col < to; col++ {
				of := T(math.Inf(-1)) // the column
				for line := max(top, 0); line < min(top+p.KH, p.H); line++ {
					of = greatest(of, x[line*p.W+col])
				}
				best = greatest(best, of)
			}
			y[o] = best
		}
	})
}

// maxima returns the number of column maxima that are kept at a time, with what the last vectors
// write behind them.
func (p *Pool) maxima() int { return min(p.OW, poolColumns)*p.StepW + p.KW + behind*(p.StepW+1) }

// A pooling is the work of Max: bands of rows of windows.
type pooling[T float] struct {
	Pool
	x, y        unsafe.Pointer
	bands, rows int       // bands of a plane, rows of a band
	whole       *jit.Code // for windows without padding above and below, nil if there is none
	prefetch    bool      // prefetch the next lines
}

func (p *pooling[T]) Chunk(_, begin, end int) {
	maxima := make([]T, p.maxima())
	for u := begin; u < end; u++ {
		plane, first := u/p.bands, u%p.bands*p.rows
		last := min(first+p.rows, p.OH)
		for col := 0; col < p.OW; col += poolColumns {
			for row := first; row < last; {
				row += p.windows(maxima, plane, row, last, col)
			}
		}
	}
}

// windows computes the maxima of windows from column col on, for at least one row of windows
// before last. It returns the number of rows.
func (p *pooling[T]) windows(maxima []T, plane, row, last, col int) (rows int) {
	size := int(unsafe.Sizeof(T(0)))
	top, left := row*p.StepH-p.PadH, col*p.StepW-p.PadW
	line, lines := max(top, 0), min(top+p.KH, p.H)-max(top, 0)
	rows = 1
	if lines == p.KH {
		rows = min(last, (p.H+p.PadH-p.KH)/p.StepH+1) - row
	}
	wins := min(p.OW-col, poolColumns)
	all := (wins-1)*p.StepW + p.KW // columns of these windows
	from := max(left, 0)
	columns := min(left+all, p.W) - from
	pad := from - left
	for i := range pad {
		maxima[i] = T(math.Inf(-1))
	}
	for i := pad + columns; i < all; i++ {
		maxima[i] = T(math.Inf(-1))
	}
	x := unsafe.Add(p.x, ((plane*p.H+line)*p.W+from)*size)
	y := unsafe.Add(p.y, ((plane*p.OH+row)*p.OW+col)*size)
	if p.whole == nil {
		for i := range rows {
			p.portable(unsafe.Slice((*T)(unsafe.Add(y, i*p.OW*size)), wins), unsafe.Add(x, i*p.StepH*p.W*size), lines, maxima, pad, columns)
		}
		return rows
	}
	c := p.whole
	if lines != p.KH {
		c = poolCode[T](&p.Pool, lines)
	}
	lanes := p.ISA.VectorBytes() / size
	f := poolFrame{x: x, y: y, maxima: unsafe.Pointer(&maxima[pad]), first: unsafe.Pointer(&maxima[0]),
		step: p.W * size, nextX: p.StepH * p.W * size, nextY: p.OW * size,
		rows:    rows,
		vectors: columns / lanes, rest: columns % lanes, outVectors: wins / lanes, outRest: wins % lanes}
	if p.prefetch {
		f.sizeX, f.sizeY = p.StepH*columns*size, wins*size
	}
	jit.Call(c, 0, unsafe.Pointer(&f))
	return rows
}

// portable does the kernel's work for one row of windows in Go.
func (p *pooling[T]) portable(y []T, x unsafe.Pointer, lines int, maxima []T, pad, columns int) {
	best := maxima[pad:][:columns]
	copy(best, unsafe.Slice((*T)(x), columns))
	for i := 1; i < lines; i++ {
		for k, v := range unsafe.Slice((*T)(unsafe.Add(x, i*p.W*int(unsafe.Sizeof(T(0))))), columns) {
			best[k] = greatest(best[k], v)
		}
	}
	for i := range y {
		m := maxima[i*p.StepW]
		for _, v := range maxima[i*p.StepW+1:][:p.KW-1] {
			m = greatest(m, v)
		}
		y[i] = m
	}
}

// greatest returns the maximum as the loop language defines it: b if both are equal.
func greatest[T float](a, b T) T {
	if a == b {
		return b
	}
	return max(a, b)
}

// Place computes the gradient of Max. It writes zeros to dx, and adds each element of dy to the
// first element of its window in x that has the bits of the window's maximum in y. All arrays
// are contiguous.
func Place[T float](p Pool, dx, x, y, dy unsafe.Pointer) {
	if c := placeCode[T](&p); c != nil {
		placeTiled[T](&p, c, dx, x, y, dy, p.Planes*p.H*p.W*int(unsafe.Sizeof(T(0))) >= processor.Host.NonTemporalFrom)
		return
	}
	n, m := p.H*p.W, p.OH*p.OW
	if c := newWhole[T](&p, false, true); c != nil {
		c.each(func(at []T, i int) { c.gives(of[T](dx, i, n), of[T](x, i, n), of[T](y, i, m), of[T](dy, i, m), at) })
		return
	}
	if c := newPlane[T](&p, false, true); c != nil {
		c.each(false, func(c *plane[T], i int) {
			dx, line := of[T](dx, i, n), 0
			c.places(of[T](x, i, n), of[T](y, i, m), of[T](dy, i, m), func(row int) { line = c.spreads(dx, row, line, false) })
		})
		return
	}
	poolFirsts[T](p, x, y, func(in, out, row int, at []int32) {
		d := unsafe.Slice((*T)(dx), p.Planes*p.H*p.W)[in:][:p.H*p.W]
		if row == 0 {
			clear(d)
		}
		g := unsafe.Slice((*T)(dy), p.Planes*p.OH*p.OW)[out:][:len(at)]
		for i, k := range at {
			if k >= 0 {
				d[k] += g[i]
			}
		}
	})
}

// Pick is the adjoint of Place: it writes to each element of dy the element of dx to which Place
// would add it, 0 if there is none.
func Pick[T float](p Pool, dy, x, y, dx unsafe.Pointer) {
	poolFirsts[T](p, x, y, func(in, out, _ int, at []int32) {
		d := unsafe.Slice((*T)(dx), p.Planes*p.H*p.W)[in:][:p.H*p.W]
		g := unsafe.Slice((*T)(dy), p.Planes*p.OH*p.OW)[out:][:len(at)]
		for i, k := range at {
			g[i] = 0
			if k >= 0 {
				g[i] = d[k]
			}
		}
	})
}

// poolFirsts calls f for each row of windows, in ascending order within a plane. in is where
// its plane begins in x, out where the row begins in y. at has for each window the index in
// the plane of its first element with the same bits as its element of y, or -1 if there is
// none. All NaN count as equal.
func poolFirsts[T float](p Pool, x, y unsafe.Pointer, f func(in, out, row int, at []int32)) {
	par.Run(p.Planes, 1, codegen.Threads(p.visits()), func(_, begin, end int) {
		at := make([]int32, p.OW)
		for plane := begin; plane < end; plane++ {
			in := plane * p.H * p.W
			for row := range p.OH {
				out := (plane*p.OH + row) * p.OW
				if unsafe.Sizeof(T(0)) == 4 {
					firsts[uint32](&p, at, x, y, in, out, row*p.StepH-p.PadH, 0xFF<<24)
				} else {
					firsts[uint64](&p, at, x, y, in, out, row*p.StepH-p.PadH, 0x7FF<<53)
				}
				f(in, out, row, at)
			}
			if p.OH == 0 {
				f(in, 0, 0, nil)
			}
		}
	})
}

// firsts finds the indices for one row of windows, which begins at line top of x. inf is the
// bits of infinity times two: elements are compared as integers.
func firsts[T uint32 | uint64](p *Pool, at []int32, x, y unsafe.Pointer, in, out, top int, inf T) {
	plane := unsafe.Slice((*T)(x), p.Planes*p.H*p.W)[in:][:p.H*p.W]
	row := unsafe.Slice((*T)(y), p.Planes*p.OH*p.OW)[out:][:len(at)]
	first, last := max(top, 0), min(top+p.KH, p.H)
	if p.KH*p.KW <= fewPlaces && p.PadW == 0 && !slices.ContainsFunc(row, func(m T) bool { return m<<1 > inf }) {
		for i := range at {
			at[i] = -1
		}
		for line := last - 1; line >= first; line-- {
			for k := p.KW - 1; k >= 0; k-- {
				match(at, row, plane, line*p.W+k, p.StepW)
			}
		}
		return
	}
	for i, m := range row {
		at[i] = -1
		left := i*p.StepW - p.PadW
		from, to := max(left, 0), min(left+p.KW, p.W)
	window:
		for line := first; line < last; line++ {
			for k, v := range plane[line*p.W+from : line*p.W+to] {
				if v == m || m<<1 > inf && v<<1 > inf {
					at[i] = int32(line*p.W + from + k)
					break window
				}
			}
		}
	}
}

// fewPlaces is the size of windows up to which comparing all elements is faster than stopping at
// the first match: it needs no branch that depends on elements.
const fewPlaces = 12

// match stores in at the indices, step apart, at which the plane has the elements of row. It is
// not inlined because it needs all registers.
//
//go:noinline
func match[T uint32 | uint64](at []int32, row, plane []T, place, step int) {
	at = at[:len(row)]
	for i, m := range row {
		v := at[i]
		if plane[place] == m {
			v = int32(place)
		}
		at[i] = v
		place += step
	}
}
