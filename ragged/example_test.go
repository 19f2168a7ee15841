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

func ExampleList_Set() {
	l := ragged.Of([][]int64{{0}, {1, 2}, {3, 4, 5}})
	l.Set(0, 7)          // every row of item 0
	l.Set(1, 1, 1, 1)    // item 1 grows
	l.Set(2, []int64{9}) // item 2 shrinks
	fmt.Println(l)
	// Output:
	// [ [7] [1 1 1] [9] ]
}

func ExampleList_Insert() {
	l := ragged.Of([][]int64{{0}, {1, 2}})
	l.Insert(1, []int64{7, 8, 9})
	l.Insert(-1, 6)
	l.Append([]int64{1, 1, 1, 1}, 2) // two items of two rows
	fmt.Println(l)
	l.Delete(0)
	l.DeleteRange(0, weft.End, 2)
	fmt.Println(l)
	// Output:
	// [ [0] [7 8 9] [6] [1 2] [1 1] [1 1] ]
	// [ [6] [1 1] ]
}

func ExampleList_Field() {
	type point struct {
		Position [2]float32
		ID       int32
	}
	l := ragged.Of([][]point{{{[2]float32{1, 2}, 7}}, {}})
	l.Append([]point{{ID: 8}, {ID: 9}})
	l.Field("Position").At(2).Assign(5)
	fmt.Println(l)
	// Output:
	// {Position: [ [[1. 2.]] [] [[5. 5.] [5. 5.]] ]
	//  ID: [ [7] [] [8 9] ]}
}

func ExampleList_Range() {
	l := ragged.Of([][]int64{{0}, {1, 2}, {3}, {4, 5}})
	fmt.Println(l.Range(1, 3), l.Range(weft.End, weft.Begin, -1))
	l.Range(1, 3).Set(0, 8, 9) // the same memory
	fmt.Println(l.Data())
	// Output:
	// [ [1 2] [3] ] [ [4 5] [3] [1 2] [0] ]
	// [0 8 9 3 4 5]
}

func ExampleList_Take() {
	l := ragged.Of([][]int64{{0}, {1, 2}, {3, 4, 5}})
	fmt.Println(l.Take([]int{-1, 0, -1}))
	// Output:
	// [ [3 4 5] [0] [3 4 5] ]
}

func ExampleList_All() {
	for i, item := range ragged.Of([][]int64{{0}, {1, 2}}).All() {
		fmt.Println(i, item)
	}
	// Output:
	// 0 [0]
	// 1 [1 2]
}
