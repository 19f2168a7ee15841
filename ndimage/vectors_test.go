package ndimage_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/ndimage"
)

// testdata/make.py describes the cases of vectors.json.gz.
type vector struct {
	name string
	args []any
	kw   map[string]any
	want []any
}

var vectors = sync.OnceValues(func() (out []vector, err error) {
	f, err := os.Open("testdata/vectors.json.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	var file struct {
		Cases [][]any `json:"cases"`
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		return nil, err
	}
	for _, c := range file.Cases {
		out = append(out, vector{c[0].(string), c[1].([]any), c[2].(map[string]any), c[3].([]any)})
	}
	return out, nil
})

var dtypes = map[string]weft.DType{"float64": weft.Float64, "float32": weft.Float32, "complex128": weft.Complex128, "bool": weft.Bool,
	"uint8": weft.Uint8, "uint16": weft.Uint16, "int16": weft.Int16, "int32": weft.Int32, "int64": weft.Int64,
	"uint64": weft.Uint64, "uint32": weft.Uint32, "complex64": weft.Complex64}

// tensor is an array of the file, nil for None.
func tensor(v any) *weft.Tensor {
	if v == nil {
		return nil
	}
	if x, ok := v.(float64); ok {
		return weft.ScalarOf(weft.Float64, x)
	}
	m := v.(map[string]any)
	d, ok := dtypes[m["t"].(string)]
	if !ok {
		panic("no type " + m["t"].(string))
	}
	x, shape := numbers(m["d"]), ints(m["s"])
	if d.Complex() {
		c := make([]complex128, len(x)/2)
		for i := range c {
			c[i] = complex(x[2*i], x[2*i+1])
		}
		return weft.FromSlice(c, shape...).To(d)
	}
	return weft.FromSlice(x, len(x)).Reshape(shape...).To(d)
}

// numbers is a list of the file, or a number as a list of one.
func numbers(v any) []float64 {
	if v == nil {
		return nil
	}
	if x, ok := v.(float64); ok {
		return []float64{x}
	}
	if m, ok := v.(map[string]any); ok { // an array
		return numbers(m["d"])
	}
	out := []float64{}
	for _, x := range v.([]any) {
		if x == nil {
			x = math.NaN()
		}
		out = append(out, x.(float64))
	}
	return out
}

func ints(v any) []int {
	if v == nil {
		return nil
	}
	out := []int{}
	for _, x := range numbers(v) {
		out = append(out, int(x))
	}
	return out
}

func (v vector) num(name string, or float64) float64 {
	if x, ok := v.kw[name].(float64); ok {
		return x
	}
	return or
}

func (v vector) int(name string, or int) int { return int(v.num(name, float64(or))) }

func (v vector) mode() ndimage.Mode { s, _ := v.kw["mode"].(string); return ndimage.Mode(s) }

func (v vector) modes() (out []ndimage.Mode) {
	list, _ := v.kw["mode"].([]any)
	for _, m := range list {
		out = append(out, ndimage.Mode(m.(string)))
	}
	return out
}

func (v vector) x() *weft.Tensor { return tensor(v.args[0]) }

func (v vector) line() ndimage.LineOpts {
	return ndimage.LineOpts{Mode: v.mode(), Cval: v.num("cval", 0), Origin: v.int("origin", 0)}
}

func (v vector) gaussian() ndimage.GaussianOpts {
	o := ndimage.GaussianOpts{Order: ints(v.kw["order"]), Radius: ints(v.kw["radius"]), Axes: ints(v.kw["axes"]), Mode: v.mode(), Modes: v.modes(), Cval: v.num("cval", 0)}
	if x, ok := v.kw["truncate"].(float64); ok {
		o.Truncate = &x
	}
	return o
}

