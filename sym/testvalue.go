package sym

import (
	"sync/atomic"

	"weft"
	"weft/internal/array"
	"weft/internal/core"
)

// SetTestValue gives an input a value to try things with: from then on each variable that is
// made of inputs with such values, shared variables and constants is computed as well, eagerly,
// when it is made. What is wrong with values, such as an index out of range or sizes that do not
// fit, fails at that line, and [Var.TestValue] shows intermediate results. x is a tensor of the
// variable's type or, without dimensions, a Go number; nil ends it. Functions are not affected,
// and draws for test values are none of theirs. It panics with *[weft.Error] for variables that
// are not inputs, and values of another type.
func (v *Var) SetTestValue(x any) {
	const name = "settestvalue"
	v.notNil(name)
	if v.role != input {
		array.Failf(name, v.label(), "is not an input variable%s", v.where())
	}
	if x == nil {
		v.test.Store(nil)
		return
	}
	f := Fn{name: name}
	v.test.Store(f.argument(&Param{Var: v}, x).Detach())
	tests.Add(1)
}

// TestValue returns the value of the variable for the test values of the inputs that it is
// computed from, as they were when it was made; nil if there are none. It must not be written
// into.
func (v *Var) TestValue() *weft.Tensor {
	v.notNil("testvalue")
	return v.tried()
}

// tried is the value of a variable at construction, nil if it is not known.
func (v *Var) tried() *weft.Tensor {
	if t := v.tensor(); t != nil {
		return t
	}
	return v.test.Load()
}

// tests counts the test values that were given; before there is one nothing is computed.
var tests atomic.Uint64

// try computes the results for test values, if all arguments have one. What was made before
// they were given is tried once more for each.
func (a *apply) try() {
	n := tests.Load()
	if n == 0 || core.TracingHere() != nil {
		return
	}
	defer a.was.Store(n)
	for _, x := range a.args {
		if x.tried() == nil && x.from != nil && x.from.was.Load() < n {
			x.from.try()
		}
		if x.tried() == nil {
			return
		}
	}
	all := []*Var{a.outs[0]}
	if a.eval != nil {
		all = order(a.outs)
	}
	for _, v := range all { // draws made here are made again by calls
		if v.from == nil {
			if v.tried() == nil {
				return // it has lost its value
			}
			continue
		}
		for _, g := range v.from.random {
			defer g.SetState(g.State())
		}
	}
	var line uintptr
	var outs []*weft.Tensor
	a.check(weft.Try(func() {
		r := newReplay(a.outs, &line)
		r.tried = true
		if a.eval == nil {
			args := make([]*weft.Tensor, len(a.args))
			for i, x := range a.args {
				args[i] = x.tried().Detach()
			}
			line = a.pc
			outs = a.run(r, args)
			return
		}
		for _, v := range all {
			if v.from == nil && v.role == input {
				r.values[v] = r.asLeaf(v, v.tried().Detach())
			}
		}
		outs = a.eval(r)
	}))
	for i, v := range a.outs {
		v.test.Store(outs[i].Detach())
	}
}

// elementTest returns the test value of a part of a variable, as a window of the variable's
// test value; nil if there is none.
func elementTest(v *Var, index func(n int) int) *weft.Tensor {
	t := v.tried()
	if t == nil || t.Rank() == 0 {
		return nil
	}
	n := t.Dim(0)
	if i := index(n); i >= 0 && i < n {
		return t.Slice(weft.Index(i))
	}
	return nil
}
