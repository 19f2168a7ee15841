package transforms_test

import (
	"context"
	"fmt"

	"weft"
	"weft/data"
	"weft/data/transforms"
)

// Pictures are cut at random and become floats, other ones in each epoch.
func Example() {
	train := transforms.Compose{
		transforms.RandomCrop{Size: []int{2}},
		transforms.RandomHorizontalFlip{},
		transforms.ToDtype{DType: weft.Float32, Scale: true},
		transforms.Normalize{Mean: []float64{0.5}, Std: []float64{0.5}},
	}
	x := weft.Arange(0, 2*1*3*3).Mul(15).To(weft.Uint8).Reshape(2, 1, 3, 3)
	augmented := data.MapRandom(data.Examples(data.Tensors(x, weft.Arange(2))), 1, func(e data.Example, g *weft.Generator) (data.Example, error) {
		e.X = train.Apply(e.X, g)
		return e, nil
	})
	loader := data.NewLoaderOf(augmented, data.Collate[data.Example, data.Example], data.LoaderOpts{Batch: new(2)})
	for batch, err := range loader.Batches(context.Background()) {
		fmt.Println(batch.X.Shape(), batch.Y, err)
		fmt.Printf("%.2f\n", batch.X.At(0, 0))
	}
	// Output:
	// [2 1 2 2] [0 1] <nil>
	// [[-0.65 -0.53]
	//  [-0.29 -0.18]]
}

func ExampleResize() {
	x := weft.Arange(0.0, 16).Div(16).Reshape(1, 4, 4)
	fmt.Printf("%.3f\n", transforms.Resize{Size: []int{2}}.Apply(x, nil).At(0))
	// Output:
	// [[0.223 0.321]
	//  [0.616 0.714]]
}

// The augmentations of torchvision's references for ImageNet, by a policy.
func ExampleAutoAugment() {
	train := transforms.Compose{
		transforms.RandomResizedCrop{Size: []int{24}},
		transforms.AutoAugment{Policy: transforms.PolicyImageNet},
		transforms.ToDtype{DType: weft.Float32, Scale: true},
	}
	x := weft.Arange(3*32*32).Mod(256).To(weft.Uint8).Reshape(3, 32, 32)
	y := train.Apply(x, weft.NewGenerator(1))
	fmt.Println(y.DType(), y.Shape())
	// Output: float32 [3 24 24]
}

func ExamplePerspective() {
	x := weft.Arange(0.0, 16).Reshape(1, 4, 4)
	corners := [4][2]float64{{0, 0}, {4, 0}, {4, 4}, {0, 4}}
	half := [4][2]float64{{0, 0}, {2, 0}, {2, 2}, {0, 2}}
	fmt.Println(transforms.Perspective(x, corners, half).At(0))
	// Output:
	// [[ 2.5  4.5  0.   0. ]
	//  [10.5 12.5  0.   0. ]
	//  [ 0.   0.   0.   0. ]
	//  [ 0.   0.   0.   0. ]]
}
