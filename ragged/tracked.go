package ragged

import (
	"io"
	"slices"

	"weft"
	"weft/internal/array"
)

// A Tracked knows which bytes of a list were written since they were last flushed, also where the
// list has grown into new memory. [List.Track] and [Records.Track] make one, one for each copy that is
// kept. As the list, it is for one goroutine at a time.
type Tracked struct {
	l    *List
	opts []weft.TrackOpts
	d    *weft.Tracked
	mem  *weft.Tensor // that d tracks
	sent bool         // a sink has the size of mem
}

// A Buffer is a sink of a list: memory elsewhere whose size follows the list's.
type Buffer interface {
	io.WriterAt
	// Resize gives the buffer another size in bytes. Its content does not matter: all of it is
	// written next.
	Resize(bytes int) error
}

// Track makes the list know which of its bytes are written, by edits and by whatever view of its
// rows: see [weft.Track], which says what options mean. At first all of it counts as written, and
// again whenever the list has moved to other memory. Bytes count from the first row. It panics with
// *weft.Error if rows are structs: their fields lie apart, and [Records] keeps them together.
func (l *List) Track(opts ...weft.TrackOpts) *Tracked {
	const op = "track"
	defer array.Named(op).End()
	l.single(op)
	d := &Tracked{l: l, opts: slices.Clone(opts)}
	d.follow(op)
	return d
}

// memory returns the rows, with the free places behind them.
func (l *List) memory(op string) *weft.Tensor {
	l.check(op)
	if l.ed != nil {
		return l.ed.mem[0]
	}
	return l.cols[0].live
}

// follow tracks the memory that the list has now.
func (d *Tracked) follow(op string) {
	if d == nil || d.l == nil {
		array.Failf(op, "", "the Tracked is nil: Track makes one")
	}
	if mem := d.l.memory(op); mem != d.mem {
		if d.d != nil {
			d.d.Stop()
		}
		d.d, d.mem, d.sent = weft.Track(mem, d.opts...), mem, false
	}
}

// Bytes returns the size of the list's memory, with the free places behind the rows: the size that a
// buffer needs.
func (d *Tracked) Bytes() int {
	d.follow("bytes")
	return d.d.Bytes()
}

// Pending returns the bytes that [Tracked.Flush] would send, ascending and apart.
func (d *Tracked) Pending() []weft.ByteRange {
	d.follow("pending")
	return d.d.Pending()
}

// Flush sends the pending bytes to a buffer, as [weft.Tracked.Flush] does, and returns how many bytes
// were sent. If the list has moved to other memory since the last flush, or it is the first one,
// the buffer is resized before, and gets all of it.
func (d *Tracked) Flush(b Buffer) (sent int, err error) {
	const op = "flush"
	d.follow(op)
	if b == nil {
		array.Failf(op, "b", "is nil")
	}
	if !d.sent {
		if err := b.Resize(d.d.Bytes()); err != nil {
			return 0, err
		}
		d.sent = true
	}
	return d.d.Flush(b)
}

// Stop ends the tracking: further writes are not marked.
func (d *Tracked) Stop() {
	d.follow("stop")
	d.d.Stop()
}
