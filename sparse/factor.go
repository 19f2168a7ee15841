package sparse

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu/sparse"
	"weft/internal/mem"
)

// An Ordering is the order in which a factorization eliminates unknowns. It decides how many entries the factors have.
type Ordering uint8

const (
	// MinimumDegree is an approximate minimum degree ordering. For [Cholesky] it orders the matrix. For [LU] it is
	// SymmetricDegree where that suits the pattern and pivots are found near the diagonal. Elsewhere it orders the
	// columns in a^T*a, whose fill-in bounds that of all choices of pivots, as SciPy's COLAMD does.
	MinimumDegree Ordering = iota
	Natural                // the order of the matrix
	// SymmetricDegree is an approximate minimum degree ordering of a^T + a, SciPy's MMD_AT_PLUS_A. It suits [LU] of matrices
	// whose pattern is about symmetric and whose pivots are on the diagonal: see LUOpts.PivotThreshold.
	SymmetricDegree
)

// A Factorization solves equations of one matrix by its factors. [Cholesky] and [LU] make one. What is written into the
// values of the matrix later does not change it. Several goroutines may use it.
// Its method values Solve and SolveAdjoint are operators, such as preconditioners of iterations.
type Factorization struct {
	name string
	m    *Matrix    // what is read of a matrix, coalesced, in the type that is computed with
	d    weft.DType // of solutions for real right sides
	last atomic.Pointer[factored]
	own  *array.Storage // of m's values, which nobody writes; nil where a function is traced
	// factor computes factors from values of m.
	factor func(values *array.View) (factors, error)
	// constants are the indices and offsets of m, and what else gradient reads. They are arguments of computations, because
	// the trace of a gradient in a mapped function has no other tensors.
	constants []*weft.Tensor
	// gradient returns that of the values of m, which has constants for its pattern, from the solution x of a*x = b, and y of
	// a^H*y = dx.
	gradient func(m *Matrix, x, y *weft.Tensor, constants []*weft.Tensor) *weft.Tensor
}

// factors solve equations of a matrix with some values.
type factors interface {
	solve(b *array.View, adjoint bool) // in place
	lower() *Matrix
	upper() *Matrix
	perm() (rows, cols []int32)
	entries() int // of both, at least
}

type factored struct {
	values []byte
	own    bool // they are in Factorization.own
	factors
}

// of returns the factors of values. It keeps the factors of the last call, whose values may be the same.
func (f *Factorization) of(values *array.View) (factors, error) {
	own, given := values.Store == f.own, core.Bytes(values)
	if l := f.last.Load(); l != nil && (own && l.own || bytes.Equal(l.values, given)) {
		return l.factors, nil
	}
	x, err := f.factor(values)
	if err != nil {
		return nil, err
	}
	f.last.Store(&factored{bytes.Clone(given), own, x})
	return x, nil
}

// known returns the factors of the matrix, whose values must not be traced.
func (f *Factorization) known() factors {
	v := f.m.values.Detach().Contiguous()
	view := core.ToHost((*core.Tensor)(v))
	defer core.Leave(&view)
	x, err := f.of(&view)
	if err != nil {
		panic(err)
	}
	return x
}

// computedWith is the type of numbers that a factorization computes with.
func computedWith(d weft.DType) weft.DType {
	switch {
	case d.Complex():
		return weft.Complex128
	case d.Half():
		return weft.Float32
	}
	return d
}

// square returns a coalesced square matrix of a format, in the type that it is computed with.
func square(name string, a *Matrix, format Format) *Matrix {
	a.notNil(name, "a")
	if a.rows != a.cols {
		array.Failf(name, "a", "is [%d %d], want a square matrix", a.rows, a.cols)
	}
	if unknown := func(t *weft.Tensor) bool { return t != nil && (*core.Tensor)(t).View().Store.Abstract }; unknown(a.indices) || unknown(a.rowsOf) {
		array.Failf(name, "a", "is an argument of a compiled function, where its sparsity pattern is not known: capture a matrix and give it values by WithValues")
	}
	m := a.To(format).Coalesce()
	core.CheckHeap(name, 20*m.rows+4*m.values.Size(), array.Int64) // what an ordering and a plan take before factors
	return m.with(m.values.To(computedWith(m.values.DType())))
}

// CholeskyOpts are the options of [Cholesky].
type CholeskyOpts struct {
	Ordering Ordering        // [MinimumDegree], the default, or [Natural]
	Context  context.Context // ends the ordering and the factorization, if it is not nil; later factorizations of the result too
}

