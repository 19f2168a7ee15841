package weft

import (
	"fmt"
	"testing"

	"weft/internal/array"
)

// Elements that run backward, alternate in the result or stand in short rows, in every type
// and around the lengths of vectors, against plain loops over bytes.
func TestOrderOfElements(t *testing.T) {
	for _, d := range array.DTypes() {
		size := d.Size()
		of := func(from, n int) (*Tensor, []byte) {
			x := Arange(n).To(Int64).Add(from).To(d).Clone()
			p := make([]byte, n*size)
			copy(p, bytesAt(x))
			return x, p
		}
		same := func(what string, got *Tensor, want []byte) {
			t.Helper()
			if g := bytesAt(got.Contiguous()); string(g) != string(want) {
				t.Errorf("%s of %s:\n%v, want\n%v", what, d, g, want)
			}
		}
		for _, n := range []int{1, 2, 7, 8, 9, 16, 31, 32, 33, 63, 64, 65, 100, 257} {
			x, p := of(1, n)
			back := make([]byte, len(p))
			for i := range n {
				copy(back[i*size:][:size], p[(n-1-i)*size:])
			}
			same(fmt.Sprintf("flip of %d", n), x.Flip().Clone(), back)
			y := ZerosOf(d, n)
			y.Flip().Assign(x)
			same(fmt.Sprintf("assignment to a flip of %d", n), y, back)
			rows := ZerosOf(d, 3, n)
			rows.Assign(x.Flip())
			same(fmt.Sprintf("rows of a flip of %d", n), rows.Slice(Index(1)).Clone(), back)
			for k := 2; k <= 5; k++ {
				var xs []*Tensor
				want := make([]byte, k*len(p))
				for j := range k {
					x, p := of(10*j, n)
					xs = append(xs, x)
					for i := range n {
						copy(want[(i*k+j)*size:][:size], p[i*size:])
					}
				}
				same(fmt.Sprintf("%d stacked, of %d", k, n), Stack(xs, 1), want)
				xs[k-1] = xs[0]
				for i := range n {
					copy(want[(i*k+k-1)*size:][:size], want[i*k*size:][:size])
				}
				same(fmt.Sprintf("%d stacked, one twice, of %d", k, n), Stack(xs, -1), want)
			}
		}
	}
}

// bytesAt is what a tensor holds, in order.
func bytesAt(t *Tensor) []byte {
	x := t.Contiguous()
	p := make([]byte, x.Size()*x.DType().Size())
	copy(p, memory(x))
	return p
}
