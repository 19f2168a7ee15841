package mem

import (
	"runtime"
	"unsafe"
)

// A Lease is a block that goes back to its pool when the Lease is unreachable,
// or earlier by [Lease.Return].
//
// Telling the collector to watch an object, and to forget it again, costs more
// than all else about a block. So a Lease that was returned stays with its free
// block, watched as it is, and is handed out again with it.
type Lease struct {
	r     *region
	index uint32
	gen   uint32
	// The runtime keeps what it watches in a page in one list, which it walks to add
	// to its end: few leases to a page.
	_ [48]byte
}

// A tie is what the cleanup of a Lease knows.
type tie struct {
	r     *region
	index uint32
}

// Lend returns a lease of a block of n bytes with arbitrary content from the
// default pool.
func Lend(n int) (*Lease, error) { return std.Lend(n) }

// Lend returns a lease of a block of n bytes with arbitrary content. It fails
// and panics as [Pool.Alloc] does.
func (p *Pool) Lend(n int) (*Lease, error) {
	b, _, err := p.alloc(n)
	if err != nil {
		return nil, err
	}
	// Until the lease is returned only its holder may reach it.
	l := b.r.leases[b.index]
	if l == nil {
		l = &Lease{r: b.r, index: b.index}
		runtime.AddCleanup(l, tie.drop, tie{b.r, b.index})
	} else {
		b.r.leases[b.index] = nil
	}
	l.gen = b.gen
	return l, nil
}

// Ptr returns the address of the first byte, a multiple of [Alignment]. The
// address does not keep l reachable.
func (l *Lease) Ptr() unsafe.Pointer { return l.r.at(l.index) }

// Sole reports that nobody writes the memory but through who holds l.
func (l *Lease) Sole() bool { return true }

// Return gives the block back. Neither it nor l may be used afterwards.
func (l *Lease) Return() {
	l.r.leases[l.index] = l
	Block{r: l.r, index: l.index, gen: l.gen}.release()
}

// drop frees the block of an unreachable lease: one that nobody returned, or
// that went with its mapping, in which all blocks were free.
func (t tie) drop() {
	if !t.r.gone.Load() {
		Block{r: t.r, index: t.index, gen: t.r.gens[t.index].Load()}.release()
	}
}
