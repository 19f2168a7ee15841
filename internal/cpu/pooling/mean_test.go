package pooling

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
)

// Means and their gradients have the bits of sums over places in ascending order, zeros of
// either sign included, and nothing is read or written beside the arrays.
func TestAvgPool(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, p := range []Pool{
			{cputest.UnderTest, 3, 28, 28, 0, 0, 2, 2, 2, 2, 0, 0, false},
			{cputest.UnderTest, 2, 29, 31, 0, 0, 2, 2, 2, 2, 0, 0, false},
			{cputest.UnderTest, 2, 56, 56, 0, 0, 3, 3, 2, 2, 1, 1, false},
			{cputest.UnderTest, 2, 9, 33, 0, 0, 3, 3, 1, 1, 1, 1, false},
			{cputest.UnderTest, 2, 9, 33, 0, 0, 3, 3, 1, 1, 0, 0, false},
			{cputest.UnderTest, 2, 20, 61, 0, 0, 5, 4, 3, 3, 2, 3, false},
			{cputest.UnderTest, 2, 20, 61, 0, 0, 2, 3, 2, 1, 0, 1, false},
			{cputest.UnderTest, 2, 13, 40, 0, 0, 1, 1, 1, 1, 0, 0, false},
			{cputest.UnderTest, 2, 13, 40, 0, 0, 1, 1, 2, 3, 0, 0, false},
			{cputest.UnderTest, 2, 13, 40, 0, 0, 2, 2, 3, 5, 1, 0, false},
			{cputest.UnderTest, 2, 7, 7, 0, 0, 7, 7, 7, 7, 0, 0, false},
			{cputest.UnderTest, 2, 8, 3, 0, 0, 3, 2, 1, 1, 1, 1, false},
			{cputest.UnderTest, 2, 20, 40, 0, 0, 3, 17, 1, 1, 1, 16, false},
			{cputest.UnderTest, 1, 3, 90000, 0, 0, 3, 3, 1, 1, 1, 1, false},
			{cputest.UnderTest, 2, 1, 1, 0, 0, 5, 3, 1, 1, 4, 2, false},
			{cputest.UnderTest, 2, 12, 30, 0, 0, 5, 5, 1, 1, 4, 4, false},
			{cputest.UnderTest, 2, 30, 1, 0, 0, 3, 1, 7, 1, 0, 0, false},
			{cputest.UnderTest, 2, 5, 50, 0, 0, 1, 3, 1, 6, 0, 2, false},
			{cputest.UnderTest, 180, 56, 57, 0, 0, 3, 3, 2, 2, 1, 1, false}, // out of the L2 cache
			{cputest.UnderTest, 2, 33, 47, 0, 0, 4, 4, 1, 2, 1, 2, false},
			{cputest.UnderTest, 2, 33, 47, 0, 0, 5, 5, 3, 1, 2, 1, false},
			{cputest.UnderTest, 2, 9, 33, 0, 0, 3, 3, 1, 1, 1, 1, true},
			{cputest.UnderTest, 2, 33, 47, 0, 0, 4, 4, 1, 2, 1, 2, true},
			{cputest.UnderTest, 2, 8, 30, 0, 0, 2, 2, 2, 2, 0, 0, true},
			{cputest.UnderTest, 2, 400, 3, 0, 0, 300, 1, 7, 1, 150, 0, true},
			{cputest.UnderTest, 2, 3, 400, 0, 0, 1, 300, 1, 9, 0, 299, true},
			{cputest.UnderTest, 2, 3, 4, 0, 0, 1, 3000, 1, 1500, 0, 2999, true}, // wider than the plane
		} {
			p.OH, p.OW = (p.H+2*p.PadH-p.KH)/p.StepH+1, (p.W+2*p.PadW-p.KW)/p.StepW+1
			testMean[float32](t, p)
			testMean[float64](t, p)
		}
	})
}

func testMean[T float](t *testing.T, p Pool) {
	r := rand.New(rand.NewPCG(5, 6))
	x, y := guarded[T](t, p.Planes*p.H*p.W), guarded[T](t, p.Planes*p.OH*p.OW)
	dx, dy := guarded[T](t, len(x)), guarded[T](t, len(y))
	specials := []T{T(math.NaN()), T(math.Inf(-1)), T(math.Inf(1)), T(math.SmallestNonzeroFloat32)}
	for _, zeros := range []int{2, 50} {
		for _, s := range [][]T{x, dy} {
			for i := range s {
				s[i] = T(r.NormFloat64())
				if r.IntN(zeros) == 0 {
					s[i] = T(math.Copysign(0, r.NormFloat64()-1))
				}
				if zeros > 2 && r.IntN(60) == 0 {
					s[i] = specials[r.IntN(len(specials))]
				}
			}
		}
		for _, s := range [][]T{y, dx} {
			for i := range s {
				s[i] = 99
			}
		}
		Mean[T](p, unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]))
		Spread[T](p, unsafe.Pointer(&dx[0]), unsafe.Pointer(&dy[0]))
		scale := T(1 / float64(p.KH*p.KW))
		if p.Sum {
			scale = 1
		}
		check := func(what string, i int, got, want T) {
			if !same(got, want) {
				t.Fatalf("%+v: %s %d is %v, want %v", p, what, i, got, want)
			}
		}
		for o, got := range y {
			plane, row, col := o/(p.OH*p.OW), o/p.OW%p.OH, o%p.OW
			var want T
			for i := range p.KH * p.KW {
				h, w, v := row*p.StepH-p.PadH+i/p.KW, col*p.StepW-p.PadW+i%p.KW, T(0)
				if h >= 0 && h < p.H && w >= 0 && w < p.W {
					v = x[(plane*p.H+h)*p.W+w]
				}
				if want += v; i == 0 {
					want = v
				}
			}
			check("mean", o, got, T(want*scale))
		}
		// As arrays of each place's part would be added up, or, where windows are side by
		// side, put between each other.
		for o, got := range dx {
			plane, line, col := o/(p.H*p.W), o/p.W%p.H, o%p.W
			var want T
			for i := range p.KH * p.KW {
				h, w, v := line+p.PadH-i/p.KW, col+p.PadW-i%p.KW, T(0)
				has := h >= 0 && w >= 0 && h%p.StepH == 0 && w%p.StepW == 0 && h/p.StepH < p.OH && w/p.StepW < p.OW
				if has {
					v = T(dy[(plane*p.OH+h/p.StepH)*p.OW+w/p.StepW] * scale)
				}
				switch {
				case p.KH == p.StepH && p.KW == p.StepW:
					if has {
						want = v
					}
				case i == 0:
					want = v
				default:
					want += v
				}
			}
			check("gradient", o, got, want)
		}
	}
}
