package weft

import (
	"math"
	"testing"
)

// What goes through exponentials and logarithms of sums, in float32 against float64:
// numbers far from 0 must cost no digits.
func TestLargeLogits(t *testing.T) {
	everyBackend(t, func(t *testing.T) {
		for _, scale := range []float64{0, 10, 20, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, -20, -1e4, -1e8} {
			row := make([]float32, 6)
			for i, d := range []float64{0, -10, -16, -8, -0.5, -1e3} {
				row[i] = float32(scale + d)
			}
			x := make([]float64, len(row))
			m := math.Inf(-1)
			for i := range row {
				x[i] = float64(row[i])
				m = math.Max(m, x[i])
			}
			sum := 0.0
			for _, v := range x {
				sum += math.Exp(v - m)
			}
			near := func(name string, got, want float64) {
				t.Helper()
				if !(math.Abs(got-want) <= 3e-7*math.Max(1, math.Abs(want))) {
					t.Errorf("%s at %g: %v, want %v", name, scale, got, want)
				}
			}
			leaf := FromSlice(row).RequireGrad()
			lse := leaf.LogSumExp()
			near("logsumexp", lse.Item(), m+math.Log(sum))
			p := Grad(lse, []*Tensor{leaf})[0]
			soft, logs := FromSlice(row).Softmax(0), FromSlice(row).LogSoftmax(0)
			for i, v := range x {
				y := v - m - math.Log(sum)
				near("gradient of logsumexp", p.At(i).Item(), math.Exp(y))
				near("softmax", soft.At(i).Item(), math.Exp(y))
				near("log_softmax", logs.At(i).Item(), y)

				one := leaf.Unsqueeze(0)
				loss := CrossEntropy(one, From([]int{i}))
				near("cross_entropy", loss.Item(), -y)
				g := Grad(loss, []*Tensor{leaf})[0]
				for j := range x {
					want := math.Exp(x[j] - m - math.Log(sum))
					if i == j {
						want--
					}
					near("gradient of cross_entropy", g.At(j).Item(), want)
				}

				scalar := Scalar(v, Float32).RequireGrad()
				plus := scalar.Softplus()
				near("softplus", plus.Item(), math.Max(v, 0)+math.Log1p(math.Exp(-math.Abs(v))))
				near("gradient of softplus", Grad(plus, []*Tensor{scalar})[0].Item(), 1/(1+math.Exp(-v)))
				near("sigmoid", scalar.Sigmoid().Item(), 1/(1+math.Exp(-v)))
			}
		}
	})
	// A confident and right answer costs little, and how little counts.
	got := CrossEntropy(From([][]float32{{20, 10}}), From([]int{0})).Item()
	if want := math.Log1p(math.Exp(-10)); math.Abs(got-want) > 1e-7 {
		t.Errorf("cross_entropy of 20 beside 10: %v, want %v", got, want)
	}
}
