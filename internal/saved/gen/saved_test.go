package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/tensortest"
	_ "weft/kernel"
	"weft/nn"
	"weft/safetensors"
	_ "weft/sym"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// load saves a function and reads it back.
func load[F any](t *testing.T, f *weft.Compiled[F], args []any, o weft.SaveOpts) *weft.Program {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.weft")
	if err := f.Save(path, args, o); err != nil {
		t.Fatal(err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// steps makes n calls of a step and of the program that it was saved as, which give the same bits.
func steps(t *testing.T, n int, step *weft.Compiled[func(x, y *weft.Tensor) *weft.Tensor], p *weft.Program, x, y *weft.Tensor) {
	t.Helper()
	for i := range n {
		want, err := step.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("step ", i), got, []*weft.Tensor{want})
	}
}

// same compares results bit by bit.
func same(t *testing.T, what string, got, want []*weft.Tensor) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d results, want %d", what, len(got), len(want))
	}
	for i := range want {
		if weft.Digest(got[i]) != weft.Digest(want[i]) || fmt.Sprint(got[i].Shape(), got[i].DType()) != fmt.Sprint(want[i].Shape(), want[i].DType()) {
			t.Errorf("%s: result %d is\n%v, want\n%v", what, i, got[i], want[i])
		}
	}
}

// A model is a function with a free length in its arguments.
type model struct {
	name   string
	inputs []string
	args   func(n int) []any
	f      func(x ...*weft.Tensor) []*weft.Tensor
}

func one(f func(x *weft.Tensor) *weft.Tensor) func(x ...*weft.Tensor) []*weft.Tensor {
	return func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{f(x[0])} }
}

func models() []model {
	rows := func(n int) []any { return []any{weft.Rand(n, 6)} }
	net := nn.Sequential{nn.NewLinear(6, 8), nn.Relu{}, nn.NewLinear(8, 3)}
	conv := nn.NewConv2d(1, 2, 3)
	attention := nn.NewMultiheadAttention(6, 2)
	table := nn.NewEmbedding(10, 4)
	list := []model{
		{"mlp", []string{"x[n 6]"}, rows, one(net.Forward)},
		{"mean", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Mean(), x[0].Mean(0), x[0].Mean(1), x[0].Var(0), x[0].Std()}
		}},
		{"reshape", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			n := x[0].Dim(0)
			return []*weft.Tensor{x[0].Reshape(2*n, 3), x[0].Reshape(6 * n), x[0].T().Reshape(3, -1), x[0].Reshape(n, 2, 3).Transpose(0, 2)}
		}},
		{"windows", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			n := x[0].Dim(0)
			return []*weft.Tensor{x[0].Slice(weft.Range(1, weft.End)), x[0].Slice(weft.Range(n/2, weft.End)), weft.Cat([]*weft.Tensor{x[0], x[0].Slice(weft.Range(0, 2))}, 0), x[0].Flip(0)}
		}},
		{"softmax", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Softmax(0), x[0].Softmax(1), x[0].LogSumExp(0), x[0].CumSum(0)}
		}},
		{"gram", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			g := x[0].MatMul(x[0].T())
			return []*weft.Tensor{g, g.Sum(), g.Tril(0), g.Diagonal(0)}
		}},
		{"conv", []string{"x[batch 1 size size]"}, func(n int) []any { return []any{weft.Rand(2, 1, n, n)} }, one(func(x *weft.Tensor) *weft.Tensor {
			y := conv.Forward(x).Relu().MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}})
			return y.Reshape(y.Dim(0), -1)
		})},
		{"attention", []string{"x[b n 6]"}, func(n int) []any { return []any{weft.Rand(2, n, 6)} }, one(attention.Forward)},
		{"two lengths", []string{"a[n k]", "b[k m]"}, func(n int) []any { return []any{weft.Rand(n, 5), weft.Rand(5, n+2)} }, func(x ...*weft.Tensor) []*weft.Tensor {
			y := x[0].MatMul(x[1])
			return []*weft.Tensor{y, y.Reshape(-1), y.Mean()}
		}},
		{"loss", []string{"x[n 6]", "labels[n]"}, func(n int) []any { return []any{weft.Rand(n, 6), weft.Randint(0, 3, n)} }, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{nn.CrossEntropy(net.Forward(x[0]), x[1])}
		}},
		{"embedding", []string{"tokens[n]"}, func(n int) []any { return []any{weft.Randint(0, 10, n)} }, one(table.Forward)},
		{"sort", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			v, at := x[0].Sort(0)
			return []*weft.Tensor{v, at, x[0].ArgMax(0), x[0].Gather(0, at)}
		}},
		{"halves and complex", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			h := x[0].To(weft.Float16)
			z := x[0].To(weft.Complex64)
			return []*weft.Tensor{h.Sum(0), h.Softmax(1), h.MatMul(h.T()), z.Mul(2i).Sum(), z.Exp().Real(), z.MatMul(z.T()), x[0].To(weft.BFloat16).Exp()}
		}},
		{"control flow", []string{"x[n 6]"}, rows, func(args ...*weft.Tensor) []*weft.Tensor {
			x := []*weft.Tensor{args[0].Mul(1)}
			root := weft.While(func(s []*weft.Tensor) *weft.Tensor { return s[0].Square().Sub(x[0]).Abs().Max().Gt(1e-3) },
				func(s []*weft.Tensor) []*weft.Tensor {
					return []*weft.Tensor{s[0].Add(x[0].Add(1e-3).Div(s[0])).Div(2)}
				},
				[]*weft.Tensor{x[0].Add(1)}, weft.WhileOpts{Max: 30})
			last, all := weft.ScanSteps(3, func(i *weft.Tensor, s []*weft.Tensor) (next, out []*weft.Tensor) {
				y := s[0].Mul(0.5).Add(i)
				return []*weft.Tensor{y}, []*weft.Tensor{y.Sum(0)}
			}, []*weft.Tensor{x[0]})
			side := weft.Cond(x[0].Sum().Gt(3), func() []*weft.Tensor { return []*weft.Tensor{x[0].Exp()} }, func() []*weft.Tensor { return []*weft.Tensor{x[0].Neg()} })
			return []*weft.Tensor{root[0], last[0], all[0], side[0]}
		}},
		{"gradient", []string{"x[n 6]"}, rows, func(x ...*weft.Tensor) []*weft.Tensor {
			y := x[0].Detach().RequireGrad()
			return weft.Grad(y.Tanh().Mean(), []*weft.Tensor{y})
		}},
	}
	return list
}

