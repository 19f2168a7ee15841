package convolution

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/packed"
	"weft/internal/par"
)

// A channelRun computes a correlation with output channels in the vectors. The pixels
// of a tile are neighbours in a row of the output; their elements of the source are
// broadcast from where they lie, and terms in the padding are left out. That leaves the
// sums as they are if the weights are finite, as sums of a block that are zero are +0.
//
// Rows, and tiles of a row, that have the same terms are of one class.
type channelRun struct {
	*correlation
	nv, strips   int
	spanX, spanY int   // the greatest column and row of a term
	widths       []int // of the tiles of a row
	classX       []channelClass
	classOfX     []int            // by tile of a row
	kernels      []*channelKernel // by class
	classY       []edge
	classOfY     []int // by row
	blocks       int
	lists        [][]channelTerm // by block, class of the row, class of the tile
	images       int             // of a task
	groups       int             // tasks along the images
	across       bool            // results are one row, and bands are tiles of it
	stripsFirst  bool            // tasks that follow one another have the same strips, not the same band
	sumsBytes    int
	padded       bool         // some terms lie in the padding
	stripwise    bool         // a task packs the weights of its strips itself, into memory of its worker
	wild         *atomic.Bool // if stripwise: weights that terms in the padding may leave out are not finite
	ownBytes     int          // of a worker: sums, and the weights of a strip
	callTiles    int
	tilesOfTask  []channelTiles // by worker
}

// An edge says how far outputs reach beyond the source, before it and behind it.
type edge struct{ before, behind int }

// A channelClass is one kind of tile.
type channelClass struct {
	edge
	width int
}

// channelTiles are the tiles of a task, by class.
type channelTiles [][]channelTile

var channelRuns = sync.Pool{New: func() any { return new(channelRun) }}

// plan decides how r runs. It reports false if r cannot, or if pixels in the vectors are estimated
// to be faster.
func (r *channelRun) plan(threads int) bool {
	c := r.correlation
	vectors := c.outC / c.Lanes
	if c.outC%c.Lanes != 0 || vectors > 1 && vectors%2 != 0 || c.through || c.src.W != 1 || len(c.terms) < channelTerms {
		return false
	}
	r.nv = min(vectors, 2)
	r.strips = vectors / r.nv
	if !r.classify() {
		return false
	}
	c.weightPitch = r.nv * c.VB
	c.panelBytes = c.weightPitch * (c.Padded(len(c.terms)) + c.Lanes)
	r.cut(threads)
	r.makeLists()
	return true
}

// run computes c, which has taken the plan's correlation, as planned. It reports false if the
// weights do not allow that.
func (planned *channelRun) run(c *correlation, work, threads int) bool {
	r := channelRuns.Get().(*channelRun)
	tiles := r.tilesOfTask
	*r = *planned
	r.correlation, r.tilesOfTask = c, tiles
	defer func() {
		*r = channelRun{tilesOfTask: r.tilesOfTask}
		channelRuns.Put(r)
	}()
	if !r.pack(threads) {
		return false
	}
	if !r.stripwise {
		defer c.packed.free()
	}
	tasks := r.groups * c.bands * c.parts
	grain := 1
	if w := work / tasks; w < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / max(w, 1)
	}
	width := par.Width(tasks, grain, threads)
	for len(r.tilesOfTask) < width {
		r.tilesOfTask = append(r.tilesOfTask, nil)
	}
	c.buffer = tile.Alloc(r.ownBytes * width)
	defer mem.Free(c.buffer)
	par.RunTask(tasks, grain, threads, r)
	return !r.stripwise || !r.wild.Load()
}

