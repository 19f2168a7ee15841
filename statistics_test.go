package weft_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
)

// What asks only where elements are must not stop the recording of what is computed from
// its result.
func TestIndexResultsKeepGradients(t *testing.T) {
	x := weft.From([]float32{3, 0, 2}).RequireGrad()
	for name, index := range map[string]*weft.Tensor{
		"NonZero":      x.NonZero(),
		"ArgSort":      x.ArgSort(0, weft.SortOpts{}),
		"SearchSorted": x.SearchSorted(weft.From([]float32{0, 2}), weft.SearchOpts{}).Clamp(0, 2),
		"ArgMax":       x.ArgMax().Unsqueeze(0),
	} {
		x.SetGrad(nil)
		y := x.IndexSelect(0, index).Sum()
		if err := weft.Try(func() { y.Backward() }); err != nil || x.Grad() == nil {
			t.Errorf("%s: no gradient of what it selects: %v", name, err)
		}
	}
}

func TestUniqueOfNaNAndSignedZeros(t *testing.T) {
	nan, zero := math.NaN(), math.Copysign(0, -1)
	values, inverse, counts := weft.From([]float64{nan, zero, 0, math.Inf(1), nan, math.Inf(-1)}).Unique()
	want := []float64{math.Inf(-1), zero, math.Inf(1), nan}
	for i, v := range weft.Data[float64](values) {
		if math.Float64bits(v) != math.Float64bits(want[i]) && !(v != v && want[i] != want[i]) {
			t.Errorf("value %d is %v, want %v", i, v, want[i])
		}
	}
	if got := weft.Data[int64](inverse); len(got) != 6 || got[0] != 3 || got[1] != 1 || got[2] != 1 || got[3] != 2 || got[4] != 3 || got[5] != 0 {
		t.Error("inverse", got)
	}
	if got := weft.Data[int64](counts); len(got) != 4 || got[0] != 1 || got[1] != 2 || got[2] != 1 || got[3] != 2 {
		t.Error("counts", got)
	}
	for _, shape := range [][]int{{0}, {2, 0}, {}} {
		x := weft.Zeros(shape...)
		values, inverse, counts := x.Unique()
		n := min(x.Size(), 1)
		if values.Size() != n || counts.Size() != n || !slices.Equal(inverse.Shape(), shape) {
			t.Errorf("unique of %v has shapes %v, %v, %v", shape, values.Shape(), inverse.Shape(), counts.Shape())
		}
	}
}

