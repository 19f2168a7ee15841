package sym_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/half"
	"weft/internal/jit"
	"weft/internal/par"
	"weft/internal/tensortest"
	"weft/sym"
)

// TestMisuse: errors name the variable, and the line that made it where that helps.
func TestMisuse(t *testing.T) {
	f64 := weft.Float64
	x, y := sym.Matrix("x", f64), sym.Vector("y", f64)
	w, b := sym.Shared("w", weft.FromSlice([]float64{1, 2})), sym.Shared("b", weft.FromSlice([]float64{1, 2}))
	make := func(in sym.Inputs, out sym.Outputs, o ...sym.Option) func() error {
		return func() error { _, err := sym.Function(in, out, o...); return err }
	}
	doing := func(f func()) func() error { return func() error { return weft.Try(f) } }
	calling := func(v *sym.Var, out *sym.Var, args ...any) func() error {
		return func() error {
			f, err := sym.Function(sym.In(v), sym.Out(out))
			if err != nil {
				return err
			}
			_, err = f.Call(args...)
			return err
		}
	}
	static := sym.New("static", f64, 3, sym.Any)
	loop := sym.Shared("s", weft.FromSlice([]float64{0}))
	cases := []struct {
		what string
		do   func() error
		want []string
	}{
		{"an input twice", make(sym.In(x, x), sym.Out(x)), []string{"x", "twice"}},
		{"an input that is computed", make(sym.In(x.Mul(2).As("z")), sym.Out(x)), []string{"z", "not an input variable", "function_test.go"}},
		{"an input that is shared", make(sym.In(w), sym.Out(w)), []string{"w", "not an input variable"}},
		{"what is missing", make(sym.In(x), sym.Out(x.Sum().Add(y))), []string{"y", "needed", "function_test.go"}},
		{"an input without use", make(sym.In(x, y), sym.Out(x)), []string{"y", "no result depends on it"}},
		{"an update of an input", make(sym.In(x), sym.Out(x), sym.Updates{x: x}), []string{"x", "not a shared variable"}},
		{"two updates of one variable", make(sym.In(x), sym.Out(x), sym.Updates{w: w}, sym.Updates{w: b}), []string{"w", "two updates"}},
		{"an update of another type", make(sym.In(x), sym.Out(x), sym.Updates{w: x}), []string{"w", "float64[2]", "float64[? ?]"}},
		{"an update of another dtype", make(sym.In(), sym.Out(), sym.Updates{w: w.To(weft.Float32)}), []string{"w", "float32"}},
		{"an argument that is missing", calling(x, x.Sum()), []string{"x", "missing"}},
		{"too many arguments", calling(x, x.Sum(), weft.Ones(2, 2), weft.Ones(1)), []string{"takes 1", "got 2"}},
		{"another dtype", calling(x, x.Sum(), weft.Ones(2, 2)), []string{"x", "float32[2 2]", "float64[? ?]", "function_test.go"}},
		{"another rank", calling(x, x.Sum(), weft.OnesOf(f64, 2)), []string{"x", "float64[2]", "float64[? ?]"}},
		{"another static size", calling(static, static.Sum(), weft.OnesOf(f64, 4, 2)), []string{"static", "float64[4 2]", "float64[3 ?]"}},
		{"a slice of Go", calling(x, x.Sum(), []float64{1}), []string{"x", "[]float64"}},
		{"a name that is none", calling(x, x.Sum(), sym.Args{"x": weft.OnesOf(f64, 1, 1), "q": 1}), []string{"q", "not an input"}},
		{"sizes that do not fit", calling(x, x.MatMul(w), weft.OnesOf(f64, 2, 3)), []string{"matmul", "function_test.go", "x is float64[2 3]"}},
		{"dtypes that do not fit", doing(func() { x.BitAnd(1) }), []string{"bit_and", "x float64[? ?]", "function_test.go"}},
		{"ranks that do not fit", doing(func() { y.Conv2d(x, nil, weft.ConvOpts{}) }), []string{"conv2d", "y float64[?]"}},
		{"sizes that cannot fit", doing(func() { w.Add(sym.Const(weft.OnesOf(f64, 3))) }), []string{"add", "w float64[2]"}},
		{"a gradient of a matrix", doing(func() { sym.Grad(x, []*sym.Var{x}) }), []string{"x", "2 dimensions"}},
		{"a gradient by what plays no part", doing(func() { sym.Grad(x.Sum(), []*sym.Var{y}) }), []string{"y", "plays no part", "function_test.go"}},
		{"a gradient through a cut", doing(func() { sym.Grad(sym.DisconnectedGrad(x).Sum(), []*sym.Var{x}) }), []string{"x", "plays no part"}},
		{"a gradient by integers", doing(func() {
			i := sym.Vector("i", weft.Int64)
			sym.Grad(i.To(f64).Sum(), []*sym.Var{i})
		}), []string{"i", "no floats"}},
		{"a replacement of another type", make(sym.In(x), sym.Out(x), sym.Givens{x: y}), []string{"x", "float64[?]"}},
		{"a nil variable", doing(func() { x.Add((*sym.Var)(nil)) }), []string{"nil"}},
		{"seeds of MRG", doing(func() { sym.NewMRGStreams(0) }), []string{"zeros alone"}},
		{"an update that no input gives", make(sym.In(), sym.Out(), sym.Updates{loop: loop.Add(y.Sum())}), []string{"y", "needed"}},
	}
	for _, c := range cases {
		err := c.do()
		var e *weft.Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v, want an error", c.what, err)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %v, want %q in it", c.what, err, w)
			}
		}
	}
}

