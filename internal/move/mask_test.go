package move

import (
	"math/rand"
	"testing"
	"unsafe"
)

func TestMask(t *testing.T) {
	for _, n := range []int{0, 1, 9, 1000, maskBlock, 3*maskBlock + 17} {
		for _, often := range []int{1, 2, 1000, 1 << 30} {
			m, x := make([]byte, n+1), make([]uint32, n+1)
			var want []uint32
			var places []int64
			back := make([]uint32, n)
			for i := range n {
				x[i] = rand.Uint32()
				if rand.Intn(often) == 0 {
					m[i] = 1
					want = append(want, x[i])
					places = append(places, int64(i))
					back[i] = x[i]
				}
			}
			m[n] = 1
			mask, src := unsafe.Pointer(&m[0]), unsafe.Pointer(&x[0])
			r := Ranks(mask, n)
			if r[len(r)-1] != len(want) {
				t.Fatalf("%d ones of %d, want %d", r[len(r)-1], n, len(want))
			}
			got, again, at := make([]uint32, len(want)+1), make([]uint32, n+1), make([]int64, len(want))
			got[len(want)], again[n] = 7, 7
			Select(unsafe.Pointer(&got[0]), src, mask, n, 4, r)
			Place(unsafe.Pointer(&again[0]), unsafe.Pointer(&got[0]), mask, n, 4, r)
			NonZero(at, mask, n, r)
			for i := range want {
				if got[i] != want[i] || at[i] != places[i] {
					t.Fatalf("element %d of %d: %d at %d, want %d at %d", i, n, got[i], at[i], want[i], places[i])
				}
			}
			for i := range back {
				if again[i] != back[i] {
					t.Fatalf("element %d put back is %d, want %d", i, again[i], back[i])
				}
			}
			if got[len(want)] != 7 || again[n] != 7 {
				t.Fatal("written behind the end")
			}
		}
	}
}
