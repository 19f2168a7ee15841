package sparse_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"weft"
	"weft/sparse"
)

// small is [[2 0 1] [0 3 0]].
func small() *sparse.Matrix {
	return sparse.NewCSR(weft.From([]float64{2, 1, 3}), []int{0, 2, 1}, []int{0, 2, 3}, 2, 3)
}

func ExampleNewCSR() {
	m := sparse.NewCSR(weft.From([]float64{2, 1, 3}), []int{0, 2, 1}, []int{0, 2, 3}, 2, 3)
	fmt.Println(m)
	fmt.Println(m.ToDense())
	// Output:
	// sparse csr float64[2 3] with 3 entries
	// [[2. 0. 1.]
	//  [0. 3. 0.]]
}

func ExampleNewCSC() {
	m := sparse.NewCSC(weft.From([]float64{2, 3, 1}), []int{0, 1, 0}, []int{0, 1, 2, 3}, 2, 3)
	fmt.Println(m.ToDense())
	// Output:
	// [[2. 0. 1.]
	//  [0. 3. 0.]]
}

func ExampleNewCOO() {
	m := sparse.NewCOO(weft.From([]float64{2, 1, 3, 10}), []int{0, 0, 1, 0}, []int{0, 2, 1, 0}, 2, 3)
	fmt.Println(m.NNZ(), m.Coalesce().NNZ())
	fmt.Println(m.ToDense())
	// Output:
	// 4 3
	// [[12.  0.  1.]
	//  [ 0.  3.  0.]]
}

func ExampleNewBSR() {
	m := sparse.NewBSR(weft.From([][][]float64{{{1, 2}, {3, 4}}}), []int{1}, []int{0, 1}, 2, 4)
	fmt.Println(m.ToDense())
	// Output:
	// [[0. 0. 1. 2.]
	//  [0. 0. 3. 4.]]
}

func ExampleFromDense() {
	m := sparse.FromDense(weft.From([][]float64{{0, 5}, {0, 0}}))
	fmt.Println(m.Values(), m.Indices(), m.Offsets())
	// Output: [5.] [1] [0 1 1]
}

func ExampleMatrix_MatMul() {
	m := small()
	v := m.Values().Clone().RequireGrad()
	x := weft.From([]float64{1, 2, 3})
	y := m.WithValues(v).MatMul(x)
	y.Sum().Backward()
	fmt.Println(y, v.Grad())
	// Output: [5. 6.] [1. 3. 2.]
}

func ExampleMatrix_LeftMatMul() {
	fmt.Println(small().LeftMatMul(weft.From([]float64{1, 2})))
	// Output: [2. 6. 1.]
}

func ExampleMatrix_Sampled() {
	x, y := weft.From([][]float64{{1}, {2}}), weft.From([][]float64{{1}, {10}, {100}})
	fmt.Println(small().Sampled(x, y).ToDense())
	// Output:
	// [[  1.   0. 100.]
	//  [  0.  20.   0.]]
}

func ExampleMatrix_Dot() {
	m := small()
	fmt.Println(m.Dot(m.T()).ToDense())
	// Output:
	// [[5. 0.]
	//  [0. 9.]]
}

func ExampleMatrix_To() {
	row, col := small().To(sparse.COO).Coords()
	fmt.Println(row, col)
	// Output: [0 0 1] [0 2 1]
}

func ExampleMatrix_ToBSR() {
	b := sparse.Eye(4).ToBSR(2, 2)
	fmt.Println(b.Values().Shape(), b.Indices())
	// Output: [2 2 2] [0 1]
}

func ExampleMatrix_Add() {
	m := small()
	fmt.Println(m.Add(m.Neg()).NNZ(), m.Add(m.Neg()).Prune().NNZ())
	// Output: 3 0
}

func ExampleMatrix_MulDense() {
	fmt.Println(small().MulDense(weft.From([][]float64{{10}, {1}})).ToDense())
	// Output:
	// [[20.  0. 10.]
	//  [ 0.  3.  0.]]
}

