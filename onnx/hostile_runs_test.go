package onnx

import (
	"errors"
	"strings"
	"testing"

	"weft"
	"weft/internal/wire"
)

// integers is an initializer, a vector of int64.
func integers(name string, v ...int64) []byte {
	return initializer(name, int(Int64), []int64{int64(len(v))}, wire.AppendInt64s(nil, 7, v))
}

// integer is an initializer, an int64 without axes.
func integer(name string, v int64) []byte {
	return initializer(name, int(Int64), nil, wire.AppendInt64s(nil, 7, []int64{v}))
}

func subgraph(name string, parts ...[]byte) []byte { return attr(name, attrGraph, part(6, parts...)) }

func intAttr(name string, i int64) []byte {
	return attr(name, attrInt, wire.AppendVarint(nil, 3, uint64(i)))
}

// Sizes that the file decides and no memory can hold end in an error of Run, never in the end of the process.
func TestAstronomicSizes(t *testing.T) {
	const big = 1 << 42
	x := []string{"x"}
	y := []string{"y"}
	for want, nodes := range map[string][][]byte{
		"ConstantOfShape: does not fit in memory": {integers("n", big), nodeOf("ConstantOfShape", []string{"n"}, y)},
		"Expand: does not fit in memory":          {integers("n", big, 1), nodeOf("Expand", []string{"x", "n"}, y)},
		"Tile: does not fit in memory":            {integers("n", big), nodeOf("Tile", []string{"x", "n"}, y)},
		"Range: does not fit in memory":           {integer("a", 0), integer("b", big), integer("c", 1), nodeOf("Range", []string{"a", "b", "c"}, y)},
		"Pad: does not fit in memory":             {integers("n", big, big), nodeOf("Pad", []string{"x", "n"}, y)},
		"reflect: a table of shape":               {integers("n", big, big), nodeOf("Pad", []string{"x", "n"}, y, attr("mode", attrString, text(4, "reflect")))},
		"HannWindow: a table of shape":            {integer("n", big), nodeOf("HannWindow", []string{"n"}, y)},
		`Split: attribute "num_outputs"`:          {nodeOf("Split", x, y, intAttr("num_outputs", big))},
	} {
		m, err := Read(modelOf(append(nodes, port(11, "x"), port(12, "y"))...))
		if err != nil {
			t.Fatalf("%s: %v", want, err)
		}
		_, err = m.Run(map[string]*weft.Tensor{"x": weft.Ones(2)})
		var e *Error
		_, text, _ := strings.Cut(want, ": ")
		if !errors.As(err, &e) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// A tensor whose number of bits is more than an int can count is not one of 0 bytes.
func TestBitsOverflow(t *testing.T) {
	for elem, n := range map[ElementType]int64{Float: 1 << 59, Double: 1 << 58, Int8: 1 << 61, Complex128: 1 << 57} {
		for _, field := range [][]byte{text(9, ""), nil} {
			data := modelOf(initializer("w", int(elem), []int64{n}, field), nodeOf("Add", []string{"x", "w"}, []string{"y"}), port(11, "x"), port(12, "y"))
			if m, err := Read(data); err == nil {
				t.Errorf("%v, %d elements without data: %v", elem, n, m.Weights)
			}
		}
	}
}

// A function that calls itself in a subgraph is refused, as one that does so in its own nodes.
func TestFunctionInItsSubgraph(t *testing.T) {
	call := func(in, out string) []byte { return nodeOf("F", []string{in}, []string{out}, text(7, "f")) }
	yes := attr("value", attrTensor, part(5, wire.AppendVarint(nil, 2, uint64(Bool)), text(9, "\x01")))
	nodes := [][]byte{
		nodeOf("Constant", nil, []string{"c"}, yes),
		nodeOf("If", []string{"c"}, []string{"b"}, subgraph("then_branch", call("a", "p"), port(12, "p")), subgraph("else_branch", call("a", "q"), port(12, "q"))),
	}
	f := append(append(text(1, "F"), text(4, "a")...), text(5, "b")...)
	for _, n := range nodes {
		n[0] = 7<<3 | 2 // the field of a function's nodes
		f = append(f, n...)
	}
	f = append(f, text(10, "f")...)
	data := append(modelOf(call("x", "y"), port(11, "x"), port(12, "y")), part(25, f)...)
	data = append(data, part(8, text(1, "f"), wire.AppendVarint(nil, 2, 1))...)
	_, err := Read(data)
	var e *Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "calls itself") {
		t.Errorf("%.200v", err)
	}
}

// A negative number of steps is none.
func TestLoopOfNegativeSteps(t *testing.T) {
	loop := nodeOf("Loop", []string{"m", "c", "x"}, []string{"y"}, subgraph("body",
		port(11, "i"), port(11, "go"), port(11, "v"), nodeOf("Identity", []string{"go"}, []string{"on"}), nodeOf("Neg", []string{"v"}, []string{"w"}), port(12, "on"), port(12, "w")))
	m, err := Read(modelOf(integer("m", -5), initializer("c", int(Bool), nil, text(9, "\x01")), loop, port(11, "x"), port(12, "y")))
	if err != nil {
		t.Fatal(err)
	}
	out, err := m.Run(map[string]*weft.Tensor{"x": weft.Ones(2)})
	if err != nil || out["y"].Sum().Item() != 2 {
		t.Error(out, err)
	}
}

// Scan of operator set 8 refuses inputs without the axes of the batch and the steps.
func TestScanOfBatchWithoutAxes(t *testing.T) {
	body := &graph{}
	for _, in := range [][]Value{{}, {{}}, {{}, TensorOf(weft.Scalar(1))}, {{}, TensorOf(weft.Ones(2))}, {{}, StringsOf([]string{"a"})},
		{TensorOf(weft.ZerosOf(weft.Int64, 1)), TensorOf(weft.Ones(2, 2))}} {
		n := &node{name: "n", opset: 8, op: lookup("", "Scan", 8), attrs: []attribute{{name: "num_scan_inputs", kind: attrInt, i: 1}, {name: "body", kind: attrGraph, graph: body}}}
		for i := range in {
			n.in = append(n.in, i)
		}
		if err := (&run{m: &Model{graph: body}, plain: true}).node(n, in); err == nil {
			t.Errorf("%v: no error", in)
		}
	}
}

// Results are memory of their own: writing into them changes neither the inputs nor the model.
func TestResultsAreNotWeights(t *testing.T) {
	w := initializer("w", int(Float), []int64{2}, text(9, "\x00\x00\x80\x3f\x00\x00\x80\x3f"))
	shape := integers("n", 2, 1)
	outs := [][]byte{port(11, "x"), port(12, "a"), port(12, "b"), port(12, "c"), port(12, "d"), port(12, "w"), port(12, "x")}
	m, err := Read(modelOf(append(outs, w, shape,
		nodeOf("Identity", []string{"x"}, []string{"a"}), nodeOf("Identity", []string{"w"}, []string{"b"}),
		nodeOf("Reshape", []string{"w", "n"}, []string{"c"}), nodeOf("Reshape", []string{"x", "n"}, []string{"d"}))...))
	if err != nil {
		t.Fatal(err)
	}
	x := weft.Ones(2)
	for range 2 {
		out, err := m.Run(map[string]*weft.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		for name, y := range out {
			if y.Sum().Item() != 2 {
				t.Errorf("%s: %v", name, y)
			}
			y.Fill(7)
		}
		if x.Sum().Item() != 2 || m.Weights["w"].Sum().Item() != 2 {
			t.Fatal(x, m.Weights)
		}
	}
}

// Run follows the weights: what was written into them, and others in their place.
func TestRunFollowsWeights(t *testing.T) {
	m, err := Load("testdata/mlp_script.onnx")
	if err != nil {
		t.Fatal(err)
	}
	in := m.Inputs()[0]
	x := weft.Linspace(-1, 1, 3*in.Type.Shape[1]).Reshape(3, in.Type.Shape[1])
	check := func(what string) {
		t.Helper()
		out, err := m.Run(map[string]*weft.Tensor{in.Name: x})
		if err != nil {
			t.Fatal(err)
		}
		if want := m.Forward(x); out[m.Outputs()[0].Name].Sub(want).Abs().Max().Item() > 1e-5 {
			t.Errorf("%s: Run and Forward differ", what)
		}
	}
	check("as loaded")
	weft.WithoutGrad(func() {
		for _, w := range m.Weights {
			w.MulAssign(1.5)
		}
	})
	check("written")
	for name, w := range m.Weights {
		m.Weights[name] = w.Detach().Mul(0.5).RequireGrad()
	}
	check("replaced")
}

// A loop that doubles its value without end stops at the memory that loops may keep: unrolled into a program, step by
// step, and as a sequence that grows.
func TestLoopThatGrowsWithoutEnd(t *testing.T) {
	double := nodeOf("Concat", []string{"v", "v"}, []string{"w"}, intAttr("axis", 0))
	loop := func(steps string, more ...[]byte) []byte {
		return nodeOf("Loop", []string{steps, "c", "x"}, []string{"y"}, subgraph("body", append(more, port(11, "i"), port(11, "go"), port(11, "v"),
			nodeOf("Identity", []string{"go"}, []string{"on"}), double, port(12, "on"), port(12, "w"))...))
	}
	yes := initializer("c", int(Bool), nil, text(9, "\x01"))
	for name, nodes := range map[string][][]byte{
		"unrolled":     {integer("m", 32), yes, loop("m")},
		"step by step": {integer("m", 1<<40), yes, loop("m")},
		"no count":     {yes, loop("")},
		"kept": {integer("m", 1<<40), yes, nodeOf("Loop", []string{"m", "c", "x"}, []string{"z", "y"}, subgraph("body", port(11, "i"), port(11, "go"), port(11, "v"),
			nodeOf("Identity", []string{"go"}, []string{"on"}), nodeOf("Neg", []string{"v"}, []string{"w"}), nodeOf("Neg", []string{"v"}, []string{"k"}), port(12, "on"), port(12, "w"), port(12, "k")))},
	} {
		m, err := Read(modelOf(append(nodes, port(11, "x"), port(12, "y"))...))
		if err != nil {
			t.Fatal(name, err)
		}
		m.loops = 1 << 20
		_, err = m.Run(map[string]*weft.Tensor{"x": weft.Ones(1 << 10)})
		var e *Error
		if !errors.As(err, &e) || e.Op != "Loop" || !strings.HasPrefix(e.Node, "Loop/") || !strings.Contains(err.Error(), "a loop may keep 1048576") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
