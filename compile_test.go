package weft_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/sym"
)

func TestCompileForward(t *testing.T) {
	g := weft.NewGenerator(1)
	w, b := g.Randn(5, 3), g.Randn(3)
	f := func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Add(b).Tanh().Mul(0.3).Softmax(1) }
	c := weft.Compile(f)
	for _, n := range []int{4, 4, 7, 4} {
		x := g.Randn(n, 5)
		y, err := c.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		tensortest.SameBits(t, "forward", y, f(x))
	}
	w.MulAssign(2) // read where it is
	x := g.Randn(4, 5)
	y, _ := c.Call(x)
	tensortest.SameBits(t, "after a write", y, f(x))
	if got := strings.Count(c.Why(), "traced"); got != 2 {
		t.Errorf("traced %d times:\n%s", got, c.Why())
	}
}

type mlp struct {
	A, B *nn.Linear
}

func newMLP(seed uint64) (*mlp, *optim.SGD) {
	g := weft.NewGenerator(seed)
	m := &mlp{nn.NewLinear(6, 8, nn.Opts{Generator: g}), nn.NewLinear(8, 3, nn.Opts{Generator: g})}
	return m, optim.NewSGD(nn.Params(m), optim.SGDOpts{LR: new(0.1)})
}

func TestCompileTrainingStep(t *testing.T) {
	step := func(seed uint64) (func(x, y *weft.Tensor) *weft.Tensor, *mlp) {
		m, opt := newMLP(seed)
		return func(x, y *weft.Tensor) *weft.Tensor {
			loss := m.B.Forward(m.A.Forward(x).Tanh()).Sub(y).Square().Mean()
			opt.ZeroGrad()
			loss.Backward()
			opt.Step()
			return loss
		}, m
	}
	f, m := step(3)
	h, n := step(3)
	c := weft.Compile(h)
	g := weft.NewGenerator(5)
	for i := range 5 {
		x, y := g.Randn(10, 6), g.Randn(10, 3)
		want := f(x, y)
		got, err := c.Call(x, y)
		if err != nil {
			t.Fatal(i, err)
		}
		tensortest.SameBits(t, "loss", got, want)
		tensortest.SameBits(t, "gradient", n.A.Weight.Grad(), m.A.Weight.Grad())
	}
	tensortest.SameBits(t, "weight", n.A.Weight, m.A.Weight)
	tensortest.SameBits(t, "bias", n.B.Bias, m.B.Bias)
}

// What a trace cannot do is refused with the line that asks for it, and the function works
// eagerly after that.
func TestCompileRefuses(t *testing.T) {
	w := weft.Ones(3)
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"branch": func(x *weft.Tensor) *weft.Tensor {
			if x.Sum().Item() > 0 {
				return x
			}
			return x.Neg()
		},
		"captured": func(x *weft.Tensor) *weft.Tensor { return x.Mul(w.Sum().Item()) },
		"data":     func(x *weft.Tensor) *weft.Tensor { return weft.FromSlice(weft.Data[float32](x)) },
		"borrow": func(x *weft.Tensor) *weft.Tensor {
			weft.Borrow(x, func([]float32) {})
			return x
		},
		"mask":    func(x *weft.Tensor) *weft.Tensor { return x.MaskSelect(x.Gt(0)) },
		"release": func(x *weft.Tensor) *weft.Tensor { w.Release(); return x },
	} {
		_, err := weft.Compile(f).Call(weft.Ones(3))
		if err == nil || !strings.Contains(err.Error(), "_test.go:") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if w.Sum().Item() != 3 {
		t.Error("eager work is disturbed")
	}
	var kept *weft.Tensor
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { kept = x.Add(1); return kept })
	if _, err := c.Call(w); err != nil {
		t.Fatal(err)
	}
	if err := weft.Try(func() { kept.Add(1) }); err == nil {
		t.Error("a tensor of a trace lives on")
	}
	v := weft.Ones(3)
	d := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Add(v) })
	d.Call(w)
	v.Release()
	if _, err := d.Call(w); err == nil || !strings.Contains(err.Error(), "released") {
		t.Errorf("a captured tensor that was released: %v", err)
	}
}

// A compiled function checks elements in each call. The error has the message of eager code and
// names the line of the function that checks.
func TestCompileChecksElements(t *testing.T) {
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
			tensortest.SameBits(t, name, y, c.f(x))
			bad := weft.FromSlice(c.bad)
			want := tensortest.Try(func() { c.f(bad) })
			_, err = compiled.Call(bad)
			if late := tensortest.Wait(); err == nil {
				err = late
			}
			var e, we *weft.Error
			if !errors.As(err, &e) || !errors.As(want, &we) || e.Op != we.Op || e.Arg != we.Arg || !strings.HasPrefix(e.Msg, we.Msg+" (at ") || !strings.Contains(e.Msg, "_test.go:") {
				t.Errorf("%s: compiled %v, eager %v", name, err, want)
			}
		}
	}
}