// classify cuts rows into tiles and finds the classes. It reports false if that cannot be
// done, or if pixels in the vectors take less time.
func (r *channelRun) classify() bool {
	c := r.correlation
	r.widths, r.classX, r.classOfX = r.widths[:0], r.classX[:0], r.classOfX[:0]
	r.classY, r.classOfY, r.kernels = r.classY[:0], r.classOfY[:0], r.kernels[:0]
	r.spanX, r.spanY = 0, 0
	for _, t := range c.terms {
		r.spanX, r.spanY = max(r.spanX, int(t.col)), max(r.spanY, int(t.row))
	}
	reach := max(c.src.C, -c.src.C)*c.srcC + max(c.src.H, -c.src.H)*r.spanY + r.spanX
	if reach*c.Size > math.MaxInt32 {
		return false
	}
	n := tile.Ceil(c.outW, tile.MaxRows(c.ISA, r.nv))
	cost := 0 // of a row and a strip, for a term, as tile.Cost
	for i, x := 0, 0; i < n; i++ {
		w := c.outW / n
		if i < c.outW%n {
			w++
		}
		at := x*c.stepX + c.colAt
		k := channelClass{edge{max(0, -at), max(0, at+(w-1)*c.stepX+r.spanX+1-c.srcW)}, w}
		for _, t := range c.terms {
			if t.channel > 0 {
				break
			}
			if from, below := r.pixels(&k, t); from > 0 && below < w && from < below {
				return false // the kernel leaves out pixels at one end only
			}
		}
		r.classOfX = append(r.classOfX, indexOf(&r.classX, k))
		r.widths = append(r.widths, w)
		x += w
		cost += max(w*r.nv, w+r.nv+termLoads, tile.LeastCost)
	}
	if cost*r.strips*c.outH > c.pixelCost*channelMargin/100 {
		return false
	}
	r.classY, r.classOfY = edges(r.classY, r.classOfY, c.outH, c.stepY, c.rowAt, r.spanY, c.srcH)
	for _, k := range r.classX {
		r.kernels = append(r.kernels, codegen.Kernel(channelKernels, channelKey{c.Machine, k.width, r.nv, c.stepX, r.aheadDue(len(c.terms))}))
	}
	return true
}

// pixels returns the range of a tile's pixels for which a term's element lies in a row of the
// source.
func (r *channelRun) pixels(k *channelClass, t term) (from, below int) {
	step, col := r.stepX, int(t.col)
	from, below = tile.Ceil(max(0, k.before-col), step), k.width
	if k.behind > 0 {
		below = min(below, max(0, (k.width-1)*step+r.spanX-k.behind-col+step)/step)
	}
	return from, below
}

// edges classifies the outputs along an axis by how far they reach beyond the source. It
// appends each class once to kinds, and to of the index in kinds of each output's class.
func edges(kinds []edge, of []int, outputs, step, at, span, size int) ([]edge, []int) {
	for i := range outputs {
		first := i*step + at
		of = append(of, indexOf(&kinds, edge{max(0, -first), max(0, first+span+1-size)}))
	}
	return kinds, of
}

// indexOf returns the index of x in list. It appends x if list does not have it.
func indexOf[T comparable](list *[]T, x T) int {
	i := slices.Index(*list, x)
	if i < 0 {
		i = len(*list)
		*list = append(*list, x)
	}
	return i
}

// pack packs the weights, strip by strip, and reports whether all of those that terms
// in the padding may leave out are finite. If one task alone reads a strip, it packs the strip: the
// weights stay in the L2 cache, and no memory for all of them is taken.
func (r *channelRun) pack(threads int) bool {
	c := r.correlation
	r.padded = slices.ContainsFunc(r.classY, func(e edge) bool { return e != edge{} }) ||
		slices.ContainsFunc(r.classX, func(k channelClass) bool { return k.edge != edge{} })
	r.ownBytes = r.sumsBytes
	if r.stripwise = !c.kept.Kept() && r.groups*c.bands == 1; r.stripwise {
		r.wild = new(atomic.Bool)
		r.ownBytes += c.panelBytes
		return true
	}
	key := packed.Key{Kind: packed.Channels, Sizes: [8]int{c.outC, len(c.terms), r.nv, c.weightPitch, c.panelBytes, int(tile.Bit(r.padded, 0))}}
	c.packed.make(c, key, r.strips*c.panelBytes, func(to unsafe.Pointer) bool {
		if c.outC*len(c.terms) < threadedWeights {
			threads = 1
		}
		var wild atomic.Bool
		par.Run(r.strips, 1, threads, func(_, begin, end int) {
			for s := begin; s < end; s++ {
				if !r.packStrip(unsafe.Add(to, s*c.panelBytes), s) {
					wild.Store(true)
				}
			}
		})
		return !wild.Load()
	})
	if !c.packed.flag {
		c.packed.free()
		return false
	}
	return true
}

