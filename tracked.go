package weft

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"weft/internal/array"
	"weft/internal/core"
	"weft/internal/dirty"
	"weft/internal/jit"
	"weft/internal/lock"
	"weft/internal/op"
)

// A Tracked knows which bytes of an array were written since they were last flushed, so
// that only those are sent to a copy elsewhere: a file, the memory of another device, a
// page in a browser. [Track] makes one. Its methods are safe for concurrent use.
type Tracked struct {
	base   *Tensor
	from   int // where the bytes of base begin in the storage
	bytes  int
	item   int
	set    *dirty.Set
	m      *dirty.Monitor
	flush  lock.Lock // one at a time, so that nothing older arrives after something newer
	staged []byte
}

// TrackOpts are the options of [Track].
type TrackOpts struct {
	// OneInterval keeps one interval, from the first byte that was written to the last,
	// instead of as many as are worth it.
	OneInterval bool
	// Cost is what transfers to the sink cost; nil means 1 microsecond and 4 GB a second.
	// [Tracked.Measure] finds it out.
	Cost *Cost
	// Item is the size in bytes of an indivisible item, a multiple of the element size. Each
	// transfer begins and ends at a multiple of it. Nil means one element.
	Item *int
}

// A Cost is what transfers to a sink cost: each takes Latency, and its bytes as long as
// PerSecond says. Bytes between two dirty intervals are sent too where that costs less than
// another transfer.
type Cost struct {
	Latency   time.Duration
	PerSecond float64 // bytes
}

// gap is the number of bytes that take as long as beginning a transfer.
func (c Cost) gap() int {
	return int(min(c.Latency.Seconds()*c.PerSecond, 1<<40))
}

// A ByteRange is the bytes from Start to before Stop, counted from the first byte of an
// array's memory.
type ByteRange struct{ Start, Stop int }

// Track makes t know which of its bytes are written, by whatever view of it: with
// [Tensor.Assign] and the other in-place methods, optimizers, kernels with an Out, [Borrow],
// the addition of gradients. A write into a view marks the bytes that it can touch: the bytes of
// its elements, and also the bytes between them where elements are many and lie close.
// [Tensor.Update], which makes indexed and masked writes in place, marks the bytes that change.
// Reading marks nothing. What is not written through tensors, as by the owner of a slice
// given to [FromSlice], is for [Tracked.Mark].
//
// At first all of t counts as written. An array may be tracked several times, once for each
// copy that is kept; each Tracked has pending bytes of its own. It panics with *[Error] if
// an option is negative.
func Track(t *Tensor, opts ...TrackOpts) *Tracked {
	t.c().Check("track")
	o := array.Options("track", opts)
	size := t.v().DType.Size()
	item, cost := array.Or(o.Item, size), array.Or(o.Cost, Cost{time.Microsecond, 4e9})
	if item < 1 || item%size != 0 {
		array.Failf("track", "Item", "is %d, want a multiple of the element size %d", item, size)
	}
	if !(cost.Latency >= 0 && cost.PerSecond >= 0) {
		array.Failf("track", "Cost", "%v is negative", cost)
	}
	lo, hi := t.v().Span()
	d := &Tracked{base: (*Tensor)(core.Unrecorded(*t.v())), from: lo * size, bytes: (hi - lo) * size, item: item, m: t.v().Store.Track()}
	window := dirty.Interval{Start: lo * size, Stop: hi * size}
	d.set = dirty.NewSet(window, item, o.OneInterval, cost.gap())
	d.set.Add(window.Start, window.Stop)
	d.m.Watch(d.set)
	return d
}

// Base returns the array, without gradients.
func (d *Tracked) Base() *Tensor {
	d.check("base")
	return d.base
}

// Bytes returns the size of the array's memory: that of its elements, and of what lies
// between them where it is a view with gaps.
func (d *Tracked) Bytes() int {
	d.check("bytes")
	return d.bytes
}

func (d *Tracked) notNil(opName string) {
	if d == nil || d.base == nil {
		array.Failf(opName, "", "the Tracked is nil: Track makes one")
	}
}

