package distributions_test

import (
	"fmt"

	"weft"
	"weft/distributions"
	"weft/nn"
	"weft/optim"
)

// The density, a divergence and quantiles of normal distributions.
func Example() {
	p := distributions.NewNormal(0, 1)
	q := distributions.NewNormal(weft.From([]float32{0, 1}), 2)
	fmt.Printf("%.4f\n", p.LogProb(weft.Scalar(float32(0.5))))
	fmt.Printf("%.4f\n", distributions.KL(p, q))
	fmt.Printf("%.4f\n", p.ICDF(weft.From([]float32{0.025, 0.975})))
	fmt.Println(q.Sample(weft.NewGenerator(1), 5).Shape())
	// Output:
	// -1.0439
	// [0.3181 0.4431]
	// [-1.9600  1.9600]
	// [5 2]
}

// The encoder's part of a variational autoencoder: latent numbers with gradients through mean and
// deviation, and their divergence from a standard normal distribution.
func ExampleNormal_RSample() {
	mean := weft.From([]float32{0.5, -0.5}).RequireGrad()
	logScale := weft.Zeros(2).RequireGrad()
	z := distributions.NewIndependent(distributions.NewNormal(mean, logScale.Exp()), 1)
	prior := distributions.NewIndependent(distributions.NewNormal(weft.Zeros(2), 1), 1)
	x := z.RSample(weft.NewGenerator(1), 8)
	loss := x.Square().Mean().Add(distributions.KL(z, prior))
	loss.Backward()
	fmt.Println(x.Shape(), mean.Grad() != nil, logScale.Grad() != nil)
	// Output: [8 2] true true
}

// REINFORCE: a policy over three actions learns by the score function which one is rewarded.
func ExampleCategorical() {
	g := weft.NewGenerator(1)
	logits := nn.Param(weft.Zeros(3))
	opt := optim.NewSGD(nn.Params(&struct{ Logits *weft.Tensor }{logits}), optim.SGDOpts{LR: new(0.5)})
	for range 100 {
		policy := distributions.NewCategoricalLogits(logits)
		action := policy.Sample(g, 16)
		reward := action.Eq(2).To(weft.Float32)
		loss := policy.LogProb(action).Mul(reward.Sub(reward.Mean())).Mean().Neg()
		opt.ZeroGrad()
		loss.Backward()
		opt.Step()
	}
	fmt.Printf("action 2 has probability %.1f\n", logits.Softmax(-1).At(2).Item())
	// Output: action 2 has probability 1.0
}

// A mixture of two normal distributions.
func ExampleMixtureSameFamily() {
	d := distributions.NewMixtureSameFamily(
		distributions.NewCategorical(weft.From([]float32{1, 3})),
		distributions.NewNormal(weft.From([]float32{-2, 2}), 1))
	fmt.Printf("%.4f %.4f\n", d.Mean().Item(), d.Variance().Item())
	fmt.Printf("%.4f\n", d.LogProb(weft.From([]float32{-2, 2})))
	// Output:
	// 1.0000 4.0000
	// [-2.3042 -1.2065]
}

// A squashed normal distribution: actions of a policy between -2 and 2.
func ExampleTransformedDistribution() {
	d := distributions.NewTransformedDistribution(distributions.NewNormal(0.5, 1),
		distributions.TanhTransform{}, distributions.NewAffineTransform(0, 2))
	x := weft.From([]float32{-1, 0, 1.5})
	fmt.Printf("%.4f\n", d.LogProb(x))
	fmt.Printf("%.4f\n", d.CDF(x))
	// Output:
	// [-1.8749 -1.7371 -0.8973]
	// [0.1470 0.3085 0.6819]
}

// The probability of a chi-squared number with 3 degrees of freedom above 7.81, and of a Student's t number.
func ExampleGamma_CDF() {
	chi2 := distributions.NewGamma(3.0/2, 0.5)
	fmt.Printf("%.4f\n", 1-chi2.CDF(weft.Scalar(float32(7.815))).Item())
	fmt.Printf("%.4f\n", distributions.NewStudentT(10, 0, 1).CDF(weft.Scalar(float32(1.812))).Item())
	// Output:
	// 0.0500
	// 0.9500
}
