package gokernel

import (
	"go/ast"
	"go/types"
	"strings"
)

// call lowers a call, a conversion among them, and returns its results.
func (l *lowerer) call(x *ast.CallExpr) []*value {
	if l.info.Types[x.Fun].IsType() {
		return []*value{l.conversion(x)}
	}
	id, obj := l.callee(x)
	switch o := obj.(type) {
	case *types.Builtin:
		return []*value{l.builtin(x, o.Name())}
	case *types.Func:
		switch {
		case o.Pkg() == l.pkg:
			return l.local(x, id, o.Origin())
		case o.Pkg().Path() == mathPath:
			return l.mathCall(x, o.Name())
		case o.Pkg().Path() == bitsPath:
			return l.bitsCall(x, o.Name())
		case o.Pkg().Path() == cmplxPath:
			return l.cmplxCall(x, o.Name())
		case o.Pkg().Path() == kernelPath:
			if o.Signature().Recv() == nil {
				return []*value{l.kernelCall(x, o.Name())}
			}
			return []*value{l.method(x, o.Name())}
		}
	}
	l.src.refuse(x.Pos(), "this call is not part of the language of kernels")
	return nil
}

// arguments are the arguments of a call, also where one call gives them all.
func (l *lowerer) arguments(x *ast.CallExpr) []*value {
	if len(x.Args) == 1 {
		if inner, ok := ast.Unparen(x.Args[0]).(*ast.CallExpr); ok && l.info.Types[inner].Value == nil {
			l.step(inner)
			return l.call(inner)
		}
	}
	var args []*value
	for _, a := range x.Args {
		args = append(args, l.expr(a))
	}
	return args
}

// local calls a function or method of the source, which is lowered in place.
func (l *lowerer) local(x *ast.CallExpr, id *ast.Ident, fn *types.Func) []*value {
	return l.inPlace(x, fn, l.bindingOf(x, id, fn), l.argumentsOf(x, fn))
}

// inPlace lowers the body of a function that x calls.
func (l *lowerer) inPlace(x *ast.CallExpr, fn *types.Func, env binding, args []*value) []*value {
	l.pos = x.Pos()
	if l.calls++; l.calls > maxCalls {
		l.src.refuse(x.Pos(), "calls within calls, %d deep", maxCalls)
	}
	out := l.invoke(fn, env, args)
	l.calls--
	l.pos = x.Pos()
	return out
}

// bindingOf is what the type parameters of a function or method of the source are in a call.
func (l *lowerer) bindingOf(x *ast.CallExpr, id *ast.Ident, fn *types.Func) binding {
	sig := fn.Signature()
	env := binding{}
	for i := range sig.TypeParams().Len() {
		env[sig.TypeParams().At(i)] = l.settle(l.info.Instances[id].TypeArgs.At(i))
	}
	if sig.Recv() == nil {
		return env
	}
	s := l.info.Selections[ast.Unparen(x.Fun).(*ast.SelectorExpr)]
	if named, ok := types.Unalias(s.Obj().(*types.Func).Signature().Recv().Type()).(*types.Named); ok {
		for i := range sig.RecvTypeParams().Len() {
			env[sig.RecvTypeParams().At(i)] = l.settle(named.TypeArgs().At(i))
		}
	}
	return env
}

// argumentsOf are the receiver, if there is one, and the arguments of a call of the source.
func (l *lowerer) argumentsOf(x *ast.CallExpr, fn *types.Func) (args []*value) {
	if fn.Signature().Recv() != nil {
		sel := ast.Unparen(x.Fun).(*ast.SelectorExpr)
		recv := l.expr(sel.X)
		path := l.info.Selections[sel].Index()
		for _, i := range path[:len(path)-1] {
			recv = recv.parts[i]
		}
		args = append(args, recv)
	}
	return append(args, l.arguments(x)...)
}

// settle is a type with the type parameters of the frame replaced.
func (l *lowerer) settle(t types.Type) types.Type {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		if u := l.fr.env[t]; u != nil {
			return u
		}
	case *types.Array:
		return types.NewArray(l.settle(t.Elem()), t.Len())
	case *types.Named:
		if t.TypeArgs().Len() == 0 {
			return t
		}
		var args []types.Type
		for a := range t.TypeArgs().Types() {
			args = append(args, l.settle(a))
		}
		if r, err := types.Instantiate(nil, t.Origin(), args, false); err == nil {
			return r
		}
	}
	return t
}

