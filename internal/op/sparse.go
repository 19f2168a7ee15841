package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Sparse matrices in compressed rows. Row i has the entries offsets[i] to offsets[i+1]-1: as items of a list,
// offsets ascend, and entries before the first and behind the last are in no row. An entry has a value and
// the index of its column, which need not ascend in a row, and may be there twice: such entries add.
//
// Gradients of values are at the entries alone, as Theano's structured gradients and PyTorch's.
var SparseMatMul, SparseSampled *Def

// A SparseProduct says which matrix stands in a product: the transpose, whose number of rows no argument
// has, or the matrix itself.
type SparseProduct struct {
	Transposed bool
	Rows       int // of the transpose
}

func (a SparseProduct) AppendKey(k []byte) []byte { return ir.Int(ir.Flag(k, a.Transposed), a.Rows) }

// entries checks the values, if there are any, the indices and the offsets of a sparse matrix, and returns
// its number of rows.
func (c *Call) entries(values, indices, offsets int) int {
	i := c.Args[indices]
	if d := i.DType; d != array.Int64 && d != array.Int32 {
		c.Failf("indices", "has elements of type %s, want int64 or int32", d)
	}
	if len(i.Shape) != 1 {
		c.Failf("indices", "has shape %s, want one dimension", array.ShapeString(i.Shape))
	}
	if values >= 0 && !array.Equal(c.Args[values].Shape, i.Shape) {
		c.Failf("values", "has shape %s, want that of the indices, %s", array.ShapeString(c.Args[values].Shape), array.ShapeString(i.Shape))
	}
	return c.offsets(offsets)
}

// sparseFactors checks that two arguments are floats or complex numbers of one type.
func (c *Call) sparseFactors(i, j int, names ...string) {
	x, y := c.Args[i], c.Args[j]
	if !x.DType.Differentiable() {
		c.Failf(names[0], "has elements of type %s, want floats or complex numbers", x.DType)
	}
	if x.DType != y.DType {
		c.Failf(names[1], "has elements of type %s, and %s has %s", y.DType, names[0], x.DType)
	}
}

// conjugate is x, or its conjugate if it is complex.
func conjugate(x *node) *node {
	if x.DType.Complex() {
		return apply(Conj, x)
	}
	return x
}

func init() {
	f32, f64, i32, i64 := array.Float32, array.Float64, array.Int32, array.Int64
	SparseMatMul = define(Def{Name: "sparse_matmul", Class: Routine, Arity: 4, Attrs: SparseProduct{},
		Doc: "The product of a sparse matrix (values, indices, offsets) or its transpose with x, a vector or rows: arguments values, indices, x, offsets.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			a, x := c.Attrs.(SparseProduct), c.Args[2]
			rows := c.entries(0, 1, 3)
			c.sparseFactors(0, 2, "values", "x")
			if len(x.Shape) == 0 {
				c.Failf("x", "has no dimensions, want a vector or rows")
			}
			s := append([]int{rows}, x.Shape[1:]...)
			if a.Transposed {
				if x.Shape[0] != rows {
					c.Failf("x", "has shape %s, want %d rows, as the transposed sparse matrix has", array.ShapeString(x.Shape), rows)
				}
				s[0] = a.Rows
			}
			array.CheckShape(c.Def.Name, s, x.DType)
			return x.DType, s
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSparseMatMul, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			values, idx, x, off := v.X[0], v.X[1], v.X[2], v.X[3]
			a := v.Node.Attrs.(SparseProduct)
			v.Set(0, func() *node {
				if a.Transposed {
					return Apply(SparseSampled, nil, conjugate(x), idx, v.DY, off)
				}
				return Apply(SparseSampled, nil, v.DY, idx, conjugate(x), off)
			})
			v.Set(2, func() *node {
				back := SparseProduct{Transposed: !a.Transposed}
				if back.Transposed {
					back.Rows = x.Shape[0]
				}
				return Apply(SparseMatMul, back, conjugate(values), idx, v.DY, off)
			})
		}},
		Conformance: Conformance{Samples: sparseSamples(func(rows, width int) (Sample, bool) {
			s := Sample{Shapes: [][]int{{12}, {12}, {13, width}, {rows + 1}}, DTypes: []array.DType{f64, i32, f64, i64}}
			if width == 1 {
				s.Shapes[2], s.DTypes = []int{13}, []array.DType{f32, i64, f32, i64}
			}
			return s, rows == 13
		})}})
	SparseSampled = define(Def{Name: "sparse_sampled", Class: Routine, Arity: 4,
		Doc: "The elements of x*y^T at the entries of a sparse matrix, for rows x and y: arguments x, indices, y, offsets.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			x, y := c.Args[0], c.Args[2]
			rows := c.entries(-1, 1, 3)
			c.sparseFactors(0, 2, "x", "y")
			if len(x.Shape) == 0 || x.Shape[0] != rows {
				c.Failf("x", "has shape %s, want a row for each of %d rows of the sparse matrix", array.ShapeString(x.Shape), rows)
			}
			if len(y.Shape) != len(x.Shape) || !array.Equal(y.Shape[1:], x.Shape[1:]) {
				c.Failf("y", "has shape %s, want rows like x, %s", array.ShapeString(y.Shape), array.ShapeString(x.Shape))
			}
			return x.DType, c.Args[1].Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSparseSampled, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			x, idx, y, off := v.X[0], v.X[1], v.X[2], v.X[3]
			v.Set(0, func() *node {
				return Apply(SparseMatMul, SparseProduct{}, v.DY, idx, conjugate(y), off)
			})
			v.Set(2, func() *node {
				return Apply(SparseMatMul, SparseProduct{Transposed: true, Rows: y.Shape[0]}, v.DY, idx, conjugate(x), off)
			})
		}},
		Conformance: Conformance{Samples: sparseSamples(func(rows, width int) (Sample, bool) {
			s := Sample{Shapes: [][]int{{rows, width}, {12}, {13, width}, {rows + 1}}, DTypes: []array.DType{f64, i32, f64, i64}}
			if width == 1 {
				s.Shapes[0], s.Shapes[2], s.DTypes = []int{rows}, []int{13}, []array.DType{f32, i64, f32, i64}
			}
			return s, false
		})}})
}

// sparseSamples are samples of 12 entries with 13 columns: f makes one for rows, of vectors where width is 1,
// and says whether the transpose is tried too.
func sparseSamples(f func(rows, width int) (s Sample, transpose bool)) (out []Sample) {
	for _, size := range [][2]int{{5, 1}, {5, 3}, {13, 1}, {13, 21}, {0, 2}, {3, 0}} {
		s, transpose := f(size[0], size[1])
		s.Max, s.Ascending, s.Inside = 13, true, true
		out = append(out, s)
		if transpose {
			s.Attrs = SparseProduct{Transposed: true, Rows: 15}
			out = append(out, s)
		}
	}
	return out
}
