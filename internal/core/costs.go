package core

import "weft/internal/device"

// Costs returns what work costs on t's device, for packages that cut work themselves.
func (t *Tensor) Costs() *device.Costs { return &device.Get(t.v.Store.Device).Model().Costs }
