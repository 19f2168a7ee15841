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
	left, sized := remaining(r)
	if sized && int64(h.bytes) > left {
		return array.View{}, fmt.Errorf("npy: %s needs %d bytes of data, %d are there: %w",
			array.TypeString(h.dtype, h.shape), h.bytes, left, io.ErrUnexpectedEOF)
	}
	buf, err := raw.Read(r, h.dtype, h.bytes, h.big, sized)
	if err != nil {
		return array.View{}, fmt.Errorf("npy: %s: %w", array.TypeString(h.dtype, h.shape), err)
	}
	return raw.View(h.dtype, h.shape, h.fortran, buf), nil
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
func decodeFile(path string) (array.View, error) {
	f, err := os.Open(path)
	if err != nil {
		return array.View{}, err
	}
	defer f.Close()
	v, err := decode(f)
	if err != nil {
		return array.View{}, fmt.Errorf("%s: %w", path, err)
	}
	if left, sized := remaining(f); sized && left > 0 {
		return array.View{}, fmt.Errorf("%s: %w", path,
			malformed("%d bytes follow the array", left))
	}
	return v, nil
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
