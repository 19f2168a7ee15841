package op

import (
	"weft/internal/array"
	"weft/internal/ir"
)

// Eigenvalues, singular values and functions of matrices. Gradients are those that PyTorch documents: they
// hold for losses that do not depend on the signs or phases of vectors, and are not finite where
// vectors of equal values count. Sources: Giles, as in linalg.go; Boeddeker, Hanebrink, Drude, Heymann and
// Haeb-Umbach, "On the computation of complex-valued gradients with application to statistically optimum
// beamforming", 2017; Wan and Zhang, "Automatic differentiation for complex valued SVD", 2019.
var Eigh, EigValsH, SVD, SVDVals, Eig, EigVals, Schur, Hessenberg, PInv, Expm, Logm, Sqrtm *Def

// AllVectors says that singular vectors form bases of the whole spaces.
type AllVectors bool

func (a AllVectors) AppendKey(k []byte) []byte { return ir.Flag(k, bool(a)) }

// A Cutoff is the size, relative to the largest singular value, up to which singular values count as 0.
type Cutoff float64

func (a Cutoff) AppendKey(k []byte) []byte { return ir.Float(k, float64(a)) }

// columns and rowsOf are vectors as factors of the columns or rows of matrices.
func asColumns(x *node) *node {
	r := len(x.Shape)
	return reshape(x, append(append([]int{}, x.Shape[:r-1]...), 1, x.Shape[r-1]))
}

func asRows(x *node) *node { return reshape(x, append(append([]int{}, x.Shape...), 1)) }

// onDiagonal is x on the diagonal of square matrices and y elsewhere; one of them may be a number, or a
// factor of columns.
func onDiagonal(x, y *node) *node {
	like := y
	if len(like.Shape) == 0 {
		like = x
	}
	n := like.Shape[len(like.Shape)-1]
	place := Apply(Expand, Shape{n, n}, y.Graph.Number(0, array.Float32, false))
	return where(apply(Eq, Apply(Iota, Axis(0), place), Apply(Iota, Axis(1), place)), x, y)
}

// quotient is x/y, 0 where both are 0: what does not depend on vectors of equal values has no part of them.
func quotient(x, y *node) *node {
	nothing := apply(LogicalAnd, apply(Eq, x, num(x, 0)), apply(Eq, y, num(y, 0)))
	return div(x, where(nothing, num(y, 1), y))
}

// gaps is the matrix of differences of the elements of x, that of its column minus that of its row.
func gaps(x *node) *node { return sub(asColumns(x), asRows(x)) }

// hermitianPart is the mean of a matrix and its conjugate transpose.
func hermitianPart(x *node) *node { return scale(add(x, adjoint(x)), 0.5) }

// vectorOf is the type of a vector of size n for each matrix.
func vectorOf(x *node, d array.DType, n int) ir.Type {
	r := len(x.Shape)
	return ir.Type{DType: d, Shape: append(append([]int{}, x.Shape[:r-2]...), n)}
}

// matrixOf is the type of a matrix in the place of each matrix.
func matrixOf(x *node, m, n int) ir.Type {
	r := len(x.Shape)
	return ir.Type{DType: x.DType, Shape: append(append([]int{}, x.Shape[:r-2]...), m, n)}
}

// realPart is the element type of absolute values.
func realPart(d array.DType) array.DType {
	if d.Complex() {
		return d.Part()
	}
	return d
}

// withParts is the complex element type of a type.
func withParts(d array.DType) array.DType {
	if d.Complex() {
		return d
	}
	return d.WithParts()
}

func symmetrize(i int, shape []int, x []float64) {
	eachMatrix(shape, x, func(n, _ int, x []float64) {
		for i := range n {
			for j := range i {
				x[j*n+i] = x[i*n+j]
			}
		}
	})
}

