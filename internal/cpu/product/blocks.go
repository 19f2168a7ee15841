package product

import (
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/numbers"
	"weft/internal/par"
	"weft/internal/x86/asm"
)

// Matrix products with few results and many terms, such as the dot product of two vectors. A result
// is one dependent chain of multiply-adds per block of terms, but blocks are independent. So each
// lane of a vector computes another block. Both operands are transposed in L1, a part of a group of
// blocks at a time, and threads share the groups. The sums of blocks are added in their order.

const (
	blockLeast  = 8        // blocks: with fewer, what is around them takes longer
	blockPacked = 16 << 10 // bytes that are transposed at a time
)

// byBlocks reports whether the product is computed with blocks in the lanes. It requires layouts
// that packing can transpose in vectors.
func (p *Product) byBlocks() bool {
	// With more rows and columns than these, transposing them takes longer than waiting.
	most := 6
	if p.DType == array.Float64 {
		most = p.ISA.VectorBytes() / 16
	}
	if p.Add || p.M+p.N > most || p.K < blockLeast*numbers.KBlock || !lined(p.A, p.M) || !lined(p.B.T(), p.N) {
		return false
	}
	// Until the kernel pays, tiles compute the product: a chain of sums waits for each product as
	// long as a hundred take in vectors.
	const waits = 100
	return lateBlocks.Of(blockKey{p.ISA, p.DType, p.M, p.N}).Due(waits * p.K)
}

// lateBlocks holds an entry for each number of rows and columns.
var lateBlocks = codegen.NewLates[blockKey]()

// lined reports whether the terms of a row are contiguous, or the rows of a term are contiguous and
// the terms follow one another.
func lined(a tile.Mat, rows int) bool { return a.Col == 1 || a.Row == 1 && a.Col == rows }

// A blockJob is one product by blocks, a par.Task over groups of blocks.
type blockJob struct {
	tile.Machine
	m, n, k    int
	of         [2]array.DType
	operands   operands
	blocks     int // whole ones
	terms      int // of a part
	code       *jit.Code
	workers    mem.Block // packed parts
	sums       mem.Block // of groups: results, lanes
	groupBytes int
}

func (p *Product) runBlocks(total int) {
	for i := range total {
		o := p.Batch.at(i, p.sizes(), &operands{a: p.A, b: p.B, c: p.C})
		if p.DType == array.Float32 {
			runBlocks[float32](p, &o)
		} else {
			runBlocks[float64](p, &o)
		}
		switch {
		case p.Epilogue == nil:
		case p.transposed:
			p.Epilogue.Run(i*p.N, (i+1)*p.N, 0, p.M)
		default:
			p.Epilogue.Run(i*p.M, (i+1)*p.M, 0, p.N)
		}
	}
}

func runBlocks[E tile.Element](p *Product, o *operands) {
	j := &blockJob{Machine: tile.New(p.ISA, p.DType), m: p.M, n: p.N, k: p.K, of: p.Of, operands: *o, blocks: p.K / numbers.KBlock}
	j.code = codegen.Kernel(blockKernels, blockKey{p.ISA, p.DType, p.M, p.N})
	for j.terms = numbers.KBlock; j.terms > j.Lanes && j.terms*(j.m+j.n)*j.VB > blockPacked; j.terms /= 2 {
	}
	groups := tile.Ceil(j.blocks, j.Lanes)
	j.groupBytes = j.m * j.n * j.VB
	j.sums = tile.Alloc(groups * j.groupBytes)
	defer mem.Free(j.sums)
	// The work of a term is transposing its elements.
	threads := tile.ThreadsFor(8*p.K*(p.M+p.N), p.Threads)
	grain := max(1, groups/(4*max(threads, 1)))
	j.workers = tile.Alloc(j.packedBytes() * par.Width(groups, grain, threads))
	defer mem.Free(j.workers)
	par.RunTask(groups, grain, threads, j)

	sums := unsafe.Slice((*E)(j.sums.Ptr()), groups*j.m*j.n*j.Lanes)
	lastBlock := make([]E, j.m*j.n)
	if rest := p.K - j.blocks*numbers.KBlock; rest > 0 {
		last, at := *p, j.blocks*numbers.KBlock
		last.K, last.Batch, last.Epilogue, last.Threads = rest, Batch{}, nil, 1
		last.A, last.B = o.a.Offset(at*o.a.Col, p.Of[0].Size()), o.b.Offset(at*o.b.Row, p.Of[1].Size())
		last.C = tile.Mat{Ptr: unsafe.Pointer(&lastBlock[0]), Row: j.n, Col: 1}
		last.run(1)
	}
	for i := range j.m * j.n {
		at := func(block int) E { return sums[(block/j.Lanes*j.m*j.n+i)*j.Lanes+block%j.Lanes] }
		sum := at(0)
		for b := 1; b < j.blocks; b++ {
			sum += at(b)
		}
		if p.K > j.blocks*numbers.KBlock {
			sum += lastBlock[i]
		}
		*(*E)(unsafe.Add(o.c.Ptr, (i/j.n*o.c.Row+i%j.n*o.c.Col)*j.Size)) = sum
	}
}

