package weft_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/op"
	"weft/internal/tensortest"
	"weft/npy"
)

// randomComplex are numbers of lengths from 2^-8 to 2^4, and the axes.
func randomComplex(r *rand.Rand, n int) []complex128 {
	out := make([]complex128, n)
	for i := range out {
		z := cmplx.Rect(math.Exp2(r.Float64()*12-8), r.Float64()*2*math.Pi)
		switch i % 16 {
		case 0: // not on the cut of roots and logarithms, the negative half
			z = complex(math.Abs(real(z)), 0)
		case 1:
			z = complex(0, imag(z))
		}
		out[i] = complex128(complex64(z)) // both types take the same numbers
	}
	return out
}

func narrowed(x []complex128) []complex64 {
	out := make([]complex64, len(x))
	for i := range x {
		out[i] = complex64(x[i])
	}
	return out
}

// near compares complex numbers by their distance, in lengths of the expected one.
func nearComplex(t *testing.T, name string, got *weft.Tensor, want []complex128, tol float64) {
	t.Helper()
	for i, w := range want {
		g := got.Reshape(-1).At(i).ItemComplex()
		if cmplx.IsNaN(w) || cmplx.IsInf(w) {
			continue
		}
		if d := cmplx.Abs(g - w); !(d <= tol*math.Max(cmplx.Abs(w), 1e-30)) {
			t.Errorf("%s: element %d of %s is %v, want %v", name, i, got.DType(), g, w)
			return
		}
	}
}

