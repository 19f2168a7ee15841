package onnx

import "testing"

// Nodes with attributes, versions and sizes that ONNX's own tests lack, against ONNX Runtime: testdata/more.py
// makes them.
func TestMoreNodesEqualONNXRuntime(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/more.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
