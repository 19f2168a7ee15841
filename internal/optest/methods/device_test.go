package methods_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/checkpoint"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/device/deferred"
	"weft/internal/jit"
	"weft/internal/mem"
	"weft/internal/processor"
	"weft/internal/tensortest"
	"weft/nn"
	"weft/npy"
	"weft/optim"
	"weft/safetensors"
)

// A second is a device that works late, in memory out of the host's reach, under another name.
type second struct {
	*deferred.Device
	name string
}

func (d second) Name() string { return d.name }

// gpu is a second device of the test process.
var gpu = func() weft.Device {
	device.Register(second{deferred.New(cpu.NewIn(mem.NewPool(), jit.Chosen().ISA), cpu.New(jit.Chosen().ISA)), "late:0"})
	d, err := weft.DeviceByName("late")
	if err != nil {
		panic(err)
	}
	return d
}()

// same reports an error unless got is on gpu and has the type, shape and bits of want.
func same(t *testing.T, what string, got, want *weft.Tensor) {
	t.Helper()
	switch {
	case got.Device() != gpu:
		t.Errorf("%s: is on %s, want %s", what, got.Device(), gpu)
	case got.DType() != want.DType() || fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) || weft.Digest(got.On(weft.CPU)) != weft.Digest(want):
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestDeviceOfTensorMoves(t *testing.T) {
	for _, d := range []weft.DType{weft.Bool, weft.Int8, weft.Uint64, weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128} {
		x := weft.ArangeOf(weft.Int64, 24).Reshape(4, 6).To(d)
		for what, v := range map[string]*weft.Tensor{
			"matrix": x, "transpose": x.T(), "part": x.Slice(weft.Range(1, 3), weft.Range(0, 6, 2)), "row": x.At(2), "scalar": x.At(1, 1),
			"empty": x.Slice(weft.Range(0, 0)), "expanded": x.At(0, 3).Expand(2, 3),
		} {
			y := v.On(gpu)
			same(t, fmt.Sprint(d, " ", what), y, v)
			if y.On(gpu) != y || v.On(weft.CPU) != v {
				t.Errorf("%s %s: a tensor that is there was copied", d, what)
			}
			same(t, fmt.Sprint(d, " back from a view of ", what), y.On(gpu).Reshape(-1), v.Reshape(-1))
		}
	}
}

func TestGradientFlowsThroughOn(t *testing.T) {
	w := tensortest.Noise(1, 1, 3, 4).RequireGrad()
	x := tensortest.Noise(2, 1, 4, 2).On(gpu).RequireGrad()
	y := w.T().On(gpu).T().MatMul(x).Tanh().On(weft.CPU).Mul(3).Sum()
	y.Backward()
	w2, x2 := w.Detach().Clone().RequireGrad(), x.On(weft.CPU).Detach().RequireGrad()
	w2.MatMul(x2).Tanh().Mul(3).Sum().Backward()
	if w.Grad().Device() != weft.CPU || weft.Digest(w.Grad()) != weft.Digest(w2.Grad()) {
		t.Errorf("the gradient of w is %v, want %v", w.Grad(), w2.Grad())
	}
	same(t, "gradient of x", x.Grad(), x2.Grad())

	a := tensortest.Noise(3, 1, 5).RequireGrad() // the second derivative
	second := func(y *weft.Tensor) *weft.Tensor {
		g := weft.Grad(y.Sum(), []*weft.Tensor{a}, weft.GradOpts{Create: true})[0]
		return weft.Grad(g.Square().Sum(), []*weft.Tensor{a})[0]
	}
	if got, want := second(a.On(gpu).Exp().On(weft.CPU)), second(a.Exp()); weft.Digest(got) != weft.Digest(want) {
		t.Errorf("the second derivative is %v, want %v", got, want)
	}
}

func TestConstructorsOfDevice(t *testing.T) {
	c := weft.CPU
	for what, f := range map[string]func(d weft.Device) *weft.Tensor{
		"zeros":    func(d weft.Device) *weft.Tensor { return d.Zeros(2, 3) },
		"ones":     func(d weft.Device) *weft.Tensor { return d.OnesOf(weft.BFloat16, 5) },
		"full":     func(d weft.Device) *weft.Tensor { return d.Full(2.5, 70000) },
		"complex":  func(d weft.Device) *weft.Tensor { return d.FullOf(weft.Complex128, 2+3i, 4) },
		"from":     func(d weft.Device) *weft.Tensor { return d.From([][]float64{{1, 2}, {3, 4}}) },
		"eye":      func(d weft.Device) *weft.Tensor { return d.Eye(4) },
		"arange":   func(d weft.Device) *weft.Tensor { return d.Arange(2, 9) },
		"range":    func(d weft.Device) *weft.Tensor { return d.Arange(0, 1, 0.25) },
		"linspace": func(d weft.Device) *weft.Tensor { return d.LinspaceOf(weft.Float64, 0, 1, 7) },
		"like":     func(d weft.Device) *weft.Tensor { return weft.FullLike(d.Zeros(3), 7).Add(weft.OnesLike(d.Zeros(3))) },
	} {
		same(t, what, f(gpu), f(c))
	}
	same(t, "arange of ints", gpu.Arange(7), weft.Arange(7))
	same(t, "arange of floats", gpu.Arange(0.0, 2, .5), weft.Arange(0, 2, .5))
}

func TestRandomBitsEqualOnDevice(t *testing.T) {
	p := weft.Linspace(0, 1, 50)
	for what, f := range map[string]func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor{
		"rand": func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Rand(33, 3) },
		"rand half": func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor {
			return g.RandOf(weft.Float16, 33)
		},
		"randn": func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor {
			return g.RandnOf(weft.Float64, 33)
		},
		"randint":     func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Randint(-5, 100, 33) },
		"randperm":    func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Randperm(33) },
		"uniform":     func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Uniform(-1, 3, 33) },
		"normal":      func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Normal(1, 3, 33) },
		"exponential": func(g *weft.Generator, _ func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Exponential(2, 33) },
		"bernoulli":   func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Bernoulli(on(p)) },
		"permutation": func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Permutation(on(p)) },
		"choice":      func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return g.Choice(on(p), 9) },
		"weighted": func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor {
			return g.Choice(on(p), 9, weft.ChoiceOpts{Distinct: true, Weights: p})
		},
		"multinomial": func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor {
			return g.Multinomial(on(p), 20)
		},
		"dropout": func(g *weft.Generator, on func(*weft.Tensor) *weft.Tensor) *weft.Tensor { return on(p).Dropout(.5, g) },
	} {
		a, b := weft.NewGenerator(7), weft.NewGenerator(7)
		want := f(a, func(x *weft.Tensor) *weft.Tensor { return x })
		same(t, what, f(b.On(gpu), func(x *weft.Tensor) *weft.Tensor { return x.On(gpu) }), want)
		if a.State() != b.State() || b.On(gpu).State() != b.State() {
			t.Errorf("%s: states are %v and %v", what, a.State(), b.On(gpu).State())
		}
	}
	weft.Seed(3)
	want := weft.Randn(5)
	weft.Seed(3)
	same(t, "default generator", gpu.Randn(5), want)
}

