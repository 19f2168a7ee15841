package gemm

import (
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/mem"
	"weft/internal/par"
)

// Sizes of what stays in a cache while it is used: a block of A in half the second
// level beside the strip of B it meets, and the columns of B packed together.
const (
	blockBytesA = 512 << 10
	maxTaskRows = 1024
	blockBytesB = 1 << 20
)

// A job is a batch of products under way: the par.Task of one call.
type job struct {
	machine
	kBlock   int
	batch    Batch
	m, n, k  int
	operands // C has unit column stride
	bias     Bias

	packA, packB   bool
	narrow         narrowKind
	taskM, taskN   int // rows and columns of a task
	tilesM, tilesN int
	rows, nv       int // rows of A in a block, vectors of a tile
	blockA, blockB int // bytes of a worker's buffers
	buffer         mem.Block
}

var jobs = sync.Pool{New: func() any { return new(job) }}

// run computes a batch of products that is not empty by machine code.
func (p *Product) run(total int) {
	total = p.fold(total)
	// A row times a matrix rather than a matrix times a column; and rows of C side
	// by side in memory.
	switch {
	case p.N == 1 && p.M > 1:
		p.transpose()
	case p.N == 1:
	case p.C.Col != 1 && (p.C.Row == 1 || p.M == 1):
		p.transpose()
	}
	if p.C.Col != 1 && p.N > 1 {
		p.runThrough(total)
		return
	}
	p.runJob(total)
}

// fold makes one product of those of the last batch dimensions, as long as they have
// the same B and bias and the rows of A and of C follow one another, and returns the
// new number of products.
func (p *Product) fold(total int) int {
	t := &p.Batch
	for i := len(t.Count) - 1; i >= 0; i-- {
		stride := func(s []int) int {
			if s == nil {
				return 0
			}
			return s[i]
		}
		if t.Count[i] != 1 && (stride(t.B) != 0 || stride(t.A) != p.M*p.A.Row || stride(t.C) != p.M*p.C.Row ||
			p.Bias.Ptr != nil && p.Bias.PerRow) {
			break
		}
		p.M *= t.Count[i]
		total /= t.Count[i]
		t.Count = t.Count[:i]
	}
	return total
}

func (p *Product) operands() operands { return operands{p.A, p.B, p.C} }

func (p *Product) runJob(total int) {
	// On the stack, unless workers share it.
	j := job{machine: newMachine(p.ISA, p.DType), kBlock: KBlock(p.DType), batch: p.Batch, m: p.M, n: p.N, k: p.K, operands: p.operands(), bias: p.Bias}
	threads := j.plan(total, p.Threads)
	if n := p.N; j.bias.Ptr != nil && j.bias.Step != 1 {
		if j.bias.PerRow {
			n = p.M
		}
		j.bias = j.bias.pack(j.machine, n)
	}
	tasks := total * j.tilesM * j.tilesN
	grain := 1
	if work := j.taskM * j.taskN * max(j.k, 1); work < min(taskWork, threadHot) {
		grain = taskWork / work
	}
	workers := par.Width(tasks, grain, threads)
	if bytes := (j.blockA + j.blockB) * workers; bytes > 0 {
		j.buffer = alloc(bytes)
		defer mem.Free(j.buffer)
	}
	if workers == 1 && tasks <= grain {
		j.Chunk(0, 0, tasks)
		return
	}
	shared := jobs.Get().(*job)
	*shared = j
	par.RunTask(tasks, grain, threads, shared)
	*shared = job{}
	jobs.Put(shared)
}

// taskWork is what one entry of par's counter is worth, in multiply-adds.
const taskWork = 256 << 10

// From so many multiply-adds on threads pay: some 10 µs if workers spin, for one that
// sleeps some 30 µs. Tests set them to 0.
var threadHot, threadCold = 1 << 20, 4 << 20

