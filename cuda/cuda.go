package cuda

import (
	_ "weft" // registers the CPU, device 0
	"weft/internal/cudart"
	"weft/internal/device"
)

func init() { device.RegisterKind("cuda", gpus{newDriver(libraryFiles)}) }

// gpus are the GPUs of a driver as a kind of device.
type gpus struct{ *driver }

// Count is 0 where the driver says that there is no GPU.
func (g gpus) Count() (int, error) {
	n, err := g.driver.Count()
	if e, ok := err.(*cudart.DriverError); ok && e.Code == cudart.CodeNoDevice {
		return 0, nil
	}
	return n, err
}

// Open opens a GPU whose missing routines run on the CPU.
func (g gpus) Open(ordinal int) (device.Device, error) {
	d, err := cudart.Open(g.driver, ordinal, device.Get(0))
	if err != nil {
		return nil, err // not d: a nil *cudart.Device is not a nil device.Device
	}
	return d, nil
}
