package product

import (
	"runtime"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/tile"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/packed"
	"weft/internal/par"
	"weft/internal/processor"
)

// Sizes of blocks that stay in a cache while they are used. BlockBytesA is a block of A: half of
// the L2 cache, beside the strip of B that it is multiplied with. blockBytesB is a packed block
// of B.
const (
	BlockBytesA = 512 << 10
	maxTaskRows = 1024
	// panelGap is the gap in bytes between packed panels of rows. The panels are written one
	// term of each at a time, so their lines must not share sets of the caches. They are
	// written as whole vectors, and the last vector ends behind its panel.
	panelGap      = 2 * processor.Line
	blockBytesB   = 1 << 20
	epilogueBytes = 128 << 10 // of C, finished before the epilogue runs on it
	pagesBytes    = 16 << 10  // of all operands of small products side by side: half of the L1 cache
)

// Bounds, found by measurement, that decide whether operands are packed or read where they
// lie.
const (
	// Up to directA bytes of a block of A, or directB of B, stay in a cache after the first
	// use. Packing pays for larger blocks.
	directA = 64 << 10
	directB = 128 << 10
	// With fewer than fewPanels panels of rows, reading B from the L2 cache takes no longer than
	// packing it, unless B has more than wholeB bytes. With strides that fall into few sets of
	// the cache (tile.Conflict) the limit is conflictPanels.
	fewPanels      = 5
	conflictPanels = 3
	wholeB         = 4 << 20
	// With up to fewTerms terms a sum does not read enough lines for such strides to matter.
	fewTerms = 16
	// A is not packed for up to directColumns vectors of columns.
	directColumns = 4
	// A column-major B is read where it lies if a block of its columns has more bytes.
	transposedB = 64 << 10
)

// prefetchFrom is the size in bytes from which an operand is assumed not to be in the L2 cache
// when a product begins. Its next part is then prefetched while sums are computed. Tests set it
// to 0.
var prefetchFrom = 1 << 20

// A job is a batch of products under way: the par.Task of one call.
type job struct {
	tile.Machine
	batch     Batch
	m, n, k   int
	operands  // C has unit column stride, unless through is set
	epilogue  tile.Epilogue
	consuming tile.ConsumingEpilogue // the epilogue, if pieces of C lie in workers' buffers, one after the other
	through   bool                   // pieces lie in workers' buffers and are copied to C, because kernels cannot store to C
	flipped   bool                   // Product.transposed
	add       bool                   // Product.Add
	size      sizes
	of        [2]array.DType // Product.Of

	packA, packB         bool
	kept                 *packed.Copy   // holds panels, if later calls use them again
	panels               unsafe.Pointer // of all of B, which every task reads; nil: tasks pack theirs
	prefetchA, prefetchB bool           // the operand is read where it lies, and prefetched
	prefetchPack         bool           // B is packed, and what is packed next is prefetched
	prefetchKept         bool           // the kept panels are not in the L2 cache, and the next is prefetched
	narrow               narrowKind
	pages                int // products of the last batch dimension that are computed side by side, or 0
	first, end           int // terms that tasks compute
	taskM, taskN         int // rows and columns of a task
	tilesM, tilesN       int
	rows, nv             int // rows of A in a block, vectors of a tile
	buffer               mem.Block

	blockA, blockB, blockC int // bytes of a worker's buffers
}

var jobs = sync.Pool{New: func() any { return new(job) }}

// run computes a batch of products by machine code. The batch is not empty.
func (p *Product) run(total int) {
	total = p.fold(total)
	if p.byBlocks() {
		p.runBlocks(total)
		return
	}
	// A row times a matrix rather than a matrix times a column; and rows of C side
	// by side in memory.
	switch {
	case p.N == 1 && p.M > 1 && !p.Add:
		p.transpose()
	case p.N == 1:
	case p.C.Col != 1 && (p.C.Row == 1 || p.M == 1):
		p.transpose()
	}
	if !p.Add && !p.Kept.Kept() && p.transposePays() {
		p.transpose()
	}
	p.runJob(total)
}

// transposePays reports whether the product of few rows and a column-major B, as a layer's weights
// often are, is faster as the transposed product. B is then read where it lies and C is
// transposed back. Otherwise B would be packed for a single use.
func (p *Product) transposePays() bool {
	lanes, least := p.ISA.VectorBytes()/p.DType.Size(), transposedB
	if p.M < lanes {
		least = transposedB * 8 // they are turned back one by one
	}
	return p.B.Row == 1 && p.B.Col != 1 && p.C.Col == 1 && p.M > tile.MaxRowsAcross(p.ISA) && p.M <= directColumns*lanes &&
		!p.Of[1].Half() && p.N > p.M && min(p.K, numbers.KBlock)*p.N*p.DType.Size() > least
}

