package weft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/rewrite"
)

// debugStep is a step of a training with most kinds of operations in it.
func debugStep() (step *Compiled[func(x, y *Tensor) *Tensor], w *Tensor) {
	w = noise(1, .3, 12, 6).RequireGrad()
	b := noise(2, .3, 6).RequireGrad()
	return Compile(func(x, y *Tensor) *Tensor {
		h := x.MatMul(w).Add(b).Tanh()
		loss := h.Mul(h).Mul(1).Sub(y).Square().Mean().Add(h.Softmax(1).Log().Mean())
		loss.Backward()
		for _, p := range []*Tensor{w, b} {
			WithoutGrad(func() { p.SubAssign(p.Grad().Mul(0.1)) })
			p.SetGrad(nil)
		}
		return loss
	}), w
}

// Nothing is found in what is right, and results are those without Debug, to the bit.
func TestDebugFindsNothing(t *testing.T) {
	x, y := noise(3, 1, 9, 12), noise(4, 1, 9, 6)
	plain, w := debugStep()
	var want []string
	for range 3 {
		loss, err := plain.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, Digest(loss, w.Detach()))
	}
	steps := 0
	for name, o := range map[string]DebugOpts{"verify": {Verify: true}, "nan": {NaN: true}, "all": {Verify: true, NaN: true, Watch: func(DebugStep) { steps++ }}} {
		step, w := debugStep()
		checked := step.Debug(o)
		for i := range want {
			loss, err := checked.Call(x, y)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if Digest(loss, w.Detach()) != want[i] {
				t.Errorf("%s: call %d has other bits", name, i)
			}
		}
	}
	if steps < 30 {
		t.Errorf("%d steps were watched", steps)
	}
}

// A rule that is wrong is named, with what it did.
func TestDebugNamesTheGuiltyRule(t *testing.T) {
	wrong := &rewrite.Rule{Name: "tanh is sine", Phase: rewrite.Canonicalise, Level: rewrite.Exact, Roots: []*op.Def{op.Tanh},
		Apply: func(_ *rewrite.Context, n *ir.Node) *ir.Node { return op.Apply(op.Sin, nil, n.Args[0]) }}
	right := core.DebugRules
	defer func() { core.DebugRules = right }()
	core.DebugRules = func(l rewrite.Level) []*rewrite.Rule { return append(right(l), wrong) }
	step, w := debugStep()
	before := Digest(w.Detach())
	_, err := step.Debug(DebugOpts{Verify: true}).Call(noise(3, 1, 9, 12), noise(4, 1, 9, 6))
	var e *Error
	if !errors.As(err, &e) || e.Op != "debug" || !strings.Contains(err.Error(), `"tanh is sine"`) || !strings.Contains(err.Error(), "sin(") || !strings.Contains(err.Error(), "tanh(") {
		t.Fatalf("got %v", err)
	}
	if Digest(w.Detach()) != before {
		t.Error("a call that found a fault has written")
	}
}

// The operation that makes the first NaN is named with its line; one that is handed on is not.
func TestDebugFindsNaN(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	f := Compile(func(x *Tensor) *Tensor {
		return x.Add(1).Log().Exp().Sum(1) // two lines further down
	}).Debug(DebugOpts{NaN: true})
	_, err := f.Call(FromSlice([]float64{1, 2, 3, -5, 4, -7}, 2, 3))
	if err == nil || !strings.Contains(err.Error(), "log gives NaN: 2 of 6 elements, the first at [1 0]") || !strings.Contains(err.Error(), fmt.Sprintf("debug_test.go:%d)", line+2)) {
		t.Errorf("got %v", err)
	}
	if _, err := f.Call(FromSlice([]float64{1, 2, 3, 5, 4, 7}, 2, 3)); err != nil {
		t.Error(err)
	}
	if _, err := f.Call(FromSlice([]float64{1, 2, 3, math.NaN(), 4, 7}, 2, 3)); err != nil {
		t.Errorf("a NaN that was given: %v", err)
	}
}

