package weft_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/tensortest"
)

func TestBroadcast(t *testing.T) {
	for _, c := range []struct{ a, b, want []int }{
		{nil, nil, nil}, {[]int{3}, nil, []int{3}}, {[]int{3}, []int{1}, []int{3}}, {[]int{2, 1}, []int{3}, []int{2, 3}},
		{[]int{4, 1, 3}, []int{2, 1}, []int{4, 2, 3}}, {[]int{0}, []int{1}, []int{0}}, {[]int{0, 3}, []int{3}, []int{0, 3}},
		{[]int{1, 0}, []int{5, 1}, []int{5, 0}}, {[]int{1, 1}, []int{1}, []int{1, 1}},
	} {
		count := func(shape []int) (*weft.Tensor, grid) {
			g := newGrid(shape...)
			return weft.Arange(len(g.at)).Reshape(shape...), g
		}
		x, gx := count(c.a)
		y, gy := count(c.b)
		for _, swap := range []bool{false, true} {
			if swap {
				x, y, gx, gy = y, x, gy, gx
			}
			got := x.Mul(100).Add(y)
			if !slices.Equal(got.Shape(), c.want) {
				t.Fatalf("%v with %v is %v, want %v", c.a, c.b, got.Shape(), c.want)
			}
			pick := func(g grid, index []int) int {
				own := slices.Clone(index[len(index)-len(g.shape):])
				for i := range own {
					if g.shape[i] == 1 {
						own[i] = 0
					}
				}
				return g.get(own)
			}
			want := gridOf(c.want, func(index []int) int { return 100*pick(gx, index) + pick(gy, index) })
			for i, v := range weft.Data[int64](got) {
				if v != int64(want.at[i]) {
					t.Fatalf("%v with %v: element %d is %d, want %d", c.a, c.b, i, v, want.at[i])
				}
			}
		}
	}
}

