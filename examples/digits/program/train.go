package program

import (
	"fmt"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

const (
	batchSize = 64
	firstRate = 0.003 // Adam's, falling evenly to 0 over the run
	greyMean  = 45
	greyScale = 51
)

// LeNet is the network: any struct is a module.
type LeNet struct {
	Conv1, Conv2  *nn.Conv2d
	FC1, FC2, FC3 *nn.Linear
}

func newLeNet(g *weft.Generator) *LeNet {
	o := nn.Opts{Generator: g}
	return &LeNet{
		Conv1: nn.NewConv2d(1, 6, 5, nn.Conv2dOpts{Opts: o}), Conv2: nn.NewConv2d(6, 16, 5, nn.Conv2dOpts{Opts: o}),
		FC1: nn.NewLinear(256, 120, o), FC2: nn.NewLinear(120, 84, o), FC3: nn.NewLinear(84, 10, o),
	}
}

// Forward maps pictures [N 1 28 28] to logits [N 10].
func (n *LeNet) Forward(x *weft.Tensor) *weft.Tensor {
	half := weft.PoolOpts{Window: [2]int{2, 2}}
	x = n.Conv1.Forward(x).Relu().MaxPool2d(half)
	x = n.Conv2.Forward(x).Relu().MaxPool2d(half).Flatten(1)
	x = n.FC1.Forward(x).Relu()
	x = n.FC2.Forward(x).Relu()
	return n.FC3.Forward(x)
}

// tensors returns a set as pictures [N 1 28 28] of about unit variance and labels
// [N].
func tensors(s Set) (x, y *weft.Tensor) {
	labels := make([]int64, s.Len())
	for i, l := range s.Labels {
		labels[i] = int64(l)
	}
	x = weft.FromSlice(s.Images, s.Len(), 1, side, side).To(weft.Float32)
	return x.SubAssign(greyMean).DivAssign(greyScale), weft.FromSlice(labels)
}

// A run is a network, its trainer and the data.
type run struct {
	net          *LeNet
	loader, test *data.Loader
	*train.Trainer
}

// newRun returns a run at its beginning. The network and the optimizer's state are on dev; the data stays on
// the host, and each batch moves there.
func newRun(dev weft.Device, epochs, batch int, seed uint64, training, test Set, o train.Opts) *run {
	r := &run{net: nn.On(newLeNet(weft.NewGenerator(seed)), dev)}
	r.loader = data.NewLoader(data.Tensors(tensors(training)), data.LoaderOpts{Batch: new(batch), Shuffle: true, Seed: seed, DropLast: true})
	r.test = data.NewLoader(data.Tensors(tensors(test)), data.LoaderOpts{Batch: new(500)})
	opt := optim.NewAdam(nn.Params(r.net), optim.AdamOpts{LR: new(firstRate)})
	o.Parts = checkpoint.Parts{"settings": settings{epochs, seed}}
	o.Metrics = []*train.Metric{train.Accuracy()}
	o.Schedule = optim.Polynomial{Steps: epochs * r.loader.Len()}
	r.Trainer = train.New(r.net, train.Loss(nn.CrossEntropy), opt, o)
	return r
}

func (r *run) digest() string { return weft.DigestNamed(nn.Params(r.net)) }

// settings are what a resumed run must have as it had it. They are a part of its checkpoint.
type settings struct {
	epochs int
	seed   uint64
}

// State implements checkpoint.Part.
func (s settings) State() map[string]*weft.Tensor {
	return map[string]*weft.Tensor{"epochs": weft.Scalar(s.epochs), "seed": weft.Scalar(int64(s.seed))}
}

// LoadState implements checkpoint.Part.
func (s settings) LoadState(state map[string]*weft.Tensor) error {
	for name, own := range s.State() {
		if t := state[name]; t == nil || t.ItemInt() != own.ItemInt() {
			return fmt.Errorf("the run has another -%s, %v: give the same", name, t)
		}
	}
	return nil
}
