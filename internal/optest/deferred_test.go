package optest

import (
	"os"
	"strings"
	"testing"

	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/op"
)

// fastest returns the CPU with the best instruction set of this processor.
func fastest() *cpu.Device {
	all := jit.ISAs()
	return cpu.New(all[len(all)-1])
}

// late returns a device that works late, with memory of its own.
func late() *deferred.Device {
	isa := fastest().ISA()
	return deferred.New(cpu.NewIn(mem.NewPool(), isa), cpu.New(isa))
}

// bare is a device without routines: all of them run on the host.
type bare struct{ *deferred.Device }

func (bare) Routine(ir.RoutineID) device.Routine { return nil }

// onDevices runs f for a device that works late, and for one that has no routines besides.
func onDevices(t *testing.T, f func(t *testing.T, dev device.Device)) {
	for _, dev := range []device.Device{late(), bare{late()}} {
		name := "late"
		if _, ok := dev.(bare); ok {
			name = "no routines"
		}
		t.Run(name, func(t *testing.T) {
			f(t, dev)
			calls := dev.Counters().Fallbacks.Load()
			t.Logf("%d calls of routines on the host", calls)
			if _, ok := dev.(bare); ok && calls == 0 && os.Getenv("WEFT_OPS") == "" {
				t.Error("no routine ran on the host")
			}
		})
	}
}

// fewOps returns a third of the routines and some other operations.
func fewOps() (names []string) {
	for i, d := range op.Table() {
		if d.Class == op.Routine && i%3 == 0 || i%16 == 0 {
			names = append(names, d.Name)
		}
	}
	return names
}

// With WEFT_OPS=all the test compares all operations.
func TestDeferredValues(t *testing.T) {
	only := strings.Fields(os.Getenv("WEFT_OPS"))
	switch {
	case len(only) == 0:
		only = fewOps()
	case only[0] == "all":
		only = nil
	}
	onDevices(t, func(t *testing.T, dev device.Device) { Values(t, dev, Caps{Oracle: oracle, Only: only}) })
}

func TestDeferredFusion(t *testing.T) {
	onDevices(t, func(t *testing.T, dev device.Device) { Fusion(t, dev, Caps{Oracle: oracle, Graphs: 100}) })
}

func TestDeferredGradients(t *testing.T) {
	onDevices(t, func(t *testing.T, dev device.Device) { Gradients(t, dev, Caps{Oracle: oracle}) })
}

func TestDeferredDraws(t *testing.T) {
	Draws(t, late(), Caps{Oracle: oracle})
}
