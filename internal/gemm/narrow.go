package gemm

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
)

// A narrowKind is a way to compute a few rows of C, where B is read once and its
// bandwidth is what counts.
type narrowKind uint8

const (
	notNarrow  narrowKind = iota
	alongRows             // B's rows lie side by side: read whole rows, sums in the first cache
	acrossRows            // B's columns do: transpose them in registers
)

// narrowBytes is the size of B from which on reading whole rows pays.
const narrowBytes = 1 << 20

// narrowPath returns the way to take.
func (j *job) narrowPath() narrowKind {
	switch {
	case j.k < 2:
	case j.b.Col == 1:
		if j.m <= maxRowsNarrow && j.k*j.n*j.size > narrowBytes && j.n >= 4*j.lanes {
			return alongRows
		}
	case j.b.Row == 1 && j.m <= maxRowsAcross(j.isa) && j.n >= j.lanes:
		return acrossRows
	}
	return notNarrow
}

// planNarrow is plan for the narrow ways.
func (j *job) planNarrow(total, threads int) {
	j.taskM, j.tilesM = j.m, 1
	j.taskN = sumBytes(j.m) / j.size
	if threads > 1 {
		// Two for each, as short runs of B cost more than one slow thread.
		for total*ceil(j.n, j.taskN) < 2*threads && j.taskN > 8*j.lanes {
			j.taskN /= 2
		}
	}
	j.tilesN = ceil(j.n, j.taskN)
	// A with its rows side by side, if it is not so already; then the sums, or the
	// columns that do not fill a vector.
	if j.a.Col != 1 {
		j.blockA = (j.m*j.k*j.size + 63) &^ 63
	}
	if j.narrow == alongRows {
		j.blockB = j.m * sumPitch(j.m)
	} else {
		j.nv, j.rows, j.packB = 1, j.m, true
		j.blockB = j.vb * j.padded(min(j.k, j.kBlock))
	}
}

// narrowTask computes columns n0 to n1-1.
func (j *job) narrowTask(worker, n0, n1 int, o *operands) {
	var buf unsafe.Pointer
	if j.blockA+j.blockB > 0 {
		buf = unsafe.Add(j.buffer.Ptr(), worker*(j.blockA+j.blockB))
	}
	if j.blockA > 0 {
		packed := Mat{buf, j.k, 1}
		copyMat(j.machine, j.m, j.k, packed, o.a)
		o.a = packed
	}
	if j.narrow == alongRows {
		j.along(unsafe.Add(buf, j.blockA), n0, n1, o)
		return
	}
	whole := n0 + (n1-n0)/j.lanes*j.lanes
	if j.dotsPay(o.b.Col) {
		whole = j.dots(n0, n1, o)
	} else {
		j.across(n0, whole, o)
	}
	if whole < n1 {
		j.taskWith(nil, unsafe.Add(buf, j.blockA), 0, j.m, whole, n1, o)
	}
}

// dotsEntry is what one entry reads: some 50 µs.
const dotsEntry = 1 << 20

// cachedBytes is the size of B up to which it is taken to be in the caches. Tests set
// it to 0.
var cachedBytes = 16 << 20

// dotsPay reports whether dots is faster than across for columns of B so many elements
// apart: they must be almost all of B's memory, which is read ahead in its order.
func (j *job) dotsPay(step int) bool {
	return j.m == 1 && step >= j.k && step <= j.k+j.k/8 && (j.k >= 2*kBlock || !conflict(step*j.size))
}

