package rewrite_test

import (
	"math"
	"testing"

	"weft/internal/array"
	"weft/internal/ir"
	"weft/internal/op"
	"weft/internal/optest"
	"weft/internal/rewrite"
)

func total(x *node) *node { return op.Apply(op.Sum, nil, x) }

func closeTo(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-14*max(math.Abs(want), 1)) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// The loss of a classifier written by hand, as the logarithm of a softmax or of parts of it,
// and its gradient, at logits whose exponentials overflow or vanish.
func TestCrossEntropyByHand(t *testing.T) {
	const rows, cols = 3, 4
	logits := []float64{1e4, 9999, -1e4, 1e4, -1e4, -9998, -9999, -1e4, 0.5, 1, -2, 710}
	targets := []int64{1, 3, 0}
	softmax := func(x *node) *node {
		e := f("exp", x)
		return div(e, op.Apply(op.Sum, op.Reduction{Axes: []int{1}, Keep: true}, e))
	}
	column := func(y *node) *node { return reshapeTo(y, rows, 1) }
	for name, loss := range map[string]func(x, y *node) *node{
		"picked": func(x, y *node) *node {
			return neg(total(op.Apply(op.Gather, op.Axis(1), f("log", softmax(x)), column(y))))
		},
		"picked before the logarithm": func(x, y *node) *node {
			return neg(total(f("log", op.Apply(op.Gather, op.Axis(1), softmax(x), column(y)))))
		},
		"chosen": func(x, y *node) *node {
			hit := apply(op.Eq, op.Apply(op.Iota, op.Axis(1), x), column(y))
			return neg(total(op.Apply(op.Where, nil, hit, f("log", softmax(x)), num(x, 0))))
		},
		"masked": func(x, y *node) *node {
			hit := op.Convert(apply(op.Eq, op.Apply(op.Iota, op.Axis(1), x), column(y)), x.DType)
			return neg(total(mul(hit, f("log", softmax(x)))))
		},
		"library's softmax": func(x, y *node) *node {
			hit := op.Convert(apply(op.Eq, op.Apply(op.Iota, op.Axis(1), x), column(y)), x.DType)
			l := sub(x, f("log", op.Apply(op.Sum, op.Reduction{Axes: []int{1}, Keep: true}, f("exp", x))))
			return neg(total(mul(hit, l)))
		},
	} {
		g := ir.New()
		x, y := g.Input(0, array.Float64, []int{rows, cols}), g.Input(1, array.Int64, []int{rows})
		l := loss(x, y)
		dx := op.Gradient([]*node{l}, []*node{num(l, 1)}, []*node{x})[0]
		res := rewrite.Run([]*node{l, dx}, rewrite.Stable)
		got := compute(t, res.Outs, []*optest.Array{{DType: array.Float64, Shape: x.Shape, F: logits}, {DType: array.Int64, Shape: y.Shape, I: targets}})
		want := 0.0
		for r := range rows {
			row := logits[r*cols : r*cols+cols]
			most, s := math.Inf(-1), 0.0
			for _, v := range row {
				most = max(most, v)
			}
			for _, v := range row {
				s += math.Exp(v - most)
			}
			want += most + math.Log(s) - row[targets[r]]
			for k, v := range row {
				d := math.Exp(v-most) / s
				if int64(k) == targets[r] {
					d--
				}
				closeTo(t, name+", gradient", got[1].F[r*cols+k], d)
			}
		}
		closeTo(t, name, got[0].F[0], want)
	}
}

// The program of Theano's paper: logistic regression written out, with its gradients, also
// where the exponential overflows.
func TestLogisticRegression(t *testing.T) {
	const n, features = 4, 3
	g := ir.New()
	x, y := g.Input(0, array.Float64, []int{n, features}), g.Input(1, array.Float64, []int{n})
	w, b := g.Input(2, array.Float64, []int{features}), g.Input(3, array.Float64, nil)
	p := div(num(x, 1), add(num(x, 1), f("exp", sub(neg(apply(op.MatMul, x, w)), b))))
	xent := sub(mul(neg(y), f("log", p)), mul(sub(num(y, 1), y), f("log", sub(num(p, 1), p))))
	cost := add(op.Apply(op.Mean, nil, xent), mul(num(w, 0.01), total(apply(op.Square, w))))
	d := op.Gradient([]*node{cost}, []*node{num(cost, 1)}, []*node{w, b})
	res := rewrite.Run([]*node{cost, d[0], d[1]}, rewrite.Stable)

	xs := []float64{1, 2, -0.5, 300, -2, 4, -0.25, 1, 3, -200, 500, 7}
	ys, ws, bias := []float64{1, 0, 1, 0}, []float64{2, -1, 0.5}, 0.25
	got := compute(t, res.Outs, []*optest.Array{{DType: array.Float64, Shape: x.Shape, F: xs}, {DType: array.Float64, Shape: y.Shape, F: ys},
		{DType: array.Float64, Shape: w.Shape, F: ws}, {DType: array.Float64, Shape: b.Shape, F: []float64{bias}}})
	want, dw, db := 0.0, make([]float64, features), 0.0
	for i := range n {
		z := bias
		for k := range features {
			z += xs[i*features+k] * ws[k]
		}
		softplus := func(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
		want += (ys[i]*softplus(-z) + (1-ys[i])*softplus(z)) / n
		e := 1/(1+math.Exp(-z)) - ys[i]
		for k := range features {
			dw[k] += e * xs[i*features+k] / n
		}
		db += e / n
	}
	for k := range features {
		want += 0.01 * ws[k] * ws[k]
		closeTo(t, "dw", got[1].F[k], dw[k]+0.02*ws[k])
	}
	closeTo(t, "cost", got[0].F[0], want)
	closeTo(t, "db", got[2].F[0], db)
}
