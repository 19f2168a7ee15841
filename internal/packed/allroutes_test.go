package packed_test

import (
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"weft"
	"weft/checkpoint"
	"weft/dlpack"
	"weft/internal/packed"
	"weft/nn"
	"weft/optim"
	"weft/ragged"
	"weft/records"
)

// A route is a way to change the elements of a weight.
type route struct {
	name  string
	write func(w *weft.Tensor)
}

// endsCopies checks that a route changes a weight that has copies, and that later calls see it.
func endsCopies(t *testing.T, r route, w *weft.Tensor) {
	t.Helper()
	check := captured(t, w)
	if check(r.name+": before") == 0 {
		t.Errorf("%s: no copies were made before the write", r.name)
	}
	old := weft.Digest(w)
	r.write(w)
	if weft.Digest(w) == old {
		t.Errorf("%s wrote nothing", r.name)
	}
	check(r.name)
	check(r.name + ": more calls")
}

// parameters are w as the one parameter of a module.
func parameters(w *weft.Tensor) iter.Seq2[string, *weft.Tensor] {
	return func(yield func(string, *weft.Tensor) bool) { yield("w", w) }
}

// stepOf is a route: a step of an optimizer by a gradient of ones.
func stepOf(name string, make func(p iter.Seq2[string, *weft.Tensor]) interface{ Step() }) route {
	return route{name, func(w *weft.Tensor) {
		w.RequireGrad()
		opt := make(parameters(w))
		for range 2 { // the first step of some only notes the gradient
			w.Sum().Backward()
			opt.Step()
		}
		w.RequireGrad(false)
	}}
}

func TestOptimizersEndCopies(t *testing.T) {
	needsCode(t)
	type of = iter.Seq2[string, *weft.Tensor]
	for _, r := range []route{
		stepOf("ASGD", func(p of) interface{ Step() } { return optim.NewASGD(p) }),
		stepOf("Adadelta", func(p of) interface{ Step() } { return optim.NewAdadelta(p) }),
		stepOf("Adafactor", func(p of) interface{ Step() } { return optim.NewAdafactor(p) }),
		stepOf("Adagrad", func(p of) interface{ Step() } { return optim.NewAdagrad(p) }),
		stepOf("Adam", func(p of) interface{ Step() } { return optim.NewAdam(p) }),
		stepOf("Adamax", func(p of) interface{ Step() } { return optim.NewAdamax(p) }),
		stepOf("LAMB", func(p of) interface{ Step() } { return optim.NewLAMB(p) }),
		stepOf("Lion", func(p of) interface{ Step() } { return optim.NewLion(p) }),
		stepOf("Muon", func(p of) interface{ Step() } { return optim.NewMuon(p) }),
		stepOf("NAdam", func(p of) interface{ Step() } { return optim.NewNAdam(p) }),
		stepOf("RAdam", func(p of) interface{ Step() } { return optim.NewRAdam(p) }),
		stepOf("RMSprop", func(p of) interface{ Step() } { return optim.NewRMSprop(p) }),
		stepOf("Rprop", func(p of) interface{ Step() } { return optim.NewRprop(p) }),
		stepOf("SGD", func(p of) interface{ Step() } { return optim.NewSGD(p) }),
		{"LBFGS", func(w *weft.Tensor) {
			w.RequireGrad()
			opt := optim.NewLBFGS(parameters(w))
			opt.Step(func() *weft.Tensor {
				opt.ZeroGrad()
				loss := w.Square().Sum()
				loss.Backward()
				return loss
			})
			w.RequireGrad(false)
		}},
		{"Average", func(w *weft.Tensor) { optim.NewAverage(parameters(w), parameters(weights(70))).Update() }},
		{"Average in a compiled function", func(w *weft.Tensor) {
			a := optim.NewAverage(parameters(w), parameters(weights(71)))
			weft.Compile(func(x *weft.Tensor) *weft.Tensor { a.Update(); return x }).Func()(weft.Ones(1))
		}},
	} {
		w := weights(72)
		endsCopies(t, r, w)
		w.Release()
	}
}

// pointer is an address that a C library would have.
func pointer(m dlpack.Managed, w *weft.Tensor) []float32 {
	// DLTensor begins behind the version, the context, the deleter and the flags.
	head := (*struct {
		version        [2]uint32
		context, free  uintptr
		flags          uint64
		data           unsafe.Pointer
		device         [2]int32
		rank           int32
		dtype          [4]byte
		shape, strides unsafe.Pointer
		offset         uint64
	})(m.Pointer())
	return unsafe.Slice((*float32)(unsafe.Add(head.data, head.offset)), w.Size())
}

