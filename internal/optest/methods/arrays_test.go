package methods_test

import (
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft"
)

type tensors = []*weft.Tensor

// an arrayCase calls what NumPy and SciPy have by the same name.
type arrayCase func(x tensors, n []float64) tensors

func whole(n []float64) (out []int) {
	for _, v := range n {
		out = append(out, int(v))
	}
	return out
}

// over is a reduction over the axes that numbers name.
func over(f func(t *weft.Tensor, axes ...int) *weft.Tensor) arrayCase {
	return func(x tensors, n []float64) tensors { return tensors{f(x[0], whole(n)...)} }
}

// ofAxis is a function of an axis.
func ofAxis(f func(t *weft.Tensor, axis int) *weft.Tensor) arrayCase {
	return func(x tensors, n []float64) tensors { return tensors{f(x[0], int(n[0]))} }
}

func ofOne(f func(t *weft.Tensor) *weft.Tensor) arrayCase {
	return func(x tensors, _ []float64) tensors { return tensors{f(x[0])} }
}

// ofTwo is a function of two tensors, and ofAny of a tensor and a tensor or a number.
func ofTwo(f func(t, x *weft.Tensor) *weft.Tensor) arrayCase {
	return func(x tensors, _ []float64) tensors { return tensors{f(x[0], x[1])} }
}

func ofAny(f func(t *weft.Tensor, x any) *weft.Tensor) arrayCase {
	return func(x tensors, _ []float64) tensors { return tensors{f(x[0], x[1])} }
}

// spacing is the second argument, or the number behind at others.
func spacing(x tensors, n []float64, at int) any {
	if len(x) > 1 {
		return x[1]
	}
	return n[at]
}

// alongPlaces is a function of an axis and the places of elements along it.
func alongPlaces(f func(t *weft.Tensor, axis int, spacing any) *weft.Tensor) arrayCase {
	return func(x tensors, n []float64) tensors { return list(f(x[0], int(n[0]), spacing(x, n, 1))) }
}

// corrected is a variance with the correction that the first number is; 1 has a name of its own.
func corrected(sample func(t *weft.Tensor, axes ...int) *weft.Tensor, f func(t *weft.Tensor, correction int, axes ...int) *weft.Tensor) arrayCase {
	return func(x tensors, n []float64) tensors {
		if n[0] == 1 {
			return tensors{sample(x[0], whole(n[1:])...)}
		}
		return tensors{f(x[0], int(n[0]), whole(n[1:])...)}
	}
}

