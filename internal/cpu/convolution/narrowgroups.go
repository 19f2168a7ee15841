package convolution

import (
	"math"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/par"
)

// For narrow groups, with few channels each as in a depthwise convolution, a lane holds a group.
// One channel of each group in a vector is transposed so that the groups lie side by side, with
// zeros around each plane; the results are transposed back. A vector of weights then has one
// weight of each group, and no lane is idle at the ends of rows. The order of sums is the same as
// in the other algorithms.

// narrow reports whether vectors of groups pay: at most half of the lanes may be idle, or a
// quarter where groups have more than halfChannels channels.
func narrow(groups, lanes, channels int) bool {
	if channels > halfChannels {
		return channels <= narrowChannels && groups*4 >= tile.Ceil(groups, lanes)*lanes*3
	}
	return groups >= lanes/2
}

// A groupRun computes sums over few channels of the source for each of many groups: the
// convolution, or the gradient of its input. With strides the gradient has phases: interleaved
// results, each phase with its own taps.
type groupRun struct {
	tile.Machine
	n, groups, inC, outC int // channels of a group
	src, dst             Image
	of                   array.DType // of src
	srcH, srcW           int
	outH, outW           int // of the result
	stepY, stepX         int // from a result of a phase to the next, in the source
	phaseY, phaseX       int // and in the result
	rowAt, colAt         int // the source's row and column of the first that is read
	span, cols           int // rows that a row of results needs, and columns of all
	phases               []groupPhase
	groupWeights         int // weights of a group
	epilogue             tile.Epilogue

	blocks       int // vectors of groups
	bandH, bands int // in rows of a phase
	planeRows    int // of the source, for a band
	sourceBytes  int
	sumBytes     int // of a channel of the result
	perWorker    int
	weights      mem.Block
	vectorBytes  int // of weights, for a vector of groups
	buffer       mem.Block
	clean        []bool // by worker: its buffer has zeros around the source
}

// A groupPhase is the results at rows y, y+phaseY ... and columns x, x+phaseX ....
type groupPhase struct {
	y, x    int
	terms   []groupTerm
	offsets []int // of the terms in the source of a task, bytes
	weights int   // where its weights begin in the packed weights of a vector of groups, bytes
}

// A groupTerm is a term of a sum. channel, row and col are its element of the source, counted
// from the first that is read. weight is the index of its weight for the group's first result.
type groupTerm struct{ channel, row, col, weight int }

// run computes the sums, if that is possible, and reports whether it did. weightStep is the
// distance from the weights of one channel of the result to the weights of the next.
func (r *groupRun) run(g *Convolution, w unsafe.Pointer, weightStep int) bool {
	if g.ISA == jit.Portable || !narrow(r.groups, r.Lanes, max(r.inC, r.outC)) || r.src.W != 1 ||
		r.stepX > narrowStep || r.phaseX > narrowStep || r.n*r.groups*r.outH*r.outW == 0 {
		return false
	}
	terms := 0
	for i := range r.phases {
		if len(r.phases[i].terms) > numbers.KBlock {
			return false
		}
		terms = max(terms, len(r.phases[i].terms))
	}
	r.blocks = tile.Ceil(r.groups, r.Lanes)
	work := r.n * r.groups * r.outC * tile.Ceil(r.outH, r.phaseY) * tile.Ceil(r.outW, r.phaseX) * len(r.phases) * (max(terms, 1) + tile.EpilogueWork(r.epilogue))
	threads := tile.ThreadsFor(work, g.Threads)
	r.cut(threads)
	if r.perWorker > narrowMost {
		return false
	}
	r.pack(w, weightStep)
	defer mem.Free(r.weights)
	tasks := r.n * r.blocks * r.bands
	grain := 1
	if w := work / tasks; w < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / max(w, 1)
	}
	width := par.Width(tasks, grain, threads)
	r.clean = make([]bool, width)
	r.buffer = tile.Alloc(r.perWorker * width)
	defer mem.Free(r.buffer)
	par.RunTask(tasks, grain, threads, r)
	return true
}

// cut chooses the height of bands and the sizes of buffers.
func (r *groupRun) cut(threads int) {
	rows := tile.Ceil(r.outH, r.phaseY)
	perRow := (r.inC*r.stepY*r.cols + 2*r.phaseY*r.outW) * r.VB
	r.bandH = min(rows, max(1, narrowBytes/perRow))
	for threads > 1 && r.n*r.blocks*tile.Ceil(rows, r.bandH) < tasksPerThread*threads && r.bandH > narrowRows {
		r.bandH = tile.Ceil(r.bandH, 2)
	}
	r.bandH = tile.Ceil(rows, tile.Ceil(rows, r.bandH))
	r.bands = tile.Ceil(rows, r.bandH)
	r.planeRows = (r.bandH-1)*r.stepY + r.span
	// Transposing writes whole squares.
	r.sourceBytes = (r.inC*r.planeRows*r.cols + r.Lanes) * r.VB
	r.sumBytes = (tile.Ceil(r.bandH*r.phaseY*r.outW, r.Lanes)*r.Lanes + r.Lanes) * r.VB
	r.perWorker = r.sourceBytes + 2*r.sumBytes // sums, and these in rows
}

