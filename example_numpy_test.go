package weft_test

import (
	"fmt"
	"math"

	"weft"
)

// Examples of what NumPy's users type daily.

func ExampleTensor_FMod() {
	x := weft.FromSlice([]float64{-7, 7})
	fmt.Println(x.FMod(3), x.Mod(3))
	q, r := x.DivMod(3)
	fmt.Println(q, r)
	// Output:
	// [-1.  1.] [2. 1.]
	// [-3.  2.] [2. 1.]
}

func ExampleTensor_RoundTo() {
	x := weft.FromSlice([]float64{3.14159, 0.125})
	fmt.Println(x.RoundTo(2), weft.FromSlice([]int64{1250, 1350}).RoundTo(-2))
	// Output: [3.14 0.12] [1200 1400]
}

func ExampleTensor_Frexp() {
	m, e := weft.FromSlice([]float64{8, -0.3}).Frexp()
	fmt.Println(m, e, m.Ldexp(e))
	// Output: [ 0.5 -0.6] [ 4 -1] [ 8.  -0.3]
}

func ExampleTensor_GCD() {
	x := weft.FromSlice([]int32{12, 18})
	fmt.Println(x.GCD(8), x.LCM(8))
	// Output: [4 2] [24 72]
}

func ExampleTensor_Degrees() {
	x := weft.FromSlice([]float64{0, 180, 90})
	fmt.Printf("%.4f\n", x.Radians())
	fmt.Println(x.Radians().Degrees())
	// Output:
	// [0.0000 3.1416 1.5708]
	// [  0. 180.  90.]
}

func ExampleTensor_LogAddExp() {
	x := weft.FromSlice([]float64{-1000, 0})
	fmt.Printf("%.4f\n", x.LogAddExp(x))
	// Output: [-999.3069    0.6931]
}

func ExampleUnion1D() {
	a, b := weft.From([]int{3, 1, 3, 2}), weft.From([]int{2, 5})
	fmt.Println(weft.Union1D(a, b), weft.Intersect1D(a, b), weft.SetDiff1D(a, b), weft.SetXor1D(a, b))
	fmt.Println(a.IsIn(b))
	// Output:
	// [1 2 3 5] [2] [1 3] [1 3 5]
	// [false false false  true]
}

func ExampleUniqueAxis() {
	x := weft.From([][]int{{1, 2}, {0, 5}, {1, 2}})
	values, inverse, counts := weft.UniqueAxis(x, 0)
	fmt.Println(values.Shape(), values.At(0), inverse, counts)
	// Output: [2 2] [0 5] [1 0 1] [1 2]
}

func ExampleArgWhere() {
	x := weft.From([][]int{{0, 7}, {8, 0}})
	fmt.Println(weft.ArgWhere(x).At(1), weft.UnravelIndex(x.NonZero(), 2, 2))
	// Output: [1 0] [[0 1] [1 0]]
}

func ExampleTensor_Insert() {
	x := weft.From([]int{1, 2, 3})
	fmt.Println(x.Insert(0, []int{1}, 9), x.Delete(0, 0, -1), x.Append(0, weft.From([]int{4})))
	// Output: [1 9 2 3] [2] [1 2 3 4]
}

func ExampleSelect() {
	x := weft.Arange(6)
	fmt.Println(weft.Select([]*weft.Tensor{x.Lt(2), x.Gt(3)}, []any{x, x.Square()}, 0))
	// Output: [ 0  1  0  0 16 25]
}

func ExampleTensor_Diff() {
	x := weft.FromSlice([]float64{1, 2, 4, 7})
	fmt.Println(x.Diff(0, 1), x.Gradient(0, 1.), x.Trapezoid(0, 1.))
	// Output: [1. 2. 3.] [1.  1.5 2.5 3. ] 10.0
}

func ExampleTensor_Interp() {
	x := weft.FromSlice([]float64{-1, 0.5, 1.5, 9})
	fmt.Println(x.Interp(weft.FromSlice([]float64{0, 1, 2}), weft.FromSlice([]float64{0, 10, 30})))
	// Output: [ 0.  5. 20. 30.]
}

func ExampleTensor_Cov() {
	x := weft.From([][]float64{{1, 2, 3}, {3, 2, 1}})
	fmt.Println(x.Cov().At(0), x.CorrCoef().At(0))
	// Output: [ 1. -1.] [ 1. -1.]
}

func ExampleTensor_Cdist() {
	x := weft.From([][]float64{{0, 0}, {3, 4}})
	fmt.Println(x.Cdist(x, 2).At(0), x.Pdist(1))
	// Output: [0. 5.] [7.]
}

func ExampleTensor_NanMean() {
	x := weft.FromSlice([]float64{1, math.NaN(), 4})
	fmt.Println(x.NanMean(), x.NanMax(), x.NanMedian(), x.NanSum())
	// Output: 2.5 4.0 2.5 5.0
}

func ExampleTensor_PadMode() {
	x := weft.From([]int{1, 2, 3})
	fmt.Println(x.PadMode("reflect", 2, 2), x.PadMode("wrap", 1, 1), x.PadMode("edge", 0, 2))
	// Output: [3 2 1 2 3 2 1] [3 1 2 3 1] [1 2 3 3 3]
}

func ExampleTensor_SlidingWindowView() {
	x := weft.Arange(5)
	fmt.Println(x.SlidingWindowView(0, 3).Sum(1), x.AsStrided(0, []int{2, 2}, []int{2, 1}).Sum(1))
	// Output: [3 6 9] [1 5]
}

func ExampleTensor_ViewAs() {
	x := weft.FromSlice([]float32{1, -2})
	fmt.Printf("%x\n", weft.Data[uint32](x.ViewAs(weft.Uint32)))
	// Output: [3f800000 c0000000]
}

func ExampleFInfo() {
	fmt.Println(weft.FInfo(weft.Float16).Max, weft.IInfo(weft.Int8).Min, weft.PromoteTypes(weft.Int8, weft.Uint8), weft.ResultType(weft.Float32, 2))
	// Output: 65504 -128 int16 float32
}

func ExampleHistogramDD() {
	points := weft.From([][]float64{{0, 0}, {1, 1}, {1, 0.9}})
	counts, edges := weft.HistogramDD(points, weft.HistogramDDOpts{Bins: []int{2}})
	fmt.Println(counts.At(0), counts.At(1), edges[0])
	// Output: [1 0] [0 2] [0.  0.5 1. ]
}
