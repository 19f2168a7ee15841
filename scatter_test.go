package weft

import (
	"errors"
	"math"
	"slices"
	"testing"
)

// A given array of floats or integers, as testdata/scatter.py writes it.
type given struct {
	Shape  []int
	Floats []float64
	Values []int64
}

func (g given) tensor() *Tensor {
	if g.Values != nil || g.Floats == nil {
		return FromSlice(g.Values).Reshape(g.Shape...)
	}
	return FromSlice(g.Floats).Reshape(g.Shape...)
}

// near reports equality but for a few roundings.
func (g given) near(t *Tensor) bool {
	if !slices.Equal(t.Shape(), g.Shape) {
		return false
	}
	for i, x := range Data[float64](t.To(Float64)) {
		if math.Abs(x-g.Floats[i]) > 1e-14*math.Abs(g.Floats[i]) {
			return false
		}
	}
	return true
}

type scatterCases struct {
	Reduce []struct {
		Op                     string
		Axis                   int
		Own                    bool
		Index, X, V, Y, Dx, Dv given
		Whole                  expected
	}
	Take []struct {
		X, Index given
		Axis     int
		Y        expected
	}
}

// TestScatterReduce compares values and gradients with PyTorch's scatter_reduce.
func TestScatterReduce(t *testing.T) {
	var cases scatterCases
	decode(t, "testdata/scatter.json", &cases)
	ops := map[string]ScatterOp{"sum": ScatterSum, "mean": ScatterMean, "amin": ScatterMin, "amax": ScatterMax}
	for _, c := range cases.Reduce {
		o := ScatterOpts{Reduce: ops[c.Op], ExcludeSelf: !c.Own}
		for _, at := range []DType{Int64, Int32} {
			index := c.Index.tensor().To(at)
			x, v := c.X.tensor().RequireGrad(), c.V.tensor().RequireGrad()
			if len(c.V.Floats) == 0 {
				v = ZerosOf(Float64, c.V.Shape...).RequireGrad()
			}
			y := x.ScatterReduce(c.Axis, index, v, o)
			if !c.Y.near(y) {
				t.Errorf("%s own %v of %v, %v at %v: %v, want %v", c.Op, c.Own, x, v, index, y, c.Y.Floats)
			}
			g := Grad(y.Square().Sum(), []*Tensor{x, v})
			if !c.Dx.near(g[0]) || len(c.Dv.Floats) > 0 && !c.Dv.near(g[1]) {
				t.Errorf("%s own %v of %v, %v at %v: gradients %v and %v, want %v and %v", c.Op, c.Own, x, v, index, g[0], g[1], c.Dx.Floats, c.Dv.Floats)
			}
			for _, d := range []DType{Int64, Int32} {
				if y := x.Detach().To(d).ScatterReduce(c.Axis, index, v.Detach().To(d), o); y.DType() != d || c.Whole.differs(y) != "" {
					t.Errorf("%s of %s own %v of %v, %v at %v: %v, want %v", c.Op, d, c.Own, x, v, index, y, c.Whole)
				}
			}
		}
	}
	nan := math.NaN()
	if y := vec(1, 2, nan).ScatterReduce(0, From([]int{0, 0, 2}), vec(nan, 3, 4), ScatterOpts{Reduce: ScatterMax}); !math.IsNaN(y.At(0).Item()) || y.At(1).Item() != 2 || !math.IsNaN(y.At(2).Item()) {
		t.Errorf("greatest with NaN: %v", y)
	}
	// An element that is left out shares nothing, also where it equals the least.
	x, v := vec(1, 5).RequireGrad(), vec(1, 1, 7).RequireGrad()
	y := x.ScatterReduce(0, From([]int{0, 0, 0}), v, ScatterOpts{Reduce: ScatterMin, ExcludeSelf: true})
	if g := Grad(y.Sum(), []*Tensor{x, v}); !slices.Equal(Data[float64](g[0]), []float64{0, 1}) || !slices.Equal(Data[float64](g[1]), []float64{0.5, 0.5, 0}) {
		t.Errorf("gradients %v and %v", g[0], g[1])
	}
}