// The table is that of torch.result_type.
func TestPromotion(t *testing.T) {
	types := []weft.DType{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64}
	arrays := [][]weft.DType{ // both have dimensions, or neither has
		{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64},
		{weft.Uint8, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64},
		{weft.Int32, weft.Int32, weft.Int32, weft.Int64, weft.Float32, weft.Float64},
		{weft.Int64, weft.Int64, weft.Int64, weft.Int64, weft.Float32, weft.Float64},
		{weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float64},
		{weft.Float64, weft.Float64, weft.Float64, weft.Float64, weft.Float64, weft.Float64},
	}
	scalar := [][]weft.DType{ // the second has no dimensions
		{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64},
		{weft.Uint8, weft.Uint8, weft.Uint8, weft.Uint8, weft.Float32, weft.Float64},
		{weft.Int32, weft.Int32, weft.Int32, weft.Int32, weft.Float32, weft.Float64},
		{weft.Int64, weft.Int64, weft.Int64, weft.Int64, weft.Float32, weft.Float64},
		{weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float32},
		{weft.Float64, weft.Float64, weft.Float64, weft.Float64, weft.Float64, weft.Float64},
	}
	numbers := []struct {
		x    any
		want []weft.DType
	}{
		{true, []weft.DType{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64}},
		{2, []weft.DType{weft.Int64, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64}},
		{int64(2), []weft.DType{weft.Int64, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64}},
		{uint8(2), []weft.DType{weft.Int64, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64}},
		{2.5, []weft.DType{weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float64}},
		{float32(2.5), []weft.DType{weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float32, weft.Float64}},
	}
	for i, a := range types {
		for j, b := range types {
			for _, c := range []struct {
				x, y *weft.Tensor
				want weft.DType
			}{
				{weft.OnesOf(a, 2), weft.OnesOf(b, 2), arrays[i][j]}, {weft.OnesOf(a), weft.OnesOf(b), arrays[i][j]},
				{weft.OnesOf(a, 2), weft.OnesOf(b), scalar[i][j]}, {weft.OnesOf(b), weft.OnesOf(a, 2), scalar[i][j]}, {weft.OnesOf(a, 0), weft.OnesOf(b), scalar[i][j]},
			} {
				if got := c.x.Add(c.y).DType(); got != c.want {
					t.Errorf("%v%v + %v%v is %v, want %v", c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
				}
				if got := weft.Where(weft.OnesOf(weft.Bool), c.x, c.y).DType(); got != c.want {
					t.Errorf("where of %v%v and %v%v is %v, want %v", c.x.DType(), c.x.Shape(), c.y.DType(), c.y.Shape(), got, c.want)
				}
				if got := c.x.Lt(c.y).DType(); got != weft.Bool {
					t.Errorf("%v < %v is %v", c.x.DType(), c.y.DType(), got)
				}
			}
		}
		for _, n := range numbers {
			if got := weft.OnesOf(a, 2).Add(n.x).DType(); got != n.want[i] {
				t.Errorf("%v + %T is %v, want %v", a, n.x, got, n.want[i])
			}
			if got := weft.OnesOf(a).Mul(n.x).DType(); got != n.want[i] {
				t.Errorf("0-d %v * %T is %v, want %v", a, n.x, got, n.want[i])
			}
		}
		// True division and functions of floats.
		want := a
		if !a.Float() {
			want = weft.Float32
		}
		for name, got := range map[string]weft.DType{"div": weft.OnesOf(a, 2).Div(weft.OnesOf(a, 2)).DType(), "exp": weft.OnesOf(a, 2).Exp().DType(), "div 2": weft.OnesOf(a, 2).Div(2).DType()} {
			if got != want {
				t.Errorf("%s of %v is %v, want %v", name, a, got, want)
			}
		}
		sum := weft.Int64
		if a.Float() {
			sum = a
		}
		if got := weft.OnesOf(a, 2).Sum().DType(); got != sum {
			t.Errorf("sum of %v is %v, want %v", a, got, sum)
		}
	}
}

// Go numbers take the type of the array, rounded once, and may stand on either
// side.
func TestNumberOperandsTakeTheArrayType(t *testing.T) {
	for _, c := range []struct {
		got  *weft.Tensor
		want float64
	}{
		{weft.Scalar(5).RSub(2), -3}, {weft.ScalarOf(weft.Float64, 4.0).RDiv(1), 0.25}, {weft.OnesOf(weft.Float32).Add(0.1), float64(float32(1) + float32(0.1))},
		{weft.OnesOf(weft.Float64).Add(0.1), 1.1}, {weft.ScalarOf(weft.Uint8, 200).Add(100), 44}, {weft.ScalarOf(weft.Int32, 7).FloorDiv(-2), -4}, {weft.ScalarOf(weft.Int32, 7).Mod(-2), -1},
		{weft.ScalarOf(weft.Int64, 3).Add(1 << 62), 1<<62 + 3}, {weft.OnesOf(weft.Bool).Add(true), 1}, {weft.OnesOf(weft.Bool).Add(2), 3}, {weft.Scalar(3).Pow(2), 9},
		{weft.Scalar(2.0).Pow(-1), 0.5}, {weft.Scalar(3).Maximum(2.5), 3}, {weft.Scalar(1).Clamp(2, 5), 2},
	} {
		if got := c.got.Item(); got != c.want {
			t.Errorf("got %v (%v), want %v", got, c.got.DType(), c.want)
		}
	}
}

func TestConstructors(t *testing.T) {
	for _, c := range []struct {
		x     *weft.Tensor
		dtype weft.DType
		shape []int
		want  any
	}{
		{weft.FromSlice([]float64{1, 2}), weft.Float64, []int{2}, []float64{1, 2}},
		{weft.FromSlice([]int32{1, 2, 3, 4}, 2, 2), weft.Int32, []int{2, 2}, []int32{1, 2, 3, 4}},
		{weft.FromSlice([]uint8{}), weft.Uint8, []int{0}, []uint8{}},
		{weft.From([][]int{{1, 2}, {3, 4}}), weft.Int64, []int{2, 2}, []int64{1, 2, 3, 4}},
		{weft.From([2][3]uint8{{1, 2, 3}, {4, 5, 6}}), weft.Uint8, []int{2, 3}, []uint8{1, 2, 3, 4, 5, 6}},
		{weft.From([][][]bool{{{true}, {false}}}), weft.Bool, []int{1, 2, 1}, []bool{true, false}},
		{weft.From([][]float32{}), weft.Float32, []int{0, 0}, []float32{}},
		{weft.From([][]float64{{}, {}}), weft.Float64, []int{2, 0}, []float64{}},
		{weft.From(2.5), weft.Float64, nil, []float64{2.5}},
		{weft.Zeros(2), weft.Float32, []int{2}, []float32{0, 0}},
		{weft.Zeros(), weft.Float32, nil, []float32{0}},
		{weft.OnesOf(weft.Bool, 2), weft.Bool, []int{2}, []bool{true, true}},
		{weft.FullOf(weft.Float32, 2.75, 2), weft.Float32, []int{2}, []float32{2.75, 2.75}},
		{weft.FullOf(weft.Uint8, 255, 1), weft.Uint8, []int{1}, []uint8{255}},
		{weft.ZerosLike(weft.Arange(2)), weft.Int64, []int{2}, []int64{0, 0}},
		{weft.OnesLike(weft.Arange(2).T()), weft.Int64, []int{2}, []int64{1, 1}},
		{weft.FullLike(weft.Zeros(1, 2), 3), weft.Float32, []int{1, 2}, []float32{3, 3}},
		{weft.Eye(2), weft.Float32, []int{2, 2}, []float32{1, 0, 0, 1}},
		{weft.Eye(0), weft.Float32, []int{0, 0}, []float32{}},
		{weft.Scalar(true), weft.Bool, nil, []bool{true}},
		{weft.Scalar(3), weft.Int64, nil, []int64{3}},
		{weft.Scalar(1.5), weft.Float32, nil, []float32{1.5}},
		{weft.Arange(3), weft.Int64, []int{3}, []int64{0, 1, 2}},
		{weft.Arange(2, 5), weft.Int64, []int{3}, []int64{2, 3, 4}},
		{weft.Arange(5, 0, -2), weft.Int64, []int{3}, []int64{5, 3, 1}},
		{weft.Arange(3, 3), weft.Int64, []int{0}, []int64{}},
		{weft.Arange(3, 1), weft.Int64, []int{0}, []int64{}},
		{weft.Arange(0.0, 1.0, 0.25), weft.Float32, []int{4}, []float32{0, 0.25, 0.5, 0.75}},
		{weft.Linspace(0, 1, 5), weft.Float32, []int{5}, []float32{0, 0.25, 0.5, 0.75, 1}},
		{weft.Linspace(2, -2, 1), weft.Float32, []int{1}, []float32{2}},
		{weft.Linspace(0, 1, 0), weft.Float32, []int{0}, []float32{}},
	} {
		if c.x.DType() != c.dtype || !slices.Equal(c.x.Shape(), c.shape) {
			t.Errorf("%#v is %v%v, want %v%v", c.x, c.x.DType(), c.x.Shape(), c.dtype, c.shape)
			continue
		}
		var got any
		switch c.dtype {
		case weft.Bool:
			got = weft.Data[bool](c.x)
		case weft.Uint8:
			got = weft.Data[uint8](c.x)
		case weft.Int32:
			got = weft.Data[int32](c.x)
		case weft.Int64:
			got = weft.Data[int64](c.x)
		case weft.Float32:
			got = weft.Data[float32](c.x)
		case weft.Float64:
			got = weft.Data[float64](c.x)
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	if !(*core.Tensor)(weft.Ones(1)).Reached() {
		return
	}
	// Nested slices are copied, a flat one is the memory itself.
	rows := [][]float32{{1, 2}}
	flat := []float32{1, 2}
	a, b := weft.From(rows), weft.FromSlice(flat)
	rows[0][0], flat[0] = 9, 9
	if a.At(0, 0).Item() != 1 || b.At(0).Item() != 9 {
		t.Error("From aliases its argument, or FromSlice copies it")
	}
	b.Slice(weft.Index(1)).Assign(7)
	if flat[1] != 7 {
		t.Error("a write into the tensor does not reach the slice")
	}
}

func TestDataCopyToAndBorrow(t *testing.T) {
	x := weft.Arange(6).Reshape(2, 3)
	data := weft.Data[int64](x)
	data[0] = 100
	if x.At(0, 0).ItemInt() != 0 {
		t.Error("Data lends memory")
	}
	dst := make([]int64, 6)
	weft.CopyTo(x.T(), dst)
	if !slices.Equal(dst, []int64{0, 3, 1, 4, 2, 5}) {
		t.Errorf("CopyTo of a transpose: %v", dst)
	}
	weft.Borrow(x, func(d []int64) { d[5] = 50 })
	if x.At(-1, -1).ItemInt() != 50 {
		t.Error("a write into borrowed memory does not show")
	}
	weft.Borrow(x.At(1), func(d []int64) {
		if !slices.Equal(d, []int64{3, 4, 50}) {
			t.Errorf("borrowed row: %v", d)
		}
	})
	weft.Borrow(weft.Zeros(0, 2), func(d []float32) {
		if len(d) != 0 {
			t.Errorf("borrowed nothing: %v", d)
		}
	})
	if got := weft.ScalarOf(weft.Int64, 1<<53+1).ItemInt(); got != 1<<53+1 {
		t.Errorf("ItemInt: %d", got)
	}
	if got := weft.From([][]float32{{2.5}}).Item(); got != 2.5 {
		t.Errorf("Item: %v", got)
	}
	if x.Dim(-1) != 3 || x.Rank() != 2 || x.Size() != 6 || !x.IsContiguous() || x.T().IsContiguous() || !slices.Equal(x.T().Strides(), []int{1, 3}) {
		t.Error("Dim, Rank, Size, IsContiguous or Strides")
	}
	if x.Contiguous() != x || !x.T().Contiguous().IsContiguous() || x.To(weft.Int64) != x {
		t.Error("Contiguous or To copies without need, or does not copy")
	}
}

func TestConversion(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		from *weft.Tensor
		to   weft.DType
		want []float64
	}{
		{weft.From([]float64{2.9, -2.9, nan, 1e300, -1e300}), weft.Int32, []float64{2, -2, 0, math.MaxInt32, math.MinInt32}},
		{weft.From([]float32{3e9, -3e9, float32(nan)}), weft.Int32, []float64{math.MaxInt32, math.MinInt32, 0}},
		{weft.From([]float64{1e300, -1e300, nan}), weft.Int64, []float64{math.MaxInt64, math.MinInt64, 0}},
		{weft.From([]float64{-1, 256, 3.7, nan}), weft.Uint8, []float64{0, 255, 3, 0}},
		{weft.From([]int64{1<<32 + 5, -1}), weft.Int32, []float64{5, -1}},
		{weft.From([]int64{257, -1}), weft.Uint8, []float64{1, 255}},
		{weft.From([]float64{0, 0.1, nan}), weft.Bool, []float64{0, 1, 1}},
		{weft.From([]bool{true, false}), weft.Float64, []float64{1, 0}},
		{weft.From([]uint8{255}), weft.Float32, []float64{255}},
		{weft.From([]float64{1.0 / 3}), weft.Float32, []float64{float64(float32(1.0 / 3))}},
	} {
		tensortest.EachBackend(t, func(t *testing.T) {
			got := c.from.To(c.to)
			if got.DType() != c.to {
				t.Fatalf("To(%v) gives %v", c.to, got.DType())
			}
			for i := range c.want {
				if x := got.At(i).Item(); x != c.want[i] {
					t.Errorf("%v of %v is %v, want %v", c.to, c.from.At(i), x, c.want[i])
				}
			}
		})
	}
}

// Arrays without elements, and without dimensions, go everywhere.
func TestEmptyAndScalarTensors(t *testing.T) {
	e := weft.Zeros(0, 3)
	for name, c := range map[string]struct {
		x    *weft.Tensor
		want []int
	}{
		"add": {e.Add(1), []int{0, 3}}, "add tensor": {e.Add(weft.Ones(3)), []int{0, 3}}, "exp": {e.Exp(), []int{0, 3}}, "sum rows": {e.Sum(1), []int{0}},
		"sum columns": {e.Sum(0), []int{3}}, "softmax": {e.Softmax(1), []int{0, 3}}, "transpose": {e.T(), []int{3, 0}},
		"matmul": {e.T().MatMul(weft.Zeros(0, 2)), []int{3, 2}}, "matmul rows": {e.MatMul(weft.Zeros(3, 2)), []int{0, 2}}, "cat": {weft.Cat([]*weft.Tensor{e, weft.Ones(2, 3)}, 0), []int{2, 3}},
		"stack": {weft.Stack([]*weft.Tensor{e, e}, 0), []int{2, 0, 3}}, "pad": {e.Pad(1, 1, 0, 0, 0), []int{1, 3}}, "slice": {e.Slice(weft.All, weft.Range(0, 2)), []int{0, 2}},
		"clone": {e.Clone(), []int{0, 3}}, "to": {e.To(weft.Int32), []int{0, 3}}, "where": {weft.Where(e.Gt(0), e, 1), []int{0, 3}}, "mean columns": {e.Mean(0), []int{3}},
		"flatten": {e.Flatten(0), []int{0}}, "max rows": {e.Max(1), []int{0}}, "argmax rows": {e.ArgMax(1), []int{0}}, "logsumexp": {e.LogSumExp(1), []int{0}},
		"assign": {e.Clone().AddAssign(1), []int{0, 3}}, "0-d": {weft.Scalar(2.0).Add(weft.Scalar(3.0)), nil}, "0-d sum": {weft.Scalar(2.0).Sum(), nil},
		"0-d T": {weft.Scalar(2.0).T(), nil}, "0-d reshape": {weft.Scalar(2.0).Reshape(1, 1), []int{1, 1}}, "0-d expand": {weft.Scalar(2.0).Expand(2, 0), []int{2, 0}},
		"0-d flatten": {weft.Scalar(2.0).Flatten(0), []int{1}}, "0-d stack": {weft.Stack([]*weft.Tensor{weft.Scalar(1.0), weft.Scalar(2.0)}, 0), []int{2}}, "0-d argmax": {weft.Scalar(2.0).ArgMax(), nil},
		"0-d softplus": {weft.Scalar(2.0).Softplus(), nil}, "0-d at": {weft.Scalar(2.0).At(), nil}, "0-d new axis": {weft.Scalar(2.0).Slice(weft.NewAxis, weft.NewAxis), []int{1, 1}},
		"0-d var": {weft.Scalar(2.0).Var(), nil}, "0-d cumulative": {weft.Scalar(2.0).LogSumExp(), nil},
	} {
		if !slices.Equal(c.x.Shape(), c.want) {
			t.Errorf("%s has shape %v, want %v", name, c.x.Shape(), c.want)
		}
		if n := len(weft.Data[float64](c.x.To(weft.Float64))); n != c.x.Size() {
			t.Errorf("%s has %d elements", name, n)
		}
	}
	for name, c := range map[string][2]float64{
		"sum": {e.Sum().Item(), 0}, "prod": {e.Prod().Item(), 1}, "all": {e.All().Item(), 1}, "any": {e.Any().Item(), 0},
		"matmul over nothing": {e.T().MatMul(weft.Zeros(0, 2)).Sum().Item(), 0},
		"dot":                 {weft.Zeros(0).MatMul(weft.Zeros(0)).Item(), 0},
	} {
		if c[0] != c[1] {
			t.Errorf("%s of nothing is %v, want %v", name, c[0], c[1])
		}
	}
	if m := weft.Zeros(0).Mean().Item(); m == m {
		t.Errorf("mean of nothing is %v, want NaN", m)
	}
	// Gradients of nothing.
	w := weft.Zeros(0, 3).RequireGrad()
	w.Mul(w).Sum().Backward()
	if g := w.Grad(); g == nil || !slices.Equal(g.Shape(), []int{0, 3}) {
		t.Errorf("gradient of an empty leaf: %v", g)
	}
}

func TestCatStackPadAndSplit(t *testing.T) {
	a, b := weft.Arange(4).Reshape(2, 2), weft.Arange(2.0).Reshape(2, 1)
	c := weft.Cat([]*weft.Tensor{a, b, a}, -1)
	if c.DType() != weft.Float32 || !slices.Equal(weft.Data[float32](c), []float32{0, 1, 0, 0, 1, 2, 3, 1, 2, 3}) {
		t.Errorf("cat: %#v", c)
	}
	s := weft.Stack([]*weft.Tensor{a, a.T()}, -1)
	if !slices.Equal(weft.Data[int64](s), []int64{0, 0, 1, 2, 2, 1, 3, 3}) {
		t.Errorf("stack: %#v", s)
	}
	p := a.Pad(9, 1, 0, 0, 2)
	if !slices.Equal(weft.Data[int64](p), []int64{9, 9, 9, 9, 0, 1, 9, 9, 2, 3, 9, 9}) {
		t.Errorf("pad: %#v", p)
	}
}

// Selection by a mask and its gradient, with a broadcast mask and another layout;
// adding rows to an array that is not zero.
func TestMaskSelect(t *testing.T) {
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int32, weft.Int64, weft.Float32, weft.Float64} {
		x := weft.FromSlice([]int64{1, 2, 3, 4, 5, 6}, 2, 3).To(d)
		got := x.T().MaskSelect(weft.FromSlice([]bool{true, false, true}, 3, 1))
		want := weft.FromSlice([]int64{1, 4, 3, 6}).To(d)
		if got.Eq(want).All().ItemInt() == 0 {
			t.Errorf("%s: %v, want %v", d, got, want)
		}
	}
	x := weft.FromSlice([]float32{1, 2, 3, 4}, 2, 2).RequireGrad()
	m := weft.FromSlice([]bool{true, false, false, true}, 2, 2)
	y := x.MaskSelect(m)
	y.Mul(y).Sum().Backward()
	if g := weft.Data[float32](x.Grad()); g[0] != 2 || g[1] != 0 || g[2] != 0 || g[3] != 8 {
		t.Errorf("gradient %v", g)
	}
	b := weft.FromSlice([]float32{10, 20, 30, 40}, 2, 2).RequireGrad()
	z := b.IndexAdd(0, weft.FromSlice([]int64{1, 1}), x)
	if v := weft.Data[float32](z); v[0] != 10 || v[1] != 20 || v[2] != 34 || v[3] != 46 {
		t.Errorf("index_add %v", v)
	}
	z.Mul(z).Sum().Backward()
	if g := weft.Data[float32](b.Grad()); g[0] != 20 || g[3] != 92 {
		t.Errorf("gradient of the base %v", g)
	}
}

// Views and small writes take little memory: no plan, no kernel, no tensor for a number.
func TestViewsAllocate(t *testing.T) {
	tensortest.SkipLate(t, "work that waits allocates")
	x, y, z := weft.Rand(1000), weft.Rand(10, 100), weft.Rand(1000)
	x.Assign(z) // makes the plan
	for name, c := range map[string]struct {
		most float64
		f    func()
	}{
		"x[:] = z":    {1, func() { x.Assign(z) }}, // the function that gives the interpreter fuel
		"x[3]":        {1, func() { y.At(3) }},
		"x[10:26]":    {2, func() { x.Slice(weft.Range(10, 26)) }},
		"reshape":     {3, func() { x.Reshape(10, 100) }},
		"x[3, 4] = 1": {1, func() { y.Set(1.5, 3, 4) }},
		"x[10:20]= 0": {2, func() { x.Slice(weft.Range(10, 20)).Assign(0) }},
		"x[:] = 0":    {0, func() { x.Zero() }},
		"zeros":       {4, func() { weft.Zeros(16) }},
	} {
		before := core.Plans.Stats().Made
		if n := testing.AllocsPerRun(100, c.f); n > c.most {
			t.Errorf("%s: %v allocations, want %v", name, n, c.most)
		}
		if n := core.Plans.Stats().Made - before; n != 0 {
			t.Errorf("%s makes %d plans", name, n)
		}
	}
}

// Set writes where a Go index expression of nested slices does, and nowhere else.
func TestSetMatchesNestedSlices(t *testing.T) {
	at := func(want []float64, i, j, k int) *float64 { return &want[(i*3+j)*4+k] }
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int16, weft.Int64, weft.Float32, weft.Float64} {
		for name, x := range map[string]*weft.Tensor{"rows": weft.ZerosOf(d, 2, 3, 4), "turned": weft.ZerosOf(d, 4, 3, 2).T(), "part": weft.ZerosOf(d, 4, 3, 8).Slice(weft.Range(1, 3), weft.All, weft.Range(6, weft.Begin, -2))} {
			want := make([]float64, 24)
			if x.Set(1, 1, 2, 3) != x {
				t.Error("Set returns another tensor")
			}
			*at(want, 1, 2, 3) = 1
			x.Set(true, -2, 0, -4)
			*at(want, 0, 0, 0) = 1
			x.Set(weft.Ones(4).To(d), 0, 1)
			x.Set(weft.Ones(1).To(d), 1, -3)
			for k := range 4 {
				*at(want, 0, 1, k), *at(want, 1, 0, k) = 1, 1
			}
			x.Set(weft.ScalarOf(d, 0), 0, 1, 2)
			*at(want, 0, 1, 2) = 0
			if got := weft.Data[float64](x.To(weft.Float64)); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", d, name, got, want)
			}
		}
	}
}

