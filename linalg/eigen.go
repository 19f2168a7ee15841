package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// EighOpts are the options of [Eigh] and [EigValsH].
type EighOpts struct {
	Upper bool // the upper triangle is read, not the lower one

	// B makes the problem a * v = B * v * diag(w) for positive definite B, [... n n], as scipy.linalg.eigh(a, b).
	B *weft.Tensor
}

// hermitian returns the argument of Eigh, whose lower triangle counts.
func hermitian(name string, a *weft.Tensor, opts []EighOpts) (*weft.Tensor, EighOpts) {
	o := array.Options(name, opts)
	a = square(name, "a", a)
	if o.Upper {
		a = adjoint(a)
	}
	return a, o
}

// Eigh returns the eigenvalues w of symmetric or Hermitian matrices a, [... n n], ascending, [... n] and
// real, and eigenvectors v, [... n n], in columns: a * v = v * diag(w), and v is unitary. It reads one
// triangle of a, the lower one unless opts say otherwise.
//
// The first of the largest elements of each vector is real and positive: elements count as equally large
// up to a relative difference of 2^-30. The gradient, which is
// symmetric or Hermitian, is that of losses that do not depend on signs and phases. It is not finite where
// a loss depends on the vectors of equal eigenvalues. Where eigenvalues are equal, gradients of v * diag(f(w)) * v^H lack
// the part of the derivative of f between their vectors; losses of w alone are as in [EigValsH]. The gradients of w and v
// do not determine that part. [Expm], [Logm], [Sqrtm] and [PInv] have it.
//
// With the option B, v^H * B * v is the identity. The signs are chosen for l^H * v, where l is the Cholesky factor of B.
// One triangle of B is read, too. The gradient of a is zero in the triangle that is not read.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, B is not positive definite, or shapes
// do not fit.
func Eigh(a *weft.Tensor, opts ...EighOpts) (w, v *weft.Tensor) {
	const name = "linalg.eigh"
	defer array.Named(name).End()
	a, o := hermitian(name, a, opts)
	if o.B != nil {
		return eighGeneralized(name, a, o)
	}
	r := applyAll(op.Eigh, nil, a)
	return r[0], r[1]
}

// EigValsH returns the eigenvalues of [Eigh], ascending, [... n]. Their gradient is right for equal ones too, and
// second derivatives there are as [SVDVals] says.
//
// It panics with *[weft.Error] as Eigh does.
func EigValsH(a *weft.Tensor, opts ...EighOpts) *weft.Tensor {
	const name = "linalg.eigvalsh"
	defer array.Named(name).End()
	a, o := hermitian(name, a, opts)
	if o.B != nil {
		return eigValsHGeneralized(name, a, o)
	}
	return apply(op.EigValsH, nil, a)
}

// Eig returns the eigenvalues w of matrices a, [... n n], and eigenvectors v in columns: a * v = v * diag(w).
// Both are complex, [... n] and [... n n]. Eigenvalues come in the order of the Schur form; of a real
// matrix, complex ones are neighbours, the one with positive imaginary part first.
//
// A vector has norm 1, and the first of its largest elements is real and positive, as [Eigh] says. The gradient
// is that of losses that do not depend on phases. It is not finite for matrices without n independent
// eigenvectors, or where a loss depends on the vectors of equal eigenvalues.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, the iteration does not
// converge, or a has other shapes.
func Eig(a *weft.Tensor) (w, v *weft.Tensor) {
	const name = "linalg.eig"
	defer array.Named(name).End()
	r := applyAll(op.Eig, nil, unhalved(square(name, "a", a)))
	return r[0], r[1]
}

// EigVals returns the eigenvalues of [Eig], complex, [... n]. Second derivatives need different eigenvalues. Where
// eigenvalues are equal, second derivatives of their symmetric functions lack the part between vectors of equal values,
// or are not finite, even if n independent eigenvectors exist. [EigValsH] and powers of a have them.
//
// It panics with *[weft.Error] as Eig does.
func EigVals(a *weft.Tensor) *weft.Tensor {
	const name = "linalg.eigvals"
	defer array.Named(name).End()
	return apply(op.EigVals, nil, unhalved(square(name, "a", a)))
}

