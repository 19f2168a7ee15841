package optimize_test

import (
	"fmt"
	"math"

	"weft"
	"weft/sci/optimize"
)

func ExampleMinimize() {
	rosenbrock := func(x *weft.Tensor) *weft.Tensor {
		return weft.Expr("square(1 - a) + 100*square(b - a*a)", weft.Vars{"a": x.At(0), "b": x.At(1)})
	}
	m, err := optimize.Minimize(rosenbrock, weft.From([]float64{-1, 2}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f %.4f\n", m.X.At(0).Item(), m.X.At(1).Item())
	// Output: 1.0000 1.0000
}

func ExampleLeastSquares() {
	fit, err := optimize.LeastSquares(func(x *weft.Tensor) *weft.Tensor { return x.Square().Sub(weft.From([]float64{4, 9})) }, weft.From([]float64{1, 1}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f %.6f\n", fit.X.At(0).Item(), fit.X.At(1).Item())
	// Output: 2.000000 3.000000
}

func ExampleCurveFit() {
	x := weft.LinspaceOf(weft.Float64, 0, 4, 50)
	y := x.Mul(-1.5).Exp().Mul(2)
	p, _, err := optimize.CurveFit(func(x, p *weft.Tensor) *weft.Tensor { return x.Mul(p.At(1)).Exp().Mul(p.At(0)) }, x, y, weft.From([]float64{1, -1}))
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.4f %.4f\n", p.At(0).Item(), p.At(1).Item())
	// Output: 2.0000 -1.5000
}

func ExampleRoot() {
	x, err := optimize.Root(func(x *weft.Tensor) *weft.Tensor { return x.Add(x.Cos().Mul(2)) }, weft.From([]float64{0.3}))
	fmt.Printf("%.6f %v\n", x.Item(), err)
	// Output: -1.029867 <nil>
}

func ExampleBrentQ() {
	x, err := optimize.BrentQ(func(x float64) float64 { return math.Cos(x) - x }, 0, 1)
	fmt.Printf("%.6f %v\n", x, err)
	// Output: 0.739085 <nil>
}
