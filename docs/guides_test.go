package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// packages are those that snippets may name; they are imported where they are named.
var packages = []string{
	"fmt", "math", "os", "weft", "weft/data", "weft/dlpack", "weft/kernel", "weft/nn", "weft/npy", "weft/optim", "weft/ragged", "weft/sym",
}

// A guide is what a page says in code: blocks of "go" are the bodies of functions, each with
// its output in the block behind it, blocks of "go kernels" the functions of one file.
type guide struct {
	kernels      string
	bodies, want []string
}

func read(t *testing.T, file string) *guide {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	g := &guide{}
	blocks := strings.Split(string(text), "```")
	if len(blocks)%2 == 0 {
		t.Fatal("a block of code does not end")
	}
	for k := 1; k < len(blocks); k += 2 {
		language, body, _ := strings.Cut(blocks[k], "\n")
		switch waits := len(g.bodies) > len(g.want); {
		case language == "go kernels":
			g.kernels += body + "\n"
		case language == "go" && !waits:
			g.bodies = append(g.bodies, body)
		case language == "" && waits:
			g.want = append(g.want, body)
		case language != "":
			t.Fatalf("neither a snippet nor the output of the one before:\n%s", blocks[k])
		}
	}
	if len(g.bodies) != len(g.want) {
		t.Fatalf("no output stands behind\n%s", g.bodies[len(g.want)])
	}
	return g
}

// imports are those of a file with this code.
func imports(code string) string {
	var s strings.Builder
	for _, p := range packages {
		if strings.Contains(code, p[strings.LastIndex(p, "/")+1:]+".") {
			fmt.Fprintf(&s, "import %q\n", p)
		}
	}
	return s.String()
}

// TestGuides runs the snippets of all pages: they print what stands behind them.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages: ", err)
	}
	for _, page := range pages {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			g := read(t, page)
			if len(g.bodies) == 0 {
				return
			}
			const between = "<<<\n"
			var code, calls strings.Builder
			for i, b := range g.bodies {
				fmt.Fprintf(&code, "func snippet%d() {\n%s}\n", i, b)
				fmt.Fprintf(&calls, "snippet%d()\nfmt.Print(%q)\n", i, between)
			}
			fmt.Fprintf(&code, "func main() {\n%s}\n", &calls)
			files := map[string]string{}
			if g.kernels != "" {
				files["kernels.go"] = "package main\n" + imports(g.kernels) + g.kernels
				code.WriteString("//go:embed kernels.go\nvar source string\nvar kernels = kernel.MustParse(source)\n")
			}
			files["main.go"] = "package main\n" + imports(code.String()) + "import _ \"embed\"\n" + code.String()
			// Inside the module, in a folder that its packages do not include.
			dir, err := os.MkdirTemp(".", "_guide")
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			for name, s := range files {
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
			for i := range g.bodies {
				if got[i] != g.want[i] {
					t.Errorf("snippet\n%sprints\n%sand the page says\n%s", g.bodies[i], got[i], g.want[i])
				}
			}
		})
	}
}
