package cudart_test

import (
	"errors"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/ptxsim"
	"weft/optim"
)

// simulated registers a simulated GPU and returns its number.
func simulated(t *testing.T, o ptxsim.Options) (uint8, *cudart.Device) {
	t.Helper()
	sim := ptxsim.New(o)
	d, err := cudart.Open(sim, 0, device.Get(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range sim.Faults() {
			t.Errorf("fault: %v", f)
		}
	})
	return device.Register(d), d
}

// on returns a copy of a tensor on a device.
func on(t *weft.Tensor, number uint8) *weft.Tensor {
	return (*weft.Tensor)((*core.Tensor)(t).On(number))
}

// Tensors on the simulated GPU have the bits of those on the CPU.
func TestTensorsAsOnCPU(t *testing.T) {
	for seed := range uint64(3) {
		gpu, _ := simulated(t, ptxsim.Options{Seed: seed})
		x := weft.Arange(0, 6*37, 1).Reshape(6, 37).Mul(0.37).Sub(20)
		for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
			"elementwise": func(x *weft.Tensor) *weft.Tensor { return x.Tanh().Mul(x).Add(1) },
			"column":      func(x *weft.Tensor) *weft.Tensor { return x.Sum(0) },
			"rows":        func(x *weft.Tensor) *weft.Tensor { return x.Sum(1) },
			"all":         func(x *weft.Tensor) *weft.Tensor { return x.Sum() },
			"softmax":     func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) },
			"transposed":  func(x *weft.Tensor) *weft.Tensor { return x.T().Mul(2).Contiguous() },
			"matmul":      func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x.T()) },
			"types":       func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int64).To(weft.Float64).Exp() },
			"step":        step,
		} {
			want, got := f(x), f(on(x, gpu))
			if w, g := weft.Digest(want), weft.Digest(got); w != g {
				t.Errorf("seed %d, %s: digest %v, want %v", seed, name, g, w)
			}
		}
	}
}

// Elements of 1 and 2 bytes, which move 16 bytes at a time, have the bits of the CPU. So have rows that
// stay in registers between passes.
func TestWideAndKeptAsOnCPU(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{Seed: 5})
	for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
		"bytes":       func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Uint8).Add(x.To(weft.Uint8)).Sub(7) },
		"signed":      func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int8).Mul(x.To(weft.Int8)).Add(1) },
		"shorts":      func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int16).Mul(x.To(weft.Int16)).Sub(9) },
		"halves":      func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float16).Mul(x.To(weft.Float16)).Exp() },
		"bfloats":     func(x *weft.Tensor) *weft.Tensor { return x.To(weft.BFloat16).Mul(x.To(weft.BFloat16)).Exp() },
		"truth":       func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Int8).Lt(x.To(weft.Int8).Mul(3)).LogicalNot() },
		"softmax":     func(x *weft.Tensor) *weft.Tensor { return x.Softmax(1) },
		"log softmax": func(x *weft.Tensor) *weft.Tensor { return x.To(weft.BFloat16).LogSoftmax(1) },
		"variance":    func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float64).Var(1) },
	} {
		for _, n := range []int{17, 48, 512, 1000, 4096} {
			x := weft.Arange(0, float64(2*n), 1).Reshape(2, n).Sin().Mul(50)
			if w, g := weft.Digest(f(x)), weft.Digest(f(on(x, gpu))); w != g {
				t.Errorf("%s, %d columns: digest %v, want %v", name, n, g, w)
			}
		}
	}
}

// step returns the weights of a layer after two steps of an optimizer.
func step(x *weft.Tensor) *weft.Tensor {
	n := (*core.Tensor)(x).Layout().Store.Device
	w := on(weft.Arange(0, 37*4, 1).Reshape(37, 4).Sub(70).Mul(0.001), n).RequireGrad()
	o := optim.NewAdam(func(yield func(string, *weft.Tensor) bool) { yield("w", w) })
	for range 2 {
		x.MatMul(w).Tanh().Sum().Backward()
		o.Step()
		o.ZeroGrad()
	}
	return w.Detach()
}

// Products run on the GPU, with the CPU's bits, of each type and layout.
func TestProductsAsOnCPU(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{Seed: 4})
	x := weft.Arange(0, 6*37, 1).Reshape(6, 37).Mul(0.37).Sub(20).Sin()
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.BFloat16, weft.Float16} {
		for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
			"square":     func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x.T()) },
			"transposed": func(x *weft.Tensor) *weft.Tensor { return x.T().MatMul(x) },
			"vector":     func(x *weft.Tensor) *weft.Tensor { return x.MatMul(x.Slice(weft.Range(3, 4)).Reshape(37)) },
			"batch":      func(x *weft.Tensor) *weft.Tensor { return x.Reshape(3, 2, 37).MatMul(x.T().Reshape(1, 37, 6)) },
			"empty":      func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.Range(0, 0)).MatMul(x.T()) },
			"no terms": func(x *weft.Tensor) *weft.Tensor {
				return x.Slice(weft.Range(0, 6), weft.Range(0, 0)).MatMul(x.T().Slice(weft.Range(0, 0)))
			},
			"layer": func(x *weft.Tensor) *weft.Tensor { return x.Linear(x.Mul(0.5), nil).Tanh() },
		} {
			y := x.To(d)
			want, got := f(y), f(on(y, gpu))
			if w, g := weft.Digest(want), weft.Digest(got); w != g {
				t.Errorf("%s, %s: digest %v, want %v", d, name, g, w)
			}
		}
	}
	if n := d.Counters().Fallbacks.Load(); n != 0 {
		t.Errorf("%d routines ran on the host", n)
	}
}

// gpus are simulated GPUs as a kind of device.
type gpus struct{ *ptxsim.Driver }

func (g gpus) Open(ordinal int) (device.Device, error) {
	d, err := cudart.Open(g.Driver, ordinal, device.Get(0))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// A GPU says what it is.
func TestDescription(t *testing.T) {
	device.RegisterKind("cuda", gpus{ptxsim.New(ptxsim.Options{Devices: 2, Major: 8, Minor: 6, Memory: 3 << 20})})
	d, err := weft.CUDA(1)
	if err != nil {
		t.Fatal(err)
	}
	major, minor := d.Capability()
	if d.Card() != "ptxsim" || d.Memory() != 3<<20 || major != 8 || minor != 6 || d.Name() != "cuda:1" || d.Kind() != "cuda" || d.Index() != 1 {
		t.Errorf("%v: card %q, %d bytes, capability %d.%d, kind %s, number %d", d, d.Card(), d.Memory(), major, minor, d.Kind(), d.Index())
	}
	if _, err := weft.CUDA(2); !errors.Is(err, cudart.ErrNoDevice) {
		t.Errorf("GPU 2 of 2: %v", err)
	}
}
