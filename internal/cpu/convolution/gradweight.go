package convolution

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/par"
)

// A gradWeight computes the gradient of a convolution's weights, transposed: a
// matrix whose rows are (c,kh,kw) and whose columns are output channels. A term is
// an output pixel. Its row of B is dy with the channels side by side, packed for one
// block of terms at a time. Its column of A is the patch of x, read where it is:
// the elements for one (c,kh) are neighbours, so a tile's rows are a few groups of
// kw. Only padding makes a copy of x, of the images that a block touches.
type gradWeight struct {
	tile.Machine
	g      *Geometry
	x, dy  Image
	of     [2]array.DType // of x and dy
	oh, ow int

	run      int // rows in a group: kw, or 1
	rows     int // of the result
	groups   int
	perPanel int // groups in most panels
	panels   int
	nv       int
	strips   int  // of nv vectors, over output channels
	pitch    int  // elements of a row of the result
	direct   bool // x is read where it is
	slots    int  // images in a worker's buffer
	xImage   Image
	blocks   int
	byBlock  bool // tasks are blocks of terms with results of their own
	taskSize int  // blocks
	// Otherwise a task is a part of the panels and a part of the strips.
	panelTasks, stripTasks int
	sumBytes               int
	packBytes              int
	sums                   mem.Block
	buffer                 mem.Block
	perWorker              int
	// Where dy has halves and vectors hold taps, a worker converts images of dy too.
	dyBytes int
	// A worker's images of x, and a channel of one that is converted.
	imageBytes, planeBytes int
	// If not nil, vectors hold taps of one output channel, and sums are not transposed.
	taps *tapTiling
}

func (c *Convolution) gradWeight(dw unsafe.Pointer, x, dy Image) {
	if c.Groups > 1 {
		c.gradWeightGroups(dw, x, dy)
		return
	}
	g := &c.Geometry
	if c.ISA == jit.Portable || g.N*g.OutH()*g.OutW() == 0 {
		if c.DType == array.Float32 {
			portableGradWeight[float32](c, dw, x, dy)
		} else {
			portableGradWeight[float64](c, dw, x, dy)
		}
		return
	}
	threads := c.Threads
	w := &gradWeight{Machine: tile.New(c.ISA, c.DType), g: g, x: x, dy: dy, of: c.Of, oh: g.OutH(), ow: g.OutW()}
	w.plan(threads)
	w.sums = tile.Alloc(w.sumBytes)
	defer mem.Free(w.sums)
	tasks := w.panelTasks * w.stripTasks
	if w.byBlock {
		tasks = w.blocks
	}
	if w.taskSize >= tasks {
		threads = 1
	}
	w.buffer = tile.Alloc(w.perWorker * par.Width(tasks, w.taskSize, threads))
	defer mem.Free(w.buffer)
	par.RunTask(tasks, w.taskSize, threads, w)
	w.Finisher() // a larger batch, which has blocks to add, generates no code then
	if w.byBlock {
		w.addBlocks()
	}
	w.store(dw)
}

// rowsLimit returns the most rows of a tile whose A is read through groups.
func rowsLimit(isa jit.ISA, nv int) int {
	if isa == jit.AVX512 {
		return [...]int{0, 28, 14, 9, 6}[nv]
	}
	return tile.MaxRows(isa, nv)
}

