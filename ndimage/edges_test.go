package ndimage_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"weft"
	"weft/ndimage"
)

// wave is a matrix [6, 5] without order.
func wave() *weft.Tensor {
	return weft.ArangeOf(weft.Float64, 30).Mul(2.1).Add(0.1).Sin().Reshape(6, 5)
}

func window(o ndimage.WindowOpts, size ...int) func() {
	return func() { ndimage.MedianFilter(wave(), size, o) }
}

func zoomed(f float64, o ndimage.InterpolationOpts) func() {
	return func() { ndimage.Zoom(wave(), []float64{f}, o) }
}

func blurred(sigma float64, o ndimage.GaussianOpts) func() {
	return func() { ndimage.GaussianFilter(wave(), []float64{sigma}, o) }
}

func TestErrorsNameTheArgument(t *testing.T) {
	x, nan := wave(), math.NaN()
	odd := weft.From([][]bool{{true, false, true}})
	for _, c := range []struct {
		op, arg string
		f       func()
	}{
		{"gaussian_filter", "x", func() { ndimage.GaussianFilter(nil, []float64{1}) }},
		{"gaussian_filter", "sigma", blurred(-1, ndimage.GaussianOpts{})},
		{"gaussian_filter", "sigma", blurred(nan, ndimage.GaussianOpts{})},
		{"gaussian_filter", "sigma", func() { ndimage.GaussianFilter(x, nil) }},
		{"gaussian_filter", "sigma", func() { ndimage.GaussianFilter(x, []float64{1, 2, 3}) }},
		{"gaussian_filter", "Truncate", blurred(1e8, ndimage.GaussianOpts{})},
		{"gaussian_filter", "Truncate", blurred(1, ndimage.GaussianOpts{Truncate: &nan})},
		{"gaussian_filter", "Radius", blurred(1, ndimage.GaussianOpts{Radius: []int{1 << 30}})},
		{"gaussian_filter", "Radius", blurred(1, ndimage.GaussianOpts{Radius: []int{-1}})},
		{"gaussian_filter", "Order", blurred(1, ndimage.GaussianOpts{Order: []int{1000}})},
		{"gaussian_filter", "Modes", blurred(1, ndimage.GaussianOpts{Modes: []ndimage.Mode{"wrap", "wrap", "wrap"}})},
		{"gaussian_filter1d", "sigma", func() { ndimage.GaussianFilter1D(x, 1e-200, 0) }},
		{"gaussian_filter1d", "axis", func() { ndimage.GaussianFilter1D(x, 1, 2) }},
		{"median_filter", "size", window(ndimage.WindowOpts{})},
		{"median_filter", "size", window(ndimage.WindowOpts{}, 0)},
		{"median_filter", "size", window(ndimage.WindowOpts{}, math.MinInt)},
		{"median_filter", "size", window(ndimage.WindowOpts{}, math.MaxInt)},
		{"median_filter", "size", window(ndimage.WindowOpts{}, 1025)},
		{"median_filter", "size", window(ndimage.WindowOpts{Footprint: odd}, 3)},
		{"median_filter", "Footprint", window(ndimage.WindowOpts{Footprint: weft.Ones(3)})},
		{"median_filter", "Footprint", window(ndimage.WindowOpts{Footprint: weft.Zeros(3, 3)})},
		{"median_filter", "Origin", window(ndimage.WindowOpts{Origin: []int{-2}}, 3)},
		{"median_filter", "Origin", window(ndimage.WindowOpts{Origin: []int{math.MaxInt}}, 3)},
		{"median_filter", "Origin", window(ndimage.WindowOpts{Origin: []int{math.MinInt}}, 3)},
		{"median_filter", "Axes", window(ndimage.WindowOpts{Axes: []int{0, -2}}, 3)},
		{"median_filter", "Mode", window(ndimage.WindowOpts{Mode: "edge"}, 3)},
		{"median_filter", "x", func() { ndimage.MedianFilter(x.To(weft.Complex128), []int{3}) }},
		{"rank_filter", "rank", func() { ndimage.RankFilter(x, 9, []int{3}) }},
		{"percentile_filter", "percentile", func() { ndimage.PercentileFilter(x, nan, []int{3}) }},
		{"uniform_filter", "size", func() { ndimage.UniformFilter(x, []int{1 << 40}) }},
		{"correlate1d", "weights", func() { ndimage.Correlate1D(x, x, 0) }},
		{"correlate1d", "weights", func() { ndimage.Correlate1D(x, weft.Zeros(1<<20+1), 0) }},
		{"convolve1d", "Origin", func() { ndimage.Convolve1D(x, weft.Ones(3), 0, ndimage.LineOpts{Origin: math.MinInt}) }},
		{"correlate", "weights", func() { ndimage.Correlate(x, weft.Zeros(0, 3)) }},
		{"sobel", "axis", func() { ndimage.Sobel(x, 2) }},
		{"morphological_laplace", "x", func() { ndimage.MorphologicalLaplace(x.Gt(0), []int{3}) }},
		{"binary_dilation", "Iterations", func() { ndimage.BinaryDilation(x, ndimage.BinaryOpts{Structure: odd, Iterations: new(1 << 40)}) }},
		{"binary_erosion", "Mask", func() { ndimage.BinaryErosion(x, ndimage.BinaryOpts{Mask: odd}) }},
		{"iterate_structure", "iterations", func() { ndimage.IterateStructure(odd, math.MaxInt) }},
		{"generate_binary_structure", "rank", func() { ndimage.GenerateBinaryStructure(13, 1) }},
		{"label", "Structure", func() { ndimage.Label(x, ndimage.LabelOpts{Structure: weft.Ones(2, 2)}) }},
		{"find_objects", "labels", func() { ndimage.FindObjects(weft.From([]int64{1 << 40})) }},
		{"find_objects", "labels", func() { ndimage.FindObjects(x) }},
		{"distance_transform_edt", "Sampling", func() { ndimage.DistanceTransformEDT(x, ndimage.DistanceOpts{Sampling: []float64{1e-200}}) }},
		{"distance_transform_edt", "Sampling", func() { ndimage.DistanceTransformEDT(x, ndimage.DistanceOpts{Sampling: []float64{1e300}}) }},
		{"distance_transform_cdt", "Metric", func() { ndimage.DistanceTransformCDT(x, ndimage.ChamferOpts{Metric: "manhattan"}) }},
		{"mean", "Labels", func() { ndimage.Mean(x, ndimage.RegionOpts{Labels: weft.Ones(2)}) }},
		{"mean", "Index", func() { ndimage.Mean(x, ndimage.RegionOpts{Index: []int{1}}) }},
		{"center_of_mass", "x", func() { ndimage.CenterOfMass(weft.Scalar(1)) }},
		{"minimum", "x", func() { ndimage.Minimum(x.To(weft.Complex64)) }},
		{"zoom", "zoom", zoomed(-1, ndimage.InterpolationOpts{})},
		{"zoom", "zoom", zoomed(nan, ndimage.InterpolationOpts{})},
		{"zoom", "zoom", zoomed(1e300, ndimage.InterpolationOpts{})},
		{"zoom", "shape", zoomed(1e9, ndimage.InterpolationOpts{})},
		{"zoom", "Order", zoomed(2, ndimage.InterpolationOpts{Order: new(6)})},
		{"rotate", "angle", func() { ndimage.Rotate(x, math.Inf(1)) }},
		{"rotate", "Axes", func() { ndimage.Rotate(x, 30, ndimage.RotateOpts{Axes: [2]int{1, -1}}) }},
		{"shift", "shift", func() { ndimage.Shift(x, []float64{nan}) }},
		{"affine_transform", "matrix", func() { ndimage.AffineTransform(x, [][]float64{{1, 0}}, nil, nil) }},
		{"affine_transform", "shape", func() { ndimage.AffineTransform(x, [][]float64{{1, 0}, {0, 1}}, nil, []int{-1, 2}) }},
		{"affine_transform", "shape", func() { ndimage.AffineTransform(x, [][]float64{{1, 0}, {0, 1}}, nil, []int{1 << 40, 1 << 40}) }},
		{"generic_filter", "f", func() { ndimage.GenericFilter(x, nil) }},
		{"generic_filter1d", "f", func() { ndimage.GenericFilter1D(x, nil, 3) }},
		{"generic_filter1d", "f", func() {
			ndimage.GenericFilter1D(x, func(x *weft.Tensor) *weft.Tensor { return x }, 3)
		}},
		{"generic_filter1d", "size", func() {
			ndimage.GenericFilter1D(x, func(x *weft.Tensor) *weft.Tensor { return x }, 0)
		}},
		{"generic_laplace", "the derivative", func() { ndimage.GenericLaplace(x, nil) }},
		{"generic_gradient_magnitude", "the derivative", func() {
			ndimage.GenericGradientMagnitude(x, func(x *weft.Tensor, axis int, opts ...ndimage.BorderOpts) *weft.Tensor { return x.Sum() })
		}},
		{"vectorized_filter", "f", func() { ndimage.VectorizedFilter(x, nil, []int{3, 3}) }},
		{"vectorized_filter", "f", func() {
			ndimage.VectorizedFilter(x, func(w *weft.Tensor) *weft.Tensor { return w }, []int{3, 3})
		}},
		{"vectorized_filter", "size", func() {
			ndimage.VectorizedFilter(x, func(w *weft.Tensor) *weft.Tensor { return w.Max(-1) }, []int{3, 0})
		}},
		{"watershed_ift", "x", func() { ndimage.WatershedIFT(x, x.To(weft.Int32)) }},
		{"watershed_ift", "markers", func() { ndimage.WatershedIFT(x.To(weft.Uint8), x) }},
		{"watershed_ift", "Structure", func() {
			ndimage.WatershedIFT(x.To(weft.Uint8), x.To(weft.Int32), ndimage.WatershedOpts{Structure: weft.Ones(2, 2)})
		}},
		{"generic_filter", "f", func() { ndimage.GenericFilter(x, functions.Func("Skew")) }},
		{"generic_filter", "f", func() { ndimage.GenericFilter(x, functions.Func("Wrong")) }},
		{"generic_filter", "Neighborhood", func() {
			ndimage.GenericFilter(x, functions.Func("Spread"), ndimage.GenericOpts{Neighborhood: [][2]int{{1, 0}, {0, 0}}})
		}},
		{"geometric_transform", "f", func() { ndimage.GeometricTransform(x, nil) }},
		{"geometric_transform", "f", func() { ndimage.GeometricTransform(x, functions.Func("Skew")) }},
		{"geometric_transform", "f", func() { ndimage.GeometricTransform(x, functions.Func("Spread")) }},
		{"fourier_gaussian", "sigma", func() { ndimage.FourierGaussian(x, []float64{nan}) }},
		{"fourier_uniform", "size", func() { ndimage.FourierUniform(x, []float64{1, 2, 3}) }},
		{"fourier_uniform", "size", func() { ndimage.FourierUniform(x, []float64{-2}) }},
		{"fourier_ellipsoid", "size", func() { ndimage.FourierEllipsoid(x, []float64{2, -1}) }},
		{"fourier_gaussian", "N", func() { ndimage.FourierGaussian(x, []float64{1}, ndimage.FourierOpts{N: new(2 * x.Dim(-1))}) }},
		{"fourier_shift", "N", func() { ndimage.FourierShift(x, []float64{1}, ndimage.FourierOpts{N: new(0)}) }},
		{"fourier_ellipsoid", "x", func() { ndimage.FourierEllipsoid(weft.Ones(1, 1, 1, 1), []float64{1}) }},
		{"histogram", "high", func() { ndimage.Histogram(x, 1, 1, 4) }},
		{"histogram", "bins", func() { ndimage.Histogram(x, 0, 1, 0) }},
		{"value_indices", "x", func() { ndimage.ValueIndices(x) }},
		{"value_indices", "x", func() { ndimage.ValueIndices(weft.From([]uint64{1 << 63})) }},
		{"map_coordinates", "coordinates", func() { ndimage.MapCoordinates(x, weft.Zeros(3, 4)) }},
	} {
		var e *weft.Error
		if err := weft.Try(c.f); !errors.As(err, &e) || e.Op != "ndimage."+c.op || e.Arg != c.arg {
			t.Errorf("%s: %v, want an error of argument %s", c.op, err, c.arg)
		}
	}
}

