package weft_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"weft"
	"weft/half"
	"weft/internal/array"
	"weft/npy"
	"weft/safetensors"
)

func halves(x ...float64) []half.Float16 {
	out := make([]half.Float16, len(x))
	for i := range x {
		out[i] = half.NewFloat16(x[i])
	}
	return out
}

// Floats of 16 bits round at every node, fused or not.
func TestHalfRoundsAtEveryNode(t *testing.T) {
	x := weft.FromSlice(halves(2048, 2050, 1, 0.1, 65504, 6e-8))
	want := halves(2048, 2052, 3, 2.1, 65504, 2)
	want[3] = half.NewFloat16(half.NewFloat16(half.NewFloat16(0.1).Float32()+1).Float32() + 1)
	for name, y := range map[string]*weft.Tensor{
		"eager": x.Add(1).Add(1),
		"fused": weft.Expr("x + 1 + 1", weft.Vars{"x": x}),
	} {
		if got := weft.Data[half.Float16](y); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	// 2049 lies between 2048 and 2050, 257 between 256 and 258.
	if y := weft.FullOf(weft.BFloat16, 256, 3).Add(1); y.At(0).Item() != 256 {
		t.Errorf("bfloat16 256 + 1 is %v", y)
	}
	if y := weft.ScalarOf(weft.Float16, 65504).Mul(2); !math.IsInf(y.Item(), 1) {
		t.Errorf("65504 * 2 is %v", y)
	}
}

// What combines many elements does so in float32.
func TestHalfReductionsAccumulateInFloat32(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		x := weft.OnesOf(d, 300, 100)
		for name, y := range map[string]*weft.Tensor{
			"sum": x.Sum(), "sum of columns": x.Sum(0).Sum(), "sum of rows": x.Sum(1).Sum(),
			"matmul": x.Reshape(1, -1).MatMul(x.Reshape(-1, 1)).Reshape(),
		} {
			want := 30000.0
			if d == weft.BFloat16 {
				want = 29952 // the nearest that it has
			}
			if y.DType() != d || y.Item() != want {
				t.Errorf("%s of %s: %v, want %v", name, d, y, want)
			}
		}
		// Squares up to 90000 are beyond float16, their mean is not.
		z := weft.FullOf(weft.Float32, 300, 4).To(d)
		if y := z.Std(); y.Item() != 0 {
			t.Errorf("std of equal %s: %v", d, y)
		}
		if y := x.Mul(2).Mean(); y.Item() != 2 || y.DType() != d {
			t.Errorf("mean of %s: %v", d, y)
		}
		if y := x.At(0).Softmax(0).Sum(); math.Abs(y.Item()-1) > 0.01 || y.DType() != d {
			t.Errorf("softmax of %s: %v", d, y)
		}
	}
	if d := weft.OnesOf(weft.Float16, 2).Add(weft.OnesOf(weft.BFloat16, 2)).DType(); d != weft.Float32 {
		t.Errorf("float16 and bfloat16 meet in %s", d)
	}
}

