package onnx

import "fmt"

// inline returns nodes with calls of the model's functions replaced by the nodes of these. Names inside a
// function get a prefix of their own.
func (b *builder) inline(list []*nodeProto) ([]*nodeProto, error) {
	if len(b.functions) == 0 {
		return list, nil
	}
	return b.inlineAt(list, 0)
}

// inlineAt is inline of nodes that lie inside depth calls of functions.
func (b *builder) inlineAt(list []*nodeProto, depth int) ([]*nodeProto, error) {
	var out []*nodeProto
	for _, n := range list {
		f := b.functions[functionKey{n.domain, n.op, n.overload}]
		if f == nil {
			out = append(out, n)
			continue
		}
		if depth > len(b.functions) {
			return nil, errorf("function %s calls itself", operatorName(n.domain, n.op))
		}
		body, err := b.body(f, n)
		if err != nil {
			return nil, err
		}
		if b.inlined += len(body); b.inlined > maxInlined {
			return nil, errorf("functions grow the model to more than %d nodes", maxInlined)
		}
		if body, err = b.inlineAt(body, depth+1); err != nil {
			return nil, err
		}
		out = append(out, body...)
	}
	return out, nil
}

// body returns the nodes of a function for a call.
func (b *builder) body(f *functionProto, call *nodeProto) ([]*nodeProto, error) {
	if len(call.inputs) > len(f.inputs) || len(call.outputs) > len(f.outputs) {
		return nil, errorf("node %q calls function %s with %d inputs for %d outputs: it has %d and %d", nodeName(call), operatorName(f.domain, f.name), len(call.inputs), len(call.outputs), len(f.inputs), len(f.outputs))
	}
	b.inlined++
	r := renamer{prefix: fmt.Sprintf("%s/%d/", f.name, b.inlined), names: map[string]string{"": ""}, attrs: map[string]*attributeProto{}}
	for i, name := range f.inputs {
		r.names[name] = ""
		if i < len(call.inputs) {
			r.names[name] = call.inputs[i]
		}
	}
	for i, name := range f.outputs {
		if i < len(call.outputs) && call.outputs[i] != "" {
			r.names[name] = call.outputs[i]
		}
	}
	for _, a := range f.defaults {
		r.attrs[a.name] = a
	}
	for _, a := range call.attributes {
		r.attrs[a.name] = a
	}
	return r.nodes(f.nodes), nil
}

// A renamer copies nodes of a function with the names and attributes of a call.
type renamer struct {
	prefix string
	names  map[string]string
	attrs  map[string]*attributeProto
}

func (r *renamer) name(s string) string {
	if to, ok := r.names[s]; ok {
		return to
	}
	return r.prefix + s
}

func (r *renamer) list(names []string) []string {
	out := make([]string, len(names))
	for i, s := range names {
		out[i] = r.name(s)
	}
	return out
}

func (r *renamer) nodes(list []*nodeProto) []*nodeProto {
	out := make([]*nodeProto, len(list))
	for i, n := range list {
		c := *n
		c.name, c.inputs, c.outputs, c.attributes = r.prefix+n.name, r.list(n.inputs), r.list(n.outputs), nil
		for _, a := range n.attributes {
			if a.ref != "" {
				given := r.attrs[a.ref]
				if given == nil {
					continue // not given to the call, and without a default
				}
				x := *given
				x.name = a.name
				c.attributes = append(c.attributes, &x)
				continue
			}
			x := *a
			if a.g != nil {
				x.g = r.graph(a.g)
			}
			c.attributes = append(c.attributes, &x)
		}
		out[i] = &c
	}
	return out
}

func (r *renamer) graph(g *graphProto) *graphProto {
	c := *g
	c.nodes = r.nodes(g.nodes)
	c.inputs, c.outputs, c.initializers, c.sparse = nil, nil, nil, nil
	for _, v := range g.inputs {
		c.inputs = append(c.inputs, &valueProto{r.name(v.name), v.typ})
	}
	for _, v := range g.outputs {
		c.outputs = append(c.outputs, &valueProto{r.name(v.name), v.typ})
	}
	for _, t := range g.initializers {
		x := *t
		x.name = r.name(t.name)
		c.initializers = append(c.initializers, &x)
	}
	for _, t := range g.sparse {
		x := *t
		if t.values != nil {
			v := *t.values
			v.name, x.values = r.name(v.name), &v
		}
		c.sparse = append(c.sparse, &x)
	}
	return &c
}