// Rows of evenly spaced elements, and almost such, with many values for each: the places that
// sort.Search finds.
func TestSearchSortedInEvenRows(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rows := map[string][]float64{"even": nil, "doubled": nil, "bent": nil, "zeros": {-2, -1, math.Copysign(0, -1), 0, 0, 1, 2, 3}, "infinite": {-inf, -1, 0, 1, 2, 3, 4, inf}, "nan": {0, 1, 2, 3, 4, 5, 6, nan}}
	for i := range 64 {
		rows["even"] = append(rows["even"], -1+float64(i)/32)
		rows["doubled"] = append(rows["doubled"], float64(i/2))
		rows["bent"] = append(rows["bent"], float64(i*i*i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for name, row := range rows {
		values := []float64{nan, -nan, inf, -inf, 0, math.Copysign(0, -1), -1e300, 1e300}
		for len(values) < 4*len(row)+100 {
			lo, hi := row[1], row[len(row)-2]
			values = append(values, lo-1+r.Float64()*(hi-lo+2), row[r.IntN(len(row))])
		}
		for _, d := range []weft.DType{weft.Float32, weft.Float64} {
			// As the rounded elements have it.
			row, values := weft.Data[float64](weft.FromSlice(row).To(d).To(weft.Float64)), weft.Data[float64](weft.FromSlice(values).To(d).To(weft.Float64))
			for _, right := range []bool{false, true} {
				after := func(x, v float64) bool { // x comes after v, or is it; NaN is last
					if math.IsNaN(v) {
						return math.IsNaN(x) && !right
					}
					return math.IsNaN(x) || x > v || x == v && !right
				}
				both := weft.FromSlice(slices.Concat(row, row)).Reshape(2, len(row)).To(d)
				got := weft.Data[int64](both.SearchSorted(weft.FromSlice(slices.Concat(values, values)).Reshape(2, len(values)).To(d), weft.SearchOpts{Right: right}))
				for i, v := range slices.Concat(values, values) {
					if want := sort.Search(len(row), func(k int) bool { return after(row[k], v) }); got[i] != int64(want) {
						t.Fatalf("%s, %s, right %v: %v (number %d) goes to %d, want %d", name, d, right, v, i, got[i], want)
					}
				}
			}
		}
	}
}

// TopK of a few elements of long rows equals the first elements of a stable sort. Rows are random,
// sorted, or have equal elements, zeros of both signs, infinities and NaN.
func TestTopKOfLongRows(t *testing.T) {
	const rows, n = 3, 5000
	r := rand.New(rand.NewPCG(5, 6))
	special := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 7, -7}
	makes := map[string]func(i int) float64{
		"many":       func(int) float64 { return r.NormFloat64() },
		"few":        func(int) float64 { return float64(r.IntN(40) - 20) },
		"ascending":  func(i int) float64 { return float64(i) },
		"descending": func(i int) float64 { return float64(-i) },
		"equal":      func(int) float64 { return 3 },
		"special": func(int) float64 {
			if r.IntN(50) == 0 {
				return special[r.IntN(len(special))]
			}
			return r.Float64()
		},
		"nan": func(i int) float64 {
			if i%3 > 0 {
				return math.NaN()
			}
			return r.Float64()
		},
	}
	before := func(a, b float64) int { // NaN is the greatest
		switch {
		case a < b || !math.IsNaN(a) && math.IsNaN(b):
			return -1
		case a > b || math.IsNaN(a) && !math.IsNaN(b):
			return 1
		}
		return 0
	}
	for name, next := range makes {
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Float16, weft.Int16, weft.Int64} {
			if d.Integer() && (name == "special" || name == "nan" || name == "many") {
				continue
			}
			x := make([]float64, rows*n)
			for i := range x {
				x[i] = next(i % n)
			}
			full := weft.FromSlice(x).Reshape(rows, n).To(d)
			x = weft.Data[float64](full.To(weft.Float64))
			order := map[bool][rows][]int{} // of all elements of a row, with the least first or the greatest
			for _, smallest := range []bool{false, true} {
				var of [rows][]int
				for u := range rows {
					of[u] = sorted(x[u*n:(u+1)*n], func(a, b float64) int {
						if smallest {
							return before(a, b)
						}
						return before(b, a)
					})
				}
				order[smallest] = of
			}
			for _, k := range []int{1, 7, 100, 300} {
				for _, smallest := range []bool{false, true} {
					for _, axis := range []int{0, 1} {
						in := full
						if axis == 0 {
							in = full.T()
						}
						values, index := in.TopK(k, axis, weft.TopKOpts{Smallest: smallest})
						if axis == 0 {
							values, index = values.T(), index.T()
						}
						got, places := weft.Data[float64](values.To(weft.Float64)), weft.Data[int64](index)
						for u := range rows {
							row, want := x[u*n:(u+1)*n], order[smallest][u]
							for i := range k {
								if p := places[u*k+i]; int(p) != want[i] || math.Float64bits(got[u*k+i]) != math.Float64bits(row[p]) {
									t.Fatalf("%s %s, k %d, smallest %v, axis %d, row %d: number %d is %v at %d, want %v at %d",
										name, d, k, smallest, axis, u, i, got[u*k+i], p, row[want[i]], want[i])
								}
							}
						}
					}
				}
			}
		}
	}
}

// sorted returns the places of the elements in order, equal ones as they stand.
func sorted(row []float64, compare func(a, b float64) int) []int {
	places := make([]int, len(row))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(a, b int) int { return compare(row[a], row[b]) })
	return places
}

