package viewer

import (
	"bytes"
	"context"
	"encoding/binary"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"weft"
	"weft/internal/dirty"
)

func init() { dirty.Verify = true }

// memory is the bytes of an array of float32.
func memory(t *weft.Tensor) []byte {
	out, err := binary.Append(nil, binary.LittleEndian, weft.Data[float32](t))
	if err != nil {
		panic(err)
	}
	return out
}

// a client is a page without a browser.
type client struct {
	t     *testing.T
	ctx   context.Context
	conn  *websocket.Conn
	data  []byte
	bytes int // of messages
}

func connect(t *testing.T, url string, size int) *client {
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, strings.Replace(url, "http", "ws", 1), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	return &client{t: t, ctx: ctx, conn: conn, data: make([]byte, size)}
}

func (c *client) hello() string {
	kind, b, err := c.conn.Read(c.ctx)
	if err != nil || kind != websocket.MessageText {
		c.t.Fatal(kind, err)
	}
	return string(b)
}

// draw asks for what has changed, and returns how many ranges that was.
func (c *client) draw() int {
	c.t.Helper()
	if err := c.conn.Write(c.ctx, websocket.MessageText, []byte("draw")); err != nil {
		c.t.Fatal(err)
	}
	kind, b, err := c.conn.Read(c.ctx)
	if err != nil || kind != websocket.MessageBinary {
		c.t.Fatal(kind, err)
	}
	c.bytes += len(b)
	n := 0
	for ; len(b) > 0; n++ {
		off, size := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		copy(c.data[off:][:size], b[8:8+size])
		b = b[8+size:]
	}
	return n
}

// A page gets everything once, then what has changed, when it draws; each has its own.
func TestPoints(t *testing.T) {
	x := weft.Randn(1000, 6)
	p := NewPoints(x, PointsOpts{Size: new(5.0), Cost: &weft.Cost{Latency: 1, PerSecond: 1}})
	s := httptest.NewServer(p)
	defer s.Close()
	size := 1000 * 6 * 4
	a, b := connect(t, s.URL, size), connect(t, s.URL+"/somewhere", size)
	for _, c := range []*client{a, b} {
		if got, want := c.hello(), `{"points": 1000, "columns": 6, "size": 5}`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if a.draw() != 1 || !bytes.Equal(a.data, memory(x)) || a.bytes != size+8 {
		t.Errorf("the first message has %d bytes", a.bytes)
	}
	if a.draw() != 0 || a.bytes != size+8 {
		t.Errorf("without a change %d bytes came", a.bytes-size-8)
	}
	x.Slice(weft.Index(7), weft.Index(2)).Assign(1)
	x.Slice(weft.Range(900, 910), weft.Range(0, 3)).AddAssign(1)
	if n := a.draw(); n != 2 || !bytes.Equal(a.data, memory(x)) {
		t.Errorf("%d ranges; the same bytes: %v", n, bytes.Equal(a.data, memory(x)))
	}
	if got := a.bytes - size - 8; got != 2*8+24+240 {
		t.Errorf("%d bytes came for 11 points", got)
	}
	if n := b.draw(); n != 1 || !bytes.Equal(b.data, memory(x)) {
		t.Errorf("the other page got %d ranges", n)
	}
	if sent, full := p.Sent(); sent != int64(a.bytes+b.bytes) || full != int64(3*size) {
		t.Errorf("%d bytes were counted, %d of whole arrays; %d came", sent, full, a.bytes+b.bytes)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		for range r.IntN(4) {
			lo := r.IntN(1000)
			x.Slice(weft.Range(lo, lo+r.IntN(1000-lo), 1+r.IntN(50)), weft.Range(r.IntN(6), 6)).AddAssign(r.IntN(9))
		}
		for _, c := range []*client{a, b} {
			if r.IntN(2) == 0 {
				if c.draw(); !bytes.Equal(c.data, memory(x)) {
					t.Fatal("a page has other bytes")
				}
			}
		}
	}
	// A page that goes leaves nothing behind that is marked for it, and others stay.
	a.conn.Close(websocket.StatusNormalClosure, "")
	x.Fill(3)
	if b.draw() != 1 || !bytes.Equal(b.data, memory(x)) {
		t.Error("the page that stayed has other bytes")
	}
	// The array goes.
	x.Release()
	if err := b.conn.Write(b.ctx, websocket.MessageText, []byte("draw")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.conn.Read(b.ctx); websocket.CloseStatus(err) != websocket.StatusInternalError {
		t.Errorf("a page of an array that was released: %v", err)
	}
}

// What is no WebSocket gets the page; a page of another host gets nothing.
func TestPage(t *testing.T) {
	s := httptest.NewServer(NewPoints(weft.Zeros(2, 3)))
	defer s.Close()
	r, err := http.Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != 200 || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		t.Errorf("%s, %s", r.Status, r.Header)
	}
	_, resp, err := websocket.Dial(t.Context(), strings.Replace(s.URL, "http", "ws", 1), &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"http://elsewhere.example"}}})
	if err == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a page of another host: %v", err)
	}
	empty := httptest.NewServer(NewPoints(weft.Zeros(0, 6)))
	defer empty.Close()
	c := connect(t, empty.URL, 0)
	if c.hello(); c.draw() != 0 {
		t.Error("no points have bytes")
	}
}

func TestPointsRefuses(t *testing.T) {
	for name, f := range map[string]func(){
		"nil":        func() { NewPoints(nil) },
		"zero":       func() { NewPoints(&weft.Tensor{}) },
		"vector":     func() { NewPoints(weft.Zeros(6)) },
		"columns":    func() { NewPoints(weft.Zeros(6, 4)) },
		"float64":    func() { NewPoints(weft.ZerosOf(weft.Float64, 6, 3)) },
		"transposed": func() { NewPoints(weft.Zeros(3, 6).T()) },
		"size":       func() { NewPoints(weft.Zeros(6, 3), PointsOpts{Size: new(-1.0)}) },
		"cost":       func() { NewPoints(weft.Zeros(6, 3), PointsOpts{Cost: &weft.Cost{Latency: -1}}) },
		"released": func() {
			x := weft.Zeros(1000, 3)
			x.Release()
			NewPoints(x)
		},
	} {
		if err := weft.Try(f); err == nil {
			t.Errorf("%s was not refused", name)
		}
	}
}

// The example of the package's documentation.
func ExamplePoints() {
	points := weft.Zeros(100_000, 6)
	s := httptest.NewServer(NewPoints(points)) // any server; a browser opens its address
	defer s.Close()
	points.Slice(weft.Range(0, 100), weft.Range(0, 3)).AddAssign(0.01)
	// Output:
}
