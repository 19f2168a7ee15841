package onnx

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"weft"
	"weft/internal/core"
	"weft/internal/wire"
)

// withChain appends n nodes, one behind the other, that compute the value to of from. Their results are named after k.
func withChain(parts [][]byte, k, n int, from, to string) [][]byte {
	for i := range n {
		out := fmt.Sprintf("chain%d.%d", k, i)
		if i == n-1 {
			out = to
		}
		parts = append(parts, nodeOf([]string{"Neg", "Sin"}[i%2], []string{from}, []string{out}))
		from = out
	}
	return parts
}

// sameWithoutLayers compares the bits of the results of a model of x0 with the results of the model without layers. It returns the
// number of layers that are pieces.
func sameWithoutLayers(t *testing.T, data []byte) (layers int) {
	t.Helper()
	x := weft.FromSlice([]float32{-3, -0.5, 0.1, 0.2, 0.3, 2})
	run := func(free bool) (*Model, map[string]*weft.Tensor) {
		m, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		m.graph.free = free
		out, err := m.Run(map[string]*weft.Tensor{"x0": x})
		if err != nil {
			t.Fatal(err)
		}
		return m, out
	}
	m, out := run(true)
	_, want := run(false)
	for name := range want {
		if weft.Digest(out[name]) != weft.Digest(want[name]) {
			t.Errorf("%s: %v, without layers %v", name, out[name], want[name])
		}
	}
	return len(layersOf(m))
}

// A node without its second input differs from one without its third.
func TestLayersWithMissingInputs(t *testing.T) {
	parts := [][]byte{port(11, "x0"), port(12, "x7"), initializer("bound", 1, nil, text(9, "\x00\x00\x80\x3e"))}
	for k := range 7 {
		parts = withChain(parts, k, 18, fmt.Sprint("x", k), fmt.Sprint("end", k))
		in := []string{fmt.Sprint("end", k), "", "bound"}
		if k == 3 {
			in = []string{fmt.Sprint("end", k), "bound", ""}
		}
		parts = append(parts, nodeOf("Clip", in, []string{fmt.Sprint("x", k+1)}))
	}
	if n := sameWithoutLayers(t, modelOf(parts...)); n != 6 && !core.CompileOff {
		t.Errorf("%d layers are pieces, want 6", n)
	}
}

// A node of what seems to be the first layer reads a result that comes later in it, in place of one from outside.
func TestFirstLayerInOrder(t *testing.T) {
	parts := [][]byte{port(11, "x0"), port(12, "x5"), nodeOf("Exp", []string{"x0"}, []string{"outside"})}
	for k := range 5 {
		read, end := "outside", fmt.Sprint("end", k)
		relu := func() { parts = append(parts, nodeOf("Relu", []string{read}, []string{fmt.Sprint("relu", k)})) }
		if k > 0 {
			relu()
		}
		parts = withChain(parts, k, 18, fmt.Sprint("x", k), end)
		if k == 0 {
			read = end
			relu()
		}
		parts = append(parts, nodeOf("Add", []string{end, fmt.Sprint("relu", k)}, []string{fmt.Sprint("x", k+1)}))
	}
	if n := sameWithoutLayers(t, modelOf(parts...)); n != 4 && !core.CompileOff {
		t.Errorf("%d layers are pieces, want 4", n)
	}
}

// A Gradient knows values by names, such as that of a node that computes the same in all layers.
func TestGradientBehindLayers(t *testing.T) {
	names := func(attribute, value string) []byte { return attr(attribute, attrStrings, text(9, value)) }
	parts := [][]byte{port(11, "x0"), port(12, "gradient")}
	for k := range 4 {
		end, factor := fmt.Sprint("end", k), fmt.Sprint("factor", k)
		parts = append(withChain(parts, k, 18, fmt.Sprint("x", k), end),
			nodeOf("Exp", []string{"x0"}, []string{factor}), nodeOf("Mul", []string{end, factor}, []string{fmt.Sprint("x", k+1)}))
	}
	parts = append(parts, nodeOf("Gradient", []string{"factor2", "x0"}, []string{"gradient"}, text(7, domainTraining),
		names("xs", "factor2"), names("zs", "x0"), attr("y", attrString, text(4, "x4"))))
	sameWithoutLayers(t, append(modelOf(parts...), part(8, text(1, domainTraining), wire.AppendVarint(nil, 2, 1))...))
}

