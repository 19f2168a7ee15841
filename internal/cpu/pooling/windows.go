package pooling

import (
	"math"
	"math/bits"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/jit"
	"weft/internal/par"
)

// A plane computes pooling over rows of windows and lines of planes by the kernels of
// genwindows.go. Each worker has its own.
type plane[T float] struct {
	*Pool
	lanes int
	pitch int // elements from remainder to remainder of a deinterleaved line
	wide  int // elements of a row of windows with its margins
	left  int // of them, before the first window
	first int // the place of the first element of a plane within its remainder
	out   int // places of a line of a gradient, from first on

	windows, spread, split *jit.Code

	w windowsFrame
	s spreadFrame
	t splitFrame

	line    []T     // of a gradient, remainder by remainder or in order
	whole   []T     // a line with its margins, before it is deinterleaved
	lines   [][]T   // deinterleaved: line i of a plane is at i modulo a power of two; the last is padding
	have    int     // deinterleaved lines
	rows    [][2]*T // of windows, as lines: places of maxima, and what is spread
	numbers []T     // in their bits: a vector of each place
	few     [2][]T  // a row of fewer windows than lanes: y and dy
}

// planeBytes is the most memory that a worker takes for lines and rows. More memory does not fit
// in the L2 cache, and portable code is then as fast.
const planeBytes = 1 << 20

// newPlane returns nil if the kernels do not support the windows.
func newPlane[T float](p *Pool, mean, back bool) *plane[T] {
	if p.ISA == jit.Portable || p.KH > maxSide || p.KW > maxSide || p.StepW > maxStep || p.OH*p.OW*p.H*p.W == 0 {
		return nil
	}
	size := int(unsafe.Sizeof(T(0)))
	lanes := 32 / size
	c := &plane[T]{Pool: p, lanes: lanes}
	reach := (p.KW-1)/p.StepW + 1 // windows that a place can be in, and what is read behind a place
	c.first = p.PadW / p.StepW
	c.out = (p.W-1+p.PadW)/p.StepW - c.first + 1
	c.left = reach
	c.pitch = max(p.OW, c.first+c.out) + reach + 2*lanes
	c.wide = c.left + max(p.OW, c.first+c.out) + lanes
	kept := powerOfTwo((p.KH-1)/p.StepH + 1)
	if (c.pitch*p.StepW*(powerOfTwo(p.KH)+2)+2*kept*c.wide)*size > planeBytes {
		return nil
	}
	named := func(r routine) key {
		return key{routine: r, dtype: floatType[T](), kw: p.KW, stepW: p.StepW, mean: mean}
	}
	if !back || !mean {
		c.windows = codegen.Kernel(codes, named(windowsRoutine))
		if p.StepW == 2 {
			c.split = codegen.Kernel(codes, key{routine: splitRoutine, dtype: floatType[T]()})
		}
	}
	if back {
		c.spread = codegen.Kernel(codes, named(spreadRoutine))
	}
	return c
}

// start allocates the memory of a worker.
func (c *plane[T]) start(mean bool) *plane[T] {
	own := *c
	c = &own
	kept := powerOfTwo((c.KH-1)/c.StepH + 1)
	reach := c.pitch * c.StepW
	if c.windows != nil {
		pad := T(math.Inf(-1))
		if mean {
			pad = 0
		}
		padded := func() []T {
			line := make([]T, reach)
			for i := range line {
				line[i] = pad
			}
			return line
		}
		c.whole = padded()
		c.lines = make([][]T, powerOfTwo(c.KH)+1) // the last for lines outside
		for i := range c.lines {
			c.lines[i] = padded()
		}
	}
	c.line = make([]T, reach+c.StepW*c.lanes)
	c.few = [2][]T{make([]T, c.lanes), make([]T, c.lanes)}
	if c.spread == nil {
		return c
	}
	for range kept {
		at, g := make([]T, c.wide), make([]T, c.wide)
		for i := range at {
			at[i] = ones[T]()
		}
		c.rows = append(c.rows, [2]*T{&at[0], &g[0]})
	}
	if mean {
		return c
	}
	c.numbers = make([]T, c.KH*c.KW*c.lanes)
	for i := range c.numbers {
		c.numbers[i] = number[T](i / c.lanes)
	}
	return c
}

// number returns the float whose bits are the integer i.
func number[T float](i int) (v T) {
	if unsafe.Sizeof(v) == 4 {
		*(*uint32)(unsafe.Pointer(&v)) = uint32(i)
	} else {
		*(*uint64)(unsafe.Pointer(&v)) = uint64(i)
	}
	return v
}

