package gokernel

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"

	"weft/internal/loop"
)

// expr lowers an expression of one value.
func (l *lowerer) expr(x ast.Expr) *value {
	l.step(x)
	if tv := l.info.Types[x]; tv.Value != nil {
		return l.constant(tv.Value, l.typeOf(x))
	}
	switch x := x.(type) {
	case *ast.ParenExpr:
		return l.expr(x.X)
	case *ast.Ident:
		return l.variable(x).val
	case *ast.SelectorExpr:
		return l.field(l.expr(x.X), l.info.Selections[x])
	case *ast.IndexExpr:
		a, i := l.expr(x.X), l.expr(x.Index)
		l.pos = x.Index.Pos()
		return l.element(a, i.n.v, i.t)
	case *ast.UnaryExpr:
		return l.unary(x.Op, l.expr(x.X))
	case *ast.BinaryExpr:
		return l.binaryExpr(x)
	case *ast.CallExpr:
		return l.call(x)[0]
	case *ast.CompositeLit:
		return l.literal(x)
	}
	l.src.refuse(x.Pos(), "this expression is not part of the language of kernels")
	return nil
}

func (l *lowerer) constant(v constant.Value, t *ty) *value {
	if t.kind == kComplex {
		v = constant.ToComplex(v)
		return &value{t: t, parts: []*value{l.constant(constant.Real(v), t.parts[0]), l.constant(constant.Imag(v), t.parts[1])}}
	}
	return l.scalar(t, l.b.ConstBits(t.t, literal(v, t)))
}

// variable returns what a name stands for.
func (l *lowerer) variable(x *ast.Ident) *variable {
	obj := l.info.Uses[x]
	if obj == nil {
		obj = l.info.Defs[x]
	}
	v := l.fr.vars[obj]
	if v == nil {
		l.src.refuse(x.Pos(), "%s is not a variable of the function", x.Name)
	}
	return v
}

// field follows the way to a field, through those that are embedded.
func (l *lowerer) field(v *value, sel *types.Selection) *value {
	if sel == nil || v.t.kind != kStruct {
		l.src.refuse(l.pos, "this field is not part of the language of kernels")
	}
	for _, i := range sel.Index() {
		v = v.parts[i]
	}
	return v
}

func (l *lowerer) unary(op token.Token, v *value) *value {
	switch {
	case op == token.ADD:
		return v
	case op == token.SUB && v.t.kind == kComplex:
		return l.pair(v.t, l.negate(v.parts[0].n), l.negate(v.parts[1].n))
	case op == token.SUB && v.t.kind == kFloat:
		return &value{t: v.t, n: l.negate(v.n)}
	case op == token.SUB:
		if l.saturates(v.t) {
			return l.scalar(v.t, l.saturatedNeg(v.t, v.n.v))
		}
		return l.scalar(v.t, l.neg(v.n.v))
	}
	return l.scalar(v.t, l.not(v.n.v)) // ! and ^
}

func (l *lowerer) binaryExpr(x *ast.BinaryExpr) *value {
	switch x.Op {
	case token.LAND, token.LOR:
		return l.boolean(l.shortcut(x))
	case token.SHL, token.SHR:
		a, n := l.expr(x.X), l.expr(x.Y)
		return l.scalar(a.t, l.shift(x.Op == token.SHL, a.t, a.n.v, n.t, n.n.v))
	}
	a, b := l.expr(x.X), l.expr(x.Y)
	l.pos = x.OpPos
	return l.binary(x.Op, a, b)
}

// binary is an operation on two values of one type.
func (l *lowerer) binary(op token.Token, a, b *value) *value {
	switch op {
	case token.EQL:
		return l.boolean(l.equal(a, b, l.pos))
	case token.NEQ:
		if a.t.scalar() {
			return l.boolean(l.bin(loop.OpNe, a.n.v, b.n.v))
		}
		return l.boolean(l.not(l.equal(a, b, l.pos)))
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		return l.boolean(l.compare(op.String(), a.t, a.n.v, b.n.v))
	}
	switch a.t.kind {
	case kFloat:
		return &value{t: a.t, n: l.float(op, a.n, b.n)}
	case kComplex:
		return l.complexOp(op, a, b)
	}
	if l.saturates(a.t) {
		return l.scalar(a.t, l.saturated(op.String(), a.t, a.n.v, b.n.v))
	}
	return l.scalar(a.t, l.intOp(op.String(), a.t, a.n.v, b.n.v))
}

// shortcut is && or ||: the right side is computed where it decides. Where that is cheap
// and nothing changes it is computed for all.
func (l *lowerer) shortcut(x *ast.BinaryExpr) loop.Value {
	a := l.expr(x.X).n.v
	and := x.Op == token.LAND
	if k, ok := l.knownBool(a); ok {
		if k != and {
			return l.flag(k)
		}
		return l.expr(x.Y).n.v
	}
	out := &variable{t: tBool, val: l.boolean(l.flag(!and))}
	when := a
	if !and {
		when = l.not(a)
	}
	vars := append(l.assigned(x.Y), out)
	l.branch(when, vars, l.cost(x.Y), func() { out.val = l.boolean(l.expr(x.Y).n.v) }, func() {})
	return out.val.n.v
}

// literal is a composite literal of a struct or an array.
func (l *lowerer) literal(x *ast.CompositeLit) *value {
	t := l.typeOf(x)
	v := l.zeroValue(t)
	u := l.info.TypeOf(x).Underlying()
	at := int64(0)
	for _, e := range x.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Value
			if st, ok := u.(*types.Struct); ok {
				for i := range st.NumFields() {
					if st.Field(i).Name() == kv.Key.(*ast.Ident).Name {
						at = int64(i)
					}
				}
			} else {
				at, _ = constant.Int64Val(constant.ToInt(l.info.Types[kv.Key].Value))
			}
		}
		v = v.with(int(at), l.assignable(l.expr(e), t.parts[at]))
		at++
	}
	return v
}

// assignable is a value as the type of what it is assigned to.
func (l *lowerer) assignable(v *value, t *ty) *value {
	if v.t.opaque() {
		return v
	}
	return v.as(t)
}
