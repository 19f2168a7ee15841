package move

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"
)

// The place of a window is the first greatest element in row-major order; what
// windows that overlap give to one place is added up.
func TestPool(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Pool{
		{3, 6, 8, 3, 4, 2, 2, 2, 2, 0, 0},
		{2, 7, 7, 3, 3, 3, 3, 2, 2, 0, 0},
		{40, 112, 9, 56, 5, 3, 3, 2, 2, 1, 1},
		{1, 5, 5, 1, 1, 5, 5, 5, 5, 0, 0},
		{2, 1, 3, 0, 2, 2, 2, 1, 1, 0, 0},
		{0, 4, 4, 2, 2, 2, 2, 2, 2, 0, 0},
	} {
		x, y := make([]float32, p.Planes*p.H*p.W), make([]float32, p.Planes*p.OH*p.OW)
		dx, want := make([]float32, len(x)), make([]float32, len(x))
		dy, picked, back := make([]float32, len(y)), make([]float32, len(y)), make([]float32, len(y))
		for i := range x {
			x[i], dx[i] = float32(r.IntN(5)), 99
			if r.IntN(50) == 0 {
				x[i] = float32(math.NaN())
			}
		}
		for o := range y {
			plane, row, col := o/(p.OH*p.OW), o/p.OW%p.OH, o%p.OW
			dy[o] = float32(o + 1)
			best, at := float32(math.Inf(-1)), -1
			for i := range p.KH * p.KW {
				h, w := row*p.StepH-p.PadH+i/p.KW, col*p.StepW-p.PadW+i%p.KW
				if h < 0 || h >= p.H || w < 0 || w >= p.W {
					continue
				}
				k := (plane*p.H+h)*p.W + w
				if v := x[k]; at < 0 || v > best || v != v && best == best {
					best, at = v, k
				}
			}
			y[o] = best
			want[at] += dy[o]
			back[o] = float32(at)
		}
		PoolPlace[float32](p, unsafe.Pointer(unsafe.SliceData(dx)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(dy)))
		for i := range want {
			if dx[i] != want[i] {
				t.Fatalf("%+v: element %d gets %v, want %v", p, i, dx[i], want[i])
			}
			dx[i] = float32(i)
		}
		PoolPick[float32](p, unsafe.Pointer(unsafe.SliceData(picked)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(dx)))
		for o := range back {
			if picked[o] != back[o] {
				t.Fatalf("%+v: window %d picks element %v, want %v", p, o, picked[o], back[o])
			}
		}
	}
}
