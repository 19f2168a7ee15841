package kernel_test

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/kernel"
)

//go:embed matlabkernels_test.go
var matlabSource string

var matlab = kernel.MustParse(matlabSource)

// Rules of singleton expansion: shapes meet at their first axis, a missing one counts as 1,
// and 1 gives way to any size, also to 0.
func TestMatlabExpansion(t *testing.T) {
	leading := kernel.MapOpts{Leading: true}
	five := matlab.Func("Five")
	for _, c := range []struct {
		name   string
		shapes [][]int
		want   []int
	}{
		{"aligned at the first axis", [][]int{{2, 5, 4}, {2, 1, 4, 3}}, []int{2, 5, 4, 3}},
		{"trailing axes count as 1", [][]int{{3}, {3, 4}, {3, 1, 2}}, []int{3, 4, 2}},
		{"rows and columns", [][]int{{3, 1}, {1, 4}}, []int{3, 4}},
		{"1 against 0", [][]int{{2, 2, 0, 4}, {2, 1, 1, 4}}, []int{2, 2, 0, 4}},
		{"nothing at all", [][]int{{0, 3}, {0, 1}, {0}}, []int{0, 3}},
		{"five arrays", [][]int{{2}, {1, 3}, {1, 1, 2}, {2, 3}, {1, 1, 1, 2}}, []int{2, 3, 2, 2}},
		{"scalars", [][]int{{}, {2, 3}, {}}, []int{2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := make([]any, 5)
			at := make([]func(index []int) float64, 5)
			for i := range args {
				args[i], at[i] = 0.5, func([]int) float64 { return 0.5 } // a Go number
				if i >= len(c.shapes) {
					continue
				}
				shape, n := c.shapes[i], 1
				for _, d := range shape {
					n *= d
				}
				args[i] = arange(n).Reshape(shape...)
				at[i] = func(index []int) float64 {
					place := 0
					for k, d := range shape {
						place = place*d + min(index[k], d-1)
					}
					return float64(place)
				}
			}
			got := five.Map(append(args, leading)...)
			if !slices.Equal(got.Shape(), c.want) || got.DType() != weft.Float64 {
				t.Fatalf("%s of shape %v, want %v", got.DType(), got.Shape(), c.want)
			}
			for place, x := range weft.Data[float64](got) {
				index := make([]int, len(c.want))
				for k, rest := len(c.want)-1, place; k >= 0; k-- {
					index[k], rest = rest%c.want[k], rest/c.want[k]
				}
				if want := Five(at[0](index), at[1](index), at[2](index), at[3](index), at[4](index)); x != want {
					t.Fatalf("%v: %v, want %v", index, x, want)
				}
			}
		})
	}
	t.Run("NumPy's alignment is another", func(t *testing.T) {
		err := weft.Try(func() {
			five.Map(weft.Zeros(2, 5, 4).To(weft.Float64), weft.Zeros(2, 1, 4, 3).To(weft.Float64), 0, 0, 0)
		})
		if err == nil || !strings.Contains(err.Error(), "Five: shapes do not broadcast: [2 5 4] and [2 1 4 3]") {
			t.Errorf("%v", err)
		}
	})
	t.Run("sizes that differ", func(t *testing.T) {
		err := weft.Try(func() {
			five.Map(weft.Zeros(2, 3).To(weft.Float64), weft.Zeros(2, 4).To(weft.Float64), 0, 0, 0, leading)
		})
		if err == nil || !strings.Contains(err.Error(), "Five: shapes do not broadcast: [2 3] and [2 4]") {
			t.Errorf("%v", err)
		}
	})
	t.Run("empty results keep shape and class", func(t *testing.T) {
		got := matlab.Func("Typed").MapAll(weft.Zeros(2, 2, 0, 4).To(weft.Float64), leading)
		for i, d := range []weft.DType{weft.Float32, weft.Int8, weft.Uint16, weft.Bool, weft.Complex128} {
			if !slices.Equal(got[i].Shape(), []int{2, 2, 0, 4}) || got[i].DType() != d {
				t.Errorf("result %d: %s %v", i, got[i].DType(), got[i].Shape())
			}
		}
	})
	t.Run("expansion is not a copy", func(t *testing.T) {
		// The arguments would have 2^44 elements each; what meets is a corner of them.
		x := weft.FromSlice([]float64{3}, 1, 1).Expand(1<<22, 1<<22)
		small := x.Slice(weft.Range(0, 2), weft.Range(0, 3))
		got := five.Map(small, x.Slice(weft.Index(5), weft.Range(7, 10)), x.Slice(weft.Range(1, 3), weft.Range(9, 10)), 0, 0)
		if s := fmt.Sprint(weft.Data[float64](got)); s != "[333 333 333 333 333 333]" {
			t.Error(s)
		}
	})
}

