package onnx

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/mem"
)

// A Model is a graph of an ONNX file. [Model.Run] computes it, and may be called by several goroutines at
// once. A model is a module of package nn: [Model.Forward] can be differentiated, eagerly and inside
// weft.Compile, so that optimizers train it on.
type Model struct {
	// Weights are the initializers of the file that are floats and have an axis, under their ONNX names.
	// They need a gradient, but for running statistics. Writing into one, or
	// putting another in its place between calls, changes what later calls compute.
	Weights map[string]*weft.Tensor `nn:""`

	info  Info
	graph *graph
	loops int64          // the most bytes that the values of a loop may take
	mu    sync.Mutex     // guards bound
	bound []*weft.Tensor // by slot: the weights that programs and frames have
}

// Load reads the model in the file at path, with the files of external data beside it. Weights lie in the
// mapped files, small ones that these do not align excepted. So the files must not be cut while the model is used.
// Training changes memory, never a file. Once a weight that nobody wrote was packed for a product or a convolution, its
// pages leave the memory of the process; reading the weight brings them back.
//
// The error is an *[Error], or an *[UnsupportedError] that lists all nodes that cannot be run.
func Load(path string) (*Model, error) {
	data, src, err := openSource(path)
	if err != nil {
		return nil, err
	}
	defer src.close()
	m, err := read(data, src)
	return m, withPath(path, err)
}

// Read reads a model in memory, which must not be changed while the model is used. Its weights lie in data,
// small ones that are not aligned excepted. A model with external data is refused.
func Read(data []byte) (*Model, error) { return read(data, &source{}) }

func openSource(path string) ([]byte, *source, error) {
	f, err := mapped.OpenRegular(path)
	if err != nil {
		return nil, nil, &Error{Err: err}
	}
	reader, err := os.Open(path)
	if err != nil {
		f.Close()
		return nil, nil, &Error{Err: err}
	}
	file, err := mapped.Open(f, mapped.CopyOnWrite)
	if err != nil {
		reader.Close()
		return nil, nil, &Error{Path: path, Err: err}
	}
	src := &source{dir: filepath.Dir(path), file: file, reader: reader, external: map[string]*mapped.Mapping{}}
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSymlink != 0 {
		if to, err := realPath(path); err == nil {
			src.real = filepath.Dir(to)
		}
	}
	return file.Bytes(), src, nil
}

// withPath returns err with the path of the file.
func withPath(path string, err error) error {
	switch e := err.(type) {
	case *Error:
		c := *e
		c.Path = path
		return &c
	case *UnsupportedError:
		return &UnsupportedError{Path: path, Nodes: e.Nodes}
	case nil:
		return nil
	}
	return &Error{Path: path, Err: err}
}

// notModel says that data is not an ONNX model, and what reads it if it is another known format.
func notModel(data []byte) string {
	begins := func(s string) bool { return strings.HasPrefix(string(data[:min(len(data), 16)]), s) }
	hint := ""
	switch {
	case begins("PK\x03\x04"), begins("\x80\x02"):
		hint = ": torch.save wrote it or another program that makes archives. models.Load reads the weights of a network from such a file, torchfile.Load its values"
	case len(data) > 9 && data[8] == '{' && binary.LittleEndian.Uint64(data) <= uint64(len(data)-8):
		hint = " but a file of safetensors: models.Load reads the weights of a network from it, safetensors.ReadFile its tensors"
	}
	return "is not an ONNX model" + hint
}

// read makes a model of a message.
func read(data []byte, src *source) (*Model, error) {
	p, err := readModelProto(data)
	if err != nil {
		return nil, &Error{Text: notModel(data), Err: err}
	}
	info, err := newInfo(p)
	if err != nil {
		return nil, err
	}
	b := &builder{src: src, model: p, functions: map[functionKey]*functionProto{}, weights: map[string]*weft.Tensor{}, buffers: map[string]bool{}}
	for _, f := range p.functions {
		b.functions[functionKey{f.domain, f.name, f.overload}] = f
		for domain, version := range f.opsets {
			if _, ok := p.opsets[domain]; !ok {
				p.opsets[domain] = version
			}
		}
	}
	g, err := b.graph(p.graph, nil, p.opsets)
	if err != nil {
		return nil, err
	}
	g.free = hasFreeSizes(info.Inputs)
	if len(b.unsupported) > 0 {
		return nil, &UnsupportedError{Nodes: b.unsupported}
	}
	m := &Model{Weights: b.weights, info: *info, graph: g, loops: mem.Physical() / 4}
	for name, t := range m.Weights {
		t.RequireGrad(!b.buffers[name])
	}
	return m, nil
}

