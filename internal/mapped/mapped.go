// Package mapped gives arrays memory that lies in files: the operating system reads
// pages when they are touched, and processes that map one file share them.
//
// Truncating a mapped file removes its pages. Touching one of them is a fault, which would end the
// process. So every use first touches the end of the memory and looks up the size of the file, the
// latter once in a run of a program ([Enter]). An array whose bytes are gone is refused with a typed
// error. A truncation between that check and the end of the use faults. Faults are panics on the
// goroutine that used the memory (debug.SetPanicOnFault stays on there) and on weft's workers.
// [Explain] turns them into a typed error. On Windows a mapped file cannot be cut.
//
// The file is closed as soon as it is mapped, so mappings take no descriptors.
package mapped

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/par"
)

// Access says what writes into the memory do.
type Access uint8

const (
	ReadOnly    Access = iota // they are refused
	CopyOnWrite               // they change the memory of this process, never the file
	Shared                    // they change the file, and the memory of all that share it
)

// A Mapping is a file in memory. The memory goes when it was closed and all storages
// were given back, or when nothing of it can be reached any more.
type Mapping struct {
	*region
	access Access
	users  atomic.Int64 // storages that were not given back, and 1 until Close

	mu    sync.Mutex
	given []*extent // bytes that storages were made of, ascending and disjoint
}

// An extent is bytes [lo, hi) of a mapping. aliased says that several storages were made of some of them.
type extent struct {
	lo, hi  int
	aliased atomic.Bool
}

// A region is what the cleanup of a Mapping knows.
type region struct {
	name string      // as it was opened
	path string      // from the root, since the working folder may change
	info os.FileInfo // of the file that is mapped, which path may stop being
	ptr  unsafe.Pointer
	size int
	once sync.Once

	whole atomic.Int64 // the number of runs that had begun when the file was last found whole
}

var errIrregular = errors.New("is not a regular file")

// CheckRegular refuses what is not a regular file. It comes before opening: to open a named pipe waits for a writer.
func CheckRegular(path string, st os.FileInfo) error {
	if !st.Mode().IsRegular() {
		return &os.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	return nil
}

// OpenRegular opens a regular file for reading. Pipes, devices and folders are an *os.PathError.
func OpenRegular(path string) (*os.File, error) {
	if st, err := os.Stat(path); err == nil { // of what does not exist, Open's error says it
		if err := CheckRegular(path, st); err != nil {
			return nil, err
		}
	}
	return os.Open(path)
}

// Open maps the whole of f and closes it.
func Open(f *os.File, access Access) (*Mapping, error) {
	defer f.Close()
	m, err := open(f, access)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be mapped: %w", f.Name(), err)
	}
	return m, nil
}

func open(f *os.File, access Access) (*Mapping, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, errIrregular
	}
	if st.Size() > array.MaxBytes {
		return nil, fmt.Errorf("%d bytes do not fit into memory", st.Size())
	}
	r := &region{name: f.Name(), info: st, size: int(st.Size())}
	if r.path, err = filepath.Abs(f.Name()); err != nil {
		return nil, err
	}
	if r.size > 0 {
		if r.ptr, err = osMap(f, r.size, access); err != nil {
			return nil, err
		}
		faults.add(r)
	}
	par.SetPanicOnFault(true)
	m := &Mapping{region: r, access: access}
	m.users.Store(1)
	runtime.AddCleanup(m, (*region).close, r)
	return m, nil
}

func (r *region) close() {
	r.once.Do(func() {
		if r.ptr != nil {
			faults.remove(r)
			osUnmap(r.ptr, r.size)
		}
	})
}

// Size returns the bytes of the file when it was mapped.
func (m *Mapping) Size() int { return m.size }

// Bytes returns the memory, for who reads it before Close. A file that is cut meanwhile faults.
func (m *Mapping) Bytes() []byte { return unsafe.Slice((*byte)(m.ptr), m.size) }

// ReadAt reads from the memory, and returns an error where the file was cut.
func (m *Mapping) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 || off >= int64(m.size) {
		return 0, io.EOF
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			e := blame(v)
			if e == nil {
				panic(v)
			}
			n, err = 0, e
		}
	}()
	n = copy(b, unsafe.Slice((*byte)(m.ptr), m.size)[off:])
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// Close says that no more storages are wanted. The memory stays while there are any.
func (m *Mapping) Close() { m.drop() }

func (m *Mapping) drop() {
	if m.users.Add(-1) == 0 {
		m.close()
	}
}

