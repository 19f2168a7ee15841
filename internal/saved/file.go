package saved

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// The layout of a file. All numbers are little-endian.
//
//	bytes 0-7    "weft.pr\n"
//	bytes 8-11   the version of the format
//	bytes 12-15  0
//	bytes 16-23  the length of the header
//	then         the header, JSON: a [Program]
//	then         the elements of the state, each array at a multiple of 64 bytes of the file
const (
	magic   = "weft.pr\n"
	Version = 2 // 1: numbers of calls were constants
	fixed   = 24
	align   = 64
	// maxHeader bounds the memory that a header takes.
	maxHeader = 256 << 20
)

func aligned(n int64) int64 { return (n + align - 1) &^ (align - 1) }

// Write writes the program to the file at path, which it replaces whole or not at all.
func (p *Program) Write(path string) error {
	at := int64(0)
	for i := range p.State {
		if s := &p.State[i]; s.File == "" {
			s.Start = at
			at = aligned(at + int64(s.View.Size()*s.View.DType.Size()))
		}
	}
	head, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("save: %w", err)
	}
	for aligned(int64(len(head))+fixed) != int64(len(head))+fixed {
		head = append(head, ' ')
	}
	if len(head) > maxHeader {
		return array.Errorf("save", "", "the graph takes %d bytes, a file holds %d", len(head), maxHeader)
	}
	b := binary.LittleEndian.AppendUint32([]byte(magic), Version)
	b = binary.LittleEndian.AppendUint64(append(b, 0, 0, 0, 0), uint64(len(head)))
	return atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(append(b, head...)); err != nil {
			return err
		}
		for i := range p.State {
			s := &p.State[i]
			if s.File != "" {
				continue
			}
			if err := raw.Write(w, &s.View); err != nil {
				return err
			}
			n := int64(s.View.Size() * s.View.DType.Size())
			if _, err := w.Write(make([]byte, aligned(n)-n)); err != nil {
				return err
			}
		}
		return nil
	})
}

// openWeights opens a file of named tensors; nil where no package registered it.
var openWeights func(path string) (read func(key string) (array.View, error), done func() error, err error)

// RegisterWeights lets programs refer to tensors in files that open opens. Package safetensors calls it.
func RegisterWeights(open func(path string) (read func(key string) (array.View, error), done func() error, err error)) {
	openWeights = open
}

// weights returns a function that reads tensors of files beside the program at path, and one that closes
// those files.
func weights(opName, path string) (read func(file, key string) (array.View, error), done func()) {
	type opened struct {
		read func(key string) (array.View, error)
		done func() error
	}
	all := map[string]opened{}
	return func(file, key string) (array.View, error) {
			f, ok := all[file]
			if !ok {
				if openWeights == nil {
					return array.View{}, array.Errorf(opName, "", "tensors lie in %s, which this program cannot read: import weft/safetensors", file)
				}
				var err error
				if f.read, f.done, err = openWeights(filepath.Join(filepath.Dir(path), file)); err != nil {
					return array.View{}, err
				}
				all[file] = f
			}
			return f.read(key)
		}, func() {
			for _, f := range all {
				f.done()
			}
		}
}

// Refer lets the named state lie in a safetensors file beside path, which has it with the same elements.
// The error is that of the file, or an *array.Error that names a tensor which differs.
func (p *Program) Refer(path, file string, named func(name string) bool) error {
	if !filepath.IsLocal(file) {
		return array.Errorf("save", "File", "%q is not a file beside the program", file)
	}
	read, done := weights("save", path)
	defer done()
	for i := range p.State {
		s := &p.State[i]
		if !named(s.Name) {
			continue
		}
		v, err := read(file, s.Name)
		if err != nil {
			return err
		}
		if !SameElements(&v, &s.View) {
			return array.Errorf("save", s.Name, "is not what %s has under that name: write the file first", file)
		}
		s.File, s.Key, s.Start = filepath.ToSlash(file), s.Name, 0
	}
	return nil
}

