package weft

import (
	"slices"
	"testing"

	"weft/internal/ir"
	"weft/internal/op"
)

// TestFusedInto writes two results over their own arguments.
func TestFusedInto(t *testing.T) {
	f := NewFused("both", func(x []*ir.Node) []*ir.Node {
		return []*ir.Node{op.Apply(op.Mul, nil, x[1], x[2]), op.Apply(op.Add, nil, x[0], x[1])}
	})
	for _, c := range []struct {
		name string
		make func() (a, b *Tensor)
	}{
		{"contiguous", func() (a, b *Tensor) { return FromSlice([]float32{1, 2, 3}), FromSlice([]float32{4, 5, 6}) }},
		{"strided", func() (a, b *Tensor) {
			m := FromSlice([]float32{1, 4, 2, 5, 3, 6}, 3, 2)
			return m.Slice(All, Index(0)), m.Slice(All, Index(1))
		}},
	} {
		a, b := c.make()
		if got := f.InPlace([]*Tensor{a, b}, a, b, 1.0); got != (c.name == "contiguous") {
			t.Errorf("%s: in place is %v", c.name, got)
		}
		n := plans.Stats().Made
		for _, k := range []float64{10, 100} {
			f.Into([]*Tensor{a, b}, a, b, k)
			if k == 10 {
				n = plans.Stats().Made
			}
		}
		if plans.Stats().Made != n {
			t.Errorf("%s: another number made another plan", c.name)
		}
		// a' = 10b, b' = a+b; then a'' = 100(a+b) and b'' = 10b+a+b.
		if got := Data[float32](a); !slices.Equal(got, []float32{500, 700, 900}) {
			t.Errorf("%s: first result %v", c.name, got)
		}
		if got := Data[float32](b); !slices.Equal(got, []float32{45, 57, 69}) {
			t.Errorf("%s: second result %v", c.name, got)
		}
	}
	// One shifted over itself: the arguments are read as they were.
	m := FromSlice([]float32{1, 2, 3, 4})
	f.Into([]*Tensor{m.Slice(Range(1, 4)), Zeros(3)}, Zeros(3), m.Slice(Range(0, 3)), 1)
	if got := Data[float32](m); !slices.Equal(got, []float32{1, 1, 2, 3}) {
		t.Errorf("shifted: %v", got)
	}
	w := Zeros(3).RequireGrad()
	for name, into := range map[string]func(){
		"leaf":     func() { f.Into([]*Tensor{w, Zeros(3)}, w, w, 1) },
		"shape":    func() { f.Into([]*Tensor{Zeros(2), Zeros(3)}, Zeros(3), Zeros(3), 1) },
		"expanded": func() { f.Into([]*Tensor{Zeros(1).Expand(3), Zeros(3)}, Zeros(3), Zeros(3), 1) },
		"argument": func() { f.Into([]*Tensor{Zeros(3), Zeros(3)}, Zeros(3), "x", 1) },
	} {
		if Try(into) == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestFusedTwoOfOneExp computes the two softmaxes of one array together: the exp
// that both need waits in the memory of one of the results.
func TestFusedTwoOfOneExp(t *testing.T) {
	f := NewFused("softmaxes", func(x []*ir.Node) []*ir.Node {
		a := op.Reduction{Axes: []int{1}}
		return []*ir.Node{op.Apply(op.LogSoftmax, a, x[0]), op.Apply(op.Softmax, a, x[0])}
	})
	x := noise(3, 4, 5, 90)
	onBackends(t, func(t *testing.T) {
		log, soft := ZerosLike(x), ZerosLike(x)
		f.Into([]*Tensor{log, soft}, x)
		if Digest(log, soft) != Digest(x.LogSoftmax(1), x.Softmax(1)) {
			t.Error("together they have other bits than one after the other")
		}
	})
}
