package npy

import (
	"fmt"
	"io"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/core"
	"weft/internal/raw"
)

// A Column is one field of a structured array: its value in every record.
type Column struct {
	Name   string       // "outer.inner" for a field of a nested record
	DType  string       // NumPy's type string in the file, such as "<f4"; not used when writing
	Tensor *weft.Tensor // shape: that of the array, then that of the field; nil if tensors cannot hold the type
}

// ReadColumns reads one structured array from r and leaves r right behind it. There is a
// column for each field but padding, in the file's order. A column is a view of the
// records where their size and its place are multiples of the element's size and bytes
// are in the order of this machine; else it is a copy.
func ReadColumns(r io.Reader) ([]Column, error) {
	if r == nil {
		return nil, fmt.Errorf("npy: the reader is nil")
	}
	h, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	return h.readColumns(r)
}

// ReadColumnsFile is ReadColumns of the file at path. Bytes after the array are an error.
func ReadColumnsFile(path string) ([]Column, error) { return readFile(path, ReadColumns) }

func (h *header) readColumns(r io.Reader) ([]Column, error) {
	if h.record == nil {
		return nil, h.notStructured()
	}
	st, err := h.read(r, array.Uint8, false)
	if err != nil {
		return nil, err
	}
	return h.columns(st, 0, false), nil
}

func (h *header) notStructured() error {
	return malformed("%s has no columns: the array is not structured", h)
}

// columns takes the records in memory apart, which begins at a multiple of what place is
// a multiple of.
func (h *header) columns(st *array.Storage, place int, protect bool) []Column {
	out := make([]Column, len(h.record))
	for i := range h.record {
		f := &h.record[i]
		out[i] = Column{Name: f.name, DType: f.descr}
		if f.dtype == array.Invalid {
			continue
		}
		v := h.column(f, st, place)
		if protect {
			v.Store.Protect()
		}
		out[i].Tensor = (*weft.Tensor)(core.FromView(v))
	}
	return out
}

// column is one of the fields, as a view of the records or as a copy.
func (h *header) column(f *field, st *array.Storage, place int) array.View {
	shape := append(append([]int{}, h.shape...), f.shape...)
	steps := raw.Over(array.Uint8, h.shape, h.fortran, nil).Strides
	for i := range steps {
		steps[i] *= h.size
	}
	steps = append(steps, f.steps...)
	if array.Size(shape) == 0 {
		return raw.View(f.dtype, shape, false, nil)
	}
	size := f.dtype.Size()
	fits := place%size == 0 && f.offset%size == 0 && f.big == hostBig && f.dtype != array.Bool
	v := array.View{Store: st, DType: f.dtype, Shape: shape, Strides: make([]int, len(steps))}
	for i, n := range steps {
		fits = fits && n%size == 0
		v.Strides[i] = n / size
	}
	if fits {
		v.Offset = f.offset / size
		return v
	}
	bytes := array.View{Store: st, DType: array.Uint8, Shape: append(shape[:len(shape):len(shape)], size), Strides: append(steps, 1), Offset: f.offset}
	return raw.View(f.dtype, shape, false, raw.Packed(&bytes, f.dtype, f.big))
}

// WriteColumns writes the columns to w as one structured array of packed records: a
// vector with as many records as each column has rows, whose further dimensions are
// an array in the record. Names must differ and not be empty.
func WriteColumns(w io.Writer, columns []Column) error {
	if w == nil {
		return fmt.Errorf("npy: the writer is nil")
	}
	views := make([]array.View, len(columns))
	for i, c := range columns {
		v, done, err := view(c.Tensor)
		if err != nil {
			return fmt.Errorf("%w (column %q)", err, c.Name)
		}
		defer done()
		views[i] = v
	}
	descr, major, err := recordDescr(columns, views)
	if err != nil {
		return err
	}
	rows := 0
	if len(views) > 0 {
		rows = views[0].Shape[0]
	}
	head, err := appendDict(nil, descr, []int{rows}, false, major)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := writeRecords(w, views, rows); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// WriteColumnsFile is WriteColumns to the file at path, which it replaces as a whole: an
// error or a crash leaves the old file.
func WriteColumnsFile(path string, columns []Column) error {
	return atomicfile.Write(path, func(w io.Writer) error { return WriteColumns(w, columns) })
}

// recordDescr is the list that describes the records, as NumPy writes it, and the
// format version that its names need.
func recordDescr(columns []Column, views []array.View) (string, byte, error) {
	var t strings.Builder
	major := byte(1)
	seen := map[string]bool{}
	for i, c := range columns {
		v := &views[i]
		descr, ok := descrs[v.DType]
		switch {
		case !ok:
			return "", 0, &UnsupportedError{DType: v.DType.String()}
		case len(v.Shape) == 0 || v.Shape[0] != views[0].Shape[0]:
			return "", 0, fmt.Errorf("npy: column %q has shape %s: want as many rows as the first column", c.Name, array.ShapeString(v.Shape))
		case seen[c.Name] || c.Name == "":
			return "", 0, fmt.Errorf("npy: the name %q of a column is empty or there twice", c.Name)
		}
		seen[c.Name] = true
		needs, err := nameVersion(c.Name)
		if err != nil {
			return "", 0, err
		}
		major = max(major, needs)
		if i > 0 {
			t.WriteString(", ")
		}
		t.WriteString("('" + c.Name + "', '" + descr + "'")
		if len(v.Shape) > 1 {
			t.WriteString(", " + tupleString(v.Shape[1:]))
		}
		t.WriteString(")")
	}
	return "[" + t.String() + "]", major, nil
}

// writeRecords writes the rows of the columns side by side, some at a time.
func writeRecords(w io.Writer, views []array.View, rows int) error {
	size := 0
	for i := range views {
		size += array.Size(views[i].Shape[1:]) * views[i].DType.Size()
	}
	if size == 0 {
		return nil
	}
	step := max(1, recordBytes/size)
	buf := make([]byte, 0, min(step, max(rows, 1))*size)
	for at := 0; at < rows; at += step {
		n := min(step, rows-at)
		buf = buf[:n*size]
		offset := 0
		for i := range views {
			v := &views[i]
			row := array.Size(v.Shape[1:]) * v.DType.Size()
			if row == 0 {
				continue
			}
			part := v.Window(at*v.Strides[0], append([]int{n}, v.Shape[1:]...), v.Strides)
			var packed collector
			if err := raw.Write(&packed, &part); err != nil {
				return err
			}
			for k := range n {
				copy(buf[k*size+offset:][:row], packed[k*row:])
			}
			offset += row
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// recordBytes is how many bytes of records are put together at a time.
const recordBytes = 64 << 10

// A collector is a writer that keeps what it is given.
type collector []byte

func (c *collector) Write(b []byte) (int, error) {
	*c = append(*c, b...)
	return len(b), nil
}