// Every function of complex numbers agrees with Go's package math/cmplx, in both types.
func TestComplexFunctions(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	xs, ys := randomComplex(r, 500), randomComplex(r, 500)
	one := func(f func(complex128) complex128) func(x, y complex128) complex128 {
		return func(x, _ complex128) complex128 { return f(x) }
	}
	for name, c := range map[string]struct {
		op  func(x, y *weft.Tensor) *weft.Tensor
		ref func(x, y complex128) complex128
	}{
		"add":        {func(x, y *weft.Tensor) *weft.Tensor { return x.Add(y) }, func(x, y complex128) complex128 { return x + y }},
		"sub":        {func(x, y *weft.Tensor) *weft.Tensor { return x.Sub(y) }, func(x, y complex128) complex128 { return x - y }},
		"mul":        {func(x, y *weft.Tensor) *weft.Tensor { return x.Mul(y) }, func(x, y complex128) complex128 { return x * y }},
		"div":        {func(x, y *weft.Tensor) *weft.Tensor { return x.Div(y) }, func(x, y complex128) complex128 { return x / y }},
		"pow":        {func(x, y *weft.Tensor) *weft.Tensor { return x.Pow(y.Mul(0.1)) }, func(x, y complex128) complex128 { return cmplx.Pow(x, y*0.1) }},
		"formula":    {func(x, y *weft.Tensor) *weft.Tensor { return weft.Expr("x*y + x/y", weft.Vars{"x": x, "y": y}) }, func(x, y complex128) complex128 { return x*y + x/y }},
		"number":     {func(x, _ *weft.Tensor) *weft.Tensor { return x.Mul(2 - 3i).Div(1i) }, one(func(x complex128) complex128 { return x * (2 - 3i) / 1i })},
		"neg":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Neg() }, one(func(x complex128) complex128 { return -x })},
		"conj":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Conj() }, one(cmplx.Conj)},
		"square":     {func(x, _ *weft.Tensor) *weft.Tensor { return x.Square() }, one(func(x complex128) complex128 { return x * x })},
		"cube":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Pow(3) }, one(func(x complex128) complex128 { return x * x * x })},
		"inverse":    {func(x, _ *weft.Tensor) *weft.Tensor { return x.Pow(-2) }, one(func(x complex128) complex128 { return 1 / (x * x) })},
		"reciprocal": {func(x, _ *weft.Tensor) *weft.Tensor { return x.Reciprocal() }, one(func(x complex128) complex128 { return 1 / x })},
		"abs":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Abs() }, one(func(x complex128) complex128 { return complex(cmplx.Abs(x), 0) })},
		"angle":      {func(x, _ *weft.Tensor) *weft.Tensor { return x.Angle() }, one(func(x complex128) complex128 { return complex(cmplx.Phase(x), 0) })},
		"polar":      {func(x, _ *weft.Tensor) *weft.Tensor { return weft.Polar(x.Abs(), x.Angle()) }, one(func(x complex128) complex128 { return x })},
		"exp":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Exp() }, one(cmplx.Exp)},
		"log":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Log() }, one(cmplx.Log)},
		"expm1":      {func(x, _ *weft.Tensor) *weft.Tensor { return x.Expm1() }, one(func(x complex128) complex128 { return cmplx.Exp(x) - 1 })},
		"log1p":      {func(x, _ *weft.Tensor) *weft.Tensor { return x.Log1p() }, one(func(x complex128) complex128 { return cmplx.Log(x + 1) })},
		"log10":      {func(x, _ *weft.Tensor) *weft.Tensor { return x.Log10() }, one(cmplx.Log10)},
		"sqrt":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Sqrt() }, one(cmplx.Sqrt)},
		"rsqrt":      {func(x, _ *weft.Tensor) *weft.Tensor { return x.Rsqrt() }, one(func(x complex128) complex128 { return 1 / cmplx.Sqrt(x) })},
		"sin":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Sin() }, one(cmplx.Sin)},
		"cos":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Cos() }, one(cmplx.Cos)},
		"tan":        {func(x, _ *weft.Tensor) *weft.Tensor { return x.Tan() }, one(cmplx.Tan)},
		"sinh":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Sinh() }, one(cmplx.Sinh)},
		"cosh":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Cosh() }, one(cmplx.Cosh)},
		"tanh":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Tanh() }, one(cmplx.Tanh)},
		"asin":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Asin() }, one(cmplx.Asin)},
		"acos":       {func(x, _ *weft.Tensor) *weft.Tensor { return x.Acos() }, one(cmplx.Acos)},
		"atan": {func(x, _ *weft.Tensor) *weft.Tensor { return x.Atan() }, one(func(x complex128) complex128 {
			y := cmplx.Atan(x)
			if real(x) == 0 { // Go takes the other side of the cut than C99
				y = complex(math.Abs(real(y)), imag(y))
			}
			return y
		})},
		"sigmoid": {func(x, _ *weft.Tensor) *weft.Tensor { return x.Sigmoid() }, one(func(x complex128) complex128 { return 1 / (1 + cmplx.Exp(-x)) })},
		"sign":    {func(x, _ *weft.Tensor) *weft.Tensor { return x.Sign() }, one(func(x complex128) complex128 { return x / complex(cmplx.Abs(x), 0) })},
	} {
		want := make([]complex128, len(xs))
		for i := range xs {
			want[i] = c.ref(xs[i], ys[i])
		}
		nearComplex(t, name, c.op(weft.FromSlice(xs), weft.FromSlice(ys)), want, 2e-13)
		nearComplex(t, name, c.op(weft.FromSlice(narrowed(xs)), weft.FromSlice(narrowed(ys))), want, 5e-6)
	}
}

// Products and quotients of infinities and zeros follow C99's Annex G: they are infinite or
// zero wherever an argument makes them so.
func TestComplexInfinities(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	parts := []float64{0, math.Copysign(0, -1), 1, -2, inf, -inf, nan}
	var zs []complex128
	for _, a := range parts {
		for _, b := range parts {
			zs = append(zs, complex(a, b))
		}
	}
	isInf := func(z complex128) bool { return math.IsInf(real(z), 0) || math.IsInf(imag(z), 0) }
	finite := func(z complex128) bool { return !isInf(z) && real(z) == real(z) && imag(z) == imag(z) }
	nonzero := func(z complex128) bool {
		return !(real(z) == 0 && imag(z) == 0) && (isInf(z) || real(z) == real(z) && imag(z) == imag(z))
	}
	x := weft.FromSlice(zs).Reshape(-1, 1)
	for _, d := range []weft.DType{weft.Complex64, weft.Complex128} {
		p, q := x.To(d).Mul(x.To(d).T()), x.To(d).Div(x.To(d).T())
		for i, z := range zs {
			for k, w := range zs {
				prod, quot := p.At(i, k).ItemComplex(), q.At(i, k).ItemComplex()
				if isInf(z) && nonzero(w) || isInf(w) && nonzero(z) {
					if !isInf(prod) {
						t.Errorf("%s: %v * %v is %v, want an infinity", d, z, w, prod)
					}
				}
				switch {
				case isInf(z) && finite(w), nonzero(z) && finite(z) && w == 0:
					if !isInf(quot) {
						t.Errorf("%s: %v / %v is %v, want an infinity", d, z, w, quot)
					}
				case finite(z) && isInf(w):
					if quot != 0 {
						t.Errorf("%s: %v / %v is %v, want 0", d, z, w, quot)
					}
				}
			}
		}
	}
	// The divisor's square does not overflow or vanish.
	for _, w := range []complex128{1e300 + 1e300i, 1e-300 - 2e-300i, 5e-324i} {
		y := weft.FromSlice([]complex128{w})
		if got := y.Div(y).At(0).ItemComplex(); cmplx.Abs(got-1) > 1e-15 {
			t.Errorf("%v / itself is %v", w, got)
		}
		if got := y.Abs().At(0).Item(); math.Abs(got/math.Hypot(real(w), imag(w))-1) > 1e-15 {
			t.Errorf("|%v| is %v", w, got)
		}
	}
}