// TestFreeLengths saves models and calls them with other lengths than they were traced with.
func TestFreeLengths(t *testing.T) {
	for _, m := range models() {
		t.Run(m.name, func(t *testing.T) { freeLengths(t, m) })
	}
}

// freeLengths saves a model and compares the program with the function, for lengths of the example and others.
func freeLengths(t *testing.T, m model) {
	f := weft.Compile(m.f)
	p := load(t, f, m.args(9), weft.SaveOpts{Inputs: m.inputs})
	for _, n := range []int{9, 4, 30, 17, 52} {
		var args []*weft.Tensor
		for _, x := range m.args(n) {
			args = append(args, x.(*weft.Tensor))
		}
		got, err := p.Call(args...)
		if err != nil {
			t.Fatal(n, err)
		}
		same(t, fmt.Sprint(m.name, n), got, f.Func()(args...))
	}
}

// TestSavedStep saves a training step and goes on training in the loaded program.
func TestSavedStep(t *testing.T) {
	net := nn.Sequential{nn.NewLinear(6, 8), nn.Relu{}, nn.NewLinear(8, 3)}
	step := weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		loss := nn.CrossEntropy(net.Forward(x), y)
		var params []*weft.Tensor
		for _, w := range nn.Params(net) {
			params = append(params, w)
		}
		for i, g := range weft.Grad(loss, params) {
			params[i].Detach().SubAssign(g.Mul(0.1))
		}
		return loss
	})
	x, y := weft.Rand(8, 6), weft.Randint(0, 3, 8)
	if _, err := step.Call(x, y); err != nil {
		t.Fatal(err)
	}
	p := load(t, step, []any{x, y}, weft.SaveOpts{})
	steps(t, 5, step, p, x, y)
}

// TestSavedDraws goes on with the draws of a generator from where it was.
func TestSavedDraws(t *testing.T) {
	g := weft.NewGenerator(7)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Add(g.Randn(x.Shape()...)).Add(g.Rand(3)) })
	x := weft.Rand(5, 3)
	if _, err := f.Call(x); err != nil {
		t.Fatal(err)
	}
	p := load(t, f, []any{x}, weft.SaveOpts{Inputs: []string{"x[n 3]"}})
	for i := range 3 {
		want, err := f.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Call(x)
		if err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprint("draw ", i), got, []*weft.Tensor{want})
	}
}

// TestSavedConcurrently calls a program from sixteen goroutines, each with lengths of its own.
func TestSavedConcurrently(t *testing.T) {
	w := weft.Rand(4, 4)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Exp().Sum(0) })
	p := load(t, f, []any{weft.Rand(3, 4)}, weft.SaveOpts{Inputs: []string{"x[n 4]"}})
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 5 {
				x := weft.Rand(1+i%6, 4)
				got, err := p.Call(x)
				if err != nil {
					t.Error(err)
					return
				}
				same(t, fmt.Sprint(i), got, []*weft.Tensor{x.MatMul(w).Exp().Sum(0)})
			}
		})
	}
	wg.Wait()
}

