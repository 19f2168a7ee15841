package optimize

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/internal/array"
)

// A ProgramStatus says why a linear program has no solution.
type ProgramStatus string

// What [LinProg] finds where there is no least value.
const (
	Infeasible ProgramStatus = "no point meets the constraints"
	Unbounded  ProgramStatus = "the values have no lower bound"
)

// A ProgramError says that a linear program has no solution.
type ProgramError struct {
	Op     string
	Status ProgramStatus
}

func (e *ProgramError) Error() string { return e.Op + ": " + string(e.Status) }

// Bounds are the least and the greatest elements of unknowns. Each has the unknowns' shape or broadcasts to it; nil is no
// bound, and so are infinities.
type Bounds struct{ Lower, Upper *weft.Tensor }

// of returns the bounds of n unknowns of a shape.
func (b *Bounds) of(name string, shape []int) (lower, upper []float64) {
	n := array.Size(shape)
	one := func(arg string, x *weft.Tensor, none float64) []float64 {
		v := make([]float64, n)
		if x == nil {
			for i := range v {
				v[i] = none
			}
			return v
		}
		t, _ := start(name, arg, x)
		if err := weft.Try(func() { t = t.Expand(shape...).Contiguous() }); err != nil {
			array.Failf(name, arg, "has shape %s: want that of the unknowns, %s", array.ShapeString(x.Shape()), array.ShapeString(shape))
		}
		copy(v, weft.Data[float64](t))
		return v
	}
	lower, upper = one("Bounds.Lower", b.Lower, math.Inf(-1)), one("Bounds.Upper", b.Upper, math.Inf(1))
	for i := range lower {
		if !(lower[i] <= upper[i]) || math.IsInf(lower[i], 1) || math.IsInf(upper[i], -1) {
			array.Failf(name, "Bounds", "of element %d are %v and %v: want Lower at most Upper", i, lower[i], upper[i])
		}
	}
	return lower, upper
}

// LinProgOpts are the constraints and options of [LinProg].
type LinProgOpts struct {
	AUb, BUb *weft.Tensor    // AUb x <= BUb, [m n] and [m]
	AEq, BEq *weft.Tensor    // AEq x = BEq
	Bounds   *Bounds         // nil: no element of x is negative
	MaxIter  int             // 50 for each row and column if it is 0
	Context  context.Context // ends the search, if it is not nil
}

// A Program is a result of [LinProg].
type Program struct {
	X     *weft.Tensor // [n], float64
	Value float64
	Slack *weft.Tensor // BUb - AUb x; nil without AUb
	Steps int
}

// LinProg finds the x that makes the sum of c*x least under linear constraints, by the simplex method with bounds on
// dense matrices (Chvátal, "Linear programming", 1983, chapter 8), in two phases. Where steps stop to make progress it
// changes to Bland's rule, so that it ends. It returns a [*ProgramError] if there is no solution. After MaxIter steps,
// or where the context ends, it returns a [*ConvergenceError] and the point reached, which may not meet the
// constraints. It panics with a [*weft.Error] for bad arguments. It is meant for up to some thousand rows and columns.
// SciPy's linprog.
func LinProg(c *weft.Tensor, opts ...LinProgOpts) (*Program, error) {
	const name = "optimize.linprog"
	o := array.Options(name, opts)
	first, cost := start(name, "c", c)
	n := len(cost)
	cost = realVector(name, "c", first, n)
	s := &simplex{name: name, ctx: o.Context}
	b := o.Bounds
	if b == nil {
		b = &Bounds{Lower: weft.ZerosOf(weft.Float64, n)}
	}
	lower, upper := b.of(name, []int{n})
	s.unknowns(cost, lower, upper)
	var ub *mat.Dense
	var limits []float64
	if ub, limits = constraint(name, "AUb", "BUb", o.AUb, o.BUb, n); ub != nil {
		s.rows(ub, limits, lower, upper, true)
	}
	if eq, values := constraint(name, "AEq", "BEq", o.AEq, o.BEq, n); eq != nil {
		s.rows(eq, values, lower, upper, false)
	}
	s.most = limit(name, "MaxIter", o.MaxIter, 50*(len(s.right)+len(s.cost)+1))
	err := s.solve()
	if _, none := err.(*ProgramError); none {
		return nil, err
	}
	x := s.point(lower, upper)
	p := &Program{X: weft.FromSlice(x, n), Steps: s.steps}
	for i, v := range x {
		p.Value += cost[i] * v
	}
	if ub != nil {
		p.Slack = weft.FromSlice(plus(limits, ub, negated(x)))
	}
	return p, err
}

func constraint(name, arg, right string, a, b *weft.Tensor, n int) (*mat.Dense, []float64) {
	if a == nil && b == nil {
		return nil, nil
	}
	if a == nil || b == nil {
		array.Failf(name, arg, "and %s must be given together", right)
	}
	m := realMatrix(name, arg, a)
	rows, columns := m.Dims()
	if columns != n {
		array.Failf(name, arg, "has shape %s: want %d columns", array.ShapeString(a.Shape()), n)
	}
	return m, realVector(name, right, b, rows)
}

