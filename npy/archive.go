package npy

import (
	"archive/zip"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"weft"
	"weft/internal/array"
	"weft/internal/atomicfile"
	"weft/internal/core"
	"weft/internal/raw"
	"weft/records"
)

// An Archive is an open .npz file: a zip file of .npy files, as numpy.savez and
// numpy.savez_compressed write them. It is safe for concurrent use.
type Archive struct {
	path   string // "" if the file is the caller's
	closer io.Closer
	names  []string
	index  map[string]*zip.File
}

// OpenArchive opens the .npz file at path. Arrays are read when asked for; Close it when
// none is needed any more.
func OpenArchive(path string) (*Archive, error) {
	a, f, err := raw.Open(path, ReadArchive)
	if err != nil {
		return nil, err
	}
	a.path, a.closer = path, f
	return a, nil
}

// ReadArchive reads the list of contents of an .npz file of size bytes. Arrays are read
// from r when asked for.
func ReadArchive(r io.ReaderAt, size int64) (*Archive, error) {
	if r == nil {
		return nil, errors.New("npy: the reader is nil")
	}
	if size < 0 {
		return nil, malformed("an archive of %d bytes", size)
	}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, archiveError("", err)
	}
	a := &Archive{index: map[string]*zip.File{}}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if a.index[name] != nil {
			return nil, malformed("the archive has two arrays named %q", name)
		}
		a.index[name] = f
		a.names = append(a.names, name)
	}
	return a, nil
}

// archiveError says which array an error is about, none if the name is "", and turns
// errors of package zip into this package's.
func archiveError(name string, err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, zip.ErrFormat), errors.Is(err, zip.ErrChecksum), errors.As(err, &corrupt):
		err = malformed("%v", err)
	case errors.Is(err, zip.ErrAlgorithm):
		err = &UnsupportedError{DType: "(the compression is not deflate)"}
	}
	if name == "" {
		return err
	}
	return fmt.Errorf("array %q: %w", name, err)
}

func (a *Archive) notNil() {
	if a == nil || a.index == nil {
		array.Failf("npy", "", "the archive is nil or empty (OpenArchive returned an error with it)")
	}
}

// Close closes an archive that [OpenArchive] opened; for one of [ReadArchive] it does
// nothing. Tensors stay valid.
func (a *Archive) Close() error {
	a.notNil()
	if a.closer == nil {
		return nil
	}
	return a.closer.Close()
}

// Names returns the names of the arrays in the order of the file.
func (a *Archive) Names() []string {
	a.notNil()
	return slices.Clone(a.names)
}

// Tensor reads the array of that name.
func (a *Archive) Tensor(name string) (*weft.Tensor, error) {
	v, err := readMember(a, name, decode)
	if err != nil {
		return nil, err
	}
	return (*weft.Tensor)(core.FromView(v)), nil
}

// Columns reads the structured array of that name, as [ReadColumns] does.
func (a *Archive) Columns(name string) ([]Column, error) { return readMember(a, name, ReadColumns) }

// Records reads the structured array of that name, as [ReadRecords] does.
func (a *Archive) Records(name string) (*records.Array, error) {
	return readMember(a, name, ReadRecords)
}

func (a *Archive) member(name string) (*zip.File, error) {
	a.notNil()
	f := a.index[name]
	if f == nil {
		return nil, fmt.Errorf("npy: no array is named %q", name)
	}
	if f.Flags&1 != 0 {
		return nil, archiveError(name, &UnsupportedError{DType: "(the array is encrypted)"})
	}
	return f, nil
}

// readMember calls read with one member, which it must read to its end.
func readMember[T any](a *Archive, name string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	f, err := a.member(name)
	if err != nil {
		return none, err
	}
	r, err := f.Open()
	if err != nil {
		return none, archiveError(name, err)
	}
	defer r.Close()
	x, err := read(r)
	if err != nil {
		return none, archiveError(name, err)
	}
	// The end of the member comes with its checksum.
	var rest [1]byte
	switch n, err := io.ReadFull(r, rest[:]); {
	case n > 0:
		return none, archiveError(name, malformed("bytes follow the array"))
	case err != io.EOF:
		return none, archiveError(name, err)
	}
	return x, nil
}