func ExampleMatrix_Map() {
	fmt.Println(small().Map((*weft.Tensor).Exp).Map((*weft.Tensor).Log).ToDense())
	// Output:
	// [[2. 0. 1.]
	//  [0. 3. 0.]]
}

func ExampleMatrix_Sum() {
	m := small()
	fmt.Println(m.Sum(), m.Sum(0), m.Sum(1), m.Max(1))
	// Output: 6.0 [2. 3. 1.] [3. 3.] [2. 3.]
}

func ExampleMatrix_Slice() {
	fmt.Println(small().Slice(0, 2, 1, 3).ToDense())
	// Output:
	// [[0. 1.]
	//  [3. 0.]]
}

func ExampleEye() {
	fmt.Println(sparse.Eye(2).ToDense())
	// Output:
	// [[1. 0.]
	//  [0. 1.]]
}

func ExampleDiags() {
	m := sparse.Diags([]*weft.Tensor{weft.From([]float64{2}), weft.From([]float64{7, 8})}, []int{0, 1}, 3, 3)
	fmt.Println(m.ToDense())
	// Output:
	// [[2. 7. 0.]
	//  [0. 2. 8.]
	//  [0. 0. 2.]]
}

func ExampleHStack() {
	fmt.Println(sparse.HStack(sparse.Eye(1), sparse.Eye(1)).ToDense())
	// Output: [[1. 1.]]
}

func ExampleVStack() {
	fmt.Println(sparse.VStack(sparse.Eye(1), sparse.Eye(1)).Shape())
	// Output: [2 1]
}

func ExampleBlockDiag() {
	fmt.Println(sparse.BlockDiag(small(), sparse.Eye(1)).Shape())
	// Output: [3 4]
}

func ExampleKron() {
	fmt.Println(sparse.Kron(sparse.Eye(2), small()).Shape())
	// Output: [4 6]
}

func ExampleSolveTriangular() {
	a := sparse.FromDense(weft.From([][]float64{{2, 0}, {1, 4}}))
	fmt.Println(sparse.SolveTriangular(a, weft.From([]float64{2, 9}), sparse.SolveTriangularOpts{Lower: true}))
	// Output: [1. 2.]
}

func ExampleCholesky() {
	a := sparse.Diags([]*weft.Tensor{weft.From([]float64{2}), weft.From([]float64{-1}), weft.From([]float64{-1})}, []int{0, 1, -1}, 3, 3)
	f := sparse.Cholesky(a)
	fmt.Println(f.Solve(weft.From([]float64{1, 0, 1})))
	rows, cols := f.Perm()
	fmt.Printf("%.4f\n", a.Permute(rows, cols).Sub(f.L().Dot(f.U())).Norm().Item())
	// Output:
	// [1. 1. 1.]
	// 0.0000
}

func ExampleLU() {
	a := sparse.FromDense(weft.From([][]float64{{0, 2, 0}, {1, 0, 0}, {0, 1, 4}}))
	f := sparse.LU(a)
	fmt.Println(f.Solve(weft.From([]float64{2, 1, 5})), f.SolveAdjoint(weft.From([]float64{1, 3, 4})))
	// Output: [1. 1. 1.] [1. 1. 1.]
}

func ExampleSolve() {
	a := sparse.FromDense(weft.From([][]float64{{0, 2}, {1, 0}}))
	fmt.Println(sparse.Solve(a, weft.From([]float64{2, 1})))
	// Output: [1. 1.]
}

func ExampleFactorization_Solve() {
	f := sparse.LU(sparse.FromDense(weft.From([][]float64{{4, 1}, {1, 3}})))
	fmt.Println(f.Solve(weft.From([][]float64{{5, 4}, {4, 1}}))) // two right sides
	// Output:
	// [[1. 1.]
	//  [1. 0.]]
}