// A matmul of halves has the bits of the matmul of the same numbers in float32, rounded once, in
// any layout: nothing is converted before packing, and nothing is rounded on the way.
func TestHalfMatMul(t *testing.T) {
	gen := weft.NewGenerator(7)
	t32 := func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float32) }
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		draw := func(shape ...int) *weft.Tensor { return gen.RandnOf(d, shape...) }
		check := func(name string, got, want *weft.Tensor) {
			t.Helper()
			if got.DType() != d || weft.Digest(got) != weft.Digest(want.To(d)) {
				t.Errorf("%s of %s is not the product of float32, rounded once", name, d)
			}
		}
		for _, s := range [][3]int{{1, 1, 1}, {5, 7, 3}, {37, 300, 50}, {1, 600, 71}, {130, 257, 1}, {1, 1500, 1500}, {4, 1100, 303}, {64, 1024, 64}} {
			m, k, n := s[0], s[1], s[2]
			name := fmt.Sprintf("matmul %v", s)
			x, y := draw(m, k), draw(k, n)
			want := t32(x).MatMul(t32(y))
			check(name, x.MatMul(y), want)
			check(name+", x by columns", x.T().Clone().T().MatMul(y), want)
			check(name+", y by columns", x.MatMul(y.T().Clone().T()), want)
			wide, every, back := draw(m, 2*k), weft.Range(0, 2*k, 2), weft.Range(weft.End, weft.Begin, -1)
			check(name+", every other", wide.Slice(weft.Range(0, m), every).MatMul(y), t32(wide).Slice(weft.Range(0, m), every).MatMul(t32(y)))
			check(name+", backwards", x.Slice(back, back).MatMul(y.Slice(back)), t32(x).Slice(back, back).MatMul(t32(y).Slice(back)))
			row := draw(1, k)
			check(name+", a row for all", row.Expand(m, k).MatMul(y), t32(row).Expand(m, k).MatMul(t32(y)))
			w, b := draw(n, k), draw(n)
			check("linear "+name, x.Linear(w, b), t32(x).Linear(t32(w), t32(b)))
			check("linear without bias "+name, x.Linear(w, nil), t32(x).Linear(t32(w), nil))
			check("fused "+name, weft.Expr("relu(dot(x, y))*2", weft.Vars{"x": x, "y": y}), want.To(d).Relu().Mul(2))

			// The gradients, too.
			xg, wg := x.Clone().RequireGrad(), w.Clone().RequireGrad()
			xf, wf := t32(x).RequireGrad(), t32(w).RequireGrad()
			xg.Linear(wg, b).Sum().Backward()
			xf.Linear(wf, t32(b)).To(d).Sum().Backward()
			check("gradient of x, "+name, xg.Grad(), xf.Grad())
			check("gradient of w, "+name, wg.Grad(), wf.Grad())
		}
		x, y := draw(3, 1, 20, 31), draw(2, 31, 17)
		want := t32(x).MatMul(t32(y))
		check("batch", x.MatMul(y), want)
		check("batch of turned matrices", x.MatMul(y.Transpose(1, 2).Clone().Transpose(1, 2)), want)
		check("batch of vectors", x.MatMul(y.Transpose(1, 2).At(1, 0)), t32(x).MatMul(t32(y).Transpose(1, 2).At(1, 0)))
		v := draw(600)
		check("vectors", v.MatMul(v).Reshape(1), t32(v).MatMul(t32(v)).Reshape(1))
		// Both kinds meet in float32.
		if f := draw(31, 4).To(weft.Float32); weft.Digest(x.MatMul(f)) != weft.Digest(t32(x).MatMul(f)) {
			t.Errorf("%s times float32 differs", d)
		}
	}
	x, y := gen.RandnOf(weft.Float16, 40, 50), gen.RandnOf(weft.BFloat16, 50, 60)
	if got := x.MatMul(y); got.DType() != weft.Float32 || weft.Digest(got) != weft.Digest(t32(x).MatMul(t32(y))) {
		t.Error("float16 times bfloat16 is not the product of float32")
	}
}

