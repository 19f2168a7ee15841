package onnx

import (
	"slices"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/wire"
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

// nestedLoops is a loop of 32 steps around depth-1 others; the innermost body adds 1.
func nestedLoops(depth int, in, out string) []byte {
	inner := nodeOf("Add", []string{"v" + out, "one"}, []string{"w" + out})
	if depth > 1 {
		inner = nestedLoops(depth-1, "v"+out, "w"+out)
	}
	return nodeOf("Loop", []string{"steps", "", in}, []string{out}, subgraph("body", port(11, "i"+out), port(11, "go"+out), port(11, "v"+out),
		nodeOf("Identity", []string{"go" + out}, []string{"on" + out}), inner, port(12, "on"+out), port(12, "w"+out)))
}

// Loops within loops would make a program of 32 nodes to the power of their depth: the outer ones run step by step.
func TestNestedLoopsAreBounded(t *testing.T) {
	for depth, want := range map[int]bool{2: false, 3: true} {
		m, err := Read(modelOf(integer("steps", 32), initializer("one", int(Float), nil, text(9, "\x00\x00\x80\x3f")),
			nestedLoops(depth, "x", "y"), port(11, "x"), port(12, "y")))
		if err != nil {
			t.Fatal(err)
		}
		out, err := m.Run(map[string]*weft.Tensor{"x": weft.Zeros(2)})
		steps := 1
		for range depth {
			steps *= 32
		}
		if err != nil || !out["y"].AllClose(weft.Full(float32(steps), 2)) {
			t.Fatal(depth, out, err)
		}
		if eager := slices.ContainsFunc(*m.graph.plan.Load(), func(p *piece) bool { return p.eager }); eager != want && !core.CompileOff { // else no program is split
			t.Errorf("%d loops: the outermost runs step by step is %v, want %v", depth, eager, want)
		}
	}
}

// A Scan of no steps gives its states, and collected values without items. onnxruntime gives the same.
func TestScanOfNoSteps(t *testing.T) {
	for _, axis := range []int64{0, 1} {
		scan := nodeOf("Scan", []string{"s", "x"}, []string{"y", "z"}, intAttr("num_scan_inputs", 1), attr("scan_input_axes", attrInts, wire.AppendInt64s(nil, 8, []int64{axis})),
			subgraph("body", port(11, "a"), port(11, "b"), nodeOf("Add", []string{"a", "b"}, []string{"c"}), nodeOf("Neg", []string{"c"}, []string{"d"}), port(12, "c"), port(12, "d")))
		m, err := Read(modelOf(scan, port(11, "s"), port(11, "x"), port(12, "y"), port(12, "z")))
		if err != nil {
			t.Fatal(err)
		}
		x := weft.Zeros(0, 3)
		if axis == 1 {
			x = weft.Zeros(3, 0)
		}
		out, err := m.Run(map[string]*weft.Tensor{"s": weft.Full(float32(7), 3), "x": x})
		if err != nil || !out["y"].AllClose(weft.Full(float32(7), 3)) || !slices.Equal(out["z"].Shape(), []int{0, 3}) {
			t.Errorf("axis %d: %v, %v", axis, out, err)
		}
	}
}
