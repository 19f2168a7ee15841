package weft_test

import (
	"fmt"
	"math"

	"weft"
)

// Examples of functions of elements, reductions and products.

func ExampleTensor_Sub() {
	x := weft.FromSlice([]float32{5, 7})
	fmt.Println(x.Sub(2), x.RSub(2))
	// Output: [3. 5.] [-3. -5.]
}

func ExampleTensor_Div() {
	x := weft.FromSlice([]int64{7, -7})
	fmt.Println(x.Div(2), x.FloorDiv(2), x.Mod(2))
	// Output: [ 3.5 -3.5] [ 3 -4] [1 1]
}

func ExampleTensor_Pow() {
	x := weft.FromSlice([]float32{2, 3})
	fmt.Println(x.Pow(2), x.Pow(-1))
	// Output: [4. 9.] [0.5        0.33333334]
}

func ExampleTensor_Exp() {
	x := weft.FromSlice([]float32{0, 1})
	fmt.Printf("%.4f\n", x.Exp())
	// Output: [1.0000 2.7183]
}

func ExampleTensor_Log1p() {
	x := weft.FromSlice([]float64{1e-20})
	fmt.Println(x.Log1p(), x.Add(1).Log())
	// Output: [1.e-20] [0.]
}

func ExampleTensor_Sigmoid() {
	x := weft.FromSlice([]float32{-1000, 0, 1000})
	fmt.Println(x.Sigmoid())
	// Output: [0.  0.5 1. ]
}

func ExampleTensor_Relu() {
	x := weft.FromSlice([]float32{-1, 0, 2})
	fmt.Println(x.Relu())
	// Output: [0. 0. 2.]
}

func ExampleTensor_Round() {
	x := weft.FromSlice([]float32{-1.5, 0.5, 2.5})
	fmt.Println(x.Round(), x.Floor(), x.Ceil(), x.Trunc())
	// Output: [-2.  0.  2.] [-2.  0.  2.] [-1.  1.  3.] [-1.  0.  2.]
}

func ExampleTensor_Clamp() {
	x := weft.FromSlice([]float32{-3, 0.5, 9})
	fmt.Println(x.Clamp(0, 1))
	// Output: [0.  0.5 1. ]
}

func ExampleTensor_Maximum() {
	x := weft.FromSlice([]float32{1, 5})
	fmt.Println(x.Maximum(3), x.Minimum(3))
	// Output: [3. 5.] [1. 3.]
}

func ExampleTensor_Atan2() {
	y, x := weft.FromSlice([]float32{1, -1}), weft.FromSlice([]float32{-1, -1})
	fmt.Printf("%.2f\n", y.Atan2(x))
	// Output: [ 2.36 -2.36]
}

func ExampleTensor_Lerp() {
	x := weft.FromSlice([]float32{0, 10})
	fmt.Println(x.Lerp(20, 0.25))
	// Output: [ 5.  12.5]
}

func ExampleTensor_Gt() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Gt(3))
	// Output:
	// [[false false false]
	//  [ true  true  true]]
}

func ExampleTensor_IsNaN() {
	x := weft.FromSlice([]float64{1, math.NaN(), math.Inf(1)})
	fmt.Println(x.IsNaN(), x.IsInf(), x.IsFinite())
	// Output: [false  true false] [false false  true] [ true false false]
}

func ExampleTensor_Sum() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Sum())
	fmt.Println(x.Sum(0))
	fmt.Println(x.Sum(-1))
	fmt.Println(x.SumKeep(1).Shape())
	// Output:
	// 21.0
	// [5. 7. 9.]
	// [ 6. 15.]
	// [2 1]
}

func ExampleTensor_Mean() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Mean().Item(), x.Mean(0))
	fmt.Println(x.Sub(x.MeanKeep(1)))
	// Output:
	// 3.5 [2.5 3.5 4.5]
	// [[-1.  0.  1.]
	//  [-1.  0.  1.]]
}

