package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"weft"
	"weft/onnx"
)

// A loaded is a file that run runs: a saved program or a model.
type loaded struct {
	inputs  []weft.ProgramValue
	outputs []string
	call    func(args []*weft.Tensor) ([]*weft.Tensor, error)
	save    func(path string) error // nil if it cannot be saved
}

// isModel reports that the file at path is an ONNX model by its name.
func isModel(path string) bool { return strings.HasSuffix(path, ".onnx") }

// load reads a saved program or an ONNX model.
func load(path string, dev weft.Device) (*loaded, error) {
	if isModel(path) {
		return loadModel(path)
	}
	p, err := weft.LoadProgram(path, weft.LoadOpts{Device: dev})
	if err != nil {
		return nil, failure{err}
	}
	l := &loaded{inputs: p.Inputs(), save: p.Save}
	l.call = func(args []*weft.Tensor) ([]*weft.Tensor, error) { return p.Call(args...) }
	for _, v := range p.Outputs() {
		l.outputs = append(l.outputs, v.Name)
	}
	return l, nil
}

// loadModel reads an ONNX model whose inputs and outputs are tensors.
func loadModel(path string) (*loaded, error) {
	m, err := onnx.Load(path)
	if err != nil {
		return nil, failure{err}
	}
	l := &loaded{}
	for _, p := range m.Inputs() {
		if p.Type.Kind != onnx.TensorKind {
			return nil, failf("%s: input %v: the command gives tensors alone", path, p)
		}
		l.inputs = append(l.inputs, weft.ProgramValue{Name: p.Name, DType: p.Type.Element.DType()})
	}
	for _, p := range m.Outputs() {
		l.outputs = append(l.outputs, p.Name)
	}
	l.call = func(args []*weft.Tensor) ([]*weft.Tensor, error) {
		in := map[string]*weft.Tensor{}
		for i, v := range l.inputs {
			in[v.Name] = args[i]
		}
		named, err := m.Run(in)
		if err != nil {
			return nil, err
		}
		var out []*weft.Tensor
		for _, name := range l.outputs {
			out = append(out, named[name])
		}
		return out, nil
	}
	return l, nil
}

// describeModel prints what an ONNX file says of its model.
func describeModel(w io.Writer, path string) error {
	m, err := onnx.ReadInfo(path)
	if err != nil {
		return failure{err}
	}
	var b strings.Builder
	line := func(what, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("model", "%s", m.Name)
	if m.Producer != "" {
		line("producer", "%s", m.Producer)
	}
	for _, domain := range slices.Sorted(maps.Keys(m.OpSets)) {
		line("operators of", "%s %d", cmp.Or(domain, "ai.onnx"), m.OpSets[domain])
	}
	for _, p := range m.Inputs {
		line("input", "%v", p)
	}
	for _, p := range m.Outputs {
		line("output", "%v", p)
	}
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		line("metadata", "%s: %s", key, m.Metadata[key])
	}
	line("parameters", "%d", m.Parameters)
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(m.Nodes)) {
		parts = append(parts, fmt.Sprintf("%d %s", m.Nodes[name], name))
	}
	line("operations", "%s", listed(parts))
	for _, n := range m.Unsupported {
		line("cannot run", "%s %s of version %d, node %q", cmp.Or(n.Domain, "ai.onnx"), n.Op, n.OpSet, n.Name)
	}
	_, err = io.WriteString(w, b.String())
	return err
}
