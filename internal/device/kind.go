package device

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"weft/internal/array"
)

// A Kind finds and opens the devices of one sort. A package that a program imports for its
// effect registers it. Methods may be called from several goroutines at once.
type Kind interface {
	// Count returns the number of devices of the machine. The error says why there are none, such
	// as a driver that was not found. The first call may take 100 ms.
	Count() (int, error)
	// Open makes a device ready, from number 0. Errors are an *array.Error.
	Open(ordinal int) (Device, error)
}

// kinds has the registered kinds by name, and the devices of each that were opened.
var kinds = struct {
	sync.Mutex
	byName map[string]Kind
	open   map[string]map[int]Device
}{byName: map[string]Kind{}, open: map[string]map[int]Device{}}

// RegisterKind makes a kind known by its name, such as "cuda". Nothing of it is called yet.
func RegisterKind(name string, k Kind) {
	kinds.Lock()
	defer kinds.Unlock()
	if kinds.byName[name] != nil {
		panic("device: kind " + name + " is registered twice")
	}
	kinds.byName[name] = k
}

// FindKind returns a registered kind. The error is an *array.Error that says which package to
// import.
func FindKind(name string) (Kind, error) {
	kinds.Lock()
	defer kinds.Unlock()
	return findKind(name)
}

func findKind(name string) (Kind, error) {
	if k := kinds.byName[name]; k != nil {
		return k, nil
	}
	e := &array.Error{Kind: array.DeviceFailed, Op: "device", Msg: fmt.Sprintf("there is no kind of device named %q", name)}
	if name == "cuda" {
		module := strings.TrimSuffix(reflect.TypeFor[Ref]().PkgPath(), "/internal/device")
		e.Msg = fmt.Sprintf("this program does not know GPUs of NVIDIA: import _ %q", module+"/cuda")
	}
	return nil, e
}

// Open returns a device of a registered kind. The first call for it opens the device and
// registers it; a failed call may be tried again.
func Open(kind string, ordinal int) (Device, error) {
	kinds.Lock()
	defer kinds.Unlock()
	k, err := findKind(kind)
	if err != nil {
		return nil, err
	}
	if d := kinds.open[kind][ordinal]; d != nil {
		return d, nil
	}
	d, err := k.Open(ordinal)
	if err != nil {
		return nil, err
	}
	Register(d)
	if kinds.open[kind] == nil {
		kinds.open[kind] = map[int]Device{}
	}
	kinds.open[kind][ordinal] = d
	return d, nil
}
