package pooling

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/cpu/cputest"
	"weft/internal/jit"
	"weft/internal/mem/guard"
)

// guarded returns n elements, behind which there is no memory.
func guarded[T float](t *testing.T, n int) []T {
	b, err := guard.End(n * int(unsafe.Sizeof(T(0))))
	if err != nil {
		t.Skip("SKIPPED: no guard pages here")
	}
	t.Cleanup(func() { b.Close() })
	return unsafe.Slice((*T)(b.Ptr()), n)
}

// same reports the same number, zeros with their signs, or NaN twice.
func same[T float](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

// The place of a window is the first greatest element in row-major order; what
// windows that overlap give to one place is added up. Nothing is read or written behind the
// arrays.
func TestPool(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, values := range []int{5, 1 << 20} { // windows with equal elements, and mostly without
			testPool[float32](t, values)
			testPool[float64](t, values)
		}
	})
}

func testPool[T float](t *testing.T, values int) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []Pool{
		{cputest.UnderTest, 4, 12, 34, 6, 17, 2, 2, 2, 2, 0, 0, false},
		{cputest.UnderTest, 3, 50, 75, 10, 15, 5, 5, 5, 5, 0, 0, false},
		{cputest.UnderTest, 3, 10, 20, 3, 6, 3, 3, 3, 3, 0, 0, false},
		{cputest.UnderTest, 2, 8, 37, 2, 4, 4, 8, 4, 8, 0, 0, false},
		{cputest.UnderTest, 2, 3, 9, 3, 9, 1, 1, 1, 1, 0, 0, false},
		{cputest.UnderTest, 1, 6, 40, 2, 2, 3, 16, 3, 16, 0, 0, false},
		{cputest.UnderTest, 1, 200, 500, 100, 250, 2, 2, 2, 2, 0, 0, false},
		{cputest.UnderTest, 3, 6, 8, 3, 4, 2, 2, 2, 2, 0, 0, false},
		{cputest.UnderTest, 2, 7, 7, 3, 3, 3, 3, 2, 2, 0, 0, false},
		{cputest.UnderTest, 40, 112, 9, 56, 5, 3, 3, 2, 2, 1, 1, false},
		{cputest.UnderTest, 1, 5, 5, 1, 1, 5, 5, 5, 5, 0, 0, false},
		{cputest.UnderTest, 2, 1, 3, 0, 2, 2, 2, 1, 1, 0, 0, false},
		{cputest.UnderTest, 0, 4, 4, 2, 2, 2, 2, 2, 2, 0, 0, false},
		{cputest.UnderTest, 3, 28, 28, 28, 28, 3, 3, 1, 1, 1, 1, false},
		{cputest.UnderTest, 2, 9, 35, 5, 18, 3, 3, 2, 2, 1, 1, false},
		{cputest.UnderTest, 2, 11, 40, 4, 13, 5, 4, 3, 3, 2, 1, false},
		{cputest.UnderTest, 2, 11, 41, 5, 10, 5, 7, 2, 4, 2, 0, false},
		{cputest.UnderTest, 2, 20, 3, 10, 1, 4, 3, 2, 5, 1, 0, false},
		{cputest.UnderTest, 1, 12, 40, 6, 21, 2, 1, 2, 2, 0, 0, false},
		{cputest.UnderTest, 2, 5, 9, 5, 9, 3, 16, 1, 1, 1, 7, false},
		{cputest.UnderTest, 1, 40, 50, 26, 26, 15, 3, 1, 2, 0, 2, false},
		{cputest.UnderTest, 1, 400, 100, 200, 50, 3, 3, 2, 2, 1, 1, false}, // more than one band
		{cputest.UnderTest, 1, 300, 70, 300, 70, 3, 3, 1, 1, 1, 1, false},
		{cputest.UnderTest, 180, 56, 57, 28, 29, 3, 3, 2, 2, 1, 1, false}, // out of the L2 cache
		{cputest.UnderTest, 3, 33, 47, 31, 23, 4, 4, 1, 2, 1, 2, false},
		{cputest.UnderTest, 3, 33, 47, 11, 45, 5, 5, 3, 1, 2, 1, false},
		{cputest.UnderTest, 2, 4, 5, 0, 0, 300, 2000, 150, 999, 299, 1999, false}, // wider than the plane
	} {
		p.OH, p.OW = max((p.H+2*p.PadH-p.KH)/p.StepH+1, 0), (p.W+2*p.PadW-p.KW)/p.StepW+1
		x, y := guarded[T](t, p.Planes*p.H*p.W), guarded[T](t, p.Planes*p.OH*p.OW)
		dx, want := guarded[T](t, len(x)), make([]T, len(x))
		dy, picked, back := guarded[T](t, len(y)), guarded[T](t, len(y)), make([]T, len(y))
		for i := range x {
			x[i], dx[i] = T(r.IntN(values)-2), 99
			if r.IntN(3) == 0 && p.PadW > 0 { // as little as the padding
				x[i] = T(math.Inf(-1))
			}
			if r.IntN(50) == 0 {
				x[i] = T(math.NaN())
			}
		}
		for o := range y {
			plane, row, col := o/(p.OH*p.OW), o/p.OW%p.OH, o%p.OW
			dy[o] = T(float64(o+1) * 0.7310585) // sums of these round
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
		for _, nonTemporal := range []bool{false, true} {
			if c := placeCode[T](&p); nonTemporal && c != nil {
				placeTiled[T](&p, c, args[0], args[1], args[2], args[3], true)
			} else {
				Place[T](p, args[0], args[1], args[2], args[3])
			}
			for i := range want {
				if !same(dx[i], want[i]) {
					t.Fatalf("%+v, past the caches %v: element %d gets %v, want %v", p, nonTemporal, i, dx[i], want[i])
				}
				dx[i] = T(i)
			}
		}
		Pick[T](p, unsafe.Pointer(unsafe.SliceData(picked)), unsafe.Pointer(unsafe.SliceData(x)), unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(dx)))
		for o := range back {
			if picked[o] != back[o] {
				t.Fatalf("%+v: window %d picks element %v, want %v", p, o, picked[o], back[o])
			}
		}
	}
}

