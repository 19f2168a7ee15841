package sym

import (
	"slices"

	"weft"
	"weft/internal/array"
	"weft/internal/ir"
)

// Vmap turns f, a function of variables of one example, into a function of many at once, as
// [weft.Vmap] does for functions of tensors. Each argument has an axis of examples. axes gives
// it in order: 0 where none is given, [weft.Unmapped] for an argument that all examples share.
// The result has the axis of examples as its first. f may use variables from outside, which all
// examples share, take derivatives, and run loops and branches: these become one loop and one
// branch of all examples. It must not draw random numbers.
//
//	norms := sym.Vmap(func(x ...*sym.Var) *sym.Var { return x[0].Square().Sum().Sqrt() })(points)
func Vmap(f func(x ...*Var) *Var, axes ...int) func(x ...*Var) *Var {
	const name = "vmap"
	if f == nil {
		array.Failf(name, "f", "is nil")
	}
	axes = slices.Clone(axes)
	return func(x ...*Var) *Var {
		if len(axes) > len(x) {
			array.Failf(name, "axes", "are %d for %d arguments", len(axes), len(x))
		}
		m := &vmapped{axes: slices.Clone(axes)}
		var given []*Var
		for i, v := range x {
			v.notNil(name)
			if i == len(m.axes) {
				m.axes = append(m.axes, 0)
			}
			shape := slices.Clone(v.shape)
			tried := v.tried()
			if a := m.axes[i]; a != weft.Unmapped {
				a = array.Axis(name, a, len(shape))
				m.axes[i], shape = a, slices.Delete(shape, a, a+1)
				if tried != nil && tried.Dim(a) > 0 {
					tried = tried.Detach().MoveAxis(a, 0).Slice(weft.Index(0))
				} else {
					tried = nil
				}
			}
			e := element(v, shape)
			e.test.Store(tried)
			given = append(given, e)
		}
		from := ids.Load()
		y := f(slices.Clone(given)...)
		if y == nil {
			array.Failf(name, "f", "returns nil")
		}
		m.body = newBody(name, given, []*Var{y}, func(_ *Var, dependent bool) bool { return dependent })
		if len(m.body.random) > 0 {
			array.Failf(name, "f", "draws random numbers, which examples would share: give what it needs as an argument")
		}
		for _, v := range order([]*Var{y}) {
			to := v.update.Load()
			if v.role == shared && v.id > from && to != nil && slices.ContainsFunc(order([]*Var{to}), func(x *Var) bool { return slices.Contains(given, x) }) {
				array.Failf(name, "f", "updates %s by values of one example%s: all examples share it", v.label(), to.where())
			}
		}
		outside := m.body.params[m.body.given:]
		for range outside {
			m.axes = append(m.axes, weft.Unmapped)
		}
		return m.make(slices.Concat(x, outside, m.body.lens))[0]
	}
}

// A vmapped is a mapped function as an operation of its arguments and what it takes from
// outside.
type vmapped struct {
	axes []int
	body *body
}

func (m *vmapped) make(args []*Var) []*Var {
	a := &apply{name: "vmap", args: args, lens: len(m.body.lens), sized: m.body.sized, pc: array.Caller(), again: m.make}
	a.run = func(r *replay, ts []*weft.Tensor) []*weft.Tensor { return m.run(r, args, ts) }
	if m.body.sized {
		y := m.body.outs[0]
		n := Any
		for i, axis := range m.axes {
			if axis != weft.Unmapped && args[i].shape[axis] != Any {
				n = args[i].shape[axis]
			}
		}
		return a.make([]ir.Type{{DType: y.dtype, Shape: append([]int{n}, y.shape...)}})
	}
	line := a.pc
	return a.make(infer(a, func(ts []*weft.Tensor) []*weft.Tensor { return m.run(&replay{line: &line}, args, ts) }, m.body.sizes()))
}

func (m *vmapped) run(r *replay, args []*Var, ts []*weft.Tensor) []*weft.Tensor {
	defer func(pc uintptr) { *r.line = pc }(*r.line)
	m.body.measure(r, args[m.body.given:])
	one := func(ts ...*weft.Tensor) *weft.Tensor {
		in := newReplay(m.body.outs, r.line)
		m.body.enter(in, r, args[m.body.given:], nil)
		for i, v := range m.body.params {
			in.values[v] = in.asLeaf(v, ts[i])
		}
		return in.value(m.body.outs[0])
	}
	return []*weft.Tensor{weft.Vmap(one, m.axes...)(ts[:len(args)-len(m.body.lens)]...)}
}
