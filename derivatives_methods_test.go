package weft_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/sym"
)

// Methods without arguments that package sym has too: their Hessians of a real and of a complex
// vector are the same eagerly and symbolically.
func TestSecondDerivativesOfSym(t *testing.T) {
	tensor, variable := reflect.TypeFor[*weft.Tensor](), reflect.TypeFor[*sym.Var]()
	at := weft.FromSlice([]float64{0.3, 0.7, 0.45, 0.6, 0.25, 0.8})
	x := sym.Vector("x", weft.Float64)
	unary := func(t reflect.Type, m reflect.Method) bool {
		f := m.Type
		return f.NumOut() == 1 && f.Out(0) == t && (f.NumIn() == 1 || f.NumIn() == 2 && f.IsVariadic() && f.In(1).Elem().Kind() == reflect.Int)
	}
	tested := 0
	for i := range tensor.NumMethod() {
		m := tensor.Method(i)
		s, ok := variable.MethodByName(m.Name)
		if !ok || !unary(tensor, m) || !unary(variable, s) {
			continue
		}
		for _, complex := range []bool{false, true} {
			call := func(m reflect.Method, y any) any {
				return m.Func.Call([]reflect.Value{reflect.ValueOf(y)})[0].Interface()
			}
			f := func(x *weft.Tensor) *weft.Tensor {
				if complex {
					x = weft.Complex(x.Slice(weft.Range(0, 3)), x.Slice(weft.Range(3, 6)))
				}
				y := call(m, x).(*weft.Tensor)
				if y.DType().Complex() {
					y = y.Real().Add(y.Imag().Square())
				}
				return y.Mul(y).Sum()
			}
			var want *weft.Tensor
			if err := weft.Try(func() { want = weft.Hessian(f, at) }); err != nil || want.IsFinite().All().ItemInt() == 0 {
				continue
			}
			in := x
			if complex {
				in = sym.Complex(x.Slice(weft.Range(0, 3)), x.Slice(weft.Range(3, 6)))
			}
			err := weft.Try(func() {
				y := call(s, in).(*sym.Var)
				if y.DType().Complex() {
					y = y.Real().Add(y.Imag().Square())
				}
				g, err := sym.Function(sym.In(x), sym.Out(sym.Hessian(y.Mul(y).Sum(), x)[0]))
				if err != nil {
					panic(err)
				}
				got, err := g.Call(at)
				if err != nil {
					panic(err)
				}
				if off := got[0].Sub(want).Abs().Max().Item(); !(off <= 1e-9*(1+want.Abs().Max().Item())) {
					t.Errorf("%s, complex %v: %v, eagerly %v", m.Name, complex, got[0], want)
				}
				tested++
			})
			if err != nil {
				t.Errorf("%s, complex %v: %v", m.Name, complex, err)
			}
		}
	}
	t.Log(tested, "functions")
	if tested < 60 {
		t.Errorf("only %d functions were compared", tested)
	}
}

