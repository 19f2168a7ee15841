package weft_test

import (
	"fmt"

	"weft"
)

func ExampleExpr() {
	a := weft.FromSlice([]float32{1, 2, 3})
	b := weft.FromSlice([]float32{10, 20, 30})
	fmt.Println(weft.Expr("2*a + 3*b", a, b))
	fmt.Println(weft.Expr("sum(where(a > 1, a*lr, 0))", weft.Vars{"a": a, "lr": 0.5}))
	// Output:
	// [32. 64. 96.]
	// 2.5
}

// A formula is differentiable like every operation.
func ExampleExpr_gradient() {
	x := weft.FromSlice([]float64{1, 2, 3}).RequireGrad()
	weft.Expr("sum(pow(x, 3))", x).Backward()
	fmt.Println(x.Grad())
	// Output: [ 3. 12. 27.]
}

// Formulas that users type are read with ParseExpr, whose errors point at the
// column.
func ExampleParseExpr() {
	f, err := weft.ParseExpr("sqrt(x*x + y*y)")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := f.Eval(weft.Vars{"x": 3, "y": 4})
	fmt.Println(f.Names(), r, err)

	_, err = weft.ParseExpr("x**2 + 1")
	fmt.Println(err)
	// Output:
	// [x y] 5.0 <nil>
	// expr: column 2: there is no **: a power is written pow(a, 2)
	// 	x**2 + 1
	// 	 ^
}

// Of the bits of integers a formula has Go's operators.
func ExampleTensor_BitAnd() {
	x := weft.From([]uint8{0b1100, 0b1010, 255})
	fmt.Println(x.BitAnd(0b0110), x.BitNot(), x.Shl(1), x.PopCount())
	fmt.Println(weft.Expr("x>>1 ^ x", x))
	// Output:
	// [4 2 6] [243 245   0] [ 24  20 254] [2 2 8]
	// [ 10  15 128]
}

// LogicalAnd asks whether numbers are 0, BitAnd goes bit by bit.
func ExampleTensor_LogicalAnd() {
	x, y := weft.From([]int32{1, 2, 0}), weft.From([]int32{2, 2, 2})
	fmt.Println(x.LogicalAnd(y), x.BitAnd(y))
	// Output: [ true  true false] [0 2 0]
}

func ExampleFormula_EvalInto() {
	step, err := weft.ParseExpr("x - rate*g")
	if err != nil {
		fmt.Println(err)
		return
	}
	x, g := weft.From([]float32{1, 2, 3}), weft.From([]float32{10, 0, -10})
	for range 3 {
		if err := step.EvalInto(x, x, 0.1, g); err != nil { // over x, without allocating
			fmt.Println(err)
		}
	}
	fmt.Println(x)
	// Output: [-2.  2.  6.]
}
