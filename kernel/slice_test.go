package kernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/kernel"
)

//go:embed slicekernels_test.go
var sliceSource string

// wave returns n numbers without order.
func wave(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Round(100*math.Sin(float64(i*i))) + 0.25*float64(i%7)
	}
	return x
}

// Windows by slices give what loops written here give, and the neighbourhood is theirs.
func TestSlicesOfWindows(t *testing.T) {
	s := kernel.MustParse(sliceSource)
	const n = 300
	line, whole := wave(n), make([]int64, n)
	for i, v := range line {
		whole[i] = int64(v)
	}
	mean := func(v []float64) float64 {
		sum := 0.0
		for _, x := range v {
			sum += x
		}
		return sum / float64(len(v))
	}
	median := func(v []float64) float64 {
		v = slices.Sorted(slices.Values(v))
		k := len(v)
		return (v[(k-1)/2] + v[k/2]) / 2
	}
	for _, c := range []struct {
		name   string
		lo, hi int // of the slice
		args   []any
		of     func(v []float64) float64
	}{
		{"Median3", -1, 2, nil, median},
		{"MedianOfEven", -2, 2, nil, median},
		{"MovingMean", -29, 1, nil, mean},
		{"LongMedian", -40, 40, nil, median},
		{"Wide", -3, 4, []any{3, kernel.StencilOpts{Neighborhood: [][2]int{{-5, 5}}}}, mean},
		{"WideMedian", -3, 3, []any{3, kernel.StencilOpts{Neighborhood: [][2]int{{-5, 5}}}}, median},
		{"WideMedian", 0, 0, []any{0, kernel.StencilOpts{Neighborhood: [][2]int{{-5, 5}}}}, func([]float64) float64 { return math.NaN() }},
	} {
		f := s.Func(c.name)
		got := weft.Data[float64](f.Stencil(append([]any{weft.FromSlice(line)}, c.args...)...))
		lo, hi := c.lo, max(c.hi-1, 0)
		if c.args != nil {
			lo, hi = -5, 5
		} else if want := [][2]int{{lo, hi}}; !slices.Equal(f.Neighborhood(), want) {
			t.Errorf("%s: neighbourhood %v, want %v", c.name, f.Neighborhood(), want)
		}
		for i, x := range got {
			want := 0.0
			if i+lo >= 0 && i+hi < n {
				want = c.of(line[i+c.lo : i+c.hi])
			}
			if x != want && !(x != x && want != want) {
				t.Errorf("%s: element %d is %v, want %v", c.name, i, x, want)
				break
			}
		}
	}
	if sum := weft.Data[int64](s.Func("LongSum").Stencil(weft.FromSlice(whole))); sum[98] != 0 || sum[99] != sumOf(whole[:100]) || sum[299] != sumOf(whole[200:]) {
		t.Errorf("LongSum: %v", sum)
	}
}

func sumOf(x []int64) (s int64) {
	for _, v := range x {
		s += v
	}
	return s
}

// Slices of two dimensions, and rows, give what the functions give in plain Go.
func TestRowsAndSlicesInPlainGo(t *testing.T) {
	s := kernel.MustParse(sliceSource)
	const rows, cols = 9, 17
	x := wave(rows * cols)
	x[40], x[41] = math.NaN(), math.Inf(1)
	half, whole := make([]float32, len(x)), make([]int32, len(x))
	for i, v := range x {
		half[i], whole[i] = float32(v), int32(min(v, 1e6))
	}
	shape := [2]int{rows, cols}
	b, c := wave(6), wave(8)
	arrays := []any{weft.FromSlice(b, 2, 3), weft.FromSlice(c, 2, 2, 2), weft.FromSlice(b, 2, 3), weft.FromSlice(b, 2, 3)}
	for _, k := range []struct {
		name string
		x    *weft.Tensor
		more []any
		near [][2]int
		want func(i, j int) float64
	}{
		{"Median33", weft.FromSlice(x, rows, cols), nil, [][2]int{{-1, 1}, {-1, 1}}, func(i, j int) float64 {
			return Median33(kernel.Near2[float64]{Data: x, Shape: shape, Place: [2]int{i, j}})
		}},
		{"Median33", weft.FromSlice(half, rows, cols), nil, [][2]int{{-1, 1}, {-1, 1}}, func(i, j int) float64 {
			return float64(Median33(kernel.Near2[float32]{Data: half, Shape: shape, Place: [2]int{i, j}}))
		}},
		{"Spread", weft.FromSlice(whole, rows, cols), nil, [][2]int{{-1, 1}, {0, 2}}, func(i, j int) float64 {
			return float64(Spread(kernel.Near2[int32]{Data: whole, Shape: shape, Place: [2]int{i, j}}))
		}},
		{"Rows", weft.FromSlice(x, rows, cols), nil, [][2]int{{-1, 1}, {-1, 1}}, func(i, j int) float64 {
			return Rows(kernel.Near2[float64]{Data: x, Shape: shape, Place: [2]int{i, j}})
		}},
		{"Partial", weft.FromSlice(x, rows, cols), arrays, [][2]int{{0, 0}, {0, 1}}, func(i, j int) float64 {
			return Partial(kernel.Near2[float64]{Data: x, Shape: shape, Place: [2]int{i, j}}, kernel.Array2[float64]{Data: b, Shape: [2]int{2, 3}},
				kernel.Wrapped3[float64]{Data: c, Shape: [3]int{2, 2, 2}}, kernel.Zeroed2[float64]{Data: b, Shape: [2]int{2, 3}}, kernel.Clamped2[float64]{Data: b, Shape: [2]int{2, 3}})
		}},
		{"SlicedWindow", weft.FromSlice(wave(rows*cols), rows, cols), nil, [][2]int{{-2, 2}, {-8, 8}}, func(i, j int) float64 {
			return SlicedWindow(kernel.Near2[float64]{Data: wave(rows * cols), Shape: shape, Place: [2]int{i, j}})
		}},
		{"Unused", weft.FromSlice(x, rows, cols), nil, [][2]int{{0, 3}, {-4, 1}}, func(i, j int) float64 {
			return Unused(kernel.Near2[float64]{Data: x, Shape: shape, Place: [2]int{i, j}})
		}},
	} {
		f := s.Func(k.name)
		if !slices.Equal(f.Neighborhood(), k.near) {
			t.Errorf("%s: neighbourhood %v, want %v", k.name, f.Neighborhood(), k.near)
		}
		got := weft.Data[float64](f.Stencil(append([]any{k.x}, k.more...)...).To(weft.Float64))
		for i, g := range got {
			r, c := i/cols, i%cols
			want := 0.0
			if r+k.near[0][0] >= 0 && r+k.near[0][1] < rows && c+k.near[1][0] >= 0 && c+k.near[1][1] < cols {
				want = k.want(r, c)
			}
			if g != want && !(g != g && want != want) {
				t.Errorf("%s: element %d,%d is %v, plain Go has %v", k.name, r, c, g, want)
				break
			}
		}
	}
	// The sum of a row's own numbers, so that plain Go is not the only witness.
	if got := weft.Data[float64](s.Func("Partial").Stencil(append([]any{weft.FromSlice(x, rows, cols)}, arrays...)...))[0]; got != x[1]+b[1]+c[7]+b[4]+b[3]+2+b[4]+b[5] {
		t.Errorf("Partial: %v", got)
	}
}

