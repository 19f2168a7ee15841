package weft_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The lines of README.md that begin a program of one's own work as they stand, in an empty
// folder beside the module, and print what the page says.
func TestReadmeProgram(t *testing.T) {
	part := section(t, "README.md", "In a program of your own")
	_, rest, ok := strings.Cut(part, "```bash\n")
	script, after, ok2 := strings.Cut(rest, "```")
	_, says, ok3 := strings.Cut(after, "It prints `")
	want, _, ok4 := strings.Cut(says, "`")
	if !ok || !ok2 || !ok3 || !ok4 {
		t.Fatal("README.md has no lines, or not what they print")
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("SKIPPED: there is no bash: ", err)
	}
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	// The module is where it is, since Go compiles everything again for another path of it.
	if !strings.Contains(script, "../weft") {
		t.Fatal("README.md does not have the module in ../weft")
	}
	script = strings.ReplaceAll(script, "../weft", root)
	// The page's first lines of Go run in the same folder.
	script += "mkdir first\ncat > first/main.go <<'END'\n" + firstLines(t) + "END\ngo run ./first > first.out\n"
	cmd := exec.Command(bash, "-e")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(script)
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	if got := strings.TrimSpace(string(out)); got != want {
		t.Errorf("prints %q, README.md says %q", got, want)
	}
}

// firstLines is a program of the first Go code in README.md.
func firstLines(t *testing.T) string {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "```go\n")
	body, _, ok2 := strings.Cut(rest, "```")
	if !ok || !ok2 {
		t.Fatal("README.md has no Go code")
	}
	return "package main\n\nimport (\n\t\"fmt\"\n\n\t\"weft\"\n)\n\nfunc main() {\n" + body + "}\n"
}