// vectorCases are the functions of testdata/statistics.json, which NumPy and PyTorch computed.
var vectorCases = map[string]func(x []*weft.Tensor, n []float64, s string) []*weft.Tensor{
	"cumsum": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].CumSum(int(n[0]))}
	},
	"cumprod": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].CumProd(int(n[0]))}
	},
	"cummax": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor { return pair(x[0].CumMax(int(n[0]))) },
	"cummin": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor { return pair(x[0].CumMin(int(n[0]))) },
	"sort": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return pair(x[0].Sort(int(n[0]), weft.SortOpts{Descending: n[1] != 0}))
	},
	"topk": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return pair(x[0].TopK(int(n[0]), int(n[1]), weft.TopKOpts{Smallest: n[2] != 0}))
	},
	"max_with_index": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return pair(x[0].MaxWithIndex(int(n[0])))
	},
	"min_with_index": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return pair(x[0].MinWithIndex(int(n[0])))
	},
	"unique": func(x []*weft.Tensor, _ []float64, _ string) []*weft.Tensor {
		values, inverse, counts := x[0].Unique()
		return []*weft.Tensor{values, inverse, counts}
	},
	"searchsorted": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].SearchSorted(x[1], weft.SearchOpts{Right: n[0] != 0})}
	},
	"bincount": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].BinCount(append(x, nil)[1], int(n[0]))}
	},
	"histogram": func(x []*weft.Tensor, n []float64, s string) []*weft.Tensor {
		o := weft.HistogramOpts{Bins: new(int(n[0])), Density: s == "density"}
		if n[1] != 0 || n[2] != 0 { // the vectors say 0 and 0 for the range of the data
			o.Min, o.Max = new(n[1]), new(n[2])
		}
		switch {
		case s == "edges":
			o.Edges = x[1]
		case len(x) > 1:
			o.Weights = x[1]
		}
		return pair(x[0].Histogram(o))
	},
	"count_nonzero": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].CountNonZero(asInts(n)...)}
	},
	"quantiles": func(x []*weft.Tensor, n []float64, s string) []*weft.Tensor {
		return []*weft.Tensor{x[0].Quantiles(n[1:], weft.QuantileOpts{Axes: asInts(n[:1]), Method: s})}
	},
	"median": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].Median(asInts(n)...)}
	},
	"percentile": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].Percentile(n[0], asInts(n[1:])...)}
	},
	"norm": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].Norm(n[0], asInts(n[1:])...)}
	},
	"isclose": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].IsClose(x[1], weft.CloseOpts{Relative: new(n[0]), Absolute: new(n[1]), EqualNaN: n[2] != 0})}
	},
	"nan_to_num": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].NanToNum(n[0], n[1:]...)}
	},
	"hypot": func(x []*weft.Tensor, _ []float64, _ string) []*weft.Tensor { return []*weft.Tensor{x[0].Hypot(x[1])} },
	"lerp": func(x []*weft.Tensor, _ []float64, _ string) []*weft.Tensor {
		return []*weft.Tensor{x[0].Lerp(x[1], x[2])}
	},
	"dot":   func(x []*weft.Tensor, _ []float64, _ string) []*weft.Tensor { return []*weft.Tensor{x[0].Dot(x[1])} },
	"outer": func(x []*weft.Tensor, _ []float64, _ string) []*weft.Tensor { return []*weft.Tensor{x[0].Outer(x[1])} },
	"tensordot": func(x []*weft.Tensor, n []float64, _ string) []*weft.Tensor {
		k := len(n) / 2
		return []*weft.Tensor{x[0].TensorDot(x[1], asInts(n[:k]), asInts(n[k:]))}
	},
	"einsum": func(x []*weft.Tensor, _ []float64, s string) []*weft.Tensor {
		return []*weft.Tensor{weft.Einsum(s, x...)}
	},
}

