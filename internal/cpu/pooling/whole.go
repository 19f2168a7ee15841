package pooling

import (
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/processor"
)

// Limits of the windows that the kernels of genwhole.go support. Within them all elements of a
// vector of windows lie in two vectors of a line, and all masks fit in registers.
const (
	wholeStep  = 2
	wholeSide  = 5       // wide with a step of 1
	wholeSide2 = 4       // and with a step of 2
	wholeLines = 1 << 14 // of a plane: tables have an entry for each
	wholeBytes = 1 << 16 // of lines that are done before the next ones are read
)

// A whole computes pooling over planes by kernels that go down a column of vectors, under masks,
// and read planes where they lie. Tables say which lines a row of windows has; they are the same
// for all planes. It requires AVX-512.
type whole[T float] struct {
	*Pool
	mean  bool
	lanes int
	left  int // elements of a row of places before the first window's
	pitch int // of a row of places with its margins
	first int // the place of the first element of a line within its remainder
	skip  int // elements between the first remainder's first and the first of the plane

	windows, spread *jit.Code

	rows     []wholeRow
	lines    []wholeLine
	numbers  []T  // in their bits: of each place
	prefetch bool // prefetch lines of the next plane: the hardware prefetcher does not follow columns of vectors
	band     int  // lines that are done before the next ones are read
}

// A wholeRow says which lines of a plane a row of windows has. Offsets are in bytes.
type wholeRow struct {
	x       int // the line that is read first: for means the first, else the last
	lines   int
	numbers int // of the first place of that line
	start   int // from which means are summed: a zero, in its bits
}

// A wholeLine says which rows of windows a line is part of, in the order of sums.
type wholeLine struct {
	rows            int
	at, dy, numbers int // of the first of these rows
	start           int
}

// newWhole returns nil if the kernels do not support the windows.
func newWhole[T float](p *Pool, mean, back bool) *whole[T] {
	side := wholeSide
	if p.StepW == 2 {
		side = wholeSide2
	}
	if p.ISA != jit.AVX512 || p.StepW > wholeStep || p.KW > side || max(p.H, p.OH) > wholeLines || p.OH*p.OW*p.H*p.W == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(T(0)))
	c := &whole[T]{Pool: p, mean: mean, lanes: 64 / size, left: (p.KW-1)/p.StepW + 1, first: p.PadW / p.StepW, skip: p.PadW % p.StepW}
	c.pitch = c.left + max(p.OW, (p.W-1+p.PadW)/p.StepW+1) + c.lanes
	c.prefetch = p.Planes*p.H*p.W*size >= prefetchMin
	c.band = min(max(wholeBytes/(p.W*size), p.KH+8*p.StepH), p.H)
	if !mean && (p.KH > wholeLines || c.places()*size > planeBytes) {
		return nil
	}
	named := func(r routine) key {
		return key{routine: r, wide: true, dtype: floatType[T](), kw: p.KW, stepW: p.StepW, mean: mean}
	}
	if !back || !mean {
		c.windows = codegen.Kernel(codes, named(wholeWindowsRoutine))
		c.rows = make([]wholeRow, p.OH)
		for i := range c.rows {
			top := i*p.StepH - p.PadH
			from, end := max(top, 0), min(top+p.KH, p.H)
			row := wholeRow{x: from * p.W * size, lines: end - from}
			if !mean {
				row.x, row.numbers = (end-1)*p.W*size, (end-1-top)*p.KW*size
			} else if row.lines == p.KH {
				row.start = 1 << (8*size - 1)
			}
			c.rows[i] = row
		}
	}
	if !mean {
		c.numbers = make([]T, p.KH*p.KW)
		for i := range c.numbers {
			c.numbers[i] = number[T](i)
		}
	}
	if !back {
		return c
	}
	c.spread = codegen.Kernel(codes, named(wholeSpreadRoutine))
	c.lines = make([]wholeLine, p.H)
	for i := range c.lines {
		low, high := having(i+p.PadH, p.KH, p.StepH, p.OH)
		rows, row := max(high-low+1, 0), low
		if mean {
			row = high
		}
		l := wholeLine{rows: rows, at: row * c.pitch * size, dy: row * p.OW * size, numbers: (i + p.PadH - row*p.StepH) * p.KW * size}
		if mean && rows > 0 && p.alone(rows) {
			l.start = 1 << (8*size - 1)
		}
		c.lines[i] = l
	}
	return c
}

// alone reports whether the elements of a line that is part of the given number of rows of
// windows are sums of windows' terms only. Then a zero term keeps its sign.
func (p *Pool) alone(rows int) bool {
	return p.KH == p.StepH && p.KW == p.StepW || p.KH*p.KW == 1 || p.StepH == 1 && p.StepW == 1 && rows == p.KH
}

// places returns how many indices of maxima are kept at a time, with margins.
func (c *whole[T]) places() int { return ((c.band+c.KH-2)/c.StepH + 2) * c.pitch }

