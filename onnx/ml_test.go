package onnx

import "testing"

// Models of scikit-learn, and nodes with attributes that ONNX's own tests lack, against ONNX Runtime:
// testdata/ml.py makes them.
func TestMLEqualsONNXRuntime(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/ml.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