func pair(a, b *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{a, b} }

func asInts(n []float64) (out []int) {
	for _, v := range n {
		out = append(out, int(v))
	}
	return out
}

// readTensor reads "float32[2 3] 1 2 3 4 5 nan".
func readTensor(t *testing.T, s string) *weft.Tensor {
	t.Helper()
	name, rest, _ := strings.Cut(s, "[")
	dims, values, _ := strings.Cut(rest, "]")
	var shape []int
	for w := range strings.FieldsSeq(dims) {
		n, err := strconv.Atoi(w)
		if err != nil {
			t.Fatal(s, err)
		}
		shape = append(shape, n)
	}
	types := map[string]weft.DType{"bool": weft.Bool, "uint8": weft.Uint8, "int32": weft.Int32, "int64": weft.Int64, "float32": weft.Float32, "float64": weft.Float64}
	d, ok := types[name]
	if !ok {
		t.Fatalf("type %q", name)
	}
	var f []float64
	var i []int64
	for w := range strings.FieldsSeq(values) {
		var err error
		if d.Float() {
			var v float64
			v, err = strconv.ParseFloat(w, 64)
			f = append(f, v)
		} else {
			var v int64
			v, err = strconv.ParseInt(w, 10, 64)
			i = append(i, v)
		}
		if err != nil {
			t.Fatal(s, err)
		}
	}
	if d.Float() {
		return weft.FromSlice(append(f, 0)[:len(f)]).Reshape(shape...).To(d)
	}
	return weft.FromSlice(append(i, 0)[:len(i)]).Reshape(shape...).To(d)
}

// TestStatisticsAgainstNumPy compares values with NumPy's and gradients with PyTorch's.
func TestStatisticsAgainstNumPy(t *testing.T) {
	b, err := os.ReadFile("testdata/statistics.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Call          string
		In, Out, Grad []string
		N             []string
		S             string
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	compare := func(what string, got *weft.Tensor, want string) {
		w := readTensor(t, want)
		if got.DType() != w.DType() || !slices.Equal(got.Shape(), w.Shape()) {
			t.Errorf("%s: %v %v, want %s", what, got.DType(), got.Shape(), want)
			return
		}
		tolerance := 0.0
		switch w.DType() {
		case weft.Float32:
			tolerance = 2e-6
		case weft.Float64:
			tolerance = 4e-14
		}
		g, v := weft.Data[float64](got.To(weft.Float64).Flatten(0)), weft.Data[float64](w.To(weft.Float64).Flatten(0))
		for i := range v {
			if same := g[i] == v[i] || g[i] != g[i] && v[i] != v[i]; !same && !(math.Abs(g[i]-v[i]) <= tolerance*(1+math.Abs(v[i]))) {
				t.Errorf("%s: element %d is %v, want %v", what, i, g[i], v[i])
				return
			}
		}
	}
	seen := map[string]bool{}
	for _, c := range cases {
		f := vectorCases[c.Call]
		if f == nil {
			t.Fatalf("no function %q", c.Call)
		}
		seen[c.Call] = true
		what := strings.Join(append(append([]string{c.Call, c.S}, c.N...), c.In...), " ")
		var in []*weft.Tensor
		for i, s := range c.In {
			x := readTensor(t, s)
			if c.Grad != nil && c.Grad[i] != "" {
				x.RequireGrad()
			}
			in = append(in, x)
		}
		var n []float64
		for _, w := range c.N {
			v, err := strconv.ParseFloat(w, 64)
			if err != nil {
				t.Fatal(what, err)
			}
			n = append(n, v)
		}
		var outs []*weft.Tensor
		if err := weft.Try(func() { outs = f(in, n, c.S) }); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var total *weft.Tensor
		for i, y := range outs {
			compare(what, y, c.Out[i])
			if c.Grad != nil && y.DType().Float() {
				w := weft.Arange(y.Size()).Mul(7).Mod(5).Sub(1.5).Reshape(y.Shape()...).To(y.DType())
				part := y.Mul(w).Sum()
				if total == nil {
					total = part
				} else {
					total = total.Add(part)
				}
			}
		}
		if total == nil {
			continue
		}
		if err := weft.Try(total.Backward); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		for i, x := range in {
			if c.Grad[i] != "" {
				if x.Grad() == nil {
					t.Errorf("%s: no gradient %d", what, i)
					continue
				}
				compare(what+": gradient "+strconv.Itoa(i), x.Grad(), c.Grad[i])
			}
		}
	}
	for name := range vectorCases {
		if !seen[name] {
			t.Errorf("no vectors of %s", name)
		}
	}
}

// TestSortLongRows sorts rows long enough for wide digits, and for values that are made of keys,
// beside Go's stable sort: with zeros of both signs, infinities and NaN.
func TestSortLongRows(t *testing.T) {
	const n = 1<<16 + 321
	r := rand.New(rand.NewPCG(21, 22))
	f, i, b := make([]float32, 2*n), make([]int32, 2*n), make([]uint8, 2*n)
	for k := range f {
		f[k] = math.Float32frombits(r.Uint32())
		switch r.IntN(8) {
		case 0:
			f[k] = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1}[r.IntN(6)]
		}
		i[k], b[k] = int32(r.Uint32())>>r.IntN(32), uint8(r.Uint32())
	}
	orders := map[string][]int{}
	tensortest.OnBackends(t, func(t *testing.T) {
		for _, descending := range []bool{false, true} {
			for _, axis := range []int{0, 1} {
				sortedAs(t, orders, f, n, axis, descending)
				sortedAs(t, orders, i, n, axis, descending)
				sortedAs(t, orders, b, n, axis, descending)
			}
		}
	})
}

