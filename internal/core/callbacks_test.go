package core_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/data"
	"weft/internal/core"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/npy"
	"weft/optim"
	"weft/ragged"
	"weft/safetensors"
	"weft/sym"
)

// What functions of the user do while weft calls them.

// A stage is what a function of the user finds around it.
type stage struct {
	x, w    *weft.Tensor // an argument of ones, and memory of threes that functions capture
	leaf    *weft.Tensor // of ones, with a gradient
	inScope *weft.Tensor // twos, computed in scope
	scope   *weft.Scope
	tracked *weft.Tracked // of w
	shared  *sym.Var      // w
	add     *sym.Fn       // adds 1 to w
	read    *weft.Compiled[func() *weft.Tensor]
	again   func() // the operation around the function, once more
}

// stageSize makes memory come from the pool, which gives it to others.
const stageSize = 20000

func newStage() *stage {
	n := stageSize
	s := &stage{x: weft.Ones(n), w: weft.FullOf(weft.Float32, 3, n), leaf: weft.Ones(n).RequireGrad(), scope: weft.NewScope()}
	s.leaf.Sum().Backward()
	s.inScope = s.scope.Track(weft.Ones(n)).Mul(2)
	s.tracked = weft.Track(s.w)
	s.shared = sym.Shared("w", s.w)
	add, err := sym.Function(sym.In(), sym.Out(), sym.Updates{s.shared: s.shared.Add(1)})
	if err != nil {
		panic(err)
	}
	s.add = add
	w := s.w
	s.read = weft.Compile(func() *weft.Tensor { return w.Sum() })
	return s
}

// writerFunc is an io.Writer and io.WriterAt that calls a function.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error)              { f(); return len(p), nil }
func (f writerFunc) WriteAt(p []byte, off int64) (int, error) { f(); return len(p), nil }

// examples are a data set of rows of x.
type examples struct {
	x   *weft.Tensor
	get func()
}

func (d examples) Len() int { return 10 }
func (d examples) Get(i int) (x, y *weft.Tensor, err error) {
	x = d.x.Slice(weft.Range(i*100, i*100+100))
	if i == 5 {
		d.get()
	}
	return x, nil, nil
}

var callbackKernels = kernel.MustParse(`package p
import "weft/kernel"
func S(a kernel.Near1[float32]) float32 { return a.At(-1) + a.At(1) }`)

// ownOp is an operation of package sym that calls f and returns its argument.
func ownOp(f func()) func(x *sym.Var) *sym.Var {
	op := &sym.Op{Name: "own", Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) {
		f()
		return []*weft.Tensor{x[0].Mul(1)}, nil
	}}
	return func(x *sym.Var) *sym.Var { return op.Apply(x)[0] }
}

// called calls a function of package sym with s.x.
func (s *stage) called(y func(v *sym.Var) *sym.Var, u sym.Updates) *weft.Tensor {
	v := sym.Vector("v", weft.Float32)
	f, err := sym.Function(sym.In(v), sym.Out(y(v)), u)
	if err != nil {
		panic(err)
	}
	out, err := f.Call(s.x)
	if err != nil {
		panic(err)
	}
	return out[0]
}

