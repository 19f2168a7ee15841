//go:build weft_deferred

package core

import (
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
)

// go test -tags weft_deferred runs tests on a device that works late, in memory that the host does
// not reach. The variable is set before any init runs.
var _ = func() bool {
	NewDevice = func(isa jit.ISA) device.Device { return deferred.New(cpu.New(isa)) }
	return true
}()
