package weft_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/nn"
	"weft/npy"
	"weft/optim"
)

// Checks of elements are those of the call, with eager's message and the line that asked.
func TestCompileChecks(t *testing.T) {
	w := weft.Ones(4, 3)
	for name, c := range map[string]struct {
		f    func(x *weft.Tensor) *weft.Tensor
		good []int64
		bad  []int64
	}{
		"cross entropy": {func(x *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(w, x) }, []int64{0, 1, 2, 0}, []int64{0, 1, 3, 0}},
		"smoothed": {func(x *weft.Tensor) *weft.Tensor {
			return nn.CrossEntropy(w, x, nn.CrossEntropyOpts{Smoothing: 0.1, Reduction: nn.Mean})
		}, []int64{0, 1, 2, 0}, []int64{0, 1, -3, 0}},
		"computed": {func(x *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(w, x.Mul(2)) }, []int64{0, 1, 1, 0}, []int64{0, 1, 2, 0}},
		"select":   {func(x *weft.Tensor) *weft.Tensor { return w.IndexSelect(0, x) }, []int64{0, 3, -1}, []int64{0, 4, 1}},
		"gather":   {func(x *weft.Tensor) *weft.Tensor { return w.Gather(0, x.Reshape(1, 3)) }, []int64{0, 3, 1}, []int64{0, 4, 1}},
		"embedding": {func(x *weft.Tensor) *weft.Tensor {
			return (&nn.Embedding{Weight: w}).Forward(x)
		}, []int64{0, 3, 1}, []int64{0, -1, 1}},
	} {
		compiled := weft.Compile(c.f)
		for range 2 {
			x := weft.FromSlice(c.good)
			y, err := compiled.Call(x)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameBits(t, name, y, c.f(x))
			bad := weft.FromSlice(c.bad)
			want := weft.Try(func() { c.f(bad) })
			_, err = compiled.Call(bad)
			var e, we *weft.Error
			if !errors.As(err, &e) || !errors.As(want, &we) || e.Op != we.Op || e.Arg != we.Arg || !strings.HasPrefix(e.Msg, we.Msg+" (at ") || !strings.Contains(e.Msg, "compile_calls_test.go:") {
				t.Errorf("%s: compiled %v, eager %v", name, err, want)
			}
		}
	}
}

// A step that fails leaves the numbers of steps as they were.
func TestCompileFailedStep(t *testing.T) {
	m, _ := newMLP(1)
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.1)})
	c := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		loss := weft.CrossEntropy(m.B.Forward(m.A.Forward(x)), y)
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
		return loss
	})
	x := weft.Ones(2, 6)
	for i, y := range [][]int64{{0, 1}, {0, 7}, {2, 2}} {
		_, err := c.Call(x, weft.FromSlice(y))
		if (err != nil) != (i == 1) {
			t.Fatal(err)
		}
	}
	places := weft.Compile(func(y *weft.Tensor) *weft.Tensor { // whose routine panics
		loss := m.B.Bias.IndexSelect(0, y).Sum()
		loss.Backward()
		opt.Step()
		opt.ZeroGrad()
		return loss
	})
	for i, y := range [][]int64{{0, 1}, {0, 7}} {
		_, err := places.Call(weft.FromSlice(y))
		if (err != nil) != (i == 1) {
			t.Fatal(err)
		}
	}
	if n := opt.State()["steps.b.bias"].ItemInt(); n != 3 {
		t.Errorf("%d steps, want 3", n)
	}
	if n := opt.State()["steps.a.weight"].ItemInt(); n != 2 {
		t.Errorf("%d steps, want 2", n)
	}
}