// Map returns the array of that name without reading it, as the function [Map] does. It
// must be stored without compression, in an archive that [OpenArchive] opened; checksums
// are not compared. [WriteArchive] places data so that it can be mapped; NumPy does so by
// chance, and what lies elsewhere is read. [ReadWrite] is refused: the checksum would be wrong.
func (a *Archive) Map(name string, mode MapMode) (*weft.Tensor, error) {
	f, err := a.member(name)
	if err != nil {
		return nil, err
	}
	switch {
	case mode == ReadWrite:
		return nil, archiveError(name, &UnsupportedError{DType: "(an array of an archive has a checksum, and cannot be mapped for writing)"})
	case a.path == "":
		return nil, fmt.Errorf("npy: array %q cannot be mapped: the archive was not opened by its path", name)
	case f.Method != zip.Store:
		return nil, archiveError(name, &UnsupportedError{DType: "(compressed arrays cannot be mapped)"})
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, archiveError(name, err)
	}
	n := int64(f.UncompressedSize64)
	if n != int64(f.CompressedSize64) || n < 0 {
		return nil, archiveError(name, malformed("%d bytes are stored as %d", f.UncompressedSize64, f.CompressedSize64))
	}
	return mapFile(a.path, mode, func(s *section) (*weft.Tensor, error) {
		if at > int64(s.m.Size()) || n > int64(s.m.Size())-at {
			return nil, archiveError(name, fmt.Errorf("npy: %w", io.ErrUnexpectedEOF))
		}
		s.at, s.n = at, n
		return s.tensor(mode)
	})
}

// ReadArchiveFile reads the arrays of the .npz file at path. If some are structured or of element
// types that tensors cannot hold, it returns the others with a *[LeftOutError].
func ReadArchiveFile(path string) (map[string]*weft.Tensor, error) {
	a, err := OpenArchive(path)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	tensors := make(map[string]*weft.Tensor, len(a.names))
	left := &LeftOutError{Path: path}
	for _, name := range a.names {
		t, err := a.Tensor(name)
		switch {
		case errors.Is(err, errors.ErrUnsupported):
			left.Names, left.Errs = append(left.Names, name), append(left.Errs, err)
			continue
		case err != nil:
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		tensors[name] = t
	}
	if left.Names != nil {
		return tensors, left
	}
	return tensors, nil
}

// ArchiveOpts are options of writing archives.
type ArchiveOpts struct {
	Compress bool // deflate the arrays, as numpy.savez_compressed does; such cannot be mapped
}

// WriteArchive writes the tensors, in the order of their names, to w as an .npz file that
// numpy.load reads. Data that is not compressed begins at a multiple of 64 bytes.
func WriteArchive(w io.Writer, tensors map[string]*weft.Tensor, opts ...ArchiveOpts) error {
	o := array.Options("npz", opts)
	if w == nil {
		return errors.New("npy: the writer is nil")
	}
	counted := &counter{w: w}
	z := zip.NewWriter(counted)
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		if err := writeMember(z, counted, name, tensors[name], o); err != nil {
			return fmt.Errorf("array %q: %w", name, err)
		}
	}
	if err := z.Close(); err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	return nil
}

// WriteArchiveFile is WriteArchive to the file at path, which it replaces as a whole: an
// error or a crash leaves the old file.
func WriteArchiveFile(path string, tensors map[string]*weft.Tensor, opts ...ArchiveOpts) error {
	o := array.Options("npz", opts)
	return atomicfile.Write(path, func(w io.Writer) error { return WriteArchive(w, tensors, o) })
}

// firstDay is the time of every member, as NumPy writes it: equal arrays give equal files.
var firstDay = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// writeMember writes one array. Behind it package zip writes its sizes, at.tail bytes, when
// it begins the next.
func writeMember(z *zip.Writer, at *counter, name string, t *weft.Tensor, opts ArchiveOpts) error {
	v, done, err := view(t)
	if err != nil {
		return err
	}
	defer done()
	h := &zip.FileHeader{Name: name + ".npy", Method: zip.Deflate, Modified: firstDay}
	if !opts.Compress {
		h.Method = zip.Store
		h.Extra = padding(at.n + at.tail + fileHeaderLen + int64(len(h.Name)) + timeLen)
	}
	w, err := z.CreateHeader(h)
	if err != nil {
		return err
	}
	begin := at.n
	if err := encode(w, &v); err != nil {
		return err
	}
	if err := z.Flush(); err != nil {
		return err
	}
	at.tail = 16
	if at.n-begin >= math.MaxUint32 {
		at.tail = 24
	}
	return nil
}

// Sizes of parts of the header of a member: what is before its name, and the extra field
// of its time, which package zip adds.
const (
	fileHeaderLen = 30
	timeLen       = 9
)

// padding is an extra field that moves what begins at the byte at to a multiple of 64.
func padding(at int64) []byte {
	const align, head = 64, 4
	n := int(-(at+head)%align+align) % align
	b := make([]byte, head+n)
	// Number and length of the field: the number that Android's zipalign uses.
	b[0], b[1], b[2] = 0x35, 0xd9, byte(n)
	return b
}

// A counter counts what is written, but for a tail that is yet to come.
type counter struct {
	w    io.Writer
	n    int64
	tail int64
}

func (c *counter) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	return n, err
}

// String returns the path, and the names of the arrays.
func (a *Archive) String() string {
	return array.Describe("npy.Archive", "Path", a.path, "Names", a.names)
}