// A convolution of halves has the bits of the convolution of the same numbers in float32,
// rounded once.
func TestHalfConvolutions(t *testing.T) {
	gen := weft.NewGenerator(8)
	t32 := func(x *weft.Tensor) *weft.Tensor { return x.To(weft.Float32) }
	for i, c := range []struct {
		x, w []int
		o    weft.ConvOpts
	}{
		{[]int{3, 5, 9, 11}, []int{7, 5, 3, 2}, weft.ConvOpts{}},
		{[]int{2, 32, 9, 14}, []int{32, 32, 3, 3}, weft.ConvOpts{Padding: [2]int{1, 1}}},
		{[]int{40, 3, 5, 5}, []int{6, 3, 3, 3}, weft.ConvOpts{Padding: [2]int{1, 1}}},
		{[]int{3, 1, 28, 28}, []int{6, 1, 5, 5}, weft.ConvOpts{Padding: [2]int{2, 0}}},
		{[]int{2, 16, 10, 12}, []int{16, 16, 3, 3}, weft.ConvOpts{Stride: new([2]int{2, 3}), Dilation: new([2]int{1, 2})}},
		{[]int{2, 32, 8, 9}, []int{32, 1, 3, 3}, weft.ConvOpts{Padding: [2]int{1, 1}, Groups: new(32)}},
		{[]int{2, 40, 8, 9}, []int{20, 20, 3, 3}, weft.ConvOpts{Groups: new(2)}},
		{[]int{5, 300, 4, 4}, []int{8, 300, 1, 1}, weft.ConvOpts{}},
	} {
		d := []weft.DType{weft.Float16, weft.BFloat16}[i%2]
		check := func(name string, got, want *weft.Tensor) {
			t.Helper()
			if got.DType() != d || weft.Digest(got) != weft.Digest(want.To(d)) {
				t.Errorf("%s of %s, %v with %v, %+v, is not that of float32, rounded once", name, d, c.x, c.w, c.o)
			}
		}
		x, w, b := gen.RandnOf(d, c.x...), gen.RandnOf(d, c.w...), gen.RandnOf(d, c.w[0])
		check("convolution", x.Conv2d(w, b, c.o), t32(x).Conv2d(t32(w), t32(b), c.o))
		last := x.Permute(0, 2, 3, 1).Clone().Permute(0, 3, 1, 2)
		check("convolution, channels last", last.Conv2d(w, nil, c.o), t32(x).Conv2d(t32(w), nil, c.o))
		back := weft.Range(weft.End, weft.Begin, -1)
		check("convolution, images backwards", x.Slice(back).Conv2d(w, nil, c.o), t32(x).Slice(back).Conv2d(t32(w), nil, c.o))
		xg, wg := x.Clone().RequireGrad(), w.Clone().RequireGrad()
		xf, wf := t32(x).RequireGrad(), t32(w).RequireGrad()
		y := xf.Conv2d(wf, nil, c.o).To(d)
		some := gen.RandnOf(d, y.Shape()...)
		xg.Conv2d(wg, nil, c.o).Mul(some).Sum().Backward()
		y.Mul(some).Sum().Backward()
		check("gradient of the input", xg.Grad(), xf.Grad())
		check("gradient of the weights", wg.Grad(), wf.Grad())
	}
}

// Gradients have the type of the leaf, and the values that PyTorch computes. For the numbers here
// they equal the gradients in float32, which are exact.
func TestHalfGradients(t *testing.T) {
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		w := weft.From([][]float32{{1, 2}, {3, 4}}).To(d).RequireGrad()
		x := weft.From([][]float32{{0.5, -1}, {2, 0.25}}).To(d)
		loss := x.MatMul(w).Relu().Sum()
		loss.Backward()
		// x@w = [[-2.5 -3], [2.75 5]]: only the second row passes.
		if got := fmt.Sprint(w.Grad().To(weft.Float32)); got != "[[2.   2.  ]\n [0.25 0.25]]" || w.Grad().DType() != d {
			t.Errorf("%s: gradient %v of type %s", d, w.Grad(), w.Grad().DType())
		}
		v := weft.From([]float32{1, 2, 3, 3}).To(d).RequireGrad()
		v.Softmax(0).Max().Backward()
		if g := v.Grad(); g.DType() != d || math.Abs(g.Sum().Item()) > 0.01 {
			t.Errorf("%s: gradient of softmax %v", d, g)
		}
	}
}

