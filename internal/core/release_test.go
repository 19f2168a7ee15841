package core_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/tensortest"
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

// Every method refuses a receiver and an argument whose memory was given back, but
// for those that do not look at elements.
func TestMethodsRefuseReleased(t *testing.T) {
	typ := reflect.TypeFor[*weft.Tensor]()
	looksAway := map[string]bool{"Shape": true, "Strides": true, "Dim": true, "Rank": true, "Size": true, "DType": true, "Device": true, "IsContiguous": true,
		"RequireGrad": true, "RequiresGrad": true, "IsLeaf": true, "Grad": true, "Release": true,
		"Contiguous": true,                 // t itself
		"LogValue":   true,                 // says so
		"Format":     true, "String": true, // the formatter shows the panic
	}
	index := weft.FromSlice([]int64{1, 0})
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if looksAway[m.Name] {
			continue
		}
		for at := range m.Type.NumIn() {
			takes := func(typ reflect.Type) bool {
				return typ == reflect.TypeFor[*weft.Tensor]() || typ == reflect.TypeFor[any]()
			}
			if !takes(m.Type.In(at)) || m.Name == "SetGrad" && at == 0 {
				continue
			}
			var args []reflect.Value
			for k := range m.Type.NumIn() {
				in := m.Type.In(k)
				var v reflect.Value
				switch {
				case m.Type.IsVariadic() && k == m.Type.NumIn()-1:
					v = map[string]reflect.Value{"Reshape": reflect.ValueOf([]int{4}), "Permute": reflect.ValueOf([]int{1, 0}), "Expand": reflect.ValueOf([]int{2, 2}),
						"Pad": reflect.ValueOf([]int{0, 0, 0, 0})}[m.Name]
					if !v.IsValid() {
						v = reflect.Zero(in)
					}
				case takes(in) && k == 1 && (m.Name == "IndexSelect" || m.Name == "IndexAdd"):
					v = reflect.ValueOf(index.Clone())
				case takes(in) && k == 2 && (m.Name == "IndexSelect" || m.Name == "IndexAdd"):
					v = reflect.ValueOf(index.Clone())
				case takes(in) && k == 2 && (m.Name == "Gather" || m.Name == "TakeAlongAxis" || strings.HasPrefix(m.Name, "Scatter")):
					v = reflect.ValueOf(weft.ZerosOf(weft.Int64, 2, 2))
				case takes(in) && m.Name == "Linear" && k == 2:
					v = reflect.ValueOf(weft.Ones(2))
				case takes(in) && m.Name == "MaskSelect" && k == 1:
					v = reflect.ValueOf(weft.OnesOf(weft.Bool, 2, 2))
				case takes(in) && strings.HasPrefix(m.Name, "Conv"):
					v = reflect.ValueOf(weft.Ones(1, 1, 1, 1))
					if m.Name == "Conv1d" {
						v = reflect.ValueOf(weft.Ones(1, 1, 1))
					}
					if k == 2 {
						v = reflect.ValueOf(weft.Ones(1))
					}
				case takes(in) && strings.HasSuffix(m.Name, "Pool2d"):
					v = reflect.ValueOf(weft.Ones(1, 1, 2, 2))
				case takes(in) && m.Name == "SetGrad" && k == 0:
					v = reflect.ValueOf(weft.Ones(2, 2).RequireGrad())
				case takes(in) && (strings.HasPrefix(m.Name, "Bit") || m.Name == "Shl" || m.Name == "Shr" || m.Name == "PopCount" || m.Name == "GCD" || m.Name == "LCM"):
					v = reflect.ValueOf(weft.OnesOf(weft.Uint8, 2, 2))
				case takes(in):
					v = reflect.ValueOf(weft.Ones(2, 2))
				case in == reflect.TypeFor[weft.DType]():
					v = reflect.ValueOf(weft.Float64)
				case in == reflect.TypeFor[func(*weft.Tensor) *weft.Tensor]():
					v = reflect.ValueOf((*weft.Tensor).Neg)
				case in == reflect.TypeFor[func(*weft.Tensor)]():
					v = reflect.ValueOf(func(*weft.Tensor) {})
				case in == reflect.TypeFor[weft.PoolOpts]():
					v = reflect.ValueOf(weft.PoolOpts{Window: [2]int{1, 1}})
				case m.Name == "Dropout" && in.Kind() == reflect.Float64:
					v = reflect.ValueOf(0.5)
				case in == reflect.TypeFor[*weft.Generator]():
					v = reflect.ValueOf(weft.NewGenerator(1))
				default:
					v = reflect.Zero(in)
				}
				args = append(args, v)
			}
			gone := args[at].Interface().(*weft.Tensor)
			gone.Release()
			call := m.Func.Call
			if m.Type.IsVariadic() {
				call = m.Func.CallSlice
			}
			err := weft.Try(func() {
				if out := call(args); m.Name == "MarshalJSON" {
					panic(out[1].Interface())
				}
			})
			var e *weft.Error
			if !errors.As(err, &e) || e.Kind != weft.Misuse || !strings.Contains(e.Error(), "released") {
				t.Errorf("%s with argument %d released: %v", m.Name, at, err)
			}
		}
	}
}

