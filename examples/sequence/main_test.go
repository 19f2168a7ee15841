package main

import (
	"math"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/optim"
)

// Both learn short sequences; to guess the mean is right within 0.1 for 19 % of them.
func TestAccuracy(t *testing.T) {
	const length = 8
	g := weft.NewGenerator(1)
	o := nn.RNNOpts{Generator: g}
	for _, memory := range []nn.Layer{nn.NewLSTM(2, hidden, o), nn.NewGRU(2, hidden, o)} {
		m := NewNet(memory, g)
		before := Accuracy(m, length, 500, g)
		opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1e-2)})
		for range 300 {
			Step(m, opt, length, g)
		}
		after := Accuracy(m, length, 500, g)
		t.Logf("%T: right %.3f, %.3f before training", memory, after, before)
		if before > 0.4 || after < 0.9 {
			t.Errorf("%T: right %.3f, %.3f before training", memory, after, before)
		}
	}
}

// Each sequence has a mark in each half, and the answer is the sum of what is marked.
func TestSequences(t *testing.T) {
	const steps, n = 6, 50
	x, y := Sequences(steps, n, weft.NewGenerator(3))
	xs, ys := weft.Data[float32](x), weft.Data[float32](y)
	for i := range n {
		var marks [2]int
		sum := 0.0
		for s := range steps {
			if number, mark := xs[(s*n+i)*2], xs[(s*n+i)*2+1]; mark == 1 {
				marks[2*s/steps]++
				sum += float64(number)
			}
		}
		if marks != [2]int{1, 1} || math.Abs(sum-float64(ys[i])) > 1e-6 {
			t.Errorf("sequence %d: marks %v, sum %v, answer %v", i, marks, sum, ys[i])
		}
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		g := weft.NewGenerator(1)
		m := nn.On(NewNet(nn.NewGRU(2, hidden, nn.RNNOpts{Generator: g}), g), dev)
		opt := optim.NewAdam(nn.Params(m))
		for range 3 {
			Step(m, opt, 6, g.On(dev))
		}
		return weft.DigestNamed(nn.Params(m))
	})
}
