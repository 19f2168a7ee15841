package vmath

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The hash of coef.go behind its first lines, as gen/minimax.py wrote it.
const coefficients = "adf22dd644e18c80c417480dd9e6c5055de9da6196d6a8c866075b9537e69a8b"

// TestCoefficients fails where gen/minimax.py changed and was not run, and where coef.go
// was changed by hand.
func TestCoefficients(t *testing.T) {
	text, err := os.ReadFile("coef.go")
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("gen/minimax.py")
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := bytes.Cut(text, []byte("\npackage vmath"))
	if want := fmt.Sprintf("SHA-256 of gen/minimax.py: %x\n", sha256.Sum256(source)); !bytes.HasSuffix(head, []byte(want)) {
		t.Errorf("gen/minimax.py has changed since it wrote coef.go: run it, as it says")
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(append([]byte("\npackage vmath"), body...))); !ok || got != coefficients {
		t.Errorf("the hash of coef.go is %s, want %s: if gen/minimax.py wrote it, note that here", got, coefficients)
	}
}

// TestTables fails where package gen changed and go generate was not run.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: derives all tables, in seconds")
	}
	path := filepath.Join(t.TempDir(), "tables.go")
	if out, err := exec.Command("go", "run", "./gen", path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("tables.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("tables.go is not what gen writes: run go generate ./internal/vmath")
	}
}
