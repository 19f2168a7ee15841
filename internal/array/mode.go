package array

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// A Mode is an unusual state of some goroutine of the process, such as tracing. Modes are bits of
// one word: a small operation loads it once and looks closer only if it is not 0. A mode that is on
// says that some goroutine is in it, not that the caller is.
type Mode uint32

// Modes.
const (
	Tracing   Mode = 1 << iota // a function is traced
	Deferring                  // results of lazy tensors wait to be computed
	Profiling                  // a profile records what runs
	Scoped                     // a goroutine is inside a scope of ambient state, such as WithoutGrad
)

// modes is the word of active modes, padded to its own cache line.
var modes struct {
	_  [64]byte
	on atomic.Uint32
	_  [60]byte
}

// entered counts the open Enter calls of each mode.
var entered struct {
	mu sync.Mutex
	n  [32]int
}

// Modes returns the modes that are on.
func Modes() Mode { return Mode(modes.on.Load()) }

// On reports whether m, one mode, is on.
func (m Mode) On() bool { return Modes()&m != 0 }

// Enter turns m, one mode, on until each Enter was followed by its Leave.
func (m Mode) Enter() {
	entered.mu.Lock()
	defer entered.mu.Unlock()
	entered.n[bits.TrailingZeros32(uint32(m))]++
	modes.on.Or(uint32(m))
}

// Leave ends one Enter. Requires an Enter before it.
func (m Mode) Leave() {
	entered.mu.Lock()
	defer entered.mu.Unlock()
	n := &entered.n[bits.TrailingZeros32(uint32(m))]
	if *n--; *n == 0 {
		modes.on.And(^uint32(m))
	}
}