// fold joins the products of the last batch dimensions into one with more rows, as long as they
// have the same B and their rows of A and of C follow one another. It returns the new number
// of products.
func (p *Product) fold(total int) int {
	t := &p.Batch
	for i := len(t.Count) - 1; i >= 0; i-- {
		stride := func(s []int) int {
			if s == nil {
				return 0
			}
			return s[i]
		}
		if t.Count[i] != 1 && (stride(t.B) != 0 || stride(t.A) != p.M*p.A.Row || stride(t.C) != p.M*p.C.Row) {
			break
		}
		p.M *= t.Count[i]
		total /= t.Count[i]
		t.Count = t.Count[:i]
	}
	return total
}

func (p *Product) operands() operands { return operands{a: p.A, b: p.B, c: p.C} }

// job returns the product as a job that is not planned yet.
func (p *Product) job() job {
	return job{Machine: tile.New(p.ISA, p.DType), batch: p.Batch, m: p.M, n: p.N, k: p.K, end: p.K, operands: p.operands(), epilogue: p.Epilogue, through: p.C.Col != 1 && p.N > 1, flipped: p.transposed, add: p.Add, size: p.sizes(), of: p.Of}
}

func (p *Product) runJob(total int) {
	j := p.job() // on the stack, unless workers share it
	threads := j.plan(total, p.Threads, p.Kept.Kept())
	if p.Kept.Kept() {
		k := j // on the heap, where the function is that packs
		k.keep(p.Kept, threads)
		j = k
		defer runtime.KeepAlive(j.kept)
	} else if j.sharePays() {
		k := j // on the heap, as workers share it while they pack
		k.runShared(total, threads)
		return
	}
	j.runTasks(total, threads)
}

// runTasks computes all tasks, for the terms from j.first to j.end-1.
func (j *job) runTasks(total, threads int) {
	tasks := total * j.tilesM * j.tilesN
	grain := 1
	if work := j.taskM * j.taskN * (max(j.k, 1) + tile.EpilogueWork(j.epilogue)); work < min(tile.TaskWork, tile.ThreadHot) {
		grain = tile.TaskWork / work
	}
	workers := par.Width(tasks, grain, threads)
	if bytes := j.blocks() * workers; bytes > 0 {
		j.buffer = tile.Alloc(bytes)
		defer mem.Free(j.buffer)
	}
	if workers == 1 && tasks <= grain {
		j.Chunk(0, 0, tasks)
		return
	}
	shared := jobs.Get().(*job)
	*shared = *j
	par.RunTask(tasks, grain, threads, shared)
	*shared = job{}
	jobs.Put(shared)
}

// blocks returns the bytes of a worker's buffers.
func (j *job) blocks() int { return j.blockA + j.blockB + j.blockC }

