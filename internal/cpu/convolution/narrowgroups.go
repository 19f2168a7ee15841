package convolution

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/gen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/par"
)

// Narrow groups, of few channels each, as a depthwise convolution has, have their groups in
// vectors: the channels of as many groups as a vector has lanes are transposed to lie side by
// side, zeros around them, and the results back. A vector of weights is then one of each group,
// no lane is idle at the ends of rows, and the orders of all sums are those of other ways.

const (
	narrowChannels = 3         // the most of a group, of the source and of the result
	narrowBytes    = 192 << 10 // about what the pixels of a task may take
	narrowStep     = 64        // the greatest step between pixels or taps
)

// A groupRun computes a correlation with groups in the vectors.
type groupRun struct {
	*correlation
	blocks      int // vectors of groups
	span        int // rows of the source that a row of the result needs
	planeRows   int // of the source, for a band
	offsets     []int
	sourceBytes int
	sumBytes    int // of a channel of the result
	perWorker   int
	clean       []bool // by worker: its buffer has zeros around the source
}

// runGroups computes the correlation with groups in the vectors, if they are narrow and that is
// possible, and reports whether it did.
func (c *correlation) runGroups(work, threads int) bool {
	if c.groups < c.Lanes/2 || max(c.srcC, c.outC) > narrowChannels || len(c.terms) == 0 || len(c.terms) > tile.KBlock ||
		c.src.W != 1 || c.stepX > narrowStep {
		return false
	}
	r := &groupRun{correlation: c, blocks: tile.Ceil(c.groups, c.Lanes), span: c.rows - (c.outH-1)*c.stepY}
	r.cut(threads)
	if r.perWorker > 8*narrowBytes {
		return false
	}
	for _, t := range c.terms {
		r.offsets = append(r.offsets, ((int(t.channel)*r.planeRows+int(t.row))*c.cols+int(t.col))*c.VB)
	}
	r.pack()
	defer mem.Free(c.weights)
	tasks := c.n * r.blocks * c.bands
	grain := 1
	if w := work / tasks; w < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / max(w, 1)
	}
	width := par.Width(tasks, grain, threads)
	r.clean = make([]bool, width)
	c.buffer = tile.Alloc(r.perWorker * width)
	defer mem.Free(c.buffer)
	par.RunTask(tasks, grain, threads, r)
	return true
}

// cut chooses bands.
func (r *groupRun) cut(threads int) {
	c := r.correlation
	perRow := (c.srcC*c.stepY*c.cols + 2*c.outW) * c.VB
	c.bandH = min(c.outH, max(1, narrowBytes/perRow))
	for threads > 1 && c.n*r.blocks*tile.Ceil(c.outH, c.bandH) < 4*threads && c.bandH > 8 {
		c.bandH = tile.Ceil(c.bandH, 2)
	}
	c.bandH = tile.Ceil(c.outH, tile.Ceil(c.outH, c.bandH))
	c.bands = tile.Ceil(c.outH, c.bandH)
	r.planeRows = (c.bandH-1)*c.stepY + r.span
	// Transposing writes whole squares.
	r.sourceBytes = (c.srcC*r.planeRows*c.cols + c.Lanes) * c.VB
	r.sumBytes = (tile.Ceil(c.bandH*c.outW, c.Lanes)*c.Lanes + c.Lanes) * c.VB
	r.perWorker = r.sourceBytes + 2*r.sumBytes // sums, and these in rows
}

// pack makes vectors of weights: by block, channel of the result and term.
func (r *groupRun) pack() {
	c := r.correlation
	c.weights = tile.Alloc(r.blocks * c.outC * len(c.terms) * c.VB)
	if c.D == array.Float32 {
		packGroups[float32](c)
	} else {
		packGroups[float64](c)
	}
}

func packGroups[E tile.Element](c *correlation) {
	to := unsafe.Slice((*E)(c.weights.Ptr()), tile.Ceil(c.groups, c.Lanes)*c.outC*len(c.terms)*c.Lanes)
	clear(to)
	for group := range c.groups {
		at := group/c.Lanes*c.outC*len(c.terms)*c.Lanes + group%c.Lanes
		for o := range c.outC {
			for t := range c.terms {
				to[at] = *(*E)(unsafe.Add(c.weightBase, c.weightOf(group, o, t)*c.Size))
				at += c.Lanes
			}
		}
	}
}

