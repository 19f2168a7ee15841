package sci

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// unprinted are types of other modules that have hidden fields and no String method yet, by package.
var unprinted = map[string]string{
	"../aot":           "Call Plan Program Slice",
	"../distributions": "TransformedDistribution",
	"../kernel":        "Source",
	"../models":        "DDPMAttention InvertedResidual Llama ResNet",
	"../ragged":        "Tracked",
	"../sym":           "MRGStreams RandomStreams",
	"../train":         "Events TrainerOf",
	"../viewer":        "Mesh Points",
}

// TestTypesPrint finds exported structs with hidden fields and without a method String, Error or Format, in all
// packages: they print as pointers or as all of their numbers. Types that have had none so far are listed above, and
// leave that list when they get one.
func TestTypesPrint(t *testing.T) {
	hidden, printed := map[string][]string{}, map[string]bool{}
	embedded := map[string][]string{} // by package and type: types whose methods it has
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() && (slices.Contains([]string{"internal", "testdata", "bench", "examples", "cmd", "gen", "shared"}, name) || strings.HasPrefix(name, ".") && path != "..") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(path))
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				hidden[dir] = append(hidden[dir], hiding(d, func(name, inner string) { embedded[dir+" "+name] = append(embedded[dir+" "+name], inner) })...)
			case *ast.FuncDecl:
				if d.Recv != nil && slices.Contains([]string{"String", "Error", "Format"}, d.Name.Name) {
					printed[dir+" "+receiver(d.Recv.List[0].Type)] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(hidden) < 20 {
		t.Errorf("only %d packages have such types", len(hidden))
	}
	for name, list := range embedded {
		dir, _, _ := strings.Cut(name, " ")
		printed[name] = printed[name] || slices.ContainsFunc(list, func(inner string) bool { return printed[dir+" "+inner] })
	}
	for dir, names := range hidden {
		known := strings.Fields(unprinted[dir])
		for _, name := range names {
			if has, listed := printed[dir+" "+name], slices.Contains(known, name); !has && !listed {
				t.Errorf("%s: %s has hidden fields and no String method", dir, name)
			} else if has && listed {
				t.Errorf("%s: %s has a String method: take it from the list", dir, name)
			}
		}
	}
	for dir, names := range unprinted {
		for _, name := range strings.Fields(names) {
			if !slices.Contains(hidden[dir], name) {
				t.Error(fmt.Sprint(dir, ": ", name, " is listed, and is not such a type"))
			}
		}
	}
}

// hiding returns the names of exported structs with hidden fields, and tells embeds what they embed.
func hiding(d *ast.GenDecl, embeds func(name, inner string)) (names []string) {
	for _, s := range d.Specs {
		spec, ok := s.(*ast.TypeSpec)
		if !ok || !spec.Name.IsExported() {
			continue
		}
		st, ok := spec.Type.(*ast.StructType)
		if !ok {
			continue
		}
		if slices.ContainsFunc(st.Fields.List, func(f *ast.Field) bool {
			return slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return !n.IsExported() })
		}) {
			names = append(names, spec.Name.Name)
			for _, f := range st.Fields.List {
				if len(f.Names) == 0 {
					embeds(spec.Name.Name, receiver(f.Type))
				}
			}
		}
	}
	return names
}

// receiver returns the name of a receiver's type.
func receiver(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
