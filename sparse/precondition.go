package sparse

import (
	"math"

	"weft"
	"weft/internal/array"
	"weft/internal/cpu/sparse"
)

// coalescedSquare returns a square matrix in coalesced rows of float64 or complex128, without gradient.
func coalescedSquare(name string, a *Matrix) *Matrix {
	a.notNil(name, "a")
	if a.rows != a.cols {
		array.Failf(name, "a", "is [%d %d], want a square matrix", a.rows, a.cols)
	}
	m := a.with(a.values.Detach()).To(CSR).Coalesce()
	if m.values.DType().Complex() {
		return m.As(weft.Complex128)
	}
	return m.As(weft.Float64)
}

// Jacobi returns the preconditioner that divides by the diagonal of a. It panics with *[weft.Error] where an
// element of the diagonal is 0.
func Jacobi(a *Matrix) Operator {
	const name = "sparse.jacobi"
	defer array.Named(name).End()
	d := coalescedSquare(name, a).Diagonal()
	for i, zero := range weft.Data[bool](d.Eq(0)) {
		if zero {
			array.Failf(name, "a", "element (%d, %d) of the diagonal is 0", i, i)
		}
	}
	return func(x *weft.Tensor) *weft.Tensor { return x.Div(d.To(array.Promote(x.DType(), narrowed(d, x)))) }
}

// narrowed is the element type of a factor for vectors x: x's size, complex if the factor is.
func narrowed(d, x *weft.Tensor) weft.DType {
	if d.DType().Complex() && !x.DType().Complex() {
		return d.DType()
	}
	return x.DType()
}

// ILU returns the preconditioner of an incomplete LU factorization without fill-in: the factors have entries
// where a has one. It panics with *[weft.Error] where a pivot is 0 or missing.
//
// Source: Saad, "Iterative methods for sparse linear systems", 2nd edition, algorithm 10.4.
func ILU(a *Matrix) Operator {
	const name = "sparse.ilu"
	defer array.Named(name).End()
	m := coalescedSquare(name, a)
	bad := -1
	if m.values.DType().Complex() {
		bad = factorILU[complex128](m)
	} else {
		bad = factorILU[float64](m)
	}
	if bad >= 0 {
		array.Failf(name, "a", "pivot %d is 0 or not stored", bad)
	}
	lower, upper := sparse.Triangle{Lower: true, Unit: true}, sparse.Triangle{}
	return func(x *weft.Tensor) *weft.Tensor {
		f := m.As(narrowed(m.values, x))
		return solve(f, solve(f, x.To(f.DType()), lower), upper)
	}
}

// factorILU replaces the values of a matrix by its factors. It returns the first bad pivot, or -1.
func factorILU[T float64 | complex128](m *Matrix) int {
	off, idx := m.offsets.Ints(), m.index()
	v := append([]T{}, weft.Data[T](m.values)...)
	diagonal := make([]int64, m.rows)
	at := make([]int64, m.cols) // of a column in the row, 1 more
	for i := range m.rows {
		diagonal[i] = -1
		for k := off[i]; k < off[i+1]; k++ {
			at[idx[k]] = k + 1
			if int(idx[k]) == i {
				diagonal[i] = k
			}
		}
		for k := off[i]; k < off[i+1] && int(idx[k]) < i; k++ {
			j := idx[k]
			v[k] /= v[diagonal[j]]
			for q := diagonal[j] + 1; q < off[j+1]; q++ {
				if p := at[idx[q]]; p != 0 {
					v[p-1] = sparse.MultiplyAdd(-v[k], v[q], v[p-1])
				}
			}
		}
		for k := off[i]; k < off[i+1]; k++ {
			at[idx[k]] = 0
		}
		if diagonal[i] < 0 || v[diagonal[i]] == 0 {
			return i
		}
	}
	m.values = weft.FromSlice(v)
	return -1
}

// IC returns the preconditioner of an incomplete Cholesky factorization without fill-in, for a symmetric or
// Hermitian positive definite a, whose lower triangle is read. It panics with *[weft.Error] where a pivot is
// not positive, which may happen for a definite matrix too: ILU or a larger diagonal helps.
//
// Source: Saad, "Iterative methods for sparse linear systems", 2nd edition, section 10.3.
func IC(a *Matrix) Operator {
	const name = "sparse.ic"
	defer array.Named(name).End()
	m := coalescedSquare(name, a).Tril(0)
	bad := -1
	if m.values.DType().Complex() {
		bad = factorIC[complex128](m)
	} else {
		bad = factorIC[float64](m)
	}
	if bad >= 0 {
		array.Failf(name, "a", "pivot %d is not positive", bad)
	}
	back := m.with(conjugate(m.values))
	return func(x *weft.Tensor) *weft.Tensor {
		d := narrowed(m.values, x)
		y := solve(m.As(d), x.To(d), sparse.Triangle{Lower: true})
		return solve(back.As(d), y, sparse.Triangle{Lower: true, Transposed: true})
	}
}

// factorIC replaces a lower triangle by its factor, row by row: an element is a product of two rows of the
// factor taken from that of the matrix. It returns the first bad pivot, or -1.
func factorIC[T float64 | complex128](m *Matrix) int {
	off, idx := m.offsets.Ints(), m.index()
	v := append([]T{}, weft.Data[T](m.values)...)
	for i := range m.rows {
		for k := off[i]; k < off[i+1]; k++ {
			j, s := int(idx[k]), v[k]
			p, q := off[i], off[j]
			for p < k && q < off[j+1]-1 {
				switch {
				case idx[p] < idx[q]:
					p++
				case idx[p] > idx[q]:
					q++
				default:
					s = sparse.MultiplyAdd(-v[p], conjugated(v[q]), s)
					p, q = p+1, q+1
				}
			}
			if j < i {
				v[k] = s / v[off[j+1]-1]
				continue
			}
			d := realPart(s)
			if !(d > 0) {
				return i
			}
			v[k] = fromReal[T](math.Sqrt(d))
		}
		if end := off[i+1]; end == off[i] || int(idx[end-1]) != i {
			return i
		}
	}
	m.values = weft.FromSlice(v)
	return -1
}

func conjugated[T float64 | complex128](x T) T {
	if z, ok := any(x).(complex128); ok {
		return any(conj(z)).(T)
	}
	return x
}

func realPart[T float64 | complex128](x T) float64 {
	switch z := any(x).(type) {
	case complex128:
		return real(z)
	case float64:
		return z
	}
	return 0
}

func fromReal[T float64 | complex128](x float64) T {
	var zero T
	if _, ok := any(zero).(complex128); ok {
		return any(complex(x, 0)).(T)
	}
	return any(x).(T)
}
