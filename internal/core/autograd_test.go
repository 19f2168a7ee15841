package core_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/data"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/nn"
	"weft/optim"
	"weft/sym"
)

func TestBasicOperationsAndGradients(t *testing.T) {
	x := weft.FromSlice([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	y := x.Add(1)
	got := weft.Data[float32](y)
	for i, v := range got {
		if v != float32(i)+2 {
			t.Fatalf("a+1: %v", got)
		}
	}
	if s := weft.Data[float32](x.T().Add(x.T()).Sum(0)); s[0] != 12 || s[1] != 30 {
		t.Fatalf("sum: %v", s)
	}
	if s := x.Sum().Item(); s != 21 {
		t.Fatalf("sum: %v", s)
	}
	if s := weft.Data[float32](x.Mean(1)); s[0] != 2 || s[1] != 5 {
		t.Fatalf("mean: %v", s)
	}
	if s := weft.Data[int64](x.ArgMax(1)); s[0] != 2 || s[1] != 2 {
		t.Fatalf("argmax: %v", s)
	}
	w := weft.FromSlice([]float64{1, 2, 3}).RequireGrad()
	loss := w.Mul(w).Mul(2).Sum()
	loss.Backward()
	if g := weft.Data[float64](w.Grad()); g[0] != 4 || g[2] != 12 {
		t.Fatalf("grad: %v", g)
	}
	g := weft.Grad(w.Mul(w).Mul(w).Sum(), []*weft.Tensor{w}, weft.GradOpts{Create: true})[0]
	gg := weft.Grad(g.Sum(), []*weft.Tensor{w})[0]
	if d := weft.Data[float64](gg); d[1] != 12 {
		t.Fatalf("second: %v", d)
	}
}

// What Grad returns is an ordinary tensor: gradients flow from computing with it.
func TestGradResultIsRecorded(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2}).RequireGrad()
	g := weft.Grad(x.Mul(x).Add(x).Sum(), []*weft.Tensor{x})[0]
	w := weft.FromSlice([]float64{3, 4}).RequireGrad()
	g.Mul(w).Sum().Backward()
	if got := weft.Data[float64](w.Grad()); got[0] != 3 || got[1] != 5 {
		t.Errorf("gradient through a result of Grad: %v", got)
	}
}

// A value that a gradient needs was overwritten: the error says which, and where.
func TestBackwardRefusesOverwrittenValues(t *testing.T) {
	w := tensortest.Vector(1, 2).RequireGrad()
	y := w.Exp() // its gradient reads the result
	y.At(0)
	_, _, line, _ := runtime.Caller(0)
	y.MulAssign(2) // the line after
	err := weft.Try(func() { y.Sum().Backward() })
	if err == nil {
		t.Fatal("the gradient used an overwritten value")
	}
	want := "backward: the result of exp, float64[2], was modified in place after it was saved: it is at version 1, the gradient needs version 0; it was overwritten at "
	if got := err.Error(); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, fmt.Sprintf("_test.go:%d", line+1)) {
		t.Errorf("got %s", got)
	}
	// An argument, written through a view of it.
	a := tensortest.Vector(3, 4)
	z := w.Mul(a)
	a.At(1).Assign(0)
	err = weft.Try(func() { z.Sum().Backward() })
	if err == nil || !strings.Contains(err.Error(), "argument 1 of mul, float64[2], was modified in place") {
		t.Errorf("got %v", err)
	}
	// A value that no gradient reads may be overwritten.
	b := tensortest.Vector(3, 4)
	s := w.Add(b)
	b.Assign(0)
	s.Sum().Backward()
	if g := weft.Data[float64](w.Grad()); !slices.Equal(g, []float64{1, 1}) {
		t.Errorf("gradient %v", g)
	}
}