// plan chooses which operands are packed and how the product is cut. It returns the number of
// threads to use. kept says that packed panels of B are kept, which cost nothing. No choice influences a bit of
// the result.
func (j *job) plan(total, threads int, kept bool) int {
	work := j.m * j.n * (max(j.k, 1) + tile.EpilogueWork(j.epilogue))
	// Reading a byte of B takes as long as a product. Not where whole rows are read: a
	// training step has just written those, and the other processor would fetch them.
	if j.narrow = j.narrowPath(); j.narrow == acrossRows {
		work = max(work, j.n*j.k*j.Size) // halves take as long to convert
	}
	threads = tile.ThreadsFor(total*work, threads)
	if j.narrow != notNarrow {
		j.planNarrow(total, threads)
		return threads
	}
	kk := min(j.k, numbers.KBlock)
	// Packing pays where a panel is used often, and where strides put its elements
	// into too few sets of the cache or make no kernel's pattern.
	rowMajor := j.a.Col == 1 || j.k == 1
	columnMajor := j.a.Row == 1 || j.m == 1
	bytesA := j.m * kk * j.Size
	switch {
	case !rowMajor && !columnMajor:
		j.packA = true
	case j.n <= directColumns*j.Lanes:
	case rowMajor:
		j.packA = bytesA > directA || tile.Conflict(j.a.Row*j.Size) && j.m > 4
	default:
		j.packA = bytesA > directA || tile.Conflict(j.a.Col*j.Size) && kk > fewTerms
	}
	switch {
	case j.b.Col != 1 && j.n > 1:
		j.packB = true
	case kept:
		j.packB = true
	case j.m <= tile.MaxRows(j.ISA, 2):
	default:
		// Few panels of rows read B from the L2 cache about as fast where it lies.
		panels := tile.Ceil(j.m, tile.MaxRows(j.ISA, 2))
		large := kk*j.n*j.Size > directB
		if tile.Conflict(j.b.Row * j.Size) {
			j.packB = large || kk > fewTerms && panels > conflictPanels
		} else {
			j.packB = large && (panels > fewPanels || j.k*j.n*j.Size > wholeB)
		}
	}
	// Halves become float32 while they are packed.
	j.packA = j.packA || j.of[0].Half()
	j.packB = j.packB || j.of[1].Half()
	j.prefetchA = !j.packA && j.a.Col == 1 && j.m*j.k*j.Size >= prefetchFrom
	largeB := j.k*j.n*j.Size >= prefetchFrom
	j.prefetchB, j.prefetchPack = !j.packB && largeB, j.packB && largeB && (j.b.Row == 1 || j.b.Col == 1)
	j.taskM, j.taskN = min(j.m, maxTaskRows), min(j.n, blockBytesB/(numbers.KBlock*j.Size))
	if threads > 1 {
		minM, minN := 2*tile.MaxRows(j.ISA, 2), 4*j.Lanes
		// With four tasks a thread, threads end at about the same time; but each task packs anew.
		want := max(threads, min(4*threads, total*work/max(tile.ThreadHot, 1)))
		for total*tile.Ceil(j.m, j.taskM)*tile.Ceil(j.n, j.taskN) < want {
			if j.taskM > minM && (j.taskM >= j.taskN || j.taskN <= minN) {
				j.taskM = tile.Ceil(j.taskM, 2)
			} else if j.taskN > minN {
				j.taskN = tile.Ceil(j.taskN, 4*j.Lanes) * 2 * j.Lanes
			} else {
				break
			}
		}
	}
	j.rows = min(j.taskM, max(BlockBytesA/max(kk*j.Size, 1), 4*tile.MaxRows(j.ISA, 1)))
	if j.through {
		// A piece is a whole task, because it is finished only with its last terms.
		j.taskM = j.rows
		j.blockC = tile.Ceil(j.rows*j.taskN*j.Size, 64) * 64
	}
	j.tilesM, j.tilesN = tile.Ceil(j.m, j.taskM), tile.Ceil(j.n, j.taskN)
	if t, ok := j.epilogue.(tile.ConsumingEpilogue); ok && t.Consumes() && !j.flipped && !j.through && j.k <= numbers.KBlock && j.m*j.n*j.Size > epilogueBytes {
		// What only the epilogue reads stays in the L2 cache.
		j.consuming = t
		j.rows = min(j.rows, max(epilogueBytes/(j.taskN*j.Size), 4*tile.MaxRows(j.ISA, 1)))
		j.blockC = tile.Ceil(j.rows*j.c.Row*j.Size, 64) * 64
	}
	j.nv = j.VectorsOf(j.rows, j.taskN)
	if j.packA {
		mr := tile.MaxRows(j.ISA, j.nv)
		j.blockA = tile.Ceil(tile.Ceil(j.rows, mr)*(mr*j.Size*j.Padded(kk)+panelGap), processor.Line) * processor.Line
	}
	if j.packB {
		j.blockB = tile.Ceil(j.taskN, j.Lanes) * j.VB * j.Padded(kk)
	}
	if small := (j.m*j.k + j.k*j.n + j.m*j.n) * j.Size; total > 1 && j.tilesM*j.tilesN == 1 && !j.packA && !j.packB && j.consuming == nil && !j.through && j.k <= numbers.KBlock && 2*small <= pagesBytes {
		j.pages = pagesBytes / small
	}
	return threads
}

// Chunk computes tasks begin to end-1: the batch, then rows, then columns.
func (j *job) Chunk(worker, begin, end int) {
	if j.pages > 0 {
		j.pagesChunk(begin, end)
		return
	}
	for i := begin; i < end; i++ {
		per := j.tilesM * j.tilesN
		o := j.batch.at(i/per, j.size, &j.operands)
		m0 := i % per / j.tilesN * j.taskM
		n0 := i % j.tilesN * j.taskN
		if j.narrow != notNarrow {
			n1 := min(n0+j.taskN, j.n)
			j.narrowTask(worker, n0, n1, &o)
			j.finish(i/per, 0, j.m, n0, n1)
			continue
		}
		j.task(worker, i/per, m0, min(m0+j.taskM, j.m), n0, min(n0+j.taskN, j.n), &o)
	}
}