// A Func has the second derivatives of its Backward, applied to the argument, to a view of it, and
// to a computed value. Once refuses second derivatives in every way.
func TestSecondDerivativesOfFunc(t *testing.T) {
	square := func(once bool) func(x *weft.Tensor) *weft.Tensor {
		f := &weft.Func{Name: "sq", Once: once,
			Forward: func(c *weft.FuncContext, x ...*weft.Tensor) *weft.Tensor { c.Save(x[0]); return x[0].Mul(x[0]) },
			Backward: func(c *weft.FuncContext, dy *weft.Tensor) []*weft.Tensor {
				return []*weft.Tensor{c.Saved(0).Mul(2).Mul(dy)}
			}}
		return func(x *weft.Tensor) *weft.Tensor { return f.Apply(x) }
	}
	x, v := weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{1, 1})
	for name, around := range map[string]func(f, x *weft.Tensor) *weft.Tensor{
		"with another term": func(f, x *weft.Tensor) *weft.Tensor { return f.Sum().Add(x.Pow(3).Sum()) },
		"alone":             func(f, x *weft.Tensor) *weft.Tensor { return f.Sum() },
	} {
		for where, in := range map[string]func(x *weft.Tensor) *weft.Tensor{
			"itself": func(x *weft.Tensor) *weft.Tensor { return x },
			"view":   func(x *weft.Tensor) *weft.Tensor { return x.Reshape(2, 1).T().Reshape(2) },
			"result": func(x *weft.Tensor) *weft.Tensor { return x.Mul(1) },
		} {
			f := func(once bool) func(x *weft.Tensor) *weft.Tensor {
				sq := square(once)
				return func(x *weft.Tensor) *weft.Tensor { return around(sq(in(x)), x) }
			}
			want := []float64{2, 0, 0, 2}
			if name != "alone" {
				want = []float64{8, 0, 0, 14}
			}
			grad := func(f func(x *weft.Tensor) *weft.Tensor) func(q *weft.Tensor) *weft.Tensor {
				return func(q *weft.Tensor) *weft.Tensor {
					return weft.Grad(f(q), []*weft.Tensor{q}, weft.GradOpts{Create: true})[0]
				}
			}
			for way, h := range map[string]func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor{
				"Hessian":          func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor { return weft.Hessian(f, x) },
				"Jacobian of Grad": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor { return weft.Jacobian(grad(f), x) },
				"Jacobian of Jacobian": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
					return weft.Jacobian(func(q *weft.Tensor) *weft.Tensor { return weft.Jacobian(f, q) }, x)
				},
				"HessianVector": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor { return weft.HessianVector(f, x, v) },
				"Hessian compiled": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
					y, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return weft.Hessian(f, x) }).Call(x)
					if err != nil {
						panic(err)
					}
					return y
				},
				"Hessian mapped": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
					return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return weft.Hessian(f, x[0]) })(x.Reshape(1, 2))
				},
				"JVP of JVP": func(f func(x *weft.Tensor) *weft.Tensor) *weft.Tensor {
					_, d := weft.JVP(func(q *weft.Tensor) *weft.Tensor { _, d := weft.JVP(f, q, v); return d }, x, v)
					return d
				},
			} {
				expected := want
				if way == "HessianVector" {
					expected = []float64{want[0], want[3]}
				} else if way == "JVP of JVP" {
					expected = []float64{want[0] + want[3]}
				}
				if err := weft.Try(func() {
					if got := weft.Data[float64](h(f(false))); !slices.Equal(got, expected) {
						t.Errorf("%s of %s, %s: %v, want %v", way, where, name, got, expected)
					}
				}); err != nil {
					t.Errorf("%s of %s, %s: %v", way, where, name, err)
				}
				if err := weft.Try(func() { t.Errorf("Once: %s of %s, %s is %v", way, where, name, h(f(true))) }); err == nil || !strings.Contains(err.Error(), "no second derivative") {
					t.Errorf("Once: %s of %s, %s: %v", way, where, name, err)
				}
			}
		}
	}
}

