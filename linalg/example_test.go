package linalg_test

import (
	"fmt"

	"weft"
	"weft/linalg"
)

func ExampleCholesky() {
	a := weft.From([][]float64{{4, 2}, {2, 5}})
	fmt.Println(linalg.Cholesky(a))
	err := weft.Try(func() { linalg.Cholesky(weft.From([][]float64{{1, 2}, {2, 1}})) })
	fmt.Println(err)
	// Output:
	// [[2. 0.]
	//  [1. 2.]]
	// linalg.cholesky: a: the matrix is not positive definite: its leading minor of order 2 is not positive
}

func ExampleSolveTriangular() {
	a := weft.From([][]float64{{2, 0}, {1, 4}})
	fmt.Println(linalg.SolveTriangular(a, weft.From([]float64{2, 9}), linalg.SolveTriangularOpts{Lower: true}))
	// Output: [1. 2.]
}

func ExampleCholeskySolve() {
	a := weft.From([][]float64{{4, 2}, {2, 5}})
	fmt.Println(linalg.CholeskySolve(linalg.Cholesky(a), weft.From([]float64{8, 12})))
	// Output: [1. 2.]
}

func ExampleSolve() {
	a := weft.From([][]float64{{2, 1}, {1, 3}}).RequireGrad()
	x := linalg.Solve(a, weft.From([]float64{3, 4}))
	x.Sum().Backward()
	fmt.Println(x)
	fmt.Println(a.Grad())
	// Output:
	// [1. 1.]
	// [[-0.4 -0.4]
	//  [-0.2 -0.2]]
}

func ExampleInv() {
	fmt.Println(linalg.Inv(weft.From([][]float64{{2, 0}, {0, 4}})))
	err := weft.Try(func() { linalg.Inv(weft.Zeros(2, 2)) })
	fmt.Println(err)
	// Output:
	// [[0.5  0.  ]
	//  [0.   0.25]]
	// linalg.inv: a: the matrix is singular: pivot 0 is 0
}

func ExampleLU() {
	p, l, u := linalg.LU(weft.From([][]float64{{1, 2}, {2, 2}}))
	fmt.Println(p)
	fmt.Println(l)
	fmt.Println(u)
	// Output:
	// [[0. 1.]
	//  [1. 0.]]
	// [[1.  0. ]
	//  [0.5 1. ]]
	// [[2. 2.]
	//  [0. 1.]]
}

func ExampleLUFactor() {
	lu, pivots := linalg.LUFactor(weft.From([][]float64{{1, 2}, {2, 2}}))
	fmt.Println(linalg.LUSolve(lu, pivots, weft.From([]float64{3, 4})))
	// Output: [1. 1.]
}

func ExampleQR() {
	_, r := linalg.QR(weft.From([][]float64{{3, 5}, {4, 10}}))
	fmt.Println(r)
	// Output:
	// [[ -5. -11.]
	//  [  0.   2.]]
}

func ExampleLstSq() {
	// A line through three points.
	a := linalg.Vander(weft.From([]float64{0, 1, 2}), linalg.VanderOpts{N: new(2)})
	x, residuals, _, _ := linalg.LstSq(a, weft.From([]float64{1, 3, 5}))
	fmt.Printf("%.2f %.2f %v\n", x.At(0).Item(), x.At(1).Item(), residuals.Item() < 1e-20)
	// Output: 2.00 1.00 true
}

func ExampleDet() {
	a := weft.From([][]float64{{1, 2}, {3, 4}})
	sign, logabs := linalg.SlogDet(a)
	fmt.Printf("%.1f %.0f %.4f\n", linalg.Det(a).Item(), sign.Item(), logabs.Item())
	// Output: -2.0 -1 0.6931
}

func ExampleMatrixNorm() {
	a := weft.From([][]float64{{1, -2}, {3, 4}})
	fmt.Println(linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: linalg.One}), linalg.MatrixNorm(a, linalg.MatrixNormOpts{Ord: linalg.Inf}))
	fmt.Println(linalg.VectorNorm(a, linalg.VectorNormOpts{Ord: new(1.0), Axes: []int{1}}))
	// Output:
	// 6.0 7.0
	// [3. 7.]
}

func ExampleCond() {
	fmt.Println(linalg.Cond(weft.From([][]float64{{2, 0}, {0, 4}}), linalg.One))
	// Output: 2.0
}

func ExampleMatrixPower() {
	fibonacci := weft.From([][]float64{{1, 1}, {1, 0}})
	fmt.Println(linalg.MatrixPower(fibonacci, 10))
	// Output:
	// [[89. 55.]
	//  [55. 34.]]
}

func ExampleMultiDot() {
	y := linalg.MultiDot(weft.Ones(2, 100), weft.Ones(100, 3), weft.Ones(3))
	fmt.Println(y)
	// Output: [300. 300.]
}

func ExampleKron() {
	fmt.Println(linalg.Kron(weft.From([]int64{1, 10}), weft.From([]int64{1, 2, 3})))
	// Output: [ 1  2  3 10 20 30]
}

func ExampleToeplitz() {
	fmt.Println(linalg.Toeplitz(weft.From([]int64{1, 2, 3}), linalg.ToeplitzOpts{R: weft.From([]int64{1, 7, 8})}))
	fmt.Println(linalg.Hankel(weft.From([]int64{1, 2, 3})))
	fmt.Println(linalg.Circulant(weft.From([]int64{1, 2, 3})))
	// Output:
	// [[1 7 8]
	//  [2 1 7]
	//  [3 2 1]]
	// [[1 2 3]
	//  [2 3 0]
	//  [3 0 0]]
	// [[1 3 2]
	//  [2 1 3]
	//  [3 2 1]]
}

func ExampleBlockDiag() {
	fmt.Println(linalg.BlockDiag(weft.From([][]int64{{1, 2}, {3, 4}}), weft.From([]int64{5, 6})))
	// Output:
	// [[1 2 0 0]
	//  [3 4 0 0]
	//  [0 0 5 6]]
}

func ExampleHilbert() {
	fmt.Println(linalg.Hilbert(2))
	// Output:
	// [[1.         0.5       ]
	//  [0.5        0.33333334]]
}
