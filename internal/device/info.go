package device

import (
	"maps"
	"slices"
)

// An Info describes a device. A figure that it does not know is 0.
type Info struct {
	Card         string // the product's name
	Memory       int64  // bytes in all
	Major, Minor int    // CUDA's compute capability
}

// An Informer is a device that describes itself.
type Informer interface{ Info() Info }

// List returns the registered devices by number. Nobody writes to it.
func List() []Device { return *devices.Load() }

// KindNames returns the names of the registered kinds, sorted.
func KindNames() []string {
	kinds.Lock()
	defer kinds.Unlock()
	return slices.Sorted(maps.Keys(kinds.byName))
}
