package onnx

import "testing"

// TestMicrosoft compares operators of com.microsoft with what ONNX Runtime computes: testdata/microsoft.py
// writes the models and the values.
func TestMicrosoft(t *testing.T) {
	had := map[string]bool{}
	for _, c := range nodeCases(t, "testdata/microsoft.tar.gz") {
		had[c.op(t)] = true
		if err := c.run(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// ONNX Runtime has these on other processors alone, and they are sums and products of what is compared.
	had["com.microsoft.BiasAdd"], had["com.microsoft.BiasSplitGelu"] = true, true
	for _, o := range Operators() {
		if name := operatorName(o.Domain, o.Name); o.Domain == domainMicrosoft && !had[name] {
			t.Errorf("%s is not compared with ONNX Runtime", name)
		}
	}
}
