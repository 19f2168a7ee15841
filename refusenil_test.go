package weft_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

var (
	none      *weft.Tensor
	noContext context.Context
)

// refusesNil checks that f says, as a *weft.Error of an operation for which named
// holds, that a tensor is nil.
func refusesNil(t *testing.T, what string, f func() error, named func(op string) bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s panics with %v", what, r)
		}
	}()
	err := f()
	var e *weft.Error
	if !errors.As(err, &e) || e.Kind != weft.Misuse || !strings.Contains(e.Error(), "nil") || !named(e.Op) {
		t.Errorf("%s: got %v", what, err)
	}
}

// Every method refuses a nil receiver and a nil argument under its own name.
func TestMethodsRefuseNil(t *testing.T) {
	typ := reflect.TypeFor[*weft.Tensor]()
	takesNil := map[string]bool{"Format": true, "String": true, "LogValue": true, "MarshalJSON": true, "Conv2d 2": true, "Linear 2": true, "Conv1d 2": true, "ConvTranspose2d 2": true, "SetGrad 1": true, "BinCount 1": true}
	values := func(typ reflect.Type) reflect.Value {
		switch typ {
		case reflect.TypeFor[*weft.Tensor](), reflect.TypeFor[any]():
			return reflect.ValueOf(weft.Ones(2, 2))
		case reflect.TypeFor[weft.DType]():
			return reflect.ValueOf(weft.Float64)
		case reflect.TypeFor[func(*weft.Tensor) *weft.Tensor]():
			return reflect.ValueOf((*weft.Tensor).Neg)
		}
		return reflect.Zero(typ)
	}
	for i := range typ.NumMethod() {
		m := typ.Method(i)
		if takesNil[m.Name] {
			continue
		}
		in := m.Type.NumIn()
		if m.Type.IsVariadic() {
			in--
		}
		for nilAt := range in {
			if a := m.Type.In(nilAt); a != typ && a != reflect.TypeFor[any]() || takesNil[m.Name+" "+strconv.Itoa(nilAt)] {
				continue
			}
			args := make([]reflect.Value, in)
			for k := range args {
				args[k] = values(m.Type.In(k))
			}
			args[nilAt] = reflect.ValueOf(none)
			if err := (*weft.Error)(nil); nilAt > 0 && errors.As(weft.Try(func() { m.Func.Call(args) }), &err) && err.Arg == "" {
				t.Errorf("%s with nil as argument %d does not name the argument: %v", m.Name, nilAt, err)
			}
			refusesNil(t, m.Name+" with nil as argument "+strconv.Itoa(nilAt), misuse(func() { m.Func.Call(args) }), func(op string) bool {
				name, op := strings.ToLower(m.Name), strings.ReplaceAll(op, "_", "")
				if m.Name == "NoGrad" { // go fix replaces it
					name = "detach"
				}
				return op != "" && (strings.Contains(name, op) || strings.Contains(op, name))
			})
		}
	}
	refusesNil(t, "a function of Update that returns nil", misuse(func() {
		weft.Ones(2).Update(func(*weft.Tensor) *weft.Tensor { return nil })
	}), func(op string) bool { return op == "update" })
}