func TestMixedDevicesAreRefused(t *testing.T) {
	x, y := weft.Ones(3), gpu.Ones(3)
	there := gpu.Arange(2)
	formula, _ := weft.ParseExpr("a + exp(b)")
	for what, f := range map[string]func(){
		"add":       func() { x.Add(y) },
		"add back":  func() { y.Add(x) },
		"matmul":    func() { y.Reshape(1, 3).MatMul(x.Reshape(3, 1)) },
		"where":     func() { weft.Where(y.Gt(0), x, y) },
		"lerp":      func() { y.Lerp(x, 0.5) },
		"cat":       func() { weft.Cat([]*weft.Tensor{x, y}, 0) },
		"addassign": func() { y.AddAssign(x) },
		"index":     func() { x.Index(there) },
		"gather":    func() { x.Gather(0, there) },
		"scatter":   func() { y.Scatter(0, there, weft.Ones(2)) },
		"index add": func() { y.IndexAdd(0, there, weft.Ones(2)) },
		"index put": func() { y.IndexPut(weft.Ones(2), there) },
		"expr":      func() { weft.Expr("a + exp(b)", x, y) },
		"formula":   func() { formula.EvalInto(x, y, y) },
		"to host":   func() { weft.Scalar(1.0).AddAssign(y.Sum()) },
	} {
		err := weft.Try(func() {
			f()
		})
		if what == "formula" {
			err = formula.EvalInto(x, y, y)
		}
		var e *weft.Error
		if !errors.As(err, &e) || !strings.Contains(e.Msg, "cpu") || !strings.Contains(e.Msg, "late:0") {
			t.Errorf("%s: %v, want an error that names both devices", what, err)
		}
	}
}

