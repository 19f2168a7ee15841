package onnx

import "testing"

// TestVersions compares elementwise operators, reductions and losses, in their versions, with what ONNX Runtime
// computes: testdata/versions.py writes the models and the values.
func TestVersions(t *testing.T) {
	for _, c := range nodeCases(t, "testdata/versions.tar.gz") {
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
