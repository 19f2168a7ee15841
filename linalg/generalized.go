package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/op"
)

// reduced returns c = inverse(l) * a * inverse(l^H) for the Cholesky factor l of b, the option B. The eigenvalues of c
// are the w of a * v = b * v * diag(w), and the eigenvectors of c are l^H * v.
func reduced(name string, a, b *weft.Tensor, upper bool) (c, l *weft.Tensor) {
	b = square(name, "B", b)
	if upper {
		b = adjoint(b)
	}
	if b.Dim(-1) != a.Dim(-1) {
		array.Failf(name, "B", "has shape %s, want matrices of the size of a, which has shape %s", array.ShapeString(b.Shape()), array.ShapeString(a.Shape()))
	}
	a, b = meet(name, unhalved(a), unhalved(b))
	half := a.Tril(0).Mul(0.5).Add(a.Tril(-1).Mul(0.5))
	l = naming("B", func() *weft.Tensor { return apply(op.Cholesky, nil, b) })
	whiten := func(t *weft.Tensor) *weft.Tensor {
		return apply(op.SolveTriangular, op.Triangle{Lower: true}, l, t)
	}
	return whiten(adjoint(whiten(half.Add(adjoint(half))))), l
}

// naming returns what f returns. Errors of f name the argument arg.
func naming[T any](arg string, f func() T) T {
	defer func() {
		r := recover()
		if e, ok := r.(*weft.Error); ok {
			named := *e
			named.Arg = arg
			r = &named
		}
		if r != nil {
			panic(r)
		}
	}()
	return f()
}

// eighGeneralized is Eigh with the option B.
func eighGeneralized(name string, a *weft.Tensor, o EighOpts) (w, v *weft.Tensor) {
	d := array.Promote(a.DType(), numbers(name, "B", o.B).DType())
	c, l := reduced(name, a, o.B, o.Upper)
	r := applyAll(op.Eigh, nil, c)
	w, v = r[0], apply(op.SolveTriangular, op.Triangle{Lower: true, Adjoint: true}, l, r[1])
	if d.Half() {
		return rounded(d)(w, v)
	}
	return w, v
}

// eigValsHGeneralized is EigValsH with the option B.
func eigValsHGeneralized(name string, a *weft.Tensor, o EighOpts) *weft.Tensor {
	d := array.Promote(a.DType(), numbers(name, "B", o.B).DType())
	c, _ := reduced(name, a, o.B, o.Upper)
	w := apply(op.EigValsH, nil, c)
	if d.Half() {
		return w.To(d)
	}
	return w
}