// packedBytes returns the size of a worker's buffer for transposed operands. Packing writes whole
// vectors, up to one behind the last term.
func (j *blockJob) packedBytes() int { return (j.terms*(j.m+j.n) + j.Lanes) * j.VB }

// Chunk computes the sums of groups begin to end-1.
func (j *blockJob) Chunk(worker, begin, end int) {
	a := unsafe.Add(j.workers.Ptr(), worker*j.packedBytes())
	b := unsafe.Add(a, j.terms*j.m*j.VB)
	for g := begin; g < end; g++ {
		lanes := min(j.Lanes, j.blocks-g*j.Lanes)
		f := blockFrame{a: a, b: b, sums: unsafe.Add(j.sums.Ptr(), g*j.groupBytes)}
		for t := 0; t < numbers.KBlock; t += j.terms {
			// B behind A: its last vector may be written over the next term's.
			first := g*j.Lanes*numbers.KBlock + t
			j.pack(a, 0, j.operands.a, j.m, first, lanes)
			j.pack(b, 1, j.operands.b.T(), j.n, first, lanes)
			f.k, f.add = j.terms, tile.Bit(t > 0, 0)
			jit.Call(j.code, 0, unsafe.Pointer(&f))
		}
	}
}

// pack transposes terms of rows of some blocks, from term first on: vectors of blocks, rows of a
// term one after the other.
func (j *blockJob) pack(to unsafe.Pointer, of int, from tile.Mat, rows, first, lanes int) {
	m, size := j.From(j.of[of]), j.of[of].Size()
	from = from.Offset(first*from.Col, size)
	if from.Col != 1 || rows == 1 {
		// Rows side by side: a block is one row of terms times rows.
		m.Pack(tile.Panel{Ptr: to, Pitch: j.VB, Rows: lanes, K: j.terms * rows}, tile.Mat{Ptr: from.Ptr, Row: numbers.KBlock * rows, Col: 1})
		return
	}
	for i := range rows {
		m.Pack(tile.Panel{Ptr: unsafe.Add(to, i*j.VB), Pitch: rows * j.VB, Rows: lanes, K: j.terms}, tile.Mat{Ptr: unsafe.Add(from.Ptr, i*from.Row*size), Row: numbers.KBlock, Col: 1})
	}
}

// A blockFrame holds the arguments of the kernel.
type blockFrame struct {
	a, b, sums unsafe.Pointer
	k          int
	add        int // to the sums
}

type blockKey struct {
	isa  jit.ISA
	d    array.DType
	m, n int
}

var blockKernels = jit.NewCache[blockKey, *jit.Code](0)

// Generate writes the kernel: for each term it adds the products of m vectors of A and n vectors of
// B to m x n sums.
func (k blockKey) Generate() *jit.Code {
	g := &codegen.Gen{ISA: k.isa, D: k.d}
	var f blockFrame
	a := &g.Asm
	a.RM(asm.MOV, asm.RSI, codegen.Field(unsafe.Offsetof(f.a)))
	a.RM(asm.MOV, asm.RBX, codegen.Field(unsafe.Offsetof(f.b)))
	a.RM(asm.MOV, asm.RDX, codegen.Field(unsafe.Offsetof(f.sums)))
	a.RM(asm.MOV, asm.RCX, codegen.Field(unsafe.Offsetof(f.k)))
	a.RM(asm.MOV, asm.RAX, codegen.Field(unsafe.Offsetof(f.add)))
	vb := int32(g.VB())
	for i := range k.m * k.n {
		g.Zero(g.V(i))
	}
	g.When(1, func() {
		for i := range k.m * k.n {
			g.Load(g.V(i), asm.Ptr(asm.RDX, int32(i)*vb))
		}
	})
	fma := g.Pick(asm.VFMADD231PS, asm.VFMADD231PD)
	g.Chain(asm.RCX, func(term int) {
		for i := range k.m {
			g.Load(g.V(15), asm.Ptr(asm.RSI, int32(term*k.m+i)*vb))
			for j := range k.n {
				a.RRM(fma, g.V(i*k.n+j), g.V(15), asm.Ptr(asm.RBX, int32(term*k.n+j)*vb))
			}
		}
	}, func(n int) {
		a.RI(asm.ADD, asm.RSI, int64(n*k.m)*int64(vb))
		a.RI(asm.ADD, asm.RBX, int64(n*k.n)*int64(vb))
	})
	for i := range k.m * k.n {
		g.Store(asm.Ptr(asm.RDX, int32(i)*vb), g.V(i))
	}
	g.Done()
	return g.Install(k)
}
