package npy_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/npy"
)

func Example() {
	dir, err := os.MkdirTemp("", "npy")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.npy")

	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err := npy.WriteFile(path, x); err != nil {
		fmt.Println(err)
		return
	}
	y, err := npy.ReadFile(path) // numpy.load(path) reads it as well
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(y.DType(), y.Shape(), weft.Data[float32](y))
	// Output: float32 [2 3] [1 2 3 4 5 6]
}

// Arrays can follow each other in a stream.
func ExampleRead() {
	var stream bytes.Buffer
	npy.Write(&stream, weft.FromSlice([]int64{1, 2}))
	npy.Write(&stream, weft.FromSlice([]bool{true, false, true}))

	first, _ := npy.Read(&stream)
	second, _ := npy.Read(&stream)
	fmt.Println(weft.Data[int64](first), weft.Data[bool](second))
	// Output: [1 2] [true false true]
}