// check refuses one that is nil, or whose array's memory was given back.
func (d *Tracked) check(opName string) {
	d.notNil(opName)
	d.base.c().Check(opName)
}

// Extents returns the bytes of the array from the first that a view of it touches to the last,
// whatever the signs of its strides, and {0 0} for a view without elements. It panics with *[Error] if view shares no memory with the array.
func (d *Tracked) Extents(view *Tensor) ByteRange {
	d.checkView("extents", view)
	lo, hi := view.v().Span()
	size := view.v().DType.Size()
	r := ByteRange{max(lo*size-d.from, 0), min(hi*size-d.from, d.bytes)}
	if r.Start >= r.Stop {
		return ByteRange{}
	}
	return r
}

// PendingOf returns what of [Tracked.Pending] belongs to a view of the array, such as one field of
// records. Offsets count from the first byte of the array. Of a view whose elements lie in more than
// 1024 places it may have bytes between them too. It panics with *[Error] if view shares no memory
// with the array.
func (d *Tracked) PendingOf(view *Tensor) []ByteRange {
	d.checkView("pendingof", view)
	size := view.v().DType.Size()
	strides := make([]int, len(view.v().Strides))
	for i, n := range view.v().Strides {
		strides[i] = n * size
	}
	touched := dirty.NewSet(dirty.Interval{Start: d.from, Stop: d.from + d.bytes}, 1, false, 0)
	touched.AddStrided(view.v().Offset*size, size, view.v().Shape, strides)
	var out []ByteRange
	pending := d.Pending()
	for _, p := range touched.List() {
		start, stop := p.Start-d.from, p.Stop-d.from
		for len(pending) > 0 && pending[0].Stop <= start {
			pending = pending[1:]
		}
		for _, q := range pending {
			if q.Start >= stop {
				break
			}
			out = append(out, ByteRange{max(start, q.Start), min(stop, q.Stop)})
		}
	}
	return out
}

// checkView refuses a tensor that is not a view of the array.
func (d *Tracked) checkView(opName string, view *Tensor) {
	d.check(opName)
	view.c().Check(opName)
	if view.v().Store != d.base.v().Store {
		array.Failf(opName, "view", "is not a view of the tracked array")
	}
}

// Pending returns the bytes that [Tracked.Flush] would send, ascending and apart.
func (d *Tracked) Pending() []ByteRange {
	d.check("pending")
	list := d.m.List(d.set, false)
	out := make([]ByteRange, len(list))
	for i, p := range list {
		out[i] = ByteRange{p.Start - d.from, p.Stop - d.from}
	}
	return out
}

// Mark marks the bytes of a view of the array as written: for writes that weft does not
// see. It panics with *[Error] if view shares no memory with the array.
func (d *Tracked) Mark(view *Tensor) {
	d.checkView("mark", view)
	w := core.OpenWrite(view.v())
	w.Done()
}

// Stop ends the tracking: further writes are not marked.
func (d *Tracked) Stop() {
	d.notNil("stop")
	d.m.Unwatch(d.set)
}

// Measure sends the beginning of the array to a sink, which changes nothing there but what
// is pending, and returns what transfers cost; from then on the pending bytes are merged by
// that. It tells the time of many small transfers and of one large one, of at most 1 MiB.
func (d *Tracked) Measure(sink io.WriterAt) (Cost, error) {
	d.check("measure")
	if sink == nil {
		array.Failf("measure", "sink", "is nil")
	}
	held := d.begin("measure")
	defer held.Release()
	const times = 32
	large := min(d.bytes, stage)
	small := min(large/times, 64)
	if small == 0 {
		return Cost{}, nil
	}
	var whole []byte
	d.still("measure", []dirty.Interval{{Start: d.from, Stop: d.from + large}}, func(free []dirty.Interval) {
		if len(free) == 1 && free[0].Stop-free[0].Start == large {
			whole = d.copied(free)
		}
	})
	if whole == nil {
		array.Failf("measure", "", "the array is lent to a function by Borrow")
	}
	var few, many time.Duration
	for range 3 { // the best of three
		begin := time.Now()
		for i := range times {
			if _, err := sink.WriteAt(whole[i*small:][:small], int64(i*small)); err != nil {
				return Cost{}, err
			}
		}
		if err := finish(sink); err != nil {
			return Cost{}, err
		}
		mid := time.Now()
		if _, err := sink.WriteAt(whole, 0); err != nil {
			return Cost{}, err
		}
		if err := finish(sink); err != nil {
			return Cost{}, err
		}
		a, b := mid.Sub(begin)/times, time.Since(mid)
		if few == 0 || a < few {
			few = a
		}
		if many == 0 || b < many {
			many = b
		}
	}
	c := Cost{few, float64(large) / max(many-few, 1).Seconds()}
	d.m.SetGap(d.set, c.gap())
	return c, nil
}

