// Package ir is the tensor graph: typed nodes over n-d arrays, hash-consed per
// graph, so that equal computations are one node. It knows types and shapes,
// not what operations mean; package op gives nodes their operations.
package ir

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"weft/internal/array"
)

// An Op names what a node computes. *op.Def is the one implementation outside
// this package.
type Op interface {
	OpName() string
}

type leaf string

func (l leaf) OpName() string { return string(l) }

// Leaves of a graph.
const (
	Input  = leaf("input")  // array number Attrs.Int of the caller
	Scalar = leaf("scalar") // Go number number Attrs.Int of the caller, in the node's dtype
	Const  = leaf("const")  // Attrs.Float, or Attrs.Int when the dtype is an integer
)

// Attrs are the static parameters of an operation. What they mean is the
// operation's.
type Attrs struct {
	Ints  []int // axes, sizes, pads
	Int   int
	Float float64
	DType array.DType
	Flag  bool
}

// Append appends an encoding of the attributes to k: equal encodings mean equal
// attributes.
func (a *Attrs) Append(k []byte) []byte {
	k = binary.AppendVarint(k, int64(len(a.Ints)))
	for _, i := range a.Ints {
		k = binary.AppendVarint(k, int64(i))
	}
	k = binary.AppendVarint(k, int64(a.Int))
	k = binary.LittleEndian.AppendUint64(k, math.Float64bits(a.Float))
	f := byte(0)
	if a.Flag {
		f = 1
	}
	return append(k, byte(a.DType), f)
}

// A Node is one value of a graph. Nodes are made by [Graph.Node] and never
// change.
type Node struct {
	Graph *Graph
	ID    int // position in Graph.Nodes; arguments come before their users
	Op    Op
	Attrs Attrs
	Args  []*Node
	DType array.DType
	Shape []int
	Weak  bool // a Go number: gives its category to promotion, not its width
}

// Rank returns the number of dimensions.
func (n *Node) Rank() int { return len(n.Shape) }

// Size returns the number of elements.
func (n *Node) Size() int { return array.Size(n.Shape) }

// String shows the node with its arguments' numbers.
func (n *Node) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "n%d = %s", n.ID, n.Op.OpName())
	for _, a := range n.Args {
		fmt.Fprintf(&b, " n%d", a.ID)
	}
	a := &n.Attrs
	switch {
	case n.Op == Const && n.DType.Float():
		fmt.Fprintf(&b, " %v", a.Float)
	case n.Op == Const, n.Op == Input, n.Op == Scalar:
		fmt.Fprintf(&b, " %d", a.Int)
	default:
		if len(a.Ints) > 0 {
			fmt.Fprintf(&b, " %v", a.Ints)
		}
	}
	fmt.Fprintf(&b, " : %s", array.TypeString(n.DType, n.Shape))
	return b.String()
}

// A Graph holds nodes in an order in which arguments come first.
type Graph struct {
	Nodes []*Node
	table []int32 // by hash: one more than the ID, 0 for none; at least half is free
	room  []Node  // for nodes to come
}

// New returns an empty graph.
func New() *Graph { return &Graph{} }

// Node returns the node of this operation, making it if there is none yet.
func (g *Graph) Node(op Op, attrs Attrs, dtype array.DType, shape []int, weak bool, args ...*Node) *Node {
	for _, a := range args {
		if a.Graph != g {
			panic("ir: argument of another graph")
		}
	}
	if 2*len(g.Nodes) >= len(g.table) {
		g.table = make([]int32, max(64, 2*len(g.table)))
		for _, n := range g.Nodes {
			*g.slot(n) = int32(n.ID + 1)
		}
	}
	if len(g.room) == 0 {
		g.room = make([]Node, min(max(len(g.Nodes), 8), 64))
	}
	n := &g.room[0] // its place if it is new
	n.Graph, n.ID, n.Op, n.Attrs, n.Args = g, len(g.Nodes), op, attrs, args
	n.DType, n.Shape, n.Weak = dtype, shape, weak
	at := g.slot(n)
	if *at != 0 {
		return g.Nodes[*at-1]
	}
	g.room = g.room[1:]
	g.Nodes = append(g.Nodes, n)
	*at = int32(len(g.Nodes))
	return n
}

// slot returns the place in the table of the node equal to n, or of n.
func (g *Graph) slot(n *Node) *int32 {
	for h := n.hash(); ; h++ {
		at := &g.table[h&uint64(len(g.table)-1)]
		if *at == 0 || g.Nodes[*at-1].equal(n) {
			return at
		}
	}
}

// hash is the same for equal nodes. Every bit of what goes in reaches every bit
// of what comes out: numbers of a graph differ in few places, whole numbers as
// floats in their top bits alone, and the table looks at the lowest ones.
func (n *Node) hash() uint64 {
	h := uint64(n.DType)
	mix := func(x uint64) {
		hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
		h = hi ^ lo
	}
	for _, b := range []byte(n.Op.OpName()) {
		mix(uint64(b))
	}
	for _, a := range n.Args {
		mix(uint64(a.ID))
	}
	for _, i := range n.Attrs.Ints {
		mix(uint64(i))
	}
	for _, d := range n.Shape {
		mix(uint64(d))
	}
	mix(uint64(n.Attrs.Int))
	mix(math.Float64bits(n.Attrs.Float))
	// The finaliser of MurmurHash3.
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// equal reports that two nodes of a graph are the same computation.
func (n *Node) equal(m *Node) bool {
	a, b := &n.Attrs, &m.Attrs
	return n.Op == m.Op && n.DType == m.DType && n.Weak == m.Weak &&
		a.Int == b.Int && math.Float64bits(a.Float) == math.Float64bits(b.Float) && a.DType == b.DType && a.Flag == b.Flag &&
		slices.Equal(a.Ints, b.Ints) && slices.Equal(n.Shape, m.Shape) && slices.Equal(n.Args, m.Args)
}

// Input returns the array that the caller passes as number i.
func (g *Graph) Input(i int, dtype array.DType, shape []int) *Node {
	return g.Node(Input, Attrs{Int: i}, dtype, shape, false)
}

// Scalar returns the Go number that the caller passes as number i. Weak, its
// dtype is only a category's representative.
func (g *Graph) Scalar(i int, dtype array.DType, weak bool) *Node {
	return g.Node(Scalar, Attrs{Int: i}, dtype, nil, weak)
}

// Number returns a constant; integers are given exactly, floats are rounded to
// dtype when used.
func (g *Graph) Number(x float64, dtype array.DType, weak bool) *Node {
	if dtype.Float() {
		return g.Node(Const, Attrs{Float: x}, dtype, nil, weak)
	}
	return g.Node(Const, Attrs{Int: int(x)}, dtype, nil, weak)
}

// Reach returns, by node ID, which nodes the outputs need.
func Reach(outs []*Node) []bool {
	if len(outs) == 0 {
		return nil
	}
	g := outs[0].Graph
	need := make([]bool, len(g.Nodes))
	for _, o := range outs {
		need[o.ID] = true
	}
	// Arguments come before their users.
	for id := len(need) - 1; id >= 0; id-- {
		if need[id] {
			for _, a := range g.Nodes[id].Args {
				need[a.ID] = true
			}
		}
	}
	return need
}

// String lists the nodes.
func (g *Graph) String() string {
	var b strings.Builder
	for _, n := range g.Nodes {
		fmt.Fprintln(&b, n)
	}
	return b.String()
}