// pagesChunk computes products begin to end-1, each a task, several at a time: one call of a
// kernel computes the same panel of all of them. For products of few rows the overhead of a
// call would exceed the time for the sums.
func (j *job) pagesChunk(begin, end int) {
	t := &j.batch
	last := len(t.Count) - 1
	step := func(strides []int, size int) int {
		if strides == nil {
			return 0
		}
		return strides[last] * size
	}
	var f tile.Frame
	f.K, f.CStep = j.k, j.c.Row*j.Size
	f.APanel, f.BPanel, f.CPanel = step(t.A, j.size.a), step(t.B, j.size.b), step(t.C, j.size.c)
	for i := begin; i < end; {
		n := min(end-i, t.Count[last]-i%t.Count[last], j.pages)
		o := t.at(i, j.size, &j.operands)
		j.block(&f, 0, j.m, 0, j.n, 0, j.k, n, &o, nil, nil)
		switch {
		case j.epilogue == nil:
		case j.flipped:
			j.epilogue.Run(i*j.n, (i+n)*j.n, 0, j.m)
		default:
			j.epilogue.Run(i*j.m, (i+n)*j.m, 0, j.n)
		}
		i += n
	}
}

// finish runs the epilogue on a finished rectangle of C that lies in C.
func (j *job) finish(item, m0, m1, n0, n1 int) {
	switch {
	case j.epilogue == nil:
	case j.flipped:
		j.epilogue.Run(item*j.n+n0, item*j.n+n1, m0, m1)
	default:
		j.epilogue.Run(item*j.m+m0, item*j.m+m1, n0, n1)
	}
}

// task computes one rectangle of C and runs the epilogue on it.
func (j *job) task(worker, item, m0, m1, n0, n1 int, o *operands) {
	base := unsafe.Pointer(nil)
	if n := j.blocks(); n > 0 {
		base = unsafe.Add(j.buffer.Ptr(), worker*n)
	}
	aside := *o
	aside.c.Ptr, aside.aside = unsafe.Add(base, j.blockA+j.blockB), true
	if j.through {
		aside.c.Row, aside.c.Col = n1-n0, 1
		j.taskWith(base, unsafe.Add(base, j.blockA), m0, m1, n0, n1, &aside, func(i0, i1 int) {
			tile.CopyMat(j.Machine, i1-i0, n1-n0, o.c.Offset(i0*o.c.Row+n0*o.c.Col, j.Size), aside.c)
			j.finish(item, i0, i1, n0, n1)
		})
		return
	}
	if j.consuming != nil {
		if at := j.consuming.Beside(); at != nil {
			aside.beside = unsafe.Add(at, item*j.m*j.n*j.Size)
		}
		j.taskWith(base, unsafe.Add(base, j.blockA), m0, m1, n0, n1, &aside, func(i0, i1 int) {
			j.consuming.RunAt(aside.c.Ptr, j.n*j.Size, item*j.m+i0, item*j.m+i1, n0, n1)
		})
		return
	}
	j.taskWith(base, unsafe.Add(base, j.blockA), m0, m1, n0, n1, o, func(i0, i1 int) { j.finish(item, i0, i1, n0, n1) })
}

// taskWith computes a rectangle of C, with buffers to pack into. It calls done for each range of
// rows as soon as it is finished.
func (j *job) taskWith(base, bufB unsafe.Pointer, m0, m1, n0, n1 int, o *operands, done func(i0, i1 int)) {
	var f tile.Frame
	f.CStep = o.c.Row * j.Size
	for p0 := j.first; p0 < j.end || p0 == 0; p0 += numbers.KBlock {
		kk := min(numbers.KBlock, j.k-p0)
		f.K = kk
		f.Flags = tile.Bit(p0 > 0 || j.add, 0)
		if j.panels != nil {
			bufB = unsafe.Add(j.panels, j.panelAt(p0, n0))
		} else if j.packB {
			j.packColumns(bufB, o.b, p0, kk, n0, n1)
		}
		for i0 := m0; i0 < m1; i0 += j.rows {
			i1 := min(i0+j.rows, m1)
			j.block(&f, i0, i1, n0, n1, p0, kk, 0, o, base, bufB)
			if p0+kk == j.k {
				done(i0, i1)
			}
		}
	}
}