// sortedAs compares the order of two rows, or columns, of n elements with that of Go's stable
// sort, which orders keeps: there is one xs of each type.
func sortedAs[E float32 | int32 | uint8](t *testing.T, orders map[string][]int, xs []E, n, axis int, descending bool) {
	t.Helper()
	x := weft.FromSlice(slices.Clone(xs), 2, n)
	step, next := 1, n
	if axis == 0 {
		x, step, next = weft.FromSlice(slices.Clone(xs), n, 2), 2, 1
	}
	values, index := x.Sort(axis, weft.SortOpts{Descending: descending})
	v, at := weft.Data[E](values), weft.Data[int64](index)
	for row := range 2 {
		of := fmt.Sprintf("%T, axis %d, row %d, %v", xs, axis, row, descending)
		want := orders[of]
		if want == nil {
			want = make([]int, n)
			for i := range want {
				want[i] = i
			}
			slices.SortStableFunc(want, func(i, j int) int {
				a, b := xs[row*next+i*step], xs[row*next+j*step]
				if descending {
					a, b = b, a
				}
				switch {
				case a != a && b != b:
					return 0
				case a != a:
					return 1
				case b != b:
					return -1
				}
				return cmp.Compare(a, b)
			})
			orders[of] = want
		}
		for i, p := range want {
			got, x := v[row*next+i*step], xs[row*next+p*step]
			same := got == x && math.Signbit(float64(got)) == math.Signbit(float64(x)) || got != got && x != x
			if !same || at[row*next+i*step] != int64(p) {
				t.Fatalf("axis %d, descending %v: place %d has %v of %d, not %v of %d", axis, descending, i, got, at[row*next+i*step], x, p)
			}
		}
	}
}

