package data_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"io"
	"iter"
	"strconv"
	"strings"

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

// Items of several fields, read by four workers. The batches are the same for any number of them.
func ExampleNewLoaderOf() {
	type word struct {
		Text   string
		Length int
	}
	type batch struct {
		Text   []string
		Length *weft.Tensor
	}
	texts := data.Items([]string{"warp", "weft", "loom", "shuttle"})
	words := data.Map(texts, func(s string) (word, error) { return word{s, len(s)}, nil }) // workers call it
	loader := data.NewLoaderOf(words, data.Collate[batch], data.LoaderOpts{Batch: new(2), Workers: 4})
	for b, err := range loader.Batches(context.Background()) {
		fmt.Println(b.Text, b.Length, err)
	}
	// Output:
	// [warp weft] [4 4] <nil>
	// [loom shuttle] [4 7] <nil>
}

// A stream begins anew each epoch.
func ExampleNewStreamLoader() {
	open := func(epoch int) iter.Seq2[int, error] {
		return func(yield func(int, error) bool) {
			for i := 1; i <= 3 && yield(i*i, nil); i++ {
			}
		}
	}
	loader := data.NewStreamLoader(open, data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(2)})
	for b, err := range loader.Batches(context.Background()) {
		fmt.Println(b, err)
	}
	// Output:
	// [1 4] <nil>
	// [9] <nil>
}

func ExampleRandomSplit() {
	parts := data.RandomSplit(data.Items([]string{"a", "b", "c", "d", "e"}), []float64{0.8, 0.2}, 1)
	fmt.Println(parts[0].Len(), parts[1].Len())
	// Output: 4 1
}

// Rare examples are drawn as often as frequent ones.
func ExampleWeightedSampler() {
	y := []int{0, 0, 0, 0, 0, 0, 0, 1}
	weights := make([]float64, len(y))
	for i, class := range y {
		weights[i] = []float64{1.0 / 7, 1}[class]
	}
	ones := 0
	for _, i := range (data.WeightedSampler{Weights: weights, N: 1000, Seed: 1}).Order(0) {
		ones += y[i]
	}
	fmt.Println(ones > 450 && ones < 550)
	// Output: true
}

func ExampleReadCSV() {
	columns, err := data.ReadCSV(strings.NewReader("name,height\nAnna,1.7\nBen,\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(columns[0].Name, columns[0].Texts, columns[1].Name, columns[1].Numbers)
	// Output: name [Anna Ben] height [1.7 nan]
}

// Types of columns are told or chosen.
func ExampleReadCSV_types() {
	columns, err := data.ReadCSV(strings.NewReader("id,zip,member\n7,01067,true\n8,20095,false\n"), data.CSVOpts{
		Infer: true, Texts: []string{"zip"}, Types: map[string]weft.DType{"id": weft.Int32}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(columns[0].Numbers.DType(), columns[0].Numbers, columns[1].Texts, columns[2].Numbers)
	// Output: int32 [7 8] [01067 20095] [ true false]
}

// Files of other programs write missing values as words.
func ExampleReadCSV_missing() {
	columns, err := data.ReadCSV(strings.NewReader("city,rooms\nRome,3\nNA,NA\n"), data.CSVOpts{Missing: []string{"NA"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q %v\n", columns[0].Texts, columns[1].Numbers)
	// Output: ["Rome" ""] [ 3. nan]
}

// A picture is a tensor of channels, and a tensor a picture.
func ExampleFromImage() {
	m := image.NewRGBA(image.Rect(0, 0, 2, 1))
	m.Set(1, 0, color.RGBA{R: 255, G: 10, A: 255})
	x := data.FromImage(m)
	fmt.Println(x.Shape(), x.At(0), x.At(1), x.At(2))
	fmt.Println(data.ToImage(x).At(1, 0))
	// Output:
	// [3 1 2] [[  0 255]] [[ 0 10]] [[0 0]]
	// {255 10 0 255}
}

// Lines of a text, begun anew each epoch.
func ExampleLines() {
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("to be\nor not\nto be\n")), nil }
	loader := data.NewStreamLoader(data.Lines(open), data.Collate[[]string], data.LoaderOpts{Batch: new(2)})
	for lines, err := range loader.Batches(context.Background()) {
		fmt.Printf("%q %v\n", lines, err)
	}
	// Output:
	// ["to be" "or not"] <nil>
	// ["to be"] <nil>
}

// Items get noise of their own in each epoch. Batches are the same for any number of workers.
func ExampleMapRandom() {
	noisy := data.MapRandom(data.Items([]float64{10, 20, 30}), 1, func(x float64, g *weft.Generator) (float64, error) {
		return x + float64(g.Randint(0, 5).ItemInt()), nil
	})
	loader := data.NewLoaderOf(noisy, data.Collate[*weft.Tensor, float64], data.LoaderOpts{Batch: new(3), Workers: 2})
	for loader.Epoch() < 2 {
		for b, err := range loader.Batches(context.Background()) {
			fmt.Println(b, err)
		}
	}
	// Output:
	// [14. 21. 32.] <nil>
	// [12. 20. 30.] <nil>
}

// Tar files of pictures and labels, as WebDataset has them. Four goroutines decode, in the order of the
// files.
func ExampleShards() {
	type example struct {
		X     *weft.Tensor
		Label int
	}
	type batch struct{ X, Label *weft.Tensor }
	shards := data.Shards([]string{"testdata/shard.tar"}, data.ShardsOpts{Shuffle: true, Seed: 1})
	decoded := data.MapStream(shards, 4, 1, func(s data.Sample, g *weft.Generator) (e example, err error) {
		if e.Label, err = strconv.Atoi(string(s.Files["cls"])); err != nil {
			return e, err
		}
		e.X, err = data.ReadImage(bytes.NewReader(s.Files["png"]))
		return e, err
	})
	loader := data.NewStreamLoader(data.Shuffled(decoded, 100, 1), data.Collate[batch, example], data.LoaderOpts{Batch: new(2)})
	for b, err := range loader.Batches(context.Background()) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(b.X.Shape(), b.Label)
	}
	// Output:
	// [2 3 3 4] [1 0]
	// [1 3 3 4] [2]
}

// Sequences of different length in one tensor.
func ExamplePadded() {
	type batch struct{ Words data.Padded }
	type text struct{ Words []int64 }
	b, err := data.Collate[batch]([]text{{[]int64{5, 3, 8}}, {[]int64{2}}})
	fmt.Println(b.Words.X, b.Words.Lengths, err)
	// Output:
	// [[5 3 8]
	//  [2 0 0]] [3 1] <nil>
}

// Items of a stream get noise of their own, and are made by two goroutines in order.
func ExampleMapStream() {
	lines := data.Lines(func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("3\n4\n5\n")), nil })
	numbers := data.MapStream(lines, 2, 1, func(line string, g *weft.Generator) (int, error) { return strconv.Atoi(line) })
	for x, err := range numbers(0) {
		fmt.Println(x, err)
	}
	// Output:
	// 3 <nil>
	// 4 <nil>
	// 5 <nil>
}
