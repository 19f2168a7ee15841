package cudart

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
