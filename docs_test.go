package weft_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"weft/internal/op"
)

// section is the part of a document under a heading.
func section(t *testing.T, file, heading string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(text), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("%s has no section %q", file, heading)
	}
	part, _, _ = strings.Cut(part, "\n## ")
	return part
}

// firstCells are the words in backquotes in the first cells of a section's tables.
func firstCells(part string) map[string]bool {
	out := map[string]bool{}
	quoted := regexp.MustCompile("`([^`]*)`")
	for line := range strings.Lines(part) {
		if cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " |"); ok && strings.HasPrefix(line, "| ") {
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				out[m[1]] = true
			}
		}
	}
	return out
}

// TestMap holds the map of docs/architecture.md to the folders with Go files: each is on it, but for
// those inside examples and bench, and it has no other.
func TestMap(t *testing.T) {
	onMap := firstCells(section(t, "docs/architecture.md", "The map"))
	there := map[string]bool{}
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch name := path.Base(p); {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(name, ".") || name == "testdata"):
			return fs.SkipDir
		case strings.HasSuffix(p, ".go"):
			dir := path.Dir(p)
			for _, whole := range []string{"examples", "bench"} {
				if strings.HasPrefix(dir, whole+"/") {
					dir = whole
				}
			}
			there[dir] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir := range there {
		if !onMap[dir] {
			t.Errorf("%s is missing in the map of docs/architecture.md: say there what lives in it", dir)
		}
	}
	for dir := range onMap {
		if !there[dir] {
			t.Errorf("the map of docs/architecture.md has %s, which is not a folder with Go files", dir)
		}
	}
}