// Running sums and products of a million numbers are as accurate as sums, along every axis and
// back through the gradient.
func TestCumSumOfAMillionElements(t *testing.T) {
	const n = 1_000_000
	check := func(what string, got *weft.Tensor, want func(i int) float64, relative float64) {
		t.Helper()
		for i, g := range weft.Data[float32](got.Contiguous()) {
			if w := want(i); math.Abs(float64(g)-w) > relative*math.Abs(w) {
				t.Fatalf("%s: element %d is %v, want %v", what, i, g, w)
			}
		}
	}
	tenth, levels := float64(float32(0.1)), 4.0
	bound := (4 + 17*levels) * 0x1p-24
	for what, shape := range map[string][]int{"a row": {n}, "a column": {n, 1}, "the first of two axes": {n, 2}} {
		x := weft.Full(0.1, shape...).RequireGrad()
		y := x.CumSum(0)
		wide := y.Size() / n
		check("sums along "+what, y, func(i int) float64 { return tenth * float64(i/wide+1) }, bound)
		y.Mul(weft.Scalar(0.1)).Sum().Backward()
		check("gradient along "+what, x.Grad(), func(i int) float64 { return tenth * float64(n-i/wide) }, bound)
	}
	factor := float64(float32(1.00001))
	x := weft.Full(1.00001, n)
	check("products", x.CumProd(0), func(i int) float64 { return math.Pow(factor, float64(i+1)) }, 0x1p-23)
	near := weft.Full(1.0, n).RequireGrad()
	near.CumProd(0).Mul(weft.Scalar(0.1)).Sum().Backward()
	check("gradient of products", near.Grad(), func(i int) float64 { return tenth * float64(n-i) }, 0x1p-23)
}

// The order of a running sum depends on the length of the axis alone: neither on which axis it
// is, nor on what is beside it, nor on strides; the gradient has the order from the end.
func TestCumSumOrderIsFixed(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		for _, n := range []int{1, 7, 8, 15, 16, 17, 40, 255, 256, 257, 1000, 5000} {
			g := weft.NewGenerator(uint64(n))
			x := g.Randn(n).To(d)
			want := weft.Digest(x.CumSum(0))
			spread := weft.ZerosOf(d, 3*n, 5)
			for what, y := range map[string]*weft.Tensor{
				"a row of several":   weft.Stack([]*weft.Tensor{x.Neg(), x, x}, 0).CumSum(1).Slice(weft.Index(1)),
				"a column of few":    weft.Stack([]*weft.Tensor{x.Neg(), x, x}, 1).CumSum(0).Slice(weft.All, weft.Index(1)),
				"a column of many":   x.Unsqueeze(1).Expand(n, 70).Contiguous().CumSum(0).Slice(weft.All, weft.Index(67)),
				"a column repeated":  x.Unsqueeze(1).Expand(n, 3).CumSum(0).Slice(weft.All, weft.Index(2)),
				"a strided row":      spread.IndexPut(x, weft.Range(0, 3*n, 3), 2).Slice(weft.Range(0, 3*n, 3), weft.Index(2)).CumSum(0),
				"a row turned twice": x.Flip(0).Flip(0).CumSum(0),
				"the middle axis":    weft.Stack([]*weft.Tensor{x.Neg(), x}, 0).Unsqueeze(2).Expand(2, n, 20).CumSum(1).Slice(weft.Index(1), weft.All, weft.Index(17)),
			} {
				if weft.Digest(y.Contiguous()) != want {
					t.Errorf("%s of %d, %s: other bits", d, n, what)
				}
			}
			leaf := weft.ZerosOf(d, n).RequireGrad()
			back := weft.Grad(leaf.CumSum(0), []*weft.Tensor{leaf}, weft.GradOpts{Seeds: []*weft.Tensor{x}})[0]
			if weft.Digest(back.Flip(0).Contiguous()) != weft.Digest(x.Flip(0).CumSum(0)) {
				t.Errorf("%s of %d: the gradient has another order", d, n)
			}
		}
	}
}

