package gonumblas_test

import (
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"weft"
	"weft/gonumblas"
)

// The import alone makes gonum's products run on weft's kernels.
func Example() {
	a := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	var c mat.Dense
	c.Mul(a, a)
	fmt.Println(mat.Formatted(&c))
	// Output:
	// ⎡ 7  10⎤
	// ⎣15  22⎦
}

func ExampleImplementation() {
	blas64.Use(gonumblas.Implementation{}) // what the import does
	a := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: []float64{1, 2, 3, 4}}
	c := blas64.General{Rows: 2, Cols: 2, Stride: 2, Data: make([]float64, 4)}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, a, a, 0, c)
	fmt.Println(c.Data)
	// Output: [10 14 14 20]
}

// A matrix of gonum is a tensor on the same memory, so that weft computes gradients for it.
func ExampleFromDense() {
	m := mat.NewDense(3, 3, []float64{1, 0, 0, 0, 2, 0, 0, 0, 3})
	x := gonumblas.FromDense(m.Slice(1, 3, 1, 3).(*mat.Dense))
	fmt.Println(x)
	x.AddAssign(1)
	fmt.Println(m.At(1, 1), m.At(0, 0))
	// Output:
	// [[2. 0.]
	//  [0. 3.]]
	// 3 1
}

func ExampleFromVecDense() {
	m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	fmt.Println(gonumblas.FromVecDense(m.ColView(1).(*mat.VecDense)))
	// Output: [2. 4.]
}

func ExampleFromCDense() {
	m := mat.NewCDense(1, 2, []complex128{1, 2i})
	fmt.Println(gonumblas.FromCDense(m))
	// Output: [[1.+0.j 0.+2.j]]
}

// gonum factors a matrix of weft where it lies.
func ExampleBorrowDense() {
	x := weft.From([][]float64{{4, 2}, {2, 3}})
	gonumblas.BorrowDense(x, func(m *mat.Dense) {
		fmt.Printf("%.3f\n", mat.Det(m))
		m.Scale(2, m)
	})
	fmt.Println(x)
	// Output:
	// 8.000
	// [[8. 4.]
	//  [4. 6.]]
}

func ExampleBorrowVecDense() {
	x := weft.From([]float64{3, 4})
	gonumblas.BorrowVecDense(x, func(v *mat.VecDense) { fmt.Println(mat.Norm(v, 2)) })
	// Output: 5
}

func ExampleBorrowCDense() {
	x := weft.From([][]complex128{{1, 2i}})
	gonumblas.BorrowCDense(x, func(m *mat.CDense) { m.Set(0, 0, 5) })
	fmt.Println(x)
	// Output: [[5.+0.j 0.+2.j]]
}
