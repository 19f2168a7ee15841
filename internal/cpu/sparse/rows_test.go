package sparse

import (
	"math"
	"slices"
	"testing"

	"weft/internal/array"
	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// TestRowProductsHaveBitsOfGo demands on every instruction set the sums of math.FMA in the order that [rowProducts] states.
func TestRowProductsHaveBitsOfGo(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		testRowProducts[float32](t, array.Float32, func(a, b, c float32) float32 { return float32(math.FMA(float64(a), float64(b), float64(c))) })
		testRowProducts[float64](t, array.Float64, math.FMA)
	})
}

func testRowProducts[T float32 | float64](t *testing.T, d array.DType, fma func(a, b, c T) T) {
	some := func(n, seed int) []T { // few bits, so that float64 holds sums of float32's products
		x := make([]T, n)
		for i := range x {
			x[i] = T((i*i*7+i*seed)%61-30) / 8
		}
		return x
	}
	lanes, strip := 64/d.Size(), stripBytes/d.Size()
	for _, w := range []int{1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64} {
		for _, n := range []int{0, 1, 5, rowChunk + 3} {
			if n > rowChunk && w != 12 {
				continue
			}
			rows, l, x, y := make([]int32, n), some(n*w, 3), some(w, 5), some(2*n+1, 11)
			for i := range rows {
				rows[i] = int32(2*i + 1)
			}
			wantX, wantY := slices.Clone(x), slices.Clone(y)
			for i, r := range rows {
				for at := 0; at < w; at += strip {
					s := make([]T, lanes)
					for j := at; j < min(at+strip, w); j++ {
						s[(j-at)%lanes] = fma(l[i*w+j], x[j], s[(j-at)%lanes])
					}
					for h := lanes / 2; h > 0; h /= 2 {
						for j := range h {
							s[j] += s[j+h]
						}
					}
					wantY[r] -= s[0]
				}
			}
			for i, r := range rows {
				for j := range wantX {
					wantX[j] = fma(-l[i*w+j], y[r], wantX[j])
				}
			}
			p := newRowProducts[T](d)
			gotX, gotY := slices.Clone(x), slices.Clone(y)
			p.dot(gotY, rows, l, x)
			p.spread(gotX, l, rows, y)
			if !slices.Equal(gotX, wantX) || !slices.Equal(gotY, wantY) {
				t.Fatalf("%v, %d rows of %d elements differ", d, n, w)
			}
		}
	}
}
