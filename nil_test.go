package weft_test

import (
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/internal/ir"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

var none *weft.Tensor

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
	takesNil := map[string]bool{"Format": true, "String": true, "LogValue": true, "Conv2d 2": true, "SetGrad 1": true}
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
			refusesNil(t, m.Name+" with nil as argument "+strconv.Itoa(nilAt), misuse(func() { m.Func.Call(args) }), func(op string) bool {
				name, op := strings.ToLower(m.Name), strings.ReplaceAll(op, "_", "")
				switch m.Name {
				case "Zero", "Fill":
					name = "assign"
				case "Update":
					return op == "neg" // the function that it was given
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
	two := weft.NewFused("two", func(x []*ir.Node) []*ir.Node { return x[:1] })
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
		{"full", "Full", misuse(func() { weft.Full(none, weft.Float32, 2) })},
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
		{"two", "Fused.Into dst", misuse(func() { two.Into([]*weft.Tensor{none}, x) })},
		{"two", "Fused.Into args", misuse(func() { two.Into([]*weft.Tensor{x}, none) })},
		{"two", "Fused.InPlace", misuse(func() { two.InPlace([]*weft.Tensor{none}, x) })},
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
		{"matmul", "nn.Linear without bias", misuse(func() { nn.NewLinear(2, 2, nn.Opts{NoBias: true}).Forward(none) })},
		{"linear", "nn.Linear.W", misuse(func() { (&nn.Linear{}).Forward(x) })},
		{"conv2d", "nn.Conv2d", misuse(func() { nn.NewConv2d(1, 1, 1).Forward(none) })},
		{"conv2d", "nn.Conv2d.Weight", misuse(func() { (&nn.Conv2d{}).Forward(x) })},
		{"max_pool2d", "nn.MaxPool2d", misuse(func() { nn.MaxPool2d{}.Forward(none) })},
		{"avg_pool2d", "nn.AvgPool2d", misuse(func() { nn.AvgPool2d{}.Forward(none) })},
		{"flatten", "nn.Flatten", misuse(func() { nn.Flatten{}.Forward(none) })},
		{"dropout", "nn.Dropout", misuse(func() { (&nn.Dropout{P: 0.5}).Forward(none) })},
		{"relu", "nn.Sequential", misuse(func() { nn.Sequential{nn.Relu{}}.Forward(none) })},
		{"tensors", "data.Tensors", misuse(func() { data.Tensors(none, x) })},

		{"view", "npy.Write", func() error { return npy.Write(io.Discard, none) }},
		{"view", "npy.WriteFile", func() error { return npy.WriteFile(file+".npy", none) }},
		{"view", "safetensors.Write", func() error {
			return safetensors.Write(io.Discard, map[string]*weft.Tensor{"a": none}, nil)
		}},
		{"view", "safetensors.WriteFile", func() error {
			return safetensors.WriteFile(file+".st", map[string]*weft.Tensor{"a": none}, nil)
		}},
		{"view", "checkpoint.Save", func() error { return checkpoint.Save(file+".cp", part, nil) }},
		{"nograd", "checkpoint.Load", func() error { _, err := checkpoint.Load(file, part); return err }},
	} {
		refusesNil(t, c.what, c.do, func(op string) bool { return op == c.op })
	}
}

// nilPart is a part of a checkpoint whose state holds a nil tensor.
type nilPart struct{}

func (nilPart) State() map[string]*weft.Tensor          { return map[string]*weft.Tensor{"a": none} }
func (nilPart) LoadState(map[string]*weft.Tensor) error { return nil }

// States with a nil tensor lack it, as far as LoadState is concerned, and an
// optimizer takes no nil parameter.
func TestStatesRefuseNil(t *testing.T) {
	params := func(yield func(string, *weft.Tensor) bool) { yield("w", none) }
	l := nn.NewLinear(1, 1)
	loader := data.NewLoader(data.Tensors(weft.Ones(2), nil), data.LoaderOpts{Batch: 1})
	for what, err := range map[string]error{
		"nn.LoadState":                   nn.LoadState(l, map[string]*weft.Tensor{"W": none, "B": none}, true),
		"optim.NewSGD":                   weft.Try(func() { optim.NewSGD(params, optim.SGDOpts{LR: 1}) }),
		"optim.NewAdam":                  weft.Try(func() { optim.NewAdam(params, optim.AdamOpts{LR: 1}) }),
		"SGD.LoadState":                  optim.NewSGD(nn.Params(l), optim.SGDOpts{LR: 1}).LoadState(map[string]*weft.Tensor{"lr": none}),
		"Adam.LoadState":                 optim.NewAdam(nn.Params(l), optim.AdamOpts{LR: 1}).LoadState(map[string]*weft.Tensor{"lr": none}),
		"data.Loader.LoadState":          loader.LoadState(map[string]*weft.Tensor{"epoch": none, "batch": none}),
		"checkpoint.Generator.LoadState": checkpoint.Generator(weft.NewGenerator(1)).LoadState(map[string]*weft.Tensor{"state": none}),
	} {
		if err == nil {
			t.Errorf("%s takes a nil tensor", what)
		}
	}
}