// TestResultsThatDoNotFit demands an error of memory before any of it is taken.
func TestResultsThatDoNotFit(t *testing.T) {
	for name, f := range map[string]func(){
		"zoom":             func() { ndimage.Zoom(weft.ArangeOf(weft.Float64, 5), []float64{1e11}) },
		"affine_transform": func() { ndimage.AffineTransform(weft.ArangeOf(weft.Float64, 5), [][]float64{{1}}, nil, []int{1e12}) },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// unary are functions of an array of any shape, whose results have it.
var unary = map[string]func(x *weft.Tensor) *weft.Tensor{
	"gaussian_filter":             func(x *weft.Tensor) *weft.Tensor { return ndimage.GaussianFilter(x, []float64{1}) },
	"gaussian_laplace":            func(x *weft.Tensor) *weft.Tensor { return ndimage.GaussianLaplace(x, []float64{1}) },
	"gaussian_gradient_magnitude": func(x *weft.Tensor) *weft.Tensor { return ndimage.GaussianGradientMagnitude(x, []float64{1}) },
	"laplace":                     func(x *weft.Tensor) *weft.Tensor { return ndimage.Laplace(x) },
	"uniform_filter":              func(x *weft.Tensor) *weft.Tensor { return ndimage.UniformFilter(x, []int{3}) },
	"median_filter":               func(x *weft.Tensor) *weft.Tensor { return ndimage.MedianFilter(x, []int{3}) },
	"maximum_filter":              func(x *weft.Tensor) *weft.Tensor { return ndimage.MaximumFilter(x, []int{9}) },
	"grey_opening":                func(x *weft.Tensor) *weft.Tensor { return ndimage.GreyOpening(x, []int{2}) },
	"black_tophat":                func(x *weft.Tensor) *weft.Tensor { return ndimage.BlackTophat(x, []int{2}) },
	"spline_filter":               func(x *weft.Tensor) *weft.Tensor { return ndimage.SplineFilter(x) },
	"binary_erosion":              func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryErosion(x) },
	"binary_propagation":          func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryPropagation(x) },
	"binary_fill_holes":           func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryFillHoles(x) },
	"binary_hit_or_miss":          func(x *weft.Tensor) *weft.Tensor { return ndimage.BinaryHitOrMiss(x) },
	"label":                       func(x *weft.Tensor) *weft.Tensor { y, _ := ndimage.Label(x); return y },
	"distance_transform_edt":      func(x *weft.Tensor) *weft.Tensor { y, _ := ndimage.DistanceTransformEDT(x); return y },
	"distance_transform_cdt":      func(x *weft.Tensor) *weft.Tensor { return ndimage.DistanceTransformCDT(x) },
}

