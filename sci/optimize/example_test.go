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

func ExampleMinimize_bounds() {
	quadratic := func(x *weft.Tensor) *weft.Tensor { return x.Sub(weft.From([]float64{1, 2})).Square().Sum() }
	m, err := optimize.Minimize(quadratic, weft.Zeros(2), optimize.MinimizeOpts{Bounds: &optimize.Bounds{Upper: weft.From([]float64{5, 1.5})}})
	fmt.Printf("%.4f %.4f %v\n", m.X.At(0).Item(), m.X.At(1).Item(), err)
	// Output: 1.0000 1.5000 <nil>
}

func ExampleMinimizeScalar() {
	m, err := optimize.MinimizeScalar(func(x float64) float64 { return (x - 2) * x * (x + 2) * (x + 2) })
	fmt.Printf("%.5f %.4f %v\n", m.X, m.Value, err)
	// Output: 1.28078 -9.9149 <nil>
}

func ExampleNNLS() {
	x, residual, err := optimize.NNLS(weft.From([][]float64{{1, 0}, {1, 0}, {0, 1}}), weft.From([]float64{2, 1, -1}))
	fmt.Printf("%v %.4f %v\n", x, residual, err)
	// Output: [1.5 0. ] 1.2247 <nil>
}

func ExampleLinProg() {
	p, err := optimize.LinProg(weft.From([]float64{-1, 4}), optimize.LinProgOpts{
		AUb: weft.From([][]float64{{-3, 1}, {1, 2}}), BUb: weft.From([]float64{6, 4}),
		Bounds: &optimize.Bounds{Lower: weft.From([]float64{math.Inf(-1), -3})},
	})
	fmt.Println(p.X, p.Value, p.Slack, err)
	// Output: [10. -3.] -22 [39.  0.] <nil>
}

func ExampleLinearSumAssignment() {
	cost := weft.From([][]float64{{4, 1, 3}, {2, 0, 5}, {3, 2, 2}})
	rows, cols, err := optimize.LinearSumAssignment(cost)
	fmt.Println(rows, cols, err)
	// Output: [0 1 2] [1 0 2] <nil>
}

func ExampleDifferentialEvolution() {
	// Many minima; the least is 0 at 0.
	rastrigin := func(x *weft.Tensor) *weft.Tensor {
		return x.Square().Sub(x.Mul(2 * math.Pi).Cos().Mul(10)).Add(10).Sum()
	}
	bounds := optimize.Bounds{Lower: weft.Full(-5.12, 2), Upper: weft.Full(4, 2)}
	m, err := optimize.DifferentialEvolution(rastrigin, bounds, optimize.DifferentialEvolutionOpts{Seed: 1})
	fmt.Printf("%.4f %v\n", m.Value, err)
	// Output: 0.0000 <nil>
}

func ExampleDualAnnealing() {
	// Many minima; the least is 0 at 0.
	rastrigin := func(x *weft.Tensor) *weft.Tensor {
		return x.Square().Sub(x.Mul(2 * math.Pi).Cos().Mul(10)).Add(10).Sum()
	}
	bounds := optimize.Bounds{Lower: weft.Full(-5.12, 4), Upper: weft.Full(4, 4)}
	m, err := optimize.DualAnnealing(rastrigin, bounds, optimize.DualAnnealingOpts{Seed: 1})
	fmt.Printf("%.4f %v\n", m.Value, err)
	// Output: 0.0000 <nil>
}

func ExampleBasinHopping() {
	// The example of SciPy's basinhopping: many minima along x in one funnel.
	f := func(x *weft.Tensor) *weft.Tensor {
		return x.Mul(14.5).Sub(0.3).Cos().Add(x.Add(0.2).Mul(x)).Sum()
	}
	m, err := optimize.BasinHopping(f, weft.From([]float64{1}), optimize.BasinHoppingOpts{Seed: 1})
	fmt.Printf("%.4f %.4f %v\n", m.X.Item(), m.Value, err)
	// Output: -0.1951 -1.0009 <nil>
}
