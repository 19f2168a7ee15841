package cudart_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/op"
	"weft/internal/ptxsim"
	"weft/kernel"
	"weft/nn"
	"weft/optim"
)

// failing opens and registers a simulated GPU that the test makes fail.
func failing(t *testing.T, o ptxsim.Options) (uint8, *cudart.Device) {
	t.Helper()
	d, err := cudart.Open(ptxsim.New(o), 0, device.Get(0))
	if err != nil {
		t.Fatal(err)
	}
	return device.Register(d), d
}

// runFails returns a hook that fails the first run of a kernel while it is armed.
func runFails(armed *atomic.Bool, code int) func(string, int) error {
	return func(call string, _ int) error {
		if strings.HasPrefix(call, "run ") && armed.CompareAndSwap(true, false) {
			return &cudart.DriverError{Call: call, Code: code, Text: "injected"}
		}
		return nil
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// isFailure checks that an error is a typed one of a device, caused by a code of the driver.
func isFailure(t *testing.T, what string, err error, code int) {
	t.Helper()
	var e *weft.Error
	var cause *cudart.DriverError
	if !errors.As(err, &e) || e.Kind != weft.DeviceFailed || !errors.As(err, &cause) || cause.Code != code {
		t.Errorf("%s: %v, want a failed device with error %d of the driver", what, err, code)
	}
}

var endlessKernels = kernel.MustParse(`package p

func Halve(x float32) float32 {
	for x <= 1e30 {
		x = x * 0.5
	}
	return x
}`)

// An endless kernel ends with its context, under the name of the function, and the device goes on.
func TestCancelEndlessKernel(t *testing.T) {
	var cancel atomic.Pointer[context.CancelFunc]
	gpu, _ := failing(t, ptxsim.Options{Steps: 1 << 26, Fail: func(call string, _ int) error {
		if c := cancel.Load(); c != nil && strings.HasPrefix(call, "run ") {
			(*c)()
		}
		return nil
	}})
	halve := endlessKernels.Func("Halve")
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return halve.Map(x) })
	for range 3 { // words are used again
		ctx, end := context.WithCancel(t.Context())
		x := on(weft.Ones(70), gpu)
		cancel.Store(&end)
		_, err := f.CallContext(ctx, x)
		cancel.Store(nil)
		var e *weft.Error
		if !errors.As(err, &e) || !errors.Is(err, context.Canceled) {
			t.Fatalf("%v, want an *Error that wraps context.Canceled", err)
		}
		ctx, end = context.WithCancel(t.Context())
		y, err := f.CallContext(ctx, on(weft.Ones(70).Mul(float32(1e35)), gpu))
		if err != nil || weft.Data[float32](y)[69] != 1e35 {
			t.Fatalf("after a cancelled kernel: %v, %v", y, err)
		}
		end()
	}
}

// A kernel that hangs is an error of the device, which is refused from then on.
func TestHungKernel(t *testing.T) {
	gpu, d := failing(t, ptxsim.Options{Steps: 1 << 13})
	halve := endlessKernels.Func("Halve")
	y := halve.Map(on(weft.Ones(70), gpu))
	isFailure(t, "read", weft.Try(func() { weft.Data[float32](y) }), cudart.CodeTimeout)
	isFailure(t, "operation", weft.Try(func() { y.Add(1) }), cudart.CodeTimeout)
	isFailure(t, "close", d.Close(), cudart.CodeTimeout)
}

// WEFT_CUDA_SYNC=1 makes the operation fail that has the kernel at fault, by its name. Without it the
// error comes at the next wait, and says how to learn the name.
func TestNameOfFailedOperation(t *testing.T) {
	for _, sync := range []string{"1", ""} {
		t.Setenv("WEFT_CUDA_SYNC", sync)
		for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
			"tanh": func(x *weft.Tensor) *weft.Tensor { return x.Tanh() },
			"mul":  func(x *weft.Tensor) *weft.Tensor { return x.Mul(x) },
			"sum":  func(x *weft.Tensor) *weft.Tensor { return x.Sum(0) },
			"sub":  func(x *weft.Tensor) *weft.Tensor { return x.Sub(1).Tanh() },
		} {
			var armed atomic.Bool
			gpu, d := failing(t, ptxsim.Options{Fail: runFails(&armed, cudart.CodeLaunch)})
			x := on(weft.Ones(5, 7), gpu)
			if err := d.Sync(); err != nil {
				t.Fatal(err)
			}
			armed.Store(true)
			var y *weft.Tensor
			err := weft.Try(func() { y = f(x) })
			want := name
			if sync == "" {
				if err != nil {
					t.Errorf("%s: %v at the call", name, err)
					continue
				}
				err, want = weft.Try(func() { weft.Data[float32](y) }), "WEFT_CUDA_SYNC=1"
			}
			isFailure(t, name, err, cudart.CodeLaunch)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s, WEFT_CUDA_SYNC=%s: %v, want %q in it", name, sync, err, want)
			}
		}
	}
}

