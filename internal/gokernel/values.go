package gokernel

import (
	"go/token"
	"slices"

	"weft/internal/loop"
)

// A num is a scalar: its value and, of a float in a derived instance, its tangents, as
// dual.go says. NoValue as the value stands for one that nothing will read.
type num struct {
	v loop.Value
	d []loop.Value // nil: all are zero
}

// A value is what an expression has. Values do not change; a variable gets another.
type value struct {
	t     *ty
	n     num      // of a scalar
	parts []*value // of other types but kOuter and kSeq
	at    *outside // of kOuter and kSeq
	span  []span   // of kSeq, by axis
}

func (l *lowerer) scalar(t *ty, v loop.Value) *value { return &value{t: t, n: num{v: v}} }

func (l *lowerer) boolean(v loop.Value) *value { return l.scalar(tBool, v) }

func (l *lowerer) pair(t *ty, re, im num) *value {
	return &value{t: t, parts: []*value{{t: t.parts[0], n: re}, {t: t.parts[1], n: im}}}
}

// zeroValue is the zero of a type.
func (l *lowerer) zeroValue(t *ty) *value {
	if t.scalar() {
		return l.scalar(t, l.zero(t.t))
	}
	v := &value{t: t}
	for _, p := range t.parts {
		v.parts = append(v.parts, l.zeroValue(p))
	}
	return v
}

// undefined returns a value whose contents do not matter.
func undefined(t *ty) *value {
	if t.scalar() {
		return &value{t: t, n: num{v: loop.NoValue}}
	}
	v := &value{t: t}
	for _, p := range t.parts {
		v.parts = append(v.parts, undefined(p))
	}
	return v
}

// as is v under another type of the same parts.
func (v *value) as(t *ty) *value {
	if v.t == t {
		return v
	}
	c := *v
	c.t = t
	return &c
}

// with is v with part i replaced.
func (v *value) with(i int, p *value) *value {
	c := *v
	c.parts = slices.Clone(v.parts)
	c.parts[i] = p
	return &c
}

// A packing says which tangents of the values it packs a loop or if carries: the tangents that
// the trial found to be nonzero somewhere. The slots are counted in order.
type packing struct{ region, slot int }

// pack appends the loop values of v, with the tangents that the region carries; what does
// not matter becomes zero.
func (l *lowerer) pack(p *packing, v *value, to []loop.Value) []loop.Value {
	if !v.t.scalar() {
		for _, q := range v.parts {
			to = l.pack(p, q, to)
		}
		return to
	}
	put := func(x loop.Value) {
		if x == loop.NoValue {
			x = l.zero(v.t.t)
		} else if in := &l.b.Program().Ins[x]; in.Op == loop.OpConst {
			x = l.b.ConstBits(in.Type, in.Imm) // where it is in reach
		}
		to = append(to, x)
	}
	put(v.n.v)
	for i := range l.tangents(v.t) {
		if l.carries(p, v.n.at(i) != loop.NoValue) {
			put(v.n.at(i))
		}
	}
	return to
}

// carries reports whether a region carries the tangent in the next slot. On trial it notes
// one that is not zero, which the next trial carries.
func (l *lowerer) carries(p *packing, some bool) bool {
	slot := [2]int{p.region, p.slot}
	p.slot++
	if l.inst.active[slot] {
		return true
	}
	if some && l.trial {
		l.found = append(l.found, slot)
	}
	return false
}

// tangents is the number of tangents of a scalar.
func (l *lowerer) tangents(t *ty) int {
	if t.kind == kFloat {
		return l.duals.size()
	}
	return 0
}

// unpack is a value of type t of loop values that pack gave, and the rest of them.
func (l *lowerer) unpack(p *packing, t *ty, from []loop.Value) (*value, []loop.Value) {
	v := &value{t: t}
	if !t.scalar() {
		for _, u := range t.parts {
			var q *value
			q, from = l.unpack(p, u, from)
			v.parts = append(v.parts, q)
		}
		return v, from
	}
	v.n.v, from = from[0], from[1:]
	for i := range l.tangents(t) {
		if !l.carries(p, false) {
			continue
		}
		if v.n.d == nil {
			v.n.d = none(l.tangents(t))
		}
		v.n.d[i], from = from[0], from[1:]
	}
	return v, from
}