// What a function of elements may consist of, each against the same function in Go.
func TestMatlabLanguage(t *testing.T) {
	t.Run("statements and several outputs", func(t *testing.T) {
		n := []int64{-4, 0, 1, 2, 3, 7, 27, 97, 1000}
		limits := []int64{0, 5, 1000}
		got := matlab.Func("Collatz").MapAll(weft.FromSlice(n, len(n), 1), weft.FromSlice(limits, 1, 3))
		steps, odd, ok := weft.Data[int64](got[0]), weft.Data[int32](got[1]), weft.Data[bool](got[2])
		for i, x := range n {
			for j, limit := range limits {
				a, b, c := Collatz(x, limit)
				if k := i*3 + j; steps[k] != a || odd[k] != b || ok[k] != c {
					t.Errorf("%d %d: %d %d %v, want %d %d %v", x, limit, steps[k], odd[k], ok[k], a, b, c)
				}
			}
		}
	})
	t.Run("conditions are evaluated as far as they need", func(t *testing.T) {
		got := matlab.Func("Guarded").Map(weft.FromSlice([]int32{7, 7, -200, 1}, 4), weft.FromSlice([]int32{2, 0, 0, 1}, 4))
		if s := fmt.Sprint(weft.Data[bool](got)); s != "[true false true false]" {
			t.Error(s)
		}
	})
	t.Run("calls of other functions", func(t *testing.T) {
		if got, want := matlab.Func("Calls").Map(weft.FromSlice([]float64{3}, 1)).Item(), Calls(3); got != want {
			t.Errorf("%v, want %v", got, want)
		}
	})
	t.Run("each output has its class", func(t *testing.T) {
		got := matlab.Func("Typed").MapAll(weft.FromSlice([]float64{-1.5, 3.25}, 2))
		s := fmt.Sprint(weft.Data[float32](got[0]), weft.Data[int8](got[1]), weft.Data[uint16](got[2])[1], weft.Data[bool](got[3]), weft.Data[complex128](got[4]))
		if want := "[-1.5 3.25] [-1 3] 3 [false true] [(-1.5+1.5i) (3.25-3.25i)]"; s != want {
			t.Errorf("%s, want %s", s, want)
		}
	})
	t.Run("an array is read by index", func(t *testing.T) {
		grid := make([]int32, 30*40)
		for i := range grid {
			grid[i] = int32(i*i%7) & 1
		}
		g := weft.FromSlice(slices.Clone(grid), 30, 40)
		got := weft.Data[int32](matlab.Func("Alive").Map(g, kernel.MapOpts{Shape: []int{30, 40}}))
		w := kernel.Wrapped2[int32]{Data: grid, Shape: [2]int{30, 40}}
		for i, x := range got {
			if want := Alive(kernel.Elem{Place: []int{i / 40, i % 40}, Shape: []int{30, 40}}, w); x != want {
				t.Fatalf("element %d: %d, want %d", i, x, want)
			}
		}
	})
	t.Run("every element has random numbers of its own", func(t *testing.T) {
		f := matlab.Func("Thrown")
		const n = 20000
		run := func(seed uint64) ([]float32, []float64, []int32) {
			y := f.MapAll(6, kernel.MapOpts{Shape: []int{n}, Generator: weft.NewGenerator(seed)})
			return weft.Data[float32](y[0]), weft.Data[float64](y[1]), weft.Data[int32](y[2])
		}
		u, z, faces := run(1)
		again, _, _ := run(1)
		if !slices.Equal(u, again) {
			t.Error("the same seed gives other numbers")
		}
		other, _, _ := run(2)
		if slices.Equal(u, other) {
			t.Error("another seed gives the same numbers")
		}
		seen, count, mean, square := map[float32]bool{}, [7]int{}, 0.0, 0.0
		for i, x := range u {
			seen[x] = true
			count[faces[i]]++
			mean, square = mean+z[i]/n, square+z[i]*z[i]/n
		}
		if len(seen) < n-60 || math.Abs(mean) > 0.03 || math.Abs(square-1) > 0.05 {
			t.Errorf("%d numbers differ, mean %v, square %v", len(seen), mean, square)
		}
		for k := 1; k <= 6; k++ {
			if count[k] < n/6-300 || count[k] > n/6+300 {
				t.Errorf("%d is thrown %d times", k, count[k])
			}
		}
	})
	t.Run("integers wrap as Go's", func(t *testing.T) {
		got := matlab.Func("Wraps").MapAll(weft.FromSlice([]int8{100, -128, 7}, 3), weft.FromSlice([]int8{100, -1, 2}, 3))
		if s := fmt.Sprint(weft.Data[int8](got[0]), weft.Data[int8](got[1])); s != "[-56 127 9] [1 -128 3]" {
			t.Error(s)
		}
	})
	t.Run("complex results are asked for by complex arguments", func(t *testing.T) {
		got := matlab.Func("ComplexRoot").MapAll(weft.FromSlice([]complex128{-1, 3 + 4i}, 2))
		if s := fmt.Sprint(weft.Data[complex128](got[0]), weft.Data[float64](got[1])); s != "[(0+1i) (2+1i)] [1 5]" {
			t.Error(s)
		}
		if x := matlab.Func("RealRoot").Map(weft.FromSlice([]float64{-1}, 1)).Item(); x == x {
			t.Errorf("the real root of -1 is %v", x)
		}
	})
	t.Run("bits", func(t *testing.T) {
		x, y := []uint8{0, 1, 0x5a, 0xff}, []uint8{3, 7, 0x3c, 0}
		got := matlab.Func("Bits8").MapAll(weft.FromSlice(x, 4), weft.FromSlice(y, 4))
		for i := range x {
			a, b, c, d, e, f, g, n := Bits8(x[i], y[i])
			for k, want := range []uint8{a, b, c, d, e, f, g} {
				if z := weft.Data[uint8](got[k])[i]; z != want {
					t.Errorf("result %d of %d %d: %d, want %d", k, x[i], y[i], z, want)
				}
			}
			if z := weft.Data[int64](got[7])[i]; z != int64(n) {
				t.Errorf("%d ones in %d, want %d", z, x[i], n)
			}
		}
	})
}

