package docs

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// packageOf returns the public packages by the types that they export, as docs/api lists them. A
// type that two packages export has the first of them.
func packageOf(t *testing.T) map[string]string {
	files, err := filepath.Glob("api/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("the lists of exported names are missing: ", err)
	}
	of := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		for _, m := range regexp.MustCompile(`(?m)^type (\w+)`).FindAllStringSubmatch(string(text), -1) {
			if of[m[1]] == "" {
				of[m[1]] = name
			}
		}
	}
	return of
}

// migration returns the first code of each cell of the table of migrations, "" if it has none.
func migration(t *testing.T) (before, now []string) {
	text, err := os.ReadFile("stability.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "| before | now |\n|---|---|\n")
	if !ok {
		t.Fatal("stability.md has no table of migrations")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	code := regexp.MustCompile("`([^`]*)`")
	first := func(cell string) string {
		if m := code.FindStringSubmatch(cell); m != nil {
			return m[1]
		}
		return ""
	}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, " | ")
		if len(cells) != 2 {
			t.Fatalf("%q has %d cells", row, len(cells))
		}
		before, now = append(before, first(cells[0])), append(now, first(cells[1]))
	}
	return before, now
}

// qualified parses an expression and names the packages of its exported types.
func qualified(t *testing.T, of map[string]string, code string) string {
	x, err := parser.ParseExpr(code)
	if err != nil {
		t.Errorf("%s: %v", code, err)
		return "0"
	}
	ast.Inspect(x, func(n ast.Node) bool {
		if lit, ok := n.(*ast.CompositeLit); ok {
			if id, ok := lit.Type.(*ast.Ident); ok {
				if of[id.Name] == "" {
					t.Errorf("%s: no package exports %s", code, id.Name)
				} else {
					id.Name = of[id.Name] + "." + id.Name
				}
			}
		}
		return true
	})
	var s strings.Builder
	if err := format.Node(&s, token.NewFileSet(), x); err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// faulty returns the expressions, by their index, that do not compile, with the compiler's words.
func faulty(t *testing.T, list []string) map[int]string {
	var code strings.Builder
	for _, x := range list {
		fmt.Fprintf(&code, "var _ = %s\n", x)
	}
	head := "package main\n" + imports(code.String()) + "func main() {}\n"
	cmd := exec.Command("go", "build", "-gcflags=-e", "-o", filepath.Join(t.TempDir(), "guide"), "-overlay="+overlay(t, map[string]string{"main.go": head + code.String()}), "./guide")
	out, err := cmd.CombinedOutput()
	bad := map[int]string{}
	for _, m := range regexp.MustCompile(`(?m)main\.go:(\d+):\d+: (.*)$`).FindAllStringSubmatch(string(out), -1) {
		var line int
		fmt.Sscan(m[1], &line)
		bad[line-strings.Count(head, "\n")-1] = m[2]
	}
	if err != nil && len(bad) == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	return bad
}

// TestMigrationTable holds the table of migrations to the compiler: the old form parses but no
// longer compiles, and the new form compiles.
func TestMigrationTable(t *testing.T) {
	of := packageOf(t)
	before, now := migration(t)
	var list []string
	old := map[int]bool{}
	for i := range before {
		if before[i] == "" {
			t.Errorf("row %d says nothing about the code before", i+1)
			continue
		}
		old[len(list)] = true
		list = append(list, qualified(t, of, before[i]))
		if now[i] != "" {
			list = append(list, qualified(t, of, now[i]))
		}
	}
	bad := faulty(t, list)
	for i, x := range list {
		switch why, is := bad[i]; {
		case is && !old[i]:
			t.Errorf("%s does not compile: %s", x, why)
		case !is && old[i]:
			t.Errorf("%s compiles: the row says nothing that a program must change, or belongs below the table", x)
		}
	}
	if len(old) == 0 {
		t.Errorf("the table is empty: %v", slices.Collect(maps.Keys(of)))
	}
}

// TestGoFixWritesDetach runs go fix, which turns NoGrad into Detach as the page says.
func TestGoFixWritesDetach(t *testing.T) {
	const before, after = "w.NoGrad().SubAssign(g)", "w.Detach().SubAssign(g)"
	text, err := os.ReadFile("stability.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(text), "\n", " "), "`go fix ./...` writes   `"+after+"` for `"+before+"`") {
		t.Error("the page says something else")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(mod), "\n")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  fmt.Sprintf("module guide\n%s\nrequire %s v0.0.0\nreplace %s => %s\n", requires, module, module, root),
		"go.sum":  string(sum),
		"main.go": "package main\n\nimport \"" + module + "\"\n\nfunc step(w, g *weft.Tensor) { " + before + " }\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "fix", ".")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := cmd.CombinedOutput()
	got, _ := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil || !strings.Contains(string(got), "func step(w, g *weft.Tensor) { "+after+" }") {
		t.Errorf("go fix: %v\n%s%s", err, out, got)
	}
}
