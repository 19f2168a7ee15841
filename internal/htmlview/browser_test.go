package htmlview_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A browser is a headless Chromium that is spoken to over two pipes in the DevTools protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	last    int
	faults  []string // errors of the page
}

// openPage shows a file in a browser. Where there is none the test is skipped, and says so.
func openPage(t *testing.T, file string) *browser {
	t.Helper()
	var path string
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("SKIPPED: no Chromium or Chrome in PATH: nothing has shown the page")
	}
	read, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir, which fails where processes of the browser still write while they end.
	home, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--user-data-dir="+home, "about:blank")
	cmd.ExtraFiles = []*os.File{read, write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read.Close()
	write.Close()
	t.Cleanup(func() {
		to.Close()
		cmd.Process.Kill()
		cmd.Wait()
		from.Close()
		for range 100 {
			if os.RemoveAll(home) == nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	timer := time.AfterFunc(time.Minute, func() { from.Close() }) // a browser that hangs
	t.Cleanup(func() { timer.Stop() })
	b := &browser{t: t, to: to, from: bufio.NewReader(from)}
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1200, "height": 800, "deviceScaleFactor": 1, "mobile": false}, nil)
	for _, domain := range []string{"Runtime", "Network", "Page", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for start := time.Now(); b.eval("document.readyState") != "complete"; {
		if time.Since(start) > 30*time.Second {
			t.Fatal("the page does not load")
		}
	}
	return b
}

// call sends a command and waits for its answer.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	m := map[string]any{"id": b.last, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	text, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.t.Fatalf("%s: the browser does not answer: %v", method, err)
		}
		var answer struct {
			ID     int
			Method string
			Error  json.RawMessage
			Result json.RawMessage
			Params json.RawMessage
		}
		if err := json.Unmarshal(line[:len(line)-1], &answer); err != nil {
			b.t.Fatal(err)
		}
		switch {
		case answer.Method == "Runtime.exceptionThrown" || answer.Method == "Log.entryAdded":
			b.faults = append(b.faults, string(answer.Params))
		case answer.Method == "Network.requestWillBeSent" && !strings.Contains(string(answer.Params), `"url":"file://`):
			b.faults = append(b.faults, "the page loads something: "+string(answer.Params))
		case answer.ID == b.last:
			if answer.Error != nil {
				b.t.Fatalf("%s: %s", method, answer.Error)
			}
			if result != nil {
				if err := json.Unmarshal(answer.Result, result); err != nil {
					b.t.Fatal(err)
				}
			}
			return
		}
	}
}

// eval computes an expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, r.ExceptionDetails)
	}
	return r.Result.Value
}

// click presses and releases the mouse in the middle of an element.
func (b *browser) click(selector string) {
	b.t.Helper()
	at, ok := b.eval(fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()`, selector)).([]any)
	if !ok || len(at) != 2 {
		b.t.Fatalf("no %s", selector)
	}
	for _, what := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": what, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
}

// shot writes what the browser shows to a file.
func (b *browser) shot(file string) {
	var r struct{ Data []byte }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &r)
	if err := os.WriteFile(file, r.Data, 0o666); err != nil {
		b.t.Fatal(err)
	}
}

// write puts a page into a file and returns its path.
func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
