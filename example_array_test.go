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

func ExampleTensor_Split() {
	x := weft.Arange(7)
	fmt.Println(x.Split(0, 3))
	fmt.Println(x.Split(0, 1, 4, 2))
	// Output:
	// [[0 1 2] [3 4 5] [6]]
	// [[0] [1 2 3 4] [5 6]]
}

func ExampleTensor_Chunk() {
	fmt.Println(weft.Arange(7).Chunk(0, 3))
	// Output: [[0 1 2] [3 4 5] [6]]
}

func ExampleTensor_Unbind() {
	for _, row := range weft.Arange(6).Reshape(2, 3).Unbind(0) {
		fmt.Println(row)
	}
	// Output:
	// [0 1 2]
	// [3 4 5]
}

func ExampleHStack() {
	a, b := weft.From([]int{1, 2}), weft.From([]int{3, 4})
	fmt.Println(weft.HStack([]*weft.Tensor{a, b}))
	// Output: [1 2 3 4]
}

func ExampleVStack() {
	a, b := weft.From([]int{1, 2}), weft.From([]int{3, 4})
	fmt.Println(weft.VStack([]*weft.Tensor{a, b}))
	// Output:
	// [[1 2]
	//  [3 4]]
}

func ExampleTensor_Flip() {
	fmt.Println(weft.Arange(6).Reshape(2, 3).Flip(1))
	// Output:
	// [[2 1 0]
	//  [5 4 3]]
}

func ExampleTensor_Roll() {
	x := weft.Arange(5)
	fmt.Println(x.Roll(0, 2), x.Roll(0, -1))
	// Output: [3 4 0 1 2] [1 2 3 4 0]
}

func ExampleTensor_MoveAxis() {
	pictures := weft.Zeros(8, 32, 24, 3) // colours last
	fmt.Println(pictures.MoveAxis(-1, 1).Shape())
	// Output: [8 3 32 24]
}

func ExampleTensor_Unflatten() {
	fmt.Println(weft.Zeros(8, 512).Unflatten(1, 8, -1).Shape())
	// Output: [8 8 64]
}

func ExampleTensor_ExpandAs() {
	row := weft.From([]int{1, 2, 3})
	fmt.Println(row.ExpandAs(weft.Zeros(2, 3)))
	// Output:
	// [[1 2 3]
	//  [1 2 3]]
}

func ExampleTensor_Tile() {
	x := weft.From([]int{1, 2})
	fmt.Println(x.Tile(2))
	fmt.Println(x.Tile(2, 2))
	// Output:
	// [1 2 1 2]
	// [[1 2 1 2]
	//  [1 2 1 2]]
}

func ExampleTensor_Repeat() {
	fmt.Println(weft.From([]int{1, 2}).Repeat(3))
	// Output: [1 2 1 2 1 2]
}

func ExampleTensor_RepeatInterleave() {
	x := weft.From([]int{7, 8, 9})
	fmt.Println(x.RepeatInterleave(0, 2))
	fmt.Println(x.RepeatInterleave(0, []int{3, 0, 1}))
	// Output:
	// [7 7 8 8 9 9]
	// [7 7 7 9]
}

func ExampleTensor_Tril() {
	fmt.Println(weft.OnesOf(weft.Int64, 3, 3).Tril(0)) // who may look at whom
	// Output:
	// [[1 0 0]
	//  [1 1 0]
	//  [1 1 1]]
}

func ExampleTensor_Triu() {
	fmt.Println(weft.OnesOf(weft.Int64, 3, 3).Triu(1))
	// Output:
	// [[0 1 1]
	//  [0 0 1]
	//  [0 0 0]]
}

func ExampleTensor_Diag() {
	x := weft.From([]int{1, 2}).Diag(0)
	fmt.Println(x)
	fmt.Println(x.Diag(0))
	// Output:
	// [[1 0]
	//  [0 2]]
	// [1 2]
}

func ExampleMeshgrid() {
	grid := weft.Meshgrid(weft.From([]int{10, 20}), weft.Arange(3))
	fmt.Println(grid[0].Add(grid[1]))
	// Output:
	// [[10 11 12]
	//  [20 21 22]]
}

func ExampleTensor_MaskedFill() {
	x := weft.From([]float32{-1, 2, -3})
	fmt.Println(x.MaskedFill(x.Lt(0), 0))
	// Output: [0. 2. 0.]
}

func ExampleDevice_MemoryStats() {
	before := weft.CPU.MemoryStats()
	x := weft.Zeros(1000, 1000)
	after := weft.CPU.MemoryStats()
	fmt.Println(x.Size(), after.Peak >= after.Allocated, after.Reserved >= after.Allocated, after.Failed-before.Failed)
	// Output: 1000000 true true 0
}

func ExampleAlignLeading() {
	a, b := weft.Ones(2, 5, 4), weft.Ones(2, 1, 4, 3)
	ab := weft.AlignLeading(a, b)
	fmt.Println(ab[0].Add(ab[1]).Shape())
	fmt.Println(weft.Expr("a + 2*b", weft.Vars{"a": a, "b": b}.AlignLeading()).Shape())
	// Output:
	// [2 5 4 3]
	// [2 5 4 3]
}
