package weft_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"weft"
	"weft/distributions"
	"weft/half"
	"weft/nn"
	"weft/optim"
	"weft/plot"
	"weft/sparse"
	"weft/sym"
	"weft/table"
	"weft/tokenizers"
	"weft/train"
)

// The texts are what NumPy 2.4 prints for the same arrays.
func TestFormatAsNumPy(t *testing.T) {
	for _, c := range []struct {
		x    *weft.Tensor
		want string
	}{
		{weft.From([]float32{1, 2, 3}), "[1. 2. 3.]"},
		{weft.From([]float32{1, 2.5, -3.25}), "[ 1.    2.5  -3.25]"},
		{weft.From([]float32{0.1, 0.2, 1.0 / 3}), "[0.1        0.2        0.33333334]"},
		{weft.From([]float64{0.1, 0.2, 1.0 / 3}), "[0.1        0.2        0.33333333]"},
		{weft.From([]float64{1e-5, 1}), "[1.e-05 1.e+00]"},
		{weft.From([]float64{1e-5, 2e-5}), "[1.e-05 2.e-05]"},
		{weft.From([]float64{1e8, 1}), "[1.e+08 1.e+00]"},
		{weft.From([]float64{99999999, 100000}), "[99999999.   100000.]"},
		{weft.From([]float64{1, 1000, 1000.5}), "[1.0000e+00 1.0000e+03 1.0005e+03]"},
		{weft.From([]float64{0, 1000}), "[   0. 1000.]"},
		{weft.From([]float64{1e100, 1.25, -1e-300}), "[ 1.00e+100  1.25e+000 -1.00e-300]"},
		{weft.From([]float64{math.NaN(), 1, math.Inf(1), math.Inf(-1)}), "[ nan   1.  inf -inf]"},
		{weft.From([]float64{math.NaN(), 1.25, 100}), "[   nan   1.25 100.  ]"},
		{weft.From([]float64{math.NaN(), math.NaN()}), "[nan nan]"},
		{weft.From([]float64{math.Inf(-1), math.NaN()}), "[-inf  nan]"},
		{weft.From([]float64{math.NaN(), 1e-9, math.Inf(-1)}), "[   nan 1.e-09   -inf]"},
		{weft.From([]float64{0, math.Copysign(0, -1)}), "[ 0. -0.]"},
		{weft.From([]float32{16777216, 1.1920929e-07}), "[1.6777216e+07 1.1920929e-07]"},
		{weft.From([]float32{3.1415927, 2.7182817}), "[3.1415927 2.7182817]"},
		{weft.From([]float64{3.141592653589793, 123456.789012345678}), "[3.14159265e+00 1.23456789e+05]"},
		{weft.From([]float64{0.99999999999, 1}), "[1. 1.]"},
		{weft.From([]float64{1.123456789e-10, 1}), "[1.12345679e-10 1.00000000e+00]"},
		{weft.From([][]float64{{1, -2.5}, {300, 4}}), `[[  1.   -2.5]
 [300.    4. ]]`},
		{weft.From([][][]int32{{{1, 2}, {3, 4}}, {{-5, 6}, {7, 800}}}), `[[[  1   2]
  [  3   4]]

 [[ -5   6]
  [  7 800]]]`},
		{weft.From([]uint8{0, 255}), "[  0 255]"},
		{weft.From([]int64{math.MinInt64, 7}), "[-9223372036854775808                    7]"},
		{weft.Arange(30), `[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
 24 25 26 27 28 29]`},
		{weft.Arange(30.0), `[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.
 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]`},
		{weft.Arange(0, 6, 0.25), `[0.   0.25 0.5  0.75 1.   1.25 1.5  1.75 2.   2.25 2.5  2.75 3.   3.25
 3.5  3.75 4.   4.25 4.5  4.75 5.   5.25 5.5  5.75]`},
		{weft.Arange(60).Reshape(2, 30), `[[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
  24 25 26 27 28 29]
 [30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53
  54 55 56 57 58 59]]`},
		{weft.Arange(60.0).Reshape(2, 1, 30).Div(8), `[[[0.    0.125 0.25  0.375 0.5   0.625 0.75  0.875 1.    1.125 1.25
   1.375 1.5   1.625 1.75  1.875 2.    2.125 2.25  2.375 2.5   2.625
   2.75  2.875 3.    3.125 3.25  3.375 3.5   3.625]]

 [[3.75  3.875 4.    4.125 4.25  4.375 4.5   4.625 4.75  4.875 5.
   5.125 5.25  5.375 5.5   5.625 5.75  5.875 6.    6.125 6.25  6.375
   6.5   6.625 6.75  6.875 7.    7.125 7.25  7.375]]]`},
		{weft.Arange(1001), "[   0    1    2 ...  998  999 1000]"},
		{weft.Arange(10000).Reshape(100, 100), `[[   0    1    2 ...   97   98   99]
 [ 100  101  102 ...  197  198  199]
 [ 200  201  202 ...  297  298  299]
 ...
 [9700 9701 9702 ... 9797 9798 9799]
 [9800 9801 9802 ... 9897 9898 9899]
 [9900 9901 9902 ... 9997 9998 9999]]`},
		{weft.Arange(10000.0).Reshape(2, 500, 10).Div(4), `[[[0.00000e+00 2.50000e-01 5.00000e-01 ... 1.75000e+00 2.00000e+00
   2.25000e+00]
  [2.50000e+00 2.75000e+00 3.00000e+00 ... 4.25000e+00 4.50000e+00
   4.75000e+00]
  [5.00000e+00 5.25000e+00 5.50000e+00 ... 6.75000e+00 7.00000e+00
   7.25000e+00]
  ...
  [1.24250e+03 1.24275e+03 1.24300e+03 ... 1.24425e+03 1.24450e+03
   1.24475e+03]
  [1.24500e+03 1.24525e+03 1.24550e+03 ... 1.24675e+03 1.24700e+03
   1.24725e+03]
  [1.24750e+03 1.24775e+03 1.24800e+03 ... 1.24925e+03 1.24950e+03
   1.24975e+03]]

 [[1.25000e+03 1.25025e+03 1.25050e+03 ... 1.25175e+03 1.25200e+03
   1.25225e+03]
  [1.25250e+03 1.25275e+03 1.25300e+03 ... 1.25425e+03 1.25450e+03
   1.25475e+03]
  [1.25500e+03 1.25525e+03 1.25550e+03 ... 1.25675e+03 1.25700e+03
   1.25725e+03]
  ...
  [2.49250e+03 2.49275e+03 2.49300e+03 ... 2.49425e+03 2.49450e+03
   2.49475e+03]
  [2.49500e+03 2.49525e+03 2.49550e+03 ... 2.49675e+03 2.49700e+03
   2.49725e+03]
  [2.49750e+03 2.49775e+03 2.49800e+03 ... 2.49925e+03 2.49950e+03
   2.49975e+03]]]`},
		{weft.Arange(2000).Reshape(5, 400), `[[   0    1    2 ...  397  398  399]
 [ 400  401  402 ...  797  798  799]
 [ 800  801  802 ... 1197 1198 1199]
 [1200 1201 1202 ... 1597 1598 1599]
 [1600 1601 1602 ... 1997 1998 1999]]`},
		{weft.Zeros(0), "[]"},
		{weft.Zeros(2, 0, 3), "[]"},
		{weft.Arange(6).Reshape(1, 6, 1), `[[[0]
  [1]
  [2]
  [3]
  [4]
  [5]]]`},
		{weft.Arange(12.0).Reshape(3, 4).T(), `[[ 0.  4.  8.]
 [ 1.  5.  9.]
 [ 2.  6. 10.]
 [ 3.  7. 11.]]`},
		{weft.Scalar(1.5), "1.5"},
		{weft.Scalar(3), "3"},
		{weft.Scalar(1e-5), "1e-05"},
		{weft.ScalarOf(weft.Float64, 2.0), "2.0"},
		{weft.ScalarOf(weft.Float64, 1e17), "1e+17"},
		{weft.Scalar(0.1), "0.1"},
		{weft.ScalarOf(weft.Float64, 0.1), "0.1"},
		{weft.ScalarOf(weft.Float64, 1.5e300), "1.5e+300"},
		{weft.Scalar(math.NaN()), "nan"},
		{weft.Scalar(math.Inf(-1)), "-inf"},
		{weft.Scalar(0.0), "0.0"},
		{weft.ScalarOf(weft.Float64, 1.0/3), "0.3333333333333333"},
	} {
		if got := fmt.Sprintf("%v", c.x); got != c.want {
			t.Errorf("%#v prints\n%s\nNumPy\n%s", c.x, got, c.want)
		}
		if fmt.Sprintf("%s", c.x) != c.want || c.x.String() != c.want {
			t.Errorf("%%s and String of %#v differ from %%v", c.x)
		}
	}
}

