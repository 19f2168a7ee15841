package mapped

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
)

// faults knows what memory lies in which file.
var faults regions

type regions struct {
	mu   sync.Mutex
	list []*region
	any  atomic.Bool
}

func (rs *regions) add(r *region) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.list = append(rs.list, r)
	rs.any.Store(true)
}

func (rs *regions) remove(r *region) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	i := slices.Index(rs.list, r)
	rs.list[i] = rs.list[len(rs.list)-1]
	rs.list[len(rs.list)-1] = nil
	rs.list = rs.list[:len(rs.list)-1]
	rs.any.Store(len(rs.list) > 0)
}

// at returns the region that an address lies in, nil if none.
func (rs *regions) at(addr uintptr) *region {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for _, r := range rs.list {
		if start := uintptr(r.ptr); start <= addr && addr-start < uintptr(r.size) {
			return r
		}
	}
	return nil
}

// Any reports whether a file is mapped now, so that using memory can fault.
func Any() bool { return faults.any.Load() }

// Explain is deferred by what touches memory of arrays, where [Any] says so:
//
//	if mapped.Any() {
//		defer mapped.Explain()
//	}
//
// A panic that is a fault in mapped memory becomes an *array.Error with the name of the file. Every
// other panic continues unchanged.
func Explain() {
	if v := recover(); v != nil {
		if e := blame(v); e != nil {
			panic(e)
		}
		panic(v)
	}
}

// blame returns the error for a panic's value, nil if that is not a fault in mapped memory.
func blame(v any) error {
	fault, ok := v.(interface {
		error
		Addr() uintptr
	})
	if !ok {
		return nil
	}
	r := faults.at(fault.Addr())
	if r == nil {
		return nil
	}
	what := fmt.Sprintf("%s was cut while an array on it was used", r.name)
	if r.readable(fault.Addr()) {
		what = fmt.Sprintf("%s is mapped read-only and was written to", r.name)
	}
	return &array.Error{Kind: array.DeviceFailed, Op: "map", Msg: what}
}

// readable reports whether a byte of the memory is there.
func (r *region) readable(addr uintptr) (ok bool) {
	defer func() { ok = recover() == nil }()
	sink.Store(uint32(*(*byte)(unsafe.Add(r.ptr, addr-uintptr(r.ptr)))))
	return true
}

var sink atomic.Uint32 // keeps reads
