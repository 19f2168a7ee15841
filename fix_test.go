package weft_test

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// TestInlinedFunctions holds what go fix inlines into programs to exported names: a body that
// has others stays where it is.
func TestInlinedFunctions(t *testing.T) {
	folders, err := filepath.Glob("*/")
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, dir := range append(folders, ".") {
		files = append(files, sourceFiles(t, token.NewFileSet(), dir)...)
	}
	found := 0
	for _, f := range files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil {
				continue
			}
			inline := false
			for _, c := range fn.Doc.List {
				inline = inline || strings.HasPrefix(c.Text, "//go:fix inline")
			}
			if !inline {
				continue
			}
			found++
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok && !s.Sel.IsExported() {
					t.Errorf("the body of %s has %s, which other packages cannot call", fn.Name.Name, s.Sel.Name)
				}
				return true
			})
			if len(fn.Body.List) != 1 {
				t.Errorf("the body of %s is not one statement", fn.Name.Name)
			}
		}
	}
	if found == 0 {
		t.Error("no function is inlined by go fix")
	}
}