// The gradient of a median is 1 at the middle element.
func TestGradientOfSlices(t *testing.T) {
	s := kernel.MustParse(sliceSource)
	x := weft.FromSlice([]float64{3, 1, 2, 9, 5, 4, 7}).RequireGrad()
	s.Func("Median3").Stencil(x).Sum().Backward()
	if got := fmt.Sprint(weft.Data[float64](x.Grad())); got != "[0 0 2 0 3 0 0]" {
		t.Errorf("gradient %s", got)
	}
	y := weft.FromSlice(wave(40)).RequireGrad()
	s.Func("MovingMean").Stencil(y).Sum().Backward()
	if g := weft.Data[float64](y.Grad()); !near(g[0], 1.0/30) || !near(g[20], 11.0/30) || !near(g[39], 1.0/30) {
		t.Errorf("gradient %v", g)
	}
}

func near(x, y float64) bool { return math.Abs(x-y) < 1e-12 }

// What a slice cannot be is refused, with its place.
func TestSliceErrors(t *testing.T) {
	line := weft.FromSlice(wave(9))
	for _, c := range []struct{ source, want string }{
		{"(a kernel.Near1[float64]) float64 { w := a.Slice(0, 1); w = a.Slice(0, 2); return kernel.Sum(w) }", "are not assigned"},
		{"(a kernel.Near1[float64]) float64 { return a.Slice(0, 1) }", "cannot use a.Slice(0, 1)"},
		{"(a kernel.Near1[float64]) float64 { return kernel.Median(a.Slice(0, 1, 2, 3)) }", "too many arguments"},
		{"(a kernel.Near1[int64]) int64 { return kernel.Median(a.Slice(0, 1)) }", "int64 does not satisfy"},
		{"(a kernel.Near1[float64]) float64 { return a.Row(0) }", "a.Row undefined"},
		{"(a kernel.Near1[float64], w int) float64 { return kernel.Sum(a.Slice(0, w)) }", "Neighborhood: is needed"},
		{"(a kernel.Near1[float64], b kernel.Array1[float64], w int) float64 { return a.At(0) + kernel.Sum(b.Slice(0, w)) }", "not proven to lie inside"},
	} {
		s, err := kernel.Parse("package k\nimport \"weft/kernel\"\nfunc K" + c.source)
		if err == nil {
			var f *kernel.Func
			if f, err = s.Lookup("K"); err == nil {
				args := []any{line, line, 3}[:len(f.Params())]
				if len(args) == 2 {
					args[1] = 3
				}
				err = weft.Try(func() { f.Stencil(args...) })
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.source, err, c.want)
		}
	}
	s := kernel.MustParse(sliceSource)
	if err := weft.Try(func() { s.Func("Wide").Neighborhood() }); err == nil || !strings.Contains(err.Error(), "Wide: Neighborhood: is needed") {
		t.Errorf("error %v", err)
	}
	if err := weft.Try(func() { s.Func("rowSum").Neighborhood() }); err == nil {
		t.Error("rowSum has a neighbourhood")
	}
}

func ExampleSeq() {
	s := kernel.MustParse(`package k
import "weft/kernel"
func Middle(a kernel.Near1[float64]) float64 { return kernel.Median(a.Slice(-1, 2)) }`)
	f := s.Func("Middle")
	fmt.Println(f.Neighborhood())
	fmt.Println(f.Stencil(weft.FromSlice([]float64{1, 9, 2, 3, 8, 4}), kernel.StencilOpts{Border: kernel.Nearest}))
	// Output:
	// [[-1 1]]
	// [1. 2. 3. 3. 4. 4.]
}
