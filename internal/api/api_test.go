package api

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"
	"testing"
)

//go:generate go run ./gen ../../docs/api ../.. ../../gonumblas ../../ragged/arrow ../../sci ../../viewer

// lines of a source.
func lines(t *testing.T, source string) []string {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	p, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(Text(p)), "\n")
}

// TestTextOfDeclarations compares the lines of each kind of declaration.
func TestTextOfDeclarations(t *testing.T) {
	got := lines(t, `package p

const (
	A Kind = iota
	B
	Half = 0.5
	hidden = 1
)

var V map[string]*T

type Kind uint8

func (Kind) String() string { return "" }

type inner struct{ Deep int }

func (*inner) Method(x int) {}

type T struct {
	inner
	X, y int
	F    func(a, b int) error
}

func (t *T) unexported() {}

type I interface{ M(x int) }
type Number interface{ ~int | ~float64 }
type G[E Number] struct{ Items []E }

func (g *G[E]) Len() int { return 0 }

type Ints = G[int]

func Do[E Number](x []E, more ...E) (n int, err error) { return }
func do() {}
`)
	want := []string{
		"const A Kind = 0", "const B Kind = 1", "const Half untyped float = 0.5",
		"field G.Items []E", "field T.Deep int", "field T.F func(a int, b int) error", "field T.X int",
		"func Do[E Number](x []E, more ...E) (n int, err error)",
		"method (*G) Len() int", "method (*T) Method(x int)", "method (Kind) String() string", "method I.M(x int)",
		"type G[E Number] struct", "type I interface", "type Ints = G[int]", "type Kind uint8", "type Number interface{~int | ~float64}", "type T struct",
		"var V map[string]*T",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestAPI compares what is exported with docs/api, in both directions.
func TestAPI(t *testing.T) {
	pkgs, err := Public("../..")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "../../docs/api"
	there := map[string]bool{"gonumblas.txt": true, "ragged-arrow.txt": true, "ragged-arrow-parquet.txt": true, "sci-integrate.txt": true, "sci-interpolate.txt": true, "sci-optimize.txt": true, "sci-stats.txt": true, "viewer.txt": true} // those modules compare theirs
	for path, p := range pkgs {
		there[File(path)] = true
		if err := Compare(p, dir); err != nil {
			t.Error(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !there[f.Name()] {
			t.Errorf("the package of %s is gone", f.Name())
		}
	}
}

func TestDiffOfLines(t *testing.T) {
	gone, added := Diff("a\nb\nc\n", "a\nc\nd\n")
	if !slices.Equal(gone, []string{"b"}) || !slices.Equal(added, []string{"d"}) {
		t.Errorf("gone %q, new %q", gone, added)
	}
}
