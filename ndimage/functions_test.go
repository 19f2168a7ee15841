package ndimage_test

import (
	_ "embed"

	"weft/kernel"
)

//go:embed functions_test.go
var source string

var functions = kernel.MustParse(source)

// Spread is the function of testdata/make.py.
func Spread(w kernel.Near2[float64]) float64 {
	least, most := w.At(0, 0), w.At(0, 0)
	for i := -1; i <= 1; i++ {
		for j := -1; j <= 1; j++ {
			least, most = min(least, w.At(i, j)), max(most, w.At(i, j))
		}
	}
	return most - 2*least + 0.5*w.At(-1, 0)
}

// Skew is the transform of testdata/make.py.
func Skew(y, x, scale float64) (float64, float64) {
	return y*scale + x*0.3 - 0.5, x*1.1 - y*0.2
}

// Wrong divides by zero: a compiled function does not panic.
func Wrong(w kernel.Near1[int32]) int32 { return w.At(-1) / (2*w.At(0) - w.At(0) - w.At(0)) }