// merge is c ? x : y, part by part.
func (l *lowerer) merge(c loop.Value, x, y *value) *value {
	if x == y {
		return x
	}
	v := &value{t: x.t}
	if !x.t.scalar() {
		for i := range x.parts {
			v.parts = append(v.parts, l.merge(c, x.parts[i], y.parts[i]))
		}
		return v
	}
	switch {
	case x.n.v == loop.NoValue:
		return y
	case y.n.v == loop.NoValue:
		return x
	}
	v.n.v = l.choose(c, x.n.v, y.n.v)
	if x.n.d != nil || y.n.d != nil {
		v.n.d = make([]loop.Value, l.tangents(x.t))
		for i := range v.n.d {
			v.n.d[i] = l.chooseTangent(c, x.n.at(i), y.n.at(i), x.t.t)
		}
	}
	return v
}

// at is tangent i, NoValue for zero.
func (n num) at(i int) loop.Value {
	if n.d == nil {
		return loop.NoValue
	}
	return n.d[i]
}

func (l *lowerer) chooseTangent(c, x, y loop.Value, t loop.Type) loop.Value {
	if x == y {
		return x
	}
	if x == loop.NoValue {
		x = l.zero(t)
	}
	if y == loop.NoValue {
		y = l.zero(t)
	}
	return l.choose(c, x, y)
}

// A variable of a function that is being lowered.
type variable struct {
	val  *value
	t    *ty
	name string // for Explain
}

// named tells the loop program whose value that is.
func (l *lowerer) named(v *variable) {
	if v.t.scalar() && v.val.n.v != loop.NoValue {
		l.b.Name(v.val.n.v, v.name)
	}
}

// proveInside refuses an index into an array of n elements that is out of range for every element
// of the kernel. It skips accesses under a condition or in a loop, which may not run.
func (l *lowerer) proveInside(i loop.Value, n int) {
	if l.conditions > 0 || l.loops > 0 {
		return
	}
	low, high := l.bounds(i)
	if low == nil && high == nil {
		return
	}
	below := high != nil && fixed(high) && !slices.ContainsFunc(high, func(x Linear) bool { return x.Const >= 0 })
	above := low != nil && fixed(low) && !slices.ContainsFunc(low, func(x Linear) bool { return x.Const < n })
	if !below && !above {
		return
	}
	if k, ok := l.knownInt(i); ok {
		l.src.refuse(l.pos, "index %d is outside of an array of %d elements", k, n)
	}
	l.src.refuse(l.pos, "the index is outside of an array of %d elements, whatever the arguments", n)
}

// element returns part i of an array; i is an integer of type it. An index outside reads the
// first part.
func (l *lowerer) element(a *value, i loop.Value, it *ty) *value {
	if len(a.parts) == 0 {
		l.src.refuse(l.pos, "an index into an array without elements")
	}
	l.proveInside(i, len(a.parts))
	if k, ok := l.knownInt(i); ok {
		if k < 0 || k >= int64(len(a.parts)) {
			k = 0
		}
		return a.parts[k]
	}
	v := a.parts[0]
	for k := 1; k < len(a.parts); k++ {
		if !holds(it, k) {
			break
		}
		v = l.merge(l.bin(loop.OpEq, i, l.int(it.t, int64(k))), a.parts[k], v)
	}
	return v
}

// withElement is an array with element i replaced; an index outside replaces none.
func (l *lowerer) withElement(a *value, i loop.Value, it *ty, x *value) *value {
	l.proveInside(i, len(a.parts))
	if k, ok := l.knownInt(i); ok {
		if k < 0 || k >= int64(len(a.parts)) {
			return a
		}
		return a.with(int(k), x)
	}
	c := *a
	c.parts = slices.Clone(a.parts)
	for k := range c.parts {
		if holds(it, k) {
			c.parts[k] = l.merge(l.bin(loop.OpEq, i, l.int(it.t, int64(k))), x, a.parts[k])
		}
	}
	return &c
}

// holds reports that an integer type has the number k.
func holds(t *ty, k int) bool {
	n := t.bits()
	if !t.unsigned() {
		n--
	}
	return n >= 63 || k < 1<<n
}

// equal is x == y, of any type that compares.
func (l *lowerer) equal(x, y *value, pos token.Pos) loop.Value {
	if x.t.scalar() {
		return l.bin(loop.OpEq, x.n.v, y.n.v)
	}
	if x.t.opaque() {
		l.src.refuse(pos, "arrays and elements of package kernel do not compare")
	}
	r := l.flag(true)
	for i := range x.parts {
		r = l.and(r, l.equal(x.parts[i], y.parts[i], pos))
	}
	return r
}
