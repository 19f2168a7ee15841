package sparse_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/linalg"
	"weft/sparse"
)

// stored is an array or a matrix of testdata/vectors.json.
type stored struct {
	Shape      []int
	Re, Im     []float64
	Row, Col   []int
	Rows, Cols int
}

func (s stored) tensor() *weft.Tensor {
	t := weft.FromSlice(s.Re, s.Shape...)
	if s.Im != nil {
		t = weft.Complex(t, weft.FromSlice(s.Im, s.Shape...))
	}
	return t
}

func (s stored) matrix() *sparse.Matrix {
	return sparse.NewCOO(s.tensor(), s.Row, s.Col, s.Rows, s.Cols)
}

func readVectors(t *testing.T) (out []map[string]stored) {
	b, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// near fails where x is not want, to some multiple of rounding.
func near(t *testing.T, what string, x *weft.Tensor, want stored, tol float64) {
	t.Helper()
	w := want.tensor()
	if x.Size() != w.Size() {
		t.Fatalf("%s: shape %v, want %v", what, x.Shape(), w.Shape())
	}
	if d := x.Reshape(w.Shape()...).Sub(w).Abs().Max().Item(); !(d <= tol) {
		t.Errorf("%s errs by %g", what, d)
	}
}

func TestResultsAreThoseOfSciPy(t *testing.T) {
	for _, c := range readVectors(t) {
		a, b, f := c["a"].matrix(), c["b"].matrix(), c["c"].matrix()
		x, y := c["x"].tensor(), c["y"].tensor()
		for _, format := range []sparse.Format{sparse.COO, sparse.CSR, sparse.CSC} {
			a := a.To(format)
			for name, got := range map[string]*weft.Tensor{
				"matmul": a.MatMul(x), "left": a.LeftMatMul(y), "dot": a.Dot(f).ToDense(),
				"add": a.Add(b).ToDense(), "sub": a.Sub(b).ToDense(), "mul": a.Mul(b).ToDense(), "h": a.H().ToDense(),
				"sum": a.Sum(), "sum0": a.Sum(0), "sum1": a.Sum(1), "mean1": a.Mean(1), "kron": sparse.Kron(a, f).ToDense(),
				"hstack": sparse.HStack(a, b).ToDense(), "vstack": sparse.VStack(a, b).ToDense(), "blockdiag": sparse.BlockDiag(a, f).ToDense(),
				"slice": a.Slice(1, 6, 2, 8).ToDense(), "tril": a.Tril(1).ToDense(), "triu": a.Triu(-1).ToDense(),
				"diagonal": a.Diagonal(1), "norm": a.Norm(),
			} {
				near(t, format.String()+" "+name, got, c[name], 1e-12)
			}
			if c["a"].Im == nil {
				for name, got := range map[string]*weft.Tensor{"max": a.Max(), "max0": a.Max(0), "min1": a.Min(1),
					"maximum": a.Maximum(b).ToDense(), "minimum": a.Minimum(b).ToDense()} {
					near(t, format.String()+" "+name, got, c[name], 1e-12)
				}
			}
		}
	}
}

func TestEigenvaluesAreThoseOfNumPy(t *testing.T) {
	for _, c := range readVectors(t) {
		s := c["s"].matrix().To(sparse.CSR)
		like := weft.ZerosOf(s.DType(), 7)
		want := c["eigsh"].tensor()
		for _, k := range []int{1, 3, 7} {
			for which, lo := range map[sparse.Which]int{sparse.LargestAlgebraic: 7 - k, sparse.SmallestAlgebraic: 0} {
				w, v, err := sparse.Eigsh(s.MatMul, like, k, sparse.EigshOpts{Which: which})
				if err != nil {
					t.Fatal(err)
				}
				if d := w.Sub(want.Slice(weft.Range(lo, lo+k))).Abs().Max().Item(); d > 1e-11 {
					t.Errorf("k %d, %d: eigenvalues err by %g", k, which, d)
				}
				if d := s.MatMul(v).Sub(v.Mul(w)).Abs().Max().Item(); d > 1e-11 {
					t.Errorf("k %d, %d: residual %g", k, which, d)
				}
			}
		}
		a := c["a"].matrix()
		u, sv, vh, err := sparse.Svds(a.MatMul, a.H().MatMul, weft.ZerosOf(a.DType(), 9), 3)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "svds", sv, stored{Shape: []int{3}, Re: c["svds"].Re[:3]}, 1e-10)
		if d := a.MatMul(vh.Transpose(0, 1).Conj()).Sub(u.Mul(sv)).Abs().Max().Item(); d > 1e-10 {
			t.Errorf("singular vectors: residual %g", d)
		}
	}
	// Restarts: the Laplacian of a grid has eigenvalues of multiplicity 2.
	m := laplace(15)
	w, v, err := sparse.Eigsh(m.MatMul, weft.ZerosOf(weft.Float64, 225), 6)
	if err != nil {
		t.Fatal(err)
	}
	all := weft.Data[float64](linalg.EigValsH(m.ToDense().To(weft.Float64)))
	for i, x := range weft.Data[float64](w) {
		if d := x - all[219+i]; d > 1e-10 || d < -1e-10 {
			t.Errorf("eigenvalue %d is %g, want %g", i, x, all[219+i])
		}
	}
	if d := v.Transpose(0, 1).MatMul(v).Sub(weft.EyeOf(weft.Float64, 6)).Abs().Max().Item(); d > 1e-11 {
		t.Errorf("eigenvectors are orthonormal to %g", d)
	}
	_, _, err = sparse.Eigsh(m.MatMul, weft.ZerosOf(weft.Float64, 225), 6, sparse.EigshOpts{MaxIter: new(1)})
	if !errors.Is(err, sparse.ErrNotConverged) {
		t.Error(err)
	}
}

