package transpose

import (
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

// TestMatrixOfEverySide transposes matrices with gaps between rows, of sides below, at and beyond the sides of
// tiles. Where there are guard pages, they lie behind both.
func TestMatrixOfEverySide(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, isa jit.ISA) {
		for _, size := range []int{4, 8, 16} {
			for _, rows := range []int{1, 3, 4, 7, 8, 9, 16, 37} {
				for _, cols := range []int{1, 2, 4, 8, 11, 16, 50} {
					testMatrix(t, isa, size, rows, cols)
				}
			}
		}
	})
}

func testMatrix(t *testing.T, isa jit.ISA, size, rows, cols int) {
	srcRow, dstRow := cols*size+24, rows*size+8
	bytes := func(n int) ([]byte, func()) {
		if !guard.Available {
			return make([]byte, n), func() {}
		}
		b, err := guard.End(n)
		if err != nil {
			t.Fatal(err)
		}
		return unsafe.Slice((*byte)(b.Ptr()), n), func() { b.Close() }
	}
	src, closeSrc := bytes((rows-1)*srcRow + cols*size)
	defer closeSrc()
	dst, closeDst := bytes((cols-1)*dstRow + rows*size)
	defer closeDst()
	for i := range src {
		src[i] = byte(random.Intn(255))
	}
	for i := range dst {
		dst[i] = 255
	}
	Matrix(isa, size, unsafe.Pointer(&dst[0]), unsafe.Pointer(&src[0]), rows, cols, dstRow, srcRow)
	for j := range cols {
		for i := range rows {
			if x, y := src[i*srcRow+j*size:][:size], dst[j*dstRow+i*size:][:size]; string(x) != string(y) {
				t.Fatalf("%d x %d elements of %d bytes: row %d, column %d is %x, want %x", rows, cols, size, i, j, y, x)
			}
		}
		if gap := dst[j*dstRow+rows*size:]; j+1 < cols && string(gap[:8]) != "\xff\xff\xff\xff\xff\xff\xff\xff" {
			t.Fatalf("%d x %d elements of %d bytes: wrote behind row %d of the destination", rows, cols, size, j)
		}
	}
}
