package onnx

import "weft/internal/wire"

// The messages of onnx.proto3 as Go structs, with the fields that weft uses. Bytes are parts of the input.

type modelProto struct {
	irVersion    int64
	producer     string
	version      string
	domain       string
	modelVersion int64
	doc          string
	graph        *graphProto
	opsets       map[string]int
	metadata     map[string]string
	functions    []*functionProto
}

type graphProto struct {
	name         string
	doc          string
	nodes        []*nodeProto
	initializers []*tensorProto
	sparse       []*sparseProto
	inputs       []*valueProto
	outputs      []*valueProto
}

type nodeProto struct {
	name, op, domain, overload string
	inputs, outputs            []string
	attributes                 []*attributeProto
}

// The types of attributes.
const (
	attrFloat       = 1
	attrInt         = 2
	attrString      = 3
	attrTensor      = 4
	attrGraph       = 5
	attrFloats      = 6
	attrInts        = 7
	attrStrings     = 8
	attrTensors     = 9
	attrGraphs      = 10
	attrSparse      = 11
	attrSparses     = 12
	attrType        = 13
	attrTypes       = 14
	attrUnspecified = 0
)

type attributeProto struct {
	name, ref string
	kind      int
	f         float32
	i         int64
	s         []byte
	t         *tensorProto
	g         *graphProto
	sparse    *sparseProto
	tp        *typeProto
	floats    []float32
	ints      []int64
	strings   [][]byte
	tensors   []*tensorProto
	graphs    []*graphProto
}

type tensorProto struct {
	name     string
	dims     []int64
	elem     ElementType
	raw      []byte
	rawAt    int // offset of raw in the file
	hasRaw   bool
	floats   []float32
	doubles  []float64
	ints     []int64 // int32_data, int64_data or uint64_data
	strings  [][]byte
	external map[string]string // nil: the data is in the message
}

type sparseProto struct {
	values, indices *tensorProto
	dims            []int64
}

type valueProto struct {
	name string
	typ  *typeProto
}

// typeProto is a type: exactly one field but shape is set.
type typeProto struct {
	tensor   ElementType
	shape    []dimProto
	ranked   bool // shape is given
	sparse   bool
	sequence *typeProto
	optional *typeProto
	mapKey   ElementType
	mapValue *typeProto
}

type dimProto struct {
	size  int64
	param string
	known bool
}

type functionProto struct {
	name, domain, overload string
	inputs, outputs, attrs []string
	defaults               []*attributeProto
	nodes                  []*nodeProto
	opsets                 map[string]int
}

func readModelProto(data []byte) (*modelProto, error) {
	m := &modelProto{opsets: map[string]int{}, metadata: map[string]string{}}
	r := wire.NewReader(data)
	for r.Next() {
		switch r.Field() {
		case 1:
			m.irVersion = r.Int64()
		case 2:
			m.producer = r.String()
		case 3:
			m.version = r.String()
		case 4:
			m.domain = r.String()
		case 5:
			m.modelVersion = r.Int64()
		case 6:
			m.doc = r.String()
		case 7:
			r.Message(func(r *wire.Reader) { m.graph = readGraph(r) })
		case 8:
			readOpset(r, m.opsets)
		case 14:
			readPair(r, m.metadata)
		case 25:
			r.Message(func(r *wire.Reader) { m.functions = append(m.functions, readFunction(r)) })
		}
	}
	return m, r.Err()
}

func readOpset(r *wire.Reader, to map[string]int) {
	r.Message(func(r *wire.Reader) {
		domain, version := "", 0
		for r.Next() {
			switch r.Field() {
			case 1:
				domain = r.String()
			case 2:
				version = r.Int()
			}
		}
		to[plainDomain(domain)] = version
	})
}

// plainDomain gives ONNX's own domain its short name.
func plainDomain(domain string) string {
	if domain == "ai.onnx" {
		return ""
	}
	return domain
}

func readPair(r *wire.Reader, to map[string]string) {
	r.Message(func(r *wire.Reader) {
		var key, value string
		for r.Next() {
			switch r.Field() {
			case 1:
				key = r.String()
			case 2:
				value = r.String()
			}
		}
		to[key] = value
	})
}

func readGraph(r *wire.Reader) *graphProto {
	g := &graphProto{}
	for r.Next() {
		switch r.Field() {
		case 1:
			r.Message(func(r *wire.Reader) { g.nodes = append(g.nodes, readNode(r)) })
		case 2:
			g.name = r.String()
		case 5:
			r.Message(func(r *wire.Reader) { g.initializers = append(g.initializers, readTensor(r)) })
		case 10:
			g.doc = r.String()
		case 11:
			r.Message(func(r *wire.Reader) { g.inputs = append(g.inputs, readValueInfo(r)) })
		case 12:
			r.Message(func(r *wire.Reader) { g.outputs = append(g.outputs, readValueInfo(r)) })
		case 15:
			r.Message(func(r *wire.Reader) { g.sparse = append(g.sparse, readSparse(r)) })
		}
	}
	return g
}

func readNode(r *wire.Reader) *nodeProto {
	n := &nodeProto{}
	for r.Next() {
		switch r.Field() {
		case 1:
			n.inputs = append(n.inputs, r.String())
		case 2:
			n.outputs = append(n.outputs, r.String())
		case 3:
			n.name = r.String()
		case 4:
			n.op = r.String()
		case 5:
			r.Message(func(r *wire.Reader) { n.attributes = append(n.attributes, readAttribute(r)) })
		case 7:
			n.domain = plainDomain(r.String())
		case 8:
			n.overload = r.String()
		}
	}
	return n
}

