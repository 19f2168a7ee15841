package onnx

import (
	"fmt"
	"math/rand"
	"slices"
	"sync"
	"testing"

	"weft"
	"weft/internal/wire"
)

// sizesTwice is a model of x (b, n) and p (b or 1, 1) that computes equal sizes several times, as exporters do for each
// layer, beside sizes that differ in an index, an attribute or the order of inputs. The number of columns chooses a branch.
func sizesTwice(t *testing.T) *Model {
	t.Helper()
	ints := func(name string, dims []int64, v ...int64) []byte {
		return initializer(name, 7, dims, wire.AppendInt64s(nil, 7, v))
	}
	number := func(name string, i uint64) []byte { return attr(name, attrInt, wire.AppendVarint(nil, 3, i)) }
	inner := func(op string) []byte {
		return append(nodeOf(op, []string{"u"}, []string{op}), append(text(2, op), port(12, op)...)...)
	}
	parts := [][]byte{ints("three", nil, 3), ints("second", nil, 1), port(11, "x"), port(11, "p"), port(12, "y"), port(12, "w")}
	from := "x"
	for i := range 3 {
		name := func(s string) string { return fmt.Sprint(s, i) }
		parts = append(parts,
			ints(name("zero"), []int64{1}, 0), ints(name("one"), []int64{1}, 1),
			nodeOf("Shape", []string{from}, []string{name("s")}),
			nodeOf("Gather", []string{name("s"), name("zero")}, []string{name("rows")}),
			nodeOf("Gather", []string{name("s"), name("one")}, []string{name("cols")}),
			nodeOf("Mul", []string{name("rows"), name("cols")}, []string{name("all")}),
			nodeOf("Reshape", []string{from, name("all")}, []string{name("flat")}, number("allowzero", 1)),
			nodeOf("Relu", []string{name("flat")}, []string{name("relu")}),
			nodeOf("Concat", []string{name("rows"), name("cols")}, []string{name("back")}, number("axis", 0)),
			nodeOf("Concat", []string{name("cols"), name("rows")}, []string{name("turned")}, number("axis", 0)),
			nodeOf("Reshape", []string{name("relu"), name("back")}, []string{name("x")}, number("allowzero", 1)))
		from = name("x")
	}
	parts = append(parts,
		nodeOf("Reshape", []string{"relu2", "turned2"}, []string{"w"}, number("allowzero", 1)),
		nodeOf("Cast", []string{"cols0"}, []string{"half"}, number("to", 6)), // int32
		nodeOf("Cast", []string{"half"}, []string{"same"}, number("to", 1)),
		nodeOf("Cast", []string{"cols0"}, []string{"left"}, number("to", 1)),
		nodeOf("Sub", []string{"same", "left"}, []string{"nothing"}),
		nodeOf("Cast", []string{"rows1"}, []string{"right"}, number("to", 1)),
		nodeOf("Add", []string{"x2", "p"}, []string{"a"}),
		nodeOf("Mul", []string{"a", "left"}, []string{"b"}),
		nodeOf("Sub", []string{"b", "right"}, []string{"d"}),
		nodeOf("Add", []string{"d", "nothing"}, []string{"u"}),
		nodeOf("Gather", []string{"s2", "second"}, []string{"n"}),
		nodeOf("Greater", []string{"n", "three"}, []string{"long"}),
		nodeOf("If", []string{"long"}, []string{"y"}, attr("then_branch", attrGraph, wire.AppendBytes(nil, 6, inner("Neg"))), attr("else_branch", attrGraph, wire.AppendBytes(nil, 6, inner("Abs")))))
	m, err := Read(modelOf(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// New lengths in any order, in calls at the same time, have the bits of a model that was just read.
func TestNewLengths(t *testing.T) {
	m := sizesTwice(t)
	type size struct{ b, n, p int }
	var sizes []size
	for _, b := range []int{0, 1, 2, 5} {
		for _, n := range []int{0, 1, 2, 3, 4, 9} {
			sizes = append(sizes, size{b, n, 1}, size{b, n, b})
		}
	}
	rand.New(rand.NewSource(1)).Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	run := func(m *Model, s size) (x, p *weft.Tensor, out map[string]*weft.Tensor) {
		x = weft.Arange(s.b*s.n).To(weft.Float32).Sub(2).Reshape(s.b, s.n)
		p = weft.Arange(s.p).To(weft.Float32).Mul(0.1).Reshape(s.p, 1)
		out, err := m.Run(map[string]*weft.Tensor{"x": x, "p": p})
		if err != nil {
			t.Errorf("%v: %v", s, err)
		}
		return x, p, out
	}
	var wg sync.WaitGroup
	for _, part := range [][]size{sizes[:len(sizes)/2], sizes[len(sizes)/3:]} {
		wg.Go(func() {
			for _, s := range part {
				x, p, out := run(m, s)
				if out == nil {
					continue
				}
				want := x.Relu().Add(p).Mul(s.n).Sub(s.b)
				if want = want.Abs(); s.n > 3 {
					want = x.Relu().Add(p).Mul(s.n).Sub(s.b).Neg()
				}
				if y := out["y"]; !slices.Equal(y.Shape(), want.Shape()) || !y.AllClose(want) {
					t.Errorf("%v: %v, want %v", s, y, want)
				}
				if w := out["w"]; !slices.Equal(w.Shape(), []int{s.n, s.b}) || !w.AllClose(x.Relu().Reshape(s.n, s.b)) {
					t.Errorf("%v: turned %v", s, w)
				}
			}
		})
	}
	wg.Wait()
	for _, s := range sizes[:6] {
		_, _, out := run(m, s)
		_, _, fresh := run(sizesTwice(t), s)
		for name := range out {
			if !slices.Equal(weft.Data[float32](out[name]), weft.Data[float32](fresh[name])) {
				t.Errorf("%v: %s differs from that of a new model", s, name)
			}
		}
	}
}

// Nodes like one another are found by what they compute alone.
func TestSizesAreComputedOnce(t *testing.T) {
	m := sizesTwice(t)
	if _, err := m.Run(map[string]*weft.Tensor{"x": weft.Ones(2, 3), "p": weft.Ones(1, 1)}); err != nil {
		t.Fatal(err)
	}
	first := map[*node]int{}
	for _, n := range m.graph.nodes {
		if n.op.name == "Concat" || n.op.name == "Cast" {
			first[n.like]++
		}
	}
	if len(first) != 3 || first[nil] > 0 { // Concat, and Cast to two types
		t.Errorf("kinds of nodes: %v", first)
	}
}