func TestFunctionsRefuseNil(t *testing.T) {
	x, w := weft.Ones(2, 2), weft.Ones(2).RequireGrad()
	two := core.NewFused("two", func(x []*ir.Node) []*ir.Node { return x[:1] })
	list := func(ts ...*weft.Tensor) []*core.Tensor { return core.Inner(ts) }
	ops := func(t *weft.Tensor) []core.Operand { return []core.Operand{core.Of("two", (*core.Tensor)(t))} }
	one := func(dst, arg *weft.Tensor) iter.Seq2[[]*core.Tensor, []core.Operand] {
		return func(yield func([]*core.Tensor, []core.Operand) bool) { yield(list(dst), ops(arg)) }
	}
	saves := &weft.Func{Name: "saves", Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Save(none); return x[0] }}
	named := func(yield func(string, *weft.Tensor) bool) { yield("w", none) }
	formula, err := weft.ParseExpr("a+1")
	if err != nil {
		t.Fatal(err)
	}
	scope := weft.NewScope()
	file := filepath.Join(t.TempDir(), "file")
	part := checkpoint.Parts{"part": nilPart{}}
	good := checkpoint.Parts{"part": checkpoint.Generator(weft.NewGenerator(1))}
	if err := checkpoint.Save(file, good, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		op, what string
		do       func() error
	}{
		{"data", "Data", misuse(func() { weft.Data[float32](none) })},
		{"copyto", "CopyTo", misuse(func() { weft.CopyTo(none, []float32{}) })},
		{"borrow", "Borrow", misuse(func() { weft.Borrow(none, func([]float32) {}) })},
		{"borrowgrad", "BorrowGrad", misuse(func() { weft.BorrowGrad(none, func(*weft.Tensor) {}) })},
		{"cat", "Cat", misuse(func() { weft.Cat([]*weft.Tensor{x, none}, 0) })},
		{"stack", "Stack", misuse(func() { weft.Stack([]*weft.Tensor{none, x}, 0) })},
		{"where", "Where cond", misuse(func() { weft.Where(none, x, x) })},
		{"where", "Where x", misuse(func() { weft.Where(x, none, x) })},
		{"where", "Where y", misuse(func() { weft.Where(x, x, none) })},
		{"cross_entropy", "CrossEntropy logits", misuse(func() { weft.CrossEntropy(none, weft.Arange(2)) })},
		{"cross_entropy", "CrossEntropy target", misuse(func() { weft.CrossEntropy(x, none) })},
		{"zeros", "ZerosLike", misuse(func() { weft.ZerosLike(none) })},
		{"ones", "OnesLike", misuse(func() { weft.OnesLike(none) })},
		{"full", "FullLike t", misuse(func() { weft.FullLike(none, 1) })},
		{"full", "FullLike x", misuse(func() { weft.FullLike(x, none) })},
		{"full", "Full", misuse(func() { weft.FullOf(weft.Float32, none, 2) })},
		{"scalar", "Scalar", misuse(func() { weft.Scalar(none) })},
		{"from", "From", misuse(func() { weft.From(nil) })},
		{"digest", "Digest", misuse(func() { weft.Digest(x, none) })},
		{"digest", "DigestNamed", misuse(func() { weft.DigestNamed(named) })},
		{"track", "Scope.Track", misuse(func() { scope.Track(none) })},
		{"keep", "Scope.Keep", misuse(func() { scope.Keep(none) })},
		{"backward", "BackwardWith", misuse(func() { weft.BackwardWith([]*weft.Tensor{none}, weft.GradOpts{}) })},
		{"grad", "Grad output", misuse(func() { weft.Grad(none, []*weft.Tensor{w}) })},
		{"grad", "Grad inputs", misuse(func() { weft.Grad(w.Sum(), []*weft.Tensor{none}) })},
		{"saves", "Func.Apply", misuse(func() { saves.Apply(none) })},
		{"save", "FuncContext.Save", misuse(func() { saves.Apply(w) })},
		{"two", "Fused.Into dst", misuse(func() { two.Into(list(none), ops(x)) })},
		{"two", "Fused.Into args", misuse(func() { two.Into(list(x), ops(none)) })},
		{"two", "Fused.IntoAll dst", misuse(func() { two.IntoAll(one(none, x)) })},
		{"two", "Fused.IntoAll args", misuse(func() { two.IntoAll(one(x, none)) })},
		{"fused", "Fused.IntoAll", misuse(func() { two.IntoAll(nil) })},
		{"two", "Fused.InPlace", misuse(func() { two.InPlace(list(none), ops(x)) })},
		{"expr", "Expr", misuse(func() { weft.Expr("a", none) })},
		{"expr", "Expr Vars", misuse(func() { weft.Expr("a", weft.Vars{"a": none}) })},
		{"expr", "Formula.Eval", func() error { _, err := formula.Eval(none); return err }},
		{"expr", "Formula.Explain", func() error { _, err := formula.Explain(none); return err }},
		{"expr", "Formula.Work", func() error { _, _, err := formula.Work(none); return err }},

		{"mse", "nn.MSE x", misuse(func() { nn.MSE(none, x) })},
		{"mse", "nn.MSE target", misuse(func() { nn.MSE(x, none) })},
		{"cross_entropy", "nn.CrossEntropy target", misuse(func() { nn.CrossEntropy(x, none) })},
		{"requiregrad", "nn.Param", misuse(func() { nn.Param(none) })},
		{"linear", "nn.Linear", misuse(func() { nn.NewLinear(2, 2).Forward(none) })},
		{"linear", "nn.Linear without bias", misuse(func() { nn.NewLinear(2, 2, nn.Opts{NoBias: true}).Forward(none) })},
		{"linear", "nn.Linear.Weight", misuse(func() { (&nn.Linear{}).Forward(x) })},
		{"conv2d", "nn.Conv2d", misuse(func() { nn.NewConv2d(1, 1, 1).Forward(none) })},
		{"conv2d", "nn.Conv2d.Weight", misuse(func() { (&nn.Conv2d{}).Forward(x) })},
		{"max_pool2d", "nn.MaxPool2d", misuse(func() { nn.MaxPool2d{Window: [2]int{2, 2}}.Forward(none) })},
		{"avg_pool2d", "nn.AvgPool2d", misuse(func() { nn.AvgPool2d{Window: [2]int{2, 2}}.Forward(none) })},
		{"flatten", "nn.Flatten", misuse(func() { nn.Flatten{}.Forward(none) })},
		{"dropout", "nn.Dropout", misuse(func() { (&nn.Dropout{P: 0.5}).Forward(none) })},
		{"relu", "nn.Sequential", misuse(func() { nn.Sequential{nn.Relu{}}.Forward(none) })},
		{"tensors", "data.Tensors", misuse(func() { data.Tensors(none, x) })},

		{"write", "npy.Write", func() error { return npy.Write(io.Discard, none) }},
		{"write", "npy.WriteFile", func() error { return npy.WriteFile(file+".npy", none) }},
		{"write", "safetensors.Write", func() error {
			return safetensors.Write(io.Discard, map[string]*weft.Tensor{"a": none}, nil)
		}},
		{"write", "safetensors.WriteFile", func() error {
			return safetensors.WriteFile(file+".st", map[string]*weft.Tensor{"a": none}, nil)
		}},
		{"write", "checkpoint.Save", func() error { return checkpoint.Save(file+".cp", part, nil) }},
		{"detach", "checkpoint.Load", func() error { _, err := checkpoint.Load(file, part); return err }},
	} {
		refusesNil(t, c.what, c.do, func(op string) bool { return op == c.op })
	}
}

