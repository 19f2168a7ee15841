package sparse

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// apply computes an operation of one result.
func apply(d *op.Def, a interface{ AppendKey([]byte) []byte }, ts ...*weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.WithAttrs(d, a, core.Inner(ts)...))
}

// MatMul returns the product of m, [rows cols], and x: a vector [cols] gives [rows], and [cols k] gives
// [rows k]. Element types meet. The gradient of m's values is at their entries alone, as Theano's structured
// gradient. Compressed rows and columns are read as they are; other formats are converted first.
func (m *Matrix) MatMul(x *weft.Tensor) *weft.Tensor {
	const name = "sparse.matmul"
	defer array.Named(name).End()
	m.notNil(name, "m")
	return m.times(name, x, false)
}

// LeftMatMul returns the product of x and m, [rows cols]: a vector [rows] gives [cols], and [k rows] gives
// [k cols].
func (m *Matrix) LeftMatMul(x *weft.Tensor) *weft.Tensor {
	const name = "sparse.leftmatmul"
	defer array.Named(name).End()
	m.notNil(name, "m")
	(*core.Tensor)(x).CheckArgument(name, "x")
	if x.Rank() < 2 {
		return m.times(name, x, true)
	}
	return m.times(name, x.Transpose(-1, -2), true).Transpose(-1, -2)
}

// times multiplies m or its transpose with x.
func (m *Matrix) times(name string, x *weft.Tensor, transposed bool) *weft.Tensor {
	(*core.Tensor)(x).CheckArgument(name, "x")
	n := m.cols
	if transposed {
		n = m.rows
	}
	if r := x.Rank(); r < 1 || r > 2 || !transposed && x.Dim(0) != n || transposed && x.Dim(0) != n {
		array.Failf(name, "x", "has shape %s, want a vector or a matrix that fits %s", array.ShapeString(x.Shape()), m)
	}
	if m.format > CSC {
		m = m.To(CSR)
	}
	if m.format == CSC {
		transposed = !transposed
	}
	values, x := meet(m.values, floats(x))
	a := op.SparseProduct{Transposed: transposed}
	if transposed {
		a.Rows = m.minor()
	}
	return apply(op.SparseMatMul, a, values, m.indices, x, (*weft.Tensor)(m.offsets.T))
}

// meet returns two tensors of one element type.
func meet(x, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
	d := array.Promote(x.DType(), y.DType())
	return x.To(d), y.To(d)
}

// Sampled returns the elements of the product of x, [rows k], and y^T, for y [cols k], at the entries of m,
// with m's pattern; m's values do not count. It is Theano's sampling_dot, and the sampled product of PyTorch.
func (m *Matrix) Sampled(x, y *weft.Tensor) *Matrix {
	const name = "sparse.sampled"
	defer array.Named(name).End()
	m.notNil(name, "m")
	for i, t := range [2]*weft.Tensor{x, y} {
		arg := [2]string{"x", "y"}[i]
		(*core.Tensor)(t).CheckArgument(name, arg)
		if n := m.Shape()[i]; t.Rank() != 2 || t.Dim(0) != n {
			array.Failf(name, arg, "has shape %s, want %d rows", array.ShapeString(t.Shape()), n)
		}
	}
	if x.Dim(1) != y.Dim(1) {
		array.Failf(name, "y", "has shape %s, want %d columns as x", array.ShapeString(y.Shape()), x.Dim(1))
	}
	if m.format > CSC {
		m = m.To(CSR)
	}
	x, y = meet(floats(x), floats(y))
	if m.format == CSC {
		x, y = y, x
	}
	return m.with(apply(op.SparseSampled, nil, x, m.indices, y, (*weft.Tensor)(m.offsets.T)))
}
