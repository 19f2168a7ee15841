package methods_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/sym"
)

// A scalarFunction is a function of a float64 vector with one result element. It is a sample of an
// operation: its arguments are made from the vector, and its results are added up.
type scalarFunction struct {
	name    string
	n       int
	complex bool
	of      func(p *weft.Tensor) *weft.Tensor
	smooth  []float64 // a point where it has all derivatives
	special []float64 // a point with zeros and ties
	least   float64   // precision of the least precise result
}

// mostVariables bounds the arguments of a sample.
const mostVariables = 48

// functionOfSample makes the function of a sample, with complex arguments if complex says so.
func functionOfSample(d *op.Def, s op.Sample, complex bool) (f *scalarFunction, ok bool) {
	f = &scalarFunction{}
	r := rand.New(rand.NewPCG(21, uint64(len(d.Name))))
	var parts []samplePart
	shapes := ""
	some := false
	for i, shape := range s.Shapes {
		dt := typeOfArgument(s, i)
		shapes += " " + array.TypeString(dt, shape)
		domain := d.DomainOf(i)
		if domain == [2]float64{} {
			domain = [2]float64{-2, 2}
		}
		if slices.Contains(d.Flat, i) {
			x := make([]float64, array.Size(shape))
			for j := range x {
				x[j] = domain[0] + (domain[1]-domain[0])*r.Float64()
			}
			parts = append(parts, samplePart{constant: weft.FromSlice(x, shape...)})
			continue
		}
		if !dt.Differentiable() {
			parts = append(parts, samplePart{constant: weft.FromSlice(intsOfSample(r, s, array.Size(shape)), shape...).To(dt)})
			continue
		}
		some = true
		c := dt.Complex() || complex
		f.complex = f.complex || c
		parts = append(parts, samplePart{shape: shape, at: f.n, complex: c})
		f.draw(r, domain, array.Size(shape), c)
	}
	if !some || f.n == 0 || f.n > mostVariables {
		return f, false
	}
	f.name = fmt.Sprintf("%s%s %+v", d.Name, shapes, s.Attrs)
	if complex {
		f.name += " complex"
	}
	f.of = func(p *weft.Tensor) *weft.Tensor {
		return f.sum(p, evaluated(d, s.Attrs, argumentsOf(p, parts)))
	}
	return f, true
}

// A samplePart is an argument of a sample: a part of the vector, or a constant.
type samplePart struct {
	shape    []int
	at       int // in the vector
	complex  bool
	constant *weft.Tensor
}

func typeOfArgument(s op.Sample, i int) weft.DType {
	switch {
	case s.DTypes != nil:
		return s.DTypes[i]
	case s.Ascending && i == len(s.Shapes)-1:
		return weft.Int64
	}
	return weft.Float64
}

// intsOfSample draws integers for an argument of a sample.
func intsOfSample(r *rand.Rand, s op.Sample, size int) []int64 {
	ints := make([]int64, size)
	for j := range ints {
		ints[j] = r.Int64N(int64(max(s.Max, 2)))
		if s.Ascending {
			ints[j] = int64(min(1, s.Max-1) + j*max(s.Max-2, 0)/max(size-1, 1))
		}
	}
	return ints
}

// draw adds an argument of this size to both points.
func (f *scalarFunction) draw(r *rand.Rand, domain [2]float64, size int, complex bool) {
	for range size {
		lo, hi := domain[0], domain[1]
		if complex {
			lo, hi = 0.4, 1.4
		}
		f.smooth = append(f.smooth, lo+(hi-lo)*r.Float64())
		f.special = append(f.special, []float64{0, 0, 1, 1, -1}[r.IntN(5)])
	}
	f.n += size
	if complex {
		for range size {
			f.smooth = append(f.smooth, 0.3+r.Float64())
			f.special = append(f.special, []float64{0, 0, 1}[r.IntN(3)])
		}
		f.n += size
	}
}

// argumentsOf returns the arguments that the vector p stands for.
func argumentsOf(p *weft.Tensor, parts []samplePart) []any {
	args := make([]any, len(parts))
	for i, x := range parts {
		if x.constant != nil {
			args[i] = x.constant
			continue
		}
		n := array.Size(x.shape)
		y := p.Slice(weft.Range(x.at, x.at+n)).Reshape(x.shape...)
		if x.complex {
			y = weft.Complex(y, p.Slice(weft.Range(x.at+n, x.at+2*n)).Reshape(x.shape...))
		}
		args[i] = y
	}
	return args
}

