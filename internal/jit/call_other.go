//go:build !amd64

package jit

import "unsafe"

const supported = false

func call(entry uintptr, frame unsafe.Pointer) uint64 {
	panic("jit: Call: no machine code on this platform")
}
