package ndimage_test

import (
	"fmt"

	"weft"
	"weft/ndimage"
)

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