var arrayCases = map[string]arrayCase{
	"nansum": over((*weft.Tensor).NanSum), "nanprod": over((*weft.Tensor).NanProd), "nanmean": over((*weft.Tensor).NanMean), "nanvar": over((*weft.Tensor).NanVar),
	"nanstd": over((*weft.Tensor).NanStd), "nanmin": over((*weft.Tensor).NanMin), "nanmax": over((*weft.Tensor).NanMax), "nanmedian": over((*weft.Tensor).NanMedian),
	"nanargmin": over((*weft.Tensor).NanArgMin), "nanargmax": over((*weft.Tensor).NanArgMax), "ptp": over((*weft.Tensor).Ptp),
	"nancumsum": ofAxis((*weft.Tensor).NanCumSum), "nancumprod": ofAxis((*weft.Tensor).NanCumProd), "unwrap": ofAxis((*weft.Tensor).Unwrap), "logcumsumexp": ofAxis((*weft.Tensor).LogCumSumExp),
	"trace": ofAxis((*weft.Tensor).Trace), "roundto": ofAxis((*weft.Tensor).RoundTo),
	"cbrt": ofOne((*weft.Tensor).Cbrt), "sinc": ofOne((*weft.Tensor).Sinc), "degrees": ofOne((*weft.Tensor).Degrees), "radians": ofOne((*weft.Tensor).Radians),
	"spacing": ofOne((*weft.Tensor).Spacing), "signbit": ofOne((*weft.Tensor).SignBit), "logit": ofOne((*weft.Tensor).Logit), "argwhere": ofOne(weft.ArgWhere),
	"fmod": ofAny((*weft.Tensor).FMod), "copysign": ofAny((*weft.Tensor).CopySign), "fmin": ofAny((*weft.Tensor).FMin), "fmax": ofAny((*weft.Tensor).FMax), "heaviside": ofAny((*weft.Tensor).Heaviside),
	"nextafter": ofAny((*weft.Tensor).NextAfter), "logaddexp": ofAny((*weft.Tensor).LogAddExp), "logaddexp2": ofAny((*weft.Tensor).LogAddExp2), "xlogy": ofAny((*weft.Tensor).XLogY),
	"gcd": ofAny((*weft.Tensor).GCD), "lcm": ofAny((*weft.Tensor).LCM), "ldexp": ofAny((*weft.Tensor).Ldexp),
	"cross": ofTwo((*weft.Tensor).Cross), "vdot": ofTwo((*weft.Tensor).VDot), "inner": ofTwo((*weft.Tensor).Inner), "isin": ofTwo((*weft.Tensor).IsIn),
	"union1d": ofTwo(weft.Union1D), "intersect1d": ofTwo(weft.Intersect1D), "setdiff1d": ofTwo(weft.SetDiff1D), "setxor1d": ofTwo(weft.SetXor1D),

	"nanquantile":   func(x tensors, n []float64) tensors { return list(x[0].NanQuantile(n[0], int(n[1]))) },
	"nanpercentile": func(x tensors, n []float64) tensors { return list(x[0].NanPercentile(n[0], int(n[1]))) },
	"diff":          func(x tensors, n []float64) tensors { return list(x[0].Diff(int(n[0]), int(n[1]))) },
	"gradient": func(x tensors, n []float64) tensors {
		return list(x[0].Gradient(int(n[0]), spacing(x, n, 2), weft.GradientOpts{SecondOrderEdges: n[1] == 2}))
	},
	"trapezoid": alongPlaces((*weft.Tensor).Trapezoid),
	"interp":    func(x tensors, _ []float64) tensors { return list(x[0].Interp(x[1], x[2])) },
	"interp_opts": func(x tensors, n []float64) tensors {
		o := weft.InterpOpts{Left: &n[0], Right: &n[1], Period: &n[2]}
		if math.IsNaN(n[0]) {
			o.Left = nil
		}
		if math.IsNaN(n[1]) {
			o.Right = nil
		}
		if n[2] == 0 {
			o.Period = nil
		}
		return list(x[0].Interp(x[1], x[2], o))
	},
	"simpson": alongPlaces((*weft.Tensor).Simpson), "simpson_equal": alongPlaces((*weft.Tensor).Simpson),
	"cumulativetrapezoid": alongPlaces((*weft.Tensor).CumulativeTrapezoid), "cumulativetrapezoid_equal": alongPlaces((*weft.Tensor).CumulativeTrapezoid),
	"eye": func(_ tensors, n []float64) tensors {
		return list(weft.EyeOf(weft.Float64, int(n[0]), weft.EyeOpts{Columns: new(int(n[1])), Diagonal: int(n[2])}))
	},
	"average": func(x tensors, n []float64) tensors { return list(x[0].Average(x[1], whole(n)...)) },
	"cov": func(x tensors, n []float64) tensors {
		o := weft.CovOpts{Columns: n[0] != 0, Population: n[1] != 0}
		if len(n) > 2 && n[2] != 2 {
			o.FWeights = x[1]
		}
		if len(n) > 2 && n[2] != 1 {
			o.AWeights = x[len(x)-1]
		}
		return list(x[0].Cov(o))
	},
	"corrcoef": func(x tensors, n []float64) tensors { return list(x[0].CorrCoef(weft.CovOpts{Columns: n[0] != 0})) },
	"digitize": func(x tensors, n []float64) tensors {
		return list(x[0].Digitize(x[1], weft.DigitizeOpts{Right: n[0] != 0}))
	},
	"histogramdd": func(x tensors, n []float64) tensors {
		o := weft.HistogramDDOpts{Bins: whole(n[1:3]), Density: n[0] != 0}
		if len(n) > 3 {
			o.Ranges = [][2]float64{{n[3], n[4]}, {n[5], n[6]}}
		}
		counts, edges := weft.HistogramDD(x[0], o)
		return append(list(counts), edges...)
	},
	"mode":  func(x tensors, n []float64) tensors { return list(x[0].Mode(int(n[0]))) },
	"cdist": func(x tensors, n []float64) tensors { return list(x[0].Cdist(x[1], n[0])) },
	"pdist": func(x tensors, n []float64) tensors { return list(x[0].Pdist(n[0])) },

	"uniqueaxis":        func(x tensors, n []float64) tensors { return list(weft.UniqueAxis(x[0], int(n[0]))) },
	"lexsort":           func(x tensors, n []float64) tensors { return list(weft.LexSort(x, int(n[0]))) },
	"unravel_index":     func(x tensors, n []float64) tensors { return weft.UnravelIndex(x[0], whole(n)...) },
	"ravel_multi_index": func(x tensors, n []float64) tensors { return list(weft.RavelMultiIndex(x, whole(n)...)) },
	"tril_indices":      func(_ tensors, n []float64) tensors { return list(weft.TrilIndices(int(n[0]), int(n[1]), int(n[2]))) },
	"triu_indices":      func(_ tensors, n []float64) tensors { return list(weft.TriuIndices(int(n[0]), int(n[1]), int(n[2]))) },
	"tri":               func(_ tensors, n []float64) tensors { return list(weft.Tri(int(n[0]), int(n[1]), int(n[2]))) },
	"indices":           func(_ tensors, n []float64) tensors { return list(weft.Indices(whole(n)...)) },
	"ix":                func(x tensors, _ []float64) tensors { return weft.Ix(x...) },
	"partition":         func(x tensors, n []float64) tensors { return list(x[0].Partition(int(n[0]), int(n[1]))) },
	"kth": func(x tensors, n []float64) tensors {
		a := (int(n[1]) + x[0].Rank()) % x[0].Rank()
		k := (int(n[0]) + x[0].Dim(a)) % x[0].Dim(a)
		return list(x[0].Partition(k, a).Slice(along(a, weft.Range(k, k+1))...).Squeeze(a))
	},
	"unique": func(x tensors, _ []float64) tensors { return list(x[0].Unique()) },
	"searchsorted": func(x tensors, n []float64) tensors {
		return list(x[0].SearchSorted(x[1], weft.SearchOpts{Right: n[0] != 0}))
	},
	"histogram": func(x tensors, n []float64) tensors {
		o := weft.HistogramOpts{Bins: new(int(n[0]))}
		if len(n) > 1 {
			o.Min, o.Max = &n[1], &n[2]
		}
		return list(x[0].Histogram(o))
	},
	"insert":   func(x tensors, n []float64) tensors { return list(x[0].Insert(int(n[0]), whole(n[1:]), x[1])) },
	"delete":   func(x tensors, n []float64) tensors { return list(x[0].Delete(int(n[0]), whole(n[1:])...)) },
	"append":   func(x tensors, n []float64) tensors { return list(x[0].Append(int(n[0]), x[1])) },
	"compress": func(x tensors, n []float64) tensors { return list(weft.Compress(x[0], x[1], int(n[0]))) },
	"select":   func(x tensors, _ []float64) tensors { return list(weft.Select(x[:2], []any{x[2], x[3]}, 42.)) },
	"choose":   func(x tensors, _ []float64) tensors { return list(x[0].Choose(x[1:])) },
	"piecewise": func(x tensors, _ []float64) tensors {
		return list(weft.Piecewise(x[0], tensors{x[0].Lt(0), x[0].Gt(0.5)}, (*weft.Tensor).Neg, 7., func(x *weft.Tensor) *weft.Tensor { return x.Mul(2) }))
	},

	"atleast": func(x tensors, n []float64) tensors {
		return list([]func(*weft.Tensor) *weft.Tensor{(*weft.Tensor).AtLeast1D, (*weft.Tensor).AtLeast2D, (*weft.Tensor).AtLeast3D}[int(n[0])-1](x[0]))
	},
	"dstack":       func(x tensors, _ []float64) tensors { return list(weft.DStack(x)) },
	"column_stack": func(x tensors, _ []float64) tensors { return list(weft.ColumnStack(x)) },
	"array_split":  func(x tensors, n []float64) tensors { return x[0].ArraySplit(int(n[0]), int(n[1])) },
	"rot90":        func(x tensors, n []float64) tensors { return list(x[0].Rot90(int(n[0]), int(n[1]), int(n[2]))) },
	"rollaxes": func(x tensors, n []float64) tensors {
		return list(x[0].RollAxes(whole([]float64{n[0], n[1]}), whole([]float64{n[2], n[3]})))
	},
	"resize": func(x tensors, n []float64) tensors { return list(x[0].Resize(whole(n)...)) },
	"sliding_window_view": func(x tensors, n []float64) tensors {
		return list(x[0].SlidingWindowView(int(n[0]), int(n[1])))
	},
	"as_strided": func(x tensors, n []float64) tensors {
		return list(x[0].AsStrided(int(n[0]), whole(n[1:3]), whole(n[3:5])))
	},
	"logspace": func(_ tensors, n []float64) tensors {
		return list(weft.LogspaceOf(weft.Float64, n[0], n[1], int(n[2])))
	},
	"geomspace": func(_ tensors, n []float64) tensors {
		return list(weft.GeomspaceOf(weft.Float64, n[0], n[1], int(n[2])))
	},
	"frexp": func(x tensors, _ []float64) tensors { return list(x[0].Frexp()) },
	"modf":  func(x tensors, _ []float64) tensors { return list(x[0].Modf()) },
	"expm1": ofOne((*weft.Tensor).Expm1), "log1p": ofOne((*weft.Tensor).Log1p), "round": ofOne((*weft.Tensor).Round),
	"round_to": func(x tensors, n []float64) tensors { return list(x[0].RoundTo(int(n[0]))) },
	"cumsum":   ofAxis((*weft.Tensor).CumSum), "cumprod": ofAxis((*weft.Tensor).CumProd),
	"divmod": func(x tensors, _ []float64) tensors { return list(x[0].DivMod(x[1])) },

	"any_keep": over((*weft.Tensor).AnyKeep), "all_keep": over((*weft.Tensor).AllKeep), "argmin_keep": over((*weft.Tensor).ArgMinKeep),
	"argmax_keep": over((*weft.Tensor).ArgMaxKeep), "count_nonzero_keep": over((*weft.Tensor).CountNonZeroKeep), "median_keep": over((*weft.Tensor).MedianKeep),
	"nansum_keep": over((*weft.Tensor).NanSumKeep), "nanprod_keep": over((*weft.Tensor).NanProdKeep), "nanmean_keep": over((*weft.Tensor).NanMeanKeep),
	"nanvar_keep": over((*weft.Tensor).NanVarKeep), "nanstd_keep": over((*weft.Tensor).NanStdKeep), "nanmin_keep": over((*weft.Tensor).NanMinKeep),
	"nanmax_keep": over((*weft.Tensor).NanMaxKeep), "nanmedian_keep": over((*weft.Tensor).NanMedianKeep), "nanargmin_keep": over((*weft.Tensor).NanArgMinKeep),
	"nanargmax_keep": over((*weft.Tensor).NanArgMaxKeep),
	"nanvar_sample":  over((*weft.Tensor).NanSampleVar), "nanvar_sample_keep": over((*weft.Tensor).NanSampleVarKeep),
	"nanstd_sample": over((*weft.Tensor).NanSampleStd), "nanstd_sample_keep": over((*weft.Tensor).NanSampleStdKeep),
	"nanvar_ddof": corrected((*weft.Tensor).NanSampleVar, (*weft.Tensor).NanCorrectedVar), "nanvar_ddof_keep": corrected((*weft.Tensor).NanSampleVarKeep, (*weft.Tensor).NanCorrectedVarKeep),
	"nanstd_ddof": corrected((*weft.Tensor).NanSampleStd, (*weft.Tensor).NanCorrectedStd), "nanstd_ddof_keep": corrected((*weft.Tensor).NanSampleStdKeep, (*weft.Tensor).NanCorrectedStdKeep),
	"quantile_keep":    func(x tensors, n []float64) tensors { return list(x[0].QuantileKeep(n[0], int(n[1]))) },
	"nanquantile_keep": func(x tensors, n []float64) tensors { return list(x[0].NanQuantileKeep(n[0], int(n[1]))) },
	"var_ddof":         corrected((*weft.Tensor).SampleVar, (*weft.Tensor).CorrectedVar), "var_ddof_keep": corrected((*weft.Tensor).SampleVarKeep, (*weft.Tensor).CorrectedVarKeep),
	"std_ddof": corrected((*weft.Tensor).SampleStd, (*weft.Tensor).CorrectedStd), "std_ddof_keep": corrected((*weft.Tensor).SampleStdKeep, (*weft.Tensor).CorrectedStdKeep),
}