func TestGradientThroughWrites(t *testing.T) {
	at := []float64{0.5, -1.5, 2, 3, 0.25, 1}
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"in place on a result": func(x *weft.Tensor) *weft.Tensor { return x.Mul(2).AddAssign(x).MulAssign(x).Sum() },
		"view of a result": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(x)
			y.Slice(weft.Range(1, 4)).MulAssign(x.Slice(weft.Range(0, 3)))
			return y.Mul(x).Sum()
		},
		"base seen through a view taken before": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(1)
			v := y.Slice(weft.Range(0, 6, 2))
			y.MulAssign(x)
			return v.Mul(v).Sum()
		},
		"view of a view": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(3).Reshape(2, 3)
			y.T().At(1).Assign(x.Slice(weft.Range(4, 6)).Square())
			return y.Mul(y).Sum()
		},
		"overwritten with a number": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(x)
			y.At(2).Zero()
			return y.Mul(x).Sum()
		},
		"value put into a constant": func(x *weft.Tensor) *weft.Tensor {
			y := weft.Zeros(2, 3).To(weft.Float64)
			y.At(1).Assign(x.Slice(weft.Range(0, 3)).Exp())
			return y.Mul(y).Sum()
		},
		"reversed diagonal": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(1).Reshape(2, 3)
			y.Diagonal(0).AddAssign(x.Slice(weft.Range(5, 3, -1)).Mul(x.Slice(weft.Range(0, 2))))
			return y.Mul(y).Mul(y).Sum()
		},
		"broadcast write": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(2).Reshape(2, 3)
			y.Slice(weft.All, weft.Range(1, 3)).Assign(x.At(0).Mul(x.At(1)))
			return y.Mul(x.Reshape(2, 3)).Sum()
		},
		"update": func(x *weft.Tensor) *weft.Tensor {
			y := x.Mul(2)
			y.Update((*weft.Tensor).Relu)
			return y.Mul(x).Sum()
		},
		"detached factor": func(x *weft.Tensor) *weft.Tensor { return x.Mul(tensortest.Vector(at...)).Sum() },
	} {
		tensortest.Differences(t, name, f, at...)
	}
}

func TestBackwardTwiceNeedsRetain(t *testing.T) {
	w := tensortest.Vector(2, 3).RequireGrad()
	loss := w.Mul(w).Sum()
	loss.Backward()
	if err := weft.Try(loss.Backward); err == nil || !strings.Contains(err.Error(), "was already used and its values released: compute the output again, or give GradOpts{Retain: true}") {
		t.Errorf("a second pass: %v", err)
	}
	loss = w.Mul(w).Sum()
	weft.BackwardWith([]*weft.Tensor{loss}, weft.GradOpts{Retain: true})
	loss.Backward()
	if g := weft.Data[float64](w.Grad()); !slices.Equal(g, []float64{12, 18}) {
		t.Errorf("three passes add up to %v, want 12 and 18", g)
	}
	// Grad leaves leaves alone, in and out of order.
	v := tensortest.Vector(1, 1).RequireGrad()
	g := weft.Grad(w.Mul(w).Sum(), []*weft.Tensor{v, w}, weft.GradOpts{AllowUnused: true})
	if g[0] != nil || !slices.Equal(weft.Data[float64](g[1]), []float64{4, 6}) || v.Grad() != nil {
		t.Errorf("grad with an unused input: %v", g)
	}
	if err := weft.Try(func() { weft.Grad(w.Sum(), []*weft.Tensor{v}) }); err == nil || !strings.Contains(err.Error(), "grad: inputs: number 0 was not used") {
		t.Errorf("an unused input: %v", err)
	}
	// Intermediate results are inputs as well.
	y := w.Mul(3)
	if g := weft.Data[float64](weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{y})[0]); !slices.Equal(g, []float64{12, 18}) {
		t.Errorf("gradient of an intermediate result: %v", g)
	}
	seed := tensortest.Vector(1, 10)
	if g := weft.Data[float64](weft.GradAll([]*weft.Tensor{w.Mul(w)}, []*weft.Tensor{w}, weft.GradOpts{Seeds: []*weft.Tensor{seed}})[0]); !slices.Equal(g, []float64{4, 60}) {
		t.Errorf("seeded gradient: %v", g)
	}
	// d3/dw3 of w^4 by three passes with Create.
	d := w.Pow(4).Sum()
	for range 3 {
		d = weft.Grad(d, []*weft.Tensor{w}, weft.GradOpts{Create: true})[0].Sum()
	}
	if d.Item() != 24*5 {
		t.Errorf("third derivative %v, want 120", d.Item())
	}
	if w.Detach().Mul(2).RequiresGrad() || !w.Mul(2).RequiresGrad() || w.Gt(0).RequiresGrad() {
		t.Error("Detach or comparisons record wrongly")
	}
	weft.WithoutGrad(func() { w.SubAssign(1) })
	if got := weft.Data[float64](w); !slices.Equal(got, []float64{1, 2}) || !w.IsLeaf() {
		t.Errorf("a step inside WithoutGrad: %v", got)
	}
}

