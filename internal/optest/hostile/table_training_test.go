package hostile

import (
	"image"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"

	"weft"
	"weft/data"
	"weft/nn"
	"weft/optim"
)

// The exports of packages optim and data, and the initialisers of nn, beside those that are in
// table_test.go.

var trainingFunctions = []row[any]{
	{"data.Collate[*weft.Tensor, int]", data.Collate[*weft.Tensor, int]},
	{"data.Concat[int]", data.Concat[int]},
	{"data.Examples", data.Examples},
	{"data.FromImage", data.FromImage},
	{"data.Lines", data.Lines},
	{"data.PictureFolder", data.PictureFolder},
	{"data.ReadCIFAR", data.ReadCIFAR},
	{"data.ReadCSV", data.ReadCSV},
	{"data.ReadIDX", data.ReadIDX},
	{"data.ReadIDXFile", data.ReadIDXFile},
	{"data.ReadWAV", data.ReadWAV},
	{"data.ToImage", data.ToImage},
	{"data.Items[int]", data.Items[int]},
	{"data.Map[int, int]", data.Map[int, int]},
	{"data.NewLoaderOf[*weft.Tensor, int]", data.NewLoaderOf[*weft.Tensor, int]},
	{"data.NewStreamLoader[*weft.Tensor, int]", data.NewStreamLoader[*weft.Tensor, int]},
	{"data.RandomSplit[int]", data.RandomSplit[int]},
	{"data.Shuffled[int]", data.Shuffled[int]},
	{"data.Subset[int]", data.Subset[int]},
	{"optim.NewAdadelta", optim.NewAdadelta},
	{"optim.NewAdafactor", optim.NewAdafactor},
	{"optim.NewAdamax", optim.NewAdamax},
	{"optim.NewAverage", optim.NewAverage},
	{"optim.NewScaler", optim.NewScaler},
	{"optim.NewASGD", optim.NewASGD},
	{"optim.NewLAMB", optim.NewLAMB},
	{"optim.NewLion", optim.NewLion},
	{"optim.NewMuon", optim.NewMuon},
	{"optim.NewRAdam", optim.NewRAdam},
	{"optim.NewRprop", optim.NewRprop},
	{"nn.Dirac", nn.Dirac},
	{"nn.Eye", nn.Eye},
	{"nn.GainLeakyRelu", nn.GainLeakyRelu},
	{"nn.Kaiming", nn.Kaiming},
	{"nn.Sparse", nn.Sparse},
	{"nn.Children", nn.Children},
	{"nn.Modules", nn.Modules},
	{"nn.ParametersToVector", nn.ParametersToVector},
	{"nn.VectorToParameters", nn.VectorToParameters},
	{"nn.WithState[*nn.Linear]", nn.WithState[*nn.Linear]},
}

var trainingTypes = []row[reflect.Type]{
	{"data.BatchSampler", reflect.TypeFor[data.BatchSampler]()},
	{"data.BucketSampler", reflect.TypeFor[data.BucketSampler]()},
	{"data.CSVOpts", reflect.TypeFor[data.CSVOpts]()},
	{"data.Column", reflect.TypeFor[data.Column]()},
	{"data.Picture", reflect.TypeFor[data.Picture]()},
	{"data.PictureOpts", reflect.TypeFor[data.PictureOpts]()},
	{"data.DatasetOf", reflect.TypeFor[data.DatasetOf[int]]()},
	{"data.DistributedSampler", reflect.TypeFor[data.DistributedSampler]()},
	{"data.Example", reflect.TypeFor[data.Example]()},
	{"data.ItemError", reflect.TypeFor[data.ItemError]()},
	{"data.LoaderOf", reflect.TypeFor[data.LoaderOf[*weft.Tensor]]()},
	{"data.Sampler", reflect.TypeFor[data.Sampler]()},
	{"data.SubsetSampler", reflect.TypeFor[data.SubsetSampler]()},
	{"data.WeightedSampler", reflect.TypeFor[data.WeightedSampler]()},
	{"optim.Adadelta", reflect.TypeFor[optim.Adadelta]()},
	{"optim.AdadeltaOpts", reflect.TypeFor[optim.AdadeltaOpts]()},
	{"optim.Adafactor", reflect.TypeFor[optim.Adafactor]()},
	{"optim.AdafactorOpts", reflect.TypeFor[optim.AdafactorOpts]()},
	{"optim.Adamax", reflect.TypeFor[optim.Adamax]()},
	{"optim.AdamaxOpts", reflect.TypeFor[optim.AdamaxOpts]()},
	{"optim.ASGD", reflect.TypeFor[optim.ASGD]()},
	{"optim.ASGDOpts", reflect.TypeFor[optim.ASGDOpts]()},
	{"optim.LAMB", reflect.TypeFor[optim.LAMB]()},
	{"optim.LAMBOpts", reflect.TypeFor[optim.LAMBOpts]()},
	{"optim.Lion", reflect.TypeFor[optim.Lion]()},
	{"optim.LionOpts", reflect.TypeFor[optim.LionOpts]()},
	{"optim.Muon", reflect.TypeFor[optim.Muon]()},
	{"optim.MuonOpts", reflect.TypeFor[optim.MuonOpts]()},
	{"optim.RAdam", reflect.TypeFor[optim.RAdam]()},
	{"optim.RAdamOpts", reflect.TypeFor[optim.RAdamOpts]()},
	{"optim.Rprop", reflect.TypeFor[optim.Rprop]()},
	{"optim.RpropOpts", reflect.TypeFor[optim.RpropOpts]()},
	{"optim.Average", reflect.TypeFor[optim.Average]()},
	{"optim.Scaler", reflect.TypeFor[optim.Scaler]()},
	{"optim.ScalerOpts", reflect.TypeFor[optim.ScalerOpts]()},
	{"optim.AverageOpts", reflect.TypeFor[optim.AverageOpts]()},
	{"optim.Chain", reflect.TypeFor[optim.Chain]()},
	{"optim.ClipNormOpts", reflect.TypeFor[optim.ClipNormOpts]()},
	{"optim.Constant", reflect.TypeFor[optim.Constant]()},
	{"optim.Cyclic", reflect.TypeFor[optim.Cyclic]()},
	{"optim.Multiplicative", reflect.TypeFor[optim.Multiplicative]()},
	{"optim.MuonRate", reflect.TypeFor[optim.MuonRate]()},
	{"optim.Polynomial", reflect.TypeFor[optim.Polynomial]()},
	{"optim.WarmCosine", reflect.TypeFor[optim.WarmCosine]()},
	{"optim.WarmRestarts", reflect.TypeFor[optim.WarmRestarts]()},
	{"nn.KaimingOpts", reflect.TypeFor[nn.KaimingOpts]()},
}