// So do functions, optimizers and files.
func TestFunctionsRefuseReleased(t *testing.T) {
	gone := func(shape ...int) *weft.Tensor {
		x := weft.Ones(shape...)
		x.Release()
		return x
	}
	w := weft.Ones(2).RequireGrad()
	fused := weft.Func{Name: "own", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Mul(2) },
		Backward: func(_ *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{gone(2)} }}
	keeps := weft.Func{Name: "keeps", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Save(gone(2)); return x[0].Mul(2) },
		Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor { return []*weft.Tensor{c.Saved(0)} }}
	for name, f := range map[string]func() error{
		"seed": func() error {
			return weft.Try(func() { weft.Grad(w.Mul(2), []*weft.Tensor{w}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}}) })
		},
		"seed of backward": func() error {
			return weft.Try(func() {
				weft.BackwardWith([]*weft.Tensor{w.Mul(2)}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}})
			})
		},
		"seed of the input itself": func() error {
			return weft.Try(func() { weft.Grad(w, []*weft.Tensor{w}, weft.GradOpts{Seeds: []*weft.Tensor{gone(2)}}) })
		},
		"saved value":  func() error { y := w.Exp(); s := y.Sum(); y.Release(); return weft.Try(s.Backward) },
		"own gradient": func() error { return weft.Try(func() { fused.Apply(w).Sum().Backward() }) },
		"own saved":    func() error { return weft.Try(func() { keeps.Apply(w).Sum().Backward() }) },
		"argument":     func() error { return weft.Try(func() { fused.Apply(gone(2)) }) },
		"leaf's gradient": func() error {
			x := weft.Ones(2).RequireGrad()
			x.Sum().Backward()
			x.Grad().Release()
			return weft.Try(x.Sum().Backward)
		},
		"optimizer": func() error {
			x := weft.Ones(2).RequireGrad()
			o := optim.NewSGD(func(yield func(string, *weft.Tensor) bool) { yield("x", x) }, optim.SGDOpts{LR: new(1.0)})
			x.Sum().Backward()
			x.Grad().Release()
			return weft.Try(func() { o.Step() })
		},
		"data":        func() error { return weft.Try(func() { weft.Data[float32](gone(2)) }) },
		"copyto":      func() error { return weft.Try(func() { weft.CopyTo(gone(2), make([]float32, 2)) }) },
		"borrow":      func() error { return weft.Try(func() { weft.Borrow(gone(2), func([]float32) {}) }) },
		"digest":      func() error { return weft.Try(func() { weft.Digest(gone(2)) }) },
		"cat":         func() error { return weft.Try(func() { weft.Cat([]*weft.Tensor{w, gone(2)}, 0) }) },
		"stack":       func() error { return weft.Try(func() { weft.Stack([]*weft.Tensor{w, gone(2)}, 0) }) },
		"where":       func() error { return weft.Try(func() { weft.Where(gone(2), 1, 2) }) },
		"expr":        func() error { return weft.Try(func() { weft.Expr("2*a", gone(2)) }) },
		"entropy":     func() error { return weft.Try(func() { weft.CrossEntropy(gone(2, 3), weft.ZerosOf(weft.Int64, 2)) }) },
		"track":       func() error { return weft.Try(func() { weft.NewScope().Track(gone(2)) }) },
		"npy":         func() error { return npy.Write(&bytes.Buffer{}, gone(2)) },
		"safetensors": func() error { return safetensors.Write(&bytes.Buffer{}, map[string]*weft.Tensor{"a": gone(2)}, nil) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "released") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A releaser is a file whose writer takes the memory away.
type releaser struct{ do func() }

func (r *releaser) Write(p []byte) (int, error) {
	r.do()
	return len(p), nil
}

