// Package ir is the tensor graph: typed nodes over n-d arrays, hash-consed per
// graph, so that equal computations are one node. It knows types and shapes,
// not what operations mean; package op gives nodes their operations.
package ir

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"weft/internal/array"
)

// An Op names what a node computes. *op.Def is the one implementation outside
// this package.
type Op interface {
	OpName() string
}

type leaf string

func (l leaf) OpName() string { return string(l) }

// Leaves of a graph. Their attributes are an [Arg] or a [Value].
const (
	Input = leaf("input") // an array of the caller
	// Scalar is a Go number of the caller, in the node's dtype. An integer must lie
	// between the limits of the dtype, or those that a [Bounds] gives; beyond the
	// dtype's it is the nearest.
	Scalar = leaf("scalar")
	// Between is whether a Go integer of the caller lies in its [Bounds].
	Between = leaf("between")
	Const   = leaf("const") // a number that is part of the graph
)

// Result is one of the values of its argument, which has several: number Arg.
const Result = leaf("result")

// Attrs are the static parameters of an operation: a struct of the operation's
// own. Its methods have value receivers.
type Attrs interface {
	// AppendKey appends an encoding to k: equal encodings mean equal attributes
	// of that type. What an attribute refers to, such as a graph, it encodes by
	// content.
	AppendKey(k []byte) []byte
}

// CopyAttrs returns attributes that share no memory with a: lists in them may be
// the caller's, but those in fields that are not exported, which never change.
func CopyAttrs(a Attrs) Attrs {
	if a == nil {
		return nil
	}
	v := reflect.New(reflect.TypeOf(a)).Elem()
	v.Set(reflect.ValueOf(a))
	copyLists(v)
	return v.Interface().(Attrs)
}

func copyLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Slice:
		if !v.IsNil() && v.CanSet() {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			copyLists(v.Field(i))
		}
	case reflect.Interface:
		if !v.CanSet() {
			return
		}
		if a, ok := v.Interface().(Attrs); ok {
			v.Set(reflect.ValueOf(CopyAttrs(a)))
		}
	}
}

// Int, Ints, Float and Flag append one field to a key; the number of elements of
// a list is part of it.
func Int(k []byte, i int) []byte { return binary.AppendVarint(k, int64(i)) }

// Ints appends a list.
func Ints(k []byte, list []int) []byte {
	k = binary.AppendVarint(k, int64(len(list)))
	for _, i := range list {
		k = binary.AppendVarint(k, int64(i))
	}
	return k
}

// Float appends the bits of a number.
func Float(k []byte, f float64) []byte {
	return binary.LittleEndian.AppendUint64(k, math.Float64bits(f))
}

// Flag appends a truth value.
func Flag(k []byte, f bool) []byte {
	if f {
		return append(k, 1)
	}
	return append(k, 0)
}

// An Arg is which of the caller's arrays or numbers an Input or Scalar is, or of
// its argument's values a Result.
type Arg int

// AppendKey implements Attrs.
func (a Arg) AppendKey(k []byte) []byte { return Int(k, int(a)) }

// Bounds is an Arg that is an integer, with the least and the greatest that is meant.
type Bounds struct {
	Arg      int
	Min, Max int64
}

// AppendKey implements Attrs.
func (b Bounds) AppendKey(k []byte) []byte {
	return binary.AppendVarint(binary.AppendVarint(Int(k, b.Arg), b.Min), b.Max)
}

// A Value is that of a Const: Float if the node has floats, else Int, exactly.
type Value struct {
	Float float64
	Int   int64
}

// AppendKey implements Attrs.
func (v Value) AppendKey(k []byte) []byte { return binary.AppendVarint(Float(k, v.Float), v.Int) }

// A Node is one value of a graph. Nodes are made by [Graph.Node] and never
// change.
type Node struct {
	Graph *Graph
	ID    int // position in Graph.Nodes; arguments come before their users
	Op    Op
	Attrs Attrs // nil if the operation has none
	Args  []*Node
	DType array.DType
	Shape []int
	Weak  bool // a Go number: gives its category to promotion, not its width

	// Results are the types of the values of a node that has several; it has no
	// value itself then, and no DType and Shape.
	Results []Type

	key  string // of the attributes
	kind uint64 // hash of all but the arguments
	hash uint64
}

