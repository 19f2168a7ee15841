package onnx

import (
	"fmt"
	"slices"
	"strings"

	"weft"
	"weft/internal/core"
	"weft/internal/ir"
)

// Exporters write the arithmetic of sizes once for each layer: Shape, Gather, Unsqueeze and Concat before each Reshape. A
// trace computes such nodes at once, each kind of node once for the same inputs.

// maxShared is the number of elements up to which known tensors with equal elements are one.
const maxShared = 64

// maxKnownInputs is the number of inputs up to which the results of a node are kept for nodes like it.
const maxKnownInputs = 6

// A known keeps what a trace computed of elements that it knows. Values with equal elements are one, so that nodes with
// equal inputs have the same tensors as inputs.
type known struct {
	same map[string]Value
	made map[knownKey][]Value
}

// A knownKey says which results a node has: like is the first of the graph's nodes that computes the same of the same
// inputs.
type knownKey struct {
	like *node
	in   [maxKnownInputs]*weft.Tensor
}

func newKnown() *known { return &known{same: map[string]Value{}, made: map[knownKey][]Value{}} }

// key returns the key of a node whose inputs are known. ok is false of nodes whose results are not kept: those with many
// inputs, or inputs that are not tensors, or subgraphs.
func (k *known) key(n *node, env []Value) (key knownKey, ok bool) {
	if k == nil || n.like == nil || len(n.in) > maxKnownInputs {
		return key, false
	}
	key.like = n.like
	for i, slot := range n.in {
		if slot < 0 {
			continue
		}
		if env[slot].kind != TensorKind {
			return key, false
		}
		key.in[i] = env[slot].tensor
	}
	return key, true
}

// share returns the first value with the elements of v, which is v itself for larger ones and for what is not a tensor.
func (k *known) share(v Value) Value {
	if k == nil || !v.known || v.kind != TensorKind || v.tensor.Size() > maxShared {
		return v
	}
	key, ok := contentOf(v)
	if !ok {
		return v
	}
	if first, ok := k.same[key]; ok {
		return first
	}
	k.same[key] = v
	return v
}

// contentOf returns the element type, the shape and the elements of a known tensor. ok is false where the host does not
// reach them in order.
func contentOf(v Value) (key string, ok bool) {
	core.OutsideTrace(func() {
		t := (*core.Tensor)(v.tensor)
		if view := t.View(); !view.Contiguous() || !core.OnHost(t) {
			return
		}
		h := core.ToHost(t)
		defer core.Leave(&h)
		b := append(make([]byte, 0, 64), byte(v.elem), byte(h.DType))
		key, ok = string(append(ir.Ints(b, h.Shape), core.Bytes(&h)...)), true
	})
	return key, ok
}

// alike says of each node which node before it computes the same of the same inputs, in graphs whose constants are given.
func (g *graph) alike() {
	k := newKnown()
	for i := range g.consts {
		g.consts[i].value = k.shareCopy(g.consts[i].value)
	}
	first := map[string]*node{}
	for _, n := range g.nodes {
		if n.op.random || slices.ContainsFunc(n.attrs, func(a attribute) bool { return a.graph != nil }) {
			continue
		}
		key := n.kind()
		if first[key] == nil {
			first[key] = n
		}
		n.like = first[key]
	}
}

// shareCopy is share of a copy in memory of its own: small constants would be pages of a file that each reader checks.
func (k *known) shareCopy(v Value) Value {
	if !v.known || v.kind != TensorKind || v.tensor.Size() > maxShared {
		return v
	}
	v.tensor = v.tensor.Clone()
	return k.share(v)
}

// kind is what a node computes apart from its inputs. Nodes with attributes that are tensors or types are of a kind of
// their own.
func (n *node) kind() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %d %d", n.domain, n.op.name, n.opset, len(n.in))
	for _, slot := range n.out {
		fmt.Fprint(&b, " ", slot >= 0)
	}
	for _, a := range n.attrs {
		fmt.Fprintf(&b, " %q %d %d %x %q %v %x %q", a.name, a.kind, a.i, a.f, a.s, a.ints, a.floats, a.strings)
		if a.value.kind != NoValue || a.typ != nil {
			fmt.Fprintf(&b, " %p", n)
		}
	}
	return b.String()
}
