package nn_test

import (
	"errors"
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
	if s["FC.W"] != a.FC.W || s["FC.B"] != a.FC.B || s["Mean"] != a.Mean || s["Count"] != a.Count || len(s) != 4 {
		t.Fatalf("state %v", s)
	}
	w := b.FC.W
	if err := nn.LoadState(b, s, true); err != nil {
		t.Fatal(err)
	}
	if b.FC.W != w || !b.FC.W.IsLeaf() || !b.FC.W.RequiresGrad() {
		t.Error("loading replaced a parameter")
	}
	for name, x := range nn.State(b) {
		if x.Ne(s[name]).Any().ItemInt() != 0 {
			t.Errorf("%s differs", name)
		}
	}
	// Copied, not shared.
	a.FC.W.NoGrad().Fill(7)
	if b.FC.W.Eq(7).Any().ItemInt() != 0 {
		t.Error("the modules share memory")
	}
}

func TestLoadStateErrors(t *testing.T) {
	m := newNet(1)
	before := weft.Data[float32](m.FC.W)
	s := nn.State(newNet(2))
	delete(s, "FC.B")
	s["Extra"] = weft.Zeros(1)
	s["Mean"] = weft.Zeros(4)
	s["Count"] = weft.Scalar(1.0)
	err := nn.LoadState(m, s, true)
	var e *nn.StateError
	if !errors.As(err, &e) {
		t.Fatalf("error %v", err)
	}
	if !slices.Equal(e.Missing, []string{"FC.B"}) || !slices.Equal(e.Unexpected, []string{"Extra"}) || len(e.Mismatched) != 2 || e.Mismatched[1].Name != "Mean" {
		t.Errorf("%+v", e)
	}
	for _, part := range []string{"missing FC.B", "unexpected Extra", "Mean is float32[4], want float32[3]", "Count is float32[], want int64[]"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q lacks %q", err, part)
		}
	}
	if err := nn.LoadState(m, s, false); err == nil {
		t.Error("a mismatch is taken when not strict")
	}
	if !slices.Equal(weft.Data[float32](m.FC.W), before) {
		t.Error("a refused state changed the module")
	}
	delete(s, "Mean")
	delete(s, "Count")
	if err := nn.LoadState(m, s, false); err != nil {
		t.Errorf("not strict: %v", err)
	}
	if !slices.Equal(weft.Data[float32](m.FC.W), weft.Data[float32](s["FC.W"])) {
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
	if err := weft.Try(func() { nn.Eval(*m) }); err == nil || !strings.Contains(err.Error(), "Value cannot be changed") {
		t.Errorf("a copy: %v", err)
	}
}
