package weft

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/mapped"
	"weft/internal/mem"
)

// A Segment is memory that processes share by a name, and tensors lie in it without being
// copied: see [Share]. It is safe for concurrent use; what processes write and read at
// the same time is for them to agree on, by a pipe for instance.
type Segment struct {
	name string
	made bool // by this process, which removes the name
	size int

	mu sync.Mutex
	m  *mapped.Mapping // nil when closed
}

// Share makes a segment of bytes zero bytes with a name that no other has: letters, digits
// and "-_." but no "." in front, at most 200. Another process of the same user opens it by
// [OpenShared]. Errors wrap fs.ErrExist if there is a segment of that name, whatever its
// size; one that a process left behind when it died can be opened and unlinked.
//
// On Linux a segment is a file in /dev/shm, which is memory; elsewhere it is a mapped file
// in the folder of temporary files.
func Share(name string, bytes int) (*Segment, error) {
	path, err := segmentPath(name)
	if err != nil {
		return nil, err
	}
	if bytes <= 0 || bytes > array.MaxBytes {
		return nil, fmt.Errorf("share: %d bytes is not the size of a segment", bytes)
	}
	if err := mem.CheckHeap(bytes); err != nil {
		return nil, fmt.Errorf("share: the segment %q: %w", name, err)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		if st, e := os.Stat(path); e == nil && errors.Is(err, fs.ErrExist) {
			return nil, fmt.Errorf("share: there is a segment %q of %d bytes: %w", name, st.Size(), fs.ErrExist)
		}
		return nil, fmt.Errorf("share: %w", err)
	}
	// Memory must be there before it is touched.
	if err := mapped.Reserve(f, bytes); err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("share: the segment %q: %w", name, err)
	}
	m, err := mapped.Open(f, mapped.Shared)
	if err != nil {
		os.Remove(path)
		return nil, fmt.Errorf("share: %w", err)
	}
	return &Segment{name: name, made: true, size: bytes, m: m}, nil
}

// OpenShared opens the segment that a process made by [Share] under that name. The error wraps
// fs.ErrNotExist if the file does not exist. It wraps fs.ErrPermission if the file is a link, has a
// second name or belongs to another user.
func OpenShared(name string) (*Segment, error) {
	path, err := segmentPath(name)
	if err != nil {
		return nil, err
	}
	f, err := mapped.OpenOwn(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("share: there is no segment %q: %w", name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("share: the segment %q: %w", name, err)
	}
	m, err := mapped.Open(f, mapped.Shared)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	if m.Size() == 0 {
		m.Close()
		return nil, fmt.Errorf("share: the segment %q is just being made: %w", name, fs.ErrNotExist)
	}
	return &Segment{name: name, size: m.Size(), m: m}, nil
}

// segmentPath is the file of a segment.
func segmentPath(name string) (string, error) {
	odd := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-_.", r))
	}
	if name == "" || name[0] == '.' || len(name) > 200 || strings.ContainsFunc(name, odd) {
		return "", fmt.Errorf("share: %q is not a name of a segment: want at most 200 letters, digits and -_. but no . in front", name)
	}
	return filepath.Join(mapped.SharedFolder(), "weft-"+name), nil
}

// use refuses the nil Segment and the zero Segment.
func (s *Segment) use(opName string) {
	if s == nil || s.name == "" {
		array.Failf(opName, "", "the segment is nil or the zero Segment: Share and OpenShared make one")
	}
}

// Name returns the name of the segment.
func (s *Segment) Name() string {
	s.use("segment")
	return s.name
}

// Size returns the bytes of the segment.
func (s *Segment) Size() int {
	s.use("segment")
	return s.size
}

// Tensor returns a tensor of type d and the given shape whose memory is the segment from
// the byte offset on, a multiple of the size of an element: what one process writes, by
// [Tensor.Assign] or any other way, the others read. The memory stays as long as there are
// tensors in it, closed or not. It panics if the tensor does not fit into the segment, or
// the segment is closed.
func (s *Segment) Tensor(offset int, d DType, shape ...int) *Tensor {
	s.use("segment")
	if !d.Supported() {
		array.Failf("segment", "dtype", "%s is not supported", d)
	}
	shape = append([]int{}, shape...)
	n := array.CheckShape("segment", shape, d) * d.Size()
	if offset < 0 || offset%d.Size() != 0 {
		array.Failf("segment", "offset", "%d is negative or not a multiple of the %d bytes of an element of %s", offset, d.Size(), d)
	}
	if offset > s.size || n > s.size-offset {
		array.Failf("segment", "shape", "%s takes %d bytes from byte %d on, the segment %q has %d", array.TypeString(d, shape), n, offset, s.name, s.size)
	}
	if !core.Reached(0) {
		array.Failf("segment", "", "is memory of the host, which the device does not reach: FromSlice copies")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		array.Failf("segment", "", "the segment %q is closed", s.name)
	}
	return made(array.View{Store: s.m.Storage(offset, n), DType: d, Shape: shape, Strides: array.RowMajor(shape)})
}

