package gokernel

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"sort"
	"strconv"
	"sync"
)

// A File is a file of Go source.
type File struct {
	Name string // what errors call it
	Src  []byte
}

// A Source is parsed files of one package.
type Source struct {
	fset  *token.FileSet
	files []*file
	decls map[string][]decl // declarations of the package, by name
	// methods are the methods of the package's types, by the name of the type.
	methods map[string][]decl
	named   map[string][]method // the same by their own names

	hash     [sha256.Size]byte
	saturate bool // see Saturating

	mu    sync.Mutex
	funcs map[string]*Func
}

type file struct {
	name    string
	src     []byte
	ast     *ast.File
	imports map[string]string // paths by the names that the file uses
}

// A decl is a declaration of the package: a function, or a group of constants, types or
// variables.
type decl struct {
	file *file
	node ast.Decl
}

// A method is one of the package's type of that name.
type method struct {
	of string
	decl
}

// Bounds of the tree of a source.
const (
	maxDepth = 500     // nesting; a + b + c and if ... else if ... are chains on one level
	maxChain = 1 << 15 // links of a chain, which the checker follows by recursion
)

// noName is the name of a file without one.
const noName = "source"

// Parse parses the files of one package. It does not check functions, see [Source.Func];
// files may hold anything beside kernels.
func Parse(files ...File) (s *Source, err error) {
	defer catch(&err)
	s = &Source{fset: token.NewFileSet(), decls: map[string][]decl{}, methods: map[string][]decl{}, named: map[string][]method{}, funcs: map[string]*Func{}, hash: hashOf(files)}
	if len(files) == 0 {
		return nil, &Error{Msg: "there is no source"}
	}
	total := 0
	for _, in := range files {
		if total += len(in.Src); total > MaxSource {
			return nil, &Error{File: in.Name, Msg: fmt.Sprintf("source of more than %d bytes", MaxSource)}
		}
	}
	for _, in := range files {
		name := in.Name
		if name == "" {
			name = noName
		}
		f := &file{name: name, src: in.Src, imports: map[string]string{}}
		s.files = append(s.files, f)
		tree, perr := parser.ParseFile(s.fset, name, in.Src, 0)
		if perr != nil {
			return nil, s.syntaxError(name, perr)
		}
		f.ast = tree
		if first := s.files[0].ast.Name; first.Name != tree.Name.Name {
			return nil, s.errorAt(tree.Name.Pos(), "package %s beside package %s", tree.Name.Name, first.Name)
		}
		s.declare(f)
	}
	return s, nil
}

// syntaxError is the first fault that the parser found.
func (s *Source) syntaxError(name string, err error) *Error {
	e := &Error{File: name, Msg: err.Error()}
	var list scanner.ErrorList
	if errors.As(err, &list) && len(list) > 0 {
		e.Line, e.Col, e.Msg = list[0].Pos.Line, list[0].Pos.Column, list[0].Msg
		switch e.Msg { // bounds of go/parser
		case "exceeded max nesting depth":
			e.Msg = fmt.Sprintf("the source nests more than %d deep, or has a chain of more than %d operators: split it", maxDepth, maxChain)
		case "exceeded max scope depth during object resolution":
			e.Msg = "blocks or else-ifs nest more than 1000 deep: split them, or write a switch"
		}
		for _, f := range s.files {
			if f.name == name {
				e.Text = line(f.src, e.Line)
			}
		}
	}
	return e
}

func (s *Source) declare(f *file) {
	for _, spec := range f.ast.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(p)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		f.imports[name] = p
	}
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.decls[d.Name.Name] = append(s.decls[d.Name.Name], decl{f, d})
			} else if t := receiver(d); t != "" {
				s.methods[t] = append(s.methods[t], decl{f, d})
				s.named[d.Name.Name] = append(s.named[d.Name.Name], method{t, decl{f, d}})
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					// Types of a group do not depend on each other.
					one := &ast.GenDecl{TokPos: d.TokPos, Tok: d.Tok, Specs: []ast.Spec{spec}}
					s.decls[spec.Name.Name] = append(s.decls[spec.Name.Name], decl{f, one})
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						s.decls[n.Name] = append(s.decls[n.Name], decl{f, d})
					}
				}
			}
		}
	}
}

