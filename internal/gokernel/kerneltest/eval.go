package kerneltest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"reflect"
)

// ErrSteps is the error of a call that takes more steps than it may.
var ErrSteps = errors.New("too many steps")

// Call evaluates a function that is not a method; arg names the type for its type parameter, if
// it has one. It returns [ErrSteps] after the given number of steps (statements and calls), and a
// runtime.Error where Go panics.
func (p *Program) Call(name string, steps int, arg string, args ...any) (results []any, err error) {
	left := steps
	defer func() {
		if x := recover(); x != nil {
			var ok bool
			if err, ok = x.(error); !ok {
				panic(x)
			}
		}
	}()
	f := &frame{p: p, left: &left}
	d := p.funcs[name]
	if d == nil {
		return nil, fmt.Errorf("no function %s", name)
	}
	var targs []types.Type
	if arg != "" {
		targs = []types.Type{types.Universe.Lookup(arg).Type()}
	}
	tparams := p.info.Defs[d.Name].Type().(*types.Signature).TypeParams()
	return f.call(d, tparams, targs, nil, args), nil
}

// A frame is one call of a function.
type frame struct {
	p     *Program
	left  *int
	vars  map[types.Object]*any
	targs map[*types.TypeParam]types.Type
	named []*any // results that have names
	out   []any  // what return gave
}

// call runs a function; recv is empty or its receiver.
func (f *frame) call(d *ast.FuncDecl, tparams *types.TypeParamList, targs []types.Type, recv, args []any) []any {
	f.step()
	g := &frame{p: f.p, left: f.left, vars: map[types.Object]*any{}, targs: map[*types.TypeParam]types.Type{}}
	for i, t := range targs {
		g.targs[tparams.At(i)] = f.subst(t)
	}
	bind := func(list *ast.FieldList, vals []any) {
		n := 0
		for _, field := range list.List {
			for _, id := range field.Names {
				g.define(id, clone(vals[n]))
				n++
			}
			if field.Names == nil {
				n++
			}
		}
	}
	if d.Recv != nil {
		bind(d.Recv, recv)
	}
	bind(d.Type.Params, args)
	if d.Type.Results != nil {
		for _, field := range d.Type.Results.List {
			for _, id := range field.Names {
				v := g.zero(g.p.info.TypeOf(field.Type))
				if id.Name != "_" {
					g.define(id, v)
					g.named = append(g.named, g.vars[g.p.info.Defs[id]])
				} else {
					g.named = append(g.named, &v)
				}
			}
		}
	}
	g.block(d.Body.List)
	return g.out
}

func (f *frame) step() {
	if *f.left--; *f.left < 0 {
		panic(ErrSteps)
	}
}

// define makes a variable.
func (f *frame) define(id *ast.Ident, v any) {
	if id.Name != "_" {
		f.vars[f.p.info.Defs[id]] = &v
	}
}

// subst puts types for type parameters.
func (f *frame) subst(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TypeParam:
		if s := f.targs[t]; s != nil {
			return s
		}
	case *types.Array:
		return types.NewArray(f.subst(t.Elem()), t.Len())
	}
	return t
}

// kind is that of a type over a basic one.
func (f *frame) kind(t types.Type) types.BasicKind {
	return f.subst(t).Underlying().(*types.Basic).Kind()
}

// zero is the value that variables start with.
func (f *frame) zero(t types.Type) any {
	switch u := f.subst(t).Underlying().(type) {
	case *types.Struct:
		s := make([]any, u.NumFields())
		for i := range s {
			s[i] = f.zero(u.Field(i).Type())
		}
		return s
	case *types.Array:
		s := make([]any, u.Len())
		for i := range s {
			s[i] = f.zero(u.Elem())
		}
		return s
	case *types.Basic:
		if u.Info()&types.IsBoolean != 0 {
			return false
		}
		return constantOf(u.Kind(), constant.MakeInt64(0))
	}
	panic(fmt.Sprint("no zero of ", t))
}

// A signal is how a statement ends: in order (token.ILLEGAL), or by break, continue,
// fallthrough or return.
type signal struct {
	tok   token.Token
	label string
}

var next = signal{}

func (f *frame) block(list []ast.Stmt) signal {
	for _, s := range list {
		if sig := f.exec(s, ""); sig != next {
			return sig
		}
	}
	return next
}

