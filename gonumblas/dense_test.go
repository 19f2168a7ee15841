package gonumblas

import (
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"weft"
)

// TestFromDenseSharesMemory writes on each side of matrices, sub-matrices and vectors.
func TestFromDenseSharesMemory(t *testing.T) {
	m := mat.NewDense(4, 5, nil)
	sub := m.Slice(1, 3, 2, 5).(*mat.Dense)
	x := FromDense(sub)
	if s := x.Shape(); s[0] != 2 || s[1] != 3 {
		t.Fatalf("shape %v", s)
	}
	x.AddAssign(weft.From([][]float64{{1, 2, 3}, {4, 5, 6}}))
	if m.At(1, 2) != 1 || m.At(2, 4) != 6 || mat.Sum(m) != 21 {
		t.Errorf("%v", mat.Formatted(m))
	}
	sub.Set(1, 1, 50)
	if x.At(1, 1).Item() != 50 {
		t.Errorf("%v", x)
	}
	column := FromVecDense(m.ColView(2).(*mat.VecDense))
	column.AddAssign(1)
	if m.At(0, 2) != 1 || m.At(1, 2) != 2 || m.At(3, 2) != 1 {
		t.Errorf("%v", mat.Formatted(m))
	}
	c := mat.NewCDense(3, 3, nil)
	FromCDense(c.Slice(1, 3, 1, 3).(*mat.CDense)).AddAssign(complex(1, 2))
	if c.At(2, 2) != 1+2i || c.At(0, 0) != 0 {
		t.Errorf("%v", c.RawCMatrix().Data)
	}
	for _, e := range []*weft.Tensor{FromDense(&mat.Dense{}), FromCDense(&mat.CDense{}), FromVecDense(&mat.VecDense{})} {
		if e.Size() != 0 {
			t.Error(e.Shape())
		}
	}
}

// TestFromDenseGradients computes gradients with respect to a gonum matrix.
func TestFromDenseGradients(t *testing.T) {
	m := mat.NewDense(2, 2, []float64{1, 2, 3, 4})
	x := FromDense(m).RequireGrad(true)
	x.Square().Sum().Backward()
	if g := x.Grad(); g.At(1, 0).Item() != 6 || g.At(0, 1).Item() != 4 {
		t.Error(g)
	}
}

// TestBorrowSharesMemory writes through gonum into tensors off the Go heap, whole, strided and empty.
func TestBorrowSharesMemory(t *testing.T) {
	x := weft.ZerosOf(weft.Float64, 300, 400)
	BorrowDense(x.Slice(weft.Range(10, 20), weft.Range(5, 9)), func(m *mat.Dense) {
		if r, c := m.Dims(); r != 10 || c != 4 {
			t.Errorf("%d x %d", r, c)
		}
		m.Set(9, 3, 7)
	})
	if x.At(19, 8).Item() != 7 || x.Sum().Item() != 7 {
		t.Error(x.At(19, 8).Item(), x.Sum())
	}
	BorrowVecDense(x.T().At(8), func(v *mat.VecDense) {
		if v.AtVec(19) != 7 || v.Len() != 300 {
			t.Error(v.AtVec(19), v.Len())
		}
		v.SetVec(299, 1)
	})
	if x.At(299, 8).Item() != 1 {
		t.Error(x.At(299, 8).Item())
	}
	BorrowCDense(weft.ZerosOf(weft.Complex128, 2, 3), func(m *mat.CDense) { m.Set(1, 2, 1i) })
	BorrowDense(weft.ZerosOf(weft.Float64, 0, 3), func(m *mat.Dense) {
		if !m.IsEmpty() {
			t.Error("not empty")
		}
	})
}

// TestBorrowComputesReadersBefore holds that lazy results do not see what is written later.
func TestBorrowComputesReadersBefore(t *testing.T) {
	x := weft.OnesOf(weft.Float64, 20, 20)
	y := x.Mul(2).Add(1)
	BorrowDense(x, func(m *mat.Dense) { m.Zero() })
	if y.At(3, 3).Item() != 3 {
		t.Error(y.At(3, 3).Item())
	}
}

// TestMistakes compares what is said of bad arguments.
func TestMistakes(t *testing.T) {
	x := weft.ZerosOf(weft.Float64, 3, 4)
	nothing := func(*mat.Dense) {}
	for want, f := range map[string]func(){
		"gonumblas.fromdense: m: is nil":                                            func() { FromDense(nil) },
		"gonumblas.fromvecdense: v: is nil":                                         func() { FromVecDense(nil) },
		"gonumblas.borrowdense: t: is nil":                                          func() { BorrowDense(nil, nothing) },
		"gonumblas.borrowdense: f: is nil":                                          func() { BorrowDense(x, nil) },
		"gonumblas.borrowdense: t: is float32: want float64":                        func() { BorrowDense(weft.Zeros(2, 2), nothing) },
		"gonumblas.borrowdense: t: has shape [3]: want 2 axes":                      func() { BorrowDense(weft.ZerosOf(weft.Float64, 3), nothing) },
		"gonumblas.borrowdense: t: has strides [1 4], which gonum does not have":    func() { BorrowDense(x.T(), nothing) },
		"gonumblas.borrowvecdense: t: has strides [-1], which gonum does not have:": func() { BorrowVecDense(weft.ZerosOf(weft.Float64, 3).Flip(0), func(*mat.VecDense) {}) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, not %s", err, want)
		}
	}
}