// each calls f for all planes. Each worker has its own memory for indices of maxima.
func (c *whole[T]) each(f func(at []T, plane int)) {
	bytes := c.H * c.W * int(unsafe.Sizeof(T(0)))
	ns := c.Planes * (c.H*c.W + c.OH*c.OW*c.KH*c.KW) / wholePerNS
	threads := codegen.Threads(ns)
	if threads == 0 {
		threads = par.Threads()
	}
	own := make([][]T, par.Width(c.Planes, grain(c.Planes, bytes), threads))
	par.Run(c.Planes, grain(c.Planes, bytes), threads, func(worker, begin, end int) {
		if own[worker] == nil && !c.mean {
			own[worker] = make([]T, c.places())
			for i := range own[worker] {
				own[worker][i] = ones[T]()
			}
		}
		for i := begin; i < end; i++ {
			f(own[worker], i)
		}
	})
}

// wholePerNS is the speed of one thread: elements times places of a window, per nanosecond.
const wholePerNS = 32

// means writes the means of the windows of a plane.
func (c *whole[T]) means(y, x []T) { c.row(x, y, nil, 0, c.OH) }

// spreads writes the gradient of a plane for average pooling, given the gradient of its windows.
func (c *whole[T]) spreads(dx, dy []T) { c.line(dx, dy, nil, 0, c.H, 0) }

// gives writes the gradient of a plane for max pooling. y has the maxima of its windows.
func (c *whole[T]) gives(dx, x, y, dy, at []T) {
	for line := 0; line < c.H; line += c.band {
		end := min(line+c.band, c.H)
		first, _ := having(line+c.PadH, c.KH, c.StepH, c.OH)
		_, last := having(end-1+c.PadH, c.KH, c.StepH, c.OH)
		if first <= last {
			c.row(x, y, at, first, last+1)
		}
		c.line(dx, dy, at, line, end, first)
	}
}

// row runs the kernel for rows of windows.
func (c *whole[T]) row(x, y, at []T, first, end int) {
	size := int(unsafe.Sizeof(T(0)))
	f := wholeFrame{x: unsafe.Pointer(&x[0]), y: unsafe.Pointer(&y[0]), at: unsafe.Pointer(unsafe.SliceData(at)), numbers: unsafe.Pointer(unsafe.SliceData(c.numbers)),
		stepX: c.W * size, nextY: c.OW * size, nextAt: c.pitch * size, scale: scaleBits[T](c.Pool)}
	if !c.mean {
		f.stepX = -f.stepX
	}
	for v := 0; v < c.OW; v += c.lanes {
		f.table, f.count = unsafe.Pointer(&c.rows[first]), end-first
		f.prefetch, f.prefetchLines = c.H*c.W*size, 0
		if v == 0 && c.prefetch {
			f.prefetch += max(first*c.StepH-c.PadH, 0) * c.W * size
			f.prefetchLines = (c.StepH*c.W*size + processor.Line - 1) / processor.Line
		}
		f.offX, f.offY, f.offAt = (v*c.StepW-c.PadW)*size, (first*c.OW+v)*size, (c.left+v)*size
		f.last = c.mask(v, c.OW)
		for i := range f.masks {
			if c.StepW == 1 {
				f.masks[i] = c.mask(v+i-c.PadW, c.W)
			} else {
				f.masks[i] = c.mask(2*v+i&^1-c.PadW+i%2*c.lanes, c.W)
			}
		}
		jit.Call(c.windows, 0, unsafe.Pointer(&f))
		if f.undefined != 0 && v == 0 {
			for row := first; row < end; row++ {
				atBorder(c.Pool, x, y[row*c.OW:][:c.OW], at[(row-first)*c.pitch+c.left:], row)
			}
		}
	}
}

// line runs the kernel for lines of a gradient; at begins with a row's places.
func (c *whole[T]) line(dx, dy, at []T, first, end, row int) {
	size := int(unsafe.Sizeof(T(0)))
	f := wholeFrame{x: unsafe.Pointer(&dx[0]), y: unsafe.Pointer(&dy[0]), at: unsafe.Pointer(unsafe.SliceData(at)), numbers: unsafe.Pointer(unsafe.SliceData(c.numbers)),
		stepX: c.W * size, nextY: c.OW * size, nextAt: c.pitch * size, nextNumbers: -c.StepH * c.KW * size, scale: scaleBits[T](c.Pool)}
	if c.mean {
		f.nextY = -f.nextY
	}
	for v := 0; v*c.StepW-c.skip < c.W; v += c.lanes {
		f.table, f.count = unsafe.Pointer(&c.lines[first]), end-first
		f.prefetch, f.prefetchLines = (c.H+first)*c.W*size, 0
		if v == 0 && c.prefetch {
			f.prefetchLines = (c.W*size + processor.Line - 1) / processor.Line
		}
		f.offX, f.offY, f.offAt = (first*c.W+v*c.StepW-c.skip)*size, (c.first+v)*size, (c.left+c.first+v-row*c.pitch)*size
		for i := range f.masks {
			if i < c.StepW {
				f.masks[i] = c.mask(v*c.StepW+i*c.lanes-c.skip, c.W)
			} else {
				f.masks[i] = c.mask(c.first+v-(i-c.StepW), c.OW)
			}
		}
		jit.Call(c.spread, 0, unsafe.Pointer(&f))
	}
}

// mask returns the mask of the lanes that lie in elements 0 to n-1, for a vector that begins at
// element at.
func (c *whole[T]) mask(at, n int) (m uint64) {
	from, to := min(max(-at, 0), c.lanes), min(max(n-at, 0), c.lanes)
	if from >= to {
		return 0
	}
	return 1<<to - 1<<from
}
