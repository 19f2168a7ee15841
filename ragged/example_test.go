package ragged_test

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/kernel"
	"weft/nn"
	"weft/ragged"
	"weft/records"
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

func ExampleList_Sum() {
	l := ragged.Of([][]float64{{0}, {1, 2}, {}, {3, 4, 5}})
	fmt.Println(l.Sum(), l.Max(), l.ArgMax())
	n := l.Unflatten(2) // two items of two items each
	fmt.Println(n.Sum(), n.Sum(-1))
	// Output:
	// [ 0.  3.  0. 12.] [  0.   2. -inf   5.] [ 0  1 -1  2]
	// [ 3. 12.] [ 0.  3.  0. 12.]
}

func ExampleList_Add() {
	l := ragged.Of([][]float64{{0}, {1, 2}, {3, 4, 5}})
	fmt.Println(l.Add(10))
	fmt.Println(l.Mul(l))
	fmt.Println(l.Sub(l.Mean()))                             // one value an item
	fmt.Println(l.Add(weft.From([][]float64{{10, 20, 30}}))) // by the place in the item
	// Output:
	// [ [10.] [11. 12.] [13. 14. 15.] ]
	// [ [0.] [1. 4.] [9. 16. 25.] ]
	// [ [0.] [-0.5 0.5] [-1. 0. 1.] ]
	// [ [10.] [11. 22.] [13. 24. 35.] ]
}

func ExampleExpr() {
	l := ragged.Of([][]float64{{0}, {1, 2}, {3, 4, 5}})
	v := weft.From([]float64{100, 200, 300})
	fmt.Println(ragged.Expr("2*l + v", weft.Vars{"l": l, "v": v}))
	// Output:
	// [ [100.] [202. 204.] [306. 308. 310.] ]
}

func ExampleList_Map() {
	kernels := kernel.MustParse(`package kernels

func Within(x, limit float64) float64 {
	if x > limit {
		return limit
	}
	return x
}`)
	l := ragged.Of([][]float64{{0}, {1, 2}, {3, 4, 5}})
	fmt.Println(l.Map(kernels.Func("Within"), l.Mean()))
	// Output:
	// [ [0.] [1. 1.5] [3. 4. 4.] ]
}

func ExampleList_Softmax() {
	fmt.Printf("%.2f\n", ragged.Of([][]float64{{7}, {1, 2}, {}}).Softmax())
	// Output:
	// [ [1.00] [0.27 0.73] [] ]
}

func ExampleList_Sort() {
	values, places := ragged.Of([][]int64{{3, 1, 2}, {}, {5, 4}}).Sort(weft.SortOpts{})
	fmt.Println(values, places)
	// Output:
	// [ [1 2 3] [] [4 5] ] [ [1 2 0] [] [1 0] ]
}

func ExampleList_ToPadded() {
	l := ragged.Of([][]int64{{1}, {2, 3}})
	x, mask := l.ToPadded(0)
	fmt.Println(x)
	fmt.Println(mask)
	fmt.Println(ragged.FromPadded(x, mask))
	// Output:
	// [[1 0]
	//  [2 3]]
	// [[ true false]
	//  [ true  true]]
	// [ [1] [2 3] ]
}

func ExampleList_Index() {
	l := ragged.Of([][]int64{{1}, {2, 3, 4}})
	fmt.Println(l.Index(ragged.Of([][]int64{{0, 0}, {-1}})))
	fmt.Println(l.Mask(l.Gt(2)), l.LocalIndex())
	// Output:
	// [ [1 1] [4] ]
	// [ [] [3 4] ] [ [0] [0 1 2] ]
}

func ExampleConcat() {
	a, b := ragged.Of([][]int64{{1}, {2, 3}}), ragged.Of([][]int64{{4, 5}, {}})
	fmt.Println(ragged.Concat([]*ragged.List{a, b}, 0))
	fmt.Println(ragged.Concat([]*ragged.List{a, b}, 1))
	// Output:
	// [ [1] [2 3] [4 5] [] ]
	// [ [1 4 5] [2 3] ]
}

func ExampleList_Flatten() {
	n := ragged.Of([][][]int64{{{1, 2}, {3}}, {{4}}})
	fmt.Println(n.Flatten(), n.ListAt(0), n.At(0, 1))
	fmt.Println(n.Flatten().Unflatten([]int{1, 2}))
	// Output:
	// [ [1 2] [3] [4] ] [ [1 2] [3] ] [3]
	// [ [ [1 2] ] [ [3] [4] ] ]
}

