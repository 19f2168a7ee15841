package viewer

import (
	"context"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"weft"
	"weft/internal/array"
)

//go:embed points.html
var page []byte

// Points is a page that draws an array of points with WebGL. It is an [http.Handler], for
// any path and any number of pages at a time, each of which has a copy of its own.
//
// A page asks when it draws: one that is not seen gets nothing. What is written meanwhile
// is sent at once when it draws again.
type Points struct {
	t    *weft.Tensor
	size float64
	cost weft.Cost
	sent atomic.Int64
	full atomic.Int64
}

// PointsOpts are the options of [NewPoints].
type PointsOpts struct {
	// Size is the width of a point in pixels, more than 0; nil means 2.
	Size *float64
	// Cost is what a range of bytes costs a page, see [weft.TrackOpts]; nil means 1
	// microsecond and 100 MB a second.
	Cost *weft.Cost
}

// NewPoints returns a page of the points that are the rows of t, which is float32 of shape
// [n, 3], places x, y and z, or [n, 6], with colors as red, green and blue from 0 to 1. t is
// contiguous, of at most 1 GiB, and may be written to at any time: see [weft.Track]. It
// panics with *[weft.Error] if t is anything else, or an option is negative.
func NewPoints(t *weft.Tensor, opts ...PointsOpts) *Points {
	const name = "points"
	var o PointsOpts
	if len(opts) > 0 {
		o = opts[0]
	}
	if t == nil {
		array.Failf(name, "t", "is nil")
	}
	if t.Rank() != 2 || t.Dim(1) != 3 && t.Dim(1) != 6 || t.DType() != weft.Float32 {
		array.Failf(name, "t", "is %s, want float32 of shape [n, 3] or [n, 6]", array.TypeString(t.DType(), t.Shape()))
	}
	if !t.IsContiguous() {
		array.Failf(name, "t", "is not contiguous: use Contiguous")
	}
	if t.Size() > 1<<28 {
		array.Failf(name, "t", "has %d points, more than 1 GiB", t.Dim(0))
	}
	size := array.Or(o.Size, 2)
	if !(size > 0 && size < math.MaxFloat32) {
		array.Failf(name, "Size", "%v is not positive", size)
	}
	p := &Points{t: t, size: size, cost: array.Or(o.Cost, weft.Cost{Latency: time.Microsecond, PerSecond: 100e6})}
	p.track().Stop() // refuses bad options, and from now on writes are whole to pages that come
	return p
}

func (p *Points) track() *weft.Tracked {
	return weft.Track(p.t, weft.TrackOpts{Cost: &p.cost, Item: new(4 * p.t.Dim(1))})
}

// Sent returns how many bytes went to pages so far, and how many would have gone if each
// draw that found something changed had sent the whole array.
func (p *Points) Sent() (sent, full int64) {
	p.notNil("sent")
	return p.sent.Load(), p.full.Load()
}

func (p *Points) notNil(opName string) {
	if p == nil || p.t == nil {
		array.Failf(opName, "", "the Points is nil: NewPoints makes one")
	}
}

// ServeHTTP answers with the page, and a page that asks for a WebSocket with the array.
func (p *Points) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.notNil("servehttp")
	if r.Header.Get("Upgrade") == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
		return
	}
	c, err := websocket.Accept(w, r, nil) // refuses pages of other hosts
	if err != nil {
		return // Accept has answered
	}
	defer c.CloseNow()
	if err := p.serve(r.Context(), c); websocket.CloseStatus(err) < 0 {
		c.Close(websocket.StatusInternalError, "")
	}
}

// serve says what the array is like, and then answers each message of a page, which is
// about to draw, with what has changed.
func (p *Points) serve(ctx context.Context, c *websocket.Conn) error {
	hello := fmt.Sprintf(`{"points": %d, "columns": %d, "size": %g}`, p.t.Dim(0), p.t.Dim(1), p.size)
	if err := c.Write(ctx, websocket.MessageText, []byte(hello)); err != nil {
		return err
	}
	d := p.track()
	defer d.Stop()
	for {
		if _, _, err := c.Read(ctx); err != nil {
			return err
		}
		m := message{p: p, conn: c, ctx: ctx}
		var err error
		if e := weft.Try(func() { _, err = d.Flush(&m) }); e != nil { // the array was released
			return e
		}
		if err != nil {
			return err
		}
	}
}

// A message collects the ranges of a flush, so that a page has all of them or none: their
// number, the offset and length of each, then their bytes, as little-endian uint32.
type message struct {
	p      *Points
	conn   *websocket.Conn
	ctx    context.Context
	ranges []byte
	bytes  []byte
}

var _ weft.Finisher = (*message)(nil)

func (m *message) WriteAt(b []byte, off int64) (int, error) {
	m.ranges = binary.LittleEndian.AppendUint32(m.ranges, uint32(off))
	m.ranges = binary.LittleEndian.AppendUint32(m.ranges, uint32(len(b)))
	m.bytes = append(m.bytes, b...)
	return len(b), nil
}

func (m *message) Finish() error {
	w, err := m.conn.Writer(m.ctx, websocket.MessageBinary)
	if err != nil {
		return err
	}
	m.p.sent.Add(int64(4 + len(m.ranges) + len(m.bytes)))
	if len(m.bytes) > 0 {
		m.p.full.Add(int64(4 * m.p.t.Size()))
	}
	for _, part := range [][]byte{binary.LittleEndian.AppendUint32(nil, uint32(len(m.ranges)/8)), m.ranges, m.bytes} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return w.Close()
}
