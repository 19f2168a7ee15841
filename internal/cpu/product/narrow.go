package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/numbers"
	"weft/internal/processor"
)

// A narrowKind is an algorithm for products with few rows. They read B once, so memory bandwidth
// limits them.
type narrowKind uint8

const (
	notNarrow  narrowKind = iota
	alongRows             // B's rows lie side by side: read whole rows, sums in the L1 cache
	acrossRows            // B's columns do: transpose them in registers
)

// narrowBytes is the size of B from which reading whole rows pays.
const narrowBytes = 1 << 20

// packTakes is how much longer it takes to pack B for a few rows, in general kernels, than to
// transpose it in registers.
const packTakes = 8

// narrowPath returns the algorithm to use.
func (j *job) narrowPath() narrowKind {
	switch {
	case j.k < 2 || j.through || j.add:
	case j.b.Col == 1:
		if j.m <= maxRowsNarrow && j.k*j.n*j.Size > narrowBytes && j.n >= 4*j.Lanes {
			return alongRows
		}
	case j.of[1].Half():
		// Several rows of halves take longer transposed in registers than packed.
		if j.b.Row == 1 && j.dotsPay(j.b.Col) && j.n >= j.Lanes {
			return acrossRows
		}
	case j.b.Row == 1 && j.m <= tile.MaxRowsAcross(j.ISA) && j.n >= j.Lanes && (j.dotsPay(j.b.Col) || j.AcrossDue(j.m, packTakes*j.m*j.n*j.k/j.Lanes)):
		return acrossRows
	}
	return notNarrow
}

// planNarrow is plan for products with few rows.
func (j *job) planNarrow(total, threads int) {
	j.taskM, j.tilesM = j.m, 1
	j.taskN = sumBytes(j.m) / j.Size
	if threads > 1 {
		// Two for each, as short runs of B cost more than one slow thread.
		for total*tile.Ceil(j.n, j.taskN) < 2*threads && j.taskN > 8*j.Lanes {
			j.taskN /= 2
		}
	}
	j.tilesN = tile.Ceil(j.n, j.taskN)
	// A with its rows side by side, if it is not so already; then the sums, or the
	// columns that do not fill a vector.
	if j.a.Col != 1 || j.of[0].Half() {
		j.blockA = (j.m*j.k*j.Size + 63) &^ 63
	}
	if j.narrow == alongRows {
		j.blockB = (j.m-1)*sumPitch + sumBytes(j.m) + 64
	}
	if j.narrow != alongRows || j.of[1].Half() {
		j.nv, j.rows, j.packB = 1, j.m, true
		j.blockB = max(j.blockB, j.VB*j.Padded(min(j.k, numbers.KBlock)))
	}
}

// narrowTask computes columns n0 to n1-1.
func (j *job) narrowTask(worker, n0, n1 int, o *operands) {
	var buf unsafe.Pointer
	if j.blockA+j.blockB > 0 {
		buf = unsafe.Add(j.buffer.Ptr(), worker*(j.blockA+j.blockB))
	}
	if j.blockA > 0 {
		packed := tile.Mat{Ptr: buf, Row: j.k, Col: 1}
		tile.CopyMat(j.From(j.of[0]), j.m, j.k, packed, o.a)
		o.a = packed
	}
	whole := n0 + (n1-n0)/j.Lanes*j.Lanes
	switch {
	case j.narrow == alongRows:
		if !j.of[1].Half() {
			whole = n1
		}
		j.along(unsafe.Add(buf, j.blockA), n0, whole, o)
	case j.dotsPay(o.b.Col):
		whole = j.dots(n0, n1, o)
	default:
		j.across(n0, whole, o)
	}
	if whole < n1 {
		j.taskWith(nil, unsafe.Add(buf, j.blockA), 0, j.m, whole, n1, o, func(int, int) {})
	}
}

// dotsEntry is how many bytes one call of the kernel reads: some 50 µs.
const dotsEntry = 1 << 20

// cachedBytes is the size up to which B is assumed to be in the caches. Tests set it to 0.
var cachedBytes = 16 << 20

// dotsPay reports whether dots is faster than across for columns of B that are step elements
// apart. The columns must fill almost all of B's memory, because the hardware prefetcher reads
// memory in order.
func (j *job) dotsPay(step int) bool {
	return j.m == 1 && step >= j.k && step <= j.k+j.k/8 && (j.k >= 2*numbers.KBlock || !tile.Conflict(step*j.size.b))
}

