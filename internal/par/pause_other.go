//go:build !amd64 && !arm64

package par

import "sync/atomic"

var pauseWord atomic.Uint32

// pause waits about as long as n spin-loop hints. It is not inlined, so each call
// is a preemption point.
//
//go:noinline
func pause(n uint32) {
	for range n * 4 {
		pauseWord.Load()
	}
}
