package main

import (
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/nn"
	"weft/optim"
)

// places has indices below 2.
func places(shape ...int) *weft.Tensor {
	n := weft.Ones(shape...).Size()
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(i * i % 3 % 2)
	}
	return weft.FromSlice(x, shape...)
}

// routineCases are models with products, convolutions and other routines, and the tensors that calls of
// them write.
func routineCases() (cases []savedCase, weights map[string]map[string]*weft.Tensor) {
	batches := func(of func(n int) *weft.Tensor, sizes ...int) (all [][]*weft.Tensor, lengths [][]int) {
		for _, n := range sizes {
			all, lengths = append(all, []*weft.Tensor{of(n)}), append(lengths, []int{n})
		}
		return all, lengths
	}
	rows, rowLengths := batches(func(n int) *weft.Tensor { return wave(n, 30) }, 9, 1, 0, 40, 2)
	images, imageLengths := batches(func(n int) *weft.Tensor { return wave(n, 3, 12, 10) }, 2, 1, 5)
	texts, textLengths := batches(func(n int) *weft.Tensor { return places(2, n) }, 7, 1, 12)
	steps := [][]*weft.Tensor{{wave(12, 8), places(12)}, {wave(12, 8), places(12)}, {wave(12, 8), places(12)}}
	var anySteps [][]*weft.Tensor
	for _, n := range []int{12, 1, 300, 17} {
		anySteps = append(anySteps, []*weft.Tensor{wave(n, 8), places(n)})
	}
	training, trained := trainingStep(func(w params) optim.Optimizer { return optim.NewSGD(w, optim.SGDOpts{Momentum: 0.9}) })
	adam, adamTrained := trainingStep(func(w params) optim.Optimizer { return optim.NewAdam(w) })
	falling := func(s optim.Schedule) (func(x ...*weft.Tensor) []*weft.Tensor, map[string]*weft.Tensor) {
		var scheduler *optim.Scheduler
		step, weights := trainingStep(func(w params) optim.Optimizer {
			opt := optim.NewSGD(w)
			scheduler = optim.NewScheduler(opt, s)
			return opt
		})
		return func(x ...*weft.Tensor) []*weft.Tensor {
			y := step(x...)
			scheduler.Step()
			return y
		}, weights
	}
	cosine, cosineTrained := falling(optim.Cosine{Steps: 7})
	poly, polyTrained := falling(optim.Polynomial{Steps: 7, Power: new(0.9)})
	conv, convTrained := convStep()
	return []savedCase{
		{"training", []string{"x[n 8]", "y[n]"}, nil, anySteps, [][]int{{12}, {1}, {300}, {17}}, training},
		{"adam", nil, nil, steps, nil, adam},
		{"conv", []string{"x[n 3 12 10]", "y[n]"}, nil, [][]*weft.Tensor{{wave(4, 3, 12, 10), places(4)}, {wave(1, 3, 12, 10), places(1)}, {wave(19, 3, 12, 10), places(19)}}, [][]int{{4}, {1}, {19}}, conv},
		{"two", []string{"x[n m]"}, nil, [][]*weft.Tensor{{wave(20, 30)}, {wave(1, 1)}, {wave(400, 5)}, {wave(5, 400)}, {wave(17, 1)}, {wave(0, 4)}}, [][]int{{20, 30}, {1, 1}, {400, 5}, {5, 400}, {17, 1}, {0, 4}}, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Sum(0), x[0].Mean(1), x[0].Sub(x[0].Mean(0)), x[0].Reshape(x[0].Size()).CumSum(0)}
		}},
		{"batches", []string{"x[n 4 7 3]"}, nil, [][]*weft.Tensor{{wave(20, 4, 7, 3)}, {wave(1, 4, 7, 3)}, {wave(77, 4, 7, 3)}}, [][]int{{20}, {1}, {77}}, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Sum(0, 2, 3), x[0].Sum(0, 1), x[0].Sum(0, 3), x[0].MatMul(wave(3, 2)).Sum(0)}
		}},
		{"cosine", nil, nil, steps, nil, cosine},
		{"poly", nil, nil, steps, nil, poly},
		{"mlp", []string{"x[n 30]"}, nil, rows, rowLengths, mlp()},
		{"product", nil, nil, [][]*weft.Tensor{{wave(3, 4), wave(5, 4)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].MatMul(x[1].T())}
		}},
		{"pictures", []string{"x[n 3 12 10]"}, nil, images, imageLengths, pictures()},
		{"tokens", []string{"x[2 n]"}, nil, texts, textLengths, tokens()},
		{"indices", nil, nil, [][]*weft.Tensor{{wave(4, 3), places(4, 3)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].Gather(1, x[1]), x[0].IndexSelect(0, x[1].Unbind(1)[0]), x[0].ArgMin(1).To(weft.Float32), x[0]}
		}},
		{"scans", nil, nil, [][]*weft.Tensor{{wave(6, 5), wave(5)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			return []*weft.Tensor{x[0].CumSum(0), x[0].CumProd(1), x[1].CumSum(0)}
		}},
		{"gradient", nil, nil, [][]*weft.Tensor{{wave(2, 2, 8, 8), wave(3, 2, 3, 3)}}, nil, func(x ...*weft.Tensor) []*weft.Tensor {
			a, w := x[0].Detach().RequireGrad(), x[1].Detach().RequireGrad()
			y := a.Conv2d(w, nil, weft.ConvOpts{Padding: [2]int{1, 1}}).MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).AvgPool2d(weft.PoolOpts{Window: [2]int{2, 2}})
			return weft.Grad(y.Mul(y).Sum(), []*weft.Tensor{a, w})
		}},
	}, map[string]map[string]*weft.Tensor{"training": trained, "adam": adamTrained, "cosine": cosineTrained, "poly": polyTrained, "conv": convTrained}
}

