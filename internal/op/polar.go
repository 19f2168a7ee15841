package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// PolarFactor and NuclearNorm are functions of singular vectors and values whose derivatives exist where values are
// equal. These divide by sums of two singular values: HermitianSylvester, and never by differences, as the
// derivative of SVD does. Source: Higham, Functions of Matrices, sections 8.1 and 8.4.
var PolarFactor, NuclearNorm, HermitianSylvester *Def

// polarBack is the gradient of a matrix from that of its polar factor y. With h = y^H*a the part in the range of y
// is y*z, where h*z + z*h = y^H*dy - dy^H*y, and the part beside it is divided by h.
func polarBack(x, y, dy *node) *node {
	m, n := rowsCols(x)
	h := hermitianPart(product2(adjoint(y), x))
	k := product2(adjoint(y), dy)
	g := product2(y, ApplyAll(HermitianSylvester, nil, h, sub(k, adjoint(k)))[0])
	if m > n {
		// h*z + z*h = 2 has the inverse of h for its solution.
		inverse := ApplyAll(HermitianSylvester, nil, h, onDiagonal(num(h, 2), expand(num(h, 0), h.Shape)))[0]
		g = add(g, product2(sub(dy, product2(y, k)), inverse))
	}
	return g
}

func init() {
	tall := []Sample{{Shapes: [][]int{{4, 4}}, Fit: wellConditioned}, {Shapes: [][]int{{2, 5, 3}}, Fit: wellConditioned}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{3, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}
	PolarFactor = unlisted(Def{Name: "polar_factor", Class: Routine, Arity: 1,
		Doc: "The matrices with orthonormal columns nearest to matrices that are square or tall; and the results of svd.",
		Typing: Typing{Wide: true, Results: 4, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			x := c.Args[0]
			m, n := rowsCols(x)
			if m < n {
				c.Failf("a", "has shape %s, want rows >= columns", array.ShapeString(x.Shape))
			}
			return []ir.Type{matrixOf(x, m, n), matrixOf(x, m, n), vectorOf(x, realPart(x.DType), n), matrixOf(x, n, n)}
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutinePolarFactor, Complex: true},
		Derivative:  Derivative{ByResult: true, VJP: func(v *VJP) { v.Set(0, func() *node { return polarBack(v.X[0], v.Ys[0], v.DYs[0]) }) }},
		Conformance: Conformance{Samples: tall}})
	NuclearNorm = unlisted(Def{Name: "nuclear_norm", Class: Routine, Arity: 1,
		Doc: "The sums of the singular values of matrices, vectors of one element; and the values.",
		Typing: Typing{Wide: true, Results: 2, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			x := c.Args[0]
			m, n := rowsCols(x)
			s := vectorOf(x, realPart(x.DType), min(m, n))
			return []ir.Type{vectorOf(x, s.DType, 1), s}
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineNuclearNorm, Complex: true},
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			v.Set(0, func() *node {
				x := v.X[0]
				m, n := rowsCols(x)
				var y *node
				if m < n {
					y = adjoint(ApplyAll(PolarFactor, nil, adjoint(x))[0])
				} else {
					y = ApplyAll(PolarFactor, nil, x)[0]
				}
				return mul(y, asColumns(v.DYs[0]))
			})
		}},
		Conformance: Conformance{Samples: append([]Sample{{Shapes: [][]int{{3, 5}}}, {Shapes: [][]int{{0, 3}}}}, tall...)}})
	HermitianSylvester = unlisted(Def{Name: "hermitian_sylvester", Class: Routine, Arity: 2,
		Doc: "The solutions z of h*z + z*h = k for positive definite h, whose lower triangles are read; and the results of eigh of h.",
		Typing: Typing{Wide: true, Results: 3, InferAll: func(c *Call) []ir.Type {
			c.matrices("h", "k")
			x := c.Args[0]
			n := c.square(0, "h")
			c.rows(1, "k", n)
			c.square(1, "k")
			return []ir.Type{matrixOf(x, n, n), vectorOf(x, realPart(x.DType), n), matrixOf(x, n, n)}
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineHermitianSylvester, Complex: true},
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			z := v.Ys[0]
			dk := ApplyAll(HermitianSylvester, nil, v.X[0], v.DYs[0])[0]
			v.Set(1, func() *node { return dk })
			v.Set(0, func() *node {
				return neg(hermitianPart(add(product2(dk, adjoint(z)), product2(adjoint(z), dk))))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}, {4, 4}}, Fit: definite, Symmetric: true}, {Shapes: [][]int{{0, 0}, {0, 0}}}, {Shapes: [][]int{{0, 3, 3}, {0, 3, 3}}}}}})
	for _, d := range []*Def{PolarFactor, NuclearNorm, HermitianSylvester} {
		batchRules[d.Name] = func(b *batcher, x *node, args []Batched) []*node {
			return ApplyAll(Of(x), x.Attrs, b.raised(args)...)
		}
	}
}