// Layers that quantize with other zero points differ, although all else of them is equal.
func TestLayersWithOtherZeroPoints(t *testing.T) {
	for _, c := range []struct {
		zeros  string // of the layers, a byte each
		layers int
	}{{"\x03\x03\x03\x03\x03\x03\x03", 7}, {"\x01\x01\x09\x01\x01\x01\x01", 4}, {"\x00\x01\x02\x03\x04\x05\x06", 0}} {
		parts := [][]byte{port(11, "x0"), port(12, "x7"), initializer("scale", 1, nil, text(9, "\x00\x00\x00\x3c")), integers("0", 0),
			initializer("w", int(Uint8), []int64{6, 6}, text(9, "matrix of six rows of six characters"))}
		for k := range 7 {
			name := func(s string) string { return fmt.Sprint(s, k) }
			zero, end := fmt.Sprint("zero", c.zeros[k]), name("end")
			if strings.IndexByte(c.zeros, c.zeros[k]) == k {
				parts = append(parts, initializer(zero, int(Uint8), nil, text(9, c.zeros[k:k+1])))
			}
			parts = append(withChain(parts, k, 18, name("x"), end),
				nodeOf("QuantizeLinear", []string{end, "scale", zero}, []string{name("bytes")}),
				nodeOf("Unsqueeze", []string{name("bytes"), "0"}, []string{name("row")}),
				nodeOf("MatMulInteger", []string{name("row"), "w", zero, zero}, []string{name("sums")}),
				nodeOf("Squeeze", []string{name("sums"), "0"}, []string{name("line")}),
				nodeOf("Cast", []string{name("line")}, []string{name("floats")}, intAttr("to", int64(Float))),
				nodeOf("Sin", []string{name("floats")}, []string{fmt.Sprint("x", k+1)}))
		}
		if n := sameWithoutLayers(t, modelOf(parts...)); n != c.layers && !core.CompileOff {
			t.Errorf("zero points %x: %d layers are pieces, want %d", c.zeros, n, c.layers)
		}
	}
}

// Subgraphs and outputs read weights by names that Identity nodes give them, which nodes of layers do without.
func TestLayersOfRenamedWeights(t *testing.T) {
	parts := [][]byte{port(11, "x0"), port(12, "y"), port(12, "w0"), initializer("w", 1, []int64{1}, text(9, "\x00\x00\x80\x3e")), integer("3", 3),
		nodeOf("Size", []string{"x0"}, []string{"size"}), nodeOf("Greater", []string{"size", "3"}, []string{"is long"})}
	for k := range 5 {
		end, w := fmt.Sprint("end", k), fmt.Sprint("w", k)
		parts = append(withChain(parts, k, 18, fmt.Sprint("x", k), end),
			nodeOf("Identity", []string{"w"}, []string{w}), nodeOf("Add", []string{end, w}, []string{fmt.Sprint("x", k+1)}))
	}
	branch := func(name, op string) []byte {
		return subgraph(name, nodeOf(op, []string{"x5", "w4"}, []string{op}), port(12, op))
	}
	parts = append(parts, nodeOf("If", []string{"is long"}, []string{"y"}, branch("then_branch", "Mul"), branch("else_branch", "Sub")))
	if n := sameWithoutLayers(t, modelOf(parts...)); n != 3 && !core.CompileOff {
		t.Errorf("%d layers are pieces, want 3", n)
	}
}

// The search of layers ends in graphs whose nodes are alike and read unequal values.
func TestSearchOfLayersEnds(t *testing.T) {
	parts := [][]byte{port(11, "x0"), port(12, "x1500")}
	for i := range 1500 {
		parts = append(parts, nodeOf("Max", []string{fmt.Sprint("x", i), fmt.Sprint("x", max(0, i-i*i%11))}, []string{fmt.Sprint("x", i+1)}))
	}
	m, err := Read(modelOf(parts...))
	if err != nil {
		t.Fatal(err)
	}
	g := m.graph
	g.alike()
	for _, budget := range []int{1 << 10, 1 << 19} {
		g.search = budget
		if r, _ := g.repeat(0, len(g.nodes)); r.count > 0 {
			t.Errorf("%+v are layers", r)
		}
		if g.search > 0 || g.search < -2*listCost*len(g.nodes) {
			t.Errorf("of %d comparisons %d are left", budget, g.search)
		}
	}
}