// Scatter writes in row-major order, the last stays, and it alone has a gradient.
func TestScatter(t *testing.T) {
	index := From([][]int{{0, 2, -1}, {0, 1, 2}})
	x := Zeros(3, 3).To(Float64)
	for axis, want := range [][]float64{{4, 0, 0, 0, 5, 0, 0, 2, 6}, {1, 0, 3, 4, 5, 6, 0, 0, 0}} {
		if y := x.Scatter(axis, index, From([][]float64{{1, 2, 3}, {4, 5, 6}})); !slices.Equal(Data[float64](y), want) {
			t.Errorf("axis %d: %v, want %v", axis, y, want)
		}
	}
	for _, d := range []DType{Bool, Uint8, Int32, Int64, Float32, Float64} {
		if y := ZerosOf(d, 3).Scatter(0, From([]int{2, 0}), 1); y.DType() != d || !slices.Equal(Data[int64](y.To(Int64)), []int64{1, 0, 1}) {
			t.Errorf("%s: %v", d, y)
		}
	}
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	w := Arange(9.0).To(Float64).Add(1).Sqrt().Reshape(3, 3)
	sum := func(y *Tensor) *Tensor { return y.Square().Mul(w).Sum() }
	for axis := range 2 {
		differences(t, "values", func(v *Tensor) *Tensor { return sum(x.Add(1).Scatter(axis, index, v.Reshape(2, 3))) }, at...)
		differences(t, "array", func(y *Tensor) *Tensor {
			return sum(VStack([]*Tensor{y.Reshape(2, 3), y.Slice(Range(0, 3))}).Scatter(axis, index, 7))
		}, at...)
		differences(t, "number", func(y *Tensor) *Tensor { return sum(x.Scatter(axis, index, y.At(0))) }, at...)
		for _, o := range []ScatterOpts{{ScatterSum, false}, {ScatterSum, true}, {ScatterMean, true}, {ScatterMin, false}, {ScatterMax, true}} {
			differences(t, "reduced values", func(v *Tensor) *Tensor { return sum(x.Add(1.125).ScatterReduce(axis, index, v.Reshape(2, 3), o)) }, at...)
		}
	}
}

func TestTakeAlongAxis(t *testing.T) {
	var cases scatterCases
	decode(t, "testdata/scatter.json", &cases)
	for _, c := range cases.Take {
		for _, x := range layouts(c.X.tensor()) {
			if y := x.TakeAlongAxis(c.Axis, c.Index.tensor()); c.Y.differs(y) != "" {
				t.Errorf("%v along %d by %v: %v, want %v", x, c.Axis, c.Index, y, c.Y)
			}
		}
	}
	if len(cases.Take) < 8 {
		t.Error("few cases")
	}
	differences(t, "take_along_axis", func(x *Tensor) *Tensor {
		return x.Reshape(3, 1).TakeAlongAxis(0, From([][]int{{0, 1}, {2, 2}})).Square().Sum()
	}, 0.5, 2, -3)
}

func TestScatterMisuse(t *testing.T) {
	x, i := Zeros(3, 2), ZerosOf(Int64, 3, 2)
	for n, f := range []func(){
		func() { x.Scatter(2, i, 1) }, func() { x.Scatter(0, i, Ones(3)) }, func() { x.Scatter(0, Ones(3, 2), 1) }, func() { x.Scatter(0, ZerosOf(Int64, 3, 3), 1) },
		func() { x.Scatter(0, ZerosOf(Int64, 2), 1) }, func() { x.Scatter(0, i.Add(3), 1) }, func() { x.Scatter(0, i, "a") }, func() { x.To(Int64).Scatter(0, i, 0.5) }, func() { Zeros(0).Scatter(0, ZerosOf(Int64, 1), 1) },
		func() { Scalar(1).Scatter(0, i, 1) }, func() { x.ScatterReduce(0, i, Ones(3), ScatterOpts{}) }, func() { x.ScatterReduce(0, i, Ones(3, 2), ScatterOpts{Reduce: 9}) },
		func() { x.ScatterReduce(0, i.Add(3), Ones(3, 2), ScatterOpts{Reduce: ScatterMax}) }, func() { x.ScatterReduce(0, i, Ones(2, 2), ScatterOpts{Reduce: ScatterMin}) }, func() { x.ScatterReduce(0, i.Sub(4), Ones(3, 2), ScatterOpts{Reduce: ScatterMean}) },
		func() { x.To(Bool).ScatterReduce(0, i, OnesOf(Bool, 3, 2), ScatterOpts{Reduce: ScatterMean}) }, func() { x.TakeAlongAxis(0, ZerosOf(Int64, 3)) }, func() { x.TakeAlongAxis(0, ZerosOf(Int64, 3, 3)) }, func() { x.TakeAlongAxis(2, i) }, func() { x.TakeAlongAxis(0, i.Add(3)) },
	} {
		var e *Error
		if err := Try(f); !errors.As(err, &e) || e.Kind != Misuse {
			t.Errorf("%d: %v, want a misuse", n, err)
		}
	}
}

// Places in no rows name nothing.
func TestScatterNothing(t *testing.T) {
	x := OnesOf(Float32, 0, 3, 2)
	index := ZerosOf(Int64, 0, 3, 2)
	if y := ZerosOf(Float32, 0, 4, 2).ScatterAdd(1, index, x); y.Size() != 0 {
		t.Errorf("%v", y)
	}
	if y := ZerosOf(Float32, 4, 0, 2).Gather(0, ZerosOf(Int64, 3, 0, 2)); y.Size() != 0 {
		t.Errorf("%v", y)
	}
}
