package sym

import (
	"weft"
	"weft/internal/array"
	"weft/internal/ir"
)

// What changes gradients and leaves values as they are.

// DisconnectedGrad returns x as a variable that gradients do not go through: to them it is a
// constant, and what leads to it alone is disconnected.
func DisconnectedGrad(x *Var) *Var {
	x.notNil("disconnectedgrad")
	a := &apply{name: "disconnectedgrad", args: []*Var{x}, pc: array.Caller(), apart: true}
	a.run = func(_ *replay, ts []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{ts[0].Detach()} }
	a.again = func(args []*Var) []*Var { return []*Var{DisconnectedGrad(args[0])} }
	return a.make([]ir.Type{{DType: x.dtype, Shape: x.shape}})[0]
}

// ZeroGrad returns x as a variable whose gradient is 0.
func ZeroGrad(x *Var) *Var { return GradScale(x, 0) }

// GradScale returns x as a variable whose gradient is multiplied by a number.
func GradScale(x *Var, by float64) *Var {
	return withGradient("gradscale", x, func(dy *weft.Tensor) *weft.Tensor {
		if by == 0 { // also where the gradient is not finite
			return weft.ZerosLike(dy)
		}
		return dy.Mul(by)
	})
}

// GradClip returns x as a variable whose gradient is limited to lo and hi.
func GradClip(x *Var, lo, hi float64) *Var {
	if !(lo <= hi) {
		array.Failf("gradclip", "", "cannot be from %v to %v", lo, hi)
	}
	return withGradient("gradclip", x, func(dy *weft.Tensor) *weft.Tensor { return dy.Clamp(lo, hi) })
}

// withGradient returns x with another gradient.
func withGradient(name string, x *Var, back func(dy *weft.Tensor) *weft.Tensor) *Var {
	x.notNil(name)
	o := operation{name: name}
	t := o.arg(x)
	f := &weft.Func{Name: name,
		Forward:  func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0] },
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{back(dy)} }}
	return o.one(func(ts []*weft.Tensor) *weft.Tensor { return f.Apply(t(ts)) })
}
