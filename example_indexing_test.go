package weft_test

import (
	"fmt"

	"weft"
)

func ExampleTensor_Index() {
	x := weft.Arange(12).Reshape(3, 4)
	fmt.Println(x.Index([]int{2, 0}))                    // rows
	fmt.Println(x.Index(weft.All, []int{-1, 0}))         // columns
	fmt.Println(x.Index([]int{0, 1, 2}, []int{3, 0, 1})) // one element a pair
	fmt.Println(x.Index(x.Gt(8)))                        // under a mask
	fmt.Println(x.Index(weft.Ellipsis, weft.NewAxis).Shape())
	// Output:
	// [[ 8  9 10 11]
	//  [ 0  1  2  3]]
	// [[ 3  0]
	//  [ 7  4]
	//  [11  8]]
	// [3 4 9]
	// [ 9 10 11]
	// [3 4 1]
}

func ExampleTensor_IndexPut() {
	x := weft.Arange(6).Reshape(2, 3)
	fmt.Println(x.IndexPut(0, x.Gt(3)))
	fmt.Println(x.IndexPut(weft.From([]int{7, 8}), weft.All, []int{0, 2}))
	fmt.Println(x.Index(0).IndexPut(weft.From([]int{7, 8}), []int{1, 1})) // the last stays
	// Output:
	// [[0 1 2]
	//  [3 0 0]]
	// [[7 1 8]
	//  [7 4 8]]
	// [0 8 2]
}

func ExampleTensor_IndexPutAdd() {
	counts := weft.ZerosOf(weft.Int64, 4)
	fmt.Println(counts.IndexPutAdd(1, []int{3, 0, 3, 3}))
	// Output: [1 0 0 3]
}

func ExampleTensor_TakeAlongAxis() {
	x := weft.From([][]float32{{3, 1, 2}, {4, 6, 5}})
	fmt.Println(x.TakeAlongAxis(1, x.ArgMax(1).Unsqueeze(1)))
	// Output:
	// [[3.]
	//  [6.]]
}

func ExampleTensor_Scatter() {
	labels := weft.From([][]int{{2}, {0}})
	fmt.Println(weft.Zeros(2, 3).Scatter(1, labels, 1)) // one-hot
	// Output:
	// [[0. 0. 1.]
	//  [1. 0. 0.]]
}

func ExampleTensor_ScatterReduce() {
	groups, x := weft.From([]int{0, 1, 0, 1}), weft.From([]float32{1, 2, 3, 6})
	fmt.Println(weft.Zeros(2).ScatterReduce(0, groups, x, weft.ScatterOpts{Reduce: weft.ScatterMean, ExcludeSelf: true}))
	// Output: [2. 4.]
}

func ExampleAt() {
	x := weft.From([][]float64{{1, 2, 3}, {4, 5, 6}})
	fmt.Println(weft.At[float64](x, 1, 0), weft.At[float64](x, 0, -1))
	// Output: 4 3
}

func ExampleTensor_Rows() {
	x := weft.From([][]float64{{1, 2, 3}, {4, 5, 6}})
	for i, row := range x.Rows() {
		fmt.Println(i, row, row.Sum().Item())
	}
	// Output:
	// 0 [1. 2. 3.] 6
	// 1 [4. 5. 6.] 15
}
