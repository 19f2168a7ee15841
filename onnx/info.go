package onnx

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/core"
)

// Info is what a file says of its model.
type Info struct {
	Name         string // of the graph
	Doc          string
	Producer     string // the program that wrote it, and its version
	Domain       string
	ModelVersion int
	IRVersion    int
	OpSets       map[string]int // the version of each domain's operator set; "" is ONNX's own
	Metadata     map[string]string
	Inputs       []Port // without initializers
	Outputs      []Port
	// Nodes is how often the graph and its subgraphs have each operator, by its name with the domain, such
	// as "Conv" and "com.microsoft.Gelu".
	Nodes map[string]int
	// Parameters is the number of elements of all initializers.
	Parameters int
	// Unsupported are the nodes that cannot be run. [ReadInfo] reports them; Load refuses such a model.
	Unsupported []UnsupportedNode
}

// clone returns a copy that shares nothing with info.
func (info Info) clone() Info {
	info.OpSets, info.Metadata, info.Nodes = maps.Clone(info.OpSets), maps.Clone(info.Metadata), maps.Clone(info.Nodes)
	info.Inputs, info.Outputs = clonePorts(info.Inputs), clonePorts(info.Outputs)
	info.Unsupported = slices.Clone(info.Unsupported)
	return info
}

func clonePorts(list []Port) []Port {
	list = slices.Clone(list)
	for i := range list {
		list[i].Type = list[i].Type.clone()
	}
	return list
}

func (t Type) clone() Type {
	t.Shape, t.Dims = slices.Clone(t.Shape), slices.Clone(t.Dims)
	if t.Item != nil {
		item := t.Item.clone()
		t.Item = &item
	}
	return t
}

// A Port is an input or an output of a model.
type Port struct {
	Name string
	Type Type
}

// String is the name and the type, such as "x float32[N 3 224 224]".
func (p Port) String() string { return p.Name + " " + p.Type.String() }

// A Type is the type of a value. Kind NoValue stands for a type that the file does not give.
type Type struct {
	Kind    Kind
	Element ElementType // of a tensor
	// Shape has the sizes of a tensor, -1 for one that is free, and Dims the name of each free size, ""
	// without one. Shape is nil if the number of axes is free.
	Shape []int
	Dims  []string
	Item  *Type // of a sequence, an optional or the values of a map
	Key   ElementType
}

// String is the type as text, such as float32[N 3 224 224].
func (t Type) String() string {
	switch t.Kind {
	case TensorKind, StringsKind:
		if t.Shape == nil {
			return t.Element.String() + "[...]"
		}
		sizes := make([]string, len(t.Shape))
		for i, n := range t.Shape {
			switch {
			case n >= 0:
				sizes[i] = fmt.Sprint(n)
			case i < len(t.Dims) && t.Dims[i] != "":
				sizes[i] = t.Dims[i]
			default:
				sizes[i] = "?"
			}
		}
		return t.Element.String() + "[" + strings.Join(sizes, " ") + "]"
	case SequenceKind, OptionalKind:
		return fmt.Sprintf("%v of %v", t.Kind, *t.Item)
	case MapKind:
		return fmt.Sprintf("map of %v to %v", t.Key, *t.Item)
	}
	return "any type"
}

func newType(p *typeProto) (*Type, error) {
	if p == nil {
		return &Type{}, nil
	}
	item := func(kind Kind, of *typeProto) (*Type, error) {
		t, err := newType(of)
		return &Type{Kind: kind, Item: t, Key: p.mapKey}, err
	}
	switch {
	case p.sequence != nil:
		return item(SequenceKind, p.sequence)
	case p.optional != nil:
		return item(OptionalKind, p.optional)
	case p.mapValue != nil:
		return item(MapKind, p.mapValue)
	case p.tensor == Undefined:
		return &Type{}, nil
	case !p.tensor.known():
		return nil, fmt.Errorf("a tensor has the %v", p.tensor)
	}
	t := &Type{Kind: TensorKind, Element: p.tensor}
	if p.tensor == String {
		t.Kind = StringsKind
	}
	if p.ranked {
		t.Shape, t.Dims = make([]int, len(p.shape)), make([]string, len(p.shape))
		for i, d := range p.shape {
			if t.Shape[i], t.Dims[i] = -1, d.param; !d.known {
				continue
			}
			if d.size > array.MaxBytes {
				return nil, fmt.Errorf("a size is %d", d.size)
			}
			if d.size >= 0 { // some writers use -1 for a free size
				t.Shape[i] = int(d.size)
			}
		}
	}
	return t, nil
}

// anonymous are names that writers give to all free sizes alike.
var anonymous = map[string]bool{"": true, "?": true, "-1": true, "None": true, "unk": true}

