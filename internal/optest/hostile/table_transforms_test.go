package hostile

import (
	"io"
	"iter"
	"reflect"
	"strings"

	"weft"
	"weft/data"
	"weft/data/transforms"
	"weft/nn"
)

// The exports of package data/transforms, and of package data what prepares items.

var transformFunctions = []row[any]{
	{"data.MapRandom[int, int]", data.MapRandom[int, int]},
	{"data.MapStream[int, int]", data.MapStream[int, int]},
	{"data.PadSequence", data.PadSequence},
	{"data.ReadImage", data.ReadImage},
	{"data.Shards", data.Shards},
	{"data/transforms.AdjustBrightness", transforms.AdjustBrightness},
	{"data/transforms.AdjustContrast", transforms.AdjustContrast},
	{"data/transforms.AdjustGamma", transforms.AdjustGamma},
	{"data/transforms.AdjustHue", transforms.AdjustHue},
	{"data/transforms.AdjustSaturation", transforms.AdjustSaturation},
	{"data/transforms.AdjustSharpness", transforms.AdjustSharpness},
	{"data/transforms.Affine", transforms.Affine},
	{"data/transforms.AutoContrast", transforms.AutoContrast},
	{"data/transforms.Crop", transforms.Crop},
	{"data/transforms.Elastic", transforms.Elastic},
	{"data/transforms.Equalize", transforms.Equalize},
	{"data/transforms.Invert", transforms.Invert},
	{"data/transforms.Perspective", transforms.Perspective},
	{"data/transforms.Posterize", transforms.Posterize},
	{"data/transforms.Rotate", transforms.Rotate},
	{"data/transforms.Solarize", transforms.Solarize},
}

var transformTypes = []row[reflect.Type]{
	{"data.Collater", reflect.TypeFor[data.Collater]()},
	{"data.EpochDataset", reflect.TypeFor[data.EpochDataset[int]]()},
	{"data.Padded", reflect.TypeFor[data.Padded]()},
	{"data.Sample", reflect.TypeFor[data.Sample]()},
	{"data.ShardsOpts", reflect.TypeFor[data.ShardsOpts]()},
	{"data/transforms.AffineOpts", reflect.TypeFor[transforms.AffineOpts]()},
	{"data/transforms.AugMix", reflect.TypeFor[transforms.AugMix]()},
	{"data/transforms.AutoAugment", reflect.TypeFor[transforms.AutoAugment]()},
	{"data/transforms.AutoAugmentPolicy", reflect.TypeFor[transforms.AutoAugmentPolicy]()},
	{"data/transforms.CenterCrop", reflect.TypeFor[transforms.CenterCrop]()},
	{"data/transforms.ColorJitter", reflect.TypeFor[transforms.ColorJitter]()},
	{"data/transforms.Compose", reflect.TypeFor[transforms.Compose]()},
	{"data/transforms.CutMix", reflect.TypeFor[transforms.CutMix]()},
	{"data/transforms.ElasticTransform", reflect.TypeFor[transforms.ElasticTransform]()},
	{"data/transforms.GaussianBlur", reflect.TypeFor[transforms.GaussianBlur]()},
	{"data/transforms.Grayscale", reflect.TypeFor[transforms.Grayscale]()},
	{"data/transforms.Lambda", reflect.TypeFor[transforms.Lambda]()},
	{"data/transforms.MixUp", reflect.TypeFor[transforms.MixUp]()},
	{"data/transforms.Normalize", reflect.TypeFor[transforms.Normalize]()},
	{"data/transforms.Pad", reflect.TypeFor[transforms.Pad]()},
	{"data/transforms.PadTo", reflect.TypeFor[transforms.PadTo]()},
	{"data/transforms.RandAugment", reflect.TypeFor[transforms.RandAugment]()},
	{"data/transforms.RandomAffine", reflect.TypeFor[transforms.RandomAffine]()},
	{"data/transforms.RandomApply", reflect.TypeFor[transforms.RandomApply]()},
	{"data/transforms.RandomChoice", reflect.TypeFor[transforms.RandomChoice]()},
	{"data/transforms.RandomCrop", reflect.TypeFor[transforms.RandomCrop]()},
	{"data/transforms.RandomErasing", reflect.TypeFor[transforms.RandomErasing]()},
	{"data/transforms.RandomGrayscale", reflect.TypeFor[transforms.RandomGrayscale]()},
	{"data/transforms.RandomHorizontalFlip", reflect.TypeFor[transforms.RandomHorizontalFlip]()},
	{"data/transforms.RandomOrder", reflect.TypeFor[transforms.RandomOrder]()},
	{"data/transforms.RandomPerspective", reflect.TypeFor[transforms.RandomPerspective]()},
	{"data/transforms.RandomResizedCrop", reflect.TypeFor[transforms.RandomResizedCrop]()},
	{"data/transforms.RandomRotation", reflect.TypeFor[transforms.RandomRotation]()},
	{"data/transforms.RandomVerticalFlip", reflect.TypeFor[transforms.RandomVerticalFlip]()},
	{"data/transforms.Resize", reflect.TypeFor[transforms.Resize]()},
	{"data/transforms.RotateOpts", reflect.TypeFor[transforms.RotateOpts]()},
	{"data/transforms.ToDtype", reflect.TypeFor[transforms.ToDtype]()},
	{"data/transforms.Transform", reflect.TypeFor[transforms.Transform]()},
	{"data/transforms.TrivialAugmentWide", reflect.TypeFor[transforms.TrivialAugmentWide]()},
	{"data/transforms.Truncate", reflect.TypeFor[transforms.Truncate]()},
	{"data/transforms.WarpOpts", reflect.TypeFor[transforms.WarpOpts]()},
}

