package sym_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"weft"
	"weft/internal/lock"
	"weft/sym"
)

// within fails the test if f does not return within a minute.
func within(t *testing.T, name string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(60 * time.Second):
		t.Fatalf("%s: hangs", name)
	}
}

// A caller is a function of no arguments over shared memory.
type caller func() ([]*weft.Tensor, error)

// shared are two arrays of n elements with functions over them, of package sym and compiled ones.
type shared struct {
	a, b *weft.Tensor
	v, w *sym.Var
}

func newShared(n int) *shared {
	s := &shared{a: weft.Zeros(n), b: weft.Ones(n)}
	s.v, s.w = sym.Shared("a", s.a), sym.Shared("b", s.b)
	return s
}

func (s *shared) fn(t *testing.T, out []*sym.Var, u sym.Updates) caller {
	t.Helper()
	f, err := sym.Function(sym.In(), sym.Out(out...), u)
	if err != nil {
		t.Fatal(err)
	}
	return func() ([]*weft.Tensor, error) { return f.Call() }
}

func compiled(f func() []*weft.Tensor) caller {
	c := weft.Compile(f).Func()
	return func() (out []*weft.Tensor, err error) {
		err = weft.Try(func() { out = c() })
		return out, err
	}
}

// readers return the least and the greatest element of both arrays.
func (s *shared) readers(t *testing.T) map[string]caller {
	return map[string]caller{
		"sym read":      s.fn(t, []*sym.Var{s.v.Min(), s.v.Max(), s.w.Min(), s.w.Max()}, nil),
		"compiled read": compiled(func() []*weft.Tensor { return []*weft.Tensor{s.a.Min(), s.a.Max(), s.b.Min(), s.b.Max()} }),
	}
}

// adders add 1 to every element of the first array.
func (s *shared) adders(t *testing.T) map[string]caller {
	return map[string]caller{
		"sym add":               s.fn(t, nil, sym.Updates{s.v: s.v.Add(1)}),
		"sym add, by a product": s.fn(t, []*sym.Var{s.v.Sum()}, sym.Updates{s.v: s.v.Mul(1).Add(1)}),
		"compiled add":          compiled(func() []*weft.Tensor { s.a.AddAssign(1); return nil }),
	}
}

// swappers exchange the arrays, which they write in either order.
func (s *shared) swappers(t *testing.T) map[string]caller {
	return map[string]caller{
		"sym swap":       s.fn(t, nil, sym.Updates{s.v: s.w, s.w: s.v}),
		"sym swap, back": s.fn(t, nil, sym.Updates{s.w: s.v.Mul(1), s.v: s.w.Mul(1)}),
		"compiled swap": compiled(func() []*weft.Tensor {
			old := s.a.Clone()
			s.a.Assign(s.b)
			s.b.Assign(old)
			return nil
		}),
		"compiled swap, back": compiled(func() []*weft.Tensor {
			old := s.b.Clone()
			s.b.Assign(s.a)
			s.a.Assign(old)
			return nil
		}),
	}
}

