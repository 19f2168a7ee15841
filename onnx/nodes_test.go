package onnx

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/wire"
)

// ONNX's own node tests: testdata/nodes.tar.gz has them, testdata/NODES.md says where they are from. The files
// of testdata/exceptions list the cases that do not pass, with the reason of each, by group of operators. The
// list is exact: a listed case that passes is a failure too.

// sampled is how many cases there are to one that runs with -short.
const sampled = 8

// A nodeCase is a model of mostly one node with inputs and outputs.
type nodeCase struct {
	name       string
	model      []byte
	in, out    [][][]byte // by data set
	rtol, atol float64
}

func nodeCases(t *testing.T, file string) []*nodeCase {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var list []*nodeCase
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		name, file, _ := strings.Cut(h.Name, "/")
		if file == "model.onnx" {
			list = append(list, &nodeCase{name: name, model: data})
			continue
		}
		c := list[len(list)-1]
		if file == "tolerance" {
			fmt.Sscan(string(data), &c.rtol, &c.atol)
			continue
		}
		part := strings.Split(file, ".") // data set, in or out, number, kind
		to := &c.in
		if part[1] == "out" {
			to = &c.out
		}
		if part[2] == "00" {
			*to = append(*to, nil)
		}
		last := len(*to) - 1
		(*to)[last] = append((*to)[last], append([]byte(part[3]), data...))
	}
}

// message reads a value of a case: a letter for its kind and its message.
func message(b []byte) (Value, error) {
	r := wire.NewReader(b[1:])
	v, err := readValue(r, b[0])
	if err == nil {
		err = r.Err()
	}
	return v, err
}

func readValue(r *wire.Reader, kind byte) (v Value, err error) {
	if kind == 't' {
		t := readTensor(r)
		if r.Err() != nil {
			return v, r.Err()
		}
		t.raw = slices.Clone(t.raw)
		return (&source{}).value(t)
	}
	v.kind = map[byte]Kind{'s': SequenceKind, 'o': OptionalKind, 'm': MapKind}[kind]
	var keys Value
	for r.Next() {
		if kind == 'm' {
			switch r.Field() {
			case 3:
				for _, k := range r.Int64s(nil) {
					keys = appendKey(keys, k)
				}
			case 4:
				keys.kind, keys.elem = StringsKind, String
				keys.strings, keys.shape = append(keys.strings, r.String()), []int{len(keys.strings) + 1}
			case 5:
				r.Message(func(r *wire.Reader) {
					var x Value
					x, err = readValue(r, 's')
					v.items = []Value{keys, x}
				})
			}
			continue
		}
		if of, ok := map[int]byte{3: 't', 5: 's', 6: 'm', 7: 'o'}[r.Field()]; ok {
			r.Message(func(r *wire.Reader) {
				x, e := readValue(r, of)
				if v.items = append(v.items, x); e != nil {
					err = e
				}
			})
		}
	}
	return v, err
}

func appendKey(keys Value, k int64) Value {
	var list []int64
	if keys.tensor != nil {
		list = weft.Data[int64](keys.tensor)
	}
	return TensorOf(weft.FromSlice(append(list, k)))
}

// run runs a case, compiled and node by node.
func (c *nodeCase) run() error {
	m, err := Read(c.model)
	if err != nil {
		return err
	}
	for set := range max(len(c.in), len(c.out)) {
		in := map[string]Value{}
		if set < len(c.in) {
			for i, b := range c.in[set] {
				if in[m.info.Inputs[i].Name], err = message(b); err != nil {
					return err
				}
			}
		}
		compiled, err := m.RunValues(in)
		if err != nil {
			return err
		}
		if err := c.compare(m, set, compiled); err != nil {
			return fmt.Errorf("compiled: %w", err)
		}
		list, err := m.arguments(in)
		if err != nil {
			return err
		}
		var out []Value
		weft.WithoutGrad(func() { out, err = m.run(context.Background(), list, true) })
		if err != nil {
			return err
		}
		plain := map[string]Value{}
		for i, v := range out {
			plain[m.info.Outputs[i].Name] = v
		}
		if err := c.compare(m, set, plain); err != nil {
			return fmt.Errorf("node by node: %w", err)
		}
	}
	return nil
}

func (c *nodeCase) compare(m *Model, set int, got map[string]Value) error {
	for i, b := range c.out[set] {
		want, err := message(b)
		if err != nil {
			return err
		}
		name := m.info.Outputs[i].Name
		if err := near(got[name], want, c.rtol, c.atol); err != nil {
			return fmt.Errorf("output %q: %w", name, err)
		}
	}
	return nil
}