func TestWeightsOfCovAreRefusedByName(t *testing.T) {
	x := weft.Ones(2, 3)
	for arg, o := range map[string]weft.CovOpts{
		"FWeights: is float32[3]": {FWeights: weft.Ones(3)}, "FWeights: is int64[2]": {FWeights: weft.OnesOf(weft.Int64, 2)}, "FWeights: has a negative": {FWeights: weft.From([]int{1, -1, 2})},
		"AWeights: is complex64[3]": {AWeights: weft.OnesOf(weft.Complex64, 3)}, "AWeights: is float32[3 1]": {AWeights: weft.Ones(3, 1)}, "AWeights: has a negative": {AWeights: weft.From([]float32{1, -1, 2})},
	} {
		if err := weft.Try(func() { x.Cov(o) }); err == nil || !strings.Contains(err.Error(), arg) {
			t.Errorf("%q: %v", arg, err)
		}
	}
}

// numpyMedians are rows whose middle elements cancel, and their medians by NumPy 2.4.6 in float64 and float32.
// Interpolation between the two is up to 3 ULP off.
var numpyMedians = struct{ rows, float64s, float32s []float64 }{
	[]float64{
		-20, -0x1.997bba0aae374p+0, 0x1.9d028fd5afed5p+0, 30, -20, -0x1.542ea59220c76p+1, 0x1.582cb172e1a1dp+1, 30,
		-20, -0x1.a6f890dc91405p+2, 0x1.ad366f8be04ecp+2, 30, -20, -0x1.a8adb3f0469a4p+0, 0x1.ab17a8269436dp+0, 30,
		-20, -0x1.169d6f6e964f6p+2, 0x1.1a7e97ed166fbp+2, 30,
	},
	[]float64{0x1.c36ae580db08p-8, 0x1.ff05f0606d38p-7, 0x1.8f77abd3c39cp-5, 0x1.34fa1b26ce48p-8, 0x1.f0943f401028p-6},
	[]float64{0x1.c36bp-8, 0x1.ff06p-7, 0x1.8f78p-5, 0x1.34fap-8, 0x1.f094p-6},
}

func TestMedianIsTheMeanOfTheMiddle(t *testing.T) {
	x := weft.FromSlice(numpyMedians.rows).Reshape(5, 4)
	holes := weft.Cat([]*weft.Tensor{x, weft.FullOf(weft.Float64, math.NaN(), 5, 3)}, 1)
	for _, d := range []weft.DType{weft.Float64, weft.Float32} {
		want := numpyMedians.float64s
		if d == weft.Float32 {
			want = numpyMedians.float32s
		}
		for name, y := range map[string]*weft.Tensor{
			"Median": x.To(d).Median(1), "MedianKeep": x.To(d).MedianKeep(1).Squeeze(1),
			"NanMedian": holes.To(d).NanMedian(1), "NanMedianKeep": holes.To(d).NanMedianKeep(1).Squeeze(1),
		} {
			tensortest.Near(t, name+" of "+d.String(), y.To(weft.Float64), want, 0)
		}
	}
	most, nan := math.MaxFloat64, math.NaN()
	tensortest.Near(t, "NanMedian of great numbers", weft.FromSlice([]float64{most, nan, most / 2}).NanMedian(), []float64{most / 4 * 3}, 0)
	for name, f := range map[string]func(*weft.Tensor) *weft.Tensor{
		"Median": func(x *weft.Tensor) *weft.Tensor { return x.Median(1) }, "NanMedian": func(x *weft.Tensor) *weft.Tensor { return x.NanMedian(1) },
	} {
		x := weft.FromSlice(numpyMedians.rows[:8]).Reshape(2, 4).RequireGrad()
		f(x).Sum().Backward()
		tensortest.Near(t, "gradient of "+name, x.Grad(), []float64{0, 0.5, 0.5, 0, 0, 0.5, 0.5, 0}, 0)
	}
}