// pack packs the weights into vectors, ordered by vector of groups, phase, channel of the result
// and term.
func (r *groupRun) pack(w unsafe.Pointer, step int) {
	at := 0
	for i := range r.phases {
		p := &r.phases[i]
		for _, t := range p.terms {
			p.offsets = append(p.offsets, ((t.channel*r.planeRows+t.row)*r.cols+t.col)*r.VB)
		}
		p.weights = at
		at += r.outC * len(p.terms) * r.VB
	}
	r.vectorBytes = at
	r.weights = tile.Alloc(max(r.blocks*at, 1))
	if r.D == array.Float32 {
		packGroups[float32](r, w, step, at/r.VB)
	} else {
		packGroups[float64](r, w, step, at/r.VB)
	}
}

func packGroups[E tile.Element](r *groupRun, w unsafe.Pointer, step, vectors int) {
	to := unsafe.Slice((*E)(r.weights.Ptr()), r.blocks*vectors*r.Lanes)
	clear(to)
	perGroup := 0
	for i := range r.phases {
		perGroup += r.outC * len(r.phases[i].terms)
	}
	if perGroup == 0 {
		return
	}
	size := int(unsafe.Sizeof(E(0)))
	for group := range r.groups {
		at := group/r.Lanes*vectors*r.Lanes + group%r.Lanes
		for i := range r.phases {
			for o := range r.outC {
				for _, t := range r.phases[i].terms {
					to[at] = *(*E)(unsafe.Add(w, (group*r.groupWeights+o*step+t.weight)*size))
					at += r.Lanes
				}
			}
		}
	}
}

// Chunk computes tasks begin to end-1: images, then vectors of groups, then bands.
func (r *groupRun) Chunk(worker, begin, end int) {
	source := unsafe.Add(r.buffer.Ptr(), worker*r.perWorker)
	sums := unsafe.Add(source, r.sourceBytes)
	rows := unsafe.Add(sums, r.sumBytes)
	if !r.clean[worker] {
		clear(unsafe.Slice((*byte)(source), r.sourceBytes))
		r.clean[worker] = true
	}
	code := codegen.Kernel(groupKernels, groupKey{r.Machine, r.stepX, r.phaseX})
	f := groupFrame{srcStep: r.stepY * r.cols * r.VB, sumStep: r.phaseY * r.outW * r.VB}
	for i := begin; i < end; i++ {
		band, block, image := i%r.bands, i/r.bands%r.blocks, i/r.bands/r.blocks
		first := block * r.Lanes
		n := min(r.Lanes, r.groups-first)
		top := band * r.bandH // in rows of a phase
		h := min(r.bandH, tile.Ceil(r.outH, r.phaseY)-top)
		y0, y1 := top*r.phaseY, min((top+h)*r.phaseY, r.outH)
		l := lanesOf{r.Machine, r.src, r.of, first * r.inC, r.inC, n, r.srcH, r.srcW}
		for ch := range r.inC {
			l.fill(unsafe.Add(source, ch*r.planeRows*r.cols*r.VB), image, ch, top*r.stepY+r.rowAt, r.colAt, (h-1)*r.stepY+r.span, r.cols)
		}
		for o := range r.outC {
			for k := range r.phases {
				p := &r.phases[k]
				to := unsafe.Add(sums, (p.y*r.outW+p.x)*r.VB)
				f.rows, f.cols, f.terms = tile.Ceil(y1-y0-p.y, r.phaseY), tile.Ceil(r.outW-p.x, r.phaseX), len(p.terms)
				if f.rows <= 0 {
					continue
				}
				if f.terms == 0 {
					r.clearPhase(to, f.rows, f.cols)
					continue
				}
				f.offsets = &p.offsets[0]
				f.weights = unsafe.Add(r.weights.Ptr(), block*r.vectorBytes+p.weights+o*len(p.terms)*r.VB)
				// One call takes some 60 us.
				most := max(1, tile.CallWork/(f.cols*f.terms))
				for y, left := 0, f.rows; left > 0; left -= most {
					f.src, f.sums = unsafe.Add(source, y*f.srcStep), unsafe.Add(to, y*f.sumStep)
					f.rows = min(most, left)
					y += f.rows
					jit.Call(code, 0, unsafe.Pointer(&f))
				}
			}
			r.store(sums, rows, image, first*r.outC+o, n, y0, y1-y0)
		}
		if r.epilogue != nil {
			all := r.groups * r.outC
			r.epilogue.Run(image*all+first*r.outC, image*all+(first+n)*r.outC, y0*r.outW, y1*r.outW)
		}
	}
}