// threadsFor returns the threads to use for so many multiply-adds, at most limit.
func threadsFor(work, limit int) int {
	if limit == 1 || work < threadHot || work < threadCold && !par.Hot() {
		return 1
	}
	if limit <= 0 {
		return par.Threads()
	}
	return limit
}

// plan chooses what is packed and how the product is cut, and returns the threads
// to use. None of it has an influence on any bit of the result.
func (j *job) plan(total, threads int) int {
	work := j.m * j.n * max(j.k, 1)
	// Reading a byte of B takes as long as a product. Not where whole rows are read: a
	// training step has just written those, and the other processor would fetch them.
	if j.narrow = j.narrowPath(); j.narrow == acrossRows {
		work = max(work, j.n*j.k*j.size)
	}
	threads = threadsFor(total*work, threads)
	if j.narrow != notNarrow {
		j.planNarrow(total, threads)
		return threads
	}
	kk := min(j.k, j.kBlock)
	// Packing pays where a panel is used often, and where strides put its elements
	// into too few sets of the cache or make no kernel's pattern.
	rowsApart := j.a.Col == 1 || j.k == 1
	colsApart := j.a.Row == 1 || j.m == 1
	bytesA := j.m * kk * j.size
	switch {
	case !rowsApart && !colsApart:
		j.packA = true
	case j.n <= 4*j.lanes:
	case rowsApart:
		j.packA = bytesA > 64<<10 || conflict(j.a.Row*j.size) && j.m > 4
	default:
		j.packA = bytesA > 64<<10 || conflict(j.a.Col*j.size) && kk > 16
	}
	switch {
	case j.b.Col != 1 && j.n > 1:
		j.packB = true
	case j.m <= maxRows(j.isa, 2):
	default:
		// Few panels of rows read B from the second cache about as fast where it lies.
		panels := ceil(j.m, maxRows(j.isa, 2))
		large := kk*j.n*j.size > 128<<10
		if conflict(j.b.Row * j.size) {
			j.packB = large || kk > 16 && panels > 3
		} else {
			j.packB = large && (panels > 5 || j.k*j.n*j.size > 4<<20)
		}
	}
	j.taskM, j.taskN = min(j.m, maxTaskRows), min(j.n, blockBytesB/(j.kBlock*j.size))
	if threads > 1 {
		minM, minN := 2*maxRows(j.isa, 2), 4*j.lanes
		for total*ceil(j.m, j.taskM)*ceil(j.n, j.taskN) < 4*threads {
			if j.taskM > minM && (j.taskM >= j.taskN || j.taskN <= minN) {
				j.taskM = ceil(j.taskM, 2)
			} else if j.taskN > minN {
				j.taskN = ceil(j.taskN, 4*j.lanes) * 2 * j.lanes
			} else {
				break
			}
		}
	}
	j.tilesM, j.tilesN = ceil(j.m, j.taskM), ceil(j.n, j.taskN)
	j.rows = min(j.taskM, max(blockBytesA/max(kk*j.size, 1), 4*maxRows(j.isa, 1)))
	j.nv = j.vectorsOf(j.rows, j.taskN)
	if j.packA {
		mr := maxRows(j.isa, j.nv)
		j.blockA = ceil(j.rows, mr) * ceil(mr, j.lanes) * j.vb * j.padded(kk)
	}
	if j.packB {
		j.blockB = ceil(j.taskN, j.lanes) * j.vb * j.padded(kk)
	}
	return threads
}

func ceil(a, b int) int { return (a + b - 1) / b }

// padded returns the terms that a panel of kk has room for.
func (m machine) padded(kk int) int { return ceil(kk, m.lanes) * m.lanes }

// conflict reports a step in bytes at which lines fall into few sets of the first
// cache: a multiple of 1 KB or nearly so.
func conflict(step int) bool {
	r := (step%1024 + 1024) % 1024
	return r < 64 || r > 1024-64
}

