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
