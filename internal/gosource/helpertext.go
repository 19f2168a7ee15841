package gosource

import (
	_ "embed"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"sync"
)

//go:embed helpers.go
var helperText string

// A helper is a declaration of helpers.go.
type helper struct {
	text string
	uses []string // other helpers, and packages in quotes
}

// helpers are the declarations of helpers.go by name, and the names in their order.
var helpers = sync.OnceValues(func() (map[string]*helper, []string) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, "helpers.go", helperText, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	all, bodies := map[string]*helper{}, map[string][]ast.Node{}
	var order []string
	for _, d := range f.Decls {
		name, doc := "", (*ast.CommentGroup)(nil)
		switch d := d.(type) {
		case *ast.FuncDecl:
			name, doc = d.Name.Name, d.Doc
			if d.Recv != nil { // goes with its type
				name = d.Recv.List[0].Type.(*ast.StarExpr).X.(*ast.IndexExpr).X.(*ast.Ident).Name
			}
		case *ast.GenDecl:
			if d.Tok != token.TYPE {
				continue
			}
			name, doc = d.Specs[0].(*ast.TypeSpec).Name.Name, d.Doc
		}
		from := d.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		if all[name] == nil {
			all[name] = &helper{}
			order = append(order, name)
		}
		all[name].text += "\n" + helperText[files.Position(from).Offset:files.Position(d.End()).Offset] + "\n"
		bodies[name] = append(bodies[name], d)
	}
	for name, list := range bodies {
		for _, d := range list {
			ast.Inspect(d, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && id.Name != name && !slices.Contains(all[name].uses, id.Name) {
					if all[id.Name] != nil || id.Name == "math" || id.Name == "bits" {
						all[name].uses = append(all[name].uses, id.Name)
					}
				}
				return true
			})
		}
	}
	return all, order
})

// Helpers returns the text of functions that printed programs use, those that they use in turn, and
// the import paths of all.
func Helpers(used map[string]bool) (text string, imports []string) {
	all, order := helpers()
	want := map[string]bool{}
	var add func(name string)
	add = func(name string) {
		if want[name] {
			return
		}
		want[name] = true
		if h := all[name]; h != nil {
			for _, u := range h.uses {
				add(u)
			}
		}
	}
	for name := range used {
		add(name)
	}
	var b strings.Builder
	for _, name := range order {
		if want[name] {
			b.WriteString(all[name].text)
		}
	}
	if want["math"] {
		imports = append(imports, "math")
	}
	if want["bits"] {
		imports = append(imports, "math/bits")
	}
	if want["unsafe"] {
		imports = append(imports, "unsafe")
	}
	return b.String(), imports
}
