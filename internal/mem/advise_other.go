//go:build !linux

package mem

import "unsafe"

func adviseHuge(unsafe.Pointer, uintptr) {}