// With WEFT_CUDA_SYNC=1 a compiled function's error names the operations that the kernel or the routine
// at fault computes, and their line.
func TestNameInCompiledFunction(t *testing.T) {
	t.Setenv("WEFT_CUDA_SYNC", "1")
	for n, want := range []string{"exp+mul+add", "matmul2", "tanh+sum"} {
		var left atomic.Int64 // kernels until the one that fails
		left.Store(math.MaxInt64)
		gpu, d := failing(t, ptxsim.Options{Fail: func(call string, _ int) error {
			if strings.HasPrefix(call, "run ") && left.Add(-1) == -1 {
				return &cudart.DriverError{Call: call, Code: cudart.CodeLaunch, Text: "injected"}
			}
			return nil
		}})
		x := on(weft.Ones(5, 5), gpu)
		check(t, d.Sync())
		f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
			y := x.Exp().Mul(x)
			y = y.MatMul(y.Add(1))
			return y.Tanh().Sum(1)
		})
		left.Store(int64(n))
		_, err := f.Call(x)
		isFailure(t, want, err, cudart.CodeLaunch)
		if err == nil || !strings.HasPrefix(err.Error(), want+": ") || strings.Count(err.Error(), "failure_test.go:") != 1 {
			t.Errorf("%v, want %s and its line", err, want)
		}
	}
}

// A GPU that is lost in the midst of training refuses all later calls, by the same cause, and is
// closed without a leak.
func TestLostWhileTraining(t *testing.T) {
	for _, steps := range []int{0, 2} {
		var armed atomic.Bool
		gpu, d := failing(t, ptxsim.Options{Seed: uint64(steps), Fail: runFails(&armed, cudart.CodeFault)})
		dev := weft.Devices()[gpu]
		w := dev.Ones(6, 4).Mul(0.1).RequireGrad()
		x := dev.Ones(3, 6)
		o := optim.NewAdam(func(yield func(string, *weft.Tensor) bool) { yield("w", w) })
		train := func() error {
			return weft.Try(func() {
				nn.MSE(x.MatMul(w).Tanh(), dev.Zeros(3, 4)).Backward()
				o.Step()
				o.ZeroGrad()
			})
		}
		for range steps {
			if err := train(); err != nil {
				t.Fatal(err)
			}
		}
		armed.Store(true)
		err := train()
		if err == nil {
			err = weft.Try(func() { weft.Data[float32](w.Detach()) })
		}
		isFailure(t, "training", err, cudart.CodeFault)
		for what, f := range map[string]func(){
			"step":     func() { must(train()) },
			"read":     func() { weft.Data[float32](x) },
			"add":      func() { x.Add(1) },
			"sum":      func() { x.Sum() },
			"create":   func() { dev.Zeros(3) },
			"move":     func() { weft.Ones(3).On(dev) },
			"move off": func() { x.On(weft.CPU) },
			"sync":     func() { must(dev.Sync()) },
			"assign":   func() { x.Assign(1) },
			"clone":    func() { x.Clone() },
			"argsort":  func() { x.ArgSort(0) },
			"compiled": func() {
				_, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() }).Call(x)
				must(err)
			},
		} {
			isFailure(t, what, weft.Try(f), cudart.CodeFault)
		}
		if got := weft.Ones(3).Sum().Item(); got != 3 {
			t.Errorf("the CPU computes %v", got)
		}
		x.Release()
		isFailure(t, "close", d.Close(), cudart.CodeFault)
		if s := d.MemoryStats(); s.Live != 0 || s.Reserved != 0 {
			t.Errorf("memory stays: %+v", s)
		}
	}
}

// Tensors of a closed device are refused, and released without harm.
func TestTensorsOfClosedDevice(t *testing.T) {
	gpu, d := simulated(t, ptxsim.Options{})
	x := on(weft.Ones(3), gpu)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string]func(){
		"add":  func() { x.Add(1) },
		"read": func() { weft.Data[float32](x) },
		"move": func() { on(weft.Ones(3), gpu) },
		"from": func() { x.On(weft.CPU) },
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Kind != weft.DeviceFailed || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s: %v, want that the device was closed", what, err)
		}
	}
	x.Release()
}

// refusing is a driver that refuses texts with some instruction, as a compiler of texts does.
type refusing struct {
	cudart.Driver
	instruction string
}

