package train_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"weft"
	"weft/train"
	"weft/train/live"
)

// A liveRun is what a client knows of a run.
type liveRun struct {
	Name, Status  string
	Epochs, Steps int
	series        map[string][][2]*float64
}

// watch reads the events of a page until done says so, and returns the runs.
func watch(t *testing.T, url string, done func(runs []liveRun) bool) (runs []liveRun) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"events", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the events are %q", kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<24)
	for !done(runs) {
		if !lines.Scan() {
			t.Fatalf("the events end: %v", lines.Err())
		}
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok {
			continue
		}
		var u struct {
			Run int
			liveRun
			Series []struct {
				Name   string
				From   int
				Points [][2]*float64
			}
		}
		if err := json.Unmarshal([]byte(text), &u); err != nil {
			t.Fatal(err)
		}
		for len(runs) <= u.Run {
			runs = append(runs, liveRun{series: map[string][][2]*float64{}})
		}
		u.series = runs[u.Run].series
		for _, s := range u.Series {
			if s.From > len(u.series[s.Name]) {
				t.Fatalf("%s goes on at %d, behind %d points", s.Name, s.From, len(u.series[s.Name]))
			}
			u.series[s.Name] = append(u.series[s.Name][:s.From:s.From], s.Points...)
		}
		runs[u.Run] = u.liveRun
	}
	return runs
}

func ended(n int) func(runs []liveRun) bool {
	return func(runs []liveRun) bool {
		return len(runs) == n && !slices.ContainsFunc(runs, func(r liveRun) bool { return r.Status == "running" || r.Status == "waiting" })
	}
}

// TestLivePage follows two trainings over HTTP while they run, and again when they are over: the same
// numbers as in their histories.
func TestLivePage(t *testing.T) {
	page, err := live.Serve("localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	first := newJob(train.Opts{Callbacks: []train.Callback{page.Run("first")}})
	fails := train.Callback{Epoch: func(train.Epoch) error { return errors.New("no luck") }}
	second := newJob(train.Opts{Callbacks: []train.Callback{page.Run("second"), fails}})
	go func() {
		first.fit(t.Context(), 3)
		second.fit(t.Context(), 3)
	}()
	during := watch(t, page.URL(), ended(2))
	after := watch(t, page.URL(), ended(2))
	for _, runs := range [][]liveRun{during, after} {
		if r := runs[0]; r.Name != "first" || r.Status != "done" || r.Epochs != 3 || r.Steps != 7 {
			t.Errorf("the first run is %+v", r)
		}
		if r := runs[1]; r.Name != "second" || r.Status != "failed: no luck" || len(r.series["step/loss"]) != 7 {
			t.Errorf("the second run is %+v", r)
		}
		h := first.t.History()
		for i, p := range runs[0].series["step/loss"] {
			if *p[0] != float64(i+1) || *p[1] != h.Losses[i] {
				t.Fatalf("point %d is %v, %v, want the loss %v", i, *p[0], *p[1], h.Losses[i])
			}
		}
		var accuracy [][2]float64
		for _, p := range runs[0].series["val_accuracy"] {
			accuracy = append(accuracy, [2]float64{*p[0], *p[1]})
		}
		var want [][2]float64
		for _, e := range h.Epochs {
			want = append(want, [2]float64{float64(e.Step), e.Values.Get("val_accuracy")})
		}
		if len(runs[0].series["step/loss"]) != 21 || !slices.Equal(accuracy, want) {
			t.Errorf("%d losses, accuracies %v, want 21 and %v", len(runs[0].series["step/loss"]), accuracy, want)
		}
	}
}

// TestLivePageOfALongRun has more points than a browser gets, and numbers that JSON does not have.
func TestLivePageOfALongRun(t *testing.T) {
	page := live.NewPage()
	server := httptest.NewServer(page)
	defer server.Close()
	defer page.Close()
	run := page.Run("long")
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(run.Begin(&train.Run{History: &train.History{Losses: []float64{math.NaN(), 1}}}))
	const steps = 100_000
	for i := 3; i <= steps; i++ {
		must(run.Step(train.Step{Step: i, Values: train.Values{{Name: "loss", Number: float64(i)}}}))
	}
	must(run.End(&train.Interrupted{Err: context.Canceled}))
	r := watch(t, server.URL+"/", ended(1))[0]
	points := r.series["step/loss"]
	if n := len(points); r.Status != "interrupted" || n < 1000 || n > 1<<15 {
		t.Fatalf("%s with %d points", r.Status, n)
	}
	for i, p := range points {
		if p[1] == nil || *p[0] != *p[1] || i > 0 && *p[0] <= *points[i-1][0] {
			t.Fatalf("point %d is %v %v", i, *p[0], p[1])
		}
	}
	if last := points[len(points)-1]; *last[0] < steps-8 {
		t.Errorf("the last point is at step %v", *last[0])
	}
	run = page.Run("short")
	must(run.Begin(&train.Run{History: &train.History{Losses: []float64{math.NaN()}}}))
	must(run.End(nil))
	if p := watch(t, server.URL+"/", ended(2))[1].series["step/loss"]; len(p) != 1 || p[0][1] != nil {
		t.Errorf("NaN is %v", p)
	}
}

// TestLivePageAnswers requests with other paths and methods, and closes.
func TestLivePageAnswers(t *testing.T) {
	page, err := live.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"": 200, "x": 404, "events/": 404} {
		answer, err := http.Get(page.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != want || want == 200 && !strings.Contains(string(body), "EventSource") {
			t.Errorf("%q: %d, error %v", path, answer.StatusCode, err)
		}
		if path == "" && strings.Contains(string(body), "://") {
			t.Error("the page loads something from elsewhere")
		}
	}
	if answer, err := http.Post(page.URL(), "text/plain", strings.NewReader("x")); err != nil || answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v, error %v", answer, err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page.URL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Host = "evil.example"
	if answer, err := http.DefaultClient.Do(request); err != nil || answer.StatusCode != http.StatusForbidden {
		t.Errorf("another host: %v, error %v", answer, err)
	}
	if _, err := live.Serve("no address"); err == nil {
		t.Error("no address is served")
	}
	page.Close()
	page.Close()
	if _, err := http.Get(page.URL()); err == nil {
		t.Error("a closed page answers")
	}
	if err := weft.Try(func() { new(live.Page).Run("x") }); err == nil || !strings.Contains(err.Error(), "NewPage") {
		t.Errorf("error %v, want one that names NewPage", err)
	}
}

// TestLivePageInABrowser opens the page in a browser without a window, which draws a curve for each name.
func TestLivePageInABrowser(t *testing.T) {
	browser := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "chrome-headless-shell"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" || testing.Short() {
		t.Skip("SKIPPED: no browser of the Chromium family is installed, or -short is given")
	}
	page := live.NewPage()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" { // a browser without a window waits until they end
			time.AfterFunc(300*time.Millisecond, page.Close)
		}
		page.ServeHTTP(w, r)
	}))
	defer server.Close()
	for _, name := range []string{"first", "second"} {
		if _, err := newJob(train.Opts{Callbacks: []train.Callback{page.Run(name)}}).fit(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(), "--no-first-run", "--disable-dev-shm-usage",
		"--virtual-time-budget=1000", "--dump-dom", server.URL).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"first", "second", "done, step 14 of 14", `id="chart-loss"`, `id="chart-accuracy"`, `id="chart-f1"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the page lacks %s:\n%s", want, out)
		}
	}
}
