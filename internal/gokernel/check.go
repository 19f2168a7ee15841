package gokernel

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"sync"

	"weft/internal/array"
)

// A Role says how a kernel reads a parameter.
type Role uint8

const (
	Scalar  Role = iota // one value an element
	Element             // kernel.Elem: the element itself; no argument is given for it
	Near                // a neighbourhood, read by offsets from the element's place
	Clamped             // a whole array, read by index; outside, the nearest element
	Wrapped             // outside, from the other side
	Zeroed              // outside, 0
	Array               // indices are proven to lie inside before the launch
)

var roleNames = [...]string{"scalar", "element", "near", "clamped", "wrapped", "zeroed", "array"}

func (r Role) String() string { return roleNames[r] }

// A Param is a parameter of a kernel.
type Param struct {
	Name  string // "_" if it has none
	Role  Role
	Rank  int         // of an array, 1 to 6
	Type  string      // as the source writes it
	DType array.DType // of its elements; Invalid if a type parameter says it, and for Element
	// TypeParam is the number of that type parameter, -1 if there is none.
	TypeParam int
}

// A Result is a result of a kernel.
type Result struct {
	Name  string
	Type  string
	DType array.DType // Invalid if a type parameter says it
}

// A Func is a function of a source that keeps to the language.
type Func struct {
	src     *Source
	name    string
	decl    *ast.FuncDecl
	obj     *types.Func
	pkg     *types.Package
	info    *types.Info
	bodies  map[*types.Func]*ast.FuncDecl
	targets map[*ast.BranchStmt]ast.Stmt // what break and continue leave or go on with
	costs   map[*types.Func]int
	sizes   map[*types.Func]int // see counting
	params  []Param
	results []Result

	mu   sync.Mutex
	made map[string]*Instance // by element types of arguments; an instance does not change
}

// Func checks the function of that name and what it calls, and nothing else.
func (s *Source) Func(name string) (f *Func, err error) {
	defer catch(&err)
	s.mu.Lock()
	f = s.funcs[name]
	s.mu.Unlock()
	if f != nil {
		return f, nil
	}
	list := s.decls[name]
	if len(list) == 0 {
		return nil, s.errorAt(token.NoPos, "there is no function %s%s", name, s.others())
	}
	d, ok := list[0].node.(*ast.FuncDecl)
	if !ok {
		return nil, s.errorAt(list[0].node.Pos(), "%s is not a function", name)
	}
	f = &Func{src: s, name: name, decl: d, bodies: map[*types.Func]*ast.FuncDecl{}, targets: map[*ast.BranchStmt]ast.Stmt{}, costs: map[*types.Func]int{}, sizes: map[*types.Func]int{},
		info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}}
	decls := s.choose(name)
	s.checkSize(name, decls)
	s.checkConstants(decls)
	f.typecheck(decls)
	c := &checker{f: f, state: map[*types.Func]int{}, depths: map[*types.Func]int{}, made: map[*types.Func]int{}}
	f.bounded()
	c.function(f.obj, d.Pos())
	f.signature()
	if len(f.TypeParams()) == 0 { // nothing is open that an instance would settle
		if _, err := f.instantiate(nil); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.funcs[name] = f
	s.mu.Unlock()
	return f, nil
}

// others lists the functions that there are.
func (s *Source) others() string {
	names := s.Names()
	if len(names) == 0 {
		return ""
	}
	if len(names) > 8 {
		names = append(names[:8], "...")
	}
	return "; there are " + strings.Join(names, ", ")
}

