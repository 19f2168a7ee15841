package ahead

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/kernel"
)

// formulaTexts are formulas of x and y with every function that is built.
func formulaTexts() []string {
	texts := []string{"x - 1/3*y", "-x % y", "x > y", "!(x > 0) || y == 1 && x != y", "x*(x >= 0) + 2*(y <= 1)", "where(x < y, x, 2)", "where(x, y, 1)", "isnan(x) && true", "isinf(x)", "isfinite(1/x)",
		"max(x, y) + min(x, 1)", "pi*x + e", "pow(x, 2) + 1e-3", "x + y*!y", "clamp(x, -0.5, y)"}
	for name, form := range functionsOf {
		switch {
		case name == "clamp":
		case name == "pow":
			texts = append(texts, "pow(abs(x), y)")
		case strings.Contains(form, "b"+")") && strings.Contains(form, ", b"):
			texts = append(texts, name+"(x, y)")
		default:
			texts = append(texts, name+"(x)", name+"(x*0.3 + 1.5)")
		}
	}
	slices.Sort(texts)
	return texts
}

// The Go function of a formula computes what weft.Expr does, for both types.
func TestFormulasInGo(t *testing.T) {
	x := []float64{-3, -1.5, -1, -0.3, 0, 0.2, 0.7, 1, 1.5, 2, 5, 30, math.NaN(), math.Inf(1)}
	y := []float64{2, -0.5, 1, 3, 1, 0.4, -2, 1, 0.7, 2, -3, 0.5, 1, 2}
	for _, d := range []array.DType{array.Float64, array.Float32} {
		tolerance := 1e-13
		if d == array.Float32 {
			tolerance = 1e-5
		}
		a, b := weft.FromSlice(x).To(d), weft.FromSlice(y).To(d)
		for i, text := range formulaTexts() {
			if d == array.Float32 && i%3 != 0 {
				continue
			}
			files, err := WriteFormula("p", "Formula", text, d)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			f := kernel.MustParse(string(files["formula.go"])).Func("formula")
			args := map[string]any{"x": a, "y": b}
			var in []any
			for _, name := range f.Params() {
				in = append(in, args[name])
			}
			got, want := f.Map(in...), weft.Expr(text, weft.Vars{"x": a, "y": b})
			if got.DType() != want.DType() {
				t.Errorf("%s: %s, want %s", text, got.DType(), want.DType())
				continue
			}
			g, w := weft.Data[float64](got.To(weft.Float64)), weft.Data[float64](want.To(weft.Float64))
			for i := range w {
				if g[i] != w[i] && !(g[i] != g[i] && w[i] != w[i]) && !(math.Abs(g[i]-w[i]) <= tolerance*math.Max(1, math.Abs(w[i]))) {
					t.Errorf("%s of %s: x = %v, y = %v gives %v, want %v", text, d, x[i], y[i], g[i], w[i])
				}
			}
		}
	}
}

// What cannot be built says why.
func TestFormulaErrors(t *testing.T) {
	for text, want := range map[string]string{
		"softmax(x, 0)": "softmax is not built inside a formula", "x & 1": "& of whole numbers", "1 + 2": "has no arrays", "sum(x, 1)": "sum is not built", "x - mean(x)": "mean is not built",
		"~x": "build", "f.g(x)": "cannot be built", "\"a\" + x": "not a number",
	} {
		if _, err := WriteFormula("p", "F", text, array.Float64); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", text, err, want)
		}
	}
	if _, err := WriteFormula("main", "F", "x", array.Float64); err == nil {
		t.Error("package main")
	}
	if _, err := WriteFormula("p", "F", "x", array.Int32); err == nil || fmt.Sprint(err) != "build: a formula is built for float32 or float64, not for int32" {
		t.Errorf("%v", err)
	}
}
