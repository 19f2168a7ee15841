// Newton fits a logistic regression by Newton's method: the Hessian comes from gradients
// of gradients, and a step solves a system of equations by conjugate gradients.
package main

import (
	"fmt"

	"weft"
)

const (
	examples = 500
	features = 6
	ridge    = 1e-3 // weight of the squared coefficients, which keeps the Hessian regular
)

// Data are points, whether each is in the class, and the coefficients behind that.
func Data(seed uint64) (x, y, truth *weft.Tensor) {
	g := weft.NewGenerator(seed)
	x = g.RandnOf(weft.Float64, examples, features)
	truth = g.RandnOf(weft.Float64, features)
	p := x.MatMul(truth).Sigmoid()
	return x, g.RandOf(weft.Float64, examples).Lt(p).To(weft.Float64), truth
}

// Loss is the mean of the negative logarithms of the likelihood.
func Loss(x, y, w *weft.Tensor) *weft.Tensor {
	z := x.MatMul(w)
	return z.Softplus().Sub(y.Mul(z)).Mean().Add(w.Square().Sum().Mul(ridge))
}

// Fit returns the coefficients, and the length of the gradient before each step.
func Fit(x, y *weft.Tensor, steps int) (w *weft.Tensor, lengths []float64) {
	w = weft.ZerosOf(weft.Float64, features).RequireGrad()
	for range steps {
		scope := weft.NewScope()
		grad := weft.Grad(Loss(scope.Track(x), y, w), []*weft.Tensor{w}, weft.GradOpts{Create: true})[0]
		lengths = append(lengths, grad.Norm(2).Item())
		// The product of the Hessian and v is the gradient of the product of the gradient and v.
		hessian := func(v *weft.Tensor) *weft.Tensor {
			return weft.Grad(grad.Mul(v).Sum(), []*weft.Tensor{w}, weft.GradOpts{Retain: true})[0]
		}
		step := Solve(hessian, grad.Detach())
		weft.WithoutGrad(func() { w.SubAssign(step) })
		scope.Close()
	}
	return w, lengths
}

// Solve finds s with product(s) = b for a product by a positive definite matrix.
func Solve(product func(v *weft.Tensor) *weft.Tensor, b *weft.Tensor) *weft.Tensor {
	s, r := weft.ZerosLike(b), b.Clone()
	p, rr := r.Clone(), b.Dot(b)
	for range b.Size() {
		q := product(p)
		a := rr.Div(p.Dot(q))
		s, r = s.Add(a.Mul(p)), r.Sub(a.Mul(q))
		next := r.Dot(r)
		p, rr = r.Add(next.Div(rr).Mul(p)), next
	}
	return s
}

func main() {
	x, y, truth := Data(1)
	w, lengths := Fit(x, y, 8)
	for i, l := range lengths {
		fmt.Printf("step %d  length of the gradient %.1e\n", i+1, l)
	}
	fmt.Printf("coefficients %.3f\n", w)
	fmt.Printf("behind them  %.3f\n", truth)
	right := x.MatMul(w).Gt(0).Eq(y.Gt(0.5)).To(weft.Float64).Mean().Item()
	fmt.Printf("right in %.1f %% of the points\n", 100*right)
}
