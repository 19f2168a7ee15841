// Rnn trains a recurrent network to continue waves: the step of the network is written once,
// Scan makes a loop of it, Grad goes back through time, and a function with updates is the
// training step.
package main

import (
	"flag"
	"fmt"
	"math"
	"os"

	"weft"
	"weft/sym"
)

// A Net is a recurrent network with one number in and one out.
type Net struct {
	in, state, bias, out, shift *sym.Var
	train, follow               *sym.Fn
}

// NewNet compiles a network of states units on a device. Its functions take waves, [times, waves, 1].
func NewNet(states int, rate float64, dev weft.Device) (*Net, error) {
	g := weft.NewGenerator(1).On(dev)
	random := func(name string, scale float64, shape ...int) *sym.Var {
		return sym.Shared(name, g.Randn(shape...).Mul(scale))
	}
	n := &Net{in: random("in", 0.5, 1, states), state: random("state", 0.9/math.Sqrt(float64(states)), states, states),
		bias: random("bias", 0, states), out: random("out", 1/math.Sqrt(float64(states)), states, 1), shift: random("shift", 0, 1)}
	wave := sym.Tensor3("wave", weft.Float32)
	first := wave.Slice(weft.Index(0)).Mul(0).Add(sym.Const(dev.Zeros(1, states))) // a state of zeros for each wave
	loop := sym.Scan(sym.ScanOpts{Sequences: []any{wave}, Initial: []any{first}}, func(s sym.Step) sym.Next {
		h := s.X[0].MatMul(n.in).Add(s.H[0].MatMul(n.state)).Add(n.bias).Tanh()
		return sym.Next{H: []*sym.Var{h}}
	})
	next := loop.H[0].MatMul(n.out).Add(n.shift) // what it takes for the next element
	cost := next.Slice(weft.Range(0, -1)).Sub(wave.Slice(weft.Range(1, weft.End))).Square().Mean()

	params := []*sym.Var{n.in, n.state, n.bias, n.out, n.shift}
	updates := sym.Updates{}
	for i, d := range sym.Grad(cost, params) {
		p := params[i]
		speed := sym.Shared("speed of "+p.Name(), weft.ZerosLike(p.Tensor()))
		v := speed.Mul(0.9).Sub(d.Clamp(-0.1, 0.1).Mul(rate))
		updates[speed], updates[p] = v, p.Add(v)
	}
	var err error
	if n.train, err = sym.Function(sym.In(wave), sym.Out(cost), updates, sym.Named("train")); err != nil {
		return nil, err
	}
	n.follow, err = sym.Function(sym.In(wave), sym.Out(next, cost), sym.Named("follow"))
	return n, err
}

// Waves are sums of two sines with random lengths and phases.
func Waves(g *weft.Generator, times, count int) *weft.Tensor {
	t := weft.Arange(times).To(weft.Float32).Reshape(times, 1, 1)
	one := func(lo, hi float64) *weft.Tensor {
		length, phase := g.Rand(1, count, 1).Mul(hi-lo).Add(lo), g.Rand(1, count, 1).Mul(2*math.Pi)
		return t.On(length.Device()).Mul(2 * math.Pi).Div(length).Add(phase).Sin()
	}
	return one(18, 30).Add(one(7, 11).Mul(0.5))
}

// Train makes steps and returns the mean square error on waves that it did not see, and that
// of taking the last element for the next one.
func (n *Net) Train(steps, times, count int) (cost, still float64, err error) {
	g := weft.NewGenerator(2).On(n.in.Tensor().Device())
	for i := range steps {
		out, err := n.train.Call(Waves(g, times, count))
		if err != nil {
			return 0, 0, err
		}
		if i%(max(steps/10, 1)) == 0 {
			fmt.Printf("step %4d: mean square error %.5f\n", i, out[0].Item())
		}
	}
	unseen := Waves(weft.NewGenerator(3).On(n.in.Tensor().Device()), times, count)
	out, err := n.follow.Call(unseen)
	if err != nil {
		return 0, 0, err
	}
	return out[1].Item(), unseen.Slice(weft.Range(1, weft.End)).Sub(unseen.Slice(weft.Range(0, -1))).Square().Mean().Item(), nil
}

func main() {
	steps := flag.Int("steps", 600, "steps of training")
	device := flag.String("device", "", "the device to train on, such as cpu; without it WEFT_DEVICE says, or the CPU")
	flag.Parse()
	dev, err := weft.DeviceByName(*device)
	var n *Net
	if err == nil {
		n, err = NewNet(48, 0.05, dev)
	}
	if err == nil {
		var cost, still float64
		if cost, still, err = n.Train(*steps, 60, 32); err == nil {
			fmt.Printf("on waves that it did not see: %.5f; taking the last element for the next one: %.5f\n", cost, still)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "rnn:", err)
		os.Exit(1)
	}
}