type params = iter.Seq2[string, *weft.Tensor]

// trainingStep is a step of a perceptron, and the tensors that it trains.
func trainingStep(optimizer func(w params) optim.Optimizer) (step func(x ...*weft.Tensor) []*weft.Tensor, weights map[string]*weft.Tensor) {
	weights = map[string]*weft.Tensor{"w": wave(8, 20).Mul(0.1).RequireGrad(), "b": wave(20).RequireGrad(), "v": wave(20, 2).Mul(0.1).RequireGrad()}
	opt := optimizer(func(yield func(string, *weft.Tensor) bool) {
		for _, name := range []string{"w", "b", "v"} {
			if !yield(name, weights[name]) {
				return
			}
		}
	})
	return func(x ...*weft.Tensor) []*weft.Tensor {
		opt.ZeroGrad()
		loss := nn.CrossEntropy(x[0].MatMul(weights["w"]).Add(weights["b"]).Relu().MatMul(weights["v"]), x[1])
		loss.Backward()
		opt.Step()
		return []*weft.Tensor{loss.Detach()}
	}, weights
}

// convStep is a step of a convolution net with Adam, and the tensors that it trains.
func convStep() (step func(x ...*weft.Tensor) []*weft.Tensor, weights map[string]*weft.Tensor) {
	weights = map[string]*weft.Tensor{"k": wave(4, 3, 3, 3).Mul(0.1).RequireGrad(), "v": wave(4*5*4, 2).Mul(0.1).RequireGrad()}
	opt := optim.NewAdam(func(yield func(string, *weft.Tensor) bool) { _ = yield("k", weights["k"]) && yield("v", weights["v"]) })
	return func(x ...*weft.Tensor) []*weft.Tensor {
		opt.ZeroGrad()
		y := x[0].Conv2d(weights["k"], nil).Relu().MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}})
		loss := nn.CrossEntropy(y.Reshape(x[0].Dim(0), 4*5*4).MatMul(weights["v"]), x[1])
		loss.Backward()
		opt.Step()
		return []*weft.Tensor{loss.Detach()}
	}, weights
}

func mlp() func(x ...*weft.Tensor) []*weft.Tensor {
	w, b, v := wave(30, 20), wave(20), wave(20, 5)
	return func(x ...*weft.Tensor) []*weft.Tensor {
		return []*weft.Tensor{x[0].MatMul(w).Add(b).Relu().MatMul(v).Softmax(1)}
	}
}

// pictures is a convolution net in evaluation.
func pictures() func(x ...*weft.Tensor) []*weft.Tensor {
	g := weft.NewGenerator(1)
	norm := nn.NewBatchNorm2d(8)
	norm.Forward(wave(2, 8, 4, 4)) // its statistics
	net := nn.Sequential{nn.NewConv2d(3, 8, 3, nn.Conv2dOpts{Opts: nn.Opts{Generator: g}, Padding: 1}), norm, nn.Relu{}, nn.MaxPool2d{Window: [2]int{2, 2}}, nn.NewConv2d(8, 4, 3, nn.Conv2dOpts{Opts: nn.Opts{Generator: g}}), nn.Relu{}, nn.Flatten{}, nn.NewLinear(4*4*3, 6, nn.Opts{Generator: g})}
	nn.Eval(net)
	return func(x ...*weft.Tensor) []*weft.Tensor {
		y := net.Forward(x[0])
		return []*weft.Tensor{y, y.ArgMax(1).To(weft.Float32)}
	}
}

