package torchfile

import (
	"encoding/binary"
	"io"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// maxDepth is the greatest depth of containers in containers. Python's pickle gives up at some 500.
const maxDepth = 2000

// A source has the memory of storages.
type source struct {
	size int64 // of the file
	m    *mapped.Mapping
	big  bool // numbers are big-endian
	// place returns where the bytes of a storage lie, and opens them for reading.
	place  func(key string) (off, n int64, err error)
	open   func(key string) (io.ReadCloser, error)
	stores map[storeKey]*array.Storage
	read   int64
}

// storeKey tells storages apart: those whose elements were changed for the host also by the type.
type storeKey struct{ key, elem string }

var hostBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// storage returns the memory of a storage whose elements are e.
func (s *source) storage(ref *storageRef, e *elem) (*array.Storage, error) {
	k := storeKey{key: ref.key}
	same := s.big == hostBig && e.dtype != array.Bool // as bytes alone
	if !same {
		k.elem = e.name
	}
	if st := s.stores[k]; st != nil {
		return st, nil
	}
	off, n, err := s.place(ref.key)
	if err != nil {
		return nil, err
	}
	if want := (ref.offset + ref.count) * int64(ref.elem.size); n < want {
		return nil, malformed("storage %q has %d bytes, want %d", ref.key, n, want)
	}
	var st *array.Storage
	if s.m != nil && same && off%8 == 0 {
		st = s.m.Storage(int(off), int(n))
	} else if st, err = s.copied(ref.key, e, n); err != nil {
		return nil, err
	}
	s.stores[k] = st
	return st, nil
}

// copied reads a storage.
func (s *source) copied(key string, e *elem, n int64) (*array.Storage, error) {
	// A storage is read once, twice if its elements have two types. Entries that overlap are not written.
	if s.read += n; s.read > 2*s.size {
		return nil, malformed("the storages of a file of %d bytes overlap", s.size)
	}
	r, err := s.open(key)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	st, err := raw.Read(r, e.dtype, int(n), s.big, true)
	if err == nil {
		err = end(r)
	}
	if err != nil {
		return nil, &FormatError{Msg: "storage " + key, Err: err}
	}
	return st, nil
}

// end reads the end of an entry, where its checksum is compared.
func end(r io.Reader) error {
	var rest [1]byte
	if _, err := io.ReadFull(r, rest[:]); err != io.EOF {
		if err == nil {
			return malformed("it is longer than its entry says")
		}
		return err
	}
	return nil
}

// tensor makes the tensor of a reference.
func (s *source) tensor(t *tensorRef) (any, error) {
	st, err := s.storage(t.store, t.elem)
	if err != nil {
		return nil, err
	}
	offset := t.offset + t.store.offset*int64(t.store.elem.size)/int64(t.elem.size)
	v := array.View{Store: st, DType: t.elem.dtype, Shape: t.shape, Strides: t.strides}
	v = v.Window(int(offset), t.shape, t.strides)
	x := (*weft.Tensor)(core.FromView(v))
	if t.elem.raw {
		return &Raw{DType: t.elem.name, Bytes: x}, nil
	}
	if t.grad {
		if !t.elem.dtype.Float() && !t.elem.dtype.Complex() {
			return nil, malformed("a tensor of %s requires a gradient", t.elem.name)
		}
		x.RequireGrad()
	}
	return x, nil
}

// A resolver turns the values of a machine into values of the package.
type resolver struct {
	src  *source
	done map[any]any
	busy map[any]bool
}

func newResolver(src *source) *resolver {
	return &resolver{src, map[any]any{}, map[any]bool{}}
}

// value resolves x, which is inside depth containers.
func (r *resolver) value(x any, depth int) (any, error) {
	switch x := x.(type) {
	case *list, *tuple, *set, *Dict, *Object, *tensorRef, *numpyArray:
	case *storageRef:
		return &Object{Class: "torch.storage." + x.elem.storage}, nil
	case *numpyType:
		return Global("numpy." + x.name), nil
	case Global:
		if e := elemByDType[x]; e != nil && !e.raw {
			return e.dtype, nil
		}
		return x, nil
	default:
		return x, nil
	}
	if y, ok := r.done[x]; ok {
		return y, nil
	}
	switch {
	case r.busy[x]:
		return nil, malformed("a container holds itself")
	case depth > maxDepth:
		return nil, malformed("containers are nested deeper than %d", maxDepth)
	}
	r.busy[x] = true
	y, err := r.inner(x, depth+1)
	delete(r.busy, x)
	r.done[x] = y
	return y, err
}

// inner resolves what value knows to be new.
func (r *resolver) inner(x any, depth int) (y any, err error) {
	switch x := x.(type) {
	case *list:
		items, err := r.all(x.items, depth)
		return append([]any{}, items...), err
	case *tuple:
		items, err := r.all(x.items, depth)
		return append(Tuple{}, items...), err
	case *set:
		items, err := r.all(x.items.keys, depth)
		return Set(items), err
	case *Dict:
		return x, r.dict(x, depth)
	case *tensorRef:
		return r.src.tensor(x)
	case *numpyArray:
		return x.tensor()
	}
	return x, r.object(x.(*Object), depth)
}

func (r *resolver) object(o *Object, depth int) (err error) {
	// What a call was given is one tuple, unless this package made it.
	var args Tuple
	for _, a := range o.Args {
		v, err := r.value(a, depth)
		if err != nil {
			return err
		}
		if t, ok := v.(Tuple); ok {
			args = append(args, t...)
		} else {
			args = append(args, v)
		}
	}
	o.Args = args
	if o.State, err = r.value(o.State, depth); err != nil {
		return err
	}
	if o.List, err = r.all(o.List, depth); err != nil || o.Items == nil {
		return err
	}
	return r.dict(o.Items, depth)
}

// all resolves items, in their place.
func (r *resolver) all(items []any, depth int) ([]any, error) {
	for i, x := range items {
		v, err := r.value(x, depth)
		if err != nil {
			return nil, err
		}
		items[i] = v
	}
	return items, nil
}

// dict resolves the keys and values of a dict.
func (r *resolver) dict(d *Dict, depth int) error {
	if _, err := r.all(d.values, depth); err != nil {
		return err
	}
	old := d.keys
	keys := make([]any, 0, len(old))
	index := make(map[any]int, len(old))
	for i, key := range old {
		k, err := r.value(key, depth)
		if err != nil {
			return err
		}
		in, ok := keyOf(k)
		if _, twice := index[in]; !ok || twice {
			return malformed("a %T is a key", k)
		}
		index[in] = i
		keys = append(keys, k)
	}
	d.keys, d.index = keys, index
	return nil
}