// calls are the functions of the package by SciPy's name.
var calls = map[string]func(v vector) []*weft.Tensor{
	"gaussian_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.GaussianFilter(v.x(), numbers(v.args[1]), v.gaussian()))
	},
	"gaussian_filter1d": func(v vector) []*weft.Tensor {
		return one(ndimage.GaussianFilter1D(v.x(), v.args[1].(float64), v.int("axis", -1), ndimage.Gaussian1DOpts{Order: v.int("order", 0), Mode: v.mode(), Cval: v.num("cval", 0)}))
	},
	"correlate1d": func(v vector) []*weft.Tensor {
		return one(ndimage.Correlate1D(v.x(), tensor(v.args[1]), v.int("axis", -1), v.line()))
	},
	"convolve1d": func(v vector) []*weft.Tensor {
		return one(ndimage.Convolve1D(v.x(), tensor(v.args[1]), v.int("axis", -1), v.line()))
	},
	"correlate":      func(v vector) []*weft.Tensor { return one(ndimage.Correlate(v.x(), tensor(v.args[1]), v.filter())) },
	"convolve":       func(v vector) []*weft.Tensor { return one(ndimage.Convolve(v.x(), tensor(v.args[1]), v.filter())) },
	"uniform_filter": func(v vector) []*weft.Tensor { return one(ndimage.UniformFilter(v.x(), ints(v.args[1]), v.filter())) },
	"uniform_filter1d": func(v vector) []*weft.Tensor {
		return one(ndimage.UniformFilter1D(v.x(), int(v.args[1].(float64)), v.int("axis", -1), v.line()))
	},
	"sobel":   func(v vector) []*weft.Tensor { return one(ndimage.Sobel(v.x(), v.int("axis", -1), v.border())) },
	"prewitt": func(v vector) []*weft.Tensor { return one(ndimage.Prewitt(v.x(), v.int("axis", -1), v.border())) },
	"laplace": func(v vector) []*weft.Tensor { return one(ndimage.Laplace(v.x(), v.border())) },
	"gaussian_laplace": func(v vector) []*weft.Tensor {
		return one(ndimage.GaussianLaplace(v.x(), numbers(v.args[1]), v.gaussian()))
	},
	"gaussian_gradient_magnitude": func(v vector) []*weft.Tensor {
		return one(ndimage.GaussianGradientMagnitude(v.x(), numbers(v.args[1]), v.gaussian()))
	},
	"median_filter": func(v vector) []*weft.Tensor { return one(ndimage.MedianFilter(v.x(), ints(v.kw["size"]), v.window())) },
	"minimum_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.MinimumFilter(v.x(), ints(v.kw["size"]), v.window()))
	},
	"maximum_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.MaximumFilter(v.x(), ints(v.kw["size"]), v.window()))
	},
	"rank_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.RankFilter(v.x(), int(v.args[1].(float64)), ints(v.kw["size"]), v.window()))
	},
	"percentile_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.PercentileFilter(v.x(), v.args[1].(float64), ints(v.kw["size"]), v.window()))
	},
	"minimum_filter1d": func(v vector) []*weft.Tensor {
		return one(ndimage.MinimumFilter1D(v.x(), int(v.args[1].(float64)), v.int("axis", -1), v.line()))
	},
	"maximum_filter1d": func(v vector) []*weft.Tensor {
		return one(ndimage.MaximumFilter1D(v.x(), int(v.args[1].(float64)), v.int("axis", -1), v.line()))
	},
	"map_coordinates": func(v vector) []*weft.Tensor {
		return one(ndimage.MapCoordinates(v.x(), tensor(v.args[1]), v.spline()))
	},
	"spline_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.SplineFilter(v.x(), ndimage.SplineOpts{Order: v.spline().Order, Mode: v.mode()}))
	},
	"spline_filter1d": func(v vector) []*weft.Tensor {
		return one(ndimage.SplineFilter1D(v.x(), v.int("axis", -1), ndimage.SplineOpts{Order: v.spline().Order, Mode: v.mode()}))
	},
	"zoom":  func(v vector) []*weft.Tensor { return one(ndimage.Zoom(v.x(), numbers(v.args[1]), v.spline())) },
	"shift": func(v vector) []*weft.Tensor { return one(ndimage.Shift(v.x(), numbers(v.args[1]), v.spline())) },
	"rotate": func(v vector) []*weft.Tensor {
		o := ndimage.RotateOpts{Order: v.spline().Order, Mode: v.mode(), Cval: v.num("cval", 0)}
		if a := ints(v.kw["axes"]); a != nil {
			o.Axes = [2]int(a)
		}
		reshape, ok := v.kw["reshape"].(bool)
		o.KeepShape = ok && !reshape
		return one(ndimage.Rotate(v.x(), v.args[1].(float64), o))
	},
	"affine_transform": func(v vector) []*weft.Tensor {
		m := numbers(v.args[1])
		return one(ndimage.AffineTransform(v.x(), [][]float64{m[:2], m[2:]}, numbers(v.args[2]), nil, v.spline()))
	},
	"label": func(v vector) []*weft.Tensor {
		labels, n := ndimage.Label(v.x(), ndimage.LabelOpts{Structure: tensor(v.kw["structure"])})
		return []*weft.Tensor{labels, weft.ScalarOf(weft.Float64, n)}
	},
	"distance_transform_edt": func(v vector) []*weft.Tensor {
		d, _ := ndimage.DistanceTransformEDT(v.x(), ndimage.DistanceOpts{Sampling: numbers(v.kw["sampling"])})
		return one(d)
	},
	"distance_transform_cdt": func(v vector) []*weft.Tensor {
		metric, _ := v.kw["metric"].(string)
		return one(ndimage.DistanceTransformCDT(v.x(), ndimage.ChamferOpts{Metric: metric}))
	},
	"fourier_gaussian":  fourier(ndimage.FourierGaussian),
	"fourier_uniform":   fourier(ndimage.FourierUniform),
	"fourier_ellipsoid": fourier(ndimage.FourierEllipsoid),
	"fourier_shift":     fourier(ndimage.FourierShift),
	"histogram": func(v vector) []*weft.Tensor {
		o := ndimage.RegionOpts{Labels: tensor(v.kw["labels"]), Index: ints(v.kw["index"])}
		y := ndimage.Histogram(v.x(), v.args[1].(float64), v.args[2].(float64), int(v.args[3].(float64)), o)
		if o.Index == nil {
			return one(y)
		}
		var rows []*weft.Tensor // SciPy's is an array of arrays
		for i := range o.Index {
			rows = append(rows, y.Slice(weft.Index(i)))
		}
		return rows
	},
	"value_indices": func(v vector) []*weft.Tensor {
		o := ndimage.ValueOpts{}
		if n, ok := v.kw["ignore"].(float64); ok {
			o.Ignore = new(int64(n))
		}
		var rows []*weft.Tensor
		found := ndimage.ValueIndices(v.x(), o)
		for _, k := range slices.Sorted(maps.Keys(found)) {
			at := found[k]
			rows = append(rows, weft.Stack(append([]*weft.Tensor{weft.FullOf(weft.Int64, k, at[0].Size())}, at...), 1))
		}
		return one(weft.Cat(rows, 0))
	},
	"generic_filter1d": func(v vector) []*weft.Tensor {
		size := v.int("size", 0)
		return one(ndimage.GenericFilter1D(v.x(), func(lines *weft.Tensor) *weft.Tensor {
			return lines.SlidingWindowView(1, size).Max(-1).Mul(lines.Slice(weft.All, weft.Range(0, 1)))
		}, size, ndimage.Filter1DOpts{Axis: new(v.int("axis", -1)), Mode: v.mode(), Cval: v.num("cval", 0), Origin: v.int("origin", 0)}))
	},
	"generic_laplace": func(v vector) []*weft.Tensor {
		return one(ndimage.GenericLaplace(v.x(), func(x *weft.Tensor, axis int, opts ...ndimage.BorderOpts) *weft.Tensor {
			return ndimage.Correlate1D(x, weft.From([]float64{1, -2.5, 1, 0.5, 0}), axis, ndimage.LineOpts{Mode: opts[0].Mode, Cval: opts[0].Cval})
		}, v.border()))
	},
	"generic_gradient_magnitude": func(v vector) []*weft.Tensor {
		return one(ndimage.GenericGradientMagnitude(v.x(), ndimage.Prewitt, v.border()))
	},
	"vectorized_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.VectorizedFilter(v.x(), func(w *weft.Tensor) *weft.Tensor { return w.Max(-1).Sub(w.Min(-1)) }, []int{3, 4},
			ndimage.FilterOpts{Mode: v.mode(), Cval: v.num("cval", 0), Origin: ints(v.kw["origin"])}))
	},
	"watershed_ift": func(v vector) []*weft.Tensor {
		return one(ndimage.WatershedIFT(v.x(), tensor(v.args[1]), ndimage.WatershedOpts{Structure: tensor(v.kw["structure"])}))
	},
	"generic_filter": func(v vector) []*weft.Tensor {
		return one(ndimage.GenericFilter(v.x(), functions.Func("Spread"), ndimage.GenericOpts{Mode: v.mode(), Cval: v.num("cval", 0), Origin: ints(v.kw["origin"])}))
	},
	"geometric_transform": func(v vector) []*weft.Tensor {
		return one(ndimage.GeometricTransform(v.x(), functions.Func("Skew"), ndimage.GeometricOpts{Args: []any{0.8}, Shape: []int{4, 7}, Mode: v.mode(), Cval: v.num("cval", 0)}))
	},
	"sum_labels":             region(ndimage.SumLabels),
	"mean":                   region(ndimage.Mean),
	"variance":               region(ndimage.Variance),
	"standard_deviation":     region(ndimage.StandardDeviation),
	"center_of_mass":         region(ndimage.CenterOfMass),
	"minimum":                region(ndimage.Minimum),
	"maximum":                region(ndimage.Maximum),
	"median":                 region(ndimage.Median),
	"grey_erosion":           grey(ndimage.GreyErosion),
	"grey_dilation":          grey(ndimage.GreyDilation),
	"grey_opening":           grey(ndimage.GreyOpening),
	"grey_closing":           grey(ndimage.GreyClosing),
	"morphological_gradient": grey(ndimage.MorphologicalGradient),
	"morphological_laplace":  grey(ndimage.MorphologicalLaplace),
	"white_tophat":           grey(ndimage.WhiteTophat),
	"black_tophat":           grey(ndimage.BlackTophat),
	"generate_binary_structure": func(v vector) []*weft.Tensor {
		return one(ndimage.GenerateBinaryStructure(int(v.args[0].(float64)), int(v.args[1].(float64))))
	},
	"iterate_structure":  func(v vector) []*weft.Tensor { return one(ndimage.IterateStructure(v.x(), int(v.args[1].(float64)))) },
	"binary_erosion":     func(v vector) []*weft.Tensor { return one(ndimage.BinaryErosion(v.x(), v.binary())) },
	"binary_dilation":    func(v vector) []*weft.Tensor { return one(ndimage.BinaryDilation(v.x(), v.binary())) },
	"binary_opening":     func(v vector) []*weft.Tensor { return one(ndimage.BinaryOpening(v.x(), v.binary())) },
	"binary_closing":     func(v vector) []*weft.Tensor { return one(ndimage.BinaryClosing(v.x(), v.binary())) },
	"binary_propagation": func(v vector) []*weft.Tensor { return one(ndimage.BinaryPropagation(v.x(), v.binary())) },
	"binary_fill_holes": func(v vector) []*weft.Tensor {
		return one(ndimage.BinaryFillHoles(v.x(), ndimage.FillOpts{Structure: tensor(v.kw["structure"])}))
	},
	"binary_hit_or_miss": func(v vector) []*weft.Tensor {
		return one(ndimage.BinaryHitOrMiss(v.x(), ndimage.HitOpts{Hit: tensor(v.kw["structure1"]), Miss: tensor(v.kw["structure2"]),
			HitOrigin: ints(v.kw["origin1"]), MissOrigin: ints(v.kw["origin2"])}))
	},
}