// Chunk computes tasks begin to end-1: the batch, then rows, then columns.
func (j *job) Chunk(worker, begin, end int) {
	for i := begin; i < end; i++ {
		per := j.tilesM * j.tilesN
		o := j.batch.at(i/per, j.size, &j.operands)
		m0 := i % per / j.tilesN * j.taskM
		n0 := i % j.tilesN * j.taskN
		if j.narrow != notNarrow {
			j.narrowTask(worker, n0, min(n0+j.taskN, j.n), &o)
			continue
		}
		j.task(worker, m0, min(m0+j.taskM, j.m), n0, min(n0+j.taskN, j.n), &o)
	}
}

// vectorsOf chooses the width of tiles, in vectors, for m rows and n columns: the one
// with the least estimated cycles for a term.
func (m machine) vectorsOf(rows, n int) int {
	vectors := ceil(n, m.lanes)
	best, bestCost := 1, 0
	for nv := 1; nv <= maxWidth(m.isa) && nv <= vectors; nv++ {
		panels := ceil(rows, maxRows(m.isa, nv))
		mr := ceil(rows, panels)
		strips, rest := vectors/nv, vectors%nv
		cost := panels * strips * tileCost(mr, nv)
		if rest > 0 {
			cost += panels * tileCost(mr, rest)
		}
		// A single strip, with which A is gone through once, is worth a fiftieth.
		if nv == 1 || cost <= bestCost || nv == vectors && cost <= bestCost+bestCost/50 {
			best, bestCost = nv, cost
		}
	}
	return best
}

// tileCost estimates the half cycles of one term of a tile: two multiply-adds start
// in a cycle and each takes four; two loads start in a cycle.
func tileCost(mr, nv int) int {
	loads := mr + nv
	return max(mr*nv, 8, loads) + 1
}

// task computes one rectangle of C.
func (j *job) task(worker, m0, m1, n0, n1 int, o *operands) {
	base := unsafe.Pointer(nil)
	if j.blockA+j.blockB > 0 {
		base = unsafe.Add(j.buffer.Ptr(), worker*(j.blockA+j.blockB))
	}
	j.taskWith(base, unsafe.Add(base, j.blockA), m0, m1, n0, n1, o)
}

// taskWith is task with the buffers to pack into.
func (j *job) taskWith(base, bufB unsafe.Pointer, m0, m1, n0, n1 int, o *operands) {
	width := j.nv * j.lanes
	var f tileFrame
	f.cStep = o.c.Row * j.size
	for p0 := 0; p0 < j.k || p0 == 0; p0 += j.kBlock {
		kk := min(j.kBlock, j.k-p0)
		f.k = kk
		f.flags = j.bias.flags(p0 == 0, p0+kk == j.k)
		if j.packB {
			whole := (n1 - n0) / width
			src := unsafe.Add(o.b.Ptr, (p0*o.b.Row+n0*o.b.Col)*j.size)
			j.packPanels(bufB, width*j.size, width*j.padded(kk)*j.size, src, o.b.Col, o.b.Row, width, kk, whole)
			if x := n0 + whole*width; x < n1 {
				dst := unsafe.Add(bufB, (x-n0)*j.padded(kk)*j.size)
				j.pack(dst, ceil(n1-x, j.lanes)*j.vb, unsafe.Add(o.b.Ptr, (p0*o.b.Row+x*o.b.Col)*j.size), o.b.Col, o.b.Row, n1-x, kk)
			}
		}
		for i0 := m0; i0 < m1; i0 += j.rows {
			j.block(&f, i0, min(i0+j.rows, m1), n0, n1, p0, kk, o, base, bufB)
		}
	}
}

