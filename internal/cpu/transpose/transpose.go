// Package transpose copies arrays whose source and destination run along different axes.
package transpose

import (
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/processor"
)

// Copy copies src to dst. It requires that dst has the same shape and does not overlap src. If
// source and destination are contiguous along different axes, it copies square tiles with the
// side of a cache line.
func Copy(isa jit.ISA, dst, src *array.View) { CopyThrough(isa, dst, src, nil, 0) }

// CopyThrough is Copy with an optional epilogue t that runs on the copy. Requires dst in row-major
// order with rows of cols columns.
func CopyThrough(isa jit.ISA, dst, src *array.View, t tile.Epilogue, cols int) {
	size := src.DType.Size()
	dims := make([]codegen.Dim, 0, array.MaxRank)
	for i, n := range src.Shape {
		switch n {
		case 0:
			return
		case 1:
			continue
		}
		d := codegen.Dim{N: n, Src: src.Strides[i] * size, Dst: dst.Strides[i] * size}
		at := len(dims)
		for at > 0 && abs(dims[at-1].Dst) < abs(d.Dst) {
			at--
		}
		dims = append(dims, codegen.Dim{})
		copy(dims[at+1:], dims[at:])
		dims[at] = d
	}
	dims = codegen.Merge(dims)
	// The axes along which source and destination are contiguous.
	a, b := -1, -1
	for i, d := range dims {
		if d.Src == size {
			a = i
		}
		if d.Dst == size {
			b = i
		}
	}
	c := &copying{isa: isa, size: size, src: src.Ptr(), dst: dst.Ptr()}
	switch {
	case a < 0 || b < 0 || a == b:
		// One row after the other.
		c.a, c.b = codegen.Dim{N: 1}, codegen.Dim{N: 1}
		if n := len(dims); n > 0 {
			c.b, dims = dims[n-1], dims[:n-1]
		}
	default:
		c.a, c.b = dims[a], dims[b]
		dims = append(append([]codegen.Dim{}, dims[:min(a, b)]...), append(dims[min(a, b)+1:max(a, b):max(a, b)], dims[max(a, b)+1:]...)...)
	}
	c.outer = dims
	switch {
	case t == nil:
		c.run()
	case c.a.N > 1 && c.b.N == cols && c.a.Dst == cols*size:
		c.epilogue = t
		if p, ok := t.(tile.ConsumingEpilogue); ok && p.Consumes() {
			c.consuming = p
		}
		c.run()
	default:
		c.run()
		par.Run(dst.Size()/cols, max(codegen.ChunkBytes/(cols*size), 1), codegen.Threads(dst.Size()*size/copiedPerNS), func(_, begin, end int) { t.Run(begin, end, 0, cols) })
	}
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

// A copying is a copy of planes. The destination is contiguous along b, the source along a, if
// that is another axis.
type copying struct {
	isa         jit.ISA
	size        int
	src, dst    unsafe.Pointer
	a, b        codegen.Dim
	outer       []codegen.Dim
	nonTemporal bool // write by non-temporal stores

	epilogue  tile.Epilogue // of planes that follow one another in rows
	consuming tile.ConsumingEpilogue
	cols      int // bytes of a row of the result

	few    mode // toPlanes or toPoints if there are few channels, along a or along b
	points int  // that fewBytes of a plane hold

	stepA, stepB     int // of a block
	blocksA, blocksB int
}

// Sides of a block in lines: long along the source, where rows are read as streams.
const (
	blockA = 256
	blockB = 4
)

// Sizes of the blocks on which an epilogue runs.
const (
	epilogueLines = 16        // along the source
	epilogueBytes = 256 << 10 // in all
)

const (
	copiedPerNS = 8 // bytes a nanosecond, on one thread
	tileSize    = 8 // bytes of the largest elements that tiles are made of
)

func (c *copying) run() {
	planes, bytes := 1, c.size*c.a.N*c.b.N
	for _, d := range c.outer {
		planes *= d.N
	}
	bytes *= planes
	c.stepA, c.stepB = blockA*processor.Line/c.size, blockB*processor.Line/c.size
	if c.a.N == 1 {
		c.stepB = max(codegen.ChunkBytes/c.size, 1)
	}
	c.fewChannels()
	switch c.few {
	case toPlanes:
		c.stepA, c.stepB = c.a.N, max(codegen.ChunkBytes/(c.size*c.a.N), c.points)
	case toPoints:
		c.stepA, c.stepB = max(codegen.ChunkBytes/(c.size*c.b.N), c.points), c.b.N
	}
	if c.epilogue != nil {
		c.throughEpilogue()
	}
	c.nonTemporal = c.epilogue == nil && bytes >= processor.Host.NonTemporalFrom && uintptr(c.dst)%processor.Line == 0 && c.a.Dst%processor.Line == 0
	for _, d := range c.outer {
		c.nonTemporal = c.nonTemporal && d.Dst%processor.Line == 0
	}
	c.blocksA, c.blocksB = (c.a.N+c.stepA-1)/c.stepA, (c.b.N+c.stepB-1)/c.stepB
	block := min(c.stepA, c.a.N) * min(c.stepB, c.b.N) * c.size
	par.RunTask(planes*c.blocksA*c.blocksB, max(codegen.ChunkBytes/block, 1), codegen.Threads(bytes/copiedPerNS), c)
}

// throughEpilogue chooses blocks that stay in the L2 cache until the epilogue has run on them.
func (c *copying) throughEpilogue() {
	switch c.few {
	case toPlanes:
		c.stepB = min(c.stepB, max(epilogueBytes/(c.size*c.a.N), c.points))
	case toPoints:
		c.stepA = min(c.stepA, max(epilogueBytes/(c.size*c.b.N), c.points))
	default:
		c.stepA = min(epilogueLines*processor.Line/c.size, c.a.N)
		c.stepB = min(epilogueBytes/(c.size*c.stepA), c.b.N)
	}
	c.cols = c.a.Dst
	if c.consuming != nil && c.few != toPoints { // whose points lie side by side
		c.a.Dst = (c.stepB*c.size+processor.Line-1)/processor.Line*processor.Line + processor.Line // the distance of rows is not a power of two
	}
}

// A scratch is memory for a block that only the epilogue reads.
type scratch struct{ mem []uint64 }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// at returns n bytes that begin with a line of the cache.
func (r *scratch) at(n int) unsafe.Pointer {
	if 8*len(r.mem) < n+processor.Line {
		r.mem = make([]uint64, n/8+processor.Line/8+1)
	}
	p := unsafe.Pointer(unsafe.SliceData(r.mem))
	return unsafe.Add(p, -uintptr(p)%processor.Line)
}

// finish runs the epilogue on a block whose first element is to bytes behind the first element
// of the result. at is where the block lies.
func (c *copying) finish(at unsafe.Pointer, to, na, nb int) {
	r0, c0 := to/c.cols, to%c.cols/c.size
	if c.consuming != nil {
		c.consuming.RunAt(at, c.a.Dst, r0, r0+na, c0, c0+nb)
	} else {
		c.epilogue.Run(r0, r0+na, c0, c0+nb)
	}
}

// fewChannels sets few if points with few channels side by side become planes, or planes become
// such points.
func (c *copying) fewChannels() {
	if c.isa == jit.Portable || c.size > tileSize {
		return
	}
	c.points = fewBytes / c.size
	switch {
	case c.a.N > 1 && c.a.N <= maxFew && c.b.Src == c.a.N*c.size && c.b.N >= c.points:
		c.few = toPlanes
	case c.b.N > 1 && c.b.N <= maxFew && c.a.Dst == c.b.N*c.size && c.a.N >= c.points:
		c.few = toPoints
	}
}

// fewBlock copies na by nb elements, where na or nb is small.
func (c *copying) fewBlock(src, dst unsafe.Pointer, na, nb int) {
	f := fewFrame{points: src, planes: dst, step: c.a.Dst}
	n, channels := nb, na
	if c.few == toPoints {
		f = fewFrame{points: dst, planes: src, step: c.b.Src}
		n, channels = na, nb
	}
	code := codegen.Kernel(codes, key{c.size, c.few, channels})
	if f.blocks = n / c.points; f.blocks > 0 {
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
	if n%c.points > 0 { // the last points once more
		f.blocks = 1
		f.points = unsafe.Add(f.points, (n-c.points)*channels*c.size)
		f.planes = unsafe.Add(f.planes, (n-c.points)*c.size)
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// tileFrames keeps frames for reuse: a frame points into itself, so it cannot stay on the stack.
var tileFrames = sync.Pool{New: func() any { return new(tileFrame) }}

// Chunk copies blocks begin to end.
func (c *copying) Chunk(_, begin, end int) {
	f := tileFrames.Get().(*tileFrame)
	var own *scratch
	if c.consuming != nil {
		own = scratches.Get().(*scratch)
	}
	defer func() {
		f.src, f.dst, f.out = nil, nil, nil
		tileFrames.Put(f)
		if own != nil {
			scratches.Put(own)
		}
	}()
	for u := begin; u < end; u++ {
		a, rest := u%c.blocksA, u/c.blocksA
		b, rest := rest%c.blocksB, rest/c.blocksB
		src, dst := 0, 0
		for i := len(c.outer) - 1; i >= 0; i-- {
			d := c.outer[i]
			src += rest % d.N * d.Src
			dst += rest % d.N * d.Dst
			rest /= d.N
		}
		a *= c.stepA
		b *= c.stepB
		src += a*c.a.Src + b*c.b.Src
		step := c.a.Dst
		if c.epilogue != nil {
			step = c.cols
		}
		dst += a*step + b*c.b.Dst
		na, nb := min(c.stepA, c.a.N-a), min(c.stepB, c.b.N-b)
		to := unsafe.Add(c.dst, dst)
		if c.consuming != nil {
			to = own.at(c.stepA * c.a.Dst)
		}
		if c.few != direct && max(na, nb) >= c.points {
			c.fewBlock(unsafe.Add(c.src, src), to, na, nb)
		} else if rows, cols := group(c.size); c.isa != jit.Portable && c.size <= tileSize && na >= cols && nb >= rows {
			c.tiles(f, unsafe.Add(c.src, src), to, na, nb)
		} else {
			c.portable(unsafe.Add(c.src, src), to, na, nb)
		}
		if c.epilogue != nil {
			c.finish(to, dst, na, nb)
		}
	}
}

// tiles copies na by nb elements, strip by strip along the source.
func (c *copying) tiles(f *tileFrame, src, dst unsafe.Pointer, na, nb int) {
	rows, cols := group(c.size)
	side := processor.Line / c.size
	f.srcStep, f.dstStep = c.b.Src, c.a.Dst
	f.srcNext, f.dstNext = processor.Line, side*c.a.Dst
	for b := 0; b < nb; b += f.rows * rows {
		b, f.rows = piece(b, nb, rows, side)
		for a := 0; a < na; {
			a, f.cols = piece(a, na, cols, side)
			f.tiles = 1
			f.src = unsafe.Add(src, a*c.a.Src+b*c.b.Src)
			f.dst = unsafe.Add(dst, a*c.a.Dst+b*c.b.Dst)
			f.out, f.outStep = f.dst, f.dstStep
			k := key{size: c.size}
			if f.cols*cols == side {
				f.tiles = (na - a) / side
				if f.rows*rows == side {
					k.mode = whole
					if c.nonTemporal && b%side == 0 {
						k.mode = nonTemporal
					}
					f.out = unsafe.Add(unsafe.Pointer(&f.scratch), -uintptr(unsafe.Pointer(&f.scratch))%processor.Line)
					f.outStep = processor.Line
				}
			}
			a += (f.tiles-1)*side + f.cols*cols
			jit.Call(codegen.Kernel(codes, k), 0, unsafe.Pointer(f)) // which counts tiles down
		}
	}
}

// piece returns where the tile at i begins in a row of n elements, and how many
// groups it has: a full side if possible, else what whole groups there are, else
// one group that overlaps the tile before.
func piece(i, n, group, side int) (at, groups int) {
	if rest := min(n-i, side) / group; rest > 0 {
		return i, rest
	}
	return n - group, 1
}

// portable copies na by nb elements with Go's loops, in blocks if both are long.
func (c *copying) portable(src, dst unsafe.Pointer, na, nb int) {
	side := max(na, nb)
	if min(na, nb) > portableSide {
		side = portableSide
	}
	for a := 0; a < na; a += side {
		for b := 0; b < nb; b += side {
			c.block(unsafe.Add(src, a*c.a.Src+b*c.b.Src), unsafe.Add(dst, a*c.a.Dst+b*c.b.Dst), min(side, na-a), min(side, nb-b))
		}
	}
}

const portableSide = 32

func (c *copying) block(src, dst unsafe.Pointer, na, nb int) {
	a, b := c.a, c.b
	if na > nb {
		a, b, na, nb = b, a, nb, na
	}
	switch c.size {
	case 1:
		copyBlock[uint8](src, dst, a, b, na, nb)
	case 2:
		copyBlock[uint16](src, dst, a, b, na, nb)
	case 4:
		copyBlock[uint32](src, dst, a, b, na, nb)
	case 8:
		copyBlock[uint64](src, dst, a, b, na, nb)
	case 16:
		copyBlock[[2]uint64](src, dst, a, b, na, nb)
	}
}

func copyBlock[T uint8 | uint16 | uint32 | uint64 | [2]uint64](src, dst unsafe.Pointer, a, b codegen.Dim, na, nb int) {
	size := int(unsafe.Sizeof(*(*T)(dst)))
	for i := range na {
		from, to := i*a.Src, i*a.Dst
		if b.Src == size && b.Dst == size {
			copy(unsafe.Slice((*T)(unsafe.Add(dst, to)), nb), unsafe.Slice((*T)(unsafe.Add(src, from)), nb))
			continue
		}
		for range nb {
			*(*T)(unsafe.Add(dst, to)) = *(*T)(unsafe.Add(src, from))
			from += b.Src
			to += b.Dst
		}
	}
}
