package grid

import "testing"

// Parts cover an array in order, and rows and columns of their elements fit in 31 bits, as kernels
// count them.
func TestPartsOfLargestArrays(t *testing.T) {
	const most = 1<<31 - 1
	for _, c := range [][4]int{{1, 1, most, MaxPart}, {3, most, 1, MaxPart}, {2, 2, most, MaxPart}, {1, most, 2, MaxPart}, {1 << 33, 1, 1, MaxPart},
		{0, 3, 3, MaxPart}, {5, 4, 3, 7}, {5, 4, 3, 2}, {5, 4, 3, 1}} {
		planes, rows, cols := c[0], c[1], c[2]
		next := 0
		for _, p := range Parts(planes, rows, cols, c[3]) {
			if p.First() != next || p.N < 1 || p.N > c[3] {
				t.Fatalf("%v: a part of %d elements begins at %d, want %d", c, p.N, p.First(), next)
			}
			if p.Col+p.N > most+1 || p.Row+(p.Col+p.N-1)/cols > most {
				t.Fatalf("%v: a part of %d elements begins at row %d, column %d", c, p.N, p.Row, p.Col)
			}
			next += p.N
		}
		if next != planes*rows*cols {
			t.Errorf("%v: %d elements in all parts", c, next)
		}
	}
}
