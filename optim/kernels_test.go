package optim

import (
	"testing"

	"weft"
)

// TestOneKernel holds the promise that an update is one kernel in place.
func TestOneKernel(t *testing.T) {
	w, g, m, v := weft.Zeros(4, 5), weft.Zeros(4, 5), weft.Zeros(4, 5), weft.Zeros(4, 5)
	if !sgdPlain.InPlace([]*weft.Tensor{w}, w, g, 1.0, 1.0) {
		t.Error("sgd")
	}
	if !sgdMomentum.InPlace([]*weft.Tensor{w, m}, w, g, 1.0, 1.0, m, 1.0) {
		t.Error("sgd with momentum")
	}
	if !sgdNesterov.InPlace([]*weft.Tensor{w, m}, w, g, 1.0, 1.0, m, 1.0) {
		t.Error("sgd with Nesterov's momentum")
	}
	if !adam.InPlace([]*weft.Tensor{w, m, v}, w, g, m, v, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0) {
		t.Error("adam")
	}
}
