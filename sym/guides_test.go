package sym_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets of the guides run, and print what stands behind them: blocks of "go" are the
// bodies of functions, each with its output in the block behind it.
func TestGuides(t *testing.T) {
	for _, guide := range []string{"from-theano.md", "from-torch-compile-and-jax.md"} {
		t.Run(guide, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "docs", guide))
			if err != nil {
				t.Fatal(err)
			}
			var bodies, want []string
			for k, block := range strings.Split(string(text), "```") {
				if k%2 == 0 {
					continue
				}
				if language, body, _ := strings.Cut(block, "\n"); language == "go" {
					bodies = append(bodies, body)
				} else {
					want = append(want, body)
				}
				if n := len(bodies) - len(want); n < 0 || n > 1 {
					t.Fatalf("a snippet and its output do not alternate:\n%s", block)
				}
			}
			if len(bodies) < 3 || len(want) != len(bodies) {
				t.Fatalf("%d snippets, %d outputs", len(bodies), len(want))
			}
			imports := "\"fmt\"\n\"weft\"\n"
			if strings.Contains(strings.Join(bodies, ""), "sym.") {
				imports += "\"weft/sym\"\n"
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
		})
	}
}
