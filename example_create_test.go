package weft_test

import (
	"fmt"

	"weft"
)

// Examples of how tensors are made and read.

func ExampleFrom() {
	x := weft.From([][]float64{{1, 2}, {3, 4}})
	fmt.Println(x.Shape(), x.DType())
	// Output: [2 2] float64
}

func ExampleFromSlice() {
	data := []float32{1, 2, 3, 4, 5, 6}
	x := weft.FromSlice(data, 2, 3)
	data[0] = 10 // x has no memory of its own
	fmt.Println(x)
	// Output:
	// [[10.  2.  3.]
	//  [ 4.  5.  6.]]
}

func ExampleZeros() {
	fmt.Println(weft.Zeros(2, 3))
	// Output:
	// [[0. 0. 0.]
	//  [0. 0. 0.]]
}

func ExampleZerosOf() {
	fmt.Println(weft.ZerosOf(weft.Int64, 3))
	// Output: [0 0 0]
}

func ExampleZerosLike() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(weft.ZerosLike(x))
	// Output:
	// [[0. 0. 0.]
	//  [0. 0. 0.]]
}

func ExampleOnes() {
	fmt.Println(weft.Ones(2, 2))
	// Output:
	// [[1. 1.]
	//  [1. 1.]]
}

func ExampleFull() {
	fmt.Println(weft.Full(7, 2, 2)) // an int: int64
	fmt.Println(weft.Full(0.5, 2))  // a float: float32
	// Output:
	// [[7 7]
	//  [7 7]]
	// [0.5 0.5]
}

func ExampleFullOf() {
	fmt.Println(weft.FullOf(weft.Float64, 7, 2, 2))
	// Output:
	// [[7. 7.]
	//  [7. 7.]]
}

func ExampleScalar() {
	s := weft.Scalar(2.5)
	fmt.Println(s.Rank(), s.Item())
	// Output: 0 2.5
}

func ExampleScalarOf() {
	fmt.Println(weft.Scalar(0.1).Item(), weft.ScalarOf(weft.Float64, 0.1).Item())
	// Output: 0.10000000149011612 0.1
}

func ExampleArange() {
	fmt.Println(weft.Arange(5))
	fmt.Println(weft.Arange(2, 10, 3))
	fmt.Println(weft.Arange(0, 1, 0.25))
	// Output:
	// [0 1 2 3 4]
	// [2 5 8]
	// [0.   0.25 0.5  0.75]
}

func ExampleArangeOf() {
	fmt.Println(weft.ArangeOf(weft.Float64, 0, 3).Div(3))
	fmt.Println(weft.ArangeOf(weft.Uint8, 250, 256))
	// Output:
	// [0.         0.33333333 0.66666667]
	// [250 251 252 253 254 255]
}

func ExampleLinspace() {
	fmt.Println(weft.Linspace(0, 1, 5))
	// Output: [0.   0.25 0.5  0.75 1.  ]
}

func ExampleLinspaceOf() {
	x := weft.LinspaceOf(weft.Float64, 0, 1, 11)
	fmt.Println(x.DType(), x.At(1).Item(), weft.Linspace(0, 1, 11).At(1).Item())
	// Output: float64 0.1 0.10000000149011612
}

func ExampleEye() {
	fmt.Println(weft.Eye(3))
	// Output:
	// [[1. 0. 0.]
	//  [0. 1. 0.]
	//  [0. 0. 1.]]
}

func ExampleEyeOf() {
	fmt.Println(weft.EyeOf(weft.Int32, 2))
	// Output:
	// [[1 0]
	//  [0 1]]
}

func ExampleRandn() {
	weft.Seed(1)
	a := weft.Randn(2, 3)
	weft.Seed(1) // the same numbers again
	b := weft.Randn(2, 3)
	fmt.Println(a.Shape(), weft.Digest(a) == weft.Digest(b))
	// Output: [2 3] true
}

func ExampleRandint() {
	x := weft.Randint(1, 7, 100) // a die
	fmt.Println(x.DType(), x.Min().ItemInt() >= 1, x.Max().ItemInt() <= 6)
	// Output: int64 true true
}

func ExampleRandintOf() {
	x := weft.RandintOf(weft.Uint8, 0, 256, 100) // bytes
	fmt.Println(x.DType(), x.Size())
	// Output: uint8 100
}

func ExampleRandpermOf() {
	x := weft.RandpermOf(weft.Int32, 10)
	y, _ := x.Sort(0, weft.SortOpts{})
	fmt.Println(y.DType(), y)
	// Output: int32 [0 1 2 3 4 5 6 7 8 9]
}

func ExampleGenerator_NormalOf() {
	g := weft.NewGenerator(1)
	x := g.NormalOf(weft.Float64, 10, 0.5, 10000)
	fmt.Printf("%s %.1f", x.DType(), x.Mean().Item())
	// Output: float64 10.0
}

func ExampleData() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(weft.Data[float32](x.T()))
	// Output: [1 4 2 5 3 6]
}

func ExampleCopyTo() {
	dst := make([]int64, 3)
	weft.CopyTo(weft.Arange(3), dst)
	fmt.Println(dst)
	// Output: [0 1 2]
}

func ExampleBorrow() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	weft.Borrow(x, func(data []float32) { data[0] = 9 }) // without a copy
	fmt.Println(x.At(0))
	// Output: [9. 2. 3.]
}

func ExampleTensor_Item() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Sum().Item())
	// Output: 21
}

func ExampleTensor_To() {
	x := weft.FromSlice([]float32{1.9, -1.9, 300})
	fmt.Println(x.To(weft.Int32))
	fmt.Println(x.To(weft.Bool))
	// Output:
	// [  1  -1 300]
	// [true true true]
}

func ExampleTensor_Shape() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x.Shape(), x.Rank(), x.Size(), x.Dim(-1), x.DType())
	// Output: [2 3] 2 6 3 float32
}

func ExampleComplex() {
	z := weft.Complex(weft.FromSlice([]float32{1, 0}), weft.FromSlice([]float32{0, 2}))
	fmt.Println(z, z.Abs())
	// Output: [1.+0.j 0.+2.j] [1. 2.]
}

func ExampleWhere() {
	x := weft.FromSlice([]float32{-1, 2, -3})
	fmt.Println(weft.Where(x.Gt(0), x, 0))
	// Output: [0. 2. 0.]
}

func ExampleDigest() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	a, b := weft.Digest(x), weft.Digest(x.T().Clone().T()) // how it lies does not matter
	fmt.Println(a == b)
	// Output: true
}
