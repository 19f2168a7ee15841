// Package live shows trainings in the browser while they run: loss and metrics of several runs, as curves
// that grow.
//
//	page, err := live.Serve("localhost:8080")
//	fmt.Println("see", page.URL())
//	... train.Opts{Callbacks: []train.Callback{page.Run("rate 0.01")}}
//
// The page is one file that loads nothing from elsewhere. It gets numbers as server-sent events (HTML
// standard, section 9.2) over plain HTTP, with the standard library alone.
package live

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"weft/internal/array"
	"weft/train"
)

// A Page is what browsers see of some runs. It is an [http.Handler] for programs with a server of their own:
// under "" the page, under "events" the numbers. Its methods may be called by several goroutines.
type Page struct {
	server *http.Server // of Serve, nil otherwise
	url    string
	host   string        // that Serve was given, in small letters
	ended  chan struct{} // closed by Close

	mu     sync.Mutex
	runs   []*run
	closed bool
}

// A run is a training that is shown.
type run struct {
	name          string
	epochs, steps int
	status        string
	series        []*series
	version       int // of all but the series
}

// A series is a curve: points are added, or their number is halved.
type series struct {
	name   string
	halved int         // times
	points [][2]number // step and value
}

// A number is written as null if it is not finite, which JSON does not have.
type number float64

// MarshalJSON implements [json.Marshaler].
func (n number) MarshalJSON() ([]byte, error) {
	if x := float64(n); math.IsNaN(x) || math.IsInf(x, 0) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// maxPoints is how many points a series has before every second one is left out.
const maxPoints = 1 << 15

//go:embed live.html
var html []byte

// NewPage returns a page without runs, for an [http.Server] of one's own.
func NewPage() *Page { return &Page{ended: make(chan struct{})} }

// Serve returns a page that a server of its own serves at an address, such as "localhost:8080", or
// "localhost:0" for any port.
func Serve(address string) (*Page, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("live: %w", err)
	}
	p := NewPage()
	if host, _, err := net.SplitHostPort(address); err == nil {
		p.host = strings.ToLower(host)
	}
	p.url = "http://" + l.Addr().String() + "/"
	p.server = &http.Server{Handler: p, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := p.server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			p.Close()
		}
	}()
	return p, nil
}

// URL is where [Serve] serves the page, and "" for other pages.
func (p *Page) URL() string {
	p.made("url")
	return p.url
}

// Close ends the page's server, if it has one, and the events of all browsers.
func (p *Page) Close() {
	p.made("close")
	p.mu.Lock()
	first := !p.closed
	p.closed = true
	p.mu.Unlock()
	if first {
		close(p.ended)
	}
	if p.server != nil {
		p.server.Close()
	}
}

// Run returns a callback that shows a training under a name. It serves one Fit.
func (p *Page) Run(name string) train.Callback {
	p.made("run")
	r := &run{name: name, status: "waiting"}
	p.change(func() { p.runs = append(p.runs, r) })
	return train.Callback{
		Begin: func(t *train.Run) error {
			p.change(func() {
				r.epochs, r.steps, r.status = t.Epochs, t.Steps, "running"
				r.version++
				for i, loss := range t.History.Losses {
					r.add("step/loss", i+1, loss)
				}
				for _, e := range t.History.Epochs {
					r.addAll("", e.Step, e.Values)
				}
			})
			return nil
		},
		Step: func(s train.Step) error {
			p.change(func() { r.addAll("step/", s.Step, s.Values) })
			return nil
		},
		Epoch: func(e train.Epoch) error {
			p.change(func() { r.addAll("", e.Step, e.Values) })
			return nil
		},
		End: func(err error) error {
			p.change(func() {
				r.status = "done"
				var i *train.Interrupted
				if errors.As(err, &i) {
					r.status = "interrupted"
				} else if err != nil {
					r.status = "failed: " + err.Error()
				}
				r.version++
			})
			return nil
		},
	}
}

