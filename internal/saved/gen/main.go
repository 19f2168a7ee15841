// Command gen writes the corpus of saved programs of the current version: for each a file, and a file
// with the arguments and the results of some calls, which the function itself gave.
//
//	go run ./internal/saved/gen internal/saved/testdata/v2
//
// The files of a version stay as they are. A new version gets a folder of its own.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"weft"
	"weft/kernel"
	"weft/nn"
	"weft/optim"
	"weft/safetensors"
	"weft/sym"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "gen: give the folder")
		os.Exit(2)
	}
	weft.Seed(1)
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// A sample is a function of the corpus and calls of it.
type sample struct {
	name    string
	inputs  []string
	outputs []string
	calls   [][]*weft.Tensor
	save    func(path string, o weft.SaveOpts) error
	call    func(args []*weft.Tensor) ([]*weft.Tensor, error)
	weights map[string]*weft.Tensor
}

func write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all, err := samples()
	if err != nil {
		return err
	}
	for _, s := range all {
		o := weft.SaveOpts{Inputs: s.inputs, Outputs: s.outputs, Weights: s.weights}
		if err := s.save(filepath.Join(dir, s.name+".weft"), o); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		arrays := map[string]*weft.Tensor{}
		for k, args := range s.calls {
			results, err := s.call(args)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			for i, x := range args {
				arrays[fmt.Sprintf("%d.in.%d", k, i)] = x
			}
			for i, y := range results {
				arrays[fmt.Sprintf("%d.out.%d", k, i)] = y.Clone()
			}
		}
		if err := safetensors.WriteFile(filepath.Join(dir, s.name+".safetensors"), arrays, nil); err != nil {
			return err
		}
	}
	return nil
}

// compiled is a sample of a Go function.
func compiled(name string, inputs []string, calls [][]*weft.Tensor, f func(x ...*weft.Tensor) []*weft.Tensor) sample {
	c := weft.Compile(f)
	args := make([]any, len(calls[0]))
	for i, x := range calls[0] {
		args[i] = x
	}
	return sample{name: name, inputs: inputs, calls: calls,
		save: func(path string, o weft.SaveOpts) error { return c.Save(path, args, o) },
		call: func(args []*weft.Tensor) ([]*weft.Tensor, error) { return c.Func()(args...), nil }}
}

// symbolic is a sample of a function of symbols.
func symbolic(name string, inputs []string, calls [][]*weft.Tensor, f *sym.Fn) sample {
	return sample{name: name, inputs: inputs, calls: calls,
		save: func(path string, o weft.SaveOpts) error { return f.Save(path, o) },
		call: func(args []*weft.Tensor) ([]*weft.Tensor, error) {
			list := make([]any, len(args))
			for i, x := range args {
				list[i] = x
			}
			return f.Call(list...)
		}}
}

func rows(sizes ...int) (calls [][]*weft.Tensor) {
	for _, n := range sizes {
		calls = append(calls, []*weft.Tensor{weft.Randn(n, 4)})
	}
	return calls
}

