package numbers_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"weft/internal/numbers"
)

// TestNumbersAreDeclaredOnce finds constants and package variables of the names of package
// numbers elsewhere in the module, in any case, and constants here without a comment.
func TestNumbersAreDeclaredOnce(t *testing.T) {
	const root = "../.."
	own := map[string]bool{}
	fset := token.NewFileSet()
	here, err := parser.ParseFile(fset, "numbers.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	declared(here, func(n *ast.Ident, documented bool) {
		own[strings.ToLower(n.Name)] = true
		if !documented {
			t.Errorf("%s: %s has no rule beside it", fset.Position(n.Pos()), n.Name)
		}
	})
	if len(own) < 10 {
		t.Fatalf("numbers.go declares %d constants", len(own))
	}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if n := d.Name(); n == "testdata" || n == "node_modules" || strings.HasPrefix(n, ".") && n != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(path, ".go") || strings.Contains(filepath.ToSlash(path), "internal/numbers/") {
			return nil
		}
		f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		declared(f, func(n *ast.Ident, _ bool) {
			// The sparse path's own variables hold the constants, so that tests can set them.
			if own[strings.ToLower(n.Name)] && !strings.HasPrefix(n.Name, "sparse") {
				t.Errorf("%s: %s is declared here, and in internal/numbers", fset.Position(n.Pos()), n.Name)
			}
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// declared calls f with the constants and variables that a file declares at its top level.
func declared(file *ast.File, f func(n *ast.Ident, documented bool)) {
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST && g.Tok != token.VAR {
			continue
		}
		for _, s := range g.Specs {
			s := s.(*ast.ValueSpec)
			for _, n := range s.Names {
				f(n, g.Doc != nil || s.Doc != nil)
			}
		}
	}
}

// TestPartsAreSubtrees holds the lengths to the relations that the rules rely on.
func TestPartsAreSubtrees(t *testing.T) {
	parts := numbers.PartLen / numbers.Block
	if numbers.PartLen%numbers.Block != 0 || parts&(parts-1) != 0 {
		t.Errorf("a part of %d elements is not a subtree of blocks of %d", numbers.PartLen, numbers.Block)
	}
	if numbers.Block%numbers.VirtualBytes != 0 {
		t.Errorf("a block of %d elements of one byte does not fill %d virtual lanes", numbers.Block, numbers.VirtualBytes)
	}
}
