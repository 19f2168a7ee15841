package move

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"weft/internal/mem/guard"
)

// Rows are copied whole, in order, and nothing behind them; results as large as
// those that are written past the caches too.
func TestCopyRows(t *testing.T) {
	each(t, func(t *testing.T) {
		const count = 100
		for _, row := range []int{line, 3 * line, 8 * line, 100} {
			b, err := guard.End(count * row)
			if err != nil {
				t.Skip("no guard pages here")
			}
			src := unsafe.Slice((*byte)(b.Ptr()), count*row)
			for i := range src {
				src[i] = byte(rand.Uint32())
			}
			for _, n := range []int{1, 5, 6, 7, 50, 200} {
				for _, all := range []int{0, streamMin} {
					memory := make([]byte, n*row+3*line)
					at := -int(uintptr(unsafe.Pointer(&memory[0]))) & (line - 1)
					dst := memory[at:][:n*row+line]
					idx, want := make([]int, n), make([]byte, 0, len(dst))
					for i := range idx {
						idx[i] = rand.IntN(count)
						want = append(want, src[idx[i]*row:][:row]...)
					}
					want = append(want, make([]byte, line)...)
					ok := CopyRows(unsafe.Pointer(&dst[0]), b.Ptr(), idx, row, all)
					if ok != (native() && row%line == 0) {
						t.Errorf("rows of %d bytes copied: %v", row, ok)
					}
					if ok && !slices.Equal(dst, want) {
						t.Errorf("%d rows of %d bytes are not those asked for", n, row)
					}
				}
			}
			b.Close()
		}
	})
}