func TestHostScalarsAreOperands(t *testing.T) {
	x := tensortest.Noise(1, 1, 3, 4)
	s, b := weft.ScalarOf(weft.Float32, 1.5), weft.Scalar(true)
	i := gpu.From([]int{0, 2})
	hosti := weft.From([]int{0, 2})
	g := x.On(gpu)
	same(t, "add", g.Add(s), x.Add(s))
	same(t, "first operand", s.Sub(g), s.Sub(x))
	same(t, "two scalars", s.Mul(g.At(0, 0)), s.Mul(x.At(0, 0)))
	same(t, "where", weft.Where(b, g, s), weft.Where(b, x, s))
	same(t, "lerp", g.Lerp(g.Mul(2), s), x.Lerp(x.Mul(2), s))
	same(t, "clamp", g.Clamp(-0.5, 0.5), x.Clamp(-0.5, 0.5))
	same(t, "in place", g.Clone().AddAssign(s).MulAssign(2), x.Clone().AddAssign(s).MulAssign(2))
	same(t, "index put", g.IndexPut(s, i), x.IndexPut(s, hosti))
	same(t, "index put add", g.IndexPutAdd(s, i), x.IndexPutAdd(s, hosti))
	same(t, "masked fill", g.MaskedFill(g.Gt(0), s), x.MaskedFill(x.Gt(0), s))
	same(t, "mask put", g.IndexPut(s, g.Gt(0)), x.IndexPut(s, x.Gt(0)))
	same(t, "scatter", g.Scatter(0, gpu.Full(1, 1, 4), s), x.Scatter(0, weft.Full(1, 1, 4), s))
	same(t, "expr", weft.Expr("a*b", g, s), weft.Expr("a*b", x, s))
	same(t, "assign", g.Clone().Assign(s), x.Clone().Assign(s))
	same(t, "assign all", gpu.Zeros(3, 4).Assign(x.T().Contiguous().T()), x)
	same(t, "index by a host tensor", g.Index(hosti, weft.From([]bool{true, false, true, false})), x.Index(hosti, []int{0, 2}))
	same(t, "index put by a host tensor", g.IndexPut(2, hosti), x.IndexPut(2, hosti))
	same(t, "index put by a host mask", g.IndexPut(2, x.Gt(0)), x.IndexPut(2, x.Gt(0)))
	same(t, "index by Go", g.Index([]int{2, 0}, []bool{true, false, true, false}), x.Index([]int{2, 0}, []int{0, 2}))

	w := weft.ScalarOf(weft.Float32, 2.0).RequireGrad()
	g.Mul(w).Sum().Backward()
	if w.Grad().Device() != weft.CPU || weft.Digest(w.Grad()) != weft.Digest(x.Sum()) {
		t.Errorf("the gradient of a host scalar is %v, want %v", w.Grad(), x.Sum())
	}
}

