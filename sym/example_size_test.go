package sym_test

import (
	"fmt"

	"weft"
	"weft/sym"
)

// The minibatch idiom: a function takes the number of a batch of a dataset that it holds.
func ExampleVar_Slice() {
	data := sym.Shared("data", weft.Arange(10.0))
	i := sym.Scalar("i", weft.Int64)
	batch := data.Slice(sym.Range(i.Mul(4), i.Add(1).Mul(4)))
	f := must(sym.Function(sym.In(i), sym.Out(batch)))
	for i := range 3 {
		fmt.Println(run(f, i))
	}
	// Output:
	// [0. 1. 2. 3.]
	// [4. 5. 6. 7.]
	// [8. 9.]
}

func ExampleRange() {
	x := sym.Vector("x", weft.Float32)
	half := x.Len(0).FloorDiv(2)
	f := must(sym.Function(sym.In(x), sym.Out(x.Slice(sym.Range(half, weft.End)))))
	fmt.Println(run(f, weft.Arange(5.0)))
	// Output: [2. 3. 4.]
}

func ExampleVar_Len() {
	x := sym.Matrix("x", weft.Float32)
	f := must(sym.Function(sym.In(x), sym.Out(x.Len(0).Mul(x.Len(1)))))
	fmt.Println(run(f, weft.Zeros(3, 4)))
	// Output: 12
}

func ExampleVar_Narrow() {
	x := sym.Vector("x", weft.Float32)
	around := x.Narrow(0, x.ArgMax().Sub(1), 3) // the largest element and its neighbours
	f := must(sym.Function(sym.In(x), sym.Out(around)))
	fmt.Println(run(f, weft.FromSlice([]float32{1, 2, 9, 4, 0})))
	// Output: [2. 9. 4.]
}

// Vectors of a length that a call gives.
func ExampleZeros() {
	n := sym.Scalar("n", weft.Int64)
	f := must(sym.Function(sym.In(n), sym.Out(sym.Cat([]*sym.Var{sym.Zeros(n), sym.Ones(n)}, 0))))
	fmt.Println(run(f, 2))
	// Output: [0. 0. 1. 1.]
}

func ExampleArange() {
	n := sym.Scalar("n", weft.Int64)
	f := must(sym.Function(sym.In(n), sym.Out(sym.Arange(n, 0, -2))))
	fmt.Println(run(f, 7))
	// Output: [7 5 3 1]
}

func ExampleEye() {
	x := sym.Matrix("x", weft.Float32)
	f := must(sym.Function(sym.In(x), sym.Out(x.Sub(sym.Eye(x.Len(0))))))
	fmt.Println(run(f, weft.Ones(2, 2)))
	// Output:
	// [[0. 1.]
	//  [1. 0.]]
}

func ExampleFull() {
	n := sym.Scalar("n", weft.Int64)
	f := must(sym.Function(sym.In(n), sym.Out(sym.Full(1.5, n))))
	fmt.Println(run(f, 3))
	// Output: [1.5 1.5 1.5]
}

// A shared variable that grows: what a function has seen so far.
func ExampleShared() {
	seen := sym.Shared("seen", weft.Zeros(0), sym.Any)
	x := sym.Scalar("x", weft.Float32)
	f := must(sym.Function(sym.In(x), sym.Out(seen.Sum()), sym.Updates{seen: sym.Cat([]*sym.Var{seen, x.Reshape(1)}, 0)}))
	for _, x := range []float32{1, 2, 3} {
		run(f, x)
	}
	fmt.Println(seen.Tensor())
	// Output: [1. 2. 3.]
}

func ExampleVar_MaskSelect() {
	x := sym.Vector("x", weft.Float32)
	f := must(sym.Function(sym.In(x), sym.Out(x.MaskSelect(x.Gt(0)), x.Gt(0).NonZero())))
	out, err := f.Call(weft.FromSlice([]float32{1, -2, 3}))
	fmt.Println(out[0], out[1], err)
	// Output: [1. 3.] [0 2] <nil>
}

// A loop that keeps the steps it takes.
func ExampleScanOpts() {
	x := sym.Scalar("x", weft.Float32)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: 100, Trim: true}, func(s sym.Step) sym.Next {
		h := s.H[0].Mul(2)
		return sym.Next{H: []*sym.Var{h}, Until: h.Gt(10)}
	})
	fmt.Println(run(must(sym.Function(sym.In(x), sym.Out(r.H[0]))), 1))
	// Output: [ 2.  4.  8. 16.]
}