// Routes by memory that others see too.
func TestRoutesOfOtherPackages(t *testing.T) {
	needsCode(t)
	folder := t.TempDir()
	for _, r := range []route{
		{"a struct for C", func(w *weft.Tensor) {
			m, err := dlpack.Export(w)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Free()
			check := captured(t, w)
			for i := range 3 {
				pointer(m, w)[i*7] += 2
				if n := check("C writes while it has the memory"); n != 0 {
					t.Errorf("%d copies were made of memory that C has", n)
				}
			}
		}},
		{"a view for C", func(w *weft.Tensor) {
			m, err := dlpack.Export(w.Index(5))
			if err != nil {
				t.Fatal(err)
			}
			pointer(m, w.Index(5))[3] += 2
			m.Free()
		}},
		{"records on its bytes", func(w *weft.Tensor) {
			r := records.Over(records.Packed(records.Field{Name: "a", DType: weft.Float32}, records.Field{Name: "b", DType: weft.Float32}), w.ViewAs(weft.Uint8).Reshape(-1, 8))
			r.Field("b").Fill(0.25)
		}},
		{"its bits", func(w *weft.Tensor) { w.ViewAs(weft.Int32).Index(3).Fill(1 << 30) }},
		{"a formula", func(w *weft.Tensor) {
			f, err := weft.ParseExpr("a*2")
			if err != nil {
				t.Fatal(err)
			}
			if err := f.EvalInto(w, weights(73)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a formula of itself", func(w *weft.Tensor) {
			f, err := weft.ParseExpr("a*2")
			if err != nil {
				t.Fatal(err)
			}
			if err := f.EvalInto(w.Index(2), w.Index(2)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a Func that writes its argument", func(w *weft.Tensor) {
			f := &weft.Func{Name: "double", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor {
				x[0].MulAssign(2)
				c.MarkDirty(x[0])
				return x[0]
			}}
			f.Apply(w)
		}},
		{"a checkpoint", func(w *weft.Tensor) {
			path := filepath.Join(folder, "state")
			if err := checkpoint.Save(path, checkpoint.Parts{"m": checkpoint.Module(&nn.Linear{Weight: weights(75)})}, nil); err != nil {
				t.Fatal(err)
			}
			if _, err := checkpoint.Load(path, checkpoint.Parts{"m": checkpoint.Module(&nn.Linear{Weight: w})}); err != nil {
				t.Fatal(err)
			}
		}},
		{"a loop that writes what it captures", func(w *weft.Tensor) {
			weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Lt(3) },
				func(s []*weft.Tensor) []*weft.Tensor { w.MulAssign(0.5); return []*weft.Tensor{s[0].Add(1)} }, []*weft.Tensor{weft.Zeros()})
		}},
		{"a branch of a compiled function", func(w *weft.Tensor) {
			weft.Compile(func(x *weft.Tensor) []*weft.Tensor {
				y := weft.Cond(x.Sum().Gt(0), func() []*weft.Tensor { return []*weft.Tensor{w.Add(1)} }, func() []*weft.Tensor { return []*weft.Tensor{w} })
				w.Assign(y[0])
				return y
			}).Func()(weft.Ones(1))
		}},
		{"a lazy result", func(w *weft.Tensor) { w.Assign(weights(76).Lazy().Mul(2).Add(1)) }},
		{"a gradient", func(w *weft.Tensor) {
			x := weft.Ones(inner, columns).RequireGrad()
			x.SetGrad(w)
			x.Mul(2).Sum().Backward()
			weft.BorrowGrad(x, func(g *weft.Tensor) { g.MulAssign(2) })
			w.Assign(x.Grad())
		}},
		{"clipping", func(w *weft.Tensor) {
			x := weft.Ones(inner, columns).RequireGrad()
			x.SetGrad(w)
			optim.ClipNorm(parameters(x), 0.5)
			w.Index(0).Fill(0) // the gradient may be a copy
		}},
	} {
		w := weights(77)
		endsCopies(t, r, w)
		w.Release()
	}
}

// The rows of a list are a window on memory that edits of the list write, in place or not.
func TestRowsOfListsSeeEdits(t *testing.T) {
	needsCode(t)
	l := ragged.FromSizes(weights(80), []int{100, 150, 50})
	w := l.Data()
	check := captured(t, w)
	check("rows of a list")
	l.Set(1, 0.5)
	check("rows of an item that was set")
	check("rows of an item that was set, again")
	l.At(2).Fill(3)
	check("rows of an item that was filled")
}

