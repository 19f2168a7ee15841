package onnx

import "testing"

// Nodes with attributes, versions and sizes that ONNX's own tests lack, against ONNX Runtime: testdata/more.py
// makes them. Cases that random models found are of testdata/found.py.
func TestMoreNodesEqualONNXRuntime(t *testing.T) {
	for _, file := range []string{"testdata/more.tar.gz", "testdata/found.tar.gz"} {
		for _, c := range nodeCases(t, file) {
			if err := c.run(); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	}
}