// NaN that is given as a number, or in complex numbers, is not made by the operation that reads
// it; one that is made there is found.
func TestDebugNaNGiven(t *testing.T) {
	nan, z := math.NaN(), FromSlice([]complex128{1, complex(2, math.NaN()), 3i})
	for name, c := range map[string]struct {
		f    func(x *Tensor) *Tensor
		x    *Tensor
		want string
	}{
		"a number":             {func(x *Tensor) *Tensor { return x.Mul(nan).Exp() }, Ones(3), ""},
		"filled":               {func(x *Tensor) *Tensor { return x.Add(FullOf(Float32, nan, 3)).Exp() }, Ones(3), ""},
		"where":                {func(x *Tensor) *Tensor { return Where(x.Gt(0), x, nan).Sum() }, Ones(3).Neg(), ""},
		"a complex argument":   {func(x *Tensor) *Tensor { return x.Mul(x).Add(1).Exp() }, z, ""},
		"a part":               {func(x *Tensor) *Tensor { return x.Imag().Sin() }, z, ""},
		"made of complex ones": {func(x *Tensor) *Tensor { return x.Real().Log() }, FromSlice([]complex64{1, -1i, -2}), "log gives NaN: 1 of 3"},
		"made beside one":      {func(x *Tensor) *Tensor { return x.Mul(nan).Add(x.Neg().Log()) }, Ones(3), "log gives NaN: 3 of 3"},
	} {
		_, err := Compile(c.f).Debug(DebugOpts{NaN: true}).Call(c.x)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Calls at the same time are verified once; a call that is ended stops.
func TestDebugCalls(t *testing.T) {
	f := Compile(func(x *Tensor) *Tensor { return x.Sin().Sum() }).Debug(DebugOpts{Verify: true})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := f.Call(Ones(50)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	g := Compile(func(x *Tensor) *Tensor { return x.Sin().Sum() }).Debug(DebugOpts{NaN: true, Watch: func(DebugStep) { cancel() }})
	if _, err := g.CallContext(ctx, Ones(50)); !errors.Is(err, context.Canceled) {
		t.Errorf("ended in the middle: %v", err)
	}
}

// swapped is a device that subtracts where it should add.
type swapped struct{ device.Device }

func (d swapped) Compile(p *loop.Program) (device.Program, error) {
	q := *p
	q.Ins = slices.Clone(p.Ins)
	for i := range q.Ins {
		if q.Ins[i].Op == loop.OpAdd {
			q.Ins[i].Op = loop.OpSub
		}
	}
	return d.Device.Compile(&q)
}

// A kernel that differs from the interpreter's is named, and so is the tail of a routine.
func TestDebugComparesKernels(t *testing.T) {
	g := ir.New()
	x, y := g.Input(0, Float32, []int{64, 64}), g.Input(1, Float32, []int{64, 64})
	a, b := noise(1, 1, 64, 64), noise(2, 1, 64, 64)
	for name, out := range map[string]*ir.Node{
		"point": op.Apply(op.Sin, nil, op.Apply(op.Add, nil, x, y)),
		"tail":  op.Apply(op.Add, nil, op.Apply(op.MatMul, nil, x, y), y),
	} {
		p := plan.Build([]*ir.Node{out}, []plan.Sig{plan.SigOf(a.v()), plan.SigOf(b.v())}, nil)
		run := func(oracle device.Device) error {
			c, err := exec.Compile(p, exec.Checked(device.Get(0), oracle))
			if err != nil {
				t.Fatal(err)
			}
			return c.Run(context.Background(), []*array.View{a.v(), b.v()}, nil, make([]array.View, 1))
		}
		oracle := cpu.New(jit.Portable)
		if err := run(oracle); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := run(swapped{oracle}); err == nil || !strings.Contains(err.Error(), "differs from the interpreter's") {
			t.Errorf("%s with a wrong kernel: %v", name, err)
		}
	}
}

func ExampleCompiled_Debug() {
	f := Compile(func(x *Tensor) *Tensor { return x.Exp().Sum() })
	watched := f.Debug(DebugOpts{Watch: func(s DebugStep) {
		if !strings.HasPrefix(s.Op, "reshape") {
			fmt.Println(s.Op, s.Value)
		}
	}})
	watched.Call(Zeros(4))
	// Output:
	// exp [1. 1. 1. 1.]
	// reduce_sum{0:1} [4.]
}