// TestStacksOfLayers finds stacks of layers of two or three kinds, whichever is longer, with nodes between them and with
// layers that are alike but not equal.
func TestStacksOfLayers(t *testing.T) {
	kinds := []string{"Tanh", "Exp", "Cos"}
	for _, c := range []struct{ counts, want []int }{
		{[]int{3, 5}, []int{3, 5}}, {[]int{5, 3}, []int{5, 3}}, {[]int{4, 4}, []int{4, 4}}, {[]int{3, 4, 5}, []int{3, 4, 5}},
		{[]int{4, 5, 3}, []int{4, 5, 3}}, {[]int{3, 5, 4}, []int{3, 5, 4}}, {[]int{2, 4}, []int{4}}, {[]int{3, -9, 4}, []int{3, 4}},
	} {
		at, k := "x0", 0
		parts := [][]byte{port(11, "x0"), initializer("half", 1, nil, text(9, "\x00\x00\x00\x3f"))}
		add := func(op string, in ...string) {
			at = fmt.Sprint("at", len(parts))
			parts = append(parts, nodeOf(op, in, []string{at}))
		}
		for kind, count := range c.counts {
			add("Abs", at)
			mask := at
			add("Sin", at)
			for range max(count, -count) {
				first, end := at, fmt.Sprint("end", k)
				parts = withChain(parts, k, 18, at, end)
				add(kinds[kind], end)
				add("Mul", at, "half")
				if count < 0 && k%2 == 0 { // reads another slot than the layer before
					first = mask
				}
				add("Add", at, mask)
				add("Add", at, first)
				k++
			}
		}
		data := modelOf(append(parts, port(12, at))...)
		sum := 0
		for _, n := range c.want {
			sum += n
		}
		if n := sameWithoutLayers(t, data); n != sum && !core.CompileOff {
			t.Errorf("stacks of %v: %d layers are pieces, want %v", c.counts, n, c.want)
		}
		m, err := Read(data)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(map[string]*weft.Tensor{"x0": weft.Ones(3)}); err != nil {
			t.Fatal(err)
		}
		for i, r := range m.graph.repeats {
			if i >= len(c.want) || r.count != c.want[i] || i > 0 && r.from < m.graph.repeats[i-1].end() {
				t.Errorf("stacks of %v: %+v, want %v", c.counts, m.graph.repeats, c.want)
				break
			}
		}
	}
}

// endsNever is a context that calls f when it is asked the number of times that left says.
type endsNever struct {
	context.Context
	left atomic.Int32
	f    func()
}

func (c *endsNever) Err() error {
	if c.left.Add(-1) == 0 {
		c.f()
	}
	return nil
}

func (c *endsNever) Done() <-chan struct{} { return make(chan struct{}) }

// A call may split a piece that another call has behind it, whose values that one has released.
func TestSplitBehindACall(t *testing.T) {
	if core.CompileOff {
		t.Skip("SKIPPED: functions run eagerly, without programs")
	}
	parts := [][]byte{port(11, "x0"), port(12, "x6")}
	for k := range 6 {
		parts = withChain(parts, k, 18, fmt.Sprint("x", k), fmt.Sprint("x", k+1))
	}
	x := map[string]*weft.Tensor{"x0": weft.FromSlice([]float32{-3, 0.5, 2})}
	for asked := int32(1); ; asked++ {
		m, err := Read(modelOf(parts...))
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Run(x)
		if err != nil {
			t.Fatal(err)
		}
		ctx := &endsNever{Context: context.Background()}
		ctx.left.Store(asked)
		ctx.f = func() { p := m.graph.pieces()[0]; m.graph.split(p, p.from+5) }
		got, err := m.RunContext(ctx, x)
		if err != nil {
			t.Fatalf("asked %d times: %v", asked, err)
		}
		if !got["x6"].AllClose(want["x6"]) {
			t.Errorf("asked %d times: %v, want %v", asked, got["x6"], want["x6"])
		}
		if ctx.left.Load() > 0 {
			return
		}
	}
}