// Floats of 16 bits are made, read, printed, hashed, drawn and written like others.
func TestHalfInputAndOutput(t *testing.T) {
	x := weft.FullOf(weft.Float16, 1.5, 2)
	if x.At(0).Item() != 1.5 {
		t.Errorf("Full(1.5) is %v", x)
	}
	y := weft.From([]half.BFloat16{half.NewBFloat16(0.1), half.NewBFloat16(-2.0)})
	for want, got := range map[string]string{
		"[1.5 1.5]":     fmt.Sprint(x),
		"[ 0.1 -2. ]":   fmt.Sprint(y),
		"[ 0.10 -2.00]": fmt.Sprintf("%.2f", y),
		"0.1":           fmt.Sprint(weft.ScalarOf(weft.Float16, 0.1)),
		"weft.From([]float32{0.1, -2}).To(weft.BFloat16)": fmt.Sprintf("%#v", y),
	} {
		if got != want {
			t.Errorf("printed %s, want %s", got, want)
		}
	}
	if weft.Digest(weft.FromSlice([]half.Float16{0x7e00})) != weft.Digest(weft.FromSlice([]half.Float16{0xfc01})) {
		t.Error("NaNs of float16 have different digests")
	}
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16} {
		r := weft.RandOf(d, 10000)
		if lo, hi, m := r.Min().Item(), r.Max().Item(), r.To(weft.Float32).Mean().Item(); lo < 0 || hi >= 1 || math.Abs(m-0.5) > 0.02 || r.DType() != d {
			t.Errorf("%s: uniform from %v to %v, mean %v", d, lo, hi, m)
		}
		n := weft.RandnOf(d, 10000).To(weft.Float32)
		if m, s := n.Mean().Item(), n.Std().Item(); math.Abs(m) > 0.05 || math.Abs(s-1) > 0.05 {
			t.Errorf("%s: normal with mean %v and deviation %v", d, m, s)
		}
	}
	var b bytes.Buffer
	if err := npy.Write(&b, x); err != nil {
		t.Fatal(err)
	}
	if back, err := npy.Read(&b); err != nil || weft.Digest(back) != weft.Digest(x) {
		t.Errorf("npy: %v %v", back, err)
	}
	path := filepath.Join(t.TempDir(), "halves.safetensors")
	if err := safetensors.WriteFile(path, map[string]*weft.Tensor{"x": x, "y": y}, nil); err != nil {
		t.Fatal(err)
	}
	if back, _, err := safetensors.ReadFile(path); err != nil || weft.Digest(back["x"], back["y"]) != weft.Digest(x, y) {
		t.Errorf("safetensors: %v %v", back, err)
	}
}