func TestFormatVerbs(t *testing.T) {
	m := weft.From([][]float64{{1, -2.5}, {300, 1.0 / 3}})
	withNaN := weft.From([]float32{float32(math.NaN()), 1.5, float32(math.Inf(-1))})
	for _, c := range []struct {
		format string
		x      *weft.Tensor
		want   string
	}{
		{"%.2f", m, "[[  1.00  -2.50]\n [300.00   0.33]]"},
		{"%8.3f", m, "[[   1.000   -2.500]\n [ 300.000    0.333]]"},
		{"%-8.3f", m, "[[1.000    -2.500  ]\n [300.000  0.333   ]]"},
		{"%+.1f", m, "[[  +1.0   -2.5]\n [+300.0   +0.3]]"},
		{"%08.2f", m, "[[00001.00 -0002.50]\n [00300.00 00000.33]]"},
		{"%.1e", m, "[[ 1.0e+00 -2.5e+00]\n [ 3.0e+02  3.3e-01]]"},
		{"%g", weft.From([]float32{0.1, 2}), "[0.1   2]"},
		{"%.1f", withNaN, "[ NaN  1.5 -Inf]"},
		{"%.3v", weft.From([]float64{1.0 / 3, 2, 12.3456}), "[ 0.333  2.    12.346]"},
		{"%.3v", weft.From([]float64{1e-10 / 3, 2}), "[3.333e-11 2.000e+00]"},
		{"%6v", weft.Arange(3), "[     0      1      2]"},
		{"%d", weft.From([]int32{1, -20, 3}), "[  1 -20   3]"},
		{"%03d", weft.From([]uint8{1, 20}), "[001 020]"},
		{"%x", weft.From([]int64{10, 255}), "[ a ff]"},
		{"%.1f", weft.Arange(3), "[0.0 1.0 2.0]"},
		{"%d", weft.From([]bool{true, false}), "[1 0]"},
		{"%t", weft.From([]bool{true, false}), "[ true false]"},
		{"%v", weft.From([]bool{true, true}), "[true true]"},
		{"%v", weft.From(true), "true"},
		{"%.2f", weft.Scalar(2.5), "2.50"},
		{"%.2f", weft.Zeros(2, 0), "[]"},
		{"%d", m, "%!d(*weft.Tensor=float64[2 2])"},
		{"%t", m, "%!t(*weft.Tensor=float64[2 2])"},
		{"%f", weft.From(true), "%!f(*weft.Tensor=bool[])"},
		{"%q", m, "%!q(*weft.Tensor=float64[2 2])"},
		{"%#v", m, "weft.From([][]float64{{1, -2.5}, {300, 0.3333333333333333}})"},
		{"%#v", withNaN, "weft.From([]float32{float32(math.NaN()), 1.5, float32(math.Inf(-1))})"},
		{"%#v", weft.From([]float64{math.Copysign(0, -1)}), "weft.From([]float64{math.Copysign(0, -1)})"},
		{"%#v", weft.From([]bool{true}), "weft.From([]bool{true})"},
		{"%#v", weft.ScalarOf(weft.Int32, 3), "weft.ScalarOf(weft.Int32, 3)"},
		{"%#v", weft.Zeros(2, 0), "weft.ZerosOf(weft.Float32, 2, 0)"},
		{"%#v", weft.Arange(2000), "weft.From([]int64{0, 1, 2, ..., 1997, 1998, 1999})"},
		{"%v", nil, "<nil>"},
	} {
		if got := fmt.Sprintf(c.format, c.x); got != c.want {
			t.Errorf("%s prints %q, want %q", c.format, got, c.want)
		}
	}
}