func TestFilesOfSciPy(t *testing.T) {
	c := readVectors(t)
	for _, path := range []string{"real_csr", "real_csc", "real_coo", "complex_csr", "complex_csc", "complex_coo"} {
		m, err := sparse.ReadNPZFile(filepath.Join("testdata", path+".npz"))
		if err != nil {
			t.Fatal(path, err)
		}
		i := 0
		if strings.HasPrefix(path, "complex") {
			i = 1
		}
		if want := path[strings.Index(path, "_")+1:]; m.Format().String() != want {
			t.Errorf("%s has format %s", path, m.Format())
		}
		near(t, path, m.Sub(c[i]["a"].matrix()).Norm(), stored{Shape: []int{}, Re: []float64{0}}, 1e-12)
		var b bytes.Buffer
		if err := sparse.WriteNPZ(&b, m); err != nil {
			t.Fatal(err)
		}
		again, err := sparse.ReadNPZ(bytes.NewReader(b.Bytes()), int64(b.Len()))
		if err != nil || again.String() != m.String() || again.Sub(m).Norm().Item() != 0 {
			t.Errorf("%s written: %v, %v", path, again, err)
		}
		b.Reset()
		if err := sparse.WriteMatrixMarket(&b, m); err != nil {
			t.Fatal(err)
		}
		if again, err = sparse.ReadMatrixMarket(&b); err != nil || again.Sub(m).Norm().Item() != 0 {
			t.Errorf("%s as text: %v, %v", path, again, err)
		}
	}
	if m, err := sparse.ReadNPZFile("testdata/bsr.npz"); err != nil || m.Format() != sparse.BSR {
		t.Errorf("%v, %v", m, err)
	}
	for i, name := range []string{"real", "complex"} {
		f, err := os.Open("testdata/" + name + ".mtx")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		m, err := sparse.ReadMatrixMarket(f)
		if err != nil {
			t.Fatal(err)
		}
		near(t, name, m.Sub(c[i]["a"].matrix()).Norm(), stored{Shape: []int{}, Re: []float64{0}}, 1e-12)
	}
	f, err := os.Open("testdata/symmetric.mtx")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := sparse.ReadMatrixMarket(f)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "symmetric", m.Sub(m.T()).Norm(), stored{Shape: []int{}, Re: []float64{0}}, 1e-12)
	path := filepath.Join(t.TempDir(), "m.npz")
	if err := sparse.WriteNPZFile(path, m.To(sparse.CSR)); err != nil {
		t.Fatal(err)
	}
	if again, err := sparse.ReadNPZFile(path); err != nil || again.NNZ() != m.NNZ() {
		t.Errorf("%v, %v", again, err)
	}
}

func TestMalformedMatrixMarket(t *testing.T) {
	head := "%%MatrixMarket matrix coordinate real general\n"
	for text, want := range map[string]string{
		"":                                "the text ends after line 0",
		"hello\n":                         "line 1: is not the header",
		head + "2 2\n":                    "line 2: has 2 numbers, want 3 sizes",
		head + "2 2 9999999999\n1 1 1\n":  "the text ends after line 3",
		head + "99999999999 2 1\n1 1 1\n": "is not a size from 0",
		head + "2 2 1\n3 1 1\n":           "line 3: \"3\" is not a place from 1 to 2",
		head + "2 2 1\n0 1 1\n":           "is not a place from 1 to 2",
		head + "2 2 1\n1 1 x\n":           "line 3: \"x\" is not a number",
		head + "2 2 1\n1 1\n":             "has 0 numbers for a value, want 1",
		head + "2 2 1\n1 1 1\n1 2 1\n":    "more entries than the header says",
		"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n": "a symmetric matrix cannot be [2 3]",
		"%%MatrixMarket matrix array pattern general\n2 2\n":       "is not known for layout array",
	} {
		if _, err := sparse.ReadMatrixMarket(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
	m, err := sparse.ReadMatrixMarket(strings.NewReader("%%MatrixMarket matrix array real symmetric\n% note\n\n2 2\n1\n0\n3\n"))
	if err != nil || m.NNZ() != 2 {
		t.Errorf("%v, %v", m, err)
	}
}

func FuzzReadMatrixMarket(f *testing.F) {
	for _, name := range []string{"real", "complex", "symmetric"} {
		b, err := os.ReadFile("testdata/" + name + ".mtx")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := sparse.ReadMatrixMarket(bytes.NewReader(b))
		if err == nil {
			m.NNZ()
		} else if m != nil {
			t.Error("a matrix and an error")
		}
	})
}

func FuzzReadNPZ(f *testing.F) {
	for _, name := range []string{"real_csr", "complex_coo", "bsr"} {
		b, err := os.ReadFile("testdata/" + name + ".npz")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := sparse.ReadNPZ(bytes.NewReader(b), int64(len(b))); err == nil {
			m.To(sparse.COO)
		}
	})
}