func (w *gradWeight) plan(threads int) {
	g := w.g
	w.rows = g.C * g.KH * g.KW
	w.groups, w.run = g.C*g.KH, g.KW
	if g.KW > rowsLimit(w.ISA, 1) {
		w.groups, w.run = w.rows, 1
	}
	strided := g.KH*g.KW == 1
	vectors := tile.Ceil(g.O, w.Lanes)
	best := 0
	for nv := 1; nv <= tile.MaxWidth(w.ISA) && nv <= vectors; nv++ {
		limit := rowsLimit(w.ISA, nv)
		most := min(limit/w.run, tile.MaxGroups)
		if strided {
			most = min(limit, stridedRows)
		}
		if most == 0 {
			continue
		}
		panels := tile.Ceil(w.groups, most)
		mr := tile.Ceil(w.groups, panels) * w.run
		cost := panels * (vectors / nv) * tile.Cost(mr, nv)
		if r := vectors % nv; r > 0 {
			cost += panels * tile.Cost(mr, r)
		}
		if best == 0 || cost <= best {
			best = cost
			w.nv, w.panels = nv, panels
		}
	}
	w.perPanel = w.groups / w.panels
	w.strips = tile.Ceil(vectors, w.nv)
	w.pitch = vectors * w.Lanes
	w.packBytes = w.strips * w.nv * w.VB * (numbers.KBlock + 2*w.Lanes)
	if taps, cost := w.tileTaps(); cost > 0 && cost < best {
		w.useTaps(taps)
	}

	pixels := w.oh * w.ow
	w.blocks = tile.Ceil(g.N*pixels, numbers.KBlock)
	widenDy := w.taps != nil && w.of[1].Half()
	w.direct = g.PadH == 0 && g.PadW == 0 && w.x.W == 1 && !w.of[0].Half() && !widenDy
	w.xImage = w.x
	imageBytes := 0
	if !w.direct {
		h, wd := (w.oh-1)*g.StrideH+(g.KH-1)*g.DilationH+1, (w.ow-1)*g.StrideW+(g.KW-1)*g.DilationW+1
		w.xImage = ContiguousImage(nil, g.C, h, wd)
		w.slots = min(g.N, tile.Ceil(numbers.KBlock-1, pixels)+1)
		imageBytes = (w.xImage.N*w.slots*w.Size + 63) &^ 63
	}
	if w.of[0].Half() {
		w.planeBytes = (g.H*g.W*w.Size + 63) &^ 63
	}
	if widenDy {
		w.dyBytes = w.slots * g.O * pixels * w.Size
	}

	if w.taps != nil {
		w.setWholeTo()
	}

	threads = tile.ThreadsFor(g.N*pixels*g.C*g.KH*g.KW*g.O, threads)
	result := w.rows * w.pitch * w.Size
	w.sumBytes = result
	w.panelTasks, w.stripTasks, w.taskSize = 1, 1, 1
	switch {
	case threads == 1:
	case w.panels*w.strips >= tasksPerThread*threads || w.blocks*result > maxBlockSums:
		// A part of the panels packs dy, a part of the strips copies the images.
		for w.panelTasks*w.stripTasks < sharesOfPanel*threads {
			if w.stripTasks < w.strips && (w.direct || w.stripTasks <= w.panelTasks) {
				w.stripTasks = min(2*w.stripTasks, w.strips)
			} else if w.panelTasks < w.panels {
				w.panelTasks = min(2*w.panelTasks, w.panels)
			} else {
				break
			}
		}
	default:
		w.byBlock = true
		w.taskSize = tile.Ceil(w.blocks, blocksShare*threads)
		w.sumBytes = result * w.blocks
	}
	w.imageBytes = imageBytes
	w.perWorker = w.packBytes + imageBytes + w.planeBytes + w.dyBytes
}

// Chunk computes the tasks begin to end-1, each some panels and strips of all blocks, or
// all of the blocks begin to end-1.
func (w *gradWeight) Chunk(worker, begin, end int) {
	buf := unsafe.Add(w.buffer.Ptr(), worker*w.perWorker)
	t := gradWeightTask{gradWeight: w, packed: buf, images: unsafe.Add(buf, w.packBytes), p1: w.panels, s1: w.strips, b1: w.blocks}
	if w.byBlock {
		t.b0, t.b1 = begin, end
		t.compute()
		return
	}
	for i := begin; i < end; i++ {
		p, s := i/w.stripTasks, i%w.stripTasks
		t.p0, t.p1 = p*w.panels/w.panelTasks, (p+1)*w.panels/w.panelTasks
		t.s0, t.s1 = s*w.strips/w.stripTasks, (s+1)*w.strips/w.stripTasks
		t.compute()
	}
}

// A gradWeightTask is the state of one worker.
type gradWeightTask struct {
	*gradWeight
	packed, images         unsafe.Pointer
	p0, p1, s0, s1, b0, b1 int // panels, strips and blocks
	c0, c1                 int // channels of the panels
	filled                 int // images before this one are in the buffer
	groupsAt               []unsafe.Pointer
	list                   []tile.Piece
	tapList                []tapPiece
	tapCodes               [8]*jit.Code // the kernels in use
}

func (t *gradWeightTask) compute() {
	first, last := t.firstGroup(t.p0), t.firstGroup(t.p1)
	t.c0, t.c1 = first*t.run/(t.g.KH*t.g.KW), tile.Ceil(last*t.run, t.g.KH*t.g.KW)
	t.filled = t.b0 * numbers.KBlock / (t.oh * t.ow)
	base := t.images
	if t.direct {
		base = t.x.Ptr
	}
	t.groupsAt = t.groupsAt[:0]
	for i := first; i < last; i++ {
		t.groupsAt = append(t.groupsAt, t.groupAt(base, i))
	}
	for b := t.b0; b < t.b1; {
		n := 1
		if t.taps == nil {
			t.block(b)
		} else {
			if t.direct {
				n = min(tapBlocks, t.b1-b)
			}
			t.blocksOfTaps(b, b+n)
		}
		b += n
	}
}