// Several passes at once add into the same leaf.
func TestConcurrentBackward(t *testing.T) {
	w := weft.Ones(64).RequireGrad()
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
	for _, g := range weft.Data[float32](w.Grad()) {
		if g != passes*(1+2+3+4) {
			t.Fatalf("gradient %v, want %d", g, passes*10)
		}
	}
}

func TestScopes(t *testing.T) {
	x := weft.Arange(1000.0)
	s := weft.NewScope()
	tx := s.Track(x)
	y := tx.Mul(2)
	kept := s.Keep(tx.Add(1))
	inner := s.Nest()
	z := inner.Track(y).Add(tx)
	inner.Close()
	if err := weft.Try(func() { z.Sum() }); err == nil || !strings.Contains(err.Error(), "released, or its scope closed") {
		t.Errorf("use after the inner scope closed: %v", err)
	}
	if y.Sum().Item() != 999000 {
		t.Error("closing the inner scope took the outer's tensor")
	}
	w := weft.Ones(1000).RequireGrad()
	tx.Mul(w).Sum().Backward()
	s.Close()
	for name, f := range map[string]func(){"use": func() { y.Add(1) }, "print": func() { weft.Data[float32](y) }, "view": func() { y.At(0) }, "new result": func() { tx.Add(1) }} {
		if err := weft.Try(f); err == nil || !strings.Contains(err.Error(), "close") {
			t.Errorf("%s after the scope closed: %v", name, err)
		}
	}
	if x.Sum().Item() != 499500 || kept.Sum().Item() != 500500 || w.Grad().Sum().Item() != 499500 {
		t.Error("closing the scope took what it does not own")
	}
	a, b := weft.NewScope(), weft.NewScope()
	if err := weft.Try(func() { a.Track(x).Add(b.Track(x)) }); err == nil || !strings.Contains(err.Error(), "neither scope is inside the other") {
		t.Errorf("operands of unrelated scopes: %v", err)
	}
}

// The memory of a gradient that nobody has seen goes back when it is forgotten; one
// that was handed out stays, and so does one that was set.
func TestGradMemoryIsFreedUnlessSeen(t *testing.T) {
	x := weft.Ones(1000).RequireGrad()
	back := func() { x.Mul(3).Sum().Backward() }
	back()
	var lent *weft.Tensor
	if !weft.BorrowGrad(x, func(g *weft.Tensor) { lent = g }) {
		t.Fatal("no gradient to borrow")
	}
	back() // adds to it
	if got := weft.Data[float32](lent)[999]; got != 6 {
		t.Errorf("gradient %v after two passes, want 6", got)
	}
	x.SetGrad(nil)
	if weft.Try(func() { lent.Add(1) }) == nil {
		t.Error("a borrowed gradient outlived the leaf's")
	}
	if weft.BorrowGrad(x, func(*weft.Tensor) {}) {
		t.Error("a forgotten gradient was lent")
	}
	back()
	seen := x.Grad()
	x.SetGrad(nil)
	back()
	if a, b := weft.Data[float32](seen)[0], weft.Data[float32](x.Grad())[0]; a != 3 || b != 3 {
		t.Errorf("gradients %v and %v, want 3 and 3", a, b)
	}
	set := weft.Ones(1000)
	x.SetGrad(set)
	x.SetGrad(nil)
	if got := weft.Data[float32](set)[0]; got != 1 {
		t.Errorf("a gradient that was set holds %v, want 1", got)
	}
	// In a scope the gradient is the leaf's, not the scope's.
	s := weft.NewScope()
	s.Track(x).Mul(5).Sum().Backward()
	s.Close()
	if got := weft.Data[float32](x.Grad())[0]; got != 5 {
		t.Errorf("gradient %v after the scope, want 5", got)
	}
}

