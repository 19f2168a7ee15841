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

// A file larger than memory can be used as a tensor: its pages are read when they are
// touched.
func ExampleMap() {
	path := filepath.Join(os.TempDir(), "weft-example-map.npy")
	defer os.Remove(path)
	npy.WriteFile(path, weft.Arange(6.0).Reshape(2, 3))

	x, err := npy.Map(path, npy.ReadOnly)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(x.Sum().Item())
	err = weft.Try(func() { x.Fill(0) })
	fmt.Println(err != nil)
	x.Release() // closes the file, as the collector would

	y, _ := npy.Map(path, npy.CopyOnWrite)
	y.Fill(1) // in this process alone
	z, _ := npy.ReadFile(path)
	fmt.Println(y.Sum().Item(), z.Sum().Item())
	y.Release()
	// Output:
	// 15
	// true
	// 6 15
}

// A structured array is a tensor for each field.
func ExampleReadColumns() {
	var file bytes.Buffer
	npy.WriteColumns(&file, []npy.Column{
		{Name: "position", Tensor: weft.From([][]float32{{0, 1}, {2, 3}})},
		{Name: "id", Tensor: weft.From([]int64{7, 8})},
	})
	columns, err := npy.ReadColumns(&file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range columns {
		fmt.Println(c.Name, c.DType, c.Tensor.Shape())
	}
	// Output:
	// position <f4 [2 2]
	// id <i8 [2]
}

func ExampleMapColumns() {
	path := filepath.Join(os.TempDir(), "weft-example-columns.npy")
	defer os.Remove(path)
	npy.WriteColumnsFile(path, []npy.Column{
		{Name: "position", Tensor: weft.From([][]float32{{0, 1}, {2, 3}})},
		{Name: "mass", Tensor: weft.From([]float32{4, 5})},
	})
	columns, err := npy.MapColumns(path, npy.ReadOnly)
	if err != nil {
		fmt.Println(err)
		return
	}
	mass := columns[1].Tensor // a view of the file: every third float
	fmt.Println(mass.Strides(), weft.Data[float32](mass))
	// Output: [3] [4 5]
}

// An archive holds arrays by name, as numpy.savez writes it.
func ExampleArchive() {
	path := filepath.Join(os.TempDir(), "weft-example.npz")
	defer os.Remove(path)
	err := npy.WriteArchiveFile(path, map[string]*weft.Tensor{
		"weights": weft.Ones(2, 3),
		"bias":    weft.Zeros(3),
	}, npy.ArchiveOpts{})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := npy.OpenArchive(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close()
	w, err := a.Tensor("weights")
	fmt.Println(a.Names(), w.Shape(), err)
	b, err := a.Map("bias", npy.CopyOnWrite) // not read, but mapped
	fmt.Println(b.Shape(), err)
	// Output:
	// [bias weights] [2 3] <nil>
	// [3] <nil>
}
