package viewer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

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
	t     *weft.Tensor
	size  float64
	cost  weft.Cost
	hosts []string
	pages atomic.Int32 // connected now
	sent  atomic.Int64
	full  atomic.Int64
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
	p := &Points{t: t, size: size, cost: array.Or(o.Cost, weft.Cost{Latency: time.Microsecond, PerSecond: 100e6}), hosts: slices.Clone(o.Hosts)}
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

// ServeHTTP answers GET with the page, and a page that asks for a WebSocket with the array.
//
// It answers requests for an IP address, for localhost and for the names in [PointsOpts.Hosts]. Any
// other name in the Host header gets status 403. Otherwise a page of another site could read the
// array by DNS rebinding: it resolves its own name to this server. At most 64 pages are connected
// at a time; further ones get status 503. A page that reads nothing of a message for 10 seconds is
// disconnected.
func (p *Points) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.notNil("servehttp")
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	host := hostName(r.Host)
	if !p.answers(host) {
		http.Error(w, fmt.Sprintf("this page is not served as %q: open it by the address or as localhost, or name the host in PointsOpts.Hosts", host), http.StatusForbidden)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		head.Set("Allow", "GET, HEAD")
		http.Error(w, "the page is for GET", http.StatusMethodNotAllowed)
		return
	}
	if r.Header.Get("Upgrade") == "" {
		head.Set("Content-Type", "text/html; charset=utf-8")
		head.Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; connect-src ws://%s wss://%[3]s; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			sourceHash("script"), sourceHash("style"), r.Host))
		w.Write(page)
		return
	}
	if p.pages.Add(1) > maxPages {
		p.pages.Add(-1)
		http.Error(w, "too many pages show this array", http.StatusServiceUnavailable)
		return
	}
	defer p.pages.Add(-1)
	c, err := websocket.Accept(w, r, nil) // refuses an Origin other than the Host
	if err != nil {
		return // Accept has answered
	}
	defer c.CloseNow()
	c.SetReadLimit(64) // a page sends "draw"
	if err := p.serve(r.Context(), c); websocket.CloseStatus(err) < 0 {
		c.Close(websocket.StatusInternalError, "")
	}
}

// maxPages bounds the pages connected to one array at a time. Each costs a goroutine, up to
// 1 MiB for what is being sent, and a share of each write to the array.
const maxPages = 64

// stallLimit is the time after which a page that takes nothing of a message is disconnected.
// Tests change it.
var stallLimit = 10 * time.Second

// hostName returns a Host header without port, brackets and the dot of an absolute name.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// answers reports whether the page is served under this name. Nobody can rebind an address
// or localhost.
func (p *Points) answers(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return slices.ContainsFunc(p.hosts, func(h string) bool { return hostName(h) == host && host != "" })
}

// sourceHash returns the hash of the page's one script or style, as a Content-Security-Policy
// names it.
func sourceHash(tag string) string {
	_, rest, _ := bytes.Cut(page, []byte("<"+tag+">"))
	text, _, _ := bytes.Cut(rest, []byte("</"+tag+">"))
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// serve says what the array is like, and then answers each message of a page, which is
// about to draw, with what has changed.
func (p *Points) serve(ctx context.Context, c *websocket.Conn) error {
	hello := fmt.Sprintf(`{"points": %d, "columns": %d, "size": %g}`, p.t.Dim(0), p.t.Dim(1), p.size)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(stallLimit, cancel)
	defer stalled.Stop()
	if err := c.Write(ctx, websocket.MessageText, []byte(hello)); err != nil {
		return err
	}
	d := p.track()
	defer d.Stop()
	for {
		stalled.Stop() // a page that is not seen asks for nothing
		if _, _, err := c.Read(ctx); err != nil {
			return err
		}
		stalled.Reset(stallLimit)
		m := message{p: p, stalled: stalled}
		var err error
		if m.w, err = c.Writer(ctx, websocket.MessageBinary); err != nil {
			return err
		}
		m.buf = bufio.NewWriterSize(m.w, 32<<10)
		if e := weft.Try(func() { _, err = d.Flush(&m) }); e != nil { // the array was released
			return e
		}
		if err != nil {
			return err
		}
	}
}

// A message is a flush on its way: for each range its offset and length as little-endian
// uint32, then its bytes. A page applies it when it has come whole.
type message struct {
	p       *Points
	w       io.WriteCloser
	buf     *bufio.Writer // over w
	stalled *time.Timer
	sent    int
	changed bool
}

var _ weft.Finisher = (*message)(nil)

func (m *message) WriteAt(b []byte, off int64) (int, error) {
	m.changed = true
	m.sent += 8 + len(b)
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(off))
	binary.LittleEndian.PutUint32(head[4:], uint32(len(b)))
	if _, err := m.buf.Write(head[:]); err != nil {
		return 0, err
	}
	for part := range slices.Chunk(b, 64<<10) {
		if _, err := m.buf.Write(part); err != nil {
			return 0, err
		}
		m.stalled.Reset(stallLimit)
	}
	return len(b), nil
}

func (m *message) Finish() error {
	if err := m.buf.Flush(); err != nil {
		return err
	}
	m.p.sent.Add(int64(m.sent))
	if m.changed {
		m.p.full.Add(int64(4 * m.p.t.Size()))
	}
	return m.w.Close()
}
