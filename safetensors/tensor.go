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
	"weft/internal/float8"
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

// float8Names are PyTorch's names of the format's floats of 8 bits.
var float8Names = map[string]string{"F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2", "F8_E4M3FNUZ": "float8_e4m3fnuz", "F8_E5M2FNUZ": "float8_e5m2fnuz", "F8_E8M0": "float8_e8m0fnu"}

// Floats is [File.Tensor] with floats of 8 bits converted to an element type that has all their values:
// float32, float64, bfloat16, and float16 but for F8_E8M0. Other floats convert as Tensor.To does. Scales that
// a file has beside such tensors are tensors of their own, which the caller multiplies with. A type that cannot
// hold the values, and a tensor that is not of floats, give an *[UnsupportedError].
func (f *File) Floats(name string, to weft.DType) (*weft.Tensor, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return nil, err
	}
	kind := f.entries[f.index[name]].kind
	format, ok := float8.Formats[float8Names[kind.name]]
	switch {
	case ok && format.Holds(to):
		return weft.FromSlice(format.Table()).To(to).IndexSelect(0, t.Reshape(-1)).Reshape(t.Shape()...), nil
	case !ok && t.DType().Float() && to.Float():
		return t.To(to), nil
	}
	return nil, &UnsupportedError{Name: name, DType: kind.name + " as " + to.String()}
}

// ReadOpts are the options of [ReadFile].
type ReadOpts struct {
	Map bool // tensors lie in the file where they can, as [Map] says
}

// ReadFile reads the tensors of the file at path, and its metadata. If some are of element types
// that weft's tensors cannot hold, it returns the others with a *[LeftOutError].
func ReadFile(path string, opts ...ReadOpts) (map[string]*weft.Tensor, map[string]string, error) {
	open := Open
	if array.Options("read", opts).Map {
		open = Map
	}
	f, err := open(path)
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