// sites are the places at which weft calls functions of the user. Each calls f, once or several
// times, and returns a result whose elements are all of one value, or nil.
var sites = map[string]func(s *stage, f func()) (*weft.Tensor, float64){
	"an operation of a function that updates": func(s *stage, f func()) (*weft.Tensor, float64) {
		v := sym.Vector("v", weft.Float32)
		fn, err := sym.Function(sym.In(v), sym.Out(v.Add(1)), sym.Updates{s.shared: s.shared.Add(ownOp(f)(v))})
		if err != nil {
			panic(err)
		}
		out, err := fn.Call(s.x)
		if err != nil {
			panic(err)
		}
		return out[0], 2
	},
	"an operation of a function that reads": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.called(func(v *sym.Var) *sym.Var { return ownOp(f)(v.Mul(2)).Add(v).Add(s.shared) }, nil), 6
	},
	"an operation of an argument": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.called(func(v *sym.Var) *sym.Var { return ownOp(f)(v).Add(v.Exp().Log()) }, nil), 2
	},
	"an operation in a loop": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.called(func(v *sym.Var) *sym.Var {
			return sym.Scan(sym.ScanOpts{Steps: new(3), Initial: []any{v}}, func(p sym.Step) sym.Next {
				return sym.Next{H: []*sym.Var{ownOp(f)(p.H[0]).Add(s.shared)}}
			}).Last[0]
		}, nil), 10
	},
	"an operation on one side": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.called(func(v *sym.Var) *sym.Var {
			return sym.IfElse(v.Sum().Gt(0), func() []*sym.Var { return []*sym.Var{ownOp(f)(v).Add(s.shared)} }, func() []*sym.Var { return []*sym.Var{v.Exp()} })[0]
		}, nil), 4
	},
	"types of an operation": func(s *stage, f func()) (*weft.Tensor, float64) {
		op := &sym.Op{Name: "own", Results: func(in []sym.Type) []sym.Type { f(); return in[:1] },
			Forward: func(x []*weft.Tensor) ([]*weft.Tensor, error) { return []*weft.Tensor{x[0].Mul(1)}, nil }}
		return s.called(func(v *sym.Var) *sym.Var { return op.Apply(v)[0].Add(s.shared) }, nil), 4
	},
	"a printed value": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.called(func(v *sym.Var) *sym.Var { return sym.Print(v, "v", writerFunc(f)).Add(s.shared) }, nil), 4
	},
	"Forward of a Func": func(s *stage, f func()) (*weft.Tensor, float64) {
		own := &weft.Func{Name: "own", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { f(); return x[0].Mul(2) },
			Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{dy.Mul(2)} }}
		return own.Apply(s.w.Add(s.x)), 8
	},
	"Backward of a Func": func(s *stage, f func()) (*weft.Tensor, float64) {
		p := weft.Ones(stageSize).RequireGrad()
		own := &weft.Func{Name: "own", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
			Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { f(); return []*weft.Tensor{dy.Mul(2)} }}
		own.Apply(p.Mul(s.w)).Mul(s.x).Sum().Backward()
		return p.Grad(), 6
	},
	"Watch": func(s *stage, f func()) (*weft.Tensor, float64) {
		w := s.w
		c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Mul(w).Exp().Log().Add(w) })
		y, err := c.Debug(weft.DebugOpts{Watch: func(weft.DebugStep) { f() }}).Call(s.x)
		if err != nil {
			panic(err)
		}
		return y.Round(), 6
	},
	"Watch of a function that updates": func(s *stage, f func()) (*weft.Tensor, float64) {
		w := s.w
		c := weft.Compile(func(x *weft.Tensor) *weft.Tensor { w.AddAssign(x); return w.Mul(x) })
		y, err := c.Debug(weft.DebugOpts{Watch: func(weft.DebugStep) { f() }}).Call(s.x)
		if err != nil {
			panic(err)
		}
		return y, 4
	},
	"a traced function": func(s *stage, f func()) (*weft.Tensor, float64) {
		w := s.w
		y, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { y := x.Add(w); f(); return y.Mul(w) }).Call(s.x)
		if err != nil {
			panic(err)
		}
		return y, 12
	},
	"BorderFunc": func(s *stage, f func()) (*weft.Tensor, float64) {
		return callbackKernels.Func("S").Stencil(s.x, kernel.StencilOpts{BorderFunc: func(i, n int) int { f(); return 0 }}), 2
	},
	"BorderFunc with Out": func(s *stage, f func()) (*weft.Tensor, float64) {
		callbackKernels.Func("S").Stencil(s.x, kernel.StencilOpts{Out: []*weft.Tensor{s.w}, BorderFunc: func(i, n int) int { f(); return 0 }})
		return s.w, 2
	},
	"Until": func(s *stage, f func()) (*weft.Tensor, float64) {
		out, _ := callbackKernels.Func("S").Iterate(3, s.x, kernel.IterateOpts{StencilOpts: kernel.StencilOpts{Border: kernel.Wrap}, Until: func(int, *weft.Tensor, *weft.Tensor) bool { f(); return false }})
		return out[0], 8
	},
	"Update": func(s *stage, f func()) (*weft.Tensor, float64) {
		return s.w.Update(func(t *weft.Tensor) *weft.Tensor { y := t.Mul(s.x); f(); return y }), 3
	},
	"Apply of a list": func(s *stage, f func()) (*weft.Tensor, float64) {
		l := ragged.FromOffsets(s.x, weft.FromSlice([]int64{0, 5, stageSize}))
		return l.Apply(func(rows *weft.Tensor) *weft.Tensor { y := rows.Add(s.w); f(); return y.Mul(1) }).Data(), 4
	},
	"a sink": func(s *stage, f func()) (*weft.Tensor, float64) {
		s.w.Fill(4)
		if _, err := s.tracked.Flush(writerFunc(f)); err != nil {
			panic(err)
		}
		return s.w.Mul(1), 4
	},
	"a sink that is measured": func(s *stage, f func()) (*weft.Tensor, float64) {
		if _, err := s.tracked.Measure(writerFunc(f)); err != nil {
			panic(err)
		}
		return nil, 0
	},
	"Borrow": func(s *stage, f func()) (*weft.Tensor, float64) {
		weft.Borrow(s.w, func(b []float32) {
			f()
			for i := range b {
				b[i] = 5
			}
		})
		return s.w.Mul(1), 5
	},
	"BorrowGrad": func(s *stage, f func()) (*weft.Tensor, float64) {
		var y *weft.Tensor
		weft.BorrowGrad(s.leaf, func(g *weft.Tensor) { f(); y = g.Mul(1) })
		return y, 1
	},
	"a data set": func(s *stage, f func()) (*weft.Tensor, float64) {
		for b, err := range data.NewLoader(examples{s.x, f}, data.LoaderOpts{Batch: new(10)}).Batches(context.Background()) {
			if err != nil {
				panic(err)
			}
			return b.X.Mul(2), 2
		}
		return nil, 0
	},
	"parameters": func(s *stage, f func()) (*weft.Tensor, float64) {
		o := optim.NewSGD(params(s, f), optim.SGDOpts{LR: new(1.0)})
		o.Step()
		o.ZeroGrad()
		return nil, 0
	},
	"the closure of LBFGS": func(s *stage, f func()) (*weft.Tensor, float64) {
		o := optim.NewLBFGS(params(s, func() {}), optim.LBFGSOpts{})
		o.Step(func() *weft.Tensor {
			s.leaf.SetGrad(nil)
			loss := s.leaf.Sub(s.w).Square().Mean()
			f()
			loss.Backward()
			return loss
		})
		return nil, 0
	},
	"a function that is mapped": func(s *stage, f func()) (*weft.Tensor, float64) {
		return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { y := x[0].Add(1); f(); return y.Mul(2) })(s.x.Add(s.w)), 10
	},
	"a function that is differentiated": func(s *stage, f func()) (*weft.Tensor, float64) {
		_, pull := weft.VJP(func(x *weft.Tensor) *weft.Tensor { y := x.Mul(s.w); f(); return y.Mul(2) }, s.x)
		return pull(weft.Ones(stageSize)), 6
	},
	"a file": func(s *stage, f func()) (*weft.Tensor, float64) {
		if err := npy.Write(writerFunc(f), s.w); err != nil {
			panic(err)
		}
		return nil, 0
	},
	"a file of several": func(s *stage, f func()) (*weft.Tensor, float64) {
		if err := safetensors.Write(writerFunc(f), map[string]*weft.Tensor{"x": s.x, "w": s.w}, nil); err != nil {
			panic(err)
		}
		return nil, 0
	},
	"printing": func(s *stage, f func()) (*weft.Tensor, float64) {
		fmt.Fprint(writerFunc(f), s.w.Reshape(100, 200), s.x)
		return nil, 0
	},
}

