package onnx

import (
	"testing"

	"weft"
)

// A scan of many steps is differentiated where a model is called by Forward: the last state is the sum of the
// steps, so that each has the gradient 1.
func TestScanHasGradients(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/more.tar.gz") {
		if c.name != "scan_long" {
			continue
		}
		m, err := Read(c.model)
		if err != nil {
			t.Fatal(err)
		}
		in := []*weft.Tensor{weft.Zeros(2), weft.Ones(40, 2).RequireGrad(), weft.Ones(2)}
		out := m.ForwardAll(in...)
		out[0].Sum().Backward()
		if g := in[1].Grad(); g == nil || !g.AllClose(weft.Ones(40, 2)) {
			t.Errorf("the gradient is %v", g)
		}
		return
	}
	t.Error("there is no such case")
}
