// Package ndimage filters, labels, measures, resamples and transforms arrays of any number of axes, under
// the names of scipy.ndimage in Go case and with its results.
//
//	smooth := ndimage.GaussianFilter(x, []float64{2})
//	edges := ndimage.GaussianGradientMagnitude(x, []float64{1}, ndimage.GaussianOpts{Mode: ndimage.Nearest})
//	clean := ndimage.MedianFilter(x, []int{3})
//
// Pictures come in by data.FromImage and go out by data.ToImage.
//
// # Element types
//
// A filter's result has the element type of its input. Float32, float64, complex64 and complex128 are computed in
// their type, where SciPy computes float32 in float64; float16 and bfloat16 are computed in float32 and rounded. Linear
// filters compute integers and Bool in float64. They truncate the result toward zero and keep its lowest bits, after
// each axis, as SciPy does: convert to a float first where that is not wanted. Complex weights give complex results.
//
// # Gradients and compiled functions
//
// Linear filters, filters by rank of small windows, minima and maxima are composed of operations of arrays: they have
// gradients of any order, run in [weft.Compile] and [weft.Vmap], and on any device.
//
// Sizes, sigmas and origins are slices with one number for each axis that is filtered; one number alone is that of
// every axis. Functions panic with *[weft.Error], whose operation is ndimage.name.
package ndimage