// clearPhase sets the sums of a phase that no tap reaches to zero.
func (r *groupRun) clearPhase(sums unsafe.Pointer, rows, cols int) {
	for y := range rows {
		for x := range cols {
			clear(unsafe.Slice((*byte)(unsafe.Add(sums, (y*r.phaseY*r.outW+x*r.phaseX)*r.VB)), r.VB))
		}
	}
}

// store transposes the sums of h rows of n groups to the result, in channels from the first on,
// from row y on.
func (r *groupRun) store(sums, rows unsafe.Pointer, image, first, n, y, h int) {
	pixels := h * r.outW
	dst, step := r.dst.at(image, first, y, 0, r.Size), r.outC*r.dst.C
	whole := pixels / r.Lanes
	from := tile.Mat{Ptr: sums, Row: r.Lanes, Col: 1}
	if r.dst.W == 1 && r.dst.H == r.outW && n == r.Lanes && whole > 0 {
		// What is left behind whole vectors is transposed together with some before it again.
		to := tile.Panel{Ptr: dst, Pitch: step * r.Size, Rows: r.Lanes, K: r.Lanes}
		r.PackLines(to, r.VB, from, r.Lanes*r.VB, whole)
		if at := pixels - r.Lanes; pixels%r.Lanes > 0 {
			to.Ptr = unsafe.Add(dst, at*r.Size)
			r.PackLines(to, 0, from.Offset(at*r.Lanes, r.Size), 0, 1)
		}
		return
	}
	pitch := tile.Ceil(pixels, r.Lanes) * r.VB
	r.PackLines(tile.Panel{Ptr: rows, Pitch: pitch, Rows: r.Lanes, K: r.Lanes}, r.VB, from, r.Lanes*r.VB, tile.Ceil(pixels, r.Lanes))
	for lane := range n {
		from := tile.Mat{Ptr: unsafe.Add(rows, lane*pitch), Row: r.outW, Col: 1}
		to := tile.Mat{Ptr: unsafe.Add(dst, lane*step*r.Size), Row: r.dst.H, Col: r.dst.W}
		tile.CopyMat(r.Machine, h, r.outW, to, from)
	}
}

// narrowForward computes the convolution with groups in the vectors, if they are narrow and
// that is possible, and reports whether it did.
func (g *Convolution) narrowForward(y, x Image, w unsafe.Pointer) bool {
	r := &groupRun{Machine: tile.New(g.ISA, g.DType), n: g.N, groups: g.Groups, inC: g.C / g.Groups, outC: g.O / g.Groups,
		src: x, dst: y, of: g.Of[0], srcH: g.H, srcW: g.W, outH: g.OutH(), outW: g.OutW(), stepY: g.StrideH, stepX: g.StrideW, phaseY: 1, phaseX: 1,
		rowAt: -g.PadH, colAt: -g.PadW, span: (g.KH-1)*g.DilationH + 1, epilogue: g.Epilogue}
	r.cols = (r.outW-1)*g.StrideW + (g.KW-1)*g.DilationW + 1
	k := r.inC * g.KH * g.KW
	r.groupWeights = r.outC * k
	if k > numbers.KBlock {
		return false
	}
	p := groupPhase{}
	for i := range k {
		p.terms = append(p.terms, groupTerm{i / (g.KH * g.KW), i / g.KW % g.KH * g.DilationH, i % g.KW * g.DilationW, i})
	}
	r.phases = []groupPhase{p}
	return r.run(g, w, k)
}

