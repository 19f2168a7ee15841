package weft_test

import (
	"fmt"

	"weft"
)

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