func ExampleList_Apply() {
	l := ragged.Of([][]float64{{1}, {4, 9}})
	fmt.Println(l.Apply((*weft.Tensor).Sqrt), l.Spread(weft.From([]int64{7, 8})))
	// Output:
	// [ [1.] [2. 3.] ] [ [7] [8 8] ]
}

func ExampleAttention() {
	q := ragged.Of([][][2]float32{{{1, 0}}, {{0, 1}, {1, 1}, {0, 0}}})
	fmt.Printf("%.2f\n", ragged.Attention(q, q, q, nn.AttentionOpts{Causal: true}))
	// Output:
	// [ [[1.00 0.00]] [[0.00 1.00] [0.67 1.00] [0.33 0.67]] ]
}

func ExampleWriteFile() {
	path := filepath.Join(os.TempDir(), "list.npz")
	defer os.Remove(path)
	if err := ragged.WriteFile(path, ragged.Of([][]float32{{1}, {2, 3}})); err != nil {
		fmt.Println(err)
	}
	fmt.Println(ragged.ReadFile(path))
	// Output:
	// [ [1.] [2. 3.] ] <nil>
}

func ExampleList_ReadOnly() {
	l := ragged.Of([][]int64{{1}, {2, 3}}).ReadOnly()
	fmt.Println(weft.Try(func() { l.Set(0, 1) }))
	// Output:
	// set: the list is read-only
}

// A list on the device that the user of a program names.
func ExampleList_On() {
	dev, err := weft.DeviceByName("cpu") // or "cuda"
	if err != nil {
		fmt.Println(err)
		return
	}
	l := ragged.Of([][]float64{{0}, {1, 2}, {3, 4, 5}}).On(dev)
	fmt.Println(l.Softmax().Sum(), l.Device())
	// Output: [1. 1. 1.] cpu
}

// Vertices of different numbers that stay side by side, as a graphics processor wants them.
func ExampleRecords() {
	type vertex struct {
		Position [2]float32
		Color    uint32
	}
	l := ragged.OfRecords([][]vertex{{{}, {Color: 1}}, {{Color: 2}}})
	l.Append([]vertex{{Position: [2]float32{3, 4}}})
	l.Field("Color").Set(0, 7)
	l.Delete(1)
	fmt.Println(l)
	fmt.Println(l.Data().Field("Position").Sum(0), l.Sizes())
	// Output:
	// [ [([0. 0.], 7) ([0. 0.], 7)] [([3. 4.], 0)] ]
	// [3. 4.] [2 1]
}

// A vertexBuffer stands for memory of a graphics processor.
type vertexBuffer struct{}

func (vertexBuffer) Resize(n int) error { fmt.Println("allocate", n, "bytes"); return nil }
func (vertexBuffer) WriteAt(p []byte, off int64) (int, error) {
	fmt.Println("send", len(p), "bytes to", off)
	return len(p), nil
}

func ExampleCollection() {
	type vertex struct {
		Position [2]float32
		Item     uint32
	}
	type style struct{ Color [4]float32 }
	c := ragged.NewCollection(records.LayoutOf[vertex](), ragged.CollectionOpts{Uniforms: records.LayoutOf[style](), Number: "Item"})
	triangle, square := make([]vertex, 3), make([]vertex, 4)
	c.Append(triangle, ragged.ItemOpts{Indices: []int{0, 1, 2}})
	c.Append(square, ragged.ItemOpts{Indices: []int{0, 1, 2, 0, 2, 3}, Uniforms: style{[4]float32{1, 0, 0, 1}}})
	fmt.Println(c.Indices(), c.Vertices().Data().Field("Item"))

	vertices, _, _ := c.Track()
	vertices.Flush(vertexBuffer{})
	c.Vertices().At(1).At(2).Field("Position").Assign(0.5)
	vertices.Flush(vertexBuffer{})

	c.Delete(0)
	fmt.Println(c.Indices(), c.Vertices().Data().Field("Item"), c.Uniforms())
	// Output:
	// [ [0 1 2] [3 4 5 3 5 6] ] [0 0 0 1 1 1 1]
	// allocate 192 bytes
	// send 192 bytes to 0
	// send 8 bytes to 60
	// [ [0 1 2 0 2 3] ] [0 0 0 0] [([1. 0. 0. 1.])]
}