// readArray reads "float64[2 3] 1 2 3 4 5 nan", as testdata/arrays.py writes it.
func readArray(t *testing.T, s string) *weft.Tensor {
	t.Helper()
	name, rest, _ := strings.Cut(s, "[")
	dims, values, _ := strings.Cut(rest, "]")
	shape := []int{}
	for w := range strings.FieldsSeq(dims) {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(s, err)
		}
		shape = append(shape, n)
	}
	f := []float64{}
	for w := range strings.FieldsSeq(values) {
		v, err := strconv.ParseFloat(w, 64)
		if err != nil {
			t.Fatal(s, err)
		}
		f = append(f, v)
	}
	if strings.HasPrefix(name, "complex") {
		parts := weft.FromSlice(f).Reshape(append(slices.Clone(shape), 2)...).ViewAs(weft.Complex128).Reshape(shape...)
		if name == "complex64" {
			parts = parts.To(weft.Complex64)
		}
		return parts
	}
	for _, d := range []weft.DType{weft.Bool, weft.Int8, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64} {
		if d.String() == name {
			return weft.FromSlice(f).Reshape(shape...).To(d)
		}
	}
	t.Fatalf("type %q", name)
	return nil
}

// parts are the elements of t, of complex numbers the real and then the imaginary parts.
func parts(t *weft.Tensor) []float64 {
	if t.DType().Complex() {
		t = weft.Stack([]*weft.Tensor{t.Real(), t.Imag()}, 0)
	}
	return weft.Data[float64](t.To(weft.Float64))
}

