// Logistic trains a logistic regression on random data: the tutorial program of
// the Theano paper (Bergstra et al., "Theano: a CPU and GPU math compiler in
// Python", SciPy 2010), run eagerly. Each formula is one fused kernel, and its
// gradient another.
package main

import (
	"fmt"

	"weft"
)

const (
	examples = 4
	features = 100
	steps    = 10
	rate     = 0.1
)

func main() {
	g := weft.NewGenerator(1)
	x := g.Randn(examples, features)
	y := g.Randint(0, 2, examples)
	w := g.Randn(features).RequireGrad()
	b := weft.Scalar(0.0).RequireGrad()

	predict := func() *weft.Tensor {
		return weft.Expr("1 / (1 + exp(-dot(x, w) - b))", weft.Vars{"x": x, "w": w, "b": b})
	}
	for step := range steps {
		p := predict()
		xent := weft.Expr("-y*log(p) - (1-y)*log(1-p)", weft.Vars{"y": y, "p": p})
		cost := weft.Expr("mean(xent) + 0.01*sum(pow(w, 2))", weft.Vars{"xent": xent, "w": w})
		grads := weft.Grad(cost, []*weft.Tensor{w, b})
		weft.WithoutGrad(func() {
			w.SubAssign(grads[0].Mul(rate))
			b.SubAssign(grads[1].Mul(rate))
		})
		fmt.Printf("step %2d  cost %.4f\n", step+1, cost.Item())
	}
	fmt.Printf("final w, first five: %.4f\n", w.Slice(weft.Range(0, 5)))
	fmt.Printf("final b: %.4f\n", b)
	fmt.Println("target:    ", y)
	fmt.Println("prediction:", predict().Gt(0.5).To(weft.Int64))
}