// packColumns packs the terms p0 to p0+kk-1 of columns n0 to n1-1 of B.
func (j *job) packColumns(to unsafe.Pointer, b tile.Mat, p0, kk, n0, n1 int) {
	width := j.nv * j.Lanes
	whole := (n1 - n0) / width
	term := j.Padded(kk) * j.Size // bytes of a column
	columns, from := b.T().Offset(p0*b.Row+n0*b.Col, j.size.b), j.From(j.of[1])
	from.PackPanels(tile.Panel{Ptr: to, Pitch: width * j.Size, Rows: width, K: kk}, width*term, columns, whole)
	if x := whole * width; n0+x < n1 {
		rest := tile.Panel{Ptr: unsafe.Add(to, x*term), Pitch: tile.Ceil(n1-n0-x, j.Lanes) * j.VB, Rows: n1 - n0 - x, K: kk}
		from.Pack(rest, columns.Offset(x*b.Col, j.size.b))
	}
}

// block adds the terms p0 to p0+kk-1 to rows i0 to i1-1. With pages 0 it does so for one product.
// Otherwise it does so for pages products whose strides f has, without packing.
func (j *job) block(f *tile.Frame, i0, i1, n0, n1, p0, kk, pages int, o *operands, bufA, bufB unsafe.Pointer) {
	c0, c1 := 0, 0 // the element of C at its address
	if o.aside {
		c0, c1 = i0, n0
	}
	panels := tile.Ceil(i1-i0, tile.MaxRows(j.ISA, j.nv))
	mr, wide := (i1-i0)/panels, (i1-i0)%panels
	pitch := (mr + min(wide, 1)) * j.Size // of packed A, in bytes
	kMajor := j.packA || o.a.Col != 1 && j.k > 1
	panelBytes := pitch*j.Padded(kk) + panelGap
	// The panels with a row more, then the others.
	parts := [2]struct{ first, panels, rows int }{{0, wide, mr + 1}, {wide, panels - wide, mr}}
	if j.packA {
		for _, part := range parts {
			from := o.a.Offset((i0+part.first*(mr+1))*o.a.Row+p0*o.a.Col, j.size.a)
			j.From(j.of[0]).PackPanels(tile.Panel{Ptr: unsafe.Add(bufA, part.first*panelBytes), Pitch: pitch, Rows: part.rows, K: kk}, panelBytes, from, part.panels)
		}
	}
	width := j.nv * j.Lanes
	var beside, next region
	if o.beside != nil && n1-n0 == j.n {
		beside = region{uintptr(o.beside) + uintptr(i0*j.n*j.Size), (i1 - i0) * j.n * j.Size}
	}
	for x := n0; x < n1; x += width {
		w := min(width, n1-x)
		v := tile.Ceil(w, j.Lanes)
		last := w - (v-1)*j.Lanes
		key := tile.Key{Nv: v, KMajor: kMajor, Masked: last < j.Lanes}
		if key.Masked {
			j.SetMask(&f.Mask[v-1], &f.Lanes[v-1], last)
		}
		if j.packB {
			f.B[0] = unsafe.Add(bufB, (x-n0)*j.Padded(kk)*j.Size)
			f.BStep = v * j.VB
			if j.prefetchKept {
				next = j.nextKept(x+width, n0, n1, p0, kk)
			}
		} else {
			f.B[0] = unsafe.Add(o.b.Ptr, (p0*o.b.Row+x)*j.Size)
			f.BStep = o.b.Row * j.Size
			if j.prefetchB {
				j.prefetchColumns(f, o, x+width, n0, n1, p0, kk, width)
			}
		}
		for _, part := range parts {
			if part.panels == 0 {
				continue
			}
			i := i0 + part.first*(mr+1)
			key.Mr = part.rows
			if j.packA {
				f.A = unsafe.Add(bufA, part.first*panelBytes)
				f.AStep, f.APanel = pitch, panelBytes
			} else {
				f.A = unsafe.Add(o.a.Ptr, (i*o.a.Row+p0*o.a.Col)*j.Size)
				f.AStep = o.a.Row * j.Size
				if kMajor {
					f.AStep = o.a.Col * j.Size
				}
			}
			f.C[0] = unsafe.Add(o.c.Ptr, ((i-c0)*o.c.Row+x-c1)*j.Size)
			if pages > 0 { // one panel of each product, then the next
				f.Panels = pages
				a, c := f.A, f.C[0]
				for q := range part.panels {
					f.A, f.C[0] = unsafe.Add(a, q*part.rows*o.a.Row*j.Size), unsafe.Add(c, q*part.rows*o.c.Row*j.Size)
					f.Tile(j.Machine, key)
				}
				continue
			}
			if !j.packA {
				f.APanel = part.rows * o.a.Row * j.Size
			}
			switch key.Prefetch = true; {
			case j.prefetchB:
			case j.add && part.panels > 1:
				j.prefetchSums(f, key.Mr)
			case next.bytes > 0:
				j.prefetchBeside(f, &next, kk, part.panels)
			case j.prefetchPack && i1-i0 == min(j.rows, j.taskM) && p0+kk < j.k:
				j.prefetchTerms(f, o, x, w, p0, kk)
			case j.prefetchA && x == n0:
				j.prefetchRows(f, kk)
			case beside.bytes > 0:
				j.prefetchBeside(f, &beside, kk, part.panels)
			default:
				key.Prefetch = false
			}
			f.Panels = part.panels
			f.Tile(j.Machine, key)
		}
	}
}