// Sums, products of matrices, moves and in-place forms.
func TestComplexArrays(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	xs, ys := randomComplex(r, 35), randomComplex(r, 28)
	for _, d := range []weft.DType{weft.Complex64, weft.Complex128} {
		x, y := weft.FromSlice(xs).Reshape(5, 7).To(d), weft.FromSlice(ys).Reshape(7, 4).To(d)
		tol := 1e-13
		if d == weft.Complex64 {
			tol = 1e-5
		}
		var product []complex128
		for i := range 5 {
			for k := range 4 {
				var s complex128
				for j := range 7 {
					s += xs[i*7+j] * ys[j*4+k]
				}
				product = append(product, s)
			}
		}
		nearComplex(t, "matmul", x.MatMul(y), product, 10*tol)
		nearComplex(t, "matmul of transposes", y.T().MatMul(x.T()).T(), product, 10*tol)
		var rows, cols, moved []complex128
		prod := complex128(1)
		for i := range 5 {
			var s complex128
			for j := range 7 {
				s += xs[i*7+j]
			}
			rows = append(rows, s)
		}
		for j := range 7 {
			var s complex128
			for i := range 5 {
				s += xs[i*7+j]
			}
			cols = append(cols, s)
		}
		for j := range 7 {
			prod *= xs[j]
		}
		for j := range 7 {
			for i := 4; i >= 0; i-- {
				moved = append(moved, xs[i*7+j])
			}
		}
		nearComplex(t, "sum of rows", x.Sum(1), rows, 100*tol)
		nearComplex(t, "sum of columns", x.Sum(0), cols, 100*tol)
		nearComplex(t, "prod", x.At(0).Prod(), []complex128{prod}, 10*tol)
		nearComplex(t, "clone of a view", x.Slice(weft.Range(weft.End, weft.Begin, -1)).T().Clone(), moved, tol)
		nearComplex(t, "cat", weft.Cat([]*weft.Tensor{x.At(0), x.At(1)}, 0), xs[:14], tol)
		nearComplex(t, "index", x.IndexSelect(0, weft.FromSlice([]int64{2, 0})), append(append([]complex128{}, xs[14:21]...), xs[:7]...), tol)
		nearComplex(t, "where", weft.Where(x.Ne(x), 0, x), xs, tol)
		z := x.Clone()
		z.MulAssign(2i)
		z.Real().Assign(1)
		var want []complex128
		for _, v := range xs {
			want = append(want, complex(1, imag(v*2i)))
		}
		nearComplex(t, "in place", z, want, tol)
		if v := x.Var(); v.DType() != d.Part() || math.Abs(v.Item()-variance(xs)) > 1e-4*variance(xs) {
			t.Errorf("variance of %s is %v of type %s, want %v", d, v, v.DType(), variance(xs))
		}
	}
	if d := weft.Ones(2).Mul(1i).DType(); d != weft.Complex64 {
		t.Errorf("float32 times a complex number is %s", d)
	}
	if d := weft.OnesOf(weft.Float64, 2).Add(weft.FromSlice([]complex64{1, 2})).DType(); d != weft.Complex128 {
		t.Errorf("float64 and complex64 meet in %s", d)
	}
	if err := weft.Try(func() { weft.FullOf(weft.Complex64, 1i, 2).Lt(1) }); err == nil {
		t.Error("complex numbers are ordered")
	}
}