// dots computes a single row from column n0 on, all whole vectors of 256 bits before n1,
// and returns the column that follows. In the caches it starts with the last of them: a
// training step that has read the same matrix for the gradient has left its end there, and
// the next step's gradient then finds the beginning.
func (j *job) dots(n0, n1 int, o *operands) int {
	nv, asks, direction := dotsCached, j.d == array.Float32, -1
	if j.k*j.n*j.size > cachedBytes {
		nv, asks, direction = dotsMemory, true, 1
	}
	paired := conflict(o.b.Col * j.size)
	if paired {
		nv, asks = dotsPaired, true
	}
	narrow := j.machine.narrow()
	column := o.b.Col * j.size
	f := dotsFrame{bStep: column}
	vectors := (n1 - n0) / narrow.lanes
	n1 = n0 + vectors*narrow.lanes
	for done := 0; vectors > 0; {
		if nv > vectors || nv == dotsCached && vectors == nv+1 {
			nv = min(2, vectors) // two and two are faster than three and one
		}
		lanes := nv * narrow.lanes
		// Whole pairs of blocks of all columns, or all of some groups.
		terms := min(j.k, max(dotsEntry/(lanes*j.size*2*kBlock), 1)*2*kBlock)
		groups := max(1, min(vectors/nv, dotsEntry/(lanes*j.size*j.k)))
		if nv == dotsCached && vectors-groups*nv == 1 && groups > 1 {
			groups--
		}
		x := n0 + done
		if direction < 0 {
			x = n1 - done - lanes
		}
		f.bGroup, f.cGroup = direction*lanes*column, direction*lanes*j.size
		for p0 := 0; p0 < j.k; p0 += terms {
			f.a = unsafe.Add(o.a.Ptr, p0*j.size)
			f.b = unsafe.Add(o.b.Ptr, p0*j.size+x*column)
			f.c = unsafe.Add(o.c.Ptr, x*j.size)
			f.k = min(terms, j.k-p0)
			f.groups = groups
			f.ahead = f.bGroup + p0*(lanes-1)*j.size
			f.add = bit(p0 > 0, 0)
			j.call(dotsRoutine, 0, nv, bit(paired, 0)|bit(asks, 1), unsafe.Pointer(&f))
		}
		done += groups * lanes
		vectors -= groups * nv
	}
	if flags := j.bias.flags(true, true) &^ flagAdd; flags != 0 {
		f := rowsFrame{flags: flags, bias: j.bias.Ptr, vectors: (n1 - n0) / j.lanes}
		f.c = unsafe.Add(o.c.Ptr, n0*j.size)
		f.sums = f.c
		if flags&flagBiasCol != 0 {
			f.bias = unsafe.Add(f.bias, n0*j.size)
		}
		if tail := (n1 - n0) % j.lanes; tail > 0 {
			f.mask = 1
			j.setMask(&f.mask, &f.lanes, tail)
		}
		j.call(finishRoutine, 0, 0, 0, unsafe.Pointer(&f))
	}
	return n1
}

// across computes columns n0 to n1-1, whole vectors, with all blocks of k for some
// columns before the next, so that B is read in long runs.
func (j *job) across(n0, n1 int, o *operands) {
	f := tileFrame{aStep: o.a.Row * j.size, bStep: o.b.Col * j.size, cStep: o.c.Row * j.size}
	var code *jit.Code
	for x, nv := n0, 0; x < n1; {
		if n := min(j.acrossWidth(j.m), (n1-x)/j.lanes); n != nv {
			nv = n
			code = j.tile(tileKey{mr: j.m, nv: nv, across: true})
		}
		f.c[0] = unsafe.Add(o.c.Ptr, x*j.size)
		for p0 := 0; p0 < j.k; p0 += j.kBlock {
			f.k = min(j.kBlock, j.k-p0)
			f.a = unsafe.Add(o.a.Ptr, p0*j.size)
			f.b[0] = unsafe.Add(o.b.Ptr, (p0+x*o.b.Col)*j.size)
			f.flags = j.bias.flags(p0 == 0, p0+f.k == j.k)
			if f.flags&flagBiasRow != 0 {
				f.bias = j.bias.Ptr
			} else if f.flags&flagBiasCol != 0 {
				f.bias = unsafe.Add(j.bias.Ptr, x*j.size)
			}
			f.panels = 1
			jit.Call(code, 0, unsafe.Pointer(&f))
		}
		x += nv * j.lanes
	}
}

// along computes columns n0 to n1-1, at most sumBytes.
func (j *job) along(sums unsafe.Pointer, n0, n1 int, o *operands) {
	f := rowsFrame{aStep: o.a.Row * j.size, bStep: o.b.Row * j.size, vectors: (n1 - n0) / j.lanes}
	if tail := (n1 - n0) % j.lanes; tail > 0 {
		f.mask = 1
		j.setMask(&f.mask, &f.lanes, tail)
	}
	for p0 := 0; p0 < j.k; p0 += j.kBlock {
		p1 := min(p0+j.kBlock, j.k)
		f.sums = sums
		for p := p0; p < p1; {
			terms, many := 1, p1-p >= manyTerms
			if many {
				terms = manyTerms
			}
			f.a = unsafe.Add(o.a.Ptr, p*j.size)
			f.b = unsafe.Add(o.b.Ptr, (p*o.b.Row+n0)*j.size)
			j.call(rowsRoutine, j.m, 0, bit(p == p0, 0)|bit(many, 1), unsafe.Pointer(&f))
			p += terms
		}
		f.flags = j.bias.flags(p0 == 0, p1 == j.k)
		for i := range j.m {
			f.sums = unsafe.Add(sums, i*sumPitch(j.m))
			f.c = unsafe.Add(o.c.Ptr, (i*o.c.Row+n0)*j.size)
			if f.flags&flagBiasRow != 0 {
				f.bias = unsafe.Add(j.bias.Ptr, i*j.size)
			} else if f.flags&flagBiasCol != 0 {
				f.bias = unsafe.Add(j.bias.Ptr, n0*j.size)
			}
			j.call(finishRoutine, 0, 0, 0, unsafe.Pointer(&f))
		}
	}
}