func (m *Model) notNil(op string) {
	if m == nil || m.graph == nil {
		array.Failf(op, "", "the model is nil or zero (onnx.Load makes one)")
	}
}

// Info returns what the file says of the model.
func (m *Model) Info() Info {
	m.notNil("onnx.info")
	return m.info.clone()
}

// Inputs returns what the model takes, without initializers.
func (m *Model) Inputs() []Port {
	m.notNil("onnx.inputs")
	return clonePorts(m.info.Inputs)
}

// Outputs returns what the model gives.
func (m *Model) Outputs() []Port {
	m.notNil("onnx.outputs")
	return clonePorts(m.info.Outputs)
}

// Run computes the outputs of named tensors, whose shapes and element types [Model.Inputs] tells; sizes with a
// name may be any, the same for all inputs of one call. It is compiled: the first call for shapes plans,
// later ones run programs. No gradients are recorded. The error is an *[Error] that names the input.
func (m *Model) Run(in map[string]*weft.Tensor) (map[string]*weft.Tensor, error) {
	return m.RunContext(context.Background(), in)
}

// RunContext is [Model.Run] that stops when ctx ends: between nodes, steps of loops and chunks of kernels.
// It then returns an *[Error] that wraps the cause. In a function that weft.Compile traces, ctx is not part of
// the program: give it to the call of that function.
func (m *Model) RunContext(ctx context.Context, in map[string]*weft.Tensor) (map[string]*weft.Tensor, error) {
	out, err := runNamed(ctx, m, in, func(name string, t *weft.Tensor) (Value, error) {
		if t == nil {
			return Value{}, errorf("input %q is nil", name)
		}
		return TensorOf(t), nil
	})
	if err != nil {
		return nil, err
	}
	ts := make(map[string]*weft.Tensor, len(out))
	for i, v := range out {
		name := m.info.Outputs[i].Name
		if v.kind != TensorKind {
			return nil, errorf("output %q is a %v: use RunValues", name, v.kind)
		}
		ts[name] = v.tensor
	}
	return ts, nil
}

// RunValues is [Model.Run] for values that may be strings, sequences, optionals and maps.
func (m *Model) RunValues(in map[string]Value) (map[string]Value, error) {
	return m.RunValuesContext(context.Background(), in)
}

// RunValuesContext is [Model.RunValues] that stops when ctx ends, as [Model.RunContext] does.
func (m *Model) RunValuesContext(ctx context.Context, in map[string]Value) (map[string]Value, error) {
	out, err := runNamed(ctx, m, in, sameValue)
	if err != nil {
		return nil, err
	}
	named := make(map[string]Value, len(out))
	for i, v := range out {
		named[m.info.Outputs[i].Name] = v
	}
	return named, nil
}

// runNamed runs the graph on the values of what is named in in, without recording gradients.
func runNamed[T any](ctx context.Context, m *Model, in map[string]T, value func(name string, x T) (Value, error)) (out []Value, err error) {
	m.notNil("onnx.run")
	if ctx == nil {
		return nil, errorf("ctx is nil")
	}
	list, err := arguments(m, in, value)
	if err != nil {
		return nil, err
	}
	weft.WithoutGrad(func() { out, err = m.run(ctx, list, core.TracingHere() != nil) })
	return out, err
}