func variance(x []complex128) float64 {
	var m complex128
	for _, v := range x {
		m += v
	}
	m /= complex(float64(len(x)), 0)
	s := 0.0
	for _, v := range x {
		s += real((v - m) * cmplx.Conj(v-m))
	}
	return s / float64(len(x))
}

// Gradients of real numbers by complex ones are dx + i*dy, by finite differences in both
// directions.
func TestComplexGradients(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	xs, ys := randomComplex(r, 6), randomComplex(r, 6)
	for name, f := range map[string]func(x, y *weft.Tensor) *weft.Tensor{
		"mul":    func(x, y *weft.Tensor) *weft.Tensor { return x.Mul(y) },
		"div":    func(x, y *weft.Tensor) *weft.Tensor { return x.Div(y) },
		"abs":    func(x, y *weft.Tensor) *weft.Tensor { return x.Abs().Mul(y.Angle()) },
		"exp":    func(x, y *weft.Tensor) *weft.Tensor { return x.Mul(0.1).Exp().Mul(y.Log()) },
		"sqrt":   func(x, y *weft.Tensor) *weft.Tensor { return x.Sqrt().Add(y.Sin()) },
		"pow":    func(x, y *weft.Tensor) *weft.Tensor { return x.Pow(y.Mul(0.1)).Add(x.Pow(3)) },
		"matmul": func(x, y *weft.Tensor) *weft.Tensor { return x.Reshape(2, 3).MatMul(y.Reshape(3, 2)) },
		"parts":  func(x, y *weft.Tensor) *weft.Tensor { return x.Real().Mul(y.Imag()).Add(x.Conj()) },
		"tanh":   func(x, y *weft.Tensor) *weft.Tensor { return x.Mul(0.1).Tanh().Mul(y.Mul(0.1).Atan()) },
		"moves": func(x, y *weft.Tensor) *weft.Tensor {
			return weft.Cat([]*weft.Tensor{x, y}, 0).Slice(weft.Range(1, 10, 2)).Square()
		},
		"place": func(x, y *weft.Tensor) *weft.Tensor {
			z := x.Mul(y)
			z.Imag().MulAssign(3)
			return z.Mul(x)
		},
	} {
		weights := weft.FromSlice(randomComplex(rand.New(rand.NewPCG(9, 9)), 6))
		loss := func(x, y *weft.Tensor) *weft.Tensor { // real, of both parts
			z := f(x, y).Reshape(-1)
			w := weights.Slice(weft.Range(0, z.Size()))
			return z.Mul(w).Real().Sum().Add(z.Mul(z).Mul(0.1).Real().Sum())
		}
		x, y := weft.FromSlice(append([]complex128{}, xs...)).RequireGrad(), weft.FromSlice(append([]complex128{}, ys...)).RequireGrad()
		loss(x, y).Backward()
		at := func(k int, i int, h complex128) float64 {
			a, b := append([]complex128{}, xs...), append([]complex128{}, ys...)
			if k == 0 {
				a[i] += h
			} else {
				b[i] += h
			}
			return loss(weft.FromSlice(a), weft.FromSlice(b)).Item()
		}
		const h = 1e-6
		for k, leaf := range []*weft.Tensor{x, y} {
			if leaf.Grad() == nil {
				t.Errorf("%s: argument %d has no gradient", name, k)
				continue
			}
			for i := range xs {
				scale := complex(math.Max(1e-3, math.Min(1, cmplx.Abs([][]complex128{xs, ys}[k][i]))), 0)
				step := h * real(scale)
				dx := (at(k, i, complex(step, 0)) - at(k, i, complex(-step, 0))) / (2 * step)
				dy := (at(k, i, complex(0, step)) - at(k, i, complex(0, -step))) / (2 * step)
				got, want := leaf.Grad().At(i).ItemComplex(), complex(dx, dy)
				if cmplx.Abs(got-want) > 1e-4*(1+cmplx.Abs(want)) {
					t.Errorf("%s: gradient %d of argument %d is %v, differences say %v", name, i, k, got, want)
				}
			}
		}
	}
	// PyTorch: the gradient of |z|^2 is 2z, of |z| at 0 it is 0.
	z := weft.FromSlice([]complex64{3 + 4i, 0}).RequireGrad()
	z.Abs().Sum().Backward()
	if got := weft.Data[complex64](z.Grad()); got[0] != 0.6+0.8i || got[1] != 0 {
		t.Errorf("gradient of |z| is %v", got)
	}
}

