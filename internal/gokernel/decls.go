package gokernel

import (
	"go/ast"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// Declarations returns the source of the function and of all that it needs, and the
// paths of the packages that they import, by the names that they use.
func (f *Func) Declarations() (text string, imports map[string]string) {
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
		t := string(d.file.src[from:to])
		b.WriteString(t)
		for name, path := range d.file.imports {
			if strings.Contains(t, name+".") {
				imports[name] = path
			}
		}
	}
	return b.String(), imports
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
