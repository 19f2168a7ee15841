package viewer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"weft"
)

// browsers are the names that a browser of the Chromium family has.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "chrome-headless-shell", "headless_shell"}

// A browser is one without a window, asked over its debugging protocol.
type browser struct {
	t    *testing.T
	ctx  context.Context
	conn *websocket.Conn
	next int
}

// open starts a browser that draws without a graphics processor.
func open(t *testing.T) *browser {
	path := ""
	for _, name := range browsers {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skipf("SKIPPED: no browser is installed, so the page was not drawn: one of %s is wanted", strings.Join(browsers, ", "))
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--remote-debugging-port=0", "--user-data-dir="+dir, "--no-first-run",
		"--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist", "--disable-dev-shm-usage", "--window-size=400,300", "about:blank")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		cancel()
		<-ended
		for range 50 { // its children may still write there
			if os.RemoveAll(dir) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	var where []string
	for len(where) < 2 {
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("%s: %v\n%s", path, err, said.String())
		case <-time.After(50 * time.Millisecond):
		}
		b, _ := os.ReadFile(filepath.Join(dir, "DevToolsActivePort"))
		where = strings.Fields(string(b))
	}
	conn, _, err := websocket.Dial(ctx, "ws://127.0.0.1:"+where[0]+where[1], nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.CloseNow() })
	conn.SetReadLimit(-1)
	return &browser{t: t, ctx: ctx, conn: conn}
}

// call makes a call of the protocol and reads its result.
func (b *browser) call(session, method string, params map[string]any, result any) {
	b.t.Helper()
	b.next++
	request := map[string]any{"id": b.next, "method": method, "params": params}
	if session != "" {
		request["sessionId"] = session
	}
	text, err := json.Marshal(request)
	if err == nil {
		err = b.conn.Write(b.ctx, websocket.MessageText, text)
	}
	for err == nil {
		_, text, err = b.conn.Read(b.ctx)
		var reply struct {
			ID     int
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err != nil || json.Unmarshal(text, &reply) != nil || reply.ID != b.next {
			continue // an event
		}
		if reply.Error != nil {
			b.t.Fatalf("%s: %s", method, reply.Error.Message)
		}
		if err = json.Unmarshal(reply.Result, result); err == nil {
			return
		}
	}
	b.t.Fatalf("%s: %v", method, err)
}

// tab opens a page and returns what it is called by.
func (b *browser) tab(url string) string {
	b.t.Helper()
	var made struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": url}, &made)
	var at struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &at)
	return at.SessionID
}

// eval returns the value of an expression in a page.
func (b *browser) eval(tab, expr string, value any) {
	b.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.call(tab, "Runtime.evaluate", map[string]any{"expression": expr, "returnByValue": true}, &out)
	if e := out.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expr, e.Text, e.Exception.Description)
	}
	if err := json.Unmarshal(out.Result.Value, value); err != nil {
		b.t.Fatalf("%s: %s: %v", expr, out.Result.Value, err)
	}
}

// until waits for an expression to be true.
func (b *browser) until(tab, expr string) {
	b.t.Helper()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var ok bool
		if b.eval(tab, "!!(window.state && ("+expr+"))", &ok); ok {
			return
		}
		if time.Since(begin) > time.Minute {
			var state json.RawMessage
			b.eval(tab, "JSON.parse(JSON.stringify(window.state || {}))", &state)
			b.t.Fatalf("it never came that %s: %s", expr, state)
		}
	}
}

// buffer is what the graphics processor has.
func (b *browser) buffer(tab string) []byte {
	b.t.Helper()
	var text string
	b.eval(tab, `(() => { const a = state.read(); let s = ""; for (let i = 0; i < a.length; i += 8192) s += String.fromCharCode(...a.subarray(i, i + 8192)); return btoa(s); })()`, &text)
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b.t.Fatal(err)
	}
	return data
}

// Pages in a browser draw the points, get only what changes, and have in the memory of the
// graphics processor what the array has.
func TestBrowser(t *testing.T) {
	b := open(t)
	const n = 3000
	x := weft.Rand(n, 6)
	p := NewPoints(x, PointsOpts{Size: new(3.0)})
	s := httptest.NewServer(p)
	defer s.Close()
	one := b.tab(s.URL)
	b.until(one, "state.messages > 0 && state.draws > 3")
	if !bytes.Equal(b.buffer(one), memory(x)) {
		t.Fatal("the buffer has other bytes than the array at first")
	}
	var lit int
	if b.eval(one, "state.lit()", &lit); lit < n/10 {
		t.Errorf("%d pixels are lit by %d points", lit, n)
	}
	// It is told what is new, and no more.
	sum := func(tab string) (bytes int) {
		b.eval(tab, "state.bytes", &bytes)
		return bytes
	}
	before := sum(one)
	if before != 8+n*24 {
		t.Errorf("%d bytes came at first, want %d points once", before, n)
	}
	for i := range 10 {
		x.Slice(weft.Index(i * 100)).Assign(float32(i) / 10)
	}
	b.until(one, fmt.Sprintf("state.bytes >= %d", before+10*24))
	b.until(one, fmt.Sprintf("state.messages > %d", 0))
	if got := sum(one) - before; got != 10*(8+24) {
		t.Errorf("%d bytes came for 10 points", got)
	}
	if !bytes.Equal(b.buffer(one), memory(x)) {
		t.Error("the buffer has other bytes than the array after 10 points")
	}
	// All go away from the view: what is drawn is what is there.
	x.Slice(weft.All, weft.Range(3, 6)).Fill(0)
	b.until(one, "state.lit() == 0")
	x.Slice(weft.All, weft.Range(3, 6)).Fill(1)
	b.until(one, fmt.Sprintf("state.lit() >= %d", n/10))
	// Two pages beside a writer.
	two := b.tab(s.URL + "/again")
	b.until(two, "state.messages > 0")
	var writer sync.WaitGroup
	stop := make(chan struct{})
	writer.Go(func() {
		for r := rand.New(rand.NewPCG(1, 2)); ; {
			select {
			case <-stop:
				return
			default:
			}
			x.Slice(weft.Range(r.IntN(n), n, 1+r.IntN(300)), weft.Range(0, 3)).AddAssign(0.01)
			time.Sleep(time.Millisecond)
		}
	})
	for _, tab := range []string{one, two} {
		var m int
		b.eval(tab, "state.messages", &m)
		// A page that is behind another draws nothing, and gets nothing.
		b.call(tab, "Page.bringToFront", map[string]any{}, &struct{}{})
		b.until(tab, fmt.Sprintf("state.messages > %d", m+5))
	}
	close(stop)
	writer.Wait()
	want := memory(x)
	for i, tab := range []string{one, two} {
		b.call(tab, "Page.bringToFront", map[string]any{}, &struct{}{})
		var m int
		b.eval(tab, "state.messages", &m)
		b.until(tab, fmt.Sprintf("state.messages > %d", m+2))
		if !bytes.Equal(b.buffer(tab), want) {
			t.Errorf("page %d has other bytes than the array in the end", i)
		}
		var failed string
		if b.eval(tab, "state.error", &failed); failed != "" {
			t.Errorf("page %d: %s", i, failed)
		}
	}
	if sent, full := p.Sent(); sent == 0 || sent >= full {
		t.Errorf("%d bytes were sent, %d would have been", sent, full)
	}
}