func samples() ([]sample, error) {
	net := nn.Sequential{nn.NewLinear(4, 5), nn.Gelu{}, nn.NewLayerNorm([]int{5}), nn.NewLinear(5, 3)}
	mlp := compiled("mlp", []string{"x[n 4]"}, rows(3, 1, 8), func(x ...*weft.Tensor) []*weft.Tensor {
		y := net.Forward(x[0])
		return []*weft.Tensor{y, y.Softmax(1), y.ArgMax(1)}
	})
	mlp.weights = map[string]*weft.Tensor{}
	for name, w := range nn.Params(net) {
		mlp.weights[name] = w
	}
	mlp.outputs = []string{"logits", "probabilities", "class"}
	conv := nn.NewConv2d(1, 2, 3, nn.Conv2dOpts{Padding: 1})
	pictures := compiled("pictures", []string{"x[n 1 h h]"}, [][]*weft.Tensor{{weft.Rand(2, 1, 8, 8)}, {weft.Rand(1, 1, 12, 12)}}, func(x ...*weft.Tensor) []*weft.Tensor {
		y := conv.Forward(x[0]).Relu()
		return []*weft.Tensor{y.MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}), y.AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Mean(2, 3)}
	})
	moves := compiled("moves", []string{"x[n 4]"}, rows(6, 9), func(x ...*weft.Tensor) []*weft.Tensor {
		v, at := x[0].Sort(0)
		t := x[0].Clone()
		t.Slice(weft.Range(0, 2)).Assign(7)
		return []*weft.Tensor{v, x[0].Gather(0, at), x[0].T().Reshape(-1), x[0].CumSum(0), x[0].Flip(0), t,
			weft.Cat([]*weft.Tensor{x[0], x[0].Slice(weft.Range(1, weft.End))}, 0), x[0].MatMul(x[0].T()).Tril(0), x[0].IndexSelect(0, weft.FromSlice([]int64{0, 2, -1}))}
	})
	types := compiled("types", []string{"x[n 4]"}, rows(5, 7), func(x ...*weft.Tensor) []*weft.Tensor {
		z := x[0].To(weft.Complex64)
		return []*weft.Tensor{x[0].To(weft.Float16).Sum(0), x[0].To(weft.BFloat16).Exp(), x[0].To(weft.Float64).Var(0), z.Mul(2i).Exp().Sum(0), x[0].Mul(100).To(weft.Int8), x[0].Gt(0).Any(1)}
	})
	g := weft.NewGenerator(5)
	draws := compiled("draws", []string{"x[n 4]"}, rows(3, 3, 6), func(x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{x[0].Add(g.Randn(x[0].Shape()...)), g.Rand(5), g.Randint(0, 100, 3), g.Randperm(6)}
	})
	source, err := kernel.Parse("package k\n\nfunc Leaky(x, slope float32) float32 {\n\tif x < 0 {\n\t\treturn x * slope\n\t}\n\treturn x\n}\n")
	if err != nil {
		return nil, err
	}
	leaky := source.Func("Leaky")
	kernels := compiled("kernel", []string{"x[n 4]"}, rows(2, 5), func(x ...*weft.Tensor) []*weft.Tensor { return []*weft.Tensor{leaky.Map(x[0], 0.1)} })
	optimized, err := adam()
	if err != nil {
		return nil, err
	}
	arrays, err := arraysRead()
	if err != nil {
		return nil, err
	}
	step, err := training()
	if err != nil {
		return nil, err
	}
	loop, err := loops()
	if err != nil {
		return nil, err
	}
	a, b := sym.Scalar("a", weft.Float32), sym.Matrix("b", weft.Float32)
	f, err := sym.Function(sym.In(b, sym.Param{Var: a, Value: 3}), sym.Out(b.Mul(a)))
	if err != nil {
		return nil, err
	}
	defaults := symbolic("defaults", []string{"b[n 4]", "a"}, [][]*weft.Tensor{{weft.Randn(2, 4), weft.Full(float32(2))}, {weft.Randn(3, 4), weft.Full(float32(3))}}, f)
	k, v := sym.Scalar("k", weft.Int64), sym.Vector("v", weft.Float32)
	kept := v.MaskSelect(v.Gt(0))
	if f, err = sym.Function(sym.In(v, k), sym.Out(v.Slice(sym.Range(k, k.Add(4))).Mul(2), kept, sym.Arange(k).Sum())); err != nil {
		return nil, err
	}
	var cuts [][]*weft.Tensor
	for _, n := range []int{2, 7, 0, 20} {
		cuts = append(cuts, []*weft.Tensor{weft.Randn(9), weft.ScalarOf(weft.Int64, n)})
	}
	sizes := symbolic("sizes", []string{"v[n]", "k"}, cuts, f)
	return []sample{mlp, pictures, moves, types, draws, kernels, arrays, step, optimized, loop, defaults, sizes}, nil
}

// arraysRead are kernels that read neighbours and whole arrays by index, with gradients.
func arraysRead() (sample, error) {
	source, err := kernel.Parse(`package k

import "weft/kernel"

func Blur(x kernel.Near2[float32]) float32 { return x.At(-1, 0)*0.5 + x.At(1, 1) }

func Reverse(e kernel.Elem, a kernel.Array1[float32], b kernel.Wrapped1[float32]) float32 {
	return a.At(e.Dim(0)-1-e.Index(0)) * b.At(e.Index(0)-9)
}
`)
	if err != nil {
		return sample{}, err
	}
	blur, reverse := source.Func("Blur"), source.Func("Reverse")
	return compiled("arrays", []string{"x[n 4]"}, rows(5, 3, 9), func(x ...*weft.Tensor) []*weft.Tensor {
		v := x[0].Sum(1).Detach().RequireGrad()
		y := reverse.Map(v, v, kernel.MapOpts{Shape: v.Shape()})
		return append([]*weft.Tensor{blur.Stencil(x[0]), y.Detach()}, weft.Grad(y.Square().Sum(), []*weft.Tensor{v})...)
	}), nil
}

