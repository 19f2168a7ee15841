package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const buildSource = `package k

import "math"

// Escape counts steps.
func Escape(cr, ci float32) int32 {
	var zr, zi float32
	for n := range int32(200) {
		zr, zi = zr*zr-zi*zi+cr, 2*zr*zi+ci
		if zr*zr+zi*zi > four {
			return n
		}
	}
	return 200
}

const four = 4

func Soft[T float32 | float64](x, w T) (T, bool) { return T(math.Log1p(math.Exp(float64(x)))) * w, x > 0 }

func Spin(z complex64, k int) complex64 {
	for i := 0; i < k%7; i++ {
		z *= 1i
	}
	return z
}

func Div(a, b int32) int32 { return a/b + a%b }
`

// What is built passes the tests that are written beside it, and vet, and builds for other
// processors.
func TestBuild(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module built\n\ngo 1.26\n")
	if err := os.Mkdir("src", 0o700); err != nil {
		t.Fatal(err)
	}
	write("src/k.go", buildSource)
	weft := func(args ...string) (int, string) {
		var out strings.Builder
		code := run(args, &out, &out)
		return code, out.String()
	}
	for i, f := range []string{"Escape", "Soft[float32]", "Soft[float64]", "Spin", "Div"} {
		if code, out := weft("build", "src/k.go:"+f, "-o", filepath.Join("out", string(rune('a'+i)))); code != ok {
			t.Fatalf("%s: %s", f, out)
		}
	}
	for f, want := range map[string]string{"src/k.go:Soft": "type parameter", "src/k.go:None": "no function", "k.go:Div": "k.go", "src/k.go:Div[int8]": "no type parameter", "src/k.go:Soft[float16]": "float16", "src": "FILE.go:FUNC"} {
		if code, out := weft("build", f, "-o", "none"); code != failed || !strings.Contains(out, want) || strings.Count(out, "\n") > 3 {
			t.Errorf("%s: exit %d: %s", f, code, out)
		}
	}
	write("out/e/div.go", "package mine\n")
	if code, _ := weft("build", "src/k.go:Div", "-o", "out/e"); code != failed {
		t.Error("a file of the user's was replaced")
	}
	if err := os.RemoveAll("out/e"); err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		return
	}
	tool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: there is no go tool: ", err)
	}
	for _, c := range []struct{ env, args string }{{"", "test -vet=all ./..."}, {"GOARCH=arm64", "vet ./..."}, {"GOOS=windows", "build ./..."}} {
		cmd := exec.Command(tool, strings.Fields(c.args)...)
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "CGO_ENABLED=0", c.env)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("go %s (%s): %v\n%s", c.args, c.env, err, out)
		}
	}
}
