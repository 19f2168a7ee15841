package jit

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine returns a number that no other goroutine has while this one lives.
func Goroutine() uintptr {
	if goroutineKnown {
		return goroutine() // where the runtime keeps it: an address that nothing else is done with
	}
	// What is said of it to people takes some 20 us, since the whole stack is gone through.
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	b, _, _ = bytes.Cut(b, []byte(" "))
	n, _ := strconv.ParseUint(string(b), 10, 64)
	return uintptr(n)
}