// TestSaveRefuses lists what cannot be saved, and what a program refuses to be called with.
func TestSaveRefuses(t *testing.T) {
	x := weft.Rand(4, 6)
	dir := t.TempDir()
	for _, c := range []struct {
		name, want string
		f          func(x *weft.Tensor) *weft.Tensor
		inputs     []string
	}{
		{"other operations", "does not do the same for all lengths", func(x *weft.Tensor) *weft.Tensor {
			for range x.Dim(0) {
				x = x.Exp()
			}
			return x
		}, []string{"x[n 6]"}},
		{"a size of the example", "", func(x *weft.Tensor) *weft.Tensor { return x.Add(weft.Ones(4, 6)) }, []string{"x[n 6]"}},
		{"a wrong size", "x has the size 5 for axis 1", func(x *weft.Tensor) *weft.Tensor { return x }, []string{"x[n 5]"}},
		{"a wrong rank", `"x[n]" does not fit float32[4 6]`, func(x *weft.Tensor) *weft.Tensor { return x }, []string{"x[n]"}},
		{"two lengths of one name", "n is 4 and 6 in the example", func(x *weft.Tensor) *weft.Tensor { return x }, []string{"x[n n]"}},
		{"no name", "does not begin with a name", func(x *weft.Tensor) *weft.Tensor { return x }, []string{"[n 6]"}},
		{"too many names", "are 2, the arguments have 1 tensor", func(x *weft.Tensor) *weft.Tensor { return x }, []string{"x", "y"}},
	} {
		err := weft.Compile(c.f).Save(filepath.Join(dir, "f.weft"), []any{x}, weft.SaveOpts{Inputs: c.inputs})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sum(0) })
	p := load(t, f, []any{x}, weft.SaveOpts{Inputs: []string{"x[n 6]"}})
	for want, args := range map[string][]*weft.Tensor{
		"takes 1 argument, got 2":         {x, x},
		"is float32[4], want":             {weft.Rand(4)},
		"is float64[4 6], want":           {x.To(weft.Float64)},
		"float32[4 5], want float32[n 6]": {weft.Rand(4, 5)},
		"is nil":                          {nil},
		"needs a gradient":                {weft.Rand(4, 6).RequireGrad()},
	} {
		if _, err := p.Call(args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a call: %v, want %q", err, want)
		}
	}
	var none *weft.Program
	if _, err := none.Call(); err == nil || !strings.Contains(err.Error(), "LoadProgram makes one") {
		t.Errorf("a nil program: %v", err)
	}
}

// TestCorpus calls the programs of every version's corpus and compares the results, bit by bit, with what
// the functions gave when they were saved.
func TestCorpus(t *testing.T) {
	files, err := filepath.Glob("../testdata/v*/*.weft")
	if err != nil || len(files) < 8 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".weft"), func(t *testing.T) {
			p, err := weft.LoadProgram(file)
			if err != nil {
				t.Fatal(err)
			}
			arrays, _, err := safetensors.ReadFile(strings.TrimSuffix(file, ".weft") + ".safetensors")
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			for ; arrays[fmt.Sprintf("%d.out.0", calls)] != nil; calls++ {
				var args, want []*weft.Tensor
				for i := range p.Inputs() {
					args = append(args, arrays[fmt.Sprintf("%d.in.%d", calls, i)])
				}
				for i := range p.Outputs() {
					want = append(want, arrays[fmt.Sprintf("%d.out.%d", calls, i)])
				}
				got, err := p.Call(args...)
				if err != nil {
					t.Fatal(err)
				}
				same(t, fmt.Sprint("call ", calls), got, want)
			}
			if calls < 2 {
				t.Errorf("%d calls", calls)
			}
		})
	}
}

// TestWeightsInAnotherFile refers to a safetensors file, and refuses one with other elements.
func TestWeightsInAnotherFile(t *testing.T) {
	dir := t.TempDir()
	w, b := weft.Rand(4, 3), weft.Rand(3)
	weights := map[string]*weft.Tensor{"w": w, "b": b}
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.MatMul(w).Add(b) })
	x := weft.Rand(2, 4)
	path, file := filepath.Join(dir, "f.weft"), filepath.Join(dir, "w.safetensors")
	save := func(file string) error {
		return f.Save(path, []any{x}, weft.SaveOpts{Weights: weights, File: file})
	}
	wrong := map[string]*weft.Tensor{"w": w, "b": weft.Rand(3)}
	if err := safetensors.WriteFile(file, wrong, nil); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"none.safetensors": "none.safetensors", "../w.safetensors": "not a file beside", "w.safetensors": "b: is not what w.safetensors has"} {
		if err := save(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if err := safetensors.WriteFile(file, weights, nil); err != nil {
		t.Fatal(err)
	}
	if err := save("w.safetensors"); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Size() > 1024 {
		t.Errorf("the program has %v bytes, %v", st, err)
	}
	p, err := weft.LoadProgram(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Call(x)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "weights of another file", got, []*weft.Tensor{x.MatMul(w).Add(b)})
	if err := p.Save(filepath.Join(dir, "whole.weft")); err != nil { // with its weights inside
		t.Fatal(err)
	}
	if err := safetensors.WriteFile(file, map[string]*weft.Tensor{"w": w, "b": weft.Rand(4)}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := weft.LoadProgram(path); err == nil || !strings.Contains(err.Error(), "b: is float32[4] in w.safetensors, want float32[3]") {
		t.Errorf("a weight of another shape: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if p, err = weft.LoadProgram(filepath.Join(dir, "whole.weft")); err != nil {
		t.Fatal(err)
	}
	if got, err = p.Call(x); err != nil {
		t.Fatal(err)
	}
	same(t, "weights inside", got, []*weft.Tensor{x.MatMul(w).Add(b)})
}
