package gokernel

import (
	"go/token"
	"slices"

	"weft/internal/loop"
	"weft/internal/op"
)

// Derivatives are computed in forward mode, by dual numbers: beside its value a float has a
// tangent for each input that is differentiated by. An instance that is derived twice has
// tangents of the tangents as well, which is a product of two such algebras. A float is the list
// of its coefficients. The coefficients of the first derivation are side by side, those from
// later derivations in blocks:
//
//	v, d1, d2, ...          the value and its tangents
//	e1, e1d1, e1d2, ...     the tangent by the first input of the second derivation, and its tangents
//
// Of a coefficient that is zero nothing is written: it is NoValue.

// partials is one derivation: by which inputs which results are differentiated, of the
// results of the derivation before. An input may be one read of an array, see byRead.
type partials struct{ results, inputs []int }

// Partials implements [op.Body]: the partial derivatives of the results that are asked for
// by the inputs that are.
func (i *Instance) Partials(results, inputs []bool) op.Body {
	d := i.Derive(chosen(results), chosen(inputs))
	if d == nil {
		return nil
	}
	return d
}

func chosen(list []bool) []int {
	var out []int
	for i, x := range list {
		if x {
			out = append(out, i)
		}
	}
	return out
}

// Derive returns the instance whose results are the partial derivatives of each result by
// each input, result by result, numbered as in [Instance.Results] and [Instance.Inputs].
// The derivatives of results that are not floats are zeros. Derive returns nil if an input is not
// a float or is not seen by element.
func (i *Instance) Derive(results, inputs []int) *Instance {
	for _, k := range inputs {
		if in := i.inputs[k]; !in.DType.Float() || in.Seen() != op.ByElement {
			return nil
		}
	}
	return i.derive(results, inputs)
}

func (i *Instance) derive(results, inputs []int) *Instance {
	c := *i
	c.active = nil
	c.wrt = append(slices.Clone(i.wrt), partials{slices.Clone(results), slices.Clone(inputs)})
	c.inputs, c.loads, c.proofs = slices.Clone(i.inputs), slices.Clone(i.loads), slices.Clone(i.proofs)
	if err := c.tryAgain(); err != nil {
		return nil
	}
	return &c
}

// tryAgain is the trial of a derived instance, which may grow too large.
func (i *Instance) tryAgain() (err error) {
	defer catch(&err)
	i.trial()
	return nil
}

// A column is a result: part of a result of the function and the inputs by which that is
// differentiated, one a derivation.
type column struct {
	part   int
	inputs []int
}

// columns are the results after the first n derivations.
func (i *Instance) columns(n int) []column {
	var out []column
	if n == 0 {
		for k := range i.parts() {
			out = append(out, column{part: k})
		}
		return out
	}
	before, w := i.columns(n-1), i.wrt[n-1]
	for _, r := range w.results {
		for _, in := range w.inputs {
			out = append(out, column{before[r].part, append(slices.Clone(before[r].inputs), in)})
		}
	}
	return out
}

// duals says which coefficients floats have: the number of inputs of each derivation.
type duals []int

func (i *Instance) duals() duals {
	var d duals
	for _, w := range i.wrt {
		d = append(d, len(w.inputs))
	}
	return d
}

// all is the number of coefficients of the first level derivations.
func (d duals) all(level int) int {
	n := 1
	for _, k := range d[:level] {
		n *= k + 1
	}
	return n
}

// size is the number of tangents.
func (d duals) size() int { return d.all(len(d)) - 1 }

// number is a float input with its tangents.
func (l *lowerer) number(i int) num { return l.seed(l.input(i), i) }

// seed is what input i, or a read, has been found to be, with its tangents.
func (l *lowerer) seed(v loop.Value, i int) num {
	n := num{v: v}
	for k, w := range l.inst.wrt {
		p := slices.Index(w.inputs, i)
		if p < 0 {
			continue
		}
		if n.d == nil {
			n.d = none(l.duals.size())
		}
		n.d[(p+1)*l.duals.all(k)-1] = l.b.Float(l.b.Type(n.v), 1)
	}
	return n
}

// none is a list of zeros.
func none(n int) []loop.Value {
	d := make([]loop.Value, n)
	for i := range d {
		d[i] = loop.NoValue
	}
	return d
}