// dots computes a single row from column n0 on, all whole vectors of 256 bits before n1,
// and returns the column that follows. It reads a cached matrix from the last column to the
// first. A training step that has read the same matrix for the gradient left the end of it in
// the L2 cache, and the next step's gradient then finds the beginning there.
func (j *job) dots(n0, n1 int, o *operands) int {
	size := j.size.b
	nv, prefetch, direction := dotsCached, processor.Host.FarLastLevel && j.D == array.Float32, -1
	if j.k*j.n*size > cachedBytes {
		nv, prefetch, direction = dotsMemory, true, 1
	}
	paired := tile.Conflict(o.b.Col * size)
	if paired {
		nv, prefetch = dotsPaired, true
	}
	narrow := j.Machine.Narrow()
	column := o.b.Col * size
	code := codegen.Kernel(dotsKernels, dotsKey{j.ISA, j.D, j.of[1], nv, paired, prefetch})
	f := dotsFrame{bStep: column}
	f.order.Set()
	vectors := (n1 - n0) / narrow.Lanes
	n1 = n0 + vectors*narrow.Lanes
	for done := 0; vectors > 0; {
		if nv > vectors || nv == dotsCached && vectors == nv+1 {
			nv = min(2, vectors) // two and two are faster than three and one
		}
		lanes := nv * narrow.Lanes
		// Whole pairs of blocks of all columns, or all of some groups.
		terms := min(j.k, max(dotsEntry/(lanes*size*2*numbers.KBlock), 1)*2*numbers.KBlock)
		groups := max(1, min(vectors/nv, dotsEntry/(lanes*size*j.k)))
		if nv == dotsCached && vectors-groups*nv == 1 && groups > 1 {
			groups--
		}
		x := n0 + done
		if direction < 0 {
			x = n1 - done - lanes
		}
		f.bGroup, f.cGroup = direction*lanes*column, direction*lanes*j.Size
		for p0 := 0; p0 < j.k; p0 += terms {
			f.a = unsafe.Add(o.a.Ptr, p0*j.Size)
			f.b = unsafe.Add(o.b.Ptr, p0*size+x*column)
			f.c = unsafe.Add(o.c.Ptr, x*j.Size)
			f.k = min(terms, j.k-p0)
			f.groups, f.nv = groups, nv
			f.prefetch = f.bGroup + p0*(lanes-1)*size
			f.add = tile.Bit(p0 > 0, 0)
			jit.Call(code, 0, unsafe.Pointer(&f))
		}
		done += groups * lanes
		vectors -= groups * nv
	}
	return n1
}

// across computes columns n0 to n1-1, whole vectors, with all blocks of k for some
// columns before the next, so that B is read in long runs.
func (j *job) across(n0, n1 int, o *operands) {
	f := tile.Frame{AStep: o.a.Row * j.Size, BStep: o.b.Col * j.Size, CStep: o.c.Row * j.Size}
	for x := n0; x < n1; {
		nv := min(j.AcrossWidth(j.m), (n1-x)/j.Lanes)
		f.C[0] = unsafe.Add(o.c.Ptr, x*j.Size)
		for p0 := 0; p0 < j.k; p0 += numbers.KBlock {
			f.K = min(numbers.KBlock, j.k-p0)
			f.A = unsafe.Add(o.a.Ptr, p0*j.Size)
			f.B[0] = unsafe.Add(o.b.Ptr, (p0+x*o.b.Col)*j.Size)
			f.Flags = tile.Bit(p0 > 0, 0)
			f.Panels = 1
			f.Tile(j.Machine, tile.Key{Mr: j.m, Nv: nv, Across: true})
		}
		x += nv * j.Lanes
	}
}

// along computes columns n0 to n1-1, at most sumBytes, and whole vectors if B has halves.
func (j *job) along(sums unsafe.Pointer, n0, n1 int, o *operands) {
	f := tile.RowsFrame{AStep: o.a.Row * j.Size, BStep: o.b.Row * j.size.b, Vectors: (n1 - n0) / j.Lanes, Rows: j.m}
	if tail := (n1 - n0) % j.Lanes; tail > 0 {
		f.Mask = 1
		j.SetMask(&f.Mask, &f.Lanes, tail)
	}
	// What the caches hold comes faster unasked.
	prefetch := j.k*j.n*j.size.b > cachedBytes
	// To look a kernel up takes as long as some vectors.
	var codes [2][manyTerms + 1]*jit.Code // by whether it starts the sums, and terms
	for p0 := 0; p0 < j.k; p0 += numbers.KBlock {
		p1 := min(p0+numbers.KBlock, j.k)
		f.Sums = sums
		for p := p0; p < p1; {
			terms := 1
			if p1-p >= manyTerms {
				terms = manyTerms
			}
			f.A = unsafe.Add(o.a.Ptr, p*j.Size)
			f.B = unsafe.Add(o.b.Ptr, (p*o.b.Row+n0)*j.size.b)
			code := &codes[tile.Bit(p == p0, 0)][terms]
			if *code == nil {
				*code = codegen.Kernel(rowsKernels, rowsKey{j.ISA, j.D, j.of[1], j.m > 1, terms, p == p0, prefetch && terms == manyTerms})
			}
			jit.Call(*code, 0, unsafe.Pointer(&f))
			p += terms
		}
		f.Flags = tile.Bit(p0 > 0, 0)
		for i := range j.m {
			f.Sums = unsafe.Add(sums, i*sumPitch)
			f.C = unsafe.Add(o.c.Ptr, (i*o.c.Row+n0)*j.Size)
			f.Finish(j.Machine)
		}
	}
}