// A simplex is a program in columns from 0 to an upper bound, with a tableau: the rows times the inverse of the basis.
// A column that is at its upper bound is counted from there, with the opposite sign.
//
// It is not gonum's lp.Simplex: that refuses dependent rows, so 2 of the 17 programs of testdata/bounds.json, takes a row
// for each bound, and solves equations of all rows in each step.
type simplex struct {
	name  string
	ctx   context.Context
	of    []int     // the unknown of each column, -1 for slack
	sign  []float64 // of the unknown in the column
	cost  []float64
	upper []float64

	matrix [][]float64 // one row for each constraint
	right  []float64
	slack  []int // the column of the slack of a row, or -1

	flipped     []bool
	basis       []int // the column of each row
	table       [][]float64
	value       []float64 // of the basic columns
	artificial  int       // columns from here on
	steps, most int
}

const simplexTol = 1e-9

// unknowns makes columns: from the lower bound up, from the upper one down, or two for an unknown without bounds.
func (s *simplex) unknowns(cost, lower, upper []float64) {
	add := func(i int, sign, most float64) {
		s.of, s.sign, s.cost, s.upper = append(s.of, i), append(s.sign, sign), append(s.cost, sign*cost[i]), append(s.upper, most)
	}
	for i := range cost {
		switch {
		case !math.IsInf(lower[i], 0):
			add(i, 1, upper[i]-lower[i])
		case !math.IsInf(upper[i], 0):
			add(i, -1, math.Inf(1))
		default:
			add(i, 1, math.Inf(1))
			add(i, -1, math.Inf(1))
		}
	}
}

// base is where the unknown is when its columns are 0.
func base(lower, upper float64) float64 {
	switch {
	case !math.IsInf(lower, 0):
		return lower
	case !math.IsInf(upper, 0):
		return upper
	}
	return 0
}

func (s *simplex) rows(a *mat.Dense, b, lower, upper []float64, slack bool) {
	columns := len(s.of)
	for i, v := range b {
		from := a.RawRowView(i)
		scale := 0.0
		for j, x := range from {
			v -= x * base(lower[j], upper[j])
			scale = max(scale, math.Abs(x))
		}
		if scale == 0 {
			scale = 1
		}
		row := make([]float64, columns)
		for j, u := range s.of {
			if u >= 0 {
				row[j] = from[u] * s.sign[j] / scale
			}
		}
		s.slack = append(s.slack, -1)
		if slack {
			s.slack[len(s.slack)-1] = len(s.of)
			s.of, s.sign, s.cost, s.upper = append(s.of, -1), append(s.sign, 1), append(s.cost, 0), append(s.upper, math.Inf(1))
			row = append(append(row, make([]float64, len(s.of)-1-len(row))...), 1)
		}
		s.matrix, s.right = append(s.matrix, row), append(s.right, v/scale)
	}
}

// solve runs both phases.
func (s *simplex) solve() error {
	s.artificial = len(s.of)
	width := s.artificial + len(s.right)
	s.flipped = make([]bool, width)
	for i, row := range s.matrix {
		row = append(row, make([]float64, width-len(row))...)
		k := s.slack[i]
		if s.right[i] < 0 {
			for j := range row {
				row[j] = -row[j]
			}
			s.right[i], k = -s.right[i], -1
		}
		s.upper = append(s.upper, 0)
		if k < 0 {
			k = s.artificial + i
			row[k], s.upper[k] = 1, math.Inf(1)
		}
		s.matrix[i], s.basis = row, append(s.basis, k)
	}
	s.refresh()
	need, size := make([]float64, width), 1.0
	for i, k := range s.basis {
		if k >= s.artificial {
			need[k] = 1
		}
		size = max(size, s.right[i])
	}
	if err := s.phase(need); err != nil {
		return err
	}
	for i, k := range s.basis {
		if k >= s.artificial && s.value[i] > simplexTol*size*10 {
			return &ProgramError{s.name, Infeasible}
		}
	}
	for k := s.artificial; k < width; k++ {
		s.upper[k] = 0 // they stay at 0
	}
	return s.phase(append(append([]float64(nil), s.cost...), make([]float64, len(s.right))...))
}

// refresh computes the tableau from the matrix. It leaves it as it is if rounding made the basis singular.
func (s *simplex) refresh() {
	m := len(s.right)
	if m == 0 {
		return
	}
	width := len(s.upper)
	all, basis := mat.NewDense(m, width+1, nil), mat.NewDense(m, m, nil)
	for i, row := range s.matrix {
		b := s.right[i]
		for j, v := range row {
			if s.flipped[j] {
				b -= v * s.upper[j]
				v = -v
			}
			all.Set(i, j, v)
		}
		all.Set(i, width, b)
	}
	for k, j := range s.basis {
		basis.SetCol(k, mat.Col(nil, j, all))
	}
	var lu mat.LU
	lu.Factorize(basis)
	var t mat.Dense
	if err := lu.SolveTo(&t, false, all); err != nil {
		if _, poor := err.(mat.Condition); !poor || math.IsInf(lu.Cond(), 1) {
			return
		}
	}
	s.table, s.value = make([][]float64, m), make([]float64, m)
	for i := range m {
		row := t.RawRowView(i)
		s.table[i], s.value[i] = row[:width:width], row[width]
	}
}

