package weft_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"weft"
	"weft/internal/api"
	"weft/nn"
)

// module is the path of the module, which is another one where it is published.
var module = reflect.TypeFor[weft.Tensor]().PkgPath()

// public are the packages that the module offers.
var public = sync.OnceValues(func() (map[string]*types.Package, error) { return api.Public(".") })

func publicPackages(t *testing.T) map[string]*types.Package {
	pkgs, err := public()
	if err != nil {
		t.Fatal(err)
	}
	if len(pkgs) < 12 {
		t.Fatalf("only %d packages", len(pkgs))
	}
	return pkgs
}

// A speaker finds what the exported names of packages speak of.
type speaker struct {
	named map[*types.TypeName]bool // internal types that a public package gives a name
	found map[string]bool
}

// of notes the internal types in x, which where has in its exported part.
func (s *speaker) of(where string, x types.Type) {
	switch x := x.(type) {
	case *types.Alias:
		s.of(where, types.Unalias(x))
	case *types.Named:
		for a := range x.TypeArgs().Types() {
			s.of(where, a)
		}
		if o := x.Obj(); o.Pkg() != nil && strings.Contains(o.Pkg().Path()+"/", "/internal/") && strings.HasPrefix(o.Pkg().Path(), module) && !s.named[o] {
			s.found[where+" speaks of "+o.Pkg().Path()+"."+o.Name()] = true
		}
	case *types.Pointer:
		s.of(where, x.Elem())
	case *types.Slice:
		s.of(where, x.Elem())
	case *types.Array:
		s.of(where, x.Elem())
	case *types.Chan:
		s.of(where, x.Elem())
	case *types.Map:
		s.of(where, x.Key())
		s.of(where, x.Elem())
	case *types.Tuple:
		for v := range x.Variables() {
			s.of(where, v.Type())
		}
	case *types.Signature:
		s.of(where, x.Params())
		s.of(where, x.Results())
		for p := range x.TypeParams().TypeParams() {
			s.of(where, p.Constraint())
		}
	case *types.Struct:
		for f := range x.Fields() {
			if f.Exported() {
				s.of(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Union:
		for t := range x.Terms() {
			s.of(where, t.Type())
		}
	case *types.Interface:
		for m := range x.ExplicitMethods() {
			if m.Exported() {
				s.of(where+"."+m.Name(), m.Type())
			}
		}
		for e := range x.EmbeddedTypes() {
			s.of(where, e)
		}
	}
}

// object is of for what a package exports: of a type also its parts and methods.
func (s *speaker) object(where string, o types.Object) {
	n, ok := o.(*types.TypeName)
	if !ok {
		s.of(where, o.Type())
		return
	}
	s.of(where, types.Unalias(n.Type()).Underlying())
	if named, ok := types.Unalias(n.Type()).(*types.Named); ok {
		for m := range named.Methods() {
			if m.Exported() {
				s.of(where+"."+m.Name(), m.Type())
			}
		}
	}
}

// generated is the package that only programs of weft build call. Its types are the engine's own.
var generated = module + "/aot"

// Nothing that the module offers speaks of a type that only the module can name, unless a
// public package gives that type a name of its own, whose parts and methods are then looked at.
func TestNoInternalTypes(t *testing.T) {
	pkgs := publicPackages(t)
	s := &speaker{named: map[*types.TypeName]bool{}, found: map[string]bool{}}
	exported := func(f func(where string, o types.Object)) {
		for path, p := range pkgs {
			if path == generated {
				continue
			}
			for _, name := range p.Scope().Names() {
				if o := p.Scope().Lookup(name); o.Exported() {
					f(path+"."+name, o)
				}
			}
		}
	}
	exported(func(_ string, o types.Object) {
		if n, ok := o.(*types.TypeName); ok && n.IsAlias() {
			if named, ok := types.Unalias(n.Type()).(*types.Named); ok {
				s.named[named.Obj()] = true
			}
		}
	})
	names := 0
	exported(func(where string, o types.Object) { names++; s.object(where, o) })
	if names < 300 {
		t.Errorf("only %d names were looked at", names)
	}
	for _, f := range slices.Sorted(maps.Keys(s.found)) {
		t.Error(f)
	}
}

// What a name that is given to an internal type hides in go doc, its comment says: each
// exported field and method stands there as it is declared.
func TestAliasCommentsShowMembers(t *testing.T) {
	shown := 0
	for path, p := range publicPackages(t) {
		dir := "." + strings.TrimPrefix(path, module)
		for _, name := range p.Scope().Names() {
			n, ok := p.Scope().Lookup(name).(*types.TypeName)
			if !ok || !n.Exported() || !n.IsAlias() || path == generated && name != "Error" {
				continue
			}
			named, ok := types.Unalias(n.Type()).(*types.Named)
			if !ok || named.Obj().Pkg() == p {
				continue
			}
			text := typeComment(t, dir, name)
			plain := func(p *types.Package) string { return "" }
			want := func(line string) {
				shown++
				if !slices.ContainsFunc(strings.Split(text, "\n"), func(l string) bool {
					l, _, _ = strings.Cut(l, " //")
					return strings.TrimSpace(l) == line
				}) {
					t.Errorf("the comment of %s.%s has no line %q", path, name, line)
				}
			}
			if st, ok := named.Underlying().(*types.Struct); ok {
				for f := range st.Fields() {
					if f.Exported() {
						want(f.Name() + " " + types.TypeString(f.Type(), plain))
					}
				}
			}
			for m := range named.Methods() {
				if m.Exported() {
					sig := m.Signature()
					want("func (" + sig.Recv().Name() + " " + types.TypeString(sig.Recv().Type(), plain) + ") " + m.Name() + strings.TrimPrefix(types.TypeString(sig, plain), "func"))
				}
			}
		}
	}
	if shown < 20 {
		t.Errorf("only %d fields and methods", shown)
	}
}

// Links in the comments of exported identifiers lead to exported identifiers: of the package, of
// its types' methods and fields, or of another package.
func TestDocLinks(t *testing.T) {
	links := regexp.MustCompile(`(?:^|[\s(])\[\*?([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\]`)
	seen := 0
	pkgs := publicPackages(t)
	for path, p := range pkgs {
		files := sourceFiles(t, token.NewFileSet(), "."+strings.TrimPrefix(path, module))
		hidden := map[string]bool{} // names of the package that are not exported
		for _, f := range files {
			for name, o := range f.Scope.Objects {
				hidden[name] = o != nil && !ast.IsExported(name) && strings.ToLower(name) != name // else it reads as a shape
			}
		}
		leads := func(link string) bool {
			parts := strings.Split(link, ".")
			if of := slices.IndexFunc(p.Imports(), func(q *types.Package) bool { return len(parts) > 1 && q.Name() == parts[0] }); of >= 0 || len(parts) > 1 && !ast.IsExported(parts[0]) {
				return true // of another package
			}
			o := p.Scope().Lookup(parts[0])
			switch {
			case !ast.IsExported(parts[0]):
				return !hidden[parts[0]]
			case o == nil:
				return len(parts[0]) == 1 // a shape
			case len(parts) == 1:
				return true
			}
			at, _, _ := types.LookupFieldOrMethod(o.Type(), true, p, parts[1])
			return at != nil && at.Exported()
		}
		check := func(g *ast.CommentGroup, of string) {
			for _, m := range links.FindAllStringSubmatch(g.Text(), -1) {
				seen++
				if !leads(m[1]) {
					t.Errorf("the comment of %s.%s has the link %s, which leads nowhere", path, of, m[1])
				}
			}
		}
		for _, f := range files {
			if f.Doc != nil {
				check(f.Doc, "the package")
			}
			for _, d := range f.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					if ast.IsExported(d.Name.Name) && (d.Recv == nil || ast.IsExported(receiver(d))) {
						check(d.Doc, d.Name.Name)
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						switch s := s.(type) {
						case *ast.TypeSpec:
							if ast.IsExported(s.Name.Name) {
								check(d.Doc, s.Name.Name)
								check(s.Doc, s.Name.Name)
							}
						case *ast.ValueSpec:
							if ast.IsExported(s.Names[0].Name) {
								check(d.Doc, s.Names[0].Name)
								check(s.Doc, s.Names[0].Name)
							}
						}
					}
				}
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d links were looked at", seen)
	}
}

// receiver is the name of a method's type.
func receiver(d *ast.FuncDecl) string {
	x := d.Recv.List[0].Type
	for {
		switch e := x.(type) {
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e.Name
		default:
			return ""
		}
	}
}

// typeComment is the comment of a type declaration in the Go files of a folder.
func typeComment(t *testing.T, dir, name string) string {
	for _, f := range sourceFiles(t, token.NewFileSet(), dir) {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
				for _, s := range g.Specs {
					if s.(*ast.TypeSpec).Name.Name == name {
						return g.Doc.Text()
					}
				}
			}
		}
	}
	t.Fatalf("%s has no type %s", dir, name)
	return ""
}

// sourceFiles are the Go files of a folder but for tests.
func sourceFiles(t *testing.T, fset *token.FileSet, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// plainOptions are the functions whose options are an argument like others, since nothing can be
// done without them.
var plainOptions = map[string]string{
	"table.Table.Pivot":     "the columns have no defaults",
	"weft.Tensor.AvgPool2d": "there is no pooling without a window",
	"weft.Tensor.MaxPool2d": "there is no pooling without a window",
	"sym.Var.AvgPool2d":     "as of tensors",
	"sym.Var.MaxPool2d":     "as of tensors",
	"sym.Var.Histogram":     "variables have no elements to find the edges from",
	"sym.Scan":              "they say what is looped over, and the step comes last",
}

// TestOptionsAreLastAndVariadic walks the exported functions: a struct of options must be the last
// parameter and variadic. So a call without options need not write an empty struct. kernel's
// options come with the arrays of a variadic function and are left out.
func TestOptionsAreLastAndVariadic(t *testing.T) {
	found := 0
	for _, dir := range []string{".", "nn", "optim", "data", "train", "train/live", "plot", "ragged", "ragged/arrow", "records", "sym", "table", "npy", "safetensors", "onnx", "checkpoint", "viewer", "dlpack", "kernel"} {
		fset := token.NewFileSet()
		p, err := doc.NewFromFiles(fset, sourceFiles(t, fset, dir), "weft/"+dir)
		if err != nil {
			t.Fatal(err)
		}
		pkg := filepath.Base(dir)
		if dir == "." {
			pkg = "weft"
		}
		check := func(name string, f *doc.Func) {
			params := f.Decl.Type.Params.List
			for i, x := range params {
				typ := types.ExprString(x.Type)
				if !strings.HasSuffix(typ, "Opts") && !(pkg == "optim" && strings.TrimLeft(typ, ".") == "O") {
					continue
				}
				found++
				variadic := i == len(params)-1 && strings.HasPrefix(typ, "...")
				if _, plain := plainOptions[name]; plain == variadic {
					t.Errorf("%s takes %s as parameter %d of %d: want ...Opts last, or a reason in this test", name, typ, i+1, len(params))
				}
			}
		}
		for _, f := range p.Funcs {
			check(pkg+"."+f.Name, f)
		}
		for _, x := range p.Types {
			for _, f := range x.Funcs {
				check(pkg+"."+f.Name, f)
			}
			for _, f := range x.Methods {
				if ast.IsExported(f.Name) {
					check(pkg+"."+x.Name+"."+f.Name, f)
				}
			}
		}
	}
	if found < 70 {
		t.Errorf("only %d functions with options were found", found)
	}
}

// TestErrorsNamePackageAndArguments walks the calls that fail: what they give as the argument at fault must be a parameter, a receiver or a field
// of the package's exports, and in packages of functions on arrays the operation begins with the package's name. Words with spaces describe results
// of the caller's functions, and "dtype" is the type of any elements.
func TestErrorsNamePackageAndArguments(t *testing.T) {
	arrays := []string{"ndimage", "signal", "sparse", "special", "linalg", "fft", "polynomial", "distributions", "table", "sci/optimize", "sci/interpolate", "sci/stats", "sci/integrate"}
	other := map[string]string{"sparse shape": "an array of a file", "sym Inputs": "a field of weft.SaveOpts", "ragged Mask": "a field of nn.AttentionOpts",
		"kernel WithVJP": "an option", "records layout": "a Layout, of an argument or a file"}
	found := 0
	for _, dir := range append(arrays, ".", "sym", "models", "records", "kernel", "ragged", "hf", "tokenizers", "data", "nn", "optim", "train", "plot", "npy", "safetensors", "checkpoint", "onnx") {
		fset := token.NewFileSet()
		files := sourceFiles(t, fset, dir)
		names := parameterNames(files)
		pkg := files[0].Name.Name
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				var of, arg ast.Expr
				switch n := n.(type) {
				case *ast.ValueSpec:
					if len(n.Names) == 1 && n.Names[0].Name == "name" && len(n.Values) == 1 {
						of = n.Values[0]
					}
				case *ast.CallExpr:
					f := types.ExprString(n.Fun)
					if len(n.Args) > 1 && (f == "array.Failf" || f == "array.Given" || strings.HasSuffix(f, ".CheckArgument")) {
						of, arg = n.Args[0], n.Args[1]
					}
				case *ast.CompositeLit:
					if types.ExprString(n.Type) == "parameter" && len(n.Elts) > 0 { // of distributions
						arg = n.Elts[0]
					}
				}
				if s, ok := text(of); ok && slices.Contains(arrays, dir) && s != pkg && !strings.HasPrefix(s, pkg+".") {
					t.Errorf("%s: the operation %q does not begin with %s", fset.Position(n.Pos()), s, pkg)
				}
				if s, ok := text(arg); ok && s != "" && s != "dtype" && !strings.Contains(s, " ") {
					found++
					if first, _, _ := strings.Cut(s, "."); !names[first] && other[pkg+" "+s] == "" {
						t.Errorf("%s: the argument %q is not a parameter or field of %s", fset.Position(n.Pos()), s, pkg)
					}
				}
				return true
			})
		}
	}
	if found < 1400 {
		t.Errorf("only %d arguments were found", found)
	}
}

