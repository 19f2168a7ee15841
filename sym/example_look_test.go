package sym_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"weft"
	"weft/sym"
)

// With a test value what is made of a variable is computed at once.
func ExampleVar_SetTestValue() {
	x := sym.Matrix("x", weft.Float32)
	x.SetTestValue(weft.Ones(2, 3))
	fmt.Println(x.Sum(1).TestValue())
	fmt.Println(weft.Try(func() { x.Index(7) }) != nil)
	// Output:
	// [3. 3.]
	// true
}

// A function that shows what it computes, and stops at the first NaN.
func ExampleFn_Debug() {
	x := sym.Vector("x", weft.Float32)
	f, err := sym.Function(sym.In(x), sym.Out(x.Sub(1).Log()))
	if err != nil {
		panic(err)
	}
	d := f.Debug(weft.DebugOpts{NaN: true, Watch: func(s weft.DebugStep) { fmt.Println(s.Op, s.Value) }})
	_, err = d.Call(weft.FromSlice([]float32{2, 0}))
	fmt.Println(err != nil)
	// Output:
	// sub [ 1. -1.]
	// log [ 0. nan]
	// true
}

// A loop that may take unknown time gets a deadline.
func ExampleFn_CallContext() {
	x := sym.Scalar("x", weft.Float64)
	r := sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: new(1 << 40)}, func(s sym.Step) sym.Next {
		return sym.Next{H: []*sym.Var{s.H[0].Cos()}, Until: s.H[0].Gt(1)}
	})
	f, err := sym.Function(sym.In(x), sym.Out(r.Last[0]))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	_, err = f.CallContext(ctx, 1)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}