// A receiver that is nil, or the zero value of a type that is made by a function, is
// refused, as are functions, readers and writers that are nil.
func TestZeroReceiversAreRefused(t *testing.T) {
	x := weft.Ones(2)
	g, s, f := (*weft.Generator)(nil), (*weft.Scope)(nil), (*weft.Formula)(nil)
	dataset := data.Tensors(x, nil)
	for what, do := range map[string]func(){
		"Generator.State":     func() { g.State() },
		"Generator.SetState":  func() { g.SetState(weft.GeneratorState{}) },
		"Generator.Rand":      func() { g.Rand(2) },
		"RandOf int64":        func() { weft.RandOf(weft.Int64, 2) },
		"RandnOf dtype(99)":   func() { weft.RandnOf(weft.DType(99), 2) },
		"Scalar of dtype(99)": func() { weft.ScalarOf(weft.DType(99), 1) },
		"Scalar of no type":   func() { weft.ScalarOf(weft.DType(99), 1) },
		"Generator.Randint":   func() { g.Randint(0, 2, 2) },
		"Generator.Randperm":  func() { g.Randperm(2) },
		"Scope.Nest":          func() { s.Nest() },
		"Scope.Track":         func() { s.Track(x) },
		"Scope.Keep":          func() { s.Keep(x) },
		"Scope.Close":         func() { s.Close() },
		"zero Scope":          func() { new(weft.Scope).Track(x).Add(1) },
		"Formula.Names":       func() { f.Names() },
		"Formula.String":      func() { _ = new(weft.Formula).String() },
		"Func.Apply":          func() { (*weft.Func)(nil).Apply(x) },
		"Func.Forward":        func() { new(weft.Func).Apply(x) },
		"Func.Backward": func() {
			f := weft.Func{Name: "f", Forward: func(_ *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { return x[0].Neg() }}
			f.Apply(weft.Ones().RequireGrad()).Backward()
		},
		"FuncContext.Save":   func() { (*weft.FuncContext)(nil).Save(x) },
		"FuncContext.Saved":  func() { new(weft.FuncContext).Saved(0) },
		"FuncContext.Saved ": func() { new(weft.FuncContext).Saved(-1) },
		"Fused without": func() {
			core.NewFused("f", nil).Into(core.Inner([]*weft.Tensor{x}), []core.Operand{core.Of("f", (*core.Tensor)(x))})
		},
		"Fused with more": func() {
			core.NewFused("f", func(x []*ir.Node) []*ir.Node { return x }).Into(nil, []core.Operand{core.Of("f", (*core.Tensor)(x))})
		},
		"Fused of nothing":   func() { core.NewFused("f", func(x []*ir.Node) []*ir.Node { return x }).Into(nil, nil) },
		"zero Tensor":        func() { new(weft.Tensor).Sum() },
		"zero Tensor as any": func() { x.Add(new(weft.Tensor)) },
		"zero Tensor's text": func() { new(weft.Tensor).LogValue() },
		"Try":                func() { weft.Try(nil) },
		"Borrow":             func() { weft.Borrow[float32](x, nil) },
		"BorrowGrad":         func() { weft.BorrowGrad(x, nil) },
		"DigestNamed":        func() { weft.DigestNamed(nil) },
		"Format":             func() { x.Format(nil, 'v') },
		"SGD.Step":           func() { (*optim.SGD)(nil).Step() },
		"Adam.Step":          func() { (*optim.Adam)(nil).Step() },
		"SGD.LR":             func() { (*optim.SGD)(nil).LR() },
		"SGD.SetLR":          func() { (*optim.SGD)(nil).SetLR(1) },
		"SGD.ZeroGrad":       func() { (*optim.SGD)(nil).ZeroGrad() },
		"SGD.State":          func() { (*optim.SGD)(nil).State() },
		"SGD.LoadState":      func() { (*optim.SGD)(nil).LoadState(nil) },
		"SGD.AddGroup":       func() { (*optim.SGD)(nil).AddGroup(nil, optim.SGDOpts{}) },
		"zero SGD.AddGroup":  func() { new(optim.SGD).AddGroup(nil, optim.SGDOpts{}) },
		"LBFGS.Step":         func() { (*optim.LBFGS)(nil).Step(nil) },
		"zero LBFGS.State":   func() { new(optim.LBFGS).State() },
		"LBFGS.LoadState":    func() { (*optim.LBFGS)(nil).LoadState(nil) },
		"Scheduler.Step":     func() { (*optim.Scheduler)(nil).Step() },
		"zero Scheduler":     func() { new(optim.Scheduler).State() },
		"Plateau.Step":       func() { (*optim.Plateau)(nil).Step(1) },
		"zero Plateau":       func() { new(optim.Plateau).LoadState(nil) },
		"Adam.LR":            func() { (*optim.Adam)(nil).LR() },
		"Adam.SetLR":         func() { (*optim.Adam)(nil).SetLR(1) },
		"Adam.ZeroGrad":      func() { (*optim.Adam)(nil).ZeroGrad() },
		"Adam.State":         func() { (*optim.Adam)(nil).State() },
		"Adam.LoadState":     func() { (*optim.Adam)(nil).LoadState(nil) },
		"Linear":             func() { (*nn.Linear)(nil).Forward(x) },
		"Conv1d":             func() { (*nn.Conv1d)(nil).Forward(x) },
		"Conv2d":             func() { (*nn.Conv2d)(nil).Forward(x) },
		"ConvTranspose2d":    func() { (*nn.ConvTranspose2d)(nil).Forward(x) },
		"Dropout":            func() { (*nn.Dropout)(nil).Forward(x) },
		"Dropout.Train":      func() { (*nn.Dropout)(nil).SetTraining(true) },
		"Sequential":         func() { nn.Sequential{nil}.Forward(x) },
		"nn.Func":            func() { nn.Func(nil).Forward(x) },
		"Loader.Len":         func() { (*data.Loader)(nil).Len() },
		"zero Loader":        func() { new(data.Loader).State() },
		"Loader.Batches":     func() { data.NewLoader(dataset, data.LoaderOpts{}).Batches(noContext) },
		"File.Names":         func() { (*safetensors.File)(nil).Names() },
		"File.Close":         func() { (*safetensors.File)(nil).Close() },
	} {
		func() {
			defer func() {
				if e, ok := recover().(*weft.Error); !ok || e.Kind != weft.Misuse || e.Msg == "" {
					t.Errorf("%s: %v, want a *weft.Error", what, e)
				}
			}()
			do()
		}()
	}
	for what, err := range map[string]error{
		"npy.Read":          func() error { _, err := npy.Read(nil); return err }(),
		"npy.Write":         npy.Write(nil, x),
		"safetensors.Read":  func() error { _, err := safetensors.Read(nil, 100); return err }(),
		"safetensors.Write": safetensors.Write(nil, nil, nil),
		"checkpoint.Save":   checkpoint.Save(filepath.Join(t.TempDir(), "f"), checkpoint.Parts{"a": nil}, nil),
	} {
		if err == nil {
			t.Errorf("%s takes nil", what)
		}
	}
	for d := range 256 {
		d := weft.DType(d)
		if known := d >= weft.Bool && d <= weft.Complex128; (d.Size() > 0) != known {
			t.Errorf("type %d has %d bytes", d, d.Size())
		}
	}
}
