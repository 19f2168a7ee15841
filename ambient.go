package weft

import (
	"weft/internal/array"
	"weft/internal/core"
)

// WithoutGrad calls f and records nothing for gradients meanwhile: the results of operations
// inside f are constants to a later [Tensor.Backward]. It is torch.no_grad:
//
//	weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) })
//
// Inside f a leaf may be written in place, and [Tensor.RequireGrad] makes leaves as it does
// outside. The state ends with f, also when f panics. It does not stay with tensors: outside, a
// tensor made inside is a constant like any other. Calls nest. The state holds for the calling
// goroutine only: goroutines that f starts record.
//
// [VJP], [JVP], [Jacobian], [Hessian] and passes with [GradOpts].Create record what they
// differentiate inside f too; their results are constants unless Create is given. A function
// from [Compile] is traced separately for calls inside and outside. WithoutGrad panics with
// *[Error] if f is nil.
func WithoutGrad(f func()) {
	if f == nil {
		array.Failf("withoutgrad", "f", "is nil")
	}
	core.Recording(false, f)
}