// run runs the graph. inline says that it is part of a trace, or of a computation with gradients.
func (m *Model) run(ctx context.Context, in []Value, inline bool) (out []Value, err error) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case failure:
			err = e.err
			if _, ok := err.(*Error); !ok {
				err = &Error{Err: err}
			}
		case *array.Error:
			err = &Error{Err: e}
		default:
			panic(e)
		}
	}()
	if !inline {
		m.bind()
	}
	r := &run{m: m, tracing: inline && core.TracingHere() != nil, plain: inline}
	if !r.tracing {
		r.ctx = ctx
	}
	out = r.graph(m.graph, in, nil)
	fixed := r.fixed(m.graph)
	for i, v := range out {
		out[i] = own(v, in, fixed)
	}
	return out, nil
}

// arguments are named values in the order of the inputs, checked.
func (m *Model) arguments(in map[string]Value) ([]Value, error) {
	return arguments(m, in, sameValue)
}

// sameValue is the value of a [Value].
func sameValue(_ string, v Value) (Value, error) { return v, nil }

// arguments are the values of what is named in in, in the order of the inputs, checked.
func arguments[T any](m *Model, in map[string]T, value func(name string, x T) (Value, error)) ([]Value, error) {
	given := 0
	for i := range m.info.Inputs {
		if _, ok := in[m.info.Inputs[i].Name]; ok {
			given++
		}
	}
	if given < len(in) { // a misspelled name comes before the input that is missing because of it
		for _, name := range slices.Sorted(maps.Keys(in)) {
			if !slices.ContainsFunc(m.info.Inputs, func(p Port) bool { return p.Name == name }) {
				return nil, errorf("the model has no input %q: it has %s", name, portNames(m.info.Inputs))
			}
		}
	}
	list, sizes := make([]Value, len(m.info.Inputs)), map[string]int{}
	for i := range m.info.Inputs {
		p := &m.info.Inputs[i]
		var v Value
		if x, ok := in[p.Name]; ok {
			var err error
			if v, err = value(p.Name, x); err != nil {
				return nil, err
			}
		} else if p.Type.Kind != OptionalKind {
			return nil, errorf("input %q, %v, is missing", p.Name, p.Type)
		}
		if err := p.Type.check(v, sizes); err != nil {
			return nil, &Error{Text: fmt.Sprintf("input %q", p.Name), Err: err}
		}
		list[i] = v
	}
	return list, nil
}

func portNames(list []Port) string {
	names := make([]string, len(list))
	for i, p := range list {
		names[i] = fmt.Sprintf("%q", p.Name)
	}
	return strings.Join(names, ", ")
}

// Forward computes the first output of a model with one input: what makes a model a layer of package nn.
// Gradients flow to x and to [Model.Weights]. It runs node by node, or as part of the compiled function
// that it is called in. It panics with *weft.Error.
func (m *Model) Forward(x *weft.Tensor) *weft.Tensor { return m.ForwardAll(x)[0] }

// ForwardAll is [Model.Forward] for several inputs and outputs, in the order of [Model.Inputs] and
// [Model.Outputs], which must be tensors.
func (m *Model) ForwardAll(in ...*weft.Tensor) []*weft.Tensor {
	m.notNil("onnx.forward")
	if len(in) != len(m.info.Inputs) {
		array.Failf("onnx.forward", "in", "has %d tensors: the model has the inputs %s", len(in), portNames(m.info.Inputs))
	}
	values := map[string]Value{}
	for i, t := range in {
		(*core.Tensor)(t).NotNil("onnx.forward")
		values[m.info.Inputs[i].Name] = TensorOf(t)
	}
	list, err := m.arguments(values)
	var out []Value
	if err == nil {
		out, err = m.run(context.Background(), list, true)
	}
	if err != nil {
		panic(&array.Error{Op: "onnx.forward", Msg: "the model cannot be run", Err: err})
	}
	ts := make([]*weft.Tensor, len(out))
	for i, v := range out {
		if v.kind != TensorKind {
			array.Failf("onnx.forward", "", "output %q is a %v: use RunValues", m.info.Outputs[i].Name, v.kind)
		}
		ts[i] = v.tensor
	}
	return ts
}

// String returns the name, inputs, outputs and the number of parameters.
func (m *Model) String() string {
	return array.Describe("onnx.Model", "Name", m.info.Name, "Inputs", m.info.Inputs, "Outputs", m.info.Outputs, "Parameters", m.info.Parameters)
}