// sum adds up results, each with other weights, and their squares. It notes their precision.
func (f *scalarFunction) sum(p *weft.Tensor, results []*weft.Tensor) *weft.Tensor {
	sum := p.Slice(weft.Range(0, 0)).Sum()
	salt := 0.7
	add := func(y *weft.Tensor) {
		if y.DType() != weft.Float64 {
			y = y.To(weft.Float64)
		}
		y = y.Reshape(y.Size())
		w := weft.Arange(y.Size()).To(weft.Float64).Add(1).Mul(salt).Cos()
		salt++
		sum = sum.Add(y.Mul(w).Sum()).Add(y.Mul(y).Mul(w).Sum().Mul(0.2))
	}
	for _, y := range results {
		if y.DType().Differentiable() {
			f.least = max(f.least, precision(y.DType()))
		}
		switch {
		case y.Size() == 0 || !y.DType().Differentiable():
		case y.DType().Complex():
			add(y.Real())
			add(y.Imag())
		default:
			add(y)
		}
	}
	return sum
}

// sampledFunctions are the functions of all samples in the op table, with real and with complex
// arguments, and the functions of package special.
func sampledFunctions() (out []*scalarFunction) {
	for _, d := range op.Table() {
		samples := d.Samples
		if d.Class == op.Pointwise && d.Rule != op.Keep && d.Arity > 0 || len(samples) == 0 && d.Class == op.Composite && d.Arity > 0 {
			samples = append(samples[:len(samples):len(samples)], op.Sample{Shapes: [][]int{{3, 2}, {2}, {3, 1}}[:min(d.Arity, 3)]})
		}
		for _, s := range samples {
			for _, complex := range []bool{false, true} {
				if f, ok := functionOfSample(d, s, complex); ok {
					out = append(out, f)
				}
			}
		}
	}
	for _, d := range op.Specials() {
		if f, ok := functionOfSample(d, op.Sample{Shapes: [][]int{{3, 2}, {2}, {3, 1}, {1}}[:d.Arity]}, false); ok {
			out = append(out, f)
		}
	}
	return out
}

func (f *scalarFunction) gradient(p *weft.Tensor) *weft.Tensor {
	return weft.Grad(f.of(p), []*weft.Tensor{p}, weft.GradOpts{Create: true, AllowUnused: true})[0]
}

// hessians are the ways to second derivatives at p: the matrix, its product with v, or u'Hv.
func (f *scalarFunction) hessians(p, u, v *weft.Tensor) map[string]func() *weft.Tensor {
	zeros := func(g *weft.Tensor, q *weft.Tensor) *weft.Tensor {
		if g == nil {
			return weft.ZerosLike(q)
		}
		return g
	}
	slope := func(q *weft.Tensor) *weft.Tensor { return zeros(f.gradient(q), q) }
	twice := func(q *weft.Tensor) *weft.Tensor {
		q = q.Detach().RequireGrad()
		g := f.gradient(q)
		if g == nil || !g.RequiresGrad() {
			return weft.ZerosLike(q)
		}
		return zeros(weft.Grad(g.Mul(v).Sum(), []*weft.Tensor{q}, weft.GradOpts{AllowUnused: true})[0], q)
	}
	compiled := func(f func(q *weft.Tensor) *weft.Tensor) *weft.Tensor {
		y, err := weft.Compile(f).Call(p)
		if err != nil {
			panic(err)
		}
		return y
	}
	mapped := func(f func(q *weft.Tensor) *weft.Tensor) *weft.Tensor {
		both := weft.Stack([]*weft.Tensor{p.Mul(2), p}, 0)
		return weft.Vmap(func(x ...*weft.Tensor) *weft.Tensor { return f(x[0]) })(both).At(1)
	}
	hessian := func(q *weft.Tensor) *weft.Tensor { return weft.Hessian(f.of, q) }
	pushed := func(q *weft.Tensor) *weft.Tensor {
		_, d := weft.JVP(func(q *weft.Tensor) *weft.Tensor { _, d := weft.JVP(f.of, q, u); return d }, q, v)
		return d
	}
	pulled := func(q *weft.Tensor) *weft.Tensor { return weft.HessianVector(f.of, q, v) }
	return map[string]func() *weft.Tensor{
		"H":                     func() *weft.Tensor { return hessian(p) },
		"H by Jacobian of Grad": func() *weft.Tensor { return weft.Jacobian(slope, p) },
		"H by Jacobian of Jacobian": func() *weft.Tensor {
			return weft.Jacobian(func(q *weft.Tensor) *weft.Tensor { return weft.Jacobian(f.of, q) }, p)
		},
		"H compiled":                  func() *weft.Tensor { return compiled(hessian) },
		"H mapped":                    func() *weft.Tensor { return mapped(hessian) },
		"Hv by Grad of Grad":          func() *weft.Tensor { return twice(p) },
		"Hv compiled by Grad of Grad": func() *weft.Tensor { return compiled(twice) },
		"Hv":                          func() *weft.Tensor { return pulled(p) },
		"Hv compiled":                 func() *weft.Tensor { return compiled(pulled) },
		"Hv mapped":                   func() *weft.Tensor { return mapped(pulled) },
		"Hv by JVP of Grad":           func() *weft.Tensor { _, d := weft.JVP(slope, p, v); return d },
		"uHv by JVP of JVP":           func() *weft.Tensor { return pushed(p) },
		"uHv compiled by JVP of JVP":  func() *weft.Tensor { return compiled(pushed) },
		"uHv mapped by JVP of JVP":    func() *weft.Tensor { return mapped(pushed) },
	}
}