// Cholesky factors a symmetric or Hermitian positive definite matrix a, [n n], whose lower triangle is read:
// rows and columns of a in another order are L * L^H. Solutions have gradients of any order in the values of the lower
// triangle and in the right sides, of the first two orders in [weft.Vmap] and in loops. In a compiled function the factors are computed when it runs, if the values changed.
//
// float16 and bfloat16 are computed in float32, complex numbers in complex128. It panics with *[weft.Error] where a is
// not positive definite, which names a row, or the factor does not fit in memory. Where the context of the options ends first, it
// panics with a *[weft.Error] that wraps the context's cause, such as context.Canceled.
//
// Source: Davis, "Direct Methods for Sparse Linear Systems", SIAM 2006, chapter 4.
func Cholesky(a *Matrix, opts ...CholeskyOpts) *Factorization {
	const name = "sparse.cholesky"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	m := square(name, a, CSR).Tril(0)
	size := m.values.DType().Size()
	plan, err := sparse.PlanCholesky(m.rowPattern(), o.Ordering.of(name, m.rowPattern(), size, o.Context), size)
	if err != nil {
		panic(failure(name, err))
	}
	f := &Factorization{name: name, m: m, d: a.values.DType()}
	stop := stopOf(name, o.Context)
	f.factor = func(values *array.View) (factors, error) {
		switch values.DType {
		case array.Float32:
			return choleskyOf[float32](plan, values, stop)
		case array.Float64:
			return choleskyOf[float64](plan, values, stop)
		}
		return choleskyOf[complex128](plan, values, stop)
	}
	f.constants = []*weft.Tensor{m.indices, (*weft.Tensor)(m.offsets.T), m.onDiagonal()}
	f.gradient = func(m *Matrix, x, y *weft.Tensor, constants []*weft.Tensor) *weft.Tensor {
		g := m.Sampled(y, conjugate(x)).values.Add(m.Sampled(x, conjugate(y)).values)
		return g.Mul(constants[2].To(g.DType())) // elements of the diagonal count once
	}
	return f.begun()
}

// of returns the order of a square pattern, whose triangular factor has entries of size bytes. It panics where that does not
// fit in memory, or the context ends.
func (o Ordering) of(name string, p *sparse.Pattern, size int, ctx context.Context) []int32 {
	switch o {
	case MinimumDegree, SymmetricDegree:
		order, _, err := sparse.MinimumDegree(p.Symmetric(), nil, func(entries int) error { return mem.CheckHeap(entries * size) }, stopOf(name, ctx))
		if err != nil {
			panic(failure(name, err))
		}
		return order
	case Natural:
		order := make([]int32, p.Cols)
		for i := range order {
			order[i] = int32(i)
		}
		return order
	}
	array.Failf(name, "Ordering", "is %d, want MinimumDegree, Natural or SymmetricDegree", o)
	return nil
}

func ints(x []int32) []int {
	out := make([]int, len(x))
	for i, k := range x {
		out[i] = int(k)
	}
	return out
}

// onDiagonal is -1/2 at entries of the diagonal, -1 at others.
func (m *Matrix) onDiagonal() *weft.Tensor {
	off, idx := m.offsets.Ints(), m.index()
	out := make([]float32, len(idx))
	for i := range m.rows {
		for k := off[i]; k < off[i+1]; k++ {
			if out[k] = -1; int(idx[k]) == i {
				out[k] = -0.5
			}
		}
	}
	return weft.FromSlice(out)
}

// begun computes the factors of a copy of the values, unless a function is traced: values are not known there.
func (f *Factorization) begun() *Factorization {
	if core.TracingHere() == nil {
		f.m = f.m.with(f.m.values.Clone())
		f.own = (*core.Tensor)(f.m.values).View().Store
		f.known()
	}
	return f
}

type choleskyFactors[T sparse.Element] struct{ *sparse.Cholesky[T] }

func choleskyOf[T sparse.Element](plan *sparse.CholeskyPlan, values *array.View, stop sparse.Stop) (factors, error) {
	f, bad, err := sparse.Factor(plan, core.Slice[T](values), stop)
	switch {
	case err != nil:
		return nil, failure("sparse.cholesky", err)
	case bad >= 0:
		return nil, array.Errorf("sparse.cholesky", "a", "the matrix is not positive definite: the pivot of row %d is not positive", bad)
	}
	return choleskyFactors[T]{f}, nil
}

// stopOf returns the error of a factorization whose context has ended, nil before and without one.
func stopOf(name string, ctx context.Context) sparse.Stop {
	return func() error {
		if ctx == nil || ctx.Err() == nil {
			return nil
		}
		return &array.Error{Op: name, Msg: "the context ended", Err: context.Cause(ctx)}
	}
}

// failure returns the error of a factorization that ended early: that of [stopOf], or one for memory that does not suffice.
func failure(name string, err error) error {
	if e, ok := err.(*array.Error); ok {
		return e
	}
	return &array.Error{Kind: array.OutOfMemory, Op: name, Msg: "the factors do not fit in memory", Err: err}
}

func (f choleskyFactors[T]) solve(b *array.View, _ bool) {
	f.Solve(core.Slice[T](b), width(b))
}

// width is the number of right sides.
func width(b *array.View) int {
	if len(b.Shape) == 2 {
		return b.Shape[1]
	}
	return 1
}