// packStrip packs the weights of strip s. It reports false if terms in the padding may leave out one that is not finite.
func (r *channelRun) packStrip(to unsafe.Pointer, s int) bool {
	c := r.correlation
	c.packWeights(tile.Panel{Ptr: to, Pitch: c.weightPitch, Rows: r.nv * c.Lanes, K: len(c.terms)}, 0, s*r.nv*c.Lanes)
	return !r.padded || finite(c.D, to, c.weightPitch*len(c.terms))
}

// finite reports whether all numbers of type d in the given bytes are finite. bytes is a
// multiple of 8.
func finite(d array.DType, p unsafe.Pointer, bytes int) bool {
	var exponent, one uint64 = 0x7FF << 52, 1 << 52
	if d == array.Float32 {
		exponent, one = 0x7F8000007F800000, 0x0080000000800000
	}
	var carry uint64 // into the sign
	for _, x := range unsafe.Slice((*uint64)(p), bytes/8) {
		carry |= x&exponent + one
	}
	return carry&^(exponent) == 0
}

// cut chooses the tasks. The sums of a task fit in the L2 cache together with a block of
// weights.
func (r *channelRun) cut(threads int) {
	c := r.correlation
	pixels := channelSums / c.weightPitch
	c.bandH, r.images = c.outH, 1
	if plane := c.outH * c.outW; plane <= pixels {
		r.images = min(c.n, pixels/plane)
	} else {
		c.bandH = max(1, pixels/c.outW)
	}
	r.fitSource()
	for threads > 1 && r.images > 1 && tile.Ceil(c.n, r.images)*tile.Ceil(c.outH, c.bandH) < tasksPerThread*threads {
		r.images = tile.Ceil(r.images, 2)
	}
	c.bands, r.groups, c.parts = tile.Ceil(c.outH, c.bandH), tile.Ceil(c.n, r.images), 1
	r.across, r.stripsFirst = false, false
	if threads > 1 {
		r.share(threads)
	}
	c.bandH = tile.Ceil(c.outH, c.bands)
	r.blocks = max(1, tile.Ceil(len(c.terms), numbers.KBlock))
	r.sumsBytes = 0
	if r.blocks > 1 {
		r.sumsBytes = r.images * c.bandH * c.outW * c.weightPitch
	}
	// One call takes some 60 us.
	r.callTiles = max(1, tile.CallWork/(min(numbers.KBlock, len(c.terms))*r.widths[0]*r.nv))
}

// share cuts bands and strips for threads. Each thread begins with neighbouring bands, so that it reads
// what it wrote as the layer before, not lines that another core has in its cache (docs/performance.md). If the
// weights are larger than the source, it begins with neighbouring strips instead.
func (r *channelRun) share(threads int) {
	c := r.correlation
	tasks := tasksPerThread * threads
	most := max(c.bands, tile.Ceil(c.outH, channelRows)) // bands
	if c.outH == 1 && c.n < threads {
		r.across, most = true, len(r.widths)
	}
	few := r.groups < threads
	r.stripsFirst = few && r.strips > 1 && c.outC*len(c.terms) > c.srcC*c.srcH*c.srcW
	if r.stripsFirst {
		c.parts = min(r.strips, tasks)
		if r.strips%threads != 0 && c.parts < tasks {
			c.bands = min(max(c.bands, threads), most)
		}
		return
	}
	want := tile.Ceil(tasks, r.groups)
	if r.across {
		want = threads
	}
	for c.bands < want && c.bands < most {
		c.bands = min(2*c.bands, most)
	}
	if few {
		c.bands = even(c.bands, threads, most)
	}
	c.parts = min(r.strips, tile.Ceil(tasks, r.groups*c.bands))
}