// Every method of a tensor that changes its elements ends copies. Calls with arguments of all kinds find them.
func TestMethodsThatWriteEndCopies(t *testing.T) {
	needsCode(t)
	typ := reflect.TypeFor[*weft.Tensor]()
	var found []string
	for m := range typ.Methods() {
		for kind := range 3 {
			name, args := m.Name, plausible(m.Type, kind)
			call := func(w *weft.Tensor) { reflect.ValueOf(w).MethodByName(name).Call(args) }
			w := weights(81)
			if args == nil || name == "Release" || !changes(w, call) {
				continue
			}
			found = append(found, name)
			endsCopies(t, route{name, call}, w)
			endsCopies(t, route{name + " of a view", func(w *weft.Tensor) { call(w.Slice(weft.Range(1, 9))) }}, weights(82))
			inside := weights(83)
			endsCopies(t, route{name + " in a compiled function", func(w *weft.Tensor) {
				f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { call(w); return x.Add(1) })
				if _, err := f.Call(weft.Ones(1)); err != nil {
					w.AddAssign(1) // a method that a function cannot be compiled with
				}
			}}, inside)
			break
		}
	}
	for _, name := range strings.Fields("AddAssign Assign DivAssign Fill MulAssign Set SubAssign") {
		if !slices.Contains(found, name) {
			t.Errorf("%s is not found among the methods that write, %v", name, found)
		}
	}
}

// changes reports that a call changes the elements of a copy of a corner of w. Calls that panic change nothing.
func changes(w *weft.Tensor, call func(w *weft.Tensor)) (changed bool) {
	w = w.Slice(weft.Range(0, 4), weft.Range(0, 4)).Clone()
	x := w.Clone()
	defer func() {
		recover()
		changed = weft.Try(func() { changed = weft.Digest(x) != weft.Digest(w) }) == nil && changed
	}()
	call(x)
	return false
}

// plausible are arguments for a method. Each kind has other values for an argument that may be anything.
func plausible(m reflect.Type, kind int) []reflect.Value {
	args := []reflect.Value{}
	for i := 1; i < m.NumIn(); i++ {
		if m.IsVariadic() && i == m.NumIn()-1 {
			if m.In(i).Elem().Kind() == reflect.Int {
				args = append(args, reflect.ValueOf(0), reflect.ValueOf(1))
			}
			break
		}
		var v any
		switch m.In(i) {
		case reflect.TypeFor[int]():
			v = i - 1
		case reflect.TypeFor[float64]():
			v = 0.5
		case reflect.TypeFor[bool]():
			v = true
		case reflect.TypeFor[*weft.Tensor]():
			v = []any{weft.Full(float32(0.5)), weft.FullOf(weft.Int64, 0, 1, 1), weft.FullOf(weft.Bool, true, 1, 1)}[kind]
		case reflect.TypeFor[any]():
			v = []any{0.5, weft.Full(float32(0.25), 1, 1), 2}[kind]
		case reflect.TypeFor[weft.DType]():
			v = weft.Float64
		default:
			return nil
		}
		args = append(args, reflect.ValueOf(v))
	}
	return args
}

// Two modules with one weight both see the steps of one's optimizer.
func TestModulesThatShareAWeight(t *testing.T) {
	needsCode(t)
	w := weights(90)
	a, b := &nn.Linear{Weight: w}, &nn.Linear{Weight: w}
	x := weft.FromSlice(fill(rows*columns, 91), rows, columns)
	f, g := weft.Compile(a.Forward).Func(), weft.Compile(b.Forward).Func()
	before := packed.Made()
	for range 3 {
		w.RequireGrad(false)
		want := plain(x, w.T())
		for range 3 {
			same(t, "the first module", weft.Data[float32](f(x)), want)
			same(t, "the second module", weft.Data[float32](g(x)), want)
		}
		w.RequireGrad()
		opt := optim.NewSGD(nn.Params(a))
		a.Forward(x).Square().Mean().Backward()
		opt.Step()
	}
	if packed.Made() == before {
		t.Error("no copies were made")
	}
}

// Calls that run beside a compiled step, which writes the weight, have the bits of before or behind it.
func TestWritesBesideCalls(t *testing.T) {
	needsCode(t)
	w := weights(92)
	x := weft.FromSlice(fill(rows*inner, 93), rows, inner)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w) }).Func()
	negate := weft.Compile(func() *weft.Tensor { w.MulAssign(-1); return w.Sum() }).Func()
	want := plain(x, w)
	minus := plain(x, w.Neg())
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for range 60 {
				if got := weft.Data[float32](f(x)); !slices.Equal(got, want) && !slices.Equal(got, minus) {
					t.Error("a call has the bits of neither")
					return
				}
			}
		})
	}
	for range 40 {
		negate()
	}
	all.Wait()
}