func TestCompiledFunctionOnDevice(t *testing.T) {
	w := tensortest.Noise(1, 1, 3, 3)
	run := func(dev weft.Device) (*weft.Tensor, *weft.Tensor) {
		w := w.On(dev).Detach().RequireGrad()
		gen := weft.NewGenerator(5).On(dev)
		step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
			y := x.MatMul(w).Add(gen.Randn(3)).Index([]int{2, 0}).Mul(dev.Arange(0.0, 3))
			w.SetGrad(nil)
			y.Square().Sum().Backward()
			return y.Add(dev.Ones(3)).Add(weft.From([]float32{1, 2, 3}).On(dev))
		})
		var y *weft.Tensor
		for range 3 {
			var err error
			if y, err = step.Call(weft.Eye(3).Add(1).On(dev)); err != nil {
				t.Fatal(err)
			}
		}
		return y, w.Grad()
	}
	wantY, wantG := run(weft.CPU)
	gotY, gotG := run(gpu)
	same(t, "result", gotY, wantY)
	same(t, "gradient", gotG, wantG)

	alone := weft.Compile(func() *weft.Tensor { return gpu.Zeros(3).Add(1) })
	y, err := alone.Call()
	if err != nil {
		t.Fatal(err)
	}
	same(t, "function without arguments", y, weft.Ones(3))

	for what, f := range map[string]any{
		"captured":  func(x *weft.Tensor) *weft.Tensor { return x.Add(w) },
		"moves":     func(x *weft.Tensor) *weft.Tensor { return x.On(weft.CPU) },
		"move in":   func(x *weft.Tensor) *weft.Tensor { return x.Add(w.On(gpu)) },
		"generator": func(x *weft.Tensor) *weft.Tensor { return weft.Ones(3, 3).Add(w).Add(gpu.Rand(3, 3)) },
	} {
		_, err := weft.Compile(f).Call(gpu.Eye(3))
		var e *weft.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), "device") {
			t.Errorf("%s: %v, want an error about devices", what, err)
		}
	}
}

func TestDeviceByName(t *testing.T) {
	for name, want := range map[string]weft.Device{"cpu": weft.CPU, "cpu:0": {}, "late": gpu, "late:0": gpu} {
		if d, err := weft.DeviceByName(name); err != nil && name != "cpu:0" || err == nil && d != want {
			t.Errorf("%q is %v (%v), want %v", name, d, err, want)
		}
	}
	t.Setenv("WEFT_DEVICE", "late")
	if d, err := weft.DeviceByName(""); err != nil || d != gpu {
		t.Errorf("the device of WEFT_DEVICE is %v (%v), want %v", d, err, gpu)
	}
	for _, name := range []string{"cuda", "cuda:-1", "cuda:x", "tpu"} {
		_, err := weft.DeviceByName(name)
		var e *weft.Error
		if !errors.As(err, &e) || name == "cuda" && !strings.Contains(err.Error(), "weft/cuda") {
			t.Errorf("%q: %v, want an *Error", name, err)
		}
	}
	t.Setenv("WEFT_DEVICE", "tpu")
	if _, err := weft.DeviceByName(""); err == nil || !strings.Contains(err.Error(), "WEFT_DEVICE") {
		t.Errorf("%v, want an error that names WEFT_DEVICE", err)
	}
	if all := weft.Devices(); len(all) < 2 || all[0] != weft.CPU || gpu.Kind() != "late" || gpu.Index() != 0 {
		t.Errorf("devices are %v, the second is %s %d", all, gpu.Kind(), gpu.Index())
	}
	if err := gpu.Sync(); err != nil {
		t.Error(err)
	}
}