// even returns the least number of bands from bands to most that gives each thread the same number of them, most if
// there is none.
func even(bands, threads, most int) int {
	return max(bands, min(tile.Ceil(bands, threads)*threads, most))
}

// part returns where part i of n things begins and ends, of parts that are equal or differ by one.
func part(n, parts, i int) (begin, end int) { return i * n / parts, (i + 1) * n / parts }

// fitSource makes tasks smaller until their source fits in the cache too, since each strip of
// channels reads it again.
func (r *channelRun) fitSource() {
	c := r.correlation
	if r.strips == 1 {
		return
	}
	row := c.srcC * c.stepY * c.srcW * c.Size // of the output
	if plane := row * c.outH; plane <= channelSource {
		r.images = min(r.images, channelSource/plane)
	} else {
		r.images = 1
		c.bandH = min(c.bandH, max(channelRows, channelSource/row))
	}
}

// makeLists lists the terms of every block for every class.
func (r *channelRun) makeLists() {
	c := r.correlation
	n := r.blocks * len(r.classY) * len(r.classX)
	for len(r.lists) < n {
		r.lists = append(r.lists, nil)
	}
	at := 0
	for b := range r.blocks {
		terms := c.terms[b*numbers.KBlock : min((b+1)*numbers.KBlock, len(c.terms))]
		for _, y := range r.classY {
			for x := range r.classX {
				k, kernel := &r.classX[x], r.kernels[x]
				list := r.lists[at][:0]
				prefetched := term{channel: -1}
				for i, t := range terms {
					if row := int(t.row); row < y.before || row > r.spanY-y.behind {
						continue
					}
					from, below := r.pixels(k, t)
					if from >= below {
						continue
					}
					entry := kernel.from[from]
					switch {
					case below < k.width:
						entry = kernel.below[below-1]
					case from == 0 && r.prefetches(t) && (t.channel != prefetched.channel || t.row != prefetched.row):
						// Other taps of the row are in the same line.
						entry, prefetched = kernel.prefetch, t
					}
					a := (int(t.channel)*c.src.C + int(t.row)*c.src.H + int(t.col)) * c.Size
					list = append(list, channelTerm{int32(a), int32(i * c.weightPitch), entry})
				}
				r.lists[at] = list
				at++
			}
		}
	}
}

// prefetches reports whether a term prefetches an element further on. Neighbouring rows of the
// output read the same rows of the source, and each row is prefetched once. In a band the term
// that reads a row first prefetches; in whole images the tap that sees every row.
func (r *channelRun) prefetches(t term) bool {
	first := r.spanY - r.stepY + 1
	if r.bands == 1 {
		first = max(0, -r.rowAt)
	}
	return int(t.row) >= first && int(t.row) < first+r.stepY
}

// Chunk computes tasks begin to end-1: groups of images, then bands, then parts of the
// output channels, or these before bands.
func (r *channelRun) Chunk(worker, begin, end int) {
	for i := begin; i < end; i++ {
		image, at := i/r.parts/r.bands*r.images, i%(r.parts*r.bands)
		band, share := at/r.parts, at%r.parts
		if r.stripsFirst {
			share, band = at/r.bands, at%r.bands
		}
		imageEnd := min(image+r.images, r.n)
		first, last := part(r.strips, r.parts, share)
		row, rowEnd := part(r.outH, r.bands, band)
		from, to := 0, len(r.widths) // tiles
		if r.across {
			row, rowEnd = 0, 1
			from, to = part(len(r.widths), r.bands, band)
		}
		// What the next row of tiles reads first, or the next tile of the row, or where a task is whole
		// images the next task.
		prefetch := r.stepY * r.src.H * r.Size
		switch {
		case r.across:
			prefetch = r.widths[0] * r.stepX * r.Size
		case r.bands == 1:
			next := (i + r.parts) / r.parts * r.images
			prefetch = (next - image) * r.src.N * r.Size
		}
		tiles, x, xEnd := r.makeTiles(worker, image, imageEnd, row, rowEnd, from, to)
		for s := first; s < last; s++ {
			r.strip(worker, s, tiles, prefetch)
		}
		channels := r.nv * r.Lanes // of a strip
		r.finish(image, imageEnd, first*channels, last*channels, row*r.outW+x, (rowEnd-1)*r.outW+xEnd)
	}
}

