package onnx

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/core"
	"weft/internal/ir"
	"weft/internal/raw"
	"weft/internal/saved"
	"weft/internal/wire"
)

// ExportOpSet is the version of ONNX's operators that exported models use, with version 9 of the format:
// ONNX 1.15 of 2023 and later read them.
const ExportOpSet = 20

const exportIR = 9

// SaveOpts are the options of [Save] and [Write].
type SaveOpts struct {
	// Inputs names the tensors among the arguments, in their order, alone or with their sizes, as in
	// "x[n 784]". A size that is a name is a symbolic dimension: the model takes any. Other sizes are
	// as in the example. Without Inputs tensors are x, or x0, x1 and so on.
	Inputs []string
	// Outputs names the results: y, or y0, y1 and so on, without it.
	Outputs []string
	// Weights names tensors that the function captures, such as nn.State(module). Others are
	// constants with numbers.
	Weights map[string]*weft.Tensor
	// ExternalFrom is the size in bytes from which [Save] writes weights to a file beside the model, named as
	// the model with ".data" behind it, which must stay beside it. By default only a model of more than 2 GB,
	// which no file of ONNX holds, has such a file, with weights from 1024 bytes on.
	ExternalFrom *int
}

// Save writes a function of tensors to an ONNX file at path. f is a function as weft.Compile takes it, such
// as the Forward method of a module, and args are an example of its arguments: f is traced for their types,
// as weft.Compiled.Save does, and not called with their elements. Numbers, strings and pointers among args
// are constants of the model.
//
//	nn.Eval(net)
//	err := onnx.Save("net.onnx", net.Forward, []any{x}, onnx.SaveOpts{Inputs: []string{"x[n 784]"}, Weights: nn.State(net)})
//
// A model computes results from inputs and constants. Tensors that f captures become initializers with the
// elements that they have now. A function that writes tensors, as a training step does, draws random numbers
// or reads a learning rate is an *[Error].
//
// The error is that of the file, an *[Error], an *[ExportError] that lists all operations which have no
// form in ONNX, or a *weft.Error of the trace.
func Save(path string, f any, args []any, opts ...SaveOpts) error {
	return export(f, args, opts, func(m *exported) error {
		if m.layOut(filepath.Base(path) + ".data") {
			if err := atomicfile.Write(path+".data", m.writeExternal); err != nil {
				return err
			}
		}
		err := atomicfile.Write(path, m.write)
		if _, ours := err.(*Error); ours {
			return withPath(path, err)
		}
		return err
	})
}

// Write is [Save] to w, of a model of up to 2 GB without external data.
func Write(w io.Writer, f any, args []any, opts ...SaveOpts) error {
	if w == nil {
		return errorf("write: w is nil")
	}
	return export(f, args, opts, func(m *exported) error {
		if m.from != nil {
			return errorf("write: ExternalFrom wants a second file: Save writes it")
		}
		return m.write(w)
	})
}

// An ExportError lists every operation of a function that has no form in ONNX here, by the names that
// weft's operations have in explanations and profiles, with the element type of the result.
type ExportError struct{ Ops []string }

// Error is one line.
func (e *ExportError) Error() string {
	return fmt.Sprintf("onnx: %s cannot be written as operators of ONNX: %s", array.Count(len(e.Ops), "operation"), strings.Join(e.Ops, ", "))
}

func export(f any, args []any, opts []SaveOpts, write func(m *exported) error) error {
	var p *core.Unwritten
	var from *int
	err := weft.Try(func() {
		o := array.Options("onnx.save", opts)
		if from = o.ExternalFrom; from != nil && *from < 0 {
			array.Failf("onnx.save", "ExternalFrom", "is %d: want a number of bytes", *from)
		}
		v := reflect.ValueOf(f)
		if v.Kind() != reflect.Func || v.IsNil() {
			array.Failf("onnx.save", "f", "is %T: want a function of tensors", f)
		}
		c := core.NewGoFunc[weft.Tensor](v)
		record := func(types []ir.Type, _ func(i int) int) *core.TracedGraph {
			return c.Record(args, func(i int) []int { return types[i].Shape })
		}
		p = core.Save(c.Types(args), core.SaveNames{Inputs: o.Inputs, Outputs: o.Outputs, Name: o.name()}, record)
	})
	if err != nil {
		return err
	}
	return p.Read(func(p *saved.Program) error {
		m, err := newExported(p)
		if err != nil {
			return err
		}
		m.from = from
		return write(m)
	})
}

