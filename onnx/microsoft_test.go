package onnx

import (
	"testing"

	"weft"
)

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

// TestHostileHeads: sizes that a file invents are errors.
func TestHostileHeads(t *testing.T) {
	compute := func(op string, attrs map[string]int, in ...*weft.Tensor) error {
		o := lookup(domainMicrosoft, op, 1)
		if op == "DequantizeLinear" {
			o = lookup("", op, 21)
		}
		n := &node{op: o, opset: 21, out: []int{0}}
		for name, i := range attrs {
			n.attrs = append(n.attrs, attribute{name: name, kind: attrInt, i: i})
		}
		_, err := (&call{node: n, in: tensors(in...), x: &run{plain: true}}).run()
		return err
	}
	q, one := weft.Zeros(1, 2, 8), weft.FromSlice([]int32{1})
	group := func(heads, groups, total int) error {
		return compute("GroupQueryAttention", map[string]int{"num_heads": heads, "kv_num_heads": groups},
			q, q, q, nil, nil, one, weft.FromSlice([]int32{int32(total)}))
	}
	for name, err := range map[string]error{
		"heads of all integers": group(1<<62, 1<<62, 2),
		"no heads":              group(0, 0, 2),
		"total below length":    group(2, 2, 1),
		"matrix of no blocks":   compute("MatMulNBits", map[string]int{"K": 8, "N": 1 << 61, "block_size": 16}, q, weft.ZerosOf(weft.Uint8, 8), weft.Zeros(1)),
		"axis beyond":           compute("DequantizeLinear", map[string]int{"axis": 4}, weft.ZerosOf(weft.Int8, 2, 3), weft.Zeros(2)),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// A block longer than the axis is one block, however long.
	if err := compute("DequantizeLinear", map[string]int{"axis": 1, "block_size": 1 << 50}, weft.ZerosOf(weft.Int8, 2, 3), weft.Zeros(2, 1)); err != nil {
		t.Error(err)
	}
}