// Complex numbers are made, printed, hashed and written like others.
func TestComplexInputAndOutput(t *testing.T) {
	x := weft.FromSlice([]complex64{1 + 2i, 3 - 4i, 0.5, -10})
	for want, got := range map[string]string{ // as NumPy 2 prints them
		"[  1. +2.j   3. -4.j   0.5+0.j -10. +0.j]": fmt.Sprint(x),
		"(1+2j)":       fmt.Sprint(x.At(0)),
		"3j":           fmt.Sprint(weft.Scalar(3i)),
		"(-1.5-0j)":    fmt.Sprint(weft.ScalarOf(weft.Complex128, complex(-1.5, math.Copysign(0, -1)))),
		"(1.00+2.00i)": fmt.Sprintf("%.2f", x.At(0)),
		"weft.From([]complex64{complex(1, 2), complex(3, -4)})": fmt.Sprintf("%#v", x.Slice(weft.Range(0, 2))),
	} {
		if got != want {
			t.Errorf("printed %s, want %s", got, want)
		}
	}
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil {
		t.Fatal(err)
	}
	if back, err := npy.Read(&b); err != nil || weft.Digest(back) != weft.Digest(x) {
		t.Errorf("npy: %v %v", back, err)
	}
	if y := weft.FullOf(weft.Complex128, 1-1i, 2, 2).Real(); y.Sum().Item() != 4 {
		t.Errorf("the real part of ones is %v", y)
	}
	if y := weft.ZerosOf(weft.Complex64, 2, 3).Add(1); y.Sum().ItemComplex() != 6 {
		t.Errorf("zeros and one: %v", y)
	}
	if weft.Zeros(0).Mul(1i).Sum().ItemComplex() != 0 {
		t.Error("the sum of nothing")
	}
}

// A complex Go number is written with both parts, into all or into one element.
func TestAssignComplexNumber(t *testing.T) {
	for _, d := range []weft.DType{weft.Complex64, weft.Complex128} {
		x := weft.ZerosOf(d, 3)
		x.Assign(complex(1, 2))
		x.Slice(weft.Range(1, 2)).Assign(complex(-3, 0.5))
		for i, want := range []complex128{1 + 2i, -3 + 0.5i, 1 + 2i} {
			if got := x.At(i).ItemComplex(); got != want {
				t.Errorf("%s: element %d is %v, want %v", d, i, got, want)
			}
		}
	}
	if err := weft.Try(func() { weft.Zeros(3).Assign(complex(1, 2)) }); err == nil {
		t.Error("a complex number was written into floats")
	}
}

// Both parts may be the same value, which has one place alone.
func TestComplexOfOneValue(t *testing.T) {
	x := weft.FromSlice([]float32{1, 2, 3})
	both := func(x *weft.Tensor) *weft.Tensor { y := x.Tanh(); return weft.Complex(y, y) }
	got, err := weft.Compile(both).Call(x)
	if err != nil {
		t.Fatal(err)
	}
	weft.Borrow(got, func(z []complex64) {
		weft.Borrow(x.Tanh(), func(y []float32) {
			for i, z := range z {
				if real(z) != y[i] || imag(z) != y[i] {
					t.Errorf("element %d is %v, want both parts %v", i, z, y[i])
				}
			}
		})
	})
}

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
	c := newComplexSample(d, s)
	if c == nil {
		return false
	}
	x, narrow, ok := c.grads(t, weft.Complex128)
	if !ok {
		return false
	}
	low, _, ok := c.grads(t, weft.Complex64)
	if !ok {
		t.Errorf("%s of %v has a gradient in complex128, not in complex64", d.Name, s.Shapes)
		return true
	}
	for i := range c.values {
		if c.places[i] == nil && !c.compare(t, i, x[i], low[i], narrow) {
			break
		}
	}
	return true
}

