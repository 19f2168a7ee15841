package program

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/examples/internal/show"
	"weft/nn"
	"weft/optim"
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

// A trainer is a run: what a checkpoint holds, and the data.
type trainer struct {
	dev          weft.Device
	epochs       int
	limit        int // steps after which training stops, 0 for none
	seed         uint64
	net          *LeNet
	opt          *optim.Adam
	loader       *data.Loader
	curve        curve
	testX, testY *weft.Tensor
}

// newTrainer returns a run at its beginning. The network and the optimizer's state are on dev; the
// data stays on the host, and each batch moves there.
func newTrainer(dev weft.Device, epochs int, seed uint64, train, test Set) *trainer {
	t := &trainer{dev: dev, epochs: epochs, seed: seed}
	t.net = nn.On(newLeNet(weft.NewGenerator(seed)), dev)
	t.opt = optim.NewAdam(nn.Params(t.net), optim.AdamOpts{LR: new(firstRate)})
	x, y := tensors(train)
	t.loader = data.NewLoader(data.Tensors(x, y), data.LoaderOpts{Batch: new(batchSize), Shuffle: true, Seed: seed, DropLast: true})
	t.testX, t.testY = tensors(test)
	return t
}

// steps is the number of steps in an epoch.
func (t *trainer) steps() int { return t.loader.Len() }

// A curve is what digits.png draws of the run so far. It is a part of the
// checkpoint, and its length the number of steps taken.
type curve struct {
	losses []float64
	epochs []show.Evaluation
}

// State implements checkpoint.Part.
func (c *curve) State() map[string]*weft.Tensor {
	e := make([]float64, 0, 3*len(c.epochs))
	for _, s := range c.epochs {
		e = append(e, float64(s.Step), s.Loss, s.Accuracy)
	}
	return map[string]*weft.Tensor{"losses": weft.FromSlice(c.losses), "epochs": weft.FromSlice(e)}
}

// LoadState implements checkpoint.Part.
func (c *curve) LoadState(state map[string]*weft.Tensor) error {
	l, e := state["losses"], state["epochs"]
	if l == nil || e == nil || l.DType() != weft.Float64 || e.DType() != weft.Float64 || e.Size()%3 != 0 {
		return errors.New("the losses are missing")
	}
	c.losses, c.epochs = weft.Data[float64](l), nil
	for s := weft.Data[float64](e); len(s) > 0; s = s[3:] {
		c.epochs = append(c.epochs, show.Evaluation{Step: int(s[0]), Loss: s[1], Accuracy: s[2]})
	}
	return nil
}

func (t *trainer) parts() checkpoint.Parts {
	return checkpoint.Parts{"model": checkpoint.Module(t.net), "optim": t.opt, "loader": t.loader, "curve": &t.curve}
}

// save writes the run to a file, which is replaced whole or not at all.
func (t *trainer) save(path string) error {
	return checkpoint.Save(path, t.parts(), map[string]string{"epochs": strconv.Itoa(t.epochs), "seed": strconv.FormatUint(t.seed, 10)})
}

// load goes on from a file that save wrote in a run of as many epochs and the
// same seed.
func (t *trainer) load(path string) error {
	meta, err := checkpoint.Load(path, t.parts())
	if err != nil {
		return err
	}
	if meta["epochs"] != strconv.Itoa(t.epochs) || meta["seed"] != strconv.FormatUint(t.seed, 10) {
		return fmt.Errorf("%s is of a run with -epochs %s -seed %s: give the same", path, meta["epochs"], meta["seed"])
	}
	return nil
}

// step trains on one batch and returns its loss and how many pictures the
// network got right.
func (t *trainer) step(x, y *weft.Tensor) (loss float64, right int) {
	scope := weft.NewScope()
	defer scope.Close()
	t.opt.SetLR(firstRate * (1 - float64(len(t.curve.losses))/float64(t.epochs*t.steps())))
	x, y = scope.Track(x.On(t.dev)), scope.Track(y.On(t.dev))
	logits := t.net.Forward(x)
	l := nn.CrossEntropy(logits, y)
	t.opt.ZeroGrad()
	l.Backward()
	t.opt.Step()
	hits := logits.ArgMax(1).Eq(y).Sum()
	return l.Item(), int(hits.ItemInt())
}

// stopped reports whether the limit of steps is reached.
func (t *trainer) stopped() bool { return t.limit > 0 && len(t.curve.losses) >= t.limit }

// train runs the epochs that are left, or up to the limit of steps. It returns ctx's error between
// two steps.
func (t *trainer) train(ctx context.Context, p *show.Progress) error {
	for t.loader.Epoch() < t.epochs && !t.stopped() {
		p.StartEpoch(t.loader.Epoch()+1, t.loader.Next())
		for b, err := range t.loader.Batches(ctx) {
			if err != nil {
				return err
			}
			loss, right := t.step(b.X, b.Y)
			t.curve.losses = append(t.curve.losses, loss)
			p.Step(loss, right, batchSize)
			if t.stopped() {
				break
			}
		}
		s := t.evaluate()
		t.curve.epochs = append(t.curve.epochs, s)
		p.EndEpoch(s.Accuracy)
	}
	return nil
}

// logits runs the network over the test set in pieces.
func (t *trainer) logits(f func(first int, logits *weft.Tensor)) {
	const piece = 500
	for i := 0; i < t.testX.Dim(0); i += piece {
		scope := weft.NewScope()
		x := scope.Track(t.testX.Slice(weft.Range(i, i+piece)).On(t.dev))
		weft.WithoutGrad(func() { f(i, t.net.Forward(x)) })
		scope.Close()
	}
}

func (t *trainer) evaluate() show.Evaluation {
	s := show.Evaluation{Step: len(t.curve.losses)}
	total := float64(t.testX.Dim(0))
	t.logits(func(first int, logits *weft.Tensor) {
		n := logits.Dim(0)
		y := t.testY.Slice(weft.Range(first, first+n)).On(t.dev)
		s.Loss += nn.CrossEntropy(logits, y).Item() * float64(n) / total
		s.Accuracy += float64(logits.ArgMax(1).Eq(y).Sum().ItemInt()) / total
	})
	return s
}

// predict returns the digit that the network sees in each test picture.
func (t *trainer) predict() []uint8 {
	out := make([]uint8, 0, t.testX.Dim(0))
	t.logits(func(_ int, logits *weft.Tensor) {
		out = append(out, weft.Data[uint8](logits.ArgMax(1).To(weft.Uint8))...)
	})
	return out
}

func (t *trainer) digest() string { return weft.DigestNamed(nn.Params(t.net)) }