// prefetchRows makes the kernel prefetch the rows of the next panel of A, whose terms are side
// by side.
func (j *job) prefetchRows(f *tile.Frame, kk int) {
	f.PrefetchRun = tile.Ceil(kk*j.Size, tile.PrefetchBytes)
	f.PrefetchStep = f.AStep - f.PrefetchRun*tile.PrefetchBytes
	f.Prefetch, f.PrefetchPanel = uintptr(f.A)+uintptr(f.APanel), f.APanel
}

// prefetchSums makes the kernel prefetch the rows of C of the next panel, which has mr rows, to add to.
func (j *job) prefetchSums(f *tile.Frame, mr int) {
	f.PrefetchRun, f.PrefetchStep = 1, f.CStep-tile.PrefetchBytes
	f.Prefetch, f.PrefetchPanel = uintptr(f.C[0])+uintptr(mr*f.CStep), mr*f.CStep
}

// prefetchColumns makes the kernel prefetch columns x to x+width-1 of B. If there are none it
// prefetches the first columns of the next terms. The number of rows that a panel prefetches is limited
// by the time that its kk terms take.
func (j *job) prefetchColumns(f *tile.Frame, o *operands, x, n0, n1, p0, kk, width int) {
	if x >= n1 {
		x, p0 = n0, p0+kk
	}
	f.PrefetchRun = tile.Ceil(width*j.Size, tile.PrefetchBytes)
	f.PrefetchStep = f.BStep - f.PrefetchRun*tile.PrefetchBytes
	// The line in which they begin was loaded with the columns before them.
	f.Prefetch = uintptr(o.b.Ptr) + uintptr((p0*o.b.Row+x)*j.Size+processor.Line-1)
	f.PrefetchPanel = kk / tile.PrefetchTerms / f.PrefetchRun * f.BStep
}

// prefetchTerms makes the kernel prefetch the next terms of columns x to x+w-1 of B, which will be
// packed. The number of runs that a panel prefetches is limited by the time that its kk terms take.
func (j *job) prefetchTerms(f *tile.Frame, o *operands, x, w, p0, kk int) {
	p0 += kk
	run, step := min(kk, j.k-p0), o.b.Col // a column
	if o.b.Col == 1 {
		run, step = w, o.b.Row
	}
	f.PrefetchRun = tile.Ceil(run*j.size.b, tile.PrefetchBytes)
	f.PrefetchStep = step*j.size.b - f.PrefetchRun*tile.PrefetchBytes
	f.Prefetch = uintptr(o.b.Ptr) + uintptr((p0*o.b.Row+x*o.b.Col)*j.size.b)
	f.PrefetchPanel = kk / tile.PrefetchTerms / f.PrefetchRun * step * j.size.b
}

// A region is memory that is still to be prefetched.
type region struct {
	at    uintptr
	bytes int
}

// prefetchBeside makes the kernel prefetch as much of r as the panels have time for.
func (j *job) prefetchBeside(f *tile.Frame, r *region, kk, panels int) {
	f.PrefetchRun, f.PrefetchStep = r.bytes, 0 // one run
	f.Prefetch, f.PrefetchPanel = r.at, kk/tile.PrefetchTerms*tile.PrefetchBytes
	r.at += uintptr(panels * f.PrefetchPanel)
	r.bytes -= panels * f.PrefetchPanel
}
