package cuda

import (
	"iter"
	"testing"

	"weft"
	"weft/internal/device"
	"weft/nn"
	"weft/optim"
)

// networks are small, of all kinds of layers, with the shape of a batch and the number of classes; words
// are what an embedding takes.
func networks() map[string]struct {
	make  func(g *weft.Generator) nn.Layer
	batch []int
	words int
} {
	last := nn.Func(func(x *weft.Tensor) *weft.Tensor { return x.Slice(weft.All, weft.Index(-1)) })
	return map[string]struct {
		make  func(g *weft.Generator) nn.Layer
		batch []int
		words int
	}{
		"conv": {func(g *weft.Generator) nn.Layer {
			o := nn.Opts{Generator: g}
			return nn.Sequential{
				nn.NewConv2d(4, 8, 3, nn.Conv2dOpts{Opts: o, Padding: 1}), nn.NewBatchNorm2d(8), nn.Relu{}, nn.MaxPool2d{Window: [2]int{2, 2}},
				nn.NewConv2d(8, 12, 3, nn.Conv2dOpts{Opts: o, Stride: new(2), Groups: new(4)}), nn.NewGroupNorm(3, 12), nn.Tanh{},
				nn.Flatten{}, nn.NewLinear(12*3*3, 5, o),
			}
		}, []int{6, 4, 15, 14}, 0},
		"lstm": {func(g *weft.Generator) nn.Layer {
			o := nn.Opts{Generator: g}
			return nn.Sequential{nn.NewLSTM(7, 9, nn.RNNOpts{Generator: g, BatchFirst: true, Layers: new(2)}), last, nn.NewLinear(9, 5, o)}
		}, []int{4, 6, 7}, 0},
		"attention": {func(g *weft.Generator) nn.Layer {
			o := nn.Opts{Generator: g}
			return nn.Sequential{
				nn.NewEmbedding(30, 16, nn.EmbeddingOpts{Generator: g}), nn.NewLayerNorm([]int{16}),
				nn.NewMultiheadAttention(16, 2, nn.MultiheadAttentionOpts{Generator: g, BatchFirst: true}), nn.NewRMSNorm([]int{16}), nn.Flatten{}, nn.NewLinear(16*9, 5, o),
			}
		}, []int{4, 9}, 30},
	}
}

type stepper interface {
	Step()
	ZeroGrad()
}

// TestTrainingsOnGPU ends in the weights of the CPU, with each optimizer, eagerly and compiled.
func TestTrainingsOnGPU(t *testing.T) {
	_, kind := onGPU(t)
	dev, err := weft.DeviceByName(kind)
	if err != nil {
		t.Fatal(err)
	}
	optimizers := map[string]func(p iter.Seq2[string, *weft.Tensor]) stepper{
		"SGD":     func(p iter.Seq2[string, *weft.Tensor]) stepper { return optim.NewSGD(p, optim.SGDOpts{Momentum: 0.9}) },
		"Adam":    func(p iter.Seq2[string, *weft.Tensor]) stepper { return optim.NewAdam(p) },
		"RMSprop": func(p iter.Seq2[string, *weft.Tensor]) stepper { return optim.NewRMSprop(p) },
	}
	d, err := device.Open(kind, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { t.Logf("%d routines ran on the host", d.Counters().Fallbacks.Load()) }()
	const steps = 4
	for name, n := range networks() {
		for by, opt := range optimizers {
			train := func(dev weft.Device, compiled bool) string {
				g := weft.NewGenerator(3)
				net := nn.On(n.make(g), dev)
				o := opt(nn.Params(net))
				step := func(x, y *weft.Tensor) *weft.Tensor {
					o.ZeroGrad()
					loss := nn.CrossEntropy(net.Forward(x), y)
					loss.Backward()
					o.Step()
					return loss
				}
				if compiled {
					step = weft.Compile(step).Func()
				}
				for range steps {
					x := g.Randn(n.batch...)
					if n.words > 0 {
						x = g.RandintOf(weft.Int64, 0, int64(n.words), n.batch...)
					}
					step(x.On(dev), g.RandintOf(weft.Int64, 0, 5, n.batch[0]).On(dev))
				}
				return weft.DigestNamed(nn.Params(net))
			}
			for _, compiled := range []bool{false, true} {
				if got, want := train(dev, compiled), train(weft.CPU, compiled); got != want {
					t.Errorf("%s by %s, compiled %v: other weights than on the CPU", name, by, compiled)
				}
			}
		}
	}
}
