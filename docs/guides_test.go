package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"weft"
)

// module is the path of package weft.
var module = reflect.TypeFor[weft.Tensor]().PkgPath()

// packages maps the names that snippets may use to import paths.
var packages = map[string]string{"bytes": "bytes", "context": "context", "errors": "errors", "fmt": "fmt", "math": "math", "os": "os", "filepath": "path/filepath", "strings": "strings", "image": "image", "png": "image/png", "weft": module, "transforms": module + "/data/transforms", "live": module + "/train/live"}

func init() {
	for _, name := range []string{"checkpoint", "data", "distributions", "dlpack", "kernel", "models", "nn", "npy", "onnx", "optim", "plot", "ragged", "records", "safetensors", "sym", "tokenizers", "torchfile", "linalg", "special", "train", "fft", "signal", "sparse", "ndimage", "table"} {
		packages[name] = module + "/" + name
	}
}

// A guide holds the code of a page. A block of "go" is the body of a function, and the next block
// its output. Blocks of "go kernels" are the functions of one file.
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

// imports returns the import declarations that a file with this code needs.
func imports(code string) string {
	var s strings.Builder
	if strings.Contains(code, "signal.Notify") {
		code = strings.ReplaceAll(code, "signal.", "") // Go's package of that name
		s.WriteString("import \"os/signal\"\n")
	}
	for _, name := range slices.Sorted(maps.Keys(packages)) {
		if regexp.MustCompile(`\b` + name + `\.[A-Z]`).MatchString(code) {
			fmt.Fprintf(&s, "import %q\n", packages[name])
		}
	}
	return s.String()
}

// overlay writes files to a temporary folder, and a list for go -overlay that puts them into the
// folder "guide" of this package. So they can import what the module imports, while the source tree
// stays as it is.
func overlay(t *testing.T, files map[string]string) string {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		at := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(here, "guide", name)] = at
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(at, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return at
}

// TestGuides runs the snippets of all pages: each prints the block that follows it. One program has a
// package for each page, because to link one for each page takes a minute of processor time.
func TestGuides(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("there are no pages: ", err)
	}
	files, guides := map[string]string{}, map[string]*guide{}
	var links, calls strings.Builder
	for _, page := range pages {
		if page == "add-an-operation.md" {
			continue // TestAddAnOperation compiles its snippets
		}
		g := read(t, page)
		if len(g.bodies) == 0 {
			continue
		}
		guides[page] = g
		name := strings.TrimSuffix(page, ".md")
		g.write(name, files)
		fmt.Fprintf(&links, "import page%d %q\n", len(guides), module+"/docs/guide/"+name)
		fmt.Fprintf(&calls, "case %q:\npage%d.Run()\n", page, len(guides))
	}
	files["main.go"] = fmt.Sprintf("package main\nimport \"os\"\n%sfunc main() {\nswitch os.Args[1] {\n%s}\n}\n", &links, &calls)
	program := filepath.Join(t.TempDir(), "guide.exe")
	// Go's linker is faster without debug information.
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "-overlay="+overlay(t, files), "./guide").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for page, g := range guides {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(program, page).CombinedOutput()
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

// between stands between the outputs of two snippets.
const between = "<<<\n"

// write adds the files of a package whose function Run calls all snippets.
func (g *guide) write(name string, files map[string]string) {
	var code, calls strings.Builder
	for i, b := range g.bodies {
		fmt.Fprintf(&code, "func snippet%d() {\n%s}\n", i, b)
		fmt.Fprintf(&calls, "snippet%d()\nfmt.Print(%q)\n", i, between)
	}
	fmt.Fprintf(&code, "func Run() {\n%s}\n", &calls)
	if g.kernels != "" {
		files[name+"/kernels.go"] = "package page\n" + imports(g.kernels) + g.kernels
		code.WriteString("//go:embed kernels.go\nvar source string\nvar kernels = kernel.MustParse(source)\n")
	}
	files[name+"/page.go"] = "package page\n" + imports(code.String()) + "import _ \"embed\"\n" + code.String()
}