func params(s *stage, f func()) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) {
		f()
		yield("leaf", s.leaf)
	}
}

// releases are ways in which memory is given back.
var releases = map[string]func(s *stage){
	"the argument":    func(s *stage) { s.x.Release() },
	"captured memory": func(s *stage) { s.w.Release() },
	"both":            func(s *stage) { s.x.Release(); s.w.Release() },
	"views":           func(s *stage) { s.x.Reshape(-1).Release(); s.w.Detach().Release() },
	"a leaf and its gradient": func(s *stage) {
		g := s.leaf.Grad()
		s.leaf.Release()
		if g != nil {
			g.Release()
		}
	},
	"twice":             func(s *stage) { s.w.Release(); s.w.Release() },
	"what Borrow lends": func(s *stage) { weft.Borrow(s.x, func([]float32) { s.x.Release() }) },
	"what a scope holds": func(s *stage) {
		y := s.scope.Track(s.x).Add(s.scope.Track(s.w))
		s.scope.Close()
		y.Sum()
	},
	"by another goroutine": func(s *stage) {
		var wg sync.WaitGroup
		wg.Go(func() { _ = weft.Try(s.x.Release) }) // an error where it is lent
		wg.Go(func() { _ = weft.Try(s.w.Release) })
		wg.Wait()
	},
}

