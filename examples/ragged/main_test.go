package main

import (
	"fmt"
	"testing"

	"weft"
	"weft/examples/internal/late"
	"weft/nn"
	"weft/optim"
)

// A quarter of the answers is right by chance.
func TestLanguages(t *testing.T) {
	train, test, trainIs, testIs := Sentences()
	x, y := Encode(train), weft.From(trainIs)
	m := NewNet(weft.NewGenerator(1))
	opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1e-2)})
	before := Accuracy(m, Encode(test), weft.From(testIs))
	for range 60 {
		Step(m, opt, x, y)
	}
	after := Accuracy(m, Encode(test), weft.From(testIs))
	t.Logf("right %.2f, %.2f before training", after, before)
	if before > 0.5 || after < 0.8 {
		t.Errorf("right %.2f, %.2f before training", after, before)
	}
}

// What a sentence is answered does not depend on the sentences beside it.
func TestAlone(t *testing.T) {
	train, _, _, _ := Sentences()
	m := NewNet(weft.NewGenerator(2))
	all := m.Forward(Encode(train))
	for i := range train {
		alone := m.Forward(Encode(train[i : i+1])).At(0)
		if !alone.AllClose(all.At(i), weft.CloseOpts{}) {
			t.Errorf("%q: %v alone, %v beside others", train[i], alone, all.At(i))
		}
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		train, _, is, _ := Sentences()
		x, y := Encode(train[:12]).On(dev), dev.From(is[:12])
		m := nn.On(NewNet(weft.NewGenerator(1)), dev)
		opt := optim.NewAdam(nn.Params(m), optim.AdamOpts{LR: new(1e-2)})
		text := ""
		for range 3 {
			text += fmt.Sprintln(Step(m, opt, x, y))
		}
		return text + fmt.Sprint(weft.Digest(m.Out.Weight))
	})
}