// exec runs a statement that has this label, or none.
func (f *frame) exec(s ast.Stmt, label string) signal {
	f.step()
	switch s := s.(type) {
	case *ast.BlockStmt:
		return f.block(s.List)
	case *ast.LabeledStmt:
		return f.exec(s.Stmt, s.Label.Name)
	case *ast.EmptyStmt:
	case *ast.ExprStmt:
		f.eval(s.X)
	case *ast.IncDecStmt:
		op := token.ADD
		if s.Tok == token.DEC {
			op = token.SUB
		}
		at := f.place(s.X)
		*at = binary(op, *at, constantOf(f.kind(f.p.info.TypeOf(s.X)), constant.MakeInt64(1)))
	case *ast.AssignStmt:
		f.assign(s)
	case *ast.DeclStmt:
		for _, spec := range s.Decl.(*ast.GenDecl).Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok || s.Decl.(*ast.GenDecl).Tok != token.VAR {
				continue
			}
			if len(v.Values) == 0 {
				for _, id := range v.Names {
					f.define(id, f.zero(f.p.info.TypeOf(v.Type)))
				}
				continue
			}
			for i, x := range f.values(v.Values) {
				f.define(v.Names[i], x)
			}
		}
	case *ast.ReturnStmt:
		if len(s.Results) > 0 {
			f.out = f.values(s.Results)
			for i, at := range f.named {
				store(at, clone(f.out[i]))
			}
		} else {
			f.out = nil
			for _, at := range f.named {
				f.out = append(f.out, clone(*at))
			}
		}
		return signal{tok: token.RETURN}
	case *ast.BranchStmt:
		sig := signal{tok: s.Tok}
		if s.Label != nil {
			sig.label = s.Label.Name
		}
		return sig
	case *ast.IfStmt:
		if s.Init != nil {
			f.exec(s.Init, "")
		}
		if f.eval(s.Cond).(bool) {
			return f.block(s.Body.List)
		} else if s.Else != nil {
			return f.exec(s.Else, "")
		}
	case *ast.ForStmt:
		if s.Init != nil {
			f.exec(s.Init, "")
		}
		for s.Cond == nil || f.eval(s.Cond).(bool) {
			f.step()
			if sig, leave := f.iteration(f.block(s.Body.List), label); leave {
				return sig
			}
			if s.Post != nil {
				f.exec(s.Post, "")
			}
		}
	case *ast.RangeStmt:
		return f.rangeOver(s, label)
	case *ast.SwitchStmt:
		return f.choose(s, label)
	default:
		panic(fmt.Sprintf("%T", s))
	}
	return next
}

// iteration says how a loop of this label goes on after an iteration that ended so.
func (f *frame) iteration(sig signal, label string) (signal, bool) {
	mine := sig.label == "" || sig.label == label
	switch {
	case sig == next || sig.tok == token.CONTINUE && mine:
		return next, false
	case sig.tok == token.BREAK && mine:
		return next, true
	}
	return sig, true
}

func (f *frame) rangeOver(s *ast.RangeStmt, label string) signal {
	set := func(e ast.Expr, v any) {
		if id, ok := e.(*ast.Ident); e == nil || ok && id.Name == "_" {
			return
		} else if s.Tok == token.DEFINE {
			f.define(id, v)
		} else {
			store(f.place(e), v)
		}
	}
	x := clone(f.eval(s.X))
	elems, isArray := x.([]any)
	n := uint64(len(elems))
	if !isArray {
		count, ok := toUint(x)
		if n = count; !ok {
			n = 0
		}
	}
	for i := range n {
		f.step()
		if isArray {
			set(s.Key, int(i))
			set(s.Value, clone(elems[i]))
		} else if s.Key != nil {
			set(s.Key, fromInt(f.kind(f.p.info.TypeOf(s.X)), i))
		}
		if sig, leave := f.iteration(f.block(s.Body.List), label); leave {
			return sig
		}
	}
	return next
}

