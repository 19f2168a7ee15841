package weft_test

import (
	"fmt"

	"weft"
)

// Examples of views and other shapes.

func ExampleTensor_At() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.At(1))
	fmt.Println(x.At(0, -1).Item())
	// Output:
	// [4. 5. 6.]
	// 3
}

func ExampleTensor_Set() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	x.Set(10, 1, -1)                             // x[1, -1] = 10
	x.Set(weft.FromSlice([]float32{7, 8, 9}), 0) // x[0] = [7, 8, 9]
	fmt.Println(x)
	// Output:
	// [[ 7.  8.  9.]
	//  [ 4.  5. 10.]]
}

func ExampleTensor_Assign() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	x.Slice(weft.All, weft.Index(0)).Assign(0) // x[:, 0] = 0
	fmt.Println(x)
	// Output:
	// [[0. 2. 3.]
	//  [0. 5. 6.]]
}

func ExampleTensor_Update() {
	x := weft.FromSlice([]float32{-1, 2})
	x.Update((*weft.Tensor).Relu)
	fmt.Println(x)
	// Output: [0. 2.]
}

func ExampleTensor_AddAssign() {
	x := weft.FromSlice([]float32{1, 2})
	x.AddAssign(10)
	fmt.Println(x)
	// Output: [11. 12.]
}

func ExampleTensor_Reshape() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.Reshape(3, -1)
	y.Set(0, 0, 0) // a view: x changes
	fmt.Println(y)
	fmt.Println(x.At(0, 0).Item())
	// Output:
	// [[0. 2.]
	//  [3. 4.]
	//  [5. 6.]]
	// 0
}

func ExampleTensor_Flatten() {
	x := weft.Ones(4, 2, 3)
	fmt.Println(x.Flatten(1).Shape(), x.Flatten(0).Shape())
	// Output: [4 6] [24]
}

func ExampleTensor_Permute() {
	image := weft.Ones(480, 640, 3) // rows, columns, channels
	fmt.Println(image.Permute(2, 0, 1).Shape())
	// Output: [3 480 640]
}

func ExampleTensor_Transpose() {
	x := weft.Ones(5, 2, 3)
	fmt.Println(x.Transpose(-1, -2).Shape())
	// Output: [5 3 2]
}

func ExampleTensor_T() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.T())
	// Output:
	// [[1. 4.]
	//  [2. 5.]
	//  [3. 6.]]
}

func ExampleTensor_Expand() {
	x := weft.FromSlice([]float32{1, 2}, 2, 1)
	fmt.Println(x.Expand(-1, 3))
	// Output:
	// [[1. 1. 1.]
	//  [2. 2. 2.]]
}

func ExampleTensor_Unsqueeze() {
	x := weft.FromSlice([]float32{1, 2})
	fmt.Println(x.Unsqueeze(0).Shape(), x.Unsqueeze(-1).Shape())
	// Output: [1 2] [2 1]
}

func ExampleTensor_Squeeze() {
	x := weft.Ones(1, 3, 1)
	fmt.Println(x.Squeeze().Shape(), x.Squeeze(0).Shape())
	// Output: [3] [3 1]
}

func ExampleTensor_Diagonal() {
	x := weft.Arange(9).Reshape(3, 3)
	fmt.Println(x.Diagonal(0), x.Diagonal(1))
	// Output: [0 4 8] [1 5]
}

func ExampleTensor_Clone() {
	x := weft.FromSlice([]float32{1, 2})
	y := x.Clone()
	x.Set(9, 0)
	fmt.Println(y)
	// Output: [1. 2.]
}

func ExampleTensor_Contiguous() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.T().IsContiguous(), x.T().Contiguous().IsContiguous())
	// Output: false true
}

func ExampleCat() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(weft.Cat([]*weft.Tensor{x, x}, 1))
	// Output:
	// [[1. 2. 3. 1. 2. 3.]
	//  [4. 5. 6. 4. 5. 6.]]
}

func ExampleStack() {
	a, b := weft.Arange(3), weft.Arange(3).Mul(10)
	fmt.Println(weft.Stack([]*weft.Tensor{a, b}, 0))
	fmt.Println(weft.Stack([]*weft.Tensor{a, b}, 1))
	// Output:
	// [[ 0  1  2]
	//  [ 0 10 20]]
	// [[ 0  0]
	//  [ 1 10]
	//  [ 2 20]]
}

func ExampleTensor_Pad() {
	x := weft.Ones(2, 2)
	fmt.Println(x.Pad(0, 1, 0, 0, 1))
	// Output:
	// [[0. 0. 0.]
	//  [1. 1. 0.]
	//  [1. 1. 0.]]
}

func ExampleTensor_IndexSelect() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.IndexSelect(1, weft.From([]int64{2, 0})))
	// Output:
	// [[3. 1.]
	//  [6. 4.]]
}

func ExampleTensor_IndexAdd() {
	x := weft.Zeros(3, 2)
	fmt.Println(x.IndexAdd(0, weft.From([]int64{2, 0, 2}), weft.Ones(3, 2)))
	// Output:
	// [[1. 1.]
	//  [0. 0.]
	//  [2. 2.]]
}

func ExampleTensor_Gather() {
	logits := weft.From([][]float32{{1, 5, 2}, {7, 0, 3}})
	class := weft.From([][]int64{{1}, {0}})
	fmt.Println(logits.Gather(1, class))
	// Output:
	// [[5.]
	//  [7.]]
}

func ExampleTensor_ScatterAdd() {
	at := weft.From([]int64{0, 2, 0})
	fmt.Println(weft.Zeros(3).ScatterAdd(0, at, weft.FromSlice([]float32{1, 2, 3})))
	// Output: [4. 0. 2.]
}

func ExampleTensor_MaskSelect() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.MaskSelect(x.Gt(3)))
	// Output: [4. 5. 6.]
}

func ExampleTensor_NonZero() {
	x := weft.FromSlice([]float32{0, 5, 0, 7})
	fmt.Println(x.NonZero())
	// Output: [1 3]
}