// check refuses values of another type. A free size is any, but what sizes has under its name: the first
// value that has the name decides. Items of a sequence may have other sizes each.
func (t Type) check(v Value, sizes map[string]int) error {
	if t.Kind == NoValue {
		return nil
	}
	if t.Kind == OptionalKind {
		if v.kind == NoValue || v.kind == OptionalKind && len(v.items) == 0 {
			return nil
		}
		if v.kind != OptionalKind {
			return t.Item.check(v, sizes)
		}
		return t.Item.check(v.items[0], sizes)
	}
	if v.kind != t.Kind {
		return fmt.Errorf("is a %v: want %v", v.kind, t)
	}
	switch t.Kind {
	case SequenceKind:
		for i, x := range v.items {
			if err := t.Item.check(x, map[string]int{}); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
	case TensorKind, StringsKind:
		if v.elem != t.Element {
			return fmt.Errorf("is %v: want %v", v, t)
		}
		if t.Shape == nil {
			return nil
		}
		shape := v.shape
		if v.tensor != nil {
			shape = (*core.Tensor)(v.tensor).View().Shape
		}
		if len(shape) != len(t.Shape) {
			return fmt.Errorf("is %v: want %v", v, t)
		}
		for i, n := range t.Shape {
			if n >= 0 && n != shape[i] {
				return fmt.Errorf("is %v: want %v, whose axis %d has the size %d", v, t, i, n)
			}
			name := t.Dims[i]
			if n >= 0 || anonymous[name] {
				continue
			}
			if old, ok := sizes[name]; ok && old != shape[i] {
				return fmt.Errorf("is %v: want %v, whose axis %d, %s, is %d elsewhere", v, t, i, name, old)
			}
			sizes[name] = shape[i]
		}
	}
	return nil
}

// ReadInfo reads what the file at path says of its model. It does not read weights, and tells which nodes
// cannot be run. The error is an *[Error].
func ReadInfo(path string) (*Info, error) {
	data, src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.close()
	p, err := readModelProto(data)
	if err != nil {
		return nil, withPath(path, &Error{Text: notModel(data), Err: err})
	}
	info, err := newInfo(p)
	return info, withPath(path, err)
}

func newInfo(p *modelProto) (*Info, error) {
	if p.graph == nil {
		return nil, errorf("is not an ONNX model: it has no graph")
	}
	info := &Info{
		Name: p.graph.name, Doc: p.doc, Producer: strings.TrimSpace(p.producer + " " + p.version), Domain: p.domain,
		ModelVersion: int(p.modelVersion), IRVersion: int(p.irVersion), OpSets: p.opsets, Metadata: p.metadata, Nodes: map[string]int{},
	}
	if p.graph.doc != "" && info.Doc == "" {
		info.Doc = p.graph.doc
	}
	initial := map[string]bool{}
	for _, t := range p.graph.initializers {
		initial[t.name] = true
		n := 1
		for _, d := range t.dims {
			n *= int(d)
		}
		info.Parameters += n
	}
	ports := func(list []*valueProto) (out []Port, err error) {
		for _, v := range list {
			if initial[v.name] {
				continue
			}
			t, err := newType(v.typ)
			if err != nil {
				return nil, &Error{Text: fmt.Sprintf("value %q", v.name), Err: err}
			}
			out = append(out, Port{v.name, *t})
		}
		return out, nil
	}
	var err error
	if info.Inputs, err = ports(p.graph.inputs); err != nil {
		return nil, err
	}
	initial = nil // an output may be an initializer
	if info.Outputs, err = ports(p.graph.outputs); err != nil {
		return nil, err
	}
	functions := map[functionKey]bool{}
	for _, f := range p.functions {
		functions[functionKey{f.domain, f.name, f.overload}] = true
	}
	info.count(p.graph.nodes, p.opsets, functions)
	for _, f := range p.functions {
		info.count(f.nodes, f.opsets, functions)
	}
	return info, nil
}

// count counts nodes, also of subgraphs.
func (info *Info) count(list []*nodeProto, opsets map[string]int, functions map[functionKey]bool) {
	for _, n := range list {
		info.Nodes[operatorName(n.domain, n.op)]++
		if !functions[functionKey{n.domain, n.op, n.overload}] && lookup(n.domain, n.op, opsets[n.domain]) == nil {
			info.Unsupported = append(info.Unsupported, UnsupportedNode{Name: nodeName(n), Op: n.op, Domain: n.domain, OpSet: opsets[n.domain]})
		}
		for _, a := range n.attributes {
			for _, g := range append(slices.Clone(a.graphs), a.g) {
				if g != nil {
					info.count(g.nodes, opsets, functions)
				}
			}
		}
	}
}
