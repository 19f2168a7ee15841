package weft

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

func vec(x ...float64) *Tensor { return FromSlice(x) }

func TestFirstSteps(t *testing.T) {
	x := FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.Add(1)
	got := Data[float32](y)
	for i, v := range got {
		if v != float32(i)+2 {
			t.Fatalf("a+1: %v", got)
		}
	}
	if s := Data[float32](x.T().Add(x.T()).Sum(0)); s[0] != 12 || s[1] != 30 {
		t.Fatalf("sum: %v", s)
	}
	if s := x.Sum().Item(); s != 21 {
		t.Fatalf("sum: %v", s)
	}
	if s := Data[float32](x.Mean(1)); s[0] != 2 || s[1] != 5 {
		t.Fatalf("mean: %v", s)
	}
	if s := Data[int64](x.ArgMax(1)); s[0] != 2 || s[1] != 2 {
		t.Fatalf("argmax: %v", s)
	}
	w := FromSlice([]float64{1, 2, 3}).RequireGrad()
	loss := w.Mul(w).Mul(2).Sum()
	loss.Backward()
	if g := Data[float64](w.Grad()); g[0] != 4 || g[2] != 12 {
		t.Fatalf("grad: %v", g)
	}
	g := Grad(w.Mul(w).Mul(w).Sum(), []*Tensor{w}, GradOpts{Create: true})[0]
	gg := Grad(g.Sum(), []*Tensor{w})[0]
	if d := Data[float64](gg); d[1] != 12 {
		t.Fatalf("second: %v", d)
	}
}

// What Grad returns is an ordinary tensor: gradients flow from computing with it.
func TestGradResultRecords(t *testing.T) {
	x := FromSlice([]float64{1, 2}).RequireGrad()
	g := Grad(x.Mul(x).Add(x).Sum(), []*Tensor{x})[0]
	w := FromSlice([]float64{3, 4}).RequireGrad()
	g.Mul(w).Sum().Backward()
	if got := Data[float64](w.Grad()); got[0] != 3 || got[1] != 5 {
		t.Errorf("gradient through a result of Grad: %v", got)
	}
}

// A value that a gradient needs was overwritten: the error says which, and where.
func TestOverwrittenValue(t *testing.T) {
	w := vec(1, 2).RequireGrad()
	y := w.Exp() // its gradient reads the result
	y.At(0)
	_, _, line, _ := runtime.Caller(0)
	y.MulAssign(2) // the line after
	err := Try(func() { y.Sum().Backward() })
	if err == nil {
		t.Fatal("the gradient used an overwritten value")
	}
	want := "backward: the result of exp, float64[2], was modified in place after it was saved: it is at version 1, the gradient needs version 0; it was overwritten at "
	if got := err.Error(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, fmt.Sprintf("autograd_test.go:%d", line+1)) {
		t.Errorf("got %s", got)
	}
	// An argument, written through a view of it.
	a := vec(3, 4)
	z := w.Mul(a)
	a.At(1).Assign(0)
	err = Try(func() { z.Sum().Backward() })
	if err == nil || !strings.Contains(err.Error(), "argument 1 of mul, float64[2], was modified in place") {
		t.Errorf("got %v", err)
	}
	// A value that no gradient reads may be overwritten.
	b := vec(3, 4)
	s := w.Add(b)
	b.Assign(0)
	s.Sum().Backward()
	if g := Data[float64](w.Grad()); !slices.Equal(g, []float64{1, 1}) {
		t.Errorf("gradient %v", g)
	}
}

// differences checks the gradient of f by central differences.
func differences(t *testing.T, name string, f func(x *Tensor) *Tensor, at ...float64) {
	t.Helper()
	x := FromSlice(slices.Clone(at)).RequireGrad()
	got := Data[float64](Grad(f(x), []*Tensor{x})[0])
	for i := range at {
		const h = 1e-5
		up, down := slices.Clone(at), slices.Clone(at)
		up[i] += h
		down[i] -= h
		want := (f(FromSlice(up)).Item() - f(FromSlice(down)).Item()) / (2 * h)
		if math.Abs(got[i]-want) > 1e-6*max(1, math.Abs(want)) {
			t.Errorf("%s: derivative %d is %v, differences give %v", name, i, got[i], want)
		}
	}
}

