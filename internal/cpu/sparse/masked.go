package sparse

import (
	"slices"

	"weft/internal/cpu/tile"
	"weft/internal/par"
)

// A Pattern says where the entries of a matrix of compressed rows are. Indices are in range, offsets ascend.
type Pattern struct {
	Off  []int64
	Idx  []int32
	Cols int
}

func (p *Pattern) rows() int { return len(p.Off) - 1 }

// eachRow calls f for ranges of rows of a product, with a worker's array of n integers, which are 0 and must be
// so again.
func eachRow(x, y *Pattern, n int, f func(lo, hi int, mark []int32)) {
	const grain = 64
	work := 0
	for _, k := range x.Idx {
		work += int(y.Off[k+1] - y.Off[k])
	}
	threads := tile.ThreadsFor(8*(work+len(x.Idx)), 0)
	marks := make([][]int32, max(par.Threads(), threads)+1)
	par.Run(x.rows(), grain, threads, func(worker, lo, hi int) {
		if marks[worker] == nil {
			marks[worker] = make([]int32, n)
		}
		f(lo, hi, marks[worker])
	})
}

// ProductPattern returns the pattern of the product of x and y, in ascending order. It counts first, so that the memory
// it takes is that of the result. Source: Gustavson, "Two fast algorithms for sparse matrices: multiplication
// and permuted transposition", 1978.
func ProductPattern(x, y *Pattern) *Pattern {
	out := &Pattern{Off: make([]int64, x.rows()+1), Cols: y.Cols}
	eachRow(x, y, y.Cols, func(lo, hi int, mark []int32) {
		var seen []int32
		for i := lo; i < hi; i++ {
			seen = reached(x, y, i, mark, seen[:0])
			out.Off[i+1] = int64(len(seen))
		}
	})
	for i := range x.rows() {
		out.Off[i+1] += out.Off[i]
	}
	out.Idx = make([]int32, out.Off[x.rows()])
	eachRow(x, y, y.Cols, func(lo, hi int, mark []int32) {
		for i := lo; i < hi; i++ {
			row := out.Idx[out.Off[i]:out.Off[i]:out.Off[i+1]]
			slices.Sort(reached(x, y, i, mark, row))
		}
	})
	return out
}

// reached appends the columns of row i of a product, each once.
func reached(x, y *Pattern, i int, mark, to []int32) []int32 {
	for _, k := range x.Idx[x.Off[i]:x.Off[i+1]] {
		for _, j := range y.Idx[y.Off[k]:y.Off[k+1]] {
			if mark[j] == 0 {
				mark[j] = 1
				to = append(to, j)
			}
		}
	}
	for _, j := range to {
		mark[j] = 0
	}
	return to
}

// Masked computes the elements of the product of x and y at the entries of a mask. An element is a chain of fused
// multiply-adds in the order of the entries of its row of x.
func Masked[T number](out, xv, yv []T, mask, x, y *Pattern) {
	eachRow(x, y, mask.Cols, func(lo, hi int, mark []int32) {
		for i := lo; i < hi; i++ {
			first := mask.Off[i]
			cols, sums := mask.Idx[first:mask.Off[i+1]], out[first:mask.Off[i+1]]
			for p, j := range cols {
				sums[p] = 0
				if mark[j] == 0 { // of several entries of one place the first
					mark[j] = int32(p + 1)
				}
			}
			for e := x.Off[i]; e < x.Off[i+1]; e++ {
				k, a := x.Idx[e], xv[e]
				for q := y.Off[k]; q < y.Off[k+1]; q++ {
					if p := mark[y.Idx[q]]; p != 0 {
						sums[p-1] = MultiplyAdd(a, yv[q], sums[p-1])
					}
				}
			}
			for p, j := range cols {
				sums[p] = sums[mark[j]-1]
			}
			for _, j := range cols {
				mark[j] = 0
			}
		}
	})
}

// A Triangle says which triangle of a matrix counts, whether ones stand for its diagonal, and whether its
// transpose stands in its place.
type Triangle struct{ Lower, Unit, Transposed bool }

// Solve solves equations of a triangular matrix, whose indices ascend in each row, for width right sides, in place. It returns
// the first row, in the order of the solution, whose element of the diagonal is 0, or -1.
func Solve[T number](x, values []T, a *Pattern, width int, t Triangle) int {
	n := a.rows()
	for step := range n {
		i := step
		if t.Lower == t.Transposed {
			i = n - 1 - step
		}
		lo, hi := a.Off[i], a.Off[i+1]
		at, found := slices.BinarySearch(a.Idx[lo:hi], int32(i))
		diagonal, end := T(1), lo+int64(at)
		if !t.Unit {
			if !found || values[end] == 0 {
				return i
			}
			diagonal = values[end]
		}
		row := x[i*width : (i+1)*width]
		if !t.Lower { // what is right of the diagonal
			lo, end = end, hi
			if found {
				lo++
			}
		}
		if t.Transposed {
			divide(row, diagonal)
			for k := lo; k < end; k++ {
				axpy(x[int(a.Idx[k])*width:][:width], -values[k], row)
			}
			continue
		}
		for k := lo; k < end; k++ {
			axpy(row, -values[k], x[int(a.Idx[k])*width:])
		}
		divide(row, diagonal)
	}
	return -1
}

func divide[T number](x []T, d T) {
	if d == 1 {
		return
	}
	for j := range x {
		x[j] /= d
	}
}
