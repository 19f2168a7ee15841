package ndimage_test

import (
	"fmt"

	"weft"
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