// derivatives are the results of a derived instance.
func (l *lowerer) derivatives(results []*value) []loop.Value {
	var leaves []*value
	var walk func(v *value)
	walk = func(v *value) {
		if v.t.scalar() {
			leaves = append(leaves, v)
		}
		for _, p := range v.parts {
			walk(p)
		}
	}
	for _, r := range results {
		walk(r)
	}
	var out []loop.Value
	n := len(l.inst.wrt)
	for _, c := range l.inst.columns(n) {
		at := 0
		for k, in := range c.inputs {
			at += (slices.Index(l.inst.wrt[k].inputs, in) + 1) * l.duals.all(k)
		}
		t := loop.TypeOf(l.inst.inputs[inputOf(c.inputs[n-1])].DType)
		v := loop.NoValue
		if leaf := leaves[c.part]; leaf.t.kind == kFloat {
			v = leaf.n.at(at - 1)
		}
		if v == loop.NoValue {
			v = l.zero(t)
		}
		out = append(out, l.reach(l.resizeValue(v, t), t))
	}
	return out
}

// A jet is the coefficients of a float up to some derivation: it is the value alone before
// the first. NoValue is zero; a jet that is nil is zero.
type jet []loop.Value

func (l *lowerer) jet(x num) jet {
	j := make(jet, 1, 1+l.duals.size())
	j[0] = x.v
	if x.d == nil {
		return append(j, none(l.duals.size())...)
	}
	return append(j, x.d...)
}

func (l *lowerer) num(j jet) num {
	n := num{v: j[0]}
	for _, d := range j[1:] {
		if d != loop.NoValue {
			n.d = j[1:]
		}
	}
	return n
}

// level is the number of derivations whose coefficients a jet has.
func (l *lowerer) level(x jet) int {
	for k := 0; ; k++ {
		if l.duals.all(k) == len(x) && (k == len(l.duals) || l.duals[k] > 0) {
			return k
		}
	}
}

// block is block i of a jet, nil if it is zero: of the level below.
func (l *lowerer) block(x jet, level, i int) jet {
	n := l.duals.all(level - 1)
	b := x[i*n : (i+1)*n]
	for _, v := range b {
		if v != loop.NoValue {
			return b
		}
	}
	return nil
}

// blocks makes a jet of its blocks.
func (l *lowerer) blocks(level int, of func(i int) jet) jet {
	var out jet
	n := l.duals.all(level - 1)
	for i := range l.duals[level-1] + 1 {
		b := of(i)
		if b == nil {
			b = jet(none(n))
		}
		out = append(out, b...)
	}
	return out
}

// linear applies f to each coefficient that is not zero.
func (l *lowerer) linear(x jet, f func(v loop.Value) loop.Value) jet {
	if x == nil {
		return nil
	}
	out := make(jet, len(x))
	for i, v := range x {
		if out[i] = v; v != loop.NoValue {
			out[i] = f(v)
		}
	}
	return out
}

func (l *lowerer) jneg(x jet) jet { return l.linear(x, l.neg) }

func (l *lowerer) jadd(x, y jet) jet {
	switch {
	case x == nil:
		return y
	case y == nil:
		return x
	}
	out := make(jet, len(x))
	for i := range x {
		switch {
		case x[i] == loop.NoValue:
			out[i] = y[i]
		case y[i] == loop.NoValue:
			out[i] = x[i]
		default:
			out[i] = l.bin(loop.OpAdd, x[i], y[i])
		}
	}
	return out
}

func (l *lowerer) jsub(x, y jet) jet {
	switch {
	case y == nil:
		return x
	case x == nil:
		return l.jneg(y)
	}
	out := make(jet, len(x))
	for i := range x {
		switch {
		case y[i] == loop.NoValue:
			out[i] = x[i]
		case x[i] == loop.NoValue:
			out[i] = l.neg(y[i])
		default:
			out[i] = l.bin(loop.OpSub, x[i], y[i])
		}
	}
	return out
}

func (l *lowerer) jmul(x, y jet) jet {
	if x == nil || y == nil {
		return nil
	}
	if len(x) == 1 {
		if x[0] == loop.NoValue || y[0] == loop.NoValue {
			return nil
		}
		return jet{l.times(x[0], y[0])}
	}
	k := l.level(x)
	x0, y0 := l.block(x, k, 0), l.block(y, k, 0)
	return l.blocks(k, func(i int) jet {
		if i == 0 {
			return l.jmul(x0, y0)
		}
		return l.jadd(l.jmul(l.block(x, k, i), y0), l.jmul(x0, l.block(y, k, i)))
	})
}

// times is a product; a factor of 1 is left out.
func (l *lowerer) times(x, y loop.Value) loop.Value {
	if f, ok := l.knownFloat(x); ok && f == 1 {
		return y
	}
	if f, ok := l.knownFloat(y); ok && f == 1 {
		return x
	}
	return l.bin(loop.OpMul, x, y)
}

