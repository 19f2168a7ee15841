package cpu

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"weft/internal/array"
	"weft/internal/cpu/codegen"
	"weft/internal/device"
	"weft/internal/launch"
	"weft/internal/loop"
	"weft/internal/numbers"
	"weft/internal/op"
	"weft/internal/par"
	"weft/internal/processor"
	"weft/internal/x86"
)

// A scanTree holds the programs of a scan with a user's combination, by the tree of
// [op.ScanTree]. Groups of four neighbours are combined, and the groups are scanned in the same
// way. The scan of the groups before a group is then combined with its elements. Each level is a
// kernel that reads four neighbours as four strided buffers, so that no value moves between
// lanes.
//
// A row is cut into pieces that stay in the cache from the way up the tree to the way down. The
// levels above the pieces take one or two combinations per piece.
type scanTree struct {
	accs    []array.DType
	combine *Program   // of two elements
	up      *Program   // of four neighbours
	down    []*Program // scans of four neighbours: see treeOuts
	first   []*Program // the same at the start of a row, where no group comes before
	piece   int        // elements, a power of four
	level   int        // the level at which a piece is one group
	unit    int        // work of an element
}

const (
	treeWidth = numbers.ScanTreeWidth
	treeShift = 2 // the logarithm of that
	// treeBytes is the most that a piece has of all arguments.
	treeBytes = 256 << 10
	// treePiece is the least elements of a piece, however long each takes.
	treePiece = 256
	// treeLevels is more than the levels of any row.
	treeLevels = 32
)

// treeOuts returns how many of accs accumulators one program writes. A program reads three
// neighbours and the group's result for all accumulators, and writes four results for each one
// that it writes.
func treeOuts(accs int) int { return max((loop.MaxBufs-4*accs)/4, 1) }

