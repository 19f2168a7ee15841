package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/cpu"
	"weft/internal/device"
	"weft/internal/exec"
	"weft/internal/formula"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/loop"
	"weft/internal/op"
	"weft/internal/plan"
	"weft/internal/rewrite"
	"weft/internal/tensortest"
)

// reread evaluates what Explain writes of a formula, line by line, and returns the result;
// nil if some line is beyond the language.
func reread(t *testing.T, text string, vars weft.Vars) *weft.Tensor {
	t.Helper()
	f, err := weft.ParseExpr(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	explained, err := f.Explain(vars)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	formulas, _, _ := strings.Cut(explained, "\n\n")
	known := weft.Vars{}
	for k, x := range vars {
		known[k] = x
	}
	var last *weft.Tensor
	for line := range strings.Lines(formulas) {
		name, formula, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok {
			t.Fatalf("%q: a line of Explain is %q", text, line)
		}
		for _, beyond := range []string{"[", "{", "complex("} {
			if strings.Contains(formula, beyond) {
				return nil
			}
		}
		y, err := weft.ParseExpr(formula)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, formula, err)
		}
		z, err := y.Eval(known)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, formula, err)
		}
		known[name], last = z, z
	}
	return last
}

// The formulas of Explain are formulas: Expr reads them, and computes the same bits.
func TestExplainedFormulasReadBack(t *testing.T) {
	// Formulas do not depend on the backend, and the others print machine code, which takes most of the time.
	defer tensortest.SetBackend(device.Get(0).(interface{ ISA() jit.ISA }).ISA())
	tensortest.SetBackend(jit.Portable)
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float64, 12)
	for i := range x {
		x[i] = 4*r.Float64() - 2
	}
	vars := weft.Vars{
		"x": weft.FromSlice(x, 3, 4).To(weft.Float32), "y": weft.FromSlice(x, 4, 3).T().Clone().Add(0.5), "r": weft.FromSlice(x[:4]).To(weft.Float32),
		"n": weft.FromSlice(x, 3, 4).Mul(10).To(weft.Int32), "b": weft.FromSlice(x, 3, 4).Gt(0), "u": weft.FromSlice(x, 3, 4).Square().Mul(9).To(weft.Uint8), "lr": 0.3, "k": 3,
	}
	arrays := []string{"x", "y", "r", "n", "b", "u"}
	read, count := 0, 0
	check := func(text string) {
		t.Helper()
		var want *weft.Tensor
		if err := weft.Try(func() { want = weft.Expr(text, vars) }); err != nil {
			return // of types or shapes that do not fit
		}
		count++
		got := reread(t, text, vars)
		if got == nil {
			return
		}
		read++
		if weft.Digest(got) != weft.Digest(want) {
			t.Errorf("%q read back: %v, want %v", text, got, want)
		}
	}
	// Every function of the language, of two arrays: compiling each for all six takes a minute.
	for i, name := range formula.Functions() {
		for _, a := range []string{"x", arrays[1+i%(len(arrays)-1)]} {
			for _, args := range []string{"", ", 0", ", 1", ", " + a, ", x", ", 0, 1", ", 0.5, 2"} {
				check(name + "(" + a + args + ")")
			}
		}
	}
	// Every nesting of operators: parentheses are neither too many nor too few to be the
	// same tree.
	ops := []string{"+", "-", "*", "/", "%", "<", ">=", "==", "&&", "||", "&", "|", "^", "<<", ">>"}
	for _, p := range ops {
		for _, q := range ops {
			check("(n " + p + " u) " + q + " n")
			check("n " + p + " (u " + q + " n)")
			check("x " + p + " (y " + q + " lr*2)")
			check("-x " + p + " -(y " + q + " -2.5)")
		}
	}
	for range 300 {
		check(randomFormula(r, 4))
	}
	for _, text := range []string{"sum(x, 0, 1)", "sum(sum_keep(x, 1), 0)", "amax_keep(x) - x", "logsumexp(x*2*lr, 1)", "softmax(x, 0) + softmax(x, 0)",
		"!(x > 0 && y < 1)", "(1.0/0.0)*x", "x - 1e-30", "pow(x, -3)", "pow(abs(x), 0.3)", "where(b, x, 0.0)*k", "dot(x, pow(y, 2)/3)", "^n &^ u", "std(x, 0) + var(y)"} {
		check(text)
	}
	if count < 1000 || read < count*8/10 {
		t.Errorf("%d of %d formulas were readable", read, count)
	}
}

