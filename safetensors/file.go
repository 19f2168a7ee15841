package safetensors

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"weft/internal/array"
	"weft/internal/mapped"
	"weft/internal/raw"
)

// maxHeader is the bound of the reference library.
const maxHeader = 100_000_000

// A File is an open safetensors file, whose header has been read and
// checked. It is safe for concurrent use.
type File struct {
	r        io.ReaderAt
	closer   io.Closer // nil if the file is the caller's
	start    int64     // of the data
	entries  []entry   // in the order of their data
	index    map[string]int
	metadata map[string]string
	mapped   *mapped.Mapping // nil for a file that is read
}

// Info describes a tensor of a file.
type Info struct {
	DType string // the format's name, such as "F32" or "BF16"
	Shape []int
	Bytes int64 // of its data
}

// Open opens the file at path. Tensors are read when asked for; Close it when
// none is needed any more.
func Open(path string) (*File, error) {
	file, f, err := raw.Open(path, Read)
	if err != nil {
		return nil, err
	}
	file.closer = f
	return file, nil
}

// Map opens the file at path, whose tensors lie in the file: the system reads pages when they are touched.
// Writes into a tensor change the memory of this process, never the file. The memory stays until
// the File is closed and no tensor on it can be reached any more. A file must not be written or cut meanwhile, but
// may be replaced or removed: uses of tensors whose bytes were cut off panic with a *weft.Error of kind DeviceFailed.
//
// What cannot lie in memory as in the file is read when it is asked for: bools, and everything on hosts with the other
// byte order. So is data at addresses that are not multiples of the element size, but for tensors of 64 KiB or more on
// amd64 and arm64, whose processors read at any address.
func Map(path string) (*File, error) {
	f, err := mapped.OpenRegular(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Open(f, mapped.CopyOnWrite)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	file, err := Read(m, int64(m.Size()))
	if err != nil {
		m.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	file.mapped, file.closer = m, closing{m}
	return file, nil
}

// closing closes a mapping.
type closing struct{ m *mapped.Mapping }

func (c closing) Close() error {
	c.m.Close()
	return nil
}

// Read reads and checks the header of a file of size bytes. Tensors are read
// from r when asked for; size must be true, as memory is taken by it.
func Read(r io.ReaderAt, size int64) (*File, error) {
	if r == nil {
		return nil, errors.New("safetensors: the reader is nil")
	}
	if size < 8 {
		return nil, fmt.Errorf("safetensors: the file has %d bytes: %w", size, io.ErrUnexpectedEOF)
	}
	var pre [8]byte
	if err := readAt(r, pre[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(pre[:])
	if n > maxHeader {
		return nil, malformed("not a safetensors file: its header would be %d bytes long, at most %d are allowed", n, maxHeader)
	}
	if int64(n) > size-8 {
		return nil, fmt.Errorf("safetensors: header: %d bytes long, %d are there: %w", n, size-8, io.ErrUnexpectedEOF)
	}
	text := make([]byte, n)
	if err := readAt(r, text, 8); err != nil {
		return nil, err
	}
	f := &File{r: r, start: 8 + int64(n)}
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
	return fmt.Errorf("safetensors: the header cannot be read: %w", err)
}

func (f *File) notNil() {
	if f == nil {
		array.Failf("safetensors", "", "the file is nil (Open returned an error with it)")
	}
}

// Close closes a file that [Open] or [Map] opened; for one of [Read] it does nothing.
func (f *File) Close() error {
	f.notNil()
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Names returns the names of the tensors in the order of their data.
func (f *File) Names() []string {
	f.notNil()
	names := make([]string, len(f.entries))
	for i := range f.entries {
		names[i] = f.entries[i].name
	}
	return names
}

// Info describes the tensor of that name; ok is false if there is none.
func (f *File) Info(name string) (info Info, ok bool) {
	f.notNil()
	i, ok := f.index[name]
	if !ok {
		return Info{}, false
	}
	e := &f.entries[i]
	return Info{DType: e.kind.name, Shape: slices.Clone(e.shape), Bytes: e.end - e.begin}, true
}

// Metadata returns a copy of the file's strings; it is empty, not nil, if there
// are none.
func (f *File) Metadata() map[string]string {
	f.notNil()
	m := make(map[string]string, len(f.metadata))
	maps.Copy(m, f.metadata)
	return m
}

// view reads the tensor of that name.
func (f *File) view(name string) (array.View, error) {
	f.notNil()
	i, ok := f.index[name]
	if !ok {
		return array.View{}, fmt.Errorf("safetensors: no tensor is named %q", name)
	}
	e := &f.entries[i]
	if !e.kind.dtype.Supported() {
		return array.View{}, &UnsupportedError{Name: name, DType: e.kind.name}
	}
	n := e.end - e.begin
	at := f.start + e.begin
	if f.mapped != nil && raw.InPlace(e.kind.dtype, int(at), int(n)) {
		return raw.Over(e.kind.dtype, slices.Clone(e.shape), false, f.mapped.Storage(int(at), int(n))), nil
	}
	data := io.NewSectionReader(f.r, at, n)
	st, err := raw.Read(data, e.kind.dtype, int(n), false, true)
	if err != nil {
		return array.View{}, fmt.Errorf("safetensors: tensor %q: %w", name, err)
	}
	return raw.Over(e.kind.dtype, slices.Clone(e.shape), false, st), nil
}

// String returns the names of the tensors.
func (f *File) String() string {
	f.notNil()
	return array.Describe("safetensors.File", "Names", f.Names())
}
