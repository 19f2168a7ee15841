package main

import (
	"fmt"
	"testing"

	"weft"
	"weft/examples/internal/late"
)

// The network learns more than that neighbours are alike.
func TestLearns(t *testing.T) {
	n, err := NewNet(32, 0.05, weft.CPU)
	if err != nil {
		t.Fatal(err)
	}
	cost, still, err := n.Train(250, 40, 16)
	if err != nil {
		t.Fatal(err)
	}
	if !(cost < still/3) {
		t.Errorf("the error is %v, that of taking the last element %v", cost, still)
	}
}

// A second device trains to the bits of the CPU.
func TestTrainingOnDevice(t *testing.T) {
	late.Same(t, func(dev weft.Device) string {
		n, err := NewNet(8, 0.05, dev)
		if err != nil {
			t.Fatal(err)
		}
		cost, still, err := n.Train(3, 10, 4)
		if err != nil || n.in.Tensor().Device() != dev {
			t.Fatal(err, n.in.Tensor().Device())
		}
		return fmt.Sprint(cost, still)
	})
}
