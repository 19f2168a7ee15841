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

func ExampleBasis() {
	x := weft.LinspaceOf(weft.Float64, -1, 1, 9)
	c := polynomial.Chebyshev.Fit(x, x.Square().Mul(4), 3) // 2*T0 + 2*T2
	fmt.Println(c.Mul(1000).Round().Div(1000).Abs(), polynomial.Chebyshev.Val(weft.From([]float64{2}), weft.From([]float64{2, 0, 2})))
	// Output: [2. 0. 2. 0.] [16.]
}

func ExampleBasis_Val() {
	fmt.Println(polynomial.Legendre.Val(weft.From([]float64{0, 1}), weft.From([]float64{0, 0, 1})))
	// Output: [-0.5  1. ]
}

func ExampleBasis_Fit() {
	x := weft.From([]float64{-1, 0, 1, 2})
	c := polynomial.HermiteE.Fit(x, x.Square(), 2) // He2 is x*x - 1
	fmt.Printf("%.4f %.4f\n", c.At(0).Item(), c.At(2).Item())
	// Output: 1.0000 1.0000
}

func ExampleBasis_Vander() {
	fmt.Println(polynomial.Chebyshev.Vander(weft.From([]float64{0.5, 1}), 3))
	// Output:
	// [[ 1.   0.5 -0.5 -1. ]
	//  [ 1.   1.   1.   1. ]]
}

func ExampleBasis_Roots() {
	r := polynomial.Hermite.Roots(weft.From([]float64{0, 0, 1})) // 4*x*x - 2
	fmt.Printf("%.4f %.4f\n", r.Real().Min().Item(), r.Real().Max().Item())
	// Output: -0.7071 0.7071
}

func ExampleBasis_Der() {
	c := weft.From([]float64{1, 2, 3})
	fmt.Println(polynomial.Chebyshev.Der(c), polynomial.Chebyshev.Int(polynomial.Chebyshev.Der(c)))
	// Output: [ 2. 12.] [3. 2. 3.]
}

func ExampleBasis_To() {
	c := polynomial.Chebyshev.To(weft.From([]float64{1, 2, 3}), polynomial.Power) // cheb2poly
	fmt.Println(c, polynomial.Power.To(c, polynomial.Chebyshev))
	// Output: [-2.  2.  6.] [1. 2. 3.]
}

func ExampleSeries() {
	x := weft.LinspaceOf(weft.Float64, 0, 10, 50)
	s := polynomial.Chebyshev.FitSeries(x, x.Sin(), 15) // Chebyshev.fit(x, np.sin(x), 15)
	at := weft.From([]float64{1, 2, 3})
	fmt.Printf("%.5f\n", s.Val(at).Sub(at.Sin()).Abs().Max().Item())
	fmt.Printf("%.3f\n", s.Der().Val(at).Sub(at.Cos()).Abs().Max().Item())
	fmt.Println(polynomial.Legendre.Series(weft.From([]float64{1, 2}), [2]float64{0, 4}))
	// Output:
	// 0.00000
	// 0.000
	// Legendre([1. 2.], domain 0 to 4)
}