// A gradient that flows to one place twice, and one that is also asked for, is not
// given back too early.
func TestSharedGradIsNotFreedEarly(t *testing.T) {
	x := weft.FromSlice([]float64{1, 2, 3}).RequireGrad()
	y := x.Mul(2)
	z := y.Add(y).Mul(y) // 8x^2
	w := z.Add(z)
	w.Sum().Backward()
	if got := weft.Data[float64](x.Grad()); got[0] != 32 || got[2] != 96 {
		t.Errorf("gradient %v, want [32 64 96]", got)
	}
	y = x.Mul(2)
	g := weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{y, x})
	if a, b := weft.Data[float64](g[0]), weft.Data[float64](g[1]); a[2] != 12 || b[2] != 24 {
		t.Errorf("gradients %v and %v, want 12 and 24 last", a, b)
	}
}

// A gradient that somebody asks for while a function borrows it is theirs from then on.
func TestGradWhileBorrowed(t *testing.T) {
	for name, forget := range map[string]func(w *weft.Tensor){
		"after":  func(w *weft.Tensor) {},
		"during": func(w *weft.Tensor) { w.SetGrad(nil) },
	} {
		w := weft.Ones(3000).RequireGrad()
		w.Mul(w).Sum().Backward()
		var kept *weft.Tensor
		weft.BorrowGrad(w, func(g *weft.Tensor) {
			kept = w.Grad()
			forget(w)
		})
		w.SetGrad(nil)
		if err := weft.Try(func() {
			if got := kept.Sum().Item(); got != 6000 {
				t.Errorf("%s: the gradient adds up to %v", name, got)
			}
		}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func f64(xs ...float64) *weft.Tensor { return weft.FromSlice(xs) }

// The idioms that need a constant from one computation in another, as PyTorch writes them.
func TestWithoutGradIdioms(t *testing.T) {
	grads := func(l *weft.Tensor, ws ...*weft.Tensor) (out []float64) {
		l.Backward()
		for _, w := range ws {
			if w.Grad() == nil {
				t.Fatal("a leaf got no gradient")
			}
			out = append(out, weft.Data[float64](w.Grad())...)
		}
		return out
	}
	same := func(t *testing.T, got []float64, want ...float64) {
		t.Helper()
		if len(got) != len(want) {
			t.Fatalf("got %v, want %v", got, want)
		}
		for i := range got {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Fatalf("got %v, want %v", got, want)
			}
		}
	}
	t.Run("target network", func(t *testing.T) {
		q, target := f64(1, 2).RequireGrad(), f64(3, 4).RequireGrad()
		s := f64(1, 1)
		var y *weft.Tensor
		weft.WithoutGrad(func() { y = target.Mul(s).Max() })
		same(t, grads(q.Mul(s).Sub(y).Square().Sum(), q), -6, -4)
		if target.Grad() != nil {
			t.Error("the target network got a gradient")
		}
	})
	t.Run("replay buffer", func(t *testing.T) {
		w := f64(2).RequireGrad()
		var seen []*weft.Tensor
		for i := range 3 {
			weft.WithoutGrad(func() { seen = append(seen, w.Mul(float64(i))) })
		}
		same(t, grads(weft.Stack(seen, 0).Mul(w).Sum(), w), 0+2+4)
	})
	t.Run("kept statistics", func(t *testing.T) {
		w, mean := f64(1, 3).RequireGrad(), f64(0)
		for range 2 {
			m := w.Mean()
			weft.WithoutGrad(func() { mean.MulAssign(0.5).AddAssign(m.Mul(0.5)) })
		}
		same(t, weft.Data[float64](mean), 1.5)
		same(t, grads(w.Sub(mean).Square().Sum(), w), -1, 3)
	})
	t.Run("moving average of weights", func(t *testing.T) {
		w := f64(1, 2).RequireGrad()
		avg := w.Detach().Clone().RequireGrad()
		weft.WithoutGrad(func() { avg.MulAssign(0.9).AddAssign(f64(11, 12).Mul(0.1)) })
		same(t, weft.Data[float64](avg.Detach()), 2, 3)
		same(t, grads(avg.Mul(w).Sum(), avg, w), 1, 2, 2, 3)
	})
	t.Run("gradient penalty", func(t *testing.T) {
		w, x := f64(3).RequireGrad(), f64(2).RequireGrad()
		var y *weft.Tensor
		weft.WithoutGrad(func() { y = w.Mul(10) })
		d := w.Mul(x).Square().Add(y) // w²x²+30
		g := weft.Grad(d.Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
		same(t, grads(g.Sub(y).Square().Sum(), w), 2*(2*9*2-30)*4*3*2) // (2w²x-30)² by w
	})
	t.Run("leaf made of a constant", func(t *testing.T) {
		var w *weft.Tensor
		weft.WithoutGrad(func() { w = f64(1, 2).Mul(2).RequireGrad() })
		same(t, grads(w.Mul(3).Sum(), w), 3, 3)
		same(t, grads(w.Mul(3).Sum().Mul(2), w), 9, 9)
	})
	t.Run("pass inside", func(t *testing.T) {
		w := f64(2).RequireGrad()
		l := w.Square().Sum()
		var g *weft.Tensor
		weft.WithoutGrad(func() { g = weft.Grad(l, []*weft.Tensor{w}, weft.GradOpts{Create: true})[0] })
		if !g.RequiresGrad() {
			t.Error("Create inside WithoutGrad recorded nothing")
		}
		weft.WithoutGrad(l.Backward)
		same(t, weft.Data[float64](w.Grad()), 4)
	})
	t.Run("view", func(t *testing.T) {
		w := f64(1, 2).RequireGrad()
		weft.WithoutGrad(func() {
			w.At(0).Assign(5)
			w.Slice(weft.Range(1, 2)).MulAssign(3)
			w.Update((*weft.Tensor).Square)
		})
		same(t, weft.Data[float64](w.Detach()), 25, 36)
		if !w.IsLeaf() || !w.RequiresGrad() {
			t.Error("a leaf written inside WithoutGrad is none any more")
		}
	})
	t.Run("write to what is recorded", func(t *testing.T) {
		w := f64(3).RequireGrad()
		y := w.Mul(2)
		weft.WithoutGrad(func() { y.Fill(7) })
		same(t, weft.Data[float64](y.Detach()), 7)
		same(t, grads(y.Sum(), w), 2)
		l := w.Square().Sum()
		weft.WithoutGrad(func() { w.Fill(1) })
		if err := weft.Try(l.Backward); err == nil {
			t.Error("a pass used a value that was written over inside WithoutGrad")
		}
	})
	t.Run("optimizer", func(t *testing.T) {
		w := f64(1).RequireGrad()
		o := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) { yield("w", w) }, optim.SGDOpts{LR: new(0.5)})
		w.Square().Sum().Backward()
		weft.WithoutGrad(o.Step)
		same(t, weft.Data[float64](w.Detach()), 0)
	})
}

// The state belongs to one goroutine, ends with the function even if it panics, and nests.
func TestWithoutGradNestsAndEnds(t *testing.T) {
	w := weft.Ones(2).RequireGrad()
	recorded := func() bool { return w.Mul(2).RequiresGrad() }
	check := func(where string, want bool) {
		t.Helper()
		if recorded() != want {
			t.Errorf("%s: recorded is %v", where, !want)
		}
	}
	check("before", true)
	weft.WithoutGrad(func() {
		check("inside", false)
		weft.WithoutGrad(func() { check("inside two", false) })
		check("behind the inner one", false)
		done := make(chan bool)
		go func() { done <- recorded() }()
		if !<-done {
			t.Error("a goroutine that was started inside does not record")
		}
		func() {
			defer func() { _ = recover() }()
			weft.WithoutGrad(func() { panic("x") })
		}()
		check("behind a panic in the inner one", false)
		if d := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor {
			check("what is differentiated", true)
			weft.WithoutGrad(func() { check("inside what is differentiated", false) })
			return x.Mul(w).Sum()
		}, w); d.RequiresGrad() || d.Sum().Item() != 2 {
			t.Errorf("Jacobian inside: %v", d)
		}
		check("behind Jacobian", false)
	})
	check("after", true)
	func() {
		defer func() { _ = recover() }()
		weft.WithoutGrad(func() { w.MatMul(weft.Ones(3)) })
	}()
	check("after a panic", true)
	ended := make(chan bool)
	go func() {
		defer func() { ended <- recorded() }()
		weft.WithoutGrad(runtime.Goexit)
	}()
	if !<-ended {
		t.Error("a goroutine that ended inside does not record in what it deferred")
	}
	if err := weft.Try(func() { weft.WithoutGrad(nil) }); err == nil {
		t.Error("nil was taken")
	}
}

