package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// How large a room may be: lines of statements of a function, and lines of a file.
const (
	maxFunction = 100
	maxFile     = 800
)

// TestRooms holds files and functions to their sizes, but for generated files. The lines of a
// function go from its first to its last brace. The rows of tables do not count: composite
// literals, function literals given to a call that is a statement, such as t.Run, and function
// literals assigned to an element of a table. A function in a row is measured by itself.
func TestRooms(t *testing.T) {
	set := token.NewFileSet()
	err := filepath.WalkDir("..", func(p string, d fs.DirEntry, err error) error {
		p = filepath.ToSlash(p)
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != ".." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, ".go"):
			return nil
		}
		f, err := parser.ParseFile(set, p, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || ast.IsGenerated(f) {
			return err
		}
		if n := set.Position(f.FileEnd).Line; n > maxFile {
			t.Errorf("%s has %d lines, at most %d: divide it by subject", p[3:], n, maxFile)
		}
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				for _, n := range lengths(set, fn.Body) {
					if n > maxFunction {
						t.Errorf("%s %s has %d lines, at most %d: cut it where a subject ends", p[3:], fn.Name.Name, n, maxFunction)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lengths returns the lines of a body without rows of tables, and of each function in a row.
func lengths(set *token.FileSet, body *ast.BlockStmt) (out []int) {
	lines := func(n ast.Node) int { return set.Position(n.End()).Line - set.Position(n.Pos()).Line }
	n := lines(body)
	// row takes the lines of a row away. Functions in it are bodies of their own.
	row := func(x ast.Node) {
		n -= lines(x)
		ast.Inspect(x, func(y ast.Node) bool {
			f, ok := y.(*ast.FuncLit)
			if ok {
				out = append(out, lengths(set, f.Body)...)
			}
			return !ok
		})
	}
	ast.Inspect(body, func(x ast.Node) bool {
		switch x := x.(type) {
		case *ast.CompositeLit:
			row(x)
			return false
		case *ast.AssignStmt: // into a table
			if _, ok := x.Lhs[0].(*ast.IndexExpr); ok && len(x.Rhs) == 1 {
				if f, ok := x.Rhs[0].(*ast.FuncLit); ok {
					row(f)
					return false
				}
			}
		case *ast.ExprStmt:
			call, ok := x.X.(*ast.CallExpr)
			for i := 0; ok && i < len(call.Args); i++ {
				switch call.Args[i].(type) {
				case *ast.FuncLit, *ast.CompositeLit:
					row(call.Args[i])
				}
			}
			return !ok
		}
		return true
	})
	return append(out, n)
}
