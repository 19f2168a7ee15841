package ndimage_test

import (
	"fmt"

	"weft"
	"weft/ndimage"
)

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