// A Finisher is a sink whose WriteAt may only take bytes for sending: Finish sends them, and
// an error means that none may have arrived since the last.
type Finisher interface {
	io.WriterAt
	Finish() error
}

func finish(sink io.WriterAt) error {
	if f, ok := sink.(Finisher); ok {
		return f.Finish()
	}
	return nil
}

// begin makes other flushes of d wait.
func (d *Tracked) begin(opName string) lock.Held {
	held, err := lock.Acquire(context.Background(), []lock.Want{{Lock: &d.flush, Write: true}}, jit.Goroutine, true)
	if err != nil {
		d.refused(opName, err)
	}
	return held
}

// still calls f while neither operations nor compiled functions write into intervals.
func (d *Tracked) still(opName string, list []dirty.Interval, f func(free []dirty.Interval)) {
	st := d.base.v().Store
	held, err := lock.Acquire(context.Background(), []lock.Want{{Lock: &st.Lock, Of: st}}, jit.Goroutine, false)
	if err != nil {
		d.refused(opName, err)
	}
	defer held.Release()
	d.base.c().Check(opName)
	d.m.Still(d.set, list, f)
}

func (d *Tracked) refused(opName string, err error) {
	panic(&Error{Kind: Misuse, Op: opName, Msg: "is called inside a flush of the same Tracked, or inside a call of a function that writes the array: it would wait for itself for ever. Do it after that", Err: err})
}

// stage is how many bytes are copied at once before they are sent.
const stage = 1 << 20

// Flush sends the pending bytes to a sink, each range by one WriteAt at its offset, at most
// 1 MiB at once, and returns how many bytes were sent. After the last one it calls Finish of
// a sink that is a [Finisher]. A file is a sink, and so are [Tensor.Sink] and the pages of
// package viewer.
//
// What is sent is a copy made while no operation writes into the array, of whole items
// ([TrackOpts]): no item is sent half written. Writes do not wait for the sink, and what
// is written meanwhile is pending afterwards. Bytes that [Borrow] has lent are not sent and
// stay pending, and so does what could not be sent: if Finish fails, all of it.
//
// Flushes of one Tracked wait for one another. A flush inside the sink of another flush of the same
// Tracked would wait for itself. So would one in a user function inside a call that writes the
// array. Both panic with *[Error].
func (d *Tracked) Flush(sink io.WriterAt) (sent int, err error) {
	d.check("flush")
	if sink == nil {
		array.Failf("flush", "sink", "is nil")
	}
	held := d.begin("flush")
	defer held.Release()
	left := d.pieces(d.m.List(d.set, true))
	var now, gone []dirty.Interval // being sent, and given to the sink
	finished := false
	defer func() { // also if the sink panics
		if d.m.Add(d.set, append(left, now...)...); !finished {
			d.m.Add(d.set, gone...)
		}
	}()
	for err == nil && len(left) > 0 {
		n, size := 0, 0
		for n < len(left) && (n == 0 || size+left[n].Stop-left[n].Start <= stage) {
			size += left[n].Stop - left[n].Start
			n++
		}
		now, left = left[:n:n], left[n:]
		var bytes []byte
		d.still("flush", now, func(free []dirty.Interval) {
			now = free
			bytes = d.copied(free)
		})
		for err == nil && len(now) > 0 {
			p := &now[0]
			n, err = sink.WriteAt(bytes[:p.Stop-p.Start], int64(p.Start-d.from))
			if n = min(max(n, 0), p.Stop-p.Start); n < p.Stop-p.Start && err == nil {
				err = io.ErrShortWrite
			}
			sent += n
			bytes = bytes[p.Stop-p.Start:]
			gone = append(gone, dirty.Interval{Start: p.Start, Stop: p.Start + n})
			if p.Start += n; p.Start == p.Stop {
				now = now[1:]
			}
		}
	}
	if e := finish(sink); e != nil {
		if err == nil {
			err = e
		}
		return 0, err
	}
	finished = true
	return sent, err
}