// A complexSample is a sample with complex arguments.
type complexSample struct {
	d      *op.Def
	s      op.Sample
	values [][]complex128
	places []*weft.Tensor // instead of values, integers and truth values
}

// newComplexSample draws the arguments; nil if they are large, or matrices with one triangle that counts, whose complex
// gradients package linalg's tests compare with PyTorch's. Where the operation needs matrices of some kind, real parts
// are such.
func newComplexSample(d *op.Def, s op.Sample) *complexSample {
	if s.Symmetric {
		return nil
	}
	r := rand.New(rand.NewPCG(1, 2))
	values := make([][]complex128, len(s.Shapes))
	places := make([]*weft.Tensor, len(s.Shapes)) // instead of values, integers and truth values
	for i, shape := range s.Shapes {
		n := 1
		for _, k := range shape {
			n *= k
		}
		if n > 400 {
			return nil
		}
		values[i] = make([]complex128, n)
		ints := make([]int64, n)
		for j := range values[i] {
			values[i][j] = complex(0.4+r.Float64(), 0.3+r.Float64())
			ints[j] = r.Int64N(int64(max(s.Max, 2)))
		}
		if s.Fit != nil {
			fitted := make([]float64, n)
			for j, z := range values[i] {
				fitted[j] = real(z)
			}
			s.Fit(i, shape, fitted)
			for j, x := range fitted {
				values[i][j] = complex(x, imag(values[i][j])/8)
			}
		}
		if s.Ascending && i == len(values)-1 { // offsets of items; row 0 is in no item
			for j := range ints {
				ints[j] = int64(min(1, s.Max-1) + j*max(s.Max-2, 0)/max(n-1, 1))
			}
			places[i] = weft.FromSlice(ints)
		}
		if s.DTypes != nil && !s.DTypes[i].Differentiable() {
			places[i] = weft.FromSlice(ints).Reshape(shape...).To(s.DTypes[i])
		}
	}
	return &complexSample{d, s, values, places}
}

// loss returns a real number of both parts of all results, and the arguments; narrow if a
// result has fewer digits than float64.
func (c *complexSample) loss(leaf bool, as weft.DType) (x []*weft.Tensor, y *weft.Tensor, narrow bool) {
	ops := make([]core.Operand, len(c.values))
	for i := range c.values {
		z := c.places[i]
		if z == nil {
			z = weft.FromSlice(append([]complex128{}, c.values[i]...)).Reshape(c.s.Shapes[i]...).To(as)
			if leaf {
				z.RequireGrad()
			}
		}
		x, ops[i] = append(x, z), core.Operand{T: (*core.Tensor)(z)}
	}
	y = weft.ScalarOf(weft.Float64, 0)
	for k, z := range core.ApplyAll(c.d, c.s.Attrs, ops...) {
		if !(*weft.Tensor)(z).DType().Differentiable() || z.Size() == 0 {
			continue
		}
		narrow = narrow || (*weft.Tensor)(z).DType() != weft.Float64 && (*weft.Tensor)(z).DType() != weft.Complex128
		w := weft.NewGenerator(uint64(7+k)).RandnOf(weft.Float64, (*weft.Tensor)(z).Shape()...)
		y = y.Add((*weft.Tensor)(z).Real().Mul(w).Sum())
		if (*weft.Tensor)(z).DType().Complex() {
			y = y.Add((*weft.Tensor)(z).Imag().Mul(w).Mul(0.7).Sum())
		}
	}
	return x, y, narrow
}

// grads returns the arguments with their gradients. It is false where the operation is not
// defined for complex numbers, or has no gradient.
func (c *complexSample) grads(t *testing.T, as weft.DType) (x []*weft.Tensor, narrow, ok bool) {
	var y *weft.Tensor
	if err := weft.Try(func() { x, y, narrow = c.loss(true, as) }); err != nil || !y.RequiresGrad() {
		return nil, false, false
	}
	if err := weft.Try(func() { y.Backward() }); err != nil {
		t.Errorf("%s of %v: %v", c.d.Name, c.s.Shapes, err)
		return nil, false, false
	}
	return x, narrow, true
}

