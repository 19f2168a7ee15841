package kernel_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets of the guides run, and print what stands behind them: blocks of "go kernels"
// are functions of one file, others of "go" the bodies of functions, each with its output
// in the block behind it.
func TestGuides(t *testing.T) {
	for _, guide := range []string{"from-numba.md", "from-matlab.md"} {
		t.Run(guide, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join("..", "docs", guide))
			if err != nil {
				t.Fatal(err)
			}
			var kernels, bodies, want []string
			waits := false
			for k, block := range strings.Split(string(text), "```") {
				if k%2 == 0 {
					continue
				}
				language, body, _ := strings.Cut(block, "\n")
				switch {
				case language == "go kernels":
					kernels = append(kernels, body)
				case language == "go":
					if waits {
						t.Fatalf("a snippet has no output behind it:\n%s", bodies[len(bodies)-1])
					}
					bodies, waits = append(bodies, body), true
				case waits:
					want, waits = append(want, body), false
				}
			}
			if len(bodies) == 0 || len(want) != len(bodies) || len(kernels) == 0 {
				t.Fatalf("%d snippets, %d outputs, %d blocks of kernels", len(bodies), len(want), len(kernels))
			}
			imports := "\"weft/kernel\"\n"
			if strings.Contains(strings.Join(kernels, ""), "math.") {
				imports += "\"math\"\n"
			}
			main := "package main\nimport (\n_ \"embed\"\n\"fmt\"\n\"weft\"\n\"weft/kernel\"\n)\n//go:embed kernels.go\nvar source string\nvar kernels = kernel.MustParse(source)\n"
			const between = "<<<\n"
			calls := ""
			for i, b := range bodies {
				main += fmt.Sprintf("func snippet%d() {\n%s}\n", i, b)
				calls += fmt.Sprintf("snippet%d()\nfmt.Print(%q)\n", i, between)
			}
			main += "func main() {\n" + calls + "}\n"
			root, err := filepath.Abs("..")
			if err != nil {
				t.Fatal(err)
			}
			// Inside the module, in a folder that its packages do not include.
			dir, err := os.MkdirTemp(filepath.Join(root, "kernel", "testdata"), "guide")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			for name, s := range map[string]string{"main.go": main, "kernels.go": "package main\nimport (\n" + imports + ")\n" + strings.Join(kernels, "\n")} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(s), 0o644); err != nil {
					t.Fatal(err)
				}
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