// receiver returns the name of the type of a method, "" if it has none that can be seen.
func receiver(d *ast.FuncDecl) string {
	if len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.ParenExpr:
			t = x.X
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

// Names returns the names of the functions of the source, in order. Not all of them need
// be kernels.
func (s *Source) Names() []string {
	var names []string
	for n, list := range s.decls {
		if _, ok := list[0].node.(*ast.FuncDecl); ok && n != "_" && n != "init" && n != "main" {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// selection is what a function needs of the package.
type selection struct {
	s     *Source
	decls map[ast.Decl]decl
	order []decl
	names map[string]bool // names of the package that are in
	types map[string]bool
	sels  map[string]bool // names that stand behind a dot: they may be methods
	sizes map[*ast.TypeSpec]int
}

// choose returns the declarations that a function needs, itself first.
func (s *Source) choose(name string) []decl {
	c := &selection{s: s, decls: map[ast.Decl]decl{}, names: map[string]bool{}, types: map[string]bool{}, sels: map[string]bool{}, sizes: map[*ast.TypeSpec]int{}}
	c.name(name)
	for i := 0; i < len(c.order); i++ {
		c.reach(c.order[i])
	}
	return c.order
}

// name adds the declarations of a name. Variables stay out: a kernel has none outside
// itself, and their values may be anything.
func (c *selection) name(n string) {
	if c.names[n] {
		return
	}
	c.names[n] = true
	for _, d := range c.s.decls[n] {
		if g, ok := d.node.(*ast.GenDecl); ok && g.Tok == token.VAR {
			continue
		} else if ok && g.Tok == token.TYPE {
			c.types[n] = true
			c.ofType(n)
		}
		c.add(d)
	}
}

func (c *selection) add(d decl) {
	if _, ok := c.decls[d.node]; !ok {
		c.decls[d.node] = d
		c.order = append(c.order, d)
	}
}

// ofType adds the methods of a type whose names stand behind a dot somewhere.
func (c *selection) ofType(t string) {
	for _, m := range c.s.methods[t] {
		if c.sels[m.node.(*ast.FuncDecl).Name.Name] {
			c.add(m)
		}
	}
}

// reach adds what a declaration names.
func (c *selection) reach(d decl) {
	depth, chained := 0, 0
	var path []ast.Node // from the declaration to the node
	ast.Inspect(d.node, func(n ast.Node) bool {
		if n == nil {
			last := len(path) - 1
			if chains(path[:last], path[last]) {
				chained--
			} else {
				depth--
			}
			path = path[:last]
			return true
		}
		if chains(path, n) {
			if chained++; chained > maxChain {
				c.s.refuse(pos(n), "a chain of more than %d operators or else-ifs: split it", maxChain)
			}
		} else if depth++; depth > maxDepth {
			c.s.refuse(pos(n), "expressions or statements nest more than %d deep: split them", maxDepth)
		}
		path = append(path, n)
		switch n := n.(type) {
		case *ast.TypeSpec:
			if c.parts(n, 0) > maxParts {
				c.s.refuse(n.Pos(), "type %s has more than %d parts", n.Name.Name, maxParts)
			}
		case *ast.SelectorExpr:
			if !c.sels[n.Sel.Name] {
				c.sels[n.Sel.Name] = true
				for _, m := range c.s.named[n.Sel.Name] {
					if c.types[m.of] {
						c.add(m.decl)
					}
				}
			}
		case *ast.Ident:
			// The parser resolves names within a file: what it found elsewhere than in the
			// package is local.
			if n.Obj == nil || d.file.ast.Scope.Lookup(n.Name) == n.Obj {
				c.name(n.Name)
			}
		}
		return true
	})
}

// chains reports whether a node continues the chain of its parent, the last node of path. It does if
// it is the left operand a + b of a + b + c, or the if after an else.
func chains(path []ast.Node, n ast.Node) bool {
	if len(path) == 0 {
		return false
	}
	switch n := n.(type) {
	case *ast.BinaryExpr:
		outer, ok := path[len(path)-1].(*ast.BinaryExpr)
		return ok && outer.X == n
	case *ast.IfStmt:
		outer, ok := path[len(path)-1].(*ast.IfStmt)
		return ok && outer.Else == n
	}
	return false
}

// maxParts bounds the parts of a type, counted with the parts of its parts. The type checker
// looks at all of them, again and again for types that are used in several places.
const maxParts = 1 << 12

// parts counts the parts of a type, up to a little more than the bound.
func (c *selection) parts(t *ast.TypeSpec, depth int) int {
	if n, ok := c.sizes[t]; ok {
		return n
	}
	c.sizes[t] = 1 // of one that holds itself, which the checker refuses
	n := c.partsOf(t.Type, depth)
	c.sizes[t] = n
	return n
}

func (c *selection) partsOf(x ast.Expr, depth int) int {
	n := 1
	if depth++; depth > maxDepth {
		return n
	}
	add := func(k int) { n = min(n+k, maxParts+1) }
	switch x := x.(type) {
	case *ast.Ident:
		if x.Obj != nil {
			if t, ok := x.Obj.Decl.(*ast.TypeSpec); ok {
				add(c.parts(t, depth))
			}
			break
		}
		for _, d := range c.s.decls[x.Name] {
			if g, ok := d.node.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				add(c.parts(g.Specs[0].(*ast.TypeSpec), depth))
			}
		}
	case *ast.ParenExpr:
		return c.partsOf(x.X, depth)
	case *ast.StarExpr:
		add(c.partsOf(x.X, depth))
	case *ast.ArrayType:
		add(c.partsOf(x.Elt, depth))
	case *ast.StructType:
		for _, f := range x.Fields.List {
			add(max(len(f.Names), 1) * c.partsOf(f.Type, depth))
		}
	case *ast.IndexExpr:
		n = min(c.partsOf(x.X, depth)*c.partsOf(x.Index, depth), maxParts+1)
	case *ast.IndexListExpr:
		for _, a := range x.Indices {
			add(c.partsOf(a, depth))
		}
		n = min(n*c.partsOf(x.X, depth), maxParts+1)
	case *ast.MapType:
		add(c.partsOf(x.Key, depth))
		add(c.partsOf(x.Value, depth))
	case *ast.ChanType:
		add(c.partsOf(x.Value, depth))
	}
	return n
}
