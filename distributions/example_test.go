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