// Arguments and results of all kinds.
func TestCompileValues(t *testing.T) {
	type pair struct {
		A, B *weft.Tensor
		N    int
	}
	type deep struct {
		Pairs []pair
		By    map[string]*weft.Tensor
		Any   any
	}
	traced := 0
	f := weft.Compile(func(d deep, scale float64, m *mlp, more ...*weft.Tensor) (deep, *weft.Tensor, int, error) {
		traced++
		if scale < 0 {
			return deep{}, nil, 0, errors.New("negative")
		}
		out := deep{By: map[string]*weft.Tensor{}, Any: d.Any}
		for _, p := range d.Pairs {
			out.Pairs = append(out.Pairs, pair{p.A.Add(p.B).Mul(scale), p.A, p.N + 1})
		}
		for k, t := range d.By {
			out.By[k+k] = t.T()
		}
		return out, m.A.Weight, len(more), nil
	}).Func()
	m, _ := newMLP(2)
	a, b := weft.FromSlice([]float32{1, 2}), weft.FromSlice([]float32{3, 4})
	for range 2 {
		out, w, n, err := f(deep{[]pair{{a, b, 5}}, map[string]*weft.Tensor{"k": weft.Ones(2, 3)}, b}, 2, m, a, b)
		if err != nil {
			t.Fatal(err)
		}
		if p := out.Pairs[0]; p.A.String() != "[ 8. 12.]" || p.B != a || p.N != 6 || out.Any != any(b) || n != 2 || w != m.A.Weight {
			t.Errorf("%v", out)
		}
		if s := fmt.Sprint(out.By["kk"].Shape(), out.By["kk"].Strides()); s != "[3 2] [1 3]" {
			t.Errorf("a transposed result: %s", s)
		}
	}
	if traced != 1 {
		t.Errorf("traced %d times", traced)
	}
	if _, _, _, err := f(deep{}, -1, m); err == nil || err.Error() != "negative" {
		t.Errorf("%v", err)
	}
	for name, make := range map[string]func(){
		"no function": func() { weft.Compile(3) },
		"a channel":   func() { weft.Compile(func(chan int) {}) },
		"a module":    func() { weft.Compile(func(nn.BatchNorm1d) {}) },
	} {
		if weft.Try(make) == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

// Arguments may share memory with one another; with what is captured and written they may not.
func TestCompileSharing(t *testing.T) {
	f := func(x, y *weft.Tensor) *weft.Tensor {
		x.AddAssign(1)
		y.MulAssign(3)
		return x.Add(y)
	}
	c := weft.Compile(f)
	for range 2 {
		a, b := weft.Arange(6.0), weft.Arange(6.0)
		views := func(t *weft.Tensor) (x, y *weft.Tensor) {
			return t.Slice(weft.Range(0, 4)), t.Slice(weft.Range(2, 6))
		}
		want := f(views(a))
		x, y := views(b)
		got, err := c.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		sameBits(t, "result", got, want)
		sameBits(t, "memory", b, a)
		u, v := weft.Ones(4), weft.Ones(4)
		want = f(u, u)
		if got, err = c.Call(v, v); err != nil {
			t.Fatal(err)
		}
		sameBits(t, "the same twice", got, want)
	}
	w := weft.Ones(3)
	d := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return w.AddAssign(x) })
	if _, err := d.Call(weft.Ones(3)); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Call(w); err == nil {
		t.Error("an argument that is captured and written was taken")
	}
}

// Memory that must not be written is not written by a call either.
func TestCompileReadOnly(t *testing.T) {
	path := t.TempDir() + "/x.npy"
	if err := npy.WriteFile(path, weft.Ones(4)); err != nil {
		t.Fatal(err)
	}
	x, err := npy.Map(path, npy.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.AddAssign(1).Sum() })
	if _, err := f.Call(weft.Ones(4)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Call(x); err == nil || !strings.Contains(err.Error(), "must not be written") {
		t.Errorf("memory that is only read: %v", err)
	}
}

// Calls at the same time, of programs that write and that do not.
func TestCompileConcurrent(t *testing.T) {
	w, sum := weft.Ones(64, 64), weft.Zeros(1)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Tanh().Sum(1) })
	count := weft.Compile(func(x *weft.Tensor) *weft.Tensor { sum.AddAssign(x); return nil })
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 25 {
				x := weft.NewGenerator(uint64(g)).Randn(1+i%3, 64)
				y, err := f.Call(x)
				if err != nil {
					t.Error(err)
					return
				}
				sameBits(t, "result", y, x.MatMul(w).Tanh().Sum(1))
				if _, err := count.Call(weft.Ones(1)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if sum.Item() != 200 {
		t.Errorf("%v of 200 calls count", sum)
	}
	if n := strings.Count(f.Why(), "traced"); n != 3 {
		t.Errorf("traced %d times", n)
	}
}

// The cache has a bound, and an old program is traced anew.
func TestCompileBound(t *testing.T) {
	traced := 0
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { traced++; return x.Add(1) })
	for range 2 {
		for n := range 40 {
			if _, err := c.Call(weft.Zeros(n)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if traced != 80 {
		t.Errorf("traced %d times, want 80", traced)
	}
	if why := c.Why(); !strings.Contains(why, "tensor 0 is float32[39], before float32[38]") || strings.Count(why, "\n") != 63 {
		t.Errorf("why: %s", why)
	}
}

// A call within a function that is traced becomes part of it, and a leaf among the arguments
// gets its gradient.
func TestCompileWithin(t *testing.T) {
	inner := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Square() })
	outer := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		y, err := inner.Call(x)
		if err != nil {
			t.Error(err)
		}
		y.Sum().Backward()
		return y
	})
	for i := range 3 {
		x := weft.FromSlice([]float32{1, 2}).RequireGrad()
		if _, err := outer.Call(x); err != nil {
			t.Fatal(err)
		}
		if s := fmt.Sprint(x.Grad()); s != "[2. 4.]" {
			t.Errorf("call %d: %s", i, s)
		}
	}
	if why := inner.Why(); why != "" {
		t.Errorf("the inner function was traced by itself: %s", why)
	}
	if _, err := outer.Call(weft.Ones(2).RequireGrad().Mul(2)); err == nil {
		t.Error("an argument with a history was taken")
	}
}