func (p *Page) change(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

func (r *run) addAll(before string, step int, values train.Values) {
	for _, v := range values {
		r.add(before+v.Name, step, v.Number)
	}
}

func (r *run) add(name string, step int, x float64) {
	i := slices.IndexFunc(r.series, func(s *series) bool { return s.name == name })
	if i < 0 {
		i = len(r.series)
		r.series = append(r.series, &series{name: name})
	}
	s := r.series[i]
	s.points = append(s.points, [2]number{number(step), number(x)})
	if len(s.points) >= maxPoints {
		kept := s.points[:0:0]
		for k := 1; k < len(s.points); k += 2 {
			kept = append(kept, s.points[k])
		}
		s.points = kept
		s.halved++
	}
}

// An update is an event: what is new of a run since the last one.
type update struct {
	Run    int            `json:"run"`
	Name   string         `json:"name"`
	Epochs int            `json:"epochs"`
	Steps  int            `json:"steps"` // batches of an epoch, -1 if that is not known
	Status string         `json:"status"`
	Series []seriesUpdate `json:"series"`
}

// A seriesUpdate has the points of a series from one on.
type seriesUpdate struct {
	Name   string      `json:"name"`
	From   int         `json:"from"`
	Points [][2]number `json:"points"`
}

// A reader knows what a browser has got.
type reader struct {
	versions []int         // by run, -1 before anything
	series   [][]readSoFar // by run
}

type readSoFar struct{ halved, count int }

// news returns what the browser has not got.
func (p *Page) news(r *reader) (all []update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for k, x := range p.runs {
		if k == len(r.versions) {
			r.versions, r.series = append(r.versions, -1), append(r.series, nil)
		}
		u := update{Run: k, Name: x.name, Epochs: x.epochs, Steps: x.steps, Status: x.status}
		for i, s := range x.series {
			if i == len(r.series[k]) {
				r.series[k] = append(r.series[k], readSoFar{})
			}
			seen := &r.series[k][i]
			if seen.halved != s.halved {
				*seen = readSoFar{halved: s.halved}
			}
			if n := len(s.points); n > seen.count {
				u.Series = append(u.Series, seriesUpdate{s.name, seen.count, slices.Clone(s.points[seen.count:])})
				seen.count = n
			}
		}
		if len(u.Series) > 0 || r.versions[k] != x.version {
			r.versions[k] = x.version
			all = append(all, u)
		}
	}
	return all
}

// sendEvery is how often numbers go to a browser.
const sendEvery = 100 * time.Millisecond

// ServeHTTP implements [http.Handler].
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.made("servehttp")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "want GET", http.StatusMethodNotAllowed)
		return
	}
	head := w.Header()
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("Referrer-Policy", "no-referrer")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	if p.server != nil && !p.answers(r.Host) {
		http.Error(w, fmt.Sprintf("this page is not served as %q: open it by its address or as localhost", r.Host), http.StatusForbidden)
		return
	}
	switch r.URL.Path {
	case "/", "":
		head.Set("Content-Type", "text/html; charset=utf-8")
		head.Set("Content-Security-Policy", "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		if r.Method == http.MethodGet {
			w.Write(html) // an error is the browser's, which went away
		}
	case "/events":
		p.events(w, r)
	default:
		http.NotFound(w, r)
	}
}

// answers reports whether the server of [Serve] is for this host. Others may lead to it by a name that was
// bound anew to its address, so that their pages could read the numbers.
func (p *Page) answers(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	return host == "localhost" || host == p.host || net.ParseIP(host) != nil
}

// events sends updates until the browser goes away or the page is closed.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	var seen reader
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	quiet := 0
	for {
		news := p.news(&seen)
		for _, u := range news {
			text, err := json.Marshal(u)
			if err != nil {
				return
			}
			if _, err := fmt.Fprintf(w, "data: %s\n\n", text); err != nil {
				return
			}
		}
		if quiet++; len(news) > 0 || quiet > 100 {
			if quiet > 100 {
				fmt.Fprint(w, ": still here\n\n") // finds out whether the browser is
			}
			quiet = 0
			if err := out.Flush(); err != nil {
				return
			}
		}
		select {
		case <-tick.C:
		case <-p.ended:
			return
		case <-r.Context().Done():
			return
		}
	}
}

func (p *Page) made(method string) {
	if p == nil || p.ended == nil {
		array.Failf("page", "", "%s of a Page that is nil or was not made by NewPage or Serve", method)
	}
}

// String returns the address.
func (p *Page) String() string {
	return array.Describe("live.Page", "URL", p.url)
}
