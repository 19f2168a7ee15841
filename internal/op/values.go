package op

import (
	"math"

	"weft/internal/loop"
)

var (
	inf      = math.Inf(1)
	nanValue = math.NaN()
)

// maxOf is the greatest finite value of a float type.
func maxOf(t loop.Type) float64 {
	if t == loop.F32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}