func TestEmptyArraysAndScalars(t *testing.T) {
	for name, f := range unary {
		for _, shape := range [][]int{{}, {0}, {0, 4}, {3, 0, 2}, {1}, {1, 1, 1}} {
			for _, d := range []weft.DType{weft.Float64, weft.Float16, weft.Uint8, weft.Bool} {
				if y := f(weft.OnesOf(d, shape...)); fmt.Sprint(y.Shape()) != fmt.Sprint(shape) {
					t.Errorf("%s of %s %v: shape %v", name, d, shape, y.Shape())
				}
			}
		}
	}
	none := weft.ZerosOf(weft.Float64, 0, 4)
	for _, o := range []ndimage.RegionOpts{{}, {Labels: none.To(weft.Int32)}, {Labels: none.To(weft.Int32), Index: []int{}}, {Labels: none.To(weft.Int32), Index: []int{7, -1}}} {
		low, high, lowAt, highAt := ndimage.Extrema(none, o)
		if low.Sum().Item() != 0 || high.Sum().Item() != 0 || len(lowAt) != low.Size() || len(highAt) != low.Size() {
			t.Errorf("extrema of nothing: %v %v %v %v", low, high, lowAt, highAt)
		}
		if m, c := ndimage.Mean(none, o), ndimage.CenterOfMass(none, o); m.Size() != low.Size() || m.IsNaN().All().ItemInt() != 1 || c.Size() != 2*low.Size() {
			t.Errorf("mean %v and centre %v of nothing", m, c)
		}
	}
	for _, f := range []float64{0, 1e-9} {
		if y := ndimage.Zoom(wave(), []float64{f}); y.Size() != 0 {
			t.Errorf("zoom by %g: %v", f, y.Shape())
		}
	}
}

