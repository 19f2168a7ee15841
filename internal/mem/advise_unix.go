//go:build unix && !linux

package mem

import "unsafe"

func adviseHuge(unsafe.Pointer, uintptr) {}
