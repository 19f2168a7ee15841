package sparse

import (
	"weft"
	"weft/internal/core"
)

// Matrices are arguments and results of compiled functions: values, indices and offsets are tensors of the
// call, so that other matrices with as many entries and rows run the same program. Products work there;
// what reads the sparsity pattern needs a matrix from outside, which the function captures.

func init() { core.RegisterHolder(split, join) }

// A form is what of a matrix a program depends on besides its tensors.
type form struct {
	format     Format
	rows, cols int
}

func split(m *Matrix) (tensors []*core.Tensor, static any) {
	m.notNil("sparse.compile", "m")
	tensors = []*core.Tensor{(*core.Tensor)(m.values), (*core.Tensor)(m.indices)}
	if m.format == COO {
		tensors = append(tensors, (*core.Tensor)(m.rowsOf))
	} else {
		tensors = append(tensors, m.offsets.T)
	}
	return tensors, form{m.format, m.rows, m.cols}
}

func join(tensors []*core.Tensor, static any) *Matrix {
	f := static.(form)
	m := &Matrix{format: f.format, rows: f.rows, cols: f.cols, values: (*weft.Tensor)(tensors[0]), pattern: &pattern{indices: (*weft.Tensor)(tensors[1])}}
	if f.format == COO {
		m.rowsOf = (*weft.Tensor)(tensors[2])
	} else {
		m.offsets = &core.Offsets{T: tensors[2]}
	}
	return m
}
