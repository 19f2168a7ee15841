package optimize

import (
	"math"
	"sort"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// AssignmentOpts are the options of [LinearSumAssignment].
type AssignmentOpts struct {
	Maximize bool // the sum is to be greatest
}

// LinearSumAssignment pairs rows with columns of a matrix of costs, [m n], so that the sum of the costs of all pairs is
// least. Each of the min(m, n) pairs has a row and a column of its own. It returns their places, int64 of shape [min(m,
// n)], the rows in order. A cost of +Inf, with Maximize -Inf, forbids a pair; where no assignment avoids these it
// returns a [*ProgramError] with [Infeasible]. It finds shortest augmenting paths by Dijkstra's algorithm with
// potentials (Crouse, "On implementing 2D rectangular assignment algorithms", IEEE Trans. Aerosp. Electron. Syst. 52,
// 2016), in at most min(m, n)^2 * max(m, n) steps. It panics with a [*weft.Error] for bad arguments and NaN. SciPy's
// linear_sum_assignment.
func LinearSumAssignment(cost *weft.Tensor, opts ...AssignmentOpts) (rows, cols *weft.Tensor, err error) {
	const name = "optimize.linearsumassignment"
	o := array.Options(name, opts)
	(*core.Tensor)(cost).CheckArgument(name, "cost")
	if cost.Rank() != 2 || cost.DType().Complex() {
		array.Failf(name, "cost", "is %s of shape %s: want a matrix of real numbers", cost.DType(), array.ShapeString(cost.Shape()))
	}
	m, n := cost.Dim(0), cost.Dim(1)
	c := cost.Detach().To(weft.Float64)
	if o.Maximize {
		c = c.Neg()
	}
	if m > n {
		c = c.Transpose(0, 1)
	}
	a := &assignment{n: max(m, n), cost: weft.Data[float64](c.Contiguous())}
	for i, v := range a.cost {
		if math.IsNaN(v) || math.IsInf(v, -1) {
			row, col := i/a.n, i%a.n
			if m > n {
				row, col = col, row
			}
			array.Failf(name, "cost", "has %v at [%d %d]: want numbers, or the infinity that forbids a pair", cost.At(row, col).Item(), row, col)
		}
	}
	short, ok := a.solve(min(m, n))
	if !ok {
		return nil, nil, &ProgramError{name, Infeasible}
	}
	first, second := make([]int64, len(short)), make([]int64, len(short))
	order := make([]int, len(short))
	for i := range order {
		order[i] = i
	}
	if m > n { // pairs by columns: sort them by rows
		sort.Slice(order, func(i, j int) bool { return short[order[i]] < short[order[j]] })
	}
	for k, i := range order {
		if first[k], second[k] = int64(i), int64(short[i]); m > n {
			first[k], second[k] = second[k], first[k]
		}
	}
	return weft.FromSlice(first, len(first)), weft.FromSlice(second, len(second)), nil
}

// An assignment is an assignment while it is searched, each row to a column of n, which are not fewer.
type assignment struct {
	n       int
	cost    []float64
	u, v    []float64 // potentials of rows and columns: cost - u - v is not negative, and 0 for pairs
	ofRow   []int     // the column of a row, -1 before it has one
	ofCol   []int
	way     []float64 // the length of the shortest path to a column
	before  []int     // the row before a column on that path
	reached []int     // columns whose paths are final
	left    []int     // the others
}

func (a *assignment) solve(rows int) (ofRow []int, ok bool) {
	a.u, a.v = make([]float64, rows), make([]float64, a.n)
	a.way, a.before, a.left = make([]float64, a.n), make([]int, a.n), make([]int, a.n)
	a.ofRow, a.ofCol = make([]int, rows), make([]int, a.n)
	for i := range a.ofRow {
		a.ofRow[i] = -1
	}
	for j := range a.ofCol {
		a.ofCol[j] = -1
	}
	for row := range rows {
		end, length := a.path(row)
		if end < 0 {
			return nil, false
		}
		a.u[row] += length
		for _, j := range a.reached {
			change := length - a.way[j]
			if i := a.ofCol[j]; i >= 0 {
				a.u[i] += change
			}
			a.v[j] -= change
		}
		for j := end; ; { // pairs along the path change
			i := a.before[j]
			a.ofCol[j] = i
			j, a.ofRow[i] = a.ofRow[i], j
			if i == row {
				break
			}
		}
	}
	return a.ofRow, true
}

// path searches the shortest path from a row to a column without one, and returns that column, -1 if there is none.
func (a *assignment) path(row int) (end int, length float64) {
	a.reached = a.reached[:0]
	a.left = a.left[:a.n]
	for j := range a.n {
		a.left[a.n-1-j] = j // the last places are looked at first: ties go to low columns
		a.way[j] = math.Inf(1)
	}
	for i := row; ; {
		least, at := math.Inf(1), -1
		costs := a.cost[i*a.n:][:a.n]
		for k, j := range a.left {
			if d := length + costs[j] - a.u[i] - a.v[j]; d < a.way[j] {
				a.way[j], a.before[j] = d, i
			}
			// Of equal ways one that ends the search.
			if d := a.way[j]; d < least || d == least && at >= 0 && a.ofCol[j] < 0 {
				least, at = d, k
			}
		}
		if at < 0 {
			return -1, 0
		}
		length = least
		j := a.left[at]
		a.left[at] = a.left[len(a.left)-1]
		a.left = a.left[:len(a.left)-1]
		a.reached = append(a.reached, j)
		if i = a.ofCol[j]; i < 0 {
			return j, length
		}
	}
}