// text returns the value of a string literal.
func text(x ast.Expr) (s string, ok bool) {
	l, ok := x.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(l.Value)
	return s, err == nil
}

// parameterNames returns the names of parameters and receivers of exported functions, and of exported fields.
func parameterNames(files []*ast.File) map[string]bool {
	names := map[string]bool{}
	add := func(list *ast.FieldList, all bool) {
		if list == nil {
			return
		}
		for _, f := range list.List {
			for _, n := range f.Names {
				names[n.Name] = names[n.Name] || all || n.IsExported()
			}
		}
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Name.IsExported() {
					add(n.Recv, true)
					add(n.Type.TypeParams, true)
					ast.Inspect(n.Type, func(n ast.Node) bool { // also of functions that are arguments or results
						if f, ok := n.(*ast.FuncType); ok {
							add(f.Params, true)
						}
						return true
					})
				}
			case *ast.StructType:
				add(n.Fields, false)
			}
			return true
		})
	}
	return names
}

// TestSeveralOptionStructsAreRefused gives more options than one.
func TestSeveralOptionStructsAreRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"sort":   func() { weft.Ones(3).Sort(0, weft.SortOpts{}, weft.SortOpts{Descending: true}) },
		"linear": func() { nn.NewLinear(2, 3, nn.Opts{}, nn.Opts{}) },
		"conv2d": func() { weft.Ones(1, 1, 3, 3).Conv2d(weft.Ones(1, 1, 1, 1), nil, weft.ConvOpts{}, weft.ConvOpts{}) },
	} {
		if err := weft.Try(f); err == nil || err.Error() != name+": opts: are 2 structs, want one" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