func TestMemoryStatsOfDevice(t *testing.T) {
	const n = 3 << 20
	begin, host := gpu.MemoryStats(), weft.CPU.MemoryStats()
	x := gpu.Zeros(n)
	used := gpu.MemoryStats()
	if by := used.Allocated - begin.Allocated; by < 4*n {
		t.Errorf("%d bytes more are allocated after Zeros, want at least %d", by, 4*n)
	}
	if used.Peak < used.Allocated || used.Reserved < used.Allocated {
		t.Errorf("the figures are %+v: Peak and Reserved are less than Allocated", used)
	}
	if by := weft.CPU.MemoryStats().Allocated - host.Allocated; by >= 4*n {
		t.Errorf("%d bytes more are allocated on the CPU", by)
	}
	x.Release()
	if err := gpu.Sync(); err != nil {
		t.Fatal(err)
	}
	if end := gpu.MemoryStats(); end.Allocated > used.Allocated-4*n || end.Peak < used.Peak {
		t.Errorf("after Release the figures are %+v, before %+v", end, used)
	}
	if weft.CPU.Memory() != mem.Physical() || weft.CPU.Card() != processor.Name() {
		t.Errorf("the CPU is %q with %d bytes, want %q with %d", weft.CPU.Card(), weft.CPU.Memory(), processor.Name(), mem.Physical())
	}
}