// TestUpdatesUseOldValues: all are computed of what was before, then written; results are from before too.
func TestUpdatesUseOldValues(t *testing.T) {
	a, b := sym.Shared("a", weft.FromSlice([]float64{1, 2})), sym.Shared("b", weft.FromSlice([]float64{3, 4}))
	swap, err := sym.Function(sym.In(), sym.Out(a, a.Add(b)), sym.Updates{a: b, b: a})
	if err != nil {
		t.Fatal(err)
	}
	out, err := swap.Call()
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "a", a.Tensor(), 3, 4)
	expect(t, "b", b.Tensor(), 1, 2)
	if _, err = swap.Call(); err != nil {
		t.Fatal(err)
	}
	expect(t, "a again", a.Tensor(), 1, 2)
	expect(t, "the first result", out[0], 1, 2) // no call writes into results of another
	expect(t, "the sum", out[1], 4, 6)
	a.SetValue(7)
	out, _ = swap.Call()
	expect(t, "a value that was set", out[0], 7, 7)

	// Views of what is written.
	m := sym.Shared("m", weft.FromSlice([]float64{1, 2, 3, 4}, 2, 2))
	turn, err := sym.Function(sym.In(), sym.Out(m.T()), sym.Updates{m: m.T().Add(0)})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := turn.Call()
	turn.Call()
	expect(t, "a view", first[0], 1, 3, 2, 4)
}

func TestFunctionForms(t *testing.T) {
	x, y := sym.Scalar("x", weft.Float64), sym.Scalar("y", weft.Float64)
	n := sym.Shared("n", weft.ScalarOf(weft.Float64, 0.0))
	f, err := sym.Function(sym.In(x, sym.Param{Var: y, Name: "by", Value: 10}), sym.OutFields(struct{ Sum, Count *sym.Var }{x.Add(y), n}), sym.Updates{n: n.Add(1)}, sym.Named("add"))
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Sum, Count *weft.Tensor }
	for i, c := range []struct {
		args []any
		want float64
	}{{[]any{1}, 11}, {[]any{1, 2.5}, 3.5}, {[]any{sym.Args{"x": 4, "by": 5}}, 9}, {[]any{weft.ScalarOf(weft.Float64, 1.0), sym.Args{"by": 2}}, 3}} {
		if err := f.Into(&got, c.args...); err != nil {
			t.Fatal(err)
		}
		expect(t, "sum", got.Sum, c.want)
		expect(t, "count", got.Count, float64(i))
	}
	if _, err := f.Call(1, sym.Args{"x": 2}); err == nil || !strings.Contains(err.Error(), "add: x: is given twice") {
		t.Errorf("given twice: %v", err)
	}

	// A copy over another shared variable, and one without updates.
	m := sym.Shared("m", weft.ScalarOf(weft.Float64, 100.0))
	c, err := f.Copy(sym.CopyOpts{Swap: map[*sym.Var]*sym.Var{n: m}})
	if err != nil {
		t.Fatal(err)
	}
	still, err := f.Copy(sym.CopyOpts{DeleteUpdates: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		c.Into(&got, 1)
		still.Into(&got, 1)
	}
	expect(t, "n", n.Tensor(), 4)
	expect(t, "m", m.Tensor(), 102)
	f.Free()
	if _, err := f.Call(1); err == nil || !strings.Contains(err.Error(), "freed") {
		t.Errorf("a function that was freed: %v", err)
	}
	if _, err := c.Call(1); err != nil {
		t.Error(err)
	}

	// Givens, and other shapes.
	v := sym.Vector("v", weft.Float64)
	g, err := sym.Function(sym.In(v), sym.Out(x.Mul(3).Add(y)), sym.Givens{x: v.Sum(), y: sym.Const(weft.ScalarOf(weft.Float64, 1.0))})
	if err != nil {
		t.Fatal(err)
	}
	for size := range 4 {
		out, err := g.Call(weft.OnesOf(weft.Float64, size+1))
		if err != nil {
			t.Fatal(err)
		}
		expect(t, "givens", out[0], float64(3*(size+1)+1))
	}
	if n := strings.Count(g.Why(), "traced"); n != 4 {
		t.Errorf("4 shapes: %s", g.Why())
	}
}