func closeTo(a, b, limit float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= limit
}

// commonOperations are those whose second derivatives are always tested, the others by turns.
var commonOperations = map[string]bool{"prod": true, "segment_prod": true, "cat": true, "pad": true, "where": true, "log": true, "exp": true, "mul": true, "abs": true,
	"diagonal": true, "cumprod": true, "sum": true, "matmul": true, "cast": true, "softmax": true}

// All ways to a second derivative agree, eagerly, compiled and mapped. At smooth points they equal
// finite differences of gradients; at zeros and ties too, where both one-sided differences agree.
// By default small samples of common operations and of a few others are tested.
// WEFT_DERIVATIVES=all tests all samples, the name of an operation its samples.
func TestSecondDerivatives(t *testing.T) {
	only := os.Getenv("WEFT_DERIVATIVES")
	seen := map[string]int{}
	tested := 0
	for i, f := range sampledFunctions() {
		name, _, _ := strings.Cut(f.name, " ")
		switch {
		case only == "all" || only == name:
		case only != "":
			continue
		case f.n > 24:
			continue
		case commonOperations[name]:
			if seen[name]++; seen[name] > 2 {
				continue
			}
		case i%23 != 0:
			continue
		}
		if f.second(t, "smooth", f.smooth) {
			tested++
		}
		if f.second(t, "special", f.special) {
			tested++
		}
	}
	t.Log(tested, "points")
	if tested < 40 && only == "" || tested < 800 && only == "all" {
		t.Errorf("only %d points have second derivatives", tested)
	}
}

// second compares the second derivatives at a point; it reports false if f has no value there.
func (f *scalarFunction) second(t *testing.T, at string, x []float64) bool {
	p := weft.FromSlice(x)
	var y *weft.Tensor
	if err := weft.Try(func() { y = f.of(p.Clone().RequireGrad()) }); err != nil || !y.RequiresGrad() {
		return false
	}
	fail := func(format string, args ...any) { t.Errorf("%s, %s: %s", f.name, at, fmt.Sprintf(format, args...)) }
	r := rand.New(rand.NewPCG(3, 4))
	us, vs := make([]float64, f.n), make([]float64, f.n)
	for i := range us {
		us[i], vs[i] = r.Float64()-0.3, r.Float64()-0.6
	}
	u, v := weft.FromSlice(us), weft.FromSlice(vs)
	var h []float64
	values := map[string][]float64{}
	refused := ""
	for name, way := range f.hessians(p, u, v) {
		func() {
			defer func() {
				if e := recover(); e != nil {
					err, ok := e.(*weft.Error)
					if ok && strings.Contains(err.Error(), "no second derivative") {
						refused = name
						return
					}
					if ok && (strings.Contains(err.Error(), "pass a Clone of one of the two") || strings.Contains(err.Error(), "is singular")) {
						return // the parts of a captured complex tensor are read before it is; QR's gradient divides by R
					}
					fail("%s: %v", name, e)
				}
			}()
			values[name] = weft.Data[float64](way())
		}()
	}
	if refused != "" {
		if len(values) > 0 {
			for name := range values {
				fail("%s is refused, %s is not", refused, name)
				break
			}
		}
		return true
	}
	h = values["H"]
	if h == nil {
		return true
	}
	scale := 1.0
	for _, x := range h {
		if !math.IsInf(x, 0) && !math.IsNaN(x) {
			scale = math.Max(scale, math.Abs(x))
		}
	}
	hv, uhv := make([]float64, f.n), 0.0
	for i := range f.n {
		for j := range f.n {
			hv[i] += h[i*f.n+j] * vs[j]
		}
		uhv += us[i] * hv[i]
	}
	for name, got := range values {
		want := h
		if strings.HasPrefix(name, "Hv") {
			want = hv
		} else if strings.HasPrefix(name, "uHv") {
			want = []float64{uhv}
		}
		if len(got) != len(want) {
			fail("%s has %d elements, want %d", name, len(got), len(want))
			continue
		}
		for i := range got {
			if len(want) < len(h) && !isFinite(want[i]) {
				continue // 0 times Inf in the product with H
			}
			if !closeTo(got[i], want[i], math.Max(1e-9, 16*f.least)*scale*float64(f.n)) {
				fail("%s is %v at %d, by Hessian %v", name, got[i], i, want[i])
				break
			}
		}
	}
	if f.least > precision(weft.Float64) {
		return true // differences would measure the rounding
	}
	f.compareDifferences(x, h, at == "smooth", fail)
	return true
}