func init() {
	makers[typ[data.EpochDataset[int]]()] = func(g *gen) any {
		d, _ := data.MapRandom(data.Items([]int{1, 2, 3}), 1, func(x int, g *weft.Generator) (int, error) { return x, nil }).(data.EpochDataset[int])
		return pick(g, nil, d, d)
	}
	makers[typ[func(*weft.Tensor) nn.Layer]()] = func(g *gen) any {
		return pick(g, nil, func(x *weft.Tensor) nn.Layer { return nn.NewLinear(x.Dim(-1), 2) }, func(*weft.Tensor) nn.Layer { return nil },
			func(*weft.Tensor) nn.Layer { panic(errThrown) })
	}
	makers[typ[data.Collater]()] = func(g *gen) any { return pick[data.Collater](g, nil, &data.Padded{}) }
	makers[typ[func(int, *weft.Generator) (int, error)]()] = func(g *gen) any {
		return pick(g, nil, func(x int, g *weft.Generator) (int, error) { return x, nil }, func(int, *weft.Generator) (int, error) { return 0, errThrown },
			func(int, *weft.Generator) (int, error) { panic(errThrown) })
	}
	makers[typ[func(*weft.Tensor, *weft.Generator) *weft.Tensor]()] = func(g *gen) any { return (func(*weft.Tensor, *weft.Generator) *weft.Tensor)(g.lambda()) }
	makers[typ[weft.SinkFunc]()] = func(g *gen) any {
		return pick[weft.SinkFunc](g, nil, func(int, []byte) error { return nil }, func(int, []byte) error { return errThrown })
	}
	makers[typ[func(_, _, _, _ int, _ []byte) error]()] = func(g *gen) any {
		return pick(g, nil, func(_, _, _, _ int, _ []byte) error { return nil }, func(_, _, _, _ int, _ []byte) error { return errThrown })
	}
	makers[typ[func(string) (io.ReadCloser, error)]()] = func(g *gen) any {
		text := g.text()
		return pick(g, nil, func(string) (io.ReadCloser, error) { return nil, errThrown }, func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	}
	makers[typ[transforms.Lambda]()] = func(g *gen) any { return g.lambda() }
	makers[typ[transforms.Transform]()] = func(g *gen) any {
		return pick[transforms.Transform](g, nil, transforms.RandomVerticalFlip{}, transforms.Compose{nil}, transforms.CenterCrop{Size: []int{2}}, g.lambda())
	}
	makers[typ[func(int) iter.Seq2[data.Sample, error]]()] = func(g *gen) any { return data.Shards([]string{g.text()}) }
}

func (g *gen) lambda() transforms.Lambda {
	return pick(g, nil, func(x *weft.Tensor, g *weft.Generator) *weft.Tensor { return x }, func(*weft.Tensor, *weft.Generator) *weft.Tensor { return nil },
		func(*weft.Tensor, *weft.Generator) *weft.Tensor { panic(errThrown) })
}