// A scope within the function, and one that the arguments belong to.
func TestCompileScope(t *testing.T) {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		s := weft.NewScope()
		defer s.Close()
		y := s.Track(x).Add(1)
		return s.Keep(y.Mul(y))
	})
	for range 2 {
		s := weft.NewScope()
		y, err := f.Call(s.Track(weft.FromSlice([]float32{1, 2})))
		if err != nil {
			t.Fatal(err)
		}
		if y.String() != "[4. 9.]" {
			t.Error(y)
		}
		s.Close()
		if weft.Try(func() { y.Add(1) }) == nil {
			t.Error("the result does not belong to the scope of the argument")
		}
	}
	g := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		s := weft.NewScope()
		y := s.Track(x).Add(1)
		s.Close()
		return y
	})
	if _, err := g.Call(weft.Ones(2)); err == nil {
		t.Error("a tensor of a closed scope was returned")
	}
	if y, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Detach().Add(1) }).Call(weft.Ones(2)); err != nil || y.Sum().Item() != 4 {
		t.Error(y, err)
	}
}

// A nil tensor among those of a variadic function, and a function without results, within
// another one too, where it runs itself.
func TestCompileNilAndNothing(t *testing.T) {
	count := weft.Compile(func(xs ...*weft.Tensor) *weft.Tensor {
		sum := weft.Zeros(2)
		for _, x := range xs {
			if x != nil {
				sum = sum.Add(x)
			}
		}
		return sum
	})
	total := weft.Zeros(2)
	note := weft.Compile(func(x *weft.Tensor) { total.AddAssign(x) })
	both := func(x *weft.Tensor) *weft.Tensor {
		y, err := count.Call(x, nil, x)
		if err == nil {
			_, err = note.Call(y)
		}
		if err != nil {
			t.Error(err)
		}
		note.Func()(x)
		return y
	}
	f := weft.Compile(both)
	for i := range 3 {
		call := f.Call
		if i == 0 {
			call = func(args ...any) (*weft.Tensor, error) { return both(args[0].(*weft.Tensor)), nil }
		}
		y, err := call(weft.Ones(2))
		if err != nil || y.Sum().Item() != 4 {
			t.Errorf("%v, %v", y, err)
		}
		if got := total.Sum().Item(); got != float64(6*(i+1)) {
			t.Errorf("%v after %d calls", got, i+1)
		}
	}
}

// What a call that failed has written in part is seen by the tape: no gradient is computed of
// values that are no longer there.
func TestCompileFailedWrite(t *testing.T) {
	w := weft.Ones(1000).RequireGrad()
	step := weft.Compile(func(x, at *weft.Tensor) *weft.Tensor {
		weft.WithoutGrad(func() { w.MulAssign(x) })
		return w.Detach().IndexSelect(0, at)
	})
	if _, err := step.Call(weft.Ones(1000), weft.Arange(3)); err != nil {
		t.Fatal(err)
	}
	loss := w.Square().Sum()
	if _, err := step.Call(weft.FullOf(weft.Float32, 2, 1000), weft.FromSlice([]int64{0, 1, 1000})); err == nil {
		t.Fatal("a place out of range was taken")
	}
	if w.Detach().At(0).Item() != 2 {
		t.Fatal("this test wants a write before the fault")
	}
	if err := weft.Try(func() { loss.Backward() }); err == nil {
		t.Errorf("a gradient of what was written over: %v", w.Grad())
	}
}
