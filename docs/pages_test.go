package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// holdPart holds the part of a page between two markers to a text; with -update it writes it.
func holdPart(t *testing.T, file, begin, end, part string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	old, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Fatalf("%s has no place between %q and %q", file, begin, end)
	case old == part:
	case !*update:
		t.Errorf("%s is out of date: go generate ./docs", file)
	default:
		if err := os.WriteFile(file, []byte(before+begin+part+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDecisions holds each page of decisions to one screen and a number of its own, and their
// list to the pages.
func TestDecisions(t *testing.T) {
	files, err := filepath.Glob("decisions/[0-9]*.md")
	if err != nil || len(files) < 30 {
		t.Fatal(files, err)
	}
	var list strings.Builder
	list.WriteString("\n")
	numbers := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(file)
		number := name[:4]
		if other := numbers[number]; other != "" {
			t.Errorf("%s and %s have the same number", name, other)
		}
		numbers[number] = name
		head, _, _ := strings.Cut(string(text), "\n")
		title, ok := strings.CutPrefix(strings.Replace(head, number+":", number, 1), "# "+number+" ")
		if !ok {
			t.Errorf("%s begins with %q, want \"# %s Title\"", name, head, number)
		}
		if n := len(text); n > 4000 {
			t.Errorf("%s has %d bytes, which is more than a screen", name, n)
		}
		fmt.Fprintf(&list, "- [%s](%s) %s\n", number, name, title)
	}
	holdPart(t, "decisions/README.md", "<!-- list: written by go generate ./docs -->\n", "<!-- end of list -->", list.String())
}

// TestPaths holds the files and folders that pages name to the source tree.
func TestPaths(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob("decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	pages = append(append(pages, more...), "../README.md", "../CONTRIBUTING.md", "../TESTING.md", "../ROADMAP.md", "../SECURITY.md", "../bench/README.md")
	code := regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	link := regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)
	source := regexp.MustCompile("`((?:internal|kernel|nn|optim|sym|ragged|records|safetensors|npy|checkpoint|docs|bench|examples|half|data|viewer|cmd)/[\\w./-]+|[a-z]\\w*\\.go)`")
	checked := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
		if !slices.Contains([]string{"architecture.md", "machine-code.md", "numbers.md", "glossary.md", "performance.md", "add-an-operation.md", "add-a-dtype.md"}, page) && !strings.HasPrefix(page, "decisions/") {
			continue
		}
		for _, m := range source.FindAllStringSubmatch(string(text), -1) {
			checked++
			if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
				t.Errorf("%s names %s, which is not there", page, m[1])
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d names of files were checked", checked)
	}
}

// TestResultsPage holds bench/RESULTS.md to the files in bench/results: each of their rows and lines
// is on the page. python3 bench/report.py renders it.
func TestResultsPage(t *testing.T) {
	text, err := os.ReadFile("../bench/RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]int{}
	for line := range strings.Lines(string(text)) {
		there[strings.TrimSuffix(line, "\n")]++
	}
	files, err := filepath.Glob("../bench/results/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	escape := strings.NewReplacer("|", `\|`, "*", `\*`)
	rows := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var results struct {
			Parts []struct {
				Columns []string
				Rows    [][]string
				Lines   []string
			}
		}
		if err := json.Unmarshal(data, &results); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		take := func(line string) {
			if there[line]--; there[line] < 0 {
				t.Errorf("bench/RESULTS.md lacks a line of %s: %s", file, line)
			}
		}
		for _, p := range results.Parts {
			for _, r := range p.Rows {
				if rows++; len(r) != len(p.Columns) {
					t.Errorf("%s: %q has %d cells, want %d", file, r, len(r), len(p.Columns))
				}
				take("| " + strings.ReplaceAll(escape.Replace(strings.Join(r, "\x00")), "\x00", " | ") + " |")
			}
			for _, l := range p.Lines {
				take("- " + escape.Replace(l))
			}
		}
	}
	if rows < 1000 {
		t.Errorf("only %d rows were checked", rows)
	}
}

// TestRows holds the page of rows to the tests that it names: each exists, and each row names one
// or says in words why there is none.
func TestRows(t *testing.T) {
	exists := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range regexp.MustCompile(`(?m)^func ((?:Test|Example)\w*)\(`).FindAllSubmatch(text, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("rows.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, line := range strings.Split(string(text), "\n") {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) < 3 || strings.HasPrefix(line, "|---") || strings.Contains(line, "| held by |") {
			continue
		}
		rows++
		names := regexp.MustCompile("`((?:Test|Example)\\w+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(names) == 0 && !regexp.MustCompile(`not here yet|left out|nothing`).MatchString(line) {
			t.Errorf("a row without a test: %s", line)
		}
		for _, n := range names {
			if !exists[n[1]] {
				t.Errorf("no test %s: %s", n[1], line)
			}
		}
	}
	if rows < 80 {
		t.Errorf("%d rows", rows)
	}
}
