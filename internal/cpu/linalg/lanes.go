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

// A lanesArray is an argument or a result of a lanesJob: matrices in the last two axes, or vectors in the last one.
type lanesArray struct {
	*array.View
	rank       int
	size, cols int // of one matrix or vector
}

func matrices(v *array.View) lanesArray {
	r := len(v.Shape)
	return lanesArray{v, 2, v.Shape[r-2] * v.Shape[r-1], v.Shape[r-1]}
}

func vectors(v *array.View) lanesArray {
	n := v.Shape[len(v.Shape)-1]
	return lanesArray{v, 1, n, 1}
}

// lanesJob is a batch of small matrices that a kernel factors, a matrix in each lane.
type lanesJob[F float32 | float64] struct {
	lanesKey
	lanes     int
	code      *jit.Code
	count     int // matrices
	in, out   []lanesArray
	pivots    *array.View // nil without
	mu        sync.Mutex
	alone     []int // matrices left to the algorithms for one matrix
	perMatrix int   // multiply-adds
}

// elementWork is the multiply-adds that count for an element which is read or written: small matrices wait for memory
// and divisions more than for products. 10,000 factorizations of 8x8 by LU take 0.86 ms, which is
// the time of 18 million, and have 1.7 million (float64, Zen 4, November 2026).
const elementWork = 8

// work is the multiply-adds that count for a matrix.
func (j *lanesJob[F]) work() int {
	n := 0
	for _, arrays := range [2][]lanesArray{j.in, j.out} {
		for _, v := range arrays {
			n += v.size
		}
	}
	return j.perMatrix + elementWork*n
}

// lanes factors the matrices of in[0] by the kernel of a key. It reports whether there is one; alone are the matrices
// that the kernel left out. perMatrix is a matrix's multiply-adds.
func lanes(key lanesKey, perMatrix int, in, out []lanesArray, pivots *array.View) (alone []int, ok bool) {
	switch key.d {
	case array.Float32:
		return lanesOf[float32](key, perMatrix, in, out, pivots)
	case array.Float64:
		return lanesOf[float64](key, perMatrix, in, out, pivots)
	}
	return nil, false
}

func lanesOf[F float32 | float64](key lanesKey, perMatrix int, in, out []lanesArray, pivots *array.View) (alone []int, ok bool) {
	a := in[0]
	j := &lanesJob[F]{lanesKey: key, in: in, out: out, pivots: pivots, count: array.Size(a.Shape[:len(a.Shape)-2]), perMatrix: perMatrix}
	for _, v := range append(in[:len(in):len(in)], out...) {
		if v.size == 0 {
			return nil, false
		}
	}
	for _, v := range out {
		if !v.Contiguous() {
			return nil, false
		}
	}
	if j.lanes, ok = key.lanes(); !ok || key.least(j.lanes) > j.count {
		return nil, false
	}
	j.code = codegen.Kernel(lanesCodes, key)
	groups := tile.Ceil(j.count, j.lanes)
	work := j.work()
	threads := tile.ThreadsFor(j.count*work, 0)
	grain := max(1, min(tile.Ceil(groups, 4*threads), tile.TaskWork/max(1, work*j.lanes)))
	par.RunTask(groups, grain, threads, j)
	return j.alone, true
}

// Chunk computes some groups of matrices.
func (j *lanesJob[F]) Chunk(_, begin, end int) {
	slots := j.slots() * j.lanes
	size := slots
	for _, arrays := range [2][]lanesArray{j.in, j.out} {
		for _, v := range arrays {
			size += v.size * j.lanes
		}
	}
	s, free := alloc[F](size)
	defer free()
	for g := begin; g < end; g++ {
		first := g * j.lanes
		n := min(j.lanes, j.count-first)
		frame := lanesFrame{work: unsafe.Pointer(&s[0])}
		rest := s[slots:] // memory for arrays that do not lie as the kernel reads and writes them
		next := func(v lanesArray) (spare []F) {
			spare, rest = rest[:v.size*j.lanes], rest[v.size*j.lanes:]
			return spare
		}
		for i, v := range j.in {
			frame.in[i] = j.source(v, first, n, next(v))
		}
		var back [lanesResults][]F
		for i, v := range j.out {
			if n == j.lanes && v.DType == j.d {
				frame.out[i] = unsafe.Pointer(&whole[F](v.View)[first*v.size])
			} else {
				back[i] = next(v)
				frame.out[i] = unsafe.Pointer(&back[i][0])
			}
		}
		bad := jit.Call(j.code, 0, unsafe.Pointer(&frame)) & (1<<n - 1)
		for i, v := range j.out {
			for l := 0; back[i] != nil && l < n; l++ {
				store(matrixAt(v.View, first+l, v.rank), matrix[F]{back[i][l*v.size : (l+1)*v.size], v.size / v.cols, v.cols, v.cols})
			}
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
func (j *lanesJob[F]) source(v lanesArray, first, n int, spare []F) unsafe.Pointer {
	if n == j.lanes && v.Contiguous() && v.DType == j.d {
		return unsafe.Pointer(&whole[F](v.View)[first*v.size])
	}
	rows := v.size / v.cols
	for i := range n {
		load(matrix[F]{spare[i*v.size : (i+1)*v.size], rows, v.cols, v.cols}, matrixAt(v.View, first+i, v.rank))
	}
	clear(spare[n*v.size:])
	for i := n; i < j.lanes; i++ {
		for d := range min(rows, v.cols) {
			spare[i*v.size+d*v.cols+d] = 1
		}
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