// Goroutines inside and outside at once, many in one list of the table.
func TestWithoutGradGoroutines(t *testing.T) {
	w := weft.Ones(2).RequireGrad()
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			for k := range 20 {
				body := func() bool { return w.Mul(2).RequiresGrad() }
				got, want := false, (i+k)%2 == 0
				if want {
					got = body()
				} else {
					weft.WithoutGrad(func() {
						weft.WithoutGrad(func() {})
						got = body()
					})
				}
				if got != want {
					t.Errorf("recorded: %v, want %v", got, want)
				}
			}
		})
	}
	all.Wait()
}

// producers compute a tensor from w, float64 of shape [3 3], by every kind of operation.
var producers = map[string]func(w *weft.Tensor) *weft.Tensor{
	"leaf itself":  func(w *weft.Tensor) *weft.Tensor { return w.Detach() },
	"elementwise":  func(w *weft.Tensor) *weft.Tensor { return w.Exp().Add(w) },
	"reduction":    func(w *weft.Tensor) *weft.Tensor { return w.Sum(0) },
	"several":      func(w *weft.Tensor) *weft.Tensor { v, _ := w.Sort(1, weft.SortOpts{}); return v },
	"product":      func(w *weft.Tensor) *weft.Tensor { return w.MatMul(w) },
	"view":         func(w *weft.Tensor) *weft.Tensor { return w.T().At(1).Reshape(3, 1) },
	"split":        func(w *weft.Tensor) *weft.Tensor { return w.Chunk(0, 3)[1] },
	"view of view": func(w *weft.Tensor) *weft.Tensor { return w.Slice(weft.Range(0, 2)).T().Expand(2, 3, 2).Sum(0).T() },
	"indices":      func(w *weft.Tensor) *weft.Tensor { return w.Index([]int{0, 2}) },
	"gather":       func(w *weft.Tensor) *weft.Tensor { return w.IndexSelect(0, weft.FromSlice([]int64{1, 1})) },
	"mask":         func(w *weft.Tensor) *weft.Tensor { return w.MaskedFill(w.Gt(0.5), 2) },
	"scatter":      func(w *weft.Tensor) *weft.Tensor { return weft.ZerosOf(weft.Float64, 3, 3).IndexPut(w.At(0), 1) },
	"cat":          func(w *weft.Tensor) *weft.Tensor { return weft.Cat([]*weft.Tensor{w, w}, 0).Slice(weft.Range(0, 3)) },
	"where":        func(w *weft.Tensor) *weft.Tensor { return weft.Where(w.Gt(0.5), w, w.Neg()) },
	"einsum":       func(w *weft.Tensor) *weft.Tensor { return weft.Einsum("ij,kj->ik", w, w) },
	"conversion":   func(w *weft.Tensor) *weft.Tensor { return w.To(weft.Float32).To(weft.Float64) },
	"complex":      func(w *weft.Tensor) *weft.Tensor { return w.To(weft.Complex128).Mul(2).Real() },
	"clone":        func(w *weft.Tensor) *weft.Tensor { return w.Clone() },
	"lazy":         func(w *weft.Tensor) *weft.Tensor { return w.Lazy().Mul(2).Add(1) },
	"scope":        func(w *weft.Tensor) *weft.Tensor { s := weft.NewScope(); return s.Keep(s.Track(w).Mul(2)) },
	"written":      func(w *weft.Tensor) *weft.Tensor { return weft.ZerosOf(weft.Float64, 3, 3).Assign(w).MulAssign(w) },
	"written view": func(w *weft.Tensor) *weft.Tensor {
		z := weft.ZerosOf(weft.Float64, 3, 3)
		z.At(1).Assign(w.At(0))
		return z
	},
	"update":  func(w *weft.Tensor) *weft.Tensor { return w.Clone().Update((*weft.Tensor).Exp) },
	"formula": func(w *weft.Tensor) *weft.Tensor { return weft.Expr("w*w+1", weft.Vars{"w": w}) },
	"layer":   func(w *weft.Tensor) *weft.Tensor { return w.Softmax(1) },
	"gradient": func(w *weft.Tensor) *weft.Tensor {
		return weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return x.Mul(w).Sum() }, w)
	},
	"second": func(w *weft.Tensor) *weft.Tensor {
		return weft.HessianVector(func(x *weft.Tensor) *weft.Tensor { return x.Mul(x).Mul(w).Sum() }, w, w)
	},
	"forward": func(w *weft.Tensor) *weft.Tensor { _, d := weft.JVP((*weft.Tensor).Exp, w, w); return d },
	"mapped": func(w *weft.Tensor) *weft.Tensor {
		return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(x[0]).Add(w.At(0)) })(w)
	},
	"own gradient":  func(w *weft.Tensor) *weft.Tensor { return twice.Apply(w) },
	"marked inside": func(w *weft.Tensor) *weft.Tensor { return w.Mul(3).RequireGrad() },
}

