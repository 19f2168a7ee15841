package weft_test

import (
	"fmt"

	"weft"
)

func ExampleTensor_CumSum() {
	x := weft.From([][]float32{{1, 2, 3}, {4, 5, 6}})
	fmt.Println(x.CumSum(1))
	fmt.Println(x.CumProd(0))
	// Output:
	// [[ 1.  3.  6.]
	//  [ 4.  9. 15.]]
	// [[ 1.  2.  3.]
	//  [ 4. 10. 18.]]
}

func ExampleTensor_CumMax() {
	fmt.Println(weft.From([]int64{3, 1, 4, 1, 5}).CumMax(0))
	// Output: [3 3 4 4 5] [0 0 2 2 4]
}

func ExampleTensor_TopK() {
	values, index := weft.From([]float32{3, 1, 4, 1, 5, 9}).TopK(3, 0, weft.TopKOpts{})
	fmt.Println(values, index)
	// Output: [9. 5. 4.] [5 4 2]
}

func ExampleTensor_KthValue() {
	value, index := weft.From([]float32{3, 1, 4, 1, 5, 9}).KthValue(3, 0)
	fmt.Println(value, index)
	// Output: 3.0 0
}

func ExampleTensor_MaxWithIndex() {
	values, index := weft.From([][]float32{{3, 7}, {9, 7}}).MaxWithIndex(1)
	fmt.Println(values, index)
	// Output: [7. 9.] [1 0]
}

func ExampleTensor_SearchSorted() {
	edges := weft.From([]float32{0, 1, 10})
	fmt.Println(edges.SearchSorted(weft.From([]float32{-1, 0, 5, 99}), weft.SearchOpts{Right: true}))
	// Output: [0 1 2 3]
}

func ExampleTensor_Unique() {
	values, inverse, counts := weft.From([]int64{5, 2, 5, 9, 2, 5}).Unique()
	fmt.Println(values, inverse, counts)
	// Output: [2 5 9] [1 0 1 2 0 1] [2 3 1]
}

func ExampleEinsum() {
	a := weft.From([][]float32{{1, 2}, {3, 4}})
	b := weft.From([][]float32{{1, 0}, {0, 2}})
	fmt.Println(weft.Einsum("ij,jk->ik", a, b)) // a product of matrices
	fmt.Println(weft.Einsum("ii", a), weft.Einsum("ij->j", a))
	// Output:
	// [[1. 4.]
	//  [3. 8.]]
	// 5.0 [4. 6.]
}

func ExampleTensor_Quantile() {
	x := weft.From([]float32{4, 1, 3, 2})
	fmt.Println(x.Median(), x.Quantile(0.25), x.Percentile(100))
	// Output: 2.5 1.75 4.0
}

func ExampleTensor_Histogram() {
	x := weft.From([]float32{0, 0.1, 0.6, 1, 1})
	counts, edges := x.Histogram(weft.HistogramOpts{Bins: new(2)})
	fmt.Println(counts, edges)
	// Output: [2 3] [0.  0.5 1. ]
}

func ExampleTensor_BinCount() {
	fmt.Println(weft.From([]int64{1, 3, 1}).BinCount(nil, 0))
	// Output: [0 2 0 1]
}

func ExampleTensor_Norm() {
	x := weft.From([][]float32{{3, 4}, {6, 8}})
	fmt.Println(x.Norm(2, 1), x.Norm(1))
	// Output: [ 5. 10.] 21.0
}

func ExampleTensor_AllClose() {
	x := weft.From([]float32{1, 2})
	fmt.Println(x.AllClose(x.Add(1e-6), weft.CloseOpts{}), x.AllClose(2, weft.CloseOpts{}))
	// Output: true false
}

func ExampleTensor_NanToNum() {
	x := weft.From([]float64{1, 2}).Div(0).Mul(weft.From([]float64{1, 0}))
	fmt.Println(x, x.NanToNum(0, 9))
	// Output: [inf nan] [9. 0.]
}

func ExampleGenerator_Choice() {
	g := weft.NewGenerator(1)
	x := weft.From([]float32{10, 20, 30})
	fmt.Println(g.Choice(x, 8, weft.ChoiceOpts{Weights: weft.From([]float32{0, 1, 0})}))
	fmt.Println(g.Choice(x, 3, weft.ChoiceOpts{Distinct: true}).Sum())
	// Output:
	// [20. 20. 20. 20. 20. 20. 20. 20.]
	// 60.0
}

func ExampleGenerator_Multinomial() {
	w := weft.From([][]float32{{0, 2, 0}, {1, 0, 0}})
	fmt.Println(weft.NewGenerator(1).Multinomial(w, 3, weft.MultinomialOpts{}))
	// Output:
	// [[1 1 1]
	//  [0 0 0]]
}

func ExampleTensor_Asinh() {
	x := weft.From([]float64{0.5, 1})
	fmt.Printf("%.4f %.4f %.4f\n", x.Asinh(), x.Add(1).Acosh(), x.Mul(0.5).Atanh())
	// Output: [0.4812 0.8814] [0.9624 1.3170] [0.2554 0.5493]
}

func ExampleTensor_Lgamma() {
	x := weft.From([]float64{0.5, 1, 5})
	fmt.Printf("%.4f %.4f %.4f\n", x.Lgamma(), x.Digamma(), x.Trigamma())
	// Output: [0.5724 0.0000 3.1781] [-1.9635 -0.5772  1.5061] [4.9348 1.6449 0.2213]
}

func ExampleTensor_Erfinv() {
	fmt.Printf("%.4f\n", weft.From([]float64{-1, 0, 0.5, 1}).Erfinv())
	// Output: [  -Inf 0.0000 0.4769   +Inf]
}

func ExampleTensor_Erfc() {
	fmt.Printf("%.4e\n", weft.From([]float64{-1, 0, 1, 6}).Erfc())
	// Output: [1.8427e+00 1.0000e+00 1.5730e-01 2.1520e-17]
}
