// Package api writes down what the packages of the module export, one declaration a line, so that
// a change of it is seen: docs/api holds the lines that docs/stability.md promises something about.
package api

import (
	"fmt"
	"go/constant"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Public returns the packages of the module in dir that are meant for users, by path: all but
// programs, measurements and what lies in a folder internal. They are type-checked from what the
// go command has compiled.
func Public(dir string) (map[string]*types.Package, error) {
	list := func(args ...string) (map[string]string, []string, error) {
		c := exec.Command("go", append([]string{"list"}, args...)...)
		c.Dir = dir
		c.Stderr = new(strings.Builder)
		out, err := c.Output()
		if err != nil {
			return nil, nil, fmt.Errorf("go list %s: %w: %s", args, err, c.Stderr)
		}
		second, order := map[string]string{}, []string(nil)
		for line := range strings.Lines(string(out)) {
			path, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if path != "" {
				second[path], order = rest, append(order, path)
			}
		}
		return second, order, nil
	}
	// There is nothing to import where there are but tests.
	names, all, err := list("-f", "{{if .GoFiles}}{{.ImportPath}} {{.Name}}{{end}}", "./...")
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, path := range all {
		inside := names[path] != "main"
		for _, part := range []string{"/internal/", "/examples/", "/bench/", "/cmd/"} {
			inside = inside && !strings.Contains(path+"/", part)
		}
		if inside {
			paths = append(paths, path)
		}
	}
	// What these need is compiled; all packages would be some that nothing else waits for.
	files, _, err := list(append([]string{"-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)...)
	if err != nil {
		return nil, err
	}
	imp := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	pkgs := map[string]*types.Package{}
	for _, p := range paths {
		if pkgs[p], err = imp.Import(p); err != nil {
			return nil, err
		}
	}
	return pkgs, nil
}

// File is the name of the file with the lines of a package: weft/ragged/arrow is in
// ragged-arrow.txt, weft in weft.txt.
func File(path string) string {
	inside := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	if inside == "" {
		inside = "weft"
	}
	return strings.ReplaceAll(inside, "/", "-") + ".txt"
}

// module is the path of this module, which is another one where it is published.
var module = strings.TrimSuffix(reflect.TypeFor[marker]().PkgPath(), "/internal/api")

type marker struct{}

// Text returns what a package exports: constants with their values, variables, functions, types
// with their exported fields and methods, one a line in order. A type that the package names but
// another one declares has its methods here.
func Text(p *types.Package) string {
	own := func(q *types.Package) string {
		if q == p {
			return ""
		}
		return q.Name()
	}
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	typ := func(t types.Type) string { return types.TypeString(t, own) }
	signature := func(t types.Type) string { return strings.TrimPrefix(typ(t), "func") }
	scope := p.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if !o.Exported() {
			continue
		}
		switch o := o.(type) {
		case *types.Const:
			value := o.Val().ExactString()
			if o.Val().Kind() == constant.Float {
				value = o.Val().String()
			}
			add("const %s %s = %s", name, typ(o.Type()), value)
		case *types.Var:
			add("var %s %s", name, typ(o.Type()))
		case *types.Func:
			add("func %s%s", name, signature(o.Type()))
		case *types.TypeName:
			typeLines(o, add, typ, signature)
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n") + "\n"
}

// fieldLines adds the exported fields of a struct. It descends into embedded structs whose names
// are not exported.
func fieldLines(name string, s *types.Struct, add func(string, ...any), typ func(types.Type) string) {
	for f := range s.Fields() {
		inner, isStruct := f.Type().Underlying().(*types.Struct)
		switch {
		case f.Exported() && f.Embedded():
			add("field %s embeds %s", name, typ(f.Type()))
		case f.Exported():
			add("field %s.%s %s", name, f.Name(), typ(f.Type()))
		case f.Embedded() && isStruct:
			fieldLines(name, inner, add, typ)
		}
	}
}

// typeLines adds the lines of a type.
func typeLines(o *types.TypeName, add func(string, ...any), typ, signature func(types.Type) string) {
	name, t := o.Name(), o.Type()
	if a, ok := t.(*types.Alias); ok {
		if rhs, ok := types.Unalias(a).(*types.Named); ok && !strings.Contains(rhs.Obj().Pkg().Path(), "/internal/") {
			add("type %s = %s", name, typ(a.Rhs()))
			return // its methods are where it is declared
		}
	}
	if named, ok := t.(*types.Named); ok && named.TypeParams().Len() > 0 {
		var list []string
		for p := range named.TypeParams().TypeParams() {
			list = append(list, p.Obj().Name()+" "+typ(p.Constraint()))
		}
		name += "[" + strings.Join(list, ", ") + "]"
	}
	var of string
	switch u := t.Underlying().(type) {
	case *types.Struct:
		of = "struct"
		fieldLines(o.Name(), u, add, typ)
	case *types.Interface:
		of = "interface"
		if !u.IsMethodSet() {
			of = typ(u)
			break
		}
		for m := range u.Methods() {
			if !m.Exported() {
				of = "interface with unexported methods"
				continue
			}
			add("method %s.%s%s", o.Name(), m.Name(), signature(m.Type()))
		}
	default:
		of = typ(u)
	}
	add("type %s %s", name, of)
	if types.IsInterface(t) {
		return
	}
	// Methods of embedded types are the type's, too.
	methods := types.NewMethodSet(types.NewPointer(t))
	values := types.NewMethodSet(t)
	for s := range methods.Methods() {
		if m := s.Obj(); m.Exported() {
			receiver := "*" + o.Name()
			if values.Lookup(m.Pkg(), m.Name()) != nil {
				receiver = o.Name()
			}
			add("method (%s) %s%s", receiver, m.Name(), signature(m.Type()))
		}
	}
}

// Diff returns the lines of before that after lacks, and the other way round.
func Diff(before, after string) (gone, added []string) {
	split := func(s string) map[string]bool {
		m := map[string]bool{}
		for line := range strings.Lines(s) {
			m[strings.TrimSuffix(line, "\n")] = true
		}
		return m
	}
	a, b := split(before), split(after)
	for line := range a {
		if !b[line] {
			gone = append(gone, line)
		}
	}
	for line := range b {
		if !a[line] {
			added = append(added, line)
		}
	}
	slices.Sort(gone)
	slices.Sort(added)
	return gone, added
}

// Compare says what a package exports now and did not, or the other way round, when the file in
// dir was written.
func Compare(p *types.Package, dir string) error {
	name := File(p.Path())
	want, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return fmt.Errorf("package %s is new: go generate ./internal/api: %w", p.Path(), err)
	}
	gone, added := Diff(string(want), Text(p))
	if len(gone)+len(added) == 0 {
		return nil
	}
	return fmt.Errorf("package %s exports something else than docs/api/%s says; docs/stability.md says when it may.\ngone:\n\t%s\nnew:\n\t%s\nIf it may: go generate ./internal/api",
		p.Path(), name, strings.Join(gone, "\n\t"), strings.Join(added, "\n\t"))
}