// mix makes calls of two writers and of readers from sixteen goroutines. torn reports whether the
// four results of a reader are not one state.
func mix(t *testing.T, name string, calls int, f, g caller, readers map[string]caller, torn func(out []*weft.Tensor) bool) {
	t.Helper()
	within(t, name, func() {
		var wg sync.WaitGroup
		for i := range 16 {
			h := []caller{f, g, f, g, readers["sym read"], readers["compiled read"]}[i%6]
			wg.Go(func() {
				for range calls {
					out, err := h()
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					if len(out) == 4 && torn(out) {
						t.Errorf("%s: a read sees a state between two: %v", name, out)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// Calls of functions over the same memory, from sixteen goroutines, are serialisable: no update is
// lost, and every read sees a whole state.
func TestFunctionsShareMemory(t *testing.T) {
	sizes, calls := []int{10, 1000, 40000}, 30
	for _, n := range sizes {
		// Adders: every pair, with readers beside them.
		s := newShared(n)
		adders, readers := s.adders(t), s.readers(t)
		for one, f := range adders {
			for two, g := range adders {
				if one > two {
					continue
				}
				name := fmt.Sprintf("%s and %s of %d", one, two, n)
				s.a.Zero()
				mix(t, name, calls, f, g, readers, func(out []*weft.Tensor) bool {
					return out[0].Item() != out[1].Item() || out[2].Item() != 1 || out[3].Item() != 1
				})
				want := 0.0
				for i := range 16 {
					if i%6 < 4 {
						want += float64(calls)
					}
				}
				if lo, hi := s.a.Min().Item(), s.a.Max().Item(); lo != want || hi != want {
					t.Errorf("%s: from %v to %v after %v additions of 1", name, lo, hi, want)
				}
			}
		}
		// Swappers: one array holds zeros, the other ones, at every time.
		s = newShared(n)
		swappers, readers := s.swappers(t), s.readers(t)
		for one, f := range swappers {
			for two, g := range swappers {
				if one > two {
					continue
				}
				name := fmt.Sprintf("%s and %s of %d", one, two, n)
				s.a.Zero()
				s.b.Fill(1)
				mix(t, name, calls, f, g, readers, func(out []*weft.Tensor) bool {
					return out[0].Item() != out[1].Item() || out[2].Item() != out[3].Item() || out[0].Item()+out[2].Item() != 1
				})
				if lo, hi := s.a.Min().Item()+s.b.Min().Item(), s.a.Max().Item()+s.b.Max().Item(); lo != 1 || hi != 1 {
					t.Errorf("%s: the arrays are %v and %v", name, s.a, s.b)
				}
			}
		}
	}
}

// Memory is locked whether a function captures it, gets it as an argument, or writes it as the
// gradient of a leaf.
func TestArgumentsAndGradientsAreLocked(t *testing.T) {
	w := weft.Zeros(40000)
	add := weft.Compile(func() *weft.Tensor { w.AddAssign(1); return nil })
	read := weft.Compile(func(x *weft.Tensor) (lo, hi *weft.Tensor) { return x.Min(), x.Max() }).Func()
	into := weft.Compile(func(x *weft.Tensor) *weft.Tensor { x.AddAssign(1); return nil })
	leaf := weft.Ones(40000).RequireGrad()
	one := weft.Compile(func() *weft.Tensor { leaf.Mul(1).Sum().Backward(); return nil })
	two := weft.Compile(func() *weft.Tensor { leaf.Mul(2).Sum().Backward(); return nil })
	leaf.Sum().Backward() // so that there is a gradient
	within(t, "calls", func() {
		var wg sync.WaitGroup
		for i := range 15 {
			wg.Go(func() {
				for range 20 {
					var err error
					switch i % 5 {
					case 0:
						_, err = add.Call()
					case 1:
						_, err = into.Call(w)
					case 2:
						if lo, hi := read(w); lo.Item() != hi.Item() {
							t.Errorf("an argument is read between two states: %v to %v", lo, hi)
						}
					case 3:
						_, err = one.Call()
					case 4:
						_, err = two.Call()
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
	if lo, hi := w.Min().Item(), w.Max().Item(); lo != 120 || hi != 120 {
		t.Errorf("from %v to %v after 120 additions", lo, hi)
	}
	if g := leaf.Grad(); g.Min().Item() != 181 || g.Max().Item() != 181 {
		t.Errorf("the gradient is from %v to %v, want 181", g.Min(), g.Max())
	}
}

// A call that waits for another one ends with its context, and takes no lock with it.
func TestWaitingCallEndsWithContext(t *testing.T) {
	w := sym.Shared("w", weft.Zeros(10))
	x := sym.Scalar("x", weft.Float32)
	inside, leave := make(chan bool), make(chan bool)
	var first atomic.Bool
	op := &sym.Op{Name: "slow", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
		if first.CompareAndSwap(false, true) {
			close(inside)
			<-leave
		}
		return []*weft.Tensor{x[0].Mul(1)}, nil
	}}
	slow, err := sym.Function(sym.In(x), sym.Out(), sym.Updates{w: w.Add(op.Apply(x)[0])})
	if err != nil {
		t.Fatal(err)
	}
	add, err := sym.Function(sym.In(), sym.Out(), sym.Updates{w: w.Add(1)})
	if err != nil {
		t.Fatal(err)
	}
	read, err := sym.Function(sym.In(), sym.Out(w.Sum()))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "calls", func() {
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := slow.Call(1); err != nil {
				t.Error(err)
			}
		})
		<-inside
		cause := errors.New("enough")
		for _, f := range []*sym.Fn{add, read, slow} {
			args := []any{}
			if f == slow {
				args = append(args, 1)
			}
			ctx, cancel := context.WithCancelCause(context.Background())
			time.AfterFunc(10*time.Millisecond, func() { cancel(cause) })
			if _, err := f.CallContext(ctx, args...); !errors.Is(err, cause) {
				t.Errorf("a call that waits ended with %v", err)
			}
		}
		wg.Go(func() {
			if _, err := add.Call(); err != nil {
				t.Error(err)
			}
		})
		close(leave)
		wg.Wait()
		if out, err := read.Call(); err != nil || out[0].Item() != 20 {
			t.Errorf("%v, %v: want 20", out, err)
		}
	})
}

// Inner calls run if neither they nor the outer call write the shared memory, else they are
// refused. Where two would deadlock, one is refused.
func TestNestedCalls(t *testing.T) {
	if os.Getenv("WEFT_COMPILE") == "off" {
		t.Skip("SKIPPED: with WEFT_COMPILE=off nobody knows what a call uses, and calls inside it run")
	}
	v := sym.Vector("v", weft.Float32)
	w, u := sym.Shared("w", weft.Zeros(1000)), sym.Shared("u", weft.Zeros(1000))
	x := weft.Ones(1000)
	// outer makes a function whose operation calls inner.
	outer := func(inner func() error, out []*sym.Var, updates func(y *sym.Var) sym.Updates) *sym.Fn {
		op := &sym.Op{Name: "inner", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
			if err := inner(); err != nil {
				return nil, err
			}
			return []*weft.Tensor{x[0].Mul(1)}, nil
		}}
		y := op.Apply(v)[0]
		f, err := sym.Function(sym.In(v), sym.Out(append(out, y.Sum())...), updates(y))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	none := func(*sym.Var) sym.Updates { return nil }
	writes := func(s *sym.Var) func(y *sym.Var) sym.Updates {
		return func(y *sym.Var) sym.Updates { return sym.Updates{s: s.Add(y)} }
	}
	call := func(f *sym.Fn, args ...any) func() error {
		return func() error { _, err := f.Call(args...); return err }
	}
	read := outer(func() error { return nil }, []*sym.Var{w.Sum()}, none)
	write := outer(func() error { return nil }, nil, writes(w))
	other := outer(func() error { return nil }, nil, writes(u))
	var self *sym.Fn
	depth := 0
	self = outer(func() error {
		if depth++; depth > 1 {
			return nil
		}
		_, err := self.Call(x)
		return err
	}, nil, writes(w))
	for name, c := range map[string]struct {
		f  *sym.Fn
		ok bool
	}{
		"reads inside reads":          {outer(call(read, x), []*sym.Var{w.Sum()}, none), true},
		"other memory inside a write": {outer(call(other, x), nil, writes(w)), true},
		"reads inside a write":        {outer(call(read, x), nil, writes(w)), false},
		"writes inside reads":         {outer(call(write, x), []*sym.Var{w.Sum()}, none), false},
		"writes inside a write":       {outer(call(write, x), nil, writes(w)), false},
		"itself":                      {self, false},
		"SetValue inside a write":     {outer(func() error { return weft.Try(func() { w.SetValue(1) }) }, nil, writes(w)), false},
		"SetValue of other memory":    {outer(func() error { return weft.Try(func() { u.SetValue(1) }) }, nil, writes(w)), true},
	} {
		within(t, name, func() {
			for range 2 {
				depth = 0
				_, err := c.f.Call(x)
				var e *weft.Error
				switch {
				case c.ok && err != nil:
					t.Errorf("%s: %v", name, err)
				case !c.ok && (!errors.As(err, &e) || !errors.Is(err, lock.ErrInside)):
					t.Errorf("%s: %v, want the error of a call that waits for itself", name, err)
				case !c.ok && !strings.Contains(err.Error(), "for ever"):
					t.Errorf("%s: the error does not say what is wrong: %v", name, err)
				}
			}
			if _, err := write.Call(x); err != nil {
				t.Errorf("%s: afterwards: %v", name, err)
			}
		})
	}
	// Two functions that write w and u, and call each other: some calls are refused, none hangs.
	var f, g *sym.Fn
	f = outer(func() error { _, err := other.Call(x); return err }, nil, writes(w))
	g = outer(func() error { _, err := write.Call(x); return err }, nil, writes(u))
	within(t, "circle", func() {
		var wg sync.WaitGroup
		var done atomic.Int64
		for i := range 16 {
			h := []*sym.Fn{f, g, write, other}[i%4]
			wg.Go(func() {
				for range 30 {
					_, err := h.Call(x)
					if err == nil {
						done.Add(1)
					} else if i%4 > 1 || !errors.Is(err, lock.ErrCircle) {
						t.Errorf("function %d: %v", i%4, err)
					}
				}
			})
		}
		wg.Wait()
		if done.Load() < 240 {
			t.Errorf("%d of 480 calls were done", done.Load())
		}
	})
}

// The first calls of several functions, which trace them, do not disturb one another or later calls.
func TestConcurrentFirstCalls(t *testing.T) {
	for range 60 {
		leaf, other := weft.Ones(300).RequireGrad(), weft.Ones(300).RequireGrad()
		var fs []*weft.Compiled[func() *weft.Tensor]
		for i := range 8 {
			f := func() *weft.Tensor { leaf.Mul(float64(i + 1)).Sum().Backward(); return nil }
			if i%4 == 3 { // another leaf, and a read
				f = func() *weft.Tensor {
					other.Square().Mul(leaf).Sum().Backward()
					other.SetGrad(nil)
					leaf.SetGrad(leaf.Grad().Mul(1))
					return nil
				}
			}
			fs = append(fs, weft.Compile(f))
		}
		var wg sync.WaitGroup
		want := 0.0
		for i, f := range fs {
			if want += 3 * float64(i+1); i%4 == 3 {
				want -= 3 * float64(i)
			}
			wg.Go(func() {
				for range 3 {
					if _, err := f.Call(); err != nil {
						t.Errorf("function %d: %v", i, err)
					}
				}
			})
		}
		wg.Wait()
		if g := leaf.Grad(); g == nil || g.Min().Item() != want || g.Max().Item() != want {
			t.Fatalf("the gradient is %v, want %v", g, want)
		}
	}
}
