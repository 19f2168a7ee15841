//go:build race

package interp

// The race detector makes pools forget at random.
const raceDetector = true