// pieces cuts intervals, of whole items, where they are longer than what is sent at once.
func (d *Tracked) pieces(list []dirty.Interval) []dirty.Interval {
	size := max(stage/d.item*d.item, d.item)
	var out []dirty.Interval
	for _, p := range list {
		for ; p.Stop-p.Start > size; p.Start += size {
			out = append(out, dirty.Interval{Start: p.Start, Stop: p.Start + size})
		}
		out = append(out, p)
	}
	return out
}

// copied returns the bytes of intervals behind each other, in memory that the next call
// uses again.
func (d *Tracked) copied(list []dirty.Interval) []byte {
	n := 0
	for _, p := range list {
		n += p.Stop - p.Start
	}
	d.staged = slices.Grow(d.staged[:0], n)[:n]
	core.ReadBytes(d.staged, d.base.c(), list)
	return d.staged
}

// Sink returns what writes bytes into t's memory: [Tracked.Flush] sends to it what has
// changed of an array of the same size and element type, on the same or on another device.
// It panics with *[Error] unless t is contiguous and may be written to.
func (t *Tensor) Sink() io.WriterAt {
	t.c().Writable("sink")
	if !t.v().Contiguous() {
		array.Failf("sink", "", "%s with strides %v is not contiguous: use Contiguous", array.ShapeString(t.v().Shape), t.v().Strides)
	}
	return memorySink{t}
}

type memorySink struct{ t *Tensor }

// WriteAt is that of [io.WriterAt]: an error says that the bytes do not lie in the memory.
func (s memorySink) WriteAt(p []byte, off int64) (int, error) {
	s.t.c().Writable("sink")
	if size := s.t.Size() * s.t.v().DType.Size(); off < 0 || off > int64(size-len(p)) {
		return 0, &Error{Kind: Misuse, Op: "sink", Msg: "bytes lie beyond the memory of " + array.TypeString(s.t.v().DType, s.t.v().Shape)}
	}
	core.WriteBytes(s.t.c(), int(off), p)
	return len(p), nil
}

// A SinkFunc is a sink made of a function, which gets the offset of bytes in the array and the bytes:
// for a buffer of one's own, such as one of OpenGL or WebGPU. The function must not keep the slice.
//
//	d.Flush(weft.SinkFunc(func(offset int, bytes []byte) error {
//		gl.BufferSubData(gl.ARRAY_BUFFER, offset, len(bytes), gl.Ptr(bytes))
//		return nil
//	}))
type SinkFunc func(offset int, bytes []byte) error

