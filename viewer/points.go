package viewer

import (
	_ "embed"
	"fmt"
	"math"
	"net/http"

	"weft"
	"weft/internal/array"
)

//go:embed points.html
var page []byte

// Points is a page that draws an array of points with WebGL. It is an [http.Handler], for
// any path and any number of pages at a time; each page has a copy of its own.
//
// A page asks when it draws: one that is not seen gets nothing. What is written meanwhile
// is sent at once when it draws again. It is safe for use from several goroutines.
type Points struct {
	server *server
}

// PointsOpts are the options of [NewPoints].
type PointsOpts struct {
	// Size is the width of a point in pixels, more than 0; nil means 2.
	Size *float64
	// Cost is what a range of bytes costs a page, see [weft.TrackOpts]; nil means 1
	// microsecond and 100 MB a second.
	Cost *weft.Cost
	// Hosts are the host names, without a port, that requests may use besides localhost and IP
	// addresses. Examples are the name of a proxy or of this machine in a network. See
	// [Points.ServeHTTP].
	Hosts []string
}

// NewPoints returns a page of the points that are the rows of t, which is float32 of shape
// [n, 3], places x, y and z, or [n, 6], with colors as red, green and blue from 0 to 1. t is
// contiguous, of at most 1 GiB, and may be written to at any time: see [weft.Track]. It
// panics with *[weft.Error] if t is anything else, or an option is negative.
func NewPoints(t *weft.Tensor, opts ...PointsOpts) *Points {
	const name = "points"
	o := array.Options(name, opts)
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
	s := newServer(page, o.Cost, o.Hosts, part{t: t, item: 4 * t.Dim(1)})
	s.hello = fmt.Appendf(nil, `{"points": %d, "columns": %d, "size": %g}`, t.Dim(0), t.Dim(1), size)
	return &Points{s}
}

// Sent returns how many bytes went to pages so far, and how many would have gone if each
// draw that found something changed had sent the whole array.
func (p *Points) Sent() (sent, full int64) {
	p.notNil("sent")
	return p.server.sent.Load(), p.server.full.Load()
}

func (p *Points) notNil(opName string) {
	if p == nil || p.server == nil {
		array.Failf(opName, "", "the Points is nil: NewPoints makes one")
	}
}

// ServeHTTP answers GET with the page, and a page that asks for a WebSocket with the array.
//
// It answers requests for an IP address, for localhost and for the names in [PointsOpts.Hosts]. Any
// other name in the Host header gets status 403. Otherwise a page of another site could read the
// array by DNS rebinding: it resolves its own name to this server. At most 64 pages are connected
// at a time; further ones get status 503. A page that reads nothing of a message for 10 seconds is
// disconnected.
func (p *Points) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.notNil("servehttp")
	p.server.serveHTTP(w, r)
}
