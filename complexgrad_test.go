package weft

import (
	"encoding/json"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"testing"

	"weft/internal/core"
	"weft/internal/op"
)

// Every operation that takes complex numbers has the gradient dx + i*dy of a real number by
// them, by differences: also where the operation has a gradient of its own, which was
// written for real numbers. In complex64 it has the same gradient, less precisely.
func TestComplexGradientsOfOperations(t *testing.T) {
	tested := map[string]bool{}
	for _, d := range op.Table() {
		samples := d.Samples
		if len(samples) == 0 && (d.Class == op.Pointwise || d.Class == op.Composite) && d.Arity > 0 {
			shapes := make([][]int, d.Arity)
			for i := range shapes {
				shapes[i] = []int{5}
			}
			samples = []op.Sample{{Shapes: shapes}}
		}
		for _, s := range samples {
			if complexGradient(t, d, s) {
				tested[d.Name] = true
			}
		}
	}
	for _, name := range []string{"add", "div", "exp", "linear", "matmul", "sum", "prod", "norm", "permute", "pad", "var", "std", "abs", "rsqrt",
		"powint", "real", "imag", "conj", "where", "gather", "scatter", "index_select", "index_copy", "index_add", "cat"} {
		if !tested[name] {
			t.Errorf("%s was not tested", name)
		}
	}
	t.Logf("%d operations", len(tested))
}

// complexGradient tests the gradients of one sample, and reports whether it has some. Of
// large arguments it tests some elements.
func complexGradient(t *testing.T, d *op.Def, s op.Sample) bool {
	r := rand.New(rand.NewPCG(1, 2))
	values := make([][]complex128, len(s.Shapes))
	places := make([]*Tensor, len(s.Shapes)) // instead of values, integers and truth values
	for i, shape := range s.Shapes {
		n := 1
		for _, k := range shape {
			n *= k
		}
		if n > 400 {
			return false
		}
		values[i] = make([]complex128, n)
		ints := make([]int64, n)
		for j := range values[i] {
			values[i][j] = complex(0.4+r.Float64(), 0.3+r.Float64())
			ints[j] = r.Int64N(int64(max(s.Max, 2)))
		}
		if s.Ascending && i == len(values)-1 { // items with rows, of which one is left out
			for j := range ints {
				ints[j] = int64(min(1, s.Max-1) + j*max(s.Max-2, 0)/max(n-1, 1))
			}
			places[i] = FromSlice(ints)
		}
		if s.DTypes != nil && !s.DTypes[i].Differentiable() {
			places[i] = FromSlice(ints).Reshape(shape...).To(s.DTypes[i])
		}
	}
	// loss is a real number of both parts of all results, and their types.
	loss := func(leaf bool, as DType) (x []*Tensor, y *Tensor, narrow bool) {
		ops := make([]core.Operand, len(values))
		for i := range values {
			z := places[i]
			if z == nil {
				z = FromSlice(append([]complex128{}, values[i]...)).Reshape(s.Shapes[i]...).To(as)
				if leaf {
					z.RequireGrad()
				}
			}
			x, ops[i] = append(x, z), core.Operand{T: z.c()}
		}
		y = ScalarOf(Float64, 0)
		for k, z := range core.ApplyAll(d, s.Attrs, ops...) {
			if !(*Tensor)(z).DType().Differentiable() || z.Size() == 0 {
				continue
			}
			narrow = narrow || (*Tensor)(z).DType() != Float64 && (*Tensor)(z).DType() != Complex128
			w := NewGenerator(uint64(7+k)).RandnOf(Float64, (*Tensor)(z).Shape()...)
			y = y.Add((*Tensor)(z).Real().Mul(w).Sum())
			if (*Tensor)(z).DType().Complex() {
				y = y.Add((*Tensor)(z).Imag().Mul(w).Mul(0.7).Sum())
			}
		}
		return x, y, narrow
	}
	grads := func(as DType) (x []*Tensor, narrow, ok bool) {
		var y *Tensor
		if err := Try(func() { x, y, narrow = loss(true, as) }); err != nil || !y.RequiresGrad() {
			return nil, false, false // not defined for complex numbers, or has no gradient
		}
		if err := Try(func() { y.Backward() }); err != nil {
			t.Errorf("%s of %v: %v", d.Name, s.Shapes, err)
			return nil, false, false
		}
		return x, narrow, true
	}
	x, narrow, ok := grads(Complex128)
	if !ok {
		return false
	}
	low, _, ok := grads(Complex64)
	if !ok {
		t.Errorf("%s of %v has a gradient in complex128, not in complex64", d.Name, s.Shapes)
		return true
	}
	at := func(x []*Tensor, i, j int) complex128 {
		if g := x[i].Grad(); g != nil {
			return g.Reshape(-1).At(j).ItemComplex()
		}
		return 0
	}
	// A result that is rounded to fewer digits, as cast's, needs wider differences.
	h, tolerance := 1e-6, 1e-5
	if narrow {
		h, tolerance = 1.0/4, 1e-2
	}
	for i := range values {
		if places[i] != nil {
			continue
		}
		for j := 0; j < len(values[i]); j += 1 + len(values[i])/40 {
			z := values[i][j]
			moved := func(dz complex128) float64 {
				values[i][j] = z + dz
				_, y, _ := loss(false, Complex128)
				values[i][j] = z
				return y.Item()
			}
			want := complex((moved(complex(h, 0))-moved(complex(-h, 0)))/(2*h), (moved(complex(0, h))-moved(complex(0, -h)))/(2*h))
			got, low := at(x, i, j), at(low, i, j)
			if !(cmplx.Abs(got-want) <= tolerance*math.Max(1, cmplx.Abs(want))) {
				t.Errorf("%s of %v, %v: gradient %d of argument %d is %v, differences say %v", d.Name, s.Shapes, s.Attrs, j, i, got, want)
				return true
			}
			if !narrow && !(cmplx.Abs(low-want) <= 2e-4*math.Max(1, cmplx.Abs(want))) {
				t.Errorf("%s of %v, %v: gradient %d of argument %d is %v in complex64, differences say %v", d.Name, s.Shapes, s.Attrs, j, i, low, want)
				return true
			}
		}
	}
	return true
}