// The functions of MATLAB's list that are no function of Go's packages, by those.
func TestMatlabFunctions(t *testing.T) {
	xs := []float64{0.1, 0.25, 0.5, 0.75, 0.9}
	for name, f := range map[string]func(x float64) float64{"AcotOf": AcotOf, "AcschOf": AcschOf, "AsechOf": AsechOf, "SecOf": SecOf, "CschOf": CschOf, "ErfcxOf": ErfcxOf} {
		tensortest.Near(t, name, matlab.Func(name).Map(weft.FromSlice(xs, 5)), each(5, func(i int) float64 { return f(xs[i]) }), 1e-14)
	}
	above := []float64{1.1, 1.5, 2, 7, -3}
	for name, f := range map[string]func(x float64) float64{"AcothOf": AcothOf, "AcscOf": AcscOf, "AsecOf": AsecOf} {
		tensortest.Near(t, name, matlab.Func(name).Map(weft.FromSlice(above, 5)), each(5, func(i int) float64 { return f(above[i]) }), 1e-14)
	}
	ys := []float64{1.75, 1, 0.5, 1.25, 0.3}
	for name, f := range map[string]func(x, y float64) float64{"BetaOf": BetaOf, "BetalnOf": BetalnOf, "FixOf": FixOf, "ModOf": ModOf, "RemOf": RemOf, "Pow2Of": Pow2Of,
		"HypotOf": HypotOf, "Atan2Of": Atan2Of, "RealpowOf": RealpowOf, "RoundOf": RoundOf, "SignOf": SignOf} {
		tensortest.Near(t, name, matlab.Func(name).Map(weft.FromSlice(xs, 5), weft.FromSlice(ys, 5)), each(5, func(i int) float64 { return f(xs[i], ys[i]) }), 1e-14)
	}
}

// each returns f at 0, 1 and so on to n-1.
func each(n int, f func(i int) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(i)
	}
	return out
}