// Views of the parts of a single complex element are contiguous, unlike views of several.
func TestDerivativesOfOneComplexElement(t *testing.T) {
	x, v := weft.FromSlice([]float64{1.3, 0.7}), weft.FromSlice([]float64{1, 2})
	for name, f := range map[string]func(z *weft.Tensor) *weft.Tensor{
		"pad":          func(z *weft.Tensor) *weft.Tensor { return z.Pad(0, 1, 1) },
		"cat":          func(z *weft.Tensor) *weft.Tensor { return weft.Cat([]*weft.Tensor{z.Mul(2), z}, 0) },
		"stack":        func(z *weft.Tensor) *weft.Tensor { return weft.Stack([]*weft.Tensor{z, z.Square()}, 0) },
		"index put":    func(z *weft.Tensor) *weft.Tensor { return weft.ZerosOf(weft.Complex128, 3).IndexPut(z, []int{1}) },
		"part of pad":  func(z *weft.Tensor) *weft.Tensor { return z.Pad(0, 2, 1).Slice(weft.Range(1, 3)) },
		"at of repeat": func(z *weft.Tensor) *weft.Tensor { return z.Expand(3).Contiguous().At(1) },
	} {
		g := func(x *weft.Tensor) *weft.Tensor {
			return f(weft.Complex(x.Slice(weft.Range(0, 1)), x.Slice(weft.Range(1, 2))))
		}
		_, d := weft.JVP(g, x, v)
		const h = 1e-6
		want := g(x.Add(v.Mul(h))).Sub(g(x.Sub(v.Mul(h)))).Mul(0.5 / h)
		if off := d.Sub(want).Abs().Max().Item(); !(off <= 1e-8) {
			t.Errorf("JVP of %s: %v, by differences %v", name, d, want)
		}
		re := weft.Jacobian(func(x *weft.Tensor) *weft.Tensor { return g(x).Real() }, x).MatMul(v)
		if off := re.Sub(want.Real()).Abs().Max().Item(); !(off <= 1e-8) {
			t.Errorf("Jacobian of %s times v: %v, by differences %v", name, re, want.Real())
		}
	}
	y, err := weft.Compile(func(x *weft.Tensor) *weft.Tensor {
		z := weft.Complex(x, x)
		z.Real().At(0).Assign(5)
		z.Imag().Slice(weft.Range(1, 2)).MulAssign(10)
		return z
	}).Call(x)
	if want := []complex128{complex(5, 1.3), complex(0.7, 7)}; err != nil || !slices.Equal(weft.Data[complex128](y), want) {
		t.Errorf("writes into parts, compiled: %v %v, want %v", y, err, want)
	}
}

// Products whose factors lie far from 1, one of them 0, or several: the derivatives are products
// of the other factors.
func TestDerivativesOfProducts(t *testing.T) {
	for _, c := range []struct{ x, gradient, hessian []float64 }{
		{[]float64{0, 2, 3}, []float64{6, 0, 0}, []float64{0, 3, 2, 3, 0, 0, 2, 0, 0}},
		{[]float64{0, 0, 3}, []float64{0, 0, 0}, []float64{0, 3, 0, 3, 0, 0, 0, 0, 0}},
		{[]float64{0, 0, 0}, []float64{0, 0, 0}, make([]float64, 9)},
		{[]float64{1e-200, 1, 1e-200}, []float64{1e-200, 0, 1e-200}, []float64{0, 1e-200, 1, 1e-200, 0, 1e-200, 1, 1e-200, 0}},
		{[]float64{1e200, 1, 1e200}, []float64{1e200, math.Inf(1), 1e200}, []float64{0, 1e200, 1, 1e200, 0, 1e200, 1, 1e200, 0}},
	} {
		for name, f := range map[string]func(x *weft.Tensor) *weft.Tensor{
			"Prod":    func(x *weft.Tensor) *weft.Tensor { return x.Prod() },
			"CumProd": func(x *weft.Tensor) *weft.Tensor { return x.CumProd(0).At(2) },
		} {
			x := weft.FromSlice(c.x)
			if got := weft.Data[float64](weft.Jacobian(f, x)); !slices.Equal(got, c.gradient) {
				t.Errorf("gradient of %s at %v: %v, want %v", name, c.x, got, c.gradient)
			}
			if got := weft.Data[float64](weft.Hessian(f, x)); !slices.Equal(got, c.hessian) {
				t.Errorf("Hessian of %s at %v: %v, want %v", name, c.x, got, c.hessian)
			}
		}
	}
	x := weft.FromSlice([]float64{1e-20, 1, 1})
	want := []float64{0, 1e300, 1e300, 1e300, 0, 1e280, 1e300, 1e280, 0}
	got := weft.Data[float64](weft.Hessian(func(x *weft.Tensor) *weft.Tensor { return x.Prod().Mul(1e300) }, x))
	for i := range want {
		if math.Abs(got[i]-want[i]) > 1e-15*want[i] {
			t.Errorf("Hessian of 1e300 times a product: %v, want %v", got, want)
			break
		}
	}
}

