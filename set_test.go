package weft_test

import (
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
)

// Set writes where a Go index expression of nested slices does, and nowhere else.
func TestSet(t *testing.T) {
	at := func(want []float64, i, j, k int) *float64 { return &want[(i*3+j)*4+k] }
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int16, weft.Int64, weft.Float32, weft.Float64} {
		for name, x := range map[string]*weft.Tensor{"rows": weft.ZerosOf(d, 2, 3, 4), "turned": weft.ZerosOf(d, 4, 3, 2).T(), "part": weft.ZerosOf(d, 4, 3, 8).Slice(weft.Range(1, 3), weft.All, weft.Range(6, weft.Begin, -2))} {
			want := make([]float64, 24)
			if x.Set(1, 1, 2, 3) != x {
				t.Error("Set returns another tensor")
			}
			*at(want, 1, 2, 3) = 1
			x.Set(true, -2, 0, -4)
			*at(want, 0, 0, 0) = 1
			x.Set(weft.Ones(4).To(d), 0, 1)
			x.Set(weft.Ones(1).To(d), 1, -3)
			for k := range 4 {
				*at(want, 0, 1, k), *at(want, 1, 0, k) = 1, 1
			}
			x.Set(weft.ScalarOf(d, 0), 0, 1, 2)
			*at(want, 0, 1, 2) = 0
			if got := weft.Data[float64](x.To(weft.Float64)); !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, want %v", d, name, got, want)
			}
		}
	}
}

// What Set refuses names the argument, and nothing is written.
func TestSetRefuses(t *testing.T) {
	x, n := weft.Zeros(2, 3), weft.ZerosOf(weft.Uint8, 2, 3)
	for _, c := range []struct {
		want string
		f    func()
	}{
		{"set: index 2 is out of range for axis 0 of size 2", func() { x.Set(1, 2) }},
		{"set: index -4 is out of range for axis 1 of size 3", func() { x.Set(1, 0, -4) }},
		{"set: more indices than the 2 dimensions", func() { x.Set(1, 0, 0, 0) }},
		{"set: v: has shape [2], which does not broadcast to the receiver's [3]", func() { x.Set(weft.Ones(2), 1) }},
		{"set: v: is a float, which cannot be written into uint8", func() { n.Set(1.5, 0, 0) }},
		{"set: v: is float32 and cannot be written into uint8", func() { n.Set(weft.Ones(3), 0) }},
		{"set: the number 300 does not fit uint8", func() { n.Set(300, 0, 0) }},
		{"set: v: takes a *Tensor or a Go number", func() { x.Set("1", 0, 0) }},
		{"set: v: is nil", func() { x.Set((*weft.Tensor)(nil), 0, 0) }},
		{"set: [2 3] with strides [0 1] is an expanded view", func() { weft.Zeros(3).Expand(2, 3).Set(1) }},
		{"set: [2 3] with strides [0 1] is an expanded view", func() { weft.Zeros(3).Expand(2, 3).Set(1, 0, 2) }},
		{"set: v: is complex, which cannot be written into float32", func() { x.Set(1i, 0, 0) }},
		{"set: the receiver is a view of a leaf", func() { weft.Zeros(3).RequireGrad().Set(1, 0) }},
	} {
		if err := weft.Try(c.f); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	if x.Sum().Item() != 0 || n.Sum().ItemInt() != 0 {
		t.Error("something was written")
	}
}

// Gradients flow to what was written, and no longer to what was there.
func TestSetGradient(t *testing.T) {
	a, v := weft.Ones(2, 3).RequireGrad(), weft.FullOf(weft.Float32, 5, 3).RequireGrad()
	x := a.Mul(2)
	x.Set(v, 1).Set(9, 0, 0)
	x.Square().Sum().Backward()
	if got, want := weft.Data[float32](a.Grad()), []float32{0, 8, 8, 0, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("gradient of what was there %v, want %v", got, want)
	}
	if got, want := weft.Data[float32](v.Grad()), []float32{10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("gradient of what was written %v, want %v", got, want)
	}
}

// -1 keeps the size of an axis; every element is where broadcasting puts it.
func TestExpandKeeps(t *testing.T) {
	x := weft.FromSlice([]float32{1, 2}, 2, 1)
	for _, c := range []struct{ shape, want []int }{
		{[]int{-1, 3}, []int{2, 3}}, {[]int{-1, -1}, []int{2, 1}}, {[]int{4, -1, 3}, []int{4, 2, 3}}, {[]int{0, -1, -1}, []int{0, 2, 1}}, {[]int{2, 3}, []int{2, 3}},
	} {
		y := x.Expand(c.shape...)
		if !array.Equal(y.Shape(), c.want) {
			t.Errorf("%v: shape %v, want %v", c.shape, y.Shape(), c.want)
		}
		for i, got := range weft.Data[float32](y) {
			if row := i / c.want[len(c.want)-1] % 2; got != float32(row+1) {
				t.Errorf("%v: element %d is %v", c.shape, i, got)
			}
		}
	}
	for want, shape := range map[string][]int{
		"expand: shape: [-1 2 3] has -1 for axis 0, which [2 1] does not have": {-1, 2, 3},
		"expand: shape: dimension 1 of [2 -2] is negative":                     {2, -2},
		"expand: shape: [2 1] does not expand to [3 1]":                        {3, -1},
		"expand: shape: [2 1] does not expand to [1]":                          {-1},
	} {
		if err := weft.Try(func() { x.Expand(shape...) }); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %s", shape, err, want)
		}
	}
	// The gradient sums over what was repeated.
	w := weft.Ones(2, 1).RequireGrad()
	w.Expand(-1, 3).Sum().Backward()
	if got := weft.Data[float32](w.Grad()); !slices.Equal(got, []float32{3, 3}) {
		t.Errorf("gradient %v", got)
	}
}