// A user is what a storage holds of a mapping.
type user struct {
	m *Mapping
	*extent
}

// Return gives the memory of the storage back.
func (u user) Return() { u.m.drop() }

// Sole reports that the memory is written through its one storage alone: it is not shared with other processes,
// and no other storage of the mapping has some of its bytes, or had. A later storage can end that.
func (u user) Sole() bool { return u.m.access != Shared && !u.aliased.Load() }

// Unload takes the memory of the storage, which nobody wrote, out of the process as far as it fills whole pages. The
// next use reads them from the file again.
func (u user) Unload() {
	page := os.Getpagesize()
	u.m.mu.Lock() // no second storage is made meanwhile, which may be written
	defer u.m.mu.Unlock()
	lo, hi := (u.lo+page-1)/page*page, u.hi/page*page
	if lo < hi && u.Sole() {
		osUnload(unsafe.Add(u.m.ptr, lo), hi-lo)
	}
}

// give records that a storage is made of bytes [lo, hi), and marks whoever has some of them. Extents that meet a
// new one are joined.
func (m *Mapping) give(lo, hi int) *extent {
	m.mu.Lock()
	defer m.mu.Unlock()
	from := sort.Search(len(m.given), func(i int) bool { return m.given[i].hi > lo })
	to, e := from, &extent{lo: lo, hi: hi}
	for ; to < len(m.given) && m.given[to].lo < hi; to++ {
		old := m.given[to]
		old.aliased.Store(true)
		e.aliased.Store(true)
		e.lo, e.hi = min(e.lo, old.lo), max(e.hi, old.hi)
	}
	m.given = slices.Replace(m.given, from, to, e)
	return e
}

// Storage returns n bytes of the file, which are there, from offset on.
func (m *Mapping) Storage(offset, n int) *array.Storage {
	if n == 0 {
		st := array.NewStorage(nil, 0, nil)
		m.protect(st)
		return st
	}
	m.users.Add(1)
	st := array.NewStorage(unsafe.Add(m.ptr, offset), n, user{m, m.give(offset, offset+n)})
	m.protect(st)
	st.Guard(func() { m.check(offset + n) })
	return st
}

func (m *Mapping) protect(st *array.Storage) {
	if m.access == ReadOnly {
		st.Protect()
	}
}

// Unchecked makes every use begin as if the file were whole, so that it faults in the
// middle. Tests set it.
var Unchecked bool

// runs is the number of runs of programs that have begun, and inside of those that have not ended.
var runs, inside atomic.Int64

// Enter begins a run of a program, which [Leave] ends. Uses in it look up the size of a file once, for that takes
// longer than a small kernel: a size that was looked up after the latest run began serves all uses until the runs end.
// While there are no runs, each use looks it up.
func Enter() {
	runs.Add(1) // before inside: else a use in between would take what was found whole before the run
	inside.Add(1)
}

// Leave ends a run that [Enter] began.
func Leave() { inside.Add(-1) }

// check panics if the file has lost bytes before end.
func (m *Mapping) check(end int) {
	debug.SetPanicOnFault(true)
	if Unchecked {
		return
	}
	if now := runs.Load(); inside.Load() == 0 || m.whole.Load() != now {
		n := m.left()
		if n < int64(end) {
			panic(&array.Error{Kind: array.DeviceFailed, Op: "map", Msg: fmt.Sprintf("%s was cut to %d bytes while an array up to byte %d is mapped", m.name, n, end)})
		}
		if n >= int64(m.size) {
			m.whole.Store(now)
		}
	}
	m.touch(end - 1)
}

// touch reads a byte, which finds a cut of a file that has another name by now.
func (m *Mapping) touch(at int) {
	defer Explain()
	sink.Store(uint32(*(*byte)(unsafe.Add(m.ptr, at))))
}

// left returns the size of the mapped file. If its name now stands for another file it returns the
// size at mapping time: replacing a file does not change the mapping.
func (r *region) left() int64 {
	if !canBeCut {
		return int64(r.size)
	}
	now, err := os.Stat(r.path)
	if err != nil || !os.SameFile(now, r.info) {
		return int64(r.size)
	}
	return now.Size()
}

// writeZeros appends n zero bytes to f.
func writeZeros(f *os.File, n int) error {
	zeros := make([]byte, min(n, 1<<20))
	for n > 0 {
		k, err := f.Write(zeros[:min(n, len(zeros))])
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}
