// Package transforms prepares and augments pictures and sequences for training, as
// torchvision.transforms.v2 does.
//
//	train := transforms.Compose{
//		transforms.RandomCrop{Size: []int{32}, Padding: []int{4}},
//		transforms.RandomHorizontalFlip{},
//		transforms.ToDtype{DType: weft.Float32, Scale: true},
//		transforms.Normalize{Mean: mean, Std: std},
//	}
//	pictures := data.MapRandom(files, seed, func(p data.Picture, g *weft.Generator) (data.Picture, error) {
//		p.X = train.Apply(p.X, g)
//		return p, nil
//	})
//
// A [Transform] draws with the generator that it gets. [weft/data.MapRandom] gives each item of each epoch
// its own, so batches are the same for any number of workers. Functions such as [AdjustHue] and [Affine] do
// what transforms do, with numbers that are given.
//
// Results are torchvision's for the same numbers, with its rounding of uint8. The random numbers are
// weft's own. Gradients flow through transforms, and they work on tensors of any device and on batches,
// whose pictures are then transformed alike.
package transforms