func randomFormula(r *rand.Rand, depth int) string {
	if depth == 0 || r.IntN(6) == 0 {
		return []string{"x", "y", "r", "2", "0.5", "lr", "k", "-1.5"}[r.IntN(8)]
	}
	a, b := randomFormula(r, depth-1), randomFormula(r, depth-1)
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("exp(-abs(%s))", a)
	case 1:
		return fmt.Sprintf("where(%s < %s, %s, %s)", a, b, b, a)
	case 2:
		return fmt.Sprintf("-(%s)", a)
	}
	return fmt.Sprintf("(%s) %s (%s)", a, []string{"+", "-", "*", "/"}[r.IntN(4)], b)
}

// A golden text: what Explain shows before the plan.
func TestExplainShowsTheGraph(t *testing.T) {
	f, err := weft.ParseExpr("softmax(x*x, 1) - 2*lr*mean_keep(x, 0)")
	if err != nil {
		t.Fatal(err)
	}
	s, err := f.Explain(weft.Vars{"x": weft.Ones(3, 4), "lr": 0.5})
	if err != nil {
		t.Fatal(err)
	}
	want := `t1 = x * x
t2 = exp(t1 - max_keep(t1, 1))
out = t2 / sum_keep(t2, 1) - (2 * lr) * (sum_keep(x, 0) / 3.0)

sub #1 float32[3 4]
├─ div #2 float32[3 4]
│  ├─ exp #3 float32[3 4], read 2 times
│  │  └─ sub #4 float32[3 4]
│  │     ├─ mul #5 float32[3 4], read 2 times
│  │     │  ├─ x #6 float32[3 4]
│  │     │  └─ x #6 ^
│  │     └─ reduce_max{1:2} #7 float32[3 1]
│  │        └─ mul #5 ^
│  └─ reduce_sum{1:2} #8 float32[3 1]
│     └─ exp #3 ^
└─ mul #9 float32[1 4]
   ├─ (2 * lr) #10 float32[]
   └─ div #11 float32[1 4]
      ├─ reduce_sum{0:1} #12 float32[1 4]
      │  └─ x #6 ^
      └─ 3.0 #13 float32[]

step 0: `
	if !strings.HasPrefix(s, want) {
		t.Errorf("got\n%s\nwant\n%s", s, want)
	}
}