// What is being written to a file is not given back meanwhile, as what is borrowed
// is not.
func TestReleaseWhileWritten(t *testing.T) {
	tensortest.SkipLate(t, "files are written from a copy")
	const n = 1 << 16
	for name, write := range map[string]func(w io.Writer, x *weft.Tensor) error{
		"npy": func(w io.Writer, x *weft.Tensor) error { return npy.Write(w, x) },
		"safetensors": func(w io.Writer, x *weft.Tensor) error {
			return safetensors.Write(w, map[string]*weft.Tensor{"a": weft.Ones(2), "b": x}, nil)
		},
	} {
		s := weft.NewScope()
		x := s.Track(weft.Zeros(n)).Add(7)
		for how, take := range map[string]func(){"release": x.Release, "of a view": x.At(0).Release, "close": s.Close} {
			refused := 0
			w := &releaser{func() {
				if err := weft.Try(take); err != nil {
					refused++
				}
			}}
			if err := write(w, x); err != nil || refused == 0 {
				t.Errorf("%s: %s while the tensor is written: %d refused, error %v", name, how, refused, err)
			}
		}
		func() {
			defer func() { recover() }()
			write(&releaser{func() { panic("no") }}, x)
		}()
		x.Release() // is possible again
	}
}

// together calls f from several goroutines that start at once.
func together(f func(k int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for k := range 8 {
		wg.Go(func() {
			<-start
			f(k)
		})
	}
	close(start)
	wg.Wait()
}

// Reading a tensor from several goroutines is safe, also one whose place on the tape
// is not known before it is read: a view, and a view of a view. Meant for -race.
func TestConcurrentReaders(t *testing.T) {
	for range 20 {
		x := tensortest.Vector(1, 2, 3, 4, 5, 6).RequireGrad()
		base := x.Mul(1)
		base.At(5).Assign(x.At(0)) // the views are made after a write
		v := base.Reshape(2, 3)
		u := v.T().At(1) // base[1], base[4]
		together(func(k int) {
			switch k % 4 {
			case 0: // different losses over shared tensors
				loss := u.Mul(u).Sum().Add(v.Exp().Sum().Mul(0))
				weft.BackwardWith([]*weft.Tensor{loss}, weft.GradOpts{Retain: true})
			case 1:
				if g := weft.Data[float64](weft.Grad(u.Pow(3).Sum(), []*weft.Tensor{u})[0]); !slices.Equal(g, []float64{12, 75}) {
					t.Errorf("gradient by a shared view: %v", g)
				}
			case 2:
				gs := weft.Grad(v.Mul(2).Sum().Add(u.Sum()), []*weft.Tensor{v, x}, weft.GradOpts{Create: true})
				if g := weft.Data[float64](gs[0].Flatten(0)); !slices.Equal(g, []float64{2, 3, 2, 2, 3, 2}) {
					t.Errorf("gradient by one of two shared views: %v", g)
				}
				if g := weft.Data[float64](gs[1]); !slices.Equal(g, []float64{4, 3, 2, 2, 3, 0}) {
					t.Errorf("gradient by the leaf: %v", g)
				}
			case 3:
				if !u.RequiresGrad() || u.IsLeaf() || v.Sum().Item() != 16 {
					t.Error("a shared view reads wrongly")
				}
			}
		})
		// Two passes of case 0.
		if g := weft.Data[float64](x.Grad()); !slices.Equal(g, []float64{0, 8, 0, 0, 20, 0}) {
			t.Fatalf("gradient of the leaf: %v", g)
		}
	}
}

// Passes over the same tape at once: each has all of it, or is refused because
// another has used it up. None sees half of it.
func TestConcurrentPasses(t *testing.T) {
	for range 50 {
		x := tensortest.Vector(1, 2, 3).RequireGrad()
		y := x.Exp().Mul(x).Sin().Sum()
		want := weft.Data[float64](weft.Grad(y, []*weft.Tensor{x}, weft.GradOpts{Retain: true})[0])
		var mu sync.Mutex
		passed := 0
		together(func(int) {
			var g *weft.Tensor
			if weft.Try(func() { g = weft.Grad(y, []*weft.Tensor{x})[0] }) != nil {
				return
			}
			if got := weft.Data[float64](g); !slices.Equal(got, want) {
				t.Errorf("gradient %v, want %v", got, want)
			}
			mu.Lock()
			passed++
			mu.Unlock()
		})
		if passed == 0 {
			t.Fatal("no pass got through")
		}
	}
}