func ExampleTensor_Var() {
	x := weft.FromSlice([]float32{1, 2, 3, 4})
	fmt.Println(x.Var().Item(), x.SampleVar().Item())
	// Output: 1.25 1.6666666269302368
}

func ExampleTensor_Prod() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Prod(1))
	// Output: [  6. 120.]
}

func ExampleTensor_Max() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Max().Item(), x.Max(0), x.Max(1))
	// Output: 6 [4. 5. 6.] [3. 6.]
}

func ExampleTensor_ArgMax() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.ArgMax().ItemInt(), x.ArgMax(1))
	// Output: 5 [2 2]
}

func ExampleTensor_All() {
	x := weft.From([][]bool{{true, true}, {true, false}})
	fmt.Println(x.All(1), x.Any(0))
	// Output: [ true false] [true true]
}

func ExampleTensor_CountNonZero() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Gt(2).CountNonZero().ItemInt(), x.Gt(2).CountNonZero(0))
	// Output: 4 [1 1 2]
}

func ExampleTensor_LogSumExp() {
	x := weft.FromSlice([]float64{1000, 1000})
	fmt.Printf("%.4f\n", x.LogSumExp())
	// Output: 1000.6931
}

func ExampleTensor_Softmax() {
	x := weft.FromSlice([]float32{1, 1, 1, 1})
	fmt.Println(x.Softmax(0))
	// Output: [0.25 0.25 0.25 0.25]
}

func ExampleTensor_Median() {
	x := weft.FromSlice([]float32{1, 9, 2, 8})
	fmt.Println(x.Median().Item())
	// Output: 5
}

func ExampleTensor_CumProd() {
	x := weft.FromSlice([]int64{1, 2, 3, 4})
	fmt.Println(x.CumProd(0))
	// Output: [ 1  2  6 24]
}

func ExampleTensor_ArgSort() {
	x := weft.FromSlice([]float32{3, 1, 2})
	fmt.Println(x.ArgSort(0, weft.SortOpts{}))
	// Output: [1 2 0]
}

func ExampleTensor_Dot() {
	x := weft.FromSlice([]float32{1, 2, 3})
	fmt.Println(x.Dot(x).Item())
	// Output: 14
}

func ExampleTensor_Outer() {
	x := weft.FromSlice([]float32{1, 2})
	fmt.Println(x.Outer(weft.FromSlice([]float32{10, 20, 30})))
	// Output:
	// [[10. 20. 30.]
	//  [20. 40. 60.]]
}

func ExampleTensor_TensorDot() {
	a, b := weft.Ones(2, 3, 4), weft.Ones(4, 3, 5)
	fmt.Println(a.TensorDot(b, []int{1, 2}, []int{1, 0}).Shape())
	// Output: [2 5]
}

func ExampleTensor_Linear() {
	x, w, b := weft.Ones(1, 2), weft.From([][]float32{{1, 2}, {3, 4}}), weft.FromSlice([]float32{10, 20})
	fmt.Println(x.Linear(w, b))
	// Output: [[13. 27.]]
}

func ExampleTensor_MaxPool2d() {
	x := weft.Arange(16).To(weft.Float32).Reshape(1, 1, 4, 4)
	fmt.Println(x.MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Reshape(2, 2))
	fmt.Println(x.AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Reshape(2, 2))
	// Output:
	// [[ 5.  7.]
	//  [13. 15.]]
	// [[ 2.5  4.5]
	//  [10.5 12.5]]
}

func ExampleCrossEntropy() {
	logits := weft.Zeros(1, 4) // four classes, equally likely
	loss := weft.CrossEntropy(logits, weft.From([]int64{2}))
	fmt.Printf("%.4f\n", loss.Item()) // log(4)
	// Output: 1.3863
}

func ExampleTensor_Dropout() {
	x := weft.Ones(1000)
	y := x.Dropout(0.5, weft.NewGenerator(1)) // zeros, or 1/(1-p)
	fmt.Println(y.Max().Item(), y.Min().Item())
	// Output: 2 0
}
