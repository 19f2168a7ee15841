package npy

import (
	"fmt"
	"io"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// Read reads one array from r and leaves r right behind it, so that several can
// follow each other in a stream.
func Read(r io.Reader) (*weft.Tensor, error) {
	v, err := decode(r)
	if err != nil {
		return nil, err
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

// ReadFile reads the array of the file at path. Bytes after it are an error. [ReadRecordsFile] reads a
// structured array.
func ReadFile(path string) (*weft.Tensor, error) {
	v, err := decodeFile(path)
	if err != nil {
		return nil, err
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

// Write writes t to w, in Fortran order if t is contiguous in that order and not
// row-major, and row-major otherwise, whatever its strides.
func Write(w io.Writer, t *weft.Tensor) error {
	v, done, err := view(t)
	if err != nil {
		return err
	}
	defer done()
	return encode(w, &v)
}

// WriteFile writes t to the file at path, which it replaces as a whole: an error
// or a crash leaves the old file.
func WriteFile(path string, t *weft.Tensor) error {
	v, done, err := view(t)
	if err != nil {
		return err
	}
	defer done()
	return encodeFile(path, &v)
}

// view returns what to write, which stays until done is called. A tensor that is nil
// or was released is an error.
func view(t *weft.Tensor) (v array.View, done func(), err error) {
	if err := weft.Try(func() {
		defer array.Named("write").End()
		v, done = (*core.Tensor)(t).Lend()
	}); err != nil {
		return v, nil, fmt.Errorf("npy: %w", err)
	}
	return v, done, nil
}