// TestVarHasTensorMethods fails where a method of tensors has neither a counterpart nor a reason.
func TestVarHasTensorMethods(t *testing.T) {
	vars, tensors := reflect.TypeFor[*sym.Var](), reflect.TypeFor[*weft.Tensor]()
	for i := range tensors.NumMethod() {
		name := tensors.Method(i).Name
		_, has := vars.MethodByName(name)
		if why := sym.LeftOut[name]; !has && why == "" {
			t.Errorf("Var has no method %s: go generate ./sym", name)
		}
	}
}

// TestInference: what is known of sizes where only some are.
func TestInference(t *testing.T) {
	x, n := sym.Matrix("x", weft.Float32), sym.New("n", weft.Float32, sym.Any, 784)
	w := sym.Shared("w", weft.Zeros(784, 10))
	p := sym.Tensor4("p", weft.Float32)
	for _, c := range []struct {
		v    *sym.Var
		want string
	}{
		{x.MatMul(w), "float32[? 10]"},
		{x.MatMul(w).Softmax(1).Log(), "float32[? 10]"},
		{x.Sum(0), "float32[?]"},
		{x.ArgMax(1), "int64[?]"},
		{n.Reshape(-1, 1, 28, 28), "float32[? 1 28 28]"},
		{x.Reshape(-1, 28), "float32[? 28]"},
		{x.T(), "float32[? ?]"},
		{x.MeanKeep(1), "float32[? 1]"},
		{x.Add(weft.Ones(5)), "float32[? 5]"},
		{x.Slice(weft.All, weft.Range(0, 3)), "float32[? ?]"}, // x may have fewer columns
		{x.At(0), "float32[?]"},
		{p.Conv2d(sym.Const(weft.Ones(6, 3, 5, 5)), nil, weft.ConvOpts{}), "float32[? 6 ? ?]"},
		{sym.Stack([]*sym.Var{x, x}, 0), "float32[2 ? ?]"},
		{sym.Grad(x.MatMul(w).Sum(), []*sym.Var{w})[0], "float32[784 10]"},
		{x.Len(1), "int64[]"},
		{sym.Row("r", weft.Int32).Add(sym.Col("c", weft.Int64)), "int64[? ?]"},
	} {
		if got := c.v.String(); !strings.HasSuffix(got, " "+c.want) {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestRandomStreams: a variable used twice is one draw, each call draws anew, and the same
// seed gives the same on any number of threads.
func TestRandomStreams(t *testing.T) {
	run := func(threads int) []string {
		defer par.SetThreads(par.SetThreads(threads))
		s, m := sym.NewRandomStreams(5), sym.NewMRGStreams(12345)
		var out []string
		for _, v := range []*sym.Var{s.Uniform(weft.Float64, 2, 3, 40000), s.Normal(weft.Float32, 0, 1, 1000), s.Integers(-3, 4, 100),
			s.Bernoulli(sym.Const(weft.FullOf(weft.Float32, 0.5, 100))), m.Uniform(weft.Float64, 0, 1, 40000), m.Normal(weft.Float32, 0, 1, 101)} {
			f, err := sym.Function(sym.In(), sym.Out(v, v.Sub(v).Abs().Max(), v.Add(1).Sub(v)))
			if err != nil {
				t.Fatal(err)
			}
			var last string
			for range 3 {
				r, err := f.Call()
				if err != nil {
					t.Fatal(err)
				}
				if d := r[1].To(weft.Float64).Item(); d != 0 {
					t.Errorf("%v: used twice it differs by %v", v, d)
				}
				h := digest(r[0])
				if h == last {
					t.Errorf("%v: two calls gave the same", v)
				}
				last = h
				out = append(out, h)
			}
		}
		return out
	}
	if a, b := run(1), run(4); !reflect.DeepEqual(a, b) {
		t.Errorf("on one thread %v, on four %v", a, b)
	}
	s := sym.NewRandomStreams(1)
	u := s.UniformLike(sym.Const(weft.Zeros(5)), 0, 1)
	f, err := sym.Function(sym.In(), sym.Out(u))
	if err != nil {
		t.Fatal(err)
	}
	first, _ := f.Call()
	f.Call()
	s.Seed(1)
	again, _ := f.Call()
	if digest(first[0]) != digest(again[0]) {
		t.Errorf("seeded anew: %v, at first %v", again[0], first[0])
	}
}

// TestMRGUniform compares draws of 40 numbers by 6 streams with a plain loop over their
// substreams, in two calls, and each variable's streams with the next variable's.
func TestMRGUniform(t *testing.T) {
	m := sym.NewMRGStreams(12345)
	for v := range 3 {
		f, err := sym.Function(sym.In(), sym.Out(m.Uniform(weft.Float64, 0, 1, 4, 10)))
		if err != nil {
			t.Fatal(err)
		}
		want := sym.MRGSamples(v, 6, 80)
		for callNumber := range 2 {
			out, err := f.Call()
			if err != nil {
				t.Fatal(err)
			}
			for i, x := range weft.Data[float64](out[0]) {
				// k is how many numbers stream i mod 6 has given before.
				k := i / 6
				if callNumber == 1 {
					k += (40 - i%6 + 5) / 6
				}
				if w := want[i%6][k]; x != w {
					t.Fatalf("variable %d, call %d, element %d: %v, want %v", v, callNumber, i, x, w)
				}
			}
		}
	}
}

// TestConcurrentCalls: calls of a function with updates wait for one another.
func TestConcurrentCalls(t *testing.T) {
	x, n := sym.Vector("x", weft.Float64), sym.Shared("n", weft.ScalarOf(weft.Float64, 0.0))
	f, err := sym.Function(sym.In(x), sym.Out(x.Sum()), sym.Updates{n: n.Add(1)})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				out, err := f.Call(weft.OnesOf(weft.Float64, i+1))
				if err != nil || out[0].Item() != float64(i+1) {
					t.Errorf("%v, %v", out, err)
				}
			}
		})
	}
	wg.Wait()
	expect(t, "n", n.Tensor(), 160)
}

