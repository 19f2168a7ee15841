package npy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/raw"
)

// decode reads one array and leaves r right behind it.
func decode(r io.Reader) (array.View, error) {
	if r == nil {
		return array.View{}, errors.New("npy: the reader is nil")
	}
	h, err := readHeader(r)
	if err != nil {
		return array.View{}, err
	}
	return h.decode(r)
}

// decode reads the data behind the header of a plain array.
func (h *header) decode(r io.Reader) (array.View, error) {
	if h.record != nil {
		return array.View{}, &UnsupportedError{DType: "structured", hint: ": ReadRecords and ReadRecordsFile read it"}
	}
	st, err := h.read(r, h.dtype, h.big)
	if err != nil {
		return array.View{}, err
	}
	return raw.Over(h.dtype, h.shape, h.fortran, st), nil
}

// read reads the data behind the header as elements of type d.
func (h *header) read(r io.Reader, d array.DType, big bool) (*array.Storage, error) {
	left, sized := remaining(r)
	if sized && int64(h.bytes) > left {
		return nil, h.short(left)
	}
	st, err := raw.Read(r, d, h.bytes, big, sized)
	if err != nil {
		return nil, fmt.Errorf("npy: %s: %w", h, err)
	}
	return st, nil
}

// short is the error of a file that ends early.
func (h *header) short(left int64) error {
	return fmt.Errorf("npy: %s needs %d bytes of data, %d are there: %w", h, h.bytes, left, io.ErrUnexpectedEOF)
}

// String names what is in the file.
func (h *header) String() string {
	if h.record != nil {
		return fmt.Sprintf("%s records of %d bytes", array.ShapeString(h.shape), h.size)
	}
	return array.TypeString(h.dtype, h.shape)
}

// remaining returns the bytes that r still holds, for the readers that know.
func remaining(r io.Reader) (int64, bool) {
	switch r := r.(type) {
	case *bytes.Reader:
		return int64(r.Len()), true
	case *bytes.Buffer:
		return int64(r.Len()), true
	case *strings.Reader:
		return int64(r.Len()), true
	case *io.SectionReader:
		pos, err := r.Seek(0, io.SeekCurrent)
		return max(r.Size()-pos, 0), err == nil
	case *os.File:
		st, err := r.Stat()
		if err != nil || !st.Mode().IsRegular() {
			return 0, false
		}
		pos, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return 0, false
		}
		return max(st.Size()-pos, 0), true
	}
	return 0, false
}

// decodeFile reads the file's only array.
func decodeFile(path string) (array.View, error) { return readFile(path, decode) }

// readFile calls read for a file, which it must read to its end.
func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := os.Open(path)
	if err != nil {
		return none, err
	}
	defer f.Close()
	x, err := read(f)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	if left, sized := remaining(f); sized && left > 0 {
		return none, fmt.Errorf("%s: %w", path, malformed("%d bytes follow the array", left))
	}
	return x, nil
}

// encode writes v. As NumPy does, it keeps the memory order of an array that is
// contiguous with its first index fastest, and writes every other row-major.
func encode(w io.Writer, v *array.View) error {
	if w == nil {
		return errors.New("npy: the writer is nil")
	}
	t := reversed(v)
	fortran := !v.Contiguous() && t.Contiguous()
	head, err := appendHeader(nil, v.DType, v.Shape, fortran)
	if err != nil {
		return err
	}
	if _, err := w.Write(head); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if fortran {
		v = &t
	}
	if err := raw.Write(w, v); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// reversed returns v with its dimensions in the opposite order.
func reversed(v *array.View) array.View {
	t := *v
	n := len(v.Shape)
	t.Shape, t.Strides = make([]int, n), make([]int, n)
	for i := range n {
		t.Shape[i], t.Strides[i] = v.Shape[n-1-i], v.Strides[n-1-i]
	}
	return t
}

// encodeFile replaces the file at path as a whole.
func encodeFile(path string, v *array.View) error {
	return atomicfile.Write(path, func(w io.Writer) error { return encode(w, v) })
}
