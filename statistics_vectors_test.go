package weft

import (
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// vectorCases are the functions of testdata/statistics.json, which NumPy and PyTorch computed.
var vectorCases = map[string]func(x []*Tensor, n []float64, s string) []*Tensor{
	"cumsum":  func(x []*Tensor, n []float64, _ string) []*Tensor { return []*Tensor{x[0].CumSum(int(n[0]))} },
	"cumprod": func(x []*Tensor, n []float64, _ string) []*Tensor { return []*Tensor{x[0].CumProd(int(n[0]))} },
	"cummax":  func(x []*Tensor, n []float64, _ string) []*Tensor { return two(x[0].CumMax(int(n[0]))) },
	"cummin":  func(x []*Tensor, n []float64, _ string) []*Tensor { return two(x[0].CumMin(int(n[0]))) },
	"sort": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return two(x[0].Sort(int(n[0]), SortOpts{Descending: n[1] != 0}))
	},
	"topk": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return two(x[0].TopK(int(n[0]), int(n[1]), TopKOpts{Smallest: n[2] != 0}))
	},
	"max_with_index": func(x []*Tensor, n []float64, _ string) []*Tensor { return two(x[0].MaxWithIndex(int(n[0]))) },
	"min_with_index": func(x []*Tensor, n []float64, _ string) []*Tensor { return two(x[0].MinWithIndex(int(n[0]))) },
	"unique": func(x []*Tensor, _ []float64, _ string) []*Tensor {
		values, inverse, counts := x[0].Unique()
		return []*Tensor{values, inverse, counts}
	},
	"searchsorted": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return []*Tensor{x[0].SearchSorted(x[1], SearchOpts{Right: n[0] != 0})}
	},
	"bincount": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return []*Tensor{x[0].BinCount(append(x, nil)[1], int(n[0]))}
	},
	"histogram": func(x []*Tensor, n []float64, s string) []*Tensor {
		o := HistogramOpts{Bins: new(int(n[0])), Density: s == "density"}
		if n[1] != 0 || n[2] != 0 { // the vectors say 0 and 0 for the range of the data
			o.Min, o.Max = new(n[1]), new(n[2])
		}
		switch {
		case s == "edges":
			o.Edges = x[1]
		case len(x) > 1:
			o.Weights = x[1]
		}
		return two(x[0].Histogram(o))
	},
	"count_nonzero": func(x []*Tensor, n []float64, _ string) []*Tensor { return []*Tensor{x[0].CountNonZero(asInts(n)...)} },
	"quantiles": func(x []*Tensor, n []float64, s string) []*Tensor {
		return []*Tensor{x[0].Quantiles(n[1:], QuantileOpts{Axes: asInts(n[:1]), Method: s})}
	},
	"median": func(x []*Tensor, n []float64, _ string) []*Tensor { return []*Tensor{x[0].Median(asInts(n)...)} },
	"percentile": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return []*Tensor{x[0].Percentile(n[0], asInts(n[1:])...)}
	},
	"norm": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return []*Tensor{x[0].Norm(n[0], asInts(n[1:])...)}
	},
	"isclose": func(x []*Tensor, n []float64, _ string) []*Tensor {
		return []*Tensor{x[0].IsClose(x[1], CloseOpts{Relative: new(n[0]), Absolute: new(n[1]), EqualNaN: n[2] != 0})}
	},
	"nan_to_num": func(x []*Tensor, n []float64, _ string) []*Tensor { return []*Tensor{x[0].NanToNum(n[0], n[1:]...)} },
	"hypot":      func(x []*Tensor, _ []float64, _ string) []*Tensor { return []*Tensor{x[0].Hypot(x[1])} },
	"lerp":       func(x []*Tensor, _ []float64, _ string) []*Tensor { return []*Tensor{x[0].Lerp(x[1], x[2])} },
	"dot":        func(x []*Tensor, _ []float64, _ string) []*Tensor { return []*Tensor{x[0].Dot(x[1])} },
	"outer":      func(x []*Tensor, _ []float64, _ string) []*Tensor { return []*Tensor{x[0].Outer(x[1])} },
	"tensordot": func(x []*Tensor, n []float64, _ string) []*Tensor {
		k := len(n) / 2
		return []*Tensor{x[0].TensorDot(x[1], asInts(n[:k]), asInts(n[k:]))}
	},
	"einsum": func(x []*Tensor, _ []float64, s string) []*Tensor { return []*Tensor{Einsum(s, x...)} },
}

func two(a, b *Tensor) []*Tensor { return []*Tensor{a, b} }

func asInts(n []float64) (out []int) {
	for _, v := range n {
		out = append(out, int(v))
	}
	return out
}

// readTensor reads "float32[2 3] 1 2 3 4 5 nan".
func readTensor(t *testing.T, s string) *Tensor {
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
	types := map[string]DType{"bool": Bool, "uint8": Uint8, "int32": Int32, "int64": Int64, "float32": Float32, "float64": Float64}
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
		return FromSlice(append(f, 0)[:len(f)]).Reshape(shape...).To(d)
	}
	return FromSlice(append(i, 0)[:len(i)]).Reshape(shape...).To(d)
}

// TestStatisticsVectors compares values and gradients with those of NumPy and PyTorch.
func TestStatisticsVectors(t *testing.T) {
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
	compare := func(what string, got *Tensor, want string) {
		w := readTensor(t, want)
		if got.DType() != w.DType() || !equalInts(got.Shape(), w.Shape()) {
			t.Errorf("%s: %v %v, want %s", what, got.DType(), got.Shape(), want)
			return
		}
		tolerance := 0.0
		switch w.DType() {
		case Float32:
			tolerance = 2e-6
		case Float64:
			tolerance = 4e-14
		}
		g, v := Data[float64](got.To(Float64).Flatten(0)), Data[float64](w.To(Float64).Flatten(0))
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
		var in []*Tensor
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
		var outs []*Tensor
		if err := Try(func() { outs = f(in, n, c.S) }); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var total *Tensor
		for i, y := range outs {
			compare(what, y, c.Out[i])
			if c.Grad != nil && y.DType().Float() {
				w := Arange(y.Size()).Mul(7).Mod(5).Sub(1.5).Reshape(y.Shape()...).To(y.DType())
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
		if err := Try(total.Backward); err != nil {
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
