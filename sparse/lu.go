package sparse

import (
	"context"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/sparse"
	"weft/internal/mem"
)

// LUOpts are the options of [LU] and [Solve].
type LUOpts struct {
	Ordering Ordering // of columns: [MinimumDegree], the default, [Natural] or [SymmetricDegree]
	// PivotThreshold, from 0 to 1, is the least size of an element of the diagonal of a, relative to the largest of its
	// column, that is taken as the pivot; 1 if nil. Smaller numbers keep an order of [SymmetricDegree] and make solutions
	// less exact.
	PivotThreshold *float64
	Context        context.Context // ends the ordering and the factorization, if it is not nil; later factorizations of the result too
}

// LU factors a square matrix a, [n n], by partial pivoting: rows and columns of a in another order are L * U, where L has ones on
// its diagonal. Where the pattern is about symmetric, or its diagonal is there and a^T + a fills in less than a^T*a, blocks
// of columns are factored by dense products, which store some zeros. If a block lacks a pivot that LUOpts.PivotThreshold
// allows, or the order is [Natural], pivots come from all rows: panels of columns are computed together where a^T*a fills in,
// else LU goes column by column.
//
// Solutions have gradients of any order in the values of a and in the right sides, of the first two orders in [weft.Vmap]
// and in loops. In a compiled function the factors are computed when it runs, if the values changed. LU is SciPy's splu,
// and the method value Solve of its result is what factorized returns.
//
// float16 and bfloat16 are computed in float32, complex numbers in complex128. It panics with *[weft.Error] where a is
// singular, which names a column, or the factors do not fit in memory. The latter is known before factors are computed.
// Where the context of the options ends first, it panics with a *[weft.Error] that wraps the context's cause, such as
// context.Canceled.
//
// Sources: Davis, "Direct Methods for Sparse Linear Systems", SIAM 2006, chapter 6; Schenk, Gärtner, Fichtner,
// "Efficient sparse LU factorization with left-right looking strategy on shared memory multiprocessors", BIT 40, 2000.
func LU(a *Matrix, opts ...LUOpts) *Factorization {
	const name = "sparse.lu"
	defer array.Named(name).End()
	return factorLU(name, a, array.Options(name, opts))
}

// Solve returns the solution x of a*x = b by [LU]: a is [n n], b is [n] or [n k]. It is SciPy's spsolve. It panics with
// *[weft.Error] where a is singular, which names a column.
func Solve(a *Matrix, b *weft.Tensor, opts ...LUOpts) *weft.Tensor {
	const name = "sparse.solve"
	defer array.Named(name).End()
	return factorLU(name, a, array.Options(name, opts)).solved(name, b, false)
}

func factorLU(name string, a *Matrix, o LUOpts) *Factorization {
	m := square(name, a, CSC)
	threshold := 1.0
	if o.PivotThreshold != nil {
		if threshold = *o.PivotThreshold; !(threshold >= 0 && threshold <= 1) {
			array.Failf(name, "PivotThreshold", "is %g, want 0 to 1", threshold)
		}
	}
	plan := planLU(name, m.rowPattern(), o, m.values.DType().Size())
	plan.threshold = threshold
	f := &Factorization{name: name, m: m, d: a.values.DType()}
	f.factor = func(values *array.View) (factors, error) {
		switch values.DType {
		case array.Float32:
			return luOf[float32](plan, values)
		case array.Float64:
			return luOf[float64](plan, values)
		}
		return luOf[complex128](plan, values)
	}
	f.constants = []*weft.Tensor{m.indices, (*weft.Tensor)(m.offsets.T)}
	f.gradient = func(m *Matrix, x, y *weft.Tensor, _ []*weft.Tensor) *weft.Tensor {
		return m.Sampled(y, conjugate(x)).values.Neg()
	}
	return f.begun()
}

// A luPlan is the part of a factorization that does not depend on values.
type luPlan struct {
	name      string
	p         *sparse.Pattern // of columns
	threshold float64
	stop      sparse.Stop
	blocks    *sparse.LUPlan              // nil where the pattern does not suit it
	order     func() (columnOrder, error) // of columns, where blocks lack pivots
}

// panelsFrom is the number of entries of the bound, for each column, from which [sparse.FactorPanels] is faster than
// [sparse.FactorLU]: blocks of L have few columns below.
const panelsFrom = 40

