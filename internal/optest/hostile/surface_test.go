package hostile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// root is the folder of the module.
const root = "../../.."

// exported returns the names of the exported functions and types that the source of
// the module's packages declares, as "nn.Linear". Commands, examples, benchmarks and
// internal packages are not part of what is offered. The tables of package aot are code that weft build
// wrote: places in memory, which nothing can check.
func exported(t *testing.T) (functions, types []string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			switch name := d.Name(); {
			case rel == ".":
			case err == nil: // a module of its own
				return filepath.SkipDir
			case rel == "cmd", rel == "examples", rel == "bench", rel == "docs", rel == "aot", name == "internal", name == "testdata", strings.HasPrefix(name, "."):
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(filepath.Dir(rel))
		if pkg == "." {
			pkg = "weft"
		}
		if f.Name.Name == "main" {
			return nil
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil && d.Name.IsExported() {
					functions = append(functions, pkg+"."+d.Name.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() {
						types = append(types, pkg+"."+s.Name.Name)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return functions, types
}

// TestTableListsExports fails when the module exports a function or a type that the table
// lacks, or no longer exports one that it has. Methods need no row: they are found
// by reflection.
func TestTableListsExports(t *testing.T) {
	fs, ts := exported(t)
	compare := func(what string, have, want map[string]bool) {
		for n := range want {
			if !have[n] {
				t.Errorf("%s %s has no row in the table (table_test.go)", what, n)
			}
		}
		for n := range have {
			if !want[n] {
				t.Errorf("the table has a row for the %s %s, which does not exist", what, n)
			}
		}
	}
	set := func(names []string) map[string]bool {
		m := map[string]bool{}
		for _, n := range names {
			m[n] = true
		}
		return m
	}
	rows := map[string]bool{}
	for n := range functions {
		rows[strings.SplitN(n, "[", 2)[0]] = true
	}
	compare("function", rows, set(fs))
	rows = map[string]bool{}
	for n := range types {
		rows[n] = true
	}
	compare("type", rows, set(slices.DeleteFunc(ts, func(n string) bool { return constraints[n] })))
	if len(targets) < 250 {
		t.Errorf("only %d functions and methods are called", len(targets))
	}
}
