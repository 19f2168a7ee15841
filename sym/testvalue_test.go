package sym_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// line is the place of the caller plus some lines, as messages name it.
func line(plus int) string {
	_, file, n, _ := runtime.Caller(1)
	return filepath.Base(file) + ":" + itoa(n+plus)
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + itoa(n%10)
}

// Variables are computed when they are made, gradients and loops too, and show their values; a
// function is as it would be without.
func TestTestValues(t *testing.T) {
	X := weft.FromSlice([]float64{1, 2, 3, 4, 5, 6}, 2, 3)
	x, w := sym.Matrix("x", weft.Float64), sym.Shared("w", weft.FromSlice([]float64{1, -1, 2}))
	early := w.Mul(2) // made before there are values
	none := x.Add(1)
	if none.TestValue() != nil {
		t.Error("a value out of nothing")
	}
	x.SetTestValue(X)
	y := x.MatMul(early)
	tensortest.Near(t, "product", y.TestValue(), []float64{10, 22}, 1e-10)
	d := sym.Grad(y.Square().Sum(), []*sym.Var{x, w})
	tensortest.Near(t, "gradient", d[0].TestValue(), []float64{40, -40, 80, 88, -88, 176}, 1e-10)
	tensortest.Near(t, "of shared", d[1].TestValue(), []float64{2 * (20 + 4*44), 2 * (2*20 + 5*44), 2 * (3*20 + 6*44)}, 1e-10)
	var inside []float64
	sum := sym.FoldL(func(row, h *sym.Var) *sym.Var {
		inside = append(inside, weft.Data[float64](row.TestValue())...)
		return h.Add(row)
	}, x, sym.Const(weft.ZerosOf(weft.Float64, 3)))
	tensortest.Near(t, "loop", sum.TestValue(), []float64{5, 7, 9}, 1e-10)
	if len(inside) != 3 || inside[2] != 3 {
		t.Errorf("the step saw %v", inside)
	}
	if other := sym.Vector("other", weft.Float64); y.Add(other).TestValue() != nil {
		t.Error("a value of an input without one")
	}
	got := call(t, []*sym.Var{x}, []*sym.Var{y, sum}, weft.FromSlice([]float64{1, 0, 0}, 1, 3))
	tensortest.Near(t, "function", got[0], []float64{2}, 1e-10)
	tensortest.Near(t, "function", got[1], []float64{1, 0, 0}, 1e-10)
	x.SetTestValue(nil)
	if x.Mul(3).TestValue() != nil {
		t.Error("a value after it was taken away")
	}
}

// A value that an input gets, or loses, after variables were made of it counts for those that are
// made from then on.
func TestTestValuesSetAfterUse(t *testing.T) {
	a, b := sym.Scalar("a", weft.Float64), sym.Scalar("b", weft.Float64)
	a.SetTestValue(3)
	y := a.Mul(b) // b has no value yet
	b.SetTestValue(4)
	tensortest.Near(t, "b got one", y.Add(1).TestValue(), []float64{13}, 1e-10)
	h := a.Mul(2)
	z := h.Square().Sum()
	a.SetTestValue(nil)
	if g := sym.Grad(z, []*sym.Var{h})[0]; g.TestValue() != nil {
		t.Errorf("a gradient of what has no value any more is %v", g.TestValue())
	}
}

// Variables are made of shared ones on several goroutines.
func TestTestValuesConcurrent(t *testing.T) {
	x := sym.Scalar("x", weft.Float64)
	y := x.Exp()
	x.SetTestValue(1)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if v := y.Add(1).TestValue(); v == nil {
				t.Error("no value")
			}
		})
	}
	wait.Wait()
}

// What is wrong with values fails where the variable is made.
func TestTestValueErrors(t *testing.T) {
	tensortest.SkipLate(t, "the errors come at the next wait")
	i, table := sym.Vector("i", weft.Int64), sym.Shared("table", weft.Ones(4, 2))
	a, b := sym.Vector("a", weft.Float32), sym.Vector("b", weft.Float32)
	i.SetTestValue(weft.FromSlice([]int64{1, 7}))
	a.SetTestValue(weft.Ones(3))
	b.SetTestValue(weft.Ones(4))
	for _, c := range []struct {
		f    func()
		want []string
	}{
		{func() { table.IndexSelect(0, i) }, []string{"7", line(0), "i int64[?]"}},
		{func() { a.Add(b) }, []string{"broadcast", line(0), "a float32[?]"}},
		{func() { sym.Assert(a, a.Gt(2), "too small") }, []string{"too small", line(0)}},
		{func() { a.SetTestValue(weft.Ones(2, 2)) }, []string{"a", "float32[2 2]"}},
		{func() { a.SetTestValue(3.0) }, []string{"a", "float64"}},
		{func() { table.SetTestValue(weft.Ones(4, 2)) }, []string{"table", "not an input"}},
	} {
		err := weft.Try(c.f)
		for _, s := range c.want {
			if err == nil || !strings.Contains(err.Error(), s) {
				t.Errorf("got %v, want %q", err, s)
			}
		}
	}
}