// arrayVectors calls f with the cases of testdata/arrays.txt.
func arrayVectors(t *testing.T, f func(what, call string, x tensors, n []float64, want tensors)) {
	text, err := os.ReadFile("testdata/arrays.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.Split(strings.TrimRight(line, "\n")+" ", " | ")
		if len(parts) != 4 {
			t.Fatalf("%q has %d parts", line, len(parts))
		}
		var n []float64
		for w := range strings.FieldsSeq(parts[1]) {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(line, err)
			}
			n = append(n, v)
		}
		read := func(s string) (out tensors) {
			for part := range strings.SplitSeq(s, "; ") {
				if part = strings.TrimSpace(part); part != "" {
					out = append(out, readArray(t, part))
				}
			}
			return out
		}
		f(strings.Join(parts[:3], " "), parts[0], read(parts[2]), n, read(parts[3]))
	}
}

func caseOf(call string) arrayCase {
	if mode, ok := strings.CutPrefix(call, "pad_"); ok {
		return func(x tensors, n []float64) tensors { return list(x[0].PadMode(mode, whole(n))) }
	}
	if f := padCase(call); f != nil {
		return f
	}
	return arrayCases[call]
}

// TestArraysAgainstNumPy compares values with NumPy's and SciPy's, eagerly and in compiled functions. Integers
// give float32 here and float64 there, and places and int32 are int64.
func TestArraysAgainstNumPy(t *testing.T) {
	seen := map[string]bool{}
	arrayVectors(t, func(what, call string, x tensors, n []float64, want tensors) {
		f := caseOf(call)
		if f == nil {
			t.Fatalf("no function %q", call)
		}
		seen[call] = true
		compare := func(how string, got tensors) {
			if len(got) != len(want) {
				t.Errorf("%s: %s %d results, want %d", what, how, len(got), len(want))
				return
			}
			for i, w := range want {
				if !slices.Equal(got[i].Shape(), w.Shape()) || got[i].DType().Category() != w.DType().Category() {
					t.Errorf("%s: %s result %d is %v %v, want %v %v", what, how, i, got[i].DType(), got[i].Shape(), w.DType(), w.Shape())
					return
				}
				tolerance := 4e-14
				if d := got[i].DType(); d == weft.Float32 || d == weft.Complex64 {
					tolerance = 3e-6
				}
				g, v := parts(got[i]), parts(w)
				for k := range v {
					if same := g[k] == v[k] || g[k] != g[k] && v[k] != v[k]; !same && !(math.Abs(g[k]-v[k]) <= tolerance*(1+math.Abs(v[k]))) {
						t.Errorf("%s: %s element %d of result %d is %v, want %v", what, how, k, i, g[k], v[k])
						return
					}
				}
			}
		}
		var got tensors
		if err := weft.Try(func() { got = f(x, n) }); err != nil {
			t.Errorf("%s: %v", what, err)
			return
		}
		compare("eagerly", got)
		if len(x) == 0 || byElements[call] {
			return
		}
		var compiled tensors
		if err := weft.Try(func() { compiled = weft.Compile(func(x tensors) tensors { return f(x, n) }).Func()(x) }); err != nil {
			t.Errorf("%s: compiled: %v", what, err)
			return
		}
		for i := range got {
			if weft.Digest(got[i].Contiguous()) != weft.Digest(compiled[i].Contiguous()) {
				t.Errorf("%s: result %d is %v, compiled %v", what, i, got[i], compiled[i])
			}
		}
	})
	for call := range arrayCases {
		if !seen[call] {
			t.Errorf("testdata/arrays.txt has no case of %s", call)
		}
	}
}

