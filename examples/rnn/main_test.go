package main

import "testing"

// The network learns more than that neighbours are alike.
func TestLearns(t *testing.T) {
	n, err := NewNet(32, 0.05)
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
