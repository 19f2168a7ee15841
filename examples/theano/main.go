// Theano is the tutorial program of the Theano paper (Bergstra et al., "Theano: a CPU and GPU
// math compiler in Python", SciPy 2010) through package sym: a logistic regression whose
// functions, with gradients and updates, are compiled of symbolic variables. Package
// examples/logistic is the same, run eagerly.
package main

import (
	"fmt"
	"log"

	"weft"
	"weft/sym"
)

const (
	n     = 4
	feats = 100
	steps = 10
)

func main() {
	log.SetFlags(0)
	g := weft.NewGenerator(1)

	// Declare the variables.
	x, y := sym.Matrix("x", weft.Float64), sym.Vector("y", weft.Int64)
	w := sym.Shared("w", g.RandnOf(weft.Float64, feats))
	b := sym.Shared("b", weft.ScalarOf(weft.Float64, 0.0))
	fmt.Println("Initial model:")
	show(w, b)

	// Construct the expression graph.
	p1 := sym.Expr("1 / (1 + exp(-dot(x, w) - b))", weft.Vars{"x": x, "w": w, "b": b}) // the probability that the target is 1
	prediction := p1.Gt(0.5)
	xent := sym.Expr("-y*log(p_1) - (1-y)*log(1-p_1)", weft.Vars{"y": y, "p_1": p1}) // cross-entropy
	cost := xent.Mean().Add(w.Square().Sum().Mul(0.01))                              // what is minimised
	grads := sym.Grad(cost, []*sym.Var{w, b})

	// Compile.
	train, err := sym.Function(sym.In(x, y), sym.Out(prediction, xent),
		sym.Updates{w: w.Sub(grads[0].Mul(0.1)), b: b.Sub(grads[1].Mul(0.1))})
	if err != nil {
		log.Fatal(err)
	}
	predict, err := sym.Function(sym.In(x), sym.Out(prediction))
	if err != nil {
		log.Fatal(err)
	}

	// Train.
	X, Y := g.RandnOf(weft.Float64, n, feats), g.Randint(0, 2, n)
	for range steps {
		if _, err := train.Call(X, Y); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("Final model:")
	show(w, b)
	out, err := predict.Call(X)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("target values for D", Y)
	fmt.Println("prediction on D    ", out[0].To(weft.Int64))
}

// show prints the model: of w the first five weights.
func show(w, b *sym.Var) {
	fmt.Printf("%.4f %.4f\n", w.Tensor().Slice(weft.Range(0, 5)), b.Tensor())
}
