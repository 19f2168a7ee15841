package optest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"weft/internal/op"
)

// words are the first cells of the rows of a table in a document between two texts.
func words(t *testing.T, path, begin, end string, row *regexp.Regexp) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, part, ok := strings.Cut(string(text), begin)
	if !ok {
		t.Fatalf("%s has no %q", path, begin)
	}
	part, _, _ = strings.Cut(part, end)
	out := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(part, -1) {
		out[strings.ToLower(m[1])] = true
	}
	if len(out) == 0 {
		t.Fatalf("%s: no rows behind %q", path, begin)
	}
	return out
}

// checkMeasured demands of the row of a pointwise operation a measured error for float32 and for
// float64, each within the bound that the text above the table states.
func checkMeasured(t *testing.T, table, name string) {
	t.Helper()
	bounds := [2]float64{1, 2}
	if name == "digamma" {
		bounds = [2]float64{4, 4}
	}
	m := regexp.MustCompile(`(?mi)^//\t` + name + ` +(\S+) +\S+ +(\S+) +\S+$`).FindStringSubmatch(table)
	if m == nil {
		t.Errorf("the row of %s in internal/vmath/doc.go is not: function, error and argument for float32, the same for float64", name)
		return
	}
	for i, text := range m[1:] {
		if ulp, err := strconv.ParseFloat(text, 64); err != nil || !(ulp >= 0 && ulp <= bounds[i]) {
			t.Errorf("%s: %q is not a measured error of at most %v ULP for float%d", name, text, bounds[i], 32<<i)
		}
	}
}

// TestOperationsHaveAccuracy fails where an operation that rounds more than once has no
// row of its errors: elementwise ones in package vmath, where the worst is measured, the
// others in docs/numbers.md, where the bound is said that this package holds them to. Rows of
// what is not there fail as well.
func TestOperationsHaveAccuracy(t *testing.T) {
	functions := words(t, "../vmath/doc.go", "function   float32 ULP", "[PowInt]", regexp.MustCompile(`(?m)^//\t([A-Z]\w*) `))
	table, err := os.ReadFile("../vmath/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	bounds := map[string]bool{}
	rows := words(t, "../../docs/numbers.md", "## Accuracy", "\n## ", regexp.MustCompile("(?m)^\\| (`[^|]*`) \\|"))
	for row := range rows {
		for name := range strings.SplitSeq(row, ",") {
			bounds[strings.Trim(name, " `")] = true
		}
	}
	for _, d := range op.Table() {
		exact := true
		for _, c := range Cases(d) {
			r, refused := expect(&c)
			if !refused && !r.Exact && (r.Bound == nil || slices.ContainsFunc(r.Bound, func(b float64) bool { return b > 0 })) {
				exact = false
				break
			}
		}
		rows, where := bounds, "docs/numbers.md, Accuracy"
		if d.Class == op.Pointwise {
			rows, where = functions, "the table of errors in internal/vmath/doc.go"
		}
		if !exact && !rows[d.Name] {
			t.Errorf("%s rounds more than once and has no row in %s", d.Name, where)
		} else if exact && rows[d.Name] {
			t.Errorf("%s is exact and has a row in %s", d.Name, where)
		}
		if d.Class == op.Pointwise && functions[d.Name] {
			checkMeasured(t, string(table), d.Name)
		}
		delete(rows, d.Name)
	}
	files, err := filepath.Glob("../vmath/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func ([A-Z]\w*)\(`).FindAllStringSubmatch(string(text), -1) {
			delete(functions, strings.ToLower(m[1])) // what kernels call need be no operation
		}
	}
	for _, left := range []map[string]bool{functions, bounds} {
		for name := range left {
			t.Errorf("there is a row of errors of %s, which is not an operation", name)
		}
	}
}

// TestOperationsHaveIndependentReferences fails where the reference of an operation calls
// what it is to check: files of references may import types of ours alone, and call no
// function of theirs. (That every operation has one, Values checks.)
func TestOperationsHaveIndependentReferences(t *testing.T) {
	files, err := filepath.Glob("ref*.go")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if strings.HasPrefix(path, "weft") && !slices.Contains([]string{"weft/internal/array", "weft/internal/ir", "weft/internal/op"}, path) {
				t.Errorf("%s imports %s", name, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && (x.Name == "op" || x.Name == "ir") {
					t.Errorf("%s calls %s.%s", fset.Position(call.Pos()), x.Name, s.Sel.Name)
				}
			}
			return true
		})
	}
}