type refusingContext struct {
	cudart.Context
	instruction string
}

func (d refusing) Open(n int) (cudart.Context, error) {
	c, err := d.Driver.Open(n)
	return refusingContext{c, d.instruction}, err
}

func (c refusingContext) Load(text string) (cudart.Module, error) {
	if strings.Contains(text, c.instruction) {
		return 0, &cudart.DriverError{Call: "cuModuleLoadDataEx", Code: cudart.CodeBadText, Text: "ptxas: line 7: syntax error"}
	}
	return c.Context.Load(text)
}

// A text that the driver refuses fails the operation that it belongs to, by name and with the log.
// Programs that were compiled with it work.
func TestRefusedText(t *testing.T) {
	d, err := cudart.Open(refusing{ptxsim.New(ptxsim.Options{}), "sqrt.rn.f64"}, 0, device.Get(0))
	if err != nil {
		t.Fatal(err)
	}
	gpu := device.Register(d)
	x := on(weft.OnesOf(weft.Float64, 4, 3), gpu)
	both := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sum(0).Add(x.Sqrt().Sum(0).MatMul(x.T()).Sum()) })
	for range 2 {
		err := weft.Try(func() { x.Sqrt() })
		isFailure(t, "sqrt", err, cudart.CodeBadText)
		if err == nil || !strings.Contains(err.Error(), "sqrt") || !strings.Contains(err.Error(), "line 7: syntax error") {
			t.Errorf("%v, want the operation and the log", err)
		}
		_, err = both.Call(x)
		isFailure(t, "compiled", err, cudart.CodeBadText)
		if got := weft.Data[float64](x.Sum(0)); got[2] != 4 {
			t.Errorf("sum is %v", got)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// An allocation that does not fit names the operation that asked.
func TestNameOfRefusedAllocation(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{Memory: 8 << 20})
	x := on(weft.Ones(1<<18), gpu)
	for name, f := range map[string]func(){
		"tanh": func() {
			var keep []*weft.Tensor
			for range 40 {
				keep = append(keep, x.Tanh())
			}
			_ = keep[0].Size()
		},
		"big": func() {
			_, err := weft.Compile(big).Call(x)
			must(err)
		},
	} {
		var e *weft.Error
		if err := weft.Try(f); !errors.As(err, &e) || e.Kind != weft.OutOfMemory || !strings.Contains(e.Op, name) || !strings.Contains(e.Msg, "cuda:0") {
			t.Errorf("%v, want that %s has no memory", err, name)
		}
	}
	if got := x.Sum().Item(); got != 1<<18 {
		t.Errorf("sum is %v", got)
	}
}

func big(x *weft.Tensor) *weft.Tensor { return x.Exp().Reshape(1, -1).Add(x.Reshape(-1, 1)) }

// Offsets that descend or lie outside are refused at the call, by their operation.
func TestRefusedOffsets(t *testing.T) {
	gpu, _ := simulated(t, ptxsim.Options{})
	dev := weft.Devices()[gpu]
	for want, off := range map[string][]int64{"less than": {0, 3, 2, 5}, "not from 0 to 5": {0, 2, 4, 9}, "offset 0": {-1, 2, 4, 5}} {
		var texts [2]string
		for i, on := range []weft.Device{weft.CPU, dev} {
			x, o := on.Ones(5, 3), weft.FromSlice(off).On(on)
			err := weft.Try(func() { weft.Data[float32](segments(x, o)) })
			var e *weft.Error
			if !errors.As(err, &e) || e.Kind != weft.Misuse || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v: %v, want %q", on, off, err, want)
				continue
			}
			texts[i] = err.Error()
		}
		if texts[0] != texts[1] {
			t.Errorf("%q on the GPU, %q on the CPU", texts[1], texts[0])
		}
	}
	for _, off := range [][]int64{{0, 2, 2, 5}, {1, 2, 3, 4}, {0, 0, 0, 0}} {
		x := weft.Arange(0.0, 15.0, 1.0).Reshape(5, 3)
		want := segments(x, weft.FromSlice(off))
		if got := segments(x.On(dev), weft.FromSlice(off).On(dev)); weft.Digest(got) != weft.Digest(want) {
			t.Errorf("offsets %v: %v, want %v", off, got, want)
		}
	}
}

// segments returns the sums of items of rows.
func segments(x, offsets *weft.Tensor) *weft.Tensor {
	return (*weft.Tensor)(core.Call(op.SegmentSum, nil, nil, core.Operand{T: (*core.Tensor)(x)}, core.Operand{T: (*core.Tensor)(offsets)})[0])
}
