package viewer

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"weft"
)

// ask sends one request and returns its answer. upgrade asks for a WebSocket.
func ask(t *testing.T, addr, method, host, origin string, upgrade bool) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	if upgrade {
		for name, v := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="} {
			r.Header.Set(name, v)
		}
	}
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// TestForeignRequestsAreRefused sends every method, as the page and as a WebSocket, under every kind of Host
// and Origin. The array goes to nobody who came by a foreign name or from a foreign page.
func TestForeignRequestsAreRefused(t *testing.T) {
	s := httptest.NewServer(NewPoints(weft.Ones(2, 3), PointsOpts{Hosts: []string{"Render.Example"}}))
	defer s.Close()
	addr := s.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(addr)
	hosts := map[string]bool{ // whether they are answered
		addr: true, "localhost:" + port: true, "LOCALHOST.:" + port: true, "[::1]:" + port: true, "10.1.2.3": true, "render.example": true, "render.example:" + port: true,
		"evil.example:" + port: false, "evil.example": false, "localhost.evil.example": false, "127.0.0.1.evil.example:" + port: false, "render.example.evil.example": false, "xn--a": false,
	}
	for host, good := range hosts {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} {
			resp := ask(t, addr, method, host, "", false)
			want := http.StatusOK
			if !good {
				want = http.StatusForbidden
			} else if method != "GET" && method != "HEAD" {
				want = http.StatusMethodNotAllowed
			}
			if resp.StatusCode != want {
				t.Errorf("%s of %s: %s, want %d", method, host, resp.Status, want)
			}
			if want == http.StatusMethodNotAllowed && resp.Header.Get("Allow") != "GET, HEAD" {
				t.Errorf("%s: Allow is %q", method, resp.Header.Get("Allow"))
			}
			for name, v := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"} {
				if resp.Header.Get(name) != v {
					t.Errorf("%s of %s: %s is %q", method, host, name, resp.Header.Get(name))
				}
			}
			if policy := resp.Header.Get("Content-Security-Policy"); want == http.StatusOK && (strings.Contains(policy, "unsafe") || !strings.Contains(policy, "frame-ancestors 'none'")) {
				t.Errorf("%s of %s: the policy is %q", method, host, policy)
			}
		}
		for origin, same := range map[string]bool{"": true, "http://" + host: true, "http://evil.example:1": false, "null": false, "https://evil.example": false} {
			want := http.StatusSwitchingProtocols
			if !good || !same {
				want = http.StatusForbidden
			}
			if resp := ask(t, addr, "GET", host, origin, true); resp.StatusCode != want {
				t.Errorf("a WebSocket of %s from %q: %s, want %d", host, origin, resp.Status, want)
			}
		}
	}
}

// TestPageLimit has more pages than there may be, and room again after one has left.
func TestPageLimit(t *testing.T) {
	p := NewPoints(weft.Zeros(2, 3))
	s := httptest.NewServer(p)
	defer s.Close()
	addr := s.Listener.Addr().String()
	var pages []*http.Response
	for range maxPages {
		pages = append(pages, ask(t, addr, "GET", addr, "", true))
	}
	if resp := ask(t, addr, "GET", addr, "", true); resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("page %d: %s", maxPages+1, resp.Status)
	}
	for _, resp := range pages {
		resp.Body.Close()
	}
	for end := time.Now().Add(30 * time.Second); p.server.pages.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d pages are counted after all have left", p.server.pages.Load())
		}
	}
	if resp := ask(t, addr, "GET", addr, "", true); resp.StatusCode != http.StatusSwitchingProtocols {
		t.Error(resp.Status)
	}
}

// TestStalledPages has pages that ask and read nothing. They hold little memory, let others
// be served and the array be written to, and are disconnected.
func TestStalledPages(t *testing.T) {
	defer func(was time.Duration) { stallLimit = was }(stallLimit)
	stallLimit = 500 * time.Millisecond
	const n, stalled = 400_000, 20
	x := weft.Rand(n, 6)
	p := NewPoints(x)
	s := httptest.NewServer(p)
	defer s.Close()
	addr := s.Listener.Addr().String()
	var before, now runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for range stalled {
		resp := ask(t, addr, "GET", addr, "", true)
		draw := []byte{0x81, 0x84, 0, 0, 0, 0, 'd', 'r', 'a', 'w'} // a masked frame of text
		if _, err := resp.Body.(io.Writer).Write(draw); err != nil {
			t.Fatal(err)
		}
	}
	x.AddAssign(1)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, _, err := websocket.Dial(ctx, "ws://"+addr, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	c.SetReadLimit(-1)
	if _, _, err := c.Read(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(ctx, websocket.MessageText, []byte("draw")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(ctx); err != nil {
		t.Fatal("a page beside stalled ones: ", err)
	}
	runtime.GC()
	runtime.ReadMemStats(&now)
	if got := int64(now.HeapAlloc) - int64(before.HeapAlloc); got > stalled*(2<<20) {
		t.Errorf("%d stalled pages hold %d MB, more than 2 MB each", stalled, got>>20)
	}
	for end := time.Now().Add(30 * time.Second); p.server.pages.Load() > 1; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d pages are still connected, want only the 1 that reads", p.server.pages.Load())
		}
	}
	if err := c.Write(ctx, websocket.MessageText, []byte(fmt.Sprintf("%01000d", 0))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Read(ctx); websocket.CloseStatus(err) != websocket.StatusMessageTooBig {
		t.Errorf("a long message of a page: %v", err)
	}
}
