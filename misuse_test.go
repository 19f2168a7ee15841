package weft_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// A mistake is something that a newcomer does in the first half hour, and what
// weft says to it: which operation, which argument, what it got, what it wants
// and, where it is not plain, what to do.
type mistake struct {
	do   func() error
	want string
}

func misuse(f func()) func() error { return func() error { return tensortest.Try(f) } }

// The line of a write names a file of the machine.
var place = regexp.MustCompile(`at \S+_test\.go:\d+`)

func checkMistakes(t *testing.T, dir string, all []mistake) {
	t.Helper()
	for _, m := range all {
		err := m.do()
		if err == nil {
			t.Errorf("no error, want %s", m.want)
			continue
		}
		got := place.ReplaceAllString(strings.ReplaceAll(err.Error(), dir, "DIR"), "at FILE:LINE")
		if got != m.want {
			t.Errorf("got  %s\nwant %s", got, m.want)
		}
	}
}

func TestMistakesWithArrays(t *testing.T) {
	x := weft.Ones(2, 3)
	checkMistakes(t, "DIR", []mistake{
		{misuse(func() { weft.Data[float32](x.Grad()) }), "data: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { x.Add([]float32{1}) }), "add: x: takes a *Tensor or a Go number (bool, integer, float or complex), not []float32 (weft.From makes a *Tensor)"},
		{misuse(func() { x.Add(uintptr(3)) }), "add: x: takes a *Tensor or a Go number (bool, integer, float or complex), not uintptr"},
		{misuse(func() { weft.Where(x, 1, "a") }), "where: y: takes a *Tensor or a Go number (bool, integer, float or complex), not string"},
		{misuse(func() { x.MatMul(weft.Ones(2, 3)) }), "matmul: inner sizes differ, 3 and 2: [2 3] x [2 3]"},
		{misuse(func() { x.MatMul(nil) }), "matmul: x: is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { x.MatMul(weft.Scalar(1)) }), "matmul: takes one dimension or more, got [2 3] x []"},
		{misuse(func() { weft.OnesOf(weft.Bool, 3).MatMul(weft.OnesOf(weft.Bool, 3)) }), "matmul: is not defined for bool: convert with To first"},
		{misuse(func() { weft.Ones(2, 3, 4).MatMul(weft.Ones(3, 4, 5)) }), "matmul: axes before the last two do not broadcast: [2 3 4] x [3 4 5]"},
		{misuse(func() { x.MatMul(weft.Ones(2)) }), "matmul: inner sizes differ, 3 and 2: [2 3] x [2]"},
		{misuse(func() { x.Reshape(-2, 3) }), "reshape: shape: [-2 3] has a negative size"},
		{misuse(func() { x.Flatten(2) }), "flatten: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { x.Sum(-3) }), "sum: axis: -3 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { x.Sum(0, 0) }), "sum: axis: 0 is given twice"},
		{misuse(func() { weft.Arange(3).Mean() }), "mean: takes floats, got int64: convert with To first"},
		{misuse(func() { x.CorrectedVar(-1) }), "corrected_var: correction: -1 is negative"},
		{misuse(func() { x.CorrectedStd(2, 5) }), "corrected_std: axis: 5 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { weft.Zeros(0).Max() }), "max: has no value over no elements: shape [0], axes [0]"},
		{misuse(func() { weft.ZerosOf(weft.Bool, 0).Min() }), "min: has no value over no elements: shape [0], axes [0]"},
		{misuse(func() { weft.Zeros(0).ArgMax() }), "argmax: has no value over no elements: shape [0], axes [0]"},
		{misuse(func() { x.ArgMax(0, 1) }), "argmax: axis: takes one axis or none, got [0 1]"},
		{misuse(func() { x.Softmax(5) }), "softmax: axis: 5 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { weft.Arange(3).Softmax(0) }), "softmax: takes floats, got int64: convert with To first"},
		{misuse(func() { weft.Arange(3).Var() }), "var: takes floats, got int64: convert with To first"},
		{misuse(func() { weft.OnesOf(weft.Bool, 2).Sub(weft.OnesOf(weft.Bool, 2)) }), "sub: is not defined for bool"},
		{misuse(func() { x.Slice(weft.All, weft.All, weft.All) }), "slice: more indices than the 2 dimensions of shape [2 3]"},
		{misuse(func() { x.Permute(0, 2) }), "permute: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { x.Expand(3) }), "expand: shape: [2 3] does not expand to [3]"},
		{misuse(func() { x.Unsqueeze(4) }), "unsqueeze: axis: 4 is out of range for 3 dimensions: want -3 to 2"},
		{misuse(func() { weft.Cat([]*weft.Tensor{x, weft.Ones(3, 2)}, 0) }), "cat: tensor 1 has shape [3 2], tensor 0 [2 3]: they may differ along axis 0 only"},
		{misuse(func() { weft.Cat([]*weft.Tensor{x, weft.Ones(3)}, 0) }), "cat: tensor 1 is float32[3], tensor 0 float32[2 3]: want the same number of axes"},
		{misuse(func() { weft.Cat([]*weft.Tensor{x, x}, 2) }), "cat: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { weft.Cat([]*weft.Tensor{x, nil}, 0) }), "cat: tensor 1 is nil"},
		{misuse(func() { weft.Cat([]*weft.Tensor{nil, x}, 0) }), "cat: tensor 0 is nil"},
		{misuse(func() { weft.Stack([]*weft.Tensor{x, nil}, 0) }), "stack: tensor 1 is nil"},
		{misuse(func() { x.Pad(0, 1) }), "pad: pads: has 1 numbers, want 4: before and after each of 2 axes"},
		{misuse(func() { x.Pad(0, 1, -1, 0, 0) }), "pad: pads: are negative: [1 -1 0 0]"},
		{misuse(func() { x.Gather(0, weft.Ones(2, 3)) }), "gather: index: has elements of type float32, want integers"},
		{misuse(func() { x.Gather(0, weft.Arange(3)) }), "gather: index: has shape [3], x [2 3]: want the same number of axes"},
		{misuse(func() { x.Gather(0, weft.FromSlice([]int64{7, 0, 1}, 1, 3)) }), "gather: index: 7 at position 0 is out of range for size 2"},
		{misuse(func() { x.IndexSelect(0, weft.FromSlice([]int64{0, 2})) }), "index_select: index: 2 at position 1 is out of range for size 2"},
		{misuse(func() { x.IndexSelect(0, weft.Ones(2)) }), "index_select: index: has elements of type float32, want integers"},
		{misuse(func() { x.IndexSelect(3, weft.Arange(1)) }), "index_select: axis: 3 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { x.MaskSelect(weft.Ones(2, 3)) }), "mask_select: mask: has elements of type float32, want bool"},
		{misuse(func() { x.MaskSelect(weft.OnesOf(weft.Bool, 3, 2)) }), "mask_select: shapes do not broadcast: [2 3] and [3 2]"},
		{misuse(func() { x.Dim(2) }), "dim: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{misuse(func() { weft.Arange(3).ItemInt() }), "itemint: takes a tensor of one element, got shape [3]: Data returns all elements"},
		{misuse(func() { weft.Borrow(x, func([]float64) {}) }), "borrow: elements are float32, not float64: convert with To first"},
		{misuse(func() { weft.FromSlice([]float32{1, 2}, -1, 1) }), "fromslice: shape: dimension 0 of [-1 1] is negative"},
		{misuse(func() { weft.OnesOf(weft.DType(99), 2) }), "ones: dtype: dtype(99) is not supported"},
		{misuse(func() { weft.Randn(-1) }), "randn: shape: dimension 0 of [-1] is negative"},
		{misuse(func() { weft.Scalar("1") }), "scalar: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string"},
		{misuse(func() { weft.FullOf(weft.Float32, x, 2) }), "full: x: is a tensor, want a Go number"},
		{misuse(func() { weft.Eye(-1) }), "eye: shape: dimension 0 of [-1 -1] is negative"},
		{misuse(func() { x.To(weft.DType(99)) }), "to: dtype: dtype(99) is not supported"},
		{misuse(func() { weft.Ones(3).AddAssign(weft.Ones(2)) }), "addassign: x: has shape [2], which does not broadcast to the receiver's [3]"},
	})
}

func TestMistakesWithGradients(t *testing.T) {
	w := weft.Ones(2).RequireGrad()
	checkMistakes(t, "DIR", []mistake{
		{misuse(func() { w.Grad().Add(1) }), "add: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { w.Grad().Reshape(1) }), "reshape: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { w.Grad().Backward() }), "backward: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { w.Grad().Item() }), "item: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { l := w.Mul(w).Sum(); l.Backward(); l.Backward() }), "backward: the tape behind sum was already used and its values released: compute the output again, or give GradOpts{Retain: true} to the first pass"},
		{misuse(func() { l := w.Sum(); l.Backward(); l.Backward() }), "backward: the tape behind sum was already used and its values released: compute the output again, or give GradOpts{Retain: true} to the first pass"},
		{misuse(func() { weft.Grad(w.Sum(), []*weft.Tensor{weft.Ones(1).RequireGrad()}) }), "grad: inputs: number 0 was not used to compute the outputs (GradOpts{AllowUnused: true} returns nil instead)"},
		{misuse(func() {
			weft.BackwardWith([]*weft.Tensor{w.Mul(2)}, weft.GradOpts{Seeds: []*weft.Tensor{weft.Ones(3)}})
		}), "backward: seeds: number 0 is float32[3], its output float32[2]"},
		{misuse(func() { w.Fill(1) }), "fill: the receiver is a leaf that requires a gradient: write into it inside WithoutGrad, which does not record"},
		{misuse(func() { a := w.Exp(); b := a.Square().Sum(); a.MulAssign(2); b.Backward() }), "backward: argument 0 of square, float32[2], was modified in place after it was saved: it is at version 1, the gradient needs version 0; it was overwritten at FILE:LINE"},
		{misuse(func() { w.SetGrad(weft.Ones(3)) }), "setgrad: grad: is float32[3], the tensor float32[2]"},
		{misuse(func() { w.Mul(2).SetGrad(weft.Ones(2)) }), "setgrad: the tensor is not a leaf that requires a gradient: only those keep one"},
		{misuse(func() { a := weft.Ones(2); a.Release(); a.Add(1) }), "add: the tensor float32[2] was released, or its scope closed (Scope.Keep takes a tensor out)"},
		{misuse(func() { a := weft.Ones(); a.Release(); a.Item() }), "item: the tensor float32[] was released, or its scope closed (Scope.Keep takes a tensor out)"},
		{misuse(func() { a := weft.Ones(2); b := a.At(0); a.Release(); b.Item() }), "item: the tensor float32[] was released, or its scope closed (Scope.Keep takes a tensor out)"},
		{misuse(func() { s := weft.NewScope(); a := s.Track(weft.Ones(2)).Add(1); s.Close(); a.Sum() }), "sum: the tensor float32[2] was released, or its scope closed (Scope.Keep takes a tensor out)"},
		{misuse(func() { s := weft.NewScope(); s.Close(); s.Track(weft.Ones(2)).Add(1) }), "scope: a tensor of a closed scope was used: close it after the last use"},
		{misuse(func() { s := weft.NewScope(); a := s.Track(w).Exp().Sum(); s.Close(); a.Backward() }), "backward: the tensor float32[] was released, or its scope closed (Scope.Keep takes a tensor out)"},
		{misuse(func() { a, b := weft.NewScope(), weft.NewScope(); a.Track(weft.Ones(2)).Add(b.Track(weft.Ones(2))) }), "add: operands belong to two scopes, and neither scope is inside the other (Scope.Nest makes a scope inside another)"},
	})
}

func TestMistakesInFormulas(t *testing.T) {
	x := weft.Ones(2, 3)
	checkMistakes(t, "DIR", []mistake{
		{misuse(func() { weft.Expr("2*a + 3*c", weft.Vars{"a": x}) }), "expr: column 9: c has no value: values are given for a\n\t2*a + 3*c\n\t        ^"},
		{misuse(func() { weft.Expr("2*(a", x) }), "expr: column 5: expected ')', found the end of the formula\n\t2*(a\n\t    ^"},
		{misuse(func() { weft.Expr("2*a)", x) }), "expr: column 4: unexpected ')' after a complete formula\n\t2*a)\n\t   ^"},
		{misuse(func() { weft.Expr("sin(a, b)", x, x) }), "expr: column 1: sin takes 1 argument, got 2\n\tsin(a, b)\n\t^"},
		{misuse(func() { weft.Expr("atan2(a)", x) }), "expr: column 1: atan2 takes 2 arguments, got 1\n\tatan2(a)\n\t^"},
		{misuse(func() { weft.Expr("snh(a)", x) }), "expr: column 1: unknown function snh: did you mean sinh?\n\tsnh(a)\n\t^"},
		{misuse(func() { weft.Expr("", x) }), "expr: column 1: the formula is empty\n\t\n\t^"},
		{misuse(func() { weft.Expr("a b", x, x) }), "expr: column 3: unexpected b after a complete formula: a product is written with *\n\ta b\n\t  ^"},
		{misuse(func() { weft.Expr("a+", x) }), "expr: column 3: expected operand, found the end of the formula\n\ta+\n\t  ^"},
		{misuse(func() { weft.Expr("a**", x) }), "expr: column 4: expected operand, found the end of the formula\n\ta**\n\t   ^"},
		{misuse(func() { weft.Expr("a^2", x) }), "expr: column 2: ^ is not a power: a power is written pow(a, 2)\n\ta^2\n\t ^"},
		{misuse(func() { weft.Expr("a = 2", x) }), "expr: column 3: a formula has no assignment: equality is written ==\n\ta = 2\n\t  ^"},
		{misuse(func() { weft.Expr("a + b", x) }), "expr: \"a + b\" takes 2 values, for [a b] in this order, got 1"},
		{misuse(func() { weft.Expr("a", x, x) }), "expr: \"a\" takes 1 value, for a, got 2"},
		{misuse(func() { weft.Expr("a+b", x, weft.Ones(4)) }), "expr: column 2: add: shapes do not broadcast: [2 3] and [4]\n\ta+b\n\t ^"},
		{misuse(func() { weft.Expr("a + 'b'", x) }), "expr: column 5: a formula takes numbers, not text\n\ta + 'b'\n\t    ^"},
		{misuse(func() { weft.Expr("a[0]", x) }), "expr: column 1: a formula does not index: pass the slice under a name of its own\n\ta[0]\n\t^"},
		{misuse(func() { weft.Expr("a.b", x) }), "expr: column 2: names have no dot\n\ta.b\n\t ^"},
		{misuse(func() { weft.Expr("2a", x) }), "expr: column 2: unexpected a after a complete formula: a product is written with *\n\t2a\n\t ^"},
		{misuse(func() { weft.Expr("sum(a, 3)", x) }), "expr: column 1: sum: axis: 3 is out of range for 2 dimensions: want -2 to 1\n\tsum(a, 3)\n\t^"},
		{misuse(func() { weft.Expr("a + b", x, "no") }), "expr: column 5: b is string: want a *Tensor or a Go number\n\ta + b\n\t    ^"},
		{misuse(func() { weft.Expr("a + x1", weft.Vars{"a": x}) }), "expr: column 5: x1 has no value: values are given for a\n\ta + x1\n\t    ^"},
		{misuse(func() { weft.Expr("1.2.3*a", x) }), "expr: column 4: unexpected .3 after a complete formula\n\t1.2.3*a\n\t   ^"},
		{misuse(func() { weft.Expr("a < b < c", x, x, x) }), "expr: column 7: comparisons do not chain: write a < b && b < c\n\ta < b < c\n\t      ^"},
		{misuse(func() { weft.Expr("exp()", x) }), "expr: column 1: exp takes 1 argument, got 0\n\texp()\n\t^"},
		{misuse(func() { weft.Expr("where(a)", x) }), "expr: column 1: where takes 3 arguments, got 1\n\twhere(a)\n\t^"},
		{misuse(func() { weft.Expr("a @ b", x, x) }), "expr: column 3: there is no @: a matrix product is written dot(a, b)\n\ta @ b\n\t  ^"},
		{misuse(func() { weft.Expr("a+b", weft.Vars{"a": x, "b": nil}) }), "expr: column 3: b is <nil>: want a *Tensor or a Go number\n\ta+b\n\t  ^"},
		{misuse(func() { weft.Expr("if a", x) }), "expr: column 1: if is a keyword of Go and cannot be a name\n\tif a\n\t^"},
		{misuse(func() { weft.Expr("a ? 1 : 2", x) }), "expr: column 3: a choice is written where(condition, x, y)\n\ta ? 1 : 2\n\t  ^"},
		{misuse(func() { weft.Expr("max(a,b,c)", x, x, x) }), "expr: column 1: max takes 1 or 2 arguments, got 3: over axes it is written amax(x, 0, 1)\n\tmax(a,b,c)\n\t^"},
		{misuse(func() { weft.Expr("a+b", (*weft.Tensor)(nil), x) }), "expr: column 1: a is a nil tensor\n\ta+b\n\t^"},
		{misuse(func() { weft.Expr("Sin(a)", x) }), "expr: column 1: unknown function Sin: did you mean sin?\n\tSin(a)\n\t^"},
	})
}

func TestMistakesInTraining(t *testing.T) {
	x := weft.Ones(2, 3)
	checkMistakes(t, "DIR", []mistake{
		{misuse(func() { x.Linear(weft.Ones(4, 3), weft.Ones(3)) }), "linear: b: has shape [3], want [4]"},
		{misuse(func() { x.Linear(weft.Ones(4, 4), weft.Ones(4)) }), "linear: x: has shape [2 3], want [... 4]: the weights are [4 4], outputs first"},
		{misuse(func() { x.Linear(nil, weft.Ones(4)) }), "linear: w: is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { x.Linear(weft.Ones(3), nil) }), "linear: w: has shape [3], want [out in]"},
		{misuse(func() { nn.MSE(x, nil) }), "mse: target: is nil"},
		{misuse(func() { x.Grad().Shape() }), "shape: the tensor is nil (a Grad is nil until Backward has reached its leaf)"},
		{misuse(func() { weft.Data[int64](x) }), "data: elements are float32, not int64: convert with To first"},
		{misuse(func() { nn.NewLinear(4, 2).Forward(x) }), "linear: x: has shape [2 3], want [... 4]: the weights are [2 4], outputs first"},
		{misuse(func() { nn.NewLinear(0, 2).Forward(x) }), "linear: x: has shape [2 3], want [... 0]: the weights are [2 0], outputs first"},
		{misuse(func() { nn.NewLinear(-1, 2) }), "linear: shape: dimension 1 of [2 -1] is negative"},
		{misuse(func() { (&nn.Linear{}).Forward(x) }), "linear: Weight: is nil: NewLinear makes a layer with weights"},
		{misuse(func() { nn.NewConv2d(3, 4, 3).Forward(weft.Ones(1, 1, 8, 8)) }), "conv2d: w: takes 3 channels, x has 1: [4 3 3 3] and [1 1 8 8]"},
		{misuse(func() { nn.NewConv2d(1, 4, 3).Forward(weft.Ones(8, 8)) }), "conv2d: x: has shape [8 8], want [N C H W]: pictures, channels, height, width"},
		{misuse(func() { nn.NewConv2d(1, 4, 9).Forward(weft.Ones(1, 1, 8, 8)) }), "conv2d: a window of 9 does not fit in 8 with padding 0"},
		{misuse(func() { nn.MaxPool2d{}.Forward(weft.Ones(1, 1, 8, 8)) }), "max_pool2d: Window: is [0 0], want numbers from 1 to 2147483647"},
		{misuse(func() { nn.MaxPool2d{Window: [2]int{9, 9}}.Forward(weft.Ones(1, 1, 8, 8)) }), "max_pool2d: Window: of 9 elements does not fit in 8 with padding 0"},
		{misuse(func() { nn.MaxPool2d{Window: [2]int{2, 2}}.Forward(weft.Ones(8)) }), "max_pool2d: x: has shape [8], want 2 axes or more"},
		{misuse(func() { nn.MaxPool2d{Window: [2]int{2, 2}, Padding: [2]int{2, 2}}.Forward(weft.Ones(1, 1, 8, 8)) }), "max_pool2d: Padding: is 2, not less than the window 2"},
		{misuse(func() { (&nn.Dropout{P: 2}).Forward(x) }), "dropout: P: 2 is not a probability: want 0 to 1"},
		{misuse(func() { nn.CrossEntropy(weft.Ones(3), weft.Arange(3)) }), "cross_entropy: logits: are float32[3], want floats [N C ...]: scores of C classes"},
		{misuse(func() { nn.CrossEntropy(x, weft.Ones(2)) }), "cross_entropy: target: has elements of type float32, want integers: the class of each row"},
		{misuse(func() { nn.CrossEntropy(x, weft.OnesOf(weft.Int64, 2, 3)) }), "cross_entropy: target: has shape [2 3], want [2]: a class for each row of the logits [2 3]"},
		{misuse(func() { nn.CrossEntropy(x, weft.Arange(3)) }), "cross_entropy: target: has shape [3], want [2]: the class of each row of the logits"},
		{misuse(func() { nn.CrossEntropy(x, weft.FromSlice([]int64{0, 3})) }), "cross_entropy: target: 3 of row 1 is not a class: want 0 to 2"},
		{misuse(func() { nn.CrossEntropy(weft.ZerosOf(weft.Int64, 2, 3), weft.Arange(2)) }), "cross_entropy: logits: have elements of type int64, want floats"},
		{misuse(func() { nn.KaimingNormal(nil, 3) }), "kaiming_normal: shape: [3] has no fans: want two axes or more"},
		{func() error { return nn.LoadState(nn.NewLinear(3, 1), nn.State(nn.NewLinear(2, 1)), true) }, "nn: the state does not fit the module: weight is float32[1 2], want float32[1 3]"},
		{func() error {
			return nn.LoadState(nn.NewLinear(3, 1), map[string]*weft.Tensor{"weight": weft.Ones(1, 3)}, true)
		}, "nn: the state does not fit the module: missing bias"},
		{func() error {
			return nn.LoadState(nn.NewLinear(3, 1), map[string]*weft.Tensor{"weight": weft.Ones(1, 3), "bias": weft.Ones(1), "v": x}, true)
		}, "nn: the state does not fit the module: unexpected v"},
		{misuse(func() { optim.NewSGD(nn.Params(struct{}{}), optim.SGDOpts{LR: new(0.1)}) }), "sgd: params: is empty: a module's parameters are its tensors marked with nn.Param, in exported fields"},
		{misuse(func() { optim.NewSGD(nil, optim.SGDOpts{LR: new(0.1)}) }), "sgd: params: is nil: nn.Params returns the parameters of a module"},
		{misuse(func() { optim.NewSGD(nn.Params(nn.NewLinear(1, 1)), optim.SGDOpts{LR: new(-1.0)}) }), "sgd: LR: is -1, want 0 or more"},
		{misuse(func() { optim.NewSGD(nn.Params(nn.NewLinear(1, 1)), optim.SGDOpts{LR: new(1.0), Momentum: -1}) }), "sgd: Momentum: is -1, want at least 0 and less than 1"},
		{misuse(func() { optim.NewAdam(nn.Params(nn.NewLinear(1, 1)), optim.AdamOpts{LR: new(1.0), Beta1: new(2.0)}) }), "adam: Beta1: is 2, want at least 0 and less than 1"},
		{misuse(func() { data.Tensors(weft.Ones(3, 2), weft.Ones(2)) }), "tensors: x has shape [3 2], y [2]: want a first axis of the same size, the examples"},
		{misuse(func() { data.NewLoader(data.Tensors(weft.Ones(3, 2), weft.Ones(3)), data.LoaderOpts{Batch: new(-1)}) }), "loader: Batch: is -1, want 1 or more"},
		{misuse(func() { data.NewLoader(nil, data.LoaderOpts{Batch: new(2)}) }), "loader: d: is nil"},
	})
}

func TestMistakesWithFiles(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	model := func(in int) checkpoint.Parts {
		return checkpoint.Parts{"model": checkpoint.Module(nn.NewLinear(in, 1))}
	}
	x := weft.Ones(2, 3)
	must(os.WriteFile(file("junk"), []byte("hello, this is a text and no array"), 0o644))
	must(os.WriteFile(file("empty"), nil, 0o644))
	must(checkpoint.Save(file("checkpoint"), model(1), nil))
	must(safetensors.WriteFile(file("plain.safetensors"), map[string]*weft.Tensor{"a": x}, nil))
	must(safetensors.WriteFile(file("cut.safetensors"), map[string]*weft.Tensor{"a": x}, nil))
	must(npy.WriteFile(file("cut.npy"), x))
	for _, name := range []string{"cut.safetensors", "cut.npy"} {
		b, err := os.ReadFile(file(name))
		must(err)
		must(os.WriteFile(file(name), b[:len(b)-5], 0o644))
	}
	checkMistakes(t, dir, []mistake{
		{func() error { _, err := npy.ReadFile(file("none")); return err }, "open DIR/none: no such file or directory"},
		{func() error { _, _, err := safetensors.ReadFile(file("none")); return err }, "open DIR/none: no such file or directory"},
		{func() error { _, err := npy.ReadFile(file("junk")); return err }, `DIR/junk: npy: not a .npy file: it begins with "hello,"`},
		{func() error { _, _, err := safetensors.ReadFile(file("junk")); return err }, "DIR/junk: safetensors: not a safetensors file: its header would be 8367736964726416744 bytes long, at most 100000000 are allowed"},
		{func() error { _, err := npy.ReadFile(file("empty")); return err }, "DIR/empty: npy: the header cannot be read: unexpected EOF"},
		{func() error { _, _, err := safetensors.ReadFile(file("empty")); return err }, "DIR/empty: safetensors: the file has 0 bytes: unexpected EOF"},
		{func() error { _, err := checkpoint.Load(file("none"), model(1)); return err }, "checkpoint: open DIR/none: no such file or directory"},
		{func() error { return npy.WriteFile(file("no/x.npy"), x) }, "open DIR/no/x.npy: no such file or directory"},
		{func() error { return safetensors.WriteFile(file("no/x.st"), map[string]*weft.Tensor{"x": x}, nil) }, "open DIR/no/x.st: no such file or directory"},
		{func() error { return checkpoint.Save(file("no/x.st"), model(1), nil) }, "checkpoint: open DIR/no/x.st: no such file or directory"},
		{func() error { _, err := checkpoint.Load(file("checkpoint"), model(2)); return err }, `checkpoint: part "model": nn: the state does not fit the module: weight is float32[1 1], want float32[1 2]`},
		{func() error {
			_, err := checkpoint.Load(file("checkpoint"), checkpoint.Parts{"net": checkpoint.Module(nn.NewLinear(1, 1))})
			return err
		}, `checkpoint: part "model" is in the file, but not asked for`},
		{func() error {
			_, err := checkpoint.Load(file("checkpoint"), checkpoint.Parts{"model": checkpoint.Module(nn.NewLinear(1, 1)), "opt": checkpoint.Generator(weft.NewGenerator(1))})
			return err
		}, `checkpoint: part "opt" is not in the file`},
		{func() error { _, err := npy.ReadFile(file("checkpoint")); return err }, `DIR/checkpoint: npy: not a .npy file: it begins with "\xc0\x00\x00\x00\x00\x00"`},
		{func() error { _, err := checkpoint.Load(file("plain.safetensors"), model(1)); return err }, `checkpoint: DIR/plain.safetensors is not a checkpoint: its format is "", want "weft.checkpoint.1"`},
		{func() error { _, _, err := safetensors.ReadFile(file("cut.safetensors")); return err }, `DIR/cut.safetensors: safetensors: tensor "a": its data ends at byte 24, 19 are there: unexpected EOF`},
		{func() error { _, err := npy.ReadFile(file("cut.npy")); return err }, "DIR/cut.npy: npy: float32[2 3] needs 24 bytes of data, 19 are there: unexpected EOF"},
	})
}

// Each misuse names the operation, the argument where one is at fault, and the
// shapes and types that matter.
func TestErrorTexts(t *testing.T) {
	x := weft.Arange(6.0).Reshape(2, 3)
	leaf := weft.Ones(2).RequireGrad()
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { x.Add(weft.Ones(4)) }, "add: shapes do not broadcast: [2 3] and [4]"},
		{func() { x.Add("1") }, "add: x: takes a *Tensor or a Go number (bool, integer, float or complex), not string"},
		{func() { x.Add((*weft.Tensor)(nil)) }, "add: x: is nil (a Grad is nil until Backward has reached its leaf)"},
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
		{func() { x.Slice(weft.Range(0, 2, 0)) }, "slice: step: of axis 0 is 0"},
		{func() { weft.Ones(3).Diagonal(0) }, "diagonal: takes two dimensions or more, got [3]"},
		{func() { x.Sum(2) }, "sum: axis: 2 is out of range for 2 dimensions: want -2 to 1"},
		{func() { x.Sum(1, -1) }, "sum: axis: 1 is given twice"},
		{func() { weft.Scalar(1).Sum(0) }, "sum: axis: 0 given for an array of no dimensions"},
		{func() { weft.Cat(nil, 0) }, "cat: takes one tensor or more, got none"},
		{func() { weft.Stack([]*weft.Tensor{x, weft.Ones(2)}, 0) }, "stack: tensor 1 has shape [2], tensor 0 [2 3]: want equal shapes"},
		{func() { weft.Zeros(2, -1) }, "zeros: shape: dimension 1 of [2 -1] is negative"},
		{func() { weft.Zeros(math.MaxInt, 8) }, "zeros: shape: [9223372036854775807 8] overflows: more bytes than an int can count"},
		{func() { weft.Zeros(make([]int, 17)...) }, "zeros: shape: 17 dimensions, at most 16 are supported"},
		{func() { weft.ZerosOf(weft.DType(99), 2) }, "zeros: dtype: dtype(99) is not supported"},
		{func() { weft.FromSlice([]int32{1, 2}, 3) }, "fromslice: shape: [3] has 3 elements, the slice 2"},
		{func() { weft.From([][]int{{1}, {2, 3}}) }, "from: x: is ragged: a row of 2 elements where the first has 1"},
		{func() { weft.From("no") }, "from: x: is string: want nested slices of bool, integers, floats or complex numbers"},
		{func() { weft.From(nil) }, "from: x: is nil"},
		{func() { weft.Arange(0, 5, 0) }, "arange: step: is 0"},
		{func() { weft.Linspace(0, 1, -1) }, "linspace: n: -1 is negative"},
		{func() { weft.Data[float64](x) }, "data: elements are float32, not float64: convert with To first"},
		{func() { weft.CopyTo(x, make([]float32, 2)) }, "copyto: dst: has 2 elements, the tensor 6"},
		{func() { weft.Borrow(x.T(), func([]float32) {}) }, "borrow: [3 2] with strides [1 3] is not contiguous: use Contiguous or CopyTo"},
		{func() { x.Item() }, "item: takes a tensor of one element, got shape [2 3]: Data returns all elements"},
		{func() { weft.Scalar(1.5).ItemInt() }, "itemint: takes a tensor of one integer or bool, got float32[]"},
		{func() { weft.Scalar(1).Expand(3).Assign(2) }, "assign: [3] with strides [0] is an expanded view, several of its elements are one: Clone it first"},
		{func() { weft.Arange(3).AddAssign(1.5) }, "addassign: a result of type float32 cannot be written into int64: convert the receiver with To first"},
		{func() { weft.Arange(3).Assign(1.5) }, "assign: x: is a float, which cannot be written into int64: convert the receiver with To first"},
		{func() { weft.Ones(3).Assign(weft.Ones(2, 3)) }, "assign: x: has shape [2 3], which does not broadcast to the receiver's [3]"},
		{func() { weft.Ones(3).AddAssign(weft.Ones(2, 3)) }, "addassign: x: has shape [2 3], which does not broadcast to the receiver's [3]"},
		{func() { weft.OnesOf(weft.Bool, 2).Neg() }, "neg: is not defined for bool"},
		{func() { weft.Arange(2).RequireGrad() }, "requiregrad: only floats have gradients, not int64"},
		{func() { leaf.Mul(2).RequireGrad() }, "requiregrad: the tensor was computed by mul: only a leaf can be marked (Detach makes one)"},
		{func() { weft.Ones(2).Assign([]float32{1, 2}) }, "assign: x: takes a *Tensor or a Go number (bool, integer, float or complex), not []float32 (weft.From makes a *Tensor)"},
		{func() {
			weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				return weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Lt(9) }, func(s []*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{s[0].MulAssign(2)} }, []*weft.Tensor{x})[0]
			}).Func()(weft.Ones())
		}, "while: a step writes in place into tensor 0 of the state (at FILE:LINE): Clone it first"},
		{func() { leaf.AddAssign(1) }, "addassign: the receiver is a leaf that requires a gradient: write into it inside WithoutGrad, which does not record"},
		{func() { leaf.At(0).Assign(1) }, "assign: the receiver is a view of a leaf that requires a gradient: write into it inside WithoutGrad, which does not record"},
		{func() { leaf.Mul(2).Backward() }, "backward: output 0 has shape [2], want one element: reduce it with Sum or Mean, or give its gradient as GradOpts.Seeds"},
		{func() { weft.Ones().Backward() }, "backward: output 0 does not depend on a tensor that requires a gradient: mark leaves with RequireGrad before computing it, outside WithoutGrad and without Detach on the way; results of a compiled function have gradients inside it alone: call Grad there"},
		{func() { weft.Grad(leaf.Sum(), []*weft.Tensor{weft.Ones(1)}) }, "grad: inputs: number 0 does not require a gradient: mark it with RequireGrad before computing the outputs"},
		{func() { weft.Randint(3, 3) }, "randint: hi: 3 is not above lo, 3"},
		{func() { weft.NewGenerator(1).RandintOf(weft.Uint8, 0, 257) }, "randint: uint8 does not hold all of 0 to 256"},
		{func() { weft.RandOf(weft.Int32, 2) }, "rand: dtype: int32 is not a float"},
		{func() { weft.RandOf(weft.Int64, 2) }, "rand: dtype: int64 is not a float"},
		{func() { weft.NewGenerator(1).RandnOf(weft.Int64, 2) }, "randn: dtype: int64 is not a float"},
		{func() { weft.RandOf(weft.DType(99), 2) }, "rand: dtype: dtype(99) is not a float"},
		{func() { weft.ScalarOf(weft.DType(99), 1) }, "scalar: dtype: dtype(99) is not supported"},
		{func() { weft.ScalarOf(weft.DType(99), 1) }, "scalar: dtype: dtype(99) is not supported"},
		{func() { weft.Randperm(-1) }, "randperm: n: -1 is negative"},
		{func() { x.Dropout(1.5, nil) }, "dropout: p: 1.5 is not a probability: want 0 to 1"},
		{func() { weft.Arange(3).Dropout(0.5, nil) }, "dropout: takes floats, got int64: convert with To first"},
	} {
		err := weft.Try(c.f)
		var e *weft.Error
		if !errors.As(err, &e) || e.Kind != weft.Misuse {
			t.Errorf("got %v, want the misuse %q", err, c.want)
			continue
		}
		if got := place.ReplaceAllString(err.Error(), "at FILE:LINE"); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	defer func() {
		if recover() != "mine" {
			t.Error("Try does not let other panics pass")
		}
	}()
	_ = weft.Try(func() { panic("mine") })
}

// Memory that a function has as a slice is not given back before it returns.
func TestReleaseOfBorrowedMemory(t *testing.T) {
	s := weft.NewScope()
	x := s.Track(weft.Ones(4096)).Add(1)
	weft.Borrow(x, func(b []float32) {
		for what, give := range map[string]func(){"Release": x.Release, "Release of a view": x.Reshape(64, 64).Release, "Close": s.Close} {
			if weft.Try(give) == nil {
				t.Errorf("%s gives borrowed memory back", what)
			}
		}
		if b[0] != 2 {
			t.Errorf("borrowed memory holds %v", b[0])
		}
	})
	weft.Try(func() { weft.Borrow(x, func([]float32) { weft.Ones(-1) }) })
	s.Close()
	if weft.Try(func() { x.Sum() }) == nil {
		t.Error("the memory was not given back afterwards")
	}
}

// A loader refuses datasets of a negative or huge length. Batches and prefetches that are larger
// than the dataset give all of its examples.
func TestLoaderOfExtremeSizes(t *testing.T) {
	x := weft.Ones(3, 1)
	for _, o := range []data.LoaderOpts{{Batch: new(math.MaxInt)}, {Batch: new(2), Prefetch: new(math.MaxInt)}, {Prefetch: new(0)}} {
		n := 0
		for b, err := range data.NewLoader(data.Tensors(x, nil), o).Batches(context.Background()) {
			if err != nil {
				t.Error(o, err)
				break
			}
			n += b.X.Dim(0)
		}
		if n != 3 {
			t.Errorf("%+v: %d of 3 examples", o, n)
		}
	}
	for _, n := range []int{-1, math.MinInt, math.MaxInt, 1 << 60} {
		l := data.NewLoader(wrongLength(n), data.LoaderOpts{Batch: new(2)})
		if err := weft.Try(func() {
			for range l.Batches(context.Background()) {
				break
			}
		}); err == nil {
			t.Errorf("a dataset of length %d is read", n)
		}
	}
}

type wrongLength int

func (n wrongLength) Len() int                             { return int(n) }
func (wrongLength) Get(int) (x, y *weft.Tensor, err error) { return weft.Ones(1), nil, nil }

// nilPart is a part of a checkpoint whose state holds a nil tensor.
type nilPart struct{}

func (nilPart) State() map[string]*weft.Tensor          { return map[string]*weft.Tensor{"a": none} }
func (nilPart) LoadState(map[string]*weft.Tensor) error { return nil }

// States with a nil tensor lack it, as far as LoadState is concerned, and an
// optimizer takes no nil parameter.
func TestLoadStateRefusesNilTensors(t *testing.T) {
	params := func(yield func(string, *weft.Tensor) bool) { yield("w", none) }
	l := nn.NewLinear(1, 1)
	loader := data.NewLoader(data.Tensors(weft.Ones(2), nil), data.LoaderOpts{Batch: new(1)})
	for what, err := range map[string]error{
		"nn.LoadState":                   nn.LoadState(l, map[string]*weft.Tensor{"W": none, "B": none}, true),
		"optim.NewSGD":                   weft.Try(func() { optim.NewSGD(params, optim.SGDOpts{LR: new(1.0)}) }),
		"optim.NewAdam":                  weft.Try(func() { optim.NewAdam(params, optim.AdamOpts{LR: new(1.0)}) }),
		"SGD.LoadState":                  optim.NewSGD(nn.Params(l), optim.SGDOpts{LR: new(1.0)}).LoadState(map[string]*weft.Tensor{"lr": none}),
		"Adam.LoadState":                 optim.NewAdam(nn.Params(l), optim.AdamOpts{LR: new(1.0)}).LoadState(map[string]*weft.Tensor{"lr": none}),
		"data.Loader.LoadState":          loader.LoadState(map[string]*weft.Tensor{"epoch": none, "batch": none}),
		"checkpoint.Generator.LoadState": checkpoint.Generator(weft.NewGenerator(1)).LoadState(map[string]*weft.Tensor{"state": none}),
	} {
		if err == nil {
			t.Errorf("%s takes a nil tensor", what)
		}
	}
}

// typedNil is a part and a dataset that is a nil pointer.
type typedNil struct{ n int }

func (p *typedNil) Len() int                                      { return p.n }
func (p *typedNil) Get(int) (x, y *weft.Tensor, err error)        { return weft.Ones(1), nil, nil }
func (p *typedNil) State() map[string]*weft.Tensor                { return nil }
func (p *typedNil) LoadState(state map[string]*weft.Tensor) error { return nil }

// failing ends in an error, as a reader of a broken file does.
type failing struct{}

func (failing) Read([]byte) (int, error)          { return 0, errors.New("broken") }
func (failing) ReadAt([]byte, int64) (int, error) { return 0, errors.New("broken") }
func (failing) Write([]byte) (int, error)         { return 0, errors.New("full") }

// Nil functions, modules, datasets, contexts and readers, and numbers without bound, in
// the packages around tensors: an error or a *weft.Error, never another panic.
func TestNilAndHostileArgumentsOfLibraries(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	ones := data.Tensors(weft.Ones(10, 2), nil)
	batches := func(d data.Dataset, o data.LoaderOpts) error {
		for _, err := range data.NewLoader(d, o).Batches(context.Background()) {
			if err != nil {
				return err
			}
		}
		return nil
	}
	x := weft.Ones(2, 2)
	for name, f := range map[string]func() error{
		"data.Tensors nil":           func() error { data.Tensors(nil, nil); return nil },
		"data.Tensors 0-d":           func() error { data.Tensors(weft.Scalar(1), nil); return nil },
		"data.NewLoader nil":         func() error { data.NewLoader(nil, data.LoaderOpts{}); return nil },
		"data.Batches nil context":   func() error { data.NewLoader(ones, data.LoaderOpts{}).Batches(noContext); return nil },
		"data.Batches nil loader":    func() error { (*data.Loader)(nil).Batches(context.Background()); return nil },
		"data.Batches zero loader":   func() error { new(data.Loader).Batches(context.Background()); return nil },
		"data.Loader nil Len":        func() error { (*data.Loader)(nil).Len(); return nil },
		"data.Loader nil Seek":       func() error { (*data.Loader)(nil).Seek(0, 0); return nil },
		"data.Loader nil State":      func() error { (*data.Loader)(nil).State(); return nil },
		"data.Loader nil LoadState":  func() error { return (*data.Loader)(nil).LoadState(nil) },
		"data prefetch MaxInt":       func() error { return batches(&typedNil{1 << 40}, data.LoaderOpts{Prefetch: new(math.MaxInt)}) },
		"data negative batch":        func() error { return batches(ones, data.LoaderOpts{Batch: new(math.MinInt)}) },
		"data length MaxInt":         func() error { return batches(&typedNil{math.MaxInt}, data.LoaderOpts{}) },
		"data length MinInt":         func() error { return batches(&typedNil{math.MinInt}, data.LoaderOpts{}) },
		"nn.Func nil":                func() error { nn.Func(nil).Forward(x); return nil },
		"nn.Sequential of nil":       func() error { nn.Sequential{nil}.Forward(x); return nil },
		"nn.Linear nil":              func() error { (*nn.Linear)(nil).Forward(x); return nil },
		"nn.Linear zero":             func() error { new(nn.Linear).Forward(x); return nil },
		"nn.Linear of nil":           func() error { nn.NewLinear(2, 2).Forward(nil); return nil },
		"nn.Linear MaxInt":           func() error { nn.NewLinear(math.MaxInt, math.MaxInt); return nil },
		"nn.Linear negative":         func() error { nn.NewLinear(-1, 2); return nil },
		"nn.Conv2d nil":              func() error { (*nn.Conv2d)(nil).Forward(x); return nil },
		"nn.Conv2d zero":             func() error { new(nn.Conv2d).Forward(x); return nil },
		"nn.Conv2d MaxInt":           func() error { nn.NewConv2d(math.MaxInt, 2, 3); return nil },
		"nn.Dropout nil":             func() error { (*nn.Dropout)(nil).Forward(x); return nil },
		"nn.Dropout nil SetTraining": func() error { (*nn.Dropout)(nil).SetTraining(true); return nil },
		"nn.Dropout NaN":             func() error { (&nn.Dropout{P: math.NaN()}).Forward(x); return nil },
		"nn.MSE nil":                 func() error { nn.MSE(nil, x); return nil },
		"nn.CrossEntropy nil":        func() error { nn.CrossEntropy(x, nil); return nil },
		"nn.Param nil":               func() error { nn.Param(nil); return nil },
		"nn.LoadState nil entry":     func() error { return nn.LoadState(nn.NewLinear(2, 2), map[string]*weft.Tensor{"W": nil}, true) },
		"nn.Kaiming no shape":        func() error { nn.KaimingNormal(nil); return nil },
		"nn.Xavier MaxInt":           func() error { nn.XavierUniform(nil, math.MaxInt, math.MaxInt); return nil },
		"optim.NewAdam nil":          func() error { optim.NewAdam(nil, optim.AdamOpts{}); return nil },
		"optim.NewSGD nil":           func() error { optim.NewSGD(nil, optim.SGDOpts{}); return nil },
		"optim.NewSGD of nil": func() error {
			optim.NewSGD(iter.Seq2[string, *weft.Tensor](func(y func(string, *weft.Tensor) bool) { y("x", nil) }), optim.SGDOpts{})
			return nil
		},
		"optim.NewAdam NaN": func() error {
			optim.NewAdam(nn.Params(nn.NewLinear(2, 2)), optim.AdamOpts{LR: new(math.NaN())})
			return nil
		},
		"optim.Adam nil Step":        func() error { (*optim.Adam)(nil).Step(); return nil },
		"optim.SGD nil Step":         func() error { (*optim.SGD)(nil).Step(); return nil },
		"checkpoint.Save nil part":   func() error { return checkpoint.Save(file, checkpoint.Parts{"a": nil}, nil) },
		"checkpoint.Save nil optim":  func() error { return checkpoint.Save(file, checkpoint.Parts{"a": (*optim.Adam)(nil)}, nil) },
		"checkpoint.Save nil loader": func() error { return checkpoint.Save(file, checkpoint.Parts{"a": (*data.Loader)(nil)}, nil) },
		"checkpoint nil generator":   func() error { return checkpoint.Save(file, checkpoint.Parts{"a": checkpoint.Generator(nil)}, nil) },
		"checkpoint secret parameter": func() error {
			return checkpoint.Save(file, checkpoint.Parts{"a": checkpoint.Module(struct{ w *weft.Tensor }{weft.Ones(1).RequireGrad()})}, nil)
		},
		"checkpoint.Load no file":     func() error { _, err := checkpoint.Load(file+"y", nil); return err },
		"npy.Read nil":                func() error { _, err := npy.Read(nil); return err },
		"npy.Read failing":            func() error { _, err := npy.Read(failing{}); return err },
		"npy.Write nil":               func() error { return npy.Write(nil, x) },
		"npy.Write nil tensor":        func() error { return npy.Write(io.Discard, nil) },
		"npy.Write failing":           func() error { return npy.Write(failing{}, x) },
		"safetensors.Read nil":        func() error { _, err := safetensors.Read(nil, 100); return err },
		"safetensors.Read negative":   func() error { _, err := safetensors.Read(failing{}, math.MinInt64); return err },
		"safetensors.Read failing":    func() error { _, err := safetensors.Read(failing{}, math.MaxInt64); return err },
		"safetensors.Write nil":       func() error { return safetensors.Write(nil, nil, nil) },
		"safetensors.Write nil entry": func() error { return safetensors.Write(io.Discard, map[string]*weft.Tensor{"a": nil}, nil) },
		"safetensors nil file":        func() error { _, err := (*safetensors.File)(nil).Tensor("a"); return err },
	} {
		func() {
			defer func() {
				if r := recover(); r != nil {
					if e, ok := r.(*weft.Error); !ok || e.Kind == weft.DeviceFailed {
						t.Errorf("%s: panic: %v", name, r)
					}
				}
			}()
			if err := f(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}()
	}
}

// mistakes are what a program does wrong, each on the line that its function begins on.
var mistakes = []struct {
	name string
	do   func()
}{
	{"method", func() { weft.Ones(2, 3).Add(weft.Ones(4)) }},
	{"index", func() { weft.Ones(2).At(7) }},
	{"formula", func() { weft.Expr("exp(a) * b", weft.Ones(2), weft.Ones(3)) }},
	{"parse", func() { weft.Expr("a +", weft.Ones(2)) }},
	{"generic", func() { weft.Data[int32](weft.Ones(2)) }},
	{"backward", func() { weft.Ones(2).Backward() }},
	{"layer", func() { nn.NewLinear(3, 2).Forward(weft.Ones(2, 5)) }},
	{"again", func() { defer func() { panic(recover()) }(); weft.Ones(2).At(7) }},
	{"goroutine", func() { c := make(chan int); go func() { weft.Ones(2).At(7) }(); <-c }},
	{"number", func() { weft.OnesOf(weft.Uint8, 2).Add(300) }},
	{"memory", func() { weft.Randn(1 << 50) }},
}

// An error that nobody recovers ends a program with the line of the program's own that is at
// fault, first of all; one that [weft.Try] gives, or that is recovered, says only what is wrong.
func TestUncaughtErrorNamesUserLine(t *testing.T) {
	if name := flag.Arg(0); name != "" {
		for _, m := range mistakes {
			if m.name == name {
				m.do()
			}
		}
		os.Exit(0)
	}
	for _, m := range mistakes {
		out, err := exec.Command(os.Args[0], "-test.run=^TestUncaughtErrorNamesUserLine$", m.name).CombinedOutput()
		if err == nil {
			t.Errorf("%s does not end the program", m.name)
			continue
		}
		text, _, _ := strings.Cut(string(out), "\ngoroutine ")
		_, text, _ = strings.Cut(text, "panic: ")
		pc := funcLine(m.do)
		if !strings.Contains(text, "\n\tat "+pc) {
			t.Errorf("%s, at %s:\n%s", m.name, pc, text)
		}
	}
	for _, m := range mistakes {
		if m.name == "goroutine" {
			continue
		}
		if err := weft.Try(m.do); err == nil || strings.Contains(err.Error(), "_test.go") {
			t.Errorf("%s: %v", m.name, err)
		}
		func() {
			defer func() {
				if s := fmt.Sprint(recover()); strings.Contains(s, "_test.go") {
					t.Errorf("%s, recovered: %s", m.name, s)
				}
			}()
			m.do()
		}()
	}
}

// funcLine is the file and line that a function begins on.
func funcLine(f func()) string {
	fn := runtime.FuncForPC(reflect.ValueOf(f).Pointer())
	file, line := fn.FileLine(fn.Entry())
	return fmt.Sprintf("%s:%d", file, line)
}