// narrowGradInput computes the gradient of the input in that way.
func (g *Convolution) narrowGradInput(dx, dy Image, w unsafe.Pointer) bool {
	r := &groupRun{Machine: tile.New(g.ISA, g.DType), n: g.N, groups: g.Groups, inC: g.O / g.Groups, outC: g.C / g.Groups,
		src: dy, dst: dx, of: g.Of[0], srcH: g.OutH(), srcW: g.OutW(), outH: g.H, outW: g.W, stepY: 1, stepX: 1,
		phaseY: min(g.StrideH, g.H), phaseX: min(g.StrideW, g.W), epilogue: g.Epilogue}
	if r.inC*g.KH*g.KW > numbers.KBlock || r.phaseY*r.phaseX > narrowStep {
		return false
	}
	r.groupWeights = r.inC * r.outC * g.KH * g.KW
	var ys, xs [][2][]int // by phase, taps and where they are in the source
	low, high := [2]int{math.MaxInt, math.MaxInt}, [2]int{math.MinInt, math.MinInt}
	phases := func(n, size, stride, pad, taps, dilation, axis int) [][2][]int {
		list := make([][2][]int, n)
		for _, p := range phasesOf(stride, size, pad, taps, dilation) {
			list[p.first] = [2][]int{p.taps, p.at}
			for _, i := range p.at {
				low[axis], high[axis] = min(low[axis], i), max(high[axis], i)
			}
		}
		return list
	}
	ys = phases(r.phaseY, g.H, g.StrideH, g.PadH, g.KH, g.DilationH, 0)
	xs = phases(r.phaseX, g.W, g.StrideW, g.PadW, g.KW, g.DilationW, 1)
	if high[0] < low[0] || high[1] < low[1] {
		return false // no tap reaches anything
	}
	r.rowAt, r.colAt = low[0], low[1]
	r.span, r.cols = high[0]-low[0]+1, high[1]-low[1]+tile.Ceil(g.W, r.phaseX)
	for y := range ys {
		for x := range xs {
			p := groupPhase{y: y, x: x}
			for o := range r.inC {
				for i, ky := range ys[y][0] {
					for j, kx := range xs[x][0] {
						p.terms = append(p.terms, groupTerm{o, ys[y][1][i] - low[0], xs[x][1][j] - low[1], o*r.outC*g.KH*g.KW + ky*g.KW + kx})
					}
				}
			}
			r.phases = append(r.phases, p)
		}
	}
	return r.run(g, w, g.KH*g.KW)
}

// lanesOf describes n channels of images, step channels apart, that become the lanes of vectors.
type lanesOf struct {
	tile.Machine
	src         Image
	of          array.DType // of the source
	first, step int
	n           int
	h, w        int
}

// fill writes rows x cols pixels from row y and column x on to dst, for the channels that are
// more behind the first ones. It writes zeros for whole rows outside of the images. It requires
// that dst already has zeros for all other pixels outside.
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
		panel := tile.Panel{Ptr: unsafe.Add(dst, from*row+left*l.VB), Pitch: l.VB, Rows: l.n, K: k}
		pixels := tile.Mat{Ptr: l.src.at(image, l.first+more, y+from, x+left, l.of.Size()), Row: l.step * l.src.C, Col: 1}
		l.From(l.of).PackLines(panel, row, pixels, l.src.H*l.of.Size(), to-from)
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
	of          [2]array.DType // of x and dy
	inC, outC   int            // of a group
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
	r := groupGrad{Machine: m, g: &c.Geometry, dw: dw, x: x, dy: dy, of: c.Of, inC: c.C / c.Groups, outC: c.O / c.Groups, oh: c.OutH(), ow: c.OutW(), taps: c.KH * c.KW}
	if c.ISA == jit.Portable || !narrow(c.Groups, m.Lanes, max(r.inC, r.outC)) || x.W != 1 || dy.W != 1 ||
		c.StrideW > narrowStep || c.DilationW > narrowStep || c.N*r.oh*r.ow == 0 || r.taps > numbers.KBlock {
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
	if r.perWorker > narrowMost {
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
		// -0 is the neutral element of addition.
		r.negativeZeros(sums, sumBytes)
		xs := lanesOf{r.Machine, r.x, r.of[0], first * r.inC, r.inC, n, g.H, g.W}
		ds := lanesOf{r.Machine, r.dy, r.of[1], first * r.outC, r.outC, n, r.oh, r.ow}
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
		r.Gather(tile.Panel{Ptr: unsafe.Add(r.dw, first*per*r.Size), Pitch: per * r.Size, Rows: per, K: n}, tile.Mat{Ptr: sums, Row: r.Lanes, Col: 1})
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
			n := min(r.ow-x, numbers.KBlock-at%numbers.KBlock)
			at += n
			list = append(list, groupPiece{
				src: (t*r.g.StrideH*r.cols + x*r.g.StrideW) * r.VB, dy: (t*r.ow + x) * r.VB, n: n,
				last: tile.Bit(at%numbers.KBlock == 0 || at == last, 0),
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
			code := codegen.Kernel(groupGradKernels, key)
			for i := range key.rows {
				f.src[i] = unsafe.Add(source, ((ky+i)*g.DilationH*r.cols+kx*g.DilationW)*r.VB)
			}
			at := (ky*g.KW + kx) * r.VB
			f.block, f.sums = unsafe.Add(block, at), unsafe.Add(sums, at)
			// One call takes some 60 us.
			most := max(1, tile.CallWork/(r.ow*key.rows*key.run))
			for from := 0; from < len(pieces); from += most {
				f.pieces, f.pieceCount = &pieces[from], min(most, len(pieces)-from)
				jit.Call(code, 0, unsafe.Pointer(&f))
			}
		}
	}
}
