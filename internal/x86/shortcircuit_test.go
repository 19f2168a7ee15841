//go:build amd64

package x86

import (
	"testing"

	"weft/internal/array"
	"weft/internal/loop"
)

// TestBoolReductionStopsEarly demands that a reduction of truth values ends at the element that
// decides it: behind the first 1024 elements there is no memory. A row without such an element is
// read to its end.
func TestBoolReductionStopsEarly(t *testing.T) {
	for _, kind := range []loop.Reduction{loop.Or, loop.And} {
		for _, d := range []array.DType{array.Bool, array.Int16, array.Float32, array.Float64} {
			b := loop.NewBuilder("settled", []loop.Axis{{Kind: loop.Reduce}}, 0)
			x, out := b.Buf(d, false, loop.Unit), b.Buf(array.Bool, true, loop.Zero)
			var r loop.Value
			b.Pass(func() {
				v := b.Load(x)
				if ty := loop.TypeOf(d); ty != loop.B {
					zero := b.Float(ty, 0)
					if ty.Int() {
						zero = b.Int(ty, 0)
					}
					v = b.Ne(v, zero)
				}
				r = b.Reduce(kind, v)
			})
			b.Store(out, r)
			p := finish(t, b)
			usual, settles := byte(0), byte(1)
			if kind == loop.And {
				usual, settles = 1, 0
			}
			row := func(n, at int) *setup { // of n elements
				s := &setup{p: p, extents: []int{n}, starts: []int{0}, strides: [][]int{{d.Size()}, {0}}, span: []int{n * d.Size(), 1}, base: []int{0, 0}}
				s.data = [][]byte{make([]byte, n*d.Size()), {7}}
				for i := range n {
					e := usual
					if i == at {
						e = settles
					}
					s.data[0][(i+1)*d.Size()-1] = e // the exponent of a float
				}
				return s
			}
			for _, n := range []int{1024, 5000, 12300} {
				for _, at := range []int{-1, 0, 255, 700, 1023, n - 1} {
					want := usual
					if at >= 0 {
						want = settles
					}
					s := row(n, at)
					s.check(t, [][]byte{s.data[0], {want}})
				}
			}
			for _, at := range []int{0, 700, 1023} {
				s := row(1024, at)
				s.extents[0] = 1 << 20
				for _, isa := range isas(t) {
					k, err := Compile(p, isa)
					if err != nil {
						t.Fatal(err)
					}
					if got, _ := s.execute(t, k, 1); got[1][0] != settles {
						t.Errorf("%s of %s on %s, settled by element %d: %d", kind, d, isa, at, got[1][0])
					}
				}
			}
		}
	}
}
