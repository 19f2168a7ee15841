package cuda

import (
	"bytes"
	"fmt"
	"sync"
	"unsafe"

	"weft/internal/cudart"
)

// Attributes of a device, as CUdevice_attribute numbers them.
const (
	attributeUnits  = 16 // MULTIPROCESSOR_COUNT
	attributeL2     = 38 // L2_CACHE_SIZE
	attributeMajor  = 75 // COMPUTE_CAPABILITY_MAJOR
	attributeMinor  = 76 // COMPUTE_CAPABILITY_MINOR
	attributeShared = 97 // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
)

// A driver is NVIDIA's driver, loaded and initialized by the first call.
type driver struct {
	load func() (*library, error)
}

var _ cudart.Driver = (*driver)(nil)

// newDriver returns the driver in the first of the files that can be loaded.
func newDriver(files []string) *driver {
	return &driver{sync.OnceValues(func() (*library, error) {
		l, err := openLibrary(files)
		if err != nil {
			return nil, err
		}
		if err := l.call(cuInit, 0); err != nil {
			return nil, err
		}
		return l, nil
	})}
}

func (d *driver) Count() (int, error) {
	l, err := d.load()
	if err != nil {
		return 0, err
	}
	n := new(int32)
	err = l.call(cuDeviceGetCount, uintptr(unsafe.Pointer(n)))
	return int(*n), err
}

func (d *driver) Info(ordinal int) (cudart.Info, error) {
	l, err := d.load()
	if err != nil {
		return cudart.Info{}, err
	}
	dev, err := l.device(ordinal)
	if err != nil {
		return cudart.Info{}, err
	}
	name, memory, version := make([]byte, 256), new(uint64), new(int32)
	if err := l.call(cuDeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), dev); err != nil {
		return cudart.Info{}, err
	}
	if err := l.call(cuDeviceTotalMem, uintptr(unsafe.Pointer(memory)), dev); err != nil {
		return cudart.Info{}, err
	}
	if err := l.call(cuDriverGetVersion, uintptr(unsafe.Pointer(version))); err != nil {
		return cudart.Info{}, err
	}
	i := cudart.Info{Name: untilZero(name), Memory: int(*memory), Driver: release(), CUDA: int(*version)}
	if i.Driver == "" {
		i.Driver = fmt.Sprintf("of CUDA %d.%d", *version/1000, *version%1000/10)
	}
	for attribute, to := range map[uintptr]*int{attributeMajor: &i.Major, attributeMinor: &i.Minor, attributeUnits: &i.Units, attributeShared: &i.Shared, attributeL2: &i.L2} {
		if *to, err = l.attribute(attribute, dev); err != nil {
			return cudart.Info{}, err
		}
	}
	return i, nil
}

// Open retains the primary context of a GPU, which other libraries in the process share.
func (d *driver) Open(ordinal int) (cudart.Context, error) {
	l, err := d.load()
	if err != nil {
		return nil, err
	}
	dev, err := l.device(ordinal)
	if err != nil {
		return nil, err
	}
	shared, err := l.attribute(attributeShared, dev)
	if err != nil {
		return nil, err
	}
	handle := new(uintptr)
	if err := l.call(cuDevicePrimaryCtxRetain, uintptr(unsafe.Pointer(handle)), dev); err != nil {
		return nil, err
	}
	return &context{library: l, device: dev, handle: *handle, shared: shared}, nil
}

// device returns the driver's number of a GPU.
func (l *library) device(ordinal int) (uintptr, error) {
	dev := new(int32)
	err := l.call(cuDeviceGet, uintptr(unsafe.Pointer(dev)), uintptr(ordinal))
	return uintptr(*dev), err
}

func (l *library) attribute(attribute, dev uintptr) (int, error) {
	v := new(int32)
	err := l.call(cuDeviceGetAttribute, uintptr(unsafe.Pointer(v)), attribute, dev)
	return int(*v), err
}

// untilZero returns the text before the first zero byte.
func untilZero(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