// name returns a function that gives the name of captured memory.
func (o *SaveOpts) name() func(t *core.Tensor) string {
	names := map[*array.Storage]string{}
	for name, w := range o.Weights {
		c := (*core.Tensor)(w)
		c.Argument("onnx.save", name)
		if was, ok := names[c.Layout().Store]; !ok || name < was {
			names[c.Layout().Store] = name
		}
	}
	return func(t *core.Tensor) string { return names[t.Layout().Store] }
}

// An exported is a model to be written: the message but for the elements of weights, which lie in memory
// of the program.
type exported struct {
	graph   *graphProto
	weights []weight
	most    int64 // bytes of the message
	from    *int  // as in SaveOpts
}

type weight struct {
	tensor *tensorProto
	view   *array.View
	offset int64 // in the file of external data, where tensor has some
}

func (w *weight) bytes() int { return w.view.Size() * w.view.DType.Size() }

// newExported makes a model of a program.
func newExported(p *saved.Program) (*exported, error) {
	switch {
	case len(p.Writes) > 0 || len(p.Sets) > 0:
		return nil, errorf("%s writes tensors that it captures, which a model cannot: switch a module to evaluation first, with nn.Eval", p.Name)
	case len(p.Numbers) > 0:
		return nil, errorf("%s draws random numbers or reads numbers of an optimizer, which a model does not have: switch a module to evaluation first, with nn.Eval", p.Name)
	case len(p.Sizes) > 0:
		return nil, errorf("%s has a size that is the value of a tensor", p.Name)
	}
	e := &exporter{p: p, outline: p.Outline(), taken: map[string]bool{}, cache: map[string]string{}, weights: map[int]string{},
		graph: &graphProto{name: p.Name}}
	e.root = e.graph
	if err := e.declare(); err != nil {
		return nil, err
	}
	for i := range e.outline.Steps {
		e.step(i)
	}
	if len(e.missing) > 0 {
		slices.Sort(e.missing)
		return nil, &ExportError{Ops: slices.Compact(e.missing)}
	}
	e.outputs()
	return &exported{graph: e.graph, weights: e.used, most: maxModel}, nil
}

// declare declares inputs, outputs and names of weights.
func (e *exporter) declare() error {
	for i := range e.p.Inputs {
		in := &e.p.Inputs[i]
		e.taken[in.Name] = true
		e.graph.inputs = append(e.graph.inputs, e.value(in))
	}
	for i := range e.p.Outputs {
		out := &e.p.Outputs[i].Value
		if e.taken[out.Name] {
			return errorf("an input and an output have the name %q: SaveOpts name them", out.Name)
		}
		e.taken[out.Name] = true
		e.graph.outputs = append(e.graph.outputs, e.value(out))
	}
	for i := range e.p.State {
		if name := e.p.State[i].Name; e.taken[name] {
			return errorf("a weight has the name %q of an input or an output: SaveOpts name them", name)
		}
	}
	for i := range e.p.State {
		e.taken[e.p.State[i].Name] = true
	}
	return nil
}

// value is the type of an input or an output as a message.
func (e *exporter) value(v *saved.Value) *valueProto {
	d, _ := array.ParseDType(v.DType)
	t := &typeProto{tensor: elementOf(d), ranked: true}
	for _, s := range v.Shape {
		switch {
		case !s.Free:
			t.shape = append(t.shape, dimProto{size: int64(s.Size), known: true})
		case s.Size >= 0:
			t.shape = append(t.shape, dimProto{param: e.p.Lengths[s.Size]})
		default: // depends on lengths otherwise than by being one
			t.shape = append(t.shape, dimProto{})
		}
	}
	return &valueProto{v.Name, t}
}

// maxModel is the most bytes that the graph of a message may have; the rest of the message is smaller than 64.
const maxModel = math.MaxInt32 - 64

