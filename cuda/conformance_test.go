package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/cpu"
	"weft/internal/cudart"
	"weft/internal/device"
	"weft/internal/grid"
	"weft/internal/grid/compare"
	backend "weft/internal/jit"
	"weft/internal/loop/loopgen"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/ptx"
	"weft/internal/ptxsim"
)

// oracle is the interpreter.
var oracle = cpu.New(backend.Portable)

// onGPU returns the driver of this machine's GPU, or with WEFT_GPU=sim of the simulator, and the kind
// of its device. Without both the test is skipped.
func onGPU(t *testing.T) (d cudart.Driver, kind string) {
	t.Helper()
	if os.Getenv("WEFT_GPU") == "sim" {
		return simulator(), "simulated"
	}
	d = newDriver(libraryFiles)
	if n, err := (gpus{d.(*driver)}).Count(); err != nil || n == 0 {
		t.Skipf("SKIPPED: there is no GPU here: %d, %v", n, err)
	}
	return d, "cuda"
}

// simulator registers simulated GPUs as a kind of device.
var simulator = sync.OnceValue(func() cudart.Driver {
	d := ptxsim.New(ptxsim.Options{Seed: 1})
	device.RegisterKind("simulated", simulated{d})
	return d
})

type simulated struct{ cudart.Driver }

func (s simulated) Open(ordinal int) (device.Device, error) {
	d, err := cudart.Open(s.Driver, ordinal, device.Get(0))
	if err != nil {
		return nil, err
	}
	return d, nil
}

// open opens a device of its own for a part of the conformance suite.
func open(t *testing.T) device.Device {
	t.Helper()
	d, _ := onGPU(t)
	dev, err := cudart.Open(d, 0, device.Get(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		t.Logf("%d routines ran on the host", dev.Counters().Fallbacks.Load())
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// With WEFT_OPS the test compares operations of those names. With WEFT_PART=2/8 it compares the third of
// eight parts of them.
func TestValuesOnGPU(t *testing.T) {
	only := strings.Fields(os.Getenv("WEFT_OPS"))
	if len(only) == 0 {
		for _, d := range op.Table() {
			only = append(only, d.Name)
		}
	}
	part, parts := 0, 1
	if s := os.Getenv("WEFT_PART"); s != "" {
		if _, err := fmt.Sscanf(s, "%d/%d", &part, &parts); err != nil || parts < 1 {
			t.Fatalf("WEFT_PART is %q, not such as 2/8", s)
		}
	}
	var mine []string
	for i, name := range only {
		if i%parts == part {
			mine = append(mine, name)
		}
	}
	optest.Values(t, open(t), optest.Caps{Oracle: oracle, Only: mine})
}

func TestLargeOnGPU(t *testing.T) { optest.Large(t, open(t), optest.Caps{Oracle: oracle}) }

func TestGradientsOnGPU(t *testing.T) {
	optest.SameGradients(t, open(t), optest.Caps{Oracle: oracle, Every: compare.Count(t, "WEFT_EVERY", 1)})
}

// WEFT_GRAPHS is the number of random graphs, WEFT_FIRST the seed of the first.
func TestGraphsOnGPU(t *testing.T) {
	optest.Fusion(t, open(t), optest.Caps{Oracle: oracle, Graphs: compare.Count(t, "WEFT_GRAPHS", 100), First: uint64(compare.Count(t, "WEFT_FIRST", 0))})
}

// TestProgramsOnGPU compares random loop programs with the interpreter, in each way that they can be
// laid out: from seed WEFT_FUZZ_FIRST on, until WEFT_SECONDS have passed.
func TestProgramsOnGPU(t *testing.T) {
	d, _ := onGPU(t)
	info, err := d.Info(0)
	if err != nil {
		t.Fatal(err)
	}
	ctx, err := d.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ctx.Close(); err != nil {
			t.Error(err)
		}
	}()
	print := func(k *grid.Kernel) (string, int, error) {
		text, err := ptx.Print(ptx.Target{Major: info.Major, Minor: info.Minor}, k)
		return text, ptx.DynamicShared(k), err
	}
	end := time.Now().Add(time.Duration(compare.Count(t, "WEFT_SECONDS", 10)) * time.Second)
	first := compare.Count(t, "WEFT_FUZZ_FIRST", 0)
	n, failures := 0, 0
	for seed := first; time.Now().Before(end); seed++ {
		c := loopgen.Generate(uint64(seed), loopgen.Language{})
		if !compare.Aligned(c) {
			continue
		}
		n++
		if err := compare.Case(ctx, print, c); err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if failures++; failures > 3 {
				break
			}
		}
	}
	t.Logf("%d programs", n)
}

// TestFunctionsOnGPU compares operations of one operand with the CPU: random bits, specials and usual
// numbers.
func TestFunctionsOnGPU(t *testing.T) {
	_, kind := onGPU(t)
	dev, err := weft.DeviceByName(kind)
	if err != nil {
		t.Fatal(err)
	}
	size := 1 << 21
	if kind == "simulated" {
		size = 1 << 8
	}
	host := map[weft.DType]*weft.Tensor{}
	for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Float16, weft.BFloat16} {
		host[d] = functionArguments(d, size)
	}
	functions := 0
	for _, def := range op.Table() {
		if def.Arity != 1 || def.Class != op.Pointwise {
			continue
		}
		for d, x := range host {
			scope := weft.NewScope()
			err := weft.Try(func() {
				f := def.Name + "(x)"
				want := scope.Track(weft.Expr(f, weft.Vars{"x": x}))
				moved := scope.Track(x.On(dev))
				got := scope.Track(scope.Track(weft.Expr(f, weft.Vars{"x": moved})).On(weft.CPU))
				if i := differ(want, got); i >= 0 {
					t.Errorf("%s of %v: element %d of %d differs: of %v %v, want %v", def.Name, d, i, size, x.Slice(weft.Index(i)), got.Slice(weft.Index(i)), want.Slice(weft.Index(i)))
				}
				functions++
			})
			scope.Close()
			if err != nil && strings.Contains(err.Error(), "device") { // else there is no such function of d
				t.Errorf("%s of %v: %v", def.Name, d, err)
			}
		}
	}
	t.Logf("%d functions of %d elements", functions, size)
	if functions < 100 {
		t.Errorf("only %d functions were compared", functions)
	}
}