// RequireGrad(false) ends what RequireGrad() began, as often as wanted.
func TestRequireGradFalse(t *testing.T) {
	w := weft.Ones(2)
	if w.RequireGrad(false) != w || w.RequiresGrad() {
		t.Error("a tensor that was no leaf is one")
	}
	w.RequireGrad()
	w.Mul(3).Sum().Backward()
	if w.RequireGrad(false); w.RequiresGrad() || w.Grad() != nil || w.Mul(2).RequiresGrad() || !w.IsLeaf() {
		t.Error("still a leaf, or a gradient is there")
	}
	w.AddAssign(1) // is written as any other
	if w.RequireGrad(true); !w.RequiresGrad() {
		t.Error("no leaf again")
	}
	w.Square().Sum().Backward()
	if got := weft.Data[float32](w.Grad()); !slices.Equal(got, []float32{4, 4}) {
		t.Errorf("gradient %v", got)
	}
	for want, f := range map[string]func(){
		"requiregrad: the tensor was computed by mul": func() { w.Mul(2).RequireGrad(false) },
		"requiregrad: on: has 2 values":               func() { w.RequireGrad(true, false) },
		"only floats have gradients, not int64":       func() { weft.OnesOf(weft.Int64, 2).RequireGrad(true) },
	} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Wrong shapes in a formula are pointed at: the caret stands under the operation, or the
// letter of Einsum, that does not fit.
func TestFormulaCarets(t *testing.T) {
	a, b, c := weft.Ones(2, 3), weft.Ones(4, 5), weft.Ones(3, 4)
	vars := weft.Vars{"a": a, "b": b, "c": c}
	expr := func(s string) func() { return func() { weft.Expr(s, vars) } }
	sum := func(s string, ts ...*weft.Tensor) func() { return func() { weft.Einsum(s, ts...) } }
	for _, x := range []struct {
		f           func()
		text, caret string
	}{
		{expr("exp(a) * b"), "exp(a) * b", "       ^"},
		{expr("1 + dot(a, b)"), "1 + dot(a, b)", "    ^"},
		{expr("dot(a, c) + exp(b)"), "dot(a, c) + exp(b)", "          ^"},
		{expr("sum(a, 5)"), "sum(a, 5)", "^"},
		{expr("a == b && a < b"), "a == b && a < b", "  ^"},
		{expr("1 +\n  where(a > 0, a, b)"), "  where(a > 0, a, b)", "  ^"},
		{expr("softmax(a - mean_keep(b, 1), 0)"), "softmax(a - mean_keep(b, 1), 0)", "          ^"},
		{sum("ij, jk -> ik", a, b), "ij, jk -> ik", "    ^"},
		{sum("ij,jk->il", a, c), "ij,jk->il", "        ^"},
		{sum("ij,jk->ii", a, c), "ij,jk->ii", "        ^"},
		{sum("ijk->i", a), "ijk->i", "^"},
		{sum(" ii", a), " ii", "  ^"},
		{sum("ij,jk", a), "ij,jk", "  ^"},
		{sum("ij", a, c), "ij", "  ^"},
		{sum("i1", a), "i1", " ^"},
		{sum("ij...k..", a), "ij...k..", "      ^"},
		{sum("...,...", a, b), "...,...", "    ^"},
	} {
		err := weft.Try(x.f)
		if err == nil {
			t.Errorf("%q: no error", x.text)
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if len(lines) != 3 || lines[1] != "\t"+x.text || lines[2] != "\t"+x.caret {
			t.Errorf("%v", err)
		}
	}
}
