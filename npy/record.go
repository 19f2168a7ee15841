package npy

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"weft/internal/array"
)

// A member is a field of a record as the header has it: elements, or records again.
type member struct {
	name   string
	descr  string      // NumPy's type string, of elements
	dtype  array.DType // Invalid for a type that tensors cannot hold, and for records
	big    bool
	record []member // not nil: records
	size   int      // of an element or a record
	shape  []int    // of the array in the record
	offset int      // in the record, in bytes
}

// A field is a member of elements in the outermost record, named "outer.inner" where records are
// nested.
type field struct {
	name   string
	descr  string
	dtype  array.DType
	big    bool
	offset int   // in the outermost record, in bytes
	shape  []int // of the arrays that the member is in, outermost first
	steps  []int // strides of it, in bytes
}

// maxDepth bounds nested records.
const maxDepth = 16

// members parses the list that describes a record: tuples of a name, or of a title
// and a name, a type string or another list, and a shape. Padding is left out.
func (p *parser) members(depth int) (list []member, size int, err error) {
	if err := p.expect('['); err != nil {
		return nil, 0, err
	}
	if depth == maxDepth {
		return nil, 0, malformed("header: records are nested more than %d deep", maxDepth)
	}
	list = []member{}
	for !p.take(']') {
		m, n, err := p.member(depth)
		if err != nil {
			return nil, 0, err
		}
		m.offset = size
		if padding := m.name == "" && strings.HasPrefix(m.descr, "|V"); !padding {
			list = append(list, m)
		}
		if size > array.MaxBytes-n {
			return nil, 0, malformed("header: a record overflows")
		}
		size += n
		if !p.take(',') {
			if err := p.expect(']'); err != nil {
				return nil, 0, err
			}
			break
		}
	}
	return list, size, nil
}

// member parses one tuple and returns the bytes that it describes.
func (p *parser) member(depth int) (m member, bytes int, err error) {
	if err := p.expect('('); err != nil {
		return m, 0, err
	}
	if m.name, err = p.fieldName(); err != nil {
		return m, 0, err
	}
	if err := p.expect(','); err != nil {
		return m, 0, err
	}
	if p.peek() == '[' {
		m.record, m.size, err = p.members(depth + 1)
	} else {
		err = p.element(&m)
	}
	if err != nil {
		return m, 0, err
	}
	bytes = m.size
	if p.take(',') && p.peek() != ')' {
		if m.shape, err = p.tuple(); err != nil {
			return m, 0, err
		}
		n, ok := fits(max(m.size, 1), m.shape)
		if !ok {
			return m, 0, malformed("header: shape %s in a record overflows", array.ShapeString(m.shape))
		}
		if m.size > 0 {
			bytes = n
		}
	}
	return m, bytes, p.expect(')')
}

// element parses the type string of a member.
func (p *parser) element(m *member) (err error) {
	if m.descr, err = p.str(); err != nil {
		return err
	}
	m.dtype, m.big, err = parseDescr(m.descr)
	switch _, unsupported := err.(*UnsupportedError); {
	case err == nil:
		m.size = m.dtype.Size()
	case !unsupported:
		return err
	default:
		m.dtype = array.Invalid
		m.size, err = opaqueSize(m.descr, err)
	}
	return err
}

// flat returns the fields of a record, and of the records in it.
func flat(list []member) (out []field, err error) {
	out = []field{}
	for i := range list {
		m := &list[i]
		inner := []field{{descr: m.descr, dtype: m.dtype, big: m.big}}
		if m.record != nil {
			if inner, err = flat(m.record); err != nil {
				return nil, err
			}
		}
		steps := array.RowMajor(m.shape)
		for k := range steps {
			steps[k] *= m.size
		}
		for _, f := range inner {
			if m.record != nil {
				f.name = "." + f.name
			}
			f.name, f.offset = m.name+f.name, m.offset+f.offset
			f.shape, f.steps = slices.Concat(m.shape, f.shape), slices.Concat(steps, f.steps)
			if len(f.shape) > array.MaxRank {
				return nil, malformed("header: field %q has more than %d dimensions", f.name, array.MaxRank)
			}
			out = append(out, f)
		}
	}
	return out, nil
}

// fieldName parses a name, or a title and a name.
func (p *parser) fieldName() (string, error) {
	if !p.take('(') {
		return p.decoded()
	}
	if _, err := p.decoded(); err != nil {
		return "", err
	}
	if err := p.expect(','); err != nil {
		return "", err
	}
	name, err := p.decoded()
	if err != nil {
		return "", err
	}
	return name, p.expect(')')
}

// decoded parses a string that may go beyond ASCII.
func (p *parser) decoded() (string, error) {
	s, err := p.quoted(true)
	if err != nil {
		return "", err
	}
	if p.latin {
		runes := make([]rune, len(s))
		for i := range len(s) {
			runes[i] = rune(s[i])
		}
		return string(runes), nil
	}
	if !utf8.ValidString(s) {
		return "", malformed("header: the name %q is invalid UTF-8", s)
	}
	return s, nil
}

// opaqueSize returns the bytes of an element whose type tensors cannot hold, if they
// are known; else the error why not.
func opaqueSize(descr string, why error) (int, error) {
	kind := descr[1:]
	switch kind[0] {
	case 'M', 'm':
		return 8, nil
	case 'O':
		return 0, why
	}
	n, err := strconv.Atoi(kind[1:])
	if kind[0] == 'U' && err == nil {
		if n > array.MaxBytes/4 {
			return 0, malformed("header: descr %q overflows", descr)
		}
		n *= 4
	}
	if err != nil || n < 0 || n > array.MaxBytes {
		return 0, malformed("header: descr %q is not a dtype", descr)
	}
	return n, nil
}