// trained trains a small network with a normalisation, dropout and an LSTM on a device, by way of
// checkpoint files, and returns its state.
func trained(t *testing.T, dev weft.Device, compiled bool) map[string]*weft.Tensor {
	t.Helper()
	type model struct {
		Conv *nn.Conv2d
		Norm *nn.BatchNorm2d
		LSTM *nn.LSTM
		Out  *nn.Linear
	}
	g := weft.NewGenerator(3)
	o := nn.Opts{Generator: g}
	fresh := func() *model {
		return nn.On(&model{nn.NewConv2d(1, 4, 3, nn.Conv2dOpts{Opts: o}), nn.NewBatchNorm2d(4), nn.NewLSTM(4, 5, nn.RNNOpts{Generator: g}), nn.NewLinear(5, 3, o)}, dev)
	}
	m := fresh()
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(0.01)})
	file := filepath.Join(t.TempDir(), "state")
	x, y := tensortest.Noise(4, 1, 6, 1, 6, 6).On(dev), weft.From([]int{0, 1, 2, 0, 1, 2}).On(dev)
	drop := weft.NewGenerator(9)
	step := func(x, y *weft.Tensor) *weft.Tensor {
		z := m.Norm.Forward(m.Conv.Forward(x)).Relu().MaxPool2d(weft.PoolOpts{Window: [2]int{2, 2}}).Flatten(2).Dropout(0.2, drop)
		h := m.LSTM.Forward(z.Permute(2, 0, 1))
		loss := nn.CrossEntropy(m.Out.Forward(h.At(-1)), y)
		opt.ZeroGrad()
		loss.Backward()
		optim.ClipNorm(nn.Params(m), 1)
		opt.Step()
		return loss
	}
	for i := range 4 {
		if compiled {
			if _, err := weft.Compile(step).Call(x, y); err != nil {
				t.Fatal(err)
			}
		} else {
			step(x, y)
		}
		if i == 1 { // the rest of the steps is that of a program that reads the checkpoint
			if err := checkpoint.Save(file, checkpoint.Parts{"model": checkpoint.Module(m), "optimizer": opt}, nil); err != nil {
				t.Fatal(err)
			}
			m = fresh()
			opt = optim.NewAdam(nn.Params(m))
			if _, err := checkpoint.Load(file, checkpoint.Parts{"model": checkpoint.Module(m), "optimizer": opt}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, p := range nn.Params(m) {
		if p.Device() != dev || p.Grad().Device() != dev {
			t.Errorf("a parameter is on %s, its gradient on %s, want %s", p.Device(), p.Grad().Device(), dev)
		}
	}
	for name, s := range opt.State() {
		if s.Rank() > 0 && s.Device() != dev {
			t.Errorf("state %s is on %s, want %s", name, s.Device(), dev)
		}
	}
	return nn.State(m)
}

func TestTrainingBitsEqualOnDevice(t *testing.T) {
	for _, compiled := range []bool{false, true} {
		want := trained(t, weft.CPU, compiled)
		got := trained(t, gpu, compiled)
		for name, w := range want {
			same(t, fmt.Sprint(name, ", compiled: ", compiled), got[name].Detach(), w.Detach())
		}
	}
}

func TestFilesOfDeviceTensors(t *testing.T) {
	dir := t.TempDir()
	x := tensortest.Noise(1, 1, 5, 4)
	g := x.On(gpu).T()
	if err := safetensors.WriteFile(filepath.Join(dir, "x"), map[string]*weft.Tensor{"x": g}, nil); err != nil {
		t.Fatal(err)
	}
	all, _, err := safetensors.ReadFile(filepath.Join(dir, "x"))
	if err != nil || weft.Digest(all["x"]) != weft.Digest(x.T()) {
		t.Errorf("safetensors: %v (%v), want %v", all["x"], err, x.T())
	}
	if err := npy.WriteFile(filepath.Join(dir, "x.npy"), g); err != nil {
		t.Fatal(err)
	}
	if y, err := npy.ReadFile(filepath.Join(dir, "x.npy")); err != nil || weft.Digest(y) != weft.Digest(x.T()) {
		t.Errorf("npy: %v (%v), want %v", y, err, x.T())
	}
	if fmt.Sprint(g) != fmt.Sprint(x.T()) || fmt.Sprint(weft.Data[float32](g)) != fmt.Sprint(weft.Data[float32](x.T())) {
		t.Errorf("%v, want %v", g, x.T())
	}
}

func TestModuleOnDevice(t *testing.T) {
	m := nn.NewLinear(2, 3)
	d := nn.On(m, gpu)
	if nn.On(m, weft.CPU) != m || nn.On(d, gpu) != d || m.Weight.Device() != weft.CPU || !d.Weight.RequiresGrad() {
		t.Error("a module that is there was copied, or one was moved in place")
	}
	same(t, "weight", d.Weight.Detach(), m.Weight.Detach())
	type two struct{ A, B *nn.Linear }
	if s := nn.On(&two{m, m}, gpu); s.A.Weight != s.B.Weight {
		t.Error("tied weights are two tensors")
	}
}

func TestAttentionOnDevice(t *testing.T) {
	type model struct {
		Chars *nn.Embedding
		Norm  *nn.LayerNorm
		Attn  *nn.MultiheadAttention
		GRU   *nn.GRU
	}
	g := weft.NewGenerator(3)
	m := &model{nn.NewEmbedding(10, 8, nn.EmbeddingOpts{Generator: g}), nn.NewLayerNorm([]int{8}),
		nn.NewMultiheadAttention(8, 2, nn.MultiheadAttentionOpts{BatchFirst: true, Generator: g}), nn.NewGRU(8, 4, nn.RNNOpts{Generator: g})}
	run := func(m *model, x *weft.Tensor) *weft.Tensor {
		h := m.Norm.Forward(m.Chars.Forward(x))
		y := m.GRU.Forward(m.Attn.Attend(h, h, h, nn.AttendOpts{Causal: true}).Transpose(0, 1))
		nn.AdaptiveAvgPool2d{Size: [2]*int{new(2), new(3)}}.Forward(y.Unsqueeze(1)).Square().Sum().Backward()
		return y.Detach()
	}
	x := weft.NewGenerator(4).Randint(0, 10, 3, 5)
	d := nn.On(m, gpu)
	same(t, "result", run(d, x.On(gpu)), run(m, x))
	want := nn.State(m)
	for name, p := range nn.Params(d) {
		same(t, "gradient of "+name, p.Grad(), want[name].Grad())
	}
}