// A formula gives what the methods give, in every combination of types: the same type and
// the same bits, or a refusal from both. A float64 array beside them changes nothing.
func TestExprTypesMatchMethods(t *testing.T) {
	binaries := []struct {
		text string
		do   func(a *weft.Tensor, b any) *weft.Tensor
	}{
		{"x + y", (*weft.Tensor).Add}, {"x - y", (*weft.Tensor).Sub}, {"x * y", (*weft.Tensor).Mul}, {"x / y", (*weft.Tensor).Div}, {"x % y", (*weft.Tensor).Mod},
		{"floordiv(x, y)", (*weft.Tensor).FloorDiv}, {"max(x, y)", (*weft.Tensor).Maximum}, {"minimum(x, y)", (*weft.Tensor).Minimum}, {"atan2(x, y)", (*weft.Tensor).Atan2},
		{"pow(x, y)", (*weft.Tensor).Pow}, {"x == y", (*weft.Tensor).Eq}, {"x < y", (*weft.Tensor).Lt}, {"x >= y", (*weft.Tensor).Ge}, {"x && y", (*weft.Tensor).LogicalAnd}, {"x || y", (*weft.Tensor).LogicalOr},
		{"x & y", (*weft.Tensor).BitAnd}, {"x | y", (*weft.Tensor).BitOr}, {"x ^ y", (*weft.Tensor).BitXor}, {"x << y", (*weft.Tensor).Shl}, {"x >> y", (*weft.Tensor).Shr},
		{"where(x, y, 0.3)", func(a *weft.Tensor, b any) *weft.Tensor { return weft.Where(a, b, 0.3) }},
		{"where(x, 0.1, y)", func(a *weft.Tensor, b any) *weft.Tensor { return weft.Where(a, 0.1, b) }},
		{"clamp(x, y, 2)", func(a *weft.Tensor, b any) *weft.Tensor { return a.Clamp(b, 2) }},
		{"clamp(x, 0.1, y)", func(a *weft.Tensor, b any) *weft.Tensor { return a.Clamp(0.1, b) }},
	}
	var arrays []*weft.Tensor
	for _, d := range []weft.DType{weft.Bool, weft.Uint8, weft.Int16, weft.Int32, weft.Int64, weft.Uint64, weft.Float32, weft.Float64} {
		arrays = append(arrays, weft.From([]float64{0, 1, 2.7, 5, 7}).To(d), weft.ScalarOf(weft.Float64, 3.3).To(d))
	}
	numbers := []struct {
		text  string
		value any
	}{{"0.1", 0.1}, {"3", 3}, {"true", true}, {"2.0", 2.0}}
	wide := []*weft.Tensor{nil, weft.From([]float64{1, 2, 3, 4, 5}), weft.From([]float32{1, 2, 3, 4, 5})}
	checks := 0
	check := func(text string, vars weft.Vars, want func() *weft.Tensor) {
		t.Helper()
		checks++
		var w, g *weft.Tensor
		werr := weft.Try(func() { w = want() })
		gerr := weft.Try(func() { g = weft.Expr(text, vars) })
		var types []string
		for _, n := range []string{"x", "y", "z"} {
			if v, ok := vars[n].(*weft.Tensor); ok && v != nil {
				types = append(types, fmt.Sprintf("%s %s of %d dimensions", n, v.DType(), v.Rank()))
			} else if !ok && vars[n] != nil {
				types = append(types, fmt.Sprintf("%s=%v", n, vars[n]))
			}
		}
		name := text + " with " + strings.Join(types, ", ")
		switch {
		case (werr != nil) != (gerr != nil):
			t.Errorf("%s: formula %v, methods %v", name, gerr, werr)
		case werr != nil:
		case g.DType() != w.DType() || weft.Digest(g) != weft.Digest(w):
			t.Errorf("%s: formula %s %v, methods %s %v", name, g.DType(), g, w.DType(), w)
		}
	}
	for _, b := range binaries {
		for _, x := range arrays {
			for _, z := range wide {
				// With a third array the same formula has a float64 in it.
				after, then := "", func(y *weft.Tensor) *weft.Tensor { return y }
				if z != nil {
					after, then = " + z", func(y *weft.Tensor) *weft.Tensor { return y.Add(z) }
				}
				for _, y := range arrays {
					check("("+b.text+")"+after, weft.Vars{"x": x, "y": y, "z": z}, func() *weft.Tensor { return then(b.do(x, y)) })
				}
				for _, n := range numbers {
					want := func() *weft.Tensor { return then(b.do(x, n.value)) }
					check("("+strings.ReplaceAll(b.text, "y", n.text)+")"+after, weft.Vars{"x": x, "z": z}, want)
					if !strings.HasPrefix(b.text, "pow") { // a method looks at the exponent, a formula at its text
						check("("+b.text+")"+after, weft.Vars{"x": x, "y": n.value, "z": z}, want)
					}
				}
			}
		}
	}
	for _, f := range []struct {
		text string
		do   func(a *weft.Tensor) *weft.Tensor
	}{
		{"-x", (*weft.Tensor).Neg}, {"abs(x)", (*weft.Tensor).Abs}, {"exp(x)", (*weft.Tensor).Exp}, {"sqrt(x)", (*weft.Tensor).Sqrt}, {"!x", (*weft.Tensor).LogicalNot}, {"^x", (*weft.Tensor).BitNot}, {"pop_count(x)", (*weft.Tensor).PopCount}, {"floor(x)", (*weft.Tensor).Floor},
		{"relu(x)", (*weft.Tensor).Relu}, {"sum(x)", func(a *weft.Tensor) *weft.Tensor { return a.Sum() }}, {"mean(x)", func(a *weft.Tensor) *weft.Tensor { return a.Mean() }},
		{"max(x)", func(a *weft.Tensor) *weft.Tensor { return a.Max() }}, {"prod(x)", func(a *weft.Tensor) *weft.Tensor { return a.Prod() }}, {"all(x)", func(a *weft.Tensor) *weft.Tensor { return a.All() }},
		{"argmax(x)", func(a *weft.Tensor) *weft.Tensor { return a.ArgMax() }}, {"rsqrt(x)", (*weft.Tensor).Rsqrt}, {"sigmoid(x)", (*weft.Tensor).Sigmoid}, {"logsumexp(x)", func(a *weft.Tensor) *weft.Tensor { return a.LogSumExp() }},
	} {
		for _, x := range arrays {
			check(f.text, weft.Vars{"x": x}, func() *weft.Tensor { return f.do(x) })
			check("x &^ y", weft.Vars{"x": x, "y": arrays[4]}, func() *weft.Tensor { return x.BitAnd(arrays[4].BitNot()) })
			check("("+f.text+") * 0.1 + z", weft.Vars{"x": x, "z": wide[1]}, func() *weft.Tensor { return f.do(x).Mul(0.1).Add(wide[1]) })
		}
	}
	t.Logf("%d formulas", checks)
}

