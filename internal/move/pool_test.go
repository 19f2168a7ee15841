package move

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/gemm"
)

// The place of a window is the first greatest element in row-major order; what
// windows that overlap give to one place is added up.
func TestPool(t *testing.T) {
	defer gemm.SetISA(gemm.CurrentISA())
	for _, isa := range []gemm.ISA{gemm.Portable, gemm.AVX512} {
		gemm.SetISA(isa)
		for _, values := range []int{5, 1 << 20} { // windows with equal elements, and mostly without
			testPool[float32](t, values)
			testPool[float64](t, values)
		}
	}
}

func testPool[T float](t *testing.T, values int) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Pool{
		{4, 12, 34, 6, 17, 2, 2, 2, 2, 0, 0},
		{3, 50, 75, 10, 15, 5, 5, 5, 5, 0, 0},
		{3, 10, 20, 3, 6, 3, 3, 3, 3, 0, 0},
		{2, 8, 37, 2, 4, 4, 8, 4, 8, 0, 0},
		{2, 3, 9, 3, 9, 1, 1, 1, 1, 0, 0},
		{1, 6, 40, 2, 2, 3, 16, 3, 16, 0, 0},
		{1, 200, 500, 100, 250, 2, 2, 2, 2, 0, 0},
		{3, 6, 8, 3, 4, 2, 2, 2, 2, 0, 0},
		{2, 7, 7, 3, 3, 3, 3, 2, 2, 0, 0},
		{40, 112, 9, 56, 5, 3, 3, 2, 2, 1, 1},
		{1, 5, 5, 1, 1, 5, 5, 5, 5, 0, 0},
		{2, 1, 3, 0, 2, 2, 2, 1, 1, 0, 0},
		{0, 4, 4, 2, 2, 2, 2, 2, 2, 0, 0},
	} {
		x, y := make([]T, p.Planes*p.H*p.W), make([]T, p.Planes*p.OH*p.OW)
		dx, want := make([]T, len(x)), make([]T, len(x))
		dy, picked, back := make([]T, len(y)), make([]T, len(y)), make([]T, len(y))
		for i := range x {
			x[i], dx[i] = T(r.IntN(values)-2), 99
			if r.IntN(50) == 0 {
				x[i] = T(math.NaN())
			}
		}
		for o := range y {
			plane, row, col := o/(p.OH*p.OW), o/p.OW%p.OH, o%p.OW
			dy[o] = T(o + 1)
			best, at := T(math.Inf(-1)), -1
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
			if best != best { // any NaN stands for any other
				y[o] = T(math.Copysign(math.NaN(), float64(o%2)-1))
			}
			want[at] += dy[o]
			back[o] = T(at)
		}
		args := [4]unsafe.Pointer{unsafe.Pointer(unsafe.SliceData(dx)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(dy))}
		for _, past := range []bool{false, true} {
			if c := placeCode[T](&p); past && c != nil {
				placeTiled[T](&p, c, args[0], args[1], args[2], args[3], true)
			} else {
				PoolPlace[T](p, args[0], args[1], args[2], args[3])
			}
			for i := range want {
				if dx[i] != want[i] {
					t.Fatalf("%+v, past the caches %v: element %d gets %v, want %v", p, past, i, dx[i], want[i])
				}
				dx[i] = T(i)
			}
		}
		PoolPick[T](p, unsafe.Pointer(unsafe.SliceData(picked)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(dx)))
		for o := range back {
			if picked[o] != back[o] {
				t.Fatalf("%+v: window %d picks element %v, want %v", p, o, picked[o], back[o])
			}
		}
	}
}