func (l *lowerer) jdiv(x, y jet) jet {
	if x == nil {
		return nil
	}
	if len(x) == 1 {
		if x[0] == loop.NoValue {
			return nil
		}
		return jet{l.bin(loop.OpDiv, x[0], y[0])}
	}
	k := l.level(x)
	y0 := l.block(y, k, 0)
	z0 := l.jdiv(l.block(x, k, 0), y0)
	return l.blocks(k, func(i int) jet {
		if i == 0 {
			return z0
		}
		return l.jdiv(l.jsub(l.block(x, k, i), l.jmul(z0, l.block(y, k, i))), y0)
	})
}

// jconst is a constant like x.
func (l *lowerer) jconst(x jet, f float64) jet {
	out := jet(none(len(x)))
	out[0] = l.b.Float(l.b.Type(x[0]), f)
	return out
}

// jchoose is c ? x : y.
func (l *lowerer) jchoose(c loop.Value, x, y jet, t loop.Type) jet {
	if x == nil && y == nil {
		return nil
	}
	out := make(jet, max(len(x), len(y)))
	at := func(j jet, i int) loop.Value {
		if j == nil {
			return loop.NoValue
		}
		return j[i]
	}
	for i := range out {
		out[i] = l.chooseTangent(c, at(x, i), at(y, i), t)
	}
	return out
}

// japply is a function of one argument: f computes it, and d its derivative of the
// argument and the result; nil for one that is zero.
func (l *lowerer) japply(x jet, f func(v loop.Value) loop.Value, d func(x, y jet) jet) jet {
	if len(x) == 1 {
		return jet{f(x[0])}
	}
	k := l.level(x)
	x0 := l.block(x, k, 0)
	y0 := l.japply(x0, f, d)
	var slope jet
	return l.blocks(k, func(i int) jet {
		if i == 0 {
			return y0
		}
		xi := l.block(x, k, i)
		if xi == nil || d == nil {
			return nil
		}
		if slope == nil {
			slope = d(x0, y0)
		}
		return l.jmul(slope, xi)
	})
}

// japply2 is a function of two arguments; dx and dy are its derivatives of the arguments
// and the result.
func (l *lowerer) japply2(x, y jet, f func(x, y loop.Value) loop.Value, dx, dy func(x, y, z jet) jet) jet {
	if len(x) == 1 {
		return jet{f(x[0], y[0])}
	}
	k := l.level(x)
	x0, y0 := l.block(x, k, 0), l.block(y, k, 0)
	z0 := l.japply2(x0, y0, f, dx, dy)
	var slopes [2]jet
	part := func(n int, d func(x, y, z jet) jet, by jet) jet {
		if by == nil || d == nil {
			return nil
		}
		if slopes[n] == nil {
			slopes[n] = d(x0, y0, z0)
		}
		return l.jmul(slopes[n], by)
	}
	return l.blocks(k, func(i int) jet {
		if i == 0 {
			return z0
		}
		return l.jadd(part(0, dx, l.block(x, k, i)), part(1, dy, l.block(y, k, i)))
	})
}

// float is arithmetic on floats.
func (l *lowerer) float(op token.Token, x, y num) num {
	if x.d == nil && y.d == nil {
		o := map[token.Token]loop.Op{token.ADD: loop.OpAdd, token.SUB: loop.OpSub, token.MUL: loop.OpMul, token.QUO: loop.OpDiv}[op]
		return num{v: l.bin(o, x.v, y.v)}
	}
	a, b := l.jet(x), l.jet(y)
	switch op {
	case token.ADD:
		return l.num(l.jadd(a, b))
	case token.SUB:
		return l.num(l.jsub(a, b))
	case token.MUL:
		n := l.num(l.jmul(a, b))
		n.v = l.bin(loop.OpMul, x.v, y.v)
		return n
	}
	return l.num(l.jdiv(a, b))
}

func (l *lowerer) negate(x num) num {
	if x.d == nil {
		return num{v: l.neg(x.v)}
	}
	return l.num(l.jneg(l.jet(x)))
}

// resize is x as another float type.
func (l *lowerer) resize(x num, t loop.Type) num {
	to := func(v loop.Value) loop.Value { return l.resizeValue(v, t) }
	if x.d == nil {
		return num{v: to(x.v)}
	}
	return l.num(l.linear(l.jet(x), to))
}

func (l *lowerer) resizeValue(v loop.Value, t loop.Type) loop.Value {
	from, to := tFloat32, tFloat32
	if l.b.Type(v) == loop.F64 {
		from = tFloat64
	}
	if t == loop.F64 {
		to = tFloat64
	}
	return l.convert(from, to, v)
}