// TestGradientBesideInfinities has values of NumPy 2.4.6, a row for each of nine vectors.
func TestGradientBesideInfinities(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rows := []float64{
		1, inf, 2, 5, 7,
		1, 2, inf, 5, 7,
		1, 2, 3, -inf, 7,
		inf, 2, 3, 5, -inf,
		1, 2, 3, inf, inf,
		1, inf, -inf, 3, 4,
		1, 2, -inf, inf, 7,
		inf, inf, 3, 5, 7,
		1, -inf, 2, -inf, 7,
	}
	for _, c := range []struct {
		at     []float64
		second bool
		want   []float64
	}{
		{[]float64{0, 1, 3, 4, 8}, false, []float64{
			inf, inf, -inf, 2.5, 0.5,
			1, inf, -inf, -inf, 0.5,
			1, 0.8333333333333334, -inf, -inf, inf,
			-inf, -inf, 1.4999999999999998, -inf, -inf,
			1, 0.8333333333333334, inf, inf, nan,
			inf, nan, nan, inf, 0.25,
			1, -inf, inf, inf, -inf,
			nan, nan, -inf, 1.6999999999999997, 0.5,
			-inf, -inf, nan, -inf, inf,
		}},
		{[]float64{0, 1, 3, 4, 8}, true, []float64{
			inf, inf, -inf, 2.5, -1.5000000000000004,
			-inf, inf, -inf, -inf, inf,
			1.1666666666666667, 0.8333333333333334, -inf, -inf, inf,
			-inf, -inf, 1.4999999999999998, -inf, -inf,
			1.1666666666666667, 0.8333333333333334, inf, inf, nan,
			inf, nan, nan, inf, -inf,
			inf, -inf, inf, inf, -inf,
			nan, nan, -inf, 1.6999999999999997, -0.6999999999999997,
			-inf, -inf, nan, -inf, inf,
		}},
		{[]float64{0, 2, 4, 6, 8}, false, []float64{
			inf, 0.25, -inf, 1.25, 1,
			0.5, inf, 0.75, -inf, 1,
			0.5, 0.5, -inf, 1, inf,
			-inf, -inf, 0.75, -inf, -inf,
			0.5, 0.5, inf, inf, nan,
			inf, -inf, -inf, inf, 0.5,
			0.5, -inf, inf, inf, -inf,
			nan, -inf, -inf, 1, 1,
			-inf, 0.25, nan, 1.25, inf,
		}},
		{[]float64{8, 4, 3, 1, 0}, false, []float64{
			-inf, inf, inf, -1.8333333333333326, -2,
			-0.25, -inf, -inf, inf, -2,
			-0.25, -0.8500000000000003, inf, -inf, -inf,
			inf, inf, -1, inf, inf,
			-0.25, -0.8500000000000003, -inf, nan, nan,
			-inf, inf, inf, -inf, -1,
			-0.25, inf, nan, nan, inf,
			nan, inf, inf, -1.666666666666666, -2,
			inf, -inf, nan, -inf, -inf,
		}},
	} {
		for d, bound := range map[weft.DType]float64{weft.Float64: 1e-15, weft.Float32: 1e-6} {
			x := weft.FromSlice(rows).Reshape(9, 5).To(d)
			y := x.Gradient(1, weft.FromSlice(c.at), weft.GradientOpts{SecondOrderEdges: c.second})
			tensortest.Near(t, fmt.Sprint(d, c.at, c.second), y.To(weft.Float64), c.want, bound)
		}
	}
	// Elements without infinities beside them have the gradients that they have where none is.
	x := weft.FromSlice([]float64{1, 2, 4, 7, 11, inf}).RequireGrad()
	x.Gradient(0, weft.FromSlice([]float64{0, 1, 3, 4, 8, 9})).Slice(weft.Range(1, 4)).Sum().Backward()
	tensortest.Near(t, "gradient", x.Grad(), []float64{-0.6666666666666666, 0.33333333333333337, -1.1333333333333333, 1.4166666666666665, 0.05, 0}, 1e-15)
}
