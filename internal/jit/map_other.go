//go:build !amd64 || !(unix || windows)

package jit

import (
	"errors"
	"os"
	"runtime"
	"unsafe"
)

func pageSize() int { return os.Getpagesize() }

func mapExec(_ []byte, size uintptr) (unsafe.Pointer, error) {
	return nil, &UnavailableError{"platform", int(size), errors.New("no machine code on " + runtime.GOOS + "/" + runtime.GOARCH)}
}

func unmapExec(unsafe.Pointer, uintptr) {}