func TestGradientThroughWrites(t *testing.T) {
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	for name, f := range map[string]func(x *Tensor) *Tensor{
		"in place on a result": func(x *Tensor) *Tensor { return x.Mul(2).AddAssign(x).MulAssign(x).Sum() },
		"view of a result": func(x *Tensor) *Tensor {
			y := x.Mul(x)
			y.Slice(Range(1, 4)).MulAssign(x.Slice(Range(0, 3)))
			return y.Mul(x).Sum()
		},
		"base seen through a view taken before": func(x *Tensor) *Tensor {
			y := x.Mul(1)
			v := y.Slice(Range(0, 6, 2))
			y.MulAssign(x)
			return v.Mul(v).Sum()
		},
		"view of a view": func(x *Tensor) *Tensor {
			y := x.Mul(3).Reshape(2, 3)
			y.T().At(1).Assign(x.Slice(Range(4, 6)).Square())
			return y.Mul(y).Sum()
		},
		"overwritten with a number": func(x *Tensor) *Tensor {
			y := x.Mul(x)
			y.At(2).Zero()
			return y.Mul(x).Sum()
		},
		"value put into a constant": func(x *Tensor) *Tensor {
			y := Zeros(2, 3).To(Float64)
			y.At(1).Assign(x.Slice(Range(0, 3)).Exp())
			return y.Mul(y).Sum()
		},
		"reversed diagonal": func(x *Tensor) *Tensor {
			y := x.Mul(1).Reshape(2, 3)
			y.Diagonal(0).AddAssign(x.Slice(Range(5, 3, -1)).Mul(x.Slice(Range(0, 2))))
			return y.Mul(y).Mul(y).Sum()
		},
		"broadcast write": func(x *Tensor) *Tensor {
			y := x.Mul(2).Reshape(2, 3)
			y.Slice(All, Range(1, 3)).Assign(x.At(0).Mul(x.At(1)))
			return y.Mul(x.Reshape(2, 3)).Sum()
		},
		"update": func(x *Tensor) *Tensor {
			y := x.Mul(2)
			y.Update((*Tensor).Relu)
			return y.Mul(x).Sum()
		},
		"detached factor": func(x *Tensor) *Tensor { return x.Mul(vec(at...)).Sum() },
	} {
		differences(t, name, f, at...)
	}
}

func TestBackwardRules(t *testing.T) {
	w := vec(2, 3).RequireGrad()
	loss := w.Mul(w).Sum()
	loss.Backward()
	if err := Try(loss.Backward); err == nil || !strings.Contains(err.Error(), "was already used and its values released: compute the output again, or give GradOpts{Retain: true}") {
		t.Errorf("a second pass: %v", err)
	}
	loss = w.Mul(w).Sum()
	BackwardWith([]*Tensor{loss}, GradOpts{Retain: true})
	loss.Backward()
	if g := Data[float64](w.Grad()); !slices.Equal(g, []float64{12, 18}) {
		t.Errorf("three passes add up to %v, want 12 and 18", g)
	}
	// Grad leaves leaves alone, in and out of order.
	v := vec(1, 1).RequireGrad()
	g := Grad(w.Mul(w).Sum(), []*Tensor{v, w}, GradOpts{AllowUnused: true})
	if g[0] != nil || !slices.Equal(Data[float64](g[1]), []float64{4, 6}) || v.Grad() != nil {
		t.Errorf("grad with an unused input: %v", g)
	}
	if err := Try(func() { Grad(w.Sum(), []*Tensor{v}) }); err == nil || !strings.Contains(err.Error(), "grad: inputs: number 0 was not used") {
		t.Errorf("an unused input: %v", err)
	}
	// Intermediate results are inputs as well.
	y := w.Mul(3)
	if g := Data[float64](Grad(y.Mul(y).Sum(), []*Tensor{y})[0]); !slices.Equal(g, []float64{12, 18}) {
		t.Errorf("gradient of an intermediate result: %v", g)
	}
	seed := vec(1, 10)
	if g := Data[float64](GradAll([]*Tensor{w.Mul(w)}, []*Tensor{w}, GradOpts{Seeds: []*Tensor{seed}})[0]); !slices.Equal(g, []float64{4, 60}) {
		t.Errorf("seeded gradient: %v", g)
	}
	// d3/dw3 of w^4 by three passes with Create.
	d := w.Pow(4).Sum()
	for range 3 {
		d = Grad(d, []*Tensor{w}, GradOpts{Create: true})[0].Sum()
	}
	if d.Item() != 24*5 {
		t.Errorf("third derivative %v, want 120", d.Item())
	}
	if w.Detach().Mul(2).RequiresGrad() || !w.Mul(2).RequiresGrad() || w.Gt(0).RequiresGrad() {
		t.Error("Detach or comparisons record wrongly")
	}
	WithoutGrad(func() { w.SubAssign(1) })
	if got := Data[float64](w); !slices.Equal(got, []float64{1, 2}) || !w.IsLeaf() {
		t.Errorf("a step inside WithoutGrad: %v", got)
	}
}

// Several passes at once add into the same leaf.
func TestConcurrentBackward(t *testing.T) {
	w := Ones(64).RequireGrad()
	const workers, passes = 4, 25
	var wg sync.WaitGroup
	for k := range workers {
		wg.Go(func() {
			for range passes {
				w.Mul(float64(k + 1)).Sum().Backward()
			}
		})
	}
	wg.Wait()
	for _, g := range Data[float32](w.Grad()) {
		if g != passes*(1+2+3+4) {
			t.Fatalf("gradient %v, want %d", g, passes*10)
		}
	}
}