// makeTiles lists tiles from to to-1 of rows y0 to y1-1 of images n0 to n1-1 by class. It returns the
// columns where they begin and end.
func (r *channelRun) makeTiles(worker, n0, n1, y0, y1, from, to int) (list channelTiles, begin, end int) {
	tiles := r.tilesOfTask[worker]
	for len(tiles) < len(r.classY)*len(r.classX) {
		tiles = append(tiles, nil)
	}
	for i := range tiles {
		tiles[i] = tiles[i][:0]
	}
	for _, w := range r.widths[:from] {
		begin += w
	}
	sums := 0
	for n := n0; n < n1; n++ {
		for y := y0; y < y1; y++ {
			x := begin
			a := n*r.src.N + (y*r.stepY+r.rowAt)*r.src.H + r.colAt
			c := n*r.dst.N + y*r.dst.H
			for i := from; i < to; i++ {
				w := r.widths[i]
				class := r.classOfY[y]*len(r.classX) + r.classOfX[i]
				tiles[class] = append(tiles[class], channelTile{(a + x*r.stepX) * r.Size, (c + x) * r.Size, sums})
				x += w
				sums += w * r.weightPitch
			}
			end = x
		}
	}
	r.tilesOfTask[worker] = tiles
	return tiles, begin, end
}

// strip computes the tiles of a task for one strip of channels.
func (r *channelRun) strip(worker, s int, tiles channelTiles, prefetch int) {
	c := r.correlation
	o := s * r.nv * c.Lanes
	f := channelFrame{a: c.src.Ptr, c: c.dst.at(0, o, 0, 0, c.Size), chanStep: c.dst.C * c.Size, prefetch: prefetch,
		bias: c.bias(o), low: c.ends.Low, high: c.ends.High}
	if r.sumsBytes > 0 {
		f.sums = unsafe.Add(c.buffer.Ptr(), worker*r.ownBytes)
	}
	var weights unsafe.Pointer
	if !r.stripwise {
		weights = unsafe.Add(c.packed.ptr, s*c.panelBytes)
	} else {
		weights = unsafe.Add(c.buffer.Ptr(), worker*r.ownBytes+r.sumsBytes)
		if !r.packStrip(weights, s) {
			r.wild.Store(true) // run's caller computes all results in another way
			return
		}
	}
	for b := range r.blocks {
		f.flags = tile.Bit(b > 0, 0)
		if b == r.blocks-1 {
			f.flags |= flagStore | c.endFlags()
		}
		f.b = unsafe.Add(weights, b*numbers.KBlock*c.weightPitch)
		r.setAhead(&f, s, b, tiles)
		for class := range len(r.classY) * len(r.classX) {
			x := class % len(r.classX)
			list := r.lists[b*len(r.classY)*len(r.classX)+class]
			f.terms, f.termCount = unsafe.SliceData(list), len(list)
			c.SetMask(&f.mask, &f.lanes, (r.classX[x].width-1)%c.Lanes+1)
			for some := tiles[class]; len(some) > 0; {
				f.tileCount = min(len(some), r.callTiles)
				f.tiles = &some[0]
				jit.Call(r.kernels[x].code, 0, unsafe.Pointer(&f))
				f.ahead += uintptr(f.tileCount * len(list) * f.aheadStep)
				some = some[f.tileCount:]
			}
		}
	}
}
