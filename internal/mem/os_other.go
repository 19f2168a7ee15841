//go:build !unix && !windows

package mem

import (
	"fmt"
	"sync"
	"unsafe"
)

// Where the system has no mappings, memory comes from the Go heap and is kept
// reachable here.
var held sync.Map

func osMap(size uintptr) (mem unsafe.Pointer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	bytes := make([]byte, size+Alignment)
	mem = unsafe.Pointer(unsafe.SliceData(bytes))
	mem = unsafe.Add(mem, -uintptr(mem)&(Alignment-1))
	held.Store(mem, bytes)
	return mem, nil
}

func osUnmap(mem unsafe.Pointer, _ uintptr) { held.Delete(mem) }