// untyped are the constructors whose arguments say the element type in full: Go's types, or tensors.
var untyped = map[string]bool{
	"From":                  true,
	"Indices":               true, // places are int64
	"TrilIndices":           true,
	"TriuIndices":           true,
	"Tri":                   true, // of another type: OnesOf(...).Tril(k)
	"FromSlice":             true,
	"Generator.Bernoulli":   true,
	"Generator.Choice":      true,
	"Generator.Multinomial": true,
	"Generator.Permutation": true,
	"Expr":                  true, // formulas of what is given
	"FullLike":              true,
}

// TestConstructorsTakeTheirType finds functions of the package and methods of Generator that return
// a tensor and take none, and wants a form of each whose name ends in Of and that takes the element
// type first, then the same arguments.
func TestConstructorsTakeTheirType(t *testing.T) {
	p := rootPackage(t)
	forms := map[string]string{} // the types of the arguments, by name
	collect := func(prefix string, fs []*doc.Func) {
		for _, f := range fs {
			r := f.Decl.Type.Results
			if r == nil || len(r.List) != 1 || types.ExprString(r.List[0].Type) != "*Tensor" || !ast.IsExported(f.Name) {
				continue
			}
			var args []string
			for _, x := range f.Decl.Type.Params.List {
				for range max(1, len(x.Names)) {
					args = append(args, types.ExprString(x.Type))
				}
			}
			if all := strings.Join(args, ", "); !strings.Contains(all, "Tensor") {
				forms[prefix+f.Name] = all
			}
		}
	}
	collect("", p.Funcs)
	for _, x := range p.Types {
		collect("", x.Funcs)
		if x.Name == "Generator" {
			collect("Generator.", x.Methods)
		}
	}
	for name, args := range forms {
		if untyped[name] || strings.HasSuffix(name, "Of") {
			continue
		}
		want := "DType"
		if args != "" {
			want += ", " + args
		}
		if got := forms[name+"Of"]; got != want {
			t.Errorf("%s(%s) has %sOf(%s), want %sOf(%s)", name, args, name, got, name, want)
		}
	}
	if len(forms) < 30 {
		t.Errorf("only %d constructors were found", len(forms))
	}
}

var everyType = []weft.DType{weft.Bool, weft.Uint8, weft.Int8, weft.Int16, weft.Int32, weft.Int64, weft.Uint16, weft.Uint32, weft.Uint64,
	weft.Float16, weft.BFloat16, weft.Float32, weft.Float64, weft.Complex64, weft.Complex128}