func readAttribute(r *wire.Reader) *attributeProto {
	a := &attributeProto{}
	for r.Next() {
		switch r.Field() {
		case 1:
			a.name = r.String()
		case 2:
			a.f = r.Float32()
		case 3:
			a.i = r.Int64()
		case 4:
			a.s = r.Bytes()
		case 5:
			r.Message(func(r *wire.Reader) { a.t = readTensor(r) })
		case 6:
			r.Message(func(r *wire.Reader) { a.g = readGraph(r) })
		case 7:
			a.floats = r.Float32s(a.floats)
		case 8:
			a.ints = r.Int64s(a.ints)
		case 9:
			a.strings = append(a.strings, r.Bytes())
		case 10:
			r.Message(func(r *wire.Reader) { a.tensors = append(a.tensors, readTensor(r)) })
		case 11:
			r.Message(func(r *wire.Reader) { a.graphs = append(a.graphs, readGraph(r)) })
		case 14:
			r.Message(func(r *wire.Reader) { a.tp = readType(r, nil) })
		case 20:
			a.kind = r.Int()
		case 21:
			a.ref = r.String()
		case 22:
			r.Message(func(r *wire.Reader) { a.sparse = readSparse(r) })
		}
	}
	return a
}

func readTensor(r *wire.Reader) *tensorProto {
	t := &tensorProto{}
	external, location := map[string]string{}, 0
	for r.Next() {
		switch r.Field() {
		case 1:
			t.dims = r.Int64s(t.dims)
		case 2:
			t.elem = ElementType(r.Int())
		case 3:
			r.Fail("tensors in segments are not read")
		case 4:
			t.floats = r.Float32s(t.floats)
		case 5, 7, 11:
			t.ints = r.Int64s(t.ints)
		case 6:
			t.strings = append(t.strings, r.Bytes())
		case 8:
			t.name = r.String()
		case 9:
			t.raw, t.rawAt, t.hasRaw = r.Bytes(), r.BodyOffset(), true
		case 10:
			t.doubles = r.Float64s(t.doubles)
		case 13:
			readPair(r, external)
		case 14:
			location = r.Int()
		}
	}
	if location == 1 {
		t.external = external
	}
	return t
}

func readSparse(r *wire.Reader) *sparseProto {
	s := &sparseProto{}
	for r.Next() {
		switch r.Field() {
		case 1:
			r.Message(func(r *wire.Reader) { s.values = readTensor(r) })
		case 2:
			r.Message(func(r *wire.Reader) { s.indices = readTensor(r) })
		case 3:
			s.dims = r.Int64s(s.dims)
		}
	}
	return s
}

func readValueInfo(r *wire.Reader) *valueProto {
	v := &valueProto{}
	for r.Next() {
		switch r.Field() {
		case 1:
			v.name = r.String()
		case 2:
			r.Message(func(r *wire.Reader) { v.typ = readType(r, nil) })
		}
	}
	return v
}

// readType reads a TypeProto into t, or into a new one if t is nil.
func readType(r *wire.Reader, t *typeProto) *typeProto {
	if t == nil {
		t = &typeProto{}
	}
	for r.Next() {
		field := r.Field()
		switch field {
		case 1, 8:
			t.sparse = field == 8
			r.Message(func(r *wire.Reader) { readTensorType(r, t) })
		case 4, 9:
			elem := &typeProto{}
			r.Message(func(r *wire.Reader) {
				for r.Next() {
					if r.Field() == 1 {
						r.Message(func(r *wire.Reader) { readType(r, elem) })
					}
				}
			})
			if field == 4 {
				t.sequence = elem
			} else {
				t.optional = elem
			}
		case 5:
			t.mapValue = &typeProto{}
			r.Message(func(r *wire.Reader) {
				for r.Next() {
					switch r.Field() {
					case 1:
						t.mapKey = ElementType(r.Int())
					case 2:
						r.Message(func(r *wire.Reader) { readType(r, t.mapValue) })
					}
				}
			})
		}
	}
	return t
}

func readTensorType(r *wire.Reader, t *typeProto) {
	for r.Next() {
		switch r.Field() {
		case 1:
			t.tensor = ElementType(r.Int())
		case 2:
			t.ranked = true
			r.Message(func(r *wire.Reader) {
				for r.Next() {
					if r.Field() != 1 {
						continue
					}
					var d dimProto
					r.Message(func(r *wire.Reader) {
						for r.Next() {
							switch r.Field() {
							case 1:
								d.size, d.known = r.Int64(), true
							case 2:
								d.param = r.String()
							}
						}
					})
					t.shape = append(t.shape, d)
				}
			})
		}
	}
}

func readFunction(r *wire.Reader) *functionProto {
	f := &functionProto{opsets: map[string]int{}}
	for r.Next() {
		switch r.Field() {
		case 1:
			f.name = r.String()
		case 4:
			f.inputs = append(f.inputs, r.String())
		case 5:
			f.outputs = append(f.outputs, r.String())
		case 6:
			f.attrs = append(f.attrs, r.String())
		case 7:
			r.Message(func(r *wire.Reader) { f.nodes = append(f.nodes, readNode(r)) })
		case 9:
			readOpset(r, f.opsets)
		case 10:
			f.domain = plainDomain(r.String())
		case 11:
			r.Message(func(r *wire.Reader) { f.defaults = append(f.defaults, readAttribute(r)) })
		case 13:
			f.overload = r.String()
		}
	}
	return f
}
