package linalg

import (
	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/op"
)

// A QRMode says which factors [QR] returns.
type QRMode int

const (
	Reduced  QRMode = iota // q is [... m k], r is [... k n], where k is the lesser of m and n
	Complete               // q is [... m m], r is [... m n]
	R                      // r of Reduced alone; q is nil
)

// QROpts are the options of [QR].
type QROpts struct {
	Mode QRMode // Reduced if not given
}

// QR returns factors of matrices, [... m n]: q * r = a, where the columns of q are orthonormal and r is
// upper triangular. Signs follow from Householder's reflections, as in LAPACK: the diagonal of r is real
// and may be negative.
//
// Gradients need independent first k columns. With Complete and more rows than columns there is none.
// It panics with *[weft.Error] where a is no matrix.
func QR(a *weft.Tensor, opts ...QROpts) (q, r *weft.Tensor) {
	const name = "linalg.qr"
	defer array.Named(name).End()
	o := array.Options(name, opts)
	a = matrix(name, "a", a)
	switch o.Mode {
	case R:
		return nil, apply(op.QRTriangle, nil, a)
	case Reduced, Complete:
		return orthogonal(a, o.Mode == Complete)
	}
	array.Failf(name, "Mode", "%d is none of Reduced, Complete and R", int(o.Mode))
	return nil, nil
}

func orthogonal(a *weft.Tensor, complete bool) (q, r *weft.Tensor) {
	f := core.ApplyAll(op.QR, op.Complete(complete), core.Operand{T: (*core.Tensor)(a)})
	return (*weft.Tensor)(f[0]), (*weft.Tensor)(f[1])
}