func init() {
	samples := []Sample{{Shapes: [][]int{{4, 4}}, Fit: symmetrize, Symmetric: true}, {Shapes: [][]int{{2, 3, 3}}, Fit: symmetrize, Symmetric: true}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}
	Eigh = unlisted(Def{Name: "eigh", Class: Routine, Arity: 1,
		Doc: "The eigenvalues of symmetric or Hermitian matrices, ascending, and eigenvectors in columns; the lower triangle is read.",
		Typing: Typing{Wide: true, Results: 2, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			x := c.Args[0]
			n := c.square(0, "a")
			return []ir.Type{vectorOf(x, realPart(x.DType), n), matrixOf(x, n, n)}
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineEigh, Complex: true},
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			v.Set(0, func() *node {
				w, q := v.Ys[0], v.Ys[1]
				if q.Size() == 0 || zeroGradient(v.DYs[1]) {
					return eigenvaluesBack(v, w, v.DYs[0], q)
				}
				n := w.Shape[len(w.Shape)-1]
				k := product2(adjoint(q), v.DYs[1])
				k = unlessNoise(scale(sub(k, adjoint(k)), 0.5), onDiagonal(num(w, 1), gaps(w)), leastGap(w, n), noiseOf(n, k))
				g := hermitianPart(product2(q, product2(k, adjoint(q))))
				if zeroGradient(v.DYs[0]) {
					return g
				}
				return add(eigenvaluesBack(v, w, v.DYs[0], q), g)
			})
		}},
		Conformance: Conformance{Samples: samples}})
	EigValsH = unlisted(Def{Name: "eigvalsh", Class: Routine, Arity: 1,
		Doc: "The eigenvalues of symmetric or Hermitian matrices, ascending; the lower triangle is read.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a")
			x := c.Args[0]
			t := vectorOf(x, realPart(x.DType), c.square(0, "a"))
			return t.DType, t.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineEigValsH, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node { return eigenvaluesBack(v, v.Y, v.DY, ApplyAll(Eigh, nil, v.X[0])[1]) })
		}},
		Conformance: Conformance{Samples: samples}})
}

func init() {
	samples := []Sample{{Shapes: [][]int{{4, 4}}}, {Shapes: [][]int{{2, 5, 3}}}, {Shapes: [][]int{{3, 5}}}, {Shapes: [][]int{{0, 3}}}, {Shapes: [][]int{{3, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}
	SVD = unlisted(Def{Name: "svd", Class: Routine, Arity: 1, Attrs: AllVectors(false),
		Doc: "The singular values of matrices, descending, between the left vectors in columns and the right vectors, conjugated, in rows.",
		Typing: Typing{Wide: true, Results: 3, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			x := c.Args[0]
			m, n := rowsCols(x)
			k := min(m, n)
			left, right := k, k
			if c.Attrs.(AllVectors) {
				left, right = m, n
			}
			return []ir.Type{matrixOf(x, m, left), vectorOf(x, realPart(x.DType), k), matrixOf(x, right, n)}
		}},
		ByRoutine:   ByRoutine{Routine: ir.RoutineSVD, Complex: true},
		Derivative:  Derivative{ByResult: true, VJP: func(v *VJP) { v.Set(0, func() *node { return svdBack(v) }) }},
		Conformance: Conformance{Samples: samples}})
	SVDVals = unlisted(Def{Name: "svdvals", Class: Routine, Arity: 1,
		Doc: "The singular values of matrices, descending.",
		Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a")
			m, n := rowsCols(c.Args[0])
			t := vectorOf(c.Args[0], realPart(c.Args[0].DType), min(m, n))
			return t.DType, t.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineSVDVals, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				r := ApplyAll(SVD, AllVectors(false), v.X[0])
				return singularValuesBack(v, v.Y, v.DY, r[0], r[2])
			})
		}},
		Conformance: Conformance{Samples: samples}})
	PInv = unlisted(Def{Name: "pinv", Class: Routine, Arity: 1, Attrs: Cutoff(0),
		Doc: "The pseudo-inverses of matrices, in which singular values up to a cutoff, relative to the largest, count as 0; and the results of svd.",
		Typing: Typing{Wide: true, Results: 4, InferAll: func(c *Call) []ir.Type {
			c.matrices("a")
			x := c.Args[0]
			m, n := rowsCols(x)
			k := min(m, n)
			return []ir.Type{matrixOf(x, n, m), matrixOf(x, m, k), vectorOf(x, realPart(x.DType), k), matrixOf(x, k, n)}
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutinePInv, Complex: true},
		// Golub and Pereyra, "The differentiation of pseudo-inverses and nonlinear least squares problems whose
		// variables separate", SIAM J. Numer. Anal. 10, 1973: for matrices whose rank is constant nearby.
		Derivative: Derivative{ByResult: true, VJP: func(v *VJP) {
			v.Set(0, func() *node {
				a, y, dy := v.X[0], v.Ys[0], v.DYs[0]
				k := product2(adjoint(dy), y)
				ky := product2(k, adjoint(y))
				g := neg(adjoint(product2(y, k)))
				g = add(g, sub(ky, product2(a, product2(y, ky))))
				return add(g, product2(adjoint(y), product2(y, sub(adjoint(dy), product2(k, a)))))
			})
		}},
		Conformance: Conformance{Samples: samples}})
}

