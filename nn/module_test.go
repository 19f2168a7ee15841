package nn_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
)

type embedded struct{ E *weft.Tensor }

type other struct {
	*nn.Linear
	Skip func()
}

type everything struct {
	First  *weft.Tensor
	hidden *weft.Tensor
	embedded
	Other  other
	Layers []any
	Pair   [2]*nn.Linear
	Named  map[string]*weft.Tensor
	Number map[int]nn.Layer
	Nil    *nn.Linear
	Any    nn.Layer
	Self   *everything
	Again  *weft.Tensor
	Run    *weft.Tensor // a buffer
	Raw    []float64
}

func leaf(x float32) *weft.Tensor { return nn.Param(weft.FromSlice([]float32{x})) }

func linear(x float32) *nn.Linear { return &nn.Linear{Weight: leaf(x)} }

func TestParams(t *testing.T) {
	m := &everything{First: leaf(1), hidden: weft.Ones(1).Add(1), embedded: embedded{leaf(3)},
		Other:  other{Linear: &nn.Linear{Weight: leaf(4), Bias: leaf(5)}},
		Layers: []any{linear(6), nil, map[string]any{"x": leaf(7)}, 3, []*weft.Tensor{leaf(8)}},
		Pair:   [2]*nn.Linear{linear(9), nil},
		Named:  map[string]*weft.Tensor{"b": leaf(11), "a": leaf(10)},
		Number: map[int]nn.Layer{10: linear(13), 9: linear(12)},
		Run:    weft.Zeros(2),
		Raw:    []float64{1},
	}
	m.Self, m.Again, m.Any = m, m.First, m.Pair[0]
	want := []string{"first", "embedded.e", "other.linear.weight", "other.linear.bias", "layers.0.weight", "layers.2.x", "layers.4.0",
		"pair.0.weight", "named.a", "named.b", "number.9.weight", "number.10.weight"}
	var got []string
	for name, p := range nn.Params(m) {
		got = append(got, name)
		if p.Item() == 2 {
			t.Error("an unexported field was walked")
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("params\n%q, want\n%q", got, want)
	}
	var buffers []string
	for name := range nn.Buffers(m) {
		buffers = append(buffers, name)
	}
	if !slices.Equal(buffers, []string{"run"}) {
		t.Errorf("buffers %q", buffers)
	}
	for range nn.Params(m) {
		break
	}
	for range nn.Params(nil) {
		t.Error("nil has a parameter")
	}
}

// TestParamsCycles ends at all.
func TestParamsCycles(t *testing.T) {
	loop := map[string]any{"w": leaf(1)}
	loop["self"] = loop
	list := []any{leaf(2), loop, nil}
	list[2] = list
	n := 0
	for range nn.Params(list) {
		n++
	}
	if n != 2 {
		t.Errorf("%d parameters, want 2", n)
	}
}

func TestLinear(t *testing.T) {
	l := &nn.Linear{Weight: nn.Param(weft.FromSlice([]float32{1, 3, 5, 2, 4, 6}, 2, 3)), Bias: nn.Param(weft.FromSlice([]float32{10, 20}))}
	y := l.Forward(weft.FromSlice([]float32{1, 0, 2, 0, 1, 0}, 2, 3))
	if got := weft.Data[float32](y); !slices.Equal(got, []float32{21, 34, 13, 24}) {
		t.Errorf("%v", got)
	}
	l.Bias = nil
	y = l.Forward(weft.FromSlice([]float32{1, 0, 2, 0, 1, 0}, 2, 3))
	if got := weft.Data[float32](y); !slices.Equal(got, []float32{11, 14, 3, 4}) {
		t.Errorf("without bias: %v", got)
	}
	if l = nn.NewLinear(3, 2, nn.Opts{NoBias: true}); l.Bias != nil || !l.Weight.RequiresGrad() || !slices.Equal(l.Weight.Shape(), []int{2, 3}) {
		t.Errorf("NewLinear: %v %v", l.Weight.Shape(), l.Bias)
	}
}

type secretive struct {
	Shown  *nn.Linear
	w      *weft.Tensor
	layer  *nn.Linear
	layers []any
	inner  struct{ deep map[string]*weft.Tensor }
	cache  *weft.Tensor
	drop   *nn.Dropout
	shown  []*weft.Tensor
	loop   *secretive
}

// What an unexported field alone leads to is reported by name, unless it is no parameter
// or found elsewhere too.
func TestParametersInUnexportedFields(t *testing.T) {
	for name, m := range map[string]any{
		"w":                 &secretive{w: leaf(1)},
		"layer.weight":      &secretive{layer: linear(1)},
		"layers.1.0.weight": secretive{layers: []any{nil, []nn.Layer{linear(1)}}},
		"inner.deep.x":      &secretive{inner: struct{ deep map[string]*weft.Tensor }{map[string]*weft.Tensor{"x": leaf(1)}}},
		"List.0.loop.w":     map[string]any{"List": []any{&secretive{loop: &secretive{w: leaf(1)}}}},
		"pair.Second.w":     &struct{ Pair map[string]*secretive }{map[string]*secretive{"First": {Shown: linear(1)}, "Second": {w: leaf(2)}}},
	} {
		err := weft.Try(func() {
			for range nn.Params(m) {
			}
		})
		state := weft.Try(func() { nn.State(m) })
		var e *weft.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), " "+name+" holds") || state == nil {
			t.Errorf("%s: %v, %v", name, err, state)
		}
	}
	m := &secretive{Shown: linear(1), cache: weft.Zeros(2)}
	m.loop, m.layer, m.shown = m, m.Shown, []*weft.Tensor{m.Shown.Weight, nil}
	m.w = m.Shown.Weight.Mul(2) // computed from a parameter: no leaf
	names := slices.Sorted(maps.Keys(nn.State(m)))
	if !slices.Equal(names, []string{"shown.weight"}) {
		t.Errorf("state of %q", names)
	}
	if err := weft.Try(func() { nn.Eval(m) }); err != nil {
		t.Error(err)
	}
	m.drop = &nn.Dropout{P: 0.5}
	if err := weft.Try(func() { nn.Eval(m) }); err == nil || !strings.Contains(err.Error(), "drop is a layer") {
		t.Errorf("a layer in an unexported field: %v", err)
	}
}
