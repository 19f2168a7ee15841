package ndimage_test

import (
	"fmt"

	"weft"
	"weft/ndimage"
)

func ExampleGaussianFilter() {
	x := weft.ZerosOf(weft.Float64, 3, 3)
	x.Set(16, 1, 1)
	fmt.Printf("%.3f\n", ndimage.GaussianFilter(x, []float64{0.5}))
	// Output:
	// [[0.182 1.343 0.182]
	//  [1.343 9.899 1.343]
	//  [0.182 1.343 0.182]]
}

func ExampleGaussianFilter1D() {
	fmt.Printf("%.3f\n", ndimage.GaussianFilter1D(weft.From([]float64{0, 0, 1, 0, 0}), 1, 0))
	// Output: [0.058 0.242 0.399 0.242 0.058]
}

func ExampleCorrelate1D() {
	x, w := weft.From([]float64{1, 2, 4, 8}), weft.From([]float64{-1, 0, 1})
	fmt.Println(ndimage.Correlate1D(x, w, 0))
	// Output: [1. 3. 6. 4.]
}

func ExampleConvolve1D() {
	x, w := weft.From([]float64{1, 2, 4, 8}), weft.From([]float64{-1, 0, 1})
	fmt.Println(ndimage.Convolve1D(x, w, 0, ndimage.LineOpts{Mode: ndimage.Wrap}))
	// Output: [ 6. -3. -6.  3.]
}