func ones[T float]() T { return number[T](-1) }

// deinterleaveTo deinterleaves the lines of a plane up to end-1. The margins around them stay.
func (c *plane[T]) deinterleaveTo(x []T, end int) {
	for ; c.have < min(end, c.H); c.have++ {
		to, from := c.lines[c.have&(len(c.lines)-2)], x[c.have*c.W:][:c.W]
		if c.StepW == 1 {
			copy(to[c.PadW:], from)
			continue
		}
		copy(c.whole[c.PadW:], from)
		each := (c.PadW+c.W-1)/c.StepW + 1 // elements of a remainder
		if c.StepW == 2 {
			c.t = splitFrame{line: unsafe.Pointer(&c.whole[0]), even: unsafe.Pointer(&to[0]), odd: unsafe.Pointer(&to[c.pitch]), vectors: (each + c.lanes - 1) / c.lanes}
			jit.Call(c.split, 0, unsafe.Pointer(&c.t))
			continue
		}
		for s := range c.StepW {
			part := to[s*c.pitch:][:each]
			for i := range part {
				part[i] = c.whole[i*c.StepW+s]
			}
		}
	}
}

// powerOfTwo returns the least power of two that is at least n.
func powerOfTwo(n int) int { return 1 << bits.Len(uint(n-1)) }

// cut cuts n elements into vectors; the last may overlap the one before.
func (c *plane[T]) cut(n int) (vectors, again, last int) {
	vectors = n / c.lanes
	if n%c.lanes > 0 {
		again, last = 1, (n-c.lanes)*int(unsafe.Sizeof(T(0)))
	}
	return vectors, again, last
}

// row runs the kernel for a row of windows.
func (c *plane[T]) row(y []T) {
	f := &c.w
	f.y, f.pitch = unsafe.Pointer(&y[0]), c.pitch*int(unsafe.Sizeof(T(0)))
	f.vectors, f.again, f.last = c.cut(len(y))
	jit.Call(c.windows, 0, unsafe.Pointer(f))
}

// means writes the means of the windows of a plane.
func (c *plane[T]) means(y, x []T) {
	c.have = 0
	c.w.scale = scaleBits[T](c.Pool)
	c.w.lines = c.KH
	for row := range c.OH {
		top := row*c.StepH - c.PadH
		c.deinterleaveTo(x, top+c.KH)
		for i := range c.KH {
			line := c.lines[len(c.lines)-1]
			if l := top + i; l >= 0 && l < c.H {
				line = c.lines[l&(len(c.lines)-2)]
			}
			c.w.table[i] = unsafe.Pointer(&line[0])
		}
		to := y[row*c.OW:][:c.OW]
		if c.OW >= c.lanes {
			c.row(to)
			continue
		}
		c.row(c.few[0])
		copy(to, c.few[0])
	}
}

// places writes the indices of the maxima of a plane's windows, row by row, and calls done after
// each row.
func (c *plane[T]) places(x, y, dy []T, done func(row int)) {
	c.have = 0
	c.w.numbers = unsafe.Pointer(&c.numbers[0])
	for row := range c.OH {
		top := row*c.StepH - c.PadH
		c.deinterleaveTo(x, top+c.KH)
		c.w.from = max(-top, 0)
		c.w.lines = min(top+c.KH, c.H) - max(top, 0)
		for i := range c.w.lines {
			c.w.table[i] = unsafe.Pointer(&c.lines[(top+c.w.from+i)&(len(c.lines)-2)][0])
		}
		slot := c.rows[row&(len(c.rows)-1)]
		at, g := unsafe.Slice(slot[0], c.wide)[c.left:], unsafe.Slice(slot[1], c.wide)[c.left:]
		c.w.at, c.w.g = unsafe.Pointer(&at[0]), unsafe.Pointer(&g[0])
		maxima, grads := y[row*c.OW:][:c.OW], dy[row*c.OW:][:c.OW]
		if c.OW >= c.lanes {
			c.w.dy = unsafe.Pointer(&grads[0])
			c.row(maxima)
		} else {
			copy(c.few[0], maxima)
			copy(c.few[1], grads)
			c.w.dy = unsafe.Pointer(&c.few[1][0])
			c.row(c.few[0]) // behind the windows are zeros, which spread nothing
		}
		atBorder(c.Pool, x, maxima, at, row)
		done(row)
	}
}