var twice = &weft.Func{Name: "twice",
	Forward:  func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
	Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy.Mul(2)} },
}

// A tensor made inside WithoutGrad is a constant in a graph outside. The other operand of a product
// gets it as its gradient, and w gets no gradient through it. This holds eagerly, in a compiled
// function, mapped and in the body of a loop.
func TestWithoutGradResultsAreConstants(t *testing.T) {
	kernels := kernel.MustParse("package k\nfunc Square(x float64) float64 { return x*x + 1 }\n")
	all := map[string]func(w *weft.Tensor) *weft.Tensor{
		"kernel":  func(w *weft.Tensor) *weft.Tensor { return kernels.Func("Square").Map(w) },
		"batches": func(w *weft.Tensor) *weft.Tensor { x, _, _ := data.Tensors(w, nil).Get(1); return x },
		"norm": func(w *weft.Tensor) *weft.Tensor {
			return nn.NewLayerNorm([]int{3}).Forward(w.To(weft.Float32)).To(weft.Float64)
		},
	}
	for name, f := range producers {
		all[name] = f
	}
	values := []float64{0.1, 0.9, 0.4, 0.7, 0.2, 0.8, 0.3, 0.6, 0.5}
	onlyEager := map[string]bool{"batches": true, "scope": true, "norm": true, "lazy": true}
	for name, f := range all {
		t.Run(name, func(t *testing.T) {
			want := weft.Data[float64](f(weft.FromSlice(slices.Clone(values), 3, 3)))
			// gradients of sum(constant·v) and of sum(constant·w')
			loss := func(w, v *weft.Tensor) *weft.Tensor {
				var c *weft.Tensor
				weft.WithoutGrad(func() { c = f(w) })
				return c.Mul(v.Reshape(c.Shape()...)).Sum().Add(w.Sum())
			}
			check := func(how string, dw, dv *weft.Tensor) {
				t.Helper()
				if dv == nil || dw == nil {
					t.Fatalf("%s: no gradient", how)
				}
				if got := weft.Data[float64](dv); !slices.Equal(got, want) {
					t.Errorf("%s: the operand got %v, want %v", how, got, want)
				}
				if got := weft.Data[float64](dw); slices.ContainsFunc(got, func(x float64) bool { return x != 1 }) {
					t.Errorf("%s: w got %v, want 1 everywhere", how, got)
				}
			}
			leaves := func() (w, v *weft.Tensor) {
				return weft.FromSlice(slices.Clone(values), 3, 3).RequireGrad(), weft.OnesOf(weft.Float64, len(want)).RequireGrad()
			}
			w, v := leaves()
			loss(w, v).Backward()
			check("eager", w.Grad(), v.Grad())
			if onlyEager[name] {
				return
			}
			w, v = leaves()
			step := weft.Compile(func(w, v *weft.Tensor) { loss(w, v).Backward() })
			if _, err := step.Call(w, v); err != nil {
				t.Fatal(err)
			}
			check("compiled", w.Grad(), v.Grad())
			w, v = leaves()
			l := weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return loss(x[0], x[1]) })(w.Reshape(1, 3, 3), v.Reshape(1, len(want)))
			l.Sum().Backward()
			check("mapped", w.Grad(), v.Grad())
		})
	}
}