func ExampleCG() {
	a := laplace(30)
	b := weft.OnesOf(weft.Float64, 900)
	s, err := sparse.CG(a.MatMul, b)
	fmt.Println(s.Converged, err, a.MatMul(s.X).Sub(b).Norm(2).Item() < 1e-3)
	s, err = sparse.CG(a.MatMul, b, sparse.SolverOpts{MaxIter: new(3)})
	fmt.Println(s.Converged, err != nil)
	// Output:
	// true <nil> true
	// false true
}

func ExampleBiCGSTAB() {
	a := sparse.FromDense(weft.From([][]float64{{4, 1}, {0, 2}}))
	s, _ := sparse.BiCGSTAB(a.MatMul, weft.From([]float64{6, 4}))
	fmt.Printf("%.3f\n", weft.Data[float64](s.X))
	// Output: [1.000 2.000]
}

func ExampleGMRES() {
	a := sparse.FromDense(weft.From([][]float64{{4, 1}, {0, 2}}))
	s, _ := sparse.GMRES(a.MatMul, weft.From([]float64{6, 4}), sparse.SolverOpts{Preconditioner: sparse.ILU(a)})
	fmt.Printf("%.3f after %d\n", weft.Data[float64](s.X), s.Iterations)
	// Output: [1.000 2.000] after 1
}

func ExampleMINRES() {
	a := sparse.FromDense(weft.From([][]float64{{0, 1}, {1, 0}}))
	s, _ := sparse.MINRES(a.MatMul, weft.From([]float64{6, 4}))
	fmt.Printf("%.3f\n", weft.Data[float64](s.X))
	// Output: [4.000 6.000]
}

func ExampleLSQR() {
	a := sparse.FromDense(weft.From([][]float64{{1, 0}, {1, 1}, {1, 2}}))
	s, _ := sparse.LSQR(a.MatMul, a.H().MatMul, weft.From([]float64{1, 3, 5}))
	fmt.Printf("%.3f\n", weft.Data[float64](s.X))
	// Output: [1.000 2.000]
}

func ExampleJacobi() {
	z := sparse.Jacobi(sparse.Eye(2).Scale(4))(weft.From([]float64{4, 8}))
	fmt.Println(z)
	// Output: [1. 2.]
}

func ExampleILU() {
	z := sparse.ILU(sparse.FromDense(weft.From([][]float64{{4, 1}, {0, 2}})))(weft.From([]float64{6, 4}))
	fmt.Println(z)
	// Output: [1. 2.]
}

func ExampleIC() {
	z := sparse.IC(sparse.FromDense(weft.From([][]float64{{4, 2}, {2, 5}})))(weft.From([]float64{8, 12}))
	fmt.Println(z)
	// Output: [1. 2.]
}

func ExampleEigsh() {
	a := laplace(20)
	w, _, err := sparse.Eigsh(a.MatMul, weft.ZerosOf(weft.Float64, 400), 2)
	fmt.Printf("%.4f %v\n", weft.Data[float64](w), err)
	// Output: [7.8888 7.9553] <nil>
}

func ExampleSvds() {
	m := small()
	_, s, _, err := sparse.Svds(m.MatMul, m.H().MatMul, weft.ZerosOf(weft.Float64, 3), 1)
	fmt.Printf("%.3f %v\n", weft.Data[float64](s), err)
	// Output: [3.000] <nil>
}

func ExampleReadMatrixMarket() {
	m, err := sparse.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 3 5\n"))
	fmt.Println(m, err)
	// Output: sparse coo float64[2 3] with 1 entries <nil>
}

func ExampleWriteMatrixMarket() {
	fmt.Println(sparse.WriteMatrixMarket(os.Stdout, small()))
	// Output:
	// %%MatrixMarket matrix coordinate real general
	// 2 3 3
	// 1 1 2
	// 1 3 1
	// 2 2 3
	// <nil>
}

func ExampleWriteNPZ() {
	var b bytes.Buffer
	err := sparse.WriteNPZ(&b, small())
	m, err2 := sparse.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
	fmt.Println(m, err, err2)
	// Output: sparse csr float64[2 3] with 3 entries <nil> <nil>
}

