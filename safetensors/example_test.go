package safetensors_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/safetensors"
)

func Example() {
	dir, err := os.MkdirTemp("", "safetensors")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "model.safetensors")

	tensors := map[string]*weft.Tensor{
		"weight": weft.FromSlice([]float32{1, 2, 3, 4}, 2, 2),
		"bias":   weft.FromSlice([]float32{5, 6}),
	}
	if err := safetensors.WriteFile(path, tensors, map[string]string{"epoch": "3"}); err != nil {
		fmt.Println(err)
		return
	}

	f, err := safetensors.Open(path) // reads the header; tensors are read when asked for
	if err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	fmt.Println(f.Metadata())
	for _, name := range f.Names() {
		x, err := f.Tensor(name)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(name, x.Shape(), weft.Data[float32](x))
	}
	// Output:
	// map[epoch:3]
	// bias [2] [5 6]
	// weight [2 2] [1 2 3 4]
}
