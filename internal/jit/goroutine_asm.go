//go:build amd64 || arm64

package jit

const goroutineKnown = true

// goroutine returns the address of the runtime's record of this goroutine. It is implemented in
// assembly, goroutine_amd64.s and goroutine_arm64.s.
func goroutine() uintptr