// compare compares gradients of argument i, in x and low, with differences.
func (c *complexSample) compare(t *testing.T, i int, x, low *weft.Tensor, narrow bool) bool {
	at := func(x *weft.Tensor, j int) complex128 {
		if g := x.Grad(); g != nil {
			return g.Reshape(-1).At(j).ItemComplex()
		}
		return 0
	}
	// A result that is rounded to fewer digits, as cast's, needs wider differences.
	h, tolerance := 1e-6, 1e-5
	if narrow {
		h, tolerance = 1.0/4, 1e-2
	}
	for j := 0; j < len(c.values[i]); j += 1 + len(c.values[i])/40 {
		z := c.values[i][j]
		moved := func(dz complex128) float64 {
			c.values[i][j] = z + dz
			_, y, _ := c.loss(false, weft.Complex128)
			c.values[i][j] = z
			return y.Item()
		}
		want := complex((moved(complex(h, 0))-moved(complex(-h, 0)))/(2*h), (moved(complex(0, h))-moved(complex(0, -h)))/(2*h))
		got, low := at(x, j), at(low, j)
		if !(cmplx.Abs(got-want) <= tolerance*math.Max(1, cmplx.Abs(want))) {
			t.Errorf("%s of %v, %v: gradient %d of argument %d is %v, differences say %v", c.d.Name, c.s.Shapes, c.s.Attrs, j, i, got, want)
			return false
		}
		if !narrow && !(cmplx.Abs(low-want) <= 2e-4*math.Max(1, cmplx.Abs(want))) {
			t.Errorf("%s of %v, %v: gradient %d of argument %d is %v in complex64, differences say %v", c.d.Name, c.s.Shapes, c.s.Attrs, j, i, low, want)
			return false
		}
	}
	return true
}

