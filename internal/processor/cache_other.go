//go:build !amd64

package processor

// dataCache returns the bytes of a core's cache of a level, the first being 1, that holds
// data; 0 if the processor does not say.
func dataCache(wanted uint32) int { return 0 }