// phase makes the sum of cost least.
func (s *simplex) phase(cost []float64) error {
	width, scale := len(s.upper), 1.0
	for _, c := range cost {
		scale = max(scale, math.Abs(c))
	}
	reduced := make([]float64, width)
	price := func() {
		for j := range reduced {
			if reduced[j] = cost[j]; s.flipped[j] {
				reduced[j] = -cost[j]
			}
		}
		for i, k := range s.basis {
			c := cost[k]
			if s.flipped[k] {
				c = -c
			}
			if c != 0 {
				for j, v := range s.table[i] {
					reduced[j] -= c * v
				}
			}
		}
	}
	price()
	still := 0 // steps without progress
	for ; ; s.steps++ {
		enter := -1
		for j := range s.artificial {
			if reduced[j] < -simplexTol*scale && s.upper[j] > 0 && (enter < 0 || still < 2*width && reduced[j] < reduced[enter]) {
				enter = j
			}
		}
		if enter < 0 {
			return nil
		}
		if s.steps >= s.most {
			return &ConvergenceError{Op: s.name, Reason: afterSteps(s.most)}
		}
		if err := ended(s.name, s.ctx); err != nil {
			return err
		}
		row, step, atUpper := s.leaving(enter, still >= 2*width)
		if math.IsInf(step, 1) {
			return &ProgramError{s.name, Unbounded}
		}
		if still++; step > simplexTol {
			still = 0
		}
		if row < 0 {
			s.flip(enter)
		} else {
			if atUpper {
				s.flipBasic(row)
			}
			s.pivot(row, enter)
		}
		if s.steps%64 == 63 {
			s.refresh()
		}
		price()
	}
}

// leaving returns the row whose column bounds the growth of a column, that growth, and whether the row's is at its upper
// bound then; the row is -1 if the column's own bound comes first.
func (s *simplex) leaving(enter int, bland bool) (row int, step float64, atUpper bool) {
	row, step = -1, s.upper[enter]
	for i, t := range s.table {
		v, k := t[enter], s.basis[i]
		var most float64
		switch {
		case v > simplexTol:
			most = max(0, s.value[i]) / v
		case v < -simplexTol && !math.IsInf(s.upper[k], 1):
			most = max(0, s.upper[k]-s.value[i]) / -v
		default:
			continue
		}
		better := most < step-1e-12
		if !better && most <= step+1e-12 && row >= 0 { // of equal ones a great pivot, or Bland's
			better = bland && k < s.basis[row] || !bland && math.Abs(v) > math.Abs(s.table[row][enter])
		}
		if better || row < 0 && most < step {
			row, step, atUpper = i, most, v < 0
		}
	}
	return row, step, atUpper
}

// flip counts a column that is not basic from its other bound.
func (s *simplex) flip(j int) {
	for i, t := range s.table {
		s.value[i] -= t[j] * s.upper[j]
		t[j] = -t[j]
	}
	s.flipped[j] = !s.flipped[j]
}

// flipBasic is flip for the column of a row.
func (s *simplex) flipBasic(row int) {
	k := s.basis[row]
	for j := range s.table[row] {
		if j != k {
			s.table[row][j] = -s.table[row][j]
		}
	}
	s.value[row] = s.upper[k] - s.value[row]
	s.flipped[k] = !s.flipped[k]
}

func (s *simplex) pivot(row, enter int) {
	t := s.table[row]
	p := t[enter]
	for j := range t {
		t[j] /= p
	}
	t[enter] = 1
	s.value[row] = max(0, s.value[row]) / p
	for i, other := range s.table {
		v := other[enter]
		if i == row || v == 0 {
			continue
		}
		for j, x := range t {
			other[j] -= v * x
		}
		other[enter] = 0
		s.value[i] -= v * s.value[row]
	}
	s.basis[row] = enter
}

// point returns the unknowns.
func (s *simplex) point(lower, upper []float64) []float64 {
	s.refresh()
	at := make([]float64, len(s.upper))
	for i, k := range s.basis {
		at[k] = max(0, min(s.value[i], s.upper[k]))
	}
	x := make([]float64, len(lower))
	for i := range x {
		x[i] = base(lower[i], upper[i])
	}
	for j, u := range s.of {
		if u < 0 {
			continue
		}
		v := at[j]
		if s.flipped[j] {
			v = s.upper[j] - v
		}
		x[u] += s.sign[j] * v
	}
	return x
}