// byElements are functions whose results have shapes that depend on elements, or that read some.
var byElements = map[string]bool{"union1d": true, "intersect1d": true, "setdiff1d": true, "setxor1d": true, "uniqueaxis": true, "argwhere": true, "compress": true,
	"unravel_index": true, "digitize": true, "histogram": true, "histogramdd": true, "unique": true, "ix": true}

// smooth are functions with gradients that differences show at the arguments of the cases.
var smooth = strings.Fields("nansum nanprod nanmean nanvar nanstd nanmin nanmax nanmedian nanquantile nancumsum nancumprod diff gradient trapezoid simpson cumulativetrapezoid average cov corrcoef logcumsumexp cross trace vdot inner cdist pdist " +
	"insert delete append select piecewise atleast dstack column_stack array_split rot90 rollaxes resize sliding_window_view pad_edge pad_reflect pad_symmetric pad_wrap pad_mean pad_linear_ramp padodd_reflect padodd_symmetric padlengths_mean padlengths_maximum padlengths_median padvalues_constant padvalues_linear_ramp nanvar_ddof nanstd_ddof unwrap cbrt sinc ldexp")

// TestArrayGradients compares gradients with differences, where arguments are finite or functions leave NaN out.
func TestArrayGradients(t *testing.T) {
	checked := map[string]bool{}
	arrayVectors(t, func(what, call string, x tensors, n []float64, want tensors) {
		if !slices.Contains(smooth, call) || slices.ContainsFunc(want, func(t *weft.Tensor) bool {
			return t.DType().Float() && t.IsFinite().All().Item() == 0
		}) || slices.ContainsFunc(x, func(t *weft.Tensor) bool {
			return t.DType().Float() && (t.DType() != weft.Float64 || t.Size() == 0 || t.IsFinite().All().Item() == 0)
		}) {
			return
		}
		var at []int
		for i, v := range x {
			if v.DType() == weft.Float64 {
				at = append(at, i)
			}
		}
		if len(at) == 0 {
			return
		}
		var wrt tensors
		for _, i := range at {
			wrt = append(wrt, x[i])
		}
		err := weft.GradCheck(func(y ...*weft.Tensor) []*weft.Tensor {
			args := slices.Clone(x)
			for k, i := range at {
				args[i] = y[k]
			}
			return caseOf(call)(args, n)
		}, wrt)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		checked[call] = true
	})
	for _, call := range smooth {
		if !checked[call] {
			t.Errorf("no gradient of %s was checked", call)
		}
	}
}
