package pooling_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"weft/internal/array"
	cpu "weft/internal/cpu/pooling"
	"weft/internal/cudart"
	"weft/internal/grid/gridtest"
	"weft/internal/grid/pooling"
	"weft/internal/jit"
)

// A gpu is a simulated one.
type gpu struct {
	*gridtest.Launcher
}

func newGPU(t *testing.T) *gpu { return &gpu{gridtest.NewLauncher(t, 9, 0)} }

func (g *gpu) check(err error) {
	g.T.Helper()
	if err != nil {
		g.T.Fatal(err)
	}
}

// compute returns what an operation gives on the GPU, of n elements.
func compute[T float](g *gpu, p pooling.Pool, o pooling.Op, n int, args ...[]T) []T {
	g.T.Helper()
	size := int(unsafe.Sizeof(T(0)))
	upload := func(x []T) uint64 {
		a := gridtest.Must(g.C.Alloc(max(len(x)*size, 1)))
		if len(x) > 0 {
			g.check(g.C.CopyIn(g.Q, a, unsafe.Pointer(&x[0]), len(x)*size))
		}
		return uint64(a)
	}
	var addrs []uint64
	for _, x := range args {
		addrs = append(addrs, upload(x))
	}
	out := make([]T, n)
	to := cudart.Addr(upload(nil))
	if n > 0 {
		to = gridtest.Must(g.C.Alloc(n * size))
	}
	g.Run("pooling", p.Launches(o, uint64(to), addrs...))
	if n > 0 {
		g.check(g.C.CopyOut(g.Q, unsafe.Pointer(&out[0]), to, n*size))
	}
	return out
}

type float interface{ float32 | float64 }

// same reports the same number, zeros with their signs, or NaN twice.
func same[T float](a, b T) bool {
	return a == b && math.Signbit(float64(a)) == math.Signbit(float64(b)) || a != a && b != b
}

// fill returns n elements. Many are equal, zeros of either sign, infinite or NaN.
func fill[T float](chance *rand.Rand, n int) []T {
	x := make([]T, n)
	specials := []float64{math.NaN(), math.Inf(-1), math.Inf(1), 0, math.Copysign(0, -1), math.Copysign(0, -1), math.SmallestNonzeroFloat32}
	many := 1 + chance.IntN(20)
	for i := range x {
		switch chance.IntN(many) {
		case 0:
			x[i] = T(specials[chance.IntN(len(specials))])
		case 1:
			x[i] = T(chance.IntN(3) - 1)
		default:
			x[i] = T(chance.NormFloat64())
		}
	}
	return x
}

// checkPool compares all operations of a pooling with the CPU's.
func checkPool[T float](g *gpu, chance *rand.Rand, p pooling.Pool) {
	g.T.Helper()
	n, m := p.Planes*p.H*p.W, p.Planes*p.OH*p.OW
	q := cpu.Pool{ISA: jit.Portable, Planes: p.Planes, H: p.H, W: p.W, OH: p.OH, OW: p.OW, KH: p.KH, KW: p.KW, StepH: p.StepH, StepW: p.StepW, PadH: p.PadH, PadW: p.PadW, Sum: p.Sum}
	ptr := func(x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
	compare := func(o pooling.Op, want []T, args ...[]T) {
		g.T.Helper()
		for i, got := range compute(g, p, o, len(want), args...) {
			if !same(got, want[i]) {
				g.T.Fatalf("%s of %+v: element %d is %v, want %v", o, p, i, got, want[i])
			}
		}
	}
	x, dx, dy := fill[T](chance, n), fill[T](chance, n), fill[T](chance, m)
	want, back := make([]T, m), make([]T, n)
	if n > 0 {
		cpu.Max[T](q, ptr(want), ptr(x))
		compare(pooling.Max, want, x)
		y := append([]T(nil), want...)
		if m > 0 && chance.IntN(3) == 0 { // not the maximum of its window
			y[chance.IntN(m)] = 0.123
		}
		cpu.Pick[T](q, ptr(want), ptr(x), ptr(y), ptr(dx))
		compare(pooling.Pick, want, x, y, dx)
		cpu.Place[T](q, ptr(back), ptr(x), ptr(y), ptr(dy))
		compare(pooling.Place, back, x, y, dy)
		cpu.Mean[T](q, ptr(want), ptr(x))
		compare(pooling.Mean, want, x)
	}
	cpu.Spread[T](q, ptr(back), ptr(dy))
	compare(pooling.Spread, back, dy)
}

// counted returns p with its numbers of windows, and steps within the padded size.
func counted(p pooling.Pool) pooling.Pool {
	p.OH, p.OW = (p.H+2*p.PadH-p.KH)/p.StepH+1, (p.W+2*p.PadW-p.KW)/p.StepW+1
	p.StepH, p.StepW = min(p.StepH, p.H+2*p.PadH), min(p.StepW, p.W+2*p.PadW)
	return p
}

// randomPool returns a pooling of few elements.
func randomPool(chance *rand.Rand) pooling.Pool {
	sides := []int{1, 2, 3, 5, 7, 8, 9, 13, 31, 32, 33}
	side := func() int { return sides[chance.IntN(len(sides))] }
	for {
		p := pooling.Pool{Planes: chance.IntN(4), H: side(), W: side(), KH: 1 + chance.IntN(5), KW: 1 + chance.IntN(5),
			StepH: 1 + chance.IntN(4), StepW: 1 + chance.IntN(4), Sum: chance.IntN(4) == 0}
		if chance.IntN(2) == 0 {
			p.KW = p.KH
		}
		if chance.IntN(3) == 0 {
			p.StepH, p.StepW = p.KH, p.KW
		}
		p.PadH, p.PadW = chance.IntN(p.KH), chance.IntN(p.KW)
		if p.H+2*p.PadH >= p.KH && p.W+2*p.PadW >= p.KW && p.Planes*p.H*p.W < 1500 {
			return counted(p)
		}
	}
}

func checkBoth(g *gpu, chance *rand.Rand, p pooling.Pool) {
	g.T.Helper()
	p.DType = array.Float32
	checkPool[float32](g, chance, p)
	p.DType = array.Float64
	checkPool[float64](g, chance, p)
}

func TestRandomPoolings(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 1))
	g := newGPU(t)
	for range 100 {
		checkBoth(g, chance, randomPool(chance))
	}
}

