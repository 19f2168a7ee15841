package core_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"weft"
)

func wantData(t *testing.T, what string, got *weft.Tensor, want ...float64) {
	t.Helper()
	if got == nil {
		t.Fatalf("%s is nil, want %v", what, want)
	}
	if x := weft.Data[float64](got.To(weft.Float64)); !slices.Equal(x, want) {
		t.Errorf("%s is %v, want %v", what, x, want)
	}
}

// The values follow from the chain rule by hand.
func TestHooksSeeWholeGradients(t *testing.T) {
	w := weft.From([]float64{2, 3}).RequireGrad()
	y := w.Mul(w) // [4 9]
	var seen []string
	note := func(name string, scale float64) func(dy *weft.Tensor) *weft.Tensor {
		return func(dy *weft.Tensor) *weft.Tensor {
			seen = append(seen, fmt.Sprint(name, weft.Data[float64](dy)))
			if scale == 0 {
				return nil
			}
			return dy.Mul(scale)
		}
	}
	y.Hook(note("y", 10))
	remove := y.Hook(note("y2", 0))
	w.Hook(note("w", 0.5))
	w.PostAccumulateGradHook(func(w *weft.Tensor) { seen = append(seen, fmt.Sprint("final", weft.Data[float64](w.Grad()))) })
	// y is used three times: elements, a window and a sum.
	loss := func() *weft.Tensor { return y.Mul(y).Sum().Add(y.Slice(weft.Range(0, 1)).Sum()).Add(y.Sum()) }
	weft.BackwardWith([]*weft.Tensor{loss()}, weft.GradOpts{Retain: true})
	remove()
	weft.BackwardWith([]*weft.Tensor{loss()}, weft.GradOpts{Retain: true})
	want := []string{"y[10 19]", "y2[100 190]", "w[400 1140]", "final[200 570]", "y[10 19]", "w[400 1140]", "final[400 1140]"}
	if !slices.Equal(seen, want) {
		t.Errorf("hooks saw %q\nwant %q", seen, want)
	}
}

func TestHooksInEveryPass(t *testing.T) {
	twice := func(dy *weft.Tensor) *weft.Tensor { return dy.Mul(2) }
	leaf := func() *weft.Tensor { return weft.From([]float64{1, 2, 3}).RequireGrad() }

	w, other := leaf(), leaf()
	calls := 0
	other.Hook(func(*weft.Tensor) *weft.Tensor { calls++; return nil })
	other.PostAccumulateGradHook(func(*weft.Tensor) { calls++ })
	scaled := other.Mul(1)
	scaled.Hook(func(*weft.Tensor) *weft.Tensor { calls++; return nil })
	w.Hook(twice)
	wantData(t, "Grad of one input", weft.Grad(w.Mul(scaled).Sum(), []*weft.Tensor{w})[0], 2, 4, 6)
	if calls != 0 {
		t.Errorf("hooks off the way to the inputs were called %d times", calls)
	}

	w = leaf()
	y := w.Pow(3)
	remove := y.Hook(func(dy *weft.Tensor) *weft.Tensor { return dy.Mul(dy) })
	g := weft.Grad(y.Square().Sum(), []*weft.Tensor{w}, weft.GradOpts{Create: true})[0] // (2w^3)^2 * 3w^2 = 12 w^8
	wantData(t, "the gradient with Create", g, 12, 12*256, 12*6561)
	remove()
	g.Sum().Backward()
	wantData(t, "the second derivative", w.Grad(), 96, 96*128, 96*2187)

	w = leaf()
	j := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor {
		y := x.Square()
		y.Hook(twice)
		return y
	}, w)
	wantData(t, "the Jacobian", j, 4, 0, 0, 0, 8, 0, 0, 0, 12)

	w = leaf()
	w.Hook(twice)
	finals := 0
	w.PostAccumulateGradHook(func(w *weft.Tensor) { finals++; w.SetGrad(w.Grad().Add(1)) })
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		y := w.Mul(x)
		y.Hook(twice)
		l := y.Sum()
		l.Backward()
		return l
	})
	for range 2 {
		w.SetGrad(nil)
		if _, err := step.Call(weft.From([]float64{1, 2, 3})); err != nil {
			t.Fatal(err)
		}
		wantData(t, "the gradient of a compiled step", w.Grad(), 5, 9, 13)
	}

	table := weft.ZerosOf(weft.Float64, 4, 1).RequireGrad().SparseGrad()
	var kept *weft.Tensor
	table.Hook(func(dy *weft.Tensor) *weft.Tensor { kept = dy; return nil })
	at := weft.From([]int64{2, 2, 0})
	for range 2 {
		table.IndexSelect(0, at).Sum().Backward()
	}
	wantData(t, "a gradient that a hook kept", kept, 1, 0, 2, 0)
	wantData(t, "the sum of two sparse gradients", table.Grad(), 2, 0, 4, 0)

	w = leaf()
	view := w.Slice(weft.Range(0, 2))
	view.Hook(twice)
	w.Sum().Add(view.Slice(weft.Range(0, 1)).Sum()).Backward() // a view of the view
	wantData(t, "the gradient through a hooked view", w.Grad(), 3, 1, 1)

	w = leaf()
	values, _ := w.Sort(0)
	values.Hook(twice)
	values.Sum().Backward()
	wantData(t, "the gradient through one of two results", w.Grad(), 2, 2, 2)
}

func TestHooksRefuse(t *testing.T) {
	w, c := weft.Ones(2).RequireGrad(), weft.Ones(2)
	same := func(dy *weft.Tensor) *weft.Tensor { return dy }
	for _, x := range []struct {
		what string
		f    func()
		want string
	}{
		{"constant", func() { c.Hook(same) }, "hook: the tensor does not require a gradient"},
		{"nil function", func() { w.Hook(nil) }, "hook: f: is nil"},
		{"result", func() { w.Mul(2).PostAccumulateGradHook(func(*weft.Tensor) {}) }, "postaccumulategradhook: the tensor was computed by mul"},
		{"other shape", func() {
			y := w.Mul(2)
			y.Hook(func(*weft.Tensor) *weft.Tensor { return weft.Ones(3) })
			y.Sum().Backward()
		}, "hook: f: returned float32[3] for the gradient of float32[2]"},
		{"other type", func() {
			y := w.Mul(2)
			y.Hook(func(*weft.Tensor) *weft.Tensor { return weft.OnesOf(weft.Float64, 2) })
			y.Sum().Backward()
		}, "hook: f: returned float64[2] for the gradient of float32[2]"},
		{"cond", func() {
			_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
				y := x.Mul(w)
				side := func() []*weft.Tensor { b := y.Mul(w); b.Hook(same); return []*weft.Tensor{b} }
				return weft.Cond(y.Sum().Gt(0), side, side)[0]
			}).Call(c)
			if err != nil {
				panic(err)
			}
		}, "differentiated as a whole"},
		{"vmap", func() {
			weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { y := x[0].Mul(w); y.Hook(same); return y })(c)
		}, "differentiated as a whole"},
		{"captured", func() {
			if _, err := weft.Compile(func() *weft.Tensor { w.Hook(same); return w.Mul(2) }).Call(); err != nil {
				panic(err)
			}
		}, "hook: the tensor is captured by a compiled function"},
	} {
		err := weft.Try(x.f)
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.what, err, x.want)
		}
	}
}
