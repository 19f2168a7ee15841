package guard

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"
)

// faults reports whether reading the byte at p faults there.
func faults(t *testing.T, p unsafe.Pointer) (faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if err, ok := recover().(runtime.Error); ok {
			faulted = true
			if a, ok := err.(interface{ Addr() uintptr }); !ok || a.Addr() != uintptr(p) {
				t.Errorf("fault %v, want one at %p", err, p)
			}
		}
	}()
	sink = *(*byte)(p)
	return false
}

var sink byte

func TestEdges(t *testing.T) {
	if !Available {
		t.Skip("SKIPPED: no inaccessible pages on this platform")
	}
	lengths := []int{0, 1, 3, 64, 4095, 4096, 4097, 100_000}
	for i, n := range append(lengths, lengths...) { // the second ones get what the first ones release
		end, err := End(n)
		if err != nil {
			t.Fatal(err)
		}
		start, err := Start(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range []*Buffer{end, start} {
			if b.Len() != n || len(b.Bytes()) != n {
				t.Errorf("length %d, want %d", b.Len(), n)
			}
			for i := range b.Bytes() {
				if b.Bytes()[i] != 0 {
					t.Fatal("not zero")
				}
				b.Bytes()[i] = byte(i + 1)
			}
		}
		if !faults(t, unsafe.Add(end.Ptr(), n)) {
			t.Errorf("End(%d): the byte after is accessible", n)
		}
		if n == 0 {
			if !faults(t, start.Ptr()) {
				t.Error("Start(0) points at an accessible byte")
			}
		} else if !faults(t, unsafe.Add(start.Ptr(), -1)) {
			t.Errorf("Start(%d): the byte before is accessible", n)
		}
		if i < len(lengths) {
			end.Release()
			start.Release()
			start.Release()
		} else {
			end.Close()
			start.Close()
			start.Close()
		}
	}
}