// TestUniformFilterOfLongWindows compares means of windows of several digits, and of windows longer than the array,
// with sums in Go.
func TestUniformFilterOfLongWindows(t *testing.T) {
	const n = 1500
	x := weft.ArangeOf[float64](weft.Float64, n).Mul(0.7).Sin()
	v := weft.Data[float64](x)
	for _, size := range []int{31, 33, 64, 100, 513, 4099} {
		y := weft.Data[float64](ndimage.UniformFilter1D(x, size, 0, ndimage.LineOpts{Mode: ndimage.Nearest}))
		for i := range n {
			sum := 0.0
			for k := i - size/2; k < i-size/2+size; k++ {
				sum += v[min(max(k, 0), n-1)]
			}
			if want := sum / float64(size); math.Abs(y[i]-want) > 1e-13 {
				t.Fatalf("size %d: mean %d is %v, want %v", size, i, y[i], want)
			}
		}
	}
}

// TestFunctionsThatDivideByZero runs a filter where Go would panic.
func TestFunctionsThatDivideByZero(t *testing.T) {
	if y := ndimage.GenericFilter(weft.From([]int32{7, 8, 9}), functions.Func("Wrong")); fmt.Sprint(y) != "[0 0 0]" {
		t.Errorf("%v, want zeros", y)
	}
}

