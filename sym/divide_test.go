package sym_test

import (
	"testing"

	"weft"
	"weft/internal/tensortest"
	"weft/sym"
)

// Quotients and means of integers are float64, with float64's precision; floats keep their type.
func TestIntegersDivideInFloat64(t *testing.T) {
	a, b := sym.Vector("a", weft.Int64), sym.Vector("b", weft.Int32)
	c, f := sym.Vector("c", weft.Bool), sym.Vector("f", weft.Float32)
	vars := []any{a, b, c, f}
	args := []any{weft.FromSlice([]int64{1 << 40, 1}), weft.FromSlice([]int32{3, -7}), weft.FromSlice([]bool{true, false}), weft.FromSlice([]float32{2, 0.5})}
	for name, x := range map[string]struct {
		v     *sym.Var
		dtype weft.DType
		want  []float64
	}{
		"int64/int32":   {a.Div(b), weft.Float64, []float64{float64(1<<40) / 3, -1.0 / 7}},
		"int/number":    {b.Div(7), weft.Float64, []float64{3.0 / 7, -1}},
		"int/tensor":    {b.Div(sym.Const(weft.FromSlice([]int64{7, 3}))), weft.Float64, []float64{3.0 / 7, -7.0 / 3}},
		"bool/int":      {c.Div(b), weft.Float64, []float64{1.0 / 3, 0}},
		"int/float32":   {b.Div(f), weft.Float32, []float64{1.5, -14}},
		"float32/int":   {f.Div(4), weft.Float32, []float64{0.5, 0.125}},
		"int/fraction":  {b.Div(0.5), weft.Float32, []float64{6, -14}},
		"mean":          {a.Mean(), weft.Float64, []float64{(1<<40 + 1) / 2.0}},
		"mean of bools": {c.Mean(0), weft.Float64, []float64{0.5}},
		"mean kept":     {b.MeanKeep(0), weft.Float64, []float64{-2}},
		"mean floats":   {f.Mean(), weft.Float32, []float64{1.25}},
	} {
		fn, err := sym.Function(sym.In(vars...), sym.Out(x.v), sym.IgnoreUnused)
		if err != nil {
			t.Fatal(name, err)
		}
		out, err := fn.Call(args...)
		if err != nil {
			t.Fatal(name, err)
		}
		if x.v.DType() != x.dtype || out[0].DType() != x.dtype {
			t.Errorf("%s: the variable is %s, the result %s, want %s", name, x.v.DType(), out[0].DType(), x.dtype)
		}
		tensortest.Near(t, name, out[0].To(weft.Float64), x.want, 0)
	}
}
