package sym_test

import (
	"fmt"
	"os"

	"weft"
	"weft/sym"
)

// must compiles a function.
func must(f *sym.Fn, err error) *sym.Fn {
	if err != nil {
		panic(err)
	}
	return f
}

// run calls it and gives its first result.
func run(f *sym.Fn, args ...any) *weft.Tensor {
	out, err := f.Call(args...)
	if err != nil {
		panic(err)
	}
	return out[0]
}

// A copy of a function over another state.
func ExampleFn_Copy() {
	n := sym.Scalar("n", weft.Int64)
	a, b := sym.Shared("a", weft.Scalar(int64(0))), sym.Shared("b", weft.Scalar(int64(100)))
	f := must(sym.Function(sym.In(n), sym.Out(a), sym.Updates{a: a.Add(n)}))
	g := must(f.Copy(sym.CopyOpts{Swap: map[*sym.Var]*sym.Var{a: b}}))
	run(f, 5)
	fmt.Println(run(g, 7), a.Tensor(), b.Tensor())
	// Output: 100 5 107
}

// A graph as an operation, with a gradient of its own.
func ExampleOpFromGraph() {
	x := sym.Scalar("x", weft.Float64)
	relu := sym.OpFromGraph([]*sym.Var{x}, []*sym.Var{x.Relu()}, sym.GraphOpts{
		Name:     "straight through",
		Gradient: func(x, y, dy []*sym.Var) []*sym.Var { return dy },
	})
	y := relu(x)[0]
	f := must(sym.Function(sym.In(x), sym.Out(append([]*sym.Var{y}, sym.Grad(y, []*sym.Var{x})...)...)))
	out, err := f.Call(-3)
	fmt.Println(out[0], out[1], err)
	// Output: 0.0 1.0 <nil>
}

// Numbers of Theano's generator.
func ExampleMRGStreams() {
	u := sym.NewMRGStreams(12345).Uniform(weft.Float64, 0, 1, 2)
	f := must(sym.Function(sym.In(), sym.Out(u)))
	fmt.Println(run(f).Dim(0), run(f).Lt(1).All())
	// Output: 2 true
}

// Another variable in the place of one.
func ExampleReplace() {
	x, y := sym.Scalar("x", weft.Float64), sym.Scalar("y", weft.Float64)
	z := sym.Replace([]*sym.Var{x.Mul(x).Add(1)}, map[*sym.Var]*sym.Var{x: y.Exp()})[0]
	fmt.Println(run(must(sym.Function(sym.In(y), sym.Out(z))), 0))
	// Output: 2.0
}

// Values are printed whenever they are computed.
func ExamplePrint() {
	x := sym.Vector("x", weft.Int64)
	y := sym.Print(x.Mul(2), "twice:", os.Stdout).Sum()
	fmt.Println(run(must(sym.Function(sym.In(x), sym.Out(y))), weft.FromSlice([]int64{1, 2})))
	// Output:
	// twice: [2 4]
	// 6
}

// All second derivatives, and their product with a vector without them.
func ExampleHessian() {
	x, v := sym.Vector("x", weft.Float64), sym.Vector("v", weft.Float64)
	cost := x.Pow(3).Sum()
	f := must(sym.Function(sym.In(x, v), sym.Out(sym.Hessian(cost, x)[0], sym.HessianVector(cost, []*sym.Var{x}, []*sym.Var{v})[0])))
	out, err := f.Call(weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{1, 1}))
	if err != nil {
		panic(err)
	}
	fmt.Println(out[0])
	fmt.Println(out[1])
	// Output:
	// [[ 6.  0.]
	//  [ 0. 12.]]
	// [ 6. 12.]
}

// Products of a Jacobian with vectors from either side.
func ExampleRop() {
	x, v := sym.Vector("x", weft.Float64), sym.Vector("v", weft.Float64)
	y := x.Square()
	r, l := sym.Rop([]*sym.Var{y}, []*sym.Var{x}, []*sym.Var{v})[0], sym.Lop([]*sym.Var{y}, []*sym.Var{x}, []*sym.Var{v})[0]
	out, err := must(sym.Function(sym.In(x, v), sym.Out(r, l))).Call(weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{10, 1}))
	fmt.Println(out[0], out[1], err)
	// Output: [20.  4.] [20.  4.] <nil>
}

// A condition that must hold.
func ExampleAssert() {
	x := sym.Vector("x", weft.Float64)
	f := must(sym.Function(sym.In(x), sym.Out(sym.Assert(x, x.Gt(0), "must be positive").Log())))
	_, err := f.Call(weft.FromSlice([]float64{1, -1}))
	fmt.Println(err != nil)
	// Output: true
}
