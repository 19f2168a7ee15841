package array

import (
	"testing"
	"unsafe"
)

// Small storages begin at a cache line: vectors of them do not cross two.
func TestSmallStoragesAreAligned(t *testing.T) {
	if n := unsafe.Sizeof(Storage{}); n != 64 {
		t.Errorf("a storage is %d bytes long, want 64", n)
	}
	for _, n := range []int{0, 1, 64, 65, 256, 257, 512, 513, SmallMax} {
		for range 50 {
			s := NewSmall(n)
			if at := uintptr(s.Host()) % 64; at != 0 {
				t.Fatalf("a storage of %d bytes begins %d behind a cache line", n, at)
			}
		}
	}
}

// A storage is released once, whoever has its memory meanwhile.
func TestReleaseOnce(t *testing.T) {
	s := NewSmall(8)
	s.Lend()
	if s.Released() || !s.Lent() || !s.Release() || s.Release() || !s.Released() || !s.Lent() {
		t.Error("the state of a lent storage is wrong")
	}
	s.Unlend()
	if s.Lent() || !s.Released() {
		t.Error("the state after it came back is wrong")
	}
}
