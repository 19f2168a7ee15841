//go:build amd64

package x86

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"weft/internal/loop"
)

// Vectors that cover lanes hold each element where they say, and do not go beyond the
// last one. On AVX2 elements must have places of their own.
func TestCoverLanes(t *testing.T) {
	for by := 2; by <= 4; by++ {
		for _, lanes := range []int{4, 8, 16} {
			own := lanes < 16 // no AVX2 vector has more
			x := coverLanes(by, lanes, own)
			taken := map[int]bool{}
			for l := range lanes {
				s := x.start[x.vector[l]]
				if s+x.place[l] != by*l || x.place[l] >= lanes || s < 0 || s+lanes > by*(lanes-1)+1 {
					t.Errorf("%d apart, %d lanes: lane %d is at %d in the vector from %d", by, lanes, l, x.place[l], s)
				}
				taken[x.place[l]] = true
			}
			if own && len(taken) != lanes || len(x.start) > 4 {
				t.Errorf("%d apart, %d lanes: %d places, %d vectors", by, lanes, len(taken), len(x.start))
			}
		}
	}
}

// Elements some others apart are copied to such and to neighbours, with nothing else
// touched.
func TestApart(t *testing.T) {
	r := rand.New(rand.NewPCG(51, 52))
	for by := loop.By2; by <= loop.By4; by++ {
		for _, ty := range []loop.Type{loop.I32, loop.F64} {
			for _, mixed := range []bool{false, true} {
				b := loop.NewBuilder(fmt.Sprintf("%d apart %s mixed=%v", by.Elements(), ty, mixed), []loop.Axis{{Kind: loop.Parallel}, {Kind: loop.Parallel}}, 1)
				x, y := b.Buf(dtype(ty), false, loop.Any, by), b.Buf(dtype(ty), true, loop.Any, by)
				z, other := b.Buf(dtype(ty), true, loop.Any, loop.Unit), b.Buf(dtype(loop.I32), true, loop.Any, loop.Unit)
				b.Pass(func() {
					v := b.Load(x)
					b.Store(y, v)
					b.Store(z, v)
					if mixed {
						b.Store(other, b.Cvt(loop.I32, b.Index(1)))
					}
				})
				p := finish(t, b)
				for n := range 140 {
					s := random(p, r, 1+r.IntN(3), n)
					s.fill(func(int) uint64 { return r.Uint64() >> 12 })
					want := append([][]byte(nil), s.data...)
					for b := range want[1:] {
						want[b+1] = append([]byte(nil), s.data[b+1]...)
					}
					at := func(b, row, i int) int { return s.base[b] + row*s.strides[b][0] + i*s.strides[b][1] }
					size := ty.Size()
					for row := range s.extents[0] {
						for i := range n {
							e := s.data[0][at(0, row, i):][:size]
							copy(want[1][at(1, row, i):], e)
							copy(want[2][at(2, row, i):], e)
							if mixed {
								put(want[3][at(3, row, i):], 4, uint64(s.starts[1]+i))
							}
						}
					}
					s.check(t, want)
				}
			}
		}
	}
}