// comings are ways to come back into weft.
var comings = map[string]func(s *stage){
	"the same again": func(s *stage) { s.again() },
	"Flush": func(s *stage) {
		if _, err := s.tracked.Flush(writerFunc(func() {})); err != nil {
			panic(err)
		}
	},
	"Measure":  func(s *stage) { _, _ = s.tracked.Measure(writerFunc(func() {})) },
	"Pending":  func(s *stage) { s.tracked.Pending() },
	"Stop":     func(s *stage) { s.tracked.Stop() },
	"Track":    func(s *stage) { weft.Track(s.x); weft.Track(s.w) },
	"a write":  func(s *stage) { s.w.AddAssign(1) },
	"SetValue": func(s *stage) { s.shared.SetValue(7) },
	"an update": func(s *stage) {
		if _, err := s.add.Call(); err != nil {
			panic(err)
		}
	},
	"a reading call": func(s *stage) {
		if _, err := s.read.Call(); err != nil {
			panic(err)
		}
	},
	"Borrow":   func(s *stage) { weft.Borrow(s.w, func(b []float32) { b[0]++ }) },
	"Backward": func(s *stage) { s.leaf.Mul(s.w).Sum().Backward() },
	"an optimizer": func(s *stage) {
		optim.NewSGD(params(s, func() {}), optim.SGDOpts{LR: new(1.0)}).Step()
	},
	"BorrowGrad": func(s *stage) { weft.BorrowGrad(s.leaf, func(g *weft.Tensor) { g.MulAssign(2) }) },
	"Compile": func(s *stage) {
		w := s.w
		if _, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { w.AddAssign(x); return w.Sum() }).Call(weft.Ones(stageSize)); err != nil {
			panic(err)
		}
	},
	"Lazy":                     func(s *stage) { s.w.Lazy().Mul(2).Add(1).Sum().Item() },
	"a draw":                   func(s *stage) { weft.Rand(10); weft.Seed(3) },
	"a panic":                  func(s *stage) { panic("mine") },
	"the end of the goroutine": func(s *stage) { runtime.Goexit() },
	"a collection":             func(s *stage) { runtime.GC() },
}

