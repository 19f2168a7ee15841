package nn_test

import (
	"slices"
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

func linear(x float32) *nn.Linear { return &nn.Linear{W: leaf(x)} }

func TestParams(t *testing.T) {
	m := &everything{First: leaf(1), hidden: leaf(2), embedded: embedded{leaf(3)},
		Other:  other{Linear: &nn.Linear{W: leaf(4), B: leaf(5)}},
		Layers: []any{linear(6), nil, map[string]any{"x": leaf(7)}, 3, []*weft.Tensor{leaf(8)}},
		Pair:   [2]*nn.Linear{linear(9), nil},
		Named:  map[string]*weft.Tensor{"b": leaf(11), "a": leaf(10)},
		Number: map[int]nn.Layer{10: linear(13), 9: linear(12)},
		Run:    weft.Zeros(2),
		Raw:    []float64{1},
	}
	m.Self, m.Again, m.Any = m, m.First, m.Pair[0]
	want := []string{"First", "embedded.E", "Other.Linear.W", "Other.Linear.B", "Layers.0.W", "Layers.2.x", "Layers.4.0",
		"Pair.0.W", "Named.a", "Named.b", "Number.9.W", "Number.10.W"}
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
	if !slices.Equal(buffers, []string{"Run"}) {
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
	l := &nn.Linear{W: nn.Param(weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 3, 2)), B: nn.Param(weft.FromSlice([]float32{10, 20}))}
	y := l.Forward(weft.FromSlice([]float32{1, 0, 2, 0, 1, 0}, 2, 3))
	if got := weft.Data[float32](y); !slices.Equal(got, []float32{21, 34, 13, 24}) {
		t.Errorf("%v", got)
	}
	l.B = nil
	y = l.Forward(weft.FromSlice([]float32{1, 0, 2, 0, 1, 0}, 2, 3))
	if got := weft.Data[float32](y); !slices.Equal(got, []float32{11, 14, 3, 4}) {
		t.Errorf("without bias: %v", got)
	}
	if l = nn.NewLinear(3, 2, nn.Opts{NoBias: true}); l.B != nil || !l.W.RequiresGrad() || !slices.Equal(l.W.Shape(), []int{3, 2}) {
		t.Errorf("NewLinear: %v %v", l.W.Shape(), l.B)
	}
}