// complexFormulas are what testdata/complexgrad.py computes, by name.
var complexFormulas = map[string]func(x, y *weft.Tensor) *weft.Tensor{
	"matmul":  func(x, y *weft.Tensor) *weft.Tensor { return x.MatMul(y) },
	"linear":  func(x, y *weft.Tensor) *weft.Tensor { return x.Linear(y.Transpose(0, 1), nil) },
	"norm":    func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(2) },
	"norm1":   func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(1, 0) },
	"norm3":   func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(3, 1) },
	"norm0.5": func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(0.5) },
	"norm1.5": func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(1.5, 0) },
	"norminf": func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(math.Inf(1), 1) },
	"norm0":   func(x, _ *weft.Tensor) *weft.Tensor { return x.Norm(0) },
	"std":     func(x, _ *weft.Tensor) *weft.Tensor { return x.Std(1) },
	"var":     func(x, _ *weft.Tensor) *weft.Tensor { return x.Var(0) },
	"prod":    func(x, _ *weft.Tensor) *weft.Tensor { return x.Prod(1) },
	"einsum":  func(x, y *weft.Tensor) *weft.Tensor { return weft.Einsum("ij,jk->ki", x, y) },
	"outer":   func(x, y *weft.Tensor) *weft.Tensor { return x.Reshape(-1).Outer(y.Reshape(-1)) },
	"dot":     func(x, y *weft.Tensor) *weft.Tensor { return x.Reshape(-1).Dot(y.Reshape(-1)) },
	"div":     func(x, y *weft.Tensor) *weft.Tensor { return x.Div(y.Transpose(0, 1)) },
	"pow":     func(x, y *weft.Tensor) *weft.Tensor { return x.Pow(y.Transpose(0, 1)) },
	"root":    func(x, _ *weft.Tensor) *weft.Tensor { return weft.Expr("pow(x, 0.5)", weft.Vars{"x": x}) },
	"inverse": func(x, _ *weft.Tensor) *weft.Tensor { return weft.Expr("pow(x, -2.0)", weft.Vars{"x": x}) },
	"angle":   func(x, _ *weft.Tensor) *weft.Tensor { return x.Angle() },
	"tanh":    func(x, _ *weft.Tensor) *weft.Tensor { return x.Tanh() },
	"conj":    func(x, _ *weft.Tensor) *weft.Tensor { return x.Conj().Mul(x) },
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
		x := weft.FromSlice(numbers(c.X)).Reshape(2, 3).RequireGrad()
		y := weft.FromSlice(numbers(c.Y)).Reshape(3, 2).RequireGrad()
		z := complexFormulas[c.Name](x, y)
		if !slices.Equal(z.Shape(), c.Shape) {
			t.Errorf("%s: shape %v, want %v", c.Name, z.Shape(), c.Shape)
			continue
		}
		// The loss is the sum of the parts, the i-th times (7*i mod 5) - 1.5, the
		// imaginary ones by 0.7 of that.
		w := weft.Expr("(7*i % 5) - 1.5", weft.Vars{"i": weft.Arange(z.Size()).To(weft.Float64)}).Reshape(z.Shape()...)
		loss := z.Real().Mul(w).Sum()
		if z.DType().Complex() {
			loss = loss.Add(z.Imag().Mul(w).Mul(0.7).Sum())
		}
		if loss.RequiresGrad() {
			loss.Backward()
		}
		compare := func(what string, got *weft.Tensor, want [][2]float64) {
			for i, w := range numbers(want) {
				g := complex128(0)
				if got != nil {
					g = got.To(weft.Complex128).Reshape(-1).At(i).ItemComplex()
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
	z := weft.FromSlice([]complex128{1, 2i})
	for name, f := range map[string]func(){
		"softmax": func() { z.Softmax(0) }, "max": func() { z.Max() }, "relu": func() { z.Relu() }, "logsumexp": func() { z.LogSumExp(0) },
	} {
		if err := weft.Try(f); err == nil {
			t.Errorf("%s of complex numbers gives something", name)
		}
	}
}

// TestGradientWithComplexNumber: a Go number that is complex counts as its two parts.
func TestGradientWithComplexNumber(t *testing.T) {
	for _, create := range []bool{false, true} {
		z := weft.FromSlice([]complex128{1 + 2i, 3 - 1i}).RequireGrad()
		y := z.Mul(complex(0, 2)).Mul(z).Add(3).Real().Sum()
		g := weft.Data[complex128](weft.Grad(y, []*weft.Tensor{z}, weft.GradOpts{Create: create})[0])
		for i, want := range []complex128{complex(-8, -4), complex(4, -12)} { // the conjugate of 4i*z
			if g[i] != want {
				t.Errorf("gradient %d (create %v): %v, want %v", i, create, g[i], want)
			}
		}
	}
}

// TestComplexNanToNum has values of NumPy 2.4.6.
func TestComplexNanToNum(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := []complex128{complex(nan, 1), complex(-inf, nan), complex(2, inf), 3 - 4i, complex(nan, -inf)}
	for d, most := range map[weft.DType]float64{weft.Complex128: math.MaxFloat64, weft.Complex64: math.MaxFloat32} {
		for _, c := range []struct {
			nan      float64
			infinite []float64
			want     []float64
		}{
			{0, nil, []float64{0, 1, -most, 0, 2, most, 3, -4, 0, -most}},
			{7, nil, []float64{7, 1, -most, 7, 2, most, 3, -4, 7, -most}},
			{-1, []float64{9}, []float64{-1, 1, -9, -1, 2, 9, 3, -4, -1, -9}},
			{1, []float64{5, -6}, []float64{1, 1, -6, 1, 2, 5, 3, -4, 1, -6}},
		} {
			z := weft.FromSlice(x).To(d).RequireGrad()
			y := z.NanToNum(c.nan, c.infinite...)
			if y.DType() != d {
				t.Errorf("of %s it is %s", d, y.DType())
			}
			what := fmt.Sprintf("%s with %v for NaN and %v for infinities", d, c.nan, c.infinite)
			tensortest.Near(t, what, weft.Stack([]*weft.Tensor{y.Real(), y.Imag()}, 1).To(weft.Float64), c.want, 0)
			y.Real().Add(y.Imag()).Sum().Backward()
			g := z.Grad()
			tensortest.Near(t, what+": gradient", weft.Stack([]*weft.Tensor{g.Real(), g.Imag()}, 1).To(weft.Float64), []float64{0, 1, 0, 0, 1, 0, 1, 1, 0, 0}, 0)
		}
	}
	if err := weft.Try(func() { weft.FromSlice(x).NanToNum(0, 1, 2, 3) }); err == nil || !strings.Contains(err.Error(), "nan_to_num") {
		t.Error("three infinities:", err)
	}
}