// TestTypedConstructors makes every constructor of every type and compares elements with the
// formula in float64, converted by To.
func TestTypedConstructors(t *testing.T) {
	same := func(name string, d weft.DType, got *weft.Tensor, want []float64) {
		t.Helper()
		w := weft.From(want).To(d)
		if got.DType() != d || got.Rank() != 1 || weft.Digest(got) != weft.Digest(w) {
			t.Errorf("%s of %s is %v of %s, want %v", name, d, got, got.DType(), w)
		}
	}
	for _, d := range everyType {
		same("scalar", d, weft.ScalarOf(d, 1.1).Reshape(1), []float64{1.1})
		same("full", d, weft.FullOf(d, 2.7, 2), []float64{2.7, 2.7})
		same("eye", d, weft.EyeOf(d, 2).Flatten(0), []float64{1, 0, 0, 1})
		if d == weft.Bool {
			for name, f := range map[string]func() *weft.Tensor{
				"arange":   func() *weft.Tensor { return weft.ArangeOf(d, 2) },
				"linspace": func() *weft.Tensor { return weft.LinspaceOf(d, 0, 1, 2) },
			} {
				if err := weft.Try(func() { f() }); err == nil || !strings.HasPrefix(err.Error(), name+": dtype:") {
					t.Errorf("%s of bool: %v", name, err)
				}
			}
			continue
		}
		same("arange of ints", d, weft.ArangeOf(d, 3, 12, 4), []float64{3, 7, 11})
		same("arange of floats", d, weft.ArangeOf(d, 0.1, 1, 0.3), []float64{0.1, 0.1 + 0.3, 0.1 + 2*0.3})
		same("linspace", d, weft.LinspaceOf(d, 0.1, 2, 3), []float64{0.1, float64(0.1*0.5) + float64(2*0.5), 2})
		same("linspace of one", d, weft.LinspaceOf(d, 3, 9, 1), []float64{3})
		same("empty arange", d, weft.ArangeOf(d, 0), []float64{})
	}
	for _, x := range []float64{0.1, 1.0 / 3, math.Pi} {
		if got := weft.ScalarOf(weft.Float64, x).Item(); got != x {
			t.Errorf("%v as float64 is %v", x, got)
		}
	}
	if err := weft.Try(func() { weft.ArangeOf(weft.Uint8, 300) }); err == nil || !strings.HasPrefix(err.Error(), "arange:") {
		t.Errorf("numbers to 299 as uint8: %v", err)
	}
	if err := weft.Try(func() { weft.RandpermOf(weft.Uint8, 257) }); err == nil || !strings.HasPrefix(err.Error(), "randperm:") {
		t.Errorf("a permutation of 257 as uint8: %v", err)
	}
	g := weft.NewGenerator(3)
	for _, d := range []weft.DType{weft.Float16, weft.BFloat16, weft.Float32, weft.Float64} {
		for name, c := range map[string]struct {
			x        *weft.Tensor
			mean, at float64
		}{
			"uniform":     {g.UniformOf(d, 2, 4, 40000), 3, 0.03},
			"normal":      {g.NormalOf(d, -1, 2, 40000), -1, 0.06},
			"exponential": {g.ExponentialOf(d, 0.5, 40000), 2, 0.06},
		} {
			if m := c.x.To(weft.Float64).Mean().Item(); c.x.DType() != d || math.Abs(m-c.mean) > c.at {
				t.Errorf("%s of %s has type %s and mean %v, want %v", name, d, c.x.DType(), m, c.mean)
			}
		}
	}
	if got := fmt.Sprint(weft.Scalar(2.5).DType(), weft.Scalar(1).DType(), weft.Scalar(true).DType(), weft.Scalar(1i).DType(), weft.Full(1, 2).DType(), weft.Full(0.5, 2).DType(), weft.Arange(3).DType(), weft.Arange(3.0).DType(), weft.Linspace(0, 1, 2).DType(), weft.Eye(2).DType()); got != "float32 int64 bool complex64 int64 float32 int64 float32 float32 float32" {
		t.Errorf("types where none is given are %s", got)
	}
}

// TestEpsilonIsTheNextNumber rounds 1+epsilon, which a float type has, and 1 plus half of it, which is 1.
func TestEpsilonIsTheNextNumber(t *testing.T) {
	for _, d := range array.DTypes() {
		eps := array.Epsilon(d)
		if !d.Differentiable() {
			if eps != 0 {
				t.Errorf("%s has epsilon %v", d, eps)
			}
			continue
		}
		rounded := func(x float64) float64 { return weft.FullOf(weft.Float64, x).To(d.Part()).To(weft.Float64).Item() }
		if next, half := rounded(1+eps), rounded(1+eps/2); next != 1+eps || half != 1 || eps == 0 {
			t.Errorf("%s: epsilon %v, the next number is %v, 1 plus half of it %v", d, eps, next, half)
		}
	}
}