func (f *frame) choose(s *ast.SwitchStmt, label string) signal {
	if s.Init != nil {
		f.exec(s.Init, "")
	}
	var tag any = true
	if s.Tag != nil {
		tag = f.eval(s.Tag)
	}
	at := -1
find:
	for i, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			if equal(tag, f.eval(e)) {
				at = i
				break find
			}
		}
	}
	for i, c := range s.Body.List {
		if at < 0 && c.(*ast.CaseClause).List == nil {
			at = i
			break
		}
	}
	if at < 0 {
		return next
	}
	sig := signal{tok: token.FALLTHROUGH}
	for ; sig.tok == token.FALLTHROUGH; at++ {
		sig = f.block(s.Body.List[at].(*ast.CaseClause).Body)
	}
	if sig.tok == token.BREAK && (sig.label == "" || sig.label == label) {
		return next
	}
	return sig
}

// values evaluates a list, or the one call that gives all of it.
func (f *frame) values(list []ast.Expr) []any {
	if call, ok := ast.Unparen(list[0]).(*ast.CallExpr); ok && len(list) == 1 {
		if t, ok := f.p.info.TypeOf(call).(*types.Tuple); ok && t.Len() > 1 {
			return f.results(call)
		}
	}
	var out []any
	for _, e := range list {
		out = append(out, clone(f.eval(e)))
	}
	return out
}

func (f *frame) assign(s *ast.AssignStmt) {
	switch s.Tok {
	case token.DEFINE:
		for i, v := range f.values(s.Rhs) {
			id := s.Lhs[i].(*ast.Ident)
			if f.p.info.Defs[id] == nil && id.Name != "_" {
				store(f.place(id), v)
			} else {
				f.define(id, v)
			}
		}
	case token.ASSIGN:
		// Indices are evaluated before anything is assigned.
		var at []*any
		for _, e := range s.Lhs {
			if id, ok := e.(*ast.Ident); ok && id.Name == "_" {
				at = append(at, new(any))
			} else {
				at = append(at, f.place(e))
			}
		}
		for i, v := range f.values(s.Rhs) {
			store(at[i], v)
		}
	default:
		op := s.Tok - token.ADD_ASSIGN + token.ADD
		at := f.place(s.Lhs[0])
		y := f.eval(s.Rhs[0])
		if op == token.SHL || op == token.SHR {
			*at = shift(op, *at, y)
		} else {
			*at = binary(op, *at, y)
		}
	}
}

// store assigns. A struct or array keeps its place: its fields may be assigned to in the
// same statement.
func store(at *any, v any) {
	if s, ok := v.([]any); ok && *at != nil {
		for i := range s {
			store(&(*at).([]any)[i], s[i])
		}
		return
	}
	*at = v
}

// place is where a variable, a field or an element is kept.
func (f *frame) place(e ast.Expr) *any {
	switch e := e.(type) {
	case *ast.Ident:
		if at := f.vars[f.p.info.ObjectOf(e)]; at != nil {
			return at
		}
	case *ast.ParenExpr:
		return f.place(e.X)
	case *ast.SelectorExpr:
		at := f.place(e.X)
		for _, i := range f.p.info.Selections[e].Index() {
			at = &(*at).([]any)[i]
		}
		return at
	case *ast.IndexExpr:
		at := f.place(e.X)
		return &(*at).([]any)[toInt(f.eval(e.Index))]
	default:
		// A value that has no place, such as the result of a call, is read only.
		v := f.eval(e)
		return &v
	}
	panic(fmt.Sprintf("no place: %T", e))
}

// eval evaluates an expression of one value.
func (f *frame) eval(e ast.Expr) any {
	tv := f.p.info.Types[e]
	if tv.Value != nil {
		return constantOf(f.kind(tv.Type), tv.Value)
	}
	switch e := e.(type) {
	case *ast.Ident:
		if c, ok := f.p.info.Uses[e].(*types.Const); ok {
			return constantOf(f.kind(f.p.info.TypeOf(e)), c.Val())
		}
		return *f.place(e)
	case *ast.BasicLit:
		return constantOf(f.kind(tv.Type), constant.MakeFromLiteral(e.Value, e.Kind, 0))
	case *ast.ParenExpr:
		return f.eval(e.X)
	case *ast.SelectorExpr, *ast.IndexExpr:
		return *f.place(e)
	case *ast.UnaryExpr:
		return unary(e.Op, f.eval(e.X))
	case *ast.BinaryExpr:
		x := f.eval(e.X)
		switch e.Op {
		case token.LAND:
			return x.(bool) && f.eval(e.Y).(bool)
		case token.LOR:
			return x.(bool) || f.eval(e.Y).(bool)
		case token.SHL, token.SHR:
			return shift(e.Op, x, f.eval(e.Y))
		}
		return binary(e.Op, x, f.eval(e.Y))
	case *ast.CompositeLit:
		return f.composite(e)
	case *ast.CallExpr:
		return f.results(e)[0]
	}
	panic(fmt.Sprintf("%T", e))
}

