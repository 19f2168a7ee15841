package nn_test

import (
	"maps"
	"slices"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/nn"
)

// TestSequentialRecompute: segments change no bit, with running means and dropout, which are done once.
func TestSequentialRecompute(t *testing.T) {
	run := func(segments int) []*weft.Tensor {
		g := weft.NewGenerator(2)
		net := nn.Sequential{nn.NewLinear(4, 8, nn.Opts{Generator: g}), nn.NewBatchNorm1d(8), &nn.Dropout{P: 0.3, Generator: g}, nn.NewLinear(8, 8, nn.Opts{Generator: g}), nn.Func((*weft.Tensor).Gelu)}
		x := tensortest.Noise(3, 1, 6, 4)
		forward := func() *weft.Tensor {
			if segments == 0 {
				return net.Forward(x)
			}
			return net.Recompute(x, segments)
		}
		var out []*weft.Tensor
		for range 2 {
			forward().Square().Sum().Backward()
		}
		state := nn.State(net)
		for _, k := range slices.Sorted(maps.Keys(state)) {
			out = append(out, state[k].Detach())
		}
		for _, p := range nn.Params(net) {
			out = append(out, p.Grad())
		}
		return append(out, g.Rand(1))
	}
	want := run(0)
	for segments := 1; segments <= 5; segments++ {
		for i, got := range run(segments) {
			tensortest.SameBits(t, "state or gradient", got, want[i])
		}
	}
	for _, segments := range []int{0, -1, 6} {
		if err := tensortest.Try(func() { make(nn.Sequential, 5).Recompute(weft.Ones(1), segments) }); err == nil {
			t.Errorf("%d segments of five layers", segments)
		}
	}
}
