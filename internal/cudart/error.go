package cudart

import (
	"errors"
	"fmt"

	"weft/internal/array"
)

// What [Open] fails with, through errors.Is.
var (
	ErrNoDriver   = errors.New("there is no driver for NVIDIA GPUs")
	ErrNoDevice   = errors.New("there is no such GPU")
	ErrCapability = errors.New("the GPU is older than compute capability 8.0")
	ErrOldDriver  = errors.New("the driver is too old")
)

// code returns the driver's number of an error, 0 if it is not the driver's.
func code(err error) int {
	var e *DriverError
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}

func outOfMemory(err error) bool { return code(err) == CodeOutOfMemory }

// refused reports an error of a launch that the driver did not begin: nothing ran, and the device
// goes on.
func refused(err error) bool {
	switch code(err) {
	case CodeInvalid, CodeOutOfMemory, CodeResources:
		return true
	}
	return false
}

// enter begins a use of the driver, which ends with leave. It fails if the device is closed or
// failed before. Requires: the goroutine is not inside another one.
func (d *Device) enter() error {
	d.life.RLock()
	switch {
	case d.closed:
		d.life.RUnlock()
		return d.errorf(nil, "%s was closed", d.name)
	case d.failure.Load() != nil:
		d.life.RUnlock()
		return d.lost()
	}
	return nil
}

func (d *Device) leave() { d.life.RUnlock() }

// lost is the error of what is asked of a device that failed before.
func (d *Device) lost() error {
	return d.errorf(*d.failure.Load(), "%s failed before, and must be opened anew in another process", d.name)
}

func (d *Device) errorf(cause error, format string, args ...any) *array.Error {
	return &array.Error{Kind: array.DeviceFailed, Op: "device", Msg: fmt.Sprintf(format, args...), Err: cause}
}

// failed is the error of the device for an error of its driver, which ends all use of it: what the
// driver does not refuse cleanly leaves no state that can be trusted. Memory that the driver lacks
// for something of its own is the exception.
func (d *Device) failed(err error) error {
	if err == nil {
		return nil
	}
	if outOfMemory(err) {
		return &array.Error{Kind: array.OutOfMemory, Op: "device", Msg: d.name + " has no memory for the driver", Err: err}
	}
	d.failure.CompareAndSwap(nil, &err)
	return d.errorf(err, "%s failed", d.name)
}

// noMemory is the error of an allocation.
func (d *Device) noMemory(bytes int, cause error) *array.Error {
	s := d.memory.Stats()
	msg := fmt.Sprintf("%s do not fit in the memory of %s: %s are in use, %s are taken from the driver", human(int64(bytes)), d.name, human(s.Live), human(s.Reserved))
	if free, total, err := d.ctx.MemInfo(); err == nil {
		msg += fmt.Sprintf(", %s of %s are free", human(int64(free)), human(int64(total)))
	}
	return &array.Error{Kind: array.OutOfMemory, Op: "alloc", Msg: msg, Err: cause}
}

// human writes a number of bytes.
func human(n int64) string {
	if n < 1<<10 {
		return array.Count(int(n), "byte")
	}
	f, u := float64(n)/1024, 0
	for f >= 1024 && u < 4 {
		f, u = f/1024, u+1
	}
	return fmt.Sprintf("%.4g %ciB", f, "KMGTP"[u])
}