// svdBack is the gradient of a matrix from the gradients of its singular values and vectors; of complete bases only
// the vectors that belong to values count. Between two pairs of vectors the skew parts of u^H*du and v^H*dv count: half
// their sum is divided by a difference of values, half their difference by a sum.
func svdBack(v *VJP) *node {
	u, s, vh := v.Ys[0], v.Ys[1], v.Ys[2]
	du, dvh := v.DYs[0], v.DYs[2]
	m, n := rowsCols(v.X[0])
	k := min(m, n)
	if k == 0 || v.X[0].Size() == 0 {
		return expand(num(v.X[0], 0), v.X[0].Shape)
	}
	if bool(v.Node.Attrs.(AllVectors)) {
		u, du = part(u, 0, 0, m, k), part(du, 0, 0, m, k)
		vh, dvh = part(vh, 0, 0, k, n), part(dvh, 0, 0, k, n)
	}
	if zeroGradient(du) && zeroGradient(dvh) {
		return singularValuesBack(v, s, v.DYs[1], u, vh)
	}
	skew := func(x *node) *node { return sub(x, adjoint(x)) }
	left, right := product2(adjoint(u), du), product2(vh, adjoint(dvh))
	least, noise := leastGap(s, max(m, n)), noiseOf(max(m, n), du, dvh)
	left, right = scale(skew(left), 0.5), scale(skew(right), 0.5)
	inner := unlessNoise(add(left, right), onDiagonal(num(s, 1), gaps(s)), least, noise)
	inner = add(onDiagonal(num(inner, 0), inner), unlessNoise(sub(left, right), add(asColumns(s), asRows(s)), least, noise))
	g := product2(u, inner)
	if m > k {
		over := sub(du, product2(u, product2(adjoint(u), du)))
		g = add(g, unlessNoise(over, asColumns(s), least, noise))
	}
	g = product2(g, vh)
	if n > k {
		over := sub(dvh, product2(product2(dvh, adjoint(vh)), vh))
		g = add(g, product2(u, unlessNoise(over, asRows(s), least, noise)))
	}
	if zeroGradient(v.DYs[1]) {
		return g
	}
	return add(singularValuesBack(v, s, v.DYs[1], u, vh), g)
}

