package weft

import (
	"slices"
	"strings"
	"testing"

	"weft/internal/ir"
	"weft/internal/op"
)

// lookUp is the rows of a table at places, and what a factor for each makes of them.
func lookUp(table *Tensor, places []int64, factor *Tensor) *Tensor {
	return table.IndexSelect(0, FromSlice(places)).Mul(factor).Sum()
}

// A leaf marked so keeps the rows that were read, each once, added up in order.
func TestSparseGrad(t *testing.T) {
	table := Zeros(6, 2).RequireGrad().SparseGrad()
	factor := FromSlice([]float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 2)
	read := func() (places []int64, values []float32) {
		if !BorrowRows(table, func(p, v *Tensor) { places, values = Data[int64](p), Data[float32](v) }) {
			t.Fatal("the gradient is not kept as rows")
		}
		return places, values
	}
	s := NewScope()
	lookUp(s.Track(table), []int64{4, 1, -2, 0}, factor).Backward() // -2 is row 4
	s.Close()
	places, values := read()
	if !slices.Equal(places, []int64{0, 1, 4}) || !slices.Equal(values, []float32{7, 8, 3, 4, 1 + 5, 2 + 6}) {
		t.Fatalf("rows %v, %v", places, values)
	}
	// Another pass adds to it, also two reads at once.
	one := Ones(2, 2)
	lookUp(table, []int64{1, 5}, one).Add(lookUp(table, []int64{5, 3}, one)).Backward()
	places, values = read()
	if !slices.Equal(places, []int64{0, 1, 3, 4, 5}) || !slices.Equal(values, []float32{7, 8, 4, 5, 1, 1, 6, 8, 2, 2}) {
		t.Fatalf("rows %v, %v", places, values)
	}
	// What f writes stays.
	BorrowRows(table, func(_, v *Tensor) { v.MulAssign(2) })
	want := []float32{14, 16, 8, 10, 0, 0, 2, 2, 12, 16, 4, 4}
	if got := Data[float32](table.Grad()); !slices.Equal(got, want) {
		t.Fatalf("as an array %v, want %v", got, want)
	}
	if BorrowRows(table, func(p, v *Tensor) { t.Error("rows of an array") }) {
		t.Error("the gradient is kept twice")
	}
	// Rows are added to an array that is there.
	lookUp(table, []int64{0}, Ones(1, 2)).Backward()
	if want[0], want[1] = 15, 17; !slices.Equal(Data[float32](table.Grad()), want) {
		t.Fatalf("added to an array %v, want %v", table.Grad(), want)
	}
	table.SetGrad(nil)
	if table.Grad() != nil || BorrowRows(table, func(p, v *Tensor) {}) {
		t.Error("a gradient that was forgotten is there")
	}
}

// Whatever else reads the table makes the gradient an array, with the same values as
// without the mark.
func TestSparseGradOtherUses(t *testing.T) {
	one := Ones(2, 3)
	for name, f := range map[string]func(w *Tensor) *Tensor{
		"product":    func(w *Tensor) *Tensor { return lookUp(w, []int64{1, 1}, one).Add(w.Square().Sum()) },
		"other axis": func(w *Tensor) *Tensor { return w.IndexSelect(1, FromSlice([]int64{0, 2})).Sum() },
		"gather":     func(w *Tensor) *Tensor { return w.Gather(0, FromSlice([]int64{3, 1, 1}, 1, 3)).Sum() },
		"view":       func(w *Tensor) *Tensor { return w.Slice(Range(1, 3)).IndexSelect(0, FromSlice([]int64{1})).Sum() },
		"table":      func(w *Tensor) *Tensor { return w.Sum() },
	} {
		plain := Arange[int](0, 12).To(Float32).Reshape(4, 3).RequireGrad()
		marked := plain.Detach().Clone().RequireGrad().SparseGrad()
		f(plain).Backward()
		f(marked).Backward()
		if BorrowRows(marked, func(p, v *Tensor) {}) {
			t.Errorf("%s: kept as rows", name)
		}
		if !slices.Equal(Data[float32](plain.Grad()), Data[float32](marked.Grad())) {
			t.Errorf("%s: %v, want %v", name, marked.Grad(), plain.Grad())
		}
		// As a pass that comes after one that gave rows, and as an input of Grad.
		marked.SetGrad(nil)
		lookUp(marked, []int64{2, 0}, one).Backward()
		lookUp(plain, []int64{2, 0}, one).Backward()
		f(marked).Backward()
		if !slices.Equal(Data[float32](plain.Grad()), Data[float32](marked.Grad())) {
			t.Errorf("%s after rows: %v, want %v", name, marked.Grad(), plain.Grad())
		}
		if g := Grad(lookUp(marked, []int64{2, 0}, one), []*Tensor{marked})[0]; !slices.Equal(g.Shape(), []int{4, 3}) {
			t.Errorf("%s: Grad gives %v", name, g.Shape())
		}
	}
	if err := Try(func() { Ones(2).SparseGrad() }); err == nil || !strings.Contains(err.Error(), "not a leaf") {
		t.Errorf("no leaf: %v", err)
	}
}

// IntoRows changes the rows that are named as Into would change arrays of them, and no
// others.
func TestIntoRows(t *testing.T) {
	step := newGiven("rows", func(x []*ir.Node) []*ir.Node {
		v := op.Apply(op.Add, nil, op.Apply(op.Mul, nil, x[1], x[3]), x[2])
		return []*ir.Node{op.Apply(op.Sub, nil, x[0], v), v}
	})
	for _, width := range []int{1, 3, 16} {
		g := NewGenerator(1)
		w, v := g.Randn(50, width), g.Randn(50, width)
		was, had := Data[float32](w), Data[float32](v)
		places := []int64{3, 7, 20, 49}
		d := g.Randn(len(places), width)
		dx := Data[float32](d)
		leaf := w.RequireGrad()
		step.IntoRows(FromSlice(places), []*Tensor{leaf.Detach(), v}, leaf.Detach(), v, d, 0.5)
		for i, p := range places {
			for j := range width {
				k := int(p)*width + j
				had[k] = float32(had[k]*0.5) + dx[i*width+j]
				was[k] -= had[k]
			}
		}
		if !slices.Equal(Data[float32](w), was) || !slices.Equal(Data[float32](v), had) {
			t.Errorf("width %d: other values", width)
		}
	}
	w := Zeros(4, 2)
	for _, places := range []*Tensor{FromSlice([]int64{4}), FromSlice([]int32{1}), FromSlice([]int64{1}, 1, 1), nil} {
		if Try(func() { step.IntoRows(places, []*Tensor{w, Zeros(4, 2)}, w, w, w, 1.0) }) == nil {
			t.Errorf("places %v are taken", places)
		}
	}
	if Try(func() { step.IntoRows(FromSlice([]int64{1}), []*Tensor{w, Zeros(3, 2)}, w, w, w, 1.0) }) == nil {
		t.Error("tensors of other lengths are taken")
	}
}

// A pass that other passes of the same goroutines run beside adds all rows.
func TestSparseGradConcurrent(t *testing.T) {
	table := Zeros(10, 2).RequireGrad().SparseGrad()
	done := make(chan bool)
	for i := range 4 {
		go func() {
			for range 20 {
				lookUp(table, []int64{int64(i), 9}, Ones(2, 2)).Backward()
			}
			done <- true
		}()
	}
	for range 4 {
		<-done
	}
	g := Data[float32](table.Grad())
	if g[0] != 20 || g[7] != 20 || g[8] != 0 || g[18] != 80 {
		t.Errorf("%v", g)
	}
}