// SchurOpts are the options of [Schur].
type SchurOpts struct {
	Complex bool // of a real matrix too, t is complex and triangular
}

// Schur returns the Schur forms t and unitary z, both [... n n], of matrices a: a = z * t * z^H. A complex t is
// upper triangular. A real t has 2x2 blocks on its diagonal for pairs of complex eigenvalues, with equal
// diagonal elements and off-diagonal ones of opposite signs. Schur has no gradient.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, the iteration does not
// converge, or a has other shapes.
func Schur(a *weft.Tensor, opts ...SchurOpts) (t, z *weft.Tensor) {
	const name = "linalg.schur"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a = square(name, "a", a)
	if d := a.DType(); d.Half() && !o.Complex {
		return rounded(d)(Schur(unhalved(a)))
	}
	a = unhalved(a)
	if o.Complex && !a.DType().Complex() {
		a = a.To(a.DType().WithParts())
	}
	r := applyAll(op.Schur, nil, a)
	return r[0], r[1]
}

// Hessenberg returns the Hessenberg forms h, zero below the first subdiagonal, and unitary q, both [... n n],
// of matrices a: a = q * h * q^H. It has no gradient.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, or other shapes.
func Hessenberg(a *weft.Tensor) (h, q *weft.Tensor) {
	const name = "linalg.hessenberg"
	defer array.Named(name).End()
	a = square(name, "a", a)
	if d := a.DType(); d.Half() {
		return rounded(d)(Hessenberg(unhalved(a)))
	}
	r := applyAll(op.Hessenberg, nil, a)
	return r[0], r[1]
}

// Expm returns the exponentials of matrices a, [... n n], in the shape of a. Source: Al-Mohy and Higham, "A
// new scaling and squaring algorithm for the matrix exponential", 2009. The diagonal of the exponential of a real
// triangular matrix is that of the exponentials of its elements.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, or other shapes.
func Expm(a *weft.Tensor) *weft.Tensor { return function("linalg.expm", op.Expm, a) }

// Logm returns the principal logarithms of matrices a, [... n n], in the shape and type of a: the matrices x
// with Expm(x) = a whose eigenvalues have imaginary parts from -pi to pi.
//
// It panics with *[weft.Error] where a matrix is singular, has elements that are not finite, or is real and
// has a negative eigenvalue, which a complex type allows: Logm(a.To(weft.Complex128)).
func Logm(a *weft.Tensor) *weft.Tensor { return function("linalg.logm", op.Logm, a) }

// Sqrtm returns the principal square roots of matrices a, [... n n], in the shape and type of a: the matrices
// x with x * x = a whose eigenvalues have no negative real parts.
//
// It panics with *[weft.Error] where a matrix has elements that are not finite, has no square root, as some
// singular ones, or is real and has a negative eigenvalue, which a complex type allows:
// Sqrtm(a.To(weft.Complex128)). A negative eigenvalue that is not more than rounding counts as 0.
func Sqrtm(a *weft.Tensor) *weft.Tensor { return function("linalg.sqrtm", op.Sqrtm, a) }

func function(name string, d *op.Def, a *weft.Tensor) *weft.Tensor {
	defer array.Named(name).End()
	return apply(d, nil, square(name, "a", a))
}

// unhalved returns float16 and bfloat16 as float32.
func unhalved(a *weft.Tensor) *weft.Tensor {
	if a.DType().Half() {
		return a.To(weft.Float32)
	}
	return a
}

// rounded returns a function that converts two results.
func rounded(d weft.DType) func(x, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) {
	return func(x, y *weft.Tensor) (*weft.Tensor, *weft.Tensor) { return x.To(d), y.To(d) }
}

// applyAll computes an operation of several results.
func applyAll(d *op.Def, a interface{ AppendKey([]byte) []byte }, t *weft.Tensor) []*weft.Tensor {
	var out []*weft.Tensor
	for _, r := range core.ApplyAll(d, a, core.Of(d.Name, (*core.Tensor)(t))) {
		out = append(out, (*weft.Tensor)(r))
	}
	return out
}
