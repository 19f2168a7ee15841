package data_test

import (
	"context"
	"fmt"

	"weft"
	"weft/data"
)

func Example() {
	x := weft.FromSlice([]float32{0, 1, 2, 3, 4})
	y := weft.FromSlice([]int64{0, 10, 20, 30, 40})
	loader := data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(2)})
	for batch, err := range loader.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(batch.Index, weft.Data[float32](batch.X), weft.Data[int64](batch.Y))
	}
	// Output:
	// 0 [0 1] [0 10]
	// 1 [2 3] [20 30]
	// 2 [4] [40]
}

// squares is a dataset of one's own.
type squares struct{}

func (squares) Len() int { return 4 }

func (squares) Get(i int) (x, y *weft.Tensor, err error) {
	return weft.Scalar(float64(i)), weft.Scalar(float64(i * i)), nil
}

func ExampleDataset() {
	loader := data.NewLoader(squares{}, data.LoaderOpts{Batch: new(4)})
	for batch, err := range loader.Batches(context.Background()) {
		fmt.Println(weft.Data[float32](batch.X), weft.Data[float32](batch.Y), err)
	}
	// Output: [0 1 2 3] [0 1 4 9] <nil>
}

// A run that goes on in the middle of an epoch gets the batches that are left, in
// the order that they would have come in.
func ExampleLoader_Seek() {
	opts := data.LoaderOpts{Batch: new(1), Shuffle: true, Seed: 7}
	var whole, rest []float64
	for batch := range data.NewLoader(squares{}, opts).Batches(context.Background()) {
		whole = append(whole, batch.X.Item())
	}
	loader := data.NewLoader(squares{}, opts)
	loader.Seek(0, 2)
	for batch := range loader.Batches(context.Background()) {
		rest = append(rest, batch.X.Item())
	}
	fmt.Println(rest[0] == whole[2], rest[1] == whole[3], len(rest))
	// Output: true true 2
}
