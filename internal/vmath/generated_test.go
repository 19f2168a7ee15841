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

// The files of coefficients, the programs that write them, and the hash of what is behind
// their first lines.
var coefficients = [][3]string{
	{"coef.go", "gen/minimax.py", "adf22dd644e18c80c417480dd9e6c5055de9da6196d6a8c866075b9537e69a8b"},
	{"airycoef.go", "gen/airy.py", "27e0efb795ede9882694336a85f23e51c318cba108000d634861507b6e547555"},
	{"besselcoef.go", "gen/bessel.py", "6f5c1319d5decd6d82e90c0c6bfec0946380bd6c9b98adfd8927cd2b4249b372"},
	{"specialcoef.go", "gen/specials.py", "b341d3af18bd46d3e745944d60795f9dd529afab324fbcce1c93ca4eaa6ce692"},
	{"gammacoef.go", "gen/gamma.py", "db14242f1b37b0eff7735992de844a9cc2d3772465f281064e94759012aadf15"},
}

// TestCoefficients fails where a program changed and was not run, and where a file was
// changed by hand.
func TestCoefficients(t *testing.T) {
	for _, c := range coefficients {
		file, program := c[0], c[1]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		source, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		head, body, ok := bytes.Cut(text, []byte("\npackage vmath"))
		if want := fmt.Sprintf("SHA-256 of %s: %x\n", program, sha256.Sum256(source)); !bytes.HasSuffix(head, []byte(want)) {
			t.Errorf("%s has changed since it wrote %s: run it, as it says", program, file)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(append([]byte("\npackage vmath"), body...))); !ok || got != c[2] {
			t.Errorf("the hash of %s is %s, want %s: if %s wrote it, note that here", file, got, c[2], program)
		}
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