// Chunk computes tasks begin to end-1: images, then vectors of groups, then bands.
func (r *groupRun) Chunk(worker, begin, end int) {
	c := r.correlation
	source := unsafe.Add(c.buffer.Ptr(), worker*r.perWorker)
	sums := unsafe.Add(source, r.sourceBytes)
	rows := unsafe.Add(sums, r.sumBytes)
	if !r.clean[worker] {
		clear(unsafe.Slice((*byte)(source), r.sourceBytes))
		r.clean[worker] = true
	}
	f := groupFrame{offsets: &r.offsets[0], terms: len(c.terms), cols: c.outW, srcStep: c.stepY * c.cols * c.VB}
	code := gen.Kernel(groupKernels, groupKey{c.Machine, c.stepX})
	// One entry takes some 60 us.
	most := max(1, tile.CallWork/(c.outW*len(c.terms)))
	for i := begin; i < end; i++ {
		band, block, image := i%c.bands, i/c.bands%r.blocks, i/c.bands/r.blocks
		first := block * c.Lanes
		n := min(c.Lanes, c.groups-first)
		h := min(c.bandH, c.outH-band*c.bandH)
		l := lanesOf{c.Machine, c.src, first * c.srcC, c.srcC, n, c.srcH, c.srcW}
		for ch := range c.srcC {
			l.fill(unsafe.Add(source, ch*r.planeRows*c.cols*c.VB), image, ch, band*c.bandH*c.stepY+c.rowAt, c.colAt, (h-1)*c.stepY+r.span, c.cols)
		}
		for o := range c.outC {
			f.weights = unsafe.Add(c.weights.Ptr(), (block*c.outC+o)*len(c.terms)*c.VB)
			for y := 0; y < h; y += most {
				f.src, f.sums = unsafe.Add(source, y*f.srcStep), unsafe.Add(sums, y*c.outW*c.VB)
				f.rows = min(most, h-y)
				jit.Call(code, 0, unsafe.Pointer(&f))
			}
			r.store(sums, rows, image, first*c.outC+o, n, band*c.bandH, h)
		}
		c.finish(image, image+1, first*c.outC, (first+n)*c.outC, band*c.bandH, band*c.bandH+h)
	}
}

// store transposes the sums of h rows of n groups to where they belong, in channels from the
// first on, from row y on.
func (r *groupRun) store(sums, rows unsafe.Pointer, image, first, n, y, h int) {
	c := r.correlation
	pixels := h * c.outW
	dst, step := c.dst.at(image, first, y, 0, c.Size), c.outC*c.dst.C
	whole := pixels / c.Lanes
	if c.dst.W == 1 && c.dst.H == c.outW && n == c.Lanes && whole > 0 {
		// What is left behind whole vectors is transposed together with some before it again.
		c.PackLines(dst, step*c.Size, c.VB, sums, c.Lanes, c.Lanes*c.VB, c.Lanes, c.Lanes, whole)
		if at := pixels - c.Lanes; pixels%c.Lanes > 0 {
			c.PackLines(unsafe.Add(dst, at*c.Size), step*c.Size, 0, unsafe.Add(sums, at*c.VB), c.Lanes, 0, c.Lanes, c.Lanes, 1)
		}
		return
	}
	pitch := tile.Ceil(pixels, c.Lanes) * c.VB
	c.PackLines(rows, pitch, c.VB, sums, c.Lanes, c.Lanes*c.VB, c.Lanes, c.Lanes, tile.Ceil(pixels, c.Lanes))
	for lane := range n {
		from := tile.Mat{Ptr: unsafe.Add(rows, lane*pitch), Row: c.outW, Col: 1}
		to := tile.Mat{Ptr: unsafe.Add(dst, lane*step*c.Size), Row: c.dst.H, Col: c.dst.W}
		tile.CopyMat(c.Machine, h, c.outW, to, from)
	}
}

// lanesOf is n channels of images, each step channels behind the one before, that become the
// lanes of vectors.
type lanesOf struct {
	tile.Machine
	src         Image
	first, step int
	n           int
	h, w        int
}

