package sym_test

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"weft"
	"weft/sym"
)

// reload saves a function and reads it back.
func reload(t *testing.T, f *sym.Fn, opts ...weft.SaveOpts) *weft.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := f.Save(path, opts...); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sameCalls calls a function and its file with the same arguments and compares the bits.
func sameCalls(t *testing.T, f *sym.Fn, p *weft.Program, args ...*weft.Tensor) {
	t.Helper()
	list := make([]any, len(args))
	for i, x := range args {
		list[i] = x
	}
	want, err := f.Call(list...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if weft.Digest(got[i]) != weft.Digest(want[i]) {
			t.Errorf("result %d is %v, want %v", i, got[i], want[i])
		}
	}
}

// TestSaveTraining saves the training of a logistic regression: the program goes on with the weights.
func TestSaveTraining(t *testing.T) {
	x, y := sym.Matrix("x", weft.Float32), sym.Vector("y", weft.Float32)
	w, b := sym.Shared("w", weft.Zeros(4)), sym.Shared("b", weft.Zeros())
	p := x.MatMul(w).Add(b).Sigmoid()
	cost := y.Mul(p.Log()).Add(y.RSub(1).Mul(p.RSub(1).Log())).Mean().Neg()
	g := sym.Grad(cost, []*sym.Var{w, b})
	train := must(sym.Function(sym.In(x, y), sym.Out(p, cost), sym.Updates{w: w.Sub(g[0].Mul(0.1)), b: b.Sub(g[1].Mul(0.1))}))
	saved := reload(t, train)
	if s := fmt.Sprint(saved.Inputs()); s != "[float32[n 4] float32[n]]" && s != "[float32[n x_1] float32[n]]" {
		t.Errorf("inputs are %s", s)
	}
	if saved.Tensors()["w"] == nil || saved.Tensors()["b"] == nil {
		t.Errorf("tensors are %v", saved.Tensors())
	}
	for _, n := range []int{5, 5, 12, 1, 40} {
		sameCalls(t, train, saved, weft.Rand(n, 4), weft.Randint(0, 2, n).To(weft.Float32))
	}
	if weft.Digest(saved.Tensors()["w"]) != weft.Digest(w.Tensor()) {
		t.Errorf("the weights differ: %v, want %v", saved.Tensors()["w"], w.Tensor())
	}
}

// TestSaveLoopsAndBranches saves functions with functions inside, for any number of steps.
func TestSaveLoopsAndBranches(t *testing.T) {
	x, h, stop := sym.Matrix("x", weft.Float32), sym.Vector("h", weft.Float32), sym.Scalar("stop", weft.Float32)
	w := sym.Shared("w", weft.Rand(3, 3))
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next {
		y := s.X[0].Add(s.H[0].MatMul(w)).Tanh()
		return sym.Next{H: []*sym.Var{y}, Until: y.Sum().Gt(stop)}
	})
	cost := r.Last[0].Square().Sum()
	side := sym.IfElse(stop.Gt(1), func() []*sym.Var { return []*sym.Var{x.Mean()} }, func() []*sym.Var { return []*sym.Var{x.Sum(0).Max()} })
	f := must(sym.Function(sym.In(x, h, stop), sym.Out(append([]*sym.Var{r.H[0], cost, r.Count, side[0]}, sym.Grad(cost, []*sym.Var{w, x})...)...)))
	p := reload(t, f, weft.SaveOpts{Inputs: []string{"x[steps 3]", "h[3]", "stop"}})
	for i, n := range []int{7, 2, 30} {
		sameCalls(t, f, p, weft.Rand(n, 3), weft.Rand(3), weft.Full(float32(i)))
	}
}

// TestSaveDraws goes on with random variables of both kinds.
func TestSaveDraws(t *testing.T) {
	x := sym.Matrix("x", weft.Float32)
	s, m := sym.NewRandomStreams(3), sym.NewMRGStreams(4)
	f := must(sym.Function(sym.In(x), sym.Out(x.Add(s.NormalLike(x, 0, 1)), m.Uniform(weft.Float32, 0, 1, 5),
		m.TruncatedNormal(weft.Float32, 0, 1, x.Len(0), 30))))
	if _, err := f.Call(weft.Rand(2, 3)); err != nil {
		t.Fatal(err)
	}
	p := reload(t, f)
	for _, n := range []int{2, 4, 9} {
		sameCalls(t, f, p, weft.Rand(n, 3))
	}
}

// TestSaveSharedOfOneName: shared variables of one name are states of their own in the file.
func TestSaveSharedOfOneName(t *testing.T) {
	x, a, b := sym.New("x", weft.Float64, 2), sym.Shared("w", floats(1, 2)), sym.Shared("w", floats(3, 4))
	f := function(t, sym.In(x), sym.Out(x.Mul(a).Add(b)), sym.Updates{a: b, b: a.Add(x)})
	p := reload(t, f)
	for range 3 {
		sameCalls(t, f, p, floats(5, -1))
	}
}

// TestSaveRefusesGo lists the functions in Go.
func TestSaveRefusesGo(t *testing.T) {
	x := sym.Vector("x", weft.Float32)
	f := must(sym.Function(sym.In(x), sym.Out(sym.Print(x, "here", io.Discard).Mul(2))))
	err := f.Save(filepath.Join(t.TempDir(), "f.weft"))
	var e *weft.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, "calls back into Go") || !strings.Contains(e.Msg, "save_test.go:") {
		t.Errorf("got %v", err)
	}
}

// TestSavedWithoutInputs: a program of a step that takes nothing draws and updates as its function.
func TestSavedWithoutInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.weft")
	w := sym.Shared("w", floats(1, 2, 3))
	u := sym.NewRandomStreams(1).Uniform(weft.Float64, 0, 1, 3)
	f := function(t, sym.In(), sym.Out(w.Sum(), u), sym.Updates{w: w.Add(u)})
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		out, err := p.Call()
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range results(t, f) {
			same(t, "a result", out[i], want)
		}
		same(t, "w", p.Tensors()["w"], w.Tensor())
	}
}

// TestSaveDuringCalls: a file holds what shared variables were between two calls.
func TestSaveDuringCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.weft")
	a, b := sym.Shared("a", weft.ZerosOf(weft.Float64, 3000)), sym.Shared("b", weft.ZerosOf(weft.Float64, 3000))
	f := function(t, sym.In(), sym.Out(), sym.Updates{a: a.Add(1), b: b.Add(1)})
	var wg sync.WaitGroup
	var over atomic.Bool
	defer wg.Wait()
	defer over.Store(true)
	for range 4 {
		wg.Go(func() {
			for !over.Load() {
				f.Call()
			}
		})
	}
	for range 10 {
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		p, err := weft.LoadProgram(path)
		if err != nil {
			t.Fatal(err)
		}
		same(t, "a and b", p.Tensors()["a"], p.Tensors()["b"])
	}
}
