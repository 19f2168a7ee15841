// Package packed keeps copies of constants in the layout that a routine reads, beside the storage that they
// were made of. Decision 0222 says which storages have them and when they are made.
//
// A storage has a [Table] since [Keep] was called for it. A routine asks [Of] for its operand, and
// [Source.Copy] for the copy in a layout. Copies belong to a version of the storage: the next write ends them.
package packed

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/jit"
	"weft/internal/mem"
)

const (
	// Least is the number of bytes from which a storage has copies: less is packed in a microsecond.
	Least = 4 << 10
	// maxCopies is the number of layouts of one storage that are kept.
	maxCopies = 4
	// maxNeed bounds the uses of one version that a copy needs.
	maxNeed = 1 << 10
)

// budget is the number of bytes that all copies together may have.
var budget = sync.OnceValue(func() int64 { return mem.Physical() / 4 })

// held and made are the bytes of copies that can be reached, and how many were made.
var held, made atomic.Int64

// Held returns the bytes of all copies that can be reached.
func Held() int64 { return held.Load() }

// Made returns the number of copies that were kept since the start.
func Made() int64 { return made.Load() }

// A Kind is a routine's way to pack.
type Kind uint8

const (
	Product  Kind = iota // panels of columns of a product's second operand
	Pixels               // filters for kernels with pixels or images in the vectors
	Channels             // filters for kernels with output channels in the vectors
	Winograd             // filters transformed for Winograd's algorithm
)

// A Key names a layout: equal keys of one version of a storage give equal copies.
type Key struct {
	Kind  Kind
	ISA   jit.ISA
	Of    array.DType // of the elements that are packed
	As    array.DType // of the copy
	Sizes [8]int      // whatever else the layout depends on
	at    int         // bytes from the start of the storage
}

// A Copy is packed memory. Whoever reads it keeps it reachable until the end.
type Copy struct {
	key   Key
	lease *mem.Lease
	Flag  bool // what the function that packed returned
}

// Ptr returns the first byte.
func (c *Copy) Ptr() unsafe.Pointer { return c.lease.Ptr() }

// A Table has the copies of one storage.
type Table struct {
	mu      sync.Mutex
	version uint32
	uses    int  // of this version
	need    int  // uses of a version before one that keeps
	writers int  // runs that write the memory now
	written bool // a run has written the memory, or writes it
	copies  []*Copy
}

// Keep gives a storage a table, if its memory is written through tensors alone.
func Keep(st *array.Storage) {
	if st.Bytes < Least || st.Abstract || !sole(st) || tableOf(st) != nil {
		return
	}
	st.Attach(&Table{need: 1})
}

// sole reports whether the memory of a storage is written through it alone, so that its version counts all writes.
func sole(st *array.Storage) bool {
	owner, ok := st.Owner().(interface{ Sole() bool })
	return ok && owner.Sole()
}

func tableOf(st *array.Storage) *Table {
	t, _ := st.Attached().(*Table)
	return t
}

// Drop forgets the copies. Calls that read one have it until they end.
func (t *Table) Drop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.drop()
}

func (t *Table) drop() {
	if len(t.copies) > 0 {
		t.need = min(2*t.need, maxNeed)
	}
	t.uses, t.copies = 0, nil
}

// Writes drops the copies of a storage that a run writes in place, and lets none be made until done is called. done
// is nil for a storage without a table.
func Writes(st *array.Storage) (done func()) {
	t := tableOf(st)
	if t == nil {
		return nil
	}
	add := func(n int) {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.drop()
		t.writers += n
		t.written = true
	}
	add(1)
	return func() { add(-1) }
}

// unload takes the memory of a storage in a mapped file out of the process. The packed copies serve products, and a
// later read brings elements back from the file. Memory that was written, or that a Go slice reaches, stays. Requires:
// t.mu is locked, so that no run begins to write.
func (t *Table) unload(st *array.Storage) {
	if !t.written {
		st.Unload()
	}
}

// A Source is the memory of an operand that copies can be made of. The zero Source has none.
type Source struct {
	table *Table
	store *array.Storage
	at    int
}

// Of returns the source of an operand: the zero one where no copies are kept, or not yet.
func Of(v *array.View) Source {
	t := tableOf(v.Store)
	if t == nil || v.Store.Lent() {
		return Source{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !sole(v.Store) { // since another storage has the memory too
		t.drop()
		return Source{}
	}
	if now := v.Store.Version(); now != t.version {
		t.drop()
		t.version = now
	}
	t.uses++
	if t.uses <= t.need || t.writers > 0 {
		return Source{}
	}
	return Source{t, v.Store, v.Offset * v.DType.Size()}
}

// Kept reports whether copies are kept.
func (s Source) Kept() bool { return s.table != nil }

// Further returns the source of memory that begins the given number of bytes later.
func (s Source) Further(bytes int) Source {
	s.at += bytes
	return s
}

// Copy returns the copy in a layout, of the given size in bytes. pack makes it if it is not there yet. Copy returns
// nil, and the caller packs for itself, if the source is zero, the storage has too many copies, or memory is short.
func (s Source) Copy(key Key, bytes int, pack func(to unsafe.Pointer) (flag bool)) *Copy {
	t := s.table
	if t == nil {
		return nil
	}
	key.at = s.at
	t.mu.Lock()
	version, full := t.version, len(t.copies) >= maxCopies
	i := slices.IndexFunc(t.copies, func(c *Copy) bool { return c.key == key })
	if i >= 0 {
		defer t.mu.Unlock()
		return t.copies[i]
	}
	t.mu.Unlock()
	if full || held.Load()+int64(bytes) > budget() {
		return nil
	}
	lease, err := mem.Lend(max(bytes, 1))
	if err != nil {
		return nil
	}
	c := &Copy{key: key, lease: lease}
	c.Flag = pack(lease.Ptr())
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.version || version != s.store.Version() || t.writers > 0 || s.store.Lent() || len(t.copies) >= maxCopies {
		return c // for this call alone
	}
	t.copies = append(slices.Clip(t.copies), c)
	t.unload(s.store)
	held.Add(int64(bytes))
	made.Add(1)
	runtime.AddCleanup(c, func(n int64) { held.Add(-n) }, int64(bytes))
	return c
}