// What Set refuses names the argument, and nothing is written.
func TestSetRefuses(t *testing.T) {
	x, n := weft.Zeros(2, 3), weft.ZerosOf(weft.Uint8, 2, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"set: index 2 is out of range for axis 0 of size 2", func() { x.Set(1, 2) }},
		{"set: index -4 is out of range for axis 1 of size 3", func() { x.Set(1, 0, -4) }},
		{"set: more indices than the 2 dimensions", func() { x.Set(1, 0, 0, 0) }},
		{"set: v: has shape [2], which does not broadcast to the receiver's [3]", func() { x.Set(weft.Ones(2), 1) }},
		{"set: v: is a float, which cannot be written into uint8", func() { n.Set(1.5, 0, 0) }},
		{"set: v: is float32 and cannot be written into uint8", func() { n.Set(weft.Ones(3), 0) }},
		{"set: the number 300 does not fit uint8", func() { n.Set(300, 0, 0) }},
		{"set: v: takes a *Tensor or a Go number", func() { x.Set("1", 0, 0) }},
		{"set: v: is nil", func() { x.Set((*weft.Tensor)(nil), 0, 0) }},
		{"set: [2 3] with strides [0 1] is an expanded view", func() { weft.Zeros(3).Expand(2, 3).Set(1) }},
		{"set: [2 3] with strides [0 1] is an expanded view", func() { weft.Zeros(3).Expand(2, 3).Set(1, 0, 2) }},
		{"set: v: is complex, which cannot be written into float32", func() { x.Set(1i, 0, 0) }},
		{"set: the receiver is a view of a leaf", func() { weft.Zeros(3).RequireGrad().Set(1, 0) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if x.Sum().Item() != 0 || n.Sum().ItemInt() != 0 {
		t.Error("something was written")
	}
}

// Gradients flow to what was written, and no longer to what was there.
func TestSetGradient(t *testing.T) {
	a, v := weft.Ones(2, 3).RequireGrad(), weft.FullOf(weft.Float32, 5, 3).RequireGrad()
	x := a.Mul(2)
	x.Set(v, 1).Set(9, 0, 0)
	x.Square().Sum().Backward()
	if got, want := weft.Data[float32](a.Grad()), []float32{0, 8, 8, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("gradient of what was there %v, want %v", got, want)
	}
	if got, want := weft.Data[float32](v.Grad()), []float32{10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("gradient of what was written %v, want %v", got, want)
	}
}

// -1 keeps the size of an axis; every element is where broadcasting puts it.
func TestExpandOfMinusOne(t *testing.T) {
	x := weft.FromSlice([]float32{1, 2}, 2, 1)
	for _, c := range []struct{ shape, want []int }{
		{[]int{-1, 3}, []int{2, 3}}, {[]int{-1, -1}, []int{2, 1}}, {[]int{4, -1, 3}, []int{4, 2, 3}}, {[]int{0, -1, -1}, []int{0, 2, 1}}, {[]int{2, 3}, []int{2, 3}},
	} {
		y := x.Expand(c.shape...)
		if !array.Equal(y.Shape(), c.want) {
			t.Errorf("%v: shape %v, want %v", c.shape, y.Shape(), c.want)
		}
		for i, got := range weft.Data[float32](y) {
			if row := i / c.want[len(c.want)-1] % 2; got != float32(row+1) {
				t.Errorf("%v: element %d is %v", c.shape, i, got)
			}
		}
	}
	for want, shape := range map[string][]int{
		"expand: shape: [-1 2 3] has -1 for axis 0, which [2 1] does not have": {-1, 2, 3},
		"expand: shape: dimension 1 of [2 -2] is negative":                     {2, -2},
		"expand: shape: [2 1] does not expand to [3 1]":                        {3, -1},
		"expand: shape: [2 1] does not expand to [1]":                          {-1},
	} {
		if err := weft.Try(func() { x.Expand(shape...) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", shape, err, want)
		}
	}
	// The gradient sums over what was repeated.
	w := weft.Ones(2, 1).RequireGrad()
	w.Expand(-1, 3).Sum().Backward()
	if got := weft.Data[float32](w.Grad()); !slices.Equal(got, []float32{3, 3}) {
		t.Errorf("gradient %v", got)
	}
}

// RequireGrad(false) ends what RequireGrad() began, as often as wanted.
func TestRequireGradFalse(t *testing.T) {
	w := weft.Ones(2)
	if w.RequireGrad(false) != w || w.RequiresGrad() {
		t.Error("a tensor that was no leaf is one")
	}
	w.RequireGrad()
	w.Mul(3).Sum().Backward()
	if w.RequireGrad(false); w.RequiresGrad() || w.Grad() != nil || w.Mul(2).RequiresGrad() || !w.IsLeaf() {
		t.Error("still a leaf, or a gradient is there")
	}
	w.AddAssign(1) // is written as any other
	if w.RequireGrad(true); !w.RequiresGrad() {
		t.Error("no leaf again")
	}
	w.Square().Sum().Backward()
	if got := weft.Data[float32](w.Grad()); !slices.Equal(got, []float32{4, 4}) {
		t.Errorf("gradient %v", got)
	}
	for want, f := range map[string]func(){
		"requiregrad: the tensor was computed by mul": func() { w.Mul(2).RequireGrad(false) },
		"requiregrad: on: has 2 values":               func() { w.RequireGrad(true, false) },
		"only floats have gradients, not int64":       func() { weft.OnesOf(weft.Int64, 2).RequireGrad(true) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Wrong shapes in a formula are pointed at: the caret stands under the operation, or the
// letter of Einsum, that does not fit.
func TestFormulaCarets(t *testing.T) {
	a, b, c := weft.Ones(2, 3), weft.Ones(4, 5), weft.Ones(3, 4)
	vars := weft.Vars{"a": a, "b": b, "c": c}
	expr := func(s string) func() { return func() { weft.Expr(s, vars) } }
	sum := func(s string, ts ...*weft.Tensor) func() { return func() { weft.Einsum(s, ts...) } }
	for _, x := range []struct {
		f           func()
		text, caret string
	}{
		{expr("exp(a) * b"), "exp(a) * b", "       ^"},
		{expr("1 + dot(a, b)"), "1 + dot(a, b)", "    ^"},
		{expr("dot(a, c) + exp(b)"), "dot(a, c) + exp(b)", "          ^"},
		{expr("sum(a, 5)"), "sum(a, 5)", "^"},
		{expr("a == b && a < b"), "a == b && a < b", "  ^"},
		{expr("1 +\n  where(a > 0, a, b)"), "  where(a > 0, a, b)", "  ^"},
		{expr("softmax(a - mean_keep(b, 1), 0)"), "softmax(a - mean_keep(b, 1), 0)", "          ^"},
		{sum("ij, jk -> ik", a, b), "ij, jk -> ik", "    ^"},
		{sum("ij,jk->il", a, c), "ij,jk->il", "        ^"},
		{sum("ij,jk->ii", a, c), "ij,jk->ii", "        ^"},
		{sum("ijk->i", a), "ijk->i", "^"},
		{sum(" ii", a), " ii", "  ^"},
		{sum("ij,jk", a), "ij,jk", "  ^"},
		{sum("ij", a, c), "ij", "  ^"},
		{sum("i1", a), "i1", " ^"},
		{sum("ij...k..", a), "ij...k..", "      ^"},
		{sum("...,...", a, b), "...,...", "    ^"},
	} {
		err := weft.Try(x.f)
		if err == nil {
			t.Errorf("%q: no error", x.text)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 3 || lines[1] != "\t"+x.text || lines[2] != "\t"+x.caret {
			t.Errorf("%v", err)
		}
	}
}

// TestAtReadsOneElement compares At with Data over views of every layout, with indices from both
// ends.
func TestAtReadsOneElement(t *testing.T) {
	x := weft.Arange(24).Reshape(2, 3, 4)
	for name, v := range map[string]*weft.Tensor{
		"whole": x, "transposed": x.Transpose(0, 2), "step": x.Slice(weft.All, weft.Range(2, weft.Begin, -1), weft.Range(1, 4, 2)),
		"expanded": x.Slice(weft.All, weft.Range(0, 1)).Expand(2, 5, 4), "computed": x.Add(1), "lazy": x.Lazy().Add(1),
	} {
		want, s := weft.Data[int64](v), v.Shape()
		for i := range s[0] {
			for j := range s[1] {
				for k := range s[2] {
					w := want[(i*s[1]+j)*s[2]+k]
					if got, back := weft.At[int64](v, i, j, k), weft.At[int64](v, i-s[0], j-s[1], k-s[2]); got != w || back != w {
						t.Errorf("%s at %d, %d, %d is %d and %d, want %d", name, i, j, k, got, back, w)
					}
				}
			}
		}
	}
	one[bool](t, true)
	one[uint8](t, 200)
	one[int8](t, -7)
	one[int16](t, -300)
	one[int32](t, 1<<30)
	one[int64](t, math.MaxInt64)
	one[int](t, math.MinInt64)
	one[uint16](t, 65535)
	one[uint32](t, math.MaxUint32)
	one[uint64](t, math.MaxUint64)
	one[half.Float16](t, half.NewFloat16(1.5))
	one[half.BFloat16](t, half.NewBFloat16(-2.0))
	one[float32](t, 0.1)
	one[float64](t, math.Pi)
	one[complex64](t, 1-2i)
	one[complex128](t, 1e300i)
}

func one[T weft.Element](t *testing.T, x T) {
	t.Helper()
	if got := weft.At[T](weft.FromSlice([]T{*new(T), x}), 1); got != x {
		t.Errorf("%T %v is %v", x, x, got)
	}
	if got := weft.At[T](weft.FromSlice([]T{x}).Reshape()); got != x {
		t.Errorf("a scalar of %T %v is %v", x, x, got)
	}
}

// TestAtRefuses calls At with what it must refuse.
func TestAtRefuses(t *testing.T) {
	x := weft.Ones(2, 3)
	gone := weft.Ones(2)
	gone.Release()
	for want, f := range map[string]func(){
		"at: elements are float32, not float64":            func() { weft.At[float64](x, 0, 0) },
		"at: index: has 1 places for 2 axes":               func() { weft.At[float32](x, 0) },
		"at: index: has 3 places for 2 axes":               func() { weft.At[float32](x, 0, 0, 0) },
		"at: index: [1 3]: 3 is out of range for axis 1":   func() { weft.At[float32](x, 1, 3) },
		"at: index: [-3 0]: -3 is out of range for axis 0": func() { weft.At[float32](x, -3, 0) },
		"at: the tensor is nil":                            func() { weft.At[float32](nil, 0) },
		"at: the tensor float32[2] was released":           func() { weft.At[float32](gone, 0) },
		"rows: takes one axis or more":                     func() { weft.Scalar(1).Rows() },
	} {
		if err := weft.Try(f); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Mul(weft.At[float32](x, 0, 0)) }).Call(x); err == nil || !strings.Contains(err.Error(), "traced") {
		t.Errorf("At of a traced value: %v", err)
	}
}

// TestAtAllocatesNothing counts what reading an element costs.
func TestAtAllocatesNothing(t *testing.T) {
	tensortest.SkipLate(t, "the host reads through a copy")
	x := weft.Ones(2, 3)
	sum := float32(0)
	if n := testing.AllocsPerRun(100, func() { sum += weft.At[float32](x, 1, 2) }); n > 0 {
		t.Errorf("At allocates %v times", n)
	}
}

// TestRowsIterator walks rows, stops early, and takes gradients and a compiled function through them.
func TestRowsIterator(t *testing.T) {
	x := weft.Arange(0.0, 6).Reshape(3, 2).RequireGrad()
	var seen []int
	sum := weft.Scalar(0.0)
	for i, row := range x.Rows() {
		if seen = append(seen, i); i == 2 {
			break
		}
		sum = sum.Add(row.Mul(i + 1).Sum())
	}
	sum.Backward()
	if want := []float32{1, 1, 2, 2, 0, 0}; !slices.Equal(weft.Data[float32](x.Grad()), want) || !slices.Equal(seen, []int{0, 1, 2}) {
		t.Errorf("rows %v, gradient %v, want %v", seen, x.Grad(), want)
	}
	for range weft.Zeros(0, 3).Rows() {
		t.Error("an empty tensor has a row")
	}
	total := func(x *weft.Tensor) *weft.Tensor {
		y := x.At(0)
		for i, row := range x.Rows() {
			y = y.Add(row.Mul(i))
		}
		return y
	}
	d := x.Detach()
	got, err := weft.Compile(total).Call(d)
	if err != nil || weft.Digest(got) != weft.Digest(total(d)) {
		t.Errorf("compiled %v, %v, want %v", got, err, total(d))
	}
}