// A compiled function shows the lines of the user, from the trace to the plan.
func TestExplainOfCompiledNamesUserLines(t *testing.T) {
	w := tensortest.Noise(1, .1, 20, 5).RequireGrad()
	_, file, line, _ := runtime.Caller(0)
	at := func(below int) string { return fmt.Sprintf("%s:%d", filepath.Base(file), line+below) }
	step := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		y := x.MatMul(w)         // line A
		z := y.Mul(1).Tanh()     // line B
		loss := z.Square().Sum() // line C
		loss.Backward()
		weft.WithoutGrad(func() { w.SubAssign(w.Grad().Mul(0.1)) })
		w.SetGrad(nil)
		return loss
	})
	var e *weft.Error
	if err := step.View(io.Discard, nil); !errors.As(err, &e) {
		t.Errorf("View before the first call: %v", err)
	}
	if err := weft.Try(func() { step.Explain() }); !errors.As(err, &e) {
		t.Errorf("Explain before the first call: %v", err)
	}
	x := tensortest.Noise(2, 1, 30, 20)
	p := weft.StartProfile(weft.ProfileOpts{})
	for range 3 {
		if _, err := step.Call(x); err != nil {
			t.Fatal(err)
		}
	}
	p.Stop()
	s := step.Explain()
	for _, want := range []string{"dot(arg0, ", "tanh", at(3), at(4), at(5), "step 0", "reduce_sum"} {
		if !strings.Contains(s, want) {
			t.Errorf("Explain has no %q:\n%.3000s", want, s)
		}
	}
	var page strings.Builder
	if err := step.View(&page, p); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"name":"traced"`, `"name":"canonicalise"`, `"name":"rewritten"`, `"name":"plan"`, at(3), "GB/s"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page has no %q", want)
		}
	}
	// The profile knows the function, its kernels, and what compiling it took.
	if r := find(t, p.Operations(), programsOf(step).Name); r.Calls != 3 || r.Flops < 3*3*2*30*20*5/2 {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{"trace", "rewrite: canonicalise", "plan", "kernels"} {
		find(t, p.Phases(), name)
	}
	if len(p.Rules()) == 0 || !slices.ContainsFunc(p.Rules(), func(r weft.ProfileRow) bool { return r.Calls > 0 }) {
		t.Errorf("rules: %v", p.Rules())
	}
	if s := p.String(); !strings.Contains(s, "rules of rewriting") || !strings.Contains(s, "rewrite: merge") {
		t.Error(s)
	}
}

// debugStep is a step of a training with most kinds of operations in it.
func debugStep() (step *weft.Compiled[func(x, y *weft.Tensor) *weft.Tensor], w *weft.Tensor) {
	w = tensortest.Noise(1, .3, 12, 6).RequireGrad()
	b := tensortest.Noise(2, .3, 6).RequireGrad()
	return weft.Compile(func(x, y *weft.Tensor) *weft.Tensor {
		h := x.MatMul(w).Add(b).Tanh()
		loss := h.Mul(h).Mul(1).Sub(y).Square().Mean().Add(h.Softmax(1).Log().Mean())
		loss.Backward()
		for _, p := range []*weft.Tensor{w, b} {
			weft.WithoutGrad(func() { p.SubAssign(p.Grad().Mul(0.1)) })
			p.SetGrad(nil)
		}
		return loss
	}), w
}

// Nothing is found in what is right, and results are those without Debug, to the bit.
func TestDebugFindsNothing(t *testing.T) {
	x, y := tensortest.Noise(3, 1, 9, 12), tensortest.Noise(4, 1, 9, 6)
	plain, w := debugStep()
	var want []string
	for range 3 {
		loss, err := plain.Call(x, y)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, weft.Digest(loss, w.Detach()))
	}
	steps := 0
	for name, o := range map[string]weft.DebugOpts{"verify": {Verify: true}, "nan": {NaN: true}, "all": {Verify: true, NaN: true, Watch: func(weft.DebugStep) { steps++ }}} {
		step, w := debugStep()
		checked := step.Debug(o)
		for i := range want {
			loss, err := checked.Call(x, y)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if weft.Digest(loss, w.Detach()) != want[i] {
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
	core.DebugRules = func(rules []*rewrite.Rule) []*rewrite.Rule { return append(slices.Clip(right(rules)), wrong) }
	step, w := debugStep()
	before := weft.Digest(w.Detach())
	_, err := step.Debug(weft.DebugOpts{Verify: true}).Call(tensortest.Noise(3, 1, 9, 12), tensortest.Noise(4, 1, 9, 6))
	var e *weft.Error
	if !errors.As(err, &e) || e.Op != "debug" || !strings.Contains(err.Error(), `"tanh is sine"`) || !strings.Contains(err.Error(), "sin(") || !strings.Contains(err.Error(), "tanh(") {
		t.Fatalf("got %v", err)
	}
	if weft.Digest(w.Detach()) != before {
		t.Error("a call that found a fault has written")
	}
}

// The operation that makes the first NaN is named with its line; one that is handed on is not.
func TestDebugFindsNaN(t *testing.T) {
	_, _, line, _ := runtime.Caller(0)
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		return x.Add(1).Log().Exp().Sum(1) // two lines further down
	}).Debug(weft.DebugOpts{NaN: true})
	_, err := f.Call(weft.FromSlice([]float64{1, 2, 3, -5, 4, -7}, 2, 3))
	if err == nil || !strings.Contains(err.Error(), "log gives NaN: 2 of 6 elements, the first at [1 0]") || !strings.Contains(err.Error(), fmt.Sprintf("_test.go:%d)", line+2)) {
		t.Errorf("got %v", err)
	}
	if _, err := f.Call(weft.FromSlice([]float64{1, 2, 3, 5, 4, 7}, 2, 3)); err != nil {
		t.Error(err)
	}
	if _, err := f.Call(weft.FromSlice([]float64{1, 2, 3, math.NaN(), 4, 7}, 2, 3)); err != nil {
		t.Errorf("a NaN that was given: %v", err)
	}
}

// DebugOpts.Inf and Big name the operation that makes the first infinity or great number of
// arguments without one, in float16 and complex numbers too.
func TestDebugFindsInfinityAndBig(t *testing.T) {
	inf := weft.DebugOpts{Inf: true}
	big := weft.DebugOpts{Big: 1e10}
	half := weft.FromSlice([]float32{1, 300}).To(weft.Float16)
	for name, c := range map[string]struct {
		o    weft.DebugOpts
		f    func(x *weft.Tensor) *weft.Tensor
		x    *weft.Tensor
		want string
	}{
		"an overflow":            {inf, func(x *weft.Tensor) *weft.Tensor { return x.Mul(2).Exp().Reciprocal() }, weft.FromSlice([]float64{1, 400, -1}), "exp gives infinity: 1 of 3 elements, the first at [1]"},
		"a division by 0":        {inf, func(x *weft.Tensor) *weft.Tensor { return x.Reciprocal() }, weft.FromSlice([]float32{0, 2}), "reciprocal gives infinity: 1 of 2"},
		"a float16":              {inf, func(x *weft.Tensor) *weft.Tensor { return x.Mul(x).Mul(1) }, half, "square gives infinity: 1 of 2 elements, the first at [1]"},
		"a given infinity":       {inf, func(x *weft.Tensor) *weft.Tensor { return x.Mul(2).Sum() }, weft.FromSlice([]float32{1, float32(math.Inf(1))}), ""},
		"NaN of an infinity":     {inf, func(x *weft.Tensor) *weft.Tensor { return x.Sub(x) }, weft.FromSlice([]float32{1, float32(math.Inf(1))}), ""},
		"a number that is great": {big, func(x *weft.Tensor) *weft.Tensor { return x.Square().Square() }, weft.FromSlice([]float64{1, -1e4}), "square gives magnitudes above 1e+10: 1 of 2 elements, the first at [1]"},
		"at the limit":           {big, func(x *weft.Tensor) *weft.Tensor { return x.Square() }, weft.FromSlice([]float64{1, -1e5}), ""},
		"infinity is great":      {big, func(x *weft.Tensor) *weft.Tensor { return x.Log() }, weft.FromSlice([]float64{0}), "log gives magnitudes above 1e+10"},
		"a given number":         {big, func(x *weft.Tensor) *weft.Tensor { return x.Add(1e12).Mul(2) }, weft.FromSlice([]float64{1}), ""},
		"complex":                {big, func(x *weft.Tensor) *weft.Tensor { return x.Mul(x) }, weft.FromSlice([]complex128{1, 1e6i}), "gives magnitudes above 1e+10: 1 of 2"},
		"integers":               {big, func(x *weft.Tensor) *weft.Tensor { return x.Mul(x) }, weft.FromSlice([]int64{1e6}), ""},
		"none":                   {weft.DebugOpts{NaN: true, Inf: true, Big: 1e10}, func(x *weft.Tensor) *weft.Tensor { return x.Exp().Sum() }, weft.Ones(3), ""},
	} {
		_, err := weft.Compile(c.f).Debug(c.o).Call(c.x)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	for _, limit := range []float64{-1, math.NaN()} {
		err := weft.Try(func() { weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x }).Debug(weft.DebugOpts{Big: limit}) })
		var e *weft.Error
		if !errors.As(err, &e) || e.Op != "debug" || e.Arg != "Big" {
			t.Errorf("the limit %v: %v", limit, err)
		}
	}
}

// NaN that is given as a number, or in complex numbers, is not made by the operation that reads
// it; one that is made there is found.
func TestDebugNaNGiven(t *testing.T) {
	nan, z := math.NaN(), weft.FromSlice([]complex128{1, complex(2, math.NaN()), 3i})
	for name, c := range map[string]struct {
		f    func(x *weft.Tensor) *weft.Tensor
		x    *weft.Tensor
		want string
	}{
		"a number":             {func(x *weft.Tensor) *weft.Tensor { return x.Mul(nan).Exp() }, weft.Ones(3), ""},
		"filled":               {func(x *weft.Tensor) *weft.Tensor { return x.Add(weft.FullOf(weft.Float32, nan, 3)).Exp() }, weft.Ones(3), ""},
		"where":                {func(x *weft.Tensor) *weft.Tensor { return weft.Where(x.Gt(0), x, nan).Sum() }, weft.Ones(3).Neg(), ""},
		"a complex argument":   {func(x *weft.Tensor) *weft.Tensor { return x.Mul(x).Add(1).Exp() }, z, ""},
		"a part":               {func(x *weft.Tensor) *weft.Tensor { return x.Imag().Sin() }, z, ""},
		"made of complex ones": {func(x *weft.Tensor) *weft.Tensor { return x.Real().Log() }, weft.FromSlice([]complex64{1, -1i, -2}), "log gives NaN: 1 of 3"},
		"made beside one":      {func(x *weft.Tensor) *weft.Tensor { return x.Mul(nan).Add(x.Neg().Log()) }, weft.Ones(3), "log gives NaN: 3 of 3"},
	} {
		_, err := weft.Compile(c.f).Debug(weft.DebugOpts{NaN: true}).Call(c.x)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Calls at the same time are verified once; a call that is ended stops.
func TestDebugConcurrentCallsVerifyOnce(t *testing.T) {
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sin().Sum() }).Debug(weft.DebugOpts{Verify: true})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if _, err := f.Call(weft.Ones(50)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	g := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Sin().Sum() }).Debug(weft.DebugOpts{NaN: true, Watch: func(weft.DebugStep) { cancel() }})
	if _, err := g.CallContext(ctx, weft.Ones(50)); !errors.Is(err, context.Canceled) {
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

// A kernel that differs from the interpreter's is named, and so is the epilogue of a routine.
func TestDebugComparesKernels(t *testing.T) {
	g := ir.New()
	x, y := g.Input(0, weft.Float32, []int{64, 64}), g.Input(1, weft.Float32, []int{64, 64})
	a, b := tensortest.Noise(1, 1, 64, 64), tensortest.Noise(2, 1, 64, 64)
	for name, out := range map[string]*ir.Node{
		"point":    op.Apply(op.Sin, nil, op.Apply(op.Add, nil, x, y)),
		"epilogue": op.Apply(op.Add, nil, op.Apply(op.MatMul, nil, x, y), y),
	} {
		p := plan.Build([]*ir.Node{out}, []plan.Sig{plan.SigOf(tensortest.View(a)), plan.SigOf(tensortest.View(b))}, nil, device.Get(0).Model())
		run := func(oracle device.Device) error {
			c, err := exec.Compile(p, exec.Checked(device.Get(0), oracle))
			if err != nil {
				t.Fatal(err)
			}
			return c.Run(context.Background(), nil, []*array.View{tensortest.View(a), tensortest.View(b)}, nil, make([]array.View, 1))
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
