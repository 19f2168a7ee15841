package ndimage_test

import (
	"math"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ndimage"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// TestSplinesMeetElements demands that a spline through elements has their values at their places.
func TestSplinesMeetElements(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 40} {
		x := weft.ArangeOf(weft.Float64, n).Mul(1.7).Sin()
		at := weft.ArangeOf(weft.Float64, n).Reshape(1, n)
		for order := range 6 {
			for _, m := range []ndimage.Mode{ndimage.Reflect, ndimage.Mirror, ndimage.GridWrap, ndimage.Constant, ndimage.Wrap, ndimage.GridMirror} {
				y := ndimage.MapCoordinates(x, at, ndimage.InterpolationOpts{Order: &order, Mode: m})
				if e := y.Sub(x).Abs().Max().Item(); e > 1e-13 {
					t.Errorf("%d elements, order %d, %s: off by %g", n, order, m, e)
				}
			}
		}
	}
}

// slopes compares gradients of f with differences.
func slopes(t *testing.T, name string, x *weft.Tensor, f func(x *weft.Tensor) *weft.Tensor) {
	t.Helper()
	weight := func(y *weft.Tensor) *weft.Tensor {
		return y.Mul(weft.ArangeOf(weft.Float64, y.Size()).Mul(1.3).Cos().Reshape(y.Shape()...)).Sum()
	}
	a := x.Clone().RequireGrad()
	weight(f(a)).Backward()
	g := weft.Data[float64](a.Grad().Contiguous())
	const h = 1e-5
	data := weft.Data[float64](x.Contiguous())
	for i := range data {
		at := func(d float64) float64 {
			moved := append([]float64{}, data...)
			moved[i] += d
			return weight(f(weft.FromSlice(moved, x.Shape()...))).Item()
		}
		if want := (at(h) - at(-h)) / (2 * h); math.Abs(g[i]-want) > 1e-6*(1+math.Abs(want)) {
			t.Errorf("%s: gradient %d is %v, differences give %v", name, i, g[i], want)
			return
		}
	}
}

func TestGradients(t *testing.T) {
	x := weft.ArangeOf(weft.Float64, 30).Mul(2.1).Add(0.1).Sin().Reshape(6, 5)
	places := weft.From([][]float64{{0.3, 2.2, -1.7, 7.4, 3.6}, {1.1, 3.9, 0.4, -2.3, 6.2}})
	for _, m := range []ndimage.Mode{ndimage.Reflect, ndimage.Mirror, ndimage.Wrap, ndimage.GridWrap, ndimage.Constant, ndimage.Nearest, ndimage.GridConstant} {
		for _, order := range []int{1, 2, 3, 5} {
			o := ndimage.InterpolationOpts{Order: &order, Mode: m, Cval: 0.5}
			slopes(t, "input "+string(m), x, func(x *weft.Tensor) *weft.Tensor { return ndimage.MapCoordinates(x, places, o) })
			slopes(t, "coordinates "+string(m), places, func(p *weft.Tensor) *weft.Tensor { return ndimage.MapCoordinates(x, p, o) })
		}
		slopes(t, "gaussian_filter "+string(m), x, func(x *weft.Tensor) *weft.Tensor {
			return ndimage.GaussianFilter(x, []float64{1}, ndimage.GaussianOpts{Mode: m})
		})
		slopes(t, "zoom "+string(m), x, func(x *weft.Tensor) *weft.Tensor {
			return ndimage.Zoom(x, []float64{1.5}, ndimage.InterpolationOpts{Mode: m})
		})
		slopes(t, "median_filter "+string(m), x, func(x *weft.Tensor) *weft.Tensor {
			return ndimage.MedianFilter(x, []int{3}, ndimage.WindowOpts{Mode: m})
		})
		slopes(t, "maximum_filter "+string(m), x, func(x *weft.Tensor) *weft.Tensor {
			return ndimage.MaximumFilter(x, []int{3}, ndimage.WindowOpts{Mode: m})
		})
	}
	slopes(t, "mean", x, func(x *weft.Tensor) *weft.Tensor { return ndimage.Mean(x) })
}

// A mask that is enlarged is true where its spline is nearer to 1 than to 0, and where the mask is.
func TestZoomOfMask(t *testing.T) {
	mask := weft.From([]bool{false, false, true, true, false, false, true, false, false})
	for order := range 4 {
		y := ndimage.Zoom(mask, []float64{17.0 / 9}, ndimage.InterpolationOpts{Order: &order})
		for i, want := range weft.Data[bool](mask) {
			if got := weft.Data[bool](y)[2*i]; got != want {
				t.Errorf("order %d, element %d: %v, want %v", order, i, got, want)
			}
		}
		if got := weft.Data[bool](y); !got[5] || got[9] {
			t.Errorf("order %d: %v", order, got)
		}
	}
}
