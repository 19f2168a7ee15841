package convolution

import (
	"sync"
	"unsafe"

	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/par"
)

// An imageRun computes a correlation with images in the vectors: the same pixel of all images of
// a task lies side by side. The images are transposed first, and the results are transposed
// back. Terms in the padding are left out, as in a channelRun. That pays for small images with
// much padding.
type imageRun struct {
	*correlation
	nv          int // vectors of images
	images      int // of a task
	groups      int // tasks
	pixelBytes  int // of the images at a pixel
	sourceBytes int // of a task
	blocks      int
	taps        []imageTap
	pieces      []imagePiece
	tiles       []imageTile // by block, then pixel
}

var imageRuns = sync.Pool{New: func() any { return new(imageRun) }}

// runImages computes the correlation with images in the vectors, if that is estimated to be
// faster. It reports whether it did.
func (c *correlation) runImages(threads int) bool {
	flat := c.src.W == 1 && c.src.H == c.srcW && c.src.C == c.srcH*c.srcW &&
		c.dst.W == 1 && c.dst.H == c.outW && c.dst.C == c.outH*c.outW
	if !flat || c.n < c.Lanes || c.outC*c.outH*c.outW < c.Lanes || len(c.terms) == 0 {
		return false
	}
	r := imageRuns.Get().(*imageRun)
	defer imageRuns.Put(r)
	r.correlation = c
	defer func() { r.correlation = nil }()
	if !r.plan(threads) {
		return false
	}
	defer func(ended bool) { c.ended = ended }(c.ended)
	c.ended = false // here the epilogue is a pass
	c.setPanels(r.nv)
	c.packAllWeights(threads)
	defer c.packed.free()
	for q := range c.panels {
		if !finite(c.D, unsafe.Add(c.packed.ptr, q*c.panelBytes), c.weightPitch*len(c.terms)) {
			c.setPanels(c.nv)
			return false
		}
	}
	r.makeTiles()
	width := par.Width(r.groups, 1, threads)
	c.buffer = tile.Alloc(r.taskBytes(r.nv) * width)
	defer mem.Free(c.buffer)
	par.RunTask(r.groups, 1, threads, r)
	return true
}

// plan cuts the images into tasks. It reports false if pixels in the vectors are estimated to be
// faster, or if the kernel does not pay yet.
func (r *imageRun) plan(threads int) bool {
	c := r.correlation
	terms := r.countTerms()
	best := 0
	for groups := 1; groups*c.Lanes <= c.n; groups++ {
		images := tile.Ceil(c.n, groups)
		nv := tile.Ceil(images, c.Lanes)
		// The last task has whole vectors too, and a task stays in the L2 cache.
		if nv > tile.MaxWidth(c.ISA) || c.n-(groups-1)*images < c.Lanes || r.taskBytes(nv) > imageTask {
			continue
		}
		panels := tile.Ceil(c.outC, tile.MaxRows(c.ISA, nv))
		// As tile.Cost.
		cost := terms*panels*tile.Cost(tile.Ceil(c.outC, panels), nv) + transposeCost*nv*(c.srcC*c.srcH*c.srcW+c.outC*c.outH*c.outW)
		cost *= tile.Ceil(groups, threads)
		if best == 0 || cost < best {
			best, r.nv, r.images, r.groups = cost, nv, images, groups
		}
	}
	if best == 0 || best*10 >= imageTenths*(c.n*c.pixelCost*len(c.terms)/threads) {
		return false
	}
	// Until the kernel pays, pixels are in the vectors.
	const pixelsTake = 8
	return lateImages.Of(imageKey{c.Machine, c.outC, r.nv}).Due(pixelsTake * best)
}

// lateImages holds an entry for each number of output channels, as mr, and width.
var lateImages = codegen.NewLates[imageKey]()

// taskBytes returns the bytes of a task of nv vectors of images: the images, with scratch for
// transposing them, then the results.
func (r *imageRun) taskBytes(nv int) int {
	return (r.srcC*r.srcH*r.srcW + r.Lanes + r.outC*r.outH*r.outW) * nv * r.VB
}

// perChannel returns the terms of the source's first channel. All other channels have the same
// rows and columns.
func (r *imageRun) perChannel() []term { return r.terms[:len(r.terms)/r.srcC] }

// countTerms returns the number of terms outside of the padding, of all output pixels
// together.
func (r *imageRun) countTerms() int {
	inside := func(at, step, outputs, size int) int {
		return max(0, min(outputs, tile.Ceil(max(0, size-at), step))-tile.Ceil(max(0, -at), step))
	}
	n := 0
	for _, t := range r.perChannel() {
		n += inside(r.rowAt+int(t.row), r.stepY, r.outH, r.srcH) * inside(r.colAt+int(t.col), r.stepX, r.outW, r.srcW)
	}
	return n * r.srcC
}

