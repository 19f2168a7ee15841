//go:build weft_deferred

package core

import (
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
)

// go test -tags weft_deferred runs tests on a device that works late, in memory that the host does
// not reach. The variable is set before any init runs.
var _ = func() bool {
	memory := mem.NewPool() // of device 0, with whichever instruction set
	NewDevice = func(isa jit.ISA) device.Device { return deferred.New(cpu.NewIn(memory, isa), cpu.New(isa)) }
	return true
}()
