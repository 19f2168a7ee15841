package ragged_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets of the guide from NumPy run, and print what stands behind them: blocks of "go" are
// bodies of functions, each with its output in the block behind it.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "from-numpy.md"))
	if err != nil {
		t.Fatal(err)
	}
	var bodies, want []string
	for k, block := range strings.Split(string(text), "```") {
		if k%2 == 0 {
			continue
		}
		language, body, _ := strings.Cut(block, "\n")
		switch {
		case language == "go" && len(bodies) == len(want):
			bodies = append(bodies, body)
		case language == "" && len(bodies) == len(want)+1:
			want = append(want, body)
		default:
			t.Fatalf("a snippet without output, or output without a snippet:\n%s", body)
		}
	}
	if len(bodies) < 4 || len(want) != len(bodies) {
		t.Fatalf("%d snippets, %d outputs", len(bodies), len(want))
	}
	all := strings.Join(bodies, "")
	imports := "\"fmt\"\n"
	for _, pkg := range []string{"weft", "weft/npy", "weft/ragged"} {
		if strings.Contains(all, filepath.Base(pkg)+".") {
			imports += fmt.Sprintf("%q\n", pkg)
		}
	}
	const between = "<<<\n"
	main, calls := "package main\nimport (\n"+imports+")\n", ""
	for i, b := range bodies {
		main += fmt.Sprintf("func snippet%d() {\n%s}\n", i, b)
		calls += fmt.Sprintf("snippet%d()\nfmt.Print(%q)\n", i, between)
	}
	main += "func main() {\n" + calls + "}\n"
	// Inside the module, in a folder that its packages do not include.
	dir, err := os.MkdirTemp("testdata", "guide")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(main), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	got := strings.Split(string(out), between)
	for i := range bodies {
		if got[i] != want[i] {
			t.Errorf("snippet\n%sprints\n%sand the guide says\n%s", bodies[i], got[i], want[i])
		}
	}
}
