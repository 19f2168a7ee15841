package mem

import "testing"

// TestMakeHugeIsZeros makes slices below and above the size that has huge pages.
func TestMakeHugeIsZeros(t *testing.T) {
	for _, n := range []int{0, 1, 1000, 3 << 20 / 4, 5<<20/4 + 3} {
		x := MakeHuge[float32](n)
		if len(x) != n {
			t.Fatalf("%d elements, want %d", len(x), n)
		}
		for i := range x {
			if x[i] != 0 {
				t.Fatalf("element %d of %d is %v", i, n, x[i])
			}
			x[i] = 1
		}
	}
}
