package safetensors

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"weft/internal/array"
	"weft/internal/raw"
)

// maxHeader is the bound of the reference library.
const maxHeader = 100_000_000

// A reader holds a header and reads the data when asked.
type reader struct {
	r        io.ReaderAt
	start    int64   // of the data
	entries  []entry // in the order of their data
	index    map[string]int
	metadata map[string]string
}

// open reads and checks the header of a file of size bytes.
func open(r io.ReaderAt, size int64) (*reader, error) {
	if size < 8 {
		return nil, fmt.Errorf("safetensors: the file has %d bytes: %w", size, io.ErrUnexpectedEOF)
	}
	var pre [8]byte
	if err := readAt(r, pre[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(pre[:])
	if n > maxHeader {
		return nil, malformed("header: %d bytes long, at most %d are allowed", n, maxHeader)
	}
	if int64(n) > size-8 {
		return nil, fmt.Errorf("safetensors: header: %d bytes long, %d are there: %w", n, size-8, io.ErrUnexpectedEOF)
	}
	text := make([]byte, n)
	if err := readAt(r, text, 8); err != nil {
		return nil, err
	}
	f := &reader{r: r, start: 8 + int64(n)}
	var err error
	if f.entries, f.metadata, err = parseHeader(string(text)); err != nil {
		return nil, err
	}
	if err := layOut(f.entries, size-f.start); err != nil {
		return nil, err
	}
	f.index = make(map[string]int, len(f.entries))
	for i, e := range f.entries {
		f.index[e.name] = i
	}
	return f, nil
}

// readAt reads a part of the header.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("safetensors: header: %w", err)
}

// layOut sorts the entries by the place of their data and checks that each has
// the bytes of its shape and that together they cover size bytes, each once.
func layOut(entries []entry, size int64) error {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := int64(0)
	for i := range entries {
		e := &entries[i]
		n, err := e.bytes()
		switch {
		case err != nil:
			return err
		case e.end < e.begin || e.end-e.begin != n:
			return malformed("tensor %q: data_offsets [%d, %d] do not fit the %d bytes of %s%s",
				e.name, e.begin, e.end, n, e.kind.name, array.ShapeString(e.shape))
		case e.begin < at:
			return malformed("tensor %q: its data at byte %d overlaps that of tensor %q", e.name, e.begin, entries[i-1].name)
		case e.begin > at:
			return malformed("tensor %q: bytes %d to %d before its data belong to no tensor", e.name, at, e.begin)
		case e.end > size:
			return fmt.Errorf("safetensors: tensor %q: its data ends at byte %d, %d are there: %w",
				e.name, e.end, size, io.ErrUnexpectedEOF)
		}
		at = e.end
	}
	if at < size {
		return malformed("%d bytes at the end belong to no tensor", size-at)
	}
	return nil
}

// bytes returns the size of e by its shape.
func (e *entry) bytes() (int64, error) {
	// The product of the non-zero dimensions must fit too: strides are made of
	// it.
	n, empty := 1, false
	for _, d := range e.shape {
		if d == 0 {
			empty = true
			continue
		}
		if n > math.MaxInt/d {
			return 0, malformed("tensor %q: shape %s overflows", e.name, array.ShapeString(e.shape))
		}
		n *= d
	}
	if n > math.MaxInt/e.kind.bits {
		return 0, malformed("tensor %q: shape %s of %s overflows", e.name, array.ShapeString(e.shape), e.kind.name)
	}
	if empty {
		return 0, nil
	}
	if n *= e.kind.bits; n%8 != 0 {
		return 0, malformed("tensor %q: %s%s has no whole number of bytes", e.name, e.kind.name, array.ShapeString(e.shape))
	}
	return int64(n / 8), nil
}

// view reads the tensor of that name.
func (f *reader) view(name string) (array.View, error) {
	i, ok := f.index[name]
	if !ok {
		return array.View{}, fmt.Errorf("safetensors: no tensor is named %q", name)
	}
	e := &f.entries[i]
	if !e.kind.dtype.Supported() {
		return array.View{}, &UnsupportedError{Name: name, DType: e.kind.name}
	}
	n := e.end - e.begin
	data := io.NewSectionReader(f.r, f.start+e.begin, n)
	buf, err := raw.Read(data, e.kind.dtype, int(n), false, true)
	if err != nil {
		return array.View{}, fmt.Errorf("safetensors: tensor %q: %w", name, err)
	}
	return raw.View(e.kind.dtype, slices.Clone(e.shape), false, buf), nil
}

// A named is one tensor to write.
type named struct {
	name string
	view array.View
}

// encode writes a file. It sorts the tensors as the reference library does:
// wider element types first, so that all data is aligned, then by name.
func encode(w io.Writer, tensors []named, metadata map[string]string) error {
	head, err := appendHeader(make([]byte, 8), tensors, metadata)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	for i := range tensors {
		if err := raw.Write(w, &tensors[i].view); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", tensors[i].name, err)
		}
	}
	return nil
}

// appendHeader sorts the tensors and appends their header to b, whose first 8
// bytes receive its length.
func appendHeader(b []byte, tensors []named, metadata map[string]string) ([]byte, error) {
	for _, t := range tensors {
		switch _, ok := rankByDType[t.view.DType]; {
		case !ok:
			return nil, &UnsupportedError{Name: t.name, DType: t.view.DType.String()}
		case t.name == metadataKey:
			return nil, fmt.Errorf("safetensors: a tensor cannot be named %q", metadataKey)
		case !utf8.ValidString(t.name):
			return nil, fmt.Errorf("safetensors: the name %q is invalid UTF-8", t.name)
		}
	}
	slices.SortFunc(tensors, func(a, b named) int {
		return cmp.Or(rankByDType[b.view.DType]-rankByDType[a.view.DType], cmp.Compare(a.name, b.name))
	})
	b = append(b, '{')
	if len(metadata) > 0 {
		b = appendString(b, metadataKey)
		b = append(b, ":{"...)
		keys := make([]string, 0, len(metadata))
		for k, v := range metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, fmt.Errorf("safetensors: metadata %q: %q is invalid UTF-8", k, v)
			}
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for i, k := range keys {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, k)
			b = append(b, ':')
			b = appendString(b, metadata[k])
		}
		b = append(b, '}')
	}
	at := int64(0)
	for i, t := range tensors {
		if i > 0 || len(metadata) > 0 {
			b = append(b, ',')
		}
		kind := kinds[rankByDType[t.view.DType]]
		b = appendString(b, t.name)
		b = append(b, `:{"dtype":"`...)
		b = append(b, kind.name...)
		b = append(b, `","shape":[`...)
		for i, n := range t.view.Shape {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, int64(n), 10)
		}
		end := at + int64(t.view.Size()*t.view.DType.Size())
		b = append(b, `],"data_offsets":[`...)
		b = strconv.AppendInt(b, at, 10)
		b = append(b, ',')
		b = strconv.AppendInt(b, end, 10)
		b = append(b, "]}"...)
		at = end
	}
	b = append(b, '}')
	for len(b)%8 != 0 {
		b = append(b, ' ')
	}
	n := len(b) - 8
	if n > maxHeader {
		return nil, fmt.Errorf("safetensors: the header takes %d bytes, at most %d are allowed", n, maxHeader)
	}
	binary.LittleEndian.PutUint64(b, uint64(n))
	return b, nil
}
