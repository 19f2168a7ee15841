package docs

import (
	"encoding/json"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAddAnOperation applies the snippets of add-an-operation.md to the files that it names, in an
// overlay: the files must parse, and the op table must compile. With WEFT_ADD=1 the new operation
// passes the conformance suite, which compiles most of the module anew.
func TestAddAnOperation(t *testing.T) {
	page, err := os.ReadFile("add-an-operation.md")
	if err != nil {
		t.Fatal(err)
	}
	snippet := regexp.MustCompile("(?s)\n(At the end of|In) `([^`]+)`(?:, behind `([^`]+)`)?:\n\n```(?:go|text)\n(.*?)```\n")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replace := map[string]string{}
	steps := snippet.FindAllStringSubmatch(string(page), -1)
	if len(steps) != strings.Count(string(page), "```")/2 {
		t.Fatalf("%d snippets say where they go, want all", len(steps))
	}
	for _, s := range steps {
		file, behind, code := s[2], s[3], s[4]
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		now := string(text) + "\n" + code
		if behind != "" {
			if n := strings.Count(string(text), behind); n != 1 {
				t.Fatalf("%q is %d times in %s, want once", behind, n, file)
			}
			before, after, _ := strings.Cut(string(text), behind)
			rest, tail, _ := strings.Cut(after, "\n")
			now = before + behind + rest + "\n" + code + tail
		}
		if filepath.Ext(file) == ".go" {
			if _, err := parser.ParseFile(token.NewFileSet(), file, now, 0); err != nil {
				t.Errorf("the snippet for %s does not parse: %v", file, err)
			}
		}
		at := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(at, []byte(now), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[filepath.Join(root, file)] = at
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = root, append(os.Environ(), "WEFT_OPS=hardtanh")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	run("build", "-overlay="+overlay, "./internal/op")
	if os.Getenv("WEFT_ADD") != "" {
		run("build", "-overlay="+overlay, ".")
		run("test", "-overlay="+overlay, "./internal/op")
		run("test", "-overlay="+overlay, "-run=^(TestValues|TestGradients|TestOperations.*)$", "./internal/optest")
	}
}
