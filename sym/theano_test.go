package sym_test

import (
	"math"
	"testing"

	"weft"
	"weft/sym"
)

// TestLogisticRegressionOfTheano trains the logistic regression of Theano's paper through sym, and compares
// every step with plain Go in float64.
func TestLogisticRegressionOfTheano(t *testing.T) {
	const n, feats, steps = 4, 100, 10
	g := weft.NewGenerator(3)
	w0, X, Y := g.RandnOf(weft.Float64, feats), g.RandnOf(weft.Float64, n, feats), weft.FromSlice([]float64{1, 0, 0, 1})

	x, y := sym.Matrix("x", weft.Float64), sym.Vector("y", weft.Float64)
	w, b := sym.Shared("w", w0.Clone()), sym.Shared("b", weft.ScalarOf(weft.Float64, 0.0))
	p := sym.Expr("1 / (1 + exp(-dot(x, w) - b))", weft.Vars{"x": x, "w": w, "b": b})
	xent := sym.Expr("-y*log(p) - (1-y)*log(1-p)", weft.Vars{"y": y, "p": p})
	cost := xent.Mean().Add(w.Square().Sum().Mul(0.01))
	d := sym.Grad(cost, []*sym.Var{w, b})
	train, err := sym.Function(sym.In(x, y), sym.Out(p.Gt(0.5), xent),
		sym.Updates{w: w.Sub(d[0].Mul(0.1)), b: b.Sub(d[1].Mul(0.1))})
	if err != nil {
		t.Fatal(err)
	}
	predict, err := sym.Function(sym.In(x), sym.Out(p.Gt(0.5)))
	if err != nil {
		t.Fatal(err)
	}

	want, bias := weft.Data[float64](w0), 0.0
	xs, ys := weft.Data[float64](X), weft.Data[float64](Y)
	for step := range steps {
		out, err := train.Call(X, Y)
		if err != nil {
			t.Fatal(err)
		}
		gw, gb := make([]float64, feats), 0.0
		for i := range n {
			z := bias
			for j := range feats {
				z += xs[i*feats+j] * want[j]
			}
			p := 1 / (1 + math.Exp(-z))
			e := -ys[i]*math.Log(p) - (1-ys[i])*math.Log(1-p)
			if got := out[1].At(i).Item(); math.Abs(got-e) > 1e-9*(1+math.Abs(e)) {
				t.Errorf("step %d, example %d: %v, want %v", step, i, got, e)
			}
			if got := out[0].At(i).ItemInt() == 1; got != (p > 0.5) {
				t.Errorf("step %d, example %d: predicted %v, p is %v", step, i, got, p)
			}
			for j := range feats {
				gw[j] += (p - ys[i]) * xs[i*feats+j] / n
			}
			gb += (p - ys[i]) / n
		}
		for j := range feats {
			want[j] -= 0.1 * (gw[j] + 0.02*want[j])
		}
		bias -= 0.1 * gb
		for j, got := range weft.Data[float64](w.Tensor()) {
			if math.Abs(got-want[j]) > 1e-9*(1+math.Abs(want[j])) {
				t.Fatalf("step %d: w[%d] is %v, want %v", step, j, got, want[j])
			}
		}
		if got := b.Tensor().Item(); math.Abs(got-bias) > 1e-9 {
			t.Fatalf("step %d: b is %v, want %v", step, got, bias)
		}
	}
	out, err := predict.Call(X)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if got, want := out[0].At(i).ItemInt(), int64(ys[i]); got != want {
			t.Errorf("example %d is predicted as %d", i, got)
		}
	}
}
