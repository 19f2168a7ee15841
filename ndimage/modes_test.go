package ndimage_test

import (
	"math"
	"sync"
	"testing"

	"weft"
	"weft/internal/par"
	"weft/internal/tensortest"
	"weft/ndimage"
)

// mapped are functions of a matrix that run in compiled and mapped functions.
var mapped = map[string]func(x *weft.Tensor) *weft.Tensor{
	"gaussian_filter": unary["gaussian_filter"], "gaussian_laplace": unary["gaussian_laplace"], "laplace": unary["laplace"],
	"uniform_filter": unary["uniform_filter"], "median_filter": unary["median_filter"], "maximum_filter": unary["maximum_filter"],
	"grey_opening": unary["grey_opening"], "spline_filter": unary["spline_filter"], "binary_erosion": unary["binary_erosion"],
	"binary_propagation": unary["binary_propagation"], "binary_fill_holes": unary["binary_fill_holes"],
	"distance_transform_edt": unary["distance_transform_edt"], "distance_transform_cdt": unary["distance_transform_cdt"],
	"sobel":  func(x *weft.Tensor) *weft.Tensor { return ndimage.Sobel(x, 0) },
	"rotate": func(x *weft.Tensor) *weft.Tensor { return ndimage.Rotate(x, 30) },
	"zoom":   func(x *weft.Tensor) *weft.Tensor { return ndimage.Zoom(x, []float64{1.7}) },
	"centre": func(x *weft.Tensor) *weft.Tensor { return ndimage.CenterOfMass(x) },
	"std":    func(x *weft.Tensor) *weft.Tensor { return ndimage.StandardDeviation(x) },
	"correlate": func(x *weft.Tensor) *weft.Tensor {
		return ndimage.Correlate(x, weft.From([][]float64{{1, 2}, {-0.3, 0.7}}), ndimage.FilterOpts{Mode: ndimage.Wrap})
	},
	"map_coordinates": func(x *weft.Tensor) *weft.Tensor {
		return ndimage.MapCoordinates(x, x.Mul(2).Reshape(2, -1).Add(1), ndimage.InterpolationOpts{Mode: ndimage.Mirror})
	},
}

func TestCompiledAndMappedGiveEagerBits(t *testing.T) {
	x := wave()
	batch := weft.Stack([]*weft.Tensor{x, x.Flip(0), x.Neg()}, 0)
	for name, f := range mapped {
		want := f(x)
		tensortest.SameBits(t, name+" compiled", weft.Compile(f).Func()(x), want)
		got := weft.Vmap(func(a ...*weft.Tensor) *weft.Tensor { return f(a[0]) })(batch)
		for i := range 3 {
			tensortest.SameBits(t, name+" mapped", got.At(i).Contiguous(), f(batch.At(i)))
		}
	}
}

// TestCompiledGradientsGiveEagerBits differentiates what compiled functions have of splines, once and twice.
func TestCompiledGradientsGiveEagerBits(t *testing.T) {
	for _, name := range []string{"gaussian_filter", "median_filter", "zoom", "rotate", "map_coordinates"} {
		f := func(x *weft.Tensor) *weft.Tensor {
			x = x.Detach().RequireGrad()
			y := mapped[name](x)
			g := weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
			return weft.Grad(g.Mul(g).Sum(), []*weft.Tensor{x})[0]
		}
		want := f(wave())
		if want.Abs().Sum().Item() == 0 {
			t.Errorf("%s: no gradient", name)
		}
		tensortest.SameBits(t, name, weft.Compile(f).Func()(wave()), want)
	}
}

func TestReadersAreRefusedInCompiledFunctions(t *testing.T) {
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"label":   func(x *weft.Tensor) *weft.Tensor { y, _ := ndimage.Label(x); return y },
		"minimum": func(x *weft.Tensor) *weft.Tensor { return ndimage.Minimum(x) },
		"median":  func(x *weft.Tensor) *weft.Tensor { return ndimage.Median(x) },
	} {
		if _, err := weft.Compile(f).Call(wave()); err == nil {
			t.Errorf("%s was compiled", name)
		}
	}
}

// large are functions whose work is split over threads.
func large(x *weft.Tensor) []*weft.Tensor {
	labels, n := ndimage.Label(x.Gt(0.4))
	d, at := ndimage.DistanceTransformEDT(x.Gt(-0.9))
	index := make([]int, n)
	for i := range index {
		index[i] = i + 1
	}
	o := ndimage.RegionOpts{Labels: labels, Index: index}
	low, high, _, _ := ndimage.Extrema(x, o)
	return []*weft.Tensor{labels, d, at, low, high, ndimage.Mean(x, o), ndimage.Median(x, o),
		ndimage.GaussianFilter(x, []float64{2}), ndimage.UniformFilter(x, []int{20}), ndimage.MedianFilter(x, []int{3}),
		ndimage.MaximumFilter(x, []int{11}), ndimage.BinaryFillHoles(x.Gt(0)), ndimage.Rotate(x, 33), ndimage.Zoom(x, []float64{0.8}),
		ndimage.SplineFilter(x), ndimage.DistanceTransformCDT(x.Gt(-0.9)), ndimage.Sobel(x, 1)}
}

func noisy(n int) *weft.Tensor { return tensortest.Noise(7, 1, n, n+3).To(weft.Float64) }

func TestBitsDoNotDependOnThreads(t *testing.T) {
	defer par.SetThreads(par.SetThreads(1))
	x := noisy(300)
	want := large(x)
	for _, threads := range []int{2, 8} {
		par.SetThreads(threads)
		for i, y := range large(x) {
			tensortest.SameBits(t, "result", y, want[i])
		}
	}
}

