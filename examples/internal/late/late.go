// Package late gives the tests of examples a second device, whose memory the host does not reach.
package late

import (
	"testing"

	"weft"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
)

// Same calls digest with the CPU and with the second device, and reports an error if the results
// differ.
func Same(t *testing.T, digest func(dev weft.Device) string) {
	t.Helper()
	d := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(d)
	dev, err := weft.DeviceByName(d.Name())
	if err != nil {
		t.Fatal(err)
	}
	if want, got := digest(weft.CPU), digest(dev); got != want {
		t.Errorf("digest %s on %s, want %s as on the CPU", got, dev, want)
	}
}

// NeedsMachineCode skips a test that trains for long where there is the interpreter alone. Other tests
// show that its bits are the same.
func NeedsMachineCode(t *testing.T) {
	t.Helper()
	if jit.Chosen().ISA == jit.Portable {
		t.Skip("SKIPPED: the interpreter would take minutes")
	}
}
