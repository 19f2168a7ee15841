package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Linear algebra. Matrices are the last two axes, and axes before them count matrices, equally many in
// all arguments. docs/decisions/0221-linear-algebra.md says what is an operation here and what is built of
// operations in package linalg.
//
// Gradients of complex numbers are by the conjugate, as in PyTorch. Sources: Giles, "Collected
// matrix derivative results for forward and reverse mode algorithmic differentiation", 2008; Walter and
// Lehmann, "Algorithmic differentiation of linear algebra functions", 2010.
var Cholesky, SolveTriangular *Def

// A Triangle says which triangle of a matrix counts, and whether its conjugate transpose stands in its
// place.
type Triangle struct{ Lower, Unit, Adjoint bool }

func (a Triangle) AppendKey(k []byte) []byte {
	return ir.Flag(ir.Flag(ir.Flag(k, a.Lower), a.Unit), a.Adjoint)
}

// matrices checks that the arguments are floats or complex numbers of one type, and matrices of one batch.
func (c *Call) matrices(names ...string) {
	first := c.Args[0]
	for i, x := range c.Args {
		if !x.DType.Differentiable() || x.DType.Half() {
			c.Failf(names[i], "has elements of type %s, want floats or complex numbers: convert with To first", x.DType)
		}
		if x.DType != first.DType {
			c.Failf(names[i], "has elements of type %s, and %s has %s", x.DType, names[0], first.DType)
		}
		r := len(x.Shape)
		if r < 2 {
			c.Failf(names[i], "has shape %s, want a matrix in the last two axes", array.ShapeString(x.Shape))
		}
		if k := len(first.Shape); r != k || !array.Equal(x.Shape[:r-2], first.Shape[:k-2]) {
			c.Failf(names[i], "has shape %s, want the axes before the last two of %s, %s", array.ShapeString(x.Shape), names[0], array.ShapeString(first.Shape))
		}
	}
}

// square checks that the matrices of an argument are square, and returns their size.
func (c *Call) square(i int, name string) int {
	s := c.Args[i].Shape
	n := s[len(s)-1]
	if s[len(s)-2] != n {
		c.Failf(name, "has shape %s, want square matrices in the last two axes", array.ShapeString(s))
	}
	return n
}

// rows checks that the matrices of an argument have n rows.
func (c *Call) rows(i int, name string, n int) {
	s := c.Args[i].Shape
	if s[len(s)-2] != n {
		c.Failf(name, "has shape %s, want matrices of %d rows in the last two axes", array.ShapeString(s), n)
	}
}

// adjoint is the conjugate transpose of matrices.
func adjoint(x *node) *node {
	if x.DType.Complex() {
		x = apply(Conj, x)
	}
	return swapLast(x)
}

// lowerOf and upperOf are the triangles of matrices with all but the elements up to or from a diagonal 0.
func lowerOf(x *node, k int) *node { return Apply(Tril, Offset(k), x) }
func upperOf(x *node, k int) *node { return Apply(Triu, Offset(k), x) }

// product2 is the product of matrices of one batch.
func product2(x, y *node) *node { return apply(MatMul2, x, y) }

// lowerHalf is the lower triangle, with half of the diagonal.
func lowerHalf(x *node) *node { return scale(add(lowerOf(x, 0), lowerOf(x, -1)), 0.5) }

// solveTri solves equations of triangular matrices.
func solveTri(a, b *node, t Triangle) *node { return Apply(SolveTriangular, t, a, b) }

// definite makes a positive definite matrix of the random elements of the first argument.
func definite(i int, shape []int, x []float64) {
	if i == 0 {
		eachMatrix(shape, x, func(n, _ int, x []float64) {
			y := make([]float64, n*n)
			for i := range n {
				for j := range n {
					for k := range n {
						y[i*n+j] += x[i*n+k] * x[j*n+k] / float64(n)
					}
				}
				y[i*n+i] += 2
			}
			copy(x, y)
		})
	}
}

// wellConditioned adds a multiple of the identity to the random matrices of the first argument.
func wellConditioned(i int, shape []int, x []float64) {
	if i == 0 {
		eachMatrix(shape, x, func(n, m int, x []float64) {
			for i := range min(n, m) {
				x[i*m+i] += 4 + float64(n)/2
			}
		})
	}
}

// eachMatrix calls f for each matrix of an array.
func eachMatrix(shape []int, x []float64, f func(rows, cols int, x []float64)) {
	n, m := shape[len(shape)-2], shape[len(shape)-1]
	for at := 0; n*m > 0 && at < len(x); at += n * m {
		f(n, m, x[at:at+n*m])
	}
}

func init() {
	Cholesky = define(Def{Name: "cholesky", Class: Routine, Arity: 1,
		Doc: "The lower triangular matrix L with L*L^H = a, of positive definite matrices. Only the lower triangle of a is read. The gradient is Hermitian.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a")
			c.square(0, "a")
			return c.Args[0].DType, c.Args[0].Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineCholesky, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				// Giles, section 3.1: dA = L^-H lowerHalf(L^H dL) L^-1, made Hermitian.
				back := Triangle{Lower: true, Adjoint: true}
				p := solveTri(v.Y, lowerHalf(product2(adjoint(v.Y), v.DY)), back)
				s := solveTri(v.Y, adjoint(p), back)
				return scale(add(s, adjoint(s)), 0.5)
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}, Fit: definite, Symmetric: true}, {Shapes: [][]int{{2, 3, 3}}, Fit: definite, Symmetric: true}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}}})
	SolveTriangular = define(Def{Name: "solve_triangular", Class: Routine, Arity: 2, Attrs: Triangle{},
		Doc: "The solution x of a*x = b for triangular matrices a.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a", "b")
			c.rows(1, "b", c.square(0, "a"))
			return c.Args[0].DType, c.Args[1].Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSolveTriangular, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			t := v.Node.Attrs.(Triangle)
			back := t
			back.Adjoint = !t.Adjoint
			db := solveTri(v.X[0], v.DY, back)
			v.Set(1, func() *node { return db })
			v.Set(0, func() *node {
				var da *node
				if t.Adjoint {
					da = product2(v.Y, adjoint(db))
				} else {
					da = product2(db, adjoint(v.Y))
				}
				k := 0
				if t.Unit {
					k = 1
				}
				if t.Lower {
					return neg(lowerOf(da, -k))
				}
				return neg(upperOf(da, k))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}, {4, 3}}, Fit: wellConditioned}, {Shapes: [][]int{{2, 3, 3}, {2, 3, 2}}, Attrs: Triangle{Lower: true, Adjoint: true}, Fit: wellConditioned},
			{Shapes: [][]int{{3, 3}, {3, 2}}, Attrs: Triangle{Lower: true, Unit: true}}, {Shapes: [][]int{{0, 0}, {0, 2}}}}}})
}
