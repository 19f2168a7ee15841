package weft_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/ptxsim"
	"weft/internal/tensortest"
	"weft/kernel"
	"weft/nn"
	"weft/safetensors"
)

func TestMain(m *testing.M) { tensortest.Main(m) }

// onSimulated runs f with a simulated GPU as the default device, and fails if the simulator finds a
// fault.
func onSimulated(t *testing.T, seed uint64, f func()) {
	t.Helper()
	host := device.Get(0)
	sim := ptxsim.New(ptxsim.Options{Seed: seed})
	gpu, err := cudart.Open(sim, 0, host)
	if err != nil {
		t.Fatal(err)
	}
	device.Replace(0, gpu)
	core.Plans.Clear()
	defer func() {
		if err := gpu.Sync(); err != nil {
			t.Error(err)
		}
		device.Replace(0, host)
		core.Plans.Clear()
		for _, fault := range sim.Faults() {
			t.Errorf("fault: %v", &fault)
		}
	}()
	f()
	if sim.Calls("cuLaunchKernel") == 0 {
		t.Error("nothing ran on the GPU")
	}
}

// trainedState returns the digests of losses, parameters, gradients and states after steps of training.
func trainedState(make func(g *weft.Generator) model, opt string, steps int, compiled bool) map[string]string {
	m := make(weft.NewGenerator(3))
	o := optimizers[opt](nn.Params(m.module))
	step := func(x, y *weft.Tensor) *weft.Tensor {
		o.ZeroGrad()
		loss := m.loss(m.forward(x), y)
		loss.Backward()
		o.Step()
		return loss
	}
	if compiled {
		c := weft.Compile(step)
		step = func(x, y *weft.Tensor) *weft.Tensor {
			loss, err := c.Call(x, y)
			if err != nil {
				panic(err)
			}
			return loss
		}
	}
	g := weft.NewGenerator(9)
	state := map[string]string{}
	note := func(name string, x *weft.Tensor) { state[name] = fmt.Sprint(x.DType(), x.Shape(), weft.Digest(x)) }
	for i := range steps {
		note(fmt.Sprint("loss ", i), step(m.batch(g, 5)))
	}
	for name, x := range maps.Clone(nn.State(m.module)) {
		note(name, x)
	}
	for name, x := range o.State() {
		note("optimizer "+name, x)
	}
	for name, p := range nn.Params(m.module) {
		if d := p.Grad(); d != nil {
			note("gradient "+name, d)
		}
	}
	return state
}

func gruModel(g *weft.Generator) model {
	m := &struct {
		N *nn.GroupNorm
		R *nn.GRU
		L *nn.Linear
	}{nn.NewGroupNorm(2, 6), nn.NewGRU(4, 5, nn.RNNOpts{Generator: g}), nn.NewLinear(5, 3, nn.Opts{Generator: g})}
	return model{m, func(x *weft.Tensor) *weft.Tensor {
		y, _ := m.R.Run(m.N.Forward(x).Transpose(0, 1), nil)
		return m.L.Forward(y.At(-1))
	}, crossEntropy, classes(3, 6, 4)}
}

func transposedModel(g *weft.Generator) model {
	m := &struct {
		C *nn.ConvTranspose2d
		N *nn.RMSNorm
	}{nn.NewConvTranspose2d(2, 3, 3, nn.ConvTranspose2dOpts{Opts: nn.Opts{Generator: g}}), nn.NewRMSNorm([]int{6})}
	return model{m, func(x *weft.Tensor) *weft.Tensor { return m.N.Forward(m.C.Forward(x)).Flatten(2).Max(2) }, crossEntropy, classes(3, 2, 4, 4)}
}