// fill writes rows x cols pixels from row y and column x on to dst, of channels from number
// more behind the first on. What lies outside of the images must be zero in dst already, but
// for whole rows.
func (l *lanesOf) fill(dst unsafe.Pointer, image, more, y, x, rows, cols int) {
	row := cols * l.VB
	left := max(0, -x)
	k := min(cols, l.w-x) - left
	from := min(max(0, -y), rows)
	to := max(from, min(rows, l.h-y))
	if k <= 0 {
		from, to = 0, 0
	}
	clear(unsafe.Slice((*byte)(dst), from*row))
	if from < to {
		l.PackLines(unsafe.Add(dst, from*row+left*l.VB), l.VB, row,
			l.src.at(image, l.first+more, y+from, x+left, l.Size), l.step*l.src.C, l.src.H*l.Size, l.n, k, to-from)
	}
	clear(unsafe.Slice((*byte)(unsafe.Add(dst, to*row)), (rows-to)*row))
}

// A groupGrad computes the gradient of the weights of narrow groups, with groups in the
// vectors: each tap is a chain of products over all pixels.
type groupGrad struct {
	tile.Machine
	g           *Geometry
	dw          unsafe.Pointer
	x, dy       Image
	inC, outC   int // of a group
	oh, ow      int
	bandH       int
	planeRows   int
	cols        int
	sourceBytes int // of a channel
	dyBytes     int
	taps        int
	perWorker   int
	buffer      mem.Block
	clean       []bool
}

// narrowGradWeight computes the gradient of the weights with groups in the vectors, if they are
// narrow and that is possible, and reports whether it did.
func (c *Convolution) narrowGradWeight(dw unsafe.Pointer, x, dy Image) bool {
	m := tile.New(c.ISA, c.DType)
	r := groupGrad{Machine: m, g: &c.Geometry, dw: dw, x: x, dy: dy, inC: c.C / c.Groups, outC: c.O / c.Groups, oh: c.OutH(), ow: c.OutW(), taps: c.KH * c.KW}
	if c.ISA == jit.Portable || c.Groups < m.Lanes/2 || max(r.inC, r.outC) > narrowChannels || x.W != 1 || dy.W != 1 ||
		c.StrideW > narrowStep || c.DilationW > narrowStep || c.N*r.oh*r.ow == 0 || r.taps > tile.KBlock {
		return false
	}
	span := (c.KH-1)*c.DilationH + 1
	r.cols = (r.ow-1)*c.StrideW + (c.KW-1)*c.DilationW + 1
	perRow := (r.inC*c.StrideH*r.cols + r.outC*r.ow) * m.VB
	r.bandH = min(r.oh, max(1, narrowBytes/perRow))
	r.planeRows = (r.bandH-1)*c.StrideH + span
	r.sourceBytes = (r.planeRows*r.cols + m.Lanes) * m.VB
	r.dyBytes = (r.bandH*r.ow + m.Lanes) * m.VB
	r.perWorker = r.inC*r.sourceBytes + r.outC*r.dyBytes + 2*r.inC*r.outC*r.taps*m.VB
	if r.perWorker > 8*narrowBytes {
		return false
	}
	blocks := tile.Ceil(c.Groups, m.Lanes)
	threads := tile.ThreadsFor(c.N*r.oh*r.ow*c.O*r.inC*r.taps, c.Threads)
	width := par.Width(blocks, 1, threads)
	r.clean = make([]bool, width)
	r.buffer = tile.Alloc(r.perWorker * width)
	defer mem.Free(r.buffer)
	par.RunTask(blocks, 1, threads, &r)
	return true
}

