package ndimage_test

import (
	"fmt"

	"weft"
	"weft/fft"
	"weft/kernel"
	"weft/ndimage"
)

func ExampleAffineTransform() {
	fmt.Println(ndimage.AffineTransform(weft.From([]float64{3, 1, 4, 1, 5}), [][]float64{{2}}, nil, []int{3}, ndimage.InterpolationOpts{Order: new(1)}))
	// Output:
	// [3. 4. 5.]
}

func ExampleBinaryClosing() {
	fmt.Println(ndimage.BinaryClosing(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 1 1 1 0]
}

func ExampleBinaryErosion() {
	fmt.Println(ndimage.BinaryErosion(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 0 0 0 0]
}

func ExampleBinaryFillHoles() {
	fmt.Println(ndimage.BinaryFillHoles(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 1 1 1 1]
}

func ExampleBinaryHitOrMiss() {
	fmt.Println(ndimage.BinaryHitOrMiss(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 0 0 0 0]
}

func ExampleBinaryOpening() {
	fmt.Println(ndimage.BinaryOpening(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 0 0 0 0]
}

func ExampleBinaryPropagation() {
	fmt.Println(ndimage.BinaryPropagation(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [1 1 1 1 1]
}

func ExampleBlackTophat() {
	fmt.Println(ndimage.BlackTophat(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [0. 2. 0. 3. 0.]
}

func ExampleCenterOfMass() {
	fmt.Println(ndimage.CenterOfMass(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [[0.25]
	//  [3.1 ]]
}

func ExampleConvolve() {
	fmt.Println(ndimage.Convolve(weft.From([]float64{3, 1, 4, 1, 5}), weft.From([]float64{-1, 0, 1})))
	// Output:
	// [ 2. -1.  0. -1. -4.]
}

func ExampleCorrelate() {
	fmt.Println(ndimage.Correlate(weft.From([]float64{3, 1, 4, 1, 5}), weft.From([]float64{-1, 0, 1})))
	// Output:
	// [-2.  1.  0.  1.  4.]
}

func ExampleDistanceTransformCDT() {
	fmt.Println(ndimage.DistanceTransformCDT(weft.From([]bool{false, true, true, false, true})).To(weft.Int32))
	// Output:
	// [0 1 1 0 1]
}

func ExampleExtrema() {
	fmt.Println(ndimage.Extrema(weft.From([]float64{3, 1, 4, 1, 5})))
	// Output:
	// 1.0 5.0 [[1]] [[4]]
}

func ExampleGaussianGradientMagnitude() {
	fmt.Printf("%.3f\n", ndimage.GaussianGradientMagnitude(weft.From([]float64{3, 1, 4, 1, 5}), []float64{1}))
	// Output:
	// [0.198 0.080 0.243 0.648 0.683]
}

func ExampleGaussianLaplace() {
	fmt.Printf("%.3f\n", ndimage.GaussianLaplace(weft.From([]float64{3, 1, 4, 1, 5}), []float64{1}))
	// Output:
	// [-0.198  0.480 -0.012  0.729 -1.000]
}

func ExampleGenerateBinaryStructure() {
	fmt.Println(ndimage.GenerateBinaryStructure(1, 1))
	// Output:
	// [true true true]
}

func ExampleGreyClosing() {
	fmt.Println(ndimage.GreyClosing(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [3. 3. 4. 4. 5.]
}

func ExampleGreyDilation() {
	fmt.Println(ndimage.GreyDilation(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [3. 4. 4. 5. 5.]
}

func ExampleGreyErosion() {
	fmt.Println(ndimage.GreyErosion(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [1. 1. 1. 1. 1.]
}

func ExampleGreyOpening() {
	fmt.Println(ndimage.GreyOpening(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [1. 1. 1. 1. 1.]
}

func ExampleIterateStructure() {
	fmt.Println(ndimage.IterateStructure(ndimage.GenerateBinaryStructure(1, 1), 2))
	// Output:
	// [true true true true true]
}

func ExampleLaplace() {
	fmt.Println(ndimage.Laplace(weft.From([]float64{3, 1, 4, 1, 5})))
	// Output:
	// [-2.  5. -6.  7. -4.]
}

func ExampleMaximum() {
	fmt.Println(ndimage.Maximum(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [3. 5.]
}

func ExampleMaximumFilter1D() {
	fmt.Println(ndimage.MaximumFilter1D(weft.From([]float64{3, 1, 4, 1, 5}), 3, 0))
	// Output:
	// [3. 4. 4. 5. 5.]
}

func ExampleMaximumPosition() {
	fmt.Println(ndimage.MaximumPosition(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [[0] [4]]
}

func ExampleMean() {
	fmt.Println(ndimage.Mean(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [2.         3.33333333]
}

func ExampleMedian() {
	fmt.Println(ndimage.Median(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [2. 4.]
}

func ExampleMinimum() {
	fmt.Println(ndimage.Minimum(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [1. 1.]
}

func ExampleMinimumFilter() {
	fmt.Println(ndimage.MinimumFilter(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [1. 1. 1. 1. 1.]
}

func ExampleMinimumFilter1D() {
	fmt.Println(ndimage.MinimumFilter1D(weft.From([]float64{3, 1, 4, 1, 5}), 3, 0))
	// Output:
	// [1. 1. 1. 1. 1.]
}

func ExampleMinimumPosition() {
	fmt.Println(ndimage.MinimumPosition(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [[1] [3]]
}

func ExampleMorphologicalGradient() {
	fmt.Println(ndimage.MorphologicalGradient(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [2. 3. 3. 4. 4.]
}

func ExampleMorphologicalLaplace() {
	fmt.Println(ndimage.MorphologicalLaplace(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [-2.  3. -3.  4. -4.]
}

func ExamplePercentileFilter() {
	fmt.Println(ndimage.PercentileFilter(weft.From([]float64{3, 1, 4, 1, 5}), 50, []int{3}))
	// Output:
	// [3. 3. 1. 4. 5.]
}

func ExamplePrewitt() {
	fmt.Println(ndimage.Prewitt(weft.From([]float64{3, 1, 4, 1, 5}), 0))
	// Output:
	// [-2.  1.  0.  1.  4.]
}

func ExampleRankFilter() {
	fmt.Println(ndimage.RankFilter(weft.From([]float64{3, 1, 4, 1, 5}), -2, []int{3}))
	// Output:
	// [3. 3. 1. 4. 5.]
}

func ExampleRotate() {
	fmt.Println(ndimage.Rotate(weft.From([][]float64{{1, 2, 3}}), 90, ndimage.RotateOpts{Order: new(1)}).T())
	// Output:
	// [[3. 2. 1.]]
}

func ExampleShift() {
	fmt.Println(ndimage.Shift(weft.From([]float64{3, 1, 4, 1, 5}), []float64{1}, ndimage.InterpolationOpts{Order: new(1)}))
	// Output:
	// [0. 3. 1. 4. 1.]
}

func ExampleSobel() {
	fmt.Println(ndimage.Sobel(weft.From([]float64{3, 1, 4, 1, 5}), 0))
	// Output:
	// [-2.  1.  0.  1.  4.]
}

func ExampleSplineFilter() {
	fmt.Printf("%.3f\n", ndimage.SplineFilter(weft.From([]float64{3, 1, 4, 1, 5})))
	// Output:
	// [ 5.286 -1.571  7.000 -2.429  8.714]
}

func ExampleSplineFilter1D() {
	fmt.Printf("%.3f\n", ndimage.SplineFilter1D(weft.From([]float64{3, 1, 4, 1, 5}), 0))
	// Output:
	// [ 5.286 -1.571  7.000 -2.429  8.714]
}

func ExampleStandardDeviation() {
	fmt.Println(ndimage.StandardDeviation(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [1.         1.69967317]
}

func ExampleSumLabels() {
	fmt.Println(ndimage.SumLabels(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [ 4. 10.]
}

func ExampleUniformFilter() {
	fmt.Println(ndimage.UniformFilter(weft.From([]float64{3, 0, 6, 0, 9}), []int{3}))
	// Output:
	// [2. 3. 2. 5. 6.]
}

func ExampleUniformFilter1D() {
	fmt.Println(ndimage.UniformFilter1D(weft.From([]float64{3, 0, 6, 0, 9}), 3, 0))
	// Output:
	// [2. 3. 2. 5. 6.]
}

func ExampleVariance() {
	fmt.Println(ndimage.Variance(weft.From([]float64{3, 1, 4, 1, 5}), ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}))
	// Output:
	// [1.         2.88888889]
}

func ExampleWhiteTophat() {
	fmt.Println(ndimage.WhiteTophat(weft.From([]float64{3, 1, 4, 1, 5}), []int{3}))
	// Output:
	// [2. 0. 3. 0. 4.]
}

func ExampleGenericFilter1D() {
	x := weft.From([][]float64{{1, 5, 2, 4}, {3, 0, 0, 9}})
	greatest := func(lines *weft.Tensor) *weft.Tensor { return lines.SlidingWindowView(1, 3).Max(-1) }
	fmt.Println(ndimage.GenericFilter1D(x, greatest, 3))
	// Output:
	// [[5. 5. 5. 4.]
	//  [3. 3. 9. 9.]]
}

func ExampleGenericLaplace() {
	x := weft.From([][]float64{{0, 0, 0}, {0, 1, 0}, {0, 0, 0}})
	second := func(x *weft.Tensor, axis int, o ...ndimage.BorderOpts) *weft.Tensor {
		return ndimage.Correlate1D(x, weft.From([]float64{1, -2, 1}), axis, ndimage.LineOpts{Mode: o[0].Mode, Cval: o[0].Cval})
	}
	fmt.Println(ndimage.GenericLaplace(x, second))
	// Output:
	// [[ 0.  1.  0.]
	//  [ 1. -4.  1.]
	//  [ 0.  1.  0.]]
}

func ExampleGenericGradientMagnitude() {
	x := weft.From([][]float64{{0, 0, 4}, {0, 0, 4}, {0, 0, 4}})
	fmt.Println(ndimage.GenericGradientMagnitude(x, ndimage.Sobel))
	// Output:
	// [[ 0. 16. 16.]
	//  [ 0. 16. 16.]
	//  [ 0. 16. 16.]]
}

func ExampleVectorizedFilter() {
	x := weft.From([][]float64{{1, 5, 2}, {3, 0, 9}})
	fmt.Println(ndimage.VectorizedFilter(x, func(w *weft.Tensor) *weft.Tensor { return w.Max(-1).Sub(w.Min(-1)) }, []int{1, 3}))
	// Output:
	// [[4. 4. 3.]
	//  [3. 9. 9.]]
}

func ExampleWatershedIFT() {
	x := weft.From([][]uint8{{0, 1, 9, 1, 0}, {0, 1, 9, 1, 0}})
	markers := weft.From([][]int32{{1, 0, 0, 0, 2}, {0, 0, 0, 0, 0}})
	fmt.Println(ndimage.WatershedIFT(x, markers))
	// Output:
	// [[1 1 1 2 2]
	//  [1 1 1 2 2]]
}

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

func ExampleMedianFilter() {
	x := weft.From([]float64{1, 2, 90, 4, 5})
	fmt.Println(ndimage.MedianFilter(x, []int{3}))
	// Output: [1. 2. 4. 5. 5.]
}

func ExampleMaximumFilter() {
	x := weft.From([]int32{1, 7, 2, 3, 0})
	fmt.Println(ndimage.MaximumFilter(x, []int{3}))
	// Output: [7 7 7 3 3]
}

func ExampleBinaryDilation() {
	x := weft.From([]bool{false, false, true, false, false})
	fmt.Println(ndimage.BinaryDilation(x).To(weft.Uint8))
	// Output: [0 1 1 1 0]
}

func ExampleLabel() {
	labels, n := ndimage.Label(weft.From([]int32{0, 5, 5, 0, 7}))
	fmt.Println(labels, n, ndimage.SumLabels(labels, ndimage.RegionOpts{Labels: labels, Index: []int{1, 2}}))
	// Output: [0 1 1 0 2] 2 [2. 2.]
}

func ExampleDistanceTransformEDT() {
	d, at := ndimage.DistanceTransformEDT(weft.From([]int32{0, 1, 1, 1, 0}))
	fmt.Println(d, at)
	// Output: [0. 1. 2. 1. 0.] [[0 0 0 4 4]]
}

func ExampleMapCoordinates() {
	x := weft.From([]float64{0, 10, 20})
	at := weft.From([][]float64{{0.5, 1.25}})
	fmt.Println(ndimage.MapCoordinates(x, at, ndimage.InterpolationOpts{Order: new(1)}))
	// Output: [ 5.  12.5]
}

func ExampleZoom() {
	fmt.Println(ndimage.Zoom(weft.From([]float64{0, 2, 4}), []float64{5. / 3}, ndimage.InterpolationOpts{Order: new(1)}))
	// Output: [0. 1. 2. 3. 4.]
}

func ExampleFindObjects() {
	x := weft.From([]int32{0, 1, 1, 0, 2})
	for _, box := range ndimage.FindObjects(x) {
		fmt.Println(x.Slice(box...))
	}
	// Output:
	// [1 1]
	// [2]
}

func ExampleGenericFilter() {
	edges := kernel.MustParse(`package p
		import "weft/kernel"
		func Edge[T float32 | float64](x kernel.Near1[T]) T { return (x.At(1) - x.At(-1)) / 2 }`).Func("Edge")
	fmt.Println(ndimage.GenericFilter(weft.From([]float64{3, 1, 4, 1, 5}), edges))
	// Output:
	// [-1.   0.5  0.   0.5  2. ]
}

func ExampleGeometricTransform() {
	back := kernel.MustParse(`package p
		func Back(i, last float64) float64 { return last - i }`).Func("Back")
	fmt.Println(ndimage.GeometricTransform(weft.From([]float64{3, 1, 4, 1, 5}), back, ndimage.GeometricOpts{Args: []any{4.0}}))
	// Output:
	// [5. 1. 4. 1. 3.]
}

func ExampleFourierGaussian() {
	x := weft.From([]float64{0, 0, 0, 9, 0, 0, 0, 0})
	y := fft.IRFFT(ndimage.FourierGaussian(fft.RFFT(x), []float64{1}, ndimage.FourierOpts{N: new(8)}))
	fmt.Printf("%.2f\n", weft.Data[float64](y.Contiguous())[:7])
	// Output:
	// [0.05 0.48 2.19 3.58 2.19 0.48 0.05]
}

func ExampleFourierUniform() {
	x := weft.From([]complex128{1, 1, 1, 1})
	fmt.Printf("%.2f\n", weft.Data[float64](ndimage.FourierUniform(x, []float64{2}).Real().Contiguous()))
	// Output:
	// [1.00 0.64 0.00 0.64]
}

func ExampleFourierEllipsoid() {
	x := weft.From([]float64{1, 1, 1, 1})
	fmt.Printf("%.2f\n", weft.Data[float64](ndimage.FourierEllipsoid(x, []float64{2}).Contiguous()))
	// Output:
	// [1.00 0.64 0.00 0.64]
}

func ExampleFourierShift() {
	x := fft.FFT(weft.From([]float64{1, 2, 3, 4}))
	fmt.Printf("%.0f\n", weft.Data[float64](fft.IFFT(ndimage.FourierShift(x, []float64{1})).Real().Contiguous()))
	// Output:
	// [4 1 2 3]
}

func ExampleHistogram() {
	o := ndimage.RegionOpts{Labels: weft.From([]int32{1, 1, 2, 2, 2}), Index: []int{1, 2}}
	fmt.Println(ndimage.Histogram(weft.From([]float64{3, 1, 4, 1, 5}), 0, 6, 3, o))
	// Output:
	// [[1 1 0]
	//  [1 0 2]]
}

func ExampleValueIndices() {
	fmt.Println(ndimage.ValueIndices(weft.From([][]int32{{3, 1}, {1, 3}}))[3])
	// Output:
	// [[0 1] [0 1]]
}