func digest(t *weft.Tensor) string { return weft.Digest(t) }

// A call makes three pieces of memory: the list of its arguments, the result with its tensor, and
// the elements. The interpreter makes one more, for each run of a program.
func TestCallAllocates(t *testing.T) {
	tensortest.SkipLate(t, "work that waits allocates")
	x := sym.Vector("x", weft.Float32)
	f, err := sym.Function(sym.In(x), sym.Out(x.Mul(2.5).Add(1)))
	if err != nil {
		t.Fatal(err)
	}
	v := weft.Arange(16).To(weft.Float32)
	call := func() {
		if _, err := f.Call(v); err != nil {
			t.Fatal(err)
		}
	}
	most := 3.0
	if jit.Chosen().ISA == jit.Portable {
		most++
	}
	if n := testing.AllocsPerRun(100, call); n > most {
		t.Errorf("%v pieces of memory a call, want %v at most", n, most)
	}
}

// Errors of numbers that an input's type does not hold name the input.
func TestNumbersOfInputs(t *testing.T) {
	call := func(d weft.DType, x any) string {
		v := sym.Scalar("i", d)
		f, err := sym.Function(sym.In(v), sym.Out(v.Add(v)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = f.Call(x); err == nil {
			return ""
		}
		if e := (*weft.Error)(nil); !errors.As(err, &e) || e.Arg != "i" {
			t.Errorf("%v names the argument %q, want i", err, e.Arg)
		}
		text, _, _ := strings.Cut(err.Error(), " (at ")
		return text
	}
	for _, c := range []struct {
		d    weft.DType
		x    any
		want string
	}{
		{weft.Int64, 1.5, "function: i: is 1.5 (float64), want int64[]"},
		{weft.Int64, float32(0.5), "function: i: is 0.5 (float32), want int64[]"},
		{weft.Int64, math.NaN(), "function: i: is NaN (float64), want int64[]"},
		{weft.Int64, math.Inf(1), "function: i: is +Inf (float64), want int64[]"},
		{weft.Int64, 0x1p63, "function: i: is 9.223372036854776e+18 (float64), want int64[]"},
		{weft.Int64, -0x1p63, ""},
		{weft.Int64, 2.0, ""},
		{weft.Uint8, 255.0, ""},
		{weft.Uint8, 256.0, "function: i: is 256 (float64), want uint8[]"},
		{weft.Uint8, -1.0, "function: i: is -1 (float64), want uint8[]"},
		{weft.Uint8, 300, "function: i: is 300 (int), want uint8[]"},
		{weft.Int64, "a", "function: i: is string, want int64[]"},
		{weft.Int64, nil, "function: i: is nil, want int64[]"},
		{weft.Int64, half.NewFloat16(1.5), "function: i: is 1.5 (half.Float16), want int64[]"},
		{weft.Float32, 1.5, ""},
		{weft.Bool, 0.5, ""},
	} {
		if got := call(c.d, c.x); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%v to an input of %s: %q, want %q", c.x, c.d, got, c.want)
		}
	}
	v := sym.Scalar("i", weft.Int64)
	if _, err := sym.Function(sym.In(sym.Param{Var: v, Value: 1.5}), sym.Out(v)); err == nil || !strings.Contains(err.Error(), "i: is 1.5 (float64), want int64[]") {
		t.Errorf("a default of 1.5 for an int64: %v", err)
	}
}
