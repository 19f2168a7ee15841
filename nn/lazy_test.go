package nn_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// lazyNet is a network whose sizes come from what it is given.
func lazyNet(g *weft.Generator) nn.Sequential {
	o := nn.Opts{Generator: g}
	return nn.Sequential{
		&nn.Lazy{Make: func(x *weft.Tensor) nn.Layer { return nn.NewConv2d(x.Dim(1), 4, 3, nn.Conv2dOpts{Opts: o}) }},
		&nn.Lazy{Make: func(x *weft.Tensor) nn.Layer { return nn.NewBatchNorm2d(x.Dim(1)) }},
		nn.Flatten{},
		&nn.Lazy{Make: func(x *weft.Tensor) nn.Layer { return nn.NewLinear(x.Dim(1), 5, o) }},
	}
}

// Layers that the first call makes are those that sizes by hand give, with their bits, names and mode.
func TestLazyLayersAreTheLayers(t *testing.T) {
	g := weft.NewGenerator(4)
	o := nn.Opts{Generator: g}
	want := nn.Sequential{nn.NewConv2d(3, 4, 3, nn.Conv2dOpts{Opts: o}), nn.NewBatchNorm2d(4), nn.Flatten{}, nn.NewLinear(4*4*6, 5, o)}
	nn.Eval(want)
	x := weft.NewGenerator(1).Randn(2, 3, 6, 8)
	net := lazyNet(weft.NewGenerator(4))
	nn.Eval(net)
	other := nn.Copy(net) // makes layers of its own
	if got, y := net.Forward(x), want.Forward(x); weft.Digest(got) != weft.Digest(y) {
		t.Errorf("%v, want %v", got, y)
	}
	a, b := nn.State(net), nn.State(want)
	if x, y := slices.Sorted(maps.Keys(a)), slices.Sorted(maps.Keys(b)); !slices.Equal(x, y) {
		t.Errorf("names %v, want %v", x, y)
	}
	if err := nn.LoadState(net, b, true); err != nil {
		t.Error(err)
	}
	other.Forward(weft.Zeros(1, 2, 4, 4))
	if n := nn.State(other)["3.weight"].Dim(1); n != 16 || nn.State(net)["3.weight"].Dim(1) != 96 {
		t.Errorf("the copy has %d inputs, want 16", n)
	}
	// It trains.
	nn.Train(net)
	opt := optim.NewSGD(nn.Params(net))
	before := weft.Digest(nn.State(net)["3.weight"])
	net.Forward(x).Square().Mean().Backward()
	opt.Step()
	if weft.Digest(nn.State(net)["3.weight"]) == before {
		t.Error("a step does not change the weight")
	}
}

// What needs parameters before they are made says so.
func TestLazyLayersRefuse(t *testing.T) {
	x := weft.Zeros(2, 3, 6, 8)
	net := func() nn.Sequential { return lazyNet(weft.NewGenerator(4)) }
	for what, c := range map[string]struct {
		want string
		f    func()
	}{
		"optimizer": {"0 is a Lazy layer that is not made yet", func() { optim.NewSGD(nn.Params(net())) }},
		"state":     {"0 is a Lazy layer that is not made yet", func() { nn.State(net()) }},
		"load":      {"0 is a Lazy layer that is not made yet", func() { _ = nn.LoadState(net(), nil, false) }},
		"alone":     {"the module is a Lazy layer", func() { nn.State(&nn.Lazy{}) }},
		"summary":   {"0 is a Lazy layer that is not made yet", func() { nn.Summary(net(), x) }},
		"compiled":  {"Layer: is not made yet", func() { weft.Compile(net().Forward).Func()(x) }},
		"no make":   {"Make: is nil", func() { (&nn.Lazy{}).Forward(x) }},
		"nil layer": {"Make: returned nil", func() { (&nn.Lazy{Make: func(*weft.Tensor) nn.Layer { return nil }}).Forward(x) }},
		"nil x":     {"x: is nil", func() { net().Forward(nil) }},
		"nil":       {"the layer is nil", func() { (*nn.Lazy)(nil).Forward(x) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

func ExampleLazy() {
	net := nn.Sequential{
		nn.NewConv2d(3, 8, 5), nn.Relu{}, nn.Flatten{},
		&nn.Lazy{Make: func(x *weft.Tensor) nn.Layer { return nn.NewLinear(x.Dim(1), 10) }},
	}
	net.Forward(weft.Zeros(1, 3, 32, 32))
	for name, p := range nn.Params(net) {
		fmt.Println(name, p.Shape())
	}
	// Output:
	// 0.weight [8 3 5 5]
	// 0.bias [8]
	// 3.weight [10 6272]
	// 3.bias [10]
}