// atBorder corrects the indices for windows of a row that begin in the padding and have no
// greater element than the padding. In all other windows the first index lies in the plane.
func atBorder[T float](p *Pool, x, maxima, at []T, row int) {
	top := row*p.StepH - p.PadH
	for i := 0; i < p.OW && i*p.StepW < p.PadW; i++ {
		if !math.IsInf(float64(maxima[i]), -1) {
			continue
		}
		at[i] = ones[T]()
		from := i*p.StepW - p.PadW
	window:
		for h := max(top, 0); h < min(top+p.KH, p.H); h++ {
			for w := max(from, 0); w < min(from+p.KW, p.W); w++ {
				if x[h*p.W+w] == maxima[i] {
					at[i] = number[T]((h-top)*p.KW + w - from)
					break window
				}
			}
		}
	}
}

// scaled stores the elements of dy times the scale, which a row of windows adds to its elements.
func (c *plane[T]) scaled(row int, dy []T) {
	scale := T(c.scale())
	g := unsafe.Slice(c.rows[row&(len(c.rows)-1)][1], c.wide)[c.left:]
	for i, v := range dy[row*c.OW:][:c.OW] {
		g[i] = v * scale
	}
}

// spreads writes the lines of a gradient from line on that no row of windows behind row reaches.
// It returns the next line.
func (c *plane[T]) spreads(dx []T, row, line int, mean bool) (next int) {
	end := c.H
	if row+1 < c.OH {
		end = min((row+1)*c.StepH-c.PadH, c.H)
	}
	for ; line < end; line++ {
		c.spreadLine(dx[line*c.W:][:c.W], line, mean)
	}
	return line
}

func (c *plane[T]) spreadLine(dx []T, line int, mean bool) {
	size := int(unsafe.Sizeof(T(0)))
	low, high := 0, min((line+c.PadH)/c.StepH, c.OH-1)
	if line+c.PadH >= c.KH {
		low = (line+c.PadH-c.KH)/c.StepH + 1
	}
	f := &c.s
	f.rows = 0
	for i := range high - low + 1 {
		row := low + i
		if mean {
			row = high - i
		}
		slot := c.rows[row&(len(c.rows)-1)]
		from := (c.left + c.first) * size
		f.at[i], f.g[i] = unsafe.Add(unsafe.Pointer(slot[0]), from), unsafe.Add(unsafe.Pointer(slot[1]), from)
		if !mean {
			f.numbers[i] = unsafe.Pointer(&c.numbers[(line+c.PadH-row*c.StepH)*c.KW*c.lanes])
		}
		f.rows++
	}
	f.start = 0
	if mean && f.rows > 0 && c.alone(f.rows) {
		f.start = 1 << (8*size - 1)
	}
	f.pitch = c.pitch * size
	if c.StepW == 1 && c.W >= c.lanes {
		f.out = unsafe.Pointer(&dx[0])
		f.vectors, f.again, f.last = c.cut(c.W)
		jit.Call(c.spread, 0, unsafe.Pointer(f))
		return
	}
	f.out = unsafe.Pointer(&c.line[0])
	f.vectors, f.again = (c.out+c.lanes-1)/c.lanes, 0
	jit.Call(c.spread, 0, unsafe.Pointer(f))
	skip := c.PadW % c.StepW
	if c.StepW <= 2 {
		copy(dx, c.line[skip:])
		return
	}
	for i := range dx {
		k := i + skip
		dx[i] = c.line[k%c.StepW*c.pitch+k/c.StepW]
	}
}

// grain returns how many planes a chunk has, given the bytes of a plane.
func grain(planes, bytes int) int {
	return max(1, min(poolBytes/max(bytes, 1), planes/leastChunks))
}

// windowsPerNS is the speed of one thread: elements times places of a window, per nanosecond.
const windowsPerNS = 8

// each calls f for all planes. Each worker has its own memory.
func (c *plane[T]) each(mean bool, f func(c *plane[T], plane int)) {
	bytes := c.H * c.W * int(unsafe.Sizeof(T(0)))
	ns := c.Planes * (c.H*c.W + c.OH*c.OW*c.KH*c.KW) / windowsPerNS
	threads := codegen.Threads(ns)
	if threads == 0 {
		threads = par.Threads()
	}
	own := make([]*plane[T], par.Width(c.Planes, grain(c.Planes, bytes), threads))
	par.Run(c.Planes, grain(c.Planes, bytes), threads, func(worker, begin, end int) {
		if own[worker] == nil {
			own[worker] = c.start(mean)
		}
		for i := begin; i < end; i++ {
			f(own[worker], i)
		}
	})
}

// of returns plane i of an array of n elements a plane.
func of[T float](p unsafe.Pointer, i, n int) []T {
	return unsafe.Slice((*T)(unsafe.Add(p, i*n*int(unsafe.Sizeof(T(0))))), n)
}
