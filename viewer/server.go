package viewer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
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

// A server sends a page to browsers, and to each what is written into some arrays. The page has them in
// one address space of bytes.
type server struct {
	html  []byte
	hello []byte // what a page is told first: JSON
	parts []part
	cost  weft.Cost
	hosts []string
	pages atomic.Int32 // connected now
	sent  atomic.Int64
	full  atomic.Int64
}

// A part is an array, contiguous, that pages have from a byte on.
type part struct {
	t    *weft.Tensor
	at   int
	item int // bytes that are sent together
}

func newServer(html []byte, cost *weft.Cost, hosts []string, parts ...part) *server {
	s := &server{html: html, parts: parts, cost: array.Or(cost, weft.Cost{Latency: time.Microsecond, PerSecond: 100e6}), hosts: slices.Clone(hosts)}
	for _, p := range parts {
		s.track(p).Stop() // refuses bad options, and from now on writes are whole to pages that come
	}
	return s
}

func (s *server) track(p part) *weft.Tracked {
	return weft.Track(p.t, weft.TrackOpts{Cost: &s.cost, Item: new(p.item)})
}

// serveHTTP is that of [Points] and [Mesh].
func (s *server) serveHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	host := hostName(r.Host)
	if !s.answers(host) {
		http.Error(w, fmt.Sprintf("this page is not served as %q: open it by the address or as localhost, or name the host in the option Hosts", host), http.StatusForbidden)
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
			s.sourceHash("script"), s.sourceHash("style"), r.Host))
		w.Write(s.html)
		return
	}
	if s.pages.Add(1) > maxPages {
		s.pages.Add(-1)
		http.Error(w, "too many pages show this array", http.StatusServiceUnavailable)
		return
	}
	defer s.pages.Add(-1)
	c, err := websocket.Accept(w, r, nil) // refuses an Origin other than the Host
	if err != nil {
		return // Accept has answered
	}
	defer c.CloseNow()
	c.SetReadLimit(64) // a page sends "draw"
	if err := s.serve(r.Context(), c); websocket.CloseStatus(err) < 0 {
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
func (s *server) answers(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil || host == "localhost" {
		return true
	}
	return slices.ContainsFunc(s.hosts, func(h string) bool { return hostName(h) == host && host != "" })
}

// sourceHash returns the hash of the page's one script or style, as a Content-Security-Policy
// names it.
func (s *server) sourceHash(tag string) string {
	_, rest, _ := bytes.Cut(s.html, []byte("<"+tag+">"))
	text, _, _ := bytes.Cut(rest, []byte("</"+tag+">"))
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// serve says what the array is like, and then answers each message of a page, which is
// about to draw, with what has changed.
func (s *server) serve(ctx context.Context, c *websocket.Conn) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stalled := time.AfterFunc(stallLimit, cancel)
	defer stalled.Stop()
	if err := c.Write(ctx, websocket.MessageText, s.hello); err != nil {
		return err
	}
	tracked := make([]*weft.Tracked, len(s.parts))
	for i, x := range s.parts {
		tracked[i] = s.track(x)
		defer tracked[i].Stop()
	}
	for {
		stalled.Stop() // a page that is not seen asks for nothing
		if _, _, err := c.Read(ctx); err != nil {
			return err
		}
		stalled.Reset(stallLimit)
		m := message{server: s, stalled: stalled}
		var err error
		if m.w, err = c.Writer(ctx, websocket.MessageBinary); err != nil {
			return err
		}
		m.buf = bufio.NewWriterSize(m.w, 32<<10)
		for i, d := range tracked {
			if e := weft.Try(func() { _, err = d.Flush(section{&m, s.parts[i].at}) }); e != nil { // the array was released
				return e
			}
			if err != nil {
				return err
			}
		}
		if err := m.finish(); err != nil {
			return err
		}
	}
}

// A message is flushes on their way: for each range its offset and length as little-endian
// uint32, then its bytes. A page applies it when it has come whole.
type message struct {
	server  *server
	w       io.WriteCloser
	buf     *bufio.Writer // over w
	stalled *time.Timer
	sent    int
	changed bool
}

// A section is the part of a message that is of one array.
type section struct {
	*message
	at int
}

func (m section) WriteAt(b []byte, off int64) (int, error) {
	m.changed = true
	m.sent += 8 + len(b)
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(m.at+int(off)))
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

func (m *message) finish() error {
	if err := m.buf.Flush(); err != nil {
		return err
	}
	m.server.sent.Add(int64(m.sent))
	if m.changed {
		for _, x := range m.server.parts {
			m.server.full.Add(int64(x.t.Size() * x.t.DType().Size()))
		}
	}
	return m.w.Close()
}