// tokens is a block of attention and a perceptron over embedded tokens.
func tokens() func(x ...*weft.Tensor) []*weft.Tensor {
	const width, heads = 16, 2
	table, qkv, out, up, down := wave(5, width), wave(width, 3*width).Mul(0.1), wave(width, width).Mul(0.1), wave(width, 32).Mul(0.1), wave(32, width).Mul(0.1)
	norm := func(x *weft.Tensor) *weft.Tensor {
		d := x.Sub(x.Mean(2).Unsqueeze(2))
		return d.Div(d.Mul(d).Mean(2).Unsqueeze(2).Add(1e-5).Sqrt())
	}
	return func(x ...*weft.Tensor) []*weft.Tensor {
		b, n := x[0].Dim(0), x[0].Dim(1)
		h := table.IndexSelect(0, x[0].Reshape(b*n)).Reshape(b, n, width)
		parts := norm(h).MatMul(qkv).Reshape(b, n, 3, heads, width/heads).Permute(2, 0, 3, 1, 4)
		q, k, v := parts.At(0), parts.At(1), parts.At(2)
		y := nn.ScaledDotProductAttention(q, k, v, nn.AttentionOpts{Causal: true, Scale: new(0.25)})
		h = h.Add(y.Permute(0, 2, 1, 3).Reshape(b, n, width).MatMul(out))
		h = h.Add(norm(h).MatMul(up).Gelu().MatMul(down))
		logits := norm(h).MatMul(table.T())
		return []*weft.Tensor{logits, logits.ArgMax(2).To(weft.Float32)}
	}
}

func title(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// TestBuildSavedWithRoutines builds models with routines in another module: the packages pass their tests
// and have the bits of the functions that were saved.
func TestBuildSavedWithRoutines(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	var imports, tests strings.Builder
	cases, weights := routineCases()
	for _, c := range cases {
		f := weft.Compile(c.f)
		var example []any
		for _, x := range c.calls[0] {
			example = append(example, x)
		}
		if err := f.Save(c.name+".weft", example, weft.SaveOpts{Inputs: c.inputs, Weights: weights[c.name]}); err != nil {
			t.Fatal(c.name, err)
		}
		var out strings.Builder
		if code := run(append([]string{"build", c.name + ".weft", "-o", "out/" + c.name}, c.flags...), strings.NewReader(""), &out, &out); code != ok {
			t.Fatalf("%s: %s", c.name, out.String())
		}
		fmt.Fprintf(&imports, "\t\"built/out/%s\"\n", c.name)
		fmt.Fprintf(&tests, "func Test%s(t *testing.T) {\n", title(c.name))
		on := c.name
		if weights[c.name] != nil {
			on = "state"
			fmt.Fprintf(&tests, "\tstate := %s.NewState()\n", c.name)
		}
		for k, call := range c.calls {
			var names []string
			tests.WriteString("\t{\n")
			for i, y := range f.Func()(call...) {
				names = append(names, fmt.Sprint("y", i))
				fmt.Fprintf(&tests, "\ty%d := make([]float32, %d)\n\tdefer same(t, y%d, \"%s\")\n", i, y.Size(), i, bitsOf(weft.Data[float32](y)))
			}
			for _, x := range call {
				if x.DType() == weft.Int64 {
					names = append(names, fmt.Sprintf("places(%d)", x.Size()))
				} else {
					names = append(names, fmt.Sprintf("wave(%d)", x.Size()))
				}
			}
			if c.lengths != nil {
				names = append(names, strings.Trim(strings.ReplaceAll(fmt.Sprint(c.lengths[k]), " ", ", "), "[]"))
			}
			fmt.Fprintf(&tests, "\t%s.%s(%s)\n\t}\n", on, title(c.name), strings.Join(names, ", "))
		}
		for name, w := range weights[c.name] {
			fmt.Fprintf(&tests, "\tsame(t, state.%s, %q)\n", title(name), bitsOf(weft.Data[float32](w)))
		}
		tests.WriteString("}\n\n")
	}
	for name, text := range map[string]string{
		"go.mod":        fmt.Sprintf("module built\n\ngo 1.26\n\nrequire weft v0.0.0\n\nreplace weft => %s\n", root),
		"built_test.go": fmt.Sprintf(builtTest, imports.String(), tests.String()),
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		return
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go tool: ", err)
	}
	cmd := exec.Command(tool, "test", "-vet=off", ".", "./out/pictures", "./out/training")
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// builtTest is a test of imports by tests.
const builtTest = `package built

import (
	"fmt"
	"math"
	"strings"
	"testing"

%s)

func wave(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Sin(float64(i*i))) * 3
	}
	return x
}

func places(n int) []int64 {
	x := make([]int64, n)
	for i := range x {
		x[i] = int64(i * i %% 3 %% 2)
	}
	return x
}

func same(t *testing.T, x []float32, want string) {
	var s strings.Builder
	for _, v := range x {
		fmt.Fprintf(&s, "%%08x", math.Float32bits(v))
	}
	if s.String() != want {
		t.Errorf("the bits are %%s, want %%s", s.String(), want)
	}
}

%s`