// complexFormulas are what testdata/complexgrad.py computes, by name.
var complexFormulas = map[string]func(x, y *Tensor) *Tensor{
	"matmul":  func(x, y *Tensor) *Tensor { return x.MatMul(y) },
	"linear":  func(x, y *Tensor) *Tensor { return x.Linear(y.Transpose(0, 1), nil) },
	"norm":    func(x, _ *Tensor) *Tensor { return x.Norm(2) },
	"norm1":   func(x, _ *Tensor) *Tensor { return x.Norm(1, 0) },
	"norm3":   func(x, _ *Tensor) *Tensor { return x.Norm(3, 1) },
	"norm0.5": func(x, _ *Tensor) *Tensor { return x.Norm(0.5) },
	"norm1.5": func(x, _ *Tensor) *Tensor { return x.Norm(1.5, 0) },
	"norminf": func(x, _ *Tensor) *Tensor { return x.Norm(math.Inf(1), 1) },
	"norm0":   func(x, _ *Tensor) *Tensor { return x.Norm(0) },
	"std":     func(x, _ *Tensor) *Tensor { return x.Std(1) },
	"var":     func(x, _ *Tensor) *Tensor { return x.Var(0) },
	"prod":    func(x, _ *Tensor) *Tensor { return x.Prod(1) },
	"einsum":  func(x, y *Tensor) *Tensor { return Einsum("ij,jk->ki", x, y) },
	"outer":   func(x, y *Tensor) *Tensor { return x.Reshape(-1).Outer(y.Reshape(-1)) },
	"dot":     func(x, y *Tensor) *Tensor { return x.Reshape(-1).Dot(y.Reshape(-1)) },
	"div":     func(x, y *Tensor) *Tensor { return x.Div(y.Transpose(0, 1)) },
	"pow":     func(x, y *Tensor) *Tensor { return x.Pow(y.Transpose(0, 1)) },
	"root":    func(x, _ *Tensor) *Tensor { return Expr("pow(x, 0.5)", Vars{"x": x}) },
	"inverse": func(x, _ *Tensor) *Tensor { return Expr("pow(x, -2.0)", Vars{"x": x}) },
	"angle":   func(x, _ *Tensor) *Tensor { return x.Angle() },
	"tanh":    func(x, _ *Tensor) *Tensor { return x.Tanh() },
	"conj":    func(x, _ *Tensor) *Tensor { return x.Conj().Mul(x) },
}

