package ir

import (
	"math"
	"testing"

	"weft/internal/array"
)

// Equal nodes are one, and nodes that differ in anything are two, however many
// there are.
func TestSharing(t *testing.T) {
	g := New()
	x, y := g.Input(0, array.Float32, []int{2, 3}), g.Input(1, array.Float32, []int{2, 3})
	all := []func() *Node{
		func() *Node { return x },
		func() *Node { return y },
		func() *Node { return g.Node(leaf("a"), Attrs{}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("b"), Attrs{}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{}, array.Float32, []int{2, 3}, false, y, x) },
		func() *Node { return g.Node(leaf("a"), Attrs{}, array.Float64, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{}, array.Float32, []int{3, 2}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{}, array.Float32, []int{2, 3}, true, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{Int: 1}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{Ints: []int{1}}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Attrs{Flag: true}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node {
			return g.Node(leaf("a"), Attrs{DType: array.Bool}, array.Float32, []int{2, 3}, false, x, y)
		},
		func() *Node { return g.Number(0, array.Float32, false) },
		func() *Node { return g.Number(math.Copysign(0, -1), array.Float32, false) },
		func() *Node { return g.Number(math.NaN(), array.Float32, false) },
	}
	for i := range 300 {
		all = append(all, func() *Node { return g.Scalar(i, array.Float64, true) })
	}
	seen := map[*Node]int{}
	for i, f := range all {
		if j, ok := seen[f()]; ok {
			t.Errorf("nodes %d and %d are one", i, j)
		}
		seen[f()] = i
	}
	for i, f := range all {
		if seen[f()] != i {
			t.Errorf("node %d was made twice", i)
		}
	}
	if len(g.Nodes) != len(all) {
		t.Errorf("%d nodes, want %d", len(g.Nodes), len(all))
	}
	for i, n := range g.Nodes {
		if n.ID != i {
			t.Errorf("node %d has the ID %d", i, n.ID)
		}
	}
}
