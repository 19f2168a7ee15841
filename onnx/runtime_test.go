package onnx

import "testing"

// TestNodesOfONNXRuntime has attributes and versions that ONNX's node tests lack: testdata/runtime.py makes them.
func TestNodesOfONNXRuntime(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/runtime.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