// compareDifferences compares the Hessian h at x with finite differences of gradients. If f may not
// be smooth there, it compares only where both one-sided differences agree.
func (f *scalarFunction) compareDifferences(x, h []float64, smooth bool, fail func(format string, args ...any)) {
	step, least := 1e-5, 1e-5
	if !smooth {
		step, least = 1e-6, 1e-4
	}
	slope := func(j int, by float64) []float64 {
		q := append([]float64{}, x...)
		q[j] += by
		z := weft.FromSlice(q).RequireGrad()
		g := weft.Grad(f.of(z), []*weft.Tensor{z}, weft.GradOpts{AllowUnused: true})[0]
		if g == nil {
			return make([]float64, f.n)
		}
		return weft.Data[float64](g)
	}
	value := func(j int, by float64) float64 {
		q := append([]float64{}, x...)
		q[j] += by
		return f.of(weft.FromSlice(q)).Item()
	}
	mid, y := slope(0, 0), value(0, 0)
	if !isFinite(y) || strings.HasPrefix(f.name, "clamp ") { // between equal bounds the gradient passes, as PyTorch's does

		return
	}
	for j := 0; j < f.n; j += 1 + f.n/5 {
		up, down := (value(j, step)-y)/step, (y-value(j, -step))/step
		if want := (up + down) / 2; math.Abs(up-down) <= 1e-3*(1+math.Abs(want)) && !(math.Abs(mid[j]-want) <= 1e-4*(1+math.Abs(want)+math.Abs(y))) {
			fail("gradient %d is %v, by differences %v", j, mid[j], want)
			return
		}
	}
	if slices.ContainsFunc(mid, func(x float64) bool { return !isFinite(x) }) {
		return
	}
	for j := 0; j < f.n; j += 1 + f.n/5 {
		hi, lo := slope(j, step), slope(j, -step)
		if !smooth && (jumps(hi, mid, step) || jumps(mid, lo, step)) {
			continue
		}
		for i := range f.n {
			want := (hi[i] - lo[i]) / (2 * step)
			limit := least * (1 + math.Abs(want) + math.Abs(hi[i]))
			up, down := (hi[i]-mid[i])/step, (mid[i]-lo[i])/step
			if !smooth && !(math.Abs(up-down) <= limit) {
				continue
			}
			if got := h[i*f.n+j]; !(math.Abs(got-want) <= limit) {
				fail("H[%d %d] is %v, by differences %v", i, j, got, want)
				return
			}
		}
	}
}

// jumps reports whether an element of the gradient jumps between two points. The point between them lies on an
// edge: where pivots of equal size tie, factors have another order on both sides of it, and so other slopes.
func jumps(x, y []float64, step float64) bool {
	for i := range x {
		if !(math.Abs(x[i]-y[i]) < 1e4*step) {
			return true
		}
	}
	return false
}

func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

// evaluated computes an operation of tensors and Go numbers.
func evaluated(d *op.Def, a ir.Attrs, args []any) []*weft.Tensor {
	ops := make([]core.Operand, len(args))
	for i, x := range args {
		ops[i] = core.AsOperand[weft.Tensor](d.Name, "", x)
	}
	return core.Outer[weft.Tensor](core.Call(d, a, nil, ops...))
}

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
