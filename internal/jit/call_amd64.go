package jit

import "unsafe"

const supported = true

// call is the entry stub. It is implemented in call_amd64.s.
//
//go:noescape
func call(entry uintptr, frame unsafe.Pointer) (status uint64)