// block computes what the terms p0 to p0+kk-1 add to rows i0 to i1-1.
func (j *job) block(f *tileFrame, i0, i1, n0, n1, p0, kk int, o *operands, bufA, bufB unsafe.Pointer) {
	panels := ceil(i1-i0, maxRows(j.isa, j.nv))
	mr, wide := (i1-i0)/panels, (i1-i0)%panels
	pitch := ceil(mr+min(wide, 1), j.lanes) * j.vb // of packed A, in bytes
	kMajor := j.packA || o.a.Col != 1 && j.k > 1
	panelBytes := pitch * j.padded(kk)
	if j.packA {
		for q, i := 0, i0; q < panels; q++ {
			r := mr
			if q < wide {
				r++
			}
			j.pack(unsafe.Add(bufA, q*panelBytes), pitch, unsafe.Add(o.a.Ptr, (i*o.a.Row+p0*o.a.Col)*j.size), o.a.Row, o.a.Col, r, kk)
			i += r
		}
	}
	width := j.nv * j.lanes
	for x := n0; x < n1; x += width {
		w := min(width, n1-x)
		v := ceil(w, j.lanes)
		last := w - (v-1)*j.lanes
		key := tileKey{nv: v, kMajor: kMajor, masked: last < j.lanes}
		if key.masked {
			j.setMask(&f.mask[v-1], &f.lanes[v-1], last)
		}
		if j.packB {
			f.b[0] = unsafe.Add(bufB, (x-n0)*j.padded(kk)*j.size)
			f.bStep = v * j.vb
		} else {
			f.b[0] = unsafe.Add(o.b.Ptr, (p0*o.b.Row+x)*j.size)
			f.bStep = o.b.Row * j.size
		}
		// The panels with a row more, then the others.
		for _, part := range [2]struct{ first, panels, rows int }{{0, wide, mr + 1}, {wide, panels - wide, mr}} {
			if part.panels == 0 {
				continue
			}
			i := i0 + part.first*(mr+1)
			key.mr = part.rows
			if j.packA {
				f.a = unsafe.Add(bufA, part.first*panelBytes)
				f.aStep, f.aPanel = pitch, panelBytes
			} else {
				f.a = unsafe.Add(o.a.Ptr, (i*o.a.Row+p0*o.a.Col)*j.size)
				f.aPanel = part.rows * o.a.Row * j.size
				f.aStep = o.a.Row * j.size
				if kMajor {
					f.aStep = o.a.Col * j.size
				}
			}
			f.c[0] = unsafe.Add(o.c.Ptr, (i*o.c.Row+x)*j.size)
			if f.flags&flagBiasRow != 0 {
				f.bias = unsafe.Add(j.bias.Ptr, i*j.size)
			} else if f.flags&flagBiasCol != 0 {
				f.bias = unsafe.Add(j.bias.Ptr, x*j.size)
			}
			f.panels = part.panels
			f.tile(j.machine, key)
		}
	}
}

// runThrough computes a product whose C no kernel stores to, by way of contiguous
// memory.
func (p *Product) runThrough(total int) {
	mach := newMachine(p.ISA, p.DType)
	buffer := alloc(p.M * p.N * mach.size)
	defer mem.Free(buffer)
	tmp := Mat{buffer.Ptr(), p.N, 1}
	first := p.operands()
	for i := range total {
		o := p.Batch.at(i, mach.size, &first)
		one := *p
		one.A, one.B, one.C, one.Batch = o.a, o.b, tmp, Batch{}
		one.runJob(1)
		copyMat(mach, p.M, p.N, o.c, tmp)
	}
}

// copyMat copies an m x n matrix.
func copyMat(mach machine, m, n int, dst, src Mat) {
	for i := range m {
		d, s := dst.offset(i*dst.Row, mach.size), src.offset(i*src.Row, mach.size)
		if mach.d == array.Float32 {
			gather[float32](d.Ptr, dst.Col*4, s.Ptr, 0, src.Col, 1, n)
		} else {
			gather[float64](d.Ptr, dst.Col*8, s.Ptr, 0, src.Col, 1, n)
		}
	}
}