// firstGroup returns the first group of a panel; the first panels have one more.
func (w *gradWeight) firstGroup(panel int) int {
	return panel*w.perPanel + min(panel, w.groups-w.perPanel*w.panels)
}

// block adds the terms of block b.
func (t *gradWeightTask) block(b int) {
	g, pixels := t.g, t.oh*t.ow
	from, to := b*numbers.KBlock, min((b+1)*numbers.KBlock, g.N*pixels)
	t.list = t.list[:0]
	for p := from; p < to; {
		n, pix := p/pixels, p%pixels
		y, x := pix/t.ow, pix%t.ow
		// dy, as far as it can be packed at once.
		k := min(t.ow-x, to-p)
		if t.dy.W == 1 && t.dy.H == t.ow {
			k = min(pixels-pix, to-p)
		}
		for s := t.s0; s < t.s1; s++ {
			first := s * t.nv * t.Lanes
			width := min(t.nv*t.Lanes, g.O-first)
			pitch := tile.Ceil(width, t.Lanes) * t.VB
			dst := unsafe.Add(t.packed, first*t.Size*(numbers.KBlock+2*t.Lanes)+(p-from)*pitch)
			t.From(t.of[1]).Pack(tile.Panel{Ptr: dst, Pitch: pitch, Rows: width, K: k}, tile.Mat{Ptr: t.dy.at(n, first, y, x, t.of[1].Size()), Row: t.dy.C, Col: t.dy.W})
		}
		slot := n
		if !t.direct {
			for ; t.filled <= n; t.filled++ {
				t.fill(t.filled)
			}
			slot = n % t.slots
		}
		for end := p + k; p < end; {
			run := min(t.ow-x, end-p)
			offset := (slot*t.xImage.N + y*g.StrideH*t.xImage.H + x*g.StrideW) * t.Size
			if l := len(t.list) - 1; l >= 0 && t.list[l].Offset+t.list[l].N*g.StrideW*t.Size == offset {
				t.list[l].N += run
			} else {
				t.list = append(t.list, tile.Piece{Offset: offset, N: run})
			}
			p += run
			y, x = y+1, 0
		}
	}

	sums := t.sums.Ptr()
	var f tile.Frame
	if t.byBlock {
		sums = unsafe.Add(sums, b*t.rows*t.pitch*t.Size)
	} else if b > 0 {
		f.Flags = tile.FlagAdd
	}
	f.PieceList, f.PieceCount = unsafe.Pointer(&t.list[0]), len(t.list)
	f.CStep = t.pitch * t.Size
	f.AStep = t.xImage.C * t.Size
	wide := min(max(t.groups-t.perPanel*t.panels, t.p0), t.p1) // panels before it have a group more
	for s := t.s0; s < t.s1; s++ {
		first := s * t.nv * t.Lanes
		width := min(t.nv*t.Lanes, g.O-first)
		nv := tile.Ceil(width, t.Lanes)
		// Whole vectors are stored: the result has memory for them.
		key := tile.Key{Nv: nv, Pieces: true, Step: g.StrideW, Run: t.run, Dilation: g.DilationW, Masked: t.ISA == jit.AVX512}
		if key.Run == 1 {
			key.Dilation = 1
		}
		if g.KH*g.KW == 1 {
			key.Run, key.Dilation = 0, 0
		}
		t.SetMask(&f.Mask[nv-1], &f.Lanes[nv-1], t.Lanes)
		f.B[0] = unsafe.Add(t.packed, first*t.Size*(numbers.KBlock+2*t.Lanes))
		f.BStep = nv * t.VB
		for _, part := range [2]struct{ from, to, groups int }{{t.p0, wide, t.perPanel + 1}, {wide, t.p1, t.perPanel}} {
			key.Mr = part.groups * t.run
			for p := part.from; p < part.to; {
				// One call takes some 60 us.
				n := min(part.to-p, max(1, tile.CallWork/((to-from)*key.Mr*nv)))
				f.Panels = n
				g0 := t.firstGroup(p)
				at := g0 - t.firstGroup(t.p0)
				f.A, f.APanel = unsafe.Pointer(&t.groupsAt[at]), part.groups*8
				if key.Run == 0 {
					f.A, f.APanel = t.groupsAt[at], part.groups*f.AStep
				}
				f.C[0] = unsafe.Add(sums, (g0*t.run*t.pitch+first)*t.Size)
				f.Tile(t.Machine, key)
				p += n
			}
		}
	}
}