func fourier(f func(x *weft.Tensor, per []float64, opts ...ndimage.FourierOpts) *weft.Tensor) func(v vector) []*weft.Tensor {
	return func(v vector) []*weft.Tensor {
		o := ndimage.FourierOpts{Axis: new(v.int("axis", -1))}
		if n := v.int("n", -1); n >= 0 {
			o.N = &n
		}
		return one(f(v.x(), numbers(v.args[1]), o))
	}
}

func grey(f func(x *weft.Tensor, size []int, opts ...ndimage.GreyOpts) *weft.Tensor) func(v vector) []*weft.Tensor {
	return func(v vector) []*weft.Tensor {
		return one(f(v.x(), ints(v.kw["size"]), ndimage.GreyOpts{Footprint: tensor(v.kw["footprint"]), Structure: tensor(v.kw["structure"]),
			Mode: v.mode(), Cval: v.num("cval", 0), Origin: ints(v.kw["origin"]), Axes: ints(v.kw["axes"])}))
	}
}

func region(f func(x *weft.Tensor, opts ...ndimage.RegionOpts) *weft.Tensor) func(v vector) []*weft.Tensor {
	return func(v vector) []*weft.Tensor {
		return one(f(v.x(), ndimage.RegionOpts{Labels: tensor(v.kw["labels"]), Index: ints(v.kw["index"])}))
	}
}

