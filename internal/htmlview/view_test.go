package htmlview_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"weft"
	"weft/internal/array"
	"weft/internal/graphtext"
	"weft/internal/htmlview"
	"weft/internal/ir"
	"weft/internal/jit"
	"weft/internal/op"
)

// formulaPage is the page of a formula with a product, its epilogue, a row kernel and a gradient's
// worth of nodes.
func formulaPage(t *testing.T) string {
	t.Helper()
	f, err := weft.ParseExpr("softmax(dot(x, w) + b, 1)*log1p(exp(-b)) + 0.5*lr")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	if err := f.View(&page, weft.Vars{"x": weft.Ones(64, 32), "w": weft.Ones(32, 48), "b": weft.Ones(48), "lr": 2}); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// data is what a page shows.
func data(t *testing.T, page string) (p htmlview.Page) {
	t.Helper()
	_, text, ok := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, end := strings.Cut(text, "</script>")
	if !ok || !end {
		t.Fatal("the page has no data")
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return p
}

// placed holds a drawing to: boxes do not overlap, and each is below all that it reads.
func placed(t *testing.T, p htmlview.Phase) {
	t.Helper()
	for i, a := range p.Boxes {
		for _, r := range a.Reads {
			if b := p.Boxes[r]; b.Y+b.H >= a.Y {
				t.Errorf("%s: %s at %d is not below %s, which ends at %d", p.Name, a.Title, a.Y, b.Title, b.Y+b.H)
			}
		}
		for _, b := range p.Boxes[:i] {
			if 2*abs(a.X-b.X) < a.W+b.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s: %s and %s overlap", p.Name, a.Title, b.Title)
			}
		}
	}
}

func abs(x int) int { return max(x, -x) }

// A page is one file, which says what a formula becomes.
func TestPageOfFormula(t *testing.T) {
	text := formulaPage(t)
	if s := regexp.MustCompile(`\ssrc=|\shref=|url\([^#]|@import|fetch\(|XMLHttp|import\(`).FindString(text); s != "" {
		t.Errorf("the page loads something: %s", s)
	}
	p := data(t, text)
	if len(p.Phases) != 2 || p.Phases[0].Name != "graph" || p.Phases[1].Name != "plan" {
		t.Fatalf("phases: %+v", p.Phases)
	}
	titles := map[string]htmlview.Box{}
	for _, ph := range p.Phases {
		placed(t, ph)
		for _, b := range ph.Boxes {
			titles[b.Title] = b
		}
	}
	for _, want := range []string{"x", "w", "b", "(0.5 * lr)", "exp", "matmul2", "reduce_max{1:2}", "out"} {
		if _, ok := titles[want]; !ok {
			t.Errorf("no box %s", want)
		}
	}
	kernels, shares := 0, 0.0
	for _, b := range p.Phases[1].Boxes {
		if b.Kind != "kernel" && b.Kind != "routine" {
			continue
		}
		kernels++
		shares += b.Share
		all := fmt.Sprint(b.Detail)
		if b.Kind == "kernel" && (!strings.Contains(all, "kernel "+b.Title) || !strings.Contains(all, "GB/s")) {
			t.Errorf("%s opens to %s", b.Title, all)
		}
		if b.Kind == "kernel" && jit.Chosen().ISA != jit.Portable && !strings.Contains(strings.ToLower(all), "ret") {
			t.Errorf("%s has no machine code", b.Title)
		}
	}
	if kernels < 2 || shares < 0.99 || shares > 1.01 {
		t.Errorf("%d kernels with shares of %v", kernels, shares)
	}
}

// What a user writes is text on the page, whatever it is.
func TestPageEscapes(t *testing.T) {
	g := ir.New()
	out := op.Apply(op.Exp, nil, g.Input(0, array.Float32, []int{2}))
	hostile := `</script><script>window.hit = 1</script><img src=x onerror="window.hit = 1">`
	p := htmlview.Page{Title: hostile, Notes: hostile, Columns: []htmlview.Column{{Title: hostile, Rows: []htmlview.Row{{Text: hostile, Is: []string{hostile}}}}}, Phases: []htmlview.Phase{htmlview.Graph(hostile, []*ir.Node{out}, graphtext.Names{
		Inputs: []string{hostile}, Note: func(*ir.Node) string { return hostile + "{{title}}{{data}}" }})}}
	var s strings.Builder
	if err := p.Write(&s); err != nil {
		t.Fatal(err)
	}
	if got := data(t, s.String()); got.Title != hostile || got.Phases[0].Boxes[0].Title != hostile {
		t.Errorf("title %q", got.Title)
	}
	b := openPage(t, write(t, s.String()))
	b.click("#text")
	b.click("#passes")
	if n := b.eval(`document.querySelectorAll("#columns div div").length`); n != any(1.0) {
		t.Errorf("%v rows", n)
	}
	if b.eval("window.hit") != nil || b.eval("document.title") != any(hostile) {
		t.Error("text of the user became part of the page")
	}
	if len(b.faults) > 0 {
		t.Error(b.faults)
	}
}

// A drawing of a large graph takes linear time, and nothing of it overlaps.
func TestDrawingOfLargeGraph(t *testing.T) {
	g := ir.New()
	var outs []*ir.Node
	for i := range 300 {
		x := g.Input(i, array.Float32, []int{2})
		for range 5 {
			x = op.Apply(op.Sin, nil, op.Apply(op.Mul, nil, x, x))
		}
		outs = append(outs, x)
	}
	placed(t, htmlview.Graph("graph", outs, graphtext.Names{}))
	big := g.Input(0, array.Float32, []int{2})
	for range 10000 {
		big = op.Apply(op.Exp, nil, op.Apply(op.Sin, nil, big))
	}
	if p := htmlview.Graph("graph", []*ir.Node{big}, graphtext.Names{}); len(p.Boxes) != 20002 {
		t.Errorf("%d boxes", len(p.Boxes))
	}
}

// The page in a browser: every phase is drawn, boxes open, search finds, the wheel zooms,
// the mouse moves the drawing, and nothing is loaded.
func TestBrowser(t *testing.T) {
	text := formulaPage(t)
	p := data(t, text)
	b := openPage(t, write(t, text))
	count := func(selector string) int {
		return int(b.eval(fmt.Sprintf("document.querySelectorAll(%q).length", selector)).(float64))
	}
	for i := range p.Phases {
		b.click(fmt.Sprintf("#phases button:nth-child(%d)", i+1))
		edges := 0
		for _, box := range p.Phases[i].Boxes {
			edges += len(box.Reads)
		}
		if n := count("g[data-box]"); n != len(p.Phases[i].Boxes) {
			t.Errorf("%s: %d of %d boxes", p.Phases[i].Name, n, len(p.Phases[i].Boxes))
		}
		if n := count("#scene path"); n != edges {
			t.Errorf("%s: %d of %d edges", p.Phases[i].Name, n, edges)
		}
		// All of it is in sight.
		if b.eval(`[...document.querySelectorAll("g[data-box]")].every(g => { const r = g.getBoundingClientRect(); return r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight + 1; })`) != any(true) {
			t.Errorf("%s: boxes are out of sight", p.Phases[i].Name)
		}
		// Text stays in its box.
		if b.eval(`[...document.querySelectorAll("g[data-box]")].every(g => { const r = g.querySelector("rect").getBBox(); return [...g.querySelectorAll("text")].every(t => t.getBBox().width <= r.width + 2); })`) != any(true) {
			t.Errorf("%s: text is wider than its box", p.Phases[i].Name)
		}
	}
	if n := count("#side.open"); n != 0 {
		t.Error("the side is open before anything was clicked")
	}
	// The last phase is the plan: a kernel opens, and closes.
	b.click("g.kernel")
	side := fmt.Sprint(b.eval(`document.querySelector("#side.open").innerText`))
	if !strings.Contains(side, "loop program") || !strings.Contains(side, "kernel ") || !strings.Contains(side, "machine code") {
		t.Errorf("a kernel opens to %s", side)
	}
	if shot := os.Getenv("TMPDIR"); shot != "" {
		b.shot(shot + "/view.png")
	}
	b.click("g.kernel")
	if count("#side.open") != 0 {
		t.Error("a second click does not close it")
	}
	b.click("#text")
	if s := fmt.Sprint(b.eval(`document.querySelector("#side.open").innerText`)); !strings.Contains(s, "step 0") {
		t.Errorf("the plan as text: %s", s)
	}
	b.click("#text")
	// What takes more of the time is coloured otherwise.
	if b.eval(`document.querySelector("g.kernel rect").style.fill !== ""`) != any(true) {
		t.Error("kernels have no colour by time")
	}
	// Search.
	b.click("#phases button:nth-child(1)")
	b.click("#search")
	b.call("Input.insertText", map[string]any{"text": "Exp"}, nil)
	hits := 0
	for _, box := range p.Phases[0].Boxes {
		if strings.Contains(strings.ToLower(box.Title+strings.Join(box.Lines, " ")), "exp") {
			hits++
		}
	}
	if n := count("g.hit"); n != hits || hits == 0 {
		t.Errorf("search finds %d, want %d", n, hits)
	}
	if s := b.eval(`document.querySelector("#found").textContent`); s != any(fmt.Sprintf("%d of %d", hits, len(p.Phases[0].Boxes))) {
		t.Errorf("found: %v", s)
	}
	// Zoom about the mouse, and drag.
	transform := func() string { return fmt.Sprint(b.eval(`document.querySelector("#scene").getAttribute("transform")`)) }
	scale := func() float64 { return b.eval(`document.querySelector("#scene").getCTM().a`).(float64) }
	before, k := transform(), scale()
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseWheel", "x": 500, "y": 400, "deltaX": 0, "deltaY": -300}, nil)
	for range 50 {
		if scale() > k {
			break
		}
	}
	if scale() <= 1.2*k {
		t.Errorf("the wheel does not zoom: %s, then %s", before, transform())
	}
	before = transform()
	for i, what := range []string{"mousePressed", "mouseMoved", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": what, "x": 30 + 100*min(i, 1), "y": 700, "button": "left", "buttons": 1, "clickCount": 1}, nil)
	}
	if transform() == before {
		t.Error("dragging does not move the drawing")
	}
	b.click("#fit")
	if n := b.eval(`performance.getEntriesByType("resource").length`); n != any(0.0) {
		t.Errorf("%v resources were loaded", n)
	}
	if len(b.faults) > 0 {
		t.Error(b.faults)
	}
}