// typecheck runs the checker of types over the declarations that the function needs.
func (f *Func) typecheck(decls []decl) {
	s := f.src
	var first *Error
	conf := types.Config{Importer: libraryImporter{}, Sizes: types.SizesFor("gc", "amd64"), DisableUnusedImportCheck: true,
		Error: func(err error) {
			if e, ok := err.(types.Error); ok && first == nil {
				first = s.explain(e)
			}
		}}
	var trees []*ast.File
	for _, in := range s.files {
		t := &ast.File{Package: in.ast.Package, Name: in.ast.Name, FileStart: in.ast.FileStart, FileEnd: in.ast.FileEnd}
		for _, d := range decls {
			if d.file == in {
				t.Decls = append(t.Decls, d.node)
			}
		}
		if len(t.Decls) == 0 {
			continue
		}
		imports := &ast.GenDecl{TokPos: in.ast.Package, Tok: token.IMPORT}
		for _, spec := range in.ast.Imports {
			if p := strings.Trim(spec.Path.Value, "`\""); library[p] != nil && (spec.Name == nil || spec.Name.Name != "_") {
				imports.Specs = append(imports.Specs, spec)
				t.Imports = append(t.Imports, spec)
			}
		}
		if len(imports.Specs) > 0 {
			t.Decls = append([]ast.Decl{imports}, t.Decls...)
		}
		trees = append(trees, t)
	}
	f.pkg, _ = conf.Check("kernels", s.fset, trees, f.info)
	if first != nil {
		panic(first)
	}
	for _, d := range decls {
		if fn, ok := d.node.(*ast.FuncDecl); ok {
			if o, ok := f.info.Defs[fn.Name].(*types.Func); ok {
				f.bodies[o] = fn
			}
		}
	}
	f.obj, _ = f.info.Defs[f.decl.Name].(*types.Func)
	if f.obj == nil {
		s.refuse(f.decl.Pos(), "%s cannot be a kernel", f.name)
	}
}

// explain is a fault of types, with the reason where it lies in what was left out.
func (s *Source) explain(e types.Error) *Error {
	if n, ok := strings.CutPrefix(e.Msg, "undefined: "); ok {
		for _, d := range s.decls[n] {
			if g, ok := d.node.(*ast.GenDecl); ok && g.Tok == token.VAR {
				return s.errorAt(e.Pos, "%s is a variable of the package; a kernel reads its parameters and constants alone", n)
			}
		}
		p := s.fset.PositionFor(e.Pos, false)
		for _, f := range s.files {
			if path := f.imports[n]; f.name == p.Filename && path != "" {
				return s.errorAt(e.Pos, "package %q is not part of the language; kernels use %s alone", path, allowed)
			}
		}
	}
	return s.errorAt(e.Pos, "%s", e.Msg)
}

// Name returns the name of the function.
func (f *Func) Name() string { return f.name }

// Params returns the parameters.
func (f *Func) Params() []Param { return f.params }

// Results returns the results, one at least.
func (f *Func) Results() []Result { return f.results }

// Text returns the source of the function.
func (f *Func) Text() string {
	for _, in := range f.src.files {
		if from := f.src.fset.Position(f.decl.Pos()); from.Filename == in.name {
			return string(in.src[from.Offset:f.src.fset.Position(f.decl.End()).Offset])
		}
	}
	return ""
}

// AppendKey appends what tells the function from others.
func (f *Func) AppendKey(k []byte) []byte {
	return append(append(append(k, f.src.hash[:]...), f.name...), 0)
}

// TypeParams returns the names of the type parameters.
func (f *Func) TypeParams() []string {
	var names []string
	for p := range f.obj.Signature().TypeParams().TypeParams() {
		names = append(names, p.Obj().Name())
	}
	return names
}

// Pos returns where the function stands.
func (f *Func) Pos() token.Position { return f.src.fset.PositionFor(f.decl.Pos(), false) }

// bounded refuses a function of too many parameters or results.
func (f *Func) bounded() {
	if n := f.obj.Signature().Params().Len(); n > maxParams {
		f.src.refuse(f.decl.Pos(), "%s has %d parameters, a kernel has at most %d", f.name, n, maxParams)
	}
	if n := f.obj.Signature().Results().Len(); n > maxResults {
		f.src.refuse(f.decl.Pos(), "%s has %d results, a kernel has at most %d", f.name, n, maxResults)
	}
}