// Sizes around the size of a block, windows larger than the picture, steps beyond it.
func TestSizesOfPoolings(t *testing.T) {
	chance := rand.New(rand.NewPCG(2, 1))
	g := newGPU(t)
	for _, p := range []pooling.Pool{
		{Planes: 1, H: 1, W: pooling.Threads - 1, KH: 1, KW: 1, StepH: 1, StepW: 1},
		{Planes: 1, H: 1, W: pooling.Threads, KH: 1, KW: 2, StepH: 1, StepW: 1, PadW: 1},
		{Planes: pooling.Threads + 1, H: 1, W: 1, KH: 3, KW: 3, StepH: 1, StepW: 1, PadH: 1, PadW: 1},
		{Planes: 2, H: 65, W: 3, KH: 3, KW: 3, StepH: 2, StepW: 2, PadH: 1, PadW: 1},
		{Planes: 2, H: 4, W: 5, KH: 300, KW: 200, StepH: 150, StepW: 99, PadH: 299, PadW: 199},
		{Planes: 3, H: 7, W: 9, KH: 2, KW: 3, StepH: 1000, StepW: math.MaxInt32},
		{Planes: 2, H: 9, W: 10, KH: 2, KW: 2, StepH: 2, StepW: 2},
		{Planes: 2, H: 8, W: 9, KH: 2, KW: 2, StepH: 2, StepW: 2},
		{Planes: 2, H: 8, W: 10, KH: 2, KW: 2, StepH: 1, StepW: 2},
		{Planes: 2, H: 8, W: 10, KH: 2, KW: 2, StepH: 2, StepW: 2, PadH: 1},
		{Planes: 0, H: 7, W: 9, KH: 2, KW: 2, StepH: 2, StepW: 2},
		{Planes: 2, H: 0, W: 9, KH: 2, KW: 2, StepH: 2, StepW: 2, PadH: 1},
	} {
		checkBoth(g, chance, counted(p))
	}
}

// Results with more elements than a launch counts are several launches.
func TestSplitPoolings(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 1))
	g := newGPU(t)
	for _, limit := range []int{1, 4, 20, 100} {
		defer pooling.SetLimit(limit)()
		for range 3 {
			p := randomPool(chance)
			for p.Planes*p.H*p.W > 60*limit {
				p = randomPool(chance)
			}
			checkBoth(g, chance, p)
		}
	}
}

// The gradient of means is 0 where no window is, and the mean of padding alone is 0.
func TestMeanOfPadding(t *testing.T) {
	g := newGPU(t)
	p := counted(pooling.Pool{DType: array.Float32, Planes: 1, H: 0, W: 3, KH: 2, KW: 2, StepH: 1, StepW: 1, PadH: 1})
	for i, y := range compute(g, p, pooling.Mean, 2, []float32{}) {
		if !same(y, 0) {
			t.Errorf("mean %d of padding is %v", i, y)
		}
	}
}
