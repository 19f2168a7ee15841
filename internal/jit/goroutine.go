package jit

import (
	"bytes"
	"runtime"
	"strconv"
)

// Goroutine returns a number that no other goroutine has while this one lives.
func Goroutine() uintptr {
	if goroutineKnown {
		return goroutine() // the address of the runtime's g, used as a number only
	}
	// runtime.Stack takes some 20 µs, since it walks the whole stack.
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b = bytes.TrimPrefix(b, []byte("goroutine "))
	b, _, _ = bytes.Cut(b, []byte(" "))
	n, _ := strconv.ParseUint(string(b), 10, 64)
	return uintptr(n)
}