func (f *Func) signature() {
	s, sig := f.src, f.obj.Signature()
	for v := range sig.Params().Variables() {
		p := Param{Name: v.Name(), Type: plain(v.Type()), TypeParam: -1}
		if p.Name == "" {
			p.Name = "_"
		}
		elem := v.Type()
		if n, ok := types.Unalias(elem).(*types.Named); ok {
			var e types.Type
			if p.Role, p.Rank, e = special(n); e != nil {
				elem = e
			}
		}
		if p.Role != Element {
			p.DType, p.TypeParam = f.element(elem, v.Pos(), "parameter "+p.Name)
		}
		f.params = append(f.params, p)
	}
	if sig.Variadic() {
		s.refuse(f.decl.Type.Params.Pos(), "a kernel takes a fixed number of parameters")
	}
	if sig.Results().Len() == 0 {
		s.refuse(f.decl.Name.Pos(), "kernel %s has no result", f.name)
	}
	for v := range sig.Results().Variables() {
		d, _ := f.element(v.Type(), v.Pos(), "a result")
		f.results = append(f.results, Result{Name: v.Name(), Type: plain(v.Type()), DType: d})
	}
}

// element returns the element type of a scalar Go type, or the number of the type parameter
// that is it.
func (f *Func) element(t types.Type, pos token.Pos, what string) (array.DType, int) {
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		return array.Invalid, tp.Index()
	}
	r := f.src.typeOf(t, nil, pos)
	d := r.dtype()
	if d == array.Invalid {
		f.src.refuse(pos, "%s of type %s: arguments and results of a kernel are bool, numbers, and arrays of package kernel as arguments", what, plain(t))
	}
	return d, -1
}

// A checker refuses what the language does not have, in a function and what it calls.
type checker struct {
	f      *Func
	state  map[*types.Func]int // 1 while its body is looked at, 2 when done
	loops  []enclosing
	depths map[*types.Func]int // of calls within each other
	depth  int                 // maximum depth in the current function so far
	made   map[*types.Func]int // calls, see callsIn
}

// An enclosing is a statement that break or continue may name.
type enclosing struct {
	stmt  ast.Stmt
	label string
	loop  bool
}

func (c *checker) function(fn *types.Func, pos token.Pos) {
	fn = fn.Origin()
	switch c.state[fn] {
	case 1:
		c.f.src.refuse(pos, "%s calls itself, directly or through others; kernels have no recursion", fn.Name())
	case 2:
		return
	}
	d := c.f.bodies[fn]
	if d == nil || d.Body == nil {
		c.f.src.refuse(pos, "%s has no body in this source", fn.Name())
	}
	if r := fn.Signature().Recv(); r != nil {
		if _, ok := r.Type().(*types.Pointer); ok {
			c.f.src.refuse(pos, "method %s has a pointer as receiver; kernels have no pointers", fn.Name())
		}
	}
	if fn.Signature().Variadic() {
		c.f.src.refuse(pos, "%s takes any number of arguments, which kernels do not have", fn.Name())
	}
	c.state[fn] = 1
	loops, depth := c.loops, c.depth
	c.loops, c.depth = nil, 0
	c.stmt(d.Body, "")
	if c.depth > maxCalls {
		c.f.src.refuse(d.Name.Pos(), "calls within calls, more than %d deep from %s on", maxCalls, fn.Name())
	}
	if c.made[fn] = c.callsOf(d.Body.List); c.made[fn] > maxCallsMade {
		c.f.src.refuse(d.Name.Pos(), "%s makes more than %d calls for one element, also through what it calls", fn.Name(), maxCallsMade)
	}
	c.depths[fn] = c.depth
	c.loops, c.depth = loops, depth
	c.state[fn] = 2
	c.f.costs[fn], c.f.sizes[fn] = c.f.cost(d.Body), c.f.count(d.Body, asWritten)
	c.checkInPlace(fn, d.Body)
}

// checkInPlace refuses a function if the bodies that are inlined for its calls take more than
// maxInPlace. Every call is inlined. The error names the callee that takes most.
func (c *checker) checkInPlace(fn *types.Func, body *ast.BlockStmt) {
	calls, size := map[*types.Func]int{}, 0
	var most *types.Func
	ast.Inspect(body, func(n ast.Node) bool {
		x, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		_, obj := c.f.callee(x)
		g, ok := obj.(*types.Func)
		if !ok || g.Pkg() != c.f.pkg {
			return true
		}
		g = g.Origin()
		calls[g]++
		size += c.f.sizes[g]
		if most == nil || calls[g]*c.f.sizes[g] > calls[most]*c.f.sizes[most] {
			most = g
		}
		return true
	})
	if size > maxInPlace {
		c.f.src.refuse(most.Pos(), "%s is about %d instructions and stands in place of each of %d calls in %s; what a function calls may take %d at most",
			most.Name(), c.f.sizes[most], calls[most], fn.Name(), maxInPlace)
	}
}

