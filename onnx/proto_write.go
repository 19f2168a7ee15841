package onnx

import (
	"maps"
	"slices"

	"weft/internal/wire"
)

// The messages of onnx.proto3 as bytes, with the fields that exports have.

func appendNode(b []byte, n *nodeProto) []byte {
	for _, name := range n.inputs {
		b = wire.AppendBytes(b, 1, name)
	}
	for _, name := range n.outputs {
		b = wire.AppendBytes(b, 2, name)
	}
	b = wire.AppendBytes(b, 3, n.name)
	b = wire.AppendBytes(b, 4, n.op)
	for _, a := range n.attributes {
		b = wire.AppendBytes(b, 5, appendAttribute(nil, a))
	}
	return b
}

func appendAttribute(b []byte, a *attributeProto) []byte {
	b = wire.AppendBytes(b, 1, a.name)
	switch a.kind {
	case attrFloat:
		b = wire.AppendFloat32(b, 2, a.f)
	case attrInt:
		b = wire.AppendVarint(b, 3, uint64(a.i))
	case attrString:
		b = wire.AppendBytes(b, 4, a.s)
	case attrGraph:
		b = wire.AppendBytes(b, 6, appendGraph(nil, a.g))
	case attrInts:
		b = wire.AppendInt64s(b, 8, a.ints)
	}
	return wire.AppendVarint(b, 20, uint64(a.kind))
}

// appendGraph appends a graph without initializers: that of a node.
func appendGraph(b []byte, g *graphProto) []byte {
	for _, n := range g.nodes {
		b = wire.AppendBytes(b, 1, appendNode(nil, n))
	}
	b = wire.AppendBytes(b, 2, g.name)
	for _, v := range g.inputs {
		b = wire.AppendBytes(b, 11, appendValueInfo(nil, v))
	}
	for _, v := range g.outputs {
		b = wire.AppendBytes(b, 12, appendValueInfo(nil, v))
	}
	return b
}

// appendTensorHead appends a tensor up to its elements, which follow as a field with rawField.
func appendTensorHead(b []byte, t *tensorProto) []byte {
	b = wire.AppendInt64s(b, 1, t.dims)
	b = wire.AppendVarint(b, 2, uint64(t.elem))
	return wire.AppendBytes(b, 8, t.name)
}

// appendExternal appends where the elements of a tensor lie.
func appendExternal(b []byte, external map[string]string) []byte {
	for _, key := range slices.Sorted(maps.Keys(external)) {
		b = wire.AppendBytes(b, 13, wire.AppendBytes(wire.AppendBytes(nil, 1, key), 2, external[key]))
	}
	return wire.AppendVarint(b, 14, 1)
}

const rawField = 9

func appendTensor(b []byte, t *tensorProto) []byte {
	return wire.AppendBytes(appendTensorHead(b, t), rawField, t.raw)
}

func appendValueInfo(b []byte, v *valueProto) []byte {
	var dims []byte
	for _, d := range v.typ.shape {
		var dim []byte
		switch {
		case d.known:
			dim = wire.AppendVarint(nil, 1, uint64(d.size))
		case d.param != "":
			dim = wire.AppendBytes(nil, 2, d.param)
		}
		dims = wire.AppendBytes(dims, 1, dim)
	}
	tensor := wire.AppendVarint(nil, 1, uint64(v.typ.tensor))
	tensor = wire.AppendBytes(tensor, 2, dims)
	b = wire.AppendBytes(b, 1, v.name)
	return wire.AppendBytes(b, 2, wire.AppendBytes(nil, 1, tensor))
}