func (v vector) spline() ndimage.InterpolationOpts {
	grid, _ := v.kw["grid_mode"].(bool)
	return ndimage.InterpolationOpts{Order: new(v.int("order", 3)), Mode: v.mode(), Cval: v.num("cval", 0), GridMode: grid}
}

func (v vector) filter() ndimage.FilterOpts {
	return ndimage.FilterOpts{Mode: v.mode(), Modes: v.modes(), Cval: v.num("cval", 0), Origin: ints(v.kw["origin"]), Axes: ints(v.kw["axes"])}
}

func (v vector) window() ndimage.WindowOpts {
	return ndimage.WindowOpts{Footprint: tensor(v.kw["footprint"]), Mode: v.mode(), Modes: v.modes(), Cval: v.num("cval", 0), Origin: ints(v.kw["origin"]), Axes: ints(v.kw["axes"])}
}

func (v vector) border() ndimage.BorderOpts {
	return ndimage.BorderOpts{Mode: v.mode(), Modes: v.modes(), Cval: v.num("cval", 0), Axes: ints(v.kw["axes"])}
}

func (v vector) binary() ndimage.BinaryOpts {
	return ndimage.BinaryOpts{Structure: tensor(v.kw["structure"]), Iterations: new(v.int("iterations", 1)), Mask: tensor(v.kw["mask"]),
		Border: v.num("border_value", 0) != 0, Origin: ints(v.kw["origin"])}
}