func (c *checker) no(n ast.Node, what string) {
	c.f.src.refuse(n.Pos(), "%s not part of the language of kernels", what)
}

// stmt checks a statement; label is its own.
func (c *checker) stmt(s ast.Stmt, label string) {
	within := func(loop bool, parts ...ast.Node) {
		c.loops = append(c.loops, enclosing{s, label, loop})
		for _, p := range parts {
			c.node(p)
		}
		c.loops = c.loops[:len(c.loops)-1]
	}
	switch s := s.(type) {
	case nil, *ast.EmptyStmt:
	case *ast.BlockStmt:
		for _, x := range s.List {
			c.stmt(x, "")
		}
	case *ast.LabeledStmt:
		c.stmt(s.Stmt, s.Label.Name)
	case *ast.ExprStmt:
		c.expr(s.X)
	case *ast.IncDecStmt:
		c.expr(s.X)
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			c.expr(x)
		}
		for _, x := range s.Rhs {
			c.expr(x)
		}
	case *ast.DeclStmt:
		c.declaration(s.Decl.(*ast.GenDecl))
	case *ast.ReturnStmt:
		for _, x := range s.Results {
			c.expr(x)
		}
	case *ast.BranchStmt:
		c.branch(s)
	case *ast.IfStmt:
		c.stmt(s.Init, "")
		c.expr(s.Cond)
		c.stmt(s.Body, "")
		c.stmt(s.Else, "")
	case *ast.SwitchStmt:
		c.stmt(s.Init, "")
		c.expr(s.Tag)
		within(false, s.Body)
	case *ast.CaseClause:
		for _, x := range s.List {
			c.expr(x)
		}
		for _, x := range s.Body {
			c.stmt(x, "")
		}
	case *ast.ForStmt:
		c.stmt(s.Init, "")
		c.expr(s.Cond)
		c.stmt(s.Post, "")
		within(true, s.Body)
	case *ast.RangeStmt:
		c.expr(s.Key)
		c.expr(s.Value)
		c.expr(s.X)
		c.rangeOver(s)
		within(true, s.Body)
	case *ast.GoStmt:
		c.no(s, "goroutines are")
	case *ast.DeferStmt:
		c.no(s, "defer is")
	case *ast.SendStmt, *ast.SelectStmt:
		c.no(s, "channels are")
	case *ast.TypeSwitchStmt:
		c.no(s, "a switch over types is")
	default:
		c.no(s, "this statement is")
	}
}

func (c *checker) node(n ast.Node) {
	if s, ok := n.(ast.Stmt); ok {
		c.stmt(s, "")
	}
}

func (c *checker) rangeOver(s *ast.RangeStmt) {
	t := c.f.info.TypeOf(s.X)
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		t = tp.Underlying()
	}
	if isSeq(t) {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return
	case *types.Basic:
		if u.Info()&types.IsInteger != 0 {
			return
		}
	case *types.Interface: // of a type parameter: an integer, or it would not have passed
		return
	}
	c.f.src.refuse(s.X.Pos(), "a loop ranges over an integer, an array of fixed length or a kernel.Seq, not over %s", plain(t))
}

func (c *checker) branch(s *ast.BranchStmt) {
	switch s.Tok {
	case token.GOTO:
		c.no(s, "goto is")
	case token.FALLTHROUGH:
		return
	}
	for i := len(c.loops) - 1; i >= 0; i-- {
		e := c.loops[i]
		if s.Label != nil && e.label != s.Label.Name || s.Label == nil && s.Tok == token.CONTINUE && !e.loop {
			continue
		}
		c.f.targets[s] = e.stmt
		return
	}
	c.f.src.refuse(s.Pos(), "%s leaves no loop or switch", s.Tok)
}

func (c *checker) declaration(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
			for _, x := range v.Values {
				c.expr(x)
			}
		}
	}
}

