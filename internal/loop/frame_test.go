package loop

import (
	"testing"
	"unsafe"
)

// A frame is a small buffer for a device: as large as its pointers and words, which lie where
// generated code reads them.
func TestFrameIsPointersAndWords(t *testing.T) {
	var f Frame
	if got, want := unsafe.Sizeof(f), uintptr(8*(MaxBufs+MaxWords)); got != want {
		t.Errorf("a frame has %d bytes, want %d", got, want)
	}
	if unsafe.Offsetof(f.Ptr) != FramePtr || unsafe.Offsetof(f.Word) != FrameWord {
		t.Errorf("pointers at %d, words at %d", unsafe.Offsetof(f.Ptr), unsafe.Offsetof(f.Word))
	}
}