func (f choleskyFactors[T]) lower() *Matrix {
	idx, off, v := f.Lower()
	n := len(off) - 1
	return &Matrix{format: CSC, rows: n, cols: n, values: weft.FromSlice(v), pattern: compressedPattern(idx, off, true)}
}

func (f choleskyFactors[T]) upper() *Matrix { return f.lower().H() }

func (f choleskyFactors[T]) perm() (rows, cols []int32) { return f.Order, f.Order }

func (f choleskyFactors[T]) entries() int { return f.Entries() }

// Solve returns the solution x of a*x = b for b, [n] or [n k] for k right sides, of the element type of a. Right sides
// have that type or are converted to it; complex ones of a real matrix have complex solutions.
//
// It panics with *[weft.Error] where shapes do not fit, and in compiled functions where a has no factors.
func (f *Factorization) Solve(b *weft.Tensor) *weft.Tensor {
	return f.solved("sparse.factorization.solve", b, false)
}

// SolveAdjoint returns the solution x of a^H*x = b, as [Factorization.Solve] that of a*x = b.
func (f *Factorization) SolveAdjoint(b *weft.Tensor) *weft.Tensor {
	return f.solved("sparse.factorization.solveadjoint", b, true)
}

func (f *Factorization) solved(name string, b *weft.Tensor, adjoint bool) *weft.Tensor {
	defer array.Named(name).End()
	f.notNil(name)
	onHost(name, "b", b)
	if r := b.Rank(); r < 1 || r > 2 || b.Dim(0) != f.m.rows {
		array.Failf(name, "b", "has shape %s, want %d rows", array.ShapeString(b.Shape()), f.m.rows)
	}
	d := f.m.values.DType()
	if b.DType().Complex() && !d.Complex() {
		return weft.Complex(f.solved(name, b.Real(), adjoint), f.solved(name, b.Imag(), adjoint))
	}
	return f.apply(f.m.values, b.To(d), f.constants, adjoint).To(f.d)
}

func (f *Factorization) notNil(name string) {
	array.Given(name, "f", f != nil)
	if f.m == nil {
		array.Failf(name, "f", "is a zero Factorization: Cholesky or LU makes one")
	}
}

// apply solves equations of m with other values.
func (f *Factorization) apply(values, b *weft.Tensor, constants []*weft.Tensor, adjoint bool) *weft.Tensor {
	c := &computation{name: f.name,
		shape: func(x []*weft.Tensor) []int { return x[1].Shape() },
		run: func(args []array.View, out *array.View) error {
			x, err := f.of(&args[0])
			if err != nil {
				return err
			}
			copy(core.Bytes(out), core.Bytes(&args[1]))
			x.solve(out, adjoint)
			return nil
		},
		back: func(x []*weft.Tensor, y, dy *weft.Tensor) []*weft.Tensor {
			db := f.apply(x[0], dy, x[2:], !adjoint)
			u, w := columns(y), columns(db)
			if adjoint {
				u, w = w, u
			}
			m := join([]*core.Tensor{(*core.Tensor)(x[0]), (*core.Tensor)(x[2]), (*core.Tensor)(x[3])}, form{f.m.format, f.m.rows, f.m.cols})
			return append([]*weft.Tensor{f.gradient(m, u, w, x[2:]), db}, make([]*weft.Tensor, len(x)-2)...)
		}}
	return c.of(slices.Concat([]*weft.Tensor{values, b}, constants)...)
}

// columns returns a vector as a column.
func columns(x *weft.Tensor) *weft.Tensor {
	if x.Rank() == 1 {
		return x.Unsqueeze(1)
	}
	return x
}

// L returns a copy of the lower triangular factor in compressed columns, without gradient. It panics with *[weft.Error]
// where that does not fit in memory.
func (f *Factorization) L() *Matrix { return f.copied("sparse.factorization.l", factors.lower) }

// U returns a copy of the upper triangular factor, without gradient: of [Cholesky] L^H. It panics as [Factorization.L].
func (f *Factorization) U() *Matrix { return f.copied("sparse.factorization.u", factors.upper) }

// copied returns one of the factors.
func (f *Factorization) copied(name string, which func(factors) *Matrix) *Matrix {
	f.notNil(name)
	x, d := f.known(), f.m.values.DType()
	core.CheckHeap(name, 2*x.entries()*(d.Size()+array.Int32.Size()), array.Uint8) // slices, and tensors of them
	return which(x).As(f.d)
}

// Perm returns the rows and columns of the matrix in the order of the factors: a.Permute(f.Perm()) is L * U.
func (f *Factorization) Perm() (rows, cols []int) {
	f.notNil("sparse.factorization.perm")
	r, c := f.known().perm()
	return ints(r), ints(c)
}

// String returns the matrix that was factored.
func (f *Factorization) String() string {
	return array.Describe("sparse.Factorization", "Matrix", f.m)
}
