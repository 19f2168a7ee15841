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
		func() *Node { return g.Node(leaf("a"), nil, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("b"), nil, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), nil, array.Float32, []int{2, 3}, false, y, x) },
		func() *Node { return g.Node(leaf("a"), nil, array.Float64, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), nil, array.Float32, []int{3, 2}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), nil, array.Float32, []int{2, 3}, true, x, y) },
		func() *Node { return g.Node(leaf("a"), Arg(1), array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Value{Int: 1}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node { return g.Node(leaf("a"), Value{Float: 1}, array.Float32, []int{2, 3}, false, x, y) },
		func() *Node {
			return g.Several(leaf("a"), nil, []Type{{array.Float32, []int{2, 3}}, {array.Int64, []int{2}}}, x, y)
		},
		func() *Node {
			return g.Result(g.Several(leaf("a"), nil, []Type{{array.Float32, []int{2, 3}}, {array.Int64, []int{2}}}, x, y), 0)
		},
		func() *Node {
			return g.Result(g.Several(leaf("a"), nil, []Type{{array.Float32, []int{2, 3}}, {array.Int64, []int{2}}}, x, y), 1)
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

// Finding a node takes a look or two at the table, whatever the nodes differ in:
// numbers that are whole, powers of two, shapes, attributes, arguments.
func TestHash(t *testing.T) {
	const many = 20_000
	for name, node := range map[string]func(g *Graph, i int) *Node{
		"whole numbers": func(g *Graph, i int) *Node { return g.Number(float64(i), array.Float32, false) },
		"halves":        func(g *Graph, i int) *Node { return g.Number(float64(i)/2, array.Float64, true) },
		"negative":      func(g *Graph, i int) *Node { return g.Number(-float64(i), array.Float64, false) },
		"fractions":     func(g *Graph, i int) *Node { return g.Number(1/float64(1+i), array.Float64, false) },
		"powers of two": func(g *Graph, i int) *Node {
			return g.Number(math.Ldexp(1+float64(i/2000), i%2000-1000), array.Float64, false)
		},
		"integers":         func(g *Graph, i int) *Node { return g.Number(float64(i), array.Int64, false) },
		"many thousands":   func(g *Graph, i int) *Node { return g.Number(float64(i)*4096, array.Int64, false) },
		"numbers of calls": func(g *Graph, i int) *Node { return g.Scalar(i, array.Float32, true) },
		"shapes":           func(g *Graph, i int) *Node { return g.Input(0, array.Float32, []int{1 << (i % 20), i / 20}) },
		"attributes": func(g *Graph, i int) *Node {
			return g.Node(leaf("slice"), Value{Float: float64(i % 100), Int: int64(i / 100 * 64)}, array.Float32, []int{2}, false, g.Input(0, array.Float32, []int{2}))
		},
		"a chain": func(g *Graph, i int) *Node {
			x := g.Input(0, array.Float32, nil)
			if n := len(g.Nodes); n > 1 {
				x = g.Nodes[n-1]
			}
			return g.Node(leaf("add"), nil, array.Float32, nil, false, x, x)
		},
	} {
		g := New()
		for i := range many {
			node(g, i)
		}
		looks := 0
		for _, n := range g.Nodes {
			at := n.hash
			for ; g.table[at&uint64(len(g.table)-1)] != int32(n.ID+1); at++ {
				looks++
			}
			looks++
		}
		// A table that is half full takes 1.5 with an ideal hash.
		if mean := float64(looks) / float64(len(g.Nodes)); mean > 1.6 {
			t.Errorf("%s: %d nodes are found in %.2f looks each", name, len(g.Nodes), mean)
		}
	}
}

// Outputs need themselves and what they are computed from, nothing else.
func TestReach(t *testing.T) {
	g := New()
	x := g.Input(0, array.Float32, nil)
	beside := g.Input(1, array.Float32, nil)
	n := x
	for range 1000 {
		n = g.Node(leaf("add"), nil, array.Float32, nil, false, n, n)
	}
	after := g.Node(leaf("exp"), nil, array.Float32, nil, false, n)
	need := Reach([]*Node{n, x})
	for _, m := range g.Nodes {
		if need[m.ID] != (m != beside && m != after) {
			t.Errorf("%s: needed %v", m, need[m.ID])
		}
	}
	if Reach(nil) != nil {
		t.Error("nothing needs something")
	}
}

// A copy is the node that Node makes, in its own graph and in another one with room for it.
func TestCopyIsTheNode(t *testing.T) {
	g := New()
	x, y := g.Input(0, array.Float32, []int{2, 3}), g.Input(1, array.Float32, []int{2, 3})
	n := g.Node(leaf("sum"), Arg(7), array.Float32, []int{2, 3}, false, x, y)
	if g.Copy(n, []*Node{x, y}) != n {
		t.Error("a copy with the same arguments is another node")
	}
	if m := g.Copy(n, []*Node{y, x}); m == n || m != g.Node(leaf("sum"), Arg(7), array.Float32, []int{2, 3}, false, y, x) {
		t.Error("a copy with other arguments is not the node that Node makes")
	}
	h := New()
	h.Grow(5)
	u, v := h.Copy(x, nil), h.Copy(y, nil)
	m := h.Copy(n, []*Node{u, v})
	if u.ID != 0 || v.ID != 1 || m.ID != 2 || m.Graph != h || h.Node(leaf("sum"), Arg(7), array.Float32, []int{2, 3}, false, u, v) != m || h.Input(1, array.Float32, []int{2, 3}) != v {
		t.Errorf("copied to another graph: %v", h)
	}
}