// What arrayfun refuses, and what Go has beside it, is refused with its place in the source.
func TestMatlabRefuses(t *testing.T) {
	for _, c := range []struct{ name, source, want string }{
		{"assignment into an array", "func K(e kernel.Elem, g kernel.Clamped1[float64]) float64 { g.Data[0] = 1; return g.At(0) }", "source:3:"},
		{"a variable outside", "var scale = 2.0\nfunc K(x float64) float64 { return x * scale }", "source:4:40: scale is a variable of the package; a kernel reads its parameters and constants alone"},
		{"an anonymous function", "func K(x float64) float64 { f := func() float64 { return x }; return f() }", "closures are not part of the language of kernels"},
		{"a function as an argument", "func K(f func(float64) float64, x float64) float64 { return f(x) }", "function values are not part of the language of kernels"},
		{"a slice", "func K(x float64) float64 { s := []float64{x}; return s[0] }", "source:3:"},
		{"append", "func K(x float64) float64 { return append([]float64{x}, x)[0] }", "source:3:"},
		{"make", "func K(x float64) float64 { return make([]float64, 3)[0] }", "source:3:"},
		{"a string", "func K(x float64) string { return \"x\" }", "type string is not part of the language of kernels"},
		{"goroutines", "func g() {}\nfunc K(x float64) float64 { go g(); return x }", "source:4:29: goroutines are not part of the language of kernels"},
		{"recovery", "func g() {}\nfunc K(x float64) float64 { defer g(); return x }", "source:4:29: defer is not part of the language of kernels"},
		{"goto", "func K(x float64) float64 {\nagain:\nif x < 1 { x++; goto again }\nreturn x }", "goto is not part of the language of kernels"},
		{"recursion", "func K(x float64) float64 { return K(x) }", "K calls itself, directly or through others; kernels have no recursion"},
		{"a path without an output", "func K(x float64) float64 { if x > 0 { return 1 } }", "missing return"},
		{"random numbers by size", "func K(e kernel.Elem) float32 { return e.Rand(3) }", "too many arguments in call to e.Rand"},
		{"a package outside the language", "func K(x float64) float64 { return strings.ToUpper(x) }", "source:3:36: package \"strings\" is not part of the language"},
		{"a plain array read where it may end", "func K(e kernel.Elem, g kernel.Array1[float64], i int) float64 { return g.At(i) }", "source:3:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := kernel.Parse("package k\nimport (\"strings\"; \"weft/kernel\")\n" + c.source)
			if err == nil {
				var f *kernel.Func
				if f, err = s.Lookup("K"); err == nil {
					err = weft.Try(func() { f.Map(weft.OnesOf(weft.Float64, 3), 1, kernel.MapOpts{Shape: []int{3}}) })
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// Pages in front, page numbers behind, as MATLAB has them: the rules of pagefun.
func TestMatlabPages(t *testing.T) {
	leading := kernel.PageOpts{Leading: true}
	at := func(t *weft.Tensor, index ...int) float64 {
		place := 0
		for k, i := range index {
			n := t.Shape()[k]
			place = place*n + min(i, n-1) // one page is all pages
		}
		return weft.Data[float64](t)[place]
	}
	a, b := arange(2*3*4).Reshape(2, 3, 4), arange(3*2*1*5).Reshape(3, 2, 1, 5)
	t.Run("mtimes", func(t *testing.T) {
		got := kernel.PageMap(kernel.MatMul, a, b, leading)
		if !slices.Equal(got.Shape(), []int{2, 2, 4, 5}) {
			t.Fatalf("shape %v", got.Shape())
		}
		for i := range 2 {
			for j := range 2 {
				for p := range 4 {
					for q := range 5 {
						want := 0.0
						for k := range 3 {
							want += at(a, i, k, p) * at(b, k, j, 0, q)
						}
						if x := at(got, i, j, p, q); x != want {
							t.Fatalf("%d %d of page %d %d: %v, want %v", i, j, p, q, x, want)
						}
					}
				}
			}
		}
	})
	for _, c := range []struct {
		op    kernel.PageOp
		shape []int
		from  func(i, j int) (int, int) // of a page of 2 rows and 3 columns
	}{
		{kernel.Transpose, []int{3, 2, 4}, func(i, j int) (int, int) { return j, i }},
		{kernel.CTranspose, []int{3, 2, 4}, func(i, j int) (int, int) { return j, i }},
		{kernel.FlipLR, []int{2, 3, 4}, func(i, j int) (int, int) { return i, 2 - j }},
		{kernel.FlipUD, []int{2, 3, 4}, func(i, j int) (int, int) { return 1 - i, j }},
		{kernel.Rot90, []int{3, 2, 4}, func(i, j int) (int, int) { return j, 2 - i }},
	} {
		t.Run(c.op.String(), func(t *testing.T) {
			got := kernel.PageMap(c.op, a, leading)
			if !slices.Equal(got.Shape(), c.shape) {
				t.Fatalf("shape %v", got.Shape())
			}
			for i := range c.shape[0] {
				for j := range c.shape[1] {
					for p := range 4 {
						y, x := c.from(i, j)
						if g, want := at(got, i, j, p), at(a, y, x, p); g != want {
							t.Fatalf("%d %d of page %d: %v, want %v", i, j, p, g, want)
						}
					}
				}
			}
		})
	}
	t.Run("ctranspose of complex pages", func(t *testing.T) {
		z := weft.FromSlice([]complex128{1 + 2i, 3i, 4, 5 - 1i}, 2, 2)
		if s := fmt.Sprint(weft.Data[complex128](kernel.PageMap(kernel.CTranspose, z, leading))); s != "[(1-2i) (4-0i) (0-3i) (5+1i)]" {
			t.Error(s)
		}
	})
	t.Run("mldivide and mrdivide and inv", func(t *testing.T) {
		m := weft.FromSlice([]float64{2, 1, 0, 0, 0, 0, 4, 2}, 2, 2, 2) // diag(2, 4) and diag(1, 2)
		for op, want := range map[kernel.PageOp]string{kernel.LeftDivide: "[0 0 1 2 1 2 1.5 3]", kernel.RightDivide: "[0 0 0.5 1 2 4 1.5 3]"} {
			x, y := m, arange(8).Reshape(2, 2, 2)
			if y = y.Slice(weft.All, weft.All, weft.Range(0, 1)); op == kernel.RightDivide {
				x, y = y, x
			}
			if s := fmt.Sprint(weft.Data[float64](kernel.PageMap(op, x, y, leading))); s != want {
				t.Errorf("%s: %s, want %s", op, s, want)
			}
		}
		if s := fmt.Sprint(weft.Data[float64](kernel.PageMap(kernel.Inv, m, leading))); s != "[0.5 1 0 0 0 0 0.25 0.5]" {
			t.Errorf("inverse %s", s)
		}
	})
	t.Run("a function of elements", func(t *testing.T) {
		got := kernel.PageMap(matlab.Func("HypotOf"), a, weft.FromSlice([]float64{0, 1, 2, 3}, 1, 1, 4), leading)
		if x, want := at(got, 1, 2, 3), math.Hypot(at(a, 1, 2, 3), 3); x != want || !slices.Equal(got.Shape(), []int{2, 3, 4}) {
			t.Errorf("%v of shape %v, want %v", x, got.Shape(), want)
		}
	})
	t.Run("empty pages and no pages", func(t *testing.T) {
		for _, c := range []struct {
			op         kernel.PageOp
			a, b, want []int
		}{
			{kernel.MatMul, []int{2, 0, 3}, []int{0, 4, 1}, []int{2, 4, 3}},
			{kernel.MatMul, []int{2, 3, 0}, []int{3, 4, 1}, []int{2, 4, 0}},
			{kernel.MatMul, []int{0, 3, 2}, []int{3, 0}, []int{0, 0, 2}},
			{kernel.LeftDivide, []int{0, 0, 3}, []int{0, 2}, []int{0, 2, 3}},
			{kernel.LeftDivide, []int{2, 2, 0}, []int{2, 3, 1}, []int{2, 3, 0}},
			{kernel.RightDivide, []int{0, 2, 1}, []int{2, 2, 5}, []int{0, 2, 5}},
			{kernel.Inv, []int{0, 0, 2}, nil, []int{0, 0, 2}},
			{kernel.Inv, []int{3, 3, 0, 2}, nil, []int{3, 3, 0, 2}},
			{kernel.Transpose, []int{0, 3, 2}, nil, []int{3, 0, 2}},
			{kernel.Rot90, []int{2, 3, 0}, nil, []int{3, 2, 0}},
		} {
			args := []any{weft.ZerosOf(weft.Float64, c.a...)}
			if c.b != nil {
				args = append(args, weft.ZerosOf(weft.Float64, c.b...))
			}
			got := kernel.PageMap(c.op, append(args, leading)...)
			if !slices.Equal(got.Shape(), c.want) || got.DType() != weft.Float64 {
				t.Errorf("%s of %v and %v: %s of shape %v, want %v", c.op, c.a, c.b, got.DType(), got.Shape(), c.want)
			}
			for _, x := range weft.Data[float64](got) {
				if x != 0 {
					t.Errorf("%s of nothing gives %v", c.op, x)
				}
			}
		}
	})
}