func TestSixteenGoroutines(t *testing.T) {
	x := noisy(60)
	want := large(x)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for i, y := range large(x) {
				if !y.ArrayEqual(want[i]) {
					t.Errorf("result %d has other elements", i)
				}
			}
		})
	}
	wg.Wait()
}

func TestSecondDerivatives(t *testing.T) {
	x := wave()
	places := weft.From([][]float64{{0.3, 2.2, -1.7, 4.4, 3.6}, {1.1, 3.2, 0.4, -1.3, 5.2}})
	first := func(f func(v *weft.Tensor) *weft.Tensor) func(v *weft.Tensor) *weft.Tensor {
		return func(v *weft.Tensor) *weft.Tensor {
			if !v.RequiresGrad() {
				v = v.RequireGrad()
			}
			y := f(v)
			return weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{v}, weft.GradOpts{Create: true})[0]
		}
	}
	for _, m := range []ndimage.Mode{ndimage.Reflect, ndimage.Mirror, ndimage.GridWrap, ndimage.Nearest, ndimage.Constant} {
		slopes(t, "gaussian_filter "+string(m), x, first(func(v *weft.Tensor) *weft.Tensor {
			return ndimage.GaussianFilter(v.Mul(v), []float64{1}, ndimage.GaussianOpts{Mode: m})
		}))
		for _, order := range []int{3, 5} {
			o := ndimage.InterpolationOpts{Order: &order, Mode: m}
			slopes(t, "input "+string(m), x, first(func(v *weft.Tensor) *weft.Tensor { return ndimage.MapCoordinates(v.Mul(v), places, o) }))
			slopes(t, "coordinates "+string(m), places, first(func(p *weft.Tensor) *weft.Tensor { return ndimage.MapCoordinates(x, p, o) }))
		}
	}
	slopes(t, "minimum", x, func(v *weft.Tensor) *weft.Tensor { return ndimage.Minimum(v.Mul(v)) })
}

// TestNaN demands that NaN stays in the windows and regions that have it.
func TestNaN(t *testing.T) {
	nan := math.NaN()
	x := weft.From([]float64{3, nan, 1, 7, 5, 8})
	for name, y := range map[string]*weft.Tensor{
		"median": ndimage.MedianFilter(x, []int{3}), "minimum": ndimage.MinimumFilter(x, []int{3}), "maximum": ndimage.MaximumFilter(x, []int{3}),
		"uniform": ndimage.UniformFilter(x, []int{3}), "gaussian": ndimage.GaussianFilter(x, []float64{0.3}), "rank": ndimage.RankFilter(x, 1, []int{3}),
	} {
		if got := weft.Data[bool](y.IsNaN()); !got[0] || !got[1] || !got[2] || got[3] || got[4] || got[5] {
			t.Errorf("%s: %v", name, y)
		}
	}
	beyond := ndimage.UniformFilter(x, []int{3}, ndimage.FilterOpts{Mode: ndimage.Constant, Cval: nan})
	if got := weft.Data[bool](beyond.IsNaN()); got[4] || !got[5] {
		t.Errorf("Cval NaN: %v", beyond)
	}
	o := ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 3, 3}), Index: []int{1, 2, 4}}
	low, high, lowAt, highAt := ndimage.Extrema(x, o)
	tensortest.Near(t, "least", low, []float64{nan, 1, 0}, 0)
	tensortest.Near(t, "greatest", high, []float64{nan, 7, 0}, 0)
	if lowAt[0][0] != 1 || highAt[0][0] != 1 || lowAt[2] != nil {
		t.Errorf("positions %v %v", lowAt, highAt)
	}
	tensortest.Near(t, "median", ndimage.Median(x, o), []float64{nan, 4, nan}, 0)
	at := weft.From([][]float64{{nan, 1e300, -1e300, math.Inf(1)}})
	for _, m := range []ndimage.Mode{ndimage.Constant, ndimage.GridConstant} {
		y := ndimage.MapCoordinates(weft.From([]float64{1, 2, 4}), at, ndimage.InterpolationOpts{Mode: m, Cval: 7})
		tensortest.Near(t, "places far outside", y, []float64{7, 7, 7, 7}, 0)
	}
}

// TestLargeIntegers demands the order of integers that float64 cannot tell apart.
func TestLargeIntegers(t *testing.T) {
	low, high, lowAt, highAt := ndimage.Extrema(weft.From([]int64{1<<60 + 1, 1<<60 + 3, 1 << 60}))
	if low.ItemInt() != 1<<60 || high.ItemInt() != 1<<60+3 || lowAt[0][0] != 2 || highAt[0][0] != 1 {
		t.Errorf("int64: %v %v %v %v", low, high, lowAt, highAt)
	}
	_, high, _, _ = ndimage.Extrema(weft.From([]uint64{1, math.MaxUint64, math.MaxUint64 - 1}))
	if weft.Data[uint64](high)[0] != math.MaxUint64 {
		t.Errorf("uint64: %v", high)
	}
}

// TestMorphologyUntilNothingChanges demands that many iterations end when nothing changes.
func TestMorphologyUntilNothingChanges(t *testing.T) {
	x := noisy(12).Gt(0.8)
	mask := noisy(12).Gt(-0.5)
	for _, o := range []ndimage.BinaryOpts{{}, {Mask: mask}, {Border: true}, {Structure: weft.Ones(2, 3)}} {
		o.Iterations = new(0)
		a, b := ndimage.BinaryDilation(x, o), ndimage.BinaryErosion(x, o)
		for _, n := range []int{x.Size() - 1, math.MaxInt} {
			o.Iterations = &n
			tensortest.SameBits(t, "dilation", ndimage.BinaryDilation(x, o), a)
			tensortest.SameBits(t, "erosion", ndimage.BinaryErosion(x, o), b)
		}
	}
}
