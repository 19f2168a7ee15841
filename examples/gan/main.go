// Gan trains two networks against each other: one makes points from noise, the other tells
// them from points of eight Gaussians on a ring (Goodfellow et al., Generative adversarial
// nets, 2014).
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"

	"weft"
	"weft/checkpoint"
	"weft/data"
	"weft/nn"
	"weft/optim"
	"weft/train"
)

const (
	modes, spread, noise = 8, 0.1, 4
	batch, stepsAnEpoch  = 128, 250
)

// Real returns n points [n, 2] of the ring, whose radius is 1.
func Real(n int, g *weft.Generator) *weft.Tensor {
	angle := g.Randint(0, modes, n).To(weft.Float32).Mul(2 * math.Pi / modes)
	ring := weft.Stack([]*weft.Tensor{angle.Cos(), angle.Sin()}, 1)
	return ring.Add(g.Normal(0, spread, n, 2))
}

// A Game has the two players, each with an optimizer of its own.
type Game struct {
	G, D       nn.Sequential
	optG, optD *optim.Adam
	rng        *weft.Generator
}

// NewGame returns a game on a device.
func NewGame(seed uint64, dev weft.Device) *Game {
	rng := weft.NewGenerator(seed)
	net := func(in, out int) nn.Sequential {
		o := nn.Opts{Weight: nn.KaimingNormal, Generator: rng}
		return nn.Sequential{nn.NewLinear(in, 32, o), nn.LeakyRelu{Slope: new(0.2)},
			nn.NewLinear(32, 32, o), nn.LeakyRelu{Slope: new(0.2)}, nn.NewLinear(32, out, o)}
	}
	p := &Game{G: nn.On(net(noise, 2), dev), D: nn.On(net(2, 1), dev), rng: rng.On(dev)}
	p.optG = optim.NewAdam(nn.Params(p.G), optim.AdamOpts{LR: new(2e-3), Beta1: new(0.5)})
	p.optD = optim.NewAdam(nn.Params(p.D), optim.AdamOpts{LR: new(2e-3), Beta1: new(0.5)})
	return p
}

// Step trains both on real points [n, 2]. A Detach keeps the loss of D out of G.
func (p *Game) Step(b data.Batch) train.Outcome {
	n := b.X.Dim(0)
	fake := p.G.Forward(p.rng.Randn(n, noise))
	ones, zeros := b.X.Device().Ones(n, 1), b.X.Device().Zeros(n, 1)

	p.optD.ZeroGrad()
	errD := nn.BCEWithLogits(p.D.Forward(b.X), ones).Add(nn.BCEWithLogits(p.D.Forward(fake.Detach()), zeros))
	errD.Backward()
	p.optD.Step()

	p.optG.ZeroGrad()
	errG := nn.BCEWithLogits(p.D.Forward(fake), ones)
	errG.Backward()
	p.optG.Step()
	return train.Outcome{Loss: errD, Values: map[string]*weft.Tensor{"loss of G": errG}}
}

// Train takes steps, stepsAnEpoch to an epoch.
func (p *Game) Train(ctx context.Context, epochs int, o train.Opts) (*train.History, error) {
	o.Parts = checkpoint.Parts{"optD": p.optD, "optG": p.optG, "noise": checkpoint.Generator(p.rng)}
	loader := data.NewLoader(data.Tensors(Real(stepsAnEpoch*batch, p.rng), nil), data.LoaderOpts{Batch: new(batch), Shuffle: true})
	return train.NewOf(p, p.Step, nil, o).Fit(ctx, epochs, loader, nil)
}

// Fake returns n points [n, 2] that G makes.
func (p *Game) Fake(n int) (fake *weft.Tensor) {
	weft.WithoutGrad(func() { fake = p.G.Forward(p.rng.Randn(n, noise)) })
	return fake
}

// Coverage returns the share of points closer than 4 deviations to a Gaussian's centre, and
// the share that each Gaussian has of all.
func Coverage(points *weft.Tensor) (near float64, shares [modes]float64) {
	xy := weft.Data[float32](points)
	n := float64(points.Dim(0))
	for i := 0; i < len(xy); i += 2 {
		x, y := float64(xy[i]), float64(xy[i+1])
		k := int(math.Round(math.Atan2(y, x)*modes/(2*math.Pi))+modes) % modes
		a := 2 * math.Pi * float64(k) / modes
		if math.Hypot(x-math.Cos(a), y-math.Sin(a)) < 4*spread {
			near += 1 / n
			shares[k] += 1 / n
		}
	}
	return near, shares
}

func main() {
	epochs := flag.Int("epochs", 12, "times 250 steps of training")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	if err := run(*epochs, *device); err != nil {
		fmt.Fprintln(os.Stderr, "gan:", err)
		os.Exit(1)
	}
}

func run(epochs int, device string) error {
	dev, err := weft.DeviceByName(device)
	if err != nil {
		return err
	}
	p := NewGame(1, dev)
	tell := train.Callback{Epoch: func(e train.Epoch) error {
		near, _ := Coverage(p.Fake(2000))
		fmt.Printf("step %4d  loss of D %.3f, of G %.3f  on the ring %.1f %%\n", e.Step, e.Values.Get("loss"), e.Values.Get("loss of G"), 100*near)
		return nil
	}}
	if _, err := p.Train(context.Background(), epochs, train.Opts{Callbacks: []train.Callback{tell}}); err != nil {
		return err
	}
	near, shares := Coverage(p.Fake(10000))
	fmt.Printf("on the ring %.1f %%, of each Gaussian %.2f\n", 100*near, shares)
	return nil
}
