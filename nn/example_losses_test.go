package nn_test

import (
	"fmt"

	"weft"
	"weft/nn"
)

// Losses that ask scores or distances to be a margin apart.
func ExampleMarginRanking() {
	a, b, same := weft.FromSlice([]float32{3, 1}), weft.FromSlice([]float32{1, 2}), weft.FromSlice([]float32{1, -1})
	fmt.Println(nn.MarginRanking(a, b, same, nn.MarginOpts{Margin: new(1.5), Reduction: nn.None}))
	fmt.Println(nn.HingeEmbedding(a, same), nn.SoftMargin(weft.Zeros(2), same))

	x := weft.From([][]float32{{0.1, 0.2, 0.7}})
	fmt.Println(nn.MultiMargin(x, weft.FromSlice([]int64{2})))
	fmt.Println(nn.MultiLabelMargin(x, weft.From([][]int64{{2, 0, -1}})))
	fmt.Println(nn.MultiLabelSoftMargin(weft.Zeros(1, 3), weft.From([][]float32{{1, 0, 1}})))
	// Output:
	// [0.  0.5]
	// 1.5 0.6931472
	// 0.29999998
	// 0.53333336
	// 0.6931472
}

func ExampleTripletMargin() {
	anchor, near, far := weft.From([][]float64{{0, 0}}), weft.From([][]float64{{0, 1}}), weft.From([][]float64{{0, 1.5}})
	fmt.Printf("%.4f\n", nn.TripletMargin(anchor, near, far).Item())
	fmt.Printf("%.4f\n", nn.PairwiseDistance(near, far).Item())
	// Output:
	// 0.5000
	// 0.5000
}

func ExampleCosineEmbedding() {
	x, y := weft.From([][]float64{{1, 0}, {3, 4}}), weft.From([][]float64{{1, 0}, {4, 3}})
	fmt.Printf("%.2f\n", nn.CosineSimilarity(x, y))
	fmt.Printf("%.2f\n", nn.CosineEmbedding(x, y, weft.FromSlice([]int64{1, -1}), nn.MarginOpts{Reduction: nn.None}))
	fmt.Printf("%.2f\n", nn.Normalize(x))
	// Output:
	// [1.00 0.96]
	// [0.00 0.96]
	// [[1.00 0.00]
	//  [0.60 0.80]]
}

// Losses of regression that know how far their predictions may be off.
func ExampleGaussianNLL() {
	x, target := weft.FromSlice([]float64{1, 2}), weft.FromSlice([]float64{1, 4})
	fmt.Println(nn.GaussianNLL(x, target, weft.FromSlice([]float64{1, 4}), nn.GaussianNLLOpts{Reduction: nn.None}))
	fmt.Println(nn.Huber(x, target), nn.PoissonNLL(weft.Zeros(2), target))
	// Output:
	// [0.         1.19314718]
	// 0.75 1.0
}

// Losses of segmentation, where few elements are of the object.
func ExampleFocal() {
	x, target := weft.From([][]float64{{0, 0, 0, 0}}), weft.From([][]float64{{0, 0, 0, 1}})
	fmt.Printf("%.4f %.4f\n", nn.Focal(x, target).Item(), nn.Dice(x.Sigmoid(), target).Item())
	// Output: 0.1083 0.5000
}

// Two rows of seven steps, whose targets have three and two symbols.
func ExampleCTC() {
	logits := weft.NewGenerator(1).Randn(7, 2, 4).RequireGrad()
	target := weft.From([][]int64{{1, 2, 2}, {3, 1, 0}})
	loss := nn.CTC(logits.LogSoftmax(-1), target, weft.FromSlice([]int64{7, 6}), weft.FromSlice([]int64{3, 2}))
	loss.Backward()
	fmt.Println(loss.Shape(), logits.Grad().Shape())
	// Output: [] [7 2 4]
}
