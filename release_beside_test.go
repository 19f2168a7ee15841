package weft_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
	"weft/sym"
)

// besides are what one goroutine does with x, a tensor of ones, while another one releases it. Each
// returns numbers that must all be 1.
var besides = map[string]func(x *weft.Tensor) func() []float32{
	"an operation": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return weft.Data[float32](x.Mul(2).Sub(1)) }
	},
	"an operation of a view": func(x *weft.Tensor) func() []float32 {
		v := x.Slice(weft.Range(5, x.Size()))
		return func() []float32 { return weft.Data[float32](v.Mul(3).Sub(2)) }
	},
	"a transpose": func(x *weft.Tensor) func() []float32 {
		v := x.Reshape(256, -1).T()
		return func() []float32 { return weft.Data[float32](v.Contiguous()) }
	},
	"a sum": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return []float32{float32(x.Mean().Item())} }
	},
	"a product": func(x *weft.Tensor) func() []float32 {
		v := x.Slice(weft.Range(0, 10000)).Reshape(100, 100)
		return func() []float32 { return weft.Data[float32](v.MatMul(v).Div(100)) }
	},
	"a sort": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { y, _ := x.Sort(0, weft.SortOpts{}); return weft.Data[float32](y) }
	},
	"a formula": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return weft.Data[float32](weft.Expr("3*a-2*a*a", x)) }
	},
	"a lazy chain": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return weft.Data[float32](x.Lazy().Mul(2).Add(3).Sub(4)) }
	},
	"a scope": func(x *weft.Tensor) func() []float32 {
		s := weft.NewScope()
		y := s.Track(x).Mul(1)
		return func() []float32 {
			go func() { _ = weft.Try(s.Close) }()
			return weft.Data[float32](y.Mul(2).Sub(1))
		}
	},
	"a compiled function": func(x *weft.Tensor) func() []float32 {
		c := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return a.Add(x).Div(2) })
		arg := weft.Ones(x.Size())
		must(c.Call(arg)) // makes the program
		return func() []float32 { return weft.Data[float32](must(c.Call(arg))) }
	},
	"an argument of a compiled function": func(x *weft.Tensor) func() []float32 {
		c := weft.Compile(func(a *weft.Tensor) *weft.Tensor { return a.Square().CumSum(0).Sub(a.CumSum(0)).Add(a) })
		must(c.Call(weft.Ones(x.Size())))
		return func() []float32 { return weft.Data[float32](must(c.Call(x))) }
	},
	"a function that updates": func(x *weft.Tensor) func() []float32 {
		w := sym.Shared("w", x)
		f, err := sym.Function(sym.In(), sym.Out(w.Mul(2).Sub(1)), sym.Updates{w: w.Square()})
		if err != nil {
			panic(err)
		}
		if _, err := f.Call(); err != nil { // makes the program
			panic(err)
		}
		return func() []float32 {
			out, err := f.Call()
			if err != nil {
				panic(err)
			}
			return weft.Data[float32](out[0])
		}
	},
	"Backward": func(x *weft.Tensor) func() []float32 {
		p := weft.Ones(x.Size()).RequireGrad()
		y := p.Mul(x).Mul(x).Sum()
		return func() []float32 { y.Backward(); return weft.Data[float32](p.Grad()) }
	},
	"an optimizer": func(x *weft.Tensor) func() []float32 {
		x.RequireGrad()
		x.Mul(0).Sum().Backward()
		o := optim.NewAdam(func(yield func(string, *weft.Tensor) bool) { yield("x", x) }, optim.AdamOpts{})
		return func() []float32 { o.Step(); return weft.Data[float32](x.Detach()) }
	},
	"a write": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return weft.Data[float32](x.MulAssign(x)) }
	},
	"a fill": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { return weft.Data[float32](x.Fill(1)) }
	},
	"Data": func(x *weft.Tensor) func() []float32 { return func() []float32 { return weft.Data[float32](x) } },
	"CopyTo": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { b := make([]float32, x.Size()); weft.CopyTo(x, b); return b }
	},
	"Item": func(x *weft.Tensor) func() []float32 {
		v := x.Slice(weft.Index(7))
		return func() []float32 { return []float32{float32(v.Item())} }
	},
	"Borrow": func(x *weft.Tensor) func() []float32 {
		return func() (b []float32) { weft.Borrow(x, func(d []float32) { b = slices.Clone(d) }); return b }
	},
	"a digest": func(x *weft.Tensor) func() []float32 {
		want := weft.Digest(x)
		return func() []float32 {
			if weft.Digest(x) != want {
				return []float32{0}
			}
			return nil
		}
	},
	"printing": func(x *weft.Tensor) func() []float32 {
		return func() []float32 { fmt.Fprint(io.Discard, x); return nil }
	},
	"a file": func(x *weft.Tensor) func() []float32 {
		return func() []float32 {
			if err := npy.Write(io.Discard, x); err != nil {
				panic(err)
			}
			if err := safetensors.Write(io.Discard, map[string]*weft.Tensor{"x": x}, nil); err != nil {
				panic(err)
			}
			return nil
		}
	},
	"a flush": func(x *weft.Tensor) func() []float32 {
		d := weft.Track(x)
		to := weft.Ones(x.Size())
		return func() []float32 {
			if _, err := d.Flush(to.Sink()); err != nil {
				panic(err)
			}
			return weft.Data[float32](to)
		}
	},
}

func must(t *weft.Tensor, err error) *weft.Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

// besideSize makes what is done take some time.
const besideSize = 1 << 17

// beside runs one of besides beside a release, and says what is wrong.
func beside(do func(x *weft.Tensor) func() []float32, wait time.Duration) (fault string) {
	x := weft.Ones(besideSize)
	f := do(x)
	var wg sync.WaitGroup
	begin := make(chan bool)
	wg.Go(func() {
		defer func() {
			var e *weft.Error
			if r := recover(); r == nil {
			} else if err, ok := r.(error); !ok || !errors.As(err, &e) {
				fault = fmt.Sprintf("panics with %T %v", r, r)
			}
		}()
		<-begin
		for i, v := range f() {
			if v != 1 {
				fault = fmt.Sprintf("element %d is %v, want 1", i, v)
				return
			}
		}
	})
	wg.Go(func() {
		<-begin
		for end := time.Now().Add(wait); time.Now().Before(end); {
		}
		_ = weft.Try(x.Release) // an error where it is lent
		for range 3 {
			weft.FullOf(weft.Float32, 77, besideSize) // takes the memory
		}
	})
	close(begin)
	wg.Wait()
	return fault
}

// Memory that another goroutine releases is there for who uses it: either the right result comes,
// or an *Error. Runs in a process of its own.
func TestReleaseBesideUse(t *testing.T) {
	if flag.Arg(0) == "beside" {
		r := rand.New(rand.NewPCG(1, 2))
		for name, do := range besides {
			fmt.Println(name)                                    // the last line says where the process ended
			_ = weft.Try(func() { do(weft.Ones(besideSize))() }) // makes plans and kernels
			f := do(weft.Ones(besideSize))
			start := time.Now()
			_ = weft.Try(func() { f() })
			takes := time.Since(start)
			for range 20 {
				if fault := beside(do, time.Duration(r.Int64N(int64(takes)))); fault != "" {
					fmt.Printf("FAULT %s: %s\n", name, fault)
					break
				}
			}
		}
		fmt.Println("all done")
		os.Exit(0)
	}
	runChild(t, "TestReleaseBesideUse", "beside")
}
