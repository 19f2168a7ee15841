// Sequence gives two recurrent networks, an LSTM and a GRU, a task that needs memory, the
// adding problem (Hochreiter and Schmidhuber, 1997): of a sequence of random numbers two are
// marked, and their sum is asked for at the end.
package main

import (
	"flag"
	"fmt"
	"os"

	"weft"
	"weft/nn"
	"weft/optim"
)

const hidden, batch = 32, 64

// Sequences returns n sequences [steps, n, 2] of numbers between 0 and 1 and marks, one in
// each half, and the sums [n, 1] of the two marked numbers.
func Sequences(steps, n int, g *weft.Generator) (x, y *weft.Tensor) {
	numbers := g.Rand(steps, n)
	marks := weft.ZerosLike(numbers)
	half := int64(steps / 2)
	for _, place := range []*weft.Tensor{g.Randint(0, half, 1, n), g.Randint(half, int64(steps), 1, n)} {
		marks = marks.Scatter(0, place, 1)
	}
	return weft.Stack([]*weft.Tensor{numbers, marks}, 2), numbers.Mul(marks).Sum(0).Unsqueeze(1)
}

// A Net reads a sequence and answers after its last element.
type Net struct {
	Memory nn.Layer
	Out    *nn.Linear
}

// NewNet returns a network around an LSTM or a GRU with the given hidden size.
func NewNet(memory nn.Layer, g *weft.Generator) *Net {
	return &Net{Memory: memory, Out: nn.NewLinear(hidden, 1, nn.Opts{Generator: g})}
}

// Forward maps [steps, n, 2] to [n, 1].
func (m *Net) Forward(x *weft.Tensor) *weft.Tensor {
	return m.Out.Forward(m.Memory.Forward(x).Index(-1))
}

// Step trains on sequences that were not seen before and returns the mean squared error.
func Step(m *Net, opt *optim.Adam, length int, g *weft.Generator) float64 {
	scope := weft.NewScope()
	defer scope.Close()
	x, y := Sequences(length, batch, g)
	loss := nn.MSE(m.Forward(scope.Track(x)), scope.Track(y))
	opt.ZeroGrad()
	loss.Backward()
	optim.ClipNorm(nn.Params(m), 1)
	opt.Step()
	return loss.Item()
}

// Accuracy is the share of n new sequences whose sum the network tells within 0.1.
func Accuracy(m *Net, length, n int, g *weft.Generator) float64 {
	x, y := Sequences(length, n, g)
	var sums *weft.Tensor
	weft.WithoutGrad(func() { sums = m.Forward(x) })
	return sums.Sub(y).Abs().Lt(0.1).To(weft.Float64).Mean().Item()
}

func main() {
	steps := flag.Int("steps", 800, "steps of training")
	length := flag.Int("length", 20, "numbers in a sequence")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	if err != nil {
		fmt.Fprintln(os.Stderr, "sequence:", err)
		os.Exit(1)
	}
	g := weft.NewGenerator(1)
	o := nn.RNNOpts{Generator: g}
	for _, memory := range []nn.Layer{nn.NewLSTM(2, hidden, o), nn.NewGRU(2, hidden, o)} {
		m, g := nn.On(NewNet(memory, g), dev), g.On(dev)
		opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1e-2)})
		for i := range *steps {
			if loss := Step(m, opt, *length, g); (i+1)%100 == 0 {
				fmt.Printf("%T  step %4d  mean squared error %.4f\n", memory, i+1, loss)
			}
		}
		fmt.Printf("%T  right within 0.1: %.1f %%\n", memory, 100*Accuracy(m, *length, 1000, g))
	}
}
