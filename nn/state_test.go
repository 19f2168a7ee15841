package nn_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

type net struct {
	FC    *nn.Linear
	Mean  *weft.Tensor
	Count *weft.Tensor
}

func newNet(seed uint64) *net {
	g := weft.NewGenerator(seed)
	return &net{FC: nn.NewLinear(3, 2, nn.Opts{Generator: g, Bias: func(g *weft.Generator, shape ...int) *weft.Tensor { return g.Rand(shape...) }}),
		Mean: g.Rand(3), Count: weft.Scalar(int64(seed))}
}

func TestState(t *testing.T) {
	a, b := newNet(1), newNet(2)
	s := nn.State(a)
	if s["fc.weight"] != a.FC.Weight || s["fc.bias"] != a.FC.Bias || s["mean"] != a.Mean || s["count"] != a.Count || len(s) != 4 {
		t.Fatalf("state %v", s)
	}
	w := b.FC.Weight
	if err := nn.LoadState(b, s, true); err != nil {
		t.Fatal(err)
	}
	if b.FC.Weight != w || !b.FC.Weight.IsLeaf() || !b.FC.Weight.RequiresGrad() {
		t.Error("loading replaced a parameter")
	}
	for name, x := range nn.State(b) {
		if x.Ne(s[name]).Any().ItemInt() != 0 {
			t.Errorf("%s differs", name)
		}
	}
	// Copied, not shared.
	a.FC.Weight.Detach().Fill(7)
	if b.FC.Weight.Eq(7).Any().ItemInt() != 0 {
		t.Error("the modules share memory")
	}
}

func TestLoadStateErrors(t *testing.T) {
	m := newNet(1)
	before := weft.Data[float32](m.FC.Weight)
	s := nn.State(newNet(2))
	delete(s, "fc.bias")
	s["extra"] = weft.Zeros(1)
	s["mean"] = weft.Zeros(4)
	s["count"] = weft.Scalar(1.0)
	err := nn.LoadState(m, s, true)
	var e *nn.StateError
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if !slices.Equal(e.Missing, []string{"fc.bias"}) || !slices.Equal(e.Unexpected, []string{"extra"}) || len(e.Mismatched) != 2 || e.Mismatched[1].Name != "mean" {
		t.Errorf("%+v", e)
	}
	for _, part := range []string{"missing fc.bias", "unexpected extra", "mean is float32[4], want float32[3]", "count is float32[], want int64[]"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if err := nn.LoadState(m, s, false); err == nil {
		t.Error("a mismatch is taken when not strict")
	}
	if !slices.Equal(weft.Data[float32](m.FC.Weight), before) {
		t.Error("a refused state changed the module")
	}
	delete(s, "mean")
	delete(s, "count")
	if err := nn.LoadState(m, s, false); err != nil {
		t.Errorf("not strict: %v", err)
	}
	if !slices.Equal(weft.Data[float32](m.FC.Weight), weft.Data[float32](s["fc.weight"])) {
		t.Error("what both have was not loaded")
	}
	err = weft.Try(func() { nn.State(map[string]any{"a.b": weft.Zeros(1), "a": map[string]any{"b": weft.Zeros(1)}}) })
	if err == nil {
		t.Error("two tensors of one name are taken")
	}
}

type deep struct {
	Value nn.Dropout
	List  nn.Sequential
	Shape any
}

func TestTrainEval(t *testing.T) {
	x := weft.Ones(1000)
	one := &nn.Dropout{P: 0.5, Generator: weft.NewGenerator(1)}
	m := &deep{Value: nn.Dropout{P: 0.5}, List: nn.Sequential{nn.Relu{}, one}, Shape: map[string]any{"d": one}}
	drops := func(d *nn.Dropout) bool { return d.Forward(x).Eq(0).Any().ItemInt() != 0 }
	if !drops(&m.Value) || !drops(one) {
		t.Error("layers do not begin in training")
	}
	nn.Eval(m)
	if drops(&m.Value) || drops(one) {
		t.Error("Eval did not reach a layer")
	}
	nn.Train(m)
	if !drops(&m.Value) || !drops(one) {
		t.Error("Train did not reach a layer")
	}
	if err := weft.Try(func() { nn.Eval(*m) }); err == nil || !strings.Contains(err.Error(), "value cannot be changed") {
		t.Errorf("a copy: %v", err)
	}
}

type named struct {
	FC1         *weft.Tensor
	BN2         *weft.Tensor
	InProj      *weft.Tensor
	WeightIH    *weft.Tensor
	Layer2Norm  *weft.Tensor
	HTTPServer  *weft.Tensor
	Conv2D      *weft.Tensor
	Snake_Case  *weft.Tensor
	Tagged      *weft.Tensor            `nn:"down.0"`
	Transparent map[string]*weft.Tensor `nn:""`
}

// Names of fields become PyTorch's; a state whose names differ in case and underscores
// alone fits, where there is no doubt.
func TestStateNamesAsPyTorch(t *testing.T) {
	m := &named{}
	v := reflect.ValueOf(m).Elem()
	for i := range v.NumField() - 1 {
		v.Field(i).Set(reflect.ValueOf(weft.Zeros(1)))
	}
	m.Transparent = map[string]*weft.Tensor{"weight_ih_l0": weft.Zeros(1)}
	want := []string{"fc1", "bn2", "in_proj", "weight_ih", "layer2_norm", "http_server", "conv2d", "snake_case", "down.0", "weight_ih_l0"}
	var got []string
	for name := range nn.Buffers(m) {
		got = append(got, name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("names %q, want %q", got, want)
	}
	one := func(x float32) *weft.Tensor { return weft.FromSlice([]float32{x}) }
	state := map[string]*weft.Tensor{"fc_1": one(1), "Layer2norm": one(2), "bn2": one(3), "BN2": one(4), "in_proj_": one(5), "inproj": one(6)}
	err := nn.LoadState(m, state, false)
	if err != nil || m.FC1.Item() != 1 || m.Layer2Norm.Item() != 2 || m.BN2.Item() != 3 || m.InProj.Item() != 5 {
		t.Errorf("%v: %v %v %v %v", err, m.FC1, m.Layer2Norm, m.BN2, m.InProj)
	}
	var e *nn.StateError
	if err := nn.LoadState(m, state, true); !errors.As(err, &e) || !slices.Equal(e.Unexpected, []string{"BN2", "inproj"}) {
		t.Errorf("strictly: %v", err)
	}
}
