package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Factorizations with pivots, and orthogonal ones.
var LUFactor, LUSolve, Permutation, Solve, QR, QRTriangle *Def

// Adjoined says that the conjugate transpose stands in the place of the matrix.
type Adjoined bool

// Complete says that QR has all columns of the orthogonal matrix.
type Complete bool

func (a Adjoined) AppendKey(k []byte) []byte { return ir.Flag(k, bool(a)) }
func (a Complete) AppendKey(k []byte) []byte { return ir.Flag(k, bool(a)) }

// part is rows and columns of matrices from (i, j) on.
func part(x *node, i, j, rows, cols int) *node {
	r := len(x.Shape)
	return Narrow(Narrow(x, r-2, i, rows), r-1, j, cols)
}

// rowsCols is the size of matrices.
func rowsCols(x *node) (m, n int) {
	r := len(x.Shape)
	return x.Shape[r-2], x.Shape[r-1]
}

// besides joins matrices along an axis counted from the back.
func besides(axis int, x ...*node) *node { return Apply(Cat, Axis(len(x[0].Shape)-axis), x...) }

// unitLower is the factor L in the result of lu_factor.
func unitLower(lu *node) *node {
	m, n := rowsCols(lu)
	l := lowerOf(part(lu, 0, 0, m, min(m, n)), -1)
	return add(l, triangleOf("lu_factor", Eq, expand(num(l, 1), l.Shape), 0))
}

// permuted puts row order[i] of a matrix in the place of row i, or back.
func permuted(x, pivots *node, back bool) *node {
	r := len(x.Shape)
	order := Apply(Permutation, Count(x.Shape[r-2]), pivots)
	index := expand(reshape(order, append(append([]int{}, order.Shape...), 1)), x.Shape)
	if back {
		return Apply(scatterSum, Target{r - 2, x.Shape}, x, index)
	}
	return Apply(Gather, Axis(r-2), x, index)
}

// zeroGradient reports a gradient that is known to be zeros.
func zeroGradient(x *node) bool {
	for x != nil && Of(x) != nil && (Of(x).Class == View || Of(x) == Complex) {
		x = x.Args[0]
	}
	return x == nil || isZero(x)
}

// factorBack is the gradient of a matrix from that of its factors, the result lu of lu_factor. With
// M = L^-1 dA U^-1 the differentials are dL = L*slo(M) and dU = up(M)*U, where slo and up are the strictly
// lower and the upper triangle; what is below or right of a square is solved for.
func factorBack(lu, pivots, dlu *node) *node {
	m, n := rowsCols(lu)
	k := min(m, n)
	l, u := unitLower(part(lu, 0, 0, k, k)), withoutZeros(part(lu, 0, 0, k, k))
	up := upperOf(u, 0)
	gl, gu := lowerOf(part(dlu, 0, 0, k, k), -1), upperOf(part(dlu, 0, 0, k, k), 0)
	low, high := product2(adjoint(l), gl), product2(gu, adjoint(up))
	unitBack := Triangle{Lower: true, Unit: true, Adjoint: true}
	// right is x*U^-H.
	right := func(x *node) *node { return adjoint(solveTri(u, adjoint(x), Triangle{})) }
	if m > n {
		below := part(dlu, n, 0, m-n, n)
		high = sub(high, product2(adjoint(part(lu, n, 0, m-n, n)), below))
		top := right(solveTri(l, add(lowerOf(low, -1), upperOf(high, 0)), unitBack))
		return permuted(besides(2, top, right(below)), pivots, true)
	}
	if m < n {
		beside := part(dlu, 0, m, m, n-m)
		low = sub(low, product2(beside, adjoint(part(lu, 0, m, m, n-m))))
		left := right(solveTri(l, add(lowerOf(low, -1), upperOf(high, 0)), unitBack))
		return permuted(besides(1, left, solveTri(l, beside, unitBack)), pivots, true)
	}
	return permuted(right(solveTri(l, add(lowerOf(low, -1), upperOf(high, 0)), unitBack)), pivots, true)
}

// withoutZeros puts a small multiple of the greatest element in the place of zeros on the diagonal. So the
// gradient of a singular matrix is that of a regular one beside it: of a determinant of rank n-1 the
// adjugate, to rounding.
func withoutZeros(u *node) *node {
	r := len(u.Shape)
	if u.Size() == 0 {
		return u
	}
	eps := 0x1p-52
	if u.DType.Part() == array.Float32 {
		eps = 0x1p-23
	}
	top := withKeep(Max, apply(Abs, Apply(Stop, nil, u)), []int{r - 2, r - 1})
	small := scale(add(top, where(apply(Eq, top, num(top, 0)), num(top, 1), num(top, 0))), eps)
	zero := where(apply(Eq, u, num(u, 0)), small, num(small, 0))
	return add(u, triangleOf("lu_factor", Eq, zero, 0))
}

// luTypes are the types of factors and pivots of an argument.
func luTypes(x *node) []ir.Type {
	r := len(x.Shape)
	pivots := append(append([]int{}, x.Shape[:r-2]...), min(x.Shape[r-2], x.Shape[r-1]))
	return []ir.Type{{DType: x.DType, Shape: x.Shape}, {DType: array.Int64, Shape: pivots}}
}