// adam is a step of Adam with a schedule.
func adam() (sample, error) {
	net := nn.Sequential{nn.NewLinear(4, 3), nn.Tanh{}, nn.NewLinear(3, 2)}
	opt := optim.NewAdam(nn.Params(net), optim.AdamOpts{LR: new(0.05), WeightDecay: 0.1, Decoupled: true})
	schedule := optim.NewScheduler(opt, optim.Sequence{Schedules: []optim.Schedule{optim.Linear{Steps: 2, From: 0.5, To: 1}, optim.Cosine{Steps: 3}}, Steps: []int{2}})
	var calls [][]*weft.Tensor
	for range 5 {
		calls = append(calls, []*weft.Tensor{weft.Randn(6, 4), weft.Randint(0, 2, 6)})
	}
	s := compiled("adam", []string{"x[n 4]", "y[n]"}, calls, func(x ...*weft.Tensor) []*weft.Tensor {
		opt.ZeroGrad()
		loss := nn.CrossEntropy(net.Forward(x[0]), x[1])
		loss.Backward()
		opt.Step()
		schedule.Step()
		return []*weft.Tensor{loss.Detach()}
	})
	s.weights = map[string]*weft.Tensor{}
	for name, w := range nn.Params(net) {
		s.weights[name] = w
	}
	return s, nil
}

// training is a step that updates shared variables.
func training() (sample, error) {
	x, y := sym.Matrix("x", weft.Float32), sym.Vector("y", weft.Float32)
	w, b := sym.Shared("w", weft.Zeros(4)), sym.Shared("b", weft.Zeros())
	p := x.MatMul(w).Add(b).Sigmoid()
	cost := y.Mul(p.Log()).Add(y.RSub(1).Mul(p.RSub(1).Log())).Mean().Neg()
	g := sym.Grad(cost, []*sym.Var{w, b})
	f, err := sym.Function(sym.In(x, y), sym.Out(p, cost), sym.Updates{w: w.Sub(g[0].Mul(0.1)), b: b.Sub(g[1].Mul(0.1))})
	if err != nil {
		return sample{}, err
	}
	var calls [][]*weft.Tensor
	for _, n := range []int{5, 5, 9} {
		calls = append(calls, []*weft.Tensor{weft.Randn(n, 4), weft.Randint(0, 2, n).To(weft.Float32)})
	}
	return symbolic("training", []string{"x[n 4]", "y[n]"}, calls, f), nil
}

// loops is a loop that ends early, with its gradient, and a branch.
func loops() (sample, error) {
	x, h, stop := sym.Matrix("x", weft.Float32), sym.Vector("h", weft.Float32), sym.Scalar("stop", weft.Float32)
	w := sym.Shared("w", weft.Rand(3, 3))
	r := sym.Scan(sym.ScanOpts{Sequences: []any{x}, Initial: []any{h}}, func(s sym.Step) sym.Next {
		y := s.X[0].Add(s.H[0].MatMul(w)).Tanh()
		return sym.Next{H: []*sym.Var{y}, Until: y.Sum().Gt(stop)}
	})
	cost := r.Last[0].Square().Sum()
	side := sym.IfElse(stop.Gt(1), func() []*sym.Var { return []*sym.Var{x.Mean()} }, func() []*sym.Var { return []*sym.Var{x.Sum(0).Max()} })
	f, err := sym.Function(sym.In(x, h, stop), sym.Out(append([]*sym.Var{r.H[0], cost, r.Count, side[0]}, sym.Grad(cost, []*sym.Var{w, x})...)...))
	if err != nil {
		return sample{}, err
	}
	var calls [][]*weft.Tensor
	for i, n := range []int{4, 7, 2} {
		calls = append(calls, []*weft.Tensor{weft.Rand(n, 3), weft.Rand(3), weft.Full(float32(i))})
	}
	return symbolic("loop", []string{"x[steps 3]", "h[3]", "stop"}, calls, f), nil
}