// invoke lowers the body of a function.
func (l *lowerer) invoke(fn *types.Func, env binding, args []*value) []*value {
	saved, pos := l.fr, l.pos
	body := l.bodies[fn].Body
	sig := fn.Signature()
	l.fr = &frame{fn: fn, env: env, vars: map[types.Object]*variable{}, gone: l.clear()}
	if r := sig.Recv(); r != nil {
		l.bind(r, args[0])
		args = args[1:]
	}
	i := 0
	for p := range sig.Params().Variables() {
		l.bind(p, args[i])
		i++
	}
	for r := range sig.Results().Variables() {
		t := l.src.typeOf(r.Type(), env, r.Pos())
		if t.opaque() {
			l.src.refuse(r.Pos(), "a function returns numbers, no arrays and elements of package kernel")
		}
		v := &variable{t: t, val: undefined(t)}
		if r.Name() != "" {
			v.val = l.zeroValue(t)
			l.fr.vars[r] = v
		}
		l.fr.results = append(l.fr.results, v)
	}
	l.stmts(body.List)
	var out []*value
	for _, r := range l.fr.results {
		out = append(out, r.val)
	}
	l.fr, l.pos = saved, pos
	return out
}

// bind makes a variable of a parameter.
func (l *lowerer) bind(p *types.Var, v *value) {
	t := l.src.typeOf(p.Type(), l.fr.env, p.Pos())
	l.fr.vars[p] = &variable{t: t, val: l.assignable(v, t), name: p.Name()}
	l.named(l.fr.vars[p])
}

// clear is a hidden flag that is not set.
func (l *lowerer) clear() *variable { return &variable{t: tBool, val: l.boolean(l.flag(false))} }

func (l *lowerer) conversion(x *ast.CallExpr) *value {
	t := l.typeOf(x)
	if t.kind == kFloat && t.t.Size() == 4 {
		if v := l.narrow(x.Args[0]); v != nil {
			return v.as(t)
		}
	}
	return l.converted(l.expr(x.Args[0]), t)
}

// converted is a value as another type by Go's conversion.
func (l *lowerer) converted(v *value, t *ty) *value {
	switch {
	case t.kind == kComplex && v.t.kind == kComplex:
		return &value{t: t, parts: []*value{l.converted(v.parts[0], t.parts[0]), l.converted(v.parts[1], t.parts[1])}}
	case t.kind == kFloat && v.t.kind == kFloat:
		return &value{t: t, n: l.resize(v.n, t.t)}
	case t.scalar() && t.kind != kBool:
		if l.saturates(t) && v.t.kind != kBool {
			return l.scalar(t, l.saturatedConversion(v.t, t, v.n.v))
		}
		return l.scalar(t, l.convert(v.t, t, v.n.v))
	}
	return l.assignable(v, t)
}

func (l *lowerer) builtin(x *ast.CallExpr, name string) *value {
	if name == "len" || name == "cap" { // not a constant: of an array that calls gave
		return l.scalar(tInt64, l.int(tInt64.t, int64(len(l.expr(x.Args[0]).parts))))
	}
	args := l.arguments(x)
	t := l.typeOf(x)
	switch name {
	case "real":
		return args[0].parts[0].as(t)
	case "imag":
		return args[0].parts[1].as(t)
	case "complex":
		return l.pair(t, args[0].n, args[1].n)
	}
	v := args[0]
	for _, a := range args[1:] {
		switch {
		case v.t.kind == kFloat:
			v = &value{t: t, n: l.extreme(name == "min", v.n, a.n)}
		default:
			v = l.scalar(t, l.intExtreme(name == "min", t, v.n.v, a.n.v))
		}
	}
	return v.as(t)
}

// trimWidth cuts the width off the name of a function of math/bits.
func trimWidth(name string) (string, int) {
	for _, w := range []struct {
		s string
		n int
	}{{"64", 64}, {"32", 32}, {"16", 16}, {"8", 8}} {
		if s, ok := strings.CutSuffix(name, w.s); ok {
			return s, w.n
		}
	}
	return name, 64
}