func init() {
	pair := func(name, doc string, id ir.RoutineID, first, second func(x *node, n int) ir.Type, vjp func(v *VJP)) *Def {
		d := Def{Name: name, Class: Routine, Arity: 1, Doc: doc,
			Typing: Typing{Results: 2, InferAll: func(c *Call) []ir.Type {
				c.matrices("a")
				n := c.square(0, "a")
				return []ir.Type{first(c.Args[0], n), second(c.Args[0], n)}
			}},
			ByRoutine:   ByRoutine{Routine: id, Complex: true},
			Derivative:  Derivative{ByResult: vjp != nil, VJP: vjp},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}}, {Shapes: [][]int{{2, 3, 3}}}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}}}
		return unlisted(d)
	}
	whole := func(x *node, n int) ir.Type { return matrixOf(x, n, n) }
	complexVector := func(x *node, n int) ir.Type { return vectorOf(x, withParts(x.DType), n) }
	complexWhole := func(x *node, n int) ir.Type {
		t := matrixOf(x, n, n)
		t.DType = withParts(x.DType)
		return t
	}
	Schur = pair("schur", "The Schur forms of matrices and their unitary factors.", ir.RoutineSchur, whole, whole, nil)
	Hessenberg = pair("hessenberg", "The Hessenberg forms of matrices and their unitary factors.", ir.RoutineHessenberg, whole, whole, nil)
	Eig = pair("eig", "The eigenvalues of matrices and eigenvectors in columns, complex.", ir.RoutineEig, complexVector, complexWhole, func(v *VJP) {
		v.Set(0, func() *node {
			w, q := v.Ys[0], v.Ys[1]
			dw, dq := v.DYs[0], v.DYs[1]
			// A change along a vector is of its norm, which is 1.
			inner := product2(adjoint(q), dq)
			along := Apply(Sum, Reduction{Axes: []int{len(inner.Shape) - 2}, Keep: true}, onDiagonal(realOf(inner), num(realOf(inner), 0)))
			inner = sub(inner, mul(product2(adjoint(q), q), along))
			inner = quotient(inner, apply(Conj, onDiagonal(num(w, 1), gaps(w))))
			return eigBack(v, q, onDiagonal(asColumns(dw), inner))
		})
	})
	EigVals = unlisted(Def{Name: "eigvals", Class: Routine, Arity: 1,
		Doc: "The eigenvalues of matrices, complex.",
		Typing: Typing{Infer: func(c *Call) (array.DType, []int) {
			c.matrices("a")
			t := complexVector(c.Args[0], c.square(0, "a"))
			return t.DType, t.Shape
		}},
		ByRoutine: ByRoutine{Routine: ir.RoutineEigVals, Complex: true},
		Derivative: Derivative{VJP: func(v *VJP) {
			v.Set(0, func() *node {
				q := ApplyAll(Eig, nil, v.X[0])[1]
				return eigBack(v, q, onDiagonal(asColumns(v.DY), num(v.DY, 0)))
			})
		}},
		Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}}, {Shapes: [][]int{{2, 3, 3}}}, {Shapes: [][]int{{0, 0}}}}}})
}

// eigBack is q^-H * inner * q^H, of real matrices the real part.
func eigBack(v *VJP, q, inner *node) *node {
	g := apply(Solve, adjoint(q), product2(inner, adjoint(q)))
	if !v.X[0].DType.Complex() {
		g = realOf(g)
	}
	return g
}

func init() {
	function := func(name, doc string, id ir.RoutineID, fit func(i int, shape []int, x []float64)) *Def {
		var d *Def
		d = unlisted(Def{Name: name, Class: Routine, Arity: 1, Doc: doc,
			Typing: Typing{Wide: true, Infer: func(c *Call) (array.DType, []int) {
				c.matrices("a")
				c.square(0, "a")
				return c.Args[0].DType, c.Args[0].Shape
			}},
			ByRoutine: ByRoutine{Routine: id, Complex: true},
			// The upper right block of f([a^H, g; 0, a^H]) is the Fréchet derivative at a^H in direction g,
			// which is the adjoint of that at a. Source: Higham, Functions of Matrices, theorem 3.6;
			// Mathias, "A chain rule for matrix functions and applications", 1996.
			Derivative: Derivative{VJP: func(v *VJP) {
				v.Set(0, func() *node {
					n, _ := rowsCols(v.X[0])
					a := adjoint(v.X[0])
					zero := expand(num(a, 0), a.Shape)
					both := besides(2, besides(1, a, v.DY), besides(1, zero, a))
					return part(apply(d, both), 0, n, n, n)
				})
			}},
			Conformance: Conformance{Samples: []Sample{{Shapes: [][]int{{4, 4}}, Fit: fit}, {Shapes: [][]int{{2, 3, 3}}, Fit: fit}, {Shapes: [][]int{{0, 0}}}, {Shapes: [][]int{{0, 3, 3}}}}}})
		return d
	}
	Expm = function("expm", "The exponentials of matrices.", ir.RoutineExpm, nil)
	Logm = function("logm", "The principal logarithms of matrices.", ir.RoutineLogm, wellConditioned)
	Sqrtm = function("sqrtm", "The principal square roots of matrices.", ir.RoutineSqrtm, wellConditioned)
}

func init() {
	for _, d := range []*Def{Eigh, EigValsH, SVD, SVDVals, PInv, Eig, EigVals, Schur, Hessenberg, Expm, Logm, Sqrtm} {
		batchRules[d.Name] = func(b *batcher, x *node, args []Batched) []*node {
			return ApplyAll(Of(x), x.Attrs, b.raised(args)...)
		}
	}
}