func ExampleReadNPZ() {
	b, _ := os.ReadFile(filepath.Join("testdata", "real_csc.npz"))
	m, err := sparse.ReadNPZ(bytes.NewReader(b), int64(len(b)))
	fmt.Println(m.Format(), m.Shape(), err)
	// Output: csc [7 9] <nil>
}

func ExampleReadNPZFile() {
	m, err := sparse.ReadNPZFile(filepath.Join("testdata", "real_csr.npz"))
	fmt.Println(m.Format(), m.Shape(), err)
	// Output: csr [7 9] <nil>
}

func ExampleWriteNPZFile() {
	dir, _ := os.MkdirTemp("", "sparse")
	defer os.RemoveAll(dir)
	fmt.Println(sparse.WriteNPZFile(filepath.Join(dir, "m.npz"), small()))
	// Output: <nil>
}

// graph has the edges 0-1, 1-2 of weights 4 and 1, 0-2 of weight 7, and 3-4 of weight 2.
func graph() *sparse.Matrix {
	g := sparse.NewCOO(weft.From([]float64{4, 1, 7, 2}), []int{0, 1, 0, 3}, []int{1, 2, 2, 4}, 5, 5)
	return g.Add(g.T()).To(sparse.CSR)
}

// Connected components: each node takes the least label beside it until none changes.
func Example_connectedComponents() {
	g := graph()
	off, to := weft.Data[int64](g.Offsets()), weft.Data[int32](g.Indices())
	label := []int32{0, 1, 2, 3, 4}
	for changed := true; changed; {
		changed = false
		for i := range label {
			for _, j := range to[off[i]:off[i+1]] {
				if label[j] < label[i] {
					label[i], changed = label[j], true
				}
			}
		}
	}
	fmt.Println(label)
	// Output: [0 0 0 3 3]
}

// Shortest paths from node 0, by Bellman and Ford's relaxation.
func Example_shortestPaths() {
	g := graph()
	row, col := g.Coords()
	from, to, w := weft.Data[int32](row), weft.Data[int32](col), weft.Data[float64](g.Values())
	const far = 1e300
	d := []float64{0, far, far, far, far}
	for range len(d) {
		before := slices.Clone(d)
		for k := range w {
			d[to[k]] = min(d[to[k]], d[from[k]]+w[k])
		}
		if slices.Equal(before, d) {
			break
		}
	}
	fmt.Println(d)
	// Output: [0 4 5 1e+300 1e+300]
}

// PageRank by products: a page gives its rank to those that it links to.
func Example_pageRank() {
	g := graph().Map(func(v *weft.Tensor) *weft.Tensor { return v.Div(v) }) // links
	links := g.MulDense(g.Sum(1).Pow(-1).Unsqueeze(1)).To(sparse.CSR).T()
	rank := weft.FullOf(weft.Float64, 0.2, 5)
	for range 100 {
		rank = links.MatMul(rank).Mul(0.85).Add(0.15 / 5)
	}
	fmt.Printf("%.3f\n", weft.Data[float64](rank))
	// Output: [0.200 0.200 0.200 0.200 0.200]
}

func ExampleConnectedComponents() {
	a := sparse.NewCOO(weft.From([]float64{1, 1, 1}), []int{0, 2, 4}, []int{2, 0, 3}, 5, 5) // csgraph.connected_components(a)
	fmt.Println(sparse.ConnectedComponents(a))
	fmt.Println(sparse.ConnectedComponents(a, sparse.ComponentsOpts{Strong: true}))
	// Output:
	// 3 [0 1 0 2 2]
	// 4 [0 1 0 2 3]
}

func ExampleShortestPath() {
	a := sparse.NewCOO(weft.From([]float64{4, 1, 2}), []int{0, 0, 2}, []int{1, 2, 1}, 4, 4)
	distances, before := sparse.ShortestPath(a, sparse.ShortestPathOpts{Sources: []int{0}})
	fmt.Println(distances, before)
	// Output: [[ 0.  3.  1. inf]] [[-1  2  0 -1]]
}