// Each model trains to the same bits on the CPU and on a simulated GPU, eagerly and compiled.
func TestModelsOnSimulatedGPU(t *testing.T) {
	all := maps.Clone(models)
	all["gru, group norm"] = gruModel
	all["transposed convolution, rms norm"] = transposedModel
	for name, make := range all {
		opt := "adam"
		if name == "sparse embedding" {
			opt = "sgd"
		}
		for _, compiled := range []bool{false, true} {
			t.Run(fmt.Sprint(name, "/compiled=", compiled), func(t *testing.T) {
				want := trainedState(make, opt, 1, compiled)
				onSimulated(t, 5, func() { sameStates(t, trainedState(make, opt, 1, compiled), want) })
			})
		}
	}
	for opt := range optimizers {
		t.Run(opt, func(t *testing.T) {
			want := trainedState(models["mlp"], opt, 2, false)
			onSimulated(t, 6, func() { sameStates(t, trainedState(models["mlp"], opt, 2, false), want) })
		})
	}
}

func sameStates(t *testing.T, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d tensors, want %d", len(got), len(want))
	}
	for name, w := range want {
		if got[name] != w {
			t.Errorf("%s is %s, want %s", name, got[name], w)
		}
	}
}

// Random programs of tensors give the same bits on the CPU and on a simulated GPU.
func TestRandomProgramsOnSimulatedGPU(t *testing.T) {
	run := func(seed uint64) map[string]string {
		p := newRandomProgram(seed)
		g := weft.NewGenerator(seed + 1)
		x, y := g.Randn(4, 6), g.RandnOf(weft.Float64, 2, 6)
		state := map[string]string{}
		for i, r := range p.run(x, y) {
			state[fmt.Sprint("result ", i)] = weft.Digest(r)
		}
		state["x"], state["y"], state["leaf"] = weft.Digest(x), weft.Digest(y), weft.Digest(p.leaf.Detach())
		state["captured 0"], state["captured 1"] = weft.Digest(p.captured[0]), weft.Digest(p.captured[1])
		if d := p.leaf.Grad(); d != nil {
			state["gradient"] = weft.Digest(d)
		}
		return state
	}
	want := map[uint64]map[string]string{}
	n := 60
	if s := os.Getenv("WEFT_PROGRAMS"); s != "" {
		n, _ = strconv.Atoi(s)
	}
	for seed := range uint64(n) {
		want[seed] = run(seed)
	}
	onSimulated(t, 7, func() {
		for seed := range uint64(n) {
			sameStates(t, run(seed), want[seed])
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	})
}

const simulatedKernels = `package p
func Hypot(x, y float32) float32 { if x > y { return x*x + y }; return y*y - x }
func Steps(x float64) int64 { n := int64(0); for x > 1 { x /= 2; n++ }; return n }
`

// Ways to compute beside single operations give the same bits on the CPU and on a simulated GPU:
// formulas, kernels, lazy tensors, and writes into views, parts of complex numbers among them.
func TestWaysToComputeOnSimulatedGPU(t *testing.T) {
	kernels := kernel.MustParse(simulatedKernels)
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"formula": func(x *weft.Tensor) *weft.Tensor {
			return weft.Expr("tanh(a)*b + sum(a*b)", x, x.T().Contiguous().Reshape(x.Shape()...))
		},
		"kernel": func(x *weft.Tensor) *weft.Tensor { return kernels.Func("Hypot").Map(x, 0.5) },
		"loop":   func(x *weft.Tensor) *weft.Tensor { return kernels.Func("Steps").Map(x.To(weft.Float64).Mul(100)) },
		"lazy":   func(x *weft.Tensor) *weft.Tensor { return x.Lazy().Mul(2).Exp().Softmax(1).Sum(0).Add(1) },
		"view": func(x *weft.Tensor) *weft.Tensor {
			x = x.Clone()
			x.T().Slice(weft.Range(1, 5, 2)).MulAssign(3)
			return x
		},
		"backwards": func(x *weft.Tensor) *weft.Tensor {
			x = x.Clone()
			x.Slice(weft.Range(weft.End, weft.Begin, -1)).AddAssign(x)
			return x
		},
		"row": func(x *weft.Tensor) *weft.Tensor {
			x = x.Clone()
			x.At(2).AddAssign(x.At(1))
			x.At(1, 1).MulAssign(x.At(1, 1))
			return x
		},
		"odd halves": func(x *weft.Tensor) *weft.Tensor {
			return x.To(weft.Float16).Flatten(0).Slice(weft.Range(1, weft.End)).Exp()
		},
		"odd bytes": func(x *weft.Tensor) *weft.Tensor {
			return x.Mul(20).To(weft.Int8).Flatten(0).Slice(weft.Range(3, weft.End)).Mul(3)
		},
		"odd floats": func(x *weft.Tensor) *weft.Tensor {
			x = x.Flatten(0).Clone()
			x.Slice(weft.Range(1, weft.End)).MulAssign(2)
			return x
		},
		"real": func(x *weft.Tensor) *weft.Tensor {
			z := x.To(weft.Complex64).Mul(1 + 2i)
			z.Real().MulAssign(3)
			return z
		},
		"imaginary": func(x *weft.Tensor) *weft.Tensor {
			z := x.To(weft.Complex128).Mul(1 + 2i)
			z.Imag().AddAssign(z.Real().Exp())
			return z.Imag()
		},
		"complex": func(x *weft.Tensor) *weft.Tensor {
			z := x.To(weft.Complex64).Mul(1 + 2i).At(1).Slice(weft.Range(1, weft.End))
			return z.Exp().Mul(z.Conj())
		},
		"large": func(x *weft.Tensor) *weft.Tensor {
			return weft.Arange(0, 20000, 1).Slice(weft.Range(1, weft.End)).Mul(.001).Sin().CumSum(0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			run := func() *weft.Tensor { return f(weft.Linspace(-3, 5, 5*7).Reshape(5, 7)) }
			y := run()
			want := fmt.Sprint(y.DType(), y.Shape(), weft.Digest(y))
			onSimulated(t, 8, func() {
				y := run()
				if got := fmt.Sprint(y.DType(), y.Shape(), weft.Digest(y)); got != want {
					t.Errorf("got %s, %v, want %s", got, y, want)
				}
			})
		})
	}
}

