package kerneltest

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// A Program is a checked source.
type Program struct {
	Src   string
	fset  *token.FileSet
	file  *ast.File
	info  *types.Info
	decls map[types.Object]*ast.FuncDecl
	funcs map[string]*ast.FuncDecl // without receiver
}

// Load parses and checks a source. It may import math, math/bits, math/cmplx and, if kernels
// is the folder of package weft/kernel, that one.
func Load(src, kernels string) (*Program, error) {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	p := &Program{Src: src, fset: lib.fset, decls: map[types.Object]*ast.FuncDecl{}, funcs: map[string]*ast.FuncDecl{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Instances: map[*ast.Ident]types.Instance{}}}
	// A file set of its own: that of the library would grow by every source.
	p.fset = token.NewFileSet()
	var err error
	if p.file, err = parser.ParseFile(p.fset, "k.go", src, parser.SkipObjectResolution); err != nil {
		return nil, err
	}
	conf := types.Config{Importer: libraryImporter(kernels)}
	if _, err = conf.Check("k", p.fset, []*ast.File{p.file}, p.info); err != nil {
		return nil, err
	}
	for _, d := range p.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			p.decls[p.info.Defs[f.Name]] = f
			if f.Recv == nil {
				p.funcs[f.Name.Name] = f
			}
		}
	}
	return p, nil
}

// lib is what kernels import, read from the source of the standard library, once.
var lib = struct {
	mu     sync.Mutex
	fset   *token.FileSet
	std    types.Importer
	byPath map[string]*types.Package
}{fset: token.NewFileSet(), byPath: map[string]*types.Package{}}

// SourceImporter returns an importer that reads packages of the standard library from source. A
// binary built with -trimpath does not know GOROOT, so it asks the go command.
func SourceImporter(fset *token.FileSet) types.Importer {
	findRoot()
	return importer.ForCompiler(fset, "source", nil)
}

// findRoot sets build.Default.GOROOT, which the source importer reads.
var findRoot = sync.OnceFunc(func() {
	if build.Default.GOROOT == "" {
		if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(out))
		}
	}
})

type libraryImporter string

func (dir libraryImporter) Import(path string) (*types.Package, error) {
	// The importer of sources looks for a package it knows as if it did not.
	if p := lib.byPath[path]; p != nil {
		return p, nil
	}
	if lib.std == nil {
		lib.std = SourceImporter(lib.fset)
	}
	find := lib.std.Import
	if path == "weft/kernel" {
		find = func(string) (*types.Package, error) { return kernelTypes(string(dir)) }
	}
	p, err := find(path)
	if err == nil {
		lib.byPath[path] = p
	}
	return p, err
}

// kernelTypes checks the declarations of the types of package weft/kernel, not their
// bodies, so that it needs none of what that package imports.
func kernelTypes(dir string) (*types.Package, error) {
	var files []*ast.File
	for _, name := range []string{"near.go", "array.go", "elem.go"} {
		f, err := parser.ParseFile(lib.fset, filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	conf := types.Config{IgnoreFuncBodies: true, FakeImportC: true, Error: func(error) {}, Importer: importer.Default()}
	p, _ := conf.Check("weft/kernel", lib.fset, files, nil)
	return p, nil
}
