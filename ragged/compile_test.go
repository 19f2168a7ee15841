package ragged_test

import (
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/ragged"
)

// Compiled functions take and return lists. Each call computes with its own arguments: after edits,
// and with other items that have as many rows, without being traced again.
func TestCompiledLists(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	f := weft.Compile(func(l *ragged.List, v *weft.Tensor) (*ragged.List, *weft.Tensor) {
		y := l.Mul(v).Softmax()
		return y, l.Mul(y).Sum()
	})
	same := func(l *ragged.List, v *weft.Tensor) {
		t.Helper()
		y, s := f.Func()(l, v)
		want := l.Mul(v).Softmax()
		if y.String() != want.String() || weft.Digest(y.Data()) != weft.Digest(want.Data()) || weft.Digest(s) != weft.Digest(l.Mul(want).Sum()) {
			t.Fatalf("got %v and %v, want %v and %v", y, s, want, l.Mul(want).Sum())
		}
	}
	v := weft.From([]float32{1, 2, 3})
	l := ragged.Of([][]float32{{1, 2}, {}, {3, 4, 5}})
	same(l, v)
	same(ragged.Of([][]float32{{5}, {1, 9, 3}, {4}}), v.Add(1))
	if n := strings.Count(f.Why(), "traced"); n != 1 {
		t.Errorf("it was traced %d times for lists of one type:\n%s", n, f.Why())
	}
	l.Set(0, []float32{7, 7, 7})
	l.Set(2, []float32{1, 2})
	same(l, v)
	l.Append([]float32{3})
	same(l, weft.From([]float32{1, 2, 3, 4}))
	y, _ := f.Func()(l, weft.From([]float32{1, 2, 3, 4}))
	y.Append([]float32{1, 2}) // a result is a list like others
	if y.Len() != 5 {
		t.Errorf("a result has %d items after one was appended, want 5", y.Len())
	}
}

// Lists that share their items do so inside, a gradient goes to the rows, and what needs the
// items on the host says so.
func TestCompiledListsTogether(t *testing.T) {
	tensortest.SkipLate(t, "lists are not edited there")
	w := weft.From([]float32{2}).RequireGrad()
	step := func(a, b *ragged.List) *weft.Tensor {
		return weft.Grad(a.Mul(b).Mul(w).Sum().Square().Sum(), []*weft.Tensor{w})[0]
	}
	f := weft.Compile(step)
	a := ragged.Of([][]float32{{1, 2}, {3}, {4, 5, 6}})
	b := a.Add(1)
	got, err := f.Call(a, b)
	if err != nil || got.Item() != step(a, b).Item() {
		t.Errorf("got %v (%v), want %v", got, err, step(a, b))
	}
	// As many items and rows, divided otherwise: not the items of the trace.
	if got, err := f.Call(a, ragged.Of([][]float32{{1}, {2, 3}, {4, 5, 6}})); err == nil {
		t.Errorf("lists of other items give %v", got)
	}
	a.Delete(1)
	a.Insert(0, []float32{7, 8, 9})
	if got, err = f.Call(a, a); err != nil || got.Item() != step(a, a).Item() {
		t.Errorf("after edits: got %v (%v), want %v", got, err, step(a, a))
	}
	type point struct {
		X float32
		P [2]float64
	}
	points := ragged.Of([][]point{{{1, [2]float64{2, 3}}}, {}, {{4, [2]float64{5, 6}}, {7, [2]float64{8, 9}}}})
	sum := weft.Compile(func(l *ragged.List) *weft.Tensor { return l.Field("X").Sum().Sum() })
	if got, err := sum.Call(points); err != nil || got.Item() != 12 {
		t.Errorf("got %v (%v), want 12", got, err)
	}
	nested := ragged.Of([][][]float32{{{1}, {2, 3}}, {}, {{4, 5}}})
	if got, err := weft.Compile(func(l *ragged.List) *weft.Tensor { return l.Sum(0) }).Call(nested); err != nil || weft.Digest(got) != weft.Digest(nested.Sum(0)) {
		t.Errorf("got %v (%v), want %v", got, err, nested.Sum(0))
	}
	_, err = weft.Compile(func(l *ragged.List) *weft.Tensor { return l.At(0) }).Call(a)
	if err == nil || !strings.Contains(err.Error(), "compile_test.go") {
		t.Errorf("the error of taking an item is %v", err)
	}
	var none *ragged.List
	_, err = weft.Compile(func(l *ragged.List) *weft.Tensor {
		if l != none {
			t.Error("a nil list became one")
		}
		return weft.Ones(1)
	}).Call(none)
	if err != nil {
		t.Error(err)
	}
}