// What the package's text says of derivatives where there are none.
func TestDerivativeConventions(t *testing.T) {
	inf := math.Inf(1)
	first := func(y, _ *weft.Tensor) *weft.Tensor { return y }
	for name, c := range map[string]struct {
		f    func(x *weft.Tensor) *weft.Tensor
		at   []float64
		want []float64
	}{
		"Abs":          {(*weft.Tensor).Abs, []float64{0, -1}, []float64{0, -1}},
		"Relu":         {(*weft.Tensor).Relu, []float64{0, 1}, []float64{0, 1}},
		"Sqrt":         {(*weft.Tensor).Sqrt, []float64{0, 4}, []float64{inf, 0.25}},
		"Max":          {func(x *weft.Tensor) *weft.Tensor { return x.Max() }, []float64{2, 2, 1, 2}, []float64{1. / 3, 1. / 3, 0, 1. / 3}},
		"Min":          {func(x *weft.Tensor) *weft.Tensor { return x.Min() }, []float64{2, 2, 3}, []float64{0.5, 0.5, 0}},
		"Maximum":      {func(x *weft.Tensor) *weft.Tensor { return x.Maximum(1) }, []float64{1, 2, 0}, []float64{0.5, 1, 0}},
		"Minimum":      {func(x *weft.Tensor) *weft.Tensor { return x.Minimum(1) }, []float64{1, 2, 0}, []float64{0.5, 0, 1}},
		"Clamp":        {func(x *weft.Tensor) *weft.Tensor { return x.Clamp(0, 1) }, []float64{0, 1, 2}, []float64{1, 1, 0}},
		"MaxWithIndex": {func(x *weft.Tensor) *weft.Tensor { return first(x.MaxWithIndex(0)) }, []float64{1, 2, 2}, []float64{0, 1, 0}},
		"CumMax":       {func(x *weft.Tensor) *weft.Tensor { return first(x.CumMax(0)) }, []float64{2, 2, 1}, []float64{1, 2, 0}},
		"Norm":         {func(x *weft.Tensor) *weft.Tensor { return x.Norm(2) }, []float64{0, 0}, []float64{0, 0}},
		"Std":          {func(x *weft.Tensor) *weft.Tensor { return x.Std() }, []float64{3, 3}, []float64{0, 0}},
		"Sign":         {(*weft.Tensor).Sign, []float64{0, 2}, []float64{0, 0}},
		"Round":        {(*weft.Tensor).Round, []float64{0.5, 2}, []float64{0, 0}},
		"Floor":        {(*weft.Tensor).Floor, []float64{1, 2.5}, []float64{0, 0}},
		"Ceil":         {(*weft.Tensor).Ceil, []float64{1, 2.5}, []float64{0, 0}},
		"Trunc":        {(*weft.Tensor).Trunc, []float64{1, -2.5}, []float64{0, 0}},
		"FloorDiv":     {func(x *weft.Tensor) *weft.Tensor { return x.FloorDiv(2) }, []float64{1, -2.5}, []float64{0, 0}},
		"complex Abs":  {func(x *weft.Tensor) *weft.Tensor { return weft.Complex(x, x).Abs() }, []float64{0}, []float64{0}},
		"complex Sign": {func(x *weft.Tensor) *weft.Tensor { return weft.Complex(x, x).Sign().Real() }, []float64{0}, []float64{0}},
		"behind Round": {func(x *weft.Tensor) *weft.Tensor { return x.Exp().Round().Mul(x) }, []float64{0, 1}, []float64{1, 3}},
	} {
		x := weft.FromSlice(c.at).RequireGrad()
		if err := weft.Try(func() { c.f(x).Sum().Backward() }); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := weft.Data[float64](x.Grad()); !slices.Equal(got, c.want) {
			t.Errorf("%s at %v: %v, want %v", name, c.at, got, c.want)
		}
	}
}
