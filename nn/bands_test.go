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

// TestAttentionByAnyCosts takes attention in bands of several sizes, forward and back. The bits are
// the same as of all heads at once.
func TestAttentionByAnyCosts(t *testing.T) {
	g := weft.NewGenerator(5)
	q, k, v := g.Randn(2, 7, 40, 8), g.Randn(2, 7, 50, 8), g.Randn(2, 7, 50, 6)
	run := func() []string {
		ts := []*weft.Tensor{q.Detach().RequireGrad(), k.Detach().RequireGrad(), v.Detach().RequireGrad()}
		y := nn.ScaledDotProductAttention(ts[0], ts[1], ts[2])
		y.Mul(y).Sum().Backward()
		return []string{weft.Digest(y), weft.Digest(ts[0].Grad()), weft.Digest(ts[1].Grad()), weft.Digest(ts[2].Grad())}
	}
	const never = 1 << 50
	var want []string
	withCosts(func(c *device.Costs) { c.Far = never }, func() { want = run() })
	for _, band := range []int{4 << 10, 20 << 10, never} {
		withCosts(func(c *device.Costs) { c.Far, c.Band = 1, band }, func() {
			for i, got := range run() {
				if got != want[i] {
					t.Errorf("bands of %d bytes: digest %d is %s, want %s", band, i, got, want[i])
				}
			}
		})
	}
}