// Only more than 1000 elements are summarised, and never with %+v.
func TestFormatSummary(t *testing.T) {
	for _, c := range []struct {
		format string
		n      int
		dots   bool
	}{{"%v", 1000, false}, {"%v", 1001, true}, {"%+v", 5000, false}, {"%.1f", 5000, true}, {"%#v", 5000, true}, {"%+#v", 5000, false}} {
		got := fmt.Sprintf(c.format, weft.Arange(c.n))
		if strings.Contains(got, "...") != c.dots {
			t.Errorf("%s of %d elements: %.60q", c.format, c.n, got)
		}
		if !c.dots {
			fields := strings.FieldsFunc(strings.TrimPrefix(got, "weft.From([]int64"), func(r rune) bool { return r < '0' || r > '9' })
			if len(fields) != c.n || fields[c.n-1] != fmt.Sprint(c.n-1) {
				t.Errorf("%s of %d elements shows %d", c.format, c.n, len(fields))
			}
		}
	}
	// What is left out does not count for the width.
	x := weft.Zeros(2000)
	x.Slice(weft.Index(1000)).Assign(1e30)
	if got := x.String(); got != "[0. 0. 0. ... 0. 0. 0.]" {
		t.Errorf("the hidden element shows: %s", got)
	}
}

func TestFormatViews(t *testing.T) {
	x := weft.Arange(24).Reshape(4, 6).Slice(weft.Range(weft.End, weft.Begin, -2), weft.Range(1, 6, 2))
	if got, want := x.String(), "[[19 21 23]\n [ 7  9 11]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := weft.Scalar(7).Expand(2, 2).String(), "[[7 7]\n [7 7]]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	r := weft.Ones(3)
	r.Release()
	if got := fmt.Sprint(r); !strings.Contains(got, "released") {
		t.Errorf("a released tensor prints %s", got)
	}
}