// TestGenericFiltersOfNothing demands the shape of the input, and a gradient of the function.
func TestGenericFiltersOfNothing(t *testing.T) {
	if y := ndimage.GenericFilter(weft.ZerosOf(weft.Float64, 0, 4), functions.Func("Spread")); fmt.Sprint(y.Shape()) != "[0 4]" {
		t.Errorf("shape %v", y.Shape())
	}
	y := ndimage.GeometricTransform(weft.OnesOf(weft.Float64, 3, 4), functions.Func("Skew"), ndimage.GeometricOpts{Args: []any{1.0}, Shape: []int{0, 2}})
	if fmt.Sprint(y.Shape()) != "[0 2]" {
		t.Errorf("shape %v", y.Shape())
	}
	x := weft.ArangeOf[int](weft.Float64, 12).Reshape(3, 4).RequireGrad()
	ndimage.GenericFilter(x, functions.Func("Spread")).Sum().Backward()
	if got := x.Grad().Sum().Item(); math.Abs(got+6) > 1e-12 { // 1 - 2 + 0.5 for each of 12 elements
		t.Errorf("the gradients add up to %v, want -6", got)
	}
}

// TestUnsignedResultsWrap compares differences of uint64 with differences of int64, bit by bit.
func TestUnsignedResultsWrap(t *testing.T) {
	x := weft.From([]int64{5, 1, 7, 0, 2})
	for k, f := range []func(x *weft.Tensor) *weft.Tensor{
		func(x *weft.Tensor) *weft.Tensor { return ndimage.Laplace(x) },
		func(x *weft.Tensor) *weft.Tensor { return ndimage.Prewitt(x, 0) },
	} {
		if got, want := f(x.To(weft.Uint64)).To(weft.Int64), f(x); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("filter %d: %v, want %v", k, got, want)
		}
	}
}

// TestGenericFilter1DOfNothing asks for shapes and types of results of empty arrays, whose lines a function still gets.
func TestGenericFilter1DOfNothing(t *testing.T) {
	sums := func(lines *weft.Tensor) *weft.Tensor {
		return lines.To(weft.Complex64).SlidingWindowView(-1, 3).Sum(-1)
	}
	for _, mode := range []ndimage.Mode{ndimage.Reflect, ndimage.Mirror, ndimage.Nearest, ndimage.Wrap, ndimage.Constant} {
		for _, shape := range [][]int{{0}, {2, 0}, {0, 2}} {
			for axis := range shape {
				y := ndimage.GenericFilter1D(weft.Zeros(shape...), sums, 3, ndimage.Filter1DOpts{Mode: mode, Axis: &axis})
				if !slices.Equal(y.Shape(), shape) || y.DType() != weft.Complex64 {
					t.Errorf("%s, %v: %s of shape %v", mode, shape, y.DType(), y.Shape())
				}
			}
		}
	}
}

// TestVectorizedFilterInBlocks holds that windows of more elements than are in memory at once have their places in the
// middle.
func TestVectorizedFilterInBlocks(t *testing.T) {
	x := weft.ArangeOf(weft.Float32, 64*64).Reshape(64, 64)
	middle := func(w *weft.Tensor) *weft.Tensor { return w.MoveAxis(-1, 0).At(35 * 31 / 2) }
	if y := ndimage.VectorizedFilter(x, middle, []int{35, 31}); y.Ne(x).Any().Item() != 0 {
		t.Error(y)
	}
}

// The filters are linear: a filtered complex array has the filtered parts of the array.
func TestUniformFilterOfComplex(t *testing.T) {
	re, im := weft.NewGenerator(1).RandnOf(weft.Float64, 4, 50), weft.NewGenerator(2).RandnOf(weft.Float64, 4, 50)
	for _, d := range []weft.DType{weft.Float64, weft.Float32} {
		re, im := re.To(d), im.To(d)
		for _, n := range []int{2, 3, 5, 40} {
			filtered := func(x *weft.Tensor) *weft.Tensor { return ndimage.UniformFilter1D(x, n, 1) }
			got, wantRe, wantIm := filtered(weft.Complex(re, im)), filtered(re), filtered(im)
			if e := max(got.Real().Sub(wantRe).Abs().Max().Item(), got.Imag().Sub(wantIm).Abs().Max().Item()); e > 2e-7 || d == weft.Float64 && e > 1e-15 {
				t.Errorf("%s, windows of %d: off by %g", d, n, e)
			}
		}
	}
}
