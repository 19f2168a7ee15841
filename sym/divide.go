package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Integers divide and have means as in Theano, in float64. Tensors follow PyTorch.

// Div is [weft.Tensor.Div] of variables, but for the quotient of integers or Bool by integers or Bool,
// which is float64.
func (v *Var) Div(x any) *Var {
	v.notNil("div")
	if !v.integral() || !wholeArgument(x) {
		return v.div(x)
	}
	return v.To(weft.Float64).div(x)
}

func (v *Var) div(x any) *Var {
	op := operation{name: "div"}
	self := op.arg(v)
	xOf := op.any(x)
	return op.one(func(ins []*weft.Tensor) *weft.Tensor { return self(ins).Div(xOf(ins)) })
}

// Mean is [weft.Tensor.Mean] of variables. The mean of integers or Bool is float64.
func (v *Var) Mean(axes ...int) *Var {
	return v.mean("mean", axes, (*weft.Tensor).Mean)
}

// MeanKeep is [weft.Tensor.MeanKeep] of variables. The mean of integers or Bool is float64.
func (v *Var) MeanKeep(axes ...int) *Var {
	return v.mean("meankeep", axes, (*weft.Tensor).MeanKeep)
}

func (v *Var) mean(name string, axes []int, f func(t *weft.Tensor, axes ...int) *weft.Tensor) *Var {
	v.notNil(name)
	if v.integral() {
		v = v.To(weft.Float64)
	}
	op := operation{name: name}
	self := op.arg(v)
	axes = slices.Clone(axes)
	op.plain(axes)
	return op.one(func(ins []*weft.Tensor) *weft.Tensor { return f(self(ins), axes...) }, axes)
}

// integral reports elements that are integers or Bool.
func (v *Var) integral() bool { return !v.dtype.Float() && !v.dtype.Complex() }

// wholeArgument reports an operand whose elements are integers or Bool.
func wholeArgument(x any) bool {
	switch x := x.(type) {
	case *Var:
		return x != nil && x.integral()
	case *weft.Tensor:
		return x != nil && !x.DType().Float() && !x.DType().Complex()
	}
	c := core.AsOperand[weft.Tensor]("div", "x", x).Num.Kind
	return c == array.CatInt || c == array.CatBool
}
