package onnx

import "testing"

// Models that tf2onnx made of Keras networks and of TensorFlow functions with loops and branches, against TensorFlow:
// testdata/tfmodels.py makes them.
func TestModelsOfTensorFlow(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/tfmodels.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
