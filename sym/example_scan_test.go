package sym_test

import (
	"fmt"

	"weft"
	"weft/sym"
)

func ExampleScan() {
	x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Mul(0.5).Add(s.X[0])}}
	})
	slope := sym.Grad(r.Last[0], []*sym.Var{x})[0]
	f, err := sym.Function(sym.In(x, h0), sym.Out(r.H[0], slope))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(weft.FromSlice([]float64{1, 2, 3}), 4)
	fmt.Println(out[0], out[1], err)
	// Output: [3.   3.5  4.75] [0.25 0.5  1.  ] <nil>
}

func ExampleIfElse() {
	x := sym.Scalar("x", weft.Float64)
	root := sym.IfElse(x.Ge(0),
		func() []*sym.Var { return []*sym.Var{x.Sqrt()} },
		func() []*sym.Var { return []*sym.Var{x.Neg().Sqrt().Neg()} })[0]
	f, err := sym.Function(sym.In(x), sym.Out(root))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(-9)
	fmt.Println(out[0], err)
	// Output: -3.0 <nil>
}

func ExampleMap() {
	x := sym.Matrix("x", weft.Float64)
	norms := sym.Map(func(row ...*sym.Var) *sym.Var { return row[0].Square().Sum().Sqrt() }, x)
	f, err := sym.Function(sym.In(x), sym.Out(norms))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(weft.FromSlice([]float64{3, 4, 5, 12}, 2, 2))
	fmt.Println(out[0], err)
	// Output: [ 5. 13.] <nil>
}

func ExampleFoldL() {
	digits, zero := sym.Vector("digits", weft.Float64), sym.Const(weft.ScalarOf(weft.Float64, 0.0))
	number := sym.FoldL(func(d, n *sym.Var) *sym.Var { return n.Mul(10).Add(d) }, digits, zero)
	f, err := sym.Function(sym.In(digits), sym.Out(number))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(weft.FromSlice([]float64{1, 9, 8, 4}))
	fmt.Println(out[0], err)
	// Output: 1984.0 <nil>
}

// Square roots of many numbers by Newton's method, each with as many steps as it needs.
func ExampleVmap() {
	x := sym.Vector("x", weft.Float64)
	roots := sym.Vmap(func(x ...*sym.Var) *sym.Var {
		r := sym.Scan(sym.ScanOpts{Initial: []any{x[0]}, Steps: new(50)}, func(s sym.Step) sym.Next {
			y := s.H[0].Add(x[0].Div(s.H[0])).Div(2)
			return sym.Next{H: []*sym.Var{y}, Until: y.Sub(s.H[0]).Abs().Lt(1e-9)}
		})
		return r.Last[0]
	})(x)
	f, err := sym.Function(sym.In(x), sym.Out(roots))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(weft.FromSlice([]float64{1, 9, 10000}))
	fmt.Println(out[0], err)
	// Output: [  1.   3. 100.] <nil>
}

// A step updates a shared variable, and draws by a stream whose state goes on from step to step.
func ExampleScan_updates() {
	x, total := sym.Vector("x", weft.Float64), sym.Shared("total", weft.ScalarOf(weft.Float64, 0.0))
	noise := sym.NewMRGStreams(1)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}}, func(s sym.Step) sym.Next {
		return sym.Next{
			Out:     []*sym.Var{s.X[0].Add(noise.Uniform(weft.Float64, 0, 1)).Floor()},
			Updates: sym.Updates{total: total.Add(s.X[0])},
		}
	})
	f, err := sym.Function(sym.In(x), sym.Out(r.Out[0]), r.Updates)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 2 {
		out, err := f.Call(weft.FromSlice([]float64{1, 2, 3}))
		fmt.Println(out[0], total.Tensor(), err)
	}
	// Output:
	// [1. 2. 3.] 6.0 <nil>
	// [1. 2. 3.] 12.0 <nil>
}

// Gradients keep the states between blocks of steps only.
func ExampleSqrtSteps() {
	x, h0 := sym.Vector("x", weft.Float64), sym.Scalar("h0", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h0}, Checkpoint: new(sym.SqrtSteps)}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Mul(0.5).Add(s.X[0])}}
	})
	f, err := sym.Function(sym.In(x, h0), sym.Out(sym.Grad(r.Last[0], []*sym.Var{x})[0]), sym.IgnoreUnused)
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := f.Call(weft.FromSlice([]float64{1, 2, 3}), 4)
	fmt.Println(out[0], err)
	// Output: [0.25 0.5  1.  ] <nil>
}