func (f *frame) composite(e *ast.CompositeLit) any {
	t := f.p.info.TypeOf(e)
	v := f.zero(t).([]any)
	u, isStruct := f.subst(t).Underlying().(*types.Struct)
	n := 0
	for _, x := range e.Elts {
		if kv, ok := x.(*ast.KeyValueExpr); ok {
			x = kv.Value
			if isStruct {
				for n = 0; u.Field(n).Name() != kv.Key.(*ast.Ident).Name; n++ {
				}
			} else {
				n = int(toInt(f.eval(kv.Key)))
			}
		}
		v[n] = clone(f.eval(x))
		n++
	}
	return v
}

// results evaluates a call.
func (f *frame) results(e *ast.CallExpr) []any {
	fun := ast.Unparen(e.Fun)
	if f.p.info.Types[fun].IsType() {
		x := f.eval(e.Args[0])
		if b, ok := f.subst(f.p.info.TypeOf(fun)).Underlying().(*types.Basic); ok {
			return []any{convert(b.Kind(), x)}
		}
		return []any{clone(x)}
	}
	if sel, ok := fun.(*ast.SelectorExpr); ok {
		if s := f.p.info.Selections[sel]; s != nil {
			return f.method(s, sel, e.Args)
		}
		path := f.p.info.Uses[sel.Sel].Pkg().Name()
		return reflected(reflect.ValueOf(library[path+"."+sel.Sel.Name]), f.optional(e.Args))
	}
	id, ok := fun.(*ast.Ident)
	if x, isIndex := fun.(*ast.IndexExpr); isIndex {
		id, ok = x.X.(*ast.Ident)
	} else if x, isIndex := fun.(*ast.IndexListExpr); isIndex {
		id, ok = x.X.(*ast.Ident)
	}
	if !ok {
		panic(fmt.Sprintf("call of %T", fun))
	}
	if _, ok := f.p.info.Uses[id].(*types.Builtin); ok {
		return []any{f.builtin(id.Name, e)}
	}
	obj := f.p.info.Uses[id].(*types.Func)
	var targs []types.Type
	if inst, ok := f.p.info.Instances[id]; ok {
		for i := range inst.TypeArgs.Len() {
			targs = append(targs, inst.TypeArgs.At(i))
		}
	}
	return f.call(f.p.decls[obj], obj.Type().(*types.Signature).TypeParams(), targs, nil, f.optional(e.Args))
}

// optional is values, of a list that may be empty.
func (f *frame) optional(list []ast.Expr) []any {
	if len(list) == 0 {
		return nil
	}
	return f.values(list)
}

func (f *frame) method(s *types.Selection, sel *ast.SelectorExpr, args []ast.Expr) []any {
	recv := f.eval(sel.X)
	path := s.Index()
	if d := f.p.decls[s.Obj()]; d != nil {
		for _, i := range path[:len(path)-1] {
			recv = recv.([]any)[i]
		}
		return f.call(d, nil, nil, []any{recv}, f.optional(args))
	}
	return reflected(reflect.ValueOf(recv).MethodByName(sel.Sel.Name), f.optional(args))
}

// reflected calls a function of Go's.
func reflected(fun reflect.Value, args []any) []any {
	var in []reflect.Value
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	var out []any
	for _, v := range fun.Call(in) {
		out = append(out, v.Interface())
	}
	return out
}

func (f *frame) builtin(name string, e *ast.CallExpr) any {
	args := f.values(e.Args)
	switch name {
	case "len", "cap":
		return len(args[0].([]any))
	case "real":
		return realPart(args[0])
	case "imag":
		return imagPart(args[0])
	case "complex":
		return makeComplex(args[0], args[1])
	case "min", "max":
		v := args[0]
		for _, x := range args[1:] {
			if name == "min" {
				v = smaller(v, x)
			} else {
				v = greater(v, x)
			}
		}
		return v
	}
	panic(name)
}