func TestLogValue(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	gone := weft.Ones(2)
	gone.Release()
	log.Info("step", "few", weft.From([][]float32{{1, 2.5}}), "many", weft.Arange(101), "gone", gone)
	want := `level=INFO msg=step few.dtype=float32 few.shape="[1 2]" few.values="[[1. 2.5]]" many.dtype=int64 many.shape=[101] many.min=0 many.max=100 many.mean=50 gone.dtype=float32 gone.shape=[2] gone.released=true` + "\n"
	if out.String() != want {
		t.Errorf("got  %swant %s", out.String(), want)
	}
}

// A tensor without elements takes no time, however long its other axes are.
func TestFormatOfEmptyLongAxes(t *testing.T) {
	for _, shape := range [][]int{{1 << 40, 0}, {0, 1 << 40}, {1 << 20, 0, 1 << 20}} {
		x := weft.Zeros(shape...)
		for _, format := range []string{"%v", "%s", "%+v", "%#v", "%.2f", "%8.3e"} {
			if s := fmt.Sprintf(format, x); len(s) > 200 {
				t.Errorf("%s of shape %v takes %d bytes", format, shape, len(s))
			}
		}
		for i := range shape {
			x.Softmax(i).Add(x.LogSoftmax(i)).Sum() // walks no rows of nothing
		}
		if weft.Digest(x) == "" || len(weft.Data[float32](x)) != 0 || x.Contiguous().T().Clone().Size() != 0 {
			t.Errorf("shape %v has elements", shape)
		}
	}
}

