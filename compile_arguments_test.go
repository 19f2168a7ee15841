package weft

import (
	"context"
	"slices"
	"sync"
	"testing"

	"weft/internal/core"
)

// What compiled functions are given: each call is that of the function itself.

func TestCompiledLeafTwice(t *testing.T) {
	f := func(a, b *Tensor) *Tensor {
		loss := a.Mul(b).Mul(a).Sum()
		loss.Backward()
		return loss
	}
	w, v := FromSlice([]float64{2, 3}).RequireGrad(), FromSlice([]float64{2, 3}).RequireGrad()
	f(w, w)
	c := Compile(f)
	for range 2 {
		v.SetGrad(nil)
		if _, err := c.Call(v, v); err != nil {
			t.Fatal(err)
		}
		if !v.Grad().Eq(w.Grad()).All().bool() {
			t.Errorf("a leaf given twice has the gradient %v, want %v", v.Grad(), w.Grad())
		}
	}
}

// The type of what an interface holds is part of what is compiled, and so is whether a list is nil.
func TestCompiledTypeOfStatic(t *testing.T) {
	c := Compile(func(x *Tensor, a any) *Tensor {
		switch a.(type) {
		case float32:
			return x.Add(1)
		case struct{ X float64 }:
			return x.Add(2)
		}
		return x.Add(3)
	})
	for i, a := range []any{float32(5), 5.0, struct{ X float64 }{5}, struct{ Y float64 }{5}, []float64{5}, [1]float64{5}} {
		y, err := c.Call(Scalar(0.0), a)
		if want := []float64{1, 3, 2, 3, 3, 3}[i]; err != nil || y.Item() != want {
			t.Errorf("%T: %v, %v, want %v", a, y, err, want)
		}
	}
	l := Compile(func(x *Tensor, list []int, m map[string]int) *Tensor {
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
			if y, err := l.Call(Scalar(0.0), list, m); err != nil || y.Item() != want {
				t.Errorf("%#v, %#v: %v, %v", list, m, y, err)
			}
		}
	}
}

// A function without results is called as it is within another one, and with WEFT_COMPILE=off.
func TestCompiledNoResultWithin(t *testing.T) {
	w := Zeros(2)
	inner := Compile(func(x *Tensor) { w.Assign(w.Add(x)) })
	outer := Compile(func(x *Tensor) *Tensor {
		if _, err := inner.Call(x); err != nil {
			panic(err)
		}
		inner.Func()(x)
		return w.Sum()
	})
	if y, err := outer.Call(Ones(2)); err != nil || y.Item() != 4 {
		t.Errorf("%v, %v", y, err)
	}
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	if y, err := inner.Call(Ones(2)); y != nil || err != nil {
		t.Errorf("%v, %v", y, err)
	}
	inner.Func()(Ones(2))
	if got := w.Sum().Item(); got != 8 {
		t.Errorf("w sums to %v, want 8", got)
	}
}

// Functions of other packages, which need not be safe, are safe for concurrent calls with
// WEFT_COMPILE=off too.
func TestTracedOffConcurrent(t *testing.T) {
	defer func(off bool) { core.CompileOff = off }(core.CompileOff)
	core.CompileOff = true
	w, runs := Zeros(1<<12), 0
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
	f := func(l *Tensor) *Tensor {
		l.Mul(l).Sum().Backward()
		return l.Grad().Mul(1)
	}
	for _, rows := range []bool{false, true} {
		x, y := noise(1, 3, 5).RequireGrad(), noise(1, 3, 5).RequireGrad()
		for _, l := range []*Tensor{x, y} {
			if rows {
				l.SparseGrad().IndexSelect(0, FromSlice([]int64{1, 3})).Sum().Backward()
			} else {
				l.Sum().Backward()
			}
		}
		g := Compile(f).Func()
		for i := range 3 {
			want, got := f(x), g(y)
			if !slices.Equal(Data[float32](got), Data[float32](want)) || !slices.Equal(Data[float32](y.Grad()), Data[float32](x.Grad())) {
				t.Fatalf("rows %t, call %d: %v, want %v", rows, i, got, want)
			}
		}
	}
}

// Results of a function of the engine may be nil, arguments and captured tensors.
func TestFuncResults(t *testing.T) {
	w := Full(7, 2)
	f := core.NewFunc(func(args []*core.Tensor) []*core.Tensor {
		sum := (*Tensor)(args[0]).Add(w)
		return []*core.Tensor{nil, (*core.Tensor)(sum), args[0], (*core.Tensor)(w), nil}
	}, core.Options{Name: "results"})
	x := Full(1, 2)
	for range 2 {
		got, err := f.Call(nil, []*core.Tensor{(*core.Tensor)(x)})
		if err != nil || len(got) != 5 || got[0] != nil || got[4] != nil {
			t.Fatalf("%v, %v", got, err)
		}
		if sum := (*Tensor)(got[1]); sum.Max().Item() != 8 || (*Tensor)(got[2]) != x || (*Tensor)(got[3]) != w {
			t.Errorf("%v", core.Outer[Tensor](got))
		}
	}
}
