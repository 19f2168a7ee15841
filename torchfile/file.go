package torchfile

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"weft"
	"weft/internal/array"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// LoadOpts are the options of [Load] and [ReadFile].
type LoadOpts struct {
	// Map leaves the elements of tensors in the file, as torch.load does with mmap=True: the system
	// reads pages when they are touched. Writes change the memory of this process, never the file.
	// The file is closed when the call returns; its memory stays while a tensor on it can be reached.
	// A file must not be written or cut meanwhile, but may be replaced or removed: uses of tensors
	// whose bytes were cut off panic with a *weft.Error of kind DeviceFailed.
	//
	// What cannot lie in memory as in the file is read: bools, numbers in the other byte order, and
	// storages that begin at addresses that are not multiples of 8. Checksums of what is mapped
	// are not compared.
	Map bool
}

// Load returns the value that torch.save wrote to the file at path. See the package's documentation for
// the values of Go that it is made of. A module gives a *[ModuleError].
func Load(path string, opts ...LoadOpts) (any, error) {
	o := array.Options("load", opts)
	if !o.Map {
		v, f, err := raw.Open(path, Read)
		if err != nil {
			return nil, err
		}
		return v, f.Close()
	}
	f, err := mapped.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Open(f, mapped.CopyOnWrite)
	if err != nil {
		return nil, fmt.Errorf("torchfile: %w", err)
	}
	defer m.Close()
	v, err := read(m, int64(m.Size()), m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return v, nil
}

// Read is [Load] of a file of size bytes. Memory is taken by the sizes of parts of the file, so size
// must be true.
func Read(r io.ReaderAt, size int64) (any, error) {
	if r == nil {
		return nil, errors.New("torchfile: the reader is nil")
	}
	return read(r, size, nil)
}

// ReadFile reads the tensors of the state dict in the file at path, by name: [Load] and [Tensors].
func ReadFile(path string, opts ...LoadOpts) (map[string]*weft.Tensor, error) {
	v, err := Load(path, opts...)
	if err != nil {
		return nil, err
	}
	tensors, err := Tensors(v)
	if left, ok := errors.AsType[*LeftOutError](err); ok {
		left.Path = path
		return tensors, left
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return tensors, nil
}

// stateKeys are the keys under which checkpoints of trainings have the state dict of the network.
var stateKeys = []string{"state_dict", "model_state_dict", "model", "module", "net"}

// Tensors returns the tensors of a state dict that [Load] returned, by name. The value is the dict, or a
// checkpoint of a training that has it under "state_dict", "model_state_dict", "model", "module" or "net".
// Entries that are not tensors are left out. A [Raw] becomes the tensor of its bytes. If tensors are of a
// class that this package does not know, it returns the others with a *[LeftOutError].
func Tensors(value any) (map[string]*weft.Tensor, error) {
	d, ok := value.(*Dict)
	if !ok {
		return nil, &UnsupportedError{fmt.Sprintf("the file holds a %s, not a state dict", pythonType(value))}
	}
	if !hasTensors(d) {
		for _, key := range stateKeys {
			inner, _ := d.Get(key)
			if in, ok := inner.(*Dict); ok && hasTensors(in) {
				d = in
				break
			}
			if o, ok := inner.(*Object); ok && isModule(o) {
				return nil, &ModuleError{o.Class}
			}
		}
	}
	if d.Len() > 0 && !hasTensors(d) {
		var keys []string
		for k := range d.All() {
			if len(keys) == 20 {
				keys = append(keys, "and others")
				break
			}
			keys = append(keys, fmt.Sprintf("%.40v", k))
		}
		return nil, &UnsupportedError{"the file holds a dict without tensors, with the keys " + strings.Join(keys, ", ")}
	}
	out := map[string]*weft.Tensor{}
	left := &LeftOutError{}
	for k, v := range d.All() {
		name, ok := k.(string)
		if !ok {
			continue
		}
		switch v := v.(type) {
		case *weft.Tensor:
			out[name] = v
		case *Raw:
			out[name] = v.Bytes
		case *Object:
			if strings.HasPrefix(v.Class, "torch.") && strings.Contains(v.Class, "_rebuild_") {
				left.Names, left.Classes = append(left.Names, name), append(left.Classes, v.Class)
			}
		}
	}
	if left.Names != nil {
		return out, left
	}
	return out, nil
}

func hasTensors(d *Dict) bool {
	for k, v := range d.All() {
		_, named := k.(string)
		switch v.(type) {
		case *weft.Tensor, *Raw:
			if named {
				return true
			}
		}
	}
	return false
}

// isModule reports whether o is a module of PyTorch, by its attributes, or of TorchScript, by its name.
func isModule(o *Object) bool {
	if strings.HasPrefix(o.Class, "__torch__.") {
		return true
	}
	d, _ := o.State.(*Dict)
	_, ok := d.Get("_parameters")
	_, ok2 := d.Get("_modules")
	return ok && ok2
}

// pythonType names a value in errors.
func pythonType(x any) string {
	switch x := x.(type) {
	case nil:
		return "None"
	case *Object:
		return x.Class
	case *weft.Tensor, *Raw:
		return "tensor"
	case []any:
		return "list"
	case Tuple:
		return "tuple"
	}
	return fmt.Sprintf("%T", x)
}

// zipBegin and legacyBegin are the first bytes of files: of the zip format, and of the older one, a pickled
// number.
const (
	zipBegin    = "PK\x03\x04"
	legacyBegin = "\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
)

func read(r io.ReaderAt, size int64, m *mapped.Mapping) (any, error) {
	begin := make([]byte, min(max(size, 0), int64(len(legacyBegin))))
	if _, err := io.ReadFull(io.NewSectionReader(r, 0, size), begin); err != nil {
		return nil, &FormatError{Msg: "the file cannot be read", Err: err}
	}
	var v any
	var src *source
	var err error
	switch {
	case strings.HasPrefix(string(begin), zipBegin):
		v, src, err = readZip(r, size)
	case string(begin) == legacyBegin:
		v, src, err = readLegacy(r, size)
	default:
		return nil, malformed("not a file of torch.save")
	}
	if err != nil {
		return nil, err
	}
	src.m = m
	if v, err = newResolver(src).value(v, 0); err != nil {
		return nil, err
	}
	if o, ok := v.(*Object); ok && isModule(o) {
		return nil, &ModuleError{o.Class}
	}
	return v, nil
}

// readZip runs the pickle of a zip file.
func readZip(r io.ReaderAt, size int64) (any, *source, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, nil, &FormatError{Msg: "the zip file", Err: err}
	}
	entries := map[string]*zip.File{}
	root, found := "", false
	for _, f := range z.File {
		if entries[f.Name] != nil {
			return nil, nil, malformed("the zip file has two entries named %q", f.Name)
		}
		entries[f.Name] = f
		if before, ok := strings.CutSuffix(f.Name, "data.pkl"); ok && strings.Count(before, "/") <= 1 {
			if found {
				return nil, nil, malformed("the zip file has two pickles, %q and %q", root+"data.pkl", f.Name)
			}
			root, found = before, true
		}
	}
	if !found {
		return nil, nil, malformed("the zip file has no data.pkl: it is not a file of torch.save")
	}
	if entries[root+"constants.pkl"] != nil {
		return nil, nil, &ModuleError{"TorchScript"}
	}
	a := &archive{size: size, root: root, entries: entries}
	text, err := a.bytes("data.pkl")
	if err != nil {
		return nil, nil, err
	}
	src := &source{size: size, place: a.place, open: a.open, stores: map[storeKey]*array.Storage{}}
	if entries[root+"byteorder"] != nil {
		order, err := a.bytes("byteorder")
		if err != nil {
			return nil, nil, err
		}
		switch string(order) {
		case "little":
		case "big":
			src.big = true
		default:
			return nil, nil, malformed("the byte order is %.20q", order)
		}
	}
	v, n, err := decode(string(text), persistent)
	if err == nil && n < len(text) {
		err = malformed("%d bytes follow the pickle", len(text)-n)
	}
	return v, src, err
}

// An archive is the zip file of torch.save.
type archive struct {
	size    int64
	root    string // what names of entries begin with
	entries map[string]*zip.File
}

// entry returns an entry whose bytes lie in the file as they are.
func (a *archive) entry(name string) (*zip.File, error) {
	f := a.entries[a.root+name]
	switch {
	case f == nil:
		return nil, malformed("the zip file has no entry %q", a.root+name)
	case f.Method != zip.Store || f.Flags&1 != 0:
		return nil, &UnsupportedError{fmt.Sprintf("entry %q of the zip file is compressed or encrypted; torch.save stores it", f.Name)}
	case f.UncompressedSize64 != f.CompressedSize64 || f.UncompressedSize64 > uint64(a.size):
		return nil, malformed("entry %q of the zip file has %d bytes, stored as %d in a file of %d", f.Name, f.UncompressedSize64, f.CompressedSize64, a.size)
	}
	return f, nil
}

// bytes reads an entry.
func (a *archive) bytes(name string) ([]byte, error) {
	f, err := a.entry(name)
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, &FormatError{Msg: "entry " + name, Err: err}
	}
	defer r.Close()
	var b bytes.Buffer
	b.Grow(int(f.UncompressedSize64))
	if _, err := io.Copy(&b, r); err != nil {
		return nil, &FormatError{Msg: "entry " + name, Err: err}
	}
	return b.Bytes(), nil
}

