package npy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/core"
	"weft/internal/raw"
	"weft/records"
)

// ReadRecords reads one structured array from r and leaves r right behind it. Records have the
// file's layout, padding included, if each element lies at a multiple of its size; else, as mostly
// in files without padding, they are copied into the aligned layout ([records.Aligned]). Titles of
// fields are left out. A field that tensors cannot hold, such as a string, is an error that matches
// errors.ErrUnsupported: [ReadColumns] reads the others.
func ReadRecords(r io.Reader) (*records.Array, error) {
	if r == nil {
		return nil, fmt.Errorf("npy: the reader is nil")
	}
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	l, err := h.layout()
	if err != nil {
		return nil, err
	}
	st, err := h.read(r, array.Uint8, false)
	if err != nil {
		return nil, err
	}
	return h.records(l, st, 0)
}

// ReadRecordsFile is ReadRecords of the file at path. Bytes after the array are an error.
func ReadRecordsFile(path string) (*records.Array, error) { return readFile(path, ReadRecords) }

// MapRecords is [Map] of a structured array. Records lie in the file unless [ReadRecords] would
// convert them.
func MapRecords(path string, mode MapMode) (*records.Array, error) {
	return mapFile(path, mode, func(s *section) (*records.Array, error) { return s.records(mode) })
}

func (s *section) records(mode MapMode) (a *records.Array, err error) {
	if err := s.open(); err != nil {
		return nil, err
	}
	l, err := s.layout()
	if err != nil {
		return nil, err
	}
	st := s.m.Storage(s.data, s.bytes)
	if e := weft.Try(func() { a, err = s.header.records(l, st, s.data) }); e != nil {
		return nil, fmt.Errorf("npy: %w", e)
	}
	if err != nil {
		return nil, err
	}
	own := (*core.Tensor)(a.Bytes()).Layout().Store
	if mode == ReadOnly {
		own.Protect()
	}
	if own != st && a.Len() > 0 {
		err = s.elsewhere(mode)
	}
	return a, err
}

// layout returns where the fields lie in memory.
func (h *header) layout() (records.Layout, error) {
	if h.record == nil {
		return records.Layout{}, h.notStructured()
	}
	for i := range h.record {
		if f := &h.record[i]; f.dtype == array.Invalid {
			return records.Layout{}, &UnsupportedError{DType: fmt.Sprintf("%q of field %q: ReadColumns reads the others", f.descr, f.name)}
		}
	}
	l := layoutOf(h.members, h.size)
	if h.aligned() {
		return l, nil
	}
	err := weft.Try(func() { l = records.Aligned(l.Fields...) })
	if err != nil {
		err = fmt.Errorf("npy: %w", err)
	}
	return l, err
}

func layoutOf(list []member, size int) records.Layout {
	l := records.Layout{Size: size}
	for i := range list {
		m := &list[i]
		f := records.Field{Name: m.name, DType: m.dtype, Shape: m.shape, Offset: m.offset}
		if m.record != nil {
			f.Record = new(layoutOf(m.record, m.size))
		}
		l.Fields = append(l.Fields, f)
	}
	return l
}

// aligned reports that all elements lie at multiples of their size, wherever their record is.
func (h *header) aligned() bool {
	for i := range h.record {
		f := &h.record[i]
		n := f.dtype.Size()
		fits := f.offset%n == 0 && h.size%n == 0
		for _, step := range f.steps {
			fits = fits && step%n == 0
		}
		if !fits {
			return false
		}
	}
	return true
}

