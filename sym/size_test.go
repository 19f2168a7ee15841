package sym_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/tensortest"
	"weft/sym"
)

// function compiles a function, or fails the test.
func function(t *testing.T, in sym.Inputs, out sym.Outputs, opts ...sym.Option) *sym.Fn {
	t.Helper()
	f, err := sym.Function(in, out, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// results calls a function, or fails the test.
func results(t *testing.T, f *sym.Fn, args ...any) []*weft.Tensor {
	t.Helper()
	out, err := f.Call(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// eagerly calls a function without compiling it.
func eagerly(t *testing.T, f *sym.Fn, args ...any) []*weft.Tensor {
	t.Helper()
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	return results(t, f, args...)
}

// traces counts the traces of a function.
func traces(f *sym.Fn) int { return strings.Count(f.Why(), "traced ") }

// matrix returns rows of cols numbers from 0 on.
func matrix(rows, cols int) *weft.Tensor {
	return weft.Arange(rows*cols).To(weft.Float64).Reshape(rows, cols)
}

// TestMinibatch: x[i*b:(i+1)*b] of a shared dataset is NumPy's slice for every i. Only the cut last
// batch and the empty ones have programs of their own.
func TestMinibatch(t *testing.T) {
	const n, b = 10, 4
	data := sym.Shared("data", matrix(n, 3))
	i := sym.Scalar("i", weft.Int64)
	batch := data.Slice(sym.Range(i.Mul(b), i.Add(1).Mul(b)))
	f := function(t, sym.In(i), sym.Out(batch, batch.Sum(0)))
	if got := batch.String(); !strings.HasSuffix(got, "float64[? 3]") {
		t.Errorf("the batch is %s", got)
	}
	for _, i := range []int{0, 1, 2, 3, 7, 0, 1} {
		lo, hi := min(i*b, n), min((i+1)*b, n)
		want := matrix(n, 3).Slice(weft.Range(lo, hi))
		same(t, fmt.Sprint("batch ", i), results(t, f, i)[0], want)
		same(t, fmt.Sprint("sum of batch ", i), results(t, f, i)[1], want.Sum(0))
		same(t, fmt.Sprint("uncompiled batch ", i), eagerly(t, f, i)[0], want)
	}
	if n := traces(f); n != 3 {
		t.Errorf("%d traces, want 3:\n%s", n, f.Why())
	}
	for _, want := range []string{"i is 2, before 0\n", "i is 3, before 2\n"} {
		if !strings.Contains(f.Why(), want) {
			t.Errorf("why there are programs: %s, want %q", f.Why(), want)
		}
	}
}

// same compares tensors to the bit.
func same(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	if got.DType() != want.DType() || !slices.Equal(got.Shape(), want.Shape()) || weft.Digest(got) != weft.Digest(want) {
		t.Errorf("%s is %s %v, want %s %v", what, got.DType(), got, want.DType(), want)
	}
}

// misuse checks that an error is one of weft that contains words.
func misuse(t *testing.T, what string, err error, words ...string) {
	t.Helper()
	var e *weft.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: %v, want an error", what, err)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s: %v, want %q in it", what, err, w)
		}
	}
}

// TestSizesConcurrent: calls of 16 goroutines with different sizes, the first of each at once.
func TestSizesConcurrent(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	f := function(t, sym.In(x, n), sym.Out(x.Slice(sym.Range(0, n)).Sum(), x.MaskSelect(x.Ge(n)).Len(0)))
	v := weft.Arange(9).To(weft.Float64)
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for k := range 20 {
				n := (g + k) % 9
				out, err := f.Call(v, n)
				if err != nil {
					t.Error(err)
					return
				}
				if got, want := out[0].Item(), float64(n*(n-1)/2); got != want {
					t.Errorf("the sum of %d is %v, want %v", n, got, want)
				}
				if got := out[1].ItemInt(); got != int64(9-n) {
					t.Errorf("%d elements are at least %d", got, n)
				}
			}
		})
	}
	wg.Wait()
	f.Free()
	if _, err := f.Call(v, 1); err == nil {
		t.Error("a function that was freed runs")
	}
}

// TestLengthsAreChecked: what is no size.
func TestLengthsAreChecked(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Scalar("n", weft.Int64)
	real := sym.Scalar("real", weft.Float64)
	for what, c := range map[string]struct {
		do    func()
		words []string
	}{
		"a float":        {func() { sym.Zeros(real) }, []string{"zeros", "shape", "real float64[]"}},
		"a vector":       {func() { x.Reshape(x) }, []string{"reshape", "x float64[?]"}},
		"a string":       {func() { sym.Eye("3") }, []string{"eye", "n", "string"}},
		"a nil variable": {func() { sym.Ones((*sym.Var)(nil)) }, []string{"ones", "nil"}},
		"a step of 0":    {func() { x.Slice(sym.Range(n, 3, 0)) }, []string{"slice", "step"}},
		"no axis":        {func() { x.Len(1) }, []string{"len", "axis"}},
		"steps by a float": {func() {
			sym.Scan(sym.ScanOpts{Steps: real, Initial: []any{x}}, func(s sym.Step) sym.Next { return sym.Next{H: s.H} })
		}, []string{"scan", "Steps", "real"}},
		"trim without until": {func() {
			sym.Scan(sym.ScanOpts{Steps: 3, Trim: true, Initial: []any{x}}, func(s sym.Step) sym.Next { return sym.Next{H: s.H} })
		}, []string{"scan", "Trim", "Until"}},
	} {
		misuse(t, what, weft.Try(c.do), c.words...)
	}
	for what, v := range map[string]*sym.Var{"zeros": sym.Zeros(n), "narrow": x.Narrow(0, 0, n), "expand": x.Expand(n, 3), "floordiv": sym.Zeros(n.FloorDiv(n.Add(1)))} {
		_, err := function(t, sym.In(x, n), sym.Out(v), sym.IgnoreUnused).Call(floats(1, 2, 3), -1)
		misuse(t, "a negative size of "+what, err, what)
	}
}

// TestFailingSizes: a size whose computation fails in a later call is an error of that call, and the next ones
// run.
func TestFailingSizes(t *testing.T) {
	tensortest.SkipLate(t, "the errors come at the next wait")
	v, i := sym.Vector("v", weft.Int64), sym.Scalar("i", weft.Int64)
	f := function(t, sym.In(v, i), sym.Out(sym.Arange(v.Index(i)).Sum()))
	sizes := weft.FromSlice([]int64{3, 5})
	for _, k := range []int{0, 1, 0, 7, 1, -9, 0} {
		out, err := f.Call(sizes, k)
		if outside := k < 0 || k > 1; outside != (err != nil) {
			t.Fatalf("size %d: %v", k, err)
		} else if !outside && out[0].ItemInt() != []int64{3, 10}[k] {
			t.Errorf("size %d: the sum is %v", k, out[0])
		}
	}
}
