package safetensors

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/saved"
)

func init() {
	saved.RegisterWeights(func(path string) (func(key string) (array.View, error), func() error, error) {
		f, err := Open(path)
		if err != nil {
			return nil, nil, err
		}
		return f.view, f.Close, nil
	})
}

// Tensor reads the tensor of that name. It stays valid after Close. Of one of 8-bit floats it
// returns the bytes of the elements as uint8, in its shape; [File.Info] tells which floats.
func (f *File) Tensor(name string) (*weft.Tensor, error) {
	v, err := f.view(name)
	if err != nil {
		return nil, err
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

// ReadFile reads the tensors of the file at path, and its metadata. If some are of element types
// that weft's tensors cannot hold, it returns the others with a *[LeftOutError].
func ReadFile(path string) (map[string]*weft.Tensor, map[string]string, error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	tensors := make(map[string]*weft.Tensor, len(f.entries))
	left := &LeftOutError{Path: path}
	for _, name := range f.Names() {
		t, err := f.Tensor(name)
		var unsupported *UnsupportedError
		switch {
		case errors.As(err, &unsupported):
			left.Tensors = append(left.Tensors, unsupported)
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		tensors[name] = t
	}
	if left.Tensors != nil {
		return tensors, f.Metadata(), left
	}
	return tensors, f.Metadata(), nil
}

// Write writes the tensors, whatever their strides, and the metadata, which may
// be nil, to w.
func Write(w io.Writer, tensors map[string]*weft.Tensor, metadata map[string]string) error {
	list, done, err := views(tensors)
	defer done()
	if err != nil {
		return err
	}
	return encode(w, list, metadata)
}

// WriteFile writes them to the file at path, which it replaces as a whole: an
// error or a crash leaves the old file.
func WriteFile(path string, tensors map[string]*weft.Tensor, metadata map[string]string) error {
	list, done, err := views(tensors)
	defer done()
	if err != nil {
		return err
	}
	return encodeFile(path, list, metadata)
}

// views lists what to write, which stays until done is called. A tensor that is nil
// or was released is an error.
func views(tensors map[string]*weft.Tensor) (list []named, done func(), err error) {
	var lent []func()
	done = func() {
		for _, f := range lent {
			f()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if err := weft.Try(func() {
			defer array.Named("write").End()
			v, f := (*core.Tensor)(tensors[name]).Lend()
			list, lent = append(list, named{name, v}), append(lent, f)
		}); err != nil {
			return nil, done, fmt.Errorf("safetensors: tensor %q: %w", name, err)
		}
	}
	return list, done, nil
}
