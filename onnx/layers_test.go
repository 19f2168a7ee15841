package onnx

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/wire"
)

const testLayers = 4

// layerWeights are the weights of layer k of [layered].
func layerWeights(k int) (w, b []float32) {
	for i := range 16 {
		w = append(w, float32((i*7+k*3)%11)/8-0.5)
	}
	for i := range 4 {
		b = append(b, float32(i-k)/4)
	}
	return w, b
}

// layered is a model of x0 (b, n, 4) with equal layers, which read the length n. They add Range and scale by 2 if n exceeds
// 3, else by 3. They subtract the maximum of the first rows, at most 5, and reshape by computed shapes. Nodes of a mask
// that all layers read stand inside the first. An If by the length is the end. other, unless nil, stands for one node of
// layer 2.
func layered(t *testing.T, other []byte) *Model {
	t.Helper()
	floats := func(name string, dims []int64, v ...float32) []byte {
		var raw []byte
		for _, x := range v {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
		}
		return initializer(name, 1, dims, text(9, string(raw)))
	}
	branch := func(name, op string) []byte {
		return subgraph(name, nodeOf(op, []string{"x4"}, []string{op}), text(2, op), port(12, op))
	}
	parts := [][]byte{port(11, "x0"), port(12, "y"), port(12, "again"),
		integer("0", 0), integer("1", 1), integer("3", 3), integer("5", 5), integers("at 0", 0), integers("at 1", 1),
		integers("ends", 0, 2), integers("rest", -1), floats("long", nil, 2), floats("short", nil, 3)}
	for k := range testLayers {
		name := func(s string) string { return fmt.Sprint(s, k) }
		node := func(op, in1, in2, out string, more ...[]byte) {
			in := []string{in1}
			if in2 != "" {
				in = append(in, in2)
			}
			parts = append(parts, nodeOf(op, in, []string{out}, more...))
		}
		w, b := layerWeights(k)
		parts = append(parts, floats(name("w"), []int64{4, 4}, w...), floats(name("b"), []int64{4}, b...))
		node("Shape", name("x"), "", name("s"))
		node("Gather", name("s"), "1", name("n"))
		if k == 0 {
			parts = append(parts, nodeOf("Range", []string{"0", "n0", "1"}, []string{"places"}))
			node("Cast", "places", "", "numbers", intAttr("to", 1))
			node("Unsqueeze", "numbers", "ends", "column")
		}
		node("Greater", name("n"), "3", name("is long"))
		parts = append(parts, nodeOf("Where", []string{name("is long"), "long", "short"}, []string{name("factor")}))
		if k == 2 && other != nil {
			parts = append(parts, other)
		} else {
			node("MatMul", name("x"), name("w"), name("product"))
		}
		node("Add", name("product"), name("b"), name("sum"))
		node("Mul", name("sum"), name("factor"), name("scaled"))
		node("Add", name("scaled"), "column", name("moved"))
		node("Min", name("n"), "5", name("least"))
		node("Unsqueeze", name("least"), "at 0", name("end"))
		parts = append(parts, nodeOf("Slice", []string{name("moved"), "at 0", name("end"), "at 1"}, []string{name("part")}))
		node("ReduceMax", name("part"), "", name("most"), attr("axes", attrInts, wire.AppendInt64s(nil, 8, []int64{1})))
		node("Sub", name("moved"), name("most"), name("lower"))
		node("Gather", name("s"), "at 0", name("rows"))
		node("Concat", name("rows"), "rest", name("flat"), intAttr("axis", 0))
		node("Reshape", name("lower"), name("flat"), name("line"))
		node("Softmax", name("line"), "", name("soft"), intAttr("axis", 1))
		node("Reshape", name("soft"), name("s"), name("back"))
		node("Add", name("back"), name("x"), fmt.Sprint("x", k+1))
	}
	parts = append(parts, nodeOf("Relu", []string{"x1"}, []string{"again"}), // of a layer's result, which is read later too
		nodeOf("If", []string{"is long3"}, []string{"y"}, branch("then_branch", "Neg"), branch("else_branch", "Abs")))
	m, err := Read(modelOf(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// layersOf returns the pieces of m that are layers.
func layersOf(m *Model) []*piece {
	return slices.DeleteFunc(slices.Clone(m.graph.pieces()), func(p *piece) bool { return !p.layer })
}

// layeredByHand is what [layered] computes, by eager operations.
func layeredByHand(x *weft.Tensor) (y, again *weft.Tensor) {
	shape := x.Shape()
	b, n := shape[0], shape[1]
	for k := range testLayers {
		w, bias := layerWeights(k)
		z := x.MatMul(weft.FromSlice(w, 4, 4)).Add(weft.FromSlice(bias))
		if n > 3 {
			z = z.Mul(2)
		} else {
			z = z.Mul(3)
		}
		z = z.Add(weft.Arange(n).To(weft.Float32).Reshape(1, n, 1))
		z = z.Sub(z.Slice(weft.All, weft.Range(0, min(n, 5))).Max(1).Reshape(b, 1, 4))
		x = z.Reshape(b, n*4).Softmax(1).Reshape(b, n, 4).Add(x)
		if k == 0 {
			again = x.Relu()
		}
	}
	if n > 3 {
		return x.Neg(), again
	}
	return x.Abs(), again
}

// Lengths in any order, in calls at the same time, have the results of eager operations, and the bits of a model that was
// just read. All layers of a length are one program.
func TestLayersOfNewLengths(t *testing.T) {
	m := layered(t, nil)
	sizes := [][2]int{{1, 1}, {2, 3}, {1, 4}, {3, 5}, {2, 6}, {1, 2}, {2, 9}, {1, 17}, {1, 3}, {2, 2}}
	input := func(s [2]int) *weft.Tensor {
		return weft.Arange(s[0]*s[1]*4).To(weft.Float32).Mul(0.37).Sin().Reshape(s[0], s[1], 4)
	}
	run := func(m *Model, s [2]int) map[string]*weft.Tensor {
		out, err := m.Run(map[string]*weft.Tensor{"x0": input(s)})
		if err != nil {
			t.Errorf("%v: %v", s, err)
		}
		return out
	}
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range sizes {
				s := sizes[(i*(2*g+1)+g)%len(sizes)]
				out := run(m, s)
				y, again := layeredByHand(input(s))
				for name, want := range map[string]*weft.Tensor{"y": y, "again": again} {
					if got := out[name]; got != nil && (!slices.Equal(got.Shape(), want.Shape()) || !got.AllClose(want)) {
						t.Errorf("%v: %s is %v, want %v", s, name, got, want)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, s := range sizes[:4] {
		out, fresh := run(m, s), run(layered(t, nil), s)
		for name := range out {
			if !slices.Equal(weft.Data[float32](out[name]), weft.Data[float32](fresh[name])) {
				t.Errorf("%v: %s differs from that of a new model", s, name)
			}
		}
	}
	if core.CompileOff {
		return
	}
	layers := layersOf(m)
	if len(layers) != testLayers {
		t.Fatalf("%d layers are pieces, want %d", len(layers), testLayers)
	}
	shared := layers[0].program.Load()
	for _, p := range layers {
		if p.program.Load() != shared {
			t.Error("a layer has a program of its own")
		}
	}
	if n := len(*shared.f.Entries.Load()); n != len(sizes) {
		t.Errorf("%d programs were made for %d sizes", n, len(sizes))
	}
}

// withoutLayers is [layered] whose layers are not looked for.
func withoutLayers(t *testing.T, other []byte) *Model {
	t.Helper()
	m := layered(t, other)
	m.graph.free = false
	return m
}

// A weight that is replaced or written changes what later calls compute, of the lengths that have programs too.
func TestLayersFollowWeights(t *testing.T) {
	m, plain := layered(t, nil), withoutLayers(t, nil)
	x := weft.Arange(40).To(weft.Float32).Mul(0.37).Sin().Reshape(2, 5, 4)
	run := func(m *Model) *weft.Tensor {
		out, err := m.Run(map[string]*weft.Tensor{"x0": x})
		if err != nil {
			t.Fatal(err)
		}
		return out["y"]
	}
	last := run(m)
	for _, c := range []struct {
		name   string
		change func(weights map[string]*weft.Tensor)
	}{
		{"replaced", func(weights map[string]*weft.Tensor) { weights["w2"] = weft.Ones(4, 4) }},
		{"written", func(weights map[string]*weft.Tensor) { weft.WithoutGrad(func() { weights["w2"].MulAssign(0.5) }) }},
		{"another's", func(weights map[string]*weft.Tensor) { weights["w2"] = weights["w1"] }},
	} {
		c.change(m.Weights)
		c.change(plain.Weights)
		got, want := run(m), run(plain)
		if !got.AllClose(want) {
			t.Errorf("%s: %v, without layers %v", c.name, got, want)
		}
		if got.AllClose(last) {
			t.Errorf("%s: the weight changes nothing", c.name)
		}
		last = got
	}
}

// A node that differs ends a run of layers, so that no layer runs the program of another.
func TestUnequalLayersAreApart(t *testing.T) {
	for name, other := range map[string][]byte{
		"other operator":  nodeOf("Mul", []string{"x2", "b2"}, []string{"product2"}),
		"other weight":    nodeOf("MatMul", []string{"x2", "w1"}, []string{"product2"}),
		"reads elsewhere": nodeOf("MatMul", []string{"x1", "w2"}, []string{"product2"}),
	} {
		m := layered(t, other)
		x := weft.Arange(24).To(weft.Float32).Mul(0.37).Sin().Reshape(1, 6, 4)
		out, err := m.Run(map[string]*weft.Tensor{"x0": x})
		if err != nil {
			t.Fatal(err)
		}
		var want *weft.Tensor
		weft.WithoutGrad(func() { want = withoutLayers(t, other).ForwardAll(x)[0] }) // node by node
		if !out["y"].AllClose(want) {
			t.Errorf("%s: %v, node by node %v", name, out["y"], want)
		}
	}
}

// Gradients flow to the weights of a model that has run by layers, and it is exported as it is after a step.
func TestLayersAreTrainedAndExported(t *testing.T) {
	m, plain := layered(t, nil), withoutLayers(t, nil)
	for _, n := range []int{6, 3} {
		x := weft.Arange(2*n*4).To(weft.Float32).Mul(0.37).Sin().Reshape(2, n, 4)
		in := map[string]*weft.Tensor{"x0": x}
		for _, m := range []*Model{m, plain} {
			if _, err := m.Run(in); err != nil {
				t.Fatal(err)
			}
			for _, w := range m.Weights {
				w.RequireGrad()
			}
			out := m.ForwardAll(x)
			out[0].Square().Sum().Add(out[1].Sum()).Backward()
		}
		for name, w := range plain.Weights {
			if got, want := m.Weights[name].Grad(), w.Grad(); got == nil || !got.AllClose(want) {
				t.Errorf("gradient of %s: %v, without layers %v", name, got, want)
			}
		}
		weft.WithoutGrad(func() {
			for _, m := range []*Model{m, plain} {
				for _, w := range m.Weights {
					w.SubAssign(w.Grad().Mul(0.1))
				}
			}
		})
		var b bytes.Buffer
		if err := Write(&b, m.ForwardAll, []any{x}, SaveOpts{Inputs: []string{"x0"}, Outputs: []string{"y", "again"}, Weights: m.Weights}); err != nil {
			t.Fatal(err)
		}
		exported, err := Read(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Run(in)
		if err != nil {
			t.Fatal(err)
		}
		for name, m := range map[string]*Model{"with layers": m, "exported": exported} {
			out, err := m.Run(in)
			if err != nil {
				t.Fatal(err)
			}
			if !out["y"].AllClose(want["y"]) || !out["again"].AllClose(want["again"]) {
				t.Errorf("%s: %v, without layers %v", name, out, want)
			}
		}
	}
}

// Layers whose weights lie in a file beside the model compute what the exported function does, for each size.
func TestLayersOfExternalWeights(t *testing.T) {
	g := weft.NewGenerator(4)
	weights := map[string]*weft.Tensor{}
	for k := range testLayers {
		weights[fmt.Sprint("w", k)], weights[fmt.Sprint("b", k)] = g.Normal(0, 1, 4, 4), g.Normal(0, 1, 4)
	}
	f := func(x *weft.Tensor) *weft.Tensor {
		for k := range testLayers {
			x = x.MatMul(weights[fmt.Sprint("w", k)]).Add(weights[fmt.Sprint("b", k)])
			for range 8 {
				x = x.Tanh().Sin()
			}
		}
		return x
	}
	path := filepath.Join(t.TempDir(), "m.onnx")
	if err := Save(path, f, []any{weft.Ones(2, 4)}, SaveOpts{Inputs: []string{"x[n 4]"}, Weights: weights, ExternalFrom: new(0)}); err != nil {
		t.Fatal(err)
	}
	m, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{1, 5, 2, 5} {
		x := g.Normal(0, 1, n, 4)
		out, err := m.Run(map[string]*weft.Tensor{"x": x})
		if err != nil {
			t.Fatal(err)
		}
		if want := f(x); !out["y"].AllClose(want) {
			t.Errorf("%d rows: %v, want %v", n, out["y"], want)
		}
	}
	if n := len(layersOf(m)); n != testLayers && !core.CompileOff {
		t.Errorf("%d layers are pieces, want %d", n, testLayers)
	}
}