// A step that fails leaves the numbers of steps as they were.
func TestCompileFailedStep(t *testing.T) {
	tensortest.SkipLate(t, "the step is counted before its error is known")
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
func TestCompileArgumentAndResultTypes(t *testing.T) {
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
func TestCompileSharedMemory(t *testing.T) {
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
		tensortest.SameBits(t, "result", got, want)
		tensortest.SameBits(t, "memory", b, a)
		u, v := weft.Ones(4), weft.Ones(4)
		want = f(u, u)
		if got, err = c.Call(v, v); err != nil {
			t.Fatal(err)
		}
		tensortest.SameBits(t, "the same twice", got, want)
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
				tensortest.SameBits(t, "result", y, x.MatMul(w).Tanh().Sum(1))
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

// A gradient is left in arguments that are leaves before the call: one that the function marks is
// refused, and a view of it is the function's own.
func TestCompileRefusesLeavesOfItsOwn(t *testing.T) {
	marks := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		x.RequireGrad()
		x.Square().Sum().Backward()
		return x.Grad()
	})
	_, err := marks.Call(weft.Ones(3))
	var e *weft.Error
	if !errors.As(err, &e) || !strings.Contains(e.Msg, "tensor 0 of the arguments became a leaf by RequireGrad inside the function") {
		t.Errorf("error %v", err)
	}
	own := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		w := x.Detach().RequireGrad()
		w.Square().Sum().Backward()
		return w.Grad()
	})
	y, err := own.Call(weft.Ones(3))
	if err != nil {
		t.Fatal(err)
	}
	tensortest.SameBits(t, "gradient", y, weft.FromSlice([]float32{2, 2, 2}))
	if y, err = marks.Call(weft.Ones(3).RequireGrad()); err != nil {
		t.Fatal(err)
	}
	tensortest.SameBits(t, "gradient of a leaf", y, weft.FromSlice([]float32{2, 2, 2}))
}

// The number of programs has a bound. A program that is used stays, and one that went is traced anew.
func TestCompileKeepsProgramsOfLate(t *testing.T) {
	traced := 0
	c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { traced++; return x.Add(1) })
	call := func(n int) {
		t.Helper()
		if _, err := c.Call(weft.Zeros(n)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		for n := range 300 {
			call(n)
			call(0)
		}
	}
	if traced != 599 { // but for length 0 none is there when it comes again
		t.Errorf("traced %d times, want 599", traced)
	}
	if why := c.Why(); !strings.Contains(why, "tensor 0 is float32[299], before float32[298]") || strings.Count(why, "\n") != 64 || !strings.HasSuffix(why, "\n599 programs made, 256 kept") {
		t.Errorf("why: %s", why)
	}
	for n := 200; n < 300; n++ {
		call(n)
	}
	if traced != 599 {
		t.Errorf("traced %d times, want 599: the programs of late are kept", traced)
	}
}

