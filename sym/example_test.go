package sym_test

import (
	"fmt"

	"weft"
	"weft/sym"
)

func ExampleFunction() {
	x, n := sym.Vector("x", weft.Float64), sym.Shared("n", weft.ScalarOf(weft.Float64, 0.0))
	f, err := sym.Function(sym.In(x), sym.Out(x.Square().Sum(), n), sym.Updates{n: n.Add(1)})
	if err != nil {
		panic(err)
	}
	for range 2 {
		out, err := f.Call(weft.FromSlice([]float64{1, 2}))
		fmt.Println(out[0], out[1], err)
	}
	_, err = f.Call(weft.Ones(2, 2))
	fmt.Println(err != nil)
	// Output:
	// 5.0 0.0 <nil>
	// 5.0 1.0 <nil>
	// true
}

func ExampleGrad() {
	x := sym.Vector("x", weft.Float64)
	y := x.Pow(3).Sum()
	f, _ := sym.Function(sym.In(x), sym.Out(sym.Grad(y, []*sym.Var{x})[0], sym.Hessian(y, x)[0]))
	out, _ := f.Call(weft.FromSlice([]float64{1, 2}))
	fmt.Println(out[0])
	fmt.Println(out[1])
	// Output:
	// [ 3. 12.]
	// [[ 6.  0.]
	//  [ 0. 12.]]
}

func ExampleOp() {
	greet := &sym.Op{Name: "greet", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
		fmt.Println("got", x[0])
		return x, nil
	}}
	x := sym.Vector("x", weft.Float64)
	f, _ := sym.Function(sym.In(x), sym.Out(greet.Apply(x.Mul(2))...))
	f.Call(weft.FromSlice([]float64{1, 2}))
	// Output: got [2. 4.]
}

func ExampleRandomStreams() {
	u := sym.NewRandomStreams(1).Integers(0, 10, 3)
	f, _ := sym.Function(sym.In(), sym.Out(u.Eq(u).All()))
	out, _ := f.Call()
	fmt.Println(out[0])
	// Output: true
}