// pivotsOf checks pivots for matrices x.
func (c *Call) pivotsOf(i int, x *node) {
	p, r := c.Args[i], len(x.Shape)
	if p.DType != array.Int64 || len(p.Shape) != r-1 || !array.Equal(p.Shape[:r-2], x.Shape[:r-2]) || p.Shape[r-2] != min(x.Shape[r-2], x.Shape[r-1]) {
		c.Failf("pivots", "is %s, want int64 for matrices of shape %s", array.TypeString(p.DType, p.Shape), array.ShapeString(x.Shape))
	}
}

// upside makes matrices whose pivots are far above other elements, the last row first.
func upside(i int, shape []int, x []float64) {
	if i == 0 {
		eachMatrix(shape, x, func(n, m int, x []float64) {
			for i := range min(n, m) {
				x[(n-1-i)*m+i] += 5 + float64(n)
			}
		})
	}
}

// withPivots are the types of samples of lu_solve.
var withPivots = []array.DType{array.Float64, array.Int64, array.Float64}

func init() {
	LUFactor = define(Def{Name: "lu_factor", Class: Routine, Arity: 1,
		Doc: "The factors L and U of matrices whose rows are exchanged, in one matrix: the diagonal of L, ones, is not stored. And the row, int64, with which each row was exchanged, one after the other.",
		Typing: Typing{Wide: true, Results: 2, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			return luTypes(c.Args[0])
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineLUFactor, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return factorBack(v.Ys[0], v.Ys[1], v.DYs[0]) })
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}, Fit: upside}, {Shapes: [][]int{{2, 5, 3}}, Fit: upside}, {Shapes: [][]int{{3, 5}}, Fit: upside}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{2, 0, 3}}}}}})
	Permutation = define(Def{Name: "pivots_to_permutation", Class: Routine, Arity: 1, Attrs: Count(0),
		Doc: "The order of some number of rows, int64, after exchanges as lu_factor gives them: row i was row order[i].",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			p, n := c.Args[0], int(c.Attrs.(Count))
			r := len(p.Shape)
			if p.DType != array.Int64 || r == 0 || p.Shape[r-1] > n {
				c.Failf("pivots", "is %s, want int64 and at most %d in a row", array.TypeString(p.DType, p.Shape), n)
			}
			return array.Int64, append(append([]int{}, p.Shape[:r-1]...), n)
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutinePermutation, Contiguous: true},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 1}}, DTypes: []array.DType{array.Int64}, Max: 4, Attrs: Count(4)}}}})
	LUSolve = define(Def{Name: "lu_solve", Class: Routine, Arity: 3, Attrs: Adjoined(false),
		Doc: "The solution x of a*x = b, or of a^H*x = b, for the results of lu_factor of a, and b.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			lu, b := c.Args[0], c.Args[2]
			(&Call{Def: c.Def, Args: []*node{lu, b}}).matrices("lu", "b")
			c.rows(2, "b", c.square(0, "lu"))
			c.pivotsOf(1, lu)
			return lu.DType, b.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineLUSolve, Complex: true, Contiguous: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			lu, pivots := v.X[0], v.X[1]
			turned := bool(v.Node.Attrs.(Adjoined))
			db := Apply(LUSolve, Adjoined(!turned), lu, pivots, v.DY)
			v.Set(2, func() *node { return db })
			v.Set(0, func() *node {
				// M = L*U has the gradient dm.
				var dm *node
				if turned {
					dm = neg(product2(permuted(v.Y, pivots, false), adjoint(db)))
				} else {
					dm = neg(product2(permuted(db, pivots, false), adjoint(v.Y)))
				}
				return add(lowerOf(product2(dm, adjoint(upperOf(lu, 0))), -1), upperOf(product2(adjoint(unitLower(lu)), dm), 0))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}, {4}, {4, 2}}, DTypes: withPivots, Max: 3, Fit: wellConditioned}, {Shapes: [][]int{{2, 3, 3}, {2, 3}, {2, 3, 2}}, Attrs: Adjoined(true), DTypes: withPivots, Max: 3, Fit: wellConditioned}}}})
	Solve = define(Def{Name: "solve", Class: Routine, Arity: 2,
		Doc: "The solution x of a*x = b for square matrices, and the results of lu_factor of a.",
		Typing: Typing{Wide: true, Results: 3, InferAll: func(c *Call) []ir.Type {
			c.matrices("a", "b")
			c.rows(1, "b", c.square(0, "a"))
			return append([]ir.Type{{DType: c.Args[0].DType, Shape: c.Args[1].Shape}}, luTypes(c.Args[0])...)
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSolve, Complex: true},
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			lu, pivots := v.Ys[1], v.Ys[2]
			var db *node
			if !zeroGradient(v.DYs[0]) {
				db = Apply(LUSolve, Adjoined(true), lu, pivots, v.DYs[0])
				v.Set(1, func() *node { return db })
			} else {
				v.Set(1, func() *node { return expand(num(v.X[1], 0), v.X[1].Shape) })
			}
			v.Set(0, func() *node {
				var da *node
				if db != nil {
					da = neg(product2(db, adjoint(v.Y)))
				}
				if !zeroGradient(v.DYs[1]) {
					f := factorBack(lu, pivots, v.DYs[1])
					if da == nil {
						return f
					}
					da = add(da, f)
				}
				if da == nil {
					return expand(num(v.X[0], 0), v.X[0].Shape)
				}
				return da
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}, {4, 2}}, Fit: upside}, {Shapes: [][]int{{2, 3, 3}, {2, 3, 1}}, Fit: upside}, {Shapes: [][]int{{0, 0}, {0, 2}}}}}})
}
