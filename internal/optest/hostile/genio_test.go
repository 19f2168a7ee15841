package hostile

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"weft"
)

// A sink is a buffer that becomes full.
type sink struct{ bytes.Buffer }

func (s *sink) Write(p []byte) (int, error) {
	if s.Len()+len(p) > longest {
		return 0, errThrown
	}
	return s.Buffer.Write(p)
}

// A faulty is a reader and a writer that fails at times.
type faulty struct {
	r    io.Reader
	w    io.Writer
	left int
}

func (f *faulty) Read(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errThrown
	}
	return f.r.Read(p[:min(len(p), 7)])
}

func (f *faulty) Write(p []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, errThrown
	}
	return f.w.Write(p)
}

// places is a sink that fails at times.
type places struct{ left int }

func (p *places) WriteAt(b []byte, off int64) (int, error) {
	if p.left--; p.left < 0 {
		return len(b) / 2, errThrown
	}
	return len(b), nil
}

func (p *places) Finish() error {
	if p.left--; p.left < 0 {
		return errThrown
	}
	return nil
}

func (g *gen) writerAt() io.WriterAt {
	if g.chance(2) {
		return pick[io.WriterAt](g, nil, &places{left: g.r.IntN(9)}, &places{left: 1 << 20})
	}
	w, _ := try(func() io.WriterAt { return g.plain(g.shape()).Sink() })
	return w
}

// tracked is an array that is tracked.
func (g *gen) tracked() *weft.Tracked {
	if g.chance(12) {
		return pick(g, nil, &weft.Tracked{})
	}
	d, _ := try(func() *weft.Tracked { return weft.Track(g.plain(g.shape())) })
	return d
}

// state is a fmt.State for Format.
type state struct {
	io.Writer
	width, precision int
	flags            string
}

func (s *state) Width() (int, bool)     { return s.width, s.width >= 0 }
func (s *state) Precision() (int, bool) { return s.precision, s.precision >= 0 }
func (s *state) Flag(c int) bool        { return strings.ContainsRune(s.flags, rune(c)) }

func init() {
	makers[typ[http.ResponseWriter]()] = func(g *gen) any { return httptest.NewRecorder() }
	makers[typ[*http.Request]()] = func(g *gen) any {
		r := httptest.NewRequest("GET", "/", strings.NewReader(g.text()))
		if g.chance(2) {
			r.Header.Set("Upgrade", pick(g, "websocket", "x"))
			r.Header.Set("Connection", "Upgrade")
			r.Header.Set("Sec-WebSocket-Version", "13")
			r.Header.Set("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")
		}
		return r
	}
}