func one(t *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{t} }

// bound is the error that results are allowed, of the largest element. SciPy's coefficients of splines in mode reflect
// have an error in short arrays: TestSplinesMeetElements proves ours.
func (v vector) bound(d weft.DType) float64 {
	_, spline := v.kw["order"]
	spline = spline || v.name == "zoom" || v.name == "shift" || v.name == "rotate"
	switch m := v.mode(); {
	case spline && d.Float() && v.name != "gaussian_filter1d" && v.int("order", 3) > 1 && (m == ndimage.Reflect || m == ndimage.GridMirror):
		return 5e-3
	case v.name == "fourier_ellipsoid": // SciPy's Bessel function is good to 1e-8
		return 1e-7
	case d == weft.Float32, d == weft.Complex64:
		return 1e-6
	case d.Float(), d.Complex():
		return 1e-12
	}
	return 0
}

func TestScipysResults(t *testing.T) {
	list, err := vectors()
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		f := calls[v.name]
		if f == nil {
			t.Errorf("no call of %s", v.name)
			continue
		}
		t.Run(fmt.Sprintf("%s/%d", v.name, i), func(t *testing.T) {
			got := f(v)
			if len(got) != len(v.want) {
				t.Fatalf("%d results, want %d", len(got), len(v.want))
			}
			for k, y := range got {
				want := tensor(v.want[k])
				if v.name == "center_of_mass" {
					want = weft.FromSlice(numbers(v.want[k]), y.Shape()...)
				}
				if err := same(y, want, v.bound(y.DType())); err != "" {
					t.Errorf("result %d: %s\noptions %v", k, err, v.kw)
				}
			}
		})
	}
}

// same compares a result with SciPy's.
func same(got, want *weft.Tensor, tolerance float64) string {
	if got.DType() != want.DType() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		return fmt.Sprintf("is %s %v, want %s %v", got.DType(), got.Shape(), want.DType(), want.Shape())
	}
	if got.DType().Complex() {
		if s := same(got.Real(), want.Real(), tolerance); s != "" {
			return s
		}
		return same(got.Imag(), want.Imag(), tolerance)
	}
	a, b := weft.Data[float64](got.To(weft.Float64)), weft.Data[float64](want.To(weft.Float64))
	largest := 1.0
	for _, x := range b {
		if !math.IsInf(x, 0) {
			largest = max(largest, math.Abs(x))
		}
	}
	for i := range b {
		if a[i] != b[i] && !(math.Abs(a[i]-b[i]) <= tolerance*largest) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			return fmt.Sprintf("element %d is %v, want %v; %v, want %v", i, a[i], b[i], clip(a), clip(b))
		}
	}
	return ""
}

func clip(x []float64) []float64 { return x[:min(len(x), 40)] }