// Draws for test values are none that functions make.
func TestTestValueDraws(t *testing.T) {
	value := func(test bool) []float64 {
		x := sym.Vector("x", weft.Float64)
		if test {
			x.SetTestValue(weft.OnesOf(weft.Float64, 3))
		}
		rs := sym.NewRandomStreams(3)
		y := x.Add(rs.Normal(weft.Float64, 0, 1, 3))
		z := sym.Map(func(x ...*sym.Var) *sym.Var { return x[0].Mul(rs.Uniform(weft.Float64, 0, 1)) }, y)
		d := sym.Grad(z.Sum(), []*sym.Var{x})[0]
		if test && (z.TestValue() == nil || d.TestValue() == nil) {
			t.Error("no test value of a draw")
		}
		got := call(t, []*sym.Var{x}, []*sym.Var{y, z, d}, weft.OnesOf(weft.Float64, 3))
		var out []float64
		for _, g := range got {
			out = append(out, weft.Data[float64](g)...)
		}
		return out
	}
	a, b := value(false), value(true)
	for i := range a {
		if a[i] != b[i] {
			t.Errorf("element %d is %v, with test values %v", i, a[i], b[i])
		}
	}
}

// A function of variables can be looked into: the first NaN and its line, each value, rewrites
// and kernels that are right; updates are written as without.
func TestFnDebug(t *testing.T) {
	x, w := sym.Vector("x", weft.Float64), sym.Shared("w", weft.FromSlice([]float64{2}))
	y := x.Mul(w)
	z, at := y.Log(), line(0)
	soft := sym.FoldL(func(x, h *sym.Var) *sym.Var { return h.Add(x.Exp().Add(1).Log()) }, x, w.Sum())
	f, err := sym.Function(sym.In(x), sym.Out(z, soft), sym.Updates{w: w.Add(1)})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	d := f.Debug(weft.DebugOpts{Verify: true, NaN: true, Watch: func(s weft.DebugStep) { seen = append(seen, s.Op+" "+s.Line) }})
	got, err := d.Call(weft.FromSlice([]float64{1, 2}))
	if err != nil {
		t.Fatal(err)
	}
	tensortest.Near(t, "value", got[0], []float64{math.Log(2), math.Log(4)}, 1e-10)
	tensortest.Near(t, "update", w.Tensor(), []float64{3}, 1e-10)
	if !strings.Contains(strings.Join(seen, "\n"), "log "+at) {
		t.Errorf("seen %q, want log at %s", seen, at)
	}
	_, err = d.Call(weft.FromSlice([]float64{1, -2}))
	if err == nil || !strings.Contains(err.Error(), "gives NaN: 1 of 2 elements") || !strings.Contains(err.Error(), at) {
		t.Errorf("got %v, want the line %s", err, at)
	}
	tensortest.Near(t, "shared after an error", w.Tensor(), []float64{3}, 1e-10)
}

// A loop that does not end of itself is ended by its context, alone or within another.
func TestEndlessLoop(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off a function asks the context only before it begins")
	}
	x := sym.Scalar("x", weft.Float64)
	endless := func(x *sym.Var) *sym.Var {
		return sym.Scan(sym.ScanOpts{Initial: []any{x}, Steps: new(math.MaxInt32)}, func(s sym.Step) sym.Next {
			return sym.Next{H: []*sym.Var{s.H[0].Sin()}, Until: s.H[0].Gt(2)}
		}).Last[0]
	}
	nested := sym.Map(func(x ...*sym.Var) *sym.Var { return endless(x[0]) }, sym.Stack([]*sym.Var{x, x}, 0))
	for _, y := range []*sym.Var{endless(x), nested} {
		f, err := sym.Function(sym.In(x), sym.Out(y))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		start := time.Now()
		_, err = f.CallContext(ctx, 1.0)
		cancel()
		var e *weft.Error
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) {
			t.Errorf("got %v", err)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("it took %v", d)
		}
		var none context.Context
		if _, err := f.CallContext(none, 1.0); err == nil || !strings.Contains(err.Error(), "ctx") {
			t.Errorf("got %v", err)
		}
	}
	// Without a bound there is no loop.
	err := weft.Try(func() {
		sym.Scan(sym.ScanOpts{Initial: []any{x}}, func(s sym.Step) sym.Next { return sym.Next{H: s.H, Until: s.H[0].Gt(2)} })
	})
	if err == nil || !strings.Contains(err.Error(), "neither sequences nor a number of steps") {
		t.Errorf("got %v", err)
	}
}

// Go code that looks at elements of what is being compiled fails with the line, in loops too.
func TestBranchOnTraced(t *testing.T) {
	x := sym.Vector("x", weft.Float64)
	o := &sym.Op{Name: "peek", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { return x, nil },
		Backward: func(x, y, dy []*weft.Tensor) []*weft.Tensor {
			if x[0].Sum().Item() > 0 {
				return dy
			}
			return []*weft.Tensor{dy[0].Neg()}
		}}
	plain := sym.Grad(o.Apply(x)[0].Sum(), []*sym.Var{x})[0]
	at := line(-1)
	f, err := sym.Function(sym.In(x), sym.Out(plain))
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Call(weft.OnesOf(weft.Float64, 3))
	for _, want := range []string{"reads a traced value", at} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	err = weft.Try(func() {
		sym.Map(func(x ...*sym.Var) *sym.Var { return o.Apply(x[0])[0] }, x)
	})
	if err == nil || !strings.Contains(err.Error(), "reads a traced value") || !strings.Contains(err.Error(), line(-2)) {
		t.Errorf("in a loop: got %v", err)
	}
}
