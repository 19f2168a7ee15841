package nn

import (
	"math/rand/v2"

	"weft"
)

// A generator draws float32 numbers.
type generator struct{ r *rand.Rand }

var shared = &generator{rand.New(rand.NewPCG(1, 2))}

func (g *generator) fill(shape []int, f func(*rand.Rand) float64) *weft.Tensor {
	if g == nil {
		g = shared
	}
	n := 1
	for _, d := range shape {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(f(g.r))
	}
	return weft.FromSlice(data, append([]int{}, shape...)...)
}

func (g *generator) Rand(shape ...int) *weft.Tensor  { return g.fill(shape, (*rand.Rand).Float64) }
func (g *generator) Randn(shape ...int) *weft.Tensor { return g.fill(shape, (*rand.Rand).NormFloat64) }