// TestMarshalJSON compares with what encoding/json writes of the Go values that a tensor is made of.
func TestMarshalJSON(t *testing.T) {
	floats := []float64{0, math.Copysign(0, -1), 0.1, -2, 1e-7, 1e-6, 1e20, 1e21, math.MaxFloat64, math.SmallestNonzeroFloat64, 1.0 / 3}
	short := []float32{0, 0.1, -2, 1e-7, 1e-6, 1e20, 1e21, math.MaxFloat32, math.SmallestNonzeroFloat32, 1.0 / 3}
	rows := [][]float32{{1, 2.5, 3}, {4, 5, 6}}
	for _, c := range []struct {
		x    *weft.Tensor
		want any
	}{
		{weft.From(floats), floats},
		{weft.From(short), short},
		{weft.From(rows), rows},
		{weft.From(rows).Transpose(0, 1), [][]float32{{1, 4}, {2.5, 5}, {3, 6}}},
		{weft.From(rows).Slice(weft.Range(1, weft.End), weft.Index(2)), []float32{6}},
		{weft.From(rows).Expand(2, 2, 3), [][][]float32{rows, rows}},
		{weft.From([][][]int32{{{1}, {-2}}, {{3}, {4}}}), [][][]int32{{{1}, {-2}}, {{3}, {4}}}},
		{weft.From([]int64{math.MinInt64, math.MaxInt64}), []int64{math.MinInt64, math.MaxInt64}},
		{weft.From([]uint64{math.MaxUint64}), []uint64{math.MaxUint64}},
		{weft.From([]uint8{0, 255}), []int{0, 255}},
		{weft.From([]int8{-128}), []int8{-128}},
		{weft.From([]bool{true, false}), []bool{true, false}},
		{weft.From([]half.Float16{half.NewFloat16(0.1)}), []float64{0.1}},
		{weft.From([]half.BFloat16{half.NewBFloat16(0.1)}), []float64{0.1}},
		{weft.Scalar(2.5), 2.5},
		{weft.ScalarOf(weft.Bool, true), true},
		{weft.Zeros(0, 3), [][]int{}},
		{weft.Zeros(2, 0, 3), [][]int{{}, {}}},
		{weft.From(rows).RequireGrad(true).Mul(2), [][]float32{{2, 5, 6}, {8, 10, 12}}},
		{nil, nil},
	} {
		got, err := json.Marshal(struct{ X *weft.Tensor }{c.x})
		want, _ := json.Marshal(struct{ X any }{c.want})
		if err != nil || string(got) != string(want) {
			t.Errorf("%v: %s, %v, want %s", c.x, got, err, want)
		}
	}
}