// oddItems is a dataset of numbers that breaks the rules.
type oddItems struct {
	n   int
	err error
}

func (d oddItems) Len() int               { return d.n }
func (d oddItems) Get(i int) (int, error) { return i, d.err }

// oddSampler chooses what it likes.
type oddSampler struct {
	n     int
	order []int64
}

func (s oddSampler) Len() int              { return s.n }
func (s oddSampler) Order(int) []int64     { return slices.Clone(s.order) }
func (s oddSampler) Batches(int) [][]int64 { return [][]int64{slices.Clone(s.order), nil} }

func (g *gen) sampler() oddSampler {
	return oddSampler{pick(g, -1, 0, 1, 3), pick(g, nil, []int64{0}, []int64{2, -1, 1 << 40})}
}

func init() {
	makers[typ[data.DatasetOf[int]]()] = func(g *gen) any {
		return pick[data.DatasetOf[int]](g, nil, data.Items([]int{1, 2, 3}), data.Items([]int{}), oddItems{pick(g, -1, 0, 2, 5), pick(g, nil, errThrown)})
	}
	makers[typ[data.DatasetOf[*weft.Tensor]]()] = func(g *gen) any {
		return pick[data.DatasetOf[*weft.Tensor]](g, nil, data.Items([]*weft.Tensor{g.tensor(), nil}))
	}
	makers[typ[func(int) (int, error)]()] = func(g *gen) any {
		return pick(g, nil, func(x int) (int, error) { return x, nil }, func(int) (int, error) { return 0, errThrown }, func(int) (int, error) { panic(errThrown) })
	}
	makers[typ[func([]int) (*weft.Tensor, error)]()] = func(g *gen) any {
		return pick(g, nil, data.Collate[*weft.Tensor, int], func([]int) (*weft.Tensor, error) { return nil, errThrown })
	}
	makers[typ[func(int) iter.Seq2[int, error]]()] = func(g *gen) any {
		n := g.r.IntN(5)
		return pick(g, nil, func(int) iter.Seq2[int, error] {
			return func(yield func(int, error) bool) {
				for i := range n {
					if !yield(i, pick(g, nil, nil, errThrown)) {
						return
					}
				}
			}
		})
	}
	makers[typ[*data.LoaderOf[*weft.Tensor]]()] = func(g *gen) any {
		l, _ := try(func() *data.LoaderOf[*weft.Tensor] {
			return data.NewLoaderOf(data.Items([]int{1, 2, 3}), data.Collate[*weft.Tensor, int], data.LoaderOpts{Batch: new(1 + g.r.IntN(3)), Workers: g.r.IntN(3)})
		})
		return pick(g, l, l, nil, &data.LoaderOf[*weft.Tensor]{})
	}
	makers[typ[func() (io.ReadCloser, error)]()] = func(g *gen) any {
		text := g.text()
		return pick(g, nil, func() (io.ReadCloser, error) { return nil, errThrown }, func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil })
	}
	makers[typ[image.Image]()] = func(g *gen) any {
		return pick[image.Image](g, nil, image.NewGray(image.Rect(1, 1, 1+g.r.IntN(4), 3)), image.NewRGBA(image.Rect(0, 0, 2, 2)))
	}
	makers[typ[data.Sampler]()] = func(g *gen) any { return pick[data.Sampler](g, nil, nil, g.sampler()) }
	makers[typ[data.BatchSampler]()] = func(g *gen) any { return pick[data.BatchSampler](g, nil, nil, nil, g.sampler()) }
	makers[typ[optim.Multiplicative]()] = func(g *gen) any {
		return pick[optim.Multiplicative](g, nil, func(n int) float64 { return 1 / float64(n) }, func(int) float64 { panic(errThrown) })
	}
	makers[typ[*optim.Scaler]()] = func(g *gen) any { return optim.NewScaler() }
	makers[typ[*optim.Average]()] = func(g *gen) any {
		m := nn.NewLinear(2, 2)
		a, _ := try(func() *optim.Average { return optim.NewAverage(nn.Params(nn.Copy(m)), nn.Params(m)) })
		return pick(g, a, a, nil, &optim.Average{})
	}
}