// Close says that no more tensors will be made of the segment; those that there are stay.
// In the process that made it Close removes the name too: others that have opened the
// segment keep it, no other can open it any more. Closing again does nothing.
func (s *Segment) Close() error {
	s.use("segment")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		return nil
	}
	s.m.Close()
	s.m = nil
	if s.made {
		return s.Unlink()
	}
	return nil
}

// Unlink removes the name of the segment, which the memory outlives. A name that is gone
// is not an error. Windows keeps the name while the memory is in use.
func (s *Segment) Unlink() error {
	s.use("segment")
	path, err := segmentPath(s.name)
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("share: %w", err)
	}
	return nil
}

// A Scope collects the memory of temporaries, to give it back at once. Using one
// is optional: what no scope owns is given back when it is unreachable.
//
// A scope is safe for use from several goroutines; Close is called once, when no
// work on its tensors is left. What still runs then keeps its memory until it is over.
type Scope core.Scope

// NewScope returns an open scope.
func NewScope() *Scope { return (*Scope)(core.NewScope()) }

// Nest returns a scope inside s: results of tensors of both belong to it.
func (s *Scope) Nest() *Scope { return (*Scope)(s.c().Nest()) }

// Track returns t as a tensor of the scope: results computed from it are given
// back by [Scope.Close]. t itself is not.
func (s *Scope) Track(t *Tensor) *Tensor { return (*Tensor)(s.c().Track(t.c())) }

// Keep moves t out of the scope: its memory stays when the scope closes.
func (s *Scope) Keep(t *Tensor) *Tensor { return (*Tensor)(s.c().Keep(t.c())) }

// Close gives back the memory of all results computed from tracked tensors. Using
// one of them afterwards panics.
func (s *Scope) Close() { s.c().Close() }

// Release gives t's memory back now. Using t, or a view of it, afterwards panics with an [*Error].
// A view ([Tensor.Reshape], [Tensor.At], [Tensor.Detach] ...) gives back itself alone: what it was
// taken of stays as it is; where Reshape had to copy, its result is not a view. It panics while a
// function that [Borrow] gave the memory to has not returned. Operations and calls that read the
// memory meanwhile finish as if it were not released: it is given back after the last of them. They
// may run on other goroutines, or around the function that releases it. Release is never necessary:
// what nothing refers to any more is given back by the collector.
func (t *Tensor) Release() { t.c().Release() }

// Lazy returns a lazy tensor that shares t's memory. Elementwise operations, IndexSelect and Gather
// on it, and on their results, wait until a result is used. A use is an operation of another kind,
// a read, or a write to an operand; a chain of some thirty operations runs too. Then the chain runs
// as one kernel, with the same bits. A reduction of rows that IndexSelect takes reads them in
// place.
//
// Errors of shapes and types come from the call at fault, as always. Lack of memory, an index out
// of range, or a failing device shows where the result is used. A chain runs operation by operation
// the first time that it is met, and as one kernel from the second time on. A Go slice that t or an
// index uses as memory ([FromSlice]) must not be written to meanwhile.
func (t *Tensor) Lazy() *Tensor {
	t.c().Check("lazy")
	r := &core.Run{Lazy: true}
	if t.c().Run() != nil {
		r.Scope, r.Stream = t.c().Run().Scope, t.c().Run().Stream
	}
	return (*Tensor)(core.New(*t.v(), r, t.c().Hist(), true))
}

// Lazy makes results of tensors of the scope wait, as [Tensor.Lazy] does, and returns it. It
// is called before the first [Scope.Track].
func (s *Scope) Lazy() *Scope { return (*Scope)(s.c().Lazy()) }

// String returns the name and the size.
func (s *Segment) String() string {
	return array.Describe("weft.Segment", "Name", s.name, "Bytes", s.size)
}
