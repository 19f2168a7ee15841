package polynomial_test

import (
	"fmt"

	"weft"
	"weft/polynomial"
)

func ExampleFit() {
	x := weft.From([]float64{0, 1, 2, 3})
	c := polynomial.Fit(x, weft.From([]float64{1, 3, 9, 19}), 2)
	fmt.Printf("%.4f %.4f %.4f\n", c.At(0).Item(), c.At(1).Item()+1, c.At(2).Item())
	// Output: 1.0000 1.0000 2.0000
}

func ExampleVal() {
	fmt.Println(polynomial.Val(weft.From([]float64{0, 1, 2}), weft.From([]float64{1, 0, 2})))
	// Output: [1. 3. 9.]
}

func ExampleRoots() {
	r := polynomial.Roots(weft.From([]float64{2, -3, 1}))
	fmt.Printf("%.4f %.4f\n", r.Real().Min().Item(), r.Real().Max().Item())
	// Output: 1.0000 2.0000
}

func ExampleFromRoots() {
	fmt.Println(polynomial.FromRoots(weft.From([]float64{1, 2})))
	// Output: [ 2. -3.  1.]
}

func ExampleCompanion() {
	fmt.Println(polynomial.Companion(weft.From([]float64{2, -3, 1})))
	// Output:
	// [[ 0. -2.]
	//  [ 1.  3.]]
}

func ExampleAdd() {
	a, b := weft.From([]float64{1, 2}), weft.From([]float64{1, 2, 3})
	fmt.Println(polynomial.Add(a, b), polynomial.Sub(a, b))
	// Output: [2. 4. 3.] [ 0.  0. -3.]
}

func ExampleMul() {
	fmt.Println(polynomial.Mul(weft.From([]float64{1, 1}), weft.From([]float64{1, -1})))
	// Output: [ 1.  0. -1.]
}

func ExamplePow() {
	fmt.Println(polynomial.Pow(weft.From([]float64{1, 1}), 3))
	// Output: [1. 3. 3. 1.]
}

func ExampleDiv() {
	fmt.Println(polynomial.Div(weft.From([]float64{1, 2, 3}), weft.From([]float64{1, 1})))
	// Output: [-1.  3.] [2.]
}

func ExampleDer() {
	c := weft.From([]float64{1, 2, 3})
	fmt.Println(polynomial.Der(c), polynomial.Int(polynomial.Der(c), polynomial.IntOpts{Constant: 1}))
	// Output: [2. 6.] [1. 2. 3.]
}