// WriteAt implements [io.WriterAt].
func (f SinkFunc) WriteAt(p []byte, off int64) (int, error) {
	if f == nil {
		return 0, &Error{Kind: Misuse, Op: "sink", Msg: "the function is nil"}
	}
	if err := f(int(off), p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// RectSink returns a sink that takes what has changed of a picture by rectangles, as textures are
// updated: glTexSubImage2D of OpenGL, texSubImage2D of WebGL, writeTexture of WebGPU. picture has shape
// [height, width] or [height, width, ...]: what follows is a pixel. upload gets the first column and
// row of a rectangle, its size in pixels, and its pixels, row after row; it must not keep the slice.
//
// Track the picture with the size of a pixel as Item and a Latency of 0: rows that lie below one
// another are joined into one rectangle, so a gap between two rows is never worth sending. It is an
// error if ranges are not whole pixels. upload is called at the end of a flush; if it fails, all of
// that flush stays pending. A sink serves one flush at a time. It panics with *[Error] if picture has
// fewer than two axes or upload is nil.
func RectSink(picture *Tensor, upload func(x, y, width, height int, pixels []byte) error) Finisher {
	const opName = "rectsink"
	picture.c().NotNil(opName)
	shape := picture.v().Shape
	if len(shape) < 2 {
		array.Failf(opName, "picture", "has shape %s, want [height width ...]", array.ShapeString(shape))
	}
	if upload == nil {
		array.Failf(opName, "upload", "is nil")
	}
	pixel := array.Size(shape[2:]) * picture.v().DType.Size()
	return &rectSink{width: shape[1], height: shape[0], pixel: pixel, upload: upload}
}

type rectSink struct {
	width, height, pixel int // pixels, pixels, bytes
	upload               func(x, y, width, height int, pixels []byte) error
	rects                []rect // in the order of their last row
	last                 rect   // a part of a row, not yet among them
}

// A rect is a rectangle of pixels, and its bytes.
type rect struct {
	x, y, width, height int
	bytes               []byte
}

// WriteAt is that of [io.WriterAt]: it divides a range of bytes into rows.
func (s *rectSink) WriteAt(p []byte, off int64) (int, error) {
	row := s.width * s.pixel
	at, n := int(off), len(p)
	switch {
	case n == 0:
		return 0, nil
	case off < 0 || at > row*s.height-n:
		return 0, &Error{Kind: Misuse, Op: "rectsink", Msg: "bytes lie beyond the picture"}
	case at%s.pixel != 0 || n%s.pixel != 0:
		return 0, array.Errorf("rectsink", "", "bytes %d to %d are not whole pixels of %d bytes: track the picture with Item: new(%d)", at, at+n, s.pixel, s.pixel)
	}
	for len(p) > 0 {
		k := min(len(p), row-at%row)
		x, y := at%row/s.pixel, at/row
		if l := &s.last; l.y != y || l.x+l.width != x || l.height == 0 { // not one range in two pieces
			s.join()
			s.last = rect{x: x, y: y, height: 1}
		}
		s.last.width += k / s.pixel
		s.last.bytes = append(s.last.bytes, p[:k]...)
		at, p = at+k, p[k:]
	}
	return n, nil
}

// join adds the last part of a row to the rectangle that ends above it, if there is one as wide.
func (s *rectSink) join() {
	l := s.last
	s.last = rect{}
	if l.height == 0 {
		return
	}
	for i := len(s.rects) - 1; i >= 0; i-- {
		r := s.rects[i]
		end := r.y + r.height // of rectangles further in front it is less
		if end < l.y {
			break
		}
		if end == l.y && r.x == l.x && r.width == l.width {
			copy(s.rects[i:], s.rects[i+1:])
			r.bytes = append(r.bytes, l.bytes...)
			r.height++
			s.rects[len(s.rects)-1] = r
			return
		}
	}
	s.rects = append(s.rects, l)
}

// Finish implements [Finisher].
func (s *rectSink) Finish() error {
	s.join()
	rects := s.rects
	s.rects = nil
	slices.SortFunc(rects, func(a, b rect) int { return cmp.Or(a.y-b.y, a.x-b.x) })
	for _, r := range rects {
		if err := s.upload(r.x, r.y, r.width, r.height, r.bytes); err != nil {
			return err
		}
	}
	return nil
}

// assignOp computes d of t and x into t.
func (t *Tensor) assignOp(d *op.Def, name string, x any) *Tensor {
	defer array.Named(name).End()
	o := core.AsOperand[Tensor](name, "x", x)
	return (*Tensor)(t.c().AssignAs(d, nil, name, core.Operand{T: t.c()}, o))
}

// Assign writes x, a *Tensor or a Go number, broadcast to t's shape, into t, and
// returns t. Overlapping memory is right: x.Slice(Range(1, n)).Assign(x.Slice(Range(0, n-1))).
// A float cannot be written into integers, nor a complex number into others.
func (t *Tensor) Assign(x any) *Tensor {
	return (*Tensor)(t.c().Assigned("assign", "x", core.AsOperand[Tensor]("assign", "x", x), (*core.Tensor).CopyFrom))
}

// Set writes v, a *Tensor or a Go number, at the given indices of the first axes, as NumPy's
// x[i, j] = v: one element where there is an index for each axis, else the sub-array there, to
// whose shape v broadcasts. Negative indices count from the back. It returns t. The element
// is converted to t's type; a float is refused for integers, as is a Go integer that t's type
// does not hold. It panics if an index is out of range, and says which. A gradient flows on to
// v where t is part of a recorded computation, as with [Tensor.Assign]; a leaf is written
// inside [WithoutGrad]. [Tensor.Slice] with Assign writes spans, [Tensor.IndexPut]
// arrays of places.
//
//	x.Set(1.5, 2, -1) // x[2, -1] = 1.5
//	x.Set(row, 0)     // x[0] = row
func (t *Tensor) Set(v any, index ...int) *Tensor {
	t.c().Check("set")
	t.c().NotExpanded("set")
	t.c().AtAs("set", index).Assigned("set", "v", core.AsOperand[Tensor]("set", "v", v), (*core.Tensor).CopyFrom)
	return t
}

// In-place arithmetic: each writes the result into t and returns it. x is a
// *Tensor or a Go number that broadcasts to t's shape.

// AddAssign writes t + x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) AddAssign(x any) *Tensor { return t.assignOp(op.Add, "addassign", x) }

// SubAssign writes t - x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) SubAssign(x any) *Tensor { return t.assignOp(op.Sub, "subassign", x) }

// MulAssign writes t * x into t and returns t. x, a tensor or a Go number, broadcasts to t's
// shape and does not change its type: a float x is refused for integers. The write is recorded
// for gradients. It panics with *[Error] otherwise, and for a leaf that requires a gradient,
// which is written inside [WithoutGrad].
func (t *Tensor) MulAssign(x any) *Tensor { return t.assignOp(op.Mul, "mulassign", x) }

// DivAssign writes t / x into t and returns t. t must hold floats or complex numbers; x, a
// tensor or a Go number, broadcasts to t's shape. It panics with *[Error] otherwise, and for a
// leaf that requires a gradient.
func (t *Tensor) DivAssign(x any) *Tensor { return t.assignOp(op.Div, "divassign", x) }

// Update writes f(t) into t, f being one of the methods, such as
// (*Tensor).Relu: the in-place form of any elementwise method, and of those that change
// some elements, such as [Tensor.IndexPut] and [Tensor.MaskedFill]. Of a tracked array
// ([Track]) the bytes are marked that change.
func (t *Tensor) Update(f func(*Tensor) *Tensor) *Tensor {
	t.c().Writable("update")
	if f == nil {
		array.Failf("update", "f", "is nil: want a method such as (*Tensor).Relu")
	}
	before := core.TapeSeq.Load()
	r := f(t)
	r.c().NotNil("update")
	if core.GradOn() {
		r.c().Node().KeepOldSince(before, t.v().Store)
	}
	return (*Tensor)(t.c().Assigned("update", "f", core.Of("update", r.c()), (*core.Tensor).UpdateFrom))
}

// Zero writes 0 everywhere and returns t; views of the same memory show it. It panics with
// *[Error] for memory that must not be written and for leaves, as [Tensor.Assign] does.
func (t *Tensor) Zero() *Tensor {
	defer array.Named("zero").End()
	return t.Assign(0)
}

// Fill writes a Go number, or a tensor that broadcasts, everywhere and returns t:
// [Tensor.Assign] by another name. A float is refused for integers, as is an integer that t's
// type does not hold.
func (t *Tensor) Fill(x any) *Tensor {
	defer array.Named("fill").End()
	return t.Assign(x)
}

// Version returns how often the memory of t was written in place, through t or any view of it: PyTorch's
// _version. The backward pass refuses a value that was written after an operation saved it. A call of a
// compiled function counts as one write or more of each tensor that it writes. It panics with *[Error]
// inside a compiled function, which runs once for many calls.
func (t *Tensor) Version() int {
	t.c().Check("version")
	core.RefuseRead("version", t.c())
	return int(t.v().Store.Version())
}

// String returns the array's type and its size.
func (t *Tracked) String() string {
	return array.Describe("weft.Tracked", "Array", t.base, "Bytes", t.bytes)
}