// boundShare is how much less than the triangular factor of a^T*a, which bounds U, the factors of a matrix may have. Where
// not even that share fits in memory, LU ends before it orders all columns and fills memory.
const boundShare = 4

// planLU orders a pattern of columns, whose factors have entries of size bytes. It takes blocks of the pattern of a^T + a
// where that is about symmetric, or where the diagonal is there and the factors have fewer entries than the bound for
// columns: an entry of a block takes a fraction of the time.
func planLU(name string, p *sparse.Pattern, opts LUOpts, size int) *luPlan {
	o := opts.Ordering
	plan := &luPlan{name: name, p: p, stop: stopOf(name, opts.Context)}
	share := func(of int) func(entries int) error {
		return func(entries int) error { return mem.CheckHeap(entries / of * size) }
	}
	columns := sync.OnceValues(func() (x columnOrder, err error) {
		x.order, x.bound, err = sparse.MinimumDegree(make([][]int32, p.Cols), p.Cliques(), share(boundShare), plan.stop)
		if err == nil {
			x.order = p.ColumnOrder(x.order)
		}
		return x, err
	})
	var order []int32
	blocks := o != Natural && p.IsNearlySymmetric()
	if blocks || o != MinimumDegree {
		order = o.of(name, p, size, opts.Context)
	} else if p.HasDiagonal() {
		own, entries, err := sparse.MinimumDegree(p.Symmetric(), nil, share(1), plan.stop)
		x, bad := columns()
		if e := plan.stop(); e != nil {
			panic(e)
		}
		if blocks = err == nil && (bad != nil || entries <= x.bound); blocks {
			order = own
		}
	}
	if blocks {
		var err error
		if plan.blocks, err = sparse.PlanLU(p, order, size); err != nil {
			panic(failure(name, err))
		}
	}
	plan.order = columns
	if o != MinimumDegree {
		plan.order = sync.OnceValues(func() (columnOrder, error) {
			x := columnOrder{order, p.ColumnBound(order)}
			if o == Natural {
				return x, share(boundShare)(x.bound)
			}
			return x, nil
		})
	}
	return plan
}

// A columnOrder is an order of columns in a^T*a, and the entries of its triangular factor.
type columnOrder struct {
	order []int32
	bound int
}

type luFactors[T sparse.Element] struct {
	f interface {
		Solve(b []T, width int, adjoint bool)
		Lower() sparse.Triangular[T]
		Upper() sparse.Triangular[T]
		Perm() (rows, cols []int32)
		Entries() int
	}
}

func luOf[T sparse.Element](plan *luPlan, values *array.View) (factors, error) {
	x := core.Slice[T](values)
	if plan.blocks != nil {
		f, err := sparse.FactorBlocks(plan.blocks, x, plan.threshold, plan.stop)
		switch {
		case err != nil:
			return nil, failure(plan.name, err)
		case f != nil:
			return luFactors[T]{f}, nil
		}
	}
	order, err := plan.order()
	if err != nil {
		return nil, failure(plan.name, err)
	}
	var f luFactors[T]
	var bad int
	if order.bound > panelsFrom*plan.p.Cols {
		f.f, bad, err = sparse.FactorPanels(plan.p, x, order.order, plan.threshold, plan.stop)
	} else {
		f.f, bad, err = sparse.FactorLU(plan.p, x, order.order, plan.threshold, plan.stop)
	}
	switch {
	case err != nil:
		return nil, failure(plan.name, err)
	case bad >= 0:
		return nil, array.Errorf(plan.name, "a", "the matrix is singular: column %d has no pivot that is not 0", bad)
	}
	return f, nil
}

func (l luFactors[T]) solve(b *array.View, adjoint bool) {
	l.f.Solve(core.Slice[T](b), width(b), adjoint)
}

func (l luFactors[T]) lower() *Matrix             { return triangular(l.f.Lower()) }
func (l luFactors[T]) upper() *Matrix             { return triangular(l.f.Upper()) }
func (l luFactors[T]) perm() (rows, cols []int32) { return l.f.Perm() }
func (l luFactors[T]) entries() int               { return l.f.Entries() }

func triangular[T sparse.Element](t sparse.Triangular[T]) *Matrix {
	n := len(t.Off) - 1
	return &Matrix{format: CSC, rows: n, cols: n, values: weft.FromSlice(t.Values), pattern: compressedPattern(t.Idx, t.Off, true)}
}