// expr checks an expression.
func (c *checker) expr(x ast.Expr) {
	if x == nil {
		return
	}
	if tv, ok := c.f.info.Types[x]; ok && (tv.Value != nil || tv.IsType()) {
		return // a constant or a type, whatever it is made of
	}
	switch x := x.(type) {
	case *ast.Ident:
		if _, ok := c.f.info.Uses[x].(*types.Nil); ok {
			c.no(x, "nil is")
		}
		if _, ok := c.f.info.Uses[x].(*types.Func); ok {
			c.no(x, "function values are")
		}
	case *ast.BasicLit:
	case *ast.ParenExpr:
		c.expr(x.X)
	case *ast.SelectorExpr:
		if sel := c.f.info.Selections[x]; sel != nil && sel.Kind() != types.FieldVal {
			c.no(x, "method values are")
		}
		if _, ok := c.f.info.Uses[x.Sel].(*types.Func); ok {
			c.no(x, "function values are")
		}
		c.expr(x.X)
	case *ast.IndexExpr:
		c.expr(x.X)
		c.expr(x.Index)
	case *ast.IndexListExpr:
		c.no(x, "function values are")
	case *ast.UnaryExpr:
		switch x.Op {
		case token.AND:
			c.no(x, "pointers are")
		case token.ARROW:
			c.no(x, "channels are")
		}
		c.expr(x.X)
	case *ast.BinaryExpr:
		c.expr(x.X)
		c.expr(x.Y)
	case *ast.CallExpr:
		c.call(x)
	case *ast.CompositeLit:
		switch u := c.f.info.TypeOf(x).Underlying().(type) {
		case *types.Struct, *types.Array:
		default:
			c.f.src.typeOf(u, nil, x.Pos())
			c.no(x, "this literal is")
		}
		if n, ok := types.Unalias(c.f.info.TypeOf(x)).(*types.Named); ok {
			if r, _, _ := special(n); r != Scalar {
				c.f.src.refuse(x.Pos(), "arrays and elements of package kernel are given to a kernel as parameters")
			}
		}
		for _, e := range x.Elts {
			if kv, ok := e.(*ast.KeyValueExpr); ok {
				e = kv.Value
			}
			c.expr(e)
		}
	case *ast.FuncLit:
		c.no(x, "closures are")
	case *ast.SliceExpr:
		c.no(x, "slices are")
	case *ast.StarExpr:
		c.no(x, "pointers are")
	case *ast.TypeAssertExpr:
		c.no(x, "interfaces are")
	default:
		c.no(x, "this expression is")
	}
}

// builtins are the built-in functions of the language.
var builtins = map[string]bool{"min": true, "max": true, "len": true, "cap": true, "complex": true, "real": true, "imag": true}

func (c *checker) call(x *ast.CallExpr) {
	for _, a := range x.Args {
		c.expr(a)
	}
	if c.f.info.Types[x.Fun].IsType() {
		return
	}
	if x.Ellipsis.IsValid() {
		c.no(x, "calls with any number of arguments are")
	}
	id, obj := c.f.callee(x)
	switch o := obj.(type) {
	case *types.Builtin:
		if !builtins[o.Name()] {
			c.no(x, o.Name()+" is")
		}
	case *types.Func:
		if sel, ok := ast.Unparen(x.Fun).(*ast.SelectorExpr); ok && c.f.info.Selections[sel] != nil {
			c.expr(sel.X)
			if c.f.info.Selections[sel].Kind() != types.MethodVal {
				c.no(x, "method expressions are")
			}
		}
		if o.Pkg() == c.f.pkg {
			c.function(o, id.Pos())
			c.depth = max(c.depth, c.depths[o.Origin()]+1)
		} else if o.Pkg() == nil || library[o.Pkg().Path()] == nil {
			c.f.src.refuse(x.Pos(), "%s is not part of the language of kernels", o.Name())
		}
	default:
		c.f.src.refuse(x.Pos(), "function values are not part of the language of kernels")
	}
}

// callee returns what a call names, and where.
func (f *Func) callee(x *ast.CallExpr) (*ast.Ident, types.Object) {
	fun := ast.Unparen(x.Fun)
	switch y := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(y.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(y.X)
	}
	switch y := fun.(type) {
	case *ast.Ident:
		return y, f.info.Uses[y]
	case *ast.SelectorExpr:
		return y.Sel, f.info.Uses[y.Sel]
	}
	return nil, nil
}