// A call within a function that is traced becomes part of it, and a leaf among the arguments
// gets its gradient.
func TestCompileNestedCall(t *testing.T) {
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

// A variadic function may be given a nil tensor, and a function may have no results. Both hold
// inside another compiled function too, where they run uncompiled.
func TestCompileNilArgumentAndNoResult(t *testing.T) {
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

// The tape sees what a failed call has written in part: it computes no gradient from values that
// were overwritten.
func TestCompileFailedWrite(t *testing.T) {
	tensortest.SkipLate(t, "the errors come at the next wait")
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

// What compiled functions are given: each call is that of the function itself.

func TestCompiledLeafTwice(t *testing.T) {
	f := func(a, b *weft.Tensor) *weft.Tensor {
		loss := a.Mul(b).Mul(a).Sum()
		loss.Backward()
		return loss
	}
	w, v := weft.FromSlice([]float64{2, 3}).RequireGrad(), weft.FromSlice([]float64{2, 3}).RequireGrad()
	f(w, w)
	c := weft.Compile(f)
	for range 2 {
		v.SetGrad(nil)
		if _, err := c.Call(v, v); err != nil {
			t.Fatal(err)
		}
		if v.Grad().Eq(w.Grad()).All().Item() == 0 {
			t.Errorf("a leaf given twice has the gradient %v, want %v", v.Grad(), w.Grad())
		}
	}
}

// The type of what an interface holds is part of what is compiled, and so is whether a list is nil.
func TestCompiledTypeOfStatic(t *testing.T) {
	c := weft.Compile(func(x *weft.Tensor, a any) *weft.Tensor {
		switch a.(type) {
		case float32:
			return x.Add(1)
		case struct{ X float64 }:
			return x.Add(2)
		}
		return x.Add(3)
	})
	for i, a := range []any{float32(5), 5.0, struct{ X float64 }{5}, struct{ Y float64 }{5}, []float64{5}, [1]float64{5}} {
		y, err := c.Call(weft.Scalar(0.0), a)
		if want := []float64{1, 3, 2, 3, 3, 3}[i]; err != nil || y.Item() != want {
			t.Errorf("%T: %v, %v, want %v", a, y, err, want)
		}
	}
	l := weft.Compile(func(x *weft.Tensor, list []int, m map[string]int) *weft.Tensor {
		if list == nil {
			x = x.Add(1)
		}
		if m == nil {
			x = x.Add(2)
		}
		return x
	})
	for _, list := range [][]int{{}, nil} {
		for _, m := range []map[string]int{{}, nil} {
			want := 0.0
			if list == nil {
				want++
			}
			if m == nil {
				want += 2
			}
			if y, err := l.Call(weft.Scalar(0.0), list, m); err != nil || y.Item() != want {
				t.Errorf("%#v, %#v: %v, %v", list, m, y, err)
			}
		}
	}
}

// A function without results is called as it is within another one, and with WEFT_COMPILE=off.
func TestCompiledNoResultWithin(t *testing.T) {
	w := weft.Zeros(2)
	inner := weft.Compile(func(x *weft.Tensor) { w.Assign(w.Add(x)) })
	outer := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		if _, err := inner.Call(x); err != nil {
			panic(err)
		}
		inner.Func()(x)
		return w.Sum()
	})
	if y, err := outer.Call(weft.Ones(2)); err != nil || y.Item() != 4 {
		t.Errorf("%v, %v", y, err)
	}
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	if y, err := inner.Call(weft.Ones(2)); y != nil || err != nil {
		t.Errorf("%v, %v", y, err)
	}
	inner.Func()(weft.Ones(2))
	if got := w.Sum().Item(); got != 8 {
		t.Errorf("w sums to %v, want 8", got)
	}
}

// Functions of other packages, which need not be safe, are safe for concurrent calls with
// WEFT_COMPILE=off too.
func TestTracedOffConcurrent(t *testing.T) {
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	w, runs := weft.Zeros(1<<12), 0
	f := core.NewFunc(func([]*core.Tensor) []*core.Tensor {
		runs++
		w.Assign(w.Add(1))
		return nil
	}, core.Options{Name: "count"})
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 50 {
				if _, err := f.Call(context.Background(), nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
	if got := w.Min().Item(); got != 200 || runs != 200 {
		t.Errorf("%v after %d runs, want 200", got, runs)
	}
}

// A leaf among the arguments keeps the gradient that it comes with: calls add to it, as f does.
func TestCompileLeafArgumentWithGradient(t *testing.T) {
	f := func(l *weft.Tensor) *weft.Tensor {
		l.Mul(l).Sum().Backward()
		return l.Grad().Mul(1)
	}
	for _, rows := range []bool{false, true} {
		x, y := tensortest.Noise(1, 3, 5).RequireGrad(), tensortest.Noise(1, 3, 5).RequireGrad()
		for _, l := range []*weft.Tensor{x, y} {
			if rows {
				l.SparseGrad().IndexSelect(0, weft.FromSlice([]int64{1, 3})).Sum().Backward()
			} else {
				l.Sum().Backward()
			}
		}
		g := weft.Compile(f).Func()
		for i := range 3 {
			want, got := f(x), g(y)
			if !slices.Equal(weft.Data[float32](got), weft.Data[float32](want)) || !slices.Equal(weft.Data[float32](y.Grad()), weft.Data[float32](x.Grad())) {
				t.Fatalf("rows %t, call %d: %v, want %v", rows, i, got, want)
			}
		}
	}
}

// An error that a compiled function finds in the elements of its arguments names the operation that
// the same call names outside of it, and the line, which a function that is not compiled has no need to
// know.
func TestErrorsOfRunningFunctionsNameTheCall(t *testing.T) {
	tensortest.SkipLate(t, "a late error names the operation inside the one that was called")
	x := weft.Arange(0, 12, 1).To(weft.Float32).Reshape(4, 3)
	at := weft.FromSlice([]int64{0, 9, 1, 0}) // 9 is neither an index nor a class
	rows := at.Reshape(4, 1).Expand(4, 3).Contiguous()
	line := "_test.go:"
	if os.Getenv("WEFT_COMPILE") == "off" {
		line = ""
	}
	table, bag := nn.NewEmbedding(4, 2), nn.NewEmbeddingBag(4, 2)
	for name, f := range map[string]func(x, at, rows *weft.Tensor) *weft.Tensor{
		"gather":           func(x, at, rows *weft.Tensor) *weft.Tensor { return x.Gather(0, rows) },
		"index_select":     func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexSelect(0, at) },
		"take_along_axis":  func(x, at, rows *weft.Tensor) *weft.Tensor { return x.TakeAlongAxis(0, rows) },
		"index":            func(x, at, rows *weft.Tensor) *weft.Tensor { return x.Index(at, at) },
		"index_put":        func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexPut(1, at) },
		"index_put_add":    func(x, at, rows *weft.Tensor) *weft.Tensor { return x.IndexPutAdd(1, at, at) },
		"scatter_add":      func(x, at, rows *weft.Tensor) *weft.Tensor { return x.ScatterAdd(0, rows, x) },
		"cross_entropy":    func(x, at, rows *weft.Tensor) *weft.Tensor { return weft.CrossEntropy(x, at) },
		"nn.cross_entropy": func(x, at, rows *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, at) },
		"nn.nll":           func(x, at, rows *weft.Tensor) *weft.Tensor { return nn.NLL(x.LogSoftmax(1), at) },
		"nn.embedding":     func(x, at, rows *weft.Tensor) *weft.Tensor { return table.Forward(at) },
		"nn.embedding_bag": func(x, at, rows *weft.Tensor) *weft.Tensor { return bag.Bags(weft.Zeros(4).To(weft.Int64), at) },
	} {
		op := func(err error) string {
			var e *weft.Error
			if !errors.As(err, &e) {
				t.Errorf("%s: %v, want a *weft.Error", name, err)
				return ""
			}
			return e.Op
		}
		want := op(weft.Try(func() { f(x, at, rows) }))
		if !strings.HasSuffix(name, want) {
			t.Errorf("%s names %s at once", name, want)
		}
		_, err := weft.Compile(f).Call(x, at, rows)
		if got := op(err); got != want || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, compiled: %v", name, err)
		}
		_, err = weft.Compile(func() *weft.Tensor { return f(x, at, rows) }).Call()
		if got := op(err); got != want || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, of captured tensors: %v", name, err)
		}
	}
	v, i, r := sym.New("x", weft.Float32, 4, 3), sym.New("at", weft.Int64, 4), sym.New("rows", weft.Int64, 4, 3)
	for name, y := range map[string]*sym.Var{
		"gather": v.Gather(0, r), "index_select": v.IndexSelect(0, i), "take_along_axis": v.TakeAlongAxis(0, r),
		"index": v.Index(i, i), "index_put": v.IndexPut(1, i), "index_put_add": v.IndexPutAdd(1, i, i), "scatter_add": v.ScatterAdd(0, r, v),
	} {
		f, err := sym.Function(sym.In(v, i, r), sym.Out(y), sym.IgnoreUnused)
		if err != nil {
			t.Error(err)
			continue
		}
		_, err = f.Call(x, at, rows)
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != name || !strings.Contains(err.Error(), line) {
			t.Errorf("%s, symbolic: %v", name, err)
		}
	}
}

