package main

import (
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"weft/internal/gokernel/kerneltest"
)

const buildSource = `package k

import (
	"math"

	"weft/kernel"
)

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

func Tail(x, freedom float64) (float64, float64) {
	return kernel.GammaIncC(freedom*freedom/2, x*x/2), kernel.Digamma(x)
}

func Div(a, b int32) int32 { return a/b + a%b }
`

// What is built passes the tests that are written beside it, and vet, and is right for other
// systems and processors.
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
		code := run(args, strings.NewReader(""), &out, &out)
		return code, out.String()
	}
	for i, f := range []string{"Escape", "Soft[float32]", "Soft[float64]", "Spin", "Div", "Tail"} {
		if code, out := weft("build", "src/k.go:"+f, "-o", filepath.Join("out", string(rune('a'+i)))); code != ok {
			t.Fatalf("%s: %s", f, out)
		}
	}
	for f, want := range map[string]string{"src/k.go:Soft": "type parameter", "src/k.go:None": "no function", "k.go:Div": "k.go", "src/k.go:Div[int8]": "no type parameter", "src/k.go:Soft[float16]": "float16", "src": "FILE.go:FUNC"} {
		if code, out := weft("build", f, "-o", "none"); code == ok || !strings.Contains(out, want) || strings.Count(out, "\n") > 3 {
			t.Errorf("%s: exit %d: %s", f, code, out)
		}
	}
	if code, out := weft("build", "src/k.go:Spin", "-o", "out/e"); code != failed || !strings.Contains(out, "one function a folder") {
		t.Errorf("a second function in a folder: exit %d: %s", code, out)
	}
	if code, out := weft("build", "src/k.go:Div", "-o", "out/e"); code != ok {
		t.Errorf("the same function again: exit %d: %s", code, out)
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
	cmd := exec.Command(tool, "test", "-vet=all", "./out/...")
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("go test: %v\n%s", err, out)
	}
	packages, err := filepath.Glob("out/*")
	if err != nil || len(packages) == 0 {
		t.Fatal(packages, err)
	}
	for _, dir := range packages {
		if names := elsewhere(t, dir); filepath.Base(dir) == "f" && !slices.Equal(names, []string{"Tail", "TailSlice"}) {
			t.Errorf("the package of Tail exports %v", names)
		}
	}
}

// library has the standard library's packages for all calls of elsewhere, and the positions in them.
var library = sync.OnceValues(func() (*token.FileSet, types.Importer) {
	files := token.NewFileSet()
	return files, kerneltest.SourceImporter(files)
})

// elsewhere checks what a package is for other systems and processors, without compiling the
// standard library for them: with amd64 it is the same everywhere, with others it is Go alone,
// of the right types. It returns the names that the package exports.
func elsewhere(t *testing.T, dir string) (exported []string) {
	t.Helper()
	of := func(system, arch string) *gobuild.Package {
		ctx := gobuild.Default
		ctx.GOOS, ctx.GOARCH, ctx.CgoEnabled = system, arch, false
		p, err := ctx.ImportDir(dir, 0)
		if err != nil {
			t.Fatalf("%s for %s/%s: %v", dir, system, arch, err)
		}
		return p
	}
	linux := of("linux", "amd64")
	if len(linux.SFiles) == 0 {
		t.Errorf("%s has no assembly", dir)
	}
	for _, system := range []string{"windows", "darwin"} {
		if p := of(system, "amd64"); !slices.Equal(p.GoFiles, linux.GoFiles) || !slices.Equal(p.SFiles, linux.SFiles) {
			t.Errorf("%s for %s/amd64 is %s and %s, for linux %s and %s", dir, system, p.GoFiles, p.SFiles, linux.GoFiles, linux.SFiles)
		}
	}
	for _, arch := range []string{"arm64", "riscv64"} {
		p := of("linux", arch)
		if len(p.SFiles) != 0 {
			t.Errorf("%s for %s has assembly: %s", dir, arch, p.SFiles)
		}
		files, std := library()
		var parsed []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(files, filepath.Join(dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			parsed = append(parsed, f)
		}
		types := types.Config{Importer: std, Sizes: types.SizesFor("gc", arch)}
		pkg, err := types.Check(p.Name, files, parsed, nil)
		if err != nil {
			t.Errorf("%s for %s: %v", dir, arch, err)
			continue
		}
		exported = slices.DeleteFunc(pkg.Scope().Names(), func(name string) bool { return !token.IsExported(name) })
	}
	return exported
}
