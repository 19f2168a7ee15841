package launch

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"weft/internal/loop"
)

// An Epilogue runs a kernel on pieces of the result of a routine, on the threads that computed them:
// over all of the result once. It sees the result as a matrix: the last axes of the program walk the
// columns, the axes before them the rows.
type Epilogue struct {
	Launch
	rows        int    // the number of axes that walk the rows of the result
	size        int    // elements of the result
	elementWork int    // work of an element
	result      uint32 // buffers that read the result, if nothing else does
	unit        int    // bytes of an element of that
	err         atomic.Pointer[error]
}

var epilogues = sync.Pool{New: func() any { return new(Epilogue) }}

// NewEpilogue returns an epilogue for a result whose elements have unit bytes. The last columns axes
// walk the columns of the result. result has the bits of the buffers that read it, if nothing else
// does; 0 if something does.
func NewEpilogue(l Launch, columns int, result uint32, unit int) *Epilogue {
	t := epilogues.Get().(*Epilogue)
	t.Launch = l
	t.rows = len(l.Extents) - columns
	t.elementWork, t.size = ElementWork(l.Cost), 1
	for _, n := range l.Extents {
		t.size *= n
	}
	t.result, t.unit = result, unit
	return t
}

// Close gives the epilogue back when the routine is over. It returns the error of a piece, if there is
// one.
func (t *Epilogue) Close() error {
	err := t.err.Swap(nil)
	t.Launch = Launch{}
	epilogues.Put(t)
	if err != nil {
		return *err
	}
	return nil
}

// Consumes reports that nothing but the epilogue reads the result.
func (t *Epilogue) Consumes() bool { return t.result != 0 }

// Beside returns the first array that the program reads in the order of the result, or nil.
func (t *Epilogue) Beside() unsafe.Pointer {
	p := t.Kernel.Program
	for i := range p.Bufs {
		if t.result>>i&1 == 0 && t.along(i) {
			return t.Frame.Ptr[i]
		}
	}
	return nil
}

// along reports that a buffer has the layout of the result: elements of the same size, in the
// same order.
func (t *Epilogue) along(buf int) bool {
	p, step := t.Kernel.Program, t.unit
	for a := len(t.Extents) - 1; a >= 0; a-- {
		if s := p.Bufs[buf].Steps[a]; s != loop.Unit && s != loop.Any || t.Frame.Word[p.StrideWord(buf, a)] != uint64(step) {
			return false
		}
		step *= t.Extents[a]
	}
	return true
}

// RunAt runs the program on a piece of the result that lies at at, with rows of row bytes.
func (t *Epilogue) RunAt(at unsafe.Pointer, row, r0, r1, c0, c1 int) {
	t.Kernel.Counts.Epilogues.Add(1)
	t.pieces(rectangles{Epilogue: t, at: at, row: row, r0: r0, c0: c0, c1: c1}, r1)
}

// Run runs the program on rows r0 to r1-1 and columns c0 to c1-1 of the result.
func (t *Epilogue) Run(r0, r1, c0, c1 int) {
	t.Kernel.Counts.Epilogues.Add(1)
	if n := (r1 - r0) * (c1 - c0); n == t.size && n*t.elementWork <= ChunkWork {
		t.enter(t.Frame) // all of a small result
		return
	}
	t.pieces(rectangles{Epilogue: t, r0: r0, c0: c0, c1: c1}, r1)
}

// pieces runs the program on rows up to r1-1, some at a time.
func (t *Epilogue) pieces(r rectangles, r1 int) {
	r.f = loop.NewFrame()
	step := max(1, ChunkWork/max(1, (r.c1-r.c0)*t.elementWork))
	for at := r.r0; at < r1; at += step {
		r.cut(0, t.rows, at, min(at+step, r1))
	}
	r.f.Free(len(t.Kernel.Program.Bufs))
}

// Work returns the work per element in multiply-adds, as products and convolutions count it.
func (t *Epilogue) Work() int { return t.elementWork }

// enter runs the program on a frame.
func (t *Epilogue) enter(f *loop.Frame) {
	if err := t.Kernel.Enter(t.Code, f, t.Context); err != nil {
		first := err // which alone is on the heap
		t.err.CompareAndSwap(nil, &first)
	}
}

// rectangles are the parts into which a piece of the result is cut. A rectangle has count
// indices from first on along each axis of the program.
type rectangles struct {
	*Epilogue
	f            *loop.Frame
	r0, c0, c1   int
	at           unsafe.Pointer // where the result at r0 and c0 is; nil: in its place
	row          int            // bytes from row to row there
	first, count [loop.MaxAxes]int
}

// cut cuts the indices from to to-1 of the axes a to end-1, in row-major order, and goes on
// to the columns behind the rows.
func (r *rectangles) cut(a, end, from, to int) {
	if a == end {
		r.next(end)
		return
	}
	inner := 1
	for _, n := range r.Extents[a+1 : end] {
		inner *= n
	}
	for from < to {
		at, n := from%inner, to-from
		r.first[a] = from / inner
		if at == 0 && n >= inner {
			r.count[a] = n / inner
			for b := a + 1; b < end; b++ {
				r.first[b], r.count[b] = 0, r.Extents[b]
			}
			r.next(end)
			from += r.count[a] * inner
			continue
		}
		n = min(n, inner-at)
		r.count[a] = 1
		r.cut(a+1, end, at, at+n)
		from += n
	}
}

// next goes on when the axes before end are cut.
func (r *rectangles) next(end int) {
	if end < len(r.Extents) {
		r.cut(end, len(r.Extents), r.c0, r.c1)
		return
	}
	p, f := r.Kernel.Program, r.f
	copy(f.Ptr[:len(p.Bufs)], r.Frame.Ptr[:])
	copy(f.Word[2:p.Words()], r.Frame.Word[2:])
	for a := range r.Extents {
		r.Kernel.Narrow(f, a, r.first[a], r.count[a])
	}
	if r.at != nil {
		for set := r.result; set != 0; set &= set - 1 {
			b := bits.TrailingZeros32(set)
			at, step := -r.r0*r.row-r.c0*r.unit, r.unit
			for a := len(r.Extents) - 1; a >= 0; a-- {
				if a == r.rows-1 {
					step = r.row
				}
				at += r.first[a] * step
				f.Word[p.StrideWord(b, a)] = uint64(step)
				step *= r.Extents[a]
			}
			f.Ptr[b] = unsafe.Add(r.at, at)
		}
	}
	r.enter(f)
}