// A compiled function is traced apart for calls inside and outside, and what it records inside
// a symbolic function does not depend on the caller.
func TestWithoutGradCompiled(t *testing.T) {
	w := f64(1, 2).RequireGrad()
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		if y := x.Mul(w); y.RequiresGrad() {
			return y.Add(1)
		} else {
			return y
		}
	})
	x := f64(3, 4)
	for range 2 {
		out, err := f.Call(x)
		var in *weft.Tensor
		var inErr error
		weft.WithoutGrad(func() { in, inErr = f.Call(x) })
		if err != nil || inErr != nil {
			t.Fatal(err, inErr)
		}
		if a, b := fmt.Sprint(out), fmt.Sprint(in); a != "[4. 9.]" || b != "[3. 8.]" {
			t.Errorf("outside %s, inside %s", a, b)
		}
	}
	if y := f.Why(); len(y) == 0 {
		t.Error("Why says nothing")
	}
	// What is computed may be an argument there.
	weft.WithoutGrad(func() {
		if y, err := f.Call(w.Mul(2)); err != nil || fmt.Sprint(y) != "[2. 8.]" {
			t.Error(y, err)
		}
	})

	a := sym.Scalar("a", weft.Float64)
	var g *sym.Fn
	weft.WithoutGrad(func() {
		cost := a.Mul(a).Mul(a)
		var err error
		if g, err = sym.Function(sym.In(a), sym.Out(sym.Grad(cost, []*sym.Var{a})[0])); err != nil {
			t.Fatal(err)
		}
		if y, err := g.Call(2.0); err != nil || y[0].Item() != 12 {
			t.Error(y, err)
		}
	})
	if y, err := g.Call(2.0); err != nil || y[0].Item() != 12 {
		t.Error(y, err)
	}
}

