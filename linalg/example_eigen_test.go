package linalg_test

import (
	"fmt"

	"weft"
	"weft/linalg"
)

// rounded returns x with three decimals, and no negative zeros.
func rounded(x *weft.Tensor) *weft.Tensor { return x.Mul(1000).Round().Div(1000).Add(0.0) }

func ExampleEigh() {
	a := weft.From([][]float64{{2, 1}, {1, 2}})
	w, v := linalg.Eigh(a)
	fmt.Println(rounded(w))
	fmt.Println(rounded(v))
	// Output:
	// [1. 3.]
	// [[ 0.707  0.707]
	//  [-0.707  0.707]]
}

func ExampleEigValsH() {
	fmt.Println(rounded(linalg.EigValsH(weft.From([][]float64{{2, 1}, {1, 2}}))))
	// Output: [1. 3.]
}

func ExampleEig() {
	rotation := weft.From([][]float64{{0, -1}, {1, 0}})
	w, v := linalg.Eig(rotation)
	fmt.Println(rounded(w.Real()), rounded(w.Imag()))
	fmt.Println(rounded(v.Real()))
	// Output:
	// [0. 0.] [ 1. -1.]
	// [[0.707 0.707]
	//  [0.    0.   ]]
}

func ExampleEigVals() {
	fmt.Println(rounded(linalg.EigVals(weft.From([][]float64{{1, 2}, {0, 3}})).Real()))
	// Output: [1. 3.]
}

func ExampleSVD() {
	a := weft.From([][]float64{{3, 0}, {0, 0}, {0, 4}})
	u, s, vh := linalg.SVD(a, linalg.SVDOpts{Thin: true})
	fmt.Println(u.Shape(), rounded(s), vh.Shape())
	fmt.Println(rounded(u.Mul(s).MatMul(vh)))
	// Output:
	// [3 2] [4. 3.] [2 2]
	// [[3. 0.]
	//  [0. 0.]
	//  [0. 4.]]
}

func ExampleSVDVals() {
	fmt.Println(rounded(linalg.SVDVals(weft.From([][]float64{{3, 0}, {0, 4}}))))
	// Output: [4. 3.]
}

func ExampleSchur() {
	t, _ := linalg.Schur(weft.From([][]float64{{1, 2}, {0, 3}}))
	fmt.Println(rounded(t))
	// Output:
	// [[1. 2.]
	//  [0. 3.]]
}

func ExampleHessenberg() {
	h, q := linalg.Hessenberg(weft.From([][]float64{{1, 2, 3}, {3, 1, 0}, {4, 0, 1}}))
	fmt.Println(rounded(h.At(2, 0)), rounded(q.At(0)))
	// Output: 0.0 [1. 0. 0.]
}

func ExampleExpm() {
	fmt.Println(rounded(linalg.Expm(weft.From([][]float64{{0, -1}, {1, 0}}))))
	// Output:
	// [[ 0.54  -0.841]
	//  [ 0.841  0.54 ]]
}

func ExampleLogm() {
	a := weft.From([][]float64{{2, 1}, {0, 3}})
	fmt.Println(rounded(linalg.Expm(linalg.Logm(a))))
	// Output:
	// [[2. 1.]
	//  [0. 3.]]
}

func ExampleSqrtm() {
	fmt.Println(rounded(linalg.Sqrtm(weft.From([][]float64{{33, 24}, {48, 57}}))))
	// Output:
	// [[5. 2.]
	//  [4. 7.]]
}

func ExamplePInv() {
	fmt.Println(rounded(linalg.PInv(weft.From([][]float64{{1, 0}, {0, 2}, {0, 0}}))))
	// Output:
	// [[1.  0.  0. ]
	//  [0.  0.5 0. ]]
}

func ExampleMatrixRank() {
	fmt.Println(linalg.MatrixRank(weft.From([][]float64{{1, 2}, {2, 4}})))
	// Output: 1
}

func ExampleOrth() {
	fmt.Println(rounded(linalg.Orth(weft.From([][]float64{{3, 0}, {4, 0}}))))
	// Output:
	// [[0.6]
	//  [0.8]]
}

func ExampleNullSpace() {
	fmt.Println(rounded(linalg.NullSpace(weft.From([][]float64{{1, 0, 0}, {0, 2, 0}})).Abs()))
	// Output:
	// [[0.]
	//  [0.]
	//  [1.]]
}

func ExamplePolar() {
	u, p := linalg.Polar(weft.From([][]float64{{0, -2}, {3, 0}}))
	fmt.Println(rounded(u))
	fmt.Println(rounded(p))
	// Output:
	// [[ 0. -1.]
	//  [ 1.  0.]]
	// [[3. 0.]
	//  [0. 2.]]
}

func ExampleSolveSylvester() {
	a, b := weft.From([][]float64{{1, 0}, {0, 2}}), weft.From([][]float64{{3, 0}, {0, 1}})
	x := linalg.SolveSylvester(a, b, weft.From([][]float64{{8, 4}, {10, 9}}))
	fmt.Println(x)
	// Output:
	// [[2. 2.]
	//  [2. 3.]]
}

func ExampleSolveContinuousLyapunov() {
	// The covariance p of the process dx = a*x dt + noise of covariance I: a*p + p*a^H = -I.
	a := weft.From([][]float64{{-1, 0}, {0, -2}})
	p := linalg.SolveContinuousLyapunov(a, weft.EyeOf(weft.Float64, 2).Neg())
	fmt.Println(p)
	// Output:
	// [[0.5  0.  ]
	//  [0.   0.25]]
}

func ExampleSolveDiscreteLyapunov() {
	// The covariance p of the sequence x = a*x + noise of covariance 3*I: p = a*p*a^H + 3*I.
	a := weft.From([][]float64{{0.5, 0}, {0, 0}})
	p := linalg.SolveDiscreteLyapunov(a, weft.EyeOf(weft.Float64, 2).Mul(3))
	fmt.Println(p)
	// Output:
	// [[4. 0.]
	//  [0. 3.]]
}

func ExampleEighOpts() {
	// Natural frequencies of masses b on springs a: a*v = w*b*v, where w are the squares.
	a, b := weft.From([][]float64{{2, 0}, {0, 18}}), weft.From([][]float64{{2, 0}, {0, 2}})
	fmt.Println(linalg.EigValsH(a, linalg.EighOpts{B: b}).Sqrt())
	// Output: [1. 3.]
}
