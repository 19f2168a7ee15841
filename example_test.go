package weft_test

import (
	"encoding/json"
	"fmt"
	"os"

	"weft"
)

func Example() {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.T().MatMul(x).Add(1).Sqrt()
	fmt.Printf("%.2f\n", y)
	// Output:
	// [[4.24 4.80 5.29]
	//  [4.80 5.48 6.08]
	//  [5.29 6.08 6.78]]
}

func ExampleTensor_Slice() {
	x := weft.Arange(12).Reshape(3, 4)
	fmt.Println(x.Slice(weft.All, weft.Range(0, 4, 2)))
	fmt.Println(x.Slice(weft.Index(1), weft.Range(weft.End, weft.Begin, -1)))
	x.Slice(weft.All, weft.Index(0)).Assign(-1) // a view: x changes
	fmt.Println(x.At(2))
	// Output:
	// [[ 0  2]
	//  [ 4  6]
	//  [ 8 10]]
	// [7 6 5 4]
	// [-1  9 10 11]
}

func ExampleTensor_Add() {
	column := weft.Arange(3).Unsqueeze(1)
	row := weft.From([]float32{0.5, 0.25})
	fmt.Println(column.Add(row)) // [3 1] and [2] broadcast to [3 2]
	// Output:
	// [[0.5  0.25]
	//  [1.5  1.25]
	//  [2.5  2.25]]
}

func ExampleTensor_MatMul() {
	a := weft.From([][]float64{{1, 2}, {3, 4}})
	b := weft.From([]float64{1, -1})
	fmt.Println(a.MatMul(b))
	// Output: [-1. -1.]
}

func ExampleTensor_Backward() {
	w := weft.From([]float64{1, 2, 3}).RequireGrad()
	loss := w.Square().Sum()
	loss.Backward()
	fmt.Println(w.Grad())
	// Output: [2. 4. 6.]
}

func ExampleGrad() {
	x := weft.Scalar(2.0).RequireGrad()
	first := weft.Grad(x.Pow(3), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	second := weft.Grad(first, []*weft.Tensor{x})[0]
	fmt.Println(first, second)
	// Output: 12.0 12.0
}

func ExampleTry() {
	x := weft.Ones(2, 3)
	fmt.Println(weft.Try(func() { x.Add(weft.Ones(4)) }))
	// Output: add: shapes do not broadcast: [2 3] and [4]
}

func ExampleTensor_Format() {
	x := weft.Linspace(0, 1, 3)
	fmt.Printf("%v %.2f %#v\n", x, x, x)
	// Output: [0.  0.5 1. ] [0.00 0.50 1.00] weft.From([]float32{0, 0.5, 1})
}

func ExampleTensor_MarshalJSON() {
	x := weft.From([][]float32{{0.1, 2}, {3, 4}})
	text, err := json.Marshal(map[string]*weft.Tensor{"x": x, "above": x.Gt(2)})
	fmt.Println(string(text), err)
	// Output: {"above":[[false,false],[true,true]],"x":[[0.1,2],[3,4]]} <nil>
}

func ExampleNewGenerator() {
	g := weft.NewGenerator(42)
	state := g.State()
	a := g.Randn(1000)
	g.SetState(state)
	fmt.Println(weft.Digest(a) == weft.Digest(g.Randn(1000)))
	// Output: true
}

// An optimizer of one's own reads gradients without keeping them.
func ExampleBorrowGrad() {
	w := weft.FromSlice([]float32{1, 2}).RequireGrad()
	w.Mul(w).Sum().Backward()
	weft.BorrowGrad(w, func(g *weft.Tensor) { weft.WithoutGrad(func() { w.SubAssign(g.Mul(0.25)) }) })
	w.SetGrad(nil)
	fmt.Println(w.Detach())
	// Output: [0.5 1. ]
}

// A step on a table of which few rows are read costs what those rows cost.
func ExampleTensor_SparseGrad() {
	table := weft.Zeros(100000, 2).RequireGrad().SparseGrad()
	table.IndexSelect(0, weft.FromSlice([]int64{7, 3, 7})).Sum().Backward()
	weft.BorrowRows(table, func(places, values *weft.Tensor) {
		fmt.Println(places, values)
	})
	// Output:
	// [3 7] [[1. 1.]
	//  [2. 2.]]
}

// Two processes that know the name of a segment share its memory. Here both sides are
// one process; what a worker process writes into the batch, the training reads without
// a copy. (The workers of package data are goroutines and need none of this.)
func ExampleShare() {
	name := fmt.Sprintf("weft-example-%d", os.Getpid())
	batches, err := weft.Share(name, 1<<16)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer batches.Close() // and removes the name
	x := batches.Tensor(0, weft.Float32, 64, 128)

	// In the worker:
	worker, err := weft.OpenShared(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	worker.Tensor(0, weft.Float32, 64, 128).Fill(0.5)
	worker.Close()

	fmt.Println(worker.Size(), x.Sum().Item())
	// Output: 65536 4096
}

func ExampleTensor_Lazy() {
	x := weft.Ones(100, 100).Lazy()
	y := x.Mul(2).Add(1).Sqrt() // nothing is computed yet
	fmt.Printf("%.3f\n", y.Mean().Item())
	// Output: 1.732
}

func ExampleScope_Lazy() {
	scope := weft.NewScope().Lazy()
	defer scope.Close()
	x := scope.Track(weft.Ones(100, 100))
	fmt.Println(x.Add(1).Mul(3).Sum().Item()) // one kernel
	// Output: 60000
}