// outcome runs a site with an action of its function on a goroutine of its own. It returns "" for a
// right result, "typed" for an *Error, "left" if the function ended the goroutine, else the fault.
func outcome(s *stage, site, do string, act func(s *stage)) string {
	ended := make(chan string, 1)
	go func() {
		end := "left"
		defer func() {
			if r := recover(); r != nil {
				err, _ := r.(error)
				var e *weft.Error
				switch {
				case errors.As(err, &e):
					end = "typed"
				case r == "mine":
					end = "left"
				default:
					end = fmt.Sprintf("panics with %T %v", r, r)
				}
			}
			ended <- end
		}()
		depth := 0
		var y *weft.Tensor
		var want float64
		s.again = func() { sites[site](s, func() {}) }
		y, want = sites[site](s, func() {
			if depth++; depth > 1 { // only once
				return
			}
			act(s)
			for range 3 { // takes memory that was given back
				weft.FullOf(weft.Float32, 77, stageSize)
			}
		})
		end = ""
		if y == nil || act == nil {
			return
		}
		if _, ok := releases[do]; !ok {
			return // it may have changed what the site reads
		}
		if lo, hi := y.Min().Item(), y.Max().Item(); lo != want || hi != want {
			end = fmt.Sprintf("gives elements from %v to %v, want %v", lo, hi, want)
		}
	}()
	select {
	case end := <-ended:
		return end
	case <-time.After(20 * time.Second):
		return "hangs"
	}
}

// afterwards says whether memory that nobody released works as it did: nothing holds a lock, a
// monitor, a trace or a use count.
func afterwards(s *stage) string {
	ended := make(chan string, 1)
	go func() {
		err := weft.Try(func() {
			s.w.Fill(1)
			if _, err := s.add.Call(); err != nil {
				panic(err)
			}
			if y, err := s.read.Call(); err != nil || y.Item() != 2*stageSize {
				panic(fmt.Sprint("reads ", y, err))
			}
			s.shared.SetValue(3)
			weft.Track(s.w).Flush(writerFunc(func() {}))
			s.leaf.SetGrad(nil)
			s.leaf.Sum().Backward()
		})
		if err != nil {
			ended <- fmt.Sprint("fails: ", err)
			return
		}
		ended <- ""
	}()
	select {
	case end := <-ended:
		if end != "" {
			return end
		}
	case <-time.After(20 * time.Second):
		return "hangs"
	}
	for name, t := range map[string]*weft.Tensor{"x": s.x, "w": s.w, "leaf": s.leaf, "inScope": s.inScope} {
		if !unused(t) {
			return "memory of " + name + " is in use"
		}
	}
	return ""
}

// unused claims the memory of t, which succeeds while no use and no call is counted. Goroutines of a
// loader may end late.
func unused(t *weft.Tensor) bool {
	for range 200 {
		if (*core.Tensor)(t).View().Store.Lock.Claim() {
			return true
		}
		time.Sleep(10 * time.Millisecond)
	}
	return false
}

// Memory that a user function releases while weft calls it stays until the call returns. The call
// gives the right result or an *Error. Each table runs in a process of its own.
func TestReleaseInsideCallbacks(t *testing.T) {
	tables := map[string]map[string]func(s *stage){"releases": releases, "comings": comings}
	if table := tables[flag.Arg(0)]; table != nil {
		for site := range sites {
			for do, act := range table {
				fmt.Printf("%s: %s\n", site, do) // the last line says where the process ended
				s := newStage()
				if site == "a data set" && do == "the end of the goroutine" {
					continue // the goroutine is the loader's
				}
				end := outcome(s, site, do, act)
				if end != "" && end != "typed" && end != "left" || end == "left" && !slices.Contains([]string{"a panic", "the end of the goroutine"}, do) {
					fmt.Printf("FAULT %s, which does %s: %s\n", site, do, end)
					if end == "hangs" {
						os.Exit(1)
					}
				}
				if flag.Arg(0) == "releases" {
					continue
				}
				if end := afterwards(s); end != "" {
					fmt.Printf("FAULT after %s, which does %s: %s\n", site, do, end)
				}
			}
		}
		fmt.Println("all done")
		os.Exit(0)
	}
	for name := range tables {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runChild(t, "TestReleaseInsideCallbacks", name)
		})
	}
}

// fail panics with an error, as operations do.
func fail(err error) {
	if err != nil {
		panic(&weft.Error{Err: err})
	}
}

