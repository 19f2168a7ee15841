package sym_test

import (
	"fmt"
	"sync"
	"testing"

	"weft"
	"weft/sym"
)

// floats returns a float64 vector.
func floats(x ...float64) *weft.Tensor { return weft.FromSlice(x) }

// TestOpenShared: SetValue and updates change the size of an open variable. Tensors that it was keep
// their elements.
func TestOpenShared(t *testing.T) {
	w := sym.Shared("w", floats(1, 2), sym.Any)
	x := sym.Vector("x", weft.Float64)
	push := function(t, sym.In(x), sym.Out(w.Sum(), w.Len(0)), sym.Updates{w: sym.Cat([]*sym.Var{w, x}, 0)})
	pop := function(t, sym.In(), sym.Out(w.Slice(weft.Range(-1, weft.End))), sym.Updates{w: w.Slice(weft.Range(0, -1))})
	first := w.Tensor()
	for _, call := range []func(*testing.T, *sym.Fn, ...any) []*weft.Tensor{results, eagerly} {
		w.SetValue(first)
		out := call(t, push, floats(3, 4, 5))
		same(t, "the sum before", out[0], weft.ScalarOf(weft.Float64, 3.0))
		same(t, "the length before", out[1], weft.ScalarOf(weft.Int64, 2))
		same(t, "the value", w.Tensor(), floats(1, 2, 3, 4, 5))
		same(t, "the first value", first, floats(1, 2))
		same(t, "the last", call(t, pop)[0], floats(5))
		same(t, "without the last", w.Tensor(), floats(1, 2, 3, 4))
		w.SetValue(floats())
		same(t, "the sum of none", call(t, push, floats(7))[0], weft.ScalarOf(weft.Float64, 0.0))
		w.SetValue(2)
		same(t, "a number", w.Tensor(), floats(2))
		same(t, "none", call(t, pop)[0], floats(2))
		same(t, "the last of none", call(t, pop)[0], floats())
	}
	given := floats(8, 9)
	w.SetValue(given)
	given.Fill(0)
	same(t, "a value that its giver writes to", w.Tensor(), floats(8, 9))
}

// TestOpenSharedMisuse: what an open variable does not take.
func TestOpenSharedMisuse(t *testing.T) {
	m := sym.Shared("m", weft.ZerosOf(weft.Float64, 2, 3), sym.Any, 3)
	misuse(t, "other known size", weft.Try(func() { m.SetValue(weft.ZerosOf(weft.Float64, 2, 4)) }), "m float64[? 3]", "float64[2 4]")
	misuse(t, "other type", weft.Try(func() { m.SetValue(weft.Zeros(2, 3)) }), "float32")
	misuse(t, "sizes that differ from the tensor's", weft.Try(func() { sym.Shared("m", weft.Zeros(2, 3), sym.Any, 4) }), "m", "size 4")
	misuse(t, "another rank", weft.Try(func() { sym.Shared("m", weft.Zeros(2, 3), sym.Any) }), "1 sizes")
	x := sym.Matrix("x", weft.Float64)
	f := function(t, sym.In(x), sym.Out(), sym.Updates{m: x})
	_, err := f.Call(weft.ZerosOf(weft.Float64, 5, 4))
	misuse(t, "an update of another known size", err, "m", "float64[5 4]")
	results(t, f, weft.OnesOf(weft.Float64, 5, 3))
	same(t, "m", m.Tensor(), weft.OnesOf(weft.Float64, 5, 3))
	inside := weft.Compile(func(x *weft.Tensor) *weft.Tensor { f.Call(x); return x.Add(1) })
	if _, err := inside.Call(weft.OnesOf(weft.Float64, 1, 3)); err != nil {
		t.Error(err) // the error was that of the call inside
	}
	same(t, "m after a call in a trace", m.Tensor(), weft.OnesOf(weft.Float64, 5, 3))
}

// TestOpenSharedGradient trains an open variable, whose size changes between steps.
func TestOpenSharedGradient(t *testing.T) {
	w := sym.Shared("w", floats(1, 2), sym.Any)
	cost := w.Square().Sum()
	f := function(t, sym.In(), sym.Out(cost), sym.Updates{w: w.Sub(sym.Grad(cost, []*sym.Var{w})[0].Mul(0.25))})
	same(t, "the cost", results(t, f)[0], weft.ScalarOf(weft.Float64, 5.0))
	same(t, "w", w.Tensor(), floats(0.5, 1))
	w.SetValue(floats(4, 4, 4))
	same(t, "the cost of three", results(t, f)[0], weft.ScalarOf(weft.Float64, 48.0))
	same(t, "w of three", w.Tensor(), floats(2, 2, 2))
}

// TestOpenSharedConcurrent: 16 goroutines push and pop. Calls are serialisable: no push is lost, and
// what is popped was pushed.
func TestOpenSharedConcurrent(t *testing.T) {
	const goroutines, calls = 16, 8
	w := sym.Shared("w", floats(), sym.Any)
	total := sym.Shared("total", weft.ScalarOf(weft.Float64, 0))
	x := sym.Vector("x", weft.Float64)
	push := function(t, sym.In(x), sym.Out(), sym.Updates{w: sym.Cat([]*sym.Var{w, x}, 0), total: total.Add(x.Sum())})
	pop := function(t, sym.In(), sym.Out(w.Slice(weft.Range(-1, weft.End)).Sum()), sym.Updates{w: w.Slice(weft.Range(0, -1)), total: total.Sub(w.Slice(weft.Range(-1, weft.End)).Sum())})
	check := function(t, sym.In(), sym.Out(w.Sum().Sub(total)))
	popped := make([]float64, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for i := range calls {
				if _, err := push.Call(weft.FullOf(weft.Float64, g+1, 1+i%2)); err != nil {
					t.Error(err)
				}
				out, err := pop.Call()
				if err != nil {
					t.Error(err)
					return
				}
				popped[g] += out[0].Item()
				if out, err := check.Call(); err != nil || out[0].Item() != 0 {
					t.Error("a call saw a state between two:", out, err)
				}
			}
		})
	}
	wg.Wait()
	want, got := 0.0, w.Tensor().Sum().Item()
	for g := range goroutines {
		want += float64((g + 1) * (calls + calls/2))
		got += popped[g]
	}
	if got != want {
		t.Errorf("%v of %v were kept", got, want)
	}
	if n := w.Tensor().Dim(0); n != goroutines*calls/2 {
		t.Errorf("%d elements are left, want %d", n, goroutines*calls/2)
	}
}

// TestSizeFromShared: a size that is a shared variable, or computed from one, belongs to the value that the
// rest of the call sees.
func TestSizeFromShared(t *testing.T) {
	n := sym.Shared("n", weft.ScalarOf(weft.Int64, 0))
	m := sym.Shared("mask", weft.FromSlice([]bool{true, false, true, true}))
	count := sym.Zeros(n).Len(0).Sub(n)
	f := function(t, sym.In(), sym.Out(count, m.NonZero().Len(0).Sub(m.CountNonZero())), sym.Updates{n: n.Add(1).Mod(5), m: m.LogicalXor(sym.Const(weft.FromSlice([]bool{true, true, false, true})))})
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 6 {
				out, err := f.Call()
				if err != nil {
					t.Error(err)
					return
				}
				for i, x := range out {
					if x.ItemInt() != 0 {
						t.Errorf("size %d is off by %v", i, x)
					}
				}
			}
		})
	}
	wg.Wait()
	if got, want := fmt.Sprint(n.Tensor()), fmt.Sprint(16*6%5); got != want {
		t.Errorf("n is %s, want %s", got, want)
	}
}