// Read reads the program in the file at path.
func Read(path string) (p *Program, err error) {
	f, err := mapped.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	p, start, err := parse(f, st.Size())
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	m, err := mapped.Open(f, mapped.CopyOnWrite) // which closes f
	if err != nil {
		return nil, err
	}
	defer m.Close()
	reference, done := weights("loadprogram", path)
	defer done()
	for i := range p.State {
		s := &p.State[i]
		if s.File != "" {
			if s.View, err = reference(filepath.FromSlash(s.File), s.Key); err == nil && (s.View.DType.String() != s.DType || !array.Equal(s.View.Shape, s.Shape)) {
				err = array.Errorf("loadprogram", s.Name, "is %s in %s, want %s", array.TypeString(s.View.DType, s.View.Shape), s.File, array.TypeString(dtypeOf(s.DType), s.Shape))
			}
		} else {
			s.View, err = s.read(m, start)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return p, nil
}

// read returns the elements of state in a mapped file. Truth values are copied, since a file can hold
// bytes that are none.
func (s *State) read(m *mapped.Mapping, start int64) (array.View, error) {
	d := dtypeOf(s.DType)
	n := array.Size(s.Shape) * d.Size()
	if n == 0 {
		return raw.View(d, s.Shape, false, nil), nil
	}
	if d != array.Bool && n > array.SmallMax {
		return raw.Over(d, s.Shape, false, m.Storage(int(start+s.Start), n)), nil
	}
	store, err := raw.Read(io.NewSectionReader(m, start+s.Start, int64(n)), d, n, false, true)
	if err != nil {
		return array.View{}, err
	}
	return raw.Over(d, s.Shape, false, store), nil
}

// strict is json.Unmarshal that refuses fields which are not known.
func strict(b []byte, x any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(x); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// parse reads and checks all but the elements. It returns where they begin.
func parse(r io.ReaderAt, size int64) (p *Program, start int64, err error) {
	var b [fixed]byte
	if _, err := r.ReadAt(b[:], 0); err != nil || string(b[:8]) != magic {
		return nil, 0, array.Errorf("loadprogram", "", "is not a saved program: it does not begin with %q", magic)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v < 1 || v > Version {
		return nil, 0, array.Errorf("loadprogram", "", "is of version %d of the format, this program reads up to %d", v, Version)
	}
	n := binary.LittleEndian.Uint64(b[16:])
	if n > maxHeader || int64(n) > size-fixed {
		return nil, 0, array.Errorf("loadprogram", "", "the file is malformed: its header has %d bytes, %d are there", n, size-fixed)
	}
	text := make([]byte, n)
	if _, err := r.ReadAt(text, fixed); err != nil {
		return nil, 0, err
	}
	if nesting(text) > maxNesting {
		return nil, 0, array.Errorf("loadprogram", "", "the file is malformed: values of its header nest more than %d deep", maxNesting)
	}
	var ops struct{ Ops int }
	if err := json.Unmarshal(text, &ops); err == nil && ops.Ops > OpSet {
		return nil, 0, array.Errorf("loadprogram", "", "uses version %d of the operations, this program knows up to %d: a later version of weft wrote it", ops.Ops, OpSet)
	}
	p = &Program{}
	if err := strict(text, p); err != nil {
		return nil, 0, &array.Error{Op: "loadprogram", Msg: "the file is malformed", Err: err}
	}
	start = aligned(fixed + int64(n))
	if err := guard(func() { p.check(size - start) }); err != nil {
		return nil, 0, err
	}
	return p, start, nil
}

// maxNesting bounds the nesting of objects and lists in a header: a function in another is eight deep.
const maxNesting = 8 * (maxDepth + 2)

// nesting returns how deep objects and lists of JSON nest.
func nesting(text []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// check refuses tables that do not fit one another, and graphs that are malformed. room is the number
// of bytes behind the header.
func (p *Program) check(room int64) {
	if p.Graph == nil || p.Ops < 1 || !slices.Contains([]string{"exact", "stable", "fast"}, p.Level) {
		malformed("it has no graph, or no version, or no level")
	}
	p.checkValues()
	for i := range p.State {
		s := &p.State[i]
		n := array.CheckShape("loadprogram", s.Shape, dtypeOf(s.DType)) * dtypeOf(s.DType).Size()
		switch {
		case s.DType == "":
			malformed("%s has no element type", s.Name)
		case s.File != "" && (filepath.IsAbs(s.File) || !filepath.IsLocal(s.File) || strings.Contains(s.File, "\\")):
			malformed("%s lies in %q, which is not a file beside it", s.Name, s.File)
		case s.File == "" && (s.Start < 0 || s.Start%align != 0 || int64(n) > room || s.Start > room-int64(n)):
			malformed("%s lies behind the end of the file", s.Name)
		}
	}
	p.checkSources()
	p.checkNumbers()
	if len(p.Example) != len(p.Lengths) || slices.ContainsFunc(p.Example, func(n int) bool { return n < 0 }) {
		malformed("%d lengths have %d examples", len(p.Lengths), len(p.Example))
	}
	p.checkSizes()
	p.checkGraph(p.Example)
}

// checkSources checks what a graph reads.
func (p *Program) checkSources() {
	given := map[int]bool{}
	for _, s := range p.Sources {
		if s >= len(p.Inputs) || ^s >= len(p.State) || given[s] {
			malformed("source %d is not there, or there twice", s)
		}
		given[s] = true
	}
}

// checkValues checks the names and the types of inputs.
func (p *Program) checkValues() {
	names := map[string]bool{}
	unique := func(name string) {
		if names[name] || name == "" {
			malformed("the name %q is given twice, or is empty", name)
		}
		names[name] = true
	}
	if len(p.Sizes) > len(p.Lengths) {
		malformed("%d lengths have %d sizes", len(p.Lengths), len(p.Sizes))
	}
	bound := make([]bool, p.free())
	for i := range p.Inputs {
		in := &p.Inputs[i]
		unique("input " + in.Name)
		if in.DType == "" || len(in.Shape) > array.MaxRank {
			malformed("input %s has no type", in.Name)
		}
		dtypeOf(in.DType)
		for _, s := range in.Shape {
			if s.Size < 0 || s.Free && s.Size >= p.free() {
				malformed("input %s has a size %d", in.Name, s.Size)
			}
			if s.Free {
				bound[s.Size] = true
			}
		}
	}
	if slices.Contains(bound, false) {
		malformed("a length is that of no input")
	}
	for _, l := range p.Lengths {
		unique("length " + l)
	}
	for i := range p.State {
		unique("state " + p.State[i].Name)
	}
	for i := range p.Inputs {
		p.checkDefault(&p.Inputs[i])
	}
	for _, o := range p.Outputs {
		if o.Default != 0 {
			malformed("output %s has a default value", o.Name)
		}
		unique("output " + o.Name)
		if o.Result < 0 && (o.Input < 0 || o.Input >= len(p.Inputs)) {
			malformed("output %s is not there", o.Name)
		}
	}
}

// checkDefault checks the value of an argument that is not given.
func (p *Program) checkDefault(in *Value) {
	if in.Default < 0 || in.Default > len(p.State) {
		malformed("input %s has a default value that is not there", in.Name)
	}
	if in.Default == 0 {
		return
	}
	s := &p.State[in.Default-1]
	same := s.DType == in.DType && len(s.Shape) == len(in.Shape)
	for axis, n := range in.Shape {
		same = same && (n.Free || n.Size == s.Shape[axis])
	}
	if !same {
		malformed("input %s has a default value of another type", in.Name)
	}
}

// checkGraph builds the graph and checks what is done with its results.
func (p *Program) checkGraph(lengths []int) {
	for _, s := range p.Sources {
		t := p.TypeOf(s, lengths)
		array.CheckShape("loadprogram", t.Shape, t.DType)
	}
	outs, _ := p.plain(lengths)
	for _, o := range p.Outputs {
		if o.Result >= len(outs) {
			malformed("output %s is not there", o.Name)
		}
		t := p.outputType(&o, outs, lengths)
		same := t.DType.String() == o.DType && len(t.Shape) == len(o.Shape)
		for axis, n := range t.Shape {
			same = same && (o.Shape[axis].Size == n || o.Shape[axis].Free && o.Shape[axis].Size < len(p.Lengths))
		}
		if !same {
			malformed("output %s is %s", o.Name, array.TypeString(t.DType, t.Shape))
		}
	}
	written := map[int]bool{}
	for _, w := range p.Writes {
		if w.Result < 0 || w.Result >= len(outs) || w.Source < 0 || w.Source >= len(p.Sources) || written[w.Source] {
			malformed("a write is of what is not there, or the second one")
		}
		written[w.Source] = true
		if t := p.TypeOf(p.Sources[w.Source], lengths); outs[w.Result].DType != t.DType || !array.Equal(outs[w.Result].Shape, t.Shape) {
			malformed("%s is written where %s is", array.TypeString(outs[w.Result].DType, outs[w.Result].Shape), array.TypeString(t.DType, t.Shape))
		}
	}
}

// Constant is the number that text is, as [ConstantText] writes it; NaN if it is none.
func Constant(text string) float64 {
	f, err := parseFloat(text)
	if err != nil {
		return math.NaN()
	}
	return f
}

// ConstantText is a number as text.
func ConstantText(f float64) string { return floatText(f) }