// An operation that fails while it reads memory ends its use of it.
func TestMemoryIsUnusedAfterAnError(t *testing.T) {
	const n = stageSize
	floats := func() *weft.Tensor { return weft.Ones(n) }
	ints := func() *weft.Tensor { return weft.FullOf(weft.Int64, 3, n) }
	for name, c := range map[string]struct {
		x   *weft.Tensor
		try func(x *weft.Tensor)
	}{
		"ItemInt of a float":       {floats(), func(x *weft.Tensor) { x.At(7).ItemInt() }},
		"ItemInt beyond int64":     {weft.FullOf(weft.Uint64, uint64(1)<<63, n), func(x *weft.Tensor) { x.At(7).ItemInt() }},
		"Item of a complex number": {weft.FullOf(weft.Complex64, 1i, n), func(x *weft.Tensor) { x.At(7).Item() }},
		"Item of several":          {floats(), func(x *weft.Tensor) { x.Item() }},
		"At":                       {floats(), func(x *weft.Tensor) { weft.At[float32](x, n) }},
		"At beside what is deferred": {floats(), func(x *weft.Tensor) {
			y := weft.Ones(n).Lazy().Mul(2)
			weft.At[float32](x, 3)
			runtime.KeepAlive(y)
			weft.At[float32](x, n)
		}},
		"indices":                    {ints(), func(x *weft.Tensor) { weft.Ones(2, 3).IndexSelect(0, x) }},
		"a table of indices":         {ints(), func(x *weft.Tensor) { weft.Ones(2, 3).Gather(0, x.Reshape(-1, 2)) }},
		"targets":                    {ints(), func(x *weft.Tensor) { weft.CrossEntropy(weft.Ones(n, 2), x) }},
		"offsets":                    {ints(), func(x *weft.Tensor) { ragged.FromOffsets(weft.Ones(3), x.SubAssign(9)) }},
		"sizes":                      {ints(), func(x *weft.Tensor) { ragged.FromSizes(weft.Ones(3), x.MulAssign(-1)) }},
		"counts":                     {ints(), func(x *weft.Tensor) { x.RepeatInterleave(0, x.MulAssign(-1)) }},
		"BinCount":                   {ints(), func(x *weft.Tensor) { x.SubAssign(9).BinCount(nil, 0) }},
		"probabilities":              {floats(), func(x *weft.Tensor) { weft.NewGenerator(1).Multinomial(x.MulAssign(-1), 2) }},
		"CopyTo":                     {floats(), func(x *weft.Tensor) { weft.CopyTo(x, make([]float32, 3)) }},
		"Assign of another shape":    {floats(), func(x *weft.Tensor) { x.Assign(weft.Ones(3)) }},
		"a number that does not fit": {weft.FullOf(weft.Int8, 3, n), func(x *weft.Tensor) { x.Fill(1000) }},
		"JSON of NaN":                {weft.FullOf(weft.Float32, math.NaN(), n), func(x *weft.Tensor) { _, err := x.MarshalJSON(); fail(err) }},
		"a file that fails":          {floats(), func(x *weft.Tensor) { fail(npy.Write(full{}, x)) }},
		"a kernel": {floats(), func(x *weft.Tensor) {
			callbackKernels.Func("S").Stencil(x, kernel.StencilOpts{Out: []*weft.Tensor{weft.Ones(3)}})
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := tensortest.Try(func() { c.try(c.x) }); err == nil {
				t.Error("no error")
			}
			if !unused(c.x) {
				t.Error("the memory is in use")
			}
		})
	}
}

// runChild runs a test in a process of its own, with one argument. Each line of its output that
// begins with FAULT is an error, and it must end with "all done".
func runChild(t *testing.T, test, arg string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+test+"$", arg)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	lines := strings.Split(out.String(), "\n")
	for _, l := range lines {
		if fault, ok := strings.CutPrefix(l, "FAULT "); ok {
			t.Error(fault)
		}
	}
	if err != nil || !slices.Contains(lines, "all done") {
		t.Errorf("the process ended with %v:\n%s", err, strings.Join(lines[max(len(lines)-40, 0):], "\n"))
	}
}

// full is a file that takes nothing more.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }
