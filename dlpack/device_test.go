package dlpack

import (
	"errors"
	"strings"
	"testing"
	"weft/internal/tensortest"

	"weft"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
)

// TestExportOfDeviceTensorIsRefused: the host reads the struct, so its memory must be the host's.
func TestExportOfDeviceTensorIsRefused(t *testing.T) {
	tensortest.SkipLate(t, "device 0 has no memory that can be exported")
	d := deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA))
	device.Register(d)
	dev, err := weft.DeviceByName(d.Name())
	if err != nil {
		t.Fatal(err)
	}
	x := dev.Arange(3)
	_, err = Export(x)
	var e *weft.Error
	if !errors.As(err, &e) || e.Arg != "t" || !strings.Contains(e.Msg, dev.Name()) {
		t.Errorf("%v, want an error that names t and %s", err, dev)
	}
	m, err := Export(x.On(weft.CPU))
	if err != nil {
		t.Fatal(err)
	}
	m.Free()
}
