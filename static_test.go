package weft_test

import (
	"debug/elf"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestProgramIsStatic reads the binary of a program that imports weft and nn: the system loads no
// library for it. Only module weft/cuda loads one.
func TestProgramIsStatic(t *testing.T) {
	if testing.Short() {
		t.Skip("links a program")
	}
	binary := filepath.Join(t.TempDir(), "digits")
	build := exec.Command("go", "build", "-o", binary, "./examples/digits")
	build.Env = append(build.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v: the system would load libraries for it", p.Type)
		}
	}
}

// TestModuleLoadsNoLibrary: no package of the root module needs what loads shared libraries.
func TestModuleLoadsNoLibrary(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./...")
	list.Env = append(list.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	seen := false
	for path := range strings.FieldsSeq(string(out)) {
		seen = seen || path == "weft/nn"
		if path == "plugin" || path == "runtime/cgo" || strings.HasPrefix(path, "github.com/ebitengine/purego") {
			t.Errorf("a package imports %s", path)
		}
	}
	if !seen {
		t.Error("the list of imports lacks weft/nn")
	}
}
