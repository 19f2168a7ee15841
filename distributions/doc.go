// Package distributions has probability distributions: draws, densities, entropies, divergences, with
// gradients.
//
//	d := distributions.NewNormal(mean, deviation)
//	x := d.RSample(nil, 100)        // [100 batch...], gradients go through mean and deviation
//	loss := d.LogProb(x).Mean().Neg()
//
// # Parameters
//
// A parameter is a [weft.Tensor] or a Go number. Parameters broadcast to the batch shape, and events have
// their float type, float32 for Go numbers. A parameter outside of its domain is refused with a
// [weft.Error] that names it, where its elements are known; this waits for a device. In a compiled
// function elements outside give NaN.
//
// # Draws
//
// Draws come from a [weft.Generator]: they depend on its seed, the number of the draw and the position
// alone, on every backend, and a compiled function draws anew in each call. A nil generator is the default
// one. Sample has no gradients. Distributions that are [Reparameterized] have RSample, whose gradients go
// through the parameters; for others the score function, LogProb of a sample times a reward, has the
// gradient of the mean reward.
//
// # Densities
//
// LogProb, Entropy, CDF, ICDF and [KL] are formulas, one fused operation each where no matrix is
// involved, and differentiable. CDFs of Gamma, Beta, StudentT, Poisson and Binomial are incomplete gamma and
// beta functions, with relative errors below 5e-13 in float64. Events outside of the support have LogProb
// -Inf, as in SciPy; PyTorch refuses them.
//
// # Goroutines
//
// A distribution does not change, so several goroutines may use it at once. They must not while another
// writes its parameters.
//
// # Transforms
//
// A [TransformedDistribution] is that of a function of events: a [Transform] with an inverse and the
// determinant of its derivative.
//
// # Divergences
//
// [KL] knows pairs of the same type but [Multinomial], [StudentT] and mixtures, [Independent] over
// known pairs, and those pairs of different types that PyTorch knows.
package distributions