// Losses and their gradients have the same bits on the CPU and on a simulated GPU.
func TestLossesOnSimulatedGPU(t *testing.T) {
	target := func() *weft.Tensor { return weft.Linspace(0, 1, 20).Reshape(5, 4) }
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"bce":           func(x *weft.Tensor) *weft.Tensor { return nn.BCE(x.Sigmoid(), target()) },
		"bce of logits": func(x *weft.Tensor) *weft.Tensor { return nn.BCEWithLogits(x, target()) },
		"cross entropy": func(x *weft.Tensor) *weft.Tensor { return nn.CrossEntropy(x, weft.From([]int{0, 3, 1, 1, 2})) },
		"nll":           func(x *weft.Tensor) *weft.Tensor { return nn.NLL(x.LogSoftmax(1), weft.From([]int{0, 3, 1, 1, 2})) },
		"kl":            func(x *weft.Tensor) *weft.Tensor { return nn.KLDiv(x.LogSoftmax(1), target().Softmax(1)) },
		"l1":            func(x *weft.Tensor) *weft.Tensor { return nn.L1(x, target()) },
		"mse":           func(x *weft.Tensor) *weft.Tensor { return nn.MSE(x, target()) },
	} {
		run := func() map[string]string {
			x := weft.Linspace(-2, 3, 20).Reshape(5, 4).RequireGrad()
			loss := f(x)
			loss.Backward()
			return map[string]string{"loss": weft.Digest(loss.Detach()), "gradient": weft.Digest(x.Grad())}
		}
		t.Run(name, func(t *testing.T) {
			want := run()
			onSimulated(t, 9, func() { sameStates(t, run(), want) })
		})
	}
}

// Numbers of a mapped file that lie at odd addresses move to a GPU, whose own memory is aligned.
func TestMisalignedFileToSimulatedGPU(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x")
	x := weft.Linspace(-3, 3, 37)
	if err := safetensors.WriteFile(file, map[string]*weft.Tensor{"a": weft.ZerosOf(weft.Int8, 3), "b": x, "c": x.To(weft.Float64)}, nil); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	onSimulated(t, 10, func() {
		for _, name := range []string{"b", "c"} {
			y, err := f.Tensor(name)
			if err != nil {
				t.Fatal(err)
			}
			want := weft.Digest(y)
			if got := weft.Digest(y.Mul(2).Mul(0.5)); got != want {
				t.Errorf("%s: digest %s, want %s", name, got, want)
			}
		}
	})
}