// A Type is the element type and shape of a value.
type Type struct {
	DType array.DType
	Shape []int
}

// Arg returns which of the caller's arrays or numbers an Input or Scalar is, or
// of its argument's values a Result.
func (n *Node) Arg() int {
	if b, ok := n.Attrs.(Bounds); ok {
		return b.Arg
	}
	return int(n.Attrs.(Arg))
}

// Bounds returns the bounds of a Scalar or Between.
func (n *Node) Bounds() (lo, hi int64) {
	if b, ok := n.Attrs.(Bounds); ok {
		return b.Min, b.Max
	}
	return n.DType.Limits()
}

// Value returns the number that a Const is.
func (n *Node) Value() Value { return n.Attrs.(Value) }

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
	switch {
	case n.Op == Const && n.DType.Float():
		fmt.Fprintf(&b, " %v", n.Value().Float)
	case n.Op == Const:
		fmt.Fprintf(&b, " %d", n.Value().Int)
	case n.Attrs != nil:
		fmt.Fprintf(&b, " %v", n.Attrs)
	}
	if n.Results != nil {
		fmt.Fprintf(&b, " : %v", n.Results)
	} else {
		fmt.Fprintf(&b, " : %s", array.TypeString(n.DType, n.Shape))
	}
	return b.String()
}

// A Graph holds nodes in an order in which arguments come first.
type Graph struct {
	Nodes []*Node
	table []int32 // by hash: one more than the ID, 0 for none; at least half is free
	room  []Node  // for nodes to come
	keys  []byte  // for the attributes of one
}

// New returns an empty graph.
func New() *Graph { return &Graph{} }

// Node returns the node of this operation, making it if there is none yet.
func (g *Graph) Node(op Op, attrs Attrs, dtype array.DType, shape []int, weak bool, args ...*Node) *Node {
	return g.node(op, attrs, Type{dtype, shape}, nil, weak, args)
}

// Several returns the node of an operation with several results. The node itself has
// no value: [Graph.Result] gives the results.
func (g *Graph) Several(op Op, attrs Attrs, results []Type, args ...*Node) *Node {
	return g.node(op, attrs, Type{}, results, false, args)
}

// Result returns result i of a node made by [Graph.Several].
func (g *Graph) Result(n *Node, i int) *Node {
	t := n.Results[i]
	return g.Node(Result, Arg(i), t.DType, t.Shape, false, n)
}

// Copy returns the node of the operation of n, of this or another graph, with other arguments of n's
// argument types. It takes less time than [Graph.Node].
func (g *Graph) Copy(n *Node, args []*Node) *Node {
	m := g.next(args)
	*m = *n
	m.Graph, m.ID, m.Args = g, len(g.Nodes), args
	m.hash = m.mix()
	at := g.slot(m, m.key)
	if *at != 0 {
		return g.Nodes[*at-1]
	}
	return g.take(at)
}

// Grow makes room for a number of further nodes.
func (g *Graph) Grow(nodes int) {
	g.Nodes = slices.Grow(g.Nodes, nodes)
	if len(g.room) < nodes {
		g.room = make([]Node, nodes)
	}
	if size := len(g.table); 2*(len(g.Nodes)+nodes) > size {
		g.rehash(1 << bits.Len(uint(2*(len(g.Nodes)+nodes))))
	}
}

func (g *Graph) node(op Op, attrs Attrs, t Type, results []Type, weak bool, args []*Node) *Node {
	n := g.next(args)
	g.keys = g.keys[:0]
	if attrs != nil {
		g.keys = attrs.AppendKey(g.keys)
	}
	*n = Node{Graph: g, ID: len(g.Nodes), Op: op, Attrs: attrs, Args: args, DType: t.DType, Shape: t.Shape, Weak: weak, Results: results}
	n.kind = n.mixKind(g.keys)
	n.hash = n.mix()
	// A conversion that does not outlive the call takes no memory.
	at := g.slot(n, unsafe.String(unsafe.SliceData(g.keys), len(g.keys)))
	if *at != 0 {
		return g.Nodes[*at-1]
	}
	n.key = string(g.keys)
	return g.take(at)
}