// treeOf returns the programs of a combination. They are compiled once.
func treeOf(d *Device, c *op.Combination) (*scanTree, error) {
	if t, ok := c.Made.Load(d); ok {
		return t.(*scanTree), nil
	}
	t := &scanTree{accs: c.Results(), unit: 2 * max(c.Cost(), launch.ElementMin)}
	bytes := 0
	for _, a := range t.accs {
		bytes += a.Size()
	}
	t.piece = treePiece
	for n := t.piece * treeWidth; n*bytes <= treeBytes && n*t.unit <= launch.ChunkWork; n *= treeWidth {
		t.piece = n
	}
	for n := t.piece; n > 1; n /= treeWidth {
		t.level++
	}
	var err error
	compile := func(emit func(w *treeWriter)) (p *Program) {
		w := &treeWriter{Combination: c, b: loop.NewBuilder(c.Name(), []loop.Axis{{}, {}}, 1)}
		w.b.Pass(func() { emit(w) })
		q, failed := w.b.Done()
		if failed == nil {
			var k device.Program
			if k, failed = d.Compile(q); failed == nil {
				return k.(*Program)
			}
		}
		err = failed
		return nil
	}
	t.combine = compile(func(w *treeWriter) {
		before, x := w.load(loop.Unit), w.load(loop.Unit)
		w.store(loop.Unit, 0, w.combined(before, x))
	})
	t.up = compile(func(w *treeWriter) {
		var x [treeWidth][]loop.Value
		for k := range x {
			x[k] = w.load(loop.By4)
		}
		acc := x[0]
		for _, x := range x[1:] {
			acc = w.combined(acc, x)
		}
		w.store(loop.Unit, 0, acc)
	})
	outs := treeOuts(len(t.accs))
	for from := 0; from < len(t.accs); from += outs {
		for _, first := range []bool{false, true} {
			p := compile(func(w *treeWriter) { w.spread(first, from, min(from+outs, len(t.accs))) })
			if first {
				t.first = append(t.first, p)
			} else {
				t.down = append(t.down, p)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	made, _ := c.Made.LoadOrStore(d, t)
	return made.(*scanTree), nil
}

// A treeWriter writes a program of a tree, whose axes are rows and groups.
type treeWriter struct {
	*op.Combination
	b *loop.Builder
}

func (w *treeWriter) combined(x, y []loop.Value) []loop.Value {
	return w.EmitKernel(&op.Emit{B: w.b, X: append(x[:len(x):len(x)], y...)})
}

// load loads an element of each accumulator. Each accumulator has its own buffer.
func (w *treeWriter) load(step loop.Step) []loop.Value {
	var x []loop.Value
	for _, d := range w.Results() {
		x = append(x, w.b.Load(w.b.Buf(d, false, loop.Any, step)))
	}
	return x
}

// store stores an element of each accumulator from number from on.
func (w *treeWriter) store(step loop.Step, from int, x []loop.Value) {
	for i, v := range x {
		w.b.Store(w.b.Buf(w.Results()[from+i], true, loop.Any, step), v)
	}
}

// spread writes the scan results of four neighbours, given the results of their group and of
// the group before. It does so for accumulators from to to-1.
func (w *treeWriter) spread(first bool, from, to int) {
	b := w.b
	var y [treeWidth][]loop.Value
	for k := range treeWidth - 1 {
		y[k] = w.load(loop.By4)
	}
	var before []loop.Value
	for _, d := range w.Results() {
		buf := b.Buf(d, false, loop.Any, loop.Unit)
		before = append(before, b.LoadAt(buf, b.Int(loop.I64, -1)))
		y[treeWidth-1] = append(y[treeWidth-1], b.Load(buf))
	}
	for k := 1; k < treeWidth-1; k++ {
		y[k] = w.combined(y[k-1], y[k])
	}
	for k := range treeWidth - 1 {
		all := w.combined(before, y[k])
		if first {
			none := b.Eq(b.Index(1), b.Int(loop.I64, 0))
			for i := range all {
				all[i] = b.Select(none, y[k][i], all[i])
			}
		}
		y[k] = all
	}
	for i := from; i < to; i++ {
		for k := range y {
			buf := b.Buf(w.Results()[i], true, loop.Any, loop.By4)
			if k > 0 {
				b.Program().Bufs[buf].Pair = buf
			}
			b.Store(buf, y[k][i])
		}
	}
}

// A treeRun is one call: rows of n elements.
type treeRun struct {
	*scanTree
	x, y        treeLevel
	rows, n     int
	pieces      int  // of a row
	at          int  // how many rows are computed at a time, if each is one piece
	nonTemporal bool // results are written by non-temporal stores
	workers     []treeWorker

	turn atomic.Int64 // the piece that may use what follows
	top  [treeLevels]struct {
		inside treeValue // of the group that is open
		last   treeValue // the last scan result
	}
}

// A treeValue is one element of each accumulator, in the low bytes of a word.
type treeValue [op.ScanTreeAccs]uint64

// A treeLevel is the memory of a level for some rows, by accumulator.
type treeLevel struct {
	at  [op.ScanTreeAccs]unsafe.Pointer
	row int // elements to the next row
}

// from returns the elements from index at on.
func (l treeLevel) from(accs []array.DType, at int) treeLevel {
	for j, d := range accs {
		l.at[j] = unsafe.Add(l.at[j], at*d.Size())
	}
	return l
}

// A treeWorker is the state of one thread.
type treeWorker struct {
	*treeRun
	scratch unsafe.Pointer
	totals  [treeLevels]treeLevel // of groups
	results [treeLevels]treeLevel // scans of groups; there is memory for one before the first
	carry   treeValue             // the scan result before the piece
	values  [3]treeValue

	f        *loop.Frame
	bound    int               // buffers of the next call
	rowBytes [loop.MaxBufs]int // to the next row
}

// scanTreeOf computes a scan along the last axis.
func scanTreeOf(c *device.Call) error {
	t, err := treeOf(c.Stream.Device().(*Device), c.Node.Attrs.(*op.Combination))
	if err != nil {
		return err
	}
	shape := c.Out[0].Shape
	size := array.Size(shape)
	if size == 0 {
		return nil
	}
	n := shape[len(shape)-1]
	r := &treeRun{scanTree: t, n: n, rows: size / n, pieces: (n + t.piece - 1) / t.piece, at: 1}
	r.x.row, r.y.row = n, n
	bytes, aligned := 0, true
	for j, d := range t.accs {
		r.x.at[j], r.y.at[j] = codegen.Ptr(&c.Args[j]), codegen.Ptr(&c.Out[j])
		bytes += 2 * size * d.Size()
		aligned = aligned && uintptr(r.y.at[j])%processor.Line == 0 && (r.rows == 1 || n*d.Size()%processor.Line == 0)
	}
	r.nonTemporal = aligned && bytes >= processor.Host.NonTemporalFrom
	units := r.rows * r.pieces
	if r.pieces == 1 {
		r.at = max(t.piece/n, 1)
		units = (r.rows + r.at - 1) / r.at
	}
	threads := 1
	if work := size * t.unit; launch.Pays(work, work) {
		threads = par.Threads()
	}
	threads = par.Width(units, 1, threads)
	bytes = (&treeWorker{treeRun: r}).lay(r.at, min(n, t.piece))
	scratch := c.Stream.Alloc(threads * bytes)
	defer c.Stream.Free(scratch)
	r.workers = make([]treeWorker, threads)
	for i := range r.workers {
		f := loop.NewFrame()
		defer f.Free(loop.MaxBufs)
		r.workers[i] = treeWorker{treeRun: r, f: f, scratch: unsafe.Add(scratch.Host(), i*bytes)}
	}
	par.RunTask(units, 1, threads, r)
	runtime.KeepAlive(c)
	return nil
}

// Chunk computes units begin to end-1: some rows, or a piece of one row.
func (r *treeRun) Chunk(worker, begin, end int) {
	w := &r.workers[worker]
	for u := begin; u < end; u++ {
		if r.pieces == 1 {
			w.compute(u, u*r.at*r.n, min(r.at, r.rows-u*r.at), r.n, 0)
		} else {
			piece := u % r.pieces
			from := piece * r.piece
			w.compute(u, u/r.pieces*r.n+from, 1, min(r.piece, r.n-from), piece)
		}
	}
}

// lay assigns scratch memory to the levels above n elements of some rows, and returns its size.
func (w *treeWorker) lay(rows, n int) int {
	bytes := 0
	take := func(size, elements int) unsafe.Pointer {
		at := unsafe.Add(w.scratch, bytes)
		bytes += (size*elements + processor.Line - 1) &^ (processor.Line - 1)
		return at
	}
	for l := 1; n >= treeWidth; l++ {
		n /= treeWidth
		w.totals[l].row, w.results[l].row = n, n+1
		for j, d := range w.accs {
			w.totals[l].at[j] = take(d.Size(), rows*n)
			w.results[l].at[j] = unsafe.Add(take(d.Size(), rows*(n+1)), d.Size())
		}
	}
	return bytes
}

// compute computes the scan of n elements from index at on, for several rows or for one piece
// of a row.
func (w *treeWorker) compute(unit, at, rows, n, piece int) {
	w.lay(rows, n)
	w.totals[0], w.results[0] = w.x.from(w.accs, at), w.y.from(w.accs, at)
	top, count := 0, n // the level without groups, and its elements
	for ; count >= treeWidth; top++ {
		count /= treeWidth
		w.four(&w.totals[top], 0, treeWidth)
		w.bind(&w.totals[top+1], 0)
		w.call(w.up, rows, count)
	}
	before := piece > 0
	if w.pieces == 1 || !w.climb(unit, piece, top, n == w.piece) {
		w.follow(top, rows, 0, count, before)
	}
	programs := w.down
	if !before {
		programs = w.first
	}
	outs := treeOuts(len(w.accs))
	for top--; top >= 0; top-- {
		groups := w.totals[top+1].row
		for i, p := range programs {
			w.four(&w.totals[top], 0, treeWidth-1)
			w.bind(&w.results[top+1], 0)
			for j := i * outs; j < min((i+1)*outs, len(w.accs)); j++ {
				for k := range treeWidth {
					w.bindOne(&w.results[top], j, k)
				}
			}
			code := p.code
			if w.nonTemporal && top == 0 && code != nil {
				if c := p.nonTemporal.get(x86.CompileStreaming, p.p, p.isa); c != nil {
					code = c
				}
			}
			w.callCode(p, code, rows, groups)
		}
		w.follow(top, rows, treeWidth*groups, n>>(treeShift*top), before)
	}
}

// climb waits for the piece before and computes the scan result before this piece. If the piece
// is whole, it also computes the result at its end.
func (w *treeWorker) climb(unit, piece, top int, whole bool) bool {
	for w.turn.Load() != int64(unit) {
		runtime.Gosched()
	}
	defer w.turn.Store(int64(unit) + 1)
	if piece > 0 {
		w.carry = w.top[w.level].last
		for l := 1; l <= top; l++ {
			for j, d := range w.accs {
				copyElement(unsafe.Add(w.results[l].at[j], -d.Size()), unsafe.Pointer(&w.carry[j]), d.Size())
			}
		}
	}
	if !whole {
		return false
	}
	var total treeValue
	for j, d := range w.accs {
		copyElement(unsafe.Pointer(&total[j]), w.totals[w.level].at[j], d.Size())
	}
	total = w.push(w.level, piece, total)
	for j, d := range w.accs {
		copyElement(w.results[w.level].at[j], unsafe.Pointer(&total[j]), d.Size())
	}
	return true
}

// push adds total number i of a level, and returns the scan result there.
func (w *treeWorker) push(l, i int, total treeValue) treeValue {
	s := &w.top[l]
	y := total
	switch groups := w.n >> (treeShift * (l + 1)); {
	case i >= treeWidth*groups: // in no group
		if i > 0 {
			y = w.combineTwo(s.last, total)
		}
	default:
		if i%treeWidth > 0 {
			y = w.combineTwo(s.inside, total)
		}
		s.inside = y
		switch {
		case i%treeWidth == treeWidth-1:
			y = w.push(l+1, i/treeWidth, y)
		case i >= treeWidth:
			y = w.combineTwo(w.top[l+1].last, y)
		}
	}
	s.last = y
	return y
}

// combineTwo combines single values.
func (w *treeWorker) combineTwo(x, y treeValue) treeValue {
	w.values[0], w.values[1] = x, y
	for i := range w.values {
		w.bindValue(&w.values[i])
	}
	w.call(w.combine, 1, 1)
	return w.values[2]
}

// follow computes the scan of elements of a level one by one.
func (w *treeWorker) follow(l, rows, from, to int, before bool) {
	x, y := &w.totals[l], &w.results[l]
	for k := from; k < to; k++ {
		switch {
		case k > 0:
			w.bind(y, k-1)
		case before:
			w.bindValue(&w.carry)
		default:
			for j, d := range w.accs {
				for r := range rows {
					copyElement(unsafe.Add(y.at[j], r*y.row*d.Size()), unsafe.Add(x.at[j], r*x.row*d.Size()), d.Size())
				}
			}
			continue
		}
		w.bind(x, k)
		w.bind(y, k)
		w.call(w.combine, rows, 1)
	}
}

// copyElement copies an element of 4 or 8 bytes.
func copyElement(to, from unsafe.Pointer, size int) {
	if size == 4 {
		*(*uint32)(to) = *(*uint32)(from)
	} else {
		*(*uint64)(to) = *(*uint64)(from)
	}
}

// bind makes the elements of a level from index k on the next buffers, one per accumulator.
func (w *treeWorker) bind(l *treeLevel, k int) {
	for j := range w.accs {
		w.bindOne(l, j, k)
	}
}

func (w *treeWorker) bindOne(l *treeLevel, j, k int) {
	size := w.accs[j].Size()
	w.f.Ptr[w.bound], w.rowBytes[w.bound] = unsafe.Add(l.at[j], k*size), l.row*size
	w.bound++
}

// four binds elements from to to-1 of each group of four.
func (w *treeWorker) four(l *treeLevel, from, to int) {
	for k := from; k < to; k++ {
		w.bind(l, k)
	}
}

func (w *treeWorker) bindValue(v *treeValue) {
	for j := range w.accs {
		w.f.Ptr[w.bound], w.rowBytes[w.bound] = unsafe.Pointer(&v[j]), 0
		w.bound++
	}
}

// call runs a program over n lanes of some rows on the bound buffers.
func (w *treeWorker) call(p *Program, rows, n int) { w.callCode(p, p.code, rows, n) }

// callCode is call with the given code of the program.
func (w *treeWorker) callCode(p *Program, code *x86.Code, rows, n int) {
	f, q := w.f, p.p
	for a, extent := range [2]int{rows, n} {
		f.Word[q.ExtentWord(a)], f.Word[q.StartWord(a)] = uint64(extent), 0
	}
	for i := range q.Bufs {
		b := &q.Bufs[i]
		f.Word[q.StrideWord(i, 0)] = uint64(w.rowBytes[i])
		f.Word[q.StrideWord(i, 1)] = uint64(b.Steps[1].Elements() * b.DType.Size())
	}
	w.bound = 0
	if err := p.Enter(p.runs(code), f, nil); err != nil {
		panic(err) // cannot happen: only a context ends it early, and there is none
	}
}
