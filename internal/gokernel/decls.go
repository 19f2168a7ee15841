package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Declarations returns the source of the function and of all that it needs, and the
// paths of the packages that they import, by the names that they use. What package kernel exports
// stands without the name of the package: uses lists the names, in order.
func (f *Func) Declarations() (text string, imports map[string]string, uses []string) {
	s := f.src
	s.mu.Lock()
	defer s.mu.Unlock()
	decls := s.choose(f.name)
	sort.SliceStable(decls, func(i, j int) bool { return decls[i].node.Pos() < decls[j].node.Pos() })
	imports = map[string]string{}
	var b strings.Builder
	for _, d := range decls {
		from := s.fset.Position(start(d.node)).Offset
		to := s.fset.Position(d.node.End()).Offset
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		t := f.unqualified(d, from, to, &uses)
		b.WriteString(t)
		for name, path := range d.file.imports {
			if path != kernelPath && strings.Contains(t, name+".") {
				imports[name] = path
			}
		}
	}
	return b.String(), imports, uses
}

// unqualified is the text of a declaration without the name of package kernel; it adds the names
// that follow it to uses. A special function has the name of [SpecialSource].
func (f *Func) unqualified(d decl, from, to int, uses *[]string) string {
	var t strings.Builder
	ast.Inspect(d.node, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		if p, ok := f.info.Uses[id].(*types.PkgName); ok && p.Imported().Path() == kernelPath {
			at := f.src.fset.Position(id.Pos()).Offset
			t.Write(d.file.src[from:at])
			from = f.src.fset.Position(sel.Sel.Pos()).Offset
			if slices.Contains(Specials, sel.Sel.Name) { // the name that it has in SpecialSource
				t.WriteString("kernel")
			}
			if !slices.Contains(*uses, sel.Sel.Name) {
				*uses = append(*uses, sel.Sel.Name)
			}
		}
		return true
	})
	t.Write(d.file.src[from:to])
	return t.String()
}

// start is where a declaration begins, its comment included.
func start(d ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc != nil {
		return doc.Pos()
	}
	return d.Pos()
}

// ImportLine is the import of a path by a name.
func ImportLine(name, path string) string {
	if name == path[strings.LastIndexByte(path, '/')+1:] {
		return strconv.Quote(path)
	}
	return name + " " + strconv.Quote(path)
}
