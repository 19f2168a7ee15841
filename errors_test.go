package weft

import (
	"errors"
	"math"
	"testing"
)

// Each misuse names the operation, the argument where one is at fault, and the
// shapes and types that matter.
func TestErrorTexts(t *testing.T) {
	x := Arange(6.0).Reshape(2, 3)
	leaf := Ones(2).RequireGrad()
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { x.Add(Ones(4)) }, "add: shapes do not broadcast: [2 3] and [4]"},
		{func() { x.Add("1") }, "add: takes a *Tensor or a Go number (float64, float32, int, int64, int32, uint8 or bool), not string"},
		{func() { x.Add((*Tensor)(nil)) }, "add: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{func() { x.Reshape(4, 2) }, "reshape: shape: [4 2] has 8 elements, [2 3] has 6"},
		{func() { x.Reshape(-1, -1) }, "reshape: shape: [-1 -1] has two sizes of -1"},
		{func() { x.Reshape(4, -1) }, "reshape: shape: 6 elements do not fit [4 -1]"},
		{func() { x.Permute(0) }, "permute: order: [0] has 1 axes, the tensor 2"},
		{func() { x.Permute(0, 0) }, "permute: order: [0 0] names axis 0 twice"},
		{func() { x.Transpose(0, 2) }, "transpose: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{func() { x.Expand(2, 4) }, "expand: shape: [2 3] does not expand to [2 4]"},
		{func() { x.Squeeze(0) }, "squeeze: axis: 0 of shape [2 3] has size 2, not 1"},
		{func() { x.At(2) }, "at: index 2 is out of range for axis 0 of size 2"},
		{func() { x.At(0, -4) }, "at: index -4 is out of range for axis 1 of size 3"},
		{func() { x.At(0, 0, 0) }, "at: more indices than the 2 dimensions of shape [2 3]"},
		{func() { x.Slice(Range(0, 2, 0)) }, "slice: step: of axis 0 is 0"},
		{func() { Ones(3).Diagonal(0) }, "diagonal: takes two dimensions or more, got [3]"},
		{func() { x.Sum(2) }, "sum: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{func() { x.Sum(1, -1) }, "sum: axis: 1 is given twice"},
		{func() { Scalar(1).Sum(0) }, "sum: axis: 0 given for an array of no dimensions"},
		{func() { Cat(nil, 0) }, "cat: takes one tensor or more, got none"},
		{func() { Stack([]*Tensor{x, Ones(2)}, 0) }, "stack: tensor 1 has shape [2], tensor 0 [2 3]: want equal shapes"},
		{func() { Zeros(2, -1) }, "zeros: shape: dimension 1 of [2 -1] is negative"},
		{func() { Zeros(math.MaxInt, 8) }, "zeros: shape: [9223372036854775807 8] overflows: more bytes than an int can count"},
		{func() { Zeros(make([]int, 17)...) }, "zeros: shape: 17 dimensions, at most 16 are supported"},
		{func() { ZerosOf(Float16, 2) }, "zeros: dtype: float16 is not supported"},
		{func() { x.To(Complex64) }, "to: dtype: complex64 is not supported"},
		{func() { FromSlice([]int32{1, 2}, 3) }, "fromslice: shape: [3] has 3 elements, the slice 2"},
		{func() { From([][]int{{1}, {2, 3}}) }, "from: x: is ragged: a row of 2 elements where the first has 1"},
		{func() { From("no") }, "from: x: is string: want nested slices of bool, uint8, int32, int64, int, float32 or float64"},
		{func() { From(nil) }, "from: x: is nil"},
		{func() { Arange(0, 5, 0) }, "arange: step: is 0"},
		{func() { Linspace(0, 1, -1) }, "linspace: n: -1 is negative"},
		{func() { Data[float64](x) }, "data: elements are float32, not float64: convert with To first"},
		{func() { CopyTo(x, make([]float32, 2)) }, "copyto: dst: has 2 elements, the tensor 6"},
		{func() { Borrow(x.T(), func([]float32) {}) }, "borrow: [3 2] with strides [1 3] is not contiguous: use Contiguous or CopyTo"},
		{func() { x.Item() }, "item: takes a tensor of one element, got shape [2 3]: Data returns all elements"},
		{func() { Scalar(1.5).ItemInt() }, "itemint: takes a tensor of one integer or bool, got float32[]"},
		{func() { Scalar(1).Expand(3).Assign(2) }, "assign: [3] with strides [0] is an expanded view, several of its elements are one: Clone it first"},
		{func() { Arange(3).AddAssign(1.5) }, "addassign: a result of type float32 cannot be written into int64: convert the receiver with To first"},
		{func() { Arange(3).Assign(1.5) }, "assign: x: is a float, which cannot be written into int64: convert the receiver with To first"},
		{func() { Ones(3).Assign(Ones(2, 3)) }, "assign: x: has shape [2 3], which does not broadcast to the receiver's [3]"},
		{func() { Ones(3).AddAssign(Ones(2, 3)) }, "addassign: x: has shape [2 3], which does not broadcast to the receiver's [3]"},
		{func() { OnesOf(Bool, 2).Neg() }, "neg: is not defined for bool"},
		{func() { Arange(2).RequireGrad() }, "requiregrad: only floats have gradients, not int64"},
		{func() { leaf.Mul(2).RequireGrad() }, "requiregrad: the tensor was computed by mul: only a leaf can be marked (Detach makes one)"},
		{func() { leaf.AddAssign(1) }, "addassign: the receiver is a leaf that requires a gradient: write into its NoGrad() instead, which is not recorded"},
		{func() { leaf.At(0).Assign(1) }, "assign: the receiver is a view of a leaf that requires a gradient: write into a view of its NoGrad() instead"},
		{func() { leaf.Mul(2).Backward() }, "backward: output 0 has shape [2], want one element: reduce it with Sum or Mean, or give its gradient as GradOpts.Seeds"},
		{func() { Ones().Backward() }, "backward: output 0 does not depend on a tensor that requires a gradient: mark leaves with RequireGrad before computing it, and without NoGrad or Detach on the way"},
		{func() { Grad(leaf.Sum(), []*Tensor{Ones(1)}) }, "grad: inputs: number 0 does not require a gradient: mark it with RequireGrad before computing the outputs"},
		{func() { Randint(3, 3) }, "randint: hi: 3 is not above lo, 3"},
		{func() { NewGenerator(1).RandintOf(Uint8, 0, 257) }, "randint: uint8 does not hold all of 0 to 256"},
		{func() { RandOf(Int32, 2) }, "rand: dtype: int32 is not float32 or float64"},
		{func() { Randperm(-1) }, "randperm: n: -1 is negative"},
		{func() { x.Dropout(1.5, nil) }, "dropout: p: 1.5 is no probability: want 0 to 1"},
		{func() { Arange(3).Dropout(0.5, nil) }, "dropout: takes floats, got int64: convert with To first"},
	} {
		err := Try(c.f)
		var e *Error
		if !errors.As(err, &e) || e.Kind != Misuse {
			t.Errorf("got %v, want the misuse %q", err, c.want)
			continue
		}
		if err.Error() != c.want {
			t.Errorf("got  %s\nwant %s", err, c.want)
		}
	}
	defer func() {
		if recover() != "mine" {
			t.Error("Try does not let other panics pass")
		}
	}()
	_ = Try(func() { panic("mine") })
}
