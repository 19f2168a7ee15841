package cudart

import "slices"

import "weft/internal/device"

// SetMostWatched sets mostWatched, and returns what sets it back.
func SetMostWatched(n int) (back func()) {
	old := mostWatched
	mostWatched = n
	return func() { mostWatched = old }
}

// Watched returns the number of watches of all streams.
func (d *Device) Watched() (n int) {
	for _, s := range d.opened() {
		n += len(s.watched)
	}
	return n
}

// Issued returns the number of pieces of work that a stream was given.
func Issued(s device.Stream) uint64 {
	x := s.(*Stream)
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.issued
}

// Routines returns the names of the kernels of routines that were loaded.
func (d *Device) Routines() (names []string) {
	d.programs.routines.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	slices.Sort(names)
	return names
}