// TestSecondDerivativesInsideCompiled demands an error that names the way where a gradient of a compiled function's result
// is asked for, and takes that way: the second derivative of x^3 is 6x.
func TestSecondDerivativesInsideCompiled(t *testing.T) {
	cube := func(x *weft.Tensor) *weft.Tensor { return x.Mul(x).Mul(x).Sum() }
	f, x := weft.Compile(cube).Func(), weft.FromSlice([]float64{1, -2}).RequireGrad()
	err := weft.Try(func() { weft.Grad(f(x), []*weft.Tensor{x}, weft.GradOpts{Create: true}) })
	if err == nil || !strings.Contains(err.Error(), "compiled function") {
		t.Errorf("the error is %v", err)
	}
	err = weft.GradGradCheck(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) }, []*weft.Tensor{weft.FromSlice([]float64{1, -2})})
	if err == nil || !strings.Contains(err.Error(), "compiled function") {
		t.Errorf("the error of GradGradCheck is %v", err)
	}
	second := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		x = x.Detach().RequireGrad()
		slope := weft.Grad(cube(x), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		return weft.Grad(slope.Sum(), []*weft.Tensor{x})[0]
	}).Func()
	if got := weft.Data[float64](second(x.Detach())); got[0] != 6 || got[1] != -12 {
		t.Errorf("second derivatives are %v, want 6 and -12", got)
	}
}
