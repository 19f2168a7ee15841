package integrate_test

import (
	"fmt"
	"math"

	"weft"
	"weft/sci/integrate"
)

// The integral has a gradient with respect to what the function uses.
func ExampleQuad() {
	a := weft.From([]float64{2}).RequireGrad(true)
	v, _, err := integrate.Quad(func(x *weft.Tensor) *weft.Tensor { return x.Mul(a).Neg().Exp() }, 0, math.Inf(1))
	if err != nil {
		panic(err)
	}
	v.Backward()
	fmt.Printf("%.6f %.6f\n", v.Item(), a.Grad().Item())
	// Output: 0.500000 -0.250000
}

// The mean of x*y over the triangle below the diagonal of a square.
func ExampleDblQuad() {
	f := func(x float64, y *weft.Tensor) *weft.Tensor { return y.Mul(2 * x) }
	v, _, err := integrate.DblQuad(f, 0, 1, func(x float64) float64 { return 0 }, func(x float64) float64 { return x })
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", v.Item())
	// Output: 0.250000
}

func ExampleSolveIVP() {
	decay := func(t float64, y *weft.Tensor) *weft.Tensor { return y.Mul(-0.5) }
	s, err := integrate.SolveIVP(decay, 0, 10, weft.From([]float64{2, 4, 8}), integrate.SolveIVPOpts{TEval: []float64{0, 5, 10}})
	if err != nil {
		panic(err)
	}
	fmt.Println(s.Y.Mul(100).Round().Div(100))
	// Output:
	// [[2.   4.   8.  ]
	//  [0.16 0.33 0.66]
	//  [0.01 0.03 0.05]]
}

// A stiff problem: Robertson's reactions.
func ExampleSolveIVP_stiff() {
	f := func(t float64, y *weft.Tensor) *weft.Tensor {
		v := weft.Vars{"a": y.At(0), "b": y.At(1), "c": y.At(2)}
		x, z := weft.Expr("1e4*b*c - 0.04*a", v), weft.Expr("3e7*b*b", v)
		return weft.Stack([]*weft.Tensor{x, x.Add(z).Neg(), z}, 0)
	}
	for _, method := range []integrate.Method{integrate.Radau, integrate.BDF} {
		s, err := integrate.SolveIVP(f, 0, 100, weft.From([]float64{1, 0, 0}), integrate.SolveIVPOpts{Method: method, RTol: 1e-6, ATol: 1e-9, TEval: []float64{100}})
		fmt.Printf("%.3f %v\n", s.Y.At(0, 0).Item(), err)
	}
	// Output:
	// 0.617 <nil>
	// 0.617 <nil>
}

// A ball that is thrown up: when it is at its highest, and when it falls to the ground.
func ExampleEvent() {
	fall := func(_ float64, y *weft.Tensor) *weft.Tensor {
		return weft.Stack([]*weft.Tensor{y.At(1), weft.ScalarOf(weft.Float64, -10)}, 0)
	}
	s, err := integrate.SolveIVP(fall, 0, 100, weft.From([]float64{0, 20}), integrate.SolveIVPOpts{Events: []integrate.Event{
		{F: func(_ float64, y *weft.Tensor) float64 { return y.At(1).Item() }},
		{F: func(_ float64, y *weft.Tensor) float64 { return y.At(0).Item() }, Direction: -1, Terminal: 1},
	}})
	if err != nil {
		panic(err)
	}
	fmt.Printf("highest at %.3f: %.3f\n", s.TEvents[0][0], s.YEvents[0].At(0, 0).Item())
	fmt.Printf("on the ground at %.3f, %v\n", s.TEvents[1][0], s.Ended)
	// Output:
	// highest at 2.000: 20.000
	// on the ground at 4.000, true
}
