package cpu

import "weft/internal/device"

// routines by the name of the op; each checks nothing that Infer checked.
var routines = map[string]device.Routine{}

// Routine returns the CPU's implementation of an op.
func (d *Device) Routine(name string) device.Routine { return routines[name] }