// makeTiles lists the output pixels for every block of terms, and the terms once for every
// kind of pixel.
func (r *imageRun) makeTiles() {
	c := r.correlation
	r.pixelBytes = r.nv * c.VB
	r.sourceBytes = (c.srcC*c.srcH*c.srcW + c.Lanes) * r.pixelBytes
	r.blocks = tile.Ceil(len(c.terms), numbers.KBlock)
	r.taps, r.pieces, r.tiles = r.taps[:0], r.pieces[:0], r.tiles[:0]
	taps := r.perChannel()
	spanY, spanX := 0, 0
	for _, t := range taps {
		spanY, spanX = max(spanY, int(t.row)), max(spanX, int(t.col))
	}
	kindsY, ofY := edges(nil, nil, c.outH, c.stepY, c.rowAt, spanY, c.srcH)
	kindsX, ofX := edges(nil, nil, c.outW, c.stepX, c.colAt, spanX, c.srcW)
	type list struct{ first, count int }
	lists := make([]list, 0, len(kindsY)*len(kindsX)) // of pieces
	for b := range r.blocks {
		lists = lists[:0]
		for _, y := range kindsY {
			for _, x := range kindsX {
				first := len(r.pieces)
				r.block(b, y, x, spanY, spanX)
				lists = append(lists, list{first, len(r.pieces) - first})
			}
		}
		for y := range c.outH {
			for x := range c.outW {
				l := lists[ofY[y]*len(kindsX)+ofX[x]]
				r.tiles = append(r.tiles, imageTile{
					src:    ((y*c.stepY+c.rowAt)*c.srcW + x*c.stepX + c.colAt) * r.pixelBytes,
					sums:   (y*c.outW + x) * r.pixelBytes,
					pieces: l.first * int(unsafe.Sizeof(imagePiece{})), pieceCount: l.count,
				})
			}
		}
	}
}

// block lists the terms of block b for pixels of a kind.
func (r *imageRun) block(b int, y, x edge, spanY, spanX int) {
	c := r.correlation
	taps := r.perChannel()
	// run lists taps from to to-1 of some channels.
	run := func(channel, channels, from, to int) {
		first := len(r.taps)
		for i := from; i < to; i++ {
			row, col := int(taps[i].row), int(taps[i].col)
			if row >= y.before && row <= spanY-y.behind && col >= x.before && col <= spanX-x.behind {
				r.taps = append(r.taps, imageTap{int32((row*c.srcW + col) * r.pixelBytes), int32(i * c.weightPitch)})
			}
		}
		if n := len(r.taps) - first; n > 0 && channels > 0 {
			r.pieces = append(r.pieces, imagePiece{
				taps: first * int(unsafe.Sizeof(imageTap{})), tapCount: n, channels: channels,
				src: channel * c.srcH * c.srcW * r.pixelBytes, weights: channel * len(taps) * c.weightPitch,
			})
		}
	}
	from, to := b*numbers.KBlock, min((b+1)*numbers.KBlock, len(c.terms))
	c0, t0, c1, t1 := from/len(taps), from%len(taps), to/len(taps), to%len(taps)
	if c0 == c1 {
		run(c0, 1, t0, t1)
		return
	}
	if t0 > 0 {
		run(c0, 1, t0, len(taps))
		c0++
	}
	run(c0, c1-c0, 0, len(taps))
	run(c1, 1, 0, t1)
}

// Chunk computes tasks begin to end-1.
func (r *imageRun) Chunk(worker, begin, end int) {
	c := r.correlation
	source := unsafe.Add(c.buffer.Ptr(), worker*r.taskBytes(r.nv))
	sums := unsafe.Add(source, r.sourceBytes)
	for i := begin; i < end; i++ {
		first := i * r.images
		n := min(r.images, c.n-first)
		c.Pack(tile.Panel{Ptr: source, Pitch: r.pixelBytes, Rows: n, K: c.srcC * c.srcH * c.srcW},
			tile.Mat{Ptr: c.src.at(first, 0, 0, 0, c.Size), Row: c.src.N, Col: 1})
		for b := range r.blocks {
			for q := range c.panels {
				r.panel(source, sums, b, q)
			}
		}
		r.store(sums, first, n)
		c.finish(first, first+n, 0, c.outC, 0, c.outH*c.outW)
	}
}

// panel adds the terms of block b to the sums of panel q of the output channels.
func (r *imageRun) panel(source, sums unsafe.Pointer, b, q int) {
	c := r.correlation
	pixels := c.outH * c.outW
	o, rows := c.rowOf(q), c.panelRows
	if q < c.widePanels {
		rows++
	}
	f := imageFrame{
		src: source, weights: unsafe.Add(c.packed.ptr, q*c.panelBytes), sums: unsafe.Add(sums, o*pixels*r.pixelBytes),
		pieces: unsafe.SliceData(r.pieces), taps: unsafe.SliceData(r.taps),
		srcStep: c.srcH * c.srcW * r.pixelBytes, weightStep: len(r.perChannel()) * c.weightPitch, sumStep: pixels * r.pixelBytes,
		flags: tile.Bit(b > 0, 0),
	}
	code := codegen.Kernel(imageKernels, imageKey{c.Machine, rows, r.nv})
	// One call takes some 60 us.
	most := max(1, tile.CallWork/(min(numbers.KBlock, len(c.terms))*rows*r.nv))
	for tiles := r.tiles[b*pixels : (b+1)*pixels]; len(tiles) > 0; {
		f.tiles, f.tileCount = &tiles[0], min(most, len(tiles))
		tiles = tiles[f.tileCount:]
		jit.Call(code, 0, unsafe.Pointer(&f))
	}
}

// store transposes the results of n images from the first on back to the images. Where images or
// pixels do not fill the last vector, it overlaps the vector before.
func (r *imageRun) store(sums unsafe.Pointer, first, n int) {
	c := r.correlation
	results := c.outC * c.outH * c.outW
	square := func(at, image, images int) {
		c.Pack(tile.Panel{Ptr: c.dst.at(first+image, 0, 0, at, c.Size), Pitch: c.dst.N * c.Size, Rows: c.Lanes, K: images},
			tile.Mat{Ptr: unsafe.Add(sums, at*r.pixelBytes+image*c.Size), Row: r.pixelBytes / c.Size, Col: 1})
	}
	for i := 0; i < results; i += c.Lanes {
		at := min(i, results-c.Lanes)
		square(at, 0, n/c.Lanes*c.Lanes)
		if n%c.Lanes > 0 {
			square(at, n-c.Lanes, c.Lanes)
		}
	}
}