func TestMarshalJSONErrors(t *testing.T) {
	released := weft.Ones(2)
	released.Release()
	for _, c := range []struct {
		x    *weft.Tensor
		want string
	}{
		{weft.From([][]float64{{1, 2}, {math.NaN(), 3}}), "marshaljson: element [1 0] has no JSON: json: unsupported value: NaN"},
		{weft.Scalar(math.Inf(-1)), "marshaljson: element [] has no JSON: json: unsupported value: -Inf"},
		{weft.From([]complex64{1i}), "marshaljson: the tensor is complex64: JSON has no complex numbers, write Real and Imag"},
		{weft.Zeros(1<<40, 0), "marshaljson: an empty tensor of shape [1099511627776 0] takes more than 1048576 brackets"},
		{released, "marshaljson: the tensor float32[2] was released, or its scope closed (Scope.Keep takes a tensor out)"},
	} {
		_, err := json.Marshal([]*weft.Tensor{c.x})
		var e *weft.Error
		if !errors.As(err, &e) || e.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	var value *json.UnsupportedValueError
	if _, err := weft.Scalar(math.NaN()).MarshalJSON(); !errors.As(err, &value) {
		t.Errorf("NaN gives %v", err)
	}
	if _, err := new(weft.Tensor).MarshalJSON(); err == nil {
		t.Error("the zero tensor has JSON")
	}
	if _, err := weft.Scalar(1).Expand(1<<29, 1<<29).MarshalJSON(); err == nil {
		t.Error("2^58 elements have JSON")
	}
	var inside error
	err := weft.Try(func() {
		weft.Compile(func(x *weft.Tensor) *weft.Tensor {
			_, inside = json.Marshal(x.Mul(2))
			return x
		}).Func()(weft.Ones(2))
	})
	if inside == nil || err == nil {
		t.Errorf("a traced tensor: %v, %v", inside, err)
	}
}

// TestTexts compares texts of types that hide their fields: names and values, tensors by their types.
func TestTexts(t *testing.T) {
	p := weft.Ones(2, 3).RequireGrad()
	params := func(yield func(string, *weft.Tensor) bool) { yield("w", p) }
	sgd := optim.NewSGD(params, optim.SGDOpts{LR: new(0.5)})
	prices := table.New(table.NewColumn("shop", []int64{1, 2, 1}), table.NewColumn("price", []float64{1, 2, 3}))
	for want, v := range map[string]any{
		"nn.Dropout(P: 0.25)":                                                    &nn.Dropout{P: 0.25},
		"nn.AlphaDropout(P: 0.5, Channels: true)":                                &nn.AlphaDropout{P: 0.5, Channels: true},
		"nn.RRelu(Lower: 0.1, Upper: 0.3333333333333333)":                        &nn.RRelu{Lower: new(0.1)},
		"nn.KVCache(Keys: float32[2 3], Fixed: false)":                           &nn.KVCache{Keys: p},
		"nn.Lazy(not made)":                                                      new(nn.Lazy),
		"optim.sgd(LR: 0.5, Groups: 1, Parameters: 1)":                           sgd,
		"optim.Scheduler(Schedule: optim.StepDecay{Every:3 Gamma:0.1}, Step: 0)": optim.NewScheduler(sgd, optim.StepDecay{Every: 3, Gamma: 0.1}),
		"optim.Scaler(Scale: 65536, Growth: 2, Backoff: 0.5, Interval: 2000)":    optim.NewScaler(),
		"sparse.Factorization(Matrix: ":                                          sparse.LU(sparse.FromDense(weft.EyeOf(weft.Float64, 2))),
		"mean(price)":                                                            table.Mean("price"),
		"quantile(price, 0.5) as price_median":                                   table.Median("price"),
		"table.Groups(Keys: [shop], Groups: 2, Rows: 3)":                         prices.GroupBy("shop"),
		"sym.Range(Start: 1, Stop: 5, Step: 2)":                                  sym.Range(1, 5, 2),
		"train.Metric(Name: accuracy, Value: NaN)":                               train.Accuracy(),
		"plot.Figure(Width: ":                                                    plot.NewFigure(),
		"multivariate_normal(loc: float32[2])":                                   distributions.NewMultivariateNormal(weft.Zeros(2), weft.Eye(2)),
		"weft.Tracked(Array: float32[2 3], Bytes: 24)":                           weft.Track(weft.Ones(2, 3)),
		"tokenizers.AddedToken(ID: 3, Content: \"<s>\", Special: true)":          tokenizers.AddedToken{ID: 3, Content: "<s>", Special: true},
	} {
		if got := fmt.Sprint(v); !strings.HasPrefix(got, want) {
			t.Errorf("%s, not %s", got, want)
		}
	}
}