// externalFrom is the size of weights that lie outside of a model of more than 2 GB, and externalAlign what their
// places are multiples of, so that they can be mapped.
const (
	externalFrom  = 1 << 10
	externalAlign = 64
)

// layOut gives weights places in a file of external data, if SaveOpts or the size of the model ask for one.
func (m *exported) layOut(location string) bool {
	from := m.from
	if from == nil {
		if b, a, heads := m.message(); m.size(b, a, heads) <= m.most {
			return false
		}
		from = new(externalFrom)
	}
	at, some := int64(0), false
	for i := range m.weights {
		w := &m.weights[i]
		if n := w.bytes(); n >= *from {
			w.offset = (at + externalAlign - 1) / externalAlign * externalAlign
			at, some = w.offset+int64(n), true
			w.tensor.external = map[string]string{"location": location, "offset": strconv.FormatInt(w.offset, 10), "length": strconv.Itoa(n)}
		}
	}
	return some
}

// writeExternal writes the file of external data.
func (m *exported) writeExternal(w io.Writer) error {
	at := int64(0)
	for i := range m.weights {
		x := &m.weights[i]
		if x.tensor.external == nil {
			continue
		}
		if _, err := w.Write(make([]byte, x.offset-at)); err != nil {
			return err
		}
		if err := raw.Write(w, x.view); err != nil {
			return err
		}
		at = x.offset + int64(x.bytes())
	}
	return nil
}

// message returns the parts of the graph before and after weights, and what stands before the elements of each weight.
func (m *exported) message() (before, after []byte, heads [][]byte) {
	for _, n := range m.graph.nodes {
		before = wire.AppendBytes(before, 1, appendNode(nil, n))
	}
	before = wire.AppendBytes(before, 2, m.graph.name)
	for _, t := range m.graph.initializers {
		before = wire.AppendBytes(before, 5, appendTensor(nil, t))
	}
	for _, v := range m.graph.inputs {
		after = wire.AppendBytes(after, 11, appendValueInfo(nil, v))
	}
	for _, v := range m.graph.outputs {
		after = wire.AppendBytes(after, 12, appendValueInfo(nil, v))
	}
	heads = make([][]byte, len(m.weights))
	for i := range m.weights {
		x := &m.weights[i]
		head := appendTensorHead(nil, x.tensor)
		if x.tensor.external != nil {
			heads[i] = wire.AppendBytes(nil, 5, appendExternal(head, x.tensor.external))
			continue
		}
		head = appendLength(head, rawField, x.bytes())
		heads[i] = append(appendLength(nil, 5, len(head)+x.bytes()), head...)
	}
	return before, after, heads
}

// size is the number of bytes of the graph.
func (m *exported) size(before, after []byte, heads [][]byte) int64 {
	n := int64(len(before) + len(after))
	for i, h := range heads {
		if n += int64(len(h)); m.weights[i].tensor.external == nil {
			n += int64(m.weights[i].bytes())
		}
	}
	return n
}

// write writes the model.
func (m *exported) write(w io.Writer) error {
	before, after, heads := m.message()
	size := m.size(before, after, heads)
	b := wire.AppendVarint(nil, 1, exportIR)
	b = wire.AppendBytes(b, 2, "weft")
	b = wire.AppendBytes(b, 8, wire.AppendVarint(wire.AppendBytes(nil, 1, ""), 2, ExportOpSet))
	if size > m.most {
		return errorf("the model takes %d bytes, and a file of ONNX without external data holds %d: Save writes that beside it", size, m.most)
	}
	b = append(appendLength(b, 7, int(size)), before...)
	if _, err := w.Write(b); err != nil {
		return err
	}
	for i := range m.weights {
		if _, err := w.Write(heads[i]); err != nil {
			return err
		}
		if m.weights[i].tensor.external != nil {
			continue
		}
		if err := raw.Write(w, m.weights[i].view); err != nil {
			return err
		}
	}
	_, err := w.Write(after)
	return err
}

// appendLength appends the beginning of a field with n bytes.
func appendLength(b []byte, field, n int) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3|uint64(wire.Bytes)), uint64(n))
}
