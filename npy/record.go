package npy

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"weft/internal/array"
)

// A field is a place in the records of a structured array. Nested records are taken
// apart: their fields stand beside the others, named "outer.inner".
type field struct {
	name   string
	descr  string      // NumPy's type string
	dtype  array.DType // Invalid for a type that tensors cannot hold
	big    bool
	offset int   // in the record, in bytes
	shape  []int // of an array in the record
	steps  []int // strides of it, in bytes
}

// maxDepth bounds nested records.
const maxDepth = 16

// fields parses the list that describes a record: tuples of a name, or of a title
// and a name, a type string or another list, and a shape.
func (p *parser) fields(depth int) (list []field, size int, err error) {
	if err := p.expect('['); err != nil {
		return nil, 0, err
	}
	if depth == maxDepth {
		return nil, 0, malformed("header: records are nested more than %d deep", maxDepth)
	}
	list = []field{}
	for !p.take(']') {
		fs, n, err := p.field(depth)
		if err != nil {
			return nil, 0, err
		}
		for i := range fs {
			fs[i].offset += size
		}
		if list = append(list, fs...); size > array.MaxBytes-n {
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

// field parses one tuple and returns the bytes that it describes.
func (p *parser) field(depth int) (list []field, size int, err error) {
	if err := p.expect('('); err != nil {
		return nil, 0, err
	}
	name, err := p.fieldName()
	if err != nil {
		return nil, 0, err
	}
	if err := p.expect(','); err != nil {
		return nil, 0, err
	}
	if p.peek() == '[' {
		if list, size, err = p.fields(depth + 1); err != nil {
			return nil, 0, err
		}
		for i := range list {
			list[i].name = name + "." + list[i].name
		}
	} else {
		f := field{name: name}
		if f.descr, err = p.str(); err != nil {
			return nil, 0, err
		}
		f.dtype, f.big, err = parseDescr(f.descr)
		switch _, unsupported := err.(*UnsupportedError); {
		case err == nil:
			size = f.dtype.Size()
		case !unsupported:
			return nil, 0, err
		default:
			if size, err = opaqueSize(f.descr, err); err != nil {
				return nil, 0, err
			}
		}
		if padding := name == "" && strings.HasPrefix(f.descr, "|V"); !padding {
			list = []field{f}
		}
	}
	if p.take(',') && p.peek() != ')' {
		shape, err := p.tuple()
		if err != nil {
			return nil, 0, err
		}
		if list, size, err = repeated(list, size, shape); err != nil {
			return nil, 0, err
		}
	}
	return list, size, p.expect(')')
}

// repeated makes arrays of fields, which are size bytes together.
func repeated(list []field, size int, shape []int) ([]field, int, error) {
	n, ok := fits(max(size, 1), shape)
	if !ok {
		return nil, 0, malformed("header: shape %s in a record overflows", array.ShapeString(shape))
	}
	steps := array.RowMajor(shape)
	for i := range steps {
		steps[i] *= size
	}
	for i := range list {
		f := &list[i]
		if len(shape)+len(f.shape) > array.MaxRank {
			return nil, 0, malformed("header: field %q has more than %d dimensions", f.name, array.MaxRank)
		}
		f.shape = append(append([]int{}, shape...), f.shape...)
		f.steps = append(append([]int{}, steps...), f.steps...)
	}
	if size == 0 {
		n = 0
	}
	return list, n, nil
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
