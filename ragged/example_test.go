package ragged_test

import (
	"fmt"

	"weft"
	"weft/ragged"
)

func ExampleOf() {
	l := ragged.Of([][]int64{{0}, {1, 2}, {3, 4, 5}, {6, 7, 8, 9}})
	fmt.Println(l)
	fmt.Println(l.Sizes(), l.Offsets())
	// Output:
	// [ [0] [1 2] [3 4 5] [6 7 8 9] ]
	// [1 2 3 4] [ 0  1  3  6 10]
}

func ExampleFromSizes() {
	x := weft.Arange(6)
	fmt.Println(ragged.FromSizes(x, 2))
	fmt.Println(ragged.FromSizes(x, []int{1, 0, 5}))
	// Output:
	// [ [0 1] [2 3] [4 5] ]
	// [ [0] [] [1 2 3 4 5] ]
}

func ExampleFromOffsets() {
	x := weft.Arange(6)
	fmt.Println(ragged.FromOffsets(x, []int{0, 1, 4, 6}))
	// Output:
	// [ [0] [1 2 3] [4 5] ]
}

func ExampleEmpty() {
	fmt.Println(ragged.Empty(weft.Float32), ragged.Empty(weft.Float32, 3).Data().Shape())
	// Output:
	// [ ] [0 3]
}