// The maximum is that of the loop language: columns are compared first, then rows, and
// of equal elements (zeros of either sign) the last stays; a NaN anywhere wins. Nothing
// is read or written beside the arrays.
func TestMaxPool(t *testing.T) {
	cputest.EveryISA(t, func(t *testing.T, _ jit.ISA) {
		for _, p := range []Pool{
			{cputest.UnderTest, 3, 12, 34, 0, 0, 2, 2, 2, 2, 0, 0, false},
			{cputest.UnderTest, 2, 112, 112, 0, 0, 3, 3, 2, 2, 1, 1, false},
			{cputest.UnderTest, 2, 9, 33, 0, 0, 3, 3, 1, 1, 1, 1, false},
			{cputest.UnderTest, 1, 20, 61, 0, 0, 5, 4, 3, 3, 2, 3, false},
			{cputest.UnderTest, 1, 20, 160, 0, 0, 4, 5, 4, 4, 3, 0, false},
			{cputest.UnderTest, 1, 15, 170, 0, 0, 5, 5, 5, 5, 0, 0, false},
			{cputest.UnderTest, 1, 40, 200, 0, 0, 16, 16, 6, 6, 15, 15, false},
			{cputest.UnderTest, 1, 7, 200, 0, 0, 2, 3, 1, 7, 1, 1, false},
			{cputest.UnderTest, 2, 20, 40, 0, 0, 17, 17, 1, 1, 8, 16, false},
			{cputest.UnderTest, 1, 3, 5000, 0, 0, 3, 3, 2, 2, 1, 1, false},
			{cputest.UnderTest, 1, 3, 3000, 0, 0, 1, 9, 1, 5, 0, 8, false},
			{cputest.UnderTest, 5, 7, 7, 0, 0, 7, 7, 7, 7, 0, 0, false},
			{cputest.UnderTest, 1, 1, 1, 0, 0, 5, 3, 4, 6, 4, 2, false},
			{cputest.UnderTest, 1, 2000, 64, 0, 0, 1, 1, 1, 1, 0, 0, false},
			{cputest.UnderTest, 1, 2000, 64, 0, 0, 6, 1, 2, 3, 1, 0, false},
			{cputest.UnderTest, 0, 4, 4, 0, 0, 2, 2, 2, 2, 0, 0, false},
			{cputest.UnderTest, 2, 4, 5, 0, 0, 3000, 2000, 1500, 999, 2999, 1999, false}, // wider than the plane
		} {
			p.OH, p.OW = (p.H+2*p.PadH-p.KH)/p.StepH+1, (p.W+2*p.PadW-p.KW)/p.StepW+1
			testMaxPool[float32](t, p)
			testMaxPool[float64](t, p)
		}
	})
}

func testMaxPool[T float](t *testing.T, p Pool) {
	r := rand.New(rand.NewPCG(3, 4))
	n, m := p.Planes*p.H*p.W, p.Planes*p.OH*p.OW
	x, y := guarded[T](t, n), guarded[T](t, m)
	specials := []T{T(math.NaN()), T(math.Inf(-1)), T(math.Inf(1)), 0, T(math.Copysign(0, -1))}
	for _, rare := range []int{4, 200} {
		for i := range x {
			x[i] = T(r.NormFloat64())
			if r.IntN(rare) == 0 {
				x[i] = specials[r.IntN(len(specials))]
			}
			if rare == 4 && i > n/2 { // hardly anything above zero
				x[i] = min(x[i], specials[3+r.IntN(2)])
			}
		}
		Max[T](p, unsafe.Pointer(unsafe.SliceData(y)), unsafe.Pointer(unsafe.SliceData(x)))
		for o, got := range y {
			plane, row, col := o/(p.OH*p.OW), o/p.OW%p.OH, o%p.OW
			want, first := T(math.Inf(-1)), true
			for w := max(col*p.StepW-p.PadW, 0); w < min(col*p.StepW-p.PadW+p.KW, p.W); w++ {
				best := T(math.Inf(-1))
				for h := max(row*p.StepH-p.PadH, 0); h < min(row*p.StepH-p.PadH+p.KH, p.H); h++ {
					if v := x[(plane*p.H+h)*p.W+w]; best == best && !(v < best) {
						best = v
					}
				}
				if want == want && (first || !(best < want)) {
					want = best
				}
				first = false
			}
			if !same(got, want) {
				t.Fatalf("%+v: window %d is %v, want %v", p, o, got, want)
			}
		}
	}
}