// functionArguments returns random bits, and numbers from -30 to 30.
func functionArguments(d weft.DType, size int) *weft.Tensor {
	r := rand.New(rand.NewPCG(uint64(d), 1))
	specials := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, math.Inf(1), math.Inf(-1), math.NaN(), math.Pi, 1e-300, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64}
	wide := make([]float64, size)
	for i := range wide {
		switch {
		case i < len(specials):
			wide[i] = specials[i]
		case i%2 == 0:
			wide[i] = 60*r.Float64() - 30
		case d == weft.Float64:
			wide[i] = math.Float64frombits(r.Uint64())
		default:
			wide[i] = float64(math.Float32frombits(r.Uint32()))
		}
	}
	return weft.FromSlice(wide).To(d)
}

// differ returns the first element whose bits differ, two NaN being equal, or -1.
func differ(a, b *weft.Tensor) int {
	if a.DType() != b.DType() || !array.Equal(a.Shape(), b.Shape()) {
		return 0
	}
	if weft.Digest(a) == weft.Digest(b) {
		return -1
	}
	if !a.DType().Float() {
		for i := range a.Size() {
			if fmt.Sprint(a.Slice(weft.Index(i))) != fmt.Sprint(b.Slice(weft.Index(i))) {
				return i
			}
		}
		return -1
	}
	x, y := weft.Data[float64](a.To(weft.Float64).Reshape(-1)), weft.Data[float64](b.To(weft.Float64).Reshape(-1))
	for i := range x {
		if math.Float64bits(x[i]) != math.Float64bits(y[i]) && (x[i] == x[i] || y[i] == y[i]) {
			return i
		}
	}
	return -1
}

// TestProductsOnGPU compares matrix products with the CPU.
func TestProductsOnGPU(t *testing.T) {
	_, kind := onGPU(t)
	dev, err := weft.DeviceByName(kind)
	if err != nil {
		t.Fatal(err)
	}
	sizes := [][3]int{{1, 1, 1}, {1, 300, 700}, {5, 7, 1000}, {63, 65, 257}, {128, 128, 256}, {130, 200, 513}, {512, 512, 512}, {1000, 1001, 999}, {1024, 1024, 1024}}
	if kind == "simulated" {
		sizes = sizes[:4]
	}
	g := weft.NewGenerator(5)
	for _, s := range sizes {
		for _, d := range []weft.DType{weft.Float32, weft.Float64, weft.Float16, weft.BFloat16} {
			a, b := g.Randn(s[0], s[2]).To(d), g.Randn(s[1], s[2]).To(d)
			for _, turned := range []bool{false, true} {
				product := func(a, b *weft.Tensor) *weft.Tensor {
					if turned {
						return b.MatMul(a.T())
					}
					return a.MatMul(b.T().Contiguous())
				}
				want, got := product(a, b), product(a.On(dev), b.On(dev)).On(weft.CPU)
				if i := differ(want, got); i >= 0 {
					t.Errorf("product %v of %v, turned %v: element %d differs", s, d, turned, i)
				}
			}
		}
	}
}