func TestScopes(t *testing.T) {
	x := Arange(1000.0)
	s := NewScope()
	tx := s.Track(x)
	y := tx.Mul(2)
	kept := s.Keep(tx.Add(1))
	inner := s.Nest()
	z := inner.Track(y).Add(tx)
	inner.Close()
	if err := Try(func() { z.Sum() }); err == nil || !strings.Contains(err.Error(), "released, or its scope closed") {
		t.Errorf("use after the inner scope closed: %v", err)
	}
	if y.Sum().Item() != 999000 {
		t.Error("closing the inner scope took the outer's tensor")
	}
	w := Ones(1000).RequireGrad()
	tx.Mul(w).Sum().Backward()
	s.Close()
	for name, f := range map[string]func(){"use": func() { y.Add(1) }, "print": func() { Data[float32](y) }, "view": func() { y.At(0) }, "new result": func() { tx.Add(1) }} {
		if err := Try(f); err == nil || !strings.Contains(err.Error(), "close") {
			t.Errorf("%s after the scope closed: %v", name, err)
		}
	}
	if x.Sum().Item() != 499500 || kept.Sum().Item() != 500500 || w.Grad().Sum().Item() != 499500 {
		t.Error("closing the scope took what it does not own")
	}
	a, b := NewScope(), NewScope()
	if err := Try(func() { a.Track(x).Add(b.Track(x)) }); err == nil || !strings.Contains(err.Error(), "neither scope is inside the other") {
		t.Errorf("operands of unrelated scopes: %v", err)
	}
}

// The memory of a gradient that nobody has seen goes back when it is forgotten; one
// that was handed out stays, and so does one that was set.
func TestGradMemory(t *testing.T) {
	x := Ones(1000).RequireGrad()
	back := func() { x.Mul(3).Sum().Backward() }
	back()
	var lent *Tensor
	if !BorrowGrad(x, func(g *Tensor) { lent = g }) {
		t.Fatal("no gradient to borrow")
	}
	back() // adds to it
	if got := Data[float32](lent)[999]; got != 6 {
		t.Errorf("gradient %v after two passes, want 6", got)
	}
	x.SetGrad(nil)
	if Try(func() { lent.Add(1) }) == nil {
		t.Error("a borrowed gradient outlived the leaf's")
	}
	if BorrowGrad(x, func(*Tensor) {}) {
		t.Error("a forgotten gradient was lent")
	}
	back()
	seen := x.Grad()
	x.SetGrad(nil)
	back()
	if a, b := Data[float32](seen)[0], Data[float32](x.Grad())[0]; a != 3 || b != 3 {
		t.Errorf("gradients %v and %v, want 3 and 3", a, b)
	}
	set := Ones(1000)
	x.SetGrad(set)
	x.SetGrad(nil)
	if got := Data[float32](set)[0]; got != 1 {
		t.Errorf("a gradient that was set holds %v, want 1", got)
	}
	// In a scope the gradient is the leaf's, not the scope's.
	s := NewScope()
	s.Track(x).Mul(5).Sum().Backward()
	s.Close()
	if got := Data[float32](x.Grad())[0]; got != 5 {
		t.Errorf("gradient %v after the scope, want 5", got)
	}
}

// A gradient that flows to one place twice, and one that is also asked for, is not
// given back too early.
func TestGradShared(t *testing.T) {
	x := FromSlice([]float64{1, 2, 3}).RequireGrad()
	y := x.Mul(2)
	z := y.Add(y).Mul(y) // 8x^2
	w := z.Add(z)
	w.Sum().Backward()
	if got := Data[float64](x.Grad()); got[0] != 32 || got[2] != 96 {
		t.Errorf("gradient %v, want [32 64 96]", got)
	}
	y = x.Mul(2)
	g := Grad(y.Mul(y).Sum(), []*Tensor{y, x})
	if a, b := Data[float64](g[0]), Data[float64](g[1]); a[2] != 12 || b[2] != 24 {
		t.Errorf("gradients %v and %v, want 12 and 24 last", a, b)
	}
}

// A gradient that somebody asks for while a function borrows it is theirs from then on.
func TestGradWhileBorrowed(t *testing.T) {
	for name, forget := range map[string]func(w *Tensor){
		"after":  func(w *Tensor) {},
		"during": func(w *Tensor) { w.SetGrad(nil) },
	} {
		w := Ones(3000).RequireGrad()
		w.Mul(w).Sum().Backward()
		var kept *Tensor
		BorrowGrad(w, func(g *Tensor) {
			kept = w.Grad()
			forget(w)
		})
		w.SetGrad(nil)
		if err := Try(func() {
			if got := kept.Sum().Item(); got != 6000 {
				t.Errorf("%s: the gradient adds up to %v", name, got)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
