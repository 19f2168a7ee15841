package op

import "math"

var (
	inf      = math.Inf(1)
	nanValue = math.NaN()
)