// near compares values: |got-want| <= atol + rtol*|want|, as numpy.testing.assert_allclose.
func near(got, want Value, rtol, atol float64) error {
	if want.kind == OptionalKind && got.kind != OptionalKind && len(want.items) == 1 {
		want = want.items[0]
	}
	if want.kind == SequenceKind && got.kind == TensorKind && len(want.items) == 1 {
		want = want.items[0] // the values of a map, which files have in a sequence
	}
	if got.kind != want.kind || got.elem != want.elem || !slices.Equal(got.Shape(), want.Shape()) || len(got.items) != len(want.items) {
		return fmt.Errorf("is %v, want %v", got, want)
	}
	if !slices.Equal(got.strings, want.strings) {
		return fmt.Errorf("is %q, want %q", got.strings, want.strings)
	}
	for i := range want.items {
		if err := near(got.items[i], want.items[i], rtol, atol); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	if want.kind != TensorKind {
		return nil
	}
	x, y := got.tensor, want.tensor
	if x.DType().Complex() {
		x, y = weft.Stack([]*weft.Tensor{x.Real(), x.Imag()}, 0), weft.Stack([]*weft.Tensor{y.Real(), y.Imag()}, 0)
	}
	if !x.DType().Float() {
		rtol, atol = 0, 0
		if n := x.Ne(y).To(weft.Int64).Sum().ItemInt(); n != 0 {
			return fmt.Errorf("%d elements of %v differ", n, got)
		}
		return nil
	}
	a, b := weft.Data[float64](x.To(weft.Float64)), weft.Data[float64](y.To(weft.Float64))
	for i := range a {
		if math.IsNaN(a[i]) && math.IsNaN(b[i]) || a[i] == b[i] {
			continue
		}
		if d := math.Abs(a[i] - b[i]); !(d <= atol+rtol*math.Abs(b[i])) {
			return fmt.Errorf("element %d of %v is %v, want %v", i, got, a[i], b[i])
		}
	}
	return nil
}

// op is the operator that a case is about.
func (c *nodeCase) op(t *testing.T) string {
	p, err := readModelProto(c.model)
	if err != nil {
		t.Fatal(c.name, err)
	}
	ops := map[string]bool{}
	for _, n := range p.graph.nodes {
		ops[n.op] = true
	}
	first := p.graph.nodes[0]
	if len(ops) == 1 {
		return operatorName(first.domain, first.op)
	}
	return operatorName(first.domain, p.graph.nodes[len(p.graph.nodes)-1].op)
}

const notYet = "not yet"

// exceptions reads the files of exceptions: by group and case the reason.
func exceptions(t *testing.T) map[string]map[string]string {
	files, err := filepath.Glob("testdata/exceptions/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]string{}
	for _, file := range files {
		list := map[string]string{}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			name, reason, ok := strings.Cut(line, " ")
			if !ok {
				t.Errorf("%s: case %s has no reason", file, name)
			}
			list[name] = reason
		}
		out[strings.TrimSuffix(filepath.Base(file), ".txt")] = list
	}
	return out
}

// TestNodes runs ONNX's node tests. A case that is "not yet" in its group's file fails because the model has an
// operator that is missing.
func TestNodes(t *testing.T) {
	cases := nodeCases(t, "testdata/nodes.tar.gz")
	listed := map[string]string{}
	for group, list := range exceptions(t) {
		for name, reason := range list {
			if listed[name] != "" {
				t.Errorf("case %s is listed twice, the second time in group %s", name, group)
			}
			listed[name] = reason
		}
	}
	write := os.Getenv("WEFT_ONNX_EXCEPTIONS")
	failing := map[string]error{}
	for i, c := range cases {
		reason := listed[c.name]
		delete(listed, c.name)
		if testing.Short() && write == "" && i%sampled != 0 {
			continue
		}
		err := c.run()
		if write != "" {
			if err != nil {
				failing[c.name] = err
			}
			continue
		}
		var u *UnsupportedError
		switch {
		case err == nil && reason != "":
			t.Errorf("%s passes: take it out of the exceptions", c.name)
		case err != nil && reason == "":
			t.Errorf("%s: %v", c.name, err)
		case err != nil && reason == notYet && !errors.As(err, &u):
			t.Errorf("%s is listed as not yet, and has its operators: %v", c.name, err)
		}
	}
	if write != "" {
		writeExceptions(t, write, cases, failing)
		return
	}
	for name := range listed {
		t.Errorf("the exceptions list %s, which is not a case", name)
	}
}

// writeExceptions writes the files of exceptions anew. A reason that a person gave stays. Other cases are not
// yet, or have their error.
func writeExceptions(t *testing.T, dir string, cases []*nodeCase, failing map[string]error) {
	old := exceptions(t)
	files := map[string]*bytes.Buffer{}
	for g := range groupOperators {
		files[g] = bytes.NewBufferString("# Node tests of the group " + g + " that do not pass: case and reason.\n")
	}
	for _, c := range cases {
		err, ok := failing[c.name]
		if !ok {
			continue
		}
		g := groupOf(t, c, cases)
		reason := old[g][c.name]
		if reason == "" || reason == notYet || strings.HasPrefix(reason, "onnx: ") {
			var u *UnsupportedError
			if reason = strings.ReplaceAll(err.Error(), "\n", "; "); errors.As(err, &u) {
				reason = notYet
			}
		}
		fmt.Fprintf(files[g], "%s %s\n", c.name, reason)
	}
	for g, b := range files {
		if err := os.WriteFile(filepath.Join(dir, g+".txt"), b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// groupOf is the group of a case: that of its operator, or of the case whose function it expands.
func groupOf(t *testing.T, c *nodeCase, cases []*nodeCase) string {
	if base, _, ok := strings.Cut(c.name, "_expanded"); ok {
		for _, other := range cases {
			if other.name == base {
				c = other
			}
		}
	}
	op := c.op(t)
	for g, list := range groupOperators {
		if slices.Contains(strings.Fields(list), op) {
			return g
		}
	}
	t.Fatalf("operator %s of case %s is in no group", op, c.name)
	return ""
}