// next returns the place of a node that may be new, with these arguments.
func (g *Graph) next(args []*Node) *Node {
	for _, a := range args {
		if a.Graph != g {
			panic("ir: argument of another graph")
		}
	}
	if 2*len(g.Nodes) >= len(g.table) {
		g.rehash(max(16, 2*len(g.table)))
	}
	if len(g.room) == 0 {
		g.room = make([]Node, min(max(len(g.Nodes), 2), 64))
	}
	return &g.room[0]
}

// take makes the node in the next place one of the graph. at is its slot.
func (g *Graph) take(at *int32) *Node {
	n := &g.room[0]
	g.room = g.room[1:]
	g.Nodes = append(g.Nodes, n)
	*at = int32(len(g.Nodes))
	return n
}

// rehash makes the table one of a size, a power of two.
func (g *Graph) rehash(size int) {
	g.table = make([]int32, size)
	for _, n := range g.Nodes {
		*g.slot(n, n.key) = int32(n.ID + 1)
	}
}

// slot returns the place in the table of the node equal to n, whose attributes
// have that key, or of n.
func (g *Graph) slot(n *Node, key string) *int32 {
	for h := n.hash; ; h++ {
		at := &g.table[h&uint64(len(g.table)-1)]
		if *at == 0 || g.Nodes[*at-1].equal(n, key) {
			return at
		}
	}
}

// mix is the hash of a node of a kind, the same for equal nodes. Every bit of what goes in reaches every bit
// of what comes out: numbers of a graph differ in few places, whole numbers as floats in their top bits
// alone, and the table looks at the lowest ones.
func (n *Node) mix() uint64 {
	h := n.kind
	for _, a := range n.Args {
		h = mixed(h, uint64(a.ID))
	}
	// The finaliser of MurmurHash3.
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// mixKind is the hash of all but the arguments; key is that of the attributes.
func (n *Node) mixKind(key []byte) uint64 {
	h := uint64(n.DType)
	h = mixedBytes(h, unsafe.Slice(unsafe.StringData(n.Op.OpName()), len(n.Op.OpName())))
	h = mixedBytes(h, key)
	for _, d := range n.Shape {
		h = mixed(h, uint64(d))
	}
	return h
}

func mixed(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9e3779b97f4a7c15, 0xd1342543de82ef95)
	return hi ^ lo
}

// mixedBytes mixes eight bytes at a time, then the rest and the length.
func mixedBytes(h uint64, b []byte) uint64 {
	n := uint64(len(b))
	for ; len(b) >= 8; b = b[8:] {
		h = mixed(h, binary.LittleEndian.Uint64(b))
	}
	rest := n << 56
	for i, c := range b {
		rest |= uint64(c) << (8 * i)
	}
	return mixed(h, rest)
}

// equal reports that m, whose attributes have that key, is the same computation
// as n. Equal computations have equal results.
func (n *Node) equal(m *Node, key string) bool {
	return n.hash == m.hash && n.Op == m.Op && n.DType == m.DType && n.Weak == m.Weak && n.key == key &&
		slices.Equal(n.Shape, m.Shape) && slices.Equal(n.Args, m.Args)
}

// Input returns the array that the caller passes as number i.
func (g *Graph) Input(i int, dtype array.DType, shape []int) *Node {
	return g.Node(Input, Arg(i), dtype, shape, false)
}

// Scalar returns the Go number that the caller passes as number i. Weak, its
// dtype is only a category's representative.
func (g *Graph) Scalar(i int, dtype array.DType, weak bool) *Node {
	return g.Node(Scalar, Arg(i), dtype, nil, weak)
}

// Number returns a constant; integers are given exactly, floats are rounded to
// dtype when used.
func (g *Graph) Number(x float64, dtype array.DType, weak bool) *Node {
	if dtype.Complex() {
		panic("ir: a number of complex type is made of its parts")
	}
	if dtype.Float() {
		return g.Node(Const, Value{Float: x}, dtype, nil, weak)
	}
	return g.Node(Const, Value{Int: int64(x)}, dtype, nil, weak)
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