// groupAt returns where a group of rows begins in the image at base.
func (w *gradWeight) groupAt(base unsafe.Pointer, group int) unsafe.Pointer {
	g := w.g
	kw := 0
	if w.run != g.KW {
		kw, group = group%g.KW, group/g.KW
	}
	c, kh := group/g.KH, group%g.KH
	return unsafe.Add(base, (c*w.xImage.C+kh*g.DilationH*w.xImage.H+kw*g.DilationW)*w.Size)
}

// fill copies the channels of the task of one image into its slot, with zeros
// around them.
func (t *gradWeightTask) fill(image int) {
	c := correlation{Machine: t.Machine, src: t.x, srcH: t.g.H, srcW: t.g.W, srcC: t.c1 - t.c0,
		stepX: 1, cols: t.xImage.H, remPitch: t.xImage.H, rowPitch: t.xImage.H, chanPitch: t.xImage.C}
	slot := image % t.slots
	dst := unsafe.Add(t.images, (slot*t.xImage.N+t.c0*t.xImage.C)*t.Size)
	if t.dyBytes > 0 {
		for o := range t.g.O {
			widenPlane(t.From(t.of[1]), t.dyImage().at(slot, o, 0, 0, t.Size), t.dy.at(image, o, 0, 0, t.of[1].Size()), t.dy, t.oh, t.ow)
		}
	}
	if t.of[0].Half() {
		plane := unsafe.Add(t.images, t.imageBytes)
		c.src, c.srcC = ContiguousImage(plane, 1, t.g.H, t.g.W), 1
		for ch := t.c0; ch < t.c1; ch++ {
			widenPlane(t.From(t.of[0]), plane, t.x.at(image, ch, 0, 0, t.of[0].Size()), t.x, t.g.H, t.g.W)
			copyBand[float32](&c, dst, 0, 0, -t.g.PadH, -t.g.PadW)
			dst = unsafe.Add(dst, t.xImage.C*t.Size)
		}
		return
	}
	c.src.Ptr = t.x.at(0, t.c0, 0, 0, t.Size)
	if t.D == array.Float32 {
		copyBand[float32](&c, dst, image, 0, -t.g.PadH, -t.g.PadW)
	} else {
		copyBand[float64](&c, dst, image, 0, -t.g.PadH, -t.g.PadW)
	}
}

// dyImage returns the images of dy to read when vectors hold taps: dy itself, or the worker's
// converted images.
func (t *gradWeightTask) dyImage() *Image {
	if t.dyBytes == 0 {
		return &t.dy
	}
	m := ContiguousImage(unsafe.Add(t.images, t.imageBytes+t.planeBytes), t.g.O, t.oh, t.ow)
	return &m
}

// addBlocks adds the results of all blocks in ascending order.
func (w *gradWeight) addBlocks() {
	n := w.rows * w.pitch
	f := tile.RowsFrame{C: w.sums.Ptr(), Flags: tile.FlagAdd, Vectors: n / w.Lanes}
	for b := 1; b < w.blocks; b++ {
		f.Sums = unsafe.Add(w.sums.Ptr(), b*n*w.Size)
		f.Finish(w.Machine)
	}
}

// store writes the sums to dw.
func (w *gradWeight) store(dw unsafe.Pointer) {
	if w.taps != nil {
		w.eachTapVector(dw, func(sums, dw tile.Mat, n int) { tile.CopyMat(w.Machine, w.rows, n, dw, sums) })
		return
	}
	// Squares of whole vectors by the packing kernel, the rest one by one.
	whole := w.g.O / w.Lanes * w.Lanes
	rows := w.rows / w.Lanes * w.Lanes
	for j := 0; j < rows && whole > 0; j += w.Lanes {
		w.Pack(tile.Panel{Ptr: unsafe.Add(dw, j*w.Size), Pitch: w.rows * w.Size, Rows: w.Lanes, K: whole},
			tile.Mat{Ptr: unsafe.Add(w.sums.Ptr(), j*w.pitch*w.Size), Row: w.pitch, Col: 1})
	}
	from, to := tile.Mat{Ptr: w.sums.Ptr(), Row: w.pitch, Col: 1}, tile.Mat{Ptr: dw, Row: 1, Col: w.rows}
	if whole > 0 && rows < w.rows {
		tile.CopyMat(w.Machine, w.rows-rows, whole, to.Offset(rows, w.Size), from.Offset(rows*w.pitch, w.Size))
	}
	if whole < w.g.O {
		tile.CopyMat(w.Machine, w.rows, w.g.O-whole, to.Offset(whole*w.rows, w.Size), from.Offset(whole, w.Size))
	}
}