// TestVariables holds the table of TESTING.md to the WEFT_ variables that code reads.
func TestVariables(t *testing.T) {
	listed := firstCells(section(t, "TESTING.md", "Variables"))
	read := map[string]string{}
	name := regexp.MustCompile(`WEFT_[A-Z0-9_]*[A-Z0-9]`)
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if base := filepath.Base(p); filepath.Ext(p) != ".go" && filepath.Ext(p) != ".py" && base != "run" || strings.HasPrefix(p, ".git"+string(filepath.Separator)) {
			return nil
		}
		text, err := os.ReadFile(p)
		for _, v := range name.FindAllString(string(text), -1) {
			read[v] = p
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for v, p := range read {
		if !listed[v] && p != "docs_test.go" {
			t.Errorf("%s, in %s, is missing in the table of TESTING.md", v, p)
		}
	}
	for v := range listed {
		if read[v] == "" {
			t.Errorf("TESTING.md lists %s, which nothing reads", v)
		}
	}
}

// TestCommands holds the commands of documents to the tests: each pattern of a go test
// command finds one in each of its packages.
func TestCommands(t *testing.T) {
	command := regexp.MustCompile("go test(?: -C (\\S+))?[^`]*? -(?:run|fuzz) '?([A-Z][A-Za-z0-9|]*)'?([^`&]*)`")
	tests := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w*)\(`)
	checked := 0
	for _, file := range []string{"README.md", "TESTING.md", "ROADMAP.md", "docs/architecture.md", "docs/numbers.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range command.FindAllStringSubmatch(string(text), -1) {
			pattern := regexp.MustCompile(m[2])
			for _, dir := range strings.Fields(m[3]) {
				if !strings.HasPrefix(dir, ".") || strings.HasSuffix(dir, "...") {
					continue
				}
				files, err := filepath.Glob(filepath.Join(m[1], dir, "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				found := false
				for _, f := range files {
					source, err := os.ReadFile(f)
					if err != nil {
						t.Fatal(err)
					}
					for _, name := range tests.FindAllSubmatch(source, -1) {
						found = found || pattern.Match(name[1])
					}
				}
				checked++
				if !found {
					t.Errorf("%s: no test of %s is found by %q", file, filepath.Join(m[1], dir), m[2])
				}
			}
		}
	}
	if checked < 15 {
		t.Errorf("only %d commands were checked", checked)
	}
}

// elsewhere are operations without a method or function of their name, and what reaches
// them.
var elsewhere = map[string]string{
	"select":           "Where",
	"cast":             "To",
	"copy":             "Clone",
	"iota":             "CrossEntropy",
	"powint":           "Pow",
	"kernel":           "Expr",
	"loop":             "Expr", // and package sym
	"branch":           "Expr", // and package sym
	"count_true":       "NonZero",
	"matmul2":          "MatMul",
	"term":             "MatMul", // of a column with a row
	"conv2d_core":      "Conv2d",
	"conv2d_input":     "Conv2d",    // its gradient
	"conv2d_weight":    "Conv2d",    // its gradient
	"max_pool2d_place": "MaxPool2d", // its gradient
	"max_pool2d_pick":  "MaxPool2d", // the gradient of that
	"window_mean":      "AvgPool2d",
	"window_spread":    "AvgPool2d",  // its gradient
	"mask_place":       "MaskSelect", // its gradient
	"scatter_sum":      "ScatterAdd",
	"interleave":       "AvgPool2d", // its gradient
	"place":            "Slice",     // its gradient
	"runs":             "Unique",
	"scan_sum":         "CumSum",
	"scan_prod":        "CumProd",
	"recurrence":       "CumProd", // its gradient
	"ravel_index":      "Index",
	"index_copy":       "IndexPut",
	"scatter_min":      "ScatterReduce",
	"scatter_max":      "ScatterReduce",
	"reduce_sum":       "Sum",
	"reduce_prod":      "Prod",
	"reduce_min":       "Min",
	"reduce_max":       "Max",
	"reduce_all":       "All",
	"reduce_any":       "Any",
	"reduce_argmin":    "ArgMin",
	"reduce_argmax":    "ArgMax",
}

// ofLists are operations on items of lists, which package ragged reaches.
const ofLists = "segment_"

// ofLayers is the operation that package nn reaches.
const ofLayers = "embedding_bag"

// TestOperationsHaveMethods fails where an operation cannot be reached: each has an
// exported function or method of package weft of its name, or is part of another that has.
func TestOperationsHaveMethods(t *testing.T) {
	plain := func(s string) string { return strings.ToLower(strings.ReplaceAll(s, "_", "")) }
	exported := map[string]bool{}
	for _, f := range sourceFiles(t, token.NewFileSet(), ".") {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Name.IsExported() {
				exported[plain(d.Name.Name)] = true
			}
		}
	}
	for _, d := range op.Table() {
		if strings.HasPrefix(d.Name, ofLists) || d.Name == ofLayers {
			continue
		}
		other, listed := elsewhere[d.Name]
		switch direct := exported[plain(d.Name)]; {
		case !direct && !listed:
			t.Errorf("%s has no method or function in package weft", d.Name)
		case direct && listed:
			t.Errorf("%s has a method of its own and is listed as part of %s", d.Name, other)
		case listed && !exported[plain(other)]:
			t.Errorf("%s is listed as part of %s, which there is not", d.Name, other)
		}
	}
	for name := range elsewhere {
		if op.Lookup(name) == nil {
			t.Errorf("%s, listed as part of %s, is not an operation", name, elsewhere[name])
		}
	}
}

// TestSkipsAreLoud holds every test that is left out to a reason that begins with SKIPPED,
// for which the output of a run can be searched.
func TestSkipsAreLoud(t *testing.T) {
	skip := regexp.MustCompile(`\.Skipf?\((.*)|\.SkipNow\(`)
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(p, "_test.go") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for _, m := range skip.FindAllStringSubmatch(string(text), -1) {
			if !strings.HasPrefix(m[1], `"SKIPPED: `) && p != "docs_test.go" {
				t.Errorf("%s leaves a test out without saying SKIPPED and why: %s", p, m[0])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