// TestEigshOfMultipleValues finds both copies of the double eigenvalues of a grid, which the Krylov space of one
// vector has once. The reference is the formula of the eigenvalues.
func TestEigshOfMultipleValues(t *testing.T) {
	const n = 10
	line := sparse.Diags([]*weft.Tensor{weft.From([]float64{-1}), weft.From([]float64{2}), weft.From([]float64{-1})}, []int{-1, 0, 1}, n, n)
	one := sparse.Eye(n).As(weft.Float64)
	grid := sparse.Kron(line, one).Add(sparse.Kron(one, line)).To(sparse.CSR)
	var all []float64
	for i := range n * n {
		all = append(all, 4-2*math.Cos(math.Pi*float64(i/n+1)/(n+1))-2*math.Cos(math.Pi*float64(i%n+1)/(n+1)))
	}
	slices.Sort(all)
	for _, k := range []int{2, 3, 5} {
		for which, want := range map[sparse.Which][]float64{sparse.LargestMagnitude: all[n*n-k:], sparse.LargestAlgebraic: all[n*n-k:], sparse.SmallestAlgebraic: all[:k], sparse.SmallestMagnitude: all[:k]} {
			got, _, err := sparse.Eigsh(grid.MatMul, weft.ZerosOf(weft.Float64, n*n), k, sparse.EigshOpts{Which: which})
			if err != nil || !got.AllClose(weft.From(want)) {
				t.Errorf("k %d, which %d: %v %v, not %v", k, which, got, err, want)
			}
		}
		if k != 3 {
			continue
		}
		// Between eigenvalues of both signs.
		shifted := grid.Sub(sparse.Eye(n * n).As(weft.Float64).Scale(all[30] + 0.01))
		products := 0
		got, v, err := sparse.Eigsh(func(x *weft.Tensor) *weft.Tensor { products++; return shifted.MatMul(x) }, weft.ZerosOf(weft.Float64, n*n), k, sparse.EigshOpts{Which: sparse.SmallestMagnitude})
		near := make([]float64, n*n)
		for i := range all {
			near[i] = all[i] - all[30] - 0.01
		}
		slices.SortFunc(near, func(a, b float64) int { return cmp.Compare(math.Abs(a), math.Abs(b)) })
		slices.Sort(near[:k])
		if err != nil || !got.AllClose(weft.From(near[:k])) || shifted.MatMul(v).Sub(v.Mul(got)).Abs().Max().Item() > 1e-10 || products > 20000 {
			t.Errorf("k %d: %v %v after %d products, not %v", k, got, err, products, near[:k])
		}
	}
}

// TestEigshWithoutTimeForCopies holds that values which have converged are returned where restarts end before the search for
// their copies does.
func TestEigshWithoutTimeForCopies(t *testing.T) {
	d := weft.LinspaceOf(weft.Float64, -1, 1.013, 60)
	enough := 0
	for most := 20; enough < 4 && most < 40; most++ {
		got, v, err := sparse.Eigsh(func(x *weft.Tensor) *weft.Tensor { return x.Mul(d) }, weft.ZerosOf(weft.Float64, 60), 2, sparse.EigshOpts{Which: sparse.SmallestMagnitude, Tol: new(1e-9), MaxIter: new(most)})
		if err == nil {
			enough++
		}
		if enough > 0 && (err != nil || !got.AllClose(d.Slice(weft.Range(29, 31))) || d.Unsqueeze(1).Mul(v).Sub(v.Mul(got)).Abs().Max().Item() > 1e-8) {
			t.Errorf("%d restarts: %v, %v", most, got, err)
		}
	}
	if enough < 4 {
		t.Error("values have not converged")
	}
}

// TestEigshOfCopiesNearZero finds a double eigenvalue near 0 between others of both signs. One Krylov space has it once, and
// converges before its copy comes from rounding.
func TestEigshOfCopiesNearZero(t *testing.T) {
	d := weft.LinspaceOf(weft.Float64, 50, 52, 60)
	d.Slice(weft.Range(20, 30)).Assign(d.Slice(weft.Range(20, 30)).Neg())
	d.Slice(weft.Range(0, 2)).Fill(0.5)
	d.Slice(weft.Range(2, 3)).Fill(2)
	got, _, err := sparse.Eigsh(func(x *weft.Tensor) *weft.Tensor { return x.Mul(d) }, weft.ZerosOf(weft.Float64, 60), 2, sparse.EigshOpts{Which: sparse.SmallestMagnitude, Vectors: new(6), Tol: new(1e-9)})
	if want := weft.FullOf(weft.Float64, 0.5, 2); err != nil || !got.AllClose(want) {
		t.Error(got, err)
	}
}
