package plan

import (
	"slices"

	"weft/internal/ir"
)

// byNode holds something for each of a few nodes.
type byNode[T any] struct {
	nodes  []*ir.Node
	values []T
}

// room makes room for n nodes.
func (m *byNode[T]) room(n int) {
	m.nodes, m.values = make([]*ir.Node, 0, n), make([]T, 0, n)
}

func (m *byNode[T]) get(n *ir.Node) (v T, ok bool) {
	if i := slices.Index(m.nodes, n); i >= 0 {
		return m.values[i], true
	}
	return v, false
}

// at is what is held for a node, or zero.
func (m *byNode[T]) at(n *ir.Node) T {
	v, _ := m.get(n)
	return v
}

func (m *byNode[T]) set(n *ir.Node, v T) {
	if i := slices.Index(m.nodes, n); i >= 0 {
		m.values[i] = v
		return
	}
	m.nodes, m.values = append(m.nodes, n), append(m.values, v)
}
