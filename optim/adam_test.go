package optim_test

import (
	"math"
	"testing"

	"weft"
	"weft/optim"
)

func TestAdam(t *testing.T) {
	for name, o := range map[string]optim.AdamOpts{
		"defaults":  {LR: new(0.1)},
		"betas":     {LR: new(0.02), Beta1: new(0.5), Beta2: new(0.9), Eps: new(1e-3)},
		"decay":     {LR: new(0.1), WeightDecay: 0.05},
		"decoupled": {LR: new(0.1), WeightDecay: 0.05, Decoupled: true},
	} {
		t.Run(name, func(t *testing.T) {
			lr, beta1, beta2, eps := *o.LR, 0.9, 0.999, 1e-8
			if o.Beta1 != nil {
				beta1, beta2, eps = *o.Beta1, *o.Beta2, *o.Eps
			}
			check(t,
				func(p func(func(string, *weft.Tensor) bool)) optim.Optimizer { return optim.NewAdam(p, o) },
				func() func(w, g float64) float64 {
					m, v, step := 0.0, 0.0, 0.0
					return func(w, g float64) float64 {
						step++
						if o.Decoupled {
							w *= 1 - lr*o.WeightDecay
						} else {
							g += o.WeightDecay * w
						}
						m = beta1*m + (1-beta1)*g
						v = beta2*v + (1-beta2)*g*g
						mHat := m / (1 - math.Pow(beta1, step))
						vHat := v / (1 - math.Pow(beta2, step))
						return w - lr*mHat/(math.Sqrt(vHat)+eps)
					}
				})
		})
	}
}
