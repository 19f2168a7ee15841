package optim_test

import (
	"math"
	"testing"

	"weft"
	"weft/optim"
)

func TestAdam(t *testing.T) {
	for name, o := range map[string]optim.AdamOpts{
		"defaults":  {LR: 0.1},
		"betas":     {LR: 0.02, Beta1: 0.5, Beta2: 0.9, Eps: 1e-3},
		"decay":     {LR: 0.1, WeightDecay: 0.05},
		"decoupled": {LR: 0.1, WeightDecay: 0.05, Decoupled: true},
	} {
		t.Run(name, func(t *testing.T) {
			f := o
			if f.Beta1 == 0 {
				f.Beta1, f.Beta2, f.Eps = 0.9, 0.999, 1e-8
			}
			check(t,
				func(p func(func(string, *weft.Tensor) bool)) optim.Optimizer { return optim.NewAdam(p, o) },
				func() func(w, g float64) float64 {
					m, v, step := 0.0, 0.0, 0.0
					return func(w, g float64) float64 {
						step++
						if f.Decoupled {
							w *= 1 - f.LR*f.WeightDecay
						} else {
							g += f.WeightDecay * w
						}
						m = f.Beta1*m + (1-f.Beta1)*g
						v = f.Beta2*v + (1-f.Beta2)*g*g
						mHat := m / (1 - math.Pow(f.Beta1, step))
						vHat := v / (1 - math.Pow(f.Beta2, step))
						return w - f.LR*mHat/(math.Sqrt(vHat)+f.Eps)
					}
				})
		})
	}
}
