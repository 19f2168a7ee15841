package sparse

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"weft"
	"weft/internal/array"
)

// A FormatError says what is wrong with a file.
type FormatError struct {
	Line int // of a text, 0 for another file
	Msg  string
}

func (e *FormatError) Error() string {
	if e.Line == 0 {
		return "sparse: " + e.Msg
	}
	return fmt.Sprintf("sparse: line %d: %s", e.Line, e.Msg)
}

// A marketReader reads a Matrix Market file line by line.
type marketReader struct {
	s        *bufio.Scanner
	line     int
	kind     string // real, integer, complex, pattern
	symmetry string
	row, col []int32
	re       []float64
	z        []complex128
}

// ReadMatrixMarket reads a matrix in NIST's Matrix Market exchange format: coordinates in coordinates, and
// arrays as their elements that are not 0. Symmetric, skew-symmetric and Hermitian matrices become whole ones.
// Numbers are float64 or complex128, of patterns 1. Malformed text gives a *[FormatError]. Memory is taken for
// entries that are there, whatever the header says.
func ReadMatrixMarket(r io.Reader) (*Matrix, error) {
	array.Given("sparse.readmatrixmarket", "r", r != nil)
	m := &marketReader{s: bufio.NewScanner(r)}
	m.s.Buffer(make([]byte, 0, 64<<10), 1<<20)
	var out *Matrix
	err := m.read(func(rows, cols int) {
		values := weft.FromSlice(m.re)
		if m.kind == "complex" {
			values = weft.FromSlice(m.z)
		}
		out = cooOf(values, m.row, m.col, nil, nil, rows, cols)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (m *marketReader) wrong(format string, args ...any) error {
	return &FormatError{m.line, fmt.Sprintf(format, args...)}
}

// next returns the fields of the next line that is not empty or a comment.
func (m *marketReader) next() ([]string, error) {
	for m.s.Scan() {
		m.line++
		if t := strings.TrimSpace(m.s.Text()); t != "" && (m.line == 1 || t[0] != '%') {
			return strings.Fields(t), nil
		}
	}
	if err := m.s.Err(); err != nil {
		return nil, fmt.Errorf("sparse: line %d: %w", m.line+1, err)
	}
	return nil, fmt.Errorf("sparse: the text ends after line %d: %w", m.line, io.ErrUnexpectedEOF)
}

func (m *marketReader) read(done func(rows, cols int)) error {
	head, err := m.next()
	if err != nil {
		return err
	}
	if len(head) != 5 || !strings.EqualFold(head[0], "%%MatrixMarket") || !strings.EqualFold(head[1], "matrix") {
		return m.wrong("is not the header of a matrix: %.80q", strings.Join(head, " "))
	}
	layout := strings.ToLower(head[2])
	m.kind, m.symmetry = strings.ToLower(head[3]), strings.ToLower(head[4])
	switch {
	case layout != "coordinate" && layout != "array":
		return m.wrong("the layout %.40q is not coordinate or array", layout)
	case m.kind != "real" && m.kind != "integer" && m.kind != "complex" && (m.kind != "pattern" || layout == "array"):
		return m.wrong("the field %.40q is not known for layout %s", m.kind, layout)
	case m.symmetry != "general" && m.symmetry != "symmetric" && m.symmetry != "skew-symmetric" && (m.symmetry != "hermitian" || m.kind != "complex"):
		return m.wrong("the symmetry %.40q is not known for field %s", m.symmetry, m.kind)
	}
	fields, err := m.next()
	if err != nil {
		return err
	}
	want := 3
	if layout == "array" {
		want = 2
	}
	size := [3]int64{}
	if len(fields) != want {
		return m.wrong("has %d numbers, want %d sizes", len(fields), want)
	}
	for i, f := range fields {
		if size[i], err = strconv.ParseInt(f, 10, 64); err != nil || size[i] < 0 || i < 2 && size[i] > maxSize {
			return m.wrong("%.40q is not a size from 0 to %d", f, maxSize)
		}
	}
	if m.symmetry != "general" && size[0] != size[1] {
		return m.wrong("a %s matrix cannot be [%d %d]", m.symmetry, size[0], size[1])
	}
	if layout == "array" {
		err = m.elements(size[0], size[1])
	} else {
		err = m.coordinates(size[0], size[1], size[2])
	}
	if err != nil {
		return err
	}
	for m.s.Scan() {
		m.line++
		if t := strings.TrimSpace(m.s.Text()); t != "" && t[0] != '%' {
			return m.wrong("more entries than the header says")
		}
	}
	if err := m.s.Err(); err != nil {
		return fmt.Errorf("sparse: line %d: %w", m.line+1, err)
	}
	done(int(size[0]), int(size[1]))
	return nil
}

func (m *marketReader) coordinates(rows, cols, n int64) error {
	for range n {
		f, err := m.next()
		if err != nil {
			return err
		}
		if len(f) < 2 {
			return m.wrong("has %d numbers, want a place", len(f))
		}
		var at [2]int64
		for i, most := range [2]int64{rows, cols} {
			if at[i], err = strconv.ParseInt(f[i], 10, 64); err != nil || at[i] < 1 || at[i] > most {
				return m.wrong("%.40q is not a place from 1 to %d", f[i], most)
			}
		}
		if err := m.entry(at[0]-1, at[1]-1, f[2:], false); err != nil {
			return err
		}
	}
	return nil
}

// elements reads an array column by column, of symmetric ones what is on or below the diagonal.
func (m *marketReader) elements(rows, cols int64) error {
	for j := range cols {
		if rows == 0 {
			break // columns without elements may be many
		}
		first := int64(0)
		switch m.symmetry {
		case "symmetric", "hermitian":
			first = j
		case "skew-symmetric":
			first = j + 1
		}
		for i := first; i < rows; i++ {
			f, err := m.next()
			if err != nil {
				return err
			}
			if err := m.entry(i, j, f, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry adds an entry and what symmetry says of it.
func (m *marketReader) entry(i, j int64, f []string, dropZero bool) error {
	want := map[string]int{"pattern": 0, "real": 1, "integer": 1, "complex": 2}[m.kind]
	if len(f) != want {
		return m.wrong("has %d numbers for a value, want %d", len(f), want)
	}
	var v [2]float64
	if m.kind == "pattern" {
		v[0] = 1
	}
	for k, s := range f {
		var err error
		if v[k], err = strconv.ParseFloat(s, 64); err != nil && v[k] == 0 {
			return m.wrong("%.40q is not a number", s)
		}
	}
	z := complex(v[0], v[1])
	if z == 0 && dropZero {
		return nil
	}
	m.add(i, j, z)
	if i == j {
		return nil
	}
	switch m.symmetry {
	case "symmetric":
		m.add(j, i, z)
	case "skew-symmetric":
		m.add(j, i, -z)
	case "hermitian":
		m.add(j, i, conj(z))
	}
	return nil
}

func (m *marketReader) add(i, j int64, z complex128) {
	m.row, m.col = append(m.row, int32(i)), append(m.col, int32(j))
	if m.kind == "complex" {
		m.z = append(m.z, z)
	} else {
		m.re = append(m.re, real(z))
	}
}

// WriteMatrixMarket writes m's entries in NIST's Matrix Market exchange format, coordinate and general, with the
// fewest digits that give the same numbers back.
func WriteMatrixMarket(w io.Writer, m *Matrix) error {
	const name = "sparse.writematrixmarket"
	array.Given(name, "w", w != nil)
	m.notNil(name, "m")
	c := m.To(COO)
	b := bufio.NewWriter(w)
	kind, bits := "real", 64
	d := c.values.DType()
	if d.Complex() {
		kind = "complex"
	}
	if d.Size() <= 4 || d == weft.Complex64 {
		bits = 32
	}
	fmt.Fprintf(b, "%%%%MatrixMarket matrix coordinate %s general\n%d %d %d\n", kind, m.rows, m.cols, len(c.index()))
	z := weft.Data[complex128](c.values.Detach().To(weft.Complex128))
	var line []byte
	for k, j := range c.index() {
		line = strconv.AppendInt(line[:0], int64(c.rowIndex()[k])+1, 10)
		line = strconv.AppendInt(append(line, ' '), int64(j)+1, 10)
		line = strconv.AppendFloat(append(line, ' '), real(z[k]), 'g', -1, bits)
		if d.Complex() {
			line = strconv.AppendFloat(append(line, ' '), imag(z[k]), 'g', -1, bits)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return b.Flush()
}
