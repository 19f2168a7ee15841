package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// qrBack is the gradient of a matrix a = q*r from the gradients of its factors, dq nil for none. Source: Walter and
// Lehmann, "Algorithmic differentiation of linear algebra functions with application in optimum experimental
// design", 2010; for fewer rows than columns what is right of a square is q*r2, and its gradient goes to q.
func qrBack(q, r, dq, dr *node) *node {
	m, n := rowsCols(r)
	if m < n {
		r2, dr2 := part(r, 0, m, m, n-m), part(dr, 0, m, m, n-m)
		more := product2(q, product2(r2, adjoint(dr2)))
		if dq != nil {
			more = add(dq, more)
		}
		return besides(1, qrBack(q, part(r, 0, 0, m, m), more, part(dr, 0, 0, m, m)), product2(q, dr2))
	}
	t := product2(dr, adjoint(r))
	if dq != nil {
		t = sub(t, product2(adjoint(q), dq))
	}
	t = upperOf(t, 0)
	// Hermitian, with the real diagonal of t.
	both := add(t, adjoint(t))
	both = sub(both, scale(triangleOf("qr", Eq, both, 0), 0.5))
	da := product2(q, both)
	if dq != nil {
		da = add(dq, da)
	}
	return adjoint(solveTri(r, adjoint(da), Triangle{}))
}

func init() {
	types := func(c *Call, k int) []ir.Type {
		c.matrices("a")
		x := c.Args[0]
		m, n := rowsCols(x)
		batch := x.Shape[: len(x.Shape)-2 : len(x.Shape)-2]
		return []ir.Type{{DType: x.DType, Shape: append(append([]int{}, batch...), m, k)}, {DType: x.DType, Shape: append(append([]int{}, batch...), k, n)}}
	}
	QR = define(Def{Name: "qr", Class: Routine, Arity: 1, Attrs: Complete(false),
		Doc: "The factors q, of orthonormal columns, and r, upper triangular, of matrices: q*r = a.",
		Typing: Typing{Wide: true, Results: 2, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			m, n := rowsCols(c.Args[0])
			k := min(m, n)
			if c.Attrs.(Complete) {
				k = m
			}
			return types(c, k)
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineQR, Complex: true},
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			v.Set(0, func() *node {
				if m, n := rowsCols(v.X[0]); bool(v.Node.Attrs.(Complete)) && m > n {
					array.Failf("backward", "", "qr with all columns has no gradient for more rows than columns: %s", array.ShapeString(v.X[0].Shape))
				}
				dq := v.DYs[0]
				if zeroGradient(dq) {
					dq = nil
				}
				return qrBack(v.Ys[0], v.Ys[1], dq, v.DYs[1])
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}, Fit: wellConditioned}, {Shapes: [][]int{{2, 5, 3}}, Fit: wellConditioned}, {Shapes: [][]int{{3, 5}}, Fit: wellConditioned},
			{Shapes: [][]int{{3, 4}}, Attrs: Complete(true), Fit: wellConditioned}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}}}}})
	QRTriangle = define(Def{Name: "qr_triangle", Class: Routine, Arity: 1,
		Doc: "The factor r of qr.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a")
			m, n := rowsCols(c.Args[0])
			r := types(c, min(m, n))[1]
			return r.DType, r.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineQRTriangle, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				m, n := rowsCols(v.X[0])
				k := min(m, n)
				// q = a*r^-1
				q := adjoint(solveTri(part(v.Y, 0, 0, k, k), adjoint(part(v.X[0], 0, 0, m, k)), Triangle{Adjoint: true}))
				return qrBack(q, v.Y, nil, v.DY)
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{2, 5, 3}}, Fit: wellConditioned}, {Shapes: [][]int{{3, 5}}, Fit: wellConditioned}, {Shapes: [][]int{{0, 3}}}}}})
}
