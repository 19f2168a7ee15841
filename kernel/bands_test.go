package kernel_test

import (
	"testing"

	"weft"
	"weft/internal/device"
	"weft/kernel"
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

// TestIterateByAnyCosts runs steps of a stencil by tiles of several sizes. They have the bits of
// steps over the whole array.
func TestIterateByAnyCosts(t *testing.T) {
	f := kernels.Func("Diffuse")
	x := weft.Rand(210, 1500)
	run := func() string {
		got, _ := f.Iterate(19, x, kernel.StencilOpts{Border: kernel.Mirror})
		return weft.Digest(got[0])
	}
	const never = 1 << 50
	var want string
	withCosts(func(c *device.Costs) { c.Far = never }, func() { want = run() })
	for _, band := range []int{1, 200 << 10, 700 << 10, never} {
		for _, rows := range []int{1, 15 << 10, never} {
			withCosts(func(c *device.Costs) { c.Far, c.Band, c.Rows = 1, band, rows }, func() {
				if got := run(); got != want {
					t.Errorf("bands of %d bytes, rows of %d: %s, want %s", band, rows, got, want)
				}
			})
		}
	}
}