// Func: Forward records nothing, Backward what the pass records; a checkpoint recomputes by VJP.
func TestWithoutGradInFunc(t *testing.T) {
	w := f64(2).RequireGrad()
	var inside, back []bool
	f := &weft.Func{Name: "f",
		Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
			inside = append(inside, x[0].Mul(w).RequiresGrad())
			c.Save(x[0])
			return x[0].Square()
		},
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
			back = append(back, w.Mul(2).RequiresGrad())
			_, pull := weft.VJP((*weft.Tensor).Square, c.Saved(0))
			return []*weft.Tensor{pull(dy)}
		}}
	x := f64(3).RequireGrad()
	f.Apply(x).Sum().Backward()
	g := weft.Grad(f.Apply(x).Sum(), []*weft.Tensor{x}, weft.GradOpts{Create: true})[0]
	if d := weft.Grad(g.Sum(), []*weft.Tensor{x})[0]; d.Item() != 2 || x.Grad().Item() != 6 {
		t.Errorf("derivatives %v and %v, want 6 and 2", x.Grad(), d)
	}
	if fmt.Sprint(inside, back) != "[false false] [false true]" {
		t.Errorf("recorded in Forward %v, in Backward %v", inside, back)
	}
	var y *weft.Tensor
	weft.WithoutGrad(func() { y = f.Apply(x) })
	if y.RequiresGrad() {
		t.Error("Apply recorded inside WithoutGrad")
	}
}