// Chunk computes vectors of groups begin to end-1.
func (r *groupGrad) Chunk(worker, begin, end int) {
	g := r.g
	source := unsafe.Add(r.buffer.Ptr(), worker*r.perWorker)
	dys := unsafe.Add(source, r.inC*r.sourceBytes)
	block := unsafe.Add(dys, r.outC*r.dyBytes)
	sumBytes := r.inC * r.outC * r.taps * r.VB
	sums := unsafe.Add(block, sumBytes)
	if !r.clean[worker] {
		clear(unsafe.Slice((*byte)(source), r.inC*r.sourceBytes))
		r.clean[worker] = true
	}
	var pieces []groupPiece
	for ; begin < end; begin++ {
		first := begin * r.Lanes
		n := min(r.Lanes, g.Groups-first)
		clear(unsafe.Slice((*byte)(block), sumBytes))
		// To -0 anything can be added.
		r.negativeZeros(sums, sumBytes)
		xs := lanesOf{r.Machine, r.x, first * r.inC, r.inC, n, g.H, g.W}
		ds := lanesOf{r.Machine, r.dy, first * r.outC, r.outC, n, r.oh, r.ow}
		for image := range g.N {
			for y := 0; y < r.oh; y += r.bandH {
				h := min(r.bandH, r.oh-y)
				for ch := range r.inC {
					xs.fill(unsafe.Add(source, ch*r.sourceBytes), image, ch, y*g.StrideH-g.PadH, -g.PadW, (h-1)*g.StrideH+(g.KH-1)*g.DilationH+1, r.cols)
				}
				for ch := range r.outC {
					ds.fill(unsafe.Add(dys, ch*r.dyBytes), image, ch, y, 0, h, r.ow)
				}
				pieces = r.pieces(pieces[:0], image, y, h)
				for o := range r.outC {
					for ch := range r.inC {
						at := (o*r.inC + ch) * r.taps * r.VB
						r.terms(pieces, unsafe.Add(source, ch*r.sourceBytes), unsafe.Add(dys, o*r.dyBytes), unsafe.Add(block, at), unsafe.Add(sums, at))
					}
				}
			}
		}
		// Groups are next to each other in vectors, the weights of one in memory.
		per := r.inC * r.outC * r.taps
		if r.D == array.Float32 {
			tile.Gather[float32](unsafe.Add(r.dw, first*per*r.Size), per*r.Size, sums, r.Lanes, 1, per, n)
		} else {
			tile.Gather[float64](unsafe.Add(r.dw, first*per*r.Size), per*r.Size, sums, r.Lanes, 1, per, n)
		}
	}
}

func (r *groupGrad) negativeZeros(at unsafe.Pointer, bytes int) {
	if r.D == array.Float32 {
		negativeZeros(unsafe.Slice((*float32)(at), bytes/4))
	} else {
		negativeZeros(unsafe.Slice((*float64)(at), bytes/8))
	}
}

func negativeZeros[E tile.Element](s []E) {
	for i := range s {
		s[i] = E(math.Copysign(0, -1))
	}
}

// pieces lists rows y to y+h-1 of an image, cut where blocks of terms end.
func (r *groupGrad) pieces(list []groupPiece, image, y, h int) []groupPiece {
	at := (image*r.oh + y) * r.ow // terms before
	last := r.g.N * r.oh * r.ow
	for t := range h {
		for x := 0; x < r.ow; {
			n := min(r.ow-x, tile.KBlock-at%tile.KBlock)
			at += n
			list = append(list, groupPiece{
				src: (t*r.g.StrideH*r.cols + x*r.g.StrideW) * r.VB, dy: (t*r.ow + x) * r.VB, n: n,
				last: tile.Bit(at%tile.KBlock == 0 || at == last, 0),
			})
			x += n
		}
	}
	return list
}

// terms adds the products of the pixels of pieces to the sums of all taps.
func (r *groupGrad) terms(pieces []groupPiece, source, dy, block, sums unsafe.Pointer) {
	g := r.g
	rows, run := min(maxGroupRows, max(1, maxGroupTaps/g.KW)), min(g.KW, maxGroupTaps)
	if run < g.KW {
		rows = 1
	}
	f := groupGradFrame{dy: dy}
	for ky := 0; ky < g.KH; ky += rows {
		for kx := 0; kx < g.KW; kx += run {
			key := groupGradKey{r.Machine, min(rows, g.KH-ky), min(run, g.KW-kx), g.DilationW, g.StrideW}
			code := gen.Kernel(groupGradKernels, key)
			for i := range key.rows {
				f.src[i] = unsafe.Add(source, ((ky+i)*g.DilationH*r.cols+kx*g.DilationW)*r.VB)
			}
			at := (ky*g.KW + kx) * r.VB
			f.block, f.sums = unsafe.Add(block, at), unsafe.Add(sums, at)
			// One entry takes some 60 us.
			most := max(1, tile.CallWork/(r.ow*key.rows*key.run))
			for from := 0; from < len(pieces); from += most {
				f.pieces, f.pieceCount = &pieces[from], min(most, len(pieces)-from)
				jit.Call(code, 0, unsafe.Pointer(&f))
			}
		}
	}
}