// records returns the records in memory, which begins at a multiple of what place is a multiple of.
func (h *header) records(l records.Layout, st *array.Storage, place int) (out *records.Array, err error) {
	direct := h.aligned()
	for i := range h.record {
		f := &h.record[i]
		direct = direct && f.big == hostBig && f.dtype != array.Bool && place%f.dtype.Size() == 0
	}
	err = weft.Try(func() {
		if direct {
			v := raw.Over(array.Uint8, h.shape, h.fortran, st)
			for i := range v.Strides {
				v.Strides[i] *= h.size
			}
			v.Shape, v.Strides = append(v.Shape, h.size), append(v.Strides, 1)
			out = records.Over(l, (*weft.Tensor)(core.FromView(v)))
			return
		}
		out = records.Zeros(l, h.shape...)
		for _, c := range h.columns(st, place, false) {
			out.Field(c.Name).Assign(c.Tensor)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("npy: %w", err)
	}
	return out, nil
}

// WriteRecords writes a to w as a structured array, with the layout that a has in memory: padding is
// written as zeros, and named as NumPy names it. NumPy reads it as the same dtype.
func WriteRecords(w io.Writer, a *records.Array) error {
	if w == nil {
		return fmt.Errorf("npy: the writer is nil")
	}
	var l records.Layout
	if err := weft.Try(func() {
		defer array.Named("write").End()
		l = a.Layout()
	}); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	d := describer{major: 1}
	if err := d.record(l); err != nil {
		return err
	}
	if d.padded {
		if err := weft.Try(func() { a = a.To(l) }); err != nil { // zeros between the fields
			return fmt.Errorf("npy: %w", err)
		}
	}
	v, done, err := view(a.Bytes())
	if err != nil {
		return err
	}
	defer done()
	head, err := appendDict(nil, d.text.String(), v.Shape[:len(v.Shape)-1], false, d.major)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := raw.Write(w, &v); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// WriteRecordsFile is WriteRecords to the file at path, which it replaces as a whole: an error or a
// crash leaves the old file.
func WriteRecordsFile(path string, a *records.Array) error {
	return atomicfile.Write(path, func(w io.Writer) error { return WriteRecords(w, a) })
}

// A describer writes the list that describes a record, as NumPy does.
type describer struct {
	text   strings.Builder
	major  byte // of the format version that the names need
	padded bool // there is padding
}

func (d *describer) record(l records.Layout) error {
	d.text.WriteByte('[')
	end := 0
	pad := func(to int) {
		if to > end {
			d.separate()
			fmt.Fprintf(&d.text, "('', '|V%d')", to-end)
			d.padded = true
		}
	}
	for _, f := range byOffset(l.Fields) {
		pad(f.Offset)
		d.separate()
		if err := d.field(f); err != nil {
			return err
		}
		end = f.Offset + array.Size(f.Shape)*fieldSize(f)
	}
	pad(l.Size)
	d.text.WriteByte(']')
	return nil
}

// separate begins another tuple of a list.
func (d *describer) separate() {
	if !strings.HasSuffix(d.text.String(), "[") {
		d.text.WriteString(", ")
	}
}

func (d *describer) field(f records.Field) error {
	major, err := nameVersion(f.Name)
	if err != nil {
		return err
	}
	d.major = max(d.major, major)
	d.text.WriteString("('" + f.Name + "', ")
	if f.Record != nil {
		if err := d.record(*f.Record); err != nil {
			return err
		}
	} else {
		descr, ok := descrs[f.DType]
		if !ok {
			return &UnsupportedError{DType: f.DType.String()}
		}
		d.text.WriteString("'" + descr + "'")
	}
	if len(f.Shape) > 0 {
		d.text.WriteString(", " + tupleString(f.Shape))
	}
	d.text.WriteByte(')')
	return nil
}

// fieldSize returns the bytes of an element or a record of a field.
func fieldSize(f records.Field) int {
	if f.Record != nil {
		return f.Record.Size
	}
	return f.DType.Size()
}

// byOffset returns fields in the order of their bytes.
func byOffset(list []records.Field) []records.Field {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(f, g records.Field) int { return f.Offset - g.Offset })
	return out
}

// nameVersion returns the format version that the name of a field needs. It refuses names that the
// format cannot tell plainly.
func nameVersion(name string) (major byte, err error) {
	major = 1
	for _, r := range name {
		if r < ' ' || r == 0x7f || r == '\\' || r == '\'' || r == utf8.RuneError {
			return 0, fmt.Errorf("npy: the name %q of a column has %q in it, which the format cannot tell plainly", name, r)
		}
		if r > '~' {
			major = 3
		}
	}
	return major, nil
}