func (a *archive) place(key string) (off, n int64, err error) {
	f, err := a.entry("data/" + key)
	if err != nil {
		return 0, 0, err
	}
	off, err = f.DataOffset()
	if err != nil {
		return 0, 0, &FormatError{Msg: "entry " + f.Name, Err: err}
	}
	n = int64(f.UncompressedSize64)
	if off > a.size || n > a.size-off {
		return 0, 0, &FormatError{Msg: "entry " + f.Name, Err: io.ErrUnexpectedEOF}
	}
	return off, n, nil
}

func (a *archive) open(key string) (io.ReadCloser, error) {
	f, err := a.entry("data/" + key)
	if err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		return nil, &FormatError{Msg: "entry " + f.Name, Err: err}
	}
	return r, nil
}

// maxElements bounds the elements of a storage, so that its bytes do not overflow.
const maxElements = 1 << 56

// persistent is the storage of a persistent id: ("storage", class, key, location, elements), and
// in the format before version 1.6 a view, (key, offset, elements), or None.
func persistent(id []any) (any, error) {
	kind, _ := at[string](id, 0)
	class, ok := at[Global](id, 1)
	key, ok2 := at[string](id, 2)
	count, ok3 := at[int64](id, 4)
	if kind != "storage" || !ok || !ok2 || !ok3 {
		return nil, malformed("a persistent id is not that of a storage")
	}
	e := elemByStorage[class]
	if e == nil {
		return nil, &UnsupportedError{fmt.Sprintf("a storage of class %s", class)}
	}
	ref := &storageRef{key: key, elem: e, count: count}
	if view, ok := at[*tuple](id, 5); ok {
		offset, ok := at[int64](view.items, 1)
		count, ok2 := at[int64](view.items, 2)
		if !ok || !ok2 || offset < 0 || offset > ref.count || count > ref.count-offset {
			return nil, malformed("a view of a storage is not within it")
		}
		ref.offset, ref.count = offset, count
	}
	if ref.count < 0 || count < ref.count || count > maxElements {
		return nil, malformed("a storage has %d elements", ref.count)
	}
	return ref, nil
}
