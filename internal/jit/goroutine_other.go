//go:build !amd64 && !arm64

package jit

const goroutineKnown = false

func goroutine() uintptr { return 0 }
