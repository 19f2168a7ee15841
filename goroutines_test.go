package weft_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"strings"
	"testing"
)

// Every exported type that holds something, which is one with methods on its pointer, says in its
// documentation what goroutines may do with it, or its package does for all.
func TestDocsSayWhatGoroutinesMayDo(t *testing.T) {
	found := 0
	for _, folder := range []string{".", "nn", "optim", "data", "sym", "kernel", "ragged", "viewer", "npy", "safetensors", "checkpoint", "dlpack", "half"} {
		set := token.NewFileSet()
		//lint:ignore SA1019 go/doc takes its packages, and build tags do not matter here
		pkgs, err := parser.ParseDir(set, folder, func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		says := func(text string) bool {
			return strings.Contains(text, "goroutine") || strings.Contains(text, "concurrent use")
		}
		for _, p := range pkgs {
			var files []*ast.File
			for _, f := range p.Files {
				files = append(files, f)
			}
			d, err := doc.NewFromFiles(set, files, folder)
			if err != nil {
				t.Fatal(err)
			}
			for _, typ := range d.Types {
				holds := false
				for _, m := range typ.Methods {
					holds = holds || strings.HasPrefix(m.Recv, "*")
				}
				if !holds || strings.HasSuffix(typ.Name, "Error") {
					continue
				}
				found++
				if !says(typ.Doc) && !says(d.Doc) {
					t.Errorf("%s: %s.%s does not say what goroutines may do with it", set.Position(typ.Decl.Pos()), d.Name, typ.Name)
				}
			}
		}
	}
	if found < 40 {
		t.Errorf("only %d types were looked at", found)
	}
}
