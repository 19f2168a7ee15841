//go:build unix

package mem

import (
	"testing"
	"unsafe"
)

// TestRefusedUnmap gives memory back that the system refuses to unmap, as it does at its
// limit of mappings: the program goes on, and the pages are not used any more.
func TestRefusedUnmap(t *testing.T) {
	const size = 1 << 20
	p, err := osMap(size)
	if err != nil {
		t.Fatal(err)
	}
	defer osUnmap(p, size)
	osUnmap(unsafe.Add(p, 1), size-1) // an address inside a page is refused
	*(*byte)(p) = 1                   // the mapping is still there
}
