package htmlview_test

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"weft"
	"weft/internal/htmlview"
	"weft/internal/jit"
	"weft/kernel"
)

const stepSource = `package k

func Step(x, v float64) float64 {
	a := -x * v
	if a > 2 {
		return a
	}
	return x + a/3
}
`

// kernelPage is the page of a Go function.
func kernelPage(t *testing.T) string {
	t.Helper()
	f := kernel.MustParse(stepSource).Func("Step")
	var page strings.Builder
	if err := f.View(&page, weft.OnesOf(weft.Float64, 300), weft.OnesOf(weft.Float64, 300)); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// compiledPage is the page of a compiled function that rewriting changes.
func compiledPage(t *testing.T) string {
	t.Helper()
	f := weft.Compile(func(x *weft.Tensor) *weft.Tensor { return x.Exp().Log().Mul(1).Add(x.Exp()).Sum(1) })
	f.Call(weft.Ones(20, 30))
	var page strings.Builder
	if err := f.View(&page, nil); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

func column(t *testing.T, p htmlview.Page, title string) htmlview.Column {
	t.Helper()
	for _, c := range p.Columns {
		if c.Title == title {
			return c
		}
	}
	t.Fatalf("no column %s", title)
	return htmlview.Column{}
}

// holds reports whether a column has a row with the text that is all of the keys.
func holds(c htmlview.Column, text string, keys ...string) bool {
	return slices.ContainsFunc(c.Rows, func(r htmlview.Row) bool {
		for _, k := range keys {
			if !slices.Contains(r.Is, k) {
				return false
			}
		}
		return strings.Contains(r.Text, text)
	})
}

// TestColumnsOfEachBackend runs TestColumns again under each instruction set.
func TestColumnsOfEachBackend(t *testing.T) {
	for _, isa := range jit.ISAs() {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestColumns$", "-test.v")
		c.Env = append(os.Environ(), "WEFT_JIT="+isa.String())
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "backend "+isa.String()) {
			t.Errorf("WEFT_JIT=%s: %v\n%s", isa, err, out)
		}
	}
}

// TestColumns holds a page to a column for each pass, and rows to keys that other columns have.
func TestColumns(t *testing.T) {
	isa := jit.Chosen().ISA
	t.Log("backend", isa)
	code := map[jit.ISA]string{jit.Portable: "interpreted", jit.AVX2: "ymm", jit.AVX512: "zmm"}[isa]
	for name, c := range map[string]struct {
		page   string
		titles []string
	}{
		"formula":  {formulaPage(t), []string{"source", "graph", "plan", "loop program", "machine code"}},
		"kernel":   {kernelPage(t), []string{"source", "graph", "plan", "loop program", "machine code"}},
		"compiled": {compiledPage(t), []string{"source", "traced", "rewritten", "plan", "loop program", "machine code"}},
	} {
		p := data(t, c.page)
		var titles []string
		for _, x := range p.Columns {
			titles = append(titles, x.Title)
			if len(x.Rows) == 0 {
				t.Errorf("%s: the column %s is empty", name, x.Title)
			}
		}
		for _, want := range c.titles {
			if !slices.Contains(titles, want) {
				t.Errorf("%s: columns %q lack %s", name, titles, want)
			}
		}
		if m := column(t, p, "machine code"); !holds(m, code, "step 0") && !holds(m, code, "step 1") {
			t.Errorf("%s: no %s in the machine code for %s", name, code, isa)
		}
	}

	p := data(t, kernelPage(t))
	for line, ops := range map[int][2]string{4: {"mul.f64", "vmulpd"}, 8: {"div.f64", "vdivpd"}} {
		key := fmt.Sprint("line ", line)
		if !holds(column(t, p, "source"), "", key) || !holds(column(t, p, "loop program"), ops[0], key, "step 0") {
			t.Errorf("line %d is not in the source and beside %s of the loop program", line, ops[0])
		}
		if isa != jit.Portable && !holds(column(t, p, "machine code"), ops[1], key) {
			t.Errorf("line %d is not beside %s of the machine code", line, ops[1])
		}
	}
	// A value that rewriting leaves is the same in both graphs, and points at the user's line.
	p = data(t, compiledPage(t))
	for _, title := range []string{"traced", "rewritten"} {
		i := slices.IndexFunc(column(t, p, title).Rows, func(r htmlview.Row) bool { return strings.Contains(r.Text, "exp #") })
		if i < 0 {
			t.Fatalf("no exp in %s", title)
		}
		keys := column(t, p, title).Rows[i].Is
		if len(keys) != 2 || !holds(column(t, p, "traced"), "exp", keys[0]) || !strings.HasPrefix(keys[1], "line columns_test.go:") || !holds(column(t, p, "source"), "columns_test.go:", keys[1]) {
			t.Errorf("exp in %s is %q", title, keys)
		}
	}
}

// TestColumnsInBrowser moves the mouse over a line of the source: rows of every column that come
// from it are marked.
func TestColumnsInBrowser(t *testing.T) {
	b := openPage(t, write(t, kernelPage(t)))
	b.click("#passes")
	b.eval(`[...document.querySelectorAll("#columns section:first-child div div")].find(d => d.textContent.includes("a := -x * v")).dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	if n := b.eval(`document.querySelectorAll("#columns section:nth-child(4) .same").length`).(float64); n == 0 {
		t.Error("no row of the loop program is marked")
	}
	if s := b.eval(`[...document.querySelectorAll("#columns section:nth-child(4) .same")].some(d => d.textContent.includes("mul.f64"))`); s != any(true) {
		t.Error("the multiplication is not marked")
	}
	if n := b.eval(`document.querySelectorAll("#columns section:first-child .same").length`); n != any(1.0) {
		t.Errorf("%v lines of the source are marked", n)
	}
	if n := b.eval(`performance.getEntriesByType("resource").length`); n != any(0.0) {
		t.Errorf("%v resources were loaded", n)
	}
	if dir := os.Getenv("TMPDIR"); dir != "" {
		b.shot(dir + "/columns.png")
	}
	if len(b.faults) > 0 {
		t.Error(b.faults)
	}
}