// Values and gradients are PyTorch's, zeros among the arguments of norms and products
// included.
func TestComplexGradientsLikePyTorch(t *testing.T) {
	b, err := os.ReadFile("testdata/complexgrad.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name         string
		X, Y, DX, DY []([2]float64)
		Out          [][2]float64
		Shape        []int
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < len(complexFormulas) {
		t.Errorf("%d cases", len(cases))
	}
	numbers := func(x [][2]float64) []complex128 {
		out := make([]complex128, len(x))
		for i, z := range x {
			out[i] = complex(z[0], z[1])
		}
		return out
	}
	for _, c := range cases {
		x := FromSlice(numbers(c.X)).Reshape(2, 3).RequireGrad()
		y := FromSlice(numbers(c.Y)).Reshape(3, 2).RequireGrad()
		z := complexFormulas[c.Name](x, y)
		if !equalInts(z.Shape(), c.Shape) {
			t.Errorf("%s: shape %v, want %v", c.Name, z.Shape(), c.Shape)
			continue
		}
		// The loss is the sum of the parts, the i-th times (7*i mod 5) - 1.5, the
		// imaginary ones by 0.7 of that.
		w := Expr("(7*i % 5) - 1.5", Vars{"i": Arange(z.Size()).To(Float64)}).Reshape(z.Shape()...)
		loss := z.Real().Mul(w).Sum()
		if z.DType().Complex() {
			loss = loss.Add(z.Imag().Mul(w).Mul(0.7).Sum())
		}
		if loss.RequiresGrad() {
			loss.Backward()
		}
		compare := func(what string, got *Tensor, want [][2]float64) {
			for i, w := range numbers(want) {
				g := complex128(0)
				if got != nil {
					g = got.To(Complex128).Reshape(-1).At(i).ItemComplex()
				}
				if !(cmplx.Abs(g-w) <= 1e-12*math.Max(1, cmplx.Abs(w))) {
					t.Errorf("%s: %s %d is %v, PyTorch's %v", c.Name, what, i, g, w)
				}
			}
		}
		compare("result", z, c.Out)
		compare("gradient of x", x.Grad(), c.DX)
		compare("gradient of y", y.Grad(), c.DY)
	}
	// What has no order is refused.
	z := FromSlice([]complex128{1, 2i})
	for name, f := range map[string]func(){
		"softmax": func() { z.Softmax(0) }, "max": func() { z.Max() }, "relu": func() { z.Relu() }, "logsumexp": func() { z.LogSumExp(0) },
	} {
		if err := Try(f); err == nil {
			t.Errorf("%s of complex numbers gives something", name)
		}
	}
}

// TestGradientWithComplexNumber: a Go number that is complex counts as its two parts.
func TestGradientWithComplexNumber(t *testing.T) {
	for _, create := range []bool{false, true} {
		z := FromSlice([]complex128{1 + 2i, 3 - 1i}).RequireGrad()
		y := z.Mul(complex(0, 2)).Mul(z).Add(3).Real().Sum()
		g := Data[complex128](Grad(y, []*Tensor{z}, GradOpts{Create: create})[0])
		for i, want := range []complex128{complex(-8, -4), complex(4, -12)} { // the conjugate of 4i*z
			if g[i] != want {
				t.Errorf("gradient %d (create %v): %v, want %v", i, create, g[i], want)
			}
		}
	}
}
