package nn_test

import (
	"testing"

	"weft"
	"weft/internal/device"
	"weft/nn"
)

// costly is a device on which work costs something else.
type costly struct {
	device.Device
	model device.Model
}

func (d *costly) Model() *device.Model { return &d.model }

// withCosts runs f while the default device has other costs.
func withCosts(set func(c *device.Costs), f func()) {
	old := device.Get(0)
	d := &costly{old, *old.Model()}
	set(&d.model.Costs)
	device.Replace(0, d)
	defer device.Replace(0, old)
	f()
}

// TestAttentionByAnyCosts computes attention by its formula and by its routine, forward and back. The
// bits are the same. Keys lie in another order each time, so that no plan is found again.
func TestAttentionByAnyCosts(t *testing.T) {
	g := weft.NewGenerator(5)
	q, k, v := g.Randn(2, 7, 40, 8), g.Randn(2, 7, 50, 8), g.Randn(2, 7, 50, 6)
	run := func(k *weft.Tensor) []string {
		ts := []*weft.Tensor{q.Detach().RequireGrad(), k.Detach().RequireGrad(), v.Detach().RequireGrad()}
		y := nn.ScaledDotProductAttention(ts[0], ts[1], ts[2])
		y.Mul(y).Sum().Backward()
		return []string{weft.Digest(y), weft.Digest(ts[0].Grad()), weft.Digest(ts[1].Grad()), weft.Digest(ts[2].Grad())}
	}
	var want, got []string
	withCosts(func(c *device.Costs) { c.Scores = 0 }, func() { want = run(k) })
	withCosts(func(c *device.Costs) { c.Scores = 1 }, func() { got = run(k.Transpose(0, 2).Contiguous().Transpose(0, 2)) })
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("digest %d of the routine is %s, of the formula %s", i, got[i], want[i])
		}
	}
}
