package linalg

import (
	mathbits "math/bits"
	"sync"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/cpu/tile"
	"weft/internal/jit"
	"weft/internal/par"
)

// lanesJob is a batch of small matrices that a kernel factors, a matrix in each lane.
type lanesJob[F float32 | float64] struct {
	lanesKey
	lanes        int
	code         *jit.Code
	count        int         // matrices
	a, b, f, x   *array.View // b and x are nil without right sides
	pivots       *array.View // nil without
	mu           sync.Mutex
	alone        []int // matrices left to the algorithms for one matrix
	sizeA, sizeX int   // elements of a matrix and of its right sides
	perMatrix    int   // multiply-adds
}

// lanes factors matrices in the last two axes of a, w columns of b being right sides, by a kernel. It reports
// whether there is one; alone are the matrices that it left out.
func lanes(isa jit.ISA, what factoring, f, a, b, x, pivots *array.View) (alone []int, ok bool) {
	switch f.DType {
	case array.Float32:
		return lanesOf[float32](isa, what, f, a, b, x, pivots)
	case array.Float64:
		return lanesOf[float64](isa, what, f, a, b, x, pivots)
	}
	return nil, false
}

func lanesOf[F float32 | float64](isa jit.ISA, what factoring, f, a, b, x, pivots *array.View) (alone []int, ok bool) {
	r := len(a.Shape)
	n := a.Shape[r-1]
	if n != a.Shape[r-2] {
		return nil, false
	}
	j := &lanesJob[F]{a: a, b: b, f: f, x: x, pivots: pivots, count: array.Size(a.Shape[:r-2]), sizeA: n * n}
	j.lanesKey = lanesKey{isa, f.DType, what, n, 0}
	j.perMatrix = n * n * n / 3
	regular := a.DType == f.DType && f.Contiguous()
	if b != nil {
		j.w = b.Shape[len(b.Shape)-1]
		j.sizeX = n * j.w
		j.perMatrix += n * n * j.w
		regular = regular && b.DType == f.DType && x.Contiguous() && j.w > 0
	}
	if j.lanes, ok = j.lanesKey.lanes(); !ok || !regular || 2*j.count < j.lanes {
		return nil, false
	}
	j.code = codegen.Kernel(lanesCodes, j.lanesKey)
	groups := tile.Ceil(j.count, j.lanes)
	threads := tile.ThreadsFor(j.count*j.perMatrix, 0)
	grain := max(1, min(tile.Ceil(groups, 4*threads), tile.TaskWork/max(1, j.perMatrix*j.lanes)))
	par.RunTask(groups, grain, threads, j)
	return j.alone, true
}

// Chunk computes some groups of matrices.
func (j *lanesJob[F]) Chunk(_, begin, end int) {
	slots := j.slots() * j.lanes
	s, free := alloc[F](slots + 2*(j.sizeA+j.sizeX)*j.lanes)
	defer free()
	var spare [4][]F // a, b, factors and x of a group whose memory is not that of the arrays
	rest := s[slots:]
	for i, size := range [4]int{j.sizeA, j.sizeX, j.sizeA, j.sizeX} {
		spare[i], rest = rest[:size*j.lanes], rest[size*j.lanes:]
	}
	for g := begin; g < end; g++ {
		first := g * j.lanes
		n := min(j.lanes, j.count-first)
		frame := lanesFrame{work: unsafe.Pointer(&s[0])}
		frame.a = j.source(j.a, first, n, j.sizeA, spare[0], true)
		frame.factors = j.target(j.f, first, n, j.sizeA, spare[2])
		if j.w > 0 {
			frame.b = j.source(j.b, first, n, j.sizeX, spare[1], false)
			frame.x = j.target(j.x, first, n, j.sizeX, spare[3])
		}
		bad := jit.Call(j.code, 0, unsafe.Pointer(&frame))
		if n < j.lanes {
			copy(whole[F](j.f)[first*j.sizeA:], spare[2][:n*j.sizeA])
			if j.w > 0 {
				copy(whole[F](j.x)[first*j.sizeX:], spare[3][:n*j.sizeX])
			}
			bad &= 1<<n - 1
		}
		if j.pivots != nil {
			j.storePivots(first, n, s[(j.n*j.n+j.n*j.w)*j.lanes:])
		}
		if bad != 0 {
			j.mu.Lock()
			for ; bad != 0; bad &= bad - 1 {
				j.alone = append(j.alone, first+mathbits.TrailingZeros64(bad))
			}
			j.mu.Unlock()
		}
	}
}

// whole is the elements of a contiguous array.
func whole[F float32 | float64](v *array.View) []F {
	return unsafe.Slice((*F)(codegen.Ptr(v)), v.Size())
}

// source returns n matrices from the first on, one behind the other, those that are missing being
// identities: where they lie, or copied to spare.
func (j *lanesJob[F]) source(v *array.View, first, n, size int, spare []F, square bool) unsafe.Pointer {
	if n == j.lanes && v.Contiguous() {
		return unsafe.Pointer(&whole[F](v)[first*size])
	}
	cols := size / j.n
	for i := range n {
		load(matrix[F]{spare[i*size : (i+1)*size], j.n, cols, cols}, matrixAt(v, first+i, 2))
	}
	clear(spare[n*size:])
	for i := n; square && i < j.lanes; i++ {
		for d := range j.n {
			spare[i*size+d*j.n+d] = 1
		}
	}
	return unsafe.Pointer(&spare[0])
}

// target is where n results are stored.
func (j *lanesJob[F]) target(v *array.View, first, n, size int, spare []F) unsafe.Pointer {
	if n == j.lanes {
		return unsafe.Pointer(&whole[F](v)[first*size])
	}
	return unsafe.Pointer(&spare[0])
}

// storePivots converts pivots, which are numbers of the type of the elements, row by row of all lanes.
func (j *lanesJob[F]) storePivots(first, n int, from []F) {
	to := unsafe.Slice((*int64)(codegen.Ptr(j.pivots)), j.pivots.Size())[first*j.n:]
	for l := range n {
		for i := range j.n {
			to[l*j.n+i] = int64(from[i*j.lanes+l])
		}
	}
}
